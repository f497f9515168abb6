#include "kernels/diffusion/spectral.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { X, Y, Z };

struct diffusion_spectral {
  diffusion_grid grid;
  int fields, threads, group;
  bool single;
  fft_packing packing;
  fft_plan *plan[3];
  diffusion_combine *combine;
  int64_t middle, back;                         /* points along the axes of planes (y of three) and of columns */
  int64_t row_points, row_stride, plane_stride; /* in points */
  int64_t slots[3];                             /* different entries of tables along an axis */
  int32_t *slot[2];                             /* [n of Y, Z]: entry of a position */
  int32_t *position;                            /* 0, 1, ...: entries of complex tables */
  size_t thread_bytes, column_bytes, work_bytes, plane_bytes;
  void *memory; /* [threads][thread_bytes]: a column for each field, work, planes for output */
};

static int64_t odd(int64_t n) { return n | 1; }

static fft_packing packing_of(const diffusion_grid *grid) {
  if (grid->kind[X] == FFT_PERIODIC) return FFT_HALF;
  for (int axis = 1; axis < grid->rank; axis++)
    if (grid->kind[axis] == FFT_PERIODIC) return FFT_REAL;
  return FFT_TWO_REAL;
}

static int64_t row_stride(const diffusion_grid *grid, bool single) {
  return odd(fft_row_points(grid->n[X], packing_of(grid), single));
}

double diffusion_field_numbers(const diffusion_grid *grid, bool single) {
  const double row = (double)row_stride(grid, single) * 2 * fft_group(single);
  return grid->rank == 3 ? ((double)grid->n[Y] * row + 2 * fft_group(single)) * (double)grid->n[Z]
                         : (double)grid->n[Y] * row;
}

static int64_t slot_count(const diffusion_grid *grid, int axis, bool complex) {
  return grid->kind[axis] == FFT_PERIODIC && !complex ? grid->n[axis] / 2 + 1 : grid->n[axis];
}

double diffusion_table_numbers(const diffusion_grid *grid, bool single, bool complex) {
  const fft_packing packing = packing_of(grid);
  const double lanes = fft_group(single) * (complex || packing == FFT_TWO_REAL ? 2 : 1);
  double numbers = lanes * (double)fft_row_points(grid->n[X], packing, single);
  for (int axis = 1; axis < grid->rank; axis++) numbers *= (double)slot_count(grid, axis, complex);
  return numbers;
}

double diffusion_scale(const diffusion_grid *grid) {
  double scale = packing_of(grid) == FFT_HALF ? 0.5 : 1;
  for (int axis = 0; axis < grid->rank; axis++) scale /= (double)grid->n[axis];
  return scale;
}

static double round_up(double bytes) { return ceil(bytes / 64) * 64; }

static double work_size(const diffusion_grid *grid) {
  double most = 0;
  for (int axis = 0; axis < grid->rank; axis++) most = fmax(most, fft_work_size(grid->n[axis]));
  return most + 64;
}
static double column_size(const diffusion_grid *grid) {
  double most = 0;
  for (int axis = 0; axis < grid->rank; axis++) most = fmax(most, (double)grid->n[axis]);
  return most * 128 + 64;
}
static double plane_size(const diffusion_grid *grid, bool single) {
  return grid->rank == 3 ? (double)(row_stride(grid, single) * grid->n[Y]) * 128 : 0;
}
static double thread_size(const diffusion_grid *grid, int fields, bool single) {
  return round_up(fields * round_up(column_size(grid)) + round_up(work_size(grid)) + fields * plane_size(grid, single));
}

double diffusion_spectral_bytes(const diffusion_grid *grid, int fields, bool single, int threads) {
  double bytes = threads * thread_size(grid, fields, single);
  for (int axis = 0; axis < grid->rank; axis++)
    bytes += fft_plan_bytes(grid->n[axis], grid->kind[axis], single) + 8.0 * (double)grid->n[axis];
  return bytes;
}

