/* State of one asset on a path, and the features that payoffs read. Twin: cuda/paths/features.cuh. */
#ifndef OPTION_TRACK_H
#define OPTION_TRACK_H

#include "engine/expr/expr.h"
#include "kernels/option/cpu/random.h"

LANES_INLINE vreal v_pick(vwhole which, vreal a, vreal b) {
  return (vreal)((which & (vwhole)a) | (~which & (vwhole)b));
}

LANES_INLINE vreal price_ratio(vreal x, bool far) {
  const real most = OPTION_SINGLE ? 126 : 1022;
  if (far) x = v_max(v_min(x, v_set(most)), v_set(-most));
  return v_exp2(x);
}

/* Probability that a Brownian bridge from x to y with variance vol^2 never reaches `level`; side 1: an upper, -1: a
 * lower level. */
LANES_INLINE vreal bridge_survival(vreal x, vreal y, vreal vol, real level, real side) {
  vreal a = (level - x) * side, b = (level - y) * side;
  const real tiny = (real)1e-30;
  vreal exponent = a * b / v_max(vol * vol, v_set(tiny)) * (real)-2.8853900817779268; /* -2/ln 2 */
  vreal p = 1 - v_exp2(v_max(v_min(exponent, v_set(0)), v_set(-120)));
  return v_zero_unless_positive(a, v_zero_unless_positive(b, p));
}

/* Maximum (side 1) or minimum (-1) of a Brownian bridge from x to y with variance vol^2, drawn with the random bits
 * w. */
LANES_INLINE vreal bridge_extreme(vreal x, vreal y, vreal vol, vbits w, real side) {
  vreal d = y - x, spread = d * d + vol * vol * minus_two_log(w);
  return (x + y + side * v_root(v_max(spread, v_set((real)1e-30)))) * (real)0.5;
}

/* State of one asset in one variant: x = log2(price / spot), the sums of prices, of x and of its squared changes, and
 * the extremes of x at the steps (most, least) and between them (high, low). */
typedef struct asset_state {
  vreal x, sum, logs, squares, most, least, high, low;
  vreal v; /* variance of Heston's model; SABR's sigma */
  vreal f; /* SABR's price over its growth and the spot */
} asset_state;

enum {
  NEED_SINGLES = 1 << OPTION_FIXING | 1 << OPTION_NOT_ABOVE | 1 << OPTION_NOT_BELOW | 1 << OPTION_EARLY |
                 1 << OPTION_VARIANCE | 1 << OPTION_HIGHEST | 1 << OPTION_VOLATILITY
};

/* Derivatives of one asset's path by a parameter: y of ln S, the others of the features' sums and extremes before
 * their factors. Of a local one, whose changes of y are a_i at its steps: sum is that of a_i times the sum of prices
 * before step i, for the derivative of all prices' sum is sum_i a_i (sum of all - sum before i). */
typedef struct tangent_sums {
  vreal y, sum, logs, most, least;
} tangent_sums;

static inline asset_state begin_asset(void) {
  const vreal zero = {0};
  return (asset_state){zero, zero, zero, zero, v_set((real)-1e30), v_set((real)1e30), zero, zero, zero, v_set(1)};
}

/* x after a cash dividend: the price falls by `ratio` of the spot, at most to 2^-100 of it, which counts as 0. */
LANES_INLINE vreal after_dividend(vreal x, double ratio, bool far) {
  return v_log2(v_max(price_ratio(x, far) - (real)ratio, v_set((real)0x1p-100)));
}

LANES_INLINE void update_asset(asset_state *t, vreal next, unsigned need, bool far) {
  if (need & NEED_SQUARES) t->squares = v_fma(next - t->x, next - t->x, t->squares);
  t->x = next;
  if (need & NEED_SUM) t->sum += price_ratio(next, far);
  if (need & NEED_LOGS) t->logs += next;
  if (need & NEED_ENDS) {
    t->most = v_max(t->most, next);
    t->least = v_min(t->least, next);
  }
}

