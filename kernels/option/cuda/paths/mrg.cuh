/* Random bits of MRG32k3a instead of Philox. Twin: random/mrg.c. Recurrence and skips as in curand_kernel.h, which
 * not every machine that compiles this source has; tests compare the bits. Device code. */
#ifndef OPTION_CUDA_MRG_CUH
#define OPTION_CUDA_MRG_CUH

#include "kernels/option/cuda/paths/bits.cuh"

struct stream {
  unsigned high, low; /* of the path */
};
__device__ inline stream begin_stream(unsigned high, unsigned low) { return {high, low}; }

struct common_bits {
  unsigned group;
};
__device__ inline common_bits common(unsigned, const option_keys &, unsigned group) { return {group}; }

/* State of a path's subsequence at the beginning of a draw. */
struct own_bits {
  unsigned s[6];
};

enum : unsigned { MRG_M1 = 4294967087u, MRG_M2 = 4294944443u };
/* x mod m for x < 2^49, in [0, m). */
__device__ inline unsigned mrg_reduced(unsigned long long x, int part) {
  x = (x >> 32) * (part ? 22853u : 209u) + (unsigned)x;
  const unsigned m = part ? MRG_M2 : MRG_M1;
  return (unsigned)(x >= m ? x - m : x);
}
/* A product, folded once: congruent mod m, below 2^49. */
__device__ inline unsigned long long mrg_folded(unsigned a, unsigned b, int part) {
  const unsigned long long x = (unsigned long long)a * b;
  return (x >> 32) * (part ? 22853u : 209u) + (unsigned)x;
}

__device__ inline void mrg_skip(const unsigned *matrix, unsigned *s) {
#pragma unroll
  for (int part = 0; part < 2; part++) {
    unsigned next[3];
#pragma unroll
    for (int i = 0; i < 3; i++) {
      const unsigned *row = matrix + 9 * part + 3 * i;
      next[i] =
          mrg_reduced(mrg_folded(__ldg(row), s[3 * part], part) + mrg_folded(__ldg(row + 1), s[3 * part + 1], part) +
                          mrg_folded(__ldg(row + 2), s[3 * part + 2], part),
                      part);
    }
#pragma unroll
    for (int i = 0; i < 3; i++) s[3 * part + i] = next[i];
  }
}

/* Skips n numbers; `table`: matrices of OPTION_MRG_BYTES bytes. */
__device__ inline void mrg_skip_bytes(const unsigned *table, unsigned long long n, unsigned *s) {
#pragma unroll 1
  for (; n != 0; n >>= 8, table += 256 * 18)
    if (n & 255) mrg_skip(table + 18 * (n & 255), s);
}

__device__ inline own_bits prepare(const stream &s, const option_keys &keys, unsigned draw) {
  own_bits own;
  for (int i = 0; i < 6; i++) own.s[i] = __ldg(keys.mrg + i);
  const unsigned high = s.high >> 29 << 16 | (s.high & 0xffffu);
  mrg_skip_bytes(keys.mrg + 6, (unsigned long long)high << 32 | s.low, own.s);
  if (draw > 0) mrg_skip_bytes(keys.mrg + 6 + (OPTION_MRG_BYTES + 5) * 256 * 18, draw, own.s); /* draw << 40 */
  return own;
}

__device__ inline bits4 random_bits(const own_bits &own, const option_keys &keys, common_bits shared) {
  unsigned s[6];
  bits4 out;
  for (int i = 0; i < 6; i++) s[i] = own.s[i];
  mrg_skip_bytes(keys.mrg + 6 + OPTION_MRG_BYTES * 256 * 18, 4ull * shared.group, s);
#pragma unroll
  for (int k = 0; k < 4; k++) {
    const unsigned p = mrg_reduced(mrg_folded(1403580u, s[1], 0) + mrg_folded(810728u, MRG_M1 - s[0], 0), 0);
    const unsigned q = mrg_reduced(mrg_folded(527612u, s[5], 1) + mrg_folded(1370589u, MRG_M2 - s[3], 1), 1);
    s[0] = s[1];
    s[1] = s[2];
    s[2] = p;
    s[3] = s[4];
    s[4] = s[5];
    s[5] = q;
    out.bits[k] = (unsigned)__dmul_rn((double)(p <= q ? p - q + MRG_M1 : p - q), 1.000000048662);
  }
  return out;
}

__device__ inline bits4 random_bits(const stream &s, const option_keys &keys, unsigned group, unsigned draw) {
  return random_bits(prepare(s, keys, draw), keys, {group});
}

#endif
