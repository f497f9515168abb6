/* Fields, sums and the first state of populations on the GPU. Twin: cpu/measure.c, start/start.c. Fields are made by
 * windows of planes along the last axis; sums are made of populations, so that no field of the whole box is needed. All
 * arithmetic is in double. */
#ifndef FLUID_CUDA_TRT_MEASURE_CUH
#define FLUID_CUDA_TRT_MEASURE_CUH

#include "kernels/fluid/cuda/measure.cuh"
#include "kernels/fluid/cuda/slots.cuh"

template <int Q, typename store> struct fluid_population_view : fluid_scene {
  typedef typename store::real real;
  fluid_slots<store> slots;
  const real *drag;           /* [cells]: resistance by a step; NULL: none */
  const double *end_velocity; /* fluid_device; NULL: one rank */
};

/* Density - 1 and velocity, in units of the lattice. */
template <int RANK, int Q, typename store>
__device__ __forceinline__ double velocity_of(const fluid_population_view<Q, store> &v, int x, size_t row, double *u) {
  const int y = (int)(row % (size_t)v.l.n[1]), z = (int)(row / (size_t)v.l.n[1]);
  double rho1 = 0;
#pragma unroll
  for (int a = 0; a < RANK; a++) u[a] = 0;
#pragma unroll
  for (int c = 0; c < Q; c++) {
    const double f = fluid_share(Q, c) / (double)fluid_shares(Q) * (double)sent<Q>(v.slots, c, x, y, z);
    rho1 += f;
#pragma unroll
    for (int a = 0; a < RANK; a++) u[a] += component<Q>(c, a) * f;
  }
  const double drag = v.drag ? (double)v.drag[row * (size_t)v.l.n[0] + (size_t)x] : 0;
#pragma unroll
  for (int a = 0; a < RANK; a++) u[a] = (u[a] / (1 + rho1) - v.g[a] / 2) / (1 - drag / 2);
  return rho1;
}

template <int RANK, int Q, typename store>
__device__ __forceinline__ double value_of(const fluid_population_view<Q, store> &v, int a, int x, size_t row) {
  double u[RANK];
  const size_t each = RANK == 3 ? (size_t)v.l.n[1] : 1, plane = row / each; /* rows of a plane */
  if (v.end_velocity && plane < 2) {
    const size_t cell = (row % each) * (size_t)v.l.n[0] + (size_t)x;
    return v.dx / v.dt * v.end_velocity[(plane * RANK + (size_t)a) * each * (size_t)v.l.n[0] + cell];
  }
  (void)velocity_of<RANK>(v, x, row, u);
  return v.dx / v.dt * u[a];
}

/* out[2][RANK][cells of a plane]: velocities of this rank's last plane and of its first one; of solid cells 0. */
template <int Q, typename store>
__global__ void __launch_bounds__(256) find_ends(const fluid_population_view<Q, store> v, double *out) {
  constexpr int RANK = fluid_rank(Q);
  after_previous();
  const size_t each = RANK == 3 ? (size_t)v.l.n[1] : 1, cells = each * (size_t)v.l.n[0];
  for (size_t i = blockIdx.x * (size_t)256 + threadIdx.x; i < 2 * cells; i += (size_t)gridDim.x * 256) {
    const size_t which = i / cells, cell = i % cells;
    const size_t plane = (size_t)v.l.first + (which == 0 ? (size_t)v.l.own - 1 : 0);
    const int x = (int)(cell % (size_t)v.l.n[0]);
    const size_t row = plane * each + cell / (size_t)v.l.n[0];
    double u[RANK] = {};
    if (!is_solid(v.beside, v.l, x, row)) (void)velocity_of<RANK>(v, x, row, u);
#pragma unroll
    for (int a = 0; a < RANK; a++) out[(which * RANK + (size_t)a) * cells + cell] = u[a];
  }
}

