/* Market data of the path kernels: exact steps of correlated geometric Brownian motions. */
#include "kernels/option/models/hull_white.h"
#include "kernels/option/scenario/bucket.h"
#include "kernels/option/scenario/integral.h"
#include "kernels/option/scenario/market.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Integrals over each step: [steps]. */
typedef struct integrals {
  double *rate, *dividend, *vol, *squares; /* squares: of vol */
  double *hat, *hat_vol, *hat_squares;     /* of the hat function of a bucket, times vol, its square */
  double *foreign;                         /* interest rate of the asset's currency */
} integrals;

static sim_status integrate_asset(const option_asset *asset, int number, const option_grid *grid, const integrals *of) {
  char name[64];
  for (int s = 0; s < grid->steps; s++) of->vol[s] = of->squares[s] = 0;
  snprintf(name, sizeof name, "assets[%d].vol", number + 1);
  if (asset->vol != NULL) SIM_TRY(option_integrate(name, asset->vol, OPTION_NOT_NEGATIVE, grid, of->vol, of->squares));
  snprintf(name, sizeof name, "assets[%d].dividend", number + 1);
  return option_integrate(name, asset->dividend, OPTION_FINITE, grid, of->dividend, NULL);
}

/* Cash dividends at the ends of their steps. */
static sim_status fill_cash(const option_parameters *p, option_market *out) {
  bool any = false;
  for (int a = 0; a < out->assets; a++) any |= option_asset_at(p, a)->dividends.rows > 0;
  if (!any || out->parts > 1) return SIM_OK;
  out->cash = calloc((size_t)out->assets * (size_t)out->steps, sizeof *out->cash);
  if (out->cash == NULL) return sim_no_memory("the market");
  for (int a = 0; a < out->assets; a++) {
    const sim_doubles *cash = &option_asset_at(p, a)->dividends;
    for (size_t k = 0; k < cash->rows; k++)
      out->cash[(option_grid_at(&out->unmoved, cash->data[2 * k]) - 1) * out->assets + a] += cash->data[2 * k + 1];
  }
  return SIM_OK;
}

/* Assets in another currency move in the market of the run's: their drift is lowered by the covariance with the rate of
 * exchange (Reiner, Risk 5 (1992) 59). The covariance is that of the normals of a step. */
static void exchange(const option_parameters *p, option_market *out) {
  const double ln2 = 0.69314718055994530942;
  const size_t n = p->assets.count;
  for (size_t a = 0; a < n; a++) {
    const option_asset *asset = option_asset_at(p, (int)a);
    if (asset->currency == 0) continue;
    const size_t by = (size_t)asset->currency - 1;
    const double correlation = p->correlation.rows > 0 ? p->correlation.data[a * n + by] : 0;
    double lost = 0;
    for (size_t s = 0; s < (size_t)out->steps; s++) {
      const double deviation = correlation * out->vol[s * n + by] * ln2;
      if (asset->vol == NULL) {
        out->tilt[s * n + a] = deviation;
        continue;
      }
      const double covariance = deviation * out->vol[s * n + a] * ln2;
      out->drift[s * n + a] -= covariance / ln2;
      out->growth[s * n + a] -= lost += covariance;
    }
  }
}

/* The interest rate that an asset grows with. */
static sim_status rate_of(const option_parameters *p, const option_asset *asset, const option_grid *grid,
                          const integrals *of, const double **out) {
  char name[64];
  *out = of->rate;
  if (asset->currency == 0) return SIM_OK;
  *out = of->foreign;
  snprintf(name, sizeof name, "assets[%d].dividend", (int)asset->currency);
  return option_integrate(name, option_asset_at(p, (int)asset->currency - 1)->dividend, OPTION_FINITE, grid,
                          of->foreign, NULL);
}

