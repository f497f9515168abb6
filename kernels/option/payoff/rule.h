/* Exercise rule of an American or Bermudan option. */
#ifndef OPTION_PAYOFF_RULE_H
#define OPTION_PAYOFF_RULE_H

#include <stdbool.h>

/* Rule of one payoff. The holder exercises at a date where
 * the payoff sign (S - strike) is positive and at least the polynomial with coefficients beta[date] in x = (S -
 * centre) scale. */
typedef struct option_rule {
  bool single; /* whether paths use beta_single or beta */
  int dates, degree;
  const int *step; /* [dates]: numbers of the steps, from 1, that end at the dates */
  const int *date; /* [steps]: number of the date at each step's end; -1: none */
  int end;         /* step of the payment date, to which what is paid is carried */
  double strike, sign, centre, scale;
  /* growth [dates]: factor from the date to the payment date; beta [dates][OPTION_DEGREE_MAX + 1] */
  const double *growth, *beta;
  const float *beta_single; /* beta rounded to fp32 */
} option_rule;

#endif
