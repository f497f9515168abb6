/* Which arrays of a frame go into a snapshot, and under which names. */
#ifndef SIM_IO_SNAPSHOT_H
#define SIM_IO_SNAPSHOT_H

#include "engine/frame.h"

#define IO_SNAPSHOT_NAME "snap_%08lld.h5"

/* 1 or 3 if the array is a scalar or vector record of all particles; 0: not in snapshots. */
int io_record_components(const sim_frame *frame, const sim_array *array);
/* Whether the array is a record of values on a grid. */
bool io_record_is_mesh(const sim_array *array);
/* The scalar record that is stored as one value if it is equal for the whole species. */
#define IO_CONSTANT_RECORD "mass"
bool io_record_is_constant(const sim_array *array, const sim_species *species);
/* That value; NaN: values differ, and are in a dataset. */
double io_record_constant(const sim_array *array, const sim_species *species);

#endif
