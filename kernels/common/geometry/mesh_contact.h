/* Contacts of a sphere with a mesh of triangles. C, nvcc and NVRTC compile this text. */
#ifndef GEOMETRY_MESH_CONTACT_H
#define GEOMETRY_MESH_CONTACT_H

#include "kernels/common/geometry/mesh_walk.h"

GEOMETRY_INLINE double mesh_dot(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Finds the point of triangle a[9] that is nearest to x (C. Ericson, Real-Time Collision Detection, 2005, 5.1.5).
 * Returns a mask of the corners that span the feature it lies on: one corner, two of an edge, or 7 for the face. */
GEOMETRY_INLINE int mesh_nearest(const double *a, const double x[3], double out[3]) {
  double ab[3], ac[3], ap[3], bp[3], cp[3];
  for (int k = 0; k < 3; k++) {
    ab[k] = a[3 + k] - a[k];
    ac[k] = a[6 + k] - a[k];
    ap[k] = x[k] - a[k];
    bp[k] = x[k] - a[3 + k];
    cp[k] = x[k] - a[6 + k];
  }
  const double d1 = mesh_dot(ab, ap), d2 = mesh_dot(ac, ap), d3 = mesh_dot(ab, bp), d4 = mesh_dot(ac, bp),
               d5 = mesh_dot(ab, cp), d6 = mesh_dot(ac, cp);
  const double va = d3 * d6 - d5 * d4, vb = d5 * d2 - d1 * d6, vc = d1 * d4 - d3 * d2;
  double v, w; /* x = a + v ab + w ac */
  int held;
  if (d1 <= 0 && d2 <= 0)
    v = w = 0, held = 1;
  else if (d3 >= 0 && d4 <= d3)
    v = 1, w = 0, held = 2;
  else if (vc <= 0 && d1 >= 0 && d3 <= 0)
    v = d1 / (d1 - d3), w = 0, held = 3;
  else if (d6 >= 0 && d5 <= d6)
    v = 0, w = 1, held = 4;
  else if (vb <= 0 && d2 >= 0 && d6 <= 0)
    v = 0, w = d2 / (d2 - d6), held = 5;
  else if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0)
    w = (d4 - d3) / (d4 - d3 + (d5 - d6)), v = 1 - w, held = 6;
  else
    v = vb / (va + vb + vc), w = vc / (va + vb + vc), held = 7;
  for (int k = 0; k < 3; k++) out[k] = a[k] + v * ab[k] + w * ac[k];
  return held;
}

/* Upper bound of the sine of an angle that rounding can cause: eps (|x| / r + r / h) for a grain of radius r at x and a
 * triangle of height h; a few 1e-10 while both ratios stay below 1e6. */
#define MESH_ROUNDING 1e-9
/* Normals whose squared difference is smaller belong to one contact. The bound exceeds MESH_ROUNDING, and also the
 * angles of 6e-8 |x| / h that single precision leaves between triangles of one plane. */
#define MESH_SAME_NORMAL 1e-6

/* Whether a step along u from the contact point approaches the grain; d: vector from that point to its centre. */
GEOMETRY_INLINE bool mesh_leads_nearer(const double d[3], const double u[3]) {
  const double s = mesh_dot(d, u);
  return s > 0 && s * s > MESH_ROUNDING * MESH_ROUNDING * mesh_dot(d, d) * mesh_dot(u, u);
}

/* Whether corner `other` of a triangle is an end of the edge `along`, whose other end is vertex `to`: 1 or 2, the
 * number of corners from `other` to that end; 0: the triangle lacks this edge. The vector is compared too: in a
 * periodic box an edge may join a vertex and its own image. */
GEOMETRY_INLINE int mesh_shared_edge(const geometry_mesh *m, int64_t other, int32_t to, const double along[3],
                                     double length) {
  const int64_t triangle = other / 3;
  for (int step = 1; step < 3; step++) {
    const int64_t end = 3 * triangle + (other + step) % 3;
    double off = 0;
    for (int k = 0; k < 3; k++) {
      const double d = m->corner[3 * end + k] - m->corner[3 * other + k] - along[k];
      off += d * d;
    }
    if (m->vertex[end] == to && off <= MESH_SAME_NORMAL * length) return step;
  }
  return 0;
}

/* Whether a point on an edge or corner of triangle i is a minimum of the distance to the mesh: whether d lies in the
 * cone of normals of that edge or corner. Triangles are convex, so the edges from the corner decide. The edge of a
 * single triangle has a cone of half a turn. Vectors start at each triangle's own corner, which may be an image. */
