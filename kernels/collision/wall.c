/* Where walls are. */
#include "kernels/collision/collision.h"

#include <math.h>

static double plane(const collision_wall *wall, double t, const double x[3], double normal[3], double velocity[3]) {
  double distance = 0;
  for (int c = 0; c < 3; c++) {
    distance += (x[c] - wall->point[c] - wall->velocity[c] * t) * wall->axis[c];
    normal[c] = wall->axis[c];
    velocity[c] = wall->velocity[c];
  }
  return distance;
}

/* On the axis itself the normal is any vector across it. */
static double cylinder(const collision_wall *wall, const double x[3], double normal[3], double velocity[3]) {
  const double *a = wall->axis;
  double q[3], along = 0, square = 0;
  for (int c = 0; c < 3; c++) along += (x[c] - wall->point[c]) * a[c];
  for (int c = 0; c < 3; c++) {
    q[c] = x[c] - wall->point[c] - along * a[c];
    square += q[c] * q[c];
  }
  const double distance = sqrt(square);
  if (!(distance > 0)) {
    const int c = fabs(a[0]) < 0.8 ? 0 : 1;
    q[0] = q[1] = q[2] = 0;
    for (int k = 0; k < 3; k++) q[k] = (k == c) - a[c] * a[k];
    square = 1 - a[c] * a[c];
  }
  const double size = sqrt(square), sign = wall->outside ? 1 : -1, surface = wall->spin * wall->radius;
  for (int c = 0; c < 3; c++) q[c] /= size;
  for (int c = 0; c < 3; c++) {
    const int d = (c + 1) % 3, e = (c + 2) % 3;
    normal[c] = sign * q[c];
    velocity[c] = surface * (a[d] * q[e] - a[e] * q[d]);
  }
  return sign * (distance - wall->radius);
}

double collision_wall_distance(const collision_wall *wall, double t, const double x[3], double normal[3],
                               double velocity[3]) {
  return wall->shape == COLLISION_PLANE ? plane(wall, t, x, normal, velocity) : cylinder(wall, x, normal, velocity);
}
