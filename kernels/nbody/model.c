/* The model's descriptor: state arrays, observables, memory and work of a run, its start and end. */
#include "kernels/nbody/cosmos/power.h"
#include "kernels/nbody/few/encounters.h"
#include "kernels/nbody/few/few.h"
#include "kernels/nbody/scenario/molecules.h"
#include "kernels/nbody/scenario/tables.h"

#include "engine/log.h"
#include "engine/run/startup.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- state arrays ---- */

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
static const sim_field state_fields[] = {
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

/* ---- observables ---- */

static const sim_table *const *tables_of(const void *parameters) {
  return ((const nbody_parameters *)parameters)->tables;
}

static const nbody_sums *sums_at(nbody_run *run, const sim_clock *clock) {
  if (run->sums_step != clock->step) run->ops->sums(run->work, clock->t, &run->sums);
  run->sums_step = clock->step;
  return &run->sums;
}

/* d(T + W)/da + (2 T + W)/a = 0 (W. M. Irvine, thesis, Harvard (1961); D. Layzer, ApJ 138 (1963) 174), so that a (T +
 * W) and the integral of T over a have a constant sum. Its change is given relative to the energy that went into
 * motion. */
static double layzer_irvine_error(const nbody_run *run, double a, double kinetic, double potential) {
  const double moved = a * kinetic + run->controller[NBODY_KINETIC_INTEGRAL];
  const double change = moved + a * potential - run->controller[NBODY_INITIAL_ENERGY];
  return moved > 0 ? change / moved : change;
}

static sim_status observe_energy(nbody_run *run, const sim_clock *clock, double *values) {
  const nbody_sums *s = sums_at(run, clock);
  SIM_TRY(nbody_check_solver(run, clock->step));
  const double a = run->expansion.given ? clock->t : 1, kinetic = s->kinetic / (a * a), potential = s->potential / a;
  const double initial = run->controller[NBODY_INITIAL_ENERGY], total = kinetic + potential;
  values[NBODY_COLUMN_KINETIC] = kinetic;
  values[NBODY_COLUMN_POTENTIAL] = potential;
  values[NBODY_COLUMN_TOTAL] = total;
  if (run->expansion.given)
    values[NBODY_COLUMN_ERROR] = layzer_irvine_error(run, a, kinetic, potential);
  else {
    /* In a box the zero of the potential is arbitrary, and that of the total too. Events may take nearly all energy. */
    const double at_start = initial + run->events[NBODY_EVENT_ENERGY];
    const double scale = run->box > 0 ? kinetic + fabs(potential) : fabs(at_start);
    const double change = total + nbody_bath_energy(run) - initial;
    values[NBODY_COLUMN_ERROR] = run->laws.time_dependent ? NAN : change / (scale > 0 ? scale : 1);
  }
  values[NBODY_COLUMN_VIRIAL_RATIO] = potential != 0 && run->box == 0 ? 2 * kinetic / fabs(potential) : NAN;
  for (int c = 0; c < 3; c++) {
    values[NBODY_COLUMN_MOMENTUM + c] = s->momentum[c];
    values[NBODY_COLUMN_ANGULAR_MOMENTUM + c] = run->box == 0 ? s->angular_momentum[c] : NAN;
    values[NBODY_COLUMN_CENTRE + c] = run->box == 0 ? s->moment[c] / s->mass : NAN;
  }
  if (fabs(values[NBODY_COLUMN_ERROR]) > run->integrate.max_energy_error)
    return sim_fail(SIM_ERR_DIVERGED, "energy error %.3g at step %" PRId64 ", t = %.9g: above max_energy_error = %.3g",
                    values[NBODY_COLUMN_ERROR], clock->step, clock->t, run->integrate.max_energy_error);
  return SIM_OK;
}

/* NaN of direct sums. */
static sim_status observe_force_error(nbody_run *run, const sim_clock *clock, double *values) {
  const nbody_force_error *e = &run->force_error;
  (void)sums_at(run, clock); /* the potential of this step */
  SIM_TRY(nbody_measure_force_error(run, clock));
  SIM_TRY(nbody_measure_potential_error(run, clock->step));
  SIM_TRY(nbody_check_solver(run, clock->step));
  values[0] = e->measured ? e->median : NAN;
  values[1] = e->measured ? e->tail : NAN;
  values[2] = e->potential;
  return SIM_OK;
}

static void observe_levels(nbody_run *run, double *values) {
  nbody_histogram levels;
  run->ops->choose_levels(run->work, run->integrate.dt, 0, &levels);
  for (int64_t level = 0; level <= run->integrate.levels; level++) values[level] = (double)levels.bodies[level];
}

static sim_status observe(void *self, const sim_clock *clock, int table, double *values) {
  nbody_run *run = self;
  SIM_TRY(nbody_few_show(run));
  if (table == NBODY_TABLE_ENERGY) return observe_energy(run, clock, values);
  if (run->tables[table] == &nbody_force_error_table) return observe_force_error(run, clock, values);
  if (table == run->orbit_table) return nbody_observe_orbits(run, values);
  if (run->tables[table] == &nbody_events_table) {
    nbody_observe_events(run, values);
    return SIM_OK;
  }
  if (table == run->rdf_table) return nbody_observe_rdf(run, values);
  if (table == run->thermo_table) {
    const nbody_sums *sums = sums_at(run, clock);
    SIM_TRY(nbody_observe_thermo(run, sums, values));
    return nbody_check_solver(run, clock->step);
  }
  if (table == run->spectrum_table) return nbody_observe_spectrum(run, clock->t, values);
  if (table == NBODY_TABLE_LAGRANGIAN)
    memcpy(values, sums_at(run, clock)->radii, NBODY_RADII * sizeof *values);
  else if (table == run->level_table)
    observe_levels(run, values);
  else
    return run->ops->observe(run->work, clock->t, values);
  return SIM_OK;
}

/* ---- memory and work ---- */

static const nbody_ops *choose_ops(const nbody_parameters *p, const sim_setup *setup) {
  static const nbody_ops *const ops[SIM_BACKEND_KINDS][2] = {
      [SIM_BACKEND_CPU] = {&nbody_ops_cpu_f64, &nbody_ops_cpu_f32},
#ifdef SIM_HAS_CUDA
      [SIM_BACKEND_CUDA] = {&nbody_ops_cuda_f64, &nbody_ops_cuda_f32},
#endif
  };
  return ops[setup->backend->kind][p->common.precision == SIM_SINGLE];
}

static double box_of(const nbody_parameters *p) { return p->box.given ? p->box.size : 0; }

/* Median of the force errors that the scenario asks for. Forces in a periodic box cancel: between bodies at random to
 * about a fifth of those that multipoles are set for, at the start of an expanding universe to a hundredth or less. */
enum { BOX_CANCELS = 5, EXPANSION_CANCELS = 100 };
static double asked_error(const nbody_parameters *p) {
  if (p->gravity.error > 0) return p->gravity.error;
  return p->expansion.given ? EXPANSION_CANCELS * NBODY_ERROR : NBODY_ERROR;
}

/* How many times smaller the errors are that multipoles are set for. At the start from a power spectrum accelerations
 * are 4 pi G times the density times the displacements, of root mean square psi (Zel'dovich). Measured for 16^3 and
 * 32^3 bodies in boxes of 64, 200 and 1000 Mpc/h: multipoles that are set for an error of e have a median of 0.07 e to
 * 0.25 e of 4 pi G times the density times the edge of the box, whatever psi is. */
static double finer_for(const nbody_parameters *p) {
  const nbody_zeldovich *z = nbody_zeldovich_of(p);
  const nbody_expansion *e = &p->expansion;
  if (!p->box.given) return 1;
  if (!e->given) return BOX_CANCELS;
  if (z == NULL) return EXPANSION_CANCELS;
  const nbody_power power = nbody_power_of(z, e);
  const double growth = nbody_growth(e, e->a_start) / nbody_growth(e, 1);
  return 0.25 * p->box.size / (growth * nbody_lattice_displacement(&power, p->box.size, z->n));
}

static nbody_options options_for(const nbody_parameters *p, const nbody_laws *laws, const sim_setup *setup, int64_t n,
                                 double spread) {
  const double finer = finer_for(p);
  nbody_options out = {.n = n,
                       .single_pairs = p->common.precision != SIM_DOUBLE,
                       .jerk = p->integrate.scheme == NBODY_HERMITE4,
                       .few = nbody_scheme_is_few(p->integrate.scheme),
                       .individual = p->integrate.steps == NBODY_INDIVIDUAL,
                       .levels = (int)p->integrate.levels,
                       .eta = p->integrate.eta,
                       .isa = setup->isa,
                       .threads = setup->threads,
                       .comm = setup->comm,
                       .G = p->gravity.G,
                       .softening = p->gravity.softening,
                       .box = box_of(p),
                       .cutoff = p->cutoff > 0 ? p->cutoff : 0,
                       .shifted = p->shift == NBODY_SHIFT_POTENTIAL,
                       .listed = setup->saved != NULL,
                       .method = (nbody_method)p->gravity.solver,
                       .fmm = nbody_fmm_settings_for(asked_error(p) / finer, p->gravity.error_tail / finer, (double)n),
                       .spread = spread,
                       .laws = *laws,
                       .observe = p->observe.count > 0 ? &p->observe : NULL};
  if (setup->saved != NULL) nbody_saved_method(setup->saved, &out);
  return out;
}

static sim_status plan(const void *parameters, const sim_setup *setup, sim_plan *out) {
  const nbody_parameters *p = parameters;
  const nbody_ops *ops = choose_ops(p, setup);
  double n, made = 0;
  if (setup->saved != NULL) {
    int64_t bodies;
    SIM_TRY(nbody_saved_check(&p->integrate, box_of(p), setup->saved, &bodies));
    n = (double)bodies;
  } else {
    nbody_groups groups;
    SIM_TRY(nbody_groups_list(p, setup, &groups));
    n = groups.n;
    made = nbody_bodies_bytes(&groups, setup->threads, 3 * n * (double)sim_dtype_size(ops->dtype));
    nbody_groups_free(&groups);
  }
  nbody_laws laws;
  SIM_TRY(nbody_laws_create(p, &laws));
  const nbody_options options = options_for(p, &laws, setup, (int64_t)fmin(n, 0x1p61), 0);
  nbody_choice choice;
  double host = 0, device = 0, scratch = 0;
  sim_status status = nbody_solver_choose(&options, setup->backend->kind, &choice);
  if (status == SIM_OK) {
    choice.solver->bytes(&options, &host, &device);
    if (choice.other != NULL) {
      double other_host = 0, other_device = 0;
      choice.other->bytes(&options, &other_host, &other_device);
      host = fmax(host, other_host), device = fmax(device, other_device);
      made = fmax(made, nbody_settle_bytes(n));
    }
    scratch = ops->bytes(&options);
    status = nbody_estimate(p, &options, choice.solver, setup->backend->kind, n, out);
  }
  nbody_laws_free(&laws);
  SIM_TRY(status);
  const double real = (double)sim_dtype_size(ops->dtype);
  const nbody_few *few = nbody_few_of(p->integrate.scheme);
  const double lists = !(p->cutoff > 0) ? 0 : 6 * n * sizeof(double);
  const double shown = n * (sizeof(uint64_t) + 7 * real + (p->merge ? sizeof(double) : 0));
  double kept = n * sizeof(double) * (options.jerk ? 6 : 3);
  kept += lists;
  if (few != NULL) {
    kept += few->numbers(n) * sizeof(double);
    scratch += few->bytes(n);
  }
  sim_plan_add_host(out, "numbers of bodies", n * sizeof(uint64_t));
  sim_plan_add(out, "bodies", shown + kept - n * sizeof(uint64_t));
  sim_plan_add(out, "integrator", scratch);
  if (host > 0) sim_plan_add_host(out, choice.name, host);
  if (device > 0) sim_plan_add(out, choice.name, device);
  const double spectrum = nbody_run_spectrum_bytes(p, setup, ops->dtype, n);
  if (spectrum > 0) sim_plan_add_host(out, "spectrum", spectrum);
  const double rdf = nbody_rdf_bytes(p, setup, ops->dtype, n);
  if (rdf > 0) sim_plan_add_host(out, "g(r)", rdf);
  /* memory of the generated bodies is freed before integrator and solver allocate theirs */
  made -= host + spectrum + (out->space == SIM_SPACE_HOST ? scratch : 0);
  if (made > 0) sim_plan_add_host(out, "bodies while they are made", made);
  out->snapshot_bytes = shown;
  out->staged_bytes = shown - n * sizeof(uint64_t);
  out->checkpoint_bytes = shown + kept + (NBODY_CONTROLS + (p->thermostat.given ? NBODY_BATH : 0)) * sizeof(double);
  return SIM_OK;
}

/* ---- create and destroy ---- */

static void destroy(void **self) {
  nbody_run *run = *self;
  if (run == NULL) return;
  if (run->step != NULL) run->backend->queue->graph_destroy(&run->step);
  run->ops->destroy(&run->work);
  if (run->few != NULL) run->few->destroy(run);
  if (run->forces.solver != NULL) run->forces.solver->destroy(&run->forces.work);
  nbody_laws_free(&run->laws);
  nbody_spectrum_destroy(&run->spectrum);
  free(run->staged);
  sim_buffer *const buffers[] = {&run->id,   &run->mass, &run->position, &run->velocity, &run->acceleration,
                                 &run->jerk, &run->kept, &run->radius,   &run->searched, &run->travelled};
  for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) sim_buffer_destroy(buffers[i]);
  free(run);
  *self = NULL;
}

