/* Force and torque of one link, of the populations that pass along it (kernels.c, trt.c). */
#ifndef FLUID_CPU_FORCE_H
#define FLUID_CPU_FORCE_H

#include "kernels/fluid/cpu/kernels.h"

#include <math.h>

/* As of fluid_kernels.force: collision.g, what acts on the fluid between the half of the link and the surface; sent and
 * got: g of what the cell sends along the link, and of what arrives by it. */
static inline void fluid_link_force(const fluid_lattice *l, const fluid_collision *collision, const fluid_rows *rows,
                                    const fluid_cell *cell, const fluid_link *link, double sent, double got,
                                    const double centre[3], const double speed[3], double momentum[3],
                                    double torque[3]) {
  const int64_t at[3] = {cell->x, cell->row % rows->n[1], cell->row / rows->n[1]};
  const int8_t *c = l->c[link->arriving];
  const double q = fluid_link_part(link);
  double arm[3];
  for (int a = 0; a < 3; a++) {
    const bool mirror = link->mirror & 1 << a;
    const double push = c[a] * fluid_weight(l, link->arriving) * (sent + got), x = (double)at[a] + 0.5 - q * c[a];
    const double inside = !mirror ? x : x < 0 ? -x : fmin(x, 2 * (double)rows->n[a] - x);
    momentum[a] = (mirror ? push : -push) + collision->g[a];
    if (speed) momentum[a] -= speed[a] * fluid_weight(l, link->arriving) * (sent - got);
    arm[a] = a < l->rank ? inside - centre[a] : 0;
  }
  for (int a = 0; a < 3; a++) {
    const int b = (a + 1) % 3, e = (a + 2) % 3;
    torque[a] = arm[b] * momentum[e] - arm[e] * momentum[b];
  }
}

#endif
