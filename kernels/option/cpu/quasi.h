/* Scrambled Sobol points and Brownian bridges, one point a lane; twin: cuda/paths/quasi.cuh. */
#ifndef OPTION_QUASI_H
#define OPTION_QUASI_H

#include "kernels/option/cpu/motion.h"

enum { LANE_BITS = LANES == 2 ? 1 : LANES == 4 ? 2 : LANES == 8 ? 3 : 4 };
_Static_assert(1 << LANE_BITS == LANES, "the lanes are counted right");

/* Random bits of one dimension of the points index, index + 1, ...; index is a multiple of LANES. */
LANES_INLINE vbits sobol_bits(const option_quasi *q, int scramble, uint32_t index, int dimension) {
  const size_t at = (size_t)scramble * (size_t)q->dimensions + (size_t)dimension;
  const uint32_t *v = q->direction + at * OPTION_SOBOL_BITS;
  uint32_t base = q->shift[at];
  for (uint32_t rest = index >> LANE_BITS, bit = LANE_BITS; rest != 0; rest >>= 1, bit++)
    base ^= v[bit] & (0 - (rest & 1));
  vbits word = base + (vbits){0};
  for (int bit = 0; bit < LANE_BITS; bit++) {
    vbits mine = {0};
    for (int lane = 0; lane < LANES; lane++) mine[lane] = (lane >> bit & 1) ? 0xffffffffu : 0;
    word ^= mine & (v[bit] + (vbits){0});
  }
  return word;
}

/* Brownian motion of each asset at the steps, in units of a step's standard deviation: w[assets][steps + 1]. */
static inline void bridge_points(const option_quasi *q, int assets, int steps, int scramble, uint32_t index, vreal *w) {
  for (int a = 0; a < assets; a++) {
    vreal *mine = w + a * (steps + 1);
    for (int i = 0; i <= steps; i++) mine[i] = v_set(0);
    for (int k = 0; k < steps; k++) {
      const option_bridge *b = &q->bridge[k];
      const vreal z = inverse_normal(sobol_bits(q, scramble, index, k * q->each + a));
      if (q->component != NULL) {
        const double *part = q->component + (size_t)k * (size_t)steps;
        for (int i = 0; i < steps; i++) mine[i + 1] = v_fma(z, v_set((real)part[i]), mine[i + 1]);
        continue;
      }
      mine[b->point] = v_fma(mine[b->left], v_set((real)b->from_left),
                             v_fma(mine[b->right], v_set((real)b->from_right), z * (real)b->spread));
    }
  }
}

#endif
