/* Random bits of MRG32k3a (P. L'Ecuyer, Operations Research 47 (1999) 159), the same as cuRAND's device generator
 * curandStateMRG32k3a gives: the four numbers of a path, a group and a draw are those of curand() after
 *   curand_init(seed, subsequence, draw << 40 | 4 * group, &state)
 * Path p < 2^48 has the subsequence p, which begins 2^76 p numbers after the seed's. cuRAND has 2^51 of them: the
 * upper three bits of a path's number, which pilots and regressions have, become bits 48 to 50. A skip ahead by n is a
 * product with the n-th power of two 3x3 matrices, one for each byte of n that is not 0. Twin: cuda/paths/mrg.cuh. */
#ifndef OPTION_MRG_H
#define OPTION_MRG_H

#include "kernels/option/random/draws.h"

#include <stdint.h>

enum {
  OPTION_MRG_LANES = 16, /* paths of one call at most */
  OPTION_MRG_DRAW = 40   /* bits of a draw's place within a subsequence */
};

/* OPTION_MRG_BYTES: of a subsequence, and of an offset within it. An array of 32-bit numbers, which goes to a GPU as it
 * is: the seed's state, then the matrices of each value of each byte of a path and of an offset, two of 3x3 each, row
 * by row. 258 KB. */
typedef struct option_mrg {
  uint32_t seed[6];
  uint32_t path[OPTION_MRG_BYTES][256][2][9], offset[OPTION_MRG_BYTES][256][2][9];
} option_mrg;

static inline uint64_t option_mrg_subsequence(uint64_t path) {
  return path >> 61 << 48 | (path & ((UINT64_C(1) << 48) - 1));
}
void option_mrg_make(uint64_t seed, option_mrg *out);
/* Words of the paths first .. first + count - 1, count <= OPTION_MRG_LANES, that have all but the lowest byte in
 * common.
 */
void option_mrg_bits(const option_mrg *mrg, uint64_t first, int count, uint32_t group, uint32_t draw,
                     uint32_t out[4][OPTION_MRG_LANES]);

#endif
