/* What the passes share: the plan of a grid, each thread's memory, and wavenumbers. */
#ifndef DIFFUSION_SPECTRAL_PARTS_H
#define DIFFUSION_SPECTRAL_PARTS_H

#include "kernels/diffusion/cpu/spectral.h"

enum { X, Y, Z };

struct diffusion_spectral {
  grid_shape grid;
  diffusion_gradients gradients;
  int fields, inputs, threads, group; /* inputs: fields and gradients */
  bool single;
  fft_packing packing;
  bool paired; /* the last wavenumber of rows, n/2, apart: see spectral_pairs.c */
  fft_plan *plan[3];
  diffusion_combine *combine;
  int64_t middle, back;                         /* points along the axes of planes (y of three) and of columns */
  int64_t row_points, row_stride, plane_stride; /* in points */
  int64_t slots[3];                             /* different entries of tables along an axis */
  int32_t *slot[2];                             /* [n of Y, Z]: entry of a position */
  int32_t *position;                            /* 0, 1, ...: entries of complex tables */
  int32_t *mirror;                              /* [n of Y], where paired: the position of -k */
  size_t thread_bytes, column_bytes, work_bytes, plane_bytes;
  void *memory; /* [threads][thread_bytes]: columns of inputs and fields, work, planes for output */
};

/* A thread's part of it. */
typedef struct bench {
  void *columns[4 * DIFFUSION_FIELDS], *spare[DIFFUSION_FIELDS], *work;
  char *planes; /* [fields], for output */
} bench;

static inline bench bench_of(const diffusion_spectral *s, int thread) {
  bench b = {0};
  char *at = (char *)s->memory + (size_t)thread * s->thread_bytes;
  for (int i = 0; i < s->inputs; i++, at += s->column_bytes) b.columns[i] = at;
  for (int f = 0; f < s->fields; f++, at += s->column_bytes) b.spare[f] = at;
  b.work = at;
  b.planes = at + s->work_bytes;
  return b;
}

static inline char *point(const void *field, int64_t offset) { return (char *)(uintptr_t)field + offset * 128; }

/* Points of a row that are columns: of paired rows the last one is there once for each group of rows. */
static inline int64_t columns_in_row(const diffusion_spectral *s, int64_t middle) {
  return s->row_points - (s->paired && middle % s->group != 0);
}
/* The last point of a paired row: its lanes are positions along y. */
static inline bool is_last(const diffusion_spectral *s, int64_t group) {
  return s->paired && group == s->row_points - 1;
}
void diffusion_pair(const diffusion_spectral *s, void *plane);
void diffusion_unpair(const diffusion_spectral *s, void *plane);

/* Threads for a pass of so many pieces: no more than pieces, nor than a small grid is worth. */
static inline int team(const diffusion_spectral *s, int64_t pieces) {
  enum { WORTH = 1024 }; /* points of a thread: 128 kB, some 20 microseconds */
  const int64_t points = s->row_points * s->middle * s->back * s->inputs;
  const int64_t most = points / WORTH < pieces ? points / WORTH : pieces;
  return most < 1 ? 1 : most < s->threads ? (int)most : s->threads;
}

/* Cores are not equally fast, least of all where other programs share them. Of many threads each has a long run of
 * pieces, half of its share, whose next piece is fetched early; what is left goes in short runs to those that are done.
 * Two threads have their shares: without the second kind of runs they are a tenth faster. */
typedef struct runs {
  int64_t pieces, count, own, length; /* runs in all; pieces of a long one and of a short one */
  int threads;
} runs;

static inline runs runs_of(int64_t pieces, int threads) {
  const int64_t own = pieces / (threads > 2 ? 2 * threads : threads), left = pieces - own * threads;
  const int64_t length = left > 8 * threads ? left / (8 * threads) : 1;
  return (runs){pieces, threads + (left + length - 1) / length, own, length, threads};
}
static inline void run_at(const runs *r, int64_t i, int64_t *first, int64_t *end) {
  if (i < r->threads) {
    *first = i * r->own;
    *end = *first + r->own;
    return;
  }
  *first = r->threads * r->own + (i - r->threads) * r->length;
  *end = *first + r->length < r->pieces ? *first + r->length : r->pieces;
}

static inline double wavenumber(const grid_shape *grid, int axis, int64_t mode) {
  const double pi = 3.14159265358979323846;
  if (axis > 0 && axis == grid->member_axis) return 0;
  return (grid->boundary[axis] == GRID_PERIODIC ? 2 * pi : pi) * (double)mode / grid->size[axis];
}

/* Mode of an entry along an axis; signed where periodic and `complex`. */
static inline int64_t mode_of(const diffusion_spectral *s, int axis, int64_t entry, bool complex) {
  const int64_t n = s->grid.n[axis];
  if (axis >= s->grid.rank) return 0;
  if (complex && s->plan[axis]) {
    const int64_t k = fft_order(s->plan[axis])[entry];
    return s->grid.boundary[axis] == GRID_PERIODIC && 2 * k > n ? k - n : k;
  }
  return entry + (s->grid.boundary[axis] == GRID_FIXED);
}

/* How often a mode counts in the mean of squares: what is stored once for k and -k, and cos^2 and sin^2. */
static inline double diffusion_weight(const diffusion_spectral *s, int axis, int64_t mode) {
  const int64_t n = s->grid.n[axis];
  if (axis > 0 && axis == s->grid.member_axis) return 1 / (double)n; /* the mean over grids */
  switch (s->grid.boundary[axis]) {
  case GRID_NO_FLUX: return mode == 0 ? 1 : 2;
  case GRID_FIXED: return mode == n ? 1 : 2;
  default: return axis != X || mode == 0 || 2 * mode == n ? 1 : 2;
  }
}

#endif
