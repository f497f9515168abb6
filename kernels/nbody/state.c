/* State arrays of a run: their fields, views of them, and their values from a checkpoint. */
#include "kernels/nbody/few/few.h"
#include "kernels/nbody/run.h"

#include <string.h>

enum {
  ID,
  MASS,
  POSITION,
  VELOCITY,
  ACCELERATION,
  JERK,
  CONTROLLER,
  INTEGRATOR,
  RADIUS,
  EVENTS,
  SEARCHED,
  TRAVELLED,
  BATH,
  ARRAYS
};

static const char *const control_names[] = {"energy at the start",
                                            "next adaptive step",
                                            "size of the system",
                                            "kinetic energy of the momenta",
                                            "integral of the peculiar kinetic energy",
                                            "method",
                                            "order of multipoles",
                                            "opening angle",
                                            "weight of the target's radius",
                                            "most bodies of a leaf",
                                            "largest median of the force error",
                                            "largest force error of 99.9 %",
                                            NULL};
static const char *const event_names[] = {
    "mergers",   "escapers",          "time of the last",    "its body", "its other body",
    "its speed", "energy taken away", "bodies at the start", NULL};
static const char *const bath_names[] = {"heat",       "chain 1",    "chain 2",    "chain 3",
                                         "velocity 1", "velocity 2", "velocity 3", NULL};
const sim_field nbody_state_fields[] = {
    [ID] = {.name = "id", .type = SIM_INT, .flags = SIM_UNSIGNED | SIM_IN_SNAPSHOT, .doc = "id of the body, from 0"},
    [MASS] = {.name = "mass", .type = SIM_REAL, .flags = SIM_IN_SNAPSHOT, .dimension = {0, 1, 0}, .doc = "mass"},
    [POSITION] = {.name = "position",
                  .type = SIM_REAL,
                  .components = 3,
                  .flags = SIM_IN_SNAPSHOT,
                  .dimension = {1, 0, 0},
                  .doc = "position"},
    [VELOCITY] = {.name = "velocity",
                  .type = SIM_REAL,
                  .components = 3,
                  .flags = SIM_IN_SNAPSHOT,
                  .dimension = {1, 0, -1},
                  .doc = "velocity; with expansion a^2 dx/dt, which is a times the peculiar velocity"},
    [ACCELERATION] = {.name = "acceleration",
                      .type = SIM_REAL,
                      .components = 3,
                      .dimension = {1, 0, -2},
                      .doc = "acceleration at the beginning of the next step"},
    [JERK] = {.name = "jerk",
              .type = SIM_REAL,
              .components = 3,
              .dimension = {1, 0, -3},
              .doc = "time derivative of the acceleration (hermite4)"},
    [CONTROLLER] =
        {.name = "controller",
         .type = SIM_REAL,
         .components = NBODY_CONTROLS,
         .choices = control_names,
         .doc = "energy at the start (with expansion the Layzer-Irvine constant), next adaptive step, root mean square "
                "distance from the mean position at the start; with expansion the kinetic energy of the momenta and "
                "the integral over a of the peculiar kinetic energy; method of the forces (1 direct, 2 fmm), its "
                "settings and its largest errors"},
    [INTEGRATOR] = {.name = "integrator",
                    .type = SIM_REAL,
                    .doc =
                        "ias15: the beginning of the last step and the prediction for it; whfast: Jacobi coordinates "
                        "half a step ahead"},
    [RADIUS] = {.name = "radius",
                .type = SIM_REAL,
                .flags = SIM_IN_SNAPSHOT,
                .dimension = {1, 0, 0},
                .doc = "radius; with merge"},
    [EVENTS] = {.name = "events",
                .type = SIM_REAL,
                .components = NBODY_EVENTS,
                .choices = event_names,
                .doc = "mergers and escapers so far, the last one, and the energy that they took away; with merge or "
                       "escape"},
    [SEARCHED] = {.name = "searched",
                  .type = SIM_REAL,
                  .components = 3,
                  .dimension = {1, 0, 0},
                  .doc = "position at the last search for pairs; with cutoff"},
    [TRAVELLED] = {.name = "travelled",
                   .type = SIM_REAL,
                   .components = 3,
                   .dimension = {1, 0, 0},
                   .doc = "displacement from the start of the run to the last search for pairs; with cutoff"},
    [BATH] = {.name = "bath",
              .type = SIM_REAL,
              .components = NBODY_BATH,
              .choices = bath_names,
              .doc = "thermostat: heat that langevin has given to the bodies; positions and velocities of the chain of "
                     "nose_hoover"},
    [ARRAYS] = {0}};

