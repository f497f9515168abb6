/* What grains and fluid give each other in a step. */
#include "kernels/fluid/grains/points.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double fluid_displaced(const fluid_grains *g, int64_t i) {
  const double pi = 3.14159265358979323846;
  return g->p->density * 4 / 3 * pi * g->s.radius[i] * g->s.radius[i] * g->s.radius[i];
}

/* ---- memory ---- */

static sim_status check_sizes(const fluid_grains *g) {
  const double dx = g->numbers->dx;
  for (int64_t i = 0; i < g->s.n; i++) {
    const double across = 2 * g->s.radius[i] / dx;
    if (g->p->drag && across >= FLUID_GRAIN_LEAST * (1 + 1e-9))
      return sim_fail(SIM_ERR_SCENARIO,
                      "grains: %llu (id, from 0) is %.3g cells across: expected at most %d with a law of drag; leave "
                      "out `drag`, and cells resolve it",
                      (unsigned long long)g->s.id[i], across, FLUID_GRAIN_LEAST);
    if (!g->p->drag && across < FLUID_GRAIN_LEAST * (1 - 1e-9))
      return sim_fail(SIM_ERR_SCENARIO,
                      "grains: %llu (id, from 0) is %.3g cells across: expected at least %d, so cells of at most %.4g, "
                      "or drag = \"schiller_naumann\", by which grains are points",
                      (unsigned long long)g->s.id[i], across, FLUID_GRAIN_LEAST,
                      2 * g->s.radius[i] / FLUID_GRAIN_LEAST);
    if (g->s.mass[i] < fluid_displaced(g, i) * (1 - 1e-9))
      return sim_fail(SIM_ERR_SCENARIO,
                      "grains: %llu (id, from 0) has %.4g times the density of the fluid: expected at least 1; grains "
                      "that are lighter than the fluid are not supported",
                      (unsigned long long)g->s.id[i], g->s.mass[i] / fluid_displaced(g, i));
  }
  return SIM_OK;
}

static sim_status check_speeds(const fluid_grains *g) {
  const int64_t n = g->s.n;
  for (int64_t i = 0; i < n; i++) {
    double v = 0, w = 0;
    for (int a = 0; a < 3; a++) {
      v += g->s.velocity[a * n + i] * g->s.velocity[a * n + i];
      w += g->s.spin[a * n + i] * g->s.spin[a * n + i];
    }
    const double speed = sqrt(v) + g->s.radius[i] * sqrt(w);
    if (speed > 1.01 * g->p->speed)
      return sim_fail(SIM_ERR_SCENARIO,
                      "grains: the surface of %llu (id, from 0) moves with %.6g at the start: expected at most speed = "
                      "%.6g, which sets the time step",
                      (unsigned long long)g->s.id[i], speed, g->p->speed);
  }
  return SIM_OK;
}

/* Room for the shares of the cells. */
static sim_status allocate_shares(fluid_grains *g, const grid_shape *grid) {
  const size_t n = (size_t)g->s.n, room = (size_t)g->room[n];
  const size_t cells = (size_t)((g->part.end - g->part.first) * g->part.rows * grid->n[0]);
  int64_t layers = 0;
  for (int64_t i = 0; i < g->s.n; i++) layers += (int64_t)floor(2 * fluid_cover_radius(g, i)) + 2;
  g->count = malloc(n * sizeof *g->count);
  g->head = malloc((cells + 1) * sizeof *g->head);
  g->share = malloc(room * sizeof *g->share);
  g->blend = malloc(room * sizeof *g->blend);
  g->of = malloc(room * sizeof *g->of);
  if (!g->count || !g->head || !g->share || !g->blend || !g->of) return sim_no_memory("cells with grains");
  for (size_t i = 0; i < cells; i++) g->head[i] = -1;
  return fluid_layers_create(g->s.n, layers, &g->layers);
}

static sim_status allocate(fluid_grains *g, const grid_shape *grid) {
  const size_t n = (size_t)g->s.n;
  g->room = malloc((n + 1) * sizeof *g->room);
  g->before = malloc(6 * n * sizeof *g->before);
  g->start = malloc(3 * n * sizeof *g->start);
  g->given = malloc(6 * n * sizeof *g->given);
  if (!g->room || !g->before || !g->start || !g->given) return sim_no_memory("%zu grains", n);
  double room = 0;
  for (size_t i = 0; i < n; i++) { /* points have none */
    g->room[i] = (int64_t)room;
    room += g->p->drag ? 0 : fluid_share_room(fluid_cover_radius(g, (int64_t)i));
  }
  if (!(room < INT32_MAX))
    return sim_fail(SIM_ERR_SCENARIO, "grains: they touch %.3g cells: expected at most 2^31", room);
  g->room[n] = (int64_t)room;
  memcpy(g->before, g->s.velocity, 3 * n * sizeof *g->before);
  memcpy(g->before + 3 * n, g->s.spin, 3 * n * sizeof *g->before);
  return g->p->drag ? SIM_OK : fluid_bins_create(g, grid, FLUID_GRAIN_GAP * g->numbers->dx, &g->bins);
}

