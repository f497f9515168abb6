/* The first state, and what is measured of a field. */
#include "kernels/diffusion/diffusion.h"

#include "engine/reduce.h"
#include "engine/rng.h"

#include <math.h>
#include <stdlib.h>

enum { X, Y, Z };

static double centre(const diffusion_grid *grid, int axis, int64_t i) {
  if (axis > 0 && axis == grid->apart) return 0;
  return ((double)i + 0.5) * grid->size[axis] / (double)grid->n[axis];
}

static double get(const void *values, bool single, int64_t i) {
  return single ? (double)((const float *)values)[i] : ((const double *)values)[i];
}

/* Rows of x, and a program over them in double. */
typedef struct rows {
  sim_expr_program *program;
  void *scratch;
  double *x, *buffers; /* [nx], [count][nx] */
} rows;

static void rows_end(rows *r) {
  sim_expr_program_free(&r->program);
  free(r->scratch);
  free(r->x);
  free(r->buffers);
}

static sim_status rows_begin(const sim_expr *expr, const bool *uniform, sim_isa isa, const diffusion_grid *grid,
                             int buffers, rows *r) {
  *r = (rows){0};
  SIM_TRY(sim_expr_program_create(expr, &(sim_expr_target){.isa = isa, .uniform = uniform}, &r->program));
  const size_t n = (size_t)grid->n[X], scratch = (sim_expr_program_scratch(r->program) + 64) / 64 * 64;
  r->scratch = aligned_alloc(64, scratch);
  r->x = calloc(n, sizeof(double));
  r->buffers = calloc(n * (size_t)buffers, sizeof(double));
  if (!r->scratch || !r->x || !r->buffers) {
    rows_end(r);
    return sim_no_memory("the initial values");
  }
  for (int64_t i = 0; i < grid->n[X]; i++) r->x[i] = centre(grid, X, i);
  return SIM_OK;
}

/* Work on rows [first, end) of the grid. */
typedef sim_status row_work(void *context, int64_t first, int64_t end);

/* In threads, where there are many cells. A failure is raised anew by the calling thread, the first one in the order of
 * rows. */
static sim_status over_rows(const diffusion_grid *grid, int threads, row_work *work, void *context) {
  enum { PARTS = 64 };
  const int64_t count = grid->n[Y] * grid->n[Z];
  bool failed[PARTS] = {false};
  (void)threads;
  if (count < PARTS || count * grid->n[X] < 1 << 16) return work(context, 0, count);
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (threads > 1)
  for (int part = 0; part < PARTS; part++)
    failed[part] = work(context, count * part / PARTS, count * (part + 1) / PARTS) != SIM_OK;
  for (int part = 0; part < PARTS; part++)
    if (failed[part]) SIM_TRY(work(context, count * part / PARTS, count * (part + 1) / PARTS));
  return SIM_OK;
}

/* What the work on rows is of; out or real_fields may be NULL. */
typedef struct start {
  const diffusion_parameters *p;
  diffusion_grid grid;
  sim_isa isa;
  int field;
  void *out;
  const void *const *real_fields;
  const sim_expr *expr;
  double *sums; /* of each row */
} start;

