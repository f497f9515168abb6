/* Sides that change with time on the GPU: what the host has found of their links is put among the links. */
#ifndef FLUID_CUDA_TIMED_CUH
#define FLUID_CUDA_TIMED_CUH

#include "kernels/fluid/cuda/links.cuh"

template <typename real>
__global__ void __launch_bounds__(256)
    set_constants(fluid_edge<real> *edge, const int32_t *which, const real *constant, int count) {
  after_previous();
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) edge[which[i]].constant = constant[i];
}

static __global__ void __launch_bounds__(256)
    set_warm_edges(fluid_warm_edge *edge, const int32_t *which, const fluid_warm_edge *from, int count) {
  after_previous();
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) edge[which[i]] = from[i];
}

#endif
