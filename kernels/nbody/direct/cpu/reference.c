/* Reference form of the direct sums: one loop over the pairs, compiled once for each precision (NBODY_SINGLE,
 * NBODY_REFERENCE) without options for an instruction set. Small systems use it, and tests compare the tiles with it.
 */
#include "kernels/nbody/cpu/real.h"
#include "kernels/nbody/direct/cpu/tile.h"

#include <math.h>

#if NBODY_SINGLE
static inline real root(real a) { return sqrtf(a); }
#else
static inline real root(real a) { return sqrt(a); }
#endif

/* d = x_j - x_i, softened distance squared s^2 and 1/s of one pair. */
typedef struct pair_terms {
  real d[3], s2, inverse;
} pair_terms;

static inline pair_terms terms(const nbody_packed *p, int64_t i, int64_t j) {
  pair_terms t = {.s2 = (real)p->softening2};
  for (int c = 0; c < 3; c++) {
    const real *x = p->body[NBODY_X + c];
    t.d[c] = x[j] - x[i];
    t.s2 += t.d[c] * t.d[c];
  }
  t.inverse = 1 / root(t.s2);
  return t;
}

/* The functions of nbody_reference (tile.h), on packed bodies. Sums are fp64, terms have the type `real`. */
static void acceleration(const nbody_packed *p) {
  const real *mass = p->body[NBODY_MASS];
  for (int64_t i = 0; i < p->n; i++)
    for (int64_t j = i + 1; j < p->n; j++) {
      pair_terms t = terms(p, i, j);
      real cube = t.inverse * t.inverse * t.inverse;
      for (int c = 0; c < 3; c++) {
        p->sum[c][i] += (double)(mass[j] * cube * t.d[c]);
        p->sum[c][j] -= (double)(mass[i] * cube * t.d[c]);
      }
    }
}

static void jerk(const nbody_packed *p) {
  const real *mass = p->body[NBODY_MASS];
  for (int64_t i = 0; i < p->n; i++)
    for (int64_t j = i + 1; j < p->n; j++) {
      pair_terms t = terms(p, i, j);
      real square = t.inverse * t.inverse, cube = square * t.inverse, w[3], dw = 0;
      for (int c = 0; c < 3; c++) {
        const real *v = p->body[NBODY_V + c];
        w[c] = v[j] - v[i];
        dw += t.d[c] * w[c];
      }
      for (int c = 0; c < 3; c++) {
        real rate = w[c] - 3 * dw * square * t.d[c];
        p->sum[c][i] += (double)(mass[j] * cube * t.d[c]);
        p->sum[c][j] -= (double)(mass[i] * cube * t.d[c]);
        p->sum[3 + c][i] += (double)(mass[j] * cube * rate);
        p->sum[3 + c][j] -= (double)(mass[i] * cube * rate);
      }
    }
}

static void potential(const nbody_packed *p) {
  const real *mass = p->body[NBODY_MASS];
  for (int64_t i = 0; i < p->n; i++)
    for (int64_t j = i + 1; j < p->n; j++) p->sum[0][i] += (double)(mass[i] * mass[j] * terms(p, i, j).inverse);
}

const nbody_reference NBODY_REFERENCE = {acceleration, jerk, potential};
