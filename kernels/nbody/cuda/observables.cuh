/* Functions of a scenario reduced over all bodies, in the order of reduce.cuh. `Map` has COUNT functions:
 * Map::of(inputs..., values) evaluates all for one body, Map::reduction(k) is the reduction of the k-th. Any NaN
 * makes the result NaN. Device code for NVRTC. */
#ifndef NBODY_CUDA_OBSERVABLES_CUH
#define NBODY_CUDA_OBSERVABLES_CUH

#include "kernels/common/device.cuh"
#include "kernels/nbody/cuda/reduce.cuh"

#include <math.h>

enum { REDUCE_SUM, REDUCE_LEAST, REDUCE_GREATEST };

__device__ inline double identity_of(int how) {
  return how == REDUCE_SUM ? 0 : how == REDUCE_LEAST ? INFINITY : -INFINITY;
}

__device__ inline double reduce(int how, double a, double b) {
  if (how == REDUCE_SUM || a != a || b != b) return a + b;
  return (how == REDUCE_LEAST) == (b < a) ? b : a;
}

/* Reduces over a thread block of NBODY_PARTIAL_BODIES threads; only thread 0 has the result. */
__device__ inline double reduce_over_block(int how, double value, double *shared) {
  for (int step = 16; step > 0; step /= 2) value = reduce(how, value, __shfl_down_sync(~0u, value, step));
  __syncthreads();
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
  __syncthreads();
  value = threadIdx.x < NBODY_PARTIAL_BODIES / 32 ? shared[threadIdx.x] : identity_of(how);
  if (threadIdx.x < 32)
    for (int step = NBODY_PARTIAL_BODIES / 64; step > 0; step /= 2)
      value = reduce(how, value, __shfl_down_sync(~0u, value, step));
  return value;
}

/* Into partial[k][block]; the kernel has __launch_bounds__(NBODY_PARTIAL_BODIES). */
template <typename Map, typename real>
__device__ __forceinline__ void map_bodies(int bodies, const real *mass, const real *x, const real *v, const double *a,
                                           double t, double *partial) {
  __shared__ double shared[32];
  const size_t n = (size_t)bodies, i = (size_t)blockIdx.x * NBODY_PARTIAL_BODIES + threadIdx.x;
  double values[Map::COUNT];
  after_previous();
  if (i < n)
    Map::of(mass[i], x[i], x[n + i], x[2 * n + i], v[i], v[n + i], v[2 * n + i], a[i], a[n + i], a[2 * n + i], t,
            values);
#pragma unroll 1
  for (int k = 0; k < Map::COUNT; k++) {
    const int how = Map::reduction(k);
    const double value = reduce_over_block(how, i < n ? values[k] : identity_of(how), shared);
    if (threadIdx.x == 0) partial[(size_t)k * gridDim.x + blockIdx.x] = value;
  }
}

/* result[k] from partial[k][0 .. count), one thread block a function. */
template <typename Map> __device__ __forceinline__ void map_partials(const double *partial, int count, double *result) {
  __shared__ double shared[32];
  const int how = Map::reduction(blockIdx.x);
  const double *mine = partial + (size_t)blockIdx.x * count;
  double value = identity_of(how);
  after_previous();
  for (int k = threadIdx.x; k < count; k += NBODY_PARTIAL_BODIES) value = reduce(how, value, mine[k]);
  value = reduce_over_block(how, value, shared);
  if (threadIdx.x == 0) result[blockIdx.x] = value;
}

#endif
