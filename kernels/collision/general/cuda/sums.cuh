/* Sums over all grains in the order of ids. `real` is defined before this is included. */
#ifndef COLLISION_CUDA_BED_SUMS_CUH
#define COLLISION_CUDA_BED_SUMS_CUH

#include "kernels/collision/general/cuda/walls.cuh"

enum {
  BED_MASS,
  BED_KINETIC,
  BED_ROTATIONAL,
  BED_ELASTIC,
  BED_GRAVITY,
  BED_DISSIPATED,
  BED_VIRIAL,
  BED_WORK,
  BED_COLLISIONS,
  BED_MOMENTUM,
  BED_ANGULAR = BED_MOMENTUM + 3,
  BED_FLUX = BED_ANGULAR + 3,
  BED_STRESS = BED_FLUX + 6,
  BED_TOUCHING = BED_STRESS + 6,
  BED_TOUCHING_WALLS,
  BED_WALL,
  BED_SUMS = BED_WALL + 3 * COLLISION_WALLS_MAX
};

/* Over the threads of a block; the result is thread 0's. */
static __device__ double over_block(double value, double *shared) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(~0u, value, step);
  __syncthreads();
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
  __syncthreads();
  value = threadIdx.x < BED_THREADS / 32 ? shared[threadIdx.x] : 0;
  if (threadIdx.x < 32)
    for (int step = BED_THREADS / 64; step > 0; step /= 2) value += __shfl_down_sync(~0u, value, step);
  return value;
}

/* partial [quantities][blocks]: blocks of 256 ids, so that a sum has one order on all devices. */
template <int SPRINGS, int FORM, int MORE>
static __device__ __forceinline__ void sum_grains(const bed_arrays &a, const bed_poses &poses, const bed_shift &shift,
                                                  int forces, double *partial, unsigned long long *deepest,
                                                  unsigned k) {
  __shared__ double shared[BED_THREADS / 32];
  const bed_numbers &b = *a.numbers;
  const bed_control now = a.control[k & 1];
  const bed_grains &g = a.grains[now.order];
  const bed_kept &kept = a.kept[now.home];
  for (uint32_t block = blockIdx.x; block < b.blocks; block += gridDim.x) {
    const uint32_t id = block * BED_THREADS + threadIdx.x;
    double part[BED_WALL] = {}, wall[3 * COLLISION_WALLS_MAX];
    for (int q = 0; q < 3 * forces; q++) wall[q] = 0;
    if (id < b.n) {
      const uint32_t i = a.slot[id];
      bed_sum sum = {};
      bed_look at = {};
      look_at_pairs<SPRINGS, FORM, MORE>(b, a, now, shift, i, &at);
      gather_walls<SPRINGS, FORM, MORE, true>(b, a, poses, now, i, 0, 0, 0, &sum, &at, wall);
      const four place = g.place[i], velocity = g.velocity[i], spin = g.spin[i];
      const double m = (double)velocity.w, r = (double)place.w, inertia = 0.4 * m * r * r;
      const double x[3] = {(double)place.x, (double)place.y, (double)place.z};
      const double v[3] = {(double)velocity.x, (double)velocity.y, (double)velocity.z};
      const double s[3] = {(double)spin.x, (double)spin.y, (double)spin.z};
      double u[3] = {v[0], v[1], v[2]}; /* against the flow of a sheared box */
      u[0] -= b.shear * (x[1] - b.low[1] - 0.5 * b.size[1]);
      for (int c = 0; c < 3; c++) {
        const int d = (c + 1) % 3, e = (c + 2) % 3;
        part[BED_KINETIC] += 0.5 * m * v[c] * v[c];
        part[BED_ROTATIONAL] += 0.5 * inertia * s[c] * s[c];
        part[BED_GRAVITY] -= m * b.gravity[c] * x[c];
        part[BED_MOMENTUM + c] = m * v[c];
        part[BED_ANGULAR + c] = m * (x[d] * v[e] - x[e] * v[d]) + inertia * s[c];
        part[BED_FLUX + c] = m * u[c] * u[c];
        part[BED_FLUX + 3 + c] = m * u[c] * u[d];
      }
      for (int q = 0; q < 6; q++) part[BED_STRESS + q] = at.stress[q];
      part[BED_MASS] = m;
      part[BED_ELASTIC] = at.elastic;
      part[BED_DISSIPATED] = kept.dissipated[i];
      part[BED_VIRIAL] = kept.virial[i];
      part[BED_WORK] = b.worked ? kept.work[i] : 0;
      part[BED_COLLISIONS] = (double)kept.collisions[i];
      part[BED_TOUCHING] = at.touching;
      part[BED_TOUCHING_WALLS] = at.touching_walls;
      if (at.overlap > 0)
        atomicMax(deepest, (unsigned long long)__float_as_uint((float)at.overlap) << 32 | (uint32_t)~id);
    }
    for (int q = 0; q < BED_WALL + 3 * forces; q++) {
      const double all = over_block(q < BED_WALL ? part[q] : wall[q - BED_WALL], shared);
      if (threadIdx.x == 0) partial[(size_t)q * b.blocks + block] = all;
    }
  }
}

template <int SPRINGS, int MORE>
static __global__ void __launch_bounds__(BED_THREADS)
    sum_blocks(bed_arrays a, const __grid_constant__ bed_poses poses, bed_shift shift, int forces, double *partial,
               unsigned long long *deepest, unsigned k) {
  after_previous();
  sum_grains<SPRINGS, -1, MORE>(a, poses, shift, forces, partial, deepest, k);
}

static __global__ void __launch_bounds__(BED_THREADS) sum_all(const double *partial, uint32_t blocks, double *out) {
  __shared__ double shared[BED_THREADS / 32];
  after_previous();
  double sum = 0;
  for (uint32_t b = threadIdx.x; b < blocks; b += BED_THREADS) sum += partial[(size_t)blockIdx.x * blocks + b];
  const double all = over_block(sum, shared);
  if (threadIdx.x == 0) out[blockIdx.x] = all;
}

#endif
