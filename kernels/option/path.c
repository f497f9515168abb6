/* The kernel of path.h, compiled once for each instruction set and precision. */
#include "kernels/option/path.h"

#include "kernels/option/lanes.h"

enum { HALVES = OPTION_SINGLE ? 2 : 1 }; /* wide vectors that hold the words of all lanes */

/* ---- Philox4x32-10, on 64-bit lanes ---- */

typedef struct words {
  vbits word[4];
} words;

/* What does not change from step to step. */
typedef struct stream {
  vwide high[HALVES], low[HALVES]; /* of the product of the path's low word in the first round */
  uint32_t path_high, key[2];
} stream;

static const uint64_t multiplier[2] = {0xD2511F53u, 0xCD9E8D57u};
static const uint32_t weyl[2] = {0x9E3779B9u, 0xBB67AE85u};

/* `first` is a multiple of the lanes: all paths of a vector have the same high word. */
static inline stream begin_stream(uint64_t seed, uint64_t first) {
  stream s = {.path_high = (uint32_t)(first >> 32), .key = {(uint32_t)seed, (uint32_t)(seed >> 32)}};
  for (int half = 0; half < HALVES; half++) {
    vwide path;
    for (int i = 0; i < WIDE_LANES; i++) path[i] = (uint32_t)first + (uint32_t)(HALVES * i + half);
    vwide product = w_mul(path, w_set(multiplier[0]));
    s.high[half] = w_high(product);
    s.low[half] = product;
  }
  return s;
}

LANES_INLINE words random_words(const stream *s, uint32_t step, uint32_t draw) {
  /* The first round's second product, and the second one's first, are of the step alone. */
  const uint64_t second = multiplier[1] * step;
  uint32_t k0 = s->key[0], k1 = s->key[1];
  const uint32_t c0 = (uint32_t)(second >> 32) ^ s->path_high ^ k0;
  const uint64_t first = multiplier[0] * c0;
  vwide out[4][HALVES];
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
      c[0] = w_high(q) ^ c[1] ^ w_set((uint64_t)k0);
      c[1] = q;
      c[2] = w_high(p) ^ c[3] ^ w_set((uint64_t)k1);
      c[3] = p;
    }
    for (int i = 0; i < 4; i++) out[i][half] = c[i];
  }
  words w;
  for (int i = 0; i < 4; i++) w.word[i] = v_words(out[i][0], out[i][HALVES - 1]);
  return w;
}

/* -2 ln u >= 0 */
LANES_INLINE vreal minus_two_log(vbits w) { return v_log2(v_uniform(w)) * (real)-0x1.62e42fefa39efp+0; }

LANES_INLINE void two_normals(vbits radius_word, vbits angle_word, vreal *z) {
  vreal sine, cosine, radius = v_root(v_max(minus_two_log(radius_word), v_set((real)1e-30)));
  v_sincos(v_symmetric(angle_word), &sine, &cosine);
  radius = v_flip(radius, angle_word);
  z[0] = radius * cosine;
  z[1] = radius * sine;
}

LANES_INLINE void four_normals(const stream *s, uint32_t group, uint32_t draw, vreal *z) {
  words w = random_words(s, group, draw);
  two_normals(w.word[0], w.word[1], z);
  two_normals(w.word[2], w.word[3], z + 2);
}

/* ---- features ---- */

LANES_INLINE vreal power(vreal x, bool far) {
  const real most = OPTION_SINGLE ? 126 : 1022;
  if (far) x = v_max(v_min(x, v_set(most)), v_set(-most));
  return v_exp2(x);
}

/* The probability that a bridge from x to y with variance vol^2, both below 0 on the scale of `side`, stays there. */
LANES_INLINE vreal stays(vreal x, vreal y, vreal vol, real level, real side) {
  vreal a = (level - x) * side, b = (level - y) * side;
  const real tiny = (real)1e-30;
  vreal exponent = a * b / v_max(vol * vol, v_set(tiny)) * (real)-2.8853900817779268; /* -2/ln 2 */
  vreal p = 1 - v_exp2(v_max(v_min(exponent, v_set(0)), v_set(-120)));
  return v_zero_unless_positive(a, v_zero_unless_positive(b, p));
}

/* Highest (side 1) or lowest (-1) point of such a bridge. */
LANES_INLINE vreal extreme(vreal x, vreal y, vreal vol, vbits w, real side) {
  vreal d = y - x, spread = d * d + vol * vol * minus_two_log(w);
  return (x + y + side * v_root(v_max(spread, v_set((real)1e-30)))) * (real)0.5;
}

