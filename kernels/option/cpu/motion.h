/* Steps of assets that are not geometric Brownian motions. Formulas and symbols: option_dynamics. Twin:
 * cuda/paths/motion.cuh. */
#ifndef OPTION_MOTION_H
#define OPTION_MOTION_H

#include "engine/expr/expr.h"
#include "kernels/option/cpu/features.h"

#define INVERSE_LN2 ((real)1.4426950408889634074)
#define NATURAL_2 ((real)0.69314718055994530942)

/* Weights of a step of Heston's model: A = k2 + k4/2, k3/2, k2, k3, k4. */
typedef struct heston_weights {
  vreal big, half, k2, k3, k4;
} heston_weights;

/* One step of Heston's model: returns the increment of x without its drift, updates the variance, sets *vol. `w`:
 * random bits of the variance; `shock`: their normal. */
LANES_INLINE vreal weighted_step(const option_dynamics *m, const heston_weights *k, asset_state *t, vreal normal,
                                 vbits w, vreal shock, vreal *vol) {
  const vreal v = t->v, mean = v * (real)m->keep + (real)m->pull, variance = v * (real)m->spread + (real)m->floor;
  const vreal psi = variance / (mean * mean), one = v_set(1);
  const vwhole quadratic = psi <= (real)1.5;
  /* Quadratic case: v' = a (b + z)^2. */
  const vreal q = v_max(2 / psi, one), b2 = q - 1 + v_root(v_max(q * (q - 1), v_set((real)1e-30)));
  const vreal a = mean / (1 + b2), z = v_root(v_max(b2, v_set((real)1e-30))) - shock;
  /* Exponential case: v' = 0 with probability p, else exponential. In fp32 p is 1 from psi = 2^25 on, and v' is 0. */
  const vreal p = v_max((psi - 1) / (psi + 1), v_set(0)), beta = v_max((1 - p) / mean, v_set((real)1e-30));
  const vreal longer = v_log2(v_max((1 - p) / v_uniform(w), one)) * NATURAL_2 / beta;
  t->v = v_pick(quadratic, a * z * z, longer);
  /* K0*: minus the logarithm of the mean of exp(A v'), A = k2 + k4/2. */
  const vreal big = k->big;
  const real least = (real)1e-6;
  const vreal c = v_max(1 - a * (2 * big), v_set(least));
  const vreal mass = p + (1 - p) * beta / v_max(beta - big, beta * least);
  const vreal logs = v_log2(v_pick(quadratic, c, mass)) * NATURAL_2;
  const vreal k0 = v_pick(quadratic, logs * (real)0.5 - a * b2 * big / c, -logs);
  const vreal spread = v * k->k3 + t->v * k->k4;
  *vol = v_root(v_max((v + t->v) * (real)(m->dt / 2), v_set((real)1e-30))) * INVERSE_LN2;
  return (k0 - v * k->half + t->v * k->k2 + v_root(v_max(spread, v_set((real)1e-30))) * normal) * INVERSE_LN2;
}

static inline vreal heston_step(const option_dynamics *m, asset_state *t, vreal normal, vbits w, vreal shock,
                                vreal *vol) {
  const heston_weights k = {v_set((real)(m->k2 + m->k4 / 2)), v_set((real)(m->k3 / 2)), v_set((real)m->k2),
                            v_set((real)m->k3), v_set((real)m->k4)};
  return weighted_step(m, &k, t, normal, w, shock, vol);
}

/* The leverage function at x, from its row of a step. */
static inline vreal leverage_at(const option_dynamics *m, int step, vreal x) {
  const double *row = m->row + (size_t)(step + m->begun) * (size_t)m->nodes, *value = row + 2;
  const real most = OPTION_LEVERAGE_NODES - 1;
  const vreal at = v_max(v_min((x - (real)row[0]) * (real)row[1], v_set(most)), v_set(0));
  vreal out = v_set(0);
  for (int lane = 0; lane < LANES; lane++) {
    const int k = at[lane] < most ? (int)at[lane] : OPTION_LEVERAGE_NODES - 2;
    const real low = (real)value[k], high = (real)value[k + 1];
    out[lane] = low + (at[lane] - (real)k) * (high - low);
  }
  return out;
}

