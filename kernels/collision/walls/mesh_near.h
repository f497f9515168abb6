/* What a grain remembers of a mesh: the triangles about the place where it was. While it has not gone far, its contacts
 * are among those, and where there are none a step asks nothing else. No bit depends on it. C, nvcc and NVRTC compile
 * this text. */
#ifndef COLLISION_MESH_NEAR_H
#define COLLISION_MESH_NEAR_H

#include "kernels/collision/walls/mesh_touch.h"

#ifdef __CUDACC__
#define MESH_APART static __device__ __noinline__
#else
#define MESH_APART static inline
#endif

/* An entry: the number of a triangle, and above it which of two images along each axis. */
enum { MESH_TRIANGLE_BITS = 28 };
#define MESH_NONE UINT32_MAX
#define MESH_IDLE (UINT32_MAX - 1) /* none, and the grain has no history with it */

/* What is nearer than near->radius to near->centre; false: it is too much. */
MESH_INLINE bool mesh_gather(const collision_mesh *m, collision_near *near) {
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
      if (count == COLLISION_MESH_NEAR) return false;
      near->entry[count++] = (uint32_t)i | (uint32_t)(at[0] | at[1] << 1 | at[2] << 2) << MESH_TRIANGLE_BITS;
    }
  }
  if (count < COLLISION_MESH_NEAR) near->entry[count] = MESH_NONE;
  return true;
}

/* About x, for contacts within `reach` now: as wide as fits, up to three times the reach, and no more than twice as
 * wide as it was before, which a grain that rolls over many triangles finds sooner. Where less than a hundredth of the
 * reach fits, all are asked for each time, and this again after a sixteenth of it. */
MESH_APART void mesh_renew(const collision_mesh *m, const double x[3], double reach, collision_near *near) {
  const double least = reach / 128, most = 2 * reach, before = (double)near->radius;
  double skin = before > reach ? 2 * (before - reach) : before < 0 ? least : most;
  skin = skin > most ? most : skin > least ? skin : least;
  for (int c = 0; c < 3; c++) near->centre[c] = (float)x[c];
  for (; skin >= least / 2; skin /= 4) {
    near->radius = (float)(reach + skin);
    if (mesh_gather(m, near)) return;
  }
  near->radius = (float)(-reach / 16);
}

MESH_INLINE double mesh_gone(const collision_near *near, const double x[3]) {
  double square = 0;
  for (int c = 0; c < 3; c++) {
    const double d = x[c] - (double)near->centre[c];
    square += d * d;
  }
  return sqrt(square);
}

MESH_INLINE bool mesh_holds(const collision_near *near, const double x[3], double reach) {
  return (mesh_gone(near, x) + reach) * MESH_PAD < (double)near->radius;
}

/* Whether there is nothing to do for a grain. */
MESH_INLINE bool mesh_idle(const collision_near *near, const double x[3], double reach) {
  return near->entry[0] == MESH_IDLE && mesh_holds(near, x, reach);
}

/* As mesh_touch. */
MESH_INLINE int mesh_touch_near(const collision_mesh *m, const double x[3], double reach, collision_near *near,
                                collision_touch out[COLLISION_TOUCHES_MAX]) {
  double first[3];
  int number[3], found = 0;
  if (!mesh_holds(near, x, reach)) {
    if (!(near->radius < 0 && mesh_gone(near, x) < -(double)near->radius)) mesh_renew(m, x, reach, near);
    if (!mesh_holds(near, x, reach)) return mesh_touch(m, x, reach, out);
  }
  if (near->entry[0] >= MESH_IDLE) return 0;
  const double centre[3] = {(double)near->centre[0], (double)near->centre[1], (double)near->centre[2]};
  mesh_images(m, centre, (double)near->radius * MESH_PAD, first, number);
  for (int k = 0; k < COLLISION_MESH_NEAR && near->entry[k] < MESH_IDLE; k++) {
    const uint32_t entry = near->entry[k];
    double y[3];
    for (int c = 0; c < 3; c++) y[c] = x[c] + (first[c] + (int)(entry >> (MESH_TRIANGLE_BITS + c) & 1u)) * m->period[c];
    found = mesh_meet(m, (int64_t)(entry & ((1u << MESH_TRIANGLE_BITS) - 1)), y, reach, found, out);
  }
  return found;
}

#endif
