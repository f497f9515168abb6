/* Exercise rule of an American or Bermudan option. */
#ifndef OPTION_PAYOFF_RULE_H
#define OPTION_PAYOFF_RULE_H

#include <stdbool.h>
#include <stdint.h>

struct sim_expr_program;

/* Rule of one payoff. The holder exercises at a date where the payoff sign (S - strike) is positive and at least the
 * polynomial with coefficients beta[date] in x = (S - centre) scale. With `program` the payoff and the functions that
 * beta[date] weighs are what the program gives of the prices and volatilities of all assets. */
typedef struct option_rule {
  bool single;           /* whether paths use beta_single or beta */
  bool maxima;           /* whether `program` reads the highest prices so far, behind the prices */
  uint64_t volatilities; /* bit a: `program` reads the volatility of asset a, behind those; in the order of assets */
  bool rate;             /* `program` reads x of a random rate, last; what is paid is discounted along the path */
  int dates, degree;
  const int *step; /* [dates]: numbers of the steps, from 1, that end at the dates */
  const int *date; /* [steps]: number of the date at each step's end; -1: none */
  int end;         /* step of the payment date, to which what is paid is carried */
  double strike, sign, centre, scale;
  const struct sim_expr_program *program; /* [inputs] -> [1 + bases], in the paths' precision; borrowed; NULL: none */
  int bases;
  /* growth [dates]: factor from the date to the payment date; beta [dates][OPTION_DEGREE_MAX + 1], or [dates][bases] */
  const double *growth, *beta;
  const float *beta_single; /* beta rounded to fp32 */
} option_rule;

/* Numbers that the program reads of a path. */
static inline int option_rule_inputs(const option_rule *rule, int assets) {
  int count = (rule->maxima ? 2 * assets : assets) + rule->rate;
  for (int a = 0; a < assets; a++) count += rule->volatilities >> a & 1;
  return count;
}

#endif