/* One step with Heston's variance and a leverage function; as heston_step. */
static inline vreal leverage_step(const option_dynamics *m, int step, asset_state *t, vreal normal, vbits w,
                                  vreal shock, vreal *vol) {
  const vreal l = leverage_at(m, step, t->x), square = l * l, k3 = square * (real)m->k3,
              k2 = l * (real)m->link - square * (real)(m->dt / 4);
  const heston_weights k = {k2 + k3 * (real)0.5, k3 * (real)0.5, k2, k3, k3};
  const vreal x = weighted_step(m, &k, t, normal, w, shock, vol);
  *vol *= l;
  return x;
}

/* One step of a rough Bergomi asset: returns the increment of x without its drift, sets the variance of the next step
 * and *vol. past[step]: normals of the steps so far; w, own: random bits. */
static inline vreal rough_step(const option_dynamics *m, int step, int steps, bool mirrored, asset_state *t,
                               vreal normal, vbits w, vbits own, vreal *past, vreal *vol) {
  const real side = mirrored ? -1 : 1;
  const vreal z = past[step] = inverse_normal(w), root = v_root(v_max(t->v * (real)m->dt, v_set((real)1e-30)));
  const vreal x = root * (z * (real)(side * (real)m->rho) + normal * (real)m->free) - t->v * (real)(m->dt / 2);
  *vol = root * INVERSE_LN2;
  if (step + 1 < steps) {
    const int s = step + m->begun;
    const double *row = m->past + (size_t)s * (size_t)(s > 0 ? s - 1 : 0) / 2 + m->begun;
    vreal y = z * (real)m->near[2 * s] + inverse_normal(own) * (real)m->near[2 * s + 1];
    for (int j = 0; j < step; j++) y = v_fma(past[j], v_set((real)row[j]), y);
    t->v = price_ratio(y * side, true) * (real)m->level[s + 1];
  }
  return x * INVERSE_LN2;
}

/* SABR's f'/f where f is near 0: b and log2 of the scale from the table, one lane after the other. y: the normal of f;
 * octaves: log2 psi. */
static inline vreal sabr_near(const option_dynamics *m, vreal octaves, vreal y) {
  const real cells = (real)m->cells;
  const vreal at = v_max(v_min((octaves - (real)m->first) * (real)m->fineness, v_set(cells)), v_set(0));
  vreal b = v_set(0), scale = v_set(0);
  for (int lane = 0; lane < LANES && m->cells > 0; lane++) {
    const int c = at[lane] < cells ? (int)at[lane] : m->cells - 1;
    const double *of = m->node + 8 * c, t = (double)at[lane] - c;
    b[lane] = (real)(of[0] + t * (of[1] + t * (of[2] + t * of[3])));
    scale[lane] = (real)(of[4] + t * (of[5] + t * (of[6] + t * of[7])));
  }
  const vreal base = b + y;
  const vreal grown = price_ratio(v_log2(v_max(base, v_set((real)0x1p-100))) * (real)m->power + scale, true);
  return v_zero_unless_positive(base, grown);
}

/* The same where f is far from 0. s: deviation of the step; grown: sigma'/sigma. */
static inline vreal sabr_far(const option_dynamics *m, vreal s, vreal grown, vreal z, vreal normal) {
  const real h = (real)m->noise, beta = (real)m->beta, slope = beta * (real)m->rho;
  const vreal root = s * v_root((1 + grown * grown) * (real)m->spread);
  if (beta == 0) return 1 + s * (z + (z * z - 1) * (h / 2)) * (real)m->rho + root * normal;
  const vreal a = s * slope - s * s * (slope * slope * h / 2), b = s * (slope * h / 2),
              c = v_max(1 - 2 * b, v_set((real)0.1));
  const vreal log_mean = a * a / (2 * c) - v_log2(c) * (NATURAL_2 / 2);
  const vreal x = z * (a + b * z) - log_mean + root * (normal - root * (beta / 2)) * beta;
  return 1 + (price_ratio(x * INVERSE_LN2, true) - 1) * (1 / beta);
}

