/* The stages of a fast multipole step, as the host queues them. */
#ifndef NBODY_FMM_CUDA_STAGES_CUH
#define NBODY_FMM_CUDA_STAGES_CUH

#include "kernels/nbody/fmm/cuda/tree.cuh"

enum { NBODY_FMM_TILE = 32 /* cells of a level that a thread block splits at a time */ };

/* Memory of the sort: two arrays of keys and two of ids; each pass sorts from one to the other. */
typedef struct nbody_fmm_sort {
  unsigned long long *key[2];
  unsigned *id[2];
  void *room;
  size_t bytes;
  void *packed; /* bodies as they come, [n]; where there will be cells */
} nbody_fmm_sort;

/* Bytes of nbody_fmm_sort.room for n bodies; 0 after a failure, which the backend keeps. */
size_t nbody_fmm_sort_room(int n);
/* Computes box, keys and sorted bodies. Returns which of the two arrays of keys and ids has the result, which depends
 * on n alone, and calls nbody_fmm_take_order with it. */
template <typename real, typename state_real>
bool nbody_fmm_sort_bodies(nbody_fmm_tree<real> *t, const nbody_fmm_sort *s, const nbody_state *state, double softening,
                           double mass_scale);
/* Sets t->key, t->id, and t->done to the other array of ids, which is free then. */
template <typename real> void nbody_fmm_take_order(nbody_fmm_tree<real> *t, const nbody_fmm_sort *s, bool swapped);
/* Replaces these and nbody_fmm_plant: keeps the last tree, and updates its bodies to their new positions. */
template <typename real, typename state_real>
void nbody_fmm_refit(nbody_fmm_tree<real> *t, const nbody_state *state, double mass_scale);
/* Makes all cells. */
template <typename real> void nbody_fmm_plant(const nbody_fmm_tree<real> *t);

/* The stages that depend on the order; a table for each order and type. */
template <typename real> struct nbody_fmm_stages {
  int moment_stride, field_stride;                                 /* numbers in a row */
  void (*up)(const nbody_fmm_tree<real> *t);                       /* spheres and moments */
  void (*far)(const nbody_fmm_tree<real> *t, bool with_potential); /* lists, and fields by M2L */
  void (*down)(const nbody_fmm_tree<real> *t);                     /* fields of parents, by L2L */
  /* acceleration[3][n] in the state's order and in lengths of the state, but for G and the unit of masses. */
  void (*near)(const nbody_fmm_tree<real> *t, double *acceleration);
  /* of_cell: for each cell, the sum over its bodies of mass times potential; entries without a cell stay unchanged. The
   * product of each body, in units of the box, replaces the body's key. */
  void (*potential)(const nbody_fmm_tree<real> *t, double *of_cell);
};
template <typename real, int P> nbody_fmm_stages<real> nbody_fmm_stages_of();

#endif
