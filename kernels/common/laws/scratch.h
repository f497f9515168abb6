/* Memory in which threads evaluate a scenario's functions on the CPU. */
#ifndef LAWS_SCRATCH_H
#define LAWS_SCRATCH_H

#include "engine/expr/expr.h"

/* Scratch memory for any of some programs, and columns for inputs and results, for each thread. Sizes in bytes. */
typedef struct laws_scratch {
  char *memory; /* [threads][stride]; NULL: nothing is needed */
  int threads;
  size_t columns, stride; /* offset of a thread's columns; size of a thread's memory */
} laws_scratch;

/* Allocates scratch memory that suffices for each of programs[count], of which some may be NULL, and `columns` bytes
 * behind it, for `threads` threads. laws_scratch_destroy frees it, and an empty one. SIM_ERR_NO_MEMORY. */
sim_status laws_scratch_create(sim_expr_program *const *programs, size_t count, size_t columns, int threads,
                               laws_scratch *out) SIM_MUST_CHECK;
void laws_scratch_destroy(laws_scratch *scratch);
/* Bytes that create has allocated. */
double laws_scratch_bytes(const laws_scratch *scratch);
/* Returns the calling thread's scratch memory; *columns: its columns. */
void *laws_scratch_here(const laws_scratch *scratch, double **columns);

#endif
