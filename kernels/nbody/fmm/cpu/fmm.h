/* The CPU's fast multipole method; tests and benchmarks read its counts. */
#ifndef NBODY_FMM_CPU_FMM_H
#define NBODY_FMM_CPU_FMM_H

#include "kernels/nbody/solver.h"

/* Work of the last force or potential, and seconds of its phases. */
typedef struct nbody_fmm_counts {
  double cells, far, near; /* cells of the tree; M2L; ordered pairs of bodies */
} nbody_fmm_counts;
nbody_fmm_counts nbody_fmm_cpu_counts(const nbody_solver_work *work);

#endif
