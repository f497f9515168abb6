/* The model `option`: prices and Greeks by simulated paths. */
#ifndef OPTION_OPTION_H
#define OPTION_OPTION_H

#include "engine/model.h"
#include "kernels/option/path.h"

enum {
  OPTION_PAYOFFS_MAX = 64,
  OPTION_FEATURES_MAX = 256,
  OPTION_BLOCK = 1 << 16,                      /* samples of a logical block */
  OPTION_BATCH = 16,                           /* blocks of a step at most */
  OPTION_CHUNKS = OPTION_BLOCK / OPTION_CHUNK, /* of a block */
  OPTION_STEPS_MAX = 100000
};

/* ---- parameters ---- */

typedef struct option_asset {
  double spot;
  sim_expr *vol, *dividend; /* of t */
} option_asset;

typedef enum option_type { OPTION_CALL, OPTION_PUT } option_type;

/* Of all named payoffs; each schema shows the members that it has. */
typedef struct option_payoff {
  int type; /* option_type */
  int64_t asset, second;
  double strike, cash, level;
  int average, direction, knock, monitoring;
  sim_doubles weights;
} option_payoff;
extern const sim_schema option_european_schema, option_digital_schema, option_asian_schema, option_barrier_schema,
    option_lookback_schema, option_basket_schema, option_best_of_schema, option_spread_schema;
enum { OPTION_ARITHMETIC, OPTION_GEOMETRIC_AVERAGE };
enum { OPTION_DOWN, OPTION_UP };
enum { OPTION_OUT, OPTION_IN };
enum { OPTION_AT_STEPS, OPTION_CONTINUOUS };

typedef enum option_control {
  OPTION_NO_CONTROL,
  OPTION_CONTROL_GEOMETRIC,
  OPTION_CONTROL_BLACK_SCHOLES,
  OPTION_CONTROL_UNDERLYING
} option_control;

typedef struct option_sampling {
  int sequence;
  bool antithetic;
  int control;           /* option_control */
  double paths;          /* NaN: auto */
  double standard_error; /* NaN: none */
} option_sampling;

typedef enum option_greek {
  OPTION_DELTA,
  OPTION_GAMMA,
  OPTION_VEGA,
  OPTION_RHO,
  OPTION_THETA,
  OPTION_GREEKS
} option_greek;
extern const char *const option_greek_names[OPTION_GREEKS];

enum { OPTION_AUTO, OPTION_PATHWISE, OPTION_LIKELIHOOD, OPTION_BUMP };
typedef struct option_greeks {
  bool want[OPTION_GREEKS];
  int method; /* of delta and gamma */
} option_greeks;

typedef struct option_parameters {
  sim_common common;
  sim_list assets;         /* option_asset */
  sim_doubles correlation; /* [assets][assets]; none: independent */
  sim_expr *rate;
  double maturity;
  int64_t steps;
  sim_expr *payoff; /* of the members that option_payoff_inputs lists */
  sim_list payoffs; /* option_payoff */
  option_sampling sampling;
  option_greeks greeks;

  /* from here on of validate */
  sim_table price_table, prices_table, errors_table;
  const sim_table *tables[4];
  sim_field price_columns[SIM_COLUMNS_MAX + 1], prices_columns[OPTION_PAYOFFS_MAX + 1],
      errors_columns[OPTION_PAYOFFS_MAX + 1];
  char names[2 * OPTION_PAYOFFS_MAX + 2 * OPTION_GREEKS * OPTION_ASSETS_MAX][24];
} option_parameters;
extern const sim_schema option_schema;
extern const sim_table option_price_table;
extern const sim_model option_model;
sim_status option_validate(void *parameters, sim_faults *faults);
static inline const option_asset *option_asset_at(const option_parameters *p, int i) { return p->assets.items[i].data; }

/* ---- the market at the steps ---- */

/* Drifts and volatilities in binary logarithms, [steps][assets]; discount over all of them. A bump changes one of
 * them: factor of a spot, and what is added to a volatility, the rate or the maturity. */
typedef struct option_bump {
  int asset;
  double spot, vol, rate, maturity; /* spot: 0.01 is +1 % */
} option_bump;
typedef struct option_market {
  int assets, steps;
  double discount;
  double *spot, *drift, *vol; /* owned, of one allocation at spot */
} option_market;
/* SIM_ERR_SCENARIO where a volatility is negative or a term structure not finite. */
sim_status option_market_create(const option_parameters *p, const option_bump *bump, option_market *out) SIM_MUST_CHECK;
void option_market_free(option_market *market);
/* Lower factor of the correlation, [assets][assets]; SIM_ERR_SCENARIO where it is not positive definite. */
sim_status option_cholesky(const option_parameters *p, double *out) SIM_MUST_CHECK;
/* Mean of max(s (exp(m + sd z) - strike), 0), s = 1 or -1. */
double option_lognormal_price(double mean, double deviation, double strike, option_type type);

/* ---- payoffs as graphs ---- */

/* All payoffs of a run as one graph of path features, not discounted. */
typedef struct option_graph {
  sim_expr *expr; /* owned; inputs: features; outputs: first payoffs, then the rest below */
  option_feature feature[OPTION_FEATURES_MAX];
  int features, payoffs;
  int control[OPTION_PAYOFFS_MAX];                                                                /* output, or -1 */
  double control_mean[OPTION_PAYOFFS_MAX];                                                        /* known */
  int delta[OPTION_PAYOFFS_MAX][OPTION_ASSETS_MAX], gamma[OPTION_PAYOFFS_MAX][OPTION_ASSETS_MAX]; /* output, or -1 */
  int outputs;
} option_graph;
sim_status option_graph_create(const option_parameters *p, const option_market *market,
                               option_graph *out) SIM_MUST_CHECK;
void option_graph_free(option_graph *graph);
/* Binds the function to the features that it names. */
sim_status option_bind_payoff(option_parameters *p, sim_faults *faults) SIM_MUST_CHECK;
int option_payoff_count(const option_parameters *p);
/* "price", "mean_1" ... ; what an input of the function stands for; false: nothing. */
bool option_feature_parse(const char *name, const option_parameters *p, option_feature *out);

/* ---- sampling ---- */

/* What is estimated: prices of all payoffs, then the Greeks wanted, of each payoff: [payoff][greek][asset]. */
typedef struct option_quantity {
  int payoff, greek, asset; /* greek -1: price */
} option_quantity;

typedef struct option_sampler option_sampler;
sim_status option_sampler_create(const option_parameters *p, const sim_setup *setup,
                                 option_sampler **out) SIM_MUST_CHECK;
void option_sampler_destroy(option_sampler **sampler);
double option_sampler_bytes(const option_parameters *p, const sim_setup *setup);
int option_sampler_quantities(const option_parameters *p, option_quantity *out); /* out may be NULL */
/* Means and sums of squared deviations of `count` samples from number `first` (a multiple of OPTION_BLOCK) on, block by
 * block: mean[blocks][quantities], squares likewise. The same bits for any number of threads. */
sim_status option_sample(option_sampler *sampler, int64_t first, int64_t count, double *mean,
                         double *squares) SIM_MUST_CHECK;
/* "one path a lane, avx512" */
const char *option_sampler_name(const option_sampler *sampler);

#endif
