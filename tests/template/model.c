/* The template of a model: points that decay to the origin, dx/dt = -rate x, with the exact solution x(t) = x(0)
 * exp(-rate t). It is small and complete: it has everything that a model's folder needs. */
#include "engine/model.h"
#include "engine/rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- parameters: one line each in a field table ---- */

typedef struct template_integrate {
  double dt, t_end;
} template_integrate;

typedef struct template_parameters {
  sim_common common;
  int64_t n;
  double rate;
  sim_expr *mass;
  template_integrate integrate;
} template_parameters;

static const sim_field integrate_fields[] = {
    {.name = "dt",
     .type = SIM_REAL,
     .doc = "time step",
     .offset = offsetof(template_integrate, dt),
     .flags = SIM_REQUIRED | SIM_RANGE | SIM_MIN_OPEN,
     .min = 0,
     .max = INFINITY,
     .dimension = {0, 0, 1}},
    {.name = "t_end",
     .type = SIM_REAL,
     .doc = "time at which the run is over",
     .offset = offsetof(template_integrate, t_end),
     .flags = SIM_REQUIRED | SIM_RANGE | SIM_MIN_OPEN,
     .min = 0,
     .max = INFINITY,
     .dimension = {0, 0, 1}},
    {.name = NULL},
};

static const sim_schema integrate_schema = {
    .doc = "time stepping", .fields = integrate_fields, .size = sizeof(template_integrate)};

/* A function of the scenario: from each point's first position to its mass. */
enum { INPUT_X, INPUT_Y, INPUT_Z, INPUT_COUNT };
static const sim_signature mass_signature = {.inputs = (const char *const[]){"x", "y", "z", NULL}, .outputs = {1}};

static const sim_field parameter_fields[] = {
    {.name = "n",
     .type = SIM_INT,
     .doc = "points",
     .offset = offsetof(template_parameters, n),
     .flags = SIM_REQUIRED | SIM_RANGE,
     .min = 1,
     .max = 1e9},
    {.name = "rate",
     .type = SIM_REAL,
     .doc = "rate of decay",
     .offset = offsetof(template_parameters, rate),
     .flags = SIM_RANGE,
     .min = 0,
     .max = INFINITY,
     .initial = "1",
     .dimension = {0, 0, -1}},
    {.name = "mass",
     .type = SIM_FUNCTION,
     .doc = "mass of a point that begins at (x, y, z)",
     .offset = offsetof(template_parameters, mass),
     .flags = SIM_OR_NUMBER,
     .initial = "1",
     .signature = &mass_signature,
     .dimension = {0, 1, 0}},
    {.name = "integrate",
     .type = SIM_STRUCT,
     .doc = "time stepping",
     .offset = offsetof(template_parameters, integrate),
     .flags = SIM_REQUIRED,
     .table = &integrate_schema},
    {.name = NULL},
};

static const sim_schema parameter_schema = {
    SIM_SCHEMA(template_parameters, "template", "points that decay to the origin", parameter_fields),
    .base = &sim_common_schema};

/* ---- state and observables ---- */

enum { STATE_POSITION, STATE_MASS, STATE_COUNT };
static const sim_field state_fields[] = {
    [STATE_POSITION] = {.name = "position",
                        .type = SIM_REAL,
                        .doc = "position",
                        .components = 3,
                        .flags = SIM_IN_SNAPSHOT,
                        .dimension = {1, 0, 0}},
    [STATE_MASS] = {.name = "mass", .type = SIM_REAL, .doc = "mass", .flags = SIM_IN_SNAPSHOT, .dimension = {0, 1, 0}},
    [STATE_COUNT] = {.name = NULL},
};

enum { SIZE_FIRST, SIZE_ERROR };
static const sim_field size_columns[] = {
    [SIZE_FIRST] = {.name = "first", .type = SIM_REAL, .doc = "x of the first point", .dimension = {1, 0, 0}},
    [SIZE_ERROR] = {.name = "error",
                    .type = SIM_REAL,
                    .doc = "relative error of it",
                    .flags = SIM_HEALTH,
                    .display = SIM_DISPLAY_ERROR},
    {.name = NULL},
};
static const sim_table size_table = {.name = "size", .doc = "how far the first point is", .columns = size_columns};

