/* Orbital elements in a scenario: bodies and groups placed by them, and the table `orbits` that observes them. */
#ifndef NBODY_ORBITS_H
#define NBODY_ORBITS_H

#include "kernels/nbody/nbody.h"

extern const sim_schema nbody_orbit_schema;

/* Word for `orbit.primary`: the centre of mass of all bodies listed before. */
#define NBODY_ORBIT_ALL "all"

/* Common fields of a group that may have an `orbit`; NULL: this kind of group may not. */
nbody_group_fields *nbody_group_with_orbit(const sim_item *item);
/* Adds the faults of every `orbit`, and of `orbits`. */
void nbody_check_orbits(const nbody_parameters *p, sim_faults *faults);
/* Lists the items of `bodies` in the table `orbits`: all single bodies that are alone in their species, without the
 * primary. Returns their number, which may exceed the room in items[NBODY_ORBITS_MAX]. */
size_t nbody_orbits_list(const nbody_parameters *p, const sim_item *items[NBODY_ORBITS_MAX]);
/* Fills in p->orbit_table for the listed bodies, and returns it. */
const sim_table *nbody_make_orbit_table(nbody_parameters *p);
extern const sim_table nbody_orbits_described; /* for `sim describe` */

#endif
