/* Vectors for one instruction set and one precision: FFT_ISA 0 plain, 1 AVX2 with FMA, 2 AVX-512; FFT_SINGLE 0 or 1.
 * In fp64 every operation rounds once, so that the bits are the same everywhere. */
#ifndef FFT_SIMD_H
#define FFT_SIMD_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#if FFT_ISA > 0
#include <immintrin.h>
#endif

/* Callers guarantee that rows of lanes are aligned to vectors; Clang cannot see this through casts. */
#pragma GCC diagnostic ignored "-Wcast-align"

#define FFT_INLINE static inline __attribute__((always_inline))

#if FFT_SINGLE
typedef float real;
enum { LANES = 16 };
#else
typedef double real;
enum { LANES = 8 };
#endif

#if FFT_ISA == 2
enum { VECTOR_BYTES = 64 };
#elif FFT_ISA == 1
enum { VECTOR_BYTES = 32 };
#else
enum { VECTOR_BYTES = 16 };
#endif
enum { WIDTH = VECTOR_BYTES / (int)sizeof(real) };

typedef real vreal __attribute__((vector_size(VECTOR_BYTES), may_alias));

FFT_INLINE vreal v_set(real a) { return a - (vreal){0}; }

/* a b + c, and c - a b */
#if FFT_ISA == 2 && FFT_SINGLE
FFT_INLINE vreal v_fma(vreal a, vreal b, vreal c) { return (vreal)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c); }
FFT_INLINE vreal v_fnma(vreal a, vreal b, vreal c) { return (vreal)_mm512_fnmadd_ps((__m512)a, (__m512)b, (__m512)c); }
#elif FFT_ISA == 2
FFT_INLINE vreal v_fma(vreal a, vreal b, vreal c) { return (vreal)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c); }
FFT_INLINE vreal v_fnma(vreal a, vreal b, vreal c) {
  return (vreal)_mm512_fnmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
}
#elif FFT_ISA == 1 && FFT_SINGLE
FFT_INLINE vreal v_fma(vreal a, vreal b, vreal c) { return (vreal)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c); }
FFT_INLINE vreal v_fnma(vreal a, vreal b, vreal c) { return (vreal)_mm256_fnmadd_ps((__m256)a, (__m256)b, (__m256)c); }
#elif FFT_ISA == 1
FFT_INLINE vreal v_fma(vreal a, vreal b, vreal c) { return (vreal)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c); }
FFT_INLINE vreal v_fnma(vreal a, vreal b, vreal c) {
  return (vreal)_mm256_fnmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
}
#elif FFT_SINGLE
FFT_INLINE vreal v_fma(vreal a, vreal b, vreal c) { return a * b + c; }
FFT_INLINE vreal v_fnma(vreal a, vreal b, vreal c) { return c - a * b; }
#else
FFT_INLINE vreal v_fma(vreal a, vreal b, vreal c) { return (vreal){fma(a[0], b[0], c[0]), fma(a[1], b[1], c[1])}; }
FFT_INLINE vreal v_fnma(vreal a, vreal b, vreal c) { return (vreal){fma(-a[0], b[0], c[0]), fma(-a[1], b[1], c[1])}; }
#endif

typedef struct complex_lanes {
  vreal re, im;
} complex_lanes;

FFT_INLINE complex_lanes c_times(complex_lanes a, vreal re, vreal im) {
  return (complex_lanes){v_fnma(a.im, im, a.re * re), v_fma(a.im, re, a.re * im)};
}

#endif
