/* Temperature: steps, sides and bodies, and sums. No result depends on how rows are dealt out to threads.
 *
 * h are populations (heat_rows.h), c points from a side or a body to the cell, d against it. A surface of temperature T
 * at a part q of the link from the cell, with w = 1/8:
 *   h_c = 2 w T - h_d                                                q = 1/2: sides (Ginzburg, Adv. Water Resour. 28
 *                                                                    (2005) 1196)
 *   h_c = 2 w T - 2q h_d - (1 - 2q) h_d(cell + c)                    q < 1/2
 *   h_c = (1/q) w T - 1/(2q) h_d + (1 - 1/(2q)) h_c(cell)            q > 1/2
 * which keep a linear temperature for every diffusivity: they are the combinations of these populations that do.
 * Adiabatic: h_c = h_d. Given flux: h_c = h_d + flux, by the area that the link stands for (start/heat_flux.c). Where
 * the fluid leaves: h_c = h_c(cell), a copy of the cell behind the side. */
#include "kernels/fluid/cpu/push.h"
#include "kernels/fluid/heat.h"
#include "kernels/fluid/cpu/measure.h"

#include "engine/reduce.h"

#include <math.h>
#include <stddef.h>

const fluid_heat_kernels *fluid_heat_kernels_of(bool single, sim_isa isa) {
  switch (isa) {
#if FLUID_X86
  case SIM_ISA_AVX512: return single ? &fluid_heat_kernels_single_avx512 : &fluid_heat_kernels_double_avx512;
  case SIM_ISA_AVX2: return single ? &fluid_heat_kernels_single_avx2 : &fluid_heat_kernels_double_avx2;
#endif
  default: return single ? &fluid_heat_kernels_single_plain : &fluid_heat_kernels_double_plain;
  }
}

void fluid_buoyancy(const fluid_warmth *w, double temperature, double out[3]) {
  for (int a = 0; a < 3; a++) out[a] = -w->law.push[a] * (temperature - w->law.reference);
}

static bool is_solid(const fluid_machine *m, int64_t cell) { return m->walls.solid && m->walls.solid[cell]; }

/* A row, and those at y - 1, y + 1, z - 1, z + 1, around the box. */
static void find_rows(const fluid_machine *m, const double *heat, int64_t row, const double *out[5]) {
  const int64_t ny = m->grid.n[1], nz = m->grid.n[2], y = row % ny, z = row / ny;
  const int64_t rows[5] = {row, z * ny + (y + ny - 1) % ny, z * ny + (y + 1) % ny, (z + nz - 1) % nz * ny + y,
                           (z + 1) % nz * ny + y};
  for (int i = 0; i < 5; i++) out[i] = heat + fluid_heat_at(m, rows[i], 0);
}

/* ---- links ---- */

/* What a cell sends along an axis. */
static double sends(const double *cell, int64_t pitch, int axis, int sign) {
  return FLUID_HEAT_WEIGHT * (cell[0] + sign * 4 * cell[(1 + axis) * pitch]);
}

/* The neighbour of a cell at +1 or -1 along an axis. */
static const double *beside(const double *const old[5], int64_t x, int axis, int sign) {
  return axis == 0 ? old[0] + x + sign : old[2 * axis - (sign < 0)] + x;
}

double fluid_heat_given(const fluid_machine *m, const fluid_cell *cell, int side) {
  const double *profile = m->walls.profile[side];
  const int64_t at[3] = {cell->x, cell->row % m->grid.n[1], cell->row / m->grid.n[1]};
  return profile ? (side % 2 ? -1 : 1) * profile[3 * fluid_side_cell(&m->grid, side, at) + side / 2]
                 : m->warmth->velocity[side];
}

/* The velocity of the fluid through a side into a cell, but for a positive factor. */
static double through(const fluid_machine *m, const fluid_cell *cell, int side, const sim_buffer *flow) {
  const int axis = side / 2, sign = side % 2 ? -1 : 1;
  double j[3];
  if (m->warmth->kind[side] != FLUID_SIDE_OPEN) return fluid_heat_given(m, cell, side);
  (void)fluid_cell_momentum(m, fluid_first(flow), fluid_row_at(&m->rows, cell->row) + cell->x, j);
  return sign * j[axis];
}

static double side_brings(const fluid_machine *m, const fluid_cell *cell, int side, const sim_buffer *flow, double sent,
                          double own) {
  const fluid_warmth *w = m->warmth;
  const double T = w->side[side];
  if (w->kind[side] != FLUID_SIDE_KEEPS) {
    const double in = through(m, cell, side, flow);
    if (w->kind[side] == FLUID_SIDE_OPEN ? isnan(T) || !(in > 0) : in < 0) return own;
  }
  return isnan(T) ? sent + w->side_flux[side] : 2 * FLUID_HEAT_WEIGHT * T - sent;
}

