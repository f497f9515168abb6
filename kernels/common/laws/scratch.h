/* Memory in which threads evaluate a scenario's functions on the CPU. */
#ifndef LAWS_SCRATCH_H
#define LAWS_SCRATCH_H

#include "engine/expr/expr.h"

/* Scratch memory of each thread, for any one of several programs, then columns for inputs and results. In bytes. */
typedef struct laws_scratch {
  char *memory; /* [threads][stride]; NULL: nothing is needed */
  int threads;
  size_t columns, stride; /* offset of a thread's columns; size of a thread's memory */
} laws_scratch;

/* Allocates, for each of `threads` threads, scratch memory that suffices for any of programs[count] (NULL: skipped) and
 * `columns` bytes behind it. Freed by laws_scratch_destroy, which accepts an empty one. SIM_ERR_NO_MEMORY. */
sim_status laws_scratch_create(sim_expr_program *const *programs, size_t count, size_t columns, int threads,
                               laws_scratch *out) SIM_MUST_CHECK;
void laws_scratch_destroy(laws_scratch *scratch);
/* Bytes that laws_scratch_create has allocated. */
double laws_scratch_bytes(const laws_scratch *scratch);
/* Returns the calling thread's scratch memory, and in *columns the address of its columns. */
void *laws_scratch_here(const laws_scratch *scratch, double **columns);

#endif
