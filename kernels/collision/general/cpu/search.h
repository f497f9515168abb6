/* Who is near whom: cells by counting sort, one grid for each class of radius, and lists of neighbours. */
#ifndef COLLISION_SEARCH_H
#define COLLISION_SEARCH_H

#include "kernels/collision/collision.h"

/* The lists begin with room for 12 neighbours a grain, which equal spheres at rest do not need; where grains crowd
 * (fast ones want a wide skin, small ones gather about large ones) they grow as lists are made: the only memory that a
 * run asks for after its start. */
enum { COLLISION_LEVELS = 6 };

/* Positions in cells' order: x, y, z, radius of each. Row i of the list: entries first[i] ... first[i + 1] of
 * `neighbour`, in the order of the neighbours' ids, every pair in both rows. */
typedef struct collision_level {
  double low[3], width[3];
  int64_t cells[3], first_cell;
  double radius; /* largest in it */
} collision_level;

typedef struct collision_search {
  int64_t n;
  int threads, levels;
  collision_level level[COLLISION_LEVELS];
  int64_t *cell_first; /* [cells + 1] */
  int64_t cells, cells_room;
  uint32_t *cell_of, *order; /* [n]: cell of each, old index in new order */
  int64_t *first;            /* [n + 1] */
  uint32_t *neighbour;
  int64_t room; /* of neighbour */
  double low[3], size[3], smallest, largest;
  bool periodic[3], sheared;
  double offset; /* along x, of the image above in y, now */
  double cutoff; /* gap up to which two are neighbours */
} collision_search;

/* For grains of these radii. */
sim_status collision_search_create(const collision_options *o, double smallest, double largest,
                                   collision_search *out) SIM_MUST_CHECK;
void collision_search_destroy(collision_search *search);
double collision_search_bytes(int64_t n);

#endif
