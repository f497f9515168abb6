/* Declarations that the sources of the parameters share: dimensions, schemas of parts, and their rules. */
#ifndef NBODY_FIELDS_H
#define NBODY_FIELDS_H

#include "kernels/nbody/nbody.h"

/* Dimensions of length, mass and time. */
#define LENGTH                                                                                                         \
  { 1, 0, 0 }
#define MASS                                                                                                           \
  { 0, 1, 0 }
#define TIME                                                                                                           \
  { 0, 0, 1 }
#define SPEED                                                                                                          \
  { 1, 0, -1 }

/* Kinds of groups in `bodies` (bodies.c), NULL-terminated. */
extern const sim_schema *const nbody_body_variants[];
/* Adds the faults of the groups. */
void nbody_check_bodies(const sim_list *bodies, sim_faults *faults);

/* Schema of `integrate` (integrate.c). */
extern const sim_schema nbody_integrate_schema;
/* Fills in defaults of the keys for adaptive and individual steps; adds faults where such a key stands beside shared
 * steps of fixed length. */
void nbody_check_accuracy(nbody_integrate *integrate, sim_faults *faults);
/* Adds the faults of steps. `law`: a pair law replaces gravity and has no known length scale. */
void nbody_check_time(const nbody_integrate *integrate, double softening, bool law, sim_faults *faults);

#endif
