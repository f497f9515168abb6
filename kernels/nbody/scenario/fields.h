/* What the sources of the parameters share: dimensions, tables of fields of a part, and its rules. */
#ifndef NBODY_FIELDS_H
#define NBODY_FIELDS_H

#include "kernels/nbody/nbody.h"

/* Of length, mass and time. */
#define LENGTH                                                                                                         \
  { 1, 0, 0 }
#define MASS                                                                                                           \
  { 0, 1, 0 }
#define TIME                                                                                                           \
  { 0, 0, 1 }
#define SPEED                                                                                                          \
  { 1, 0, -1 }

/* bodies.c: kinds of groups of `bodies`, NULL-terminated. */
extern const sim_schema *const nbody_body_variants[];
/* Adds faults of the groups. */
void nbody_check_bodies(const sim_list *bodies, sim_faults *faults);

/* integrate.c */
extern const sim_schema nbody_integrate_schema;
/* Faults of keys for adaptive and individual steps that stand beside shared steps of fixed length; else their
 * defaults. */
void nbody_check_accuracy(nbody_integrate *integrate, sim_faults *faults);
/* Adds faults of steps. `law`: a pair law replaces gravity, which has no length scale. */
void nbody_check_time(const nbody_integrate *integrate, double softening, bool law, sim_faults *faults);

#endif
