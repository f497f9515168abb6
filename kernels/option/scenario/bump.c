/* Bumped markets, and derivatives of a market by finite differences. */
#include "kernels/option/models/heston.h"
#include "kernels/option/models/sabr.h"
#include "kernels/option/payoff/builder.h"
#include "kernels/option/payoff/exercise.h"
#include "kernels/option/payoff/names.h"
#include "kernels/option/scenario/bucket.h"
#include "kernels/option/scenario/integral.h"

#include <math.h>
#include <stdlib.h>

/* Largest share of a volatility that a difference changes it by: its error is below (d^2 VOL_SHARE)^2/6 of the Greek of
 * a payoff at d deviations from the mean, 0.5 % for d = 3. */
#define VOL_SHARE 0.02
/* The same of second derivatives, whose samples deviate as the step to the power -1/2 where a payoff has a kink: errors
 * below 1 % for d = 3. The share of the maturity for charm moves a deviation half as much. */
#define SECOND_SHARE 0.03
#define SECOND_TIME 0.05
/* Largest changes of the logarithm of the price over its deviation, of first and second derivatives: errors are below
 * (d h)^2/6 and ((d h)^2 - h^2)/12 of the Greek, 0.2 % and 0.7 % for d = 3. */
#define FIRST_STEP 0.03
#define SECOND_STEP 0.1

/* The same over the deviation at the first date of early exercise. The value there has a kink at the price from which
 * it is exercised, with the weight of a normal density of this deviation at time 0. Errors are below h^2/6 max |x phi|
 * and h^2/12 max |(x^2 - 1) phi|/phi(0): 0.2 % of the change of slope, and 4 % of what the kink adds to gamma. */
#define FIRST_EXERCISE 0.2
#define SECOND_EXERCISE 0.7

/* Largest changes of a spot in first and second differences, of a volatility, of rate times maturity, and of the
 * maturity as a share of it. Samples of early exercise jump where a path is exercised at another date: a Greek of the
 * first order deviates as the step to the power -1/2, and the steps are as long as the bounds above allow. */
typedef struct bump_limits {
  double spot, second, vol, rate, maturity;
} bump_limits;
static const bump_limits limits[2] = {{1e-3, 1e-2, 1e-3, 1e-3, 1e-3}, {1e-2, 3e-2, 5e-3, 1e-2, 1e-2}};

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

double option_spot_step(double deviation) {
  double step = 0.02;
  while (step > 0.1 * deviation && step > 1e-6) step /= 2;
  return deviation > 0 ? step : 0.02;
}

/* The change of a node's value that moves prices as much as the change `all` of the whole curve, but of a volatility
 * at most VOL_SHARE of it. Differences by all nodes then have errors of equal shares. */
static double bucket_step(const option_parameters *p, int greek, int bucket, double all) {
  const double share = option_bucket_share(p, greek, bucket);
  if (!(share > 0)) return all;
  if (greek == OPTION_RHO_BUCKET) return all / share;
  return fmin(all / share, VOL_SHARE * option_least_volatility(p, p->bucket[0][bucket].asset));
}

/* The least deviation of the logarithm of a price at a maturity, of one asset, or of any (-1); INFINITY: none. */
static double least_deviation(const option_parameters *p, int asset) {
  double least = INFINITY, deviation[OPTION_PAYOFFS_MAX];
  for (int a = asset < 0 ? 0 : asset; a < (asset < 0 ? (int)p->assets.count : asset + 1); a++) {
    if (option_deviations(p, a, deviation) != SIM_OK) return INFINITY;
    for (int k = 0; k < option_payoff_count(p); k++)
      if (deviation[k] > 0) least = fmin(least, deviation[k]);
  }
  return least;
}

