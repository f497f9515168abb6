/* Division of the fast multipole method on GPUs among ranks. Every rank holds all bodies and makes the same tree with
 * its moments; lists, fields and forces are divided. A rank has the bodies of a range in the order of keys, cut at
 * leaves, and walks the cells that have some of these bodies. No sum depends on the cuts. The cuts follow the
 * work that was counted in an earlier force of the same kind.
 *
 *   cut (after the tree) -> far -> agree -> down, near -> gather
 *
 * Two or three ranks that are peers store each acceleration into the memory of all ranks at once, during the
 * arithmetic, so that nothing is left to be gathered. */
#ifndef NBODY_FMM_CUDA_RANKS_CUH
#define NBODY_FMM_CUDA_RANKS_CUH

#include "engine/comm/cuda/listing.h"
#include "kernels/nbody/fmm/cuda/tree.cuh"

/* Bins of bodies in the order of keys, in which work is counted. */
enum { NBODY_FMM_BINS = 1024 };
/* Words that ranks tell each other in a force: work by bins; why it has failed; segments that it took; whether its
 * pairs are in the work. */
enum { NBODY_FMM_WORD_FAILED = NBODY_FMM_BINS, NBODY_FMM_WORD_SEGMENTS, NBODY_FMM_WORD_COUNTED, NBODY_FMM_WORDS };

typedef struct nbody_fmm_ranks {
  const sim_comm *comm;
  sim_listing *listing;      /* NULL: one rank */
  void *memory;              /* memory of the arrays below, on the device */
  unsigned *cut;             /* [ranks + 1]: first body of each rank, in the order of keys */
  unsigned long long *words; /* [ranks][NBODY_FMM_WORDS] */
  double *window;            /* [3][n]: accelerations that all ranks store here; NULL: there is none */
  double **others;           /* [ranks - 1], on the device: the windows of the other ranks */
  unsigned long long *work;  /* [kinds of forces][NBODY_FMM_BINS + 1]; the last: whether it was counted */
} nbody_fmm_ranks;

/* Kinds of forces: on bodies with a level from this on, 0: on all; and, the last, the potential. */
int nbody_fmm_rank_kinds(const nbody_options *options);

/* Called by all ranks. */
sim_status nbody_fmm_ranks_create(const nbody_options *options, nbody_fmm_ranks *out) SIM_MUST_CHECK;
void nbody_fmm_ranks_destroy(nbody_fmm_ranks *ranks);
/* Bytes that create allocates on the device, and on the host if staged. */
double nbody_fmm_ranks_bytes(const nbody_options *options);
/* Returns the bytes of words that a rank receives in a force. */
double nbody_fmm_words_received(const sim_comm *comm);

/* These functions do nothing on one rank. Cuts the bodies of a tree, and sets the tree's members about ranks. */
template <typename real>
void nbody_fmm_cut(const nbody_fmm_ranks *ranks, const nbody_options *options, int kind, nbody_fmm_tree<real> *t);
/* Counts the work of the lists, once they are made, and exchanges all counts. A force that has failed on one rank has
 * failed on all ranks. */
template <typename real> void nbody_fmm_agree(const nbody_fmm_ranks *ranks, int kind, const nbody_fmm_tree<real> *t);
/* Where the near stage puts accelerations of all bodies: the window, of which t is told, or `acceleration`. */
template <typename real>
double *nbody_fmm_take_window(const nbody_fmm_ranks *ranks, nbody_fmm_tree<real> *t, double *acceleration);
/* Gathers acceleration[3][n], in the state's order; of the targets alone where there are some. With a window: waits. */
template <typename real>
void nbody_fmm_gather_forces(const nbody_fmm_ranks *ranks, const nbody_fmm_tree<real> *t, double *acceleration);
/* Gathers of_cell[cells], zero where a cell is another rank's or has no sum, and the potentials of bodies in the memory
 * of their keys. `place` [n]: free memory. */
void nbody_fmm_gather_potentials(const nbody_fmm_ranks *ranks, const nbody_fmm_tree<double> *t, double *place,
                                 double *of_cell);

#endif
