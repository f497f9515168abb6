/* Memory sizes and the plan of the spectral passes. */
#include "kernels/diffusion/cpu/spectral/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int64_t odd(int64_t n) { return n | 1; }

static fft_packing packing_of(const grid_shape *grid) {
  if (grid->boundary[X] == GRID_PERIODIC) return FFT_HALF;
  for (int axis = 1; axis < grid->rank; axis++)
    if (grid->boundary[axis] == GRID_PERIODIC) return FFT_REAL;
  return FFT_TWO_REAL;
}

/* Pairs wavenumber n/2 (pairs.c) where that saves a point of each row. */
static bool is_paired(const grid_shape *grid, bool single) {
  return grid->rank == 3 && packing_of(grid) == FFT_HALF && grid->boundary[Y] == GRID_PERIODIC &&
         grid->member_axis != Y && grid->n[X] % (2 * fft_group(single)) == 0;
}

int64_t diffusion_row_stride(const grid_shape *grid, bool single) {
  return odd(fft_row_points(grid->n[X], packing_of(grid), single));
}

int64_t diffusion_plane_stride(const grid_shape *grid, bool single) {
  const int64_t row = diffusion_row_stride(grid, single);
  return grid->rank == 3 ? odd(grid->n[Y] * row) : row;
}

static int64_t back_count(const grid_shape *grid) { return grid->rank == 1 ? 1 : grid->n[grid->rank - 1]; }

double diffusion_field_numbers(const grid_shape *grid, bool single) {
  const double row = (double)diffusion_row_stride(grid, single) * 2 * fft_group(single);
  return grid->rank == 3 ? ((double)grid->n[Y] * row + 2 * fft_group(single)) * (double)grid->n[Z]
                         : (double)grid->n[Y] * row;
}

static int64_t slot_count(const grid_shape *grid, int axis, bool complex) {
  return grid->boundary[axis] == GRID_PERIODIC && !complex ? grid->n[axis] / 2 + 1 : grid->n[axis];
}

/* ---- division among ranks ---- */

diffusion_slab diffusion_slab_of(const grid_shape *grid, bool single, const sim_comm *comm, int rank) {
  const sim_comm of = {.rank = rank, .size = comm->size};
  const int64_t points = fft_row_points(grid->n[X], packing_of(grid), single), row = diffusion_row_stride(grid, single);
  /* rows are transformed in strips, two rows as one complex column */
  const int64_t back = back_count(grid), unit = grid->rank == 3 ? 1 : 2 * fft_group(single);
  size_t end;
  diffusion_slab s = {.group_end = points, .middle_end = grid->rank == 3 ? grid->n[Y] : 1};
  s.first = (int64_t)sim_comm_first(&of, (size_t)((back + unit - 1) / unit), &end) * unit;
  s.end = (int64_t)end * unit < back ? (int64_t)end * unit : back;
  s.first = s.first < s.end ? s.first : s.end;
  s.turned = of.size > 1 && grid->rank > 1 && !grid_is_member_axis(grid, grid->rank - 1);
  s.backs = s.turned ? back : s.end - s.first;
  s.stride = diffusion_plane_stride(grid, single);
  if (!s.turned) return s;
  int64_t *const first = grid->rank == 3 ? &s.middle_first : &s.group_first;
  int64_t *const last = grid->rank == 3 ? &s.middle_end : &s.group_end;
  *first = (int64_t)sim_comm_first(&of, (size_t)*last, &end);
  *last = (int64_t)end > *first ? (int64_t)end : *first;
  s.origin = grid->rank == 3 ? s.middle_first * row : s.group_first;
  s.stride = odd((*last - *first) * (grid->rank == 3 ? row : 1));
  return s;
}

double diffusion_slab_numbers(const grid_shape *grid, bool single, const diffusion_slab *s) {
  const double plane = (double)diffusion_plane_stride(grid, single) * 2 * fft_group(single);
  const double own = plane * (double)(s->end - s->first);
  if (s->first == s->end || s->end < back_count(grid)) return own;
  return own + diffusion_field_numbers(grid, single) - plane * (double)back_count(grid);
}

double diffusion_column_numbers(const grid_shape *grid, bool single, const diffusion_slab *s) {
  if (!s->turned) return diffusion_slab_numbers(grid, single, s);
  return (double)s->backs * (double)s->stride * 2 * fft_group(single);
}

