/* Integrals of functions of time over the steps, and the loss of correlation within steps. */
#include "engine/log.h"
#include "kernels/option/scenario/integral.h"
#include "kernels/option/scenario/market.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Gauss-Legendre nodes on [0, 1], and the limits of the refinement. */
enum { NODES = 8, POINTS = 3 * NODES, TOGETHER = 32, PANELS = 2048, DEPTH = 120, PANELS_MOST = 1 << 20 };
static const double node[NODES] = {0.01985507175123188, 0.10166676129318664, 0.2372337950418355, 0.4082826787521751,
                                   0.5917173212478249,  0.7627662049581645,  0.8983332387068134, 0.9801449282487681};
static const double weight[NODES] = {0.05061426814518813, 0.1111905172266872, 0.1568533229389437, 0.181341891689181,
                                     0.181341891689181,   0.1568533229389437, 0.1111905172266872, 0.05061426814518813};

typedef struct panel {
  double from, to;
  int step, depth;
} panel;

typedef struct integral {
  const sim_expr_program *program;
  void *scratch;
  option_range range;
  double size[2];         /* magnitudes of the integrals of f and f^2 */
  double bad, bad_at;     /* a forbidden value, and its time */
  bool found_bad, failed; /* failed: the refinement did not end */
  bool missed;            /* some jumps may not have been found */
  double *sums[2];        /* [steps] each; the second may be NULL */
  int64_t panels;
} integral;

static bool is_in(double value, option_range range) {
  return isfinite(value) &&
         (range.open ? value > range.least && value < range.most : value >= range.least && value <= range.most);
}

static void evaluate(integral *f, const double *t, size_t count, double *value) {
  sim_expr_program_run(f->program, count, (const void *const[]){t}, (void *const[]){value}, f->scratch);
  for (size_t i = 0; i < count && !f->found_bad; i++) {
    if (is_in(value[i], f->range)) continue;
    f->bad = value[i];
    f->bad_at = t[i];
    f->found_bad = true;
  }
}

/* Integrates up to TOGETHER panels whole and in halves. Panels whose two results differ by more than 1e-13 of the
 * whole integral go into out as halves; returns their number. */
static int refine(integral *f, const panel *in, int count, panel *out) {
  double t[TOGETHER * POINTS] = {0}, value[TOGETHER * POINTS];
  int rest = 0;
  for (int p = 0; p < count; p++) {
    const double width = in[p].to - in[p].from;
    for (int k = 0; k < NODES; k++) {
      double *at = t + p * POINTS + k;
      at[0] = in[p].from + width * node[k];
      at[NODES] = in[p].from + width / 2 * node[k];
      at[2 * NODES] = in[p].from + width / 2 * (1 + node[k]);
    }
  }
  evaluate(f, t, (size_t)(count * POINTS), value);
  for (int p = 0; p < count; p++) {
    const double *v = value + p * POINTS, width = in[p].to - in[p].from, middle = in[p].from + width / 2;
    double whole[2] = {0, 0}, halves[2] = {0, 0};
    for (int k = 0; k < NODES; k++)
      for (int power = 0; power < 2; power++) {
        whole[power] += weight[k] * width * (power ? v[k] * v[k] : v[k]);
        for (int half = 1; half < 3; half++) {
          const double one = v[half * NODES + k];
          halves[power] += weight[k] * width / 2 * (power ? one * one : one);
        }
      }
    bool near = true;
    for (int power = 0; power < 2 && f->sums[power] != NULL; power++) {
      f->size[power] = fmax(f->size[power], fabs(halves[power]));
      near &= fabs(whole[power] - halves[power]) <= 1e-13 * f->size[power];
    }
    if (near) {
      for (int power = 0; power < 2; power++)
        if (f->sums[power] != NULL) f->sums[power][in[p].step] += halves[power];
      continue;
    }
    f->failed |= in[p].depth == DEPTH || !(middle > in[p].from && middle < in[p].to);
    out[rest++] = (panel){in[p].from, middle, in[p].step, in[p].depth + 1};
    out[rest++] = (panel){middle, in[p].to, in[p].step, in[p].depth + 1};
  }
  f->panels += count;
  return rest;
}

/* Refines a list of panels until it is empty, last ones first, which keeps the list short; false: failed. */
static bool finish(integral *f, panel *list, int count) {
  while (count > 0 && !f->found_bad && !f->failed) {
    const int now = count < TOGETHER ? count : TOGETHER;
    panel taken[TOGETHER];
    memcpy(taken, list + count - now, (size_t)now * sizeof *taken);
    count += refine(f, taken, now, list + count - now) - now;
    f->failed |= f->panels > PANELS_MOST;
  }
  return !f->failed;
}