/* One step of SABR: returns the increment of x without its drift, updates sigma and f. `w`: random bits of sigma. */
static inline vreal sabr_step(const option_dynamics *m, asset_state *t, vreal normal, vbits w) {
  const real least = (real)0x1p-100;
  const vreal z = inverse_normal(w), before = v_log2(v_max(t->f, v_set(least)));
  const vreal grown = price_ratio((z - (real)(m->noise / 2)) * (real)m->noise * INVERSE_LN2, true);
  const vreal s = v_min(t->v * (real)sqrt(m->dt) * price_ratio(before * (real)(m->beta - 1), true), v_set((real)1e9));
  const vreal psi = s * s * (real)m->mean_square, y = z * (real)m->rho + normal * (real)m->free;
  vreal ratio = v_max(sabr_far(m, s, grown, z, normal), v_set(0));
  if (m->cells > 0)
    ratio = v_pick(psi < (real)m->far_from_zero, ratio, sabr_near(m, v_log2(v_max(psi, v_set((real)1e-30))), y));
  t->v *= grown;
  t->f = v_zero_unless_positive(t->f - least, t->f * ratio);
  return v_log2(v_max(t->f, v_set(least))) - before;
}

static inline vreal grid_sigma(const option_dynamics *m, int step, vreal price) {
  const double *row = m->row + (size_t)(step + m->begun) * (size_t)m->nodes;
  vreal sigma = v_set((real)row[0]);
  for (int k = 0; k + 1 < m->nodes; k++) {
    const vreal share = (price - (real)m->node[k]) * (real)(1 / (m->node[k + 1] - m->node[k]));
    sigma = v_fma(v_max(v_min(share, v_set(1)), v_set(0)), v_set((real)(row[k + 1] - row[k])), sigma);
  }
  return sigma;
}

/* A local volatility without its shift; `end`: lanes whose price is 0 where it is too large (OPTION_LOCAL_ZERO). Marks
 * lanes where it is invalid in `invalid`. */
static inline vreal local_sigma(const option_dynamics *m, int step, double time, vreal price, vwhole end, void *scratch,
                                vwhole *invalid) {
  const real t = (real)time;
  vreal sigma;
  if (m->motion == OPTION_LOCAL_GRID) return grid_sigma(m, step, price);
  sim_expr_program_run(m->local, LANES, (const void *const[]){&price, &t}, (void *const[]){&sigma}, scratch);
  sigma = v_pick(end & (sigma > v_set((real)OPTION_LOCAL_MAX)), v_set(0), sigma);
  *invalid |= ~((sigma >= v_set(0)) & (sigma <= v_set((real)OPTION_LOCAL_MAX)));
  return sigma;
}

/* One step with a local volatility: returns the increment of x without its drift, sets *vol, and marks lanes with an
 * invalid volatility in `invalid`. Euler's step, or with `milstein` that of strong order 1: v Z + c Z^2 with v = sigma
 * sqrt(dt) and c = sqrt(dt)/2 (sigma' - sigma), sigma' at a price one deviation higher (P. Kloeden and E. Platen,
 * Numerical Solution of Stochastic Differential Equations, 1992, 11.1). The constant that both add leaves the mean of
 * the price exact: E exp(v Z + c Z^2) = exp(v^2/(2 (1 - 2 c)))/sqrt(1 - 2 c). Where sigma' is invalid, c = 0. */
