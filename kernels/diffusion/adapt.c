/* The length of steps from their error. A step is a power of two, of which the tables of the last few are kept: the
 * coefficients' contour integrals are rare. The last one ends at t_end. What is decided depends on the state, the clock
 * and the level alone, which a checkpoint holds. */
#include "kernels/diffusion/diffusion.h"

#include <math.h>

/* A longer step is tried where its error is expected below this. */
static const double hope = 0.5;

int diffusion_first_level(const diffusion_integrate *i) { return (int)floor(log2(i->t_end / 1024)); }

static int slot_of(int level) {
  const int slots = DIFFUSION_SLOTS - 1;
  return (level % slots + slots) % slots;
}

/* The greatest error of any field, of what it may be. */
static sim_status ratio_of(const diffusion_parameters *p, const diffusion_ops *ops, diffusion_work *work, double *out) {
  double errors[DIFFUSION_FIELDS], sizes[DIFFUSION_FIELDS];
  SIM_TRY(ops->error(work, errors, sizes));
  *out = 0;
  for (int f = 0; f < (int)p->fields.count; f++) {
    const double ratio = errors[f] / (p->integrate.atol + p->integrate.rtol * sizes[f]);
    if (!(ratio <= *out) && errors[f] != 0) *out = ratio; /* a NaN stays, and is too much */
  }
  return SIM_OK;
}

sim_status diffusion_adaptive_step(const diffusion_parameters *p, const diffusion_ops *ops, diffusion_work *work,
                                   diffusion_controller *c, sim_clock *clock) {
  const diffusion_embedded *e = diffusion_embedded_of(p->integrate.scheme);
  const double t_end = p->integrate.t_end;
  for (;;) {
    double h = ldexp(1, c->level), ratio;
    const bool last = clock->t + h * (1 + 1e-9) >= t_end;
    if (last) h = t_end - clock->t;
    if (!last && clock->t + h == clock->t)
      return sim_fail(SIM_ERR_DIVERGED, "no step is short enough for integrate.rtol and atol at t = %.9g", clock->t);
    SIM_TRY(ops->use(work, h, last ? DIFFUSION_SLOTS - 1 : slot_of(c->level)));
    for (int s = c->known ? 1 : 0; s < e->method.stages; s++)
      SIM_TRY(ops->stage(work, s, &(diffusion_moment){clock->t + e->method.at[s] * h, h, 1, clock->step}));
    SIM_TRY(ratio_of(p, ops, work, &ratio));
    if (ratio <= 1) {
      ops->accept(work);
      c->known = e->kept;
      clock->step++;
      clock->t = last ? t_end : clock->t + h;
      clock->dt = h;
      if (!last && ratio * exp2(e->power) <= hope) c->level++;
      return SIM_OK;
    }
    c->known = !e->kept; /* else they were replaced: once more, from the state */
    if (!c->known) SIM_TRY(ops->resume(work));
    /* as many levels at once as the error's power tells, 8 at most */
    const double levels = ratio < INFINITY ? ceil(log2(ratio / hope) / e->power) : 8;
    const int from = last ? (int)floor(log2(h)) + 1 : c->level;
    c->level = from - (int)fmax(1, fmin(8, levels));
  }
}
