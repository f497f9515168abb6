/* Shapes of bodies, and their images in periodic boxes. */
#include "kernels/fluid/meshes.h"
#include "kernels/fluid/start/bodies.h"
#include "kernels/fluid/start/walls.h"

#include <math.h>
#include <string.h>

/* The box around a mesh: its middle is where the body is, which turns with it. */
static void set_mesh(const geometry_mesh *mesh, geometry_wall *w) {
  w->shape = GEOMETRY_MESH;
  w->mesh = mesh;
  for (int a = 0; a < 3 && mesh; a++) {
    w->point[a] = (mesh->low[a] + mesh->high[a]) / 2;
    w->half[a] = (mesh->high[a] - mesh->low[a]) / 2;
  }
}

static geometry_wall wall_of(const fluid_parameters *p, const fluid_meshes *meshes, int body) {
  const sim_item *item = &p->bodies.items[body];
  const fluid_body *b = item->data;
  const int rank = fluid_grid_of(p).rank;
  geometry_wall w = {.outside = !b->inside, .radius = b->radius, .turn = {0, 0, 1}};
  double length = 0;
  memcpy(w.point, b->point, sizeof w.point);
  if (item->schema == &fluid_block_schema) {
    w.shape = GEOMETRY_BLOCK;
    w.outside = true;
    for (int a = 0; a < 3; a++) {
      w.point[a] = a < rank ? (b->low[a] + b->high[a]) / 2 : 0;
      w.half[a] = a < rank ? (b->high[a] - b->low[a]) / 2 : INFINITY;
    }
  } else if (fluid_is_mesh(p, body)) {
    set_mesh(meshes ? meshes->mesh[body] : NULL, &w);
  } else {
    w.shape = item->schema == &fluid_ball_schema ? GEOMETRY_BALL : GEOMETRY_CYLINDER;
  }
  for (int a = 0; a < 3; a++) length += b->axis[a] * b->axis[a];
  for (int a = 0; a < 3; a++) w.axis[a] = w.turn[a] = length > 0 ? b->axis[a] / sqrt(length) : 0;
  w.spin = b->spin;
  memcpy(w.velocity, b->velocity, sizeof w.velocity);
  memcpy(w.pivot, w.point, sizeof w.pivot);
  if (b->pivot.rows == 3) memcpy(w.pivot, b->pivot.data, sizeof w.pivot);
  return w;
}

/* Turns v by `angle` about the unit vector `axis` (Rodrigues). */
static void turn(const double axis[3], double angle, double v[3]) {
  const double c = cos(angle), s = sin(angle), along = axis[0] * v[0] + axis[1] * v[1] + axis[2] * v[2];
  const double cross[3] = {axis[1] * v[2] - axis[2] * v[1], axis[2] * v[0] - axis[0] * v[2],
                           axis[0] * v[1] - axis[1] * v[0]};
  for (int a = 0; a < 3; a++) v[a] = c * v[a] + s * cross[a] + (1 - c) * along * axis[a];
}

fluid_shape fluid_body_shape(const fluid_parameters *p, const fluid_meshes *meshes, int body,
                             const geometry_pose *pose) {
  fluid_shape out = {.wall = wall_of(p, meshes, body)};
  const geometry_wall *w = &out.wall;
  out.pose = pose ? *pose : (geometry_pose){.spin = w->spin};
  double arm[3] = {0};
  for (int a = 0; a < 3; a++) arm[a] = w->point[a] - w->pivot[a];
  if (out.pose.angle != 0) turn(w->turn, out.pose.angle, arm);
  for (int a = 0; a < 3; a++) out.centre[a] = w->pivot[a] + arm[a] + out.pose.shift[a];
  if (!pose || memcmp(w->point, w->pivot, sizeof w->point) == 0)
    for (int a = 0; a < 3; a++) out.centre[a] = w->point[a] + out.pose.shift[a];
  return out;
}

