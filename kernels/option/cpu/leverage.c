#include "kernels/option/cpu/leverage.h"

#include "engine/expr/expr.h"
#include "engine/run/startup.h"
#include "kernels/option/cpu/particles.h"
#include "kernels/option/estimate.h"
#include "kernels/option/scenario/ladder.h"
#include "kernels/option/random/draws.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = OPTION_PARTICLE_BLOCK, ROW = OPTION_LEVERAGE_NODES + 2, KEPT = 16 };
#define CHECK_PARTICLES 0x1p18
#define CHECK_FIRST (OPTION_LEVERAGE_FIRST + (UINT64_C(1) << 60))

/* Particles of one asset in one market; x and v: [blocks][BLOCK]. */
typedef struct swarm {
  const option_parameters *p;
  const sim_setup *setup;
  option_market *market;
  option_particle_kernel *move;
  int asset, blocks;
  uint64_t first;
  double *x, *v;
  double *sums;      /* [blocks][2]: of x, and of its square, less `shift` */
  double shift;      /* near the mean of x */
  option_bins *bins; /* [blocks + 1]; the last: their sum */
} swarm;

bool option_any_leverage(const option_parameters *p) {
  bool any = false;
  for (int a = 0; a < (int)p->assets.count; a++) any |= option_asset_at(p, a)->leverage.given;
  return any;
}

static double particles_of(const option_parameters *p, int asset) {
  return ceil(option_asset_at(p, asset)->leverage.particles / BLOCK) * BLOCK;
}

static option_dynamics *dynamics_of(const swarm *s, int step) {
  const option_market *m = s->market;
  return &m->dynamics[m->grid.kind[step] * m->assets + s->asset];
}

static double *row_of(const swarm *s, int step) {
  return (double *)(uintptr_t)(s->market->dynamics[s->asset].row + (size_t)step * ROW);
}

static void swarm_free(swarm *s) {
  free(s->x);
  free(s->sums);
  free(s->bins);
}

static sim_status swarm_create(const option_parameters *p, const sim_setup *setup, option_market *market, int asset,
                               double particles, uint64_t first, swarm *out) {
  *out = (swarm){.p = p, .setup = setup, .market = market, .asset = asset, .first = first};
  out->blocks = (int)(particles / BLOCK);
  out->move = option_particle_find(setup->isa);
  const size_t n = (size_t)out->blocks * BLOCK;
  if (out->move == NULL) return sim_fail(SIM_ERR_INTERNAL, "no particles for %s", sim_isa_name(setup->isa));
  out->x = aligned_alloc(64, 2 * n * sizeof(double));
  out->sums = calloc(2 * (size_t)out->blocks, sizeof(double));
  out->bins = calloc((size_t)out->blocks + 1, sizeof *out->bins);
  if (out->x == NULL || out->sums == NULL || out->bins == NULL) {
    swarm_free(out);
    return sim_no_memory("the leverage function");
  }
  out->v = out->x + n;
  for (size_t i = 0; i < n; i++) {
    out->x[i] = 0;
    out->v[i] = market->dynamics[asset].v;
  }
  return SIM_OK;
}

/* Moves a block by a step, and sums its x. The numbers of a step that is whole (parts 1) are joined from those of two
 * halves, so that the functions of a run and of steps half as long (the bias) have the same particles. */
static void move_block(swarm *s, int step, int block) {
  const option_market *m = s->market;
  double *x = s->x + (size_t)block * BLOCK, sum = 0, square = 0;
  const option_particle_step of = {.seed = s->p->common.seed,
                                   .first = s->first,
                                   .asset = s->asset,
                                   .step = step,
                                   .halved = m->parts == 1,
                                   .dynamics = dynamics_of(s, step),
                                   .drift = m->drift[step * m->assets + s->asset]};
  s->move(&of, (uint64_t)block * BLOCK, BLOCK, x, s->v + (size_t)block * BLOCK);
  for (int i = 0; i < BLOCK; i++) {
    const double d = x[i] - s->shift;
    sum += d;
    square += d * d;
  }
  s->sums[2 * block] = sum;
  s->sums[2 * block + 1] = square;
}

