/* Outer images of a periodic box in the fast multipole method: all but the 27 that the lists of cells take. fmm.h
 * defines the arithmetic; this is what all devices share. All in fp64, for all precisions. */
#ifndef NBODY_FMM_OUTER_H
#define NBODY_FMM_OUTER_H

#include "kernels/nbody/fmm/fmm.h"

/* Differences of two cubes along an axis, -3 ... 3, and one more so that rows of tensors begin at multiples of 8. */
enum { NBODY_FMM_OUTER_REACH = NBODY_FMM_OUTER_SIDE - 1, NBODY_FMM_OUTER_ROW = 2 * NBODY_FMM_OUTER_SIDE };
#define NBODY_FMM_OUTER_TENSORS                                                                                        \
  (NBODY_FMM_OUTER_COUNT * (size_t)(NBODY_FMM_OUTER_ROW * NBODY_FMM_OUTER_ROW * NBODY_FMM_OUTER_ROW))

#ifdef __CUDACC__
#define NBODY_OUTER_HD __host__ __device__
#else
#define NBODY_OUTER_HD
#endif

/* Coefficients of ranks 0 ... P = NBODY_FMM_OUTER_ORDER are stored by kx, then ky, then kz, ascending: position of
 * (x, y, 0). */
NBODY_OUTER_HD static inline int nbody_fmm_outer_position(int x, int y) {
  enum { P = NBODY_FMM_OUTER_ORDER };
  int before = y * (P - x + 1) - y * (y - 1) / 2; /* (x, 0 ... y - 1, all z) */
  for (int i = 0; i < x; i++) before += (P - i + 1) * (P - i + 2) / 2;
  return before;
}

/* Place of the tensor of a difference of cubes, x fastest. */
NBODY_OUTER_HD static inline int nbody_fmm_outer_difference(int x, int y, int z) {
  return ((z + NBODY_FMM_OUTER_REACH) * NBODY_FMM_OUTER_ROW + y + NBODY_FMM_OUTER_REACH) * NBODY_FMM_OUTER_ROW + x +
         NBODY_FMM_OUTER_REACH;
}

/* Cube (x, y, z) of bodies whose key begins with these six bits. */
NBODY_OUTER_HD static inline void nbody_fmm_outer_cube(int code, int at[3]) {
  at[0] = 2 * (code >> 5 & 1) + (code >> 2 & 1);
  at[1] = 2 * (code >> 4 & 1) + (code >> 1 & 1);
  at[2] = 2 * (code >> 3 & 1) + (code & 1);
}

#ifdef __cplusplus
extern "C" {
#endif

/* tensors[NBODY_FMM_OUTER_COUNT][row^3]: T in units of a cube's edge. softening in edges of the box. */
void nbody_fmm_outer_tensors(double softening, double *tensors);

#ifdef __cplusplus
}
#endif

#endif
