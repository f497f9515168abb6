/* One step of a path, or of an antithetic pair, in all markets from the same normals. Twin: the steps of cpu/path.c.
 * Device code. */
#ifndef OPTION_CUDA_STEP_CUH
#define OPTION_CUDA_STEP_CUH

#include "kernels/option/cuda/paths/features.cuh"
#include "kernels/option/cuda/paths/quasi.cuh"
#include "kernels/option/cuda/paths/rates.cuh"
#include "kernels/option/random/moments.h"

/* Generator states that a thread block shares, one for each group of steps, or with S::SHARE > 1 for each group of
 * paths; in shared memory if they fit. */
template <class S> struct groups {
  enum { COUNT = S::SHARE > 1 ? S::INNER *S::OUTER / S::SHARE : (S::STEPS + 3) / 4, KEPT = COUNT <= 256 };
};

template <class S>
__device__ inline common_bits common_of(const stream &s, const option_keys &keys, const common_bits *kept,
                                        unsigned group) {
  return groups<S>::KEPT ? kept[group] : common(s.high, keys, group);
}

template <class S>
__device__ inline void draw(const constants<S> &c, const stream &s, const own_bits &own, const option_keys &keys,
                            common_bits group, draws<S> &out) {
  OPTION_EACH
  for (int a = 0; a < S::ASSETS; a++) {
    const bits4 w = random_bits(S::ASSETS == 1 ? own : prepare(s, keys, a), keys, group);
    const typename S::real spread =
        S::ASSETS == 1 ? c.c[S::C_SPREAD] : (typename S::real) - 1.3862943611198906; /* -2 ln 2 */
    two_normals(w.bits[0], w.bits[1], spread, out.z[a]);
    two_normals(w.bits[2], w.bits[3], spread, out.z[a] + 2);
    if (S::need(a) & S::NEEDS & NEED_HIGH)
      out.high[a] = random_bits(prepare(s, keys, OPTION_DRAW_HIGH + a), keys, group);
    if (S::need(a) & S::NEEDS & NEED_LOW) out.low[a] = random_bits(prepare(s, keys, OPTION_DRAW_LOW + a), keys, group);
    if (has_volatility<S>(a)) out.variance[a] = random_bits(prepare(s, keys, OPTION_DRAW_VARIANCE + a), keys, group);
    if (has_rough<S>(a)) out.rough[a] = random_bits(prepare(s, keys, OPTION_DRAW_ROUGH + a), keys, group);
  }
}

/* Normals from Sobol points instead of Philox: of the steps from `first` on, stored from index `place` on. */
template <class S>
__device__ inline void draw_points(const constants<S> &c, const option_points &q, const motions<S> &m, int first,
                                   int place, draws<S> &out) {
  typedef typename S::real real;
  const real unit = S::ASSETS == 1 ? root(c.c[S::C_SPREAD] * (real)-0.72134752044448170368) : (real)1;
  OPTION_EACH
  for (int a = 0; a < S::ASSETS; a++)
#pragma unroll
    for (int i = 0; i < (S::STEPS < 4 ? S::STEPS : 4); i++) {
      if (first + i >= S::STEPS) break;
      out.z[a][(place + i) & 3] = unit * (m.at[a][first + i + 1] - m.at[a][first + i]);
      if (has_volatility<S>(a))
        out.variance[a].bits[(place + i) & 3] =
            sobol_bits(q, m.scramble, m.index, (first + i) * q.each + S::quasi_variance(a));
    }
}

/* Mean and 1/deviation of the normals of each step and asset of a part; unused without S::MATCHED. */
template <class S> struct moments {
  enum { COUNT = S::MATCHED ? S::STEPS * S::ASSETS : 1 };
  typename S::real mean[COUNT], scale[COUNT];
};

/* Matches moments in place: of the steps from `first` on, stored from index `place` on. */
template <class S>
__device__ inline void match_moments(const constants<S> &c, const moments<S> &m, int first, int place, draws<S> &d) {
  typedef typename S::real real;
  const real unit = S::ASSETS == 1 ? root(c.c[S::C_SPREAD] * (real)-0.72134752044448170368) : (real)1;
  OPTION_EACH
  for (int a = 0; a < S::ASSETS; a++)
#pragma unroll
    for (int i = 0; i < (S::STEPS < 4 ? S::STEPS : 4); i++) {
      if (first + i >= S::STEPS) break;
      const int at = (first + i) * S::ASSETS + a;
      real &z = d.z[a][(place + i) & 3];
      const real x = (z - m.mean[at]) * m.scale[at];
      z = unit * x * fused(x * x, (real)(MATCH_R * MATCH_CUBE), (real)(MATCH_R * (1 - 3 * MATCH_CUBE)));
    }
}

