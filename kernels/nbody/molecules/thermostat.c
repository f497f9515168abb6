/* Steps with a thermostat. */
#include "kernels/nbody/run.h"

#include "engine/expr/math.h"

#include <math.h>

double nbody_freedoms(const nbody_run *run) {
  const double all = 3 * (double)run->massive;
  const bool kept = run->laws.external == NULL && !(run->thermostat.given && run->thermostat.kind == NBODY_LANGEVIN);
  return kept && run->massive > 1 ? all - 3 : all;
}

sim_status nbody_bath_check(const nbody_parameters *p, const nbody_bodies *bodies) {
  double mass = 0, twice = 0, momentum[3] = {0};
  if (!p->thermostat.given) return SIM_OK;
  for (int64_t i = 0; i < bodies->n; i++) {
    if (!(bodies->mass[i] > 0))
      return sim_fail(SIM_ERR_SCENARIO, "thermostat: expected masses above 0, got %.9g of body %lld", bodies->mass[i],
                      (long long)i);
    mass += bodies->mass[i];
    for (int c = 0; c < 3; c++) {
      const double v = bodies->velocity[c][i];
      twice += bodies->mass[i] * v * v;
      momentum[c] += bodies->mass[i] * v;
    }
  }
  if (p->thermostat.kind != NBODY_NOSE_HOOVER) return SIM_OK;
  if (!(twice > 0))
    return sim_fail(
        SIM_ERR_SCENARIO,
        "thermostat: nose_hoover scales velocities, and all are 0: expected a temperature of the start, such "
        "as sim.lattice { temperature = ... }");
  double drift = 0; /* twice the kinetic energy of the centre of mass */
  for (int c = 0; c < 3; c++) drift += momentum[c] * momentum[c] / mass;
  if (p->external != NULL || bodies->n < 2 || drift <= 1e-6 * twice) return SIM_OK;
  return sim_fail(
      SIM_ERR_SCENARIO,
      "thermostat: nose_hoover would count the motion of the centre of mass, %.3g of the kinetic energy, as "
      "heat: expected bodies without total momentum, or kind = \"langevin\"",
      drift / twice);
}

/* ---- Langevin: half a kick, half a drift, friction and noise, half a drift, half a kick ---- */

static void langevin(nbody_run *run, const sim_clock *clock, double dt) {
  const nbody_ops *ops = run->ops;
  const nbody_thermostat *t = &run->thermostat;
  const double keep = lane_exp(-t->friction * dt);
  const nbody_bath bath = {
      .keep = keep, .noise = sqrt(t->temperature * (1 - keep * keep)), .seed = run->seed, .step = clock->step + 1};
  ops->kick_drift(run->work, 0.5 * dt, 0.5 * dt);
  run->bath[NBODY_HEAT] += ops->bathe(run->work, &bath);
  ops->drift(run->work, 0.5 * dt);
  ops->force(run->work, clock->t + dt);
  ops->kick(run->work, 0.5 * dt);
}

/* ---- chain of Nose and Hoover: half a step of the chain, kick, drift, kick, half a step of the chain ---- */

/* Inertia of link k: freedoms k T time^2 for the first one, k T time^2 for the others. */
static double inertia(const nbody_run *run, int k) {
  const nbody_thermostat *t = &run->thermostat;
  return (k == 0 ? nbody_freedoms(run) : 1) * t->temperature * t->time * t->time;
}

/* Kicks link k by a quarter of a step; the next link damps it before and after. twice: 2 K of the bodies. */
static void kick_link(nbody_run *run, int k, double twice, double dt) {
  double *const v = run->bath + NBODY_CHAIN_VELOCITY;
  const double kT = run->thermostat.temperature;
  const double damp = k + 1 < NBODY_CHAIN ? lane_exp(-v[k + 1] * dt / 8) : 1;
  const double drive = k == 0 ? twice - nbody_freedoms(run) * kT : inertia(run, k - 1) * v[k - 1] * v[k - 1] - kT;
  v[k] = (v[k] * damp + drive / inertia(run, k) * dt / 4) * damp;
}

static void half_chain(nbody_run *run, double dt) {
  double *const v = run->bath + NBODY_CHAIN_VELOCITY, *const x = run->bath + NBODY_CHAIN_POSITION;
  double twice = 2 * run->ops->kinetic(run->work);
  for (int k = NBODY_CHAIN - 1; k >= 0; k--) kick_link(run, k, twice, dt);
  const double scale = lane_exp(-v[0] * dt / 2);
  (void)run->ops->bathe(run->work, &(nbody_bath){.keep = scale});
  twice *= scale * scale;
  for (int k = 0; k < NBODY_CHAIN; k++) x[k] += v[k] * dt / 2;
  for (int k = 0; k < NBODY_CHAIN; k++) kick_link(run, k, twice, dt);
}

void nbody_bathed_step(nbody_run *run, const sim_clock *clock, double dt) {
  const nbody_ops *ops = run->ops;
  if (run->thermostat.kind == NBODY_LANGEVIN) {
    langevin(run, clock, dt);
    return;
  }
  half_chain(run, dt);
  ops->kick_drift(run->work, 0.5 * dt, dt);
  ops->force(run->work, clock->t + dt);
  ops->kick(run->work, 0.5 * dt);
  half_chain(run, dt);
}

double nbody_bath_energy(const nbody_run *run) {
  const double *const x = run->bath + NBODY_CHAIN_POSITION, *const v = run->bath + NBODY_CHAIN_VELOCITY;
  const double kT = run->thermostat.temperature;
  if (!run->thermostat.given) return 0;
  if (run->thermostat.kind == NBODY_LANGEVIN) return -run->bath[NBODY_HEAT];
  double sum = 0;
  for (int k = 0; k < NBODY_CHAIN; k++)
    sum += 0.5 * inertia(run, k) * v[k] * v[k] + (k == 0 ? nbody_freedoms(run) : 1) * kT * x[k];
  return sum;
}
