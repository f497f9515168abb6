/* Rules of early exercise of all markets of an estimate.
 *
 * The best rule depends on volatilities, rate and maturity, but not on today's spot. So markets that differ in their
 * spots alone share a rule, fitted at today's spot; markets with another volatility, rate or maturity have one of their
 * own. A Greek by differences is then the derivative of the value of the fitted rule. With today's rule in all markets
 * it would miss what the rule gains by following: of a rule that is not the best one in first order, and in a second
 * derivative by a volatility always. The points of a ladder, which are far apart, have a rule each. Where any market
 * has another spot, the paths of all fits start from spread spots (starts.h). */
#ifndef OPTION_POLICIES_H
#define OPTION_POLICIES_H

#include "kernels/option/estimate.h"
#include "kernels/option/payoff/exercise.h"

#include "engine/model.h"

typedef struct option_policies {
  int count;
  option_policy *policy;      /* [count], owned; the first one is today's */
  int of[OPTION_MARKETS_MAX]; /* [markets]: number of each market's policy */
} option_policies;

/* Fits the rules of one market, as option_policy_regress does. */
typedef sim_status option_policy_maker(void *self, const option_starts *starts, option_policy *out);

/* Number of policies of an estimate. */
int option_policies_count(const option_estimate *estimate, const option_parameters *p);
/* Makes the policies; freed by option_policies_free, also where this fails. `host`: threads of the host, which
 * calibrates leverage functions. */
sim_status option_policies_create(const option_estimate *estimate, const option_parameters *p, const sim_setup *host,
                                  option_policy_maker *make, void *self, option_policies *out) SIM_MUST_CHECK;
void option_policies_free(option_policies *policies);
static inline const option_policy *option_policy_of(const option_policies *policies, int market) {
  return &policies->policy[policies->of[market]];
}

#endif
