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
    return sim_fail(SIM_ERR_NO_MEMORY, "out of memory");
  }
  for (int64_t i = 0; i < grid->n[X]; i++) r->x[i] = centre(grid, X, i);
  return SIM_OK;
}

static sim_status initial_field(const diffusion_parameters *p, const diffusion_grid *grid, int field, sim_isa isa,
                                void *out) {
  const diffusion_species *s = diffusion_species_of(p, field);
  const bool single = diffusion_single(p), uniform[] = {false, true, true, false, true},
             takes = diffusion_takes_file(s);
  rows r = {0};
  if (s->initial) SIM_TRY(rows_begin(s->initial, uniform, isa, grid, 2, &r));
  for (int64_t z = 0; z < grid->n[Z]; z++)
    for (int64_t y = 0; y < grid->n[Y]; y++) {
      const double at[2] = {grid->rank > 1 ? centre(grid, Y, y) : 0, grid->rank > 2 ? centre(grid, Z, z) : 0};
      const double member = diffusion_member(grid, z * grid->n[Y] + y);
      double *of_file = s->initial ? r.buffers + grid->n[X] : NULL;
      for (int64_t x = 0; of_file && s->file.given && x < grid->n[X]; x++)
        of_file[x] = get(out, single, (z * grid->n[Y] + y) * grid->n[X] + x);
      if (s->initial)
        sim_expr_program_run(r.program, (size_t)grid->n[X],
                             (const void *const[]){r.x, &at[0], &at[1], of_file, &member}, (void *const[]){r.buffers},
                             r.scratch);
      for (int64_t x = 0; x < grid->n[X]; x++) {
        const int64_t cell = (z * grid->n[Y] + y) * grid->n[X] + x;
        double value = s->initial ? r.buffers[x] : 0;
        if (s->file.given && !takes) value += get(out, single, cell);
        if (s->noise > 0) {
          double normal[2];
          sim_rng_normal(p->common.seed, (uint64_t)cell, 0, (uint32_t)field, normal);
          value += s->noise * normal[0];
        }
        if (!isfinite(value) || (single && !isfinite((float)value))) {
          rows_end(&r);
          return sim_fail(SIM_ERR_SCENARIO, "fields[%d].initial: %s is %g at x = %.6g, y = %.6g, z = %.6g", field + 1,
                          s->name, value, centre(grid, X, x), at[0], at[1]);
        }
        if (single)
          ((float *)out)[cell] = (float)value;
        else
          ((double *)out)[cell] = value;
      }
    }
  rows_end(&r);
  return SIM_OK;
}

sim_status diffusion_initial(const diffusion_parameters *p, sim_isa isa, void *const *real_fields) {
  const diffusion_grid grid = diffusion_grid_of(p);
  for (int f = 0; f < (int)p->fields.count; f++) SIM_TRY(initial_field(p, &grid, f, isa, real_fields[f]));
  return SIM_OK;
}

