/* The CPU's fast multipole method; tests and benchmarks read its counts. */
#ifndef NBODY_FMM_CPU_FMM_H
#define NBODY_FMM_CPU_FMM_H

#include "kernels/nbody/solver.h"

/* Stages of a force. The time of a stage includes its exchanges with other ranks. */
typedef enum nbody_fmm_stage {
  NBODY_FMM_TREE,    /* frame, keys, sort, cells */
  NBODY_FMM_UP,      /* moments */
  NBODY_FMM_DOWN,    /* lists, M2L, L2L, L2P, near pairs */
  NBODY_FMM_OUTER,   /* outer images of a periodic box */
  NBODY_FMM_RESULTS, /* exchange of the results */
  NBODY_FMM_STAGES
} nbody_fmm_stage;

/* Work of the last force or potential on this rank, and the processor time of its stages in seconds, added up over all
 * threads; 0 where there are too few bodies to time. */
typedef struct nbody_fmm_counts {
  double cells, far, near; /* cells of the tree; M2L; ordered pairs of bodies */
  double seconds[NBODY_FMM_STAGES];
} nbody_fmm_counts;
/* Returns the counts of the last force or potential of `work`. */
nbody_fmm_counts nbody_fmm_cpu_counts(const nbody_solver_work *work);

#endif
