/* The model's descriptor: what it keeps, what it observes, how it begins and ends. */
#include "kernels/nbody/bodies.h"
#include "kernels/nbody/run.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- state arrays ---- */

enum { ID, MASS, POSITION, VELOCITY, ACCELERATION, JERK, CONTROLLER, ARRAYS };

static const sim_field state_fields[] = {
    [ID] = {.name = "id", .type = SIM_INT, .flags = SIM_UNSIGNED | SIM_OUTPUT, .doc = "number of the body, from 0"},
    [MASS] = {.name = "mass", .type = SIM_REAL, .flags = SIM_OUTPUT, .dimension = {0, 1, 0}, .doc = "mass"},
    [POSITION] = {.name = "position",
                  .type = SIM_REAL,
                  .components = 3,
                  .flags = SIM_OUTPUT,
                  .dimension = {1, 0, 0},
                  .doc = "position"},
    [VELOCITY] = {.name = "velocity",
                  .type = SIM_REAL,
                  .components = 3,
                  .flags = SIM_OUTPUT,
                  .dimension = {1, 0, -1},
                  .doc = "velocity"},
    [ACCELERATION] = {.name = "acceleration",
                      .type = SIM_REAL,
                      .components = 3,
                      .dimension = {1, 0, -2},
                      .doc = "acceleration that the next step begins with"},
    [JERK] = {.name = "jerk",
              .type = SIM_REAL,
              .components = 3,
              .dimension = {1, 0, -3},
              .doc = "time derivative of the acceleration (hermite4)"},
    [CONTROLLER] = {.name = "controller",
                    .type = SIM_REAL,
                    .components = NBODY_CONTROLS,
                    .doc = "energy at the start, next adaptive step"},
    [ARRAYS] = {0}};

/* ---- tables ---- */

#define ENERGY                                                                                                         \
  { 2, 1, -2 }
