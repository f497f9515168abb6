/* Solid cells, and the links of the cells beside sides of the box and bodies. */
#include "kernels/fluid/meshes.h"
#include "kernels/fluid/start/maker.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void centre(const grid_shape *g, const int64_t at[3], double x[3]) {
  for (int a = 0; a < 3; a++) x[a] = grid_centre(g, a, at[a]);
}

/* ---- solid cells ---- */

/* Cells along an axis that a body may reach: those within a cell of its extent. */
static void find_range(const fluid_maker *m, int body, int axis, bool *out) {
  const fluid_shape *s = &m->shape[body];
  const double size = m->grid.size[axis], dx = m->numbers->dx;
  double low[3], high[3];
  fluid_body_extent(s, low, high);
  const double half = (high[axis] - low[axis]) / 2 + dx, middle = isinf(half) ? 0 : (low[axis] + high[axis]) / 2;
  for (int64_t i = 0; i < m->grid.n[axis]; i++) {
    double far = grid_centre(&m->grid, axis, i) - middle;
    if (grid_is_periodic(&m->grid, axis)) far -= size * nearbyint(far / size);
    out[i] = !s->wall.outside || axis >= m->grid.rank || !(fabs(far) > half);
  }
}

void fluid_mark_body(const fluid_maker *m, int body, int threads, bool *solid, bool *rows) {
  const int64_t *n = m->grid.n;
  (void)threads;
  for (int a = 0; a < 3; a++) find_range(m, body, a, m->within[a]);
#pragma omp parallel for schedule(dynamic, 16) num_threads(threads) if (threads > 1)
  for (int64_t row = 0; row < n[1] * n[2]; row++) {
    double x[3];
    if (!m->within[1][row % n[1]] || !m->within[2][row / n[1]]) continue;
    for (int64_t i = 0; i < n[0]; i++) {
      if (!m->within[0][i] || solid[row * n[0] + i]) continue;
      centre(&m->grid, (int64_t[]){i, row % n[1], row / n[1]}, x);
      if (fluid_body_holds(&m->grid, &m->shape[body], x, 0)) solid[row * n[0] + i] = rows[row] = true;
    }
  }
}

/* rows[rows]: whether some cell of the row is solid. */
static void mark_solid(const fluid_maker *m, int threads, bool *rows) {
  const int64_t count = m->grid.n[1] * m->grid.n[2], nx = m->grid.n[0];
  bool *solid = m->out->solid;
  for (int b = 0; b < m->bodies; b++)
    if (!m->without[b]) fluid_mark_body(m, b, threads, solid, rows);
  if (!m->rock) return;
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
  for (int64_t row = 0; row < count; row++)
    for (int64_t i = row * nx; i < (row + 1) * nx; i++) {
      solid[i] = fluid_solid_at(m->out->meshes, i);
      rows[row] = rows[row] || solid[i];
    }
}

/* Whether a row, or one beside it, has a solid cell. */
static bool has_solid(const fluid_maker *m, const bool *rows, const int64_t at[3]) {
  bool out = false;
  for (int64_t dz = -1; dz <= 1 && rows; dz++)
    for (int64_t dy = -1; dy <= 1; dy++) {
      const int64_t y = (at[1] + dy + m->grid.n[1]) % m->grid.n[1], z = (at[2] + dz + m->grid.n[2]) % m->grid.n[2];
      out = out || rows[z * m->grid.n[1] + y];
    }
  return out;
}

sim_status fluid_add_spans(fluid_maker *m, int64_t row) {
  fluid_walls *w = m->out;
  const bool *solid = w->solid + row * m->grid.n[0];
  for (int64_t x = 0; x < m->grid.n[0]; x++) {
    if (!solid[x]) continue;
    int64_t end = x;
    while (end < m->grid.n[0] && solid[end]) end++;
    if (!fluid_reserve(&w->span, &m->span_room, w->spans, 1, sizeof *w->span)) return sim_no_memory("solid cells");
    w->span[w->spans++] = (fluid_span){row, (int32_t)x, (int32_t)(end - x)};
    w->fluid -= end - x;
    x = end;
  }
  return SIM_OK;
}