static double body_brings(const fluid_machine *m, const double *const old[5], const fluid_cell *cell,
                          const fluid_link *link, int axis, int sign, double sent, double own) {
  const fluid_warmth *w = m->warmth;
  const double T = w->body[link->body];
  if (isnan(T)) return sent + (w->share ? w->share[link - m->walls.link] * w->body_flux[link->body] : 0);
  if (link->kind == FLUID_FAR && !link->entry)
    return 2 * link->weight * FLUID_HEAT_WEIGHT * T - link->weight * sent + (1 - link->weight) * own;
  if (link->kind == FLUID_NEAR && link->towards == link->arriving) /* not mirrored at a slip side */
    return 2 * FLUID_HEAT_WEIGHT * T - link->weight * sent -
           (1 - link->weight) * sends(beside(old, cell->x, axis, sign), m->rows.pitch, axis, -sign);
  return 2 * FLUID_HEAT_WEIGHT * T - sent;
}

/* What arrives by a link along an axis; *sent: what the cell sends along it. flow: before the step. */
static double brings(const fluid_machine *m, const double *const old[5], const fluid_cell *cell, const fluid_link *link,
                     const sim_buffer *flow, double *sent) {
  const int axis = (link->arriving - 1) / 2, sign = link->arriving % 2 ? 1 : -1;
  const double *here = old[0] + cell->x, own = sends(here, m->rows.pitch, axis, sign);
  *sent = sends(here, m->rows.pitch, axis, -sign);
  return link->body < 0 ? side_brings(m, cell, 2 * axis + (sign < 0), flow, *sent, own)
                        : body_brings(m, old, cell, link, axis, sign, *sent, own);
}

int fluid_axis_links(const fluid_machine *m, const fluid_cell *cell) {
  int count = 0;
  while (count < cell->count && m->walls.link[cell->first + count].arriving <= 2 * m->lattice->rank) count++;
  return count;
}

/* Makes the sums of the cells of a row with links again, and clears solid cells. */
static void arrive_at_walls(const fluid_machine *m, const double *const old[5], const sim_buffer *flow, int64_t row,
                            double *new) {
  const fluid_walls *walls = &m->walls;
  const int rank = m->lattice->rank;
  const int64_t pitch = m->rows.pitch;
  const grid_range here = {row, row + 1};
  const grid_range cells =
      fluid_items_of_rows(walls->cell, sizeof *walls->cell, offsetof(fluid_cell, row), walls->cells, here);
  for (int64_t i = cells.first; i < cells.end; i++) {
    const fluid_cell *cell = &walls->cell[i];
    const fluid_link *link = walls->link + cell->first, *end = link + fluid_axis_links(m, cell);
    double T = (1 - 2 * FLUID_HEAT_WEIGHT * rank) * old[0][cell->x], sent;
    for (int a = 0; a < rank; a++) {
      double part[2];
      for (int k = 0; k < 2; k++) {
        const int sign = k ? -1 : 1;
        part[k] = link < end && link->arriving == 1 + 2 * a + k ? brings(m, old, cell, link++, flow, &sent)
                                                                : sends(beside(old, cell->x, a, -sign), pitch, a, sign);
      }
      T += part[0] + part[1];
      new[(1 + a) * pitch + cell->x] = part[0] - part[1];
    }
    new[cell->x] = T;
  }
  const grid_range spans =
      fluid_items_of_rows(walls->span, sizeof *walls->span, offsetof(fluid_span, row), walls->spans, here);
  for (int64_t i = spans.first; i < spans.end; i++)
    for (int32_t x = walls->span[i].x; x < walls->span[i].x + walls->span[i].count; x++)
      for (int k = 0; k <= rank; k++) new[k * pitch + x] = 0;
}

/* ---- steps ---- */

static void copy_ends(const fluid_machine *m, double *row) {
  for (int k = 0; k <= m->lattice->rank; k++, row += m->rows.pitch) {
    row[-1] = row[m->grid.n[0] - 1];
    row[m->grid.n[0]] = row[0];
  }
}

static void *row_of_flow(const fluid_machine *m, const sim_buffer *state, int64_t row) {
  const size_t number = m->single ? sizeof(float) : sizeof(double);
  return (char *)fluid_first(state) + (size_t)fluid_row_at(&m->rows, row) * number;
}

