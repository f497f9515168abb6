/* Cells that bodies cover and leave as they move. */
#include "kernels/fluid/cpu/push.h"

#include <math.h>
#include <string.h>

typedef struct cell_state {
  double rho1, j[3], s[6]; /* S_ab in the order xx, yy, zz, xy, xz, yz; not of populations */
} cell_state;

static int64_t moment_of(const fluid_machine *m, int64_t cell) {
  return fluid_row_at(&m->rows, cell / m->grid.n[0]) + cell % m->grid.n[0];
}

static int place_of(int rank, int a, int b) { return a == b ? 1 + rank + a : 1 + 2 * rank + a + b - 1; }

static cell_state load(const fluid_machine *m, const void *first, int64_t cell) {
  const int rank = m->lattice->rank;
  const int64_t at = moment_of(m, cell), pitch = m->rows.stride;
  cell_state out;
  out.rho1 = fluid_cell_momentum(m, first, at, out.j);
  for (int a = 0; a < rank; a++) {
    out.j[a] /= 3;
    for (int b = a; b < rank && !m->populations; b++)
      out.s[a == b ? a : 3 + a + b - 1] =
          grid_number(first, m->single, at + place_of(rank, a, b) * pitch) / (a == b ? 4.5 : 9);
  }
  return out;
}

static void store(const fluid_machine *m, void *first, int64_t cell, const cell_state *c) {
  const int rank = m->lattice->rank;
  const int64_t at = moment_of(m, cell), x = cell % m->grid.n[0], pitch = m->rows.stride;
  double trace = 0;
  for (int a = 0; a < rank; a++) {
    (void)fluid_set_moment(m, first, at + (1 + a) * pitch, x, 3 * c->j[a]);
    for (int b = a; b < rank; b++) {
      const double s = c->s[a == b ? a : 3 + a + b - 1] * (a == b ? 4.5 : 9);
      (void)fluid_set_moment(m, first, at + place_of(rank, a, b) * pitch, x, s);
      if (a == b) trace += s;
    }
  }
  (void)fluid_set_moment(m, first, at, x, c->rho1 - trace / 3);
  for (int64_t i = m->lattice->moments; i < m->rows.numbers; i++) grid_set_number(first, m->single, at + i * pitch, 0);
}

/* S of a fluid with the velocity u that its stresses do not change: rho (u u + (u g + g u)/2). */
static double carried(const fluid_machine *m, double rho1, const double u[3], int a, int b) {
  const double *g = m->collision.g;
  return (1 + rho1) * (u[a] * u[b] + (u[a] * g[b] + u[b] * g[a]) / 2);
}

int64_t fluid_neighbour(const grid_shape *g, int64_t cell, const int8_t c[3]) {
  int64_t at[3] = {cell % g->n[0], cell / g->n[0] % g->n[1], cell / g->n[0] / g->n[1]};
  for (int a = 0; a < 3; a++) {
    at[a] += c[a];
    if ((at[a] < 0 || at[a] >= g->n[a]) && !grid_is_periodic(g, a)) return -1;
    at[a] = (at[a] + g->n[a]) % g->n[a];
  }
  return (at[2] * g->n[1] + at[1]) * g->n[0] + at[0];
}

void fluid_surface_velocity(const fluid_machine *m, int64_t cell, double out[3]) {
  const fluid_parameters *p = m->motion->p;
  const grid_shape *g = &m->grid;
  const double dx = g->size[0] / (double)g->n[0];
  const double x[3] = {grid_centre(g, 0, cell % g->n[0]), grid_centre(g, 1, cell / g->n[0] % g->n[1]),
                       grid_centre(g, 2, cell / g->n[0] / g->n[1])};
  double least = INFINITY;
  for (int a = 0; a < 3; a++) out[a] = 0;
  for (int b = 0; b < (int)p->bodies.count; b++) {
    double velocity[3], before[3];
    const fluid_shape shape = fluid_body_shape(p, m->walls.meshes, b, &m->walls.pose[b]);
    if (!fluid_body_moves(p, b)) continue;
    const double far = fluid_body_distance(g, &shape, x, velocity);
    if (!(far < least)) continue;
    least = far;
    const fluid_shape last = fluid_body_shape(p, m->walls.meshes, b, &m->motion->last[b]);
    (void)fluid_body_distance(g, &last, x, before);
    for (int a = 0; a < 3; a++) out[a] = a < g->rank ? (before[a] + velocity[a]) / 2 * m->motion->dt / dx : 0;
  }
}

