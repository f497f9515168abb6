/* Order and lists of grains: one launch, whose thread blocks wait for each other; it ends at once where lists hold.
 * `real` is defined before this is included. */
#ifndef COLLISION_CUDA_BED_SEARCH_CUH
#define COLLISION_CUDA_BED_SEARCH_CUH

#include "kernels/collision/cuda/bed.cuh"

/* All blocks are resident: the launch is a cooperative one. */
static __device__ void wait_for_all(unsigned *barrier, unsigned *round) {
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    *round += gridDim.x;
    atomicAdd(barrier, 1u);
    while ((int)(*(volatile unsigned *)barrier - *round) < 0) {}
    __threadfence();
  }
  __syncthreads();
}

static __device__ int level_of(const bed_numbers &b, double radius) {
  int level = 0;
  while (level + 1 < b.levels && radius <= b.level[level + 1].radius) level++;
  return level;
}

static __device__ uint32_t cell_along(const bed_level &level, const bed_numbers &b, int c, double x) {
  const double k = floor((x - b.low[c]) / level.width[c]);
  return k > 0 ? (k < (double)level.cells[c] ? (uint32_t)k : level.cells[c] - 1) : 0; /* NaN: 0 */
}

static __device__ uint32_t cell_at(const bed_numbers &b, const four &p) {
  const bed_level &level = b.level[level_of(b, (double)p.w)];
  const uint32_t x = cell_along(level, b, 0, (double)p.x), y = cell_along(level, b, 1, (double)p.y);
  return level.first_cell + (x * level.cells[1] + y) * level.cells[2] + cell_along(level, b, 2, (double)p.z);
}

/* Positions stand in the box, so that one image away is enough. Odd in d, to the bit. */
static __device__ real nearest_image(real d, real size, real half) {
  return d > half ? d - size : d < -half ? d + size : d;
}

static __device__ void apart(const bed_box &b, const four &p, const four &q, real d[3]) {
  d[0] = nearest_image(p.x - q.x, b.size[0], b.half[0]);
  d[1] = nearest_image(p.y - q.y, b.size[1], b.half[1]);
  d[2] = nearest_image(p.z - q.z, b.size[2], b.half[2]);
}

/* Calls found(j) for all neighbours of grain i. */
template <typename Found>
static __device__ void near_of(const bed_numbers &b, const bed_arrays &a, const four *place, uint32_t i, double cutoff,
                               Found found) {
  const four p = place[i];
  const double x[3] = {(double)p.x, (double)p.y, (double)p.z};
#pragma unroll 1
  for (int l = 0; l < b.levels; l++) {
    const bed_level &level = b.level[l];
    /* A little more than the reach: rounding of single precision may put a neighbour one cell farther. */
    const double reach = ((double)p.w + level.radius + cutoff) * 1.0001;
    int least[3], number[3];
    for (int c = 0; c < 3; c++) {
      const int cells = (int)level.cells[c];
      double first = floor((x[c] - reach - b.low[c]) / level.width[c]);
      double last = floor((x[c] + reach - b.low[c]) / level.width[c]);
      if (!b.periodic[c]) {
        first = fmin(fmax(first, 0.0), (double)(cells - 1));
        last = fmin(fmax(last, 0.0), (double)(cells - 1));
      }
      last = fmin(last, first + (double)(cells - 1));
      least[c] = (int)first;
      number[c] = (int)(last - first) + 1;
    }
#pragma unroll 1
    for (int u = 0; u < number[0]; u++) {
      const int nx = (int)level.cells[0], cx = ((least[0] + u) % nx + nx) % nx;
#pragma unroll 1
      for (int v = 0; v < number[1]; v++) {
        const int ny = (int)level.cells[1], nz = (int)level.cells[2], cy = ((least[1] + v) % ny + ny) % ny;
        const uint32_t row = level.first_cell + (uint32_t)(cx * ny + cy) * level.cells[2];
        int z = (least[2] % nz + nz) % nz;
#pragma unroll 1
        for (int left = number[2]; left > 0; z = 0) {
          const int cells = min(left, nz - z);
          const uint32_t last = a.cell[row + (uint32_t)(z + cells)];
          for (uint32_t j = a.cell[row + (uint32_t)z]; j < last; j++) {
            const four q = place[j];
            real d[3];
            apart(a.box, p, q, d);
            const real square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2], far = p.w + q.w + (real)cutoff;
            if (square < far * far && j != i) found(j);
          }
          left -= cells;
        }
      }
    }
  }
}

