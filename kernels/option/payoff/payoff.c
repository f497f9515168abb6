/* Payoffs as graphs of path features: named payoffs are built here, the scenario's function is inserted. Control
 * variates are further outputs of the same graph. */
#include "kernels/option/payoff/builder.h"
#include "kernels/option/payoff/exercise.h"
#include "kernels/option/scenario/currency.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sim_expr_ref feature_of(option_builder *m, option_kind kind, int asset) {
  return option_builder_feature(m, (option_feature){.kind = kind, .asset = asset});
}

static sim_expr_ref sub(option_builder *m, sim_expr_ref a, sim_expr_ref b) {
  return option_builder_call(m, SIM_EXPR_SUB, a, b, 0);
}
static sim_expr_ref mul(option_builder *m, sim_expr_ref a, sim_expr_ref b) {
  return option_builder_call(m, SIM_EXPR_MUL, a, b, 0);
}
static sim_expr_ref positive(option_builder *m, sim_expr_ref a) {
  return option_builder_call(m, SIM_EXPR_MAX, a, option_builder_number(m, 0), 0);
}
/* 1 where a < b, else 0. */
static sim_expr_ref below(option_builder *m, sim_expr_ref a, sim_expr_ref b) {
  return option_builder_call(m, SIM_EXPR_WHERE, option_builder_call(m, SIM_EXPR_LT, a, b, 0),
                             option_builder_number(m, 1), option_builder_number(m, 0));
}

/* ---- prices and payments in another currency ---- */

/* The rate of exchange of the asset's currency at the end of a step. */
static sim_expr_ref rate_at(option_builder *m, int asset, int step) {
  return option_price_at(m, (int)option_asset_at(m->p, asset)->currency - 1, step);
}

static bool is_composite(const option_builder *m, const option_payoff *o, int asset) {
  return o->exchange == OPTION_COMPOSITE && option_asset_at(m->p, asset)->currency > 0;
}

/* The price that the payoff sees at the end of a step. */
static sim_expr_ref price_at(option_builder *m, const option_payoff *o, int asset, int step) {
  sim_expr_ref price = option_price_at(m, asset, step);
  return is_composite(m, o, asset) ? mul(m, price, rate_at(m, asset, step)) : price;
}

/* The price at the payoff's maturity. */
static sim_expr_ref last_of(option_builder *m, const option_payoff *o, int asset) {
  return price_at(m, o, asset, option_steps_until(m->market, option_own_maturity(m->p, o)));
}

/* Mean, maximum or minimum of the converted prices at the payoff's dates. */
static sim_expr_ref converted(option_builder *m, option_kind kind, int asset, const option_payoff *o) {
  const sim_expr_op op = kind == OPTION_MEAN ? SIM_EXPR_ADD : kind == OPTION_MAX ? SIM_EXPR_MAX : SIM_EXPR_MIN;
  int *step = calloc((size_t)m->market->steps + 1, sizeof *step);
  if (step == NULL) m->status = sim_no_memory("the dates");
  const int count = m->status == SIM_OK ? option_observations(m->p, m->market, o, step) : 0;
  sim_expr_ref out = 0;
  for (int k = 0; k < count && m->status == SIM_OK; k++) {
    sim_expr_ref price = price_at(m, o, asset, step[k]);
    out = k == 0 ? price : option_builder_call(m, op, out, price, 0);
  }
  free(step);
  return kind == OPTION_MEAN ? mul(m, out, option_builder_number(m, 1.0 / fmax(count, 1))) : out;
}

/* A feature of the prices that the payoff observes; the geometric mean of products is the product of the means. */
static sim_expr_ref observed(option_builder *m, option_kind kind, int asset, const option_payoff *o) {
  if (!is_composite(m, o, asset)) return option_observed(m, kind, asset, o);
  if (kind != OPTION_GEOMETRIC) return converted(m, kind, asset, o);
  const int currency = (int)option_asset_at(m->p, asset)->currency - 1;
  return mul(m, option_observed(m, kind, asset, o), option_observed(m, kind, currency, o));
}

/* What is paid at the end of a step, in the run's currency, times the deflator of a random rate. `asset`: one in
 * another currency; -1: none. */
