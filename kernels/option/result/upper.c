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

#include "kernels/option/cpu/leverage.h"
#include "kernels/option/cpu/sampler.h"
#include "kernels/option/models/rough.h"

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
  option_dynamics *dynamics; /* [kinds][assets], with the programs of local volatilities; NULL without them */
  option_dynamics *later;    /* [threads][kinds][assets], of paths that begin at a date; owned with `dynamics` */
  sim_expr_program *local[OPTION_ASSETS_MAX];
  double *level;                     /* [threads][assets][steps], of rough volatilities on such paths; NULL: none */
  bool local_wrong;                  /* some path has an invalid local volatility */
  int columns;                       /* prices, and the volatilities of the assets that have random ones */
  int volatility[OPTION_ASSETS_MAX]; /* column of the volatility of each asset; 0: it is not random */
  /* of one payoff: */
  int number; /* of the named payoff */
  const option_payoff *payoff;
  uint64_t first;                /* number of its first path */
  double *price;                 /* [dates][columns][CHUNK], prices and volatilities at the dates of the outer paths */
  double *payment, *hold, *gaps; /* [dates][CHUNK] each; [upper_paths] */
  double *increment; /* [assets][steps][CHUNK], normals of the rough volatilities of the outer paths; NULL: none */
} upper;

static int dates_of(const upper *u) { return u->rule[u->number].dates; }

/* Where paths begin: price over 2^x, x, and variance of each asset; the dynamics from there on. */
typedef struct beginning {
  int from; /* steps before */
  double spot[OPTION_ASSETS_MAX], x[OPTION_ASSETS_MAX], v[OPTION_ASSETS_MAX];
  const option_dynamics *dynamics;
} beginning;

/* Paths of one or both signs of the normals from `start` on (NULL: from the beginning). */
static void run_paths(upper *u, const beginning *start, const option_feature *feature, int features,
                      const option_rule *rule, int signs, uint64_t first, int count, void *const *out) {
  const option_market *m = &u->market;
  const int from = start != NULL ? start->from : 0;
  const size_t at = (size_t)from * (size_t)m->assets;
  option_variant variant[2];
  for (int v = 0; v < signs; v++)
    variant[v] = (option_variant){.drift = m->drift + at,
                                  .vol = (v == 0 ? m->vol : u->mirrored) + at,
                                  .spot = start != NULL ? start->spot : m->spot,
                                  .x = start != NULL ? start->x : NULL,
                                  .v = start != NULL ? start->v : NULL,
                                  .dynamics = start != NULL ? start->dynamics : u->dynamics,
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
                              .rough = u->level != NULL,
                              .far = true};
  if (!u->kernel(&paths, first, count, out, u->rooms + (size_t)omp_get_thread_num() * u->scratch))
#pragma omp atomic write
    u->local_wrong = true;
}

/* The levels of a rough volatility after a date, which contain the normals of the outer path until then. */
static void set_levels(const upper *u, const option_dynamics *m, int asset, int from, int place, double *level) {
  const double *z = u->increment + (size_t)asset * (size_t)u->market.steps * CHUNK + place;
  for (size_t s = (size_t)from + 1; s < (size_t)u->market.steps; s++) {
    const double *row = m->past + (s - 1) * (s - 2) / 2 * (s > 1);
    double y = 0;
    for (int j = 0; j < from; j++) y += row[j] * z[j * CHUNK];
    level[s] = m->level[s] * exp2(y);
  }
}

/* The dynamics of the paths from a date on. */
static const option_dynamics *dynamics_from(const upper *u, int from, int place) {
  const int thread = omp_get_thread_num(), assets = u->market.assets, all = u->market.grid.kinds * assets;
  if (u->dynamics == NULL) return NULL;
  option_dynamics *own = u->later + (size_t)thread * (size_t)all;
  memcpy(own, u->dynamics, (size_t)all * sizeof *own);
  for (int k = 0; k < all; k++) own[k].begun = from;
  for (int a = 0; a < assets; a++) {
    if (own[a].motion != OPTION_ROUGH_BERGOMI) continue;
    double *level = u->level + ((size_t)thread * (size_t)assets + (size_t)a) * (size_t)u->market.steps;
    set_levels(u, &own[a], a, from, place, level);
    for (int k = a; k < all; k += assets) own[k].level = level;
  }
  return own;
}