static sim_status link_row(fluid_maker *m, const bool *solid_rows, int64_t row) {
  const grid_shape *g = &m->grid;
  int64_t at[3] = {0, row % g->n[1], row / g->n[1]};
  bool all = has_solid(m, solid_rows, at);
  const bool near_body = all;
  if (solid_rows && solid_rows[row]) SIM_TRY(fluid_add_spans(m, row));
  for (int a = 1; a < g->rank; a++) all = all || (!grid_is_periodic(g, a) && (at[a] == 0 || at[a] == g->n[a] - 1));
  if (!all && grid_is_periodic(g, 0)) return SIM_OK;
  const int64_t step = all || g->n[0] == 1 ? 1 : g->n[0] - 1; /* else both ends of the row */
  for (; at[0] < g->n[0]; at[0] += step)
    if (!m->out->solid || !m->out->solid[row * g->n[0] + at[0]]) SIM_TRY(fluid_link_cell(m, at, near_body));
  return SIM_OK;
}

/* What is made of some rows: cells, links and spans alone. */
static void free_part(fluid_walls *part) {
  free(part->cell);
  free(part->link);
  free(part->span);
}

/* Links rows, in memory of their own and by the calling thread alone. */
static sim_status link_part(const fluid_maker *m, const bool *solid_rows, grid_range rows, fluid_walls *out) {
  fluid_maker own = *m;
  own.out = out;
  own.cell_room = own.link_room = own.span_room = 0;
  free_part(out);
  *out = (fluid_walls){.solid = m->out->solid, .fluid = (rows.end - rows.first) * m->grid.n[0]};
  own.scratch = aligned_alloc(64, m->scratch_bytes);
  sim_status status = own.scratch ? SIM_OK : sim_no_memory("walls");
  for (int64_t row = rows.first; row < rows.end && status == SIM_OK; row++) status = link_row(&own, solid_rows, row);
  free(own.scratch);
  return status;
}

/* Copies a part behind so many links, cells and spans, for which there is room. */
static void place(const fluid_walls *part, int64_t links, int64_t cells, int64_t spans, fluid_walls *out) {
  for (int64_t i = 0; i < part->cells; i++) {
    out->cell[cells + i] = part->cell[i];
    out->cell[cells + i].first += (int32_t)links;
  }
  if (part->links > 0) memcpy(out->link + links, part->link, (size_t)part->links * sizeof *out->link);
  if (part->spans > 0) memcpy(out->span + spans, part->span, (size_t)part->spans * sizeof *out->span);
}

enum { PARTS = 256 }; /* most of the work may be in few of them */

/* Puts the parts together in their order. */
static sim_status join(fluid_maker *m, int parts, const fluid_walls *part, int threads) {
  fluid_walls *w = m->out;
  int64_t links[PARTS], cells[PARTS], spans[PARTS];
  (void)threads;
  w->links = w->cells = w->spans = w->fluid = 0;
  for (int k = 0; k < parts; k++) {
    links[k] = w->links;
    cells[k] = w->cells;
    spans[k] = w->spans;
    w->links += part[k].links;
    w->cells += part[k].cells;
    w->spans += part[k].spans;
    w->fluid += part[k].fluid;
  }
  SIM_TRY(fluid_check_links(w->links));
  if (!fluid_reserve(&w->link, &m->link_room, 0, w->links, sizeof *w->link) ||
      !fluid_reserve(&w->cell, &m->cell_room, 0, w->cells, sizeof *w->cell) ||
      !fluid_reserve(&w->span, &m->span_room, 0, w->spans, sizeof *w->span))
    return sim_no_memory("links of walls");
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (threads > 1 && parts > 1)
  for (int k = 0; k < parts; k++) place(&part[k], links[k], cells[k], spans[k], w);
  return SIM_OK;
}

