/* When to exercise early: least squares of what waiting brings, date by date from the last one backwards, on paths
 * where an exercise pays (Longstaff and Schwartz 2001). */
#include "engine/reduce.h"
#include "kernels/option/exercise.h"
#include "kernels/option/random/mrg.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { MOMENTS = OPTION_FIT_MOMENTS, SUMS = OPTION_FIT_SUMS, UNKNOWN = OPTION_DEGREE_MAX + 1 };

/* The paths on the CPU. */
typedef struct fit {
  const option_parameters *p;
  const option_market *market;
  option_rule rule;
  int chunks, threads;
  sim_isa isa;
  double *price, *cash; /* [dates][chunks * OPTION_CHUNK], [chunks * OPTION_CHUNK] */
  double *sums;         /* [chunks][SUMS] */
  double *column;       /* [chunks] */
} fit;

/* What a walk needs beside the market. */
typedef struct walker {
  option_mover mover[OPTION_ASSETS_MAX];
  sim_expr_program *local[OPTION_ASSETS_MAX];
  option_feature *feature; /* [dates] */
  double *cholesky;
  option_mrg *mrg;
  size_t scratch;
  char *room; /* [threads][scratch] */
  void **out; /* [threads][dates] */
} walker;

static sim_status make_walker(const fit *f, const option_parameters *p, int asset, sim_isa isa, walker *w) {
  const option_market *market = f->market;
  const size_t assets = (size_t)market->assets, dates = (size_t)f->rule.dates;
  size_t program = 0;
  for (size_t a = 0; a < assets && market->mover != NULL; a++) {
    const sim_expr *expr = option_asset_at(p, (int)a)->local_vol;
    w->mover[a] = market->mover[a];
    if (expr == NULL) continue;
    const sim_expr_target target = {.isa = isa, .uniform = (const bool[]){false, true}};
    SIM_TRY(sim_expr_program_create(expr, &target, &w->local[a]));
    w->mover[a].local = w->local[a];
    program = (size_t)fmax((double)program, (double)sim_expr_program_scratch(w->local[a]) + 128);
  }
  w->scratch = (option_path_scratch((int)assets, 1, program) + 63) / 64 * 64;
  w->feature = calloc(dates, sizeof *w->feature);
  w->cholesky = calloc(assets * assets, sizeof *w->cholesky);
  w->room = aligned_alloc(64, w->scratch * (size_t)f->threads);
  w->out = calloc(dates * (size_t)f->threads, sizeof *w->out);
  if (w->feature == NULL || w->cholesky == NULL || w->room == NULL || w->out == NULL)
    return sim_no_memory("early exercise");
  if (p->sampling.generator == OPTION_MRG32K3A) {
    w->mrg = malloc(sizeof *w->mrg);
    if (w->mrg == NULL) return sim_no_memory("random numbers");
    option_mrg_make(p->common.seed, w->mrg);
  }
  for (size_t d = 0; d < dates; d++)
    w->feature[d] = (option_feature){.kind = OPTION_FIXING, .asset = asset, .step = (int)(d + 1) * f->rule.every};
  return option_cholesky(p, w->cholesky);
}

static void free_walker(walker *w) {
  for (int a = 0; a < OPTION_ASSETS_MAX; a++) sim_expr_program_free(&w->local[a]);
  free(w->feature);
  free(w->cholesky);
  free(w->mrg);
  free(w->room);
  free(w->out);
}

/* Prices at the dates. */
static void walk(fit *f, const option_parameters *p, const walker *w, option_path_kernel *kernel) {
  const option_market *market = f->market;
  const size_t dates = (size_t)f->rule.dates, row = (size_t)f->chunks * OPTION_CHUNK;
  const option_variant variant = {.drift = market->drift,
                                  .vol = market->vol,
                                  .spot = market->spot,
                                  .mover = market->mover != NULL ? w->mover : NULL};
  const option_paths paths = {.seed = p->common.seed,
                              .assets = market->assets,
                              .steps = market->steps,
                              .variants = 1,
                              .features = (int)dates,
                              .variant = &variant,
                              .feature = w->feature,
                              .cholesky = w->cholesky,
                              .mrg = w->mrg,
                              .far = true};
#pragma omp parallel for schedule(dynamic, 1) num_threads(f->threads)
  for (int c = 0; c < f->chunks; c++) {
    const size_t thread = (size_t)omp_get_thread_num();
    void **mine = w->out + thread * dates;
    for (size_t d = 0; d < dates; d++) mine[d] = f->price + d * row + (size_t)c * OPTION_CHUNK;
    kernel(&paths, OPTION_FIT_FIRST + (uint64_t)c * OPTION_CHUNK, OPTION_CHUNK, mine, w->room + thread * w->scratch);
  }
}

static double pays(const option_rule *r, double price) { return r->sign * (price - r->strike); }

/* Sum k of all chunks, by the tree. */
static double total(const fit *f, int k) {
  for (int c = 0; c < f->chunks; c++) f->column[c] = f->sums[(size_t)c * SUMS + (size_t)k];
  return sim_reduce_tree(f->column, (size_t)f->chunks);
}

