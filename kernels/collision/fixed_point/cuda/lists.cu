/* Fixed-point solver on a GPU: order of the grains, and long lists. CPU counterparts: cpu/lists.c, cpu/search.c. The
 * first kernel decides on the device whether they are rebuilt; if not, the other kernels return at once.
 *
 * The edges of cells are the reach of pairs along x and y, and half of it along z. Cells are numbered in blocks of a
 * few cells along y and z, x by x, so that a tile of 256 grains is nearly a cube. The search uses the same cells in
 * rows along z: a grain searches nine short rows. */
#include "kernels/collision/fixed_point/cuda/mass_classes.cuh"
#include "kernels/collision/fixed_point/cuda/ranks.cuh"

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800 /* 1024 threads a multiprocessor */
enum { BUILD_BLOCKS = 4 };
#else
enum { BUILD_BLOCKS = 6 };
#endif
enum { BUILD_FOUND = 12 }; /* pairs that a thread keeps before it appends them to the list */

static __device__ uint32_t divided(uint32_t value, uint32_t magic) {
  return magic == 0 ? value : __umulhi(value, magic);
}

/* Multiplier for exact division by `cells`: 2^32 over it, rounded up, modulo 2^32; there are fewer than 2^32 cells. */
static __device__ uint32_t magic_of(uint32_t cells) { return 0xffffffffu / cells + 1; }

static __device__ uint32_t row_of(const fixed_cells &c, uint32_t x, uint32_t y, uint32_t z_block, uint32_t magic_y) {
  const uint32_t y_block = divided(y, magic_y);
  return ((y_block * c.blocks[1] + z_block) * c.count[0] + x) * (c.block[1] * c.block[2]) +
         (y - y_block * c.block[1]) * c.block[2];
}

/* layer: of the own layers. The edge layers come first. */
static __device__ uint32_t cell_of(const fixed_cells &c, const uint32_t x[3], uint32_t layer, uint32_t magic_y,
                                   uint32_t magic_z) {
  const uint32_t z = fixed_cell_of(x[2], c.count[2]), z_block = divided(z, magic_z);
  const uint32_t y = layer < c.edge               ? layer
                     : layer >= c.layers - c.edge ? layer + 2 * c.edge - c.layers
                                                  : layer + c.edge;
  return row_of(c, fixed_cell_of(x[0], c.count[0]), y, z_block, magic_y) + z - z_block * c.block[2];
}

template <bool RANKS>
static __global__ void decide(fixed_arrays a, fixed_point_constants g, bool damped, int chunk, unsigned k) {
  after_previous();
  const fixed_news news = RANKS ? await_launch(a, k - 1) : fixed_news{a.motion[(k - 1) & 3], 0};
  if (RANKS && threadIdx.x > 0) return;
  fixed_control now = current_control(a, g, k, news.square);
  const float margin = damped ? now.step : 0;
  if (RANKS) *a.fault |= news.fault;
  now.rebuild = *a.fault == 0 && !list_holds(now.moved + (float)(chunk + 2) * now.step, margin, now.reach_long);
  if (now.rebuild) {
    now.moved = 0;
    now.rebuilds++;
    now.moved_short = INFINITY;
    now.buffer ^= 1;
    now.order ^= 1;
  }
  a.control[(k + 1) & 1] = now;
  a.motion[(k + 1) & 3] = 0;
  for (int t = 0; t < 4; t += 2) {
    a.tally[t + 1] += a.tally[t] >> 32;
    a.tally[t] &= 0xffffffffu;
  }
}

static __global__ void clear(fixed_arrays a, unsigned k) {
  after_previous();
  if (!a.control[k & 1].rebuild) return;
  if (a.classes != NULL && blockIdx.x == 0 && threadIdx.x < MASS_CLASSES) a.classes->fastest[threadIdx.x] = 0;
  if (a.ranks.share != NULL && blockIdx.x == 0 && threadIdx.x < 3) a.ranks.share->counted[threadIdx.x] = 0;
  uint4 *const cell = (uint4 *)a.cell, *const row = (uint4 *)a.row;
  for (uint32_t i = blockIdx.x * 256 + threadIdx.x; i <= a.cells.all / 4; i += gridDim.x * 256)
    cell[i] = row[i] = make_uint4(0, 0, 0, 0);
}

