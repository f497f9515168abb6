/* The solver of pair forces with a cutoff on an NVIDIA GPU.
 *
 *   state --pack--> places, greatest displacement --force--> acceleration
 *   where that is above half the skin: --keys, sort, cells, search--> lists, and pack and force again */
#ifndef NBODY_CUDA_SHORT_CUH
#define NBODY_CUDA_SHORT_CUH

#include "kernels/nbody/short/cuda/law.h"
#include "kernels/nbody/short/cuda/pairs.cuh"
#include "kernels/nbody/short/short.h"

struct nbody_solver_work {
  nbody_options options;
  nbody_state state;
  nbody_short_law law;
  nbody_failure failure;
  nbody_pair_sums sums;
  double shift; /* shift of the potential */
  bool listed;  /* the lists are those of state->searched */
  bool summed;  /* the sums belong to the present positions */
  int side;     /* cells along an edge: 1, or at least 3 */
  int room;     /* most neighbours of a body */
  void *memory; /* one allocation in device memory for all arrays below but `list` */
  unsigned *keys, *sorted_keys;
  int *numbers, *order;
  int *cell; /* [side^3 + 1]: first body of each */
  int *length;
  void *places;              /* [n] of place<pair_real>::type */
  unsigned long long *moved; /* [2]: bits of the greatest squared displacement; most neighbours */
  double *partial, *result;  /* [SHORT_SUMS][blocks], [SHORT_SUMS] */
  void *sort;                /* scratch of the sort */
  size_t sort_bytes;
  int *list; /* [room][n] */
};

/* Bytes of scratch of the sort of n keys. */
size_t nbody_short_sort_bytes(int n);
/* Enqueues the packing of the bodies in their order, where they are now or were at the search, and the greatest
 * displacement since the search to w->moved[0]. */
void nbody_short_pack(nbody_solver_work *w, bool of_search);
/* Enqueues: adds the bodies' displacements since the last search to `travelled`, and takes their positions as those of
 * the search; `first`: there was no search before. */
void nbody_short_move(nbody_solver_work *w, bool first);
/* Enqueues the order of the bodies by the cells of the search. */
void nbody_short_sort(nbody_solver_work *w);
/* Enqueues the search, of packed bodies; the most neighbours go to w->moved[1]. Lists that are longer than w->room are
 * cut. */
void nbody_short_search(nbody_solver_work *w);

#endif
