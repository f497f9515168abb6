/* Links of the cells beside sides of the box and bodies. */
#include "kernels/fluid/start/maker.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double fluid_maker_distance(const fluid_maker *m, int body, const double x[3], double velocity[3]) {
  return fluid_body_distance(&m->grid, &m->shape[body], x, velocity);
}

static void centre(const grid_shape *g, const int64_t at[3], double x[3]) {
  for (int a = 0; a < 3; a++) x[a] = grid_centre(g, a, at[a]);
}

/* Moves a cell by a direction, around periodic axes. Sets beyond[axis] where it leaves the box; true: it is inside. */
static bool move(const fluid_maker *m, const int64_t at[3], const int8_t c[3], int sign, int64_t out[3],
                 bool beyond[3]) {
  bool inside = true;
  for (int a = 0; a < 3; a++) {
    const int64_t n = m->grid.n[a];
    beyond[a] = false;
    out[a] = at[a] + sign * c[a];
    if (out[a] >= 0 && out[a] < n) continue;
    beyond[a] = !grid_is_periodic(&m->grid, a);
    inside = inside && !beyond[a];
    out[a] = (out[a] + n) % n;
  }
  return inside;
}

static bool is_solid(const fluid_maker *m, const int64_t at[3]) {
  return m->out->solid && m->out->solid[(at[2] * m->grid.n[1] + at[1]) * m->grid.n[0] + at[0]];
}

sim_status fluid_side_velocity(const fluid_maker *m, int s, const double x[3], double u[3]) {
  const fluid_side *side = &m->p->sides[s];
  double square = 0;
  memset(u, 0, 3 * sizeof *u);
  if (!side->given) return SIM_OK;
  for (size_t a = 0; a < side->velocity.rows; a++) u[a] = side->velocity.data[a];
  if (m->profile[s])
    sim_expr_program_run(m->profile[s], 1, (const void *const[]){&x[0], &x[1], &x[2], &m->time},
                         (void *const[]){&u[0], &u[1], &u[2]}, m->scratch);
  for (int a = 0; a < m->grid.rank; a++) square += u[a] * u[a];
  if (!(sqrt(square) <= 1.01 * m->p->speed))
    return sim_fail(
        SIM_ERR_SCENARIO,
        "sides.%s.profile: the speed is %.6g at x = %.6g, y = %.6g, z = %.6g, t = %.6g: expected at most speed = %.6g",
        fluid_side_names[s], sqrt(square), x[0], x[1], x[2], m->time, m->p->speed);
  bool open = false;
  for (int other = 0; other < FLUID_SIDES; other++)
    open = open || (m->p->sides[other].given && !isnan(m->p->sides[other].pressure));
  if (u[s / 2] != 0 && !open)
    return sim_fail(SIM_ERR_SCENARIO,
                    "sides.%s.profile: the fluid passes this side, and no side has a pressure at which it can leave or "
                    "enter: expected pressure = 0 at another side",
                    fluid_side_names[s]);
  return SIM_OK;
}

sim_status fluid_side_pressure(const fluid_maker *m, int s, const double x[3], double *out) {
  const double unit = m->numbers->dx / m->numbers->dt;
  double pressure = m->p->sides[s].pressure;
  if (m->push[s])
    sim_expr_program_run(m->push[s], 1, (const void *const[]){&x[0], &x[1], &x[2], &m->time},
                         (void *const[]){&pressure}, m->scratch);
  *out = pressure / (m->p->density * unit * unit);
  if (!isfinite(pressure))
    return sim_fail(SIM_ERR_SCENARIO, "sides.%s.pressure: is not finite at x = %.6g, y = %.6g, z = %.6g, t = %.6g",
                    fluid_side_names[s], x[0], x[1], x[2], m->time);
  if (!(3 * fabs(*out) <= 0.3)) /* of the density */
    return sim_fail(SIM_ERR_SCENARIO,
                    "sides.%s.pressure: is %.6g at x = %.6g, y = %.6g, z = %.6g, t = %.6g, and changes the density by "
                    "%.3g %%: expected at most 30 %%, or a lower mach",
                    fluid_side_names[s], pressure, x[0], x[1], x[2], m->time, 300 * fabs(*out));
  return SIM_OK;
}

static bool is_open(const fluid_maker *m, int s) { return m->p->sides[s].given && !isnan(m->p->sides[s].pressure); }

/* At an edge of walls what passes a side does so there too, and what moves along them is the mean of their velocities.
 * Where open sides meet, the pressure is the mean of theirs. */
