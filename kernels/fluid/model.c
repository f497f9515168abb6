/* The model: steps and outputs. The step of a run is that of its checkpoint, whose numbers are in units of it. */
#include "kernels/fluid/fluid.h"

#include "engine/log.h"
#include "engine/run/startup.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = 4 }; /* velocity and pressure */
/* Mach numbers of the flow: a run warns above FAST and ends above FASTEST, where compression changes it by a quarter.
 */
static const double FAST = 0.3, FASTEST = 0.5;
static double speed_of_mach(double mach) { return mach / sqrt(3); } /* cells per step */

typedef struct fluid_run {
  const fluid_parameters *p;
  fluid_numbers numbers;
  fluid_machine machine;
  sim_buffer state[2]; /* [0] is the present one */
  sim_buffer fields;   /* [rank + 1][cells]: as shown */
  double *partial;
  sim_mesh mesh;
  int64_t shown;   /* step whose fields are shown; -1: none */
  bool fast;       /* the Mach number has passed FAST */
  char first[256]; /* where and when it did */
  double excess;   /* density above that at rest of all cells at the start, or where this run resumed with a pressure */
  bool told_mass, told_speed;
} fluid_run;

enum { STATE_MOMENTS, STATE_VELOCITY, STATE_PRESSURE = STATE_VELOCITY + 3, STATE_COUNT };
#define VELOCITY(letter)                                                                                               \
  {                                                                                                                    \
    .name = "velocity/" letter, .type = SIM_REAL, .doc = "velocity along " letter, .dimension = {1, 0, -1},            \
    .flags = SIM_IN_SNAPSHOT | SIM_NO_CHECKPOINT                                                                       \
  }
static const sim_field state_fields[] = {
    [STATE_MOMENTS] = {.name = "moments",
                       .type = SIM_REAL,
                       .doc = "moments of the populations after collision, in units of the lattice, and in single what "
                              "rounding took from them: kernels/fluid/cpu/kernels.h"},
    [STATE_VELOCITY] = VELOCITY("x"),
    VELOCITY("y"),
    VELOCITY("z"),
    [STATE_PRESSURE] = {.name = "pressure",
                        .type = SIM_REAL,
                        .doc = "pressure above that at rest",
                        .dimension = {-1, 1, -2},
                        .flags = SIM_IN_SNAPSHOT | SIM_NO_CHECKPOINT},
    {.name = NULL}};

static const sim_table *const no_tables[] = {NULL};

static void extent(const void *parameters, sim_extent *out) {
  const grid_shape grid = fluid_grid_of(parameters);
  grid_extent(&grid, out);
}

static bool has_open_side(const fluid_parameters *p) {
  for (int s = 0; s < FLUID_SIDES; s++)
    if (p->sides[s].given && !isnan(p->sides[s].pressure)) return true;
  return false;
}

/* Whether a plan looks at the start, which takes a byte a cell and some 50 ns. */
static bool counted(const grid_shape *grid) { return grid_cells_wanted(grid) <= 0x1p27; }

