/* Cache of the triangles around one grain. While the grain stays near the cache's centre, its contacts are found among
 * these triangles alone. The cache never changes a result. C, nvcc and NVRTC compile this text. */
#ifndef GEOMETRY_MESH_CACHE_H
#define GEOMETRY_MESH_CACHE_H

#include "kernels/common/geometry/mesh_contact.h"

/* An entry holds the number of a triangle, and above it three bits that select one of two images along each axis. */
enum { MESH_TRIANGLE_BITS = 28 };
#define MESH_NONE UINT32_MAX       /* end of the entries */
#define MESH_IDLE (UINT32_MAX - 1) /* as first entry: no triangles, and the grain has no history */

/* Fills the cache with the triangles within near->radius of near->centre; false: too many. */
GEOMETRY_INLINE bool mesh_cache_fill(const geometry_mesh *m, geometry_mesh_cache *near) {
  const double centre[3] = {(double)near->centre[0], (double)near->centre[1], (double)near->centre[2]};
  const double radius = (double)near->radius, square = radius * radius * MESH_PAD * MESH_PAD;
  double first[3], y[3], point[3], d[3];
  int number[3], at[3], count = 0;
  mesh_images(m, centre, radius * MESH_PAD, first, number);
  for (int c = 0; c < 3; c++)
    if (number[c] > 2) return false;
  for (int k = 0; k < number[0] * number[1] * number[2]; k++) {
    mesh_image(m, centre, first, number, k, at, y);
    mesh_walk walk = mesh_begin(m);
    for (int64_t i; (i = mesh_next(m, y, square, &walk)) >= 0;) {
      mesh_nearest(m->corner + 9 * i, y, point);
      for (int c = 0; c < 3; c++) d[c] = y[c] - point[c];
      if (!(mesh_dot(d, d) < square)) continue;
      if (count == GEOMETRY_MESH_CACHED) return false;
      near->entry[count++] = (uint32_t)i | (uint32_t)(at[0] | at[1] << 1 | at[2] << 2) << MESH_TRIANGLE_BITS;
    }
  }
  if (count < GEOMETRY_MESH_CACHED) near->entry[count] = MESH_NONE;
  return true;
}

/* Fills the cache around x for contacts within `reach`: with the largest radius whose triangles fit, up to three
 * times the reach and with at most twice the former margin. Where less than a hundredth of the reach fits, no
 * triangles are cached until the grain has moved by a sixteenth of the reach. */
GEOMETRY_NO_INLINE void mesh_cache_renew(const geometry_mesh *m, const double x[3], double reach,
                                         geometry_mesh_cache *near) {
  const double least = reach / 128, most = 2 * reach, before = (double)near->radius;
  double skin = before > reach ? 2 * (before - reach) : before < 0 ? least : most;
  skin = skin > most ? most : skin > least ? skin : least;
  for (int c = 0; c < 3; c++) near->centre[c] = (float)x[c];
  for (; skin >= least / 2; skin /= 4) {
    near->radius = (float)(reach + skin);
    if (mesh_cache_fill(m, near)) return;
  }
  near->radius = (float)(-reach / 16);
}

/* Distance of x from the centre of the cache. */
GEOMETRY_INLINE double mesh_cache_displacement(const geometry_mesh_cache *near, const double x[3]) {
  double square = 0;
  for (int c = 0; c < 3; c++) {
    const double d = x[c] - (double)near->centre[c];
    square += d * d;
  }
  return sqrt(square);
}

/* Whether the cache has all triangles within `reach` of x. */
GEOMETRY_INLINE bool mesh_cache_holds(const geometry_mesh_cache *near, const double x[3], double reach) {
  return (mesh_cache_displacement(near, x) + reach) * MESH_PAD < (double)near->radius;
}

/* Whether a grain at x has neither contacts with the mesh nor a contact history to end. */
GEOMETRY_INLINE bool mesh_cache_idle(const geometry_mesh_cache *near, const double x[3], double reach) {
  return near->entry[0] == MESH_IDLE && mesh_cache_holds(near, x, reach);
}

/* Finds the same contacts as mesh_contacts, from the cache, which is refilled where needed. */
GEOMETRY_INLINE int mesh_cached_contacts(const geometry_mesh *m, const double x[3], double reach,
                                         geometry_mesh_cache *near, geometry_contact out[GEOMETRY_CONTACTS_MAX]) {
  double first[3];
  int number[3], found = 0;
  if (!mesh_cache_holds(near, x, reach)) {
    if (!(near->radius < 0 && mesh_cache_displacement(near, x) < -(double)near->radius))
      mesh_cache_renew(m, x, reach, near);
    if (!mesh_cache_holds(near, x, reach)) return mesh_contacts(m, x, reach, out);
  }
  if (near->entry[0] >= MESH_IDLE) return 0;
  const double centre[3] = {(double)near->centre[0], (double)near->centre[1], (double)near->centre[2]};
  mesh_images(m, centre, (double)near->radius * MESH_PAD, first, number);
  for (int k = 0; k < GEOMETRY_MESH_CACHED && near->entry[k] < MESH_IDLE; k++) {
    const uint32_t entry = near->entry[k];
    double y[3];
    for (int c = 0; c < 3; c++) y[c] = x[c] + (first[c] + (int)(entry >> (MESH_TRIANGLE_BITS + c) & 1u)) * m->period[c];
    found = mesh_add_triangle(m, (int64_t)(entry & ((1u << MESH_TRIANGLE_BITS) - 1)), y, reach, found, out);
  }
  return found;
}

#endif
