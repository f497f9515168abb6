/* Memory sizes and the plan of the spectral passes. */
#include "kernels/diffusion/cpu/spectral_parts.h"

#include <math.h>
#include <stdlib.h>

static int64_t odd(int64_t n) { return n | 1; }

static fft_packing packing_of(const grid_shape *grid) {
  if (grid->boundary[X] == GRID_PERIODIC) return FFT_HALF;
  for (int axis = 1; axis < grid->rank; axis++)
    if (grid->boundary[axis] == GRID_PERIODIC) return FFT_REAL;
  return FFT_TWO_REAL;
}

/* Pairs wavenumber n/2 (spectral_pairs.c) where that saves a point of each row. */
static bool is_paired(const grid_shape *grid, bool single) {
  return grid->rank == 3 && packing_of(grid) == FFT_HALF && grid->boundary[Y] == GRID_PERIODIC &&
         grid->member_axis != Y && grid->n[X] % (2 * fft_group(single)) == 0;
}

static int64_t row_stride(const grid_shape *grid, bool single) {
  return odd(fft_row_points(grid->n[X], packing_of(grid), single));
}

double diffusion_field_numbers(const grid_shape *grid, bool single) {
  const double row = (double)row_stride(grid, single) * 2 * fft_group(single);
  return grid->rank == 3 ? ((double)grid->n[Y] * row + 2 * fft_group(single)) * (double)grid->n[Z]
                         : (double)grid->n[Y] * row;
}

static int64_t slot_count(const grid_shape *grid, int axis, bool complex) {
  return grid->boundary[axis] == GRID_PERIODIC && !complex ? grid->n[axis] / 2 + 1 : grid->n[axis];
}

double diffusion_table_numbers(const grid_shape *grid, bool single, bool complex) {
  const fft_packing packing = packing_of(grid);
  const double lanes = fft_group(single) * (complex || packing == FFT_TWO_REAL ? 2 : 1);
  double numbers = lanes * (double)fft_row_points(grid->n[X], packing, single);
  for (int axis = 1; axis < grid->rank; axis++) numbers *= (double)slot_count(grid, axis, complex);
  return numbers;
}

double diffusion_scale(const grid_shape *grid) {
  double scale = packing_of(grid) == FFT_HALF ? 0.5 : 1;
  for (int axis = 0; axis < grid->rank; axis++)
    if (!grid_is_member_axis(grid, axis)) scale /= (double)grid->n[axis];
  return scale;
}

static double round_up(double bytes) { return ceil(bytes / 64) * 64; }

static double work_size(const grid_shape *grid) {
  double most = 0;
  for (int axis = 0; axis < grid->rank; axis++) most = fmax(most, fft_work_size(grid->n[axis]));
  return most + 64;
}
static double column_size(const grid_shape *grid) {
  double most = 0;
  for (int axis = 0; axis < grid->rank; axis++) most = fmax(most, (double)grid->n[axis]);
  return most * 128 + 64;
}
static double plane_size(const grid_shape *grid, bool single) {
  return grid->rank == 3 ? (double)(row_stride(grid, single) * grid->n[Y]) * 128 : 0;
}
static double thread_size(const grid_shape *grid, int fields, int inputs, bool single) {
  return round_up((fields + inputs) * round_up(column_size(grid)) + round_up(work_size(grid)) +
                  fields * plane_size(grid, single));
}

static fft_kind transform_of(const grid_shape *grid, int axis) {
  static const fft_kind kinds[] = {
      [GRID_PERIODIC] = FFT_PERIODIC, [GRID_NO_FLUX] = FFT_COSINE, [GRID_FIXED] = FFT_SINE};
  _Static_assert((int)GRID_AXIS_MAX <= (int)FFT_LENGTH_MAX, "axes have transforms");
  return kinds[grid->boundary[axis]];
}

double diffusion_spectral_bytes(const grid_shape *grid, int fields, int gradients, bool single, int threads) {
  double bytes = threads * thread_size(grid, fields, fields + gradients, single);
  for (int axis = 0; axis < grid->rank; axis++)
    bytes += fft_plan_bytes(grid->n[axis], transform_of(grid, axis), single) + 12.0 * (double)grid->n[axis];
  return bytes;
}

static diffusion_combine *combine_for(bool single, sim_isa isa) {
  static diffusion_combine *const all[SIM_ISA_COUNT][2] = {
    [SIM_ISA_PLAIN] = {diffusion_combine_double_plain, diffusion_combine_single_plain},
#if FFT_X86
    [SIM_ISA_AVX2] = {diffusion_combine_double_avx2, diffusion_combine_single_avx2},
    [SIM_ISA_AVX512] = {diffusion_combine_double_avx512, diffusion_combine_single_avx512},
#endif
  };
  if (isa > sim_isa_best()) isa = sim_isa_best();
  while (!all[isa][single]) isa--;
  return all[isa][single];
}