void fluid_body_extent(const fluid_shape *s, double low[3], double high[3]) {
  double reach[3] = {s->wall.radius, s->wall.radius, s->wall.radius};
  for (int a = 0; a < 3 && s->wall.shape == GEOMETRY_CYLINDER; a++)
    if (fabs(s->wall.axis[a]) > 1e-12) reach[a] = INFINITY;
  if (s->wall.shape == GEOMETRY_BLOCK || s->wall.shape == GEOMETRY_MESH) {
    memset(reach, 0, sizeof reach);
    for (int e = 0; e < 3; e++) {
      double edge[3] = {0};
      if (isinf(s->wall.half[e])) {
        reach[e] = INFINITY;
        continue;
      }
      edge[e] = s->wall.half[e];
      turn(s->wall.turn, s->pose.angle, edge);
      for (int a = 0; a < 3; a++) reach[a] += fabs(edge[a]);
    }
  }
  for (int a = 0; a < 3; a++) {
    low[a] = s->centre[a] - reach[a];
    high[a] = s->centre[a] + reach[a];
  }
}

/* The image of x that is next to a body's point in a periodic box. */
static void image(const grid_shape *grid, const double point[3], const double x[3], double out[3]) {
  for (int a = 0; a < 3; a++) {
    const double d = x[a] - point[a], size = grid->size[a];
    out[a] = a < grid->rank && grid_is_periodic(grid, a) ? point[a] + d - size * nearbyint(d / size) : x[a];
  }
}

bool fluid_body_tilted(const geometry_wall *w) {
  int axes = 0;
  for (int a = 0; a < 3; a++) axes += fabs(w->axis[a]) > 1e-12;
  return w->shape == GEOMETRY_CYLINDER && axes > 1;
}

/* x where the body stood at time 0. */
static void at_rest(const fluid_shape *s, const double x[3], double out[3]) {
  const geometry_wall *w = &s->wall;
  for (int a = 0; a < 3; a++) out[a] = x[a] - s->pose.shift[a];
  if (s->pose.angle == 0) return;
  for (int a = 0; a < 3; a++) out[a] -= w->pivot[a];
  turn(w->turn, -s->pose.angle, out);
  for (int a = 0; a < 3; a++) out[a] += w->pivot[a];
}

static bool holds_mesh(const fluid_shape *s, const double x[3], double thick) {
  double y[3];
  at_rest(s, x, y);
  if (s->wall.outside) return geometry_mesh_holds(s->wall.mesh, y, thick);
  double point[3], normal[3];
  return !geometry_mesh_holds(s->wall.mesh, y, 0) || geometry_mesh_nearest(s->wall.mesh, y, point, normal) <= thick;
}

static double touch_mesh(const fluid_shape *s, const double x[3], double velocity[3]) {
  double y[3], point[3], normal[3], arm[3];
  at_rest(s, x, y);
  const double far = geometry_mesh_nearest(s->wall.mesh, y, point, normal);
  for (int a = 0; a < 3; a++) arm[a] = point[a] - s->wall.pivot[a];
  turn(s->wall.turn, s->pose.angle, arm);
  for (int a = 0; a < 3 && velocity; a++) {
    const int b = (a + 1) % 3, c = (a + 2) % 3;
    velocity[a] = s->pose.velocity[a] + s->pose.spin * (s->wall.turn[b] * arm[c] - s->wall.turn[c] * arm[b]);
  }
  return holds_mesh(s, x, 0) ? -far : far;
}

static double touch(const fluid_shape *s, const double x[3], double velocity[3]) {
  geometry_contact contact[GEOMETRY_CONTACTS_MAX];
  if (s->wall.shape == GEOMETRY_MESH) return touch_mesh(s, x, velocity);
  if (!velocity) return geometry_wall_distance(&s->wall, &s->pose, x);
  (void)geometry_wall_contacts(&s->wall, &s->pose, x, INFINITY, contact);
  memcpy(velocity, contact[0].velocity, sizeof contact[0].velocity);
  return contact[0].distance;
}