/* One step of track t where some asset is no geometric Brownian motion. `vol`: the step's deviation, for each sign. */
template <class S>
__device__ inline void advance_asset(path_state<S> &p, const constants<S> &c, const stream &random,
                                     const option_keys &keys, const draws<S> &d, const rows<S> &row, int i, int j,
                                     int a, int t, typename S::real w, typename S::real *vol) {
  typedef typename S::real real;
  const real *m = c.c + S::C_DYNAMICS + t * M_NUMBERS, *above = c.c + S::C_ABOVE + t * S::JUMPS;
  if (S::KINDS > 1) {
    m = row.table + S::kinds_at(t) + (int)row.of(S::R_KIND + t, i) * (M_NUMBERS + S::JUMPS);
    above = m + M_NUMBERS;
  }
  const int motion = S::motion(a), step = row.first + i;
#pragma unroll
  for (int s = 0; s < path_state<S>::OWN; s++) {
    const real normal = (s ? -w : w) - (S::TILTED ? row.of(S::R_TILT + t, i) : (real)0);
    real &x = p.y[t][s];
    real grown = row.of(S::R_LEVEL + t, i);
    if (S::RATES > 0) grown += p.grown[S::track_rate(t)][s];
    if (has_motion<S>(HESTON) && motion == HESTON) {
      const unsigned word = d.variance[a].bits[j];
      const heston_weights<real> k = {m[M_BIG], m[M_AFTER], m[M_BEFORE], m[M_MIX]};
      grown += heston_step(m, k, p.variance[t][s], normal, s ? ~word : word, vol[s]);
    } else if (has_motion<S>(LEVERAGE) && motion == LEVERAGE) {
      const unsigned word = d.variance[a].bits[j];
      grown += leverage_step(m, row.table + S::grid_at(t) + (step + 1) * S::nodes(a), x, p.variance[t][s], normal,
                             s ? ~word : word, vol[s]);
    } else if (has_motion<S>(SABR) && motion == SABR) {
      const unsigned word = d.variance[a].bits[j];
      grown += sabr_step(m, row.table + S::grid_at(t), S::cells(a), p.variance[t][s], p.forward[t][s], normal,
                         s ? ~word : word);
      vol[s] = 0; /* no payoff sees the times between the steps */
    } else if (has_rough<S>(a)) {
      grown += rough_step(m, row.table + S::grid_at(t), step, (int)S::STEPS, (real)(s ? -1 : 1), p.variance[t][s],
                          normal, d.variance[a].bits[j], d.rough[a].bits[j], p.past + S::rough(a) * S::STEPS, vol[s]);
    } else if (has_motion<S>(BROWNIAN) && motion == BROWNIAN) {
      vol[s] = row.of(S::R_VOL + t, i);
      grown = fused(vol[s], normal, grown);
    } else if (has_motion<S>(LOCAL_FUNCTION) || has_motion<S>(LOCAL_GRID)) {
      const real price_now = price<S>(x) * m[M_SPOT];
      real sigma = has_motion<S>(LOCAL_GRID) && motion == LOCAL_GRID
                       ? grid_volatility(row.table + S::grid_at(t),
                                         row.table + S::grid_at(t) + (step + 1) * S::nodes(a), S::nodes(a), price_now)
                       : S::local_volatility(a, price_now, S::KINDS > 1 ? row.of(S::R_TIME + t, i) : step * m[M_DT]);
      if (S::CHECKED && motion == LOCAL_FUNCTION && !(sigma >= 0 && sigma <= (real)1e18)) {
        p.invalid |= !(sigma > 0 && x < (real)-60); /* OPTION_LOCAL_MAX and OPTION_LOCAL_ZERO */
        sigma = 0;
      }
      grown += local_step(m, sigma, normal, vol[s]);
    }
    if (S::JUMPS > 0 && S::jumps(a) > 0)
      grown += jump_sum(m, above, S::jumps(a), random_bits(random, keys, step, OPTION_DRAW_JUMP + a), s);
    x += grown;
    if (S::CASH && row.of(S::R_CASH + t, i) > 0)
      x = binary_log(greatest(price<S>(x) - row.of(S::R_CASH + t, i), (real)0x1p-100));
  }
}

