/* How a rule of early exercise is fitted, wherever its paths are. */
#ifndef OPTION_EXERCISE_H
#define OPTION_EXERCISE_H

#include "kernels/option/option.h"

/* Paths of the fit, far from all others. */
#define OPTION_FIT_FIRST (UINT64_C(3) << 61)
enum { OPTION_FIT_MOMENTS = 2 * OPTION_DEGREE_MAX + 1, OPTION_FIT_SUMS = OPTION_FIT_MOMENTS + OPTION_DEGREE_MAX + 1 };

/* All is in fp64, and sums are in an order that depends on nothing but the paths. */
typedef struct option_fitter {
  void *self;
  /* Prices of an asset at the rule's dates on so many chunks of paths; none has brought cash yet. */
  sim_status (*walk)(void *self, const option_rule *rule, int asset, int chunks);
  /* With beta, the rule's polynomial at the date after this one, cash there is what an exercise pays where it pays and
   * that is no less. Then cash is discounted to this date; then, of the paths where an exercise pays: sum[k] of x^k, k
   * <= 2 degree, and sum[OPTION_FIT_MOMENTS + k] of x^k cash, k <= degree, x = (price - centre) scale. */
  sim_status (*sums)(void *self, const option_rule *rule, int date, const double *beta, double discount, double *sum);
  void (*end)(void *self); /* after each walk, even one that failed */
} option_fitter;
sim_status option_policy_fit(const option_parameters *p, const option_market *market, const option_fitter *fitter,
                             option_policy *out) SIM_MUST_CHECK;

#endif
