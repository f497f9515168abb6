/* Bumped markets, and derivatives of a market by finite differences. */
#include "kernels/option/payoff/builder.h"
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
/* Of fourth order: below (d h)^4/90, 0.15 %. */
#define FOURTH_STEP 0.2

/* The same over the deviation of what a payoff compares (option_parameters.bend), at which a kink adds a normal density
 * of this deviation to gamma. First differences are off by h^2/6 max |x phi| of the change of slope: 1e-4, and 0.2 % of
 * early exercise, whose samples jump. Second differences of three prices are off by h^2/12 of what the kink adds, 0.5 %
 * at PLAIN. Longer steps take five prices, off by h^4/30: 0.2 %, and 0.8 % of early exercise, whose samples deviate as
 * the step to the power -3/2. In cross gammas the steps of both spots add up. */
#define FIRST_BEND 0.06
#define FIRST_EXERCISE 0.2
#define PLAIN 0.25
static const double fourth_bend[2] = {0.5, 0.7};
/* Differences of fourth order between slopes along the paths. */
#define SLOPES 0.4
/* Most assets whose cross gammas take eight prices each in place of four, with shorter steps. */
#define PAIRED_MAX 3

/* Largest changes of a spot in first and second differences, of a volatility, of rate times maturity, and of the
 * maturity as a share of it. Samples of early exercise jump where a path is exercised at another date: a Greek of the
 * first order deviates as the step to the power -1/2, and the steps are as long as the bounds above allow. */
typedef struct bump_limits {
  double spot, second, vol, rate, maturity;
} bump_limits;
static const bump_limits limits[2] = {{1e-3, 1e-2, 1e-3, 1e-3, 1e-3}, {1e-2, 3e-2, 5e-3, 1e-2, 1e-2}};

/* The change of a node's value that moves prices as much as the change `all` of the whole curve, but of a volatility
 * at most VOL_SHARE of it. Differences by all nodes then have errors of equal shares. */
static double bucket_step(const option_parameters *p, int greek, int bucket, double all) {
  const double share = option_bucket_share(p, greek, bucket);
  if (!(share > 0)) return all;
  if (greek == OPTION_RHO_BUCKET) return all / share;
  return fmin(all / share, VOL_SHARE * option_least_volatility(p, p->bucket[0][bucket].asset));
}

/* Whether a payoff's differences have the steps of a set; set -1: of any. */
static bool is_in(const option_parameters *p, int payoff, int set) { return set < 0 || p->step_set[payoff] == set; }

/* The least deviation of the logarithm of a price at a maturity, of one asset, or of any (-1); INFINITY: none. */
static double least_deviation(const option_parameters *p, int asset, int set) {
  double least = INFINITY, deviation[OPTION_PAYOFFS_MAX];
  for (int a = asset < 0 ? 0 : asset; a < (asset < 0 ? (int)p->assets.count : asset + 1); a++) {
    if (option_deviations(p, a, deviation) != SIM_OK) return INFINITY;
    for (int k = 0; k < option_payoff_count(p); k++)
      if (is_in(p, k, set) && deviation[k] > 0) least = fmin(least, deviation[k]);
  }
  return least;
}

/* The least change of a spot that moves what the payoffs of a set compare by its deviation. */
static double bend_of(const option_parameters *p, int asset, int set) {
  double least = INFINITY;
  for (int k = 0; k < option_payoff_count(p); k++)
    if (is_in(p, k, set) && p->bend[k][asset] > 0) least = fmin(least, p->bend[k][asset]);
  return least;
}

/* Share of the distance to a level that differences use at most: the outermost price is still on the spot's side. */
#define WITHIN 0.9

/* The largest change of a spot that stays before the levels of the payoffs of a set; a level at the spot sets none. */
static double before_levels(const option_parameters *p, int asset, int set) {
  double least = INFINITY;
  for (int k = 0; k < option_payoff_count(p); k++)
    if (is_in(p, k, set) && p->level[k][asset] > 0) least = fmin(least, WITHIN * p->level[k][asset]);
  return least;
}

static bool is_early_set(int set) { return set >= OPTION_STEP_SETS; }

/* ---- sets of payoffs whose differences have the same steps ---- */

/* Up to this ratio of what payoffs allow they share a set: samples of gamma then deviate by 8 % more, of delta by 3 %.
 */
