/* Runs a model through its descriptor, as the command does, without a scenario file. A call that fails ends the test.
 *
 * Each model has a header that includes this one, and defines DRIVER_MEMBERS before: `parameters`, and room for their
 * lists. driver.c is compiled for each of them, with DRIVER_HEADER and DRIVER_MODEL. */
#ifndef TESTS_DRIVER_H
#define TESTS_DRIVER_H

#include "engine/model.h"

#include <stddef.h>

typedef struct driver {
  DRIVER_MEMBERS
  sim_setup setup;
  sim_clock clock;
  void *self;
  void *copies[SIM_ARRAYS_MAX]; /* of a device's arrays, as at these steps; NULL: none */
  int64_t copied_at[SIM_ARRAYS_MAX];
} driver;

/* Ends the test where there is a failure. */
void driver_must(sim_status status, const char *what);
/* The model's own: lists of the parameters to where they are now. */
void driver_join(driver *d);

/* Validates and creates; from a state. */
void driver_create(driver *d);
void driver_restore(driver *d, const sim_frame *saved);
void driver_step(driver *d);
void driver_run(driver *d); /* to t_end */
void driver_until(driver *d, double t);
void driver_destroy(driver *d);

/* A value of a table at the present time. */
double driver_value(driver *d, const char *table, const char *column);
/* Component c of particle i's vector, or its number; i counts in storage order. */
double driver_get(driver *d, const char *array, int c, int64_t i);

/* A copy of the whole state; released with driver_frame_free. */
typedef struct driver_frame {
  sim_frame frame;
  sim_array arrays[SIM_ARRAYS_MAX];
  sim_species species[SIM_SPECIES_MAX];
} driver_frame;
/* Views, which hold until the next step. */
void driver_look(driver *d, driver_frame *out);
void driver_keep(driver *d, driver_frame *out);
void driver_frame_free(driver_frame *frame);
void driver_digest(driver *d, char out[33]);

#endif