/* Prices and variances at a date, from which paths begin. SABR's is its sigma where f, the price over its growth and
 * the spot, is 1 again. A leverage function is one of x from the first spot on. */
static void set_start(const upper *u, int date, int place, beginning *out) {
  const option_market *m = &u->market;
  const int from = out->from = u->rule[u->number].step[date];
  out->dynamics = dynamics_from(u, from, place);
  for (int a = 0; a < m->assets; a++) {
    const double *at = u->price + (size_t)date * (size_t)u->columns * CHUNK + place;
    const int motion = m->dynamics != NULL ? (int)m->dynamics[a].motion : OPTION_GEOMETRIC_BROWNIAN;
    out->spot[a] = at[a * CHUNK];
    out->x[a] = out->v[a] = 0;
    if (motion == OPTION_LEVERAGE) {
      out->x[a] = log2(out->spot[a] / m->spot[a]);
      out->spot[a] = m->spot[a];
    }
    if (u->volatility[a] == 0) continue;
    out->v[a] = at[u->volatility[a] * CHUNK];
    if (motion != OPTION_SABR) {
      out->v[a] *= out->v[a];
      continue;
    }
    double grown = 0;
    for (int s = 0; s < from; s++) grown += m->drift[s * m->assets + a];
    out->v[a] *= pow(fmax(out->spot[a] / m->spot[a] * exp2(-grown), 0x1p-100), m->dynamics[a].beta - 1);
  }
}

/* The discounted value of holding on at a date, on path `outer` whose column of the chunk is `place`. */
static double hold_on(upper *u, int date, int64_t outer, int place) {
  const int from = u->rule[u->number].step[date];
  const int64_t pairs = (u->payoff->inner_paths + 1) / 2, calls = (pairs + CHUNK - 1) / CHUNK;
  option_rule rule = u->rule[u->number];
  const option_feature early = {.kind = OPTION_EARLY,
                                .asset = option_rule_is_joint(&u->p, u->payoff) ? -1 : (int)u->payoff->asset - 1,
                                .step = 0};
  double sum = 0;
  beginning start;
  _Alignas(64) double paid[2][CHUNK];
  rule.date += from;
  set_start(u, date, place, &start);
  const uint64_t first = u->first + (uint64_t)(u->payoff->upper_paths + CHUNK - 1) / CHUNK * CHUNK +
                         ((uint64_t)outer * (uint64_t)dates_of(u) + (uint64_t)date) * (uint64_t)calls * CHUNK;
  for (int64_t done = 0; done < pairs; done += CHUNK) {
    const int count = (int)fmin(CHUNK, (double)(pairs - done));
    run_paths(u, &start, &early, 1, &rule, 2, first + (uint64_t)done, count, (void *[]){paid[0], paid[1]});
    for (int i = 0; i < count; i++) sum += paid[0][i] + paid[1][i];
  }
  return u->market.bond[rule.end - 1] * sum / (2 * (double)pairs);
}

/* The largest term of a path. */
static double gap_of(upper *u, int64_t outer, int place) {
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
  const int dates = dates_of(u), columns = dates * u->columns, steps = u->market.steps;
  const int numbers = columns + (u->increment != NULL ? u->market.assets * steps : 0);
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
  for (int k = 0; k < columns && status == SIM_OK; k++) out[k] = u->price + (size_t)k * CHUNK;
  for (int k = columns; k < numbers && status == SIM_OK; k++) {
    out[k] = u->increment + (size_t)(k - columns) * CHUNK;
    feature[k] =
        (option_feature){.kind = OPTION_INCREMENT, .asset = (k - columns) / steps, .step = (k - columns) % steps + 1};
  }
  size_t end;
  const size_t first = sim_comm_first(comm, count, &end);
  for (size_t chunk = first / CHUNK * CHUNK; chunk < end && status == SIM_OK; chunk += CHUNK) {
    sim_startup("upper bound of early exercise: paths", (double)(chunk - first / CHUNK * CHUNK), (double)(end - first));
    run_paths(u, NULL, feature, numbers, NULL, 1, u->first + chunk, CHUNK, out);
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
    uint64_t wrong = 0;
    status = sim_comm_agree(u->setup->comm, u->local_wrong, &wrong);
    if (status == SIM_OK && wrong != 0)
      status = sim_fail(SIM_ERR_DIVERGED,
                        "payoffs[%d]: a local volatility is below 0 or not finite at a price that the paths of the "
                        "upper bound reach",
                        u->number + 1);
    if (status == SIM_OK && !isfinite(mean))
      status = sim_fail(SIM_ERR_DIVERGED, "payoffs[%d]: the upper bound is not finite", u->number + 1);
  }
  free(u->price);
  return status;
}

