/* Vectors of fp32 for lanes.c: FIXED_POINT_ISA 1 AVX2, 2 AVX-512. Grains are loaded as quads of four words: vector q of
 * four holds the grains of pairs q, q + 4 ..., and transposing the four vectors gives one vector a component, with pair
 * l in lane l. */
#ifndef COLLISION_FIXED_POINT_SIMD_H
#define COLLISION_FIXED_POINT_SIMD_H

#include <immintrin.h>

#if FIXED_POINT_ISA == 2
#define V(name) _mm512_##name
typedef __m512 vf;
typedef __m512i vi;
typedef __m512d vd;
typedef __mmask16 lanes;
enum { LANES = 16, ALL_LANES = 0xffff };
#else
#define V(name) _mm256_##name
typedef __m256 vf;
typedef __m256i vi;
typedef __m256d vd;
typedef unsigned lanes; /* a bit each */
enum { LANES = 8, ALL_LANES = 0xff };
#endif

INLINE __m128i quad(const uint32_t *word) { return _mm_loadu_si128((const __m128i *)(const void *)word); }

#if FIXED_POINT_ISA == 2
#define V_LOAD(address) _mm512_loadu_si512(address)
#define V_STORE(address, value) _mm512_storeu_si512(address, value)
#define V_OR _mm512_or_si512
#define V_ZERO _mm512_setzero_si512
INLINE vf as_float(vi a) { return _mm512_castsi512_ps(a); }
INLINE vi as_integer(vf a) { return _mm512_castps_si512(a); }
INLINE lanes less(vf a, vf b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
INLINE lanes not_less(vf a, vf b) { return _mm512_cmp_ps_mask(a, b, _CMP_GE_OQ); }
INLINE vf pick(lanes m, vf yes, vf no) { return _mm512_mask_blend_ps(m, no, yes); }
INLINE vi flag(lanes m, uint32_t bit) { return _mm512_maskz_set1_epi32(m, (int32_t)bit); }
INLINE vf absolute(vf a) { return _mm512_abs_ps(a); }
INLINE vi rows(const uint32_t *base, const uint32_t *at, int q) {
  vi out = _mm512_castsi128_si512(quad(base + at[q]));
  out = _mm512_inserti32x4(out, quad(base + at[q + 4]), 1);
  out = _mm512_inserti32x4(out, quad(base + at[q + 8]), 2);
  return _mm512_inserti32x4(out, quad(base + at[q + 12]), 3);
}
/* d with the fourth word of each quad replaced by the sum of those of a and b. */
INLINE vf fourth_sum(vf d, vi a, vi b) {
  return _mm512_mask_add_ps(d, 0x8888, _mm512_castsi512_ps(a), _mm512_castsi512_ps(b));
}
/* Stores the words selected by m contiguously; returns their number. */
INLINE size_t keep(lanes m, vi words, uint32_t *out) {
  V_STORE(out, _mm512_maskz_compress_epi32(m, words));
  return (size_t)__builtin_popcount(m);
}
/* Sums of floats rounded to 64-bit integers. */
typedef vi fixed_sum;
INLINE fixed_sum sum_zero(void) { return V_ZERO(); }
INLINE fixed_sum sum_add(fixed_sum sum, vf a) {
  const vi low = _mm512_cvtps_epi64(_mm512_castps512_ps256(a));
  const vi high = _mm512_cvtps_epi64(_mm512_extractf32x8_ps(a, 1));
  return _mm512_add_epi64(sum, _mm512_add_epi64(low, high));
}
INLINE int64_t sum_total(fixed_sum sum) { return _mm512_reduce_add_epi64(sum); }
INLINE float greatest(vf a) { return _mm512_reduce_max_ps(a); }
#else
#define V_LOAD(address) _mm256_loadu_si256((const __m256i *)(const void *)(address))
#define V_STORE(address, value) _mm256_storeu_si256((__m256i *)(void *)(address), value)
#define V_OR _mm256_or_si256
#define V_ZERO _mm256_setzero_si256
INLINE vf as_float(vi a) { return _mm256_castsi256_ps(a); }
INLINE vi as_integer(vf a) { return _mm256_castps_si256(a); }
INLINE vi lane_bits(void) { return _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128); }
INLINE vi spread(lanes m) {
  return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32((int)m), lane_bits()), lane_bits());
}
INLINE lanes less(vf a, vf b) { return (lanes)_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_LT_OQ)); }
INLINE lanes not_less(vf a, vf b) { return (lanes)_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_GE_OQ)); }
INLINE vf pick(lanes m, vf yes, vf no) { return _mm256_blendv_ps(no, yes, _mm256_castsi256_ps(spread(m))); }
INLINE vi flag(lanes m, uint32_t bit) { return _mm256_and_si256(spread(m), _mm256_set1_epi32((int32_t)bit)); }
INLINE vf absolute(vf a) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a); }
INLINE vi rows(const uint32_t *base, const uint32_t *at, int q) {
  return _mm256_inserti128_si256(_mm256_castsi128_si256(quad(base + at[q])), quad(base + at[q + 4]), 1);
}
INLINE vf fourth_sum(vf d, vi a, vi b) {
  return _mm256_blend_ps(d, _mm256_add_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b)), 0x88);
}
INLINE size_t keep(lanes m, vi words, uint32_t *out) {
  uint32_t word[LANES];
  size_t found = 0;
  V_STORE(word, words);
  for (; m != 0; m &= m - 1) out[found++] = word[__builtin_ctz(m)];
  return found;
}
typedef int64_t fixed_sum;
INLINE fixed_sum sum_zero(void) { return 0; }
INLINE fixed_sum sum_add(fixed_sum sum, vf a) {
  float value[LANES];
  _mm256_storeu_ps(value, a);
  for (int l = 0; l < LANES; l++) sum += llrintf(value[l]);
  return sum;
}
INLINE int64_t sum_total(fixed_sum sum) { return sum; }
INLINE float greatest(vf a) {
  float value[LANES], most = 0;
  _mm256_storeu_ps(value, a);
  for (int l = 0; l < LANES; l++) most = value[l] > most ? value[l] : most;
  return most;
}
#endif

