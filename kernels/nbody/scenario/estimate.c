/* Estimate of the work and the time of a run, for `sim check`. */
#include "kernels/nbody/cosmos/power.h"
#include "kernels/nbody/run.h"

#include "engine/log.h"

#include <math.h>
#include <omp.h>

/* Additions a second in functions of the scenario, an order of magnitude. */
static double function_rate(const nbody_options *options, sim_backend_kind kind) {
  static const double thread[SIM_ISA_COUNT] = {1e9, 2e9, 4e9};
  if (kind == SIM_BACKEND_CUDA) return 1e13;
  return thread[options->isa] * (options->n > 4096 ? options->threads : 1);
}

/* Table rows per step. */
static double rows_each(const sim_cadence *tables, const sim_plan *plan) {
  if (tables->kind == SIM_EVERY_STEPS) return 1 / tables->interval;
  return tables->kind == SIM_EVERY_TIME && plan->steps > 0 ? plan->t_end / plan->steps / tables->interval : 0;
}

/* Warns where the adaptive step of the Hermite scheme, which follows from the present force and its derivatives,
 * cannot foresee a force that begins later. */
static void warn_of_late_forces(const nbody_parameters *p, const nbody_laws *laws) {
  const nbody_integrate *i = &p->integrate;
  if (i->scheme == NBODY_HERMITE4 && isnan(i->dt) && isnan(i->dt_max) && laws->time_dependent)
    sim_log(SIM_LOG_WARN, "integrate.dt_max is not given: an adaptive step may miss a later change of the external "
                          "force; set dt_max if the force begins or switches");
}

/* Least eta in single precision: with a smaller one rounding may pass for a change of the force.
 *
 * Symbols: T: time in which the acceleration a changes; dt = sqrt(eta) T: Aarseth's step; r: distance of two bodies, x:
 * the coordinate that is rounded; e = 2^-24 x/r: relative rounding of their difference, and of a. nbody_crackle divides
 * 12 (a0 - a1), which is wrong by up to 12 sqrt(2) e a, by dt^3: a relative error of 17 e / eta^1.5 of the true a /
 * T^3. Where that is 1, the crackle is rounding, which grows as 1/dt^3: each step then shrinks the next. So eta > (17 *
 * 2^-24 x/r)^(2/3), which is 1e-3 for distances of a thirtieth of the coordinates (1e-2, the default of eta, for a
 * thousandth). */
static const double least_single_eta = 1e-3;

static void warn_of_rounded_steps(const nbody_parameters *p, const nbody_laws *laws) {
  const nbody_integrate *i = &p->integrate;
  const sim_precision precision = (sim_precision)p->common.precision;
  if (i->scheme != NBODY_HERMITE4 || !isnan(i->dt) || i->eta >= least_single_eta || precision == SIM_DOUBLE) return;
  if (precision == SIM_MIXED && laws->no_pairs) return; /* nothing is in single precision */
  sim_log(SIM_LOG_WARN,
          "integrate.eta = %.3g is below %g: in %s precision rounding of forces may pass for their change and make the "
          "adaptive step many times too short; take precision = \"double\", or a larger eta",
          i->eta, least_single_eta, sim_precision_name(precision));
}

/* Largest density contrast (root mean square) at the start. Zel'dovich's displacements are the first order of a series
 * in the contrast; the second order of the power is about the square of the contrast. */
static const double most_contrast = 0.3;

static void warn_of_late_start(const nbody_parameters *p) {
  const nbody_zeldovich *z = nbody_zeldovich_of(p);
  const nbody_expansion *e = &p->expansion;
  if (z == NULL || !e->given || !p->box.given) return;
  const nbody_power power = nbody_power_of(z, e);
  const double growth = nbody_growth(e, e->a_start) / nbody_growth(e, 1);
  const double contrast = growth * nbody_lattice_contrast(&power, p->box.size, z->n);
  if (contrast > most_contrast)
    sim_log(SIM_LOG_WARN,
            "sim.zeldovich: the density contrast at expansion.a_start = %.4g has a root mean square of %.2g by linear "
            "theory, which holds for contrasts up to about %.1g: take an earlier a_start, or a smaller sigma8 or power",
            e->a_start, contrast, most_contrast);
}

