#include "tests/fluid/driver.h"

#include "lua/scenario.h"

#include <complex.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

const sim_model *const sim_models[] = {&fluid_model, NULL};

const char *flow_with = "";

void must(sim_status status, const char *what) {
  if (status != SIM_OK) fail_msg("%s: %s", what, sim_error_last()->message);
}

static void decode(flow *f, const char *text) {
  static const char *const models[] = {"fluid", NULL}, *const constructors[] = {"fluid", "ball", "cylinder",
                                                                                "block", "stl",  "random_spheres",
                                                                                NULL};
  char path[] = "/tmp/sim-fluid-XXXXXX";
  const int fd = mkstemp(path);
  FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
  assert_non_null(file);
  const char *keys = strstr(text, "sim.fluid {");
  assert_non_null(keys);
  keys += strlen("sim.fluid {");
  fprintf(file, "%.*s %s%s", (int)(keys - text), text, flow_with, keys);
  fclose(file);
  const scenario_options options = {
      .constructors = constructors, .models = models, .seconds = 10, .memory = (size_t)128 << 20};
  scenario loaded;
  sim_faults faults = {0};
  const sim_status status = scenario_load(path, &options, &loaded);
  (void)unlink(path);
  must(status, text);
  void *p;
  must(sim_model_decode(&fluid_model, loaded.value, &p, &faults), "decode");
  scenario_free(&loaded);
  if (faults.count > 0) fail_msg("%s: %s", text, (const char *)faults.text.data);
  sim_faults_free(&faults);
  f->p = p;
}

static void begin(flow *f, const char *text, const sim_backend *backend, sim_isa isa, int threads,
                  const sim_frame *saved, sim_grid_reader *reader) {
  *f = (flow){0};
  decode(f, text);
  f->setup = (sim_setup){.backend = backend,
                         .comm = &sim_comm_alone,
                         .isa = isa,
                         .threads = threads,
                         .folder = "",
                         .saved = saved,
                         .read_grid = reader};
  must(fluid_model.create(f->p, &f->setup, &f->clock, &f->self), text);
  if (saved) {
    const double t_end = f->clock.t_end;
    f->clock = saved->clock;
    f->clock.t_end = t_end;
  }
}

void flow_open(flow *f, const char *text, sim_isa isa, int threads, const sim_frame *saved) {
  begin(f, text, &sim_backend_cpu, isa, threads, saved, NULL);
}
void flow_open_on(flow *f, const char *text, const sim_backend *backend, const sim_frame *saved) {
  begin(f, text, backend, sim_isa_best(), 2, saved, NULL);
}
void flow_begin(flow *f, const char *text, const sim_backend *backend, int threads, const sim_frame *saved,
                sim_grid_reader *reader) {
  begin(f, text, backend, sim_isa_best(), threads, saved, reader);
}

void flow_run(flow *f, const char *format, ...) {
  char text[4096];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  flow_open(f, text, sim_isa_best(), 2, NULL);
  flow_steps(f, INT64_MAX);
  flow_look(f);
}

static void free_copies(flow *f) {
  for (size_t i = 0; i < SIM_ARRAYS_MAX; i++) {
    free(f->copies[i]);
    f->copies[i] = NULL;
  }
}

void flow_close(flow *f) {
  void *p = f->p;
  free_copies(f);
  fluid_model.destroy(&f->self);
  sim_model_parameters_free(&fluid_model, &p);
}

void flow_steps(flow *f, int64_t steps) {
  while (steps-- > 0 && f->clock.t < f->clock.t_end) must(fluid_model.step(f->self, &f->clock), "step");
}