/* Correlated normal of asset a; also updates the tangents of that asset. */
template <class S>
__device__ inline typename S::real own_normal(path_state<S> &p, const constants<S> &c, const draws<S> &d,
                                              const rows<S> &row, int i, int j, int a) {
  typename S::real w = d.z[a][j];
  if (S::CORRELATED) {
    w *= c.c[S::C_FACTOR + a * (a + 1) / 2 + a];
    OPTION_EACH
    for (int b = 0; b < S::ASSETS; b++)
      if (b < a) w = fused(c.c[S::C_FACTOR + a * (a + 1) / 2 + b], d.z[b][j], w);
  } else if (S::ASSETS > 1) {
    w *= c.c[S::C_FACTOR + a];
  }
  OPTION_EACH
  for (int g = 0; g < S::TANGENTS && !S::FOLDED; g++)
    if (S::tangent_asset(g) == a && !S::tangent_flat(g))
      p.slope[g] = fused(row.of(S::R_VOL_SLOPE + g, i), w, p.slope[g]);
  return w;
}

/* Step i of the rows, with the random numbers of index j. */
template <class S>
__device__ inline void step(path_state<S> &p, const constants<S> &c, const stream &random, const option_keys &keys,
                            const draws<S> &d, const rows<S> &row, int i, int j) {
  typedef typename S::real real;
  real w = 0, vol[path_state<S>::OWN], power[S::SIGNS]; /* w of the current asset, the rest of the current track */
  marks<S> m;
  if constexpr (S::RATES > 0) move_rates(p, random, keys, d, row, i, j);
  OPTION_EACH
  /* one flat loop: its length is known before unrolling; nested loops take several times as long to compile */
  for (int l = 0; l < S::LINES; l++) {
    const int t = S::line_track(l), a = S::track_asset(t);
    const bool first = l == S::line_begin(t), leads = first && t == S::track_begin(a);
    if (leads) w = own_normal(p, c, d, row, i, j, a);
    if (first) {
      if constexpr (S::MOVED) {
        advance_asset(p, c, random, keys, d, row, i, j, a, t, w, vol);
      } else {
        real grown = w;
        vol[0] = S::FOLDED ? c.c[S::C_VOL + t] : row.of(S::R_VOL + t, i);
        if (!S::FOLDED) grown = vol[0] * w;
        if (S::FOLDED && !leads) grown = c.c[S::C_RATIO + t] * w;
        p.y[t][0] += grown;
      }
      if ((S::need(a) & S::NEEDS & NEED_SUM) && !S::FAR)
#pragma unroll
        for (int s = 0; s < S::SIGNS; s++) power[s] = power_of_two(signed_by<S>(s, p.y[t]));
#pragma unroll
      for (int s = 0; s < path_state<S>::OWN; s++)
        if (S::need(a) & S::NEEDS & NEED_LOGS) p.logs[t][s] += p.y[t][s];
    }
    add_line(p, m, c, d, row, i, j, a, t, l, vol, power);
  }
  OPTION_EACH
  for (int k = 0; k < S::KEPT; k++) keep(p, m, k, (int)row.of(S::R_SCHEDULE + S::kept_schedule(k), i));
  OPTION_EACH
  for (int k = 0; k < S::SURVIVALS; k++) {
    const int l = S::survival_line(k), s = S::survival_sign(k), schedule = S::survival_schedule(k);
    if (schedule >= 0 && !((int)row.of(S::R_SCHEDULE + (schedule >= 0 ? schedule : 0), i) & OPTION_WATCHED)) continue;
    p.survival[k] *=
        bridge_survival(m.before[l][s], p.x[l][s], m.vol[l][s], c.c[S::C_SURVIVAL + k], (real)S::survival_side(k));
  }
  OPTION_EACH
  for (int k = 0; k < S::EXERCISES && !S::RECORD; k++) {
    if (S::early_joint(k) < 0) exercise(c, row, k, i, p.x[S::early_line(k)][S::early_sign(k)], p.early[k]);
    if constexpr (S::JOINTS > 0)
      if (S::early_joint(k) >= 0) exercise_jointly(p, c, row, k, i);
  }
  if constexpr (S::DEFLATORS > 0) keep_deflators(p, row.first + i);
  if constexpr (S::RECORD && S::RATES > 0) record_rate(p, row.first + i);
  if (S::FIXINGS > 0 && row.of(S::R_MARK, i) != 0) {
    OPTION_EACH
    for (int t = 0; t < S::TRACKS; t++)
#pragma unroll
      for (int s = 0; s < path_state<S>::OWN; s++) p.fixing[t][p.fixings][s] = p.y[t][s];
    OPTION_EACH
    for (int g = 0; g < S::TANGENTS; g++)
#pragma unroll
      for (int s = 0; s < S::SIGNS; s++) p.slope_fixing[g][p.fixings][s] = p.slope_last[g][s];
    p.fixings++;
  }
}

#endif
