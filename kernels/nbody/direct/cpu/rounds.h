/* The order in which the direct sums add the rounds of their tournament (direct.c), and its division among ranks.
 *
 * Consecutive rounds are a leaf, and leaves are added in a binary tree, for each body:
 *
 *   rounds  0 1 2 | 3 4 5 | 6 7 | 8 9 10      leaf: the rounds one after the other, from zero
 *            \________/     \_______/
 *                  \___________/             sum of all
 *
 * A rank computes consecutive leaves and adds what it has of the tree: the sums of its largest whole subtrees, one for
 * 2 or 4 ranks, at most 2 log2(leaves) for any number. Ranks swap these by ranges of bodies, add the rest of the tree
 * for their own range, and gather the result. Number and limits of leaves follow from the number of bodies alone, so
 * that neither ranks nor threads show in the bits. */
#ifndef NBODY_DIRECT_ROUNDS_H
#define NBODY_DIRECT_ROUNDS_H

#include "kernels/nbody/direct/cpu/tile.h"
#include "kernels/nbody/solver.h"

enum { NBODY_LEVELS_OF_ROUNDS = 8, NBODY_LEAVES_MAX = 1 << NBODY_LEVELS_OF_ROUNDS };
enum { NBODY_SUBTREES_MAX = 2 * NBODY_LEVELS_OF_ROUNDS }; /* of a rank */

/* 2^level leaves from leaf `start` on, a multiple of 2^level. */
typedef struct nbody_subtree {
  int start, level;
} nbody_subtree;

typedef struct nbody_rounds {
  const sim_comm *comm; /* one rank where all ranks compute all leaves */
  int64_t blocks, padded;
  int block;
  int levels;         /* 2^levels leaves */
  int64_t circle;     /* rounds after that of each block with itself */
  uint16_t *leaf;     /* of each round, [circle + 2]: the last one behind all rounds */
  int64_t first, end; /* rounds of this rank */
  int count;          /* subtrees of this rank */
  nbody_subtree subtree[NBODY_SUBTREES_MAX];
  double *left[NBODY_LEVELS_OF_ROUNDS]; /* by level: complete left halves, [sums][padded] each */
  double *done[NBODY_SUBTREES_MAX];     /* of each subtree but the last, which stays in the sums; likewise */
  double *sent, *received;              /* NULL on one rank */
} nbody_rounds;

/* Numbers of type double that nbody_rounds_create needs, on the rank that needs most. */
double nbody_rounds_size(const nbody_options *options, int block, double padded, int sums);
/* Divides the rounds; `memory` is borrowed. */
void nbody_rounds_create(const nbody_options *options, const nbody_packed *packed, int sums, double *memory,
                         nbody_rounds *out);
/* Number of ranks beyond which nothing is gained. */
int nbody_rounds_most_ranks(const nbody_options *options, int block, double padded);

/* Whether a leaf begins or ends with a round. */
static inline bool nbody_rounds_begins(const nbody_rounds *rounds, int64_t round) {
  return round == 0 || rounds->leaf[round - 1] != rounds->leaf[round];
}
static inline bool nbody_rounds_ends(const nbody_rounds *rounds, int64_t round) {
  return rounds->leaf[round + 1] != rounds->leaf[round];
}
/* Before the first round of a leaf, and after the last one, for each block, whether it has a tile in that round or not.
 * From the thread that has the block. */
void nbody_rounds_begin(const nbody_rounds *rounds, const nbody_packed *packed, int sums, int64_t block);
void nbody_rounds_end(const nbody_rounds *rounds, const nbody_packed *packed, int sums, int64_t round, int64_t block);
/* After all rounds of this rank: completes the sums of all bodies on all ranks. */
sim_status nbody_rounds_exchange(const nbody_rounds *rounds, const nbody_packed *packed, int sums) SIM_MUST_CHECK;

#endif