/* Links all rows, in parts by all threads; a part that fails is made again, because messages belong to threads. */
static sim_status link_rows(fluid_maker *m, const bool *solid_rows, int threads) {
  const int64_t rows = m->grid.n[1] * m->grid.n[2];
  const int parts = rows >= PARTS && rows * m->grid.n[0] >= 1 << 16 ? PARTS : 1;
  bool failed[PARTS] = {false};
  sim_status status = SIM_OK;
  fluid_walls *part = calloc((size_t)parts, sizeof *part);
  (void)threads;
  if (!part) return sim_no_memory("links of walls");
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (threads > 1 && parts > 1)
  for (int k = 0; k < parts; k++)
    failed[k] = link_part(m, solid_rows, (grid_range){rows * k / parts, rows * (k + 1) / parts}, &part[k]) != SIM_OK;
  for (int k = 0; k < parts && status == SIM_OK; k++)
    if (failed[k]) status = link_part(m, solid_rows, (grid_range){rows * k / parts, rows * (k + 1) / parts}, &part[k]);
  if (status == SIM_OK) status = join(m, parts, part, threads);
  for (int k = 0; k < parts; k++) free_part(&part[k]);
  free(part);
  if (status != SIM_OK || m->out->fluid > 0) return status;
  return sim_fail(SIM_ERR_SCENARIO, "%s: no cell is fluid", m->rock ? "solid" : "bodies");
}

/* The velocity of a side with a profile, next to the centres of its cells. */
static sim_status store_profile(fluid_maker *m, int s) {
  const int axis = s / 2;
  int64_t at[3] = {0}, last[3], cells = 1;
  for (int a = 0; a < 3; a++) {
    last[a] = a == axis ? 1 : m->grid.n[a];
    cells *= last[a];
  }
  double *out = m->out->profile[s];
  if (!out) out = m->out->profile[s] = malloc((size_t)cells * 3 * sizeof *out);
  if (!out) return sim_no_memory("velocities of sides");
  for (at[2] = 0; at[2] < last[2]; at[2]++)
    for (at[1] = 0; at[1] < last[1]; at[1]++)
      for (at[0] = 0; at[0] < last[0]; at[0]++) {
        double x[3], u[3];
        centre(&m->grid, at, x);
        x[axis] = s % 2 ? m->grid.size[axis] : 0;
        SIM_TRY(fluid_side_velocity(m, s, x, u));
        for (int a = 0; a < 3; a++) out[3 * fluid_side_cell(&m->grid, s, at) + a] = u[a];
      }
  return SIM_OK;
}

/* Compiles a function of x, y, z, t, if there is one; *scratch grows to what it needs. */
static sim_status compile(const sim_expr *expr, sim_expr_program **out, size_t *scratch) {
  static const bool uniform[] = {true, true, true, true};
  if (!expr) return SIM_OK;
  SIM_TRY(sim_expr_program_create(expr, &(sim_expr_target){.uniform = uniform, .block = 1}, out));
  const size_t bytes = (sim_expr_program_scratch(*out) + 63) / 64 * 64;
  if (bytes > *scratch) *scratch = bytes;
  return SIM_OK;
}

sim_status fluid_maker_begin(fluid_maker *m, const fluid_parameters *p, const fluid_numbers *numbers,
                             fluid_walls *out) {
  size_t scratch = 64;
  *m = (fluid_maker){.p = p, .numbers = numbers, .grid = fluid_grid_of(p), .bodies = (int)p->bodies.count, .out = out};
  m->lattice = fluid_lattice_for(p);
  m->time = numbers->dt / 2;
  m->rock = out->meshes && out->meshes->solid;
  fluid_force_of(p, numbers, m->g);
  for (int b = 0; b < m->bodies; b++) m->shape[b] = fluid_body_shape(p, out->meshes, b, &out->pose[b]);
  for (int s = 0; s < FLUID_SIDES; s++) {
    SIM_TRY(compile(p->sides[s].profile, &m->profile[s], &scratch));
    SIM_TRY(compile(p->sides[s].push, &m->push[s], &scratch));
  }
  m->scratch_bytes = scratch;
  m->scratch = aligned_alloc(64, scratch);
  bool room = m->scratch;
  for (int a = 0; a < 3; a++) {
    m->within[a] = malloc((size_t)m->grid.n[a] * sizeof *m->within[a]);
    room = room && m->within[a];
  }
  if (!room) return sim_no_memory("walls");
  for (int s = 0; s < FLUID_SIDES; s++)
    if (m->profile[s]) SIM_TRY(store_profile(m, s));
  return SIM_OK;
}

