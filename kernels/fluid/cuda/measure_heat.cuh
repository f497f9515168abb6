/* The first temperatures, their field and their sums on the GPU. Twin: cpu/heat.c. All arithmetic is in double. */
#ifndef FLUID_CUDA_MEASURE_HEAT_CUH
#define FLUID_CUDA_MEASURE_HEAT_CUH

#include "kernels/fluid/cuda/links.cuh"
#include "kernels/fluid/cuda/measure.cuh"

/* T of a cell, with what rounding took from it. */
template <int RANK, typename real>
__device__ __forceinline__ double warm_temperature(const fluid_view<real> &v, int x, size_t row) {
  const real *warm = v.state + fluid_place(v.l, x, row) + fluid_moments(RANK) * FLUID_GROUP;
  double T = (double)warm[0];
  if constexpr (sizeof(real) == 4) {
    float m[1 + RANK];
    load_cell<1 + RANK>(warm, m);
    T += (double)fluid_warm_rest<RANK>::read(m);
  }
  return T;
}

template <int RANK, typename real> __global__ void __launch_bounds__(256) show_warm(const fluid_view<real> v) {
  after_previous();
  const size_t cells = (size_t)v.l.n[0] * (size_t)v.l.n[1] * (size_t)v.l.n[2];
  for (size_t i = blockIdx.x * (size_t)256 + threadIdx.x; i < cells; i += (size_t)gridDim.x * 256) {
    const int x = (int)(i % (size_t)v.l.n[0]);
    const size_t row = i / (size_t)v.l.n[0];
    if (is_solid(v.beside, v.l, x, row)) continue;
    v.warm.shown[i] = v.warm.shift + v.warm.scale * warm_temperature<RANK>(v, x, row);
  }
}

struct warm_least {
  __device__ static double of(double a, double b) { return fmin(a, b); }
  __device__ static double none() { return INFINITY; }
};
struct warm_most {
  __device__ static double of(double a, double b) { return fmax(a, b); }
  __device__ static double none() { return -INFINITY; }
};

/* sums[FLUID_WARM_SUMS][blocks] */
template <int RANK, typename real>
__global__ void __launch_bounds__(256) sum_warm(const fluid_view<real> v, double *sums) {
  __shared__ double shared[8];
  after_previous();
  const fluid_summed mine = summed_by<RANK>(v.l, blockIdx.x);
  double sum = 0, least = INFINITY, most = -INFINITY;
  for (size_t i = mine.first + threadIdx.x; i < mine.end; i += 256) {
    const int x = (int)(i % (size_t)v.l.n[0]);
    const size_t row = i / (size_t)v.l.n[0];
    if (is_solid(v.beside, v.l, x, row)) continue;
    const double T = warm_temperature<RANK>(v, x, row);
    sum += T;
    least = warm_least::of(least, T);
    most = warm_most::of(most, T);
  }
  sum = block_sum<256>(sum, shared);
  least = block_reduce<256>(least, warm_least(), shared);
  most = block_reduce<256>(most, warm_most(), shared);
  if (threadIdx.x != 0) return;
  sums[FLUID_WARM_SUM * gridDim.x + blockIdx.x] = sum;
  sums[FLUID_WARM_LEAST * gridDim.x + blockIdx.x] = least;
  sums[FLUID_WARM_MOST * gridDim.x + blockIdx.x] = most;
}

/* Heat that enters by a link in a step, in units of the lattice and of `scale`, and the temperature of a surface of
 * given flux times its share: as add_surface of cpu/heat.c. */
