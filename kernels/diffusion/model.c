/* The model: memory, steps, outputs.
 *
 * Between two steps array [0] of every field is mixed (spectral.h). Split steps keep it alone, and it is the state; the
 * others keep the coefficients of all axes in array [1], from which array [0] is made again. A Strang step is
 * R(h/2) exp(L h) R(h/2), with two neighbouring R in one pass: the state is that before the second one, which outputs
 * add. */
#include "kernels/diffusion/diffusion.h"

#include "engine/log.h"
#include "engine/reduce.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct diffusion_run {
  const diffusion_parameters *p;
  diffusion_grid grid;
  diffusion_spectral *spectral;
  diffusion_rates *rates;
  diffusion_method method;
  diffusion_arrays arrays;
  sim_buffer array[DIFFUSION_ARRAYS], table[DIFFUSION_TABLES], real;
  sim_mesh mesh;
  double *partial;
  int64_t cells, shown; /* step whose fields `real` holds; -1: none */
  double table_time;    /* of DIFFUSION_EXACT: what its table is for */
  int threads, fields;
  bool single;
} diffusion_run;

static const sim_field state_fields[] = {
    {.name = "spectrum", .type = SIM_REAL, .doc = "coefficients of the fields, as the scheme keeps them"},
    {.name = NULL},
};

static const sim_table *const no_tables[] = {NULL};

static double number_bytes(const diffusion_parameters *p) { return diffusion_single(p) ? 4 : 8; }

static sim_status plan(const void *parameters, const sim_setup *setup, sim_plan *out) {
  const diffusion_parameters *p = parameters;
  const diffusion_grid grid = diffusion_grid_of(p);
  const diffusion_method *method = &diffusion_methods[p->integrate.scheme];
  const double fields = (double)p->fields.count, number = number_bytes(p);
  const double cells = (double)grid.n[0] * (double)grid.n[1] * (double)grid.n[2];
  const double array = fields * number * diffusion_field_numbers(&grid, diffusion_single(p));
  const double table = fields * number * diffusion_table_numbers(&grid, diffusion_single(p), diffusion_drifts(p));
  sim_plan_add(out, "transformed fields", array);
  sim_plan_add(out, "arrays of the scheme", array * method->arrays);
  sim_plan_add(out, "tables of the scheme", table * method->tables);
  sim_plan_add(out, "fields for outputs", fields * number * cells);
  sim_plan_add(out, "transforms",
               diffusion_spectral_bytes(&grid, (int)p->fields.count, diffusion_single(p), setup->threads));
  sim_plan_add(out, "rates", diffusion_rates_bytes(p, setup->threads));
  out->snapshot_bytes = out->staged_bytes = fields * number * cells;
  out->checkpoint_bytes = array;
  out->work_per_step = cells * fields;
  out->work_rate_guess = p->rates ? 5e8 / (method->stages > 0 ? method->stages : 1) : 1e12;
  out->steps = (double)diffusion_steps(&p->integrate);
  return SIM_OK;
}

static void destroy(void **self) {
  diffusion_run *run = *self;
  if (!run) return;
  diffusion_spectral_destroy(&run->spectral);
  diffusion_rates_destroy(&run->rates);
  for (int a = 0; a < DIFFUSION_ARRAYS; a++) sim_buffer_destroy(&run->array[a]);
  for (int t = 0; t < DIFFUSION_TABLES; t++) sim_buffer_destroy(&run->table[t]);
  sim_buffer_destroy(&run->real);
  free(run->partial);
  free(run);
  *self = NULL;
}

static void *part(const sim_buffer *buffer, int field) {
  return (char *)buffer->data + (size_t)field * (size_t)buffer->shape[1] * sim_dtype_size(buffer->dtype);
}

static sim_status take(diffusion_run *run, const sim_setup *setup, double numbers, sim_buffer *out) {
  if (numbers * run->fields > 0x1p60) return sim_fail(SIM_ERR_NO_MEMORY, "the grid is too large");
  return sim_buffer_create(setup->backend, run->single ? SIM_F32 : SIM_F64, 2,
                           (int64_t[]){run->fields, (int64_t)numbers}, out);
}

