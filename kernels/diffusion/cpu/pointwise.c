/* White noise of a step, and lifts, on real fields. */
#include "kernels/diffusion/diffusion.h"

#include "engine/rng.h"

void diffusion_white_noise(const diffusion_parameters *p, int64_t step, int64_t first, int64_t end, int threads,
                           void *const *real_fields) {
  const bool single = diffusion_single(p);
  (void)threads;
  for (int f = 0; f < (int)p->fields.count; f++) {
    const bool any = diffusion_field_of(p, f)->fluctuation > 0;
    void *values = real_fields[f];
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (int64_t i = first; i < end; i++) {
      double normal[2] = {0, 0};
      if (any) sim_rng_normal(p->common.seed, (uint64_t)i, (uint64_t)step + 1, (uint32_t)f, normal);
      grid_set_number(values, single, i - first, normal[0]);
    }
  }
}

void diffusion_add_lift(const diffusion_parameters *p, int field, double sign, double t, int64_t first, int64_t end,
                        void *values, int threads) {
  const grid_shape grid = diffusion_grid_of(p);
  const diffusion_lift l = diffusion_lift_of(p, field);
  const bool single = diffusion_single(p);
  (void)threads;
  if (l.axis < 0) return;
  double cell[3];
  diffusion_lift bent = l; /* the rest of the lift */
  for (int axis = 0; axis < 3; axis++) {
    cell[axis] = grid.size[axis] / (double)grid.n[axis];
    bent.slopes[axis] = 0;
  }
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
  for (int64_t i = first; i < end; i++) {
    const int64_t row = i / grid.n[0], place[3] = {i % grid.n[0], row % grid.n[1], row / grid.n[1]};
    double x[3], added = 0;
    for (int axis = 0; axis < 3; axis++) x[axis] = cell[axis] * ((double)place[axis] + 0.5);
    added = diffusion_lift_at(&bent, x, t);
    for (int axis = 0; axis < 3; axis++)
      if (l.slopes[axis] != 0) added += l.slopes[axis] * cell[axis] * ((double)place[axis] + 0.5);
    added *= sign;
    if (single)
      ((float *)values)[i - first] += (float)added;
    else
      ((double *)values)[i - first] += added;
  }
}
