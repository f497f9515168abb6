/* The descriptor; a run's beginning and end. */
#include "engine/log.h"
#include "engine/wall_clock.h"
#include "engine/run/startup.h"
#include "kernels/option/option.h"
#include "kernels/option/result/leverage.h"
#include "kernels/option/result/paths.h"
#include "kernels/option/result/tables.h"
#include "kernels/option/result/upper.h"
#include "kernels/option/run.h"
#include "kernels/option/scenario/ladder.h"
#include "kernels/option/models/correlation.h"
#include "kernels/option/models/heston.h"
#include "kernels/option/models/heston_steps.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void destroy(void **self) {
  option_run *run = *self;
  if (run == NULL) return;
  if (run->ops != NULL) run->ops->destroy(&run->sampler);
  option_ladder_destroy(run);
  free(run->dataset);
  free(run->labels);
  option_bias_destroy(&run->bias);
  option_levels_destroy(&run->levels);
  if (run->exposure != NULL) option_exposure_free(run->exposure);
  free(run->exposure);
  free(run->quotes);
  free(run->quantity);
  free(run->unmoved);
  free(run->mean);
  free(run);
  *self = NULL;
}

/* fp32 rounds prices to 2^-24: below 2e-4 of deviation that changes probabilities by more than 1e-4. */
static void warn_of_rounding(const option_parameters *p) {
  double shortest = p->maturity;
  for (int k = 0; k < option_payoff_count(p); k++) shortest = fmin(shortest, option_maturity_of(p, k));
  for (int a = 0; option_is_single(p) && a < (int)p->assets.count; a++) {
    const double deviation = option_least_volatility(p, a) * sqrt(shortest);
    if (!(deviation > 0 && deviation < 2e-4) || option_asset_at(p, a)->jumps.given) continue;
    sim_log(
        SIM_LOG_WARN,
        "precision: \"mixed\" rounds prices to 6e-8 of them, and assets[%d] moves by %.2g until the first maturity: "
        "what depends on its price may be off by more than the errors tell; expected \"double\"",
        a + 1, deviation);
  }
}

static void warn_of_tables(const option_parameters *p) {
  for (int g = 0; g < OPTION_GREEKS; g++)
    if (p->untabled[g])
      sim_log(SIM_LOG_WARN,
              "greeks: %s has too many numbers for a table: only the lines at the end of the run have them",
              option_greek_names[g]);
}

/* Warns of Greeks whose errors are large by their nature. */
static void warn_of_greeks(const option_parameters *p) {
  const double first = option_first_date(p), ratio = sqrt(p->maturity / first);
  bool any = false;
  for (int g = 0; g < OPTION_GREEKS; g++) any |= p->greeks.want[g];
  for (size_t i = 0; i < p->payoffs.count && any; i++) {
    const option_payoff *o = p->payoffs.items[i].data;
    if (p->payoffs.items[i].schema != &option_double_barrier_schema || o->monitoring != OPTION_CONTINUOUS) continue;
    sim_log(
        SIM_LOG_WARN,
        "payoffs[%zu]: Greeks of a continuous double barrier are differences of payoffs that jump, with large errors: "
        "look at these, or take monitoring = \"steps\"",
        i + 1);
    break;
  }
  if (p->greeks.want[OPTION_THETA] && isfinite(first) && ratio > 30)
    sim_log(SIM_LOG_WARN,
            "greeks.theta: moves the first date %.3g, and its error is about %.0f times that of a first date near the "
            "maturity: look at it, or leave that date out",
            first, ratio);
}

/* Blocks of a step for which there is room: a small run has few, whose memory takes no time. */
static size_t block_room(const option_run *run) {
  const option_parameters *p = run->parameters;
  const double all = ceil(p->sampling.paths / run->pair / OPTION_BLOCK) + run->groups;
  const bool known = isnan(p->sampling.standard_error) && all < run->batch;
  return known ? (size_t)all : (size_t)run->batch;
}

