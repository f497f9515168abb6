/* Outer images of a periodic box in the fast multipole method: all images but the 27 in the lists of cells. fmm.h
 * defines the arithmetic; all devices share these functions. All in fp64, for all precisions. */
#ifndef NBODY_FMM_OUTER_H
#define NBODY_FMM_OUTER_H

#include "kernels/nbody/fmm/fmm.h"

/* Differences of two cubes along an axis, -3 ... 3; one more, so that rows of tensors begin at multiples of 8. */
enum { NBODY_FMM_OUTER_REACH = NBODY_FMM_OUTER_SIDE - 1, NBODY_FMM_OUTER_ROW = 2 * NBODY_FMM_OUTER_SIDE };
#define NBODY_FMM_OUTER_TENSORS                                                                                        \
  (NBODY_FMM_OUTER_COUNT * (size_t)(NBODY_FMM_OUTER_ROW * NBODY_FMM_OUTER_ROW * NBODY_FMM_OUTER_ROW))

#ifdef __CUDACC__
#define NBODY_OUTER_HD __host__ __device__
#else
#define NBODY_OUTER_HD
#endif

/* Position of coefficient (x, y, 0). Coefficients of ranks 0 ... P = NBODY_FMM_OUTER_ORDER are stored by kx, then ky,
 * then kz, ascending. */
NBODY_OUTER_HD static inline int nbody_fmm_outer_position(int x, int y) {
  enum { P = NBODY_FMM_OUTER_ORDER };
  int before = y * (P - x + 1) - y * (y - 1) / 2; /* coefficients (x, 0 ... y - 1, all z) */
  for (int i = 0; i < x; i++) before += (P - i + 1) * (P - i + 2) / 2;
  return before;
}

/* Index of the tensor of a difference of cubes, x fastest. */
NBODY_OUTER_HD static inline int nbody_fmm_outer_difference(int x, int y, int z) {
  return ((z + NBODY_FMM_OUTER_REACH) * NBODY_FMM_OUTER_ROW + y + NBODY_FMM_OUTER_REACH) * NBODY_FMM_OUTER_ROW + x +
         NBODY_FMM_OUTER_REACH;
}

/* Computes at[3], the cube (x, y, z) of bodies whose key begins with the six bits `code`. */
NBODY_OUTER_HD static inline void nbody_fmm_outer_cube(int code, int at[3]) {
  at[0] = 2 * (code >> 5 & 1) + (code >> 2 & 1);
  at[1] = 2 * (code >> 4 & 1) + (code >> 1 & 1);
  at[2] = 2 * (code >> 3 & 1) + (code & 1);
}

#ifdef __cplusplus
extern "C" {
#endif

/* Computes tensors[NBODY_FMM_OUTER_COUNT][row^3]: T in units of a cube's edge. softening: in edges of the box. */
void nbody_fmm_outer_tensors(double softening, double *tensors);

#ifdef __cplusplus
}
#endif

#endif
