#include "kernels/common/laws/scratch.h"

#include "engine/device/backend.h"

#ifdef _OPENMP
#include <omp.h>
static int thread_number(void) { return omp_get_thread_num(); }
#else
static int thread_number(void) { return 0; }
#endif

static size_t aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

sim_status laws_scratch_create(sim_expr_program *const *programs, size_t count, size_t columns, int threads,
                               laws_scratch *out) {
  void *memory = NULL;
  *out = (laws_scratch){.threads = threads};
  for (size_t k = 0; k < count; k++) {
    const size_t bytes = programs[k] != NULL ? aligned(sim_expr_program_scratch(programs[k])) : 0;
    if (bytes > out->columns) out->columns = bytes;
  }
  out->stride = out->columns + aligned(columns);
  if (out->stride > 0) SIM_TRY(sim_backend_cpu.alloc((size_t)threads * out->stride, &memory));
  out->memory = memory;
  return SIM_OK;
}

void laws_scratch_destroy(laws_scratch *scratch) {
  sim_backend_cpu.free(scratch->memory);
  *scratch = (laws_scratch){0};
}

double laws_scratch_bytes(const laws_scratch *scratch) { return (double)scratch->threads * (double)scratch->stride; }

void *laws_scratch_here(const laws_scratch *scratch, double **columns) {
  char *memory = scratch->memory + (size_t)thread_number() * scratch->stride;
  *columns = (double *)(void *)(memory + scratch->columns);
  return memory;
}
