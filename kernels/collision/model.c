/* The model's descriptor: parameters, state, creation, steps. */
#include "kernels/collision/collision.h"
#include "kernels/collision/clumps/clumps.h"
#include "kernels/collision/fixed_point/fixed_point.h"
#include "kernels/collision/flow/flow.h"
#include "kernels/collision/general/cpu/domain.h"
#include "kernels/collision/general/functions.h"
#include "kernels/collision/gravity/gravity.h"
#include "kernels/collision/run.h"
#include "kernels/collision/scenario/sizes.h"
#include "kernels/collision/start/grains.h"
#include "kernels/collision/walls/walls.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Lists the arrays of the state as last stored on the host. */
static void list_state(collision_run *run, sim_array *arrays, sim_species *species, sim_frame *frame) {
  frame->array_count = 0;
  for (int which = 0; which < COLLISION_ARRAYS; which++)
    if (collision_view_array(run, which, &arrays[frame->array_count])) frame->array_count++;
  memcpy(species, run->species, run->species_count * sizeof *species);
  frame->species_count = run->species_count;
}

/* After SIM_ERR_DIVERGED: names contact.restitution_law if it has no valid value at speeds above those that the start
 * checks. */
static sim_status blame_restitution(const collision_run *run, const sim_clock *clock) {
  if (run->n == 0 || collision_fields_check_restitution(
                         &run->options, 1e6 * collision_get(run, COLLISION_RADIUS, 0, 0) / run->dt) == SIM_OK)
    return SIM_OK;
  const sim_error law = *sim_error_last();
  return sim_fail(SIM_ERR_DIVERGED, "a grain's velocity is not finite at t = %.9g: %s", clock->t, law.message);
}

/* After SIM_ERR_DIVERGED: names a grain whose state is not finite at the time of `clock`; on a GPU, whose steps are
 * queued, this may be some steps late. Overwrites the stored state, which is lost anyway. Where all grains are finite
 * it names one that is too fast; else the error stays the same. */
static sim_status name_grain(collision_run *run, const sim_clock *clock) {
  const sim_error cause = *sim_error_last();
  sim_array arrays[COLLISION_ARRAYS];
  sim_species species[SIM_SPECIES_MAX];
  sim_frame frame = {.clock = *clock, .arrays = arrays, .species = species};
  const sim_status stored = run->n > 0 ? run->ops->store(run->work) : SIM_OK;
  list_state(run, arrays, species, &frame);
  SIM_TRY(blame_restitution(run, clock));
  if ((stored == SIM_OK || stored == SIM_ERR_DIVERGED) && arrays[0].space == SIM_SPACE_HOST &&
      sim_frame_check_finite(&frame) == SIM_ERR_DIVERGED)
    return SIM_ERR_DIVERGED;
  if ((stored == SIM_OK || stored == SIM_ERR_DIVERGED) && arrays[0].space == SIM_SPACE_HOST)
    SIM_TRY(collision_check_speeds(run, SIM_ERR_DIVERGED));
  return sim_fail_at(cause.status, cause.file, cause.line, "%s", cause.message);
}

static sim_status view(void *self, sim_array *arrays, sim_species *species, sim_frame *frame) {
  collision_run *run = self;
  const sim_status status = run->n > 0 ? run->ops->store(run->work) : SIM_OK;
  if (status == SIM_ERR_DIVERGED) return name_grain(run, &frame->clock);
  SIM_TRY(status);
  list_state(run, arrays, species, frame);
  return SIM_OK;
}

static sim_status observe(void *self, const sim_clock *clock, int table, double *values) {
  const sim_status status = collision_observe(self, clock, table, values);
  return status == SIM_ERR_DIVERGED ? name_grain(self, clock) : status;
}

/* ---- supported scenarios, memory and work ---- */

static const collision_ops *choose_ops(const collision_parameters *p, const sim_setup *setup) {
  const collision_ops_pair *pair = collision_ops_of(setup->backend->kind);
  if (p->common.precision != SIM_SINGLE) return pair->f64;
  return pair->fixed_point != NULL && collision_fixed_point_possible(p, setup->saved) ? pair->fixed_point : pair->f32;
}

/* Plans the communication of a step, in which self-gravity is computed `pulls` times, and the work that each rank does
 * for all grains: sorting them when lists are rebuilt. For a box that is as long in all directions; halos are measured,
 * see docs/performance.md. */
