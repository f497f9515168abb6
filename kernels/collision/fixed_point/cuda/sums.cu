/* Fixed-point solver on a GPU: sums over grains, and the state by id. CPU counterpart: the second half of cpu/sums.c;
 * `store` of cpu/ops.c. */
#include "kernels/collision/fixed_point/cuda/work.cuh"

struct fixed_units {
  double low[3], size[3], quantum, mass; /* mass: of equal grains */
};

static __global__ void find_slots(fixed_arrays a, uint32_t *slot, unsigned k) {
  after_previous();
  const uint32_t *const id = a.id[a.control[k & 1].order];
  for (uint32_t i = blockIdx.x * 256 + threadIdx.x; i < a.n; i += gridDim.x * 256) slot[id[i]] = i;
}

/* A grain by its id, with its impulse and its collisions. On several ranks from `whole`, which has no radius. */
template <typename Grain>
static __device__ Grain grain_of_id(const fixed_arrays &a, const fixed_control &now, const uint32_t *slot, uint32_t id,
                                    uint4 *impulse, uint32_t *collisions) {
  if (a.whole == NULL) {
    const uint32_t i = slot[id];
    *impulse = a.scratch[i];
    *collisions = a.collisions[now.order][i];
    return ((const Grain *)a.grain[now.buffer])[i];
  }
  uint32_t word[2 * FIXED_WHOLE];
  for (int row = 0; row < FIXED_WHOLE; row++) {
    const unsigned long long both = a.whole[(size_t)row * a.n + id];
    word[2 * row] = (uint32_t)both;
    word[2 * row + 1] = (uint32_t)(both >> 32);
  }
  Grain one = {};
  for (int c = 0; c < 3; c++) {
    one.x[c] = word[c];
    one.p[c] = (int32_t)word[3 + c];
  }
  *impulse = make_uint4(word[6], word[7], word[8], 0);
  *collisions = word[9];
  return one;
}

/* Position and velocity of a grain, with half of its current impulses, in the units of the scenario. */
template <typename Grain>
static __device__ void observe(const Grain &grain, const uint4 &impulse, const fixed_units &u, double mass, double x[3],
                               double v[3]) {
  const int more[3] = {(int)impulse.x, (int)impulse.y, (int)impulse.z};
  for (int c = 0; c < 3; c++) {
    x[c] = u.low[c] + (double)grain.x[c] * (u.size[c] * 0x1p-32);
    v[c] = ((double)grain.p[c] + 0.5 * (double)more[c]) * (u.quantum / mass);
  }
}

/* Sums over blocks of 256 ids, so that the order of summation is the same on all devices. */
template <typename Grain>
static __global__ void __launch_bounds__(256)
    sum_blocks(fixed_arrays a, fixed_units u, const uint32_t *slot, double *partial, long long *momentum, unsigned k) {
  after_previous();
  __shared__ double shared[8];
  const fixed_control now = a.control[k & 1];
  const uint32_t blocks = (a.n + 255) / 256;
  long long sum[3] = {0, 0, 0};
  for (uint32_t b = blockIdx.x; b < blocks; b += gridDim.x) {
    double part[FIXED_GRAIN_SUMS] = {};
    const uint32_t id = b * 256 + threadIdx.x;
    if (id < a.n) {
      uint4 impulse;
      uint32_t collisions;
      const Grain one = grain_of_id<Grain>(a, now, slot, id, &impulse, &collisions);
      double x[3], v[3];
      const double m = Grain::equal ? u.mass : (double)a.mass[id];
      observe(one, impulse, u, m, x, v);
      part[FIXED_MASS] = m;
      part[FIXED_COLLISIONS] = collisions;
#pragma unroll
      for (int c = 0; c < 3; c++) {
        const int d = (c + 1) % 3, e = (c + 2) % 3;
        part[FIXED_KINETIC] += 0.5 * m * v[c] * v[c];
        part[FIXED_ANGULAR + c] = m * (x[d] * v[e] - x[e] * v[d]);
        part[FIXED_FLUX + c] = m * v[c] * v[c];
        part[FIXED_FLUX + 3 + c] = m * v[c] * v[d];
      }
      sum[0] += 2 * (long long)one.p[0] + (int)impulse.x;
      sum[1] += 2 * (long long)one.p[1] + (int)impulse.y;
      sum[2] += 2 * (long long)one.p[2] + (int)impulse.z;
    }
#pragma unroll
    for (int q = 0; q < FIXED_GRAIN_SUMS; q++) {
      const double all = block_sum<256>(part[q], shared);
      if (threadIdx.x == 0) partial[(size_t)q * blocks + b] = all;
    }
  }
  for (int c = 0; c < 3; c++) {
    const long long all = warp_sum(sum[c]);
    if (threadIdx.x % 32 == 0) atomicAdd((unsigned long long *)&momentum[c], (unsigned long long)all);
  }
}

