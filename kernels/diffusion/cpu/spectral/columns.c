/* The pass over columns. */
#include "kernels/diffusion/cpu/spectral/parts.h"

#include <omp.h>
#include <string.h>

/* Neighbouring columns that are prefetched together: of one field, and of all fields and derivatives. */
enum { BESIDE = 9, BESIDE_JOINED = 2 };

/* A range of neighbouring columns. */
typedef struct columns_of {
  int64_t middle, first, end;
} columns_of;

/* Copies the points of a column that is not transformed. */
static void copy_points(int64_t count, const void *source, int64_t source_stride, void *target, int64_t target_stride) {
  for (int64_t p = 0; p < count; p++)
    memcpy((char *)target + p * target_stride * 128, (const char *)source + p * source_stride * 128, 128);
}

static bool has_gradients(const diffusion_spectral *s, int f) {
  for (int g = 0; g < s->gradients.count; g++)
    if (s->gradients.of[g].field == f) return true;
  return false;
}

/* Return, in points, the stride from plane to plane of mixed fields, and the offset of the first column. */
static int64_t stride_of(const diffusion_spectral *s, const diffusion_arrays *arrays) {
  return arrays->shared ? s->plane_stride : s->slab.stride;
}
static int64_t origin_of(const diffusion_spectral *s, const diffusion_arrays *arrays) {
  return arrays->shared ? s->slab.origin : 0;
}

/* A column of one field: its mixed points, and where its arrays and tables begin. */
typedef struct column_at {
  char *mixed;
  int64_t stride; /* of the mixed points */
  diffusion_column column;
} column_at;

/* next: the column that follows, whose arrays and tables are prefetched. */
static column_at column_of(const diffusion_spectral *s, const diffusion_arrays *arrays, int f, const diffusion_at *at,
                           const diffusion_at *next) {
  const int64_t beside = (next->middle - at->middle) * s->row_stride + next->group - at->group;
  const int64_t offset = at->middle * s->row_stride + at->group - s->slab.origin, backs = s->slab.backs;
  column_at c = {.mixed = point(arrays->array[f][0], offset + origin_of(s, arrays)),
                 .stride = stride_of(s, arrays),
                 .column = {.n = s->kept_backs, .at = s->kept_back, .stride = s->slab.stride, .next = beside}};
  const int64_t slots = arrays->complex ? backs : s->slots[s->grid.rank > 1 ? s->grid.rank - 1 : Y];
  const int64_t row = table_row(s, at->middle, at->group, arrays->complex);
  const int64_t groups = s->slab.group_end - s->slab.group_first;
  const int64_t next_row = table_row(s, next->middle, next->group, arrays->complex);
  c.column.factor = arrays->complex ? DIFFUSION_COMPLEX : s->packing == FFT_TWO_REAL ? DIFFUSION_EACH : DIFFUSION_ALIKE;
  const size_t entry = c.column.factor == DIFFUSION_ALIKE ? 64 : 128;
  c.column.next_table = ((next_row - row) * groups + next->group - at->group) * slots * (int64_t)entry;
  for (int t = 0; t < DIFFUSION_TABLES; t++)
    if (arrays->table[f][t])
      c.column.table[t] =
          (char *)arrays->table[f][t] + (size_t)((row * groups + at->group - s->slab.group_first) * slots) * entry;
  c.column.slot = arrays->complex || s->grid.rank == 1 ? s->position : s->slot[s->grid.rank - 2] + s->back_first;
  for (int a = 1; a < DIFFUSION_ARRAYS; a++)
    if (arrays->array[f][a]) c.column.array[a] = point(arrays->array[f][a], offset);
  return c;
}

/* Returns the transform along the columns of a field, gradient or flux; NULL: none. */
static const fft_plan *plan_along(const diffusion_spectral *s, int column) {
  return s->grid.rank > 1 ? s->of[column][s->grid.rank - 1] : NULL;
}

static void transform_forward(const diffusion_spectral *s, const fft_plan *plan, const void *source, int64_t stride,
                              void *target, const bench *b, fft_ahead *next) {
  if (plan)
    fft_forward(plan, source, stride, target, 1, b->work, next);
  else
    copy_points(s->slab.backs, source, stride, target, 1);
}
static void transform_inverse(const diffusion_spectral *s, const fft_plan *plan, void *source, void *target,
                              int64_t stride, const bench *b, fft_ahead *next) {
  if (plan)
    fft_inverse(plan, source, 1, target, stride, b->work, next);
  else
    copy_points(s->slab.backs, source, 1, target, stride);
}