/* The image of x that is nearest to the body. A tilted cylinder has images beside that of its point. */
static void nearest(const grid_shape *grid, const fluid_shape *s, const double x[3], double out[3]) {
  const geometry_wall *w = &s->wall;
  double first[3], least = INFINITY;
  int reach[3] = {0};
  image(grid, s->centre, x, first);
  for (int a = 0; a < grid->rank; a++) reach[a] = fluid_body_tilted(w) && grid_is_periodic(grid, a);
  if (reach[0] + reach[1] + reach[2] == 0) {
    memcpy(out, first, sizeof first);
    return;
  }
  for (int i = -reach[0]; i <= reach[0]; i++)
    for (int j = -reach[1]; j <= reach[1]; j++)
      for (int k = -reach[2]; k <= reach[2]; k++) {
        const double y[3] = {first[0] + i * grid->size[0], first[1] + j * grid->size[1], first[2] + k * grid->size[2]};
        const double far = w->outside ? touch(s, y, NULL) : -touch(s, y, NULL);
        if (far >= least) continue;
        least = far;
        memcpy(out, y, sizeof y);
      }
}

bool fluid_body_holds(const grid_shape *grid, const fluid_shape *s, const double x[3], double thick) {
  double near[3];
  nearest(grid, s, x, near);
  return s->wall.shape == GEOMETRY_MESH ? holds_mesh(s, near, thick) : !(touch(s, near, NULL) > thick);
}

double fluid_body_cut(const grid_shape *grid, const fluid_shape *s, const double from[3], const double to[3]) {
  double near[3], before[3], ends[2][3];
  if (s->wall.shape != GEOMETRY_MESH) return INFINITY;
  nearest(grid, s, to, near);
  for (int a = 0; a < 3; a++) before[a] = near[a] + (from[a] - to[a]);
  at_rest(s, before, ends[0]);
  at_rest(s, near, ends[1]);
  return geometry_mesh_cut(s->wall.mesh, ends[0], ends[1]);
}

double fluid_body_distance(const grid_shape *grid, const fluid_shape *s, const double x[3], double velocity[3]) {
  double near[3];
  nearest(grid, s, x, near);
  return touch(s, near, velocity);
}

void fluid_body_normal(const grid_shape *grid, const fluid_shape *s, const double x[3], double normal[3]) {
  geometry_contact contact[GEOMETRY_CONTACTS_MAX];
  double near[3], y[3], point[3];
  nearest(grid, s, x, near);
  if (s->wall.shape == GEOMETRY_MESH) {
    at_rest(s, near, y);
    (void)geometry_mesh_nearest(s->wall.mesh, y, point, normal);
    turn(s->wall.turn, s->pose.angle, normal);
    return;
  }
  (void)geometry_wall_contacts(&s->wall, &s->pose, near, INFINITY, contact);
  memcpy(normal, contact[0].normal, sizeof contact[0].normal);
}

/* Number of the image of a body that is nearest to x along a periodic axis. A cell that the cut between two images
 * divides has the mean of both by its parts. */
static double image_of_cell(const grid_shape *grid, const double point[3], int axis, double x) {
  const double away = (x - point[axis]) / grid->size[axis], number = nearbyint(away);
  const double over = 0.5 - (double)grid->n[axis] * (0.5 - fabs(away - number));
  return over > 1e-9 ? number + copysign(over, away - number) : number;
}

