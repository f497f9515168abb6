/* The operations on the CPU. Twin: cuda/ops.c. */
#include "kernels/fluid/cpu/push.h"
#include "kernels/fluid/grains/grains.h"
#include "kernels/fluid/heat.h"
#include "kernels/fluid/ops.h"
#include "kernels/fluid/start/start.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#define FLUID_TRT_RATE 2.3  /* of populations, about, by that of moments; 3 without AVX-512 */
#define FLUID_FULL_RATE 0.6 /* of D3Q27 by that of D3Q19 */
#define FLUID_LAW_RATE 0.1  /* with a viscosity that is a function: 0.2 of a cheap one, 0.05 of a power */
enum { FIELDS = 4 };        /* velocity and pressure */

struct fluid_work {
  fluid_machine *m;
  const fluid_parameters *p;
  const fluid_numbers *numbers;
  sim_buffer state[2];      /* [0] is the present one */
  sim_buffer fields;        /* [rank + 1][cells, rounded up]: as shown */
  fluid_room states, shown; /* what they stand in on several ranks */
  double *partial;
  fluid_links links; /* with the force of the present state, of a row of `bodies` */
  bool stepped;      /* a step has been made: state[1] is the one before */
  bool wrong;        /* the last step has told of a cell of some rank */
};

/* Seconds of a step, about, for the cells at walls and bodies: some 0.04 us a direction, measured in closed boxes of
 * 48^3 cells. */
static double link_seconds(const fluid_parameters *p, const fluid_meshes *meshes, int threads) {
  return 4e-8 * fluid_lattice_for(p)->directions * fluid_wall_cells_expected(p, meshes) / threads;
}

/* Seconds, about, in which the force of a cell that is a function is found and added: measured with functions of the
 * place, with Coriolis' force, and with a square of the speed, which takes three evaluations. */
static double force_seconds(const fluid_parameters *p) {
  const int rank = fluid_lattice_for(p)->rank;
  bool depends = false;
  if (!p->force) return 0;
  for (int i = 0; i < rank * rank; i++) depends = depends || sim_expr_depends(p->force, i / rank, 4 + i % rank);
  return rank * (depends ? 3e-8 : 7e-9) + 5e-10 * sim_expr_work(p->force);
}

/* What several ranks exchange in a step: a word of all; what cells at bodies lose; with bodies that move once more
 * before they are moved, and what changed cells give; flows through sponges. Between hosts the planes beside those of a
 * rank. */
static void plan_exchange(const fluid_parameters *p, const fluid_meshes *meshes, const sim_setup *setup, double plane,
                          sim_plan *out) {
  const grid_shape grid = fluid_grid_of(p);
  const bool common = setup->comm->host_size == setup->comm->size, moves = fluid_moves(p);
  const int swaps = common ? 0 : p->heat.given ? 4 : 2;
  out->exchanges = 1 + swaps + (p->bodies.count > 0) + (moves ? 3 + swaps : 0);
  for (int s = 0; s < 2 * (grid.rank - 1); s++) out->exchanges += p->sides[s].given && !isnan(p->sides[s].sponge);
  out->bytes_received = (common ? 0 : 2 * plane) * (moves ? 2 : 1);
  const int of_cell = 1 + (p->collision == FLUID_TRT ? fluid_lattice_for(p)->directions : 1);
  if (p->bodies.count > 0)
    out->bytes_received += of_cell * (int)sizeof(double) * fluid_wall_cells_expected(p, meshes) * (moves ? 2 : 1);
}

