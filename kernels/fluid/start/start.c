/* The first state: velocity and pressure of the scenario, and stresses that belong to them. */
#include "kernels/fluid/gates.h"
#include "kernels/fluid/cpu/rheology.h"
#include "kernels/fluid/heat.h"
#include "kernels/fluid/meshes.h"
#include "kernels/fluid/cpu/measure.h"
#include "kernels/fluid/start/start.h"

#include <math.h>
#include <stdlib.h>

typedef struct filling {
  const fluid_machine *m;
  const fluid_parameters *p;
  sim_isa isa;
  void *const *values; /* NULL: none are stored */
  int64_t first;       /* row with which they begin */
  double pressure;     /* the greatest that a run bears: the density leaves (1/2, 3/2) beyond it */
} filling;

static filling filling_of(const fluid_machine *m, const fluid_parameters *p, sim_isa isa, int64_t first,
                          void *const *values) {
  const fluid_numbers k = fluid_numbers_of(p, 0);
  return (filling){m, p, isa, values, first, p->density * (k.dx / k.dt) * (k.dx / k.dt) / 6};
}

static sim_status fill_row(const filling *f, grid_rows *r, int64_t row) {
  const grid_shape *g = &f->m->grid;
  const int rank = g->rank;
  const int64_t n = g->n[0];
  const double y = grid_centre(g, 1, row % g->n[1]), z = grid_centre(g, 2, row / g->n[1]);
  double *out[4];
  for (int i = 0; i < 4; i++) out[i] = r->buffers + i * n;
  sim_expr_program_run(r->program, (size_t)n, (const void *const[]){r->x, &y, &z},
                       (void *const[]){out[0], out[1], out[2], out[3]}, r->scratch);
  for (int64_t x = 0; x < n; x++) {
    double square = 0;
    const bool solid = f->m->walls.solid && f->m->walls.solid[row * n + x];
    for (int i = 0; i < sim_expr_output_count(f->p->initial); i++) {
      if (!solid && !isfinite(out[i][x]))
        return sim_fail(SIM_ERR_SCENARIO, "initial: result %d is %g at x = %.6g, y = %.6g, z = %.6g", i + 1, out[i][x],
                        r->x[x], y, z);
      if (i < rank) square += out[i][x] * out[i][x];
      if (f->values) grid_set_number(f->values[i], f->m->single, (row - f->first) * n + x, solid ? 0 : out[i][x]);
    }
    if (!solid && !(sqrt(square) <= 1.01 * f->p->speed))
      return sim_fail(
          SIM_ERR_SCENARIO,
          "initial: the speed is %.6g at x = %.6g, y = %.6g, z = %.6g: expected at most speed = %.6g, which "
          "sets the time step",
          sqrt(square), r->x[x], y, z, f->p->speed);
    if (!solid && sim_expr_output_count(f->p->initial) > rank && !(fabs(out[rank][x]) < f->pressure))
      return sim_fail(
          SIM_ERR_SCENARIO,
          "initial: the pressure is %.6g at x = %.6g, y = %.6g, z = %.6g, and changes the density by %.3g %%: "
          "expected less than %.3g, or a lower mach",
          out[rank][x], r->x[x], y, z, 50 * fabs(out[rank][x]) / f->pressure, f->pressure);
  }
  return SIM_OK;
}

static sim_status fill_rows(void *context, int64_t first, int64_t end) {
  static const bool uniform[] = {false, true, true};
  const filling *f = context;
  grid_rows r = {0};
  SIM_TRY(grid_rows_begin(&f->m->grid, f->p->initial, uniform, f->isa, 4, &r));
  sim_status status = SIM_OK;
  for (int64_t row = first; status == SIM_OK && row < end; row++) status = fill_row(f, &r, row);
  grid_rows_end(&r);
  return status;
}

