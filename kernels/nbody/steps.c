/* One step of each scheme, written with the operations, and the length of steps. */
#include "kernels/nbody/few/few.h"

#include "kernels/nbody/physics.h"

#include "engine/log.h"

#include <inttypes.h>
#include <math.h>

/* Kick, drift, kick: the force at the end is the first of the next step. */
static void leapfrog(const nbody_ops *ops, nbody_work *work, double t, double dt) {
  ops->kick_drift(work, 0.5 * dt, dt);
  ops->force(work, t + dt);
  ops->kick(work, 0.5 * dt);
}

/* Three leapfrog steps; adjacent kicks are merged. */
static void yoshida4(const nbody_ops *ops, nbody_work *work, double t, double dt) {
  const double w1 = NBODY_YOSHIDA_W1 * dt, w0 = NBODY_YOSHIDA_W0 * dt;
  ops->kick_drift(work, 0.5 * w1, w1);
  ops->force(work, t + w1);
  ops->kick_drift(work, 0.5 * (w1 + w0), w0);
  ops->force(work, t + w1 + w0);
  ops->kick_drift(work, 0.5 * (w0 + w1), w1);
  ops->force(work, t + dt);
  ops->kick(work, 0.5 * w1);
}

/* Predict, evaluate, correct, and evaluate at the corrected state. Without the second evaluation a step costs half, but
 * the error in a Kepler orbit is twelve times larger at 128 steps an orbit. */
static void hermite4(const nbody_ops *ops, nbody_work *work, double t, double dt) {
  ops->hermite_predict(work, dt);
  ops->force(work, t + dt);
  ops->hermite_correct(work, dt);
  ops->force(work, t + dt);
  ops->finish(work);
}

/* Kick, drift, kick from scale factor a to b, with the exact integrals of dt/a and dt/a^2 (T. Quinn et al. (1997),
 * astro-ph/9710043). The halves of the step meet at equal ratios of a. The integral over a of K/a^2, the peculiar
 * kinetic energy, is by the trapezoidal rule, which is exact while K grows as a^3. */
static void expanding_leapfrog(nbody_run *run, double a, double b) {
  const nbody_expansion *e = &run->expansion;
  const double middle = sqrt(a * b), before = run->controller[NBODY_KINETIC_NOW];
  run->ops->kick_drift(run->work, nbody_kick_factor(e, a, middle), nbody_drift_factor(e, a, b));
  run->ops->force(run->work, b);
  run->ops->kick(run->work, nbody_kick_factor(e, middle, b));
  const double after = run->ops->kinetic(run->work);
  run->controller[NBODY_KINETIC_NOW] = after;
  run->controller[NBODY_KINETIC_INTEGRAL] += 0.5 * (b - a) * (before / (a * a) + after / (b * b));
}

sim_status nbody_check_solver(const nbody_run *run, int64_t step) {
  const nbody_forces *forces = &run->forces;
  const sim_status status = forces->solver->check != NULL ? forces->solver->check(forces->work) : SIM_OK;
  if (status == SIM_ERR_DIVERGED) SIM_TRY(nbody_name_infinite(run, step));
  return status;
}

/* ---- individual steps ---- */

/* Warns once where some bodies want a step shorter than the shortest. */
static void warn_of_long_steps(nbody_run *run, const nbody_histogram *now, double t, double dt) {
  const int levels = (int)run->integrate.levels;
  if (run->counts.warned || now->bodies[levels + 1] == 0) return;
  run->counts.warned = true;
  sim_log(SIM_LOG_WARN,
          "at t = %.9g %" PRId64 " of %" PRId64 " bodies want a step below %.3g, the shortest one: they make that, and "
          "their error is larger than integrate.eta = %.3g means; set integrate.levels above %d, or a shorter dt",
          t, now->bodies[levels + 1], run->n, ldexp(dt, -levels), run->integrate.eta, levels);
}

/* The deepest of the levels 0 ... most that has bodies. */
static int deepest_level(const nbody_histogram *now, int most) {
  int level = most;
  while (level > 0 && now->bodies[level] == 0) level--;
  return level;
}

/* Kick, drift, kick with a step of its own for each body: dt / 2^level. The acceleration at the beginning of a step
 * chooses its level; steps begin at multiples of their length. All bodies drift together by the shortest present step.
 * Forces are computed on the bodies whose step ends, by all bodies at their drifted positions. At the end all steps
 * end, so that the levels follow from the state alone. Where all bodies have one level the operations are those of the
 * leapfrog with that step. T. Quinn et al., astro-ph/9710043 (1997); V. Springel, MNRAS 364 (2005) 1105, section 4. */
