/* The state's arrays. */
#include "kernels/collision/run.h"
#include "kernels/collision/scenario/sizes.h"

#include <stdlib.h>
#include <string.h>

#define INTEGER(word, text)                                                                                            \
  { .name = word, .type = SIM_INT, .flags = SIM_UNSIGNED, .doc = text }

static const char *const control_names[] = {"energy at the start", "scale of the energy", "length of a step", NULL};
static const char *const merger_names[] = {
    "mergers", "time of the last", "id of its grain", "id of its other grain", "relative speed", "energy dissipated",
    NULL};
const sim_field collision_state_fields[] = {
    [COLLISION_ID] = {.name = "id",
                      .type = SIM_INT,
                      .flags = SIM_UNSIGNED | SIM_IN_SNAPSHOT,
                      .doc = "id of the grain, from 0"},
    [COLLISION_RADIUS] =
        {.name = "radius", .type = SIM_REAL, .flags = SIM_IN_SNAPSHOT, .dimension = {1, 0, 0}, .doc = "radius"},
    [COLLISION_MASS] =
        {.name = "mass", .type = SIM_REAL, .flags = SIM_IN_SNAPSHOT, .dimension = {0, 1, 0}, .doc = "mass"},
    [COLLISION_POSITION] = {.name = "position",
                            .type = SIM_REAL,
                            .components = 3,
                            .flags = SIM_IN_SNAPSHOT,
                            .dimension = {1, 0, 0},
                            .doc = "position, in the box where it is periodic"},
    [COLLISION_VELOCITY] = {.name = "velocity",
                            .type = SIM_REAL,
                            .components = 3,
                            .flags = SIM_IN_SNAPSHOT,
                            .dimension = {1, 0, -1},
                            .doc = "velocity"},
    [COLLISION_SPIN] = {.name = "angular_velocity",
                        .type = SIM_REAL,
                        .components = 3,
                        .flags = SIM_IN_SNAPSHOT,
                        .dimension = {0, 0, -1},
                        .doc = "angular velocity"},
    [COLLISION_ACCELERATION] = {.name = "acceleration",
                                .type = SIM_REAL,
                                .components = 3,
                                .dimension = {1, 0, -2},
                                .doc = "acceleration, with the contacts of the last step"},
    [COLLISION_ANGULAR_ACCELERATION] = {.name = "angular_acceleration",
                                        .type = SIM_REAL,
                                        .components = 3,
                                        .dimension = {0, 0, -2},
                                        .doc = "angular acceleration"},
    [COLLISION_MATERIAL] = INTEGER("material", "index of the material"),
    [COLLISION_DISSIPATED] = {.name = "dissipated",
                              .type = SIM_REAL,
                              .dimension = {2, 1, -2},
                              .doc = "energy dissipated in its contacts; half of it in contacts with grains"},
    [COLLISION_VIRIAL] = {.name = "virial",
                          .type = SIM_REAL,
                          .dimension = {2, 1, -1},
                          .doc = "integral over time of half of d.F of its contacts with grains"},
    [COLLISION_WORK] = {.name = "work",
                        .type = SIM_REAL,
                        .dimension = {2, 1, -2},
                        .doc = "work of moving walls, the sheared box and gravity along periodic sides on the grain"},
    [COLLISION_PULL] = {.name = "self_gravity",
                        .type = SIM_REAL,
                        .doc = "acceleration by self-gravity, and power of its images; in a fluid, acceleration by the "
                               "fluid and gravity"},
    [COLLISION_COLLISIONS] = {.name = "collisions",
                              .type = SIM_INT,
                              .flags = SIM_UNSIGNED | SIM_IN_SNAPSHOT,
                              .doc = "collisions: contacts with grains that began since the start"},
    [COLLISION_TEMPERATURE] = {.name = "grain_temperature",
                               .type = SIM_REAL,
                               .flags = SIM_IN_SNAPSHOT,
                               .doc = "temperature of the grain, with heat"},
    [COLLISION_WALL_HEAT] = {.name = "wall_heat",
                             .type = SIM_REAL,
                             .dimension = {2, 1, -2},
                             .doc = "heat that the grain got from walls since the start"},
    [COLLISION_BODY] = {.name = "body",
                        .type = SIM_INT,
                        .flags = SIM_UNSIGNED | SIM_IN_SNAPSHOT,
                        .doc = "number of the clump that the sphere belongs to, from 1; 0: none; with clumps"},
    [COLLISION_ORIENTATION] = {.name = "orientation",
                               .type = SIM_REAL,
                               .components = 3,
                               .flags = SIM_IN_SNAPSHOT,
                               .doc = "rotation of the clump from the scenario's spheres: axis times angle in radians"},
    [COLLISION_MEMBER] = {.name = "member",
                          .type = SIM_REAL,
                          .dimension = {1, 0, 0},
                          .doc = "place of the sphere in its clump, along the principal axes"},
    [COLLISION_CONTACT_GRAIN] = INTEGER("contact_grain", "index of the first grain of a contact; 2^64 - 1: no contact"),
    [COLLISION_CONTACT_PARTNER] = INTEGER("contact_partner", "index of its second grain"),
    /* renamed when its meaning changes, so that older checkpoints are refused */
    [COLLISION_CONTACT_SPRING] = {.name = "contact_history",
                                  .type = SIM_REAL,
                                  .doc = "tangential spring of the contact, then rolling and twisting angles; with "
                                         "Hertz's law times the root of the contact's radius"},
    [COLLISION_WALL_SPRING] = {.name = "wall_history",
                               .type = SIM_REAL,
                               .doc = "the same of each grain with each wall"},
    [COLLISION_CROSSED] = {.name = "crossed",
                           .type = SIM_INT,
                           .doc = "net number of passages of each gate along its normal"},
    [COLLISION_POSES] = {.name = "walls",
                         .type = SIM_REAL,
                         .doc = "pose of each wall: displacement, angle, velocity and spin"},
    [COLLISION_SWINGS] = {.name = "swings",
                          .type = SIM_REAL,
                          .doc = "of each wall that holds a force: side of the wanted force, measurements since the "
                                 "last change of sides, number of changes, largest force over the wanted one"},
    [COLLISION_MESHES] = {.name = "meshes",
                          .type = SIM_REAL,
                          .dimension = {1, 0, 0},
                          .doc = "corners of each triangle, and the number of its mesh"},
    [COLLISION_QUANTA] =
        INTEGER("quanta", "fixed-point position, and momentum half a step earlier, of the fixed-point solver"),
    [COLLISION_BODIES] = {.name = "bodies",
                          .type = SIM_REAL,
                          .doc = "clumps: mass, moments and axes of inertia, extent, first sphere and number of "
                                 "spheres, position, velocity, orientation, angular momentum, acceleration, torque"},
    [COLLISION_MERGERS] = {.name = "mergers",
                           .type = SIM_REAL,
                           .choices = merger_names,
                           .doc = "mergers so far, the last one, and the energy that they dissipated; with merge"},
    [COLLISION_CONTROLLER] = {.name = "controller",
                              .type = SIM_REAL,
                              .choices = control_names,
                              .doc =
                                  "energy at the start, its scale, time step, sums over inserted and removed grains"},
    [COLLISION_ARRAYS] = {0}};