static void plan(const fluid_parameters *p, const fluid_meshes *meshes, const sim_setup *setup, sim_plan *out) {
  const grid_shape grid = fluid_grid_of(p);
  const double number = fluid_single(p) ? sizeof(float) : sizeof(double), cells = grid_cells_wanted(&grid);
  const fluid_rows rows = fluid_rows_of(p);
  const double planes = (double)grid.n[grid.rank - 1];
  /* of the rank that has most, with the planes beside it */
  const double own = fmin(1, fluid_part_share(&grid, setup->comm, setup->comm->host_size < setup->comm->size));
  const double state = fluid_state_numbers(&rows) * number, fields = (grid.rank + 1) * cells * number;
  const double heat = p->heat.given ? fluid_heat_numbers(p) * sizeof(double) : 0;
  sim_plan_add(out,
               p->collision == FLUID_TRT ? "populations, before and after a step" : "moments, before and after a step",
               2 * state * own);
  sim_plan_add(out, "velocity and pressure", fields * own);
  if (p->force || (p->heat.given && p->heat.expansion != 0))
    sim_plan_add(out, "the force at walls", 3 * sizeof(double) * fluid_wall_cells(p, meshes));
  sim_plan_add(out, "sums of rows", FLUID_FLOW_SUMS * sizeof(double) * (double)grid.n[1] * (double)grid.n[2]);
  out->checkpoint_bytes = state + heat;
  out->work_rate_guess = 1e8 * setup->threads * (grid.rank == 2 ? 2 : 1) * (fluid_single(p) ? 1 : 0.5);
  if (p->collision == FLUID_TRT) out->work_rate_guess *= FLUID_TRT_RATE;
  if (p->lattice == FLUID_D3Q27) out->work_rate_guess *= FLUID_FULL_RATE;
  if (fluid_has_law(p)) out->work_rate_guess *= FLUID_LAW_RATE;
  out->work_rate_guess = 1 / (1 / out->work_rate_guess + link_seconds(p, meshes, setup->threads) / cells +
                              force_seconds(p) / setup->threads);
  if (setup->comm->size > 1) plan_exchange(p, meshes, setup, (state + heat) / planes, out);
  if (!p->heat.given) return;
  sim_plan_add(out, "temperature and its flux, at two times", 2 * heat * own);
  sim_plan_add(out, "temperature as shown, and sums of rows",
               sizeof(double) * (cells * own + (double)(grid.n[0] + grid.n[1] * grid.n[2])));
  out->work_rate_guess = 1 / (1 / out->work_rate_guess + 1 / fluid_heat_rate(&grid, setup->threads));
}

static void destroy(fluid_work **work) {
  fluid_work *w = *work;
  if (!w) return;
  for (int i = 0; i < 2; i++) sim_buffer_destroy(&w->state[i]);
  sim_buffer_destroy(&w->fields);
  fluid_room_destroy(&w->states);
  fluid_room_destroy(&w->shown);
  free(w->partial);
  free(w);
  *work = NULL;
}

/* Bytes of a plane of a state, and of a field. */
static size_t state_plane(const fluid_machine *m) {
  return (size_t)fluid_plane_numbers(&m->rows, m->part.rows) * (m->single ? sizeof(float) : sizeof(double));
}
static size_t field_plane(const fluid_machine *m) {
  return (size_t)(m->part.rows * m->grid.n[0]) * (m->single ? sizeof(float) : sizeof(double));
}

/* States and fields of several ranks. */
static sim_status allocate_common(fluid_work *w, int64_t numbers) {
  const fluid_machine *m = w->m;
  const sim_dtype type = m->single ? SIM_F32 : SIM_F64;
  const size_t size = sim_dtype_size(type), cells = (size_t)grid_cells(&m->grid);
  const int fields = m->grid.rank + 1;
  SIM_TRY(fluid_room_create(&m->part, 2, (size_t)numbers * size, FLUID_BEFORE * size, state_plane(m), &w->states));
  SIM_TRY(fluid_room_create(&m->part, (size_t)fields, cells * size, 0, field_plane(m), &w->shown));
  for (int i = 0; i < 2; i++)
    w->state[i] = (sim_buffer){.data = w->states.memory + (size_t)i * w->states.each,
                               .dtype = type,
                               .rank = 1,
                               .shape = {numbers},
                               .space = SIM_SPACE_HOST};
  w->fields = (sim_buffer){.data = w->shown.memory,
                           .dtype = type,
                           .rank = 2,
                           .shape = {fields, (int64_t)(w->shown.each / size)},
                           .space = SIM_SPACE_HOST};
  return SIM_OK;
}

