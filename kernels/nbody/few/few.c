#include "kernels/nbody/few/few.h"

const nbody_few *nbody_few_of(int scheme) {
  return scheme == NBODY_IAS15 ? &nbody_ias15 : scheme == NBODY_WHFAST ? &nbody_whfast : NULL;
}

sim_status nbody_few_step(nbody_run *run, sim_clock *clock) {
  double after;
  SIM_TRY(nbody_check_pace(run, clock));
  SIM_TRY(run->few->step(run, clock, &after));
  clock->step++;
  clock->dt = after - clock->t;
  clock->t = run->few_time = after;
  run->few_shown = false;
  return SIM_OK;
}

sim_status nbody_few_show(nbody_run *run) {
  if (run->few == NULL || run->few_shown) return SIM_OK;
  SIM_TRY(run->few->show(run, run->few_time));
  run->few_shown = true;
  return SIM_OK;
}

sim_status nbody_few_diverged(const nbody_run *run, double t) {
  return sim_fail(SIM_ERR_DIVERGED,
                  "%s: a force is not finite in the step from t = %.17g: two bodies are at one point, or an external "
                  "force is not finite there",
                  run->few->name, t);
}