int64_t collision_contact_room(int64_t n, int springs) { return springs > 0 ? 8 * n + 64 : 0; }

/* Whether a run has an array. */
static bool has_array(const collision_run *run, int which) {
  const collision_options *o = &run->options;
  switch ((collision_array)which) {
  case COLLISION_BODY:
  case COLLISION_ORIENTATION:
  case COLLISION_MEMBER:
  case COLLISION_BODIES: return run->bodies > 0;
  case COLLISION_QUANTA: return run->ops->exact;
  case COLLISION_TEMPERATURE:
  case COLLISION_WALL_HEAT: return o->heated;
  case COLLISION_WORK: return o->worked;
  case COLLISION_PULL: return o->attracted || o->pushed;
  case COLLISION_CONTACT_GRAIN:
  case COLLISION_CONTACT_PARTNER:
  case COLLISION_CONTACT_SPRING: return o->springs > 0;
  case COLLISION_WALL_SPRING: return o->wall_numbers > 0;
  case COLLISION_CROSSED: return o->gates > 0;
  case COLLISION_POSES: return o->walls > 0;
  case COLLISION_SWINGS: return o->servos > 0;
  case COLLISION_MESHES: return run->triangles > 0;
  case COLLISION_MERGERS: return o->merge != COLLISION_MERGE_NEVER;
  default: return true;
  }
}

