/* Exposure of a book: its paths, and the values and payments on them. */
#include "kernels/option/exposure/exposure.h"

#include "engine/run/startup.h"
#include "kernels/option/cpu/reuse.h"
#include "kernels/option/exposure/book.h"
#include "kernels/option/payoff/names.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = OPTION_CHUNK };

/* ---- paths ---- */

void option_exposure_simulate(const exposure_book *b, uint64_t first, exposure_room *room) {
  const option_sampler *s = b->sampler;
  const option_workspace *own = &s->workspaces[omp_get_thread_num()];
  option_paths paths = s->paths;
  paths.features = b->features;
  paths.feature = b->feature;
  room->wrong |= !s->kernel(&paths, first, CHUNK, room->out, own->kernel);
  option_reuse_evaluate(s, 0, CHUNK, room->out, room->out + b->features, own->program);
  for (int k = 0; k < b->contracts; k++) {
    const double *paid = exposure_payments(b, room, k);
    for (int i = 0; i < CHUNK; i++) room->wrong |= !isfinite(paid[i]);
  }
}

sim_status option_exposure_agree(const exposure_book *b) {
  uint64_t wrong = 0;
  for (int t = 0; t < b->threads; t++) wrong |= b->room[t].wrong;
  SIM_TRY(sim_comm_agree(b->setup->comm, wrong, &wrong));
  if (wrong == 0) return SIM_OK;
  return sim_fail(SIM_ERR_DIVERGED, "exposure: a payment or a local volatility is not finite on a path");
}

void option_exposure_state_at(const exposure_book *b, exposure_room *room, int date, int contract) {
  const exposure_contract *c = &b->contract[contract];
  if (b->step[date] > 0) {
    option_exposure_state_of(&b->p, b->market, c, &room->columns, date, b->step[date], room->state);
    return;
  }
  exposure_state *s = room->state;
  const double *last = exposure_price(&room->columns, c->end, c->asset[0]);
  const double mean =
      b->market->spot[c->asset[0]] * exp(b->market->growth[(c->end - 1) * b->market->assets + c->asset[0]]);
  const double value = c->known ? option_exposure_known(b->market, c, 0, mean) : 0;
  s->raws = 0;
  for (int i = 0; i < CHUNK; i++) {
    s->status[i] = EXPOSURE_ALIVE;
    s->u[i] = mean;
    s->guess[i] = 0;
    s->curve[i] = value;
    s->hedge[i] = c->hedged ? last[i] - mean : 0;
  }
}

/* ---- values ---- */

/* Value and remaining payments of the book on the paths of a chunk, before and after the payments of a date. */
typedef struct exposure_values {
  double value[CHUNK], paid[CHUNK], value_after[CHUNK], paid_after[CHUNK];
} exposure_values;

/* The regression of a contract on path i of the room, whose functions have been evaluated. */
static double fit_of(const exposure_basis *basis, const exposure_room *room, const double *beta, int i) {
  double value = 0;
  for (int k = 0; k < basis->values; k++) value += beta[k] * room->functions[k * CHUNK + i];
  return value;
}

/* Its value: a formula, or the regression. */
static double value_of(const exposure_contract *c, const exposure_basis *basis, const exposure_room *room,
                       const double *beta, double discount, int i) {
  if (c->known) return discount * room->state->curve[i];
  const double value = fit_of(basis, room, beta, i);
  return c->not_below ? fmax(value, 0) : value;
}

