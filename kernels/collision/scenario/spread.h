/* How close the grains of a run are expected to lie, for its plan: before grains exist, and for the whole run. */
#ifndef COLLISION_SCENARIO_SPREAD_H
#define COLLISION_SCENARIO_SPREAD_H

#include "kernels/collision/scenario/options.h"

typedef struct collision_spread {
  double n;
  double diameter; /* mean sum of two radii; 0: not known before the grains are made */
  double density;  /* grains in a unit of the volume that they fill */
  double filled;   /* share of that volume that is in grains */
  double area;     /* area of a cut across x through the grains */
} collision_spread;

/* Grains are expected evenly over the box; with gravity towards a side that is not periodic in a packing. Call it once
 * collision_options_bound has set the radii. */
collision_spread collision_spread_of(const collision_options *o);

/* Expected number of grains whose distance from a grain is less than the sum of the radii and `cutoff`. */
double collision_spread_neighbours(const collision_spread *s, double cutoff);

/* Expected number of grains on one side of a cut across x with such a neighbour on the other side. */
double collision_spread_beside(const collision_spread *s, double cutoff);

#endif
