/* Builder of the payoff graph. It keeps its first error; calls after an error do nothing. */
#ifndef OPTION_PAYOFF_BUILDER_H
#define OPTION_PAYOFF_BUILDER_H

#include "kernels/option/payoff/graph.h"

typedef struct option_builder {
  sim_expr_builder *builder;
  sim_status status;
  option_graph *graph;
  const option_parameters *p;
  const option_market *market;
  bool tangents;
  sim_expr_ref feature[OPTION_FEATURES_MAX]; /* inputs of the expression, in the order of graph->feature */
} option_builder;

sim_expr_ref option_builder_call(option_builder *builder, sim_expr_op op, sim_expr_ref a, sim_expr_ref b,
                                 sim_expr_ref c);
sim_expr_ref option_builder_number(option_builder *builder, double value);
/* The input of a feature; adds the feature to the graph where it is new. */
sim_expr_ref option_builder_feature(option_builder *builder, option_feature feature);

/* schedule.c: the number of the step that ends at t; 0 < t <= maturity is a date of the run. */
int option_steps_until(const option_market *market, double t);
/* Numbers of the steps at whose ends a payoff (o NULL: the scenario's function) observes prices, ascending:
 * out[p->nodes]. Returns their count. */
int option_observations(const option_parameters *p, const option_market *market, const option_payoff *o, int *out);
/* The count alone, of a named payoff. */
int option_observation_count(const option_parameters *p, const option_payoff *o);
/* The same of early exercise or an autocallable: every `every`-th. */
int option_dates(const option_parameters *p, const option_market *market, const option_payoff *o, int *out);
/* The input of a feature of the prices that the payoff observes; of OPTION_HIGH and OPTION_LOW until its maturity. */
sim_expr_ref option_observed(option_builder *builder, option_kind kind, int asset, const option_payoff *o);
/* The probability that the payoff's level is not reached until its maturity. */
sim_expr_ref option_survival(option_builder *builder, option_kind kind, int asset, const option_payoff *o);
/* The price at the end of a step. */
sim_expr_ref option_price_at(option_builder *builder, int asset, int step);
void option_schedules_free(option_graph *graph);

/* payoff.c: what a payoff of option_payoff_is_timed pays: an autocallable, carried to its maturity by the discount
 * factors of builder->market, or a swap over the time that it has there. */
sim_expr_ref option_timed(option_builder *builder, const sim_item *item);

/* greeks.c: adds the outputs of the Greeks that the graph itself gives. The others stay -1 and come from bumped
 * markets. */
void option_add_greeks(option_builder *builder, const option_parameters *p, sim_expr_ref *refs);

#endif