static sim_dtype dtype_of(const collision_run *run, int which) {
  switch ((collision_array)which) {
  case COLLISION_ID:
  case COLLISION_MATERIAL:
  case COLLISION_COLLISIONS:
  case COLLISION_BODY:
  case COLLISION_QUANTA:
  case COLLISION_CONTACT_GRAIN:
  case COLLISION_CONTACT_PARTNER: return SIM_U64;
  case COLLISION_CROSSED: return SIM_I64;
  case COLLISION_MEMBER:
  case COLLISION_DISSIPATED:
  case COLLISION_VIRIAL:
  case COLLISION_WORK:
  case COLLISION_PULL:
  case COLLISION_TEMPERATURE:
  case COLLISION_WALL_HEAT:
  case COLLISION_POSES:
  case COLLISION_SWINGS:
  case COLLISION_MESHES:
  case COLLISION_BODIES:
  case COLLISION_MERGERS:
  case COLLISION_CONTROLLER: return SIM_F64;
  default: return run->ops->dtype;
  }
}

static int matrix(int64_t *shape, int64_t rows, int64_t columns) {
  shape[0] = rows;
  shape[1] = columns;
  return 2;
}

/* Fills in the shape of an array; returns its rank. */
static int shape_of(const collision_run *run, int which, int64_t *shape) {
  const collision_options *o = &run->options;
  switch ((collision_array)which) {
  case COLLISION_POSITION:
  case COLLISION_VELOCITY:
  case COLLISION_SPIN:
  case COLLISION_ACCELERATION:
  case COLLISION_ANGULAR_ACCELERATION:
  case COLLISION_ORIENTATION:
  case COLLISION_MEMBER:
  case COLLISION_QUANTA: return matrix(shape, 3, run->n);
  case COLLISION_PULL: return matrix(shape, 4, run->n);
  case COLLISION_CONTACT_SPRING: return matrix(shape, o->springs, run->room);
  case COLLISION_WALL_SPRING: return matrix(shape, o->wall_numbers, run->n);
  case COLLISION_CROSSED: return matrix(shape, o->gates, run->n);
  case COLLISION_POSES: return matrix(shape, o->walls, sizeof(geometry_pose) / sizeof(double));
  case COLLISION_SWINGS: return matrix(shape, o->walls, COLLISION_SWING_NUMBERS);
  case COLLISION_MESHES: return matrix(shape, run->triangles, 10);
  case COLLISION_BODIES: return matrix(shape, run->bodies, COLLISION_BODY_NUMBERS);
  case COLLISION_CONTACT_GRAIN:
  case COLLISION_CONTACT_PARTNER: shape[0] = run->room; return 1;
  case COLLISION_MERGERS: shape[0] = COLLISION_MERGER_NUMBERS; return 1;
  case COLLISION_CONTROLLER: shape[0] = COLLISION_CONTROLS; return 1;
  default: shape[0] = run->n; return 1;
  }
}

bool collision_is_of_contacts(int which) {
  return which >= COLLISION_CONTACT_GRAIN && which <= COLLISION_CONTACT_SPRING;
}

