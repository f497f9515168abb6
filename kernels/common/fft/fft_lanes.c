/* Sweeps over groups of columns; see fft_lanes.h. Compiled once for each instruction set and precision. */
#include "kernels/common/fft/fft_lanes.h"
#include "kernels/common/fft/fft_butterflies.h"

#include <string.h>

enum { REALS = FFT_POINT / (int)sizeof(real) }; /* numbers of a point */

#define ON(r, statement)                                                                                               \
  if (R > (r)) statement
#define EACH(S)                                                                                                        \
  ON(0, S(0))                                                                                                          \
  ON(1, S(1))                                                                                                          \
  ON(2, S(2))                                                                                                          \
  ON(3, S(3))                                                                                                          \
  ON(4, S(4))                                                                                                          \
  ON(5, S(5))                                                                                                          \
  ON(6, S(6))                                                                                                          \
  ON(7, S(7))                                                                                                          \
  ON(8, S(8)) ON(9, S(9)) ON(10, S(10)) ON(11, S(11)) ON(12, S(12)) ON(13, S(13)) ON(14, S(14)) ON(15, S(15))

FFT_INLINE void dft(int R, complex_lanes *x) {
  if (R == 2) dft2(&x[0], &x[1]);
  if (R == 3) dft3(&x[0], &x[1], &x[2]);
  if (R == 4) dft4(&x[0], &x[1], &x[2], &x[3]);
  if (R == 5) dft5(x);
  if (R == 7) dft7(x);
  if (R == 8) dft8(x);
  if (R == 9) dft9(x);
  if (R == 11) dft11(x);
  if (R == 13) dft13(x);
  if (R == 16) dft16(x);
}

/* Element r of a butterfly, addressed from one of four bases and two steps: the compiler then neither holds R offsets
 * in registers nor loads a vector twice as a memory operand. */
#define HIDE(pointer) __asm__("" : "+r"(pointer))
FFT_INLINE const real *element(const real *const *base, ptrdiff_t step, int r) { return base[r / 4] + (r % 4) * step; }

/* Swapping re and im of input and output turns the forward transform into the inverse one. */
FFT_INLINE void butterfly(int R, int inverse, int turned, const real *source, ptrdiff_t source_step, real *target,
                          ptrdiff_t target_step, const real *w, int some, unsigned kept, real *unused) {
  complex_lanes x[FFT_RADIX_MAX];
  const real *from[4] = {source, source + 4 * source_step, source + 8 * source_step, source + 12 * source_step};
  const real *to[4] = {target, target + 4 * target_step, target + 8 * target_step, target + 12 * target_step};
  const int re = inverse ? LANES : 0, im = inverse ? 0 : LANES;
  HIDE(from[0]);
  HIDE(to[0]);
  if (R > 4) {
    HIDE(from[1]);
    HIDE(to[1]);
  }
  if (R > 8) {
    HIDE(from[2]);
    HIDE(to[2]);
  }
  if (R > 12) {
    HIDE(from[3]);
    HIDE(to[3]);
  }
#define LOAD(r)                                                                                                        \
  {                                                                                                                    \
    const real *at = element(from, source_step, r);                                                                    \
    if (some && inverse) at = kept >> (r)&1 ? at : unused;                                                             \
    x[r].re = *(const vreal *)(at + re);                                                                               \
    x[r].im = *(const vreal *)(at + im);                                                                               \
  }
#define TURN(r)                                                                                                        \
  if ((r) > 0) x[r] = c_times(x[r], v_set(w[2 * (r)-2]), v_set(w[2 * (r)-1]));
#define STORE(r)                                                                                                       \
  {                                                                                                                    \
    real *at = (real *)(uintptr_t)element(to, target_step, r);                                                         \
    if (some && !inverse) at = kept >> (r)&1 ? at : unused;                                                            \
    *(vreal *)(at + re) = x[r].re;                                                                                     \
    *(vreal *)(at + im) = x[r].im;                                                                                     \
  }
  EACH(LOAD)
  if (turned && inverse) { EACH(TURN) }
  dft(R, x);
  if (turned && !inverse) { EACH(TURN) }
  EACH(STORE)
}

