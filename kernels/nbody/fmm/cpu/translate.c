/* Moments of cells, and fields of parents about the centres of their children, as fmm.h defines them. Compiled once for
 * each instruction set and precision; scalar, as this is a few percent of a force. */
#include "kernels/nbody/cpu/real.h"
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
FMM_FUNCTION real root(real a) { return sqrtf(a); }
#else
FMM_FUNCTION real v_fma(real a, real b, real c) { return fma(a, b, c); }
FMM_FUNCTION real root(real a) { return sqrt(a); }
#endif
FMM_FUNCTION real v_inverse_root(real a) { return 1 / root(a); }
#include "kernels/nbody/fmm/operators.inc"

enum {
  STRANDS = NBODY_FMM_P2M_STRANDS,
  MOMENTS = NBODY_FMM_MOMENTS(NBODY_FMM_ORDER_MAX),
  CENTRE = 0, /* of a row of moments */
  EDGE = 3,
  FIRST = 4
};

static const real rounded_up = 1 + 0x1p-19F; /* covers the rounding of a distance and of what adds up over 20 levels */

FMM_FUNCTION real *row_of(const nbody_fmm_tree *t, int64_t cell) { return (real *)t->moments + (size_t)cell * t->row; }

FMM_FUNCTION real *bounds_of(const nbody_fmm_tree *t, int64_t cell) { return (real *)t->bounds + 4 * cell; }

/* sum[0] of [STRANDS][count], by halves. */
FMM_FUNCTION void close_strands(real *sum, int count) {
  for (int half = STRANDS / 2; half > 0; half /= 2)
    for (int k = 0; k < half * count; k++) sum[k] += sum[half * count + k];
}

FMM_FUNCTION real distance2(const real *x, const real *centre) {
  const real dx = x[0] - centre[0], dy = x[1] - centre[1], dz = x[2] - centre[2];
  return v_fma(dz, dz, v_fma(dy, dy, dx * dx));
}

FMM_FUNCTION void set_bounds(const nbody_fmm_tree *t, int64_t cell, const real centre[3], real radius, real edge) {
  real *row = row_of(t, cell), *bounds = bounds_of(t, cell);
  const real least = edge / 32;
  for (int c = 0; c < 3; c++) bounds[c] = row[CENTRE + c] = centre[c];
  bounds[3] = radius > least ? radius : least;
  row[EDGE] = edge;
}

FMM_FUNCTION void leaf_of_order(const nbody_fmm_tree *t, int64_t cell, const int P) {
  const int count = NBODY_FMM_MOMENTS(P);
  const real *body = (const real *)t->bodies + 4 * (size_t)t->first[cell];
  const int64_t n = t->count[cell];
  const real edge = (real)ldexp(1, -t->level[cell]), per_edge = (real)ldexp(1, t->level[cell]);
  real weighed[STRANDS][4] = {{0}}, centre[3], farthest = 0, sum[STRANDS * MOMENTS];
  for (int64_t i = 0; i < n; i++) {
    real *strand = weighed[i % STRANDS];
    strand[0] += body[4 * i + 3];
    for (int c = 0; c < 3; c++) strand[1 + c] = v_fma(body[4 * i + 3], body[4 * i + c] - body[c], strand[1 + c]);
  }
  close_strands(weighed[0], 4);
  for (int c = 0; c < 3; c++) centre[c] = weighed[0][0] > 0 ? body[c] + weighed[0][1 + c] / weighed[0][0] : body[c];
  memset(sum, 0, sizeof *sum * STRANDS * (size_t)count);
  for (int64_t i = 0; i < n; i++) {
    const real d2 = distance2(body + 4 * i, centre);
    real away[3];
    for (int c = 0; c < 3; c++) away[c] = (centre[c] - body[4 * i + c]) * per_edge;
    farthest = d2 > farthest ? d2 : farthest;
    fmm_p2m(P, body[4 * i + 3], away, sum + i % STRANDS * count);
  }
  close_strands(sum, count);
  memcpy(row_of(t, cell) + FIRST, sum, sizeof *sum * (size_t)count);
  set_bounds(t, cell, centre, root(farthest) * rounded_up, edge);
}

FMM_FUNCTION void inner_of_order(const nbody_fmm_tree *t, int64_t cell, const int P) {
  const int64_t child = t->child[cell], end = child + t->children[cell];
  const real edge = (real)ldexp(1, -t->level[cell]), per_edge = (real)ldexp(1, t->level[cell]);
  const real *origin = bounds_of(t, child);
  real weighed[4] = {0}, centre[3], radius = 0, *moments = row_of(t, cell) + FIRST;
  for (int64_t k = child; k < end; k++) {
    const real mass = row_of(t, k)[FIRST];
    weighed[0] += mass;
    for (int c = 0; c < 3; c++) weighed[1 + c] = v_fma(mass, bounds_of(t, k)[c] - origin[c], weighed[1 + c]);
  }
  for (int c = 0; c < 3; c++) centre[c] = weighed[0] > 0 ? origin[c] + weighed[1 + c] / weighed[0] : origin[c];
  for (int m = 0; m < NBODY_FMM_MOMENTS(P); m++) moments[m] = 0;
  for (int64_t k = child; k < end; k++) {
    const real *bounds = bounds_of(t, k), reach = root(distance2(bounds, centre)) + bounds[3];
    real away[3];
    for (int c = 0; c < 3; c++) away[c] = (centre[c] - bounds[c]) * per_edge;
    radius = reach > radius ? reach : radius;
    fmm_m2m(P, row_of(t, k) + FIRST, away, moments);
  }
  set_bounds(t, cell, centre, radius * rounded_up, edge);
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

#define BY_ORDER(function, ...)                                                                                        \
  switch (t->settings.order) {                                                                                         \
  case 3: function(__VA_ARGS__, 3); break;                                                                             \
  case 4: function(__VA_ARGS__, 4); break;                                                                             \
  case 5: function(__VA_ARGS__, 5); break;                                                                             \
  default: function(__VA_ARGS__, 6);                                                                                   \
  }

static void leaf(nbody_fmm_tree *t, int64_t cell) { BY_ORDER(leaf_of_order, t, cell) }
static void inner(nbody_fmm_tree *t, int64_t cell) { BY_ORDER(inner_of_order, t, cell) }
static void shift(const nbody_fmm_tree *t, int64_t cell) { BY_ORDER(shift_of_order, t, cell) }

const nbody_fmm_translate NBODY_FMM_TRANSLATE = {leaf, inner, shift};