LANES_INLINE vreal feature_value(const option_paths *p, const asset_state *t, const option_feature *f, double spot) {
  const int observations = f->schedule > 0 ? p->schedule[f->schedule - 1].count : p->steps / (p->skip + 1);
  const real s = (real)spot, n = (real)observations;
  switch (f->kind) {
  case OPTION_LAST: return price_ratio(t->x, p->far) * s;
  case OPTION_MEAN: return t->sum * (real)(spot / observations);
  case OPTION_GEOMETRIC: return price_ratio(t->logs / n, p->far) * s;
  case OPTION_MAX: return price_ratio(t->most, p->far) * s;
  case OPTION_MIN: return price_ratio(t->least, p->far) * s;
  case OPTION_SQUARES: return t->squares;
  case OPTION_HIGH: return price_ratio(t->high, p->far) * s;
  default: return price_ratio(t->low, p->far) * s;
  }
}

/* The same of a local derivative, at one of its steps. */
static inline void add_local_tangent(const option_tangent *g, const asset_state *t, int step, int steps, vreal normal,
                                     real direction, tangent_sums *s) {
  const vreal change =
      v_fma(normal, v_set(((const real *)g->vol)[step] * direction), v_set(((const real *)g->drift)[step]));
  s->y += change;
  s->sum = v_fma(change, t->sum, s->sum);
  s->logs += change * (real)(steps - step);
}

/* Adds a step to the derivatives; `t` is the state before the step, `price` the ratio to the spot after it, where
 * features have sums of prices. `direction` is -1 on mirrored paths. */
static inline void add_tangent(const option_tangent *g, const asset_state *t, int step, vreal next, vreal price,
                               vreal normal, real direction, unsigned need, tangent_sums *s) {
  const real drift = ((const real *)g->drift)[step];
  s->y = g->flat ? v_set(drift) : v_fma(normal, v_set(((const real *)g->vol)[step] * direction), s->y + drift);
  if (need & NEED_SUM) s->sum = v_fma(price, s->y, s->sum);
  if (need & NEED_LOGS) s->logs += s->y;
  if (need & NEED_ENDS) {
    s->most = v_pick(next > t->most, s->y, s->most);
    s->least = v_pick(next < t->least, s->y, s->least);
  }
}

LANES_INLINE vreal tangent_value(const option_paths *p, const asset_state *t, const tangent_sums *s,
                                 const option_feature *f, double spot) {
  const vreal value = feature_value(p, t, f, spot);
  switch (f->kind) {
  case OPTION_LAST: return value * s->y;
  case OPTION_MEAN:
    return (p->tangent[f->tangent - 1].local ? v_fma(t->sum, s->y, 0 - s->sum) : s->sum) * (real)(spot / p->steps);
  case OPTION_GEOMETRIC: return value * s->logs * (real)(1.0 / p->steps);
  case OPTION_MAX: return value * s->most;
  default: return value * s->least;
  }
}

/* Early exercise at a date: *value is -1 before exercise, then the amount paid, carried to maturity. At the last date
 * it is the payoff, if positive. */
LANES_INLINE void settle(vreal payoff, vreal hold, vreal growth, bool last, vreal *value) {
  const vreal alive = v_zero_unless_positive(0 - *value, v_set(1)), paid = payoff * growth;
  const vreal now = alive * v_zero_unless_positive(payoff, v_zero_unless_positive(payoff - hold, v_set(1)));
  *value += now * (paid + 1);
  if (last) *value = v_max(v_set(0), *value); /* NaN stays */
}

/* Early exercise at the end of a step. */
static inline void exercise(const option_rule *rule, int step, vreal price, vreal *value) {
  const int date = rule->date[step];
  const real *beta = rule->single ? (const void *)rule->beta_single : (const void *)rule->beta;
  const bool last = date == rule->dates - 1;
  if (step == 0) *value = v_set(-1);
  if (date < 0) return;
  const vreal payoff = (price - (real)rule->strike) * (real)rule->sign;
  const vreal x = (price - (real)rule->centre) * (real)rule->scale;
  const vreal hold = last ? v_set(0) : v_polynomial(beta + date * (OPTION_DEGREE_MAX + 1), rule->degree + 1, x);
  settle(payoff, hold, v_set((real)rule->growth[date]), last, value);
}