double fluid_side_constant(const fluid_maker *m, int c, int count, const int side[3], double value[3][3]) {
  const int8_t *v = m->lattice->c[c];
  double along[3] = {0}, through[3] = {0}, pressure = 0, out = 0;
  int walls = 0;
  for (int i = 0; i < count; i++) {
    if (is_open(m, side[i])) {
      pressure += value[i][0];
      continue;
    }
    for (int a = 0; a < 3; a++) along[a] += value[i][a];
    through[side[i] / 2] = value[i][side[i] / 2];
    walls++;
  }
  if (walls == 0) return count > 0 ? 2 * 3 * (pressure / count) : 0;
  for (int a = 0; a < 3; a++) out += 6 * v[a] * (through[a] != 0 ? through[a] : along[a] / walls);
  return out;
}

/* The point of a link at a part s of it, and its mirror image inside slip sides, whose axes are bits of `mirror`. */
static void point_of(const fluid_maker *m, const int64_t at[3], const int8_t v[3], int mirror, double s, double x[3]) {
  centre(&m->grid, at, x);
  for (int a = 0; a < 3; a++) {
    x[a] -= s * v[a] * m->numbers->dx;
    if (mirror & 1 << a) x[a] = x[a] < 0 ? -x[a] : fmin(x[a], 2 * m->grid.size[a] - x[a]);
  }
}

static int8_t direction_of(const fluid_maker *m, const int8_t c[3]) {
  int8_t out = 0;
  for (int d = 0; d < m->lattice->directions; d++)
    if (memcmp(m->lattice->c[d], c, 3) == 0) out = (int8_t)d;
  return out;
}

/* The cell behind a cell, as seen from a body, and the population there that moves to the body; both are mirrored at
 * slip sides. False: no fluid is there. */
static bool find_behind(const fluid_maker *m, const int64_t at[3], const int8_t v[3], fluid_link *out) {
  int8_t c[3], d[3];
  int64_t cell[3];
  bool beyond[3];
  (void)move(m, at, v, 1, cell, beyond);
  for (int a = 0; a < 3; a++) {
    if (beyond[a] && m->grid.boundary[a] != GRID_NO_FLUX) return false;
    if (beyond[a]) cell[a] = at[a];
    c[a] = (int8_t)(beyond[a] ? 0 : v[a]);
    d[a] = (int8_t)(beyond[a] ? v[a] : -v[a]);
  }
  out->towards = direction_of(m, c);
  out->second = direction_of(m, d);
  return !is_solid(m, cell);
}

/* The part of the way from a cell to a point at which a body begins, by what its shape knows; INFINITY: nothing. */
static double cut_of(const fluid_maker *m, int body, const int64_t at[3], const double to[3]) {
  double x[3];
  centre(&m->grid, at, x);
  return fluid_body_cut(&m->grid, &m->shape[body], x, to);
}

/* What the force of a step adds to populations is not interpolated, but for the part that goes with the surface, at y:
 * the fluid that rests on it stays at rest there. */
static void hold_force(const fluid_maker *m, const double y[3], fluid_link *link) {
  const int8_t *v = m->lattice->c[link->arriving];
  double rate[3] = {0};
  if (fluid_body_moves(m->p, link->body)) (void)fluid_body_distance(&m->grid, &m->faster[link->body], y, rate);
  for (int a = 0; a < m->lattice->rank; a++) {
    const double along = (link->mirror & 1 << a ? -v[a] : v[a]) * rate[a] * m->numbers->dt / m->numbers->dx;
    link->constant -= 3 * (1 - link->weight) * (v[a] * m->g[a] - along);
  }
}

/* A link from the body that comes first along it up to a part `end`, and of bodies that begin at one point the first in
 * the list; its cut by bisection, to the last bit. False: no body is there. */
static bool body_link(fluid_maker *m, const int64_t at[3], int c, int mirror, double end, fluid_link *out) {
  const int8_t *v = m->lattice->c[c];
  double y[3], u[3], q = INFINITY;
  int first = -1;
  for (int body = 0; body < m->bodies; body++) {
    double low = 0, high = end;
    if (m->without[body]) continue;
    point_of(m, at, v, mirror, end, y);
    if (!fluid_body_holds(&m->grid, &m->shape[body], y, 1e-9 * m->numbers->dx))
      continue; /* the cell there may be solid by a last bit */
    const double part = mirror ? INFINITY : cut_of(m, body, at, y);
    for (int k = 0; k < 53 && isinf(part); k++) {
      const double middle = (low + high) / 2;
      point_of(m, at, v, mirror, middle, y);
      *(fluid_body_holds(&m->grid, &m->shape[body], y, 0) ? &high : &low) = middle;
    }
    if (isfinite(part)) high = part * end;
    if (high >= q) continue;
    q = high;
    first = body;
  }
  if (first < 0) return false;
  q = fmax(q, 1e-6);
  if (q <= 0.5) mirror = 0; /* the body comes before the side */
  point_of(m, at, v, mirror, q, y);
  (void)fluid_maker_distance(m, first, y, u);
  for (int a = 0; a < 3; a++) m->surface[a] = u[a] * m->numbers->dt / m->numbers->dx;
  *out = (fluid_link){
      .kind = FLUID_BOUNCE, .arriving = (int8_t)c, .mirror = (int8_t)mirror, .body = (int16_t)first, .weight = 2 * q};
  for (int a = 0; a < m->lattice->rank; a++)
    out->constant += 6 * v[a] * (mirror & 1 << a ? -u[a] : u[a]) * m->numbers->dt / m->numbers->dx;
  if (q >= 0.5) {
    out->kind = FLUID_FAR;
    out->weight = 0.5 / q;
    out->constant *= out->weight;
  } else if (find_behind(m, at, v, out)) {
    out->kind = FLUID_NEAR;
  }
  if (out->kind != FLUID_BOUNCE) hold_force(m, y, out);
  return true;
}

