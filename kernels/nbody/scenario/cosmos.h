/* Rules of `expansion`, sim.zeldovich and `spectrum`. */
#ifndef NBODY_COSMOS_RULES_H
#define NBODY_COSMOS_RULES_H

#include "kernels/nbody/start/bodies.h"

/* Adds the faults of `expansion`, sim.zeldovich and `spectrum`. */
void nbody_check_expansion(const nbody_parameters *p, sim_faults *faults);
/* With expansion: SIM_ERR_SCENARIO unless the bodies have the mean density of omega_m. */
sim_status nbody_check_density(const nbody_parameters *p, const nbody_bodies *bodies) SIM_MUST_CHECK;

#endif
