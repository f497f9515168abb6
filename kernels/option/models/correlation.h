/* How far prices of assets with random volatilities correlate. */
#ifndef OPTION_MODELS_CORRELATION_H
#define OPTION_MODELS_CORRELATION_H

#include "kernels/option/scenario/parameters.h"

/* Warns where prices correlate otherwise than `correlation` says. It is the correlation of those parts of the motions
 * that the assets' volatilities do not share: assets whose volatilities have the correlations r and s with their prices
 * then have prices that correlate by sqrt((1 - r^2)(1 - s^2)) times that. SIM_ERR_NO_MEMORY. */
sim_status option_warn_correlation(const option_parameters *p) SIM_MUST_CHECK;

#endif