static diffusion_combine *combine_for(bool single, sim_isa isa) {
  static diffusion_combine *const all[SIM_ISA_COUNT][2] = {
    [SIM_ISA_PLAIN] = {diffusion_combine_double_plain, diffusion_combine_single_plain},
#if FFT_X86
    [SIM_ISA_AVX2] = {diffusion_combine_double_avx2, diffusion_combine_single_avx2},
    [SIM_ISA_AVX512] = {diffusion_combine_double_avx512, diffusion_combine_single_avx512},
#endif
  };
  if (isa > sim_isa_best()) isa = sim_isa_best();
  while (!all[isa][single]) isa--;
  return all[isa][single];
}

static bool make_slots(diffusion_spectral *s) {
  const int64_t most = s->middle > s->back ? s->middle : s->back;
  s->position = malloc((size_t)most * sizeof(int32_t));
  if (!s->position) return false;
  for (int64_t p = 0; p < most; p++) s->position[p] = (int32_t)p;
  for (int i = 0; i < 2; i++) {
    const int axis = Y + i;
    s->slots[axis] = 1;
    if (axis >= s->grid.rank) continue;
    const int64_t n = s->grid.n[axis];
    const int32_t *order = fft_order(s->plan[axis]);
    s->slots[axis] = slot_count(&s->grid, axis, false);
    s->slot[i] = malloc((size_t)n * sizeof(int32_t));
    if (!s->slot[i]) return false;
    for (int64_t p = 0; p < n; p++) {
      const int32_t k = order[p];
      s->slot[i][p] =
          s->grid.kind[axis] == FFT_PERIODIC ? (2 * k > n ? (int32_t)n - k : k) : k - (s->grid.kind[axis] == FFT_SINE);
    }
  }
  return true;
}

sim_status diffusion_spectral_create(const diffusion_grid *grid, int fields, bool single, sim_isa isa, int threads,
                                     diffusion_spectral **out) {
  diffusion_spectral *s = calloc(1, sizeof *s);
  *out = s;
  if (!s) return sim_fail(SIM_ERR_NO_MEMORY, "out of memory");
  s->grid = *grid;
  s->fields = fields;
  s->threads = threads;
  s->single = single;
  s->group = fft_group(single);
  s->packing = packing_of(grid);
  s->combine = combine_for(single, isa);
  s->middle = grid->rank == 3 ? grid->n[Y] : 1;
  s->back = grid->rank == 1 ? 1 : grid->n[grid->rank - 1];
  s->row_points = fft_row_points(grid->n[X], s->packing, single);
  s->row_stride = row_stride(grid, single);
  s->plane_stride = grid->rank == 3 ? odd(grid->n[Y] * s->row_stride) : s->row_stride;
  s->column_bytes = (size_t)round_up(column_size(grid));
  s->work_bytes = (size_t)round_up(work_size(grid));
  s->plane_bytes = (size_t)plane_size(grid, single);
  s->thread_bytes = (size_t)thread_size(grid, fields, single);
  sim_status status = SIM_OK;
  for (int axis = 0; status == SIM_OK && axis < grid->rank; axis++)
    status = fft_plan_create(grid->n[axis], grid->kind[axis], single, isa, &s->plan[axis]);
  if (status == SIM_OK) {
    s->memory = aligned_alloc(64, (size_t)threads * s->thread_bytes);
    if (!s->memory || !make_slots(s)) status = sim_fail(SIM_ERR_NO_MEMORY, "no memory for transforms of the grid");
  }
  if (status != SIM_OK) diffusion_spectral_destroy(out);
  return status;
}

void diffusion_spectral_destroy(diffusion_spectral **spectral) {
  diffusion_spectral *s = *spectral;
  if (!s) return;
  for (int axis = 0; axis < 3; axis++) fft_plan_destroy(&s->plan[axis]);
  free(s->slot[0]);
  free(s->slot[1]);
  free(s->position);
  free(s->memory);
  free(s);
  *spectral = NULL;
}

/* ---- planes ---- */

typedef struct bench {
  void *columns[DIFFUSION_FIELDS], *work;
  char *planes; /* [fields], for output */
} bench;

