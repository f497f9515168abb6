/* The SABR model over the steps of a run. */
#ifndef OPTION_MODELS_SABR_H
#define OPTION_MODELS_SABR_H

#include "kernels/option/scenario/grid.h"
#include "kernels/option/scenario/motion.h"

/* Largest nu^2 dt, and largest deviation alpha F^(beta - 1) sqrt(dt) of a step from the spot on for beta < 1. */
#define OPTION_SABR_NOISE 0.25
#define OPTION_SABR_DEVIATION 0.5

/* Sets what option_dynamics has of the model, for all kinds of steps: out[kinds * stride]. `spot`: of this market;
 * `shift` is added to alpha spot^(beta - 1), the volatility at the spot. The table at out[0].node is owned by the
 * caller, who frees it also after an error. SIM_ERR_NO_MEMORY. */
sim_status option_sabr_set(const option_sabr *s, const option_grid *grid, double spot, double shift, int stride,
                           option_dynamics *out) SIM_MUST_CHECK;
/* Volatility of the first instant, as a share of the price. */
double option_sabr_volatility(const option_asset *asset);
/* Adds faults: parameters without a martingale, steps too long. */
void option_check_sabr(const option_parameters *p, int asset, sim_faults *faults);

#endif
