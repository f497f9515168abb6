/* Damping in absorbing layers. No result depends on how planes are dealt out to threads. */
#include "kernels/fluid/fluid.h"

#include <math.h>

/* Cell i of a plane of a layer. */
static int64_t cell_of(const grid_shape *g, const fluid_layer *layer, int64_t plane, int64_t i) {
  const int axis = layer->side / 2;
  const int64_t across = g->n[axis == 0 ? 1 : 0], first = i % across, second = i / across;
  const int64_t along = layer->side % 2 ? g->n[axis] - 1 - plane : plane;
  const int64_t at[3] = {axis == 0 ? along : first,
                         axis == 1   ? along
                         : axis == 0 ? first
                                     : second,
                         axis == 2 ? along : second};
  return (at[2] * g->n[1] + at[1]) * g->n[0] + at[0];
}

typedef struct moments {
  int64_t at; /* of the first one, in the state */
  double rho1, j[3];
} moments;

static moments moments_of(const fluid_machine *m, const void *first, int64_t cell) {
  const int rank = m->lattice->rank;
  const int64_t row = cell / m->grid.n[0], pitch = m->rows.pitch;
  moments out = {.at = row * m->rows.numbers * pitch + cell % m->grid.n[0]};
  out.rho1 = grid_number(first, m->single, out.at);
  for (int a = 0; a < rank; a++) {
    out.rho1 += grid_number(first, m->single, out.at + (1 + rank + a) * pitch) / 3;
    out.j[a] = grid_number(first, m->single, out.at + (1 + a) * pitch) / 3;
  }
  return out;
}

static bool is_solid(const fluid_machine *m, int64_t cell) { return m->walls.solid && m->walls.solid[cell]; }

/* Mean momentum through a plane, over its cells of the fluid. */
static double flow_through(const fluid_machine *m, const void *first, const fluid_layer *layer, int64_t plane) {
  double sum = 0;
  int64_t cells = 0;
  for (int64_t i = 0; i < layer->cells; i++) {
    const int64_t cell = cell_of(&m->grid, layer, plane, i);
    if (is_solid(m, cell)) continue;
    sum += moments_of(m, first, cell).j[layer->side / 2];
    cells++;
  }
  return cells > 0 ? sum / (double)cells : 0;
}

void fluid_sponge_start(const fluid_machine *m, const sim_buffer *state) {
  const void *first = fluid_first(state);
  for (int k = 0; k < m->sponge.layers; k++) {
    const fluid_layer *layer = &m->sponge.layer[k];
    double *flow = m->sponge.mean + layer->first, *dense = flow + layer->planes;
    for (int64_t plane = 0; plane < layer->planes; plane++) {
      flow[plane] = flow_through(m, first, layer, plane);
      for (int64_t i = 0; i < layer->cells; i++) {
        const int64_t cell = cell_of(&m->grid, layer, plane, i);
        dense[plane * layer->cells + i] = is_solid(m, cell) ? 0 : moments_of(m, first, cell).rho1;
      }
    }
  }
}

/* Changes density and momentum of a cell; S follows as that of the equilibrium does, by the change of j j/rho. */
static void change(const fluid_machine *m, void *first, int64_t cell, const moments *old, int axis, double dense,
                   double push) {
  const int rank = m->lattice->rank;
  const int64_t x = cell % m->grid.n[0], pitch = m->rows.pitch;
  double trace = 0;
  moments new = *old;
  new.rho1 += dense;
  new.j[axis] += push;
  const int64_t rest = old->at + (m->lattice->moments + axis) * pitch;
  const double left = fluid_set_moment(m, first, old->at + (1 + axis) * pitch, x, 3 * new.j[axis]);
  if (m->single) grid_set_number(first, true, rest, grid_number(first, true, rest) + left);
  for (int a = 0; a < rank; a++)
    for (int b = a; b < rank; b++) {
      const int64_t at = old->at + (a == b ? 1 + rank + a : 1 + 2 * rank + a + b - 1) * pitch;
      const double more = new.j[a] * new.j[b] / (1 + new.rho1) - old->j[a] * old->j[b] / (1 + old->rho1);
      (void)fluid_set_moment(m, first, at, x, grid_number(first, m->single, at) + (a == b ? 4.5 : 9) * more);
      if (a == b) trace += grid_number(first, m->single, at);
    }
  (void)fluid_set_moment(m, first, old->at, x, new.rho1 - trace / 3);
}

static void damp_plane(const fluid_machine *m, void *first, const fluid_layer *layer, int64_t plane) {
  const double share = layer->share[plane], now = flow_through(m, first, layer, plane);
  double *flow = m->sponge.mean + layer->first + plane;
  double *dense = m->sponge.mean + layer->first + layer->planes + plane * layer->cells;
  const double push = -share * (now - *flow);
  for (int64_t i = 0; i < layer->cells; i++) {
    const int64_t cell = cell_of(&m->grid, layer, plane, i);
    if (is_solid(m, cell)) continue;
    const moments old = moments_of(m, first, cell);
    const double more = -share * (old.rho1 - dense[i]);
    change(m, first, cell, &old, layer->side / 2, more, push);
    dense[i] += layer->follow * (old.rho1 + more - dense[i]);
  }
  *flow += layer->follow * (now + push - *flow);
}

void fluid_sponge_damp(const fluid_machine *m, const sim_buffer *state) {
  void *first = fluid_first(state);
  for (int k = 0; k < m->sponge.layers; k++) {
    const fluid_layer *layer = &m->sponge.layer[k];
#pragma omp parallel for schedule(static) num_threads(m->threads) if (m->threads > 1)
    for (int64_t plane = 0; plane < layer->planes; plane++) damp_plane(m, first, layer, plane);
  }
}