static __global__ void __launch_bounds__(256) sum_all(const double *partial, uint32_t blocks, double *out) {
  after_previous();
  __shared__ double shared[8];
  double sum = 0;
  for (uint32_t b = threadIdx.x; b < blocks; b += 256) sum += partial[(size_t)blockIdx.x * blocks + b];
  const double all = block_sum<256>(sum, shared);
  if (threadIdx.x == 0) out[blockIdx.x] = all;
}

template <typename Grain>
static __global__ void write_output(fixed_arrays a, fixed_units u, const uint32_t *slot, uint32_t first, uint32_t count,
                                    fixed_output *out, unsigned k) {
  after_previous();
  const fixed_control now = a.control[k & 1];
  for (uint32_t at = blockIdx.x * 256 + threadIdx.x; at < count; at += gridDim.x * 256) {
    uint4 impulse;
    uint32_t collisions;
    const Grain one = grain_of_id<Grain>(a, now, slot, first + at, &impulse, &collisions);
    double x[3], v[3];
    observe(one, impulse, u, Grain::equal ? u.mass : (double)a.mass[first + at], x, v);
    for (int c = 0; c < 3; c++) {
      const float rounded = (float)x[c];
      out->word[c][at] = (unsigned long long)(uint32_t)one.p[c] << 32 | one.x[c];
      out->position[c][at] = rounded < (float)(u.low[c] + u.size[c]) ? rounded : (float)u.low[c];
      out->velocity[c][at] = (float)v[c];
    }
    out->collisions[at] = collisions;
  }
}

/* ---- launches ---- */

static fixed_units units_of(const collision_work *w) {
  const fixed_point_system &g = w->system;
  return {{g.low[0], g.low[1], g.low[2]}, {g.size[0], g.size[1], g.size[2]}, g.quantum, g.mass};
}

static void launch_find_slots(collision_work *w) {
  static const sim_kernel kernel = {"collision_fixed_point_slots", "observe", SIM_LIMIT_BYTES};
  device_launch(&kernel, 0, collision_cuda_grid(8, w->arrays.n), 256, find_slots, w->arrays, w->arrays.slot, w->launch);
}

void collision_fixed_cuda_grain_sums(collision_work *w) {
  static const sim_kernel summing = {"collision_fixed_point_sums", "observe", SIM_LIMIT_BYTES};
  const fixed_arrays &a = w->arrays;
  const uint32_t blocks = (a.n + 255) / 256;
  double *const all = w->partial + (size_t)FIXED_GRAIN_SUMS * blocks;
  if (a.whole == NULL) launch_find_slots(w);
  if (w->system.equal)
    device_launch(&summing, 0, collision_cuda_grid(4, a.n), 256, sum_blocks<fixed_grain>, a, units_of(w),
                  w->arrays.slot, w->partial, w->pair_sums + FIXED_MOMENTUM, w->launch);
  else
    device_launch(&summing, 0, collision_cuda_grid(4, a.n), 256, sum_blocks<fixed_mixed_grain>, a, units_of(w),
                  w->arrays.slot, w->partial, w->pair_sums + FIXED_MOMENTUM, w->launch);
  device_launch(&summing, 0, FIXED_GRAIN_SUMS, 256, sum_all, w->partial, blocks, all);
}

void collision_fixed_cuda_output(collision_work *w, int64_t first, int64_t count) {
  static const sim_kernel kernel = {"collision_fixed_point_output", "output", SIM_LIMIT_BYTES};
  fixed_output *const piece = (fixed_output *)w->output;
  if (first == 0 && w->arrays.whole == NULL) launch_find_slots(w);
  const unsigned grid = collision_cuda_grid(8, (uint64_t)count);
  if (w->system.equal)
    device_launch(&kernel, 0, grid, 256, write_output<fixed_grain>, w->arrays, units_of(w), w->arrays.slot,
                  (uint32_t)first, (uint32_t)count, piece, w->launch);
  else
    device_launch(&kernel, 0, grid, 256, write_output<fixed_mixed_grain>, w->arrays, units_of(w), w->arrays.slot,
                  (uint32_t)first, (uint32_t)count, piece, w->launch);
}
