/* The CPU's table of operations: two passes over memory for each stage.
 *
 * Between stages array [0] of every field is mixed (spectral.h). Split steps have no other array, and it is the
 * state; other schemes keep the coefficients along all axes in array [1], the state, from which array [0] is
 * restored. */
#include "kernels/diffusion/cpu/coupled.h"

#include "engine/reduce.h"
#include "kernels/diffusion/modes.cuh"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct diffusion_work {
  const diffusion_parameters *p;
  grid_shape grid;
  diffusion_spectral *spectral;
  diffusion_rates *rates;
  diffusion_method method;
  diffusion_arrays arrays;
  sim_buffer array[DIFFUSION_ARRAYS], gradients, table[DIFFUSION_TABLES], real;
  double *partial;
  diffusion_coupled *coupled; /* cross diffusion: matrices instead of tables; else NULL */
  sim_buffer column;          /* and the transformed columns */
  int slot;
  diffusion_norm *norm; /* adaptive steps: then there are tables in DIFFUSION_SLOTS slots, for steps of length[slot] */
  double length[DIFFUSION_SLOTS];
  int64_t cells;
  int threads, fields;
  bool single;
};

static void plan(const diffusion_parameters *p, const sim_setup *setup, sim_plan *out) {
  const grid_shape grid = diffusion_grid_of(p);
  const diffusion_method *method = diffusion_method_of(p);
  const double fields = (double)p->fields.count, number = diffusion_single(p) ? sizeof(float) : sizeof(double);
  const double array = fields * number * diffusion_field_numbers(&grid, diffusion_single(p));
  const double table = fields * number * diffusion_table_numbers(&grid, diffusion_single(p), diffusion_unfolded(p));
  const int gradients = diffusion_gradients_of(p).count;
  sim_plan_add(out, "transformed fields", array);
  sim_plan_add(out, "arrays of the scheme", array * (method->arrays + diffusion_fluctuates(p)));
  if (gradients > 0) sim_plan_add(out, "derivatives of fields", array / fields * gradients);
  const int slots = diffusion_adaptive(p) ? DIFFUSION_SLOTS : 1;
  if (diffusion_crossed(p)) {
    sim_plan_add(out, "matrices of the scheme", diffusion_coupled_bytes(p, slots));
    sim_plan_add(out, "columns", array);
  } else {
    sim_plan_add(out, "tables of the scheme", table * diffusion_table_count(p) * slots);
  }
  sim_plan_add(out, "transforms",
               diffusion_spectral_bytes(&grid, (int)p->fields.count, gradients, diffusion_single(p), setup->threads));
  sim_plan_add(out, "rates", diffusion_rates_bytes(p, setup->threads));
  out->checkpoint_bytes = array;
  out->work_rate_guess = p->rates ? 5e8 / (method->stages > 0 ? method->stages : 1) : 1e12;
}

static void destroy(diffusion_work **work) {
  diffusion_work *w = *work;
  if (!w) return;
  diffusion_spectral_destroy(&w->spectral);
  diffusion_rates_destroy(&w->rates);
  diffusion_norm_destroy(&w->norm);
  diffusion_coupled_destroy(&w->coupled);
  sim_buffer_destroy(&w->column);
  for (int a = 0; a < DIFFUSION_ARRAYS; a++) sim_buffer_destroy(&w->array[a]);
  for (int t = 0; t < DIFFUSION_TABLES; t++) sim_buffer_destroy(&w->table[t]);
  sim_buffer_destroy(&w->gradients);
  sim_buffer_destroy(&w->real);
  free(w->partial);
  free(w);
  *work = NULL;
}

static void *part(const sim_buffer *buffer, int field) {
  return (char *)buffer->data + (size_t)field * (size_t)buffer->shape[1] * sim_dtype_size(buffer->dtype);
}

static void each_field(const diffusion_work *w, const sim_buffer *buffer, void **out) {
  for (int f = 0; f < w->fields; f++) out[f] = part(buffer, f);
}

static sim_status create_array(const diffusion_work *w, const sim_setup *setup, int count, double numbers,
                               sim_buffer *out) {
  if (numbers * count > 0x1p60) return sim_fail(SIM_ERR_NO_MEMORY, "the grid is too large");
  return sim_buffer_create(setup->backend, w->single ? SIM_F32 : SIM_F64, 2, (int64_t[]){count, (int64_t)numbers}, out);
}