/* Of one asset and variant. */
typedef struct track {
  vreal x, sum, logs, most, least, high, low;
} track;

enum {
  NEED_SUM = 1 << OPTION_MEAN,
  NEED_LOGS = 1 << OPTION_GEOMETRIC,
  NEED_ENDS = 1 << OPTION_MAX | 1 << OPTION_MIN,
  NEED_HIGH = 1 << OPTION_HIGH,
  NEED_LOW = 1 << OPTION_LOW,
  NEED_SINGLES = 1 << OPTION_FIXING | 1 << OPTION_NOT_ABOVE | 1 << OPTION_NOT_BELOW
};

static inline track begin_track(void) {
  const vreal zero = {0};
  return (track){zero, zero, zero, v_set((real)-1e30), v_set((real)1e30), zero, zero};
}

LANES_INLINE void follow(track *t, vreal next, unsigned need, bool far) {
  t->x = next;
  if (need & NEED_SUM) t->sum += power(next, far);
  if (need & NEED_LOGS) t->logs += next;
  if (need & NEED_ENDS) {
    t->most = v_max(t->most, next);
    t->least = v_min(t->least, next);
  }
}

LANES_INLINE vreal feature_value(const option_paths *p, const track *t, const option_feature *f, double spot) {
  const real s = (real)spot, n = (real)p->steps;
  switch (f->kind) {
  case OPTION_LAST: return power(t->x, p->far) * s;
  case OPTION_MEAN: return t->sum * (real)(spot / p->steps);
  case OPTION_GEOMETRIC: return power(t->logs / n, p->far) * s;
  case OPTION_MAX: return power(t->most, p->far) * s;
  case OPTION_MIN: return power(t->least, p->far) * s;
  case OPTION_HIGH: return power(t->high, p->far) * s;
  default: return power(t->low, p->far) * s;
  }
}

/* Fixings and probabilities are kept in `out` itself, at place `at`. */
LANES_INLINE void single_features(const option_paths *p, int step, int asset, const track *t, vreal next, vreal vol,
                                  const option_variant *v, void *const *out, int at) {
  for (int f = 0; f < p->features; f++) {
    const option_feature *feature = &p->feature[f];
    if (feature->asset != asset || feature->kind < OPTION_FIXING) continue;
    vreal *place = (vreal *)((real *)out[f] + at);
    if (feature->kind == OPTION_FIXING) {
      if (feature->step == step + 1) *place = power(next, p->far) * (real)v->spot[asset];
      continue;
    }
    const real level = (real)log2(feature->level / v->spot[asset]);
    const vreal probability = stays(t->x, next, vol, level, feature->kind == OPTION_NOT_ABOVE ? 1 : -1);
    *place = step == 0 ? probability : *place * probability;
  }
}

/* ---- any number of assets and variants ---- */

typedef struct workspace {
  vreal z[OPTION_ASSETS_MAX][4];
  vbits high[OPTION_ASSETS_MAX][4], low[OPTION_ASSETS_MAX][4];
  track track[]; /* [variants][assets] */
} workspace;
_Static_assert(sizeof(workspace) + 7 * LANES_BYTES <= OPTION_SCRATCH_BASE && sizeof(track) <= OPTION_SCRATCH_TRACK,
               "the scratch is large enough");

static void draw_group(const option_paths *p, const stream *s, uint32_t group, unsigned need, workspace *w) {
  for (uint32_t a = 0; a < (uint32_t)p->assets; a++) {
    four_normals(s, group, OPTION_DRAW_NORMAL + a, w->z[a]);
    if (need & NEED_HIGH) memcpy(w->high[a], random_words(s, group, OPTION_DRAW_HIGH + a).word, sizeof w->high[a]);
    if (need & NEED_LOW) memcpy(w->low[a], random_words(s, group, OPTION_DRAW_LOW + a).word, sizeof w->low[a]);
  }
}

