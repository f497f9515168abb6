/* Rows of the table `gates`: what passes plane sections of the box. */
#include "kernels/fluid/gates.h"
#include "kernels/fluid/run/run.h"

#include <math.h>

/* Adds a row of cells to the sums of a gate, each with its part along x times `part`. */
static void add_row(const fluid_run *run, const fluid_gate *gate, const fluid_section *s, int64_t row, double part,
                    double *sums) {
  const fluid_machine *m = &run->machine;
  const int64_t nx = m->grid.n[0];
  const sim_buffer *state = run->ops->state(run->work);
  for (int64_t x = 0; x < nx; x++) {
    double u[3];
    const double own = part * fluid_section_part(&m->grid, gate, s, 0, x);
    if (!(own > 0) || (m->walls.solid && m->walls.solid[row * nx + x])) continue;
    const double rho1 = fluid_cell_velocity(m, state, row, x, u), flux = own * (1 + rho1) * u[gate->axis];
    sums[FLUID_GATE_AREA] += own;
    sums[FLUID_GATE_PRESSURE] += own * rho1;
    sums[FLUID_GATE_FLUX] += flux;
    for (int a = 0; a < m->grid.rank; a++) sums[FLUID_GATE_MOMENTUM + a] += flux * u[a];
  }
}

static void gates_of_plane(const void *context, int64_t plane, double *sums) {
  const fluid_run *run = context;
  const grid_shape *g = &run->machine.grid;
  const fluid_part *part = &run->machine.part;
  for (int i = 0; i < (int)run->p->gates.count; i++) {
    const fluid_gate *gate = fluid_gate_of(run->p, i);
    const fluid_section s = fluid_section_of(g, gate);
    for (int64_t row = plane * part->rows; row < (plane + 1) * part->rows; row++) {
      const double own =
          fluid_section_part(g, gate, &s, 1, row % g->n[1]) * fluid_section_part(g, gate, &s, 2, row / g->n[1]);
      if (own > 0) add_row(run, gate, &s, row, own, sums + (ptrdiff_t)FLUID_GATE_SUMS * i);
    }
  }
}

sim_status fluid_gates_row(fluid_run *run, double *values) {
  const fluid_machine *m = &run->machine;
  const fluid_numbers *k = &run->numbers;
  const int count = (int)run->p->gates.count, rank = m->grid.rank;
  const double speed = k->dx / k->dt, area = pow(k->dx, rank - 1), density = run->p->density;
  double sums[SIM_COLUMNS_FEW / FLUID_GATE_COLUMNS(2) * FLUID_GATE_SUMS];
  SIM_TRY(run->ops->gates ? run->ops->gates(run->work, sums)
                          : fluid_sum_planes(&m->part, m->threads, FLUID_GATE_SUMS * count, gates_of_plane, run, sums));
  for (int i = 0; i < count; i++) {
    const double *own = sums + (ptrdiff_t)FLUID_GATE_SUMS * i;
    *values++ = density * area * speed * own[FLUID_GATE_FLUX];
    *values++ =
        own[FLUID_GATE_AREA] > 0 ? density * speed * speed / 3 * own[FLUID_GATE_PRESSURE] / own[FLUID_GATE_AREA] : 0;
    for (int a = 0; a < rank; a++) *values++ = density * area * speed * speed * own[FLUID_GATE_MOMENTUM + a];
  }
  return SIM_OK;
}
