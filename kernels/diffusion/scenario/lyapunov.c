/* Rules of the largest Lyapunov exponent. */
#include "kernels/diffusion/diffusion.h"

#include <math.h>

int64_t diffusion_growth_steps(const diffusion_lyapunov *l, double h) {
  return (int64_t)fmax(1, round(fmin(l->every / h, 0x1p52)));
}

/* Whether a whole interval lies between `start` and the end. Intervals begin at multiples of their number of steps. */
static bool has_interval(const diffusion_parameters *p) {
  const double h = diffusion_dt(&p->integrate), time = (double)diffusion_growth_steps(&p->lyapunov, h) * h;
  return (ceil(p->lyapunov.start * (1 - 1e-9) / time) + 1) * time <= p->integrate.t_end * (1 + 1e-9);
}

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
  if (i->dt > 0 && !diffusion_adaptive(p) && !has_interval(p))
    sim_faults_add(faults, 0, "lyapunov.every",
                   "expected an interval between start = %g and t_end = %g, got %g: intervals begin at its multiples",
                   l->start, i->t_end, l->every);
  for (int f = 0; f < (int)p->fields.count && faults->count == 0; f++) /* states are stored without these */
    if (diffusion_lift_of(p, f).axis >= 0)
      sim_faults_add(faults, p->fields.items[f].line, "lyapunov", "expected values and slopes of 0 at the walls of %s",
                     diffusion_field_of(p, f)->name);
}