/* ---- what a backend does for it ---- */

typedef struct template_ops {
  void (*scale)(double *x, int64_t count, double factor); /* x[count], in the backend's memory */
} template_ops;

static void scale_cpu(double *x, int64_t count, double factor) {
  for (int64_t i = 0; i < count; i++) x[i] *= factor;
}
static const template_ops ops_cpu = {.scale = scale_cpu};
static const template_ops *const ops[SIM_BACKEND_KINDS] = {[SIM_BACKEND_CPU] = &ops_cpu};

/* ---- the run ---- */

typedef struct template_state {
  const template_parameters *parameters;
  const template_ops *ops;
  sim_buffer position, mass; /* [3][n], [n] */
} template_state;

static double start_x(const template_parameters *parameters, int64_t point, int axis) {
  double u[2];
  sim_rng_uniform(parameters->common.seed, (uint64_t)point, 0, (uint32_t)axis, u);
  return u[0];
}

static sim_status plan(const void *parameters, const sim_setup *setup, sim_plan *plan_out) {
  const template_parameters *p = parameters;
  (void)setup;
  const double bytes = 4.0 * sizeof(double) * (double)p->n;
  sim_plan_add(plan_out, "positions and masses", bytes);
  plan_out->snapshot_bytes = plan_out->staged_bytes = plan_out->checkpoint_bytes = bytes;
  plan_out->work_per_step = (double)p->n;
  plan_out->work_rate_guess = 1e9;
  plan_out->steps = ceil(p->integrate.t_end / p->integrate.dt);
  return SIM_OK;
}

static void destroy(void **self) {
  template_state *state = *self;
  if (!state) return;
  sim_buffer_destroy(&state->position);
  sim_buffer_destroy(&state->mass);
  free(state);
  *self = NULL;
}

static void view_arrays(const template_state *state, sim_array *arrays) {
  sim_array_of(&state_fields[STATE_POSITION], &state->position, &arrays[STATE_POSITION]);
  sim_array_of(&state_fields[STATE_MASS], &state->mass, &arrays[STATE_MASS]);
}

static sim_status restore(const template_state *state, const sim_setup *setup) {
  sim_array arrays[STATE_COUNT];
  view_arrays(state, arrays);
  for (int k = 0; k < STATE_COUNT; k++) SIM_TRY(sim_frame_restore(setup->saved, setup->backend, &arrays[k]));
  return SIM_OK;
}

/* Computes the masses of the points at their positions, by the evaluator. */
static sim_status weigh(template_state *state, const sim_setup *setup) {
  const int64_t n = state->parameters->n;
  const double *x = state->position.data;
  sim_expr_program *program;
  SIM_TRY(sim_expr_program_create(state->parameters->mass, &(sim_expr_target){.isa = setup->isa}, &program));
  size_t bytes = (sim_expr_program_scratch(program) + 63) / 64 * 64;
  void *scratch = aligned_alloc(64, bytes ? bytes : 64);
  if (scratch)
    sim_expr_program_run(program, (size_t)n,
                         (const void *const[INPUT_COUNT]){[INPUT_X] = x, [INPUT_Y] = x + n, [INPUT_Z] = x + 2 * n},
                         &state->mass.data, scratch);
  free(scratch);
  sim_expr_program_free(&program);
  return scratch ? SIM_OK : sim_no_memory("the masses");
}

