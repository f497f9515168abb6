/* The pass over planes. */
#include "kernels/diffusion/cpu/spectral/parts.h"

#include <omp.h>
#include <string.h>

/* Rows first <= i < first + count of a strip, numbered on the whole grid. Strips are planes, or some rows of the only
 * plane. */
typedef struct rows_of {
  int64_t z, first, rows;
} rows_of;

/* Returns the number of strips of the slab. */
static int64_t strip_count(const diffusion_spectral *s) {
  const int64_t rows = 2 * s->group, own = s->slab.end - s->slab.first;
  return s->grid.rank == 3 ? own : (own + rows - 1) / rows;
}
static rows_of strip_at(const diffusion_spectral *s, int64_t i) {
  const int64_t rows = 2 * s->group, first = s->slab.first + i * rows;
  if (s->grid.rank == 3) return (rows_of){s->slab.first + i, 0, s->grid.n[Y]};
  return (rows_of){0, first, s->slab.end - first < rows ? s->slab.end - first : rows};
}
/* Returns the number of a strip's first point in a field. */
static int64_t strip_begin(const diffusion_spectral *s, const rows_of *strip) {
  if (s->grid.rank == 3) return (strip->z - s->slab.first) * s->plane_stride;
  return (strip->first - s->slab.first) * s->row_stride;
}

/* Copies the coefficients of a derivative between walls from the positions of the field's series to those of the
 * derivative's series. */
static void copy_turned(const diffusion_spectral *s, int axis, const char *source, int64_t stride, char *target) {
  for (int64_t p = 0; p < s->grid.n[axis]; p++) {
    const int64_t from = s->from[axis][p];
    if (from < 0)
      memset(target + p * 128, 0, 128);
    else
      memcpy(target + p * 128, source + from * stride * 128, 128);
  }
}

/* Makes the inverse transform along y of a derivative along y between walls. `column`: scratch of a column. */
static void turned_transforms(const diffusion_spectral *s, const char *plane, char *to, char *column, void *work) {
  for (int64_t g = 0; g < s->row_points; g++) {
    copy_turned(s, Y, plane + g * 128, s->row_stride, column);
    fft_inverse(s->turned[Y], column, 1, to + g * 128, s->row_stride, work, NULL);
  }
}

/* Makes the transforms along y of a column's plane, in place or, inverse ones, to another plane. */
static void middle_transforms(const diffusion_spectral *s, int column, bool inverse, char *plane, char *to, void *work,
                              fft_ahead *next) {
  const fft_plan *plan = s->of[column][Y];
  if (s->grid.rank < 3) return;
  if (has_pairs(s) && inverse) diffusion_pair(s, plane);
  for (int64_t g = 0; g < s->kept_points - has_pairs(s); g++) {
    if (inverse)
      fft_inverse(plan, plane + g * 128, s->row_stride, to + g * 128, s->row_stride, work, next);
    else
      fft_forward(plan, plane + g * 128, s->row_stride, plane + g * 128, s->row_stride, work, NULL);
  }
  if (has_pairs(s) && !inverse) diffusion_unpair(s, plane);
}

static fft_packing packing(const diffusion_spectral *s) { return s->paired ? FFT_HALF_PAIRED : s->packing; }

/* Makes the inverse transforms of an input: a field or a derivative. */
static void inverse_middle(const diffusion_spectral *s, int input, char *plane, char *to, const bench *b,
                           fft_ahead *next) {
  if (s->grid.rank == 3 && is_turned(s, input, Y))
    turned_transforms(s, plane, to, b->spare[0], b->work);
  else
    middle_transforms(s, input, true, plane, to, b->work, next);
}
static void inverse_rows(const diffusion_spectral *s, int input, const char *rows, int64_t count, void *column,
                         const bench *b, fft_ahead *next) {
  fft_rows_join(s->plan[X], packing(s), rows, s->row_stride, count, column);
  if (is_turned(s, input, X)) {
    copy_turned(s, X, column, 1, b->spare[0]);
    fft_inverse(s->turned[X], b->spare[0], 1, column, 1, b->work, next);
  } else {
    fft_inverse(s->of[input][X], column, 1, column, 1, b->work, next);
  }
}

/* Lanes without a row repeat the first row: the pointwise work must see no invalid numbers there. */
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

static void each_piece(const diffusion_spectral *s, const rows_of *strip, int64_t at, bench *b,
                       diffusion_pointwise *work, void *context, int64_t rows) {
  if (!work) return;
  for (int f = 0; f < s->inputs; f++) fill_lanes(s, rows, b->columns[f]);
  work(context, &(diffusion_piece){.columns = b->columns,
                                   .spare = b->spare,
                                   .count = s->grid.n[X] * 2 * s->group,
                                   .row = strip->first + at,
                                   .rows = rows,
                                   .z = strip->z});
}