/* Adds the value by the regression, and the payments less the hedge, of the paths of one group. */
static void add_group(const exposure_book *b, exposure_room *room, int date, int contract, int group, double discount,
                      exposure_values *v) {
  const size_t place = exposure_place(b, date, contract, group);
  const exposure_basis *basis = &b->basis[place];
  const exposure_contract *c = &b->contract[contract];
  const double *beta = b->beta + place * OPTION_BASES_MAX, *paid = exposure_payments(b, room, contract);
  if (basis->count == 0) return;
  option_exposure_basis_evaluate(basis, room->state, room->functions);
  for (int i = 0; i < CHUNK; i++) {
    if (room->state->status[i] != (exposure_status)group) continue;
    const double value = value_of(c, basis, room, beta, discount, i);
    double hedge = 0;
    for (int k = basis->values; k < basis->count; k++) hedge += beta[k] * room->functions[k * CHUNK + i];
    const double left = paid[i] * discount - hedge;
    v->value[i] += c->quantity * value;
    v->value_after[i] += c->quantity * value;
    v->paid[i] += c->quantity * left;
    v->paid_after[i] += c->quantity * left;
  }
}

static void add_contract(const exposure_book *b, exposure_room *room, int date, int contract, exposure_values *v) {
  const exposure_contract *c = &b->contract[contract];
  const double discount = exposure_discount(b, b->step[date], c->end), *paid = exposure_payments(b, room, contract);
  option_exposure_state_at(b, room, date, contract);
  for (int i = 0; i < CHUNK; i++) {
    const exposure_status status = room->state->status[i];
    if (status != EXPOSURE_SURE && status != EXPOSURE_NOW) continue;
    const double value = c->quantity * paid[i] * discount;
    v->value[i] += value;
    v->paid[i] += value;
    v->value_after[i] += status == EXPOSURE_SURE ? value : 0;
    v->paid_after[i] += status == EXPOSURE_SURE ? value : 0;
  }
  for (int g = 0; g < EXPOSURE_GROUPS; g++) add_group(b, room, date, contract, g, discount, v);
}

/* Adds a date's part of the adjustments of each path: out[EXPOSURE_EXTRAS][CHUNK]. */
static void add_adjustments(const exposure_values *v, int date, const exposure_weights *weights, double *out) {
  for (int k = 0; k < EXPOSURE_EXTRAS; k++) {
    const double before = weights[k].before[date], after = weights[k].after[date];
    const double side = k >= EXPOSURE_DVA ? -1 : 1;
    for (int i = 0; i < CHUNK; i++) {
      if (side * v->value[i] > 0) out[k * CHUNK + i] += before * side * v->paid[i];
      if (side * v->value_after[i] > 0) out[k * CHUNK + i] += after * side * v->paid_after[i];
    }
  }
}

/* Numbers of one chunk: see option_exposure_summarise. */
static void evaluate(const exposure_book *b, exposure_room *room, uint64_t first, const exposure_weights *weights,
                     exposure_values *v, double *out) {
  double *extra = out + (size_t)(2 * b->dates) * CHUNK;
  option_exposure_simulate(b, first, room);
  memset(extra, 0, EXPOSURE_EXTRAS * CHUNK * sizeof *extra);
  for (int d = 0; d < b->dates; d++) {
    memset(v, 0, sizeof *v);
    for (int k = 0; k < b->contracts; k++)
      if (b->step[d] <= b->contract[k].end) add_contract(b, room, d, k, v);
    memcpy(out + (size_t)d * CHUNK, v->value, sizeof v->value);
    memcpy(out + (size_t)(b->dates + d) * CHUNK, v->paid, sizeof v->paid);
    add_adjustments(v, d, weights, extra);
  }
}

static size_t columns_of(int dates) { return (size_t)(2 * dates + EXPOSURE_EXTRAS); }

static sim_status make_weights(const exposure_book *b, exposure_weights *weights) {
  const option_exposure *e = &b->p.exposure;
  SIM_TRY(option_exposure_weights_create(b, "exposure.hazard", e->hazard, e->recovery, weights + EXPOSURE_CVA));
  return option_exposure_weights_create(b, "exposure.own_hazard", e->own_hazard, e->own_recovery,
                                        weights + EXPOSURE_DVA);
}

