/* Field tables of the named payoffs. */
#include "kernels/option/scenario/parameters.h"

static const char *const types[] = {"call", "put", NULL};
static const char *const averages[] = {"arithmetic", "geometric", NULL};
static const char *const directions[] = {"down", "up", NULL};
static const char *const knocks[] = {"out", "in", NULL};
static const char *const underlyings[] = {"asset", "best_of", "worst_of", "basket", NULL};
static const char *const bases[] = {"auto", "payoff", "ordered", "assets", "all", NULL};
static const char *const exchanges[] = {"none", "quanto", "composite", "payment", NULL};
static const char *const settles[] = {"fixings", "maturity", NULL};
static const char *const monitorings[] = {"steps", "continuous", NULL};

#define NAME                                                                                                           \
  {                                                                                                                    \
    SIM_FIELD(option_payoff, name),                                                                                    \
        .type = SIM_STRING, .doc = "of its columns and lines: at most 40 letters, digits and _; none: payoff_1, ..."   \
  }
#define TYPE                                                                                                           \
  {                                                                                                                    \
    SIM_FIELD(option_payoff, type), .type = SIM_CHOICE, .doc = "call: pays above the strike, put: below",              \
                                    .choices = types, .initial = "call"                                                \
  }
#define ASSET                                                                                                          \
  {                                                                                                                    \
    SIM_FIELD(option_payoff, asset), .type = SIM_INT, .doc = "number of the asset, from 1", .flags = SIM_RANGE,        \
                                     .min = 1, .max = OPTION_ASSETS_MAX, .initial = "1"                                \
  }
#define STRIKE                                                                                                         \
  {                                                                                                                    \
    SIM_FIELD(option_payoff, strike), .type = SIM_REAL, .doc = "exercise price", .flags = SIM_REQUIRED | SIM_RANGE,    \
                                      .min = 0, .max = INFINITY                                                        \
  }
#define MONITORING                                                                                                     \
  {                                                                                                                    \
    SIM_FIELD(option_payoff, monitoring),                                                                              \
        .type = SIM_CHOICE, .choices = monitorings, .initial = "steps",                                                \
        .doc = "prices at the steps, or continuously (Brownian bridges between steps)"                                 \
  }
#define KNOCK                                                                                                          \
  {                                                                                                                    \
    SIM_FIELD(option_payoff, knock), .type = SIM_CHOICE, .choices = knocks, .initial = "out",                          \
                                     .doc = "pays if the level is not reached, or if it is"                            \
  }
#define REBATE                                                                                                         \
  {                                                                                                                    \
    SIM_FIELD(option_payoff, rebate), .type = SIM_REAL, .flags = SIM_RANGE, .max = INFINITY, .initial = "0",           \
                                      .doc = "amount paid at maturity where the barrier leaves no European payoff"     \
  }
#define DATES(text)                                                                                                    \
  { SIM_FIELD(option_payoff, dates), .type = SIM_NUMBERS, .flags = SIM_OR_FILE, .doc = text "; none: the steps" }
#define MATURITY                                                                                                       \
  {                                                                                                                    \
    SIM_FIELD(option_payoff, maturity), .type = SIM_REAL, .flags = SIM_RANGE | SIM_MIN_OPEN, .max = INFINITY,          \
                                        .initial = "run", .keyword = "run",                                            \
                                        .doc = "time of the payment, at most that of the run (run)"                    \
  }
#define EXCHANGE                                                                                                       \
  {SIM_FIELD(option_payoff, exchange), .type = SIM_CHOICE, .choices = exchanges, .initial = "none",                    \
   .doc = "of a price in another currency: quanto: paid at exchange_rate; composite: each price is converted at its "  \
          "date; payment: the payment is, at its date"},                                                               \
  {                                                                                                                    \
    SIM_FIELD(option_payoff, exchange_rate), .type = SIM_REAL, .flags = SIM_RANGE | SIM_MIN_OPEN, .max = INFINITY,     \
                                             .initial = "1",                                                           \
                                             .doc = "money of the run for one of the price's currency, in a quanto"    \
  }
#define PAYOFF(word, text, ...)                                                                                        \
  const sim_schema option_##word##_schema = {                                                                          \
      .name = #word,                                                                                                   \
      .doc = text,                                                                                                     \
      .fields = (const sim_field[]){NAME, TYPE, MATURITY, EXCHANGE, __VA_ARGS__, {0}},                                 \
      .size = sizeof(option_payoff)}

