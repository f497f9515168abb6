/* Direct sum by Newton's third law: fp32 terms, 64-bit fixed-point sums.
 *
 * Bodies are cut into blocks of 32 K. A warp keeps one block in registers, K bodies a lane, and passes a chunk of the
 * following bodies, 32 at a time: each lane holds the running sum of one of the 32. These sums rotate:
 *
 *   turn r:   lane l pairs body l + r (mod 32) of the 32 with its own K bodies; then the sums move one lane down
 *
 * so that after 32 turns every sum is back at its lane. The inverse cube of a pair serves both bodies. Sums are added
 * to memory as int64 multiples of a fixed unit, by atomic additions: integers have no order of summation. The sums of
 * the 32 bodies are added when they have passed, the K sums of a lane at the end of the chunk.
 *
 * Where all bodies of the block have one mass, and all bodies of the chunk too, sums are taken without masses, and
 * multiplied at the end: 15 floating-point instructions a pair instead of 17. Most systems have few different masses,
 * and species are contiguous.
 *
 * Pairs of blocks: block I is paired with the next (B - 1) / 2 blocks on the circle of all B, and for even B the blocks
 * below B / 2 also with the opposite one. So every two blocks are paired once, and rows differ by one block at most. A
 * block with itself is a tile of its own, over all its ordered pairs. Each rank has some rows; its sums are added to
 * those of the other ranks as integers. */
#include "kernels/common/launch.cuh"
#include "kernels/nbody/direct/cuda/bodies.cuh"

enum { WARPS = 4 };

/* Kinds of tiles: a block with itself, two blocks, two blocks of equal masses. */
enum pairing { SAME_BLOCK, GENERAL, EQUAL_MASSES };

/* Arguments that all tiles share. */
struct layout {
  const float *group_mass; /* of 32 bodies each, in packed units; NaN: masses differ */
  int blocks, chunk;       /* blocks of 32 K bodies; bodies a warp passes */
  int chunks;              /* chunks of a row, without the block with itself */
  int first, last;         /* tiles of this rank: first <= tile < last */
  float softening2;
  float fixed; /* sums in packed units become integers times 1 / fixed */
};

template <int K> struct warp_block { float x[K], y[K], z[K], minus_mass[K], ax[K], ay[K], az[K]; };

__device__ inline void add_fixed(unsigned long long *sum, size_t n, int j, float ax, float ay, float az, float fixed) {
  atomicAdd(sum + j, (unsigned long long)__float2ll_rn(ax * fixed));
  atomicAdd(sum + n + j, (unsigned long long)__float2ll_rn(ay * fixed));
  atomicAdd(sum + 2 * n + j, (unsigned long long)__float2ll_rn(az * fixed));
}

/* One turn: the K bodies of the lane with body q, whose sum is a. */
template <int K, pairing HOW>
__device__ inline void add_pair(warp_block<K> &mine, const float4 &q, float softening2, float &ax, float &ay,
                                float &az) {
#pragma unroll
  for (int k = 0; k < K; k++) {
    const float dx = q.x - mine.x[k], dy = q.y - mine.y[k], dz = q.z - mine.z[k];
    const float cube = inverse_cube(fused(dz, dz, fused(dy, dy, fused(dx, dx, softening2))));
    const float to_mine = HOW == EQUAL_MASSES ? cube : cube * q.w;
    mine.ax[k] = fused(to_mine, dx, mine.ax[k]);
    mine.ay[k] = fused(to_mine, dy, mine.ay[k]);
    mine.az[k] = fused(to_mine, dz, mine.az[k]);
    if (HOW == SAME_BLOCK) continue;
    const float to_q = HOW == EQUAL_MASSES ? -cube : cube * mine.minus_mass[k];
    ax = fused(to_q, dx, ax);
    ay = fused(to_q, dy, ay);
    az = fused(to_q, dz, az);
  }
}

/* 32 turns. `ring` holds the 32 bodies twice, so that no index wraps. */
template <int K, pairing HOW>
__device__ inline void rotate_ring(warp_block<K> &mine, const float4 *ring, float softening2, float &ax, float &ay,
                                   float &az) {
  const int lane = threadIdx.x % 32;
#pragma unroll(K > 8 ? 4 : 8)
  for (int r = 0; r < 32; r++) {
    add_pair<K, HOW>(mine, ring[lane + r], softening2, ax, ay, az);
    if (HOW == SAME_BLOCK) continue;
    ax = warp_read(ax, lane + 1);
    ay = warp_read(ay, lane + 1);
    az = warp_read(az, lane + 1);
  }
}

/* Mass of the bodies in `groups` groups from `first` on, on a circle of `all` groups; NaN where masses differ. */
__device__ inline float mass_of_chunk(const float *group_mass, int first, int groups, int all) {
  const int lane = threadIdx.x % 32, g = first + (lane < groups ? lane : 0);
  const float here = group_mass[g < all ? g : g - all], mass = warp_read(here, 0);
  return warp_all(here == mass) ? mass : NAN;
}

/* Mass of the bodies in the registers of a warp; NaN where masses differ. */
template <int K> __device__ inline float mass_of_block(const warp_block<K> &mine) {
  const float mass = warp_read(mine.minus_mass[0], 0);
  bool same = true;
#pragma unroll
  for (int k = 0; k < K; k++) same &= mine.minus_mass[k] == mass;
  return warp_all(same) ? -mass : NAN;
}

