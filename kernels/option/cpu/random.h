/* Random bits and normals, one path a lane. Twins: cuda/paths/random.cuh, philox.cuh. */
#ifndef OPTION_STREAM_H
#define OPTION_STREAM_H

#include "kernels/option/cpu/lanes.h"
#include "kernels/option/random/mrg.h"
#include "kernels/option/cpu/path.h"
#include "kernels/option/random/quantile.h"

#include <math.h>

enum { HALVES = OPTION_SINGLE ? 2 : 1 }; /* wide vectors that hold the bits of all lanes */

/* ---- Philox4x32-10, on 64-bit lanes ---- */

typedef struct bits4 {
  vbits bits[4];
} bits4;

/* State of the generator for one vector of paths; the same at every step. */
typedef struct stream {
  vwide high[HALVES], low[HALVES]; /* product of the path number's low half in Philox's first round */
  uint32_t path_high, key[2];
  const option_mrg *mrg; /* NULL: Philox's bits */
  uint64_t path;         /* of the first lane; read by mrg alone */
} stream;

static const uint64_t multiplier[2] = {0xD2511F53u, 0xCD9E8D57u};
static const uint32_t weyl[2] = {0x9E3779B9u, 0xBB67AE85u};

/* `first` is a multiple of LANES, so that all paths of a vector have the same upper half. */
static inline stream begin_stream(uint64_t seed, uint64_t first) {
  stream s = {.path_high = (uint32_t)(first >> 32), .key = {(uint32_t)seed, (uint32_t)(seed >> 32)}};
  for (int half = 0; half < HALVES; half++) {
    vwide path = {0};
    for (int i = 0; i < WIDE_LANES; i++) path[i] = (uint32_t)first + (uint32_t)(HALVES * i + half);
    vwide product = w_mul(path, w_set(multiplier[0]));
    s.high[half] = w_high(product);
    s.low[half] = product;
  }
  return s;
}

/* The path whose random bits this path shares: see random/draws.h. */
static inline uint64_t shared_path(uint64_t first) {
  return (first & ~UINT64_C(0xffffffff)) | (first & (OPTION_SHARE_STRIDE - 1));
}

/* Begins either generator. */
static inline stream begin_any(const option_paths *p, uint64_t first) {
  stream s = begin_stream(p->seed, first);
  s.mrg = p->mrg;
  s.path = first;
  return s;
}

static inline bits4 mrg_bits(const stream *s, uint32_t step, uint32_t draw) {
  uint32_t each[4][OPTION_MRG_LANES];
  bits4 out;
  option_mrg_bits(s->mrg, s->path, LANES, step, draw, each);
  for (int k = 0; k < 4; k++)
    for (int lane = 0; lane < LANES; lane++) out.bits[k][lane] = each[k][lane];
  return out;
}

/* The step whose random numbers a step takes, of those that are drawn by the step. */
static inline uint32_t drawn_step(const option_paths *p, int step, int half) {
  return (uint32_t)(p->halved ? 2 * step + half : step ^ (int)p->swapped);
}

