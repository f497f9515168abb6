#include "kernels/option/exposure/contract.h"

#include "kernels/option/payoff/builder.h"
#include "kernels/option/scenario/currency.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = OPTION_CHUNK };

typedef struct place {
  const option_parameters *p;
  const option_market *market;
  const exposure_contract *of;
  const exposure_columns *columns;
  int date, step;
} place;

static bool is(const exposure_contract *c, const sim_schema *schema) { return c->item->schema == schema; }

static bool is_barrier(const exposure_contract *c) {
  return is(c, &option_barrier_schema) || is(c, &option_double_barrier_schema);
}

/* ---- what a contract is ---- */

static void set_assets(const option_parameters *p, exposure_contract *c) {
  const option_payoff *o = c->payoff;
  const bool all = is(c, &option_basket_schema) || is(c, &option_best_of_schema) || is(c, &option_worst_of_schema);
  c->assets = all ? (int)p->assets.count : is(c, &option_spread_schema) ? 2 : 1;
  for (int k = 0; k < c->assets; k++) {
    c->asset[k] = all ? k : (int)(k == 0 ? o->asset : o->second) - 1;
    c->weight[k] = is(c, &option_spread_schema) ? 1 - 2 * k
                   : all && o->weights.rows > 0 ? o->weights.data[k]
                                                : 1.0 / c->assets;
  }
}

static int start_of(const option_parameters *p, const option_market *market, const option_payoff *o) {
  const double t = o->start > 0 ? p->maturity * ((double)o->start / (double)p->steps) : o->start_time;
  return o->start > 0 && p->nodes == p->steps ? (int)o->start : option_steps_until(market, t);
}

sim_status option_exposure_contract_create(const option_parameters *p, const option_market *market,
                                           const option_rule *rule, int number, exposure_contract *out) {
  const sim_item *item = &p->payoffs.items[number];
  const option_payoff *o = item->data;
  *out = (exposure_contract){.item = item,
                             .payoff = o,
                             .number = number,
                             .end = option_steps_until(market, option_own_maturity(p, o)),
                             .quantity = p->exposure.quantities.rows > 0 ? p->exposure.quantities.data[number] : 1};
  set_assets(p, out);
  if (is(out, &option_american_schema)) out->rule = rule;
  if (is(out, &option_forward_start_schema)) out->start = start_of(p, market, o);
  out->hedged = market->tilt == NULL && /* means are not known with it */
                !option_is_swap(item) && !is(out, &option_american_schema) && !is(out, &option_autocallable_schema);
  for (int k = 0; k < out->assets; k++) out->hedged &= option_asset_at(p, out->asset[k])->dividends.rows == 0;
  const option_asset *asset = option_asset_at(p, out->asset[0]);
  out->known = (is(out, &option_european_schema) || is(out, &option_digital_schema)) && asset->vol != NULL &&
               !asset->jumps.given && asset->dividends.rows == 0;
  out->not_below = !option_is_swap(item) && !(o->cash < 0);
  if (is(out, &option_american_schema)) {
    out->observations = rule->dates;
  } else if (is(out, &option_asian_schema) || is(out, &option_autocallable_schema) || is_barrier(out) ||
             option_is_swap(item)) {
    out->observations = option_observation_count(p, o);
  }
  out->observed = calloc((size_t)market->steps + 1, sizeof *out->observed);
  if (out->observed == NULL) return sim_no_memory("the exposure");
  if (is(out, &option_american_schema))
    memcpy(out->observed, rule->step, (size_t)rule->dates * sizeof *out->observed);
  else if (is(out, &option_autocallable_schema))
    out->observations = option_dates(p, market, o, out->observed);
  else if (out->observations > 0)
    option_observations(p, market, o, out->observed);
  return SIM_OK;
}

void option_exposure_contract_free(exposure_contract *contract) { free(contract->observed); }

void option_exposure_contract_mark(const exposure_contract *c, bool *mark) {
  mark[c->end] = true;
  if (c->start > 0) mark[c->start] = true;
  for (int k = 0; k < c->observations; k++) mark[c->observed[k]] = true;
}