static sim_expr_ref paid_at(option_builder *m, const option_payoff *o, int asset, sim_expr_ref paid, int step) {
  if (option_quanto_rate(o) != 1) paid = mul(m, paid, option_builder_number(m, option_quanto_rate(o)));
  if (o->exchange == OPTION_AT_PAYMENT && asset >= 0) paid = mul(m, paid, rate_at(m, asset, step));
  if (!m->p->hull_white.given) return paid;
  return mul(m, paid, option_builder_feature(m, (option_feature){.kind = OPTION_DEFLATOR, .asset = -1, .step = step}));
}

/* ---- the named payoffs ---- */

static sim_expr_ref plain(option_builder *m, sim_expr_ref price, double strike, int type) {
  sim_expr_ref k = option_builder_number(m, strike);
  return positive(m, type == OPTION_CALL ? sub(m, price, k) : sub(m, k, price));
}

/* The European payoff where `alive` is 1 (knock out) or 0 (knock in), and the rebate elsewhere. alive may be a
 * probability. */
static sim_expr_ref knocked(option_builder *m, const option_payoff *o, int asset, sim_expr_ref alive) {
  sim_expr_ref one = option_builder_number(m, 1), pays = o->knock == OPTION_IN ? sub(m, one, alive) : alive;
  sim_expr_ref out = mul(m, plain(m, last_of(m, o, asset), o->strike, o->type), pays);
  if (o->rebate == 0) return out;
  sim_expr_ref rebate = mul(m, option_builder_number(m, o->rebate), sub(m, one, pays));
  return option_builder_call(m, SIM_EXPR_ADD, out, rebate, 0);
}

static sim_expr_ref barrier(option_builder *m, const option_payoff *o, int asset) {
  const bool up = o->direction == OPTION_UP;
  sim_expr_ref alive, level = option_builder_number(m, o->level);
  if (o->monitoring == OPTION_CONTINUOUS)
    alive = option_survival(m, up ? OPTION_NOT_ABOVE : OPTION_NOT_BELOW, asset, o);
  else if (up)
    alive = below(m, observed(m, OPTION_MAX, asset, o), level);
  else
    alive = below(m, level, observed(m, OPTION_MIN, asset, o));
  return knocked(m, o, asset, alive);
}

/* Between the steps from the joint law of maximum and minimum. */
static sim_expr_ref double_barrier(option_builder *m, const option_payoff *o, int asset) {
  const bool continuous = o->monitoring == OPTION_CONTINUOUS;
  sim_expr_ref low = observed(m, continuous ? OPTION_LOW : OPTION_MIN, asset, o),
               high = observed(m, continuous ? OPTION_HIGH : OPTION_MAX, asset, o);
  return knocked(
      m, o, asset,
      mul(m, below(m, option_builder_number(m, o->low), low), below(m, high, option_builder_number(m, o->high))));
}

static sim_expr_ref forward_start(option_builder *m, const option_payoff *o, int asset) {
  const double t = o->start > 0 ? m->p->maturity * ((double)o->start / (double)m->p->steps) : o->start_time;
  const bool plain = o->start > 0 && m->p->nodes == m->p->steps;
  sim_expr_ref start = price_at(m, o, asset, plain ? (int)o->start : option_steps_until(m->market, t));
  sim_expr_ref strike = mul(m, option_builder_number(m, o->moneyness), start), last = last_of(m, o, asset);
  return positive(m, o->type == OPTION_CALL ? sub(m, last, strike) : sub(m, strike, last));
}

/* The mean of past fixings and those of the path. */
static sim_expr_ref asian_mean(option_builder *m, const option_payoff *o, int asset) {
  const bool geometric = o->average == OPTION_GEOMETRIC_AVERAGE;
  sim_expr_ref mean = observed(m, geometric ? OPTION_GEOMETRIC : OPTION_MEAN, asset, o);
  const double n = option_observation_count(m->p, o), all = n + (double)o->past.rows;
  double sum = 0;
  for (size_t k = 0; k < o->past.rows; k++) sum += geometric ? log(o->past.data[k]) : o->past.data[k];
  if (o->past.rows == 0) return mean;
  if (geometric) mean = option_builder_call(m, SIM_EXPR_LOG, mean, 0, 0);
  mean = option_builder_call(m, SIM_EXPR_ADD, mul(m, mean, option_builder_number(m, n / all)),
                             option_builder_number(m, sum / all), 0);
  return geometric ? option_builder_call(m, SIM_EXPR_EXP, mean, 0, 0) : mean;
}