FFT_INLINE void fetch(fft_ahead *ahead) {
  if (!ahead) return;
  for (int piece = 0; piece <= ahead->more; piece++) {
    if (ahead->left <= 0) {
      if (!ahead->after) return;
      *ahead = *ahead->after;
      if (ahead->left <= 0) return;
    }
    const char *at = ahead->at + (ahead->pieces ? *ahead->pieces++ * ahead->step : 0);
    for (int i = 0; i < ahead->lines; i++) __builtin_prefetch(at + 64 * i, 0, 2);
    if (!ahead->pieces) ahead->at += ahead->step;
    ahead->left--;
  }
}

FFT_INLINE void sweep(int R, int inverse, const void *source, ptrdiff_t source_stride, void *target,
                      ptrdiff_t target_stride, int64_t blocks, int64_t q, const void *twiddles, fft_ahead *ahead) {
  const real *from = source;
  real *to = target;
  const ptrdiff_t from_point = source_stride * REALS, to_point = target_stride * REALS;
  if (!twiddles) {
    for (int64_t b = 0; b < blocks; b++, from += R * from_point, to += R * to_point) {
      fetch(ahead);
      for (int lane = 0; lane < LANES; lane += WIDTH)
        butterfly(R, inverse, 0, from + lane, from_point, to + lane, to_point, NULL, 0, 0, NULL);
    }
    return;
  }
  const ptrdiff_t from_step = (ptrdiff_t)q * from_point, to_step = (ptrdiff_t)q * to_point;
  for (int64_t b = 0; b < blocks; b++, from += (R - 1) * from_step, to += (R - 1) * to_step) {
    const real *w = twiddles;
    for (int64_t j = 0; j < q; j++, w += 2 * (R - 1), from += from_point, to += to_point) {
      fetch(ahead);
      for (int lane = 0; lane < LANES; lane += WIDTH)
        butterfly(R, inverse, 1, from + lane, from_step, to + lane, to_step, w, 0, 0, NULL);
    }
  }
}

FFT_INLINE void kept_sweep(int R, int inverse, const void *source, ptrdiff_t source_stride, void *target,
                           ptrdiff_t target_stride, int64_t blocks, const uint16_t *kept, fft_ahead *ahead) {
  real unused[REALS] __attribute__((aligned(64))) = {0};
  const real *from = source;
  real *to = target;
  const ptrdiff_t from_point = source_stride * REALS, to_point = target_stride * REALS;
  for (int64_t b = 0; b < blocks; b++, from += R * from_point, to += R * to_point) {
    fetch(ahead);
    for (int lane = 0; lane < LANES; lane += WIDTH)
      butterfly(R, inverse, 0, from + lane, from_point, to + lane, to_point, NULL, 1, kept[b], unused);
  }
}

FFT_INLINE void turn_round(int R, const real *from, ptrdiff_t from_point, real *to, ptrdiff_t to_point,
                           const real *factors, const int32_t *slot) {
  complex_lanes x[FFT_RADIX_MAX];
#define TAKE(r)                                                                                                        \
  {                                                                                                                    \
    x[r].re = *(const vreal *)(from + (r)*from_point);                                                                 \
    x[r].im = *(const vreal *)(from + (r)*from_point + LANES);                                                         \
  }
#define SCALE(r)                                                                                                       \
  {                                                                                                                    \
    const vreal factor = *(const vreal *)(factors + (ptrdiff_t)slot[r] * LANES);                                       \
    x[r] = (complex_lanes){x[r].im * factor, x[r].re * factor};                                                        \
  }
#define GIVE(r)                                                                                                        \
  {                                                                                                                    \
    *(vreal *)(to + (r)*to_point) = x[r].im;                                                                           \
    *(vreal *)(to + (r)*to_point + LANES) = x[r].re;                                                                   \
  }
  EACH(TAKE)
  dft(R, x);
  EACH(SCALE)
  dft(R, x);
  EACH(GIVE)
}

