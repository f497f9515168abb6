/* Measures the error of a run's forces: compares the forces on some of its bodies with direct sums. */
#include "kernels/nbody/run.h"

#include "kernels/nbody/cpu/evaluator.h"

#include "engine/log.h"
#include "engine/rng.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* Seed of the draws of sampled bodies, in place of the scenario's seed. */
#define SAMPLE_SEED UINT64_C(0x666f726365)

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Computes the error |da| / |a| of each body; forces below 2^-20 of the median force count as that. */
static void find_errors(const double *got, const double *exact, int count, double *error, double *size) {
  for (int k = 0; k < count; k++) {
    const double *const g = got + k, *const e = exact + k;
    error[k] = hypot(hypot(g[0] - e[0], g[count] - e[count]), g[2 * count] - e[2 * count]);
    size[count + k] = size[k] = hypot(hypot(e[0], e[count]), e[2 * count]);
  }
  qsort(size, (size_t)count, sizeof *size, compare);
  for (int k = 0; k < count; k++) {
    const double of = fmax(size[count + k], 0x1p-20 * size[count / 2]);
    error[k] = error[k] == 0 ? 0 : error[k] / of;
    if (isnan(error[k])) error[k] = INFINITY;
  }
}

/* Warns once. Without error_tail an error of a tenth of the force, or of 100 times gravity.error, is warned of too. */
static void warn(nbody_force_error *e, int64_t step) {
  const bool median = e->median > e->asked, asked = isfinite(e->asked_tail);
  const double most = asked ? e->asked_tail : fmax(0.1, 100 * e->asked);
  if (e->warned || (!median && !(e->tail > most))) return;
  e->warned = true;
  sim_log(SIM_LOG_WARN,
          "force error at step %" PRId64 ": median %.2g, 99.9 %% of the bodies %.2g; expected at most %.2g%s: set a "
          "smaller gravity.error%s, gravity.solver = \"direct\", or a finer precision",
          step, e->median, e->tail, median ? e->asked : most, median ? "" : " of 99.9 %",
          median ? "" : " or gravity.error_tail");
}

/* Number of bodies that are measured. In a periodic box a pair of the direct sums costs some 100 times as much as in
 * open space: of more than 10^5 bodies fewer are taken, down to 100, whose greatest error stands for that of 99.9 %. */
static int sample_count(const nbody_run *run) {
  const double most = run->box > 0 ? fmax(100, 1e8 / (double)run->n) : NBODY_SAMPLES;
  return (int)fmin((double)run->n, fmin(most, NBODY_SAMPLES));
}

static void draw_bodies(const nbody_run *run, int64_t step, int count, int64_t *numbers) {
  for (int k = 0; k < count; k++) {
    double u[2];
    sim_rng_uniform(SAMPLE_SEED, (uint64_t)k, (uint64_t)step, 0, u);
    numbers[k] = run->n <= count ? k : (int64_t)(u[0] * (double)run->n);
  }
}

/* Subtracts the external acceleration at position[3][count] and time t from a[3][count]. */
static sim_status subtract_external(const nbody_run *run, const double *position, int count, double t, double *a) {
  nbody_evaluator *field;
  const nbody_evaluator_input in[] = {{position, SIM_F64, false},
                                      {position + count, SIM_F64, false},
                                      {position + 2 * count, SIM_F64, false},
                                      {&t, SIM_F64, true}};
  SIM_TRY(nbody_evaluator_create(run->laws.external, "t", SIM_ISA_PLAIN, 1, &field));
  for (int first = 0; first < count; first += NBODY_EVALUATOR_BLOCK) {
    const int some = count - first < NBODY_EVALUATOR_BLOCK ? count - first : NBODY_EVALUATOR_BLOCK;
    const double *external = nbody_evaluator_run(field, in, first, some);
    for (int c = 0; c < 3; c++)
      for (int k = 0; k < some; k++) a[c * count + first + k] -= external[c * NBODY_EVALUATOR_BLOCK + k];
  }
  nbody_evaluator_destroy(&field);
  return SIM_OK;
}

sim_status nbody_measure_force_error(nbody_run *run, const sim_clock *clock) {
  const nbody_solver *solver = run->forces.solver;
  const int64_t step = clock->step;
  const bool known = run->force_error.measured && run->force_error.step == step;
  if (solver->sample == NULL || run->n < 2 || known) return SIM_OK;
  const int count = sample_count(run);
  int64_t *numbers = malloc((size_t)count * sizeof *numbers);
  double *values = malloc((size_t)count * 9 * sizeof *values);
  sim_status status = SIM_OK;
  if (numbers == NULL || values == NULL) status = sim_no_memory("the force error of %d bodies", count);
  double *got = values, *exact = got + 3 * count, *position = exact + 3 * count;
  double *error = position, *size = error + count; /* [count], [2][count]: written after the positions are used */
  if (status == SIM_OK) draw_bodies(run, step, count, numbers);
  if (status == SIM_OK) status = solver->sample(run->forces.work, numbers, count, position, got, exact);
  if (status == SIM_OK && run->laws.external != NULL) status = subtract_external(run, position, count, clock->t, got);
  if (status == SIM_OK) {
    nbody_force_error *e = &run->force_error;
    find_errors(got, exact, count, error, size);
    qsort(error, (size_t)count, sizeof *error, compare);
    e->median = error[count / 2];
    e->tail = error[(int)ceil(0.999 * count) - 1];
    e->measured = true;
    e->step = step;
    e->largest_median = fmax(e->largest_median, e->median);
    e->largest_tail = fmax(e->largest_tail, e->tail);
    warn(e, step);
  }
  free(numbers);
  free(values);
  return status;
}

/* Measures the error of the bodies' potentials, added up as the energy is: it averages out where bodies differ. */
sim_status nbody_measure_potential_error(nbody_run *run, int64_t step) {
  const nbody_solver *solver = run->forces.solver;
  run->force_error.potential = NAN;
  if (solver->sample_potential == NULL || run->n < 2) return SIM_OK;
  const int count = sample_count(run);
  int64_t *numbers = malloc((size_t)count * sizeof *numbers);
  double *got = malloc((size_t)count * 2 * sizeof *got), *exact = got + count;
  sim_status status = SIM_OK;
  if (numbers == NULL || got == NULL) status = sim_no_memory("the error of the potential of %d bodies", count);
  if (status == SIM_OK) draw_bodies(run, step, count, numbers);
  if (status == SIM_OK) status = solver->sample_potential(run->forces.work, numbers, count, got, exact);
  if (status == SIM_OK) {
    double error = 0, size = 0;
    for (int k = 0; k < count; k++) {
      error += got[k] - exact[k];
      size += fabs(exact[k]);
    }
    run->force_error.potential = size > 0 ? fabs(error) / size : fabs(error);
  }
  free(numbers);
  free(got);
  return status;
}

sim_status nbody_watch_force_error(nbody_run *run, const sim_clock *clock) {
  enum { EVERY = 64 };
  if (clock->step % EVERY != 0) return SIM_OK;
  SIM_TRY(nbody_measure_force_error(run, clock));
  const nbody_force_error *e = &run->force_error;
  double *const largest = run->controller;
  if (!e->measured || e->step != clock->step) return SIM_OK;
  largest[NBODY_LARGEST_MEDIAN] = fmax(largest[NBODY_LARGEST_MEDIAN], fmin(e->median, DBL_MAX));
  largest[NBODY_LARGEST_TAIL] = fmax(largest[NBODY_LARGEST_TAIL], fmin(e->tail, DBL_MAX));
  return SIM_OK;
}