static sim_status initial_row(const start *c, rows *r, int64_t row) {
  const diffusion_species *s = diffusion_species_of(c->p, c->field);
  const diffusion_grid *grid = &c->grid;
  const int64_t n = grid->n[X], y = row % grid->n[Y], z = row / grid->n[Y];
  const bool single = diffusion_single(c->p), takes = diffusion_takes_file(s);
  const double at[2] = {grid->rank > 1 ? centre(grid, Y, y) : 0, grid->rank > 2 ? centre(grid, Z, z) : 0};
  const double member = diffusion_member(grid, row);
  double *of_file = s->initial ? r->buffers + n : NULL;
  for (int64_t x = 0; of_file && s->file.given && x < n; x++) of_file[x] = get(c->out, single, row * n + x);
  if (s->initial)
    sim_expr_program_run(r->program, (size_t)n, (const void *const[]){r->x, &at[0], &at[1], of_file, &member},
                         (void *const[]){r->buffers}, r->scratch);
  for (int64_t x = 0; x < n; x++) {
    const int64_t cell = row * n + x;
    double value = s->initial ? r->buffers[x] : 0;
    if (s->file.given && !takes) value += get(c->out, single, cell);
    if (s->noise > 0) {
      double normal[2];
      sim_rng_normal(c->p->common.seed, (uint64_t)cell, 0, (uint32_t)c->field, normal);
      value += s->noise * normal[0];
    }
    if (!isfinite(value) || (single && !isfinite((float)value)))
      return sim_fail(SIM_ERR_SCENARIO, "fields[%d].initial: %s is %g at x = %.6g, y = %.6g, z = %.6g", c->field + 1,
                      s->name, value, centre(grid, X, x), at[0], at[1]);
    if (single)
      ((float *)c->out)[cell] = (float)value;
    else
      ((double *)c->out)[cell] = value;
  }
  return SIM_OK;
}

static sim_status initial_rows(void *context, int64_t first, int64_t end) {
  static const bool uniform[] = {false, true, true, false, true};
  const start *c = context;
  const diffusion_species *s = diffusion_species_of(c->p, c->field);
  rows r = {0};
  if (s->initial) SIM_TRY(rows_begin(s->initial, uniform, c->isa, &c->grid, 2, &r));
  sim_status status = SIM_OK;
  for (int64_t row = first; status == SIM_OK && row < end; row++) status = initial_row(c, &r, row);
  rows_end(&r);
  return status;
}

sim_status diffusion_initial(const diffusion_parameters *p, sim_isa isa, int threads, void *const *real_fields) {
  start c = {.p = p, .grid = diffusion_grid_of(p), .isa = isa};
  for (c.field = 0; c.field < (int)p->fields.count; c.field++) {
    c.out = real_fields[c.field];
    SIM_TRY(over_rows(&c.grid, threads, initial_rows, &c));
  }
  return SIM_OK;
}

void diffusion_white_noise(const diffusion_parameters *p, int64_t step, int threads, void *const *real_fields) {
  const diffusion_grid grid = diffusion_grid_of(p);
  const int64_t cells = grid.n[X] * grid.n[Y] * grid.n[Z];
  const bool single = diffusion_single(p);
  (void)threads;
  for (int f = 0; f < (int)p->fields.count; f++) {
    const bool any = diffusion_species_of(p, f)->fluctuation > 0;
    void *values = real_fields[f];
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (int64_t i = 0; i < cells; i++) {
      double normal[2] = {0, 0};
      if (any) sim_rng_normal(p->common.seed, (uint64_t)i, (uint64_t)step + 1, (uint32_t)f, normal);
      if (single)
        ((float *)values)[i] = (float)normal[0];
      else
        ((double *)values)[i] = normal[0];
    }
  }
}

void diffusion_add_lift(const diffusion_parameters *p, int field, double sign, void *values, int threads) {
  const diffusion_grid grid = diffusion_grid_of(p);
  const diffusion_lift l = diffusion_lift_of(p, field);
  const bool single = diffusion_single(p);
  const int64_t cells = grid.n[X] * grid.n[Y] * grid.n[Z];
  (void)threads;
  if (l.axis < 0) return;
  const double cell = grid.size[l.axis] / (double)grid.n[l.axis];
  const int64_t under = l.axis == X ? 1 : l.axis == Y ? grid.n[X] : grid.n[X] * grid.n[Y];
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
  for (int64_t i = 0; i < cells; i++) {
    const double added = sign * (l.low + l.slope * cell * ((double)(i / under % grid.n[l.axis]) + 0.5));
    if (single)
      ((float *)values)[i] += (float)added;
    else
      ((double *)values)[i] += added;
  }
}

/* ---- rates of the first state ---- */

enum { PLACES = 4, RATES_IN = 4 * DIFFUSION_FIELDS + PLACES + 1 };