sim_status fluid_grains_create(const fluid_parameters *p, const fluid_numbers *numbers, const grid_shape *grid,
                               const fluid_part *part, const sim_setup *setup, fluid_grains *out) {
  sim_setup host = *setup;
  host.backend = &sim_backend_cpu;
  host.comm = &sim_comm_alone; /* each rank moves all grains */
  *out = (fluid_grains){.p = p, .numbers = numbers, .part = *part};
  SIM_TRY(collision_coupled_create(&p->coupled, &host, numbers->dt, &out->coupled));
  out->s = collision_coupled_state_of(out->coupled);
  SIM_TRY(check_sizes(out));
  if (!setup->saved) SIM_TRY(check_speeds(out));
  SIM_TRY(allocate(out, grid));
  if (p->drag) {
    SIM_TRY(fluid_points_create(out, grid, &out->points));
    return fluid_points_check(out, grid);
  }
  return setup->backend->space == SIM_SPACE_HOST ? allocate_shares(out, grid) : SIM_OK;
}

void fluid_grains_destroy(fluid_grains *g) {
  collision_coupled_destroy(&g->coupled);
  fluid_bins_destroy(&g->bins);
  fluid_points_destroy(&g->points);
  free(g->room), free(g->count), free(g->before), free(g->start), free(g->given), free(g->head);
  free(g->share), free(g->blend), free(g->of);
  fluid_layers_destroy(&g->layers);
  memset(g, 0, sizeof *g);
}

/* ---- the start ---- */

/* J, S and A of a cell by its share of the solid, at the same density. */
static void start_cell(const fluid_machine *m, const fluid_blend *b, void *first) {
  const int64_t pitch = m->rows.stride, at = fluid_row_at(&m->rows, b->cell.row) + b->cell.x;
  double j[3], trace = 0;
  const double rho1 = fluid_cell_momentum(m, first, at, j), rho = 1 + rho1;
  for (int a = 0; a < 3; a++) {
    (void)fluid_set_moment(m, first, at + (1 + a) * pitch, b->cell.x,
                           j[a] + b->share * (3 * rho * b->velocity[a] - j[a]));
    for (int c = a; c < 3; c++) {
      const int64_t place = at + (a == c ? 4 + a : 7 + a + c - 1) * pitch;
      const double s = grid_number(first, m->single, place), v = rho * b->velocity[a] * b->velocity[c];
      const double new = s + b->share *((a == c ? 4.5 : 9) * v - s);
      (void)fluid_set_moment(m, first, place, b->cell.x, new);
      if (a == c) trace += new;
    }
  }
  (void)fluid_set_moment(m, first, at, b->cell.x, rho1 - trace / 3);
}

void fluid_grains_start(const fluid_machine *m, const sim_buffer *state) {
  fluid_grains *g = m->grains;
  if (g->points) return;
  fluid_find_shares(g, m);
  for (int64_t b = 0; b < g->blends; b++) start_cell(m, &g->blend[b], fluid_first(state));
  fluid_clear_shares(g, &m->grid);
}

/* ---- a step ---- */

/* The momentum that each grain in a cell has got, by its part of the cell. */
static void divide_momentum(fluid_grains *g, int64_t number) {
  const fluid_blend *b = &g->blend[number];
  double part = 0;
  for (int32_t k = g->of[number]; k >= 0; k = g->share[k].next) part += g->share[k].part;
  for (int32_t k = g->of[number]; k >= 0; k = g->share[k].next) {
    fluid_share *share = &g->share[k];
    for (int a = 0; a < 3; a++)
      share->momentum[a] = b->share * share->part / part * (b->momentum[a] - b->mass * share->velocity[a]);
  }
}

static bool act_on_fluid(fluid_grains *g, const fluid_machine *m, const sim_buffer *from, const sim_buffer *to) {
  const fluid_links links = {m->walls.cell, m->walls.link, NULL};
  const int threads = m->threads;
  int told = 0;
#pragma omp parallel for schedule(static, 1) num_threads(threads) if (threads > 1)
  for (int t = 0; t < threads; t++) {
    const int64_t first = g->blends * t / threads, end = g->blends * (t + 1) / threads;
    if (m->kernels->blend(m->lattice, &m->collision, &m->rows, &links, g->blend + first, end - first, fluid_first(from),
                          fluid_first(to))) {
#pragma omp atomic write
      told = 1;
    }
    for (int64_t b = first; b < end; b++) divide_momentum(g, b);
  }
  return told != 0;
}

