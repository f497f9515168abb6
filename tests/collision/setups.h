/* Set-ups and a check for several tests. The drivers of a program share their data. */
#ifndef TESTS_COLLISION_SETUPS_H
#define TESTS_COLLISION_SETUPS_H

#include "tests/collision/driver.h"

/* Spheres of diameter and mass 1 on a face-centred cubic lattice of `side`^3 cells, up to 12, with neighbouring centres
 * `distance` apart, in a periodic box. Velocities up to `speed`, of both signs along each axis. */
void setup_crystal(driver *d, int side, double distance, double speed);

/* 300 spheres of radius 0.35 and 1000 of 0.12, of two materials, that fall fast from z = 3 and above, in a box of 10
 * that is periodic along x, with friction. `law`: sets the law's numbers too. */
driver setup_two_kinds(sim_precision precision, int law);

/* Restitution with dashpots that never pull and would give `e` if they did: exp(-2 z acos(z)/sqrt(1 - z^2)), z: damping
 * over the critical damping (T. Schwager and T. Poeschel, Granular Matter 9 (2007) 465). Also for Hertz's law: with
 * x^(5/4) for the overlap x its equation of speed and overlap is that of the linear law. */
double limited_restitution(double e);

/* `other`, not yet created, continues from `kept` to its end: the same digest. */
void expect_restart(driver *other, const driver_frame *kept, const char *digest);

#endif
