/* The order of axes. */
#include "kernels/diffusion/cuda/work.h"

static bool is_apart(const diffusion_grid *grid, int axis) { return axis > 0 && axis == grid->apart; }

static int live_kind(const diffusion_grid *grid, int axis) {
  return grid->n[axis] > 1 && !is_apart(grid, axis) ? (int)grid->kind[axis] : (int)FFT_PERIODIC;
}

/* The first periodic axis of more than one cell, else the first of more than one. */
static int fast_axis(const diffusion_grid *grid) {
  for (int axis = 0; axis < 3; axis++)
    if (grid->n[axis] > 1 && grid->kind[axis] == FFT_PERIODIC) return axis;
  for (int axis = 0; axis < 3; axis++)
    if (grid->n[axis] > 1 && !is_apart(grid, axis)) return axis;
  return 0;
}

diffusion_place diffusion_cuda_place(const diffusion_grid *grid) {
  diffusion_place place = {.axis = {fast_axis(grid)}};
  for (int axis = 0, i = 1; axis < 3; axis++)
    if (axis != place.axis[0]) place.axis[i++] = axis;
  for (int i = 0; i < 3; i++) {
    place.n[i] = grid->n[place.axis[i]];
    place.kind[i] = live_kind(grid, place.axis[i]);
    place.size[i] = place.axis[i] < grid->rank ? grid->size[place.axis[i]] : 0;
    if (is_apart(grid, place.axis[i])) place.apart = i;
  }
  place.row = 2 * (place.n[0] / 2 + 1);
  place.field = place.row * place.n[1] * place.n[2];
  return place;
}

diffusion_place diffusion_cuda_natural(const diffusion_grid *grid) {
  diffusion_place place = {.row = grid->n[0], .field = grid->n[0] * grid->n[1] * grid->n[2]};
  for (int i = 0; i < 3; i++) {
    place.n[i] = grid->n[i];
    place.axis[i] = i;
    place.size[i] = i < grid->rank ? grid->size[i] : 0;
  }
  return place;
}

diffusion_spectrum diffusion_cuda_spectrum(const diffusion_place *place, bool complex) {
  diffusion_spectrum s = {.n = {place->row / 2, place->n[1], place->n[2]}, .field = place->field / 2};
  s.factor = place->kind[0] != FFT_PERIODIC ? DIFFUSION_EACH : complex ? DIFFUSION_COMPLEX : DIFFUSION_ALIKE;
  s.table[0] = s.n[0];
  for (int i = 1; i < 3; i++)
    s.table[i] = place->kind[i] == FFT_PERIODIC && !complex && i != place->apart ? place->n[i] / 2 + 1 : place->n[i];
  s.tables = s.table[0] * s.table[1] * s.table[2] * (s.factor == DIFFUSION_ALIKE ? 1 : 2);
  return s;
}

double diffusion_cuda_scale(const diffusion_grid *grid) {
  double scale = 1;
  for (int axis = 0; axis < 3; axis++)
    if (!is_apart(grid, axis)) scale /= (double)grid->n[axis];
  return scale;
}
