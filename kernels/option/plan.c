/* Plan of a run before it begins: memory, steps, work and exchanges. */
#include "kernels/option/run.h"
#include "kernels/option/cpu/leverage.h"
#include "kernels/option/result/paths.h"
#include "kernels/option/result/upper.h"
#include "kernels/option/models/rough.h"
#include "kernels/option/payoff/exercise.h"
#include "kernels/option/payoff/names.h"
#include "kernels/option/scenario/ladder.h"
#include "kernels/option/policies.h"

#include <math.h>
#include <omp.h>

/* Time of a step of an asset over that of a geometric Brownian motion, the mean over the assets (measured on a CPU in
 * single and double precision). A GPU has more arithmetic for its memory: half of it. */
static double step_cost(const option_parameters *p, bool cpu) {
  double sum = 0;
  for (int a = 0; a < (int)p->assets.count; a++) {
    const option_asset *of = option_asset_at(p, a);
    sum += of->leverage.given                            ? 8
           : of->heston.given                            ? 6
           : of->sabr.given                              ? 11
           : of->rough_bergomi.given                     ? 3
           : of->local_vol != NULL || of->vol_grid.given ? 4
                                                         : 1;
    sum += of->jumps.given;
  }
  const double mean = sum / (double)p->assets.count;
  return cpu ? mean : fmax(mean / 2, 1);
}

/* Path-steps of one regression of all exercise rules, with those that its sums are worth: of products of the functions
 * at each date. */
static double regression_work(const option_parameters *p, double step) {
  double work = 0;
  for (size_t i = 0; i < p->payoffs.count; i++) {
    const option_payoff *o = p->payoffs.items[i].data;
    if (p->payoffs.items[i].schema != &option_american_schema) continue;
    const double bases = option_rule_is_joint(p, o) ? option_joint_bases(p, o) : (double)o->degree + 1;
    work += (double)o->fit_paths * (step * (double)p->nodes * (double)p->assets.count +
                                    (1 + bases * bases / 50) * (double)option_date_count(p, o));
  }
  return work;
}

/* Time of a path over that of a path whose payoffs are functions of the prices at its steps: each market of a finite
 * difference adds a fifth, or a whole one where a rule of exercise sees all assets, and in every market an extreme
 * between the steps or its probability a half, a minimum and a maximum drawn jointly 31 (measured on a CPU, 252 steps).
 * *policies: rules of early exercise of all payoffs in one estimate. */
static sim_status cost_of(const option_parameters *p, double *out, int *policies) {
  option_estimate estimate;
  SIM_TRY(option_estimate_create(p, false, &estimate));
  const double markets = estimate.markets;
  *policies = option_policies_count(&estimate, p);
  double single = 0, joint = 0, market = 0.2;
  for (int f = 0; f < estimate.graph.features; f++) {
    const option_feature *of = &estimate.graph.feature[f];
    single += of->kind == OPTION_NOT_ABOVE || of->kind == OPTION_NOT_BELOW || of->kind == OPTION_HIGH ||
              of->kind == OPTION_LOW;
    if (of->kind == OPTION_EARLY && of->asset < 0) market = 1;
  }
  for (int a = 0; a < (int)p->assets.count; a++) joint += estimate.graph.joint >> a & 1;
  option_estimate_free(&estimate);
  const double past = option_any_rough(p) ? 0.02 * (double)p->nodes * markets : 0; /* sums over all earlier steps */
  const double laddered = option_ladder_markets(p), parts = option_ladder_parts(p), all = markets + laddered;
  *out = 1 + past * (1 + laddered / markets) + parts + market * (all - 1 - parts) + all * (0.5 * single + 31 * joint);
  return SIM_OK;
}

/* Whether steps of Greeks by a spot may be compared on the host, before the run: see result/steps.c. */
static bool wants_spots(const option_parameters *p) {
  bool any = false;
  for (int g = 0; g < OPTION_BUCKETS; g++)
    any |= p->greeks.want[g] && g != OPTION_VEGA && g != OPTION_RHO && g != OPTION_THETA && g != OPTION_VOLGA;
  return any && !p->sampling.multilevel;
}

/* Adds the host memory of what is computed beside the run's own paths; returns its sum. */
static double add_beside(const option_parameters *p, const sim_setup *host, sim_plan *out) {
  const struct {
    const char *what;
    double bytes;
  } item[] = {
      {"bias of the steps", option_bias_bytes(p, host)},        {"upper bounds", option_upper_bytes(p, host)},
      {"exposure of the book", option_exposure_bytes(p, host)}, {"levels of multilevel", option_levels_bytes(p, host)},
      {"paths for paths.h5", option_path_bytes(p, host)},       {"calibration of leverage", option_leverage_bytes(p)}};
  double sum = 0;
  for (size_t i = 0; i < sizeof item / sizeof item[0]; i++) {
    if (item[i].bytes > 0) sim_plan_add_host(out, item[i].what, item[i].bytes);
    sum += item[i].bytes;
  }
  return sum;
}