static sim_status create_arrays(diffusion_run *run, const sim_setup *setup) {
  const bool drifts = diffusion_drifts(run->p);
  const int kept = diffusion_methods[run->p->integrate.scheme].arrays;
  for (int a = 0; a <= kept; a++)
    SIM_TRY(take(run, setup, diffusion_field_numbers(&run->grid, run->single), &run->array[a]));
  for (int t = 0; t < run->method.tables; t++)
    SIM_TRY(take(run, setup, diffusion_table_numbers(&run->grid, run->single, drifts), &run->table[t]));
  SIM_TRY(take(run, setup, (double)run->cells, &run->real));
  run->partial = calloc(sim_reduce_blocks((size_t)run->cells), sizeof(double));
  if (!run->partial) return sim_fail(SIM_ERR_NO_MEMORY, "out of memory");
  run->arrays.complex = drifts;
  for (int f = 0; f < run->fields; f++) {
    for (int a = 0; a <= kept; a++) run->arrays.array[f][a] = part(&run->array[a], f);
    for (int t = 0; t < run->method.tables; t++) run->arrays.table[f][t] = part(&run->table[t], f);
  }
  return SIM_OK;
}

static void make_tables(diffusion_run *run, double dt) {
  for (int f = 0; f < run->fields; f++) diffusion_method_tables(run->spectral, run->p, f, dt, run->arrays.table[f]);
}

static void each_field(const diffusion_run *run, const sim_buffer *buffer, void **out) {
  for (int f = 0; f < run->fields; f++) out[f] = part(buffer, f);
}

/* Terms that only copy, with one factor. */
static void visit(diffusion_run *run, int forward, int inverse, int target, int source, int table, double factor) {
  diffusion_stage stage = {forward, inverse, 1, {{target, 1, {{factor, table, source}}}}};
  if (target != 0 && inverse) stage.set[stage.sets++] = (diffusion_set){0, 1, {{1, -1, target}}};
  diffusion_columns(run->spectral, &stage, &run->arrays);
}

static int state_array(const diffusion_run *run) { return run->method.arrays > 0 ? 1 : 0; }

static sim_status begin(diffusion_run *run, const sim_setup *setup) {
  void *mixed[DIFFUSION_FIELDS], *real_fields[DIFFUSION_FIELDS];
  each_field(run, &run->array[0], mixed);
  each_field(run, &run->real, real_fields);
  SIM_TRY(diffusion_initial(run->p, setup->isa, real_fields));
  if (run->p->rates) SIM_TRY(diffusion_check_rates(run->p, setup->isa, (const void *const *)real_fields));
  diffusion_planes_load(run->spectral, (const void *const *)real_fields, mixed);
  visit(run, 1, run->p->integrate.scheme != DIFFUSION_EXACT, state_array(run), 0, -1, diffusion_scale(&run->grid));
  return SIM_OK;
}

static sim_status restore(diffusion_run *run, const sim_frame *saved) {
  const sim_buffer *buffer = &run->array[state_array(run)];
  const sim_array *array = sim_frame_array(saved, state_fields[0].name);
  if (!array || array->dtype != buffer->dtype || sim_array_bytes(array) != sim_buffer_bytes(buffer))
    return sim_fail(SIM_ERR_INCOMPATIBLE, "no %s of this run in the checkpoint", state_fields[0].name);
  memcpy(buffer->data, array->data, sim_array_bytes(array));
  if (state_array(run) && run->p->integrate.scheme != DIFFUSION_EXACT) visit(run, 0, 1, 0, 1, -1, 1);
  return SIM_OK;
}

static sim_status create_rates(diffusion_run *run, const sim_setup *setup) {
  static const diffusion_form forms[DIFFUSION_SCHEMES] = {
      [DIFFUSION_LIE] = DIFFUSION_EULER, [DIFFUSION_STRANG] = DIFFUSION_MIDPOINT};
  if (!run->p->rates) return SIM_OK;
  return diffusion_rates_create(run->p, forms[run->p->integrate.scheme], setup->isa, run->threads, &run->rates);
}

