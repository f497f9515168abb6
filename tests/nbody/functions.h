/* Functions written in Lua for tests of the model. They are read before a device is open, as the command does it. */
#ifndef TESTS_PHYSICS_FUNCTIONS_H
#define TESTS_PHYSICS_FUNCTIONS_H

#include "tests/nbody/driver.h"

/* Reads "name = function ... end, ..."; once, at the beginning of a program. */
void functions_load(const char *lua);
void functions_free(void);

/* A function of that text as the parameter `field` of sim.nbody takes it; released by the caller. */
sim_expr *functions_get(const char *field, const char *name);

/* Sets the law of the driver and takes gravity away where it is `pair` or `pair_force`; driver_forget releases. */
void driver_law(driver *d, const char *field, const char *name);
/* A column of the table `observe`, named as the function. */
void driver_observe(driver *d, const char *name, sim_reduction reduce);
void driver_forget(driver *d);

#endif
