/* Sums and minima over bodies, in one order for all devices: a tree over NBODY_PARTIAL_BODIES bodies in a thread block,
 * then one thread block over the results of all blocks (partials.cuh). Device code. */
#ifndef NBODY_CUDA_REDUCE_CUH
#define NBODY_CUDA_REDUCE_CUH

#include "kernels/common/device.cuh"

#include <math.h>

enum { NBODY_PARTIAL_BODIES = 256 }; /* bodies a thread block reduces over */

struct reduce_min {
  __device__ static double none() { return INFINITY; }
  __device__ static double of(double a, double b) { return fmin(a, b); }
};

/* Square of vector i of x[3][n]. */
__device__ inline double square3(const double *x, size_t n, size_t i) {
  return x[i] * x[i] + x[n + i] * x[n + i] + x[2 * n + i] * x[2 * n + i];
}

/* Over a thread block of NBODY_PARTIAL_BODIES threads; thread 0 gets the result. `shared` [32] may be reused at once.
 */
template <typename Op> __device__ inline double over_block(double value, double *shared, Op op = {}) {
  return block_reduce<NBODY_PARTIAL_BODIES>(value, op, shared);
}

#endif
