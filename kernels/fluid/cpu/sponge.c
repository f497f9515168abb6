/* Damping in absorbing layers. No result depends on how planes are dealt out to threads and ranks. */
#include "kernels/fluid/fluid.h"
#include "kernels/fluid/machine.h"

#include <math.h>

typedef struct moments {
  int64_t at; /* of the first one, in the state */
  double rho1, j[3];
} moments;

static moments moments_of(const fluid_machine *m, const void *first, int64_t cell) {
  const int64_t row = cell / m->grid.n[0];
  moments out = {.at = fluid_row_at(&m->rows, row) + cell % m->grid.n[0]};
  out.rho1 = fluid_cell_momentum(m, first, out.at, out.j);
  for (int a = 0; a < m->lattice->rank; a++) out.j[a] /= 3;
  return out;
}

static bool is_solid(const fluid_machine *m, int64_t cell) { return m->walls.solid && m->walls.solid[cell]; }

/* ---- the parts of ranks ---- */

/* Whether ranks divide the planes of a layer, not the cells of each plane. */
static bool is_across(const fluid_machine *m, const fluid_layer *layer) { return layer->side / 2 == m->grid.rank - 1; }

/* Plane of the grid in which a plane of a layer across lies. */
static int64_t grid_plane(const fluid_machine *m, const fluid_layer *layer, int64_t plane) {
  return layer->side % 2 ? m->part.planes - 1 - plane : plane;
}

/* Cells of a plane of a layer that lie before a plane of the grid. */
static int64_t cells_before(const fluid_machine *m, const fluid_layer *layer, int64_t plane, int64_t before) {
  if (is_across(m, layer)) return grid_plane(m, layer, plane) < before ? layer->cells : 0;
  return before * (layer->cells / m->part.planes);
}

/* This rank's cells of a plane of a layer. */
static grid_range own_cells(const fluid_machine *m, const fluid_layer *layer, int64_t plane) {
  return (grid_range){cells_before(m, layer, plane, m->part.first), cells_before(m, layer, plane, m->part.end)};
}

/* ---- flow through planes ---- */

typedef struct flowing {
  const fluid_machine *m;
  const void *first;
  const fluid_layer *layer;
} flowing;

/* Adds the momentum of cells [begin, end) of a plane of a layer and the number of those that are fluid. */
static void add_flow(const flowing *f, int64_t plane, int64_t begin, int64_t end, double *sum, double *cells) {
  for (int64_t i = begin; i < end; i++) {
    const int64_t cell = fluid_layer_cell(&f->m->grid, f->layer, plane, i);
    if (is_solid(f->m, cell)) continue;
    *sum += moments_of(f->m, f->first, cell).j[f->layer->side / 2];
    *cells += 1;
  }
}

/* Sums of the cells in a plane of the grid: [planes of the layer] momentum, and behind it cells. */
static void flows_of_plane(const void *context, int64_t plane, double *sums) {
  const flowing *f = context;
  const int64_t each = f->layer->cells / f->m->part.planes;
  for (int64_t i = 0; i < f->layer->planes; i++)
    add_flow(f, i, plane * each, (plane + 1) * each, &sums[i], &sums[f->layer->planes + i]);
}

/* Mean momentum through each plane of a layer over its cells of the fluid, flow[planes]; behind it there is room for as
 * many numbers. Of a layer whose planes ranks divide, a rank gets its own. */
static sim_status find_flows(const fluid_machine *m, const void *first, const fluid_layer *layer, double *flow) {
  const flowing f = {m, first, layer};
  double *cells = flow + layer->planes;
  for (int64_t i = 0; i < 2 * layer->planes; i++) flow[i] = 0;
  if (!is_across(m, layer)) {
    SIM_TRY(fluid_sum_planes(&m->part, m->threads, (int)(2 * layer->planes), flows_of_plane, &f, flow));
  } else {
#pragma omp parallel for schedule(static) num_threads(m->threads) if (m->threads > 1)
    for (int64_t i = 0; i < layer->planes; i++) {
      const grid_range own = own_cells(m, layer, i);
      add_flow(&f, i, own.first, own.end, &flow[i], &cells[i]);
    }
  }
  for (int64_t i = 0; i < layer->planes; i++) flow[i] = cells[i] > 0 ? flow[i] / cells[i] : 0;
  return SIM_OK;
}

