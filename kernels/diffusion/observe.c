#include "kernels/diffusion/observe.h"

#include "kernels/diffusion/cpu/derivation.h"
#include "kernels/diffusion/cpu/plan.h"
#include "kernels/diffusion/cpu/resample.h"

#include "engine/reduce.h"
#include "kernels/common/laws/scratch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { X, Y, Z, COORDINATES = 4, KEPT = DIFFUSION_FIELDS + DIFFUSION_READ };

struct diffusion_observer {
  const diffusion_parameters *p;
  grid_shape grid;
  diffusion_gradients gradients; /* derivatives that the functions read */
  diffusion_gradients along;     /* derivatives that one transform gives: see `slopes` */
  diffusion_spectral *spectral;  /* of one field, or of all, with derivatives; NULL: not needed */
  diffusion_derivation *derivation;
  int fields, together, threads; /* together: number of fields in one transform */
  bool all;                      /* one transform has all fields */
  int64_t cells, rows;
  double *real[KEPT]; /* [cells]: fields in double, and derivatives */
  void *mixed[DIFFUSION_FIELDS], *coefficients[DIFFUSION_FIELDS], *slope[DIFFUSION_READ];
  sim_expr_program **functions; /* [observe.count] */
  laws_scratch scratch;         /* columns: x and results of a row */
  double *partial;              /* [rows] */
  diffusion_parameters rates;   /* of the budget, refined where the run is padded */
  diffusion_work *budget;       /* NULL: none */
  diffusion_pressure *pressure; /* NULL: none */
  double *pressures;            /* [cells] */
  /* of a padded run: parameters on its own grid, and its fields on the grid of the rates; else NULL */
  diffusion_parameters coarse;
  double refined[3];
  diffusion_resample *resample;
  double *fine[DIFFUSION_FIELDS];
};

diffusion_gradients diffusion_observed_gradients(const diffusion_parameters *p) {
  diffusion_gradients g = {0};
  for (size_t k = 0; k < p->observe.count; k++) diffusion_find_gradients(p, p->observe.items[k].expr, &g);
  diffusion_find_drawn(p, &g);
  if (g.count > DIFFUSION_READ) g.count = DIFFUSION_READ; /* a fault */
  diffusion_sort_gradients(&g);
  return g;
}

static bool reads_derived(const diffusion_parameters *p, const diffusion_gradients *g) {
  return g->count > 0 && g->of[g->count - 1].field >= (int)p->fields.count;
}

/* Whether all fields are transformed together: where a derived field is read, or series differ. */
static bool takes_all(const diffusion_parameters *p, const diffusion_gradients *g) {
  return reads_derived(p, g) || diffusion_aligned(p, g);
}
static int fields_together(const diffusion_parameters *p, const diffusion_gradients *g) {
  return takes_all(p, g) ? (int)p->fields.count : 1;
}

/* Returns the derivatives of the fields, each kind that some field has. Where fields are transformed one by one, their
 * derivatives are computed in turn. */
static diffusion_gradients slopes(const diffusion_parameters *p, const diffusion_gradients *observed) {
  diffusion_gradients g = {0};
  if (takes_all(p, observed)) return *observed;
  for (int kind = 0; kind < DIFFUSION_VALUE; kind++) {
    bool any = false;
    for (int i = 0; i < observed->count; i++) any = any || observed->of[i].kind == kind;
    if (any) g.of[g.count++].kind = kind;
  }
  return g;
}

static bool has_budget(const diffusion_parameters *p) { return p->transfer > 0 || p->enstrophy > 0 || p->helicity > 0; }

static bool is_needed(const diffusion_parameters *p) {
  int drawn[DIFFUSION_DRAWN];
  return p->observe.count > 0 || p->spectrum > 0 || p->probes.rows > 0 || p->members > 1 || has_budget(p) ||
         p->structure.given || diffusion_drawn(p, drawn) > 0;
}

static size_t row_bytes(int64_t n) { return ((size_t)n * sizeof(double) + 63) / 64 * 64; }

