/* Sums and minima over bodies with one order for all devices: NBODY_PARTIAL_BODIES bodies a thread block, a tree in it,
 * then one thread block over the blocks' results. Device code. */
#ifndef NBODY_CUDA_REDUCE_CUH
#define NBODY_CUDA_REDUCE_CUH

#include "kernels/common/device.cuh"
#include "kernels/nbody/cuda/raw.h"

#include <math.h>

struct add {
  __device__ static double none() { return 0; }
  __device__ static double of(double a, double b) { return a + b; }
};
struct least {
  __device__ static double none() { return INFINITY; }
  __device__ static double of(double a, double b) { return fmin(a, b); }
};

/* Over the threads of a block of NBODY_PARTIAL_BODIES; the result is thread 0's. `shared` is free before and after. */
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
