/* Second derivatives from the density of the first step. Symbols, of asset a: S spot, m and v mean and deviation of the
 * logarithm x of the first step's price over the spot, w = (x - m)/v, q_a = sum_b W_ab (x_b - m_b) with W the inverse
 * of the covariance. A prime is the derivative by a parameter of the asset: its volatility, or the maturity.
 *
 * The score by the spot is s = q/S, that by a parameter r = q (m' + v' w) - v'/v. Of a payoff Y that may jump, of one
 * asset (Broadie and Glasserman, Management Science 42 (1996) 269): gamma is the mean of Y (s^2 - s/S - 1/(v S)^2), the
 * derivative of delta by the parameter that of Y (s r - (m' + 2 w v')/(v^2 S)), volga that of Y (r^2 + r').
 * Of a payoff without jumps, from derivatives along the path: D by a spot, V by the parameter. Both are functions of
 * the first prices and of what follows, and V depends on the spot of its own asset beside, by w: gamma is the mean of
 * D s - D/S, the cross gamma of a and b that of (D_a s_b + D_b s_a)/2, the derivative of V by the spot that of
 * V s - D v'/v. */
#include "kernels/option/payoff/score.h"

#include <math.h>
#include <stdlib.h>

#define LN2 0.69314718055994530942

static sim_expr_ref op2(option_builder *m, sim_expr_op op, sim_expr_ref a, sim_expr_ref b) {
  return option_builder_call(m, op, a, b, 0);
}
static sim_expr_ref number(option_builder *m, double value) { return option_builder_number(m, value); }
static sim_expr_ref mul(option_builder *m, sim_expr_ref a, sim_expr_ref b) { return op2(m, SIM_EXPR_MUL, a, b); }
static sim_expr_ref times(option_builder *m, double factor, sim_expr_ref a) { return mul(m, a, number(m, factor)); }

/* a w^2 + b w + c */
static sim_expr_ref quadratic(option_builder *m, sim_expr_ref w, double a, double b, double c) {
  sim_expr_ref sum = op2(m, SIM_EXPR_ADD, times(m, a, w), number(m, b));
  return op2(m, SIM_EXPR_ADD, mul(m, sum, w), number(m, c));
}

/* ---- the law of the first step ---- */

/* W from the factor of the correlation; false where that is singular. */
static bool invert(const double *l, size_t n, const double *vol, double *out) {
  bool regular = true;
  for (size_t a = 0; a < n && regular; a++) {
    double *z = out + a * n;
    regular = l[a * n + a] > 0;
    for (size_t i = 0; i < n && regular; i++) {
      z[i] = i == a;
      for (size_t k = 0; k < i; k++) z[i] -= l[i * n + k] * z[k];
      regular = l[i * n + i] > 0;
      z[i] /= l[i * n + i];
    }
    for (size_t i = n; i-- > 0 && regular;) {
      for (size_t k = i + 1; k < n; k++) z[i] -= l[k * n + i] * z[k];
      z[i] /= l[i * n + i];
    }
    for (size_t i = 0; i < n; i++) z[i] /= vol[a] * vol[i];
  }
  return regular;
}

/* Derivatives of mean and vol. Of the square of vol, the integral of (sigma + shift)^2, the second derivative by the
 * shift is twice the step's length, and mean has half of that square. */
static sim_status differentiate(const option_builder *m, const option_parameters *p, int a, option_first_step *out) {
  const int steps = m->market->steps;
  const double length = m->market->grid.length[0], v = out->vol[a];
  double *slope = calloc(2 * (size_t)steps, sizeof *slope);
  if (slope == NULL) return sim_no_memory("the greeks");
  sim_status status = SIM_OK;
  if (p->greeks.want[OPTION_VANNA] || p->greeks.want[OPTION_VOLGA]) {
    status = option_market_slope(p, OPTION_VEGA, a, slope, NULL);
    out->mean_vega[a] = slope[0];
    out->vol_vega[a] = slope[steps];
    out->mean_volga[a] = -length;
    out->vol_volga[a] = (length - slope[steps] * slope[steps]) / v;
  }
  if (status == SIM_OK && p->greeks.want[OPTION_CHARM]) {
    status = option_market_slope(p, OPTION_THETA, a, slope, NULL);
    out->mean_theta[a] = slope[0];
    out->vol_theta[a] = slope[steps];
  }
  free(slope);
  return status;
}

sim_status option_first_step_find(const option_builder *m, const option_parameters *p, option_first_step *out,
                                  bool *known) {
  const size_t n = p->assets.count;
  double l[OPTION_SCORED_MAX * OPTION_SCORED_MAX] = {0};
  *known = n <= OPTION_SCORED_MAX && !p->hull_white.given;
  *out = (option_first_step){.assets = (int)n};
  for (size_t a = 0; a < n && *known; a++) {
    *known = option_asset_is_gbm(option_asset_at(p, (int)a)) && m->market->vol[a] > 0;
    out->mean[a] = m->market->drift[a] * LN2;
    out->vol[a] = m->market->vol[a] * LN2;
    out->spot[a] = m->market->spot[a];
  }
  if (!*known) return SIM_OK;
  SIM_TRY(option_cholesky(p, l));
  *known = invert(l, n, out->vol, out->weight);
  for (size_t a = 0; a < n && *known; a++) SIM_TRY(differentiate(m, p, (int)a, out));
  return SIM_OK;
}

