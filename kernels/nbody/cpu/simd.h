/* Vector operations of the solvers, for one instruction set and one precision:
 * NBODY_ISA 0 plain C, 1 AVX2 with FMA, 2 AVX-512; NBODY_SINGLE 0 or 1.
 *
 * SIMD_WIDTH is the number of values in a vreal; SIMD_LANES, the same for all instruction sets, is the number of
 * partial sums. In fp64 every operation rounds once by IEEE 754, so that results have the same bits everywhere. */
#ifndef NBODY_SIMD_H
#define NBODY_SIMD_H

#include "kernels/nbody/cpu/real.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if NBODY_ISA > 0
#include <immintrin.h>
#endif

#define SIMD_INLINE static inline __attribute__((always_inline))

#if NBODY_SINGLE
enum { SIMD_LANES = 16 };
#else
enum { SIMD_LANES = 8 };
#endif

/* Functions of vectors a, b, c, by lane unless said otherwise:
 *   v_fma, v_fnma   a b + c; c - a b
 *   v_root          about 1/sqrt(a), to be followed by ROOT_ORDER terms of the series
 *   v_inverse_root  1/sqrt(a): in fp64 by an IEEE square root and division, in fp32 to about one unit in the last place
 *   v_except        a, but 0 where x == y
 *   v_greater       a where a > b, else b
 *   v_abs, v_signed |a|; a where b is positive, -a where b is negative
 *   v_above         whether any lane of a is above the same lane of b
 *   v_below         mask: bit l is set where lane l of a is below lane l of b
 *   v_split         stores the numbers whose bits are set to `yes`, the others to `no`, in order; both need room for
 *                   SIMD_WIDTH numbers (only where SIMD_SPLITS is defined: 512 bits, fp32)
 *   v_sums          sums of SIMD_WIDTH rows [SIMD_LANES], each by halves: lanes l + (l + LANES/2), and so on
 *   v_columns       first SIMD_COLUMNS numbers of SIMD_WIDTH rows, at multiples of 16 bytes; row l goes to lane l
 *   v_quartets      SIMD_QUARTETS rows of four numbers, aligned to a vector: number c of row q goes to lanes
 *                   4 q ... 4 q + 3 of out[c]; with SIMD_QUARTETS = 1 to all lanes
 *   v_load_four, v_store_four   lowest four lanes, at a multiple of four numbers
 *   v_close         (s0 + s2) + (s1 + s3) of strands s0 ... s3 of four lanes, in the lowest four lanes; strand sq is
 *                   quartet q mod SIMD_QUARTETS of part[q / SIMD_QUARTETS]
 * With SIMD_QUARTETS = 1 the last three work on whole vectors. */

