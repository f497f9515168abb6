/* Inside of the graph of payoffs. */
#ifndef OPTION_PAYOFF_H
#define OPTION_PAYOFF_H

#include "kernels/option/option.h"

/* Remembers its first failure; calls after it do nothing. */
typedef struct option_maker {
  sim_expr_builder *builder;
  sim_status status;
  option_graph *graph;
  const option_market *market;
  bool tangents;
  sim_expr_ref feature[OPTION_FEATURES_MAX]; /* of graph->feature */
} option_maker;
sim_expr_ref option_call(option_maker *maker, sim_expr_op op, sim_expr_ref a, sim_expr_ref b, sim_expr_ref c);
sim_expr_ref option_number(option_maker *maker, double value);
/* The input of a feature. */
sim_expr_ref option_see(option_maker *maker, option_feature feature);

/* Adds outputs for deltas and gammas where they come from the graph; the others are left -1: by bumps. */
void option_make_greeks(option_maker *maker, const option_parameters *p, sim_expr_ref *refs);

#endif
