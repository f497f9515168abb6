/* The model's parameters: field tables, and the rules between fields. */
#include "kernels/option/option.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- payoffs ---- */

static const char *const types[] = {"call", "put", NULL};
static const char *const averages[] = {"arithmetic", "geometric", NULL};
static const char *const directions[] = {"down", "up", NULL};
static const char *const knocks[] = {"out", "in", NULL};
static const char *const monitorings[] = {"steps", "continuous", NULL};

#define TYPE                                                                                                           \
  {                                                                                                                    \
    SIM_FIELD(option_payoff, type), .type = SIM_CHOICE, .doc = "pays above or below", .choices = types,                \
                                    .initial = "call"                                                                  \
  }
#define ASSET                                                                                                          \
  {                                                                                                                    \
    SIM_FIELD(option_payoff, asset), .type = SIM_INT, .doc = "which of the assets", .flags = SIM_RANGE, .min = 1,      \
                                     .max = OPTION_ASSETS_MAX, .initial = "1"                                          \
  }
#define STRIKE                                                                                                         \
  {                                                                                                                    \
    SIM_FIELD(option_payoff, strike), .type = SIM_REAL, .doc = "price that is agreed on",                              \
                                      .flags = SIM_REQUIRED | SIM_RANGE, .min = 0, .max = INFINITY                     \
  }
#define MONITORING                                                                                                     \
  {                                                                                                                    \
    SIM_FIELD(option_payoff, monitoring), .type = SIM_CHOICE, .choices = monitorings, .initial = "steps",              \
                                          .doc = "prices at the steps, or at all times (by Brownian bridges between)"  \
  }
#define PAYOFF(word, text, ...)                                                                                        \
  const sim_schema option_##word##_schema = {.name = #word,                                                            \
                                             .doc = text,                                                              \
                                             .fields = (const sim_field[]){TYPE, __VA_ARGS__, {0}},                    \
                                             .size = sizeof(option_payoff)}

PAYOFF(european, "pays max(last - strike, 0), or max(strike - last, 0)", STRIKE, ASSET);
PAYOFF(digital, "pays cash where the last price is above (call) or below (put) the strike", STRIKE, ASSET,
       {SIM_FIELD(option_payoff, cash), .type = SIM_REAL, .doc = "what it pays", .initial = "1"});
PAYOFF(asian, "pays on the mean of the prices at the steps", STRIKE, ASSET,
       {SIM_FIELD(option_payoff, average), .type = SIM_CHOICE, .doc = "kind of mean", .choices = averages,
        .initial = "arithmetic"});
PAYOFF(barrier, "a European payoff, if a level is not reached (out), or is (in)", STRIKE, ASSET,
       {SIM_FIELD(option_payoff, level), .type = SIM_REAL, .doc = "the barrier",
        .flags = SIM_REQUIRED | SIM_RANGE | SIM_MIN_OPEN, .max = INFINITY},
       {SIM_FIELD(option_payoff, direction), .type = SIM_CHOICE, .doc = "the level is reached from above or from below",
        .choices = directions, .initial = "down"},
       {SIM_FIELD(option_payoff, knock), .type = SIM_CHOICE, .doc = "pays if the level is not reached, or if it is",
        .choices = knocks, .initial = "out"},
       MONITORING);
PAYOFF(lookback, "pays on the highest or lowest price", ASSET,
       {SIM_FIELD(option_payoff, strike), .type = SIM_REAL, .flags = SIM_RANGE, .max = INFINITY, .initial = "floating",
        .keyword = "floating",
        .doc = "call: highest - strike; floating: last - lowest (put: strike - lowest, highest - last)"},
       MONITORING);
PAYOFF(basket, "pays on a weighted sum of the last prices", STRIKE,
       {SIM_FIELD(option_payoff, weights), .type = SIM_NUMBERS, .doc = "of each asset; none: 1 / assets"});
PAYOFF(best_of, "pays on the highest of the last prices of all assets", STRIKE);
PAYOFF(spread, "pays on the difference of two last prices", STRIKE, ASSET,
       {SIM_FIELD(option_payoff, second), .type = SIM_INT, .doc = "the asset that is subtracted", .flags = SIM_RANGE,
        .min = 1, .max = OPTION_ASSETS_MAX, .initial = "2"});