/* View of array `which`; false where the scheme has none. */
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
  *out = (sim_array){.field = &state_fields[which]};
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

static sim_status view(void *self, sim_array *arrays, sim_species *species, sim_frame *frame) {
  nbody_run *run = self;
  SIM_TRY(nbody_few_show(run));
  frame->array_count = 0;
  for (int which = 0; which < ARRAYS; which++)
    if (view_array(run, which, &arrays[frame->array_count])) frame->array_count++;
  memcpy(species, run->species, run->species_count * sizeof *species);
  frame->species_count = run->species_count;
  return SIM_OK;
}

static sim_status restore(nbody_run *run, const sim_setup *setup) {
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
      here.shape[0] = sim_frame_array(saved, "controller")->shape[0]; /* checked; may be shorter */
    SIM_TRY(sim_frame_restore(saved, setup->backend, &here));
  }
  return SIM_OK;
}

static void keep_method(const nbody_options *options, const nbody_choice *choice, double *controller) {
  controller[NBODY_METHOD] = choice->method;
  controller[NBODY_ORDER] = options->fmm.order;
  controller[NBODY_ANGLE] = options->fmm.theta;
  controller[NBODY_WEIGHT] = options->fmm.weight;
  controller[NBODY_LEAF] = options->fmm.leaf;
}

