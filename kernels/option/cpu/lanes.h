/* Vector types and functions of the path kernels, for one instruction set and one precision: OPTION_ISA 0 plain, 1
 * AVX2 with FMA, 2 AVX-512; OPTION_SINGLE 0 or 1. One path a lane: no result depends on the number of lanes.
 * In fp64 products and sums round separately (IEEE 754): the same bits on every instruction set. In fp32 they are
 * fused where the processor can, and with AVX2 square roots are refined estimates. */
#ifndef OPTION_LANES_H
#define OPTION_LANES_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#ifndef OPTION_ISA
#define OPTION_ISA 0
#define OPTION_SINGLE 0
#elif OPTION_ISA > 0
#include <immintrin.h>
#endif
#define LANES_INLINE static inline __attribute__((always_inline))
enum { LANES_BYTES = 16 << OPTION_ISA };
#define LANES_VECTOR __attribute__((vector_size(16 << OPTION_ISA)))

#if OPTION_SINGLE
typedef float real;
typedef int32_t whole;
#else
typedef double real;
typedef int64_t whole;
#endif
typedef real vreal LANES_VECTOR;
typedef whole vwhole LANES_VECTOR;
typedef uint32_t vword LANES_VECTOR;
typedef uint64_t vwide LANES_VECTOR;
enum { LANES = LANES_BYTES / sizeof(real), WIDE_LANES = LANES_BYTES / 8 };

LANES_INLINE vreal v_set(real a) { return a - (vreal){0}; }
LANES_INLINE vwide w_set(uint64_t a) { return a + (vwide){0}; }

/* Products of the low 32-bit halves of a and b, 64 bits each. */
LANES_INLINE vwide w_mul(vwide a, vwide b) {
#if OPTION_ISA == 2
  return (vwide)_mm512_mul_epu32((__m512i)a, (__m512i)b);
#elif OPTION_ISA == 1
  return (vwide)_mm256_mul_epu32((__m256i)a, (__m256i)b);
#else
  return (a & 0xffffffffu) * (b & 0xffffffffu);
#endif
}

/* High 32-bit halves moved to the low halves; the new high halves are undefined. */
LANES_INLINE vwide w_high(vwide a) {
#if OPTION_ISA == 2
  return (vwide)_mm512_shuffle_epi32((__m512i)a, _MM_PERM_DDBB);
#elif OPTION_ISA == 1
  return (vwide)_mm256_shuffle_epi32((__m256i)a, 0xf5);
#else
  return a >> 32;
#endif
}

#if OPTION_ISA == 2 && OPTION_SINGLE
LANES_INLINE vreal v_fma(vreal a, vreal b, vreal c) { return _mm512_fmadd_ps(a, b, c); }
LANES_INLINE vreal v_max(vreal a, vreal b) { return _mm512_max_ps(a, b); }
LANES_INLINE vreal v_min(vreal a, vreal b) { return _mm512_min_ps(a, b); }
LANES_INLINE vreal v_zero_unless_positive(vreal x, vreal a) {
  return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(x, _mm512_setzero_ps(), _CMP_GT_OQ), a);
}
LANES_INLINE vreal v_root(vreal a) { return _mm512_sqrt_ps(a); }
#elif OPTION_ISA == 2
LANES_INLINE vreal v_fma(vreal a, vreal b, vreal c) { return a * b + c; }
LANES_INLINE vreal v_max(vreal a, vreal b) { return _mm512_max_pd(a, b); }
LANES_INLINE vreal v_min(vreal a, vreal b) { return _mm512_min_pd(a, b); }
LANES_INLINE vreal v_zero_unless_positive(vreal x, vreal a) {
  return _mm512_maskz_mov_pd(_mm512_cmp_pd_mask(x, _mm512_setzero_pd(), _CMP_GT_OQ), a);
}
LANES_INLINE vreal v_root(vreal a) { return _mm512_sqrt_pd(a); }
#elif OPTION_ISA == 1 && OPTION_SINGLE
LANES_INLINE vreal v_fma(vreal a, vreal b, vreal c) { return _mm256_fmadd_ps(a, b, c); }
LANES_INLINE vreal v_max(vreal a, vreal b) { return _mm256_max_ps(a, b); }
LANES_INLINE vreal v_min(vreal a, vreal b) { return _mm256_min_ps(a, b); }
LANES_INLINE vreal v_root(vreal a) {
  a = v_max(a, v_set((real)1e-30));
  vreal y = _mm256_rsqrt_ps(a), r = a * y;
  return v_fma(v_fma(-r, r, a), (real)0.5 * y, r);
}
#elif OPTION_ISA == 1
LANES_INLINE vreal v_fma(vreal a, vreal b, vreal c) { return a * b + c; }
LANES_INLINE vreal v_max(vreal a, vreal b) { return _mm256_max_pd(a, b); }
LANES_INLINE vreal v_min(vreal a, vreal b) { return _mm256_min_pd(a, b); }
LANES_INLINE vreal v_root(vreal a) { return _mm256_sqrt_pd(a); }
#else
LANES_INLINE vreal v_fma(vreal a, vreal b, vreal c) { return a * b + c; }
LANES_INLINE vreal v_select(vwhole which, vreal a, vreal b) {
  return (vreal)((which & (vwhole)a) | (~which & (vwhole)b));
}
LANES_INLINE vreal v_max(vreal a, vreal b) { return v_select(a > b, a, b); }
LANES_INLINE vreal v_min(vreal a, vreal b) { return v_select(a < b, a, b); }
LANES_INLINE vreal v_root(vreal a) {
  for (int i = 0; i < LANES; i++) a[i] = (real)(OPTION_SINGLE ? (double)sqrtf((float)a[i]) : sqrt((double)a[i]));
  return a;
}
#endif
#if OPTION_ISA < 2
LANES_INLINE vreal v_zero_unless_positive(vreal x, vreal a) { return (vreal)((x > (vreal){0}) & (vwhole)a); }
#endif

