/* Moments of inner cells from their children (M2M), and fields of parents shifted to their children (L2L), as fmm.h
 * defines them. Compiled once for each instruction set and precision. Scalar: both take a few percent of a force. */
#include "kernels/nbody/fmm/cpu/bounds.h"
#include "kernels/nbody/fmm/cpu/kernels.h"

#include <math.h>
#include <string.h>

#define FMM_FUNCTION static inline __attribute__((always_inline))
typedef real vreal;
FMM_FUNCTION real v_set(real a) { return a; }
FMM_FUNCTION real v_add(real a, real b) { return a + b; }
FMM_FUNCTION real v_mul(real a, real b) { return a * b; }
#if NBODY_SINGLE
FMM_FUNCTION real v_fma(real a, real b, real c) { return fmaf(a, b, c); }
#else
FMM_FUNCTION real v_fma(real a, real b, real c) { return fma(a, b, c); }
#endif
FMM_FUNCTION real v_inverse_root(real a) { return 1 / root(a); }
#include "kernels/nbody/fmm/operators.inc"

FMM_FUNCTION real distance2(const real *x, const real *centre) {
  const real dx = x[0] - centre[0], dy = x[1] - centre[1], dz = x[2] - centre[2];
  return v_fma(dz, dz, v_fma(dy, dy, dx * dx));
}

FMM_FUNCTION void inner_of_order(const nbody_fmm_tree *t, int64_t cell, const int P) {
  const int64_t child = t->child[cell], end = child + t->children[cell];
  const real per_edge = (real)ldexp(1, t->level[cell]);
  const real *origin = bounds_of(t, child);
  real weighed[4] = {0}, centre[3], distance = 0, *moments = moments_of(t, cell);
  for (int64_t k = child; k < end; k++) {
    const real mass = moments_of(t, k)[0];
    weighed[0] += mass;
    for (int c = 0; c < 3; c++) weighed[1 + c] = v_fma(mass, bounds_of(t, k)[c] - origin[c], weighed[1 + c]);
  }
  for (int c = 0; c < 3; c++) centre[c] = weighed[0] > 0 ? origin[c] + weighed[1 + c] / weighed[0] : origin[c];
  for (int m = 0; m < NBODY_FMM_MOMENTS(P); m++) moments[m] = 0;
  for (int64_t k = child; k < end; k++) {
    const real *bounds = bounds_of(t, k), reach = root(distance2(bounds, centre)) + bounds[3];
    real away[3];
    for (int c = 0; c < 3; c++) away[c] = (centre[c] - bounds[c]) * per_edge;
    distance = reach > distance ? reach : distance;
    fmm_m2m(P, moments_of(t, k), away, moments);
  }
  set_bounds(t, cell, centre, distance);
}

FMM_FUNCTION void shift_of_order(const nbody_fmm_tree *t, int64_t cell, const int P) {
  const size_t count = NBODY_FMM_FIELD(P);
  const int64_t parent = t->parent[cell];
  real *field = (real *)t->field, away[3];
  if (cell == 0) {
    memset(field, 0, sizeof *field * count);
    return;
  }
  const real per_edge = (real)ldexp(1, t->level[parent]);
  for (int c = 0; c < 3; c++) away[c] = (bounds_of(t, cell)[c] - bounds_of(t, parent)[c]) * per_edge;
  fmm_l2l(P, field + (size_t)parent * count, away, field + (size_t)cell * count);
}

#define BY_ORDER(order, function, ...)                                                                                 \
  switch (order) {                                                                                                     \
  case 3: function(__VA_ARGS__, 3); break;                                                                             \
  case 4: function(__VA_ARGS__, 4); break;                                                                             \
  case 5: function(__VA_ARGS__, 5); break;                                                                             \
  default: function(__VA_ARGS__, 6);                                                                                   \
  }

static void inner(nbody_fmm_tree *t, int64_t cell) { BY_ORDER(t->moments_of, inner_of_order, t, cell) }

static void shift(const nbody_fmm_tree *t, int64_t cell) { BY_ORDER(t->settings.order, shift_of_order, t, cell) }

const nbody_fmm_translate NBODY_FMM_TRANSLATE = {inner, shift};
