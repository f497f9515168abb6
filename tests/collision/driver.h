/* The driver of the model of collisions. */
#ifndef TESTS_COLLISION_DRIVER_H
#define TESTS_COLLISION_DRIVER_H

#include "kernels/collision/collision.h"

#define DRIVER_MEMBERS                                                                                                 \
  collision_parameters parameters;                                                                                     \
  sim_item items[16], wall_items[8];
#include "tests/driver.inc"

/* An open box of 100 about the origin, the linear law with the given values. dt NaN: automatic. Two threads, seed 1. */
driver driver_make(sim_precision precision, double dt, double t_end);
/* Returns values of which none is given. */
collision_values driver_values(void);
void driver_box(driver *d, double size, collision_side side);     /* a cube from the origin on */
void driver_add(driver *d, const sim_schema *schema, void *data); /* data must outlive the driver */
void driver_wall(driver *d, const sim_schema *schema, void *data);

/* Builds the operation on inputs a and b (b < 0: on a and the number). It is the last of 1 or 3 results; the others are
 * 0. */
sim_expr *driver_function(const char *const *inputs, sim_expr_op op, int a, int b, double number, int results);

#endif
