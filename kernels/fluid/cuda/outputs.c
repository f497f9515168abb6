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

/* ---- gates ---- */

/* Cells of the largest plane across an axis, in blocks. */
static int blocks_of(const grid_shape *g) {
  double most = 0;
  for (int a = 0; a < g->rank; a++) most = fmax(most, ceil(grid_cells_wanted(g) / (double)g->n[a] / FLUID_SUMMED));
  return (int)most;
}

/* Numbers of parts of a gate: of both axes along it. */
static int64_t parts_of(const grid_shape *g, const fluid_gate *gate) {
  return g->n[gate->axis == 0 ? 1 : 0] + g->n[gate->axis == 2 ? 1 : 2];
}

double fluid_cuda_gates_bytes(const fluid_parameters *p) {
  const grid_shape g = fluid_grid_of(p);
  double out = 0;
  for (int i = 0; i < (int)p->gates.count; i++)
    out += (double)parts_of(&g, fluid_gate_of(p, i)) * sizeof(double) +
           2 * (sizeof(fluid_gate_plane) + blocks_of(&g) * FLUID_GATE_SUMS * sizeof(double));
  return out;
}

/* Fills the parts of the cells along a gate, and its planes, whose parts are at `there`. */
static void set_planes(const grid_shape *g, const fluid_gate *gate, double *parts, const double *there,
                       fluid_gate_plane planes[2]) {
  const fluid_section s = fluid_section_of(g, gate);
  const int axes[2] = {gate->axis == 0 ? 1 : 0, gate->axis == 2 ? 1 : 2};
  for (int k = 0; k < 2; k++)
    for (int64_t i = 0; i < g->n[axes[k]]; i++) *parts++ = fluid_section_part(g, gate, &s, axes[k], i);
  for (int k = 0; k < 2; k++) planes[k] = (fluid_gate_plane){gate->axis, (int)s.plane[k], s.part[k], there};
}

sim_status fluid_cuda_build_gates(const fluid_machine *m, const fluid_parameters *p, fluid_device *d) {
  const grid_shape *g = &m->grid;
  const int count = (int)p->gates.count;
  int64_t numbers = 0, next = 0;
  void *there;
  if (count == 0) return SIM_OK;
  for (int i = 0; i < count; i++) numbers += parts_of(g, fluid_gate_of(p, i));
  const size_t bytes = (size_t)numbers * sizeof(double), planes = 2 * (size_t)count * sizeof(fluid_gate_plane);
  SIM_TRY(fluid_cuda_send(NULL, bytes, &there));
  d->gates.parts = there;
  d->gates.planes = 2 * count;
  d->gates.blocks = blocks_of(g);
  SIM_TRY(
      fluid_cuda_send(NULL, 2 * (size_t)count * (size_t)d->gates.blocks * FLUID_GATE_SUMS * sizeof(double), &there));
  d->gates.sum = there;
  double *parts = malloc(bytes);
  fluid_gate_plane *plane = malloc(planes);
  for (int i = 0; parts && plane && i < count; i++) {
    set_planes(g, fluid_gate_of(p, i), parts + next, d->gates.parts + next, plane + (ptrdiff_t)2 * i);
    next += parts_of(g, fluid_gate_of(p, i));
  }
  sim_status status = parts && plane ? sim_backend_cuda.copy(d->gates.parts, parts, bytes) : sim_no_memory("gates");
  free(parts);
  if (status == SIM_OK) status = fluid_cuda_send(plane, planes, (void **)&d->gates.plane);
  free(plane);
  return status;
}

void fluid_cuda_free_gates(fluid_device *d) {
  sim_backend_cuda.free(d->gates.plane);
  sim_backend_cuda.free(d->gates.parts);
  sim_backend_cuda.free(d->gates.sum);
}

sim_status fluid_cuda_gates(fluid_work *w, double *out) {
  const fluid_gate_planes *gates = &w->d.gates;
  const size_t blocks = 2 * (size_t)gates->blocks, numbers = blocks * FLUID_GATE_SUMS;
  const int count = gates->planes / 2;
  double *all = malloc((numbers * (size_t)count + blocks) * sizeof *all);
  if (!all) return sim_no_memory("gates");
  double *column = all + numbers * (size_t)count;
  (w->d.populations ? fluid_trt_gates : fluid_cuda_sum_gates)(&w->d);
  const sim_status status = sim_backend_cuda.copy(all, gates->sum, numbers * (size_t)count * sizeof *all);
  for (int i = 0; status == SIM_OK && i < count; i++)
    for (int k = 0; k < FLUID_GATE_SUMS; k++) {
      for (size_t b = 0; b < blocks; b++) column[b] = all[numbers * (size_t)i + b * FLUID_GATE_SUMS + (size_t)k];
      out[FLUID_GATE_SUMS * i + k] = sim_reduce_tree(column, blocks);
    }
  free(all);
  return status;
}

/* ---- running means ---- */

sim_status fluid_cuda_sample(fluid_work *w, int64_t n, double *means) {
  (w->d.populations ? fluid_trt_sample : fluid_cuda_sample_cells)(&w->d, (double)n, means);
  return sim_queue_cuda.status();
}
