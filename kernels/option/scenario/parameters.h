/* The parameters of a scenario: what `sim describe option` lists. */
#ifndef OPTION_SCENARIO_PARAMETERS_H
#define OPTION_SCENARIO_PARAMETERS_H

#include "engine/model.h"
#include "kernels/option/limits.h"

#include <math.h>

typedef struct option_heston {
  bool given;
  double v;
  sim_expr *kappa, *theta, *sigma, *rho; /* functions of t */
  double mixing;                         /* factor of sigma, filled by validation from `leverage`; 0: 1 */
} option_heston;
typedef struct option_leverage {
  bool given;
  double mixing, particles;
} option_leverage;
typedef struct option_rough {
  bool given;
  sim_expr *xi; /* function of t */
  double eta, hurst, rho;
} option_rough;
typedef struct option_sabr {
  bool given;
  double alpha, beta, rho, nu;
} option_sabr;
typedef struct option_hull_white {
  bool given;
  double reversion, sigma;
  sim_doubles correlation; /* [assets]; none: 0 */
} option_hull_white;
typedef struct option_jumps {
  bool given;
  double rate, mean, deviation;
} option_jumps;
typedef struct option_vol_grid {
  bool given;
  sim_doubles spots, times, vols; /* [spots], [times], [times * spots] */
} option_vol_grid;
/* An asset has one of vol, heston, rough_bergomi, sabr, local_vol and vol_grid; with `leverage` it has heston and one
 * of local_vol and vol_grid. */
typedef struct option_asset {
  double spot;
  int64_t currency;         /* number of the asset that is the price of the currency of `spot`; 0: the run's currency */
  sim_expr *vol, *dividend; /* functions of t; the dividend of a currency is its interest rate */
  sim_doubles dividends;    /* [rows][2]: time and amount of cash dividends */
  option_heston heston;
  option_rough rough_bergomi;
  option_sabr sabr;
  option_jumps jumps;
  sim_expr *local_vol; /* function of S, t */
  option_vol_grid vol_grid;
  option_leverage leverage;
} option_asset;

typedef enum option_type { OPTION_CALL, OPTION_PUT } option_type;

/* A named payoff; the schema of each kind has the members that the kind uses. */
typedef struct option_payoff {
  char *name; /* of its columns; NULL: payoff_NUMBER */
  int type;   /* option_type */
  int64_t asset, second;
  double strike, cash, level, rebate;
  double low, high; /* double_barrier */
  int64_t start;    /* forward_start: step; 0: start_time */
  double start_time;
  double maturity;   /* payment date; NaN or 0: the run's */
  sim_doubles dates; /* when prices are observed, or early exercise is possible; none: at the steps */
  double moneyness;  /* forward_start */
  int average, direction, knock, monitoring;
  int64_t every, degree, fit_paths; /* american */
  int on, basis;                    /* american: what is exercised on; functions of the regression */
  sim_expr *exercise;               /* american: payment of an exercise, a function of the prices at its date */
  int64_t upper_paths, inner_paths; /* american: of the upper bound; 0: none */
  double coupon, protection;        /* autocallable */
  sim_doubles weights;
  double from, to;  /* barrier: times between which it is watched continuously; 0: from now on, until the maturity */
  sim_doubles past; /* asian: fixings of the past */
  double extreme;   /* lookback: highest or lowest price so far; NaN or 0: none */
  double initial;   /* autocallable: price that `protection` pays a share of; NaN or 0: the spot */
  int64_t passed;   /* autocallable: dates that have passed */
  double per_year;  /* swaps: fixings of a year; NaN or 0: those of the swap over its time */
  int exchange;     /* of prices in another currency: option_exchange */
  double exchange_rate;   /* of a quanto; 0: 1 */
  double gearing, shares; /* accumulator: shares a fixing, and their multiple beyond the strike */
  int64_t guaranteed;     /* accumulator: first fixings that a knock-out does not end */
  int settle;             /* accumulator: OPTION_SETTLE_FIXINGS, OPTION_SETTLE_MATURITY */
} option_payoff;
enum { OPTION_NAME_MAX = 40 }; /* characters of a payoff's name */
extern const sim_schema option_european_schema, option_digital_schema, option_asian_schema, option_barrier_schema,
    option_double_barrier_schema, option_lookback_schema, option_forward_start_schema, option_basket_schema,
    option_best_of_schema, option_worst_of_schema, option_rainbow_schema, option_spread_schema, option_american_schema,
    option_autocallable_schema, option_accumulator_schema, option_variance_swap_schema, option_volatility_swap_schema;
