/* What payoffs may depend on: features of one asset's prices along a path. Device code too. */
#ifndef OPTION_PAYOFF_FEATURE_H
#define OPTION_PAYOFF_FEATURE_H

/* Of the prices at the steps 1 .. n, unless said otherwise. */
typedef enum option_kind {
  OPTION_LAST,
  OPTION_MEAN,
  OPTION_GEOMETRIC, /* geometric mean */
  OPTION_MAX,
  OPTION_MIN,
  OPTION_HIGH, /* highest price of all times from 0 on, sampled between the steps by Brownian bridges */
  OPTION_LOW,
  OPTION_FIXING,    /* price at a step */
  OPTION_NOT_ABOVE, /* probability, given the steps, that `level` was not reached at any time */
  OPTION_NOT_BELOW,
  OPTION_EARLY, /* payment of an early exercise, carried to maturity: `step` is the number of its rule */
  OPTION_KINDS
} option_kind;

typedef struct option_feature {
  option_kind kind;
  int asset, step; /* asset from 0; step of a fixing from 1 */
  double level;    /* price */
  int tangent;     /* 0: the feature; k: its derivative by the parameter k - 1 of option_graph.tangent */
} option_feature;

#endif