/* Values of the book on the paths of a chunk, but for what is the same in all, by the fits without one part each. */
typedef struct exposure_spread {
  double value[EXPOSURE_PARTS][CHUNK];
  double below[CHUNK]; /* by how much fits are below the least value that there is, their mean over the parts */
} exposure_spread;

/* Adds one contract at a date to the values by all fits. A fit below 0 of a contract that pays nothing negative counts
 * as it is: the value that is taken for it is 0 in all of them, with the fit's own error and its distance from 0. */
static void add_fits(const exposure_book *b, exposure_room *room, int date, int contract, exposure_spread *out) {
  const exposure_contract *c = &b->contract[contract];
  const size_t numbers = exposure_place(b, b->dates, 0, 0) * OPTION_BASES_MAX;
  if (c->known || b->step[date] >= c->end) return;
  option_exposure_state_at(b, room, date, contract);
  for (int g = 0; g < EXPOSURE_GROUPS; g++) {
    const size_t place = exposure_place(b, date, contract, g);
    const exposure_basis *basis = &b->basis[place];
    if (basis->count == 0) continue;
    option_exposure_basis_evaluate(basis, room->state, room->functions);
    for (int part = 0; part < b->parts; part++) {
      const double *beta = b->beta_without + (size_t)part * numbers + place * OPTION_BASES_MAX;
      for (int i = 0; i < CHUNK; i++) {
        if (room->state->status[i] != (exposure_status)g) continue;
        const double fit = fit_of(basis, room, beta, i);
        out->value[part][i] += c->quantity * fit;
        if (c->not_below && fit < 0) out->below[i] -= fabs(c->quantity) * fit / b->parts;
      }
    }
  }
}

/* Standard error of a value by the fits without one part each (the jackknife), at least their distance from values that
 * there are; NaN where there are none. */
static double spread_of(const exposure_book *b, const exposure_spread *spread, int i) {
  double mean = 0, squares = 0;
  for (int k = 0; k < b->parts; k++) mean += spread->value[k][i] / b->parts;
  for (int k = 0; k < b->parts; k++) squares += (spread->value[k][i] - mean) * (spread->value[k][i] - mean);
  return b->parts > 0 ? fmax(sqrt(squares * (b->parts - 1) / b->parts), spread->below[i]) : NAN;
}

static bool any_fitted(const exposure_book *b, int date) {
  for (int k = 0; k < b->contracts; k++)
    if (b->step[date] < b->contract[k].end && !b->contract[k].known) return true;
  return false;
}

/* Keeps values, their errors and prices of the paths of chunk c, which are simulated once more. */
static void keep_chunk(const exposure_book *b, size_t c, const double *numbers, exposure_room *room,
                       exposure_spread *spread, option_exposures *out) {
  const size_t count = (size_t)b->p.exposure.values, dates = (size_t)b->dates, assets = (size_t)b->market->assets;
  const size_t first = c * CHUNK, end = first + CHUNK < count ? first + CHUNK : count;
  option_exposure_simulate(b, OPTION_EXPOSURE_FIRST + OPTION_EXPOSURE_STRIDE + first, room);
  for (size_t d = 0; d < dates; d++) {
    const bool fitted = any_fitted(b, (int)d);
    memset(spread, 0, sizeof *spread);
    for (int k = 0; k < b->contracts; k++) add_fits(b, room, (int)d, k, spread);
    for (size_t path = first; path < end; path++) {
      const size_t i = path - first;
      out->value[path * dates + d] = numbers[(c * columns_of(b->dates) + d) * CHUNK + i];
      if (fitted)
        out->error[path * dates + d] =
            b->parts > 0 ? fmax(out->error[path * dates + d], spread_of(b, spread, (int)i)) : NAN;
      for (size_t a = 0; a < assets; a++)
        out->price[(path * assets + a) * dates + d] =
            b->step[d] > 0 ? exposure_price(&room->columns, b->step[d], (int)a)[i] : b->market->spot[a];
    }
  }
}

