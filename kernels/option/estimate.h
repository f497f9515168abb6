/* What a run estimates: sums of payoffs on paths of one or several markets; the same for every backend. */
#ifndef OPTION_ESTIMATE_H
#define OPTION_ESTIMATE_H

#include "kernels/option/payoff/graph.h"
#include "kernels/option/random/draws.h"

enum {
  OPTION_TERMS_MAX = 8,
  OPTION_MARKETS_MAX = OPTION_VARIANTS_MAX,
  OPTION_PILOT = 4 * OPTION_CHUNK, /* paths of the pilot, which sets the control coefficients */
  OPTION_CARRIERS = 16             /* a control that fewer of these carry is not used */
};

/* An estimated number: the price of a payoff (greek -1), one of its Greeks, or at a point of the ladder its price and
 * the change against today's price (greek -1). */
typedef struct option_quantity {
  int payoff, greek, asset;
  int bucket; /* of option_parameters.bucket, of a Greek by a node */
  int second; /* the other asset of a cross gamma, the larger number */
  int point;  /* of the ladder, from 1; 0: none */
  bool change;
} option_quantity;
/* Lists the prices of all payoffs, then the requested Greeks, [payoff][greek][asset], then for p->points points of the
 * ladder price and change, [point][payoff][2]; returns their count. out may be NULL. */
int option_quantities(const option_parameters *p, option_quantity *out);
/* Order of magnitude of a Greek of a payoff that costs `price`. */
double option_greek_size(const option_parameters *p, const option_quantity *of, double price);

/* Output of the graph in one market, times a factor that contains the discount. */
typedef struct option_term {
  int market, output;
  double factor;
} option_term;

/* sample = sum of terms - slope (control_factor control - control_mean). With antithetic pairs each output is the
 * mean over the pair. */
typedef struct option_combination {
  option_term term[OPTION_TERMS_MAX];
  int terms, control; /* control: output of market 0, or -1 */
  int carried;        /* the price whose control tells whether enough paths carry this one */
  double control_mean, control_factor;
  double control_least; /* a control with a smaller deviation is rounding, and is not used */
  double slope, shift;  /* set by the pilot; squares are summed about `shift`, a number near the mean */
} option_combination;

typedef struct option_estimate {
  int markets, signs, quantities; /* signs: 2 with antithetic pairs, else 1 */
  option_market market[OPTION_MARKETS_MAX];
  option_bump bump[OPTION_MARKETS_MAX]; /* what made each market of the scenario's; market 0: none */
  option_graph graph;
  option_combination *combination; /* [quantities], owned */
  double *tangent;                 /* [graph.tangents][2][steps], owned: drift and vol of option_tangent, in fp64 */
  /* [OPTION_GREEKS + p->buckets[1]][steps], owned: derivative of the logarithm of market[0].bond by each Greek, then by
   * each node of the rate */
  double *bond_slope;
} option_estimate;

/* Number of a Greek of one payoff among those of its kind: its asset, its node, or the pair's place in (1, 2), (1, 3),
 * (2, 3), ...
 */
static inline int option_greek_place(const option_quantity *of) {
  if (of->greek >= OPTION_BUCKETS) return of->bucket;
  return of->greek == OPTION_CROSS_GAMMA ? of->second * (of->second - 1) / 2 + of->asset : of->asset;
}
/* Finds the market of a bump, or adds it: *market. SIM_ERR_SCENARIO where there are too many. */
sim_status option_estimate_market(option_estimate *estimate, const option_parameters *p, const option_bump *bump,
                                  int *market) SIM_MUST_CHECK;
/* second.c: makes the combination of a Greek from OPTION_SECOND on, or of a gamma by differences of slopes or of
 * five prices. */
sim_status option_estimate_second(option_estimate *estimate, const option_parameters *p, int quantity,
                                  const option_quantity *of) SIM_MUST_CHECK;
/* The discount factor of a payoff in a market. */
double option_discount(const option_estimate *estimate, int market, int payoff);
/* Makes markets, graph and combinations; freed by option_estimate_free. `tangents`: as of option_graph_create.
 * SIM_ERR_SCENARIO where Greeks need too many markets or outputs, SIM_ERR_NO_MEMORY. */
sim_status option_estimate_create(const option_parameters *p, bool tangents, option_estimate *out) SIM_MUST_CHECK;
void option_estimate_free(option_estimate *estimate);

/* Sums over the pilot's samples: y is the sample without control, x the control less its mean. */
typedef struct option_moments {
  double y, x, xx, xy;
} option_moments;
/* Whether enough of `count` pilot paths carry a control c >= 0, from the sums of c and c^2 and the known mean, in one
 * unit. Paths are as good as (sum c)^2 / sum c^2 equal ones. Few of them give the factor of a control that hardly ever
 * pays no bound, and times its mean, which no path of the run may show, it would move the price by what no error bar
 * has. */
bool option_is_carried(double sum, double squares, double mean, double count);
/* Sets slopes and shifts from `count` samples of the pilot: moments[quantities]. */
void option_estimate_set(option_estimate *estimate, const option_moments *moments, double count);

#endif
