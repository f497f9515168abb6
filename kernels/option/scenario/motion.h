/* Dynamics: how the price of one asset moves in a step. */
#ifndef OPTION_SCENARIO_MOTION_H
#define OPTION_SCENARIO_MOTION_H

#include "engine/status.h"
#include "kernels/option/limits.h"

#include <stdbool.h>

struct option_asset;
struct option_grid;
struct sim_expr;

#define OPTION_LOCAL_MAX 1e18 /* largest valid local volatility */

/* Constants of an asset's steps, beside drift and volatility of option_market. x = log2(price / spot); w and z are
 * standard normals; variances are in natural logarithms.
 *
 * Heston: the quadratic-exponential scheme with the martingale correction K0* (L. Andersen, Journal of Computational
 * Finance 11 (2008) 1): v' has mean keep v + pull and variance spread v + floor; x += drift + (K0* - k3/2 v + k2
 * v')/ln 2 + sqrt(k3 v + k4 v')/ln 2 w.
 * Rough Bergomi (C. Bayer, P. Friz and J. Gatheral, Quantitative Finance 16 (2016) 887): the variance of step s is
 * level[s] 2^Y_s, with Y_s = near[2 s - 2] z_(s-1) + near[2 s - 1] u_(s-1) + the sum of past[(s - 1)(s - 2)/2 + j] z_j
 * over j < s - 1: the hybrid scheme with kappa = 1 (M. Bennedsen, A. Lunde and M. Pakkanen, Finance and Stochastics 21
 * (2017) 931), for steps of any lengths. x += drift - v dt/(2 ln 2) + sqrt(v dt)/ln 2 (rho z_s + free w). level makes
 * the mean of v the average of xi over the step.
 * Jumps (R. Merton, Journal of Financial Economics 3 (1976) 125): the number N of jumps is the number of above[k]
 * that exceed a uniform number; x += N jump_mean + sqrt(N) jump_deviation z.
 * Local volatility (Euler): x += drift - sigma^2 dt/(2 ln 2) + sigma sqrt(dt)/ln 2 w, with sigma at the price and
 * time before the step. */
typedef struct option_dynamics {
  enum {
    OPTION_GEOMETRIC_BROWNIAN,
    OPTION_HESTON,
    OPTION_LOCAL_FUNCTION,
    OPTION_LOCAL_GRID,
    OPTION_ROUGH_BERGOMI
  } motion;
  double dt;
  double v, keep, pull, spread, floor, k2, k3, k4;
  double rho, free;                  /* rough Bergomi */
  const double *level, *near, *past; /* [steps], [steps][2], [steps - 1][...]; in the allocation at node */
  int jumps;                         /* numbers in `above` */
  double above[OPTION_JUMPS_MAX];    /* probability of more than k jumps in a step */
  double jump_mean, jump_deviation;
  bool jump_halves;                     /* `above` belongs to half a step, and jumps are drawn twice a step */
  const struct sim_expr_program *local; /* sigma(S, t), in the kernel's precision; t is uniform; borrowed */
  double shift;                         /* added to sigma */
  int nodes;                            /* prices of the grid; sigma is linear between them, constant outside */
  const double *node, *row; /* [nodes] prices; [steps][nodes] sigma; one allocation at node, owned by the first kind */
} option_dynamics;

/* Sets the constants of each length of a step: out[kinds * stride]. Rows of a grid of volatilities belong to the
 * first of them. `shift` is added to the volatility: to the square roots of
 * Heston's v and theta, or to sigma. `number`: of the asset from 0, for messages. SIM_ERR_SCENARIO where a parameter is
 * out of its range, SIM_ERR_NO_MEMORY. */
sim_status option_dynamics_set(const struct option_asset *asset, int number, const struct option_grid *grid,
                               double shift, int stride, option_dynamics *out) SIM_MUST_CHECK;
void option_dynamics_free(option_dynamics *dynamics);
/* Evaluates sigma(S, t), or any function of at most these two inputs, at one point. SIM_ERR_NO_MEMORY. */
sim_status option_local_vol(const struct sim_expr *expr, double price, double t, double *out) SIM_MUST_CHECK;
/* Growth rate of an asset's mean price by jumps; the drift is lowered by it. */
double option_jump_drift(const struct option_asset *asset);
/* Whether the asset is a geometric Brownian motion: `vol`, and no jumps. */
bool option_asset_is_gbm(const struct option_asset *asset);

#endif