static bench bench_of(const diffusion_spectral *s, int thread) {
  bench b;
  char *at = (char *)s->memory + (size_t)thread * s->thread_bytes;
  for (int f = 0; f < DIFFUSION_FIELDS; f++) {
    b.columns[f] = at;
    if (f < s->fields) at += s->column_bytes;
  }
  b.work = at;
  b.planes = at + s->work_bytes;
  return b;
}

static char *point(const void *field, int64_t offset) { return (char *)(uintptr_t)field + offset * 128; }

/* Rows first ... first + count of a piece; pieces are planes, or some rows of the only plane. */
typedef struct rows_of {
  int64_t z, first, rows;
} rows_of;

static int64_t strip_count(const diffusion_spectral *s) {
  const int64_t rows = 2 * s->group;
  return s->grid.rank == 3 ? s->grid.n[Z] : (s->grid.n[Y] + rows - 1) / rows;
}
static rows_of strip_at(const diffusion_spectral *s, int64_t i) {
  const int64_t rows = 2 * s->group;
  if (s->grid.rank == 3) return (rows_of){i, 0, s->grid.n[Y]};
  return (rows_of){0, i * rows, s->grid.n[Y] - i * rows < rows ? s->grid.n[Y] - i * rows : rows};
}

static void middle_transforms(const diffusion_spectral *s, bool inverse, char *plane, void *work) {
  if (s->grid.rank < 3) return;
  for (int64_t g = 0; g < s->row_points; g++) {
    if (inverse)
      fft_inverse(s->plan[Y], plane + g * 128, s->row_stride, plane + g * 128, s->row_stride, work);
    else
      fft_forward(s->plan[Y], plane + g * 128, s->row_stride, plane + g * 128, s->row_stride, work);
  }
}

/* Lanes without a row repeat the first one: what is computed there must stay finite. */
static void fill_lanes(const diffusion_spectral *s, int64_t rows, void *column) {
  const int lanes = 2 * s->group;
  for (int64_t x = 0; rows < lanes && x < s->grid.n[X]; x++)
    for (int64_t lane = rows; lane < lanes; lane++) {
      if (s->single)
        ((float *)column)[x * lanes + lane] = ((float *)column)[x * lanes];
      else
        ((double *)column)[x * lanes + lane] = ((double *)column)[x * lanes];
    }
}

static void each_piece(const diffusion_spectral *s, const rows_of *strip, int64_t at, const bench *b, int thread,
                       diffusion_pointwise *work, void *context, int64_t rows) {
  if (!work) return;
  for (int f = 0; f < s->fields; f++) fill_lanes(s, rows, b->columns[f]);
  work(context, &(diffusion_piece){.columns = b->columns,
                                   .count = s->grid.n[X] * 2 * s->group,
                                   .row = strip->first + at,
                                   .rows = rows,
                                   .z = strip->z,
                                   .thread = thread});
}

static int64_t rows_left(const diffusion_spectral *s, const rows_of *strip, int64_t at) {
  return strip->rows - at < 2 * s->group ? strip->rows - at : 2 * s->group;
}

static void one_strip(const diffusion_spectral *s, rows_of strip, const bench *b, void *const *fields,
                      diffusion_pointwise *work, void *context, int thread) {
  char *rows[DIFFUSION_FIELDS];
  for (int f = 0; f < s->fields; f++) {
    rows[f] = point(fields[f], strip.z * s->plane_stride + strip.first * s->row_stride);
    middle_transforms(s, true, rows[f], b->work);
  }
  for (int64_t at = 0; at < strip.rows; at += 2 * s->group) {
    const int64_t count = rows_left(s, &strip, at);
    for (int f = 0; f < s->fields; f++) {
      fft_rows_join(s->plan[X], s->packing, rows[f] + at * s->row_stride * 128, s->row_stride, count, b->columns[f]);
      fft_inverse(s->plan[X], b->columns[f], 1, b->columns[f], 1, b->work);
    }
    each_piece(s, &strip, at, b, thread, work, context, count);
    for (int f = 0; f < s->fields; f++) {
      fft_forward(s->plan[X], b->columns[f], 1, b->columns[f], 1, b->work);
      fft_rows_split(s->plan[X], s->packing, b->columns[f], rows[f] + at * s->row_stride * 128, s->row_stride, count);
    }
  }
  for (int f = 0; f < s->fields; f++) middle_transforms(s, false, rows[f], b->work);
}

