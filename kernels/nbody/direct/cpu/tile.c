/* Inner loops of the direct sums: all pairs of one block of bodies with another, each pair once.
 *
 *            j: 64 bodies at a time, broadcast one by one from memory
 *          +---------------------------------------------+
 *    i:    |  d = x_i - x_j,  s^2,  f = s^-3 / CUBE      |   side_i[c][i] -= m_j f d   in registers, one body a lane
 *    K     |                                             |
 *  vectors |                                             |   side_j[c][j][lane] += m_i f d   LANES partial sums a
 *    in    |                                             |   body, in L1: load, K updates, store; no shuffles
 *  registers--------------------------------------------+
 *             | once for 64 bodies, after all vectors of i: a fixed tree over the lanes
 *             v
 *    sum[c][j] += tree      sum[c][i] += side_i     both in fp64, once a tile
 *
 * Compiled once for each instruction set and precision. The lane of a body of i and the order of additions in a lane
 * follow from the block size and SIMD_LANES alone: the bits depend neither on the vector width nor on K or the 64.
 *
 * s^-3: a start value y of s^-1, then the series in e = 1 - s^2 y^2: s^-3 = y^3 (1 + 3/2 e + 15/8 e^2 + ...). By
 * completing the square, with the leading factor left to the end, that is y^3 ((7/5 - s^2 y^2)^2 + 28/75) x 15/8, or
 * to first order y^3 (5/3 - s^2 y^2) x 3/2. In fp64 y comes from an IEEE float root and division (|e| < 2^-21: the
 * third term is below 2^-61), never from an estimate, which differs among processors. */
#include "kernels/nbody/direct/cpu/tile.h"
#include "kernels/nbody/cpu/simd.h"

#include <stdbool.h>
#include <string.h>

enum {
  STRIP = 64, /* bodies of j whose lane sums fit L1: 3 x 64 x 64 B = 12 KiB (24 KiB with jerk) */
/* Measured: number of vectors of i in registers, and how many bodies of j ahead roots are started. */
#if NBODY_ISA == 2 && NBODY_SINGLE
  VECTORS = 2,
  AHEAD = 1,
  JERK_VECTORS = 2,
  JERK_AHEAD = 1
#elif NBODY_ISA == 2
  VECTORS = 2,
  AHEAD = 2,
  JERK_VECTORS = 1,
  JERK_AHEAD = 2
#else
  VECTORS = 1,
  AHEAD = 2,
  JERK_VECTORS = 1,
  JERK_AHEAD = 2
#endif
};

typedef struct inverse {
  vreal cube;   /* s^-3 / CUBE */
  vreal square; /* s^-2 */
} inverse;

#define CUBE (ROOT_ORDER == 2 ? 15.0 / 8 : ROOT_ORDER == 1 ? 3.0 / 2 : 1.0)

SIMD_INLINE vreal distance2(const vreal d[3], vreal softening2) {
  return v_fma(d[2], d[2], v_fma(d[1], d[1], v_fma(d[0], d[0], softening2)));
}

/* Powers of 1/s from a start value y. The compiler drops what a caller does not use. */
SIMD_INLINE inverse invert(vreal s2, vreal y) {
  inverse out;
  vreal y2 = v_mul(y, y);
  vreal y3 = v_mul(y2, y);
  if (ROOT_ORDER == 0) {
    out.cube = y3, out.square = y2;
  } else if (ROOT_ORDER == 1) {
    out.cube = v_mul(y3, v_fnma(s2, y2, v_set((real)(5.0 / 3))));
    out.square = v_mul(y2, v_fnma(s2, y2, v_set(2)));
  } else {
    vreal h = v_fnma(s2, y2, v_set((real)(7.0 / 5)));
    out.cube = v_mul(y3, v_fma(h, h, v_set((real)(28.0 / 75))));
    vreal e = v_fnma(s2, y2, v_set(1));
    out.square = v_fma(y2, v_fma(e, e, e), y2);
  }
  return out;
}

