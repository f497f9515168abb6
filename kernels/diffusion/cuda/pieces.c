/* Pieces of fields whose sums ranks exchange. */
#include "kernels/diffusion/cuda/work.h"

enum { SUMS = 3 }; /* of a piece of cells: sum, least and greatest */

long long diffusion_cuda_pieces_of(double numbers) {
  return (long long)((numbers + DIFFUSION_PIECE - 1) / DIFFUSION_PIECE);
}

long long diffusion_cuda_measured_parts(const diffusion_parameters *p) {
  const grid_shape grid = diffusion_grid_of(p);
  return p->integrate.method == DIFFUSION_SLABS ? grid.n[2] : grid_members(&grid);
}

/* Several ranks have such parts, or planes of whole pieces: every other grid that ranks divide has planes of 65536
 * cells or a multiple of that. */
sim_columns diffusion_cuda_measured(const diffusion_parameters *p, const sim_comm *comm) {
  const grid_shape grid = diffusion_grid_of(p);
  const diffusion_slab most = diffusion_slab_of(&grid, diffusion_single(p), comm, 0);
  const long long parts = diffusion_cuda_measured_parts(p), plane = grid.n[0] * grid.n[1] / DIFFUSION_PIECE;
  const long long each = diffusion_cuda_pieces_of(grid_cells_wanted(&grid) / (double)parts);
  return (sim_columns){SUMS, (size_t)(parts * each), (size_t)(most.end * (parts > 1 ? each : plane))};
}

sim_columns diffusion_cuda_shared(const diffusion_share *share, int rows) {
  const long long each = diffusion_cuda_pieces_of((double)share->numbers);
  return (sim_columns){rows, (size_t)(share->all * each), (size_t)(share->most * each)};
}

sim_columns diffusion_cuda_pieces(const diffusion_parameters *p, const diffusion_share *share, const sim_comm *comm) {
  const sim_columns measured = diffusion_cuda_measured(p, comm);
  const sim_columns norms = diffusion_cuda_shared(share, 3 * (int)p->fields.count);
  const bool more = (size_t)norms.rows * norms.share > (size_t)measured.rows * measured.share;
  return share->all > 1 && more ? norms : measured;
}

/* At least 7 numbers, of which the search for values that are not finite uses 4. */
double diffusion_cuda_measure_bytes(const diffusion_parameters *p) {
  return sizeof(double) * (SUMS + 1 + (int)SUMS * (double)diffusion_cuda_measured(p, &sim_comm_alone).n);
}

double diffusion_cuda_norms_bytes(const diffusion_share *share, double fields) {
  return sizeof(double) * 3 * fields * (1 + (double)diffusion_cuda_shared(share, 1).n);
}

double diffusion_cuda_force_bytes(const diffusion_share *share, double fields) {
  return sizeof(double) * (1 + fields * (double)diffusion_cuda_shared(share, 1).n);
}
