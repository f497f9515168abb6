/* The model `option`: prices and Greeks by simulated paths. */
#ifndef OPTION_OPTION_H
#define OPTION_OPTION_H

#include "engine/model.h"
#include "kernels/option/cpu/path.h"

#include <math.h>

enum {
  OPTION_PAYOFFS_MAX = 64,
  OPTION_FEATURES_MAX = 256,
  OPTION_BLOCK = 1 << 16,                      /* samples of a logical block */
  OPTION_BATCH = 16,                           /* blocks of a step on the CPU at most */
  OPTION_GROUP = 4,                            /* blocks of a step on the CPU where an accuracy ends the run */
  OPTION_CHUNKS = OPTION_BLOCK / OPTION_CHUNK, /* of a block */
  OPTION_STEPS_MAX = 100000
};

/* ---- parameters ---- */

typedef struct option_heston {
  bool given;
  double v, kappa, theta, sigma, rho;
} option_heston;
typedef struct option_jumps {
  bool given;
  double rate, mean, deviation;
} option_jumps;
typedef struct option_vol_grid {
  bool given;
  sim_doubles spots, times, vols; /* [spots], [times], [times * spots] */
} option_vol_grid;
/* One of vol, heston, local_vol and vol_grid. */
typedef struct option_asset {
  double spot;
  sim_expr *vol, *dividend; /* of t */
  option_heston heston;
  option_jumps jumps;
  sim_expr *local_vol; /* of S, t */
  option_vol_grid vol_grid;
} option_asset;

typedef enum option_type { OPTION_CALL, OPTION_PUT } option_type;

/* Of all named payoffs; each schema shows the members that it has. */
typedef struct option_payoff {
  int type; /* option_type */
  int64_t asset, second;
  double strike, cash, level;
  int average, direction, knock, monitoring;
  int64_t every, degree, fit_paths; /* of an early exercise */
  double coupon, protection;        /* autocallable */
  sim_doubles weights;
} option_payoff;
extern const sim_schema option_european_schema, option_digital_schema, option_asian_schema, option_barrier_schema,
    option_lookback_schema, option_basket_schema, option_best_of_schema, option_spread_schema, option_american_schema,
    option_autocallable_schema;
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

enum { OPTION_PHILOX, OPTION_SOBOL }; /* sequence; a generator is one of: */
enum { OPTION_PHILOX4X32, OPTION_MRG32K3A };
enum { OPTION_ANY_CONSTRUCTION, OPTION_BRIDGE, OPTION_PCA }; /* any: a bridge */
typedef struct option_sampling {
  int sequence, generator, construction;
  double scrambles; /* NaN: auto */
  bool antithetic, moment_matching;
  int control;           /* option_control */
  double paths;          /* NaN: auto */
  double standard_error; /* NaN: none */
  double time;           /* seconds; NaN: none */
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
  double asked_paths; /* before they were rounded */
  sim_table price_table, prices_table, errors_table;
  const sim_table *tables[6 + 2 * OPTION_GREEKS];
  sim_table bias_tables[2];                 /* of the shift by the steps, of its errors */
  sim_table greek_tables[OPTION_GREEKS][2]; /* of the Greek, of its errors */
  sim_field price_columns[SIM_COLUMNS_MAX + 1], prices_columns[OPTION_PAYOFFS_MAX + 1],
      errors_columns[OPTION_PAYOFFS_MAX + 1];
  sim_field greek_columns[OPTION_GREEKS][SIM_COLUMNS_MAX + 1];
  char names[2 * OPTION_PAYOFFS_MAX + 3 * OPTION_GREEKS * OPTION_ASSETS_MAX][24];
} option_parameters;
extern const sim_signature option_term_signature; /* a number of time */
extern const sim_schema option_schema, option_asset_schema;
extern const sim_table option_price_table;
extern const sim_table *const option_described[]; /* sim_model.described */
extern const sim_model option_model;
extern const sim_bench option_bench[]; /* bench.c */
sim_status option_validate(void *parameters, sim_faults *faults);
void option_check_asset(const option_parameters *p, int asset, sim_faults *faults);
void option_check_correlation(const option_parameters *p, sim_faults *faults);
/* Sets one step where none are given and nothing depends on them; a fault where something does. */
void option_check_steps(option_parameters *p, sim_faults *faults);
/* Refuses what happens to correlated assets between the steps in one result of the function. */
void option_check_between(const option_parameters *p, sim_faults *faults);
void option_make_tables(option_parameters *p, sim_faults *faults);
static inline bool option_is_bias_table(const option_parameters *p, int table) {
  return p->tables[table] == &p->bias_tables[0] || p->tables[table] == &p->bias_tables[1];
}
void option_check_methods(const option_parameters *p, sim_faults *faults);
/* Rounds the paths, too. */
void option_check_sampling(option_parameters *p, sim_faults *faults);
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
  double *bond;               /* [steps]: the discount until each step's end */
  double *growth;             /* [assets]: of the logarithm of the mean price until maturity, whatever the motion */
  option_mover *mover;        /* [assets], owned; NULL where all are geometric Brownian motions */
} option_market;
/* SIM_ERR_SCENARIO where a volatility is negative or a term structure not finite. */
sim_status option_market_create(const option_parameters *p, const option_bump *bump, option_market *out) SIM_MUST_CHECK;
/* Times in [0, maturity], and others, at which a function may jump or have a kink as its `input`, the time, moves while
 * the one beside it is `other`: sorted, *out[*count], the caller's to free. Comparisons that are linear in t are
 * solved; the others are searched: *missed where some may not have been found. */
