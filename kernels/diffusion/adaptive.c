/* Adaptive time steps, by their error or by their Courant number. The length is a power of two, 2^level. The tables of
 * the last few lengths are kept, so that tables are rarely computed. The last step ends at t_end. All decisions depend
 * only on the state, the clock and the level, which a checkpoint holds. */
#include "kernels/diffusion/diffusion.h"

#include <limits.h>
#include <math.h>

/* The step is doubled where the expected error ratio is at most this. */
static const double hope = 0.5;

/* Level of the longest step. */
static int top_level(const diffusion_integrate *i) { return ilogb(isnan(i->dt_max) ? i->t_end / 64 : i->dt_max); }

/* Level of the shortest step if dt_min is given. */
static int bottom_level(const diffusion_integrate *i) {
  if (i->dt_min == 0) return INT_MIN;
  const int level = ilogb(i->dt_min);
  return ldexp(1, level) < i->dt_min ? level + 1 : level;
}

bool diffusion_any_level(const diffusion_integrate *i) { return bottom_level(i) <= top_level(i); }

int diffusion_first_level(const diffusion_integrate *i) {
  const int first = ilogb(i->t_end / 1024), top = top_level(i), bottom = bottom_level(i);
  return first > top ? top : first < bottom ? bottom : first;
}

static int slot_of(int level) {
  const int slots = DIFFUSION_SLOTS - 1;
  return (level % slots + slots) % slots;
}

/* Finds the largest ratio of error to tolerance over the fields, and the field that has it. */
static sim_status ratio_of(const diffusion_parameters *p, const diffusion_ops *ops, diffusion_work *work, double *out,
                           int *worst) {
  double errors[DIFFUSION_FIELDS], sizes[DIFFUSION_FIELDS];
  SIM_TRY(ops->error(work, errors, sizes));
  *out = 0;
  *worst = 0;
  for (int f = 0; f < (int)p->fields.count; f++) {
    const double ratio = errors[f] / (p->integrate.atol + p->integrate.rtol * sizes[f]);
    if (ratio <= *out || errors[f] == 0 || isnan(*out)) continue;
    *out = ratio; /* NaN counts as too large */
    *worst = f;
  }
  return SIM_OK;
}

static sim_status too_short(const diffusion_parameters *p, double t, int worst) {
  const diffusion_integrate *i = &p->integrate;
  const char *name = diffusion_field_of(p, worst)->name;
  if (i->dt_min > 0)
    return sim_fail(
        SIM_ERR_DIVERGED,
        "%s needs steps below integrate.dt_min = %g at t = %.9g for rtol = %g, atol = %g: dt_min is too long, the grid "
        "is too coarse, or the solution itself grows without bound",
        name, i->dt_min, t, i->rtol, i->atol);
  return sim_fail(SIM_ERR_DIVERGED,
                  "no step is short enough for %s at t = %.9g and integrate.rtol = %g, atol = %g: it grows without "
                  "bound, its rates are not finite, or the grid is too coarse",
                  name, t, i->rtol, i->atol);
}

sim_status diffusion_courant_rate(const diffusion_parameters *p, const diffusion_ops *ops, diffusion_work *work,
                                  double *out) {
  const grid_shape grid = diffusion_grid_of(p);
  int vector[3];
  *out = 0;
  const int axes = diffusion_velocity_of(p, vector);
  for (int a = 0; a < axes && a < 3; a++) {
    diffusion_statistics s;
    SIM_TRY(ops->measure(work, vector[a], grid_cell_volume(&grid), &s));
    const double most = fabs(s.least) > fabs(s.greatest) ? fabs(s.least) : fabs(s.greatest);
    *out += (isnan(s.mean) ? s.mean : most) * (double)grid.n[a] / grid.size[a];
  }
  return SIM_OK;
}

/* SIM_ERR_DIVERGED where steps are too short for t_end to be reached, unless stop_when may end the run. */
static sim_status check_pace(const diffusion_parameters *p, const sim_clock *clock) {
  enum { AFTER = 1000 };
  if (p->common.stop_when != NULL || !sim_clock_is_hopeless(clock, AFTER)) return SIM_OK;
  return sim_fail(SIM_ERR_DIVERGED,
                  "the steps have been %.3g long until t = %.3g: to t_end = %.9g more than 2^53 of them are needed; "
                  "check the units of fields, rates and velocities, or set a shorter t_end",
                  clock->t / (double)clock->step, clock->t, clock->t_end);
}

