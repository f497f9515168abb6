/* Functions of time: where they jump, and their integrals over the steps. */
#ifndef OPTION_SCENARIO_INTEGRAL_H
#define OPTION_SCENARIO_INTEGRAL_H

#include "engine/expr/expr.h"
#include "engine/status.h"
#include "kernels/option/scenario/grid.h"

#include <math.h>
#include <stdbool.h>

/* Finds the times in [0, maturity], perhaps with others, at which a function may jump or have a kink. Input number
 * `input` is the time; another input, if any, is held at `other`. Comparisons linear in t are solved, others are
 * searched: *missed is set where some times may not have been found. out[*count], increasing, is freed by the
 * caller. SIM_ERR_NO_MEMORY. */
sim_status option_breaks(const sim_expr *expr, int input, double other, double maturity, double **out, int *count,
                         bool *missed) SIM_MUST_CHECK;
/* Warns that some jumps of the function `name` may not have been found. */
void option_warn_missed(const char *name);
/* Valid values of a function: finite, from `least` to `most`; open: without these two. */
typedef struct option_range {
  double least, most;
  bool open;
} option_range;
#define OPTION_FINITE ((option_range){-INFINITY, INFINITY, false})
#define OPTION_NOT_NEGATIVE ((option_range){0, INFINITY, false})
#define OPTION_POSITIVE ((option_range){0, INFINITY, true})
/* SIM_ERR_SCENARIO where the value of the function `name` at time t is out of its range. */
sim_status option_check_range(const char *name, option_range range, double value, double t) SIM_MUST_CHECK;
/* Integrates a function of t over each step: sum[steps], and squares[steps] of its square
 * unless NULL. The error is below 1e-10 of the whole: panels end at jumps and are halved until Gauss-Legendre
 * quadrature converges. SIM_ERR_SCENARIO where a value is out of its range, or where halving does not
 * end; `name` begins the message. */
sim_status option_integrate(const char *name, const sim_expr *expr, option_range range, const option_grid *grid,
                            double *sum, double *squares) SIM_MUST_CHECK;
/* The product of two functions of t, freed by the caller. SIM_ERR_NO_MEMORY. */
sim_status option_product(const sim_expr *a, const sim_expr *b, sim_expr **out) SIM_MUST_CHECK;

#endif