/* ---- the state ---- */

/* Mean price at the end of step `to` over the price at the end of `from`, cash dividends aside. */
static double growth(const place *at, int asset, int from, int to) {
  const double *g = at->market->growth;
  const int assets = at->market->assets;
  return exp((to > 0 ? g[(to - 1) * assets + asset] : 0) - (from > 0 ? g[(from - 1) * assets + asset] : 0));
}

static double positive(double x) { return x > 0 ? x : 0; }

static double plain(const option_payoff *o, double price, double strike) {
  return positive(o->type == OPTION_CALL ? price - strike : strike - price);
}

static const double *price_now(const place *at, int k) {
  return exposure_price(at->columns, at->step, at->of->asset[k]);
}
static const double *price_last(const place *at, int k) {
  return exposure_price(at->columns, at->of->end, at->of->asset[k]);
}

/* u and the hedge of what is paid on the last prices. */
static void last_prices(const place *at, exposure_state *s) {
  const exposure_contract *c = at->of;
  const bool best = is(c, &option_best_of_schema), worst = is(c, &option_worst_of_schema);
  for (int k = 0; k < c->assets; k++) {
    const double *now = price_now(at, k), *last = price_last(at, k), f = growth(at, c->asset[k], at->step, c->end);
    for (int i = 0; i < CHUNK; i++) {
      const double forward = now[i] * f;
      s->hedge[i] = (k > 0 ? s->hedge[i] : 0) + c->weight[k] * (last[i] - forward);
      if (c->assets == 1)
        s->u[i] = forward;
      else if (best || worst)
        s->u[i] = k == 0 ? forward : best ? fmax(s->u[i], forward) : fmin(s->u[i], forward);
      else
        s->u[i] = (k > 0 ? s->u[i] : 0) + c->weight[k] * forward;
    }
    if (c->assets > 1) memcpy(s->raw[s->raws++], now, sizeof s->raw[0]);
  }
}

/* The expected mean of past, seen and coming fixings. Of a geometric one without the drift: any smooth variable does.
 */
static void asian(const place *at, exposure_state *s) {
  const exposure_contract *c = at->of;
  const option_payoff *o = c->payoff;
  const bool geometric = o->average == OPTION_GEOMETRIC_AVERAGE;
  const double all = c->observations + (double)o->past.rows;
  double past = 0, coming = 0;
  int left = 0;
  for (size_t k = 0; k < o->past.rows; k++) past += geometric ? log(o->past.data[k]) : o->past.data[k];
  for (int k = 0; k < c->observations; k++)
    if (c->observed[k] > at->step) {
      coming += growth(at, c->asset[0], at->step, c->observed[k]);
      left++;
    }
  const double *now = price_now(at, 0), *last = price_last(at, 0), f = growth(at, c->asset[0], at->step, c->end);
  for (int i = 0; i < CHUNK; i++) {
    double seen = past, later = 0;
    for (int k = 0; k < c->observations; k++) {
      const double price = exposure_price(at->columns, c->observed[k], c->asset[0])[i];
      if (c->observed[k] > at->step)
        later += price;
      else
        seen += geometric ? log(price) : price;
    }
    s->u[i] = geometric ? exp((seen + left * log(now[i])) / all) : (seen + now[i] * coming) / all;
    s->hedge[i] = geometric ? last[i] - now[i] * f : (later - now[i] * coming) / all;
  }
  if (left > 0) memcpy(s->raw[s->raws++], now, sizeof s->raw[0]);
}

/* Seen part of the realised variance, and how far the price is from that of the last fixing. */
static void swap(const place *at, exposure_state *s) {
  const exposure_contract *c = at->of;
  const double *now = price_now(at, 0), spot = at->market->spot[c->asset[0]];
  double *away = s->raw[s->raws++];
  for (int i = 0; i < CHUNK; i++) {
    double before = spot, sum = 0;
    for (int k = 0; k < c->observations && c->observed[k] <= at->step; k++) {
      const double price = exposure_price(at->columns, c->observed[k], c->asset[0])[i], change = log(price / before);
      sum += change * change;
      before = price;
    }
    s->u[i] = sum;
    away[i] = log(now[i] / before);
  }
  memcpy(s->raw[s->raws++], now, sizeof s->raw[0]);
}

