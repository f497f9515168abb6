/* Memory of the fast multipole method on an NVIDIA GPU: the members of a solver, and the place of each array. */
#ifndef NBODY_FMM_CUDA_MEMORY_CUH
#define NBODY_FMM_CUDA_MEMORY_CUH

#include "engine/device/backend.h"
#include "kernels/nbody/fmm/cuda/outer.cuh"
#include "kernels/nbody/fmm/cuda/ranks.cuh"
#include "kernels/nbody/fmm/cuda/stages.cuh"

/* Numbers of cells, and of segments of lists, that the memory holds. */
struct nbody_fmm_room {
  double cells, segments;
};

struct nbody_solver_work {
  nbody_options options;
  nbody_state state;
  double mass_unit; /* a power of two */
  char description[96];
  nbody_fmm_room room, potential_room;
  void *memory; /* one piece for all arrays but the lists, on the device */
  void *lists;  /* one piece; NULL: there is none, and all forces fail */
  void *images; /* in a periodic box, one piece for the arrays of `outer` */
  nbody_fmm_cuda_outer outer;
  nbody_fmm_ranks ranks;
  unsigned long long *told; /* on the host, written by the device: nbody_fmm_tree.told */
  unsigned forces;          /* forces and potentials queued since `memory` was allocated */
  sim_graph *graph;         /* a force on all bodies; NULL: not captured yet */
  bool swapped;             /* what nbody_fmm_sort_bodies returns */
  int refits;               /* forces on some bodies that may keep the tree; 0: the next one builds it */
  sim_status failure;       /* first error of forces and potentials since the last check */
  char message[1024];
};

/* Byte offsets of the arrays; pool, next and task within `lists`. `counters` is the same for both types. */
struct nbody_fmm_layout {
  unsigned cells, segments;
  size_t frame, counters, result, sample, key[2], id[2], room, room_bytes, body, cell, level, walked, stage, sphere,
      moment, field, open, near, status, of_cell, total;
  size_t pool, next, task, lists_total;
};

/* Returns the stages for expansions of this order. */
template <typename real> nbody_fmm_stages<real> nbody_fmm_stages_for(int order);
/* Returns the offsets for forces in this precision, or for the potential (options of nbody_fmm_for_potential). */
template <typename real> nbody_fmm_layout nbody_fmm_layout_of(const nbody_options *options, const nbody_fmm_room &room);
/* Returns the tree whose arrays are at the places of a layout in the memory of `w`. */
template <typename real>
nbody_fmm_tree<real> nbody_fmm_tree_of(const nbody_solver_work *w, const nbody_options *options,
                                       const nbody_fmm_layout &l);
/* The potential is always in fp64, in the same memory. Beside forces in fp32 it has leaves of twice as many bodies, so
 * that it needs no more memory than the forces. */
nbody_options nbody_fmm_for_potential(const nbody_options *options);

/* Computes the bytes of memory on the host and on the device. */
void nbody_fmm_bytes(const nbody_options *options, double *host, double *device);
/* Allocates all memory of a solver. SIM_ERR_NO_MEMORY, SIM_ERR_DEVICE. */
sim_status nbody_fmm_create(const nbody_options *options, const nbody_state *state, nbody_solver_work **out);
void nbody_fmm_destroy(nbody_solver_work **work);
/* Takes more memory after a force or, `potential`, a potential that had too little; `failed`: NBODY_FMM_CELLS_FULL and
 * NBODY_FMM_SEGMENTS_FULL. SIM_ERR_NO_MEMORY, SIM_ERR_DEVICE. */
sim_status nbody_fmm_grow(nbody_solver_work *w, bool potential, unsigned failed);

#endif
