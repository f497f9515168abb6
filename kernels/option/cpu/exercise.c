/* The regression of exercise rules on the CPU; its twin on a GPU is cuda/exercise.c. Each rank keeps the paths of its
 * share of the chunks; the chunks' sums of each date are gathered, and every rank solves the same equations. */
#include "kernels/option/cpu/exercise.h"

#include "engine/reduce.h"
#include "kernels/option/cpu/path.h"
#include "kernels/option/random/mrg.h"
#include "kernels/option/models/rough.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { MOMENTS = OPTION_REGRESSION_MOMENTS, SUMS = OPTION_REGRESSION_SUMS };

typedef option_cpu_regression regression;

/* What a path simulation needs beside the market. */
typedef struct simulation {
  option_dynamics *dynamics; /* [kinds][assets] */
  sim_expr_program *local[OPTION_ASSETS_MAX];
  option_feature *feature; /* [dates][prices] */
  double *cholesky;
  option_mrg *mrg;
  size_t scratch;
  char *room; /* [threads][scratch] */
  void **out; /* [threads][dates][prices] */
} simulation;

static sim_status make_simulation(const regression *f, const option_market *market, int asset, simulation *w) {
  const option_parameters *p = f->p;
  const size_t assets = (size_t)market->assets, prices = (size_t)f->prices, features = (size_t)f->rule.dates * prices;
  const size_t kinds = (size_t)market->grid.kinds;
  size_t program = 0;
  w->dynamics = calloc(kinds * assets, sizeof *w->dynamics);
  if (w->dynamics == NULL) return sim_no_memory("early exercise");
  if (market->dynamics != NULL) memcpy(w->dynamics, market->dynamics, kinds * assets * sizeof *w->dynamics);
  for (size_t a = 0; a < assets && market->dynamics != NULL; a++) {
    const sim_expr *expr = option_asset_at(p, (int)a)->local_vol;
    if (expr == NULL) continue;
    const sim_expr_target target = {.isa = f->isa, .uniform = (const bool[]){false, true}};
    SIM_TRY(sim_expr_program_create(expr, &target, &w->local[a]));
    for (size_t k = a; k < kinds * assets; k += assets) w->dynamics[k].local = w->local[a];
    program = (size_t)fmax((double)program, (double)sim_expr_program_scratch(w->local[a]) + 128);
  }
  if (option_any_rough(p)) program += option_rough_scratch((int)assets, market->steps);
  if (market->rates != NULL) program += option_rates_scratch(1);
  w->scratch = (option_path_scratch((int)assets, 1, program) + 63) / 64 * 64;
  w->feature = calloc(features, sizeof *w->feature);
  w->cholesky = calloc(assets * assets, sizeof *w->cholesky);
  w->room = aligned_alloc(64, w->scratch * (size_t)f->threads);
  w->out = calloc(features * (size_t)f->threads, sizeof *w->out);
  if (w->feature == NULL || w->cholesky == NULL || w->room == NULL || w->out == NULL)
    return sim_no_memory("early exercise");
  if (p->sampling.generator == OPTION_MRG32K3A) {
    w->mrg = malloc(sizeof *w->mrg);
    if (w->mrg == NULL) return sim_no_memory("random numbers");
    option_mrg_make(p->common.seed, w->mrg);
  }
  for (size_t k = 0; k < features; k++) {
    const size_t number = k % prices;
    w->feature[k] = (option_feature){.kind = number < assets ? OPTION_FIXING : OPTION_HIGHEST,
                                     .asset = asset < 0 ? (int)(number % assets) : asset,
                                     .step = f->rule.step[k / prices]};
    if (asset < 0 && number >= (f->rule.maxima ? 2 * assets : assets)) w->feature[k].kind = OPTION_VOLATILITY;
    if (market->rates != NULL && number + 1 + f->rule.rate >= prices) {
      w->feature[k].kind = number + 1 == prices ? OPTION_DEFLATOR : OPTION_RATE;
      w->feature[k].asset = -1;
    }
  }
  for (size_t k = 0, a = 0; k < features; k++) { /* the volatilities are those of some assets, in order */
    if (w->feature[k].kind != OPTION_VOLATILITY) continue;
    if (k == 0 || w->feature[k - 1].kind != OPTION_VOLATILITY) a = 0;
    while (!(f->rule.volatilities >> a & 1)) a++;
    w->feature[k].asset = (int)a++;
  }
  return option_cholesky(p, w->cholesky);
}