#define COLUMN(text, ...)                                                                                              \
  { .name = #text, .type = SIM_REAL, __VA_ARGS__ }

enum {
  KINETIC,
  POTENTIAL,
  TOTAL,
  ERROR,
  VIRIAL_RATIO,
  MOMENTUM,
  ANGULAR_MOMENTUM = MOMENTUM + 3,
  CENTRE = ANGULAR_MOMENTUM + 3
};

static const sim_field energy_columns[] = {
    COLUMN(kinetic, .dimension = ENERGY, .doc = "kinetic energy"),
    COLUMN(potential, .dimension = ENERGY, .doc = "potential energy, softened as the force"),
    COLUMN(total, .dimension = ENERGY, .doc = "sum of both"),
    COLUMN(error, .flags = SIM_HEALTH, .doc = "change of the total since the start, over its size then"),
    COLUMN(virial_ratio, .doc = "2 kinetic / |potential|: 1 in balance"),
    COLUMN(momentum_x, .dimension = {1, 1, -1}, .doc = "total momentum, x"),
    COLUMN(momentum_y, .dimension = {1, 1, -1}, .doc = "total momentum, y"),
    COLUMN(momentum_z, .dimension = {1, 1, -1}, .doc = "total momentum, z"),
    COLUMN(angular_momentum_x, .dimension = {2, 1, -1}, .doc = "total angular momentum about the origin, x"),
    COLUMN(angular_momentum_y, .dimension = {2, 1, -1}, .doc = "total angular momentum about the origin, y"),
    COLUMN(angular_momentum_z, .dimension = {2, 1, -1}, .doc = "total angular momentum about the origin, z"),
    COLUMN(centre_x, .dimension = {1, 0, 0}, .doc = "centre of mass, x"),
    COLUMN(centre_y, .dimension = {1, 0, 0}, .doc = "centre of mass, y"),
    COLUMN(centre_z, .dimension = {1, 0, 0}, .doc = "centre of mass, z"),
    {0}};

const double nbody_radius_fractions[NBODY_RADII] = {0.10, 0.25, 0.50, 0.75, 0.90};
static const sim_field lagrangian_columns[] = {
    COLUMN(r10, .dimension = {1, 0, 0}, .doc = "radius about the centre of mass that holds 10 % of all mass"),
    COLUMN(r25, .dimension = {1, 0, 0}, .doc = "the same, 25 %"),
    COLUMN(r50, .dimension = {1, 0, 0}, .doc = "the same, 50 %"),
    COLUMN(r75, .dimension = {1, 0, 0}, .doc = "the same, 75 %"),
    COLUMN(r90, .dimension = {1, 0, 0}, .doc = "the same, 90 %"),
    {0}};

static const sim_table energy_table = {"energy", "conserved quantities and balance", energy_columns};
static const sim_table lagrangian_table = {"lagrangian", "radii that hold shares of the mass", lagrangian_columns};
static const sim_table *const tables[] = {&energy_table, &lagrangian_table, NULL};

static const nbody_sums *sums_at(nbody_run *run, int64_t step) {
  if (run->sums_step != step) run->ops->sums(run->work, &run->sums);
  run->sums_step = step;
  return &run->sums;
}

static sim_status observe_energy(nbody_run *run, const sim_clock *clock, double *values) {
  const nbody_sums *s = sums_at(run, clock->step);
  const double initial = run->controller[NBODY_INITIAL_ENERGY], total = s->kinetic + s->potential;
  values[KINETIC] = s->kinetic;
  values[POTENTIAL] = s->potential;
  values[TOTAL] = total;
  values[ERROR] = (total - initial) / (initial != 0 ? fabs(initial) : 1);
  values[VIRIAL_RATIO] = s->potential != 0 ? 2 * s->kinetic / fabs(s->potential) : NAN;
  for (int c = 0; c < 3; c++) {
    values[MOMENTUM + c] = s->momentum[c];
    values[ANGULAR_MOMENTUM + c] = s->angular_momentum[c];
    values[CENTRE + c] = s->moment[c] / s->mass;
  }
  if (fabs(values[ERROR]) > run->integrate.max_energy_error)
    return sim_fail(SIM_ERR_DIVERGED, "energy error %.3g at step %" PRId64 ", t = %.9g: above max_energy_error = %.3g",
                    values[ERROR], clock->step, clock->t, run->integrate.max_energy_error);
  return SIM_OK;
}

static sim_status observe(void *self, const sim_clock *clock, int table, double *values) {
  nbody_run *run = self;
  if (table == 0) return observe_energy(run, clock, values);
  const nbody_sums *s = sums_at(run, clock->step);
  const double centre[3] = {s->moment[0] / s->mass, s->moment[1] / s->mass, s->moment[2] / s->mass};
  run->ops->radii(run->work, centre, values);
  return SIM_OK;
}

/* ---- what it takes ---- */

static const nbody_ops *choose_ops(const nbody_parameters *p, const sim_setup *setup) {
  const nbody_ops_pair *pair = nbody_model.ops[setup->backend->kind];
  return p->common.precision == SIM_SINGLE ? pair->f32 : pair->f64;
}

static nbody_options options_for(const nbody_parameters *p, const sim_setup *setup, int64_t n) {
  return (nbody_options){.n = n,
                         .single_pairs = p->common.precision != SIM_DOUBLE,
                         .jerk = p->integrate.scheme == NBODY_HERMITE4,
                         .isa = setup->isa,
                         .threads = setup->threads,
                         .G = p->gravity.G,
                         .softening = p->gravity.softening};
}

/* Interactions a second and thread, of the order of what the direct sum reaches; small N takes longer. */
static double rate_guess(const nbody_options *options) {
  static const double wide[SIM_ISA_COUNT] = {0.3e9, 1e9, 2e9}, narrow[SIM_ISA_COUNT] = {0.5e9, 3e9, 6e9};
  const double full = (options->single_pairs ? narrow : wide)[options->isa], n = (double)options->n;
  return full * (options->jerk ? 0.5 : 1) * (n > 1024 ? options->threads : 1) * n / (n + 256);
}

static sim_status plan(const void *parameters, const sim_setup *setup, sim_plan *out) {
  const nbody_parameters *p = parameters;
  const nbody_ops *ops = choose_ops(p, setup);
  double n, made = 0;
  if (setup->saved != NULL) {
    const sim_array *id = sim_frame_array(setup->saved, "id");
    n = id != NULL ? (double)id->shape[0] : 0;
  } else {
    nbody_parts parts;
    SIM_TRY(nbody_parts_list(p, setup, &parts));
    n = parts.n;
    made = nbody_bodies_bytes(&parts, 3 * n * (double)sim_dtype_size(ops->dtype));
    nbody_parts_free(&parts);
  }
  const nbody_options options = options_for(p, setup, (int64_t)fmin(n, 0x1p61));
  const double real = (double)sim_dtype_size(ops->dtype);
  const double shown = n * (sizeof(uint64_t) + 7 * real), kept = n * sizeof(double) * (options.jerk ? 6 : 3);
  sim_plan_add(out, "bodies", shown + kept);
  sim_plan_add(out, "integrator and direct sum", ops->bytes(&options));
  /* They are released before the direct sum takes its memory. */
  made -= ops->bytes(&options);
  if (made > 0) sim_plan_add(out, "bodies while they are made", made);
  out->snapshot_bytes = shown;
  out->checkpoint_bytes = shown + kept + NBODY_CONTROLS * sizeof(double);
  out->steps = nbody_step_count(&p->integrate);
  out->t_end = p->integrate.t_end;
  static const int forces[] = {[NBODY_LEAPFROG] = 1, [NBODY_YOSHIDA4] = 3, [NBODY_HERMITE4] = 2};
  out->work_per_step = n * n * forces[p->integrate.scheme];
  out->work_rate_guess = rate_guess(&options);
  return SIM_OK;
}

/* ---- beginning and end ---- */

static void destroy(void **self) {
  nbody_run *run = *self;
  if (run == NULL) return;
  run->ops->destroy(&run->work);
  sim_buffer *const buffers[] = {&run->id, &run->mass, &run->position, &run->velocity, &run->acceleration, &run->jerk};
  for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) sim_buffer_destroy(buffers[i]);
  free(run);
  *self = NULL;
}

