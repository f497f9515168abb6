/* How the ranks of a run divide the fast multipole method: ranges of bodies in the order of keys, the cells in such a
 * range, and the exchange of moments and results. The tree is the same on all ranks, and no sum depends on the cuts. */
#ifndef NBODY_FMM_SHARES_H
#define NBODY_FMM_SHARES_H

#include "kernels/nbody/fmm/cpu/tree.h"

/* Number of bins in which work is counted: bin b has bodies n b / bins ... n (b + 1) / bins - 1, in the order of keys.
 */
enum { NBODY_FMM_BINS = 1024 };

/* Cells first ... end - 1. */
typedef struct nbody_fmm_range {
  int64_t first, end;
} nbody_fmm_range;

/* Returns cuts with as many bodies for each rank. */
nbody_fmm_cuts nbody_fmm_cut_equally(const sim_comm *comm, int64_t n);
/* Returns cuts with as much work for each rank. work[NBODY_FMM_BINS]: work of the bodies of each bin. */
nbody_fmm_cuts nbody_fmm_cut_by_work(const sim_comm *comm, int64_t n, const uint64_t *work);
/* Adds `amount`, work for bodies first ... end - 1, to work[NBODY_FMM_BINS], spread evenly over these bodies. */
void nbody_fmm_count_work(uint64_t *work, int64_t n, int64_t first, int64_t end, uint64_t amount);
/* Replaces work[NBODY_FMM_BINS] by its sum over all ranks. all[ranks][NBODY_FMM_BINS] is scratch. A failure of the
 * ranks. */
sim_status nbody_fmm_add_work(const sim_comm *comm, uint64_t *work, uint64_t *all) SIM_MUST_CHECK;

/* Returns the cells of a level that have some of the bodies first ... end - 1. */
nbody_fmm_range nbody_fmm_cells_with(const nbody_fmm_tree *tree, int level, int64_t first, int64_t end);
/* Returns the cells of a level that have no other bodies than first ... end - 1. */
nbody_fmm_range nbody_fmm_cells_within(const nbody_fmm_tree *tree, int level, int64_t first, int64_t end);
/* Returns the cell of a level that a cut goes through, or -1. cut: the first body behind the cut. */
int64_t nbody_fmm_cell_across(const nbody_fmm_tree *tree, int level, int64_t cut);

/* Gathers data, entries of `size` bytes, of which every rank has its range. A failure of the ranks. */
sim_status nbody_fmm_gather(const sim_comm *comm, const nbody_fmm_cuts *cuts, size_t size, void *data) SIM_MUST_CHECK;

/* Sends entries of `size` bytes from rank to rank; tree->sent[sender][receiver] has their numbers. from: the entries of
 * this rank, in the order of their receivers. to: gets the entries for this rank, in the order of their senders. A
 * failure of the ranks. */
sim_status nbody_fmm_deal(const nbody_fmm_tree *tree, size_t size, const void *from, void *to) SIM_MUST_CHECK;

/* Gathers bounds and moments of the cells within the ranges of all ranks, of which every rank has made those within its
 * own range. The memory of the fields is the buffer. A failure of the ranks. */
sim_status nbody_fmm_gather_moments(nbody_fmm_tree *tree, const nbody_fmm_cuts *cuts) SIM_MUST_CHECK;
/* Gathers values[components][n], in the state's order, of which every rank has computed those of the bodies in its
 * range (with targets: of the targets among them). Overwrites the scratch of the sort, and without targets the bodies
 * of the tree. A failure of the ranks. */
sim_status nbody_fmm_gather_values(nbody_fmm_tree *tree, const nbody_fmm_cuts *cuts, const nbody_targets *targets,
                                   int components, double *values) SIM_MUST_CHECK;

#endif