static double budget_bytes(const diffusion_parameters *p, int threads) {
  double bytes = 0;
  diffusion_parameters coarse = *p, fine;
  double n[3];
  coarse.common.precision = SIM_DOUBLE;
  fine = coarse;
  diffusion_refine(&fine, n);
  const grid_shape grid = diffusion_grid_of(&fine);
  if (has_budget(p)) bytes += diffusion_budget_bytes(diffusion_padded(p) ? &fine : p, threads);
  if (diffusion_needs_pressure(p)) bytes += diffusion_pressure_bytes(p, threads);
  if (!diffusion_padded(p)) return bytes;
  return bytes + diffusion_resample_bytes(&coarse, &fine, threads) +
         sizeof(double) * grid_cells_wanted(&grid) * (double)p->fields.count;
}

double diffusion_observer_bytes(const diffusion_parameters *p, int threads) {
  const grid_shape grid = diffusion_grid_of(p);
  const diffusion_gradients g = diffusion_observed_gradients(p);
  const double cells = grid_cells_wanted(&grid);
  if (!is_needed(p)) return 0;
  double bytes = sizeof(double) * cells * ((double)p->fields.count + g.count + diffusion_needs_pressure(p));
  if (g.count > 0 || p->spectrum > 0) {
    const diffusion_gradients along = slopes(p, &g);
    const diffusion_slab whole = diffusion_own_slab(&grid, false, &sim_comm_alone);
    const int together = fields_together(p, &g);
    bytes += sizeof(double) * diffusion_field_numbers(&grid, false) * (2 * together + along.count);
    diffusion_series series;
    bytes +=
        diffusion_spectral_bytes(&grid, together, along.count, 0, diffusion_series_of(p, &g, &series), false, threads);
    bytes += diffusion_derivation_bytes(p, &along, false, &whole);
  }
  if (has_budget(p) || diffusion_needs_pressure(p)) bytes += budget_bytes(p, threads);
  return bytes + 2.0 * threads * (double)row_bytes(grid.n[X]);
}

static double *allocate(double numbers) {
  return numbers < 0x1p57 ? aligned_alloc(64, row_bytes((int64_t)numbers)) : NULL;
}

static sim_status create_spectral(diffusion_observer *o, sim_isa isa) {
  const double numbers = diffusion_field_numbers(&o->grid, false);
  if (o->gradients.count == 0 && o->p->spectrum == 0) return SIM_OK;
  diffusion_series series;
  SIM_TRY(diffusion_spectral_create(&o->grid, &sim_comm_alone, o->together, &o->along,
                                    diffusion_series_of(o->p, &o->gradients, &series), false, isa, o->threads,
                                    &o->spectral));
  SIM_TRY(diffusion_derivation_create(o->p, &o->along, o->spectral, &o->derivation));
  bool good = true;
  for (int f = 0; f < o->together; f++)
    good = (o->mixed[f] = allocate(numbers)) && (o->coefficients[f] = allocate(numbers)) && good;
  for (int i = 0; i < o->along.count; i++) good = (o->slope[i] = allocate(numbers)) && good;
  return good ? SIM_OK : sim_no_memory("what is observed");
}

static sim_status create_functions(diffusion_observer *o, sim_isa isa) {
  bool uniform[DIFFUSION_INPUTS] = {false};
  for (int i = Y; i < COORDINATES; i++) uniform[o->fields + i] = true;
  uniform[diffusion_member_input(o->fields)] = true;
  o->functions = calloc(o->p->observe.count + 1, sizeof(sim_expr_program *));
  if (!o->functions) return sim_no_memory("the observables");
  for (size_t i = 0; i < o->p->observe.count; i++) {
    SIM_TRY(sim_expr_program_create(o->p->observe.items[i].expr, &(sim_expr_target){.isa = isa, .uniform = uniform},
                                    &o->functions[i]));
  }
  SIM_TRY(laws_scratch_create(o->functions, o->p->observe.count, 2 * row_bytes(o->grid.n[X]), o->threads, &o->scratch));
  o->partial = allocate((double)o->rows);
  bool good = o->partial != NULL;
  for (int i = 0; i < o->fields + o->gradients.count; i++) good = (o->real[i] = allocate((double)o->cells)) && good;
  return good ? SIM_OK : sim_no_memory("what is observed");
}

/* Creates the work of budgets and of the pressure: the rates of the run in double, without its steps and its forcing.
 */
