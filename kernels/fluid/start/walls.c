/* Solid cells, and the links of the cells beside sides of the box and bodies. */
#include "kernels/fluid/fluid.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct maker {
  const fluid_parameters *p;
  const fluid_numbers *numbers;
  const fluid_lattice *lattice;
  grid_shape grid;
  sim_expr_program *profile[FLUID_SIDES];
  void *scratch;
  geometry_wall *shape; /* [bodies] */
  int bodies;
  double g[3]; /* acceleration, in units of the lattice */
  fluid_walls *out;
  int64_t cell_room, link_room, span_room;
} maker;

/* ---- solid cells ---- */

/* Distance of x to a body, negative in it, and how its surface moves there. */
static double distance(const maker *m, int body, const double x[3], double velocity[3]) {
  return fluid_body_distance(&m->grid, &m->shape[body], x, velocity);
}

static void centre(const grid_shape *g, const int64_t at[3], double x[3]) {
  for (int a = 0; a < 3; a++) x[a] = grid_centre(g, a, at[a]);
}

static void mark_solid(maker *m, int threads) {
  const int64_t rows = m->grid.n[1] * m->grid.n[2], nx = m->grid.n[0];
  (void)threads;
#pragma omp parallel for schedule(dynamic, 16) num_threads(threads) if (threads > 1)
  for (int64_t row = 0; row < rows; row++)
    for (int64_t i = 0; i < nx; i++) {
      double x[3];
      bool solid = false;
      centre(&m->grid, (int64_t[]){i, row % m->grid.n[1], row / m->grid.n[1]}, x);
      for (int b = 0; b < m->bodies && !solid; b++) solid = !(distance(m, b, x, NULL) > 0);
      m->out->solid[row * nx + i] = solid;
    }
}

/* ---- links ---- */

