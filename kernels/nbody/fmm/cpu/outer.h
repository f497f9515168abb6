/* Outer images of a periodic box on the CPU (../outer.h): what fmm.c shares with the inner loops (outer.c). */
#ifndef NBODY_FMM_CPU_OUTER_H
#define NBODY_FMM_CPU_OUTER_H

#include "kernels/nbody/fmm/cpu/kernels.h"
#include "kernels/nbody/fmm/outer.h"

/* Memory of the outer images, [cubes] by the order of their keys unless stated. */
typedef struct nbody_fmm_outer {
  double *tensors;                          /* of nbody_fmm_outer_tensors */
  double *moments;                          /* [NBODY_FMM_OUTER_COUNT][z][y][3 - x of the cube] */
  double (*fields)[NBODY_FMM_OUTER_COUNT];  /* [cubes] */
  int64_t first[NBODY_FMM_OUTER_CUBES + 1]; /* first body of a cube, in the order of keys */
} nbody_fmm_outer;

/* Moment k of a cube is moments[NBODY_FMM_OUTER_CUBES k + this]. */
static inline int nbody_fmm_outer_place(int cube) {
  enum { SIDE = NBODY_FMM_OUTER_SIDE };
  int at[3];
  nbody_fmm_outer_cube(cube, at);
  return (at[2] * SIDE + at[1]) * SIDE + SIDE - 1 - at[0];
}

typedef struct nbody_fmm_outer_loops {
  void (*moments)(const nbody_fmm_tree *tree, nbody_fmm_outer *outer, int cube);
  void (*field)(nbody_fmm_outer *outer, int cube);
  /* Adds what bodies first ... end - 1, of a cube, feel to acceleration[3][n] of the state's order, which are then
   * multiplied by `factor`; or, of the potential, to terms[n]. targets: NULL, or that other bodies may be left out. */
  void (*accelerate)(const nbody_fmm_tree *tree, const nbody_fmm_outer *outer, int cube, int64_t first, int64_t end,
                     const nbody_targets *targets, double scale, double factor, double *acceleration);
  void (*potential)(const nbody_fmm_tree *tree, const nbody_fmm_outer *outer, int cube, int64_t first, int64_t end,
                    double *terms);
} nbody_fmm_outer_loops;

/* By instruction set, as nbody_tiles. */
extern const nbody_fmm_outer_loops nbody_fmm_outer_double_plain, nbody_fmm_outer_double_avx2,
    nbody_fmm_outer_double_avx512;

#endif
