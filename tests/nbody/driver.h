/* The driver of the N-body model. */
#ifndef TESTS_PHYSICS_DRIVER_H
#define TESTS_PHYSICS_DRIVER_H

#include "kernels/nbody/ops.h"

#define DRIVER_MEMBERS                                                                                                 \
  nbody_parameters parameters;                                                                                         \
  sim_item items[72];
#include "tests/driver.inc"

/* A backend and a precision of this build. */
typedef struct driver_place {
  const sim_backend *backend;
  sim_precision precision;
} driver_place;

/* Calls `test` for every place. */
void driver_everywhere(void (*test)(driver_place place));
void driver_everywhere_in(sim_precision precision, void (*test)(driver_place place));

/* Sets G = 1, seed 1, two threads, softening and integration as given, and no bodies. dt NaN: adaptive. */
driver driver_make(driver_place place, nbody_scheme scheme, double dt, double t_end, double softening);
/* `data` must outlive the driver. */
void driver_add(driver *d, const sim_schema *schema, void *data);
int64_t driver_count(driver *d);

#endif