enum { OPTION_ARITHMETIC, OPTION_GEOMETRIC_AVERAGE };
enum { OPTION_DOWN, OPTION_UP };
enum { OPTION_OUT, OPTION_IN };
enum { OPTION_AT_STEPS, OPTION_CONTINUOUS };
enum { OPTION_ON_ASSET, OPTION_ON_BEST, OPTION_ON_WORST, OPTION_ON_BASKET }; /* on */
enum { OPTION_SETTLE_FIXINGS, OPTION_SETTLE_MATURITY };                      /* settle */
/* How a payment on a price of another currency becomes one of the run's: it is not; at a rate that the contract fixes;
 * prices at the rates of their own dates; the payment at the rate of its date. */
enum { OPTION_NO_EXCHANGE, OPTION_QUANTO, OPTION_COMPOSITE, OPTION_AT_PAYMENT };
enum { OPTION_BASIS_AUTO, OPTION_BASIS_PAYOFF, OPTION_BASIS_ORDERED, OPTION_BASIS_ASSETS, OPTION_BASIS_ALL };

typedef enum option_control {
  OPTION_NO_CONTROL,
  OPTION_CONTROL_GEOMETRIC,
  OPTION_CONTROL_BLACK_SCHOLES,
  OPTION_CONTROL_UNDERLYING
} option_control;

enum { OPTION_PHILOX, OPTION_SOBOL };                        /* sequence */
enum { OPTION_PHILOX4X32, OPTION_MRG32K3A };                 /* generator */
enum { OPTION_ANY_CONSTRUCTION, OPTION_BRIDGE, OPTION_PCA }; /* any: a bridge */
typedef struct option_sampling {
  int sequence, generator, construction;
  double scrambles; /* NaN: automatic */
  bool antithetic, moment_matching, multilevel, randomised;
  int control;           /* option_control */
  double paths;          /* NaN: automatic */
  double standard_error; /* NaN: none */
  double time;           /* seconds; NaN: none */
} option_sampling;

typedef enum option_greek {
  OPTION_DELTA,
  OPTION_GAMMA,
  OPTION_VEGA,
  OPTION_RHO,
  OPTION_THETA,
  OPTION_CROSS_GAMMA, /* by the spots of two assets */
  OPTION_VANNA,       /* derivative of delta by the volatility of the same asset */
  OPTION_VOLGA,       /* second derivative by a volatility */
  OPTION_CHARM,       /* derivative of delta by the date: minus that by the maturity */
  OPTION_VEGA_BUCKET, /* by each node of the curves of volatilities */
  OPTION_RHO_BUCKET,  /* by each node of the curve of the rate */
  OPTION_GREEKS,
  OPTION_SECOND = OPTION_CROSS_GAMMA, /* the first of the second derivatives beside gamma */
  OPTION_BUCKETS = OPTION_VEGA_BUCKET /* the first of those by nodes: the end of the second derivatives */
} option_greek;
extern const char *const option_greek_names[OPTION_GREEKS];
/* Whether it belongs to one asset. */
static inline bool option_greek_by_asset(int greek) {
  return greek <= OPTION_VEGA || (greek >= OPTION_VANNA && greek <= OPTION_VEGA_BUCKET);
}
/* Whether it is a derivative by a volatility or by the rate alone, in the first order. */
static inline bool option_greek_is_vega(int greek) { return greek == OPTION_VEGA || greek == OPTION_VEGA_BUCKET; }
static inline bool option_greek_is_rho(int greek) { return greek == OPTION_RHO || greek == OPTION_RHO_BUCKET; }