/* Keeps values and prices of the first paths, on rank 0. */
static sim_status keep_paths(const exposure_book *b, const double *numbers, option_exposures *out) {
  const size_t chunks = ((size_t)b->p.exposure.values + CHUNK - 1) / CHUNK;
  if (out->value == NULL) return SIM_OK;
  exposure_spread *spread = calloc((size_t)b->threads, sizeof *spread);
  if (spread == NULL) return sim_no_memory("the exposure");
#pragma omp parallel for schedule(dynamic, 1) num_threads(b->threads)
  for (size_t c = 0; c < chunks; c++)
    keep_chunk(b, c, numbers, &b->room[omp_get_thread_num()], &spread[omp_get_thread_num()], out);
  free(spread);
  return SIM_OK;
}

/* Makes room for the values on rank 0, the only one that writes them. */
static sim_status make_values(const exposure_book *b, option_exposures *out) {
  const size_t count = (size_t)b->p.exposure.values, dates = (size_t)b->dates, assets = (size_t)b->market->assets;
  *out = (option_exposures){0};
  if (count == 0 || b->setup->comm->rank > 0) return SIM_OK;
  out->value = calloc(count * dates * (2 + assets), sizeof *out->value);
  if (out->value == NULL) return sim_no_memory("the exposure");
  out->error = out->value + count * dates;
  out->price = out->error + count * dates;
  return SIM_OK;
}

void option_exposure_free(option_exposures *exposures) {
  free(exposures->value);
  exposures->value = exposures->error = exposures->price = NULL;
}

static sim_status sample(exposure_book *b, option_exposures *out) {
  const sim_comm *comm = b->setup->comm;
  const int chunks = (int)(b->p.exposure.paths / CHUNK);
  const size_t each = columns_of(b->dates) * CHUNK, share = sim_comm_share(comm, (size_t)chunks);
  exposure_weights weights[EXPOSURE_EXTRAS];
  size_t end;
  const size_t first = sim_comm_first(comm, (size_t)chunks, &end);
  SIM_TRY(make_values(b, out));
  SIM_TRY(make_weights(b, weights));
  double *numbers = calloc(share * (size_t)comm->size * each, sizeof *numbers);
  exposure_values *values = calloc((size_t)b->threads, sizeof *values);
  sim_status status = numbers != NULL && values != NULL ? SIM_OK : sim_no_memory("the exposure");
  sim_startup("exposure: paths", 0, 0);
#pragma omp parallel for schedule(dynamic, 1) num_threads(b->threads)
  for (size_t c = first; c < (status == SIM_OK ? end : first); c++) {
    const int thread = omp_get_thread_num();
    evaluate(b, &b->room[thread], OPTION_EXPOSURE_FIRST + OPTION_EXPOSURE_STRIDE + c * CHUNK, weights, &values[thread],
             numbers + c * each);
  }
  if (status == SIM_OK) status = option_exposure_agree(b);
  if (status == SIM_OK)
    status =
        comm->ops->gather(comm, numbers + (size_t)comm->rank * share * each, share * each * sizeof *numbers, numbers);
  if (status == SIM_OK) status = option_exposure_summarise(b, numbers, chunks, out);
  if (status == SIM_OK) status = keep_paths(b, numbers, out);
  free(numbers);
  free(values);
  return status;
}

/* ---- create and destroy ---- */

static option_parameters of_prices(const option_parameters *p) {
  option_parameters q = *p;
  q.common.precision = SIM_DOUBLE;
  q.greeks = (option_greeks){.method = OPTION_AUTO};
  q.sampling.sequence = OPTION_PHILOX;
  q.sampling.antithetic = q.sampling.moment_matching = false;
  q.sampling.control = OPTION_NO_CONTROL;
  return q;
}

