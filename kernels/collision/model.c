/* The model's descriptor: what it keeps, how it is made and ended, and a step. */
#include "kernels/collision/run.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INTEGER(word, text)                                                                                            \
  { .name = word, .type = SIM_INT, .flags = SIM_UNSIGNED, .doc = text }

const sim_field collision_state_fields[] = {
    [COLLISION_ID] = {.name = "id",
                      .type = SIM_INT,
                      .flags = SIM_UNSIGNED | SIM_OUTPUT,
                      .doc = "number of the grain, from 0"},
    [COLLISION_RADIUS] =
        {.name = "radius", .type = SIM_REAL, .flags = SIM_OUTPUT, .dimension = {1, 0, 0}, .doc = "radius"},
    [COLLISION_MASS] = {.name = "mass", .type = SIM_REAL, .flags = SIM_OUTPUT, .dimension = {0, 1, 0}, .doc = "mass"},
    [COLLISION_POSITION] = {.name = "position",
                            .type = SIM_REAL,
                            .components = 3,
                            .flags = SIM_OUTPUT,
                            .dimension = {1, 0, 0},
                            .doc = "position, in the box where it is periodic"},
    [COLLISION_VELOCITY] = {.name = "velocity",
                            .type = SIM_REAL,
                            .components = 3,
                            .flags = SIM_OUTPUT,
                            .dimension = {1, 0, -1},
                            .doc = "velocity"},
    [COLLISION_SPIN] = {.name = "angular_velocity",
                        .type = SIM_REAL,
                        .components = 3,
                        .flags = SIM_OUTPUT,
                        .dimension = {0, 0, -1},
                        .doc = "angular velocity"},
    [COLLISION_ACCELERATION] = {.name = "acceleration",
                                .type = SIM_REAL,
                                .components = 3,
                                .dimension = {1, 0, -2},
                                .doc = "acceleration, by the contacts as the last step saw them"},
    [COLLISION_TWIRL] = {.name = "angular_acceleration",
                         .type = SIM_REAL,
                         .components = 3,
                         .dimension = {0, 0, -2},
                         .doc = "angular acceleration"},
    [COLLISION_MATERIAL] = INTEGER("material", "number of its material"),
    [COLLISION_DISSIPATED] = {.name = "dissipated",
                              .type = SIM_REAL,
                              .dimension = {2, 1, -2},
                              .doc = "energy lost in its contacts; half of each with another grain"},
    [COLLISION_VIRIAL] = {.name = "virial",
                          .type = SIM_REAL,
                          .dimension = {2, 1, -1},
                          .doc = "integral over time of half of d.F of its contacts with grains"},
    [COLLISION_COLLISIONS] = {.name = "collisions",
                              .type = SIM_INT,
                              .flags = SIM_UNSIGNED | SIM_OUTPUT,
                              .doc = "contacts with grains that have begun"},
    [COLLISION_CONTACT_GRAIN] = INTEGER("contact_grain", "index of the first grain of a contact; 2^64 - 1: no contact"),
    [COLLISION_CONTACT_PARTNER] = INTEGER("contact_partner", "index of its second grain"),
    [COLLISION_CONTACT_SPRING] = {.name = "contact_spring",
                                  .type = SIM_REAL,
                                  .doc = "history of the contact: tangential spring, then rolling and twisting angles"},
    [COLLISION_WALL_SPRING] = {.name = "wall_spring", .type = SIM_REAL, .doc = "the same of each grain with each wall"},
    [COLLISION_CONTROLLER] = {.name = "controller", .type = SIM_REAL, .doc = "energy at the start, and its scale"},
    [COLLISION_ARRAYS] = {0}};

static const sim_table energy_table = {"energy", "energies and their balance", collision_energy_columns};
static const sim_table gas_table = {"gas", "temperature and stress", collision_gas_columns};
static const sim_table contact_table = {"contacts", "collisions, contacts and overlap", collision_contact_columns};
static const sim_table momentum_table = {"momentum", "momentum and angular momentum", collision_momentum_columns};
static const sim_table *const tables[] = {&energy_table, &gas_table, &contact_table, &momentum_table, NULL};

