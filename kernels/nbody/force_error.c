/* The error of the forces of a run, measured on some of its bodies against direct sums. */
#include "kernels/nbody/run.h"

#include "engine/log.h"
#include "engine/rng.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* Of philox's entities, beside those of the bodies' generators, which count from 0. */
#define SAMPLE_SEED UINT64_C(0x666f726365)

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Errors [count] over the size of each force, and over the median size where that makes them smaller. */
static void find_errors(const double *got, const double *exact, int count, double *error, double *size) {
  for (int k = 0; k < count; k++) {
    double e2 = 0, a2 = 0;
    for (int c = 0; c < 3; c++) {
      e2 += pow(got[c * count + k] - exact[c * count + k], 2);
      a2 += exact[c * count + k] * exact[c * count + k];
    }
    error[k] = sqrt(e2);
    size[count + k] = size[k] = sqrt(a2);
  }
  qsort(size, (size_t)count, sizeof *size, compare);
  const double median = size[count / 2];
  for (int k = 0; k < count; k++) error[k] /= fmax(fmax(size[count + k], median), 1e-300);
}

static void warn(nbody_force_error *e, int64_t step) {
  if (e->warned || (!(e->median > e->asked) && !(e->tail > e->asked_tail))) return;
  e->warned = true;
  sim_log(SIM_LOG_WARN,
          "force error at step %" PRId64 ": median %.2g, 99.9 %% %.2g, asked for %.2g%s: ask for a smaller "
          "gravity.error, or take gravity.solver = \"direct\"",
          step, e->median, e->tail, e->median > e->asked ? e->asked : e->asked_tail,
          e->median > e->asked ? "" : " of 99.9 %");
}

sim_status nbody_measure_force_error(nbody_run *run, int64_t step) {
  const nbody_solver *solver = run->forces.solver;
  if (solver->sample == NULL || run->laws.external != NULL || run->n < 2) return SIM_OK;
  const int count = run->n < NBODY_SAMPLES ? (int)run->n : NBODY_SAMPLES;
  int64_t *numbers = malloc((size_t)count * sizeof *numbers);
  double *values = malloc((size_t)count * 9 * sizeof *values);
  sim_status status = SIM_OK;
  if (numbers == NULL || values == NULL) status = sim_no_memory("the force error of %d bodies", count);
  double *got = values, *exact = got + 3 * count, *error = exact + 3 * count, *size = error + count;
  for (int k = 0; status == SIM_OK && k < count; k++) {
    double u[2];
    sim_rng_uniform(SAMPLE_SEED, (uint64_t)k, (uint64_t)step, 0, u);
    numbers[k] = run->n <= NBODY_SAMPLES ? k : (int64_t)(u[0] * (double)run->n);
    for (int c = 0; status == SIM_OK && c < 3; c++)
      status = run->backend->copy(&got[c * count + k], (double *)run->acceleration.data + c * run->n + numbers[k],
                                  sizeof *got);
  }
  if (status == SIM_OK) {
    nbody_force_error *e = &run->force_error;
    solver->sample(run->forces.work, numbers, count, exact);
    find_errors(got, exact, count, error, size);
    qsort(error, (size_t)count, sizeof *error, compare);
    e->median = error[count / 2];
    e->tail = error[(int)(0.999 * (count - 1))];
    e->largest_median = fmax(e->largest_median, e->median);
    e->largest_tail = fmax(e->largest_tail, e->tail);
    warn(e, step);
  }
  free(numbers);
  free(values);
  return status;
}
