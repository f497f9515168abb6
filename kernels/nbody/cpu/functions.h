/* The external force and the observables of a scenario, for the operations on the CPU. */
#ifndef NBODY_FUNCTIONS_H
#define NBODY_FUNCTIONS_H

#include "kernels/nbody/solver.h"

typedef struct nbody_functions nbody_functions;

/* Compiles options->laws.external and options->observe. Borrows options, the arrays of `state`, terms[n] and
 * partial[sim_reduce_blocks(n)]. SIM_ERR_NO_MEMORY. */
sim_status nbody_functions_create(const nbody_options *options, const nbody_state *state, double *terms,
                                  double *partial, nbody_functions **out) SIM_MUST_CHECK;
void nbody_functions_destroy(nbody_functions **functions);
/* Bytes that nbody_functions_create allocates. */
double nbody_functions_bytes(const nbody_options *options);

/* Adds the external force at time t, and its contribution to the jerk, to the state's arrays, for the bodies `targets`;
 * NULL: for all bodies. */
void nbody_functions_force(nbody_functions *functions, double t, const nbody_targets *targets);
/* Energy in the external potential: sum of m phi over all bodies. */
double nbody_functions_potential(nbody_functions *functions, double t);
/* Fills in values[count] as nbody_ops.observe does. */
void nbody_functions_observe(nbody_functions *functions, double t, double *values);

#endif
