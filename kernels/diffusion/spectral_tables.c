/* What is made for each wavenumber: tables, and power. */
#include "kernels/diffusion/spectral_parts.h"

#include <math.h>

static void put_number(const diffusion_spectral *s, void *table, int64_t i, double value) {
  if (s->single)
    ((float *)table)[i] = (float)value;
  else
    ((double *)table)[i] = value;
}

void diffusion_tables(diffusion_spectral *s, int tables, void *const *table, bool complex, diffusion_fill *fill,
                      void *context) {
  const int64_t n = s->grid.n[X], lanes = s->packing == FFT_TWO_REAL ? 2 * s->group : s->group;
  const int64_t stored = s->packing == FFT_HALF ? n / 2 + 1 : n;
  const bool each = s->packing == FFT_TWO_REAL || complex;
  const int back_axis = s->grid.rank > 1 ? s->grid.rank - 1 : Y;
  const int64_t slots = complex ? s->back : s->slots[back_axis];
  const int64_t rows = s->grid.rank < 3 ? 1 : complex ? s->middle : s->slots[Y];
#pragma omp parallel for schedule(static) num_threads(s->threads) if (s->threads > 1)
  for (int64_t row = 0; row < rows; row++)
    for (int64_t i = 0; i < s->row_points * lanes; i++)
      for (int64_t slot = 0; slot < slots; slot++) {
        double values[DIFFUSION_TABLES][2] = {{0}}, k[3] = {0};
        int64_t mode[3] = {s->grid.kind[X] == FFT_SINE ? n - i : i, 0, 0};
        if (s->grid.rank == 3) mode[Y] = mode_of(s, Y, row, complex);
        if (s->grid.rank > 1) mode[back_axis] = mode_of(s, back_axis, slot, complex);
        for (int axis = 0; axis < s->grid.rank; axis++) k[axis] = wavenumber(&s->grid, axis, mode[axis]);
        if (i < stored) fill(context, k, mode, values);
        const int64_t at = ((row * s->row_points + i / lanes) * slots + slot) * (each ? 2 * s->group : s->group);
        for (int t = 0; t < tables; t++) {
          put_number(s, table[t], at + i % lanes, values[t][0]);
          if (complex) put_number(s, table[t], at + s->group + i % lanes, values[t][1]);
        }
      }
}

/* How often a mode counts in the mean of squares: what is stored once for k and -k, and cos^2 and sin^2. */
static double weight(const diffusion_spectral *s, int axis, int64_t mode) {
  const int64_t n = s->grid.n[axis];
  switch (s->grid.kind[axis]) {
  case FFT_COSINE: return mode == 0 ? 1 : 2;
  case FFT_SINE: return mode == n ? 1 : 2;
  default: return axis != X || mode == 0 || 2 * mode == n ? 1 : 2;
  }
}

void diffusion_power(const diffusion_spectral *s, const void *coefficients, int bins, double *power) {
  const int64_t n = s->grid.n[X], lanes = 2 * s->group, stored = s->packing == FFT_HALF ? n / 2 + 1 : n;
  double least = INFINITY;
  for (int axis = 0; axis < s->grid.rank; axis++) least = fmin(least, wavenumber(&s->grid, axis, 1));
  for (int b = 0; b < bins; b++) power[b] = 0;
  for (int64_t back = 0; back < s->back; back++)
    for (int64_t middle = 0; middle < s->middle; middle++) {
      const int64_t modes[3] = {0, s->grid.rank == 3 ? mode_of(s, Y, middle, true) : mode_of(s, Y, back, true),
                                s->grid.rank == 3 ? mode_of(s, Z, back, true) : 0};
      const int64_t row = back * s->plane_stride + middle * s->row_stride;
      double square = 0, factor = 1;
      for (int axis = 1; axis < s->grid.rank; axis++) {
        const int64_t mode = modes[axis];
        square += wavenumber(&s->grid, axis, mode) * wavenumber(&s->grid, axis, mode);
        factor *= weight(s, axis, mode);
      }
      for (int64_t i = 0; i < s->row_points * lanes; i++) {
        const int64_t lane = i % lanes, entry = s->packing == FFT_TWO_REAL ? i : i / lanes * s->group + lane % s->group;
        if (entry >= stored) continue;
        const int64_t mode = s->grid.kind[X] == FFT_SINE ? n - entry : entry;
        const double k = wavenumber(&s->grid, X, mode), length = sqrt(square + k * k) / least;
        const double c = s->single ? (double)((const float *)coefficients)[row * lanes + i]
                                   : ((const double *)coefficients)[row * lanes + i];
        const int bin = length + 0.5 < bins ? (int)(length + 0.5) : bins - 1;
        power[bin] += factor * weight(s, X, mode) * c * c;
      }
    }
}
