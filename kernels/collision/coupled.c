/* Grains as a part of another model. A step begins with `load` and ends with `store`, so that the arrays are the whole
 * state, and a run that goes on from a checkpoint has the same bits. */
#include "kernels/collision/coupled.h"
#include "kernels/collision/collision.h"
#include "kernels/collision/run.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Most substeps of a step: some 0.07 s for each grain (0.7 us a substep, as plans assume), so that a run of a few
 * grains still answers a signal. */
static const double most_substeps = 1e5;

struct collision_coupled {
  collision_parameters p; /* with the length of a substep */
  collision_run *run;
  sim_clock clock; /* of the substeps */
  int64_t substeps;
};

void collision_coupled_validate(collision_parameters *p, const double size[3], const bool periodic[3],
                                sim_faults *faults) {
  for (int c = 0; c < 3; c++) {
    p->box.size[c] = size[c];
    p->box.sides[2 * c] = p->box.sides[2 * c + 1] = periodic[c] ? COLLISION_PERIODIC : COLLISION_WALL;
  }
  p->box.boundary = COLLISION_WALL - 1;
  p->common.precision = SIM_DOUBLE;
  p->integrate.dt = p->integrate.skin = NAN;
  p->integrate.steps_per_contact = 50;
  p->pushed = true;
  (void)!collision_validate(p, faults);
}

void collision_coupled_destroy(collision_coupled **coupled) {
  collision_coupled *c = *coupled;
  if (c == NULL) return;
  void *run = c->run;
  if (run != NULL) collision_model.destroy(&run);
  free(c);
  *coupled = NULL;
}

static sim_status create_run(collision_coupled *c, const sim_setup *setup) {
  void *run = NULL;
  const sim_status status = collision_model.create(&c->p, setup, &c->clock, &run);
  c->run = run;
  return status;
}

/* A first run, which has the step that its contacts need, and a second one whose step divides that of the model. */
static sim_status create_new(collision_coupled *c, const sim_setup *setup, double step) {
  SIM_TRY(create_run(c, setup));
  const double substeps = ceil(step / c->run->dt * (1 - 1e-12));
  if (!(substeps <= most_substeps))
    return sim_fail(SIM_ERR_SCENARIO,
                    "contact: a step of %.6g would need %.3g substeps of %.3g: expected at most %.0e, so a longer "
                    "contact_time, or a lower stiffness",
                    step, substeps, c->run->dt, most_substeps);
  c->substeps = substeps > 1 ? (int64_t)substeps : 1;
  c->p.integrate.dt = step / (double)c->substeps;
  void *run = c->run;
  collision_model.destroy(&run);
  c->run = NULL;
  return create_run(c, setup);
}

/* The clock of a checkpoint counts steps of the other model. */
static sim_status create_saved(collision_coupled *c, const sim_setup *setup, double step) {
  sim_frame saved = *setup->saved;
  sim_setup with = *setup;
  const sim_array *controls = sim_frame_array(&saved, collision_state_fields[COLLISION_CONTROLLER].name);
  if (controls == NULL || controls->dtype != SIM_F64 || controls->shape[0] != COLLISION_CONTROLS)
    return sim_fail(SIM_ERR_INCOMPATIBLE, "the checkpoint has no grains");
  const double substeps = round(step / ((const double *)controls->data)[COLLISION_STEP]);
  if (!(substeps >= 1 && substeps <= most_substeps) || !((double)saved.clock.step * substeps < 0x1p62))
    return sim_fail(SIM_ERR_INCOMPATIBLE, "the checkpoint's grains have no length of a substep");
  c->substeps = (int64_t)substeps;
  c->p.integrate.dt = step / substeps;
  saved.clock.step *= c->substeps;
  saved.clock.dt = c->p.integrate.dt;
  saved.clock.t = (double)saved.clock.step * c->p.integrate.dt;
  with.saved = &saved;
  return create_run(c, &with);
}

sim_status collision_coupled_create(const collision_parameters *p, const sim_setup *setup, double step,
                                    collision_coupled **out) {
  collision_coupled *c = *out = calloc(1, sizeof *c);
  if (c == NULL) return sim_no_memory("grains");
  c->p = *p;
  SIM_TRY(setup->saved != NULL ? create_saved(c, setup, step) : create_new(c, setup, step));
  c->clock.t_end = INFINITY;
  return c->run->ops->store(c->run->work);
}

int64_t collision_coupled_substeps(const collision_coupled *coupled) { return coupled->substeps; }

collision_coupled_state collision_coupled_state_of(const collision_coupled *coupled) {
  const sim_buffer *a = coupled->run->array;
  return (collision_coupled_state){.n = coupled->run->n,
                                   .id = a[COLLISION_ID].data,
                                   .radius = a[COLLISION_RADIUS].data,
                                   .mass = a[COLLISION_MASS].data,
                                   .position = a[COLLISION_POSITION].data,
                                   .velocity = a[COLLISION_VELOCITY].data,
                                   .spin = a[COLLISION_SPIN].data,
                                   .push = a[COLLISION_PULL].data};
}

/* SIM_ERR_DIVERGED where the centre of a grain has passed a side of the box, beyond which the other model has no cells.
 */
static sim_status check_inside(const collision_run *run, const sim_clock *clock) {
  const collision_options *o = &run->options;
  for (int64_t i = 0; i < run->n; i++)
    for (int c = 0; c < 3; c++) {
      const double x = collision_get(run, COLLISION_POSITION, c, i) - o->low[c];
      if (o->periodic[c] || (x >= 0 && x <= o->size[c])) continue;
      return sim_fail(SIM_ERR_DIVERGED,
                      "grain %" PRIu64
                      " (id, from 0) has passed a side of the box at t = %.9g, with a velocity of %.3g "
                      "along %c: it is too fast for steps of %.3g, or contacts are too soft: check gravity and "
                      "velocities, or shorten contact.contact_time",
                      ((const uint64_t *)run->array[COLLISION_ID].data)[i], clock->t,
                      collision_get(run, COLLISION_VELOCITY, c, i), "xyz"[c], run -> dt);
    }
  return SIM_OK;
}

sim_status collision_coupled_step(collision_coupled *coupled) {
  collision_run *run = coupled->run;
  SIM_TRY(run->ops->load(run->work));
  for (int64_t i = 0; i < coupled->substeps; i++) SIM_TRY(collision_model.step(run, &coupled->clock));
  SIM_TRY(run->ops->store(run->work));
  return check_inside(run, &coupled->clock);
}

sim_status collision_coupled_sums_of(collision_coupled *coupled, collision_coupled_sums *out) {
  const collision_sums *s;
  SIM_TRY(collision_sums_at(coupled->run, &coupled->clock, &s));
  *out = (collision_coupled_sums){.kinetic = s->kinetic,
                                  .rotational = s->rotational,
                                  .elastic = s->elastic,
                                  .dissipated = s->dissipated,
                                  .touching = s->touching,
                                  .overlap = s->overlap};
  return SIM_OK;
}

void collision_coupled_view(collision_coupled *coupled, sim_array *arrays, sim_species *species, sim_frame *frame) {
  collision_run *run = coupled->run;
  for (int which = 0; which < COLLISION_ARRAYS; which++)
    if (collision_view_array(run, which, &arrays[frame->array_count])) frame->array_count++;
  memcpy(species, run->species, run->species_count * sizeof *species);
  frame->species_count = run->species_count;
}
