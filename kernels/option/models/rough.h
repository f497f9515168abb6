/* The rough Bergomi model over the steps of a run. */
#ifndef OPTION_MODELS_ROUGH_H
#define OPTION_MODELS_ROUGH_H

#include "kernels/option/scenario/grid.h"
#include "kernels/option/scenario/motion.h"

/* Sets what option_dynamics has of the model, for all kinds of steps; the memory at out->node is owned by the caller.
 * `shift` is added to the square root of xi; `asset`: its number from 0, for messages. SIM_ERR_SCENARIO where xi is out
 * of its range, SIM_ERR_NO_MEMORY. */
sim_status option_rough_set(const option_rough *r, int asset, const option_grid *grid, double shift,
                            option_dynamics *out) SIM_MUST_CHECK;
/* Whether any asset has the model. */
bool option_any_rough(const option_parameters *p);
/* Bytes of the weights of one market; of the numbers that a path keeps, for each thread. */
double option_rough_bytes(const option_parameters *p);
/* Factor from the difference between prices of two grids, the second with steps half as long, to the bias of the first:
 * 1/(1 - 2^-order), order 1 but for rough assets. */
double option_bias_factor(const option_parameters *p);
/* By how much of itself that bias may be off where its order is not the one taken: 0 but for rough assets and SABR with
 * beta below 1. */
double option_bias_doubt(const option_parameters *p);

#endif