FFT_INLINE void turn_sweep(int R, const void *source, ptrdiff_t source_stride, void *target, ptrdiff_t target_stride,
                           int64_t blocks, const void *factors, const int32_t *slot, fft_ahead *ahead) {
  const real *from = source;
  real *to = target;
  const ptrdiff_t from_point = source_stride * REALS, to_point = target_stride * REALS;
  for (int64_t b = 0; b < blocks; b++, from += R * from_point, to += R * to_point, slot += R) {
    fetch(ahead);
    for (int lane = 0; lane < LANES; lane += WIDTH)
      turn_round(R, from + lane, from_point, to + lane, to_point, (const real *)factors + lane, slot);
  }
}

#define SWEEPS(R)                                                                                                      \
  static void forward_kept##R(const void *a, ptrdiff_t as, void *b, ptrdiff_t bs, int64_t blocks,                      \
                              const uint16_t *kept, fft_ahead *ahead) {                                                \
    kept_sweep(R, 0, a, as, b, bs, blocks, kept, ahead);                                                               \
  }                                                                                                                    \
  static void inverse_kept##R(const void *a, ptrdiff_t as, void *b, ptrdiff_t bs, int64_t blocks,                      \
                              const uint16_t *kept, fft_ahead *ahead) {                                                \
    kept_sweep(R, 1, a, as, b, bs, blocks, kept, ahead);                                                               \
  }                                                                                                                    \
  static void forward##R(const void *a, ptrdiff_t as, void *b, ptrdiff_t bs, int64_t blocks, int64_t q, const void *w, \
                         fft_ahead *ahead) {                                                                           \
    sweep(R, 0, a, as, b, bs, blocks, q, w, ahead);                                                                    \
  }                                                                                                                    \
  static void inverse##R(const void *a, ptrdiff_t as, void *b, ptrdiff_t bs, int64_t blocks, int64_t q, const void *w, \
                         fft_ahead *ahead) {                                                                           \
    sweep(R, 1, a, as, b, bs, blocks, q, w, ahead);                                                                    \
  }                                                                                                                    \
  static void turn##R(const void *a, ptrdiff_t as, void *b, ptrdiff_t bs, int64_t blocks, const void *factors,         \
                      const int32_t *slot, fft_ahead *ahead) {                                                         \
    turn_sweep(R, a, as, b, bs, blocks, factors, slot, ahead);                                                         \
  }
SWEEPS(2)
SWEEPS(3)
SWEEPS(4)
SWEEPS(5)
SWEEPS(7)
SWEEPS(8)
SWEEPS(9)
SWEEPS(11)
SWEEPS(13)
SWEEPS(16)

static void multiply(const void *source, ptrdiff_t source_stride, void *target, ptrdiff_t target_stride, int64_t n,
                     const void *factors, int swap, int swap_after) {
  const real *from = source, *w = factors;
  real *to = target;
  for (int64_t i = 0; i < n; i++, from += source_stride * REALS, to += target_stride * REALS, w += 2)
    for (int lane = 0; lane < LANES; lane += WIDTH) {
      complex_lanes x = {*(const vreal *)(from + lane + (swap ? LANES : 0)),
                         *(const vreal *)(from + lane + (swap ? 0 : LANES))};
      x = c_times(x, v_set(w[0]), v_set(w[1]));
      *(vreal *)(to + lane + (swap_after ? LANES : 0)) = x.re;
      *(vreal *)(to + lane + (swap_after ? 0 : LANES)) = x.im;
    }
}

/* ROWS results at a time, so that their sums stay in registers. */
#define PRODUCT(name, ROWS)                                                                                            \
  FFT_INLINE void name(const real *matrix, const real *source, ptrdiff_t source_step, real *target,                    \
                       ptrdiff_t target_step, int64_t n) {                                                             \
    vreal sum[ROWS][REALS / WIDTH];                                                                                    \
    for (int r = 0; r < (ROWS); r++)                                                                                   \
      for (int v = 0; v < REALS / WIDTH; v++) sum[r][v] = v_set(0);                                                    \
    for (int64_t j = 0; j < n; j++, source += source_step)                                                             \
      for (int r = 0; r < (ROWS); r++)                                                                                 \
        for (int v = 0; v < REALS / WIDTH; v++)                                                                        \
          sum[r][v] = v_fma(v_set(matrix[r * n + j]), *(const vreal *)(source + v * WIDTH), sum[r][v]);                \
    for (int r = 0; r < (ROWS); r++)                                                                                   \
      for (int v = 0; v < REALS / WIDTH; v++) *(vreal *)(target + r * target_step + v * WIDTH) = sum[r][v];            \
  }
