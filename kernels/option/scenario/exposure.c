/* Parameters of the exposure: their table, and the rules between them. */
#include "kernels/option/exposure/exposure.h"

#include "kernels/option/payoff/exercise.h"
#include "kernels/option/payoff/names.h"
#include "kernels/option/scenario/integral.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const sim_field fields[] = {
    {SIM_FIELD(option_exposure, dates), .type = SIM_NUMBERS, .flags = SIM_OR_FILE,
     .doc = "times of the exposure, ascending; time 0 and the contracts' maturities are added"},
    {SIM_FIELD(option_exposure, every), .type = SIM_INT, .flags = SIM_RANGE, .max = OPTION_STEPS_MAX, .initial = "0",
     .doc = "in place of dates: steps from one date of the exposure to the next"},
    {SIM_FIELD(option_exposure, quantile), .type = SIM_REAL, .flags = SIM_RANGE | SIM_MIN_OPEN | SIM_MAX_OPEN, .max = 1,
     .initial = "0.95", .doc = "probability of the potential future exposure (PFE)"},
    {SIM_FIELD(option_exposure, quantities), .type = SIM_NUMBERS,
     .doc = "quantity of each contract in the netted book, negative where it is sold; none: 1 of each"},
    {SIM_FIELD(option_exposure, paths), .type = SIM_REAL, .flags = SIM_RANGE, .min = OPTION_CHUNK, .max = 0x1p24,
     .initial = "131072", .doc = "paths of the exposure, rounded up to a multiple of 1024"},
    {SIM_FIELD(option_exposure, fit_paths), .type = SIM_REAL, .flags = SIM_RANGE, .min = OPTION_CHUNK, .max = 0x1p24,
     .initial = "65536", .doc = "paths of the regressions for the values, rounded up to a multiple of 1024"},
    {SIM_FIELD(option_exposure, values), .type = SIM_INT, .flags = SIM_RANGE, .max = 1 << 24, .initial = "0",
     .doc = "paths whose values V(t) and prices are written to exposure.h5: the first of `paths`; 0: none"},
    {SIM_FIELD(option_exposure, hazard), .type = SIM_FUNCTION, .flags = SIM_OR_NUMBER | SIM_OR_FILE,
     .signature = &option_term_signature,
     .doc = "default intensity of the other party, for the CVA: a number, or a function or sim.curve of time"},
    {SIM_FIELD(option_exposure, recovery), .type = SIM_REAL, .flags = SIM_RANGE, .max = 1, .initial = "0.4",
     .doc = "share of a claim that a default of the other party leaves"},
    {SIM_FIELD(option_exposure, own_hazard), .type = SIM_FUNCTION, .flags = SIM_OR_NUMBER | SIM_OR_FILE,
     .signature = &option_term_signature, .doc = "own default intensity, for the DVA"},
    {SIM_FIELD(option_exposure, own_recovery), .type = SIM_REAL, .flags = SIM_RANGE, .max = 1, .initial = "0.4",
     .doc = "share of a claim that an own default leaves"},
    {0}};
const sim_schema option_exposure_schema = {
    .doc = "exposure of the netted book", .fields = fields, .size = sizeof(option_exposure)};

/* Reason why a contract has no exposure, or NULL. */
static const char *against(const sim_item *item) {
  const option_payoff *o = item->data;
  if (item->schema == &option_accumulator_schema) return "an accumulator, which pays at several dates";
  if (item->schema == &option_rainbow_schema) return "a rainbow, whose prices are ordered";
  if (o->exchange == OPTION_COMPOSITE || o->exchange == OPTION_AT_PAYMENT)
    return "prices or payments that are converted at a rate of exchange (exchange = \"quanto\" has an exposure)";
  if (o->exchange == OPTION_QUANTO && (o->asset == 0 || o->second > 0)) return "quantos on several assets";
  if (item->schema == &option_lookback_schema) return "the extreme that a lookback has seen";
  if ((item->schema == &option_barrier_schema || item->schema == &option_double_barrier_schema) &&
      o->monitoring == OPTION_CONTINUOUS)
    return "whether a continuous barrier has been reached (monitoring = \"steps\" has an exposure)";
  if (item->schema == &option_american_schema && option_is_joint(o))
    return "the rule of early exercise on several assets, or by a function";
  return NULL;
}

void option_check_exposure_keys(option_parameters *p, sim_faults *faults) {
  const option_exposure *e = &p->exposure;
  if (!e->given) return;
  if ((e->dates.rows > 0) == (e->every > 0))
    sim_faults_add(faults, 0, "exposure", "expected either dates or every, got %s", e->every > 0 ? "both" : "neither");
  if (e->every > 0 && p->steps == 0)
    sim_faults_add(faults, 0, "steps",
                   "missing: exposure.every counts steps: expected their number, such as steps = 50");
  for (size_t k = 0; k < e->dates.rows; k++) {
    const double t = e->dates.data[k], before = k > 0 ? e->dates.data[k - 1] : 0;
    if (t - before > OPTION_SAME_DATE * p->maturity && t <= p->maturity * (1 + OPTION_SAME_DATE)) continue;
    sim_faults_add(faults, 0, "exposure.dates", "expected ascending times after 0, at most maturity = %.9g, got %.9g",
                   p->maturity, t);
    break;
  }
}