static sim_status create_arrays(nbody_run *run, const sim_setup *setup) {
  const int64_t shape[] = {3, run->n};
  const sim_backend *backend = setup->backend;
  SIM_TRY(sim_buffer_create(&sim_backend_cpu, SIM_U64, 1, &run->n, &run->id));
  SIM_TRY(sim_buffer_create(backend, run->ops->dtype, 1, &run->n, &run->mass));
  SIM_TRY(sim_buffer_create(backend, run->ops->dtype, 2, shape, &run->position));
  SIM_TRY(sim_buffer_create(backend, run->ops->dtype, 2, shape, &run->velocity));
  SIM_TRY(sim_buffer_create(backend, SIM_F64, 2, shape, &run->acceleration));
  if (run->integrate.scheme == NBODY_HERMITE4) SIM_TRY(sim_buffer_create(backend, SIM_F64, 2, shape, &run->jerk));
  return SIM_OK;
}

/* Component c of all bodies from the order of ids to that of species, into `stage` as the state's type. */
static sim_status arrange(const nbody_run *run, const double *values, int c, const char *what, void *stage) {
  const uint64_t *id = run->id.data;
  const int64_t n = run->n;
  if (run->ops->dtype == SIM_F64) {
    for (int64_t i = 0; i < n; i++) ((double *)stage)[c * n + i] = values[id[i]];
    return SIM_OK;
  }
  float *out = (float *)stage + c * n;
  for (int64_t i = 0; i < n; i++) {
    out[i] = (float)values[id[i]];
    if (!isfinite(out[i]))
      return sim_fail(SIM_ERR_SCENARIO,
                      "bodies: the %s %.9g of body %" PRIu64 " (from 0) does not fit single precision; take other "
                      "units, or precision = \"mixed\"",
                      what, values[id[i]], id[i]);
  }
  return SIM_OK;
}

/* One array of the state from its `count` components. */
static sim_status put_array(nbody_run *run, const sim_setup *setup, double *const *values, int count, const char *what,
                            void *stage, sim_buffer *out) {
  for (int c = 0; c < count; c++) SIM_TRY(arrange(run, values[c], c, what, stage));
  return setup->backend->copy(out->data, stage, sim_buffer_bytes(out));
}