static sim_status plan(const void *parameters, const sim_setup *setup, sim_plan *out) {
  const fluid_parameters *p = parameters;
  const grid_shape grid = fluid_grid_of(p);
  const fluid_numbers k = fluid_numbers_of(p, setup->saved ? setup->saved->clock.dt : 0);
  const double number = fluid_single(p) ? sizeof(float) : sizeof(double), cells = grid_cells_wanted(&grid);
  const double state = fluid_state_numbers(&grid, fluid_single(p)) * number, fields = (grid.rank + 1) * cells * number;
  if (!setup->saved) {
    sim_log(SIM_LOG_INFO, "dt = %.6g (%s), relaxation time %.6g steps, Mach number %.3g", k.dt,
            !isnan(p->integrate.dt) ? "as given"
            : k.viscous             ? "as long as the viscosity allows"
                                    : "by mach",
            k.tau, k.mach);
    sim_log(SIM_LOG_INFO, "Reynolds number %.6g of the box (shortest distance of sides), %.4g of a cell", k.reynolds,
            k.cell_reynolds);
    if (k.mach > 0.2)
      sim_log(SIM_LOG_WARN, "Mach number %.3g: compression changes the flow by about %.0f %%", k.mach,
              100 * k.mach * k.mach);
    if (k.tau > 1.5)
      sim_log(SIM_LOG_WARN, "relaxation time %.3g: walls slip; use dt = \"auto\" or a shorter dt", k.tau);
    if (p->turbulence.given)
      sim_log(SIM_LOG_INFO,
              "eddies below a cell: Smagorinsky's eddy viscosity, C = %.4g, of a filter as wide as a cell",
              p->turbulence.smagorinsky);
    if (!fluid_damps_eddies(p) && k.cell_reynolds > 20)
      sim_log(
          SIM_LOG_WARN,
          "the cell Reynolds number is %.3g: eddies below a cell are not modelled, and the run may be unstable above "
          "20: expected about %.0f cells along x, or `turbulence` with smagorinsky of at least 0.05",
          k.cell_reynolds, (double)grid.n[0] * k.cell_reynolds / 20);
    if (counted(&grid)) SIM_TRY(fluid_start_check(p, &k, setup));
  }
  sim_plan_add(out, "moments, before and after a step", 2 * state);
  sim_plan_add(out, "velocity and pressure", fields);
  if (fluid_walls_bytes(p) > 0) sim_plan_add(out, "links of walls", fluid_walls_bytes(p));
  sim_plan_add(out, "sums of rows", (FLUID_MOMENTUM + 3) * sizeof(double) * (double)grid.n[1] * (double)grid.n[2]);
  out->snapshot_bytes = out->staged_bytes = out->unsaved_bytes = fields;
  out->checkpoint_bytes = state;
  out->work_per_step = cells;
  out->work_rate_guess = 1e8 * setup->threads * (grid.rank == 2 ? 2 : 1) * (fluid_single(p) ? 1 : 0.5);
  out->t_end = p->integrate.t_end;
  out->steps = ceil(p->integrate.t_end / k.dt * (1 - 1e-12));
  return SIM_OK;
}

static void destroy(void **self) {
  fluid_run *run = *self;
  if (!run) return;
  for (int i = 0; i < 2; i++) sim_buffer_destroy(&run->state[i]);
  sim_buffer_destroy(&run->fields);
  fluid_walls_destroy(&run->machine.walls);
  free(run->partial);
  free(run);
  *self = NULL;
}

/* fields[rank] of the velocity, and behind them the pressure. */
static void fields_of(const fluid_run *run, void *values[FIELDS]) {
  const size_t bytes = (size_t)run->fields.shape[1] * sim_dtype_size(run->fields.dtype);
  for (int i = 0; i < FIELDS; i++)
    values[i] = i <= run->machine.grid.rank ? (char *)run->fields.data + (size_t)i * bytes : NULL;
}

/* The whole buffer, with the numbers around its rows. */
static sim_array moments_of(const fluid_run *run) {
  sim_array out;
  sim_array_of(&state_fields[STATE_MOMENTS], &run->state[0], &out);
  return out;
}

static sim_status allocate(fluid_run *run, const sim_setup *setup) {
  const grid_shape *g = &run->machine.grid;
  const double numbers = fluid_state_numbers(g, run->machine.single);
  const sim_dtype type = run->machine.single ? SIM_F32 : SIM_F64;
  if (!(numbers < 0x1p58)) return sim_no_memory("the fluid");
  for (int i = 0; i < 2; i++)
    SIM_TRY(sim_buffer_create(setup->backend, type, 1, (int64_t[]){(int64_t)numbers}, &run->state[i]));
  SIM_TRY(sim_buffer_create(setup->backend, type, 2, (int64_t[]){g->rank + 1, grid_cells(g)}, &run->fields));
  run->partial = calloc((size_t)(g->n[1] * g->n[2]) * (FLUID_MOMENTUM + 3), sizeof *run->partial);
  return run->partial ? SIM_OK : sim_no_memory("sums of rows");
}