/* SIMD_OP: an intrinsic function of the instruction set and the precision. */
#if NBODY_ISA == 2 && NBODY_SINGLE
typedef __m512 vreal;
#define SIMD_OP(name) _mm512_##name##_ps
#define SIMD_SPLITS 1
enum { SIMD_WIDTH = 16, SIMD_COLUMNS = 4, SIMD_QUARTETS = 4, ROOT_ORDER = 1 }; /* e = 1 - r2 y^2 <= 2^-13 */
#elif NBODY_ISA == 2
typedef __m512d vreal;
#define SIMD_OP(name) _mm512_##name##_pd
enum { SIMD_WIDTH = 8, SIMD_COLUMNS = 2, SIMD_QUARTETS = 2, ROOT_ORDER = 2 };
#elif NBODY_ISA == 1 && NBODY_SINGLE
typedef __m256 vreal;
#define SIMD_OP(name) _mm256_##name##_ps
enum { SIMD_WIDTH = 8, SIMD_COLUMNS = 4, SIMD_QUARTETS = 2, ROOT_ORDER = 2 }; /* e <= 3 * 2^-12 */
#elif NBODY_ISA == 1
typedef __m256d vreal;
#define SIMD_OP(name) _mm256_##name##_pd
enum { SIMD_WIDTH = 4, SIMD_COLUMNS = 2, SIMD_QUARTETS = 1, ROOT_ORDER = 2 };
#endif
#if NBODY_ISA > 0
SIMD_INLINE vreal v_load(const real *p) { return SIMD_OP(load)(p); }
SIMD_INLINE void v_store(real *p, vreal a) { SIMD_OP(store)(p, a); }
SIMD_INLINE vreal v_set(real a) { return SIMD_OP(set1)(a); }
SIMD_INLINE vreal v_sub(vreal a, vreal b) { return SIMD_OP(sub)(a, b); }
SIMD_INLINE vreal v_add(vreal a, vreal b) { return SIMD_OP(add)(a, b); }
SIMD_INLINE vreal v_mul(vreal a, vreal b) { return SIMD_OP(mul)(a, b); }
SIMD_INLINE vreal v_fma(vreal a, vreal b, vreal c) { return SIMD_OP(fmadd)(a, b, c); }
SIMD_INLINE vreal v_fnma(vreal a, vreal b, vreal c) { return SIMD_OP(fnmadd)(a, b, c); }
SIMD_INLINE vreal v_greater(vreal a, vreal b) { return SIMD_OP(max)(a, b); }
SIMD_INLINE vreal v_abs(vreal a) { return SIMD_OP(andnot)(v_set((real)-0.0), a); }
SIMD_INLINE vreal v_signed(vreal a, vreal b) { return SIMD_OP(xor)(a, SIMD_OP(and)(v_set((real)-0.0), b)); }
#if NBODY_SINGLE
/* Transposes each block of 4 x 4 numbers: quarters of lanes become columns. */
SIMD_INLINE void v_turn(const vreal r[4], vreal out[4]) {
  vreal half[4];
  for (int q = 0; q < 2; q++) {
    half[2 * q] = SIMD_OP(unpacklo)(r[2 * q], r[2 * q + 1]);
    half[2 * q + 1] = SIMD_OP(unpackhi)(r[2 * q], r[2 * q + 1]);
  }
  for (int q = 0; q < 2; q++) {
    out[2 * q] = SIMD_OP(shuffle)(half[q], half[2 + q], 0x44);
    out[2 * q + 1] = SIMD_OP(shuffle)(half[q], half[2 + q], 0xee);
  }
}
#else
SIMD_INLINE vreal v_inverse_root(vreal a) { return SIMD_OP(div)(v_set(1), SIMD_OP(sqrt)(a)); }
#endif
#endif

#if NBODY_ISA == 2 && NBODY_SINGLE
SIMD_INLINE vreal v_root(vreal a) { return _mm512_rsqrt14_ps(a); }
SIMD_INLINE vreal v_inverse_root(vreal a) {
  const vreal y = v_root(a), e = v_fnma(a, v_mul(y, y), v_set(1));
  return v_fma(v_mul(y, v_set(0.5F)), e, y);
}
SIMD_INLINE bool v_above(vreal a, vreal b) { return _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ) != 0; }
SIMD_INLINE unsigned v_below(vreal a, vreal b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
SIMD_INLINE void v_split(const uint32_t *from, unsigned which, uint32_t *yes, uint32_t *no) {
  const __m512i all = _mm512_loadu_si512(from);
  _mm512_storeu_si512(yes, _mm512_maskz_compress_epi32((__mmask16)which, all));
  _mm512_storeu_si512(no, _mm512_maskz_compress_epi32((__mmask16)~which, all));
}
SIMD_INLINE void v_quartets(const real *rows, vreal out[4]) {
  const vreal r = v_load(rows);
  out[0] = _mm512_permute_ps(r, 0x00), out[1] = _mm512_permute_ps(r, 0x55);
  out[2] = _mm512_permute_ps(r, 0xaa), out[3] = _mm512_permute_ps(r, 0xff);
}
SIMD_INLINE vreal v_load_four(const real *p) { return _mm512_castps128_ps512(_mm_load_ps(p)); }
SIMD_INLINE void v_store_four(real *p, vreal a) { _mm_store_ps(p, _mm512_castps512_ps128(a)); }
SIMD_INLINE vreal v_close(const vreal *part) {
  const vreal a = v_add(part[0], _mm512_shuffle_f32x4(part[0], part[0], 0x4e));
  return v_add(a, _mm512_shuffle_f32x4(a, a, 0xb1));
}
SIMD_INLINE void v_columns(const real *const rows[SIMD_WIDTH], size_t at, vreal out[SIMD_COLUMNS]) {
  vreal r[4];
  for (int q = 0; q < 4; q++) {
    r[q] = _mm512_castps128_ps512(_mm_load_ps(rows[q] + at));
    r[q] = _mm512_insertf32x4(r[q], _mm_load_ps(rows[q + 4] + at), 1);
    r[q] = _mm512_insertf32x4(r[q], _mm_load_ps(rows[q + 8] + at), 2);
    r[q] = _mm512_insertf32x4(r[q], _mm_load_ps(rows[q + 12] + at), 3);
  }
  v_turn(r, out);
}
SIMD_INLINE vreal v_except(vreal a, vreal x, vreal y) {
  return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(x, y, _CMP_NEQ_UQ), a);
}
SIMD_INLINE vreal v_sums(const real *rows) {
  vreal quarter[4], half[2];
  for (int t = 0; t < 4; t++) {
    vreal two[2];
    for (int k = 0; k < 2; k++) {
      vreal a = v_load(rows + (8 * k + t) * 16), b = v_load(rows + (8 * k + t + 4) * 16);
      two[k] = _mm512_add_ps(_mm512_shuffle_f32x4(a, b, 0x44), _mm512_shuffle_f32x4(a, b, 0xee));
    }
    quarter[t] = _mm512_add_ps(_mm512_shuffle_f32x4(two[0], two[1], 0x88), _mm512_shuffle_f32x4(two[0], two[1], 0xdd));
  }
  for (int k = 0; k < 2; k++)
    half[k] = _mm512_add_ps(_mm512_unpacklo_ps(quarter[2 * k], quarter[2 * k + 1]),
                            _mm512_unpackhi_ps(quarter[2 * k], quarter[2 * k + 1]));
  return _mm512_add_ps(_mm512_shuffle_ps(half[0], half[1], 0x44), _mm512_shuffle_ps(half[0], half[1], 0xee));
}