static sim_status fill(const option_parameters *p, const option_bump *bump, const integrals *of, option_market *out) {
  const double *length = out->grid.length;
  const double ln2 = 0.69314718055994530942;
  SIM_TRY(option_integrate("rate", p->rate, OPTION_FINITE, &out->grid, of->rate, NULL));
  const bool bucket = bump->bucket > 0, by_rate = bucket && bump->rate != 0;
  const option_hat rate_hat = {of->hat, NULL, NULL}, vol_hat = {NULL, of->hat_vol, of->hat_squares};
  if (by_rate) SIM_TRY(option_bucket_integrate(p, OPTION_RHO_BUCKET, bump->bucket - 1, &out->grid, &rate_hat));
  double all = 0;
  for (int s = 0; s < out->steps; s++) {
    of->rate[s] += bump->rate * (by_rate ? of->hat[s] : length[s]);
    all += of->rate[s];
    out->bond[s] = exp(-all);
  }
  out->discount = exp(-all);
  for (int a = 0; a < out->assets; a++) {
    const option_asset *asset = option_asset_at(p, a);
    const double shift = option_bump_vol(bump, a), more = asset->vol != NULL ? shift : 0;
    out->spot[a] = asset->spot * (1 + option_bump_spot(bump, a)) * (bump->factor != NULL ? bump->factor[a] : 1);
    SIM_TRY(integrate_asset(asset, a, &out->grid, of));
    const double *rate;
    SIM_TRY(rate_of(p, asset, &out->grid, of, &rate));
    const bool by_vol = bucket && more != 0;
    if (by_vol) SIM_TRY(option_bucket_integrate(p, OPTION_VEGA_BUCKET, bump->bucket - 1, &out->grid, &vol_hat));
    const double *first = by_vol ? of->hat_vol : of->vol, *second = by_vol ? of->hat_squares : length;
    double grown = 0;
    for (int s = 0; s < out->steps; s++) {
      const double growth = rate[s] - of->dividend[s];
      const double variance = fmax(of->squares[s] + 2 * more * first[s] + more * more * second[s], 0);
      out->growth[s * out->assets + a] = grown += growth;
      out->drift[s * out->assets + a] = (growth - variance / 2 - option_jump_drift(asset) * length[s]) / ln2;
      out->vol[s * out->assets + a] = sqrt(variance) / ln2;
    }
    if (out->dynamics != NULL)
      SIM_TRY(option_dynamics_set(asset, a, &out->grid, out->spot[a], shift, out->assets, &out->dynamics[a]));
  }
  exchange(p, out);
  return fill_cash(p, out);
}

/* The steps of a random rate. */
static sim_status fill_rates(const option_parameters *p, option_market *out) {
  const size_t n = p->assets.count, kinds = (size_t)out->grid.kinds;
  if (!p->hull_white.given) return SIM_OK;
  double *factor = calloc(n * n, sizeof *factor);
  out->rates = calloc(1, kinds * sizeof *out->rates + (size_t)out->steps * sizeof *out->rise);
  out->rise = (double *)(void *)(out->rates + kinds);
  sim_status status = factor != NULL && out->rates != NULL ? option_cholesky(p, factor) : sim_no_memory("the market");
  if (status == SIM_OK) status = option_hull_white_steps(p, &out->grid, factor, out->rates, out->rise);
  free(factor);
  return status;
}

