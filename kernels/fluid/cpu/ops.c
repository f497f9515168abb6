/* The operations on the CPU. Twin: cuda/ops.c. */
#include "kernels/fluid/heat.h"

#include <math.h>
#include <stdlib.h>

#define FLUID_TRT_RATE 0.7 /* of populations, about, by that of moments */
enum { FIELDS = 4 };       /* velocity and pressure */

struct fluid_work {
  fluid_machine *m;
  const fluid_parameters *p;
  const fluid_numbers *numbers;
  sim_buffer state[2]; /* [0] is the present one */
  sim_buffer fields;   /* [rank + 1][cells]: as shown */
  double *partial;
  bool wrong; /* the last step has told of a cell */
};

/* Seconds of a step, about, for the cells at walls and bodies: some 0.04 us a direction, measured in closed boxes of
 * 48^3 cells. */
static double link_seconds(const fluid_parameters *p, const fluid_meshes *meshes, int threads) {
  const double cells = fmax(0, fluid_wall_cells(p, meshes) - 4096) / 1.25; /* without the room that the bound leaves */
  return 4e-8 * fluid_lattice_of(fluid_grid_of(p).rank)->directions * cells / threads;
}

static void plan(const fluid_parameters *p, const fluid_meshes *meshes, const sim_setup *setup, sim_plan *out) {
  const grid_shape grid = fluid_grid_of(p);
  const double number = fluid_single(p) ? sizeof(float) : sizeof(double), cells = grid_cells_wanted(&grid);
  const fluid_rows rows = fluid_rows_of(p);
  const double state = fluid_state_numbers(&rows) * number, fields = (grid.rank + 1) * cells * number;
  sim_plan_add(out,
               p->collision == FLUID_TRT ? "populations, before and after a step" : "moments, before and after a step",
               2 * state);
  sim_plan_add(out, "velocity and pressure", fields);
  sim_plan_add(out, "sums of rows", FLUID_FLOW_SUMS * sizeof(double) * (double)grid.n[1] * (double)grid.n[2]);
  out->checkpoint_bytes = state;
  out->work_rate_guess = 1e8 * setup->threads * (grid.rank == 2 ? 2 : 1) * (fluid_single(p) ? 1 : 0.5);
  if (p->collision == FLUID_TRT) out->work_rate_guess *= FLUID_TRT_RATE;
  out->work_rate_guess = 1 / (1 / out->work_rate_guess + link_seconds(p, meshes, setup->threads) / cells);
  if (!p->heat.given) return;
  const double heat = fluid_heat_numbers(p) * sizeof(double);
  sim_plan_add(out, "temperature and its flux, at two times", 2 * heat);
  sim_plan_add(out, "temperature as shown, and sums of rows",
               sizeof(double) * (cells + (double)(grid.n[0] + grid.n[1] * grid.n[2])));
  out->checkpoint_bytes += heat;
  out->work_rate_guess = 1 / (1 / out->work_rate_guess + 1 / fluid_heat_rate(&grid, setup->threads));
}

static void destroy(fluid_work **work) {
  fluid_work *w = *work;
  if (!w) return;
  for (int i = 0; i < 2; i++) sim_buffer_destroy(&w->state[i]);
  sim_buffer_destroy(&w->fields);
  free(w->partial);
  free(w);
  *work = NULL;
}

