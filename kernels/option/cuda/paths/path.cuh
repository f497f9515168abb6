/* Whole paths and their features. Twin: cpu/path.c. Device code. */
#ifndef OPTION_CUDA_PATH_CUH
#define OPTION_CUDA_PATH_CUH

#include "kernels/option/cuda/paths/step.cuh"

/* Feature `v` of line l (on track t) with sign s; SLOPED: its derivative by tangent g. */
template <class S, int KIND, bool SLOPED>
__device__ inline typename S::real view(const path_state<S> &p, const constants<S> &c, int v, int l, int t, int s,
                                        int slot, int g) {
  typedef typename S::real real;
  const real scale = c.c[S::C_VIEW + 2 * v], at = S::FAR ? c.c[S::C_VIEW + 2 * v + 1] : (real)0;
  if constexpr (KIND == OPTION_LAST)
    return price<S>(signed_by<S>(s, p.y[t]) + at) * scale * (SLOPED ? p.slope_last[g][s] : (real)1);
  else if constexpr (KIND == OPTION_MEAN)
    return (SLOPED ? p.slope_sum[g][s] : p.sum[l][s]) * scale;
  else if constexpr (KIND == OPTION_GEOMETRIC)
    return price<S>(signed_by<S>(s, p.logs[t]) * (real)(1.0 / S::STEPS) + at) * scale *
           (SLOPED ? p.slope_logs[g][s] * (real)(1.0 / S::STEPS) : (real)1);
  else if constexpr (KIND == OPTION_MAX)
    return price<S>(p.most[l][s]) * scale * (SLOPED ? p.slope_most[g][s] : (real)1);
  else if constexpr (KIND == OPTION_MIN)
    return price<S>(p.least[l][s]) * scale * (SLOPED ? p.slope_least[g][s] : (real)1);
  else if constexpr (KIND == OPTION_HIGH)
    return price<S>(p.high[l][s]) * scale;
  else if constexpr (KIND == OPTION_LOW)
    return price<S>(p.low[l][s]) * scale;
  else if constexpr (KIND == OPTION_FIXING)
    return price<S>(signed_by<S>(s, p.fixing[t][slot]) + at) * scale * (SLOPED ? p.slope_fixing[g][slot][s] : (real)1);
  else
    return KIND == OPTION_EARLY ? p.early[slot] : KIND == OPTION_DEFLATOR ? p.deflated[slot] : p.survival[slot];
}

/* Feature `v` of the steps of a schedule: number `slot` of those that the path keeps. */
template <class S, int KIND>
__device__ inline typename S::real kept_view(const path_state<S> &p, const constants<S> &c, int v, int slot) {
  typedef typename S::real real;
  const real scale = c.c[S::C_VIEW + 2 * v], share = c.c[S::C_VIEW + 2 * v + 1];
  if constexpr (KIND == OPTION_MEAN || KIND == OPTION_SQUARES)
    return p.kept[slot] * scale;
  else
    return price<S>(KIND == OPTION_GEOMETRIC ? p.kept[slot] * share : p.kept[slot]) * scale;
}

/* Added to each sample of a path: 0, or NaN where a local volatility was invalid, because a payoff could hide that. */
template <class S> __device__ inline typename S::real nan_if_invalid(const path_state<S> &p) {
  return p.invalid ? (typename S::real)__longlong_as_double(0x7ff8000000000000) : (typename S::real)0;
}

/* Calls take(r, views) with the features of path r. */
template <class S, class Take>
__device__ inline void end_path(const path_state<S> &p, const constants<S> &c, int r, Take take) {
  typename S::real views[S::VIEWS + S::CHECKED];
  S::read_features(p, c, views);
  if constexpr (S::CHECKED) views[S::VIEWS] = nan_if_invalid(p);
  take(r, views);
}