static int64_t rows_left(const diffusion_spectral *s, const rows_of *strip, int64_t at) {
  return strip->rows - at < 2 * s->group ? strip->rows - at : 2 * s->group;
}

/* What is prefetched of the next plane beside rows at <= y < at + count of this one, `rows`. Of planes that dealiasing
 * cuts it is that of the first input, kept rows alone; the others follow while y is transformed. */
static fft_ahead plane_ahead(const diffusion_spectral *s, int input, const char *rows, int64_t at, int64_t count) {
  const char *next = rows + s->plane_stride * 128;
  const int64_t low = s->kept_rows * at / s->grid.n[Y], high = s->kept_rows * (at + count) / s->grid.n[Y];
  if (!s->kept_row)
    return (fft_ahead){.at = next + at * s->row_stride * 128,
                       .step = s->row_stride * 64,
                       .lines = (int)s->row_stride,
                       .left = 2 * (int)count};
  return (fft_ahead){.at = next,
                     .step = s->row_stride * 128,
                     .lines = 2 * (int)s->kept_points,
                     .left = input == 0 ? (int)(high - low) : 0,
                     .pieces = s->kept_row + low};
}

/* What is prefetched during the inverse transforms along x of `count` rows of an input: the rows that are transformed
 * next, of this plane, whose inputs together fill the second-level cache. Only of planes that dealiasing cuts; from
 * others, plane_ahead brings more. */
static fft_ahead rows_ahead(const diffusion_spectral *s, char *const *rows, int input, int64_t at, int64_t count) {
  const bool last = input + 1 == s->inputs;
  const int64_t first = last ? at + count : at, left = s->grid.n[Y] - first;
  return (fft_ahead){.at = rows[last ? 0 : input + 1] + first * s->row_stride * 128,
                     .step = s->row_stride * 128,
                     .lines = 2 * (int)s->kept_points,
                     .left = (int)(left < count ? left : count)};
}

/* Transforms one strip. `more`: the next strip belongs to the same run, and its rows are prefetched. */
static void one_strip(const diffusion_spectral *s, rows_of strip, bool more, bench *b, void *const *fields,
                      diffusion_pointwise *work, void *context) {
  char *rows[DIFFUSION_COLUMNS];
  fft_ahead next[DIFFUSION_COLUMNS];
  char *fluxes[DIFFUSION_FLUXES];
  for (int f = 0; f < s->inputs; f++) {
    char *const mixed = point(fields[f], strip_begin(s, &strip));
    /* a derivative is not needed afterwards: in memory of the thread it never leaves the caches */
    rows[f] = s->grid.rank == 3 && f >= s->fields ? b->planes + (size_t)(f - s->fields) * s->plane_bytes : mixed;
    fft_ahead other = {.left = 0};
    if (s->kept_row && f + 1 < s->inputs) /* the plane of the next input */
      other = (fft_ahead){.at = point(fields[f + 1], strip_begin(s, &strip)),
                          .step = s->row_stride * 128,
                          .lines = 2 * (int)s->kept_points,
                          .left = (int)s->kept_rows,
                          .pieces = s->kept_row};
    inverse_middle(s, f, mixed, rows[f], b, &other);
  }
  for (int i = 0; i < s->results - s->fields; i++) fluxes[i] = point(fields[s->inputs + i], strip_begin(s, &strip));
  for (int64_t at = 0; at < strip.rows; at += 2 * s->group) {
    const int64_t count = rows_left(s, &strip, at);
    for (int f = 0; f < s->inputs; f++) {
      const char *mixed = point(fields[f], strip_begin(s, &strip));
      fft_ahead same = s->kept_row ? rows_ahead(s, rows, f, at, count) : (fft_ahead){.left = 0};
      next[f] = more ? plane_ahead(s, f, mixed, at, count) : (fft_ahead){.left = 0};
      inverse_rows(s, f, rows[f] + at * s->row_stride * 128, count, b->columns[f], b, s->kept_row ? &same : &next[f]);
    }
    each_piece(s, &strip, at, b, work, context, count);
    for (int f = 0; f < s->fields; f++) {
      fft_forward(s->of[f][X], b->columns[f], 1, b->columns[f], 1, b->work, &next[f]);
      fft_rows_split(s->plan[X], packing(s), b->columns[f], rows[f] + at * s->row_stride * 128, s->row_stride, count);
    }
    for (int i = s->fields; i < s->results; i++) {
      fft_forward(s->of[s->inputs + i - s->fields][X], b->spare[i], 1, b->spare[i], 1, b->work, NULL);
      fft_rows_split(s->plan[X], packing(s), b->spare[i], fluxes[i - s->fields] + at * s->row_stride * 128,
                     s->row_stride, count);
    }
  }
  for (int f = 0; f < s->fields; f++) middle_transforms(s, f, false, rows[f], rows[f], b->work, NULL);
  for (int i = 0; i < s->results - s->fields; i++)
    middle_transforms(s, s->inputs + i, false, fluxes[i], fluxes[i], b->work, NULL);
}

