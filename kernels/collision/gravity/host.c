/* Self-gravity on the CPU. */
#include "kernels/collision/gravity/field.h"
#include "kernels/collision/gravity/predict.h"
#include "kernels/collision/hill.h"

#include <stdlib.h>

struct collision_field {
  collision_tree *tree;
  double *position, *mass; /* [3][n], [n] */
  collision_attraction *attraction;
};

static void destroy(collision_field **field) {
  collision_field *f = *field;
  if (f == NULL) return;
  collision_tree_destroy(&f->tree);
  free(f->position), free(f->mass), free(f->attraction);
  free(f);
  *field = NULL;
}

static sim_status create(collision_run *run, collision_field **out) {
  const size_t n = (size_t)run->n;
  collision_field *f = *out = calloc(1, sizeof *f);
  if (f == NULL) return sim_no_memory("self-gravity");
  f->position = malloc(3 * n * sizeof *f->position);
  f->mass = malloc(n * sizeof *f->mass);
  f->attraction = malloc(n * sizeof *f->attraction);
  if (!f->position || !f->mass || !f->attraction) return sim_no_memory("self-gravity of %zu grains", n);
  for (size_t i = 0; i < n; i++) f->mass[i] = collision_get(run, COLLISION_MASS, 0, (int64_t)i);
  return collision_tree_create(run->n, run->options.threads, run->options.isa, &f->tree);
}

static void bytes(const sim_comm *comm, double n, double *host, double *device) {
  (void)comm; /* every rank has all grains */
  *host = collision_tree_bytes(n) + n * (4 * sizeof(double) + sizeof(collision_attraction));
  *device = 0;
}

static sim_status build(collision_run *run, double ahead) {
  collision_field *f = run->gravity->field;
  const collision_options *o = &run->options;
  const collision_prediction prediction = collision_prediction_of(o, ahead);
  const int64_t n = run->n;
  SIM_TRY(run->ops->store(run->work));
#pragma omp parallel for schedule(static) num_threads(o->threads) if (n > 4096)
  for (int64_t i = 0; i < n; i++) {
    double x[3], v[3];
    for (int c = 0; c < 3; c++) {
      x[c] = collision_get(run, COLLISION_POSITION, c, i);
      v[c] = collision_get(run, COLLISION_VELOCITY, c, i);
    }
    collision_predict(&prediction, x, v);
    for (int c = 0; c < 3; c++) f->position[c * n + i] = x[c];
  }
  return collision_tree_build(f->tree, f->position, f->mass);
}

static void attract(collision_run *run, const collision_images *images) {
  const collision_gravity *g = run->gravity;
  collision_tree_attract(g->field->tree, images, g->softening, g->opening, g->field->attraction);
}

static sim_status pull(collision_run *run, const collision_images *images) {
  const collision_field *f = run->gravity->field;
  const double G = run->parameters->self_gravity.G, jump = run->options.shear * run->options.size[0];
  const int64_t n = run->n;
  double *kept = run->array[COLLISION_PULL].data;
  attract(run, images);
  for (int64_t i = 0; i < n; i++) {
    for (int c = 0; c < 3; c++) kept[c * n + i] = G * f->attraction[i].a[c];
    kept[3 * n + i] = 0.5 * G * f->mass[i] * jump * f->attraction[i].swept;
  }
  return SIM_OK;
}

static sim_status terms(collision_run *run, const collision_images *images, double *out) {
  const collision_field *f = run->gravity->field;
  attract(run, images);
  for (int64_t i = 0; i < run->n; i++) out[i] = f->mass[i] * f->attraction[i].potential;
  return SIM_OK;
}

static sim_status samples(collision_run *run, const collision_images *images, int count, const int64_t *grains,
                          collision_attraction *got, collision_attraction *exact) {
  const collision_gravity *g = run->gravity;
#pragma omp parallel for schedule(dynamic) num_threads(run->options.threads) if (run->n > 512)
  for (int s = 0; s < count; s++) {
    exact[s] = collision_tree_attract_one(g->field->tree, images, g->softening, 0, grains[s]);
    got[s] = collision_tree_attract_one(g->field->tree, images, g->softening, g->opening, grains[s]);
  }
  return SIM_OK;
}

const collision_field_ops collision_field_host = {.create = create,
                                                  .destroy = destroy,
                                                  .bytes = bytes,
                                                  .build = build,
                                                  .pull = pull,
                                                  .terms = terms,
                                                  .samples = samples};
