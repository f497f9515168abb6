/* Walks of the tree for grains of a leaf: on the CPU, one source for each instruction set, and on a GPU. All give the
 * same bits. */
#ifndef COLLISION_GRAVITY_WALK_H
#define COLLISION_GRAVITY_WALK_H

#include "kernels/collision/gravity/tree.h"
#include "kernels/collision/gravity/walk_terms.h"

/* Number of images for 16 rings. */
enum { COLLISION_IMAGES_MAX = 35 * 37 };

/* Grains of a leaf, up to COLLISION_LEAF at once: positions relative to a centre, and their attraction. */
typedef struct collision_walk_group {
  double centre[3], radius; /* greatest distance of a grain from the centre */
  int64_t first, count;
  double x[COLLISION_LEAF], y[COLLISION_LEAF], z[COLLISION_LEAF];
  double place[COLLISION_LEAF]; /* index in the order of the tree */
  double ax[COLLISION_LEAF], ay[COLLISION_LEAF], az[COLLISION_LEAF], potential[COLLISION_LEAF], swept[COLLISION_LEAF];
} collision_walk_group;

/* Adds the attraction by one image of all grains to that of a group. */
typedef void collision_walk(const collision_tree *t, const collision_image *image, const collision_walk_numbers *w,
                            collision_walk_group *group);

struct collision_tree {
  int64_t n, cells, room;
  int threads;
  collision_walk *walk;
  collision_point *at;     /* [n], in the order of the tree */
  uint64_t *key, *spare;   /* [n] */
  uint32_t *index, *moved; /* [n]: index of each grain in `at`; moved: while keys are sorted */
  uint32_t *place;         /* [n]: position of each grain in `at` */
  uint32_t *offset;        /* [n + 1]: number of cells that begin before a grain of `at` */
  collision_cell *cell;    /* [room] */
};

#ifdef __cplusplus
extern "C" {
#endif

/* Lists the images that are partly within rings + 1/2 sides of a grain in the box: out [COLLISION_IMAGES_MAX]; returns
 * their number. */
int collision_walk_images(const collision_images *images, collision_image *out);
collision_walk_numbers collision_walk_numbers_of(const collision_images *images, double softening, double opening);

#ifdef __cplusplus
}
#endif

#endif