#if FFT_ISA == 2
enum { PRODUCT_ROWS = 8 };
#else
enum { PRODUCT_ROWS = 2 };
#endif
PRODUCT(product_rows, PRODUCT_ROWS)
PRODUCT(product_row, 1)

static void product(const void *matrix, const void *source, ptrdiff_t source_stride, void *target,
                    ptrdiff_t target_stride, int64_t n) {
  const real *m = matrix;
  real *to = target;
  int64_t i = 0;
  for (; i + PRODUCT_ROWS <= n; i += PRODUCT_ROWS)
    product_rows(m + i * n, source, source_stride * REALS, to + i * target_stride * REALS, target_stride * REALS, n);
  for (; i < n; i++)
    product_row(m + i * n, source, source_stride * REALS, to + i * target_stride * REALS, target_stride * REALS, n);
}

static void fold(void *column, ptrdiff_t stride, int64_t n, const int32_t *at, const void *factors, int quarter,
                 int mirrored) {
  real *points = column;
  const real *c = factors;
  const vreal half = v_set((real)0.5);
  for (int64_t k = 1 - quarter; 2 * k <= n - quarter; k++) {
    real *low = points + at[k] * stride * REALS, *high = points + at[n - quarter - k] * stride * REALS;
    real *const to_low = mirrored ? high : low, *const to_high = mirrored ? low : high;
    for (int lane = 0; lane < LANES; lane += WIDTH) {
      const complex_lanes a = {*(vreal *)(low + lane), *(vreal *)(low + lane + LANES)};
      const complex_lanes b = {*(vreal *)(high + lane), *(vreal *)(high + lane + LANES)};
      const vreal re = v_set(c[2 * k]) * half, im = v_set(c[2 * k + 1]) * half;
      const complex_lanes p = c_times(a, re, im), q = c_times(b, re, -im);
      *(vreal *)(to_high + lane) = q.im - p.im; /* i (p - q) */
      *(vreal *)(to_high + lane + LANES) = p.re - q.re;
      *(vreal *)(to_low + lane) = p.re + q.re;
      *(vreal *)(to_low + lane + LANES) = p.im + q.im;
    }
  }
}

static void unfold(void *column, ptrdiff_t stride, int64_t n, const int32_t *at, const void *factors, int quarter,
                   int mirrored) {
  real *points = column;
  const real *c = factors;
  for (int64_t k = 1 - quarter; 2 * k <= n - quarter; k++) {
    real *low = points + at[k] * stride * REALS, *high = points + at[n - quarter - k] * stride * REALS;
    const real *const from_low = mirrored ? high : low, *const from_high = mirrored ? low : high;
    for (int lane = 0; lane < LANES; lane += WIDTH) {
      const complex_lanes a = {*(const vreal *)(from_low + lane), *(const vreal *)(from_low + lane + LANES)};
      const complex_lanes b = {*(const vreal *)(from_high + lane), *(const vreal *)(from_high + lane + LANES)};
      const vreal re = v_set(c[2 * k]), im = v_set(c[2 * k + 1]);
      const complex_lanes p = {a.re + b.im, a.im - b.re}, q = {a.re - b.im, a.im + b.re};
      const complex_lanes v = c_times(p, re, -im), u = c_times(q, re, im);
      *(vreal *)(high + lane) = u.re;
      *(vreal *)(high + lane + LANES) = u.im;
      *(vreal *)(low + lane) = v.re;
      *(vreal *)(low + lane + LANES) = v.im;
    }
  }
}