/* Momentum and angular momentum, in the scenario's units, that a grain has got in the step from this rank's planes. */
static void sum_shares(fluid_grains *g, const grid_shape *grid, int64_t i) {
  const fluid_numbers *k = g->numbers;
  const double unit = g->p->density * k->dx * k->dx * k->dx * k->dx / k->dt;
  int64_t planes;
  const int64_t low = fluid_share_planes(g, i, &planes), n = grid->n[2];
  fluid_layers_set(&g->layers, &g->part, i, low, planes);
  double *all = g->layers.value + 6 * g->layers.first[i];
  for (int64_t j = 0; j < 6 * planes; j++) all[j] = 0;
  for (int32_t j = 0; j < g->count[i]; j++) {
    const fluid_share *s = &g->share[g->room[i] + j];
    const int64_t plane = s->cell / (grid->n[0] * grid->n[1]);
    double *momentum = all + 6 * (((plane - low) % n + n) % n), *angular = momentum + 3;
    for (int a = 0; a < 3; a++) {
      const int b = (a + 1) % 3, c = (a + 2) % 3;
      momentum[a] += unit * s->momentum[a];
      angular[a] += unit * k->dx * (s->arm[b] * s->momentum[c] - s->arm[c] * s->momentum[b]);
    }
  }
}

/* Sets a grain's acceleration for the substeps, and turns it; returns the change of its energy of rotation. */
static double push(fluid_grains *g, int64_t i) {
  const int64_t n = g->s.n;
  const double mass = g->s.mass[i], fluid = fluid_displaced(g, i), r = g->s.radius[i], dt = g->numbers->dt;
  const double inertia = 0.4 * mass * r * r, inside = 0.4 * fluid * r * r;
  const double *momentum = g->given + 6 * i, *angular = momentum + 3;
  double energy = 0;
  for (int a = 0; a < 3; a++) {
    double *v = &g->before[a * n + i], *w = &g->before[(3 + a) * n + i], *spin = &g->s.spin[a * n + i];
    const double now = g->s.velocity[a * n + i], turning = *spin;
    g->s.push[a * n + i] = ((momentum[a] + fluid * (now - *v)) / dt + (mass - fluid) * g->p->gravity[a]) / mass;
    *spin += (angular[a] + inside * (turning - *w)) / inertia;
    energy += inertia * (*spin * *spin - turning * turning) / 2;
    *v = now;
    *w = turning;
  }
  return energy;
}

/* Work of the accelerations over the way of a grain in the step. */
static void add_work(fluid_grains *g, const grid_shape *grid, int64_t i) {
  const int64_t n = g->s.n;
  const double mass = g->s.mass[i], fluid = fluid_displaced(g, i);
  for (int a = 0; a < 3; a++) {
    double way = g->s.position[a * n + i] - g->start[a * n + i];
    if (grid_is_periodic(grid, a)) way -= grid->size[a] * rint(way / grid->size[a]);
    const double weight = (mass - fluid) * g->p->gravity[a];
    g->budget[FLUID_WORK_GRAVITY] += weight * way;
    g->budget[FLUID_WORK_FLUID] += (mass * g->s.push[a * n + i] - weight) * way;
  }
}

sim_status fluid_grains_step(const fluid_machine *m, const sim_buffer *from, const sim_buffer *to, bool *wrong) {
  fluid_grains *g = m->grains;
  if (g->points) {
    SIM_TRY(fluid_points_act(m, to));
    return fluid_grains_move(m);
  }
  fluid_find_shares(g, m);
  *wrong = act_on_fluid(g, m, from, to) || *wrong;
  fluid_clear_shares(g, &m->grid);
  for (int64_t i = 0; i < g->s.n; i++) sum_shares(g, &m->grid, i);
  SIM_TRY(fluid_layers_sum(&g->part, &g->layers, g->s.n, 6, g->given));
  return fluid_grains_move(m);
}

sim_status fluid_grains_move(const fluid_machine *m) {
  fluid_grains *g = m->grains;
  const int64_t n = g->s.n;
  const double before = g->budget[FLUID_WORK_FLUID];
  for (int64_t i = 0; i < n && !g->points; i++) g->budget[FLUID_WORK_FLUID] += push(g, i);
  if (!g->points) g->budget[FLUID_LUBRICATED] += fluid_lubricate(g, &m->grid);
  memcpy(g->start, g->s.position, 3 * (size_t)n * sizeof *g->start);
  SIM_TRY(collision_coupled_step(g->coupled));
  for (int64_t i = 0; i < n; i++) add_work(g, &m->grid, i);
  if (g->points) g->budget[FLUID_DRAGGED] -= g->budget[FLUID_WORK_FLUID] - before + g->points->gained;
  return SIM_OK;
}
