/* Fields, sums and the first state on the GPU. Twin: cpu/measure.c, start/start.c. All arithmetic is in double. */
#ifndef FLUID_CUDA_MEASURE_CUH
#define FLUID_CUDA_MEASURE_CUH

#include "kernels/fluid/cuda/step.cuh"

#ifndef __CUDACC_RTC__
#include <math.h>
#endif

/* What fields and sums need to know of a run, of moments and of populations. */
struct fluid_scene {
  fluid_layout l; /* cells, and groups of the masks */
  fluid_beside beside;
  double g[3], dx, dt, density, tau, smagorinsky;
  bool heat;
  fluid_warm warm;
};

template <typename number> struct fluid_view : fluid_scene {
  typedef number real;
  const real *state;
  const real *push; /* [RANK][cells]: force of the step, in cells per step^2; NULL: none that is a function */
  real *fields;     /* [RANK + 1][cells]: velocity and pressure; or of a window: [RANK + 1][planes][cells of a plane] */
  int first, planes; /* of the window, along the last axis, around the box; 0 planes: all */
};

__device__ __forceinline__ bool is_solid(const fluid_beside &b, const fluid_layout &l, int x, size_t row) {
  return fluid_has_bit(b.solid, l, x, row);
}

/* Density - 1 and velocity, in units of the lattice. */
/* Half of a force that is a function, along axis a of a cell. */
template <typename real>
__device__ __forceinline__ double half_push(const fluid_view<real> &v, int a, int x, size_t row) {
  const size_t cells = (size_t)v.l.n[0] * (size_t)v.l.n[1] * (size_t)v.l.n[2];
  return (double)v.push[(size_t)a * cells + row * (size_t)v.l.n[0] + (size_t)x] / 2;
}

template <int RANK, typename real>
__device__ __forceinline__ double velocity_of(const fluid_view<real> &v, int x, size_t row, double *u) {
  const real *m = v.state + fluid_place(v.l, x, row);
  double rho1 = (double)m[0];
#pragma unroll
  for (int a = 0; a < RANK; a++) rho1 += (double)m[(1 + RANK + a) * FLUID_GROUP] / 3;
#pragma unroll
  for (int a = 0; a < RANK; a++) {
    u[a] = (double)m[(1 + a) * FLUID_GROUP] / (3 * (1 + rho1)) - v.g[a] / 2;
    if (v.heat) u[a] += v.warm.law.push[a] / 2 * ((double)m[fluid_moments(RANK) * FLUID_GROUP] - v.warm.law.reference);
    if (v.push) u[a] -= half_push(v, a, x, row);
  }
  return rho1;
}

template <int RANK, typename real> __global__ void __launch_bounds__(256) show_cells(const fluid_view<real> v) {
  after_previous();
  const size_t cells = (size_t)v.l.n[0] * (size_t)v.l.n[1] * (size_t)v.l.n[2];
  const double speed = v.dx / v.dt, pressure = v.density * speed * speed / 3;
  for (size_t i = blockIdx.x * (size_t)256 + threadIdx.x; i < cells; i += (size_t)gridDim.x * 256) {
    const int x = (int)(i % (size_t)v.l.n[0]);
    const size_t row = i / (size_t)v.l.n[0];
    double u[RANK] = {}, rho1 = 0;
    if (!is_solid(v.beside, v.l, x, row)) rho1 = velocity_of<RANK>(v, x, row, u);
#pragma unroll
    for (int a = 0; a < RANK; a++) v.fields[(size_t)a * cells + i] = (real)(speed * u[a]);
    v.fields[RANK * cells + i] = (real)(pressure * rho1);
  }
}

/* Field a of a cell, of those that are there. */
template <int RANK, typename real>
__device__ __forceinline__ double value_of(const fluid_view<real> &v, int a, int x, size_t row) {
  const size_t nx = (size_t)v.l.n[0], rows = (size_t)v.l.n[1];
  if (v.planes == 0) return (double)v.fields[((size_t)a * rows * (size_t)v.l.n[2] + row) * nx + (size_t)x];
  const size_t each = RANK == 2 ? 1 : rows, plane = row / each;
  const int k = around((int)plane - v.first, v.l.n[RANK - 1]);
  return (double)v.fields[(((size_t)a * (size_t)v.planes + (size_t)k) * each + row % each) * nx + (size_t)x];
}