static sim_status create(const void *parameters, const sim_setup *setup, sim_clock *clock, void **self) {
  const diffusion_parameters *p = parameters;
  diffusion_run *run = calloc(1, sizeof *run);
  *self = run;
  if (!run) return sim_fail(SIM_ERR_NO_MEMORY, "out of memory");
  run->p = p;
  run->grid = diffusion_grid_of(p);
  run->fields = (int)p->fields.count;
  run->single = diffusion_single(p);
  run->threads = setup->threads;
  run->cells = run->grid.n[0] * run->grid.n[1] * run->grid.n[2];
  run->shown = -1;
  run->table_time = NAN;
  run->method = diffusion_method_for(p->integrate.scheme, diffusion_scale(&run->grid));
  for (int axis = 0; axis < run->grid.rank; axis++) {
    const int a = run->grid.rank - 1 - axis; /* slowest first */
    run->mesh.spacing[a] = run->grid.size[axis] / (double)run->grid.n[axis];
    run->mesh.position[a] = 0.5;
    if (!fft_smooth(run->grid.n[axis]))
      sim_log(SIM_LOG_WARN, "grid.n: %lld has a prime factor above 13, which makes transforms several times slower",
              (long long)run->grid.n[axis]);
  }
  clock->t_end = p->integrate.t_end;
  sim_status status =
      diffusion_spectral_create(&run->grid, run->fields, run->single, setup->isa, run->threads, &run->spectral);
  if (status == SIM_OK) status = create_arrays(run, setup);
  if (status == SIM_OK) status = create_rates(run, setup);
  if (status == SIM_OK) status = setup->saved ? restore(run, setup->saved) : begin(run, setup);
  if (status == SIM_OK && !setup->saved) clock->dt = diffusion_dt(&p->integrate);
  if (status == SIM_OK && p->rates) make_tables(run, diffusion_dt(&p->integrate));
  if (status != SIM_OK) destroy(self);
  return status;
}

static sim_status step(void *self, sim_clock *clock) {
  diffusion_run *run = self;
  const diffusion_integrate *i = &run->p->integrate;
  const double h = diffusion_dt(i);
  const int64_t steps = diffusion_steps(i);
  void *mixed[DIFFUSION_FIELDS];
  each_field(run, &run->array[0], mixed);
  for (int s = 0; s < run->method.stages; s++) {
    if (i->scheme != DIFFUSION_STRANG)
      diffusion_rates_set(run->rates, clock->t + run->method.at[s] * h, h, 1);
    else if (clock->step == 0)
      diffusion_rates_set(run->rates, 0, h / 2, 1);
    else
      diffusion_rates_set(run->rates, clock->t - h / 2, h / 2, 2);
    diffusion_planes(run->spectral, mixed, diffusion_rates_apply, run->rates);
    diffusion_columns(run->spectral, &run->method.stage[s], &run->arrays);
  }
  clock->step++;
  clock->t = clock->step >= steps ? i->t_end : (double)clock->step * h;
  clock->dt = h;
  return SIM_OK;
}

/* Makes run->real hold the fields of this step. */
static void show(diffusion_run *run, const sim_clock *clock) {
  void *mixed[DIFFUSION_FIELDS], *real_fields[DIFFUSION_FIELDS];
  if (run->shown == clock->step) return;
  each_field(run, &run->array[0], mixed);
  each_field(run, &run->real, real_fields);
  const bool half = run->p->integrate.scheme == DIFFUSION_STRANG && clock->step > 0;
  if (run->p->integrate.scheme == DIFFUSION_EXACT) {
    if (run->table_time != clock->t) make_tables(run, clock->t);
    run->table_time = clock->t;
    visit(run, 0, 1, 0, 1, 0, 1);
  }
  if (half) diffusion_rates_set(run->rates, clock->t - clock->dt / 2, clock->dt / 2, 1);
  diffusion_planes_store(run->spectral, (const void *const *)mixed, real_fields, half ? diffusion_rates_apply : NULL,
                         run->rates);
  run->shown = clock->step;
}