static void plan_ranks(const collision_options *o, const collision_ops *ops, double n, double pulls, bool gpu,
                       sim_plan *out) {
  const double ranks = o->comm->size, layer = fmin(n, pow(n, 2.0 / 3)), others = (ranks - 1) / ranks;
  if (o->comm->size == 1) return;
  out->work_rate_guess *= ranks;
  if (ops->exact && gpu) { /* ghosts, with ids every 20 steps; they come while most grains are computed */
    out->bytes_received = 2 * 1.2 * layer * (24 + 28.0 / 20);
    out->exchanges = 1 + 3.0 / 20;
    out->beside = 0.8;
    out->undivided = 0.14; /* 10^7 on two H200: 1.66 times one */
  } else if (ops->exact) { /* a layer of grains, and the impulses on it; all grains every 80 steps */
    out->bytes_received = 1.2 * layer * (24 + 4) + others * n * 28 / 80;
    out->exchanges = 3;
    out->undivided = 0.09;
  } else if (gpu) { /* two layers; positions of all grains every 100 steps, in which every rank sorts all */
    const double real = (double)sim_dtype_size(ops->dtype);
    out->bytes_received = 2 * layer * 16 * real + others * n * 4 * real / 100;
    out->exchanges = 1;
    out->undivided = o->attracted ? 0.25 : 0.08; /* two H200: 1.57 and 1.84 times one */
    /* where grains come or go, each rank gets all data of all grains; two H200: 1.04 times one at 10^6 grains */
    if (o->varies) out->undivided = 0.9;
    /* positions, velocities and attractions of all grains */
    out->bytes_received += pulls * others * n * (8 * real + 5 * sizeof(double));
    out->exchanges += pulls * (2 + n / COLLISION_EXCHANGED);
  } else {
    /* the halo; positions of all grains every 100 steps or so, when lists are rebuilt */
    const double numbers = o->springs > 0 ? 12 : 9, real = (double)sim_dtype_size(ops->dtype);
    out->bytes_received = collision_domain_halo(o) * numbers * real + others * n * 4 * real / 100;
    out->exchanges = 2 + (o->merge != COLLISION_MERGE_NEVER);
    out->undivided = 0.02;
  }
  if (!o->clumps) return;
  /* forces and torques of all spheres */
  out->bytes_received += others * n * (gpu ? 8 : 6) * (double)sim_dtype_size(ops->dtype);
  out->exchanges += 2;
  out->undivided = gpu ? 1 : 0.15; /* every rank moves all clumps; two H200: 0.86 times one at 6 10^5 spheres */
}

/* Time of one grain's attraction, in units of a grain's step: 64, 74 and 85 at 1000, 4000 and 20 000 grains of a patch
 * with an error of 1e-2 (measured: 82, 80 and 90); 135, 415 and 480 with an error of 1e-3 (measured: 190, 330 and
 * 395). On a GPU 0.39 of it: 44 at 10^6 grains with 1e-2 (measured on an H200: 44). */
static double attraction_work(const collision_parameters *p, double n, bool gpu) {
  const double side = isnan(p->hill.omega) ? 1 : 2 * (double)p->self_gravity.images + 1, all = fmax(2, side * side * n);
  const double opening = collision_gravity_opening(p->self_gravity.error);
  return (gpu ? 0.39 : 1) * fmin(0.015 * all, 0.9 * log2(all) / pow(opening, 3));
}

/* Grain steps a second on the CPU: n/(start of a step + synchronization of threads + time of the grains). Fitted to
 * processor times of gases that fill 0.1 of the box on one thread: fixed point 1.0, 1.5, 4.0 and 12.8 us a step of 40,
 * 200, 1000 and 4000 grains (large runs, limited by memory, make 150e6 a thread); general, without friction, 2.2, 8.9,
 * 49 and 230 us; beds with friction make 4e6. The fixed-point solver's threads are assumed to synchronize in 5 us a
 * step on idle cores, which is not measured: on busy ones it takes 30 to 90. The general solver uses one thread up to
 * 4096 grains. */
static double cpu_rate(const collision_options *o, bool exact, double n) {
  const double each = exact ? 150e6 : o->springs > 0 ? 4e6 : 15e6, start = exact ? 0.8e-6 : 0.3e-6;
  const double threads = exact || n > 4096 ? o->threads : 1;
  const double meetings = exact && threads > 1 ? 5e-6 : 0;
  return n / (start + meetings + n / (each * threads));
}

