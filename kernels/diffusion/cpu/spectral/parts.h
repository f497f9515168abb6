/* Shared by the passes: the plan of a grid, the memory of each thread, and wavenumbers. */
#ifndef DIFFUSION_SPECTRAL_PARTS_H
#define DIFFUSION_SPECTRAL_PARTS_H

#include "kernels/diffusion/cpu/spectral/robin.h"
#include "kernels/diffusion/cpu/spectral/spectral.h"
#include "kernels/diffusion/waves.h"

enum { X, Y, Z };

typedef struct diffusion_deriving diffusion_deriving;

struct diffusion_spectral {
  grid_shape grid;                     /* where fields have series of their own: no_flux along all walls */
  grid_shape shape[DIFFUSION_SOURCES]; /* of each field and derived field */
  bool aligned;                        /* fields have series of their own */
  diffusion_gradients gradients;
  int fields, inputs, results, threads, group; /* inputs: fields and gradients; results: fields and fluxes */
  bool joined;                                 /* columns of all fields are transformed together */
  bool single;
  fft_packing packing;
  bool paired; /* wavenumber n/2 of rows is stored apart: see pairs.c */
  fft_plan *plan[3];
  /* Transforms of first derivatives along axes with walls, which turn a cosine series into a sine series and back. And
   * the position of a series' wavenumber at each position of the other series, or -1. */
  fft_plan *turned[3];
  int32_t *from[3];
  /* one for each kind of series of some column, where fields have series of their own */
  fft_plan *aligned_plan[GRID_BOUNDARIES][3];
  /* series of fields and derived fields along walls that mix value and slope; equal ones are one. NULL: other walls */
  diffusion_basis *basis[DIFFUSION_SOURCES][3];
  const fft_plan *of[DIFFUSION_COLUMNS][3]; /* transforms of fields, gradients and fluxes */
  diffusion_combine *combine;
  const diffusion_deriving *on;
  int64_t middle, back;                         /* points along the middle axis (y of three) and the column axis */
  int64_t row_points, row_stride, plane_stride; /* in points */
  const sim_comm *comm;                         /* ranks that divide the grid */
  diffusion_slab slab;                          /* of this rank */
  /* first position of the columns along their axis: 0 if they are whole */
  int64_t back_first;
  int64_t slots[3];  /* distinct table entries of the columns along each axis */
  int32_t *slot[2];  /* [n of y, z]: table entry of a position */
  int32_t *entry[2]; /* [slots of y, z]: its wavenumber, from 0 */
  int32_t *position; /* 0, 1, ...: the entries of complex tables */
  int32_t *mirror;   /* [n of y], if paired: the position of -k */
  /* What the passes transform (keep.c): the first points of a row, and positions of y and of the columns, counted from
   * the first ones of this rank. Without dealiasing all of them. */
  int64_t kept_points, kept_middles, kept_backs;
  double fraction; /* of the wavenumbers of an axis; 0 without dealiasing */
  int32_t *kept_middle, *kept_back;
  int64_t kept_rows; /* positions of y in kept_row, of all ranks; NULL: all rows of planes */
  int32_t *kept_row;
  double *waves[2]; /* [slab.backs]: wave_of along the columns, for even and odd powers; NULL: fields differ in it */
  size_t thread_bytes, column_bytes, work_bytes, plane_bytes;
  void *memory; /* [threads][thread_bytes]: columns of inputs and fields, scratch, and planes */
};

/* One thread's share of that memory. */
typedef struct bench {
  void *columns[DIFFUSION_COLUMNS], *spare[DIFFUSION_FIELDS + DIFFUSION_FLUXES], *work;
  char *planes; /* [fields] of outputs, or [gradients] between the transforms along y and x */
} bench;

static inline bench bench_of(const diffusion_spectral *s, int thread) {
  bench b = {0};
  char *at = (char *)s->memory + (size_t)thread * s->thread_bytes;
  for (int i = 0; i < s->inputs; i++, at += s->column_bytes) b.columns[i] = at;
  for (int f = 0; f < s->results; f++, at += s->column_bytes) b.spare[f] = at;
  b.work = at;
  b.planes = at + s->work_bytes;
  return b;
}