/* The value of u_a at the next point along an axis, and how far that is, in cells: as `next` in cpu/measure.c. */
template <int RANK, typename view>
__device__ double next_value(const view &v, const int at[3], int a, int axis, int sign, double *far) {
  const int *n = v.l.n;
  int to[3] = {at[0], at[1], at[2]};
  to[axis] += sign;
  *far = 1;
  const int side = 2 * axis + (sign > 0);
  const bool beyond =
      axis == RANK - 1 ? to[axis] < v.beside.low || to[axis] > v.beside.high : to[axis] < 0 || to[axis] >= n[axis];
  to[axis] = around(to[axis], n[axis]);
  const size_t here = ((size_t)at[2] * (size_t)n[1] + (size_t)at[1]) * (size_t)n[0] + (size_t)at[0];
  if (!beyond || v.beside.side[side] == FLUID_BESIDE_CELL) {
    const size_t row = (size_t)to[2] * (size_t)n[1] + (size_t)to[1];
    if (!is_solid(v.beside, v.l, to[0], row)) return value_of<RANK>(v, a, to[0], row);
    const unsigned long long key = 6 * (unsigned long long)here + (unsigned long long)side;
    int low = 0, high = v.beside.cuts;
    while (low < high) {
      const int middle = (low + high) / 2;
      if (v.beside.cut[middle].key < key)
        low = middle + 1;
      else
        high = middle;
    }
    const bool found = low < v.beside.cuts && v.beside.cut[low].key == key;
    *far = found ? v.beside.cut[low].far : 0.5;
    return found ? v.beside.cut[low].velocity[a] : 0;
  }
  *far = 0.5;
  if (v.beside.side[side] == FLUID_BESIDE_VELOCITY) return v.beside.velocity[side][a];
  if (v.beside.side[side] == FLUID_BESIDE_PROFILE) {
    const int b = axis == 0 ? 1 : 0, c = axis == 2 ? 1 : 2;
    return v.beside.profile[side][3 * ((size_t)at[c] * (size_t)n[b] + (size_t)at[b]) + (size_t)a];
  }
  const double own = value_of<RANK>(v, a, at[0], (size_t)at[2] * (size_t)n[1] + (size_t)at[1]);
  *far = v.beside.side[side] == FLUID_BESIDE_MIRROR ? 1 : 0; /* a mirror image */
  return v.beside.side[side] == FLUID_BESIDE_MIRROR && a == axis ? -own : own;
}

template <int RANK, typename view>
__device__ __forceinline__ void gradient(const view &v, const int at[3], double out[RANK][RANK]) {
#pragma unroll 1
  for (int i = 0; i < RANK * RANK; i++) {
    const int a = i / RANK, b = i % RANK;
    double low, high;
    const double below = next_value<RANK>(v, at, a, b, -1, &low), above = next_value<RANK>(v, at, a, b, 1, &high);
    out[a][b] = low + high > 0 ? (above - below) / ((low + high) * v.dx) : 0;
  }
}

/* Cells [first, end) of the state that block number `block` adds: of one plane that this rank makes. */
struct fluid_summed {
  size_t first, end;
};
template <int RANK> __device__ __forceinline__ fluid_summed summed_by(const fluid_layout &l, unsigned block) {
  const size_t plane = (size_t)l.n[0] * (RANK == 3 ? (size_t)l.n[1] : 1);
  const unsigned blocks = (unsigned)((plane + FLUID_SUMMED - 1) / FLUID_SUMMED);
  const size_t begin = ((size_t)l.first + block / blocks) * plane,
               first = begin + (size_t)(block % blocks) * FLUID_SUMMED;
  return {first, first + FLUID_SUMMED < begin + plane ? first + FLUID_SUMMED : begin + plane};
}

/* The greater one; NaN stays. */
struct greatest {
  __device__ static double of(double a, double b) { return isnan(a) || b <= a ? a : b; }
  __device__ static double none() { return 0; }
};

/* sums[FLUID_SUMS][blocks]: as measure_row of cpu/measure.c. */
template <int RANK, typename view> __global__ void __launch_bounds__(256) sum_flow(const view v, double *sums) {
  __shared__ double shared[8];
  after_previous();
  const fluid_summed mine = summed_by<RANK>(v.l, blockIdx.x);
  const double speed = v.dx / v.dt;
  double sum[FLUID_SUMS] = {};
  for (size_t i = mine.first + threadIdx.x; i < mine.end; i += 256) {
    const int x = (int)(i % (size_t)v.l.n[0]);
    const size_t row = i / (size_t)v.l.n[0];
    if (is_solid(v.beside, v.l, x, row)) continue;
    double u[RANK], grad[RANK][RANK], square = 0;
    const double rho1 = velocity_of<RANK>(v, x, row, u);
#pragma unroll
    for (int a = 0; a < RANK; a++) {
      u[a] *= speed;
      square += u[a] * u[a];
      sum[4 + a] += (1 + rho1) * u[a];
    }
    sum[0] += rho1;
    sum[1] += (1 + rho1) * square / 2;
    sum[FLUID_SUM_SPEED] = greatest::of(sum[FLUID_SUM_SPEED], square);
    const int at[3] = {x, (int)(row % (size_t)v.l.n[1]), (int)(row / (size_t)v.l.n[1])};
    gradient<RANK>(v, at, grad);
#pragma unroll
    for (int a = 0; a < RANK; a++)
#pragma unroll
      for (int b = 0; b < a; b++) sum[2] += (grad[a][b] - grad[b][a]) * (grad[a][b] - grad[b][a]) / 2;
  }
#pragma unroll
  for (int k = 0; k < FLUID_SUMS; k++) {
    const double all =
        k == FLUID_SUM_SPEED ? block_reduce<256>(sum[k], greatest(), shared) : block_sum<256>(sum[k], shared);
    if (threadIdx.x == 0) sums[(size_t)k * gridDim.x + blockIdx.x] = all;
  }
}