PAYOFF(american, "a European payoff that may be taken at any of the dates, by Longstaff and Schwartz's rule", STRIKE,
       ASSET,
       {SIM_FIELD(option_payoff, every), .type = SIM_INT,
        .doc = "steps from date to date: 1 is American, more Bermudan", .flags = SIM_RANGE, .min = 1,
        .max = OPTION_STEPS_MAX, .initial = "1"},
       {SIM_FIELD(option_payoff, degree), .type = SIM_INT, .doc = "of the polynomial for the value of waiting",
        .flags = SIM_RANGE, .min = 1, .max = OPTION_DEGREE_MAX, .initial = "5"},
       {SIM_FIELD(option_payoff, fit_paths), .type = SIM_INT, .doc = "paths that the rule is fitted on",
        .flags = SIM_RANGE, .min = 1024, .max = 0x1p24, .initial = "65536"});

static const sim_field autocallable_fields[] = {
    ASSET,
    {SIM_FIELD(option_payoff, level), .type = SIM_REAL, .doc = "it is called at the first date with a price as high",
     .flags = SIM_REQUIRED | SIM_RANGE | SIM_MIN_OPEN, .max = INFINITY},
    {SIM_FIELD(option_payoff, coupon), .type = SIM_REAL, .doc = "share of cash, for each date until it is called",
     .flags = SIM_REQUIRED | SIM_RANGE, .max = INFINITY},
    {SIM_FIELD(option_payoff, protection), .type = SIM_REAL, .flags = SIM_REQUIRED | SIM_RANGE, .max = INFINITY,
     .doc = "never called: pays cash if the last price is as high, else the price's share of the spot"},
    {SIM_FIELD(option_payoff, cash), .type = SIM_REAL, .doc = "what is paid back", .initial = "100"},
    {SIM_FIELD(option_payoff, every), .type = SIM_INT, .doc = "steps from date to date", .flags = SIM_RANGE, .min = 1,
     .max = OPTION_STEPS_MAX, .initial = "1"},
    {0}};
const sim_schema option_autocallable_schema = {.name = "autocallable",
                                               .doc = "paid back with coupons at the first date with a high price",
                                               .fields = autocallable_fields,
                                               .size = sizeof(option_payoff)};

/* ---- sampling and Greeks ---- */

static const char *const sequences[] = {"philox", "sobol", NULL};
static const char *const generators[] = {"philox", "mrg32k3a", NULL};
static const char *const constructions[] = {"auto", "bridge", "pca", NULL};
static const char *const controls[] = {"none", "geometric", "black_scholes", "underlying", NULL};
static const char *const methods[] = {"auto", "pathwise", "likelihood", "bump", NULL};

static const sim_field sampling_fields[] = {
    {SIM_FIELD(option_sampling, sequence), .type = SIM_CHOICE, .doc = "of random numbers", .choices = sequences,
     .initial = "philox"},
    {SIM_FIELD(option_sampling, generator), .type = SIM_CHOICE, .choices = generators, .initial = "philox",
     .doc = "of random numbers: philox (Philox4x32-10), or mrg32k3a (as cuRAND's), a second opinion that takes longer"},
    {SIM_FIELD(option_sampling, scrambles), .type = SIM_REAL, .flags = SIM_RANGE, .min = 16, .max = 64,
     .initial = "auto", .keyword = "auto",
     .doc = "of Sobol's sequence: 16, 32 (auto) or 64, each with as many paths; their spread is the standard error"},
    {SIM_FIELD(option_sampling, construction), .type = SIM_CHOICE, .choices = constructions, .initial = "auto",
     .doc = "of paths from Sobol's points: a Brownian bridge (auto), or principal components (work as steps^2)"},
    {SIM_FIELD(option_sampling, antithetic), .type = SIM_BOOL, .doc = "each path also with its normals' signs changed",
     .initial = "false"},
    {SIM_FIELD(option_sampling, moment_matching), .type = SIM_BOOL, .initial = "false",
     .doc = "normals of every 1024 samples are shifted and scaled to mean 0 and variance 1"},
    {SIM_FIELD(option_sampling, control), .type = SIM_CHOICE, .choices = controls, .initial = "none",
     .doc =
         "control variate of prices: on the geometric mean, on the last price with the same strike, or the last price"},
    {SIM_FIELD(option_sampling, paths), .type = SIM_REAL, .flags = SIM_RANGE | SIM_MAY_CHANGE, .min = 2, .max = 0x1p52,
     .initial = "auto", .keyword = "auto",
     .doc = "at most so many; auto: 2^20, or as many as standard_error or time takes, up to 2^40"},
    {SIM_FIELD(option_sampling, standard_error), .type = SIM_REAL, .flags = SIM_RANGE | SIM_MIN_OPEN | SIM_MAY_CHANGE,
     .max = INFINITY, .initial = "none", .keyword = "none",
     .doc = "the run ends when no price's standard error is larger"},
    {SIM_FIELD(option_sampling, time), .type = SIM_REAL, .flags = SIM_RANGE | SIM_MIN_OPEN | SIM_MAY_CHANGE,
     .max = INFINITY, .initial = "none", .keyword = "none",
     .doc = "the run ends with the first step that is done after so many seconds; a continued run has them again"},
    {0}};
