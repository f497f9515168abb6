/* What a run takes, what is told of it before it begins, and which device has all that it asks for. */
#include "kernels/fluid/run/run.h"
#include "kernels/fluid/scenario/rules.h"
#include "kernels/fluid/start/start.h"

#include "engine/log.h"

#include <math.h>
#include <stdio.h>

const fluid_ops *fluid_ops_of(const fluid_parameters *p, const sim_setup *setup) {
  static const fluid_ops *const ops[SIM_BACKEND_KINDS] = {
      [SIM_BACKEND_CPU] = &fluid_ops_cpu,
#ifdef SIM_HAS_CUDA
      [SIM_BACKEND_CUDA] = &fluid_ops_cuda,
#endif
  };
#ifdef SIM_HAS_CUDA
  if (setup->backend->kind == SIM_BACKEND_CUDA && p->collision == FLUID_TRT) return &fluid_ops_cuda_trt;
#else
  (void)p;
#endif
  return ops[setup->backend->kind];
}

void fluid_extent(const void *parameters, sim_extent *out) {
  const grid_shape grid = fluid_grid_of(parameters);
  grid_extent(&grid, out);
}

bool fluid_counted(const grid_shape *grid) { return grid_cells_wanted(grid) <= 0x1p27; }

static void tell_heat(const fluid_parameters *p, const grid_shape *grid, const fluid_numbers *k) {
  double gravity = 0;
  for (size_t a = 0; a < p->heat.gravity.rows; a++) gravity += p->heat.gravity.data[a] * p->heat.gravity.data[a];
  sim_log(SIM_LOG_INFO, "heat: relaxation time %.6g steps, Prandtl number %.6g", k->heat_tau,
          p->viscosity / p->heat.diffusivity);
  const double peclet = p->speed * k->dx / p->heat.diffusivity;
  if (peclet > 20) /* eddies are few where heat begins to overshoot */
    sim_log(
        SIM_LOG_WARN,
        "heat: the cell Peclet number speed dx/diffusivity is %.3g: temperatures overshoot where they change within "
        "a few cells, and the run may be unstable above 20: expected about %.0f cells along x",
        peclet, (double)grid->n[0] * peclet / 20);
  double low, high;
  const double far = fluid_heat_far(p, &low, &high);
  if (far > 1)
    sim_log(
        SIM_LOG_WARN,
        "heat.reference: is %.3g times as far from the temperatures of sides and bodies, %.6g to %.6g, as these are "
        "apart: compression changes what they are from there by about mach^2, %.2g %%: expected one of these, such "
        "as %.6g",
        far, low, high, 100 * k->mach * k->mach, p->heat.reference < low ? low : high);
  for (int axis = 0; axis < grid->rank; axis++) {
    if (!fluid_has_nusselt(p, axis) || !(gravity > 0)) continue;
    const double *side = p->heat.side + (size_t)2 * (size_t)axis, length = grid->size[axis];
    sim_log(SIM_LOG_INFO, "heat: Rayleigh number %.6g of the sides along %c",
            fabs(p->heat.expansion * (side[0] - side[1])) * sqrt(gravity) * length * length * length /
                (p->viscosity * p->heat.diffusivity),
            "xyz"[axis]);
  }
}

/* Ranks divide the planes of the last axis; `undivided`: share of a step that each makes itself. */
static void plan_ranks(const grid_shape *grid, const sim_comm *comm, double undivided, sim_plan *out) {
  const double planes = (double)grid->n[grid->rank - 1];
  out->most_ranks = (int)fmin(planes, SIM_RANKS_MAX);
  out->parts = (int)planes;
  out->divided = comm->size > 1;
  out->undivided = undivided;
  out->work_rate_guess *= sim_plan_shares(out, comm->size);
}