void fluid_maker_end(fluid_maker *m) {
  for (int s = 0; s < FLUID_SIDES; s++) {
    sim_expr_program_free(&m->profile[s]);
    sim_expr_program_free(&m->push[s]);
  }
  free(m->scratch);
  for (int a = 0; a < 3; a++) free(m->within[a]);
}

static sim_status make(fluid_maker *m, int threads) {
  const int64_t rows = m->grid.n[1] * m->grid.n[2];
  int bodies = 0;
  for (int b = 0; b < m->bodies; b++) bodies += !m->without[b];
  if (bodies == 0 && !m->rock) return link_rows(m, NULL, threads);
  m->out->solid = calloc((size_t)(rows * m->grid.n[0]), sizeof(bool));
  bool *solid_rows = calloc((size_t)rows, sizeof *solid_rows);
  if (m->out->solid && solid_rows) mark_solid(m, threads, solid_rows);
  sim_status status = m->out->solid && solid_rows ? link_rows(m, solid_rows, threads) : sim_no_memory("solid cells");
  free(solid_rows);
  return status;
}

sim_status fluid_walls_build(const fluid_parameters *p, const fluid_numbers *numbers, int threads, fluid_walls *out) {
  fluid_maker m;
  sim_status status = fluid_maker_begin(&m, p, numbers, out);
  for (int b = 0; b < m.bodies; b++) m.without[b] = fluid_body_moves(p, b);
  if (status == SIM_OK) status = make(&m, threads);
  fluid_maker_end(&m);
  return status;
}

sim_status fluid_check_bodies(const fluid_parameters *p, const fluid_numbers *numbers, const fluid_walls *w) {
  for (int b = 0; b < (int)p->bodies.count; b++) {
    bool seen = false;
    for (int64_t i = 0; i < w->links && !seen; i++) seen = w->link[i].body == b;
    if (!seen)
      return sim_fail(SIM_ERR_SCENARIO,
                      "bodies[%d]: no cell of the fluid touches it: it lies outside of the box, in another body, or "
                      "between the centres of cells, which are %.6g wide",
                      b + 1, numbers->dx);
  }
  return SIM_OK;
}

sim_status fluid_walls_create(const fluid_parameters *p, const fluid_numbers *numbers, const fluid_meshes *meshes,
                              int threads, const fluid_motion *motion, fluid_walls *out) {
  *out = (fluid_walls){.meshes = meshes};
  for (int b = 0; b < (int)p->bodies.count; b++)
    out->pose[b] = motion ? motion->pose[b] : (geometry_pose){.spin = fluid_body_of(p, b)->spin};
  if (fluid_moves(p)) {
    SIM_TRY(fluid_moving_create(p, numbers, threads, motion, out));
  } else {
    SIM_TRY(fluid_walls_build(p, numbers, threads, out));
    const grid_shape grid = fluid_grid_of(p);
    SIM_TRY(fluid_patches_create(fluid_lattice_for(p), &grid, out));
  }
  return fluid_is_timed(p) ? fluid_timed_create(p, numbers, threads, out) : SIM_OK;
}

void fluid_walls_destroy(fluid_walls *walls) {
  free(walls->solid);
  free(walls->cell);
  free(walls->link);
  free(walls->span);
  free(walls->patch);
  free(walls->member);
  free(walls->lost);
  free(walls->first);
  for (int i = 0; i < 2; i++) free(walls->scratch[i]);
  free(walls->changed);
  free(walls->speed);
  fluid_moving_destroy(&walls->moving);
  fluid_timed_destroy(&walls->timed);
  for (int s = 0; s < FLUID_SIDES; s++) free(walls->profile[s]);
  *walls = (fluid_walls){0};
}

/* Cells at the sides have at most 5 links of a side (D3Q27: 9; 2-D: 3), more at the edges; arrays grow by a quarter. Of
 * a body of unknown area six sides of a box as large as it are taken; a plane cuts the links of at most sqrt(2) cells
 * by its area, in any direction. */
