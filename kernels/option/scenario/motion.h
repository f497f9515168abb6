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
/* log2(price / spot) from which on downwards a price is 0 where its local volatility is above OPTION_LOCAL_MAX, as
 * a/S^k is there: from then on that counts as 0, so that the price stays. Its mean is right, and it comes back to K
 * with a chance of at most 2^-60 spot/K. Twin: cuda/paths/step.cuh. */
#define OPTION_LOCAL_ZERO (-60)

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
 * time before the step; 0 where OPTION_LOCAL_ZERO says so.
 * SABR: f = F/spot, F the price over its growth; df = sigma f^beta dW, dsigma = nu sigma dZ, sigma exact at the steps,
 * f ended at 0. With h = nu sqrt(dt), s = sigma f^(beta - 1) sqrt(dt), the deviation of a step, psi = s^2 (exp(h^2) -
 * 1)/h^2, z the normal of sigma and w another one:
 * psi < far_from_zero: log(1 + beta (f'/f - 1)) is A z + B z^2 - C + beta sqrt(J) w - beta^2 J/2, the displaced
 * lognormal law whose slope is that of f^beta, with A = beta rho s - (beta rho s)^2 h/2 and B = beta rho s h/2 of the
 * stochastic integral rho sigma dZ to second order in h, C the logarithm of the mean of exp(A z + B z^2), and J the
 * integral of (1 - rho^2) sigma^2 f^(2 beta - 2) by the two ends of the step, with its mean right. beta = 0: 1 + rho s
 * (z + h (z^2 - 1)/2) + sqrt(J) w.
 * else: f'/f = scale max(b + rho z + sqrt(1 - rho^2) w, 0)^(1/(1 - beta)), with b and scale such that mean and variance
 * are those of the process with sigma constant, which ends at 0.
 * Both have f's mean exactly. Errors are of weak order 1, by the correlation of f and sigma within a step and the law
 * near 0.
 * Local-stochastic volatility: dS/S = growth dt + L(S, t) sqrt(v) dW with Heston's v, and L of the beginning of each
 * step: Heston's scheme with k2 = L link - L^2 dt/4, k3 = k4 = L^2 times Heston's k3. L is linear in x between nodes.
 */
typedef struct option_dynamics {
  enum {
    OPTION_GEOMETRIC_BROWNIAN,
    OPTION_HESTON,
    OPTION_LOCAL_FUNCTION,
    OPTION_LOCAL_GRID,
    OPTION_ROUGH_BERGOMI,
    OPTION_SABR,
    OPTION_LEVERAGE
  } motion;
  double dt;
  double v, keep, pull, spread, floor, k2, k3, k4;
  double link;                                                  /* (1 + kappa g) rho/sigma of Heston */
  double rho, free;                                             /* rough Bergomi and SABR */
  double beta, noise, mean_square, far_from_zero, power, first; /* SABR; noise: h; power: 1/(1 - beta) */
  int fineness, cells; /* of the table at node: [cells][2][4], cubics of b and log2 of scale in log2 psi from `first` */
  const double *level, *near, *past; /* [steps], [steps][2], [steps - 1][...]; in the allocation at node */
  int begun; /* steps before the first one, of paths that begin later: level, near, past and row count them */
  int jumps; /* numbers in `above` */
  double above[OPTION_JUMPS_MAX]; /* probability of more than k jumps in a step */
  double jump_mean, jump_deviation;
  bool jump_halves;                     /* `above` belongs to half a step, and jumps are drawn twice a step */
  const struct sim_expr_program *local; /* sigma(S, t), in the kernel's precision; t is uniform; borrowed */
  double shift;                         /* added to sigma */
  int nodes;                            /* prices of the grid; sigma is linear between them, constant outside */
  const double *node, *row; /* [nodes] prices; [steps][nodes] sigma; one allocation at node, owned by the first kind */
  /* Of a leverage, row: [steps][nodes], each row the first x, the inverse distance of two, and L at
   * OPTION_LEVERAGE_NODES values of x. nodes: OPTION_LEVERAGE_NODES + 2, and `node` holds nothing. Zero until
   * option_leverage_calibrate. */
} option_dynamics;

/* Sets the constants of each length of a step: out[kinds * stride]. Rows of a grid of volatilities belong to the
 * first of them. `spot`: of the market. `shift` is added to the volatility: to the square roots of
 * Heston's v and theta, or to sigma. `number`: of the asset from 0, for messages. SIM_ERR_SCENARIO where a parameter is
 * out of its range, SIM_ERR_NO_MEMORY. */
sim_status option_dynamics_set(const struct option_asset *asset, int number, const struct option_grid *grid,
                               double spot, double shift, int stride, option_dynamics *out) SIM_MUST_CHECK;
void option_dynamics_free(option_dynamics *dynamics);
/* Evaluates sigma(S, t), or any function of at most these two inputs, at one point. SIM_ERR_NO_MEMORY. */
sim_status option_local_vol(const struct sim_expr *expr, double price, double t, double *out) SIM_MUST_CHECK;
/* Volatilities that `local_vol` or `vol_grid` gives at `count` prices and one time: out[count]. SIM_ERR_NO_MEMORY. */
sim_status option_surface(const struct option_asset *asset, const double *price, int count, double t,
                          double *out) SIM_MUST_CHECK;
/* Growth rate of an asset's mean price by jumps; the drift is lowered by it. */
double option_jump_drift(const struct option_asset *asset);
/* Whether prices grow in proportion to the spot: neither sabr nor a local volatility. */
bool option_asset_is_scaled(const struct option_asset *asset);
/* Whether the asset is a geometric Brownian motion: `vol`, and no jumps. */
bool option_asset_is_gbm(const struct option_asset *asset);

#endif
