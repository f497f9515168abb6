/* Steps between the dates of a scenario. */
#include "kernels/option/models/heston.h"

#include "kernels/option/payoff/names.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- dates ---- */

/* Growing list of times. */
typedef struct dates {
  double *time;
  size_t count, room;
  bool failed;
} dates;

static void add_date(dates *d, double t) {
  if (d->count == d->room) {
    d->room = d->room > 0 ? 2 * d->room : 64;
    double *more = realloc(d->time, d->room * sizeof *more);
    if (more == NULL) {
      d->failed = true;
      d->room = d->count;
      return;
    }
    d->time = more;
  }
  d->time[d->count++] = t;
}

/* Calls `take` with each date that the scenario names. */
static void each_date(const option_parameters *p, void (*take)(dates *, double), dates *d) {
  for (size_t i = 0; i < p->payoffs.count; i++) {
    const option_payoff *o = p->payoffs.items[i].data;
    for (size_t k = 0; k < o->dates.rows; k++) take(d, o->dates.data[k]);
    if (o->maturity > 0 && o->maturity < p->maturity) take(d, o->maturity);
    if (o->start_time > 0) take(d, o->start_time);
    if (o->from > 0) take(d, o->from);
    if (o->to > 0 && o->to < p->maturity) take(d, o->to);
  }
  for (size_t k = 0; k < p->exposure.dates.rows; k++) take(d, p->exposure.dates.data[k]);
  for (size_t k = 0; k < p->paths.dates.rows; k++) take(d, p->paths.dates.data[k]);
  for (size_t a = 0; a < p->assets.count; a++) {
    const sim_doubles *cash = &option_asset_at(p, (int)a)->dividends;
    for (size_t k = 0; k < cash->rows; k++) take(d, cash->data[2 * k]);
  }
}

static void earliest(dates *d, double t) {
  if (d->count == 0 || t < d->time[0]) d->time[0] = t;
  d->count = 1;
}

double option_first_date(const option_parameters *p) {
  double first = INFINITY;
  dates d = {.time = &first};
  each_date(p, earliest, &d);
  return first;
}

bool option_is_dated(const option_parameters *p) { return isfinite(option_first_date(p)); }

bool option_is_early(const option_parameters *p, int payoff) {
  const int named = payoff - (option_payoff_count(p) - (int)p->payoffs.count);
  return named >= 0 && p->payoffs.items[named].schema == &option_american_schema;
}

int option_step_kinds(const option_parameters *p) {
  const int payoffs = option_payoff_count(p);
  int early = 0;
  for (int k = 0; k < payoffs; k++) early += option_is_early(p, k);
  return early > 0 && early < payoffs ? 2 : 1;
}

double option_maturity_of(const option_parameters *p, int payoff) {
  const int named = payoff - (option_payoff_count(p) - (int)p->payoffs.count);
  return named >= 0 ? option_own_maturity(p, p->payoffs.items[named].data) : p->maturity;
}

bool option_at_steps(const sim_item *item) {
  const option_payoff *o = item->data;
  if (o->dates.rows > 0) return false;
  if (item->schema == &option_forward_start_schema) return !(o->start_time > 0);
  if (item->schema == &option_asian_schema || option_has_every(item) || option_is_swap(item)) return true;
  return (item->schema == &option_barrier_schema || item->schema == &option_double_barrier_schema ||
          item->schema == &option_lookback_schema) &&
         o->monitoring != OPTION_CONTINUOUS;
}

/* ---- steps ---- */

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Whether paths are written at the steps. */
static bool is_written_at_steps(const option_parameters *p) { return p->paths.given && p->paths.dates.rows == 0; }

/* The dates that steps end at, ascending, each once: those of the scenario, the maturity, and the steps where a payoff
 * observes them. */
static sim_status list_dates(const option_parameters *p, dates *d) {
  bool steps = option_function_at_steps(p) || p->exposure.every > 0 || is_written_at_steps(p);
  for (size_t i = 0; i < p->payoffs.count; i++) steps |= option_at_steps(&p->payoffs.items[i]);
  each_date(p, add_date, d);
  for (int64_t k = 1; steps && k < p->steps; k++) add_date(d, p->maturity * ((double)k / (double)p->steps));
  add_date(d, p->maturity);
  if (d->failed) return sim_no_memory("the dates");
  qsort(d->time, d->count, sizeof *d->time, compare);
  size_t kept = 0;
  for (size_t i = 0; i < d->count; i++)
    if (kept == 0 || d->time[i] - d->time[kept - 1] > OPTION_SAME_DATE * p->maturity) d->time[kept++] = d->time[i];
  d->count = kept;
  return SIM_OK;
}

/* Steps from one date to the next. */
static double steps_between(const option_parameters *p, double from, double to) {
  return fmax(ceil((to - from) * (double)p->steps / p->maturity - 1e-6), 1);
}

