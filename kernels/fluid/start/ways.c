/* Whether the fluid that comes in finds a way out around solid cells. */
#include "kernels/fluid/start/start.h"

#include "engine/log.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Cells of the fluid that are reached, and runs of cells along x that are still to be looked at. */
typedef struct filling {
  const grid_shape *grid;
  const bool *solid;
  bool *reached; /* [cells] */
  int64_t *left; /* [rows]: cells of the fluid that are not reached */
  int64_t *todo; /* cells of such runs */
  int64_t count, room;
} filling;

static bool is_new(const filling *f, int64_t cell) { return !f->solid[cell] && !f->reached[cell]; }

static sim_status add(filling *f, int64_t cell) {
  if (!is_new(f, cell)) return SIM_OK;
  if (!fluid_reserve(&f->todo, &f->room, f->count, 1, sizeof *f->todo)) return sim_no_memory("the ways of the fluid");
  f->todo[f->count++] = cell;
  return SIM_OK;
}

/* Adds the runs of another row beside the cells [first, end) of one. */
static sim_status add_beside(filling *f, int64_t row, int64_t first, int64_t end) {
  const int64_t nx = f->grid->n[0];
  if (f->left[row] == 0) return SIM_OK;
  if (f->left[row] == nx) return add(f, row * nx + first); /* one run */
  for (int64_t x = first; x < end; x++)
    if (x == first || !is_new(f, row * nx + x - 1)) SIM_TRY(add(f, row * nx + x));
  return SIM_OK;
}

/* Reaches the run of a cell, and adds the runs beside it. */
static sim_status reach(filling *f, int64_t cell) {
  const grid_shape *g = f->grid;
  const int64_t nx = g->n[0], row = cell / nx, at[3] = {0, row % g->n[1], row / g->n[1]};
  int64_t first = cell % nx, end = first + 1;
  if (!is_new(f, cell)) return SIM_OK;
  if (f->left[row] == nx) first = 0, end = nx;
  while (first > 0 && is_new(f, row * nx + first - 1)) first--;
  while (end < nx && is_new(f, row * nx + end)) end++;
  memset(f->reached + row * nx + first, true, (size_t)(end - first));
  f->left[row] -= end - first;
  if (grid_is_periodic(g, 0) && first == 0) SIM_TRY(add(f, row * nx + nx - 1));
  if (grid_is_periodic(g, 0) && end == nx) SIM_TRY(add(f, row * nx));
  for (int axis = 1; axis < g->rank; axis++)
    for (int way = -1; way <= 1; way += 2) {
      int64_t to[3] = {0, at[1], at[2]};
      to[axis] += way;
      if (grid_is_periodic(g, axis)) to[axis] = (to[axis] + g->n[axis]) % g->n[axis];
      if (to[axis] >= 0 && to[axis] < g->n[axis]) SIM_TRY(add_beside(f, to[2] * g->n[1] + to[1], first, end));
    }
  return SIM_OK;
}

/* The cell number i of those at a side. */
static int64_t cell_at(const grid_shape *g, int s, int64_t i) {
  const int axis = s / 2, b = axis == 0 ? 1 : 0;
  int64_t at[3];
  at[axis] = s % 2 ? g->n[axis] - 1 : 0;
  at[b] = i % g->n[b];
  at[3 - axis - b] = i / g->n[b];
  return (at[2] * g->n[1] + at[1]) * g->n[0] + at[0];
}

/* Reaches all cells from which the fluid finds a way to a side with a pressure. */
static sim_status reach_all(const fluid_parameters *p, filling *f) {
  const grid_shape *g = f->grid;
  for (int s = 0; s < 2 * g->rank; s++) {
    if (!p->sides[s].given || isnan(p->sides[s].pressure)) continue;
    for (int64_t i = 0; i < grid_cells(g) / g->n[s / 2]; i++) {
      SIM_TRY(reach(f, cell_at(g, s, i)));
      while (f->count > 0) SIM_TRY(reach(f, f->todo[--f->count]));
    }
  }
  return SIM_OK;
}

/* Cells of a side through which fluid passes at some time, through[cells of the side], numbered as of cell_at: those
 * of the fluid where the profile is not 0, at TIMES of the run where it changes. */