static void forward_start(const place *at, exposure_state *s) {
  const exposure_contract *c = at->of;
  last_prices(at, s);
  if (at->step < c->start) return; /* proportional to the price */
  const double *start = exposure_price(at->columns, c->start, c->asset[0]);
  memcpy(s->raw[s->raws++], price_now(at, 0), sizeof s->raw[0]);
  for (int i = 0; i < CHUNK; i++) {
    s->u[i] -= c->payoff->moneyness * start[i];
    s->guess[i] = plain(c->payoff, s->u[i], 0);
  }
}

/* Whether the levels have been reached by the price. */
static bool is_reached(const exposure_contract *c, double price) {
  const option_payoff *o = c->payoff;
  if (is(c, &option_double_barrier_schema)) return !(o->low < price && price < o->high);
  return o->direction == OPTION_UP ? !(price < o->level) : !(o->level < price);
}

static void barrier(const place *at, exposure_state *s) {
  const exposure_contract *c = at->of;
  bool reached[CHUNK] = {false}, left = false;
  for (int k = 0; k < c->observations; k++) {
    left |= c->observed[k] > at->step;
    if (c->observed[k] > at->step) break;
    const double *price = exposure_price(at->columns, c->observed[k], c->asset[0]);
    for (int i = 0; i < CHUNK; i++) reached[i] |= is_reached(c, price[i]);
  }
  const bool in = c->payoff->knock == OPTION_IN;
  for (int i = 0; i < CHUNK; i++)
    if (reached[i])
      s->status[i] = in ? EXPOSURE_KNOCKED_IN : EXPOSURE_SURE;
    else if (in && !left)
      s->status[i] = EXPOSURE_SURE;
}

static void autocall(const place *at, exposure_state *s) {
  const exposure_contract *c = at->of;
  for (int k = 0; k < c->observations && c->observed[k] <= at->step; k++) {
    const double *price = exposure_price(at->columns, c->observed[k], c->asset[0]);
    for (int i = 0; i < CHUNK; i++)
      if (s->status[i] == EXPOSURE_ALIVE && price[i] >= c->payoff->level)
        s->status[i] = c->observed[k] < at->step ? EXPOSURE_PAID : EXPOSURE_NOW;
  }
}

/* By the rule of the paths: see cpu/features.h. */
static void exercised(const place *at, exposure_state *s) {
  const exposure_contract *c = at->of;
  const option_rule *r = c->rule;
  for (int d = 0; d < r->dates && r->step[d] <= at->step; d++) {
    const double *price = exposure_price(at->columns, r->step[d], c->asset[0]);
    const double *beta = r->beta + (size_t)d * (OPTION_DEGREE_MAX + 1);
    for (int i = 0; i < CHUNK; i++) {
      if (s->status[i] != EXPOSURE_ALIVE) continue;
      const double payment = option_rule_payoff(r, price[i]), x = (price[i] - r->centre) * r->scale;
      double hold = 0;
      for (int k = r->degree; k >= 0 && d + 1 < r->dates; k--) hold = fma(hold, x, beta[k]);
      if (payment > 0 && payment - hold > 0) s->status[i] = r->step[d] < at->step ? EXPOSURE_PAID : EXPOSURE_NOW;
    }
  }
}

/* Variance of the logarithm of the last price at the end of `step`, of an asset with a `vol`. */
static double variance_left(const option_market *market, const exposure_contract *c, int step) {
  const double ln2 = 0.69314718055994530942;
  double variance = 0;
  for (; step < c->end; step++) {
    const double vol = market->vol[step * market->assets + c->asset[0]] * ln2;
    variance += vol * vol;
  }
  return variance;
}