void diffusion_planes(diffusion_spectral *s, void *const *fields, diffusion_pointwise *work, void *context) {
  const int64_t strips = strip_count(s);
  const runs given = runs_of(strips, team(s, strips));
#pragma omp parallel for schedule(dynamic, 1) num_threads(given.threads) if (given.threads > 1)
  for (int64_t r = 0; r < given.count; r++) {
    bench b = bench_of(s, omp_get_thread_num());
    int64_t first, end;
    run_at(&given, r, &first, &end);
    for (int64_t i = first; i < end; i++)
      one_strip(s, strip_at(s, i), s->grid.rank == 3 && i + 1 < end, &b, fields, work, context);
  }
}

static size_t number_size(const diffusion_spectral *s) { return s->single ? sizeof(float) : sizeof(double); }

/* Returns the address of a strip's rows in a real field of the slab. */
static char *real_rows(const diffusion_spectral *s, const void *field, const rows_of *strip, int64_t at) {
  const int64_t before = s->slab.first * (s->grid.rank == 3 ? s->grid.n[Y] : 1);
  const int64_t row = strip->z * s->grid.n[Y] + strip->first - before + at;
  return (char *)(uintptr_t)field + (size_t)(row * s->grid.n[X]) * number_size(s);
}

void diffusion_planes_load(diffusion_spectral *s, const void *const *real_fields, void *const *fields) {
  const int64_t strips = strip_count(s);
  const int threads = team(s, strips);
#pragma omp parallel for schedule(static, 1) num_threads(threads) if (threads > 1)
  for (int t = 0; t < threads; t++) {
    const bench b = bench_of(s, t);
    for (int64_t i = strips * t / threads; i < strips * (t + 1) / threads; i++) {
      const rows_of strip = strip_at(s, i);
      for (int f = 0; f < s->fields; f++) {
        char *rows = point(fields[f], strip_begin(s, &strip));
        for (int64_t at = 0; at < strip.rows; at += 2 * s->group) {
          const int64_t count = rows_left(s, &strip, at);
          fft_rows_load(s->plan[X], real_rows(s, real_fields[f], &strip, at), s->grid.n[X], count, b.columns[f]);
          fft_forward(s->of[f][X], b.columns[f], 1, b.columns[f], 1, b.work, NULL);
          fft_rows_split(s->plan[X], packing(s), b.columns[f], rows + at * s->row_stride * 128, s->row_stride, count);
        }
        middle_transforms(s, f, false, rows, rows, b.work, NULL);
      }
    }
  }
}

static void store_strip(const diffusion_spectral *s, rows_of strip, bench *b, const void *const *fields,
                        const int *gradients, void *const *real_fields, diffusion_pointwise *work, void *context) {
  const char *rows[DIFFUSION_FIELDS];
  for (int f = 0; f < s->fields; f++) {
    rows[f] = point(fields[f], strip_begin(s, &strip));
    if (s->grid.rank < 3) continue;
    char *plane = b->planes + (size_t)f * s->plane_bytes;
    memcpy(plane, rows[f], s->plane_bytes);
    inverse_middle(s, gradients ? s->fields + gradients[f] : f, plane, plane, b, NULL);
    rows[f] = plane;
  }
  for (int64_t at = 0; at < strip.rows; at += 2 * s->group) {
    const int64_t count = rows_left(s, &strip, at);
    for (int f = 0; f < s->fields; f++) {
      const int input = gradients ? s->fields + gradients[f] : f;
      inverse_rows(s, input, rows[f] + at * s->row_stride * 128, count, b->columns[f], b, NULL);
    }
    each_piece(s, &strip, at, b, work, context, count);
    for (int f = 0; f < s->fields; f++)
      fft_rows_store(s->plan[X], b->columns[f], real_rows(s, real_fields[f], &strip, at), s->grid.n[X], count);
  }
}

void diffusion_planes_store(diffusion_spectral *s, const void *const *fields, const int *gradients,
                            void *const *real_fields, diffusion_pointwise *work, void *context) {
  const int64_t strips = strip_count(s);
  const int threads = team(s, strips);
#pragma omp parallel for schedule(static, 1) num_threads(threads) if (threads > 1)
  for (int t = 0; t < threads; t++) {
    bench b = bench_of(s, t);
    for (int64_t i = strips * t / threads; i < strips * (t + 1) / threads; i++)
      store_strip(s, strip_at(s, i), &b, fields, gradients, real_fields, work, context);
  }
}
