/* Runs the model through its descriptor, as the command does, without a scenario file. A call that fails ends the
 * test. */
#ifndef TESTS_PHYSICS_DRIVER_H
#define TESTS_PHYSICS_DRIVER_H

#include "kernels/nbody/nbody.h"

#include <stddef.h>

/* A backend and a precision that this build has. */
typedef struct driver_place {
  const sim_backend *backend;
  sim_precision precision;
} driver_place;

/* Calls `test` in every place. */
void driver_everywhere(void (*test)(driver_place place));
void driver_everywhere_in(sim_precision precision, void (*test)(driver_place place));

typedef struct driver {
  nbody_parameters parameters;
  sim_item items[16];
  sim_setup setup;
  sim_clock clock;
  void *self;
  void *copies[SIM_ARRAYS_MAX]; /* of a device's arrays, as at these steps; NULL: none */
  int64_t copied_at[SIM_ARRAYS_MAX];
} driver;

/* G = 1, seed 1, two threads, softening and integration as given; no bodies yet. dt NaN: adaptive. */
driver driver_make(driver_place place, nbody_scheme scheme, double dt, double t_end, double softening);
/* `data` must outlive the driver. */
void driver_add(driver *d, const sim_schema *schema, void *data);
/* Validates and creates. */
void driver_create(driver *d);
/* The same, from a state. */
void driver_restore(driver *d, const sim_frame *saved);
void driver_step(driver *d);
/* To t_end. */
void driver_run(driver *d);
void driver_destroy(driver *d);

/* A value of a table at the present time. */
double driver_value(driver *d, const char *table, const char *column);
/* Component c of body i's vector, or its number; i counts in storage order. */
double driver_get(driver *d, const char *array, int c, int64_t i);
int64_t driver_count(driver *d);

/* A copy of the whole state; released with driver_frame_free. */
typedef struct driver_frame {
  sim_frame frame;
  sim_array arrays[SIM_ARRAYS_MAX];
  sim_species species[SIM_SPECIES_MAX];
} driver_frame;
void driver_keep(driver *d, driver_frame *out);
void driver_frame_free(driver_frame *frame);
void driver_digest(driver *d, char out[33]);

#endif