/* Computes the derivatives of the field or derived field with this number from its column. */
static void write_gradients(const diffusion_spectral *s, const diffusion_arrays *arrays, int field, void *column,
                            const diffusion_at *at, const bench *b, fft_ahead *next) {
  const int64_t offset = at->middle * s->row_stride + at->group - s->slab.origin + origin_of(s, arrays);
  int value = -1; /* the field itself comes last: its inverse transform overwrites the column */
  for (int g = 0; g < s->gradients.count; g++) {
    if (s->gradients.of[g].field != field) continue;
    if (s->gradients.of[g].kind == DIFFUSION_VALUE) {
      value = g;
      continue;
    }
    s->on->derive(s, field, (diffusion_kind)s->gradients.of[g].kind, at, column, b->spare[0]);
    transform_inverse(s, plan_along(s, s->fields + g), b->spare[0], point(arrays->gradient[g], offset),
                      stride_of(s, arrays), b, next);
  }
  if (value >= 0)
    transform_inverse(s, plan_along(s, s->fields + value), column, point(arrays->gradient[value], offset),
                      stride_of(s, arrays), b, next);
}

static void one_column(const diffusion_spectral *s, const diffusion_stage *stage, const diffusion_arrays *arrays, int f,
                       const diffusion_at *at, const diffusion_at *then, const bench *b, fft_ahead *next) {
  column_at c = column_of(s, arrays, f, at, then);
  const fft_plan *plan = plan_along(s, f);
  if (plan && c.column.factor == DIFFUSION_ALIKE && fft_can_filter(plan) && diffusion_only_scales(stage) &&
      !has_gradients(s, f)) {
    fft_filter(plan, c.mixed, c.stride, c.mixed, c.stride, c.column.table[stage->set[0].term[0].table], c.column.slot,
               b->work, next);
    return;
  }
  c.column.array[0] = b->columns[0];
  if (stage->forward) transform_forward(s, plan, c.mixed, c.stride, c.column.array[0], b, next);
  s->combine(stage, &c.column);
  if (!stage->inverse) return;
  write_gradients(s, arrays, f, c.column.array[0], at, b, NULL);
  transform_inverse(s, plan, c.column.array[0], c.mixed, c.stride, b, next);
}

/* Subtracts the divergence of a field's fluxes from its column. The column is mixed before and transformed after. */
static void transform_fluxes(const diffusion_spectral *s, const diffusion_arrays *arrays, int f, const diffusion_at *at,
                             const column_at *c, void *column, const bench *b, fft_ahead *next) {
  const int axes = s->gradients.fluxes / s->fields, back = s->grid.rank > 1 ? s->grid.rank - 1 : -1;
  const int64_t offset = at->middle * s->row_stride + at->group - s->slab.origin + origin_of(s, arrays);
  copy_points(s->slab.backs, c->mixed, c->stride, column, 1);
  for (int a = 0; a < axes; a++)
    if (a != back) s->on->subtract(s, f, a, at, point(arrays->flux[f * axes + a], offset), c->stride, column);
  transform_forward(s, plan_along(s, f), column, 1, column, b, next);
  if (back < 0 || back >= axes) return;
  transform_forward(s, plan_along(s, s->inputs + f * axes + back), point(arrays->flux[f * axes + back], offset),
                    c->stride, b->spare[0], b, next);
  s->on->subtract(s, f, back, at, b->spare[0], 1, column);
}

/* Processes a column of all fields, which fluxes, projections and derived fields join. */
static void joined_column(const diffusion_spectral *s, const diffusion_stage *stage, const diffusion_arrays *arrays,
                          const diffusion_at *at, const diffusion_at *then, const bench *b, fft_ahead *next) {
  column_at c[DIFFUSION_FIELDS];
  int derived = -1;
  for (int f = 0; f < s->fields; f++) {
    c[f] = column_of(s, arrays, f, at, then);
    c[f].column.array[0] = b->columns[f];
    if (!stage->forward) continue;
    if (arrays->flux[0])
      transform_fluxes(s, arrays, f, at, &c[f], b->columns[f], b, next);
    else
      transform_forward(s, plan_along(s, f), c[f].mixed, c[f].stride, b->columns[f], b, next);
  }
  if (stage->forward && s->gradients.solenoidal) s->on->project(s, at, b->columns);
  for (int f = 0; f < s->fields; f++) s->combine(stage, &c[f].column);
  for (int g = 0; g < s->gradients.count && stage->inverse; g++) { /* sorted by field */
    if (s->gradients.of[g].field < s->fields || s->gradients.of[g].field == derived) continue;
    derived = s->gradients.of[g].field;
    s->on->derived(s, arrays->symbols, derived - s->fields, at, b->columns, b->columns[s->fields]);
    write_gradients(s, arrays, derived, b->columns[s->fields], at, b, next);
  }
  for (int f = 0; f < s->fields && stage->inverse; f++) {
    write_gradients(s, arrays, f, b->columns[f], at, b, next);
    transform_inverse(s, plan_along(s, f), b->columns[f], c[f].mixed, c[f].stride, b, next);
  }
}

void diffusion_project_columns(const diffusion_spectral *s, void *const *coefficients, int64_t count,
                               const diffusion_at *at) {
  const bench b = bench_of(s, 0);
  const int axes = s->grid.rank - (s->grid.member_axis > 0);
  for (int64_t i = 0; i < count; i++) {
    const int64_t offset = at[i].middle * s->row_stride + at[i].group - s->slab.origin;
    for (int pass = 0; pass < 2; pass++) {
      for (int a = 0; a < axes; a++) {
        const int f = s->gradients.vector[a];
        char *column = point(coefficients[f], offset);
        if (pass == 0)
          copy_points(s->slab.backs, column, s->slab.stride, b.columns[f], 1);
        else
          copy_points(s->slab.backs, b.columns[f], 1, column, s->slab.stride);
      }
      if (pass == 0) s->on->project(s, &at[i], b.columns);
    }
  }
}