static void warn_of_crowd(const nbody_options *options, sim_backend_kind kind, nbody_method method) {
  const nbody_fmm_estimate cost = nbody_fmm_estimate_for(options, kind, (double)options->n);
  if (method == NBODY_FMM && options->crowd > 0 && cost.seconds > cost.direct)
    sim_log(SIM_LOG_WARN,
            "about %.9g of %" PRId64
            " bodies lie in one smallest cell of the multipole tree, a 2^%d-th of the extent of "
            "all: a force takes about %.2g x as long as by gravity.solver = \"direct\"; take that, or leave out the "
            "bodies that are far away",
            options->crowd, options->n, NBODY_FMM_LEVEL_MAX, cost.seconds / cost.direct);
}

sim_status nbody_create_forces(nbody_run *run) {
  const nbody_state state = {.n = run->n,
                             .dtype = run->ops->dtype,
                             .mass = run->mass.data,
                             .position = run->position.data,
                             .velocity = run->velocity.data,
                             .acceleration = run->acceleration.data,
                             .jerk = run->jerk.data,
                             .searched = run->searched.data,
                             .travelled = run->travelled.data};
  run->ops->destroy(&run->work);
  if (run->forces.solver != NULL) run->forces.solver->destroy(&run->forces.work);
  run->options.n = run->n;
  SIM_TRY(nbody_solver_choose(&run->options, run->backend->kind, &run->choice));
  run->forces.solver = run->choice.solver;
  SIM_TRY(run->forces.solver->create(&run->options, &state, &run->forces.work));
  return run->ops->create(&run->options, &state, run->forces, &run->work);
}

