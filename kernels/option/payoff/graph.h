/* All payoffs of a run as one expression graph of path features, not discounted. */
#ifndef OPTION_PAYOFF_GRAPH_H
#define OPTION_PAYOFF_GRAPH_H

#include "kernels/option/payoff/names.h"
#include "kernels/option/payoff/schedule.h"
#include "kernels/option/scenario/market.h"

/* A parameter by which paths are differentiated. */
typedef struct option_sensitivity {
  int greek, asset;
} option_sensitivity;

/* A payoff max(sign (feature - strike), 0); sign 0: not of this form. */
typedef struct option_plain {
  int feature;
  double sign, strike;
} option_plain;

/* Outputs are numbered from 0; -1: none. */
typedef struct option_graph {
  sim_expr *expr; /* owned; inputs: features; outputs: the payoffs first */
  option_feature feature[OPTION_FEATURES_MAX];
  int features, payoffs, outputs;
  option_schedule schedule[OPTION_SCHEDULES_MAX]; /* marks owned */
  int schedules;
  uint64_t joint; /* bit a: an output depends on both maximum and minimum of asset a, which are then drawn jointly */
  option_plain plain[OPTION_PAYOFFS_MAX];
  int end[OPTION_PAYOFFS_MAX];     /* [payoffs], number of the step, from 1, that ends at the payment */
  int control[OPTION_PAYOFFS_MAX]; /* [payoffs], output of the control variate */
  int delta[OPTION_PAYOFFS_MAX][OPTION_ASSETS_MAX], gamma[OPTION_PAYOFFS_MAX][OPTION_ASSETS_MAX];
  option_sensitivity tangent[OPTION_TANGENTS_MAX]; /* parameters of the features' derivatives */
  int tangents;
  /* Outputs of vega, rho and theta along the paths, and of second derivatives in market 0 by option_greek_place; of
   * charm minus it. */
  int slope[OPTION_PAYOFFS_MAX][OPTION_GREEKS][OPTION_ASSETS_MAX];
  /* The payoff in the markets of rho's, theta's and charm's differences, with the bump and with its opposite. It is the
   * payoff itself but for those of option_payoff_is_timed. */
  int bumped[OPTION_PAYOFFS_MAX][OPTION_GREEKS][2];
  int scored[OPTION_PAYOFFS_MAX][OPTION_GREEKS]
            [2]; /* delta by the first step's density in vanna's and charm's markets */
  int timed[OPTION_PAYOFFS_MAX][OPTION_LADDER_MAX];        /* the payoff where it is later, by the ladder's times */
  double deviation[OPTION_PAYOFFS_MAX][OPTION_ASSETS_MAX]; /* of option_deviations; with Greeks */
  int control_slope[OPTION_GREEKS][OPTION_ASSETS_MAX];     /* the same of the first payoff's discounted control */
} option_graph;

/* Builds the graph; freed by option_graph_free. `tangents`: vega, rho and theta come from derivatives along the
 * paths where possible. SIM_ERR_SCENARIO where the payoffs need too many features or outputs, SIM_ERR_NO_MEMORY. */
sim_status option_graph_create(const option_parameters *p, const option_market *market, bool tangents,
                               option_graph *out) SIM_MUST_CHECK;
void option_graph_free(option_graph *graph);
/* Mean of a payoff's control variate in a market, not discounted. */
double option_control_mean(const option_parameters *p, const option_market *market, int payoff);

#endif
