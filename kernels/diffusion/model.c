/* The model: its plan, and its table of functions. */
#include "kernels/diffusion/run/run.h"

#include "engine/log.h"

#include <math.h>
#include <stdio.h>

static const sim_table *const no_tables[] = {NULL};

static bool supports(const void *parameters, sim_backend_kind backend, char *lacks, size_t capacity) {
  const diffusion_parameters *p = parameters;
  const bool strang = p->integrate.scheme == DIFFUSION_STRANG && diffusion_estimates(p);
  const grid_shape grid = diffusion_grid_of(p);
  bool walls = false;
  for (int a = 0; a < grid.rank; a++) walls = walls || grid.boundary[a] != GRID_PERIODIC;
  const char *what = diffusion_stirred(p) && walls ? "random `forcing` between walls is"
                     : strang                      ? "`strang` with dt = \"auto\" is"
                                                   : NULL;
  if (backend == SIM_BACKEND_CPU || !what) return true;
  snprintf(lacks, capacity, "%s", what);
  return false;
}

/* Adds the needs of the second run of a Lyapunov exponent: as much as the first run's. */
static void plan_twin(const diffusion_parameters *p, const sim_setup *setup, sim_plan *out) {
  static const char what[] = "second run of the Lyapunov exponent";
  sim_plan twin = {.space = out->space};
  if (!p->lyapunov.given) return;
  diffusion_ops_of(setup)->plan(p, setup, &twin);
  sim_plan_add(out, what, sim_plan_bytes(&twin, out->space));
  if (out->space != SIM_SPACE_HOST && sim_plan_bytes(&twin, SIM_SPACE_HOST) > 0)
    sim_plan_add_host(out, what, sim_plan_bytes(&twin, SIM_SPACE_HOST));
  out->checkpoint_bytes += twin.checkpoint_bytes;
  out->bytes_received += twin.bytes_received;
  out->exchanges += twin.exchanges;
  out->work_rate_guess /= 2;
}

static sim_status plan(const void *parameters, const sim_setup *setup, sim_plan *out) {
  const diffusion_parameters *p = parameters;
  const grid_shape grid = diffusion_grid_of(p);
  const double fields = (double)p->fields.count, number = diffusion_single(p) ? sizeof(float) : sizeof(double);
  const double cells = grid_cells_wanted(&grid);
  diffusion_parameters fine = *p;
  double refined[3];
  diffusion_refine(&fine, refined);
  const grid_shape finer = diffusion_grid_of(&fine);
  for (int axis = 0; axis < grid.rank; axis++)
    if (!grid_is_member_axis(&grid, axis) && !fft_smooth(grid.n[axis]))
      sim_log(SIM_LOG_WARN, "grid.n: %lld has a prime factor above 13, which makes transforms several times slower",
              (long long)grid.n[axis]);
  if (!setup->saved) diffusion_say_walls(p);
  if (!setup->saved) diffusion_say_idle(p);
  if (!setup->saved && !diffusion_adaptive(p)) diffusion_say_steps(&p->integrate, p->integrate.t_end, 0);
  if (!setup->saved) SIM_TRY(diffusion_read_files(p, setup, NULL));
  SIM_TRY(diffusion_check_device(p, setup));
  diffusion_ops_of(setup)->plan(&fine, setup, out);
  if (diffusion_padded(p)) {
    out->work_rate_guess *= grid_cells_wanted(&grid) / grid_cells_wanted(&finer); /* work: cells of the scenario */
    sim_plan_add_host(out, "fields on both grids", diffusion_fields_bytes(p, &fine, setup->threads));
  }
  if (!setup->saved && diffusion_has_files(p)) sim_plan_add_host(out, "values of a file", sizeof(double) * cells);
  if (!setup->saved && diffusion_dealias(&p->integrate) > 0)
    sim_plan_add_host(out, "cut of the first state", diffusion_cut_bytes(p, setup));
  const diffusion_slab slab = diffusion_own_slab(&finer, diffusion_single(p), setup->comm);
  const bool whole = setup->comm->size == 1;
  const double slab_cells = (double)(slab.end - slab.first) * (double)diffusion_plane_cells(&finer);
  sim_plan_add(out, "fields for outputs",
               fields * number * (whole ? grid_cells_wanted(&finer) : slab_cells) * (p->lyapunov.given ? 2 : 1));
  plan_twin(&fine, setup, out);
  if (diffusion_by_courant(p))
    sim_plan_add(out, "state before a step",
                 whole ? out->checkpoint_bytes
                       : fields * number *
                             fmax(diffusion_slab_numbers(&finer, diffusion_single(p), &slab),
                                  diffusion_column_numbers(&finer, diffusion_single(p), &slab)));
  if (diffusion_resolution_bytes(p) > 0)
    sim_plan_add_host(out, "lines of cells for the resolution", diffusion_resolution_bytes(p));
  if (out->space != SIM_SPACE_HOST)
    sim_plan_add_host(out, "fields at the start",
                      fields * number * (whole ? cells : slab_cells) * (p->lyapunov.given ? 2 : 1));
  if (diffusion_observer_bytes(p, setup->threads) > 0)
    sim_plan_add_host(
        out, "observed fields",
        diffusion_observer_bytes(p, setup->threads) +
            ((out->space == SIM_SPACE_HOST && whole) || diffusion_padded(p) ? 0 : fields * number * cells));
  out->snapshot_bytes = out->staged_bytes = out->unsaved_bytes = fields * number * cells;
  int drawn[DIFFUSION_DRAWN];
  const double derived = diffusion_drawn(p, drawn) * number * cells;
  if (derived > 0) sim_plan_add_host(out, "derived fields for outputs", derived);
  out->snapshot_bytes += derived;
  out->unsaved_bytes += derived;
  out->divided = !whole;
  out->work_per_step = cells * fields;
  out->t_end = p->integrate.t_end;
  out->steps = diffusion_adaptive(p) ? NAN : (double)diffusion_steps(&p->integrate);
  out->lazy = diffusion_method_of(p)->stages == 0;
  return SIM_OK;
}