/* Powers of x, and x^k cash, of the paths of one chunk that would be paid at the date. */
static void chunk_sums(const option_rule *r, const double *price, const double *cash, int count, double *sums) {
  memset(sums, 0, SUMS * sizeof *sums);
  for (int i = 0; i < count; i++) {
    if (!(pays(r, price[i]) > 0)) continue;
    const double x = (price[i] - r->centre) * r->scale;
    double power = 1;
    for (int k = 0; k <= 2 * r->degree; k++, power *= x) {
      sums[k] += power;
      if (k <= r->degree) sums[MOMENTS + k] += power * cash[i];
    }
  }
}

/* Cholesky's factor of the normal equations; returns the unknowns before they are singular. */
static int factor(const double *sum, int unknowns, double l[UNKNOWN][UNKNOWN]) {
  for (int n = 0; n < unknowns; n++)
    for (int j = 0; j <= n; j++) {
      double s = sum[n + j];
      for (int k = 0; k < j; k++) s -= l[n][k] * l[j][k];
      if (j == n && !(s > 1e-11 * sum[2 * n])) return n;
      l[n][j] = j < n ? s / l[j][j] : sqrt(s);
    }
  return unknowns;
}

/* The degree is lowered where they are singular. Returns unknowns solved. */
static int solve(const double *sum, int unknowns, double *beta) {
  double l[UNKNOWN][UNKNOWN];
  const int n = factor(sum, unknowns, l);
  for (int i = 0; i < n; i++) {
    double s = sum[MOMENTS + i];
    for (int k = 0; k < i; k++) s -= l[i][k] * beta[k];
    beta[i] = s / l[i][i];
  }
  for (int i = n - 1; i >= 0; i--) {
    for (int k = i + 1; k < n; k++) beta[i] -= l[k][i] * beta[k];
    beta[i] /= l[i][i];
  }
  return n;
}

/* ---- on the CPU ---- */

static void end_on_cpu(void *self) {
  fit *f = self;
  free(f->price);
  f->price = NULL;
}

static sim_status walk_on_cpu(void *self, const option_rule *rule, int asset, int chunks) {
  fit *f = self;
  const size_t all = (size_t)chunks * OPTION_CHUNK;
  const size_t numbers = all * ((size_t)rule->dates + 1) + (size_t)chunks * (SUMS + 1);
  f->rule = *rule;
  f->chunks = chunks;
  f->price = aligned_alloc(64, (numbers * sizeof(double) + 63) / 64 * 64);
  if (f->price == NULL) return sim_no_memory("early exercise");
  f->cash = f->price + all * (size_t)rule->dates;
  f->sums = f->cash + all;
  f->column = f->sums + (size_t)chunks * SUMS;
  memset(f->cash, 0, all * sizeof *f->cash);
  walker *w = calloc(1, sizeof *w);
  const sim_status status = w != NULL ? make_walker(f, f->p, asset, f->isa, w) : sim_no_memory("a walk");
  if (status == SIM_OK) walk(f, f->p, w, option_path_find(false, f->isa));
  if (w != NULL) free_walker(w);
  free(w);
  return status;
}

static void exercise_chunk(const option_rule *r, const double *price, const double *beta, double *cash) {
  for (int i = 0; i < OPTION_CHUNK; i++) {
    const double x = (price[i] - r->centre) * r->scale, payoff = pays(r, price[i]);
    double hold = 0;
    for (int k = r->degree; k >= 0; k--) hold = hold * x + beta[k];
    if (payoff > 0 && payoff >= hold) cash[i] = payoff;
  }
}

static sim_status sums_on_cpu(void *self, const option_rule *rule, int date, const double *beta, double discount,
                              double *sum) {
  const fit *f = self;
  const size_t row = (size_t)f->chunks * OPTION_CHUNK;
  const double *price = f->price + (size_t)date * row;
#pragma omp parallel for schedule(static) num_threads(f->threads)
  for (int c = 0; c < f->chunks; c++) {
    const size_t at = (size_t)c * OPTION_CHUNK;
    double *cash = f->cash + at;
    if (beta != NULL) exercise_chunk(rule, price + row + at, beta, cash);
    for (int i = 0; i < OPTION_CHUNK; i++) cash[i] *= discount;
    chunk_sums(rule, price + at, cash, OPTION_CHUNK, f->sums + (size_t)c * SUMS);
  }
  for (int k = 0; k < SUMS; k++) sum[k] = total(f, k);
  return SIM_OK;
}

/* ---- anywhere ---- */

