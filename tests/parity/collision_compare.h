/* A run on a GPU against the same on the CPU. */
#ifndef TESTS_PARITY_COLLISION_COMPARE_H
#define TESTS_PARITY_COLLISION_COMPARE_H

#include "tests/collision/driver.h"

void collision_on_gpu(driver *d);
/* Compares two runs of the same scenario: bits of the start, of one step and of 400, sums, and a restart on the GPU in
 * the middle. `whole`: a gas, whose sums over time are integers only on a GPU. */
void collision_compare(driver here, driver there, bool whole, const char *what);

#endif