static sim_status create_budget(diffusion_observer *o, sim_isa isa) {
  o->rates = *o->p;
  diffusion_budget_form(&o->rates);
  o->coarse = o->rates;
  diffusion_refine(&o->rates, o->refined);
  if (has_budget(o->p)) SIM_TRY(diffusion_budget_create(&o->rates, isa, o->threads, &o->budget));
  if (diffusion_needs_pressure(o->p)) {
    SIM_TRY(diffusion_pressure_create(o->p, isa, o->threads, &o->pressure));
    if (!(o->pressures = allocate((double)o->cells))) return sim_no_memory("the pressure");
  }
  if (!diffusion_padded(o->p)) return SIM_OK;
  const grid_shape fine = diffusion_grid_of(&o->rates);
  for (int f = 0; f < o->fields; f++)
    if (!(o->fine[f] = allocate((double)grid_cells(&fine)))) return sim_no_memory("what is observed");
  return diffusion_resample_create(&o->coarse, &o->rates, isa, o->threads, &o->resample);
}

/* Returns the fields on the grid of the budget's rates, and overwrites o->real. */
static sim_status budget_fields(diffusion_observer *o, double t, double *const **out) {
  void *real[DIFFUSION_FIELDS], *fine[DIFFUSION_FIELDS];
  *out = o->resample ? o->fine : o->real;
  for (int f = 0; f < o->fields; f++) {
    real[f] = o->real[f];
    fine[f] = o->fine[f];
  }
  return o->resample ? diffusion_resample_up(o->resample, t, real, fine) : SIM_OK;
}

sim_status diffusion_observer_create(const diffusion_parameters *p, sim_isa isa, int threads,
                                     diffusion_observer **out) {
  *out = NULL;
  if (!is_needed(p)) return SIM_OK;
  diffusion_observer *o = *out = calloc(1, sizeof *o);
  if (!o) return sim_no_memory("the observables");
  o->p = p;
  o->grid = diffusion_grid_of(p);
  o->gradients = diffusion_observed_gradients(p);
  o->along = slopes(p, &o->gradients);
  o->together = fields_together(p, &o->gradients);
  o->all = takes_all(p, &o->gradients);
  o->fields = (int)p->fields.count;
  o->threads = threads;
  o->rows = o->grid.n[Y] * o->grid.n[Z];
  o->cells = o->rows * o->grid.n[X];
  sim_status status = create_spectral(o, isa);
  if (status == SIM_OK) status = create_functions(o, isa);
  if (status == SIM_OK && (has_budget(p) || diffusion_needs_pressure(p))) status = create_budget(o, isa);
  if (status != SIM_OK) diffusion_observer_destroy(out);
  return status;
}

void diffusion_observer_destroy(diffusion_observer **observer) {
  diffusion_observer *o = *observer;
  if (!o) return;
  diffusion_spectral_destroy(&o->spectral);
  for (size_t i = 0; o->functions && i < o->p->observe.count; i++) sim_expr_program_free(&o->functions[i]);
  diffusion_derivation_destroy(&o->derivation);
  if (o->budget) diffusion_budget_destroy(&o->budget);
  diffusion_pressure_destroy(&o->pressure);
  free(o->pressures);
  for (int i = 0; i < KEPT; i++) free(o->real[i]);
  for (int i = 0; i < DIFFUSION_READ; i++) free(o->slope[i]);
  for (int f = 0; f < DIFFUSION_FIELDS; f++) {
    free(o->mixed[f]);
    free(o->coefficients[f]);
    free(o->fine[f]);
  }
  diffusion_resample_destroy(&o->resample);
  free(o->functions);
  laws_scratch_destroy(&o->scratch);
  free(o->partial);
  free(o);
  *observer = NULL;
}

static void widen(diffusion_observer *o, const void *const *real_fields) {
  const bool single = diffusion_single(o->p);
  for (int f = 0; f < o->fields; f++) {
    if (!single) memcpy(o->real[f], real_fields[f], (size_t)o->cells * sizeof(double));
    for (int64_t i = 0; single && i < o->cells; i++) o->real[f][i] = (double)((const float *)real_fields[f])[i];
  }
}