/* Whether it is of the first order, or gamma: these have a control. */
static inline bool option_greek_is_controlled(int greek) { return greek < OPTION_SECOND || greek >= OPTION_BUCKETS; }

/* A node of the curve of a volatility (of the rate: asset 0). Its hat function is 1 there and 0 at the other nodes, and
 * not 0 between `from` and `to`; hat functions of one curve have the sum 1. */
typedef struct option_bucket {
  int asset, node; /* from 0 */
  double t, from, to;
} option_bucket;

enum { OPTION_AUTO, OPTION_PATHWISE, OPTION_LIKELIHOOD, OPTION_BUMP };
typedef struct option_greeks {
  bool want[OPTION_GREEKS];
  int method;     /* of delta and gamma: OPTION_AUTO ... */
  double stretch; /* of the steps of differences, for cpu/stretch.c; 0: 1. Below 1 all steps of spots are shorter */
} option_greeks;

/* Exposure of the netted book. */
typedef struct option_exposure {
  bool given;
  sim_doubles dates; /* times; none: every `every` steps */
  int64_t every;
  double quantile;
  double paths, fit_paths;
  int64_t values;                /* paths whose values are written */
  sim_doubles quantities;        /* of each payoff; none: 1 */
  sim_expr *hazard, *own_hazard; /* functions of t; NULL: no CVA, no DVA */
  double recovery, own_recovery;
} option_exposure;
extern const sim_schema option_exposure_schema;
/* Tables of the exposure: a column for each date. */
enum {
  OPTION_EXPOSURE_TIMES,
  OPTION_EPE,
  OPTION_EPE_ERRORS,
  OPTION_ENE,
  OPTION_ENE_ERRORS,
  OPTION_PFE,
  OPTION_PFE_ERRORS,
  OPTION_EXPOSURE_TABLES
};

/* Prices where spots, volatilities and today's date are shifted: at every combination of the shifts. */
typedef struct option_ladder {
  bool given;
  sim_doubles spot, vol, time; /* ascending; none: no shift. spot: shares of the spot; time: how much later it is */
  int64_t asset;               /* from 1: the one whose spot and volatility are shifted; 0: all */
} option_ladder;
extern const sim_schema option_ladder_schema;

/* The first paths of the run, written to a file. */
typedef struct option_path_output {
  bool given;
  int64_t count, every;
  sim_doubles dates; /* times; none: every `every` steps */
} option_path_output;
extern const sim_schema option_path_output_schema;

enum { OPTION_STEP_SETS = 3 }; /* sets of payoffs whose differences by a spot have steps of their own, at most */

/* Tables of a multilevel run: a column for each level. */
enum { OPTION_LEVEL_PATHS, OPTION_LEVEL_MEANS, OPTION_LEVEL_DEVIATIONS, OPTION_LEVEL_TABLES };

