/* The temperature of one cell on the GPU: what it sends, a step, and its guard. Twin: cpu/heat_row.inc.
 *
 * T and its flux Q stand behind the moments of a cell, with the same precision, above a middle temperature and in units
 * of a power of two that is no less than any of them. A cell sends p_c = T + 4 c.Q, 8 times the population, and sums
 * differences d_c of what arrives and of what it sends itself, as the moments do: what leaves a cell arrives at
 * another.
 *
 * Single precision: what rounding takes from T in a step is kept as an integer, 9 bits (2-D: 8), in the last bits of Q:
 * 3 (4) bits of each, in units that follow the last place of T, whatever its bounds are. Else T would not follow
 * changes below 2^-25 of itself in a step, as those are of a slow diffusion on a fine grid. */
#ifndef FLUID_CUDA_HEAT_CUH
#define FLUID_CUDA_HEAT_CUH

#include "kernels/fluid/cuda/cell.cuh"
#include "kernels/fluid/lattice.h"

template <typename real> struct fluid_warm_factors {
  real omega, tau, conduct, flow_tau, push[3], reference, least, most; /* of fluid_warm_law; tau: 1/omega */
};

template <int RANK> struct fluid_warm_rest {
  static constexpr int PER = RANK == 3 ? 3 : 4, BITS = PER * RANK;
  static constexpr unsigned MASK = (1u << PER) - 1;
  /* A unit is 2^-BITS of the last place of T: the exponent of T less DOWN. Its inverse is a normal number too. */
  static constexpr unsigned DOWN = 23 + BITS, EXPONENT = 0x7f800000u;
  __device__ static __forceinline__ unsigned exponent(float T) {
    const unsigned of = __float_as_uint(T) & EXPONENT, least = (DOWN + 1) << 23;
    return of > least ? of : least;
  }
  /* warm: T, and behind it Q. */
  __device__ static __forceinline__ float read(const float *warm) {
    unsigned bits = 0;
#pragma unroll
    for (int a = 0; a < RANK; a++) bits = bits << PER | (__float_as_uint(warm[1 + a]) & MASK);
    return rest_of<BITS>(bits, __uint_as_float(exponent(warm[0]) - (DOWN << 23)));
  }
  __device__ static __forceinline__ void write(float rest, float *warm) {
    const float inverse = __uint_as_float(((254 + DOWN) << 23) - exponent(warm[0]));
    const unsigned bits = bits_of<BITS>(rest, inverse * (1.0f / ((1 << BITS) - 2)));
#pragma unroll
    for (int a = 0; a < RANK; a++)
      warm[1 + a] = __uint_as_float(merge(__float_as_uint(warm[1 + a]), bits >> PER * (RANK - 1 - a), MASK));
  }
};

/* p of direction C, 1 to 2 RANK, of a cell with temperature and flux `warm`. */
template <int C, typename real> __device__ __forceinline__ real warm_population(const real *warm) {
  return multiply_add((real)(C % 2 ? 4 : -4), warm[1 + (C - 1) / 2], warm[0]);
}
/* The same, of a cell in memory; c: a number. */
template <typename real, typename stored>
__device__ __forceinline__ real warm_population_of(int c, const stored *warm) {
  return multiply_add((real)(c % 2 ? 4 : -4), (real)warm[(1 + (c - 1) / 2) * FLUID_GROUP], (real)warm[0]);
}

/* Of a step: u T of the step before, what has arrived, and the rate of relaxation of the flow. */
template <int RANK, typename real> struct fluid_warm_step {
  real last[RANK], T, rest, flux[RANK], rate;
  fluid_buoyant<RANK, real> with;
};

/* m: moments before the step, and behind them T and Q; d[c - 1] of directions along axes. */
template <int RANK, typename real>
__device__ __forceinline__ void warm_begin(const fluid_factors<real> &k, const fluid_warm_factors<real> &w,
                                           const real *m, const real *d, fluid_warm_step<RANK, real> *out) {
  constexpr int S = 1 + RANK, T = fluid_moments(RANK);
  const real weight = (real)FLUID_HEAT_WEIGHT, third = (real)(1.0 / 3);
  real trace = m[S] + m[S + 1], change = 0;
  if constexpr (RANK == 3) trace += m[S + 2];
  const real light = third * inverse(1 + multiply_add(third, trace, m[0])), over = (real)0.5 * (m[T] - w.reference);
#pragma unroll
  for (int a = 0; a < RANK; a++) {
    const real u = multiply_add(w.push[a], over, multiply_add(m[1 + a], light, (real)-0.5 * k.g[a]));
    out->last[a] = u * m[T];
    change += d[2 * a] + d[2 * a + 1];
    out->flux[a] = multiply_add(weight, d[2 * a] - d[2 * a + 1], m[T + 1 + a]);
  }
  change *= weight;
  if constexpr (sizeof(real) == 4) change += fluid_warm_rest<RANK>::read(m + T);
  out->T = m[T] + change;
  out->rest = change - (out->T - m[T]);
#pragma unroll
  for (int a = 0; a < RANK; a++) out->with.force[a] = -w.push[a] * (out->T - w.reference);
}

