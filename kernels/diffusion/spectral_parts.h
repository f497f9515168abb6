/* What the passes share: the plan of a grid, each thread's memory, and wavenumbers. */
#ifndef DIFFUSION_SPECTRAL_PARTS_H
#define DIFFUSION_SPECTRAL_PARTS_H

#include "kernels/diffusion/spectral.h"

enum { X, Y, Z };

struct diffusion_spectral {
  diffusion_grid grid;
  diffusion_gradients gradients;
  int fields, inputs, threads, group; /* inputs: fields and gradients */
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

/* Threads for a pass of so many pieces: no more than pieces, nor than a small grid is worth. */
static inline int team(const diffusion_spectral *s, int64_t pieces) {
  enum { WORTH = 1024 }; /* points of a thread: 128 kB, some 20 microseconds */
  const int64_t points = s->row_points * s->middle * s->back * s->inputs;
  const int64_t most = points / WORTH < pieces ? points / WORTH : pieces;
  return most < 1 ? 1 : most < s->threads ? (int)most : s->threads;
}

static inline double wavenumber(const diffusion_grid *grid, int axis, int64_t mode) {
  const double pi = 3.14159265358979323846;
  return (grid->kind[axis] == FFT_PERIODIC ? 2 * pi : pi) * (double)mode / grid->size[axis];
}

/* Mode of an entry along an axis; signed where periodic and `complex`. */
static inline int64_t mode_of(const diffusion_spectral *s, int axis, int64_t entry, bool complex) {
  const int64_t n = s->grid.n[axis];
  if (axis >= s->grid.rank) return 0;
  if (complex) {
    const int64_t k = fft_order(s->plan[axis])[entry];
    return s->grid.kind[axis] == FFT_PERIODIC && 2 * k > n ? k - n : k;
  }
  return entry + (s->grid.kind[axis] == FFT_SINE);
}

#endif
