/* Bumped markets, and derivatives of a market by finite differences. */
#include "kernels/option/models/heston.h"
#include "kernels/option/payoff/builder.h"

#include <math.h>

/* Largest share of a volatility that a difference changes it by: its error is below (d^2 VOL_SHARE)^2/6 of the Greek of
 * a payoff at d deviations from the mean, 0.5 % for d = 3. */
#define VOL_SHARE 0.02

/* Root mean square of `vol` until each payoff's maturity; the least of them. */
static double least_deterministic(const option_parameters *p, int asset) {
  const double ln2 = 0.69314718055994530942;
  option_market market;
  double least = INFINITY;
  if (option_market_create(p, NULL, &market) != SIM_OK) return least;
  for (int k = 0; k < option_payoff_count(p); k++) {
    const int end = option_steps_until(&market, option_maturity_of(p, k));
    double variance = 0;
    for (int s = 0; s < end; s++) {
      const double vol = market.vol[s * market.assets + asset] * ln2;
      variance += vol * vol;
    }
    least = fmin(least, sqrt(variance / market.grid.time[end]));
  }
  option_market_free(&market);
  return least;
}

double option_least_volatility(const option_parameters *p, int asset) {
  const option_asset *a = option_asset_at(p, asset);
  const option_heston *h = &a->heston;
  double least = INFINITY;
  if (a->vol != NULL) return least_deterministic(p, asset);
  if (h->given) {
    const double theta = option_least_in_time(h->theta, p->maturity);
    return sqrt(h->v > 0 ? fmin(h->v, theta) : theta);
  }
  if (a->rough_bergomi.given) return sqrt(option_least_in_time(a->rough_bergomi.xi, p->maturity));
  if (a->local_vol != NULL && option_local_vol(a->local_vol, a->spot, 0, &least) != SIM_OK) return INFINITY;
  for (size_t k = 0; a->vol_grid.given && k < a->vol_grid.vols.rows; k++)
    if (a->vol_grid.vols.data[k] > 0) least = fmin(least, a->vol_grid.vols.data[k]);
  return least > 0 ? least : INFINITY;
}

option_bump option_bump_of(const option_parameters *p, int greek, int asset, double *width) {
  option_bump bump = {.asset = asset};
  /* Of a maturity in days or minutes, changes of the whole time until then: at most 1 % of the forward, or of the
   * deviation of its logarithm. */
  const double rate = fmin(1e-3, 1e-2 / p->maturity), vol = fmin(1e-3, 1e-2 / sqrt(p->maturity));
  const double stretch = p->greeks.stretch > 0 ? p->greeks.stretch : 1;
  switch (greek) {
  case OPTION_DELTA: *width = 2 * (bump.spot = 1e-3 * stretch) * option_asset_at(p, asset)->spot; break;
  case OPTION_GAMMA: *width = (bump.spot = 1e-2 * stretch) * option_asset_at(p, asset)->spot; break;
  case OPTION_VEGA: *width = 2 * (bump.vol = stretch * fmin(vol, VOL_SHARE * option_least_volatility(p, asset))); break;
  case OPTION_RHO: *width = 2 * (bump.rate = rate * stretch); break;
  default: *width = -2 * (bump.maturity = fmin(1e-3 * stretch * p->maturity, option_first_date(p) / 2)); break;
  }
  return bump;
}

/* A market that differs by a small fraction of the bump: derivatives are exact to 1e-9. */
sim_status option_market_near(const option_parameters *p, int greek, int asset, double share, double *width,
                              option_market *out) {
  option_bump bump = option_bump_of(p, greek, asset, width);
  bump.spot *= share;
  bump.vol *= share;
  bump.rate *= share;
  bump.maturity *= share;
  return option_market_create(p, &bump, out);
}

/* Derivatives of drift and vol of every step: out[2][steps], in natural logarithms; and of the logarithms of bonds. */
sim_status option_market_slope(const option_parameters *p, int greek, int asset, double *out, double *bond) {
  const double share = 0.1, ln2 = 0.69314718055994530942;
  option_market above, below = {0};
  double width;
  SIM_TRY(option_market_near(p, greek, asset, share, &width, &above));
  const sim_status status = option_market_near(p, greek, asset, -share, &width, &below);
  width = fabs(width) * share;
  for (int s = 0; status == SIM_OK && out != NULL && s < above.steps; s++) {
    const int i = s * above.assets + asset;
    out[s] = (above.drift[i] - below.drift[i]) / width * ln2;
    out[above.steps + s] = (above.vol[i] - below.vol[i]) / width * ln2;
  }
  for (int s = 0; status == SIM_OK && bond != NULL && s < above.steps; s++)
    bond[s] = log(above.bond[s] / below.bond[s]) / width;
  option_market_free(&above);
  option_market_free(&below);
  return status;
}
