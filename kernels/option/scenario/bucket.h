/* Nodes of curves of volatility and rate, by which prices are differentiated: vega and rho by bucket. */
#ifndef OPTION_SCENARIO_BUCKET_H
#define OPTION_SCENARIO_BUCKET_H

#include "kernels/option/scenario/grid.h"
#include "kernels/option/scenario/parameters.h"

/* Integrals over each step: [steps] each, or NULL. */
typedef struct option_hat {
  double *whole, *value, *squares; /* of the hat function; times the curve; of its square */
} option_hat;

/* Fills p->bucket and p->buckets for the wanted Greeks; refuses a run without such a curve, or with too many nodes.
 * SIM_ERR_NO_MEMORY. */
sim_status option_find_buckets(option_parameters *p, sim_faults *faults) SIM_MUST_CHECK;
/* Integrates the hat function of node `bucket` of OPTION_VEGA_BUCKET or OPTION_RHO_BUCKET over the steps, exactly but
 * for rounding. SIM_ERR_NO_MEMORY. */
sim_status option_bucket_integrate(const option_parameters *p, int greek, int bucket, const option_grid *grid,
                                   const option_hat *out) SIM_MUST_CHECK;
/* Integral until the maturity of the hat function times the volatility over that of the volatility; of a rate, of the
 * hat function alone over the maturity. 0: the node lies behind the maturity, or the volatility is 0 near it; or there
 * is no memory. */
double option_bucket_share(const option_parameters *p, int greek, int bucket);

#endif