#elif NBODY_ISA == 2

SIMD_INLINE vreal v_root(vreal a) {
  return _mm512_cvtps_pd(_mm256_div_ps(_mm256_set1_ps(1), _mm256_sqrt_ps(_mm512_cvtpd_ps(a))));
}
SIMD_INLINE void v_quartets(const real *rows, vreal out[4]) {
  const vreal r = v_load(rows);
  out[0] = _mm512_permutex_pd(r, 0x00), out[1] = _mm512_permutex_pd(r, 0x55);
  out[2] = _mm512_permutex_pd(r, 0xaa), out[3] = _mm512_permutex_pd(r, 0xff);
}
SIMD_INLINE vreal v_load_four(const real *p) { return _mm512_castpd256_pd512(_mm256_load_pd(p)); }
SIMD_INLINE void v_store_four(real *p, vreal a) { _mm256_store_pd(p, _mm512_castpd512_pd256(a)); }
SIMD_INLINE vreal v_close(const vreal *part) {
  const vreal a = v_add(part[0], part[1]);
  return v_add(a, _mm512_shuffle_f64x2(a, a, 0x4e));
}
SIMD_INLINE void v_columns(const real *const rows[SIMD_WIDTH], size_t at, vreal out[SIMD_COLUMNS]) {
  vreal r[2];
  for (int q = 0; q < 2; q++) {
    r[q] = _mm512_castpd128_pd512(_mm_load_pd(rows[q] + at));
    r[q] = _mm512_insertf64x2(r[q], _mm_load_pd(rows[q + 2] + at), 1);
    r[q] = _mm512_insertf64x2(r[q], _mm_load_pd(rows[q + 4] + at), 2);
    r[q] = _mm512_insertf64x2(r[q], _mm_load_pd(rows[q + 6] + at), 3);
  }
  out[0] = _mm512_unpacklo_pd(r[0], r[1]);
  out[1] = _mm512_unpackhi_pd(r[0], r[1]);
}
SIMD_INLINE vreal v_except(vreal a, vreal x, vreal y) {
  return _mm512_maskz_mov_pd(_mm512_cmp_pd_mask(x, y, _CMP_NEQ_UQ), a);
}
SIMD_INLINE vreal v_sums(const real *rows) {
  vreal quarter[2];
  for (int t = 0; t < 2; t++) {
    vreal two[2];
    for (int k = 0; k < 2; k++) {
      vreal a = v_load(rows + (4 * k + t) * 8), b = v_load(rows + (4 * k + t + 2) * 8);
      two[k] = _mm512_add_pd(_mm512_shuffle_f64x2(a, b, 0x44), _mm512_shuffle_f64x2(a, b, 0xee));
    }
    quarter[t] = _mm512_add_pd(_mm512_shuffle_f64x2(two[0], two[1], 0x88), _mm512_shuffle_f64x2(two[0], two[1], 0xdd));
  }
  return _mm512_add_pd(_mm512_unpacklo_pd(quarter[0], quarter[1]), _mm512_unpackhi_pd(quarter[0], quarter[1]));
}