/* Relaxation times, and what long ones make wrong. */
static void tell_collision(const fluid_parameters *p, const fluid_numbers *k) {
  if (p->collision == FLUID_TRT)
    sim_log(SIM_LOG_INFO, "two relaxation times, %.6g and %.6g steps: magic number %.6g", k->tau,
            p->magic / (k->tau - 0.5) + 0.5, p->magic);
  else if (k->tau > 1.5)
    sim_log(SIM_LOG_WARN, "relaxation time %.3g: walls slip; use dt = \"auto\" or a shorter dt", k->tau);
  /* Measured: 2e-5 cells a step at Mach number 0.1 (tests/parity/fluid_trt.c), with which the last place grows. */
  if (fluid_half(p))
    sim_log(SIM_LOG_INFO,
            "half storage: rounding gives the velocity of each cell a noise of some %.1g, %.1g %% of `speed`",
            2e-4 * k->mach * k->dx / k->dt, 100 * 2e-4 * sqrt(3));
  if (p->collision == FLUID_TRT && k->tau > 1.5 && p->bodies.count > 0)
    sim_log(SIM_LOG_WARN,
            "relaxation time %.3g: bodies that do not end at the sides of cells have too little drag, by some 10 %% "
            "at 3 and 10 cells of diameter; use dt = \"auto\" or a shorter dt",
            k->tau);
}

/* Measured: in single precision velocities go on changing by 2e-8 cells a step a step (the cavity of tests/fluid). */
static void tell_steady(const fluid_parameters *p, const fluid_numbers *k) {
  const double least = 4e-8 * k->dx / (k->dt * p->speed);
  if (fluid_single(p) && p->steady < least)
    sim_log(SIM_LOG_WARN,
            "steady: in single precision rounding changes the velocity by about %.1g of `speed` in each step: expected "
            "at least %.1g, or precision = \"double\"",
            least / 2, least);
}

static bool is_open(const fluid_side *side) { return side->given && !isnan(side->pressure); }

/* A sponge between open sides also holds back a flow that a force drives from rest. */
static void tell_driven(const fluid_parameters *p) {
  for (int s = 0; s < FLUID_SIDES; s++) {
    const size_t axis = (size_t)s / 2;
    const bool buoyant =
        p->heat.given && p->heat.expansion != 0 && p->heat.gravity.rows > axis && p->heat.gravity.data[axis] != 0;
    const bool pushed = buoyant || p->force || (p->acceleration.rows > axis && p->acceleration.data[axis] != 0);
    if (!is_open(&p->sides[s]) || isnan(p->sides[s].sponge) || !is_open(&p->sides[s ^ 1]) || !pushed || p->initial)
      continue;
    sim_log(SIM_LOG_WARN,
            "sides.%s: %s drives the fluid from rest between open sides: the running means of the sponge follow slowly "
            "and hold the flow back for hundreds of passages of sound, in the sponge more than between: leave out the "
            "sponge, or give `initial`",
            fluid_side_names[s], buoyant ? "buoyancy" : "a force");
    return;
  }
}

/* Whether a side with a pressure has a sponge, and is not the only one: what of an inlet leaves there is not known. */
static bool shares_outflow(const fluid_parameters *p) {
  int open = 0;
  bool damped = false;
  for (int s = 0; s < FLUID_SIDES; s++) {
    const fluid_side *side = &p->sides[s];
    if (!side->given || isnan(side->pressure)) continue;
    open++;
    damped = damped || !isnan(side->sponge);
  }
  return open > 1 && damped;
}

/* Whether a side has a pressure, at which sound is reflected. */
static bool has_open_side(const fluid_parameters *p) {
  for (int s = 0; s < FLUID_SIDES; s++)
    if (is_open(&p->sides[s])) return true;
  return false;
}

/* The means of a sponge begin at the start's flow, and follow slowly: a jump of an inlet compresses the fluid before it
 * and swings for long. Without a sponge sound runs to and fro. */