PAYOFF(european, "pays max(last - strike, 0), or max(strike - last, 0)", STRIKE, ASSET);
PAYOFF(digital, "pays cash where the last price is above (call) or below (put) the strike", STRIKE, ASSET,
       {SIM_FIELD(option_payoff, cash), .type = SIM_REAL, .doc = "amount paid", .initial = "1"});
PAYOFF(asian, "pays on the mean of the prices at its dates", STRIKE, ASSET, DATES("times of the fixings"),
       {SIM_FIELD(option_payoff, average), .type = SIM_CHOICE, .doc = "kind of mean", .choices = averages,
        .initial = "arithmetic"},
       {SIM_FIELD(option_payoff, past), .type = SIM_NUMBERS, .flags = SIM_OR_FILE | SIM_RANGE | SIM_MIN_OPEN,
        .max = INFINITY, .doc = "fixings of the past, which are part of the mean"});
PAYOFF(barrier, "European payoff if a level is not reached (out), or is reached (in)", STRIKE, ASSET,
       {SIM_FIELD(option_payoff, level), .type = SIM_REAL, .doc = "the barrier",
        .flags = SIM_REQUIRED | SIM_RANGE | SIM_MIN_OPEN, .max = INFINITY},
       {SIM_FIELD(option_payoff, direction), .type = SIM_CHOICE, .doc = "the level is reached from above or from below",
        .choices = directions, .initial = "down"},
       KNOCK, REBATE, MONITORING, DATES("times at which the level is watched"),
       {SIM_FIELD(option_payoff, from), .type = SIM_REAL, .flags = SIM_RANGE, .max = INFINITY, .initial = "0",
        .doc = "time from which the level is watched continuously"},
       {SIM_FIELD(option_payoff, to), .type = SIM_REAL, .flags = SIM_RANGE | SIM_MIN_OPEN, .max = INFINITY,
        .initial = "maturity", .keyword = "maturity", .doc = "time until which it is"});
PAYOFF(double_barrier, "European payoff if neither of two levels is reached (out), or one of them is (in)", STRIKE,
       ASSET,
       {SIM_FIELD(option_payoff, low), .type = SIM_REAL, .doc = "the lower barrier, below the spot",
        .flags = SIM_REQUIRED | SIM_RANGE | SIM_MIN_OPEN, .max = INFINITY},
       {SIM_FIELD(option_payoff, high), .type = SIM_REAL, .doc = "the upper barrier, above the spot",
        .flags = SIM_REQUIRED | SIM_RANGE | SIM_MIN_OPEN, .max = INFINITY},
       KNOCK, REBATE, MONITORING, DATES("times at which the levels are watched"));
PAYOFF(lookback, "pays on the highest or lowest price", ASSET,
       {SIM_FIELD(option_payoff, strike), .type = SIM_REAL, .flags = SIM_RANGE, .max = INFINITY, .initial = "floating",
        .keyword = "floating",
        .doc = "call: highest - strike; floating: last - lowest (put: strike - lowest, highest - last)"},
       MONITORING, DATES("times of the prices"),
       {SIM_FIELD(option_payoff, extreme), .type = SIM_REAL, .flags = SIM_RANGE | SIM_MIN_OPEN, .max = INFINITY,
        .initial = "none", .keyword = "none", .doc = "highest or lowest price so far, whichever the payoff needs"});
PAYOFF(forward_start, "European payoff whose strike is a share of an earlier price", ASSET,
       {SIM_FIELD(option_payoff, start), .type = SIM_INT, .flags = SIM_RANGE, .max = OPTION_STEPS_MAX, .initial = "0",
        .doc = "step at which the strike is set, before the last one; or start_time"},
       {SIM_FIELD(option_payoff, start_time), .type = SIM_REAL, .flags = SIM_RANGE, .max = INFINITY, .initial = "0",
        .doc = "time at which the strike is set"},
       {SIM_FIELD(option_payoff, moneyness), .type = SIM_REAL, .doc = "strike / price at `start`", .flags = SIM_RANGE,
        .max = INFINITY, .initial = "1"});
PAYOFF(basket, "pays on a weighted sum of the last prices", STRIKE,
       {SIM_FIELD(option_payoff, weights), .type = SIM_NUMBERS,
        .doc = "weight of each asset; none: 1 / number of assets"});
