/* Order of bodies by their distance from a point, for the radii that hold shares of the mass. */
#ifndef NBODY_CPU_DISTANCES_H
#define NBODY_CPU_DISTANCES_H

#include <stdint.h>

typedef struct nbody_distance {
  double distance2, mass; /* both >= 0 */
} nbody_distance;

/* Sorts all[n] in place by distance, then mass, so that the order depends neither on the algorithm nor on the number of
 * threads. Values that are not finite have no defined position. */
void nbody_sort_distances(nbody_distance *all, int64_t n, int threads);

#endif
