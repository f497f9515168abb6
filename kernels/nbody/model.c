/* The model's descriptor, and the start and the end of a run. */
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

/* Refuses bodies that overlap at the start, which would merge at once, and bodies beyond the radius of escape. */
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
    SIM_TRY(nbody_restore(run, setup));
  } else {
    nbody_groups groups;
    SIM_TRY(nbody_groups_list(p, setup, &groups));
    sim_status status = nbody_begin(run, p, setup, &groups);
    nbody_groups_free(&groups);
    if (status != SIM_OK) return status;
  }
  run->most = run->n;
  if (run->thermo_table >= 0 || run->thermostat.given) SIM_TRY(nbody_count_massive(run));
  run->options = nbody_options_for(p, &run->laws, setup, run->n, run->controller[NBODY_SPREAD]);
  run->options.crowd = run->crowd;
  SIM_TRY(nbody_settle_method(run));
  const nbody_choice settled = run->choice; /* choice with its reason */
  SIM_TRY(nbody_create_forces(run));
  if (settled.solver != NULL) memcpy(run->choice.why, settled.why, sizeof settled.why);
  warn_of_crowd(&run->options, setup->backend->kind, run->choice.method);
  if (setup->saved == NULL || !run->encounters) /* else the checkpoint's method, of the bodies at the start, stays */
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
  const nbody_sums *sums = nbody_sums_at(run, &(sim_clock){0});
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
  run->ops = nbody_ops_for(p, setup);
  run->integrate = p->integrate;
  run->may_stop = p->common.stop_when != NULL;
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
  run->box = nbody_box_of(p);
  run->softening = p->gravity.softening;
  run->sums_step = -1;
  run->tables = p->tables;
  run->force_error = (nbody_force_error){.potential = NAN,
                                         .asked = nbody_asked_error(p),
                                         .asked_tail = p->gravity.error_tail > 0 ? p->gravity.error_tail : INFINITY};
  sim_status status = start(run, p, setup);
  if (status != SIM_OK) {
    destroy(self);
    return status;
  }
  run->force_error.largest_median = run->controller[NBODY_LARGEST_MEDIAN]; /* at the start, or from the checkpoint */
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

static const sim_table *const *tables_of(const void *parameters) {
  return ((const nbody_parameters *)parameters)->tables;
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

/* Work done in `steps` steps. A force on some bodies counts as their share of a force on all. */
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
    .state = nbody_state_fields,
    .work_unit = "interactions",
    .backends = {[SIM_BACKEND_CPU] = {.runs = true}, [SIM_BACKEND_CUDA] = {.runs = true}},
    .precisions = {[SIM_SINGLE] = true, [SIM_MIXED] = true, [SIM_DOUBLE] = true},
    .ranks = true,
    .bench = nbody_bench,
    .validate = nbody_validate,
    .supports = supports,
    .tables_of = tables_of,
    .plan = nbody_plan,
    .create = create,
    .step = nbody_step,
    .work_done = work_done,
    .observe = nbody_observe,
    .view = nbody_view,
    .describe = describe,
    .report = report,
    .destroy = destroy,
};