/* Lists the features that a room keeps: of the payments, then prices at all marked steps, then variances. */
static sim_status make_features(exposure_book *b) {
  const option_graph *g = &b->sampler->estimate.graph;
  const int assets = b->market->assets;
  bool *mark = calloc((size_t)b->market->steps + 1, sizeof *mark);
  b->row = calloc((size_t)b->market->steps + 1, sizeof *b->row);
  if (mark == NULL || b->row == NULL) {
    free(mark);
    return sim_no_memory("the exposure");
  }
  for (int d = 1; d < b->dates; d++) mark[b->step[d]] = true;
  for (int k = 0; k < b->contracts; k++) option_exposure_contract_mark(&b->contract[k], mark);
  for (int s = 1; s <= b->market->steps; s++) b->row[s] = mark[s] ? b->rows++ : -1;
  free(mark);
  b->features = g->features + (b->rows + b->dates) * assets;
  b->feature = calloc((size_t)b->features, sizeof *b->feature);
  if (b->feature == NULL) return sim_no_memory("the exposure");
  memcpy(b->feature, g->feature, (size_t)g->features * sizeof *b->feature);
  option_feature *of = b->feature + g->features;
  for (int s = 1; s <= b->market->steps; s++)
    for (int a = 0; a < assets && b->row[s] >= 0; a++)
      *of++ = (option_feature){.kind = OPTION_FIXING, .asset = a, .step = s};
  for (int d = 0; d < b->dates; d++)
    for (int a = 0; a < assets; a++) *of++ = (option_feature){.kind = OPTION_VARIANCE, .asset = a, .step = b->step[d]};
  return SIM_OK;
}

static sim_status make_room(const exposure_book *b, exposure_room *room) {
  const int graph = b->sampler->estimate.graph.features, outputs = b->sampler->estimate.graph.outputs;
  const size_t columns = (size_t)(b->features + outputs + OPTION_BASES_MAX);
  room->numbers = aligned_alloc(64, columns * CHUNK * sizeof *room->numbers);
  room->out = calloc((size_t)(b->features + outputs), sizeof *room->out);
  room->state = calloc(1, sizeof *room->state);
  if (room->numbers == NULL || room->out == NULL || room->state == NULL) return sim_no_memory("the exposure");
  memset(room->numbers, 0, columns * CHUNK * sizeof *room->numbers);
  for (int k = 0; k < b->features + outputs; k++) room->out[k] = room->numbers + (size_t)k * CHUNK;
  room->columns = (exposure_columns){.row = b->row,
                                     .assets = b->market->assets,
                                     .price = room->numbers + (size_t)graph * CHUNK,
                                     .variance = room->numbers + (size_t)(graph + b->rows * b->market->assets) * CHUNK};
  room->functions = room->numbers + (size_t)(b->features + outputs) * CHUNK;
  return SIM_OK;
}

static sim_status make(exposure_book *b, const option_parameters *p, const sim_setup *setup) {
  b->p = of_prices(p);
  b->setup = setup;
  b->threads = setup->threads < 1 ? 1 : setup->threads;
  SIM_TRY(option_ops_cpu.create(&b->p, setup, &b->sampler));
  b->market = &b->sampler->estimate.market[0];
  b->contracts = (int)p->payoffs.count;
  b->step = calloc(1 + p->exposure.dates.rows + (size_t)p->steps + p->payoffs.count, sizeof *b->step);
  b->contract = calloc((size_t)b->contracts, sizeof *b->contract);
  b->room = calloc((size_t)b->threads, sizeof *b->room);
  if (b->step == NULL || b->contract == NULL || b->room == NULL) return sim_no_memory("the exposure");
  b->dates = option_exposure_steps(p, &b->market->unmoved, b->step);
  for (int k = 0; k < b->contracts; k++)
    SIM_TRY(option_exposure_contract_create(&b->p, b->market, b->sampler->rules != NULL ? &b->sampler->rules[k] : NULL,
                                            k, &b->contract[k]));
  SIM_TRY(make_features(b));
  const size_t regressions = exposure_place(b, b->dates, 0, 0);
  b->basis = calloc(regressions, sizeof *b->basis);
  b->beta = calloc(regressions * OPTION_BASES_MAX, sizeof *b->beta);
  if (b->basis == NULL || b->beta == NULL) return sim_no_memory("the exposure");
  for (int t = 0; t < b->threads; t++) SIM_TRY(make_room(b, &b->room[t]));
  return SIM_OK;
}