static void free_simulation(simulation *w) {
  for (int a = 0; a < OPTION_ASSETS_MAX; a++) sim_expr_program_free(&w->local[a]);
  free(w->dynamics);
  free(w->feature);
  free(w->cholesky);
  free(w->mrg);
  free(w->room);
  free(w->out);
}

/* Simulates the units [first, end) of OPTION_STARTS_UNIT paths, those of other ranks left out, and stores prices at the
 * exercise dates. */
static void run_paths(regression *f, const option_market *market, const simulation *w, int first, int end) {
  enum { UNIT = OPTION_STARTS_UNIT, UNITS = OPTION_CHUNK / UNIT };
  const option_parameters *p = f->p;
  option_path_kernel *kernel = option_path_find(false, f->isa);
  const size_t features = (size_t)f->rule.dates * (size_t)f->prices, row = (size_t)f->share * OPTION_CHUNK;
  const option_variant variant = {.drift = market->drift,
                                  .vol = market->vol,
                                  .spot = market->spot,
                                  .dynamics = market->dynamics != NULL ? w->dynamics : NULL,
                                  .kind = market->grid.kind,
                                  .time = market->grid.time,
                                  .rates = market->rates,
                                  .rise = market->rise,
                                  .tilt = market->tilt};
  const option_paths paths = {.seed = p->common.seed,
                              .assets = market->assets,
                              .steps = market->steps,
                              .variants = 1,
                              .features = (int)features,
                              .variant = &variant,
                              .feature = w->feature,
                              .cholesky = w->cholesky,
                              .mrg = w->mrg,
                              .cash = market->cash,
                              .rough = option_any_rough(p),
                              .rates = market->rates != NULL,
                              .far = true};
#pragma omp parallel for schedule(dynamic, 1) num_threads(f->threads)
  for (int c = f->first; c < f->end; c++) {
    const int from = c * UNITS > first ? c * UNITS : first, to = (c + 1) * UNITS < end ? (c + 1) * UNITS : end;
    if (from >= to) continue;
    const size_t thread = (size_t)omp_get_thread_num(), at = ((size_t)from - (size_t)f->first * UNITS) * UNIT;
    void **mine = w->out + thread * features;
    for (size_t k = 0; k < features; k++) mine[k] = f->price + k * row + at;
    kernel(&paths, OPTION_REGRESSION_FIRST + (uint64_t)from * UNIT, (to - from) * UNIT, mine,
           w->room + thread * w->scratch);
  }
}

/* Simulates the paths with one start. */
static sim_status run_start(regression *f, const option_market *market, int asset, int number, int count) {
  simulation *w = calloc(1, sizeof *w);
  if (w == NULL) return sim_no_memory("early exercise");
  const sim_status status = make_simulation(f, market, asset, w);
  int first, end;
  option_starts_units(number, count, f->chunks, &first, &end);
  if (status == SIM_OK) run_paths(f, market, w, first, end);
  free_simulation(w);
  free(w);
  return status;
}

static sim_status run_starts(regression *f, int asset) {
  const int count = option_starts_count(f->starts, f->chunks);
  sim_status status = SIM_OK;
  if (count == 1) return run_start(f, f->market, asset, 0, 1);
  for (int k = 0; k < count && status == SIM_OK; k++) {
    option_market market;
    SIM_TRY(option_starts_market(f->starts, k, &market));
    status = run_start(f, &market, asset, k, count);
    option_market_free(&market);
  }
  return status;
}

sim_status option_cpu_total(const regression *f, double *sum) {
  const size_t each = (size_t)f->sums_each, sent = (size_t)f->share * each;
  SIM_TRY(f->comm->ops->gather(f->comm, f->sums + (size_t)f->comm->rank * sent, sent * sizeof(double), f->sums));
  for (size_t k = 0; k < each; k++) { /* in the fixed tree of engine/reduce.h */
    for (int c = 0; c < f->chunks; c++) f->column[c] = f->sums[(size_t)c * each + k];
    sum[k] = sim_reduce_tree(f->column, (size_t)f->chunks);
  }
  return SIM_OK;
}

