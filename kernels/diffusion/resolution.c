/* Check of the spatial resolution. Structure finer than the grid collects at the highest wavenumbers. Power there means
 * an unresolved solution, for any time step. The host transforms lines of cells along each axis: all lines of small
 * grids, evenly spaced lines of large ones. */
#include "kernels/diffusion/diffusion.h"

#include "engine/log.h"
#include "kernels/diffusion/modes.cuh"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Largest share of a fluctuation's power. A field with a tail exp(-k/k0) reaches this share where k0 is about a fifth
 * of the highest wavenumber. A field with jumps, whose tail is 1/k^2, reaches it up to k = 300. */
static const double limit = 1e-3;

typedef struct along {
  diffusion_spectral *spectral; /* of lines beside each other; NULL: no check */
  void *coefficients;
  int64_t count;    /* lines */
  double low, high; /* modes: the upper third of the modes that are kept */
  double before[DIFFUSION_FIELDS];
} along;

/* Kinds of series: grid_boundary, and GRID_ROBIN + f of field f, whose walls mix value and slope. */
enum { KINDS = (int)GRID_ROBIN + (int)DIFFUSION_FIELDS };

struct diffusion_resolution {
  const diffusion_parameters *p;
  grid_shape grid;
  along axis[KINDS][3]; /* for each kind of series */
  void *lines;
  bool warned[DIFFUSION_FIELDS], begun;
};

int64_t diffusion_line_count(const grid_shape *grid, int axis) {
  const int64_t members = grid_members(grid), all = grid->n[0] * grid->n[1] * grid->n[2] / grid->n[axis] / members;
  const int64_t many = DIFFUSION_LINE_CELLS / grid->n[axis];
  const int64_t lines = many > DIFFUSION_LINES ? many : DIFFUSION_LINES;
  const int64_t most = lines / members > 4 ? lines / members : 4; /* lines of each member */
  return members * (all < most ? all : most);
}

double diffusion_lines_bytes(const grid_shape *grid, bool single) {
  double most = 0;
  for (int axis = 0; axis < grid->rank; axis++)
    if (!grid_is_member_axis(grid, axis))
      most = fmax(most, (double)diffusion_line_count(grid, axis) * (double)grid->n[axis]);
  return most * (single ? sizeof(float) : sizeof(double));
}

/* Returns the lines along an axis, as members of an ensemble. */
static grid_shape lines_of(const grid_shape *grid, int axis, grid_boundary kind) {
  const int64_t count = diffusion_line_count(grid, axis);
  return (grid_shape){.rank = 2,
                      .n = {grid->n[axis], count, 1},
                      .size = {grid->size[axis], (double)count, 1},
                      .boundary = {kind, GRID_NO_FLUX},
                      .member_axis = 1};
}

/* Returns the number of a field's kind of series along an axis in `axis`. */
static int kind_of(const diffusion_parameters *p, int field, int axis) {
  const grid_boundary b = diffusion_shape_of(p, field).boundary[axis];
  return b == GRID_ROBIN ? (int)GRID_ROBIN + field : (int)b;
}

/* Returns the first field that has this kind of series along an axis; -1: none. */
static int user_of(const diffusion_parameters *p, int axis, int kind) {
  for (int f = 0; f < (int)p->fields.count; f++)
    if (kind_of(p, f, axis) == kind) return f;
  return -1;
}

/* Returns the series of lines of a field along an axis; NULL where the kind of their grid says it. */
static const diffusion_series *line_series(const diffusion_parameters *p, int field, int axis, diffusion_series *out) {
  const grid_shape own = diffusion_shape_of(p, field);
  const grid_boundary b = own.boundary[axis];
  if (b != GRID_FIXED_LOW && b != GRID_FIXED_HIGH && b != GRID_ROBIN) return NULL;
  *out = (diffusion_series){.of = {{b, GRID_NO_FLUX}}};
  out->mix[0][0][0] = own.mix[axis][0];
  out->mix[0][0][1] = own.mix[axis][1];
  return out;
}

static double coefficient_bytes(const grid_shape *lines, bool single) {
  return diffusion_field_numbers(lines, single) * (single ? sizeof(float) : sizeof(double));
}

