/* The model: steps and outputs. The step of a run is that of its checkpoint, whose numbers are in units of it. */
#include "kernels/fluid/fluid.h"

#include "engine/log.h"
#include "engine/run/startup.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double fluid_speed_of_mach(double mach) { return mach / sqrt(3); }

typedef struct fluid_run {
  const fluid_parameters *p;
  const sim_backend *backend;
  const fluid_ops *ops;
  fluid_work *work;
  fluid_numbers numbers;
  fluid_machine machine;
  fluid_motion motion;
  fluid_warmth warmth;
  sim_mesh mesh;
  int64_t shown, checked; /* steps whose fields are shown, whose guards are known; -1: none */
  bool fast;              /* the Mach number has passed FLUID_MACH_FAST */
  double first[3];        /* where it did so first, as stored in checkpoints: step, row, x */
  double excess; /* density above that at rest of all cells at the start, or where this run resumed with a pressure */
  bool told_mass, told_speed, told_heat;
} fluid_run;

enum {
  STATE_MOMENTS,
  STATE_VELOCITY,
  STATE_PRESSURE = STATE_VELOCITY + 3,
  STATE_SPONGE,
  STATE_POSES,
  STATE_FAST,
  STATE_HEAT,
  STATE_TEMPERATURE
};
#define VELOCITY(letter)                                                                                               \
  {                                                                                                                    \
    .name = "velocity/" letter, .type = SIM_REAL, .doc = "velocity along " letter, .dimension = {1, 0, -1},            \
    .flags = SIM_IN_SNAPSHOT | SIM_NO_CHECKPOINT                                                                       \
  }
static const sim_field state_fields[] = {
    [STATE_MOMENTS] = {.name = "moments",
                       .type = SIM_REAL,
                       .doc = "moments of the populations after collision, in units of the lattice, and in single what "
                              "rounding took from them: kernels/fluid/cpu/kernels.h, cuda/cell.cuh"},
    [STATE_VELOCITY] = VELOCITY("x"),
    VELOCITY("y"),
    VELOCITY("z"),
    [STATE_PRESSURE] = {.name = "pressure",
                        .type = SIM_REAL,
                        .doc = "pressure above that at rest",
                        .dimension = {-1, 1, -2},
                        .flags = SIM_IN_SNAPSHOT | SIM_NO_CHECKPOINT},
    [STATE_SPONGE] = {.name = "sponge",
                      .type = SIM_REAL,
                      .doc = "running means in sponges, in units of the lattice: kernels/fluid/fluid.h"},
    [STATE_POSES] = {.name = "poses",
                     .type = SIM_REAL,
                     .doc = "bodies that move, half a step ahead: displacement, angle, velocity and spin of all"},
    [STATE_FAST] = {.name = "fast",
                    .type = SIM_REAL,
                    .doc = "where the Mach number was above 0.3 first, if it was: step, row and column of the cell"},
    [STATE_HEAT] = {.name = "heat",
                    .type = SIM_REAL,
                    .doc =
                        "temperature above the middle of the start's, its flux after collision and velocity times it: "
                        "kernels/fluid/cpu/heat.c"},
    [STATE_TEMPERATURE] = {.name = "temperature",
                           .type = SIM_REAL,
                           .doc = "temperature of the fluid",
                           .flags = SIM_IN_SNAPSHOT | SIM_NO_CHECKPOINT},
    {.name = NULL}};

static const sim_table *const no_tables[] = {NULL};

static const fluid_ops *ops_of(const sim_setup *setup) {
  static const fluid_ops *const ops[SIM_BACKEND_KINDS] = {
      [SIM_BACKEND_CPU] = &fluid_ops_cpu,
#ifdef SIM_HAS_CUDA
      [SIM_BACKEND_CUDA] = &fluid_ops_cuda,
#endif
  };
  return ops[setup->backend->kind];
}

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