static sim_status observe(void *self, const sim_clock *clock, int table, double *values) {
  diffusion_run *run = self;
  double cell = 1;
  (void)table;
  for (int axis = 0; axis < run->grid.rank; axis++) cell *= run->grid.size[axis] / (double)run->grid.n[axis];
  show(run, clock);
  for (int f = 0; f < run->fields; f++, values += DIFFUSION_STATISTICS) {
    const diffusion_statistics s =
        diffusion_measure(part(&run->real, f), run->single, run->cells, cell, run->partial, run->threads);
    values[0] = s.mean;
    values[1] = s.variance;
    values[2] = s.least;
    values[3] = s.greatest;
    values[4] = s.mass;
  }
  return SIM_OK;
}

static sim_status view(void *self, sim_array *arrays, sim_species *species, sim_frame *frame) {
  diffusion_run *run = self;
  const sim_buffer *state = &run->array[state_array(run)];
  (void)species;
  show(run, &frame->clock);
  arrays[0] = (sim_array){.field = &state_fields[0],
                          .dtype = state->dtype,
                          .rank = 2,
                          .shape = {state->shape[0], state->shape[1]},
                          .global = {state->shape[0], state->shape[1]},
                          .data = state->data,
                          .space = state->space};
  for (int f = 0; f < run->fields; f++) {
    sim_array *array = &arrays[1 + f];
    *array = (sim_array){.field = &run->p->state[f],
                         .dtype = run->real.dtype,
                         .rank = run->grid.rank,
                         .data = part(&run->real, f),
                         .space = run->real.space,
                         .mesh = &run->mesh};
    for (int axis = 0; axis < run->grid.rank; axis++)
      array->shape[axis] = array->global[axis] = run->grid.n[run->grid.rank - 1 - axis];
  }
  frame->array_count = (size_t)run->fields + 1;
  frame->species_count = 0;
  return SIM_OK;
}

static void describe(const void *self, char *out, size_t capacity) {
  const diffusion_run *run = self;
  int used = snprintf(out, capacity, "%d field%s on ", run->fields, run->fields > 1 ? "s" : "");
  for (int axis = 0; axis < run->grid.rank && used > 0 && (size_t)used < capacity; axis++)
    used += snprintf(out + used, capacity - (size_t)used, "%s%lld", axis ? " x " : "", (long long)run->grid.n[axis]);
  if (used > 0 && (size_t)used < capacity)
    (void)snprintf(out + used, capacity - (size_t)used, " cells, scheme %s", run->method.name);
}

static const char *const references[] = {
    "Cox and Matthews, J. Comput. Phys. 176 (2002) 430: exponential time differencing",
    "Kassam and Trefethen, SIAM J. Sci. Comput. 26 (2005) 1214: its coefficients by contour integrals",
    "Makhoul, IEEE Trans. ASSP 28 (1980) 27: cosine transforms",
    NULL,
};

const sim_model diffusion_model = {
    .name = "diffusion",
    .doc = "diffusion and reaction of fields on a grid",
    .example =
        "-- Spots that divide (Gray and Scott).\n"
        "local F, k = 0.0367, 0.0649\n"
        "return sim.diffusion {\n"
        "  grid      = { n = {128, 128}, size = {1.25, 1.25} },\n"
        "  fields    = {\n"
        "    { name = \"u\", D = 2e-5, initial = function(x, y) return 1 - 0.5 * sim.box(x, y, 0.5, 0.75) end },\n"
        "    { name = \"v\", D = 1e-5, initial = function(x, y) return 0.25 * sim.box(x, y, 0.5, 0.75) end },\n"
        "  },\n"
        "  rates     = function(u, v) return -u*v^2 + F*(1 - u), u*v^2 - (F + k)*v end,\n"
        "  integrate = { scheme = \"etdrk2\", dt = 1, t_end = 500 },\n"
        "}\n",
    .references = references,
    .parameters = &diffusion_schema,
    .tables = no_tables,
    .tables_of = diffusion_tables_of,
    .state = state_fields,
    .work_unit = "cells",
    .ops = {[SIM_BACKEND_CPU] = &diffusion_methods},
    .validate = diffusion_validate,
    .plan = plan,
    .create = create,
    .step = step,
    .observe = observe,
    .view = view,
    .describe = describe,
    .destroy = destroy,
};