/* On several ranks grains of other ranks' layers are left out, and grains that have come follow the own ones. */
template <typename Grain, bool RANKS> static __global__ void count(fixed_arrays a, unsigned k) {
  __shared__ unsigned fastest[MASS_CLASSES], counted[3];
  after_previous();
  const fixed_control now = a.control[k & 1];
  if (!now.rebuild) return;
  const Grain *const grain = (const Grain *)a.grain[now.buffer ^ 1];
  const uint32_t magic_y = magic_of(a.cells.block[1]), magic_z = magic_of(a.cells.block[2]);
  if (!Grain::equal && threadIdx.x < MASS_CLASSES) fastest[threadIdx.x] = 0;
  if (RANKS && threadIdx.x < 3) counted[threadIdx.x] = 0;
  if (RANKS) await_meeting(a, fixed_meeting(now.rebuilds, FIXED_MIGRATED));
  __syncthreads();
  const uint32_t n = RANKS ? a.ranks.share->n + *(volatile unsigned *)&a.ranks.mail->arrived : a.n;
  uint32_t own = 0;
  for (uint32_t i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) {
    const Grain one = grain[i];
    const uint32_t layer = layer_of(a.cells, one.x);
    if (RANKS && layer >= a.cells.layers) continue;
    if (RANKS) own++;
    if (RANKS && layer == 0) atomicAdd(&counted[1], 1u);
    if (RANKS && layer + 1 == a.cells.layers) atomicAdd(&counted[2], 1u);
    const uint32_t rank = atomicAdd(&a.cell[cell_of(a.cells, one.x, layer, magic_y, magic_z)], 1u);
    if (rank > UINT16_MAX) atomicOr(a.fault, FIXED_CROWDED_CELL);
    a.rank[i] = (uint16_t)rank;
    atomicAdd(&a.row[straight_cell_of(a.cells, one.x, layer)], 1u);
    if (Grain::equal) continue;
    const float v[3] = {(float)one.p[0] * one.w(), (float)one.p[1] * one.w(), (float)one.p[2] * one.w()};
    const unsigned square = __float_as_uint(fmaf(v[2], v[2], fmaf(v[1], v[1], v[0] * v[0])));
    unsigned *const most = &fastest[mass_class_of(one.w())];
    if (square > *(volatile unsigned *)most) atomicMax(most, square);
  }
  if (Grain::equal && !RANKS) return;
  if (RANKS) {
    own = warp_sum(own);
    if (threadIdx.x % 32 == 0) atomicAdd(&counted[0], own);
  }
  __syncthreads();
  if (!Grain::equal && threadIdx.x < MASS_CLASSES && fastest[threadIdx.x] > 0)
    atomicMax(&a.classes->fastest[threadIdx.x], fastest[threadIdx.x]);
  if (!RANKS) return;
  if (threadIdx.x < 3) atomicAdd(&a.ranks.share->counted[threadIdx.x], counted[threadIdx.x]);
  if (last_block(a)) tell_census(a, fixed_meeting(now.rebuilds, FIXED_COUNTED));
}

/* Exclusive prefix sum over a thread block; *all: the total. `shared` [33]. */
static __device__ uint32_t block_sums(uint32_t value, uint32_t *shared, uint32_t *all) {
  const uint32_t upto = warp_prefix_sum(value), warp = threadIdx.x / 32, warps = blockDim.x / 32;
  __syncthreads();
  if ((threadIdx.x & 31) == 31) shared[warp] = upto;
  __syncthreads();
  if (warp == 0) {
    const uint32_t own = threadIdx.x < warps ? shared[threadIdx.x] : 0, sums = warp_prefix_sum(own);
    if (threadIdx.x < warps) shared[threadIdx.x] = sums - own;
    if (threadIdx.x == 31) shared[32] = sums;
  }
  __syncthreads();
  *all = shared[32];
  return shared[warp] + upto - value;
}