static sim_status allocate(double steps, option_grid *out) {
  if (steps > OPTION_STEPS_MAX) return sim_fail(SIM_ERR_SCENARIO, "steps: more than %d", OPTION_STEPS_MAX);
  out->steps = (int)steps;
  const size_t n = (size_t)steps;
  out->time = calloc(3 * n + 1, sizeof(double) + sizeof(int));
  if (out->time == NULL) return sim_no_memory("the steps");
  out->length = out->time + n + 1;
  out->span = out->length + n;
  out->kind = (int *)(void *)(out->time + 3 * n + 1);
  return SIM_OK;
}

/* Numbers the different lengths; each: every step is a kind of its own. */
static void find_kinds(option_grid *g, int parts, bool each) {
  const double same = 1e-12 * g->time[g->steps] / parts; /* so that parts have the kinds of their steps */
  for (int s = 0; s < g->steps && each; s++) {
    g->span[s] = g->length[s];
    g->kind[s] = s;
  }
  if (each) g->kinds = g->steps;
  for (int s = 0; s < g->steps && !each; s++) {
    int k = s > 0 && fabs(g->span[g->kind[s - 1]] - g->length[s]) <= same ? g->kind[s - 1] : 0;
    while (k < g->kinds && fabs(g->span[k] - g->length[s]) > same) k++;
    if (k == g->kinds) g->span[g->kinds++] = g->length[s];
    g->kind[s] = k;
  }
}

static sim_status make_dated(const option_parameters *p, const dates *d, double later, int parts, option_grid *out) {
  double all = 0, from = 0;
  for (size_t i = 0; i < d->count; from = d->time[i++]) all += steps_between(p, from, d->time[i]) * parts;
  SIM_TRY(allocate(all, out));
  int step = 0;
  from = 0;
  for (size_t i = 0; i < d->count; from = d->time[i++]) {
    const int n = (int)steps_between(p, from, d->time[i]) * parts;
    const double begin = i == 0 ? 0 : from + later, end = d->time[i] + later, length = (end - begin) / n;
    for (int k = 1; k <= n; k++, step++) {
      out->time[step + 1] = k == n ? end : begin + k * length;
      out->length[step] = length;
    }
  }
  return SIM_OK;
}

bool option_steps_vary(const option_parameters *p) {
  bool any = false;
  for (int a = 0; a < (int)p->assets.count; a++)
    any |= option_asset_at(p, a)->heston.given && option_heston_varies(&option_asset_at(p, a)->heston);
  return any;
}

sim_status option_grid_create(const option_parameters *p, double later, int parts, option_grid *out) {
  *out = (option_grid){0};
  sim_status status = SIM_OK;
  if (option_is_dated(p)) {
    dates d = {0};
    status = list_dates(p, &d);
    if (status == SIM_OK) status = make_dated(p, &d, later, parts, out);
    free(d.time);
  } else {
    status = allocate((double)p->steps * parts, out);
    for (int s = 0; s < out->steps && status == SIM_OK; s++) {
      out->length[s] = (p->maturity + later) / ((double)p->steps * parts);
      out->time[s + 1] = (s + 1) * out->length[s];
    }
  }
  if (status == SIM_OK)
    find_kinds(out, parts, option_steps_vary(p));
  else
    option_grid_free(out);
  return status;
}

void option_grid_free(option_grid *grid) {
  free(grid->time);
  *grid = (option_grid){0};
}

int option_grid_at(const option_grid *g, double t) {
  const double near = 2 * OPTION_SAME_DATE * g->time[g->steps];
  int low = 0, high = g->steps;
  while (low < high) { /* the first time that is not below t - near */
    const int middle = (low + high) / 2;
    if (g->time[middle] < t - near)
      low = middle + 1;
    else
      high = middle;
  }
  return fabs(g->time[low] - t) <= near ? low : -1;
}

/* ---- rules ---- */

/* A list without dates: those of the key's absence are others. */
static void check_empty(const sim_doubles *times, int line, const char *path, sim_faults *faults) {
  if (times->data != NULL && times->rows == 0)
    sim_faults_add(faults, line, path,
                   "dates: expected one or more, got an empty list (without the key they are the steps)");
}

