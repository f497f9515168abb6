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

/* Of one thread. */
typedef struct nbody_fmm_scratch {
  nbody_fmm_list queue, far, near;
  nbody_fmm_list targets; /* bodies of a leaf whose forces are asked for, by their number in the leaf */
  nbody_fmm_list open[2]; /* what inner cells left open, by parity of their level */
  void *sources;          /* real [source_capacity][4], 64-byte aligned: the bodies of a piece of the near list */
  int64_t source_capacity;
  void *sums; /* real [3][sum_capacity], 64-byte aligned: of the bodies of a leaf */
  int64_t sum_capacity;
  int64_t far_count, near_count; /* cells, and pairs of bodies, that were summed */
  uint64_t *work;                /* [NBODY_FMM_BINS], with several ranks */
} nbody_fmm_scratch;

/* Where the open list of a cell is: in that of a thread. */
typedef struct nbody_fmm_open {
  int64_t first;
  uint32_t count;
  uint16_t thread;
} nbody_fmm_open;

/* One force or potential of all bodies, or one force of some bodies. */
typedef struct nbody_fmm_job {
  nbody_fmm_tree *tree;
  nbody_fmm_scratch *scratch;   /* [threads] */
  nbody_fmm_open *open;         /* [capacity of the tree] */
  const nbody_targets *targets; /* NULL: all bodies */
  nbody_fmm_cuts cuts;          /* whose forces a rank computes */
  int64_t first, end;           /* of this rank */
  uint8_t *walked;              /* with targets, [capacity of the tree]: the cell has some of them */
  double factor;                /* from units of the box */
  double *acceleration;         /* [3][n], in the state's order; NULL: the potential */
  double *potential;            /* [n]: mass times potential of each body, both in units of the box */
} nbody_fmm_job;

/* Makes room for `more` cells. SIM_ERR_NO_MEMORY. */
sim_status nbody_fmm_list_reserve(nbody_fmm_list *list, int64_t more) SIM_MUST_CHECK;

/* Centre, radius and moments of a leaf. */
typedef void nbody_fmm_leaf(nbody_fmm_tree *tree, int64_t cell);

typedef struct nbody_fmm_translate {
  void (*inner)(nbody_fmm_tree *tree, int64_t cell);       /* bounds and moments of an inner cell, from its children */
  void (*shift)(const nbody_fmm_tree *tree, int64_t cell); /* L2L of the parent's field to the cell; the root: zeros */
} nbody_fmm_translate;

/* Lists, field and, of a leaf, forces of a target cell, whose field holds the parent's. SIM_ERR_NO_MEMORY. */
typedef sim_status nbody_fmm_downward(const nbody_fmm_job *job, int64_t cell, int thread);

/* Direct sums in units of the box, of 8 bodies `numbers` of a tree whose bodies are nbody_fmm_tree_pack's:
 * accelerations out[0 ... 2][8], and potentials out[3][8], as positive numbers. */
typedef void nbody_fmm_exact(const nbody_fmm_tree *tree, const int64_t numbers[8], double *out);

typedef struct nbody_fmm_down {
  nbody_fmm_downward *target;
  nbody_fmm_exact *exact; /* fp64 only, else NULL */
} nbody_fmm_down;

/* By instruction set and precision, as nbody_tiles. */
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
