/* The pass over columns. */
#include "kernels/diffusion/cpu/spectral_parts.h"

#include <omp.h>
#include <string.h>

enum { BESIDE = 9 }; /* neighbouring columns that are prefetched together */

/* Neighbouring columns. */
typedef struct columns_of {
  int64_t middle, first, end;
} columns_of;

/* Coefficients of a derivative: i k times those of a column; 0 where k is its own mirror image. */
static void derive(const diffusion_spectral *s, int axis, int64_t middle, int64_t group, const void *source,
                   void *target) {
  const int64_t G = s->group, n = s->grid.n[axis];
  const bool back = axis > X && axis == s->grid.rank - 1;
  double k[16];
  for (int64_t p = 0; p < s->slab.backs; p++) {
    for (int64_t lane = 0; lane < G && (p == 0 || back); lane++) {
      const int64_t along_y = is_last(s, group) && middle + lane < s->middle ? middle + lane : middle;
      const int64_t mode = axis != X           ? mode_of(s, axis, back ? p : along_y, true)
                           : is_last(s, group) ? n / 2
                                               : group * G + lane;
      k[lane] = 2 * mode == n ? 0 : wavenumber(&s->grid, axis, mode);
    }
    for (int64_t lane = 0; lane < G; lane++) {
      const int64_t re = p * 2 * G + lane, im = re + G;
      if (s->single) {
        ((float *)target)[re] = -(float)k[lane] * ((const float *)source)[im];
        ((float *)target)[im] = (float)k[lane] * ((const float *)source)[re];
      } else {
        ((double *)target)[re] = -k[lane] * ((const double *)source)[im];
        ((double *)target)[im] = k[lane] * ((const double *)source)[re];
      }
    }
  }
}

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

/* Points from plane to plane of mixed fields, and of the first column from the beginning. */
static int64_t stride_of(const diffusion_spectral *s, const diffusion_arrays *arrays) {
  return arrays->shared ? s->plane_stride : s->slab.stride;
}
static int64_t origin_of(const diffusion_spectral *s, const diffusion_arrays *arrays) {
  return arrays->shared ? s->slab.origin : 0;
}

static void one_column(const diffusion_spectral *s, const diffusion_stage *stage, const diffusion_arrays *arrays, int f,
                       int64_t middle, int64_t group, const bench *b, const fft_plan *plan, fft_ahead *next) {
  const int64_t offset = middle * s->row_stride + group - s->slab.origin, backs = s->slab.backs;
  const int64_t mixed_offset = offset + origin_of(s, arrays), stride = stride_of(s, arrays);
  char *mixed = point(arrays->array[f][0], mixed_offset);
  diffusion_column column = {.n = backs, .stride = s->slab.stride};
  const int64_t slots = arrays->complex ? backs : s->slots[s->grid.rank > 1 ? s->grid.rank - 1 : Y];
  const int64_t row = table_row(s, middle, group, arrays->complex);
  const int64_t groups = s->slab.group_end - s->slab.group_first;
  column.factor = arrays->complex ? DIFFUSION_COMPLEX : s->packing == FFT_TWO_REAL ? DIFFUSION_EACH : DIFFUSION_ALIKE;
  const size_t entry = column.factor == DIFFUSION_ALIKE ? 64 : 128;
  for (int t = 0; t < DIFFUSION_TABLES; t++)
    if (arrays->table[f][t])
      column.table[t] =
          (char *)arrays->table[f][t] + (size_t)((row * groups + group - s->slab.group_first) * slots) * entry;
  column.slot = arrays->complex || s->grid.rank == 1 ? s->position : s->slot[s->grid.rank - 2] + s->back_first;
  if (plan && column.factor == DIFFUSION_ALIKE && fft_can_filter(plan) && diffusion_only_scales(stage) &&
      !has_gradients(s, f)) {
    fft_filter(plan, mixed, stride, mixed, stride, column.table[stage->set[0].term[0].table], column.slot, b->work,
               next);
    return;
  }
  column.array[0] = b->columns[0];
  for (int a = 1; a < DIFFUSION_ARRAYS; a++)
    if (arrays->array[f][a]) column.array[a] = point(arrays->array[f][a], offset);
  if (stage->forward) {
    if (plan)
      fft_forward(plan, mixed, stride, column.array[0], 1, b->work, next);
    else
      copy_points(backs, mixed, stride, column.array[0], 1);
  }
  s->combine(stage, &column);
  if (!stage->inverse) return;
  for (int g = 0; g < s->gradients.count; g++) {
    if (s->gradients.of[g].field != f) continue;
    char *to = point(arrays->gradient[g], mixed_offset);
    derive(s, s->gradients.of[g].axis, middle, group, column.array[0], b->spare[0]);
    if (plan)
      fft_inverse(plan, b->spare[0], 1, to, stride, b->work, NULL);
    else
      copy_points(backs, b->spare[0], 1, to, stride);
  }
  if (plan)
    fft_inverse(plan, column.array[0], 1, mixed, stride, b->work, next);
  else
    copy_points(backs, column.array[0], 1, mixed, stride);
}

/* Piece i of the rows, which are cut into `pieces`. */
static columns_of piece_at(const diffusion_spectral *s, int64_t i, int64_t pieces) {
  const int64_t part = i % pieces, middle = s->slab.middle_first + i / pieces, columns = columns_in_row(s, middle);
  const int64_t before = s->slab.group_first, groups = s->slab.group_end - before;
  const int64_t first = before + groups * part / pieces, end = before + groups * (part + 1) / pieces;
  return (columns_of){middle, first < columns ? first : columns, end < columns ? end : columns};
}

void diffusion_columns(diffusion_spectral *s, const diffusion_stage *stage, const diffusion_arrays *arrays) {
  const fft_plan *plan = s->grid.rank > 1 ? s->plan[s->grid.rank - 1] : NULL;
  const int64_t middles = s->slab.middle_end - s->slab.middle_first, groups = s->slab.group_end - s->slab.group_first;
  const int threads = team(s, middles * groups);
  int64_t beside = middles * groups / threads;
  beside = beside < 1 ? 1 : beside > BESIDE ? BESIDE : beside;
  const int64_t pieces = (groups + beside - 1) / beside, all = middles * pieces;
  if (s->slab.backs == 0) return;
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
      for (int64_t j = 0; j < count; j++)
        for (int f = 0; f < s->fields; f++) {
          const int64_t low = s->slab.backs * j / count, high = s->slab.backs * (j + 1) / count;
          fft_ahead next = {point(arrays->array[f][0], low * stride + then.middle * s->row_stride + then.first -
                                                           s->slab.origin + origin_of(s, arrays)),
                            stride * 128, 2 * (int)(then.end - then.first), i + 1 < end ? (int)(high - low) : 0};
          one_column(s, stage, arrays, f, now.middle, now.first + j, &b, plan, &next);
        }
    }
  }
}
