/* Sides that change with time: while the GPU makes a step, the host finds their velocities and pressures in the next
 * one, as for the CPU. Twin: start/timed.c. */
#include "kernels/fluid/cuda/host.h"

#include "engine/device/cuda.h"

#include <stdlib.h>

/* Numbers of the axis links of cells beside sides whose profile is timed and by which heat comes in, and of their
 * cells; returns how many there are. NULL: they are only counted. */
static int warm_links(const fluid_machine *m, const fluid_parameters *p, int32_t *cells, int32_t *links) {
  const fluid_walls *w = &m->walls;
  int count = 0;
  for (int64_t i = 0; i < w->cells && m->warmth; i++) {
    const fluid_cell *cell = &w->cell[i];
    const int axes = fluid_axis_links(m, cell);
    for (int j = cell->first; j < cell->first + axes; j++) {
      const int side = w->link[j].arriving - 1; /* x_low sends along +x, direction 1 */
      if (w->link[j].body >= 0 || !p->sides[side].profile || !fluid_side_is_timed(&p->sides[side])) continue;
      if (links) {
        cells[count] = (int32_t)i;
        links[count] = j;
      }
      count++;
    }
  }
  return count;
}

static sim_status build_warm(const fluid_machine *m, const fluid_parameters *p, fluid_timed_edges *t) {
  t->warm_count = warm_links(m, p, NULL, NULL);
  if (t->warm_count == 0) return SIM_OK;
  const size_t bytes = (size_t)t->warm_count * sizeof(int32_t), edges = (size_t)t->warm_count * sizeof *t->warm;
  t->warm_cell = malloc(bytes);
  t->warm_link = malloc(bytes);
  if (!t->warm_cell || !t->warm_link) return sim_no_memory("sides");
  (void)warm_links(m, p, t->warm_cell, t->warm_link);
  SIM_TRY(fluid_cuda_send(t->warm_link, bytes, (void **)&t->warm_which));
  SIM_TRY(fluid_cuda_send(NULL, edges, (void **)&t->warm));
  for (int i = 0; i < 2; i++) SIM_TRY(sim_backend_cuda.alloc_host(edges, (void **)&t->warm_host[i]));
  return SIM_OK;
}

sim_status fluid_cuda_build_timed(const fluid_machine *m, const fluid_parameters *p, fluid_device *d) {
  fluid_timed_edges *t = &d->timed;
  int64_t count;
  const int32_t *link = fluid_timed_links(&m->walls, &count);
  const size_t bytes = (size_t)count * (d->single ? sizeof(float) : sizeof(double));
  t->count = (int)count;
  if (count == 0) return SIM_OK;
  SIM_TRY(fluid_cuda_send(link, (size_t)count * sizeof *link, (void **)&t->which));
  SIM_TRY(fluid_cuda_send(NULL, bytes, &t->constant));
  for (int i = 0; i < 2; i++) SIM_TRY(sim_backend_cuda.alloc_host(bytes, &t->host[i]));
  return build_warm(m, p, t);
}

void fluid_cuda_free_timed(fluid_device *d) {
  fluid_timed_edges *t = &d->timed;
  sim_backend_cuda.free(t->which);
  sim_backend_cuda.free(t->constant);
  sim_backend_cuda.free(t->warm_which);
  sim_backend_cuda.free(t->warm);
  for (int i = 0; i < 2; i++) {
    sim_backend_cuda.free_host(t->host[i]);
    sim_backend_cuda.free_host(t->warm_host[i]);
  }
  free(t->warm_cell);
  free(t->warm_link);
}

sim_status fluid_cuda_time_sides(fluid_work *w, int64_t step, bool follow) {
  const fluid_walls *walls = &w->m->walls;
  fluid_device *d = &w->d;
  fluid_timed_edges *t = &d->timed;
  const int which = (int)(step & 1);
  int64_t count;
  const int32_t *link = fluid_timed_links(walls, &count);
  double more[FLUID_SIDES];
  if (!walls->timed) return SIM_OK;
  SIM_TRY(fluid_walls_change(&w->m->walls, ((double)step + 0.5) * w->numbers->dt, more));
  w->old_profiles = true;
  for (int k = 0; k < d->layers && follow; k++) {
    const double gain = fluid_sponge_gain(&w->m->sponge.layer[k], more);
    if (gain != 0) fluid_cuda_shift_sponge(d, k, gain);
  }
  if (count == 0) return SIM_OK;
  /* Waits for the step before the last enqueued one, and so until what it was given from host[which] has been copied.
   */
  SIM_TRY(sim_queue_cuda.throttle());
  void *to = t->host[which];
#pragma omp parallel for schedule(static) num_threads(w->m->threads) if (w->m->threads > 1 && count > 4096)
  for (int64_t i = 0; i < count; i++) grid_set_number(to, d->single, i, walls->link[link[i]].constant);
  for (int i = 0; i < t->warm_count; i++)
    t->warm_host[which][i] =
        fluid_cuda_warm_edge(w->m, d, &walls->cell[t->warm_cell[i]], &walls->link[t->warm_link[i]]);
  fluid_cuda_set_edges(d, which);
  return sim_queue_cuda.status();
}

sim_status fluid_cuda_send_profiles(fluid_work *w) {
  const grid_shape *g = &w->m->grid;
  if (!w->old_profiles) return SIM_OK;
  for (int s = 0; s < 2 * g->rank; s++) {
    if (w->m->walls.profile[s] && fluid_side_is_timed(&w->p->sides[s]))
      SIM_TRY(fluid_cuda_copy_profile(w->m, &w->d, s, (void *)(uintptr_t)w->d.beside.profile[s]));
  }
  w->old_profiles = false;
  return SIM_OK;
}
