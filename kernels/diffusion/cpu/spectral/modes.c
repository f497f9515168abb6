/* Copies coefficients between grids of different numbers of cells. */
#include "kernels/diffusion/cpu/spectral/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Where an axis of one grid has the modes of the other one. */
typedef struct along {
  int64_t *to; /* position of the same mode for each position; -1: it is not copied */
  double *turn;
} along;

/* Whether both grids have the mode, other than as its own mirror image. */
static bool is_common(grid_boundary b, int64_t mode, int64_t least) {
  const int64_t m = mode < 0 ? -mode : mode;
  return b == GRID_PERIODIC ? 2 * m < least : m < least;
}

/* Positions along x are entries of rows; along y and z they are points. */
static int64_t mode_at(const diffusion_spectral *s, int field, int axis, int64_t p) {
  return axis == X ? mode_along_x(s, field, p) : mode_of(s, field, axis, p, true);
}

/* Finds the positions of an axis. Coefficients of periodic axes are relative to the centre of the first cell: `turn` is
 * the angle by which that turns a mode. */
static bool match(const diffusion_spectral *from, const diffusion_spectral *to, int field, int axis, along *out) {
  const int64_t n = from->grid.n[axis], other = to->grid.n[axis], least = n < other ? n : other;
  const grid_boundary b = from->shape[field].boundary[axis];
  const bool members = grid_is_member_axis(&from->grid, axis) || axis >= from->grid.rank;
  int64_t *at = malloc((size_t)(2 * least + 1) * sizeof *at); /* [mode + least] */
  out->to = malloc((size_t)n * sizeof *out->to);
  out->turn = calloc((size_t)n, sizeof *out->turn);
  for (int64_t i = 0; at && i < 2 * least + 1; i++) at[i] = -1;
  for (int64_t p = 0; at && p < other && !members; p++) {
    const int64_t mode = mode_at(to, field, axis, p);
    if (is_common(b, mode, least)) at[mode + least] = p;
  }
  for (int64_t p = 0; at && out->to && out->turn && p < n; p++) {
    const int64_t mode = members ? p : mode_at(from, field, axis, p);
    out->to[p] = members ? p : is_common(b, mode, least) ? at[mode + least] : -1;
    if (!members && b == GRID_PERIODIC)
      out->turn[p] =
          wavenumber(&from->grid, axis, mode) * from->grid.size[axis] / 2 * (1 / (double)other - 1 / (double)n);
  }
  const bool good = at && out->to && out->turn;
  free(at);
  return good;
}

static int64_t number_of(const diffusion_spectral *s, int64_t middle, int64_t back, int64_t entry) {
  const int64_t row = back * s->slab.stride + middle * s->row_stride, lanes = 2 * s->group;
  if (s->packing == FFT_TWO_REAL) return row * lanes + entry;
  return row * lanes + entry / s->group * lanes + entry % s->group;
}

/* Copies the modes of a row. */
static void copy_row(const diffusion_spectral *from, const void *a, const diffusion_spectral *to, void *b,
                     const along *x, double turn, const int64_t at[2], const int64_t other[2]) {
  const int64_t n = from->grid.n[X], stored = from->packing == FFT_HALF ? (n + 1) / 2 : n;
  for (int64_t e = 0; e < stored; e++) {
    if (x->to[e] < 0) continue;
    const int64_t i = number_of(from, at[0], at[1], e), j = number_of(to, other[0], other[1], x->to[e]);
    const double re = grid_number(a, from->single, i);
    if (from->packing == FFT_TWO_REAL) {
      grid_set_number(b, to->single, j, re);
      continue;
    }
    const double im = grid_number(a, from->single, i + from->group), angle = turn + x->turn[e];
    grid_set_number(b, to->single, j, re * cos(angle) - im * sin(angle));
    grid_set_number(b, to->single, j + to->group, re * sin(angle) + im * cos(angle));
  }
}

sim_status diffusion_copy_modes(const diffusion_spectral *from, const void *a, const diffusion_spectral *to, void *b,
                                int field) {
  along axis[3] = {{0}};
  bool good = true;
  const int back_axis = from->grid.rank == 3 ? Z : Y;
  memset(b, 0, (size_t)diffusion_field_numbers(&to->grid, to->single) * (to->single ? sizeof(float) : sizeof(double)));
  for (int i = 0; i < 3; i++) good = match(from, to, field, i, &axis[i]) && good;
  for (int64_t back = 0; good && back < from->back; back++)
    for (int64_t middle = 0; middle < from->middle; middle++) {
      const int64_t along_y = from->grid.rank == 3 ? axis[Y].to[middle] : 0, along_back = axis[back_axis].to[back];
      if (along_y < 0 || along_back < 0) continue;
      const double turn = axis[back_axis].turn[back] + (from->grid.rank == 3 ? axis[Y].turn[middle] : 0);
      copy_row(from, a, to, b, &axis[X], turn, (int64_t[]){middle, back}, (int64_t[]){along_y, along_back});
    }
  for (int i = 0; i < 3; i++) {
    free(axis[i].to);
    free(axis[i].turn);
  }
  return good ? SIM_OK : sim_no_memory("fields on the grid of the rates");
}
