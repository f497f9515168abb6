#include "kernels/nbody/cpu/evaluator.h"

#include "kernels/common/laws/scratch.h"

#include <stdlib.h>

struct nbody_evaluator {
  sim_expr_program *program;
  int inputs, outputs;
  laws_scratch scratch; /* columns: inputs and outputs of a block */
};

sim_status nbody_evaluator_create(const sim_expr *expr, const char *uniform, sim_isa isa, int threads,
                                  nbody_evaluator **out) {
  bool one[SIM_EXPR_INPUTS_MAX] = {false};
  nbody_evaluator *f = *out = calloc(1, sizeof *f);
  if (f == NULL) return sim_no_memory("functions of bodies");
  f->inputs = sim_expr_input_count(expr);
  f->outputs = sim_expr_output_count(expr);
  const int which = uniform != NULL ? sim_expr_input_find(expr, uniform) : -1;
  if (which >= 0) one[which] = true;
  sim_status status = sim_expr_program_create(expr, &(sim_expr_target){.isa = isa, .uniform = one}, &f->program);
  const size_t columns = (size_t)(f->inputs + f->outputs) * NBODY_EVALUATOR_BLOCK * sizeof(double);
  if (status == SIM_OK) status = laws_scratch_create(&f->program, 1, columns, threads, &f->scratch);
  if (status != SIM_OK) nbody_evaluator_destroy(out);
  return status;
}

void nbody_evaluator_destroy(nbody_evaluator **field) {
  if (*field == NULL) return;
  sim_expr_program_free(&(*field)->program);
  laws_scratch_destroy(&(*field)->scratch);
  free(*field);
  *field = NULL;
}

double nbody_evaluator_bytes(const nbody_evaluator *field) {
  return (double)sizeof *field + laws_scratch_bytes(&field->scratch) + (double)sim_expr_program_bytes(field->program);
}

const double *nbody_evaluator_run(const nbody_evaluator *f, const nbody_evaluator_input *inputs, int64_t first,
                                  int64_t count) {
  double *columns;
  void *scratch = laws_scratch_here(&f->scratch, &columns);
  double *results = columns + f->inputs * NBODY_EVALUATOR_BLOCK;
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
