/* The tree of the fast multipole method on the CPU: frame, keys, order of the bodies, cells. See fmm.h. */
#ifndef NBODY_FMM_TREE_H
#define NBODY_FMM_TREE_H

#include "kernels/nbody/fmm/fmm.h"
#include "kernels/nbody/solver.h"

/* Bodies in the order of keys cut into one range a rank, the same on all ranks: rank r has at[r] <= i < at[r + 1]. */
typedef struct nbody_fmm_cuts {
  int64_t at[SIM_RANKS_MAX + 1];
} nbody_fmm_cuts;

/* Cells are numbered level by level. `real` is float or double, as `single` says. */
typedef struct nbody_fmm_tree {
  nbody_fmm_settings settings;
  int64_t n;
  bool single;
  int moments_of; /* order whose moments the cells have */
  int threads;
  const sim_comm *comm;
  bool divided;          /* bodies and moments are made by shares of the ranks; with few bodies each rank makes all */
  nbody_fmm_cuts packed; /* the bodies in the order of keys that each rank has packed */
  uint64_t *sent;        /* [ranks][ranks], where divided: entries that a rank has for a rank, of the last deal */
  /* frame: X = (x - origin) scale, in open space scale = 2^-position; masses are divided by 2^mass; softening in units
   * of the box */
  double box; /* edge of the periodic box; 0: open space */
  double origin[3], low[3], scale, softening;
  int position, mass;
  /* bodies in the order of keys */
  uint64_t *key, *other_key;     /* [n]; the second of each is scratch of the sort */
  uint32_t *order, *other_order; /* [n]: number in the state */
  void *bodies;                  /* real [n][4]: x y z m, 64-byte aligned */
  /* cells */
  int64_t cells, capacity, greatest_leaf;
  int levels;
  int64_t level_first[NBODY_FMM_LEVEL_MAX + 2]; /* of the first cell of a level; [levels]: cells */
  uint32_t *first, *count;                      /* [capacity]: bodies of a cell */
  uint32_t *child, *parent;                     /* [capacity]: first child; parent (of the root: 0) */
  uint8_t *children, *level;                    /* [capacity]: 0 children: a leaf */
  void *bounds;                                 /* real [capacity][4]: centre, radius */
  void *moments;                                /* real [cells][row]: centre, edge, moments; row is a multiple of 4 */
  void *field;                                  /* real [capacity][NBODY_FMM_FIELD(P)] */
  size_t row;
  void *memory, *cell_memory; /* owners of the arrays of bodies, and of cells */
} nbody_fmm_tree;

/* Order whose moments the cells of a tree have: forces of order 6 in fp32 leave out moments of rank 5. Errors of forces
 * at the target's centre are the greater ones, so that they grow by a tenth, and an M2L is a sixth cheaper; those of
 * the energy, where these average out, would be three times as great. */
static inline int nbody_fmm_order_of_moments(int order, bool single, bool potential) {
  return single && !potential && order == NBODY_FMM_ORDER_MAX ? order - 1 : order;
}

/* The greatest number of cells that is usual for n bodies. */
double nbody_fmm_tree_usual_cells(double n, int leaf);
/* Bytes of a tree of n bodies whose number of cells is as the greatest that is usual. */
double nbody_fmm_tree_bytes(double n, const nbody_fmm_settings *settings);
/* Bytes of bodies, their keys and moments that a rank receives in a force, in how many exchanges; 0 where each rank
 * makes them itself. */
double nbody_fmm_tree_received(const nbody_options *options, double *exchanges);
/* Of options: n, fmm, box, threads, comm. SIM_ERR_NO_MEMORY. The caller destroys the tree in any case. */
sim_status nbody_fmm_tree_create(const nbody_options *options, nbody_fmm_tree *out) SIM_MUST_CHECK;
void nbody_fmm_tree_destroy(nbody_fmm_tree *tree);
/* Bodies and cells of the state as it is, for forces or potentials; bounds, moments and fields are left. All ranks take
 * part, and have the same tree. SIM_ERR_NO_MEMORY, SIM_ERR_DIVERGED where a position or mass is not finite; a failure
 * of the ranks. */
sim_status nbody_fmm_tree_build(nbody_fmm_tree *tree, const nbody_state *state, double softening, bool single,
                                bool potential) SIM_MUST_CHECK;
/* Puts the bodies of the state as it is into the cells of the last tree, whose frame is kept: a body may have left the
 * box of its cell. Positions may be infinite or not numbers. All ranks take part. A failure of the ranks. */
sim_status nbody_fmm_tree_refit(nbody_fmm_tree *tree, const nbody_state *state) SIM_MUST_CHECK;
/* Puts all bodies into tree->bodies in fp64 and in the state's order, in the frame of the last tree, which ends that
 * tree; four more without mass behind them. */
void nbody_fmm_tree_pack(nbody_fmm_tree *tree, const nbody_state *state);

#endif