/* The functions of derive.c for an instruction set and a precision: the derivative of a column of coefficients, into
 * `target`, which is not the source; coefficients of a derived field; removal of the part of a vector with a
 * divergence; and target[p] minus the derivative along `axis` of from[p], a flux of this field, with a stride of
 * `stride` points. */
struct diffusion_deriving {
  void (*derive)(const diffusion_spectral *s, int field, diffusion_kind kind, const diffusion_at *at,
                 const void *source, void *target);
  void (*derived)(const diffusion_spectral *s, const diffusion_symbols *symbols, int derived, const diffusion_at *at,
                  void *const *columns, void *target);
  void (*project)(const diffusion_spectral *s, const diffusion_at *at, void *const *columns);
  void (*subtract)(const diffusion_spectral *s, int field, int axis, const diffusion_at *at, const void *from,
                   int64_t stride, void *target);
};
extern const diffusion_deriving diffusion_derive_single_plain, diffusion_derive_double_plain;
extern const diffusion_deriving diffusion_derive_single_avx2, diffusion_derive_double_avx2;
extern const diffusion_deriving diffusion_derive_single_avx512, diffusion_derive_double_avx512;

/* Whether an input of the pointwise work is a derivative along this axis between walls. Then its coefficients move to
 * other positions. For fields with the grid's walls. */
static inline bool is_turned(const diffusion_spectral *s, int input, int axis) {
  return input >= s->fields && !s->aligned && s->gradients.of[input - s->fields].kind == axis &&
         s->grid.boundary[axis] != GRID_PERIODIC;
}

/* Whether the series is one of sines. */
static inline bool is_sine(grid_boundary b) { return b == GRID_FIXED || b == GRID_FIXED_LOW; }

static inline char *point(const void *field, int64_t offset) { return (char *)(uintptr_t)field + offset * 128; }

/* Returns the points of a row that are columns. With pairs the last point exists once for each group of rows. */
static inline int64_t columns_in_row(const diffusion_spectral *s, int64_t middle) {
  return s->row_points - (s->paired && middle % s->group != 0);
}
/* Whether this is the last point of a paired row, whose lanes are positions along y. */
static inline bool is_last(const diffusion_spectral *s, int64_t group) {
  return s->paired && group == s->row_points - 1;
}
/* Returns the row of the tables for a column. */
static inline int64_t table_row(const diffusion_spectral *s, int64_t middle, int64_t group, bool complex) {
  if (s->grid.rank < 3) return 0;
  if (is_last(s, group)) return middle / s->group - (s->slab.middle_first + s->group - 1) / s->group;
  return complex ? middle - s->slab.middle_first : s->slot[0][middle];
}
/* Returns the first position along y whose last point is in this row of the tables. */
static inline int64_t last_positions(const diffusion_spectral *s, int64_t row) {
  return ((s->slab.middle_first + s->group - 1) / s->group + row) * s->group;
}
/* Whether the passes transform a mode along y and z (keep.c). Tables need no entries for others. */
bool diffusion_keeps(const diffusion_spectral *s, const int64_t mode[3]);
/* Whether wavenumber n/2 is transformed beside wavenumber 0. */
static inline bool has_pairs(const diffusion_spectral *s) { return s->paired && s->kept_points == s->row_points; }
void diffusion_pair(const diffusion_spectral *s, void *plane);
void diffusion_unpair(const diffusion_spectral *s, void *plane);

/* Returns the number of threads for a pass over this many pieces: at most one for each piece, and fewer for small
 * grids. */
static inline int team(const diffusion_spectral *s, int64_t pieces) {
  enum { WORTH = 1024 }; /* points for which a thread pays: 128 kB, about 20 microseconds */
  const int64_t points = s->row_points * s->middle * s->back / s->comm->size * s->inputs;
  const int64_t most = points / WORTH < pieces ? points / WORTH : pieces;
  return most < 1 ? 1 : most < s->threads ? (int)most : s->threads;
}

/* Schedule of a pass. Cores differ in speed, most of all when other programs run. With many threads each thread has a
 * long run of pieces, half of its share, with the next piece prefetched. The rest is dealt out in short runs to threads
 * that finish early. Two threads get fixed halves: without short runs they are 10 % faster. */
