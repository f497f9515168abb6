/* Checks of the rates at the initial state. */
#include "kernels/diffusion/diffusion.h"

#include <math.h>
#include <stdlib.h>

enum { X, Y, Z };

/* Inputs of the work on rows. */
typedef struct start {
  const diffusion_parameters *p;
  grid_shape grid;
  grid_range rows; /* rows of real_fields */
  sim_isa isa;
  const void *const *real_fields;
  const sim_expr *expr;
  double *sums; /* [rows] */
} start;

enum { COORDINATES = 4, RATES_IN = DIFFUSION_INPUTS };

static sim_status rates_begin(const start *c, int results, grid_rows *r) {
  const int fields = (int)c->p->fields.count;
  bool uniform[RATES_IN] = {false};
  for (int i = 1; i < COORDINATES; i++) uniform[fields + i] = true;
  uniform[diffusion_member_input(fields)] = true;
  return grid_rows_begin(&c->grid, c->expr, uniform, c->isa, fields + results, r);
}

/* Returns the rates of one row at time 0: results[results] of nx numbers each, stored behind the fields. */
static const double *rates_row(const start *c, const grid_rows *r, int64_t row, int results) {
  const grid_shape *grid = &c->grid;
  const int fields = (int)c->p->fields.count;
  const int64_t n = grid->n[X];
  const double y = grid_centre(grid, Y, row % grid->n[Y]), zero = 0;
  const double z = grid_centre(grid, Z, row / grid->n[Y]), member = grid_member(grid, row);
  const void *in[RATES_IN] = {NULL};
  void *out[DIFFUSION_FIELDS];
  for (int f = 0; f < fields; f++) {
    double *u = r->buffers + f * n;
    for (int64_t x = 0; x < n; x++)
      u[x] = grid_number(c->real_fields[f], diffusion_single(c->p), (row - c->rows.first) * n + x);
    in[f] = u;
  }
  for (int i = 0; i < results; i++) out[i] = r->buffers + (fields + i) * n;
  in[fields] = r->x;
  in[fields + 1] = &y;
  in[fields + 2] = &z;
  in[fields + 3] = &zero;
  in[diffusion_member_input(fields)] = &member;
  sim_expr_program_run(r->program, (size_t)n, in, out, r->scratch);
  return out[0];
}

static sim_status check_row(const start *c, const grid_rows *r, int64_t row) {
  const grid_shape *grid = &c->grid;
  const int fields = (int)c->p->fields.count;
  const double *out = rates_row(c, r, row, fields);
  for (int64_t i = 0; i < fields * grid->n[X]; i++)
    if (!isfinite(out[i]))
      return sim_fail(SIM_ERR_SCENARIO, "rates: the rate of %s is %g at the start, at x = %.6g, y = %.6g, z = %.6g",
                      diffusion_field_of(c->p, (int)(i / grid->n[X]))->name, out[i], r->x[i % grid->n[X]],
                      grid_centre(grid, Y, row % grid->n[Y]), grid_centre(grid, Z, row / grid->n[Y]));
  return SIM_OK;
}

static sim_status check_rows(void *context, int64_t first, int64_t end) {
  const start *c = context;
  grid_rows r;
  SIM_TRY(rates_begin(c, (int)c->p->fields.count, &r));
  sim_status status = SIM_OK;
  for (int64_t row = first; status == SIM_OK && row < end; row++) status = check_row(c, &r, row);
  grid_rows_end(&r);
  return status;
}

static start start_of(const diffusion_parameters *p, const sim_setup *setup, const void *const *real_fields,
                      const sim_expr *expr) {
  start c = {.p = p, .grid = diffusion_grid_of(p), .isa = setup->isa, .real_fields = real_fields, .expr = expr};
  c.rows = diffusion_own_rows(&c.grid, diffusion_single(p), setup->comm);
  return c;
}

sim_status diffusion_check_rates(const diffusion_parameters *p, const sim_setup *setup,
                                 const void *const *real_fields) {
  start c = start_of(p, setup, real_fields, p->rates);
  if (diffusion_gradients_of(p).count > 0 || p->flux) return SIM_OK; /* derivatives are not computed yet */
  return grid_over_rows(&c.grid, c.rows, setup->threads, check_rows, &c);
}

static sim_status sum_rows(void *context, int64_t first, int64_t end) {
  const start *c = context;
  grid_rows r;
  SIM_TRY(rates_begin(c, 1, &r));
  for (int64_t row = first; row < end; row++) {
    const double *out = rates_row(c, &r, row, 1);
    c->sums[row] = 0;
    for (int64_t x = 0; x < c->grid.n[X]; x++) c->sums[row] += out[x];
  }
  grid_rows_end(&r);
  return SIM_OK;
}

/* Builds the trace of the Jacobian: the sum of each rate's derivative by its own field. */
static sim_status trace_graph(const diffusion_parameters *p, sim_expr **out) {
  sim_expr_builder *b;
  sim_expr_ref in[DIFFUSION_INPUTS], results[DIFFUSION_FIELDS], sum = 0;
  const int inputs = sim_expr_input_count(p->rates);
  *out = NULL;
  SIM_TRY(sim_expr_builder_create(&b));
  sim_status status = SIM_OK;
  for (int i = 0; status == SIM_OK && i < inputs; i++)
    status = sim_expr_builder_input(b, sim_expr_input_name(p->rates, i), &in[i]);
  for (int f = 0; status == SIM_OK && f < (int)p->fields.count; f++) {
    sim_expr *derivative;
    status = sim_expr_derivative(p->rates, f, &derivative);
    if (status != SIM_OK) break;
    status = sim_expr_builder_insert(b, derivative, in, results);
    sim_expr_free(&derivative);
    if (status == SIM_OK && f > 0)
      status = sim_expr_builder_call(b, SIM_EXPR_ADD, (sim_expr_ref[]){sum, results[f]}, &sum);
    else
      sum = results[f];
  }
  if (status == SIM_OK) status = sim_expr_builder_finish(b, &sum, (const char *const[]){"trace"}, 1, out);
  sim_expr_builder_free(&b);
  return status;
}