/* Sum over the fluid of the density above that at rest, in units of the lattice; for warnings alone. */
static double excess_of(const fluid_run *run) {
  const fluid_machine *m = &run->machine;
  double sum = 0;
  for (int64_t row = 0; row < m->grid.n[1] * m->grid.n[2]; row++)
    for (int64_t x = 0; x < m->grid.n[0]; x++) {
      double u[3];
      if (!m->walls.solid || !m->walls.solid[row * m->grid.n[0] + x])
        sum += fluid_cell_velocity(m, &run->state[0], row, x, u);
    }
  return sum;
}

/* A closed box keeps its mass, but for rounding. `excess` as of excess_of. */
static double mass_change(const fluid_run *run, double excess) {
  return has_open_side(run->p) ? 0 : (excess - run->excess) / ((double)run->machine.walls.fluid + run->excess);
}
static const double mass_limit = 1e-3;

static sim_status begin(fluid_run *run, const sim_setup *setup) {
  SIM_TRY(fluid_check_probes(run->p, &run->machine.walls));
  void *values[FIELDS];
  fields_of(run, values);
  if (setup->saved) {
    const sim_array moments = moments_of(run);
    SIM_TRY(sim_frame_restore(setup->saved, setup->backend, &moments));
    fluid_finish_rows(&run->machine, &run->state[0]);
    return SIM_OK;
  }
  return fluid_start(&run->machine, run->p, &run->numbers, setup, values, &run->state[0]);
}

/* Fewer than asked for where a step of one thread takes no longer than to wake the others: some microseconds. */
static int threads_for(const grid_shape *grid, int threads) {
  enum { CELLS = 2048 };
  const int64_t useful = grid_cells(grid) / CELLS;
  return useful < 1 ? 1 : useful < threads ? (int)useful : threads;
}

static sim_status create(const void *parameters, const sim_setup *setup, sim_clock *clock, void **self) {
  const fluid_parameters *p = parameters;
  fluid_run *run = calloc(1, sizeof *run);
  *self = run;
  if (!run) return sim_no_memory("the model");
  run->p = p;
  if (setup->saved && !(setup->saved->clock.dt > 0)) {
    destroy(self);
    return sim_fail(SIM_ERR_INCOMPATIBLE, "the checkpoint's step is not above 0");
  }
  run->numbers = fluid_numbers_of(p, setup->saved ? setup->saved->clock.dt : 0);
  const grid_shape grid = fluid_grid_of(p);
  run->machine = (fluid_machine){.grid = grid,
                                 .rows = fluid_rows_of(&grid, fluid_single(p)),
                                 .lattice = fluid_lattice_of(grid.rank),
                                 .kernels = fluid_kernels_of(fluid_single(p), setup->isa),
                                 .collision = {.omega = 1 / run->numbers.tau,
                                               .smagorinsky = p->turbulence.given ? p->turbulence.smagorinsky : 0,
                                               .fastest = speed_of_mach(FAST)},
                                 .single = fluid_single(p),
                                 .threads = threads_for(&grid, setup->threads)};
  fluid_force_of(p, &run->numbers, run->machine.collision.g);
  run->shown = -1;
  sim_extent whole;
  extent(p, &whole);
  run->mesh = whole.mesh;
  clock->t_end = p->integrate.t_end;
  if (!setup->saved) clock->dt = run->numbers.dt;
  sim_startup("finding walls and bodies", 0, 0);
  sim_status status = allocate(run, setup);
  if (status == SIM_OK) status = fluid_walls_create(p, &run->numbers, setup->threads, &run->machine.walls);
  if (status == SIM_OK && !setup->saved && !counted(&grid)) fluid_tell_walls(p, &run->numbers, &run->machine.walls);
  sim_startup("making the initial state", 0, 0);
  if (status == SIM_OK) status = begin(run, setup);
  if (status == SIM_OK && p->initial && sim_expr_output_count(p->initial) > grid.rank) run->excess = excess_of(run);
  if (status != SIM_OK) destroy(self);
  return status;
}

