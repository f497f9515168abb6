/* Bodies that touch and merge, and bodies that escape: finds them along a step of ias15, and removes them from the
 * run. */
#ifndef NBODY_ENCOUNTERS_H
#define NBODY_ENCOUNTERS_H

#include "kernels/nbody/run.h"

/* Motion of n bodies along a step of length h: x[3][n], v and a0 at the start of the step, and the polynomial
 * b[7][3][n] of the acceleration (ias15.c). Arrays are borrowed. */
typedef struct nbody_path {
  int64_t n;
  double h;
  const double *x, *v, *a0, *b;
} nbody_path;

/* First event of a step: bodies `first` and `other` touch, or, with other < 0, `first` gets farther from the centre of
 * mass than the radius of escape. first < 0: no event. */
typedef struct nbody_event {
  int64_t first, other; /* indices in the state's arrays */
  double part;          /* part of the step before the event, 0 to 1 */
} nbody_event;

nbody_event nbody_find_event(const nbody_run *run, const nbody_path *path);
/* Finds two bodies that touch in the state's arrays; first < 0: none. */
nbody_event nbody_find_overlap(const nbody_run *run);
/* Finds the body farthest beyond the radius of escape in the state's arrays; first < 0: none. */
nbody_event nbody_find_outside(const nbody_run *run);
/* Merges two bodies, or removes a body that escapes, at time t. The heavier of two bodies becomes the merged one, with
 * the mass, the momentum, the centre of mass and the volume of both. The other body is removed from all arrays of the
 * run but `integrator`. Counts the event and logs a line; creates solver and operations anew for the bodies left, and
 * computes the force. SIM_ERR_NO_MEMORY; SIM_ERR_DIVERGED where no mass is left. */
sim_status nbody_apply_event(nbody_run *run, const nbody_event *event, double t) SIM_MUST_CHECK;
/* Fills in a row of the table `events`. */
void nbody_observe_events(const nbody_run *run, double *values);

#endif
