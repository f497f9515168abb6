#include "kernels/collision/gravity/gravity.h"

#include "kernels/collision/gravity/tree.h"
#include "kernels/collision/hill.h"

#include "engine/reduce.h"

#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 64 };

struct collision_gravity {
  collision_tree *tree;
  double *position, *mass; /* [3][n], [n] */
  collision_attraction *attraction;
  double opening;
  int64_t every; /* number of steps for which accelerations are kept */
  int64_t built; /* step for which the tree has the positions; -1: other positions */
};

sim_status collision_gravity_create(collision_run *run) {
  const collision_options *o = &run->options;
  const size_t n = (size_t)run->n;
  if (!o->attracted) return SIM_OK;
  collision_gravity *g = run->gravity = calloc(1, sizeof *g);
  if (g == NULL) return sim_no_memory("self-gravity");
  g->position = malloc(3 * n * sizeof *g->position);
  g->mass = malloc(n * sizeof *g->mass);
  g->attraction = malloc(n * sizeof *g->attraction);
  if (!g->position || !g->mass || !g->attraction) return sim_no_memory("self-gravity of %zu grains", n);
  for (size_t i = 0; i < n; i++) g->mass[i] = collision_get(run, COLLISION_MASS, 0, (int64_t)i);
  g->every = collision_gravity_every(run->parameters, run->dt);
  g->opening = collision_gravity_opening(run->parameters->self_gravity.error);
  g->built = -1;
  return collision_tree_create(run->n, o->threads, o->isa, &g->tree);
}

