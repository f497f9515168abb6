/* Rules of the largest Lyapunov exponent. */
#include "kernels/diffusion/diffusion.h"

void diffusion_check_lyapunov(const diffusion_parameters *p, sim_faults *faults) {
  const diffusion_lyapunov *l = &p->lyapunov;
  const diffusion_integrate *i = &p->integrate;
  if (!l->given) return;
  if (!p->rates || i->scheme < DIFFUSION_ETD1)
    sim_faults_add(faults, 0, "integrate.scheme",
                   "expected etd1, etdrk2 or etdrk4%s, because there is lyapunov, got %s",
                   p->rates ? "" : ", and rates (0 times a field at least)", diffusion_methods[i->scheme].name);
  if (diffusion_adaptive(p)) sim_faults_add(faults, 0, "integrate.dt", "expected a number, because there is lyapunov");
  if (diffusion_single(p)) sim_faults_add(faults, 0, "precision", "expected \"double\", because there is lyapunov");
  if (p->members > 1) sim_faults_add(faults, 0, "members", "expected 1, because there is lyapunov");
  if (!(l->start + l->every <= i->t_end))
    sim_faults_add(faults, 0, "lyapunov.every", "expected an interval between start = %g and t_end = %g, got %g",
                   l->start, i->t_end, l->every);
}