/* Fills in the view of array `which`; false where the scheme does not have it. */
static bool view_array(nbody_run *run, int which, sim_array *out) {
  const sim_buffer *const buffers[] = {[ID] = &run->id,
                                       [MASS] = &run->mass,
                                       [POSITION] = &run->position,
                                       [VELOCITY] = &run->velocity,
                                       [ACCELERATION] = &run->acceleration,
                                       [JERK] = &run->jerk,
                                       [INTEGRATOR] = &run->kept,
                                       [RADIUS] = &run->radius,
                                       [SEARCHED] = &run->searched,
                                       [TRAVELLED] = &run->travelled};
  *out = (sim_array){.field = &nbody_state_fields[which]};
  if (which == CONTROLLER) {
    out->dtype = SIM_F64;
    out->rank = 1;
    out->shape[0] = NBODY_CONTROLS;
    out->data = run->controller;
  } else if (which == EVENTS) {
    if (!run->encounters) return false;
    out->dtype = SIM_F64;
    out->rank = 1;
    out->shape[0] = NBODY_EVENTS;
    out->data = run->events;
  } else if (which == BATH) {
    if (!run->thermostat.given) return false;
    out->dtype = SIM_F64;
    out->rank = 1;
    out->shape[0] = NBODY_BATH;
    out->data = run->bath;
  } else {
    const sim_buffer *buffer = buffers[which];
    if (buffer->data == NULL) return false;
    out->dtype = buffer->dtype;
    out->rank = buffer->rank;
    memcpy(out->shape, buffer->shape, sizeof out->shape);
    out->data = buffer->data;
    out->space = buffer->space;
    if (run->encounters)
      out->room = which == INTEGRATOR ? (size_t)run->few->numbers((double)run->most) * sizeof(double)
                                      : sim_buffer_bytes(buffer) / (size_t)run->n * (size_t)run->most;
  }
  memcpy(out->global, out->shape, sizeof out->global);
  return true;
}

sim_status nbody_view(void *self, sim_array *arrays, sim_species *species, sim_frame *frame) {
  nbody_run *run = self;
  SIM_TRY(nbody_few_show(run));
  frame->array_count = 0;
  for (int which = 0; which < ARRAYS; which++)
    if (view_array(run, which, &arrays[frame->array_count])) frame->array_count++;
  memcpy(species, run->species, run->species_count * sizeof *species);
  frame->species_count = run->species_count;
  return SIM_OK;
}

sim_status nbody_restore(nbody_run *run, const sim_setup *setup) {
  const sim_frame *saved = setup->saved;
  SIM_TRY(nbody_saved_check(&run->integrate, run->box, saved, &run->n));
  if (run->expansion.given && !(saved->clock.t >= run->expansion.a_start))
    return sim_fail(SIM_ERR_INCOMPATIBLE, "the checkpoint's time %.9g is before expansion.a_start = %.9g",
                    saved->clock.t, run->expansion.a_start);
  memcpy(run->species, saved->species, saved->species_count * sizeof *run->species);
  run->species_count = saved->species_count;
  SIM_TRY(nbody_create_arrays(run, setup));
  sim_array here;
  for (int which = 0; which < ARRAYS; which++) {
    if (!view_array(run, which, &here)) continue;
    if (which == CONTROLLER)
      here.shape[0] = sim_frame_array(saved, "controller")->shape[0]; /* its length was checked; it may be shorter */
    SIM_TRY(sim_frame_restore(saved, setup->backend, &here));
  }
  return SIM_OK;
}
