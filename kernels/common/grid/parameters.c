#include "kernels/common/grid/grid.h"

#include <math.h>

static const char *const boundaries[] = {"periodic", "no_flux", "fixed", NULL};
static const char *const own_boundaries[] = {"periodic", "no_flux", "fixed", "as others", NULL};

#define ALONG(axis, i)                                                                                                 \
  {                                                                                                                    \
    .name = axis, .type = SIM_CHOICE, .doc = "boundary along " axis, .choices = own_boundaries,                        \
    .initial = "as others", .offset = offsetof(grid_parameters, along) + (i) * sizeof(int)                             \
  }

static const sim_field fields[] = {
    {SIM_FIELD(grid_parameters, n), .type = SIM_NUMBERS, .flags = SIM_REQUIRED | SIM_RANGE, .min = 1,
     .max = GRID_AXIS_MAX, .doc = "cells along x, or x, y, or x, y, z"},
    {SIM_FIELD(grid_parameters, size), .type = SIM_NUMBERS, .flags = SIM_REQUIRED | SIM_RANGE | SIM_MIN_OPEN,
     .max = INFINITY, .dimension = {1, 0, 0}, .doc = "lengths of the box; one for each axis"},
    {SIM_FIELD(grid_parameters, boundary), .type = SIM_CHOICE, .initial = "periodic", .choices = boundaries,
     .doc = "periodic; no_flux: walls that let nothing through; fixed: walls that hold each field at 0, or at its "
            "`walls`"},
    ALONG("x", 0),
    ALONG("y", 1),
    ALONG("z", 2),
    {0}};
const sim_schema grid_schema = {
    .doc = "cells; values stand at their centres", .fields = fields, .size = sizeof(grid_parameters)};

bool grid_check(const grid_parameters *p, sim_faults *faults) {
  const sim_doubles *n = &p->n, *size = &p->size;
  const size_t before = faults->count;
  if (n->rows < 1 || n->rows > 3)
    sim_faults_add(faults, 0, "grid.n", "expected 1 to 3 numbers of cells, got %zu", n->rows);
  if (size->rows != n->rows)
    sim_faults_add(faults, 0, "grid.size", "expected as many lengths as grid.n has numbers, %zu, got %zu", n->rows,
                   size->rows);
  for (size_t i = 0; i < n->rows && i < 3; i++)
    if (n->data[i] != floor(n->data[i])) sim_faults_add(faults, 0, "grid.n", "expected integers, got %g", n->data[i]);
  const bool good = faults->count == before;
  bool all = true;
  for (int axis = 0; axis < 3; axis++) {
    const char letter = "xyz"[axis], path[] = {'g', 'r', 'i', 'd', '.', letter, '\0'};
    const bool own = p->along[axis] != GRID_AS_OTHERS;
    if ((size_t)axis < n->rows)
      all = all && own;
    else if (own && good)
      sim_faults_add(faults, 0, path, "the grid has no axis %c: grid.n has %zu number%s", letter, n->rows,
                     n->rows == 1 ? "" : "s");
  }
  if (all && p->boundary != GRID_PERIODIC && good)
    sim_faults_add(faults, 0, "grid.boundary", "has no effect: each axis has a boundary of its own");
  return good;
}

grid_shape grid_shape_of(const grid_parameters *p, int64_t members) {
  grid_shape g = {.rank = (int)p->n.rows, .n = {1, 1, 1}, .size = {1, 1, 1}};
  for (int axis = 0; axis < g.rank; axis++) {
    const int own = p->along[axis];
    g.n[axis] = (int64_t)p->n.data[axis];
    g.size[axis] = p->size.data[axis];
    g.boundary[axis] = (grid_boundary)(own == GRID_AS_OTHERS ? p->boundary : own);
  }
  if (members > 1) {
    g.member_axis = g.rank++;
    g.n[g.member_axis] = members;
    g.size[g.member_axis] = (double)members;
    g.boundary[g.member_axis] = GRID_NO_FLUX;
  }
  return g;
}

double grid_cell_volume(const grid_shape *g) {
  double volume = 1;
  for (int axis = 0; axis < g->rank; axis++) volume *= g->size[axis] / (double)g->n[axis];
  return volume;
}

double grid_member(const grid_shape *g, int64_t row) {
  return g->member_axis == 0 ? 1 : 1 + (double)(g->member_axis == 1 ? row % g->n[1] : row / g->n[1]);
}

void grid_extent(const grid_shape *g, sim_extent *out) {
  *out = (sim_extent){.rank = g->rank, .apart = -1};
  for (int axis = 0; axis < g->rank; axis++) {
    const int a = g->rank - 1 - axis; /* openPMD lists the slowest axis first */
    out->n[a] = g->n[axis];
    out->mesh.spacing[a] = g->size[axis] / (double)g->n[axis];
    out->mesh.position[a] = grid_is_member_axis(g, axis) ? 1 : 0.5; /* member m is at position m */
    if (grid_is_member_axis(g, axis)) out->apart = a;
  }
}

sim_array grid_view(const grid_shape *g, const sim_mesh *mesh, const sim_field *field, sim_dtype dtype, void *data,
                    sim_space space) {
  sim_array array = {.field = field, .dtype = dtype, .rank = g->rank, .data = data, .space = space, .mesh = mesh};
  for (int axis = 0; axis < g->rank; axis++) array.shape[axis] = array.global[axis] = g->n[g->rank - 1 - axis];
  return array;
}
