/* Levels of the start across gravity: their temperatures, and the pressure of the fluid at rest under its weight. */
#include "kernels/fluid/heat.h"
#include "kernels/fluid/scenario/rules.h"
#include "kernels/fluid/start/start.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- temperatures ---- */

enum { PARTS = 1 << 30 }; /* of a level's range: sums of integers do not depend on the order of ranks */

/* What a rank, or all of them, know of levels. */
typedef struct counts {
  double *least, *most; /* [n] */
  int64_t *sum, *count; /* [n]: of parts of the range above `least`, and cells of the fluid */
} counts;

typedef struct walk {
  const fluid_parameters *p;
  const sim_setup *setup;
  const bool *solid;   /* [cells]; NULL: none */
  const double *shown; /* [cells]: temperatures; NULL: of the scenario */
  double *some;        /* [fluid_heat_rows][n[0]]: scratch */
  grid_shape grid;
  grid_range rows;
  int axis;
} walk;

static void add_cell(counts *c, int64_t level, double T, bool again) {
  const double range = c->most[level] - c->least[level];
  if (!again) {
    c->least[level] = fmin(c->least[level], T);
    c->most[level] = fmax(c->most[level], T);
    return;
  }
  c->count[level]++;
  if (range > 0) c->sum[level] += llround((T - c->least[level]) / range * PARTS);
}

/* Adds the range of a row with the temperatures T to those of levels; again: its sum. */
static void add_row(const walk *w, counts *c, int64_t row, const double *T, bool again) {
  const int64_t nx = w->grid.n[0], at[3] = {0, row % w->grid.n[1], row / w->grid.n[1]};
  for (int64_t x = 0; x < nx; x++)
    if (!w->solid || !w->solid[row * nx + x]) add_cell(c, w->axis == 0 ? x : at[w->axis], T[x], again);
}

/* The same of all rows. */
static sim_status add_rows(const walk *w, counts *c, bool again) {
  const int64_t nx = w->grid.n[0], each = fluid_heat_rows(&w->grid);
  for (int64_t i = w->rows.first; i < w->rows.end; i += each) {
    const grid_range some = {i, i + each < w->rows.end ? i + each : w->rows.end};
    if (!w->shown) SIM_TRY(fluid_heat_fill(w->p, some, w->setup, w->setup->threads, w->some));
    const double *T = w->shown ? w->shown + i * nx : w->some;
    for (int64_t row = i; row < some.end; row++) add_row(w, c, row, T + (row - i) * nx, again);
  }
  return SIM_OK;
}

/* Joins the numbers [2][n] of all ranks. */
static sim_status join(const sim_comm *comm, int64_t n, counts *c, bool again) {
  const size_t bytes = 2 * (size_t)n * sizeof(double);
  void *own = again ? (void *)c->sum : (void *)c->least;
  if (comm->size == 1) return SIM_OK;
  char *all = malloc(bytes * (size_t)comm->size);
  if (!all) return sim_no_memory("levels of the temperature");
  sim_status status = comm->ops->gather(comm, own, bytes, all);
  for (int r = 0; status == SIM_OK && r < comm->size; r++) {
    const double *range = (const double *)(void *)(all + (size_t)r * bytes);
    const int64_t *sums = (const int64_t *)(void *)range;
    for (int64_t i = 0; i < n; i++) {
      if (again && r == 0) c->sum[i] = c->count[i] = 0;
      if (again) c->sum[i] += sums[i], c->count[i] += sums[n + i];
      if (!again) c->least[i] = fmin(c->least[i], range[i]), c->most[i] = fmax(c->most[i], range[n + i]);
    }
  }
  free(all);
  return status;
}

/* Means of levels, one without fluid has that of the level before it; differences. */
static void finish(const fluid_parameters *p, const counts *c, fluid_levels *out) {
  const double g = p->heat.gravity.data[out->axis] * p->heat.expansion;
  double last = p->heat.reference, coldest = INFINITY, warmest = -INFINITY;
  for (int64_t i = 0; i < out->n; i++) {
    const double range = c->most[i] - c->least[i];
    if (c->count[i] > 0) {
      last = c->least[i];
      if (range > 0) last += range * ((double)c->sum[i] / ((double)c->count[i] * PARTS));
      out->beside = fmax(out->beside, range);
    }
    out->mean[i] = last;
    /* gravity points to levels of low numbers where g < 0: the fluid turns over where a lower one is warmer */
    out->upset = fmax(out->upset, g < 0 ? warmest - last : last - coldest);
    coldest = fmin(coldest, last);
    warmest = fmax(warmest, last);
  }
}

static sim_status fill(const walk *w, const sim_comm *comm, fluid_levels *out) {
  const size_t n = (size_t)out->n;
  counts c = {.least = malloc(2 * n * sizeof(double)), .sum = calloc(2 * n, sizeof(int64_t))};
  sim_status status = c.least && c.sum ? SIM_OK : sim_no_memory("levels of the temperature");
  if (status == SIM_OK) {
    c.most = c.least + n;
    c.count = c.sum + n;
    for (size_t i = 0; i < n; i++) c.least[i] = INFINITY, c.most[i] = -INFINITY;
    status = add_rows(w, &c, false);
  }
  if (status == SIM_OK) status = join(comm, out->n, &c, false);
  if (status == SIM_OK) status = add_rows(w, &c, true);
  if (status == SIM_OK) status = join(comm, out->n, &c, true);
  if (status == SIM_OK) finish(w->p, &c, out);
  free(c.least);
  free(c.sum);
  return status;
}

