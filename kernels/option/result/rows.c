/* Rows of the tables of a run: prices, errors, Greeks, biases, bounds, exposures and levels. */
#include "kernels/option/result/leverage.h"
#include "kernels/option/result/tables.h"
#include "kernels/option/run.h"

#include <math.h>

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
  for (int l = 0; l < option_levels_most(run->parameters); l++) {
    values[l] = NAN;
    if (l >= s->levels) continue;
    const double all[OPTION_LEVEL_TABLES] = {[OPTION_LEVEL_PATHS] = s->count[l] * run->pair,
                                             [OPTION_LEVEL_MEANS] = s->mean[l * s->width],
                                             [OPTION_LEVEL_DEVIATIONS] = sqrt(option_level_variance(s, l, 0))};
    values[l] = all[table];
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

sim_status option_observe(void *self, const sim_clock *clock, int table, double *values) {
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
  if (table > 0) observe_greek(run, n, of, values);
  if (table > 0) return SIM_OK;
  *values++ = clock->t;
  *values++ = n == 0 ? NAN : option_mean(run, 0);
  *values++ = option_error(run, n, 0);
  *values++ = option_error(run, n, 0) / fabs(option_mean(run, 0));
  for (int q = payoffs; q < payoffs + run->parameters->price_greeks; q++) {
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