/* The velocity of a cell that a body leaves, before a force that is a function is added: then it is the surface's. */
static void first_velocity(const fluid_machine *m, int64_t cell, double u[3]) {
  double g[3];
  fluid_surface_velocity(m, cell, u);
  fluid_push_at(m, cell, u, g);
  for (int a = 0; a < m->lattice->rank; a++) u[a] -= g[a] / 2;
}

/* What a cell without stresses sends in direction c after a step, at a density and a velocity u; its momentum is
 * rho (u + g/2). */
static double unstressed(const fluid_machine *m, double rho1, const double u[3], int c) {
  const double *g = m->collision.g;
  double along = 0, force = 0, square = 0, push = 0;
  for (int a = 0; a < m->lattice->rank; a++) {
    along += m->lattice->c[c][a] * u[a];
    force += m->lattice->c[c][a] * g[a];
    square += u[a] * u[a];
    push += u[a] * g[a];
  }
  return rho1 + (1 + rho1) * (3 * (along + force / 2) + 4.5 * along * (along + force) - 1.5 * (square + push));
}

/* As of fill: of populations what their equilibrium has not is the mean of the neighbours' (of such first values
 * Caiazzo, Prog. Comput. Fluid Dyn. 8 (2008) 3). */
static double fill_populations(const fluid_machine *m, const bool *old, void *first, int64_t cell) {
  const fluid_lattice *l = m->lattice;
  double stress[FLUID_DIRECTIONS_MAX] = {0}, u[3], v[3] = {0}, rho1 = 0, count = 0;
  for (int c = 1; c < l->directions; c++) {
    const int64_t from = fluid_neighbour(&m->grid, cell, l->c[c]);
    if (from < 0 || old[from] || m->walls.solid[from]) continue;
    const cell_state s = load(m, first, from);
    for (int a = 0; a < l->rank; a++) v[a] = s.j[a] / (1 + s.rho1) - m->collision.g[a] / 2;
    for (int d = 0; d < l->directions; d++)
      stress[d] += grid_number(first, m->single, moment_of(m, from) + d * m->rows.stride) - unstressed(m, s.rho1, v, d);
    rho1 += s.rho1;
    count++;
  }
  first_velocity(m, cell, u);
  if (count > 0) rho1 /= count;
  for (int d = 0; d < l->directions; d++) {
    const double value = unstressed(m, rho1, u, d) + (count > 0 ? stress[d] / count : 0);
    (void)fluid_set_moment(m, first, moment_of(m, cell) + d * m->rows.stride, cell % m->grid.n[0], value);
  }
  return load(m, first, cell).rho1;
}

/* Density and stresses are the means of the neighbours that were and are fluid; the velocity is that of the surface.
 * Returns the density above that at rest. */
static double fill(const fluid_machine *m, const bool *old, void *first, int64_t cell) {
  const int rank = m->lattice->rank;
  cell_state out = {0};
  double u[3], count = 0;
  for (int c = 1; c < m->lattice->directions; c++) {
    const int64_t from = fluid_neighbour(&m->grid, cell, m->lattice->c[c]);
    if (from < 0 || old[from] || m->walls.solid[from]) continue;
    const cell_state s = load(m, first, from);
    double v[3];
    for (int a = 0; a < rank; a++) v[a] = s.j[a] / (1 + s.rho1) - m->collision.g[a] / 2;
    for (int a = 0; a < rank; a++)
      for (int b = a; b < rank; b++)
        out.s[a == b ? a : 3 + a + b - 1] += s.s[a == b ? a : 3 + a + b - 1] - carried(m, s.rho1, v, a, b);
    out.rho1 += s.rho1;
    count++;
  }
  first_velocity(m, cell, u);
  if (count > 0) out.rho1 /= count;
  for (int a = 0; a < rank; a++) {
    out.j[a] = (1 + out.rho1) * (u[a] + m->collision.g[a] / 2);
    for (int b = a; b < rank; b++) {
      double *s = &out.s[a == b ? a : 3 + a + b - 1];
      *s = (count > 0 ? *s / count : 0) + carried(m, out.rho1, u, a, b);
    }
  }
  store(m, first, cell, &out);
  return out.rho1;
}

