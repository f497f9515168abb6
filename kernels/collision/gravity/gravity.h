/* Self-gravity of the grains during a run. Its accelerations are computed once in `every` steps, for the places at
 * which the grains will be in the middle of these steps without other forces, and kept for all of them: without other
 * forces a leapfrog of this length, which is of second order. They are in the state, so that a restart has them. */
#ifndef COLLISION_GRAVITY_GRAVITY_H
#define COLLISION_GRAVITY_GRAVITY_H

#include "kernels/collision/run.h"

typedef struct collision_gravity collision_gravity;

/* For a run whose step is known; nothing without self-gravity. */
sim_status collision_gravity_create(collision_run *run) SIM_MUST_CHECK;
void collision_gravity_destroy(collision_run *run);
/* Refuses a time for which accelerations are kept that is long against Hill's frequencies. */
sim_status collision_gravity_check_step(const collision_parameters *p, const collision_options *o,
                                        double dt) SIM_MUST_CHECK;
double collision_gravity_bytes(double n);
double collision_gravity_bytes_there(double n); /* on a GPU */
/* Before a step: computes the accelerations where the last ones end. */
sim_status collision_gravity_step(collision_run *run, const sim_clock *clock) SIM_MUST_CHECK;
/* Potential energy of all pairs of grains, with images, at the time of the clock. Reads the state's arrays. */
sim_status collision_gravity_energy(collision_run *run, const sim_clock *clock, double *out) SIM_MUST_CHECK;
/* Errors of the accelerations of up to 64 grains against the sum over all grains and the same images, over the root of
 * the mean square of these: the median and the greatest. Reads the state's arrays. */
sim_status collision_gravity_errors(collision_run *run, const sim_clock *clock, double *median,
                                    double *greatest) SIM_MUST_CHECK;

#endif
