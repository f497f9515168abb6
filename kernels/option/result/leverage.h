/* The error of calibrated leverage functions, beside the prices of a run. */
#ifndef OPTION_RESULT_LEVERAGE_H
#define OPTION_RESULT_LEVERAGE_H

#include "kernels/option/cpu/leverage.h"
#include "kernels/option/run.h"

/* Calibrates the leverage functions of the run's market, prices their quotes into run->quotes, and warns where one is
 * off by more than 0.002 and 3 of its errors. Errors as of option_leverage_check. */
sim_status option_leverage_find(option_run *run, const sim_setup *setup) SIM_MUST_CHECK;
/* The quote with the largest difference of volatilities in a list, which of all assets is run->quotes; NULL: none is
 * known. *miss: model less local. */
const option_quote *option_leverage_worst(const option_quote *quotes, int count, double *miss);
/* Adds a line for each asset with a leverage function. */
void option_leverage_report(const option_run *run, sim_bytes *out);

#endif
