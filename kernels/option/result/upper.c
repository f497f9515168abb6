/* Let L be the value of the holder who keeps to the rule, Q what holding on is worth to that holder at a date, D the
 * discount and h the payment of an exercise. The martingale part M of D L makes E max_k (D_k h_k - M_k) an upper bound
 * of any holder's value (L. Rogers, Mathematical Finance 12 (2002) 271), with M_0 = L_0. Over the dates of a path
 *
 *   M_k = D_k L_k + sum of D_j (h_j - Q_j) over the dates j < k at which the rule exercises,
 *
 * so that the bound less L_0 is the mean of the largest of - sum_k (at dates of exercise and at the end) and D_k (h_k -
 * Q_k) - sum_k (at others); these need no Q where h_k <= 0, being below the next term. Q is the mean of paths of their
 * own from that date on, whose errors raise the bound: it stays one for any number of them. */
#include "kernels/option/result/upper.h"

#include "kernels/option/cpu/sampler.h"

#include "engine/reduce.h"
#include "engine/run/startup.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = OPTION_CHUNK };

typedef struct upper {
  option_parameters p; /* prices alone, in fp64 */
  const sim_setup *setup;
  option_market market;
  option_policy policy;
  option_rule *rule; /* [named payoffs] */
  double *growth, *cholesky, *mirrored;
  option_path_kernel *kernel;
  option_mrg *mrg;
  size_t scratch; /* bytes of a thread */
  char *rooms;    /* [threads][scratch] */
  int threads;
  int columns;                       /* prices, and the volatilities of the assets that have random ones */
  int volatility[OPTION_ASSETS_MAX]; /* column of the volatility of each asset; 0: it is not random */
  /* of one payoff: */
  int number; /* of the named payoff */
  const option_payoff *payoff;
  uint64_t first;                /* number of its first path */
  double *price;                 /* [dates][columns][CHUNK], prices and volatilities at the dates of the outer paths */
  double *payment, *hold, *gaps; /* [dates][CHUNK] each; [upper_paths] */
} upper;

static int dates_of(const upper *u) { return u->rule[u->number].dates; }

/* Paths of one or both signs of the normals from the end of step `from` on, at `spot` with variances v0 (NULL: the
 * first ones). */
static void run_paths(const upper *u, int from, const double *spot, const double *v0, const option_feature *feature,
                      int features, const option_rule *rule, int signs, uint64_t first, int count, void *const *out) {
  const option_market *m = &u->market;
  const size_t at = (size_t)from * (size_t)m->assets;
  option_variant variant[2];
  for (int v = 0; v < signs; v++)
    variant[v] = (option_variant){.drift = m->drift + at,
                                  .vol = (v == 0 ? m->vol : u->mirrored) + at,
                                  .spot = spot,
                                  .v = v0,
                                  .dynamics = m->dynamics,
                                  .kind = m->grid.kind != NULL ? m->grid.kind + from : NULL,
                                  .time = m->grid.time != NULL ? m->grid.time + from : NULL,
                                  .tilt = m->tilt != NULL ? m->tilt + at : NULL,
                                  .mirrored = v > 0,
                                  .rule = rule};
  const option_paths paths = {.seed = u->p.common.seed,
                              .assets = m->assets,
                              .steps = m->steps - from,
                              .variants = signs,
                              .features = features,
                              .variant = variant,
                              .feature = feature,
                              .cholesky = u->cholesky,
                              .mrg = u->mrg,
                              .cash = m->cash != NULL ? m->cash + at : NULL,
                              .far = true};
  u->kernel(&paths, first, count, out, u->rooms + (size_t)omp_get_thread_num() * u->scratch);
}

/* Prices and variances at a date, from which paths begin: spot[assets], v[assets]. SABR's is its sigma where f, the
 * price over its growth and the spot, is 1 again. */
static void set_start(const upper *u, int date, int place, double *spot, double *v) {
  const option_market *m = &u->market;
  const int from = u->rule[u->number].step[date];
  for (int a = 0; a < m->assets; a++) {
    const double *at = u->price + (size_t)date * (size_t)u->columns * CHUNK + place;
    spot[a] = at[a * CHUNK];
    v[a] = 0;
    if (u->volatility[a] == 0) continue;
    const option_dynamics *dynamics = &m->dynamics[a];
    v[a] = at[u->volatility[a] * CHUNK];
    if (dynamics->motion != OPTION_SABR) {
      v[a] *= v[a];
      continue;
    }
    double grown = 0;
    for (int s = 0; s < from; s++) grown += m->drift[s * m->assets + a];
    v[a] *= pow(fmax(spot[a] / m->spot[a] * exp2(-grown), 0x1p-100), dynamics->beta - 1);
  }
}

