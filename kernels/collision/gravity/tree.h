/* Attraction of grains by each other, and by images of the box: a tree of cells with their moments up to the second (J.
 * Barnes and P. Hut, Nature 324 (1986) 446; L. Hernquist, ApJS 64 (1987) 715). All in fp64.
 *
 * A grain attracts another by its nearest image along x and y, and by the `rings` next images on each side: by all
 * images within rings + 1/2 sides of the box (H. Salo, Icarus 117 (1995) 287, with rings = 0). So the forces of a pair
 * are opposite, and all positions in the box are equivalent. An image above in x is moved along y by `offset`.
 * A cell that is only partly within that distance is opened;
 * with opening > 0 a small one counts by its share. */
#ifndef COLLISION_GRAVITY_TREE_H
#define COLLISION_GRAVITY_TREE_H

#include "engine/device/backend.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct collision_images {
  double size[2], offset; /* of the box along x and y; size INFINITY: no images */
  int rings;
} collision_images;

typedef struct collision_tree collision_tree;

/* Creates a tree of n grains, walked with instructions of `isa` at most; collision_tree_destroy frees it, after
 * failures too. SIM_ERR_NO_MEMORY. */
sim_status collision_tree_create(int64_t n, int threads, sim_isa isa, collision_tree **out) SIM_MUST_CHECK;
void collision_tree_destroy(collision_tree **tree);
double collision_tree_bytes(double n);
/* Builds the tree (cells.h) for position [3][n] and mass [n], which are copied. SIM_ERR_NO_MEMORY. */
sim_status collision_tree_build(collision_tree *tree, const double *position, const double *mass) SIM_MUST_CHECK;

/* Attraction of one grain, for a gravitational constant of 1. */
typedef struct collision_attraction {
  double a[3], potential; /* potential > 0: minus the potential energy of a unit of mass */
  double swept;           /* sum over images of their number along x times their contribution to a[1] */
} collision_attraction;

/* Computes out [n], the attraction of each grain. A cell of radius r at a distance d from all grains of a leaf is taken
 * as a whole where r < opening d; opening = 0: the sum over all grains. */
void collision_tree_attract(const collision_tree *tree, const collision_images *images, double softening,
                            double opening, collision_attraction *out);
/* Attraction of grain i alone. */
collision_attraction collision_tree_attract_one(const collision_tree *tree, const collision_images *images,
                                                double softening, double opening, int64_t i);

#ifdef __cplusplus
}
#endif

#endif