/* Collides: m[T] and m[Q]. */
template <int RANK, bool EDDY, typename real>
__device__ __forceinline__ void warm_end(const fluid_warm_factors<real> &w, const fluid_warm_step<RANK, real> &s,
                                         real *m) {
  constexpr int T = fluid_moments(RANK);
  real omega = w.omega;
  if constexpr (EDDY) omega = 1 / multiply_add(w.conduct, 1 / s.rate - w.flow_tau, w.tau);
  m[T] = s.T;
#pragma unroll
  for (int a = 0; a < RANK; a++) {
    const real flow = s.with.velocity[a] * s.T;
    const real flux = multiply_add(omega, flow - s.flux[a], s.flux[a]);
    m[T + 1 + a] = multiply_add(1 - (real)0.5 * omega, flow - s.last[a], flux);
  }
  if constexpr (sizeof(real) == 4) fluid_warm_rest<RANK>::write(s.rest, m + T);
}

/* Adds more[RANK] to J and stress(a, b) to S_ab of the moments m, and keeps what rounding takes from J. Returns the
 * change of the trace of the moments S. */
template <int RANK, typename real, typename Stress>
__device__ __forceinline__ double add_moments(const fluid_factors<real> &k, const double *more, Stress stress,
                                              real *m) {
  constexpr int S = 1 + RANK, X = 1 + 2 * RANK;
  double old = 0, now = 0;
  float rest[3] = {0, 0, 0};
  if constexpr (sizeof(real) == 4) fluid_rests<RANK>::read(m + S, k.unit, rest);
#pragma unroll
  for (int a = 0; a < RANK; a++) {
    old += (double)m[S + a];
    const double J = (double)m[1 + a] + (more[a] + (double)rest[a]);
    m[1 + a] = (real)J;
    rest[a] = (float)(J - (double)m[1 + a]);
#pragma unroll
    for (int b = a; b < RANK; b++) {
      real *s = &m[a == b ? S + a : X + a + b - 1];
      *s = (real)((double)*s + (a == b ? 4.5 : 9) * stress(a, b));
    }
  }
  if constexpr (sizeof(real) == 4) fluid_rests<RANK>::write(rest, k.per_unit, m + S);
#pragma unroll
  for (int a = 0; a < RANK; a++) now += (double)m[S + a];
  return now - old;
}

/* Adds a share of the force g by mass to the moments m of a cell with density rho and velocity u. */
template <int RANK, typename real>
__device__ __forceinline__ void add_buoyancy(const fluid_factors<real> &k, double share, double rho, const double *u,
                                             const double *g, real *m) {
  double more[RANK];
#pragma unroll
  for (int a = 0; a < RANK; a++) more[a] = 3 * share * (rho * g[a]);
  const double trace = add_moments<RANK>(
      k, more, [&](int a, int b) { return share * (rho * (u[a] * g[b] + u[b] * g[a])); }, m);
  m[0] = (real)((double)m[0] - trace / 3);
}

/* Density - 1 of the moments m. */
template <int RANK, typename real> __device__ __forceinline__ double excess_of(const real *m) {
  double trace = 0;
#pragma unroll
  for (int a = 0; a < RANK; a++) trace += (double)m[1 + RANK + a];
  return (double)m[0] + trace / 3;
}

/* A whole step of a cell: m of its moments, temperature and flux. */
template <int Q, bool FORCE, bool EDDY, bool HEAT, typename real, typename law = fluid_no_law>
__device__ __forceinline__ real step_cell(const fluid_factors<real> &k, const fluid_warm_factors<real> &w,
                                          const fluid_sums<fluid_rank(Q), real> &sums, const real *warm_d, real *m,
                                          real *rho1, const law &cell = law()) {
  constexpr int RANK = fluid_rank(Q);
  if constexpr (HEAT) {
    fluid_warm_step<RANK, real> s;
    warm_begin<RANK>(k, w, m, warm_d, &s);
    const real square = collide<Q, true, EDDY, true>(k, sums, m, rho1, &s.rate, &s.with, cell);
    warm_end<RANK, EDDY>(w, s, m);
    return square;
  } else {
    return collide<Q, FORCE, EDDY, false>(k, sums, m, rho1, (real *)nullptr, (fluid_buoyant<RANK, real> *)nullptr,
                                          cell);
  }
}

#endif