/* The point at which a link leaves the box at a cell, and the sides there that do not slip; returns their number. */
static int sides_of(const fluid_maker *m, const int64_t at[3], const bool beyond[3], int c, int side[3], double x[3]) {
  const int8_t *v = m->lattice->c[c];
  int count = 0;
  centre(&m->grid, at, x);
  for (int a = 0; a < 3; a++) {
    if (!beyond[a]) {
      x[a] -= 0.5 * v[a] * m->grid.size[a] / (double)m->grid.n[a];
      continue;
    }
    x[a] = v[a] > 0 ? 0 : m->grid.size[a];
    if (m->grid.boundary[a] == GRID_FIXED) side[count++] = 2 * a + (v[a] < 0);
  }
  return count;
}

int fluid_link_sides(const fluid_maker *m, const fluid_cell *cell, const fluid_link *link, int side[3], double x[3]) {
  const int64_t at[3] = {cell->x, cell->row % m->grid.n[1], cell->row / m->grid.n[1]};
  int64_t source[3];
  bool beyond[3];
  if (link->body >= 0 || move(m, at, m->lattice->c[link->arriving], -1, source, beyond)) return 0;
  return sides_of(m, at, beyond, link->arriving, side, x);
}

sim_status fluid_side_value(const fluid_maker *m, int s, const double x[3], double value[3]) {
  const double unit = m->numbers->dx / m->numbers->dt;
  value[1] = value[2] = 0;
  if (is_open(m, s)) return fluid_side_pressure(m, s, x, &value[0]);
  SIM_TRY(fluid_side_velocity(m, s, x, value));
  for (int a = 0; a < 3; a++) value[a] /= unit;
  return SIM_OK;
}

/* A link that leaves the box: the fluid sticks to a wall if one of the sides is one; it slips if all do. A body between
 * the cell and the side comes first. */
static sim_status side_link(fluid_maker *m, const int64_t at[3], const bool beyond[3], int c, bool near_body,
                            fluid_link *out) {
  const int8_t *v = m->lattice->c[c];
  double x[3], value[3][3];
  int side[3], open = 0, mirror = 0;
  bool straight = false;
  int8_t mirrored[3], towards[3];
  for (int a = 0; a < 3; a++) {
    mirrored[a] = (int8_t)(beyond[a] ? -v[a] : v[a]);
    towards[a] = (int8_t)(beyond[a] ? 0 : -v[a]);
    if (beyond[a]) mirror |= 1 << a;
  }
  const int count = sides_of(m, at, beyond, c, side, x);
  for (int i = 0; i < count; i++) {
    SIM_TRY(fluid_side_value(m, side[i], x, value[i]));
    if (!is_open(m, side[i])) continue;
    straight = m->p->sides[side[i]].straight;
    open++;
  }
  const bool slips = count == 0;
  if (near_body && body_link(m, at, c, slips ? mirror : 0, slips ? 1 : 0.5, out)) return SIM_OK;
  *out = (fluid_link){.kind = FLUID_BOUNCE, .arriving = (int8_t)c, .body = -1, .weight = 1};
  out->constant = fluid_side_constant(m, c, count, side, value);
  if (count > open) return SIM_OK;
  out->kind = open > 0 ? FLUID_OPEN : FLUID_MIRROR;
  if (open > 0 && !(open == 1 && straight)) return SIM_OK;
  out->second = direction_of(m, mirrored);
  out->towards = direction_of(m, towards);
  int64_t from[3];
  bool outside[3];
  if (open > 0) {
    if (!move(m, at, m->lattice->c[out->towards], 1, from, outside) || is_solid(m, from)) return SIM_OK;
    out->kind = FLUID_STRAIGHT;
    out->weight = side[0] / 2;
    return SIM_OK;
  }
  if (m->rock && move(m, at, m->lattice->c[out->towards], 1, from, outside) && is_solid(m, from))
    out->kind = FLUID_BOUNCE; /* the mirror image comes out of a solid cell */
  return SIM_OK;
}

