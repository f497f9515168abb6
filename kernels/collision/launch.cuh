/* Launches of a step's kernels: where the device can, each begins while the one before it ends (programmatic dependent
 * launch). Such a kernel begins with after_previous(). */
#ifndef COLLISION_CUDA_LAUNCH_CUH
#define COLLISION_CUDA_LAUNCH_CUH

#include "engine/device/cuda.h"
#include "kernels/common/device.cuh"

#include <cuda_runtime.h>

/* Whether launches overlap: the device supports it, and the kernels' code waits for its predecessors. */
bool collision_cuda_overlaps();

template <typename... Parameters, typename... Arguments>
static void collision_launch(const sim_kernel *kernel, double amount, unsigned grid, unsigned threads,
                             void (*function)(Parameters...), Arguments... arguments) {
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(grid);
  config.blockDim = dim3(threads);
  config.stream = (cudaStream_t)sim_cuda_stream();
  config.attrs = &attribute;
  config.numAttrs = collision_cuda_overlaps() ? 1 : 0;
  sim_cuda_begin(kernel);
  sim_cuda_failed(cudaLaunchKernelEx(&config, function, (Parameters)arguments...), "cudaLaunchKernelEx", kernel->name);
  sim_cuda_end(kernel, amount);
}

#endif