/* Computes the coefficients of the fields that are transformed together, from `field` on, and their derivatives. */
static void transform(diffusion_observer *o, int field) {
  const diffusion_stage stage = {1, 1, 2, {{1, 1, {{diffusion_scale(&o->grid), -1, 0}}}, {0, 1, {{1, -1, 1}}}}};
  diffusion_arrays arrays = {.symbols = diffusion_derivation_symbols(o->derivation)};
  const void *real[DIFFUSION_FIELDS];
  for (int f = 0; f < o->together; f++) {
    real[f] = o->real[field + f];
    arrays.array[f][0] = o->mixed[f];
    arrays.array[f][1] = o->coefficients[f];
  }
  for (int i = 0; i < o->along.count; i++) arrays.gradient[i] = o->slope[i];
  diffusion_planes_load(o->spectral, real, o->mixed);
  diffusion_columns(o->spectral, &stage, &arrays);
}

/* Returns the number among `along` of an observed derivative. */
static int slope_of(const diffusion_observer *o, int g) {
  int i = 0;
  while (o->along.of[i].kind != o->gradients.of[g].kind || (o->all && o->along.of[i].field != o->gradients.of[g].field))
    i++;
  return i;
}

/* Position along an axis of cell i. */
static double position(const diffusion_observer *o, int axis, int64_t i) {
  const int64_t under = axis == X ? 1 : axis == Y ? o->grid.n[X] : o->grid.n[X] * o->grid.n[Y];
  return grid_centre(&o->grid, axis, i / under % o->grid.n[axis]);
}

/* Adds the derivative of a source's lift, or the lift, to that of the source without its lift. */
static void add_slope(diffusion_observer *o, int g, double t) {
  const int kind = o->gradients.of[g].kind;
  const diffusion_lift lift = diffusion_lift_of(o->p, o->gradients.of[g].field);
  for (int64_t i = 0; lift.axis >= 0 && i < o->cells; i++) {
    const double x[3] = {position(o, X, i), position(o, Y, i), position(o, Z, i)};
    o->real[o->fields + g][i] += kind == DIFFUSION_VALUE
                                     ? diffusion_lift_at(&lift, x, t)
                                     : diffusion_lift_slope(&lift, kind, kind <= DIFFUSION_Z ? x[kind] : 0);
  }
}

/* Subtracts the lifts from the fields, because the series have none. Returns whether there are any lifts. */
static bool drop_lifts(diffusion_observer *o, double t) {
  bool any = false;
  for (int f = 0; f < o->fields; f++) {
    const diffusion_lift lift = diffusion_lift_of(o->p, f);
    if (lift.axis < 0) continue;
    any = true;
    for (int64_t i = 0; i < o->cells; i++) {
      const double x[3] = {position(o, X, i), position(o, Y, i), position(o, Z, i)};
      o->real[f][i] -= diffusion_lift_at(&lift, x, t);
    }
  }
  return any;
}

static void differentiate(diffusion_observer *o, double t) {
  int ready = -1;
  for (int g = 0; g < o->gradients.count; g += o->together) { /* sorted by field */
    const int field = o->all ? 0 : o->gradients.of[g].field;
    const void *mixed[DIFFUSION_FIELDS];
    void *real[DIFFUSION_FIELDS];
    int numbers[DIFFUSION_FIELDS];
    if (ready != field) transform(o, field);
    ready = field;
    for (int f = 0; f < o->together; f++) { /* as many at a time as there are fields */
      const int at = g + f < o->gradients.count ? g + f : g;
      numbers[f] = slope_of(o, at);
      mixed[f] = o->slope[numbers[f]];
      real[f] = o->real[o->fields + at];
    }
    diffusion_planes_store(o->spectral, mixed, numbers, real, NULL, NULL);
    for (int f = 0; f < o->together && g + f < o->gradients.count; f++) add_slope(o, g + f, t);
  }
}

/* Returns the values of a function in one row of the grid, in memory of the thread. */
static double *in_row(const diffusion_observer *o, size_t function, int64_t row, double t) {
  const int64_t n = o->grid.n[X];
  const double y = grid_centre(&o->grid, Y, row % o->grid.n[Y]), z = grid_centre(&o->grid, Z, row / o->grid.n[Y]);
  const double member = grid_member(&o->grid, row);
  double *x;
  void *scratch = laws_scratch_here(&o->scratch, &x);
  double *out = x + row_bytes(n) / sizeof *x;
  const void *in[DIFFUSION_INPUTS] = {NULL};
  for (int f = 0; f < o->fields; f++) in[f] = o->real[f] + row * n;
  in[o->fields] = x;
  in[o->fields + 1] = &y;
  in[o->fields + 2] = &z;
  in[o->fields + 3] = &t;
  in[diffusion_member_input(o->fields)] = &member;
  for (int g = 0; g < o->gradients.count; g++)
    in[diffusion_input(o->p, o->gradients.of[g].field, o->gradients.of[g].kind)] = o->real[o->fields + g] + row * n;
  if (o->pressures) in[diffusion_pressure_input(o->p)] = o->pressures + row * n;
  for (int64_t i = 0; i < n; i++) x[i] = grid_centre(&o->grid, X, i);
  sim_expr_program_run(o->functions[function], (size_t)n, in, (void *const[]){out}, scratch);
  return out;
}

