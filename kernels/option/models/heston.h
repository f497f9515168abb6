/* Parameters of Heston's model over the steps of a run. */
#ifndef OPTION_MODELS_HESTON_H
#define OPTION_MODELS_HESTON_H

#include "kernels/option/scenario/grid.h"

/* Parameters of one kind of step. */
typedef struct option_heston_step {
  double kappa, theta, sigma, rho;
} option_heston_step;

/* Factor of sigma. */
static inline double option_heston_mixing(const option_heston *h) { return h->mixing > 0 ? h->mixing : 1; }
/* Whether kappa, theta, sigma or rho changes in time. */
bool option_heston_varies(const option_heston *h);
/* Parameters of each kind of step: out[grid->kinds]. Where they change within a step, the averages of kappa, kappa
 * theta, sigma^2 and rho sigma, in which the generator of (x, v) is linear: the first term of Magnus' series, whose
 * error in a price is of order dt^2. `shift` is added to the square root of theta. SIM_ERR_SCENARIO where a parameter
 * is out of its range, SIM_ERR_NO_MEMORY; `asset`: its number from 0, for messages. */
sim_status option_heston_steps(const option_heston *h, int asset, const option_grid *grid, double shift,
                               option_heston_step *out) SIM_MUST_CHECK;
/* *out: rho at time 0. SIM_ERR_NO_MEMORY. */
sim_status option_heston_rho(const option_heston *h, double *out) SIM_MUST_CHECK;
/* *out: the least 2 kappa theta/sigma^2 until the maturity. SIM_ERR_NO_MEMORY. */
sim_status option_heston_feller(const option_heston *h, double maturity, double *out) SIM_MUST_CHECK;
/* Says where 2 kappa theta < sigma^2, so that the variance reaches 0. */
sim_status option_heston_remark(const option_heston *h, int asset, double maturity) SIM_MUST_CHECK;

#endif
