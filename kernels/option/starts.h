/* Today's prices of the paths that fit a rule of early exercise.
 *
 * A Greek by a spot evaluates one rule at several spots. Where the first date is near, paths from today's spot alone
 * reach it within a narrow range of prices, and beyond it the fitted functions are extrapolated. So the paths of the
 * fit start from spots that are spread over more than the changes of the spot (N. Rasmussen, Improving the
 * least-squares Monte-Carlo approach, 2002; Y. Wang and R. Caflisch, Journal of Computational Finance,
 * doi 10.21314/jcf.2010.220; P. Letourneau and L. Stentoft, Improved Greeks for American options using simulation,
 * 2016, who name it "initial state dispersion"). The best rule does not depend on today's spot. */
#ifndef OPTION_STARTS_H
#define OPTION_STARTS_H

#include "engine/model.h"
#include "kernels/option/scenario/market.h"

enum {
  OPTION_STARTS = 32,      /* different starts, at most */
  OPTION_STARTS_UNIT = 256 /* paths with the same start: a multiple of this, a divisor of OPTION_CHUNK */
};

typedef struct option_starts {
  const option_parameters *p;
  const option_market *market;     /* the market of the rule, with today's spots; borrowed */
  option_bump bump;                /* which made it */
  double range[OPTION_ASSETS_MAX]; /* largest change of each spot, as a share of it */
  bool spread;                     /* whether any range is not 0 */
} option_starts;

/* Number of the starts of `chunks` chunks of paths: 1 where nothing is spread. */
int option_starts_count(const option_starts *starts, int chunks);
/* The units [*first, *end) of OPTION_STARTS_UNIT paths with start `number` of all `count`. */
void option_starts_units(int number, int count, int chunks, int *first, int *end);
/* Makes the market with the spots of a start; a leverage function is that of today's spot, by the ratio to it. Freed by
 * option_market_free. Errors as of option_market_create. */
sim_status option_starts_market(const option_starts *starts, int number, option_market *out) SIM_MUST_CHECK;

#endif