static bool supports(const void *parameters, sim_backend_kind backend, char *lacks, size_t capacity) {
  const collision_parameters *p = parameters;
  if (backend == SIM_BACKEND_CPU) return true;
  if (p->merge.when != COLLISION_MERGE_NEVER) return snprintf(lacks, capacity, "merge is"), false;
  double least, most;
  collision_all_radii(p, &least, &most);
  if (collision_radii_apart(least, most, COLLISION_RATIO_GPU))
    return snprintf(lacks, capacity, "radii of more than 1:%d are", COLLISION_RATIO_GPU), false;
  return true;
}

/* Faults of the contact law that are certain before grains exist: cohesion that reaches too far for radii that occur,
 * and coefficients of restitution at speeds well below those that the start checks. */
static sim_status check_law(const collision_parameters *p, const collision_options *o, double dt) {
  double least, most;
  collision_all_radii(p, &least, &most);
  SIM_TRY(collision_reach_check(o, least));
  return collision_fields_check_restitution(o, 0.01 * most / dt);
}

/* Numbers that a plan depends on. made: bytes that the start needs for a while. */
typedef struct plan_counts {
  double n, bodies, made;
  int64_t triangles;
} plan_counts;

/* Counts what a checkpoint has. */
static sim_status count_saved(const sim_setup *setup, const collision_options *options, plan_counts *out) {
  const sim_array *meshes = sim_frame_array(setup->saved, "meshes");
  int64_t grains;
  SIM_TRY(collision_saved_check(options, options->varies, setup->saved, &grains));
  out->n = (double)grains;
  if (options->clumps) out->bodies = (double)sim_frame_array(setup->saved, "bodies")->shape[0];
  if (meshes != NULL) out->triangles = meshes->shape[0];
  return SIM_OK;
}

/* Bytes that the start needs for a grain: groups at random places are pressed apart. */
static double made_bytes(const collision_parts *parts) {
  for (size_t i = 0; i < parts->count; i++) {
    const sim_schema *schema = parts->part[i].item->schema;
    if (schema != &collision_lattice_schema && schema != &collision_grain_schema) return 40 * sizeof(double);
  }
  return 18 * sizeof(double) + sizeof(bool);
}

/* Counts what the start makes. */
static sim_status count_parts(const collision_parameters *p, const sim_setup *setup, const collision_options *options,
                              plan_counts *out) {
  SIM_TRY(collision_meshes_count(p, setup, &out->triangles));
  collision_parts parts;
  SIM_TRY(collision_parts_list(p, setup, &parts));
  out->n = parts.n;
  out->made = parts.n * made_bytes(&parts);
  out->bodies = parts.bodies;
  const sim_status fits = collision_clumps_check_box(options, &parts);
  collision_parts_free(&parts);
  return fits;
}

/* Counts grains, clumps and triangles, and sets options.n. SIM_ERR_SCENARIO for too many. */
static sim_status count_grains(const collision_parameters *p, const sim_setup *setup, collision_options *options,
                               plan_counts *out) {
  *out = (plan_counts){0};
  SIM_TRY(setup->saved != NULL ? count_saved(setup, options, out) : count_parts(p, setup, options, out));
  if (options->varies) out->n = collision_flow_estimate(p, out->n);
  if (!(out->n < 4294967295.0))
    return sim_fail(SIM_ERR_SCENARIO, "insert: expected fewer than 2^32 - 1 grains at once, got about %.9g", out->n);
  if (options->attracted && out->n > COLLISION_TREE_MOST)
    return sim_fail(SIM_ERR_SCENARIO, "self_gravity: expected at most %.9g grains, got %.9g",
                    (double)COLLISION_TREE_MOST, out->n);
  options->n = (int64_t)fmax(out->n, 1);
  return SIM_OK;
}

