/* Launches the kernels of a step. On devices of compute capability 9.0 and later a kernel starts while the previous
 * kernel ends (programmatic dependent launch), which hides most of the launch latency of about 1 us. Each kernel that
 * is launched so calls after_previous() first. */
#ifndef KERNELS_COMMON_LAUNCH_CUH
#define KERNELS_COMMON_LAUNCH_CUH

#include "kernels/common/device.cuh"

#include "engine/device/cuda.h"

#include <cuda_runtime.h>

/* Whether kernels may begin early: the device allows it, and their code waits for the kernels before. */
bool device_overlaps();

/* Queues function<<<grid, threads>>>(arguments...) on the stream of steps; amount: of the kernel's limit, for profiles
 * (sim_cuda_end). */
template <typename... Parameters, typename... Arguments>
static void device_launch(const sim_kernel *kernel, double amount, dim3 grid, unsigned threads,
                          void (*function)(Parameters...), Arguments... arguments) {
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = dim3(threads);
  config.stream = (cudaStream_t)sim_cuda_stream();
  config.attrs = &attribute;
  config.numAttrs = device_overlaps() ? 1 : 0;
  sim_cuda_begin(kernel);
  sim_cuda_failed(cudaLaunchKernelEx(&config, function, (Parameters)arguments...), "cudaLaunchKernelEx", kernel->name);
  sim_cuda_end(kernel, amount);
}

#endif
