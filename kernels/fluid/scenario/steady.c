/* Running means, and the condition that ends a run whose flow is steady. */
#include "kernels/fluid/heat.h"

#include "engine/expr/expr.h"

#include <math.h>

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
  if (p->common.stop_when) sim_faults_add(faults, 0, "steady", "expected one of steady and stop_when, got both");
  if (tables == SIM_NEVER || tables == SIM_EVERY_WALL)
    sim_faults_add(faults, 0, "steady", "reads rows of the table `flow`: output.tables must be %s",
                   tables == SIM_NEVER ? "given" : "in steps or in simulated time");
  if (p->heat.given && fluid_has_flux(p))
    sim_faults_add(faults, 0, "steady", "heat that enters at a given `flux` is not supported");
  if (fluid_moves(p)) sim_faults_add(faults, 0, "steady", "a flow around bodies that move is not steady");
  if (p->grains.count > 0) sim_faults_add(faults, 0, "steady", "a flow with grains is not supported");
  return faults->count == before ? make_condition(p->steady, &p->common.stop_when) : SIM_OK;
}