static sim_status allocate(fluid_work *w, const sim_setup *setup) {
  const grid_shape *g = &w->m->grid;
  const double numbers = fluid_state_numbers(&w->m->rows);
  const sim_dtype type = w->m->single ? SIM_F32 : SIM_F64;
  if (!(numbers < 0x1p58)) return sim_no_memory("the fluid");
  w->partial = calloc((size_t)(g->n[1] * g->n[2]) * FLUID_FLOW_SUMS, sizeof *w->partial);
  if (!w->partial) return sim_no_memory("sums of rows");
  if (setup->comm->size > 1) return allocate_common(w, (int64_t)numbers);
  for (int i = 0; i < 2; i++)
    SIM_TRY(sim_buffer_create(setup->backend, type, 1, (int64_t[]){(int64_t)numbers}, &w->state[i]));
  return sim_buffer_create(setup->backend, type, 2, (int64_t[]){g->rank + 1, grid_cells(g)}, &w->fields);
}

static sim_status create(fluid_machine *m, const fluid_parameters *p, const fluid_numbers *numbers,
                         const sim_setup *setup, fluid_work **out) {
  fluid_work *w = *out = calloc(1, sizeof *w);
  if (!w) return sim_no_memory("the model");
  w->m = m;
  w->p = p;
  w->numbers = numbers;
  return allocate(w, setup);
}

static const sim_buffer *state_of(const fluid_work *w) { return &w->state[0]; }
static const sim_buffer *fields_of(const fluid_work *w) { return &w->fields; }

/* values[rank] of the velocity, and behind them the pressure. */
static void values_of(const fluid_work *w, void *values[FIELDS]) {
  const size_t bytes = (size_t)w->fields.shape[1] * sim_dtype_size(w->fields.dtype);
  for (int i = 0; i < FIELDS; i++) values[i] = i <= w->m->grid.rank ? (char *)w->fields.data + (size_t)i * bytes : NULL;
}

/* Makes the planes of a state beside those of this rank there, and of the temperature; waits for all ranks. *most: the
 * greatest of their words. */
static sim_status exchange(fluid_work *w, const sim_buffer *state, uint64_t word, uint64_t *most) {
  char *first = (char *)state->data + FLUID_BEFORE * sim_dtype_size(state->dtype);
  SIM_TRY(fluid_swap_planes(&w->m->part, &w->states, first, state_plane(w->m)));
  if (w->m->warmth) SIM_TRY(fluid_heat_swap(w->m));
  return fluid_wait(&w->m->part, word, most);
}

/* The same of the fields. */
static sim_status exchange_fields(fluid_work *w) {
  void *values[FIELDS];
  uint64_t most;
  values_of(w, values);
  for (int i = 0; i <= w->m->grid.rank; i++)
    SIM_TRY(fluid_swap_planes(&w->m->part, &w->shown, values[i], field_plane(w->m)));
  return fluid_wait(&w->m->part, 0, &most);
}

static sim_status start(fluid_work *w, const sim_setup *setup) {
  void *values[FIELDS];
  uint64_t most;
  values_of(w, values);
  SIM_TRY(fluid_fill(w->m, w->p, setup, 0, values));
  SIM_TRY(exchange_fields(w));
  fluid_start(w->m, w->p, w->numbers, values, &w->state[0]);
  if (w->m->grains) fluid_grains_start(w->m, &w->state[0]);
  const bool late = w->m->push && w->m->warmth; /* as in a step */
  if (w->m->push && !late) fluid_push_start(w->m, &w->state[0]);
  SIM_TRY(fluid_sponge_start(w->m, &w->state[0]));
  if (late) fluid_push_start(w->m, &w->state[0]);
  if (w->m->warmth) {
    SIM_TRY(fluid_heat_start(w->m, &w->state[0]));
    SIM_TRY(fluid_sponge_delay(w->m, &w->state[0]));
  }
  SIM_TRY(exchange(w, &w->state[0], w->m->push && w->m->push->failed, &most));
  return most ? fluid_push_guard(w->m, &w->state[0], 0) : SIM_OK;
}

