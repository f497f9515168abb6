/* Regression of exercise rules on the CPU: what its two kinds of rules share. */
#ifndef OPTION_CPU_EXERCISE_H
#define OPTION_CPU_EXERCISE_H

#include "kernels/option/payoff/exercise.h"

/* Prices and cash of this rank's paths. */
typedef struct option_cpu_regression {
  const option_parameters *p;
  const option_market *market;
  const option_starts *starts;
  const sim_comm *comm;
  option_rule rule;
  int chunks, share; /* of all ranks; most of one rank */
  int first, end;    /* chunks of this rank */
  int threads;
  sim_isa isa;
  int prices;    /* numbers of a path and date: prices, or what a joint rule reads, then a random rate's deflator */
  int sums_each; /* sums of a chunk */
  double *price, *cash; /* [dates][prices][share * OPTION_CHUNK], [share * OPTION_CHUNK] */
  double *sums;         /* [ranks * share][sums_each], the first `chunks` used */
  double *column;       /* [chunks] */
} option_cpu_regression;

/* Simulates `chunks` chunks of paths from all starts and keeps the prices of an asset, or with asset -1 of all and what
 * else the rule reads, at the rule's dates; all cash is 0. sums_each is set by the caller. */
sim_status option_cpu_simulate(option_cpu_regression *regression, const option_rule *rule, int asset,
                               int chunks) SIM_MUST_CHECK;
/* Frees what option_cpu_simulate allocated. */
void option_cpu_release(option_cpu_regression *regression);
/* Gathers the sums of all ranks' chunks, and adds them: sum[sums_each]. */
sim_status option_cpu_total(const option_cpu_regression *regression, double *sum) SIM_MUST_CHECK;
/* joint_rule.c: option_regression.joint. */
sim_status option_cpu_joint(void *self, const option_payoff *payoff, int number, int chunks, option_rule *rule,
                            option_joint_rule *out) SIM_MUST_CHECK;

/* Inner product; count is rounded up to a multiple of 8, with zeros behind it. */
double option_cpu_dot(const double *a, const double *b, int count);

#endif
