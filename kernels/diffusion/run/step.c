/* Steps, by the operations of a backend.
 *
 * A Strang step of fixed length is R(h/2) exp(L h) R(h/2); two neighbouring R are one pass. The stored state is that
 * before the second R, which outputs add. */
#include "kernels/diffusion/run/run.h"

#include <limits.h>
#include <math.h>

/* Time at the beginning of a step. */
static double time_of(const diffusion_run *run, int64_t step) {
  return run->begin[0] + (double)(step - (int64_t)run->begin[1]) * run->h;
}

/* SIM_ERR_DIVERGED where the state is not finite. */
static sim_status check_finite(diffusion_run *run, const sim_clock *clock) {
  const bool forced = diffusion_held(run->p);
  int field = -1;
  if (!run->ops->broken || run->finite == clock->step) return SIM_OK;
  SIM_TRY(run->ops->broken(run->work, &field));
  if (field < 0) {
    run->finite = clock->step;
    return SIM_OK;
  }
  return sim_fail(SIM_ERR_DIVERGED,
                  "the field %s is not finite at step %lld, t = %.9g (it was at step %lld): dt = %.3g is too long for "
                  "%s, the grid is too coarse, %sor the solution itself grows without bound",
                  diffusion_field_of(run->p, field)->name, (long long)clock->step, clock->t, (long long)run->finite,
                  clock->dt, run->method->name, forced ? "the forced shell has lost its energy, " : "");
}

/* Computes the real fields of this step. */
sim_status diffusion_run_show(diffusion_run *run, const sim_clock *clock) {
  const bool half = run->p->integrate.scheme == DIFFUSION_STRANG && !diffusion_adaptive(run->p) &&
                    clock->step > (int64_t)run->begin[1];
  if (run->shown == clock->step) return SIM_OK;
  SIM_TRY(check_finite(run, clock));
  if (run->p->integrate.scheme == DIFFUSION_EXACT && run->jumped != clock->t)
    SIM_TRY(run->ops->jump(run->work, clock->t));
  run->jumped = clock->t;
  if (run->controller.known) SIM_TRY(run->ops->resume(run->work)); /* the error estimate has overwritten array [0] */
  SIM_TRY(run->ops->show(run->work, clock->t,
                         half ? &(diffusion_step_context){clock->t - clock->dt / 2, clock->dt / 2, 1} : NULL));
  run->shown = clock->step;
  return SIM_OK;
}

/* Copies the state to `kept`, or back. In memory that ranks share, the fields of a slab are not contiguous. */
static sim_status keep(diffusion_run *run, bool back) {
  const sim_buffer *state = run->ops->state(run->work);
  const size_t bytes = (size_t)run->kept.shape[1] * sim_dtype_size(run->kept.dtype);
  for (int f = 0; f < run->fields; f++) {
    void *to = run_part(&run->kept, f), *of = run_part(state, f);
    SIM_TRY(run->backend->copy(back ? of : to, back ? to : of, bytes));
  }
  return SIM_OK;
}

/* Makes a step by the Courant number. Repeats it with a shorter one where the velocity has grown too much within it.
 * Going back does what a restart does, so that both give the same bits. */
static sim_status courant_step(diffusion_run *run, sim_clock *clock) {
  const sim_clock before = *clock;
  const int level = run->controller.level;
  SIM_TRY(diffusion_run_show(run, clock));
  if (run->rated != clock->step) SIM_TRY(diffusion_courant_rate(run->p, run->ops, run->work, &run->rate));
  SIM_TRY(keep(run, false));
  for (int most = INT_MAX;;) {
    double rate;
    SIM_TRY(diffusion_courant_step(run->p, run->ops, run->work, &run->controller, run->rate, most, clock));
    SIM_TRY(run->ops->show(run->work, clock->t, NULL));
    SIM_TRY(diffusion_courant_rate(run->p, run->ops, run->work, &rate));
    most = diffusion_courant_shorter(run->p, rate, clock->dt);
    if (most == INT_MAX) {
      run->shown = run->rated = clock->step;
      run->rate = rate;
      return check_finite(run, clock);
    }
    *clock = before;
    run->controller.level = level;
    SIM_TRY(keep(run, true));
    SIM_TRY(run->ops->resume(run->work));
  }
}

sim_status diffusion_run_step(void *self, sim_clock *clock) {
  enum { CHECK_EVERY = 64 }; /* steps between checks that wait for the device */
  diffusion_run *run = self;
  if (diffusion_by_courant(run->p)) return courant_step(run, clock);
  if (diffusion_adaptive(run->p)) return diffusion_adaptive_step(run->p, run->ops, run->work, &run->controller, clock);
  const double h = run->h, t = time_of(run, clock->step);
  for (int s = 0; s < run->method->stages; s++) {
    diffusion_step_context context = {t + run->method->at[s] * h, h, 1, clock->step};
    if (run->p->integrate.scheme == DIFFUSION_STRANG)
      context = clock->step == (int64_t)run->begin[1] ? (diffusion_step_context){t, h / 2, 1, clock->step}
                                                      : (diffusion_step_context){t - h / 2, h / 2, 2, clock->step};
    SIM_TRY(run->ops->stage(run->work, s, &context));
    if (run->twin) SIM_TRY(run->ops->stage(run->twin, s, &context));
  }
  clock->step++;
  clock->t = clock->step >= run->last ? run->p->integrate.t_end : time_of(run, clock->step);
  clock->dt = h;
  if (run->twin) {
    SIM_TRY(check_finite(run, clock));
    SIM_TRY(diffusion_twin_step(run, clock));
  }
  return run->backend->space == SIM_SPACE_HOST || clock->step % CHECK_EVERY == 0 ? check_finite(run, clock) : SIM_OK;
}