static const sim_schema sampling_schema = {
    .doc = "random numbers and their use", .fields = sampling_fields, .size = sizeof(option_sampling)};

#define GREEK(greek, text)                                                                                             \
  {                                                                                                                    \
    .name = text, .type = SIM_BOOL, .initial = "false",                                                                \
    .offset = offsetof(option_greeks, want) + sizeof(bool) * (greek), .doc = "estimate it, with its standard error"    \
  }
static const sim_field greek_fields[] = {
    GREEK(OPTION_DELTA, "delta"),
    GREEK(OPTION_GAMMA, "gamma"),
    GREEK(OPTION_VEGA, "vega"),
    GREEK(OPTION_RHO, "rho"),
    GREEK(OPTION_THETA, "theta"),
    {SIM_FIELD(option_greeks, method), .type = SIM_CHOICE, .choices = methods, .initial = "auto",
     .doc = "auto: pathwise where a named payoff has no jump, likelihood ratio (delta and gamma) where it has, and "
            "differences on the same paths for all others"},
    {0}};
static const sim_schema greeks_schema = {.doc = "sensitivities", .fields = greek_fields, .size = sizeof(option_greeks)};

static const sim_signature payoff_signature = {.record = true,
                                               .parameter = "path",
                                               .returns = "what is paid at maturity; of path.last[i], mean, geometric, "
                                                          "max, min, high, low [i], fixing[i][step]"};

static const sim_field fields[] = {
    {SIM_FIELD(option_parameters, assets), .type = SIM_LIST, .doc = "what is paid on", .flags = SIM_REQUIRED,
     .variants = (const sim_schema *const[]){&option_asset_schema, NULL}},
    {SIM_FIELD(option_parameters, correlation), .type = SIM_NUMBERS, .components = SIM_SQUARE,
     .doc = "of the assets' logarithms; none: independent", .flags = SIM_RANGE, .min = -1, .max = 1},
    {SIM_FIELD(option_parameters, rate), .type = SIM_FUNCTION,
     .doc = "rate of interest: a number, or a function or sim.curve of time", .flags = SIM_OR_NUMBER, .initial = "0",
     .signature = &option_term_signature},
    {SIM_FIELD(option_parameters, maturity), .type = SIM_REAL, .doc = "time until it pays",
     .flags = SIM_REQUIRED | SIM_RANGE | SIM_MIN_OPEN, .max = INFINITY},
    {SIM_FIELD(option_parameters, steps), .type = SIM_INT, .flags = SIM_RANGE, .min = 1, .max = OPTION_STEPS_MAX,
     .doc = "equal steps, at whose ends prices are looked at; required where a price depends on them, else 1"},
    {SIM_FIELD(option_parameters, payoff), .type = SIM_FUNCTION, .doc = "a payoff of your own, or several",
     .signature = &payoff_signature},
    {SIM_FIELD(option_parameters, payoffs), .type = SIM_LIST, .doc = "named payoffs, all on the same paths",
     .variants = (const sim_schema *const[]){&option_european_schema, &option_digital_schema, &option_asian_schema,
                                             &option_barrier_schema, &option_lookback_schema, &option_basket_schema,
                                             &option_best_of_schema, &option_spread_schema, &option_american_schema,
                                             &option_autocallable_schema, NULL}},
    {SIM_FIELD(option_parameters, sampling), .type = SIM_STRUCT, .doc = "random numbers", .table = &sampling_schema},
    {SIM_FIELD(option_parameters, greeks), .type = SIM_STRUCT, .doc = "sensitivities", .table = &greeks_schema},
    {0}};
const sim_schema option_schema = {.name = "option",
                                  .doc = "prices of options by simulated paths",
                                  .fields = fields,
                                  .base = &sim_common_schema,
                                  .size = sizeof(option_parameters)};

/* ---- rules between fields ---- */