typedef struct option_parameters {
  sim_common common;
  sim_list assets;         /* option_asset */
  sim_doubles correlation; /* [assets][assets]; none: independent */
  sim_expr *rate;
  option_hull_white hull_white;
  double maturity;
  int64_t steps;
  sim_expr *payoff; /* function of path features; NULL: none */
  sim_list payoffs; /* option_payoff */
  option_sampling sampling;
  option_greeks greeks;
  option_exposure exposure;
  option_ladder ladder;
  option_path_output paths;

  /* Filled by validation: */
  double asked_paths; /* sampling.paths before it was rounded */
  int64_t nodes;      /* steps of the paths: `steps`, or more where dates lie between them */
  double longest;     /* length of the longest step */
  sim_table price_table, prices_table, errors_table;
  option_bucket bucket[2][OPTION_BUCKETS_MAX]; /* of vega_bucket and of rho_bucket, where wanted */
  int buckets[2];
  int exposures; /* dates of the exposure, with time 0 and the maturities */
  /* Of each payoff and asset, by cpu/bends.c where a Greek by a spot is asked for: the change of the logarithm of the
   * spot that moves what the payoff compares by its deviation, the least of all comparisons, of early exercise at its
   * first date and at its last one; INFINITY: none, or not known. Bit k: payoff k may have a kink that nothing smooths.
   */
  double bend[OPTION_PAYOFFS_MAX][OPTION_ASSETS_MAX], last_bend[OPTION_PAYOFFS_MAX][OPTION_ASSETS_MAX];
  uint64_t unsmoothed;
  /* Likewise: distance of the logarithm of the spot to the nearest level at which the payoff's value has a kink as a
   * function of the spot, because an extreme is watched continuously from now on. No step of a difference crosses it.
   * INFINITY: none; 0: the spot is at the level, and Greeks jump there. */
  double level[OPTION_PAYOFFS_MAX][OPTION_ASSETS_MAX];
  /* Of each payoff, the set whose steps its differences by a spot have (option_set_steps): from 0 on, of early exercise
   * from OPTION_STEP_SETS on. cramped: the number, from 1, of a payoff that shortens the steps of another one in its
   * set to less than a half; 0: none. */
  int step_set[OPTION_PAYOFFS_MAX], cramped;
  /* Points of the ladder that an estimate of these parameters has beside prices and Greeks. Of a run's own parameters
   * there are none: its ladder has samplers of its own (result/ladder.c). */
  int first_point, points;
  const sim_table *tables[SIM_TABLES_MAX + 1];
  int price_greeks;                         /* Greeks of the first payoff in its table: all, or as many as have room */
  sim_table bias_tables[2];                 /* bias of the time steps, and its standard error */
  sim_table upper_tables[2];                /* upper bounds, and their standard errors */
  sim_table greek_tables[OPTION_GREEKS][2]; /* the Greek, and its standard error */
  bool untabled[OPTION_GREEKS];             /* there is no room for a table of these numbers */
  sim_table exposure_tables[OPTION_EXPOSURE_TABLES];
  sim_table level_tables[OPTION_LEVEL_TABLES];
  sim_field level_columns[OPTION_LEVELS_MAX + 1];
  char level_names[OPTION_LEVELS_MAX][16];
  sim_field exposure_columns[OPTION_EXPOSURES_MAX + 1];
  char exposure_names[OPTION_EXPOSURES_MAX][16];
  sim_field price_columns[SIM_COLUMNS_FEW + 1], prices_columns[OPTION_PAYOFFS_MAX + 1],
      errors_columns[OPTION_PAYOFFS_MAX + 1];
  sim_field greek_columns[OPTION_GREEKS][SIM_COLUMNS_FEW + 1];
  char names[2 * OPTION_PAYOFFS_MAX + 3 * OPTION_GREEKS * OPTION_ASSETS_MAX][OPTION_NAME_MAX + 8];
} option_parameters;
extern const sim_signature option_term_signature; /* a function of t with one result */
extern const sim_schema option_schema, option_asset_schema;

/* Number of Greeks of a kind of one payoff: one, one for each asset, for each pair, or for each node. */
static inline int option_greek_count(const option_parameters *p, int greek) {
  const int assets = (int)p->assets.count;
  if (greek >= OPTION_BUCKETS) return p->buckets[greek - OPTION_BUCKETS];
  return greek == OPTION_CROSS_GAMMA ? assets * (assets - 1) / 2 : option_greek_by_asset(greek) ? assets : 1;
}
static inline const option_asset *option_asset_at(const option_parameters *p, int i) { return p->assets.items[i].data; }
/* Scrambles of Sobol's points. */
static inline int option_scrambles(const option_parameters *p) {
  return isnan(p->sampling.scrambles) ? 32 : (int)p->sampling.scrambles;
}
/* Groups of samples whose means give the standard error: the scrambles of Sobol points, else one. */
static inline int option_groups(const option_parameters *p) {
  return p->sampling.sequence == OPTION_SOBOL ? option_scrambles(p) : 1;
}
/* Samples of a logical block: OPTION_BLOCK, or with Sobol points a part of that, all of one scramble. Block j
 * belongs to scramble j % scrambles; its points follow those of block j - scrambles. */