static void tell_jump(const fluid_parameters *p) {
  const bool damped = fluid_has_sponge(p);
  if (!damped && !has_open_side(p)) return;
  for (int s = 0; s < FLUID_SIDES; s++) {
    const fluid_side *side = &p->sides[s];
    if (!side->given || !fluid_side_passes(side, s)) continue;
    const bool timed = side->profile && fluid_side_is_timed(side);
    const double in = fluid_first_inflow(p, s);
    const char *what = in < 0 ? "outlet" : "inlet";
    if (timed && damped && shares_outflow(p)) {
      sim_log(SIM_LOG_WARN,
              "sides.%s: the %s changes with time, which the running means of a sponge follow slowly where several "
              "sides have a pressure, in 30 passages of sound through it: mass and flow at the outlets swing about it, "
              "by a quarter where it starts within 300 passages: leave out the sponge, or begin with `initial` and a "
              "constant %s",
              fluid_side_names[s], what, what);
      return;
    }
    if (p->initial || (timed && !(fabs(in) > 0.01 * p->speed))) continue;
    sim_log(SIM_LOG_WARN,
            damped ? "sides.%s: the fluid begins at rest and an %s at once: with a sponge mass and flow then swing for "
                     "hundreds of passages of sound: give `initial` with the velocity of the %s"
                   : "sides.%s: the fluid begins at rest and an %s at once: sound then runs to and fro between open "
                     "sides for tens of passages, and forces and fluxes swing: give `initial` with the velocity of the "
                     "%s, and a sponge before a side with a pressure",
            fluid_side_names[s], what, what);
    return;
  }
}

/* Grains are made once for the plan: their number and sizes may be in a file. */
static sim_status check_grains(const fluid_parameters *p, const fluid_numbers *k, const sim_setup *setup,
                               fluid_grains_plan *out) {
  *out = (fluid_grains_plan){0};
  if (p->grains.count == 0) return SIM_OK;
  return fluid_grains_check(p, k, setup, out);
}

static void plan_grains(const fluid_parameters *p, const fluid_grains_plan *grains, const sim_setup *setup,
                        sim_plan *out) {
  if (p->grains.count == 0) return;
  out->exchanges += grains->exchanges;
  out->bytes_received += grains->received;
  if (setup->backend->space == SIM_SPACE_HOST)
    sim_plan_add_host(out, "cells with grains", grains->cells);
  else
    sim_plan_add(out, "cells with grains", grains->cells);
  sim_plan_add_host(out, "grains", grains->grains);
  out->snapshot_bytes += grains->snapshot;
  out->checkpoint_bytes += grains->checkpoint;
}

/* share: of the cells of a device, with planes of other ranks */
static void plan_fields(const fluid_parameters *p, double cells, double number, bool there, double share,
                        sim_plan *out) {
  const double derived = cells * number * fluid_derived_count(p), means = cells * sizeof(double) * fluid_means_count(p);
  if (derived + (there ? 0 : means) > 0)
    sim_plan_add_host(out, "derived fields and means", derived + (there ? 0 : means));
  if (there && means > 0) sim_plan_add(out, "running means", means * share);
  if (there) out->staged_bytes += means;
  const double mask = fluid_has_mask(p) ? cells : 0;
  out->snapshot_bytes += derived + means + mask;
  out->unsaved_bytes += derived + mask;
  if (!fluid_moves(p)) out->once_bytes = mask;
  out->checkpoint_bytes += means;
  /* A sample takes about as long as five steps; on a GPU, by the bytes that it moves, as two and a half. */
  if (means > 0) out->work_rate_guess /= 1 + (there ? 2.5 : 5.0) / (double)p->average.every;
}

