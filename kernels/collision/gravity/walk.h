/* The walk of the tree for grains of a leaf, one source for each instruction set; all of them give the same bits. */
#ifndef COLLISION_GRAVITY_WALK_H
#define COLLISION_GRAVITY_WALK_H

#include "kernels/collision/gravity/tree.h"

#include <math.h>
#include <stdbool.h>

/* Most grains of a leaf, and of a group whose attraction is computed at once. */
enum { COLLISION_LEAF = 8 };

typedef struct collision_cell {
  double centre[3], mass, radius; /* centre of mass; greatest distance of a grain from it */
  double second[6], trace;        /* sum of m x x about the centre: xx yy zz xy yz zx */
  int64_t first, count;           /* grains, in the order of the tree */
  int64_t next;                   /* the cell after all that are inside; children follow their parent */
  bool leaf;
} collision_cell;

typedef struct collision_point {
  double x[3], m;
  int64_t index;
} collision_point;

struct collision_walk_group;
/* Adds the attraction by all images of all grains to what a group feels. */
typedef void collision_walk(const collision_tree *t, const collision_images *images, double softening, double opening,
                            struct collision_walk_group *group);

struct collision_tree {
  int64_t n, cells, room;
  int threads;
  collision_walk *walk;
  collision_point *at, *spare; /* [n] */
  int64_t *place;              /* [n]: of each grain in `at` */
  collision_cell *cell;        /* [room] */
};

/* Grains of a leaf, up to COLLISION_LEAF at once: places from a centre, and what they feel. */
typedef struct collision_walk_group {
  double centre[3], radius; /* greatest distance of a grain from the centre */
  int64_t first, count;
  double x[COLLISION_LEAF], y[COLLISION_LEAF], z[COLLISION_LEAF],
      place[COLLISION_LEAF]; /* place: in the order of the tree */
  double ax[COLLISION_LEAF], ay[COLLISION_LEAF], az[COLLISION_LEAF], potential[COLLISION_LEAF], swept[COLLISION_LEAF];
} collision_walk_group;

#endif
