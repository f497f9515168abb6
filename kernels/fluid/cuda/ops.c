/* The operations on an NVIDIA GPU: memory, the graph of a step, and what is read back. Twin: cpu/ops.c. */
#include "kernels/fluid/cpu/push.h"
#include "kernels/fluid/cuda/host.h"
#include "kernels/fluid/start/start.h"

#include "engine/device/cuda.h"
#include "engine/reduce.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = 4 };

static double groups_of(const grid_shape *g) { return ceil((double)g->n[0] / FLUID_GROUP); }

/* Of a cell: moments, temperature and flux. */
static int numbers_of(const fluid_parameters *p) {
  const int rank = fluid_grid_of(p).rank;
  return fluid_lattice_of(rank, false)->moments + (p->heat.given ? 1 + rank : 0);
}

/* Rows of a state, the last ones with `more` numbers. */
static double state_rows(const fluid_parameters *p, double more) {
  const grid_shape grid = fluid_grid_of(p), *g = &grid;
  const double row = FLUID_GROUP * numbers_of(p);
  return (double)g->n[1] * (double)g->n[2] * groups_of(g) + ceil(more / row);
}

/* Planes are added by themselves, so that no sum depends on which GPU has them. */
double fluid_cuda_sum_blocks(const grid_shape *g) {
  const double planes = (double)g->n[g->rank - 1];
  return planes * ceil(grid_cells_wanted(g) / planes / FLUID_SUMMED);
}

void fluid_cuda_plan_walls(const fluid_parameters *p, const fluid_meshes *meshes, sim_plan *out) {
  const grid_shape g = fluid_grid_of(p);
  const double sums = FLUID_SUMS * sizeof(double) * fluid_cuda_sum_blocks(&g);
  if (fluid_cuda_wall_bytes(p, meshes) > 0) {
    sim_plan_add(out, "links of walls", fluid_cuda_wall_bytes(p, meshes));
    sim_plan_add_host(out, "links of walls on their way", fluid_cuda_wall_bytes(p, meshes));
  }
  if (p->gates.count > 0) {
    sim_plan_add(out, "gates", fluid_cuda_gates_bytes(p));
    sim_plan_add_host(out, "gates", fluid_cuda_gates_bytes(p));
  }
  sim_plan_add(out, "sums of cells", sums);
  sim_plan_add_host(out, "sums of cells", sums);
}

/* Planes of the start's fields that are made at once on their way to the device: enough work for all threads. */
static int64_t planes_at_once(const grid_shape *g) {
  const double planes = (double)g->n[g->rank - 1];
  return (int64_t)fmin(planes, ceil(0x1p21 * planes / grid_cells_wanted(g)));
}

/* Whether the rates of relaxation of listed cells are stored. */
static bool has_rates(const fluid_parameters *p) { return p->heat.given && p->turbulence.given; }

/* States of a rank, and what ranks exchange in a step: planes, masses at bodies, sums of sponges beside the last axis.
 * listed, more: bytes behind the cells of a state, of lists and of fields; linked: cells with links. */
