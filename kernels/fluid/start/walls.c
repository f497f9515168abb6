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

static void mark_solid(const fluid_maker *m, int threads) {
  const int64_t rows = m->grid.n[1] * m->grid.n[2], nx = m->grid.n[0];
  (void)threads;
  for (int64_t i = 0; m->rock && i < rows * nx; i++) m->out->solid[i] = fluid_solid_at(m->out->meshes, i);
  if (m->rock) return;
#pragma omp parallel for schedule(dynamic, 16) num_threads(threads) if (threads > 1)
  for (int64_t row = 0; row < rows; row++)
    for (int64_t i = 0; i < nx; i++) {
      double x[3];
      bool solid = false;
      centre(&m->grid, (int64_t[]){i, row % m->grid.n[1], row / m->grid.n[1]}, x);
      for (int b = 0; b < m->bodies && !solid; b++)
        solid = !m->without[b] && fluid_body_holds(&m->grid, &m->shape[b], x, 0);
      m->out->solid[row * nx + i] = solid;
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

sim_status fluid_add_spans(fluid_maker *m, int64_t row, bool *any) {
  fluid_walls *w = m->out;
  const bool *solid = w->solid + row * m->grid.n[0];
  for (int64_t x = 0; x < m->grid.n[0]; x++) {
    if (!solid[x]) continue;
    int64_t end = x;
    while (end < m->grid.n[0] && solid[end]) end++;
    if (!fluid_reserve(&w->span, &m->span_room, w->spans, 1, sizeof *w->span)) return sim_no_memory("solid cells");
    w->span[w->spans++] = (fluid_span){row, (int32_t)x, (int32_t)(end - x)};
    w->fluid -= end - x;
    *any = true;
    x = end;
  }
  return SIM_OK;
}

static sim_status link_rows(fluid_maker *m, bool *solid_rows) {
  const grid_shape *g = &m->grid;
  const int64_t rows = g->n[1] * g->n[2];
  m->out->fluid = rows * g->n[0];
  for (int64_t row = 0; solid_rows && row < rows; row++) SIM_TRY(fluid_add_spans(m, row, &solid_rows[row]));
  if (m->out->fluid == 0) return sim_fail(SIM_ERR_SCENARIO, "%s: no cell is fluid", m->rock ? "solid" : "bodies");
  for (int64_t row = 0; row < rows; row++) {
    int64_t at[3] = {0, row % g->n[1], row / g->n[1]};
    bool all = has_solid(m, solid_rows, at);
    const bool near_body = all;
    for (int a = 1; a < g->rank; a++) all = all || (!grid_is_periodic(g, a) && (at[a] == 0 || at[a] == g->n[a] - 1));
    const bool ends = !grid_is_periodic(g, 0);
    for (at[0] = 0; at[0] < g->n[0]; at[0]++) {
      if (!all && !(ends && (at[0] == 0 || at[0] == g->n[0] - 1))) continue;
      if (!m->out->solid || !m->out->solid[row * g->n[0] + at[0]]) SIM_TRY(fluid_link_cell(m, at, near_body));
    }
  }
  return SIM_OK;
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
  m->scratch = aligned_alloc(64, scratch);
  if (!m->scratch) return sim_no_memory("walls");
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
}

static sim_status make(fluid_maker *m, int threads) {
  const int64_t rows = m->grid.n[1] * m->grid.n[2];
  int bodies = 0;
  for (int b = 0; b < m->bodies; b++) bodies += !m->without[b];
  if (bodies == 0 && !m->rock) return link_rows(m, NULL);
  m->out->solid = calloc((size_t)(rows * m->grid.n[0]), sizeof(bool));
  bool *solid_rows = calloc((size_t)rows, sizeof *solid_rows);
  if (m->out->solid && solid_rows) mark_solid(m, threads);
  sim_status status = m->out->solid && solid_rows ? link_rows(m, solid_rows) : sim_no_memory("solid cells");
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