static sim_status make(option_run *run, const sim_setup *setup, sim_clock *clock) {
  const option_parameters *p = run->parameters;
  run->setup = *setup;
  run->told = option_quantities(p, NULL);
  run->quantities = run->told + option_ladder_quantities(p);
  run->pair = p->sampling.antithetic ? 2 : 1;
  run->groups = option_groups(p);
  run->unit = option_unit(p);
  run->block = run->groups > 1 ? option_block_samples(p) : OPTION_BLOCK;
  run->round = (double)run->block * run->groups;
  run->ops = option_ops_of(setup->backend->kind);
  run->group = run->ops->lanes == 0 ? run->block : fmin(run->block, OPTION_CHUNK);
  if (run->groups == 1 && run->ops->lanes > 0) run->group /= run->ops->lanes; /* of Sobol's points whole chunks */
  const size_t q = (size_t)run->quantities, all = q * (size_t)run->groups;
  run->comm = setup->comm;
  run->batch = option_ladder_batch(p, run->ops);
  const size_t room = all * block_room(run);
  run->quantity = calloc(q, sizeof *run->quantity);
  run->unmoved = calloc(2 * q, sizeof *run->unmoved);
  run->mean = calloc(2 * (2 * all + 2 * room) + 4 * (size_t)option_payoff_count(p) + 13 * q, sizeof(double));
  if (run->mean == NULL || run->quantity == NULL || run->unmoved == NULL) return sim_no_memory("the sums");
  run->kinked = run->unmoved + q;
  option_parameters listed = *p;
  listed.points = option_ladder_points(p);
  option_quantities(&listed, run->quantity);
  run->squares = run->mean + all;
  run->whole = run->squares + all;
  run->block_mean = run->whole + 2 * all;
  run->block_squares = run->block_mean + room;
  run->block_tails = run->block_squares + room;
  run->tails = run->block_tails + 2 * room;
  run->whole_tails = run->tails + 2 * q;
  run->bias_mean = run->whole_tails + 2 * q;
  run->bias_squares = run->bias_mean + q;
  run->rest = run->bias_squares + q;
  run->gap = run->rest + option_payoff_count(p);
  run->gap_error = run->gap + option_payoff_count(p);
  run->bias_doubt = run->gap_error + option_payoff_count(p);
  run->jump = run->bias_doubt + option_payoff_count(p);
  run->jump_deviation = run->jump + q;
  run->jump_factor = run->jump_deviation + q;
  run->inverse_step = run->jump_factor + q;
  run->step_error = run->inverse_step + q;
  run->step_change = run->step_error + q;
  run->step_share = run->step_change + q;
  warn_of_rounding(p);
  for (int a = 0; a < (int)p->assets.count; a++) {
    const option_heston *h = &option_asset_at(p, a)->heston;
    if (h->given) SIM_TRY(option_heston_remark(h, a, p->maturity));
  }
  SIM_TRY(option_warn_heston(p, run->bias_doubt));
  SIM_TRY(option_warn_correlation(p));
  for (size_t i = 0; i < p->payoffs.count; i++) {
    const option_payoff *o = p->payoffs.items[i].data;
    if (p->payoffs.items[i].schema == &option_autocallable_schema && o->coupon >= 1)
      sim_log(SIM_LOG_INFO, "payoffs[%zu]: coupon = %.9g is %.9g %% of cash for each date", i + 1, o->coupon,
              100 * o->coupon);
  }
  if (p->sampling.paths != p->asked_paths)
    sim_log(SIM_LOG_INFO, "sampling.paths: %.9g are rounded up to %.0f: %s", p->asked_paths, p->sampling.paths,
            p->sampling.moment_matching            ? "groups of 1024 samples with matched moments, 32 of them at least"
            : p->sampling.sequence == OPTION_SOBOL ? "each scramble has as many points, 16 or a power of two above"
            : p->sampling.antithetic               ? "antithetic paths come in pairs"
                                                   : "to an integer");
  SIM_TRY(option_find_jumps(run));
  SIM_TRY(option_find_long_steps(run));
  warn_of_greeks(p);
  warn_of_tables(p);
  const sim_setup host = option_host_setup(setup);
  SIM_TRY(option_leverage_find(run, &host));
  SIM_TRY(run->ops->create(p, setup, &run->sampler));
  SIM_TRY(option_ladder_create(run, setup));
  if (option_has_bias(p)) SIM_TRY(option_bias_create(p, setup, &run->bias));
  if (p->sampling.multilevel) SIM_TRY(option_levels_create(p, setup, run->certain, &run->levels));
  if (option_wants_upper(p)) SIM_TRY(option_upper_gaps(p, &host, run->gap, run->gap_error));
  if (p->exposure.given) {
    run->exposure = calloc(1, sizeof *run->exposure);
    if (run->exposure == NULL) return sim_no_memory("the exposure");
    SIM_TRY(option_exposure_create(p, &host, run->exposure));
  }
  run->begin = sim_wall_clock();
  *clock = setup->saved != NULL ? setup->saved->clock : (sim_clock){.dt = option_paths_of(p, run->batch)};
  if (setup->saved != NULL) SIM_TRY(option_state_restore(run, setup->saved, clock));
  clock->t_end = option_end_of(run, clock->t);
  return SIM_OK;
}