/* The relaxation time of a cell at a shear rate of the scenario. */
struct fluid_first_tau {
  template <typename view> __device__ __forceinline__ double of(const view &v, double shear, int, size_t) const {
    return v.tau + 3 * v.smagorinsky * v.smagorinsky * shear * v.dt;
  }
};

/* Sets *rho1, density - 1, and m, moments J and S, of a cell of the first state from the fields: set_cell of
 * start/start.c, in a medium of this resistance by a step. */
template <int RANK, typename real, typename taus = fluid_first_tau>
__device__ __forceinline__ void first_moments(const fluid_view<real> &v, int x, size_t row, double drag, double *rho1,
                                              double *m, const taus &time = taus()) {
  const int at[3] = {x, (int)(row % (size_t)v.l.n[1]), (int)(row / (size_t)v.l.n[1])};
  const double unit = v.dx / v.dt;
  *rho1 = 3 * value_of<RANK>(v, RANK, x, row) / (v.density * unit * unit);
  const double rho = 1 + *rho1;
  double grad[RANK][RANK], u[RANK], widening = 0, square = 0;
  gradient<RANK>(v, at, grad);
#pragma unroll
  for (int a = 0; a < RANK; a++) {
    u[a] = value_of<RANK>(v, a, x, row) / unit;
    widening += grad[a][a] / RANK;
#pragma unroll
    for (int b = 0; b < RANK; b++) square += (grad[a][b] + grad[b][a]) * (grad[a][b] + grad[b][a]) / 4;
  }
  const double shear = square - widening * widening * RANK;
  const double tau = time.of(v, sqrt(2 * (shear > 0 ? shear : 0)), x, row);
#pragma unroll
  for (int a = 0; a < RANK; a++) {
    m[1 + a] = 3 * rho * (u[a] * (1 - drag / 2) + v.g[a] / 2);
#pragma unroll
    for (int b = a; b < RANK; b++) {
      const double strain = ((grad[a][b] + grad[b][a]) / 2 - (a == b ? widening : 0)) * v.dt;
      const double s = rho * (u[a] * u[b] - 2.0 / 3 * (tau - 1) * strain + (u[a] * v.g[b] + u[b] * v.g[a]) / 2);
      m[a == b ? 1 + RANK + a : 1 + 2 * RANK + a + b - 1] = a == b ? 4.5 * s : 9 * s;
    }
  }
}

/* The moments of the first state. rests: bits of 0 in S. */
template <int RANK, typename real, typename taus>
__device__ __forceinline__ void begin_all(const fluid_view<real> &v, const fluid_factors<real> &k, real *state,
                                          const taus &time) {
  after_previous();
  const size_t cells = (size_t)v.l.n[0] * (size_t)v.l.n[1] * (size_t)v.l.n[2];
  for (size_t i = blockIdx.x * (size_t)256 + threadIdx.x; i < cells; i += (size_t)gridDim.x * 256) {
    const int x = (int)(i % (size_t)v.l.n[0]);
    const size_t row = i / (size_t)v.l.n[0];
    if (is_solid(v.beside, v.l, x, row)) continue;
    double exact[fluid_moments(RANK)], rho1, trace = 0;
    real m[fluid_moments(RANK)];
    first_moments<RANK>(v, x, row, 0, &rho1, exact, time);
#pragma unroll
    for (int a = 1; a < fluid_moments(RANK); a++) m[a] = (real)exact[a];
    if constexpr (sizeof(real) == 4) {
      const float none[3] = {0, 0, 0};
      fluid_rests<RANK>::write(none, k.per_unit, m + 1 + RANK);
    }
#pragma unroll
    for (int a = 0; a < RANK; a++) trace += (double)m[1 + RANK + a];
    m[0] = (real)(rho1 - trace / 3);
    store_cell<fluid_moments(RANK)>(state + fluid_place(v.l, x, row), m);
  }
}

template <int RANK, typename real>
__global__ void __launch_bounds__(256) begin_cells(const fluid_view<real> v, const fluid_factors<real> k, real *state) {
  begin_all<RANK>(v, k, state, fluid_first_tau());
}

/* out[probes][RANK + 1] */
template <int RANK, typename real>
__global__ void probe_cells(const real *fields, size_t cells, const long long *cell, int probes, double *out) {
  after_previous();
  for (int i = (int)threadIdx.x; i < probes * (RANK + 1); i += (int)blockDim.x)
    out[i] = (double)fields[(size_t)(i % (RANK + 1)) * cells + (size_t)cell[i / (RANK + 1)]];
}

#endif