/* First half of a pair: everything before the root. */
typedef struct opening {
  vreal d[3], s2, y;
} opening;

SIMD_INLINE opening open_pair(const vreal x[3], const real *const body[NBODY_COLUMNS], int64_t j, vreal softening2) {
  opening out;
  for (int c = 0; c < 3; c++) out.d[c] = v_sub(x[c], v_set(body[NBODY_X + c][j]));
  out.s2 = distance2(out.d, softening2);
  out.y = v_root(out.s2);
  return out;
}

/* VECTORS vectors of bodies from i on, with a strip of bodies from j0 on; sums of i are side_i[c][i - i0], of j
 * side_j[c][lanes]. Roots are started `ahead` bodies of j before they are needed, because their latency exceeds the
 * processor's reordering window; the last few, of bodies behind the strip (at the end: of the next column), are not
 * used. The last four arguments are compile-time constants. */
SIMD_INLINE void strip(const nbody_packed *p, int64_t i0, int64_t i, int64_t j0,
                       real (*restrict side_i)[NBODY_BLOCK_MAX], real (*restrict side_j)[STRIP * SIMD_LANES], int half,
                       const int count, const int ahead, const bool with_jerk, const bool self) {
  const int sums = with_jerk ? 6 : 3;
  const real *body[NBODY_COLUMNS];
  for (int c = 0; c < (with_jerk ? 7 : 4); c++) body[c] = p->body[c];
  const vreal softening2 = v_set((real)p->softening2);
  vreal x[2][3], v[2][3], m[2], index[2], sum[2][6];
  opening now[4][2];
  for (int k = 0; k < count; k++) {
    int64_t at = i + k * SIMD_LANES;
    for (int c = 0; c < 3; c++) {
      x[k][c] = v_load(body[NBODY_X + c] + at);
      if (with_jerk) v[k][c] = v_load(body[NBODY_V + c] + at);
    }
    m[k] = v_load(body[NBODY_MASS] + at);
    for (int c = 0; c < sums; c++) sum[k][c] = v_load(side_i[c] + (at - i0));
    if (self) {
      _Alignas(64) real number[SIMD_WIDTH];
      for (int l = 0; l < SIMD_WIDTH; l++) number[l] = (real)(at + l - i0);
      index[k] = v_load(number);
    }
    for (int u = 0; u < ahead; u++) now[u][k] = open_pair(x[k], body, j0 + u, softening2);
  }
  for (int first = 0; first < STRIP; first += ahead)
    for (int u = 0; u < ahead; u++) {
      const int q = first + u;
      const int64_t j = j0 + q, coming = j + ahead;
      vreal other[6], mj = v_set(body[NBODY_MASS][j]);
      if (!self)
        for (int c = 0; c < sums; c++) other[c] = v_load(side_j[c] + q * SIMD_LANES + half);
      for (int k = 0; k < count; k++) {
        const opening o = now[u][k];
        inverse inv = invert(o.s2, o.y);
        if (self) inv.cube = v_except(inv.cube, index[k], v_set((real)(j - i0)));
        vreal of_j = v_mul(inv.cube, mj), of_i = v_mul(inv.cube, m[k]), w[3];
        if (with_jerk) {
          for (int c = 0; c < 3; c++) w[c] = v_sub(v[k][c], v_set(body[NBODY_V + c][j]));
          vreal dw = v_fma(o.d[2], w[2], v_fma(o.d[1], w[1], v_mul(o.d[0], w[0])));
          vreal rate = v_mul(v_mul(dw, v_set(3)), inv.square);
          if (self) rate = v_except(rate, index[k], v_set((real)(j - i0)));
          for (int c = 0; c < 3; c++) w[c] = v_fnma(rate, o.d[c], w[c]);
        }
        for (int c = 0; c < sums; c++) {
          vreal term = c < 3 ? o.d[c] : w[c - 3];
          sum[k][c] = v_fnma(of_j, term, sum[k][c]);
          if (!self) other[c] = v_fma(of_i, term, other[c]);
        }
        now[u][k] = open_pair(x[k], body, coming, softening2);
      }
      if (!self)
        for (int c = 0; c < sums; c++) v_store(side_j[c] + q * SIMD_LANES + half, other[c]);
    }
  for (int k = 0; k < count; k++)
    for (int c = 0; c < sums; c++) v_store(side_i[c] + (i + k * SIMD_LANES - i0), sum[k][c]);
}