static void tell_heat(const fluid_parameters *p, const grid_shape *grid, const fluid_numbers *k) {
  double gravity = 0;
  for (size_t a = 0; a < p->heat.gravity.rows; a++) gravity += p->heat.gravity.data[a] * p->heat.gravity.data[a];
  sim_log(SIM_LOG_INFO, "heat: relaxation time %.6g steps, Prandtl number %.6g", k->heat_tau,
          p->viscosity / p->heat.diffusivity);
  const double peclet = p->speed * k->dx / p->heat.diffusivity;
  if (peclet > 20)
    sim_log(
        SIM_LOG_WARN,
        "heat: the cell Peclet number speed dx/diffusivity is %.3g: temperatures overshoot where they change within "
        "a few cells, and the run may be unstable above 20: expected about %.0f cells along x",
        peclet, (double)grid->n[0] * peclet / 20);
  for (int axis = 0; axis < grid->rank; axis++) {
    if (!fluid_has_nusselt(p, axis) || !(gravity > 0)) continue;
    const double *side = p->heat.side + (size_t)2 * (size_t)axis, length = grid->size[axis];
    sim_log(SIM_LOG_INFO, "heat: Rayleigh number %.6g of the sides along %c",
            fabs(p->heat.expansion * (side[0] - side[1])) * sqrt(gravity) * length * length * length /
                (p->viscosity * p->heat.diffusivity),
            "xyz"[axis]);
  }
}