static sim_status rates_begin(const start *c, int results, rows *r) {
  const int fields = (int)c->p->fields.count;
  bool uniform[RATES_IN] = {false};
  for (int i = 1; i < PLACES; i++) uniform[fields + i] = true;
  uniform[diffusion_member_input(fields)] = true;
  return rows_begin(c->expr, uniform, c->isa, &c->grid, fields + results, r);
}

/* Of one row, at time 0: results[results] of nx numbers each, behind the fields. */
static const double *rates_row(const start *c, const rows *r, int64_t row, int results) {
  const diffusion_grid *grid = &c->grid;
  const int fields = (int)c->p->fields.count;
  const int64_t n = grid->n[X];
  const double y = grid->rank > 1 ? centre(grid, Y, row % grid->n[Y]) : 0, zero = 0;
  const double z = grid->rank > 2 ? centre(grid, Z, row / grid->n[Y]) : 0, member = diffusion_member(grid, row);
  const void *in[RATES_IN] = {NULL};
  void *out[DIFFUSION_FIELDS];
  for (int f = 0; f < fields; f++) {
    double *u = r->buffers + f * n;
    for (int64_t x = 0; x < n; x++) u[x] = get(c->real_fields[f], diffusion_single(c->p), row * n + x);
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

static sim_status check_row(const start *c, const rows *r, int64_t row) {
  const diffusion_grid *grid = &c->grid;
  const int fields = (int)c->p->fields.count;
  const double *out = rates_row(c, r, row, fields);
  for (int64_t i = 0; i < fields * grid->n[X]; i++)
    if (!isfinite(out[i]))
      return sim_fail(SIM_ERR_SCENARIO, "rates: the rate of %s is %g at the start, at x = %.6g, y = %.6g, z = %.6g",
                      diffusion_species_of(c->p, (int)(i / grid->n[X]))->name, out[i], r->x[i % grid->n[X]],
                      grid->rank > 1 ? centre(grid, Y, row % grid->n[Y]) : 0,
                      grid->rank > 2 ? centre(grid, Z, row / grid->n[Y]) : 0);
  return SIM_OK;
}

static sim_status check_rows(void *context, int64_t first, int64_t end) {
  const start *c = context;
  rows r;
  SIM_TRY(rates_begin(c, (int)c->p->fields.count, &r));
  sim_status status = SIM_OK;
  for (int64_t row = first; status == SIM_OK && row < end; row++) status = check_row(c, &r, row);
  rows_end(&r);
  return status;
}

sim_status diffusion_check_rates(const diffusion_parameters *p, sim_isa isa, int threads,
                                 const void *const *real_fields) {
  start c = {.p = p, .grid = diffusion_grid_of(p), .isa = isa, .real_fields = real_fields, .expr = p->rates};
  if (diffusion_gradients_of(p).count > 0) return SIM_OK; /* there are none yet */
  return over_rows(&c.grid, threads, check_rows, &c);
}

static sim_status sum_rows(void *context, int64_t first, int64_t end) {
  const start *c = context;
  rows r;
  SIM_TRY(rates_begin(c, 1, &r));
  for (int64_t row = first; row < end; row++) {
    const double *out = rates_row(c, &r, row, 1);
    c->sums[row] = 0;
    for (int64_t x = 0; x < c->grid.n[X]; x++) c->sums[row] += out[x];
  }
  rows_end(&r);
  return SIM_OK;
}

/* The sum of each rate's derivative by its own field: of the rates' inputs. */
static sim_status trace_graph(const diffusion_parameters *p, sim_expr **out) {
  sim_expr_builder *b;
  sim_expr_ref in[4 * DIFFUSION_FIELDS + 5], results[DIFFUSION_FIELDS], sum = 0;
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

/* The mean of the uniform mode alone is looked at, where nothing else damps it: what is refused grows for sure, since
 * some eigenvalue is at or below the mean of all. */
sim_status diffusion_check_step(const diffusion_parameters *p, sim_isa isa, int threads,
                                const void *const *real_fields) {
  static const double limits[DIFFUSION_SCHEMES] = {[DIFFUSION_LIE] = 2,
                                                   [DIFFUSION_STRANG] = 4,
                                                   [DIFFUSION_ETD1] = 2,
                                                   [DIFFUSION_ETDRK2] = 2,
                                                   [DIFFUSION_ETDRK4] = 2.785};
  const diffusion_grid grid = diffusion_grid_of(p);
  const int fields = (int)p->fields.count;
  const double h = diffusion_dt(&p->integrate), limit = limits[p->integrate.scheme];
  for (int axis = 0; axis < grid.rank; axis++)
    if (grid.kind[axis] == FFT_SINE) return SIM_OK;
  for (int f = 0; f < fields; f++) {
    const diffusion_species *s = diffusion_species_of(p, f);
    if (s->decay > 0 || s->linear || s->conserved) return SIM_OK;
  }
  if (diffusion_gradients_of(p).count > 0 || diffusion_adaptive(p)) return SIM_OK;
  sim_expr *trace;
  if (trace_graph(p, &trace) != SIM_OK) return SIM_OK; /* too large a graph */
  start c = {.p = p, .grid = grid, .isa = isa, .real_fields = real_fields, .expr = trace};
  c.sums = calloc((size_t)(grid.n[Y] * grid.n[Z]), sizeof(double));
  const sim_status status = c.sums ? over_rows(&grid, threads, sum_rows, &c) : sim_no_memory("the initial values");
  double sum = 0;
  for (int64_t row = 0; status == SIM_OK && row < grid.n[Y] * grid.n[Z]; row++) sum += c.sums[row];
  free(c.sums);
  sim_expr_free(&trace);
  if (status != SIM_OK) return status;
  const double rate = sum / ((double)grid.n[X] * (double)grid.n[Y] * (double)grid.n[Z] * fields);
  if (!(h * rate < -limit * (1 + 1e-6))) return SIM_OK;
  return sim_fail(
      SIM_ERR_SCENARIO,
      "integrate.dt: %.3g is too long for %s: the rates fall by %.3g for each unit of a field at the start, "
      "which is stable up to dt = %.3g",
      h, diffusion_methods[p->integrate.scheme].name, -rate, -limit / rate);
}

/* ---- measuring ---- */

/* Sums of a block, of values or of squares of their distances to `about`. */
static double block_sum(const void *values, bool single, int64_t count, bool squares, double about) {
  double lanes[SIM_REDUCE_LANES] = {0};
  for (int64_t i = 0; i < count; i++) {
    const double value = get(values, single, i) - about;
    lanes[i % SIM_REDUCE_LANES] += squares ? value * value : value;
  }
  return sim_reduce_tree(lanes, SIM_REDUCE_LANES);
}

static double total(const void *values, bool single, int64_t count, bool squares, double about, double *partial,
                    int threads) {
  const int64_t blocks = (int64_t)sim_reduce_blocks((size_t)count);
  const size_t size = single ? sizeof(float) : sizeof(double);
  (void)threads;
#pragma omp parallel for schedule(static) num_threads(threads) if (blocks > 8 && threads > 1)
  for (int64_t b = 0; b < blocks; b++) {
    const int64_t first = b * SIM_REDUCE_BLOCK, left = count - first;
    partial[b] = block_sum((const char *)values + (size_t)first * size, single,
                           left < SIM_REDUCE_BLOCK ? left : SIM_REDUCE_BLOCK, squares, about);
  }
  return sim_reduce_tree(partial, (size_t)blocks);
}

diffusion_statistics diffusion_measure(const void *values, bool single, int64_t count, double cell, double *partial,
                                       int threads) {
  diffusion_statistics s = {.least = INFINITY, .greatest = -INFINITY};
  const double sum = total(values, single, count, false, 0, partial, threads);
  s.mean = sum / (double)count;
  s.mass = sum * cell;
  s.variance = total(values, single, count, true, s.mean, partial, threads) / (double)count;
  for (int64_t i = 0; i < count; i++) {
    const double value = get(values, single, i);
    if (!(value >= s.least)) s.least = value; /* a NaN shows */
    if (!(value <= s.greatest)) s.greatest = value;
  }
  return s;
}
