/* The model: steps and outputs. The step of a run is that of its checkpoint, whose numbers are in units of it. */
#include "kernels/fluid/run/run.h"

#include "engine/run/run.h"
#include "engine/run/startup.h"
#include "kernels/fluid/cpu/push.h"
#include "kernels/fluid/cpu/rheology.h"
#include "kernels/fluid/gates.h"
#include "kernels/fluid/start/start.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

double fluid_speed_of_mach(double mach) { return mach / sqrt(3); }

static const sim_table *const no_tables[] = {NULL};

static void destroy(void **self) {
  fluid_run *run = *self;
  if (!run) return;
  if (run->work) run->ops->destroy(&run->work);
  fluid_walls_destroy(&run->machine.walls);
  fluid_sponge_destroy(&run->machine.sponge);
  fluid_motion_destroy(&run->motion);
  fluid_heat_destroy(&run->warmth);
  fluid_rest_destroy(&run->machine);
  fluid_grains_destroy(&run->grains);
  fluid_meshes_destroy(&run->meshes);
  fluid_scratch_free(&run->scratch);
  fluid_rheology_destroy(&run->machine.rheology);
  fluid_fields_destroy(run);
  fluid_spectrum_destroy(run);
  fluid_push_destroy(&run->machine.push);
  free(run->machine.drag);
  free(run);
  *self = NULL;
}

static sim_status begin(fluid_run *run, const sim_setup *setup) {
  /* A body that moves may cover a probe, or be hidden, when its run goes on. */
  if (!setup->saved || !run->machine.motion) {
    SIM_TRY(fluid_check_bodies(run->p, &run->numbers, &run->machine.walls));
    SIM_TRY(fluid_check_probes(run->p, &run->machine.walls));
    SIM_TRY(fluid_check_gates_open(run->p, &run->machine.walls));
  }
  if (setup->saved) return fluid_restore(run, setup);
  SIM_TRY(run->ops->start(run->work, setup));
  return run->means ? fluid_take_sample(run, &(sim_clock){0}) : SIM_OK;
}

/* Fewer than asked for where a step of one thread takes no longer than to wake the others: some microseconds. */
static int threads_for(const grid_shape *grid, const sim_setup *setup) {
  enum { CELLS = 2048 };
  const int threads = setup->threads;
  const int64_t useful = grid_cells(grid) / setup->comm->size / CELLS;
  return useful < 1 ? 1 : useful < threads ? (int)useful : threads;
}

fluid_machine fluid_machine_of(const fluid_parameters *p, const fluid_numbers *numbers, const sim_setup *setup) {
  const grid_shape grid = fluid_grid_of(p);
  fluid_machine out = {.grid = grid,
                       .part = fluid_part_of(&grid, setup->comm),
                       .rows = fluid_rows_of(p),
                       .lattice = fluid_lattice_for(p),
                       .kernels = fluid_kernels_of(fluid_single(p), p->collision == FLUID_TRT, setup->isa),
                       .collision = {.omega = 1 / numbers->tau,
                                     .smagorinsky = p->turbulence.given ? p->turbulence.smagorinsky : 0,
                                     .fastest = fluid_speed_of_mach(FLUID_MACH_FAST)},
                       .single = fluid_single(p),
                       .populations = p->collision == FLUID_TRT,
                       .threads = threads_for(&grid, setup)};
  if (fluid_has_rates(p)) out.collision.tell = (int)(p->force ? out.rows.force : out.rows.numbers) - 1;
  out.collision.omega_odd = 1 / (p->magic / (numbers->tau - 0.5) + 0.5);
  fluid_force_of(p, numbers, out.collision.g);
  return out;
}

