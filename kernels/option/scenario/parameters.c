/* Field tables of the parameters. */
#include "kernels/option/scenario/parameters.h"

static const char *const sequences[] = {"philox", "sobol", NULL};
static const char *const generators[] = {"philox", "mrg32k3a", NULL};
static const char *const constructions[] = {"auto", "bridge", "pca", NULL};
static const char *const controls[] = {"none", "geometric", "black_scholes", "underlying", NULL};
static const char *const methods[] = {"auto", "pathwise", "likelihood", "bump", NULL};

static const sim_field sampling_fields[] = {
    {SIM_FIELD(option_sampling, sequence), .type = SIM_CHOICE, .doc = "sequence of random numbers",
     .choices = sequences, .initial = "philox"},
    {SIM_FIELD(option_sampling, generator), .type = SIM_CHOICE, .choices = generators, .initial = "philox",
     .doc = "generator: philox (Philox4x32-10); mrg32k3a: the numbers of cuRAND, slower, for comparisons"},
    {SIM_FIELD(option_sampling, scrambles), .type = SIM_REAL, .flags = SIM_RANGE, .min = 16, .max = 64,
     .initial = "auto", .keyword = "auto",
     .doc = "number of scrambles of the Sobol sequence: 16, 32 (auto) or 64, with equal numbers of paths; their spread "
            "gives the standard error"},
    {SIM_FIELD(option_sampling, construction), .type = SIM_CHOICE, .choices = constructions, .initial = "auto",
     .doc =
         "construction of paths from Sobol points: Brownian bridge (auto), or principal components (cost ~ steps^2)"},
    {SIM_FIELD(option_sampling, antithetic), .type = SIM_BOOL,
     .doc = "antithetic paths: each path also with the opposite signs of its normals", .initial = "false"},
    {SIM_FIELD(option_sampling, moment_matching), .type = SIM_BOOL, .initial = "false",
     .doc = "moment matching: the normals of every 1024 samples are shifted and scaled to mean 0 and variance 1"},
    {SIM_FIELD(option_sampling, multilevel), .type = SIM_BOOL, .initial = "false",
     .doc = "multilevel Monte Carlo: `steps` and ever finer ones, until standard_error is met with the bias of the "
            "steps in it (on the CPU)"},
    {SIM_FIELD(option_sampling, randomised), .type = SIM_BOOL, .initial = "false",
     .doc = "multilevel with a random level at the end: prices without bias, errors that assume no order of the steps"},
    {SIM_FIELD(option_sampling, control), .type = SIM_CHOICE, .choices = controls, .initial = "none",
     .doc = "control variate of prices: option on the geometric mean, Black-Scholes option with the same strike, or "
            "the last price"},
    {SIM_FIELD(option_sampling, paths), .type = SIM_REAL, .flags = SIM_RANGE | SIM_MAY_CHANGE, .min = 2, .max = 0x1p52,
     .initial = "auto", .keyword = "auto",
     .doc = "largest number of paths; auto: 2^20, or with standard_error or time 2^40"},
    {SIM_FIELD(option_sampling, standard_error), .type = SIM_REAL, .flags = SIM_RANGE | SIM_MIN_OPEN | SIM_MAY_CHANGE,
     .max = INFINITY, .initial = "none", .keyword = "none",
     .doc = "ends the run when no standard error of a price is larger"},
    {SIM_FIELD(option_sampling, time), .type = SIM_REAL, .flags = SIM_RANGE | SIM_MIN_OPEN | SIM_MAY_CHANGE,
     .max = INFINITY, .initial = "none", .keyword = "none",
     .doc = "ends the run at the first step after this many seconds; a continued run counts anew"},
    {0}};
static const sim_schema sampling_schema = {
    .doc = "random numbers and their use", .fields = sampling_fields, .size = sizeof(option_sampling)};

