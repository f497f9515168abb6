/* A step of a path, or of an antithetic pair, of all markets from the same normals. Device code; a run's text gives the
 * struct `scheme` (text.c) and OPTION_EACH, the unrolling of loops over assets, tracks and lines.
 *
 * A track is a martingale part: of an asset and one course of its volatility, y += vol w; antithetic paths have -y. A
 * line is a track with one drift: x = y + level, the level known for each step. Sums of prices are sums of
 * weight 2^y with weight = 2^level, so that each track needs one power a step whatever its drifts.
 *
 * Where an asset is no geometric Brownian motion (S::MOVED), each line is its own track, antithetic paths have states
 * of their own, y is x itself and `level` a step's drift. */
#ifndef OPTION_CUDA_WALK_CUH
#define OPTION_CUDA_WALK_CUH

#include "kernels/option/cuda/joint.cuh"
#include "kernels/option/cuda/quasi.cuh"
#include "kernels/option/random/matched.h"

/* As option_kind. */
enum { LAST, MEAN, GEOMETRIC, MOST, LEAST, HIGH, LOW, FIXING, NOT_ABOVE, NOT_BELOW, EARLY };
enum {
  NEED_SUM = 1 << MEAN,
  NEED_LOGS = 1 << GEOMETRIC,
  NEED_ENDS = 1 << MOST | 1 << LEAST,
  NEED_HIGH = 1 << HIGH,
  NEED_LOW = 1 << LOW,
  NEED_STAYS = 1 << NOT_ABOVE | 1 << NOT_BELOW,
  NEED_EARLY = 1 << EARLY,
  NEED_JOINT = 2 << EARLY, /* one payoff sees the high and the low */
  NEED_LEVEL = NEED_ENDS | NEED_HIGH | NEED_LOW | NEED_STAYS | NEED_EARLY
};

struct scheme;

template <typename Real> struct alignas(4 * sizeof(Real)) four { Real number[4]; };

/* Numbers of a run that its text does not hold: a parameter of the kernels. */
template <class S> struct constants { typename S::real c[S::CONSTANTS]; };

/* Where an asset's prices at every so many steps go: out[dates][stride]. */
struct recorder {
  double *out;
  unsigned stride;
  int asset, every;
};

template <class S> struct walk {
  typedef typename S::real real;
  enum { OWN = S::MOVED ? S::SIGNS : 1 };
  real y[S::TRACKS][OWN], logs[S::TRACKS][OWN], variance[S::TRACKS][OWN], fixing[S::TRACKS][S::FIXINGS + 1][OWN];
  real x[S::LINES][S::SIGNS], sum[S::LINES][S::SIGNS], most[S::LINES][S::SIGNS], least[S::LINES][S::SIGNS],
      high[S::LINES][S::SIGNS], low[S::LINES][S::SIGNS];
  /* Derivatives by a parameter of an asset, of its first line: of ln S, the part that goes with the normals; and what
   * features add up. */
  real slope[S::TANGENTS + 1], slope_sum[S::TANGENTS + 1][S::SIGNS], slope_logs[S::TANGENTS + 1][S::SIGNS],
      slope_most[S::TANGENTS + 1][S::SIGNS], slope_least[S::TANGENTS + 1][S::SIGNS],
      slope_fixing[S::TANGENTS + 1][S::FIXINGS + 1][S::SIGNS], slope_last[S::TANGENTS + 1][S::SIGNS];
  real stay[S::STAYS + 1], early[S::EARLIES + 1]; /* what was paid, at maturity; -1: nothing yet */
  recorder record;
  int fixings;
  bool unsound; /* a function gave a local volatility below 0, or none that is finite */
};

/* Four steps' numbers. */
template <class S> struct draws {
  typename S::real z[S::ASSETS][4];
  words high[S::ASSETS], low[S::ASSETS], variance[S::ASSETS];
};

/* Of a path's sign. */
template <class S, typename Real> __device__ inline Real signed_by(int sign, const Real *y) {
  if (S::MOVED) return y[S::MOVED ? sign : 0];
  return sign ? -y[0] : y[0];
}