/* A cell and a time, for messages. */
static void place(const fluid_run *run, const fluid_worst *cell, const sim_clock *clock, char out[256]) {
  const grid_shape *g = &run->machine.grid;
  const int64_t at[3] = {cell->x, cell->row % g->n[1], cell->row / g->n[1]};
  snprintf(out, 256, "in cell {%lld, %lld, %lld}, at x = %.6g, y = %.6g, z = %.6g, step %lld, t = %.9g",
           (long long)at[0], (long long)at[1], (long long)at[2], grid_centre(g, 0, at[0]), grid_centre(g, 1, at[1]),
           grid_centre(g, 2, at[2]), (long long)clock->step, clock->t);
}

static sim_status fail_unstable(const fluid_run *run, const fluid_worst *cell, const char *where) {
  const fluid_numbers *k = &run->numbers;
  const double change = mass_change(run, excess_of(run)), mach = sqrt(3) * cell->speed;
  char leak[96] = "", what[96];
  if (fabs(change) > mass_limit && isfinite(change))
    snprintf(leak, sizeof leak, "; the mass has changed by %.3g %% since the start", 100 * change);
  if (cell->dense)
    snprintf(what, sizeof what, "the density is %.3g times that at rest", 1 + cell->rho1);
  else
    snprintf(what, sizeof what, "the speed is %.3g, Mach number %.3g,", cell->speed * k->dx / k->dt, mach);
  return sim_fail(
      SIM_ERR_DIVERGED,
      "%s %s: the flow is unstable or faster than `speed` (relaxation time %.6g, cell Reynolds number %.3g, "
      "Mach number of `speed` %.3g): take more cells, a higher viscosity%s, or a higher `speed` "
      "if the flow is that fast%s",
      what, where, k->tau, k->cell_reynolds, k->mach, run->p->turbulence.given ? "" : ", `turbulence`", leak);
}

/* Looks at a state of which a step has told: ends the run where a density has left (1/2, 3/2), which at low Mach
 * numbers no flow has, or a Mach number is above FASTEST; warns once above FAST. */
static sim_status check_stable(fluid_run *run, const sim_clock *clock) {
  const fluid_worst cell = fluid_find_worst(&run->machine, &run->state[0], run->partial);
  char where[256];
  place(run, &cell, clock, where);
  if (cell.dense || cell.speed > speed_of_mach(FASTEST)) return fail_unstable(run, &cell, where);
  if (run->fast || !(cell.speed > speed_of_mach(FAST))) return SIM_OK;
  const double mach = sqrt(3) * cell.speed, speed = cell.speed * run->numbers.dx / run->numbers.dt;
  run->fast = true;
  run->machine.collision.fastest = speed_of_mach(FASTEST);
  snprintf(run->first, sizeof run->first, "%s", where);
  sim_log(
      SIM_LOG_WARN,
      "the flow has the speed %.3g, Mach number %.3g, %s: compressibility errors of order mach^2, %.2g %%, and above "
      "Mach number %g the run ends: set speed = %.2g",
      speed, mach, where, 100 * mach * mach, FASTEST, 1.1 * speed);
  return SIM_OK;
}

static sim_status step(void *self, sim_clock *clock) {
  fluid_run *run = self;
  const bool wrong = fluid_sweep(&run->machine, &run->state[0], &run->state[1]);
  const sim_buffer old = run->state[0];
  run->state[0] = run->state[1];
  run->state[1] = old;
  clock->step++;
  clock->t = (double)clock->step * run->numbers.dt;
  if (fabs(clock->t - clock->t_end) <= 1e-12 * clock->t_end) clock->t = clock->t_end;
  clock->dt = run->numbers.dt;
  return wrong ? check_stable(run, clock) : SIM_OK;
}

static void show(fluid_run *run, int64_t step) {
  void *values[FIELDS];
  if (run->shown == step) return;
  fields_of(run, values);
  fluid_show(&run->machine, run->p, &run->numbers, &run->state[0], values);
  run->shown = step;
}