double fluid_wall_cells(const fluid_parameters *p, const fluid_meshes *meshes) {
  const grid_shape g = fluid_grid_of(p);
  const double cells = grid_cells_wanted(&g);
  double faces = 0;
  for (int a = 0; a < g.rank; a++)
    if (!grid_is_periodic(&g, a)) faces += 2 * cells / (double)g.n[a];
  for (int b = 0; b < (int)p->bodies.count; b++) {
    const fluid_body *body = fluid_body_of(p, b);
    const bool block = p->bodies.items[b].schema == &fluid_block_schema;
    const double dx = g.size[0] / (double)g.n[0];
    double extent[3], area = fluid_is_mesh(p, b) ? 2 * meshes->area[b] / (dx * dx) + 64 : 0;
    for (int a = 0; a < 3; a++) {
      const bool endless = p->bodies.items[b].schema == &fluid_cylinder_schema && g.rank == 3;
      const double size = block ? body->high[a] - body->low[a] : 2 * body->radius;
      extent[a] = a >= g.rank ? 1 : fmin(endless ? fmax(size, g.size[a]) : size, g.size[a]) / dx + 2;
    }
    for (int a = 0; a < g.rank && !fluid_is_mesh(p, b); a++) area += 2 * extent[0] * extent[1] * extent[2] / extent[a];
    faces += fmin(area, cells);
  }
  if (meshes && meshes->solid) faces += meshes->solid_beside;
  return faces > 0 ? 1.25 * faces + 4096 : 0;
}

double fluid_wall_cells_expected(const fluid_parameters *p, const fluid_meshes *meshes) {
  return fmax(0, fluid_wall_cells(p, meshes) - 4096) / 1.25;
}

static double most_links(const fluid_parameters *p) {
  return fluid_grid_of(p).rank == 2 ? 3.5 : p->lattice == FLUID_D3Q27 ? 9.5 : 5.5;
}

/* Bytes with so many cells beside walls, of so many links each. */
static double bytes_with(const fluid_parameters *p, double grown, double links) {
  const grid_shape g = fluid_grid_of(p);
  const double cells = grid_cells_wanted(&g);
  double profiles = 0;
  for (int s = 0; s < 2 * g.rank; s++)
    if (p->sides[s].given && p->sides[s].profile) profiles += 3 * sizeof(double) * cells / (double)g.n[s / 2];
  const size_t patches = 4 * sizeof(int32_t) + sizeof(double);
  const double walls = grown * (sizeof(fluid_cell) + patches + links * sizeof(fluid_link)) +
                       (p->bodies.count > 0 || p->solid.given ? cells + grown * sizeof(fluid_span) : 0);
  double timed = 0; /* the sides meet at edges, whose cells have twice as many links */
  for (int s = 0; s < 2 * g.rank; s++)
    if (fluid_side_is_timed(&p->sides[s])) timed += cells / (double)g.n[s / 2] + 4096;
  timed *= FLUID_TIMED_POINT + 2 * links * FLUID_TIMED_LINK;
  const double moving = fluid_moves(p) ? 4 * cells + grown * (sizeof(int64_t) + links * 3 * sizeof(double)) : 0;
  return (fluid_moves(p) ? 2 : 1) * (walls + profiles) + moving + timed;
}

double fluid_walls_bytes(const fluid_parameters *p, const fluid_meshes *meshes) {
  return bytes_with(p, fluid_wall_cells(p, meshes), most_links(p));
}

double fluid_walls_room(const fluid_parameters *p, const fluid_meshes *meshes) {
  /* D3Q19: a wall along the axes has 5 links a cell; a ball of radius r has 5.7 links on each cell of its 4 pi r^2,
   * which are 3 for each of the 24 r^2 cells that are counted */
  const double links = most_links(p) * 4 / 5.5;
  return bytes_with(p, fluid_wall_cells(p, meshes), most_links(p)) -
         bytes_with(p, fluid_wall_cells_expected(p, meshes), links);
}
