/* Self-gravity on an NVIDIA GPU. */
#include "kernels/collision/gravity/device.h"
#include "kernels/collision/gravity/field.h"
#include "kernels/collision/hill.h"

#include <stdlib.h>

struct collision_field {
  collision_device_tree *tree;
  double *pull;           /* of the solver, on the device: the state's array `pull` */
  sim_exchange *exchange; /* of the solver; NULL: one rank */
  bool kept;              /* whether the tree has the attractions of its positions */
};

static void destroy(collision_field **field) {
  if (*field == NULL) return;
  collision_device_tree_destroy(&(*field)->tree);
  free(*field);
  *field = NULL;
}

static sim_status create(collision_run *run, collision_field **out) {
  *out = calloc(1, sizeof **out);
  if (*out == NULL) return sim_no_memory("self-gravity");
  return collision_device_tree_create(run->options.comm, run->n, &(*out)->tree);
}

/* The host has the terms of the potential energy. */
static void bytes(const sim_comm *comm, double n, double *host, double *device) {
  *host = n * sizeof(double);
  *device = collision_device_tree_bytes(comm, n);
}

static sim_status build(collision_run *run, double ahead) {
  collision_field *f = run->gravity->field;
  const collision_prediction prediction = collision_prediction_of(&run->options, ahead);
  f->kept = false;
  SIM_TRY(run->ops->predict(run->work, &prediction, collision_device_tree_position(f->tree),
                            collision_device_tree_mass(f->tree), &f->pull, &f->exchange));
  return collision_device_tree_build(f->tree);
}

static sim_status attract(collision_run *run, const collision_images *images) {
  const collision_gravity *g = run->gravity;
  if (g->field->kept) return SIM_OK;
  SIM_TRY(collision_device_tree_attract(g->field->tree, g->field->exchange, images, g->softening, g->opening));
  g->field->kept = true;
  return SIM_OK;
}

static sim_status pull(collision_run *run, const collision_images *images) {
  const collision_field *f = run->gravity->field;
  const double jump = run->options.shear * run->options.size[0];
  SIM_TRY(attract(run, images));
  return collision_device_tree_pull(f->tree, run->parameters->self_gravity.G, jump, f->pull);
}

static sim_status terms(collision_run *run, const collision_images *images, double *out) {
  SIM_TRY(attract(run, images));
  return collision_device_tree_terms(run->gravity->field->tree, out);
}

static sim_status samples(collision_run *run, const collision_images *images, int count, const int64_t *grains,
                          collision_attraction *got, collision_attraction *exact) {
  const collision_gravity *g = run->gravity;
  SIM_TRY(attract(run, images));
  return collision_device_tree_samples(g->field->tree, images, g->softening, count, grains, got, exact);
}

const collision_field_ops collision_field_device = {.create = create,
                                                    .destroy = destroy,
                                                    .bytes = bytes,
                                                    .build = build,
                                                    .pull = pull,
                                                    .terms = terms,
                                                    .samples = samples};