/* Plans memory and the sizes of outputs. */
static void plan_memory(const collision_options *o, const collision_ops *ops, const sim_setup *setup,
                        const plan_counts *counts, sim_plan *out) {
  const double n = counts->n, bodies = counts->bodies, real = (double)sim_dtype_size(ops->dtype);
  const bool gpu = setup->backend->space == SIM_SPACE_DEVICE;
  const double shown = n * (2 * sizeof(uint64_t) + 11 * real) + (bodies > 0 ? n * (sizeof(uint64_t) + 3 * real) : 0);
  const double history = (double)collision_contact_room(o->n, o->springs) * (16 + o->springs * real) +
                         n * (o->wall_numbers * real + 8.0 * o->gates);
  const double sums = ops->exact ? 6 : o->worked ? 4 : 3;
  const double kept = n * (6 * real + sums * sizeof(double)) + (o->attracted ? 4.0 * n * sizeof(double) : 0) + history +
                      (bodies > 0 ? 3 * n * sizeof(double) : 0) + bodies * sizeof(collision_body) +
                      (COLLISION_CONTROLS + (o->merge ? COLLISION_MERGER_NUMBERS : 0)) * sizeof(double);
  if (o->varies || o->merge) sim_plan_add_host(out, "grains that come and go", sizeof(collision_flow));
  sim_plan_add_host(out, "grains", shown + kept);
  if (counts->triangles > 0) {
    const double bytes = geometry_mesh_bytes(counts->triangles);
    sim_plan_add_host(out, "meshes", bytes + 80.0 * (double)counts->triangles);
    if (gpu) sim_plan_add(out, "meshes there", bytes);
  }
  sim_plan_add(out, "neighbours and forces", ops->bytes(o));
  if (ops->room != NULL) out->room_bytes += ops->room(o);
  if (o->attracted) {
    double host, device;
    collision_gravity_bytes(setup->backend, o->comm, n, &host, &device);
    sim_plan_add_host(out, "self-gravity", host);
    if (gpu) sim_plan_add(out, "self-gravity there", device);
  }
  if (counts->made > ops->bytes(o)) sim_plan_add_host(out, "grains while they are made", counts->made - ops->bytes(o));
  out->snapshot_bytes = shown;
  out->checkpoint_bytes = shown + kept;
}

/* Chooses the step, and checks of a new run whatever depends on it. */
static sim_status plan_step(const collision_parameters *p, const sim_setup *setup, collision_options *options, double n,
                            double *dt) {
  double guess, limit;
  SIM_TRY(collision_step_guess(p, options, &guess, &limit));
  *dt = isnan(p->integrate.dt) ? guess : p->integrate.dt;
  if (setup->saved != NULL) return SIM_OK;
  SIM_TRY(collision_step_check(*dt, limit));
  SIM_TRY(collision_step_check_count(p, *dt));
  if (!isnan(p->integrate.dt)) SIM_TRY(collision_hill_check_step(options, *dt));
  SIM_TRY(collision_gravity_check_step(p, options, *dt));
  SIM_TRY(check_law(p, options, *dt));
  SIM_TRY(collision_heat_check_plan(p, options, *dt));
  collision_servo_check(p, options, n, *dt);
  return SIM_OK;
}

static sim_status plan_for(const collision_parameters *p, const sim_setup *setup, collision_options options,
                           sim_plan *out) {
  const collision_ops *ops = choose_ops(p, setup);
  const bool gpu = setup->backend->space == SIM_SPACE_DEVICE;
  plan_counts counts;
  double dt;
  options.threads = setup->threads;
  options.comm = setup->comm;
  options.isa = setup->isa;
  SIM_TRY(count_grains(p, setup, &options, &counts));
  collision_options_bound(p, setup->saved, &options);
  SIM_TRY(collision_walls_check_images(&options, p->integrate.t_end));
  plan_memory(&options, ops, setup, &counts, out);
  SIM_TRY(plan_step(p, setup, &options, counts.n, &dt));
  out->steps = collision_step_count(p->integrate.t_end, dt);
  out->t_end = p->integrate.t_end;
  out->work_per_step = counts.n;
  out->work_rate_guess = gpu ? (ops->exact ? 2e10 : 3e9) : cpu_rate(&options, ops->exact, counts.n);
  if (options.attracted)
    out->work_rate_guess /= 1 + attraction_work(p, counts.n, gpu) / (double)collision_gravity_every(p, dt);
  const double pulls = options.attracted ? 1 / (double)collision_gravity_every(p, dt) : 0; /* in a step */
  plan_ranks(&options, ops, counts.n, pulls, gpu, out);
  return SIM_OK;
}

static sim_status plan(const void *parameters, const sim_setup *setup, sim_plan *out) {
  collision_options options;
  SIM_TRY(collision_options_fill(parameters, &options));
  sim_status status = plan_for(parameters, setup, options, out);
  collision_options_free(&options);
  return status;
}