/* Sum over the threads of a block before each; `*all`: of all. `shared` [33]. */
static __device__ uint32_t block_sums(uint32_t value, uint32_t *shared, uint32_t *all) {
  uint32_t upto = value;
  for (int step = 1; step < 32; step *= 2) {
    const uint32_t other = __shfl_up_sync(~0u, upto, step);
    if ((threadIdx.x & 31) >= (unsigned)step) upto += other;
  }
  __syncthreads();
  if ((threadIdx.x & 31) == 31) shared[threadIdx.x / 32] = upto;
  __syncthreads();
  if (threadIdx.x == 0) {
    uint32_t sum = 0;
    for (int k = 0; k < BED_THREADS / 32; k++) {
      const uint32_t own = shared[k];
      shared[k] = sum;
      sum += own;
    }
    shared[32] = sum;
  }
  __syncthreads();
  *all = shared[32];
  return shared[threadIdx.x / 32] + upto - value;
}

/* Numbers to the sums of those before each, in place; `end` is the sum of all. Every block has one stretch. */
static __device__ void scan(uint32_t *data, uint32_t count, uint32_t *partial, unsigned *barrier, unsigned *round,
                            uint32_t *shared) {
  const uint32_t stretch = (count + gridDim.x - 1) / gridDim.x;
  const uint32_t from = min(count, blockIdx.x * stretch), to = min(count, from + stretch);
  uint32_t sum = 0, all, before = 0;
  for (uint32_t k = from + threadIdx.x; k < to; k += BED_THREADS) sum += data[k];
  block_sums(sum, shared, &all);
  if (threadIdx.x == 0) partial[blockIdx.x] = all;
  wait_for_all(barrier, round);
  sum = 0;
  for (uint32_t k = threadIdx.x; k < blockIdx.x; k += BED_THREADS) sum += ((volatile uint32_t *)partial)[k];
  block_sums(sum, shared, &before);
  for (uint32_t k = from; k < to; k += BED_THREADS) {
    const uint32_t at = k + threadIdx.x, own = at < to ? data[at] : 0;
    const uint32_t sums = before + block_sums(own, shared, &all);
    if (at < to) data[at] = sums;
    before += all;
  }
  if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) data[count] = before;
  wait_for_all(barrier, round);
}

/* `step`: with what contacts see, which takes the place of accelerations; otherwise the other way round. */
static __device__ void move_grain(const bed_numbers &b, const bed_grains &to, const bed_grains &from, uint32_t i,
                                  uint32_t k, bool step) {
  to.place[i] = from.place[k];
  to.velocity[i] = from.velocity[k];
  to.spin[i] = from.spin[k];
  if (step) {
    to.seen[i] = from.seen[k];
    to.turned[i] = from.turned[k];
  } else {
    to.acceleration[i] = from.acceleration[k];
    to.twirl[i] = from.twirl[k];
  }
  to.dissipated[i] = from.dissipated[k];
  to.virial[i] = from.virial[k];
  to.collisions[i] = from.collisions[k];
  to.id[i] = from.id[k];
  to.material[i] = from.material[k];
  for (int s = 0; s < b.wall_numbers; s++) to.wall_spring[(size_t)s * b.n + i] = from.wall_spring[(size_t)s * b.n + k];
}

/* The row of grain i, which stood at k, and its history from the row before; both in the order of ids. */
static __device__ void make_row(const bed_numbers &b, const bed_arrays &a, const bed_control &now, int order,
                                uint32_t i, double cutoff) {
  const bed_list &list = a.list[order], &old = a.list[order ^ 1];
  const uint32_t *const id = a.grains[order].id, *const old_id = a.grains[order ^ 1].id;
  const uint32_t base = list.base[i / 32] + i % 32, k = a.order[i];
  uint32_t count = 0;
  near_of(b, a, a.grains[order].place, i, cutoff, [&](uint32_t j) {
    const uint32_t own = id[j];
    uint32_t at = count++;
    for (; at > 0; at--) {
      const uint32_t before = list.neighbour[base + 32 * (at - 1)];
      if (id[before] < own) break;
      list.neighbour[base + 32 * at] = before;
    }
    list.neighbour[base + 32 * at] = j;
  });
  list.count[i] = count;
  if (b.springs == 0) return;
  const uint32_t old_base = now.listed ? old.base[k / 32] + k % 32 : 0, old_count = now.listed ? old.count[k] : 0;
  uint32_t at = 0;
  for (uint32_t e = 0; e < count; e++) {
    const uint32_t to = base + 32 * e, partner = id[list.neighbour[to]];
    uint32_t there = UINT32_MAX;
    for (; at < old_count; at++) {
      there = old_id[old.neighbour[old_base + 32 * at]];
      if (there >= partner) break;
    }
    const bool same = at < old_count && there == partner;
    for (int s = 0; s < b.springs; s++)
      list.spring[(size_t)s * b.room + to] = same ? old.spring[(size_t)s * b.room + old_base + 32 * at] : 0;
  }
}