static void plan_ranks(const fluid_parameters *p, const sim_comm *comm, double listed, double more, double linked,
                       sim_plan *out) {
  const grid_shape g = fluid_grid_of(p);
  const double here = fluid_part_share(&g, comm, true), planes = (double)g.n[g.rank - 1];
  const double cells =
      state_rows(p, 0) * FLUID_GROUP * numbers_of(p) * (fluid_single(p) ? sizeof(float) : sizeof(double));
  const bool moves = fluid_moves(p), late = moves || more > 0 || fluid_has_sponge(p);
  double through = 0;
  int layers = 0;
  for (int s = 0; s < 2 * (g.rank - 1); s++) {
    if (!p->sides[s].given || isnan(p->sides[s].sponge)) continue;
    const double lines = planes * ceil((g.rank == 3 ? (double)g.n[1 - s / 2] : 1) / FLUID_SUMMED);
    through = fmax(through, 2 * lines * ceil(p->sides[s].sponge * (double)g.n[0] / g.size[0]));
    layers++;
  }
  const double added = fmax(p->bodies.count > 0 && !moves ? linked : 1, through);
  sim_plan_add(out, "moments, before and after a step, and what ranks exchange",
               fluid_cuda_exchange_bytes(comm, 2, (cells + more) * here + listed, added));
  sim_plan_add_host(out, "staged for other ranks, at most", 2 * cells / planes);
  if (more > 0) sim_plan_add_host(out, "forces and rates of all ranks, of the last one", cells * here + listed + more);
  out->bytes_received = (moves ? 4 : 2) * cells / planes + (p->bodies.count > 0 ? sizeof(double) * linked : 0) +
                        layers * through * sizeof(double);
  out->exchanges = (moves ? 5 : 1) + (p->bodies.count > 0 && !moves) + layers;
  if (!late) out->beside = 0.9; /* the inner planes, where the marching kernel makes them */
}

static void plan(const fluid_parameters *p, const fluid_meshes *meshes, const sim_setup *setup, sim_plan *out) {
  const grid_shape g = fluid_grid_of(p);
  const double number = fluid_single(p) ? sizeof(float) : sizeof(double), cells = grid_cells_wanted(&g);
  const double row = number * FLUID_GROUP * numbers_of(p);
  const double linked = fluid_wall_cells(p, meshes); /* at most */
  const double listed =
      (p->bodies.count > 0 && !fluid_moves(p) ? linked : 0) + (has_rates(p) ? linked + fluid_cuda_damped_bound(p) : 0);
  const double more = (p->force ? g.rank * cells : 0) + (fluid_cuda_stores_rates(p) ? cells : 0);
  const double state = state_rows(p, listed + more) * row;
  const double here = fluid_part_share(&g, setup->comm, true);
  const double fields = (g.rank + 1) * cells * number;
  if (setup->comm->size > 1) {
    plan_ranks(p, setup->comm, listed * number, more * number, linked, out);
  } else {
    sim_plan_add(
        out, p->heat.given ? "moments and temperature, before and after a step" : "moments, before and after a step",
        2 * state);
  }
  sim_plan_add(out, "velocity and pressure", fields * here);
  fluid_cuda_plan_walls(p, meshes, out);
  if (p->grains.count > 0) sim_plan_add(out, "masks of cells", fluid_cuda_mask_bytes(p));
  if (fluid_has_sponge(p)) sim_plan_add(out, "sponges", fluid_sponge_bytes(p));
  if (p->heat.given) {
    sim_plan_add(out, "temperature as shown", cells * sizeof(double) * here);
    sim_plan_add_host(out, "temperature at the start", cells * sizeof(double) * here);
    if (fluid_cuda_heat_bytes(p, meshes) > 0)
      sim_plan_add(out, "links of the temperature", fluid_cuda_heat_bytes(p, meshes));
  }
  if (p->initial || fluid_rests(p))
    sim_plan_add_host(out, "velocity and pressure at the start",
                      fields * (double)planes_at_once(&g) / (double)g.n[g.rank - 1]);
  out->checkpoint_bytes = state;
  out->work_rate_guess = (fluid_single(p) ? 4e10 : 2e10) *
                         (g.rank == 2                 ? 1.2
                          : p->lattice == FLUID_D3Q27 ? 0.2
                                                      : 1) *
                         (p->heat.given ? 0.7 : 1);
  /* Cells of lists take some 0.7 ns each, of which the bound on their number has room. */
  const double slow = fmax(0, linked - 4096) / 1.25 + fluid_cuda_damped_bound(p);
  out->work_rate_guess =
      1 / (1 / out->work_rate_guess + (fluid_single(p) ? 0.7e-9 : 1.2e-9) * slow / cells +
           (p->force ? fluid_single(p) ? 4e-11 : 8e-11 : 0) + (fluid_cuda_stores_rates(p) ? 1e-10 : 0));
}