/* The random volatility of an asset whose variance, or sigma of SABR, is v. */
LANES_INLINE vreal random_volatility(const option_dynamics *m, vreal v) {
  return m->motion == OPTION_SABR ? v : v_root(v_max(v, v_set((real)1e-30)));
}

/* The same by a program of `inputs` numbers: see option_rule_inputs; a payoff that is not finite makes the value so.
 * `deflator`: of a random rate, at the end of the step; NULL: the rate is known. */
static inline void exercise_jointly(const option_rule *rule, int step, const vreal *input, int inputs,
                                    const vreal *deflator, void *scratch, vreal *value) {
  const int date = rule->date[step];
  const real *beta = rule->single ? (const void *)rule->beta_single : (const void *)rule->beta;
  const bool last = date == rule->dates - 1;
  vreal result[1 + OPTION_BASES_MAX], hold = v_set(0);
  const void *in[3 * OPTION_ASSETS_MAX + 1];
  void *out[1 + OPTION_BASES_MAX];
  if (step == 0) *value = v_set(-1);
  if (date < 0) return;
  for (int k = 0; k < inputs; k++) in[k] = &input[k];
  for (int k = 0; k <= rule->bases; k++) out[k] = &result[k];
  sim_expr_program_run(rule->program, LANES, in, out, scratch);
  for (int k = 0; k < rule->bases && !last; k++) hold = v_fma(result[k + 1], v_set(beta[date * rule->bases + k]), hold);
  vreal growth = v_set((real)rule->growth[date]);
  if (deflator != NULL) growth *= *deflator;
  settle(result[0], hold, growth, last, value);
  *value += result[0] - result[0];
}

/* Features with one number a path (fixings, barrier probabilities, exercises) are stored in `out` at index `at`
 * while the path runs. */
LANES_INLINE void update_single_features(const option_paths *p, int step, int asset, const asset_state *t, vreal next,
                                         vreal vol, const option_variant *v, void *const *out, int at) {
  const bool observed = (step + 1) % (p->skip + 1) == 0;
  const int observation = step / (p->skip + 1);
  for (int f = 0; f < p->features; f++) {
    const option_feature *feature = &p->feature[f];
    if (feature->asset != asset || feature->kind < OPTION_FIXING || feature->tangent > 0 ||
        feature->kind == OPTION_INCREMENT)
      continue;
    vreal *value = (vreal *)(void *)((real *)out[f] + at);
    if (feature->kind == OPTION_FIXING) {
      if (observed && feature->step == observation + 1) *value = price_ratio(next, p->far) * (real)v->spot[asset];
      continue;
    }
    if (feature->kind == OPTION_VARIANCE) {
      if (observed && feature->step == observation + 1) *value = t->v;
      continue;
    }
    if (feature->kind == OPTION_VOLATILITY) {
      if (observed && feature->step == observation + 1) *value = random_volatility(&v->dynamics[asset], t->v);
      continue;
    }
    if (feature->kind == OPTION_HIGHEST) {
      if (observed && feature->step == observation + 1)
        *value = price_ratio(v_max(t->most, next), p->far) * (real)v->spot[asset];
      continue;
    }
    if (feature->kind == OPTION_EARLY) {
      if (observed)
        exercise(&v->rule[feature->step], observation, price_ratio(next, p->far) * (real)v->spot[asset], value);
      continue;
    }
    const bool watched =
        feature->schedule == 0 || p->schedule[feature->schedule - 1].mark[observation] & OPTION_WATCHED;
    if (!watched) {
      if (step == 0) *value = v_set(1);
      continue;
    }
    const real level = (real)log2(feature->level / v->spot[asset]);
    const vreal probability = bridge_survival(t->x, next, vol, level, feature->kind == OPTION_NOT_ABOVE ? 1 : -1);
    *value = step == 0 ? probability : *value * probability;
  }
}

#endif
