/* Memory of the fast multipole solver on the CPU, and functions that its sources share. */
#ifndef NBODY_FMM_CPU_WORK_H
#define NBODY_FMM_CPU_WORK_H

#include "kernels/nbody/fmm/cpu/fmm.h"
#include "kernels/nbody/fmm/cpu/kernels.h"
#include "kernels/nbody/fmm/cpu/outer.h"

#include <math.h>

/* Energies of sampled bodies by direct sums, which are computed together with their forces. */
typedef struct nbody_fmm_sampled {
  int count; /* 0: none since the last force or potential */
  int64_t number[NBODY_SAMPLES];
  double energy[NBODY_SAMPLES];
} nbody_fmm_sampled;

struct nbody_solver_work {
  nbody_options options;
  nbody_state state;
  nbody_fmm_leaf *leaf[2]; /* [single], as translate and down */
  const nbody_fmm_translate *translate[2];
  const nbody_fmm_down *down[2];
  nbody_fmm_tree tree;
  nbody_fmm_scratch *scratch; /* [threads] */
  nbody_fmm_open *open;       /* [open_capacity]: open list of each cell */
  int64_t open_capacity;
  uint8_t *walked;         /* [open_capacity]: of nbody_fmm_job; NULL without individual steps */
  int refits;              /* number of forces that may still reuse the tree; 0: the next force builds a tree */
  double *terms, *partial; /* terms of the potential [n], and partial sums of them [blocks] */
  double energy;           /* unit of the terms of the last potential */
  nbody_fmm_sampled sampled;
  /* Counted work, where there are several ranks. Rows 0 ... NBODY_LEVELS_MAX: of the last force, by the least level of
   * its targets (0: all bodies); then a row for each thread; then a row for each rank. */
  uint64_t (*work)[NBODY_FMM_BINS];
  bool counted[NBODY_LEVELS_MAX + 1];
  /* In a periodic box: the outer images, and direct sums with which the error is measured. */
  const nbody_fmm_outer_loops *outer_loops;
  nbody_fmm_outer outer;
  nbody_solver_work *direct;
  double seconds[NBODY_FMM_STAGES], since;
  nbody_failure failure;
  char text[32];
};

/* create, destroy and bytes of nbody_solver. */
sim_status nbody_fmm_work_create(const nbody_options *options, const nbody_state *state,
                                 nbody_solver_work **out) SIM_MUST_CHECK;
void nbody_fmm_work_destroy(nbody_solver_work **work);
void nbody_fmm_work_bytes(const nbody_options *options, double *host, double *device);
double nbody_fmm_work_room(const nbody_options *options);

/* Allocates `open` and `walked` for the cells of the tree. SIM_ERR_NO_MEMORY. */
sim_status nbody_fmm_work_take_cells(nbody_solver_work *w) SIM_MUST_CHECK;

/* Returns the unit of mass times potential in the frame of the last tree. */
static inline double nbody_fmm_unit_of_energy(const nbody_solver_work *w) {
  const nbody_fmm_tree *t = &w->tree;
  return t->box > 0 ? ldexp(w->options.G, 2 * t->mass) * t->scale : ldexp(w->options.G, 2 * t->mass - t->position);
}

/* sample and sample_potential of nbody_solver (sample.c). */
sim_status nbody_fmm_sample(nbody_solver_work *w, const int64_t *numbers, int count, double *position, double *got,
                            double *exact) SIM_MUST_CHECK;
sim_status nbody_fmm_sample_potential(nbody_solver_work *w, const int64_t *numbers, int count, double *got,
                                      double *exact) SIM_MUST_CHECK;

#endif