static void gather(const void *source, ptrdiff_t stride, void *target, int64_t n, const int32_t *from, int alternate) {
  real *to = target;
  for (int64_t i = 0; i < n; i++, to += REALS) {
    const real *point = (const real *)source + (ptrdiff_t)from[i] * stride * REALS;
    const vreal sign = v_set(alternate && from[i] % 2 ? -1 : 1);
    for (int lane = 0; lane < REALS; lane += WIDTH) *(vreal *)(to + lane) = sign * *(const vreal *)(point + lane);
  }
}

static void scatter(const void *source, void *target, ptrdiff_t stride, int64_t n, const int32_t *to, int alternate) {
  const real *point = source;
  for (int64_t i = 0; i < n; i++, point += REALS) {
    real *out = (real *)target + (ptrdiff_t)to[i] * stride * REALS;
    const vreal sign = v_set(alternate && to[i] % 2 ? -1 : 1);
    for (int lane = 0; lane < REALS; lane += WIDTH) *(vreal *)(out + lane) = sign * *(const vreal *)(point + lane);
  }
}

/* ---- rows and lanes ---- */

/* A tile of LANES x LANES numbers, transposed in blocks of WIDTH. */
typedef struct tile {
  real x[LANES][LANES];
} __attribute__((aligned(64))) tile;

/* Elements of a (numbered from 0) and of b (numbered from WIDTH). GCC 11 has its own name for this operation. */
#if __has_builtin(__builtin_shufflevector)
#define PICK(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#if FFT_SINGLE
typedef int32_t vindex __attribute__((vector_size(VECTOR_BYTES)));
#else
typedef int64_t vindex __attribute__((vector_size(VECTOR_BYTES)));
#endif
#define PICK(a, b, ...) __builtin_shuffle(a, b, (vindex){__VA_ARGS__})
#endif

FFT_INLINE vreal interleave(vreal a, vreal b, int high) {
#if FFT_ISA == 2 && FFT_SINGLE
  return high ? PICK(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
              : PICK(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
#elif FFT_ISA == 2 || (FFT_ISA == 1 && FFT_SINGLE)
  return high ? PICK(a, b, 4, 12, 5, 13, 6, 14, 7, 15) : PICK(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
#elif FFT_ISA == 1 || FFT_SINGLE
  return high ? PICK(a, b, 2, 6, 3, 7) : PICK(a, b, 0, 4, 1, 5);
#else
  return high ? PICK(a, b, 1, 3) : PICK(a, b, 0, 2);
#endif
}

/* rows of the caller, without alignment */
typedef real loose __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(real)), may_alias));

/* Transposes a square of WIDTH vectors. Each round interleaves rows i and i + WIDTH/2; after log2(WIDTH) rounds rows
 * are columns. */
FFT_INLINE void turn_square(vreal *a) {
  vreal b[WIDTH];
#pragma GCC unroll 16
  for (int round = 1; round < WIDTH; round *= 2) {
#pragma GCC unroll 16
    for (int i = 0; i < WIDTH / 2; i++) {
      b[2 * i] = interleave(a[i], a[i + WIDTH / 2], 0);
      b[2 * i + 1] = interleave(a[i], a[i + WIDTH / 2], 1);
    }
#pragma GCC unroll 16
    for (int i = 0; i < WIDTH; i++) a[i] = b[i];
  }
}

/* Addresses the rows of a square from four bases and a step, as `element` does for butterflies. */
#define BASES(name, type, from, row)                                                                                   \
  type *name[4] = {from, (from) + 4 * (row), (from) + 8 * (row), (from) + 12 * (row)};                                 \
  HIDE(name[0]);                                                                                                       \
  HIDE(name[1]);                                                                                                       \
  HIDE(name[2]);                                                                                                       \
  HIDE(name[3])
FFT_INLINE void square_store(vreal *a, real *to, ptrdiff_t row) {
  BASES(base, real, to, row);
  turn_square(a);
#pragma GCC unroll 16
  for (int i = 0; i < WIDTH; i++) *(loose *)(base[i / 4] + i % 4 * row) = (loose)a[i];
}
FFT_INLINE void square_load(const real *from, ptrdiff_t row, vreal *a) {
  BASES(base, const real, from, row);
#pragma GCC unroll 16
  for (int i = 0; i < WIDTH; i++) a[i] = (vreal) * (const loose *)(base[i / 4] + i % 4 * row);
  turn_square(a);
}

