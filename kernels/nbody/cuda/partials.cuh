/* The second half of a reduction: over the results of thread blocks. */
#ifndef NBODY_CUDA_PARTIALS_CUH
#define NBODY_CUDA_PARTIALS_CUH

#include "kernels/nbody/cuda/reduce.cuh"
#include "kernels/nbody/cuda/work.h"

#include "engine/device/cuda.h"

inline int nbody_partials(int64_t n) { return (int)((n + NBODY_PARTIAL_BODIES - 1) / NBODY_PARTIAL_BODIES); }

/* Parts that the blocks of a potential energy are cut into: few bodies fill the device too. */
inline int nbody_potential_parts(int blocks) {
  const int wanted = 2048 / blocks;
  return wanted < 1 ? 1 : wanted > NBODY_QUANTITIES ? NBODY_QUANTITIES : wanted;
}

/* result[first + q] over partial[q][0 .. count), one thread block a quantity. */
template <typename Op> static __global__ void over_partials(const double *partial, int count, double *result) {
  __shared__ double shared[32];
  const double *mine = partial + (size_t)blockIdx.x * count;
  double value = Op::none();
  for (int k = threadIdx.x; k < count; k += NBODY_PARTIAL_BODIES) value = Op::of(value, mine[k]);
  value = over_block<Op>(value, shared);
  if (threadIdx.x == 0) result[blockIdx.x] = value;
}

template <typename Op> void nbody_reduce_partials(nbody_work *w, int first, int quantities, int count) {
  static const sim_kernel kernel = {"nbody_over_partials", "observe", SIM_LIMIT_BYTES};
  sim_cuda_begin(&kernel);
  over_partials<Op><<<(unsigned)quantities, NBODY_PARTIAL_BODIES, 0, (cudaStream_t)sim_cuda_stream()>>>(
      w->partial, count, w->result + first);
  sim_cuda_end(&kernel, 8.0 * quantities * count);
}

#endif