/* ---- arrays ---- */

/* At most 15 contacts a grain on average in a packing of spheres of any radii; each stands once. */
static int64_t contact_room(int64_t n, int springs) { return springs > 0 ? 8 * n + 64 : 0; }

/* Type and shape of an array; false: this run has none. */
static bool shape_of(const collision_run *run, int which, sim_dtype *dtype, int *rank, int64_t shape[2]) {
  const int64_t springs = run->options.springs, walls = run->options.walls;
  *dtype = run->ops->dtype;
  *rank = 1;
  shape[0] = run->n;
  switch ((collision_array)which) {
  case COLLISION_POSITION:
  case COLLISION_VELOCITY:
  case COLLISION_SPIN:
  case COLLISION_ACCELERATION:
  case COLLISION_TWIRL:
    *rank = 2;
    shape[0] = 3;
    shape[1] = run->n;
    return true;
  case COLLISION_ID:
  case COLLISION_MATERIAL:
  case COLLISION_COLLISIONS: *dtype = SIM_U64; return true;
  case COLLISION_DISSIPATED:
  case COLLISION_VIRIAL: *dtype = SIM_F64; return true;
  case COLLISION_CONTACT_GRAIN:
  case COLLISION_CONTACT_PARTNER:
    *dtype = SIM_U64;
    shape[0] = run->room;
    return springs > 0;
  case COLLISION_CONTACT_SPRING:
    *rank = 2;
    shape[0] = springs;
    shape[1] = run->room;
    return springs > 0;
  case COLLISION_WALL_SPRING:
    *rank = 2;
    shape[0] = springs * walls;
    shape[1] = run->n;
    return springs * walls > 0;
  case COLLISION_CONTROLLER:
    *dtype = SIM_F64;
    shape[0] = COLLISION_CONTROLS;
    return true;
  default: return true;
  }
}

static sim_status create_arrays(collision_run *run) {
  run->room = contact_room(run->n, run->options.springs);
  for (int which = 0; which < COLLISION_ARRAYS; which++) {
    sim_dtype dtype;
    int rank;
    int64_t shape[2];
    if (shape_of(run, which, &dtype, &rank, shape))
      SIM_TRY(sim_buffer_create(&sim_backend_cpu, dtype, rank, shape, &run->array[which]));
  }
  return SIM_OK;
}

static bool view_array(collision_run *run, int which, sim_array *out) {
  const sim_buffer *buffer = &run->array[which];
  if (buffer->data == NULL) return false;
  *out = (sim_array){.field = &collision_state_fields[which],
                     .dtype = buffer->dtype,
                     .rank = buffer->rank,
                     .data = buffer->data,
                     .space = buffer->space};
  memcpy(out->shape, buffer->shape, sizeof out->shape);
  memcpy(out->global, out->shape, sizeof out->global);
  return true;
}

static sim_status view(void *self, sim_array *arrays, sim_species *species, sim_frame *frame) {
  collision_run *run = self;
  SIM_TRY(run->ops->store(run->work));
  frame->array_count = 0;
  for (int which = 0; which < COLLISION_ARRAYS; which++)
    if (view_array(run, which, &arrays[frame->array_count])) frame->array_count++;
  memcpy(species, run->species, run->species_count * sizeof *species);
  frame->species_count = run->species_count;
  return SIM_OK;
}

/* ---- what it takes ---- */

static const collision_ops *choose_ops(const collision_parameters *p, const sim_setup *setup) {
  const collision_ops_pair *pair = collision_model.ops[setup->backend->kind];
  return p->common.precision == SIM_SINGLE ? pair->f32 : pair->f64;
}

static double step_count(double t_end, double dt) { return ceil(t_end / dt * (1 - 1e-12)); }

