/* The run: batches of logical blocks of paths, in order; the state holds their sums. */
#include "engine/log.h"
#include "engine/wall_clock.h"
#include "engine/run/startup.h"
#include "kernels/option/option.h"
#include "kernels/option/payoff/exercise.h"
#include "kernels/option/result/leverage.h"
#include "kernels/option/result/paths.h"
#include "kernels/option/result/tables.h"
#include "kernels/option/result/upper.h"
#include "kernels/option/run.h"
#include "kernels/option/scenario/ladder.h"
#include "kernels/option/models/correlation.h"
#include "kernels/option/models/heston.h"
#include "kernels/option/models/heston_steps.h"
#include "kernels/option/models/rough.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEAN, SQUARES, WHOLE_MEAN, WHOLE_SQUARES, BIAS_MEAN, BIAS_SQUARES, BIAS_CHUNKS, LEVELS, ARRAYS };
static const sim_field state_fields[] = {
    [MEAN] = {.name = "mean", .type = SIM_REAL, .doc = "means of each quantity's samples"},
    [SQUARES] = {.name = "squares", .type = SIM_REAL, .doc = "sums of their squared deviations"},
    [WHOLE_MEAN] = {.name = "whole_mean", .type = SIM_REAL, .doc = "means over the whole logical blocks"},
    [WHOLE_SQUARES] = {.name = "whole_squares", .type = SIM_REAL, .doc = "sums of their squared deviations"},
    [BIAS_MEAN] = {.name = "bias_mean", .type = SIM_REAL, .doc = "bias of each quantity by the time steps"},
    [BIAS_SQUARES] = {.name = "bias_squares",
                      .type = SIM_REAL,
                      .doc = "sums of squared deviations of the chunks' biases"},
    [BIAS_CHUNKS] = {.name = "bias_chunks", .type = SIM_REAL, .doc = "number of chunks"},
    [LEVELS] = {.name = "levels",
                .type = SIM_REAL,
                .doc = "of a multilevel run, and alone: samples, means, squared deviations, samples other than 0"},
    [ARRAYS] = {.name = NULL}};
enum { ARRAYS_EXACT = BIAS_MEAN /* of a run whose steps are exact */ };
/* The arrays of a run: from the first on. */
static int first_array(const option_run *run) { return run->levels != NULL ? LEVELS : MEAN; }
static int array_count(const option_run *run) {
  return run->levels != NULL ? 1 : run->bias != NULL ? LEVELS : ARRAYS_EXACT;
}

static double paths_of(const option_parameters *p, double blocks) {
  return fmin(blocks * OPTION_BLOCK * (p->sampling.antithetic ? 2 : 1), p->sampling.paths);
}

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