/* Moves a cell by a direction, around periodic axes. Sets beyond[axis] where it leaves the box; true: it is inside. */
static bool move(const maker *m, const int64_t at[3], const int8_t c[3], int sign, int64_t out[3], bool beyond[3]) {
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

static bool is_solid(const maker *m, const int64_t at[3]) {
  return m->out->solid && m->out->solid[(at[2] * m->grid.n[1] + at[1]) * m->grid.n[0] + at[0]];
}

/* Velocity of a side at x. */
static sim_status side_velocity(const maker *m, int s, const double x[3], double u[3]) {
  const fluid_side *side = &m->p->sides[s];
  double square = 0;
  memset(u, 0, 3 * sizeof *u);
  if (!side->given) return SIM_OK;
  for (size_t a = 0; a < side->velocity.rows; a++) u[a] = side->velocity.data[a];
  if (m->profile[s])
    sim_expr_program_run(m->profile[s], 1, (const void *const[]){&x[0], &x[1], &x[2]},
                         (void *const[]){&u[0], &u[1], &u[2]}, m->scratch);
  for (int a = 0; a < m->grid.rank; a++) square += u[a] * u[a];
  if (!(sqrt(square) <= 1.01 * m->p->speed))
    return sim_fail(
        SIM_ERR_SCENARIO,
        "sides.%s.profile: the speed is %.6g at x = %.6g, y = %.6g, z = %.6g: expected at most speed = %.6g",
        fluid_side_names[s], sqrt(square), x[0], x[1], x[2], m->p->speed);
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

static bool is_open(const maker *m, int s) { return m->p->sides[s].given && !isnan(m->p->sides[s].pressure); }

/* The point of a link at a part s of it, and its mirror image inside slip sides, whose axes are bits of `mirror`. */
static void point_of(const maker *m, const int64_t at[3], const int8_t v[3], int mirror, double s, double x[3]) {
  centre(&m->grid, at, x);
  for (int a = 0; a < 3; a++) {
    x[a] -= s * v[a] * m->numbers->dx;
    if (mirror & 1 << a) x[a] = x[a] < 0 ? -x[a] : fmin(x[a], 2 * m->grid.size[a] - x[a]);
  }
}

static int8_t direction_of(const maker *m, const int8_t c[3]) {
  int8_t out = 0;
  for (int d = 0; d < m->lattice->directions; d++)
    if (memcmp(m->lattice->c[d], c, 3) == 0) out = (int8_t)d;
  return out;
}

/* The cell behind a cell, as seen from a body, and the population there that moves to the body; both are mirrored at
 * slip sides. False: no fluid is there. */
static bool find_behind(const maker *m, const int64_t at[3], const int8_t v[3], fluid_link *out) {
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

/* A link from the body that comes first along it up to a part `end`, and of bodies that begin at one point the first in
 * the list; its cut by bisection, to the last bit. False: no body is there. */
static bool body_link(const maker *m, const int64_t at[3], int c, int mirror, double end, fluid_link *out) {
  const int8_t *v = m->lattice->c[c];
  double y[3], u[3], q = INFINITY;
  int first = -1;
  for (int body = 0; body < m->bodies; body++) {
    double low = 0, high = end;
    point_of(m, at, v, mirror, end, y);
    if (distance(m, body, y, NULL) > 1e-9 * m->numbers->dx) continue; /* the cell there may be solid by a last bit */
    for (int k = 0; k < 53; k++) {
      const double middle = (low + high) / 2;
      point_of(m, at, v, mirror, middle, y);
      *(distance(m, body, y, NULL) > 0 ? &low : &high) = middle;
    }
    if (high >= q) continue;
    q = high;
    first = body;
  }
  if (first < 0) return false;
  q = fmax(q, 1e-6);
  if (q <= 0.5) mirror = 0; /* the body comes before the side */
  point_of(m, at, v, mirror, q, y);
  (void)distance(m, first, y, u);
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
  /* What the force of a step adds to populations is not interpolated: the fluid at rest under it stays at rest. */
  for (int a = 0; a < m->lattice->rank && out->kind != FLUID_BOUNCE; a++)
    out->constant -= 3 * (1 - out->weight) * v[a] * m->g[a];
  return true;
}

/* A link that leaves the box: the fluid sticks to a wall if one of the sides is one; it slips if all do. A body between
 * the cell and the side comes first. At an edge of walls what passes a side does so there too, and what moves along
 * them is the mean of their velocities. */
static sim_status side_link(const maker *m, const int64_t at[3], const bool beyond[3], int c, bool near_body,
                            fluid_link *out) {
  const int8_t *v = m->lattice->c[c];
  double along[3] = {0}, through[3] = {0}, x[3], unit = m->numbers->dx / m->numbers->dt;
  int walls = 0, open = -1, mirror = 0;
  int8_t mirrored[3], towards[3];
  centre(&m->grid, at, x);
  for (int a = 0; a < 3; a++)
    if (beyond[a]) x[a] = v[a] > 0 ? 0 : m->grid.size[a];
  for (int a = 0; a < 3; a++) {
    const int s = 2 * a + (v[a] < 0);
    double u[3];
    mirrored[a] = (int8_t)(beyond[a] ? -v[a] : v[a]);
    towards[a] = (int8_t)(beyond[a] ? 0 : -v[a]);
    if (beyond[a]) mirror |= 1 << a;
    if (!beyond[a] || m->grid.boundary[a] != GRID_FIXED) continue;
    if (is_open(m, s)) {
      open = s;
      continue;
    }
    SIM_TRY(side_velocity(m, s, x, u));
    for (int k = 0; k < 3; k++) along[k] += u[k] / unit;
    through[a] = u[a] / unit;
    walls++;
  }
  const bool slips = walls == 0 && open < 0;
  if (near_body && body_link(m, at, c, slips ? mirror : 0, slips ? 1 : 0.5, out)) return SIM_OK;
  *out = (fluid_link){.kind = FLUID_BOUNCE, .arriving = (int8_t)c, .body = -1, .weight = 1};
  for (int a = 0; a < 3 && walls > 0; a++)
    out->constant += 6 * v[a] * (through[a] != 0 ? through[a] : along[a] / walls);
  if (walls > 0) return SIM_OK;
  if (open >= 0) {
    out->kind = FLUID_OPEN;
    out->constant = 2 * 3 * m->p->sides[open].pressure / (m->p->density * unit * unit);
    return SIM_OK;
  }
  out->kind = FLUID_MIRROR;
  out->second = direction_of(m, mirrored);
  out->towards = direction_of(m, towards);
  return SIM_OK;
}

/* Room for `more` items of `size` bytes behind `count`. */
static bool reserve(void *array, int64_t *room, int64_t count, int64_t more, size_t size) {
  void **items = array;
  if (count + more <= *room) return true;
  const int64_t next = *room + *room / 4 + 4096;
  void *grown = realloc(*items, (size_t)next * size);
  if (!grown) return false;
  *items = grown;
  *room = next;
  return true;
}

static sim_status link_cell(maker *m, const int64_t at[3], bool near_body) {
  fluid_walls *w = m->out;
  const fluid_lattice *l = m->lattice;
  const int64_t first = w->links;
  if (!reserve(&w->link, &m->link_room, w->links, l->directions, sizeof *w->link) ||
      !reserve(&w->cell, &m->cell_room, w->cells, 1, sizeof *w->cell))
    return sim_no_memory("links of walls");
  for (int c = 1; c < l->directions; c++) {
    int64_t source[3];
    bool beyond[3];
    if (!move(m, at, l->c[c], -1, source, beyond))
      SIM_TRY(side_link(m, at, beyond, c, near_body, &w->link[w->links++]));
    else if (near_body && is_solid(m, source) && body_link(m, at, c, 0, 1, &w->link[w->links]))
      w->links++;
  }
  if (w->links == first) return SIM_OK;
  if (w->links > INT32_MAX) return sim_fail(SIM_ERR_SCENARIO, "bodies: the walls have more than %d links", INT32_MAX);
  w->cell[w->cells++] = (fluid_cell){.row = at[2] * m->grid.n[1] + at[1],
                                     .x = (int32_t)at[0],
                                     .first = (int32_t)first,
                                     .count = (int32_t)(w->links - first)};
  return SIM_OK;
}

/* Whether a row, or one beside it, has a solid cell. */
static bool has_solid(const maker *m, const bool *rows, const int64_t at[3]) {
  bool out = false;
  for (int64_t dz = -1; dz <= 1 && rows; dz++)
    for (int64_t dy = -1; dy <= 1; dy++) {
      const int64_t y = (at[1] + dy + m->grid.n[1]) % m->grid.n[1], z = (at[2] + dz + m->grid.n[2]) % m->grid.n[2];
      out = out || rows[z * m->grid.n[1] + y];
    }
  return out;
}

static sim_status add_spans(maker *m, int64_t row, bool *any) {
  fluid_walls *w = m->out;
  const bool *solid = w->solid + row * m->grid.n[0];
  for (int64_t x = 0; x < m->grid.n[0]; x++) {
    if (!solid[x]) continue;
    int64_t end = x;
    while (end < m->grid.n[0] && solid[end]) end++;
    if (!reserve(&w->span, &m->span_room, w->spans, 1, sizeof *w->span)) return sim_no_memory("solid cells");
    w->span[w->spans++] = (fluid_span){row, (int32_t)x, (int32_t)(end - x)};
    w->fluid -= end - x;
    *any = true;
    x = end;
  }
  return SIM_OK;
}

static sim_status link_rows(maker *m, bool *solid_rows) {
  const grid_shape *g = &m->grid;
  const int64_t rows = g->n[1] * g->n[2];
  m->out->fluid = rows * g->n[0];
  for (int64_t row = 0; solid_rows && row < rows; row++) SIM_TRY(add_spans(m, row, &solid_rows[row]));
  if (m->out->fluid == 0) return sim_fail(SIM_ERR_SCENARIO, "bodies: no cell is fluid");
  for (int64_t row = 0; row < rows; row++) {
    int64_t at[3] = {0, row % g->n[1], row / g->n[1]};
    bool all = has_solid(m, solid_rows, at);
    const bool near_body = all;
    for (int a = 1; a < g->rank; a++) all = all || (!grid_is_periodic(g, a) && (at[a] == 0 || at[a] == g->n[a] - 1));
    const bool ends = !grid_is_periodic(g, 0);
    for (at[0] = 0; at[0] < g->n[0]; at[0]++) {
      if (!all && !(ends && (at[0] == 0 || at[0] == g->n[0] - 1))) continue;
      if (!is_solid(m, at)) SIM_TRY(link_cell(m, at, near_body));
    }
  }
  return SIM_OK;
}

/* The velocity of a side with a profile, next to the centres of its cells. */
static sim_status store_profile(maker *m, int s) {
  const int axis = s / 2;
  int64_t at[3] = {0}, last[3], cells = 1;
  for (int a = 0; a < 3; a++) {
    last[a] = a == axis ? 1 : m->grid.n[a];
    cells *= last[a];
  }
  double *out = m->out->profile[s] = malloc((size_t)cells * 3 * sizeof *out);
  if (!out) return sim_no_memory("velocities of sides");
  for (at[2] = 0; at[2] < last[2]; at[2]++)
    for (at[1] = 0; at[1] < last[1]; at[1]++)
      for (at[0] = 0; at[0] < last[0]; at[0]++) {
        double x[3], u[3];
        centre(&m->grid, at, x);
        x[axis] = s % 2 ? m->grid.size[axis] : 0;
        SIM_TRY(side_velocity(m, s, x, u));
        for (int a = 0; a < 3; a++) out[3 * fluid_side_cell(&m->grid, s, at) + a] = u[a];
      }
  return SIM_OK;
}

static sim_status make(maker *m, int threads) {
  const bool uniform[] = {true, true, true};
  const fluid_parameters *p = m->p;
  const int64_t rows = m->grid.n[1] * m->grid.n[2];
  size_t scratch = 64;
  for (int s = 0; s < FLUID_SIDES; s++) {
    if (!p->sides[s].profile) continue;
    SIM_TRY(sim_expr_program_create(p->sides[s].profile, &(sim_expr_target){.uniform = uniform, .block = 1},
                                    &m->profile[s]));
    const size_t bytes = (sim_expr_program_scratch(m->profile[s]) + 63) / 64 * 64;
    scratch = bytes > scratch ? bytes : scratch;
  }
  m->scratch = aligned_alloc(64, scratch);
  m->shape = calloc(p->bodies.count + 1, sizeof *m->shape);
  if (!m->scratch || !m->shape) return sim_no_memory("walls");
  for (int b = 0; b < m->bodies; b++) m->shape[b] = fluid_body_shape(p, b);
  for (int s = 0; s < FLUID_SIDES; s++)
    if (m->profile[s]) SIM_TRY(store_profile(m, s));
  if (m->bodies == 0) return link_rows(m, NULL);
  m->out->solid = calloc((size_t)(rows * m->grid.n[0]), sizeof(bool));
  bool *solid_rows = calloc((size_t)rows, sizeof *solid_rows);
  if (m->out->solid && solid_rows) mark_solid(m, threads);
  sim_status status = m->out->solid && solid_rows ? link_rows(m, solid_rows) : sim_no_memory("solid cells");
  free(solid_rows);
  return status;
}

/* Each body is seen by the fluid. */
static sim_status check_bodies(const maker *m) {
  for (int b = 0; b < m->bodies; b++) {
    bool seen = false;
    for (int64_t i = 0; i < m->out->links && !seen; i++) seen = m->out->link[i].body == b;
    if (!seen)
      return sim_fail(SIM_ERR_SCENARIO,
                      "bodies[%d]: no cell of the fluid touches it: it lies outside of the box, in another body, or "
                      "between the centres of cells, which are %.6g wide",
                      b + 1, m->numbers->dx);
  }
  return SIM_OK;
}

sim_status fluid_walls_create(const fluid_parameters *p, const fluid_numbers *numbers, int threads, fluid_walls *out) {
  maker m = {.p = p, .numbers = numbers, .grid = fluid_grid_of(p), .bodies = (int)p->bodies.count, .out = out};
  *out = (fluid_walls){0};
  m.lattice = fluid_lattice_of(m.grid.rank);
  fluid_force_of(p, numbers, m.g);
  sim_status status = make(&m, threads);
  if (status == SIM_OK) status = check_bodies(&m);
  if (status == SIM_OK) status = fluid_patches_create(&m.grid, out);
  for (int s = 0; s < FLUID_SIDES; s++) sim_expr_program_free(&m.profile[s]);
  free(m.scratch);
  free(m.shape);
  return status;
}

void fluid_walls_destroy(fluid_walls *walls) {
  free(walls->solid);
  free(walls->cell);
  free(walls->link);
  free(walls->span);
  free(walls->patch);
  free(walls->member);
  free(walls->lost);
  for (int s = 0; s < FLUID_SIDES; s++) free(walls->profile[s]);
  *walls = (fluid_walls){0};
}

/* Cells at the sides have at most 5 links of a side (3-D; 3 in 2-D), more at the edges; arrays grow by a quarter. Of a
 * body of unknown area six sides of a box as large as it are taken. */
double fluid_walls_bytes(const fluid_parameters *p) {
  const grid_shape g = fluid_grid_of(p);
  const double cells = grid_cells_wanted(&g), links = g.rank == 2 ? 3.5 : 5.5;
  double faces = 0, profiles = 0;
  for (int s = 0; s < 2 * g.rank; s++)
    if (p->sides[s].given && p->sides[s].profile) profiles += 3 * sizeof(double) * cells / (double)g.n[s / 2];
  for (int a = 0; a < g.rank; a++)
    if (!grid_is_periodic(&g, a)) faces += 2 * cells / (double)g.n[a];
  for (int b = 0; b < (int)p->bodies.count; b++) {
    const fluid_body *body = fluid_body_of(p, b);
    const bool block = p->bodies.items[b].schema == &fluid_block_schema;
    const double dx = g.size[0] / (double)g.n[0];
    double extent[3], area = 0;
    for (int a = 0; a < 3; a++) {
      const bool endless = p->bodies.items[b].schema == &fluid_cylinder_schema && g.rank == 3;
      const double size = block ? body->high[a] - body->low[a] : 2 * body->radius;
      extent[a] = a >= g.rank ? 1 : fmin(endless ? fmax(size, g.size[a]) : size, g.size[a]) / dx + 2;
    }
    for (int a = 0; a < g.rank; a++) area += 2 * extent[0] * extent[1] * extent[2] / extent[a];
    faces += fmin(area, cells);
  }
  const double grown = faces > 0 ? 1.25 * faces + 4096 : 0;
  const size_t patches = 4 * sizeof(int32_t) + sizeof(double);
  return profiles + grown * (sizeof(fluid_cell) + patches + links * sizeof(fluid_link)) +
         (p->bodies.count > 0 ? cells + grown * sizeof(fluid_span) : 0);
}
