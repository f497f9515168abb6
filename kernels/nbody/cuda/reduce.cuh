/* Sums and minima over bodies with one order for all devices: NBODY_PARTIAL_BODIES bodies a thread block, a tree in it,
 * then one thread block over the blocks' results. Device code. */
#ifndef NBODY_CUDA_REDUCE_CUH
#define NBODY_CUDA_REDUCE_CUH

#include "kernels/nbody/cuda/work.h"

#include "engine/cuda.h"

#include <math.h>

inline int nbody_partials(int64_t n) { return (int)((n + NBODY_PARTIAL_BODIES - 1) / NBODY_PARTIAL_BODIES); }

struct add {
  static constexpr double none = 0;
  __device__ static double of(double a, double b) { return a + b; }
};
struct least {
  static constexpr double none = INFINITY;
  __device__ static double of(double a, double b) { return fmin(a, b); }
};

/* Over the threads of a block of NBODY_PARTIAL_BODIES; the result is thread 0's. `shared` is free before and after. */
template <typename Op> __device__ inline double over_block(double value, double *shared) {
  for (int step = 16; step > 0; step /= 2) value = Op::of(value, __shfl_down_sync(~0u, value, step));
  __syncthreads();
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
  __syncthreads();
  value = threadIdx.x < NBODY_PARTIAL_BODIES / 32 ? shared[threadIdx.x] : Op::none;
  if (threadIdx.x < 32)
    for (int step = NBODY_PARTIAL_BODIES / 64; step > 0; step /= 2)
      value = Op::of(value, __shfl_down_sync(~0u, value, step));
  return value;
}

/* result[first + q] over partial[q][0 .. count), one thread block a quantity. */
template <typename Op> static __global__ void over_partials(const double *partial, int count, double *result) {
  __shared__ double shared[32];
  const double *mine = partial + (size_t)blockIdx.x * count;
  double value = Op::none;
  for (int k = threadIdx.x; k < count; k += NBODY_PARTIAL_BODIES) value = Op::of(value, mine[k]);
  value = over_block<Op>(value, shared);
  if (threadIdx.x == 0) result[blockIdx.x] = value;
}

template <typename Op> void nbody_reduce_partials(nbody_work *w, int first, int quantities, int count) {
  static const sim_cuda_kernel kernel = {"nbody_over_partials", "observe", SIM_LIMIT_BYTES};
  sim_cuda_begin(&kernel);
  over_partials<Op><<<(unsigned)quantities, NBODY_PARTIAL_BODIES, 0, (cudaStream_t)sim_cuda_stream()>>>(
      w->partial, count, w->result + first);
  sim_cuda_end(&kernel, 8.0 * quantities * count);
}

#endif
