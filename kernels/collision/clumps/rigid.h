/* Motion of rigid bodies, and the masses that their contacts feel. */
#ifndef COLLISION_RIGID_H
#define COLLISION_RIGID_H

#include "kernels/collision/clumps/body.h"

#include <math.h>

/* C and nvcc compile this text. */
#ifdef __CUDACC__
#define RIGID_INLINE static __host__ __device__ inline
#else
#define RIGID_INLINE static inline
#endif

/* p q: turns by q, then by p. */
RIGID_INLINE void rigid_product(const double p[4], const double q[4], double out[4]) {
  const double w = p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3];
  const double x = p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2];
  const double y = p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1];
  const double z = p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0];
  out[0] = w, out[1] = x, out[2] = y, out[3] = z;
}

RIGID_INLINE void rigid_unit(double q[4]) {
  const double size = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  for (int k = 0; k < 4; k++) q[k] /= size;
}

/* Rows of the matrix that turns by q. */
RIGID_INLINE void rigid_matrix(const double q[4], double out[3][3]) {
  const double w = q[0], x = q[1], y = q[2], z = q[3];
  out[0][0] = 1 - 2 * (y * y + z * z), out[0][1] = 2 * (x * y - w * z), out[0][2] = 2 * (x * z + w * y);
  out[1][0] = 2 * (x * y + w * z), out[1][1] = 1 - 2 * (x * x + z * z), out[1][2] = 2 * (y * z - w * x);
  out[2][0] = 2 * (x * z - w * y), out[2][1] = 2 * (y * z + w * x), out[2][2] = 1 - 2 * (x * x + y * y);
}

RIGID_INLINE void rigid_apply(double m[3][3], const double v[3], double out[3]) {
  for (int a = 0; a < 3; a++) out[a] = m[a][0] * v[0] + m[a][1] * v[1] + m[a][2] * v[2];
}

/* R diag(d) R^T, for a matrix R that turns. */
RIGID_INLINE void rigid_tensor(double turn[3][3], const double d[3], double out[3][3]) {
  for (int a = 0; a < 3; a++)
    for (int b = 0; b < 3; b++)
      out[a][b] = turn[a][0] * d[0] * turn[b][0] + turn[a][1] * d[1] * turn[b][1] + turn[a][2] * d[2] * turn[b][2];
}

/* Inverse of the tensor of inertia in the axes of the box. */
RIGID_INLINE void rigid_inverse(const collision_body *body, double turn[3][3], double out[3][3]) {
  const double inverse[3] = {1 / body->moment[0], 1 / body->moment[1], 1 / body->moment[2]};
  rigid_tensor(turn, inverse, out);
}