/* Returns the number of columns that are transformed in a row. */
static int64_t kept_groups(const diffusion_spectral *s) {
  const int64_t end = s->kept_points < s->slab.group_end ? s->kept_points : s->slab.group_end;
  return end > s->slab.group_first ? end - s->slab.group_first : 0;
}

/* Returns piece i of the columns in a row, which are cut into `pieces`. */
static columns_of piece_at(const diffusion_spectral *s, int64_t i, int64_t pieces) {
  const int64_t part = i % pieces, middle = s->slab.middle_first + s->kept_middle[i / pieces];
  const int64_t columns = columns_in_row(s, middle), before = s->slab.group_first, groups = kept_groups(s);
  const int64_t first = before + groups * part / pieces, end = before + groups * (part + 1) / pieces;
  return (columns_of){middle, first < columns ? first : columns, end < columns ? end : columns};
}

/* Returns what is prefetched during a column: planes low <= p < high of the next columns, of all mixed fields that the
 * stage reads or writes. They follow each other in `queue`. */
static fft_ahead joined_ahead(const diffusion_spectral *s, const diffusion_stage *stage, const diffusion_arrays *arrays,
                              const columns_of *then, int64_t low, int64_t high,
                              fft_ahead queue[static DIFFUSION_COLUMNS]) {
  const int gradients = stage->inverse ? s->gradients.count : 0, fluxes = arrays->flux[0] ? s->gradients.fluxes : 0;
  const int all = s->fields + gradients + fluxes;
  const int64_t stride = stride_of(s, arrays), columns = then->end - then->first;
  const int64_t offset =
      low * stride + then->middle * s->row_stride + then->first - s->slab.origin + origin_of(s, arrays);
  for (int i = 0; i < all; i++) {
    const int other = i - s->fields;
    const void *field = other < 0           ? arrays->array[i][0]
                        : other < gradients ? arrays->gradient[other]
                                            : arrays->flux[other - gradients];
    queue[i] = (fft_ahead){.at = point(field, offset),
                           .step = stride * 128,
                           .lines = 2 * (int)columns,
                           .left = (int)(high - low),
                           .more = (int)(8 / columns), /* butterflies of radix 16, in two sweeps */
                           .after = i + 1 < all ? &queue[i + 1] : NULL};
  }
  return queue[0];
}

void diffusion_columns(diffusion_spectral *s, const diffusion_stage *stage, const diffusion_arrays *arrays) {
  const int64_t middles = s->kept_middles, groups = kept_groups(s);
  const int threads = team(s, middles * groups);
  const int64_t most = s->joined ? BESIDE_JOINED : BESIDE;
  int64_t beside = middles * groups / threads;
  beside = beside < 1 ? 1 : beside > most ? most : beside;
  const int64_t pieces = (groups + beside - 1) / beside, all = middles * pieces;
  if (s->slab.backs == 0 || middles * groups == 0) return;
  const runs given = runs_of(all, threads);
  const int64_t stride = stride_of(s, arrays);
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) if (threads > 1)
  for (int64_t r = 0; r < given.count; r++) {
    const bench b = bench_of(s, omp_get_thread_num());
    int64_t first, end;
    run_at(&given, r, &first, &end);
    for (int64_t i = first; i < end; i++) {
      const columns_of now = piece_at(s, i, pieces), then = piece_at(s, i + 1 < end ? i + 1 : i, pieces);
      const int64_t count = now.end - now.first;
      for (int64_t j = 0; j < count; j++) {
        const diffusion_at at = {now.middle, now.first + j};
        const diffusion_at after = j + 1 < count ? (diffusion_at){now.middle, at.group + 1}
                                   : i + 1 < end ? (diffusion_at){then.middle, then.first}
                                                 : at;
        const int64_t low = s->slab.backs * j / count, high = s->slab.backs * (j + 1) / count;
        if (s->joined) {
          fft_ahead queue[DIFFUSION_COLUMNS], next = joined_ahead(s, stage, arrays, &then, low, high, queue);
          joined_column(s, stage, arrays, &at, &after, &b, i + 1 < end ? &next : NULL);
          continue;
        }
        for (int f = 0; f < s->fields; f++) {
          fft_ahead next = {.at = point(arrays->array[f][0], low * stride + then.middle * s->row_stride + then.first -
                                                                 s->slab.origin + origin_of(s, arrays)),
                            .step = stride * 128,
                            .lines = 2 * (int)(then.end - then.first),
                            .left = i + 1 < end ? (int)(high - low) : 0};
          one_column(s, stage, arrays, f, &at, &after, &b, &next);
        }
      }
    }
  }
}