/* Relaxation time of the cell x of a row with the velocity's derivatives `grad`, physical. */
static double relaxation_time(const fluid_machine *m, const fluid_numbers *k, double grad[3][3], int64_t row,
                              int64_t x) {
  double square = 0, trace = 0;
  const double c = m->collision.smagorinsky;
  for (int a = 0; a < m->lattice->rank; a++) {
    trace += grad[a][a];
    for (int b = 0; b < m->lattice->rank; b++) square += (grad[a][b] + grad[b][a]) * (grad[a][b] + grad[b][a]) / 4;
  }
  const double shear = sqrt(2 * fmax(square - trace * trace / m->lattice->rank, 0));
  return m->rheology ? fluid_rheology_tau(m, shear, row, x) : k->tau + 3 * c * c * shear * k->dt;
}

/* Stores the moments of a cell, or the populations that have them: of regularised ones the state of cpu/kernels.h. */
static void store(const fluid_machine *m, void *out, int64_t first, const double moment[FLUID_MOMENTS_MAX]) {
  const fluid_lattice *l = m->lattice;
  const int rank = l->rank;
  const int64_t stride = m->rows.stride;
  for (int64_t i = 0; i < m->rows.numbers && !m->populations; i++)
    grid_set_number(out, m->single, first + i * stride, i < l->moments ? moment[i] : 0);
  for (int c = 0; c < l->directions && m->populations; c++) {
    const int8_t *v = l->c[c];
    double g = moment[0];
    for (int a = 0; a < rank; a++) {
      g += v[a] * moment[1 + a] + v[a] * v[a] * moment[1 + rank + a];
      for (int b = a + 1; b < rank; b++) g += v[a] * v[b] * moment[1 + 2 * rank + a + b - 1];
    }
    grid_set_number(out, m->single, first + c * stride, g);
  }
}

/* Moments after collision of a cell with a velocity, a pressure and the strain of its neighbours:
 * S = rho u u - 2/3 (tau - 1) rho (E - tr E/rank) + rho (u g + g u)/2, j = rho (u + g/2). */
static void set_cell(const fluid_machine *m, const fluid_parameters *p, const fluid_numbers *k,
                     const void *const *fields, const int64_t at[3], const sim_buffer *state) {
  const int rank = m->lattice->rank;
  const int64_t row = at[2] * m->grid.n[1] + at[1], cell = row * m->grid.n[0] + at[0];
  const int64_t first = fluid_row_at(&m->rows, row) + at[0];
  const double unit = k->dx / k->dt, *g = m->collision.g;
  const double rho1 = 3 * grid_number(fields[rank], m->single, cell) / (p->density * unit * unit), rho = 1 + rho1;
  double grad[3][3], u[3], moment[FLUID_MOMENTS_MAX], trace = 0, widening = 0;
  fluid_gradient(m, p, k->dx, fields, at, grad);
  const double tau = relaxation_time(m, k, grad, row, at[0]), drag = m->drag ? m->drag[cell] : 0;
  for (int a = 0; a < rank; a++) {
    u[a] = grid_number(fields[a], m->single, cell) / unit;
    widening += grad[a][a] / rank;
  }
  for (int a = 0; a < rank; a++) {
    moment[1 + a] = 3 * rho * (u[a] * (1 - drag / 2) + g[a] / 2);
    for (int b = a; b < rank; b++) {
      const double strain = ((grad[a][b] + grad[b][a]) / 2 - (a == b ? widening : 0)) * k->dt;
      const double s = rho * (u[a] * u[b] - 2.0 / 3 * (tau - 1) * strain + (u[a] * g[b] + u[b] * g[a]) / 2);
      if (a == b) trace += s;
      moment[a == b ? 1 + rank + a : 1 + 2 * rank + a + b - 1] = a == b ? 4.5 * s : 9 * s;
    }
  }
  moment[0] = rho1 - 1.5 * trace;
  store(m, fluid_first(state), first, moment);
}