/* The least deviation of an asset's price at the first date of early exercise at which it has one; INFINITY: none. */
static double exercise_deviation(const option_parameters *p, int asset) {
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

/* Change of a spot in a first, or `second`, difference, by the maturities alone. */
static double bare_limit(const option_parameters *p, int asset, bool early, bool second) {
  const double most = second ? limits[early].second : limits[early].spot,
               step = fmin(most, (second ? SECOND_STEP : FIRST_STEP) * least_deviation(p, asset));
  return p->greeks.stretch > 0 ? p->greeks.stretch * step : step;
}

/* The same with the first date of early exercise. */
static double spot_limit(const option_parameters *p, int asset, bool early, bool second) {
  const double step = bare_limit(p, asset, early, second);
  return early ? fmin(step, (second ? SECOND_EXERCISE : FIRST_EXERCISE) * exercise_deviation(p, asset)) : step;
}

double option_start_range(const option_parameters *p, int asset) { return 1.5 * bare_limit(p, asset, true, true); }

option_bump option_bump_of(const option_parameters *p, int greek, int which, bool early, double *width) {
  const bool by_node = greek >= OPTION_BUCKETS;
  const int asset = by_node ? p->bucket[greek - OPTION_BUCKETS][which].asset : which;
  option_bump bump = {.asset = asset, .bucket = by_node ? which + 1 : 0};
  /* Of a maturity in days or minutes, changes of the whole time until then: at most 1 % of the forward, or of the
   * deviation of its logarithm. */
  const bump_limits *most = &limits[early];
  const double rate = fmin(fmin(most->rate, 1e-2 / p->maturity), FIRST_STEP * least_deviation(p, -1) / p->maturity);
  const double vol = fmin(most->vol, 1e-2 / sqrt(p->maturity));
  const double stretch = p->greeks.stretch > 0 ? p->greeks.stretch : 1;
  switch (greek) {
  case OPTION_DELTA:
    *width = 2 * (bump.spot = spot_limit(p, asset, early, false)) * option_asset_at(p, asset)->spot;
    break;
  case OPTION_GAMMA: *width = (bump.spot = spot_limit(p, asset, early, true)) * option_asset_at(p, asset)->spot; break;
  case OPTION_VEGA: *width = 2 * (bump.vol = stretch * fmin(vol, VOL_SHARE * option_least_volatility(p, asset))); break;
  case OPTION_RHO: *width = 2 * (bump.rate = rate * stretch); break;
  case OPTION_VEGA_BUCKET:
    *width = 2 * (bump.vol =
                      stretch * bucket_step(p, greek, which, fmin(vol, VOL_SHARE * option_least_volatility(p, asset))));
    break;
  case OPTION_RHO_BUCKET: *width = 2 * (bump.rate = stretch * bucket_step(p, greek, which, rate)); break;
  case OPTION_VANNA:
  case OPTION_VOLGA:
    *width = 2 * (bump.vol = stretch * fmin(5 * vol, SECOND_SHARE * option_least_volatility(p, asset)));
    break;
  case OPTION_CHARM:
    *width = -2 * (bump.maturity = fmin(SECOND_TIME * stretch * p->maturity, option_first_date(p) / 2));
    break;
  default:
    *width = -2 * (bump.maturity = fmin(most->maturity * stretch * p->maturity, option_first_date(p) / 2));
    break;
  }
  return bump;
}

/* A market that differs by a small fraction of the bump: derivatives are exact to 1e-9. */
sim_status option_market_near(const option_parameters *p, int greek, int which, double share, double *width,
                              option_market *out) {
  option_bump bump = option_bump_of(p, greek, which, false, width);
  bump.spot *= share;
  bump.vol *= share;
  bump.rate *= share;
  bump.maturity *= share;
  return option_market_create(p, &bump, out);
}

/* The same by the value of a node: of vol^2, the integral of a step, twice that of the hat function times the
 * volatility. */
static sim_status bucket_slope(const option_parameters *p, int greek, int bucket, double *out, double *bond) {
  option_grid grid;
  SIM_TRY(option_grid_create(p, 0, 1, &grid));
  const int steps = grid.steps;
  double *room = calloc(3 * (size_t)steps, sizeof *room), *squares = room + steps, *hat = squares + steps, sum = 0;
  const bool by_vol = greek == OPTION_VEGA_BUCKET;
  const option_hat integrals = {by_vol ? NULL : hat, by_vol ? hat : NULL, NULL};
  const sim_expr *vol = option_asset_at(p, p->bucket[greek - OPTION_BUCKETS][bucket].asset)->vol;
  sim_status status = room != NULL ? SIM_OK : sim_no_memory("the greeks");
  if (status == SIM_OK) status = option_bucket_integrate(p, greek, bucket, &grid, &integrals);
  if (status == SIM_OK && by_vol) status = option_integrate("vol", vol, OPTION_NOT_NEGATIVE, &grid, room, squares);
  for (int s = 0; s < steps && status == SIM_OK; s++) {
    if (!by_vol) sum -= hat[s];
    if (bond != NULL) bond[s] = sum;
    if (out == NULL) continue;
    out[s] = by_vol ? -hat[s] : hat[s];
    out[steps + s] = by_vol && squares[s] > 0 ? hat[s] / sqrt(squares[s]) : 0;
  }
  free(room);
  option_grid_free(&grid);
  return status;
}

/* Derivatives of drift and vol of every step: out[2][steps], in natural logarithms; and of the logarithms of bonds. */
sim_status option_market_slope(const option_parameters *p, int greek, int which, double *out, double *bond) {
  if (greek >= OPTION_BUCKETS) return bucket_slope(p, greek, which, out, bond);
  const int asset = which;
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