/* The poses of bodies that move: of the start, or of the checkpoint. */
static sim_status place_bodies(fluid_run *run, const sim_setup *setup) {
  SIM_TRY(fluid_motion_create(run->p, &run->numbers, &run->meshes, &run->motion));
  run->machine.motion = &run->motion;
  const sim_array poses = fluid_poses_of(run);
  if (!setup->saved) return SIM_OK;
  SIM_TRY(sim_frame_restore(setup->saved, &sim_backend_cpu, &poses));
  fluid_motion_resume(&run->motion, setup->saved->clock.step);
  return SIM_OK;
}

static sim_status create(const void *parameters, const sim_setup *setup, sim_clock *clock, void **self) {
  const fluid_parameters *p = parameters;
  fluid_run *run = calloc(1, sizeof *run);
  *self = run;
  if (!run) return sim_no_memory("the model");
  run->p = p;
  run->ops = fluid_ops_of(p, setup);
  run->backend = setup->backend;
  if (setup->saved && !(setup->saved->clock.dt > 0)) {
    destroy(self);
    return sim_fail(SIM_ERR_INCOMPATIBLE, "the checkpoint's step is not above 0");
  }
  run->numbers = fluid_numbers_of(p, setup->saved ? setup->saved->clock.dt : 0);
  const grid_shape grid = fluid_grid_of(p);
  run->machine = fluid_machine_of(p, &run->numbers, setup);
  run->machine.part.scratch = &run->scratch;
  run->shown = run->checked = -1;
  sim_extent whole;
  fluid_extent(p, &whole);
  run->mesh = whole.mesh;
  clock->t_end = p->integrate.t_end;
  if (!setup->saved) clock->dt = run->numbers.dt;
  sim_startup("finding walls and bodies", 0, 0);
  sim_status status = fluid_meshes_create(p, setup, &run->meshes);
  if (status == SIM_OK && fluid_moves(p)) status = place_bodies(run, setup);
  if (status == SIM_OK)
    status =
        fluid_walls_create(p, &run->numbers, &run->meshes, setup->threads, run->machine.motion, &run->machine.walls);
  if (status == SIM_OK && !setup->saved && !fluid_counted(&grid)) { /* else `plan` has done it */
    fluid_tell_walls(p, &run->numbers, &run->machine.walls);
    status = fluid_check_ways(p, &run->numbers, &run->machine.walls);
  }
  if (status == SIM_OK) status = fluid_drag_create(p, &run->numbers, setup, &run->machine.drag);
  run->machine.collision.drag = run->machine.drag;
  if (status == SIM_OK)
    status = fluid_rheology_create(p, &run->numbers, &run->machine, setup->isa, &run->machine.rheology);
  if (status == SIM_OK) status = fluid_fields_create(run);
  if (status == SIM_OK) status = fluid_spectrum_create(run, setup);
  if (status == SIM_OK) status = fluid_push_create(p, &run->numbers, &run->machine, setup->isa, &run->machine.push);
  if (status == SIM_OK) status = fluid_sponge_create(p, run->machine.walls.solid, &run->machine.sponge);
  if (status == SIM_OK && p->heat.given) {
    status = fluid_heat_create(p, &run->machine, &run->numbers, setup, &run->warmth);
    run->machine.warmth = &run->warmth;
  }
  if (status == SIM_OK && p->heat.given && !setup->saved && !fluid_counted(&grid))
    status = fluid_check_levels(p, &run->numbers, &run->warmth.levels);
  if (status == SIM_OK && !setup->saved) status = fluid_rest_create(p, &run->machine);
  if (status == SIM_OK && p->grains.count > 0) {
    status = fluid_grains_create(p, &run->numbers, &grid, &run->machine.part, setup, &run->grains);
    run->machine.grains = &run->grains;
  }
  if (status == SIM_OK) status = run->ops->create(&run->machine, p, &run->numbers, setup, &run->work);
  sim_startup("making the initial state", 0, 0);
  if (status == SIM_OK) status = begin(run, setup);
  const bool pressed = p->initial && sim_expr_output_count(p->initial) > grid.rank;
  if (status == SIM_OK && (pressed || fluid_rests(p))) status = run->ops->excess(run->work, &run->excess);
  if (status != SIM_OK) destroy(self);
  return status;
}

