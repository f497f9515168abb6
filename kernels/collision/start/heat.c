/* Temperatures of the grains at the start, and the longest step that their exchange of heat bears. */
#include "kernels/collision/run.h"
#include "kernels/common/laws/scratch.h"

#include <inttypes.h>
#include <math.h>

sim_status collision_heat_start(collision_run *run) {
  const sim_expr *expr = run->parameters->heat.temperature;
  double *out = run->array[COLLISION_TEMPERATURE].data;
  sim_expr_program *program = NULL;
  laws_scratch scratch = {0};
  if (out == NULL || expr == NULL) return SIM_OK; /* 0 */
  const sim_expr_target target = {.isa = run->options.isa};
  sim_status status = sim_expr_program_create(expr, &target, &program);
  if (status == SIM_OK) status = laws_scratch_create(&program, 1, 0, 1, &scratch);
  for (int64_t i = 0; i < run->n && status == SIM_OK; i++) {
    double x[3];
    for (int c = 0; c < 3; c++) x[c] = collision_get(run, COLLISION_POSITION, c, i);
    sim_expr_program_run(program, 1, (const void *const[]){&x[0], &x[1], &x[2]}, (void *const[]){out + i},
                         scratch.memory);
    if (!isfinite(out[i]))
      status = sim_fail(SIM_ERR_SCENARIO, "heat.temperature is %s at x = %.6g, y = %.6g, z = %.6g",
                        isnan(out[i]) ? "nan" : "infinite", x[0], x[1], x[2]);
  }
  laws_scratch_destroy(&scratch);
  sim_expr_program_free(&program);
  return status;
}

/* A grain touches at most 12 like it, in discs whose radius at an overlap of 5 % is r root(0.025). */
sim_status collision_heat_check(const collision_run *run) {
  const collision_options *o = &run->options;
  for (int64_t i = 0; i < run->n && o->heated; i++) {
    const double r = collision_get(run, COLLISION_RADIUS, 0, i), m = collision_get(run, COLLISION_MASS, 0, i);
    const double longest = m * o->capacity / (2 * 12 * o->conductance * r * sqrt(0.025));
    if (run->dt > longest)
      return sim_fail(SIM_ERR_SCENARIO,
                      "heat.conductivity: grains would give away their heat within a step: integrate.dt of at most "
                      "%.6g bears it, got %.6g",
                      longest, run->dt);
  }
  return SIM_OK;
}