sim_status diffusion_courant_step(const diffusion_parameters *p, const diffusion_ops *ops, diffusion_work *work,
                                  diffusion_controller *c, double rate, int most, sim_clock *clock) {
  const diffusion_integrate *i = &p->integrate;
  const diffusion_method *method = diffusion_method_of(p);
  double after;
  SIM_TRY(check_pace(p, clock));
  /* 2^level times the rate is at most the Courant number. A flow that starts from rest may be fast after the longest
   * step: so the first step is shorter where the longest one would be allowed, and a step is at most twice the one
   * before. */
  const double longest = fmin(i->courant / rate, most == INT_MAX ? INFINITY : ldexp(1, most));
  const int first = clock->step > 0 ? c->level + 1 : longest < ldexp(1, top_level(i)) ? INT_MAX : c->level;
  c->level = first < top_level(i) ? first : top_level(i);
  if (longest < ldexp(1, c->level)) c->level = ilogb(longest);
  const double h = sim_clock_free_step(clock, ldexp(1, c->level), &after);
  if (isnan(rate) || c->level < bottom_level(i) || after == clock->t)
    return sim_fail(SIM_ERR_DIVERGED,
                    "integrate.courant = %g needs steps of %.3g at t = %.9g, where velocities cross %.3g cells in a "
                    "unit of time%s%s: the grid is too coarse, or the solution itself grows without bound",
                    i->courant, longest, clock->t, rate, most < INT_MAX ? " and grow within a step" : "",
                    c->level < bottom_level(i) ? ", and dt_min is longer" : "");
  SIM_TRY(ops->use(work, h, after == clock->t_end ? DIFFUSION_SLOTS - 1 : slot_of(c->level)));
  for (int s = 0; s < method->stages; s++)
    SIM_TRY(ops->stage(work, s, &(diffusion_step_context){clock->t + method->at[s] * h, h, 1, clock->step}));
  clock->step++;
  clock->t = after;
  clock->dt = h;
  return SIM_OK;
}

int diffusion_courant_shorter(const diffusion_parameters *p, double rate, double h) {
  const double over = rate * h / (2 * p->integrate.courant);
  if (over <= 1) return INT_MAX;
  const double levels = over < INFINITY ? ceil(log2(over)) : 8;
  return ilogb(h) - (int)fmax(1, fmin(8, levels));
}

sim_status diffusion_adaptive_step(const diffusion_parameters *p, const diffusion_ops *ops, diffusion_work *work,
                                   diffusion_controller *c, sim_clock *clock) {
  const diffusion_embedded *e = diffusion_embedded_of(p->integrate.scheme);
  const int top = top_level(&p->integrate), bottom = bottom_level(&p->integrate);
  if (c->level > top) c->level = top; /* the checkpoint's run had another t_end */
  int worst = 0;
  SIM_TRY(check_pace(p, clock));
  for (bool again = false;; again = true) {
    double after, ratio;
    const double h = sim_clock_free_step(clock, ldexp(1, c->level), &after);
    const bool last = after == clock->t_end;
    if (after == clock->t) return too_short(p, clock->t, worst);
    SIM_TRY(ops->use(work, h, last ? DIFFUSION_SLOTS - 1 : slot_of(c->level)));
    for (int s = c->known ? 1 : 0; s < e->method.stages; s++)
      SIM_TRY(
          ops->stage(work, s, &(diffusion_step_context){clock->t + e->method.at[s] * h, h * e->part, 1, clock->step}));
    SIM_TRY(ratio_of(p, ops, work, &ratio, &worst));
    if (ratio <= 1) {
      ops->accept(work);
      c->known = e->kept;
      clock->step++;
      clock->t = after;
      clock->dt = h;
      /* doubled at most, and not directly after a rejected step */
      if (!last && !again && ratio * exp2(e->power) <= hope) c->level++;
      return SIM_OK;
    }
    if (h <= ldexp(1, bottom)) return too_short(p, clock->t, worst);
    c->known = !e->kept && !e->whole; /* else the rates are overwritten, and computed again from the state */
    if (!c->known) SIM_TRY(ops->resume(work));
    /* lower by as many levels as the error's order suggests, at most 8 */
    const double levels = ratio < INFINITY ? ceil(log2(ratio / hope) / e->power) : 8;
    const int from = last ? ilogb(h) + 1 : c->level;
    const int shorter = from - (int)fmax(1, fmin(8, levels));
    c->level = shorter < bottom ? bottom : shorter;
  }
}