static sim_status find_open(const fluid_parameters *p, const fluid_numbers *k, fluid_walls *w, const filling *f, int s,
                            bool *through) {
  enum { TIMES = 32 };
  const int64_t cells = grid_cells(f->grid) / f->grid->n[s / 2];
  const int times = fluid_side_is_timed(&p->sides[s]) ? TIMES : 1;
  for (int time = 0; time < times; time++) {
    if (times > 1) SIM_TRY(fluid_walls_time(w, p->integrate.t_end * (time + 0.5) / TIMES));
    for (int64_t i = 0; i < cells; i++) {
      const double u = w->profile[s] ? w->profile[s][3 * i + s / 2] : 1; /* i as of fluid_side_cell */
      through[i] = through[i] || (u != 0 && !f->solid[cell_at(f->grid, s, i)]);
    }
  }
  return times > 1 ? fluid_walls_time(w, 0.5 * k->dt) : SIM_OK; /* as walls are made */
}

/* What is wrong at a side by which fluid comes in or leaves with a given velocity; "": nothing. */
static void find_fault(const fluid_parameters *p, const filling *f, int s, const bool *through, char out[384]) {
  const grid_shape *g = f->grid;
  const int64_t cells = grid_cells(g) / g->n[s / 2];
  const char *what = p->solid.given ? "solid cells" : "bodies";
  const char *gap = "leave a gap, or open a side with pressure = 0 there";
  int64_t open = 0, lost = 0, first = 0;
  for (int64_t i = 0; i < cells; i++) {
    if (through[i] && !f->reached[cell_at(g, s, i)] && lost++ == 0) first = cell_at(g, s, i);
    open += through[i];
  }
  out[0] = '\0';
  if (open == 0)
    snprintf(out, 384, "%s cover this side, so that no fluid passes it: %s", what,
             p->solid.given ? "add a layer of fluid before them" : "move them off it");
  else if (lost == open)
    snprintf(out, 384,
             "%s stand between this side and every side with a pressure, so that the fluid has no way out (or in): %s",
             what, p->solid.given ? "expected pores that lead there" : gap);
  else if (lost > 0)
    snprintf(
        out, 384,
        "%s close in %lld of the %lld cells of the fluid here, the first at x = %.6g, y = %.6g, z = %.6g: what "
        "passes the side there has no way to a side with a pressure: %s",
        what, (long long)lost, (long long)open, grid_centre(g, 0, first % g->n[0]),
        grid_centre(g, 1, first / g->n[0] % g->n[1]), g->rank == 3 ? grid_centre(g, 2, first / g->n[0] / g->n[1]) : 0,
        p->solid.given ? "add a layer of fluid before the solid cells, by which dead pores have a way out too" : gap);
}

sim_status fluid_check_ways(const fluid_parameters *p, const fluid_numbers *k, fluid_walls *walls) {
  const grid_shape grid = fluid_grid_of(p);
  filling f = {.grid = &grid, .solid = walls->solid};
  bool passes = false, *through = NULL;
  for (int s = 0; s < 2 * grid.rank; s++) passes = passes || (p->sides[s].given && fluid_side_passes(&p->sides[s], s));
  if (!passes || !walls->solid) return SIM_OK;
  const int64_t rows = grid.n[1] * grid.n[2];
  f.reached = calloc((size_t)grid_cells(&grid), sizeof *f.reached);
  f.left = malloc((size_t)rows * sizeof *f.left);
  for (int64_t row = 0; f.left && row < rows; row++) f.left[row] = grid.n[0];
  for (int64_t i = 0; f.left && i < walls->spans; i++) f.left[walls->span[i].row] -= walls->span[i].count;
  sim_status status = f.reached && f.left ? reach_all(p, &f) : sim_no_memory("the ways of the fluid");
  for (int s = 0; s < 2 * grid.rank && status == SIM_OK; s++) {
    char fault[384];
    if (!p->sides[s].given || !fluid_side_passes(&p->sides[s], s)) continue;
    free(through);
    through = calloc((size_t)(grid_cells(&grid) / grid.n[s / 2]), sizeof *through);
    status = through ? find_open(p, k, walls, &f, s, through) : sim_no_memory("the ways of the fluid");
    if (status != SIM_OK) break;
    find_fault(p, &f, s, through, fault);
    if (!fault[0]) continue;
    if (fluid_moves(p)) /* a body may move out of the way */
      sim_log(SIM_LOG_WARN, "sides.%s: at the start %s", fluid_side_names[s], fault);
    else
      status = sim_fail(SIM_ERR_SCENARIO, "sides.%s: %s", fluid_side_names[s], fault);
  }
  free(through);
  free(f.todo);
  free(f.reached);
  free(f.left);
  return status;
}
