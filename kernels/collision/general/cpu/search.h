/* Neighbour search on the CPU: cells by counting sort, one grid for each class of radii, and neighbour lists. The
 * functions that depend on the precision are in search.inc. GPU counterpart: cuda/search.cuh. */
#ifndef COLLISION_SEARCH_H
#define COLLISION_SEARCH_H

#include "kernels/collision/scenario/options.h"

/* Most levels: grids of cells. Lists begin with room for so many neighbours a grain, more than equal spheres at rest
 * need. They grow while they are built, where fast grains need a wide skin or small grains surround large ones: the
 * only allocation after a run's start. */
enum { COLLISION_LEVELS = 8, COLLISION_NEIGHBOURS = 12 };

/* Most grains in a block, which a thread takes at a time. */
enum { COLLISION_BLOCK = 1024 };

/* Consecutive grains in the order of the cells. */
typedef struct collision_span {
  int64_t first, end;
} collision_span;

/* A grid of cells for grains of one class of radii, within a factor of two, or of several adjacent classes. */
typedef struct collision_level {
  double low[3], width[3];
  int64_t cells[3], first_cell;
  double radius; /* largest radius of its grains */
} collision_level;

typedef struct collision_search {
  int64_t n;
  int threads, levels;
  collision_level level[COLLISION_LEVELS];
  int level_of_class[COLLISION_LEVELS]; /* class 0: the largest grains */
  int64_t *cell_first;                  /* [cells + 1] */
  int64_t cells, cells_room;
  uint32_t *cell_of, *order; /* [n]: cell of each grain; old index of each grain in the new order */
  collision_span *block;     /* [blocks]: grains whose neighbours are listed, at most COLLISION_BLOCK each */
  int64_t blocks;
  int64_t *first; /* [n + 1] */
  uint32_t *neighbour;
  int64_t room; /* entries that `neighbour` has room for */
  double low[3], size[3], smallest, largest;
  bool periodic[3], sheared, turned; /* turned: sheared across x along y, not across y along x */
  double offset;                     /* present offset of the image above in a sheared box */
  bool halved;          /* each class is a level: the order of grains is that of older versions of the program */
  double cutoff;        /* gap up to which two grains are neighbours */
  const uint32_t *body; /* by id: spheres of the same clump, above 0, are no neighbours; NULL: no clumps */
} collision_search;

/* Allocates a search over o->n grains with radii from smallest to largest; collision_search_destroy frees it.
 * SIM_ERR_NO_MEMORY. */
sim_status collision_search_create(const collision_options *o, double smallest, double largest,
                                   collision_search *out) SIM_MUST_CHECK;
void collision_search_destroy(collision_search *search);
/* Restricts the lists to the grains of these spans, at most COLLISION_LEVELS, until grains are sorted
 * again. */
void collision_search_limit(collision_search *search, const collision_span *span, int count);
/* Chooses the levels for count[k] grains with radii up to radius[k] in class k, in a box of this volume; sets `levels`,
 * `level_of_class`, and the radius of each level. */
void collision_search_choose(collision_search *search, const int64_t count[COLLISION_LEVELS],
                             const double radius[COLLISION_LEVELS], double volume);
double collision_search_bytes(int64_t n);
/* Reach of the lists beyond that of contacts, unless grains move farther in a step. */
double collision_search_skin(const collision_options *o, double smallest);

#endif
