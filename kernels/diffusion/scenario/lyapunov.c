/* The largest Lyapunov exponent: keys and rules. */
#include "kernels/diffusion/diffusion.h"

#include <math.h>

static const sim_field fields[] = {
    {SIM_FIELD(diffusion_lyapunov, every), .type = SIM_REAL, .flags = SIM_REQUIRED | SIM_RANGE | SIM_MIN_OPEN,
     .max = INFINITY, .dimension = {0, 0, 1},
     .doc = "time between two resets of the distance, rounded to steps: about the time in which it grows ten times"},
    {SIM_FIELD(diffusion_lyapunov, size), .type = SIM_REAL, .flags = SIM_RANGE, .min = 1e-9, .max = 1e-4,
     .initial = "1e-7", .doc = "distance to which the second run is reset, over the root mean square of all fields"},
    {SIM_FIELD(diffusion_lyapunov, start), .type = SIM_REAL, .flags = SIM_RANGE, .max = INFINITY, .initial = "0",
     .dimension = {0, 0, 1},
     .doc = "time from which intervals are averaged: when the flow, and the direction of the difference, have settled"},
    {0}};
const sim_schema diffusion_lyapunov_schema = {
    .doc = "largest Lyapunov exponent", .fields = fields, .size = sizeof(diffusion_lyapunov)};

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