/* Bodies that overlap at the start would merge at once, and those beyond the radius of escape be taken out. */
static sim_status check_encounters(const nbody_run *run) {
  const nbody_event overlap = nbody_find_overlap(run), outside = nbody_find_outside(run);
  const uint64_t *id = run->id.data;
  if (outside.first >= 0)
    return sim_fail(SIM_ERR_SCENARIO,
                    "bodies: %" PRIu64
                    " (id, from 0) is farther than escape.radius = %.9g from the centre of mass at the start",
                    id[outside.first], run->escape);
  if (overlap.first < 0) return SIM_OK;
  return sim_fail(SIM_ERR_SCENARIO,
                  "bodies: %" PRIu64 " and %" PRIu64
                  " (ids, from 0) touch at the start: with merge expected a distance "
                  "above the sum of their radii",
                  id[overlap.first], id[overlap.other]);
}

static sim_status start(nbody_run *run, const nbody_parameters *p, const sim_setup *setup) {
  SIM_TRY(nbody_laws_create(p, &run->laws));
  if (run->cut) SIM_TRY(nbody_tail_of(&run->laws, p->cutoff, &run->tail));
  if (setup->saved != NULL) {
    SIM_TRY(restore(run, setup));
  } else {
    nbody_groups groups;
    SIM_TRY(nbody_groups_list(p, setup, &groups));
    sim_status status = nbody_begin(run, p, setup, &groups);
    nbody_groups_free(&groups);
    if (status != SIM_OK) return status;
  }
  run->most = run->n;
  run->options = options_for(p, &run->laws, setup, run->n, run->controller[NBODY_SPREAD]);
  run->options.crowd = run->crowd;
  SIM_TRY(nbody_settle_method(run));
  const nbody_choice settled = run->choice; /* with its reason */
  SIM_TRY(nbody_create_forces(run));
  if (settled.solver != NULL) memcpy(run->choice.why, settled.why, sizeof settled.why);
  warn_of_crowd(&run->options, setup->backend->kind, run->choice.method);
  if (setup->saved == NULL || !run->encounters) /* after an event that of the bodies at the start stays */
    keep_method(&run->options, &run->choice, run->controller);
  SIM_TRY(nbody_create_spectrum(run, p, setup));
  SIM_TRY(nbody_find_orbits(run, p));
  if (run->few != NULL) SIM_TRY(run->few->create(run));
  if (setup->saved != NULL) return run->few != NULL ? run->few->begin(run, &setup->saved->clock) : SIM_OK;
  sim_startup("computing the first force", 0, 0);
  run->ops->force(run->work, 0);
  run->ops->finish(run->work);
  SIM_TRY(nbody_check_solver(run, 0));
  SIM_TRY(nbody_check_force(run, &run->options));
  SIM_TRY(check_encounters(run));
  sim_startup("computing the energy at the start", 0, 0);
  const nbody_sums *sums = sums_at(run, &(sim_clock){0});
  SIM_TRY(nbody_watch_force_error(run, &(sim_clock){0}));
  SIM_TRY(nbody_check_solver(run, 0));
  SIM_TRY(nbody_check_energy(run, sums));
  run->controller[NBODY_INITIAL_ENERGY] = run->laws.potential_known ? sums->kinetic + sums->potential : 0;
  if (run->expansion.given) {
    run->controller[NBODY_INITIAL_ENERGY] = sums->kinetic / run->expansion.a_start + sums->potential;
    run->controller[NBODY_KINETIC_NOW] = sums->kinetic;
  }
  return nbody_plan_first_step(run);
}

