/* Text files of numbers. Particles in a CSV file: a header line with column names among mass, x, y, z, vx, vy, vz in
 * any order, then a line of numbers for each particle, in the scenario's units. Empty lines and lines that begin with
 * '#' are ignored. */
#ifndef SIM_IO_CSV_H
#define SIM_IO_CSV_H

#include "engine/model.h"

/* Reads a regular file from its start; `fd` stays open. `out` NULL: only counts the particles. */
sim_status io_csv_read(int fd, const char *path, sim_particles *out, int64_t *count) SIM_MUST_CHECK;

#endif