static double end_of(const option_run *run, double t) {
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
                      const double *squares) {
  double *into = run->mean + group * run->quantities, *spread = run->squares + group * run->quantities;
  for (int q = 0; q < run->quantities; q++) {
    const double d = mean[q] - into[q], all = before + count;
    into[q] += d * (count / all);
    spread[q] += squares[q] + d * d * (before * (count / all));
  }
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

/* Ends the run where sampling.time has passed, else where end_of says. */
static sim_status set_end(option_run *run, sim_clock *clock) {
  const double time = run->parameters->sampling.time;
  uint64_t late = run->comm->rank == 0 && time > 0 && sim_wall_clock() - run->begin > time;
  if (time > 0) SIM_TRY(sim_comm_agree(run->comm, late, &late));
  clock->t_end = late ? clock->t : end_of(run, clock->t);
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

static sim_status step(void *self, sim_clock *clock) {
  option_run *run = self;
  if (run->levels != NULL) return step_levels(run, clock);
  const option_sampling *sampling = &run->parameters->sampling;
  const size_t all = (size_t)run->quantities * (size_t)run->groups;
  const double n = option_samples(run, clock->t), rounds = floor(n / run->round), base = rounds * run->round;
  const double count = next_count(run, n, base), t = clock->t;
  double done = 0, of_group = rounds * run->block; /* samples so far: of this step, and of each of several groups */
  int group = 0;
  /* An incomplete round is discarded: it is sampled again from its beginning. */
  if (base < n) memcpy(run->mean, run->whole, 2 * all * sizeof *run->mean);
  SIM_TRY(option_ladder_sample(run, (int64_t)base, (int64_t)count));
  for (int b = 0; done < count; b++) {
    const double here = fmin(run->block, count - done);
    const double *mean = run->block_mean + b * run->quantities, *squares = run->block_squares + b * run->quantities;
    SIM_TRY(check_finite(run, mean, squares, base + done, here));
    const double before = run->groups > 1 ? of_group : base + done;
    add_block(run, group, before / run->unit, here / run->unit, mean, squares);
    done += here;
    if (here < run->block || ++group < run->groups) continue;
    group = 0;
    of_group += run->block;
    memcpy(run->whole, run->mean, 2 * all * sizeof *run->mean);
    if (is_break(run, base + done)) break;
  }
  SIM_TRY(estimate_bias(run, base + done));
  clock->t = (base + done) * run->pair;
  const double batch =
      (double)run->batch * OPTION_BLOCK; /* steps begin at multiples of the batch, except after a restart */
  clock->dt = isnan(sampling->standard_error) ? clock->t - floor(base / batch) * batch * run->pair : clock->t - t;
  clock->step++;
  warn_unpaid(run, t, clock->t);
  return set_end(run, clock);
}

/* A table of the exposure. */
static void observe_exposure(const option_run *run, int table, double *values) {
  for (int d = 0; d < run->parameters->exposures; d++) {
    const option_exposure_row *row = &run->exposure->row[d];
    const double all[OPTION_EXPOSURE_TABLES] = {[OPTION_EXPOSURE_TIMES] = row->time,  [OPTION_EPE] = row->epe,
                                                [OPTION_EPE_ERRORS] = row->epe_error, [OPTION_ENE] = row->ene,
                                                [OPTION_ENE_ERRORS] = row->ene_error, [OPTION_PFE] = row->pfe,
                                                [OPTION_PFE_ERRORS] = row->pfe_error};
    values[d] = all[table];
  }
}

/* A table of the levels. */
static void observe_levels(const option_run *run, int table, double *values) {
  const option_level_sums *s = option_levels_sums(run->levels);
  for (int l = 0; l < s->most; l++) {
    const double all[OPTION_LEVEL_TABLES] = {[OPTION_LEVEL_PATHS] = s->count[l] * run->pair,
                                             [OPTION_LEVEL_MEANS] = s->mean[l * s->width],
                                             [OPTION_LEVEL_DEVIATIONS] = sqrt(option_level_variance(s, l, 0))};
    values[l] = l < s->levels ? all[table] : NAN;
  }
}

/* One Greek of all payoffs, or its standard errors. */
static void observe_greek(const option_run *run, double n, const sim_table *table, double *values) {
  const sim_table(*tables)[2] = run->parameters->greek_tables;
  for (int q = 0; q < run->quantities; q++) {
    const int greek = run->quantity[q].greek;
    if (greek < 0 || (table != &tables[greek][0] && table != &tables[greek][1])) continue;
    *values++ = n == 0 ? NAN : table == &tables[greek][0] ? option_mean(run, q) : option_error(run, n, q);
  }
}

static sim_status observe(void *self, const sim_clock *clock, int table, double *values) {
  option_run *run = self;
  const int payoffs = option_payoff_count(run->parameters);
  const double n = option_samples(run, clock->t);
  const sim_table *of = run->parameters->tables[table], *first = run->parameters->exposure_tables;
  if (of >= first && of < first + OPTION_EXPOSURE_TABLES) {
    observe_exposure(run, (int)(of - first), values);
    return SIM_OK;
  }
  const sim_table *levels = run->parameters->level_tables;
  if (of >= levels && of < levels + OPTION_LEVEL_TABLES) {
    observe_levels(run, (int)(of - levels), values);
    return SIM_OK;
  }
  for (int k = 0; k < payoffs && (of == &run->parameters->prices_table || of == &run->parameters->errors_table); k++)
    values[k] = n == 0 ? NAN : table == 1 ? option_mean(run, k) : option_error(run, n, k);
  for (int k = 0; k < payoffs && table > 0; k++) {
    if (of == &run->parameters->bias_tables[0]) values[k] = option_shift(run, k);
    if (of == &run->parameters->bias_tables[1]) values[k] = option_shift_error(run, n, k);
    if (of == &run->parameters->upper_tables[0]) values[k] = n == 0 ? NAN : option_upper(run, k);
    if (of == &run->parameters->upper_tables[1]) values[k] = option_upper_error(run, n, k);
  }
  if (table > 2) observe_greek(run, n, of, values);
  if (table > 0) return SIM_OK;
  *values++ = clock->t;
  *values++ = n == 0 ? NAN : option_mean(run, 0);
  *values++ = option_error(run, n, 0);
  *values++ = option_error(run, n, 0) / fabs(option_mean(run, 0));
  for (int q = payoffs; q < run->told && run->quantity[q].payoff == 0; q++) {
    *values++ = n == 0 ? NAN : option_mean(run, q);
    *values++ = option_error(run, n, q);
  }
  if (run->bias != NULL) {
    *values++ = option_shift(run, 0);
    *values++ = option_shift_error(run, n, 0);
  }
  if (option_wants_upper(run->parameters)) {
    *values++ = n == 0 ? NAN : option_upper(run, 0);
    *values++ = option_upper_error(run, n, 0);
  }
  if (run->parameters->exposure.hazard != NULL) {
    *values++ = run->exposure->cva;
    *values++ = run->exposure->cva_error;
  }
  if (run->parameters->exposure.own_hazard != NULL) {
    *values++ = run->exposure->dva;
    *values++ = run->exposure->dva_error;
  }
  if (run->quotes != NULL) {
    double miss = NAN;
    const option_quote *worst =
        option_leverage_worst(run->quotes, (int)run->parameters->assets.count * OPTION_QUOTES, &miss);
    *values++ = miss;
    *values = worst != NULL ? worst->error : NAN;
  }
  return SIM_OK;
}

static void state_data(option_run *run, double *data[ARRAYS]) {
  const size_t all = (size_t)run->quantities * (size_t)run->groups;
  data[MEAN] = run->mean;
  data[SQUARES] = run->squares;
  data[WHOLE_MEAN] = run->whole;
  data[WHOLE_SQUARES] = run->whole + all;
  data[BIAS_MEAN] = run->bias_mean;
  data[BIAS_SQUARES] = run->bias_squares;
  data[BIAS_CHUNKS] = &run->bias_chunks;
  data[LEVELS] = run->levels != NULL ? option_levels_state(run->levels) : NULL;
}

static int64_t state_numbers(const option_run *run, int array) {
  if (array == LEVELS) return option_levels_numbers(run->parameters);
  if (array == BIAS_CHUNKS) return 1;
  return array >= BIAS_MEAN ? run->told : run->quantities * run->groups;
}

static sim_status view(void *self, sim_array *arrays, sim_species *species, sim_frame *frame) {
  option_run *run = self;
  double *data[ARRAYS];
  state_data(run, data);
  (void)species;
  for (int k = first_array(run), i = 0; i < array_count(run); k++, i++)
    arrays[i] = (sim_array){.field = &state_fields[k],
                            .dtype = SIM_F64,
                            .rank = 1,
                            .shape = {state_numbers(run, k)},
                            .global = {state_numbers(run, k)},
                            .data = data[k]};
  frame->array_count = (size_t)array_count(run);
  frame->species_count = 0;
  return SIM_OK;
}

/* ---- create and destroy ---- */

static const option_ops *ops_of(sim_backend_kind kind) {
  static const option_ops *const ops[SIM_BACKEND_KINDS] = {
      [SIM_BACKEND_CPU] = &option_ops_cpu,
#ifdef SIM_HAS_CUDA
      [SIM_BACKEND_CUDA] = &option_ops_cuda,
#endif
  };
  return ops[kind];
}

/* Time of a path over that of a path whose payoffs are functions of the prices at its steps: each market of a finite
 * difference adds a fifth, and in every market an extreme between the steps or its probability a half, a minimum and a
 * maximum drawn jointly 31 (measured on a CPU, 252 steps). */
static sim_status cost_of(const option_parameters *p, double *out) {
  option_estimate estimate;
  SIM_TRY(option_estimate_create(p, false, &estimate));
  const double markets = estimate.markets;
  double single = 0, joint = 0;
  for (int f = 0; f < estimate.graph.features; f++) {
    const option_feature *of = &estimate.graph.feature[f];
    single += of->kind == OPTION_NOT_ABOVE || of->kind == OPTION_NOT_BELOW || of->kind == OPTION_HIGH ||
              of->kind == OPTION_LOW;
  }
  for (int a = 0; a < (int)p->assets.count; a++) joint += estimate.graph.joint >> a & 1;
  option_estimate_free(&estimate);
  const double past = option_any_rough(p) ? 0.02 * (double)p->nodes * markets : 0; /* sums over all earlier steps */
  const double laddered = option_ladder_markets(p), parts = option_ladder_parts(p), all = markets + laddered;
  *out = 1 + past * (1 + laddered / markets) + parts + 0.2 * (all - 1 - parts) + all * (0.5 * single + 31 * joint);
  return SIM_OK;
}

static sim_status plan(const void *parameters, const sim_setup *setup, sim_plan *out) {
  const option_parameters *p = parameters;
  double cost;
  SIM_TRY(cost_of(p, &cost));
  const option_ops *ops = ops_of(setup->backend->kind);
  const double told = option_quantities(p, NULL), quantities = told + option_ladder_quantities(p),
               batch = paths_of(p, option_ladder_batch(p, ops));
  const double guess[SIM_ISA_COUNT] = {5e7, 1.5e8, 4e8};
  const double chunk = option_groups(p) > 1 ? fmin(option_block_samples(p), OPTION_CHUNK) : OPTION_CHUNK;
  const sim_setup host = option_host_setup(setup);
  const double beside = option_bias_bytes(p, &host) + option_upper_bytes(p, &host) + option_exposure_bytes(p, &host) +
                        option_levels_bytes(p, &host) + option_path_bytes(p, &host) + option_leverage_bytes(p);
  sim_plan_add(out, "paths", ops->bytes(p, setup) + option_ladder_bytes(p, ops, setup));
  if (beside > 0) sim_plan_add_host(out, "paths of bias, bounds, levels, exposures", beside);
  out->checkpoint_bytes = ARRAYS_EXACT * quantities * option_groups(p) * sizeof(double);
  if (option_has_bias(p)) out->checkpoint_bytes += (2 * told + 1) * sizeof(double);
  if (p->sampling.multilevel) out->checkpoint_bytes = (double)option_levels_numbers(p) * sizeof(double);
  out->work_per_step = batch * (double)p->nodes * (double)p->assets.count;
  const bool cpu = setup->backend->kind == SIM_BACKEND_CPU; /* a GPU takes whole logical blocks */
  const double unit = cpu ? chunk : option_groups(p) > 1 ? option_block_samples(p) : OPTION_BLOCK;
  out->most_ranks = (int)ceil(batch / (p->sampling.antithetic ? 2 : 1) / unit);
  if (setup->comm->size > 1) { /* two sums of each quantity for each chunk or block */
    const double share = (double)sim_comm_share(setup->comm, (size_t)out->most_ranks);
    out->bytes_received = share * (setup->comm->size - 1) * 2 * quantities * sizeof(double);
    out->exchanges = 1 + option_ladder_parts(p);
  }
  option_policy_exchanges(p, setup->comm->size, &out->start_received, &out->start_exchanges);
  const int rules = 1 + option_has_bias(p) + option_wants_upper(p) + p->exposure.given +
                    (int)option_ladder_markets(p); /* each has exercise rules of its own */
  out->start_received *= rules;
  out->start_exchanges *= rules;
  option_exposure_exchanges(p, setup->comm->size, &out->start_received, &out->start_exchanges);
  out->parts = out->most_ranks;
  const double useful = sim_plan_shares(out, setup->comm->size);
  const double on_host = guess[host.isa] * fmin(host.threads * useful, omp_get_num_procs());
  out->work_rate_guess = cpu ? on_host : 8e11 * useful;
  const double in_double = 0.3; /* of the rate */
  out->start_seconds =
      (option_upper_work(p) + option_exposure_work(p) + option_leverage_work(p)) / (in_double * on_host);
  if (p->common.precision == SIM_DOUBLE) out->work_rate_guess *= in_double;
  out->work_rate_guess /= cost;
  out->steps = isnan(p->sampling.standard_error) && !(p->sampling.time > 0) ? ceil(p->sampling.paths / batch) : NAN;
  out->t_end = p->sampling.paths;
  return SIM_OK;
}

static void destroy(void **self) {
  option_run *run = *self;
  if (run == NULL) return;
  if (run->ops != NULL) run->ops->destroy(&run->sampler);
  option_ladder_destroy(run);
  free(run->dataset);
  free(run->labels);
  option_bias_destroy(&run->bias);
  option_levels_destroy(&run->levels);
  free(run->exposure);
  free(run->quotes);
  free(run->quantity);
  free(run->mean);
  free(run);
  *self = NULL;
}

static sim_status restore(option_run *run, const sim_frame *saved) {
  sim_array arrays[ARRAYS];
  sim_frame own;
  SIM_TRY(view(run, arrays, NULL, &own));
  for (size_t k = 0; k < own.array_count; k++) SIM_TRY(sim_frame_restore(saved, &sim_backend_cpu, &arrays[k]));
  if (run->levels != NULL) return option_levels_restored(run->levels);
  const double t = saved->clock.t; /* paths done */
  if (!(t >= 0 && t <= 0x1p53 && fmod(t, run->pair) == 0))
    return sim_fail(SIM_ERR_INCOMPATIBLE, "the checkpoint's t = %.9g is no number of paths", t);
  return SIM_OK;
}

/* Extends a finished run that has been given more paths: drops its incomplete round, so that results equal those of
 * a longer run. */
static void extend(option_run *run, sim_clock *clock) {
  const size_t all = (size_t)run->quantities * (size_t)run->groups;
  const double n = option_samples(run, clock->t), base = floor(n / run->round) * run->round;
  if (!isnan(run->parameters->sampling.standard_error) || !(clock->t < run->parameters->sampling.paths)) return;
  if (base == 0) memset(run->whole, 0, 2 * all * sizeof *run->whole); /* with fewer paths the rounds may be smaller */
  memcpy(run->mean, run->whole, 2 * all * sizeof *run->mean);
  clock->t = base * run->pair;
  clock->step = (int64_t)floor(base / ((double)run->batch * OPTION_BLOCK));
}

/* fp32 rounds prices to 2^-24: below 2e-4 of deviation that changes probabilities by more than 1e-4. */
static void warn_of_rounding(const option_parameters *p) {
  double shortest = p->maturity;
  for (int k = 0; k < option_payoff_count(p); k++) shortest = fmin(shortest, option_maturity_of(p, k));
  for (int a = 0; option_is_single(p) && a < (int)p->assets.count; a++) {
    const double deviation = option_least_volatility(p, a) * sqrt(shortest);
    if (!(deviation > 0 && deviation < 2e-4) || option_asset_at(p, a)->jumps.given) continue;
    sim_log(
        SIM_LOG_WARN,
        "precision: \"mixed\" rounds prices to 6e-8 of them, and assets[%d] moves by %.2g until the first maturity: "
        "what depends on its price may be off by more than the errors tell; expected \"double\"",
        a + 1, deviation);
  }
}

/* Warns of Greeks whose errors are large by their nature. */
static void warn_of_greeks(const option_parameters *p) {
  const double first = option_first_date(p), ratio = sqrt(p->maturity / first);
  bool any = false;
  for (int g = 0; g < OPTION_GREEKS; g++) any |= p->greeks.want[g];
  for (size_t i = 0; i < p->payoffs.count && any; i++) {
    const option_payoff *o = p->payoffs.items[i].data;
    if (p->payoffs.items[i].schema != &option_double_barrier_schema || o->monitoring != OPTION_CONTINUOUS) continue;
    sim_log(
        SIM_LOG_WARN,
        "payoffs[%zu]: Greeks of a continuous double barrier are differences of payoffs that jump, with large errors: "
        "look at these, or take monitoring = \"steps\"",
        i + 1);
    break;
  }
  if (p->greeks.want[OPTION_THETA] && isfinite(first) && ratio > 30)
    sim_log(SIM_LOG_WARN,
            "greeks.theta: moves the first date %.3g, and its error is about %.0f times that of a first date near the "
            "maturity: look at it, or leave that date out",
            first, ratio);
}

static sim_status make(option_run *run, const sim_setup *setup, sim_clock *clock) {
  const option_parameters *p = run->parameters;
  run->setup = *setup;
  run->told = option_quantities(p, NULL);
  run->quantities = run->told + option_ladder_quantities(p);
  run->pair = p->sampling.antithetic ? 2 : 1;
  run->groups = option_groups(p);
  run->unit = option_unit(p);
  run->block = run->groups > 1 ? option_block_samples(p) : OPTION_BLOCK;
  run->round = (double)run->block * run->groups;
  const size_t q = (size_t)run->quantities, all = q * (size_t)run->groups;
  run->ops = ops_of(setup->backend->kind);
  run->comm = setup->comm;
  run->batch = option_ladder_batch(p, run->ops);
  run->quantity = calloc(q, sizeof *run->quantity);
  run->mean = calloc(2 * all * (2 + (size_t)run->batch) + 4 * (size_t)option_payoff_count(p) + 5 * q, sizeof(double));
  if (run->mean == NULL || run->quantity == NULL) return sim_no_memory("the sums");
  option_parameters listed = *p;
  listed.points = option_ladder_points(p);
  option_quantities(&listed, run->quantity);
  run->squares = run->mean + all;
  run->whole = run->squares + all;
  run->block_mean = run->whole + 2 * all;
  run->block_squares = run->block_mean + all * (size_t)run->batch;
  run->bias_mean = run->block_squares + all * (size_t)run->batch;
  run->bias_squares = run->bias_mean + q;
  run->rest = run->bias_squares + q;
  run->gap = run->rest + option_payoff_count(p);
  run->gap_error = run->gap + option_payoff_count(p);
  run->bias_doubt = run->gap_error + option_payoff_count(p);
  run->jump = run->bias_doubt + option_payoff_count(p);
  run->jump_deviation = run->jump + q;
  run->jump_factor = run->jump_deviation + q;
  warn_of_rounding(p);
  for (int a = 0; a < (int)p->assets.count; a++) {
    const option_heston *h = &option_asset_at(p, a)->heston;
    if (h->given) SIM_TRY(option_heston_remark(h, a, p->maturity));
  }
  SIM_TRY(option_warn_heston(p, run->bias_doubt));
  SIM_TRY(option_warn_correlation(p));
  for (size_t i = 0; i < p->payoffs.count; i++) {
    const option_payoff *o = p->payoffs.items[i].data;
    if (p->payoffs.items[i].schema == &option_autocallable_schema && o->coupon >= 1)
      sim_log(SIM_LOG_INFO, "payoffs[%zu]: coupon = %.9g is %.9g %% of cash for each date", i + 1, o->coupon,
              100 * o->coupon);
  }
  if (p->sampling.paths != p->asked_paths)
    sim_log(SIM_LOG_INFO, "sampling.paths: %.9g are rounded up to %.0f: %s", p->asked_paths, p->sampling.paths,
            p->sampling.moment_matching            ? "groups of 1024 samples with matched moments, 32 of them at least"
            : p->sampling.sequence == OPTION_SOBOL ? "each scramble has as many points, 16 or a power of two above"
            : p->sampling.antithetic               ? "antithetic paths come in pairs"
                                                   : "to an integer");
  SIM_TRY(option_find_jumps(run));
  warn_of_greeks(p);
  const sim_setup host = option_host_setup(setup);
  SIM_TRY(option_leverage_find(run, &host));
  SIM_TRY(run->ops->create(p, setup, &run->sampler));
  SIM_TRY(option_ladder_create(run, setup));
  if (option_has_bias(p)) SIM_TRY(option_bias_create(p, setup, &run->bias));
  if (p->sampling.multilevel) SIM_TRY(option_levels_create(p, setup, run->certain, &run->levels));
  if (option_wants_upper(p)) SIM_TRY(option_upper_gaps(p, &host, run->gap, run->gap_error));
  if (p->exposure.given) {
    run->exposure = calloc(1, sizeof *run->exposure);
    if (run->exposure == NULL) return sim_no_memory("the exposure");
    SIM_TRY(option_exposure_create(p, &host, run->exposure));
  }
  run->begin = sim_wall_clock();
  *clock = setup->saved != NULL ? setup->saved->clock : (sim_clock){.dt = paths_of(p, run->batch)};
  if (setup->saved != NULL) {
    SIM_TRY(restore(run, setup->saved));
    extend(run, clock);
  }
  clock->t_end = end_of(run, clock->t);
  return SIM_OK;
}

static sim_status create(const void *parameters, const sim_setup *setup, sim_clock *clock, void **self) {
  option_run *run = calloc(1, sizeof *run);
  *self = run;
  if (run == NULL) return sim_no_memory("the model");
  run->parameters = parameters;
  sim_startup("making the market and tables of points", 0, 0);
  const sim_status status = make(run, setup, clock);
  if (status != SIM_OK) destroy(self);
  return status;
}

/* The datasets that the scenario asks for. */
static sim_status dataset(void *self, const sim_clock *clock, int index, sim_dataset *out) {
  option_run *run = self;
  if (run->parameters->ladder.given && index-- == 0)
    return option_ladder_dataset(run, option_samples(run, clock->t), out);
  return run->parameters->paths.given && index == 0 ? option_path_dataset(run, out) : SIM_OK;
}

static void describe(const void *self, char *out, size_t capacity) {
  const option_run *run = self;
  const option_parameters *p = run->parameters;
  const int payoffs = option_payoff_count(p);
  snprintf(out, capacity, "%d payoff%s on %zu asset%s, %lld step%s, %s", payoffs, payoffs == 1 ? "" : "s",
           p->assets.count, p->assets.count == 1 ? "" : "s", (long long)p->nodes, p->nodes == 1 ? "" : "s",
           run->ops->name(run->sampler));
}

static const sim_table *const *tables_of(const void *parameters) {
  return ((const option_parameters *)parameters)->tables;
}

static bool supports(const void *parameters, sim_backend_kind backend, char *lacks, size_t capacity) {
  const option_ops *ops = ops_of(backend);
  return ops->supports == NULL || ops->supports(parameters, lacks, capacity);
}

static const sim_table *const tables[] = {&option_price_table, NULL};
static const char *const references[] = {
    "P. Glasserman, Monte Carlo Methods in Financial Engineering, Springer 2003",
    "M. Broadie and P. Glasserman, Management Science 42 (1996) 269: pathwise and likelihood-ratio Greeks",
    "A. G. Z. Kemna and A. C. F. Vorst, Journal of Banking and Finance 14 (1990) 113: geometric control variate",
    "J. Salmon et al., SC11: Philox4x32-10", NULL};

const sim_model option_model = {
    .name = "option",
    .doc = "prices and Greeks of options by Monte Carlo simulation",
    .example = "-- A European call: Black and Scholes give 10.4506.\n"
               "return sim.option {\n"
               "  assets   = { { spot = 100, vol = 0.2 } },\n"
               "  rate     = 0.05,\n"
               "  maturity = 1,\n"
               "  payoffs  = { sim.european { strike = 100 } },\n"
               "  sampling = { paths = 2^20 },\n"
               "}\n",
    .references = references,
    .parameters = &option_schema,
    .tables = tables,
    .described = option_described,
    .tables_of = tables_of,
    .state = state_fields,
    .work_unit = "path-steps",
    .backends = {[SIM_BACKEND_CPU] = {.runs = true}, [SIM_BACKEND_CUDA] = {.runs = true}},
    .precisions = {[SIM_MIXED] = true, [SIM_DOUBLE] = true},
    .ranks = true,
    .bench = option_bench,
    .validate = option_validate,
    .supports = supports,
    .plan = plan,
    .create = create,
    .step = step,
    .observe = observe,
    .view = view,
    .dataset = dataset,
    .describe = describe,
    .report = option_report,
    .remark = option_remark,
    .destroy = destroy,
};