void flow_look(flow *f) {
  f->frame = (sim_frame){.clock = f->clock, .arrays = f->arrays, .species = f->species};
  must(fluid_model.view(f->self, f->arrays, f->species, &f->frame), "view");
  free_copies(f);
  for (size_t i = 0; i < f->frame.array_count; i++) {
    sim_array *a = &f->arrays[i];
    if (a->space == SIM_SPACE_HOST) continue;
    f->copies[i] = malloc(sim_array_bytes(a));
    assert_non_null(f->copies[i]);
    must(f->setup.backend->copy(f->copies[i], a->data, sim_array_bytes(a)), "copy");
    a->data = f->copies[i];
    a->space = SIM_SPACE_HOST;
  }
}

double flow_field(const flow *f, const char *name, int64_t x, int64_t y, int64_t z) {
  const sim_array *a = sim_frame_array(&f->frame, name);
  const grid_shape g = fluid_grid_of(f->p);
  assert_non_null(a);
  return grid_number(a->data, a->dtype == SIM_F32, (z * g.n[1] + y) * g.n[0] + x);
}

double flow_value(flow *f, const char *table, const char *column) {
  double values[SIM_COLUMNS_MAX];
  const sim_table *const *tables = sim_model_tables(&fluid_model, f->p);
  for (int t = 0; tables[t]; t++) {
    if (strcmp(tables[t]->name, table) != 0) continue;
    must(fluid_model.observe(f->self, &f->clock, t, values), "observe");
    for (int c = 0; tables[t]->columns[c].name; c++)
      if (strcmp(tables[t]->columns[c].name, column) == 0) return values[c];
  }
  fail_msg("no column %s in table %s", column, table);
  return NAN;
}

void flow_digest(flow *f, char out[33]) {
  flow_look(f);
  must(sim_frame_check_finite(&f->frame), "state");
  sim_frame_digest(&f->frame, out);
}

double flow_womersley_error(const flow *f, int64_t x, int n, double viscosity, double w) {
  const double complex k = csqrt(I * w / viscosity);
  double out = 0;
  for (int y = 0; y < n; y++) {
    const double complex shape = (1 - ccosh(k * ((y + 0.5) / n - 0.5)) / ccosh(k / 2)) / (I * w);
    out = fmax(out, fabs(flow_field(f, "velocity/x", x, y, 0) - creal(shape * cexp(I * w * f->clock.t))));
  }
  return out;
}

void flow_hear(void *context, sim_log_level level, const char *message) {
  flow_heard *heard = context;
  const size_t used = strlen(heard->text);
  if (level == SIM_LOG_WARN) snprintf(heard->text + used, sizeof heard->text - used, "%s\n", message);
}

enum { COLUMNS_MOST = 4 };

/* Looks at what flow_check_same compares, and ends the run. */
static void take_same(flow *f, const char *const columns[], char digest[33], double values[COLUMNS_MOST]) {
  flow_digest(f, digest);
  for (int k = 0; columns[2 * k]; k++) values[k] = flow_value(f, columns[2 * k], columns[2 * k + 1]);
  flow_close(f);
}

void flow_check_same(const char *text, const char *const columns[]) {
  enum { STEPS = 40, CUT = 17, RUNS = 3 };
  char digest[RUNS][33];
  double values[RUNS][COLUMNS_MOST] = {0};
  for (int k = 0; k < 2; k++) {
    flow f;
    flow_open(&f, text, k ? SIM_ISA_PLAIN : sim_isa_best(), k ? 3 : 1, NULL);
    flow_steps(&f, STEPS);
    take_same(&f, columns, digest[k], values[k]);
  }
  flow first, rest;
  flow_open(&first, text, sim_isa_best(), 2, NULL);
  flow_steps(&first, CUT);
  flow_look(&first);
  flow_open(&rest, text, sim_isa_best(), 1, &first.frame);
  flow_steps(&rest, STEPS - CUT);
  take_same(&rest, columns, digest[2], values[2]);
  flow_close(&first);
  for (int k = 1; k < RUNS; k++) {
    assert_string_equal(digest[k], digest[0]);
    assert_memory_equal(values[k], values[0], sizeof values[0]);
  }
}
