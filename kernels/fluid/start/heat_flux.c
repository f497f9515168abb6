/* Given heat fluxes of sides and bodies: how much each link brings, and how far temperatures may go. */
#include "kernels/fluid/heat.h"
#include "kernels/fluid/meshes.h"

#include <math.h>
#include <stdlib.h>

bool fluid_has_flux(const fluid_parameters *p) {
  bool out = false;
  for (int s = 0; s < FLUID_SIDES; s++) out = out || !isnan(p->heat.flux[s]);
  for (int b = 0; b < (int)p->bodies.count; b++) out = out || !isnan(fluid_body_of(p, b)->flux);
  return p->heat.given && out;
}

/* The part of a link's axis in the normal of the surface that it meets. */
static double normal_along(const fluid_parameters *p, const fluid_machine *m, const fluid_cell *cell,
                           const fluid_link *link) {
  const int axis = (link->arriving - 1) / 2;
  const int8_t *c = m->lattice->c[link->arriving];
  const double dx = m->grid.size[0] / (double)m->grid.n[0];
  const fluid_shape shape = fluid_body_shape(p, m->walls.meshes, link->body, &m->walls.pose[link->body]);
  const int64_t at[3] = {cell->x, cell->row % m->grid.n[1], cell->row / m->grid.n[1]};
  double x[3], normal[3];
  for (int a = 0; a < 3; a++) {
    x[a] = grid_centre(&m->grid, a, at[a]) - fluid_link_part(link) * c[a] * dx;
    if (link->mirror & 1 << a) x[a] = x[a] < 0 ? -x[a] : fmin(x[a], 2 * m->grid.size[a] - x[a]);
  }
  fluid_body_normal(&m->grid, &shape, x, normal);
  return fabs(normal[axis]);
}

/* Distance along an axis of the centres of two bodies, of the images that are next to each other. */
static double way_between(const grid_shape *g, const fluid_shape *one, const fluid_shape *other, int axis) {
  const double way = fabs(one->centre[axis] - other->centre[axis]), size = g->size[axis];
  return grid_is_periodic(g, axis) ? fabs(way - size * nearbyint(way / size)) : way;
}

/* Whether the fluid inside a ball or a cylinder has a cell between it and another body, which lies in it. */
static bool is_within(const grid_shape *g, const fluid_shape *inner, const fluid_shape *outer, double dx) {
  const bool round = inner->wall.shape == GEOMETRY_BALL || inner->wall.shape == GEOMETRY_CYLINDER;
  double low[3], high[3], square = 0;
  if (outer->wall.outside || outer->wall.shape == GEOMETRY_MESH || fluid_body_tilted(&outer->wall)) return false;
  fluid_body_extent(inner, low, high);
  for (int a = 0; a < g->rank; a++) {
    if (outer->wall.shape == GEOMETRY_CYLINDER && g->rank == 3 && fabs(outer->wall.axis[a]) > 1e-12) continue;
    const double far = way_between(g, inner, outer, a) + (round && isfinite(high[a]) ? 0 : (high[a] - low[a]) / 2);
    square += far * far;
  }
  return sqrt(square) + (round ? inner->wall.radius : 0) + dx <= outer->wall.radius;
}

/* Whether some axis has a cell between two bodies. */
static bool are_apart(const grid_shape *g, const fluid_shape *one, const fluid_shape *other, double dx) {
  double low[3], high[3], low2[3], high2[3];
  bool apart = false;
  fluid_body_extent(one, low, high);
  fluid_body_extent(other, low2, high2);
  for (int a = 0; a < g->rank; a++)
    if (!isinf(high[a]) && !isinf(high2[a]))
      apart = apart || way_between(g, one, other, a) > 0.5 * (high[a] - low[a] + high2[a] - low2[a]) + dx;
  return apart;
}

/* Whether all of a body's surface is in the fluid, with a cell of it before each other body: it ends a cell off the
 * sides of axes that are not periodic, or, with the fluid inside, before them, unless it crosses the whole box. */
static bool stands_free(const fluid_parameters *p, const fluid_machine *m, int body) {
  const grid_shape *g = &m->grid;
  const fluid_shape own = fluid_body_shape(p, m->walls.meshes, body, &m->walls.pose[body]);
  const double dx = g->size[0] / (double)g->n[0], room = own.wall.outside ? dx : 0;
  double low[3], high[3];
  fluid_body_extent(&own, low, high);
  for (int a = 0; a < g->rank; a++) {
    if (isinf(high[a])) continue;
    if (grid_is_periodic(g, a) ? high[a] - low[a] > g->size[a] - room : low[a] < room || high[a] > g->size[a] - room)
      return false;
  }
  for (int b = 0; b < (int)p->bodies.count; b++) {
    const fluid_shape other = fluid_body_shape(p, m->walls.meshes, b, &m->walls.pose[b]);
    const bool apart = own.wall.outside && other.wall.outside && are_apart(g, &own, &other, dx);
    if (b != body && !apart && !is_within(g, &own, &other, dx) && !is_within(g, &other, &own, dx)) return false;
  }
  return own.wall.outside || own.wall.shape != GEOMETRY_MESH;
}