FFT_INLINE void transpose_block(const real *from, ptrdiff_t from_row, real *to, ptrdiff_t to_row) {
  vreal a[WIDTH];
  square_load(from, from_row, a);
#pragma GCC unroll 16
  for (int i = 0; i < WIDTH; i++) *(loose *)(to + i * to_row) = (loose)a[i];
}

static void transpose(const real *from, ptrdiff_t from_row, real *to, ptrdiff_t to_row) {
  for (int i = 0; i < LANES; i += WIDTH)
    for (int j = 0; j < LANES; j += WIDTH)
      transpose_block(from + i * from_row + j, from_row, to + j * to_row + i, to_row);
}

/* Loads LANES rows of LANES numbers each. Rows from `rows` on and columns from `columns` on are absent: read as
 * zeros. */
static void tile_load(const real *from, ptrdiff_t row, int64_t rows, int64_t columns, tile *out, ptrdiff_t to_row,
                      real *to) {
  if (rows >= LANES && columns >= LANES) {
    transpose(from, row, to, to_row);
    return;
  }
  memset(out, 0, sizeof *out);
  for (int64_t i = 0; i < rows && i < LANES; i++)
    memcpy(out->x[i], from + i * row, sizeof(real) * (size_t)(columns < LANES ? columns : LANES));
  for (int64_t j = 0; j < columns && j < LANES; j++)
    for (int i = 0; i < LANES; i++) to[j * to_row + i] = out->x[i][j];
}

static void tile_store(const real *from, ptrdiff_t from_row, int64_t rows, int64_t columns, real *to, ptrdiff_t row) {
  if (rows >= LANES && columns >= LANES) {
    transpose(from, from_row, to, row);
    return;
  }
  for (int64_t i = 0; i < rows && i < LANES; i++)
    for (int64_t j = 0; j < columns && j < LANES; j++) to[i * row + j] = from[j * from_row + i];
}

static void rows_load(const void *rows, ptrdiff_t row, int64_t count, int64_t n, void *buffer) {
  tile scratch;
  real *to = buffer;
  for (int64_t x = 0; x < n; x += LANES)
    for (int half = 0; half < 2; half++)
      tile_load((const real *)rows + half * LANES * row + x, row, count - half * LANES, n - x, &scratch, REALS,
                to + x * REALS + half * LANES);
}

static void rows_store(const void *buffer, int64_t n, void *rows, ptrdiff_t row, int64_t count) {
  const real *from = buffer;
  for (int64_t x = 0; x < n; x += LANES)
    for (int half = 0; half < 2; half++)
      tile_store(from + x * REALS + half * LANES, REALS, count - half * LANES, n - x,
                 (real *)rows + half * LANES * row + x, row);
}

/* Coefficients of two real rows A and B from the transform Z of A + i B:
 *   2 A_k = Z_k + conj Z_(n-k),   2 B_k = -i (Z_k - conj Z_(n-k)) */
enum { A_RE, A_IM, B_RE, B_IM };
FFT_INLINE vreal half_of(int which, const real *low, const real *high) {
  switch (which) {
  case A_RE: return *(const vreal *)low + *(const vreal *)high;
  case A_IM: return *(const vreal *)(low + LANES) - *(const vreal *)(high + LANES);
  case B_RE: return *(const vreal *)(low + LANES) + *(const vreal *)(high + LANES);
  default: return *(const vreal *)high - *(const vreal *)low;
  }
}

/* Computes A_RE, A_IM, B_RE or B_IM for LANES wavenumbers and half of the rows: to[row][LANES]. */
FFT_INLINE void half_tile(int which, const real *const *low, const real *const *high, real *to, ptrdiff_t row) {
  for (int lane = 0; lane < LANES; lane += WIDTH)
    for (int first = 0; first < LANES; first += WIDTH) {
      vreal a[WIDTH];
#pragma GCC unroll 16
      for (int i = 0; i < WIDTH; i++) a[i] = half_of(which, low[first + i] + lane, high[first + i] + lane);
      square_store(a, to + lane * row + first, row);
    }
}