template <typename real, int K>
static __global__ void __launch_bounds__(WARPS * 32, K >= 12  ? 4
                                                     : K >= 8 ? 5
                                                              : 8)
    symmetric(const bodies<real> b, const layout of, unsigned long long *sum) {
  __shared__ float4 rings[WARPS][64];
  after_previous();
  const int lane = threadIdx.x % 32, tile = of.first + blockIdx.x * WARPS + threadIdx.x / 32;
  if (tile >= of.last) return;
  float4 *ring = rings[threadIdx.x / 32];
  const int block = tile / (of.chunks + 1), part = tile % (of.chunks + 1);
  const bool itself = part == of.chunks; /* its chunk is then the block: 1024 bodies at most, as others */
  const int row = ((of.blocks - 1) / 2 + (of.blocks % 2 == 0 && block < of.blocks / 2)) * 32 * K;
  const int length = itself ? 32 * K : min(of.chunk, row - part * of.chunk);
  if (length <= 0) return;
  const int all = of.blocks * 32 * K, first = block * 32 * K;
  int start = itself ? first : (first + 32 * K + part * of.chunk) % all;

  const float other_mass = mass_of_chunk(of.group_mass, start / 32, length / 32, of.blocks * K);
  const double3 centre = centre_of(b.position, b.n, 0.0f);
  warp_block<K> mine;
#pragma unroll
  for (int k = 0; k < K; k++) {
    const float4 body = load_body<float>(b, centre, first + k * 32 + lane);
    mine.x[k] = body.x, mine.y[k] = body.y, mine.z[k] = body.z, mine.minus_mass[k] = -body.w;
    mine.ax[k] = mine.ay[k] = mine.az[k] = 0;
  }
  const float mass = mass_of_block(mine);
  const bool equal = !itself && mass == mass && other_mass == other_mass;
  float4 next = load_body<float>(b, centre, start + lane);
  for (int passed = 0; passed < length; passed += 32) {
    const int j = start + lane;
    warp_barrier();
    ring[lane] = ring[lane + 32] = next;
    warp_barrier();
    start = start + 32 < all ? start + 32 : 0;
    if (passed + 32 < length) next = load_body<float>(b, centre, start + lane);
    float ax = 0, ay = 0, az = 0;
    if (itself) {
      rotate_ring<K, SAME_BLOCK>(mine, ring, of.softening2, ax, ay, az);
      continue;
    }
    if (equal) {
      rotate_ring<K, EQUAL_MASSES>(mine, ring, of.softening2, ax, ay, az);
      ax *= mass, ay *= mass, az *= mass;
    } else {
      rotate_ring<K, GENERAL>(mine, ring, of.softening2, ax, ay, az);
    }
    if (j < b.n) add_fixed(sum, b.n, j, ax, ay, az, of.fixed);
  }
  const float factor = equal ? other_mass : 1;
#pragma unroll
  for (int k = 0; k < K; k++) {
    const int i = first + k * 32 + lane;
    if (i < b.n) add_fixed(sum, b.n, i, mine.ax[k] * factor, mine.ay[k] * factor, mine.az[k] * factor, of.fixed);
  }
}

/* Computed once a run, because masses do not change. */
template <typename real> static __global__ void find_group_masses(const bodies<real> b, int groups, float *group_mass) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x, g = j / 32;
  if (g >= groups) return;
  const float mass = j < b.n ? packed<float>(b.mass[j], 0, b.scale_mass) : NAN;
  const bool same = warp_all(mass == warp_read(mass, 0));
  if (threadIdx.x % 32 == 0) group_mass[g] = same ? mass : NAN;
}

template <typename real> void nbody_cuda_symmetric_prepare(nbody_solver_work *w) {
  static const sim_kernel kernel = {"nbody_find_group_masses", "force", SIM_LIMIT_BYTES};
  const int groups = nbody_cuda_groups(&w->options, &w->plan);
  sim_cuda_begin(&kernel);
  find_group_masses<real><<<(unsigned)((groups + 3) / 4), 128, 0, (cudaStream_t)sim_cuda_stream()>>>(
      bodies_of<real>(w), groups, w->group_mass);
  sim_cuda_end(&kernel, sizeof(real) * (double)w->options.n);
}

template <typename real, int K> static void launch(nbody_solver_work *w) {
  static const sim_kernel kernel = {"nbody_symmetric", "force", SIM_LIMIT_FP32};
  const nbody_options *options = &w->options;
  const double n = (double)options->n, eps = options->softening * w->scaling.position;
  layout of;
  of.group_mass = w->group_mass;
  of.blocks = (int)((options->n + 32 * K - 1) / (32 * K));
  of.chunk = w->plan.chunk;
  of.chunks = (of.blocks / 2 * 32 * K + of.chunk - 1) / of.chunk;
  of.softening2 = (float)(eps * eps);
  of.fixed = (float)w->fixed;
  of.first = w->share.first * (of.chunks + 1); /* below 2^31 up to NBODY_CUDA_MOST_SYMMETRIC bodies */
  of.last = of.first + w->share.count * (of.chunks + 1);
  const int tiles = of.last - of.first;
  if (tiles == 0) return;
  /* 17 floating-point instructions a pair; where masses are equal, 15 */
  device_launch(&kernel, 8.5 * n * n * nbody_cuda_part(w), dim3((unsigned)((tiles + WARPS - 1) / WARPS)), WARPS * 32,
                symmetric<real, K>, bodies_of<real>(w), of, (unsigned long long *)w->state.acceleration);
}

template <typename real> void nbody_cuda_symmetric(nbody_solver_work *w) {
  switch (w->plan.bodies) {
  case 4: launch<real, 4>(w); break;
  case 8: launch<real, 8>(w); break;
  default: launch<real, 12>(w); break;
  }
}
template void nbody_cuda_symmetric<float>(nbody_solver_work *w);
template void nbody_cuda_symmetric<double>(nbody_solver_work *w);
template void nbody_cuda_symmetric_prepare<float>(nbody_solver_work *w);
template void nbody_cuda_symmetric_prepare<double>(nbody_solver_work *w);
