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
  const size_t blocks = (size_t)fluid_cuda_sum_blocks(&m->grid);
  const double cells = (double)m->walls.fluid, range = d->heat ? m->warmth->high - m->warmth->low : 0;
  const bool known = w->stepped && (!d->populations || w->remembered == w->made - 1);
  if (known) {
    (d->populations ? fluid_trt_change : fluid_cuda_find_change)(d);
    SIM_TRY(fluid_cuda_gather_sums(w, d->heat ? 2 : 1));
    w->change = sqrt(sim_reduce_tree(w->sums, blocks) / cells) * d->dx / (d->dt * w->p->speed);
    if (range > 0)
      w->change = fmax(w->change, d->warm.scale * sqrt(sim_reduce_tree(w->sums + blocks, blocks) / cells) / range);
  }
  *out = w->stepped ? w->change : 1;
  return SIM_OK;
}

/* ---- gates ---- */

/* Blocks of a plane of the last axis that a gate along it has, and all blocks of a gate, with so many of these planes:
 * of the axis that has most. */
static int blocks_of_plane(const grid_shape *g, int axis) {
  const double width = g->rank == 3 ? (double)g->n[1 - axis] : 1;
  return (int)ceil(width / FLUID_SUMMED);
}
static int blocks_of(const grid_shape *g, int64_t planes) {
  double most = ceil(grid_cells_wanted(g) / (double)g->n[g->rank - 1] / FLUID_SUMMED);
  for (int a = 0; a < g->rank - 1; a++) most = fmax(most, (double)planes * blocks_of_plane(g, a));
  return (int)most;
}

/* Numbers of parts of a gate: of both axes along it. n: cells along each axis. */
static int64_t parts_of(const int64_t n[3], const fluid_gate *gate) {
  return n[gate->axis == 0 ? 1 : 0] + n[gate->axis == 2 ? 1 : 2];
}

double fluid_cuda_gates_bytes(const fluid_parameters *p) {
  const grid_shape g = fluid_grid_of(p);
  double out = 0;
  for (int i = 0; i < (int)p->gates.count; i++)
    out += (double)parts_of(g.n, fluid_gate_of(p, i)) * sizeof(double) +
           2 * (sizeof(fluid_gate_plane) + blocks_of(&g, g.n[g.rank - 1]) * FLUID_GATE_SUMS * sizeof(double));
  return out;
}

/* Fills the parts of the cells along a gate, and its planes, whose parts are at `there`. */
static void set_planes(const fluid_machine *m, const fluid_device *d, const fluid_gate *gate, double *parts,
                       const double *there, fluid_gate_plane planes[2]) {
  const grid_shape *g = &m->grid;
  const int last = g->rank - 1;
  const fluid_section s = fluid_section_of(g, gate);
  const int axes[2] = {gate->axis == 0 ? 1 : 0, gate->axis == 2 ? 1 : 2};
  for (int k = 0; k < 2; k++)
    for (int64_t i = 0; i < d->l.n[axes[k]]; i++)
      *parts++ = fluid_section_part(g, gate, &s, axes[k], axes[k] == last ? fluid_cuda_plane(m, d, i) : i);
  for (int k = 0; k < 2; k++) {
    const int64_t plane = s.plane[k];
    const bool own = plane >= m->part.first && plane < m->part.end;
    const int64_t here = gate->axis != last ? plane : own ? plane - d->from : -1;
    planes[k] = (fluid_gate_plane){gate->axis, (int)here, s.part[k], there};
  }
}

sim_status fluid_cuda_build_gates(const fluid_machine *m, const fluid_parameters *p, fluid_device *d) {
  const grid_shape *g = &m->grid;
  const int count = (int)p->gates.count;
  const int64_t n[3] = {d->l.n[0], d->l.n[1], d->l.n[2]};
  int64_t numbers = 0, next = 0;
  void *there;
  if (count == 0) return SIM_OK;
  for (int i = 0; i < count; i++) numbers += parts_of(n, fluid_gate_of(p, i));
  const size_t bytes = (size_t)numbers * sizeof(double), planes = 2 * (size_t)count * sizeof(fluid_gate_plane);
  SIM_TRY(fluid_cuda_send(NULL, bytes, &there));
  d->gates.parts = there;
  d->gates.planes = 2 * count;
  d->gates.blocks = blocks_of(g, d->l.own);
  SIM_TRY(
      fluid_cuda_send(NULL, 2 * (size_t)count * (size_t)d->gates.blocks * FLUID_GATE_SUMS * sizeof(double), &there));
  d->gates.sum = there;
  double *parts = malloc(bytes);
  fluid_gate_plane *plane = malloc(planes);
  for (int i = 0; parts && plane && i < count; i++) {
    set_planes(m, d, fluid_gate_of(p, i), parts + next, d->gates.parts + next, plane + (ptrdiff_t)2 * i);
    next += parts_of(n, fluid_gate_of(p, i));
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

/* Sums of the blocks of one of the planes beside gates, [blocks][FLUID_GATE_SUMS], of all ranks. */
static sim_status gather_blocks(const fluid_work *w, int plane, double *sums) {
  const fluid_gate *gate = fluid_gate_of(w->p, plane / 2);
  const grid_shape *g = &w->m->grid;
  const fluid_part *part = &w->m->part;
  const size_t row = FLUID_GATE_SUMS * sizeof *sums, here = (size_t)w->d.gates.blocks;
  const double *from = w->d.gates.sum + (size_t)plane * here * FLUID_GATE_SUMS;
  if (!fluid_cuda_divided(w->m)) return sim_backend_cuda.copy(sums, from, here * row);
  if (gate->axis == g->rank - 1) {
    const int64_t owner = fluid_section_of(g, gate).plane[plane % 2] * part->rows;
    const size_t blocks = (size_t)ceil((double)(part->rows * g->n[0]) / FLUID_SUMMED);
    SIM_TRY(sim_backend_cuda.copy(sums, from, blocks * row));
    return fluid_gather_items(part, &owner, 1, blocks * row, sums);
  }
  const size_t each = (size_t)blocks_of_plane(g, gate->axis);
  SIM_TRY(sim_backend_cuda.copy(sums + (size_t)part->first * each * FLUID_GATE_SUMS, from,
                                (size_t)w->d.l.own * each * row));
  return fluid_gather_planes(part, each * row, sums);
}

sim_status fluid_cuda_gates(fluid_work *w, double *out) {
  const grid_shape *g = &w->m->grid;
  const size_t each = (size_t)blocks_of(g, g->n[g->rank - 1]), blocks = 2 * each, numbers = blocks * FLUID_GATE_SUMS;
  const int count = w->d.gates.planes / 2;
  double *all = calloc(numbers * (size_t)count + blocks, sizeof *all);
  if (!all) return sim_no_memory("gates");
  double *column = all + numbers * (size_t)count;
  sim_status status = SIM_OK;
  (w->d.populations ? fluid_trt_gates : fluid_cuda_sum_gates)(&w->d);
  for (int i = 0; i < 2 * count && status == SIM_OK; i++)
    status = gather_blocks(w, i, all + (size_t)i * each * FLUID_GATE_SUMS);
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
