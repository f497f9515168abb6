/* Particles in a CSV file: a header line that names columns among mass, x, y, z, vx, vy, vz in any order, then a line
 * of numbers a particle, in the scenario's units. Empty lines and lines that begin with '#' are passed over. */
#ifndef SIM_IO_CSV_H
#define SIM_IO_CSV_H

#include "engine/model.h"

/* `fd` is a regular file, read from its start, and stays open. `out` NULL: the numbers are counted, not kept. */
sim_status io_csv_read(int fd, const char *path, sim_particles *out, int64_t *count) SIM_MUST_CHECK;

#endif
