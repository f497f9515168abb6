/* State of a path, or of an antithetic pair, and the features that payoffs read. Twin: cpu/features.h. Device code;
 * the generated source of a run defines the struct `scheme` (text.c) and OPTION_EACH, the unrolling of loops over
 * assets, tracks and lines.
 *
 * A track is the martingale part of one asset with one volatility: y += vol w; antithetic paths have -y. A line is a
 * track with one drift: x = y + level, where the level of each step is known in advance. Several markets (bumped
 * spots, rates) share tracks. Sums of prices are sums of weight 2^y with weight = 2^level, so that each track needs
 * one exponential a step for all its drifts.
 *
 * If some asset is no geometric Brownian motion (S::MOVED), each line is its own track, antithetic paths have
 * separate states, y is x itself, and `level` is the drift of a step. */
#ifndef OPTION_CUDA_FEATURES_CUH
#define OPTION_CUDA_FEATURES_CUH

#include "kernels/option/cuda/paths/joint.cuh"
#include "kernels/option/cuda/paths/joint_rule.cuh"
#include "kernels/option/cuda/paths/motion.cuh"
#include "kernels/option/payoff/feature.h"
#include "kernels/option/payoff/schedule.h"

#ifndef OPTION_EACH
#define OPTION_EACH _Pragma("unroll")
#endif

enum {
  NEED_SURVIVALS = 1 << OPTION_NOT_ABOVE | 1 << OPTION_NOT_BELOW,
  NEED_EARLY = 1 << OPTION_EARLY,
  NEED_JOINT = 1 << OPTION_KINDS,      /* maximum and minimum are drawn jointly */
  NEED_KEPT = 1 << (OPTION_KINDS + 1), /* some feature has a schedule */
  NEED_LEVEL = NEED_ENDS | NEED_HIGH | NEED_LOW | NEED_SURVIVALS | NEED_EARLY | NEED_KEPT
};

struct scheme;

template <typename real> struct alignas(4 * sizeof(real)) four { real number[4]; };

/* Numbers of a run that its generated source does not hold; a kernel parameter. */
template <class S> struct constants { typename S::real c[S::CONSTANTS]; };

template <class S> struct path_state {
  typedef typename S::real real;
  enum { OWN = S::MOVED ? S::SIGNS : 1 };
  /* variance: Heston's, or SABR's sigma; forward: SABR's f */
  real y[S::TRACKS][OWN], logs[S::TRACKS][OWN], variance[S::TRACKS][OWN], forward[S::TRACKS][OWN];
  real fixing[S::TRACKS][S::FIXINGS + 1][OWN];
  real x[S::LINES][S::SIGNS], sum[S::LINES][S::SIGNS], most[S::LINES][S::SIGNS], least[S::LINES][S::SIGNS],
      high[S::LINES][S::SIGNS], low[S::LINES][S::SIGNS];
  /* Derivatives by a parameter, of the first line of its asset: `slope` is the part of d ln S that depends on the
   * normals; the others belong to the features' sums and extremes. */
  real slope[S::TANGENTS + 1], slope_sum[S::TANGENTS + 1][S::SIGNS], slope_logs[S::TANGENTS + 1][S::SIGNS],
      slope_most[S::TANGENTS + 1][S::SIGNS], slope_least[S::TANGENTS + 1][S::SIGNS],
      slope_fixing[S::TANGENTS + 1][S::FIXINGS + 1][S::SIGNS], slope_last[S::TANGENTS + 1][S::SIGNS];
  /* early: amount paid, carried to maturity; -1: not exercised yet. kept: a sum or extreme over the steps of a
   * schedule; seen: x at its last step */
  real survival[S::SURVIVALS + 1], early[S::EXERCISES + 1], kept[S::KEPT + 1], seen[S::KEPT + 1];
  real past[S::ROUGHS * S::STEPS + 1]; /* normals of rough volatilities: [ROUGHS][STEPS], shared by all tracks */
  /* of random rates: x, log2 of the deflator, what the last step has grown; deflators of payments */
  real rate[S::RATES + 1][S::SIGNS], deflator[S::RATES + 1][S::SIGNS], grown[S::RATES + 1][S::SIGNS],
      deflated[S::DEFLATORS + 1];
  option_recorder record;
  int fixings;
  bool invalid; /* a local volatility was below 0 or not finite */
};

/* Random numbers of four steps. */
template <class S> struct draws {
  typename S::real z[S::ASSETS][4];
  bits4 high[S::ASSETS], low[S::ASSETS], variance[S::ASSETS], rough[S::ASSETS];
};

