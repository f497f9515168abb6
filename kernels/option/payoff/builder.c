#include "kernels/option/payoff/builder.h"

#include <stdio.h>

sim_expr_ref option_builder_call(option_builder *m, sim_expr_op op, sim_expr_ref a, sim_expr_ref b, sim_expr_ref c) {
  sim_expr_ref out = 0;
  if (m->status == SIM_OK) m->status = sim_expr_builder_call(m->builder, op, (const sim_expr_ref[]){a, b, c}, &out);
  return out;
}

sim_expr_ref option_builder_number(option_builder *m, double value) {
  sim_expr_ref out = 0;
  if (m->status == SIM_OK) m->status = sim_expr_builder_number(m->builder, value, &out);
  return out;
}

sim_expr_ref option_builder_feature(option_builder *m, option_feature feature) {
  option_graph *g = m->graph;
  for (int f = 0; f < g->features; f++) {
    const option_feature *known = &g->feature[f];
    if (known->kind == feature.kind && known->asset == feature.asset && known->step == feature.step &&
        known->level == feature.level && known->tangent == feature.tangent && known->schedule == feature.schedule)
      return m->feature[f];
  }
  if (m->status == SIM_OK && g->features == OPTION_FEATURES_MAX)
    m->status = sim_fail(SIM_ERR_SCENARIO, "the payoffs need more than %d numbers of a path", OPTION_FEATURES_MAX);
  if (m->status != SIM_OK) return 0;
  char name[16];
  snprintf(name, sizeof name, "f%d", g->features);
  m->status = sim_expr_builder_input(m->builder, name, &m->feature[g->features]);
  g->feature[g->features] = feature;
  return m->feature[g->features++];
}