/* Moves all particles; mean and deviation of x after the step. */
static void move_all(swarm *s, int step, double *mean, double *deviation) {
  double sum = 0, square = 0;
  const double n = (double)s->blocks * BLOCK;
  s->shift += s->market->drift[step * s->market->assets + s->asset];
#pragma omp parallel for schedule(static) num_threads(s->setup->threads)
  for (int b = 0; b < s->blocks; b++) move_block(s, step, b);
  for (int b = 0; b < s->blocks; b++) {
    sum += s->sums[2 * b];
    square += s->sums[2 * b + 1];
  }
  *mean = s->shift + sum / n;
  *deviation = sqrt(fmax(square - sum * sum / n, 0) / n);
  s->shift = *mean;
}

static void fill_bins(const swarm *s, int block, option_bins *bins) {
  const double *x = s->x + (size_t)block * BLOCK, *v = s->v + (size_t)block * BLOCK;
  const double inverse = 1 / bins->spacing, first = bins->first;
  memset(bins->weight, 0, sizeof bins->weight);
  memset(bins->sum, 0, sizeof bins->sum);
  for (int i = 0; i < BLOCK; i++) {
    const double at = (x[i] - first) * inverse;
    if (!(at >= 0 && at < OPTION_BINS - 1)) continue;
    const int k = (int)at;
    const double share = at - k, other = 1 - share;
    bins->weight[k] += other;
    bins->weight[k + 1] += share;
    bins->sum[k] += other * v[i];
    bins->sum[k + 1] += share * v[i];
  }
}

/* Bins of all particles, added block by block. */
static const option_bins *fill_all(swarm *s, double mean, double deviation) {
  option_bins *all = &s->bins[s->blocks];
  const double reach = 6;
  for (int b = 0; b <= s->blocks; b++) {
    s->bins[b].first = mean - reach * deviation;
    s->bins[b].spacing = 2 * reach * deviation / (OPTION_BINS - 1);
  }
#pragma omp parallel for schedule(static) num_threads(s->setup->threads)
  for (int b = 0; b < s->blocks; b++) fill_bins(s, b, &s->bins[b]);
  memset(all->weight, 0, sizeof all->weight);
  memset(all->sum, 0, sizeof all->sum);
  for (int b = 0; b < s->blocks; b++)
    for (int i = 0; i < OPTION_BINS; i++) {
      all->weight[i] += s->bins[b].weight[i];
      all->sum[i] += s->bins[b].sum[i];
    }
  return all;
}

/* The row of a step from mean and deviation of x at its beginning. Beyond the particles an invalid volatility is
 * replaced by the next one. */
static sim_status set_row(swarm *s, int step, double mean, double deviation) {
  const option_market *m = s->market;
  const option_asset *asset = option_asset_at(s->p, s->asset);
  const option_leverage_nodes nodes = option_leverage_nodes_of(mean, step > 0 ? deviation : 0);
  double variance[OPTION_LEVERAGE_NODES], price[OPTION_LEVERAGE_NODES], sigma[OPTION_LEVERAGE_NODES];
  int from = 0, to = OPTION_LEVERAGE_NODES - 1;
  if (nodes.spacing > 0) {
    option_leverage_regress(fill_all(s, mean, deviation), (double)s->blocks * BLOCK, deviation, &nodes, variance, &from,
                            &to);
  } else {
    double sum = 0;
    for (int i = 0; i < s->blocks * BLOCK; i++) sum += s->v[i];
    for (int k = 0; k < OPTION_LEVERAGE_NODES; k++) variance[k] = sum / ((double)s->blocks * BLOCK);
  }
  for (int k = 0; k < OPTION_LEVERAGE_NODES; k++) price[k] = m->spot[s->asset] * exp2(nodes.first + k * nodes.spacing);
  SIM_TRY(option_surface(asset, price, OPTION_LEVERAGE_NODES, m->grid.time[step], sigma));
  for (int k = from; k <= to; k++)
    if (!(sigma[k] >= 0 && sigma[k] <= OPTION_LOCAL_MAX))
      return option_leverage_invalid(s->asset, price[k], m->grid.time[step], sigma[k]);
  for (int k = from - 1; k >= 0; k--)
    if (!(sigma[k] >= 0 && sigma[k] <= OPTION_LOCAL_MAX)) sigma[k] = sigma[k + 1];
  for (int k = to + 1; k < OPTION_LEVERAGE_NODES; k++)
    if (!(sigma[k] >= 0 && sigma[k] <= OPTION_LOCAL_MAX)) sigma[k] = sigma[k - 1];
  double *row = row_of(s, step);
  row[0] = nodes.first;
  row[1] = nodes.spacing > 0 ? 1 / nodes.spacing : 0;
  for (int k = 0; k < OPTION_LEVERAGE_NODES; k++)
    row[2 + k] = (sigma[k] + m->dynamics[s->asset].shift) / sqrt(fmax(variance[k], 1e-12));
  return SIM_OK;
}

