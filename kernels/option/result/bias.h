/* An estimate of what the steps of a run shift its prices by. */
#ifndef OPTION_BIAS_H
#define OPTION_BIAS_H

#include "kernels/option/ops.h"

typedef struct option_bias option_bias;
sim_status option_bias_create(const option_parameters *p, const sim_setup *setup, option_bias **out) SIM_MUST_CHECK;
void option_bias_destroy(option_bias **bias);
double option_bias_bytes(const option_parameters *p, const sim_setup *setup);

/* Chunks of OPTION_CHUNK samples that belong to a run of n of them. */
int option_bias_chunks(double n);
/* Of chunks first .. last - 1: adds each payoff's shift to mean[payoffs] and squares[payoffs], means and sums of
 * squared deviations of the chunks' means before. In order: the same bits for any number of threads. squares -1:
 * unknown, for a payoff or a local volatility is not finite on a path with shorter steps. */
sim_status option_bias_sample(option_bias *bias, int first, int last, double *mean, double *squares) SIM_MUST_CHECK;

#endif
