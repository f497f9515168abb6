/* Where payoffs bend: deviations of what they compare.
 *
 * A payoff has a kink or a jump where a comparison (max, min, abs, where) of prices, or a decision to exercise, changes
 * its sign. The mean over the paths smooths it over the deviation of what is compared, which may be much less than that
 * of a price: of two prices that move together, of a composite whose share and rate move against each other, of a
 * fixing tomorrow. Steps of differences by a spot are a share of the least such deviation (scenario/bump.c). */
#ifndef OPTION_BENDS_H
#define OPTION_BENDS_H

#include "kernels/option/scenario/parameters.h"

/* Finds p->bend, p->last_bend, p->level, p->unsmoothed and p->step_set of all payoffs from OPTION_CHUNK paths of their
 * own: of every comparison that comes within five deviations of its change of sign; of early exercise of its first date
 * that may pay. Each is measured as the change of the logarithm of a spot that moves it by its deviation, from its
 * quartiles: rare jumps of prices do not count. So are the prices where a level begins or ends to be watched
 * continuously, near it. p->level is the distance to levels that are watched continuously from now on. With a leverage
 * function the paths are those of its local volatilities, which have the same laws at each time. Nothing is found where
 * a graph is too large. On the CPU, on one thread, the same on every rank. SIM_ERR_NO_MEMORY. */
sim_status option_bends_find(option_parameters *p) SIM_MUST_CHECK;

#endif