void fluid_give(const fluid_machine *m, const int32_t *member, int64_t cell, double mass) {
  for (int c = 0; c < m->lattice->directions; c++) {
    const int64_t at = fluid_neighbour(&m->grid, cell, m->lattice->c[c]), nx = m->grid.n[0];
    const int64_t number = at < 0 ? -1 : fluid_cell_of(&m->walls, at / nx, at % nx);
    if (number < 0 || member[number] < 0) continue;
    m->walls.lost[member[number]] += mass;
    return;
  }
}

/* Finds the cells whose walls have changed; *count: their number. */
static sim_status find_changed(fluid_machine *m, const bool *old, int64_t *count) {
  fluid_walls *w = &m->walls;
  const int64_t nx = m->grid.n[0];
  *count = 0;
  for (int64_t row = 0; row < m->grid.n[1] * m->grid.n[2]; row++) {
    if (memcmp(old + row * nx, w->solid + row * nx, (size_t)nx) == 0) continue;
    if (!fluid_reserve(&w->changed, &w->changed_room, *count, nx, sizeof *w->changed))
      return sim_no_memory("cells that bodies leave");
    for (int64_t cell = row * nx; cell < (row + 1) * nx; cell++)
      if (old[cell] != w->solid[cell]) w->changed[(*count)++] = cell;
  }
  return SIM_OK;
}

sim_status fluid_move_walls(fluid_machine *m, int64_t step, const bool **old, int64_t *count) {
  SIM_TRY(fluid_motion_step(m->motion, step));
  SIM_TRY(fluid_walls_move(&m->walls, m->motion, old));
  return find_changed(m, *old, count);
}

void fluid_number_members(const fluid_machine *m, int32_t *member) {
  const fluid_walls *w = &m->walls;
  for (int64_t i = 0; i < w->cells; i++) member[i] = -1;
  for (int64_t i = 0; i < w->members; i++) {
    member[w->member[i]] = (int32_t)i;
    w->lost[i] = 0;
  }
}

/* What each of the changed cells, of this rank alone, has to give: mass[count]. */
static void cover_and_fill(const fluid_machine *m, const bool *old, void *first, int64_t count, int64_t *row,
                           double *mass) {
  for (int64_t i = 0; i < count; i++) {
    const int64_t cell = m->walls.changed[i];
    row[i] = cell / m->grid.n[0];
    if (fluid_part_has_row(&m->part, row[i]))
      mass[i] = m->walls.solid[cell] ? load(m, first, cell).rho1
                : m->populations     ? -fill_populations(m, old, first, cell)
                                     : -fill(m, old, first, cell);
  }
}

sim_status fluid_move_bodies(fluid_machine *m, int64_t step, const sim_buffer *state) {
  const bool *old;
  int64_t count;
  SIM_TRY(fluid_move_walls(m, step, &old, &count));
  if (count == 0) return SIM_OK;
  const fluid_walls *w = &m->walls;
  int32_t *member = w->scratch[0];
  int64_t *row = fluid_scratch_of(&m->part, FLUID_SCRATCH_MASSES, (size_t)count * (sizeof *row + sizeof(double)));
  if (!row) return sim_no_memory("cells that bodies leave");
  double *mass = (double *)(row + count);
  cover_and_fill(m, old, fluid_first(state), count, row, mass);
  SIM_TRY(fluid_gather_items(&m->part, row, count, sizeof *mass, mass));
  fluid_number_members(m, member);
  for (int64_t i = 0; i < count; i++) fluid_give(m, member, w->changed[i], mass[i]);
  fluid_clear_solid(m, state);
  return fluid_return_mass(m, state);
}