double diffusion_resolution_bytes(const diffusion_parameters *p) {
  const grid_shape grid = diffusion_grid_of(p);
  const bool single = diffusion_single(p);
  if (diffusion_fluctuates(p)) return 0;
  double bytes = diffusion_lines_bytes(&grid, single);
  for (int axis = 0; axis < grid.rank; axis++)
    for (int kind = 0; kind < KINDS && !grid_is_member_axis(&grid, axis); kind++) {
      const int field = user_of(p, axis, kind);
      diffusion_series series;
      if (field < 0) continue;
      const grid_shape lines = lines_of(&grid, axis, diffusion_shape_of(p, field).boundary[axis]);
      bytes += coefficient_bytes(&lines, single) +
               diffusion_spectral_bytes(&lines, 1, 0, 0, line_series(p, field, axis, &series), single, 1);
    }
  return bytes;
}

static void *allocate(double bytes) { return aligned_alloc(64, ((size_t)bytes + 64) / 64 * 64); }

static sim_status open_axis(diffusion_resolution *r, int field, int axis, sim_isa isa) {
  along *a = &r->axis[kind_of(r->p, field, axis)][axis];
  const grid_boundary kind = diffusion_shape_of(r->p, field).boundary[axis];
  const bool single = diffusion_single(r->p);
  const bool periodic = kind == GRID_PERIODIC;
  const int64_t n = r->grid.n[axis];
  const double fraction = diffusion_dealias(&r->p->integrate);
  int64_t high = periodic ? n / 2 : kind == GRID_FIXED ? n : n - 1;
  while (high > 0 && !diffusion_mode_kept(high, n, periodic, fraction)) high--;
  if (high < 3) return SIM_OK; /* too few modes for a third */
  const grid_shape lines = lines_of(&r->grid, axis, kind);
  diffusion_series series;
  SIM_TRY(diffusion_spectral_create(&lines, &sim_comm_alone, 1, &(diffusion_gradients){0},
                                    line_series(r->p, field, axis, &series), single, isa, 1, &a->spectral));
  a->count = lines.n[1];
  a->high = (double)high;
  a->low = 2 * (double)high / 3;
  a->coefficients = allocate(coefficient_bytes(&lines, single));
  return a->coefficients ? SIM_OK : sim_no_memory("the spectrum of a field");
}

sim_status diffusion_resolution_create(const diffusion_parameters *p, sim_isa isa, diffusion_resolution **out) {
  *out = NULL;
  if (diffusion_fluctuates(p)) return SIM_OK;
  diffusion_resolution *r = *out = calloc(1, sizeof *r);
  if (!r) return sim_no_memory("the spectrum of a field");
  r->p = p;
  r->grid = diffusion_grid_of(p);
  r->lines = allocate(diffusion_lines_bytes(&r->grid, diffusion_single(p)));
  sim_status status = r->lines ? SIM_OK : sim_no_memory("the spectrum of a field");
  for (int axis = 0; status == SIM_OK && axis < r->grid.rank; axis++)
    for (int kind = 0; status == SIM_OK && kind < KINDS && !grid_is_member_axis(&r->grid, axis); kind++)
      if (user_of(p, axis, kind) >= 0) status = open_axis(r, user_of(p, axis, kind), axis, isa);
  if (status != SIM_OK) diffusion_resolution_destroy(out);
  return status;
}

void diffusion_resolution_destroy(diffusion_resolution **resolution) {
  diffusion_resolution *r = *resolution;
  if (!r) return;
  for (int kind = 0; kind < KINDS; kind++)
    for (int axis = 0; axis < 3; axis++) {
      diffusion_spectral_destroy(&r->axis[kind][axis].spectral);
      free(r->axis[kind][axis].coefficients);
    }
  free(r->lines);
  free(r);
  *resolution = NULL;
}

static along *along_of(diffusion_resolution *r, int field, int axis) {
  return &r->axis[kind_of(r->p, field, axis)][axis];
}