/* Calls `act` for each layer with the flow through its planes. */
typedef void layer_action(const fluid_machine *m, void *first, const fluid_layer *layer, const double *flow);
static sim_status each_layer(const fluid_machine *m, const sim_buffer *state, layer_action *act) {
  sim_status status = SIM_OK;
  for (int k = 0; k < m->sponge.layers && status == SIM_OK; k++) {
    const fluid_layer *layer = &m->sponge.layer[k];
    double *flow = fluid_scratch_of(&m->part, FLUID_SCRATCH_SPONGE, (size_t)(2 * layer->planes) * sizeof *flow);
    status = flow ? find_flows(m, fluid_first(state), layer, flow) : sim_no_memory("sponges");
    if (status == SIM_OK) act(m, fluid_first(state), layer, flow);
  }
  return status;
}

static void start_layer(const fluid_machine *m, void *first, const fluid_layer *layer, const double *flow) {
  double *means = m->sponge.mean + layer->first, *dense = means + layer->planes;
  for (int64_t plane = 0; plane < layer->planes; plane++) {
    const grid_range own = own_cells(m, layer, plane);
    means[plane] = flow[plane];
    for (int64_t i = own.first; i < own.end; i++) {
      const int64_t cell = fluid_layer_cell(&m->grid, layer, plane, i);
      dense[plane * layer->cells + i] = is_solid(m, cell) ? 0 : moments_of(m, first, cell).rho1;
    }
  }
}

sim_status fluid_sponge_start(const fluid_machine *m, const sim_buffer *state) {
  return each_layer(m, state, start_layer);
}

static void delay_layer(const fluid_machine *m, void *first, const fluid_layer *layer, const double *flow) {
  double *means = m->sponge.mean + layer->first;
  (void)first;
  for (int64_t plane = 0; plane < layer->planes; plane++) means[plane] = 2 * means[plane] - flow[plane];
}

sim_status fluid_sponge_delay(const fluid_machine *m, const sim_buffer *state) {
  return each_layer(m, state, delay_layer);
}

/* The same of populations: by those that have the changes of density, momentum and S. */
static void kick_populations(const fluid_machine *m, void *first, const moments *old, int64_t x, double dense,
                             const double *push) {
  const fluid_lattice *l = m->lattice;
  double s[3][3], trace = 0;
  for (int a = 0; a < l->rank; a++) {
    for (int b = 0; b < l->rank; b++)
      s[a][b] = (old->j[a] + push[a]) * (old->j[b] + push[b]) / (1 + old->rho1 + dense) -
                old->j[a] * old->j[b] / (1 + old->rho1);
    trace += s[a][a];
  }
  for (int c = 0; c < l->directions; c++) {
    const int64_t at = old->at + c * m->rows.stride;
    double more = dense - 1.5 * trace;
    for (int a = 0; a < l->rank; a++) {
      more += 3 * l->c[c][a] * push[a];
      for (int b = 0; b < l->rank; b++) more += 4.5 * l->c[c][a] * l->c[c][b] * s[a][b];
    }
    (void)fluid_set_moment(m, first, at, x, grid_number(first, m->single, at) + more);
  }
}