void fluid_cuda_destroy(fluid_work **work) {
  fluid_work *w = *work;
  if (!w) return;
  fluid_cuda_leave(w);
  for (int i = 0; i < 2; i++) {
    sim_queue_cuda.graph_destroy(&w->graph[i]);
    sim_buffer_destroy(&w->state[i]);
  }
  sim_buffer_destroy(&w->fields);
  fluid_cuda_free(&w->d);
  fluid_cuda_free_laws(&w->d);
  sim_backend_cuda.free(w->d.guard);
  sim_backend_cuda.free(w->d.step);
  sim_backend_cuda.free(w->d.sum);
  free(w->sums);
  free(w);
  *work = NULL;
}

/* Of the planes that are here: on several GPUs those of a rank, and those beside them. */
static sim_status allocate(fluid_work *w) {
  const grid_shape *g = &w->m->grid;
  const int64_t cells = (int64_t)w->d.l.n[0] * w->d.l.n[1] * w->d.l.n[2];
  fluid_device *d = &w->d;
  const int row = FLUID_GROUP * numbers_of(w->p);
  const int64_t rests = w->m->motion ? 0 : w->m->walls.members;
  const int64_t rates = has_rates(w->p) ? w->m->walls.cells + fluid_cuda_damped_cells(w->m) : 0;
  const int64_t pushes = w->p->force ? g->rank * cells : 0, laws = fluid_cuda_stores_rates(w->p) ? cells : 0;
  const double here = (double)d->l.n[1] * d->l.n[2] * d->l.groups,
               rows = here + ceil((double)(rests + rates + pushes + laws) / row);
  const sim_dtype type = d->single ? SIM_F32 : SIM_F64;
  if (!(rows * row < 0x1p58)) return sim_no_memory("the fluid");
  if (fluid_cuda_divided(w->m)) SIM_TRY(fluid_cuda_join(w, 2, (int64_t[]){(int64_t)rows, row}));
  for (int i = 0; i < 2; i++) {
    if (!w->exchange)
      SIM_TRY(sim_buffer_create(&sim_backend_cuda, type, 2, (int64_t[]){(int64_t)rows, row}, &w->state[i]));
    d->state[i] = w->state[i].data;
  }
  d->numbers = (size_t)here * (size_t)row;
  w->listed = rests + rates;
  if (pushes > 0) d->push = d->numbers + (size_t)(rests + rates);
  if (laws > 0) d->rates = d->numbers + (size_t)(rests + rates + pushes);
  SIM_TRY(sim_buffer_create(&sim_backend_cuda, type, 2, (int64_t[]){g->rank + 1, cells}, &w->fields));
  d->fields = w->fields.data;
  return fluid_cuda_allocate_guards(w);
}

sim_status fluid_cuda_allocate_guards(fluid_work *w) {
  fluid_device *d = &w->d;
  void *made = NULL;
  d->sum_blocks = (int)(fluid_cuda_sum_blocks(&w->m->grid) / (double)w->m->part.planes) * d->l.own;
  SIM_TRY(sim_backend_cuda.alloc(FLUID_SUMS * (size_t)d->sum_blocks * sizeof(double), &made));
  d->sum = made;
  SIM_TRY(sim_backend_cuda.alloc(sizeof *d->guard, &made));
  d->guard = made;
  SIM_TRY(sim_backend_cuda.alloc(2 * sizeof *d->step, &made));
  d->step = made;
  return SIM_OK;
}

