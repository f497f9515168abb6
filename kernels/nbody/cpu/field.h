/* Functions of single bodies on the CPU, in fp64: forces of the surroundings, observables, velocity fields. */
#ifndef NBODY_FIELD_H
#define NBODY_FIELD_H

#include "engine/device/backend.h"
#include "engine/buffer.h"
#include "engine/expr/expr.h"

#include <stdint.h>

enum { NBODY_FIELD_BLOCK = 512 };

typedef struct nbody_field nbody_field;

/* Where an input comes from: a number of each body, or one fp64 number for all. NULL: no result needs it. */
typedef struct nbody_column {
  const void *data;
  sim_dtype dtype;
  bool uniform;
} nbody_column;

/* `uniform`: the input that has one number for all bodies; NULL: none has. Keeps nothing of expr. */
sim_status nbody_field_create(const sim_expr *expr, const char *uniform, sim_isa isa, int threads,
                              nbody_field **out) SIM_MUST_CHECK;
void nbody_field_destroy(nbody_field **field);
double nbody_field_bytes(const nbody_field *field);
/* The results for bodies first ... first + count - 1, count at most NBODY_FIELD_BLOCK, in the calling thread's room:
 * result k of body i is in [k][i - first], rows of NBODY_FIELD_BLOCK. Valid until the thread's next call. */
const double *nbody_field_run(const nbody_field *field, const nbody_column *inputs, int64_t first, int64_t count);

#endif
