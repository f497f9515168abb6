/* The random short rate of a path: option_rate_step in models/hull_white.h. */
#ifndef OPTION_CPU_RATES_H
#define OPTION_CPU_RATES_H

#include "kernels/option/cpu/features.h"
#include "kernels/option/models/hull_white.h"

/* x, and the logarithm to base 2 of the deflator: the discount factor of the path over that of time 0. */
typedef struct rate_state {
  vreal x, deflator;
} rate_state;

/* The two normals of a step that no asset has; halved: each the sum of those of two steps of half the length. */
static inline void rate_normals(const option_paths *p, const stream *own, int step, vreal *out) {
  const real share = p->halved ? (real)0.70710678118654752440 : 1;
  out[0] = out[1] = v_set(0);
  for (int half = 0; half <= p->halved; half++) {
    const bits4 w = random_bits(own, drawn_step(p, step, half), (uint32_t)OPTION_DRAW_RATE);
    vreal z[2];
    two_normals(w.bits[0], w.bits[1], z);
    for (int k = 0; k < 2; k++) out[k] += z[k] * share;
  }
}

/* Moves the rate over a step. z[assets][4]: the assets' independent normals, of which number `word` counts. Returns the
 * integral of the rate over the step less that of the forward rate, in logarithms to base 2. */
static inline vreal rate_step(const option_rate_step *m, double rise, bool mirrored, vreal (*z)[4], int word,
                              int assets, const vreal *own, rate_state *t) {
  vreal e = own[0] * (real)m->own[0], i = own[0] * (real)m->own[1] + own[1] * (real)m->own[2];
  for (int a = 0; a < assets; a++) {
    e = v_fma(z[a][word], v_set((real)m->asset[a][0]), e);
    i = v_fma(z[a][word], v_set((real)m->asset[a][1]), i);
  }
  const real side = mirrored ? -1 : 1;
  const vreal grown = (t->x * (real)m->reach + i * side + (real)rise) * (real)1.4426950408889634074;
  t->x = t->x * (real)m->keep + e * side;
  t->deflator -= grown;
  return grown;
}

/* Stores the deflators of the payments, and x, at the end of an observed step. */
static inline void store_deflators(const option_paths *p, int observation, int at, const rate_state *t,
                                   void *const *out) {
  for (int f = 0; f < p->features; f++) {
    const option_kind kind = p->feature[f].kind;
    if ((kind != OPTION_DEFLATOR && kind != OPTION_RATE) || p->feature[f].step != observation + 1) continue;
    for (int v = 0; v < p->variants; v++) {
      const vreal value = kind == OPTION_RATE ? t[v].x : price_ratio(t[v].deflator, true);
      memcpy((real *)out[v * p->features + f] + at, &value, sizeof value);
    }
  }
}

#endif
