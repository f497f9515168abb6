/* What the ranks of a run share of the fast multipole method on GPUs. Every rank holds all bodies and makes the one
 * tree with its moments; lists, fields and forces are divided: a rank has the bodies of a range in the order of keys,
 * cut at leaves, and walks the cells that have some of them. No sum depends on where it is cut. The cuts follow the
 * work that was counted in an earlier force of the same kind.
 *
 *   cut (after the tree) -> far -> agree -> down, near -> gather
 *
 * Two or three ranks that are peers store each acceleration into the memory of all as soon as it is there, beside the
 * arithmetic: nothing is left to be gathered. */
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
  void *memory;              /* of what follows, on the device */
  unsigned *cut;             /* [ranks + 1]: first body of each rank, in the order of keys */
  unsigned long long *words; /* [ranks][NBODY_FMM_WORDS] */
  double *window;            /* [3][n]: accelerations that all ranks store here; NULL: there is none */
  double **others;           /* [ranks - 1], on the device: the windows of the other ranks */
  unsigned long long *work;  /* [kinds of forces][NBODY_FMM_BINS + 1]; the last: whether it was counted */
} nbody_fmm_ranks;

/* Kinds of forces: on bodies with a level from this on, 0: on all; and, the last, the potential. */
int nbody_fmm_rank_kinds(const nbody_options *options);

/* All ranks call it. */
sim_status nbody_fmm_ranks_create(const nbody_options *options, nbody_fmm_ranks *out) SIM_MUST_CHECK;
void nbody_fmm_ranks_destroy(nbody_fmm_ranks *ranks);
/* Device memory that create allocates, in bytes; the host's if staged. */
double nbody_fmm_ranks_bytes(const nbody_options *options);
/* Bytes of words that a rank receives in a force. */
double nbody_fmm_words_received(const sim_comm *comm);

/* These do nothing on one rank. Cuts the bodies of a tree, and sets what it says of ranks. */
template <typename real>
void nbody_fmm_cut(const nbody_fmm_ranks *ranks, const nbody_options *options, int kind, nbody_fmm_tree<real> *t);
/* After the lists are made: counts their work, and tells all of it. A force that has failed on one rank has failed on
 * all. */
template <typename real> void nbody_fmm_agree(const nbody_fmm_ranks *ranks, int kind, const nbody_fmm_tree<real> *t);
/* Where the near stage puts accelerations of all bodies: the window, of which t is told, or `acceleration`. */
template <typename real>
double *nbody_fmm_take_window(const nbody_fmm_ranks *ranks, nbody_fmm_tree<real> *t, double *acceleration);
/* acceleration[3][n], in the state's order; of the targets alone where there are some. Of a window: waits for all. */
template <typename real>
void nbody_fmm_gather_forces(const nbody_fmm_ranks *ranks, const nbody_fmm_tree<real> *t, double *acceleration);
/* of_cell[cells], zeros where a cell is another rank's or has none, and the potentials of bodies in the places of their
 * keys. `place` [n], free memory. */
void nbody_fmm_gather_potentials(const nbody_fmm_ranks *ranks, const nbody_fmm_tree<double> *t, double *place,
                                 double *of_cell);

#endif
