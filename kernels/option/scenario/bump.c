/* Bumped markets, and derivatives of a market by finite differences. */
#include "kernels/option/scenario/market.h"

#include <math.h>

option_bump option_bump_of(const option_parameters *p, int greek, int asset, double *width) {
  option_bump bump = {.asset = asset};
  /* Of a maturity in days or minutes, changes of the whole time until then: at most 1 % of the forward, or of the
   * deviation of its logarithm. */
  const double rate = fmin(1e-3, 1e-2 / p->maturity), vol = fmin(1e-3, 1e-2 / sqrt(p->maturity));
  switch (greek) {
  case OPTION_DELTA: *width = 2 * (bump.spot = 1e-3) * option_asset_at(p, asset)->spot; break;
  case OPTION_GAMMA: *width = (bump.spot = 1e-2) * option_asset_at(p, asset)->spot; break;
  case OPTION_VEGA: *width = 2 * (bump.vol = vol); break;
  case OPTION_RHO: *width = 2 * (bump.rate = rate); break;
  default: *width = -2 * (bump.maturity = fmin(1e-3 * p->maturity, option_first_date(p) / 2)); break;
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