sim_status diffusion_check_rates(const diffusion_parameters *p, sim_isa isa, const void *const *real_fields) {
  enum { PLACES = 4 };
  const diffusion_grid grid = diffusion_grid_of(p);
  const int fields = (int)p->fields.count;
  const bool single = diffusion_single(p);
  bool uniform[4 * DIFFUSION_FIELDS + PLACES + 1] = {false};
  for (int i = 1; i < PLACES; i++) uniform[fields + i] = true;
  uniform[diffusion_member_input(fields)] = true;
  const double zero = 0;
  rows r;
  sim_status status = SIM_OK;
  if (diffusion_gradients_of(p).count > 0) return SIM_OK; /* there are none yet */
  SIM_TRY(rows_begin(p->rates, uniform, isa, &grid, 2 * fields, &r));
  for (int64_t row = 0; status == SIM_OK && row < grid.n[Z] * grid.n[Y]; row++) {
    const double y = grid.rank > 1 ? centre(&grid, Y, row % grid.n[Y]) : 0;
    const double z = grid.rank > 2 ? centre(&grid, Z, row / grid.n[Y]) : 0, member = diffusion_member(&grid, row);
    const void *in[4 * DIFFUSION_FIELDS + PLACES + 1] = {NULL};
    void *out[DIFFUSION_FIELDS];
    for (int f = 0; f < fields; f++) {
      double *u = r.buffers + f * grid.n[X];
      for (int64_t x = 0; x < grid.n[X]; x++) u[x] = get(real_fields[f], single, row * grid.n[X] + x);
      in[f] = u;
      out[f] = r.buffers + (fields + f) * grid.n[X];
    }
    in[fields] = r.x;
    in[fields + 1] = &y;
    in[fields + 2] = &z;
    in[fields + 3] = &zero;
    in[diffusion_member_input(fields)] = &member;
    sim_expr_program_run(r.program, (size_t)grid.n[X], in, out, r.scratch);
    for (int64_t i = 0; status == SIM_OK && i < fields * grid.n[X]; i++)
      if (!isfinite(((const double *)out[0])[i]))
        status = sim_fail(SIM_ERR_SCENARIO, "rates: the rate of %s is %g at the start, at x = %.6g, y = %.6g, z = %.6g",
                          diffusion_species_of(p, (int)(i / grid.n[X]))->name, ((const double *)out[0])[i],
                          r.x[i % grid.n[X]], y, z);
  }
  rows_end(&r);
  return status;
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
sim_status diffusion_check_step(const diffusion_parameters *p, sim_isa isa, const void *const *real_fields) {
  static const double limits[DIFFUSION_SCHEMES] = {[DIFFUSION_LIE] = 2,
                                                   [DIFFUSION_STRANG] = 4,
                                                   [DIFFUSION_ETD1] = 2,
                                                   [DIFFUSION_ETDRK2] = 2,
                                                   [DIFFUSION_ETDRK4] = 2.785};
  enum { PLACES = 4 };
  const diffusion_grid grid = diffusion_grid_of(p);
  const int fields = (int)p->fields.count;
  const double h = diffusion_dt(&p->integrate), limit = limits[p->integrate.scheme], zero = 0;
  bool uniform[4 * DIFFUSION_FIELDS + PLACES + 1] = {false};
  for (int i = 1; i < PLACES; i++) uniform[fields + i] = true;
  uniform[diffusion_member_input(fields)] = true;
  for (int axis = 0; axis < grid.rank; axis++)
    if (grid.kind[axis] == FFT_SINE) return SIM_OK;
  for (int f = 0; f < fields; f++) {
    const diffusion_species *s = diffusion_species_of(p, f);
    if (s->decay > 0 || s->linear || s->conserved) return SIM_OK;
  }
  if (diffusion_gradients_of(p).count > 0 || diffusion_adaptive(p)) return SIM_OK;
  sim_expr *trace;
  rows r;
  if (trace_graph(p, &trace) != SIM_OK) return SIM_OK; /* too large a graph */
  sim_status status = rows_begin(trace, uniform, isa, &grid, fields + 1, &r);
  sim_expr_free(&trace);
  if (status != SIM_OK) return status;
  double sum = 0;
  for (int64_t row = 0; row < grid.n[Z] * grid.n[Y]; row++) {
    const double y = grid.rank > 1 ? centre(&grid, Y, row % grid.n[Y]) : 0;
    const double z = grid.rank > 2 ? centre(&grid, Z, row / grid.n[Y]) : 0, member = diffusion_member(&grid, row);
    const void *in[4 * DIFFUSION_FIELDS + PLACES + 1] = {NULL};
    double *out = r.buffers + fields * grid.n[X];
    for (int f = 0; f < fields; f++) {
      double *u = r.buffers + f * grid.n[X];
      for (int64_t x = 0; x < grid.n[X]; x++) u[x] = get(real_fields[f], diffusion_single(p), row * grid.n[X] + x);
      in[f] = u;
    }
    in[fields] = r.x;
    in[fields + 1] = &y;
    in[fields + 2] = &z;
    in[fields + 3] = &zero;
    in[diffusion_member_input(fields)] = &member;
    sim_expr_program_run(r.program, (size_t)grid.n[X], in, (void *const[]){out}, r.scratch);
    for (int64_t x = 0; x < grid.n[X]; x++) sum += out[x];
  }
  rows_end(&r);
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
