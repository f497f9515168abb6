/* Launches a kernel whose thread blocks stay and take work until there is none. */
#ifndef NBODY_FMM_CUDA_LAUNCH_CUH
#define NBODY_FMM_CUDA_LAUNCH_CUH

#include "engine/device/cuda.h"
#include "kernels/common/launch.cuh"
#include "kernels/nbody/fmm/cuda/fmm.h"

/* A thread block has `warps` warps, or as many as fit with `room` bytes of shared memory each. */
template <typename... Parameters, typename... Arguments>
void nbody_fmm_launch(const sim_kernel *kernel, void (*function)(Parameters...), int warps, size_t room,
                      Arguments... arguments) {
  enum { OWN = 1024 /* bytes that a thread block takes for itself, and static arrays */ };
  int fit = 0, device = 0, most = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (!error) error = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  if (!error && warps * room + OWN > (size_t)most) warps = (int)(((size_t)most - OWN) / room);
  const int threads = 32 * warps, bytes = warps * (int)room;
  if (!error) error = cudaFuncSetAttribute((const void *)function, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (!error)
    error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, (const void *)function, threads, (size_t)bytes);
  if (!error && fit < 1) error = cudaErrorInvalidConfiguration;
  if (sim_cuda_failed(error, "cudaOccupancyMaxActiveBlocksPerMultiprocessor", kernel->name)) return;
  int blocks = fit * sim_cuda_multiprocessors();
  if (nbody_fmm_cuda_blocks > 0 && nbody_fmm_cuda_blocks < blocks) blocks = nbody_fmm_cuda_blocks;
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3((unsigned)blocks);
  config.blockDim = dim3((unsigned)threads);
  config.dynamicSmemBytes = (size_t)bytes;
  config.stream = (cudaStream_t)sim_cuda_stream();
  config.attrs = &attribute;
  config.numAttrs = device_overlaps() ? 1 : 0;
  sim_cuda_begin(kernel);
  sim_cuda_failed(cudaLaunchKernelEx(&config, function, (Parameters)arguments...), "cudaLaunchKernelEx", kernel->name);
  sim_cuda_end(kernel, 0);
}

#endif
