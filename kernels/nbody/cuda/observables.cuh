/* Functions of a scenario over all bodies, put together in the order of reduce.cuh. Map::COUNT functions, Map::way(k)
 * how the values of the k-th become one, Map::of(inputs..., values) all of one body's. A NaN stays. Device code for
 * NVRTC. */
#ifndef NBODY_CUDA_MAPPED_CUH
#define NBODY_CUDA_MAPPED_CUH

#include "kernels/common/device.cuh"
#include "kernels/nbody/cuda/reduce.cuh"

#include <math.h>

enum { WAY_ADD, WAY_LEAST, WAY_GREATEST };

__device__ inline double none_of(int way) { return way == WAY_ADD ? 0 : way == WAY_LEAST ? INFINITY : -INFINITY; }

__device__ inline double joined(int way, double a, double b) {
  if (way == WAY_ADD || a != a || b != b) return a + b;
  return (way == WAY_LEAST) == (b < a) ? b : a;
}

/* Over the threads of a block of NBODY_PARTIAL_BODIES; the result is thread 0's. */
__device__ inline double joined_over_block(int way, double value, double *shared) {
  for (int step = 16; step > 0; step /= 2) value = joined(way, value, __shfl_down_sync(~0u, value, step));
  __syncthreads();
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
  __syncthreads();
  value = threadIdx.x < NBODY_PARTIAL_BODIES / 32 ? shared[threadIdx.x] : none_of(way);
  if (threadIdx.x < 32)
    for (int step = NBODY_PARTIAL_BODIES / 64; step > 0; step /= 2)
      value = joined(way, value, __shfl_down_sync(~0u, value, step));
  return value;
}

/* partial[k][block]; the kernel has __launch_bounds__(NBODY_PARTIAL_BODIES). */
template <typename Map, typename Real>
__device__ __forceinline__ void map_bodies(int bodies, const Real *mass, const Real *x, const Real *v, const double *a,
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
    const int way = Map::way(k);
    const double value = joined_over_block(way, i < n ? values[k] : none_of(way), shared);
    if (threadIdx.x == 0) partial[(size_t)k * gridDim.x + blockIdx.x] = value;
  }
}

/* result[k] over partial[k][0 .. count), one thread block a function. */
template <typename Map> __device__ __forceinline__ void map_partials(const double *partial, int count, double *result) {
  __shared__ double shared[32];
  const int way = Map::way(blockIdx.x);
  const double *mine = partial + (size_t)blockIdx.x * count;
  double value = none_of(way);
  after_previous();
  for (int k = threadIdx.x; k < count; k += NBODY_PARTIAL_BODIES) value = joined(way, value, mine[k]);
  value = joined_over_block(way, value, shared);
  if (threadIdx.x == 0) result[blockIdx.x] = value;
}

#endif
