/* Sums and minima over bodies, in one order for all devices: a tree over NBODY_PARTIAL_BODIES bodies in a thread block,
 * then one thread block over the results of all blocks (partials.cuh). Device code. */
#ifndef NBODY_CUDA_REDUCE_CUH
#define NBODY_CUDA_REDUCE_CUH

#include "kernels/common/device.cuh"

#include <math.h>

enum { NBODY_PARTIAL_BODIES = 256 }; /* bodies a thread block reduces over */

struct add {
  __device__ static double none() { return 0; }
  __device__ static double of(double a, double b) { return a + b; }
};
struct least {
  __device__ static double none() { return INFINITY; }
  __device__ static double of(double a, double b) { return fmin(a, b); }
};

/* Square of vector i of x[3][n]. */
__device__ inline double square3(const double *x, size_t n, size_t i) {
  return x[i] * x[i] + x[n + i] * x[n + i] + x[2 * n + i] * x[2 * n + i];
}

/* Reduces over a thread block of NBODY_PARTIAL_BODIES threads; only thread 0 has the result. `shared` [32] may be
 * reused at once. */
template <typename Op> __device__ inline double over_block(double value, double *shared) {
  for (int step = 16; step > 0; step /= 2) value = Op::of(value, __shfl_down_sync(~0u, value, step));
  __syncthreads();
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
  __syncthreads();
  value = threadIdx.x < NBODY_PARTIAL_BODIES / 32 ? shared[threadIdx.x] : Op::none();
  if (threadIdx.x < 32)
    for (int step = NBODY_PARTIAL_BODIES / 64; step > 0; step /= 2)
      value = Op::of(value, __shfl_down_sync(~0u, value, step));
  return value;
}

#endif
