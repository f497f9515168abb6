/* Shapes of bodies, and their images in periodic boxes. */
#include "kernels/fluid/fluid.h"

#include <math.h>
#include <string.h>

geometry_wall fluid_body_shape(const fluid_parameters *p, int body) {
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
  } else {
    w.shape = item->schema == &fluid_ball_schema ? GEOMETRY_BALL : GEOMETRY_CYLINDER;
    for (int a = 0; a < 3; a++) length += b->axis[a] * b->axis[a];
    for (int a = 0; a < 3; a++) w.axis[a] = w.turn[a] = b->axis[a] / sqrt(length);
    w.spin = b->spin;
  }
  memcpy(w.pivot, w.point, sizeof w.pivot);
  return w;
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

static double touch(const geometry_wall *w, const double x[3], double velocity[3]) {
  const geometry_pose pose = {.spin = w->spin};
  geometry_contact contact[GEOMETRY_CONTACTS_MAX];
  (void)geometry_wall_contacts(w, &pose, x, INFINITY, contact);
  if (velocity) memcpy(velocity, contact[0].velocity, sizeof contact[0].velocity);
  return contact[0].distance;
}

/* The image of x that is nearest to the body. A tilted cylinder has images beside that of its point. */
static void nearest(const grid_shape *grid, const geometry_wall *w, const double x[3], double out[3]) {
  double first[3], least = INFINITY;
  int reach[3] = {0};
  image(grid, w->point, x, first);
  for (int a = 0; a < grid->rank; a++) reach[a] = fluid_body_tilted(w) && grid_is_periodic(grid, a);
  if (reach[0] + reach[1] + reach[2] == 0) {
    memcpy(out, first, sizeof first);
    return;
  }
  for (int i = -reach[0]; i <= reach[0]; i++)
    for (int j = -reach[1]; j <= reach[1]; j++)
      for (int k = -reach[2]; k <= reach[2]; k++) {
        const double y[3] = {first[0] + i * grid->size[0], first[1] + j * grid->size[1], first[2] + k * grid->size[2]};
        const double far = w->outside ? touch(w, y, NULL) : -touch(w, y, NULL);
        if (far >= least) continue;
        least = far;
        memcpy(out, y, sizeof y);
      }
}

double fluid_body_distance(const grid_shape *grid, const geometry_wall *w, const double x[3], double velocity[3]) {
  double near[3];
  nearest(grid, w, x, near);
  return touch(w, near, velocity);
}

void fluid_body_centre(const fluid_parameters *p, int body, const double x[3], double out[3]) {
  const grid_shape grid = fluid_grid_of(p);
  const geometry_wall w = fluid_body_shape(p, body);
  double near[3];
  nearest(&grid, &w, x, near);
  for (int a = 0; a < 3; a++) out[a] = w.point[a] + x[a] - near[a];
}