static sim_status create_arrays(diffusion_work *w, const sim_setup *setup) {
  const int gradients = diffusion_gradients_of(w->p).count;
  const bool unfolded = diffusion_unfolded(w->p);
  const int slots = diffusion_adaptive(w->p) ? DIFFUSION_SLOTS : 1;
  for (int a = 0; a <= w->method.arrays; a++)
    SIM_TRY(create_array(w, setup, w->fields, diffusion_field_numbers(&w->grid, w->single), &w->array[a]));
  if (diffusion_fluctuates(w->p))
    SIM_TRY(
        create_array(w, setup, w->fields, diffusion_field_numbers(&w->grid, w->single), &w->array[DIFFUSION_NOISE]));
  if (diffusion_crossed(w->p)) {
    SIM_TRY(diffusion_coupled_create(w->p, w->spectral, slots, &w->coupled));
    SIM_TRY(create_array(w, setup, w->fields, diffusion_field_numbers(&w->grid, w->single), &w->column));
  }
  for (int t = 0; t < w->method.tables && !w->coupled; t++)
    SIM_TRY(create_array(w, setup, w->fields * slots, diffusion_table_numbers(&w->grid, w->single, unfolded),
                         &w->table[t]));
  SIM_TRY(create_array(w, setup, w->fields, (double)w->cells, &w->real));
  if (gradients > 0) {
    SIM_TRY(create_array(w, setup, gradients, diffusion_field_numbers(&w->grid, w->single), &w->gradients));
    for (int g = 0; g < gradients; g++) w->arrays.gradient[g] = part(&w->gradients, g);
  }
  w->partial = calloc(sim_reduce_blocks((size_t)w->cells), sizeof(double));
  if (!w->partial) return sim_no_memory("the sums");
  w->arrays.complex = unfolded;
  for (int f = 0; f < w->fields; f++) {
    for (int a = 0; a < DIFFUSION_ARRAYS; a++)
      if (w->array[a].data) w->arrays.array[f][a] = part(&w->array[a], f);
    for (int t = 0; t < w->method.tables && !w->coupled; t++) w->arrays.table[f][t] = part(&w->table[t], f);
  }
  return SIM_OK;
}

static sim_status make_tables(diffusion_work *w, double dt) {
  if (w->coupled) return diffusion_coupled_fill(w->coupled, w->slot, dt);
  for (int f = 0; f < w->fields; f++) {
    diffusion_filling filling;
    SIM_TRY(diffusion_filling_begin(w->p, f, dt, diffusion_scale(&w->grid), &filling));
    diffusion_tables(w->spectral, w->method.tables, w->arrays.table[f], w->arrays.complex, diffusion_method_fill,
                     &filling);
    diffusion_filling_end(&filling);
  }
  return SIM_OK;
}

static sim_status create_rates(diffusion_work *w, const sim_setup *setup) {
  if (!w->p->rates) return SIM_OK;
  return diffusion_rates_create(w->p, diffusion_form_of(w->p->integrate.scheme), setup->isa, w->threads, &w->rates);
}

static sim_status create(const diffusion_parameters *p, const sim_setup *setup, diffusion_work **out) {
  diffusion_work *w = *out = calloc(1, sizeof *w);
  if (!w) return sim_no_memory("the model");
  w->p = p;
  w->grid = diffusion_grid_of(p);
  w->fields = (int)p->fields.count;
  w->single = diffusion_single(p);
  w->threads = setup->threads;
  w->cells = grid_cells(&w->grid);
  w->method = diffusion_method_with(p, diffusion_scale(&w->grid));
  const diffusion_gradients gradients = diffusion_gradients_of(p);
  sim_status status =
      diffusion_spectral_create(&w->grid, w->fields, &gradients, w->single, setup->isa, w->threads, &w->spectral);
  if (status == SIM_OK) status = create_arrays(w, setup);
  if (status == SIM_OK) status = create_rates(w, setup);
  if (status == SIM_OK && diffusion_adaptive(p)) status = diffusion_norm_create(w->spectral, &w->norm);
  if (status == SIM_OK && w->method.stages > 0 && !w->norm) status = make_tables(w, diffusion_dt(&p->integrate));
  if (status != SIM_OK) destroy(out);
  return status;
}

