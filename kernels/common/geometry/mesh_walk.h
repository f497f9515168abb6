/* Traverses a mesh's tree of boxes to find the triangles near a point. C, nvcc and NVRTC compile this text. */
#ifndef GEOMETRY_MESH_WALK_H
#define GEOMETRY_MESH_WALK_H

#include "kernels/common/geometry/types.h"

#include <math.h>

#ifdef __CUDACC__
#define MESH_LOWEST(mask) (__ffs((int)(mask)) - 1)
#else
#define MESH_LOWEST(mask) __builtin_ctz(mask)
#endif

/* State of a depth-first walk: the current group, its level, and a mask of the members left to visit at each level. */
typedef struct mesh_walk {
  uint64_t left;
  int64_t group;
  int level;
} mesh_walk;

GEOMETRY_INLINE mesh_walk mesh_begin(const geometry_mesh *m) {
  const mesh_walk walk = {0, -1, m->levels - 1};
  return walk;
}

/* Mask of a group's eight boxes whose squared distance to x is less than `square`. */
GEOMETRY_INLINE unsigned mesh_boxes_near(const float *box, const double x[3], double square) {
  double far[8] = {0, 0, 0, 0, 0, 0, 0, 0};
  unsigned mask = 0;
  for (int c = 0; c < 3; c++)
    for (int k = 0; k < 8; k++) {
      const double below = (double)box[8 * c + k] - x[c], above = x[c] - (double)box[24 + 8 * c + k];
      double off = below > above ? below : above;
      off = off > 0 ? off : 0;
      far[k] += off * off;
    }
  for (int k = 0; k < 8; k++) mask |= (unsigned)(far[k] < square) << k;
  return mask;
}

/* Returns the next triangle, in increasing order, whose box is within sqrt(square) of x; -1: no more. */
GEOMETRY_INLINE int64_t mesh_next(const geometry_mesh *m, const double x[3], double square, mesh_walk *walk) {
  for (;;) {
    const unsigned left = (unsigned)(walk->left >> (8 * walk->level)) & 255u;
    if (left != 0) {
      const int k = MESH_LOWEST(left);
      walk->left &= ~((uint64_t)1 << (8 * walk->level + k));
      if (walk->level == 0) return 8 * walk->group + k;
      walk->group = 8 * walk->group + k;
      walk->level--;
    } else if (walk->level + 1 < m->levels) {
      walk->group >>= 3;
      walk->level++;
      continue;
    } else if (++walk->group == m->roots) {
      return -1;
    }
    const float *box = m->box + 48 * (m->level[walk->level] + walk->group);
    walk->left |= (uint64_t)mesh_boxes_near(box, x, square) << (8 * walk->level);
  }
}

/* Periodic images of the mesh that may be nearer to x than `reach`: `number` along each axis from image `first` on. The
 * position relative to an image is x + image * period. */
GEOMETRY_INLINE void mesh_images(const geometry_mesh *m, const double x[3], double reach, double first[3],
                                 int number[3]) {
  for (int c = 0; c < 3; c++) {
    first[c] = 0;
    number[c] = 1;
    if (!(m->period[c] > 0)) continue;
    first[c] = ceil((m->low[c] - reach - x[c]) / m->period[c]);
    const double more = floor((m->high[c] + reach - x[c]) / m->period[c]) - first[c];
    number[c] = more >= 0 && more < 1e6 ? (int)more + 1 : 0;
  }
}

/* Position y of x relative to image `which` of those of mesh_images; `at`: indices of the image along each axis. */
GEOMETRY_INLINE void mesh_image(const geometry_mesh *m, const double x[3], const double first[3], const int number[3],
                                int which, int at[3], double y[3]) {
  at[0] = which / number[2] / number[1];
  at[1] = which / number[2] % number[1];
  at[2] = which % number[2];
  for (int c = 0; c < 3; c++) y[c] = x[c] + (first[c] + at[c]) * m->period[c];
}

#endif