#define ALIKE 1.05
/* A payoff that shortens the steps of another one by more than this ratio is told: a gamma by jumps then deviates by
 * almost three times as much. */
#define CRAMPED 2

void option_clear_step_sets(option_parameters *p) {
  for (int k = 0; k < option_payoff_count(p); k++) p->step_set[k] = option_is_early(p, k) ? OPTION_STEP_SETS : 0;
  p->cramped = 0;
}

/* The deviation that sets the steps of a payoff's differences, at most the one above which other limits set them. */
static sim_status find_reach(const option_parameters *p, double *reach) {
  double deviation[OPTION_PAYOFFS_MAX];
  for (int k = 0; k < option_payoff_count(p); k++) {
    const bump_limits *most = &limits[option_is_early(p, k)];
    reach[k] = fmax(most->second / SECOND_STEP, most->spot / FIRST_STEP);
  }
  for (int a = 0; a < (int)p->assets.count; a++) {
    SIM_TRY(option_deviations(p, a, deviation));
    for (int k = 0; k < option_payoff_count(p); k++) {
      if (!option_payoff_sees(p, k, a)) continue;
      if (deviation[k] > 0) reach[k] = fmin(reach[k], deviation[k]);
      if (p->bend[k][a] > 0) reach[k] = fmin(reach[k], SECOND_STEP / PLAIN * p->bend[k][a]);
      if (p->level[k][a] > 0) reach[k] = fmin(reach[k], WITHIN / SECOND_STEP * p->level[k][a]);
    }
  }
  return SIM_OK;
}

/* Puts each payoff into the first set whose largest reach is at most `ratio` times its own, from `first` on. Returns
 * the number of sets, or one above `most`. */
static int divide(option_parameters *p, const double *reach, bool early, double ratio, int most) {
  const int payoffs = option_payoff_count(p), first = early ? OPTION_STEP_SETS : 0;
  double top = INFINITY;
  for (int count = 0;; count++) {
    double next = 0;
    for (int k = 0; k < payoffs; k++)
      if (option_is_early(p, k) == early && reach[k] < top) next = fmax(next, reach[k]);
    if (next == 0 || count == most) return next == 0 ? count : count + 1;
    for (int k = 0; k < payoffs; k++)
      if (option_is_early(p, k) == early && reach[k] < top && reach[k] * ratio >= next) p->step_set[k] = first + count;
    top = next / ratio;
  }
}

/* The payoff, from 1, that shortens the steps of another one in its set by most, and more than CRAMPED; 0: none. */
static int find_cramped(const option_parameters *p, const double *reach) {
  double widest = CRAMPED;
  int out = 0;
  for (int k = 0; k < option_payoff_count(p); k++)
    for (int i = 0; i < option_payoff_count(p); i++)
      if (p->step_set[i] == p->step_set[k] && reach[i] > widest * reach[k]) {
        widest = reach[i] / reach[k];
        out = k + 1;
      }
  return out;
}

sim_status option_set_steps(option_parameters *p, int most, int *sets) {
  double reach[OPTION_PAYOFFS_MAX];
  SIM_TRY(find_reach(p, reach));
  *sets = 1;
  for (int early = 0; early < 2; early++) {
    double ratio = ALIKE;
    int count;
    while ((count = divide(p, reach, early, ratio, most)) > most) ratio *= ALIKE;
    *sets = count > *sets ? count : *sets;
  }
  p->cramped = find_cramped(p, reach);
  return SIM_OK;
}

static double stretch_of(const option_parameters *p) { return p->greeks.stretch > 0 ? p->greeks.stretch : 1; }

double option_slope_step(const option_parameters *p, int payoff, int asset, double deviation) {
  double most = deviation > 0 ? 0.1 * deviation : INFINITY, step = 0.02;
  if (p->bend[payoff][asset] > 0) most = fmin(most, SLOPES * p->bend[payoff][asset]);
  if (p->level[payoff][asset] > 0) most = fmin(most, WITHIN / 2 * p->level[payoff][asset]);
  while (step > most && step > 1e-6) step /= 2;
  return fmin(stretch_of(p), 1) * step;
}

/* The step of a first difference. */
static double first_step(const option_parameters *p, int asset, int set) {
  const bool early = is_early_set(set);
  const double most = fmin(limits[early].spot, FIRST_STEP * least_deviation(p, asset, set));
  const double step = stretch_of(p) * fmin(most, (early ? FIRST_EXERCISE : FIRST_BEND) * bend_of(p, asset, set));
  return fmin(step, before_levels(p, asset, set));
}

