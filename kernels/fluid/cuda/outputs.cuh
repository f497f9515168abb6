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

/* ---- the change of a step ---- */

/* Velocities before it: of another state, or as remember_cells has stored them, [RANK][cells]. */
template <typename real> struct fluid_stored_velocities {
  const real *u;
  size_t cells;
};
template <int RANK, typename real>
__device__ __forceinline__ void past_velocity(const fluid_stored_velocities<real> &past, int, size_t, size_t i,
                                              double *u) {
#pragma unroll
  for (int a = 0; a < RANK; a++) u[a] = (double)past.u[(size_t)a * past.cells + i];
}
template <int RANK, typename real>
__device__ __forceinline__ void past_velocity(const fluid_view<real> &past, int x, size_t row, size_t, double *u) {
  (void)velocity_of<RANK>(past, x, row, u);
}

template <int RANK, typename view>
__global__ void __launch_bounds__(256) remember_cells(const view v, typename view::real *out) {
  after_previous();
  const size_t cells = (size_t)v.l.n[0] * (size_t)v.l.n[1] * (size_t)v.l.n[2];
  for (size_t i = blockIdx.x * (size_t)256 + threadIdx.x; i < cells; i += (size_t)gridDim.x * 256) {
    const int x = (int)(i % (size_t)v.l.n[0]);
    const size_t row = i / (size_t)v.l.n[0];
    double u[RANK] = {};
    if (!is_solid(v.beside, v.l, x, row)) (void)velocity_of<RANK>(v, x, row, u);
#pragma unroll
    for (int a = 0; a < RANK; a++) out[(size_t)a * cells + i] = (typename view::real)u[a];
  }
}