#elif NBODY_ISA == 1 && NBODY_SINGLE

SIMD_INLINE vreal v_root(vreal a) { return _mm256_rsqrt_ps(a); }
SIMD_INLINE vreal v_inverse_root(vreal a) {
  const vreal y = v_root(a), e = v_fnma(a, v_mul(y, y), v_set(1));
  return v_fma(v_mul(y, e), v_fma(e, v_set(0.375F), v_set(0.5F)), y);
}
SIMD_INLINE bool v_above(vreal a, vreal b) { return _mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_GT_OQ)) != 0; }
SIMD_INLINE void v_quartets(const real *rows, vreal out[4]) {
  const vreal r = v_load(rows);
  out[0] = _mm256_permute_ps(r, 0x00), out[1] = _mm256_permute_ps(r, 0x55);
  out[2] = _mm256_permute_ps(r, 0xaa), out[3] = _mm256_permute_ps(r, 0xff);
}
SIMD_INLINE vreal v_load_four(const real *p) { return _mm256_castps128_ps256(_mm_load_ps(p)); }
SIMD_INLINE void v_store_four(real *p, vreal a) { _mm_store_ps(p, _mm256_castps256_ps128(a)); }
SIMD_INLINE vreal v_close(const vreal *part) {
  const vreal a = v_add(part[0], part[1]);
  return v_add(a, _mm256_permute2f128_ps(a, a, 1));
}
SIMD_INLINE void v_columns(const real *const rows[SIMD_WIDTH], size_t at, vreal out[SIMD_COLUMNS]) {
  vreal r[4];
  for (int q = 0; q < 4; q++)
    r[q] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_load_ps(rows[q] + at)), _mm_load_ps(rows[q + 4] + at), 1);
  v_turn(r, out);
}
SIMD_INLINE vreal v_except(vreal a, vreal x, vreal y) { return _mm256_and_ps(a, _mm256_cmp_ps(x, y, _CMP_NEQ_UQ)); }
SIMD_INLINE vreal v_sums(const real *rows) {
  vreal quarter[4], half[2];
  for (int t = 0; t < 4; t++) {
    const real *p = rows + t * 16, *q = p + 4 * 16;
    vreal a = _mm256_add_ps(v_load(p), v_load(p + 8)), b = _mm256_add_ps(v_load(q), v_load(q + 8));
    quarter[t] = _mm256_add_ps(_mm256_permute2f128_ps(a, b, 0x20), _mm256_permute2f128_ps(a, b, 0x31));
  }
  for (int k = 0; k < 2; k++)
    half[k] = _mm256_add_ps(_mm256_unpacklo_ps(quarter[2 * k], quarter[2 * k + 1]),
                            _mm256_unpackhi_ps(quarter[2 * k], quarter[2 * k + 1]));
  return _mm256_add_ps(_mm256_shuffle_ps(half[0], half[1], 0x44), _mm256_shuffle_ps(half[0], half[1], 0xee));
}

#elif NBODY_ISA == 1

