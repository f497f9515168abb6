/* Which arrays of a frame go into a snapshot, and under which names. */
#ifndef SIM_IO_SNAPSHOT_H
#define SIM_IO_SNAPSHOT_H

#include "engine/frame.h"

#define IO_SNAPSHOT_NAME "snap_%08lld.h5"
/* The text of run.pmd, which lists the snapshots for ParaView. */
#define IO_SNAPSHOTS_PATTERN "snap/snap_%08T.h5\n"

/* Returns 1 or 3 if the array is a scalar or vector record of all particles; 0 if it is not in snapshots. */
int io_record_components(const sim_frame *frame, const sim_array *array);
/* Whether the array is a record of values on a grid. */
bool io_record_is_mesh(const sim_array *array);
/* Returns the letter of a vector's component for an array on a grid with a name such as "velocity/x"; NULL for a
 * scalar. The components of a vector follow each other, x first. */
const char *io_record_component(const sim_array *array);
/* The scalar record that is stored as one value if all particles of a species have the same. */
#define IO_CONSTANT_RECORD "mass"
bool io_record_is_constant(const sim_array *array, const sim_species *species);
/* Returns that value; NaN: the values differ, and are in a dataset. */
double io_record_constant(const sim_array *array, const sim_species *species);

#endif
