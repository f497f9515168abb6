#include "kernels/collision/gravity/field.h"

#include "engine/reduce.h"

#include <math.h>
#include <stdlib.h>

enum { SAMPLES = 64 };

static const collision_field_ops *field_ops_of(const sim_backend *backend) {
#ifdef SIM_HAS_CUDA
  if (backend->space == SIM_SPACE_DEVICE) return &collision_field_device;
#endif
  (void)backend;
  return &collision_field_host;
}

sim_status collision_gravity_create(collision_run *run) {
  if (!run->options.attracted) return SIM_OK;
  collision_gravity *g = run->gravity = calloc(1, sizeof *g);
  if (g == NULL) return sim_no_memory("self-gravity");
  g->ops = field_ops_of(run->backend);
  g->every = collision_gravity_every(run->parameters, run->dt);
  g->opening = collision_gravity_opening(run->parameters->self_gravity.error);
  g->softening = run->parameters->self_gravity.softening;
  g->built = -1;
  return g->ops->create(run, &g->field);
}

void collision_gravity_destroy(collision_run *run) {
  if (run->gravity == NULL) return;
  run->gravity->ops->destroy(&run->gravity->field);
  free(run->gravity);
  run->gravity = NULL;
}

/* The tree takes the grains' positions in the middle of this time, extrapolated along epicycles; over half a turn the
 * extrapolation is useless. */
sim_status collision_gravity_check_step(const collision_parameters *p, const collision_options *o, double dt) {
  if (!o->attracted || !o->hill) return SIM_OK;
  const double most = 0.5 / fmax(o->omega, fmax(o->kappa, o->vertical)),
               step = (double)collision_gravity_every(p, dt) * dt;
  if (!(step > most)) return SIM_OK;
  return sim_fail(SIM_ERR_SCENARIO,
                  "self_gravity.step: expected at most %.9g, got %.9g: accelerations are kept for 0.5 over the highest "
                  "frequency of hill at most",
                  most, step);
}

void collision_gravity_bytes(const sim_backend *backend, const sim_comm *comm, double n, double *host, double *device) {
  field_ops_of(backend)->bytes(comm, n, host, device);
}

static collision_images images_at(const collision_run *run, double t) {
  const collision_options *o = &run->options;
  if (!o->hill) return (collision_images){{INFINITY, INFINITY}, 0, 0};
  return (collision_images){
      {o->size[0], o->size[1]}, collision_image_offset(o, t), (int)run->parameters->self_gravity.images};
}

sim_status collision_gravity_step(collision_run *run, const sim_clock *clock) {
  collision_gravity *g = run->gravity;
  if (g == NULL) return SIM_OK;
  const int64_t steps = g->every - clock->step % g->every;
  run->pull_left = fmin(clock->t + (double)steps * run->dt, clock->t_end) - clock->t;
  run->pull_left -= 0.5 * fmin(run->dt, run->pull_left);
  if (steps < g->every) return SIM_OK;
  const double half = 0.5 * (double)g->every * run->dt;
  g->built = -1;
  SIM_TRY(g->ops->build(run, half));
  const collision_images images = images_at(run, clock->t + half);
  return g->ops->pull(run, &images);
}

static sim_status build_now(collision_run *run, const sim_clock *clock) {
  collision_gravity *g = run->gravity;
  if (g->built == clock->step) return SIM_OK;
  SIM_TRY(g->ops->build(run, 0));
  g->built = clock->step;
  return SIM_OK;
}

sim_status collision_gravity_energy(collision_run *run, const sim_clock *clock, double *out) {
  collision_gravity *g = run->gravity;
  *out = 0;
  if (g == NULL) return SIM_OK;
  SIM_TRY(build_now(run, clock));
  const collision_images images = images_at(run, clock->t);
  double *energy = malloc((size_t)run->n * sizeof *energy);
  if (energy == NULL) return sim_no_memory("the energy of self-gravity");
  const sim_status status = g->ops->terms(run, &images, energy);
  if (status == SIM_OK) *out = -0.5 * run->parameters->self_gravity.G * sim_reduce_tree(energy, (size_t)run->n);
  free(energy);
  return status;
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

sim_status collision_gravity_errors(collision_run *run, const sim_clock *clock, double *median, double *greatest) {
  collision_gravity *g = run->gravity;
  const int64_t n = run->n, samples = n < SAMPLES ? n : SAMPLES;
  double error[SAMPLES], square = 0, scale = 0;
  int64_t grain[SAMPLES];
  collision_attraction got[SAMPLES], exact[SAMPLES];
  SIM_TRY(build_now(run, clock));
  const collision_images images = images_at(run, clock->t);
  for (int64_t s = 0; s < samples; s++) grain[s] = s * n / samples;
  SIM_TRY(g->ops->samples(run, &images, (int)samples, grain, got, exact));
  for (int64_t s = 0; s < samples; s++) {
    double part = 0;
    error[s] = 0;
    for (int c = 0; c < 3; c++) {
      error[s] += pow(got[s].a[c] - exact[s].a[c], 2);
      part += exact[s].a[c] * exact[s].a[c] / (double)samples;
    }
    square += part;
    scale += exact[s].potential / images.size[0] / (double)samples; /* 0 without images */
  }
  /* Where attractions cancel to their rounding, as for a single grain among its images, the error is relative to the
   * attraction by images. */
  if (square < 1e-18 * scale * scale) square = scale * scale;
  for (int64_t s = 0; s < samples; s++) error[s] = square > 0 ? sqrt(error[s] / square) : 0;
  qsort(error, (size_t)samples, sizeof *error, ascending);
  *median = error[samples / 2];
  *greatest = error[samples - 1];
  return SIM_OK;
}
