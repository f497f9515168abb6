/* Centre, radius and moments of a leaf, as fmm.h defines them. A strand is a lane. Compiled once for each instruction
 * set and precision. */
#if NBODY_SINGLE && NBODY_ISA == 2 /* eight strands fill a vector of 256 bits */
#undef NBODY_ISA
#define NBODY_ISA 1
#endif
#include "kernels/nbody/cpu/simd.h"
#include "kernels/nbody/fmm/cpu/bounds.h"
#include "kernels/nbody/fmm/cpu/kernels.h"

#include <string.h>

#define FMM_FUNCTION SIMD_INLINE
#include "kernels/nbody/fmm/operators.inc"

enum {
  STRANDS = NBODY_FMM_P2M_STRANDS,
  GROUPS = STRANDS / SIMD_WIDTH, /* vectors that hold a number of each strand */
  MOMENTS = NBODY_FMM_MOMENTS(NBODY_FMM_ORDER_MAX),
  ROWS = (MOMENTS + SIMD_LANES - 1) / SIMD_LANES * SIMD_LANES
};
_Static_assert(STRANDS % (int)SIMD_WIDTH == 0 && (int)STRANDS <= (int)SIMD_LANES, "strands fill vectors, within a row");

/* Loads bodies first ... first + SIMD_WIDTH - 1 of n: x, y, z, m, one body in each lane. Lanes beyond n get `none`. */
SIMD_INLINE void load_bodies(const real *body, int64_t first, int64_t n, const real *none, vreal out[4]) {
  const real *rows[SIMD_WIDTH];
  for (int l = 0; l < SIMD_WIDTH; l++) rows[l] = first + l < n ? body + 4 * (first + l) : none;
  for (int k = 0; k < 4; k += SIMD_COLUMNS) v_columns(rows, (size_t)k, out + k);
}

/* Adds the strands of sum[GROUPS][count] by halves: closed[count]. */
SIMD_INLINE void close_strands(const vreal *sum, int count, real closed[ROWS]) {
  _Alignas(64) real rows[ROWS * SIMD_LANES];
  const int padded = (count + SIMD_WIDTH - 1) / SIMD_WIDTH * SIMD_WIDTH;
  memset(rows, 0, sizeof *rows * (size_t)(padded * SIMD_LANES));
  for (int k = 0; k < count; k++)
    for (int g = 0; g < GROUPS; g++) v_store(rows + k * SIMD_LANES + g * SIMD_WIDTH, sum[g * count + k]);
  for (int k = 0; k < padded; k += SIMD_WIDTH) v_store(closed + k, v_sums(rows + k * SIMD_LANES));
}

/* Computes the centre of mass; for bodies without mass, the position of the first one. */
SIMD_INLINE void find_centre(const real *body, int64_t n, real centre[3]) {
  const _Alignas(16) real none[4] = {body[0], body[1], body[2], 0};
  _Alignas(64) real closed[ROWS];
  vreal sum[GROUPS][4];
  for (int g = 0; g < GROUPS; g++)
    for (int k = 0; k < 4; k++) sum[g][k] = v_set(0);
  for (int64_t i = 0; i < n; i += STRANDS)
    for (int g = 0; g < GROUPS; g++) {
      vreal x[4];
      load_bodies(body, i + g * SIMD_WIDTH, n, none, x);
      sum[g][0] = v_add(sum[g][0], x[3]);
      for (int c = 0; c < 3; c++) sum[g][1 + c] = v_fma(x[3], v_sub(x[c], v_set(body[c])), sum[g][1 + c]);
    }
  close_strands(sum[0], 4, closed);
  for (int c = 0; c < 3; c++) centre[c] = closed[0] > 0 ? body[c] + closed[1 + c] / closed[0] : body[c];
}

/* Computes the moments of ranks below P. Returns the greatest squared distance of a body from the centre. */
SIMD_INLINE real find_moments(const real *body, int64_t n, const real centre[3], real per_edge, real *moments,
                              const int P) {
  const int count = NBODY_FMM_MOMENTS(P);
  const _Alignas(16) real none[4] = {centre[0], centre[1], centre[2], 0};
  _Alignas(64) real closed[ROWS], distances[SIMD_WIDTH];
  vreal sum[GROUPS * MOMENTS], farthest = v_set(0);
  for (int k = 0; k < GROUPS * count; k++) sum[k] = v_set(0);
  for (int64_t i = 0; i < n; i += STRANDS)
    for (int g = 0; g < GROUPS; g++) {
      vreal x[4], away[3];
      load_bodies(body, i + g * SIMD_WIDTH, n, none, x);
      for (int c = 0; c < 3; c++) away[c] = v_sub(v_set(centre[c]), x[c]);
      farthest = v_greater(v_fma(away[2], away[2], v_fma(away[1], away[1], v_mul(away[0], away[0]))), farthest);
      for (int c = 0; c < 3; c++) away[c] = v_mul(away[c], v_set(per_edge));
      fmm_p2m(P, x[3], away, sum + g * count);
    }
  close_strands(sum, count, closed);
  memcpy(moments, closed, sizeof *moments * (size_t)count);
  v_store(distances, farthest);
  real greatest = 0;
  for (int l = 0; l < SIMD_WIDTH; l++) greatest = distances[l] > greatest ? distances[l] : greatest;
  return greatest;
}

/* find_moments, where the order is not a constant. */
static real find_moments_of(int order, const real *body, int64_t n, const real centre[3], real per_edge,
                            real *moments) {
  switch (order) {
  case 3: return find_moments(body, n, centre, per_edge, moments, 3);
  case 4: return find_moments(body, n, centre, per_edge, moments, 4);
  case 5: return find_moments(body, n, centre, per_edge, moments, 5);
  default: return find_moments(body, n, centre, per_edge, moments, 6);
  }
}

void NBODY_FMM_LEAF(nbody_fmm_tree *t, int64_t cell) {
  const real *body = (const real *)t->bodies + 4 * (size_t)t->first[cell];
  const int64_t n = t->count[cell];
  real centre[3];
  find_centre(body, n, centre);
  const real distance2 =
      find_moments_of(t->moments_of, body, n, centre, (real)ldexp(1, t->level[cell]), moments_of(t, cell));
  set_bounds(t, cell, centre, root(distance2));
}
