/* How the grid resolves walls and bodies: what a user has to know before a run. */
#include "kernels/fluid/meshes.h"
#include "kernels/fluid/start/start.h"

#include "engine/log.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH = 8, GAP = 3, SURFACES = FLUID_BODIES + FLUID_SIDES }; /* least cells; bodies and sides */

typedef struct surfaces {
  double cells[FLUID_BODIES];     /* solid cells in it */
  bool meet[SURFACES][SURFACES];  /* they overlap */
  double gap[SURFACES][SURFACES]; /* least distance, in cells; INFINITY: not below GAP */
  int64_t at[SURFACES][SURFACES]; /* cell of the gap */
} surfaces;

/* Cells that lie in bodies, and bodies that overlap each other or reach the cells at a side. */
static void find_overlaps(const fluid_parameters *p, const fluid_walls *w, surfaces *out) {
  const grid_shape grid = fluid_grid_of(p);
  const int bodies = (int)p->bodies.count;
  fluid_shape shape[FLUID_BODIES];
  for (int b = 0; b < bodies; b++) shape[b] = fluid_body_shape(p, w->meshes, b, &w->pose[b]);
  for (int64_t i = 0; i < w->spans; i++)
    for (int32_t j = 0; j < w->span[i].count; j++) {
      const int64_t row = w->span[i].row, at[3] = {w->span[i].x + j, row % grid.n[1], row / grid.n[1]};
      int in[SURFACES], count = 0; /* rising */
      double x[3];
      for (int a = 0; a < 3; a++) x[a] = grid_centre(&grid, a, at[a]);
      for (int b = 0; b < bodies; b++) {
        if (bodies > 1 && !fluid_body_holds(&grid, &shape[b], x, 0)) continue; /* one body has all solid cells */
        out->cells[b]++;
        in[count++] = b;
      }
      for (int a = 0; a < grid.rank; a++) {
        if (at[a] == 0) in[count++] = FLUID_BODIES + 2 * a;
        if (at[a] == grid.n[a] - 1) in[count++] = FLUID_BODIES + 2 * a + 1;
      }
      for (int s = 0; s < count; s++)
        for (int t = 0; t < s; t++) out->meet[in[s]][in[t]] = true;
    }
}

/* Surface of a link along an axis, and how far it is, in cells; -1: none that bounds a gap. */
static int surface_of(const fluid_lattice *l, const fluid_link *link, double *far) {
  const int8_t *c = l->c[link->arriving];
  *far = fluid_link_part(link);
  if (c[0] * c[0] + c[1] * c[1] + c[2] * c[2] != 1 || link->mirror || link->kind == FLUID_OPEN ||
      link->kind == FLUID_STRAIGHT || link->kind == FLUID_MIRROR)
    return -1;
  for (int a = 0; a < l->rank && link->body < 0; a++)
    if (c[a] != 0) return FLUID_BODIES + 2 * a + (c[a] < 0);
  return link->body;
}

/* Follows the line of cells behind a link to the surface on its other side. */
static void follow(const fluid_lattice *l, const grid_shape *grid, const fluid_walls *w, const fluid_cell *cell,
                   const fluid_link *link, surfaces *out) {
  const int64_t *n = grid->n;
  const int8_t *c = l->c[link->arriving];
  double near, far;
  const int from = surface_of(l, link, &near);
  int64_t at[3] = {cell->x, cell->row % n[1], cell->row / n[1]};
  for (int steps = 0; from >= 0 && steps < GAP; steps++) {
    int64_t to[3];
    bool closed = false; /* a link comes from there */
    for (int a = 0; a < 3; a++) {
      to[a] = (at[a] + c[a] + n[a]) % n[a];
      closed = closed || (to[a] != at[a] + c[a] && !grid_is_periodic(grid, a));
    }
    closed = closed || (w->solid && w->solid[(to[2] * n[1] + to[1]) * n[0] + to[0]]);
    const fluid_link *other =
        closed ? fluid_link_of(w, at[2] * n[1] + at[1], at[0], fluid_opposite(link->arriving)) : NULL;
    if (other) {
      const int end = surface_of(l, other, &far), high = from > end ? from : end, low = from + end - high;
      if (end < 0 || end == from || low >= FLUID_BODIES || !(near + steps + far < out->gap[high][low])) return;
      out->gap[high][low] = near + steps + far;
      out->at[high][low] = (at[2] * n[1] + at[1]) * n[0] + at[0];
      return;
    }
    memcpy(at, to, sizeof at);
  }
}

static void surface_name(int surface, char out[32]) {
  if (surface < FLUID_BODIES)
    snprintf(out, 32, "bodies[%d]", surface + 1);
  else
    snprintf(out, 32, "the side %s", fluid_side_names[surface - FLUID_BODIES]);
}

