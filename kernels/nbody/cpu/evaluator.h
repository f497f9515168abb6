/* Functions of single bodies on the CPU, in fp64: forces of the surroundings, observables, velocity fields. */
#ifndef NBODY_EVALUATOR_H
#define NBODY_EVALUATOR_H

#include "engine/device/backend.h"
#include "engine/buffer.h"
#include "engine/expr/expr.h"

#include <stdint.h>

enum { NBODY_EVALUATOR_BLOCK = 512 };

typedef struct nbody_evaluator nbody_evaluator;

/* Where an input comes from: a number of each body, or one fp64 number for all. NULL: no result needs it. */
typedef struct nbody_evaluator_input {
  const void *data;
  sim_dtype dtype;
  bool uniform;
} nbody_evaluator_input;

/* `uniform`: the input that has one number for all bodies; NULL: none has. Keeps nothing of expr. */
sim_status nbody_evaluator_create(const sim_expr *expr, const char *uniform, sim_isa isa, int threads,
                                  nbody_evaluator **out) SIM_MUST_CHECK;
void nbody_evaluator_destroy(nbody_evaluator **field);
double nbody_evaluator_bytes(const nbody_evaluator *field);
/* The results for bodies first ... first + count - 1, count at most NBODY_EVALUATOR_BLOCK, in the calling thread's
 * room: result k of body i is in [k][i - first], rows of NBODY_EVALUATOR_BLOCK. Valid until the thread's next call. */
const double *nbody_evaluator_run(const nbody_evaluator *field, const nbody_evaluator_input *inputs, int64_t first,
                                  int64_t count);

#endif
