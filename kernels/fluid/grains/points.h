/* Grains that cells do not resolve: points with a law of drag.
 *
 * A grain of radius r at relative velocity w of the fluid that would be there without it feels 6 pi mu r k w, with the
 * k of a law, beside its weight less buoyancy. The fluid gets the opposite, spread over cells by a kernel: a product of
 * (1 + cos(pi x/width))/(2 width) of each axis, made to add up to 1. The same kernel averages the velocity around the
 * grain. The grain's own force has changed this average. What it adds is that of a Gaussian of the kernel's variance
 * s^2 in an Oseen flow (force coupling: Maxey and Patel, Int. J. Multiphase Flow 27 (2001) 1603), in which the other
 * grains resist as a porous medium of Brinkman's: F/(6 pi mu sqrt(pi) s) (3/2) int_0^1 (1 - c^2) (1 - sqrt(pi) x
 * erfcx(x)) dc, x^2 = (s kappa)^2
 * + (c s w/nu)^2, kappa^2 = 9/2 k (solid fraction)/r^2. It is taken off again, and so is half of the change in a step.
 */
#ifndef FLUID_POINTS_H
#define FLUID_POINTS_H

#include "kernels/fluid/grains/grains.h"

typedef struct fluid_points {
  int widest;     /* greatest number of cells along an axis in a kernel */
  double *weight; /* [n][3][widest] */
  int32_t *first; /* [n][3]: cell of weight 0, before it is taken around periodic axes */
  int32_t *count; /* [n][3] */
  double *volume; /* [cells]: of grains, in cells; between steps 0 */
  double *force;  /* [cells][4]: momentum that grains give in a step, and the share of its velocity that they take from
                     the fluid; between steps 0 */
  bool *mark;     /* [cells] */
  int64_t *touched; /* [cells] of `count_touched`: marked cells */
  int64_t count_touched;
  double *solid; /* [n]: part of the volume about a grain that the others take */
} fluid_points;

/* k of a law at a Reynolds number of the diameter and of w, where grains take a part `solid` of the volume. Schiller
 * and Naumann, Z. VDI 77 (1933) 318: 1 + 0.15 Re^0.687 to Re = 1000, and a coefficient of 0.44 above; by Di Felice,
 * Int. J. Multiphase Flow 20 (1994) 153, times (1 - solid)^-(1 + b), b = 3.7 - 0.65 exp(-(3/2 - log10 Re)^2/2), w that
 * of the fluid's volume, and the pressure of the suspension counted in. */
double fluid_drag_factor(int law, double reynolds, double solid);
/* The share of the Stokes velocity of a kernel's own force that is left: the integral above. */
double fluid_own_share(double still, double moving);

sim_status fluid_points_create(const fluid_grains *g, const grid_shape *grid, fluid_points **out) SIM_MUST_CHECK;
void fluid_points_destroy(fluid_points **points);
double fluid_points_bytes(const fluid_grains *g, const grid_shape *grid);
/* SIM_ERR_SCENARIO: so many grains stand in a cell that a step is too long for them. */
sim_status fluid_points_check(const fluid_grains *g, const grid_shape *grid) SIM_MUST_CHECK;
/* Gives grains and fluid what they give each other in a step, whose state `to` the fluid alone has made. Sets the
 * accelerations of the grains. SIM_ERR_DIVERGED: as of fluid_points_check. */
sim_status fluid_points_act(const fluid_machine *m, const sim_buffer *to) SIM_MUST_CHECK;

#endif