/* The discounted value of holding on at a date, on path `outer` whose column of the chunk is `place`. */
static double hold_on(const upper *u, int date, int64_t outer, int place) {
  const int from = u->rule[u->number].step[date];
  const int64_t pairs = (u->payoff->inner_paths + 1) / 2, calls = (pairs + CHUNK - 1) / CHUNK;
  option_rule rule = u->rule[u->number];
  const option_feature early = {.kind = OPTION_EARLY,
                                .asset = option_rule_is_joint(&u->p, u->payoff) ? -1 : (int)u->payoff->asset - 1,
                                .step = 0};
  double spot[OPTION_ASSETS_MAX], v[OPTION_ASSETS_MAX], sum = 0;
  _Alignas(64) double paid[2][CHUNK];
  rule.date += from;
  set_start(u, date, place, spot, v);
  const uint64_t first = u->first + (uint64_t)(u->payoff->upper_paths + CHUNK - 1) / CHUNK * CHUNK +
                         ((uint64_t)outer * (uint64_t)dates_of(u) + (uint64_t)date) * (uint64_t)calls * CHUNK;
  for (int64_t done = 0; done < pairs; done += CHUNK) {
    const int count = (int)fmin(CHUNK, (double)(pairs - done));
    run_paths(u, from, spot, v, &early, 1, &rule, 2, first + (uint64_t)done, count, (void *[]){paid[0], paid[1]});
    for (int i = 0; i < count; i++) sum += paid[0][i] + paid[1][i];
  }
  return u->market.bond[rule.end - 1] * sum / (2 * (double)pairs);
}

/* The largest term of a path. */
static double gap_of(const upper *u, int64_t outer, int place) {
  const option_rule *r = &u->rule[u->number];
  double most = -INFINITY, sum = 0;
  for (int d = 0; d < r->dates; d++) {
    const double h = u->payment[d * CHUNK + place], discount = u->market.bond[r->step[d] - 1];
    const bool last = d == r->dates - 1, now = h > 0 && h > u->hold[d * CHUNK + place];
    if (isnan(h)) return NAN;
    if (now || last) most = fmax(most, -sum);
    if (last || !(h > 0)) continue;
    const double worth = discount * h - hold_on(u, d, outer, place);
    if (isnan(worth)) return NAN; /* fmax would pass over it */
    if (now)
      sum += worth;
    else
      most = fmax(most, worth - sum);
  }
  return most;
}

/* Payments and values of holding on by the rule's own functions, at all dates of the chunk. */
static void apply_rule(const upper *u) {
  const option_rule *r = &u->rule[u->number];
  const int assets = u->market.assets;
  char *room = u->rooms;
  for (int d = 0; d < r->dates; d++) {
    double *payment = u->payment + d * CHUNK, *hold = u->hold + d * CHUNK;
    const double *price = u->price + (size_t)d * (size_t)u->columns * CHUNK;
    memset(hold, 0, CHUNK * sizeof *hold);
    if (r->program == NULL) {
      price += (size_t)(u->payoff->asset - 1) * CHUNK;
      const double *beta = r->beta + d * (OPTION_DEGREE_MAX + 1);
      for (int i = 0; i < CHUNK; i++) {
        payment[i] = option_rule_payoff(r, price[i]);
        for (int k = r->degree; k >= 0; k--) hold[i] = hold[i] * ((price[i] - r->centre) * r->scale) + beta[k];
      }
    } else {
      const void *in[2 * OPTION_ASSETS_MAX];
      void *out[1 + OPTION_BASES_MAX];
      double *column = (double *)(void *)room;
      int inputs = assets;
      for (int a = 0; a < assets; a++) {
        in[a] = price + a * CHUNK;
        if (r->volatilities >> a & 1) in[inputs++] = price + u->volatility[a] * CHUNK;
      }
      for (int k = 0; k <= r->bases; k++) out[k] = k == 0 ? payment : column + (k - 1) * CHUNK;
      sim_expr_program_run(r->program, CHUNK, in, out, column + r->bases * CHUNK);
      for (int k = 0; k < r->bases; k++)
        for (int i = 0; i < CHUNK; i++) hold[i] += r->beta[d * r->bases + k] * column[k * CHUNK + i];
    }
    if (d == r->dates - 1) memset(hold, 0, CHUNK * sizeof *hold);
  }
}

