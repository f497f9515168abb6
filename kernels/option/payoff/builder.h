/* Builder of the payoff graph. It keeps its first error; calls after an error do nothing. */
#ifndef OPTION_PAYOFF_BUILDER_H
#define OPTION_PAYOFF_BUILDER_H

#include "kernels/option/payoff/graph.h"

typedef struct option_builder {
  sim_expr_builder *builder;
  sim_status status;
  option_graph *graph;
  const option_market *market;
  bool tangents;
  sim_expr_ref feature[OPTION_FEATURES_MAX]; /* inputs of the expression, in the order of graph->feature */
} option_builder;

sim_expr_ref option_builder_call(option_builder *builder, sim_expr_op op, sim_expr_ref a, sim_expr_ref b,
                                 sim_expr_ref c);
sim_expr_ref option_builder_number(option_builder *builder, double value);
/* The input of a feature; adds the feature to the graph where it is new. */
sim_expr_ref option_builder_feature(option_builder *builder, option_feature feature);

/* greeks.c: adds the outputs of the Greeks that the graph itself gives. The others stay -1 and come from bumped
 * markets. */
void option_add_greeks(option_builder *builder, const option_parameters *p, sim_expr_ref *refs);

#endif
