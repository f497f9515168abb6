/* Integrators for few bodies, on the CPU in fp64: ias15 and whfast. They keep a state of their own between the steps of
 * the run, in the state array `integrator`; `show` computes positions, velocities and accelerations of the bodies from
 * it for outputs. So outputs change nothing, and a resumed run has the same bits.
 *
 *   create -> begin -> { step | show }... -> destroy */
#ifndef NBODY_FEW_H
#define NBODY_FEW_H

#include "kernels/nbody/run.h"

/* An integrator created for one run. Each integrator completes this type. */
struct nbody_few_work;

typedef struct nbody_few {
  const char *name;
  double (*numbers)(double n); /* length of the state array `integrator` for n bodies */
  double (*bytes)(double n);   /* bytes of memory that `create` allocates for n bodies */
  /* Allocates run->few_work. SIM_ERR_NO_MEMORY. */
  sim_status (*create)(nbody_run *run);
  void (*destroy)(nbody_run *run);
  /* Prepares the first step. saved NULL: from the bodies in the state's arrays, whose force has been computed; else
   * from the restored state array and the clock of the checkpoint. SIM_ERR_SCENARIO, SIM_ERR_INCOMPATIBLE,
   * SIM_ERR_DIVERGED. */
  sim_status (*begin)(nbody_run *run, const sim_clock *saved);
  /* Advances to *after, a time after clock->t. SIM_ERR_DIVERGED. */
  sim_status (*step)(nbody_run *run, const sim_clock *clock, double *after);
  /* Fills the state's arrays with position, velocity and acceleration at time t, the time of the last `step` or
   * `begin`. SIM_ERR_DIVERGED. */
  sim_status (*show)(nbody_run *run, double t);
  void (*report)(const nbody_run *run, sim_bytes *out); /* lines for the end of a run */
} nbody_few;

/* The integrator of a scheme; NULL: steps.c has the scheme. */
const nbody_few *nbody_few_of(int scheme);

/* sim_model.step for these schemes. */
sim_status nbody_few_step(nbody_run *run, sim_clock *clock);
/* Calls `show` unless the state's arrays are up to date. */
sim_status nbody_few_show(nbody_run *run);
/* Reports a force that is not finite in the step from t: SIM_ERR_DIVERGED. */
sim_status nbody_few_diverged(const nbody_run *run, double t) SIM_MUST_CHECK;

extern const nbody_few nbody_ias15, nbody_whfast;

#endif