/* Whether a link is from one side alone, which the fluid passes with a given velocity. */
static bool is_entry(const fluid_maker *m, const fluid_cell *cell, const fluid_link *link) {
  int side[3];
  double x[3];
  return link->kind == FLUID_BOUNCE && fluid_link_sides(m, cell, link, side, x) == 1 &&
         fluid_side_passes(&m->p->sides[side[0]], side[0]);
}

const fluid_link *fluid_link_entry(const fluid_maker *m, const fluid_cell *cell, const fluid_link *link) {
  const int opposite = fluid_opposite(link->arriving);
  for (int i = cell->first; i < cell->first + cell->count; i++)
    if (m->out->link[i].arriving == opposite) return is_entry(m, cell, &m->out->link[i]) ? &m->out->link[i] : NULL;
  return NULL;
}

/* Interpolates links from bodies nearer than half a link, behind whose cell is a side that the fluid passes. */
static void use_entries(fluid_maker *m, const fluid_cell *cell) {
  const int64_t at[3] = {cell->x, cell->row % m->grid.n[1], cell->row / m->grid.n[1]};
  for (int i = cell->first; i < cell->first + cell->count; i++) {
    fluid_link *link = &m->out->link[i];
    if (link->body < 0 || link->kind != FLUID_BOUNCE) continue;
    const fluid_link *entry = fluid_link_entry(m, cell, link);
    if (!entry) continue;
    double y[3];
    point_of(m, at, m->lattice->c[link->arriving], link->mirror, fluid_link_part(link), y);
    link->kind = FLUID_FAR;
    link->entry = true;
    link->constant += (1 - link->weight) * entry->constant;
    hold_force(m, y, link);
  }
}

bool fluid_reserve(void *array, int64_t *room, int64_t count, int64_t more, size_t size) {
  void **items = array;
  if (count + more <= *room) return true;
  int64_t next = *room + *room / 4 + 4096;
  if (next < count + more) next = count + more;
  void *grown = realloc(*items, (size_t)next * size);
  if (!grown) return false;
  *items = grown;
  *room = next;
  return true;
}

/* Stores the velocity of the surface of the last link. */
static sim_status store_speed(fluid_maker *m) {
  fluid_walls *w = m->out;
  if (!m->speeds) return SIM_OK;
  if (!fluid_reserve(&w->speed, &m->speed_room, w->links - 1, 1, sizeof *w->speed))
    return sim_no_memory("links of walls");
  memcpy(w->speed[w->links - 1], m->surface, sizeof m->surface);
  return SIM_OK;
}

sim_status fluid_check_links(int64_t links) {
  if (links <= INT32_MAX) return SIM_OK;
  return sim_fail(SIM_ERR_SCENARIO, "bodies: the walls have more than %d links", INT32_MAX);
}

sim_status fluid_link_cell(fluid_maker *m, const int64_t at[3], bool near_body) {
  fluid_walls *w = m->out;
  const fluid_lattice *l = m->lattice;
  const int64_t first = w->links;
  if (!fluid_reserve(&w->link, &m->link_room, w->links, l->directions, sizeof *w->link) ||
      !fluid_reserve(&w->cell, &m->cell_room, w->cells, 1, sizeof *w->cell))
    return sim_no_memory("links of walls");
  for (int c = 1; c < l->directions; c++) {
    int64_t source[3];
    bool beyond[3];
    memset(m->surface, 0, sizeof m->surface);
    if (!move(m, at, l->c[c], -1, source, beyond))
      SIM_TRY(side_link(m, at, beyond, c, near_body, &w->link[w->links]));
    else if (m->rock && is_solid(m, source))
      w->link[w->links] = (fluid_link){.kind = FLUID_BOUNCE, .arriving = (int8_t)c, .body = -1, .weight = 1};
    else if (!near_body || !is_solid(m, source) || !body_link(m, at, c, 0, 1, &w->link[w->links]))
      continue;
    w->links++;
    SIM_TRY(store_speed(m));
  }
  if (w->links == first) return SIM_OK;
  SIM_TRY(fluid_check_links(w->links));
  w->cell[w->cells++] = (fluid_cell){.row = at[2] * m->grid.n[1] + at[1],
                                     .x = (int32_t)at[0],
                                     .first = (int32_t)first,
                                     .count = (int32_t)(w->links - first)};
  if (near_body) use_entries(m, &w->cell[w->cells - 1]);
  return SIM_OK;
}
