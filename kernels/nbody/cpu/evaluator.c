#include "kernels/nbody/cpu/evaluator.h"

#include <stdlib.h>

#ifdef _OPENMP
#include <omp.h>
static int thread_number(void) { return omp_get_thread_num(); }
#else
static int thread_number(void) { return 0; }
#endif

struct nbody_evaluator {
  sim_expr_program *program;
  int inputs, outputs, threads;
  char *scratch; /* [threads][stride]: scratch, inputs and outputs of a block */
  size_t stride, columns;
};

sim_status nbody_evaluator_create(const sim_expr *expr, const char *uniform, sim_isa isa, int threads,
                                  nbody_evaluator **out) {
  bool one[SIM_EXPR_INPUTS_MAX] = {false};
  nbody_evaluator *f = *out = calloc(1, sizeof *f);
  if (f == NULL) return sim_no_memory("functions of bodies");
  f->inputs = sim_expr_input_count(expr);
  f->outputs = sim_expr_output_count(expr);
  f->threads = threads;
  const int which = uniform != NULL ? sim_expr_input_find(expr, uniform) : -1;
  if (which >= 0) one[which] = true;
  sim_status status = sim_expr_program_create(expr, &(sim_expr_target){.isa = isa, .uniform = one}, &f->program);
  if (status == SIM_OK) {
    void *scratch;
    f->columns = (sim_expr_program_scratch(f->program) + 63) / 64 * 64;
    f->stride = f->columns + (size_t)(f->inputs + f->outputs) * NBODY_EVALUATOR_BLOCK * sizeof(double);
    status = sim_backend_cpu.alloc((size_t)threads * f->stride, &scratch);
    if (status == SIM_OK) f->scratch = scratch;
  }
  if (status != SIM_OK) nbody_evaluator_destroy(out);
  return status;
}

void nbody_evaluator_destroy(nbody_evaluator **field) {
  if (*field == NULL) return;
  sim_expr_program_free(&(*field)->program);
  sim_backend_cpu.free((*field)->scratch);
  free(*field);
  *field = NULL;
}

double nbody_evaluator_bytes(const nbody_evaluator *field) {
  return (double)sizeof *field + (double)field->threads * (double)field->stride +
         (double)sim_expr_program_bytes(field->program);
}

const double *nbody_evaluator_run(const nbody_evaluator *f, const nbody_evaluator_input *inputs, int64_t first,
                                  int64_t count) {
  char *scratch = f->scratch + (size_t)thread_number() * f->stride;
  double *columns = (double *)(void *)(scratch + f->columns), *results = columns + f->inputs * NBODY_EVALUATOR_BLOCK;
  const void *in[SIM_EXPR_INPUTS_MAX];
  void *out[SIM_EXPR_OUTPUTS_MAX];
  for (int i = 0; i < f->inputs; i++) {
    const nbody_evaluator_input *column = &inputs[i];
    in[i] = column->data;
    if (column->data == NULL || column->uniform) continue;
    if (column->dtype == SIM_F64) {
      in[i] = (const double *)column->data + first;
      continue;
    }
    const float *single = (const float *)column->data + first;
    double *converted = columns + i * NBODY_EVALUATOR_BLOCK;
    for (int64_t k = 0; k < count; k++) converted[k] = single[k];
    in[i] = converted;
  }
  for (int i = 0; i < f->outputs; i++) out[i] = results + i * NBODY_EVALUATOR_BLOCK;
  sim_expr_program_run(f->program, (size_t)count, in, out, scratch);
  return results;
}
