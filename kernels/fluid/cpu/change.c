/* How much a step changes the flow. */
#include "kernels/fluid/heat.h"
#include "kernels/fluid/cpu/measure.h"

#include <math.h>

typedef struct change_of {
  const fluid_machine *m;
  fluid_machine then;  /* with the temperature before the step, which pushed the fluid */
  fluid_warmth warmth; /* of it */
  const sim_buffer *before, *state;
} change_of;

/* Sums of the squared changes of the velocity and the temperature in the cells of a plane. */
static void change_of_plane(const void *context, int64_t plane, double *sums) {
  const change_of *of = context;
  const fluid_machine *m = of->m;
  const int64_t nx = m->grid.n[0];
  for (int64_t row = plane * m->part.rows; row < (plane + 1) * m->part.rows; row++)
    for (int64_t x = 0; x < nx; x++) {
      double u[3], old[3];
      if (m->walls.solid && m->walls.solid[row * nx + x]) continue;
      (void)fluid_cell_velocity(m, of->state, row, x, u);
      (void)fluid_cell_velocity(&of->then, of->before, row, x, old);
      for (int a = 0; a < 3; a++) sums[0] += (u[a] - old[a]) * (u[a] - old[a]);
      if (!m->warmth) continue;
      const int64_t at = fluid_heat_at(m, row, x);
      const double warmer = m->warmth->heat[0][at] - of->warmth.heat[0][at];
      sums[1] += warmer * warmer;
    }
}

sim_status fluid_find_change(const fluid_machine *m, const fluid_parameters *p, const fluid_numbers *k,
                             const sim_buffer *before, const sim_buffer *state, double *out) {
  change_of of = {.m = m, .then = *m, .before = before, .state = state};
  double sums[2];
  if (m->warmth) {
    of.warmth = *m->warmth;
    of.warmth.heat[0] = m->warmth->heat[1];
    of.then.warmth = &of.warmth;
  }
  SIM_TRY(fluid_sum_planes(&m->part, m->threads, 2, change_of_plane, &of, sums));
  const double cells = (double)m->walls.fluid;
  *out = sqrt(sums[0] / cells) * k->dx / (k->dt * p->speed);
  const double range = m->warmth ? m->warmth->high - m->warmth->low : 0;
  if (range > 0) *out = fmax(*out, sqrt(sums[1] / cells) / range);
  return SIM_OK;
}
