/* Estimate of the bias of prices and Greeks by the time steps. */
#ifndef OPTION_BIAS_H
#define OPTION_BIAS_H

#include "kernels/option/ops.h"

typedef struct option_bias option_bias;
sim_status option_bias_create(const option_parameters *p, const sim_setup *setup, option_bias **out) SIM_MUST_CHECK;
void option_bias_destroy(option_bias **bias);
double option_bias_bytes(const option_parameters *p, const sim_setup *setup);
/* Steps of the run's length, of one asset, of all paths for the bias of a whole run, over the run's steps of one path.
 */
double option_bias_work(const option_parameters *p);

/* Chunks of OPTION_CHUNK samples for the bias of a run of n samples. */
int option_bias_chunks(double n);
/* Adds the chunks first .. last - 1 to mean[quantities] and squares[quantities], the means and sums of squared
 * deviations of the chunks' biases, in order: the same bits for any number of threads. squares = -1: unknown, because a
 * payoff or local volatility is not finite on a path with shorter steps. */
sim_status option_bias_sample(option_bias *bias, int first, int last, double *mean, double *squares) SIM_MUST_CHECK;

#endif