static sim_status create(const void *parameters, const sim_setup *setup, sim_clock *clock, void **self) {
  const nbody_parameters *p = parameters;
  nbody_run *run = calloc(1, sizeof *run);
  *self = run;
  if (run == NULL) return sim_no_memory("the model");
  run->backend = setup->backend;
  run->ops = choose_ops(p, setup);
  run->integrate = p->integrate;
  run->expansion = p->expansion;
  run->few = nbody_few_of(p->integrate.scheme);
  run->thermostat = p->thermostat;
  run->seed = p->common.seed;
  run->rdf = p->rdf;
  run->cut = p->cutoff > 0;
  run->G = p->gravity.G;
  run->encounters = p->merge || p->escape.given;
  run->escape = p->escape.given ? p->escape.radius : 0;
  run->merge = p->merge;
  run->output = &p->common.output;
  run->level_table = nbody_table_of(p, &p->level_table);
  run->spectrum_table = nbody_table_of(p, &p->spectrum_table);
  run->orbit_table = nbody_table_of(p, &p->orbit_table);
  run->thermo_table = nbody_table_of(p, &nbody_thermo_table);
  run->rdf_table = nbody_table_of(p, &p->rdf_table);
  run->box = box_of(p);
  run->softening = p->gravity.softening;
  run->sums_step = -1;
  run->tables = p->tables;
  run->force_error = (nbody_force_error){.potential = NAN,
                                         .asked = asked_error(p),
                                         .asked_tail = p->gravity.error_tail > 0 ? p->gravity.error_tail : INFINITY};
  sim_status status = start(run, p, setup);
  if (status != SIM_OK) {
    destroy(self);
    return status;
  }
  run->force_error.largest_median = run->controller[NBODY_LARGEST_MEDIAN]; /* of the start, or of before */
  run->force_error.largest_tail = run->controller[NBODY_LARGEST_TAIL];
  if (setup->saved != NULL)
    *clock = setup->saved->clock;
  else
    *clock = (sim_clock){.t = run->expansion.given ? run->expansion.a_start : 0, .dt = nbody_first_dt(run)};
  clock->t_end = p->integrate.t_end;
  run->few_time = clock->t;
  status = nbody_watch_speeds(run, clock->t, clock->dt);
  if (status != SIM_OK) destroy(self);
  return status;
}