RIGID_INLINE void rigid_cross(const double a[3], const double b[3], double out[3]) {
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

/* Form A for which a force along the unit vector n on the sphere with this lever moves the body with the inverse mass
 * 1/M + n A n, where n A n = (lever x n) I^-1 (lever x n). out: xx yy zz xy yz zx. */
RIGID_INLINE void rigid_mobility(double inverse[3][3], const double lever[3], double out[6]) {
  double arm[3][3], turned[3][3];
  for (int a = 0; a < 3; a++) {
    double axis[3] = {0, 0, 0};
    axis[a] = 1;
    rigid_cross(lever, axis, arm[a]);
    rigid_apply(inverse, arm[a], turned[a]);
  }
  for (int a = 0; a < 3; a++) {
    const int b = (a + 1) % 3;
    out[a] = arm[a][0] * turned[a][0] + arm[a][1] * turned[a][1] + arm[a][2] * turned[a][2];
    out[3 + a] = arm[a][0] * turned[b][0] + arm[a][1] * turned[b][1] + arm[a][2] * turned[b][2];
  }
}

/* n A n for such a form. */
RIGID_INLINE double rigid_along(const double form[6], const double n[3]) {
  return form[0] * n[0] * n[0] + form[1] * n[1] * n[1] + form[2] * n[2] * n[2] +
         2 * (form[3] * n[0] * n[1] + form[4] * n[1] * n[2] + form[5] * n[2] * n[0]);
}

/* Turns the body freely over a time dt: for each principal axis in turn, 1 2 3 2 1, the exact motion by the energy of
 * rotation about it alone. Symplectic, reversible, of second order (A. Dullweber, B. Leimkuhler and R. McLachlan,
 * J. Chem. Phys. 107 (1997) 5840). tan of a quarter of each angle is the first terms of its series: whatever odd
 * function of the momentum the angle is, the turn is the exact motion by some energy, so that nothing of this is lost,
 * and no step depends on the C library. */
RIGID_INLINE void rigid_turn(collision_body *body, double dt) {
  const int order[5] = {0, 1, 2, 1, 0};
  double turn[3][3], p[3], *q = body->orientation;
  rigid_matrix(q, turn);
  for (int k = 0; k < 3; k++)
    p[k] = turn[0][k] * body->angular[0] + turn[1][k] * body->angular[1] + turn[2][k] * body->angular[2];
  for (int s = 0; s < 5; s++) {
    const int a = order[s], b = (a + 1) % 3, c = (a + 2) % 3;
    const double quarter = 0.25 * (s == 2 ? dt : 0.5 * dt) * p[a] / body->moment[a], square = quarter * quarter;
    const double t = quarter * (1 + square * (1.0 / 3 + square * (2.0 / 15 + square * (17.0 / 315))));
    const double part = 1 / (1 + t * t), cosine = (1 - t * t) * part, sine = 2 * t * part; /* of half the angle */
    double by[4] = {cosine, 0, 0, 0};
    by[1 + a] = sine;
    rigid_product(q, by, q);
    const double whole = cosine * cosine - sine * sine, across = 2 * sine * cosine, pb = p[b];
    p[b] = whole * pb + across * p[c];
    p[c] = whole * p[c] - across * pb;
  }
  rigid_unit(q);
}

/* Rotation vector of a body, relative to the spheres of the scenario. */
RIGID_INLINE void rigid_vector(const collision_body *body, double out[3]) {
  const double back[4] = {body->axes[0], -body->axes[1], -body->axes[2], -body->axes[3]};
  double q[4];
  rigid_product(body->orientation, back, q);
  const double sign = q[0] < 0 ? -1 : 1, size = sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  const double scale = size > 0 ? 2 * atan2(size, sign * q[0]) / size : 2;
  for (int c = 0; c < 3; c++) out[c] = sign * scale * q[1 + c];
}

/* Smallest mass that a contact of a sphere may feel: 1/m = 1/M + (p x n) I^-1 (p x n), p: point of the contact, n:
 * direction of the force. Along the normal p may be the sphere's centre, at `at`, of radius r; `slides`: a force along
 * the surface counts too, of which a free sphere feels 2/7 of its mass: then 7/2 of that mass, if it is less. At most
 * the body's mass over the number of its spheres, all of which may touch at once. */
RIGID_INLINE double rigid_least_mass(const collision_body *body, const double at[3], double r, int slides) {
  double form[3][3], least = body->moment[0];
  for (int a = 0; a < 3; a++) least = body->moment[a] < least ? body->moment[a] : least;
  double arm[3][3];
  for (int a = 0; a < 3; a++) {
    double axis[3] = {0};
    axis[a] = 1;
    rigid_cross(at, axis, arm[a]);
  }
  for (int a = 0; a < 3; a++)
    for (int b = 0; b < 3; b++) {
      form[a][b] = 0;
      for (int k = 0; k < 3; k++) form[a][b] += arm[a][k] * arm[b][k] / body->moment[k];
    }
  /* `at` is in the kernel of the form: its other two eigenvalues are roots of a quadratic equation. */
  const double trace = form[0][0] + form[1][1] + form[2][2];
  double minors = 0;
  for (int a = 0; a < 3; a++) {
    const int b = (a + 1) % 3;
    minors += form[a][a] * form[b][b] - form[a][b] * form[b][a];
  }
  const double root = trace * trace - 4 * minors, most = 0.5 * (trace + sqrt(root > 0 ? root : 0));
  const double lever = sqrt(most) + r / sqrt(least);
  const double along = 1 / (1 / body->mass + most), across = 3.5 / (1 / body->mass + lever * lever);
  const double mass = slides && across < along ? across : along, share = body->mass / body->count;
  return share < mass ? share : mass;
}

#endif