/* values[RANK + 1][count]: velocity and pressure of `count` cells from `first` on. */
template <int Q, typename store>
__global__ void __launch_bounds__(256) show_populations(const fluid_population_view<Q, store> v, size_t first,
                                                        size_t count, typename store::real *values) {
  typedef typename store::real real;
  constexpr int RANK = fluid_rank(Q);
  after_previous();
  const double speed = v.dx / v.dt, pressure = v.density * speed * speed / 3;
  for (size_t i = blockIdx.x * (size_t)256 + threadIdx.x; i < count; i += (size_t)gridDim.x * 256) {
    const int x = (int)((first + i) % (size_t)v.l.n[0]);
    const size_t row = (first + i) / (size_t)v.l.n[0];
    double u[RANK] = {}, rho1 = 0;
    if (!is_solid(v.beside, v.l, x, row)) rho1 = velocity_of<RANK>(v, x, row, u);
#pragma unroll
    for (int a = 0; a < RANK; a++) values[(size_t)a * count + i] = (real)(speed * u[a]);
    values[RANK * count + i] = (real)(pressure * rho1);
  }
}

/* Populations of `count` cells of the first state from `first` on: regularised ones, which have its moments. */
template <int Q, typename store>
__global__ void __launch_bounds__(256)
    begin_populations(const fluid_view<typename store::real> v, const fluid_slots<store> slots,
                      const typename store::real *drag, unsigned long long seed, size_t first, size_t count) {
  typedef typename store::real real;
  constexpr int RANK = fluid_rank(Q);
  after_previous();
  for (size_t i = first + blockIdx.x * (size_t)256 + threadIdx.x; i < first + count; i += (size_t)gridDim.x * 256) {
    const int x = (int)(i % (size_t)v.l.n[0]);
    const size_t row = i / (size_t)v.l.n[0];
    const int y = (int)(row % (size_t)v.l.n[1]), z = (int)(row / (size_t)v.l.n[1]);
    if (is_solid(v.beside, v.l, x, row)) continue;
    double m[fluid_moments(RANK)], rho1, trace = 0;
    first_moments<RANK>(v, x, row, drag ? (double)drag[i] : 0, &rho1, m);
#pragma unroll
    for (int a = 0; a < RANK; a++) trace += m[1 + RANK + a];
    m[0] = rho1 - trace / 3;
    unsigned bits = cell_bits(step_key(seed, 0), (unsigned)i);
    for (int c = 0; c < Q; c++) {
      double g = m[0];
#pragma unroll
      for (int a = 0; a < RANK; a++) {
        const int ca = component<Q>(c, a);
        g += ca * m[1 + a] + ca * ca * m[1 + RANK + a];
#pragma unroll
        for (int b = a + 1; b < RANK; b++) g += ca * component<Q>(c, b) * m[1 + 2 * RANK + a + b - 1];
      }
      const fluid_number_place p = sent_place<Q>(slots, c, x, y, z);
      bits = next_bits(bits);
      store::put_one(slots.state + p.word, p.cell, (real)((double)store::one * g), bits);
    }
  }
}

/* out[probes][RANK + 1] */
template <int Q, typename store>
__global__ void probe_populations(const fluid_population_view<Q, store> v, const long long *cell, int probes,
                                  double *out) {
  constexpr int RANK = fluid_rank(Q);
  after_previous();
  const double speed = v.dx / v.dt, pressure = v.density * speed * speed / 3;
  for (int i = (int)threadIdx.x; i < probes; i += (int)blockDim.x) {
    double u[RANK];
    const double rho1 = velocity_of<RANK>(v, (int)(cell[i] % v.l.n[0]), (size_t)cell[i] / (size_t)v.l.n[0], u);
#pragma unroll
    for (int a = 0; a < RANK; a++) out[i * (RANK + 1) + a] = (double)(typename store::real)(speed * u[a]);
    out[i * (RANK + 1) + RANK] = (double)(typename store::real)(pressure * rho1);
  }
}

#endif