sim_status fluid_cuda_new(fluid_machine *m, const fluid_parameters *p, const fluid_numbers *k, fluid_work **out) {
  fluid_work *w = *out = calloc(1, sizeof *w);
  if (!w) return sim_no_memory("the model");
  w->m = m;
  w->p = p;
  w->numbers = k;
  fluid_device *d = &w->d;
  d->l.groups = (int)groups_of(&m->grid);
  d->rank = m->grid.rank;
  d->full = p->lattice == FLUID_D3Q27;
  d->single = m->single;
  d->omega = m->collision.omega;
  d->smagorinsky = m->collision.smagorinsky;
  d->eddies = d->smagorinsky > 0;
  for (int s = 0; s < FLUID_SIDES; s++) d->straight = d->straight || p->sides[s].straight;
  for (int a = 0; a < 3; a++) {
    d->l.n[a] = (int)m->grid.n[a];
    d->g[a] = m->collision.g[a];
    d->force = d->force || d->g[a] != 0;
  }
  fluid_cuda_choose_planes(m, d);
  d->fast = fluid_speed_of_mach(FLUID_MACH_FAST);
  d->fastest = fluid_speed_of_mach(FLUID_MACH_FASTEST);
  d->dx = k->dx;
  d->dt = k->dt;
  d->density = p->density;
  d->tau = k->tau;
  return SIM_OK;
}

sim_status fluid_cuda_allocate_sums(fluid_work *w) {
  int most = FLUID_SUMS * (int)fluid_cuda_sum_blocks(&w->m->grid); /* of heat FLUID_WARM_SUMS */
  if (2 * w->d.warm.pull_blocks > most) most = 2 * w->d.warm.pull_blocks;
  w->sums = malloc((size_t)most * sizeof *w->sums);
  return w->sums ? SIM_OK : sim_no_memory("sums of cells");
}

static sim_status create(fluid_machine *m, const fluid_parameters *p, const fluid_numbers *k, const sim_setup *setup,
                         fluid_work **out) {
  (void)setup;
  SIM_TRY(fluid_cuda_new(m, p, k, out));
  fluid_work *w = *out;
  fluid_device *d = &w->d;
  d->l.numbers = numbers_of(p);
  d->heat = m->warmth != NULL;
  fluid_cuda_choose_tile(d);
  /* What rounding takes from 3 j of up to 1.5 times `speed` fits: half a unit in its last place is at most 511 units.
   */
  d->unit = ldexp(1, (int)ceil(log2(4.5 * k->mach / sqrt(3))) - 34);
  SIM_TRY(allocate(w));
  SIM_TRY(fluid_cuda_build(m, p, k, d));
  SIM_TRY(fluid_cuda_compile(m, p, k, d));
  return fluid_cuda_allocate_sums(w);
}

static const sim_buffer *state_of(const fluid_work *w) { return &w->state[w->d.now]; }
const sim_buffer *fluid_cuda_fields(const fluid_work *w) { return &w->fields; }

fluid_device *fluid_cuda_device(fluid_work *work) { return &work->d; }

sim_status fluid_cuda_set_step(fluid_work *w, int64_t step, bool fast) {
  const unsigned long long now[2] = {(unsigned long long)step, (unsigned long long)step}, none = ~0ull;
  const fluid_guard guard = {{fast ? 0 : none, none, none, none}, {0}};
  w->fast = fast;
  w->made = step;
  w->remembered = -1;
  SIM_TRY(sim_backend_cuda.copy(w->d.step, now, sizeof now));
  SIM_TRY(fluid_cuda_reset_laws(&w->d));
  return sim_backend_cuda.copy(w->d.guard, &guard, sizeof guard);
}

/* Planes from plane k of those here on that are next to each other in the grid, `most` at most. */
static int64_t planes_in_row(const fluid_work *w, int64_t k, int64_t most) {
  const int64_t first = fluid_cuda_plane(w->m, &w->d, k), planes = w->d.l.n[w->d.rank - 1];
  int64_t count = 1;
  while (count < most && k + count < planes && fluid_cuda_plane(w->m, &w->d, k + count) == first + count) count++;
  return count;
}