static sim_status plan(const void *parameters, const sim_setup *setup, sim_plan *out) {
  const collision_parameters *p = parameters;
  const collision_ops *ops = choose_ops(p, setup);
  collision_options options;
  double n, made = 0;
  SIM_TRY(collision_options_fill(p, &options));
  if (setup->saved != NULL) {
    const sim_array *id = sim_frame_array(setup->saved, "id");
    n = id != NULL ? (double)id->shape[0] : 0;
  } else {
    collision_parts parts;
    SIM_TRY(collision_parts_list(p, setup, &parts));
    n = parts.n;
    made = n * 40 * sizeof(double);
    collision_parts_free(&parts);
  }
  options.n = (int64_t)fmin(n, 0x1p61);
  const double real = (double)sim_dtype_size(ops->dtype);
  const double shown = n * (2 * sizeof(uint64_t) + 11 * real);
  const double history = (double)contact_room(options.n, options.springs) * (16 + options.springs * real) +
                         n * options.springs * options.walls * real;
  const double kept = n * (6 * real + 3 * sizeof(double)) + history + COLLISION_CONTROLS * sizeof(double);
  sim_plan_add(out, "grains", shown + kept);
  sim_plan_add(out, "neighbours and forces", ops->bytes(&options));
  if (made > ops->bytes(&options)) sim_plan_add_host(out, "grains while they are made", made - ops->bytes(&options));
  out->snapshot_bytes = out->staged_bytes = shown;
  out->checkpoint_bytes = shown + kept;
  out->steps = isnan(p->integrate.dt) ? NAN : step_count(p->integrate.t_end, p->integrate.dt);
  out->t_end = p->integrate.t_end;
  out->work_per_step = n;
  out->work_rate_guess = (options.springs > 0 ? 4e6 : 15e6) * setup->threads;
  return SIM_OK;
}

/* ---- beginning and end ---- */

static void destroy(void **self) {
  collision_run *run = *self;
  if (run == NULL) return;
  run->ops->destroy(&run->work);
  for (int which = 0; which < COLLISION_ARRAYS; which++) sim_buffer_destroy(&run->array[which]);
  free(run);
  *self = NULL;
}

static sim_status check_inside(const collision_run *run, const collision_grains *g) {
  const collision_box *box = &run->parameters->box;
  for (int64_t i = 0; i < g->n; i++)
    for (int c = 0; c < 3; c++) {
      const double x = g->position[c][i], low = box->origin[c], high = low + box->size[c];
      const bool below = x < low && box->sides[2 * c] != COLLISION_OPEN;
      const bool above = x >= high && box->sides[2 * c + 1] != COLLISION_OPEN;
      if (below || above)
        return sim_fail(SIM_ERR_SCENARIO,
                        "grains: %" PRId64 " (id, from 0) is outside the box: %c = %.9g is not in %.9g to %.9g", i,
                        "xyz"[c], x, low, high);
    }
  return SIM_OK;
}

static void put(const collision_run *run, int which, int c, int64_t at, double value) {
  const int64_t k = c * run->n + at;
  if (run->ops->dtype == SIM_F32)
    ((float *)run->array[which].data)[k] = (float)value;
  else
    ((double *)run->array[which].data)[k] = value;
}

/* From the order of ids to that of species. */
static sim_status put_grains(collision_run *run, const collision_parts *parts, const collision_grains *g) {
  int64_t next[SIM_SPECIES_MAX], id = 0;
  for (size_t s = 0; s < run->species_count; s++) next[s] = run->species[s].first;
  for (size_t i = 0; i < parts->count; i++) {
    const char *name = ((const collision_group *)parts->part[i].item->data)->species;
    size_t s = 0;
    while (strcmp(run->species[s].name, name) != 0) s++;
    for (int64_t k = 0; k < parts->part[i].n; k++, id++) {
      const int64_t at = next[s]++;
      ((uint64_t *)run->array[COLLISION_ID].data)[at] = (uint64_t)id;
      ((uint64_t *)run->array[COLLISION_MATERIAL].data)[at] = g->material[id];
      put(run, COLLISION_RADIUS, 0, at, g->radius[id]);
      put(run, COLLISION_MASS, 0, at, g->mass[id]);
      for (int c = 0; c < 3; c++) {
        put(run, COLLISION_POSITION, c, at, g->position[c][id]);
        put(run, COLLISION_VELOCITY, c, at, g->velocity[c][id]);
        put(run, COLLISION_SPIN, c, at, g->spin[c][id]);
      }
    }
  }
  return SIM_OK;
}