/* What runs on one GPU only. */
static sim_status check_gpus(const fluid_parameters *p, const grid_shape *grid, const sim_setup *setup) {
  const struct {
    bool asked;
    const char *what;
  } lacks[] = {
      {fluid_half(p), "precision = \"half\""},
      {p->grains.count > 0, "grains"},
  };
  if (setup->comm->size == 1 || setup->backend->kind == SIM_BACKEND_CPU) return SIM_OK;
  for (size_t i = 0; i < sizeof lacks / sizeof lacks[0]; i++)
    if (lacks[i].asked)
      return sim_fail(SIM_ERR_USAGE,
                      "--ranks %d: sim.fluid with %s runs on one GPU only: give --device cpu, or leave out --ranks",
                      setup->comm->size, lacks[i].what);
  /* Populations of a straight side need whole cells of the next plane, which a rank has of its own planes alone. */
  const fluid_side *sides = &p->sides[2 * (grid->rank - 1)];
  const bool deep = p->collision == FLUID_TRT && (sides[0].straight || sides[1].straight);
  const long long planes = (long long)grid->n[grid->rank - 1], most = deep ? planes / 2 : planes;
  if (most < setup->comm->size)
    return sim_fail(SIM_ERR_USAGE,
                    "--ranks %d: GPUs divide the %lld planes of the last axis: expected at most %lld ranks",
                    setup->comm->size, planes, most);
  return SIM_OK;
}

static sim_status plan_with(const fluid_parameters *p, const fluid_meshes *meshes, const sim_setup *setup,
                            sim_plan *out) {
  const grid_shape grid = fluid_grid_of(p);
  const fluid_numbers k = fluid_numbers_of(p, setup->saved ? setup->saved->clock.dt : 0);
  const double number = fluid_single(p) ? sizeof(float) : sizeof(double), cells = grid_cells_wanted(&grid);
  fluid_grains_plan grains;
  SIM_TRY(check_grains(p, &k, setup, &grains));
  SIM_TRY(check_gpus(p, &grid, setup));
  if (setup->backend->space == SIM_SPACE_DEVICE && cells > UINT32_MAX)
    return sim_fail(SIM_ERR_SCENARIO, "grid.n: a run on GPUs has at most %lld cells", (long long)UINT32_MAX);
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
    tell_collision(p, &k);
    if (fluid_has_law(p)) fluid_tell_viscosity(p, &k);
    fluid_tell_pressures(p, &k);
    fluid_tell_force(p, &k);
    fluid_tell_drive(p);
    tell_jump(p);
    tell_driven(p);
    tell_steady(p, &k);
    if (p->turbulence.given)
      sim_log(SIM_LOG_INFO,
              "eddies below a cell: Smagorinsky's eddy viscosity, C = %.4g, of a filter as wide as a cell",
              p->turbulence.smagorinsky);
    if (p->heat.given) tell_heat(p, &grid, &k);
    if (p->heat.given && !fluid_counted(&grid)) fluid_tell_buoyancy(p, NULL); /* else the start is looked at */
    if (!fluid_damps_eddies(p) && k.cell_reynolds > 20)
      sim_log(
          SIM_LOG_WARN,
          "the cell Reynolds number is %.3g: eddies below a cell are not modelled, and the run may be unstable above "
          "20: expected about %.0f cells along x, or `turbulence` with smagorinsky of at least 0.05",
          k.cell_reynolds, (double)grid.n[0] * k.cell_reynolds / 20);
    fluid_tell_references(p);
    if (fluid_moves(p)) SIM_TRY(fluid_motion_check(p, &k, meshes));
    if (fluid_counted(&grid)) SIM_TRY(fluid_start_check(p, &k, meshes, setup));
  }
  fluid_ops_of(p, setup)->plan(p, meshes, setup, out);
  const double step = cells / out->work_rate_guess + grains.seconds;
  const double same = grains.undivided + (fluid_moves(p) ? fluid_motion_seconds(p, meshes) : 0);
  out->work_rate_guess = cells / (step + same);
  plan_ranks(&grid, setup->comm, same / (step + same), out);
  if (fluid_walls_bytes(p, meshes) > 0) sim_plan_add_host(out, "links of walls", fluid_walls_bytes(p, meshes));
  out->room_bytes += fluid_walls_room(p, meshes);
  if (fluid_tells_some_plus(p) && setup->backend->space == SIM_SPACE_DEVICE) {
    const double velocities = 3 * sizeof(double) * fluid_wall_cells(p, meshes);
    sim_plan_add(out, "velocities beside bodies", velocities);
    sim_plan_add_host(out, "velocities beside bodies", velocities);
  }
  if (p->resistance) sim_plan_add_host(out, "resistance", cells * sizeof(double));
  if (meshes->solid) {
    sim_plan_add_host(out, "solid cells, and values of their images", cells * (sizeof(double) + 0.125));
    out->checkpoint_bytes += (double)meshes->solid_words * sizeof(uint64_t);
  }
  if (meshes->triangles > 0) {
    sim_plan_add_host(out, "triangles of bodies", fluid_meshes_bytes(meshes));
    out->checkpoint_bytes += (double)meshes->triangles * 10 * sizeof(double);
  }
  if (fluid_has_sponge(p)) sim_plan_add_host(out, "sponges", fluid_sponge_bytes(p));
  out->snapshot_bytes = out->staged_bytes = out->unsaved_bytes = (grid.rank + 1) * cells * number;
  if (fluid_ops_of(p, setup)->tables_of_state) out->staged_bytes = 0; /* its fields are in host memory */
  if (p->heat.given) {
    const double temperature = cells * sizeof(double);
    out->snapshot_bytes += temperature;
    out->staged_bytes += temperature;
    out->unsaved_bytes += temperature;
  }
  const bool there = setup->backend->space == SIM_SPACE_DEVICE;
  const double share = fluid_part_share(&grid, setup->comm, true);
  plan_fields(p, cells, number, there, share, out);
  if (there && !fluid_ops_of(p, setup)->tables_of_state && fluid_velocity_bytes(p) > 0)
    sim_plan_add_host(out, "velocity on the host", fluid_velocity_bytes(p) * share);
  if (p->spectrum > 0) sim_plan_add_host(out, "spectrum", fluid_spectrum_bytes(p, setup->threads));
  plan_grains(p, &grains, setup, out);
  out->work_per_step = cells;
  out->t_end = p->integrate.t_end;
  out->steps = ceil(p->integrate.t_end / k.dt * (1 - 1e-12));
  return SIM_OK;
}