static void guard_above(fluid_work *w, bool fast) {
  w->m->collision.fastest = fluid_speed_of_mach(fast ? FLUID_MACH_FASTEST : FLUID_MACH_FAST);
}

static sim_status resume(fluid_work *w, int64_t step, bool fast) {
  uint64_t most;
  guard_above(w, fast);
  SIM_TRY(fluid_walls_time(&w->m->walls, ((double)step + 0.5) * w->numbers->dt));
  fluid_finish_rows(w->m, &w->state[0]);
  return exchange(w, &w->state[0], 0, &most);
}

static sim_status step(fluid_work *w, int64_t number) {
  double more[FLUID_SIDES];
  enum { FLOW = 1, HEAT, PUSH }; /* what tells of a cell; the force comes first, then the temperature */
  const sim_buffer old = w->state[0], new = w->state[1];
  bool wrong, hot = false;
  uint64_t told;
  SIM_TRY(fluid_sweep(w->m, &old, &new, &wrong));
  if (w->m->grains) SIM_TRY(fluid_grains_step(w->m, &old, &new, &wrong));
  if (w->m->push) w->m->push->t = (double)number * w->numbers->dt;
  if (w->m->motion) {
    SIM_TRY(exchange(w, &new, 0, &told));
    SIM_TRY(fluid_move_bodies(w->m, number, &new));
  }
  if (w->m->push && !w->m->warmth) fluid_push_rows(w->m, &new);
  SIM_TRY(fluid_sponge_damp(w->m, &new)); /* of flows with the force, as of an acceleration */
  if (w->m->warmth) hot = fluid_heat_step(w->m, &old, &new);
  const bool pushed = !w->m->push || !w->m->push->failed;
  SIM_TRY(exchange(w, &new, !pushed ? PUSH : hot ? HEAT : wrong ? FLOW : 0, &told));
  if (told == PUSH) SIM_TRY(fluid_push_guard(w->m, &new, number));
  if (told == HEAT) SIM_TRY(fluid_heat_guard(w->m, number));
  w->wrong = told > 0;
  SIM_TRY(fluid_walls_change(&w->m->walls, ((double)number + 0.5) * w->numbers->dt, more));
  fluid_sponge_follow(w->m, more);
  w->state[0] = new;
  w->state[1] = old;
  w->stepped = true;
  return SIM_OK;
}

static sim_status guards(fluid_work *w, int64_t number, fluid_seen seen[FLUID_WARNINGS]) {
  seen[FLUID_WARN_FAST].seen = seen[FLUID_WARN_END].seen = false;
  if (!w->wrong) return SIM_OK;
  fluid_worst cell;
  SIM_TRY(fluid_find_worst(w->m, &w->state[0], w->partial, &cell));
  const bool end = cell.dense || cell.tau > 0 || cell.speed > fluid_speed_of_mach(FLUID_MACH_FASTEST);
  const bool fast = !end && cell.speed > fluid_speed_of_mach(FLUID_MACH_FAST);
  if (end) seen[FLUID_WARN_END] = (fluid_seen){true, number, cell};
  if (fast) seen[FLUID_WARN_FAST] = (fluid_seen){true, number, cell};
  if (fast) guard_above(w, true);
  return SIM_OK;
}

static sim_status show(fluid_work *w) {
  void *values[FIELDS];
  values_of(w, values);
  fluid_show(w->m, w->p, w->numbers, &w->state[0], values);
  return exchange_fields(w);
}

