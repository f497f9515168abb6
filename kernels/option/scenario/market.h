/* The market at the steps of a run: drifts, volatilities, discounts and the factor of the correlation. */
#ifndef OPTION_SCENARIO_MARKET_H
#define OPTION_SCENARIO_MARKET_H

#include "kernels/option/scenario/grid.h"
#include "kernels/option/scenario/motion.h"
#include "kernels/option/scenario/parameters.h"

/* Difference of a bumped market: the spot (0.01 is +1 %) and volatility of one asset, or of all, the rate, the maturity
 * (with dates: all of them); parts: each step in so many; 0: whole. A second asset may have another spot, too. With a
 * bucket only the value of this node of a curve changes, of a volatility or of the rate, whichever is not 0. */
enum { OPTION_NO_ASSET = -1, OPTION_ALL_ASSETS = -2 };
typedef struct option_bump {
  int asset; /* from 0, or one of these */
  double spot, vol, rate, maturity;
  int parts;
  int second;           /* from 0, read where second_spot is not 0 */
  double second_spot;   /* its change */
  int bucket;           /* from 1, of option_parameters.bucket; 0: none */
  const double *factor; /* [assets], of all spots; borrowed; NULL: none */
} option_bump;

/* Changes of an asset: of its spot as a share, of its volatility. */
static inline bool option_bump_moves(const option_bump *bump, int asset) {
  return bump->asset == asset || bump->asset == OPTION_ALL_ASSETS;
}
static inline double option_bump_spot(const option_bump *bump, int asset) {
  return (option_bump_moves(bump, asset) ? bump->spot : 0) + (bump->second == asset ? bump->second_spot : 0);
}
static inline double option_bump_vol(const option_bump *bump, int asset) {
  return option_bump_moves(bump, asset) ? bump->vol : 0;
}
/* Whether two bumps make the same market. */
static inline bool option_bump_equal(const option_bump *a, const option_bump *b) {
  return a->asset == b->asset && a->spot == b->spot && a->vol == b->vol && a->rate == b->rate &&
         a->maturity == b->maturity && a->second_spot == b->second_spot && a->second == b->second &&
         a->bucket == b->bucket;
}

/* Market at each step; drifts and volatilities of a step in binary logarithms. */
typedef struct option_market {
  int assets, steps;
  int parts;                  /* steps of the paths in one that payoffs see */
  option_grid grid;           /* owned */
  option_grid unmoved;        /* the same where the maturity is not bumped: places of dates; owned */
  double discount;            /* from maturity to time 0 */
  double *spot, *drift, *vol; /* [assets], [steps][assets], [steps][assets]; owned, one allocation at spot */
  double *bond;               /* [steps]: discount factor from each step's end to time 0 */
  double *
      growth; /* [steps][assets]: log(mean price / spot) at each step's end, for any dynamics, without cash dividends */
  option_dynamics *dynamics; /* [grid.kinds][assets], owned; NULL where all assets are geometric Brownian motions */
  struct option_rate_step *rates; /* [grid.kinds], owned; NULL: the rate is not random */
  double *rise;                   /* [steps], of option_hull_white_steps; in the allocation at rates */
  /* [steps][assets], owned; NULL: no asset is in another currency. In each step the normal number of such an asset is
   * lowered by this: the deviation of the logarithm of its rate of exchange, times their correlation. The asset then
   * moves as it does in the run's currency (Girsanov's theorem). 0 for geometric Brownian motions, whose drift has it.
   */
  double *tilt;
  double *cash; /* [steps][assets]: cash dividend at each step's end, owned; NULL: none, or parts > 1 */
} option_market;

/* Makes the market of a scenario; bump may be NULL. SIM_ERR_SCENARIO where a volatility is negative or a function of
 * time not finite, SIM_ERR_NO_MEMORY. */
sim_status option_market_create(const option_parameters *p, const option_bump *bump, option_market *out) SIM_MUST_CHECK;
void option_market_free(option_market *market);
/* Lower triangular factor of the correlation: out[assets][assets], zero before the call. SIM_ERR_SCENARIO where the
 * matrix has a negative eigenvalue. */