sim_status fluid_levels_create(const fluid_parameters *p, const bool *solid, const double *shown, grid_range rows,
                               const sim_comm *comm, const sim_setup *setup, fluid_levels *out) {
  const grid_shape g = fluid_grid_of(p);
  const sim_doubles *gravity = &p->heat.gravity;
  *out = (fluid_levels){.axis = 0};
  if (!(p->heat.expansion != 0) || gravity->rows == 0) return SIM_OK;
  for (int a = 1; a < (int)gravity->rows; a++)
    if (fabs(gravity->data[a]) > fabs(gravity->data[out->axis])) out->axis = a;
  for (int a = 0; a < (int)gravity->rows; a++) out->askew = out->askew || (a != out->axis && gravity->data[a] != 0);
  out->n = g.n[out->axis];
  out->mean = calloc((size_t)out->n, sizeof *out->mean);
  double *some = shown ? NULL : malloc((size_t)(fluid_heat_rows(&g) * g.n[0]) * sizeof *some);
  const walk w = {p, setup, solid, shown, some, g, rows, out->axis};
  sim_status status = out->mean && (shown || some) ? fill(&w, comm, out) : sim_no_memory("levels of the temperature");
  free(some);
  return status;
}

void fluid_levels_destroy(fluid_levels *levels) {
  free(levels->mean);
  *levels = (fluid_levels){0};
}

/* ---- pressure ---- */

bool fluid_rests(const fluid_parameters *p) {
  const grid_shape g = fluid_grid_of(p);
  const bool pressure = p->initial && sim_expr_output_count(p->initial) > g.rank;
  bool out = false;
  if (pressure || p->force || fluid_is_passed(p)) return false;
  for (int a = 0; a < g.rank; a++) {
    const size_t axis = (size_t)a;
    const bool warm = p->heat.given && p->heat.expansion != 0 && axis < p->heat.gravity.rows;
    const bool heavy = axis < p->acceleration.rows && p->acceleration.data[axis] != 0;
    out = out || (!grid_is_periodic(&g, a) && (heavy || (warm && p->heat.gravity.data[axis] != 0)));
  }
  return out;
}

/* The acceleration of a level, in units of the lattice. */
static double weight(const fluid_machine *m, int axis, int64_t level) {
  const fluid_warmth *w = m->warmth;
  const double g = m->collision.g[axis];
  if (!w || !w->levels.mean || w->levels.askew || axis != w->levels.axis) return g;
  return g - w->law.push[axis] * (w->levels.mean[level] - w->shift - w->law.reference);
}

/* Densities of levels with which the populations do not change: half of what a step adds is in them, so that
 * (rho_2 - rho_1)/3 = (rho_1 g_1 + rho_2 g_2)/2 exactly, also between walls half a cell beyond the first and the last
 * level. Their mean is 1. */
static void balance(const fluid_machine *m, int axis, double *rho) {
  const int64_t n = m->grid.n[axis];
  double sum = 0;
  for (int64_t i = 0; i < n; i++) {
    rho[i] = i == 0 ? 1 : rho[i - 1] * (1 + 1.5 * weight(m, axis, i - 1)) / (1 - 1.5 * weight(m, axis, i));
    sum += rho[i];
  }
  for (int64_t i = 0; i < n; i++) rho[i] *= (double)n / sum;
}

sim_status fluid_rest_create(const fluid_parameters *p, fluid_machine *m) {
  for (int a = 0; a < m->grid.rank && fluid_rests(p); a++) {
    bool heavy = false;
    for (int64_t i = 0; i < m->grid.n[a] && !grid_is_periodic(&m->grid, a); i++) heavy = heavy || weight(m, a, i) != 0;
    if (!heavy) continue;
    m->rest[a] = malloc((size_t)m->grid.n[a] * sizeof(double));
    if (!m->rest[a]) return sim_no_memory("the pressure of the start");
    balance(m, a, m->rest[a]);
  }
  return SIM_OK;
}

void fluid_rest_destroy(fluid_machine *m) {
  for (int a = 0; a < 3; a++) free(m->rest[a]);
  memset(m->rest, 0, sizeof m->rest);
}

void fluid_rest_fill(const fluid_machine *m, double unit, int64_t first, void *pressure) {
  const grid_range rows = fluid_part_rows(&m->part);
  const int64_t nx = m->grid.n[0];
#pragma omp parallel for schedule(static) num_threads(m->threads) if (m->threads > 1)
  for (int64_t row = rows.first; row < rows.end; row++)
    for (int64_t x = 0; x < nx; x++) {
      const int64_t at[3] = {x, row % m->grid.n[1], row / m->grid.n[1]};
      const bool solid = m->walls.solid && m->walls.solid[row * nx + x];
      double rho = 1;
      for (int a = 0; a < m->grid.rank && !solid; a++) rho *= m->rest[a] ? m->rest[a][at[a]] : 1;
      grid_set_number(pressure, m->single, (row - first) * nx + x, unit * (rho - 1));
    }
}
