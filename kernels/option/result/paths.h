/* The first paths of a run, for a file. */
#ifndef OPTION_RESULT_PATHS_H
#define OPTION_RESULT_PATHS_H

#include "kernels/option/run.h"

/* Gives the dataset `paths`: price[path][asset][time], and of models with a random volatility or rate their state too.
 * SIM_ERR_DIVERGED, SIM_ERR_NO_MEMORY. */
sim_status option_path_dataset(option_run *run, sim_dataset *out) SIM_MUST_CHECK;
/* Its bytes of host memory; 0: not asked for. */
double option_path_bytes(const option_parameters *p, const sim_setup *host);
/* Bytes of the numbers alone. */
double option_path_numbers(const option_parameters *p);

#endif
