/* Results for each wavenumber: tables and power spectra. */
#include "kernels/common/fft/power.h"
#include "kernels/diffusion/cpu/spectral/parts.h"

#include <math.h>
#include <string.h>

/* Fills tables. each_mode: an entry for each of k and -k; pair: entries are complex. */
static void make_tables(diffusion_spectral *s, int source, int tables, void *const *table, bool each_mode, bool pair,
                        diffusion_fill *fill, void *context) {
  const int64_t n = s->grid.n[X], lanes = s->packing == FFT_TWO_REAL ? 2 * s->group : s->group;
  const int64_t stored = s->packing == FFT_HALF ? n / 2 + 1 : n;
  const bool each = s->packing == FFT_TWO_REAL || pair;
  const int back_axis = s->grid.rank > 1 ? s->grid.rank - 1 : Y;
  const int64_t slots = each_mode ? s->slab.backs : s->slots[back_axis];
  const int64_t middles = s->slab.middle_end - s->slab.middle_first, before = s->slab.group_first;
  const int64_t groups = s->slab.group_end - before;
  const int64_t rows = s->grid.rank < 3 ? 1 : each_mode ? middles : s->slots[Y];
#pragma omp parallel for schedule(static) num_threads(s->threads) if (s->threads > 1)
  for (int64_t row = 0; row < rows; row++)
    for (int64_t i = before * lanes; i < (before + groups) * lanes; i++)
      for (int64_t slot = 0; slot < slots; slot++) {
        double values[DIFFUSION_TABLES][2] = {{0}}, k[3] = {0};
        int64_t mode[3] = {mode_along_x(s, source, i), 0, 0};
        if (s->grid.rank == 3) mode[Y] = table_mode(s, source, Y, row, each_mode);
        const bool last = is_last(s, i / lanes); /* then the row is a group of positions along y */
        const int64_t position = last_positions(s, row) + i % lanes;
        if (last && position < s->middle) {
          mode[X] = n / 2;
          mode[Y] = mode_of(s, source, Y, position, true);
          if (!each_mode && mode[Y] < 0) mode[Y] = -mode[Y];
        }
        if (s->grid.rank > 1) mode[back_axis] = table_mode(s, source, back_axis, slot, each_mode);
        for (int axis = 0; axis < s->grid.rank; axis++) k[axis] = wave_along(s, source, axis, mode[axis]);
        if ((last ? position < s->middle : i < stored) && diffusion_keeps(s, mode)) fill(context, k, mode, values);
        const int64_t at = ((row * groups + i / lanes - before) * slots + slot) * (each ? 2 * s->group : s->group);
        for (int t = 0; t < tables; t++) {
          grid_set_number(table[t], s->single, at + i % lanes, values[t][0]);
          if (pair) grid_set_number(table[t], s->single, at + s->group + i % lanes, values[t][1]);
        }
      }
}

void diffusion_tables(diffusion_spectral *s, int field, int tables, void *const *table, bool complex,
                      diffusion_fill *fill, void *context) {
  make_tables(s, field, tables, table, complex, complex, fill, context);
}

void diffusion_symbol_table(diffusion_spectral *s, int source, diffusion_parts parts, void *table, diffusion_fill *fill,
                            void *context) {
  const bool walled = s->packing == FFT_TWO_REAL;
  make_tables(s, source, 1, &table, !walled, !walled && parts == DIFFUSION_BOTH, fill, context);
}

/* Returns the lanes of a point with wavenumbers of a row. */
static int64_t lanes_used(const diffusion_spectral *s, int64_t group) {
  int64_t lanes = 0;
  while (lanes < s->group && 2 * (group * s->group + lanes) <= s->grid.n[X]) lanes++;
  return lanes;
}

/* Whether an entry is, in the lanes that are used, the same as `other`. */
static bool is_same(const diffusion_spectral *s, bool pair, const char *entry, const char *other, int64_t lanes) {
  const size_t number = s->single ? sizeof(float) : sizeof(double), bytes = (size_t)lanes * number;
  const size_t half = (size_t)s->group * number;
  return memcmp(entry, other, bytes) == 0 && (!pair || memcmp(entry + half, other + half, bytes) == 0);
}

diffusion_extent diffusion_symbol_shrink(const diffusion_spectral *s, diffusion_parts parts, void *table,
                                         double *numbers) {
  const int64_t middles = s->slab.middle_end - s->slab.middle_first, groups = s->slab.group_end - s->slab.group_first;
  const bool pair = parts == DIFFUSION_BOTH;
  const int64_t slots = s->slab.backs, lanes = pair ? 2 * s->group : s->group;
  const size_t entry = (size_t)lanes * (s->single ? sizeof(float) : sizeof(double));
  bool one_column = true, one_point = true;
  char *const entries = table;
  if (!(s->fraction > 0) || s->kept_middles == 0 || s->kept_backs == 0) return DIFFUSION_WHOLE;
  const char *first_column = entries + (size_t)(s->kept_middle[0] * groups * slots) * entry;
  for (int64_t m = 0; m < s->kept_middles; m++)
    for (int64_t g = 0; g < groups && (one_column || one_point); g++) {
      const char *column = entries + (size_t)((s->kept_middle[m] * groups + g) * slots) * entry;
      const int64_t group = g + s->slab.group_first, kept = group < s->kept_points ? lanes_used(s, group) : 0;
      for (int64_t i = 0; i < s->kept_backs && kept > 0; i++) {
        const size_t slot = (size_t)s->kept_back[i] * entry;
        one_point = one_point && is_same(s, pair, column + slot, column + (size_t)s->kept_back[0] * entry, kept);
        one_column = one_column && is_same(s, pair, column + slot, first_column + slot, kept);
      }
    }
  if (one_point)
    for (int64_t c = 0; c < middles * groups; c++)
      memmove(entries + (size_t)c * entry, entries + (size_t)(c * slots + s->kept_back[0]) * entry, entry);
  else if (one_column)
    memmove(entries, first_column, (size_t)slots * entry);
  *numbers = (double)((one_point ? middles * groups : slots) * lanes);
  return one_point ? DIFFUSION_ONE_POINT : one_column ? DIFFUSION_ONE_COLUMN : DIFFUSION_WHOLE;
}