void fluid_link_centre(const fluid_parameters *p, const fluid_walls *walls, const fluid_cell *cell, int arriving,
                       double part, int body, double out[3]) {
  const grid_shape grid = fluid_grid_of(p);
  const fluid_shape s = fluid_body_shape(p, walls->meshes, body, &walls->pose[body]);
  const int8_t *c = fluid_lattice_for(p)->c[arriving];
  const int64_t at[3] = {cell->x, cell->row % grid.n[1], cell->row / grid.n[1]};
  double x[3], near[3], low[3], high[3];
  for (int a = 0; a < 3; a++) x[a] = grid_centre(&grid, a, at[a]);
  fluid_body_extent(&s, low, high);
  nearest(&grid, &s, x, near);
  for (int a = 0; a < 3; a++) out[a] = s.centre[a] + x[a] - near[a];
  for (int a = 0; a < grid.rank && !fluid_body_tilted(&s.wall); a++) {
    const double size = grid.size[a];
    if (!grid_is_periodic(&grid, a) || high[a] - low[a] < size * (1 - 1e-9)) continue;
    const double own = image_of_cell(&grid, s.centre, a, x[a]);
    const double source = image_of_cell(&grid, s.centre, a, x[a] - c[a] * size / (double)grid.n[a]);
    const double more = own - nearbyint((x[a] - s.centre[a]) / size) + part * (source - own);
    if (more != 0) out[a] += more * size;
  }
}

/* The point at which a link meets a surface; c: its direction as it arrives from there. */
static void meeting(const grid_shape *grid, const fluid_lattice *lattice, const fluid_numbers *numbers,
                    const fluid_cell *cell, const fluid_link *link, double c[3], double x[3]) {
  const int64_t at[3] = {cell->x, cell->row % grid->n[1], cell->row / grid->n[1]};
  const double q = fluid_link_part(link);
  for (int a = 0; a < 3; a++) {
    c[a] = (link->mirror & 1 << a ? -1 : 1) * lattice->c[link->arriving][a];
    x[a] = grid_centre(grid, a, at[a]) - q * lattice->c[link->arriving][a] * numbers->dx;
    if (link->mirror & 1 << a) x[a] = x[a] < 0 ? -x[a] : fmin(x[a], 2 * grid->size[a] - x[a]);
  }
}

void fluid_link_normal(const fluid_parameters *p, const fluid_numbers *numbers, const fluid_walls *walls,
                       const fluid_cell *cell, const fluid_link *link, double normal[3]) {
  const grid_shape grid = fluid_grid_of(p);
  const fluid_shape shape = fluid_body_shape(p, walls->meshes, link->body, &walls->pose[link->body]);
  double x[3], near[3], behind[3], c[3];
  meeting(&grid, fluid_lattice_for(p), numbers, cell, link, c, x);
  /* A link that meets an edge exactly gets the normal of a face that it passes, by the point just behind it. */
  nearest(&grid, &shape, x, near);
  for (int a = 0; a < 3; a++)
    behind[a] =
        x[a] + 1e-9 * numbers->dx * (c[a] == 0 ? copysign(2, shape.centre[a] - near[a]) : -(1 + 0.1 * a) * c[a]);
  fluid_body_normal(&grid, &shape, behind, normal);
}

/* Of a link along c by whose cut the surface with the normal n stands a part of a cell off, 6 w (c.n)^2 of that is
 * counted: over the links by which a plane cuts a cell these are 1. */
double fluid_link_room(const fluid_parameters *p, const fluid_numbers *numbers, const fluid_walls *walls,
                       const fluid_cell *cell, const fluid_link *link, double rate[3]) {
  const grid_shape grid = fluid_grid_of(p);
  const fluid_lattice *lattice = fluid_lattice_for(p);
  double x[3], c[3], normal[3], along = 0;
  for (int a = 0; a < 3; a++) rate[a] = 0;
  meeting(&grid, lattice, numbers, cell, link, c, x);
  if (fluid_body_moves(p, link->body)) {
    const fluid_shape faster = fluid_body_shape(p, walls->meshes, link->body, &walls->rate[link->body]);
    (void)fluid_body_distance(&grid, &faster, x, rate);
    for (int a = 0; a < 3; a++) rate[a] *= numbers->dt / numbers->dx;
  }
  fluid_link_normal(p, numbers, walls, cell, link, normal);
  for (int a = 0; a < lattice->rank; a++) along += c[a] * normal[a];
  return (fluid_link_part(link) - 0.5) * 6 * fluid_weight(lattice, link->arriving) * along * along;
}