SIMD_INLINE void tile(const nbody_packed *p, int64_t i0, int64_t j0, const int count, const int ahead,
                      const bool with_jerk, const bool self) {
  const int sums = with_jerk ? 6 : 3;
  _Alignas(64) real side_i[6][NBODY_BLOCK_MAX], side_j[6][STRIP * SIMD_LANES], tree[STRIP];
  for (int c = 0; c < sums; c++) memset(side_i[c], 0, sizeof(real) * (size_t)p->block);
  for (int64_t j = j0; j < j0 + p->block; j += STRIP) {
    if (!self) memset(side_j, 0, sizeof(side_j[0]) * (size_t)sums);
    for (int half = 0; half < SIMD_LANES; half += SIMD_WIDTH)
      for (int64_t i = i0; i < i0 + p->block; i += count * SIMD_LANES)
        strip(p, i0, i + half, j, side_i, side_j, half, count, ahead, with_jerk, self);
    for (int c = 0; c < sums && !self; c++) {
      for (int q = 0; q < STRIP; q += SIMD_WIDTH) v_store(tree + q, v_sums(side_j[c] + q * SIMD_LANES));
      for (int q = 0; q < STRIP; q++) p->sum[c][j + q] += (double)tree[q];
    }
  }
  for (int c = 0; c < sums; c++)
    for (int i = 0; i < p->block; i++) p->sum[c][i0 + i] += (double)side_i[c][i];
}

static void acceleration(const nbody_packed *p, int64_t i0, int64_t j0) {
  if (i0 == j0)
    tile(p, i0, j0, VECTORS, AHEAD, false, true);
  else
    tile(p, i0, j0, VECTORS, AHEAD, false, false);
}

static void jerk(const nbody_packed *p, int64_t i0, int64_t j0) {
  if (i0 == j0)
    tile(p, i0, j0, JERK_VECTORS, JERK_AHEAD, true, true);
  else
    tile(p, i0, j0, JERK_VECTORS, JERK_AHEAD, true, false);
}

enum { ROW_VECTORS = NBODY_ROW_BODIES / SIMD_WIDTH };

/* Terms of the bodies `body` with the block of bodies from j0 on, added up in `real`. `own`: some of these bodies are
 * in the block. */
SIMD_INLINE void row_block(const nbody_packed *p, real lanes[3][NBODY_ROW_BODIES], const int64_t body[NBODY_ROW_BODIES],
                           int64_t j0, const bool own, vreal sum[][3]) {
  const real *restrict of[4];
  const vreal softening2 = v_set((real)p->softening2);
  _Alignas(64) real number[NBODY_ROW_BODIES];
  for (int c = 0; c < 4; c++) of[c] = p->body[c];
  for (int l = 0; l < NBODY_ROW_BODIES; l++) number[l] = (real)(body[l] - j0);
  for (int k = 0; k < ROW_VECTORS; k++) {
    vreal x[3], index = v_load(number + k * SIMD_WIDTH);
    for (int c = 0; c < 3; c++) {
      x[c] = v_load(lanes[c] + k * SIMD_WIDTH);
      sum[k][c] = v_set(0);
    }
    for (int64_t j = j0; j < j0 + p->block; j++) {
      vreal d[3];
      for (int c = 0; c < 3; c++) d[c] = v_sub(x[c], v_set(of[c][j]));
      const vreal s2 = distance2(d, softening2);
      vreal cube = invert(s2, v_root(s2)).cube;
      if (own) cube = v_except(cube, index, v_set((real)(j - j0)));
      const vreal of_j = v_mul(cube, v_set(of[NBODY_MASS][j]));
      for (int c = 0; c < 3; c++) sum[k][c] = v_fnma(of_j, d[c], sum[k][c]);
    }
  }
}

