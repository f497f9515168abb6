/* Runs the model through its descriptor, as the command does, without a scenario file. A call that fails ends the
 * test. */
#ifndef TESTS_COLLISION_DRIVER_H
#define TESTS_COLLISION_DRIVER_H

#include "kernels/collision/collision.h"

#include <stddef.h>

typedef struct driver {
  collision_parameters parameters;
  sim_item items[16], wall_items[8];
  sim_setup setup;
  sim_clock clock;
  void *self;
} driver;

/* An open box of 100 about the origin, the linear law with what is given, dt NaN: automatic. Two threads, seed 1. */
driver driver_make(sim_precision precision, double dt, double t_end);
/* Nothing given. */
collision_values driver_values(void);
void driver_box(driver *d, double size, collision_side side);     /* from the origin on */
void driver_add(driver *d, const sim_schema *schema, void *data); /* data must outlive the driver */
void driver_wall(driver *d, const sim_schema *schema, void *data);
/* Validates and creates; from a state. */
void driver_create(driver *d);
void driver_restore(driver *d, const sim_frame *saved);
void driver_step(driver *d);
void driver_run(driver *d); /* to t_end */
void driver_until(driver *d, double t);
void driver_destroy(driver *d);

double driver_value(driver *d, const char *table, const char *column);
/* Component c of grain i's vector, or its number. */
double driver_get(driver *d, const char *array, int c, int64_t i);

/* A copy of the whole state; released with driver_frame_free. */
typedef struct driver_frame {
  sim_frame frame;
  sim_array arrays[SIM_ARRAYS_MAX];
  sim_species species[SIM_SPECIES_MAX];
} driver_frame;
void driver_keep(driver *d, driver_frame *out);
void driver_frame_free(driver_frame *frame);
void driver_digest(driver *d, char out[33]);

/* The operation on inputs a and b (b < 0: on a and the number); the last of 1 or 3 results, the others 0. */
sim_expr *driver_function(const char *const *inputs, sim_expr_op op, int a, int b, double number, int results);

#endif
