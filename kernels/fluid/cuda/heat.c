/* The temperature in device memory: its law, links, and the start. */
#include "kernels/fluid/cuda/host.h"

#include "engine/device/cuda.h"

#include <math.h>
#include <stdlib.h>

static void set_law(const fluid_machine *m, fluid_warm *out) {
  const fluid_warmth *w = m->warmth;
  const double most = fmax(fabs(w->law.least), fabs(w->law.most));
  out->shift = w->shift;
  out->scale = ldexp(1, (int)ceil(log2(most)));
  out->law = (fluid_warm_law){.omega = w->law.omega,
                              .reference = w->law.reference / out->scale,
                              .least = w->law.least / out->scale,
                              .most = w->law.most / out->scale,
                              .flow_tau = w->law.flow_tau,
                              .conduct = w->law.conduct};
  for (int a = 0; a < 3; a++) out->law.push[a] = w->law.push[a] * out->scale;
}

/* What a link brings beside what the cell sends along it: flux into the cell, by the area that it stands for. */
static double flux_of(const fluid_machine *m, const fluid_link *link) {
  const fluid_warmth *w = m->warmth;
  if (link->body < 0) return w->side_flux[link->arriving - 1];
  return w->share ? w->share[link - m->walls.link] * w->body_flux[link->body] : 0;
}

/* As side_brings and body_brings of cpu/heat.c. */
static fluid_warm_edge edge_of(const fluid_machine *m, const fluid_cell *cell, const fluid_link *link) {
  static const fluid_warm_edge copy = {.own = 1};
  const fluid_warmth *w = m->warmth;
  const fluid_warm_edge back = {.constant = flux_of(m, link) / FLUID_HEAT_WEIGHT, .sent = 1};
  const int side = link->arriving - 1; /* x_low sends along +x, direction 1 */
  const double T = link->body < 0 ? w->side[side] : w->body[link->body];
  const fluid_warm_edge half = {.constant = 2 * T, .sent = -1};
  if (link->body < 0) {
    const fluid_side_kind kind = w->kind[side];
    fluid_warm_edge out = isnan(T) ? back : half;
    if (kind == FLUID_SIDE_OPEN) {
      if (isnan(T)) return copy;
      out.open = 1;
    }
    return kind == FLUID_SIDE_GIVEN && fluid_heat_given(m, cell, side) < 0 ? copy : out;
  }
  if (isnan(T)) return back;
  if (link->kind == FLUID_FAR && !link->entry)
    return (fluid_warm_edge){.constant = 2 * link->weight * T, .sent = -link->weight, .own = 1 - link->weight};
  if (link->kind == FLUID_NEAR && link->towards == link->arriving) /* not mirrored at a slip side */
    return (fluid_warm_edge){.constant = 2 * T, .sent = -link->weight, .beyond = link->weight - 1};
  return half;
}

fluid_warm_edge fluid_cuda_warm_edge(const fluid_machine *m, const fluid_device *d, const fluid_cell *cell,
                                     const fluid_link *link) {
  fluid_warm_edge out = edge_of(m, cell, link);
  out.constant /= d->warm.scale;
  return out;
}

static sim_status send_edges(const fluid_machine *m, fluid_device *d) {
  const fluid_walls *walls = &m->walls;
  const size_t bytes = (size_t)walls->links * sizeof(fluid_warm_edge);
  if (walls->links == 0) return SIM_OK;
  fluid_warm_edge *edge = calloc(1, bytes);
  for (int64_t i = 0; edge && i < walls->cells; i++) {
    const fluid_cell *cell = &walls->cell[i];
    const int count = fluid_axis_links(m, cell);
    for (int j = cell->first; j < cell->first + count; j++) edge[j] = fluid_cuda_warm_edge(m, d, cell, &walls->link[j]);
  }
  return fluid_cuda_send_away(edge, bytes, (void **)&d->warm.edge);
}

/* Sides, and behind them bodies. */
static int owner_of(const fluid_link *link) { return link->body < 0 ? link->arriving - 1 : FLUID_SIDES + link->body; }

static fluid_warm_pull pull_of(const fluid_machine *m, const fluid_parameters *p, int64_t cell, int32_t edge,
                               double scale) {
  const fluid_link *link = &m->walls.link[edge];
  const fluid_warmth *w = m->warmth;
  const double given = link->body < 0 ? p->heat.flux[link->arriving - 1] : fluid_body_of(p, link->body)->flux;
  fluid_warm_pull out = {.cell = (int32_t)cell, .edge = edge};
  if (isnan(given)) return out;
  out.share = link->body < 0 ? 1 : w->share ? w->share[edge] : 0;
  out.rise = flux_of(m, link) * fluid_link_part(link) / scale;
  return out;
}