/* A stage with one term: array [target] = factor table array [source]. */
static void visit(diffusion_work *w, int forward, int inverse, int target, int source, int table, double factor) {
  diffusion_stage stage = {forward, inverse, 1, {{target, 1, {{factor, table, source}}}}};
  if (target != 0 && inverse) stage.set[stage.sets++] = (diffusion_set){0, 1, {{1, -1, target}}};
  diffusion_columns(w->spectral, &stage, &w->arrays);
}

/* The sums of a stage with matrices, between two passes that transform all columns. */
static void sum_coupled(diffusion_work *w, const diffusion_stage *stage) {
  static const diffusion_stage forward = {1, 0, 1, {{1, 1, {{1, -1, 0}}}}}, inverse = {0, 1, 1, {{0, 1, {{1, -1, 1}}}}};
  diffusion_arrays columns = w->arrays;
  void *arrays[DIFFUSION_FIELDS][DIFFUSION_ARRAYS];
  memcpy(arrays, w->arrays.array, sizeof arrays);
  for (int f = 0; f < w->fields; f++) {
    columns.array[f][1] = arrays[f][0] = part(&w->column, f);
    for (int a = 2; a < DIFFUSION_ARRAYS; a++) columns.array[f][a] = NULL;
  }
  if (stage->forward) diffusion_columns(w->spectral, &forward, &columns);
  diffusion_coupled_apply(w->coupled, w->slot, stage, arrays);
  if (stage->inverse) diffusion_columns(w->spectral, &inverse, &columns);
}

static int state_array(const diffusion_work *w) { return w->method.arrays > 0 ? 1 : 0; }

static const sim_buffer *real_fields(const diffusion_work *w) { return &w->real; }
static const sim_buffer *state(const diffusion_work *w) { return &w->array[state_array(w)]; }

/* Adds `sign` times their lifts to the real fields. */
static void lift(diffusion_work *w, double sign) {
  for (int f = 0; f < w->fields; f++) diffusion_add_lift(w->p, f, sign, part(&w->real, f), w->threads);
}

static sim_status load(diffusion_work *w) {
  void *mixed[DIFFUSION_FIELDS], *fields[DIFFUSION_FIELDS];
  each_field(w, &w->array[0], mixed);
  each_field(w, &w->real, fields);
  lift(w, -1);
  diffusion_planes_load(w->spectral, (const void *const *)fields, mixed);
  visit(w, 1, w->method.stages > 0, state_array(w), 0, -1, diffusion_scale(&w->grid));
  return SIM_OK;
}

static sim_status resume(diffusion_work *w) {
  if (state_array(w) && w->method.stages > 0) visit(w, 0, 1, 0, 1, -1, 1);
  return SIM_OK;
}

/* Array [DIFFUSION_NOISE]: the transformed normal numbers of a step. Overwrites the real fields. */
static void make_noise(diffusion_work *w, int64_t step) {
  const diffusion_stage forward = {1, 0, 1, {{DIFFUSION_NOISE, 1, {{1, -1, 0}}}}};
  diffusion_arrays arrays = {.complex = w->arrays.complex};
  void *noise[DIFFUSION_FIELDS], *fields[DIFFUSION_FIELDS];
  each_field(w, &w->array[DIFFUSION_NOISE], noise);
  each_field(w, &w->real, fields);
  diffusion_white_noise(w->p, step, w->threads, fields);
  diffusion_planes_load(w->spectral, (const void *const *)fields, noise);
  for (int f = 0; f < w->fields; f++) arrays.array[f][0] = arrays.array[f][DIFFUSION_NOISE] = noise[f];
  diffusion_columns(w->spectral, &forward, &arrays);
}

static sim_status stage(diffusion_work *w, int index, const diffusion_step_context *context) {
  void *mixed[4 * DIFFUSION_FIELDS];
  each_field(w, &w->array[0], mixed);
  memcpy(mixed + w->fields, w->arrays.gradient, sizeof w->arrays.gradient);
  if (index == w->method.stages - 1 && w->array[DIFFUSION_NOISE].data && !w->norm) make_noise(w, context->step);
  diffusion_rates_set(w->rates, context);
  if (w->method.stage[index].forward) diffusion_planes(w->spectral, mixed, diffusion_rates_apply, w->rates);
  if (w->coupled)
    sum_coupled(w, &w->method.stage[index]);
  else
    diffusion_columns(w->spectral, &w->method.stage[index], &w->arrays);
  return SIM_OK;
}

