/* Inner loops of the direct sums in a periodic box: SIMD_WIDTH targets at a time, all bodies one after the other.
 * Compiled once for each instruction set and precision. The sums of a target run in the order of the bodies, so that
 * the bits do not depend on the vector width. */
#include "kernels/nbody/cpu/simd.h"
#include "kernels/nbody/direct/cpu/periodic.h"

#define FMM_FUNCTION SIMD_INLINE
#include "kernels/nbody/fmm/operators.inc"

enum {
  SIDE = NBODY_TABLE_NODES + 1,
  FLUSH = 256 /* terms that are added in `real` before their sum is added in fp64 */
};

/* Adding and subtracting this number rounds to an integer. */
#if NBODY_SINGLE
#define ROUNDS 0x1.8p23F
#else
#define ROUNDS 0x1.8p52
#endif

SIMD_INLINE vreal rounded(vreal a) { return v_sub(v_add(a, v_set((real)ROUNDS)), v_set((real)ROUNDS)); }

typedef struct targets {
  vreal x[3], number;
} targets;

static targets load(const nbody_periodic_bodies *b, const int64_t *numbers) {
  _Alignas(64) real lane[4][SIMD_WIDTH];
  targets out;
  for (int l = 0; l < SIMD_WIDTH; l++) {
    for (int c = 0; c < 3; c++) lane[c][l] = ((const real *)b->position[c])[numbers[l]];
    lane[3][l] = (real)numbers[l];
  }
  for (int c = 0; c < 3; c++) out.x[c] = v_load(lane[c]);
  out.number = v_load(lane[3]);
  return out;
}

/* Vectors d from the targets to the nearest image of body j; returns the inverse of their softened length, 0 for body j
 * itself. */
SIMD_INLINE vreal nearest_image(const nbody_periodic_bodies *b, const targets *t, int64_t j, vreal softening2,
                                vreal d[3]) {
  for (int c = 0; c < 3; c++) {
    d[c] = v_sub(v_set(((const real *)b->position[c])[j]), t->x[c]);
    d[c] = v_sub(d[c], rounded(d[c]));
  }
  const vreal s2 = v_fma(d[2], d[2], v_fma(d[1], d[1], v_fma(d[0], d[0], softening2)));
  return v_except(v_inverse_root(s2), t->number, v_set((real)j));
}

/* Fetches the expansion of E about the node nearest to |d|; `away`: |d| relative to that node. */
SIMD_INLINE void look_up(const real *table, const vreal d[3], vreal away[3], vreal row[NBODY_TABLE_ROW]) {
  _Alignas(64) real number[SIMD_WIDTH];
  const real *rows[SIMD_WIDTH];
  vreal node[3];
  for (int c = 0; c < 3; c++) {
    const vreal at = v_mul(v_abs(d[c]), v_set(2 * NBODY_TABLE_NODES));
    node[c] = rounded(at);
    away[c] = v_mul(v_sub(at, node[c]), v_set((real)0.5 / NBODY_TABLE_NODES));
  }
  v_store(number, v_fma(v_fma(node[0], v_set(SIDE), node[1]), v_set(SIDE), node[2]));
  for (int l = 0; l < SIMD_WIDTH; l++) rows[l] = table + (size_t)number[l] * NBODY_TABLE_ROW;
  for (int k = 0; k < NBODY_TABLE_ROW; k += SIMD_COLUMNS) v_columns(rows, (size_t)k, row + k);
}

static void acceleration(const nbody_periodic_bodies *b, const int64_t *numbers,
                         double (*out)[NBODY_PERIODIC_TARGETS]) {
  const vreal softening2 = v_set((real)b->softening2);
  for (int first = 0; first < NBODY_PERIODIC_TARGETS; first += SIMD_WIDTH) {
    const targets t = load(b, numbers + first);
    for (int c = 0; c < 3; c++)
      for (int l = 0; l < SIMD_WIDTH; l++) out[c][first + l] = 0;
    for (int64_t from = 0; from < b->n; from += FLUSH) {
      const int64_t end = from + FLUSH < b->n ? from + FLUSH : b->n;
      vreal sum[3] = {v_set(0), v_set(0), v_set(0)};
      for (int64_t j = from; j < end; j++) {
        vreal d[3], away[3], gradient[3], row[NBODY_TABLE_ROW];
        const vreal y = nearest_image(b, &t, j, softening2, d), m = v_set(((const real *)b->mass)[j]);
        const vreal g = v_mul(v_mul(m, y), v_mul(y, y));
        look_up(b->table, d, away, row);
        fmm_l2p(NBODY_TABLE_ORDER, row, away, gradient);
        for (int c = 0; c < 3; c++) sum[c] = v_fnma(m, v_signed(gradient[c], d[c]), v_fma(g, d[c], sum[c]));
      }
      for (int c = 0; c < 3; c++) {
        _Alignas(64) real lane[SIMD_WIDTH];
        v_store(lane, sum[c]);
        for (int l = 0; l < SIMD_WIDTH; l++) out[c][first + l] += (double)lane[l];
      }
    }
  }
}

#if !NBODY_SINGLE
static void potential(const nbody_periodic_bodies *b, const int64_t *numbers, double *out) {
  const vreal softening2 = v_set(b->softening2);
  for (int first = 0; first < NBODY_PERIODIC_TARGETS; first += SIMD_WIDTH) {
    const targets t = load(b, numbers + first);
    _Alignas(64) real lane[SIMD_WIDTH];
    vreal sum = v_set(0);
    for (int64_t j = 0; j < b->n; j++) {
      vreal d[3], away[3], row[NBODY_TABLE_ROW];
      const vreal y = nearest_image(b, &t, j, softening2, d);
      look_up(b->table, d, away, row);
      sum = v_fma(v_set(((const real *)b->mass)[j]), v_add(y, fmm_l2p_potential(NBODY_TABLE_ORDER, row, away)), sum);
    }
    v_store(lane, sum);
    for (int l = 0; l < SIMD_WIDTH; l++) out[first + l] = lane[l];
  }
}
const nbody_periodic NBODY_PERIODIC = {acceleration, potential};
#else
const nbody_periodic NBODY_PERIODIC = {acceleration, NULL};
#endif
