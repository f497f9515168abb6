/* The run: batches of logical blocks of paths, in order; the state is what they have added up to. */
#include "kernels/option/option.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEAN, SQUARES, ARRAYS };
static const sim_field state_fields[] = {
    [MEAN] = {.name = "mean", .type = SIM_REAL, .doc = "of each quantity's samples so far"},
    [SQUARES] = {.name = "squares", .type = SIM_REAL, .doc = "sums of their squared deviations"},
    [ARRAYS] = {.name = NULL}};

typedef struct option_run {
  const option_parameters *parameters;
  option_sampler *sampler;
  int quantities, pair; /* pair: paths of a sample */
  double *mean, *squares, *block_mean, *block_squares;
} option_run;

static double samples(const option_run *run, double t) { return t / run->pair; }

/* Standard error of a mean; NaN while there is none. */
static double error_of(const option_run *run, double n, int q) {
  return n > 1 ? sqrt(run->squares[q] / (n - 1) / n) : NAN;
}

/* Paths of a step: fewer where an accuracy is asked for, which may be reached after any. */
static double batch(const option_parameters *p) {
  const double blocks = isnan(p->sampling.standard_error) ? OPTION_BATCH : OPTION_BATCH / 4;
  return fmin(blocks * OPTION_BLOCK * (p->sampling.antithetic ? 2 : 1), p->sampling.paths);
}

/* The end follows from the state alone: where the accuracy is reached, or is about to be. */
static double end_of(const option_run *run, double t) {
  const option_sampling *s = &run->parameters->sampling;
  double ratio = 0;
  if (isnan(s->standard_error) || t == 0) return s->paths;
  for (int q = 0; q < option_payoff_count(run->parameters); q++)
    ratio = fmax(ratio, error_of(run, samples(run, t), q) / s->standard_error);
  if (ratio <= 1) return t;
  return fmin(s->paths, fmax(t + batch(run->parameters), ceil(t * ratio * ratio)));
}

/* Chan, Golub and LeVeque's rule, block by block. */
static void add_block(option_run *run, double before, double count, const double *mean, const double *squares) {
  for (int q = 0; q < run->quantities; q++) {
    const double d = mean[q] - run->mean[q], all = before + count;
    run->mean[q] += d * (count / all);
    run->squares[q] += squares[q] + d * d * (before * (count / all));
  }
}

static sim_status step(void *self, sim_clock *clock) {
  option_run *run = self;
  const double left = run->parameters->sampling.paths - clock->t, paths = fmin(batch(run->parameters), left);
  const double count = samples(run, paths);
  double before = samples(run, clock->t);
  SIM_TRY(option_sample(run->sampler, (int64_t)before, (int64_t)count, run->block_mean, run->block_squares));
  for (int b = 0; b * (double)OPTION_BLOCK < count; b++) {
    const double here = fmin(OPTION_BLOCK, count - b * (double)OPTION_BLOCK);
    const double *mean = run->block_mean + b * run->quantities, *squares = run->block_squares + b * run->quantities;
    for (int q = 0; q < run->quantities; q++)
      if (!isfinite(mean[q]) || !isfinite(squares[q]))
        return sim_fail(SIM_ERR_DIVERGED, "%s %d is not finite on some path between %.0f and %.0f",
                        q < option_payoff_count(run->parameters) ? "payoff" : "a greek: quantity", q + 1,
                        before * run->pair, (before + here) * run->pair);
    add_block(run, before, here, mean, squares);
    before += here;
  }
  clock->dt = paths;
  clock->t += paths;
  clock->step++;
  clock->t_end = end_of(run, clock->t);
  return SIM_OK;
}

static sim_status observe(void *self, const sim_clock *clock, int table, double *values) {
  option_run *run = self;
  const int payoffs = option_payoff_count(run->parameters);
  const double n = samples(run, clock->t);
  for (int k = 0; k < payoffs && table > 0; k++)
    values[k] = n == 0 ? NAN : table == 1 ? run->mean[k] : error_of(run, n, k);
  if (table > 0) return SIM_OK;
  *values++ = clock->t;
  *values++ = n == 0 ? NAN : run->mean[0];
  *values++ = error_of(run, n, 0);
  *values++ = error_of(run, n, 0) / fabs(run->mean[0]);
  option_quantity *quantity = calloc((size_t)run->quantities, sizeof *quantity);
  if (quantity == NULL) return sim_fail(SIM_ERR_NO_MEMORY, "no memory for a row");
  option_sampler_quantities(run->parameters, quantity);
  for (int q = payoffs; q < run->quantities && quantity[q].payoff == 0; q++) {
    *values++ = n == 0 ? NAN : run->mean[q];
    *values++ = error_of(run, n, q);
  }
  free(quantity);
  return SIM_OK;
}

static sim_status view(void *self, sim_array *arrays, sim_species *species, sim_frame *frame) {
  option_run *run = self;
  double *const data[] = {[MEAN] = run->mean, [SQUARES] = run->squares};
  (void)species;
  for (int k = 0; k < ARRAYS; k++)
    arrays[k] = (sim_array){.field = &state_fields[k],
                            .dtype = SIM_F64,
                            .rank = 1,
                            .shape = {run->quantities},
                            .global = {run->quantities},
                            .data = data[k]};
  frame->array_count = ARRAYS;
  frame->species_count = 0;
  return SIM_OK;
}

