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

void diffusion_add_lift(const diffusion_parameters *p, int field, double sign, int64_t first, int64_t end, void *values,
                        int threads) {
  const grid_shape grid = diffusion_grid_of(p);
  const diffusion_lift l = diffusion_lift_of(p, field);
  const bool single = diffusion_single(p);
  (void)threads;
  if (l.axis < 0) return;
  const double cell = grid.size[l.axis] / (double)grid.n[l.axis];
  const int64_t under = l.axis == 0 ? 1 : l.axis == 1 ? grid.n[0] : grid.n[0] * grid.n[1];
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
  for (int64_t i = first; i < end; i++) {
    const double added = sign * (l.low + l.slope * cell * ((double)(i / under % grid.n[l.axis]) + 0.5));
    if (single)
      ((float *)values)[i - first] += (float)added;
    else
      ((double *)values)[i - first] += added;
  }
}