/* The highest (or lowest) price that the payoff sees, and has seen. */
static sim_expr_ref extreme(option_builder *m, const option_payoff *o, option_kind kind, int asset) {
  sim_expr_ref own = observed(m, kind, asset, o);
  if (!(o->extreme > 0)) return own;
  const sim_expr_op pick = kind == OPTION_HIGH || kind == OPTION_MAX ? SIM_EXPR_MAX : SIM_EXPR_MIN;
  return option_builder_call(m, pick, own, option_builder_number(m, o->extreme), 0);
}

static sim_expr_ref lookback(option_builder *m, const option_payoff *o, int asset) {
  const bool continuous = o->monitoring == OPTION_CONTINUOUS, call = o->type == OPTION_CALL;
  const option_kind high = continuous ? OPTION_HIGH : OPTION_MAX, low = continuous ? OPTION_LOW : OPTION_MIN;
  if (!isnan(o->strike)) return plain(m, extreme(m, o, call ? high : low, asset), o->strike, o->type);
  sim_expr_ref last = last_of(m, o, asset);
  return call ? positive(m, sub(m, last, extreme(m, o, low, asset)))
              : positive(m, sub(m, extreme(m, o, high, asset), last));
}

static sim_expr_ref basket(option_builder *m, const option_payoff *o) {
  sim_expr_ref sum = 0;
  int priced = 0, added = 0;
  for (int a = 0; a < m->market->assets; a++) priced += !option_is_currency(m->p, a);
  for (int a = 0; a < m->market->assets; a++) {
    const bool equal = o->weights.rows == 0;
    if (equal && option_is_currency(m->p, a)) continue;
    sim_expr_ref part = mul(m, option_builder_number(m, equal ? 1.0 / priced : o->weights.data[a]), last_of(m, o, a));
    sum = added++ == 0 ? part : option_builder_call(m, SIM_EXPR_ADD, sum, part, 0);
  }
  return plain(m, sum, o->strike, o->type);
}

/* `pick`: SIM_EXPR_MAX for the best of all assets, SIM_EXPR_MIN for the worst; rates of exchange are none of them. */
static sim_expr_ref one_of_all(option_builder *m, const option_payoff *o, sim_expr_op pick) {
  sim_expr_ref picked = 0;
  int count = 0;
  for (int a = 0; a < m->market->assets; a++) {
    if (option_is_currency(m->p, a)) continue;
    sim_expr_ref price = last_of(m, o, a);
    picked = count++ == 0 ? price : option_builder_call(m, pick, picked, price, 0);
  }
  return plain(m, picked, o->strike, o->type);
}

/* Selects the highest price of those that are left, once for each weight; rates of exchange are none of them. */
static sim_expr_ref rainbow(option_builder *m, const option_payoff *o) {
  sim_expr_ref price[OPTION_RAINBOW_MAX], sum = 0;
  int prices = 0, added = 0;
  for (int a = 0; a < m->market->assets; a++)
    if (!option_is_currency(m->p, a)) price[prices++] = last_of(m, o, a);
  for (int k = 0; k < prices; k++) {
    for (int i = k + 1; i < prices; i++) {
      const sim_expr_ref higher = option_builder_call(m, SIM_EXPR_MAX, price[k], price[i], 0);
      price[i] = option_builder_call(m, SIM_EXPR_MIN, price[k], price[i], 0);
      price[k] = higher;
    }
    if (o->weights.data[k] == 0) continue;
    const sim_expr_ref part = mul(m, option_builder_number(m, o->weights.data[k]), price[k]);
    sum = added++ == 0 ? part : option_builder_call(m, SIM_EXPR_ADD, sum, part, 0);
  }
  return plain(m, sum, o->strike, o->type);
}

