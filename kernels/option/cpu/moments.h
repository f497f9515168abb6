/* Moment matching: the normals of a step and asset have mean 0 and variance 1 over each chunk. Twin:
 * cuda/paths/moments.cuh.
 *
 * With m normals z, x = (z - mean)/deviation is a coordinate of a point on a sphere and not normal: its fourth
 * moment is 3 (m - 1)/(m + 1), an error of prices of order 1/m for any number of chunks. r (x + (x^3 - 3 x)/(4 (m +
 * 1))) is normal up to terms of 1/m^2 (Cornish and Fisher 1938); r makes its variance 1. */
#ifndef OPTION_MATCH_H
#define OPTION_MATCH_H

#include "engine/reduce.h"
#include "kernels/option/random/moments.h"
#include "kernels/option/cpu/random.h"

typedef struct match {
  real mean, scale;
} match;

enum { MATCH_LANES = 16, MATCH_VECTORS = MATCH_LANES / LANES };
_Static_assert((int)MATCH_M == OPTION_CHUNK, "moments are of a chunk");

static inline double match_total(const vreal *sums) {
  real each[MATCH_LANES];
  double wide[MATCH_LANES];
  memcpy(each, sums, sizeof each);
  for (int i = 0; i < MATCH_LANES; i++) wide[i] = (double)each[i];
  return sim_reduce_tree(wide, MATCH_LANES);
}

/* Mean and 1/deviation of up to four steps from 4 * group on, of one asset: out[step * assets]. Sums use MATCH_LANES
 * partial sums on every processor. */
static inline void match_group(const option_paths *p, uint64_t first, int group, int asset, match *out) {
  vreal sum[4][MATCH_VECTORS], squares[4][MATCH_VECTORS];
  const uint32_t share = (uint32_t)option_share(p->steps);
  const int steps = p->steps - 4 * group < 4 ? p->steps - 4 * group : 4;
  memset(sum, 0, sizeof sum);
  memset(squares, 0, sizeof squares);
  for (int at = 0; at < OPTION_CHUNK; at += LANES) {
    const uint64_t path = first + (uint64_t)at;
    const uint32_t shared = (uint32_t)path / OPTION_SHARE_STRIDE, offset = (uint32_t)p->steps * (shared % share);
    const stream s = begin_any(p, share > 1 ? shared_path(path) : path);
    const int vector = at / LANES % MATCH_VECTORS;
    vreal z[4];
    four_normals(&s, share > 1 ? shared / share : (uint32_t)group, (uint32_t)(OPTION_DRAW_NORMAL + asset), z);
    for (int i = 0; i < steps; i++) {
      const vreal one = z[share > 1 ? offset + (uint32_t)i : (uint32_t)i];
      sum[i][vector] += one;
      squares[i][vector] += one * one;
    }
  }
  for (int i = 0; i < steps; i++) {
    const double mean = match_total(sum[i]) / MATCH_M;
    out[i * p->assets] = (match){(real)mean, (real)(1 / sqrt(match_total(squares[i]) / MATCH_M - mean * mean))};
  }
}

/* Means and 1/deviations of all steps and assets over a chunk: out[steps][assets]. */
static inline void match_chunk(const option_paths *p, uint64_t first, match *out) {
  for (int group = 0; 4 * group < p->steps; group++)
    for (int a = 0; a < p->assets; a++) match_group(p, first, group, a, out + 4 * group * p->assets + a);
}

LANES_INLINE vreal matched(const match *m, vreal z) {
  const vreal x = (z - m->mean) * m->scale;
  return x * v_fma(x * x, v_set((real)(MATCH_R * MATCH_CUBE)), v_set((real)(MATCH_R * (1 - 3 * MATCH_CUBE))));
}

#endif