SIMD_INLINE vreal v_root(vreal a) {
  return _mm256_cvtps_pd(_mm_div_ps(_mm_set1_ps(1), _mm_sqrt_ps(_mm256_cvtpd_ps(a))));
}
SIMD_INLINE void v_quartets(const real *rows, vreal out[4]) {
  for (int c = 0; c < 4; c++) out[c] = v_set(rows[c]);
}
SIMD_INLINE vreal v_load_four(const real *p) { return v_load(p); }
SIMD_INLINE void v_store_four(real *p, vreal a) { v_store(p, a); }
SIMD_INLINE vreal v_close(const vreal *part) { return v_add(v_add(part[0], part[2]), v_add(part[1], part[3])); }
SIMD_INLINE void v_columns(const real *const rows[SIMD_WIDTH], size_t at, vreal out[SIMD_COLUMNS]) {
  vreal r[2];
  for (int q = 0; q < 2; q++)
    r[q] = _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_load_pd(rows[q] + at)), _mm_load_pd(rows[q + 2] + at), 1);
  out[0] = _mm256_unpacklo_pd(r[0], r[1]);
  out[1] = _mm256_unpackhi_pd(r[0], r[1]);
}
SIMD_INLINE vreal v_except(vreal a, vreal x, vreal y) { return _mm256_and_pd(a, _mm256_cmp_pd(x, y, _CMP_NEQ_UQ)); }
SIMD_INLINE vreal v_sums(const real *rows) {
  vreal half[2];
  for (int t = 0; t < 2; t++) {
    const real *p = rows + t * 8, *q = p + 2 * 8;
    vreal a = _mm256_add_pd(v_load(p), v_load(p + 4)), b = _mm256_add_pd(v_load(q), v_load(q + 4));
    half[t] = _mm256_add_pd(_mm256_permute2f128_pd(a, b, 0x20), _mm256_permute2f128_pd(a, b, 0x31));
  }
  return _mm256_add_pd(_mm256_unpacklo_pd(half[0], half[1]), _mm256_unpackhi_pd(half[0], half[1]));
}

#else

typedef real vreal;
enum { SIMD_COLUMNS = 1, SIMD_QUARTETS = 1 };
SIMD_INLINE vreal v_load(const real *p) { return *p; }
SIMD_INLINE void v_store(real *p, vreal a) { *p = a; }
SIMD_INLINE vreal v_set(real a) { return a; }
SIMD_INLINE vreal v_sub(vreal a, vreal b) { return a - b; }
SIMD_INLINE vreal v_add(vreal a, vreal b) { return a + b; }
SIMD_INLINE vreal v_mul(vreal a, vreal b) { return a * b; }
#if NBODY_SINGLE
enum { SIMD_WIDTH = 1, ROOT_ORDER = 0 };
SIMD_INLINE vreal v_fma(vreal a, vreal b, vreal c) { return a * b + c; }
SIMD_INLINE vreal v_fnma(vreal a, vreal b, vreal c) { return c - a * b; }
SIMD_INLINE vreal v_root(vreal a) { return 1 / sqrtf(a); }
SIMD_INLINE vreal v_inverse_root(vreal a) { return 1 / sqrtf(a); }
#else
enum { SIMD_WIDTH = 1, ROOT_ORDER = 2 };
SIMD_INLINE vreal v_fma(vreal a, vreal b, vreal c) { return fma(a, b, c); }
SIMD_INLINE vreal v_fnma(vreal a, vreal b, vreal c) { return fma(-a, b, c); }
SIMD_INLINE vreal v_root(vreal a) { return (double)(1 / sqrtf((float)a)); }
SIMD_INLINE vreal v_inverse_root(vreal a) { return 1 / sqrt(a); }
#endif
SIMD_INLINE vreal v_except(vreal a, vreal x, vreal y) { return x == y ? 0 : a; }
#if NBODY_SINGLE
SIMD_INLINE bool v_above(vreal a, vreal b) { return a > b; }
#endif
SIMD_INLINE vreal v_greater(vreal a, vreal b) { return a > b ? a : b; }
SIMD_INLINE vreal v_abs(vreal a) { return (vreal)fabs((double)a); }
SIMD_INLINE vreal v_signed(vreal a, vreal b) { return signbit(b) ? -a : a; }
SIMD_INLINE void v_columns(const real *const rows[SIMD_WIDTH], size_t at, vreal out[SIMD_COLUMNS]) {
  out[0] = rows[0][at];
}
SIMD_INLINE void v_quartets(const real *rows, vreal out[4]) {
  for (int c = 0; c < 4; c++) out[c] = rows[c];
}
SIMD_INLINE vreal v_load_four(const real *p) { return v_load(p); }
SIMD_INLINE void v_store_four(real *p, vreal a) { v_store(p, a); }
SIMD_INLINE vreal v_close(const vreal *part) { return v_add(v_add(part[0], part[2]), v_add(part[1], part[3])); }
SIMD_INLINE vreal v_sums(const real *rows) {
  real sum[SIMD_LANES];
  for (int l = 0; l < SIMD_LANES; l++) sum[l] = rows[l];
  for (int step = SIMD_LANES / 2; step > 0; step /= 2)
    for (int l = 0; l < step; l++) sum[l] += sum[l + step];
  return sum[0];
}

#endif
#endif