bool collision_is_of_grains(int which) {
  return !collision_is_of_contacts(which) && which != COLLISION_POSES && which != COLLISION_SWINGS &&
         which != COLLISION_MESHES && which != COLLISION_BODIES && which != COLLISION_MERGERS &&
         which != COLLISION_CONTROLLER;
}

static void set_count(collision_run *run, int64_t n) {
  run->n = n;
  run->room = collision_contact_room(n, run->options.springs);
}

/* Allocates one array for run->n grains. */
static sim_status create_array(collision_run *run, int which, sim_buffer *out) {
  int64_t shape[SIM_RANK_MAX] = {0};
  if (!has_array(run, which)) return SIM_OK;
  const int rank = shape_of(run, which, shape);
  return sim_buffer_create(&sim_backend_cpu, dtype_of(run, which), rank, shape, out);
}

/* arrays are packed for the present number of grains */
sim_status collision_create_arrays(collision_run *run) {
  const int64_t n = run->n;
  run->limit = run->varies ? (int64_t)collision_flow_estimate(run->parameters, (double)n) : n;
  run->options.n = run->limit;
  sim_status status = SIM_OK;
  set_count(run, run->limit);
  for (int which = 0; which < COLLISION_ARRAYS && status == SIM_OK; which++)
    status = create_array(run, which, &run->array[which]);
  set_count(run, n);
  return status;
}

sim_status collision_grow_arrays(collision_run *run, int64_t limit) {
  const int64_t n = run->n;
  for (int which = 0; which < COLLISION_ARRAYS; which++) {
    sim_array now;
    sim_buffer more = {0};
    if (!collision_is_of_grains(which) && !collision_is_of_contacts(which)) continue;
    if (!collision_view_array(run, which, &now)) continue;
    set_count(run, limit);
    sim_status status = create_array(run, which, &more);
    set_count(run, n);
    if (status != SIM_OK) return status;
    memcpy(more.data, now.data, sim_array_bytes(&now));
    sim_buffer_destroy(&run->array[which]);
    run->array[which] = more;
  }
  run->limit = run->options.n = limit;
  return SIM_OK;
}

bool collision_view_array(collision_run *run, int which, sim_array *out) {
  const sim_buffer *buffer = &run->array[which];
  if (buffer->data == NULL) return false;
  *out = (sim_array){.field = &collision_state_fields[which],
                     .dtype = buffer->dtype,
                     .rank = buffer->rank,
                     .data = buffer->data,
                     .space = buffer->space};
  memcpy(out->shape, buffer->shape, sizeof out->shape);
  out->room = sim_array_bytes(out);
  (void)shape_of(run, which, out->shape);
  memcpy(out->global, out->shape, sizeof out->global);
  return true;
}

double collision_get(const collision_run *run, int which, int c, int64_t i) {
  const int64_t at = c * run->n + i;
  const void *data = run->array[which].data;
  return run->ops->dtype == SIM_F32 ? (double)((const float *)data)[at] : ((const double *)data)[at];
}

void collision_put(const collision_run *run, int which, int c, int64_t i, double value) {
  const int64_t at = c * run->n + i;
  if (run->ops->dtype == SIM_F32)
    ((float *)run->array[which].data)[at] = (float)value;
  else
    ((double *)run->array[which].data)[at] = value;
}

void *collision_list_more(void *list, int64_t count, int64_t *room, size_t size) {
  if (count < *room) return list;
  const int64_t more = 2 * count + 256;
  void *out = realloc(list, (size_t)more * size);
  if (out != NULL) *room = more;
  return out;
}

bool collision_indices_has(const collision_indices *indices, int64_t index) {
  int64_t low = 0, high = indices->count;
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (indices->at[middle] < index)
      low = middle + 1;
    else
      high = middle;
  }
  return low < indices->count && indices->at[low] == index;
}

bool collision_indices_add(collision_indices *indices, int64_t index) {
  int64_t *at = collision_list_more(indices->at, indices->count, &indices->room, sizeof *at);
  if (at == NULL) return false;
  indices->at = at;
  at[indices->count++] = index;
  return true;
}
