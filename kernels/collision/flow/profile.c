/* Profiles: means over slices of the box. Counts of grains through gates. */
#include "kernels/collision/run.h"

#include <math.h>
#include <string.h>

static int slice_of(const collision_run *run, int64_t i) {
  const collision_profile *profile = &run->parameters->profile;
  const int a = profile->axis;
  const double part = (collision_get(run, COLLISION_POSITION, a, i) - run->options.low[a]) / run->options.size[a];
  return part >= 0 && part < 1 ? (int)(part * (double)profile->bins) : -1;
}

/* Computes the sums in the order of the state, so that they are reproducible. */
sim_status collision_profile_at(collision_run *run, const sim_clock *clock) {
  const int bins = (int)run->parameters->profile.bins;
  double(*out)[COLLISION_BINS_MAX] = run->profile;
  double mass[COLLISION_BINS_MAX] = {0}, count[COLLISION_BINS_MAX] = {0};
  if (run->profile_step == clock->step) return SIM_OK;
  memset(out, 0, sizeof run->profile);
  for (int64_t i = 0; i < run->n; i++) {
    const int k = slice_of(run, i);
    if (k < 0) continue;
    const double m = collision_get(run, COLLISION_MASS, 0, i), r = collision_get(run, COLLISION_RADIUS, 0, i);
    mass[k] += m;
    count[k]++;
    out[0][k] += 4 * COLLISION_PI / 3 * r * r * r;
    for (int c = 0; c < 3; c++) out[1 + c][k] += m * collision_get(run, COLLISION_VELOCITY, c, i);
  }
  const double *size = run->options.size, slice = size[0] * size[1] * size[2] / bins;
  for (int k = 0; k < bins; k++) {
    out[0][k] /= slice;
    for (int c = 0; c < 3; c++) out[1 + c][k] = count[k] > 0 ? out[1 + c][k] / mass[k] : NAN;
    if (!(count[k] > 0)) out[4][k] = NAN;
  }
  for (int64_t i = 0; i < run->n; i++) {
    const int k = slice_of(run, i);
    if (k < 0) continue;
    for (int c = 0; c < 3; c++) {
      const double v = collision_get(run, COLLISION_VELOCITY, c, i) - out[1 + c][k];
      out[4][k] += collision_get(run, COLLISION_MASS, 0, i) * v * v / (3 * count[k]);
    }
  }
  run->profile_step = clock->step;
  return SIM_OK;
}

void collision_observe_flow(const collision_run *run, double *values) {
  const double *controls = run->array[COLLISION_CONTROLLER].data;
  const int64_t *crossed = run->array[COLLISION_CROSSED].data;
  for (int k = 0; k < 4; k++) *values++ = controls[COLLISION_INSERTED + k];
  for (int b = 0; b < run->options.gates; b++) {
    double grains = controls[COLLISION_CARRIED_GRAINS + b], mass = controls[COLLISION_CARRIED_MASS + b];
    for (int64_t i = 0; i < run->n; i++) {
      const double times = (double)crossed[b * run->n + i];
      grains += times;
      mass += times * collision_get(run, COLLISION_MASS, 0, i);
    }
    *values++ = grains;
    *values++ = mass;
  }
}
