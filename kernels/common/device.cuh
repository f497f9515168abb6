/* Device code that several models share. This file, and those that include it, are compiled by nvcc with the
 * program, and by NVRTC with functions of a scenario, where no other headers exist. */
#ifndef KERNELS_COMMON_DEVICE_CUH
#define KERNELS_COMMON_DEVICE_CUH

#ifndef __CUDACC_RTC__
#include <cuda_runtime.h>
#endif

/* Allows the next kernel to be launched, and waits until all preceding ones have ended and their writes are visible. */
__device__ inline void after_previous() {
#if __CUDA_ARCH__ >= 900
#ifdef __CUDACC_RTC__
  asm volatile("griddepcontrol.launch_dependents;");
  asm volatile("griddepcontrol.wait;" ::: "memory");
#else
  cudaTriggerProgrammaticLaunchCompletion();
  cudaGridDependencySynchronize();
#endif
#endif
}

#endif
