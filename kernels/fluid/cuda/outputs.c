/* Outputs beside fields, `flow` and forces, of moments and of populations: velocities beside walls, the change of a
 * step, gates, and running means. */
#include "kernels/fluid/cuda/host.h"

#include "engine/device/cuda.h"
#include "engine/reduce.h"
#include "kernels/fluid/gates.h"

#include <math.h>
#include <stdlib.h>

/* ---- velocities beside walls ---- */

sim_status fluid_cuda_wall_velocities(fluid_work *w, double *out) {
  const int cells = w->d.cells;
  const size_t bytes = 3 * (size_t)cells * sizeof *out;
  void *there;
  if (cells == 0) return SIM_OK;
  SIM_TRY(sim_backend_cuda.alloc(bytes, &there));
  (w->d.populations ? fluid_trt_wall_velocities : fluid_cuda_find_wall_velocities)(&w->d, there);
  const sim_status status = sim_backend_cuda.copy(out, there, bytes);
  sim_backend_cuda.free(there);
  return status;
}

/* ---- the change of a step ---- */

double fluid_cuda_remembered_bytes(const fluid_parameters *p) {
  const grid_shape g = fluid_grid_of(p);
  const bool wanted = !isnan(p->steady) && p->collision == FLUID_TRT;
  return wanted ? g.rank * grid_cells_wanted(&g) * (fluid_single(p) ? sizeof(float) : sizeof(double)) : 0;
}

sim_status fluid_cuda_remember(fluid_work *w) {
  fluid_trt_remember(&w->d);
  w->remembered = w->made;
  return sim_queue_cuda.status();
}

sim_status fluid_cuda_change(fluid_work *w, double *out) {
  const fluid_machine *m = w->m;
  const fluid_device *d = &w->d;
  const size_t blocks = (size_t)d->sum_blocks;
  const double cells = (double)m->walls.fluid, range = d->heat ? m->warmth->high - m->warmth->low : 0;
  const bool known = w->stepped && (!d->populations || w->remembered == w->made - 1);
  if (known) {
    (d->populations ? fluid_trt_change : fluid_cuda_find_change)(d);
    SIM_TRY(sim_backend_cuda.copy(w->sums, d->sum, (d->heat ? 2 : 1) * blocks * sizeof *w->sums));
    w->change = sqrt(sim_reduce_tree(w->sums, blocks) / cells) * d->dx / (d->dt * w->p->speed);
    if (range > 0)
      w->change = fmax(w->change, d->warm.scale * sqrt(sim_reduce_tree(w->sums + blocks, blocks) / cells) / range);
  }
  *out = w->stepped ? w->change : 1;
  return SIM_OK;
}
