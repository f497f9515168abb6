/* Early exercise: rules by the regression of F. Longstaff and E. Schwartz (Review of Financial Studies 14 (2001) 113),
 * made on paths of their own, which never price anything. */
#ifndef OPTION_PAYOFF_EXERCISE_H
#define OPTION_PAYOFF_EXERCISE_H

#include "engine/device/backend.h"
#include "kernels/option/payoff/rule.h"
#include "kernels/option/scenario/market.h"

typedef struct option_policy {
  int count;
  option_rule *rule; /* [payoffs], zero where there is no early exercise, growth NULL; owned; NULL: no rules */
  void *numbers;     /* owned: the betas */
} option_policy;

/* The parts of a regression that run where its paths are; all in fp64, with sums in an order that depends on the paths
 * alone. `self` is passed to each. */
typedef struct option_regression {
  void *self;
  /* Simulates so many chunks of paths and keeps the asset's prices at the rule's dates; all cash is zero. */
  sim_status (*simulate)(void *self, const option_rule *rule, int asset, int chunks);
  /* Goes one date back. With beta, the polynomial of the date after this one: cash becomes the payoff of that date on
   * paths that exercise there. Cash is then discounted to this date. Of the paths with a positive payoff here: sum[k]
   * of x^k for k <= 2 degree, and sum[OPTION_REGRESSION_MOMENTS + k] of x^k cash for k <= degree. */
  sim_status (*sums)(void *self, const option_rule *rule, int date, const double *beta, double discount, double *sum);
  /* Frees what `simulate` took, also where that failed. */
  void (*release)(void *self);
} option_regression;

/* Makes the rules of all payoffs; out is freed by option_policy_free. */
sim_status option_policy_regress(const option_parameters *p, const option_market *market,
                                 const option_regression *regression, option_policy *out) SIM_MUST_CHECK;
void option_policy_free(option_policy *policy);
/* Most memory that a regression on the CPU holds. */
double option_policy_bytes(const option_parameters *p);
/* The rules in one market: out[payoffs], whose growth is in growth[payoffs][steps]. */
void option_policy_for_market(const option_policy *policy, const option_market *market, option_rule *out,
                              double *growth);
/* Payment of the rule at a price, if positive. */
static inline double option_rule_payoff(const option_rule *rule, double price) {
  return rule->sign * (price - rule->strike);
}

/* cpu/exercise.c: makes the rules on the CPU; its result depends on no field of setup. */
sim_status option_policy_create(const option_parameters *p, const option_market *market, const sim_setup *setup,
                                option_policy *out) SIM_MUST_CHECK;

#endif