sim_status option_cholesky(const option_parameters *p, double *out) SIM_MUST_CHECK;
/* Mean of max(s (exp(mean + deviation z) - strike), 0), z a standard normal, s = 1 for a call and -1 for a put
 * (Black and Scholes 1973). */
double option_lognormal_price(double mean, double deviation, double strike, option_type type);

/* Largest relative loss of correlation within a step. Where volatilities change differently within a step, its
 * normals are less correlated than the assets at each time; a larger loss is SIM_ERR_SCENARIO. */
#define OPTION_CORRELATION_LOST 1e-4
sim_status option_check_vols(const option_parameters *p) SIM_MUST_CHECK;

/* ---- derivatives of a market by finite differences ---- */

/* The smallest volatility of an asset that a change of it starts from: the least root mean square until a payoff's
 * maturity, where the variance is random of its mean; of a local volatility that at the spot and time 0, or at a grid's
 * times. 0: a payoff sees an asset without volatility. INFINITY: not known. */
double option_least_volatility(const option_parameters *p, int asset);
/* The bump of a Greek by `which`: an asset, or a node of option_parameters.bucket; *width: the divisor of the
 * difference. `set`: option_parameters.step_set of the payoff. */
option_bump option_bump_of(const option_parameters *p, int greek, int which, int set, double *width);
/* Sets p->step_set: payoffs of one kind (with early exercise, or without) whose own steps are alike share a set, and so
 * bumped markets; the fewest sets, at most `most` of each kind. *sets: their number, of the kind that has more. Sets
 * p->cramped. Errors as of option_deviations. */
sim_status option_set_steps(option_parameters *p, int most, int *sets) SIM_MUST_CHECK;
/* One set of each kind. */
void option_clear_step_sets(option_parameters *p);
/* Deviations of the logarithm of an asset's price at the maturity of each payoff: out[payoffs]; INFINITY: not known.
 * SIM_ERR_NO_MEMORY, or errors of functions of time. */
sim_status option_deviations(const option_parameters *p, int asset, double *out) SIM_MUST_CHECK;
/* Largest change of a spot, as a share of it, from which paths start that fit a rule of early exercise: more than the
 * changes of all Greeks. */
double option_start_range(const option_parameters *p, int asset);
/* Change of a spot, as a share of it, in differences of fourth order between slopes along the paths: 2 % or a half, a
 * quarter, ... of it, at most a tenth of the deviation at the maturity and half of what the payoff's comparisons
 * deviate by. Errors are 1e-4 of a Greek of a payoff three deviations from the mean, 0.2 % of what a kink adds. Payoffs
 * of other maturities share the markets of powers of 2. */
double option_slope_step(const option_parameters *p, int payoff, int asset, double deviation);
/* Changes of the spots, as shares of them, in second differences of prices by one asset or two (second -1: one).
 * fourth: the differences are of fourth order, with twice these changes too. */
typedef struct option_spot_steps {
  double step[2];
  bool fourth;
} option_spot_steps;
option_spot_steps option_second_steps(const option_parameters *p, int asset, int second, int set);
/* The error of a difference by a spot as a share of the Greek, where all of that comes from the kink of the comparison
 * that deviates least: of fourth order, but of early exercise, three times that of a normal density, for prices and
 * extremes may have another one. `deviation`: of differences between slopes the one of option_slope_step; of prices 0.
 */
double option_step_share(const option_parameters *p, int payoff, int greek, int asset, int second, double deviation);
/* A market that differs by `share` of a Greek's bump; *width: the width of the whole bump. Errors as of
 * option_market_create. */
sim_status option_market_near(const option_parameters *p, int greek, int which, double share, double *width,
                              option_market *out) SIM_MUST_CHECK;
/* Derivatives by a Greek's parameter, exact to 1e-9: of drift and volatility of its asset at every step in natural
 * logarithms (of OPTION_RHO_BUCKET: of any asset), out[2][steps] unless NULL. For theta the parameter is the maturity,
 * or with dates their common shift. bond[steps]: the same of the logarithm of the discount factor of each step's end;
 * NULL: not wanted. Errors as of option_market_create. */
sim_status option_market_slope(const option_parameters *p, int greek, int which, double *out,
                               double *bond) SIM_MUST_CHECK;

#endif
