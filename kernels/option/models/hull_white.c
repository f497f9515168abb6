#include "kernels/option/models/hull_white.h"

#include "kernels/option/payoff/names.h"
#include "kernels/option/scenario/integral.h"
#include "kernels/option/scenario/market.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* B(t) = (1 - exp(-a t))/a. */
static double reach_of(double a, double t) { return a * t > 1e-12 ? -expm1(-a * t) / a : t; }

/* The integral of B over t; the differences cancel for small a t. */
static double reach_integral(double a, double t) {
  const double y = a * t;
  return y > 1e-3 ? (t - reach_of(a, t)) / a : t * t * (0.5 - y / 6 + y * y / 24 - y * y * y / 120);
}

/* The integral of B^2: V for sigma = 1. */
static double reach_square_integral(double a, double t) {
  const double y = a * t;
  if (y > 0.02) return (t - 2 * reach_of(a, t) + reach_of(2 * a, t)) / (a * a);
  return t * t * t * (1. / 3 - y / 4 + 7. / 60 * y * y - y * y * y / 24 + 31. / 2520 * y * y * y * y);
}

static double correlation_of(const option_parameters *p, size_t asset) {
  const sim_doubles *c = &p->hull_white.correlation;
  return c->rows > 0 ? c->data[asset] : 0;
}

/* Solves factor c = covariance for the shares of the assets' normals in e (k = 0) or i (k = 1). An asset that is a
 * combination of earlier ones has no normal of its own. Returns how far it then misses its covariance. */
static double share(const option_parameters *p, const double *factor, double unit, int k, option_rate_step *out) {
  const size_t n = p->assets.count;
  double missed = 0;
  for (size_t i = 0; i < n; i++) {
    double left = correlation_of(p, i) * unit;
    for (size_t j = 0; j < i; j++) left -= factor[i * n + j] * out->asset[j][k];
    const double pivot = factor[i * n + i];
    out->asset[i][k] = pivot > 0 ? left / pivot : 0;
    if (!(pivot > 0)) missed = fmax(missed, fabs(left));
  }
  return missed;
}

/* Refuses correlations of the rate that the assets' own leave no room for, whatever the step: over a long one the
 * normals of rate and assets are less correlated. */
static sim_status check_correlation(const option_parameters *p, const double *factor) {
  const double rounding = 1e-12;
  option_rate_step one = {0};
  const double missed = share(p, factor, 1, 0, &one);
  double left = 1;
  for (size_t i = 0; i < p->assets.count; i++) left -= one.asset[i][0] * one.asset[i][0];
  if (missed > sqrt(rounding) || left < -rounding)
    return sim_fail(SIM_ERR_SCENARIO, "hull_white.correlation: contradicts the correlation of the assets");
  return SIM_OK;
}

static void set_step(const option_parameters *p, const double *factor, double dt, option_rate_step *out) {
  const double a = p->hull_white.reversion, sigma = p->hull_white.sigma, root = sqrt(dt), rounding = 1e-12;
  const double reach = reach_of(a, dt), spread[2] = {reach_of(2 * a, dt), reach_square_integral(a, dt)};
  *out = (option_rate_step){.keep = exp(-a * dt), .reach = reach};
  if (sigma == 0) return;
  /* for sigma = 1: variances of e and i less what the assets' normals give */
  double left[2] = {spread[0], spread[1]}, joint = reach * reach / 2;
  const double units[2] = {reach / root, reach_integral(a, dt) / root};
  for (int k = 0; k < 2; k++) (void)share(p, factor, units[k], k, out);
  for (size_t i = 0; i < p->assets.count; i++) {
    for (int k = 0; k < 2; k++) left[k] -= out->asset[i][k] * out->asset[i][k];
    joint -= out->asset[i][0] * out->asset[i][1];
  }
  out->own[0] = sqrt(fmax(left[0], 0));
  out->own[1] = left[0] > rounding * spread[0] ? joint / out->own[0] : 0;
  out->own[2] = sqrt(fmax(left[1] - out->own[1] * out->own[1], 0));
  for (int k = 0; k < 3; k++) out->own[k] *= sigma;
  for (size_t i = 0; i < p->assets.count; i++)
    for (int k = 0; k < 2; k++) out->asset[i][k] *= sigma;
}

sim_status option_hull_white_steps(const option_parameters *p, const option_grid *grid, const double *factor,
                                   option_rate_step *out, double *rise) {
  const double a = p->hull_white.reversion, square = p->hull_white.sigma * p->hull_white.sigma;
  SIM_TRY(check_correlation(p, factor));
  for (int k = 0; k < grid->kinds; k++) set_step(p, factor, grid->span[k], &out[k]);
  for (int s = 0; s < grid->steps; s++)
    rise[s] = square / 2 * (reach_square_integral(a, grid->time[s + 1]) - reach_square_integral(a, grid->time[s]));
  return SIM_OK;
}