/* Several ranks: room for what each of these links gives to the sums, and where they are. */
static sim_status make_terms(const fluid_machine *m, const fluid_warm_pull *pull, int64_t count, fluid_warm *out) {
  out->pull_row = malloc((size_t)count * sizeof *out->pull_row);
  if (!out->pull_row) return sim_no_memory("links of ranks");
  for (int64_t i = 0; i < count; i++) out->pull_row[i] = m->walls.cell[pull[i].cell].row;
  return fluid_cuda_send(NULL, (size_t)count * 2 * sizeof(double), (void **)&out->terms);
}

/* Links along axes by owner, cell and direction. */
static sim_status send_pulls(const fluid_machine *m, const fluid_parameters *p, fluid_device *d) {
  const fluid_walls *walls = &m->walls;
  int64_t count[FLUID_WARM_OWNERS] = {0}, next[FLUID_WARM_OWNERS], all = 0;
  int blocks = 0;
  for (int64_t i = 0; i < walls->cells; i++)
    for (int j = 0; j < fluid_axis_links(m, &walls->cell[i]); j++)
      count[owner_of(&walls->link[walls->cell[i].first + j])]++;
  for (int k = 0; k < FLUID_WARM_OWNERS; k++) {
    next[k] = all;
    all += count[k];
  }
  if (all == 0) return SIM_OK;
  fluid_warm_pull *pull = malloc((size_t)all * sizeof *pull);
  fluid_pull_block *block = malloc(((size_t)all / FLUID_SEGMENT + FLUID_WARM_OWNERS) * sizeof *block);
  for (int k = 0; pull && block && k < FLUID_WARM_OWNERS; k++) {
    d->warm.owner_blocks[k] = blocks;
    for (int64_t i = 0; i < count[k]; i += FLUID_SEGMENT)
      block[blocks++] = (fluid_pull_block){(int32_t)(next[k] + i),
                                           (int32_t)(count[k] - i < FLUID_SEGMENT ? count[k] - i : FLUID_SEGMENT)};
  }
  d->warm.owner_blocks[FLUID_WARM_OWNERS] = d->warm.pull_blocks = blocks;
  for (int64_t i = 0; pull && i < walls->cells; i++) {
    const fluid_cell *cell = &walls->cell[i];
    const int links = fluid_axis_links(m, cell);
    for (int j = 0; j < links; j++) {
      const int owner = owner_of(&walls->link[cell->first + j]);
      fluid_warm_pull *to = &pull[next[owner]++];
      *to = pull_of(m, p, i, cell->first + j, d->warm.scale);
      d->warm.area[owner] += to->share;
    }
  }
  d->warm.pulls = (int)all;
  sim_status status = pull && fluid_cuda_divided(m) ? make_terms(m, pull, all, &d->warm) : SIM_OK;
  if (status == SIM_OK)
    status = fluid_cuda_send_away(block, block ? (size_t)blocks * sizeof *block : 1, (void **)&d->warm.pull_block);
  else
    free(block);
  if (status == SIM_OK) {
    status = fluid_cuda_send_away(pull, (size_t)all * sizeof *pull, (void **)&d->warm.pull);
    pull = NULL;
  }
  free(pull);
  if (status == SIM_OK) status = fluid_cuda_send(NULL, (size_t)blocks * 2 * sizeof(double), (void **)&d->warm.pull_sum);
  return status;
}

/* Temperatures of the start, and of solid cells those that are shown: of the planes that are here. */
static sim_status send_temperatures(const fluid_machine *m, const fluid_parameters *p, fluid_device *d) {
  const grid_range rows = fluid_part_rows(&m->part);
  const int64_t nx = m->grid.n[0], planes = d->l.n[m->grid.rank - 1];
  const size_t plane = (size_t)(m->part.rows * nx) * sizeof(double);
  double *shown = m->warmth->shown;
  fluid_shape shape[FLUID_BODIES];
  void *there = NULL;
  for (int b = 0; b < (int)p->bodies.count; b++) shape[b] = fluid_body_shape(p, m->walls.meshes, b, &m->walls.pose[b]);
#pragma omp parallel for schedule(static) num_threads(m->threads) if (m->threads > 1)
  for (int64_t row = rows.first; row < rows.end; row++)
    for (int64_t i = 0; m->walls.solid && i < nx; i++)
      if (m->walls.solid[row * nx + i]) shown[row * nx + i] = fluid_heat_solid(m, p, shape, row, i);
  SIM_TRY(fluid_swap_planes(&m->part, &(fluid_room){.memory = NULL}, shown, plane));
  SIM_TRY(fluid_cuda_send(NULL, (size_t)planes * plane, &there));
  d->warm.shown = there;
  for (int64_t k = 0, each = fluid_cuda_divided(m) ? 1 : planes; k < planes; k += each)
    SIM_TRY(sim_backend_cuda.copy((char *)there + (size_t)k * plane,
                                  (const char *)shown + (size_t)fluid_cuda_plane(m, d, k) * plane,
                                  (size_t)each * plane));
  free(shown);
  m->warmth->shown = NULL;
  return SIM_OK;
}