static sim_status put_bodies(nbody_run *run, const nbody_bodies *bodies, const sim_setup *setup) {
  void *stage = malloc(sim_buffer_bytes(&run->position));
  if (stage == NULL) return sim_fail(SIM_ERR_NO_MEMORY, "no memory for %" PRId64 " bodies", run->n);
  sim_status status = put_array(run, setup, &bodies->mass, 1, "mass", stage, &run->mass);
  if (status == SIM_OK) status = put_array(run, setup, bodies->position, 3, "position", stage, &run->position);
  if (status == SIM_OK) status = put_array(run, setup, bodies->velocity, 3, "velocity", stage, &run->velocity);
  free(stage);
  return status;
}

/* Ids in the order of species, and in that of ids within one. */
static void put_ids(nbody_run *run, const nbody_parts *parts) {
  int64_t next[SIM_SPECIES_MAX];
  uint64_t id = 0, *ids = run->id.data;
  for (size_t s = 0; s < run->species_count; s++) next[s] = run->species[s].first;
  for (size_t i = 0; i < parts->count; i++) {
    size_t s = 0;
    while (strcmp(run->species[s].name, parts->part[i].species) != 0) s++;
    for (int64_t k = 0; k < parts->part[i].n; k++) ids[next[s]++] = id++;
  }
}

static sim_status begin(nbody_run *run, const nbody_parameters *p, const sim_setup *setup, const nbody_parts *parts) {
  nbody_bodies bodies;
  if (!(parts->n < 0x1p40)) return sim_fail(SIM_ERR_NO_MEMORY, "no memory for %.9g bodies", parts->n);
  run->n = (int64_t)parts->n;
  run->species_count = nbody_parts_species(parts, run->species);
  SIM_TRY(create_arrays(run, setup));
  put_ids(run, parts);
  SIM_TRY(nbody_bodies_create(p, setup, parts, &bodies));
  sim_status status = nbody_bodies_check_mass(&bodies, run->ops->dtype == SIM_F32);
  if (status == SIM_OK) status = put_bodies(run, &bodies, setup);
  nbody_bodies_free(&bodies);
  return status;
}

/* Array `which` as it is now; false where the scheme has none. */
static bool view_array(nbody_run *run, int which, sim_array *out) {
  const sim_buffer *const buffers[] = {&run->id,       &run->mass,         &run->position,
                                       &run->velocity, &run->acceleration, &run->jerk};
  *out = (sim_array){.field = &state_fields[which]};
  if (which == CONTROLLER) {
    out->dtype = SIM_F64;
    out->rank = 1;
    out->shape[0] = NBODY_CONTROLS;
    out->data = run->controller;
  } else {
    const sim_buffer *buffer = buffers[which];
    if (buffer->data == NULL) return false;
    out->dtype = buffer->dtype;
    out->rank = buffer->rank;
    memcpy(out->shape, buffer->shape, sizeof out->shape);
    out->data = buffer->data;
  }
  memcpy(out->global, out->shape, sizeof out->global);
  return true;
}

static sim_status view(void *self, sim_array *arrays, sim_species *species, sim_frame *frame) {
  nbody_run *run = self;
  frame->array_count = 0;
  for (int which = 0; which < ARRAYS; which++)
    if (view_array(run, which, &arrays[frame->array_count])) frame->array_count++;
  memcpy(species, run->species, run->species_count * sizeof *species);
  frame->species_count = run->species_count;
  return SIM_OK;
}

static sim_status restore_array(nbody_run *run, int which, const sim_setup *setup) {
  sim_array here;
  if (!view_array(run, which, &here)) return SIM_OK;
  const sim_array *saved = sim_frame_array(setup->saved, here.field->name);
  if (saved == NULL) return sim_fail(SIM_ERR_INCOMPATIBLE, "the checkpoint has no %s", here.field->name);
  bool same = saved->dtype == here.dtype && saved->rank == here.rank;
  for (int i = 0; i < here.rank && same; i++) same = saved->shape[i] == here.shape[i];
  if (!same) return sim_fail(SIM_ERR_INCOMPATIBLE, "the checkpoint's %s has another type or shape", here.field->name);
  if (which == CONTROLLER || which == ID)
    memcpy(here.data, saved->data, sim_array_bytes(saved));
  else
    return setup->backend->copy(here.data, saved->data, sim_array_bytes(saved));
  return SIM_OK;
}