typedef struct runs {
  int64_t pieces, count, own, length; /* number of runs; pieces of a long and of a short run */
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
  if (axis > 0 && axis == grid->member_axis) return 0;
  const bool quarter = grid->boundary[axis] == GRID_FIXED_LOW || grid->boundary[axis] == GRID_FIXED_HIGH;
  return (grid->boundary[axis] == GRID_PERIODIC ? 2 * DIFFUSION_PI : DIFFUSION_PI) *
         ((double)mode + (quarter ? 0.5 : 0)) / grid->size[axis];
}

/* Returns the same for a field or derived field, with any walls; 0 for an entry beyond the series. */
static inline double wave_along(const diffusion_spectral *s, int source, int axis, int64_t mode) {
  const diffusion_basis *basis = s->basis[source][axis];
  if (basis) return mode < basis->n ? basis->waves[mode] : 0;
  return wavenumber(&s->shape[source], axis, mode);
}

/* Returns the mode of an entry along x. */
static inline int64_t mode_along_x(const diffusion_spectral *s, int source, int64_t entry) {
  if (s->shape[source].boundary[X] != GRID_FIXED || (s->aligned && entry > 0)) return entry;
  return s->grid.n[X] - entry;
}

/* Returns the mode of an entry along an axis; signed where the axis is periodic and tables are `complex`. */
static inline int64_t mode_of(const diffusion_spectral *s, int source, int axis, int64_t entry, bool complex) {
  const int64_t n = s->grid.n[axis];
  if (axis >= s->grid.rank) return 0;
  if (s->aligned && s->shape[source].boundary[axis] != GRID_PERIODIC && s->plan[axis]) {
    const int64_t k = complex ? fft_order(s->plan[axis])[entry] : entry;
    return k == 0 && s->shape[source].boundary[axis] == GRID_FIXED ? n : k;
  }
  if (complex && s->plan[axis]) {
    const int64_t k = fft_order(s->plan[axis])[entry];
    return s->grid.boundary[axis] == GRID_PERIODIC && 2 * k > n ? k - n : k;
  }
  return entry + (s->grid.boundary[axis] == GRID_FIXED);
}

/* Returns the mode along an axis of a row of the tables, or of a slot in it. */
static inline int64_t table_mode(const diffusion_spectral *s, int source, int axis, int64_t entry, bool complex) {
  if (!complex) return mode_of(s, source, axis, s->entry[axis - Y][entry], false);
  return mode_of(s, source, axis, entry + (axis == s->grid.rank - 1 ? s->back_first : s->slab.middle_first), true);
}

/* Returns the wavenumber of a mode. `odd`: for odd powers of it; then it is 0 where k is its own mirror image, or where
 * the derivative of a sine is 0 in all cells. */
static inline double wave_of(const diffusion_spectral *s, int source, int axis, int64_t mode, bool odd) {
  const grid_shape *shape = &s->shape[source];
  const bool own = shape->boundary[axis] == GRID_PERIODIC ? diffusion_mirrors_itself(mode, shape->n[axis])
                                                          : s->aligned && mode == shape->n[axis];
  return odd && own ? 0 : wave_along(s, source, axis, mode);
}

/* Returns the weight of a mode in the mean of squares: 2 where k and -k are stored once, 1/2 for cos^2 and sin^2. */
static inline double diffusion_weight(const diffusion_spectral *s, int source, int axis, int64_t mode) {
  const int64_t n = s->grid.n[axis];
  if (axis > 0 && axis == s->grid.member_axis) return 1 / (double)n; /* mean over members */
  switch (s->shape[source].boundary[axis]) {
  case GRID_NO_FLUX: return mode == 0 ? 1 : 2;
  case GRID_FIXED: return mode == n ? 1 : 2;
  case GRID_FIXED_LOW:
  case GRID_FIXED_HIGH: return 2;
  case GRID_ROBIN:
    return diffusion_robin_weight(s->basis[source][axis]->mix, s->grid.size[axis], s->basis[source][axis]->waves[mode]);
  default: return axis != X || mode == 0 || 2 * mode == n ? 1 : 2;
  }
}

#endif