/* Cash and coupons at the first date whose price is at least the level, carried to maturity: step[dates]. */
static sim_expr_ref called(option_builder *m, const option_payoff *o, int asset, const int *step, int dates) {
  const option_market *market = m->market;
  const int end = option_steps_until(market, option_own_maturity(m->p, o));
  sim_expr_ref level = option_builder_number(m, o->level), last = last_of(m, o, asset);
  const double rate = is_composite(m, o, asset) ? market->spot[option_asset_at(m->p, asset)->currency - 1] : 1;
  const double initial = o->initial > 0 ? o->initial : market->spot[asset] * rate;
  sim_expr_ref share = mul(m, last, option_builder_number(m, o->cash / initial));
  sim_expr_ref safe = option_builder_call(m, SIM_EXPR_LE, option_builder_number(m, o->protection), last, 0);
  sim_expr_ref out = option_builder_call(m, SIM_EXPR_WHERE, safe, option_builder_number(m, o->cash), share);
  out = paid_at(m, o, asset, out, end);
  for (int d = dates; d > 0; d--) {
    const double growth = market->bond[step[d - 1] - 1] / market->bond[end - 1];
    sim_expr_ref ends = option_builder_call(m, SIM_EXPR_LE, level, price_at(m, o, asset, step[d - 1]), 0);
    sim_expr_ref paid = option_builder_number(m, o->cash * (1 + o->coupon * (double)(d + o->passed)) * growth);
    out = option_builder_call(m, SIM_EXPR_WHERE, ends, paid_at(m, o, asset, paid, step[d - 1]), out);
  }
  return out;
}

/* What the shares of the date at the end of a step are worth more than they cost, at the time of their delivery. */
static sim_expr_ref purchase(option_builder *m, const option_payoff *o, int asset, int step, int delivery) {
  sim_expr_ref strike = option_builder_number(m, o->strike), price = price_at(m, o, asset, step);
  const bool call = o->type == OPTION_CALL;
  sim_expr_ref beyond = option_builder_call(m, SIM_EXPR_LT, call ? price : strike, call ? strike : price, 0);
  sim_expr_ref units = option_builder_call(m, SIM_EXPR_WHERE, beyond, option_builder_number(m, o->gearing * o->shares),
                                           option_builder_number(m, o->shares));
  sim_expr_ref worth = price_at(m, o, asset, delivery);
  return mul(m, units, call ? sub(m, worth, strike) : sub(m, strike, worth));
}

/* The purchases of an accumulator until it is knocked out, carried to maturity: step[dates]. */
static sim_expr_ref accumulated(option_builder *m, const option_payoff *o, int asset, const int *step, int dates) {
  const int end = option_steps_until(m->market, option_own_maturity(m->p, o));
  sim_expr_ref zero = option_builder_number(m, 0), level = option_builder_number(m, o->level > 0 ? o->level : 0);
  sim_expr_ref sure = zero, open = zero;
  for (int d = dates; d > 0; d--) {
    const int at = step[d - 1], delivery = o->settle == OPTION_SETTLE_MATURITY ? end : at;
    const double growth = m->market->bond[delivery - 1] / m->market->bond[end - 1];
    sim_expr_ref one = mul(m, purchase(m, o, asset, at, delivery), option_builder_number(m, growth));
    one = paid_at(m, o, asset, one, delivery);
    sim_expr_ref *of = d <= o->guaranteed ? &sure : &open;
    *of = option_builder_call(m, SIM_EXPR_ADD, one, *of, 0);
    if (!(o->level > 0)) continue;
    sim_expr_ref price = price_at(m, o, asset, at);
    const bool call = o->type == OPTION_CALL;
    sim_expr_ref ends = option_builder_call(m, SIM_EXPR_LE, call ? level : price, call ? price : level, 0);
    open = option_builder_call(m, SIM_EXPR_WHERE, ends, zero, open);
  }
  return option_builder_call(m, SIM_EXPR_ADD, sure, open, 0);
}

/* An autocallable or accumulator. */
static sim_expr_ref at_dates(option_builder *m, const sim_item *item) {
  const option_payoff *o = item->data;
  const int asset = (int)o->asset - 1;
  int *step = calloc((size_t)m->market->steps + 1, sizeof *step);
  if (step == NULL) m->status = sim_no_memory("the dates");
  sim_expr_ref out = 0;
  if (m->status == SIM_OK)
    out = (item->schema == &option_autocallable_schema ? called : accumulated)(m, o, asset, step,
                                                                               option_dates(m->p, m->market, o, step));
  free(step);
  return out;
}

/* Variance or volatility of the changes of ln S from one fixing to the next, the first from the spot, their mean not
 * subtracted, in points: 100 sqrt(fixings a year / fixings * sum of squares). */