/* Returns the sum, minimum or maximum of a function over one row of the grid. NaN is kept. */
static double over_row(const diffusion_observer *o, size_t function, int reduce, int64_t row, double t) {
  double *values = in_row(o, function, row, t);
  if (reduce == SIM_SUM || reduce == SIM_MEAN) return sim_reduce_tree(values, (size_t)o->grid.n[X]);
  return sim_reduce_extreme(values, (size_t)o->grid.n[X], reduce != SIM_LEAST);
}

static double over_grid(diffusion_observer *o, size_t function, int reduce, double t) {
#pragma omp parallel for schedule(static) num_threads(o->threads) if (o->threads > 1 && o->cells > 65536)
  for (int64_t row = 0; row < o->rows; row++) o->partial[row] = over_row(o, function, reduce, row, t);
  if (reduce == SIM_SUM || reduce == SIM_MEAN) {
    const double factor = reduce == SIM_MEAN ? 1 / (double)o->cells : grid_cell_volume(&o->grid);
    return factor * sim_reduce_tree(o->partial, (size_t)o->rows);
  }
  return sim_reduce_extreme(o->partial, (size_t)o->rows, reduce != SIM_LEAST);
}

/* Returns an input of the functions at a wall, at x, beside `cell`. A series that is odd there has the lift alone,
 * which is exact; others are extrapolated from three cells, `stride` apart. real: the input's cells. */
static double at_wall(const diffusion_observer *o, const diffusion_series *series, int source, int kind, int axis,
                      int end, const double x[3], const double *real, int64_t stride) {
  static const char *const odd_kinds[] = {[DIFFUSION_X] = "x",   [DIFFUSION_Y] = "y",   [DIFFUSION_Z] = "z",
                                          [DIFFUSION_XY] = "xy", [DIFFUSION_XZ] = "xz", [DIFFUSION_YZ] = "yz"};
  const grid_boundary b = series->of[source][axis];
  const char *letters = kind < (int)(sizeof odd_kinds / sizeof *odd_kinds) ? odd_kinds[kind] : NULL;
  bool odd = b == GRID_FIXED || b == (end ? GRID_FIXED_HIGH : GRID_FIXED_LOW);
  if (letters && strchr(letters, "xyz"[axis])) odd = !odd;
  if (odd && b != GRID_ROBIN) {
    const diffusion_lift lift = diffusion_lift_of(o->p, source);
    return kind == DIFFUSION_VALUE ? diffusion_lift_at(&lift, x, 0) : diffusion_lift_slope(&lift, kind, x[kind % 3]);
  }
  if (o->grid.n[axis] < 3) return real[0];
  return 1.875 * real[0] - 1.25 * real[stride] + 0.375 * real[2 * stride];
}

void diffusion_observer_wall(diffusion_observer *o, size_t function, int axis, int end, double *wall, double *most) {
  const double t = 0, member = 1;
  const int64_t n = o->grid.n[axis], stride = axis == X ? 1 : axis == Y ? o->grid.n[X] : o->grid.n[X] * o->grid.n[Y];
  const int64_t inwards = end ? -stride : stride;
  diffusion_series series;
  double *columns, in[DIFFUSION_INPUTS];
  const void *inputs[DIFFUSION_INPUTS];
  void *scratch = laws_scratch_here(&o->scratch, &columns);
  diffusion_all_series(o->p, &series);
  for (int i = 0; i < DIFFUSION_INPUTS; i++) inputs[i] = &in[i];
  *wall = 0;
  for (int64_t cell = 0; cell < o->cells; cell++) {
    double x[3] = {position(o, X, cell), position(o, Y, cell), position(o, Z, cell)};
    if (cell / stride % n != (end ? n - 1 : 0)) continue;
    x[axis] = end ? o->grid.size[axis] : 0;
    for (int f = 0; f < o->fields; f++)
      in[f] = at_wall(o, &series, f, DIFFUSION_VALUE, axis, end, x, o->real[f] + cell, inwards);
    for (int a = 0; a < 3; a++) in[o->fields + a] = x[a];
    in[o->fields + 3] = t;
    in[diffusion_member_input(o->fields)] = member;
    for (int g = 0; g < o->gradients.count; g++) {
      const int source = o->gradients.of[g].field, kind = o->gradients.of[g].kind;
      in[diffusion_input(o->p, source, kind)] =
          at_wall(o, &series, source, kind, axis, end, x, o->real[o->fields + g] + cell, inwards);
    }
    sim_expr_program_run(o->functions[function], 1, inputs, (void *const[]){columns}, scratch);
    if (fabs(columns[0]) > fabs(*wall)) *wall = columns[0];
  }
  *most = fmax(-over_grid(o, function, SIM_LEAST, t), over_grid(o, function, SIM_GREATEST, t));
}

