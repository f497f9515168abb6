/* Whether the steps of a Heston asset are short enough. */
#ifndef OPTION_MODELS_HESTON_STEPS_H
#define OPTION_MODELS_HESTON_STEPS_H

#include "kernels/option/models/heston.h"

/* What the steps of the scheme make of the integral I of the variance over some steps, beside its exact law. */
typedef struct option_heston_moments {
  double mean;     /* (E I of the scheme)/(E I) - 1 */
  double variance; /* (Var I of the scheme - Var I)/(E I)^2 */
} option_heston_moments;

/* Computes the moments of the integral over the steps from + 1 to `to` of a grid, for the variance v at time 0 and the
 * parameters each[grid->kinds]. weight[grid->steps]: factors of the integrals over the steps, as of the logarithm of a
 * mean of prices; NULL: 1. Both sides take the parameters of each step as constant. */
void option_heston_moments_of(double v, const option_grid *grid, const option_heston_step *each, int from, int to,
                              const double *weight, option_heston_moments *out);
/* Refuses an asset where the moments until a payoff's own maturity are so far off that the bias told would be no
 * measure of the error, and names the steps that it needs. Forward starts are left out: their variance at the start is
 * random, and the doubt of option_warn_heston is enough. SIM_ERR_SCENARIO where a parameter is out of its range,
 * SIM_ERR_NO_MEMORY. */
sim_status option_check_heston(const option_parameters *p, int asset, sim_faults *faults) SIM_MUST_CHECK;
/* Warns of assets whose steps are too long for the integral that a payoff sees: until its own maturity (an Asian one
 * weighs the variance by its fixings), of a forward start from its start on, of early exercise, autocallables,
 * lookbacks and barriers also until their first date. doubt[payoffs]: standard errors of the biases of prices, as a
 * share of a payoff's typical value; the largest of all assets. A call at the money goes by the square root of the
 * integral, so that the moments change it by mean/2 and variance/8 of itself; twice that is taken where the payoff's
 * moments are beyond the bounds of the warning. Steps half as long may tell nothing of it where the bias changes its
 * sign with the strike, or is not of first order yet. */
sim_status option_warn_heston(const option_parameters *p, double *doubt) SIM_MUST_CHECK;
/* Raises *levels to those of a multilevel run whose two finest have steps that give no such warning. Errors as above.
 */
sim_status option_heston_levels(const option_parameters *p, int *levels) SIM_MUST_CHECK;

#endif
