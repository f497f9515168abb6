/* The tree of the fast multipole method on the CPU: frame, keys, order of the bodies, cells. See fmm.h. */
#ifndef NBODY_FMM_TREE_H
#define NBODY_FMM_TREE_H

#include "kernels/nbody/fmm/fmm.h"
#include "kernels/nbody/solver.h"

/* One range for each rank of bodies in the order of keys, the same on all ranks: rank r has at[r] <= i < at[r + 1]. */
typedef struct nbody_fmm_cuts {
  int64_t at[SIM_RANKS_MAX + 1];
} nbody_fmm_cuts;

/* Cells are numbered level by level. `real` is float or double, as `single` says. */
typedef struct nbody_fmm_tree {
  nbody_fmm_settings settings;
  int64_t n;
  bool single;
  int moments_of; /* the cells have the moments of this order */
  int threads;
  const sim_comm *comm;
  bool divided;          /* ranks divide bodies and moments; false: each rank makes all, as with few bodies */
  nbody_fmm_cuts packed; /* where divided: the bodies that each rank has packed */
  uint64_t *sent;        /* where divided, [sender][receiver]: entries of the last nbody_fmm_deal */
  /* Frame: X = (x - origin) scale, in open space scale = 2^-position; masses are divided by 2^mass; softening in units
   * of the frame. */
  double box; /* edge of the periodic box; 0: open space */
  double origin[3], low[3], scale, softening;
  int position, mass;
  /* Bodies in the order of keys. */
  uint64_t *key, *other_key;     /* [n]; the second of each is scratch of the sort */
  uint32_t *order, *other_order; /* [n]: number of the body in the state */
  void *bodies;                  /* real [n][4]: x y z m, 64-byte aligned */
  /* Cells. */
  int64_t cells, capacity, greatest_leaf;
  int levels;
  int64_t level_first[NBODY_FMM_LEVEL_MAX + 2]; /* first cell of each level; [levels]: the number of cells */
  uint32_t *first, *count;                      /* [capacity]: first body of a cell, number of its bodies */
  uint32_t *child, *parent;                     /* [capacity]: first child; parent, 0 for the root */
  uint8_t *children, *level;                    /* [capacity]: number of children, 0 for a leaf; level */
  void *bounds;                                 /* real [capacity][4]: centre, radius */
  void *moments;                                /* real [cells][row]: centre, edge, moments; row is a multiple of 4 */
  void *field;                                  /* real [capacity][NBODY_FMM_FIELD(P)] */
  size_t row;
  void *memory, *cell_memory; /* owners of the arrays of bodies, and of cells */
} nbody_fmm_tree;

/* Returns the order whose moments the cells of a tree have. Forces of order 6 in fp32 leave out moments of rank 5: an
 * M2L is then a sixth cheaper, and the error of a force grows by a tenth, because expansions about the target's centre
 * have the greater errors. In the energy these errors average out, and without rank 5 its error would be three times as
 * great. */
static inline int nbody_fmm_order_of_moments(int order, bool single, bool potential) {
  return single && !potential && order == NBODY_FMM_ORDER_MAX ? order - 1 : order;
}

/* Returns the greatest number of cells that is usual for n bodies. */
double nbody_fmm_tree_usual_cells(double n, int leaf);
/* Returns the bytes of a tree of n bodies with that number of cells. */
double nbody_fmm_tree_bytes(double n, const nbody_fmm_settings *settings);
/* Cells of a Plummer sphere, or of bodies at random places in a periodic box. */
double nbody_fmm_tree_expected_cells(const nbody_options *options);
/* Bytes of nbody_fmm_tree_bytes that so many cells leave unused. */
double nbody_fmm_tree_room(const nbody_options *options);
/* Returns the bytes of bodies, keys and moments that a rank receives in a force, and fills in the number of exchanges;
 * 0 where each rank makes them itself. */
double nbody_fmm_tree_received(const nbody_options *options, double *exchanges);
/* Allocates a tree. It reads n, fmm, box, threads and comm of the options. The caller destroys the tree in any case.
 * SIM_ERR_NO_MEMORY. */
sim_status nbody_fmm_tree_create(const nbody_options *options, nbody_fmm_tree *out) SIM_MUST_CHECK;
void nbody_fmm_tree_destroy(nbody_fmm_tree *tree);
/* Makes the bodies and cells of the state for forces or potentials; bounds, moments and fields are not computed. All
 * ranks take part and have the same tree. SIM_ERR_NO_MEMORY; SIM_ERR_DIVERGED where a position or mass is not finite; a
 * failure of the ranks. */
sim_status nbody_fmm_tree_build(nbody_fmm_tree *tree, const nbody_state *state, double softening, bool single,
                                bool potential) SIM_MUST_CHECK;
/* Updates the bodies of the last tree to the positions of the state, and keeps its frame and cells: a body may have
 * left the cube of its cell. Positions may be infinite or not numbers. All ranks take part. A failure of the ranks. */
sim_status nbody_fmm_tree_refit(nbody_fmm_tree *tree, const nbody_state *state) SIM_MUST_CHECK;
/* Stores all bodies in tree->bodies in fp64, in the state's order and in the frame of the last tree, and four bodies
 * without mass behind them. The tree is no longer usable. */
void nbody_fmm_tree_pack(nbody_fmm_tree *tree, const nbody_state *state);

#endif