/* ---- create and destroy ---- */

static void destroy(void **self) {
  collision_run *run = *self;
  if (run == NULL) return;
  run->ops->destroy(&run->work);
  collision_flow_destroy(run);
  collision_motion_destroy(run);
  collision_gravity_destroy(run);
  collision_options_free(&run->options);
  for (int which = 0; which < COLLISION_ARRAYS; which++) sim_buffer_destroy(&run->array[which]);
  free(run);
  *self = NULL;
}

static sim_status create(const void *parameters, const sim_setup *setup, sim_clock *clock, void **self) {
  collision_run *run = calloc(1, sizeof *run);
  *self = run;
  if (run == NULL) return sim_no_memory("the model");
  run->parameters = parameters;
  run->ops = choose_ops(parameters, setup);
  run->sums_step = run->profile_step = -1;
  sim_status status = collision_start(run, setup);
  if (status != SIM_OK) {
    destroy(self);
    return status;
  }
  *clock = setup->saved != NULL ? setup->saved->clock : (sim_clock){.dt = run->dt};
  clock->t_end = run->parameters->integrate.t_end;
  if (setup->saved == NULL) clock->dt = fmin(clock->dt, clock->t_end);
  return SIM_OK;
}

static sim_status step(void *self, sim_clock *clock) {
  collision_run *run = self;
  double after;
  SIM_TRY(collision_servo_step(run, clock));
  if (run->gravity != NULL) SIM_TRY(collision_gravity_step(run, clock));
  const double dt = sim_clock_step(clock, run->dt, &after);
  clock->t = after;
  if (run->options.walls > 0) SIM_TRY(collision_motion_step(run, clock->t, dt));
  sim_status status = run->n > 0 ? run->ops->step(run->work, clock->t, dt) : SIM_OK;
  if (status == SIM_ERR_DIVERGED)
    return name_grain(run, &(sim_clock){.step = clock->step + 1, .t = clock->t}); /* the step that failed */
  SIM_TRY(status);
  clock->step++;
  clock->dt = dt;
  SIM_TRY(collision_merge_step(run, clock));
  if (!run->options.varies || clock->step % COLLISION_FLOW_STEPS != 0) return SIM_OK;
  const int64_t n = run->n;
  status = collision_flow_step(run, clock);
  return status == SIM_ERR_DIVERGED && run->n == n ? name_grain(run, clock) : status; /* n: before the exchange */
}

/* Writes "4 grains", "1 clump of 4 spheres" or "30 clumps of 120 spheres, 8 grains". */
static void describe_count(const collision_run *run, char *out, size_t capacity) {
  const int64_t loose = collision_body_count(run) - run->bodies, spheres = run->n - loose;
  int used = 0;
  if (run->bodies > 0)
    used = snprintf(out, capacity, "%" PRId64 " %s of %" PRId64 " spheres%s", run->bodies,
                    run->bodies == 1 ? "clump" : "clumps", spheres, loose > 0 ? ", " : "");
  if (loose > 0 || run->bodies == 0)
    snprintf(out + used, capacity - (size_t)used, "%" PRId64 " %s", loose, loose == 1 ? "grain" : "grains");
}

static void describe(const void *self, char *out, size_t capacity) {
  const collision_run *run = self;
  fixed_point_system system;
  const char *excluded = NULL;
  char attraction[64] = "", count[128];
  if (run->gravity != NULL)
    snprintf(attraction, sizeof attraction, ", self-gravity every %" PRId64 " steps",
             collision_gravity_every(run->parameters, run->dt));
  if (!run->ops->exact && run->ops->dtype == SIM_F32) {
    excluded = run->options.varies
                   ? "inlets and outlets"
                   : collision_fixed_point_excludes(&run->options, run->n, run->array[COLLISION_MASS].data,
                                                    run->array[COLLISION_RADIUS].data, &system);
    if (excluded == NULL) excluded = "grains as fast as these";
  }
  describe_count(run, count, sizeof count);
  snprintf(out, capacity, "%s, %s contacts%s, %d %s, step %.6g%s%s%s%s%s", count,
           run->options.force == COLLISION_HERTZ    ? "Hertz"
           : run->options.force == COLLISION_CUSTOM ? "custom"
                                                    : "linear",
           run->options.law_springs > 0 ? " with friction" : "", run->options.walls,
           run->options.walls == 1 ? "wall" : "walls", run->dt, attraction,
           run->ops->exact ? ", fixed-point solver" : "",
           excluded != NULL ? ", general solver (fixed point excludes " : "", excluded != NULL ? excluded : "",
           excluded != NULL ? ")" : "");
}

