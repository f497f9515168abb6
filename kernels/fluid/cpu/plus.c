/* y+ of the cells beside bodies: how well the grid resolves the flow at their surfaces. */
#include "kernels/fluid/cpu/rheology.h"
#include "kernels/fluid/cpu/measure.h"

#include "engine/reduce.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* Newton's method for u+ in y+(u+) u+ = reynolds, which is convex and grows: from an upper bound the steps fall to the
 * solution. y+ is at least u+, so that the root of reynolds is a bound; and beyond u+ = 40 the product is above
 * exp(kappa u+). */
double fluid_plus_of(double reynolds) {
  const double kappa = 0.41, scale = exp(-kappa * 5.0);
  double u = fmin(sqrt(reynolds), fmax(40, log(reynolds) / kappa));
  for (int i = 0; i < 200 && u > 0; i++) {
    const double k = kappa * u;
    /* exp(k) - 1 - k - k^2/2 - k^3/6, and its derivative */
    const double rest = expm1(k) - k * (1 + k / 2 * (1 + k / 3)), slope = expm1(k) - k * (1 + k / 2);
    const double y = u + scale * rest, step = (y * u - reynolds) / (y + u * (1 + scale * kappa * slope));
    u -= step;
    if (!(fabs(step) > 1e-14 * u)) break;
  }
  return u > 0 ? reynolds / u : 0;
}

typedef struct plus_of {
  const fluid_machine *m;
  const fluid_parameters *p;
  const fluid_numbers *numbers;
  const sim_buffer *state;
  const double *velocity;   /* [cells with links][3]; NULL: of the state */
  const fluid_shape *shape; /* [bodies] */
} plus_of;

/* The viscosity at a cell where the speed along a wall changes by `along` in the distance `far` from it. */
static double viscosity_at(const plus_of *of, const fluid_cell *cell, double along, double far) {
  const fluid_machine *m = of->m;
  if (!m->rheology) return of->p->viscosity;
  const double tau = fluid_rheology_tau(m, far > 0 ? along / far : 0, cell->row, cell->x);
  return (tau - 0.5) / m->rheology->scale;
}

/* y+ of a cell at a body. */
static double plus_at(const plus_of *of, int64_t number, int body) {
  const fluid_cell *cell = &of->m->walls.cell[number];
  const fluid_machine *m = of->m;
  const grid_shape *g = &m->grid;
  const double x[3] = {grid_centre(g, 0, cell->x), grid_centre(g, 1, cell->row % g->n[1]),
                       grid_centre(g, 2, cell->row / g->n[1])};
  double u[3], wall[3] = {0}, normal[3] = {0}, square = 0, along = 0;
  const double far = fluid_body_distance(g, &of->shape[body], x, wall);
  fluid_body_normal(g, &of->shape[body], x, normal);
  if (of->velocity)
    memcpy(u, of->velocity + 3 * number, sizeof u);
  else
    (void)fluid_cell_velocity(m, of->state, cell->row, cell->x, u);
  for (int a = 0; a < m->lattice->rank; a++) {
    u[a] = u[a] * of->numbers->dx / of->numbers->dt - wall[a];
    along += u[a] * normal[a];
    square += u[a] * u[a];
  }
  const double past = sqrt(fmax(square - along * along, 0));
  return fluid_plus_of(fmax(far, 0) * past / viscosity_at(of, cell, past, far));
}

/* [bodies] sums, cells, greatest of a plane. */
static void plus_of_plane(const plus_of *of, int64_t plane, double *out) {
  const fluid_walls *walls = &of->m->walls;
  const fluid_part *part = &of->m->part;
  const int bodies = (int)of->p->bodies.count;
  const grid_range cells =
      fluid_items_of_rows(walls->cell, sizeof *walls->cell, offsetof(fluid_cell, row), walls->cells,
                          (grid_range){plane * part->rows, (plane + 1) * part->rows});
  for (int64_t i = cells.first; i < cells.end; i++) {
    const fluid_cell *cell = &walls->cell[i];
    bool beside[FLUID_BODIES] = {false};
    for (int j = 0; j < cell->count; j++) {
      const fluid_link *link = &walls->link[cell->first + j];
      if (link->body >= 0 && link->arriving <= 2 * of->m->lattice->rank) beside[link->body] = true;
    }
    for (int b = 0; b < bodies; b++) {
      if (!beside[b] || !fluid_tells_plus(of->p, b)) continue;
      const double plus = plus_at(of, i, b);
      out[3 * b] += plus;
      out[3 * b + 1] += 1;
      if (!(plus <= out[3 * b + 2])) out[3 * b + 2] = plus;
    }
  }
}

sim_status fluid_find_plus(const fluid_machine *m, const fluid_parameters *p, const fluid_numbers *numbers,
                           const sim_buffer *state, const double *velocity, fluid_plus *out) {
  const int bodies = (int)p->bodies.count, columns = 3 * bodies;
  const int64_t planes = m->part.planes;
  fluid_shape shape[FLUID_BODIES];
  const plus_of of = {m, p, numbers, state, velocity, shape};
  for (int b = 0; b < bodies; b++) shape[b] = fluid_body_shape(p, m->walls.meshes, b, &m->walls.pose[b]);
  double *sums = fluid_scratch_of(&m->part, FLUID_SCRATCH_SUMS, (size_t)(planes * (columns + 1)) * sizeof *sums);
  if (!sums) return sim_no_memory("sums of planes");
  double *column = sums + planes * columns;
  memset(sums, 0, (size_t)(planes * columns) * sizeof *sums);
#pragma omp parallel for schedule(static) num_threads(m->threads) if (m->threads > 1)
  for (int64_t plane = m->part.first; plane < m->part.end; plane++) plus_of_plane(&of, plane, sums + plane * columns);
  SIM_TRY(fluid_gather_planes(&m->part, (size_t)columns * sizeof *sums, sums));
  for (int b = 0; b < bodies; b++) {
    double total[2];
    out[b] = (fluid_plus){0};
    for (int i = 0; i < 2; i++) {
      for (int64_t plane = 0; plane < planes; plane++) column[plane] = sums[plane * columns + 3 * b + i];
      total[i] = sim_reduce_tree(column, (size_t)planes);
    }
    for (int64_t plane = 0; plane < planes; plane++)
      if (!(sums[plane * columns + 3 * b + 2] <= out[b].most)) out[b].most = sums[plane * columns + 3 * b + 2];
    if (total[1] > 0) out[b].mean = total[0] / total[1];
  }
  return SIM_OK;
}
