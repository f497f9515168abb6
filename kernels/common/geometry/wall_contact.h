/* Contacts of a sphere with a wall: distance, normal, and velocity of the surface. The distance is negative behind the
 * surface of a wall that has an open side. C, nvcc and NVRTC compile this text. */
#ifndef GEOMETRY_WALL_CONTACT_H
#define GEOMETRY_WALL_CONTACT_H

#include "kernels/common/geometry/mesh_cache.h"

#include <math.h>

GEOMETRY_FORCE_INLINE double wall_dot(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

GEOMETRY_FORCE_INLINE void wall_cross(const double a[3], const double b[3], double out[3]) {
  for (int c = 0; c < 3; c++) {
    const int d = (c + 1) % 3, e = (c + 2) % 3;
    out[c] = a[d] * b[e] - a[e] * b[d];
  }
}

/* A unit vector perpendicular to the unit vector `axis`. */
GEOMETRY_FORCE_INLINE void wall_across(const double axis[3], double out[3]) {
  const int c = fabs(axis[0]) < 0.8 ? 0 : 1;
  const double size = sqrt(1 - axis[c] * axis[c]);
  for (int k = 0; k < 3; k++) out[k] = ((k == c) - axis[c] * axis[k]) / size;
}

/* Cylindrical coordinates around the axis: height `along` it, distance `from` it, and the unit vector `away` from it.
 */
GEOMETRY_FORCE_INLINE void wall_cylindrical(const geometry_wall *wall, const double x[3], double *along, double *from,
                                            double away[3]) {
  const double d[3] = {x[0] - wall->point[0], x[1] - wall->point[1], x[2] - wall->point[2]};
  *along = wall_dot(d, wall->axis);
  for (int c = 0; c < 3; c++) away[c] = d[c] - *along * wall->axis[c];
  *from = sqrt(wall_dot(away, away));
  if (*from > 0)
    for (int c = 0; c < 3; c++) away[c] /= *from;
  else
    wall_across(wall->axis, away);
}

/* Returns the length of d and its unit vector in `normal`; `other` is the normal where d is zero. */
GEOMETRY_FORCE_INLINE double wall_normal_from(const double d[3], const double other[3], double normal[3]) {
  const double distance = sqrt(wall_dot(d, d));
  for (int c = 0; c < 3; c++) normal[c] = distance > 0 ? d[c] / distance : other[c];
  return distance;
}

GEOMETRY_FORCE_INLINE double wall_plane(const geometry_wall *wall, const double x[3], double normal[3]) {
  const double d[3] = {x[0] - wall->point[0], x[1] - wall->point[1], x[2] - wall->point[2]};
  for (int c = 0; c < 3; c++) normal[c] = wall->axis[c];
  return wall_dot(d, normal);
}

GEOMETRY_FORCE_INLINE double wall_cylinder(const geometry_wall *wall, const double x[3], double normal[3]) {
  double along, from, away[3];
  const double sign = wall->outside ? 1 : -1;
  wall_cylindrical(wall, x, &along, &from, away);
  for (int c = 0; c < 3; c++) normal[c] = sign * away[c];
  return sign * (from - wall->radius);
}

/* Distance from a cone's sheet, which is a straight segment in the half-plane through the axis and x. */
GEOMETRY_FORCE_INLINE double wall_cone(const geometry_wall *wall, const double x[3], double normal[3]) {
  double along, from, away[3], d[3], other[3];
  wall_cylindrical(wall, x, &along, &from, away);
  const double l = wall->length, w = wall->end_radius - wall->radius, size = l * l + w * w;
  const double part = fmin(1.0, fmax(0.0, (along * l + (from - wall->radius) * w) / size));
  const double a = along - part * l, f = from - wall->radius - part * w;
  for (int c = 0; c < 3; c++) {
    d[c] = a * wall->axis[c] + f * away[c];
    other[c] = (l * away[c] - w * wall->axis[c]) / sqrt(size);
  }
  return wall_normal_from(d, other, normal);
}

GEOMETRY_FORCE_INLINE double wall_ball(const geometry_wall *wall, const double x[3], double normal[3]) {
  const double d[3] = {x[0] - wall->point[0], x[1] - wall->point[1], x[2] - wall->point[2]};
  const double up[3] = {0, 0, 1}, distance = wall_normal_from(d, up, normal);
  if (wall->outside) return distance - wall->radius;
  for (int c = 0; c < 3; c++) normal[c] = -normal[c];
  return wall->radius - distance;
}

/* Distance from a block. Inside the block the nearest face counts. */
GEOMETRY_FORCE_INLINE double wall_block(const geometry_wall *wall, const double x[3], double normal[3]) {
  double d[3], deepest = -INFINITY;
  int face = 0;
  for (int c = 0; c < 3; c++) {
    const double y = x[c] - wall->point[c];
    d[c] = fabs(y) > wall->half[c] ? y - copysign(wall->half[c], y) : 0;
    if (fabs(y) - wall->half[c] > deepest) {
      deepest = fabs(y) - wall->half[c];
      face = c;
    }
  }
  double other[3] = {0};
  other[face] = x[face] < wall->point[face] ? -1 : 1;
  const double distance = wall_normal_from(d, other, normal);
  return deepest > 0 ? distance : deepest;
}

/* Rotates v by `angle` about the unit vector `axis` (Rodrigues). */
GEOMETRY_FORCE_INLINE void wall_turn(const double axis[3], double angle, double v[3]) {
  double out[3];
  const double c = cos(angle), s = sin(angle), along = wall_dot(axis, v) * (1 - c);
  wall_cross(axis, v, out);
  for (int k = 0; k < 3; k++) v[k] = c * v[k] + s * out[k] + along * axis[k];
}

/* Position y of x in the frame of the wall at time 0. */
GEOMETRY_FORCE_INLINE void wall_rest_position(const geometry_wall *wall, const geometry_pose *pose, const double x[3],
                                              double y[3]) {
  for (int c = 0; c < 3; c++) y[c] = x[c] - pose->shift[c];
  if (pose->angle == 0) return;
  for (int c = 0; c < 3; c++) y[c] -= wall->pivot[c];
  wall_turn(wall->turn, -pose->angle, y);
  for (int c = 0; c < 3; c++) y[c] += wall->pivot[c];
}

/* Turns a contact in the frame of the wall at time 0 to the present pose, and adds the velocity of the surface. */
GEOMETRY_FORCE_INLINE void wall_contact_now(const geometry_wall *wall, const geometry_pose *pose, const double x[3],
                                            geometry_contact *touch) {
  double arm[3], surface[3];
  if (pose->angle != 0) wall_turn(wall->turn, pose->angle, touch->normal);
  for (int c = 0; c < 3; c++) arm[c] = x[c] - touch->distance * touch->normal[c] - pose->shift[c] - wall->pivot[c];
  wall_cross(wall->turn, arm, surface);
  for (int c = 0; c < 3; c++) touch->velocity[c] = pose->velocity[c] + pose->spin * surface[c];
}

/* Finds the contact of a sphere of radius `reach` at x with any wall but a mesh; returns 1, or 0: no contact. */
GEOMETRY_FORCE_INLINE int wall_contact(const geometry_wall *wall, const geometry_pose *pose, const double x[3],
                                       double reach, geometry_contact *out) {
  double y[3];
  wall_rest_position(wall, pose, x, y);
  switch (wall->shape) {
  case GEOMETRY_PLANE: out->distance = wall_plane(wall, y, out->normal); break;
  case GEOMETRY_CYLINDER: out->distance = wall_cylinder(wall, y, out->normal); break;
  case GEOMETRY_CONE: out->distance = wall_cone(wall, y, out->normal); break;
  case GEOMETRY_BALL: out->distance = wall_ball(wall, y, out->normal); break;
  case GEOMETRY_BLOCK: out->distance = wall_block(wall, y, out->normal); break;
  default: return 0;
  }
  if (!(out->distance < reach)) return 0;
  wall_contact_now(wall, pose, x, out);
  return 1;
}

/* Finds the contacts of a sphere with a mesh; y: wall_rest_position of x. Returns their number. */
GEOMETRY_FORCE_INLINE int wall_mesh_contacts(const geometry_wall *wall, const geometry_pose *pose, const double x[3],
                                             const double y[3], double reach, geometry_mesh_cache *near,
                                             geometry_contact out[GEOMETRY_CONTACTS_MAX]) {
  const int count = mesh_cached_contacts(wall->mesh, y, reach, near, out);
  for (int k = 0; k < count; k++) wall_contact_now(wall, pose, x, &out[k]);
  return count;
}

#endif