PAYOFF(best_of, "pays on the highest of the last prices of all assets", STRIKE);
PAYOFF(worst_of, "pays on the lowest of the last prices of all assets", STRIKE);
PAYOFF(rainbow, "pays on a weighted sum of the last prices of all assets in their order, the highest first", STRIKE,
       {SIM_FIELD(option_payoff, weights), .type = SIM_NUMBERS, .flags = SIM_REQUIRED,
        .doc = "weight of the highest price, of the second, ..., of the lowest"});
PAYOFF(spread, "pays on the difference of two last prices", STRIKE, ASSET,
       {SIM_FIELD(option_payoff, second), .type = SIM_INT, .doc = "the asset that is subtracted", .flags = SIM_RANGE,
        .min = 1, .max = OPTION_ASSETS_MAX, .initial = "2"});

static const sim_signature exercise_signature = {
    .record = true,
    .parameter = "path",
    .returns =
        "payment of an exercise, from path.last[i], the prices at its date, and path.max[i], the highest so far"};

PAYOFF(american, "European payoff that may be exercised at any of the dates, by the rule of Longstaff and Schwartz",
       {SIM_FIELD(option_payoff, strike), .type = SIM_REAL, .flags = SIM_RANGE, .max = INFINITY, .initial = "none",
        .keyword = "none", .doc = "exercise price; none: with `exercise`"},
       {SIM_FIELD(option_payoff, asset), .type = SIM_INT, .flags = SIM_RANGE, .max = OPTION_ASSETS_MAX, .initial = "1",
        .doc = "number of the asset, from 1; 0: several, by `on` or `exercise`"},
       {SIM_FIELD(option_payoff, on), .type = SIM_CHOICE, .choices = underlyings, .initial = "asset",
        .doc = "what it is on: an asset, the highest or lowest price of all, or a weighted sum"},
       {SIM_FIELD(option_payoff, weights), .type = SIM_NUMBERS,
        .doc = "on = \"basket\": weight of each asset; none: 1 / number of assets"},
       {SIM_FIELD(option_payoff, exercise), .type = SIM_FUNCTION, .signature = &exercise_signature,
        .doc = "payment of an exercise, where strike, type and on do not say it"},
       {SIM_FIELD(option_payoff, every), .type = SIM_INT,
        .doc = "steps between exercise dates; 1: American, more: Bermudan", .flags = SIM_RANGE, .min = 1,
        .max = OPTION_STEPS_MAX, .initial = "1"},
       {SIM_FIELD(option_payoff, basis), .type = SIM_CHOICE, .choices = bases, .initial = "auto",
        .doc = "functions of the regression: powers of the payoff; of several assets also the ordered prices, their "
               "squares and products of neighbours (ordered), the prices, their squares and products (assets; auto: "
               "basket, exercise), or both (all; auto: best_of, worst_of); all but payoff also of random volatilities"},
       {SIM_FIELD(option_payoff, degree), .type = SIM_INT, .doc = "degree of the powers of the payoff",
        .flags = SIM_RANGE, .min = 1, .max = OPTION_DEGREE_MAX, .initial = "5"},
       {SIM_FIELD(option_payoff, fit_paths), .type = SIM_INT,
        .doc = "paths of the regression that finds the exercise rule; auto: 65536, with exposure 524288",
        .flags = SIM_RANGE, .min = 1024, .max = 0x1p24, .initial = "auto", .keyword = "auto"},
       {SIM_FIELD(option_payoff, upper_paths), .type = SIM_INT, .flags = SIM_RANGE, .max = 0x1p20, .initial = "0",
        .doc = "paths of an upper bound (Andersen and Broadie), 1000 or so; 0: none"},
       {SIM_FIELD(option_payoff, inner_paths), .type = SIM_INT, .flags = SIM_RANGE, .min = 2, .max = 0x1p20,
        .initial = "auto", .keyword = "auto",
        .doc = "paths from each date of the upper bound where exercise pays or is decided; auto: 1024"},
       DATES("times at which it can be exercised"));