static sim_status calibrate(swarm *s) {
  double mean = 0, deviation = 0;
  for (int step = 0; step < s->market->steps; step++) {
    sim_startup("calibrating the leverage function", step, s->market->steps);
    SIM_TRY(set_row(s, step, mean, deviation));
    move_all(s, step, &mean, &deviation);
  }
  return SIM_OK;
}

/* ---- calibrations that are kept ---- */

/* All numbers that a calibration depends on, and its rows. */
typedef struct calibration {
  sim_bytes key;
  double *rows;
  size_t count;
} calibration;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static calibration kept[KEPT];
static int next_kept;

static sim_status make_key(const option_parameters *p, const option_market *m, int asset, sim_bytes *key) {
  const option_asset *of = option_asset_at(p, asset);
  const double numbers[] = {particles_of(p, asset), m->spot[asset], asset, m->parts, m->steps};
  sim_bytes_add(key, numbers, sizeof numbers);
  sim_bytes_add(key, &p->common.seed, sizeof p->common.seed);
  for (int s = 0; s < m->steps; s++) {
    const option_dynamics *d = &m->dynamics[m->grid.kind[s] * m->assets + asset];
    const double step[] = {m->drift[s * m->assets + asset],
                           m->grid.time[s],
                           d->dt,
                           d->v,
                           d->keep,
                           d->pull,
                           d->spread,
                           d->floor,
                           d->link,
                           d->k3,
                           d->shift};
    sim_bytes_add(key, step, sizeof step);
  }
  if (of->local_vol != NULL) return sim_expr_write(of->local_vol, key);
  const sim_doubles *const parts[] = {&of->vol_grid.spots, &of->vol_grid.times, &of->vol_grid.vols};
  for (int k = 0; k < 3; k++) {
    const double rows = (double)parts[k]->rows;
    sim_bytes_add(key, &rows, sizeof rows);
    sim_bytes_add(key, parts[k]->data, parts[k]->rows * sizeof(double));
  }
  return SIM_OK;
}

/* Copies the rows of a kept calibration; false: there is none. */
static bool recall(const sim_bytes *key, double *rows, size_t count) {
  bool found = false;
  pthread_mutex_lock(&lock);
  for (int k = 0; k < KEPT && !found; k++) {
    const calibration *c = &kept[k];
    found = c->rows != NULL && c->count == count && c->key.size == key->size &&
            memcmp(c->key.data, key->data, key->size) == 0;
    if (found) memcpy(rows, c->rows, count * sizeof *rows);
  }
  pthread_mutex_unlock(&lock);
  return found;
}

/* Keeps a calibration in place of the oldest; takes over the key. */
static void keep(sim_bytes *key, const double *rows, size_t count) {
  double *copy = malloc(count * sizeof *copy);
  if (copy == NULL) { /* only slower */
    sim_bytes_free(key);
    return;
  }
  memcpy(copy, rows, count * sizeof *copy);
  pthread_mutex_lock(&lock);
  calibration *c = &kept[next_kept++ % KEPT];
  sim_bytes_free(&c->key);
  free(c->rows);
  *c = (calibration){.key = *key, .rows = copy, .count = count};
  pthread_mutex_unlock(&lock);
}

void option_leverage_forget(void) {
  pthread_mutex_lock(&lock);
  for (int k = 0; k < KEPT; k++) {
    sim_bytes_free(&kept[k].key);
    free(kept[k].rows);
    kept[k] = (calibration){0};
  }
  pthread_mutex_unlock(&lock);
}

static sim_status calibrate_asset(const option_parameters *p, const sim_setup *setup, option_market *market,
                                  int asset) {
  const size_t count = (size_t)market->steps * ROW;
  double *rows = (double *)(uintptr_t)market->dynamics[asset].row;
  sim_bytes key = {0};
  swarm s;
  sim_status status = make_key(p, market, asset, &key);
  if (status == SIM_OK && recall(&key, rows, count)) {
    sim_bytes_free(&key);
    return SIM_OK;
  }
  if (status == SIM_OK)
    status = swarm_create(p, setup, market, asset, particles_of(p, asset), OPTION_LEVERAGE_FIRST, &s);
  if (status != SIM_OK) {
    sim_bytes_free(&key);
    return status;
  }
  status = calibrate(&s);
  swarm_free(&s);
  if (status == SIM_OK)
    keep(&key, rows, count);
  else
    sim_bytes_free(&key);
  return status;
}