static sim_expr_ref swap(option_builder *m, const option_payoff *o, int asset, bool variance) {
  const double ln2 = 0.69314718055994530942, n = option_observation_count(m->p, o);
  const double last = o->dates.rows > 0 ? o->dates.data[o->dates.rows - 1] : option_own_maturity(m->p, o);
  const double time = m->market->grid.time[option_steps_until(m->market, last)];
  const double points = 1e4 * ln2 * ln2 * (o->per_year > 0 ? o->per_year / n : 1 / time);
  sim_expr_ref realised = mul(m, option_observed(m, OPTION_SQUARES, asset, o), option_builder_number(m, points));
  if (!variance) realised = option_builder_call(m, SIM_EXPR_SQRT, realised, 0, 0);
  realised = sub(m, realised, option_builder_number(m, variance ? o->strike * o->strike : o->strike));
  return mul(m, realised, option_builder_number(m, o->cash));
}

sim_expr_ref option_timed(option_builder *m, const sim_item *item) {
  const option_payoff *o = item->data;
  const int asset = (int)o->asset - 1;
  if (option_pays_at_dates(item)) return at_dates(m, item);
  return paid_at(m, o, asset, swap(m, o, asset, item->schema == &option_variance_swap_schema),
                 option_steps_until(m->market, option_own_maturity(m->p, o)));
}

static sim_expr_ref european(option_builder *m, const option_payoff *o, int asset, int payoff) {
  sim_expr_ref last = last_of(m, o, asset);
  option_plain *as = &m->graph->plain[payoff];
  if (o->exchange != OPTION_NO_EXCHANGE) return plain(m, last, o->strike, o->type);
  while (as->feature < m->graph->features && m->feature[as->feature] != last) as->feature++;
  as->sign = o->type == OPTION_CALL ? 1 : -1;
  as->strike = o->strike;
  return plain(m, last, o->strike, o->type);
}

/* `number`: index among the named payoffs, `payoff`: among all. */
static sim_expr_ref named(option_builder *m, const sim_item *item, int number, int payoff) {
  const option_payoff *o = item->data;
  const int asset = (int)o->asset - 1;
  if (item->schema == &option_american_schema)
    return option_builder_feature(
        m, (option_feature){.kind = OPTION_EARLY, .asset = option_rule_is_joint(m->p, o) ? -1 : asset, .step = number});
  if (option_pays_at_dates(item)) return at_dates(m, item);
  if (item->schema == &option_european_schema) return european(m, o, asset, payoff);
  if (item->schema == &option_digital_schema) {
    sim_expr_ref last = last_of(m, o, asset), strike = option_builder_number(m, o->strike);
    sim_expr_ref pays = o->type == OPTION_CALL ? below(m, strike, last) : below(m, last, strike);
    return mul(m, option_builder_number(m, o->cash), pays);
  }
  if (option_is_swap(item)) return swap(m, o, asset, item->schema == &option_variance_swap_schema);
  if (item->schema == &option_asian_schema) return plain(m, asian_mean(m, o, asset), o->strike, o->type);
  if (item->schema == &option_barrier_schema) return barrier(m, o, asset);
  if (item->schema == &option_double_barrier_schema) return double_barrier(m, o, asset);
  if (item->schema == &option_lookback_schema) return lookback(m, o, asset);
  if (item->schema == &option_forward_start_schema) return forward_start(m, o, asset);
  if (item->schema == &option_basket_schema) return basket(m, o);
  if (item->schema == &option_best_of_schema) return one_of_all(m, o, SIM_EXPR_MAX);
  if (item->schema == &option_worst_of_schema) return one_of_all(m, o, SIM_EXPR_MIN);
  if (item->schema == &option_rainbow_schema) return rainbow(m, o);
  return plain(m, sub(m, last_of(m, o, asset), last_of(m, o, (int)o->second - 1)), o->strike, o->type);
}

static void insert_function(option_builder *m, const option_parameters *p, sim_expr_ref *out) {
  sim_expr_ref in[SIM_EXPR_INPUTS_MAX];
  for (int i = 0; i < sim_expr_input_count(p->payoff); i++) {
    option_feature feature;
    const char *name = sim_expr_input_name(p->payoff, i);
    if (m->status == SIM_OK && !option_feature_parse(name, p, &feature))
      m->status = sim_fail(SIM_ERR_INCOMPATIBLE, "payoff: no path has a %s", name);
    if (m->status != SIM_OK) return;
    const bool seen = feature.kind >= OPTION_MEAN && feature.kind <= OPTION_MIN; /* at the steps */
    if (feature.kind == OPTION_FIXING && p->nodes != p->steps)
      feature.step = option_steps_until(m->market, p->maturity * ((double)feature.step / (double)p->steps));
    in[i] = seen ? option_observed(m, feature.kind, feature.asset, NULL) : option_builder_feature(m, feature);
  }
  if (m->status == SIM_OK) m->status = sim_expr_builder_insert(m->builder, p->payoff, in, out);
}