/* ---- beginning and end ---- */

static sim_status plan(const void *parameters, const sim_setup *setup, sim_plan *out) {
  const option_parameters *p = parameters;
  const double quantities = option_sampler_quantities(p, NULL);
  const double guess[SIM_ISA_COUNT] = {5e7, 1.5e8, 4e8};
  sim_plan_add(out, "paths", option_sampler_bytes(p, setup));
  out->checkpoint_bytes = ARRAYS * quantities * sizeof(double);
  out->work_per_step = batch(p) * (double)p->steps * (double)p->assets.count;
  out->work_rate_guess = guess[setup->isa] * setup->threads * (p->common.precision == SIM_DOUBLE ? 0.3 : 1);
  out->steps = isnan(p->sampling.standard_error) ? ceil(p->sampling.paths / batch(p)) : NAN;
  out->t_end = p->sampling.paths;
  return SIM_OK;
}

static void destroy(void **self) {
  option_run *run = *self;
  if (run == NULL) return;
  option_sampler_destroy(&run->sampler);
  free(run->mean);
  free(run);
  *self = NULL;
}

static sim_status restore(option_run *run, const sim_frame *saved) {
  double *const data[] = {[MEAN] = run->mean, [SQUARES] = run->squares};
  for (int k = 0; k < ARRAYS; k++) {
    const sim_array *array = sim_frame_array(saved, state_fields[k].name);
    if (array == NULL || array->dtype != SIM_F64 || array->rank != 1 || array->shape[0] != run->quantities)
      return sim_fail(SIM_ERR_INCOMPATIBLE, "the checkpoint has no %s of these payoffs", state_fields[k].name);
    memcpy(data[k], array->data, sim_array_bytes(array));
  }
  return SIM_OK;
}

static sim_status make(option_run *run, const sim_setup *setup, sim_clock *clock) {
  const option_parameters *p = run->parameters;
  run->quantities = option_sampler_quantities(p, NULL);
  run->pair = p->sampling.antithetic ? 2 : 1;
  const size_t q = (size_t)run->quantities;
  run->mean = calloc(2 * q * (1 + OPTION_BATCH), sizeof(double));
  if (run->mean == NULL) return sim_fail(SIM_ERR_NO_MEMORY, "no memory for the sums");
  run->squares = run->mean + q;
  run->block_mean = run->squares + q;
  run->block_squares = run->block_mean + q * OPTION_BATCH;
  SIM_TRY(option_sampler_create(p, setup, &run->sampler));
  *clock = setup->saved != NULL ? setup->saved->clock : (sim_clock){.dt = batch(p)};
  if (setup->saved != NULL) SIM_TRY(restore(run, setup->saved));
  clock->t_end = end_of(run, clock->t);
  return SIM_OK;
}

static sim_status create(const void *parameters, const sim_setup *setup, sim_clock *clock, void **self) {
  option_run *run = calloc(1, sizeof *run);
  *self = run;
  if (run == NULL) return sim_fail(SIM_ERR_NO_MEMORY, "no memory for the model");
  run->parameters = parameters;
  const sim_status status = make(run, setup, clock);
  if (status != SIM_OK) destroy(self);
  return status;
}

static void describe(const void *self, char *out, size_t capacity) {
  const option_run *run = self;
  const option_parameters *p = run->parameters;
  const int payoffs = option_payoff_count(p);
  snprintf(out, capacity, "%d payoff%s on %zu asset%s, %lld step%s, one path a lane (%s)", payoffs,
           payoffs == 1 ? "" : "s", p->assets.count, p->assets.count == 1 ? "" : "s", (long long)p->steps,
           p->steps == 1 ? "" : "s", option_sampler_name(run->sampler));
}

static void report(const void *self, const sim_clock *clock, char *out, size_t capacity) {
  const option_run *run = self;
  const double n = samples(run, clock->t);
  const int payoffs = option_payoff_count(run->parameters);
  snprintf(out, capacity, "price %.8g +- %.2g%s", run->mean[0], error_of(run, n, 0),
           payoffs > 1 ? " (the first payoff)" : "");
}

static const sim_table *const *tables_of(const void *parameters) {
  return ((const option_parameters *)parameters)->tables;
}

static const sim_table *const tables[] = {&option_price_table, NULL};
static const char *const references[] = {
    "P. Glasserman, Monte Carlo Methods in Financial Engineering, Springer 2003",
    "M. Broadie and P. Glasserman, Management Science 42 (1996) 269: pathwise and likelihood-ratio Greeks",
    "A. G. Z. Kemna and A. C. F. Vorst, Journal of Banking and Finance 14 (1990) 113: geometric control variate",
    "J. Salmon et al., SC11: Philox4x32-10", NULL};

const sim_model option_model = {
    .name = "option",
    .doc = "prices and Greeks of options by simulated paths",
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
    .tables_of = tables_of,
    .state = state_fields,
    .work_unit = "path-steps",
    .ops = {[SIM_BACKEND_CPU] = &option_schema},
    .validate = option_validate,
    .plan = plan,
    .create = create,
    .step = step,
    .observe = observe,
    .view = view,
    .describe = describe,
    .report = report,
    .destroy = destroy,
};
