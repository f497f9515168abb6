/* Path features that payoffs depend on, each of one asset. Device code too. */
#ifndef OPTION_PAYOFF_FEATURE_H
#define OPTION_PAYOFF_FEATURE_H

/* Over the prices at the steps 1 .. n, unless said otherwise. */
typedef enum option_kind {
  OPTION_LAST,
  OPTION_MEAN,
  OPTION_GEOMETRIC, /* geometric mean */
  OPTION_MAX,
  OPTION_MIN,
  OPTION_HIGH, /* maximum over continuous time from 0 on, sampled between the steps by Brownian bridges */
  OPTION_LOW,
  OPTION_FIXING,    /* price at a step */
  OPTION_NOT_ABOVE, /* probability, given the prices at the steps, that `level` was never reached */
  OPTION_NOT_BELOW,
  OPTION_EARLY, /* amount paid by early exercise, carried to maturity; `step` is the number of its rule */
  OPTION_KINDS
} option_kind;

typedef struct option_feature {
  option_kind kind;
  int asset, step; /* asset from 0; step of a fixing from 1 */
  double level;    /* price */
  int tangent;     /* 0: the feature; k: its derivative by option_graph.tangent[k - 1] */
} option_feature;

#endif
