/* Deviations of prices at maturities. */
#include "kernels/option/models/heston.h"
#include "kernels/option/models/sabr.h"
#include "kernels/option/payoff/builder.h"
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

sim_status option_deviations(const option_parameters *p, int asset, double *out) {
  const option_asset *a = option_asset_at(p, asset);
  const int payoffs = option_payoff_count(p);
  option_grid grid;
  if (a->local_vol != NULL || a->vol_grid.given) {
    const double vol = option_least_volatility(p, asset);
    for (int k = 0; k < payoffs; k++) out[k] = vol * sqrt(option_maturity_of(p, k));
    return SIM_OK;
  }
  SIM_TRY(option_grid_create(p, 0, 1, &grid));
  double *room = calloc(2 * (size_t)grid.steps, sizeof *room), *of = room + grid.steps;
  sim_status status = room != NULL ? variances(a, asset, &grid, room, of) : sim_no_memory("the greeks");
  for (int k = 0; k < payoffs && status == SIM_OK; k++) {
    const int end = option_grid_at(&grid, option_maturity_of(p, k));
    double sum = 0;
    for (int s = 0; s < end; s++) sum += of[s];
    out[k] = sqrt(sum);
  }
  free(room);
  option_grid_free(&grid);
  return status;
}
