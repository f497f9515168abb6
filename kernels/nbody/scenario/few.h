/* Schemes for few bodies in a scenario: what they refuse, and bodies that merge or escape. */
#ifndef NBODY_SCENARIO_FEW_H
#define NBODY_SCENARIO_FEW_H

#include "kernels/nbody/nbody.h"

extern const sim_schema nbody_escape_schema;

/* Adds the faults of what ias15 and whfast cannot do; p has one of them. */
void nbody_check_few(const nbody_parameters *p, sim_faults *faults);
/* Adds the faults of radii, `merge` and `escape`. */
void nbody_check_encounters(const nbody_parameters *p, sim_faults *faults);

#endif