static sim_status make(collision_run *run, const sim_setup *setup) {
  collision_parts parts;
  collision_grains grains = {0};
  SIM_TRY(collision_parts_list(run->parameters, setup, &parts));
  run->n = run->options.n = (int64_t)parts.n;
  run->species_count = collision_parts_species(&parts, run->species);
  sim_status status = create_arrays(run);
  if (status == SIM_OK) status = collision_grains_create(run->parameters, setup, &parts, &run->options, &grains);
  if (status == SIM_OK) status = check_inside(run, &grains);
  if (status == SIM_OK) status = put_grains(run, &parts, &grains);
  collision_grains_free(&grains);
  collision_parts_free(&parts);
  return status;
}

static sim_status restore(collision_run *run, const sim_frame *saved) {
  const sim_array *id = sim_frame_array(saved, "id");
  if (id == NULL || id->dtype != SIM_U64 || id->rank != 1 || id->shape[0] < 1 || id->shape[0] >= UINT32_MAX)
    return sim_fail(SIM_ERR_INCOMPATIBLE, "the checkpoint has no list of grains");
  run->n = run->options.n = id->shape[0];
  int64_t next = 0;
  for (size_t s = 0; s < saved->species_count; s++) {
    if (s == SIM_SPECIES_MAX || saved->species[s].first != next || saved->species[s].count < 0 ||
        saved->species[s].count > run->n - next)
      return sim_fail(SIM_ERR_INCOMPATIBLE, "the checkpoint's species do not fit its grains");
    run->species[s] = saved->species[s];
    next += saved->species[s].count;
  }
  if (next != run->n) return sim_fail(SIM_ERR_INCOMPATIBLE, "the checkpoint's species do not fit its grains");
  run->species_count = saved->species_count;
  SIM_TRY(create_arrays(run));
  for (int which = 0; which < COLLISION_ARRAYS; which++) {
    sim_array here;
    if (!view_array(run, which, &here)) continue;
    const sim_array *from = sim_frame_array(saved, here.field->name);
    bool same = from != NULL && from->dtype == here.dtype && from->rank == here.rank;
    for (int i = 0; i < here.rank && same; i++) same = from->shape[i] == here.shape[i];
    if (!same)
      return sim_fail(SIM_ERR_INCOMPATIBLE, "the checkpoint's %s is missing or of another type or shape",
                      here.field->name);
    memcpy(here.data, from->data, sim_array_bytes(from));
  }
  return SIM_OK;
}

