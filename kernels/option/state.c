/* Arrays of a run's state: the sums over its samples, in checkpoints and restarts. */
#include "kernels/option/run.h"

#include <math.h>
#include <string.h>

enum {
  MEAN,
  SQUARES,
  WHOLE_MEAN,
  WHOLE_SQUARES,
  TAILS,
  WHOLE_TAILS,
  BIAS_MEAN,
  BIAS_SQUARES,
  BIAS_CHUNKS,
  LEVELS,
  ARRAYS
};
const sim_field option_state[] = {
    [MEAN] = {.name = "mean", .type = SIM_REAL, .doc = "means of each quantity's samples"},
    [SQUARES] = {.name = "squares", .type = SIM_REAL, .doc = "sums of their squared deviations"},
    [WHOLE_MEAN] = {.name = "whole_mean", .type = SIM_REAL, .doc = "means over the whole logical blocks"},
    [WHOLE_SQUARES] = {.name = "whole_squares", .type = SIM_REAL, .doc = "sums of their squared deviations"},
    [TAILS] = {.name = "tails",
               .type = SIM_REAL,
               .doc = "of each quantity, over groups of samples: sums of squared deviations, and of their squares"},
    [WHOLE_TAILS] = {.name = "whole_tails", .type = SIM_REAL, .doc = "the same over the whole logical blocks"},
    [BIAS_MEAN] = {.name = "bias_mean", .type = SIM_REAL, .doc = "bias of each quantity by the time steps"},
    [BIAS_SQUARES] = {.name = "bias_squares",
                      .type = SIM_REAL,
                      .doc = "sums of squared deviations of the chunks' biases"},
    [BIAS_CHUNKS] = {.name = "bias_chunks", .type = SIM_REAL, .doc = "number of chunks"},
    [LEVELS] = {.name = "levels",
                .type = SIM_REAL,
                .doc =
                    "of a multilevel run, and alone: samples, means, squared deviations, samples other than 0, squared "
                    "deviations of pieces squared"},
    [ARRAYS] = {.name = NULL}};
enum { ARRAYS_EXACT = BIAS_MEAN /* of a run whose steps are exact */ };
/* The arrays of a run: from the first on. */
static int first_array(const option_run *run) { return run->levels != NULL ? LEVELS : MEAN; }
static int array_count(const option_run *run) {
  return run->levels != NULL ? 1 : run->bias != NULL ? LEVELS : ARRAYS_EXACT;
}

static void state_data(option_run *run, double *data[ARRAYS]) {
  const size_t all = (size_t)run->quantities * (size_t)run->groups;
  data[MEAN] = run->mean;
  data[SQUARES] = run->squares;
  data[WHOLE_MEAN] = run->whole;
  data[WHOLE_SQUARES] = run->whole + all;
  data[TAILS] = run->tails;
  data[WHOLE_TAILS] = run->whole_tails;
  data[BIAS_MEAN] = run->bias_mean;
  data[BIAS_SQUARES] = run->bias_squares;
  data[BIAS_CHUNKS] = &run->bias_chunks;
  data[LEVELS] = run->levels != NULL ? option_levels_state(run->levels) : NULL;
}

static int64_t state_numbers(const option_run *run, int array) {
  if (array == LEVELS) return option_levels_numbers(run->parameters);
  if (array == BIAS_CHUNKS) return 1;
  if (array == TAILS || array == WHOLE_TAILS) return 2 * run->quantities;
  return array >= BIAS_MEAN ? run->told : run->quantities * run->groups;
}

sim_status option_view(void *self, sim_array *arrays, sim_species *species, sim_frame *frame) {
  option_run *run = self;
  double *data[ARRAYS];
  state_data(run, data);
  (void)species;
  for (int k = first_array(run), i = 0; i < array_count(run); k++, i++)
    arrays[i] = (sim_array){.field = &option_state[k],
                            .dtype = SIM_F64,
                            .rank = 1,
                            .shape = {state_numbers(run, k)},
                            .global = {state_numbers(run, k)},
                            .data = data[k]};
  frame->array_count = (size_t)array_count(run);
  frame->species_count = 0;
  return SIM_OK;
}

double option_state_bytes(const option_parameters *p) {
  const double told = option_quantities(p, NULL), quantities = told + option_ladder_quantities(p);
  if (p->sampling.multilevel) return (double)option_levels_numbers(p) * sizeof(double);
  const double sums = (TAILS * quantities * option_groups(p) + 4 * quantities) * sizeof(double);
  return option_has_bias(p) ? sums + (2 * told + 1) * sizeof(double) : sums;
}

static sim_status restore(option_run *run, const sim_frame *saved) {
  sim_array arrays[ARRAYS];
  sim_frame own;
  SIM_TRY(option_view(run, arrays, NULL, &own));
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
  const size_t tails = 2 * (size_t)run->quantities * sizeof *run->tails;
  if (base == 0) { /* with fewer paths the rounds may be smaller */
    memset(run->whole, 0, 2 * all * sizeof *run->whole);
    memset(run->whole_tails, 0, tails);
  }
  memcpy(run->mean, run->whole, 2 * all * sizeof *run->mean);
  memcpy(run->tails, run->whole_tails, tails);
  clock->t = base * run->pair;
  clock->step = (int64_t)floor(base / ((double)run->batch * OPTION_BLOCK));
}

sim_status option_state_restore(option_run *run, const sim_frame *saved, sim_clock *clock) {
  SIM_TRY(restore(run, saved));
  extend(run, clock);
  return SIM_OK;
}