sim_status option_breaks(const sim_expr *expr, int input, double other, double maturity, double **out, int *count,
                         bool *missed) SIM_MUST_CHECK;
void option_tell_missed(const char *name); /* a warning that begins with the name */
/* Integrals of a function of t over each step to 1e-10 of the whole, of its square too where that is not NULL:
 * [steps] each. Times that it compares t with are ends of pieces, so that curves and functions that jump there are
 * exact; what is between is halved until it holds. SIM_ERR_SCENARIO where a value is not finite or below `least`, or
 * where halving does not end; `name` begins the message. */
sim_status option_integrate(const char *name, const sim_expr *expr, double least, int steps, double dt, double *sum,
                            double *squares) SIM_MUST_CHECK;
/* Where volatilities change in different ways within a step, its normals are less correlated than the assets at each
 * time: by this share at most, else SIM_ERR_SCENARIO. */
#define OPTION_CORRELATION_LOST 1e-4
sim_status option_check_vols(const option_parameters *p) SIM_MUST_CHECK;
void option_market_free(option_market *market);
/* Constants of an asset's steps; `shift` is added to its volatility: Heston's square roots of v and theta, or sigma. */
sim_status option_mover_set(const option_asset *asset, int steps, double dt, double shift,
                            option_mover *out) SIM_MUST_CHECK;
void option_mover_free(option_mover *mover);
sim_status option_local_vol(const sim_expr *expr, double price, double t, double *out) SIM_MUST_CHECK;
/* What jumps add to the growth of an asset's mean, a unit of time. */
double option_jump_drift(const option_asset *asset);
bool option_asset_is_gbm(const option_asset *asset);
/* Lower factor of the correlation, [assets][assets], zero above the diagonal where `out` was; SIM_ERR_SCENARIO where it
 * has a negative eigenvalue. */
sim_status option_cholesky(const option_parameters *p, double *out) SIM_MUST_CHECK;
/* Mean of max(s (exp(m + sd z) - strike), 0), s = 1 or -1. */
double option_lognormal_price(double mean, double deviation, double strike, option_type type);

/* ---- early exercise ---- */

/* When to exercise, of each named payoff that may be: polynomials of Longstaff and Schwartz (Review of Financial
 * Studies 14 (2001) 113), fitted on paths of their own, which never price anything. */
typedef struct option_policy {
  int count;
  option_rule *rule; /* [payoffs], those of other kinds zero; growth is of no market yet */
  void *numbers;     /* owned */
} option_policy;
/* Fits on the given market, in fp64, on the CPU; no result depends on setup. */
sim_status option_policy_create(const option_parameters *p, const option_market *market, const sim_setup *setup,
                                option_policy *out) SIM_MUST_CHECK;
void option_policy_free(option_policy *policy);
double option_policy_bytes(const option_parameters *p); /* while it is fitted */
/* The rules with the growth of money of a market: out[payoffs], growth[payoffs][steps]. */
void option_policy_in(const option_policy *policy, const option_market *market, option_rule *out, double *growth);

/* ---- quasi-random points ---- */

sim_status option_quasi_create(const option_parameters *p, option_quasi *out) SIM_MUST_CHECK;
void option_quasi_free(option_quasi *quasi);
int option_quasi_dimensions(const option_parameters *p); /* at most OPTION_SOBOL_DIMENSIONS + 1 */
double option_quasi_bytes(const option_parameters *p);
/* Samples of a logical block: OPTION_BLOCK, or with Sobol's points a part of it of one scramble. Block j is of scramble
 * j % scrambles, its points go on where block j - scrambles ended. */
int option_block_samples(const option_parameters *p);
static inline int option_scrambles(const option_parameters *p) {
  return isnan(p->sampling.scrambles) ? 32 : (int)p->sampling.scrambles;
}
static inline int option_groups(const option_parameters *p) {
  return p->sampling.sequence == OPTION_SOBOL ? option_scrambles(p) : 1;
}

