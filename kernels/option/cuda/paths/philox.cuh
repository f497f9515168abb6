/* Random bits of Philox4x32-10, one path a thread. Twin: cpu/random.h. Which bits a path takes: random/draws.h.
 * Device code. */
#ifndef OPTION_CUDA_PHILOX_CUH
#define OPTION_CUDA_PHILOX_CUH

#include "kernels/common/device.cuh"
#include "kernels/option/cuda/paths/bits.cuh"

struct halves {
  unsigned low, high;
};
__device__ inline halves product(unsigned a, unsigned b) {
  halves p;
  wide_product(a, b, &p.low, &p.high);
  return p;
}

/* State of the generator for one path: the first product; the same at every step. */
struct stream {
  halves first;
  unsigned high; /* upper half of the path's number; the same for a thread block */
};

__device__ inline stream begin_stream(unsigned high, unsigned low) { return {product(low, 0xD2511F53u), high}; }

/* `group`: number of four steps, or the step of a jump. Of the products in the first three rounds two depend on the
 * path's upper half and the group alone and are shared by a thread block; three depend on the path alone and leave
 * the loop over its steps. */
struct common_bits {
  unsigned c2, c3; /* second round's state */
};

__device__ inline common_bits common(unsigned high, const option_keys &keys, unsigned group) {
  const unsigned long long p = 0xCD9E8D57ull * high;
  const unsigned long long q = 0xD2511F53ull * ((unsigned)(p >> 32) ^ group ^ keys.key[0][0]);
  return {(unsigned)(q >> 32) ^ keys.key[1][1], (unsigned)q};
}

/* The part that depends on the path alone. */
struct own_bits {
  halves third; /* the third round's first product */
  unsigned c1, c2;
};

__device__ inline own_bits prepare(const stream &s, const option_keys &keys, unsigned draw) {
  const halves second = product(s.first.high ^ draw ^ keys.key[0][1], 0xCD9E8D57u);
  return {product(second.high ^ (0xCD9E8D57u * s.high ^ keys.key[1][0]), 0xD2511F53u), second.low, s.first.low};
}

__device__ inline bits4 random_bits(const own_bits &own, const option_keys &keys, common_bits shared) {
  unsigned c[4] = {0, own.c1, own.c2 ^ shared.c2, shared.c3};
#pragma unroll
  for (int round = 2; round < 10; round++) {
    const halves a = round == 2 ? own.third : product(c[0], 0xD2511F53u), b = product(c[2], 0xCD9E8D57u);
    c[0] = b.high ^ c[1] ^ keys.key[round][0];
    c[1] = b.low;
    c[2] = a.high ^ (c[3] ^ keys.key[round][1]);
    c[3] = a.low;
  }
  return {{c[0], c[1], c[2], c[3]}};
}

__device__ inline bits4 random_bits(const stream &s, const option_keys &keys, unsigned group, unsigned draw) {
  return random_bits(prepare(s, keys, draw), keys, common(s.high, keys, group));
}

#endif