struct fluid_warm_term {
  double heat, surface;
};
template <int RANK, typename real>
__device__ __forceinline__ fluid_warm_term warm_term(const fluid_view<real> &v, const fluid_edges<real> &links,
                                                     const fluid_warm_pull &p) {
  const fluid_edge_cell at = links.cell[p.cell];
  double sent;
  const double got =
      warm_arrive<RANK, double>(v.l, v.state, at, links.edge[p.edge].arriving, links.warm[p.edge], &sent);
  fluid_warm_term out = {FLUID_HEAT_WEIGHT * (got - sent), 0};
  if (p.share > 0) {
    const fluid_warm_law &law = v.warm.law;
    double tau = 1 / law.omega;
    if (links.rate) tau += law.conduct * (1 / (double)links.rate[p.cell] - law.flow_tau);
    const size_t row = (size_t)at.at[2] * (size_t)v.l.n[1] + (size_t)at.at[1];
    out.surface = p.share * (warm_temperature<RANK>(v, at.at[0], row) + p.rise / ((tau - 0.5) / 4));
  }
  return out;
}

/* sums[2][blocks], of the terms of the threads of a block. */
__device__ __forceinline__ void sum_warm_pulls(fluid_warm_term own, double *sums) {
  __shared__ double shared[FLUID_SEGMENT / 32];
  const double heat = block_sum<FLUID_SEGMENT>(own.heat, shared);
  const double surface = block_sum<FLUID_SEGMENT>(own.surface, shared);
  if (threadIdx.x != 0) return;
  sums[blockIdx.x] = heat;
  sums[gridDim.x + blockIdx.x] = surface;
}

template <int RANK, typename real>
__global__ void __launch_bounds__(FLUID_SEGMENT)
    pull_warm(const fluid_view<real> v, const fluid_edges<real> links, const fluid_warm_pull *pulls,
              const fluid_pull_block *blocks, double *sums) {
  after_previous();
  const fluid_pull_block mine = blocks[blockIdx.x];
  fluid_warm_term own = {0, 0};
  if ((int)threadIdx.x < mine.count) own = warm_term<RANK>(v, links, pulls[mine.first + (int)threadIdx.x]);
  sum_warm_pulls(own, sums);
}

/* The same of several ranks: terms[pulls][2] of the cells of this one, and sums of those of all. */
template <int RANK, typename real>
__global__ void __launch_bounds__(FLUID_SEGMENT)
    warm_terms(const fluid_view<real> v, const fluid_edges<real> links, const fluid_warm_pull *pulls,
               const fluid_pull_block *blocks, double *terms) {
  after_previous();
  const fluid_pull_block mine = blocks[blockIdx.x];
  if ((int)threadIdx.x >= mine.count) return;
  const int number = mine.first + (int)threadIdx.x;
  const fluid_warm_pull p = pulls[number];
  if (p.cell < links.first || p.cell >= links.cells) return;
  const fluid_warm_term own = warm_term<RANK>(v, links, p);
  terms[2 * (size_t)number] = own.heat;
  terms[2 * (size_t)number + 1] = own.surface;
}
static __global__ void __launch_bounds__(FLUID_SEGMENT)
    sum_warm_terms(const fluid_pull_block *blocks, const double *terms, double *sums) {
  after_previous();
  const fluid_pull_block mine = blocks[blockIdx.x];
  const double *own = terms + 2 * (size_t)(mine.first + (int)threadIdx.x);
  const bool any = (int)threadIdx.x < mine.count;
  sum_warm_pulls({any ? own[0] : 0, any ? own[1] : 0}, sums);
}

/* ---- the start ---- */

/* Sets T and its flux, and adds half of the buoyancy to the moments. slope[RANK]: derivatives of T. */
template <int RANK, typename real>
__device__ __forceinline__ void begin_warm_cell(const fluid_view<real> &v, const fluid_factors<real> &k, real *to,
                                                int x, size_t row, double T, const double *slope) {
  constexpr int N = fluid_moments(RANK);
  const fluid_warm_law &law = v.warm.law;
  real m[N + 1 + RANK];
  double u[RANK], g[RANK];
  load_cell<N>(to, m);
  const double rho = 1 + excess_of<RANK>(m);
  m[N] = (real)T;
#pragma unroll
  for (int a = 0; a < RANK; a++) {
    u[a] = (double)m[1 + a] / (3 * rho) - v.g[a] / 2;
    g[a] = -law.push[a] * (T - law.reference);
    const double own = v.push ? u[a] - half_push(v, a, x, row) : u[a];
    m[N + 1 + a] = (real)(own * T - (1 / law.omega - 1) / 4 * slope[a]);
  }
  add_buoyancy<RANK>(k, 0.5, rho, u, g, m);
  if constexpr (sizeof(real) == 4) fluid_warm_rest<RANK>::write((float)(T - (double)m[N]), m + N);
  store_cell<N + 1 + RANK>(to, m);
}

