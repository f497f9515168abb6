/* A run of the model, shared by the files that make one up. */
#ifndef NBODY_RUN_H
#define NBODY_RUN_H

#include "kernels/nbody/ops.h"
#include "kernels/nbody/start/bodies.h"

/* Numbers that go from step to step beside the bodies; a state array of their own. */
enum { NBODY_INITIAL_ENERGY, NBODY_NEXT_STEP, NBODY_SPREAD, NBODY_CONTROLS };

typedef struct nbody_run {
  const sim_backend *backend;
  const nbody_ops *ops;
  nbody_work *work;
  nbody_forces forces;
  nbody_integrate integrate;
  int64_t n;
  sim_buffer id, mass, position, velocity, acceleration, jerk;
  double controller[NBODY_CONTROLS];
  sim_species species[SIM_SPECIES_MAX];
  size_t species_count;
  nbody_sums sums; /* at step sums_step */
  int64_t sums_step;
  nbody_laws laws;
  sim_graph *step; /* one of integrate.dt, once it has been captured */
} nbody_run;

/* Whether what a run takes from a checkpoint's state is in the range that it may have; *n: its bodies.
 * SIM_ERR_INCOMPATIBLE. */
sim_status nbody_saved_check(const nbody_integrate *integrate, const sim_frame *saved, int64_t *n) SIM_MUST_CHECK;
/* The state's arrays for run->n bodies, zeroed. SIM_ERR_NO_MEMORY. */
sim_status nbody_create_arrays(nbody_run *run, const sim_setup *setup) SIM_MUST_CHECK;
/* Those arrays, filled with the bodies of `parts`, sorted by species. SIM_ERR_SCENARIO where a value does not fit. */
sim_status nbody_begin(nbody_run *run, const nbody_parameters *p, const sim_setup *setup,
                       const nbody_parts *parts) SIM_MUST_CHECK;
/* SIM_ERR_SCENARIO naming two bodies that single precision puts on one point, of the state or of the pair terms, where
 * their distance matters beside the softening. Warns where it tells distances of bodies apart badly. */
sim_status nbody_check_places(const nbody_run *run, const nbody_parameters *p,
                              const nbody_bodies *bodies) SIM_MUST_CHECK;
/* After the first force: SIM_ERR_SCENARIO naming two bodies that are one to the pair terms, a body whose force is not
 * finite, or a distance at which fp32 terms cannot hold the force of the scenario's own law. */
sim_status nbody_check_force(const nbody_run *run, const nbody_options *options) SIM_MUST_CHECK;
/* SIM_ERR_SCENARIO naming the fastest or the heaviest body where an energy at the start is not finite. */
sim_status nbody_check_energy(const nbody_run *run, const nbody_sums *sums) SIM_MUST_CHECK;
/* Shortest time in which the external force changes by itself on some body, from its first two time derivatives:
 * |a|/|j|, (|a|/|s|)^(1/2), |j|/|s|. With jerk alone. */
sim_status nbody_external_start(const nbody_run *run, double *out) SIM_MUST_CHECK;

/* Steps, work and its rate, for n bodies: what built-in forces and functions of the scenario take together. Warns of
 * steps that may be too long. */
sim_status nbody_estimate(const nbody_parameters *p, const nbody_options *options, const nbody_solver *solver,
                          sim_backend_kind kind, double n, sim_plan *out) SIM_MUST_CHECK;
/* NaN where the step adapts. */
double nbody_step_count(const nbody_integrate *integrate);
/* Once the force is known at a fresh start. */
sim_status nbody_plan_first_step(nbody_run *run) SIM_MUST_CHECK;
double nbody_first_dt(const nbody_run *run);
/* sim_model.step */
sim_status nbody_step(void *self, sim_clock *clock);

#endif
