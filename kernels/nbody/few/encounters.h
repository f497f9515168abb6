/* Bodies that touch and merge, and bodies that escape: found along a step of ias15, and taken out of the run's arrays.
 */
#ifndef NBODY_ENCOUNTERS_H
#define NBODY_ENCOUNTERS_H

#include "kernels/nbody/run.h"

/* Motion of n bodies along a step of length h: x[3][n], v and a0 at its start, and the polynomial b[7][3][n] of the
 * acceleration (ias15.c). Borrowed. */
typedef struct nbody_path {
  int64_t n;
  double h;
  const double *x, *v, *a0, *b;
} nbody_path;

/* What happens first in a step: bodies `first` and `other` touch, or, with other < 0, `first` comes farther than the
 * radius of escape from the centre of mass. first < 0: nothing. */
typedef struct nbody_event {
  int64_t first, other; /* indices in the state's arrays */
  double part;          /* of the step, 0 to 1 */
} nbody_event;

nbody_event nbody_find_event(const nbody_run *run, const nbody_path *path);
/* Two bodies that touch in the state's arrays; first < 0: none. */
nbody_event nbody_find_overlap(const nbody_run *run);
/* The body farthest beyond the radius of escape in the state's arrays; first < 0: none. */
nbody_event nbody_find_outside(const nbody_run *run);
/* Position and velocity in the state's arrays, and mass and radius: the heavier body becomes the merged one, with the
 * mass, the momentum, the centre of mass and the volume of both; the other one, or the body that escapes, is taken out
 * of all arrays of the run but `integrator`. Counts the event and logs a line; solver and operations are created anew
 * for the bodies left, and have computed their force. SIM_ERR_NO_MEMORY; SIM_ERR_DIVERGED where no mass is left. */
sim_status nbody_apply_event(nbody_run *run, const nbody_event *event, double t) SIM_MUST_CHECK;
/* A row of the table `events`. */
void nbody_observe_events(const nbody_run *run, double *values);

#endif
