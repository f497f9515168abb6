/* A gas of equal spheres in motion, search and sorting included: million particle-steps a second. Packing 0.3, linear
 * law, kn 1000, diameter, mass 1, temperature 0.1, dt 0.0014, periodic.
 *
 *   bench_collision [--precision single|double] [--n N] [--threads T] [--warm STEPS] [--steps STEPS] [--friction MU] */
#include "bench/arguments.h"
#include "engine/wall_clock.h"
#include "kernels/collision/collision.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const sim_model *const sim_models[] = {&collision_model, NULL};

static int fail(void) {
  fprintf(stderr, "bench_collision: %s\n", sim_error_last()->message);
  return 1;
}

int main(int count, char **arguments) {
  const double pi = 3.14159265358979323846;
  int precision = 0;
  double n = 1e6, threads = omp_get_num_procs(), warm = 100, steps = 100, friction = NAN;
  const bench_argument known[] = {{"--precision", BENCH_INDEX, &precision, 0, bench_precisions},
                                  {"--n", BENCH_NUMBER, &n, 2, NULL},
                                  {"--threads", BENCH_NUMBER, &threads, 1, NULL},
                                  {"--warm", BENCH_NUMBER, &warm, 0, NULL},
                                  {"--steps", BENCH_NUMBER, &steps, 1, NULL},
                                  {"--friction", BENCH_NUMBER, &friction, 0, NULL},
                                  {NULL, BENCH_END, NULL, 0, NULL}};
  bench_arguments(count, arguments, known);
  collision_lattice lattice = {
      .group = {"grains", "grain", 6 / pi, {0, 0, 0}}, .size = {.radius = 0.5}, .n = (int64_t)n, .temperature = 0.1};
  sim_item item = {.schema = &collision_lattice_schema, .data = &lattice};
  const double side = cbrt(n * pi / 6 / 0.3);
  collision_parameters p = {.box = {.size = {side, side, side}}, .grains = {&item, 1}};
  p.common.precision = precision ? SIM_DOUBLE : SIM_SINGLE;
  p.contact.values = (collision_values){1000, NAN, NAN, NAN, NAN, NAN, NAN, friction, NAN, NAN, NAN};
  p.integrate = (collision_integrate){.dt = 0.0014, .steps_per_contact = 50, .skin = NAN, .t_end = 1e9};
  sim_setup setup = {.backend = &sim_backend_cpu,
                     .comm = &sim_comm_alone,
                     .isa = sim_isa_best(),
                     .threads = (int)threads,
                     .folder = ""};
  sim_faults faults = {0};
  sim_clock clock;
  void *self;
  if (collision_model.validate(&p, &faults) != SIM_OK || collision_model.create(&p, &setup, &clock, &self) != SIM_OK)
    return fail();
  double start = 0;
  for (int64_t k = 0; k < (int64_t)(warm + steps); k++) {
    if (k == (int64_t)warm) start = sim_wall_clock();
    if (collision_model.step(self, &clock) != SIM_OK) return fail();
  }
  const double seconds = sim_wall_clock() - start;
  double gas[SIM_COLUMNS_MAX], contacts[SIM_COLUMNS_MAX];
  if (collision_model.observe(self, &clock, 1, gas) != SIM_OK ||
      collision_model.observe(self, &clock, 2, contacts) != SIM_OK)
    return fail();
  printf("%s, %d threads, %.0f grains: %.3f ms a step, %.1f million particle-steps a second, temperature %.5f, %.4f "
         "contacts a grain\n",
         bench_precisions[precision], (int)threads, n, 1e3 * seconds / steps, n * steps / seconds / 1e6, gas[0],
         contacts[2] / 2);
  collision_model.destroy(&self);
  return 0;
}