void collision_gravity_destroy(collision_run *run) {
  collision_gravity *g = run->gravity;
  if (g == NULL) return;
  collision_tree_destroy(&g->tree);
  free(g->position), free(g->mass), free(g->attraction);
  free(g);
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

double collision_gravity_bytes(double n) {
  return collision_tree_bytes(n) + n * (4 * sizeof(double) + sizeof(collision_attraction));
}

double collision_gravity_bytes_there(double n) { return collision_tree_bytes(n) + n * sizeof(collision_attraction); }

static collision_images images_at(const collision_run *run, double t) {
  const collision_options *o = &run->options;
  if (!o->hill) return (collision_images){{INFINITY, INFINITY}, 0, 0};
  return (collision_images){
      {o->size[0], o->size[1]}, fmod(o->shear * o->size[0] * t, o->size[1]), (int)run->parameters->self_gravity.images};
}

/* Builds the tree for the positions of the grains after a time `ahead` without other forces. */
static sim_status build(collision_run *run, double ahead) {
  collision_gravity *g = run->gravity;
  const collision_options *o = &run->options;
  const hill_flow flow = hill_flow_of(o, ahead);
  const int64_t n = run->n;
#pragma omp parallel for schedule(static) num_threads(o->threads) if (n > 4096)
  for (int64_t i = 0; i < n; i++) {
    double x[3], v[3];
    for (int c = 0; c < 3; c++) {
      x[c] = collision_get(run, COLLISION_POSITION, c, i);
      v[c] = collision_get(run, COLLISION_VELOCITY, c, i);
    }
    if (o->hill) {
      hill_advance(&flow, x, v);
      const double y = x[1] - (o->low[1] + 0.5 * o->size[1]);
      if (fabs(y) > o->size[1]) x[1] -= o->size[1] * rint(y / o->size[1]); /* far along the flow of a long step */
    } else
      for (int c = 0; c < 3; c++) x[c] += v[c] * ahead;
    for (int c = 0; c < 3; c++) g->position[c * n + i] = x[c];
  }
  return collision_tree_build(g->tree, g->position, g->mass);
}

/* Computes g->attraction, the attraction of all grains, with the present tree. */
static sim_status attract(collision_run *run, const collision_images *images) {
  collision_gravity *g = run->gravity;
  const double softening = run->parameters->self_gravity.softening;
#ifdef SIM_HAS_CUDA
  if (run->backend->space == SIM_SPACE_DEVICE)
    return collision_tree_attract_there(g->tree, images, softening, g->opening, g->attraction);
#endif
  collision_tree_attract(g->tree, images, softening, g->opening, g->attraction);
  return SIM_OK;
}

sim_status collision_gravity_step(collision_run *run, const sim_clock *clock) {
  collision_gravity *g = run->gravity;
  const collision_options *o = &run->options;
  if (g == NULL || clock->step % g->every != 0) return SIM_OK;
  const int64_t n = run->n;
  const double G = run->parameters->self_gravity.G, half = 0.5 * (double)g->every * run->dt;
  const double jump = o->shear * o->size[0];
  double *pull = run->array[COLLISION_PULL].data;
  SIM_TRY(run->ops->store(run->work));
  SIM_TRY(build(run, half));
  g->built = -1;
  const collision_images images = images_at(run, clock->t + half);
  SIM_TRY(attract(run, &images));
  for (int64_t i = 0; i < n; i++) {
    for (int c = 0; c < 3; c++) pull[c * n + i] = G * g->attraction[i].a[c];
    pull[3 * n + i] = 0.5 * G * g->mass[i] * jump * g->attraction[i].swept;
  }
  return run->ops->attract != NULL ? run->ops->attract(run->work) : SIM_OK;
}

static sim_status build_now(collision_run *run, const sim_clock *clock) {
  collision_gravity *g = run->gravity;
  if (g->built == clock->step) return SIM_OK;
  SIM_TRY(run->ops->store(run->work));
  SIM_TRY(build(run, 0));
  g->built = clock->step;
  return SIM_OK;
}

sim_status collision_gravity_energy(collision_run *run, const sim_clock *clock, double *out) {
  collision_gravity *g = run->gravity;
  const collision_self_gravity *p = &run->parameters->self_gravity;
  *out = 0;
  if (g == NULL) return SIM_OK;
  SIM_TRY(build_now(run, clock));
  const collision_images images = images_at(run, clock->t);
  SIM_TRY(attract(run, &images));
  double *energy = malloc((size_t)run->n * sizeof *energy);
  if (energy == NULL) return sim_no_memory("the energy of self-gravity");
  for (int64_t i = 0; i < run->n; i++) energy[i] = g->mass[i] * g->attraction[i].potential;
  *out = -0.5 * p->G * sim_reduce_tree(energy, (size_t)run->n);
  free(energy);
  return SIM_OK;
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

sim_status collision_gravity_errors(collision_run *run, const sim_clock *clock, double *median, double *greatest) {
  collision_gravity *g = run->gravity;
  const double softening = run->parameters->self_gravity.softening;
  const int64_t n = run->n, samples = n < SAMPLES ? n : SAMPLES;
  double error[SAMPLES], part[SAMPLES], pair[SAMPLES], square = 0, scale = 0;
  SIM_TRY(build_now(run, clock));
  const collision_images images = images_at(run, clock->t);
#pragma omp parallel for schedule(dynamic) num_threads(run->options.threads) if (n > 512)
  for (int64_t s = 0; s < samples; s++) {
    const int64_t i = s * n / samples;
    const collision_attraction exact = collision_tree_attract_one(g->tree, &images, softening, 0, i);
    const collision_attraction got = collision_tree_attract_one(g->tree, &images, softening, g->opening, i);
    error[s] = part[s] = 0;
    pair[s] = exact.potential / images.size[0] / (double)samples; /* 0 without images */
    for (int c = 0; c < 3; c++) {
      error[s] += pow(got.a[c] - exact.a[c], 2);
      part[s] += exact.a[c] * exact.a[c] / (double)samples;
    }
  }
  for (int64_t s = 0; s < samples; s++) square += part[s], scale += pair[s];
  /* Where attractions cancel to their rounding, as for a single grain among its images, the error is relative to the
   * attraction by images. */
  if (square < 1e-18 * scale * scale) square = scale * scale;
  for (int64_t s = 0; s < samples; s++) error[s] = square > 0 ? sqrt(error[s] / square) : 0;
  qsort(error, (size_t)samples, sizeof *error, ascending);
  *median = error[samples / 2];
  *greatest = error[samples - 1];
  return SIM_OK;
}