static sim_status restore(nbody_run *run, const sim_setup *setup) {
  const sim_frame *saved = setup->saved;
  const sim_array *id = sim_frame_array(saved, "id");
  if (id == NULL || id->dtype != SIM_U64 || id->rank != 1 || id->shape[0] < 1)
    return sim_fail(SIM_ERR_INCOMPATIBLE, "the checkpoint has no list of bodies");
  run->n = id->shape[0];
  int64_t next = 0;
  for (size_t s = 0; s < saved->species_count; s++) {
    if (s == SIM_SPECIES_MAX || saved->species[s].first != next || saved->species[s].count < 0 ||
        saved->species[s].count > run->n - next)
      return sim_fail(SIM_ERR_INCOMPATIBLE, "the checkpoint's species do not fit its bodies");
    run->species[s] = saved->species[s];
    next += saved->species[s].count;
  }
  if (next != run->n) return sim_fail(SIM_ERR_INCOMPATIBLE, "the checkpoint's species do not fit its bodies");
  run->species_count = saved->species_count;
  SIM_TRY(create_arrays(run, setup));
  for (int which = 0; which < ARRAYS; which++) SIM_TRY(restore_array(run, which, setup));
  return SIM_OK;
}

static double position_at(const nbody_run *run, int c, int64_t i) {
  const int64_t k = c * run->n + i;
  return run->ops->dtype == SIM_F32 ? (double)((const float *)run->position.data)[k]
                                    : ((const double *)run->position.data)[k];
}

static double distance(const nbody_run *run, int64_t i, int64_t j) {
  double d[3];
  for (int c = 0; c < 3; c++) d[c] = fabs(position_at(run, c, i) - position_at(run, c, j));
  return fmax(d[0], fmax(d[1], d[2]));
}

/* Where two bodies are one in the precision of the pair terms, the first force says so, and only that tells it as the
 * terms are really rounded. They keep 24 bits (fp64: 53) of twice the extent, and inverse cubes of 2^-40 (2^-100) of
 * it; what is not finite among bodies farther apart than that comes from other numbers. */
static sim_status check_apart(const nbody_run *run, const nbody_options *options) {
  const double *a = run->acceleration.data, *jerk = run->jerk.data;
  int64_t bad = 0, nearest = -1;
  while (bad < 3 * run->n && isfinite(a[bad]) && (jerk == NULL || isfinite(jerk[bad]))) bad++;
  if (bad == 3 * run->n) return SIM_OK;
  bad %= run->n;
  double least = INFINITY, extent = 0;
  for (int64_t i = 0; i < run->n; i++) {
    const double d = i != bad ? distance(run, bad, i) : INFINITY;
    if (i != bad) extent = fmax(extent, d);
    if (d < least) nearest = i;
    least = fmin(least, d);
  }
  if (nearest < 0 || !isfinite(extent) || !(least <= extent * (options->single_pairs ? 0x1p-21 : 0x1p-50)))
    return SIM_OK;
  const uint64_t *id = run->id.data;
  const uint64_t first = id[bad] < id[nearest] ? id[bad] : id[nearest], second = id[bad] + id[nearest] - first;
  char apart[64] = "both";
  if (least > 0)
    snprintf(apart, sizeof apart, "only %.3g apart, too close for %s pair terms,", least,
             options->single_pairs ? "fp32" : "fp64");
  return sim_fail(SIM_ERR_SCENARIO,
                  "bodies: %" PRIu64 " and %" PRIu64 " (ids, from 0) are %s at {%.9g, %.9g, %.9g}: their force is "
                  "infinite without gravity.softening",
                  first, second, apart, position_at(run, 0, bad), position_at(run, 1, bad), position_at(run, 2, bad));
}

static sim_status start(nbody_run *run, const nbody_parameters *p, const sim_setup *setup) {
  if (setup->saved != NULL) {
    SIM_TRY(restore(run, setup));
  } else {
    nbody_parts parts;
    SIM_TRY(nbody_parts_list(p, setup, &parts));
    sim_status status = begin(run, p, setup, &parts);
    nbody_parts_free(&parts);
    if (status != SIM_OK) return status;
  }
  const nbody_options options = options_for(p, setup, run->n);
  const nbody_state state = {
      run->n, run->mass.data, run->position.data, run->velocity.data, run->acceleration.data, run->jerk.data};
  SIM_TRY(run->ops->create(&options, &state, &run->work));
  if (setup->saved != NULL) return SIM_OK;
  run->ops->force(run->work);
  if (p->gravity.softening == 0) SIM_TRY(check_apart(run, &options));
  const nbody_sums *sums = sums_at(run, 0);
  run->controller[NBODY_INITIAL_ENERGY] = sums->kinetic + sums->potential;
  nbody_plan_first_step(run);
  return SIM_OK;
}