sim_status option_market_create(const option_parameters *p, const option_bump *bump, option_market *out) {
  const option_bump none = {.asset = OPTION_NO_ASSET};
  if (bump == NULL) bump = &none;
  *out = (option_market){.assets = (int)p->assets.count, .parts = bump->parts > 0 ? bump->parts : 1};
  SIM_TRY(option_grid_create(p, bump->maturity, out->parts, &out->grid));
  sim_status status = option_grid_create(p, 0, out->parts, &out->unmoved);
  out->steps = out->grid.steps;
  const size_t numbers = (size_t)out->assets * (size_t)out->steps, steps = (size_t)out->steps;
  out->spot = calloc((size_t)out->assets + 3 * numbers + steps, sizeof(double));
  double *room = calloc(8 * steps, sizeof(double));
  bool moved = p->hull_white.given, tilted = false;
  for (int a = 0; a < out->assets; a++) {
    const option_asset *asset = option_asset_at(p, a);
    moved |= asset->vol == NULL || asset->jumps.given;
    tilted |= asset->vol == NULL && asset->currency > 0;
  }
  if (tilted) out->tilt = calloc(numbers, sizeof *out->tilt);
  if (moved) out->dynamics = calloc((size_t)out->assets * (size_t)out->grid.kinds, sizeof *out->dynamics);
  if (status == SIM_OK &&
      (out->spot == NULL || room == NULL || (moved && out->dynamics == NULL) || (tilted && out->tilt == NULL))) {
    status = sim_no_memory("the market");
  } else if (status == SIM_OK) {
    out->drift = out->spot + out->assets;
    out->vol = out->drift + numbers;
    out->bond = out->vol + numbers;
    out->growth = out->bond + out->steps;
    const integrals of = {room,
                          room + steps,
                          room + 2 * steps,
                          room + 3 * steps,
                          room + 4 * steps,
                          room + 5 * steps,
                          room + 6 * steps,
                          room + 7 * steps};
    status = fill(p, bump, &of, out);
    if (status == SIM_OK) status = fill_rates(p, out);
  }
  free(room);
  if (status != SIM_OK) option_market_free(out);
  return status;
}

void option_market_free(option_market *market) {
  for (int a = 0; market->dynamics != NULL && a < market->assets; a++) option_dynamics_free(&market->dynamics[a]);
  free(market->dynamics);
  free(market->cash);
  free(market->tilt);
  free(market->rates);
  option_grid_free(&market->grid);
  option_grid_free(&market->unmoved);
  free(market->spot);
  *market = (option_market){0};
}

/* Where a pivot vanishes, the asset is a combination of the earlier ones and takes no normal of its own: the rest of
 * its column must vanish too and is dropped, and its row is scaled to length 1. A pivot vanishes when it is within
 * rounding: a sum of n squares of at most 1 is off by n eps. Larger pivots count, however small: a spread of assets
 * of correlation 1 - 1e-14 is worth 1e-7 of a spread of independent ones. Slightly negative pivots, as from input
 * rounded to 12 digits, are accepted. */
sim_status option_cholesky(const option_parameters *p, double *out) {
  const double rounding = 1e-12;
  const size_t n = p->assets.count;
  const double least = 16 * (double)n * DBL_EPSILON;
  const double *c = p->correlation.data;
  for (size_t j = 0; j < n; j++)
    for (size_t i = j; i < n; i++) {
      double sum = c != NULL && p->correlation.rows > 0 ? c[i * n + j] : i == j;
      for (size_t k = 0; k < j; k++) sum -= out[i * n + k] * out[j * n + k];
      const bool mixture = out[j * n + j] == 0;
      if (i == j ? sum < -rounding : mixture && fabs(sum) > sqrt(rounding))
        return sim_fail(SIM_ERR_SCENARIO,
                        "correlation: expected a matrix without negative eigenvalues, got one that contradicts itself "
                        "in its first %zu rows",
                        i + 1);
      if (i == j) {
        out[i * n + j] = sum > least ? sqrt(sum) : 0;
        for (size_t k = 0; k < j && sum <= least; k++) out[i * n + k] /= sqrt(1 - sum);
      } else
        out[i * n + j] = mixture ? 0 : sum / out[j * n + j];
    }
  return SIM_OK;
}

static double normal_below(double x) { return 0.5 * erfc(-x * 0.70710678118654752440); }

double option_lognormal_price(double mean, double deviation, double strike, option_type type) {
  const double forward = exp(mean + deviation * deviation / 2), sign = type == OPTION_CALL ? 1 : -1;
  if (!(deviation > 0) || !(strike > 0)) return fmax(sign * (forward - strike), 0);
  const double d2 = (mean - log(strike)) / deviation;
  return sign * (forward * normal_below(sign * (d2 + deviation)) - strike * normal_below(sign * d2));
}