/* Samples whose mean counts as one: those of a chunk with matched moments depend on each other. */
static inline int option_unit(const option_parameters *p) { return p->sampling.moment_matching ? OPTION_CHUNK : 1; }

/* ---- payoffs as graphs ---- */

typedef struct option_parameter {
  int greek, asset;
} option_parameter;

/* A payoff max(sign (feature - strike), 0). */
typedef struct option_plain {
  int feature;
  double sign, strike; /* sign 0: it is something else */
} option_plain;

/* All payoffs of a run as one graph of path features, not discounted. */
typedef struct option_graph {
  sim_expr *expr; /* owned; inputs: features; outputs: first payoffs, then the rest below */
  option_feature feature[OPTION_FEATURES_MAX];
  int features, payoffs;
  uint64_t joint; /* as option_paths.joint */
  option_plain plain[OPTION_PAYOFFS_MAX];
  int control[OPTION_PAYOFFS_MAX];                                                                /* output, or -1 */
  int delta[OPTION_PAYOFFS_MAX][OPTION_ASSETS_MAX], gamma[OPTION_PAYOFFS_MAX][OPTION_ASSETS_MAX]; /* output, or -1 */
  /* Of the graph as it was made with tangents: what a payoff's derivative is made of. */
  option_parameter tangent[OPTION_TANGENTS_MAX];
  int tangents;
  int slope[OPTION_PAYOFFS_MAX][OPTION_GREEKS][OPTION_ASSETS_MAX]; /* output, or -1; not of delta and gamma */
  int control_slope[OPTION_GREEKS][OPTION_ASSETS_MAX]; /* of the first payoff's discounted control; output, or -1 */
  int outputs;
} option_graph;
/* `tangents`: vega, rho and theta come from derivatives along the paths where they can. */
sim_status option_graph_create(const option_parameters *p, const option_market *market, bool tangents,
                               option_graph *out) SIM_MUST_CHECK;
void option_graph_free(option_graph *graph);
/* Mean of a payoff's control in a market, not discounted. */
double option_control_mean(const option_parameters *p, const option_market *market, int payoff);
/* Binds the function to the features that it names. */
sim_status option_bind_payoff(option_parameters *p, sim_faults *faults) SIM_MUST_CHECK;
int option_payoff_count(const option_parameters *p);
/* "price", "mean_1" ... ; what an input of the function stands for; false: nothing. */
bool option_feature_parse(const char *name, const option_parameters *p, option_feature *out);
/* As a function of the scenario has it: "last[1]"; false: none has it. */
bool option_feature_text(const option_feature *feature, char *out, size_t capacity);
/* Whether it depends on an asset; of functions those that any of their results sees. */
bool option_payoff_sees(const option_parameters *p, int payoff, int asset);
/* Where it stands in the scenario: "payoffs[2]", "payoff", "result 2 of payoff". */
void option_payoff_name(const option_parameters *p, int payoff, char *out, size_t capacity);

/* ---- sampling ---- */

/* What is estimated: prices of all payoffs, then the Greeks wanted, of each payoff: [payoff][greek][asset]. */
typedef struct option_quantity {
  int payoff, greek, asset; /* greek -1: price */
} option_quantity;

int option_quantities(const option_parameters *p, option_quantity *out); /* out may be NULL */
/* Derivative of the discount's logarithm; by the maturity for theta. */
sim_status option_discount_slope(const option_parameters *p, int greek, double *out) SIM_MUST_CHECK;

/* How large a Greek of something that costs `price` is, in order of magnitude. */
double option_greek_size(const option_parameters *p, int greek, int asset, double price);

typedef struct option_sampler option_sampler;
typedef struct option_ops {
  /* As sim_model.supports. */
  bool (*supports)(const option_parameters *p, char *lacks, size_t capacity);
  int (*batch)(const option_parameters *p); /* blocks of a step at most, a multiple of OPTION_GROUP */
  double (*bytes)(const option_parameters *p, const sim_setup *setup);
  sim_status (*create)(const option_parameters *p, const sim_setup *setup, option_sampler **out);
  void (*destroy)(option_sampler **sampler);
  /* Means and sums of squared deviations of `count` samples from number `first` (a multiple of OPTION_BLOCK) on, block
   * by block: mean[blocks][quantities], squares likewise, those of the means of option_unit samples. The same bits
   * whatever the count, the number of threads and the size of the device. */
  sim_status (*sample)(option_sampler *sampler, int64_t first, int64_t count, double *mean, double *squares);
  const char *(*name)(const option_sampler *sampler); /* "one path a lane (avx512)" */
} option_ops;
extern const option_ops option_ops_cpu, option_ops_cuda;

/* Of samples first .. first + count - 1 of one logical block, over which a quantity is not finite: fails with the
 * reason. */
sim_status option_explain(const option_parameters *p, int64_t first, int64_t count, const option_quantity *quantity);

#endif