/* Area of a body, or its girth in two dimensions; 0: not known. */
static double true_area(const fluid_parameters *p, const fluid_machine *m, int body) {
  static const double pi = 3.14159265358979323846;
  const grid_shape *g = &m->grid;
  const fluid_shape s = fluid_body_shape(p, m->walls.meshes, body, &m->walls.pose[body]);
  const double r = s.wall.radius;
  double side[3] = {1, 1, 1}, area = 0;
  switch (s.wall.shape) {
  case GEOMETRY_BALL: return g->rank == 2 ? 2 * pi * r : 4 * pi * r * r;
  case GEOMETRY_CYLINDER:
    area = fluid_body_tilted(&s.wall) ? 0 : 2 * pi * r;
    for (int a = 0; a < 3 && g->rank == 3; a++) area *= fabs(s.wall.axis[a]) > 1e-12 ? g->size[a] : 1;
    return area;
  case GEOMETRY_BLOCK:
    for (int a = 0; a < g->rank; a++) side[a] = fmin(2 * s.wall.half[a], g->size[a]);
    for (int a = 0; a < g->rank; a++)
      if (!isinf(s.wall.half[a])) area += 2 * side[0] * side[1] * side[2] / side[a];
    return area;
  case GEOMETRY_MESH: return m->walls.meshes->area[body];
  default: return 0;
  }
}

/* The parts of a body's links add up to its area: a block whose faces lie between the sides of cells has too many links
 * or too few, by up to a cell along each side. Bodies of which a part is not in the fluid stay as they are. */
static void scale_shares(const fluid_parameters *p, const fluid_machine *m, int body, double *share) {
  const double dx = m->grid.size[0] / (double)m->grid.n[0];
  const double wanted = stands_free(p, m, body) ? true_area(p, m, body) / pow(dx, m->grid.rank - 1) : 0;
  double counted = 0;
  for (int64_t j = 0; j < m->walls.links; j++) counted += m->walls.link[j].body == body ? share[j] : 0;
  if (!(wanted > 0.5 * counted && wanted < 2 * counted)) return;
  for (int64_t j = 0; j < m->walls.links; j++)
    if (m->walls.link[j].body == body) share[j] *= wanted / counted;
}

sim_status fluid_flux_create(const fluid_parameters *p, const fluid_machine *m, const fluid_numbers *k,
                             fluid_warmth *w) {
  const fluid_walls *walls = &m->walls;
  bool some = false;
  for (int s = 0; s < FLUID_SIDES; s++) w->side_flux[s] = isnan(p->heat.flux[s]) ? 0 : p->heat.flux[s] * k->dt / k->dx;
  for (int b = 0; b < (int)p->bodies.count; b++) {
    const double flux = fluid_body_of(p, b)->flux;
    w->body_flux[b] = isnan(flux) ? 0 : flux * k->dt / k->dx;
    some = some || !isnan(flux);
  }
  if (!some) return SIM_OK;
  w->share = calloc((size_t)walls->links + 1, sizeof *w->share);
  if (!w->share) return sim_no_memory("heat fluxes of bodies");
  for (int64_t i = 0; i < walls->cells; i++) {
    const fluid_cell *cell = &walls->cell[i];
    const int count = fluid_axis_links(m, cell);
    for (int j = cell->first; j < cell->first + count; j++) {
      const int body = walls->link[j].body;
      if (body >= 0 && !isnan(fluid_body_of(p, body)->flux)) w->share[j] = normal_along(p, m, cell, &walls->link[j]);
    }
  }
  for (int b = 0; b < (int)p->bodies.count; b++)
    if (!isnan(fluid_body_of(p, b)->flux)) scale_shares(p, m, b, w->share);
  return SIM_OK;
}

/* What a flux changes at most: by conduction over the longest way through the box, and the heat of all the run spread
 * over the box as if nothing took it away; of a surface of unknown area, that of the box. */
void fluid_flux_room(const fluid_parameters *p, double *rise, double *fall) {
  const grid_shape g = fluid_grid_of(p);
  double length = 0, area = 0; /* area: by volume */
  for (int a = 0; a < g.rank; a++) {
    length += g.size[a];
    area += 2 / g.size[a];
  }
  *rise = *fall = 0;
  for (int i = 0; i < FLUID_SIDES + (int)p->bodies.count; i++) {
    const double flux = i < FLUID_SIDES ? p->heat.flux[i] : fluid_body_of(p, i - FLUID_SIDES)->flux;
    if (!isnan(flux))
      *(flux > 0 ? rise : fall) += fabs(flux) * (2 * length / p->heat.diffusivity + area * p->integrate.t_end);
  }
}

double fluid_heat_diffusivity(const fluid_machine *m, const sim_buffer *state, int64_t row, int64_t x) {
  const fluid_heat_law *k = &m->warmth->law;
  double tau = 1 / k->omega;
  if (k->eddies > 0) {
    const int64_t at = fluid_row_at(&m->rows, row) + k->eddies * m->rows.stride + x;
    tau += k->conduct * (1 / grid_number(fluid_first(state), m->single, at) - k->flow_tau);
  }
  return (tau - 0.5) / 4;
}
