/* Temperature: its numbers in units of the lattice, and the field of the start. */
#include "kernels/fluid/fluid.h"

#include <math.h>
#include <stdlib.h>

bool fluid_has_nusselt(const fluid_parameters *p, int axis) {
  const double *side = p->heat.side + (size_t)2 * (size_t)axis;
  return !isnan(side[0]) && !isnan(side[1]) && side[0] != side[1];
}

double fluid_heat_numbers(const fluid_parameters *p) {
  const grid_shape g = fluid_grid_of(p);
  return (1 + 2 * g.rank) * grid_cells_wanted(&g);
}

double fluid_heat_rate(const grid_shape *grid, int threads) { return (grid->rank == 2 ? 2.2e7 : 1e7) * threads; }

double fluid_heat_beyond(const fluid_warmth *w) {
  double most = 0;
  for (int64_t i = 0; i < w->cells; i++) most = fmax(most, fabs(w->heat[0][i]));
  return w->apart > 0 ? most / w->apart - 0.5 : 0;
}

/* Bounds on temperatures, as far again below and above as those of the start and of the sides are apart; and the shift
 * to their middle. */
static void set_range(fluid_warmth *w) {
  double least = INFINITY, most = -INFINITY;
  for (int64_t i = 0; i < w->cells; i++) {
    least = fmin(least, w->heat[0][i]);
    most = fmax(most, w->heat[0][i]);
  }
  for (int s = 0; s < FLUID_SIDES; s++) {
    if (isnan(w->side[s])) continue;
    least = fmin(least, w->side[s]);
    most = fmax(most, w->side[s]);
  }
  const double room = 1.5 * (most - least) + 1e-6 * fmax(fabs(least), fabs(most)) + 1e-300;
  w->apart = most - least;
  w->shift = least + w->apart / 2;
  w->least = -room;
  w->most = room;
  w->reference -= w->shift;
  for (int s = 0; s < FLUID_SIDES; s++) w->side[s] -= w->shift;
  for (int64_t i = 0; i < w->cells; i++) w->heat[0][i] -= w->shift;
}

/* Temperatures of the start of some rows. */
static sim_status fill(const fluid_parameters *p, grid_range rows, const sim_setup *setup, int threads, double *out) {
  static const grid_file none = {0};
  const grid_shape g = fluid_grid_of(p);
  const grid_start start = {.path = "heat", .name = "temperature", .initial = p->heat.initial, .file = &none};
  if (p->heat.initial) return grid_fill(&g, rows, &start, false, 0, setup->isa, threads, out);
  for (int64_t i = 0; i < (rows.end - rows.first) * g.n[0]; i++) out[i] = p->heat.reference;
  return SIM_OK;
}

sim_status fluid_heat_check(const fluid_parameters *p, const sim_setup *setup) {
  const grid_shape g = fluid_grid_of(p);
  if (!p->heat.given) return SIM_OK;
  double *row = malloc((size_t)g.n[0] * sizeof *row);
  if (!row) return sim_no_memory("the temperature");
  sim_status status = SIM_OK;
  for (int64_t i = 0; status == SIM_OK && i < g.n[1] * g.n[2]; i++)
    status = fill(p, (grid_range){i, i + 1}, setup, 1, row);
  free(row);
  return status;
}

sim_status fluid_heat_create(const fluid_parameters *p, const fluid_numbers *k, const sim_setup *setup,
                             fluid_warmth *out) {
  const grid_shape g = fluid_grid_of(p);
  const double numbers = fluid_heat_numbers(p);
  *out = (fluid_warmth){.cells = grid_cells(&g), .omega = 1 / k->heat_tau, .reference = p->heat.reference};
  if (!(numbers < 0x1p58)) return sim_no_memory("the temperature");
  for (int i = 0; i < 2; i++) {
    out->heat[i] = calloc((size_t)numbers, sizeof(double));
    if (!out->heat[i]) return sim_no_memory("the temperature");
  }
  out->shown = calloc((size_t)out->cells, sizeof *out->shown);
  if (!out->shown) return sim_no_memory("the temperature");
  for (int s = 0; s < FLUID_SIDES; s++) out->side[s] = p->heat.side[s];
  for (int a = 0; a < 3; a++) {
    const double gravity = (size_t)a < p->heat.gravity.rows ? p->heat.gravity.data[a] : 0;
    out->push[a] = p->heat.expansion * gravity * k->dt * k->dt / k->dx;
    out->pushes = out->pushes || out->push[a] != 0;
  }
  SIM_TRY(fill(p, grid_all_rows(&g), setup, setup->threads, out->heat[0]));
  set_range(out);
  return SIM_OK;
}

void fluid_heat_destroy(fluid_warmth *w) {
  for (int i = 0; i < 2; i++) free(w->heat[i]);
  free(w->shown);
  *w = (fluid_warmth){0};
}