/* Sums of blocks of `cell`, then of `row`. */
static __global__ void scan_blocks(fixed_arrays a, unsigned k) {
  after_previous();
  if (!a.control[k & 1].rebuild) return;
  __shared__ uint32_t shared[33];
  const uint32_t blocks = a.cells.all / FIXED_SCAN;
  for (uint32_t b = blockIdx.x; b < 2 * blocks; b += gridDim.x) {
    const uint32_t *const cell = b < blocks ? a.cell + b * FIXED_SCAN : a.row + (b - blocks) * FIXED_SCAN;
    uint32_t sum = 0, all;
    for (uint32_t at = 4 * threadIdx.x; at < FIXED_SCAN; at += 1024) {
      const uint4 four = *(const uint4 *)(cell + at);
      sum += four.x + four.y + four.z + four.w;
    }
    block_sums(sum, shared, &all);
    if (threadIdx.x == 0) a.scan[b] = all;
  }
}

static __global__ void scan_all(fixed_arrays a, fixed_point_constants g, unsigned k) {
  after_previous();
  if (!a.control[k & 1].rebuild) return;
  __shared__ uint32_t shared[33];
  if (a.ranks.share != NULL) read_census(a, fixed_meeting(a.control[k & 1].rebuilds, FIXED_COUNTED));
  const uint32_t blocks = 2 * (a.cells.all / FIXED_SCAN);
  uint32_t before = 0;
  for (uint32_t first = 0; first < blocks; first += 1024) {
    const uint32_t b = first + threadIdx.x;
    uint32_t all;
    const uint32_t sum = block_sums(b < blocks ? a.scan[b] : 0, shared, &all);
    if (b < blocks) a.scan[b] = before + sum;
    before += all;
  }
  if (a.classes != NULL && threadIdx.x < MASS_CLASSES) choose_reach(a, g, &a.control[k & 1]);
}

static __global__ void scan_cells(fixed_arrays a, unsigned k) {
  after_previous();
  if (!a.control[k & 1].rebuild) return;
  __shared__ uint32_t shared[33];
  const uint32_t blocks = a.cells.all / FIXED_SCAN, n = own_grains(a);
  for (uint32_t b = blockIdx.x; b < 2 * blocks; b += gridDim.x) {
    uint32_t *const cell = b < blocks ? a.cell + b * FIXED_SCAN : a.row + (b - blocks) * FIXED_SCAN;
    uint32_t before = a.scan[b] - (b < blocks ? 0 : n);
    for (uint32_t at = 4 * threadIdx.x; at < FIXED_SCAN; at += 1024) {
      const uint4 four = *(const uint4 *)(cell + at);
      uint32_t all;
      uint32_t first = before + block_sums(four.x + four.y + four.z + four.w, shared, &all);
      uint4 out;
      out.x = first, first += four.x;
      out.y = first, first += four.y;
      out.z = first, first += four.z;
      out.w = first;
      *(uint4 *)(cell + at) = out;
      before += all;
    }
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) a.cell[a.cells.all] = a.row[a.cells.all] = n;
}

/* Copies each grain to its new slot; on several ranks also grains of the edge layers to the neighbours. */
template <typename Grain, bool RANKS>
static __global__ void scatter(fixed_arrays a, fixed_point_constants g, unsigned k) {
  after_previous();
  const fixed_control now = a.control[k & 1];
  if (!now.rebuild) return;
  const Grain *const from = (const Grain *)a.grain[now.buffer ^ 1];
  Grain *const to = (Grain *)a.grain[now.buffer];
  const uint32_t magic_y = magic_of(a.cells.block[1]), magic_z = magic_of(a.cells.block[2]);
  const uint32_t *const id = a.id[now.order ^ 1], *const collisions = a.collisions[now.order ^ 1];
  const uint32_t n = RANKS ? a.ranks.share->before : a.n;
  for (uint32_t i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) {
    const Grain one = from[i];
    const uint32_t layer = layer_of(a.cells, one.x);
    if (RANKS && layer >= a.cells.layers) continue;
    const uint32_t rank = a.rank[i], slot = a.cell[cell_of(a.cells, one.x, layer, magic_y, magic_z)] + rank;
    const uint32_t at = a.row[straight_cell_of(a.cells, one.x, layer)] + rank;
    if (RANKS && a.ranks.divided) push_ghost(a, now, one, id[i], layer, slot, at);
    to[slot] = one;
    a.id[now.order][slot] = id[i];
    a.collisions[now.order][slot] = collisions[i];
    ((float4 *)a.scratch)[at] = sphere_of(a, g, one, now.reach_long);
    a.slot[at] = slot;
  }
  if (!RANKS) return;
  if (a.ranks.divided && blockIdx.x == 0 && threadIdx.x == 0) /* the edges are the first two blocks along y */
    a.ranks.share->boundary = a.cell[2 * a.cells.blocks[1] * a.cells.count[0] * a.cells.block[1] * a.cells.block[2]];
  if (last_block(a)) tell_meeting(a, fixed_meeting(now.rebuilds, FIXED_PUSHED));
}

