/* State of a run at one time, for outputs and restarts: the clock and views of arrays. */
#ifndef SIM_ENGINE_FRAME_H
#define SIM_ENGINE_FRAME_H

#include "engine/memory/buffer.h"
#include "engine/schema/schema.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Time of a run, which is over when t >= t_end. A checkpoint of a run that stop_when ended has t_end = -INFINITY. */
typedef struct sim_clock {
  int64_t step;
  double t, dt, t_end; /* dt: length of the step just made; at step 0, of the first step */
} sim_clock;

/* Coordinates of an array on a grid, x last: along axis a, value i of the whole array is at offset[a] + (i +
 * position[a]) spacing[a]; position 0.5 is the centre of a cell. */
typedef struct sim_mesh {
  double spacing[3], offset[3], position[3];
} sim_mesh;

/* One state array, or the part of it that this process holds. Vectors are stored by component: shape {3, n}.
 * Contiguous, C order. `global` is the shape of the whole array and `offset` the index at which this part begins in it;
 * if one process holds the whole array, they equal `shape` and zeros. */
typedef struct sim_array {
  const sim_field *field; /* name, dimension, doc, SIM_IN_SNAPSHOT, SIM_NO_CHECKPOINT */
  sim_dtype dtype;
  int rank;
  int64_t shape[SIM_RANK_MAX], global[SIM_RANK_MAX], offset[SIM_RANK_MAX];
  void *data;           /* read-only for sinks */
  sim_space space;      /* memory of `data`; sinks get host arrays only */
  const sim_mesh *mesh; /* NULL: not on a grid */
  size_t room;          /* bytes allocated, if the array may grow; 0: its size is fixed */
  bool once;            /* its values stay the same in a run, whose first snapshot has them alone */
} sim_array;

/* Particles of one species: the entities first .. first + count - 1 along the last axis of the particle arrays. */
typedef struct sim_species {
  char name[64]; /* \w+ */
  int64_t first, count;
} sim_species;

/* One row of a table: values[columns] with step and time. */
typedef struct sim_row {
  const struct sim_table *table;
  const double *values;
} sim_row;

/* SIM_COLUMNS_MAX: columns of a table, whose descriptions fit in one message of an HDF5 header (64 KiB).
 * SIM_COLUMNS_FEW: of tables whose columns are members of a model's parameters. */
enum { SIM_ARRAYS_MAX = 32, SIM_SPECIES_MAX = 64, SIM_TABLES_MAX = 32, SIM_COLUMNS_MAX = 800, SIM_COLUMNS_FEW = 64 };

typedef struct sim_frame {
  sim_clock clock;
  const sim_array *arrays;
  size_t array_count;
  const sim_species *species; /* count 0: no particles */
  size_t species_count;
  const sim_row *rows; /* for table sinks */
  size_t row_count;
  bool finite;  /* sim_frame_check_finite has checked every array */
  bool divided; /* each rank holds a part of some arrays, along one axis in the order of ranks; same on all ranks */
  bool partial; /* set before `view`: of arrays without SIM_IN_SNAPSHOT no values will be read */
} sim_frame;

/* Returns the length of the next step in a run with steps of dt; *after is the time at its end. Times are multiples of
 * dt, so that rounding does not accumulate. The last step ends at t_end and is shorter if dt does not divide t_end. A
 * run that continues from there with a later t_end first completes that shortened step. */
double sim_clock_step(const sim_clock *clock, double dt, double *after);
/* The same for steps of varying length: dt, or the time left until t_end if dt reaches t_end within rounding. */
double sim_clock_free_step(const sim_clock *clock, double dt, double *after);

/* Whether steps of varying length have been so short, in the mean of `after` steps or more, that 2^53 of them do not
 * reach t_end. */
bool sim_clock_is_hopeless(const sim_clock *clock, int64_t after);

/* The array of this name, or NULL. */
const sim_array *sim_frame_array(const sim_frame *frame, const char *name);
/* Makes *out a view of `buffer`, which holds a whole state array and stays its owner. */
void sim_array_of(const sim_field *field, const sim_buffer *buffer, sim_array *out);
/* Finds the array of `saved` that sim_frame_restore would copy to `to`. SIM_ERR_INCOMPATIBLE. */
sim_status sim_frame_find(const sim_frame *saved, const sim_array *to, const sim_array **array) SIM_MUST_CHECK;
/* Restores one state array: copies the checkpoint's array named to->field->name to to->data, in memory to->space, by
 * backend->copy for device memory. SIM_ERR_INCOMPATIBLE unless type, rank and shape equal those of `to`. */
sim_status sim_frame_restore(const sim_frame *saved, const sim_backend *backend, const sim_array *to) SIM_MUST_CHECK;
size_t sim_array_bytes(const sim_array *array);
/* Fails with SIM_ERR_DIVERGED at the first NaN or infinity in a floating-point array; the message names the array, the
 * entity (by name, id or index) and the step. */
sim_status sim_frame_check_finite(const sim_frame *frame) SIM_MUST_CHECK;
/* Returns the index of the species of this name among the first *count ones. Adds it, without particles, if it is
 * missing; returns SIZE_MAX if all SIM_SPECIES_MAX places are taken. */
size_t sim_species_find(sim_species species[SIM_SPECIES_MAX], size_t *count, const char *name);
/* Checks the particles of a checkpoint: `id` is an array [n] of SIM_U64 that increases within each species, and the
 * species are contiguous and cover it. *count: number of particles. SIM_ERR_INCOMPATIBLE. */
sim_status sim_frame_check_species(const sim_frame *saved, int64_t *count) SIM_MUST_CHECK;
/* Writes the digest of a state, version 2: 32 hex digits and a NUL. The digest is the xxh3-128 hash of the clock (step,
 * t, dt), the species, and for each checkpointed array its name and the xxh3-128 hash of every MiB, in the order of the
 * whole array, so that several processes can compute it together. */
void sim_frame_digest(const sim_frame *frame, char out[33]);

#endif