static sim_status flow(fluid_work *w, double *values) {
  void *fields[FIELDS];
  values_of(w, fields);
  return fluid_measure(w->m, w->p, w->numbers, &w->state[0], (const void *[]){fields[0], fields[1], fields[2]},
                       w->partial, values);
}

static int body_columns(const fluid_work *w) { return w->m->lattice->rank == 2 ? 3 : 6; }

/* Adds a term of the edges between bodies and sides to momentum and torque; g: force of the step. */
static void add_edge_term(const fluid_work *w, int64_t cell, const fluid_edge_term *term, const double g[3],
                          const double centre[3], double *sums) {
  const fluid_machine *m = w->m;
  const fluid_walls *walls = &m->walls;
  const int rank = m->lattice->rank;
  static const double none[3] = {0};
  fluid_collision collision = m->collision;
  double momentum[3] = {0}, torque[3], arm[3];
  for (int a = 0; a < 3; a++) collision.g[a] = 0;
  m->kernels->force(m->lattice, &collision, &m->rows, &w->links, cell, (int)(term->link - walls->cell[cell].first),
                    fluid_first(&w->state[0]), none, walls->speed ? walls->speed[term->link] : NULL, momentum, torque);
  for (int a = 0; a < 3; a++) {
    momentum[a] = a < rank ? term->factor[a] * momentum[a] + term->room * (g[a] - term->rate[a]) : 0;
    arm[a] = a < rank ? term->point[a] - centre[a] : 0;
  }
  double *to = sums + (rank == 2 ? 3 : 6) * term->body;
  for (int a = 0; a < rank; a++) to[a] += momentum[a];
  for (int a = rank == 2 ? 2 : 0; a < 3; a++)
    to[rank == 2 ? rank : rank + a] +=
        arm[(a + 1) % 3] * momentum[(a + 2) % 3] - arm[(a + 2) % 3] * momentum[(a + 1) % 3];
}

/* Momentum and torque, [bodies][columns], that the cells of a plane give to bodies. */
static void forces_of_plane(const void *context, int64_t plane, double *sums) {
  const fluid_work *w = context;
  const fluid_machine *m = w->m;
  const fluid_walls *walls = &m->walls;
  const int rank = m->lattice->rank;
  const fluid_links *links = &w->links;
  const grid_range rows = {plane * m->part.rows, (plane + 1) * m->part.rows};
  const grid_range cells =
      fluid_items_of_rows(walls->cell, sizeof *walls->cell, offsetof(fluid_cell, row), walls->cells, rows);
  for (int64_t i = cells.first; i < cells.end; i++) {
    const fluid_cell *cell = &walls->cell[i];
    double g[3];
    bool pushed = m->motion;
    for (int a = 0; a < 3; a++) g[a] = m->collision.g[a] + (links->push ? links->push[i][a] : 0);
    for (int a = 0; a < 3; a++) pushed = pushed || g[a] != 0;
    for (int j = 0; j < cell->count; j++) {
      const fluid_link *link = &walls->link[cell->first + j];
      const int body = link->body;
      double centre[3], momentum[3] = {0}, torque[3] = {0}, rate[3];
      fluid_collision collision = m->collision;
      if (body < 0) continue;
      const double room = pushed ? fluid_link_room(w->p, w->numbers, walls, cell, link, rate) : 0;
      for (int a = 0; a < rank; a++) collision.g[a] = pushed ? room * (g[a] - rate[a]) : 0;
      fluid_link_centre(w->p, walls, cell, link->arriving, fluid_link_part(link), body, centre);
      for (int a = 0; a < 3; a++) centre[a] /= w->numbers->dx;
      m->kernels->force(m->lattice, &collision, &m->rows, links, i, j, fluid_first(&w->state[0]), centre,
                        walls->speed ? walls->speed[cell->first + j] : NULL, momentum, torque);
      double *to = sums + body_columns(w) * body;
      for (int a = 0; a < rank; a++) to[a] += momentum[a];
      for (int a = rank == 2 ? 2 : 0; a < 3; a++) to[rank == 2 ? rank : rank + a] += torque[a];
    }
    fluid_edge_term term[FLUID_EDGE_TERMS];
    const int terms = fluid_edge_terms(w->p, w->numbers, walls, cell, term);
    for (int j = 0; j < terms; j++) {
      double centre[3];
      fluid_link_centre(w->p, walls, cell, walls->link[term[j].link].arriving, 0.5, term[j].body, centre);
      for (int a = 0; a < 3; a++) centre[a] /= w->numbers->dx;
      add_edge_term(w, i, &term[j], g, centre, sums);
    }
  }
}

