/* Moments of Greeks by differences with longer steps. */
#ifndef OPTION_STRETCH_H
#define OPTION_STRETCH_H

#include "kernels/option/estimate.h"
#include "kernels/option/limits.h"

enum { OPTION_STRETCH_PATHS = 8 * OPTION_CHUNK }; /* pseudo-random paths of their own */

/* Moments of a quantity X over these paths. */
typedef struct option_stretch {
  double squares, fourth; /* means of X^2 and X^4 */
  double kurtosis;        /* E[d^4]/E[d^2]^2, d the distance from the mean; the number of paths where X is constant */
  double factor;          /* the largest discounted factor of a payoff in X */
} option_stretch;

/* Moments of the prices and Greeks of the scenario's function where all Greeks are differences with steps `stretch`
 * times as long: out[option_stretched_quantities], in the order of that list (as of option_quantities), which has
 * delta where there is room for its markets, and named payoffs only where their dates make the steps. On the CPU, on
 * one thread, the same on every rank. Errors as of option_ops.create. */
int option_stretched_quantities(const option_parameters *p, option_quantity *out);
sim_status option_stretched(const option_parameters *p, double stretch, option_stretch *out) SIM_MUST_CHECK;
/* Medians of the discounted results of the scenario's function over the same paths: out[results]. Errors as above. */
sim_status option_medians(const option_parameters *p, double *out) SIM_MUST_CHECK;

/* Whether it is a derivative by a spot. */
static inline bool option_greek_by_spot(int greek) {
  return greek <= OPTION_GAMMA || greek == OPTION_CROSS_GAMMA || greek == OPTION_VANNA || greek == OPTION_CHARM;
}

/* A Greek by differences with the run's steps, and with steps half as long. */
typedef struct option_halved {
  double whole, half; /* means over the same paths */
  double error;       /* standard error of their difference */
} option_halved;
/* Compares all prices and Greeks by a spot, from `chunks` of OPTION_CHUNK pseudo-random samples
 * without control, with rules of early exercise from few paths: out[option_quantities], zero before the call. On the
 * CPU, the same for any number of threads and on every rank. Errors as of option_ops.create. */
sim_status option_halve_steps(const option_parameters *p, int threads, int chunks, option_halved *out) SIM_MUST_CHECK;

#endif