/* T of the start at a cell, around the box. */
template <typename real> __device__ __forceinline__ double first_warm(const fluid_view<real> &v, int x, int y, int z) {
  const size_t row = (size_t)around(z, v.l.n[2]) * (size_t)v.l.n[1] + (size_t)around(y, v.l.n[1]);
  return (v.warm.shown[row * (size_t)v.l.n[0] + (size_t)around(x, v.l.n[0])] - v.warm.shift) / v.warm.scale;
}

template <int RANK, typename real>
__global__ void __launch_bounds__(256)
    begin_warm(const fluid_view<real> v, const fluid_factors<real> k, const uint32_t *skip, real *state) {
  after_previous();
  const size_t cells = (size_t)v.l.n[0] * (size_t)v.l.n[1] * (size_t)v.l.n[2];
  for (size_t i = blockIdx.x * (size_t)256 + threadIdx.x; i < cells; i += (size_t)gridDim.x * 256) {
    const int x = (int)(i % (size_t)v.l.n[0]);
    const size_t row = i / (size_t)v.l.n[0];
    const int y = (int)(row % (size_t)v.l.n[1]), z = (int)(row / (size_t)v.l.n[1]);
    if (fluid_has_bit(skip, v.l, x, row)) continue;
    double slope[RANK];
#pragma unroll
    for (int a = 0; a < RANK; a++)
      slope[a] = (first_warm(v, x + (a == 0), y + (a == 1), z + (a == 2)) -
                  first_warm(v, x - (a == 0), y - (a == 1), z - (a == 2))) /
                 2;
    begin_warm_cell<RANK>(v, k, state + fluid_place(v.l, x, row), x, row, first_warm(v, x, y, z), slope);
  }
}

/* The same of cells with links: as `slope` of cpu/heat.c. */
template <int RANK, typename real>
__global__ void __launch_bounds__(128)
    begin_warm_links(const fluid_view<real> v, const fluid_factors<real> k, const fluid_edge_cell *cell, int cells,
                     const fluid_warm_surface *surface, real *state) {
  after_previous();
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= cells) return;
  const fluid_edge_cell at = cell[i];
  const double here = first_warm(v, at.at[0], at.at[1], at.at[2]);
  double slope[RANK];
#pragma unroll
  for (int a = 0; a < RANK; a++) {
    double value[2], far[2];
    bool given = false;
#pragma unroll
    for (int k = 0; k < 2; k++) {
      const fluid_warm_surface s = surface[(i * RANK + a) * 2 + k];
      const int to = k ? 1 : -1;
      value[k] = s.far == 0
                     ? first_warm(v, at.at[0] + (a == 0) * to, at.at[1] + (a == 1) * to, at.at[2] + (a == 2) * to)
                 : s.far < 0 ? here
                 : s.above   ? here + s.T
                             : s.T;
      far[k] = s.far > 0 ? s.far : 1;
      given = given || s.far > 0;
    }
    const double low = (here - value[0]) / far[0], high = (value[1] - here) / far[1];
    slope[a] = !given           ? (value[1] - value[0]) / (far[0] + far[1])
               : low * high > 0 ? copysign(fmin(fabs(low), fabs(high)), low)
                                : 0;
  }
  begin_warm_cell<RANK>(v, k, state + place_of(v.l, at), at.at[0],
                        (size_t)at.at[2] * (size_t)v.l.n[1] + (size_t)at.at[1], here, slope);
}

#endif