/* From the state, so that a restart finds the same. */
static sim_status choose_step(collision_run *run) {
  const collision_integrate *integrate = &run->parameters->integrate;
  const size_t n = (size_t)run->n;
  double *both = malloc(2 * n * sizeof *both);
  if (both == NULL) return sim_fail(SIM_ERR_NO_MEMORY, "no memory for %zu grains", n);
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < 2; k++) {
      const void *data = run->array[k ? COLLISION_RADIUS : COLLISION_MASS].data;
      both[k * n + i] = run->ops->dtype == SIM_F32 ? (double)((const float *)data)[i] : ((const double *)data)[i];
    }
  const double shortest =
      collision_contact_time(&run->options, run->n, both, both + n, run->array[COLLISION_MATERIAL].data);
  free(both);
  run->dt = isnan(integrate->dt) ? shortest / integrate->steps_per_contact : integrate->dt;
  if (!(run->dt > 0) || !isfinite(run->dt))
    return sim_fail(SIM_ERR_SCENARIO, "integrate.dt: no step follows from contacts that last %.9g", shortest);
  if (run->dt > 0.1 * shortest)
    return sim_fail(SIM_ERR_SCENARIO,
                    "integrate.dt: expected at most %.9g, a tenth of the shortest contact, got %.9g: contacts would be "
                    "unstable",
                    0.1 * shortest, run->dt);
  const double steps = step_count(integrate->t_end, run->dt);
  if (!(steps <= 0x1p62))
    return sim_fail(SIM_ERR_SCENARIO, "integrate.dt: expected at most 2^62 steps, got %.9g", steps);
  run->steps = (int64_t)steps;
  return SIM_OK;
}

static sim_status check_start(collision_run *run, const collision_sums **sums) {
  SIM_TRY(collision_sums_at(run, &(sim_clock){0}, sums));
  if ((*sums)->overlap > 0.05)
    return sim_fail(SIM_ERR_SCENARIO,
                    "grains: %" PRIu64
                    " (id, from 0) overlaps another grain or a wall by %.3g of the smaller radius at the "
                    "start; at most 0.05 is possible",
                    ((const uint64_t *)run->array[COLLISION_ID].data)[(*sums)->overlap_grain], (*sums)->overlap);
  return SIM_OK;
}

static sim_status start(collision_run *run, const sim_setup *setup) {
  SIM_TRY(collision_options_fill(run->parameters, &run->options));
  run->options.threads = setup->threads;
  SIM_TRY(setup->saved != NULL ? restore(run, setup->saved) : make(run, setup));
  sim_buffer *a = run->array;
  SIM_TRY(choose_step(run));
  const collision_state state = {.n = run->n,
                                 .room = run->room,
                                 .radius = a[COLLISION_RADIUS].data,
                                 .mass = a[COLLISION_MASS].data,
                                 .position = a[COLLISION_POSITION].data,
                                 .velocity = a[COLLISION_VELOCITY].data,
                                 .spin = a[COLLISION_SPIN].data,
                                 .acceleration = a[COLLISION_ACCELERATION].data,
                                 .twirl = a[COLLISION_TWIRL].data,
                                 .material = a[COLLISION_MATERIAL].data,
                                 .collisions = a[COLLISION_COLLISIONS].data,
                                 .dissipated = a[COLLISION_DISSIPATED].data,
                                 .virial = a[COLLISION_VIRIAL].data,
                                 .contact_grain = a[COLLISION_CONTACT_GRAIN].data,
                                 .contact_partner = a[COLLISION_CONTACT_PARTNER].data,
                                 .contact_spring = a[COLLISION_CONTACT_SPRING].data,
                                 .wall_spring = a[COLLISION_WALL_SPRING].data};
  for (int64_t k = 0; k < run->room && setup->saved == NULL; k++)
    state.contact_grain[k] = state.contact_partner[k] = UINT64_MAX;
  SIM_TRY(run->ops->create(&run->options, &state, &run->work));
  SIM_TRY(run->ops->load(run->work));
  if (setup->saved != NULL) return SIM_OK;
  const collision_sums *sums;
  run->ops->begin(run->work, 0);
  SIM_TRY(check_start(run, &sums));
  double *controls = a[COLLISION_CONTROLLER].data;
  controls[COLLISION_INITIAL_ENERGY] = collision_energy(sums);
  const double scale = sums->kinetic + sums->rotational + fabs(sums->elastic) + fabs(sums->gravity);
  controls[COLLISION_ENERGY_SCALE] = scale > 0 ? scale : 1;
  return SIM_OK;
}

