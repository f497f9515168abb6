/* Outer images of a periodic box on the CPU: declarations that fmm.c shares with the inner loops in outer.c. See
 * ../outer.h. */
#ifndef NBODY_FMM_CPU_OUTER_H
#define NBODY_FMM_CPU_OUTER_H

#include "kernels/nbody/fmm/cpu/kernels.h"
#include "kernels/nbody/fmm/outer.h"

/* Memory of the outer images. Cubes are in the order of their keys unless stated. */
typedef struct nbody_fmm_outer {
  double *tensors;                          /* as nbody_fmm_outer_tensors fills them in */
  double *moments;                          /* [NBODY_FMM_OUTER_COUNT][z][y][3 - x of the cube] */
  double (*fields)[NBODY_FMM_OUTER_COUNT];  /* [cubes] */
  int64_t first[NBODY_FMM_OUTER_CUBES + 1]; /* first body of a cube, in the order of keys */
} nbody_fmm_outer;

/* Place of a cube in a row of moments: moment k of the cube is moments[NBODY_FMM_OUTER_CUBES k + place]. */
static inline int nbody_fmm_outer_place(int cube) {
  enum { SIDE = NBODY_FMM_OUTER_SIDE };
  int at[3];
  nbody_fmm_outer_cube(cube, at);
  return (at[2] * SIDE + at[1]) * SIDE + SIDE - 1 - at[0];
}

typedef struct nbody_fmm_outer_loops {
  /* Computes the moments of a cube from its bodies. */
  void (*moments)(const nbody_fmm_tree *tree, nbody_fmm_outer *outer, int cube);
  /* Computes the field of a cube from the moments of all cubes. */
  void (*field)(nbody_fmm_outer *outer, int cube);
  /* Adds the field of a cube, times `scale`, to the accelerations of its bodies first ... end - 1 (in the order of
   * keys), and multiplies these by `factor`. acceleration[3][n] is in the state's order. Where targets is not NULL,
   * other bodies may be left out. */
  void (*accelerate)(const nbody_fmm_tree *tree, const nbody_fmm_outer *outer, int cube, int64_t first, int64_t end,
                     const nbody_targets *targets, double scale, double factor, double *acceleration);
  /* Adds mass times potential of the field of a cube to terms[n], in the state's order, of the same bodies. */
  void (*potential)(const nbody_fmm_tree *tree, const nbody_fmm_outer *outer, int cube, int64_t first, int64_t end,
                    double *terms);
} nbody_fmm_outer_loops;

/* The functions for each instruction set. */
extern const nbody_fmm_outer_loops nbody_fmm_outer_double_plain, nbody_fmm_outer_double_avx2,
    nbody_fmm_outer_double_avx512;

#endif
