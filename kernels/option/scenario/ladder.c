/* Parameters of the ladder: their table, their points, and the rules between them. */
#include "kernels/option/scenario/ladder.h"

#include "kernels/option/models/sabr.h"
#include "kernels/option/payoff/names.h"
#include "kernels/option/scenario/integral.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const sim_field fields[] = {{SIM_FIELD(option_ladder, spot), .type = SIM_NUMBERS,
                                    .doc = "shifts of the spot as shares of it, ascending: -0.1 is 10 % lower"},
                                   {SIM_FIELD(option_ladder, vol), .type = SIM_NUMBERS,
                                    .doc = "shifts of the volatility, ascending: 0.01 is one point higher"},
                                   {SIM_FIELD(option_ladder, time), .type = SIM_NUMBERS,
                                    .doc = "how much later it is, ascending from 0 on: 1/365 is tomorrow"},
                                   {SIM_FIELD(option_ladder, asset), .type = SIM_INT, .flags = SIM_RANGE,
                                    .max = OPTION_ASSETS_MAX, .initial = "0",
                                    .doc = "the asset whose spot and volatility are shifted; 0: all together"},
                                   {0}};
const sim_schema option_ladder_schema = {.doc = "ladder of scenarios", .fields = fields, .size = sizeof(option_ladder)};

/* ---- points ---- */

int option_ladder_points(const option_parameters *p) {
  const option_ladder *l = &p->ladder;
  return l->given ? option_shift_count(&l->spot) * option_shift_count(&l->vol) * option_shift_count(&l->time) : 0;
}

static double shift_at(const sim_doubles *shifts, int index) { return shifts->rows > 0 ? shifts->data[index] : 0; }

option_point option_ladder_point(const option_parameters *p, int point) {
  const option_ladder *l = &p->ladder;
  const int spots = option_shift_count(&l->spot), vols = option_shift_count(&l->vol);
  option_point out = {.spot = point % spots, .vol = point / spots % vols, .time = point / (spots * vols)};
  out.bump = (option_bump){.asset = l->asset > 0 ? (int)l->asset - 1 : OPTION_ALL_ASSETS,
                           .spot = shift_at(&l->spot, out.spot),
                           .vol = shift_at(&l->vol, out.vol),
                           .maturity = -shift_at(&l->time, out.time)};
  out.today = out.bump.spot == 0 && out.bump.vol == 0 && out.bump.maturity == 0;
  return out;
}

bool option_payoff_is_timed(const sim_item *item) {
  const option_payoff *o = item->data;
  return option_pays_at_dates(item) || (option_is_swap(item) && !(o->per_year > 0));
}

/* ---- rules ---- */

static void check_shifts(const char *name, const sim_doubles *shifts, double least, bool open, sim_faults *faults) {
  char path[32];
  snprintf(path, sizeof path, "ladder.%s", name);
  if (shifts->rows > OPTION_LADDER_MAX)
    sim_faults_add(faults, 0, path, "expected at most %d shifts, got %zu", OPTION_LADDER_MAX, shifts->rows);
  for (size_t k = 0; k < shifts->rows; k++) {
    const double shift = shifts->data[k];
    const bool low = open ? !(shift > least) : !(shift >= least);
    if (!low && (k == 0 || shift > shifts->data[k - 1])) continue;
    if (low)
      sim_faults_add(faults, 0, path, "expected shifts %s %.9g, got %.9g", open ? "above" : "of at least", least,
                     shift);
    else
      sim_faults_add(faults, 0, path, "expected ascending shifts, got %.9g after %.9g", shift, shifts->data[k - 1]);
    break;
  }
}

/* Refuses times that payoffs cannot have: a date would have passed, or fixings at the steps would move. */
static void check_times(const option_parameters *p, sim_faults *faults) {
  const sim_doubles *time = &p->ladder.time;
  const double latest = time->rows > 0 ? time->data[time->rows - 1] : 0;
  const double first = fmin(option_first_date(p), p->maturity);
  if (!(latest > 0)) return;
  if (!(latest <= first * (1 - 1e-6)))
    sim_faults_add(faults, 0, "ladder.time",
                   "expected times before the first date or maturity of the scenario, %.9g, got %.9g: what is fixed or "
                   "paid at that date is not known",
                   first, latest);
  for (size_t i = 0; i <= p->payoffs.count; i++) {
    const sim_item *item = i < p->payoffs.count ? &p->payoffs.items[i] : NULL;
    char path[64] = "payoff";
    if (item != NULL ? !option_at_steps(item) : !option_function_at_steps(p)) continue;
    if (item != NULL) snprintf(path, sizeof path, "payoffs[%zu]", i + 1);
    sim_faults_add(faults, item != NULL ? item->line : 0, path,
                   "ladder.time: this payoff observes prices at the steps, which come nearer with the maturity: "
                   "expected %s",
                   item != NULL ? "dates of its own" : "a ladder without time");
  }
}

/* A function plus a shift, or its root plus a shift. */
static sim_status shifted(const sim_expr *of, bool root, double shift, sim_expr **out) {
  sim_expr_builder *builder;
  sim_expr_ref t, sum[2];
  SIM_TRY(sim_expr_builder_create(&builder));
  sim_status status = sim_expr_builder_input(builder, "t", &t);
  if (status == SIM_OK) status = sim_expr_builder_insert(builder, of, &t, &sum[0]);
  if (status == SIM_OK && root) status = sim_expr_builder_call(builder, SIM_EXPR_SQRT, sum, &sum[0]);
  if (status == SIM_OK) status = sim_expr_builder_number(builder, shift, &sum[1]);
  if (status == SIM_OK) status = sim_expr_builder_call(builder, SIM_EXPR_ADD, sum, &sum[0]);
  if (status == SIM_OK) status = sim_expr_builder_finish(builder, sum, (const char *const[]){"vol"}, 1, out);
  sim_expr_builder_free(&builder);
  return status;
}

