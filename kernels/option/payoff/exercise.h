/* Early exercise: rules by the regression of F. Longstaff and E. Schwartz (Review of Financial Studies 14 (2001)
 * 113), on separate paths that are never used for pricing. */
#ifndef OPTION_PAYOFF_EXERCISE_H
#define OPTION_PAYOFF_EXERCISE_H

#include "engine/device/backend.h"
#include "kernels/option/payoff/rule.h"
#include "kernels/option/scenario/market.h"

typedef struct option_policy {
  int count;
  option_rule *rule; /* [payoffs], owned; zero (growth NULL) for payoffs without early exercise; NULL: no rules */
  void *numbers;     /* owned; the coefficients beta of all rules */
  int *steps;        /* owned; rule.step and rule.date of all rules */
} option_policy;

/* The parts of a regression that run on the backend; fp64, with sums in an order that depends on the paths alone.
 * `self` is the first argument of each. */
typedef struct option_regression {
  void *self;
  /* Simulates `chunks` chunks of paths and keeps the asset's prices at the rule's dates; sets all cash to zero. */
  sim_status (*simulate)(void *self, const option_rule *rule, int asset, int chunks);
  /* Goes back to `date`. With beta, the coefficients of the next date: cash becomes that date's payoff on paths that
   * exercise there. Then discounts cash to `date` and sums over the paths with a positive payoff here: sum[k] of x^k
   * for k <= 2 degree, and sum[OPTION_REGRESSION_MOMENTS + k] of x^k cash for k <= degree. */
  sim_status (*sums)(void *self, const option_rule *rule, int date, const double *beta, double discount, double *sum);
  /* Frees what `simulate` allocated, also if that failed. */
  void (*release)(void *self);
} option_regression;

/* Number of the dates of early exercise of a payoff. */
size_t option_date_count(const option_parameters *p, const option_payoff *o);

/* Makes the rules of all payoffs; out is freed by option_policy_free. */
sim_status option_policy_regress(const option_parameters *p, const option_market *market,
                                 const option_regression *regression, option_policy *out) SIM_MUST_CHECK;
void option_policy_free(option_policy *policy);
/* Most host memory in bytes that a regression on the CPU holds, on each of `ranks`. */
double option_policy_bytes(const option_parameters *p, int ranks);
/* What a rank receives, and how often it exchanges, in a regression of each payoff by `ranks`; 0 for one. */
void option_policy_exchanges(const option_parameters *p, int ranks, double *bytes, double *exchanges);
/* Adapts the rules to one market: out[payoffs], with their growth in growth[payoffs][steps]. */
void option_policy_for_market(const option_policy *policy, const option_market *market, option_rule *out,
                              double *growth);
/* Payoff of the rule at a price; negative where exercise does not pay. */
static inline double option_rule_payoff(const option_rule *rule, double price) {
  return rule->sign * (price - rule->strike);
}

/* cpu/exercise.c: computes the rules on the CPU, on all ranks of setup->comm together; the result depends on no field
 * of setup. */
sim_status option_policy_create(const option_parameters *p, const option_market *market, const sim_setup *setup,
                                option_policy *out) SIM_MUST_CHECK;

#endif