/* As in a tile, terms of a block are added in `real`, and blocks in fp64. */
static void rows(const nbody_packed *p, const int64_t body[NBODY_ROW_BODIES], double *out) {
  _Alignas(64) real lanes[3][NBODY_ROW_BODIES], terms[SIMD_WIDTH];
  for (int c = 0; c < 3; c++)
    for (int l = 0; l < NBODY_ROW_BODIES; l++) {
      lanes[c][l] = ((const real *)p->body[NBODY_X + c])[body[l]];
      out[c * NBODY_ROW_BODIES + l] = 0;
    }
  for (int64_t j0 = 0; j0 < p->padded; j0 += p->block) {
    vreal sum[ROW_VECTORS][3];
    bool own = false;
    for (int l = 0; l < NBODY_ROW_BODIES; l++) own = own || (body[l] >= j0 && body[l] < j0 + p->block);
    if (own)
      row_block(p, lanes, body, j0, true, sum);
    else
      row_block(p, lanes, body, j0, false, sum);
    for (int k = 0; k < ROW_VECTORS; k++)
      for (int c = 0; c < 3; c++) {
        v_store(terms, sum[k][c]);
        for (int l = 0; l < SIMD_WIDTH; l++) out[c * NBODY_ROW_BODIES + k * SIMD_WIDTH + l] += (double)terms[l];
      }
  }
}

#if !NBODY_SINGLE
/* s^-1 = y (1 + e/2 + 3/8 e^2) = y ((5/3 - s^2 y^2)^2 + 20/9) x 3/8; in a block with itself every pair is visited
 * twice. */
SIMD_INLINE void potential_tile(const nbody_packed *p, int64_t i0, int64_t j0, const bool self) {
  const real *restrict body[4];
  for (int c = 0; c < 4; c++) body[c] = p->body[c];
  const vreal softening2 = v_set(p->softening2);
  for (int64_t i = i0; i < i0 + p->block; i += SIMD_WIDTH) {
    _Alignas(64) real number[SIMD_WIDTH], total[SIMD_WIDTH];
    for (int l = 0; l < SIMD_WIDTH; l++) number[l] = (real)(i + l);
    vreal x[3], index = v_load(number), sum = v_set(0);
    for (int c = 0; c < 3; c++) x[c] = v_load(body[c] + i);
    for (int64_t j = j0; j < j0 + p->block; j++) {
      vreal d[3];
      for (int c = 0; c < 3; c++) d[c] = v_sub(x[c], v_set(body[c][j]));
      vreal s2 = distance2(d, softening2), y = v_root(s2);
      vreal h = v_fnma(s2, v_mul(y, y), v_set(5.0 / 3));
      vreal inv = v_mul(y, v_fma(h, h, v_set(20.0 / 9)));
      if (self) inv = v_except(inv, index, v_set((real)j));
      sum = v_fma(inv, v_set(body[NBODY_MASS][j]), sum);
    }
    v_store(total, v_mul(v_mul(sum, v_load(body[NBODY_MASS] + i)), v_set(self ? 0.5 : 1)));
    for (int l = 0; l < SIMD_WIDTH; l++) p->sum[0][i + l] += total[l];
  }
}

static void potential(const nbody_packed *p, int64_t i0, int64_t j0) {
  if (i0 == j0)
    potential_tile(p, i0, j0, true);
  else
    potential_tile(p, i0, j0, false);
}
#endif

const nbody_tiles NBODY_TILES = {
    .acceleration = acceleration,
    .jerk = jerk,
    .rows = rows,
#if !NBODY_SINGLE
    .potential = potential,
#endif
    .cube = CUBE,
    .inverse = 3.0 / 8,
};
