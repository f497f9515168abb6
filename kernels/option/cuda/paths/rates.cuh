/* The random short rate of a path: option_rate_step in models/hull_white.h. Twin: cpu/rates.h. Device code. */
#ifndef OPTION_CUDA_RATES_CUH
#define OPTION_CUDA_RATES_CUH

#include "kernels/option/cuda/paths/features.cuh"

/* Numbers of a kind of step in the table: these, then two for each asset: its shares of the rate and of its integral.
 */
enum { R_KEEP, R_REACH, R_OWN, R_ASSETS = R_OWN + 3 };

/* Moves the rates. p.grown: the integral of a rate over the step less that of the forward rate, in logarithms to base
 * 2. The normals of index j are independent of each other. */
template <class S>
__device__ inline void move_rates(path_state<S> &p, const stream &random, const option_keys &keys, const draws<S> &d,
                                  const rows<S> &row, int i, int j) {
  typedef typename S::real real;
  const bits4 w = random_bits(random, keys, row.first + i, OPTION_DRAW_RATE);
  real own[2];
  two_normals(w.bits[0], w.bits[1], (real)-1.3862943611198906, own);
  OPTION_EACH
  for (int r = 0; r < S::RATES; r++) {
    const real *m = row.table + S::rates_at(r) + (int)row.of(S::R_RATE_KIND + r, i) * (R_ASSETS + 2 * S::ASSETS);
    real e = own[0] * __ldg(m + R_OWN), integral = own[0] * __ldg(m + R_OWN + 1) + own[1] * __ldg(m + R_OWN + 2);
    OPTION_EACH
    for (int a = 0; a < S::ASSETS; a++) {
      e = fused(d.z[a][j], __ldg(m + R_ASSETS + 2 * a), e);
      integral = fused(d.z[a][j], __ldg(m + R_ASSETS + 2 * a + 1), integral);
    }
#pragma unroll
    for (int s = 0; s < S::SIGNS; s++) {
      const real side = s ? -1 : 1, rise = row.of(S::R_RISE + r, i);
      p.grown[r][s] = (p.rate[r][s] * __ldg(m + R_REACH) + integral * side + rise) * (real)1.4426950408889634074;
      p.rate[r][s] = p.rate[r][s] * __ldg(m + R_KEEP) + e * side;
      p.deflator[r][s] -= p.grown[r][s];
    }
  }
}

/* Keeps the deflators of payments at the end of a step: discount factors of the path over those of time 0. */
template <class S> __device__ inline void keep_deflators(path_state<S> &p, int step) {
  OPTION_EACH
  for (int k = 0; k < S::DEFLATORS; k++)
    if (step + 1 == S::deflator_step(k)) p.deflated[k] = price<S>(p.deflator[S::deflator_rate(k)][S::deflator_sign(k)]);
}

/* Records the rate, if the rule sees it, and the deflator, behind the other numbers of a date. */
template <class S> __device__ inline void record_rate(path_state<S> &p, int step) {
  if (p.record.date[step] < 0) return;
  const size_t end = ((size_t)p.record.date[step] + 1) * p.record.numbers;
  if (p.record.rate) p.record.out[(end - 2) * p.record.stride] = p.rate[0][0];
  p.record.out[(end - 1) * p.record.stride] = bounded_power(p.deflator[0][0]);
}

#endif