void fluid_kick(const fluid_machine *m, void *first, int64_t cell, double dense, const double *push) {
  const moments before = moments_of(m, first, cell), *old = &before;
  const int rank = m->lattice->rank;
  const int64_t x = cell % m->grid.n[0], pitch = m->rows.stride;
  double trace = 0;
  if (m->populations) {
    kick_populations(m, first, old, x, dense, push);
    return;
  }
  moments new = *old;
  new.rho1 += dense;
  for (int a = 0; a < rank; a++) {
    if (push[a] == 0) continue;
    new.j[a] += push[a];
    const int64_t rest = old->at + (m->lattice->moments + a) * pitch;
    const double left = fluid_set_moment(m, first, old->at + (1 + a) * pitch, x, 3 * new.j[a]);
    if (m->single) grid_set_number(first, true, rest, grid_number(first, true, rest) + left);
  }
  for (int a = 0; a < rank; a++)
    for (int b = a; b < rank; b++) {
      const int64_t at = old->at + (a == b ? 1 + rank + a : 1 + 2 * rank + a + b - 1) * pitch;
      const double more = new.j[a] * new.j[b] / (1 + new.rho1) - old->j[a] * old->j[b] / (1 + old->rho1);
      (void)fluid_set_moment(m, first, at, x, grid_number(first, m->single, at) + (a == b ? 4.5 : 9) * more);
      if (a == b) trace += grid_number(first, m->single, at);
    }
  (void)fluid_set_moment(m, first, old->at, x, new.rho1 - trace / 3);
}

static void damp_plane(const fluid_machine *m, void *first, const fluid_layer *layer, int64_t plane, double now) {
  const double share = layer->share[plane];
  const grid_range own = own_cells(m, layer, plane);
  double *flow = m->sponge.mean + layer->first + plane;
  double *dense = m->sponge.mean + layer->first + layer->planes + plane * layer->cells;
  double push[3] = {0};
  push[layer->side / 2] = -share * (now - *flow);
  for (int64_t i = own.first; i < own.end; i++) {
    const int64_t cell = fluid_layer_cell(&m->grid, layer, plane, i);
    if (is_solid(m, cell)) continue;
    const moments old = moments_of(m, first, cell);
    const double more = -share * (old.rho1 - dense[i]);
    fluid_kick(m, first, cell, more, push);
    dense[i] += layer->follow * (old.rho1 + more - dense[i]);
  }
  *flow += layer->follow * (now + push[layer->side / 2] - *flow);
}

void fluid_sponge_follow(const fluid_machine *m, const double more[FLUID_SIDES]) {
  for (int k = 0; k < m->sponge.layers; k++) {
    const fluid_layer *layer = &m->sponge.layer[k];
    const double gain = fluid_sponge_gain(layer, more);
    for (int64_t plane = 0; plane < layer->planes && gain != 0; plane++) {
      if (layer->open[plane] > 0) m->sponge.mean[layer->first + plane] += gain / layer->open[plane];
    }
  }
}

static void damp_layer(const fluid_machine *m, void *first, const fluid_layer *layer, const double *flow) {
#pragma omp parallel for schedule(static) num_threads(m->threads) if (m->threads > 1)
  for (int64_t plane = 0; plane < layer->planes; plane++) damp_plane(m, first, layer, plane, flow[plane]);
}

sim_status fluid_sponge_damp(const fluid_machine *m, const sim_buffer *state) {
  return each_layer(m, state, damp_layer);
}

/* The flow through planes that ranks divide, and the densities of all. */
sim_status fluid_sponge_gather(const fluid_machine *m) {
  const fluid_part *p = &m->part;
  for (int k = 0; k < m->sponge.layers; k++) {
    const fluid_layer *layer = &m->sponge.layer[k];
    double *flow = m->sponge.mean + layer->first, *dense = flow + layer->planes;
    for (int64_t plane = 0; plane < layer->planes; plane++) {
      size_t cells[SIM_RANKS_MAX], one[SIM_RANKS_MAX];
      for (int r = 0; r < p->comm->size; r++) {
        const int64_t before = cells_before(m, layer, plane, fluid_part_first(p, r + 1));
        cells[r] = (size_t)before * sizeof *dense;
        one[r] = before > 0 ? sizeof *flow : 0;
      }
      if (is_across(m, layer)) SIM_TRY(sim_comm_gather_parts(p->comm, flow + plane, one));
      SIM_TRY(sim_comm_gather_parts(p->comm, dense + plane * layer->cells, cells));
    }
  }
  return SIM_OK;
}