/* at - back in a ring of cells; the result is at most one cell beyond its ends. */
static __device__ uint32_t wrapped(uint32_t at, uint32_t back, uint32_t cells) {
  at = at < back ? at + cells - back : at - back;
  return at < cells ? at : at - cells;
}

/* Partners found by each thread that are not yet in the list: [entry][thread]. */
typedef uint32_t fixed_found[BUILD_FOUND][FIXED_TILE];

/* Appends the found pairs to the list of the tile: pairs within the tile once, and no grain with itself. */
static __device__ __forceinline__ void put_in_list(const fixed_arrays &a, const uint32_t *found, const uint32_t *end,
                                                   uint32_t tile, uint32_t *count) {
#pragma unroll 1
  for (; found < end; found += FIXED_TILE) {
    const uint32_t slot = a.slot[*found], j = slot - tile * FIXED_TILE;
    if (j <= threadIdx.x) continue;
    const uint32_t at = warp_append(count);
    if (at < a.room[FIXED_LONG]) a.pair[FIXED_LONG][tile * a.room[FIXED_LONG] + at] = slot << 8 | threadIdx.x;
  }
}

/* Searches the long lists. Positions are in single precision here; beyond the sides of the box, images of the grain are
 * used. `slack` exceeds the rounding: lists may have a few pairs too many. */
template <typename Grain, bool RANKS>
static __global__ void __launch_bounds__(FIXED_TILE, BUILD_BLOCKS)
    build(const __grid_constant__ fixed_arrays a, const __grid_constant__ fixed_point_constants g, unsigned k) {
  __shared__ fixed_found found;
  __shared__ uint32_t entries;
  after_previous();
  const fixed_control now = a.control[k & 1];
  if (RANKS && !now.rebuild && blockIdx.x == 0 && threadIdx.x == 0) tell_launch(a, k - 1, 0);
  if (!now.rebuild) return;
  const Grain *const grain = (const Grain *)a.grain[now.buffer];
  const float4 *const sphere = (const float4 *)a.scratch;
  const fixed_cells &c = a.cells;
  const uint32_t t = threadIdx.x;
  const float box[3] = {g.length[0] * 0x1p32f, g.length[1] * 0x1p32f, g.length[2] * 0x1p32f};
  const float slack = 0x1p-22f * (box[0] + box[1] + box[2]);
  const bool divided = RANKS && a.ranks.divided;
  const uint32_t tiles = RANKS ? a.ranks.share->tiles : a.tiles;
  for (uint32_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const uint32_t i = tile * FIXED_TILE + t;
    if (t == 0) entries = 0;
    __syncthreads();
    if (i < (RANKS ? a.ranks.share->n : a.n)) {
      const Grain one = grain[i];
      const float4 own = sphere_of(a, g, one, now.reach_long);
      const uint32_t cx = fixed_cell_of(one.x[0], c.count[0]), cy = fixed_cell_of(one.x[1], c.count[1]);
      const uint32_t cz = fixed_cell_of(one.x[2], c.count[2]);
      const float half = own.w + slack;
      uint32_t *free = &found[0][t];
      uint32_t *const end = free + BUILD_FOUND * FIXED_TILE;
#pragma unroll 1
      for (uint32_t row = 0; row < 9; row++) {
        const uint32_t ahead_x = cx + row / 3, ahead_y = cy + row % 3;
        const uint32_t x = wrapped(ahead_x, 1, c.count[0]);
        const uint32_t y = divided ? own_layer(c, ahead_y) : wrapped(ahead_y, 1, c.count[1]);
        const float px = ahead_x < 1 ? own.x + box[0] : ahead_x > c.count[0] ? own.x - box[0] : own.x;
        const float py = ahead_y < 1 ? own.y + box[1] : ahead_y > c.count[1] ? own.y - box[1] : own.y;
        const uint32_t *const cell = a.row + x * c.row[0] + y * c.row[1];
        float pz = cz < 2 ? own.z + box[2] : own.z;
        uint32_t z = wrapped(cz, 2, c.count[2]);
#pragma unroll 1
        for (uint32_t left = 5; left > 0;) {
          const uint32_t cells = min(left, c.count[2] - z), last = cell[z + cells];
#pragma unroll 1
          for (uint32_t j = cell[z]; j < last; j++) {
            const float4 other = __ldg(sphere + j);
            const float dx = px - other.x, dy = py - other.y, dz = pz - other.z;
            const float reach = Grain::equal ? half + own.w : half + other.w;
            *free = j;
            free += fmaf(dz, dz, fmaf(dy, dy, dx * dx)) < reach * reach ? FIXED_TILE : 0;
            if (free < end) continue;
            put_in_list(a, &found[0][t], free, tile, &entries);
            free = &found[0][t];
          }
          left -= cells;
          z = 0, pz -= box[2];
        }
      }
      put_in_list(a, &found[0][t], free, tile, &entries);
    }
    __syncthreads();
    if (t == 0) finish_list(a, FIXED_LONG, tile, entries);
    __syncthreads();
  }
  if (RANKS && last_block(a)) tell_launch(a, k - 1, 0);
}

