/* Functions of a scenario reduced over all bodies, in the order of reduce.cuh. `Map` has COUNT functions:
 * Map::of(inputs..., values) evaluates all for one body, Map::reduction(k) is the reduction of the k-th. Any NaN
 * makes the result NaN. Device code for NVRTC. */
#ifndef NBODY_CUDA_OBSERVABLES_CUH
#define NBODY_CUDA_OBSERVABLES_CUH

#include "kernels/common/device.cuh"
#include "kernels/nbody/cuda/reduce.cuh"

#include <math.h>

enum { REDUCE_SUM, REDUCE_LEAST, REDUCE_GREATEST };

struct reduce_how {
  int how;
  __device__ double none() const { return how == REDUCE_SUM ? 0 : how == REDUCE_LEAST ? INFINITY : -INFINITY; }
  __device__ double of(double a, double b) const {
    if (how == REDUCE_SUM || a != a || b != b) return a + b;
    return (how == REDUCE_LEAST) == (b < a) ? b : a;
  }
};

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
    const reduce_how how = {Map::reduction(k)};
    const double value = over_block(i < n ? values[k] : how.none(), shared, how);
    if (threadIdx.x == 0) partial[(size_t)k * gridDim.x + blockIdx.x] = value;
  }
}

/* result[k] from partial[k][0 .. count), one thread block a function. */
template <typename Map> __device__ __forceinline__ void map_partials(const double *partial, int count, double *result) {
  __shared__ double shared[32];
  const reduce_how how = {Map::reduction(blockIdx.x)};
  const double *mine = partial + (size_t)blockIdx.x * count;
  double value = how.none();
  after_previous();
  for (int k = threadIdx.x; k < count; k += NBODY_PARTIAL_BODIES) value = how.of(value, mine[k]);
  value = over_block(value, shared, how);
  if (threadIdx.x == 0) result[blockIdx.x] = value;
}

#endif
