#include "kernels/diffusion/cpu/slabs.h"

/* Rows of cells of a rank's slab. */
static grid_range rows_of(const grid_shape *grid, bool single, const sim_comm *comm, int rank) {
  const diffusion_slab slab = diffusion_slab_of(grid, single, comm, rank);
  const int64_t rows = diffusion_plane_cells(grid) / grid->n[0];
  return (grid_range){slab.first * rows, slab.end * rows};
}

grid_range diffusion_own_rows(const grid_shape *grid, bool single, const sim_comm *comm) {
  return rows_of(grid, single, comm, comm->rank);
}

sim_status diffusion_gather_rows(const grid_shape *grid, bool single, const sim_comm *comm, size_t bytes, void *rows) {
  size_t ends[SIM_RANKS_MAX];
  for (int r = 0; r < comm->size; r++) ends[r] = (size_t)rows_of(grid, single, comm, r).end * bytes;
  return sim_comm_gather_parts(comm, rows, ends);
}
