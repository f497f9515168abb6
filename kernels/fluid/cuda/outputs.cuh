/* What outputs beside fields and `flow` need of cells: velocities beside walls, the change of a step, sums of gates and
 * running means, of moments and of populations. Twins: cpu/plus.c, cpu/change.c, run/gates.c, run/fields.c. All
 * arithmetic is in double. */
#ifndef FLUID_CUDA_OUTPUTS_CUH
#define FLUID_CUDA_OUTPUTS_CUH

#include "kernels/fluid/cuda/measure_heat.cuh"
#include "kernels/fluid/cuda/trt_measure.cuh"

/* out[cells][3]: velocities of the cells with links, in units of the lattice. */
template <int RANK, typename view>
__global__ void __launch_bounds__(128)
    wall_velocities(const view v, const fluid_edge_cell *cell, int cells, double *out) {
  after_previous();
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= cells) return;
  const fluid_edge_cell at = cell[i];
  double u[RANK];
  (void)velocity_of<RANK>(v, at.at[0], (size_t)at.at[2] * (size_t)v.l.n[1] + (size_t)at.at[1], u);
#pragma unroll
  for (int a = 0; a < 3; a++) out[3 * (size_t)i + a] = a < RANK ? u[a < RANK ? a : 0] : 0;
}

#endif
