/* What the driver of the fast multipole method (fmm.c) shares with its inner loops (leaf.c, translate.c, downward.c).
 */
#ifndef NBODY_FMM_KERNELS_H
#define NBODY_FMM_KERNELS_H

#include "kernels/nbody/fmm/cpu/shares.h"

/* A list of cells that grows. */
typedef struct nbody_fmm_list {
  uint32_t *cell;
  int64_t count, capacity;
} nbody_fmm_list;

/* Memory of one thread. */
typedef struct nbody_fmm_scratch {
  nbody_fmm_list queue, far, near;
  nbody_fmm_list targets; /* target bodies of a leaf, by their number in the leaf */
  nbody_fmm_list open[2]; /* cells that inner cells left open, by parity of the level of the inner cell */
  void *sources;          /* real [source_capacity][4], 64-byte aligned: the bodies of a piece of the near list */
  int64_t source_capacity;
  void *sums; /* real [3][sum_capacity], 64-byte aligned: accelerations or potentials of the targets of a leaf */
  int64_t sum_capacity;
  int64_t far_count, near_count; /* number of M2L, and of near pairs, of this force */
  uint64_t *work;                /* [NBODY_FMM_BINS]: counted work; NULL on one rank */
} nbody_fmm_scratch;

/* Position of the open list of a cell within the open list of a thread. */
typedef struct nbody_fmm_open {
  int64_t first;
  uint32_t count;
  uint16_t thread;
} nbody_fmm_open;

/* One computation: forces on all bodies, forces on some bodies, or the potentials of all bodies. */
typedef struct nbody_fmm_job {
  nbody_fmm_tree *tree;
  nbody_fmm_scratch *scratch;   /* [threads] */
  nbody_fmm_open *open;         /* [capacity of the tree] */
  const nbody_targets *targets; /* NULL: all bodies */
  nbody_fmm_cuts cuts;          /* bodies, in the order of keys, whose results each rank computes */
  int64_t first, end;           /* the bodies of this rank: first ... end - 1 */
  uint8_t *walked;              /* [capacity of the tree]: whether the cell has targets; unused where targets is NULL */
  double factor;                /* converts accelerations from units of the frame */
  double *acceleration;         /* [3][n], in the state's order; NULL: potentials are computed */
  double *potential;            /* [n], in the state's order: mass times potential, both in units of the frame */
} nbody_fmm_job;

/* Makes room for `more` cells. SIM_ERR_NO_MEMORY. */
sim_status nbody_fmm_list_reserve(nbody_fmm_list *list, int64_t more) SIM_MUST_CHECK;

/* Computes centre, radius and moments of a leaf. */
typedef void nbody_fmm_leaf(nbody_fmm_tree *tree, int64_t cell);

typedef struct nbody_fmm_translate {
  void (*inner)(nbody_fmm_tree *tree, int64_t cell);       /* bounds, moments of an inner cell */
  void (*shift)(const nbody_fmm_tree *tree, int64_t cell); /* L2L from the parent; the root: zeros */
} nbody_fmm_translate;

/* Makes the lists of a target cell and adds its far list to its field, which holds the shifted field of its parent. For
 * a leaf it also computes the results of its targets. SIM_ERR_NO_MEMORY. */
typedef sim_status nbody_fmm_downward(const nbody_fmm_job *job, int64_t cell, int thread);

/* Computes direct sums for 8 bodies, after nbody_fmm_tree_pack: numbers[8] are their numbers in the state. Fills in the
 * accelerations out[0 ... 2][8] and the potentials out[3][8], as positive numbers, in units of the frame. */
typedef void nbody_fmm_exact(const nbody_fmm_tree *tree, const int64_t numbers[8], double *out);

typedef struct nbody_fmm_down {
  nbody_fmm_downward *target;
  nbody_fmm_exact *exact; /* fp64 only, else NULL */
} nbody_fmm_down;

/* The functions for each instruction set and precision. */
extern nbody_fmm_leaf nbody_fmm_leaf_double_plain, nbody_fmm_leaf_single_plain;
extern nbody_fmm_leaf nbody_fmm_leaf_double_avx2, nbody_fmm_leaf_single_avx2;
extern nbody_fmm_leaf nbody_fmm_leaf_double_avx512, nbody_fmm_leaf_single_avx512;
extern const nbody_fmm_translate nbody_fmm_translate_double_plain, nbody_fmm_translate_single_plain;
extern const nbody_fmm_translate nbody_fmm_translate_double_avx2, nbody_fmm_translate_single_avx2;
extern const nbody_fmm_translate nbody_fmm_translate_double_avx512, nbody_fmm_translate_single_avx512;
extern const nbody_fmm_down nbody_fmm_down_double_plain, nbody_fmm_down_single_plain;
extern const nbody_fmm_down nbody_fmm_down_double_avx2, nbody_fmm_down_single_avx2;
extern const nbody_fmm_down nbody_fmm_down_double_avx512, nbody_fmm_down_single_avx512;

#endif
