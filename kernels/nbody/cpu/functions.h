/* The scenario's functions of single bodies, as the CPU's operations use them. */
#ifndef NBODY_FUNCTIONS_H
#define NBODY_FUNCTIONS_H

#include "kernels/nbody/solver.h"

typedef struct nbody_functions nbody_functions;

/* Of options->laws.external and options->observe; keeps pointers to both, and to `state`. `terms` has room for n
 * numbers, `partial` for sim_reduce_blocks(n). */
sim_status nbody_functions_create(const nbody_options *options, const nbody_state *state, double *terms,
                                  double *partial, nbody_functions **out) SIM_MUST_CHECK;
void nbody_functions_destroy(nbody_functions **functions);
/* What create will take. */
double nbody_functions_bytes(const nbody_options *options);

/* Adds the external force, and its part of the jerk, to the state's. Nothing where there is none. */
void nbody_functions_force(nbody_functions *functions, double t);
/* Sum of m phi over all bodies. */
double nbody_functions_potential(nbody_functions *functions, double t);
/* nbody_ops.observe */
void nbody_functions_observe(nbody_functions *functions, double t, double *values);

#endif