static sim_status allocate(fluid_work *w, const sim_setup *setup) {
  const grid_shape *g = &w->m->grid;
  const double numbers = fluid_state_numbers(&w->m->rows);
  const sim_dtype type = w->m->single ? SIM_F32 : SIM_F64;
  if (!(numbers < 0x1p58)) return sim_no_memory("the fluid");
  for (int i = 0; i < 2; i++)
    SIM_TRY(sim_buffer_create(setup->backend, type, 1, (int64_t[]){(int64_t)numbers}, &w->state[i]));
  SIM_TRY(sim_buffer_create(setup->backend, type, 2, (int64_t[]){g->rank + 1, grid_cells(g)}, &w->fields));
  w->partial = calloc((size_t)(g->n[1] * g->n[2]) * FLUID_FLOW_SUMS, sizeof *w->partial);
  return w->partial ? SIM_OK : sim_no_memory("sums of rows");
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

static sim_status start(fluid_work *w, const sim_setup *setup) {
  void *values[FIELDS];
  values_of(w, values);
  SIM_TRY(fluid_fill(w->m, w->p, setup, values));
  fluid_start(w->m, w->p, w->numbers, values, &w->state[0]);
  fluid_sponge_start(w->m, &w->state[0]);
  if (w->m->warmth) fluid_heat_start(w->m, &w->state[0]);
  return SIM_OK;
}

static void guard_above(fluid_work *w, bool fast) {
  w->m->collision.fastest = fluid_speed_of_mach(fast ? FLUID_MACH_FASTEST : FLUID_MACH_FAST);
}

static sim_status resume(fluid_work *w, int64_t step, bool fast) {
  (void)step;
  guard_above(w, fast);
  fluid_finish_rows(w->m, &w->state[0]);
  return SIM_OK;
}

static sim_status step(fluid_work *w, int64_t number) {
  w->wrong = fluid_sweep(w->m, &w->state[0], &w->state[1]);
  if (w->m->motion) SIM_TRY(fluid_move_bodies(w->m, number, &w->state[1]));
  fluid_sponge_damp(w->m, &w->state[1]);
  if (w->m->warmth) SIM_TRY(fluid_heat_step(w->m, number, &w->state[0], &w->state[1]));
  const sim_buffer old = w->state[0];
  w->state[0] = w->state[1];
  w->state[1] = old;
  return SIM_OK;
}

static sim_status guards(fluid_work *w, int64_t number, fluid_seen seen[FLUID_WARNINGS]) {
  seen[FLUID_WARN_FAST].seen = seen[FLUID_WARN_END].seen = false;
  if (!w->wrong) return SIM_OK;
  const fluid_worst cell = fluid_find_worst(w->m, &w->state[0], w->partial);
  const bool end = cell.dense || cell.speed > fluid_speed_of_mach(FLUID_MACH_FASTEST);
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
  return SIM_OK;
}

static sim_status flow(fluid_work *w, double *values) {
  void *fields[FIELDS];
  values_of(w, fields);
  fluid_measure(w->m, w->p, w->numbers, &w->state[0], (const void *[]){fields[0], fields[1], fields[2]}, w->partial,
                values);
  return SIM_OK;
}

/* Force and torque of the momentum that passes in the step that begins now. */
static sim_status bodies(fluid_work *w, double *values) {
  const fluid_machine *m = w->m;
  const fluid_numbers *k = w->numbers;
  const int rank = m->lattice->rank, columns = rank == 2 ? 3 : 6;
  const double force = w->p->density * pow(k->dx, rank + 1) / (k->dt * k->dt);
  const fluid_links links = {m->walls.cell, m->walls.link};
  for (int i = 0; i < columns * (int)w->p->bodies.count; i++) values[i] = 0;
  for (int64_t i = 0; i < m->walls.cells; i++) {
    const fluid_cell *cell = &m->walls.cell[i];
    const double x[3] = {grid_centre(&m->grid, 0, cell->x), grid_centre(&m->grid, 1, cell->row % m->grid.n[1]),
                         grid_centre(&m->grid, 2, cell->row / m->grid.n[1])};
    for (int j = 0; j < cell->count; j++) {
      const int body = m->walls.link[cell->first + j].body;
      double centre[3], momentum[3] = {0}, torque[3] = {0};
      if (body < 0) continue;
      fluid_body_centre(w->p, m->walls.meshes, body, &m->walls.pose[body], x, centre);
      for (int a = 0; a < 3; a++) centre[a] /= k->dx;
      m->kernels->force(m->lattice, &m->collision, &m->rows, &links, i, j, fluid_first(&w->state[0]), centre,
                        m->walls.speed ? m->walls.speed[cell->first + j] : NULL, momentum, torque);
      double *to = values + columns * body;
      for (int a = 0; a < rank; a++) to[a] += force * momentum[a];
      for (int a = rank == 2 ? 2 : 0; a < 3; a++) to[rank == 2 ? rank : rank + a] += force * k->dx * torque[a];
    }
  }
  return SIM_OK;
}

static sim_status probes(fluid_work *w, double *values) {
  void *fields[FIELDS];
  values_of(w, fields);
  for (size_t i = 0; i < w->p->probes.rows; i++) {
    const int64_t cell = fluid_probe_cell(w->p, i);
    for (int f = 0; f <= w->m->grid.rank; f++) *values++ = grid_number(fields[f], w->m->single, cell);
  }
  return SIM_OK;
}

static sim_status excess(fluid_work *w, double *out) {
  const fluid_machine *m = w->m;
  *out = 0;
  for (int64_t row = 0; row < m->grid.n[1] * m->grid.n[2]; row++)
    for (int64_t x = 0; x < m->grid.n[0]; x++) {
      double u[3];
      if (!m->walls.solid || !m->walls.solid[row * m->grid.n[0] + x])
        *out += fluid_cell_velocity(m, &w->state[0], row, x, u);
    }
  return SIM_OK;
}

static double *means(const fluid_work *w) { return w->m->sponge.mean; }

static sim_status heat(fluid_work *w, fluid_heat_sums *out) {
  fluid_heat_find_sums(w->m, &w->state[0], out);
  return SIM_OK;
}

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
                                 .excess = excess,
                                 .means = means,
                                 .heat = heat,
                                 .temperature = temperature};
