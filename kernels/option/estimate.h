/* What a run estimates, as sums of payoffs on paths of one or several markets; the same for every backend. */
#ifndef OPTION_ESTIMATE_H
#define OPTION_ESTIMATE_H

#include "kernels/option/option.h"

enum { OPTION_TERMS_MAX = 3, OPTION_MARKETS_MAX = OPTION_VARIANTS_MAX };

/* The pilot's paths, far from all others, and their number. */
#define OPTION_PILOT_FIRST (UINT64_C(1) << 62)
enum { OPTION_PILOT = 4 * OPTION_CHUNK };

typedef struct option_term {
  int market, output;
  double factor; /* with the discount */
} option_term;

/* A sample is the sum of its terms, less slope (control_factor times the control - control_mean). Of an antithetic
 * pair each output is the mean of the two. */
typedef struct option_combination {
  option_term term[OPTION_TERMS_MAX];
  int terms, control; /* output of market 0, or -1 */
  double control_mean, control_factor;
  double control_least; /* deviation below which the control is rounding, and left out */
  double slope, shift;  /* of the pilot; shift: near the mean, squares are taken about it */
} option_combination;

typedef struct option_estimate {
  int markets, signs, quantities; /* signs: 2 where paths come in antithetic pairs */
  option_market market[OPTION_MARKETS_MAX];
  option_graph graph;
  option_combination *combination;      /* [quantities] */
  double *tangent;                      /* [graph.tangents][2][steps]: as option_tangent, in fp64 */
  double discount_slope[OPTION_GREEKS]; /* derivative of ln discount */
} option_estimate;
/* `tangents`: the paths follow those of the graph. */
sim_status option_estimate_create(const option_parameters *p, bool tangents, option_estimate *out) SIM_MUST_CHECK;
void option_estimate_free(option_estimate *estimate);
/* Of what the pilot summed: Y the samples without their control, X the control less its mean. */
typedef struct option_moments {
  double y, x, xx, xy;
} option_moments;
void option_estimate_set(option_combination *combination, const option_moments *moments, double count);

#endif