/* Returns whether the temperature of some cell is out of bounds. */
static bool step_row(const fluid_machine *m, const sim_buffer *before, const sim_buffer *state, int64_t row) {
  const fluid_warmth *w = m->warmth;
  fluid_heat_row r = {.new = w->heat[1] + fluid_heat_at(m, row, 0),
                      .before = row_of_flow(m, before, row),
                      .flow = row_of_flow(m, state, row),
                      .n = m->grid.n[0],
                      .pitch = m->rows.pitch,
                      .stride = m->rows.stride};
  find_rows(m, w->heat[0], row, r.old);
  w->kernels->arrive(m->lattice->rank, &r);
  arrive_at_walls(m, r.old, before, row, r.new);
  if (m->push) fluid_push_row(m, state, row, r.new);
  const bool wrong = w->kernels->collide(m->lattice->rank, &w->law, &r);
  copy_ends(m, r.new);
  if (w->law.pushes) fluid_copy_ends(m, r.flow, m->single ? sizeof(float) : sizeof(double));
  return wrong;
}

bool fluid_heat_step(const fluid_machine *m, const sim_buffer *before, const sim_buffer *state) {
  fluid_warmth *w = m->warmth;
  const grid_range rows = fluid_part_rows(&m->part);
  int wrong = 0;
#pragma omp parallel for schedule(static) num_threads(m->threads) if (m->threads > 1)
  for (int64_t row = rows.first; row < rows.end; row++)
    if (step_row(m, before, state, row)) {
#pragma omp atomic write
      wrong = 1;
    }
  if (w->law.pushes) fluid_clear_solid(m, state);
  double *old = w->heat[0];
  w->heat[0] = w->heat[1];
  w->heat[1] = old;
  return wrong != 0;
}

/* A cell whose temperature is out of bounds. */
typedef struct hot_cell {
  int64_t cell; /* -1: none */
  double T;
} hot_cell;

sim_status fluid_heat_guard(const fluid_machine *m, int64_t step) {
  const fluid_warmth *w = m->warmth;
  const grid_range rows = fluid_part_rows(&m->part);
  const int64_t nx = m->grid.n[0];
  hot_cell own = {.cell = -1}, all[SIM_RANKS_MAX];
  for (int64_t cell = rows.first * nx; cell < rows.end * nx && own.cell < 0; cell++) {
    const double T = w->heat[0][fluid_heat_at(m, cell / nx, cell % nx)];
    if (!(T >= w->law.least && T <= w->law.most)) own = (hot_cell){cell, T};
  }
  SIM_TRY(m->part.comm->ops->gather(m->part.comm, &own, sizeof own, all));
  for (int r = 0; r < m->part.comm->size; r++)
    if (all[r].cell >= 0) return fluid_heat_fail(m, step, all[r].cell / nx, all[r].cell % nx, all[r].T);
  return SIM_OK;
}

sim_status fluid_heat_swap(const fluid_machine *m) {
  const size_t plane = (size_t)(m->part.rows * (1 + m->lattice->rank) * m->rows.pitch) * sizeof(double);
  return fluid_swap_planes(&m->part, &m->warmth->common, m->warmth->heat[0] + FLUID_BEFORE, plane);
}

/* ---- the start ---- */

/* Whether a side or a solid cell is beside a cell. */
static bool at_wall(const fluid_machine *m, const int64_t at[3], int axis, int sign) {
  const int64_t *n = m->grid.n;
  int64_t to[3] = {at[0], at[1], at[2]};
  to[axis] += sign;
  if ((to[axis] < 0 || to[axis] >= n[axis]) && !grid_is_periodic(&m->grid, axis)) return true;
  to[axis] = (to[axis] + n[axis]) % n[axis];
  return is_solid(m, (to[2] * n[1] + to[1]) * n[0] + to[0]);
}

/* The temperature at the surface that a link meets; NaN: it takes no part. */
static double at_surface(const fluid_machine *m, const fluid_link *link, int side, double here) {
  const fluid_warmth *w = m->warmth;
  const double D = (1 / w->law.omega - 0.5) / 4;
  if (link->body < 0 && w->kind[side] == FLUID_SIDE_OPEN) return NAN;
  const double T = link->body >= 0 ? w->body[link->body] : w->side[side];
  const double flux = link->body < 0 ? w->side_flux[side]
                      : w->share     ? w->share[link - m->walls.link] * w->body_flux[link->body]
                                     : 0;
  return !isnan(T) ? T : flux != 0 ? here + flux * fluid_link_part(link) / D : NAN;
}

/* Derivative of the temperature along an axis, from the neighbours or the surfaces before them. Beside a surface of
 * given temperature or flux it is the smaller one of both sides: 0 where this jumps. */