static sim_status create(const void *parameters, const sim_setup *setup, sim_clock *clock, void **self) {
  const nbody_parameters *p = parameters;
  nbody_run *run = calloc(1, sizeof *run);
  *self = run;
  if (run == NULL) return sim_fail(SIM_ERR_NO_MEMORY, "no memory for the model");
  run->ops = choose_ops(p, setup);
  run->integrate = p->integrate;
  run->sums_step = -1;
  if (!isnan(p->integrate.dt)) run->steps = (int64_t)nbody_step_count(&p->integrate);
  sim_status status = start(run, p, setup);
  if (status != SIM_OK) {
    destroy(self);
    return status;
  }
  if (setup->saved != NULL)
    *clock = setup->saved->clock;
  else
    *clock = (sim_clock){.dt = nbody_first_dt(run)};
  clock->t_end = p->integrate.t_end;
  return SIM_OK;
}

static void describe(const void *self, char *out, size_t capacity) {
  static const char *const schemes[] = {"leapfrog", "yoshida4", "hermite4"};
  const nbody_run *run = self;
  snprintf(out, capacity, "%" PRId64 " %s, %s%s, direct sum by %s", run->n, run->n == 1 ? "body" : "bodies",
           schemes[run->integrate.scheme], isnan(run->integrate.dt) ? " with adaptive step" : "",
           run->ops->name(run->work));
}

static const char *const references[] = {
    "J. Makino and S. J. Aarseth, PASJ 44 (1992) 141: Hermite scheme",
    "S. J. Aarseth, in Multiple Time Scales, eds. Brackbill and Cohen (1985) 377: adaptive step",
    "H. Yoshida, Phys. Lett. A 150 (1990) 262: fourth-order composition",
    "S. J. Aarseth, M. Henon and R. Wielen, A&A 37 (1974) 183: Plummer spheres",
    "L. Hernquist, ApJ 356 (1990) 359: Hernquist spheres",
    "L. Hernquist, ApJS 86 (1993) 389: disk galaxies",
    NULL};

static const char example[] =
    "-- Two star clusters on a collision course. Save as clusters.lua; run with: sim clusters.lua\n"
    "local n = sim.param(\"n\", 2000, \"stars in each cluster\")       -- sim clusters.lua --set n=1e4\n"
    "\n"
    "return sim.nbody {\n"
    "  title = \"Two clusters\",\n"
    "  precision = \"double\",                                          -- or \"mixed\", \"single\"\n"
    "  bodies = {\n"
    "    sim.plummer { n = n, mass = 1, radius = 1, position = {-3, 0.5, 0}, velocity = { 0.4, 0, 0} },\n"
    "    sim.plummer { n = n, mass = 1, radius = 1, position = { 3,-0.5, 0}, velocity = {-0.4, 0, 0} },\n"
    "  },\n"
    "  gravity   = { G = 1, softening = 0.05 },\n"
    "  integrate = { scheme = \"leapfrog\", dt = 1/64, t_end = 4 },\n"
    "  output    = { snapshots = \"every 0.5\", tables = \"every 0.125\", checkpoint = \"every 5 min\" },\n"
    "}\n";

static const nbody_ops_pair cpu_ops = {&nbody_ops_cpu_f32, &nbody_ops_cpu_f64};

const sim_model nbody_model = {
    .name = "nbody",
    .doc = "gravitating bodies, every pair summed directly",
    .example = example,
    .references = references,
    .parameters = &nbody_schema,
    .tables = tables,
    .state = state_fields,
    .work_unit = "interactions",
    .ops = {[SIM_BACKEND_CPU] = &cpu_ops},
    .validate = nbody_validate,
    .plan = plan,
    .create = create,
    .step = nbody_step,
    .observe = observe,
    .view = view,
    .describe = describe,
    .destroy = destroy,
};
