/* The order in which the direct sums add the rounds of their tournament (direct.c), and its division among ranks.
 *
 * Consecutive rounds are a leaf, and leaves are added in a binary tree, for each body:
 *
 *   rounds  0 1 2 | 3 4 5 | 6 7 | 8 9 10      leaf: the rounds one after the other, from zero
 *            \________/     \_______/
 *                  \___________/             sum of all
 *
 * A rank computes consecutive leaves and adds them up to its largest whole subtrees: one subtree for 2 or 4 ranks, at
 * most 2 log2(leaves) for any number of ranks. Ranks exchange these sums by ranges of bodies, add the rest of the tree
 * for their own range, and gather the result. Number and limits of leaves follow from the number of bodies alone, so
 * that the bits depend neither on ranks nor on threads. Fixed-point sums would need no tree but a bound of the forces,
 * which does not exist without softening or for custom laws; and bodies with small forces would lose digits. */
#ifndef NBODY_DIRECT_ROUNDS_H
#define NBODY_DIRECT_ROUNDS_H

#include "kernels/nbody/direct/cpu/tile.h"
#include "kernels/nbody/solver.h"

enum { NBODY_LEVELS_OF_ROUNDS = 8, NBODY_LEAVES_MAX = 1 << NBODY_LEVELS_OF_ROUNDS };
enum { NBODY_SUBTREES_MAX = 2 * NBODY_LEVELS_OF_ROUNDS }; /* subtrees of one rank */

/* Subtree of 2^level leaves, from leaf `start` on; `start` is a multiple of 2^level. */
typedef struct nbody_subtree {
  int start, level;
} nbody_subtree;

typedef struct nbody_rounds {
  const sim_comm *comm; /* a single rank where all ranks compute all leaves */
  int64_t padded;       /* bodies of all blocks */
  int block;
  int levels;         /* 2^levels leaves */
  int64_t circle;     /* number of rounds after the one in which each block meets itself */
  uint16_t *leaf;     /* [circle + 2]: leaf of each round; the last entry is behind all rounds */
  int64_t first, end; /* rounds of this rank: first <= round < end */
  int count;          /* number of subtrees of this rank */
  nbody_subtree subtree[NBODY_SUBTREES_MAX];
  double *left[NBODY_LEVELS_OF_ROUNDS]; /* sums of complete left halves, by level: [sums][padded] each */
  double *done[NBODY_SUBTREES_MAX];     /* of each subtree but the last, which stays in the bodies' sums; likewise */
  double *sent, *received;              /* NULL on one rank */
} nbody_rounds;

/* Number of doubles that nbody_rounds_create needs on the rank that needs most. */
double nbody_rounds_size(const nbody_options *options, int block, double padded, int sums);
/* Divides the rounds among the ranks; borrows `memory`. */
void nbody_rounds_create(const nbody_options *options, const nbody_packed *packed, int sums, double *memory,
                         nbody_rounds *out);
/* Bytes that the rank that receives most gets in nbody_rounds_exchange. */
double nbody_rounds_received(const nbody_options *options, int block, double padded, int sums);
/* Number of ranks beyond which more ranks save nothing. */
int nbody_rounds_most_ranks(const nbody_options *options, int block, double padded);

/* Whether a leaf begins with this round (begins), or ends with it (ends). */
static inline bool nbody_rounds_begins(const nbody_rounds *rounds, int64_t round) {
  return round == 0 || rounds->leaf[round - 1] != rounds->leaf[round];
}
static inline bool nbody_rounds_ends(const nbody_rounds *rounds, int64_t round) {
  return rounds->leaf[round + 1] != rounds->leaf[round];
}
/* Clear the sums of a block before the first round of a leaf (begin); add them to the tree after its last round (end).
 * The thread that has the block calls both, even where the block has no tile in that round. */
void nbody_rounds_begin(const nbody_rounds *rounds, const nbody_packed *packed, int sums, int64_t block);
void nbody_rounds_end(const nbody_rounds *rounds, const nbody_packed *packed, int sums, int64_t round, int64_t block);
/* Completes the sums of all bodies on all ranks, after all rounds of this rank. All ranks call it. */
sim_status nbody_rounds_exchange(const nbody_rounds *rounds, const nbody_packed *packed, int sums) SIM_MUST_CHECK;

#endif
