/* Which triangles of a mesh are near to a point. C, nvcc and NVRTC compile this text. */
#ifndef COLLISION_MESH_WALK_H
#define COLLISION_MESH_WALK_H

#include "kernels/collision/walls/shapes.h"

#include <math.h>

#ifdef __CUDACC__
#define MESH_INLINE static __device__ inline
#define MESH_LOWEST(mask) (__ffs((int)(mask)) - 1)
#else
#define MESH_INLINE static inline
#define MESH_LOWEST(mask) __builtin_ctz(mask)
#endif

/* A way through the tree of boxes: the group where it is, its level, and which of eight are left at each level. */
typedef struct mesh_walk {
  uint64_t left;
  int64_t group;
  int level;
} mesh_walk;

MESH_INLINE mesh_walk mesh_begin(const collision_mesh *m) {
  const mesh_walk walk = {0, -1, m->levels - 1};
  return walk;
}

/* Which of a group's eight boxes are nearer to x than the root of `square`, as bits. */
MESH_INLINE unsigned mesh_meets(const float *box, const double x[3], double square) {
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

/* The next triangle whose box is that near; triangles come in their order. -1: no more. */
MESH_INLINE int64_t mesh_next(const collision_mesh *m, const double x[3], double square, mesh_walk *walk) {
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
    walk->left |= (uint64_t)mesh_meets(box, x, square) << (8 * walk->level);
  }
}

/* Images of the mesh, `number` along each axis from the `first` on, that may be nearer to x than `reach`; x as the
 * image sees it is x + image * period. */
MESH_INLINE void mesh_images(const collision_mesh *m, const double x[3], double reach, double first[3], int number[3]) {
  for (int c = 0; c < 3; c++) {
    first[c] = 0;
    number[c] = 1;
    if (!(m->period[c] > 0)) continue;
    first[c] = ceil((m->low[c] - reach - x[c]) / m->period[c]);
    const double more = floor((m->high[c] + reach - x[c]) / m->period[c]) - first[c];
    number[c] = more >= 0 && more < 1e6 ? (int)more + 1 : 0;
  }
}

/* x as the which-th of them sees it, and where that is among them. */
MESH_INLINE void mesh_image(const collision_mesh *m, const double x[3], const double first[3], const int number[3],
                            int which, int at[3], double y[3]) {
  at[0] = which / number[2] / number[1];
  at[1] = which / number[2] % number[1];
  at[2] = which % number[2];
  for (int c = 0; c < 3; c++) y[c] = x[c] + (first[c] + at[c]) * m->period[c];
}

#endif
