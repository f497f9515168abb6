/* Fourier, cosine and sine transforms of many columns at once, one column a SIMD lane; any length.
 *
 * A point is 128 bytes, [G re][G im] of G columns: G = 16 in fp32, 8 in fp64. Strides count points. A transform leaves
 * wavenumbers in an order of its own (fft_order); nothing is ever put in order, since what is done with them can be
 * stored in that order too. Lengths with factors up to 13 go by mixed radices, others by Bluestein's convolution.
 * Nothing is timed and nothing depends on threads: the same bits always, in fp64 on every instruction set. */
#ifndef FFT_FFT_H
#define FFT_FFT_H

#include "engine/device/backend.h"
#include "engine/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Columns are complex; the transform of re and im alone is that of two real columns.
 *   FFT_PERIODIC: X_k = sum_j x_j exp(-2 pi i j k / n), k = 0 ... n-1
 *   FFT_COSINE:   X_k = sum_j x_j cos(pi k (j + 1/2) / n), k = 0 ... n-1
 *   FFT_SINE:     X_k = sum_j x_j sin(pi k (j + 1/2) / n), k = 1 ... n
 * `inverse` after `forward` gives n times the column. */
typedef enum fft_kind { FFT_PERIODIC, FFT_COSINE, FFT_SINE } fft_kind;

enum { FFT_LENGTH_MAX = 1 << 24 };

typedef struct fft_plan fft_plan;

/* SIM_ERR_NO_MEMORY. */
sim_status fft_plan_create(int64_t n, fft_kind kind, bool single, sim_isa isa, fft_plan **out) SIM_MUST_CHECK;
void fft_plan_destroy(fft_plan **plan);
double fft_plan_bytes(int64_t n, fft_kind kind, bool single); /* what create will take */

int fft_group(bool single);                     /* G */
size_t fft_work_bytes(const fft_plan *plan);    /* each thread brings, 64-byte aligned */
double fft_work_size(int64_t n);                /* the same, or more, before there is a plan */
const int32_t *fft_order(const fft_plan *plan); /* [n]: wavenumber of the p-th point of a transform */
bool fft_smooth(int64_t n);                     /* no prime factor above 13 */

/* What the caller wants next, fetched into the second-level cache while a transform computes: pieces of successive
 * lines, one piece a butterfly. Long pieces keep the processor's own prefetchers busy too. NULL: nothing. */
typedef struct fft_ahead {
  const char *at;  /* the next piece */
  ptrdiff_t step;  /* bytes from piece to piece */
  int lines, left; /* of 64 bytes in a piece; pieces */
} fft_ahead;

/* n points from source to target, which may be one. The inverse overwrites its source. `work` overlaps neither. */
void fft_forward(const fft_plan *plan, const void *source, ptrdiff_t source_stride, void *target,
                 ptrdiff_t target_stride, void *work, fft_ahead *ahead);
void fft_inverse(const fft_plan *plan, void *source, ptrdiff_t source_stride, void *target, ptrdiff_t target_stride,
                 void *work, fft_ahead *ahead);
/* Forward, times factors[slot[p]][G] at the p-th point, inverse, in fewer sweeps; where the plan has a way. */
bool fft_can_filter(const fft_plan *plan);
void fft_filter(const fft_plan *plan, const void *source, ptrdiff_t source_stride, void *target,
                ptrdiff_t target_stride, const void *factors, const int32_t *slot, void *work, fft_ahead *ahead);

/* Rows. `count` <= 2G real rows of n numbers, `row` numbers apart, become a column of n points: the first G rows stand
 * in re, the others in im. Absent rows are zeros. */
void fft_rows_load(const fft_plan *plan, const void *rows, ptrdiff_t row, int64_t count, void *column);
void fft_rows_store(const fft_plan *plan, const void *column, void *rows, ptrdiff_t row, int64_t count);

/* How a row's coefficients are stored, in groups of G lanes of successive wavenumbers: */
typedef enum fft_packing {
  FFT_HALF,        /* k = 0 ... n/2 of FFT_PERIODIC, complex */
  FFT_HALF_PAIRED, /* of even n, k = 0 ... n/2 - 1: what is real at n/2 stands in im of what is real at 0 */
  FFT_REAL,        /* real ones of FFT_COSINE and FFT_SINE, with zero in im */
  FFT_TWO_REAL     /* the same, 2G of them a point */
} fft_packing;
int64_t fft_row_points(int64_t n, fft_packing packing, bool single); /* that a row takes */
/* Coefficients of a transformed column's rows to rows of points, `row` points apart, and back. The halves are stored as
 * twice the coefficients; loading wants them as they are. Unused lanes are zeros. */
void fft_rows_split(const fft_plan *plan, fft_packing packing, const void *column, void *rows, ptrdiff_t row,
                    int64_t count);
void fft_rows_join(const fft_plan *plan, fft_packing packing, const void *rows, ptrdiff_t row, int64_t count,
                   void *column);

#endif
