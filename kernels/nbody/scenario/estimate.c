/* What a run will take, for `sim check`. */
#include "kernels/nbody/run.h"

#include "engine/log.h"

#include <math.h>

/* Interactions a second, of the order of what the direct sum reaches; small N takes longer. */
static double rate_guess(const nbody_options *options, sim_backend_kind kind) {
  static const double wide[SIM_ISA_COUNT] = {0.3e9, 1e9, 2e9}, narrow[SIM_ISA_COUNT] = {0.5e9, 3e9, 6e9};
  const double full = (options->single_pairs ? narrow : wide)[options->isa], n = (double)options->n;
  if (kind == SIM_BACKEND_CUDA)
    return (options->single_pairs ? 1e12 : 3e11) * (options->jerk ? 0.5 : 1) * n / (n + 8192);
  return full * (options->jerk ? 0.5 : 1) * (n > 1024 ? options->threads : 1) * n / (n + 256);
}

/* Additions a second in functions of the scenario, which are evaluated in vectors. */
static double function_rate(const nbody_options *options, sim_backend_kind kind) {
  static const double thread[SIM_ISA_COUNT] = {1e9, 2e9, 4e9};
  if (kind == SIM_BACKEND_CUDA) return 1e13;
  return thread[options->isa] * (options->n > 4096 ? options->threads : 1);
}

static sim_status part_work(const sim_expr *expr, int count, double *out) {
  sim_expr *part;
  *out = 0;
  if (expr == NULL) return SIM_OK;
  SIM_TRY(nbody_laws_pick(expr, 0, count, &part));
  *out = sim_expr_work(part);
  sim_expr_free(&part);
  return SIM_OK;
}

/* Rows of tables in a step. */
static double rows_each(const sim_cadence *tables, const sim_plan *plan) {
  if (tables->kind == SIM_EVERY_STEPS) return 1 / tables->interval;
  return tables->kind == SIM_EVERY_TIME && plan->steps > 0 ? plan->t_end / plan->steps / tables->interval : 0;
}

/* The adaptive step of Hermite's scheme follows forces and their derivatives as they are by now. */
static void warn_of_late_forces(const nbody_parameters *p, const nbody_laws *laws) {
  const nbody_integrate *i = &p->integrate;
  if (i->scheme == NBODY_HERMITE4 && isnan(i->dt) && isnan(i->dt_max) && laws->timed)
    sim_log(SIM_LOG_WARN, "integrate.dt_max is not given: an adaptive step may be longer than what the external force "
                          "does at a later time; where it begins or switches, give dt_max");
}

sim_status nbody_estimate(const nbody_parameters *p, const nbody_options *options, sim_backend_kind kind, double n,
                          sim_plan *out) {
  static const int scheme_forces[] = {[NBODY_LEAPFROG] = 1, [NBODY_YOSHIDA4] = 3, [NBODY_HERMITE4] = 2};
  const double forces = scheme_forces[p->integrate.scheme];
  const nbody_laws *laws = &options->laws;
  double external, pair, observe = 0;
  warn_of_late_forces(p, laws);
  out->steps = nbody_step_count(&p->integrate);
  out->t_end = p->integrate.t_end;
  out->work_per_step = n * (laws->alone ? 1 : n) * forces;
  SIM_TRY(part_work(laws->external, options->jerk ? 6 : 3, &external));
  SIM_TRY(part_work(laws->alone ? NULL : laws->pair, options->jerk ? 2 : 1, &pair));
  for (size_t i = 0; options->observe != NULL && i < options->observe->count; i++)
    observe += sim_expr_work(options->observe->items[i].expr);
  const double functions = n * forces * (external + (laws->alone ? 0 : n * pair)) +
                           n * observe * fmin(1, rows_each(&p->common.output.tables, out));
  const double seconds = out->work_per_step / rate_guess(options, kind) + functions / function_rate(options, kind);
  out->work_rate_guess = out->work_per_step / seconds;
  return SIM_OK;
}