LANES_INLINE bits4 random_bits(const stream *s, uint32_t step, uint32_t draw) {
  if (s->mrg != NULL) return mrg_bits(s, step, draw);
  /* Of the first three rounds, the first round's second product depends on the path's upper half alone, the second
   * round's first on that half and the step, and the third round's first on the path alone: the compiler moves it
   * out of loops over steps. */
  const uint64_t second = multiplier[1] * s->path_high;
  uint32_t k0 = s->key[0], k1 = s->key[1];
  const uint32_t c0 = (uint32_t)(second >> 32) ^ step ^ k0;
  const uint64_t first = multiplier[0] * c0;
  /* `before`: what the last round's products are added to */
  vwide low[2][HALVES], before[2][HALVES];
  for (int half = 0; half < HALVES; half++) {
    k0 = s->key[0] + weyl[0];
    k1 = s->key[1] + weyl[1];
    vwide c2 = s->high[half] ^ w_set((uint64_t)(draw ^ s->key[1])), p1 = w_mul(c2, w_set(multiplier[1]));
    vwide c[4] = {w_high(p1) ^ w_set((uint64_t)((uint32_t)second ^ k0)), p1,
                  s->low[half] ^ w_set((uint64_t)((uint32_t)(first >> 32) ^ k1)), w_set((uint32_t)first)};
#pragma GCC unroll 8
    for (int round = 2; round < 10; round++) {
      k0 += weyl[0];
      k1 += weyl[1];
      vwide p = w_mul(c[0], w_set(multiplier[0])), q = w_mul(c[2], w_set(multiplier[1]));
      low[0][half] = p;
      low[1][half] = q;
      before[0][half] = c[1];
      before[1][half] = c[3];
      c[0] = w_high(q) ^ c[1] ^ w_set((uint64_t)k0);
      c[1] = q;
      c[2] = w_high(p) ^ c[3] ^ w_set((uint64_t)k1);
      c[3] = p;
    }
  }
  const int odd = HALVES - 1;
  return (bits4){{v_high_bits(low[1][0], low[1][odd]) ^ v_low_bits(before[0][0], before[0][odd]) ^ (k0 + (vbits){0}),
                  v_low_bits(low[1][0], low[1][odd]),
                  v_high_bits(low[0][0], low[0][odd]) ^ v_low_bits(before[1][0], before[1][odd]) ^ (k1 + (vbits){0}),
                  v_low_bits(low[0][0], low[0][odd])}};
}

/* -2 ln u >= 0, or -0 */
LANES_INLINE vreal minus_two_log(vbits w) { return v_log2(v_uniform(w)) * (real)-0x1.62e42fefa39efp+0; }

LANES_INLINE void two_normals(vbits radius_bits, vbits angle_bits, vreal *z) {
  vreal sine, cosine, radius = v_root(minus_two_log(radius_bits));
  v_sincos(v_symmetric(angle_bits), &sine, &cosine);
  radius = v_flip(radius, angle_bits ^ angle_bits << 1);
  z[0] = radius * cosine;
  z[1] = radius * sine;
}

LANES_INLINE void four_normals(const stream *s, uint32_t group, uint32_t draw, vreal *z) {
  bits4 w = random_bits(s, group, draw);
  two_normals(w.bits[0], w.bits[1], z);
  two_normals(w.bits[2], w.bits[3], z + 2);
}

/* ---- normals by inversion: one 32-bit number each; the normal increases with it ---- */

LANES_INLINE vreal quotient(const real *above, int n, const real *below, int m, vreal x) {
  return v_polynomial(above, n, x) / v_polynomial(below, m, x);
}

/* Minus the normal quantile of u = (k + 1/2)/2^32, k < 2^31. */
LANES_INLINE vreal lower_quantile(vreal u) {
#if OPTION_SINGLE
  static const real above[] = {OPTION_QUANTILE_ABOVE_SINGLE}, below[] = {OPTION_QUANTILE_BELOW_SINGLE};
#else
  static const real above[] = {OPTION_QUANTILE_ABOVE_DOUBLE}, below[] = {OPTION_QUANTILE_BELOW_DOUBLE};
#endif
  const vreal r = v_root(v_log2(u) * (real)-0x1.62e42fefa39efp+0) - 4;
  return quotient(above, sizeof above / sizeof *above, below, sizeof below / sizeof *below, r);
}

LANES_INLINE vreal inverse_normal(vbits w) { return v_flip(-lower_quantile(v_folded(w)), w); }

/* Random bits whose normal by inversion is (z_a + z_b)/sqrt(2) for the normals z_a, z_b of a and b. */
static inline vbits joined_bits(vbits a, vbits b) {
  const vreal sum = inverse_normal(a) + inverse_normal(b);
  vbits word;
  for (int lane = 0; lane < LANES; lane++)
    word[lane] = (uint32_t)fmin(0x1p31 * erfc(-0.5 * (double)sum[lane]), 0xffffffff);
  return word;
}

#endif
