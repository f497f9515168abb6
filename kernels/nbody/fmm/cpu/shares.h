/* What the ranks of a run share of the fast multipole method: ranges of bodies in the order of keys, which cells are in
 * them, moments and results. The tree is the same on all ranks, and no sum depends on where it is cut. */
#ifndef NBODY_FMM_SHARES_H
#define NBODY_FMM_SHARES_H

#include "kernels/nbody/fmm/cpu/tree.h"

/* Bins of bodies in the order of keys, in which work is counted. */
enum { NBODY_FMM_BINS = 1024 };

/* Cells first ... end - 1. */
typedef struct nbody_fmm_range {
  int64_t first, end;
} nbody_fmm_range;

/* As many bodies for each rank. */
nbody_fmm_cuts nbody_fmm_cut_equally(const sim_comm *comm, int64_t n);
/* As much work for each rank: bin b, of work[NBODY_FMM_BINS], has bodies n b / bins ... n (b + 1) / bins. */
nbody_fmm_cuts nbody_fmm_cut_by_work(const sim_comm *comm, int64_t n, const uint64_t *work);
/* Counts work that was done for bodies first ... end - 1. */
void nbody_fmm_count_work(uint64_t *work, int64_t n, int64_t first, int64_t end, uint64_t amount);
/* Adds up the work[NBODY_FMM_BINS] of all ranks. `all` has room for that of each. A failure of the ranks. */
sim_status nbody_fmm_add_work(const sim_comm *comm, uint64_t *work, uint64_t *all) SIM_MUST_CHECK;

/* Cells of a level that have some of the bodies first ... end - 1. */
nbody_fmm_range nbody_fmm_cells_with(const nbody_fmm_tree *tree, int level, int64_t first, int64_t end);
/* Cells of a level all of whose bodies are among these. */
nbody_fmm_range nbody_fmm_cells_within(const nbody_fmm_tree *tree, int level, int64_t first, int64_t end);
/* The cell of a level that a cut goes through, or -1. */
int64_t nbody_fmm_cell_across(const nbody_fmm_tree *tree, int level, int64_t cut);

/* Every rank has its range of data, of entries of `size` bytes; then all have all. */
sim_status nbody_fmm_gather(const sim_comm *comm, const nbody_fmm_cuts *cuts, size_t size, void *data) SIM_MUST_CHECK;

/* Sends entries `from`, of `size` bytes and in the order of their ranks, as many as tree->sent says, to these ranks;
 * `to` gets those for this rank, in the order of the ranks that have had them. A failure of the ranks. */
sim_status nbody_fmm_deal(const nbody_fmm_tree *tree, size_t size, const void *from, void *to) SIM_MUST_CHECK;

/* Every rank has bounds and moments of the cells within its range; then all have those of all such cells. Takes the
 * memory of fields. A failure of the ranks. */
sim_status nbody_fmm_gather_moments(nbody_fmm_tree *tree, const nbody_fmm_cuts *cuts) SIM_MUST_CHECK;
/* Every rank has computed values[components][n], in the state's order, of the bodies in its range; then all have all.
 * With targets: of these bodies. Takes the scratch of the sort, and without targets the memory of the bodies. A failure
 * of the ranks. */
sim_status nbody_fmm_gather_values(nbody_fmm_tree *tree, const nbody_fmm_cuts *cuts, const nbody_targets *targets,
                                   int components, double *values) SIM_MUST_CHECK;

#endif
