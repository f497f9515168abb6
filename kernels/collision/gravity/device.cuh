/* Device memory of the tree of grains. */
#ifndef COLLISION_GRAVITY_DEVICE_CUH
#define COLLISION_GRAVITY_DEVICE_CUH

#include "kernels/collision/gravity/device.h"
#include "kernels/collision/gravity/walk.h"
#include "kernels/collision/solver.h"
#include "kernels/common/launch.cuh"

enum { GRAVITY_THREADS = 256 };
/* Thread blocks of a direct sum for one grain: they fix the order of its terms. */
enum { GRAVITY_SUM_BLOCKS = 128, GRAVITY_NUMBERS = 5 };
static constexpr int gravity_partials = (int)COLLISION_DEVICE_SAMPLES * (int)GRAVITY_SUM_BLOCKS * (int)GRAVITY_NUMBERS;

/* Arrays on the device; kernels take this by value. */
typedef struct gravity_arrays {
  double *position, *mass;          /* [3][n], [n], by index */
  uint64_t *key;                    /* [n], ascending */
  uint32_t *index;                  /* [n], in the order of the tree */
  uint32_t *offset;                 /* [n + 1]: number of cells that begin before a grain */
  collision_point *at;              /* [n], in the order of the tree */
  collision_cell *cell;             /* [room] */
  uint8_t *level;                   /* [room] */
  collision_attraction *attraction; /* [n], by index */
  collision_image *image;           /* [COLLISION_IMAGES_MAX] */
  collision_cube *cube;
  double *gathered; /* [pieces][GRAVITY_NUMBERS][piece]: attractions in the order of the tree; NULL: one rank */
  double *extremes; /* [6]: least and greatest positions */
  double *partial;  /* [gravity_partials] = [samples][blocks][numbers] */
} gravity_arrays;

struct collision_device_tree {
  const sim_comm *comm;
  int64_t n, cells, room; /* room: of cells */
  void *memory, *cell_memory;
  gravity_arrays arrays;
  uint64_t *keys[2]; /* between which the sort's passes go */
  uint32_t *indices[2];
  void *scratch;
  size_t scratch_bytes;
};

/* Grains, in the order of the tree, whose attractions ranks exchange at a time. */
static inline int64_t gravity_piece(int64_t n) { return n < COLLISION_EXCHANGED ? n : (int64_t)COLLISION_EXCHANGED; }

static inline unsigned gravity_blocks(int64_t items) {
  return (unsigned)((items + GRAVITY_THREADS - 1) / GRAVITY_THREADS);
}

#endif