/* ---- controls ---- */

/* Mean and variance of the logarithm of an asset's price after `end` steps or of its geometric mean until then. */
static void logarithm(const option_market *market, int asset, int end, bool geometric, double *mean, double *variance) {
  const double ln2 = 0.69314718055994530942, n = end;
  *mean = log(market->spot[asset]);
  *variance = 0;
  for (int s = 0; s < end; s++) {
    const double share = geometric ? (n - s) / n : 1, vol = market->vol[s * market->assets + asset] * ln2 * share;
    *mean += market->drift[s * market->assets + asset] * ln2 * share;
    *variance += vol * vol;
  }
}

/* Step that ends at a fixing of a payoff, from 0. */
static int fixing_step(const option_parameters *p, const option_market *market, const option_payoff *o, int k) {
  const double t = o->dates.rows > 0 ? o->dates.data[k] : p->maturity * ((double)(k + 1) / (double)p->steps);
  return option_steps_until(market, t);
}

/* Mean and variance of the logarithm of the geometric mean of past fixings and those at dates. */
static void logarithm_of_fixings(const option_parameters *p, const option_market *market, const option_payoff *o,
                                 double *mean, double *variance) {
  const double ln2 = 0.69314718055994530942;
  const int count = option_observation_count(p, o), asset = (int)o->asset - 1;
  const double all = count + (double)o->past.rows;
  *mean = count / all * log(market->spot[asset]);
  *variance = 0;
  for (size_t k = 0; k < o->past.rows; k++) *mean += log(o->past.data[k]) / all;
  for (int k = 0, s = 0; k < count; k++)
    for (const int end = fixing_step(p, market, o, k); s < end; s++) {
      const double share = (count - k) / all, vol = market->vol[s * market->assets + asset] * ln2 * share;
      *mean += market->drift[s * market->assets + asset] * ln2 * share;
      *variance += vol * vol;
    }
}

/* The sum of all assets' prices after `end` steps or geometric means. */
static sim_expr_ref sum_control(option_builder *m, int end, bool geometric) {
  sim_expr_ref sum = 0;
  for (int a = 0; a < m->market->assets; a++) {
    sim_expr_ref one = geometric ? feature_of(m, OPTION_GEOMETRIC, a) : option_price_at(m, a, end);
    sum = a == 0 ? one : option_builder_call(m, SIM_EXPR_ADD, sum, one, 0);
  }
  return sum;
}

/* The payoff whose Black-Scholes price gives the control, or NULL: the control is the sum of all assets. */
static const option_payoff *control_payoff(const option_parameters *p, int payoff) {
  const int named = payoff - (option_payoff_count(p) - (int)p->payoffs.count);
  const option_payoff *o = named >= 0 ? p->payoffs.items[named].data : NULL;
  /* the strike of a composite is of no asset's price */
  const bool struck = o != NULL && o->asset > 0 && o->second == 0 && o->strike > 0 && o->exchange != OPTION_COMPOSITE &&
                      !option_is_swap(&p->payoffs.items[named]);
  return struck && p->sampling.control != OPTION_CONTROL_UNDERLYING ? o : NULL;
}

static sim_expr_ref control(option_builder *m, const option_parameters *p, int payoff) {
  const bool geometric = p->sampling.control == OPTION_CONTROL_GEOMETRIC;
  const option_payoff *o = control_payoff(p, payoff);
  const int end = m->graph->end[payoff], asset = o != NULL ? (int)o->asset - 1 : 0;
  if (o == NULL) return sum_control(m, end, geometric);
  if (geometric && option_is_dated(p)) {
    option_payoff mean = *o;
    mean.average = OPTION_GEOMETRIC_AVERAGE;
    return plain(m, asian_mean(m, &mean, asset), o->strike, o->type);
  }
  return plain(m, geometric ? feature_of(m, OPTION_GEOMETRIC, asset) : option_price_at(m, asset, end), o->strike,
               o->type);
}

