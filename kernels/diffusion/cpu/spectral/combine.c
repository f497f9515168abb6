#include "kernels/diffusion/cpu/spectral/combine.h"

#include "kernels/common/fft/fft_simd.h"

enum { REALS = 2 * LANES };

FFT_INLINE complex_lanes times(diffusion_factor factor, complex_lanes a, const real *w, int lane) {
  const vreal first = *(const vreal *)(w + lane);
  if (factor == DIFFUSION_ALIKE) return (complex_lanes){a.re * first, a.im * first};
  const vreal second = *(const vreal *)(w + LANES + lane);
  if (factor == DIFFUSION_EACH) return (complex_lanes){a.re * first, a.im * second};
  return c_times(a, first, second);
}

FFT_INLINE void sum_up(const diffusion_stage *stage, const diffusion_column *column, diffusion_factor factor) {
  const int entry = factor == DIFFUSION_ALIKE ? LANES : REALS;
  for (int64_t i = 0; i < column->n; i++) {
    const int64_t p = column->at[i];
    for (int lane = 0; lane < LANES; lane += WIDTH)
      for (int s = 0; s < stage->sets; s++) {
        const diffusion_set *set = &stage->set[s];
        complex_lanes sum = {v_set(0), v_set(0)};
        for (int t = 0; t < set->terms; t++) {
          const diffusion_term *term = &set->term[t];
          const real *from =
              (const real *)column->array[term->source] + (term->source ? p * column->stride : p) * REALS + lane;
          complex_lanes a = {*(const vreal *)from, *(const vreal *)(from + LANES)};
          if (term->source) { /* prefetches the next column */
            __builtin_prefetch(from + REALS, 1, 2);
            __builtin_prefetch(from + REALS + LANES, 1, 2);
          }
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
  switch (column->factor) {
  case DIFFUSION_ALIKE: sum_up(stage, column, DIFFUSION_ALIKE); break;
  case DIFFUSION_EACH: sum_up(stage, column, DIFFUSION_EACH); break;
  case DIFFUSION_COMPLEX: sum_up(stage, column, DIFFUSION_COMPLEX); break;
  }
}