void diffusion_planes(diffusion_spectral *s, void *const *fields, diffusion_pointwise *work, void *context) {
  const int64_t strips = strip_count(s);
#pragma omp parallel for schedule(static, 1) num_threads(s->threads) if (s->threads > 1)
  for (int t = 0; t < s->threads; t++) {
    const bench b = bench_of(s, t);
    for (int64_t i = strips * t / s->threads; i < strips * (t + 1) / s->threads; i++)
      one_strip(s, strip_at(s, i), &b, fields, work, context, t);
  }
}

static size_t number_size(const diffusion_spectral *s) { return s->single ? sizeof(float) : sizeof(double); }

/* Where a strip's rows are in a real field. */
static char *real_rows(const diffusion_spectral *s, const void *field, const rows_of *strip, int64_t at) {
  const int64_t row = strip->z * s->grid.n[Y] + strip->first + at;
  return (char *)(uintptr_t)field + (size_t)(row * s->grid.n[X]) * number_size(s);
}

void diffusion_planes_load(diffusion_spectral *s, const void *const *real_fields, void *const *fields) {
  const int64_t strips = strip_count(s);
#pragma omp parallel for schedule(static, 1) num_threads(s->threads) if (s->threads > 1)
  for (int t = 0; t < s->threads; t++) {
    const bench b = bench_of(s, t);
    for (int64_t i = strips * t / s->threads; i < strips * (t + 1) / s->threads; i++) {
      const rows_of strip = strip_at(s, i);
      for (int f = 0; f < s->fields; f++) {
        char *rows = point(fields[f], strip.z * s->plane_stride + strip.first * s->row_stride);
        for (int64_t at = 0; at < strip.rows; at += 2 * s->group) {
          const int64_t count = rows_left(s, &strip, at);
          fft_rows_load(s->plan[X], real_rows(s, real_fields[f], &strip, at), s->grid.n[X], count, b.columns[f]);
          fft_forward(s->plan[X], b.columns[f], 1, b.columns[f], 1, b.work);
          fft_rows_split(s->plan[X], s->packing, b.columns[f], rows + at * s->row_stride * 128, s->row_stride, count);
        }
        middle_transforms(s, false, rows, b.work);
      }
    }
  }
}

static void store_strip(const diffusion_spectral *s, rows_of strip, const bench *b, const void *const *fields,
                        void *const *real_fields, diffusion_pointwise *work, void *context, int thread) {
  const char *rows[DIFFUSION_FIELDS];
  for (int f = 0; f < s->fields; f++) {
    rows[f] = point(fields[f], strip.z * s->plane_stride + strip.first * s->row_stride);
    if (s->grid.rank < 3) continue;
    char *plane = b->planes + (size_t)f * s->plane_bytes;
    memcpy(plane, rows[f], s->plane_bytes);
    middle_transforms(s, true, plane, b->work);
    rows[f] = plane;
  }
  for (int64_t at = 0; at < strip.rows; at += 2 * s->group) {
    const int64_t count = rows_left(s, &strip, at);
    for (int f = 0; f < s->fields; f++) {
      fft_rows_join(s->plan[X], s->packing, rows[f] + at * s->row_stride * 128, s->row_stride, count, b->columns[f]);
      fft_inverse(s->plan[X], b->columns[f], 1, b->columns[f], 1, b->work);
    }
    each_piece(s, &strip, at, b, thread, work, context, count);
    for (int f = 0; f < s->fields; f++)
      fft_rows_store(s->plan[X], b->columns[f], real_rows(s, real_fields[f], &strip, at), s->grid.n[X], count);
  }
}