const char *const option_greek_names[OPTION_GREEKS] = {
    "delta", "gamma", "vega", "rho", "theta", "cross_gamma", "vanna", "volga", "charm", "vega_bucket", "rho_bucket"};

#define GREEK(greek, text)                                                                                             \
  {                                                                                                                    \
    .name = text, .type = SIM_BOOL, .initial = "false",                                                                \
    .offset = offsetof(option_greeks, want) + sizeof(bool) * (greek),                                                  \
    .doc = "whether to estimate it, with its standard error"                                                           \
  }
static const sim_field greek_fields[] = {
    GREEK(OPTION_DELTA, "delta"),
    GREEK(OPTION_GAMMA, "gamma"),
    GREEK(OPTION_VEGA, "vega"),
    GREEK(OPTION_RHO, "rho"),
    GREEK(OPTION_THETA, "theta"),
    {.name = "cross_gamma",
     .type = SIM_BOOL,
     .initial = "false",
     .offset = offsetof(option_greeks, want) + sizeof(bool) * OPTION_CROSS_GAMMA,
     .doc = "whether to estimate the second derivatives by the spots of each two assets"},
    {.name = "vanna",
     .type = SIM_BOOL,
     .initial = "false",
     .offset = offsetof(option_greeks, want) + sizeof(bool) * OPTION_VANNA,
     .doc = "whether to estimate the derivative of each delta by the volatility of the same asset"},
    {.name = "volga",
     .type = SIM_BOOL,
     .initial = "false",
     .offset = offsetof(option_greeks, want) + sizeof(bool) * OPTION_VOLGA,
     .doc = "whether to estimate the second derivative by the volatility of each asset"},
    {.name = "charm",
     .type = SIM_BOOL,
     .initial = "false",
     .offset = offsetof(option_greeks, want) + sizeof(bool) * OPTION_CHARM,
     .doc = "whether to estimate the change of each delta with time, as theta is that of the price"},
    {.name = "vega_bucket",
     .type = SIM_BOOL,
     .initial = "false",
     .offset = offsetof(option_greeks, want) + sizeof(bool) * OPTION_VEGA_BUCKET,
     .doc = "whether to estimate the derivatives by the value of each node of `vol`, where that is a sim.curve"},
    {.name = "rho_bucket",
     .type = SIM_BOOL,
     .initial = "false",
     .offset = offsetof(option_greeks, want) + sizeof(bool) * OPTION_RHO_BUCKET,
     .doc = "whether to estimate the derivatives by the value of each node of `rate`, where that is a sim.curve"},
    {SIM_FIELD(option_greeks, method), .type = SIM_CHOICE, .choices = methods, .initial = "auto",
     .doc = "auto: pathwise for named payoffs without jumps, likelihood ratio for delta and gamma of those with jumps, "
            "finite differences on the same paths for all others"},
    {0}};
static const sim_schema greeks_schema = {
    .doc = "sensitivities to estimate", .fields = greek_fields, .size = sizeof(option_greeks)};

static const sim_field hull_white_fields[] = {
    {SIM_FIELD(option_hull_white, reversion), .type = SIM_REAL, .doc = "rate a of mean reversion",
     .flags = SIM_REQUIRED | SIM_RANGE, .max = INFINITY},
    {SIM_FIELD(option_hull_white, sigma), .type = SIM_REAL, .doc = "volatility of the short rate: 0.01 is 1 % a year",
     .flags = SIM_REQUIRED | SIM_RANGE, .max = INFINITY},
    {SIM_FIELD(option_hull_white, correlation), .type = SIM_NUMBERS, .flags = SIM_RANGE, .min = -1, .max = 1,
     .doc = "correlations of the rate with each asset; none: 0"},
    {0}};
static const sim_schema hull_white_schema = {
    .doc = "Hull and White's random short rate: dx = -a x dt + sigma dW about the forward rates `rate`, exact steps",
    .fields = hull_white_fields,
    .size = sizeof(option_hull_white)};