static inline int option_block_samples(const option_parameters *p) {
  const double samples = p->sampling.paths / (p->sampling.antithetic ? 2 : 1);
  return (int)(fmin(OPTION_BLOCK, samples) / option_groups(p));
}
/* Samples whose mean counts as one independent sample: a chunk with matched moments (its samples depend on each
 * other), else one. */
static inline int option_unit(const option_parameters *p) { return p->sampling.moment_matching ? OPTION_CHUNK : 1; }
/* Whether paths are computed in fp32; sums are always in fp64. */
static inline bool option_is_single(const option_parameters *p) { return p->common.precision != SIM_DOUBLE; }
/* Whether the volatility takes a number of its own in each step, of Sobol's dimensions too. */
static inline bool option_has_variance(const option_asset *a) { return a->heston.given || a->sabr.given; }
/* Whether an American payoff depends on more than one price, or is a function. */
static inline bool option_is_joint(const option_payoff *o) { return o->on != OPTION_ON_ASSET || o->exercise != NULL; }
/* Whether any payoff wants an upper bound. */
static inline bool option_wants_upper(const option_parameters *p) {
  bool any = false;
  for (size_t i = 0; i < p->payoffs.count; i++)
    any |= ((const option_payoff *)p->payoffs.items[i].data)->upper_paths > 0;
  return any;
}
/* Whether the steps of any asset have a discretization error: all models but vol. */
static inline bool option_is_stepped(const option_parameters *p) {
  for (int a = 0; a < (int)p->assets.count; a++)
    if (option_asset_at(p, a)->vol == NULL) return true;
  return false;
}

/* Whether a run tells the bias of its steps beside its errors. */
static inline bool option_has_bias(const option_parameters *p) {
  return option_is_stepped(p) && !p->sampling.multilevel;
}

/* ---- rules between parameters: each adds what it finds to the faults ---- */

/* sim_model.validate. */
sim_status option_validate(void *parameters, sim_faults *faults);
void option_check_asset(const option_parameters *p, int asset, sim_faults *faults);
void option_check_correlation(const option_parameters *p, sim_faults *faults);
/* Sets one step where no number is given and no price depends on it. */
void option_check_steps(option_parameters *p, sim_faults *faults);
/* Whether the scenario's function reads prices at the steps. */
bool option_function_at_steps(const option_parameters *p);
/* Refuses a result of the function that depends on maxima or minima of several correlated assets. */
void option_check_between(const option_parameters *p, sim_faults *faults);
/* Refuses a method of Greeks that a payoff does not support. */
void option_check_methods(const option_parameters *p, sim_faults *faults);
/* Checks the keys of `exposure` that need no dates of the run. */
void option_check_exposure_keys(option_parameters *p, sim_faults *faults);
/* Refuses what has no exposure, and counts its dates. */
sim_status option_check_exposure(option_parameters *p, sim_faults *faults) SIM_MUST_CHECK;
/* Checks `ladder`: the order and number of its shifts, and that payoffs and models can be shifted so far. */
sim_status option_check_ladder(const option_parameters *p, sim_faults *faults) SIM_MUST_CHECK;
/* Checks the keys of `paths` that need no dates of the run; then the rest. */
void option_check_path_keys(const option_parameters *p, sim_faults *faults);
void option_check_path_output(const option_parameters *p, sim_faults *faults);
/* Checks `sampling`, and rounds sampling.paths. */
void option_check_sampling(option_parameters *p, sim_faults *faults);
/* Refuses what a multilevel run has no place for. */
void option_check_multilevel(const option_parameters *p, sim_faults *faults);
/* Refuses what a random level has no bounded variance or work for. SIM_ERR_NO_MEMORY. */
sim_status option_check_randomised(const option_parameters *p, sim_faults *faults) SIM_MUST_CHECK;

#endif