/* Integrates over all steps; panels end at steps and at possible jumps; false: failed. */
static bool sweep(integral *f, const option_grid *grid, const double *breaks, int count) {
  panel list[TOGETHER * (2 * DEPTH + 4)];
  const double most = grid->time[grid->steps] / PANELS;
  int waiting = 0, next = 0;
  for (int s = 0; s < grid->steps; s++) {
    const double end = grid->time[s + 1];
    double from = grid->time[s];
    while (from < end && !f->found_bad) {
      while (next < count && breaks[next] <= from) next++;
      const double cut = next < count && breaks[next] < end ? breaks[next] : end,
                   parts = fmax(ceil((cut - from) / most), 1);
      for (int i = 0; i < (int)parts; i++) {
        const double right = i + 1 < (int)parts ? from + (cut - from) * (i + 1) / parts : cut;
        list[waiting++] = (panel){from + (cut - from) * i / parts, right, s, 0};
        if (waiting < TOGETHER) continue;
        if (!finish(f, list, waiting)) return false;
        waiting = 0;
      }
      from = cut;
    }
  }
  return finish(f, list, waiting);
}

/* Estimates the magnitudes of the integrals. */
static void estimate_sizes(integral *f, double maturity) {
  double t[PANELS], value[PANELS];
  for (int i = 0; i < PANELS; i++) t[i] = (i + 0.5) / PANELS * maturity;
  evaluate(f, t, PANELS, value);
  for (int i = 0; i < PANELS; i++) {
    f->size[0] += fabs(value[i]) * maturity / PANELS;
    f->size[1] += value[i] * value[i] * maturity / PANELS;
  }
}

static sim_status integrate(integral *f, const sim_expr *expr, const option_grid *grid, bool *done) {
  const double maturity = grid->time[grid->steps];
  double *breaks = NULL;
  int count = 0;
  sim_expr_program *program = NULL;
  sim_status status = sim_expr_program_create(expr, &(sim_expr_target){.isa = SIM_ISA_PLAIN}, &program);
  f->scratch = status == SIM_OK ? aligned_alloc(64, (sim_expr_program_scratch(program) + 127) / 64 * 64) : NULL;
  if (status == SIM_OK && f->scratch == NULL) status = sim_no_memory("the market");
  if (status == SIM_OK) status = option_breaks(expr, 0, 0, maturity, &breaks, &count, &f->missed);
  if (status == SIM_OK) {
    f->program = program;
    estimate_sizes(f, maturity);
    *done = sweep(f, grid, breaks, count);
  }
  free(breaks);
  free(f->scratch);
  sim_expr_program_free(&program);
  return status;
}

sim_status option_check_range(const char *name, option_range range, double value, double t) {
  char got[32] = "NaN", expected[64] = "a finite number";
  if (is_in(value, range)) return SIM_OK;
  if (!isnan(value)) snprintf(got, sizeof got, "%.9g", value);
  if (range.most < INFINITY)
    snprintf(expected, sizeof expected, "a number above %g and below %g", range.least, range.most);
  else if (range.least == 0)
    snprintf(expected, sizeof expected, "a number %s 0", range.open ? ">" : ">=");
  return sim_fail(SIM_ERR_SCENARIO, "%s: expected %s, got %s at t = %.9g", name, expected, got, t);
}

sim_status option_integrate(const char *name, const sim_expr *expr, option_range range, const option_grid *grid,
                            double *sum, double *squares) {
  const int steps = grid->steps;
  integral f = {.range = range, .sums = {sum, squares}};
  bool done = true;
  double value = 0;
  for (int s = 0; s < steps; s++) sum[s] = 0;
  for (int s = 0; s < steps && squares != NULL; s++) squares[s] = 0;
  if (sim_expr_depends(expr, 0, 0)) {
    SIM_TRY(integrate(&f, expr, grid, &done));
  } else {
    SIM_TRY(option_local_vol(expr, 0, 0, &value));
    f.found_bad = !is_in(value, range);
    f.bad = value;
    for (int s = 0; s < steps; s++) sum[s] = value * grid->length[s];
    for (int s = 0; s < steps && squares != NULL; s++) squares[s] = value * value * grid->length[s];
  }
  if (f.found_bad) SIM_TRY(option_check_range(name, range, f.bad, f.bad_at));
  if (!done)
    return sim_fail(SIM_ERR_SCENARIO,
                    "%s: its integrals over the steps are not found to 1e-10, for it changes too often: expected a "
                    "smoother function of time, or sim.curve { {t, value}, ... }",
                    name);
  if (f.missed) option_warn_missed(name);
  return SIM_OK;
}

/* ---- correlations ---- */

