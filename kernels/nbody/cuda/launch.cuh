/* Launches the kernels of a step. From compute capability 9.0 on a kernel starts while its predecessor ends
 * (programmatic dependent launch), which hides most of the launch latency of about 1 us. Each of these kernels calls
 * after_previous() first. */
#ifndef NBODY_CUDA_LAUNCH_CUH
#define NBODY_CUDA_LAUNCH_CUH

#include "kernels/common/device.cuh"

#include "engine/device/cuda.h"

#include <cuda_runtime.h>

/* Whether launches overlap: the device supports it, and the kernels' code waits for its predecessors (partials.cu). */
bool nbody_cuda_overlaps();

template <typename... Parameters, typename... Arguments>
void nbody_launch(const sim_kernel *kernel, double amount, dim3 grid, unsigned threads, void (*function)(Parameters...),
                  Arguments... arguments) {
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = dim3(threads);
  config.stream = (cudaStream_t)sim_cuda_stream();
  config.attrs = &attribute;
  config.numAttrs = nbody_cuda_overlaps() ? 1 : 0;
  sim_cuda_begin(kernel);
  sim_cuda_failed(cudaLaunchKernelEx(&config, function, (Parameters)arguments...), "cudaLaunchKernelEx", kernel->name);
  sim_cuda_end(kernel, amount);
}

#endif