/* sums[blocks]: squared changes of the velocity. */
template <int RANK, typename view, typename before>
__global__ void __launch_bounds__(256) sum_change(const view v, const before past, double *sums) {
  __shared__ double shared[8];
  after_previous();
  const fluid_summed mine = summed_by<RANK>(v.l, blockIdx.x);
  double sum = 0;
  for (size_t i = mine.first + threadIdx.x; i < mine.end; i += 256) {
    const int x = (int)(i % (size_t)v.l.n[0]);
    const size_t row = i / (size_t)v.l.n[0];
    if (is_solid(v.beside, v.l, x, row)) continue;
    double u[RANK], old[RANK];
    (void)velocity_of<RANK>(v, x, row, u);
    past_velocity<RANK>(past, x, row, i, old);
#pragma unroll
    for (int a = 0; a < RANK; a++) sum += (u[a] - old[a]) * (u[a] - old[a]);
  }
  sum = block_sum<256>(sum, shared);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

/* The same of the temperature, in units of warm.scale. */
template <int RANK, typename real>
__global__ void __launch_bounds__(256)
    sum_warm_change(const fluid_view<real> v, const fluid_view<real> past, double *sums) {
  __shared__ double shared[8];
  after_previous();
  const fluid_summed mine = summed_by<RANK>(v.l, blockIdx.x);
  double sum = 0;
  for (size_t i = mine.first + threadIdx.x; i < mine.end; i += 256) {
    const int x = (int)(i % (size_t)v.l.n[0]);
    const size_t row = i / (size_t)v.l.n[0];
    if (is_solid(v.beside, v.l, x, row)) continue;
    const double warmer = warm_temperature<RANK>(v, x, row) - warm_temperature<RANK>(past, x, row);
    sum += warmer * warmer;
  }
  sum = block_sum<256>(sum, shared);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

/* ---- gates ---- */

/* sums[planes][blocks][FLUID_GATE_SUMS] of the cells of a block: of a gate across the last axis in the order of cells,
 * of others within one plane of that axis, which this rank makes. */
template <int RANK, typename view>
__global__ void __launch_bounds__(256) sum_gates(const view v, const fluid_gate_plane *planes, double *sums) {
  __shared__ double shared[8];
  after_previous();
  const fluid_gate_plane p = planes[blockIdx.y];
  const int b = p.axis == 0 ? 1 : 0, c = p.axis == 2 ? 1 : 2, across = v.l.n[b];
  const bool whole = p.axis == RANK - 1;
  const long long width = whole ? (long long)across * v.l.n[c] : RANK == 3 ? across : 1;
  const int parts = (int)((width + FLUID_SUMMED - 1) / FLUID_SUMMED), line = (int)blockIdx.x / parts;
  const long long begin = whole ? 0 : (v.l.first + line) * width,
                  first = begin + (long long)((int)blockIdx.x % parts) * FLUID_SUMMED;
  const bool here = whole ? p.plane >= 0 && line == 0 : line < v.l.own;
  double sum[FLUID_GATE_SUMS] = {};
  for (long long i = first + threadIdx.x; here && i < begin + width && i < first + FLUID_SUMMED; i += 256) {
    int at[3];
    at[p.axis] = p.plane;
    at[b] = (int)(i % across);
    at[c] = (int)(i / across);
    const size_t row = (size_t)at[2] * (size_t)v.l.n[1] + (size_t)at[1];
    const double part = p.part * p.parts[at[b]] * p.parts[across + at[c]];
    if (!(part > 0) || is_solid(v.beside, v.l, at[0], row)) continue;
    double u[3] = {0, 0, 0};
    const double rho1 = velocity_of<RANK>(v, at[0], row, u), flux = part * (1 + rho1) * u[p.axis];
    sum[FLUID_GATE_AREA] += part;
    sum[FLUID_GATE_PRESSURE] += part * rho1;
    sum[FLUID_GATE_FLUX] += flux;
#pragma unroll
    for (int a = 0; a < RANK; a++) sum[FLUID_GATE_MOMENTUM + a] += flux * u[a];
  }
#pragma unroll
  for (int k = 0; k < FLUID_GATE_SUMS; k++) {
    const double all = block_sum<256>(sum[k], shared);
    if (threadIdx.x == 0) sums[FLUID_GATE_SUMS * ((size_t)blockIdx.y * gridDim.x + blockIdx.x) + (size_t)k] = all;
  }
}

/* ---- running means ---- */

/* Adds sample number n to the means of all cells, mean[count][cells]: velocity, pressure, stresses xx, yy, (zz,) xy,
 * (xz, yz), and with heat the temperature; n 0: sets that of solid cells alone. As add_sample of run/fields.c. */
template <int RANK, typename view, typename Warm>
__device__ __forceinline__ void sample(const view &v, double n, double *mean, Warm temperature) {
  const size_t cells = (size_t)v.l.n[0] * (size_t)v.l.n[1] * (size_t)v.l.n[2];
  const double speed = v.dx / v.dt, pressure = v.density * speed * speed / 3;
  double *const warm = mean + (size_t)(RANK + 1 + RANK * (RANK + 1) / 2) * cells;
  for (size_t i = blockIdx.x * (size_t)256 + threadIdx.x; i < cells; i += (size_t)gridDim.x * 256) {
    const int x = (int)(i % (size_t)v.l.n[0]);
    const size_t row = i / (size_t)v.l.n[0];
    const bool solid = is_solid(v.beside, v.l, x, row);
    if (v.heat && n == 0 && solid) warm[i] = v.warm.shown[i];
    if (n == 0 || solid) continue;
    double u[RANK], before[RANK], after[RANK], *to = mean + i;
    const double rho1 = velocity_of<RANK>(v, x, row, u);
#pragma unroll
    for (int a = 0; a < RANK; a++) {
      const double old = to[(size_t)a * cells];
      before[a] = speed * u[a] - old;
      const double now = old + before[a] / n;
      to[(size_t)a * cells] = now;
      after[a] = speed * u[a] - now;
    }
    double *p = to + RANK * cells;
    *p += (pressure * rho1 - *p) / n;
#pragma unroll
    for (int a = 0; a < RANK; a++)
#pragma unroll
      for (int b = a; b < RANK; b++) {
        double *stress = to + (size_t)(RANK + 1 + (a == b ? a : RANK + a + b - 1)) * cells;
        *stress += (before[a] * after[b] - *stress) / n;
      }
    if (v.heat) warm[i] += (temperature(x, row) - warm[i]) / n;
  }
}
template <int RANK, typename real>
__global__ void __launch_bounds__(256) sample_cells(const fluid_view<real> v, double n, double *mean) {
  after_previous();
  sample<RANK>(v, n, mean,
               [&](int x, size_t row) { return v.warm.shift + v.warm.scale * warm_temperature<RANK>(v, x, row); });
}
template <int RANK, int Q, typename store>
__global__ void __launch_bounds__(256)
    sample_populations(const fluid_population_view<Q, store> v, double n, double *mean) {
  after_previous();
  sample<RANK>(v, n, mean, [](int, size_t) { return 0.0; }); /* they have no heat */
}

#endif
