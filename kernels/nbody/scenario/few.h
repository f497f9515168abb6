/* Schemes for few bodies in a scenario: what they refuse; bodies that merge or escape. */
#ifndef NBODY_SCENARIO_FEW_H
#define NBODY_SCENARIO_FEW_H

#include "kernels/nbody/nbody.h"

extern const sim_schema nbody_escape_schema;

/* Adds the faults of options that ias15 and whfast do not support; p has one of these schemes. */
void nbody_check_few(const nbody_parameters *p, sim_faults *faults);
/* Adds the faults of radii, `merge` and `escape`. */
void nbody_check_encounters(const nbody_parameters *p, sim_faults *faults);

#endif
