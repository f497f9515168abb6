/* Division of a grid among the ranks of a run: planes of the last axis, in the order of ranks (planes of z; with two
 * axes, rows). A rank addresses arrays of all rows, takes the memory of its own ones and of the two planes beside
 * them, and makes its own. Walls are whole on every rank.
 *
 * Ranks of one host have these arrays in memory that all of them see. On several hosts they swap the planes. */
#ifndef FLUID_RANKS_H
#define FLUID_RANKS_H

#include "kernels/common/grid/grid.h"

/* Memory that steps use again: of each use as much as the largest so far took. */
typedef enum fluid_scratch_use {
  FLUID_SCRATCH_SUMS,
  FLUID_SCRATCH_ITEMS,
  FLUID_SCRATCH_MASSES,
  FLUID_SCRATCH_SPONGE,
  FLUID_SCRATCH_PUSH,
  FLUID_SCRATCHES
} fluid_scratch_use;
typedef struct fluid_scratch {
  void *memory[FLUID_SCRATCHES];
  size_t bytes[FLUID_SCRATCHES];
} fluid_scratch;

typedef struct fluid_part {
  const sim_comm *comm;
  fluid_scratch *scratch; /* of the run */
  int64_t planes, rows;   /* planes of the grid; rows of cells in one */
  int64_t first, end;     /* planes of this rank */
} fluid_part;

fluid_part fluid_part_of(const grid_shape *grid, const sim_comm *comm);
/* Planes of the rank that has most, with the two beside them or without, over those of the grid. */
double fluid_part_share(const grid_shape *grid, const sim_comm *comm, bool beside);
/* The first plane of a rank; that of rank comm->size is `planes`. */
static inline int64_t fluid_part_first(const fluid_part *part, int rank) {
  return part->planes * rank / part->comm->size;
}
static inline grid_range fluid_part_rows(const fluid_part *part) {
  return (grid_range){part->first * part->rows, part->end * part->rows};
}
static inline bool fluid_part_has_row(const fluid_part *part, int64_t row) {
  return row >= part->first * part->rows && row < part->end * part->rows;
}
/* Items first <= i < end, of `count` items of `size` bytes whose rows, int64_t at `offset`, rise, on these rows. */
grid_range fluid_items_of_rows(const void *items, size_t size, size_t offset, int64_t count, grid_range rows);

/* Memory of `bytes` for one use, until the next call for that use; NULL: there is none. By one thread. */
void *fluid_scratch_of(const fluid_part *part, fluid_scratch_use use, size_t bytes);
void fluid_scratch_free(fluid_scratch *scratch);

/* Zeroed memory of `count` arrays of `each` bytes, whose planes of `plane` bytes begin at byte `before`. */
typedef struct fluid_room {
  char *memory;
  size_t each, bytes; /* each: rounded up to whole cache lines */
  bool shared;        /* all ranks see it */
} fluid_room;
/* For several ranks. Destroy with fluid_room_destroy, also after a failure. */
sim_status fluid_room_create(const fluid_part *part, size_t count, size_t each, size_t before, size_t plane,
                             fluid_room *out) SIM_MUST_CHECK;
void fluid_room_destroy(fluid_room *room);

/* Waits for all ranks. *most: the greatest of their words. */
sim_status fluid_wait(const fluid_part *part, uint64_t word, uint64_t *most) SIM_MUST_CHECK;
/* Gets the two planes of an array beside this rank's own from other ranks, around the box, where these do not see one
 * array; first_plane: where plane 0 of the array begins. Before others read what is shared, fluid_wait is needed too.
 */
sim_status fluid_swap_planes(const fluid_part *part, const fluid_room *room, void *first_plane,
                             size_t plane) SIM_MUST_CHECK;
/* Gathers items of `bytes` of all planes, of which each rank has its own; then all ranks have all. */
sim_status fluid_gather_planes(const fluid_part *part, size_t bytes, void *planes) SIM_MUST_CHECK;
/* Gathers items[count] of `bytes` each, of which each rank has those on its rows; rows[i]: of item i. */
sim_status fluid_gather_items(const fluid_part *part, const int64_t *rows, int64_t count, size_t bytes,
                              void *items) SIM_MUST_CHECK;

/* Sums of one plane into sums[columns], which are zero. */
typedef void fluid_plane_sums(const void *context, int64_t plane, double *sums);
/* Sums over all planes, in one fixed tree, out[columns]; ranks and threads divide the planes. */
sim_status fluid_sum_planes(const fluid_part *part, int threads, int columns, fluid_plane_sums *of_plane,
                            const void *context, double *out) SIM_MUST_CHECK;

#endif