/* Sums of x^k and x^k cash over the paths of one chunk whose payoff at the date is positive. */
static void chunk_sums(const option_rule *r, const double *price, const double *cash, int count, double *sums) {
  memset(sums, 0, SUMS * sizeof *sums);
  for (int i = 0; i < count; i++) {
    if (!(option_rule_payoff(r, price[i]) > 0)) continue;
    const double x = (price[i] - r->centre) * r->scale;
    double power = 1;
    for (int k = 0; k <= 2 * r->degree; k++, power *= x) {
      sums[k] += power;
      if (k <= r->degree) sums[MOMENTS + k] += power * cash[i];
    }
  }
}

void option_cpu_release(regression *f) {
  free(f->price);
  f->price = NULL;
}

static void release(void *self) { option_cpu_release(self); }

sim_status option_cpu_simulate(regression *f, const option_rule *rule, int asset, int chunks) {
  size_t end;
  f->rule = *rule;
  f->chunks = chunks;
  f->prices = asset >= 0 ? 1 : option_rule_inputs(rule, f->market->assets) + (f->market->rates != NULL);
  f->share = (int)sim_comm_share(f->comm, (size_t)chunks);
  f->first = (int)sim_comm_first(f->comm, (size_t)chunks, &end);
  f->end = (int)end;
  const size_t all = (size_t)f->share * OPTION_CHUNK, rows = (size_t)f->share * (size_t)f->comm->size;
  const size_t kept = all * (size_t)rule->dates * (size_t)f->prices, each = (size_t)f->sums_each;
  const size_t numbers = kept + all + rows * each + (size_t)chunks;
  f->price = aligned_alloc(64, (numbers * sizeof(double) + 63) / 64 * 64);
  if (f->price == NULL) return sim_no_memory("early exercise");
  f->cash = f->price + kept;
  f->sums = f->cash + all;
  f->column = f->sums + rows * each;
  memset(f->cash, 0, (all + rows * each) * sizeof *f->cash);
  return run_starts(f, asset);
}

static sim_status simulate(void *self, const option_rule *rule, int asset, int chunks) {
  regression *f = self;
  f->sums_each = SUMS;
  return option_cpu_simulate(f, rule, asset, chunks);
}

static void exercise_chunk(const option_rule *r, const double *price, const double *beta, double *cash) {
  for (int i = 0; i < OPTION_CHUNK; i++) {
    const double x = (price[i] - r->centre) * r->scale, payoff = option_rule_payoff(r, price[i]);
    double hold = 0;
    for (int k = r->degree; k >= 0; k--) hold = hold * x + beta[k];
    if (payoff > 0 && payoff >= hold) cash[i] = payoff;
  }
}

static sim_status sums(void *self, const option_rule *rule, int date, const double *beta, double discount,
                       double *sum) {
  const regression *f = self;
  const size_t row = (size_t)f->share * OPTION_CHUNK;
  const double *price = f->price + (size_t)date * row;
#pragma omp parallel for schedule(static) num_threads(f->threads)
  for (int c = f->first; c < f->end; c++) {
    const size_t at = (size_t)(c - f->first) * OPTION_CHUNK;
    double *cash = f->cash + at;
    if (beta != NULL) exercise_chunk(rule, price + row + at, beta, cash);
    for (int i = 0; i < OPTION_CHUNK; i++) cash[i] *= discount;
    chunk_sums(rule, price + at, cash, OPTION_CHUNK, f->sums + (size_t)c * SUMS);
  }
  return option_cpu_total(f, sum);
}

sim_status option_policy_create(const option_starts *starts, const sim_setup *setup, option_policy *out) {
  regression f = {.p = starts->p,
                  .market = starts->market,
                  .starts = starts,
                  .comm = setup->comm,
                  .threads = setup->threads,
                  .isa = setup->isa};
  return option_policy_regress(
      starts->p, starts->market,
      &(option_regression){
          .self = &f, .simulate = simulate, .sums = sums, .release = release, .joint = option_cpu_joint},
      out);
}
