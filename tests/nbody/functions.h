/* Functions written in Lua for tests of the model. They are read before a device is opened, as in the command. */
#ifndef TESTS_PHYSICS_FUNCTIONS_H
#define TESTS_PHYSICS_FUNCTIONS_H

#include "tests/nbody/driver.h"

/* Reads "name = function ... end, ...". Call once, at the beginning of a program. */
void functions_load(const char *lua);
void functions_free(void);

/* Returns a function of that text in the form that sim.nbody takes as the parameter `field`. The caller releases it. */
sim_expr *functions_get(const char *field, const char *name);

/* Sets the law of the driver, and removes gravity where the law is `pair` or `pair_force`. driver_forget releases it.
 */
void driver_law(driver *d, const char *field, const char *name);
/* Adds a column of the table `observe`, named as the function. */
void driver_observe(driver *d, const char *name, sim_reduction reduce);
void driver_forget(driver *d);

#endif
