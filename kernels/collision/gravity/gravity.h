/* Self-gravity of the grains during a run. Its accelerations are computed once in `every` steps, at the positions that
 * the grains have in the middle of these steps if no other forces act, and kept for all of these steps: a leapfrog of
 * that length, of second order without other forces. They are in the state, so that a restart has them. */
#ifndef COLLISION_GRAVITY_GRAVITY_H
#define COLLISION_GRAVITY_GRAVITY_H

#include "kernels/collision/run.h"

enum { COLLISION_TREE_MOST = 1 << 30 }; /* most grains: indices of grains and cells have 31 bits */

typedef struct collision_gravity collision_gravity;

/* Creates run->gravity for a run whose step is known; does nothing without self-gravity. SIM_ERR_NO_MEMORY. */
sim_status collision_gravity_create(collision_run *run) SIM_MUST_CHECK;
void collision_gravity_destroy(collision_run *run);
/* Refuses to keep accelerations for a time that is long against the periods of Hill's frame. SIM_ERR_SCENARIO. */
sim_status collision_gravity_check_step(const collision_parameters *p, const collision_options *o,
                                        double dt) SIM_MUST_CHECK;
/* Memory for n grains on the host and on a GPU. */
void collision_gravity_bytes(const sim_backend *backend, const sim_comm *comm, double n, double *host, double *device);
/* Computes the accelerations before a step, where the time of the last ones has ended. */
sim_status collision_gravity_step(collision_run *run, const sim_clock *clock) SIM_MUST_CHECK;
/* Potential energy of all pairs of grains, with images, at the time of the clock. */
sim_status collision_gravity_energy(collision_run *run, const sim_clock *clock, double *out) SIM_MUST_CHECK;
/* Computes the median and the greatest error of the accelerations of up to 64 grains, relative to the root mean square
 * of the exact ones: sums over all grains and the same images. */
sim_status collision_gravity_errors(collision_run *run, const sim_clock *clock, double *median,
                                    double *greatest) SIM_MUST_CHECK;

#endif