template <class S> __device__ inline typename S::real price(typename S::real x) {
  typedef typename S::real real;
  const real most = sizeof(real) == 4 ? 126 : 1022;
  return power_of_two(S::FAR ? least(greatest(x, -most), most) : x);
}

/* The probability that a bridge from x to y, both below the level on the scale of `side`, stays there. */
template <typename Real> __device__ inline Real stays(Real x, Real y, Real vol, Real level, Real side) {
  const Real a = (level - x) * side, b = (level - y) * side;
  const Real exponent = a * b / greatest(vol * vol, (Real)1e-30) * (Real)-2.8853900817779268;
  const Real p = 1 - power_of_two(greatest(least(exponent, (Real)0), (Real)-120));
  return a > 0 && b > 0 ? p : 0;
}

/* Highest (side 1) or lowest (-1) point of such a bridge. */
template <typename Real> __device__ inline Real extreme(Real x, Real y, Real vol, unsigned w, Real side) {
  const Real d = y - x;
  const Real spread = fused(vol * vol, binary_log(uniform<Real>(w)) * (Real)-1.3862943611198906, d * d);
  return (x + y + side * root(spread)) * (Real)0.5;
}

/* Whether any asset moves so: known before the assets are. */
template <class S> __device__ constexpr bool has_motion(int motion) { return S::MOVED && (S::MOTIONS >> motion & 1); }

template <class S> __device__ inline void begin_walk(walk<S> &p, const constants<S> &c) {
  OPTION_EACH
  for (int t = 0; t < S::TRACKS; t++)
#pragma unroll
    for (int s = 0; s < walk<S>::OWN; s++) {
      p.y[t][s] = p.logs[t][s] = 0;
      if (S::MOVED) p.variance[t][s] = c.c[S::C_MOVER + t * M_NUMBERS + M_START];
    }
  OPTION_EACH
  for (int l = 0; l < S::LINES; l++)
#pragma unroll
    for (int s = 0; s < S::SIGNS; s++) {
      p.x[l][s] = p.sum[l][s] = p.high[l][s] = p.low[l][s] = 0;
      p.most[l][s] = (typename S::real) - 1e30;
      p.least[l][s] = (typename S::real)1e30;
    }
  for (int k = 0; k < S::STAYS; k++) p.stay[k] = 1;
  for (int k = 0; k < S::EARLIES; k++) p.early[k] = -1;
  OPTION_EACH
  for (int g = 0; g < S::TANGENTS; g++) {
    p.slope[g] = 0;
#pragma unroll
    for (int s = 0; s < S::SIGNS; s++)
      p.slope_sum[g][s] = p.slope_logs[g][s] = p.slope_most[g][s] = p.slope_least[g][s] = 0;
  }
  p.fixings = 0;
  p.unsound = false;
}

/* What the groups of steps have in common, or with S::SHARE > 1 the groups of paths; in shared memory, if not too many.
 */
template <class S> struct groups {
  enum { COUNT = S::SHARE > 1 ? S::INNER *S::OUTER / S::SHARE : (S::STEPS + 3) / 4, KEPT = COUNT <= 256 };
};

template <class S>
__device__ inline common_words common_of(const stream &s, const option_keys &keys, const common_words *kept,
                                         unsigned group) {
  return groups<S>::KEPT ? kept[group] : common(s.high, keys, group);
}

template <class S>
__device__ inline void draw(const constants<S> &c, const stream &s, const own_words &own, const option_keys &keys,
                            common_words group, draws<S> &out) {
  OPTION_EACH
  for (int a = 0; a < S::ASSETS; a++) {
    const words w = random_words(S::ASSETS == 1 ? own : prepare(s, keys, a), keys, group);
    const typename S::real spread =
        S::ASSETS == 1 ? c.c[S::C_SPREAD] : (typename S::real) - 1.3862943611198906; /* -2 ln 2 */
    two_normals(w.word[0], w.word[1], spread, out.z[a]);
    two_normals(w.word[2], w.word[3], spread, out.z[a] + 2);
    if (S::need(a) & S::NEEDS & NEED_HIGH) out.high[a] = random_words(prepare(s, keys, 64 + a), keys, group);
    if (S::need(a) & S::NEEDS & NEED_LOW) out.low[a] = random_words(prepare(s, keys, 128 + a), keys, group);
    if (has_motion<S>(HESTON) && S::motion(a) == HESTON)
      out.variance[a] = random_words(prepare(s, keys, 192 + a), keys, group);
  }
}