static sim_status jump(diffusion_work *w, double t) {
  SIM_TRY(make_tables(w, t));
  if (w->coupled)
    sum_coupled(w, &(diffusion_stage){0, 1, 1, {{0, 1, {{1, 0, 1}}}}});
  else
    visit(w, 0, 1, 0, 1, 0, 1);
  return SIM_OK;
}

static sim_status show(diffusion_work *w, const diffusion_step_context *half) {
  void *mixed[DIFFUSION_FIELDS], *fields[DIFFUSION_FIELDS];
  each_field(w, &w->array[0], mixed);
  each_field(w, &w->real, fields);
  if (half) diffusion_rates_set(w->rates, half);
  diffusion_planes_store(w->spectral, (const void *const *)mixed, fields, half ? diffusion_rates_apply : NULL,
                         w->rates);
  lift(w, 1);
  return SIM_OK;
}

static sim_status measure(diffusion_work *w, int field, double cell, diffusion_statistics *out) {
  *out = diffusion_measure(part(&w->real, field), w->single, w->cells, cell, w->partial, w->threads);
  return SIM_OK;
}

static sim_status lines(diffusion_work *w, int field, int axis, int64_t count, void *out) {
  const long long n[3] = {w->grid.n[0], w->grid.n[1], w->grid.n[2]};
  const size_t size = w->single ? sizeof(float) : sizeof(double);
  const char *values = part(&w->real, field);
  const int64_t step = diffusion_line_stride(n, axis);
  char *to = out;
  for (int64_t j = 0; j < count; j++) {
    const int64_t begin = diffusion_line_begin(n, axis, count, j);
    for (int64_t i = 0; i < n[axis]; i++, to += size) memcpy(to, values + (size_t)(begin + i * step) * size, size);
  }
  return SIM_OK;
}

static sim_status use(diffusion_work *w, double h, int slot) {
  w->slot = slot;
  for (int f = 0; f < w->fields; f++)
    for (int t = 0; t < w->method.tables && !w->coupled; t++)
      w->arrays.table[f][t] = part(&w->table[t], slot * w->fields + f);
  if (w->length[slot] == h) return SIM_OK;
  w->length[slot] = h;
  return make_tables(w, h);
}

static sim_status error(diffusion_work *w, double *errors, double *sizes) {
  for (int f = 0; f < w->fields; f++) {
    errors[f] = diffusion_norm_of(w->norm, w->arrays.array[f][DIFFUSION_ERROR]);
    const double between = diffusion_norm_of(w->norm, w->arrays.array[f][DIFFUSION_BETWEEN]);
    if (!(between <= errors[f]) && !isnan(errors[f])) errors[f] = between;
    sizes[f] = diffusion_norm_of(w->norm, w->arrays.array[f][DIFFUSION_NEXT]);
  }
  return SIM_OK;
}

static sim_status broken(diffusion_work *w, int *field) {
  *field = -1;
  for (int f = w->fields - 1; f >= 0; f--)
    if (!diffusion_finite(w->spectral, w->arrays.array[f][state_array(w)])) *field = f;
  return SIM_OK;
}

static void accept(diffusion_work *w) {
  const sim_buffer old = w->array[1];
  w->array[1] = w->array[DIFFUSION_NEXT];
  w->array[DIFFUSION_NEXT] = old;
  for (int f = 0; f < w->fields; f++) {
    w->arrays.array[f][1] = part(&w->array[1], f);
    w->arrays.array[f][DIFFUSION_NEXT] = part(&w->array[DIFFUSION_NEXT], f);
  }
}

static const char *name(const diffusion_work *w) {
  (void)w;
  return "two passes";
}

const diffusion_ops diffusion_ops_cpu = {.plan = plan,
                                         .create = create,
                                         .destroy = destroy,
                                         .real = real_fields,
                                         .state = state,
                                         .load = load,
                                         .resume = resume,
                                         .stage = stage,
                                         .jump = jump,
                                         .show = show,
                                         .measure = measure,
                                         .lines = lines,
                                         .name = name,
                                         .broken = broken,
                                         .use = use,
                                         .error = error,
                                         .accept = accept};