/* Fields, and all derivatives that functions and outputs read, and the pressure. */
static sim_status derive(diffusion_observer *o, const void *const *real_fields, double t) {
  double *const *fields;
  if (o->pressure) {
    SIM_TRY(budget_fields(o, t, &fields));
    SIM_TRY(diffusion_pressure_of(o->pressure, fields, t, o->pressures));
    widen(o, real_fields);
  }
  const bool lifted = o->gradients.count > 0 && drop_lifts(o, t);
  differentiate(o, t);
  if (lifted) widen(o, real_fields);
  return SIM_OK;
}

/* Returns the values [cells] of an observed derivative. */
static const double *observed(const diffusion_observer *o, int source, int kind) {
  int g = 0;
  while (o->gradients.of[g].field != source || o->gradients.of[g].kind != kind) g++;
  return o->real[o->fields + g];
}

/* Returns the values of a drawn field in one row of the grid; those of functions and curls are in memory of the thread.
 */
static const double *drawn_row(const diffusion_observer *o, int drawn, int64_t row, double t) {
  const int64_t n = o->grid.n[X];
  const int derived = (int)o->p->derived.count, component = drawn - derived - (int)o->p->observe.count;
  int source[2], kind[2];
  double *values;
  if (drawn < derived) return observed(o, o->fields + drawn, DIFFUSION_VALUE) + row * n;
  if (component < 0) return in_row(o, (size_t)(drawn - derived), row, t);
  if (component == DIFFUSION_PRESSURE) return o->pressures + row * n;
  diffusion_curl_of(o->p, component, source, kind);
  const double *first = observed(o, source[0], kind[0]) + row * n, *second = observed(o, source[1], kind[1]) + row * n;
  (void)laws_scratch_here(&o->scratch, &values);
  for (int64_t i = 0; i < n; i++) values[i] = first[i] - second[i];
  return values;
}

sim_status diffusion_observer_draw(diffusion_observer *o, const void *const *real_fields, double t, void *const *out) {
  const bool single = diffusion_single(o->p);
  const int64_t n = o->grid.n[X];
  int drawn[DIFFUSION_DRAWN];
  widen(o, real_fields);
  SIM_TRY(derive(o, real_fields, t));
  for (int i = 0, count = diffusion_drawn(o->p, drawn); i < count; i++) {
#pragma omp parallel for schedule(static) num_threads(o->threads) if (o->threads > 1 && o->cells > 65536)
    for (int64_t row = 0; row < o->rows; row++) {
      const double *values = drawn_row(o, drawn[i], row, t);
      for (int64_t x = 0; x < n; x++) grid_set_number(out[i], single, row * n + x, values[x]);
    }
  }
  return SIM_OK;
}

/* Returns the cell that contains a point. */
static int64_t cell_at(const diffusion_observer *o, const double *position) {
  int64_t cell = 0;
  for (int axis = o->grid.rank - 1; axis >= 0; axis--) {
    const int64_t n = o->grid.n[axis];
    /* member m is number m */
    const double at = grid_is_member_axis(&o->grid, axis) ? position[axis] - 1 : position[axis];
    int64_t i = (int64_t)floor(at * (double)n / o->grid.size[axis]);
    if (i >= n) i = n - 1; /* at the far wall */
    cell = cell * n + i;
  }
  return cell;
}