sim_status fluid_cuda_build_heat(const fluid_machine *m, const fluid_parameters *p, fluid_device *d) {
  if (!d->heat) return SIM_OK;
  set_law(m, &d->warm);
  SIM_TRY(send_edges(m, d));
  SIM_TRY(send_pulls(m, p, d));
  return send_temperatures(m, p, d);
}

/* As `slope` of cpu/heat.c finds it. */
static fluid_warm_surface surface_of(const fluid_machine *m, const fluid_cell *cell, int axis, int i) {
  const fluid_warmth *w = m->warmth;
  const fluid_link *link = fluid_link_of(&m->walls, cell->row, cell->x, 1 + 2 * axis + i);
  if (!link) return (fluid_warm_surface){0};
  const int side = 2 * axis + i;
  const double T = link->body >= 0 ? w->body[link->body] : w->side[side], flux = flux_of(m, link);
  const double part = link->body < 0 ? 0.5 : fmax(fluid_link_part(link), 1e-12), D = (1 / w->law.omega - 0.5) / 4;
  if ((link->body < 0 && w->kind[side] == FLUID_SIDE_OPEN) || (isnan(T) && flux == 0))
    return (fluid_warm_surface){.far = -1};
  if (isnan(T)) return (fluid_warm_surface){.T = flux * part / D, .far = part, .above = 1};
  return (fluid_warm_surface){.T = T, .far = part};
}

sim_status fluid_cuda_start_heat(const fluid_machine *m, const fluid_device *d) {
  const int rank = m->lattice->rank;
  const size_t bytes = (size_t)(m->walls.cells * 2 * rank) * sizeof(fluid_warm_surface);
  fluid_warm_surface *surface = malloc(bytes + 1);
  void *there = NULL;
  uint32_t *walls = NULL;
  for (int64_t i = 0; surface && i < m->walls.cells; i++)
    for (int k = 0; k < 2 * rank; k++) {
      fluid_warm_surface *s = &surface[2 * rank * i + k];
      *s = surface_of(m, &m->walls.cell[i], k / 2, k % 2);
      s->T /= d->warm.scale;
    }
  sim_status status = fluid_cuda_send_away(surface, bytes, &there);
  if (status == SIM_OK) status = fluid_cuda_send_mask(m, d, FLUID_MASK_WALLS, &walls);
  if (status == SIM_OK) {
    fluid_cuda_begin_heat(d, there, walls);
    status = sim_queue_cuda.finish();
  }
  sim_backend_cuda.free(walls);
  sim_backend_cuda.free(there);
  return status;
}

void fluid_cuda_free_heat(fluid_device *d) {
  sim_backend_cuda.free(d->warm.shown);
  sim_backend_cuda.free(d->warm.edge);
  sim_backend_cuda.free(d->warm.pull);
  sim_backend_cuda.free(d->warm.pull_block);
  sim_backend_cuda.free(d->warm.pull_sum);
  sim_backend_cuda.free(d->warm.terms);
  free(d->warm.pull_row);
}

/* Of a cell with links 5.5 (3.5) links, of which 3 (2) along axes; a cell in a sponge is listed, with what links take.
 */
double fluid_cuda_heat_bytes(const fluid_parameters *p, const fluid_meshes *meshes) {
  const grid_shape g = fluid_grid_of(p);
  const double links = g.rank == 2 ? 3.5 : 5.5;
  return fluid_wall_cells(p, meshes) * (links * (sizeof(fluid_warm_edge) + sizeof(fluid_warm_pull))) +
         fluid_cuda_damped_bound(p) * (sizeof(fluid_edge_cell) + sizeof(double));
}