sim_status option_leverage_calibrate(const option_parameters *p, const sim_setup *setup, option_market *markets,
                                     int count) {
  for (int m = 0; m < count; m++)
    for (int a = 0; a < (int)p->assets.count; a++)
      if (option_asset_at(p, a)->leverage.given) SIM_TRY(calibrate_asset(p, setup, &markets[m], a));
  return SIM_OK;
}

/* ---- the error of the calibration ---- */

/* Sums over particles: payments of a call, their squares, and both with the price, as shares of the forward. */
typedef struct quote_sums {
  double y, yy, x, xx, xy;
} quote_sums;

/* The price itself, whose mean is 1, is a control. */
static void price_quote(const swarm *s, option_quote *q) {
  quote_sums all = {0};
  const double ratio = s->market->spot[s->asset] / q->forward, k = q->strike / q->forward;
  for (int b = 0; b < s->blocks; b++) {
    quote_sums of = {0};
    for (int i = 0; i < BLOCK; i++) {
      const double x = exp2(s->x[b * BLOCK + i]) * ratio, y = fmax(x - k, 0), d = x - 1;
      of.y += y;
      of.yy += y * y;
      of.x += d;
      of.xx += d * d;
      of.xy += d * y;
    }
    all.y += of.y;
    all.yy += of.yy;
    all.x += of.x;
    all.xx += of.xx;
    all.xy += of.xy;
  }
  const double n = (double)s->blocks * BLOCK, slope = all.xx > 0 ? all.xy / all.xx : 0;
  const double mean = (all.y - slope * all.x) / n;
  const double square = (all.yy - 2 * slope * all.xy + slope * slope * all.xx) / n;
  option_leverage_set_model(q, mean, sqrt(fmax(square - mean * mean, 0) / n));
}

sim_status option_leverage_check(const option_parameters *p, const sim_setup *setup, int asset,
                                 option_quote out[OPTION_QUOTES]) {
  option_market market;
  swarm s = {0};
  double mean, deviation;
  SIM_TRY(option_market_create(p, NULL, &market));
  sim_status status = option_leverage_quotes(p, &market, asset, out);
  if (status == SIM_OK) status = option_leverage_calibrate(p, setup, &market, 1);
  const double particles = fmax(particles_of(p, asset), CHECK_PARTICLES);
  if (status == SIM_OK) status = swarm_create(p, setup, &market, asset, particles, CHECK_FIRST, &s);
  for (int step = 0; step < market.steps && status == SIM_OK; step++) {
    sim_startup("checking the leverage function", step, market.steps);
    move_all(&s, step, &mean, &deviation);
    for (int k = 0; k < OPTION_QUOTES; k++)
      if (out[k].step == step + 1) price_quote(&s, &out[k]);
  }
  if (status == SIM_OK) swarm_free(&s);
  option_market_free(&market);
  return status;
}

double option_leverage_bytes(const option_parameters *p) {
  double sum = 0;
  for (int a = 0; a < (int)p->assets.count; a++) {
    const double n = fmax(particles_of(p, a), CHECK_PARTICLES);
    if (!option_asset_at(p, a)->leverage.given) continue;
    sum = fmax(sum, n * (2 * sizeof(double) + (double)sizeof(option_bins) / BLOCK));
  }
  return sum > 0 ? sum + KEPT * (double)p->nodes * 2 * (ROW + 12) * sizeof(double) : 0;
}

double option_leverage_work(const option_parameters *p) {
  const double greeks = option_quantities(p, NULL) / (double)option_payoff_count(p) - 1;
  const double markets = 1 + 2 * greeks + (p->ladder.given ? option_ladder_points(p) : 0);
  double sum = 0;
  for (int a = 0; a < (int)p->assets.count; a++)
    if (option_asset_at(p, a)->leverage.given)
      sum += (3 * markets * particles_of(p, a) + fmax(particles_of(p, a), CHECK_PARTICLES)) * (double)p->nodes;
  return sum;
}