sim_status option_product(const sim_expr *a, const sim_expr *b, sim_expr **out) {
  sim_expr_builder *builder;
  sim_expr_ref t, of[2];
  SIM_TRY(sim_expr_builder_create(&builder));
  sim_status status = sim_expr_builder_input(builder, "t", &t);
  if (status == SIM_OK) status = sim_expr_builder_insert(builder, a, &t, &of[0]);
  if (status == SIM_OK) status = sim_expr_builder_insert(builder, b, &t, &of[1]);
  if (status == SIM_OK) status = sim_expr_builder_call(builder, SIM_EXPR_MUL, of, &of[0]);
  if (status == SIM_OK) status = sim_expr_builder_finish(builder, of, (const char *const[]){"product"}, 1, out);
  sim_expr_builder_free(&builder);
  return status;
}

/* Largest relative loss of correlation between the normals of two assets over a step. */
static sim_status lost_share(const option_parameters *p, const option_grid *grid, int i, int j, double *room,
                             double *out) {
  const size_t steps = (size_t)grid->steps;
  const sim_expr *a = option_asset_at(p, i)->vol, *b = option_asset_at(p, j)->vol;
  sim_expr *both = NULL;
  SIM_TRY(option_product(a, b, &both));
  sim_status status = option_integrate("vol", both, OPTION_NOT_NEGATIVE, grid, room + 2 * steps, NULL);
  if (status == SIM_OK) status = option_integrate("vol", a, OPTION_NOT_NEGATIVE, grid, room + 3 * steps, room);
  if (status == SIM_OK) status = option_integrate("vol", b, OPTION_NOT_NEGATIVE, grid, room + 3 * steps, room + steps);
  sim_expr_free(&both);
  *out = 0;
  for (size_t s = 0; s < steps && status == SIM_OK; s++) {
    const double most = sqrt(room[s] * room[steps + s]);
    if (most > 0) *out = fmax(*out, 1 - room[2 * steps + s] / most);
  }
  return status;
}

/* Warns of jumps of a local volatility within a step: paths evaluate it at the beginning of each step only (the bias
 * at half steps too). */
static sim_status warn_jumps(const option_parameters *p, const option_grid *grid, int asset) {
  const sim_expr *expr = option_asset_at(p, asset)->local_vol;
  const double spot = option_asset_at(p, asset)->spot;
  const int input = expr != NULL ? sim_expr_input_find(expr, "t") : -1;
  if (input < 0) return SIM_OK;
  double *breaks;
  int count;
  bool missed;
  SIM_TRY(option_breaks(expr, input, spot, p->maturity, &breaks, &count, &missed));
  if (missed) option_warn_missed("local_vol");
  sim_status status = SIM_OK;
  for (int i = 0; i < count && status == SIM_OK; i++) {
    const double t = breaks[i];
    double before, after;
    int s = 0;
    while (s < grid->steps && grid->time[s + 1] < t) s++;
    if (s == grid->steps || !(t > 0)) continue;
    const double dt = grid->length[s], near = 1e-6 * dt;
    if (t - grid->time[s] < near || grid->time[s + 1] - t < near) continue;
    status = option_local_vol(expr, spot, t - near, &before);
    if (status == SIM_OK) status = option_local_vol(expr, spot, t + near, &after);
    if (status != SIM_OK || fabs(after - before) <= 0.01 * fmax(fabs(before), fabs(after))) continue;
    sim_log(SIM_LOG_WARN,
            "assets[%d].local_vol jumps at t = %.9g, inside a step of %.9g: paths see it at the next step's beginning, "
            "and the bias does not show it; expected steps that end there",
            asset + 1, t, dt);
    break;
  }
  free(breaks);
  return status;
}

sim_status option_check_vols(const option_parameters *p) {
  const size_t n = p->assets.count;
  option_grid grid;
  SIM_TRY(option_grid_create(p, 0, 1, &grid));
  double *room = calloc(4 * (size_t)grid.steps, sizeof *room), lost = 0;
  sim_status status = room != NULL ? SIM_OK : sim_no_memory("the correlation");
  for (size_t i = 0; i < n && p->correlation.rows == n; i++)
    for (size_t j = 0; j < i && status == SIM_OK; j++) {
      const sim_expr *a = option_asset_at(p, (int)i)->vol, *b = option_asset_at(p, (int)j)->vol;
      if (p->correlation.data[i * n + j] == 0 || a == NULL || b == NULL) continue;
      if (!sim_expr_depends(a, 0, 0) && !sim_expr_depends(b, 0, 0)) continue;
      status = lost_share(p, &grid, (int)i, (int)j, room, &lost);
      if (status == SIM_OK && lost > OPTION_CORRELATION_LOST)
        status = sim_fail(SIM_ERR_SCENARIO,
                          "correlation: the volatilities of assets %zu and %zu change in different ways within a step, "
                          "which takes %.3g %% of their correlation away: expected more steps, or ends of steps where "
                          "the volatilities jump",
                          j + 1, i + 1, 100 * lost);
    }
  free(room);
  for (int i = 0; i < (int)n && status == SIM_OK; i++) status = warn_jumps(p, &grid, i);
  option_grid_free(&grid);
  return status;
}