void diffusion_each_number(const diffusion_spectral *s, int field, diffusion_visit *work, void *context) {
  const diffusion_slab *slab = &s->slab;
  const int64_t n = s->grid.n[X], lanes = 2 * s->group, stored = s->packing == FFT_HALF ? n / 2 + 1 : n;
  for (int64_t point_back = 0; point_back < slab->backs; point_back++)
    for (int64_t middle = slab->middle_first; middle < slab->middle_end; middle++) {
      const int64_t back = point_back + s->back_first;
      const int64_t modes[3] = {0, mode_of(s, field, Y, s->grid.rank == 3 ? middle : back, true),
                                s->grid.rank == 3 ? mode_of(s, field, Z, back, true) : 0};
      const int64_t row = point_back * slab->stride + middle * s->row_stride - slab->origin;
      const int64_t columns = columns_in_row(s, middle);
      const int64_t end = columns < slab->group_end ? columns : slab->group_end;
      double squares[3] = {0}, factor = 1;
      for (int axis = 1; axis < s->grid.rank; axis++) {
        const int64_t mode = modes[axis];
        squares[axis] = wave_along(s, field, axis, mode) * wave_along(s, field, axis, mode);
        factor *= diffusion_weight(s, field, axis, mode);
      }
      for (int64_t i = slab->group_first * lanes; i < end * lanes; i++) {
        const int64_t lane = i % lanes, entry = s->packing == FFT_TWO_REAL ? i : i / lanes * s->group + lane % s->group;
        const bool last = is_last(s, i / lanes);
        if (last ? middle + i % s->group >= s->middle : entry >= stored) continue;
        const int64_t along_x = last ? n / 2 : mode_along_x(s, field, entry);
        const int64_t along_y = last ? mode_of(s, field, Y, middle + i % s->group, true) : modes[Y];
        const double k = wave_along(s, field, X, along_x), y = last ? wave_along(s, field, Y, along_y) : 0;
        work(context, &(diffusion_number){.at = row * lanes + i,
                                          .k2 = (last ? y * y : squares[Y]) + squares[Z] + k * k,
                                          .weight = factor * diffusion_weight(s, field, X, along_x),
                                          .mode = {along_x, along_y, modes[Z]},
                                          .imaginary = s->packing != FFT_TWO_REAL && lane >= s->group,
                                          .column = {middle, i / lanes}});
      }
    }
}

double diffusion_least_wave(const diffusion_spectral *s) {
  double least = INFINITY;
  for (int axis = 0; axis < s->grid.rank; axis++)
    if (axis == 0 || axis != s->grid.member_axis) least = fmin(least, wavenumber(&s->grid, axis, 1));
  return least;
}

typedef struct bins {
  const diffusion_spectral *s;
  const void *coefficients, *others;
  double least, *sums;
  int count;
} bins;

static void add_to_bin(void *context, const diffusion_number *number) {
  const bins *b = context;
  const double c = grid_number(b->coefficients, b->s->single, number->at);
  const double d = grid_number(b->others, b->s->single, number->at);
  b->sums[fft_bin(number->k2, b->least, b->count)] += number->weight * c * d;
}

void diffusion_power(const diffusion_spectral *s, int field, const void *coefficients, const void *others, int count,
                     double *power) {
  bins b = {.s = s,
            .coefficients = coefficients,
            .others = others ? others : coefficients,
            .least = diffusion_least_wave(s),
            .sums = power,
            .count = count};
  for (int i = 0; i < count; i++) power[i] = 0;
  diffusion_each_number(s, field, add_to_bin, &b);
}

double diffusion_row_power(const diffusion_spectral *s, const void *coefficients, int64_t y, double low, double high) {
  const int64_t n = s->grid.n[X], lanes = 2 * s->group, stored = s->packing == FFT_HALF ? n / 2 + 1 : n;
  double power = 0;
  for (int64_t i = 0; i < s->row_points * lanes; i++) {
    const int64_t lane = i % lanes, entry = s->packing == FFT_TWO_REAL ? i : i / lanes * s->group + lane % s->group;
    const int64_t mode = mode_along_x(s, 0, entry), at = y * s->plane_stride * lanes + i;
    if (entry >= stored || !((double)mode > low && (double)mode <= high)) continue;
    const double c = grid_number(coefficients, s->single, at);
    power += diffusion_weight(s, 0, X, mode) * c * c;
  }
  return power;
}