/* y of the path with sign 0 or 1 (antithetic). */
template <class S, typename real> __device__ inline real signed_by(int sign, const real *y) {
  if (S::MOVED) return y[S::MOVED ? sign : 0];
  return sign ? -y[0] : y[0];
}

template <class S> __device__ inline typename S::real price(typename S::real x) {
  return S::FAR ? bounded_power(x) : power_of_two(x);
}

/* Probability that a Brownian bridge from x to y never reaches `level`; side 1: an upper, -1: a lower level. */
template <typename real> __device__ inline real bridge_survival(real x, real y, real vol, real level, real side) {
  const real a = (level - x) * side, b = (level - y) * side;
  const real exponent = a * b / greatest(vol * vol, (real)1e-30) * (real)-2.8853900817779268;
  const real p = 1 - power_of_two(greatest(least(exponent, (real)0), (real)-120));
  return a > 0 && b > 0 ? p : 0;
}

/* Maximum (side 1) or minimum (-1) of a Brownian bridge from x to y, drawn with the random bits w. */
template <typename real> __device__ inline real bridge_extreme(real x, real y, real vol, unsigned w, real side) {
  const real d = y - x;
  const real spread = fused(vol * vol, binary_log(uniform<real>(w)) * (real)-1.3862943611198906, d * d);
  return (x + y + side * root(spread)) * (real)0.5;
}

/* Whether any asset has this motion; a constant, unlike the motion of a given asset inside a loop. */
template <class S> __device__ constexpr bool has_motion(int motion) { return S::MOVED && (S::MOTIONS >> motion & 1); }

/* Whether the volatility of asset a is rough. */
template <class S> __device__ constexpr bool has_rough(int a) {
  return has_motion<S>(ROUGH_BERGOMI) && S::motion(a) == ROUGH_BERGOMI;
}

/* Whether the volatility of asset a takes a random number in each step. */
template <class S> __device__ constexpr bool has_volatility(int a) {
  return (has_motion<S>(HESTON) && S::motion(a) == HESTON) || (has_motion<S>(SABR) && S::motion(a) == SABR) ||
         (has_motion<S>(LEVERAGE) && S::motion(a) == LEVERAGE) || has_rough<S>(a);
}

/* The random volatility of asset a whose variance, or sigma of SABR, is v. */
template <class S> __device__ inline typename S::real random_volatility(int a, typename S::real v) {
  return has_motion<S>(SABR) && S::motion(a) == SABR ? v : root(greatest(v, (typename S::real)1e-30));
}

template <class S> __device__ inline void begin_path(path_state<S> &p, const constants<S> &c) {
  OPTION_EACH
  for (int t = 0; t < S::TRACKS; t++)
#pragma unroll
    for (int s = 0; s < path_state<S>::OWN; s++) {
      p.y[t][s] = p.logs[t][s] = 0;
      if (S::MOVED) p.variance[t][s] = c.c[S::C_DYNAMICS + t * M_NUMBERS + M_START];
      if (has_motion<S>(SABR)) p.forward[t][s] = 1;
    }
  OPTION_EACH
  for (int l = 0; l < S::LINES; l++)
#pragma unroll
    for (int s = 0; s < S::SIGNS; s++) {
      p.x[l][s] = p.sum[l][s] = p.high[l][s] = p.low[l][s] = 0;
      p.most[l][s] = (typename S::real) - 1e30;
      p.least[l][s] = (typename S::real)1e30;
    }
  OPTION_EACH
  for (int r = 0; r < S::RATES; r++)
#pragma unroll
    for (int s = 0; s < S::SIGNS; s++) p.rate[r][s] = p.deflator[r][s] = 0;
  for (int k = 0; k < S::SURVIVALS; k++) p.survival[k] = 1;
  for (int k = 0; k < S::EXERCISES; k++) p.early[k] = -1;
  OPTION_EACH
  for (int k = 0; k < S::KEPT; k++) {
    p.kept[k] = (typename S::real)(S::kept_kind(k) == OPTION_MAX ? -1e30 : S::kept_kind(k) == OPTION_MIN ? 1e30 : 0);
    p.seen[k] = 0;
  }
  OPTION_EACH
  for (int g = 0; g < S::TANGENTS; g++) {
    p.slope[g] = 0;
#pragma unroll
    for (int s = 0; s < S::SIGNS; s++)
      p.slope_sum[g][s] = p.slope_logs[g][s] = p.slope_most[g][s] = p.slope_least[g][s] = 0;
  }
  p.fixings = 0;
  p.invalid = false;
}

/* The rows of `table` for four steps. */
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

/* Adds a step to the tangents of line l, before its own extremes are updated. `priced`: the line's weighted price in
 * this step. */