/* Mixed precision concerns pairs alone. */
static void tell_of_no_pairs(const nbody_parameters *p, const nbody_laws *laws) {
  if (p->common.precision == SIM_MIXED && laws->no_pairs)
    sim_log(SIM_LOG_INFO, "precision = \"mixed\" computes in double here: bodies exert no forces on each other");
}

/* Number of ranks that shorten a force: limited by the division of the force and by the processors; each rank has its
 * own GPU. */
static double ranks_at_work(const nbody_options *options, sim_backend_kind kind, const nbody_cost *cost) {
  double ranks = options->comm->size;
  if (cost->most_ranks > 0) ranks = fmin(ranks, cost->most_ranks);
  if (kind != SIM_BACKEND_CPU) return ranks;
  return fmax(1, fmin(ranks, (double)omp_get_num_procs() / options->threads));
}

/* Seconds of a row of the table `energy`, about one force in fp64; seconds of a measurement of the force error. */
static sim_status row_seconds(const nbody_options *options, const nbody_solver *solver, sim_backend_kind kind, double n,
                              double *row, double *measurement) {
  nbody_options wide = *options;
  nbody_cost cost;
  wide.single_pairs = wide.jerk = false;
  SIM_TRY(solver->estimate(&wide, n, &cost));
  cost.rate *= ranks_at_work(options, kind, &cost);
  const double pairs = 2 * fmin(n, NBODY_SAMPLES) / n; /* without Newton's third law */
  *measurement = solver->sample != NULL ? pairs * nbody_fmm_estimate_for(&wide, kind, n).direct : 0;
  *row = cost.interactions / cost.rate + cost.additions / function_rate(options, kind) +
         (solver->sample_potential != NULL ? 2 : 1) * *measurement;
  return SIM_OK;
}

sim_status nbody_estimate(const nbody_parameters *p, const nbody_options *options, const nbody_solver *solver,
                          sim_backend_kind kind, double n, sim_plan *out) {
  enum { IAS15_FORCES = 22 }; /* three iterations over seven nodes, and the force at the start */
  static const int scheme_forces[] = {[NBODY_LEAPFROG] = 1,
                                      [NBODY_YOSHIDA4] = 3,
                                      [NBODY_HERMITE4] = 2,
                                      [NBODY_IAS15] = IAS15_FORCES,
                                      [NBODY_WHFAST] = 1};
  const double forces = scheme_forces[p->integrate.scheme]; /* a lower bound for individual steps */
  const nbody_laws *laws = &options->laws;
  double external, observe = 0;
  nbody_cost cost;
  if (!options->begun) warn_of_late_start(p);
  warn_of_late_forces(p, laws);
  warn_of_rounded_steps(p, laws);
  tell_of_no_pairs(p, laws);
  SIM_TRY(solver->estimate(options, n, &cost));
  out->most_ranks = cost.most_ranks;
  if (options->comm->size > 1) {
    out->bytes_received = forces * cost.bytes_received;
    out->exchanges = forces * cost.exchanges;
    out->undivided = cost.undivided;
  }
  cost.rate *= ranks_at_work(options, kind, &cost);
  SIM_TRY(nbody_laws_work(laws->external, options->jerk ? 6 : 3, &external));
  out->steps = nbody_step_count(p);
  out->t_end = p->integrate.t_end;
  out->work_per_step = cost.interactions * forces;
  for (size_t i = 0; options->observe != NULL && i < options->observe->count; i++)
    observe += sim_expr_work(options->observe->items[i].expr);
  const double additions =
      forces * (n * external + cost.additions) + n * observe * fmin(1, rows_each(&p->common.output.tables, out));
  double row, measurement;
  SIM_TRY(row_seconds(options, solver, kind, n, &row, &measurement));
  const double seconds = out->work_per_step / cost.rate + additions / function_rate(options, kind) +
                         row * fmin(1, rows_each(&p->common.output.tables, out)) + measurement / 64;
  out->work_rate_guess = out->work_per_step / seconds;
  if (p->integrate.steps == NBODY_INDIVIDUAL) out->work_most = ldexp(out->work_per_step, (int)p->integrate.levels);
  return SIM_OK;
}
