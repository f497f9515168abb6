/* The turn between slabs and columns: every rank sends a part of each of its planes to every other rank. */
#include "kernels/diffusion/cpu/spectral_parts.h"

#include <string.h>

enum { POINT = 128 };

static diffusion_slab slab_of(const diffusion_spectral *s, int rank) {
  return diffusion_slab_of(&s->grid, s->single, s->comm, rank);
}

/* Points of a plane that are a rank's columns. */
static int64_t width_of(const diffusion_spectral *s, const diffusion_slab *slab) {
  const int64_t middles = slab->middle_end - slab->middle_first, groups = slab->group_end - slab->group_first;
  return s->grid.rank == 3 ? middles * s->row_stride : groups;
}

/* Rows of `stride` points for each plane of the slab, of all ranks together, of which this rank keeps its own. */
double diffusion_turn_numbers(const grid_shape *grid, bool single, const sim_comm *comm) {
  const diffusion_slab own = diffusion_own_slab(grid, single, comm);
  double points = 0;
  if (!own.turned) return 0;
  for (int r = 0; r < comm->size; r++)
    if (r != comm->rank)
      points += (double)(own.end - own.first) * (double)diffusion_slab_of(grid, single, comm, r).stride;
  return points * 2 * fft_group(single);
}

/* Copies the points of `slab`'s columns between planes of this rank and rows of slab->stride points. */
static void copy_planes(const diffusion_spectral *s, const diffusion_slab *slab, char *planes, char *rows, bool out) {
  const int64_t count = s->slab.end - s->slab.first, bytes = width_of(s, slab) * POINT;
  const int threads = team(s, count);
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
  for (int64_t i = 0; i < count; i++) {
    char *plane = planes + (i * s->plane_stride + slab->origin) * POINT, *row = rows + i * slab->stride * POINT;
    if (bytes > 0) memcpy(out ? row : plane, out ? plane : row, (size_t)bytes);
  }
}

/* Copies the rank's own part, and makes the pieces for the others: each sends rows of the receiver's stride, which lie
 * in the receiver's columns as they come. */
static size_t find_pieces(const diffusion_spectral *s, char *planes, char *columns, char *rows, bool out,
                          sim_piece *pieces) {
  const int64_t planes_here = s->slab.end - s->slab.first;
  size_t count = 0;
  for (int r = 0; r < s->comm->size; r++) {
    const diffusion_slab slab = slab_of(s, r);
    char *at = columns + slab.first * s->slab.stride * POINT; /* the planes of rank r in the columns here */
    if (r == s->comm->rank) {
      copy_planes(s, &slab, planes, at, out);
      continue;
    }
    const size_t rows_bytes = (size_t)(planes_here * slab.stride * POINT);
    const size_t here_bytes = (size_t)((slab.end - slab.first) * s->slab.stride * POINT);
    if (out) copy_planes(s, &slab, planes, rows, true);
    pieces[count++] = out ? (sim_piece){r, rows, at, rows_bytes, here_bytes} : (sim_piece){r, at, rows, here_bytes, rows_bytes};
    rows += rows_bytes;
  }
  return count;
}

sim_status diffusion_turn(diffusion_spectral *s, const void *slab, void *columns, void *sent) {
  sim_piece pieces[SIM_RANKS_MAX];
  if (!s->slab.turned) return SIM_OK;
  const size_t count = find_pieces(s, (char *)(uintptr_t)slab, columns, sent, true, pieces);
  return s->comm->ops->swap(s->comm, pieces, count);
}

sim_status diffusion_turn_back(diffusion_spectral *s, const void *columns, void *slab, void *received) {
  sim_piece pieces[SIM_RANKS_MAX];
  if (!s->slab.turned) return SIM_OK;
  const size_t count = find_pieces(s, slab, (char *)(uintptr_t)columns, received, false, pieces);
  SIM_TRY(s->comm->ops->swap(s->comm, pieces, count));
  char *rows = received;
  for (int r = 0; r < s->comm->size; r++) {
    const diffusion_slab of = slab_of(s, r);
    if (r == s->comm->rank) continue;
    copy_planes(s, &of, slab, rows, false);
    rows += (s->slab.end - s->slab.first) * of.stride * POINT;
  }
  return SIM_OK;
}

void diffusion_take_columns(const diffusion_spectral *s, const void *field, void *columns) {
  const size_t bytes = (size_t)(width_of(s, &s->slab) * POINT);
  for (int64_t i = 0; i < s->back && bytes > 0; i++)
    memcpy(point(columns, i * s->slab.stride), point(field, i * s->plane_stride + s->slab.origin), bytes);
}