/* Checks the mean eigenvalue of the uniform mode, where no other term damps it. A refused step is surely unstable,
 * because some eigenvalue is at or below the mean. */
sim_status diffusion_check_step(const diffusion_parameters *p, const sim_setup *setup, const void *const *real_fields) {
  static const double limits[DIFFUSION_SCHEMES] = {[DIFFUSION_LIE] = 2,
                                                   [DIFFUSION_STRANG] = 4,
                                                   [DIFFUSION_ETD1] = 2,
                                                   [DIFFUSION_ETDRK2] = 2,
                                                   [DIFFUSION_ETDRK4] = 2.785};
  const grid_shape grid = diffusion_grid_of(p);
  const int fields = (int)p->fields.count;
  const double h = diffusion_dt(&p->integrate), limit = limits[p->integrate.scheme];
  for (int f = 0; f < fields; f++) {
    const diffusion_field *s = diffusion_field_of(p, f);
    const grid_shape own = diffusion_shape_of(p, f);
    for (int axis = 0; axis < grid.rank; axis++)
      if (own.boundary[axis] != GRID_PERIODIC && own.boundary[axis] != GRID_NO_FLUX) return SIM_OK;
    if (s->decay > 0 || s->linear || s->conserved) return SIM_OK;
  }
  if (diffusion_gradients_of(p).count > 0 || p->flux || diffusion_adaptive(p) || diffusion_implicit(p)) return SIM_OK;
  sim_expr *trace;
  if (trace_graph(p, &trace) != SIM_OK) return SIM_OK; /* the expression is too large */
  start c = start_of(p, setup, real_fields, trace);
  c.sums = calloc((size_t)(grid.n[Y] * grid.n[Z]), sizeof(double));
  sim_status status =
      c.sums ? grid_over_rows(&grid, c.rows, setup->threads, sum_rows, &c) : sim_no_memory("the initial values");
  if (status == SIM_OK) status = diffusion_gather_rows(&grid, diffusion_single(p), setup->comm, sizeof(double), c.sums);
  double sum = 0;
  for (int64_t row = 0; status == SIM_OK && row < grid.n[Y] * grid.n[Z]; row++) sum += c.sums[row];
  free(c.sums);
  sim_expr_free(&trace);
  if (status != SIM_OK) return status;
  const double rate = sum / (grid_cells_wanted(&grid) * fields);
  if (!(h * rate < -limit * (1 + 1e-6))) return SIM_OK;
  return sim_fail(
      SIM_ERR_SCENARIO,
      "integrate.dt: %.3g is too long for %s: the rates fall by %.3g for each unit of a field at the start, "
      "which is stable up to dt = %.3g",
      h, diffusion_methods[p->integrate.scheme].name, -rate, -limit / rate);
}

/* Returns the root mean square of a field at the start. */
static sim_status size_of(const diffusion_parameters *p, const sim_setup *setup, const void *values, double *out) {
  const grid_shape grid = diffusion_grid_of(p);
  const grid_range rows = diffusion_own_rows(&grid, diffusion_single(p), setup->comm), all = grid_all_rows(&grid);
  double *sums = calloc((size_t)all.end, sizeof(double)), sum = 0;
  if (!sums) return sim_no_memory("the initial values");
  for (int64_t row = rows.first; row < rows.end; row++)
    for (int64_t x = 0; x < grid.n[X]; x++) {
      const double u = grid_number(values, diffusion_single(p), (row - rows.first) * grid.n[X] + x);
      sums[row] += u * u;
    }
  const sim_status status = diffusion_gather_rows(&grid, diffusion_single(p), setup->comm, sizeof(double), sums);
  for (int64_t row = 0; row < all.end; row++) sum += sums[row];
  free(sums);
  *out = sqrt(sum / grid_cells_wanted(&grid));
  return status;
}

/* The changes of strang are differences of fields that have been transformed there and back: some 16 units in the last
 * place of their root mean square. */
sim_status diffusion_check_tolerance(const diffusion_parameters *p, const sim_setup *setup,
                                     const void *const *real_fields) {
  const bool single = diffusion_single(p);
  const double held = 16 * (single ? 0x1p-24 : 0x1p-53);
  const diffusion_integrate *i = &p->integrate;
  if (i->scheme != DIFFUSION_STRANG || !diffusion_estimates(p) || i->rtol >= held) return SIM_OK;
  for (int f = 0; f < (int)p->fields.count; f++) {
    double size = 0;
    if (diffusion_lift_of(p, f).axis >= 0) continue; /* its tolerance is of the field without the lift */
    SIM_TRY(size_of(p, setup, real_fields[f], &size));
    if (!(i->atol + i->rtol * size < held * size)) continue;
    return sim_fail(SIM_ERR_SCENARIO,
                    "integrate.rtol = %g, atol = %g: expected at least %.2g of %s, whose root mean square is %.3g at "
                    "the start: strang holds no less in %s precision; take rtol = %s",
                    i->rtol, i->atol, held, diffusion_field_of(p, f)->name, size, single ? "single" : "double",
                    single ? "1e-6, etdrk4 or double precision" : "1e-14 or more");
  }
  return SIM_OK;
}