/* The fourth word of each quad in all its lanes. */
INLINE vf fourth(vi a) { return V(permute_ps)(as_float(a), 0xff); }

/* Transposes quads into components; its own inverse. */
INLINE void transpose(vf d[4], int components) {
  const vd l01 = V(castps_pd)(V(unpacklo_ps)(d[0], d[1])), l23 = V(castps_pd)(V(unpacklo_ps)(d[2], d[3]));
  const vd h01 = V(castps_pd)(V(unpackhi_ps)(d[0], d[1])), h23 = V(castps_pd)(V(unpackhi_ps)(d[2], d[3]));
  d[0] = V(castpd_ps)(V(unpacklo_pd)(l01, l23));
  d[1] = V(castpd_ps)(V(unpackhi_pd)(l01, l23));
  d[2] = V(castpd_ps)(V(unpacklo_pd)(h01, h23));
  if (components == 4) d[3] = V(castpd_ps)(V(unpackhi_pd)(h01, h23));
}

/* Stores LANES impulses a side, in another order than the pairs. */
INLINE void store_side(vi q[3], vi at, fixed_impulse *out) {
  vf e[4] = {as_float(q[0]), as_float(q[1]), as_float(q[2]), as_float(at)};
  transpose(e, 4);
  for (int k = 0; k < 4; k++) V_STORE(out + k * (LANES / 4), as_integer(e[k]));
}
INLINE void store_impulses(vi a, vi b, lanes begun, vi q[3], fixed_impulse *on_a, fixed_impulse *on_b) {
  const vi mark = flag(begun, FIXED_BEGUN), zero = V_ZERO();
  vi back[3];
  for (int c = 0; c < 3; c++) back[c] = V(sub_epi32)(zero, q[c]);
  store_side(q, V_OR(a, mark), on_a);
  store_side(back, V_OR(b, mark), on_b);
}

/* Updates bounds of the squared speeds from three vectors of squared components, x y z x y z ... */
#if FIXED_POINT_ISA == 2
INLINE void greatest_speeds(const vf square[3], vf most[3]) {
  const lanes begins[3] = {0x9249, 0x4924, 0x2492}; /* words that are x components */
  for (int j = 0; j < 3; j++) {
    const vi here = as_integer(square[j]), next = as_integer(square[j < 2 ? j + 1 : 2]);
    const vf y = as_float(_mm512_alignr_epi32(next, here, 1)), z = as_float(_mm512_alignr_epi32(next, here, 2));
    most[j] = _mm512_mask_max_ps(most[j], begins[j], most[j], _mm512_add_ps(square[j], _mm512_add_ps(y, z)));
  }
}
INLINE float greatest_of_three(const vf most[3]) {
  return greatest(_mm512_max_ps(most[0], _mm512_max_ps(most[1], most[2])));
}
#else
/* The greatest of each component: their sum is at least the greatest squared speed. */
INLINE void greatest_speeds(const vf square[3], vf most[3]) {
  for (int j = 0; j < 3; j++) most[j] = _mm256_max_ps(most[j], square[j]);
}
INLINE float greatest_of_three(const vf most[3]) {
  float value[3 * LANES], top[3] = {0, 0, 0};
  for (int j = 0; j < 3; j++) _mm256_storeu_ps(value + j * LANES, most[j]);
  for (int l = 0; l < 3 * LANES; l++) top[l % 3] = value[l] > top[l % 3] ? value[l] : top[l % 3];
  return top[0] + top[1] + top[2];
}
#endif

#endif
