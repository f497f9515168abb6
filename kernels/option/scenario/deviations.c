/* Deviations of prices: at maturities, at dates of early exercise, and of ratios of two prices. */
#include "kernels/option/models/heston.h"
#include "kernels/option/models/sabr.h"
#include "kernels/option/payoff/builder.h"
#include "kernels/option/payoff/exercise.h"
#include "kernels/option/payoff/names.h"
#include "kernels/option/scenario/integral.h"

#include <math.h>
#include <stdlib.h>

/* Integrals of Heston's expected variance over the steps. */
static sim_status heston_variances(const option_heston *h, int asset, const option_grid *grid, double *out) {
  option_heston_step *kind = malloc((size_t)grid->kinds * sizeof *kind);
  double v = h->v;
  if (kind == NULL) return sim_no_memory("Heston's parameters");
  const sim_status status = option_heston_steps(h, asset, grid, 0, kind);
  for (int s = 0; s < grid->steps && status == SIM_OK; s++) {
    const option_heston_step *of = &kind[grid->kind[s]];
    const double gone = -expm1(-of->kappa * grid->length[s]), away = v - of->theta;
    out[s] = of->theta * grid->length[s] + away * gone / of->kappa;
    v -= away * gone;
  }
  free(kind);
  return status;
}

/* The same of SABR's sigma, with the price at the spot. */
static void sabr_variances(const option_asset *a, const option_grid *grid, double *out) {
  const double vol = option_sabr_volatility(a), nu = a->sabr.nu;
  for (int s = 0; s < grid->steps; s++) {
    const double t = grid->time[s], dt = grid->length[s], grown = nu * nu * dt;
    out[s] = vol * vol * exp(nu * nu * t) * dt * (grown > 0 ? expm1(grown) / grown : 1);
  }
}

/* Volatility of a grid at the spot and one of its times. */
static double grid_volatility(const option_asset *asset, size_t time) {
  const option_vol_grid *g = &asset->vol_grid;
  const size_t n = g->spots.rows;
  const double *spot = g->spots.data, *vol = g->vols.data + time * n;
  size_t k = 0;
  while (k + 2 < n && spot[k + 1] <= asset->spot) k++;
  if (n < 2) return vol[0];
  const double share = fmin(fmax((asset->spot - spot[k]) / (spot[k + 1] - spot[k]), 0), 1);
  return vol[k] + share * (vol[k + 1] - vol[k]);
}

/* Integrals over the steps of the variance, which of a random one is its mean. */
static sim_status variances(const option_asset *a, int asset, const option_grid *grid, double *room, double *out) {
  if (a->vol != NULL) return option_integrate("vol", a->vol, OPTION_NOT_NEGATIVE, grid, room, out);
  if (a->rough_bergomi.given)
    return option_integrate("rough_bergomi.xi", a->rough_bergomi.xi, OPTION_POSITIVE, grid, out, NULL);
  if (a->sabr.given) {
    sabr_variances(a, grid, out);
    return SIM_OK;
  }
  return heston_variances(&a->heston, asset, grid, out);
}

double option_least_volatility(const option_parameters *p, int asset) {
  const option_asset *a = option_asset_at(p, asset);
  option_grid grid;
  double least = INFINITY;
  if (a->local_vol != NULL && option_local_vol(a->local_vol, a->spot, 0, &least) != SIM_OK) return INFINITY;
  for (size_t k = 0; a->vol_grid.given && k < a->vol_grid.times.rows; k++) {
    const double vol = grid_volatility(a, k);
    if (vol > 0) least = fmin(least, vol);
  }
  if (a->local_vol != NULL || a->vol_grid.given) return least > 0 ? least : INFINITY;
  if (option_grid_create(p, 0, 1, &grid) != SIM_OK) return INFINITY;
  double *room = calloc(2 * (size_t)grid.steps, sizeof *room), *of = room + grid.steps;
  const bool known = room != NULL && variances(a, asset, &grid, room, of) == SIM_OK;
  for (int k = 0; known && k < option_payoff_count(p); k++) {
    const int end = option_grid_at(&grid, option_maturity_of(p, k));
    double sum = 0;
    for (int s = 0; s < end; s++) sum += of[s];
    if (end > 0) least = fmin(least, sqrt(sum / grid.time[end]));
  }
  free(room);
  option_grid_free(&grid);
  return least;
}

/* Deviations of the logarithm of an asset's price at ascending times: out[count]. */
static sim_status deviations_at(const option_parameters *p, int asset, const double *time, size_t count, double *out) {
  const option_asset *a = option_asset_at(p, asset);
  option_grid grid;
  if (a->local_vol != NULL || a->vol_grid.given) {
    const double vol = option_least_volatility(p, asset);
    for (size_t k = 0; k < count; k++) out[k] = vol * sqrt(time[k]);
    return SIM_OK;
  }
  SIM_TRY(option_grid_create(p, 0, 1, &grid));
  double *room = calloc(2 * (size_t)grid.steps, sizeof *room), *of = room + grid.steps;
  sim_status status = room != NULL ? variances(a, asset, &grid, room, of) : sim_no_memory("the greeks");
  for (size_t k = 0; k < count && status == SIM_OK; k++) {
    const int end = option_grid_at(&grid, time[k]);
    double sum = 0;
    for (int s = 0; s < end; s++) sum += of[s];
    out[k] = sqrt(sum);
  }
  free(room);
  option_grid_free(&grid);
  return status;
}

