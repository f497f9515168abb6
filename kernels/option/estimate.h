/* What a run estimates, as sums of payoffs on paths of one or several markets; the same for every backend. */
#ifndef OPTION_ESTIMATE_H
#define OPTION_ESTIMATE_H

#include "kernels/option/payoff/graph.h"
#include "kernels/option/random/draws.h"

enum {
  OPTION_TERMS_MAX = 3,
  OPTION_MARKETS_MAX = OPTION_VARIANTS_MAX,
  OPTION_PILOT = 4 * OPTION_CHUNK /* paths of the pilot */
};

/* A number that is estimated: the price of a payoff (greek -1) or one of its Greeks. */
typedef struct option_quantity {
  int payoff, greek, asset;
} option_quantity;
/* Lists the prices of all payoffs, then the Greeks that are wanted, [payoff][greek][asset]; returns their count. out
 * may be NULL. */
int option_quantities(const option_parameters *p, option_quantity *out);
/* Order of magnitude of a Greek of something that costs `price`. */
double option_greek_size(const option_parameters *p, int greek, int asset, double price);

/* An output of the graph in a market; the factor holds the discount. */
typedef struct option_term {
  int market, output;
  double factor;
} option_term;

/* A sample is the sum of the terms, less slope (control_factor times the control - control_mean). Of an antithetic
 * pair each output is the mean of the two. */
typedef struct option_combination {
  option_term term[OPTION_TERMS_MAX];
  int terms, control; /* control: output of market 0, or -1 */
  double control_mean, control_factor;
  double control_least; /* a control that varies less is rounding, and left out */
  double slope, shift;  /* set by the pilot; squares are summed about the shift, a number near the mean */
} option_combination;

typedef struct option_estimate {
  int markets, signs, quantities; /* signs: 2 where paths come in antithetic pairs */
  option_market market[OPTION_MARKETS_MAX];
  option_graph graph;
  option_combination *combination;      /* [quantities], owned */
  double *tangent;                      /* [graph.tangents][2][steps], owned: as option_tangent, in fp64 */
  double discount_slope[OPTION_GREEKS]; /* derivative of the discount's logarithm */
} option_estimate;

/* Makes markets, graph and combinations; freed by option_estimate_free. `tangents`: as of option_graph_create.
 * SIM_ERR_SCENARIO where Greeks need too many markets or outputs, SIM_ERR_NO_MEMORY. */
sim_status option_estimate_create(const option_parameters *p, bool tangents, option_estimate *out) SIM_MUST_CHECK;
void option_estimate_free(option_estimate *estimate);

/* Sums over the pilot's samples: y without the control, x the control less its mean. */
typedef struct option_moments {
  double y, x, xx, xy;
} option_moments;
/* Sets slope and shift from the pilot's `count` samples. */
void option_estimate_set(option_combination *combination, const option_moments *moments, double count);

#endif