/* Contacts see what is. */
static __device__ void see_now(const bed_grains &g, uint32_t i) {
  g.seen[i] = g.velocity[i];
  g.turned[i] = g.spin[i];
}

static __global__ void __launch_bounds__(BED_THREADS) search(bed_arrays a, real dt, unsigned k) {
  __shared__ uint32_t shared[33];
  const bed_numbers &b = *a.numbers;
  bed_control now = a.control[k & 1];
  const uint32_t first = blockIdx.x * BED_THREADS + threadIdx.x, all = gridDim.x * BED_THREADS;
  const unsigned long long bits = a.motion[(k - 1) & 3];
  const double fastest = sqrt(__longlong_as_double((long long)bits));
  const double step = 2 * fastest * (double)dt, edge = b.damped ? step : 0;
  const bool wild = !(fastest < (double)FLT_MAX);
  now.moved += step * (1 + 1e-6);
  now.step = step;
  const bool rebuild = !wild && *a.fault == 0 && !(now.moved + edge < now.cutoff * (1 - 1e-3));
  bed_control next = now;
  if (rebuild) {
    /* Grains faster than the skin allows get a wider list, for this step at least. */
    next.cutoff = edge * 2 >= b.skin ? edge * 2 + b.skin : b.skin;
    next.moved = 0;
    next.order = now.order ^ 1;
    next.listed = 1;
  }
  if (first == 0) {
    a.control[(k + 1) & 1] = next;
    a.motion[(k + 1) & 3] = 0;
    if (wild) *a.fault |= BED_WILD;
  }
  if (!rebuild) return;
  unsigned round = *(volatile unsigned *)(a.barrier + 1);
  const bed_grains &from = a.grains[now.order], &to = a.grains[next.order];
  const bed_list &list = a.list[next.order];
  for (uint32_t c = first; c <= b.cells; c += all) a.cell[c] = 0;
  wait_for_all(a.barrier, &round);
  for (uint32_t i = first; i < b.n; i += all) {
    const uint32_t cell = cell_at(b, from.place[i]);
    a.cell_of[i] = cell;
    a.rank[i] = atomicAdd(&a.cell[cell], 1u);
  }
  wait_for_all(a.barrier, &round);
  scan(a.cell, b.cells, a.partial, a.barrier, &round, shared);
  for (uint32_t i = first; i < b.n; i += all) a.order[a.cell[a.cell_of[i]] + a.rank[i]] = i;
  wait_for_all(a.barrier, &round);
  for (uint32_t i = first; i < b.n; i += all) move_grain(b, to, from, i, a.order[i], dt > 0);
  wait_for_all(a.barrier, &round);
  for (uint32_t i = first; i < b.n && !(dt > 0); i += all) see_now(to, i);
  for (uint32_t i = first; i < 32 * b.slices; i += all) {
    uint32_t count = 0;
    if (i < b.n) near_of(b, a, to.place, i, next.cutoff, [&](uint32_t) { count++; });
    for (int half = 16; half > 0; half /= 2) count = max(count, __shfl_xor_sync(~0u, count, half));
    if (i % 32 == 0) list.base[i / 32] = 32 * count;
  }
  wait_for_all(a.barrier, &round);
  scan(list.base, b.slices, a.partial, a.barrier, &round, shared);
  if (list.base[b.slices] > b.room) {
    if (first == 0) *a.fault |= BED_CROWDED;
    if (first == 0) a.barrier[1] = round;
    for (uint32_t i = first; i < b.n; i += all) list.count[i] = 0;
    return;
  }
  for (uint32_t i = first; i < b.n; i += all) make_row(b, a, now, next.order, i, next.cutoff);
  if (first == 0) a.barrier[1] = round;
}

#endif