static sim_status individual(nbody_run *run, const sim_clock *clock, double dt) {
  const nbody_ops *ops = run->ops;
  nbody_work *const work = run->work;
  nbody_step_counts *counts = &run->counts;
  const int levels = (int)run->integrate.levels;
  const int64_t ticks = INT64_C(1) << levels;
  const double t = clock->t;
  nbody_histogram now;
  int finest = 0;
  for (int64_t tick = 0, least = 0; tick < ticks;) { /* bodies of level >= least begin a step at `tick` */
    ops->choose_levels(work, dt, (int)least, &now);
    warn_of_long_steps(run, &now, t + dt * ((double)tick / (double)ticks), dt);
    ops->kick_levels(work, 0.5 * dt, (int)least);
    const int deepest = deepest_level(&now, levels);
    ops->drift(work, ldexp(dt, -deepest));
    tick += ticks >> deepest;
    for (least = levels; least > 0 && tick % (ticks >> (least - 1)) == 0;) least--;
    ops->force_levels(work, t + dt * ((double)tick / (double)ticks), (int)least);
    SIM_TRY(nbody_check_solver(run, clock->step + 1));
    ops->kick_levels(work, 0.5 * dt, (int)least);
    for (int64_t level = least; level <= levels; level++) counts->forces += (double)now.bodies[level];
    counts->substeps++;
    finest = deepest > finest ? deepest : finest;
  }
  counts->steps++;
  counts->at_finest += ldexp((double)run->n, finest);
  counts->deepest = finest > counts->deepest ? finest : counts->deepest;
  return SIM_OK;
}

/* ---- steps of all schemes ---- */

static void queue_step(nbody_run *run, double t, double dt) {
  switch ((nbody_scheme)run->integrate.scheme) {
  case NBODY_LEAPFROG: leapfrog(run->ops, run->work, t, dt); break;
  case NBODY_YOSHIDA4: yoshida4(run->ops, run->work, t, dt); break;
  case NBODY_HERMITE4: hermite4(run->ops, run->work, t, dt); break;
  case NBODY_IAS15:
  case NBODY_WHFAST: break; /* see nbody_few_step */
  }
}

/* Makes a step. A device with a queue captures the step once, and replays it while its length stays the same. A
 * captured step does not know the time, so that steps are enqueued anew where a force depends on time; and also where
 * forces can fail, because the solver then waits. */
static sim_status run_step(nbody_run *run, const sim_clock *clock, double dt) {
  const sim_backend *backend = run->backend;
  const double t = clock->t;
  if (run->integrate.steps == NBODY_INDIVIDUAL) return individual(run, clock, dt);
  if (run->thermostat.given) { /* random numbers change from step to step */
    nbody_bathed_step(run, clock, dt);
    return SIM_OK;
  }
  if (backend->queue == NULL || dt != run->integrate.dt || run->laws.time_dependent ||
      run->forces.solver->check != NULL) {
    queue_step(run, t, dt);
    return SIM_OK;
  }
  if (run->step == NULL) {
    SIM_TRY(backend->queue->graph_begin());
    queue_step(run, t, dt);
    SIM_TRY(backend->queue->graph_end(&run->step));
    if (run->step == NULL) return SIM_OK; /* a profile executes the step instead of capturing it */
  }
  return backend->queue->graph_launch(run->step);
}

/* Length of the step of a body; with individual steps of its level. */
static sim_status step_of(const nbody_run *run, int64_t body, double dt, double *out) {
  const nbody_integrate *integrate = &run->integrate;
  double a[3] = {0, 0, 0};
  *out = dt;
  if (integrate->steps != NBODY_INDIVIDUAL) return SIM_OK;
  for (int c = 0; c < 3; c++)
    SIM_TRY(run->backend->copy(&a[c], (const double *)run->acceleration.data + c * run->n + body, sizeof a[c]));
  const int levels = (int)integrate->levels;
  const int level =
      nbody_level(a[0] * a[0] + a[1] * a[1] + a[2] * a[2], run->softening, integrate->eta, integrate->dt, levels);
  *out = fmin(dt, ldexp(integrate->dt, -(level < levels ? level : levels)));
  return SIM_OK;
}

sim_status nbody_watch_speeds(nbody_run *run, double t, double dt) {
  if (!(run->box > 0) || run->warned_of_speed) return SIM_OK;
  int64_t fastest;
  double speed;
  SIM_TRY(nbody_find_greatest(run, &run->velocity, &fastest, &speed));
  SIM_TRY(step_of(run, fastest, dt, &dt));
  const double moved = speed * (run->expansion.given ? nbody_drift_factor(&run->expansion, t, t + dt) : dt);
  if (!(moved > 0.5 * run->box)) return SIM_OK;
  run->warned_of_speed = true;
  sim_log(SIM_LOG_WARN,
          "at t = %.9g body %" PRIu64
          " (id, from 0) moves by %.3g in a step, more than half of box.size = %.9g: bodies "
          "pass others unseen; take a shorter integrate.dt, or check the units of velocities",
          t, ((const uint64_t *)run->id.data)[fastest], moved, run->box);
  return SIM_OK;
}