double option_control_mean(const option_parameters *p, const option_market *market, int payoff) {
  const int end = option_steps_until(market, option_maturity_of(p, payoff));
  const bool geometric = p->sampling.control == OPTION_CONTROL_GEOMETRIC;
  const option_payoff *o = control_payoff(p, payoff);
  double mean, variance, sum = 0;
  if (o != NULL) {
    if (geometric && option_is_dated(p))
      logarithm_of_fixings(p, market, o, &mean, &variance);
    else
      logarithm(market, (int)o->asset - 1, end, geometric, &mean, &variance);
    return option_lognormal_price(mean, sqrt(variance), o->strike, o->type);
  }
  for (int a = 0; a < market->assets; a++) {
    logarithm(market, a, end, geometric, &mean, &variance);
    /* The mean of the last price is known in every model; drift and vol of its logarithm only without jumps. */
    sum += geometric ? exp(mean + variance / 2) : market->spot[a] * exp(market->growth[(end - 1) * market->assets + a]);
  }
  return sum;
}

/* ---- the whole graph ---- */

static void make(option_builder *m, const option_parameters *p, sim_expr_ref *refs) {
  option_graph *g = m->graph;
  int functions = 0;
  g->payoffs = g->outputs = option_payoff_count(p);
  if (p->payoff != NULL) {
    functions = sim_expr_output_count(p->payoff);
    insert_function(m, p, refs);
  }
  for (size_t i = 0; i < p->payoffs.count && m->status == SIM_OK; i++)
    refs[functions + (int)i] = named(m, &p->payoffs.items[i], (int)i, functions + (int)i);
  for (int k = 0; k < g->payoffs && m->status == SIM_OK; k++) {
    g->end[k] = option_steps_until(m->market, option_maturity_of(p, k));
    const sim_item *item = k >= functions ? &p->payoffs.items[k - functions] : NULL;
    const option_payoff none = {0}, *o = item != NULL ? item->data : &none;
    if (item == NULL || !option_pays_at_dates(item))
      if (!(m->p->hull_white.given && item != NULL && item->schema == &option_american_schema)) /* has its deflator */
        refs[k] = paid_at(m, o, item != NULL ? option_foreign_asset(p, item) : -1, refs[k], g->end[k]);
    g->control[k] = -1;
    if (p->sampling.control == OPTION_NO_CONTROL) continue;
    g->control[k] = g->outputs;
    refs[g->outputs++] = control(m, p, k);
  }
  option_add_greeks(m, p, refs);
}

/* Bits of the assets whose maximum and minimum some output depends on jointly. */
static uint64_t find_joint(const option_graph *g) {
  uint64_t joint = 0;
  for (int o = 0; o < g->outputs; o++) {
    uint64_t seen[2] = {0, 0};
    for (int f = 0; f < g->features; f++)
      if ((g->feature[f].kind == OPTION_HIGH || g->feature[f].kind == OPTION_LOW) && sim_expr_depends(g->expr, o, f))
        seen[g->feature[f].kind == OPTION_LOW] |= UINT64_C(1) << g->feature[f].asset;
    joint |= seen[0] & seen[1];
  }
  return joint;
}

sim_status option_graph_create(const option_parameters *p, const option_market *market, bool tangents,
                               option_graph *out) {
  sim_expr_ref refs[SIM_EXPR_OUTPUTS_MAX];
  char names[SIM_EXPR_OUTPUTS_MAX][8];
  const char *pointers[SIM_EXPR_OUTPUTS_MAX];
  *out = (option_graph){0};
  option_builder *m = calloc(1, sizeof *m);
  if (m == NULL) return sim_no_memory("the payoffs");
  *m = (option_builder){.graph = out, .p = p, .market = market, .tangents = tangents};
  m->status = sim_expr_builder_create(&m->builder);
  if (m->status == SIM_OK) make(m, p, refs);
  for (int i = 0; i < out->outputs; i++) {
    snprintf(names[i], sizeof names[i], "o%d", i);
    pointers[i] = names[i];
  }
  if (m->status == SIM_OK) m->status = sim_expr_builder_finish(m->builder, refs, pointers, out->outputs, &out->expr);
  sim_expr_builder_free(&m->builder);
  const sim_status status = m->status;
  free(m);
  if (status == SIM_OK)
    out->joint = find_joint(out);
  else
    option_graph_free(out);
  return status;
}

void option_graph_free(option_graph *graph) {
  sim_expr_free(&graph->expr);
  option_schedules_free(graph);
}
