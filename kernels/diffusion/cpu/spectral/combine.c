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

/* Points that are summed together, so that their loads overlap. */
enum { TOGETHER = 4 };

/* Computes a set at `points` positions, for WIDTH lanes. */
FFT_INLINE void sum_set(const diffusion_set *set, const diffusion_column *column, diffusion_factor factor,
                        const int32_t *at, int points, int lane) {
  const int entry = factor == DIFFUSION_ALIKE ? LANES : REALS;
  complex_lanes sum[TOGETHER];
#pragma GCC unroll 4
  for (int i = 0; i < points; i++) sum[i] = (complex_lanes){v_set(0), v_set(0)};
  for (int t = 0; t < set->terms; t++) {
    const diffusion_term *term = &set->term[t];
    const real *source = (const real *)column->array[term->source] + lane;
    const real *table = term->table < 0 ? NULL : (const real *)column->table[term->table];
    const ptrdiff_t stride = (term->source ? column->stride : 1) * REALS, next = column->next * REALS;
    const vreal c = v_set((real)term->coefficient);
#pragma GCC unroll 4
    for (int i = 0; i < points; i++) {
      const real *from = source + at[i] * stride;
      complex_lanes a = {*(const vreal *)from, *(const vreal *)(from + LANES)};
      if (term->source) {
        __builtin_prefetch(from + next, 1, 2);
        __builtin_prefetch(from + next + LANES, 1, 2);
      }
      if (table) {
        const real *factors = table + (ptrdiff_t)column->slot[at[i]] * entry;
        __builtin_prefetch((const char *)factors + column->next_table, 0, 2);
        a = times(factor, a, factors, lane);
      }
      sum[i].re = v_fma(c, a.re, sum[i].re);
      sum[i].im = v_fma(c, a.im, sum[i].im);
    }
  }
  real *target = (real *)column->array[set->target] + lane;
  const ptrdiff_t stride = (set->target ? column->stride : 1) * REALS;
#pragma GCC unroll 4
  for (int i = 0; i < points; i++) {
    *(vreal *)(target + at[i] * stride) = sum[i].re;
    *(vreal *)(target + at[i] * stride + LANES) = sum[i].im;
  }
}

FFT_INLINE void sum_up(const diffusion_stage *stage, const diffusion_column *column, diffusion_factor factor) {
  int64_t i = 0;
  for (; i + TOGETHER <= column->n; i += TOGETHER)
    for (int lane = 0; lane < LANES; lane += WIDTH)
      for (int s = 0; s < stage->sets; s++) sum_set(&stage->set[s], column, factor, column->at + i, TOGETHER, lane);
  for (; i < column->n; i++)
    for (int lane = 0; lane < LANES; lane += WIDTH)
      for (int s = 0; s < stage->sets; s++) sum_set(&stage->set[s], column, factor, column->at + i, 1, lane);
}

void DIFFUSION_COMBINE(const diffusion_stage *stage, const diffusion_column *column) {
  switch (column->factor) {
  case DIFFUSION_ALIKE: sum_up(stage, column, DIFFUSION_ALIKE); break;
  case DIFFUSION_EACH: sum_up(stage, column, DIFFUSION_EACH); break;
  case DIFFUSION_COMPLEX: sum_up(stage, column, DIFFUSION_COMPLEX); break;
  }
}