/* c[0] + c[1] x + ... + c[n-1] x^(n-1) */
LANES_INLINE vreal v_polynomial(const real *c, int n, vreal x) {
  vreal sum = v_set(c[n - 1]);
  for (int i = n - 2; i >= 0; i--) sum = v_fma(sum, x, v_set(c[i]));
  return sum;
}

/* ---- functions ---- */

#if OPTION_SINGLE

/* Random bits, 32 a lane; v_low_bits takes the low halves of the vectors of even and odd lanes. */
typedef vword vbits;
LANES_INLINE vbits v_low_bits(vwide even, vwide odd) {
#if OPTION_ISA == 2
  return (vbits)_mm512_mask_shuffle_epi32((__m512i)even, 0xaaaa, (__m512i)odd, _MM_PERM_CCAA);
#else
  return (vbits)((even & 0xffffffffu) | odd << 32);
#endif
}
/* The same of the high halves. */
LANES_INLINE vbits v_high_bits(vwide even, vwide odd) {
#if OPTION_ISA == 2
  return (vbits)_mm512_mask_shuffle_epi32((__m512i)odd, 0x5555, (__m512i)even, _MM_PERM_DDBB);
#else
  return (vbits)(even >> 32 | (odd & ~UINT64_C(0xffffffff)));
#endif
}
LANES_INLINE vreal v_number(vwhole a) { return __builtin_convertvector(a, vreal); }
/* Uniform number (k + 1/2)/2^31 of the upper 31 bits k: in (0, 1], rounded. */
LANES_INLINE vreal v_uniform(vbits w) { return v_fma(v_number((vwhole)(w >> 1)), v_set(0x1p-31f), v_set(0x1p-32f)); }
/* Number in [-1, 1] of the lower 31 bits. */
LANES_INLINE vreal v_symmetric(vbits w) { return v_fma(v_number((vwhole)(w << 1)), v_set(0x1p-31f), v_set(0x1p-31f)); }
/* a with the sign changed where the top bit of w is set. */
LANES_INLINE vreal v_flip(vreal a, vbits w) { return (vreal)((vbits)a ^ (w & 0x80000000u)); }

/* (k + 1/2)/2^32 where k is w or its complement, whichever is below 2^31. */
LANES_INLINE vreal v_folded(vbits w) {
  return v_fma(v_number((vwhole)w ^ ((vwhole)w >> 31)), v_set(0x1p-32f), v_set(0x1p-33f));
}

LANES_INLINE vbits v_complement(vbits w) { return ~w; }

/* Coefficients: minimax, fitted by reweighted least squares at 4000 Chebyshev nodes. */

/* log2 of 0 < a < inf; error below 1e-7 + half a unit in the last place; <= 0 for a <= 1. */
LANES_INLINE vreal v_log2(vreal a) {
  static const real c[] = {1.4426959f,   -0.721352119f, 0.480801929f, -0.360261048f,
                           0.290806341f, -0.251942061f, 0.201279705f, -0.090877907f};
  /* The mantissa is in [3/4, 3/2). */
#if OPTION_ISA == 2
  vreal m = _mm512_getmant_ps(a, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_src) - 1;
  return v_fma(v_polynomial(c, 8, m), m, _mm512_getexp_ps(a * 0x1.555556p+0f)); /* 4/3 a */
#else
  vwhole exponent = ((vwhole)a - 0x3f400000) >> 23;
  vreal m = (vreal)((vwhole)a - (exponent << 23)) - 1;
  return v_fma(v_polynomial(c, 8, m), m, v_number(exponent));
#endif
}

