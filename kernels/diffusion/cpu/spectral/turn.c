/* The turn between slabs and columns: every rank sends a part of each of its planes to every other rank. Ranks send a
 * few planes at a time, which stay in the caches meanwhile. */
#include "kernels/diffusion/cpu/spectral/parts.h"

#include <math.h>
#include <string.h>

enum { POINT = 128, TURNED = 1 << 20 }; /* TURNED: bytes of the planes that a rank sends at a time */

static diffusion_slab slab_of(const diffusion_spectral *s, int rank) {
  return diffusion_slab_of(&s->grid, s->single, s->comm, rank);
}

/* Returns the points of a plane that belong to a rank's columns. */
static int64_t width_of(const diffusion_spectral *s, const diffusion_slab *slab) {
  const int64_t middles = slab->middle_end - slab->middle_first, groups = slab->group_end - slab->group_first;
  return s->grid.rank == 3 ? middles * s->row_stride : groups;
}

/* Returns the number of planes, or rows, that every rank sends at a time. */
static int64_t planes_at_once(int64_t plane_stride) {
  const int64_t planes = TURNED / (plane_stride * POINT);
  return planes > 0 ? planes : 1;
}

double diffusion_turn_numbers(const grid_shape *grid, bool single, const sim_comm *comm) {
  const diffusion_slab own = diffusion_own_slab(grid, single, comm);
  const double planes =
      fmin((double)planes_at_once(diffusion_plane_stride(grid, single)), (double)(own.end - own.first));
  double points = 0;
  if (!own.turned) return 0;
  for (int r = 0; r < comm->size; r++)
    if (r != comm->rank) points += (double)diffusion_slab_of(grid, single, comm, r).stride;
  return planes * points * 2 * fft_group(single);
}

double diffusion_turn_received(const grid_shape *grid, bool single, const sim_comm *comm) {
  const diffusion_slab own = diffusion_own_slab(grid, single, comm);
  return own.turned ? (double)(own.backs - (own.end - own.first)) * (double)own.stride * 2 * fft_group(single) : 0;
}

double diffusion_turn_rounds(const grid_shape *grid, bool single, const sim_comm *comm) {
  const diffusion_slab most = diffusion_slab_of(grid, single, comm, 0);
  return ceil((double)(most.end - most.first) / (double)planes_at_once(diffusion_plane_stride(grid, single)));
}

/* Planes of a rank in one round of a turn, counted from the first one of its slab. */
typedef struct planes_of {
  int64_t first, count;
} planes_of;

static planes_of planes_in(const diffusion_slab *slab, int64_t round, int64_t at_once) {
  const int64_t all = slab->end - slab->first, first = round * at_once < all ? round * at_once : all;
  return (planes_of){first, all - first < at_once ? all - first : at_once};
}

/* Copies the points of a rank's columns between planes of this rank and rows[planes][slab->stride]. */
static void copy_planes(const diffusion_spectral *s, const diffusion_slab *slab, planes_of planes, char *field,
                        char *rows, bool out) {
  const size_t bytes = (size_t)(width_of(s, slab) * POINT);
  const int threads = team(s, planes.count);
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
  for (int64_t i = 0; i < planes.count; i++) {
    char *plane = field + ((planes.first + i) * s->plane_stride + slab->origin) * POINT;
    char *row = rows + i * slab->stride * POINT;
    if (bytes > 0) memcpy(out ? row : plane, out ? plane : row, bytes);
  }
}

/* Makes one round of a turn, from planes to columns (`out`) or back. Rows have the stride of the receiving rank's
 * columns, so that they can be received directly into the columns. */
static sim_status turn_planes(const diffusion_spectral *s, int64_t round, int64_t at_once, char *field, char *columns,
                              char *scratch, bool out) {
  const planes_of own = planes_in(&s->slab, round, at_once);
  sim_piece pieces[SIM_RANKS_MAX];
  size_t count = 0;
  char *rows = scratch;
  for (int r = 0; r < s->comm->size; r++) {
    const diffusion_slab slab = slab_of(s, r);
    const planes_of theirs = planes_in(&slab, round, at_once);
    char *here = columns + (slab.first + theirs.first) * s->slab.stride * POINT; /* their planes, own columns */
    const size_t here_bytes = (size_t)(theirs.count * s->slab.stride * POINT);
    const size_t rows_bytes = (size_t)(own.count * slab.stride * POINT);
    if (r == s->comm->rank) {
      copy_planes(s, &slab, own, field, here, out);
      continue;
    }
    if (out) copy_planes(s, &slab, own, field, rows, true);
    pieces[count++] =
        out ? (sim_piece){r, rows, here, rows_bytes, here_bytes} : (sim_piece){r, here, rows, here_bytes, rows_bytes};
    rows += rows_bytes;
  }
  SIM_TRY(s->comm->ops->swap(s->comm, pieces, count));
  rows = scratch;
  for (int r = 0; r < s->comm->size && !out; r++) {
    const diffusion_slab slab = slab_of(s, r);
    if (r == s->comm->rank) continue;
    copy_planes(s, &slab, own, field, rows, false);
    rows += own.count * slab.stride * POINT;
  }
  return SIM_OK;
}

static sim_status turn(const diffusion_spectral *s, char *field, char *columns, char *scratch, bool out) {
  if (!s->slab.turned) return SIM_OK;
  const int64_t at_once = planes_at_once(s->plane_stride);
  const int64_t rounds = (int64_t)diffusion_turn_rounds(&s->grid, s->single, s->comm);
  for (int64_t round = 0; round < rounds; round++)
    SIM_TRY(turn_planes(s, round, at_once, field, columns, scratch, out));
  return SIM_OK;
}

sim_status diffusion_to_columns(diffusion_spectral *s, const void *slab, void *columns, void *scratch) {
  return turn(s, (char *)(uintptr_t)slab, columns, scratch, true);
}

sim_status diffusion_to_slab(diffusion_spectral *s, const void *columns, void *slab, void *scratch) {
  return turn(s, slab, (char *)(uintptr_t)columns, scratch, false);
}

void diffusion_take_columns(const diffusion_spectral *s, const void *field, void *columns) {
  const size_t bytes = (size_t)(width_of(s, &s->slab) * POINT);
  for (int64_t i = 0; i < s->back && bytes > 0; i++)
    memcpy(point(columns, i * s->slab.stride), point(field, i * s->plane_stride + s->slab.origin), bytes);
}
