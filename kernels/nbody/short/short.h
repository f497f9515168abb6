/* Pair forces with a cutoff in a periodic box: functions that all devices share.
 *
 *   positions of the last search (state->searched) --search--> pairs within cutoff + skin --step--> forces
 *
 * A list of pairs serves until a body has moved by half the skin. The positions of the search are state, so that a
 * resumed run has the same lists, and with them the same bits. */
#ifndef NBODY_SHORT_H
#define NBODY_SHORT_H

#include "kernels/nbody/solver.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The skin: distance beyond the cutoff up to which lists have pairs. */
double nbody_short_skin(const nbody_options *options);
/* Expected number of pairs within cutoff + skin at the mean density, each counted once. */
double nbody_short_pairs(const nbody_options *options, double n);
/* nbody_solver.estimate without the rate, and nbody_solver.supports. */
sim_status nbody_short_count(const nbody_options *options, double n, nbody_cost *out) SIM_MUST_CHECK;
sim_status nbody_short_supports(const nbody_options *options) SIM_MUST_CHECK;
/* Potential of the law at the cutoff, for two unit masses; 0 where the potential is not shifted. SIM_ERR_NO_MEMORY. */
sim_status nbody_short_shift(const nbody_options *options, double *out) SIM_MUST_CHECK;

/* Contribution of the pairs beyond the cutoff if bodies are spread evenly there, g(r) = 1: M^2 / V times `energy`, and
 * M^2 / V^2 times `pressure`, for bodies of total mass M in a volume V. NaN: the potential is unknown, or the integral
 * has no limit. */
typedef struct nbody_tail {
  double energy, pressure;
} nbody_tail;
/* Computes the contribution beyond the cutoff. The law must have been created without jerk. SIM_ERR_NO_MEMORY. */
sim_status nbody_tail_of(const nbody_laws *laws, double cutoff, nbody_tail *out) SIM_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
