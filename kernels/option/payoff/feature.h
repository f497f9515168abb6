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
  OPTION_SQUARES, /* sum of the squared changes of log2 of the price between the prices observed, from the spot on */
  OPTION_HIGH,    /* maximum over continuous time from 0 on, sampled between the steps by Brownian bridges */
  OPTION_LOW,
  OPTION_FIXING,    /* price at a step */
  OPTION_NOT_ABOVE, /* probability, given the prices at the steps, that `level` was never reached */
  OPTION_NOT_BELOW,
  OPTION_EARLY, /* amount paid by early exercise, carried to maturity; `step` is the number of its rule, `asset` is -1
                   where that depends on several */
  OPTION_DEFLATOR, /* of a random rate: discount factor until a step over that of time 0; `asset` is -1 */
  OPTION_KINDS,
  OPTION_VARIANCE =
      OPTION_KINDS,  /* Heston's variance at the end of `step`; read by exposures on the CPU, by no payoff */
  OPTION_HIGHEST,    /* highest price at the steps until the end of `step`; read by the regression of exercise rules */
  OPTION_VOLATILITY, /* root of the variance, or SABR's sigma, at the end of `step`; read likewise */
  OPTION_RATE,       /* x of a random rate (models/hull_white.h) at the end of `step`; read likewise; `asset` is -1 */
  OPTION_INCREMENT   /* normal of a rough volatility in `step`; read by upper bounds */
} option_kind;

/* What features need from the path of their asset: bits by kind. */
enum {
  NEED_SUM = 1 << OPTION_MEAN,
  NEED_LOGS = 1 << OPTION_GEOMETRIC,
  NEED_ENDS = 1 << OPTION_MAX | 1 << OPTION_MIN,
  NEED_SQUARES = 1 << OPTION_SQUARES,
  NEED_HIGH = 1 << OPTION_HIGH,
  NEED_LOW = 1 << OPTION_LOW
};

typedef struct option_feature {
  option_kind kind;
  int asset, step; /* asset from 0; step of a fixing from 1 */
  double level;    /* price */
  int tangent;     /* 0: the feature; k: its derivative by option_graph.tangent[k - 1] */
  int schedule;    /* 0: all steps; k: those of option_graph.schedule[k - 1] */
} option_feature;

#endif
