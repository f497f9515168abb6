/* Fourier, cosine and sine transforms of many columns at once, one column a SIMD lane; any length.
 *
 * A point is 128 bytes, [G re][G im] of G columns: G = 16 in fp32, 8 in fp64. Strides count points. Transforms leave
 * wavenumbers in permuted order (fft_order) and never sort them: factors and coefficients can be stored in that
 * order too. Lengths with prime factors up to 13 use mixed radices, others Bluestein's convolution. No plan is timed
 * and nothing depends on threads: the same bits always, in fp64 on every instruction set. */
#ifndef FFT_FFT_H
#define FFT_FFT_H

#include "engine/device/backend.h"
#include "engine/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Columns are complex; the transform of re or im alone is the transform of a real column.
 *   FFT_PERIODIC: X_k = sum_j x_j exp(-2 pi i j k / n), k = 0 ... n-1
 *   FFT_COSINE:   X_k = sum_j x_j cos(pi k (j + 1/2) / n), k = 0 ... n-1
 *   FFT_SINE:     X_k = sum_j x_j sin(pi k (j + 1/2) / n), k = 1 ... n
 *   FFT_SINE_ALIGNED: FFT_SINE in FFT_COSINE's order: coefficient k < n where the cosine has k, and n where it has 0
 *   FFT_QUARTER_COSINE, FFT_QUARTER_SINE: cos, sin of pi (k + 1/2) (j + 1/2) / n, k = 0 ... n-1, in FFT_COSINE's order
 * `inverse` after `forward` gives n times the column. */
typedef enum fft_kind {
  FFT_PERIODIC,
  FFT_COSINE,
  FFT_SINE,
  FFT_SINE_ALIGNED,
  FFT_QUARTER_COSINE,
  FFT_QUARTER_SINE,
  FFT_DENSE /* of fft_plan_create_dense */
} fft_kind;

enum { FFT_LENGTH_MAX = 1 << 24 };

typedef struct fft_plan fft_plan;

/* Creates a plan for columns of n points; freed by fft_plan_destroy. SIM_ERR_NO_MEMORY. */
sim_status fft_plan_create(int64_t n, fft_kind kind, bool single, sim_isa isa, fft_plan **out) SIM_MUST_CHECK;
/* Creates a plan that multiplies columns by given real matrices, [n][n] each: forward[k][j] for coefficient k and point
 * j, or NULL (no forward transform), and inverse[j][k]. Coefficients are in the order of `like`, a plan of n points.
 * SIM_ERR_NO_MEMORY. fft_dense_bytes: bytes of `matrices` such matrices. */
sim_status fft_plan_create_dense(const fft_plan *like, const double *forward, const double *inverse, sim_isa isa,
                                 fft_plan **out) SIM_MUST_CHECK;
/* Restricts fft_forward and fft_inverse of a plan to the coefficients with keeps[p], p a position: the forward
 * transform leaves the others unset, the inverse one takes them as zeros without reading them. Results are the same as
 * with zeros. fft_can_filter(plan) must hold. fft_plan_keep_half: the same for rows, wavenumbers k < count and n - k
 * but not n/2; fft_rows_split and fft_rows_join touch no points beyond count, a multiple of G. SIM_ERR_NO_MEMORY. */
sim_status fft_plan_keep(fft_plan *plan, const bool *keeps) SIM_MUST_CHECK;
sim_status fft_plan_keep_half(fft_plan *plan, int64_t count) SIM_MUST_CHECK;
double fft_dense_bytes(int64_t n, int matrices, bool single);
void fft_plan_destroy(fft_plan **plan);
double fft_plan_bytes(int64_t n, fft_kind kind, bool single); /* bytes that fft_plan_create allocates */

int fft_group(bool single);                     /* G, the columns of a group */
size_t fft_work_bytes(const fft_plan *plan);    /* scratch that each thread provides, 64-byte aligned */
double fft_work_size(int64_t n);                /* upper bound of fft_work_bytes, without a plan */
const int32_t *fft_order(const fft_plan *plan); /* [n]: wavenumber of the p-th point of a transform */
bool fft_smooth(int64_t n);                     /* whether n has no prime factor above 13 */

/* Memory to prefetch into the second-level cache during a transform: pieces of successive lines, one piece for each
 * butterfly. Long pieces also engage the hardware prefetchers. NULL: nothing is prefetched. */
typedef struct fft_ahead {
  const char *at;                /* the next piece */
  ptrdiff_t step;                /* bytes from piece to piece */
  int lines, left;               /* lines of 64 bytes in a piece; pieces left */
  int more;                      /* further pieces at each butterfly */
  const int32_t *pieces;         /* the next pieces' distances from `at`, in steps; NULL: they follow each other */
  const struct fft_ahead *after; /* what follows these pieces; NULL: nothing */
} fft_ahead;

/* Transforms n points from source to target, which may be equal. The inverse overwrites its source. `work` overlaps
 * neither. */
void fft_forward(const fft_plan *plan, const void *source, ptrdiff_t source_stride, void *target,
                 ptrdiff_t target_stride, void *work, fft_ahead *ahead);
void fft_inverse(const fft_plan *plan, void *source, ptrdiff_t source_stride, void *target, ptrdiff_t target_stride,
                 void *work, fft_ahead *ahead);
/* Runs a forward transform, multiplies its p-th point by factors[slot[p]][G], and runs the inverse transform, in fewer
 * sweeps than the separate calls. fft_can_filter: whether the plan supports it. */
bool fft_can_filter(const fft_plan *plan);
void fft_filter(const fft_plan *plan, const void *source, ptrdiff_t source_stride, void *target,
                ptrdiff_t target_stride, const void *factors, const int32_t *slot, void *work, fft_ahead *ahead);

/* Rows: up to 2G real rows of n numbers, `row` numbers apart, become a column of n points: the first G rows in re, the
 * others in im. Rows beyond `count` are read as zeros, and not stored. */
void fft_rows_load(const fft_plan *plan, const void *rows, ptrdiff_t row, int64_t count, void *column);
void fft_rows_store(const fft_plan *plan, const void *column, void *rows, ptrdiff_t row, int64_t count);

/* How a row's coefficients are stored, in groups of G lanes of successive wavenumbers: */
typedef enum fft_packing {
  FFT_HALF,        /* FFT_PERIODIC: k = 0 ... n/2, complex */
  FFT_HALF_PAIRED, /* FFT_PERIODIC, n even: k = 0 ... n/2 - 1; the real coefficient n/2 is stored in im of coefficient 0
                    */
  FFT_REAL,        /* other kinds of transform: real coefficients, 0 in im */
  FFT_TWO_REAL     /* other kinds of transform: 2G real coefficients in a point */
} fft_packing;
int64_t fft_row_points(int64_t n, fft_packing packing, bool single); /* points of one row */
/* Copies coefficients of a transformed column to rows of points, `row` points apart (split), and back (join). Halves:
 * split stores twice the coefficients, join expects the coefficients. Unused lanes are zeros. */
void fft_rows_split(const fft_plan *plan, fft_packing packing, const void *column, void *rows, ptrdiff_t row,
                    int64_t count);
void fft_rows_join(const fft_plan *plan, fft_packing packing, const void *rows, ptrdiff_t row, int64_t count,
                   void *column);

#endif