/* Whether a table has a row after the step from one clock to another. */
static bool has_row(const fluid_run *run, const sim_clock *before, const sim_clock *after) {
  return sim_cadence_due(&run->p->common.output.tables, before, after) || after->t >= after->t_end;
}

static sim_status step(void *self, sim_clock *clock) {
  enum { CHECK_EVERY = 64 }; /* steps between checks, where a check waits for the device */
  fluid_run *run = self;
  sim_clock next = *clock;
  next.step++;
  next.t = (double)next.step * run->numbers.dt;
  if (fabs(next.t - next.t_end) <= 1e-12 * next.t_end) next.t = next.t_end;
  next.dt = run->numbers.dt;
  if (!isnan(run->p->steady) && run->ops->remember && has_row(run, clock, &next))
    SIM_TRY(run->ops->remember(run->work));
  SIM_TRY(run->ops->step(run->work, next.step));
  *clock = next;
  if (run->means) SIM_TRY(fluid_take_sample(run, clock));
  if (run->backend->queue && clock->step % CHECK_EVERY != 0 && clock->t < clock->t_end) return SIM_OK;
  return fluid_check_stable(run, clock);
}

/* SIM_ERR_DIVERGED where a column is infinite, such as a Nusselt number of temperatures that are hardly apart, or a
 * coefficient of a tiny reference. */
static sim_status check_row(const fluid_run *run, const sim_clock *clock, int table, const double *values) {
  const sim_table *t = run->p->tables[table];
  for (int c = 0; t->columns[c].name != NULL; c++)
    if (isinf(values[c]))
      return sim_fail(SIM_ERR_DIVERGED, "%s.%s exceeds the range of double precision at t = %.9g: %s other units",
                      t->name, t->columns[c].name, clock->t,
                      run->p->kinds[table] == FLUID_HEAT_TABLE ? "temperatures or diffusivity need"
                                                               : "the body's reference, or the fluid, needs");
  return SIM_OK;
}

static sim_status observe(void *self, const sim_clock *clock, int table, double *values) {
  fluid_run *run = self;
  SIM_TRY(fluid_check_stable(run, clock));
  if (run->p->kinds[table] == FLUID_BODIES_TABLE) {
    SIM_TRY(fluid_bodies_row(run, values));
    return check_row(run, clock, table, values);
  }
  if (run->p->kinds[table] == FLUID_HEAT_TABLE) {
    fluid_heat_sums sums;
    SIM_TRY(run->ops->heat(run->work, &sums));
    fluid_heat_row_of(&run->machine, run->p, &run->numbers, &sums, values);
    fluid_warn_of_heat(run, clock, &sums);
    return check_row(run, clock, table, values);
  }
  if (run->p->kinds[table] == FLUID_GRAINS_TABLE) return fluid_grains_row(&run->grains, values);
  if (run->p->kinds[table] == FLUID_GATES_TABLE) return fluid_gates_row(run, values);
  const bool spectrum = run->p->kinds[table] == FLUID_SPECTRUM_TABLE;
  if (!run->ops->tables_of_state || spectrum) SIM_TRY(fluid_show_fields(run, clock));
  if (spectrum) return fluid_spectrum_row(run, values);
  if (run->p->kinds[table] == FLUID_PROBES_TABLE) return run->ops->probes(run->work, values);
  if (run->p->kinds[table] == FLUID_POROUS_TABLE) {
    double flow[FLUID_FLOW_SUMS];
    SIM_TRY(run->ops->flow(run->work, flow));
    fluid_porous_row(run->p, &run->machine.walls, flow, values);
    double drive[3];
    if (fluid_driving(run->p, drive) > 0) fluid_watch_porous(run, clock, values);
    return SIM_OK;
  }
  SIM_TRY(run->ops->flow(run->work, values));
  fluid_warn_of_flow(run, clock, values);
  if (isnan(run->p->steady)) return SIM_OK;
  SIM_TRY(run->ops->change(run->work, &run->change));
  values[FLUID_MOMENTUM + run->machine.grid.rank] = run->change;
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
  (void)snprintf(out, capacity, "%s cells, %s in %s, relaxation time %.6g, Reynolds number %.4g", cells,
                 run->machine.lattice->name, run->machine.populations ? "populations" : "moments", run->numbers.tau,
                 run->numbers.reynolds);
}