static int ascending(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

int option_exposure_steps(const option_parameters *p, const option_grid *grid, int *out) {
  const option_exposure *e = &p->exposure;
  int count = 0, kept = 1;
  out[count++] = 0;
  for (size_t k = 0; k < e->dates.rows; k++) out[count++] = option_grid_at(grid, e->dates.data[k]);
  for (int64_t k = e->every; e->every > 0 && k <= p->steps; k += e->every)
    out[count++] = option_grid_at(grid, p->maturity * ((double)k / (double)p->steps));
  for (size_t i = 0; i < p->payoffs.count; i++) {
    const int step = option_grid_at(grid, option_own_maturity(p, p->payoffs.items[i].data));
    out[count++] = step;
  }
  qsort(out, (size_t)count, sizeof *out, ascending);
  for (int i = 1; i < count; i++)
    if (out[i] > out[kept - 1]) out[kept++] = out[i];
  return kept;
}

/* Checks an intensity, which may be out of its range somewhere. */
static sim_status check_hazard(const option_grid *grid, const char *path, const sim_expr *hazard, sim_faults *faults) {
  double *sum = hazard != NULL ? calloc((size_t)grid->steps, sizeof *sum) : NULL;
  if (hazard == NULL) return SIM_OK;
  if (sum == NULL) return sim_no_memory("the exposure");
  const sim_status status = option_integrate(path, hazard, OPTION_NOT_NEGATIVE, grid, sum, NULL);
  free(sum);
  if (status != SIM_ERR_SCENARIO) return status;
  const char *colon = strchr(sim_error_last()->message, ':');
  sim_faults_add(faults, 0, path, "%s", colon != NULL ? colon + 2 : sim_error_last()->message);
  return SIM_OK;
}

static sim_status count_dates(option_parameters *p, sim_faults *faults) {
  option_grid grid;
  SIM_TRY(option_grid_create(p, 0, 1, &grid));
  const size_t most = 1 + p->exposure.dates.rows + (size_t)p->steps + p->payoffs.count;
  int *step = calloc(most, sizeof *step);
  if (step != NULL) p->exposures = option_exposure_steps(p, &grid, step);
  free(step);
  sim_status status = step != NULL ? SIM_OK : sim_no_memory("the exposure");
  if (status == SIM_OK) status = check_hazard(&grid, "exposure.hazard", p->exposure.hazard, faults);
  if (status == SIM_OK) status = check_hazard(&grid, "exposure.own_hazard", p->exposure.own_hazard, faults);
  option_grid_free(&grid);
  SIM_TRY(status);
  if (p->exposures > OPTION_EXPOSURES_MAX)
    sim_faults_add(faults, 0, "exposure",
                   "expected at most %d dates, with time 0 and the maturities of the contracts, got %d",
                   OPTION_EXPOSURES_MAX, p->exposures);
  return SIM_OK;
}

static void check_contracts(const option_parameters *p, sim_faults *faults) {
  char path[64];
  if (p->payoff != NULL)
    sim_faults_add(faults, 0, "exposure",
                   "expected named payoffs alone: what a function has seen of its path is not known at a date");
  if (p->hull_white.given)
    sim_faults_add(faults, 0, "exposure", "not built for hull_white: expected a rate that is known at a date");
  for (size_t i = 0; i < p->payoffs.count; i++) {
    const char *reason = against(&p->payoffs.items[i]);
    snprintf(path, sizeof path, "payoffs[%zu]", i + 1);
    if (reason != NULL) sim_faults_add(faults, p->payoffs.items[i].line, path, "exposure: not built for %s", reason);
  }
  for (int a = 0; a < (int)p->assets.count; a++) {
    const option_asset *of = option_asset_at(p, a);
    snprintf(path, sizeof path, "assets[%d]", a + 1);
    if (of->vol == NULL && !of->heston.given && of->local_vol == NULL && !of->vol_grid.given)
      sim_faults_add(faults, p->assets.items[a].line, path,
                     "exposure: expected vol, heston, local_vol or vol_grid, whose state at a date is known");
  }
}

sim_status option_check_exposure(option_parameters *p, sim_faults *faults) {
  option_exposure *e = &p->exposure;
  const size_t before = faults->count;
  if (!e->given) return SIM_OK;
  check_contracts(p, faults);
  if (e->quantities.rows > 0 && e->quantities.rows != p->payoffs.count)
    sim_faults_add(faults, 0, "exposure.quantities", "expected %zu numbers, one of each payoff, got %zu",
                   p->payoffs.count, e->quantities.rows);
  e->paths = ceil(e->paths / OPTION_CHUNK) * OPTION_CHUNK;
  e->fit_paths = ceil(e->fit_paths / OPTION_CHUNK) * OPTION_CHUNK;
  if ((double)e->values > e->paths)
    sim_faults_add(faults, 0, "exposure.values", "expected at most exposure.paths = %.0f, got %lld", e->paths,
                   (long long)e->values);
  return faults->count > before ? SIM_OK : count_dates(p, faults);
}