option_spot_steps option_second_steps(const option_parameters *p, int asset, int second, int set) {
  const bool early = is_early_set(set);
  const int number = second < 0 ? 1 : 2, of[2] = {asset, second};
  option_spot_steps out = {.step = {0, 0}};
  double least[2], bend[2], before[2], bends = 0;
  for (int i = 0; i < number; i++) {
    least[i] = least_deviation(p, of[i], set);
    bend[i] = bend_of(p, of[i], set);
    before[i] = before_levels(p, of[i], set);
    out.step[i] = fmin(fmin(limits[early].second, SECOND_STEP * least[i]), before[i]);
    bends += out.step[i] / bend[i];
  }
  out.fourth = bends > PLAIN && (number == 1 || p->assets.count <= PAIRED_MAX);
  for (int i = 0; i < number; i++) {
    const double share = (out.fourth ? fourth_bend[early] : PLAIN) / number;
    if (out.fourth) out.step[i] = fmin(limits[early].second, FOURTH_STEP * least[i]);
    if (bends > PLAIN) out.step[i] = fmin(out.step[i], share * bend[i]);
    out.step[i] = fmin(stretch_of(p) * out.step[i], before[i] / (out.fourth ? 2 : 1));
  }
  return out;
}

double option_start_range(const option_parameters *p, int asset) {
  double most = 0, last = INFINITY, fourth = 0;
  for (int k = 0; k < option_payoff_count(p); k++) {
    if (!option_is_early(p, k)) continue;
    const int set = p->step_set[k];
    const option_spot_steps steps = option_second_steps(p, asset, -1, set);
    most = fmax(most, fmin(limits[true].second, SECOND_STEP * least_deviation(p, asset, set)));
    if (p->last_bend[k][asset] > 0) last = fmin(last, 0.2 * p->last_bend[k][asset]);
    if (steps.fourth) fourth = fmax(fourth, 2.2 * steps.step[0] / stretch_of(p));
  }
  return fmax(1.5 * fmin(most, last), fourth);
}

double option_step_share(const option_parameters *p, int payoff, int greek, int asset, int second, double deviation) {
  const bool early = option_is_early(p, payoff), cross = greek == OPTION_CROSS_GAMMA;
  const int set = p->step_set[payoff];
  const double *bend = p->bend[payoff];
  if (deviation > 0) {
    const int by = cross ? second : asset;
    return bend[by] > 0 ? pow(option_slope_step(p, payoff, by, deviation) / bend[by], 4) / 10 : 0;
  }
  const option_spot_steps steps = option_second_steps(p, asset, cross ? second : -1, set);
  const double bends = steps.step[0] / bend[asset] + (cross ? steps.step[1] / bend[second] : 0);
  if (!(bend[asset] > 0)) return 0;
  if (greek == OPTION_DELTA) return pow(first_step(p, asset, set) / bend[asset], 2) / 25;
  if (steps.fourth) return pow(bends, 4) / (early ? 30 : 10);
  return bends * bends / (greek == OPTION_GAMMA || cross ? 12 : 6);
}

option_bump option_bump_of(const option_parameters *p, int greek, int which, int set, double *width) {
  const bool early = is_early_set(set);
  const bool by_node = greek >= OPTION_BUCKETS;
  const int asset = by_node ? p->bucket[greek - OPTION_BUCKETS][which].asset : which;
  option_bump bump = {.asset = asset, .bucket = by_node ? which + 1 : 0};
  /* Of a maturity in days or minutes, changes of the whole time until then: at most 1 % of the forward, or of the
   * deviation of its logarithm. */
  const bump_limits *most = &limits[early];
  const double rate = fmin(fmin(most->rate, 1e-2 / p->maturity), FIRST_STEP * least_deviation(p, -1, -1) / p->maturity);
  const double vol = fmin(most->vol, 1e-2 / sqrt(p->maturity));
  const double stretch = stretch_of(p);
  switch (greek) {
  case OPTION_DELTA: *width = 2 * (bump.spot = first_step(p, asset, set)) * option_asset_at(p, asset)->spot; break;
  case OPTION_GAMMA:
    *width = (bump.spot = option_second_steps(p, asset, -1, set).step[0]) * option_asset_at(p, asset)->spot;
    break;
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
  option_bump bump = option_bump_of(p, greek, which, 0, width);
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