/* Values of the fields at the probes, then of the drawn fields. */
static void probe(const diffusion_observer *o, double t, double *values) {
  const diffusion_parameters *p = o->p;
  const int64_t n = o->grid.n[X];
  int drawn[DIFFUSION_DRAWN];
  const int count = diffusion_drawn(p, drawn);
  for (int f = 0; f < o->fields + count; f++)
    for (size_t i = 0; i < p->probes.rows; i++) {
      const int64_t cell = cell_at(o, p->probes.data + 3 * i);
      *values++ = f < o->fields ? o->real[f][cell] : drawn_row(o, drawn[f - o->fields], cell / n, t)[cell % n];
    }
}

/* Computes mean and variance over members of two numbers: each member's mean and variance over the grid. */
static void over_members(const diffusion_observer *o, int field, double *values) {
  const int64_t members = o->grid.n[o->grid.member_axis], cells = o->cells / members;
  double sums[DIFFUSION_OVER_MEMBERS] = {0}, first[2] = {0};
  for (int64_t m = 0; m < members; m++) {
    const double *u = o->real[field] + m * cells;
    double own[2] = {0};
    for (int64_t i = 0; i < cells; i++) own[0] += u[i];
    own[0] /= (double)cells;
    for (int64_t i = 0; i < cells; i++) own[1] += (u[i] - own[0]) * (u[i] - own[0]);
    own[1] /= (double)cells;
    for (int k = 0; k < 2; k++) { /* shifted by the first member's value, which is close */
      if (m == 0) first[k] = own[k];
      sums[2 * k] += own[k] - first[k];
      sums[2 * k + 1] += (own[k] - first[k]) * (own[k] - first[k]);
    }
  }
  for (int k = 0; k < 2; k++) {
    const double mean = sums[2 * k] / (double)members;
    values[2 * k] = first[k] + mean;
    values[2 * k + 1] = fmax(0, sums[2 * k + 1] / (double)members - mean * mean);
  }
}

sim_status diffusion_observer_row(diffusion_observer *o, diffusion_tables_kind table, const void *const *real_fields,
                                  double t, double *values) {
  const diffusion_parameters *p = o->p;
  double *const *fields;
  widen(o, real_fields);
  if (table == DIFFUSION_FUNCTIONS) {
    SIM_TRY(derive(o, real_fields, t));
    for (size_t i = 0; i < p->observe.count; i++) values[i] = over_grid(o, i, p->observe.items[i].reduce, t);
  } else if (table == DIFFUSION_SPECTRA) {
    for (int f = 0; f < o->fields; f++) {
      if (f % o->together == 0) transform(o, f);
      diffusion_power(o->spectral, f % o->together, o->coefficients[f % o->together], NULL, (int)p->spectrum,
                      values + f * p->spectrum);
    }
  } else if (table == DIFFUSION_TRANSFER || table == DIFFUSION_DISSIPATION) {
    double other[SIM_COLUMNS_MAX], *transfer = table == DIFFUSION_TRANSFER ? values : other;
    SIM_TRY(budget_fields(o, t, &fields));
    SIM_TRY(diffusion_budget_of(o->budget, fields, t, (int)p->transfer, transfer, transfer == values ? other : values));
  } else if (table >= DIFFUSION_VECTOR_BUDGETS) {
    const int which = (int)table - (int)DIFFUSION_VECTOR_BUDGETS;
    double other[3][SIM_COLUMNS_MAX], *out[3] = {other[0], other[1], other[2]};
    out[which % 3] = values;
    SIM_TRY(budget_fields(o, t, &fields));
    SIM_TRY(diffusion_vector_budget_of(o->budget, fields, t, (diffusion_quantity)(which / 3),
                                       (int)(which / 3 == DIFFUSION_ENSTROPHY ? p->enstrophy : p->helicity), out));
  } else if (table == DIFFUSION_STRUCTURE) {
    diffusion_structure_row(p, o->real, o->threads, o->partial, values);
  } else if (table == DIFFUSION_ENSEMBLE) {
    for (int f = 0; f < o->fields; f++) over_members(o, f, values + f * DIFFUSION_OVER_MEMBERS);
  } else {
    int drawn[DIFFUSION_DRAWN];
    if (diffusion_drawn(p, drawn) > 0) SIM_TRY(derive(o, real_fields, t));
    probe(o, t, values);
  }
  return SIM_OK;
}