static void half_tiles(const real *const *low, const real *const *high, real *to, ptrdiff_t row) {
  half_tile(A_RE, low, high, to, row);
  half_tile(A_IM, low, high, to + LANES, row);
  half_tile(B_RE, low, high, to + LANES * row, row);
  half_tile(B_IM, low, high, to + LANES * row + LANES, row);
}

/* `paired`: the last coefficient, n/2, is stored in the imaginary part of coefficient 0; both are real. */
static void half_store(const void *buffer, int64_t n, const int32_t *at, int paired, int64_t stored, void *rows,
                       ptrdiff_t row, int64_t count, int cut) {
  static const real nothing[REALS] __attribute__((aligned(64)));
  const real *points = buffer, *low[LANES], *high[LANES];
  for (int64_t first = 0; first < stored; first += LANES) {
    for (int64_t i = 0; i < LANES; i++) {
      const int64_t k = first + i;
      low[i] = k < stored ? points + at[k] * REALS : nothing;
      high[i] = k < stored ? points + at[k ? n - k : 0] * REALS : nothing;
    }
    real *to = (real *)rows + first * 2;
    if (count == 2 * LANES) {
      half_tiles(low, high, to, row);
      continue;
    }
    real all[2 * LANES][2 * LANES] __attribute__((aligned(64)));
    half_tiles(low, high, all[0], 2 * LANES);
    for (int64_t r = 0; r < count; r++) memcpy(to + r * row, all[r], sizeof all[r]);
  }
  const real *last = points + at[n / 2] * REALS;
  for (int64_t r = 0; paired && !cut && r < count; r++) ((real *)rows)[r * row + LANES] = 2 * last[r];
}

/* Makes re (or im) of wavenumbers k and n - k from sums and differences of two tiles of stored coefficients. */
FFT_INLINE void half_untile(int im, const real *from, ptrdiff_t row, real *const *low, real *const *high) {
  const real *first_tile = from + (im ? LANES : 0), *second_tile = from + LANES * row + (im ? 0 : LANES);
  for (int lane = 0; lane < LANES; lane += WIDTH)
    for (int first = 0; first < LANES; first += WIDTH) {
      vreal a[WIDTH], other[WIDTH];
      square_load(first_tile + lane * row + first, row, a);
#pragma GCC unroll 16
      for (int i = 0; i < WIDTH; i++) other[i] = a[i];
      vreal *in_memory = other;
      HIDE(in_memory);
      square_load(second_tile + lane * row + first, row, a);
#pragma GCC unroll 16
      for (int i = 0; i < WIDTH; i++) {
        const vreal x = in_memory[i];
        *(vreal *)(low[first + i] + lane + (im ? LANES : 0)) = im ? x + a[i] : x - a[i];
        *(vreal *)(high[first + i] + lane + (im ? LANES : 0)) = im ? a[i] - x : x + a[i];
      }
    }
}

static void half_load(const void *rows, ptrdiff_t row, int64_t count, int64_t n, const int32_t *at, int paired,
                      int64_t stored, int cut, void *buffer) {
  real unused[REALS] __attribute__((aligned(64))), *points = buffer, *low[LANES], *high[LANES];
  for (int64_t first = 0; first < stored; first += LANES) {
    for (int64_t i = 0; i < LANES; i++) {
      const int64_t k = first + i;
      low[i] = k < stored ? points + at[k] * REALS : unused;
      high[i] = k < stored && k && 2 * k != n ? points + at[n - k] * REALS : unused;
    }
    const real *from = (const real *)rows + first * 2;
    real all[2 * LANES][2 * LANES] __attribute__((aligned(64)));
    if (count < 2 * LANES) {
      memset(all, 0, sizeof all);
      for (int64_t r = 0; r < count; r++) memcpy(all[r], from + r * row, sizeof all[r]);
    }
    const real *tiles = count < 2 * LANES ? all[0] : from;
    const ptrdiff_t tiles_row = count < 2 * LANES ? 2 * LANES : row;
    half_untile(0, tiles, tiles_row, low, high);
    half_untile(1, tiles, tiles_row, low, high);
  }
  /* The coefficient of a wavenumber that is its own mirror image is real: clears the rounding error in im. */
  real *zero = points + at[0] * REALS, *last = points + at[n / 2] * REALS;
  const real *from = rows;
  for (int64_t r = 0; r < 2 * LANES; r++) {
    zero[r] = r < count ? from[r * row] : 0;
    if (n % 2 == 0 && !cut)
      last[r] = r >= count ? 0 : from[r * row + (paired ? LANES : n / 2 / LANES * 2 * LANES + n / 2 % LANES)];
  }
}

