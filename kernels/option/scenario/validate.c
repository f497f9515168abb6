/* Rules between the parameters. */
#include "kernels/option/cpu/bends.h"
#include "kernels/option/models/heston_steps.h"
#include "kernels/option/models/hull_white.h"
#include "kernels/option/payoff/exercise.h"
#include "kernels/option/payoff/names.h"
#include "kernels/option/result/tables.h"
#include "kernels/option/scenario/bucket.h"
#include "kernels/option/scenario/currency.h"
#include "kernels/option/scenario/market.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check_level(const option_parameters *p, const option_payoff *o, int line, const char *path,
                        sim_faults *faults) {
  const double spot = option_seen_spot(p, o);
  const bool up = o->direction == OPTION_UP;
  if (o->from > 0) return; /* not watched yet */
  if (up ? spot >= o->level : spot <= o->level)
    sim_faults_add(faults, line, path, "the barrier is reached already: expected a level %s the spot %.9g%s, got %.9g",
                   up ? "above" : "below", spot,
                   spot == o->level ? ""
                   : up             ? ", or direction = \"down\""
                                    : ", or direction = \"up\"",
                   o->level);
}

/* Whether a scenario's function can read a column of this name. */
static bool is_column(const char *name) {
  static const char digits[] = "0123456789", word[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
  const size_t length = strlen(name);
  return length > 0 && length <= OPTION_NAME_MAX && strspn(name, word) == length && strspn(name, digits) == 0;
}

/* Whether `name` is `of`, _ and digits, once or twice: the column of a Greek by one asset or by two. */
static bool is_asset_of(const char *name, const char *of) {
  const size_t length = strlen(of);
  if (strncmp(name, of, length) != 0) return false;
  const char *rest = name + length;
  for (int k = 0; k < 2 && *rest == '_'; k++) {
    const size_t digits = strspn(rest + 1, "0123456789");
    if (digits == 0) return false;
    rest += 1 + digits;
  }
  return rest > name + length && *rest == '\0';
}

/* Columns of every run. */
static const char *const taken[] = {"step",
                                    "time",
                                    "paths",
                                    "price",
                                    "standard_error",
                                    "relative_error",
                                    "bias",
                                    "bias_error",
                                    "upper",
                                    "upper_error",
                                    "delta",
                                    "gamma",
                                    "vega",
                                    "rho",
                                    "theta",
                                    "cva",
                                    "cva_error",
                                    "dva",
                                    "dva_error",
                                    "cross_gamma",
                                    "vanna",
                                    "volga",
                                    "charm",
                                    "vega_bucket",
                                    "rho_bucket",
                                    "leverage_miss",
                                    "leverage_miss_error"};

/* The name of a payoff's columns: no other payoff has it, nor is it one of payoff_1, payoff_2, ... */
static void check_name(const option_parameters *p, size_t i, sim_faults *faults) {
  const char *name = ((const option_payoff *)p->payoffs.items[i].data)->name;
  const int line = p->payoffs.items[i].line;
  const bool by_node = p->greeks.want[OPTION_VEGA_BUCKET] || p->greeks.want[OPTION_RHO_BUCKET];
  char path[64];
  if (name == NULL) return;
  snprintf(path, sizeof path, "payoffs[%zu].name", i + 1);
  if (!is_column(name))
    sim_faults_add(faults, line, path, "expected at most %d letters, digits and _, no digit first, got \"%.60s\"",
                   OPTION_NAME_MAX, name);
  for (size_t k = 0; k < sizeof taken / sizeof *taken; k++)
    if (strcmp(name, taken[k]) == 0)
      sim_faults_add(faults, line, path, "expected another name: \"%s\" is a column of every run", name);
  if (strncmp(name, "payoff_", strlen("payoff_")) == 0)
    sim_faults_add(faults, line, path,
                   "expected a name that does not begin with payoff_, which payoffs without one have");
  for (size_t k = 0; k < i; k++) {
    const char *other = ((const option_payoff *)p->payoffs.items[k].data)->name;
    if (other != NULL && strcmp(name, other) == 0)
      sim_faults_add(faults, line, path, "expected a name of its own, got that of payoffs[%zu]", k + 1);
    else if (other != NULL && (p->assets.count > 1 || by_node) &&
             (is_asset_of(name, other) || is_asset_of(other, name)))
      sim_faults_add(faults, line, path,
                     "expected another name: with that of payoffs[%zu] it is the name of a Greek by an asset or a node",
                     k + 1);
  }
}

/* A weight for each price that is no rate of exchange. */
static void check_rainbow(const option_parameters *p, const sim_item *item, const char *path, sim_faults *faults) {
  const option_payoff *o = item->data;
  size_t prices = 0;
  bool any = false;
  for (int a = 0; a < (int)p->assets.count; a++) prices += !option_is_currency(p, a);
  for (size_t k = 0; k < o->weights.rows; k++) any |= o->weights.data[k] != 0;
  if (prices > OPTION_RAINBOW_MAX)
    sim_faults_add(faults, item->line, path, "a rainbow has at most %d prices, got %zu: expected a function",
                   OPTION_RAINBOW_MAX, prices);
  else if (o->weights.rows != prices)
    sim_faults_add(faults, item->line, path, "weights: expected one for each of %zu prices, got %zu", prices,
                   o->weights.rows);
  else if (!any)
    sim_faults_add(faults, item->line, path, "weights: expected one other than 0");
}

static void check_payoff(const option_parameters *p, size_t i, sim_faults *faults) {
  const sim_item *item = &p->payoffs.items[i];
  const option_payoff *o = item->data;
  const int64_t assets = (int64_t)p->assets.count;
  char path[64];
  snprintf(path, sizeof path, "payoffs[%zu]", i + 1);
  if (o->asset > assets || o->second > assets)
    sim_faults_add(faults, item->line, path, "expected one of %lld assets, got number %lld", (long long)assets,
                   (long long)(o->asset > assets ? o->asset : o->second));
  else if (item->schema == &option_barrier_schema)
    check_level(p, o, item->line, path, faults);
  else if (item->schema == &option_double_barrier_schema) {
    const double spot = option_seen_spot(p, o);
    if (!(o->low < spot && spot < o->high))
      sim_faults_add(faults, item->line, path, "expected low < spot < high, got low = %.9g, spot = %.9g, high = %.9g",
                     o->low, spot, o->high);
  }
  const double own = option_own_maturity(p, o) / p->maturity * (double)p->steps; /* its steps */
  if (item->schema == &option_forward_start_schema && !((double)o->start < own - 1e-6))
    sim_faults_add(faults, item->line, path, "start: expected a step before the last one, %.9g, got %lld", own,
                   (long long)o->start);
  check_name(p, i, faults);
  if (o->asset >= 1 && o->asset <= assets && o->monitoring == OPTION_CONTINUOUS &&
      option_asset_at(p, (int)o->asset - 1)->jumps.given)
    sim_faults_add(faults, item->line, path, "expected monitoring = \"steps\": a Brownian bridge does not jump");
  if (o->asset >= 1 && o->asset <= assets && o->monitoring == OPTION_CONTINUOUS &&
      option_asset_at(p, (int)o->asset - 1)->dividends.rows > 0)
    sim_faults_add(faults, item->line, path, "expected monitoring = \"steps\" with cash dividends");
  if (o->asset >= 1 && o->asset <= assets && o->monitoring == OPTION_CONTINUOUS &&
      option_asset_at(p, (int)o->asset - 1)->sabr.given)
    sim_faults_add(faults, item->line, path, "expected monitoring = \"steps\" with sabr");
  if (option_has_every(item) && o->dates.rows == 0 && llround(own) % o->every != 0)
    sim_faults_add(faults, item->line, path, "every: expected a divisor of the %lld steps, got %lld", llround(own),
                   (long long)o->every);
  if (option_is_swap(item) && o->asset <= assets && option_asset_at(p, (int)o->asset - 1)->dividends.rows > 0)
    sim_faults_add(
        faults, item->line, path,
        "expected an asset without cash dividends, whose falls of the price contracts leave out of the variance");
  if (item->schema == &option_spread_schema && o->asset == o->second && o->asset <= assets)
    sim_faults_add(faults, item->line, path, "asset and second: expected two assets, got number %lld twice",
                   (long long)o->asset);
  if (item->schema == &option_basket_schema && o->weights.rows > 0 && o->weights.rows != p->assets.count)
    sim_faults_add(faults, item->line, path, "expected %lld weights, got %zu", (long long)assets, o->weights.rows);
  if (item->schema == &option_rainbow_schema) check_rainbow(p, item, path, faults);
}

/* Checks local volatilities at time 0 and the spot; paths check them later. */
static sim_status check_local(const option_parameters *p, const double *spot) {
  for (int a = 0; a < (int)p->assets.count; a++) {
    const sim_expr *expr = option_asset_at(p, a)->local_vol;
    double sigma;
    if (expr == NULL) continue;
    SIM_TRY(option_local_vol(expr, spot[a], 0, &sigma));
    if (!(sigma >= 0 && sigma <= OPTION_LOCAL_MAX))
      return sim_fail(SIM_ERR_SCENARIO,
                      "assets[%d].local_vol: expected a number >= 0, at most %g, got %.9g at S = %.9g, t = 0", a + 1,
                      OPTION_LOCAL_MAX, sigma, spot[a]);
  }
  return SIM_OK;
}

/* Checks that need evaluated numbers, after all others have passed. */
static sim_status check_numbers(const option_parameters *p, sim_faults *faults) {
  option_market market;
  double *cholesky = calloc(p->assets.count * p->assets.count, sizeof *cholesky);
  if (cholesky == NULL) return sim_no_memory("the correlation");
  sim_status status = option_cholesky(p, cholesky);
  const bool *want = p->greeks.want;
  const int by_vol = want[OPTION_VEGA]          ? OPTION_VEGA
                     : want[OPTION_VANNA]       ? OPTION_VANNA
                     : want[OPTION_VOLGA]       ? OPTION_VOLGA
                     : want[OPTION_VEGA_BUCKET] ? OPTION_VEGA_BUCKET
                                                : -1;
  free(cholesky);
  if (status == SIM_OK) {
    status = option_market_create(p, NULL, &market);
    if (status == SIM_OK && p->greeks.method == OPTION_LIKELIHOOD && !(market.vol[0] > 0))
      status =
          sim_fail(SIM_ERR_SCENARIO, "greeks.method: the first step's volatility is 0, and has no density: expected "
                                     "\"auto\" or \"bump\"");
    for (int a = 0; status == SIM_OK && by_vol >= 0 && a < (int)p->assets.count; a++)
      if (option_least_volatility(p, a) == 0)
        status = sim_fail(SIM_ERR_SCENARIO,
                          "assets[%d].vol: it is 0 until a payoff's maturity, where greeks.%s is not defined: expected "
                          "a small volatility, or no %s",
                          a + 1, option_greek_names[by_vol], option_greek_names[by_vol]);
    if (status == SIM_OK) status = check_local(p, market.spot);
    if (status == SIM_OK) status = option_check_vols(p);
    for (int a = 0; status == SIM_OK && a < (int)p->assets.count; a++) status = option_check_heston(p, a, faults);
    option_market_free(&market);
  }
  if (status != SIM_ERR_SCENARIO) return status;
  const char *message = sim_error_last()->message, *colon = strchr(message, ':');
  char path[64];
  snprintf(path, sizeof path, "%.*s", (int)(colon - message), message);
  int line = 0, asset = 0;
  if (sscanf(path, "assets[%d]", &asset) == 1) line = p->assets.items[asset - 1].line;
  sim_faults_add(faults, line, path, "%s", colon + 2);
  return SIM_OK;
}

/* Whether all payoffs are Asian options with fixings of one price. */
static bool only_fixings(const option_parameters *p) {
  bool all = p->payoff == NULL;
  for (size_t i = 0; i < p->payoffs.count; i++) {
    const option_payoff *o = p->payoffs.items[i].data;
    all &= p->payoffs.items[i].schema == &option_asian_schema && o->exchange != OPTION_COMPOSITE && o->strike > 0;
  }
  return all;
}

/* Sets the paths of rules of early exercise that have no number. An exposure depends on its rule in first order, a
 * price in second. */
static void set_fit_paths(option_parameters *p) {
  for (size_t i = 0; i < p->payoffs.count; i++) {
    option_payoff *o = p->payoffs.items[i].data;
    if (p->payoffs.items[i].schema != &option_american_schema || o->fit_paths != SIM_INT_KEYWORD) continue;
    o->fit_paths = p->exposure.given ? 1 << 19 : 1 << 16;
  }
}

sim_status option_validate(void *parameters, sim_faults *faults) {
  option_parameters *p = parameters;
  const size_t before = faults->count;
  if (p->assets.count == 0 || p->assets.count > OPTION_ASSETS_MAX)
    sim_faults_add(faults, 0, "assets", "expected 1 to %d assets, got %zu", OPTION_ASSETS_MAX, p->assets.count);
  if (faults->count > before) return SIM_OK;
  set_fit_paths(p);
  option_check_exposure_keys(p, faults);
  option_check_path_keys(p, faults);
  option_check_steps(p, faults);
  if (faults->count > before) return SIM_OK;
  SIM_TRY(option_check_dates(p, faults));
  if (faults->count > before) return SIM_OK;
  if (p->payoff != NULL) SIM_TRY(option_bind_payoff(p, faults));
  const int payoffs = option_payoff_count(p);
  if (payoffs == 0)
    sim_faults_add(faults, 0, "payoffs", "expected a payoff, got none here and no payoff = function(path)");
  if (payoffs > OPTION_PAYOFFS_MAX)
    sim_faults_add(faults, 0, "payoffs", "expected at most %d, got %d", OPTION_PAYOFFS_MAX, payoffs);
  for (size_t i = 0; i < p->payoffs.count; i++) {
    check_payoff(p, i, faults);
    if (p->payoffs.items[i].schema == &option_american_schema) SIM_TRY(option_check_american(p, i, faults));
  }
  for (int i = 0; i < (int)p->assets.count; i++) {
    option_asset *a = p->assets.items[i].data;
    a->heston.mixing = a->leverage.given ? a->leverage.mixing : 0;
    option_check_asset(p, i, faults);
  }
  option_check_correlation(p, faults);
  if (faults->count == before) option_check_currencies(p, faults);
  SIM_TRY(option_check_hull_white(p, faults));
  option_check_between(p, faults);
  if (p->payoff != NULL && p->sampling.control == OPTION_CONTROL_BLACK_SCHOLES)
    sim_faults_add(faults, 0, "sampling.control", "expected \"geometric\" or \"underlying\": a function has no strike");
  if (p->sampling.control == OPTION_CONTROL_GEOMETRIC && option_is_dated(p) && !only_fixings(p))
    sim_faults_add(
        faults, 0, "sampling.control",
        "expected \"black_scholes\" or \"underlying\": in a run with dates or maturities the geometric mean is "
        "of the fixings of sim.asian alone, with a strike above 0, not of a composite");
  SIM_TRY(option_find_buckets(p, faults));
  option_check_methods(p, faults);
  SIM_TRY(option_check_exposure(p, faults));
  if (faults->count > before) return SIM_OK;
  SIM_TRY(check_numbers(p, faults));
  if (faults->count == before) SIM_TRY(option_check_ladder(p, faults));
  option_make_tables(p, faults);
  option_check_sampling(p, faults);
  SIM_TRY(option_check_randomised(p, faults));
  option_check_path_output(p, faults);
  if (faults->count == before) SIM_TRY(option_bends_find(p));
  if (p->common.output.snapshots.kind > SIM_ENDS)
    sim_faults_add(faults, 0, "output.snapshots", "a price has no snapshots: expected \"never\"");
  p->common.output.snapshots.kind = SIM_NEVER;
  return SIM_OK;
}