static sim_status plan(const void *parameters, const sim_setup *setup, sim_plan *out) {
  const fluid_parameters *p = parameters;
  const grid_shape grid = fluid_grid_of(p);
  const fluid_numbers k = fluid_numbers_of(p, setup->saved ? setup->saved->clock.dt : 0);
  const double number = fluid_single(p) ? sizeof(float) : sizeof(double), cells = grid_cells_wanted(&grid);
  if (setup->backend->space == SIM_SPACE_DEVICE && cells > UINT32_MAX)
    return sim_fail(SIM_ERR_SCENARIO, "grid.n: a GPU makes at most %lld cells", (long long)UINT32_MAX);
  if (!setup->saved) {
    sim_log(SIM_LOG_INFO, "dt = %.6g (%s), relaxation time %.6g steps, Mach number %.3g", k.dt,
            !isnan(p->integrate.dt) ? "as given"
            : k.viscous
                ? p->heat.given ? "as long as viscosity and diffusivity allow" : "as long as the viscosity allows"
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
    if (p->heat.given) tell_heat(p, &grid, &k);
    if (!fluid_damps_eddies(p) && k.cell_reynolds > 20)
      sim_log(
          SIM_LOG_WARN,
          "the cell Reynolds number is %.3g: eddies below a cell are not modelled, and the run may be unstable above "
          "20: expected about %.0f cells along x, or `turbulence` with smagorinsky of at least 0.05",
          k.cell_reynolds, (double)grid.n[0] * k.cell_reynolds / 20);
    if (fluid_moves(p)) SIM_TRY(fluid_motion_check(p, &k));
    if (counted(&grid)) SIM_TRY(fluid_start_check(p, &k, setup));
  }
  ops_of(setup)->plan(p, setup, out);
  if (p->heat.given) out->work_rate_guess = 1 / (1 / out->work_rate_guess + 1 / fluid_heat_rate(&grid, setup->threads));
  if (fluid_walls_bytes(p) > 0) sim_plan_add_host(out, "links of walls", fluid_walls_bytes(p));
  if (fluid_has_sponge(p)) sim_plan_add_host(out, "sponges", fluid_sponge_bytes(p));
  out->snapshot_bytes = out->staged_bytes = out->unsaved_bytes = (grid.rank + 1) * cells * number;
  if (p->heat.given) {
    const double heat = fluid_heat_numbers(p) * sizeof(double), temperature = cells * sizeof(double);
    sim_plan_add_host(out, "temperature and its flux, before and after a step", 2 * heat + temperature);
    out->checkpoint_bytes += heat;
    out->snapshot_bytes += temperature;
    out->staged_bytes += temperature;
    out->unsaved_bytes += temperature;
  }
  out->work_per_step = cells;
  out->t_end = p->integrate.t_end;
  out->steps = ceil(p->integrate.t_end / k.dt * (1 - 1e-12));
  return SIM_OK;
}

static void destroy(void **self) {
  fluid_run *run = *self;
  if (!run) return;
  if (run->work) run->ops->destroy(&run->work);
  fluid_walls_destroy(&run->machine.walls);
  fluid_sponge_destroy(&run->machine.sponge);
  fluid_motion_destroy(&run->motion);
  fluid_heat_destroy(&run->warmth);
  free(run);
  *self = NULL;
}

/* Field f of those that are shown: velocity, and behind it the pressure. */
static void *field_of(const fluid_run *run, int f) {
  const sim_buffer *fields = run->ops->fields(run->work);
  return (char *)fields->data + (size_t)f * (size_t)fields->shape[1] * sim_dtype_size(fields->dtype);
}

/* The whole buffer, with the numbers around its rows. */
static sim_array moments_of(const fluid_run *run) {
  sim_array out;
  sim_array_of(&state_fields[STATE_MOMENTS], run->ops->state(run->work), &out);
  return out;
}

static sim_array sponge_of(const fluid_run *run) {
  const fluid_sponge *sponge = &run->machine.sponge;
  return (sim_array){.field = &state_fields[STATE_SPONGE],
                     .dtype = SIM_F64,
                     .rank = 1,
                     .shape = {sponge->means},
                     .global = {sponge->means},
                     .data = sponge->mean,
                     .space = SIM_SPACE_HOST};
}

static sim_array heat_of(const fluid_run *run) {
  const int64_t moments = 1 + 2 * run->machine.grid.rank, cells = run->warmth.cells;
  return (sim_array){.field = &state_fields[STATE_HEAT],
                     .dtype = SIM_F64,
                     .rank = 2,
                     .shape = {moments, cells},
                     .global = {moments, cells},
                     .data = run->warmth.heat[0],
                     .space = SIM_SPACE_HOST};
}

static sim_array poses_of(fluid_run *run) {
  enum { NUMBERS = sizeof(geometry_pose) / sizeof(double) };
  const int64_t bodies = (int64_t)run->p->bodies.count;
  return (sim_array){.field = &state_fields[STATE_POSES],
                     .dtype = SIM_F64,
                     .rank = 2,
                     .shape = {bodies, NUMBERS},
                     .global = {bodies, NUMBERS},
                     .data = run->motion.pose,
                     .space = SIM_SPACE_HOST};
}

static sim_array first_of(fluid_run *run) {
  return (sim_array){.field = &state_fields[STATE_FAST],
                     .dtype = SIM_F64,
                     .rank = 1,
                     .shape = {3},
                     .global = {3},
                     .data = run->first,
                     .space = SIM_SPACE_HOST};
}

/* A closed box keeps its mass, but for rounding and for bodies that move in it. `excess` as of fluid_ops.excess. */
static double mass_change(const fluid_run *run, double excess) {
  return has_open_side(run->p) || run->machine.motion
             ? 0
             : (excess - run->excess) / ((double)run->machine.walls.fluid + run->excess);
}
static const double mass_limit = 1e-3;

/* Restores the moments, whose order, and the rank of their array, depend on the operations. */
static sim_status restore(fluid_run *run, const sim_setup *setup) {
  const sim_array moments = moments_of(run), first = first_of(run);
  const int64_t *n = run->machine.grid.n;
  if (sim_frame_restore(setup->saved, setup->backend, &moments) != SIM_OK)
    return sim_fail_context("moments on %s", setup->backend->name);
  if (run->machine.sponge.means > 0) {
    const sim_array sponge = sponge_of(run);
    SIM_TRY(sim_frame_restore(setup->saved, &sim_backend_cpu, &sponge));
  }
  if (run->machine.warmth) {
    const sim_array heat = heat_of(run);
    SIM_TRY(sim_frame_restore(setup->saved, &sim_backend_cpu, &heat));
  }
  run->fast = sim_frame_array(setup->saved, state_fields[STATE_FAST].name) != NULL;
  if (run->fast) SIM_TRY(sim_frame_restore(setup->saved, &sim_backend_cpu, &first));
  if (run->fast && !(run->first[0] >= 0 && run->first[0] <= (double)setup->saved->clock.step && run->first[1] >= 0 &&
                     run->first[1] < (double)(n[1] * n[2]) && run->first[2] >= 0 && run->first[2] < (double)n[0]))
    return sim_fail(SIM_ERR_INCOMPATIBLE, "the checkpoint's `fast` is no step and cell before it");
  return run->ops->resume(run->work, setup->saved->clock.step, run->fast);
}

static sim_status begin(fluid_run *run, const sim_setup *setup) {
  /* A body that moves may cover a probe, or be hidden, when its run goes on. */
  if (!setup->saved || !run->machine.motion) {
    SIM_TRY(fluid_check_bodies(run->p, &run->numbers, &run->machine.walls));
    SIM_TRY(fluid_check_probes(run->p, &run->machine.walls));
  }
  return setup->saved ? restore(run, setup) : run->ops->start(run->work, setup);
}

/* Fewer than asked for where a step of one thread takes no longer than to wake the others: some microseconds. */
static int threads_for(const grid_shape *grid, int threads) {
  enum { CELLS = 2048 };
  const int64_t useful = grid_cells(grid) / CELLS;
  return useful < 1 ? 1 : useful < threads ? (int)useful : threads;
}

fluid_machine fluid_machine_of(const fluid_parameters *p, const fluid_numbers *numbers, const sim_setup *setup) {
  const grid_shape grid = fluid_grid_of(p);
  fluid_machine out = {.grid = grid,
                       .rows = fluid_rows_of(&grid, fluid_single(p)),
                       .lattice = fluid_lattice_of(grid.rank),
                       .kernels = fluid_kernels_of(fluid_single(p), setup->isa),
                       .collision = {.omega = 1 / numbers->tau,
                                     .smagorinsky = p->turbulence.given ? p->turbulence.smagorinsky : 0,
                                     .fastest = fluid_speed_of_mach(FLUID_MACH_FAST)},
                       .single = fluid_single(p),
                       .threads = threads_for(&grid, setup->threads)};
  fluid_force_of(p, numbers, out.collision.g);
  return out;
}

/* The poses of bodies that move: of the start, or of the checkpoint. */
static sim_status place_bodies(fluid_run *run, const sim_setup *setup) {
  SIM_TRY(fluid_motion_create(run->p, &run->numbers, &run->motion));
  run->machine.motion = &run->motion;
  const sim_array poses = poses_of(run);
  return setup->saved ? sim_frame_restore(setup->saved, &sim_backend_cpu, &poses) : SIM_OK;
}

static sim_status create(const void *parameters, const sim_setup *setup, sim_clock *clock, void **self) {
  const fluid_parameters *p = parameters;
  fluid_run *run = calloc(1, sizeof *run);
  *self = run;
  if (!run) return sim_no_memory("the model");
  run->p = p;
  run->ops = ops_of(setup);
  run->backend = setup->backend;
  if (setup->saved && !(setup->saved->clock.dt > 0)) {
    destroy(self);
    return sim_fail(SIM_ERR_INCOMPATIBLE, "the checkpoint's step is not above 0");
  }
  run->numbers = fluid_numbers_of(p, setup->saved ? setup->saved->clock.dt : 0);
  const grid_shape grid = fluid_grid_of(p);
  run->machine = fluid_machine_of(p, &run->numbers, setup);
  run->shown = run->checked = -1;
  sim_extent whole;
  extent(p, &whole);
  run->mesh = whole.mesh;
  clock->t_end = p->integrate.t_end;
  if (!setup->saved) clock->dt = run->numbers.dt;
  sim_startup("finding walls and bodies", 0, 0);
  sim_status status = fluid_moves(p) ? place_bodies(run, setup) : SIM_OK;
  if (status == SIM_OK)
    status = fluid_walls_create(p, &run->numbers, setup->threads, fluid_moves(p) ? run->motion.pose : NULL,
                                &run->machine.walls);
  if (status == SIM_OK && !setup->saved && !counted(&grid)) fluid_tell_walls(p, &run->numbers, &run->machine.walls);
  if (status == SIM_OK) status = fluid_sponge_create(p, &run->machine.sponge);
  if (status == SIM_OK && p->heat.given) {
    status = fluid_heat_create(p, &run->numbers, setup, &run->warmth);
    run->machine.warmth = &run->warmth;
  }
  if (status == SIM_OK) status = run->ops->create(&run->machine, p, &run->numbers, setup, &run->work);
  sim_startup("making the initial state", 0, 0);
  if (status == SIM_OK) status = begin(run, setup);
  if (status == SIM_OK && p->initial && sim_expr_output_count(p->initial) > grid.rank)
    status = run->ops->excess(run->work, &run->excess);
  if (status != SIM_OK) destroy(self);
  return status;
}

/* A cell and a time, for messages. */
static void place(const fluid_run *run, const fluid_worst *cell, int64_t step, char out[256]) {
  const grid_shape *g = &run->machine.grid;
  const int64_t at[3] = {cell->x, cell->row % g->n[1], cell->row / g->n[1]};
  snprintf(out, 256, "in cell {%lld, %lld, %lld}, at x = %.6g, y = %.6g, z = %.6g, step %lld, t = %.9g",
           (long long)at[0], (long long)at[1], (long long)at[2], grid_centre(g, 0, at[0]), grid_centre(g, 1, at[1]),
           grid_centre(g, 2, at[2]), (long long)step, (double)step * run->numbers.dt);
}

static sim_status fail_unstable(fluid_run *run, const fluid_seen *seen) {
  const fluid_numbers *k = &run->numbers;
  const fluid_worst *cell = &seen->cell;
  double excess;
  SIM_TRY(run->ops->excess(run->work, &excess));
  run->shown = -1; /* it may have changed the fields */
  const double change = mass_change(run, excess), mach = sqrt(3) * cell->speed;
  char leak[96] = "", what[96], where[256];
  place(run, cell, seen->step, where);
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

static void warn_fast(fluid_run *run, const fluid_seen *seen) {
  const double mach = sqrt(3) * seen->cell.speed, speed = seen->cell.speed * run->numbers.dx / run->numbers.dt;
  char where[256];
  place(run, &seen->cell, seen->step, where);
  run->fast = true;
  run->first[0] = (double)seen->step;
  run->first[1] = (double)seen->cell.row;
  run->first[2] = (double)seen->cell.x;
  sim_log(
      SIM_LOG_WARN,
      "the flow has the speed %.3g, Mach number %.3g, %s: compressibility errors of order mach^2, %.2g %%, and above "
      "Mach number %g the run ends: set speed = %.2g",
      speed, mach, where, 100 * mach * mach, FLUID_MACH_FASTEST, 1.1 * speed);
}

/* Asks the guards of all steps: ends the run where a density has left (1/2, 3/2), which at low Mach numbers no flow
 * has, or a Mach number is above FLUID_MACH_FASTEST; warns once above FLUID_MACH_FAST. */
static sim_status check_stable(fluid_run *run, const sim_clock *clock) {
  fluid_seen seen[FLUID_WARNINGS];
  if (run->checked == clock->step) return SIM_OK;
  SIM_TRY(run->ops->guards(run->work, clock->step, seen));
  run->checked = clock->step;
  if (seen[FLUID_WARN_FAST].seen && !run->fast) warn_fast(run, &seen[FLUID_WARN_FAST]);
  return seen[FLUID_WARN_END].seen ? fail_unstable(run, &seen[FLUID_WARN_END]) : SIM_OK;
}

static sim_status step(void *self, sim_clock *clock) {
  enum { CHECK_EVERY = 64 }; /* steps between checks, where a check waits for the device */
  fluid_run *run = self;
  SIM_TRY(run->ops->step(run->work, clock->step + 1));
  clock->step++;
  clock->t = (double)clock->step * run->numbers.dt;
  if (fabs(clock->t - clock->t_end) <= 1e-12 * clock->t_end) clock->t = clock->t_end;
  clock->dt = run->numbers.dt;
  if (run->backend->queue && clock->step % CHECK_EVERY != 0 && clock->t < clock->t_end) return SIM_OK;
  return check_stable(run, clock);
}

static sim_status show(fluid_run *run, const sim_clock *clock) {
  if (run->shown == clock->step) return SIM_OK;
  SIM_TRY(check_stable(run, clock));
  run->shown = clock->step;
  return run->ops->show(run->work);
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

/* Warns once of temperatures that diffusion cannot make: beyond those of the start and of the sides. */
static void warn_of_heat(fluid_run *run, const sim_clock *clock) {
  const double part = fluid_heat_beyond(&run->warmth);
  if (!(part > 0.05) || run->told_heat) return;
  run->told_heat = true;
  sim_log(SIM_LOG_WARN,
          "at t = %.9g a temperature is beyond those of the start and of the sides by %.2g %% of what these are apart, "
          "which no heat makes: take more cells or a higher diffusivity",
          clock->t, 100 * part);
}

static sim_status observe(void *self, const sim_clock *clock, int table, double *values) {
  fluid_run *run = self;
  SIM_TRY(check_stable(run, clock));
  if (run->p->kinds[table] == FLUID_BODIES_TABLE) return run->ops->bodies(run->work, values);
  if (run->p->kinds[table] == FLUID_HEAT_TABLE) {
    fluid_heat_row(&run->machine, run->p, &run->numbers, values);
    warn_of_heat(run, clock);
    return SIM_OK;
  }
  SIM_TRY(show(run, clock));
  if (run->p->kinds[table] == FLUID_PROBES_TABLE) return run->ops->probes(run->work, values);
  SIM_TRY(run->ops->flow(run->work, values));
  warn_of_flow(run, clock, values);
  return SIM_OK;
}

static sim_status view(void *self, sim_array *arrays, sim_species *species, sim_frame *frame) {
  fluid_run *run = self;
  const int rank = run->machine.grid.rank;
  (void)species;
  SIM_TRY(show(run, &frame->clock));
  const sim_buffer *fields = run->ops->fields(run->work);
  arrays[0] = moments_of(run);
  for (int f = 0; f <= rank; f++)
    arrays[1 + f] = grid_view(&run->machine.grid, &run->mesh,
                              &state_fields[f < rank ? (int)STATE_VELOCITY + f : (int)STATE_PRESSURE], fields->dtype,
                              field_of(run, f), fields->space);
  frame->array_count = (size_t)rank + 2;
  if (run->machine.sponge.means > 0) arrays[frame->array_count++] = sponge_of(run);
  if (run->machine.motion) arrays[frame->array_count++] = poses_of(run);
  if (run->machine.warmth) {
    const fluid_warmth *w = &run->warmth;
    for (int64_t i = 0; i < w->cells; i++) w->shown[i] = w->shift + w->heat[0][i];
    arrays[frame->array_count++] = heat_of(run);
    arrays[frame->array_count++] =
        grid_view(&run->machine.grid, &run->mesh, &state_fields[STATE_TEMPERATURE], SIM_F64, w->shown, SIM_SPACE_HOST);
  }
  if (run->fast) arrays[frame->array_count++] = first_of(run);
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
  char where[256];
  (void)clock;
  if (!run->fast) return;
  place(run, &(fluid_worst){.row = (int64_t)run->first[1], .x = (int64_t)run->first[2]}, (int64_t)run->first[0], where);
  sim_bytes_format(out, "the Mach number was above %g, first %s: compression changed the flow by %.0f %% or more",
                   FLUID_MACH_FAST, where, 100 * FLUID_MACH_FAST * FLUID_MACH_FAST);
}

/* What runs on the CPU alone. */
static bool supports(const void *parameters, sim_backend_kind backend, char *lacks, size_t capacity) {
  const fluid_parameters *p = parameters;
  const char *what = p->heat.given         ? "`heat` is"
                     : fluid_has_sponge(p) ? "a side with a `sponge` is"
                     : fluid_moves(p)      ? "a body that moves is"
                                           : NULL;
  if (backend == SIM_BACKEND_CPU || !what) return true;
  snprintf(lacks, capacity, "%s", what);
  return false;
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
    "Wen, Zhang, Tu, Wang and Fang, J. Comput. Phys. 266 (2014) 161: forces on bodies that move",
    "Guo, Shi and Zheng, Int. J. Numer. Methods Fluids 39 (2002) 325: temperature on a second lattice, and buoyancy",
    "Chopard, Falcone and Latt, Eur. Phys. J. Spec. Top. 171 (2009) 245: its flux without an error of du/dt",
    "Akervik et al., Phys. Fluids 18 (2006) 068102: running means, by which sponges damp",
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
    .backends = {[SIM_BACKEND_CPU] = {.runs = true}, [SIM_BACKEND_CUDA] = {.runs = true}},
    .precisions = {[SIM_SINGLE] = true, [SIM_DOUBLE] = true},
    .bench = fluid_bench,
    .validate = fluid_validate,
    .supports = supports,
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
