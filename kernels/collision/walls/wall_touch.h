/* Distance, normal and motion of walls' surfaces. C, nvcc and NVRTC compile this text. */
#ifndef COLLISION_WALL_TOUCH_H
#define COLLISION_WALL_TOUCH_H

#include "kernels/collision/walls/mesh_near.h"

#include <math.h>

#ifdef __CUDACC__
#define WALL_INLINE static __device__ __forceinline__
#else
#define WALL_INLINE static inline
#endif

WALL_INLINE double wall_dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

WALL_INLINE void wall_cross(const double a[3], const double b[3], double out[3]) {
  for (int c = 0; c < 3; c++) {
    const int d = (c + 1) % 3, e = (c + 2) % 3;
    out[c] = a[d] * b[e] - a[e] * b[d];
  }
}

/* A unit vector across `axis`, any one. */
WALL_INLINE void wall_across(const double axis[3], double out[3]) {
  const int c = fabs(axis[0]) < 0.8 ? 0 : 1;
  const double size = sqrt(1 - axis[c] * axis[c]);
  for (int k = 0; k < 3; k++) out[k] = ((k == c) - axis[c] * axis[k]) / size;
}

/* Along the axis, from it, and the unit vector away from it. */
WALL_INLINE void wall_cylindrical(const collision_wall *wall, const double x[3], double *along, double *from,
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

/* `other` stands for the normal where x is on the surface. */
WALL_INLINE double wall_normal_from(const double d[3], const double other[3], double normal[3]) {
  const double distance = sqrt(wall_dot(d, d));
  for (int c = 0; c < 3; c++) normal[c] = distance > 0 ? d[c] / distance : other[c];
  return distance;
}

WALL_INLINE double wall_plane(const collision_wall *wall, const double x[3], double normal[3]) {
  const double d[3] = {x[0] - wall->point[0], x[1] - wall->point[1], x[2] - wall->point[2]};
  for (int c = 0; c < 3; c++) normal[c] = wall->axis[c];
  return wall_dot(d, normal);
}

WALL_INLINE double wall_cylinder(const collision_wall *wall, const double x[3], double normal[3]) {
  double along, from, away[3];
  const double sign = wall->outside ? 1 : -1;
  wall_cylindrical(wall, x, &along, &from, away);
  for (int c = 0; c < 3; c++) normal[c] = sign * away[c];
  return sign * (from - wall->radius);
}

/* In the half-plane through the axis the sheet is a stretch of a line. */
WALL_INLINE double wall_cone(const collision_wall *wall, const double x[3], double normal[3]) {
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

WALL_INLINE double wall_ball(const collision_wall *wall, const double x[3], double normal[3]) {
  const double d[3] = {x[0] - wall->point[0], x[1] - wall->point[1], x[2] - wall->point[2]};
  const double up[3] = {0, 0, 1}, distance = wall_normal_from(d, up, normal);
  if (wall->outside) return distance - wall->radius;
  for (int c = 0; c < 3; c++) normal[c] = -normal[c];
  return wall->radius - distance;
}

/* From within, the way out through the nearest face. */
WALL_INLINE double wall_block(const collision_wall *wall, const double x[3], double normal[3]) {
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

/* Turns v by an angle about a unit vector (Rodrigues). */
WALL_INLINE void wall_turn(const double axis[3], double angle, double v[3]) {
  double out[3];
  const double c = cos(angle), s = sin(angle), along = wall_dot(axis, v) * (1 - c);
  wall_cross(axis, v, out);
  for (int k = 0; k < 3; k++) v[k] = c * v[k] + s * out[k] + along * axis[k];
}

/* A place, as the wall had it at time 0. */
WALL_INLINE void wall_enter(const collision_wall *wall, const collision_pose *pose, const double x[3], double y[3]) {
  for (int c = 0; c < 3; c++) y[c] = x[c] - pose->shift[c];
  if (pose->angle == 0) return;
  for (int c = 0; c < 3; c++) y[c] -= wall->pivot[c];
  wall_turn(wall->turn, -pose->angle, y);
  for (int c = 0; c < 3; c++) y[c] += wall->pivot[c];
}

/* A touch there as it is now, with the motion of the surface. */
WALL_INLINE void wall_leave(const collision_wall *wall, const collision_pose *pose, const double x[3],
                            collision_touch *touch) {
  double arm[3], surface[3];
  if (pose->angle != 0) wall_turn(wall->turn, pose->angle, touch->normal);
  for (int c = 0; c < 3; c++) arm[c] = x[c] - touch->distance * touch->normal[c] - pose->shift[c] - wall->pivot[c];
  wall_cross(wall->turn, arm, surface);
  for (int c = 0; c < 3; c++) touch->velocity[c] = pose->velocity[c] + pose->spin * surface[c];
}

/* All shapes but meshes. */
WALL_INLINE int wall_touch(const collision_wall *wall, const collision_pose *pose, const double x[3], double reach,
                           collision_touch *out) {
  double y[3];
  wall_enter(wall, pose, x, y);
  switch (wall->shape) {
  case COLLISION_PLANE: out->distance = wall_plane(wall, y, out->normal); break;
  case COLLISION_CYLINDER: out->distance = wall_cylinder(wall, y, out->normal); break;
  case COLLISION_CONE: out->distance = wall_cone(wall, y, out->normal); break;
  case COLLISION_BALL: out->distance = wall_ball(wall, y, out->normal); break;
  case COLLISION_BLOCK: out->distance = wall_block(wall, y, out->normal); break;
  default: return 0;
  }
  if (!(out->distance < reach)) return 0;
  wall_leave(wall, pose, x, out);
  return 1;
}

/* A mesh; y: x as it was at time 0. */
WALL_INLINE int wall_touch_mesh(const collision_wall *wall, const collision_pose *pose, const double x[3],
                                const double y[3], double reach, collision_near *near,
                                collision_touch out[COLLISION_TOUCHES_MAX]) {
  const int count = mesh_touch_near(wall->mesh, y, reach, near, out);
  for (int k = 0; k < count; k++) wall_leave(wall, pose, x, &out[k]);
  return count;
}

#endif
