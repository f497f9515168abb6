/* Temperatures of the grains at the start, and the longest step that is stable for their exchange of heat. */
#include "kernels/collision/run.h"
#include "kernels/common/laws/scratch.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

sim_status collision_heat_start(collision_run *run) {
  const sim_expr *expr = run->parameters->heat.temperature;
  double *out = run->array[COLLISION_TEMPERATURE].data;
  sim_expr_program *program = NULL;
  laws_scratch scratch = {0};
  if (out == NULL || expr == NULL) return SIM_OK; /* 0, or of files */
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

/* Upper bound of the sum of the radii of the discs in which a grain of radius r touches others, whose radii are from
 * `least` to `most`. A neighbour of radius b covers the part (1 - cos)/2 of the directions, sin = b/(r + b). Its disc
 * has the radius root(0.05 R min(r, b)) at an overlap of 5 %, and by JKR up to (R^2 c)^(1/3) more. So the sum is below
 * the largest ratio of disc to part. For equal grains this counts 15 neighbours (12 are possible). */
static double discs(double r, double least, double most, double neck) {
  double sum = 0;
  for (int k = 0; k < 2; k++) {
    const double b = k ? most : least, R = r * b / (r + b), sine = b / (r + b);
    const double part = 0.5 * sine * sine / (1 + sqrt(1 - sine * sine));
    sum = fmax(sum, (sqrt(0.05 * R * fmin(r, b)) + neck * cbrt(R * R)) / part);
  }
  return sum;
}

sim_status collision_heat_check_step(const collision_options *o, double dt, int64_t n, const double *mass,
                                     const double *radius, double most) {
  double least = INFINITY, neck = 0, walls = 0;
  for (int64_t i = 0; i < n; i++) {
    least = fmin(least, radius[i]);
    most = fmax(most, radius[i]);
  }
  for (int a = 0; a < o->materials && o->models.cohesion == COLLISION_JKR; a++)
    for (int b = 0; b < o->materials; b++) neck = fmax(neck, o->law[a][b].bond[1]);
  for (int b = 0; b < o->walls; b++) walls += isnan(o->wall_temperature[b]) ? 0 : 1;
  for (int64_t i = 0; i < n; i++) {
    const double r = radius[i];
    const double sum = discs(r, least, most, neck) + walls * (sqrt(0.05) * r + neck * cbrt(r * r));
    const double longest = mass[i] * o->capacity / (2 * o->conductance * sum);
    if (dt > longest)
      return sim_fail(SIM_ERR_SCENARIO,
                      "heat.conductivity: grains would give away their heat within a step: integrate.dt of at most "
                      "%.6g bears it, got %.6g",
                      longest, dt);
  }
  return SIM_OK;
}

sim_status collision_heat_check(const collision_run *run) {
  if (!run->options.heated) return SIM_OK;
  double *const mass = malloc(2 * (size_t)(run->n + 1) * sizeof *mass), *const radius = mass + run->n;
  if (mass == NULL) return sim_no_memory("the check of heat");
  for (int64_t i = 0; i < run->n; i++) {
    mass[i] = collision_get(run, COLLISION_MASS, 0, i);
    radius[i] = collision_get(run, COLLISION_RADIUS, 0, i);
  }
  const sim_status status = collision_heat_check_step(&run->options, run->dt, run->n, mass, radius, 0);
  free(mass);
  return status;
}