static void check_level(const option_parameters *p, const option_payoff *o, int line, const char *path,
                        sim_faults *faults) {
  const double spot = option_asset_at(p, (int)o->asset - 1)->spot;
  const bool up = o->direction == OPTION_UP;
  if (up ? spot >= o->level : spot <= o->level)
    sim_faults_add(faults, line, path, "the barrier is reached already: expected a level %s the spot %.9g, got %.9g",
                   up ? "above" : "below", spot, o->level);
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
  if (o->asset >= 1 && o->asset <= assets && o->monitoring == OPTION_CONTINUOUS &&
      option_asset_at(p, (int)o->asset - 1)->jumps.given)
    sim_faults_add(faults, item->line, path, "expected monitoring = \"steps\": a Brownian bridge does not jump");
  if ((item->schema == &option_american_schema || item->schema == &option_autocallable_schema) &&
      p->steps % o->every != 0)
    sim_faults_add(faults, item->line, path, "every: expected a divisor of the %lld steps, got %lld",
                   (long long)p->steps, (long long)o->every);
  if (item->schema == &option_spread_schema && o->asset == o->second && o->asset <= assets)
    sim_faults_add(faults, item->line, path, "asset and second: expected two assets, got number %lld twice",
                   (long long)o->asset);
  if (item->schema == &option_basket_schema && o->weights.rows > 0 && o->weights.rows != p->assets.count)
    sim_faults_add(faults, item->line, path, "expected %lld weights, got %zu", (long long)assets, o->weights.rows);
}

/* Local volatilities here and now; later ones show on the paths. */
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

/* What only the numbers themselves show. */
static sim_status check_numbers(const option_parameters *p, sim_faults *faults) {
  option_market market;
  double *cholesky = calloc(p->assets.count * p->assets.count, sizeof *cholesky);
  if (cholesky == NULL) return sim_no_memory("the correlation");
  sim_status status = option_cholesky(p, cholesky);
  free(cholesky);
  if (status == SIM_OK) {
    status = option_market_create(p, NULL, &market);
    if (status == SIM_OK && p->greeks.method == OPTION_LIKELIHOOD && !(market.vol[0] > 0))
      status =
          sim_fail(SIM_ERR_SCENARIO, "greeks.method: the first step's volatility is 0, and has no density: expected "
                                     "\"auto\" or \"bump\"");
    if (status == SIM_OK) status = check_local(p, market.spot);
    if (status == SIM_OK) status = option_check_vols(p);
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

sim_status option_validate(void *parameters, sim_faults *faults) {
  option_parameters *p = parameters;
  const size_t before = faults->count;
  if (p->assets.count == 0 || p->assets.count > OPTION_ASSETS_MAX)
    sim_faults_add(faults, 0, "assets", "expected 1 to %d assets, got %zu", OPTION_ASSETS_MAX, p->assets.count);
  if (faults->count > before) return SIM_OK;
  option_check_steps(p, faults);
  if (faults->count > before) return SIM_OK;
  if (p->payoff != NULL) SIM_TRY(option_bind_payoff(p, faults));
  const int payoffs = option_payoff_count(p);
  if (payoffs == 0)
    sim_faults_add(faults, 0, "payoffs", "expected a payoff, got none here and no payoff = function(path)");
  if (payoffs > OPTION_PAYOFFS_MAX)
    sim_faults_add(faults, 0, "payoffs", "expected at most %d, got %d", OPTION_PAYOFFS_MAX, payoffs);
  for (size_t i = 0; i < p->payoffs.count; i++) check_payoff(p, i, faults);
  for (int i = 0; i < (int)p->assets.count; i++) option_check_asset(p, i, faults);
  option_check_correlation(p, faults);
  option_check_between(p, faults);
  if (p->payoff != NULL && p->sampling.control == OPTION_CONTROL_BLACK_SCHOLES)
    sim_faults_add(faults, 0, "sampling.control", "expected \"geometric\" or \"underlying\": a function has no strike");
  option_check_methods(p, faults);
  if (faults->count > before) return SIM_OK;
  SIM_TRY(check_numbers(p, faults));
  option_make_tables(p, faults);
  option_check_sampling(p, faults);
  if (p->common.output.snapshots.kind > SIM_ENDS)
    sim_faults_add(faults, 0, "output.snapshots", "a price has no snapshots: expected \"never\"");
  p->common.output.snapshots.kind = SIM_NEVER;
  return SIM_OK;
}
