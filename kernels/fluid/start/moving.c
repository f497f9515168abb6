/* Walls that move: in every step the cells beside bodies that move are linked again, all others are copied. */
#include "kernels/fluid/start/maker.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct fluid_moving fluid_moving;
struct fluid_moving {
  fluid_maker maker;
  fluid_walls still;    /* of sides and bodies that do not move */
  bool *before, *moved; /* [cells]: solid before the last move; in a body that moves */
  bool *row_moved;      /* [rows]: some cell of it is in one */
  bool *near;           /* [n[0]]: of one row, cells beside one */
  int threads;
};

static void mark_solid(fluid_moving *v) {
  const fluid_maker *m = &v->maker;
  const int64_t cells = grid_cells(&m->grid);
  memset(v->moved, 0, (size_t)cells);
  memset(v->row_moved, 0, (size_t)(m->grid.n[1] * m->grid.n[2]));
  for (int b = 0; b < m->bodies; b++)
    if (fluid_body_moves(m->p, b)) fluid_mark_body(m, b, v->threads, v->moved, v->row_moved);
  for (int64_t i = 0; i < cells; i++) m->out->solid[i] = v->moved[i] || (v->still.solid && v->still.solid[i]);
}

/* Finds the cells of a row that have one of a moving body beside them; false: none has. */
static bool find_near(fluid_moving *v, const int64_t at[3]) {
  const int64_t *n = v->maker.grid.n;
  bool any = false;
  memset(v->near, 0, (size_t)n[0]);
  for (int64_t dz = -1; dz <= 1; dz++)
    for (int64_t dy = -1; dy <= 1; dy++) {
      const int64_t row = (at[2] + dz + n[2]) % n[2] * n[1] + (at[1] + dy + n[1]) % n[1];
      if (!v->row_moved[row]) continue;
      any = true;
      const bool *moved = v->moved + row * n[0];
      for (int64_t x = 0; x < n[0]; x++)
        v->near[x] = v->near[x] || moved[x] || moved[(x + 1) % n[0]] || moved[(x + n[0] - 1) % n[0]];
    }
  return any;
}

/* Copies a cell of the walls that do not move. */
static sim_status copy_cell(fluid_moving *v, const fluid_cell *cell) {
  fluid_maker *m = &v->maker;
  fluid_walls *w = m->out;
  if (!fluid_reserve(&w->link, &m->link_room, w->links, cell->count, sizeof *w->link) ||
      !fluid_reserve(&w->cell, &m->cell_room, w->cells, 1, sizeof *w->cell) ||
      !fluid_reserve(&w->speed, &m->speed_room, w->links, cell->count, sizeof *w->speed))
    return sim_no_memory("links of walls");
  memcpy(w->link + w->links, v->still.link + cell->first, (size_t)cell->count * sizeof *w->link);
  memset(w->speed + w->links, 0, (size_t)cell->count * sizeof *w->speed);
  w->cell[w->cells] = *cell;
  w->cell[w->cells++].first = (int32_t)w->links;
  w->links += cell->count;
  return SIM_OK;
}

static sim_status link_rows(fluid_moving *v) {
  fluid_maker *m = &v->maker;
  fluid_walls *w = m->out;
  const int64_t *n = m->grid.n;
  int64_t next = 0; /* of the cells that do not move */
  w->cells = w->links = w->spans = 0;
  w->fluid = grid_cells(&m->grid);
  for (int64_t row = 0; row < n[1] * n[2]; row++) SIM_TRY(fluid_add_spans(m, row));
  if (w->fluid == 0) return sim_fail(SIM_ERR_SCENARIO, "bodies: no cell is fluid");
  for (int64_t row = 0; row < n[1] * n[2]; row++) {
    int64_t at[3] = {0, row % n[1], row / n[1]};
    const bool near = find_near(v, at);
    for (; near && at[0] < n[0]; at[0]++) {
      const fluid_cell *still = next < v->still.cells ? &v->still.cell[next] : NULL;
      const bool here = still && still->row == row && still->x == at[0];
      if (v->near[at[0]] && !w->solid[row * n[0] + at[0]]) SIM_TRY(fluid_link_cell(m, at, true));
      if (!v->near[at[0]] && here) SIM_TRY(copy_cell(v, still));
      next += here;
    }
    for (; !near && next < v->still.cells && v->still.cell[next].row == row; next++)
      SIM_TRY(copy_cell(v, &v->still.cell[next]));
  }
  return SIM_OK;
}

sim_status fluid_walls_move(fluid_walls *w, const fluid_motion *motion, const bool **old) {
  fluid_moving *v = w->moving;
  fluid_maker *m = &v->maker;
  bool *solid = v->before;
  v->before = w->solid;
  w->solid = solid;
  if (old) *old = v->before;
  for (int b = 0; b < m->bodies; b++) {
    w->pose[b] = motion->pose[b];
    w->rate[b] = motion->rate[b];
    m->shape[b] = fluid_body_shape(m->p, w->meshes, b, &w->pose[b]);
    m->faster[b] = fluid_body_shape(m->p, w->meshes, b, &w->rate[b]);
  }
  mark_solid(v);
  SIM_TRY(link_rows(v));
  return fluid_patches_create(m->lattice, &m->grid, w);
}

sim_status fluid_moving_create(const fluid_parameters *p, const fluid_numbers *numbers, int threads,
                               const fluid_motion *motion, fluid_walls *w) {
  const grid_shape g = fluid_grid_of(p);
  const size_t cells = (size_t)grid_cells(&g);
  fluid_moving *v = w->moving = calloc(1, sizeof *v);
  if (!v) return sim_no_memory("bodies");
  fluid_motion rest = {0}; /* of bodies that stand as at the start */
  memcpy(v->still.pose, w->pose, sizeof w->pose);
  memcpy(rest.pose, w->pose, sizeof w->pose);
  v->still.meshes = w->meshes;
  v->threads = threads;
  SIM_TRY(fluid_maker_begin(&v->maker, p, numbers, w));
  v->maker.speeds = true;
  SIM_TRY(fluid_walls_build(p, numbers, threads, &v->still));
  w->solid = calloc(cells, sizeof(bool));
  v->before = calloc(cells, sizeof(bool));
  v->moved = calloc(cells, sizeof(bool));
  v->row_moved = calloc((size_t)(g.n[1] * g.n[2]), sizeof(bool));
  v->near = calloc((size_t)g.n[0], sizeof(bool));
  const bool room = w->solid && v->before && v->moved && v->row_moved && v->near;
  return room ? fluid_walls_move(w, motion ? motion : &rest, NULL) : sim_no_memory("solid cells");
}

void fluid_moving_destroy(fluid_moving **moving) {
  fluid_moving *v = *moving;
  if (!v) return;
  fluid_maker_end(&v->maker);
  fluid_walls_destroy(&v->still);
  free(v->before);
  free(v->moved);
  free(v->row_moved);
  free(v->near);
  free(v);
  *moving = NULL;
}