sim_status fluid_cuda_fill_fields(fluid_work *w, const sim_setup *setup) {
  const fluid_part *part = &w->m->part;
  const size_t plane = (size_t)(part->rows * w->m->grid.n[0]) * sim_dtype_size(w->fields.dtype);
  const size_t there = (size_t)w->fields.shape[1] * sim_dtype_size(w->fields.dtype);
  const int64_t most = planes_at_once(&w->m->grid), planes = w->d.l.n[w->d.rank - 1];
  void *values[FIELDS] = {NULL};
  fluid_machine m = *w->m;
  sim_status status = SIM_OK;
  char *host = calloc((size_t)(w->d.rank + 1) * (size_t)most, plane);
  if (!host) return sim_no_memory("velocity and pressure at the start");
  for (int i = 0; i <= w->d.rank; i++) values[i] = host + (size_t)i * (size_t)most * plane;
  for (int64_t k = 0, count; k < planes && status == SIM_OK; k += count) {
    count = planes_in_row(w, k, most);
    m.part.first = fluid_cuda_plane(w->m, &w->d, k);
    m.part.end = m.part.first + count;
    status = fluid_fill(&m, w->p, setup, m.part.first * part->rows, values);
    for (int i = 0; i <= w->d.rank && status == SIM_OK; i++)
      status = sim_backend_cuda.copy((char *)w->fields.data + (size_t)i * there + (size_t)k * plane, values[i],
                                     (size_t)count * plane);
  }
  free(host);
  return status;
}

static sim_status start(fluid_work *w, const sim_setup *setup) {
  if (w->p->initial || fluid_rests(w->p)) SIM_TRY(fluid_cuda_fill_fields(w, setup));
  SIM_TRY(fluid_cuda_set_step(w, 0, false));
  fluid_cuda_begin(&w->d);
  if (w->m->grains) {
    SIM_TRY(fluid_cuda_place_grains(w->m, &w->d));
    fluid_cuda_begin_balls(&w->d);
  }
  if (!w->d.heat) fluid_cuda_start_push(&w->d); /* as in a step */
  fluid_cuda_damp(w, FLUID_DAMP_BEGIN);
  if (w->d.heat) fluid_cuda_start_push(&w->d);
  if (w->d.heat) SIM_TRY(fluid_cuda_start_heat(w->m, &w->d));
  if (w->d.heat) fluid_cuda_damp(w, FLUID_DAMP_DELAY);
  if (w->exchange) SIM_TRY(fluid_cuda_swap(w));
  SIM_TRY(sim_queue_cuda.status());
  return fluid_cuda_check_laws(w->m, w->numbers, &w->d, 0, &(fluid_seen){.seen = false});
}

static sim_status resume(fluid_work *w, int64_t step, bool fast) {
  if (w->exchange) SIM_TRY(fluid_cuda_swap(w));
  SIM_TRY(fluid_cuda_time_sides(w, step, false));
  return fluid_cuda_set_step(w, step, fast);
}

/* Where bodies move the host finds their walls in each step. */
static sim_status step_moving(fluid_work *w, int64_t number) {
  if (w->m->push) w->m->push->t = (double)number * w->numbers->dt;
  fluid_cuda_step(&w->d);
  SIM_TRY(fluid_cuda_move(w, number));
  fluid_cuda_push(&w->d);
  fluid_cuda_damp(w, FLUID_DAMP_STEP);
  w->d.now = 1 - w->d.now;
  return sim_queue_cuda.status();
}

/* The host moves grains by what the fluid gives them in each step. */
static sim_status step_grains(fluid_work *w) {
  SIM_TRY(fluid_cuda_place_grains(w->m, &w->d));
  fluid_cuda_step(&w->d);
  fluid_cuda_balls(&w->d);
  fluid_cuda_damp(w, FLUID_DAMP_STEP);
  SIM_TRY(fluid_cuda_move_grains(w->m, &w->d));
  w->d.now = 1 - w->d.now;
  return sim_queue_cuda.status();
}

