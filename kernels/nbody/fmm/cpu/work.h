/* Memory of the CPU's fast multipole solver, and what its sources share. */
#ifndef NBODY_FMM_CPU_WORK_H
#define NBODY_FMM_CPU_WORK_H

#include "kernels/nbody/fmm/cpu/fmm.h"
#include "kernels/nbody/fmm/cpu/kernels.h"
#include "kernels/nbody/fmm/cpu/outer.h"

#include <math.h>

/* Exact energies of bodies, which come with their exact forces. */
typedef struct nbody_fmm_sampled {
  int count; /* 0: not since the last force or potential */
  int64_t number[NBODY_SAMPLES];
  double energy[NBODY_SAMPLES];
} nbody_fmm_sampled;

struct nbody_solver_work {
  nbody_options options;
  nbody_state state;
  nbody_fmm_leaf *leaf[2]; /* [single] */
  const nbody_fmm_translate *translate[2];
  const nbody_fmm_down *down[2];
  nbody_fmm_tree tree;
  nbody_fmm_scratch *scratch; /* [threads] */
  nbody_fmm_open *open;       /* [open_capacity]: of each cell */
  int64_t open_capacity;
  uint8_t *walked;         /* individual steps: [open_capacity] */
  int refits;              /* that the tree may still see; 0: the next force builds one */
  double *terms, *partial; /* of the potential: [n], [blocks] */
  double energy;           /* unit of the terms */
  nbody_fmm_sampled sampled;
  /* With several ranks, in bins of bodies in the order of keys: work that the last force of all bodies, and the last
   * ones of individual steps by their least level, took; of a thread; of each rank. */
  uint64_t (*work)[NBODY_FMM_BINS];
  bool counted[NBODY_LEVELS_MAX + 1];
  /* In a periodic box: the outer images, and direct sums, against which the error is measured. */
  const nbody_fmm_outer_loops *outer_loops;
  nbody_fmm_outer outer;
  nbody_solver_work *direct;
  double seconds[NBODY_FMM_STAGES], since;
  nbody_failure failure;
  char text[32];
};

/* Of nbody_solver. */
sim_status nbody_fmm_work_create(const nbody_options *options, const nbody_state *state,
                                 nbody_solver_work **out) SIM_MUST_CHECK;
void nbody_fmm_work_destroy(nbody_solver_work **work);
void nbody_fmm_work_bytes(const nbody_options *options, double *host, double *device);

/* Memory for each cell of the tree. SIM_ERR_NO_MEMORY. */
sim_status nbody_fmm_work_take_cells(nbody_solver_work *w) SIM_MUST_CHECK;

/* Of a mass times a potential in the frame of the last tree. */
static inline double nbody_fmm_unit_of_energy(const nbody_solver_work *w) {
  const nbody_fmm_tree *t = &w->tree;
  return t->box > 0 ? ldexp(w->options.G, 2 * t->mass) * t->scale : ldexp(w->options.G, 2 * t->mass - t->position);
}

/* sample.c: of nbody_solver. */
sim_status nbody_fmm_sample(nbody_solver_work *w, const int64_t *numbers, int count, double *position, double *got,
                            double *exact) SIM_MUST_CHECK;
sim_status nbody_fmm_sample_potential(nbody_solver_work *w, const int64_t *numbers, int count, double *got,
                                      double *exact) SIM_MUST_CHECK;

#endif
