/* Sides whose velocity or pressure changes with time: their links, found again before each step. */
#include "kernels/fluid/start/maker.h"

#include <math.h>
#include <stdlib.h>

enum { TIME = 3 }; /* input of the functions of sides */

static bool depends_on_time(const sim_expr *expr) {
  bool out = false;
  for (int i = 0; expr && i < sim_expr_output_count(expr); i++) out = out || sim_expr_depends(expr, i, TIME);
  return out;
}

bool fluid_side_is_timed(const fluid_side *side) {
  return side->given && (depends_on_time(side->profile) || depends_on_time(side->push));
}

bool fluid_side_passes(const fluid_side *side, int s) {
  const int axis = s / 2;
  if (side->profile) return sim_expr_output_count(side->profile) <= axis || !sim_expr_always_zero(side->profile, axis);
  return side->given && side->velocity.rows > (size_t)axis && side->velocity.data[axis] != 0;
}

bool fluid_is_timed(const fluid_parameters *p) {
  bool out = false;
  for (int s = 0; s < FLUID_SIDES; s++) out = out || fluid_side_is_timed(&p->sides[s]);
  return out;
}

typedef struct fluid_timed {
  fluid_maker maker;
  int64_t *cell, cells; /* numbers of the cells beside sides that change */
} fluid_timed;

static bool is_beside(const fluid_maker *m, const fluid_cell *cell) {
  const int64_t at[3] = {cell->x, cell->row % m->grid.n[1], cell->row / m->grid.n[1]};
  bool out = false;
  for (int s = 0; s < 2 * m->grid.rank; s++)
    out = out || (fluid_side_is_timed(&m->p->sides[s]) && at[s / 2] == (s % 2 ? m->grid.n[s / 2] - 1 : 0));
  return out;
}

sim_status fluid_timed_create(const fluid_parameters *p, const fluid_numbers *numbers, fluid_walls *w) {
  fluid_timed *v = w->timed = calloc(1, sizeof *v);
  if (!v) return sim_no_memory("sides");
  SIM_TRY(fluid_maker_begin(&v->maker, p, numbers, w));
  v->cell = malloc((size_t)(w->cells + 1) * sizeof *v->cell);
  if (!v->cell) return sim_no_memory("sides");
  for (int64_t i = 0; i < w->cells; i++)
    if (is_beside(&v->maker, &w->cell[i])) v->cell[v->cells++] = i;
  return SIM_OK;
}

void fluid_timed_destroy(fluid_timed **timed) {
  fluid_timed *v = *timed;
  if (!v) return;
  fluid_maker_end(&v->maker);
  free(v->cell);
  free(v);
  *timed = NULL;
}

sim_status fluid_walls_time(fluid_walls *w, double t) {
  fluid_timed *v = w->timed;
  if (!v) return SIM_OK;
  v->maker.out = w; /* walls may have been copied since */
  v->maker.time = t;
  for (int s = 0; s < FLUID_SIDES; s++)
    if (w->profile[s] && fluid_side_is_timed(&v->maker.p->sides[s])) SIM_TRY(fluid_store_profile(&v->maker, s));
  for (int64_t i = 0; i < v->cells; i++) SIM_TRY(fluid_link_again(&v->maker, &w->cell[v->cell[i]]));
  return SIM_OK;
}

double fluid_inflow(const fluid_walls *w, int s) {
  const fluid_maker *m = w->timed ? &w->timed->maker : NULL;
  const int axis = s / 2;
  double sum = 0;
  if (!m || !w->profile[s] || !fluid_side_is_timed(&m->p->sides[s])) return 0;
  const int64_t cells = grid_cells(&m->grid) / m->grid.n[axis], across = m->grid.n[axis == 0 ? 1 : 0];
  for (int64_t i = 0; i < cells; i++) {
    int64_t at[3] = {0};
    at[axis == 0 ? 1 : 0] = i % across;
    at[axis == 2 ? 1 : 2] = i / across;
    at[axis] = s % 2 ? m->grid.n[axis] - 1 : 0;
    if (w->solid && w->solid[(at[2] * m->grid.n[1] + at[1]) * m->grid.n[0] + at[0]]) continue;
    sum += w->profile[s][3 * fluid_side_cell(&m->grid, s, at) + axis];
  }
  return (s % 2 ? -sum : sum) * m->numbers->dt / m->numbers->dx;
}

sim_status fluid_timed_check(const fluid_parameters *p, const fluid_numbers *numbers, fluid_walls *w) {
  if (!w->timed) return SIM_OK;
  const double steps = ceil(p->integrate.t_end / numbers->dt * (1 - 1e-12));
  const double times = fmin(fmin(steps, 1000), fmax(16, 1e6 / (double)(w->timed->cells + 1)));
  for (double i = 0; i < times; i++) SIM_TRY(fluid_walls_time(w, (floor(i / times * steps) + 0.5) * numbers->dt));
  return SIM_OK;
}
