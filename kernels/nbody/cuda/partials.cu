#include "kernels/nbody/cuda/partials.cuh"

#include "engine/device/cuda.h"

template <typename Op> static __global__ void over_partials(const double *partial, int count, double *result) {
  __shared__ double shared[32];
  const double *mine = partial + (size_t)blockIdx.x * count;
  double value = Op::none();
  for (int k = threadIdx.x; k < count; k += NBODY_PARTIAL_BODIES) value = Op::of(value, mine[k]);
  value = over_block<Op>(value, shared);
  if (threadIdx.x == 0) result[blockIdx.x] = value;
}

template <typename Op> void nbody_reduce_partials(const double *partial, int quantities, int count, double *result) {
  static const sim_kernel kernel = {"nbody_over_partials", "observe", SIM_LIMIT_BYTES};
  sim_cuda_begin(&kernel);
  over_partials<Op>
      <<<(unsigned)quantities, NBODY_PARTIAL_BODIES, 0, (cudaStream_t)sim_cuda_stream()>>>(partial, count, result);
  sim_cuda_end(&kernel, 8.0 * quantities * count);
}
template void nbody_reduce_partials<reduce_sum>(const double *partial, int quantities, int count, double *result);
template void nbody_reduce_partials<reduce_min>(const double *partial, int quantities, int count, double *result);
