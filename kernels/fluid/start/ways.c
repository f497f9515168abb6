/* Whether the fluid that comes in finds a way out around bodies. */
#include "kernels/fluid/start/start.h"

#include "engine/log.h"

#include <math.h>
#include <stdlib.h>

/* Cells of the fluid that are reached, and runs of cells along x that are still to be looked at. */
typedef struct filling {
  const grid_shape *grid;
  const bool *solid;
  bool *reached; /* [cells] */
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
  while (first > 0 && is_new(f, row * nx + first - 1)) first--;
  while (end < nx && is_new(f, row * nx + end)) end++;
  for (int64_t x = first; x < end; x++) f->reached[row * nx + x] = true;
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

/* What is wrong at a side by which fluid comes in or leaves with a given velocity; NULL: nothing. */
static const char *fault_of(const fluid_parameters *p, const fluid_walls *w, const filling *f, int s) {
  const grid_shape *g = f->grid;
  const fluid_side *side = &p->sides[s];
  int64_t open = 0, lost = 0;
  if (!side->given || !fluid_side_passes(side, s)) return NULL;
  for (int64_t i = 0; i < grid_cells(g) / g->n[s / 2]; i++) {
    const int64_t cell = cell_at(g, s, i);
    const double u = w->profile[s] ? w->profile[s][3 * i + s / 2] : 1; /* i as of fluid_side_cell */
    if (f->solid[cell] || (u == 0 && !fluid_side_is_timed(side))) continue;
    open++;
    lost += !f->reached[cell];
  }
  return open == 0  ? "bodies cover this side, so that no fluid passes it: move them off it"
         : lost > 0 ? "bodies stand between this side and every side with a pressure, so that the fluid has no way out "
                      "(or in): leave a gap, or open a side with pressure = 0 there"
                    : NULL;
}

sim_status fluid_check_ways(const fluid_parameters *p, const fluid_walls *walls) {
  const grid_shape grid = fluid_grid_of(p);
  filling f = {.grid = &grid, .solid = walls->solid};
  bool passes = false;
  for (int s = 0; s < 2 * grid.rank; s++) passes = passes || (p->sides[s].given && fluid_side_passes(&p->sides[s], s));
  if (!passes || !walls->solid) return SIM_OK;
  f.reached = calloc((size_t)grid_cells(&grid), sizeof *f.reached);
  sim_status status = f.reached ? reach_all(p, &f) : sim_no_memory("the ways of the fluid");
  for (int s = 0; s < 2 * grid.rank && status == SIM_OK; s++) {
    const char *fault = fault_of(p, walls, &f, s);
    if (!fault) continue;
    if (fluid_moves(p)) /* a body may move out of the way */
      sim_log(SIM_LOG_WARN, "sides.%s: at the start %s", fluid_side_names[s], fault);
    else
      status = sim_fail(SIM_ERR_SCENARIO, "sides.%s: %s", fluid_side_names[s], fault);
  }
  free(f.todo);
  free(f.reached);
  return status;
}
