/* Statistics of a real field, which ranks may divide. Sums run over blocks of the whole field. A rank sums the blocks
 * that begin in its slab; its last block may need cells of the next slabs. */
#include "kernels/diffusion/diffusion.h"

#include "engine/reduce.h"

#include <math.h>
#include <string.h>

/* A range of cells, or of blocks, of the whole field. */
typedef struct range {
  int64_t first, end;
} range;

static range cells_of(const diffusion_measured *m, int rank) {
  const diffusion_slab slab = diffusion_slab_of(&m->grid, m->single, m->comm, rank);
  const int64_t plane = diffusion_plane_cells(&m->grid);
  return (range){slab.first * plane, slab.end * plane};
}
static range blocks_of(const diffusion_measured *m, int rank) {
  const range cells = cells_of(m, rank);
  return (range){(int64_t)sim_reduce_blocks((size_t)cells.first), (int64_t)sim_reduce_blocks((size_t)cells.end)};
}
/* Returns the last of a rank's blocks if it ends in another slab; else an empty range. */
static range crossing_of(const diffusion_measured *m, int rank) {
  const range blocks = blocks_of(m, rank), cells = cells_of(m, rank);
  const int64_t all = grid_cells(&m->grid), first = (blocks.end - 1) * SIM_REDUCE_BLOCK;
  const int64_t end = first + SIM_REDUCE_BLOCK < all ? first + SIM_REDUCE_BLOCK : all;
  return blocks.first < blocks.end && end > cells.end ? (range){first, end} : (range){0, 0};
}
static range common(range a, range b) {
  const range both = {a.first > b.first ? a.first : b.first, a.end < b.end ? a.end : b.end};
  return both.first < both.end ? both : (range){0, 0};
}

static size_t number_size(bool single) { return single ? sizeof(float) : sizeof(double); }

double diffusion_measure_bytes(const grid_shape *grid) {
  const double blocks = ceil(grid_cells_wanted(grid) / SIM_REDUCE_BLOCK);
  return sizeof(double) * (blocks + SIM_REDUCE_BLOCK);
}

/* Receives the cells that complete this rank's last block, and sends cells to other ranks. `values`: of the slab. */
static sim_status complete_block(const diffusion_measured *m, const char *values) {
  const size_t size = number_size(m->single);
  const range own = cells_of(m, m->comm->rank), block = crossing_of(m, m->comm->rank), stay = common(own, block);
  sim_piece pieces[SIM_RANKS_MAX];
  size_t count = 0;
  if (stay.first < stay.end)
    memcpy(m->block, values + (size_t)(stay.first - own.first) * size, (size_t)(stay.end - stay.first) * size);
  for (int r = 0; r < m->comm->size; r++) {
    const range out = common(own, crossing_of(m, r)), in = common(cells_of(m, r), block);
    if (r == m->comm->rank || (out.first == out.end && in.first == in.end)) continue;
    pieces[count++] =
        (sim_piece){.rank = r,
                    .in = out.first < out.end ? values + (size_t)(out.first - own.first) * size : values,
                    .in_bytes = (size_t)(out.end - out.first) * size,
                    .out = (char *)m->block + (in.first < in.end ? (size_t)(in.first - block.first) : 0) * size,
                    .out_bytes = (size_t)(in.end - in.first) * size};
  }
  return m->comm->ops->swap(m->comm, pieces, count);
}

/* Returns the sum of the values of a block, or of the squares of their differences from `about`. */
static double block_sum(const void *values, bool single, int64_t count, bool squares, double about) {
  double lanes[SIM_REDUCE_LANES] = {0};
  for (int64_t i = 0; i < count; i++) {
    const double value = grid_number(values, single, i) - about;
    lanes[i % SIM_REDUCE_LANES] += squares ? value * value : value;
  }
  return sim_reduce_tree(lanes, SIM_REDUCE_LANES);
}

/* *out: sum over the whole field. `values`: of the slab. */
static sim_status total(const diffusion_measured *m, const char *values, bool squares, double about, double *out) {
  const range own = blocks_of(m, m->comm->rank), cells = cells_of(m, m->comm->rank);
  const range crossing = crossing_of(m, m->comm->rank);
  size_t ends[SIM_RANKS_MAX];
#pragma omp parallel for schedule(static) num_threads(m->threads) if (own.end - own.first > 8 && m->threads > 1)
  for (int64_t b = own.first; b < own.end; b++) {
    const int64_t first = b * SIM_REDUCE_BLOCK, left = cells.end - first;
    const bool crosses = crossing.first < crossing.end && first == crossing.first;
    const int64_t count = crosses ? crossing.end - first : left < SIM_REDUCE_BLOCK ? left : SIM_REDUCE_BLOCK;
    const char *from = crosses ? m->block : values + (size_t)(first - cells.first) * number_size(m->single);
    m->partial[b] = block_sum(from, m->single, count, squares, about);
  }
  for (int r = 0; r < m->comm->size; r++) ends[r] = (size_t)blocks_of(m, r).end * sizeof(double);
  SIM_TRY(sim_comm_gather_parts(m->comm, m->partial, ends));
  *out = sim_reduce_tree(m->partial, (size_t)blocks_of(m, m->comm->size - 1).end);
  return SIM_OK;
}

static void extend(diffusion_statistics *s, double least, double greatest) {
  if (!(least >= s->least)) s->least = least; /* true for NaN too */
  if (!(greatest <= s->greatest)) s->greatest = greatest;
}

sim_status diffusion_measure(const diffusion_measured *m, const void *values, diffusion_statistics *out) {
  const range own = cells_of(m, m->comm->rank);
  const double cells = (double)grid_cells(&m->grid);
  diffusion_statistics s = {.least = INFINITY, .greatest = -INFINITY};
  double sum, extremes[SIM_RANKS_MAX][2];
  if (m->comm->size > 1) SIM_TRY(complete_block(m, values));
  SIM_TRY(total(m, values, false, 0, &sum));
  s.mean = sum / cells;
  s.mass = sum * grid_cell_volume(&m->grid);
  SIM_TRY(total(m, values, true, s.mean, &sum));
  s.variance = sum / cells;
  for (int64_t i = 0; i < own.end - own.first; i++) {
    const double value = grid_number(values, m->single, i);
    extend(&s, value, value);
  }
  SIM_TRY(m->comm->ops->gather(m->comm, (const double[]){s.least, s.greatest}, 2 * sizeof(double), extremes));
  s.least = INFINITY;
  s.greatest = -INFINITY;
  for (int r = 0; r < m->comm->size; r++) extend(&s, extremes[r][0], extremes[r][1]);
  *out = s;
  return SIM_OK;
}