static const sim_signature payoff_signature = {
    .record = true,
    .parameter = "path",
    .returns = "payment at maturity, from path.last[i], mean, geometric, max, min, high, low [i], fixing[i][step]"};

static const sim_field fields[] = {
    {SIM_FIELD(option_parameters, assets), .type = SIM_LIST, .doc = "the assets that payoffs depend on",
     .flags = SIM_REQUIRED, .variants = (const sim_schema *const[]){&option_asset_schema, NULL}},
    {SIM_FIELD(option_parameters, correlation), .type = SIM_NUMBERS, .components = SIM_SQUARE,
     .doc = "correlation matrix of the assets' logarithms; none: independent", .flags = SIM_RANGE, .min = -1, .max = 1},
    {SIM_FIELD(option_parameters, rate), .type = SIM_FUNCTION,
     .doc = "interest rate: a number, or a function or sim.curve of time", .flags = SIM_OR_NUMBER | SIM_OR_FILE,
     .initial = "0", .signature = &option_term_signature},
    {SIM_FIELD(option_parameters, hull_white), .type = SIM_STRUCT, .table = &hull_white_schema, .flags = SIM_OPTIONAL,
     .doc = "random interest rate, whose forward rates of today are `rate`"},
    {SIM_FIELD(option_parameters, maturity), .type = SIM_REAL, .doc = "time of the payment",
     .flags = SIM_REQUIRED | SIM_RANGE | SIM_MIN_OPEN, .max = INFINITY},
    {SIM_FIELD(option_parameters, steps), .type = SIM_INT, .flags = SIM_RANGE, .min = 1, .max = OPTION_STEPS_MAX,
     .doc =
         "number of equal time steps, at whose ends payoffs observe prices; required if a price depends on it, else 1"},
    {SIM_FIELD(option_parameters, payoff), .type = SIM_FUNCTION, .doc = "custom payoff, or several",
     .signature = &payoff_signature},
    {SIM_FIELD(option_parameters, payoffs), .type = SIM_LIST, .doc = "named payoffs, all on the same paths",
     .variants =
         (const sim_schema *const[]){&option_european_schema, &option_digital_schema, &option_asian_schema,
                                     &option_barrier_schema, &option_double_barrier_schema, &option_lookback_schema,
                                     &option_forward_start_schema, &option_basket_schema, &option_best_of_schema,
                                     &option_worst_of_schema, &option_rainbow_schema, &option_spread_schema,
                                     &option_american_schema, &option_autocallable_schema, &option_accumulator_schema,
                                     &option_variance_swap_schema, &option_volatility_swap_schema, NULL}},
    {SIM_FIELD(option_parameters, sampling), .type = SIM_STRUCT,
     .doc = "sampling: random numbers, variance reduction and number of paths", .table = &sampling_schema},
    {SIM_FIELD(option_parameters, greeks), .type = SIM_STRUCT, .doc = "sensitivities to estimate",
     .table = &greeks_schema},
    {SIM_FIELD(option_parameters, exposure), .type = SIM_STRUCT, .table = &option_exposure_schema,
     .flags = SIM_OPTIONAL,
     .doc = "exposure of the netted book to the other party; the CPU computes it, also of a run on a GPU"},
    {SIM_FIELD(option_parameters, ladder), .type = SIM_STRUCT, .table = &option_ladder_schema, .flags = SIM_OPTIONAL,
     .doc = "ladder of scenarios: prices at every combination of shifts, and their changes"},
    {SIM_FIELD(option_parameters, paths), .type = SIM_STRUCT, .table = &option_path_output_schema,
     .flags = SIM_OPTIONAL, .doc = "the first paths of the run, to be written to paths.h5"},
    {0}};
const sim_schema option_schema = {
    SIM_SCHEMA(option_parameters, "option", "prices and Greeks of options by Monte Carlo simulation", fields),
    .base = &sim_common_schema};