/* Black's value of a European or digital payoff, not discounted; variance > 0. */
static double black(const exposure_contract *c, double u, double variance) {
  const option_payoff *o = c->payoff;
  const double middle = log(u) - variance / 2, deviation = sqrt(variance), side = o->type == OPTION_CALL ? 1 : -1;
  if (is(c, &option_european_schema)) return option_lognormal_price(middle, deviation, o->strike, (option_type)o->type);
  if (!(o->strike > 0)) return 0;
  return o->cash * 0.5 * erfc(-side * (middle - log(o->strike)) / deviation * 0.70710678118654752440);
}

/* The payment if the underlying ended at u. */
static double payment(const option_market *market, const exposure_contract *c, double u) {
  const option_payoff *o = c->payoff;
  const double initial = o->initial > 0 ? o->initial : market->spot[c->asset[0]];
  if (is(c, &option_digital_schema)) return (o->type == OPTION_CALL ? o->strike < u : u < o->strike) ? o->cash : 0;
  if (is(c, &option_autocallable_schema)) return o->protection <= u ? o->cash : o->cash * u / initial;
  return plain(o, u, o->strike);
}

static double known_value(const option_market *market, const exposure_contract *c, double u, double variance) {
  const bool random = variance > 0 && u > 0 && c->payoff->strike > 0;
  return option_quanto_rate(c->payoff) * (random ? black(c, u, variance) : payment(market, c, u));
}

double option_exposure_known(const option_market *market, const exposure_contract *c, int step, double u) {
  return known_value(market, c, u, variance_left(market, c, step));
}

/* Payment at u, and Black's value of a European one. */
static void guesses(const place *at, exposure_state *s) {
  const exposure_contract *c = at->of;
  const option_asset *asset = option_asset_at(at->p, c->asset[0]);
  const bool european = is(c, &option_european_schema) || is(c, &option_digital_schema);
  const double variance = variance_left(at->market, c, at->step);
  const bool formula = european && asset->vol != NULL && variance > 0;
  for (int i = 0; i < CHUNK; i++) {
    s->guess[i] = payment(at->market, c, s->u[i]);
    if (c->known)
      s->curve[i] = known_value(at->market, c, s->u[i], variance);
    else if (formula && s->u[i] > 0)
      s->curve[i] = black(c, s->u[i], variance);
  }
}

static void add_variances(const place *at, exposure_state *s) {
  for (int k = 0; k < at->of->assets; k++) {
    const int a = at->of->asset[k];
    if (!option_asset_at(at->p, a)->heston.given) continue;
    memcpy(s->raw[s->raws++],
           at->columns->variance + ((size_t)at->date * (size_t)at->columns->assets + (size_t)a) * CHUNK,
           sizeof s->raw[0]);
  }
}

void option_exposure_state_of(const option_parameters *p, const option_market *market, const exposure_contract *c,
                              const exposure_columns *columns, int date, int step, exposure_state *s) {
  const place at = {p, market, c, columns, date, step};
  s->raws = 0;
  for (int i = 0; i < CHUNK; i++) {
    s->status[i] = EXPOSURE_ALIVE;
    s->guess[i] = s->curve[i] = s->hedge[i] = 0;
  }
  if (option_is_swap(c->item))
    swap(&at, s);
  else if (is(c, &option_asian_schema))
    asian(&at, s);
  else if (is(c, &option_forward_start_schema))
    forward_start(&at, s);
  else
    last_prices(&at, s);
  if (!option_is_swap(c->item) && !is(c, &option_forward_start_schema)) guesses(&at, s);
  if (is_barrier(c)) barrier(&at, s);
  if (is(c, &option_autocallable_schema)) autocall(&at, s);
  if (c->rule != NULL) exercised(&at, s);
  for (int i = 0; i < CHUNK && step == c->end; i++)
    if (s->status[i] != EXPOSURE_PAID) s->status[i] = EXPOSURE_NOW;
  add_variances(&at, s);
  if (!c->hedged) memset(s->hedge, 0, sizeof s->hedge);
}