GEOMETRY_INLINE bool mesh_in_cone(const geometry_mesh *m, int64_t i, int held, const double d[3]) {
  const int one = held == 1 || held == 3 || held == 5 ? 0 : held == 4 ? 2 : 1;
  const int two = held == 3 ? 1 : held == 5 || held == 6 ? 2 : -1; /* of an edge */
  const int64_t own = 3 * i + one;
  const int32_t from = m->vertex[own], to = two < 0 ? -1 : m->vertex[3 * i + two];
  double along[3] = {0, 0, 0}, length = 1;
  if (two >= 0) {
    for (int k = 0; k < 3; k++) along[k] = m->corner[9 * i + 3 * two + k] - m->corner[3 * own + k];
    length = mesh_dot(along, along);
  }
  for (int32_t e = m->around_first[from]; e < m->around_first[from + 1]; e++) {
    const int64_t other = m->around[e];
    const int shared = other != own && two >= 0 ? mesh_shared_edge(m, other, to, along, length) : 0;
    if (other == own || (two >= 0 && shared == 0)) continue;
    for (int step = 1; step < 3; step++) {
      if (step == shared) continue;
      const double *const end = m->corner + 3 * (other / 3 * 3 + (other + step) % 3);
      double u[3];
      for (int k = 0; k < 3; k++) u[k] = end[k] - m->corner[3 * other + k];
      const double part = mesh_dot(u, along) / length;
      for (int k = 0; k < 3; k++) u[k] -= part * along[k];
      if (mesh_leads_nearer(d, u)) return false;
    }
  }
  return true;
}

GEOMETRY_INLINE bool mesh_same_normal(const double a[3], const double b[3]) {
  double square = 0;
  for (int c = 0; c < 3; c++) square += (a[c] - b[c]) * (a[c] - b[c]);
  return square < MESH_SAME_NORMAL;
}

/* Adds a contact to `out`, sorted by distance; returns the new count. Of contacts with the same normal the nearest is
 * kept: a face and the edge beside it, an edge that triangles share, or the far side of a plate. */
GEOMETRY_INLINE int mesh_add_contact(geometry_contact out[GEOMETRY_CONTACTS_MAX], int found, const double d[3],
                                     double distance) {
  double normal[3];
  int kept = 0, at;
  for (int c = 0; c < 3; c++) normal[c] = d[c] / distance;
  for (int k = 0; k < found; k++)
    if (out[k].distance <= distance && mesh_same_normal(out[k].normal, normal)) return found;
  for (int k = 0; k < found; k++)
    if (!mesh_same_normal(out[k].normal, normal)) out[kept++] = out[k];
  for (at = kept; at > 0 && out[at - 1].distance > distance;) at--;
  if (at == GEOMETRY_CONTACTS_MAX) return kept;
  if (kept < GEOMETRY_CONTACTS_MAX) kept++;
  for (int k = kept - 1; k > at; k--) out[k] = out[k - 1];
  out[at].distance = distance;
  for (int c = 0; c < 3; c++) out[at].normal[c] = normal[c];
  return kept;
}

/* Adds the contact of triangle i, if any, to the `found` contacts in `out`; returns the new count. Contacts are minima
 * of the distance to x: inside faces, and on edges and corners that are convex towards x. */
GEOMETRY_INLINE int mesh_add_triangle(const geometry_mesh *m, int64_t i, const double x[3], double reach, int found,
                                      geometry_contact out[GEOMETRY_CONTACTS_MAX]) {
  const double *ball = m->bound + 4 * i;
  const double most = reach + ball[3];
  double d[3], point[3];
  for (int k = 0; k < 3; k++) d[k] = x[k] - ball[k];
  if (!(mesh_dot(d, d) < most * most)) return found;
  const int held = mesh_nearest(m->corner + 9 * i, x, point);
  for (int k = 0; k < 3; k++) d[k] = x[k] - point[k];
  const double distance = sqrt(mesh_dot(d, d));
  if (!(distance < reach && distance > 0) || (held != 7 && !mesh_in_cone(m, i, held, d))) return found;
  return mesh_add_contact(out, found, d, distance);
}

/* Finds the contacts of a sphere of radius `reach` at x with the mesh and its images, the nearest first; returns their
 * number. MESH_PAD exceeds rounding errors. */
#define MESH_PAD (1 + 1e-9)
GEOMETRY_INLINE int mesh_contacts(const geometry_mesh *m, const double x[3], double reach,
                                  geometry_contact out[GEOMETRY_CONTACTS_MAX]) {
  const double square = reach * reach * MESH_PAD * MESH_PAD;
  double first[3], y[3];
  int number[3], at[3], found = 0;
  mesh_images(m, x, reach * MESH_PAD, first, number);
  for (int k = 0; k < number[0] * number[1] * number[2]; k++) {
    mesh_image(m, x, first, number, k, at, y);
    mesh_walk walk = mesh_begin(m);
    for (int64_t i; (i = mesh_next(m, y, square, &walk)) >= 0;) found = mesh_add_triangle(m, i, y, reach, found, out);
  }
  return found;
}

#endif
