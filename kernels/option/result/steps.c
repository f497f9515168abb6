/* What the steps of differences by a spot are off by.
 *
 * Steps are a share of what the payoff's comparisons deviate by (cpu/bends.c), so that their errors are known shares of
 * the Greek. What no comparison shows is seen by steps half as long: the error of a step is of the order h^2, that of
 * half of it a quarter; within a kink that the step does not resolve the difference of both is of the order of the
 * Greek itself, which is then that of a smoothed payoff. */
#include "kernels/option/cpu/stretch.h"
#include "kernels/option/run.h"

#include <math.h>
#include <stdlib.h>

/* A change by this share of a Greek, or more, tells that the payoff bends within less than the step, so that the error
 * is not known: steps are off by 1 % else. A smaller one is part of the error, from this share of the Greek's usual
 * size on. */
#define BENDS 0.05
#define TOLD 0.002

enum { MOST = 64, LEAST = 4 }; /* chunks of paths */

static bool is_by_spot(const option_quantity *of) { return of->greek >= 0 && option_greek_by_spot(of->greek); }

/* Chunks that take an eighth of the run's paths at most, twice, and no more than some 2^23 steps of an asset's price in
 * all markets or a 32nd of the run's paths. */
static int chunks_of(const option_run *run, const option_estimate *e) {
  const option_market *m = &e->market[0];
  const double each = (double)m->steps * m->assets * e->markets * e->signs;
  const double paths = run->parameters->sampling.paths / run->pair, most = fmax(0x1p23 / each, paths / 32);
  return (int)fmax(fmin(fmin(paths / 8, most) / OPTION_CHUNK, MOST), LEAST);
}

/* Whether it is a delta by a spot that is at a level of the payoff's continuous extremes. There the slope of the delta
 * jumps, so that its difference is wrong in proportion to the step: twice the change by half the step. */
static bool is_delta_at_level(const option_run *run, const option_quantity *of) {
  return of->greek == OPTION_DELTA && run->parameters->level[of->payoff][of->asset] == 0;
}

/* Whether any Greek by a spot is a difference, which is compared: not with leverage functions, which would be
 * calibrated anew, nor with levels, whose sums are not those of one estimate. */
static bool is_needed(const option_run *run, const option_estimate *e) {
  bool any = false, calibrated = false;
  for (int q = 0; q < run->told; q++) any |= is_by_spot(&run->quantity[q]) && e->combination[q].terms > 1;
  for (int a = 0; a < e->market[0].assets; a++) calibrated |= option_asset_at(run->parameters, a)->leverage.given;
  return any && !calibrated && !run->parameters->sampling.multilevel && !run->certain;
}

static sim_status compare(option_run *run, int chunks) {
  option_halved *halved = calloc((size_t)run->told, sizeof *halved);
  if (halved == NULL) return sim_no_memory("the greeks");
  const sim_status status = option_halve_steps(run->parameters, option_host_setup(&run->setup).threads, chunks, halved);
  for (int q = 0; q < run->told && status == SIM_OK; q++) {
    const option_halved *h = &halved[q];
    const double change = fabs(h->whole - h->half),
                 size = option_greek_size(run->parameters, &run->quantity[q], halved[run->quantity[q].payoff].half);
    if (is_delta_at_level(run, &run->quantity[q])) run->step_error[q] = 2 * (change + 2 * h->error);
    if (!is_by_spot(&run->quantity[q]) || run->kinked[q] || is_delta_at_level(run, &run->quantity[q]) ||
        !(change > 4 * h->error && change > TOLD * fmax(size, fabs(h->half))))
      continue;
    run->step_error[q] = 4. / 3 * change; /* errors are as h^2, or as h^4 */
    if (change > 5 * h->error && change > BENDS * fmax(fabs(h->half), size / 2))
      run->step_change[q] = change / fabs(h->half);
  }
  free(halved);
  return status;
}

/* The error of the step of a Greek by what its payoff compares. */
static double share_of(const option_run *run, const option_estimate *e, int q) {
  const option_quantity *of = &run->quantity[q];
  const option_combination *c = &e->combination[q];
  bool moved = false;
  for (int t = 0; t < c->terms; t++)
    moved |= e->bump[c->term[t].market].spot != 0 || e->bump[c->term[t].market].second_spot != 0;
  if (!moved) return 0;
  const int by = of->greek == OPTION_CROSS_GAMMA ? of->second : of->asset, output = c->term[0].output;
  const bool prices = output == of->payoff || output == e->graph.bumped[of->payoff][of->greek][0];
  return option_step_share(run->parameters, of->payoff, of->greek, of->asset, of->second,
                           prices ? 0 : e->graph.deviation[of->payoff][by]);
}

sim_status option_find_long_steps(option_run *run) {
  bool any = false;
  for (int q = 0; q < run->told; q++) any |= is_by_spot(&run->quantity[q]);
  if (!any) return SIM_OK;
  option_estimate *e = calloc(1, sizeof *e);
  if (e == NULL) return sim_no_memory("the greeks");
  sim_status status = option_estimate_create(run->parameters, true, e);
  for (int q = 0; q < run->told && status == SIM_OK; q++)
    if (is_by_spot(&run->quantity[q])) run->step_share[q] = share_of(run, e, q);
  if (status == SIM_OK && is_needed(run, e)) status = compare(run, chunks_of(run, e));
  option_estimate_free(e);
  free(e);
  return status;
}
