/* Upper bounds of early exercise, by the dual of L. Andersen and M. Broadie, Management Science 50 (2004) 1222. */
#ifndef OPTION_RESULT_UPPER_H
#define OPTION_RESULT_UPPER_H

#include "kernels/option/scenario/parameters.h"

/* How much the upper bound of each payoff is above the price by its exercise rule, and the standard error of that:
 * out[payoffs] each, NaN for payoffs without a bound. On the CPU, by all ranks of setup->comm together; the numbers
 * depend on the parameters alone. SIM_ERR_DIVERGED, SIM_ERR_NO_MEMORY. */
sim_status option_upper_gaps(const option_parameters *p, const sim_setup *setup, double *gap,
                             double *error) SIM_MUST_CHECK;
/* Bytes that this takes; 0: no payoff wants a bound. */
double option_upper_bytes(const option_parameters *p, const sim_setup *setup);
/* Its path-steps times assets: of the paths from each date on, on which an exercise pays. As many are assumed to. */
double option_upper_work(const option_parameters *p);

#endif
