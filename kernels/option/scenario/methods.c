/* Rules about the requested methods of Greeks: which payoffs each can serve. */
#include "kernels/option/payoff/names.h"
#include "kernels/option/scenario/grid.h"
#include "kernels/option/scenario/motion.h"

#include <stdio.h>

static bool any_local(const option_parameters *p) {
  for (int a = 0; a < (int)p->assets.count; a++)
    if (!option_asset_is_scaled(option_asset_at(p, a))) return true;
  return false;
}

static bool any_cash(const option_parameters *p) {
  for (int a = 0; a < (int)p->assets.count; a++)
    if (option_asset_at(p, a)->dividends.rows > 0) return true;
  return false;
}

/* Theta moves all dates together, or else stretches all steps. */
static void check_theta(const option_parameters *p, sim_faults *faults) {
  const bool charm = !p->greeks.want[OPTION_THETA];
  if ((charm && !p->greeks.want[OPTION_CHARM]) || !option_is_dated(p)) return;
  for (size_t i = 0; i <= p->payoffs.count; i++) {
    const sim_item *item = i < p->payoffs.count ? &p->payoffs.items[i] : NULL;
    char path[64] = "payoff";
    if (item != NULL ? !option_at_steps(item) : !option_function_at_steps(p)) continue;
    if (item != NULL) snprintf(path, sizeof path, "payoffs[%zu]", i + 1);
    sim_faults_add(faults, item != NULL ? item->line : 0, path,
                   "greeks.%s: where the run has dates, %s moves them all, but this payoff observes prices at the "
                   "steps: expected dates of its own",
                   charm ? "charm" : "theta", charm ? "it" : "theta");
  }
}

/* Whether the scenario's function reads extremes between the steps. */
static bool sees_between(const option_parameters *p) {
  option_feature feature;
  for (int i = 0; i < sim_expr_input_count(p->payoff); i++)
    if (option_feature_parse(sim_expr_input_name(p->payoff, i), p, &feature) &&
        (feature.kind == OPTION_HIGH || feature.kind == OPTION_LOW))
      return true;
  return false;
}

/* Reason against a pathwise derivative, or NULL. */
static const char *against_path(const option_parameters *p, const sim_item *item) {
  if (any_local(p)) return "with sabr or a local volatility prices do not grow in proportion to the spot";
  if (any_cash(p)) return "with cash dividends prices do not grow in proportion to the spot";
  if (item == NULL)
    return sim_expr_may_jump(p->payoff) ? "a function with sim.where, floor, ceil, sign or % may jump, which a path's "
                                          "slope misses (sim.max and sim.min do not)"
                                        : NULL;
  const bool continuous = ((const option_payoff *)item->data)->monitoring == OPTION_CONTINUOUS;
  if (item->schema == &option_digital_schema) return "a digital jumps, which a path's slope misses";
  if (item->schema == &option_double_barrier_schema) return "a double barrier jumps, which a path's slope misses";
  if (item->schema == &option_barrier_schema)
    return continuous ? "a continuous barrier's probability has no slope here"
                      : "a barrier at the steps jumps, which a path's slope misses";
  if (item->schema == &option_american_schema) return "an early exercise jumps where it is decided";
  if (item->schema == &option_autocallable_schema) return "an autocallable jumps, which a path's slope misses";
  if (item->schema == &option_accumulator_schema) return "an accumulator jumps, which a path's slope misses";
  return NULL;
}

/* Reason against a likelihood ratio of the first step, or NULL: the payoff must be a function of the prices at the
 * steps alone. */
static const char *against_score(const option_parameters *p, const sim_item *item) {
  if (item != NULL && option_is_swap(item)) return "the first change of the price depends on the spot, too";
  if (item != NULL ? ((const option_payoff *)item->data)->monitoring == OPTION_CONTINUOUS : sees_between(p))
    return "what happens within the first step depends on the spot, too";
  return NULL;
}

/* Second derivatives by differences of a function that jumps: few paths jump, each by much, and their spread tells no
 * error. */
static void check_seconds(const option_parameters *p, sim_faults *faults) {
  bool jumps = p->payoff != NULL && sim_expr_may_jump(p->payoff);
  for (size_t i = 0; i < p->payoffs.count; i++) {
    const option_payoff *o = p->payoffs.items[i].data;
    jumps |=
        p->payoffs.items[i].schema == &option_american_schema && o->exercise != NULL && sim_expr_may_jump(o->exercise);
  }
  for (int g = OPTION_SECOND; g < OPTION_BUCKETS; g++) {
    char path[32];
    if (!p->greeks.want[g]) continue;
    snprintf(path, sizeof path, "greeks.%s", option_greek_names[g]);
    if (g == OPTION_CROSS_GAMMA && p->assets.count < 2)
      sim_faults_add(faults, 0, path, "expected two assets or more, got one");
    if (jumps)
      sim_faults_add(faults, 0, path,
                     "a function with sim.where, floor, ceil, sign or %% may jump, and differences of it tell no "
                     "error: expected one without (sim.max and sim.min do not jump), or a named payoff");
  }
}

/* What is paid at several dates is carried to its maturity by the discount factors of one market. */
static void check_rho_bucket(const option_parameters *p, sim_faults *faults) {
  for (size_t i = 0; p->greeks.want[OPTION_RHO_BUCKET] && i < p->payoffs.count; i++) {
    char path[64];
    if (!option_pays_at_dates(&p->payoffs.items[i])) continue;
    snprintf(path, sizeof path, "payoffs[%zu]", i + 1);
    sim_faults_add(faults, p->payoffs.items[i].line, path,
                   "greeks.rho_bucket: an %s has none: expected rho, or runs with other values of the node",
                   p->payoffs.items[i].schema->name);
  }
}

void option_check_methods(const option_parameters *p, sim_faults *faults) {
  const int method = p->greeks.method;
  const bool path = method == OPTION_PATHWISE;
  bool any = false;
  for (int g = 0; g < OPTION_GREEKS; g++) any |= p->greeks.want[g];
  if (!any && method != OPTION_AUTO)
    sim_faults_add(faults, 0, "greeks.method", "there is no Greek to estimate: expected delta = true, or another one");
  check_theta(p, faults);
  check_seconds(p, faults);
  check_rho_bucket(p, faults);
  if (!any || (!path && method != OPTION_LIKELIHOOD)) return;
  if (!path && p->assets.count > 1) {
    sim_faults_add(faults, 0, "greeks.method", "the likelihood ratio is for one asset alone: expected another method");
    return;
  }
  for (size_t i = 0; i <= p->payoffs.count; i++) {
    const sim_item *item = i < p->payoffs.count ? &p->payoffs.items[i] : NULL;
    if (item == NULL && p->payoff == NULL) continue;
    const char *against = path ? against_path(p, item) : against_score(p, item);
    char path_of[64] = "payoff";
    if (item != NULL) snprintf(path_of, sizeof path_of, "payoffs[%zu]", i + 1);
    if (against != NULL)
      sim_faults_add(faults, item != NULL ? item->line : 0, path_of,
                     "greeks.method = \"%s\": %s: expected \"auto\" or \"bump\"", path ? "pathwise" : "likelihood",
                     against);
  }
}