static void tell_gaps(const fluid_parameters *p, const surfaces *s) {
  const grid_shape grid = fluid_grid_of(p);
  for (int high = 0; high < SURFACES; high++)
    for (int low = 0; low < high; low++) {
      if (!(s->gap[high][low] < GAP) || s->meet[high][low]) continue;
      char names[2][32];
      const int64_t at = s->at[high][low], row = at / grid.n[0];
      surface_name(low, names[0]);
      surface_name(high, names[1]);
      sim_log(SIM_LOG_WARN,
              "%s and %s: the gap between them is %.2g cells wide at x = %.6g, y = %.6g, z = %.6g: expected at least "
              "%d cells; what flows through it, and forces there, are wrong",
              names[0], names[1], s->gap[high][low], grid_centre(&grid, 0, at % grid.n[0]),
              grid_centre(&grid, 1, row % grid.n[1]), grid_centre(&grid, 2, row / grid.n[1]), GAP);
    }
}

/* Whether a wall moves along itself with another velocity than a body that does not turn or follow a function. */
static bool rubs(const fluid_parameters *p, int body, int s, int rank) {
  const fluid_body *b = fluid_body_of(p, body);
  const fluid_side *side = &p->sides[s];
  bool out = false;
  if (!side->given || b->motion || b->turning || b->spin != 0) return false;
  for (int a = 0; a < rank; a++)
    if (a != s / 2 && side->velocity.rows == (size_t)rank)
      out = out || (side->velocity.data[a] != 0 && side->velocity.data[a] != b->velocity[a]);
  return out;
}

/* Where such a wall and a body meet, the stress is that of a corner with two velocities, 1/distance: its integral has
 * no bound but the cells. */
static void tell_corners(const fluid_parameters *p, const surfaces *s, int rank) {
  for (int b = 0; b < (int)p->bodies.count; b++)
    for (int side = 0; side < 2 * rank; side++)
      if (s->meet[FLUID_BODIES + side][b] && rubs(p, b, side, rank))
        sim_log(SIM_LOG_WARN,
                "bodies[%d] and the side %s: meet, and the side moves along itself, the body not with it: the shear "
                "stress where they meet has no bound, so that the force on the body grows with the logarithm of the "
                "number of cells: expected a gap of some cells between them, or forces to be compared with equal cells "
                "alone",
                b + 1, fluid_side_names[side]);
}

static double body_width(const fluid_parameters *p, const fluid_meshes *meshes, int body, int rank) {
  const fluid_body *b = fluid_body_of(p, body);
  if (fluid_is_mesh(p, body)) {
    const double *half = fluid_body_shape(p, meshes, body, NULL).wall.half;
    return 2 * fmin(half[0], fmin(half[1], half[2]));
  }
  if (p->bodies.items[body].schema != &fluid_block_schema) return 2 * b->radius;
  double width = INFINITY;
  for (int a = 0; a < rank; a++) width = fmin(width, b->high[a] - b->low[a]);
  return width;
}

void fluid_tell_walls(const fluid_parameters *p, const fluid_numbers *k, const fluid_walls *w) {
  const grid_shape grid = fluid_grid_of(p);
  const fluid_lattice *lattice = fluid_lattice_for(p);
  surfaces s = {0};
  fluid_tell_solid(p, w);
  for (int a = 0; a < grid.rank; a++) {
    bool walls = grid.boundary[a] == GRID_FIXED;
    for (int i = 2 * a; i < 2 * a + 2; i++) walls = walls && !(p->sides[i].given && !isnan(p->sides[i].pressure));
    if (walls && grid.n[a] < WIDTH)
      sim_log(SIM_LOG_WARN, "grid.n: walls along %c are %lld cells apart: expected at least %d for errors of percents",
              "xyz"[a], (long long)grid.n[a], WIDTH);
  }
  for (int i = 0; i < SURFACES; i++)
    for (int j = 0; j < SURFACES; j++) s.gap[i][j] = INFINITY;
  find_overlaps(p, w, &s);
  for (int64_t i = 0; i < w->cells && p->bodies.count > 0; i++)
    for (int j = 0; j < w->cell[i].count; j++)
      follow(lattice, &grid, w, &w->cell[i], &w->link[w->cell[i].first + j], &s);
  for (int b = 0; b < (int)p->bodies.count; b++) {
    const double width = body_width(p, w->meshes, b, grid.rank) / k->dx;
    sim_log(SIM_LOG_INFO, "bodies[%d]: %.4g cells wide, takes %.0f cells of the grid", b + 1, width, s.cells[b]);
    if (width < WIDTH * (1 - 1e-9))
      sim_log(SIM_LOG_WARN, "bodies[%d]: is %.3g cells wide: expected at least %d for errors of percents", b + 1, width,
              WIDTH);
  }
  tell_gaps(p, &s);
  tell_corners(p, &s, grid.rank);
}