/* ---- launches ---- */

unsigned collision_cuda_grid(int per_multiprocessor, uint64_t work) {
  const uint64_t most = (uint64_t)sim_cuda_multiprocessors() * (uint64_t)per_multiprocessor,
                 blocks = (work + 255) / 256;
  return (unsigned)(blocks < most ? blocks : most);
}

template <typename Grain, bool RANKS> static void sort(collision_work *w, unsigned k) {
  static const sim_kernel counting = {"collision_fixed_point_count", "search", SIM_LIMIT_BYTES};
  static const sim_kernel moving = {"collision_fixed_point_sort", "search", SIM_LIMIT_BYTES};
  static const sim_kernel scanning = {"collision_fixed_point_scan", "search", SIM_LIMIT_BYTES};
  static const sim_kernel clearing = {"collision_fixed_point_clear", "search", SIM_LIMIT_BYTES};
  static const sim_kernel building = {"collision_fixed_point_build", "search", SIM_LIMIT_BYTES};
  const fixed_arrays &a = w->arrays;
  const unsigned cells = collision_cuda_grid(8, a.cells.all / 16), grains = collision_cuda_grid(8, a.n);
  const unsigned tiles = collision_cuda_grid(BUILD_BLOCKS, (uint64_t)a.tiles * 256);
  device_launch(&clearing, 0, cells, 256, clear, a, k);
  if (RANKS) collision_fixed_cuda_migrate(w);
  device_launch(&counting, 0, grains, 256, count<Grain, RANKS>, a, k);
  if (RANKS) collision_fixed_cuda_bring(w, FIXED_COUNTED);
  device_launch(&scanning, 0, cells, 256, scan_blocks, a, k);
  device_launch(&scanning, 0, 1, 1024, scan_all, a, w->numbers, k);
  device_launch(&scanning, 0, cells, 256, scan_cells, a, k);
  device_launch(&moving, 0, grains, 256, scatter<Grain, RANKS>, a, w->numbers, k);
  if (RANKS) collision_fixed_cuda_bring(w, FIXED_PUSHED);
  if (RANKS) collision_fixed_cuda_ghosts(w);
  device_launch(&building, 0, tiles, 256, build<Grain, RANKS>, a, w->numbers, k);
  if (RANKS) collision_fixed_cuda_bring(w, FIXED_LISTED);
}

void collision_fixed_cuda_lists(collision_work *w) {
  static const sim_kernel deciding = {"collision_fixed_point_decide", "search", SIM_LIMIT_BYTES};
  const bool ranks = w->exchange != NULL;
  device_launch(&deciding, 0, 1, ranks ? 32 : 1, ranks ? decide<true> : decide<false>, w->arrays, w->numbers,
                w->system.damped, w->chunk, w->launch);
  const unsigned k = ++w->launch;
  if (w->system.equal && ranks)
    sort<fixed_grain, true>(w, k);
  else if (w->system.equal)
    sort<fixed_grain, false>(w, k);
  else if (ranks)
    sort<fixed_mixed_grain, true>(w, k);
  else
    sort<fixed_mixed_grain, false>(w, k);
  w->undecided = 0;
}
