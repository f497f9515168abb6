/* When the holder of an American or Bermudan option exercises. */
#ifndef OPTION_PAYOFF_RULE_H
#define OPTION_PAYOFF_RULE_H

#include <stdbool.h>

/* Rule of one payoff. Dates are the steps every, 2 every, ... dates * every. At a date the holder exercises where the
 * payoff sign (S - strike) is positive and at least the polynomial in x = (S - centre) scale, with the date's
 * coefficients beta. */
typedef struct option_rule {
  bool single; /* which of the two betas the paths use */
  int every, dates, degree;
  double strike, sign, centre, scale;
  const double *growth, *beta; /* [dates]: carries money from the date to maturity; [dates][OPTION_DEGREE_MAX + 1] */
  const float *beta_single;    /* beta, rounded */
} option_rule;

#endif