double diffusion_table_numbers(const grid_shape *grid, bool single, bool complex, const diffusion_slab *s) {
  const double lanes = fft_group(single) * (complex || packing_of(grid) == FFT_TWO_REAL ? 2 : 1);
  double numbers = lanes * (double)(s->group_end - s->group_first);
  if (grid->rank == 3) numbers *= fmin((double)(s->middle_end - s->middle_first), (double)slot_count(grid, Y, complex));
  if (grid->rank == 1) return numbers;
  const int last = grid->rank - 1;
  return numbers * (double)(grid_is_member_axis(grid, last) ? s->backs : slot_count(grid, last, complex));
}

double diffusion_symbol_numbers(const grid_shape *grid, bool single, bool both, const diffusion_slab *s) {
  const bool walled = packing_of(grid) == FFT_TWO_REAL;
  return diffusion_table_numbers(grid, single, !walled, s) * (walled || both ? 1 : 0.5);
}

double diffusion_slab_begin(const grid_shape *grid, bool single, const diffusion_slab *s) {
  return (double)s->first * (double)diffusion_plane_stride(grid, single) * 2 * fft_group(single);
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
  return grid->rank == 3 ? (double)(diffusion_row_stride(grid, single) * grid->n[Y]) * 128 : 0;
}
static double thread_size(const grid_shape *grid, int fields, int inputs, int results, bool single) {
  const int planes = inputs - fields > fields ? inputs - fields : fields;
  return round_up((inputs + results) * round_up(column_size(grid)) + round_up(work_size(grid)) +
                  planes * plane_size(grid, single));
}

static fft_kind transform_of(const grid_shape *grid, int axis) {
  static const fft_kind kinds[] = {
      [GRID_PERIODIC] = FFT_PERIODIC, [GRID_NO_FLUX] = FFT_COSINE, [GRID_FIXED] = FFT_SINE};
  _Static_assert((int)GRID_AXIS_MAX <= (int)FFT_LENGTH_MAX, "axes have transforms");
  return kinds[grid->boundary[axis]];
}

/* Whether a source before this one has the same series along an axis. */
static bool repeats(const diffusion_series *series, int source, int axis) {
  for (int other = 0; other < source; other++)
    if (series->of[other][axis] == GRID_ROBIN && series->mix[other][axis][0] == series->mix[source][axis][0] &&
        series->mix[other][axis][1] == series->mix[source][axis][1])
      return true;
  return false;
}

double diffusion_spectral_bytes(const grid_shape *grid, int fields, int gradients, int fluxes,
                                const diffusion_series *series, bool single, int threads) {
  const bool aligned = series != NULL;
  double bytes = threads * thread_size(grid, fields, fields + gradients, fields + fluxes, single);
  for (int source = 0; aligned && source < DIFFUSION_SOURCES; source++)
    for (int axis = 0; axis < grid->rank; axis++)
      if (series->of[source][axis] == GRID_ROBIN && !repeats(series, source, axis))
        bytes += diffusion_basis_bytes(grid->n[axis], single);
  for (int axis = 0; axis < grid->rank; axis++) {
    const int plans = grid_is_periodic(grid, axis) ? 1 : aligned ? 4 : gradients == 0 ? 1 : 2;
    bytes += plans * (fft_plan_bytes(grid->n[axis], aligned ? FFT_QUARTER_SINE : transform_of(grid, axis), single) +
                      12.0 * (double)grid->n[axis]);
  }
  return bytes;
}