/* Refuses a shift by which a volatility, the root of `of` where `root`, is below 0 at some time. */
static sim_status check_volatility(const option_grid *grid, const sim_expr *of, bool root, double shift, int asset,
                                   sim_faults *faults) {
  double *sum = calloc((size_t)grid->steps, sizeof *sum);
  sim_expr *expr = NULL;
  if (sum == NULL) return sim_no_memory("the ladder");
  sim_status status = shifted(of, root, shift, &expr);
  if (status == SIM_OK) status = option_integrate("vol", expr, OPTION_NOT_NEGATIVE, grid, sum, NULL);
  sim_expr_free(&expr);
  free(sum);
  if (status != SIM_ERR_SCENARIO) return status;
  sim_faults_add(faults, 0, "ladder.vol", "%.9g: the volatility of assets[%d] would be below 0", shift, asset + 1);
  return SIM_OK;
}

static sim_status check_heston(const option_grid *grid, const option_heston *h, double shift, int asset,
                               sim_faults *faults) {
  if (sqrt(h->v) + shift >= 0) return check_volatility(grid, h->theta, true, shift, asset, faults);
  sim_faults_add(faults, 0, "ladder.vol", "%.9g: the root of v of assets[%d], %.9g, would be below 0", shift, asset + 1,
                 sqrt(h->v));
  return SIM_OK;
}

/* Refuses SABR's steps where a shifted volatility is below 0 or too large for them. */
static void check_sabr(const option_parameters *p, double spot, double shift, int asset, sim_faults *faults) {
  option_asset a = *option_asset_at(p, asset);
  a.spot *= 1 + spot;
  const double vol = option_sabr_volatility(&a) + shift, deviation = vol * sqrt(p->longest);
  if (!(vol > 0))
    sim_faults_add(faults, 0, "ladder", "spot %+.9g, vol %+.9g: the volatility of assets[%d] would not be above 0",
                   spot, shift, asset + 1);
  else if (a.sabr.beta < 1 && deviation > OPTION_SABR_DEVIATION)
    sim_faults_add(
        faults, 0, "ladder", "spot %+.9g, vol %+.9g: steps = %lld are too long for SABR there: expected %.0f or more",
        spot, shift, (long long)p->steps, ceil((double)p->steps * pow(deviation / OPTION_SABR_DEVIATION, 2) - 1e-6));
}

/* Checks the lowest and the highest shifts of an asset: volatilities and steps between them are within theirs. */
static sim_status check_asset(const option_parameters *p, const option_grid *grid, int asset, sim_faults *faults) {
  const option_asset *a = option_asset_at(p, asset);
  const option_ladder *l = &p->ladder;
  const size_t before = faults->count;
  const int ends[2][2] = {{0, option_shift_count(&l->spot) - 1}, {0, option_shift_count(&l->vol) - 1}};
  const double lowest = shift_at(&l->vol, 0);
  for (int s = 0; s < 2; s++)
    for (int v = 0; v < 2 && a->sabr.given && faults->count == before; v++)
      check_sabr(p, shift_at(&l->spot, ends[0][s]), shift_at(&l->vol, ends[1][v]), asset, faults);
  if (!(lowest < 0)) return SIM_OK;
  if (a->vol != NULL) return check_volatility(grid, a->vol, false, lowest, asset, faults);
  if (a->rough_bergomi.given) return check_volatility(grid, a->rough_bergomi.xi, true, lowest, asset, faults);
  if (a->heston.given && !a->leverage.given) return check_heston(grid, &a->heston, lowest, asset, faults);
  return SIM_OK; /* a local volatility below 0 ends the run on its path */
}

static sim_status check_assets(const option_parameters *p, sim_faults *faults) {
  option_grid grid;
  SIM_TRY(option_grid_create(p, 0, false, &grid));
  sim_status status = SIM_OK;
  for (int a = 0; a < (int)p->assets.count && status == SIM_OK; a++)
    if (p->ladder.asset == 0 || p->ladder.asset == a + 1) status = check_asset(p, &grid, a, faults);
  option_grid_free(&grid);
  return status;
}

sim_status option_check_ladder(const option_parameters *p, sim_faults *faults) {
  const option_ladder *l = &p->ladder;
  const size_t before = faults->count;
  if (!l->given) return SIM_OK;
  if (l->spot.rows + l->vol.rows + l->time.rows == 0)
    sim_faults_add(faults, 0, "ladder", "expected shifts of spot, vol or time, got none");
  check_shifts("spot", &l->spot, -1, true, faults);
  check_shifts("vol", &l->vol, -INFINITY, false, faults);
  check_shifts("time", &l->time, 0, false, faults);
  if (l->asset > (int64_t)p->assets.count)
    sim_faults_add(faults, 0, "ladder.asset", "expected one of %zu assets, got number %lld", p->assets.count,
                   (long long)l->asset);
  if (faults->count == before && option_ladder_points(p) > OPTION_POINTS_MAX)
    sim_faults_add(faults, 0, "ladder", "expected at most %d points, got %d", OPTION_POINTS_MAX,
                   option_ladder_points(p));
  if (faults->count > before) return SIM_OK;
  check_times(p, faults);
  return check_assets(p, faults);
}