static const char *const references[] = {
    "P. A. Cundall and O. D. L. Strack, Geotechnique 29 (1979) 47: contacts with springs and dashpots",
    "R. D. Mindlin and H. Deresiewicz, J. Appl. Mech. 20 (1953) 327: tangential contact of spheres",
    "T. Schwager and T. Poeschel, Granular Matter 9 (2007) 465: restitution of the linear dashpot",
    "M. Antypov and J. A. Elliott, EPL 94 (2011) 50004: a dashpot for Hertz's law with a given restitution",
    "S. Luding, Granular Matter 10 (2008) 235: rolling and twisting springs",
    "T. Schwager and T. Poeschel, Granular Matter 9 (2007) 465: dashpots that never pull",
    "J. Ai, J.-F. Chen, J. M. Rotter and J. Y. Ooi, Powder Technol. 206 (2011) 269: models of rolling resistance",
    "J. S. Marshall, J. Comput. Phys. 228 (2009) 1541: twisting resistance of a disc of contact",
    "K. L. Johnson, K. Kendall and A. D. Roberts, Proc. R. Soc. A 324 (1971) 301: adhesive contact",
    "A. Dullweber, B. Leimkuhler and R. McLachlan, J. Chem. Phys. 107 (1997) 5840: symplectic turns of rigid bodies",
    "G. W. Hill, Am. J. Math. 1 (1878) 5: motion near a circular orbit",
    "H. Rein and S. Tremaine, MNRAS 415 (2011) 3168: symplectic steps of Hill's equations",
    "J. Barnes and P. Hut, Nature 324 (1986) 446: attraction by a tree of cells",
    "H. Salo, Icarus 117 (1995) 287: self-gravity of a sheared patch with images",
    "C. D. Willett, M. J. Adams, S. A. Johnson and J. P. K. Seville, Langmuir 16 (2000) 9396: force of a liquid bridge",
    "G. Lian, C. Thornton and M. J. Adams, J. Colloid Interface Sci. 161 (1993) 138: rupture of a liquid bridge",
    "G. K. Batchelor and R. W. O'Brien, Proc. R. Soc. A 355 (1977) 313: heat through a contact of spheres",
    "B. V. Derjaguin, V. M. Muller and Yu. P. Toporov, J. Colloid Interface Sci. 53 (1975) 314: cohesion",
    NULL};

static const char example[] = "-- A granular gas that cools. Save as gas.lua; run with: sim gas.lua\n"
                              "return sim.collision {\n"
                              "  title     = \"Granular gas\",\n"
                              "  precision = \"single\",\n"
                              "  box       = { size = {1, 1, 1}, boundary = \"periodic\" },\n"
                              "  grains    = { sim.random_spheres { n = 500, radius = 0.04, temperature = 1e-5 } },\n"
                              "  contact   = { law = \"linear\", contact_time = 0.004, restitution = 0.9 },\n"
                              "  integrate = { dt = \"auto\", t_end = 1 },\n"
                              "  output    = { snapshots = \"every 0.5\", tables = \"every 0.1\" },\n"
                              "}\n";

const sim_model collision_model = {
    .name = "collision",
    .doc = "collisions and flow of spherical grains (discrete element method)",
    .example = example,
    .references = references,
    .parameters = &collision_schema,
    .tables = collision_tables,
    .described = collision_described,
    .state = collision_state_fields,
    .work_unit = "grain steps",
    .backends = {[SIM_BACKEND_CPU] = {.runs = true}, [SIM_BACKEND_CUDA] = {.runs = true}},
    .precisions = {[SIM_SINGLE] = true, [SIM_DOUBLE] = true},
    .ranks = true,
    .bench = collision_bench,
    .validate = collision_validate,
    .tables_of = collision_tables_of,
    .supports = supports,
    .plan = plan,
    .create = create,
    .step = step,
    .observe = observe,
    .view = view,
    .describe = describe,
    .report = collision_overlap_report,
    .destroy = destroy,
};