/* D of a payoff with a kink times s has a variance that grows as W/S^2, its differences at steps of a tenth of the
 * deviation d at the maturity one as 1/(d S)^2. Measured for calls and exchanges of 1 to 12 steps, both have the same
 * error where W d^2 is 3 to 5. */
bool option_first_step_is_long(const option_first_step *step, const double *deviation) {
  bool is_long = true;
  for (int a = 0; a < step->assets; a++)
    is_long &= step->weight[a * step->assets + a] * deviation[a] * deviation[a] <= 4;
  return is_long;
}

/* ---- scores ---- */

/* x - m of an asset. */
static sim_expr_ref deviation(option_builder *m, const option_first_step *step, int asset) {
  sim_expr_ref ratio = times(m, 1 / step->spot[asset], option_price_at(m, asset, 1));
  return op2(m, SIM_EXPR_SUB, option_builder_call(m, SIM_EXPR_LOG, ratio, 0, 0), number(m, step->mean[asset]));
}

static sim_expr_ref normal(option_builder *m, const option_first_step *step, int asset) {
  return times(m, 1 / step->vol[asset], deviation(m, step, asset));
}

sim_expr_ref option_score(option_builder *m, const option_first_step *step, int asset) {
  const int n = step->assets;
  sim_expr_ref sum = number(m, 0);
  for (int b = 0; b < n; b++) {
    sim_expr_ref part = times(m, step->weight[asset * n + b] / step->spot[asset], deviation(m, step, b));
    sum = b == 0 ? part : op2(m, SIM_EXPR_ADD, sum, part);
  }
  return sum;
}

/* s^2 - s/S - 1/(v S)^2 */
static sim_expr_ref second_score(option_builder *m, const option_first_step *step) {
  const double v = step->vol[0], spot = step->spot[0];
  sim_expr_ref s = option_score(m, step, 0);
  sim_expr_ref product = mul(m, s, op2(m, SIM_EXPR_SUB, s, number(m, 1 / spot)));
  return op2(m, SIM_EXPR_SUB, product, number(m, 1 / (v * v * spot * spot)));
}

sim_expr_ref option_score_weight(option_builder *m, const option_first_step *step, int greek) {
  if (greek == OPTION_GAMMA) return second_score(m, step);
  const double v = step->vol[0], spot = step->spot[0];
  const bool by_time = greek == OPTION_CHARM;
  const double dm = by_time ? step->mean_theta[0] : step->mean_vega[0],
               dv = by_time ? step->vol_theta[0] : step->vol_vega[0];
  sim_expr_ref w = normal(m, step, 0), r = quadratic(m, w, dv / v, dm / v, -dv / v);
  if (greek == OPTION_VOLGA) {
    /* r' = (d2m w + d2v w^2 - d2v)/v - (dm w + dv w^2 - dv) dv/v^2 + (dm + 2 w dv) w'/v, w' = -(dm + dv w)/v */
    const double d2m = step->mean_volga[0], d2v = step->vol_volga[0], v2 = v * v;
    sim_expr_ref change =
        quadratic(m, w, d2v / v - 3 * dv * dv / v2, d2m / v - 4 * dm * dv / v2, dv * dv / v2 - d2v / v - dm * dm / v2);
    return op2(m, SIM_EXPR_ADD, mul(m, r, r), change);
  }
  sim_expr_ref s = times(m, 1 / (v * spot), w);
  sim_expr_ref moved = quadratic(m, w, 0, 2 * dv / (v * v * spot), dm / (v * v * spot));
  return op2(m, SIM_EXPR_SUB, mul(m, s, r), moved);
}

sim_expr_ref option_mixed(option_builder *m, const option_first_step *step, int greek, int a, int second,
                          const option_slopes *slopes) {
  const double v = step->vol[a];
  sim_expr_ref s = option_score(m, step, a), other;
  switch (greek) {
  case OPTION_GAMMA: return mul(m, slopes->delta[a], op2(m, SIM_EXPR_SUB, s, number(m, 1 / step->spot[a])));
  case OPTION_CROSS_GAMMA:
    other = mul(m, slopes->delta[a], option_score(m, step, second));
    return times(m, 0.5, op2(m, SIM_EXPR_ADD, other, mul(m, slopes->delta[second], s)));
  case OPTION_VANNA:
    return op2(m, SIM_EXPR_SUB, mul(m, slopes->vega[a], s), times(m, step->vol_vega[a] / v, slopes->delta[a]));
  default: return op2(m, SIM_EXPR_SUB, mul(m, slopes->theta, s), times(m, step->vol_theta[a] / v, slopes->delta[a]));
  }
}