/* Subtracts the field's lift without its growth from the lines. Sums a member's cells: values and squares. */
static void sum_lines(diffusion_resolution *r, int field, int axis, int64_t count, int64_t first, int64_t end,
                      double sums[2]) {
  const diffusion_lift lift = diffusion_lift_of(r->p, field);
  const long long n[3] = {r->grid.n[0], r->grid.n[1], r->grid.n[2]};
  const bool single = diffusion_single(r->p);
  sums[0] = sums[1] = 0;
  for (int64_t j = first; j < end; j++) {
    const int64_t begin = diffusion_line_begin(n, axis, count, j), step = diffusion_line_stride(n, axis);
    for (int64_t i = 0; i < n[axis]; i++) {
      const int64_t at = j * n[axis] + i, cell = begin + i * step;
      double value = grid_number(r->lines, single, at);
      if (lift.axis >= 0) {
        const double x[3] = {grid_centre(&r->grid, 0, cell % n[0]), grid_centre(&r->grid, 1, cell / n[0] % n[1]),
                             grid_centre(&r->grid, 2, cell / n[0] / n[1])};
        value -= diffusion_lift_at(&lift, x, 0);
        grid_set_number(r->lines, single, at, value);
      }
      sums[0] += value;
      sums[1] += value * value;
    }
  }
}

/* Returns the largest share over the members, and the member that has it; 0 within rounding. */
static double share_of(diffusion_resolution *r, int field, int axis, int64_t *worst) {
  const along *a = along_of(r, field, axis);
  const bool single = diffusion_single(r->p);
  const double rounding = single ? 0x1p-19 : 0x1p-48; /* of a transform, relative to the root mean square */
  const int64_t members = grid_members(&r->grid), each = a->count / members;
  const diffusion_stage forward = {1, 0, 1, {{1, 1, {{1 / (double)r->grid.n[axis], -1, 0}}}}};
  const diffusion_arrays arrays = {.array = {{a->coefficients, a->coefficients}}};
  double share = 0, (*sums)[2] = calloc((size_t)members, sizeof *sums);
  diffusion_stage stage = forward;
  if (r->grid.boundary[axis] == GRID_PERIODIC) stage.set[0].term[0].coefficient /= 2; /* as diffusion_scale */
  *worst = 0;
  for (int64_t m = 0; sums && m < members; m++) sum_lines(r, field, axis, a->count, m * each, (m + 1) * each, sums[m]);
  diffusion_planes_load(a->spectral, (const void *const[]){r->lines}, (void *const[]){a->coefficients});
  diffusion_columns(a->spectral, &stage, &arrays);
  for (int64_t m = 0; sums && m < members; m++) {
    const double cells = (double)each * (double)r->grid.n[axis], square = sums[m][1] / cells;
    const double variance = square - sums[m][0] / cells * (sums[m][0] / cells);
    double top = 0;
    for (int64_t j = m * each; j < (m + 1) * each; j++)
      top += diffusion_row_power(a->spectral, a->coefficients, j, a->low, a->high) / (double)each;
    if (!(top > rounding * rounding * square) || !(top > share * variance)) continue;
    share = fmin(1, top / variance);
    *worst = m;
  }
  free(sums);
  return share;
}

static void warn(diffusion_resolution *r, int field, int axis, int64_t member, double share, double t) {
  char whose[64] = "";
  if (r->grid.member_axis) snprintf(whose, sizeof whose, " of member %lld", (long long)member + 1);
  r->warned[field] = true;
  sim_log(
      SIM_LOG_WARN,
      "the grid does not resolve %s%s: at t = %.9g the upper third of its wavenumbers along %c holds %.3g %% of the "
      "power of its fluctuations, above %g %%: take more cells than %lld along %c",
      diffusion_field_of(r->p, field)->name, whose, t, "xyz"[axis], 100 * share, 100 * limit,
      (long long)r -> grid.n[axis], "xyz"[axis]);
}

sim_status diffusion_resolution_check(diffusion_resolution *r, double t, bool end, diffusion_take_lines *take_lines,
                                      void *context) {
  if (!r) return SIM_OK;
  for (int f = 0; f < (int)r->p->fields.count; f++)
    for (int axis = 0; axis < r->grid.rank && !r->warned[f]; axis++) {
      along *a = along_of(r, f, axis);
      int64_t member;
      if (!a->spectral) continue;
      SIM_TRY(take_lines(context, f, axis, a->count, r->lines));
      const double share = share_of(r, f, axis, &member);
      if (share > limit && (end || (r->begun && share >= a->before[f]))) warn(r, f, axis, member, share, t);
      a->before[f] = share;
    }
  r->begun = true;
  return SIM_OK;
}