/* All else is a graph, which is captured once from each of the two states. */
static sim_status step_graph(fluid_work *w) {
  sim_graph **graph = &w->graph[w->d.now];
  if (!*graph) {
    SIM_TRY(sim_queue_cuda.graph_begin());
    fluid_cuda_step(&w->d);
    if (!w->d.heat) fluid_cuda_push(&w->d); /* sponges damp flows with the force, as of an acceleration */
    fluid_cuda_damp(w, FLUID_DAMP_STEP);
    fluid_cuda_warm(&w->d);
    if (w->d.heat) fluid_cuda_push(&w->d);
    SIM_TRY(sim_queue_cuda.graph_end(graph)); /* NULL: the step has run */
  }
  if (*graph) SIM_TRY(sim_queue_cuda.graph_launch(*graph));
  w->d.now = 1 - w->d.now;
  return sim_queue_cuda.status();
}

static sim_status step(fluid_work *w, int64_t number) {
  SIM_TRY(w->exchange    ? fluid_cuda_step_divided(w, number)
          : w->m->motion ? step_moving(w, number)
          : w->m->grains ? step_grains(w)
                         : step_graph(w));
  w->made = number;
  w->stepped = true;
  return fluid_cuda_time_sides(w, number, true);
}

static float float_of(unsigned long long bits) {
  const uint32_t low = (uint32_t)bits;
  float out;
  memcpy(&out, &low, sizeof out);
  return out;
}

/* What one guard has seen. */
static fluid_seen seen_of(const fluid_work *w, const fluid_guard *guard, int kind) {
  const bool hot = kind == FLUID_TOLD_HOT, dense = kind == FLUID_TOLD_DENSE || hot;
  const unsigned long long key = guard->key[kind], nx = (unsigned long long)w->d.l.n[0];
  const unsigned long long cell = (uint32_t) ~(dense ? key >> 32 : key);
  const float value = float_of(dense ? key : key >> 32);
  return (fluid_seen){.seen = guard->step[kind] != ~0ull,
                      .step = (int64_t)guard->step[kind],
                      .cell = {.row = (int64_t)(cell / nx),
                               .x = (int64_t)(cell % nx),
                               .dense = dense && !hot,
                               .hot = hot,
                               .temperature = hot ? w->d.warm.scale * value : 0,
                               .rho1 = dense ? value : 0,
                               .speed = dense ? 0 : sqrt(value)}};
}

sim_status fluid_cuda_guards(fluid_work *w, int64_t number, fluid_seen seen[FLUID_WARNINGS]) {
  fluid_guard guard;
  SIM_TRY(sim_backend_cuda.copy(&guard, w->d.guard, sizeof guard));
  SIM_TRY(fluid_cuda_gather_guards(w, &guard));
  const fluid_seen dense = seen_of(w, &guard, FLUID_TOLD_DENSE), fastest = seen_of(w, &guard, FLUID_TOLD_FASTEST);
  const fluid_seen hot = seen_of(w, &guard, FLUID_TOLD_HOT);
  seen[FLUID_WARN_END] = dense.seen && !(fastest.seen && fastest.step < dense.step) ? dense : fastest;
  if (hot.seen && !(seen[FLUID_WARN_END].seen && seen[FLUID_WARN_END].step < hot.step)) seen[FLUID_WARN_END] = hot;
  seen[FLUID_WARN_FAST] = seen_of(w, &guard, FLUID_TOLD_FAST);
  SIM_TRY(fluid_cuda_check_laws(w->m, w->numbers, &w->d, number, &seen[FLUID_WARN_END]));
  const fluid_seen *end = &seen[FLUID_WARN_END];
  fluid_seen *fast = &seen[FLUID_WARN_FAST];
  if (w->fast || (end->seen && end->step <= fast->step)) fast->seen = false; /* known, or what ends the run says more */
  w->fast = w->fast || fast->seen;
  return SIM_OK;
}