static inline vreal local_step(const option_dynamics *m, int step, double time, vreal x, vreal price, vreal normal,
                               bool milstein, void *scratch, vreal *vol, vwhole *invalid) {
  const vwhole end = x < v_set((real)OPTION_LOCAL_ZERO);
  const vreal sigma = local_sigma(m, step, time, price, end, scratch, invalid) + (real)m->shift;
  *vol = sigma * (real)sqrt(m->dt) * INVERSE_LN2;
  if (!milstein) return *vol * normal - sigma * sigma * ((real)(m->dt / 2) * INVERSE_LN2);
  vwhole beyond = {0};
  const vreal other =
      local_sigma(m, step, time, price * price_ratio(*vol, true), end, scratch, &beyond) + (real)m->shift;
  const vreal c = v_pick(beyond, v_set(0),
                         v_max(v_min((other - sigma) * (real)(sqrt(m->dt) / 2), v_set((real)0.25)), v_set((real)-1)));
  const vreal rest = 1 - 2 * c,
              mean = v_log2(rest) * (real)0.5 - sigma * sigma / rest * ((real)(m->dt / 2) * INVERSE_LN2);
  return *vol * normal + c * normal * normal * INVERSE_LN2 + mean;
}

static inline vreal jump_sum(const option_dynamics *m, const bits4 *w, bool mirrored) {
  const vreal u = v_uniform(w->bits[0]);
  vreal count = v_set(0), z[2];
  for (int k = 0; k < m->jumps; k++) count += v_zero_unless_positive((real)m->above[k] - u, v_set(1));
  two_normals(w->bits[2], w->bits[3], z);
  const vreal spread =
      v_root(v_max(count, v_set((real)1e-30))) * (real)(mirrored ? -m->jump_deviation : m->jump_deviation);
  return v_zero_unless_positive(count, v_fma(spread, z[0], count * (real)m->jump_mean));
}

/* What a step of Heston's model gave: the increment of x without its drift, the deviation, the new variance. */
typedef struct variance_step {
  vreal increment, vol, v;
} variance_step;

/* Returns x after a step and the step's deviation in *vol, for extremes within the step. `variance`, `own`, `jump`:
 * random bits; `shock`: the normal of `variance`, of Heston's model with or without a leverage function; past[steps]:
 * of a rough volatility. `shared`: the same step of a variant with the same volatility; NULL: none. `taken` gets the
 * step.
 */
static inline vreal advance_asset(const option_dynamics *m, const option_variant *v, double spot, bool far, int step,
                                  double time, asset_state *t, vreal drift, vreal normal, vbits variance, vreal shock,
                                  const variance_step *shared, variance_step *taken, const bits4 *jump, int steps,
                                  vbits own, vreal *past, bool milstein, void *scratch, vreal *vol, vwhole *invalid) {
  vreal x = t->x + drift;
  if (m->motion == OPTION_HESTON && shared != NULL) {
    x += shared->increment;
    *vol = shared->vol;
    t->v = shared->v;
  } else if (m->motion == OPTION_HESTON) {
    taken->increment = heston_step(m, t, v->mirrored ? -normal : normal,
                                   v->mirrored ? v_complement(variance) : variance, v->mirrored ? -shock : shock, vol);
    taken->vol = *vol;
    taken->v = t->v;
    x += taken->increment;
  } else if (m->motion == OPTION_LEVERAGE)
    x += leverage_step(m, step, t, v->mirrored ? -normal : normal, v->mirrored ? v_complement(variance) : variance,
                       v->mirrored ? -shock : shock, vol);
  else if (m->motion == OPTION_GEOMETRIC_BROWNIAN)
    x += *vol * normal;
  else if (m->motion == OPTION_SABR)
    x += sabr_step(m, t, v->mirrored ? -normal : normal, v->mirrored ? v_complement(variance) : variance);
  else if (m->motion == OPTION_ROUGH_BERGOMI)
    x += rough_step(m, step, steps, v->mirrored, t, v->mirrored ? -normal : normal, variance, own, past, vol);
  else
    x += local_step(m, step, time, t->x, price_ratio(t->x, far) * (real)spot, v->mirrored ? -normal : normal, milstein,
                    scratch, vol, invalid);
  if (m->jump_halves) x += jump_sum(m, jump + 1, v->mirrored);
  return m->jumps > 0 ? x + jump_sum(m, jump, v->mirrored) : x;
}

#endif
