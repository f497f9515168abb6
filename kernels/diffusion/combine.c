#include "kernels/diffusion/combine.h"

#include "kernels/common/fft_simd.h"

enum { REALS = 2 * LANES };

FFT_INLINE complex_lanes times(diffusion_factor factor, complex_lanes a, const real *w, int lane) {
  const vreal first = *(const vreal *)(w + lane);
  if (factor == DIFFUSION_ALIKE) return (complex_lanes){a.re * first, a.im * first};
  const vreal second = *(const vreal *)(w + LANES + lane);
  if (factor == DIFFUSION_EACH) return (complex_lanes){a.re * first, a.im * second};
  return c_times(a, first, second);
}

FFT_INLINE void fetch(const diffusion_column *column, int64_t p) {
  if (!column->ahead) return;
  const char *next = column->ahead + p * column->stride * REALS * (ptrdiff_t)sizeof(real);
  __builtin_prefetch(next, 1, 2);
  __builtin_prefetch(next + 64, 1, 2);
}

/* The column times a table: all that a split step does. */
FFT_INLINE void scale(const diffusion_set *set, const diffusion_column *column, diffusion_factor factor) {
  real *x = column->array[0];
  const real *table = column->table[set->term[0].table];
  const int entry = factor == DIFFUSION_ALIKE ? LANES : REALS;
  for (int64_t p = 0; p < column->n; p++, x += REALS) {
    const real *w = table + (ptrdiff_t)column->slot[p] * entry;
    fetch(column, p);
    for (int lane = 0; lane < LANES; lane += WIDTH) {
      const complex_lanes a =
          times(factor, (complex_lanes){*(vreal *)(x + lane), *(vreal *)(x + LANES + lane)}, w, lane);
      *(vreal *)(x + lane) = a.re;
      *(vreal *)(x + LANES + lane) = a.im;
    }
  }
}

FFT_INLINE void sum_up(const diffusion_stage *stage, const diffusion_column *column, diffusion_factor factor) {
  const int entry = factor == DIFFUSION_ALIKE ? LANES : REALS;
  for (int64_t p = 0; p < column->n; p++) {
    fetch(column, p);
    for (int lane = 0; lane < LANES; lane += WIDTH)
      for (int s = 0; s < stage->sets; s++) {
        const diffusion_set *set = &stage->set[s];
        complex_lanes sum = {v_set(0), v_set(0)};
        for (int t = 0; t < set->terms; t++) {
          const diffusion_term *term = &set->term[t];
          const real *from =
              (const real *)column->array[term->source] + (term->source ? p * column->stride : p) * REALS + lane;
          complex_lanes a = {*(const vreal *)from, *(const vreal *)(from + LANES)};
          if (term->table >= 0)
            a = times(factor, a, (const real *)column->table[term->table] + (ptrdiff_t)column->slot[p] * entry, lane);
          const vreal c = v_set((real)term->coefficient);
          sum.re = v_fma(c, a.re, sum.re);
          sum.im = v_fma(c, a.im, sum.im);
        }
        real *to = (real *)column->array[set->target] + (set->target ? p * column->stride : p) * REALS + lane;
        *(vreal *)to = sum.re;
        *(vreal *)(to + LANES) = sum.im;
      }
  }
}

void DIFFUSION_COMBINE(const diffusion_stage *stage, const diffusion_column *column) {
  const diffusion_set *set = &stage->set[0];
  const int simple = stage->sets == 1 && set->target == 0 && set->terms == 1 && set->term[0].source == 0 &&
                     set->term[0].table >= 0 && set->term[0].coefficient == 1;
  switch (column->factor) {
  case DIFFUSION_ALIKE: simple ? scale(set, column, DIFFUSION_ALIKE) : sum_up(stage, column, DIFFUSION_ALIKE); break;
  case DIFFUSION_EACH: simple ? scale(set, column, DIFFUSION_EACH) : sum_up(stage, column, DIFFUSION_EACH); break;
  case DIFFUSION_COMPLEX:
    simple ? scale(set, column, DIFFUSION_COMPLEX) : sum_up(stage, column, DIFFUSION_COMPLEX);
    break;
  }
}