static sim_status show(fluid_work *w) {
  SIM_TRY(fluid_cuda_swap_push(w));
  fluid_cuda_show(&w->d);
  return sim_queue_cuda.status();
}

/* Sums of all cells, with fluid_flow_row's units. */
static sim_status sum_cells(fluid_work *w, double sums[FLUID_FLOW_SUMS]) {
  const size_t blocks = (size_t)fluid_cuda_sum_blocks(&w->m->grid);
  static const int columns[FLUID_SUMS] = {FLUID_MASS,     FLUID_KINETIC,      FLUID_ENSTROPHY,   FLUID_SPEED,
                                          FLUID_MOMENTUM, FLUID_MOMENTUM + 1, FLUID_MOMENTUM + 2};
  double most = 0;
  if (w->old_cuts) SIM_TRY(fluid_cuda_build_cuts(w->m, w->p, w->numbers, &w->d));
  w->old_cuts = false;
  SIM_TRY(fluid_cuda_send_profiles(w));
  if (w->d.populations && w->exchange) SIM_TRY(fluid_cuda_swap_velocities(w));
  (w->d.populations ? fluid_trt_flow : fluid_cuda_flow)(&w->d);
  SIM_TRY(fluid_cuda_gather_sums(w, FLUID_SUMS));
  const double *speed = w->sums + FLUID_SUM_SPEED * blocks;
  for (size_t i = 0; i < blocks; i++)
    if (!(speed[i] <= most)) most = speed[i];
  for (int i = 0; i < FLUID_FLOW_SUMS; i++) sums[i] = 0;
  for (int i = 0; i < FLUID_SUMS; i++)
    sums[columns[i]] = i == FLUID_SUM_SPEED ? most : sim_reduce_tree(w->sums + (size_t)i * blocks, blocks);
  return SIM_OK;
}

sim_status fluid_cuda_flow_row(fluid_work *w, double *values) {
  double sums[FLUID_FLOW_SUMS];
  SIM_TRY(sum_cells(w, sums));
  fluid_flow_row(w->m, w->p, w->numbers, sums, values);
  return SIM_OK;
}

sim_status fluid_cuda_excess(fluid_work *w, double *out) {
  double sums[FLUID_FLOW_SUMS];
  if (!w->d.populations) SIM_TRY(show(w));
  SIM_TRY(sum_cells(w, sums));
  *out = sums[FLUID_MASS];
  return SIM_OK;
}

sim_status fluid_cuda_bodies(fluid_work *w, double *values) {
  if (w->old_pulls) SIM_TRY(fluid_cuda_build_pulls(w->m, w->p, w->numbers, &w->d));
  w->old_pulls = false;
  const int rank = w->d.rank, columns = rank == 2 ? 3 : 6, blocks = w->d.pull_blocks;
  const double dx = w->d.dx, force = w->d.density * pow(dx, rank + 1) / (w->d.dt * w->d.dt);
  if (w->exchange)
    SIM_TRY(fluid_cuda_pull_divided(w));
  else
    (w->d.populations ? fluid_trt_pull : fluid_cuda_pull)(&w->d);
  double *part = malloc(7 * (size_t)(blocks + 1) * sizeof *part), *const all = part + blocks;
  if (!part) return sim_no_memory("forces");
  const size_t bytes = 6 * (size_t)blocks * sizeof *all;
  const sim_status status = bytes > 0 ? sim_backend_cuda.copy(all, w->d.pull_sum, bytes) : SIM_OK;
  double held[FLUID_BODIES][6];
  fluid_cuda_find_held(w->m, w->p, w->numbers, held);
  for (int body = 0; body < (int)w->p->bodies.count; body++)
    for (int i = 0; i < columns; i++) {
      const int first = w->d.body_blocks[body], count = w->d.body_blocks[body + 1] - first;
      const bool torque = i >= rank;
      const int which = !torque ? i : rank == 2 ? 5 : 3 + i - rank;
      for (int b = 0; b < count; b++) part[b] = all[6 * (first + b) + which];
      *values++ = (torque ? force * dx : force) * (sim_reduce_tree(part, (size_t)count) - held[body][which]);
    }
  free(part);
  return status;
}

