/* Steps of a run: batches of logical blocks of paths, in order, until the paths or the accuracy asked for. */
#include "engine/log.h"
#include "engine/wall_clock.h"
#include "kernels/option/payoff/names.h"
#include "kernels/option/run.h"

#include <math.h>
#include <string.h>

/* ---- when to check the errors, and when to end: functions of the state alone, so that no result depends on the
 * device, on its batch size or on a restart ---- */

/* Samples before the first check of a standard error; with matched moments an error needs several chunks. */
static double first_check(const option_run *run) { return run->unit > 1 ? 32.0 * OPTION_CHUNK : 4.0 * OPTION_CHUNK; }

/* Estimated total of samples for the requested accuracy, from the errors after n samples; n where it is reached. Not
 * finite while no error is known. */
static double samples_needed(const option_run *run, double n) {
  const double slack = 1.05; /* errors of 4096 samples are known to a few per cent */
  double ratio = 0;
  for (int q = 0; q < option_payoff_count(run->parameters); q++) {
    const double error = option_spread(run, n, q);
    ratio = fmax(ratio, isnan(error) ? INFINITY : error / run->parameters->sampling.standard_error);
  }
  if (ratio <= 1) return n;
  /* the errors of scrambles fall roughly as 1/n */
  return fmax(n + OPTION_CHUNK, n * slack * (run->groups > 1 ? ratio : ratio * ratio));
}

double option_end_of(const option_run *run, double t) {
  const option_sampling *s = &run->parameters->sampling;
  if (run->levels != NULL) return option_levels_next(run->levels).samples > 0 ? fmax(s->paths, t + run->pair) : t;
  if (isnan(s->standard_error) || t == 0) return s->paths;
  const double n = option_samples(run, t), needed = samples_needed(run, n);
  return needed <= n ? t : fmin(s->paths, ceil(needed) * run->pair);
}

/* Samples of the next step, from sample `base` on (a multiple of the round): whole rounds, or a part of one where
 * that should suffice. A part that did not suffice is repeated as a whole round. */
static double next_count(const option_run *run, double n, double base) {
  const option_parameters *p = run->parameters;
  const double left = p->sampling.paths / run->pair - base, most = fmin((double)run->batch * OPTION_BLOCK, left);
  if (isnan(p->sampling.standard_error)) { /* steps end at multiples of the batch, also after a restart */
    const double batch = (double)run->batch * OPTION_BLOCK;
    return fmin(left, batch - fmod(base, batch));
  }
  if (n == 0) return run->groups > 1 ? fmin(run->round, left) : fmin(first_check(run), left);
  if (n > base && n > first_check(run)) return fmin(run->round, left);
  const double more = samples_needed(run, n) - base;
  if (!(more < most)) return most;
  if (more >= run->round || run->groups > 1) return fmin(most, fmax(floor(more / run->round), 1) * run->round);
  return fmin(left, ceil(more / OPTION_CHUNK) * OPTION_CHUNK);
}

/* Whether a step ends after n samples (a multiple of the round). */
static bool is_break(const option_run *run, double n) {
  if (isnan(run->parameters->sampling.standard_error)) return false;
  const double needed = samples_needed(run, n);
  return needed <= n || (run->groups == 1 && needed < n + run->round);
}

/* Adds a block to a group that has `before` samples: the update of Chan, Golub and LeVeque. */
static void add_block(option_run *run, int group, double before, double count, const double *mean,
                      const double *squares, const double *tails) {
  double *into = run->mean + group * run->quantities, *spread = run->squares + group * run->quantities;
  for (int q = 0; q < run->quantities; q++) {
    const double d = mean[q] - into[q], all = before + count;
    into[q] += d * (count / all);
    spread[q] += squares[q] + d * d * (before * (count / all));
  }
  for (int i = 0; i < 2 * run->quantities; i++) run->tails[i] += tails[i];
}

static sim_status check_finite(const option_run *run, const double *mean, const double *squares, double first,
                               double count) {
  for (int q = 0; q < run->quantities; q++)
    if (!isfinite(mean[q]) || !isfinite(squares[q]))
      return run->quantity[q].point > 0
                 ? option_ladder_diverged(run, &run->quantity[q])
                 : option_diagnose(run->parameters, (int64_t)first, (int64_t)count, &run->quantity[q]);
  return SIM_OK;
}

/* Payments of 1e77 and more, whose deviations have fourth powers beyond the range, or of 1e150 and more, whose squares
 * have their sum beyond it. */
