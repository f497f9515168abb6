/* What device code of several models stands on. This file and those that it is included by are compiled by nvcc with
 * the program, and by NVRTC with functions of a scenario, where there are no headers but these. */
#ifndef KERNELS_COMMON_DEVICE_CUH
#define KERNELS_COMMON_DEVICE_CUH

#ifndef __CUDACC_RTC__
#include <cuda_runtime.h>
#endif

/* Lets the next kernel be made ready, and waits until all before it have ended and what they wrote can be read. */
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