static void describe(const void *self, char *out, size_t capacity) {
  const nbody_run *run = self;
  snprintf(out, capacity, "%" PRId64 " %s, %s%s", run->n, run->n == 1 ? "body" : "bodies",
           nbody_scheme_names[run->integrate.scheme], isnan(run->integrate.dt) ? " with adaptive step" : "");
  size_t used = strlen(out);
  if (run->integrate.steps == NBODY_INDIVIDUAL)
    used += (size_t)snprintf(out + used, capacity - used, " with individual steps of %.3g down to %.3g",
                             run->integrate.dt, ldexp(run->integrate.dt, -(int)run->integrate.levels));
  if (run->expansion.given)
    used += (size_t)snprintf(out + used, capacity - used, ", expanding from a = %.4g", run->expansion.a_start);
  if (run->thermostat.given)
    used += (size_t)snprintf(out + used, capacity - used, ", %s at k T = %.4g",
                             run->thermostat.kind == NBODY_LANGEVIN ? "langevin" : "nose_hoover",
                             run->thermostat.temperature);
  if (run->laws.no_pairs)
    snprintf(out + used, capacity - used, ", no forces between bodies");
  else
    snprintf(out + used, capacity - used, ", %s%s (%s)%s", run->choice.name,
             run->laws.pair != NULL ? " of a custom law" : "", run->forces.solver->describe(run->forces.work),
             run->choice.why);
}

static void report_steps(const nbody_run *run, sim_bytes *out) {
  const nbody_step_counts *c = &run->counts;
  if (c->steps > 0)
    sim_bytes_format(out,
                     "individual steps: %.3g forces on a body in a step of %.3g, in %.3g substeps; shortest step %.3g, "
                     "with which steps of one length take %.3g times as many forces\n",
                     c->forces / (c->steps * (double)run->n), run->integrate.dt, c->substeps / c->steps,
                     ldexp(run->integrate.dt, -c->deepest), c->at_finest / c->forces);
}

static void report(const void *self, const sim_clock *clock, sim_bytes *out) {
  (void)clock;
  const nbody_run *run = self;
  report_steps(run, out);
  if (run->few != NULL && run->few->report != NULL) run->few->report(run, out);
  const nbody_force_error *e = &run->force_error;
  if (e->measured || e->largest_median > 0)
    sim_bytes_format(out, "force error: largest measured median %.2g, 99.9 %% of the bodies %.2g; asked for %.2g\n",
                     e->largest_median, e->largest_tail, e->asked);
  else if (run->forces.solver->sample != NULL)
    sim_bytes_format(out, "force error: not measured\n");
  if (e->potential >= 0)
    sim_bytes_format(out, "potential energy: wrong by %.2g of it by multipoles, in the last row of tables\n",
                     e->potential);
}