/* Force and torque of the momentum that passes in the step that begins now. */
static sim_status bodies(fluid_work *w, double *values) {
  const fluid_numbers *k = w->numbers;
  const int rank = w->m->lattice->rank, columns = body_columns(w), count = columns * (int)w->p->bodies.count;
  const double force = w->p->density * pow(k->dx, rank + 1) / (k->dt * k->dt);
  SIM_TRY(fluid_find_links(w->m, &w->state[0], &w->links));
  SIM_TRY(fluid_sum_planes(&w->m->part, w->m->threads, count, forces_of_plane, w, values));
  for (int i = 0; i < count; i++) values[i] *= i % columns < rank ? force : force * k->dx;
  return SIM_OK;
}

static sim_status probes(fluid_work *w, double *values) {
  const int count = w->m->grid.rank + 1;
  int64_t rows[FLUID_PROBES];
  void *fields[FIELDS];
  values_of(w, fields);
  for (size_t i = 0; i < w->p->probes.rows; i++) {
    const int64_t cell = fluid_probe_cell(w->p, i);
    rows[i] = cell / w->m->grid.n[0];
    for (int f = 0; f < count && fluid_part_has_row(&w->m->part, rows[i]); f++)
      values[(int)i * count + f] = grid_number(fields[f], w->m->single, cell);
  }
  return fluid_gather_items(&w->m->part, rows, (int64_t)w->p->probes.rows, (size_t)count * sizeof *values, values);
}

static void excess_of_plane(const void *context, int64_t plane, double *sum) {
  const fluid_work *w = context;
  const fluid_machine *m = w->m;
  const int64_t nx = m->grid.n[0];
  for (int64_t row = plane * m->part.rows; row < (plane + 1) * m->part.rows; row++)
    for (int64_t x = 0; x < nx; x++) {
      double u[3];
      if (!m->walls.solid || !m->walls.solid[row * nx + x]) *sum += fluid_cell_velocity(m, &w->state[0], row, x, u);
    }
}

static sim_status excess(fluid_work *w, double *out) {
  return fluid_sum_planes(&w->m->part, w->m->threads, 1, excess_of_plane, w, out);
}

static sim_status change(fluid_work *w, double *out) {
  *out = 1;
  return w->stepped ? fluid_find_change(w->m, w->p, w->numbers, &w->state[1], &w->state[0], out) : SIM_OK;
}

static double *means(const fluid_work *w) { return w->m->sponge.mean; }

static sim_status heat(fluid_work *w, fluid_heat_sums *out) { return fluid_heat_find_sums(w->m, &w->state[0], out); }

static sim_status temperature(fluid_work *w, double **out) {
  fluid_heat_show(w->m, w->p);
  *out = w->m->warmth->shown;
  return SIM_OK;
}

const fluid_ops fluid_ops_cpu = {.plan = plan,
                                 .create = create,
                                 .destroy = destroy,
                                 .state = state_of,
                                 .fields = fields_of,
                                 .start = start,
                                 .resume = resume,
                                 .step = step,
                                 .guards = guards,
                                 .show = show,
                                 .flow = flow,
                                 .bodies = bodies,
                                 .probes = probes,
                                 .change = change,
                                 .excess = excess,
                                 .means = means,
                                 .heat = heat,
                                 .temperature = temperature};