/* The functions on columns for an instruction set. */
typedef struct loops {
  diffusion_combine *combine;
  const diffusion_deriving *on;
} loops;
#define LOOPS(precision, isa)                                                                                          \
  { diffusion_combine_##precision##_##isa, &diffusion_derive_##precision##_##isa }
static loops loops_for(bool single, sim_isa isa) {
  static const loops all[SIM_ISA_COUNT][2] = {
    [SIM_ISA_PLAIN] = {LOOPS(double, plain), LOOPS(single, plain)},
#if FFT_X86
    [SIM_ISA_AVX2] = {LOOPS(double, avx2), LOOPS(single, avx2)},
    [SIM_ISA_AVX512] = {LOOPS(double, avx512), LOOPS(single, avx512)},
#endif
  };
  if (isa > sim_isa_best()) isa = sim_isa_best();
  while (!all[isa][single].combine) isa--;
  return all[isa][single];
}

/* Plans the transforms of derivatives along an axis with walls. */
static sim_status make_turned(diffusion_spectral *s, int axis, bool single, sim_isa isa) {
  const int64_t n = s->grid.n[axis];
  const fft_kind kind = s->grid.boundary[axis] == GRID_FIXED ? FFT_COSINE : FFT_SINE;
  SIM_TRY(fft_plan_create(n, kind, single, isa, &s->turned[axis]));
  const int32_t *own = fft_order(s->plan[axis]), *other = fft_order(s->turned[axis]);
  int32_t *at = malloc((size_t)(n + 1) * sizeof(int32_t));
  s->from[axis] = malloc((size_t)n * sizeof(int32_t));
  for (int64_t k = 0; at && k <= n; k++) at[k] = -1;
  for (int64_t p = 0; at && p < n; p++) at[own[p]] = (int32_t)p;
  for (int64_t p = 0; at && s->from[axis] && p < n; p++) s->from[axis][p] = at[other[p]];
  const bool good = at && s->from[axis];
  free(at);
  return good ? SIM_OK : sim_no_memory("the transforms");
}

static bool turns(const diffusion_spectral *s, int axis) {
  bool any = false;
  for (int i = s->fields; i < s->inputs; i++) any = any || is_turned(s, i, axis);
  return any;
}

/* ---- series of their own ---- */

/* Returns the field or derived field of a column. Columns are the fields, the gradients, then the fluxes. */
static int source_of(const diffusion_spectral *s, int column) {
  if (column < s->fields) return column;
  if (column < s->inputs) return s->gradients.of[column - s->fields].field;
  return (column - s->inputs) / (s->gradients.fluxes / s->fields);
}

/* Whether a column has the series of a derivative along an axis. */
static bool is_derivative(const diffusion_spectral *s, int column, int axis) {
  if (column < s->fields) return false;
  if (column >= s->inputs) return (column - s->inputs) % (s->gradients.fluxes / s->fields) == axis;
  switch (s->gradients.of[column - s->fields].kind) {
  case DIFFUSION_X: return axis == X;
  case DIFFUSION_Y: return axis == Y;
  case DIFFUSION_Z: return axis == Z;
  case DIFFUSION_XY: return axis != Z;
  case DIFFUSION_XZ: return axis != Y;
  case DIFFUSION_YZ: return axis != X;
  default: return false;
  }
}

/* Opens the series along walls that mix value and slope. */
static sim_status open_bases(diffusion_spectral *s, sim_isa isa) {
  for (int axis = 0; axis < s->grid.rank; axis++)
    for (int source = 0; source < DIFFUSION_SOURCES; source++)
      if (s->shape[source].boundary[axis] == GRID_ROBIN)
        SIM_TRY(diffusion_basis_open(&s->shape[source], axis, s->plan[axis], s->single, isa, s->threads,
                                     &s->basis[source][axis]));
  return SIM_OK;
}

/* Plans the transforms of every column. */
static sim_status make_plans(diffusion_spectral *s, sim_isa isa) {
  static const fft_kind kinds[GRID_BOUNDARIES] = {[GRID_PERIODIC] = FFT_PERIODIC,
                                                  [GRID_NO_FLUX] = FFT_COSINE,
                                                  [GRID_FIXED] = FFT_SINE_ALIGNED,
                                                  [GRID_FIXED_LOW] = FFT_QUARTER_SINE,
                                                  [GRID_FIXED_HIGH] = FFT_QUARTER_COSINE};
  for (int axis = 0; axis < s->grid.rank; axis++)
    if (!grid_is_member_axis(&s->grid, axis))
      SIM_TRY(fft_plan_create(s->grid.n[axis], transform_of(&s->grid, axis), s->single, isa, &s->plan[axis]));
  SIM_TRY(open_bases(s, isa));
  for (int axis = 0; axis < s->grid.rank; axis++) {
    if (grid_is_member_axis(&s->grid, axis)) continue;
    if (turns(s, axis)) SIM_TRY(make_turned(s, axis, s->single, isa));
    for (int c = 0; c < s->inputs + s->gradients.fluxes; c++) {
      grid_boundary b = s->shape[source_of(s, c)].boundary[axis];
      if (b == GRID_ROBIN) {
        const diffusion_basis *basis = s->basis[source_of(s, c)][axis];
        /* the flux along such an axis is 0, in any series */
        s->of[c][axis] = c < s->inputs && is_derivative(s, c, axis) ? basis->slope : basis->plan;
        continue;
      }
      if (is_derivative(s, c, axis)) b = diffusion_turned(b);
      s->of[c][axis] = is_turned(s, c, axis) ? s->turned[axis] : s->plan[axis];
      if (!s->aligned || b == s->grid.boundary[axis]) continue;
      fft_plan **plan = &s->aligned_plan[b][axis];
      if (!*plan) SIM_TRY(fft_plan_create(s->grid.n[axis], kinds[b], s->single, isa, plan));
      s->of[c][axis] = *plan;
    }
  }
  return SIM_OK;
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

/* Finds the table entries along an axis for positions first <= p < end. slot[p] numbers the distinct entries in the
 * order of positions, and entry[slot] is the wavenumber. */
static bool make_slots_along(diffusion_spectral *s, int axis, int64_t first, int64_t end) {
  const int64_t n = s->grid.n[axis], entries = slot_count(&s->grid, axis, false);
  const int32_t *order = s->plan[axis] ? fft_order(s->plan[axis]) : s->position;
  int32_t *slot = s->slot[axis - Y] = malloc((size_t)n * sizeof(int32_t));
  int32_t *entry = s->entry[axis - Y] = malloc((size_t)entries * sizeof(int32_t));
  int32_t *number = calloc((size_t)entries, sizeof(int32_t)); /* of an entry, from 1; 0: no position has it */
  if (!slot || !entry || !number) {
    free(number);
    return false;
  }
  for (int64_t p = 0; p < n; p++) {
    const int32_t k = order[p];
    slot[p] = s->grid.boundary[axis] == GRID_PERIODIC ? (2 * k > n ? (int32_t)n - k : k)
                                                      : k - (s->grid.boundary[axis] == GRID_FIXED);
    if (p >= first && p < end) number[slot[p]] = 1;
  }
  s->slots[axis] = 0;
  for (int64_t i = 0; i < entries; i++) {
    if (number[i] == 0) continue;
    entry[s->slots[axis]++] = (int32_t)i;
    number[i] = (int32_t)s->slots[axis];
  }
  for (int64_t p = first; p < end; p++) slot[p] = number[slot[p]] - 1;
  free(number);
  return true;
}

static bool make_slots(diffusion_spectral *s) {
  const int64_t most = s->middle > s->back ? s->middle : s->back;
  const int last = s->grid.rank - 1;
  s->position = malloc((size_t)most * sizeof(int32_t));
  if (!s->position) return false;
  for (int64_t p = 0; p < most; p++) s->position[p] = (int32_t)p;
  s->slots[Y] = s->slots[Z] = 1;
  if (last == Z && !make_slots_along(s, Y, s->slab.middle_first, s->slab.middle_end)) return false;
  return last == 0 || make_slots_along(s, last, s->back_first, s->back_first + s->slab.backs);
}

/* Lists all positions as kept. */
static bool keep_all(diffusion_spectral *s) {
  s->kept_points = s->row_points;
  s->kept_middles = s->slab.middle_end - s->slab.middle_first;
  s->kept_backs = s->slab.backs;
  s->kept_middle = calloc((size_t)s->kept_middles + 1, sizeof(int32_t));
  s->kept_back = calloc((size_t)s->kept_backs + 1, sizeof(int32_t));
  for (int64_t i = 0; s->kept_middle && i < s->kept_middles; i++) s->kept_middle[i] = (int32_t)i;
  for (int64_t i = 0; s->kept_back && i < s->kept_backs; i++) s->kept_back[i] = (int32_t)i;
  return s->kept_middle && s->kept_back;
}

/* Tabulates the wavenumbers along the columns, where all fields have the same. */
static bool make_waves(diffusion_spectral *s) {
  const int axis = s->grid.rank - 1;
  for (int odd = 0; odd < 2 && axis > X && !s->aligned; odd++) {
    s->waves[odd] = calloc((size_t)s->slab.backs + 1, sizeof(double));
    if (!s->waves[odd]) return false;
    for (int64_t p = 0; p < s->slab.backs; p++)
      s->waves[odd][p] = wave_of(s, 0, axis, mode_of(s, 0, axis, p, true), odd);
  }
  return true;
}

sim_status diffusion_spectral_create(const grid_shape *grid, const sim_comm *comm, int fields,
                                     const diffusion_gradients *gradients, const diffusion_series *series, bool single,
                                     sim_isa isa, int threads, diffusion_spectral **out) {
  diffusion_spectral *s = calloc(1, sizeof *s);
  *out = s;
  if (!s) return sim_no_memory("the transforms");
  s->grid = *grid;
  s->aligned = series != NULL;
  for (int source = 0; source < DIFFUSION_SOURCES; source++) {
    s->shape[source] = *grid;
    for (int axis = 0; axis < grid->rank && series; axis++) {
      if (grid_is_member_axis(grid, axis)) continue;
      s->shape[source].boundary[axis] = series->of[source][axis];
      memcpy(s->shape[source].mix[axis], series->mix[source][axis], sizeof series->mix[source][axis]);
    }
  }
  for (int axis = 0; axis < grid->rank && series; axis++)
    if (!grid_is_periodic(grid, axis)) s->grid.boundary[axis] = GRID_NO_FLUX;
  s->fields = fields;
  s->gradients = *gradients;
  s->inputs = fields + gradients->count;
  s->results = fields + gradients->fluxes;
  s->joined = gradients->fluxes > 0 || gradients->solenoidal;
  for (int g = 0; g < gradients->count; g++) s->joined = s->joined || gradients->of[g].field >= fields;
  s->threads = threads;
  s->single = single;
  s->group = fft_group(single);
  s->packing = packing_of(grid);
  s->paired = is_paired(grid, single);
  const loops of = loops_for(single, isa);
  s->combine = of.combine;
  s->on = of.on;
  s->middle = grid->rank == 3 ? grid->n[Y] : 1;
  s->back = back_count(grid);
  s->comm = comm;
  s->slab = diffusion_own_slab(grid, single, comm);
  s->back_first = s->slab.turned ? 0 : s->slab.first;
  s->row_points = fft_row_points(grid->n[X], s->packing, single);
  s->row_stride = diffusion_row_stride(grid, single);
  s->plane_stride = diffusion_plane_stride(grid, single);
  s->column_bytes = (size_t)round_up(column_size(grid));
  s->work_bytes = (size_t)round_up(work_size(grid));
  s->plane_bytes = (size_t)plane_size(grid, single);
  s->thread_bytes = (size_t)thread_size(grid, fields, s->inputs, s->results, single);
  sim_status status = make_plans(s, isa);
  if (status == SIM_OK) {
    s->memory = aligned_alloc(64, (size_t)threads * s->thread_bytes);
    if (!s->memory || !make_slots(s) || !keep_all(s) || !make_waves(s) || (s->paired && !make_mirror(s)))
      status = sim_no_memory("transforms of the grid, %.3g bytes for %d threads",
                             (double)threads * (double)s->thread_bytes, threads);
  }
  if (status != SIM_OK) diffusion_spectral_destroy(out);
  return status;
}

void diffusion_spectral_destroy(diffusion_spectral **spectral) {
  diffusion_spectral *s = *spectral;
  if (!s) return;
  for (int axis = 0; axis < 3; axis++) {
    for (int source = 0; source < DIFFUSION_SOURCES; source++) diffusion_basis_close(&s->basis[source][axis]);
    fft_plan_destroy(&s->plan[axis]);
    fft_plan_destroy(&s->turned[axis]);
    for (int b = 0; b < GRID_BOUNDARIES; b++) fft_plan_destroy(&s->aligned_plan[b][axis]);
    free(s->from[axis]);
  }
  for (int i = 0; i < 2; i++) {
    free(s->slot[i]);
    free(s->entry[i]);
  }
  free(s->position);
  free(s->mirror);
  free(s->kept_middle);
  free(s->kept_back);
  free(s->kept_row);
  free(s->waves[0]);
  free(s->waves[1]);
  free(s->memory);
  free(s);
  *spectral = NULL;
}
