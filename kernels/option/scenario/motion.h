/* How the price of one asset moves in a step. */
#ifndef OPTION_SCENARIO_MOTION_H
#define OPTION_SCENARIO_MOTION_H

#include "engine/status.h"
#include "kernels/option/limits.h"

#include <stdbool.h>

struct option_asset;
struct sim_expr;

#define OPTION_LOCAL_MAX 1e18 /* a local volatility is from 0 to this */

/* Constants of an asset's steps, beside drift and volatility of option_market. x is the binary logarithm of price /
 * spot, w and z are standard normals, variances are in natural logarithms.
 *
 * Heston: the quadratic-exponential scheme with the martingale correction K0* (L. Andersen, Journal of Computational
 * Finance 11 (2008) 1): v' has mean keep v + pull and variance spread v + floor; x grows by drift + (K0* - k3/2 v + k2
 * v')/ln 2 + sqrt(k3 v + k4 v')/ln 2 w.
 * Jumps (R. Merton, Journal of Financial Economics 3 (1976) 125): a uniform number is compared with above[k]; the
 * number N of jumps is how many of them it lies below; x grows by N jump_mean + sqrt(N) jump_deviation z. Local
 * volatility: x grows by drift - sigma^2 dt/(2 ln 2) + sigma sqrt(dt)/ln 2 w, where sigma is a function of the price
 * and the time before the step. */
typedef struct option_dynamics {
  enum { OPTION_GEOMETRIC_BROWNIAN, OPTION_HESTON, OPTION_LOCAL_FUNCTION, OPTION_LOCAL_GRID } motion;
  double dt;
  double v, keep, pull, spread, floor, k2, k3, k4;
  int jumps;                      /* numbers in `above` */
  double above[OPTION_JUMPS_MAX]; /* probability of more than k jumps in a step */
  double jump_mean, jump_deviation;
  bool jump_halves;                     /* `above` belongs to half a step, and jumps are drawn twice */
  const struct sim_expr_program *local; /* sigma(S, t), in the kernel's precision; t is uniform; borrowed */
  double shift;                         /* added to sigma */
  int nodes;                            /* prices of the grid; sigma is linear between them, constant outside */
  const double *node, *row;             /* [nodes] prices; [steps][nodes] sigma; owned, one allocation at node */
} option_dynamics;

/* Fills the constants of `steps` steps of length dt; `shift` is added to the volatility: to Heston's square roots of v
 * and theta, or to sigma. SIM_ERR_NO_MEMORY. */
sim_status option_dynamics_set(const struct option_asset *asset, int steps, double dt, double shift,
                               option_dynamics *out) SIM_MUST_CHECK;
void option_dynamics_free(option_dynamics *dynamics);
/* Evaluates sigma(S, t), or any function of at most these two numbers. SIM_ERR_NO_MEMORY. */
sim_status option_local_vol(const struct sim_expr *expr, double price, double t, double *out) SIM_MUST_CHECK;
/* Rate by which jumps raise the mean of an asset's price; the drift is lowered by it. */
double option_jump_drift(const struct option_asset *asset);
/* Whether the asset is a geometric Brownian motion: `vol` without jumps. */
bool option_asset_is_gbm(const struct option_asset *asset);

#endif