static const char *const references[] = {
    "Spalding, J. Appl. Mech. 28 (1961) 455: law of the wall, of which y+ is told",
    "Qian, d'Humieres and Lallemand, Europhys. Lett. 17 (1992) 479: the lattices",
    "Latt and Chopard, Math. Comput. Simul. 72 (2006) 165: regularised collision",
    "Malaspinas, arXiv:1505.06900 (2015): third moments of D3Q27 from the first two",
    "Guo, Zheng and Shi, Phys. Rev. E 65 (2002) 046308: forces",
    "Hou, Sterling, Chen and Doolen, Fields Inst. Commun. 6 (1996) 151: Smagorinsky's eddy viscosity",
    "Bouzidi, Firdaouss and Lallemand, Phys. Fluids 13 (2001) 3452: interpolated bounce-back",
    "Kao and Yang, J. Comput. Phys. 227 (2008) 5671: interpolated bounce-back loses mass, which is given back here",
    "Ginzburg, Verhaeghe and d'Humieres, Commun. Comput. Phys. 3 (2008) 427: sides of given pressure",
    "Ladd, J. Fluid Mech. 271 (1994) 285: moving walls, forces by momentum exchange",
    "Wen, Zhang, Tu, Wang and Fang, J. Comput. Phys. 266 (2014) 161: forces on bodies that move",
    "Guo, Shi and Zheng, Int. J. Numer. Methods Fluids 39 (2002) 325: temperature on a second lattice, and buoyancy",
    "Chopard, Falcone and Latt, Eur. Phys. J. Spec. Top. 171 (2009) 245: its flux without an error of du/dt",
    "Ginzburg, Verhaeghe and d'Humieres, Commun. Comput. Phys. 3 (2008) 427: two relaxation times",
    "Noble and Torczynski, Int. J. Mod. Phys. C 9 (1998) 1189: cells that grains cover in part",
    "Feng and Michaelides, Comput. Fluids 38 (2009) 370: fluid inside grains",
    "Maxey and Patel, Int. J. Multiphase Flow 27 (2001) 1603: forces of points, spread over cells",
    "Horwitz and Mani, J. Comput. Phys. 318 (2016) 85: what a point's own force adds to the velocity around it",
    "Schiller and Naumann, Z. VDI 77 (1933) 318: drag of a sphere",
    "Di Felice, Int. J. Multiphase Flow 20 (1994) 153: drag of a sphere among others",
    "Nguyen and Ladd, Phys. Rev. E 66 (2002) 046708: lubrication below a cell",
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
    .state = fluid_state_fields,
    .derived = fluid_derived_names,
    .work_unit = "cells",
    .backends = {[SIM_BACKEND_CPU] = {.runs = true}, [SIM_BACKEND_CUDA] = {.runs = true}},
    .precisions = {[SIM_SINGLE] = true, [SIM_DOUBLE] = true, [SIM_HALF] = true},
    .ranks = true,
    .bench = fluid_bench,
    .validate = fluid_validate,
    .supports = fluid_supports,
    .extent = fluid_extent,
    .plan = fluid_plan,
    .create = create,
    .step = step,
    .observe = observe,
    .view = fluid_view,
    .describe = describe,
    .report = fluid_report,
    .remark = fluid_remark,
    .destroy = destroy,
};
