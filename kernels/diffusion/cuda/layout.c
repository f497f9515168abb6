/* The order of axes, and tables in it. */
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

/* ---- tables ---- */

/* Wavenumber of an entry along an axis; signed where that matters. */
static int64_t mode_of(const diffusion_grid *grid, int axis, int64_t entry) {
  const int64_t n = grid->n[axis];
  if (grid->kind[axis] == FFT_SINE) return n - entry;
  return grid->kind[axis] == FFT_PERIODIC && 2 * entry > n ? entry - n : entry;
}

static void fill_at(const diffusion_filling *filling, const int64_t mode[3], double (*values)[2]) {
  const double pi = 3.14159265358979323846;
  const diffusion_grid *grid = &filling->grid;
  double k[3] = {0};
  for (int axis = 0; axis < grid->rank; axis++)
    k[axis] = is_apart(grid, axis)
                  ? 0
                  : (grid->kind[axis] == FFT_PERIODIC ? 2 * pi : pi) * (double)mode[axis] / grid->size[axis];
  diffusion_method_fill((void *)(uintptr_t)filling, k, mode, values);
}

static void put(void *tables, bool single, int64_t i, double value) {
  if (single)
    ((float *)tables)[i] = (float)value;
  else
    ((double *)tables)[i] = value;
}

static void fill_row(const diffusion_work *w, const diffusion_filling *filling, int64_t row, void *tables) {
  const diffusion_spectrum *s = &w->spectrum;
  const int *axis = w->place.axis;
  double values[DIFFUSION_TABLES][2], other[DIFFUSION_TABLES][2];
  int64_t mode[3] = {0};
  mode[axis[1]] = mode_of(&w->grid, axis[1], row % s->table[1]);
  mode[axis[2]] = mode_of(&w->grid, axis[2], row / s->table[1]);
  for (int64_t k = 0; k < s->table[0]; k++) {
    const int64_t at = row * s->table[0] + k;
    mode[axis[0]] = mode_of(&w->grid, axis[0], k);
    fill_at(filling, mode, values);
    if (s->factor == DIFFUSION_EACH) {
      mode[axis[0]] = mode_of(&w->grid, axis[0], k > 0 ? w->place.n[0] - k : 0);
      fill_at(filling, mode, other);
    }
    for (int t = 0; t < w->method.tables; t++) {
      const int64_t base = t * s->tables;
      if (s->factor == DIFFUSION_ALIKE) {
        put(tables, w->single, base + at, values[t][0]);
      } else {
        put(tables, w->single, base + 2 * at, values[t][0]);
        put(tables, w->single, base + 2 * at + 1, s->factor == DIFFUSION_EACH ? other[t][0] : values[t][1]);
      }
    }
  }
}

double diffusion_cuda_scale(const diffusion_grid *grid) {
  double scale = 1;
  for (int axis = 0; axis < 3; axis++)
    if (!is_apart(grid, axis)) scale /= (double)grid->n[axis];
  return scale;
}

sim_status diffusion_cuda_fill(const diffusion_work *w, int field, double dt, void *tables) {
  diffusion_filling filling;
  SIM_TRY(diffusion_filling_begin(w->p, field, dt, diffusion_cuda_scale(&w->grid), &filling));
  const int64_t rows = w->spectrum.table[1] * w->spectrum.table[2];
#pragma omp parallel for schedule(static) num_threads(w->threads) if (w->threads > 1)
  for (int64_t row = 0; row < rows; row++) fill_row(w, &filling, row, tables);
  diffusion_filling_end(&filling);
  return SIM_OK;
}