/* Force and torque of the momentum that passes in the step that begins now. */
static void measure_bodies(const fluid_run *run, double *values) {
  const fluid_machine *m = &run->machine;
  const fluid_numbers *k = &run->numbers;
  const int rank = m->lattice->rank, columns = rank == 2 ? 3 : 6;
  const double force = run->p->density * pow(k->dx, rank + 1) / (k->dt * k->dt);
  const fluid_links links = {m->walls.cell, m->walls.link};
  for (int i = 0; i < columns * (int)run->p->bodies.count; i++) values[i] = 0;
  for (int64_t i = 0; i < m->walls.cells; i++) {
    const fluid_cell *cell = &m->walls.cell[i];
    const double x[3] = {grid_centre(&m->grid, 0, cell->x), grid_centre(&m->grid, 1, cell->row % m->grid.n[1]),
                         grid_centre(&m->grid, 2, cell->row / m->grid.n[1])};
    for (int j = 0; j < cell->count; j++) {
      const int body = m->walls.link[cell->first + j].body;
      double centre[3], momentum[3] = {0}, torque[3] = {0};
      if (body < 0) continue;
      fluid_body_centre(run->p, body, x, centre);
      for (int a = 0; a < 3; a++) centre[a] /= k->dx;
      m->kernels->force(m->lattice, &m->collision, &m->rows, &links, i, j, fluid_first(&run->state[0]), centre,
                        momentum, torque);
      double *to = values + columns * body;
      for (int a = 0; a < rank; a++) to[a] += force * momentum[a];
      for (int a = rank == 2 ? 2 : 0; a < 3; a++) to[rank == 2 ? rank : rank + a] += force * k->dx * torque[a];
    }
  }
}

static void measure_probes(const fluid_run *run, double *values) {
  const grid_shape *g = &run->machine.grid;
  void *fields[FIELDS];
  fields_of(run, fields);
  for (size_t i = 0; i < run->p->probes.rows; i++) {
    const int64_t cell = fluid_probe_cell(run->p, i);
    for (int f = 0; f <= g->rank; f++) *values++ = grid_number(fields[f], run->machine.single, cell);
  }
}

/* Warns once, of a row of `flow`, of a mass that makes its numbers wrong, and of speeds far from `speed`. */
static void warn_of_flow(fluid_run *run, const sim_clock *clock, const double *values) {
  const fluid_parameters *p = run->p;
  const double cell = p->density * pow(run->numbers.dx, run->machine.grid.rank);
  const double change = mass_change(run, values[FLUID_MASS] / cell - (double)run->machine.walls.fluid);
  if (fabs(change) > mass_limit && !run->told_mass) {
    run->told_mass = true;
    sim_log(SIM_LOG_WARN,
            "the mass has changed by %.3g %% by rounding at t = %.9g: forces are affected; take precision = \"double\"",
            100 * change, clock->t);
  }
  const double speed = values[FLUID_SPEED], mach = values[FLUID_MACH];
  if (speed > 1.5 * p->speed && !run->fast && !run->told_speed) {
    run->told_speed = true;
    sim_log(SIM_LOG_WARN,
            "the flow has the speed %.3g, Mach number %.3g, at t = %.9g: more than `speed`, %.3g, which sets the time "
            "step: compressibility errors are of order mach^2, %.2g %%: set speed = %.2g",
            speed, mach, clock->t, p->speed, 100 * mach * mach, 1.1 * speed);
  }
}

static sim_status observe(void *self, const sim_clock *clock, int table, double *values) {
  fluid_run *run = self;
  void *shown[FIELDS];
  if (run->p->kinds[table] == FLUID_BODIES_TABLE) {
    measure_bodies(run, values);
    return SIM_OK;
  }
  show(run, clock->step);
  fields_of(run, shown);
  if (run->p->kinds[table] == FLUID_PROBES_TABLE) {
    measure_probes(run, values);
  } else {
    fluid_measure(&run->machine, run->p, &run->numbers, &run->state[0], (const void *[]){shown[0], shown[1], shown[2]},
                  run->partial, values);
    warn_of_flow(run, clock, values);
  }
  return SIM_OK;
}

