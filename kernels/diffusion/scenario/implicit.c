/* Rules of the linearly implicit scheme. */
#include "kernels/diffusion/diffusion.h"

sim_status diffusion_check_implicit(const diffusion_parameters *p, sim_faults *faults) {
  static const char *const path = "integrate.scheme";
  diffusion_jacobian jacobian;
  sim_expr *entries, *by_time;
  const size_t before = faults->count;
  if (!diffusion_implicit(p)) return SIM_OK;
  if (diffusion_crossed(p))
    sim_faults_add(faults, 0, path,
                   "expected lie, etd1, etdrk2 or etdrk4, because fields have cross, got rodas3: or "
                   "write cross diffusion in `flux`, which rodas3 solves too");
  if (diffusion_fluctuates(p))
    sim_faults_add(faults, 0, path,
                   "expected lie, strang, etd1, etdrk2 or etdrk4, because fields fluctuate, got "
                   "rodas3");
  if (diffusion_forced(p) != 0)
    sim_faults_add(
        faults, 0, path,
        "expected etd1, etdrk2 or etdrk4, because there is forcing, got rodas3: or write a force in `rates`");
  if (p->lyapunov.given)
    sim_faults_add(faults, 0, path,
                   "expected etd1, etdrk2 or etdrk4, because there is lyapunov, got rodas3: its "
                   "equations are not solved to the small distance of the two runs");
  if (faults->count > before || !p->rates) return SIM_OK;
  SIM_TRY(diffusion_jacobian_graph(p, &jacobian, &entries, &by_time));
  sim_expr_free(&entries);
  sim_expr_free(&by_time);
  return SIM_OK;
}
