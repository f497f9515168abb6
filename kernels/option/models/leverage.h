/* Leverage function of a local-stochastic volatility: L(S, t)^2 = sigma(S, t)^2 / E[v | S_t = S] (J. Guyon and P.
 * Henry-Labordere, Risk, January 2012), sigma the local volatility that is to be reproduced. */
#ifndef OPTION_MODELS_LEVERAGE_H
#define OPTION_MODELS_LEVERAGE_H

#include "kernels/option/scenario/market.h"

enum {
  OPTION_BINS = 512, /* of x, over 12 deviations */
  OPTION_MATURITIES = 3,
  OPTION_STRIKES = 5, /* of each maturity */
  OPTION_QUOTES = OPTION_MATURITIES * OPTION_STRIKES
};

/* Particles of one step on equidistant values of x: weights of each value, and sums of weight v. A particle between two
 * values counts at both, by its distances (linear binning). */
typedef struct option_bins {
  double first, spacing; /* of x */
  double weight[OPTION_BINS], sum[OPTION_BINS];
} option_bins;

/* Values of x at which a step has its leverage: mean and deviation of x at its beginning. */
typedef struct option_leverage_nodes {
  double first, spacing; /* spacing 0: all particles have the same x */
} option_leverage_nodes;
option_leverage_nodes option_leverage_nodes_of(double mean, double deviation);

/* Estimates E[v | x] at the nodes: out[OPTION_LEVERAGE_NODES]. Local linear regression with the quartic kernel (J. Fan
 * and I. Gijbels, Local Polynomial Modelling, 1996), 2.6 deviations n^(-1/5) wide, or wider until 200 of the n
 * particles are within. Constant beyond the outermost 32 particles; *from, *to: nodes between these. */
void option_leverage_regress(const option_bins *bins, double particles, double deviation,
                             const option_leverage_nodes *nodes, double *out, int *from, int *to);

/* Calls at some strikes and maturities: by the local volatility, and by the model as it was calibrated. */
typedef struct option_quote {
  int step; /* at whose end it pays */
  double time, strike;
  double forward;      /* mean of the price */
  double local, model; /* implied volatilities */
  double error;        /* standard error of `model` */
} option_quote;

/* Chooses the quotes at quarters, halves and the whole of the steps, one deviation and a half of it around the
 * forward, and sets `local` by Dupire's forward equation, to 1e-4. Errors: SIM_ERR_DIVERGED where the local volatility
 * is invalid, SIM_ERR_NO_MEMORY. */
sim_status option_leverage_quotes(const option_parameters *p, const option_market *market, int asset,
                                  option_quote out[OPTION_QUOTES]) SIM_MUST_CHECK;
/* Sets `model` and `error` from the mean of max(S/F - strike/F, 0), F the forward, and its standard error. */
void option_leverage_set_model(option_quote *quote, double mean, double error);
/* The failure of a local volatility below 0 or not finite. */
sim_status option_leverage_invalid(int asset, double price, double t, double sigma) SIM_MUST_CHECK;

#endif