static bool make_mirror(diffusion_spectral *s) {
  const int64_t n = s->grid.n[Y];
  const int32_t *order = fft_order(s->plan[Y]);
  int32_t *at = malloc((size_t)n * sizeof(int32_t));
  s->mirror = malloc((size_t)n * sizeof(int32_t));
  for (int64_t p = 0; at && s->mirror && p < n; p++) at[order[p]] = (int32_t)p;
  for (int64_t p = 0; at && s->mirror && p < n; p++) s->mirror[p] = at[order[p] ? n - order[p] : 0];
  const bool good = at && s->mirror;
  free(at);
  return good;
}

static bool make_slots(diffusion_spectral *s) {
  const int64_t most = s->middle > s->back ? s->middle : s->back;
  s->position = malloc((size_t)most * sizeof(int32_t));
  if (!s->position) return false;
  for (int64_t p = 0; p < most; p++) s->position[p] = (int32_t)p;
  for (int i = 0; i < 2; i++) {
    const int axis = Y + i;
    s->slots[axis] = 1;
    if (axis >= s->grid.rank) continue;
    const int64_t n = s->grid.n[axis];
    const int32_t *order = s->plan[axis] ? fft_order(s->plan[axis]) : s->position;
    s->slots[axis] = slot_count(&s->grid, axis, false);
    s->slot[i] = malloc((size_t)n * sizeof(int32_t));
    if (!s->slot[i]) return false;
    for (int64_t p = 0; p < n; p++) {
      const int32_t k = order[p];
      s->slot[i][p] = s->grid.boundary[axis] == GRID_PERIODIC ? (2 * k > n ? (int32_t)n - k : k)
                                                              : k - (s->grid.boundary[axis] == GRID_FIXED);
    }
  }
  return true;
}

sim_status diffusion_spectral_create(const grid_shape *grid, int fields, const diffusion_gradients *gradients,
                                     bool single, sim_isa isa, int threads, diffusion_spectral **out) {
  diffusion_spectral *s = calloc(1, sizeof *s);
  *out = s;
  if (!s) return sim_no_memory("the transforms");
  s->grid = *grid;
  s->fields = fields;
  s->gradients = *gradients;
  s->inputs = fields + gradients->count;
  s->threads = threads;
  s->single = single;
  s->group = fft_group(single);
  s->packing = packing_of(grid);
  s->paired = is_paired(grid, single);
  s->combine = combine_for(single, isa);
  s->middle = grid->rank == 3 ? grid->n[Y] : 1;
  s->back = grid->rank == 1 ? 1 : grid->n[grid->rank - 1];
  s->row_points = fft_row_points(grid->n[X], s->packing, single);
  s->row_stride = row_stride(grid, single);
  s->plane_stride = grid->rank == 3 ? odd(grid->n[Y] * s->row_stride) : s->row_stride;
  s->column_bytes = (size_t)round_up(column_size(grid));
  s->work_bytes = (size_t)round_up(work_size(grid));
  s->plane_bytes = (size_t)plane_size(grid, single);
  s->thread_bytes = (size_t)thread_size(grid, fields, s->inputs, single);
  sim_status status = SIM_OK;
  for (int axis = 0; status == SIM_OK && axis < grid->rank; axis++)
    if (!grid_is_member_axis(grid, axis))
      status = fft_plan_create(grid->n[axis], transform_of(grid, axis), single, isa, &s->plan[axis]);
  if (status == SIM_OK) {
    s->memory = aligned_alloc(64, (size_t)threads * s->thread_bytes);
    if (!s->memory || !make_slots(s) || (s->paired && !make_mirror(s)))
      status = sim_no_memory("transforms of the grid, %.3g bytes for %d threads",
                             (double)threads * (double)s->thread_bytes, threads);
  }
  if (status != SIM_OK) diffusion_spectral_destroy(out);
  return status;
}

void diffusion_spectral_destroy(diffusion_spectral **spectral) {
  diffusion_spectral *s = *spectral;
  if (!s) return;
  for (int axis = 0; axis < 3; axis++) fft_plan_destroy(&s->plan[axis]);
  free(s->slot[0]);
  free(s->slot[1]);
  free(s->position);
  free(s->mirror);
  free(s->memory);
  free(s);
  *spectral = NULL;
}