/* ---- rules ---- */

/* Refuses a volatility that changes within a step, where the normals' correlation with the rate's is of one that does
 * not. */
static sim_status check_volatility(const option_parameters *p, int asset, sim_faults *faults) {
  const sim_expr *vol = option_asset_at(p, asset)->vol;
  option_grid grid;
  double lost = 0;
  if (vol == NULL || !sim_expr_depends(vol, 0, 0)) return SIM_OK;
  SIM_TRY(option_grid_create(p, 0, 1, &grid));
  double *sum = calloc(2 * (size_t)grid.steps, sizeof *sum), *square = sum + grid.steps;
  sim_status status = sum != NULL ? option_integrate("vol", vol, OPTION_NOT_NEGATIVE, &grid, sum, square)
                                  : sim_no_memory("the correlation");
  for (int s = 0; s < grid.steps && status == SIM_OK; s++)
    if (square[s] > 0) lost = fmax(lost, 1 - sum[s] * sum[s] / (grid.length[s] * square[s]));
  free(sum);
  option_grid_free(&grid);
  if (status == SIM_OK && lost > OPTION_CORRELATION_LOST)
    sim_faults_add(faults, p->assets.items[asset].line, "hull_white.correlation",
                   "assets[%d].vol changes by %.2g of itself within a step: expected more steps, or one whose values "
                   "jump at the ends of steps",
                   asset + 1, sqrt(lost));
  return status == SIM_ERR_SCENARIO ? SIM_OK : status; /* the volatility's own faults are told elsewhere */
}

static void check_payoffs(const option_parameters *p, sim_faults *faults) {
  option_feature feature;
  char path[64];
  for (size_t i = 0; i < p->payoffs.count; i++) {
    const sim_item *item = &p->payoffs.items[i];
    snprintf(path, sizeof path, "payoffs[%zu]", i + 1);
    if (item->schema == &option_american_schema && ((const option_payoff *)item->data)->upper_paths > 0)
      sim_faults_add(
          faults, item->line, path,
          "upper_paths: the paths from a date on do not know the rate of hull_white: expected no upper_paths");
    if (((const option_payoff *)item->data)->monitoring == OPTION_CONTINUOUS)
      sim_faults_add(faults, item->line, path, "expected monitoring = \"steps\" with hull_white");
  }
  for (int i = 0; p->payoff != NULL && i < sim_expr_input_count(p->payoff); i++)
    if (option_feature_parse(sim_expr_input_name(p->payoff, i), p, &feature) &&
        (feature.kind == OPTION_HIGH || feature.kind == OPTION_LOW)) {
      sim_faults_add(faults, 0, "payoff", "expected path.max and path.min in place of high and low with hull_white");
      break;
    }
}

sim_status option_check_hull_white(const option_parameters *p, sim_faults *faults) {
  const option_hull_white *h = &p->hull_white;
  const size_t n = p->assets.count;
  if (!h->given) return SIM_OK;
  if (h->correlation.rows > 0 && h->correlation.rows != n) {
    sim_faults_add(faults, 0, "hull_white.correlation", "expected %zu numbers, one for each asset, got %zu", n,
                   h->correlation.rows);
    return SIM_OK;
  }
  for (size_t a = 0; a < n; a++) {
    const option_asset *asset = option_asset_at(p, (int)a);
    char path[64];
    snprintf(path, sizeof path, "assets[%zu]", a + 1);
    if (asset->dividends.rows > 0)
      sim_faults_add(faults, p->assets.items[a].line, path, "expected no cash dividends with hull_white");
    if (correlation_of(p, a) == 0) continue;
    if (asset->vol == NULL)
      sim_faults_add(faults, p->assets.items[a].line, path,
                     "hull_white.correlation: expected 0 with this asset, whose model is not vol");
    SIM_TRY(check_volatility(p, (int)a, faults));
  }
  if (p->sampling.control != OPTION_NO_CONTROL)
    sim_faults_add(faults, 0, "sampling.control", "expected \"none\" with hull_white: its mean is not built");
  if (p->greeks.method == OPTION_LIKELIHOOD)
    sim_faults_add(faults, 0, "greeks.method",
                   "expected \"auto\", \"pathwise\" or \"bump\" with hull_white: the first step's density has the rate "
                   "in it");
  check_payoffs(p, faults);
  return SIM_OK;
}
