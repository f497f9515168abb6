/* Running means, and the condition that ends a run whose flow is steady. */
#include "kernels/fluid/heat.h"
#include "kernels/fluid/scenario/rules.h"

#include "engine/expr/expr.h"

#include <math.h>
#include <string.h>

/* change < steady, as if the scenario had `stop_when = function(o) return sim.lt(o.change, steady) end`. */
static sim_status make_condition(double steady, sim_expr **out) {
  sim_expr_builder *b;
  sim_expr_ref sides[2], holds;
  SIM_TRY(sim_expr_builder_create(&b));
  sim_status status = sim_expr_builder_input(b, "change", &sides[0]);
  if (status == SIM_OK) status = sim_expr_builder_number(b, steady, &sides[1]);
  if (status == SIM_OK) status = sim_expr_builder_call(b, SIM_EXPR_LT, sides, &holds);
  if (status == SIM_OK) status = sim_expr_builder_finish(b, &holds, (const char *const[]){"result"}, 1, out);
  sim_expr_builder_free(&b);
  return status;
}

/* Whether two functions have the same text: the parameters of a checkpoint have the condition that is made here. */
static sim_status are_same(const sim_expr *a, const sim_expr *b, bool *same) {
  sim_bytes text[2] = {{0}, {0}};
  sim_status status = sim_expr_text(a, &text[0]);
  if (status == SIM_OK) status = sim_expr_text(b, &text[1]);
  *same = status == SIM_OK && text[0].size == text[1].size && memcmp(text[0].data, text[1].data, text[0].size) == 0;
  for (int i = 0; i < 2; i++) sim_bytes_free(&text[i]);
  return status;
}

void fluid_check_average(const fluid_parameters *p, sim_faults *faults) {
  if (!p->average.given) return;
  if (p->average.from > p->integrate.t_end)
    sim_faults_add(faults, 0, "average.from", "expected at most integrate.t_end = %.6g, got %.6g", p->integrate.t_end,
                   p->average.from);
  if (p->grains.count > 0) sim_faults_add(faults, 0, "average", "a flow with grains is not supported");
  if (fluid_moves(p)) sim_faults_add(faults, 0, "average", "bodies that move are not supported");
}

sim_status fluid_check_steady(fluid_parameters *p, sim_faults *faults) {
  const size_t before = faults->count;
  const sim_cadence_kind tables = p->common.output.tables.kind;
  if (isnan(p->steady)) return SIM_OK;
  if (tables == SIM_NEVER || tables == SIM_EVERY_WALL)
    sim_faults_add(faults, 0, "steady", "reads rows of the table `flow`: output.tables must be %s",
                   tables == SIM_NEVER ? "given" : "in steps or in simulated time");
  if (p->heat.given && fluid_has_flux(p))
    sim_faults_add(faults, 0, "steady", "heat that enters at a given `flux` is not supported");
  if (fluid_moves(p)) sim_faults_add(faults, 0, "steady", "a flow around bodies that move is not steady");
  if (p->grains.count > 0) sim_faults_add(faults, 0, "steady", "a flow with grains is not supported");
  if (faults->count != before) return SIM_OK;
  sim_expr *own = NULL;
  bool same = !p->common.stop_when;
  sim_status status = make_condition(p->steady, &own);
  if (status == SIM_OK && !same) status = are_same(own, p->common.stop_when, &same);
  if (status == SIM_OK && !same) sim_faults_add(faults, 0, "steady", "expected one of steady and stop_when, got both");
  if (status != SIM_OK || p->common.stop_when)
    sim_expr_free(&own);
  else
    p->common.stop_when = own;
  return status;
}