static const char *const references[] = {
    "Cox and Matthews, J. Comput. Phys. 176 (2002) 430: exponential time differencing",
    "Kassam and Trefethen, SIAM J. Sci. Comput. 26 (2005) 1214: where its coefficients cancel",
    "Sandu et al., Atmos. Environ. 31 (1997) 3459: RODAS3",
    "Saad and Schultz, SIAM J. Sci. Stat. Comput. 7 (1986) 856: GMRES",
    "Makhoul, IEEE Trans. ASSP 28 (1980) 27: cosine transforms",
    NULL,
};

const sim_model diffusion_model = {
    .name = "diffusion",
    .doc = "fields on a grid by spectral methods: reactions, phase separation, flows, turbulence, waves",
    .example =
        "-- Spots that divide (Gray and Scott).\n"
        "local F, k = 0.0367, 0.0649\n"
        "return sim.diffusion {\n"
        "  grid      = { n = {128, 128}, size = {1.25, 1.25} },\n"
        "  fields    = {\n"
        "    { name = \"u\", D = 2e-5, initial = function(x, y) return 1 - 0.5 * sim.box(x, y, 0.5, 0.75) end },\n"
        "    { name = \"v\", D = 1e-5, initial = function(x, y) return 0.25 * sim.box(x, y, 0.5, 0.75) end },\n"
        "  },\n"
        "  rates     = function(u, v) return -u*v^2 + F*(1 - u), u*v^2 - (F + k)*v end,\n"
        "  integrate = { scheme = \"etdrk2\", dt = 1, t_end = 500 },\n"
        "}\n",
    .references = references,
    .parameters = &diffusion_schema,
    .tables = no_tables,
    .described = diffusion_described,
    .tables_of = diffusion_tables_of,
    .state = diffusion_state,
    .derived = diffusion_drawn_names,
    .release = diffusion_release,
    .work_unit = "cells",
    .backends = {[SIM_BACKEND_CPU] = {.runs = true}, [SIM_BACKEND_CUDA] = {.runs = true}},
    .precisions = {[SIM_SINGLE] = true, [SIM_DOUBLE] = true},
    .ranks = true,
    .bench = diffusion_bench,
    .validate = diffusion_validate,
    .supports = supports,
    .extent = diffusion_run_extent,
    .plan = plan,
    .create = diffusion_run_create,
    .step = diffusion_run_step,
    .observe = diffusion_run_observe,
    .view = diffusion_run_view,
    .describe = diffusion_run_describe,
    .report = diffusion_run_report,
    .destroy = diffusion_run_destroy,
};