/* Shifts the draws by `steps` steps, so that the next step uses index 0. */
template <class S> __device__ inline void advance(draws<S> &d, int steps) {
  OPTION_EACH
  for (int a = 0; a < S::ASSETS; a++)
#pragma unroll
    for (int k = 0; k < 3; k++) {
      if (k + steps > 3) break;
      d.z[a][k] = d.z[a][k + steps];
      if (S::need(a) & S::NEEDS & NEED_HIGH) d.high[a].bits[k] = d.high[a].bits[k + steps];
      if (S::need(a) & S::NEEDS & NEED_LOW) d.low[a].bits[k] = d.low[a].bits[k + steps];
      if (has_volatility<S>(a)) d.variance[a].bits[k] = d.variance[a].bits[k + steps];
      if (has_rough<S>(a)) d.rough[a].bits[k] = d.rough[a].bits[k + steps];
    }
}

/* Simulates path (high, low + thread index). With S::SHARE > 1: the S::SHARE paths, OPTION_SHARE_STRIDE apart, that
 * share the random bits of group `turn`; `low` is a multiple of 256 then. `table`: [groups of steps][rows][4].
 * `shared`: the generator's state that all groups of a thread have in common. */
template <class S, class Take>
__device__ inline void simulate_path(const constants<S> &c, const option_keys &keys, const typename S::real *table,
                                     const common_bits *kept, const own_bits &shared, const option_points *points,
                                     const moments<S> *matched, unsigned high, unsigned low, unsigned turn, Take take) {
  const stream s = begin_stream(high, S::SHARE > 1 ? threadIdx.x : low + threadIdx.x);
  const own_bits own = S::SHARE > 1 ? shared : prepare(s, keys, 0);
  draws<S> d;
  motions<S> m;
  if (S::SOBOL && points != nullptr) {
    m.scramble = high >> 8;
    m.index = low + threadIdx.x;
    if (S::SHARE == 1) make_motions(*points, m);
  }
  if constexpr (S::SHARE > 1) {
    const rows<S> row(table, 0);
    draw(c, s, own, keys, common_of<S>(s, keys, kept, turn), d);
#pragma unroll S::LOOPED ? 1 : S::SHARE
    for (int r = 0; r < S::SHARE; r++) {
      const int place = S::ROLLED ? 0 : S::STEPS * r;
      path_state<S> p;
      begin_path(p, c);
      if (S::SOBOL && points != nullptr) {
        make_motions(*points, m);
        draw_points(c, *points, m, 0, place, d);
        m.index += 256;
      }
      if (S::MATCHED && matched != nullptr) match_moments(c, *matched, 0, place, d);
      OPTION_EACH
      for (int i = 0; i < S::STEPS; i++)
        step(p, c, begin_stream(high, low + threadIdx.x + 256 * r), keys, d, row, i, place + i);
      if (S::ROLLED) advance(d, S::STEPS);
      end_path(p, c, r, take);
    }
  } else {
    const int groups = S::ROLLED ? (S::STEPS + 3) / 4 : S::STEPS / 4;
    path_state<S> p;
    begin_path(p, c);
#pragma unroll S::UNROLL
    for (int group = 0; group < groups; group++) {
      const rows<S> row(table, group);
      draw(c, s, own, keys, common_of<S>(s, keys, kept, group), d);
      if (S::SOBOL && points != nullptr) draw_points(c, *points, m, 4 * group, 0, d);
      if (S::MATCHED && matched != nullptr) match_moments(c, *matched, 4 * group, 0, d);
      const int steps = S::ROLLED && 4 * group + 4 > S::STEPS ? S::STEPS % 4 : 4;
#pragma unroll S::LOOPED ? 1 : 4
      for (int i = 0; i < steps; i++) {
        step(p, c, s, keys, d, row, i, S::ROLLED ? 0 : i);
        if (S::ROLLED) advance(d, 1);
      }
    }
    if (S::STEPS % 4 != 0 && !S::ROLLED) {
      const rows<S> row(table, S::STEPS / 4);
      draw(c, s, own, keys, common_of<S>(s, keys, kept, S::STEPS / 4), d);
      if (S::SOBOL && points != nullptr) draw_points(c, *points, m, S::STEPS / 4 * 4, 0, d);
      if (S::MATCHED && matched != nullptr) match_moments(c, *matched, S::STEPS / 4 * 4, 0, d);
      OPTION_EACH
      for (int i = 0; i < S::STEPS % 4; i++) step(p, c, s, keys, d, row, i, i);
    }
    end_path(p, c, 0, take);
  }
}

#endif