static sim_status view(void *self, sim_array *arrays, sim_species *species, sim_frame *frame) {
  fluid_run *run = self;
  const int rank = run->machine.grid.rank;
  void *values[FIELDS];
  (void)species;
  show(run, frame->clock.step);
  fields_of(run, values);
  arrays[0] = moments_of(run);
  for (int f = 0; f <= rank; f++)
    arrays[1 + f] = grid_view(&run->machine.grid, &run->mesh,
                              &state_fields[f < rank ? (int)STATE_VELOCITY + f : (int)STATE_PRESSURE],
                              run->fields.dtype, values[f], SIM_SPACE_HOST);
  frame->array_count = (size_t)rank + 2;
  frame->species_count = 0;
  return SIM_OK;
}

static void describe(const void *self, char *out, size_t capacity) {
  const fluid_run *run = self;
  const int64_t *n = run->machine.grid.n;
  char cells[64];
  if (run->machine.lattice->rank == 2)
    snprintf(cells, sizeof cells, "%lld x %lld", (long long)n[0], (long long)n[1]);
  else
    snprintf(cells, sizeof cells, "%lld x %lld x %lld", (long long)n[0], (long long)n[1], (long long)n[2]);
  (void)snprintf(out, capacity, "%s cells, %s in moments, relaxation time %.6g, Reynolds number %.4g", cells,
                 run->machine.lattice->rank == 2 ? "D2Q9" : "D3Q19", run->numbers.tau, run->numbers.reynolds);
}

/* A flow that was too fast for its step, even if the warning has scrolled away. */
static void remark(const void *self, const sim_clock *clock, sim_bytes *out) {
  const fluid_run *run = self;
  (void)clock;
  if (run->fast)
    sim_bytes_format(out, "the Mach number was above %g, first %s: compression changed the flow by %.0f %% or more",
                     FAST, run->first, 100 * FAST * FAST);
}

static const char *const references[] = {
    "Qian, d'Humieres and Lallemand, Europhys. Lett. 17 (1992) 479: the lattices",
    "Latt and Chopard, Math. Comput. Simul. 72 (2006) 165: regularised collision",
    "Guo, Zheng and Shi, Phys. Rev. E 65 (2002) 046308: forces",
    "Hou, Sterling, Chen and Doolen, Fields Inst. Commun. 6 (1996) 151: Smagorinsky's eddy viscosity",
    "Bouzidi, Firdaouss and Lallemand, Phys. Fluids 13 (2001) 3452: interpolated bounce-back",
    "Kao and Yang, J. Comput. Phys. 227 (2008) 5671: interpolated bounce-back loses mass, which is given back here",
    "Ginzburg, Verhaeghe and d'Humieres, Commun. Comput. Phys. 3 (2008) 427: sides of given pressure",
    "Ladd, J. Fluid Mech. 271 (1994) 285: moving walls, forces by momentum exchange",
    NULL,
};

const sim_model fluid_model = {
    .name = "fluid",
    .doc = "fluids at low Mach numbers around walls and bodies",
    .example = "-- A square cavity whose lid moves, at Reynolds number 100.\n"
               "return sim.fluid {\n"
               "  grid      = { n = {64, 64}, size = {1, 1}, boundary = \"wall\" },\n"
               "  viscosity = 0.01,\n"
               "  speed     = 1,\n"
               "  sides     = { y_high = { velocity = {1, 0} } },\n"
               "  integrate = { t_end = 10 },\n"
               "}\n",
    .references = references,
    .parameters = &fluid_schema,
    .tables = no_tables,
    .described = fluid_described,
    .tables_of = fluid_tables_of,
    .state = state_fields,
    .work_unit = "cells",
    .backends = {[SIM_BACKEND_CPU] = {.runs = true},
                 [SIM_BACKEND_CUDA] = {.reason = "its steps are written for the CPU alone"}},
    .precisions = {[SIM_SINGLE] = true, [SIM_DOUBLE] = true},
    .bench = fluid_bench,
    .validate = fluid_validate,
    .extent = extent,
    .plan = plan,
    .create = create,
    .step = step,
    .observe = observe,
    .view = view,
    .describe = describe,
    .remark = remark,
    .destroy = destroy,
};