/* Adds the datasets of the end, in their order: see `dataset` in model.c. */
static void add_files(const option_parameters *p, sim_plan *out) {
  static const char *const buckets[] = {"vega_buckets.h5", "rho_buckets.h5"};
  const double payoffs = option_payoff_count(p);
  if (p->ladder.given) sim_plan_add_file(out, "ladder.h5", 4 * option_ladder_points(p) * payoffs * sizeof(double));
  for (int greek = OPTION_BUCKETS; greek < OPTION_GREEKS; greek++)
    if (p->greeks.want[greek])
      sim_plan_add_file(out, buckets[greek - OPTION_BUCKETS],
                        (2 * payoffs + 3) * p->buckets[greek - OPTION_BUCKETS] * sizeof(double));
  if (p->exposure.values > 0) sim_plan_add_file(out, "exposure.h5", option_value_bytes(p));
  if (p->paths.given)
    sim_plan_add_file(out, "paths.h5", option_path_numbers(p) + (double)p->paths.count * sizeof(double));
}

sim_status option_plan(const void *parameters, const sim_setup *setup, sim_plan *out) {
  const option_parameters *p = parameters;
  double cost;
  int policies;
  SIM_TRY(cost_of(p, &cost, &policies));
  const option_ops *ops = option_ops_of(setup->backend->kind);
  const double told = option_quantities(p, NULL), quantities = told + option_ladder_quantities(p),
               batch = option_paths_of(p, option_ladder_batch(p, ops));
  const double guess[SIM_ISA_COUNT] = {5e7, 1.5e8, 4e8};
  const double chunk = option_groups(p) > 1 ? fmin(option_block_samples(p), OPTION_CHUNK) : OPTION_CHUNK;
  const sim_setup host = option_host_setup(setup);
  sim_plan_add(out, "paths", ops->bytes(p, setup) + option_ladder_bytes(p, ops, setup));
  const double beside = add_beside(p, &host, out);
  const double pilot = setup->backend->kind != SIM_BACKEND_CPU && wants_spots(p) ? option_ops_cpu.bytes(p, &host) : 0;
  if (pilot > beside) sim_plan_add_host(out, "comparison of the steps of Greeks", pilot - beside);
  out->first_bytes += option_exposure_kept(p);
  add_files(p, out);
  out->checkpoint_bytes = option_state_bytes(p);
  out->work_per_step = batch * (double)p->nodes * (double)p->assets.count;
  const bool cpu = setup->backend->kind == SIM_BACKEND_CPU; /* a GPU takes whole logical blocks */
  const double unit = cpu ? chunk : option_groups(p) > 1 ? option_block_samples(p) : OPTION_BLOCK;
  out->most_ranks = (int)ceil(batch / (p->sampling.antithetic ? 2 : 1) / unit);
  if (setup->comm->size > 1) { /* sums of each quantity for each chunk or block */
    const double share = (double)sim_comm_share(setup->comm, (size_t)out->most_ranks);
    out->bytes_received = share * (setup->comm->size - 1) * (cpu ? 4 : 2) * quantities * sizeof(double);
    out->exchanges = 1 + option_ladder_parts(p);
  }
  option_policy_exchanges(p, setup->comm->size, &out->start_received, &out->start_exchanges);
  const int rules = (1 + option_has_bias(p)) * policies + option_wants_upper(p) + p->exposure.given +
                    (int)option_ladder_markets(p); /* each has exercise rules of its own */
  out->start_received *= rules;
  out->start_exchanges *= rules;
  option_exposure_exchanges(p, setup->comm->size, &out->start_received, &out->start_exchanges);
  out->parts = out->most_ranks;
  const double useful = sim_plan_shares(out, setup->comm->size);
  const double on_host = guess[host.isa] * fmin(host.threads * useful, omp_get_num_procs());
  out->work_rate_guess = cpu ? on_host : 8e11 * useful;
  const double in_double = 0.3, own = step_cost(p, cpu), host_cost = step_cost(p, true); /* in_double: of the rate */
  const double regressions = regression_work(p, host_cost) * (cpu ? rules : rules - policies);
  out->start_seconds =
      (option_upper_work(p) * host_cost + option_exposure_work(p) + option_leverage_work(p) + regressions) /
      (in_double * on_host);
  if (p->common.precision == SIM_DOUBLE) out->work_rate_guess *= in_double;
  out->work_rate_guess /= cost * own;
  if (option_has_bias(p)) { /* paths of its own beside the run's, on the host */
    const double more = option_bias_work(p) / p->sampling.paths;
    out->work_rate_guess = 1 / (1 / out->work_rate_guess + more * cost * host_cost / (in_double * on_host));
  }
  out->steps = isnan(p->sampling.standard_error) && !(p->sampling.time > 0) ? ceil(p->sampling.paths / batch) : NAN;
  out->t_end = p->sampling.paths;
  return SIM_OK;
}