/* Terms of the paths of this rank's share, chunk by chunk. */
static sim_status sample_gaps(upper *u) {
  const sim_comm *comm = u->setup->comm;
  const int dates = dates_of(u), numbers = dates * u->columns;
  const size_t count = (size_t)u->payoff->upper_paths, share = sim_comm_share(comm, count);
  const option_rule *r = &u->rule[u->number];
  option_feature *feature = calloc((size_t)numbers, sizeof *feature);
  void **out = calloc((size_t)numbers, sizeof *out);
  sim_status status = feature != NULL && out != NULL ? SIM_OK : sim_no_memory("an upper bound");
  for (int d = 0; d < dates && status == SIM_OK; d++)
    for (int a = 0; a < u->market.assets; a++) {
      option_feature *of = &feature[d * u->columns];
      of[a] = (option_feature){.kind = OPTION_FIXING, .asset = a, .step = r->step[d]};
      if (u->volatility[a] > 0)
        of[u->volatility[a]] = (option_feature){.kind = OPTION_VOLATILITY, .asset = a, .step = r->step[d]};
    }
  for (int k = 0; k < numbers && status == SIM_OK; k++) out[k] = u->price + (size_t)k * CHUNK;
  size_t end;
  const size_t first = sim_comm_first(comm, count, &end);
  for (size_t chunk = first / CHUNK * CHUNK; chunk < end && status == SIM_OK; chunk += CHUNK) {
    sim_startup("upper bound of early exercise: paths", (double)(chunk - first / CHUNK * CHUNK), (double)(end - first));
    run_paths(u, 0, u->market.spot, NULL, feature, numbers, NULL, 1, u->first + chunk, CHUNK, out);
    apply_rule(u);
    const int from = chunk < first ? (int)(first - chunk) : 0, to = (int)fmin(CHUNK, (double)(end - chunk));
#pragma omp parallel for schedule(dynamic, 1) num_threads(u->threads)
    for (int i = from; i < to; i++) u->gaps[chunk + (size_t)i] = gap_of(u, (int64_t)chunk + i, i);
  }
  free(feature);
  free(out);
  if (status != SIM_OK) return status;
  return comm->ops->gather(comm, u->gaps + (size_t)comm->rank * share, share * sizeof(double), u->gaps);
}

static sim_status find_gap(upper *u, double *gap, double *error) {
  const size_t count = (size_t)u->payoff->upper_paths, dates = (size_t)dates_of(u);
  const size_t prices = dates * (size_t)u->columns * CHUNK;
  const size_t kept = prices + 2 * dates * CHUNK,
               all = (size_t)fmax((double)kept, (double)count) + count + (size_t)u->setup->comm->size;
  u->price = aligned_alloc(64, (all * sizeof(double) + 63) / 64 * 64);
  if (u->price == NULL) return sim_no_memory("an upper bound");
  u->payment = u->price + prices;
  u->hold = u->payment + dates * CHUNK;
  u->gaps = u->price + all - count - (size_t)u->setup->comm->size;
  sim_status status = sample_gaps(u);
  if (status == SIM_OK) {
    double *square = u->price; /* the paths are done with */
    for (size_t i = 0; i < count; i++) square[i] = u->gaps[i] * u->gaps[i];
    const double n = (double)count, mean = sim_reduce_tree(u->gaps, count) / n,
                 variance = fmax(sim_reduce_tree(square, count) / n - mean * mean, 0);
    *gap = mean;
    *error = count > 1 ? sqrt(variance / (n - 1)) : NAN;
    if (!isfinite(mean))
      status = sim_fail(SIM_ERR_DIVERGED, "payoffs[%d]: the upper bound is not finite", u->number + 1);
  }
  free(u->price);
  return status;
}