static const char *const references[] = {
    "W. Dehnen, J. Comput. Phys. 179 (2002) 27: fast multipole method with dual traversal",
    "J. Makino and S. J. Aarseth, PASJ 44 (1992) 141: Hermite scheme",
    "S. J. Aarseth, in Multiple Time Scales, eds. Brackbill and Cohen (1985) 377: adaptive step",
    "H. Yoshida, Phys. Lett. A 150 (1990) 262: fourth-order composition",
    "E. Everhart, in Dynamics of Comets, IAU Coll. 83 (1985) 185: Gauss-Radau integrator",
    "H. Rein and D. S. Spiegel, MNRAS 446 (2015) 1424: ias15",
    "D. Pham, H. Rein and D. S. Spiegel, Open J. Astrophys. 7 (2024) 1: step of ias15",
    "J. Wisdom and M. Holman, AJ 102 (1991) 1528: map for planets",
    "H. Rein and D. Tamayo, MNRAS 452 (2015) 376: whfast",
    "V. Springel, MNRAS 364 (2005) 1105: individual steps, and their criterion",
    "T. Quinn, N. Katz, J. Stadel and G. Lake, astro-ph/9710043 (1997): individual steps",
    "S. J. Aarseth, M. Henon and R. Wielen, A&A 37 (1974) 183: Plummer spheres",
    "L. Hernquist, ApJ 356 (1990) 359: Hernquist spheres",
    "L. Hernquist, ApJS 86 (1993) 389: disk galaxies",
    "T. Quinn et al. (1997), astro-ph/9710043: leapfrog in comoving coordinates",
    "D. J. Eisenstein and W. Hu, ApJ 496 (1998) 605: transfer function",
    "Ya. B. Zel'dovich, A&A 5 (1970) 84: displacements of linear theory",
    "B. Leimkuhler and C. Matthews, Appl. Math. Res. Express 2013 (2013) 34: BAOAB, thermostat langevin",
    "G. J. Martyna, M. E. Tuckerman, D. J. Tobias and M. L. Klein, Mol. Phys. 87 (1996) 1117: thermostat nose_hoover",
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

static bool supports(const void *parameters, sim_backend_kind backend, char *lacks, size_t capacity) {
  const nbody_parameters *p = parameters;
  if (!nbody_scheme_is_few(p->integrate.scheme) || backend == SIM_BACKEND_CPU) return true;
  snprintf(lacks, capacity, "integrate.scheme = \"%s\" is", nbody_scheme_names[p->integrate.scheme]);
  return false;
}

/* The force on some bodies counts as their share of that on all. */
static double work_done(const void *self, double steps) {
  const nbody_run *run = self;
  return run->integrate.steps == NBODY_INDIVIDUAL ? run->counts.forces / (double)run->n : steps;
}

const sim_model nbody_model = {
    .name = "nbody",
    .doc = "N-body dynamics: point masses under gravity (direct sums or fast multipoles), external fields or a custom "
           "pair "
           "law, with a cutoff for molecules",
    .example = example,
    .references = references,
    .parameters = &nbody_schema,
    .tables = nbody_tables,
    .described = nbody_described_tables,
    .state = state_fields,
    .work_unit = "interactions",
    .backends = {[SIM_BACKEND_CPU] = {.runs = true}, [SIM_BACKEND_CUDA] = {.runs = true}},
    .precisions = {[SIM_SINGLE] = true, [SIM_MIXED] = true, [SIM_DOUBLE] = true},
    .ranks = true,
    .bench = nbody_bench,
    .validate = nbody_validate,
    .supports = supports,
    .tables_of = tables_of,
    .plan = plan,
    .create = create,
    .step = nbody_step,
    .work_done = work_done,
    .observe = observe,
    .view = view,
    .describe = describe,
    .report = report,
    .destroy = destroy,
};
