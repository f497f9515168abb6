/* Grains that cells do not resolve: points with a law of drag.
 *
 * A grain of radius r feels 6 pi mu r k w beside its weight less buoyancy. w is the velocity, relative to the grain, of
 * the fluid that would be there without it, and k comes from a law. The fluid gets the opposite, spread over cells by a
 * kernel: the product over the axes of (1 + cos(pi x/width))/(2 width), made to add up to 1 and to average a linear
 * velocity exactly. The same kernel averages the velocity around the grain. The grain's own force F has changed this
 * average (Horwitz and Mani, J. Comput. Phys. 318 (2016) 85), so its part is subtracted. That part is the velocity in
 * an Oseen flow at the centre of a force spread as a Gaussian of the kernel's variance s^2 (Maxey and Patel, Int. J.
 * Multiphase Flow 27 (2001) 1603): F/(6 pi mu sqrt(pi) s) times
 *   (3/2) int_0^1 (1 - c^2) (1 - sqrt(pi) x erfcx(x)) dc, x = c s v/nu,
 * v the mean of w and of the averaged velocity, less what cells do not add. The velocity of a steady flow is taken: a
 * grain that changes its speed faster than s^2/nu is corrected by too much. Among others, in the law of Di Felice, w is
 * the velocity relative to the mean of fluid and grains; there a grain adds less, since others cannot be where it is.
 */
#ifndef FLUID_POINTS_H
#define FLUID_POINTS_H

#include "kernels/fluid/grains/grains.h"

enum { FLUID_POINT_NUMBERS = 7 }; /* of fluid_points.amount */

/* Kernels and scratch of points. Between steps `cells` and `used` are 0. Each rank has all kernels, averages and
 * spreads over the cells of its planes, and finds the drag of its share of the grains. */
typedef struct fluid_points {
  int widest;          /* greatest number of cells along an axis in a kernel */
  double *weight;      /* [n][3][widest] */
  int32_t *first;      /* [n][3]: cell of weight 0, before it is taken around periodic axes */
  int32_t *count;      /* [n][3] */
  double *solid;       /* [n]: part of the volume about a grain that the others take */
  double *amount;      /* [n][FLUID_POINT_NUMBERS]: momentum that the fluid gets from a grain in a step, in units of
                          the lattice; share of its velocity that the grain takes from a cell in which it is alone;
                          acceleration of the grain */
  double *cells;       /* [cells of this rank][4]: the first four of all grains, by the kernels */
  bool *used;          /* [planes of z]: some cell of the plane is not 0 */
  double *plane;       /* [planes of z][2]: scratch */
  fluid_layers layers; /* of the kernels */
  double *mean;        /* [n][3]: velocity of the fluid around a grain, in units of the lattice */
  double gained;       /* energy that the fluid got from the grains in the last step, in the scenario's units */
} fluid_points;

/* ---- drag.c ---- */

/* The factor k of a law at a Reynolds number 2 r w/nu, where other grains take a part `solid` of the volume. Stokes: 1.
 * Schiller and Naumann, Z. VDI 77 (1933) 318: 1 + 0.15 Re^0.687 to Re = 1000, and a coefficient of drag of 0.44 above.
 * Di Felice, Int. J. Multiphase Flow 20 (1994) 153: that times (1 - solid)^-(1 + b), b = 3.7 - 0.65 exp(-(3/2 - log10
 * Re)^2/2). There w is the flux of fluid and grains together less the grain's velocity, and the factor 1/(1 - solid)
 * is the pressure gradient of the suspension, which the weight less buoyancy in the fluid alone leaves out. */
double fluid_drag_factor(int law, double reynolds, double solid);
/* The share that is left of the velocity which a kernel's force adds in a Stokes flow: the integral above at
 * moving = s v/nu. */
double fluid_own_share(double moving);
/* The share that is left of it where others take a part `solid` of the volume, and their mean is taken off:
 * fluctuations of the number of hard spheres in a large volume over those of points (Carnahan and Starling, J. Chem.
 * Phys. 51 (1969) 635). */
double fluid_crowd_share(double solid);

/* ---- points.c ---- */

/* Destroy with fluid_points_destroy, also after a failure. */
sim_status fluid_points_create(const fluid_grains *g, const grid_shape *grid, fluid_points **out) SIM_MUST_CHECK;
void fluid_points_destroy(fluid_points **points);
/* part: of the cells. */
double fluid_points_bytes(const fluid_grains *g, const grid_shape *grid, double part);
/* SIM_ERR_SCENARIO: the box is narrower than a kernel; so many grains stand in a cell that a step is too long. */
sim_status fluid_points_check(const fluid_grains *g, const grid_shape *grid) SIM_MUST_CHECK;
/* Gives grains and fluid what they give each other in a step, whose state `to` the fluid alone has made. Sets the
 * accelerations of the grains. SIM_ERR_DIVERGED: a step has become too long, as above. */
sim_status fluid_points_act(const fluid_machine *m, const sim_buffer *to) SIM_MUST_CHECK;

#endif