static void any_step(const option_paths *p, int step, int at, unsigned need, workspace *w, void *const *out) {
  const real *cholesky = p->cholesky;
  for (int a = 0; a < p->assets; a++) {
    vreal normal = w->z[0][step & 3] * cholesky[a * p->assets];
    for (int b = 1; b <= a; b++) normal += w->z[b][step & 3] * cholesky[a * p->assets + b];
    for (int v = 0; v < p->variants; v++) {
      const option_variant *variant = &p->variant[v];
      const int i = step * p->assets + a;
      track *t = &w->track[v * p->assets + a];
      const vreal vol = v_set(((const real *)variant->vol)[i]);
      const vreal next = v_fma(vol, normal, t->x + ((const real *)variant->drift)[i]);
      if (need & NEED_HIGH) t->high = v_max(t->high, extreme(t->x, next, vol, w->high[a][step & 3], 1));
      if (need & NEED_LOW) t->low = v_min(t->low, extreme(t->x, next, vol, w->low[a][step & 3], -1));
      if (need & NEED_SINGLES) single_features(p, step, a, t, next, vol, variant, out + v * p->features, at);
      follow(t, next, need, p->far);
    }
  }
}

static void any_paths(const option_paths *p, uint64_t first, int count, unsigned need, void *const *out,
                      void *scratch) {
  workspace *w = scratch;
  for (int at = 0; at < count; at += LANES) {
    const stream s = begin_stream(p->seed, first + (uint64_t)at);
    for (int v = 0; v < p->variants; v++)
      for (int a = 0; a < p->assets; a++) w->track[v * p->assets + a] = begin_track();
    for (int step = 0; step < p->steps; step++) {
      if (step % 4 == 0) draw_group(p, &s, (uint32_t)step / 4, need, w);
      any_step(p, step, at, need, w, out);
    }
    for (int v = 0; v < p->variants; v++)
      for (int f = 0; f < p->features; f++) {
        const option_feature *feature = &p->feature[f];
        if (feature->kind >= OPTION_FIXING) continue;
        const track *t = &w->track[v * p->assets + feature->asset];
        vreal value = feature_value(p, t, feature, p->variant[v].spot[feature->asset]);
        memcpy((real *)out[v * p->features + f] + at, &value, sizeof value);
      }
  }
}

/* ---- one asset, one or two variants, no more than `need` ---- */

LANES_INLINE void lean_paths(const option_paths *p, uint64_t first, int count, unsigned need, int variants,
                             void *const *out) {
  const bool far = p->far;
  const real *drift[2], *vol[2];
  for (int v = 0; v < variants; v++) {
    drift[v] = p->variant[v].drift;
    vol[v] = p->variant[v].vol;
  }
  for (int at = 0; at < count; at += LANES) {
    const stream s = begin_stream(p->seed, first + (uint64_t)at);
    track t[2] = {begin_track(), begin_track()};
    vreal z[4];
    int step = 0;
    for (; step + 4 <= p->steps; step += 4) {
      four_normals(&s, (uint32_t)step / 4, OPTION_DRAW_NORMAL, z);
#pragma GCC unroll 4
      for (int i = 0; i < 4; i++)
#pragma GCC unroll 2
        for (int v = 0; v < variants; v++)
          follow(&t[v], v_fma(v_set(vol[v][step + i]), z[i], t[v].x + drift[v][step + i]), need, far);
    }
    if (step < p->steps) four_normals(&s, (uint32_t)step / 4, OPTION_DRAW_NORMAL, z);
    for (; step < p->steps; step++)
      for (int v = 0; v < variants; v++)
        follow(&t[v], v_fma(v_set(vol[v][step]), z[step & 3], t[v].x + drift[v][step]), need, far);
    for (int v = 0; v < variants; v++)
      for (int f = 0; f < p->features; f++) {
        vreal value = feature_value(p, &t[v], &p->feature[f], p->variant[v].spot[0]);
        memcpy((real *)out[v * p->features + f] + at, &value, sizeof value);
      }
  }
}

option_path_kernel OPTION_PATHS;
void OPTION_PATHS(const option_paths *p, uint64_t first, int count, void *const *out, void *scratch) {
  unsigned need = 0;
  for (int f = 0; f < p->features; f++) need |= 1u << p->feature[f].kind;
  const bool lean = p->assets == 1 && p->variants <= 2 && !(need & (NEED_ENDS | NEED_HIGH | NEED_LOW | NEED_SINGLES));
  const bool two = p->variants == 2, logs = need & NEED_LOGS, sum = need & NEED_SUM;
  if (!lean)
    any_paths(p, first, count, need, out, scratch);
  else if (two && logs)
    lean_paths(p, first, count, NEED_SUM | NEED_LOGS, 2, out);
  else if (two)
    lean_paths(p, first, count, NEED_SUM, 2, out);
  else if (logs)
    lean_paths(p, first, count, NEED_SUM | NEED_LOGS, 1, out);
  else if (sum)
    lean_paths(p, first, count, NEED_SUM, 1, out);
  else
    lean_paths(p, first, count, 0, 1, out);
}
