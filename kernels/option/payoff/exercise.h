/* Early exercise: rules by the regression of F. Longstaff and E. Schwartz (Review of Financial Studies 14 (2001)
 * 113), on separate paths that are never used for pricing. */
#ifndef OPTION_PAYOFF_EXERCISE_H
#define OPTION_PAYOFF_EXERCISE_H

#include "engine/device/backend.h"
#include "kernels/option/payoff/rule.h"
#include "kernels/option/scenario/market.h"

/* What the rule of a payoff on several assets owns. */
typedef struct option_joint_rule {
  sim_expr_program *program, *in_double; /* in the paths' precision; for the regression */
  double *beta;                          /* [dates][bases], and the same rounded to fp32 */
} option_joint_rule;

typedef struct option_policy {
  int count;
  option_rule *rule; /* [payoffs], owned; zero (growth NULL) for payoffs without early exercise; NULL: no rules */
  void *numbers;     /* owned; the coefficients beta of all rules */
  int *steps;        /* owned; rule.step and rule.date of all rules */
  option_joint_rule *joint; /* [payoffs], owned; zero for other payoffs */
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
  /* Finds the rule of a payoff on several assets, whose dates are set: beta, bases, programs. NULL: never asked for. */
  sim_status (*joint)(void *self, const option_payoff *payoff, int number, int chunks, option_rule *rule,
                      option_joint_rule *out);
} option_regression;

/* joint.c: the payment of an exercise and the functions of the regression as one graph of the prices of all assets:
 * outputs 1 + *bases. scale[1 + assets][2]: centre and factor of the payment and of each price; NULL: the payment
 * alone. */
sim_status option_joint_graph(const option_parameters *p, const option_payoff *o, const double (*scale)[2],
                              sim_expr **out, int *bases) SIM_MUST_CHECK;
/* Number of the functions of the regression. */
int option_joint_bases(const option_parameters *p, const option_payoff *o);
/* Solves the normal equations of `count` functions, without those that depend on earlier ones, whose coefficients are
 * 0. sum: products of functions i >= j at i (i + 1)/2 + j, then of functions and values from bases (bases + 1)/2 on. */
void option_joint_solve(const double *sum, int bases, int count, double *beta);
/* Adds faults of the keys of an American payoff, and binds its function. */
sim_status option_check_american(const option_parameters *p, size_t item, sim_faults *faults) SIM_MUST_CHECK;

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
/* Bytes of scratch that evaluating the rules on several assets takes. */
size_t option_policy_scratch(const option_policy *policy);
/* Payoff of the rule at a price; negative where exercise does not pay. */
static inline double option_rule_payoff(const option_rule *rule, double price) {
  return rule->sign * (price - rule->strike);
}

/* cpu/exercise.c: computes the rules on the CPU, on all ranks of setup->comm together; the result depends on no field
 * of setup. */
sim_status option_policy_create(const option_parameters *p, const option_market *market, const sim_setup *setup,
                                option_policy *out) SIM_MUST_CHECK;

#endif
