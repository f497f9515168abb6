/* The CPU's fast multipole method; tests and benchmarks read its counts. */
#ifndef NBODY_FMM_CPU_FMM_H
#define NBODY_FMM_CPU_FMM_H

#include "kernels/nbody/solver.h"

/* Stages of a force: frame, keys, sort and cells; moments; lists, M2L, L2L and pairs; outer images; exchange of the
 * results. The time of a stage includes its exchanges with other ranks. */
typedef enum nbody_fmm_stage {
  NBODY_FMM_TREE,
  NBODY_FMM_UP,
  NBODY_FMM_DOWN,
  NBODY_FMM_OUTER,
  NBODY_FMM_RESULTS,
  NBODY_FMM_STAGES
} nbody_fmm_stage;

/* Work of the last force or potential on this rank, and processor time of its stages in seconds, of all threads; 0 with
 * few bodies. */
typedef struct nbody_fmm_counts {
  double cells, far, near; /* cells of the tree; M2L; ordered pairs of bodies */
  double seconds[NBODY_FMM_STAGES];
} nbody_fmm_counts;
nbody_fmm_counts nbody_fmm_cpu_counts(const nbody_solver_work *work);

#endif