template <class S>
__device__ inline void add_slopes(path_state<S> &p, const rows<S> &row, int i, int a, int t, int l, int s,
                                  typename S::real x, typename S::real priced, const typename S::real *vol_slope) {
  typedef typename S::real real;
  const unsigned need = S::need(a);
  OPTION_EACH
  for (int g = 0; g < S::TANGENTS; g++) {
    if (S::tangent_asset(g) != a) continue;
    const real known = row.of(S::R_SLOPE + g, i);
    real y = known;
    if (!S::tangent_flat(g))
      y = S::FOLDED ? fused(vol_slope[g], signed_by<S>(s, p.y[t]), known) : known + (s ? -p.slope[g] : p.slope[g]);
    if (need & NEED_SUM) p.slope_sum[g][s] = fused(priced, y, p.slope_sum[g][s]);
    if (need & NEED_LOGS) p.slope_logs[g][s] += y;
    if (need & NEED_ENDS) {
      p.slope_most[g][s] = x > p.most[l][s] ? y : p.slope_most[g][s];
      p.slope_least[g][s] = x < p.least[l][s] ? y : p.slope_least[g][s];
    }
    p.slope_last[g][s] = y;
  }
}

/* Number of the date of early exercise k at the end of a step, or -1. */
template <class S> __device__ inline int exercise_date(const rows<S> &row, int k, int i) {
  const int every = S::early_every(k), step = row.first + i;
  return S::DATED ? (int)row.of(S::R_DATE + k, i) : (step + 1) % every != 0 ? -1 : (step + 1) / every - 1;
}

/* Early exercise k by a joint rule at the end of a step; see settle_jointly. */
template <class S>
__device__ inline void exercise_jointly(path_state<S> &p, const constants<S> &c, const rows<S> &row, int k, int i) {
  typedef typename S::real real;
  const int date = exercise_date(row, k, i), s = S::early_sign(k);
  if (date < 0) return;
  const real *rule = row.table + S::early_at(k);
  real input[S::ASSETS * (1 + S::HIGHEST + S::SEEN) + 1], deflator = 1;
  int inputs = S::ASSETS;
  OPTION_EACH
  for (int a = 0; a < S::ASSETS; a++) input[a] = price<S>(p.x[S::joint_line(k * S::ASSETS + a)][s]) * __ldg(rule + a);
  if constexpr (S::HIGHEST)
    if (S::early_highest(k)) {
      OPTION_EACH
      for (int a = 0; a < S::ASSETS; a++)
        input[inputs++] = price<S>(p.most[S::joint_line(k * S::ASSETS + a)][s]) * __ldg(rule + a);
    }
  if constexpr (S::SEEN) {
    OPTION_EACH
    for (int a = 0; a < S::ASSETS; a++)
      if (S::joint_sees(k * S::ASSETS + a))
        input[inputs++] = random_volatility<S>(a, p.variance[S::line_track(S::joint_line(k * S::ASSETS + a))][s]);
  }
  if constexpr (S::RATES > 0) {
    if (S::early_sees_rate(k)) input[inputs++] = p.rate[S::early_rate(k)][s];
    deflator = bounded_power(p.deflator[S::early_rate(k)][s]);
  }
  S::settle(k, input, rule, date, deflator, p.early[k]);
}

/* Early exercise k at the end of a step. Its rule: E_NUMBERS constants, and in the table, for each date, the growth
 * of money until maturity, then the coefficients. */
enum { E_SPOT, E_STRIKE, E_SIGN, E_CENTRE, E_SCALE, E_NUMBERS };
template <class S>
__device__ inline void exercise(const constants<S> &c, const rows<S> &row, int k, int i, typename S::real x,
                                typename S::real &paid) {
  typedef typename S::real real;
  const int degree = S::early_degree(k), date = exercise_date(row, k, i);
  if (date < 0) return;
  const real *e = c.c + S::C_EARLY + k * E_NUMBERS, *rule = row.table + S::early_at(k) + date * (degree + 2);
  const real now = price<S>(x) * e[E_SPOT], payoff = (now - e[E_STRIKE]) * e[E_SIGN];
  const real at = (now - e[E_CENTRE]) * e[E_SCALE];
  const bool last = date == S::early_dates(k) - 1;
  real hold = __ldg(rule + degree + 1);
#pragma unroll
  for (int i = S::DEGREE; i > 0; i--)
    if (i <= degree) hold = fused(hold, at, __ldg(rule + i));
  if (paid < 0 && payoff > 0 && (last || payoff > hold)) paid = payoff * __ldg(rule);
  if (last) paid = greatest(paid, (real)0);
}

/* x before a step, the step's deviation and extremes within it, of each line, for barrier probabilities and schedules.
 */
