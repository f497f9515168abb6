/* Loops over groups of columns; see fft_lanes.h. Compiled once for each instruction set and precision. */
#include "kernels/common/fft/fft_lanes.h"
#include "kernels/common/fft/fft_butterflies.h"

#include <string.h>

enum { REALS = FFT_POINT / (int)sizeof(real) }; /* numbers of a point */
/* Keeps the compiler from knowing more of a pointer. */
#define HIDE(pointer) __asm__("" : "+r"(pointer))

#include "kernels/common/fft/fft_rows.inc"
#include "kernels/common/fft/fft_sweeps.inc"

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
