#include "kernels/option/scenario/currency.h"

#include "kernels/option/payoff/exercise.h"
#include "kernels/option/payoff/names.h"

#include <stdio.h>

bool option_any_currency(const option_parameters *p) {
  bool any = false;
  for (int a = 0; a < (int)p->assets.count; a++) any |= option_asset_at(p, a)->currency > 0;
  return any;
}

bool option_is_currency(const option_parameters *p, int asset) {
  bool is = false;
  for (int a = 0; a < (int)p->assets.count; a++) is |= option_asset_at(p, a)->currency == asset + 1;
  return is;
}

bool option_is_on(const option_parameters *p, const sim_item *item, int asset) {
  const option_payoff *o = item->data;
  if (o->asset > 0) return o->asset == asset + 1 || o->second == asset + 1;
  if (item->schema == &option_american_schema) return true;
  if (item->schema == &option_basket_schema && o->weights.rows > 0) return o->weights.data[asset] != 0;
  return !option_is_currency(p, asset);
}

int option_foreign_asset(const option_parameters *p, const sim_item *item) {
  for (int a = 0; a < (int)p->assets.count; a++)
    if (option_is_on(p, item, a) && option_asset_at(p, a)->currency > 0) return a;
  return -1;
}

double option_seen_spot(const option_parameters *p, const option_payoff *o) {
  const option_asset *a = option_asset_at(p, (int)o->asset - 1);
  const bool converted = o->exchange == OPTION_COMPOSITE && a->currency > 0 && a->currency <= (int64_t)p->assets.count;
  return a->spot * (converted ? option_asset_at(p, (int)a->currency - 1)->spot : 1);
}

static void check_asset(const option_parameters *p, int i, sim_faults *faults) {
  const option_asset *a = option_asset_at(p, i);
  const int line = p->assets.items[i].line;
  char path[64];
  snprintf(path, sizeof path, "assets[%d].currency", i + 1);
  if (a->currency == 0) return;
  if (a->currency > (int64_t)p->assets.count || a->currency == i + 1) {
    sim_faults_add(faults, line, path, "expected the number of another asset, at most %zu, got %lld", p->assets.count,
                   (long long)a->currency);
    return;
  }
  const option_asset *by = option_asset_at(p, (int)a->currency - 1);
  if (by->vol == NULL || by->dividends.rows > 0)
    sim_faults_add(faults, line, path,
                   "expected an asset with vol and no cash dividends: the rate of exchange is lognormal, and its "
                   "dividend is the interest rate of the currency");
  if (by->currency > 0)
    sim_faults_add(faults, line, path, "expected an asset in the run's currency, got one of another");
  if (p->hull_white.given)
    sim_faults_add(faults, line, path, "not built for hull_white: expected rates that are known");
  if (a->leverage.given) sim_faults_add(faults, line, path, "not built for leverage: expected another model");
  if (a->vol == NULL && p->sampling.control == OPTION_CONTROL_UNDERLYING)
    sim_faults_add(faults, line, path,
                   "sampling.control: expected \"none\": the mean of this model's price is not known in the run's "
                   "currency");
}

/* What a payoff cannot do with prices in another currency, or NULL. */
static const char *against(const option_parameters *p, const sim_item *item) {
  const option_payoff *o = item->data;
  const int foreign = option_foreign_asset(p, item);
  const bool american = item->schema == &option_american_schema;
  if (foreign < 0)
    return o->exchange == OPTION_NO_EXCHANGE ? NULL : "exchange: expected none: the price is in the run's currency";
  if (american && option_is_joint(o) && o->exercise == NULL)
    return "on: all assets count, rates of exchange too: expected exercise = function(path)";
  if (american && o->exercise != NULL)
    return o->exchange == OPTION_NO_EXCHANGE ? NULL : "exchange: expected none: the function says what is paid";
  if (o->exchange == OPTION_NO_EXCHANGE)
    return "exchange: missing, for the price is in another currency: expected \"quanto\", \"composite\" or \"payment\"";
  if (american && o->exchange != OPTION_QUANTO)
    return "exchange: early exercise depends on the rate of exchange, too: expected \"quanto\", or exercise = "
           "function(path)";
  if (o->exchange == OPTION_COMPOSITE && option_is_swap(item))
    return "exchange: expected \"quanto\" or \"payment\": the realised variance is of the price in its own currency";
  if (o->exchange == OPTION_COMPOSITE && o->monitoring == OPTION_CONTINUOUS)
    return "exchange: expected monitoring = \"steps\" with \"composite\": two correlated prices have no bridge";
  for (int a = 0; a < (int)p->assets.count && o->exchange == OPTION_AT_PAYMENT; a++)
    if (option_is_on(p, item, a) && option_asset_at(p, a)->currency != option_asset_at(p, foreign)->currency)
      return "exchange: expected assets of one currency with \"payment\"";
  return NULL;
}

/* An accumulator that is knocked out today. */
static void check_reached(const option_parameters *p, const sim_item *item, const char *path, sim_faults *faults) {
  const option_payoff *o = item->data;
  if (item->schema != &option_accumulator_schema || !(o->level > 0)) return;
  const double spot = option_seen_spot(p, o);
  if (o->type == OPTION_CALL ? spot >= o->level : spot <= o->level)
    sim_faults_add(faults, item->line, path, "it is knocked out already: expected a level %s the spot %.9g, got %.9g",
                   o->type == OPTION_CALL ? "above" : "below", spot, o->level);
}

void option_check_currencies(const option_parameters *p, sim_faults *faults) {
  const size_t before = faults->count;
  for (int a = 0; a < (int)p->assets.count; a++) check_asset(p, a, faults);
  if (faults->count > before) return;
  for (size_t i = 0; i < p->payoffs.count; i++) {
    const sim_item *item = &p->payoffs.items[i];
    const option_payoff *o = item->data;
    char path[64];
    snprintf(path, sizeof path, "payoffs[%zu]", i + 1);
    const char *reason = against(p, item);
    if (reason != NULL)
      sim_faults_add(faults, item->line, path, "%s", reason);
    else
      check_reached(p, item, path, faults);
    if (reason == NULL && o->exchange != OPTION_QUANTO && o->exchange_rate > 0 && o->exchange_rate != 1)
      sim_faults_add(faults, item->line, path, "exchange_rate: is for exchange = \"quanto\" alone");
  }
}
