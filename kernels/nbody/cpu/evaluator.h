/* Evaluators of a scenario's functions of one body on the CPU, in fp64: external forces, observables, velocity fields.
 */
#ifndef NBODY_EVALUATOR_H
#define NBODY_EVALUATOR_H

#include "engine/device/backend.h"
#include "engine/memory/buffer.h"
#include "engine/expr/expr.h"

#include <stdint.h>

enum { NBODY_EVALUATOR_BLOCK = 512 };

typedef struct nbody_evaluator nbody_evaluator;

/* Source of an input: data[n] of `dtype`, one number a body, or one fp64 number for all (`uniform`). NULL: unused. */
typedef struct nbody_evaluator_input {
  const void *data;
  sim_dtype dtype;
  bool uniform;
} nbody_evaluator_input;

/* Compiles expr for `threads` threads; keeps no pointer to its arguments. `uniform`: name of the input that has one
 * number for all bodies; NULL: none. Freed by nbody_evaluator_destroy. SIM_ERR_NO_MEMORY. */
sim_status nbody_evaluator_create(const sim_expr *expr, const char *uniform, sim_isa isa, int threads,
                                  nbody_evaluator **out) SIM_MUST_CHECK;
void nbody_evaluator_destroy(nbody_evaluator **field);
/* Bytes that nbody_evaluator_create has allocated. */
double nbody_evaluator_bytes(const nbody_evaluator *field);
/* Evaluates bodies first ... first + count - 1, with count at most NBODY_EVALUATOR_BLOCK. Result k of body i is in
 * [k][i - first], rows of NBODY_EVALUATOR_BLOCK, in memory of the calling thread: valid until its next call. */
const double *nbody_evaluator_run(const nbody_evaluator *field, const nbody_evaluator_input *inputs, int64_t first,
                                  int64_t count);

#endif