sim_status fluid_fill(const fluid_machine *m, const fluid_parameters *p, const sim_setup *setup, int64_t first,
                      void *const *values) {
  filling f = filling_of(m, p, setup->isa, first, values);
  if (p->initial) SIM_TRY(grid_over_rows(&m->grid, fluid_part_rows(&m->part), m->threads, fill_rows, &f));
  if (fluid_rests(p)) fluid_rest_fill(m, 2 * f.pressure, first, values[m->grid.rank]);
  return SIM_OK;
}

void fluid_start(const fluid_machine *m, const fluid_parameters *p, const fluid_numbers *numbers, void *const *values,
                 const sim_buffer *state) {
  const grid_range rows = fluid_part_rows(&m->part);
  const void *fields[4] = {values[0], values[1], values[2], values[3]};
#pragma omp parallel for schedule(static) num_threads(m->threads) if (m->threads > 1)
  for (int64_t row = rows.first; row < rows.end; row++)
    for (int64_t x = 0; x < m->grid.n[0]; x++)
      set_cell(m, p, numbers, fields, (int64_t[]){x, row % m->grid.n[1], row / m->grid.n[1]}, state);
  fluid_finish_rows(m, state);
}

int64_t fluid_probe_cell(const fluid_parameters *p, size_t probe) {
  const grid_shape g = fluid_grid_of(p);
  int64_t cell = 0;
  for (int a = g.rank - 1; a >= 0; a--) {
    const int64_t at = (int64_t)floor(p->probes.data[3 * probe + (size_t)a] * (double)g.n[a] / g.size[a]);
    cell = cell * g.n[a] + (at < g.n[a] ? at : g.n[a] - 1); /* at the far wall */
  }
  return cell;
}

sim_status fluid_check_probes(const fluid_parameters *p, const fluid_walls *walls) {
  const grid_shape g = fluid_grid_of(p);
  for (size_t i = 0; walls->solid && i < p->probes.rows; i++)
    if (walls->solid[fluid_probe_cell(p, i)])
      return sim_fail(SIM_ERR_SCENARIO,
                      "probes: point %zu: expected a cell of the fluid, got one in a body: move it by a cell, %.3g, "
                      "off the surface",
                      i + 1, g.size[0] / (double)g.n[0]);
  return SIM_OK;
}

sim_status fluid_start_check(const fluid_parameters *p, const fluid_numbers *numbers, const fluid_meshes *meshes,
                             const sim_setup *setup) {
  fluid_machine m = {.grid = fluid_grid_of(p), .single = fluid_single(p)};
  filling f = filling_of(&m, p, setup->isa, 0, NULL);
  fluid_motion motion;
  sim_status status = fluid_motion_create(p, numbers, meshes, &motion);
  if (status == SIM_OK) status = fluid_walls_create(p, numbers, meshes, setup->threads, &motion, &m.walls);
  if (status == SIM_OK) status = fluid_timed_check(p, numbers, &m.walls);
  if (status == SIM_OK) status = fluid_check_bodies(p, numbers, &m.walls);
  if (status == SIM_OK) status = fluid_check_probes(p, &m.walls);
  if (status == SIM_OK) status = fluid_check_gates_open(p, &m.walls);
  if (status == SIM_OK) status = fluid_check_ways(p, numbers, &m.walls);
  if (status == SIM_OK) fluid_tell_walls(p, numbers, &m.walls);
  if (status == SIM_OK) status = fluid_drag_create(p, numbers, setup, &m.drag);
  free(m.drag);
  if (status == SIM_OK && p->initial)
    status = grid_over_rows(&m.grid, grid_all_rows(&m.grid), setup->threads, fill_rows, &f);
  if (status == SIM_OK) status = fluid_heat_check(p, numbers, &m.walls, setup);
  fluid_walls_destroy(&m.walls);
  fluid_motion_destroy(&motion);
  return status;
}