/* In place of what draw gives of Philox's: of steps `first` on to the places `place` on. */
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
      if (has_motion<S>(HESTON) && S::motion(a) == HESTON)
        out.variance[a].word[(place + i) & 3] =
            sobol_word(q, m.scramble, m.index, (first + i) * q.each + S::quasi_variance(a));
    }
}

/* Of the normals of each step and asset of a part; nothing without S::MATCHED. */
template <class S> struct moments {
  enum { COUNT = S::MATCHED ? S::STEPS * S::ASSETS : 1 };
  typename S::real mean[COUNT], scale[COUNT];
};

/* In place: of steps `first` on at the places `place` on. */
template <class S>
__device__ inline void match_draws(const constants<S> &c, const moments<S> &m, int first, int place, draws<S> &d) {
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

/* The rows of four steps. */
template <class S> struct rows {
  const typename S::real *table, *at;
  int first; /* step */
  four<typename S::real> kept[S::KEPT_ROWS > 0 ? S::KEPT_ROWS : 1];
  __device__ rows(const typename S::real *from, int group) : table(from), at(from + 4 * S::ROWS * group) {
    first = 4 * group;
#pragma unroll
    for (int r = 0; r < S::KEPT_ROWS; r++) kept[r] = reinterpret_cast<const four<typename S::real> *>(at)[r];
  }
  __device__ typename S::real of(int row, int i) const {
    return S::KEPT_ROWS > 0 ? kept[row].number[i] : __ldg(at + 4 * row + i);
  }
};

/* A step of what is no geometric Brownian motion, or stands beside one. `vol`: the step's deviation, of each sign. */
template <class S>
__device__ inline void move(walk<S> &p, const constants<S> &c, const stream &random, const option_keys &keys,
                            const draws<S> &d, const rows<S> &row, int i, int j, int a, int t, typename S::real w,
                            typename S::real *vol) {
  typedef typename S::real real;
  const real *m = c.c + S::C_MOVER + t * M_NUMBERS;
  const int motion = S::motion(a), step = row.first + i;
#pragma unroll
  for (int s = 0; s < walk<S>::OWN; s++) {
    const real normal = s ? -w : w;
    real &x = p.y[t][s];
    real grown = row.of(S::R_LEVEL + t, i);
    if (has_motion<S>(HESTON) && motion == HESTON) {
      const unsigned word = d.variance[a].word[j];
      grown += heston_step(m, p.variance[t][s], normal, s ? ~word : word, vol[s]);
    } else if (has_motion<S>(BROWNIAN) && motion == BROWNIAN) {
      vol[s] = row.of(S::R_VOL + t, i);
      grown = fused(vol[s], normal, grown);
    } else if (has_motion<S>(LOCAL_FUNCTION) || has_motion<S>(LOCAL_GRID)) {
      const real price_now = price<S>(x) * m[M_SPOT];
      const real sigma =
          has_motion<S>(LOCAL_GRID) && motion == LOCAL_GRID
              ? grid_volatility(row.table + S::grid_at(t), row.table + S::grid_at(t) + (step + 1) * S::nodes(a),
                                S::nodes(a), price_now)
              : S::local_volatility(a, price_now, step * m[M_DT]);
      if (S::CHECKED && motion == LOCAL_FUNCTION && !(sigma >= 0 && sigma <= (real)1e18)) p.unsound = true;
      grown += local_step(m, sigma, normal, vol[s]);
    }
    if (S::JUMPS > 0 && S::jumps(a) > 0)
      grown += jump_sum(m, c.c + S::C_ABOVE + t * S::JUMPS, S::jumps(a), random_words(random, keys, step, 256 + a), s);
    x += grown;
  }
}

/* What derivatives add up, before the line's own extremes follow x. `priced`: its weighted price in this step. */
template <class S>
__device__ inline void follow_slopes(walk<S> &p, const rows<S> &row, int i, int a, int t, int l, int s,
                                     typename S::real x, typename S::real priced, const typename S::real *swing) {
  typedef typename S::real real;
  const unsigned need = S::need(a);
  OPTION_EACH
  for (int g = 0; g < S::TANGENTS; g++) {
    if (S::tangent_asset(g) != a) continue;
    const real known = row.of(S::R_SLOPE + g, i);
    real y = known;
    if (!S::tangent_flat(g))
      y = S::FOLDED ? fused(swing[g], signed_by<S>(s, p.y[t]), known) : known + (s ? -p.slope[g] : p.slope[g]);
    if (need & NEED_SUM) p.slope_sum[g][s] = fused(priced, y, p.slope_sum[g][s]);
    if (need & NEED_LOGS) p.slope_logs[g][s] += y;
    if (need & NEED_ENDS) {
      p.slope_most[g][s] = x > p.most[l][s] ? y : p.slope_most[g][s];
      p.slope_least[g][s] = x < p.least[l][s] ? y : p.slope_least[g][s];
    }
    p.slope_last[g][s] = y;
  }
}

/* Exercise k at the end of a step. Numbers of its rule: E_NUMBERS among the constants; and for each date in the table
 * the growth of money until maturity, then the coefficients. */
enum { E_SPOT, E_STRIKE, E_SIGN, E_CENTRE, E_SCALE, E_NUMBERS };
template <class S>
__device__ inline void exercise(const constants<S> &c, const typename S::real *table, int k, int step,
                                typename S::real x, typename S::real &paid) {
  typedef typename S::real real;
  const int every = S::early_every(k), degree = S::early_degree(k), date = (step + 1) / every - 1;
  if ((step + 1) % every != 0) return;
  const real *e = c.c + S::C_EARLY + k * E_NUMBERS, *rule = table + S::early_at(k) + date * (degree + 2);
  const real now = price<S>(x) * e[E_SPOT], payoff = (now - e[E_STRIKE]) * e[E_SIGN];
  const real at = (now - e[E_CENTRE]) * e[E_SCALE];
  const bool last = step + 1 == every * S::early_dates(k);
  real hold = __ldg(rule + degree + 1);
#pragma unroll
  for (int i = S::DEGREE; i > 0; i--)
    if (i <= degree) hold = fused(hold, at, __ldg(rule + i));
  if (paid < 0 && payoff > 0 && (last || payoff > hold)) paid = payoff * __ldg(rule);
  if (last) paid = greatest(paid, (real)0);
}

/* What a step leaves of each line for the probabilities to stay. */
template <class S> struct marks {
  enum { COUNT = S::STAYS > 0 ? S::LINES : 1 };
  typename S::real before[COUNT][S::SIGNS], vol[COUNT][S::SIGNS];
};

/* x of the line after a step, and what is made of it. */
template <class S>
__device__ inline void follow_line(walk<S> &p, marks<S> &m, const constants<S> &c, const draws<S> &d,
                                   const rows<S> &row, int i, int j, int a, int t, int l, const typename S::real *vols,
                                   const typename S::real *power) {
  typedef typename S::real real;
  const unsigned need = S::need(a) & S::NEEDS;
#pragma unroll
  for (int s = 0; s < S::SIGNS; s++) {
    const bool sloped = S::TANGENTS > 0 && l == S::line_begin(S::track_begin(a));
    real priced = 0;
    if ((need & NEED_SUM) && !S::FAR) {
      priced = row.of(S::R_WEIGHT + l, i) * power[s];
      p.sum[l][s] += priced;
      if (sloped && !(need & NEED_LEVEL)) follow_slopes(p, row, i, a, t, l, s, (real)0, priced, c.c + S::C_SWING);
    }
    if (sloped && !(need & (NEED_SUM | NEED_LEVEL))) /* last prices, fixings and logarithms alone */
      follow_slopes(p, row, i, a, t, l, s, (real)0, (real)0, c.c + S::C_SWING);
    if (!(need & (S::FAR ? NEED_LEVEL | NEED_SUM : NEED_LEVEL))) continue;
    const real vol = vols[S::MOVED ? s : 0], before = p.x[l][s];
    real x = signed_by<S>(s, p.y[t]);
    if (!S::MOVED) x += row.of(S::R_LEVEL + l, i);
    if ((need & NEED_SUM) && S::FAR) p.sum[l][s] += priced = price<S>(x);
    if (sloped && (S::FAR || (need & NEED_LEVEL))) follow_slopes(p, row, i, a, t, l, s, x, priced, c.c + S::C_SWING);
    if (need & NEED_ENDS) {
      p.most[l][s] = greatest(p.most[l][s], x);
      p.least[l][s] = least(p.least[l][s], x);
    }
    real high = x;
    if (need & NEED_HIGH)
      p.high[l][s] = greatest(p.high[l][s], high = extreme(before, x, vol, d.high[a].word[j], (real)1));
    if (need & NEED_JOINT)
      p.low[l][s] = least(p.low[l][s], lowest(before, x, vol, high, d.low[a].word[j]));
    else if (need & NEED_LOW)
      p.low[l][s] = least(p.low[l][s], extreme(before, x, vol, d.low[a].word[j], (real)-1));
    if (S::STAYS > 0) {
      m.before[l][s] = before;
      m.vol[l][s] = vol;
    }
    if (S::RECORD && a == p.record.asset && (row.first + i + 1) % p.record.every == 0)
      p.record.out[((row.first + i + 1) / p.record.every - 1) * (size_t)p.record.stride] =
          price<S>(x) * c.c[S::C_EARLY + a];
    p.x[l][s] = x;
  }
}

/* The asset's normal of a step, and the slopes that go with it. */
template <class S>
__device__ inline typename S::real own_normal(walk<S> &p, const constants<S> &c, const draws<S> &d, const rows<S> &row,
                                              int i, int j, int a) {
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
    if (S::tangent_asset(g) == a && !S::tangent_flat(g)) p.slope[g] = fused(row.of(S::R_SWING + g, i), w, p.slope[g]);
  return w;
}

/* Step i of the rows, with the draws' numbers j. */
template <class S>
__device__ inline void step(walk<S> &p, const constants<S> &c, const stream &random, const option_keys &keys,
                            const draws<S> &d, const rows<S> &row, int i, int j) {
  typedef typename S::real real;
  real w = 0, vol[walk<S>::OWN], power[S::SIGNS]; /* of the asset, of the track */
  marks<S> m;
  OPTION_EACH
  for (int l = 0; l < S::LINES; l++) { /* all trips are known before loops unroll, which else double time and again */
    const int t = S::line_track(l), a = S::track_asset(t);
    const bool first = l == S::line_begin(t), leads = first && t == S::track_begin(a);
    if (leads) w = own_normal(p, c, d, row, i, j, a);
    if (first) {
      if constexpr (S::MOVED) {
        move(p, c, random, keys, d, row, i, j, a, t, w, vol);
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
      for (int s = 0; s < walk<S>::OWN; s++)
        if (S::need(a) & S::NEEDS & NEED_LOGS) p.logs[t][s] += p.y[t][s];
    }
    follow_line(p, m, c, d, row, i, j, a, t, l, vol, power);
  }
  OPTION_EACH
  for (int k = 0; k < S::STAYS; k++) {
    const int l = S::stay_line(k), s = S::stay_sign(k);
    p.stay[k] *= stays(m.before[l][s], p.x[l][s], m.vol[l][s], c.c[S::C_STAY + k], (real)S::stay_side(k));
  }
  OPTION_EACH
  for (int k = 0; k < S::EARLIES && !S::RECORD; k++)
    exercise(c, row.table, k, row.first + i, p.x[S::early_line(k)][S::early_sign(k)], p.early[k]);
  if (S::FIXINGS > 0 && row.of(S::R_MARK, i) != 0) {
    OPTION_EACH
    for (int t = 0; t < S::TRACKS; t++)
#pragma unroll
      for (int s = 0; s < walk<S>::OWN; s++) p.fixing[t][p.fixings][s] = p.y[t][s];
    OPTION_EACH
    for (int g = 0; g < S::TANGENTS; g++)
#pragma unroll
      for (int s = 0; s < S::SIGNS; s++) p.slope_fixing[g][p.fixings][s] = p.slope_last[g][s];
    p.fixings++;
  }
}

#endif