PAYOFF(
    accumulator,
    "accumulator: buys (call), or sells (put), shares at the strike at each date until the price reaches `level`",
    STRIKE, ASSET,
    {SIM_FIELD(option_payoff, level), .type = SIM_REAL, .flags = SIM_RANGE | SIM_MIN_OPEN, .max = INFINITY,
     .initial = "none", .keyword = "none",
     .doc = "knock-out: it ends at the first date with a price of at least (put: at most) this, before that purchase"},
    {SIM_FIELD(option_payoff, shares), .type = SIM_REAL, .flags = SIM_RANGE | SIM_MIN_OPEN, .max = INFINITY,
     .initial = "1", .doc = "shares bought or sold at a date"},
    {SIM_FIELD(option_payoff, gearing), .type = SIM_REAL, .flags = SIM_RANGE, .max = INFINITY, .initial = "2",
     .doc = "multiple of the shares where the price is below (put: above) the strike"},
    {SIM_FIELD(option_payoff, guaranteed), .type = SIM_INT, .flags = SIM_RANGE, .max = OPTION_STEPS_MAX, .initial = "0",
     .doc = "first dates at which shares are bought also after a knock-out"},
    {SIM_FIELD(option_payoff, settle), .type = SIM_CHOICE, .choices = settles, .initial = "fixings",
     .doc = "fixings: shares are delivered and paid at each date; maturity: all of them at the maturity"},
    {SIM_FIELD(option_payoff, every), .type = SIM_INT, .doc = "steps between dates", .flags = SIM_RANGE, .min = 1,
     .max = OPTION_STEPS_MAX, .initial = "1"},
    DATES("times of the fixings"));

static const sim_field autocallable_fields[] = {
    NAME,
    MATURITY,
    EXCHANGE,
    ASSET,
    DATES("times at which it can be called"),
    {SIM_FIELD(option_payoff, level), .type = SIM_REAL,
     .doc = "called at the first date with a price of at least this level",
     .flags = SIM_REQUIRED | SIM_RANGE | SIM_MIN_OPEN, .max = INFINITY},
    {SIM_FIELD(option_payoff, coupon), .type = SIM_REAL,
     .doc = "coupon as a fraction of cash, for each date until it is called", .flags = SIM_REQUIRED | SIM_RANGE,
     .max = INFINITY},
    {SIM_FIELD(option_payoff, protection), .type = SIM_REAL, .flags = SIM_REQUIRED | SIM_RANGE, .max = INFINITY,
     .doc = "if never called: pays cash if the last price is at least this, else cash times last price / initial"},
    {SIM_FIELD(option_payoff, initial), .type = SIM_REAL, .flags = SIM_RANGE | SIM_MIN_OPEN, .max = INFINITY,
     .initial = "spot", .keyword = "spot", .doc = "price when the note was issued"},
    {SIM_FIELD(option_payoff, passed), .type = SIM_INT, .flags = SIM_RANGE, .max = OPTION_STEPS_MAX, .initial = "0",
     .doc = "dates that have passed, whose coupons are paid too"},
    {SIM_FIELD(option_payoff, cash), .type = SIM_REAL, .doc = "redemption amount", .initial = "100"},
    {SIM_FIELD(option_payoff, every), .type = SIM_INT, .doc = "steps between dates", .flags = SIM_RANGE, .min = 1,
     .max = OPTION_STEPS_MAX, .initial = "1"},
    {0}};
const sim_schema option_autocallable_schema = {SIM_SCHEMA(
    option_payoff, "autocallable",
    "autocallable: redeemed with coupons at the first date with a price of at least `level`", autocallable_fields)};

#define SWAP(word, text, unit)                                                                                         \
  static const sim_field word##_fields[] = {                                                                           \
      NAME,                                                                                                            \
      MATURITY,                                                                                                        \
      EXCHANGE,                                                                                                        \
      ASSET,                                                                                                           \
      {SIM_FIELD(option_payoff, strike), .type = SIM_REAL, .doc = "volatility in points: 20 is 20 % a year",           \
       .flags = SIM_REQUIRED | SIM_RANGE, .max = INFINITY},                                                            \
      {SIM_FIELD(option_payoff, cash), .type = SIM_REAL, .doc = unit, .initial = "1"},                                 \
      DATES("times of the fixings after that of now, the spot"),                                                       \
      {SIM_FIELD(option_payoff, per_year), .type = SIM_REAL, .flags = SIM_RANGE | SIM_MIN_OPEN, .max = INFINITY,       \
       .initial = "dates", .keyword = "dates",                                                                         \
       .doc = "fixings of a year, such as 252; dates: their number over the time of the last one"},                    \
      {0}};                                                                                                            \
  const sim_schema option_##word##_schema = {SIM_SCHEMA(option_payoff, #word, text, word##_fields)}

SWAP(variance_swap, "pays cash times the realised variance less the strike squared, in points squared",
     "amount paid a point squared; the notional of volatility over twice the strike");
SWAP(volatility_swap, "pays cash times the realised volatility less the strike, in points", "amount paid a point");