template <class S> struct marks {
  enum { COUNT = S::SURVIVALS + S::KEPT > 0 ? S::LINES : 1 };
  typename S::real before[COUNT][S::SIGNS], vol[COUNT][S::SIGNS], high[COUNT][S::SIGNS], low[COUNT][S::SIGNS];
};

/* Adds the end of a step to the number that the path keeps of a schedule; `mark`: what the schedule sees of the step.
 */
template <class S> __device__ inline void keep(path_state<S> &p, const marks<S> &m, int k, int mark) {
  typedef typename S::real real;
  const int kind = S::kept_kind(k), l = S::kept_line(k), s = S::kept_sign(k);
  const real x = p.x[l][s];
  real &kept = p.kept[k];
  if (kind == OPTION_HIGH || kind == OPTION_LOW) {
    if (mark & OPTION_WATCHED) kept = kind == OPTION_HIGH ? greatest(kept, m.high[l][s]) : least(kept, m.low[l][s]);
  } else if (mark & OPTION_OBSERVED) {
    if (kind == OPTION_MEAN) kept += price<S>(x);
    if (kind == OPTION_GEOMETRIC) kept += x;
    if (kind == OPTION_MAX) kept = greatest(kept, x);
    if (kind == OPTION_MIN) kept = least(kept, x);
    if (kind == OPTION_SQUARES) {
      const real change = x - p.seen[k];
      kept = fused(change, change, kept);
      p.seen[k] = x;
    }
  }
}

/* x of a line after a step, and everything that is summed from it. */
template <class S>
__device__ inline void add_line(path_state<S> &p, marks<S> &m, const constants<S> &c, const draws<S> &d,
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
      if (sloped && !(need & NEED_LEVEL)) add_slopes(p, row, i, a, t, l, s, (real)0, priced, c.c + S::C_VOL_SLOPE);
    }
    if (sloped && !(need & (NEED_SUM | NEED_LEVEL))) /* needs last prices, fixings and logarithms alone */
      add_slopes(p, row, i, a, t, l, s, (real)0, (real)0, c.c + S::C_VOL_SLOPE);
    if (!(need & (S::FAR ? NEED_LEVEL | NEED_SUM : NEED_LEVEL))) continue;
    const real vol = vols[S::MOVED ? s : 0], before = p.x[l][s];
    real x = signed_by<S>(s, p.y[t]);
    if (!S::MOVED) x += row.of(S::R_LEVEL + l, i);
    if ((need & NEED_SUM) && S::FAR) p.sum[l][s] += priced = price<S>(x);
    if (sloped && (S::FAR || (need & NEED_LEVEL))) add_slopes(p, row, i, a, t, l, s, x, priced, c.c + S::C_VOL_SLOPE);
    if (need & NEED_ENDS) {
      p.most[l][s] = greatest(p.most[l][s], x);
      p.least[l][s] = least(p.least[l][s], x);
    }
    real high = x, low = x;
    if (need & NEED_HIGH)
      p.high[l][s] = greatest(p.high[l][s], high = bridge_extreme(before, x, vol, d.high[a].bits[j], (real)1));
    if (need & NEED_JOINT)
      p.low[l][s] = least(p.low[l][s], low = bridge_minimum(before, x, vol, high, d.low[a].bits[j]));
    else if (need & NEED_LOW)
      p.low[l][s] = least(p.low[l][s], low = bridge_extreme(before, x, vol, d.low[a].bits[j], (real)-1));
    if (S::SURVIVALS > 0) {
      m.before[l][s] = before;
      m.vol[l][s] = vol;
    }
    if (S::KEPT > 0) {
      m.high[l][s] = high;
      m.low[l][s] = low;
    }
    if (S::RECORD && (a == p.record.asset || p.record.asset < 0) && p.record.date[row.first + i] >= 0) {
      const size_t date = (size_t)p.record.date[row.first + i];
      p.record.out[(p.record.asset < 0 ? date * p.record.numbers + a : date) * p.record.stride] =
          price<S>(x) * c.c[S::C_EARLY + a];
      const size_t first = date * p.record.numbers + (p.record.highest ? 2 : 1) * S::ASSETS;
      if (p.record.highest)
        p.record.out[(first - S::ASSETS + a) * p.record.stride] = price<S>(p.most[l][s]) * c.c[S::C_EARLY + a];
      if (has_volatility<S>(a) && p.record.asset < 0 && (p.record.volatilities >> a & 1))
        p.record.out[(first + __popcll(p.record.volatilities & ((1ull << a) - 1))) * p.record.stride] =
            random_volatility<S>(a, p.variance[t][s]);
    }
    p.x[l][s] = x;
  }
}

#endif
