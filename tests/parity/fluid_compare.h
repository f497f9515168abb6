/* Runs of fluids on two devices against each other. A failure ends the test. */
#ifndef TESTS_PARITY_FLUID_COMPARE_H
#define TESTS_PARITY_FLUID_COMPARE_H

#include "tests/fluid/driver.h"

/* What velocities of two runs, and pressures, may differ by after some steps, in units of the lattice. */
double fluid_bound(bool single, int64_t steps);
/* Compares all fields of the present states, `steps` steps after equal ones. */
void fluid_compare_runs(flow *a, flow *b, bool single, int64_t steps, const char *what);
/* Runs a scenario on the CPU and on a device, and compares states and tables; bounds are those of `rounds` times the
 * steps. reader: of files, or NULL. */
void fluid_compare_devices(const char *text, const sim_backend *device, bool single, int64_t steps, int rounds,
                           sim_grid_reader *reader, const char *what);
/* Runs a scenario on a device twice, and resumes it from step 23: the bits are the same. reader: of files, or NULL. */
void fluid_check_restart(const char *text, const sim_backend *backend, int64_t steps, sim_grid_reader *reader);
/* Compares a row of each table. */
void fluid_compare_tables(flow *a, flow *b, bool single, int64_t steps, const char *what);

#endif
