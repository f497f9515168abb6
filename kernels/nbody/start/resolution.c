/* Checks that the precision of a run resolves the distances of its bodies. */
#include "kernels/nbody/run.h"

#include "kernels/common/resolution.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rounding of positions: relative to the origin where the state is in single precision; relative to the middle of all
 * bodies where only the pair terms are. */
typedef struct rounding {
  const nbody_bodies *bodies;
  double centre[3];
  double far; /* the largest coordinate that is rounded */
} rounding;

static rounding rounding_of(const nbody_bodies *b, bool state) {
  rounding out = {.bodies = b};
  double low[3], high[3], extent = 0, unit;
  int exponent = 0;
  for (int c = 0; c < 3; c++) {
    low[c] = high[c] = b->position[c][0];
    for (int64_t i = 1; i < b->n; i++) {
      low[c] = fmin(low[c], b->position[c][i]);
      high[c] = fmax(high[c], b->position[c][i]);
    }
    extent = fmax(extent, high[c] - low[c]);
  }
  if (extent > 0 && isfinite(extent)) (void)frexp(extent, &exponent);
  unit = ldexp(1, exponent); /* packing of direct/cpu/direct.c */
  for (int c = 0; c < 3; c++) {
    if (!state) out.centre[c] = unit * trunc((low[c] / 2 + high[c] / 2) / unit);
    out.far = fmax(out.far, fmax(fabs(low[c] - out.centre[c]), fabs(high[c] - out.centre[c])));
  }
  return out;
}

static float rounded(const rounding *r, int c, int64_t i) { return (float)(r->bodies->position[c][i] - r->centre[c]); }

static double distance(const nbody_bodies *b, int64_t i, int64_t j) {
  return hypot(hypot(b->position[0][i] - b->position[0][j], b->position[1][i] - b->position[1][j]),
               b->position[2][i] - b->position[2][j]);
}

/* ---- bodies rounded to one point ---- */

static bool same(const rounding *r, int64_t i, int64_t j) {
  return rounded(r, 0, i) == rounded(r, 0, j) && rounded(r, 1, i) == rounded(r, 1, j) &&
         rounded(r, 2, i) == rounded(r, 2, j);
}

static uint64_t hash_of(const rounding *r, int64_t i) {
  uint64_t hash = 0;
  for (int c = 0; c < 3; c++) {
    const float x = rounded(r, c, i) + 0.0F; /* turns -0 into 0 */
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    hash = (hash ^ bits) * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= hash >> 32;
  }
  return hash;
}

static sim_status refuse(const rounding *r, bool state, int64_t i, int64_t j) {
  double *const *x = (double *const *)r->bodies->position;
  return sim_fail(SIM_ERR_SCENARIO,
                  "bodies: %" PRId64 " and %" PRId64 " (ids, from 0) are %.3g apart at {%.9g, %.9g, %.9g}, and one "
                  "point in %s, where numbers near %.6g are %.2g apart: %suse precision = \"double\"",
                  i, j, distance(r->bodies, i, j), x[0][i], x[1][i], x[2][i],
                  state ? "single precision" : "the pair terms' single precision", r->far, sim_single_spacing(r->far),
                  state ? "put the bodies nearer to the origin, or " : "");
}

/* SIM_ERR_SCENARIO where two bodies are rounded to one point. Identical positions are allowed as intended, and
 * distances up to `least` do not matter. The hash table has 6 to 12 bytes a body, less than the state that is allocated
 * next. */
static sim_status refuse_merged(const rounding *r, bool state, double least) {
  const int64_t n = r->bodies->n;
  uint64_t size = 4;
  while ((double)size < 1.5 * (double)n) size *= 2;
  uint32_t *table = calloc(size, sizeof *table); /* index of a body + 1; 0: empty */
  sim_status status = SIM_OK;
  if (table == NULL) return sim_no_memory("%" PRId64 " bodies", n);
  for (int64_t i = 0; i < n && status == SIM_OK; i++) {
    uint64_t at = hash_of(r, i) & (size - 1);
    while (table[at] != 0 && !same(r, (int64_t)table[at] - 1, i)) at = (at + 1) & (size - 1);
    const int64_t other = (int64_t)table[at] - 1;
    if (other < 0)
      table[at] = (uint32_t)(i + 1);
    else if (distance(r->bodies, other, i) > least)
      status = refuse(r, state, other, i);
  }
  free(table);
  return status;
}

/* ---- distances ---- */

/* Smallest distance of sampled bodies from all other bodies; up to n = 8192 all bodies are sampled. */
static double nearest(const nbody_bodies *b) {
  const double samples = fmin((double)b->n, fmax(64, 0x1p26 / (double)b->n));
  double least = INFINITY;
  for (int64_t k = 0; k < (int64_t)samples; k++) {
    const int64_t i = (int64_t)((double)k * (double)b->n / samples);
    for (int64_t j = 0; j < b->n; j++) {
      double square = 0;
      for (int c = 0; c < 3; c++) square += pow(b->position[c][i] - b->position[c][j], 2);
      if (square < least && j != i && square > 0) least = square;
    }
  }
  return sqrt(least);
}

sim_status nbody_check_positions(const nbody_run *run, const nbody_parameters *p, const nbody_bodies *bodies) {
  const bool state = run->ops->dtype == SIM_F32;
  if (p->common.precision == SIM_DOUBLE || bodies->n < 2 || bodies->n >= UINT32_MAX) return SIM_OK;
  if (!state && run->laws.no_pairs) return SIM_OK;
  const rounding r = rounding_of(bodies, state);
  const double softening = run->laws.pair == NULL ? p->gravity.softening : 0;
  SIM_TRY(refuse_merged(&r, state, state ? 0 : 1e-3 * softening));
  if (run->laws.no_pairs || sim_single_spacing(r.far) <= 1e-3 * softening) return SIM_OK;
  sim_resolution_warn(r.far, hypot(nearest(bodies), softening),
                      softening > 0 ? "the least distance of bodies, with softening" : "the least distance of bodies",
                      state ? "put the bodies nearer to the origin" : "leave out bodies that are far away");
  return SIM_OK;
}
