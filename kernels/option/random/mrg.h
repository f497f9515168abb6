/* Random bits of MRG32k3a (P. L'Ecuyer, Operations Research 47 (1999) 159), bit-identical to cuRAND's device
 * generator curandStateMRG32k3a: the four numbers of (path, group, draw) are four results of curand() after
 *   curand_init(seed, subsequence, draw << 40 | 4 * group, &state)
 * Path p < 2^48 has the subsequence p, which begins 2^76 p numbers after the seed's. cuRAND has 2^51 subsequences:
 * the upper three bits of a path number, set for pilot and regression, become bits 48 to 50. A skip by n multiplies
 * the state by the n-th power of two 3x3 matrices, one product for each non-zero byte of n. Twin:
 * cuda/paths/mrg.cuh. */
#ifndef OPTION_MRG_H
#define OPTION_MRG_H

#include "kernels/option/random/draws.h"

#include <stdint.h>

enum {
  OPTION_MRG_LANES = 16, /* paths of one call, at most */
  OPTION_MRG_DRAW = 40   /* bit at which the draw begins in an offset */
};

/* Tables of skips: the seed's state, then, for each byte and each value of a subsequence's number and of an offset
 * (OPTION_MRG_BYTES bytes each), two 3x3 matrices by rows. 258 KB of 32-bit numbers, copied to a GPU unchanged. */
typedef struct option_mrg {
  uint32_t seed[6];
  uint32_t path[OPTION_MRG_BYTES][256][2][9], offset[OPTION_MRG_BYTES][256][2][9];
} option_mrg;

/* The subsequence of a path. */
static inline uint64_t option_mrg_subsequence(uint64_t path) {
  return path >> 61 << 48 | (path & ((UINT64_C(1) << 48) - 1));
}
/* Computes the tables of a seed, in host memory. */
void option_mrg_make(uint64_t seed, option_mrg *out);
/* Random bits of the paths first .. first + count - 1, count <= OPTION_MRG_LANES, which may differ in the lowest
 * byte alone: out[number][path]. */
void option_mrg_bits(const option_mrg *mrg, uint64_t first, int count, uint32_t group, uint32_t draw,
                     uint32_t out[4][OPTION_MRG_LANES]);

#endif