static double slope(const fluid_machine *m, const double *const old[5], const int64_t at[3], int axis) {
  const int64_t row = at[2] * m->grid.n[1] + at[1];
  const double here = old[0][at[0]];
  double value[2], far[2] = {1, 1};
  bool given = false;
  for (int i = 0; i < 2; i++) {
    const int side = 2 * axis + i;
    value[i] = *beside(old, at[0], axis, i ? 1 : -1);
    if (!at_wall(m, at, axis, i ? 1 : -1)) continue;
    const fluid_link *link = fluid_link_of(&m->walls, row, at[0], 1 + 2 * axis + i);
    if (!link) continue;
    const double T = at_surface(m, link, side, here);
    value[i] = isnan(T) ? here : T;
    if (isnan(T)) continue;
    far[i] = link->body < 0 ? 0.5 : fluid_link_part(link);
    given = true;
  }
  const double low = (here - value[0]) / far[0], high = (value[1] - here) / far[1];
  if (given) return low * high > 0 ? copysign(fmin(fabs(low), fabs(high)), low) : 0;
  return (value[1] - value[0]) / (far[0] + far[1]);
}

sim_status fluid_heat_start(const fluid_machine *m, const sim_buffer *state) {
  const fluid_warmth *w = m->warmth;
  const int rank = m->lattice->rank;
  const grid_range rows = fluid_part_rows(&m->part);
  const int64_t nx = m->grid.n[0];
  fluid_heat_law half = w->law;
  uint64_t most;
  half.share = 0.5;
#pragma omp parallel for schedule(static) num_threads(m->threads) if (m->threads > 1)
  for (int64_t row = rows.first; row < rows.end; row++) copy_ends(m, w->heat[0] + fluid_heat_at(m, row, 0));
  SIM_TRY(fluid_heat_swap(m));
  SIM_TRY(fluid_wait(&m->part, 0, &most));
#pragma omp parallel for schedule(static) num_threads(m->threads) if (m->threads > 1)
  for (int64_t row = rows.first; row < rows.end; row++) {
    const double *old[5];
    double *new = w->heat[0] + fluid_heat_at(m, row, 0);
    find_rows(m, w->heat[0], row, old);
    for (int64_t x = 0; x < nx; x++) {
      const int64_t at[3] = {x, row % m->grid.n[1], row / m->grid.n[1]};
      double u[3], g[3];
      if (is_solid(m, row * nx + x)) continue;
      (void)fluid_cell_velocity(m, state, row, x, u);
      fluid_buoyancy(w, new[x], g);
      for (int a = 0; a < rank; a++) /* the state has no buoyancy yet, of which that velocity has taken half away */
        new[(1 + a) * m->rows.pitch + x] =
            (u[a] + g[a] / 2) * new[x] - (1 / w->law.omega - 1) / 4 * slope(m, old, at, a);
    }
    copy_ends(m, new);
    const fluid_heat_row r = {
        .new = new, .flow = row_of_flow(m, state, row), .n = nx, .pitch = m->rows.pitch, .stride = m->rows.stride};
    if (!w->law.pushes) continue;
    w->kernels->push(rank, &half, &r);
    fluid_copy_ends(m, r.flow, m->single ? sizeof(float) : sizeof(double));
  }
  if (w->law.pushes) fluid_clear_solid(m, state);
  return SIM_OK;
}

/* ---- outputs ---- */

double fluid_heat_solid(const fluid_machine *m, const fluid_parameters *p, const fluid_shape *shape, int64_t row,
                        int64_t i) {
  const double *body = m->warmth->body;
  const double x[3] = {grid_centre(&m->grid, 0, i), grid_centre(&m->grid, 1, row % m->grid.n[1]),
                       grid_centre(&m->grid, 2, row / m->grid.n[1])};
  for (int b = 0; b < (int)p->bodies.count; b++)
    if (!isnan(body[b]) && fluid_body_holds(&m->grid, &shape[b], x, 0)) return m->warmth->shift + body[b];
  return p->heat.reference;
}

void fluid_heat_show(const fluid_machine *m, const fluid_parameters *p) {
  const fluid_warmth *w = m->warmth;
  const grid_range rows = fluid_part_rows(&m->part);
  const int64_t nx = m->grid.n[0];
  fluid_shape shape[FLUID_BODIES];
  for (int b = 0; b < (int)p->bodies.count; b++) shape[b] = fluid_body_shape(p, m->walls.meshes, b, &m->walls.pose[b]);
#pragma omp parallel for schedule(static) num_threads(m->threads) if (m->threads > 1)
  for (int64_t row = rows.first; row < rows.end; row++)
    for (int64_t i = 0; i < nx; i++)
      w->shown[row * nx + i] = is_solid(m, row * nx + i) ? fluid_heat_solid(m, p, shape, row, i)
                                                         : w->shift + w->heat[0][fluid_heat_at(m, row, i)];
}

