/* Cells that bodies cover and leave, and the mass that is given back to cells beside bodies that move. Twin:
 * cpu/cover.c. All arithmetic is in double. */
#ifndef FLUID_CUDA_COVER_CUH
#define FLUID_CUDA_COVER_CUH

#include "kernels/fluid/cuda/links.cuh"

/* mass[members]: moments A of the members among cells [first, end), read from a state; SET: written to it. */
template <bool SET, typename real>
__global__ void __launch_bounds__(256)
    member_mass(const fluid_layout l, real *state, const fluid_edge_cell *cell, int first, int end,
                const int32_t *member, int members, double *mass) {
  after_previous();
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= members || member[i] < first || member[i] >= end) return;
  real *A = state + place_of(l, cell[member[i]]);
  if constexpr (SET)
    *A = (real)mass[i];
  else
    mass[i] = (double)*A;
}

/* Stresses and density are the means of the neighbours that were and are fluid; the velocity is that of the surface. */
template <int Q, typename real>
__device__ inline double fill_cell(const fluid_layout &l, const fluid_factors<real> &k, const double *g, real *state,
                                   const fluid_changed &at) {
  constexpr int RANK = fluid_rank(Q), S = 1 + RANK, X = 1 + 2 * RANK, N = fluid_moments(RANK);
  const fluid_edge_cell here = {{at.at[0], at.at[1], at.at[2]}, 0, 0};
  double s[N - S] = {}, rho1 = 0, count = 0, trace = 0;
  for (int c = 1; c < Q; c++) {
    if (!(at.from >> c & 1)) continue;
    const real *m = state + beside<Q>(l, here, c);
    double more = (double)m[0], u[RANK];
#pragma unroll
    for (int a = 0; a < RANK; a++) more += (double)m[(S + a) * FLUID_GROUP] / 3;
#pragma unroll
    for (int a = 0; a < RANK; a++) u[a] = (double)m[(1 + a) * FLUID_GROUP] / (3 * (1 + more)) - g[a] / 2;
#pragma unroll
    for (int a = 0; a < RANK; a++)
#pragma unroll
      for (int b = a; b < RANK; b++) {
        const int i = a == b ? S + a : X + a + b - 1;
        s[i - S] += (double)m[i * FLUID_GROUP] / (a == b ? 4.5 : 9) -
                    (1 + more) * (u[a] * u[b] + (u[a] * g[b] + u[b] * g[a]) / 2);
      }
    rho1 += more;
    count += 1;
  }
  if (count > 0) rho1 /= count;
  real m[N];
#pragma unroll
  for (int a = 0; a < RANK; a++) {
    m[1 + a] = (real)(3 * (1 + rho1) * (at.u[a] + g[a] / 2));
#pragma unroll
    for (int b = a; b < RANK; b++) {
      const int i = a == b ? S + a : X + a + b - 1;
      const double own =
          (count > 0 ? s[i - S] / count : 0) + (1 + rho1) * (at.u[a] * at.u[b] + (at.u[a] * g[b] + at.u[b] * g[a]) / 2);
      m[i] = (real)(own * (a == b ? 4.5 : 9));
    }
  }
  if constexpr (sizeof(real) == 4) {
    const float none[3] = {0, 0, 0};
    fluid_rests<RANK>::write(none, k.per_unit, m + S);
  }
#pragma unroll
  for (int a = 0; a < RANK; a++) trace += (double)m[S + a];
  m[0] = (real)(rho1 - trace / 3);
  store_cell<N>(state + place_of(l, here), m);
  return rho1;
}

/* other: the state before, whose solid cells are cleared as well. */
template <int Q, typename real>
__global__ void __launch_bounds__(64)
    cover_cells(const fluid_layout l, const fluid_factors<real> k, double g0, double g1, double g2, real *state,
                real *other, const fluid_changed *changed, int count, double *mass) {
  constexpr int RANK = fluid_rank(Q);
  after_previous();
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;
  const fluid_changed at = changed[i];
  const double g[3] = {g0, g1, g2};
  if (!at.solid) {
    mass[i] = -fill_cell<Q>(l, k, g, state, at);
    return;
  }
  const size_t place = fluid_place(l, at.at[0], (size_t)at.at[2] * (size_t)l.n[1] + (size_t)at.at[1]);
  double rho1 = (double)state[place];
#pragma unroll
  for (int a = 0; a < RANK; a++) rho1 += (double)state[place + (size_t)((1 + RANK + a) * FLUID_GROUP)] / 3;
  mass[i] = rho1;
  for (int m = 0; m < l.numbers; m++)
    state[place + (size_t)(m * FLUID_GROUP)] = other[place + (size_t)(m * FLUID_GROUP)] = 0;
}

#endif