static sim_status prepare(upper *u, const option_parameters *p, const sim_setup *setup) {
  u->p = *p;
  u->p.common.precision = SIM_DOUBLE;
  u->setup = setup;
  u->threads = setup->threads < 1 ? 1 : setup->threads;
  SIM_TRY(option_market_create(&u->p, NULL, &u->market));
  const size_t assets = (size_t)u->market.assets, steps = (size_t)u->market.steps;
  const size_t payoffs = p->payoffs.count;
  SIM_TRY(option_policy_create(&u->p, &u->market, setup, &u->policy));
  u->rule = calloc(payoffs, sizeof *u->rule);
  u->growth = calloc(payoffs * steps, sizeof *u->growth);
  u->cholesky = calloc(assets * assets, sizeof *u->cholesky);
  u->mirrored = calloc(assets * steps, sizeof *u->mirrored);
  int bases = 0;
  size_t program = option_policy_scratch(&u->policy);
  for (size_t i = 0; i < payoffs; i++) bases = (int)fmax(bases, u->policy.rule[i].bases);
  u->scratch = option_path_scratch((int)assets, 2, program);
  u->scratch =
      ((size_t)fmax((double)u->scratch, (double)bases * CHUNK * sizeof(double) + (double)program) + 127) / 64 * 64;
  u->rooms = aligned_alloc(64, u->scratch * (size_t)u->threads);
  u->kernel = option_path_find(false, setup->isa);
  if (u->rule == NULL || u->growth == NULL || u->cholesky == NULL || u->mirrored == NULL || u->rooms == NULL)
    return sim_no_memory("an upper bound");
  if (p->sampling.generator == OPTION_MRG32K3A) {
    u->mrg = malloc(sizeof *u->mrg);
    if (u->mrg == NULL) return sim_no_memory("random numbers");
    option_mrg_make(p->common.seed, u->mrg);
  }
  u->columns = (int)assets;
  for (int a = 0; a < (int)assets; a++)
    if (option_has_variance(option_asset_at(p, a))) u->volatility[a] = u->columns++;
  for (size_t i = 0; i < assets * steps; i++) u->mirrored[i] = -u->market.vol[i];
  option_policy_for_market(&u->policy, &u->market, u->rule, u->growth);
  return option_cholesky(p, u->cholesky);
}

sim_status option_upper_gaps(const option_parameters *p, const sim_setup *setup, double *gap, double *error) {
  const int payoffs = option_payoff_count(p), functions = payoffs - (int)p->payoffs.count;
  upper *u = calloc(1, sizeof *u);
  if (u == NULL) return sim_no_memory("an upper bound");
  sim_status status = prepare(u, p, setup);
  u->first = OPTION_UPPER_FIRST;
  for (int k = 0; k < payoffs; k++) gap[k] = error[k] = NAN;
  for (size_t i = 0; i < p->payoffs.count && status == SIM_OK; i++) {
    u->number = (int)i;
    u->payoff = p->payoffs.items[i].data;
    if (u->payoff->upper_paths == 0) continue;
    status = find_gap(u, &gap[functions + (int)i], &error[functions + (int)i]);
    u->first += OPTION_UPPER_STRIDE;
  }
  option_market_free(&u->market);
  option_policy_free(&u->policy);
  free(u->rule);
  free(u->growth);
  free(u->cholesky);
  free(u->mirrored);
  free(u->mrg);
  free(u->rooms);
  free(u);
  return status;
}

double option_upper_bytes(const option_parameters *p, const sim_setup *setup) {
  double most = 0;
  for (size_t i = 0; i < p->payoffs.count; i++) {
    const option_payoff *o = p->payoffs.items[i].data;
    if (o->upper_paths == 0) continue;
    const double dates = (double)option_date_count(p, o), columns = 2 * (double)p->assets.count;
    most = fmax(most, (fmax(dates * (columns + 2) * CHUNK, (double)o->upper_paths) + (double)o->upper_paths) *
                          sizeof(double));
  }
  return most > 0 ? most + setup->threads * (0x1p19 + 64.0 * CHUNK * sizeof(double)) +
                        option_policy_bytes(p, setup->comm->size)
                  : 0;
}

double option_upper_work(const option_parameters *p) {
  double work = 0;
  for (size_t i = 0; i < p->payoffs.count; i++) {
    const option_payoff *o = p->payoffs.items[i].data;
    if (o->upper_paths == 0) continue;
    const size_t dates = option_date_count(p, o);
    double left = 1; /* shares of the steps from each date on; 1: the paths to the dates */
    for (size_t d = 0; d + 1 < dates; d++) {
      const double even = option_own_maturity(p, o) * ((double)d + 1) / (double)dates;
      left += (double)o->inner_paths * (1 - (o->dates.rows > 0 ? o->dates.data[d] : even) / p->maturity);
    }
    work += (double)o->upper_paths * left * (double)p->nodes * (double)p->assets.count;
  }
  return work;
}