/* 2^a for |a| <= 126, relative error below 2e-7. */
#if OPTION_ISA == 2
LANES_INLINE vreal v_exp2(vreal a) {
  static const real c[] = {
      1, 0.693146984f, 0.240229836f, 0.0554833421f, 0.00967884077f, 0.00124396899f, 0.000217022484f};
  vreal fraction = _mm512_reduce_ps(a, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
  return _mm512_scalef_ps(v_polynomial(c, 7, fraction), a);
}
#else
LANES_INLINE vreal v_exp2(vreal a) {
  static const real c[] = {
      1, 0.693147203f, 0.240226479f, 0.0555033247f, 0.00961843737f, 0.00133988748f, 0.000153533601f};
  vreal shifted = a + 0x1.8p23f, f = a - (shifted - 0x1.8p23f);
  return (vreal)((vwhole)v_polynomial(c, 7, f) + ((vwhole)shifted << 23));
}
#endif

/* sine and cosine of t quarter turns, |t| <= 1; errors below 2e-7. */
LANES_INLINE void v_sincos(vreal t, vreal *sine, vreal *cosine) {
  static const real s[] = {1.57079629f, -0.64596336f, 0.0796884806f, -0.00467222804f, 0.000150820615f};
  static const real c[] = {0.99999994f, -1.2336982f, 0.25365075f, -0.020810629f, 0.00085819064f};
  vreal t2 = t * t;
  *sine = v_polynomial(s, 5, t2) * t;
  *cosine = v_polynomial(c, 5, t2);
}

#else

typedef vwide vbits; /* the 32 random bits are the lower half */
LANES_INLINE vbits v_low_bits(vwide low, vwide unused) {
  (void)unused;
  return low & 0xffffffffu;
}
LANES_INLINE vbits v_high_bits(vwide high, vwide unused) {
  (void)unused;
  return high >> 32;
}
/* Converts an integer below 2^52, exactly. */
LANES_INLINE vreal v_natural(vwide k) { return (vreal)(k | 0x4330000000000000u) - 0x1p52; }
LANES_INLINE vreal v_uniform(vbits w) { return (v_natural(w >> 1) + 0.5) * 0x1p-31; }
LANES_INLINE vreal v_symmetric(vbits w) { /* of the signed 32-bit number, as in fp32 */
  return (v_natural(((w << 1) & 0xffffffffu) ^ 0x80000000u) - (0x1p31 - 1)) * 0x1p-31;
}
LANES_INLINE vreal v_flip(vreal a, vbits w) { return (vreal)((vbits)a ^ (w & 0x80000000u) << 32); }
LANES_INLINE vbits v_complement(vbits w) { return w ^ 0xffffffffu; }
LANES_INLINE vreal v_folded(vbits w) { return (v_natural((w ^ (0 - (w >> 31))) & 0xffffffffu) + 0.5) * 0x1p-32; }

/* Series end where the next term is below 1e-17 of the first. */

/* log2(a) = e + 2/ln 2 atanh((m - 1)/(m + 1)), a = 2^e m, 3/4 <= m < 3/2. */
LANES_INLINE vreal v_log2(vreal a) {
  static const real c[] = {1,        1.0 / 3,  1.0 / 5,  1.0 / 7,  1.0 / 9,  1.0 / 11,
                           1.0 / 13, 1.0 / 15, 1.0 / 17, 1.0 / 19, 1.0 / 21, 1.0 / 23};
  vwide biased = ((vwide)a - 0x3fe8000000000000u + 0x4000000000000000u) >> 52; /* e + 1024 */
  vreal m = (vreal)((vwide)a - ((biased - 1024) << 52)), s = (m - 1) / (m + 1);
  return v_polynomial(c, 12, s * s) * s * 0x1.71547652b82fep+1 + (v_natural(biased) - 1024);
}

/* 2^a for |a| <= 1022: exp(f ln 2), |f| <= 1/2. */
LANES_INLINE vreal v_exp2(vreal a) {
  static const real c[] = {
      1,          1.0,         1.0 / 2,      1.0 / 6,       1.0 / 24,       1.0 / 120,       1.0 / 720,
      1.0 / 5040, 1.0 / 40320, 1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800.0};
  vreal shifted = a + 0x1.8p52, f = (a - (shifted - 0x1.8p52)) * 0x1.62e42fefa39efp-1;
  return (vreal)((vwide)v_polynomial(c, 14, f) + ((vwide)shifted << 52));
}

LANES_INLINE void v_sincos(vreal t, vreal *sine, vreal *cosine) {
  static const real s[] = {1,
                           -1.0 / 6,
                           1.0 / 120,
                           -1.0 / 5040,
                           1.0 / 362880,
                           -1.0 / 39916800,
                           1.0 / 6227020800.0,
                           -1.0 / 1307674368000.0,
                           1.0 / 355687428096000.0,
                           -1.0 / 121645100408832000.0,
                           1.0 / 51090942171709440000.0};
  static const real c[] = {1,
                           -1.0 / 2,
                           1.0 / 24,
                           -1.0 / 720,
                           1.0 / 40320,
                           -1.0 / 3628800,
                           1.0 / 479001600,
                           -1.0 / 87178291200.0,
                           1.0 / 20922789888000.0,
                           -1.0 / 6402373705728000.0,
                           1.0 / 2432902008176640000.0,
                           -1.0 / 1124000727777607680000.0};
  vreal x = t * 0x1.921fb54442d18p+0, x2 = x * x;
  *sine = v_polynomial(s, 11, x2) * x;
  *cosine = v_polynomial(c, 12, x2);
}

#endif
#endif
