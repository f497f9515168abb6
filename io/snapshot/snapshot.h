/* What of a frame goes into a snapshot, and under which file name. */
#ifndef SIM_IO_SNAPSHOT_H
#define SIM_IO_SNAPSHOT_H

#include "engine/frame.h"

#define IO_SNAPSHOT_NAME "snap_%08lld.h5"

/* 1 or 3 where the array is a scalar or vector record of all particles; 0: it goes into no snapshot. */
int io_record_components(const sim_frame *frame, const sim_array *array);
/* Whether the array is a record of values on a grid. */
bool io_record_is_mesh(const sim_array *array);
/* The letter of a vector's component, which an array of a name as "velocity/x" is on a grid; NULL: a scalar. The
 * components follow each other, x first. */
const char *io_record_component(const sim_array *array);
/* The scalar record that is stored as one value for the whole species where all values are equal. */
#define IO_CONSTANT_RECORD "mass"
bool io_record_is_constant(const sim_array *array, const sim_species *species);
/* Its one value; NaN: its values are in a dataset. */
double io_record_constant(const sim_array *array, const sim_species *species);

#endif