static sim_status create(const void *parameters, const sim_setup *setup, sim_clock *clock, void **self) {
  option_run *run = calloc(1, sizeof *run);
  *self = run;
  if (run == NULL) return sim_no_memory("the model");
  run->parameters = parameters;
  sim_startup("making the market and tables of points", 0, 0);
  const sim_status status = make(run, setup, clock);
  if (status != SIM_OK) destroy(self);
  return status;
}

/* The datasets that the scenario asks for. */
static sim_status dataset(void *self, const sim_clock *clock, int index, sim_dataset *out) {
  option_run *run = self;
  if (run->parameters->ladder.given && index-- == 0)
    return option_ladder_dataset(run, option_samples(run, clock->t), out);
  for (int greek = OPTION_BUCKETS; greek < OPTION_GREEKS; greek++)
    if (run->parameters->greeks.want[greek] && index-- == 0)
      return option_bucket_dataset(run, option_samples(run, clock->t), greek, out);
  if (run->parameters->exposure.values > 0 && index-- == 0) return option_value_dataset(run, out);
  return run->parameters->paths.given && index == 0 ? option_path_dataset(run, out) : SIM_OK;
}

static void describe(const void *self, char *out, size_t capacity) {
  const option_run *run = self;
  const option_parameters *p = run->parameters;
  const int payoffs = option_payoff_count(p);
  snprintf(out, capacity, "%d payoff%s on %zu asset%s, %lld step%s, %s", payoffs, payoffs == 1 ? "" : "s",
           p->assets.count, p->assets.count == 1 ? "" : "s", (long long)p->nodes, p->nodes == 1 ? "" : "s",
           run->ops->name(run->sampler));
}

static const sim_table *const *tables_of(const void *parameters) {
  return ((const option_parameters *)parameters)->tables;
}

static bool supports(const void *parameters, sim_backend_kind backend, char *lacks, size_t capacity) {
  const option_ops *ops = option_ops_of(backend);
  return ops->supports == NULL || ops->supports(parameters, lacks, capacity);
}

static const sim_table *const tables[] = {&option_price_table, NULL};
static const char *const references[] = {
    "P. Glasserman, Monte Carlo Methods in Financial Engineering, Springer 2003",
    "M. Broadie and P. Glasserman, Management Science 42 (1996) 269: pathwise and likelihood-ratio Greeks",
    "A. G. Z. Kemna and A. C. F. Vorst, Journal of Banking and Finance 14 (1990) 113: geometric control variate",
    "J. Salmon et al., SC11: Philox4x32-10", NULL};

const sim_model option_model = {
    .name = "option",
    .doc = "prices and Greeks of options by Monte Carlo simulation",
    .example = "-- A European call: Black and Scholes give 10.4506.\n"
               "return sim.option {\n"
               "  assets   = { { spot = 100, vol = 0.2 } },\n"
               "  rate     = 0.05,\n"
               "  maturity = 1,\n"
               "  payoffs  = { sim.european { strike = 100 } },\n"
               "  sampling = { paths = 2^20 },\n"
               "}\n",
    .references = references,
    .parameters = &option_schema,
    .tables = tables,
    .described = option_described,
    .tables_of = tables_of,
    .state = option_state,
    .work_unit = "path-steps",
    .backends = {[SIM_BACKEND_CPU] = {.runs = true}, [SIM_BACKEND_CUDA] = {.runs = true}},
    .precisions = {[SIM_MIXED] = true, [SIM_DOUBLE] = true},
    .ranks = true,
    .bench = option_bench,
    .validate = option_validate,
    .supports = supports,
    .plan = option_plan,
    .create = create,
    .step = option_step,
    .observe = option_observe,
    .view = option_view,
    .dataset = dataset,
    .describe = describe,
    .report = option_report,
    .remark = option_remark,
    .destroy = destroy,
};