static sim_status create(const void *parameters, const sim_setup *setup, sim_clock *clock, void **self) {
  collision_run *run = calloc(1, sizeof *run);
  *self = run;
  if (run == NULL) return sim_fail(SIM_ERR_NO_MEMORY, "no memory for the model");
  run->parameters = parameters;
  run->ops = choose_ops(parameters, setup);
  run->sums_step = -1;
  sim_status status = start(run, setup);
  if (status != SIM_OK) {
    destroy(self);
    return status;
  }
  *clock = setup->saved != NULL ? setup->saved->clock : (sim_clock){.dt = run->dt};
  clock->t_end = run->parameters->integrate.t_end;
  if (setup->saved == NULL) clock->dt = fmin(clock->dt, clock->t_end);
  return SIM_OK;
}

/* A step's time is a product, so that no rounding adds up; the last one ends at t_end. */
static sim_status step(void *self, sim_clock *clock) {
  collision_run *run = self;
  const double before = (double)clock->step * run->dt, next = (double)(clock->step + 1) * run->dt, end = clock->t_end;
  const bool last = clock->step + 1 >= run->steps;
  const double dt = last && fabs(next - end) > 1e-11 * end ? end - before : run->dt;
  clock->t = last ? end : next;
  SIM_TRY(run->ops->step(run->work, clock->t, dt));
  clock->step++;
  clock->dt = dt;
  return SIM_OK;
}

static void describe(const void *self, char *out, size_t capacity) {
  const collision_run *run = self;
  snprintf(out, capacity, "%" PRId64 " %s, %s contacts%s, %d %s, step %.6g", run->n, run->n == 1 ? "grain" : "grains",
           run->options.force == COLLISION_HERTZ ? "Hertz" : "linear", run->options.springs > 0 ? " with friction" : "",
           run->options.walls, run->options.walls == 1 ? "wall" : "walls", run->dt);
}

static const char *const references[] = {
    "P. A. Cundall and O. D. L. Strack, Geotechnique 29 (1979) 47: contacts with springs and dashpots",
    "R. D. Mindlin and H. Deresiewicz, J. Appl. Mech. 20 (1953) 327: tangential contact of spheres",
    "T. Schwager and T. Poeschel, Granular Matter 9 (2007) 465: restitution of the linear dashpot",
    "M. Antypov and J. A. Elliott, EPL 94 (2011) 50004: a dashpot for Hertz's law with a given restitution",
    "S. Luding, Granular Matter 10 (2008) 235: rolling and twisting springs",
    "B. V. Derjaguin, V. M. Muller and Yu. P. Toporov, J. Colloid Interface Sci. 53 (1975) 314: cohesion",
    NULL};

static const char example[] = "-- A granular gas that cools. Save as gas.lua; run with: sim gas.lua\n"
                              "return sim.collision {\n"
                              "  title     = \"Granular gas\",\n"
                              "  precision = \"single\",\n"
                              "  box       = { size = {1, 1, 1}, boundary = \"periodic\" },\n"
                              "  grains    = { sim.random_spheres { n = 4000, radius = 0.02, temperature = 1e-5 } },\n"
                              "  contact   = { law = \"linear\", contact_time = 0.01, restitution = 0.9 },\n"
                              "  integrate = { dt = \"auto\", t_end = 1 },\n"
                              "  output    = { snapshots = \"every 0.5\", tables = \"every 0.1\" },\n"
                              "}\n";

static const collision_ops_pair cpu_ops = {&collision_ops_cpu_f32, &collision_ops_cpu_f64};

const sim_model collision_model = {
    .name = "collision",
    .doc = "spheres that collide",
    .example = example,
    .references = references,
    .parameters = &collision_schema,
    .tables = tables,
    .state = collision_state_fields,
    .work_unit = "grain steps",
    .ops = {[SIM_BACKEND_CPU] = &cpu_ops},
    .validate = collision_validate,
    .tables_of = collision_tables_of,
    .plan = plan,
    .create = create,
    .step = step,
    .observe = collision_observe,
    .view = view,
    .describe = describe,
    .destroy = destroy,
};