static void check_payoff(const option_parameters *p, size_t i, sim_faults *faults) {
  const sim_item *item = &p->payoffs.items[i];
  const option_payoff *o = item->data;
  const double end = option_own_maturity(p, o), step = p->maturity / (double)p->steps;
  const double near = 2 * OPTION_SAME_DATE * p->maturity; /* times no farther apart may end the same step */
  char path[64];
  snprintf(path, sizeof path, "payoffs[%zu]", i + 1);
  if (o->maturity > p->maturity * (1 + OPTION_SAME_DATE))
    sim_faults_add(faults, item->line, path, "maturity: expected at most that of the run, %.9g, got %.9g", p->maturity,
                   o->maturity);
  if (o->maturity > 0 && !(o->maturity > near))
    sim_faults_add(faults, item->line, path, "maturity: expected a time later than %.9g, got %.9g", near, o->maturity);
  check_empty(&o->dates, item->line, path, faults);
  for (size_t k = 0; k < o->dates.rows; k++) {
    const double t = o->dates.data[k], before = k > 0 ? o->dates.data[k - 1] : 0;
    if (t > 0 && t <= end * (1 + OPTION_SAME_DATE) && t - before > near) continue;
    sim_faults_add(faults, item->line, path,
                   "dates: expected ascending times above 0, at most the maturity %.9g, got %.9g%s", end, t,
                   k > 0 && t > 0 && t <= end ? " after a time as late"
                   : t > 0 && t <= near       ? ", which counts as 0 (within 2e-9 of the maturity)"
                                              : "");
    break;
  }
  if (option_has_every(item) && o->dates.rows > 0 && o->every > 1)
    sim_faults_add(faults, item->line, path, "every: is for dates at the steps: expected no other than dates");
  if (o->dates.rows > 0 && o->monitoring == OPTION_CONTINUOUS)
    sim_faults_add(faults, item->line, path, "dates: are for monitoring = \"steps\"");
  if (item->schema == &option_forward_start_schema && (o->start > 0) == (o->start_time > 0))
    sim_faults_add(faults, item->line, path, "expected one of start, a step, and start_time, got %s",
                   o->start > 0 ? "both" : "none");
  if (o->start_time > 0 && !(o->start_time > near && o->start_time < end - near))
    sim_faults_add(faults, item->line, path, "start_time: expected a time before the maturity %.9g%s, got %.9g", end,
                   o->start_time < end ? ", not so close to it or to 0" : "", o->start_time);
  const bool window = o->from > 0 || o->to > 0;
  if (window && o->monitoring != OPTION_CONTINUOUS)
    sim_faults_add(faults, item->line, path, "from, to: are for monitoring = \"continuous\": expected dates");
  else if (window && !((o->from == 0 || o->from > near) && (o->to > 0 ? o->to : end) - o->from > near &&
                       !(o->to > end * (1 + OPTION_SAME_DATE))))
    sim_faults_add(faults, item->line, path,
                   "from, to: expected two times, the first earlier, at most the maturity %.9g", end);
  const double own = end / step;
  if (o->maturity > 0 && option_at_steps(item) && fabs(own - round(own)) > 1e-6)
    sim_faults_add(
        faults, item->line, path,
        "maturity: prices are observed at the steps of %.9g, and %.9g is not the end of one: expected dates, "
        "or another maturity",
        step, o->maturity);
}

static void check_dividends(const option_parameters *p, int asset, sim_faults *faults) {
  const sim_doubles *cash = &option_asset_at(p, asset)->dividends;
  char path[64];
  snprintf(path, sizeof path, "assets[%d].dividends", asset + 1);
  for (size_t k = 0; k < cash->rows; k++) {
    const double t = cash->data[2 * k], amount = cash->data[2 * k + 1];
    const double before = k > 0 ? cash->data[2 * k - 2] : 0;
    if (!(t > 0 && t <= p->maturity && t - before > 2 * OPTION_SAME_DATE * p->maturity))
      sim_faults_add(faults, p->assets.items[asset].line, path,
                     "expected ascending times above 0, at most the maturity %.9g, got %.9g", p->maturity, t);
    if (!(amount >= 0 && amount < option_asset_at(p, asset)->spot))
      sim_faults_add(faults, p->assets.items[asset].line, path,
                     "expected amounts from 0 to below the spot %.9g, got %.9g", option_asset_at(p, asset)->spot,
                     amount);
  }
}

sim_status option_check_dates(option_parameters *p, sim_faults *faults) {
  const size_t before = faults->count;
  for (size_t i = 0; i < p->payoffs.count; i++) check_payoff(p, i, faults);
  check_empty(&p->paths.dates, 0, "paths", faults);
  for (int a = 0; a < (int)p->assets.count; a++) check_dividends(p, a, faults);
  p->nodes = p->steps;
  p->longest = p->maturity / (double)p->steps;
  if (faults->count > before || !option_is_dated(p)) return SIM_OK;
  option_grid grid;
  const sim_status status = option_grid_create(p, 0, 1, &grid);
  if (status == SIM_ERR_SCENARIO) {
    sim_faults_add(faults, 0, "steps", "expected at most %d together with those that end at dates", OPTION_STEPS_MAX);
    return SIM_OK;
  }
  SIM_TRY(status);
  p->nodes = grid.steps;
  p->longest = 0;
  for (int k = 0; k < grid.kinds; k++) p->longest = fmax(p->longest, grid.span[k]);
  option_grid_free(&grid);
  return SIM_OK;
}