sim_status option_deviations(const option_parameters *p, int asset, double *out) {
  double time[OPTION_PAYOFFS_MAX];
  const int payoffs = option_payoff_count(p);
  for (int k = 0; k < payoffs; k++) time[k] = option_maturity_of(p, k);
  return deviations_at(p, asset, time, (size_t)payoffs, out);
}

double option_exercise_time(const option_parameters *p, const option_payoff *o, size_t date) {
  return o->dates.rows > 0 ? o->dates.data[date]
                           : (double)(date + 1) * (double)o->every * p->maturity / (double)p->steps;
}

double option_exercise_deviation(const option_parameters *p, int asset) {
  double least = INFINITY;
  for (size_t i = 0; i < p->payoffs.count; i++) {
    const option_payoff *o = p->payoffs.items[i].data;
    if (p->payoffs.items[i].schema != &option_american_schema) continue;
    double deviation = 0;
    for (size_t d = 0; d < option_date_count(p, o) && !(deviation > 0); d++) {
      const double time = option_exercise_time(p, o, d);
      if (deviations_at(p, asset, &time, 1, &deviation) != SIM_OK) return INFINITY;
    }
    if (deviation > 0) least = fmin(least, deviation);
  }
  return least;
}

/* ---- where nothing smooths a kink ---- */

/* The named payoff, or NULL of a result of the function. */
static const sim_item *item_of(const option_parameters *p, int payoff) {
  const int named = payoff - (option_payoff_count(p) - (int)p->payoffs.count);
  return named >= 0 ? &p->payoffs.items[named] : NULL;
}

/* Whether a payoff may have a kink where the prices of two of its assets are in one ratio. NULL: a function. */
static bool compares(const sim_item *item) {
  if (item == NULL) return true;
  const option_payoff *o = item->data;
  return item->schema == &option_best_of_schema || item->schema == &option_worst_of_schema ||
         item->schema == &option_spread_schema ||
         (item->schema == &option_american_schema &&
          (o->on == OPTION_ON_BEST || o->on == OPTION_ON_WORST || o->exercise != NULL));
}

/* Deviation of the logarithm of the ratio of two prices at a time; INFINITY: not known, or too large to matter. */
static double ratio_deviation(const option_parameters *p, int a, int b, double time) {
  const option_asset *one = option_asset_at(p, a), *other = option_asset_at(p, b);
  const double correlation = p->correlation.rows > 0 ? p->correlation.data[(size_t)a * p->assets.count + (size_t)b] : 0;
  option_grid grid;
  double square = 0, all = 0;
  if (!(correlation > 0.8) || one->local_vol != NULL || one->vol_grid.given || other->local_vol != NULL ||
      other->vol_grid.given || one->jumps.given || other->jumps.given || option_grid_create(p, 0, 1, &grid) != SIM_OK)
    return INFINITY;
  const size_t steps = (size_t)grid.steps;
  double *room = calloc(3 * steps, sizeof *room), *first = room + steps, *second = first + steps;
  const bool known = room != NULL && variances(one, a, &grid, room, first) == SIM_OK &&
                     variances(other, b, &grid, room, second) == SIM_OK;
  const int end = option_grid_at(&grid, time);
  for (int s = 0; s < end && known; s++) {
    square += pow(sqrt(first[s]) - sqrt(second[s]), 2) + 2 * (1 - correlation) * sqrt(first[s] * second[s]);
    all += first[s] + second[s];
  }
  free(room);
  option_grid_free(&grid);
  return !known ? INFINITY : square > 1e-12 * all ? sqrt(square) : 0;
}

double option_ratio_deviation(const option_parameters *p, int payoff, int asset, int *other) {
  double least = INFINITY;
  if (!compares(item_of(p, payoff)) || !option_payoff_sees(p, payoff, asset)) return least;
  for (int b = 0; b < (int)p->assets.count; b++) {
    if (b == asset || !option_payoff_sees(p, payoff, b)) continue;
    const double deviation = ratio_deviation(p, asset, b, option_maturity_of(p, payoff));
    if (!(deviation < least)) continue;
    least = deviation;
    if (other != NULL) *other = b;
  }
  return least;
}

/* Whether the forward prices of two assets whose ratio is certain are so near each other that steps of the spots may
 * lead past the ratio 1. */
static bool may_cross(const option_parameters *p, const option_market *m, int payoff, int a, int b) {
  const sim_item *item = item_of(p, payoff);
  if (item != NULL && item->schema == &option_spread_schema && ((const option_payoff *)item->data)->strike != 0)
    return false;
  const int at = (option_steps_until(m, option_maturity_of(p, payoff)) - 1) * m->assets;
  const double log_ratio = log(m->spot[a] / m->spot[b]) + m->growth[at + a] - m->growth[at + b];
  return fabs(log_ratio) < 0.1; /* two steps of 2 % of each spot */
}

bool option_has_kink(const option_parameters *p, const option_market *market, int payoff) {
  const sim_item *item = item_of(p, payoff);
  const bool early = item != NULL && item->schema == &option_american_schema;
  const double time = early ? option_exercise_time(p, item->data, 0) : option_maturity_of(p, payoff);
  bool random = false;
  for (int a = 0; a < market->assets; a++) {
    double deviation = 0;
    int other;
    if (!option_payoff_sees(p, payoff, a)) continue;
    random |= option_asset_at(p, a)->jumps.given;
    if (deviations_at(p, a, &time, 1, &deviation) != SIM_OK || deviation > 0) random = true;
    if (option_ratio_deviation(p, payoff, a, &other) == 0 && may_cross(p, market, payoff, a, other)) return true;
  }
  return !random;
}