/* Least and greatest temperature of the fluid, above the shift, and their sum. */
static sim_status survey(const fluid_machine *m, fluid_heat_sums *out) {
  const fluid_warmth *w = m->warmth;
  const grid_range rows = fluid_part_rows(&m->part);
  const int64_t nx = m->grid.n[0];
  double *of_row = w->sums + nx, own[2] = {INFINITY, -INFINITY}, all[SIM_RANKS_MAX][2];
  for (int64_t row = rows.first; row < rows.end; row++) {
    const double *T = w->heat[0] + fluid_heat_at(m, row, 0);
    for (int64_t x = 0; x < nx; x++) {
      const bool solid = is_solid(m, row * nx + x);
      w->sums[x] = solid ? 0 : T[x];
      if (solid) continue;
      own[0] = fmin(own[0], T[x]);
      own[1] = fmax(own[1], T[x]);
    }
    of_row[row] = sim_reduce_tree(w->sums, (size_t)nx);
  }
  SIM_TRY(fluid_gather_planes(&m->part, (size_t)m->part.rows * sizeof *of_row, of_row));
  SIM_TRY(m->part.comm->ops->gather(m->part.comm, own, sizeof own, all));
  out->least = all[0][0];
  out->most = all[0][1];
  for (int r = 1; r < m->part.comm->size; r++) {
    out->least = fmin(out->least, all[r][0]);
    out->most = fmax(out->most, all[r][1]);
  }
  out->sum = sim_reduce_tree(of_row, (size_t)(m->grid.n[1] * m->grid.n[2]));
  return SIM_OK;
}

typedef struct heating {
  const fluid_machine *m;
  const sim_buffer *state;
} heating;

/* Adds the area and the temperature of the surface at a link, where the heat flux is given: that of the cell and what
 * the flux makes of the way to the surface. */
static void add_surface(const heating *h, const fluid_cell *cell, const fluid_link *link, fluid_heat_sums *out) {
  const fluid_machine *m = h->m;
  const fluid_warmth *w = m->warmth;
  const int side = link->arriving - 1;
  const double share = link->body < 0 ? 1 : w->share ? w->share[link - m->walls.link] : 0;
  const double flux = link->body < 0 ? w->side_flux[side] : share * w->body_flux[link->body];
  const double T = w->heat[0][fluid_heat_at(m, cell->row, cell->x)];
  const double there = T + flux * fluid_link_part(link) / fluid_heat_diffusivity(m, h->state, cell->row, cell->x);
  *(link->body < 0 ? &out->side_area[side] : &out->body_area[link->body]) += share;
  *(link->body < 0 ? &out->side_warm[side] : &out->body_warm[link->body]) += share * there;
}

/* The fluid_heat_sums of a plane, but for sum, least and most. */
static void heat_of_plane(const void *context, int64_t plane, double *sums) {
  const heating *h = context;
  const fluid_machine *m = h->m;
  const fluid_walls *w = &m->walls;
  fluid_heat_sums *out = (fluid_heat_sums *)sums;
  const grid_range rows = {plane * m->part.rows, (plane + 1) * m->part.rows};
  const grid_range cells = fluid_items_of_rows(w->cell, sizeof *w->cell, offsetof(fluid_cell, row), w->cells, rows);
  for (int64_t i = cells.first; i < cells.end; i++) {
    const fluid_cell *cell = &w->cell[i];
    const int count = fluid_axis_links(m, cell);
    const double *old[5];
    find_rows(m, m->warmth->heat[0], cell->row, old);
    for (int j = 0; j < count; j++) {
      const fluid_link *link = &w->link[cell->first + j];
      double sent;
      const double got = brings(m, old, cell, link, h->state, &sent);
      const int side = link->arriving - 1; /* x_low sends along +x, direction 1 */
      *(link->body < 0 ? &out->side[side] : &out->body[link->body]) += got - sent;
      add_surface(h, cell, link, out);
    }
  }
}

sim_status fluid_heat_find_sums(const fluid_machine *m, const sim_buffer *state, fluid_heat_sums *out) {
  const heating context = {m, state};
  SIM_TRY(fluid_sum_planes(&m->part, m->threads, (int)(sizeof *out / sizeof(double)), heat_of_plane, &context,
                           (double *)out));
  return survey(m, out);
}