static void destroy(exposure_book *b) {
  for (int t = 0; t < b->threads && b->room != NULL; t++) {
    free(b->room[t].numbers);
    free(b->room[t].out);
    free(b->room[t].state);
  }
  for (int k = 0; k < b->contracts && b->contract != NULL; k++) option_exposure_contract_free(&b->contract[k]);
  if (b->sampler != NULL) option_ops_cpu.destroy(&b->sampler);
  free(b->room);
  free(b->contract);
  free(b->step);
  free(b->row);
  free(b->feature);
  free(b->basis);
  free(b->beta);
  free(b->beta_without);
  free(b);
}

sim_status option_exposure_create(const option_parameters *p, const sim_setup *setup, option_exposures *out) {
  exposure_book *b = calloc(1, sizeof *b);
  if (b == NULL) return sim_no_memory("the exposure");
  sim_status status = make(b, p, setup);
  if (status == SIM_OK) status = option_exposure_fit(b);
  if (status == SIM_OK) status = sample(b, out);
  destroy(b);
  return status;
}

/* ---- plan ---- */

double option_exposure_kept(const option_parameters *p) {
  return (double)p->exposure.values * (p->exposures * (2 + (double)p->assets.count) + 1) * sizeof(double);
}

double option_exposure_bytes(const option_parameters *p, const sim_setup *setup) {
  if (!p->exposure.given) return 0;
  const double dates = p->exposures, contracts = (double)p->payoffs.count, assets = (double)p->assets.count;
  const double paths = p->exposure.paths + CHUNK * setup->comm->size;
  const double room = (fmin((double)p->nodes, 1e4) + dates) * assets + 2 * contracts + 2 * OPTION_BASES_MAX + 150;
  const option_parameters q = of_prices(p);
  const double sorted = 5; /* numbers of a path for the quantiles: see summary.c */
  const double regressions = dates * contracts * EXPOSURE_GROUPS;
  const bool writes = p->exposure.values > 0;
  const double kept = option_exposure_kept(p) + /* with the numbers of the paths, in the dataset */
                      (writes ? EXPOSURE_PARTS * regressions * OPTION_BASES_MAX * sizeof(double) +
                                    setup->threads * sizeof(exposure_spread)
                              : 0);
  return option_ops_cpu.bytes(&q, setup) + kept + setup->threads * room * CHUNK * sizeof(double) +
         EXPOSURE_RARE * sizeof(exposure_state) +
         regressions * (sizeof(exposure_basis) + OPTION_BASES_MAX * sizeof(double)) +
         fmax(((double)columns_of(p->exposures) + sorted) * paths * sizeof(double),
              option_exposure_fit_bytes(dates, contracts, setup->comm->size));
}

double option_exposure_work(const option_parameters *p) {
  if (!p->exposure.given) return 0;
  const double value = 20; /* path-steps that the value of a contract at a date costs (measured, one asset) */
  return (p->exposure.paths + p->exposure.fit_paths) *
         ((double)p->nodes * (double)p->assets.count + value * p->exposures * (double)p->payoffs.count);
}

void option_exposure_exchanges(const option_parameters *p, int ranks, double *bytes, double *exchanges) {
  if (!p->exposure.given || ranks < 2) return;
  const double others = ranks - 1, share = ceil(p->exposure.paths / CHUNK / ranks);
  *bytes += others * share * (double)columns_of(p->exposures) * CHUNK * sizeof(double) +
            option_exposure_fit_bytes(p->exposures, (double)p->payoffs.count, ranks) * others / ranks;
  *exchanges += 2;
}