static bool adaptive(const nbody_run *run) { return isnan(run->integrate.dt); }

/* Limits a step to twice the last one, dt_max and t_end, so that it is finite where nothing else limits it. */
static double limited(const nbody_run *run, double dt, double last) {
  double most = run->integrate.t_end;
  if (!isnan(run->integrate.dt_max)) most = fmin(most, run->integrate.dt_max);
  return fmin(fmin(dt, 2 * last), most);
}

sim_status nbody_plan_first_step(nbody_run *run) {
  if (run->few != NULL) return run->few->begin(run, NULL);
  if (!adaptive(run)) return SIM_OK;
  const double eta = run->integrate.eta;
  double dt;
  if (run->integrate.scheme == NBODY_HERMITE4) {
    double external = INFINITY;
    if (run->laws.external != NULL) SIM_TRY(nbody_external_start(run, &external));
    dt = eta * fmin(run->forces.solver->start_time(run->forces.work), external);
    SIM_TRY(nbody_check_solver(run, 0));
  } else
    dt = run->ops->step_softened(run->work, eta);
  run->controller[NBODY_NEXT_STEP] = limited(run, dt, INFINITY);
  return SIM_OK;
}

static void plan_next_step(nbody_run *run, double last) {
  const double eta = run->integrate.eta;
  const double dt = run->integrate.scheme == NBODY_HERMITE4 ? run->ops->step_aarseth(run->work, eta, last)
                                                            : run->ops->step_softened(run->work, eta);
  run->controller[NBODY_NEXT_STEP] = limited(run, dt, run->controller[NBODY_NEXT_STEP]);
}

double nbody_step_count(const nbody_parameters *p) {
  const nbody_integrate *i = &p->integrate;
  if (isnan(i->dt)) return NAN;
  const double steps = p->expansion.given ? log(i->t_end / p->expansion.a_start) / log1p(i->dt) : i->t_end / i->dt;
  return ceil(steps * (1 - 1e-12));
}

double nbody_first_dt(const nbody_run *run) {
  const double a = run->expansion.a_start;
  if (run->expansion.given) return fmin(a * run->integrate.dt, run->integrate.t_end - a);
  const double dt = adaptive(run) ? run->controller[NBODY_NEXT_STEP] : run->integrate.dt;
  return fmin(dt, run->integrate.t_end);
}

sim_status nbody_check_pace(const nbody_run *run, const sim_clock *clock) {
  enum { AFTER = 20000 };
  if (!adaptive(run) || run->may_stop || !sim_clock_is_hopeless(clock, AFTER)) return SIM_OK;
  return sim_fail(
      SIM_ERR_DIVERGED,
      "the adaptive steps have been %.3g long until t = %.3g: to t_end = %.9g more than 2^53 of them are "
      "needed; check the units of masses and velocities, set a larger gravity.softening, or a shorter t_end",
      clock->t / (double)clock->step, clock->t, clock->t_end);
}

/* Chooses the length of the step from `clock`; *after: the time after it. */
static double choose(const nbody_run *run, const sim_clock *clock, double *after) {
  if (run->expansion.given) return sim_clock_free_step(clock, clock->t * run->integrate.dt, after);
  return adaptive(run) ? sim_clock_free_step(clock, run->controller[NBODY_NEXT_STEP], after)
                       : sim_clock_step(clock, run->integrate.dt, after);
}

sim_status nbody_step(void *self, sim_clock *clock) {
  nbody_run *run = self;
  if (run->few != NULL) return nbody_few_step(run, clock);
  double after;
  SIM_TRY(nbody_check_pace(run, clock));
  const double dt = choose(run, clock, &after);
  if (!(after > clock->t))
    return sim_fail(
        SIM_ERR_DIVERGED,
        "the adaptive step has shrunk to %.3g at t = %.17g, too short for the clock: two bodies are too close to "
        "each other, so set gravity.softening; or masses, lengths and velocities need other units",
        dt, clock->t);
  if (run->expansion.given)
    expanding_leapfrog(run, clock->t, after);
  else
    SIM_TRY(run_step(run, clock, dt));
  SIM_TRY(nbody_check_solver(run, clock->step + 1));
  if (adaptive(run)) plan_next_step(run, dt);
  clock->step++;
  clock->t = after;
  clock->dt = dt;
  enum { EVERY = 64 };
  if (clock->step % EVERY == 0) SIM_TRY(nbody_watch_speeds(run, clock->t, dt));
  return nbody_watch_force_error(run, clock);
}
