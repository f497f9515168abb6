/* What a sink sees of a run, and what a restart is made from: the clock and const views of host arrays. */
#ifndef SIM_ENGINE_FRAME_H
#define SIM_ENGINE_FRAME_H

#include "engine/buffer.h"
#include "engine/schema/schema.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A run is over when t >= t_end. A state that stop_when ended has t_end = -INFINITY in its checkpoint. */
typedef struct sim_clock {
  int64_t step;
  double t, dt, t_end; /* dt: of the step just made, or about to be made at step 0 */
} sim_clock;

/* Where the values of an array stand whose axes are those of a grid, x last: value i along axis a of the whole array is
 * at offset[a] + (i + position[a]) spacing[a]; position 0.5 is the centre of a cell. */
typedef struct sim_mesh {
  double spacing[3], offset[3], position[3];
} sim_mesh;

/* Part of one state array. Vectors are stored by component: shape {3, n}. Contiguous, C order. `global` and `offset`
 * say where this part lies in the whole; here they are `shape` and zeros where one process holds all. */
typedef struct sim_array {
  const sim_field *field; /* name, dimension, doc, SIM_IN_SNAPSHOT, SIM_NO_CHECKPOINT */
  sim_dtype dtype;
  int rank;
  int64_t shape[SIM_RANK_MAX], global[SIM_RANK_MAX], offset[SIM_RANK_MAX];
  void *data;           /* sinks read only */
  sim_space space;      /* of data; sinks see host arrays alone */
  const sim_mesh *mesh; /* NULL: not on a grid */
  size_t room;          /* bytes that it has room for: it may grow to that, and have more room then; 0: it stays */
} sim_array;

/* Entities first .. first + count of the last axis of the particle arrays. */
typedef struct sim_species {
  char name[64]; /* \w+ */
  int64_t first, count;
} sim_species;

/* One row of a table: values[columns] beside step and time. */
typedef struct sim_row {
  const struct sim_table *table;
  const double *values;
} sim_row;

enum { SIM_ARRAYS_MAX = 32, SIM_SPECIES_MAX = 64, SIM_TABLES_MAX = 16, SIM_COLUMNS_MAX = 64 };

typedef struct sim_frame {
  sim_clock clock;
  const sim_array *arrays;
  size_t array_count;
  const sim_species *species; /* 0 of them: no particles */
  size_t species_count;
  const sim_row *rows; /* for table sinks */
  size_t row_count;
  bool finite; /* sim_frame_check_finite was asked, of all arrays */
} sim_frame;

/* Length of the step from `clock` on in a run of steps of dt, and the time after it. That is a multiple of dt, so that
 * no rounding adds up; the last step ends at t_end, shortened where dt does not divide it. A run that goes on from such
 * an end with a later t_end makes up the rest of that step first. */
double sim_clock_step(const sim_clock *clock, double dt, double *after);
/* The same where each step has a length of its own: dt, or the rest up to t_end where dt reaches it but for rounding.
 */
double sim_clock_free_step(const sim_clock *clock, double dt, double *after);

/* NULL where there is none of that name. */
const sim_array *sim_frame_array(const sim_frame *frame, const char *name);
/* A view of a buffer that holds all of a state array. */
void sim_array_of(const sim_field *field, const sim_buffer *buffer, sim_array *out);
/* Copies the array `to->field->name` of a checkpoint's state to to->data, which lies in to->space of `backend` and has
 * the type and shape of the array that this run needs. The one way for a model to take its state.
 * SIM_ERR_INCOMPATIBLE where the checkpoint has no such array. */
sim_status sim_frame_restore(const sim_frame *saved, const sim_backend *backend, const sim_array *to) SIM_MUST_CHECK;
size_t sim_array_bytes(const sim_array *array);
/* SIM_ERR_DIVERGED naming array, entity (name, id or index) and step at the first NaN or infinity in a floating-point
 * array. */
sim_status sim_frame_check_finite(const sim_frame *frame) SIM_MUST_CHECK;
/* Of a restored state: that `id` is a list of numbers, and that the species follow each other and hold all of it, each
 * with rising numbers. SIM_ERR_INCOMPATIBLE. */
sim_status sim_frame_check_species(const sim_frame *saved, int64_t *count) SIM_MUST_CHECK;
/* xxh3-128 over clock (step, t, dt), species and every array that is checkpointed, as 32 hex digits and a NUL. */
void sim_frame_digest(const sim_frame *frame, char out[33]);

#endif