/* The dynamics, and the programs of local volatilities; *program: bytes of the largest. */
static sim_status make_dynamics(upper *u, size_t *program) {
  const option_market *m = &u->market;
  const size_t assets = (size_t)m->assets, all = (size_t)m->grid.kinds * assets, threads = (size_t)u->threads;
  if (m->dynamics == NULL) return SIM_OK;
  u->dynamics = calloc((threads + 1) * all, sizeof *u->dynamics);
  if (u->dynamics == NULL) return sim_no_memory("an upper bound");
  u->later = u->dynamics + all;
  memcpy(u->dynamics, m->dynamics, all * sizeof *u->dynamics);
  for (size_t a = 0; a < assets; a++) {
    if (m->dynamics[a].motion != OPTION_LOCAL_FUNCTION) continue;
    const sim_expr_target target = {.isa = u->setup->isa, .uniform = (const bool[]){false, true}};
    SIM_TRY(sim_expr_program_create(option_asset_at(&u->p, (int)a)->local_vol, &target, &u->local[a]));
    for (size_t k = a; k < all; k += assets) u->dynamics[k].local = u->local[a];
    *program = (size_t)fmax((double)*program, (double)sim_expr_program_scratch(u->local[a]) + 128);
  }
  if (!option_any_rough(&u->p)) return SIM_OK;
  u->level = calloc((threads + CHUNK) * assets * (size_t)m->steps, sizeof *u->level);
  u->increment = u->level + threads * assets * (size_t)m->steps;
  return u->level != NULL ? SIM_OK : sim_no_memory("an upper bound");
}

static sim_status prepare(upper *u, const option_parameters *p, const sim_setup *setup) {
  u->p = *p;
  u->p.common.precision = SIM_DOUBLE;
  u->setup = setup;
  u->threads = setup->threads < 1 ? 1 : setup->threads;
  SIM_TRY(option_market_create(&u->p, NULL, &u->market));
  const size_t assets = (size_t)u->market.assets, steps = (size_t)u->market.steps;
  const size_t payoffs = p->payoffs.count;
  SIM_TRY(option_leverage_calibrate(&u->p, setup, &u->market, 1));
  SIM_TRY(option_policy_create(&(option_starts){.p = &u->p, .market = &u->market}, setup, &u->policy));
  u->rule = calloc(payoffs, sizeof *u->rule);
  u->growth = calloc(payoffs * steps, sizeof *u->growth);
  u->cholesky = calloc(assets * assets, sizeof *u->cholesky);
  u->mirrored = calloc(assets * steps, sizeof *u->mirrored);
  int bases = 0;
  size_t program = option_policy_scratch(&u->policy);
  for (size_t i = 0; i < payoffs; i++) bases = (int)fmax(bases, u->policy.rule[i].bases);
  SIM_TRY(make_dynamics(u, &program));
  const size_t past = u->level != NULL ? option_rough_scratch((int)assets, (int)steps) : 0;
  u->scratch = option_path_scratch((int)assets, 2, program + past);
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
    if (option_has_variance(option_asset_at(p, a)) || option_asset_at(p, a)->rough_bergomi.given)
      u->volatility[a] = u->columns++;
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
  free(u->dynamics);
  free(u->level);
  for (int a = 0; a < OPTION_ASSETS_MAX; a++) sim_expr_program_free(&u->local[a]);
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
  const double rough = option_any_rough(p) ? (setup->threads + CHUNK) * (double)p->assets.count * (double)p->nodes : 0;
  most += most > 0 ? rough * sizeof(double) : 0;
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