/* Stores real coefficients in lanes: with `pair` in all 2 LANES of a point, else in re, with zero in im. */
static void real_store(const void *buffer, int64_t n, const int32_t *at, int pair, void *rows, ptrdiff_t row,
                       int64_t count) {
  const real *points = buffer;
  for (int64_t first = 0; first < n; first += LANES) {
    tile part[2];
    for (int64_t i = 0; i < LANES; i++) {
      const real *point = points + at[first + i < n ? first + i : 0] * REALS;
      const vreal keep = v_set(first + i < n ? 1 : 0);
      for (int lane = 0; lane < LANES; lane += WIDTH) {
        *(vreal *)(part[0].x[i] + lane) = keep * *(const vreal *)(point + lane);
        *(vreal *)(part[1].x[i] + lane) = keep * *(const vreal *)(point + lane + LANES);
      }
    }
    real *to = (real *)rows + (pair ? first : 2 * first);
    for (int half = 0; half < 2; half++)
      tile_store(part[half].x[0], LANES, count - half * LANES, LANES, to + half * LANES * row, row);
    const int64_t group_end = pair ? (first / LANES % 2 == 0 && first + LANES >= n) : 1;
    for (int64_t r = 0; group_end && r < count; r++) memset(to + r * row + LANES, 0, sizeof(real) * LANES);
  }
}

static void real_load(const void *rows, ptrdiff_t row, int64_t count, int64_t n, const int32_t *at, int pair,
                      void *buffer) {
  real *points = buffer;
  for (int64_t first = 0; first < n; first += LANES) {
    tile part[2], scratch;
    const real *from = (const real *)rows + (pair ? first : 2 * first);
    for (int half = 0; half < 2; half++)
      tile_load(from + half * LANES * row, row, count - half * LANES, LANES, &scratch, LANES, part[half].x[0]);
    for (int64_t i = 0; i < LANES && first + i < n; i++) {
      real *point = points + at[first + i] * REALS;
      for (int lane = 0; lane < LANES; lane += WIDTH) {
        *(vreal *)(point + lane) = *(vreal *)(part[0].x[i] + lane);
        *(vreal *)(point + lane + LANES) = *(vreal *)(part[1].x[i] + lane);
      }
    }
  }
}

#define ENTRY(kind, R) [R] = kind##R
#define TABLE(kind)                                                                                                    \
  {                                                                                                                    \
    ENTRY(kind, 2), ENTRY(kind, 3), ENTRY(kind, 4), ENTRY(kind, 5), ENTRY(kind, 7), ENTRY(kind, 8), ENTRY(kind, 9),    \
        ENTRY(kind, 11), ENTRY(kind, 13), ENTRY(kind, 16)                                                              \
  }

const fft_lanes FFT_LANES = {.forward_kept = TABLE(forward_kept),
                             .inverse_kept = TABLE(inverse_kept),
                             .forward = TABLE(forward),
                             .inverse = TABLE(inverse),
                             .turn = TABLE(turn),
                             .multiply = multiply,
                             .product = product,
                             .fold = fold,
                             .unfold = unfold,
                             .gather = gather,
                             .scatter = scatter,
                             .rows_load = rows_load,
                             .rows_store = rows_store,
                             .half_store = half_store,
                             .half_load = half_load,
                             .real_store = real_store,
                             .real_load = real_load};