void diffusion_planes_store(diffusion_spectral *s, const void *const *fields, void *const *real_fields,
                            diffusion_pointwise *work, void *context) {
  const int64_t strips = strip_count(s);
#pragma omp parallel for schedule(static, 1) num_threads(s->threads) if (s->threads > 1)
  for (int t = 0; t < s->threads; t++) {
    const bench b = bench_of(s, t);
    for (int64_t i = strips * t / s->threads; i < strips * (t + 1) / s->threads; i++)
      store_strip(s, strip_at(s, i), &b, fields, real_fields, work, context, t);
  }
}

/* ---- columns ---- */

static void one_column(const diffusion_spectral *s, const diffusion_stage *stage, const diffusion_arrays *arrays, int f,
                       int64_t middle, int64_t group, const bench *b, const fft_plan *plan) {
  const int64_t offset = s->grid.rank == 3 ? middle * s->row_stride + group : group;
  char *mixed = point(arrays->array[f][0], offset);
  diffusion_column column = {.n = s->back, .stride = s->plane_stride};
  const int64_t slots = arrays->complex ? s->back : s->slots[s->grid.rank > 1 ? s->grid.rank - 1 : Y];
  const int64_t row = s->grid.rank < 3 ? 0 : arrays->complex ? middle : s->slot[0][middle];
  column.factor = arrays->complex ? DIFFUSION_COMPLEX : s->packing == FFT_TWO_REAL ? DIFFUSION_EACH : DIFFUSION_ALIKE;
  const size_t entry = column.factor == DIFFUSION_ALIKE ? 64 : 128;
  for (int t = 0; t < DIFFUSION_TABLES; t++)
    if (arrays->table[f][t])
      column.table[t] = (char *)arrays->table[f][t] + (size_t)((row * s->row_points + group) * slots) * entry;
  column.slot = arrays->complex || s->grid.rank == 1 ? s->position : s->slot[s->grid.rank - 2];
  column.array[0] = b->columns[0];
  for (int a = 1; a < DIFFUSION_ARRAYS; a++)
    if (arrays->array[f][a]) column.array[a] = point(arrays->array[f][a], offset);
  if (group + 1 < s->row_points) column.ahead = mixed + 128;
  if (stage->forward) {
    if (plan)
      fft_forward(plan, mixed, s->plane_stride, column.array[0], 1, b->work);
    else
      memcpy(column.array[0], mixed, 128);
  }
  s->combine(stage, &column);
  if (!stage->inverse) return;
  if (plan)
    fft_inverse(plan, column.array[0], 1, mixed, s->plane_stride, b->work);
  else
    memcpy(mixed, column.array[0], 128);
}

void diffusion_columns(diffusion_spectral *s, const diffusion_stage *stage, const diffusion_arrays *arrays) {
  const int64_t columns = s->middle * s->row_points;
  const fft_plan *plan = s->grid.rank > 1 ? s->plan[s->grid.rank - 1] : NULL;
#pragma omp parallel for schedule(static, 1) num_threads(s->threads) if (s->threads > 1)
  for (int t = 0; t < s->threads; t++) {
    const bench b = bench_of(s, t);
    for (int64_t i = columns * t / s->threads; i < columns * (t + 1) / s->threads; i++)
      for (int f = 0; f < s->fields; f++)
        one_column(s, stage, arrays, f, i / s->row_points, i % s->row_points, &b, plan);
  }
}

/* ---- tables ---- */

static double wavenumber(const diffusion_grid *grid, int axis, int64_t mode) {
  const double pi = 3.14159265358979323846;
  return (grid->kind[axis] == FFT_PERIODIC ? 2 * pi : pi) * (double)mode / grid->size[axis];
}

/* Mode of an entry along an axis; signed where periodic and `complex`. */
static int64_t mode_of(const diffusion_spectral *s, int axis, int64_t entry, bool complex) {
  const int64_t n = s->grid.n[axis];
  if (axis >= s->grid.rank) return 0;
  if (complex) {
    const int64_t k = fft_order(s->plan[axis])[entry];
    return s->grid.kind[axis] == FFT_PERIODIC && 2 * k > n ? k - n : k;
  }
  return entry + (s->grid.kind[axis] == FFT_SINE);
}

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