/* Prices near the middle of those that pay, in units of twice their deviation: well-conditioned powers. */
static sim_status set_scale(const option_fitter *fitter, option_rule *rule) {
  double n = 0, mean = 0, square = 0, sum[SUMS];
  option_rule line = *rule;
  line.centre = rule->centre = rule->strike;
  line.scale = rule->scale = 1 / rule->strike;
  line.degree = 1;
  for (int d = 0; d < rule->dates; d++) {
    SIM_TRY(fitter->sums(fitter->self, &line, d, NULL, 1, sum));
    n += sum[0];
    mean += sum[1];
    square += sum[2];
  }
  if (n < 2) return SIM_OK;
  mean /= n;
  const double variance = square / n - mean * mean;
  rule->centre += mean * rule->strike;
  if (variance > 0) rule->scale = 1 / (2 * sqrt(variance) * rule->strike);
  return SIM_OK;
}

/* At the last date waiting brings nothing. */
static sim_status go_back(const option_fitter *fitter, const option_rule *r, const double *bond, double *beta) {
  for (int date = r->dates - 2; date >= 0; date--) {
    double *mine = beta + (size_t)date * UNKNOWN, sum[SUMS];
    const int step = (date + 1) * r->every - 1;
    SIM_TRY(fitter->sums(fitter->self, r, date, mine + UNKNOWN, bond[step + r->every] / bond[step], sum));
    /* With fewer than 20 paths a number nothing is known: it is not exercised then. */
    const int most = (int)fmin(r->degree + 1, sum[0] / 20);
    if (solve(sum, most, mine) == 0) mine[0] = 1e30;
  }
  return SIM_OK;
}

static sim_status make_rule(const option_fitter *fitter, const double *bond, int asset, int chunks, option_rule *rule,
                            double *beta) {
  sim_status status = fitter->walk(fitter->self, rule, asset, chunks);
  if (status == SIM_OK) status = set_scale(fitter, rule);
  if (status == SIM_OK) status = go_back(fitter, rule, bond, beta);
  fitter->end(fitter->self);
  return status;
}

static size_t numbers_of(const sim_item *item, int64_t steps) {
  return (size_t)(steps / ((const option_payoff *)item->data)->every) * UNKNOWN;
}

sim_status option_policy_fit(const option_parameters *p, const option_market *market, const option_fitter *fitter,
                             option_policy *out) {
  size_t numbers = 0;
  *out = (option_policy){.count = (int)p->payoffs.count};
  for (size_t i = 0; i < p->payoffs.count; i++)
    if (p->payoffs.items[i].schema == &option_american_schema) numbers += numbers_of(&p->payoffs.items[i], p->steps);
  if (numbers == 0) return SIM_OK;
  out->rule = calloc(p->payoffs.count, sizeof *out->rule);
  double *beta = out->numbers = calloc(numbers, sizeof(double) + sizeof(float));
  if (out->rule == NULL || beta == NULL) return sim_no_memory("early exercise");
  float *single = (float *)(void *)(beta + numbers);
  for (size_t i = 0; i < p->payoffs.count; i++) {
    const sim_item *item = &p->payoffs.items[i];
    if (item->schema != &option_american_schema) continue;
    const option_payoff *o = item->data;
    option_rule *rule = &out->rule[i];
    *rule = (option_rule){.single = p->common.precision != SIM_DOUBLE,
                          .every = (int)o->every,
                          .dates = (int)(p->steps / o->every),
                          .degree = (int)o->degree,
                          .strike = o->strike,
                          .sign = o->type == OPTION_CALL ? 1 : -1,
                          .beta = beta,
                          .beta_single = single};
    const int chunks = (int)((o->fit_paths + OPTION_CHUNK - 1) / OPTION_CHUNK);
    SIM_TRY(make_rule(fitter, market->bond, (int)o->asset - 1, chunks, rule, beta));
    const size_t count = numbers_of(item, p->steps);
    for (size_t k = 0; k < count; k++) single[k] = (float)beta[k];
    beta += count;
    single += count;
  }
  return SIM_OK;
}

sim_status option_policy_create(const option_parameters *p, const option_market *market, const sim_setup *setup,
                                option_policy *out) {
  fit f = {.p = p, .market = market, .threads = setup->threads, .isa = setup->isa};
  return option_policy_fit(
      p, market, &(option_fitter){.self = &f, .walk = walk_on_cpu, .sums = sums_on_cpu, .end = end_on_cpu}, out);
}

double option_policy_bytes(const option_parameters *p) {
  double most = 0;
  for (size_t i = 0; i < p->payoffs.count; i++) {
    const option_payoff *o = p->payoffs.items[i].data;
    if (p->payoffs.items[i].schema == &option_american_schema)
      most = fmax(most, (double)o->fit_paths * (double)(p->steps / o->every + 1) * sizeof(double));
  }
  return most;
}

void option_policy_free(option_policy *policy) {
  free(policy->rule);
  free(policy->numbers);
  *policy = (option_policy){0};
}

void option_policy_in(const option_policy *policy, const option_market *market, option_rule *out, double *growth) {
  const double end = market->bond[market->steps - 1];
  for (int i = 0; i < policy->count; i++) {
    double *mine = growth + (size_t)i * (size_t)market->steps;
    out[i] = policy->rule[i];
    out[i].growth = mine;
    for (int d = 0; d < out[i].dates; d++) mine[d] = market->bond[(d + 1) * out[i].every - 1] / end;
  }
}