static sim_status check_sums(const option_run *run) {
  char name[OPTION_PAYOFF_NAME];
  for (int q = 0; q < run->quantities; q++) {
    bool finite = isfinite(run->tails[2 * q]) && isfinite(run->tails[2 * q + 1]);
    for (int g = 0; g < run->groups; g++)
      finite &= isfinite(run->mean[g * run->quantities + q]) && isfinite(run->squares[g * run->quantities + q]);
    if (finite) continue;
    option_payoff_name(run->parameters, run->quantity[q].payoff, name, sizeof name);
    return sim_fail(SIM_ERR_DIVERGED,
                    "%s: its payments are too large for their error, whose fourth power is not a finite number: "
                    "expected another unit of money, or fewer shares or cash",
                    name);
  }
  return SIM_OK;
}

/* Warns once if no path of a payoff has paid after many paths, in a run that only its accuracy ends. */
static void warn_unpaid(const option_run *run, double before, double t) {
  const double many = 0x1p20;
  char name[OPTION_PAYOFF_NAME];
  if (isnan(run->parameters->sampling.standard_error) || !(before < many && t >= many)) return;
  for (int k = 0; k < option_payoff_count(run->parameters); k++) {
    if (!option_unpaid(run, option_samples(run, t), k)) continue;
    option_payoff_name(run->parameters, k, name, sizeof name);
    sim_log(SIM_LOG_WARN,
            option_mean(run, k) != 0
                ? "all of %.0f paths have got the same from %s: the run continues to sampling.paths = %.0f, or until "
                  "one gets more or less"
                : "no path of %.0f has been paid by %s: the run continues to sampling.paths = %.0f, or until one is",
            t, name, run->parameters->sampling.paths);
    return;
  }
}

/* Continues the estimate of the time-step bias up to n samples of the run. */
static sim_status estimate_bias(option_run *run, double n) {
  const int first = (int)run->bias_chunks, last = option_bias_chunks(n);
  if (run->bias == NULL || last <= first) return SIM_OK;
  run->bias_chunks = last;
  return option_bias_sample(run->bias, first, last, run->bias_mean, run->bias_squares);
}

/* Ends the run where sampling.time has passed, else where option_end_of says. */
static sim_status set_end(option_run *run, sim_clock *clock) {
  const double time = run->parameters->sampling.time;
  uint64_t late = run->comm->rank == 0 && time > 0 && sim_wall_clock() - run->begin > time;
  if (time > 0) SIM_TRY(sim_comm_agree(run->comm, late, &late));
  clock->t_end = late ? clock->t : option_end_of(run, clock->t);
  return SIM_OK;
}

static sim_status step_levels(option_run *run, sim_clock *clock) {
  const double before = clock->t;
  SIM_TRY(option_levels_sample(run->levels, option_levels_next(run->levels)));
  clock->t = option_levels_samples(run->levels) * run->pair;
  clock->dt = clock->t - before;
  clock->step++;
  warn_unpaid(run, before, clock->t);
  return set_end(run, clock);
}

sim_status option_step(void *self, sim_clock *clock) {
  option_run *run = self;
  if (run->levels != NULL) return step_levels(run, clock);
  const option_sampling *sampling = &run->parameters->sampling;
  const size_t all = (size_t)run->quantities * (size_t)run->groups;
  const double n = option_samples(run, clock->t), rounds = floor(n / run->round), base = rounds * run->round;
  const double count = next_count(run, n, base), t = clock->t;
  double done = 0, of_group = rounds * run->block; /* samples so far: of this step, and of each of several groups */
  int group = 0;
  /* An incomplete round is discarded: it is sampled again from its beginning. */
  const size_t tails = 2 * (size_t)run->quantities * sizeof *run->tails;
  if (base < n) {
    memcpy(run->mean, run->whole, 2 * all * sizeof *run->mean);
    memcpy(run->tails, run->whole_tails, tails);
  }
  SIM_TRY(option_ladder_sample(run, (int64_t)base, (int64_t)count));
  for (int b = 0; done < count; b++) {
    const double here = fmin(run->block, count - done);
    const double *mean = run->block_mean + b * run->quantities, *squares = run->block_squares + b * run->quantities;
    SIM_TRY(check_finite(run, mean, squares, base + done, here));
    const double before = run->groups > 1 ? of_group : base + done;
    add_block(run, group, before / run->unit, here / run->unit, mean, squares,
              run->block_tails + 2 * b * run->quantities);
    done += here;
    if (here < run->block || ++group < run->groups) continue;
    group = 0;
    of_group += run->block;
    memcpy(run->whole, run->mean, 2 * all * sizeof *run->mean);
    memcpy(run->whole_tails, run->tails, tails);
    if (is_break(run, base + done)) break;
  }
  SIM_TRY(check_sums(run));
  SIM_TRY(estimate_bias(run, base + done));
  clock->t = (base + done) * run->pair;
  const double batch =
      (double)run->batch * OPTION_BLOCK; /* steps begin at multiples of the batch, except after a restart */
  clock->dt = isnan(sampling->standard_error) ? clock->t - floor(base / batch) * batch * run->pair : clock->t - t;
  clock->step++;
  warn_unpaid(run, t, clock->t);
  return set_end(run, clock);
}
