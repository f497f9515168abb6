/* Sweeps and other loops over groups of lanes, compiled for each instruction set and precision (fft_lanes.c).
 *
 * A point is FFT_POINT bytes: [G re][G im], one column a lane, G = 16 in fp32 and 8 in fp64 for every register
 * width, so that layouts and, in fp64, bits do not depend on the instruction set. Strides count points. */
#ifndef FFT_LANES_H
#define FFT_LANES_H

#include "kernels/common/fft/fft.h"

enum { FFT_POINT = 128, FFT_RADIX_MAX = 16 };

/* One sweep of butterflies of one radix over `blocks` blocks of radix * q points: element r of butterfly j of block b
 * is the point at (b * radix + r) * q + j. `twiddles`: [q][radix - 1][re, im], NULL for q = 1. */
typedef void fft_sweep(const void *source, ptrdiff_t source_stride, void *target, ptrdiff_t target_stride,
                       int64_t blocks, int64_t q, const void *twiddles, fft_ahead *ahead);
/* Runs the last forward sweep (q = 1), multiplies by factors[slot[p]][G], and runs the first inverse sweep. */
typedef void fft_turn(const void *source, ptrdiff_t source_stride, void *target, ptrdiff_t target_stride,
                      int64_t blocks, const void *factors, const int32_t *slot, fft_ahead *ahead);

/* The sweep next to the coefficients (q = 1) where only some of them are kept: bit r of kept[b] is element r of block
 * b. The forward sweep does not store the others, and the inverse sweep takes them as zeros without reading them. */
typedef void fft_kept(const void *source, ptrdiff_t source_stride, void *target, ptrdiff_t target_stride,
                      int64_t blocks, const uint16_t *kept, fft_ahead *ahead);

typedef struct fft_lanes {
  fft_kept *forward_kept[FFT_RADIX_MAX + 1], *inverse_kept[FFT_RADIX_MAX + 1];
  fft_sweep *forward[FFT_RADIX_MAX + 1]; /* butterfly, then twiddles; NULL: no such radix */
  fft_sweep *inverse[FFT_RADIX_MAX + 1]; /* twiddles, then butterfly, with exp(+i...) */
  fft_turn *turn[FFT_RADIX_MAX + 1];
  /* target = source times factors[n][re, im], n points each. `swap` exchanges re and im of the source first;
   * `swap_after` exchanges re and im of the product. */
  void (*multiply)(const void *source, ptrdiff_t source_stride, void *target, ptrdiff_t target_stride, int64_t n,
                   const void *factors, int swap, int swap_after);
  /* target[i] = sum over j of matrix[i][j] source[j], in the order of j; n points each. source is not target. */
  void (*product)(const void *matrix, const void *source, ptrdiff_t source_stride, void *target,
                  ptrdiff_t target_stride, int64_t n);
  /* Converts between the columns' transform V and their cosine transform Z, in place:
   *   Z_k = (c_k V_k + conj(c_k) V_(n-k)) / 2,   c_k = exp(-i pi k / 2n)                    (Makhoul 1980)
   * at[k] is the point of wavenumber k; factors[k] = c_k. `quarter`: wavenumbers are k + 1/2, n-1-k replaces n-k, and
   * c_k = exp(-i pi (k + 1/2) / 2n). `mirrored`: Z_k is stored at the point of its partner n-k (or n-1-k). */
  void (*fold)(void *column, ptrdiff_t stride, int64_t n, const int32_t *at, const void *factors, int quarter,
               int mirrored);
  void (*unfold)(void *column, ptrdiff_t stride, int64_t n, const int32_t *at, const void *factors, int quarter,
                 int mirrored);
  /* gather: target[i] = source[from[i]]; scatter: target[to[i]] = source[i]; `alternate`: times -1 for odd from, to. */
  void (*gather)(const void *source, ptrdiff_t stride, void *target, int64_t n, const int32_t *from, int alternate);
  void (*scatter)(const void *source, void *target, ptrdiff_t stride, int64_t n, const int32_t *to, int alternate);
  /* Rows and lanes: see fft.h. stored: wavenumbers of a half that are stored, from 0 on; cut: n/2 is 0. */
  void (*rows_load)(const void *rows, ptrdiff_t row, int64_t count, int64_t n, void *buffer);
  void (*rows_store)(const void *buffer, int64_t n, void *rows, ptrdiff_t row, int64_t count);
  void (*half_store)(const void *buffer, int64_t n, const int32_t *at, int paired, int64_t stored, void *rows,
                     ptrdiff_t row, int64_t count, int cut);
  void (*half_load)(const void *rows, ptrdiff_t row, int64_t count, int64_t n, const int32_t *at, int paired,
                    int64_t stored, int cut, void *buffer);
  void (*real_store)(const void *buffer, int64_t n, const int32_t *at, int pair, void *rows, ptrdiff_t row,
                     int64_t count);
  void (*real_load)(const void *rows, ptrdiff_t row, int64_t count, int64_t n, const int32_t *at, int pair,
                    void *buffer);
} fft_lanes;

extern const fft_lanes fft_lanes_single_plain, fft_lanes_double_plain;
extern const fft_lanes fft_lanes_single_avx2, fft_lanes_double_avx2;
extern const fft_lanes fft_lanes_single_avx512, fft_lanes_double_avx512;

#endif