static sim_status probes(fluid_work *w, double *values) {
  fluid_cuda_probe(&w->d);
  SIM_TRY(sim_backend_cuda.copy(values, w->d.probed, (size_t)(w->d.probes * (w->d.rank + 1)) * sizeof *values));
  return fluid_cuda_gather_probes(w, values);
}

static double *means(const fluid_work *w) { return w->d.mean; }

static sim_status heat(fluid_work *w, fluid_heat_sums *out) {
  const fluid_warm *warm = &w->d.warm;
  const size_t blocks = (size_t)fluid_cuda_sum_blocks(&w->m->grid), part = (size_t)warm->pull_blocks;
  fluid_cuda_sum_heat(&w->d);
  if (w->exchange) SIM_TRY(fluid_cuda_pull_warm_divided(w));
  SIM_TRY(fluid_cuda_gather_sums(w, FLUID_WARM_SUMS));
  const double *least = w->sums + FLUID_WARM_LEAST * blocks, *most = w->sums + FLUID_WARM_MOST * blocks;
  *out = (fluid_heat_sums){.least = INFINITY, .most = -INFINITY};
  for (size_t i = 0; i < blocks; i++) {
    out->least = fmin(out->least, warm->scale * least[i]);
    out->most = fmax(out->most, warm->scale * most[i]);
  }
  out->sum = warm->scale * sim_reduce_tree(w->sums + FLUID_WARM_SUM * blocks, blocks);
  if (part == 0) return SIM_OK;
  SIM_TRY(sim_backend_cuda.copy(w->sums, warm->pull_sum, 2 * part * sizeof(double)));
  for (int k = 0; k < FLUID_SIDES + FLUID_BODIES; k++) {
    const size_t first = (size_t)warm->owner_blocks[k], count = (size_t)warm->owner_blocks[k + 1] - first;
    const bool side = k < FLUID_SIDES;
    const int i = side ? k : k - FLUID_SIDES;
    *(side ? &out->side[i] : &out->body[i]) = warm->scale * sim_reduce_tree(w->sums + first, count);
    *(side ? &out->side_area[i] : &out->body_area[i]) = warm->area[k];
    *(side ? &out->side_warm[i] : &out->body_warm[i]) = warm->scale * sim_reduce_tree(w->sums + part + first, count);
  }
  return SIM_OK;
}

static sim_status temperature(fluid_work *w, double **out) {
  fluid_cuda_show_heat(&w->d);
  *out = w->d.warm.shown;
  return sim_queue_cuda.status();
}

const fluid_ops fluid_ops_cuda = {.plan = plan,
                                  .create = create,
                                  .destroy = fluid_cuda_destroy,
                                  .state = state_of,
                                  .fields = fluid_cuda_fields,
                                  .first_plane = fluid_cuda_first_plane,
                                  .plane = fluid_cuda_plane_of,
                                  .divide = fluid_cuda_divide,
                                  .restore = fluid_cuda_restore,
                                  .start = start,
                                  .resume = resume,
                                  .step = step,
                                  .guards = fluid_cuda_guards,
                                  .show = show,
                                  .flow = fluid_cuda_flow_row,
                                  .bodies = fluid_cuda_bodies,
                                  .probes = probes,
                                  .wall_velocities = fluid_cuda_wall_velocities,
                                  .gates = fluid_cuda_gates,
                                  .sample = fluid_cuda_sample,
                                  .change = fluid_cuda_change,
                                  .excess = fluid_cuda_excess,
                                  .means = means,
                                  .heat = heat,
                                  .temperature = temperature};
