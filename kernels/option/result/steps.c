/* Whether the steps of differences by a spot are short enough, as steps half as long tell.
 *
 * Steps are chosen by what is known of deviations: at the maturities, at the first date of early exercise, of ratios of
 * two prices. A payoff may bend within less: baskets of prices that move together or against each other, a first fixing
 * within the hour, exercise by a ratio. Its Greek is then that of a smoothed payoff, which the error of the paths does
 * not show. The error of a step is of the order h^2, that of half of it a quarter; within a kink that the step does not
 * resolve the difference of both is of the order of the Greek itself.
 */
#include "kernels/option/cpu/stretch.h"
#include "kernels/option/run.h"

#include <math.h>
#include <stdlib.h>

/* A change by this share of a Greek, or more, tells that the payoff bends within less than the step, so that the error
 * is not known: steps are off by 1 % else, near the first date of early exercise by 4. A smaller one is part of the
 * error, from this share of the Greek's usual size on. */
#define BENDS 0.05
#define TOLD 0.002

enum { SAMPLES = 128 * OPTION_CHUNK, LEAST = 4 * OPTION_CHUNK };

static bool is_by_spot(const option_quantity *of) {
  return of->greek == OPTION_DELTA || of->greek == OPTION_GAMMA || of->greek == OPTION_CROSS_GAMMA ||
         of->greek == OPTION_VANNA || of->greek == OPTION_CHARM;
}

/* Samples that take a quarter of the run's paths at most, and some 2^23 steps of an asset's price in all markets. */
static int samples_of(const option_run *run, const option_estimate *e) {
  const option_market *m = &e->market[0];
  const double each = (double)m->steps * m->assets * e->markets * e->signs;
  const double most = fmin(fmin(run->parameters->sampling.paths / run->pair / 4, 0x1p23 / each), SAMPLES);
  return OPTION_CHUNK * (int)(fmax(most, LEAST) / OPTION_CHUNK);
}

/* Whether any Greek by a spot is a difference, which is compared: not with leverage functions, which would be
 * calibrated anew, nor with levels, whose sums are not those of one estimate. */
static bool is_needed(const option_run *run, const option_estimate *e) {
  bool any = false, calibrated = false;
  for (int q = 0; q < run->told; q++) any |= is_by_spot(&run->quantity[q]) && e->combination[q].terms > 1;
  for (int a = 0; a < e->market[0].assets; a++) calibrated |= option_asset_at(run->parameters, a)->leverage.given;
  return any && !calibrated && !run->parameters->sampling.multilevel && !run->certain;
}

static sim_status compare(option_run *run, int samples) {
  option_halved *halved = calloc((size_t)run->told, sizeof *halved);
  if (halved == NULL) return sim_no_memory("the greeks");
  const sim_status status = option_halve_steps(run->parameters, samples, halved);
  for (int q = 0; q < run->told && status == SIM_OK; q++) {
    const option_halved *h = &halved[q];
    const double change = fabs(h->whole - h->half),
                 size = option_greek_size(run->parameters, &run->quantity[q], halved[run->quantity[q].payoff].half);
    if (!is_by_spot(&run->quantity[q]) || !(change > 3 * h->error && change > TOLD * fmax(size, fabs(h->half))))
      continue;
    run->step_error[q] = 4. / 3 * change; /* errors are as h^2, or as h^4 */
    if (change > 5 * h->error && change > BENDS * fmax(fabs(h->half), size / 2))
      run->step_change[q] = change / fabs(h->half);
  }
  free(halved);
  return status;
}

sim_status option_find_long_steps(option_run *run) {
  bool any = false;
  for (int q = 0; q < run->told; q++) any |= is_by_spot(&run->quantity[q]);
  if (!any) return SIM_OK;
  option_estimate *e = calloc(1, sizeof *e);
  if (e == NULL) return sim_no_memory("the greeks");
  sim_status status = option_estimate_create(run->parameters, false, e);
  if (status == SIM_OK && is_needed(run, e)) status = compare(run, samples_of(run, e));
  option_estimate_free(e);
  free(e);
  return status;
}