static sim_status create(const void *parameters, const sim_setup *setup, sim_clock *clock, void **self) {
  const template_parameters *p = parameters;
  template_state *state = calloc(1, sizeof *state);
  if (!state) return sim_no_memory("the model");
  *self = state;
  state->parameters = p;
  state->ops = ops[setup->backend->kind];
  clock->t_end = p->integrate.t_end;
  sim_status status = sim_buffer_create(setup->backend, SIM_F64, 2, (int64_t[]){3, p->n}, &state->position);
  if (status == SIM_OK) status = sim_buffer_create(setup->backend, SIM_F64, 1, &p->n, &state->mass);
  if (status == SIM_OK && setup->saved) {
    status = restore(state, setup);
  } else if (status == SIM_OK) {
    double *x = state->position.data;
    for (int axis = 0; axis < 3; axis++)
      for (int64_t i = 0; i < p->n; i++) x[axis * p->n + i] = start_x(p, i, axis);
    clock->dt = p->integrate.dt;
    status = weigh(state, setup);
  }
  if (status != SIM_OK) destroy(self);
  return status;
}

static sim_status step(void *self, sim_clock *clock) {
  template_state *state = self;
  const template_parameters *p = state->parameters;
  double after;
  const double dt = sim_clock_step(clock, p->integrate.dt, &after);
  state->ops->scale(state->position.data, 3 * p->n, exp(-p->rate * dt));
  clock->t = after;
  clock->dt = dt;
  clock->step++;
  return SIM_OK;
}

static sim_status observe(void *self, const sim_clock *clock, int table, double *values) {
  template_state *state = self;
  const double *x = state->position.data;
  const double exact = start_x(state->parameters, 0, 0) * exp(-state->parameters->rate * clock->t);
  (void)table;
  values[SIZE_FIRST] = x[0];
  values[SIZE_ERROR] = x[0] / exact - 1;
  return SIM_OK;
}

static sim_status view(void *self, sim_array *arrays, sim_species *species, sim_frame *frame) {
  template_state *state = self;
  view_arrays(state, arrays);
  species[0] = (sim_species){.name = "points", .first = 0, .count = state->parameters->n};
  frame->array_count = STATE_COUNT;
  frame->species_count = 1;
  return SIM_OK;
}

static void describe(const void *self, char *out, size_t capacity) {
  const template_state *state = self;
  (void)snprintf(out, capacity, "%lld points", (long long)state->parameters->n);
}

/* ---- what sim bench times ---- */

/* Three coordinates of a point, read and written. */
static sim_bench_cost cost(sim_backend_kind kind, sim_isa isa, int n) {
  (void)kind, (void)isa, (void)n;
  return (sim_bench_cost){SIM_LIMIT_BYTES, 2 * 3 * sizeof(double)};
}
static const sim_bench bench[] = {
    {.title = "decay",
     .size = "points",
     .power = 1,
     .warm_steps = 2,
     .scenario = "local n = sim.param('n', 1000, 'points')\n"
                 "return sim.template { n = n, integrate = { dt = 1/64, t_end = 1e6 }, " SIM_BENCH_NO_OUTPUT " }\n",
     .sizes = {[SIM_BACKEND_CPU] = {{1000, 100000, 10000000}, {1000, 10000, 100000}, {1000, 10000000, 10}}},
     .cost = cost},
    {.title = NULL},
};

extern const sim_model template_model;
const sim_model template_model = {
    .name = "template",
    .doc = "points that decay to the origin (the template of a model)",
    .example = "-- Points that decay to the origin.\n"
               "return sim.template {\n"
               "  n         = 100,\n"
               "  mass      = function(x, y) return 1 + x^2 + y^2 end,\n"
               "  rate      = 0.5,\n"
               "  integrate = { dt = 1/64, t_end = 2 },\n"
               "}\n",
    .references = (const char *const[]){NULL},
    .parameters = &parameter_schema,
    .tables = (const sim_table *const[]){&size_table, NULL},
    .state = state_fields,
    .work_unit = "points",
    .backends = {[SIM_BACKEND_CPU] = {.runs = true},
                 [SIM_BACKEND_CUDA] = {.reason = "the template is written for the CPU alone"}},
    .precisions = {[SIM_DOUBLE] = true},
    .bench = bench,
    .plan = plan,
    .create = create,
    .step = step,
    .observe = observe,
    .view = view,
    .describe = describe,
    .destroy = destroy,
};
