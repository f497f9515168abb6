/* Functions of time: where they jump, and their integrals over the steps. */
#ifndef OPTION_SCENARIO_INTEGRAL_H
#define OPTION_SCENARIO_INTEGRAL_H

#include "engine/expr/expr.h"
#include "engine/status.h"
#include "kernels/option/scenario/grid.h"

#include <stdbool.h>

/* Finds the times in [0, maturity], perhaps with others, at which a function may jump or have a kink. Input number
 * `input` is the time; another input, if any, is held at `other`. Comparisons linear in t are solved, others are
 * searched: *missed is set where some times may not have been found. out[*count], increasing, is freed by the
 * caller. SIM_ERR_NO_MEMORY. */
sim_status option_breaks(const sim_expr *expr, int input, double other, double maturity, double **out, int *count,
                         bool *missed) SIM_MUST_CHECK;
/* Warns that some jumps of the function `name` may not have been found. */
void option_warn_missed(const char *name);
/* Integrates a function of t over each step: sum[steps], and squares[steps] of its square
 * unless NULL. The error is below 1e-10 of the whole: panels end at jumps and are halved until Gauss-Legendre
 * quadrature converges. SIM_ERR_SCENARIO where a value is not finite or below `least`, or where halving does not
 * end; `name` begins the message. */
sim_status option_integrate(const char *name, const sim_expr *expr, double least, const option_grid *grid, double *sum,
                            double *squares) SIM_MUST_CHECK;

#endif
