#include "kernels/diffusion/cpu/spectral/slabs.h"

#include <stdlib.h>
#include <string.h>

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

sim_status diffusion_join_lines(const sim_comm *comm, size_t bytes, void *lines) {
  if (comm->size == 1) return SIM_OK;
  char *all = malloc((size_t)comm->size * bytes);
  if (all == NULL) return sim_no_memory("lines of cells");
  const sim_status status = comm->ops->gather(comm, lines, bytes, all);
  memset(lines, 0, bytes);
  for (int r = 0; r < comm->size && status == SIM_OK; r++)
    for (size_t i = 0; i < bytes; i++) ((char *)lines)[i] |= all[(size_t)r * bytes + i];
  free(all);
  return status;
}

sim_status diffusion_first_broken(const sim_comm *comm, int fields, uint64_t from, int *field) {
  if (comm->size > 1) SIM_TRY(sim_comm_agree(comm, from, &from));
  *field = from > 0 ? fields - (int)from : -1;
  return SIM_OK;
}