sim_status fluid_plan(const void *parameters, const sim_setup *setup, sim_plan *out) {
  fluid_meshes meshes;
  sim_status status = fluid_meshes_create(parameters, setup, &meshes);
  if (status == SIM_OK) status = plan_with(parameters, &meshes, setup, out);
  fluid_meshes_destroy(&meshes);
  return status;
}

/* What a GPU lacks. */
static const char *gpu_lacks(const fluid_parameters *p) {
  if (p->drag) return "`drag` of grains is";
  if (p->force && p->collision == FLUID_TRT) return "`force` with collision = \"trt\" is";
  if (sim_expr_depends(p->law, 0, 1) && fluid_tells_some_plus(p))
    return "y+ of a body with a `viscosity` that is a function of the temperature is";
  if (p->collision != FLUID_TRT) return NULL;
  if (p->heat.given) return "`heat` with collision = \"trt\" is";
  if (fluid_has_sponge(p)) return "a `sponge` with collision = \"trt\" is";
  return fluid_moves(p) ? "a body that moves with collision = \"trt\" is" : NULL;
}

bool fluid_supports(const void *parameters, sim_backend_kind backend, char *lacks, size_t capacity) {
  const fluid_parameters *p = parameters;
  const char *what = backend != SIM_BACKEND_CPU ? gpu_lacks(p) : fluid_half(p) ? "precision = \"half\" is" : NULL;
  if (!what) return true;
  snprintf(lacks, capacity, "%s", what);
  return false;
}
