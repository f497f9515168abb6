/* Centre, radius and edge of a cell, in the arrays of a tree of the precision `real`. */
#ifndef NBODY_FMM_BOUNDS_H
#define NBODY_FMM_BOUNDS_H

#include "kernels/nbody/cpu/real.h"
#include "kernels/nbody/fmm/cpu/tree.h"

#include <math.h>

/* Places in a row of moments: centre, edge, first moment. */
enum { NBODY_FMM_ROW_CENTRE = 0, NBODY_FMM_ROW_EDGE = 3, NBODY_FMM_ROW_FIRST = 4 };

static inline real root(real a) {
#if NBODY_SINGLE
  return sqrtf(a);
#else
  return sqrt(a);
#endif
}

static inline real *row_of(const nbody_fmm_tree *t, int64_t cell) { return (real *)t->moments + (size_t)cell * t->row; }

static inline real *moments_of(const nbody_fmm_tree *t, int64_t cell) { return row_of(t, cell) + NBODY_FMM_ROW_FIRST; }

static inline real *bounds_of(const nbody_fmm_tree *t, int64_t cell) { return (real *)t->bounds + 4 * cell; }

/* Stores centre, radius and edge of a cell whose bodies are at most `distance` from its centre. The radius is greater
 * by 2^-19 of it, which covers the roundings of 20 levels. */
static inline void set_bounds(const nbody_fmm_tree *t, int64_t cell, const real centre[3], real distance) {
  real *row = row_of(t, cell), *bounds = bounds_of(t, cell);
  const real edge = (real)ldexp(1, -t->level[cell]), least = edge / 32, radius = distance * (1 + (real)0x1p-19);
  for (int c = 0; c < 3; c++) bounds[c] = row[NBODY_FMM_ROW_CENTRE + c] = centre[c];
  bounds[3] = radius > least ? radius : least;
  row[NBODY_FMM_ROW_EDGE] = edge;
}

#endif
