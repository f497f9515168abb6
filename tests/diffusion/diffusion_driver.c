#include "tests/diffusion/diffusion_driver.h"

#include "lua/scenario.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

const sim_model *const sim_models[] = {&diffusion_model, NULL};

char current[4096];

void must(sim_status status, const char *what) {
  if (status != SIM_OK) fail_msg("%s: %s: %s", current, what, sim_error_last()->message);
}

bool decode(system_run *s, const char *text, char *text_of_faults) {
  static const char *const models[] = {"diffusion", NULL};
  char path[] = "/tmp/sim-diffusion-XXXXXX";
  const int fd = mkstemp(path);
  FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
  assert_non_null(file);
  snprintf(current, sizeof current, "%s", text);
  fputs(text, file);
  fclose(file);
  const scenario_options options = {
      .constructors = models, .models = models, .seconds = 10, .memory = (size_t)128 << 20};
  scenario loaded;
  sim_faults faults = {0};
  sim_status status = scenario_load(path, &options, &loaded);
  (void)unlink(path);
  must(status, "scenario");
  void *p;
  must(sim_model_decode(&diffusion_model, loaded.value, &p, &faults), "decode");
  scenario_free(&loaded);
  s->p = p;
  const bool good = faults.count == 0;
  if (!good && text_of_faults) snprintf(text_of_faults, 512, "%s", (const char *)faults.text.data);
  if (!good && !text_of_faults) fail_msg("%s: %s", current, faults.text.data);
  sim_faults_free(&faults);
  return good;
}

void open_with(system_run *s, const char *text, sim_isa isa, int threads, const sim_frame *saved) {
  *s = (system_run){0};
  (void)decode(s, text, NULL);
  s->setup = (sim_setup){.backend = &sim_backend_cpu,
                         .comm = &sim_comm_alone,
                         .isa = isa,
                         .threads = threads,
                         .folder = "",
                         .saved = saved};
  must(diffusion_model.create(s->p, &s->setup, &s->clock, &s->self), "create");
  if (saved) s->clock = saved->clock;
}

void shut(system_run *s) {
  diffusion_model.destroy(&s->self);
  void *p = s->p;
  sim_model_parameters_free(&diffusion_model, &p);
}

void run_to(system_run *s, int64_t step) {
  while (s->clock.t < s->clock.t_end && s->clock.step < step) must(diffusion_model.step(s->self, &s->clock), "step");
}

void look(system_run *s) {
  s->frame = (sim_frame){.clock = s->clock, .arrays = s->arrays, .species = s->species};
  must(diffusion_model.view(s->self, s->arrays, s->species, &s->frame), "view");
}

double value(const system_run *s, int field, int64_t cell) {
  const sim_array *a = &s->frame.arrays[1 + field];
  return a->dtype == SIM_F32 ? (double)((const float *)a->data)[cell] : ((const double *)a->data)[cell];
}

int64_t cells(const system_run *s) {
  const grid_shape g = diffusion_grid_of(s->p);
  return g.n[0] * g.n[1] * g.n[2];
}

void whole(system_run *s, const char *format, ...) {
  char text[4096];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  open_with(s, text, sim_isa_best(), 2, NULL);
  run_to(s, INT64_MAX);
  look(s);
}

double distance(const system_run *a, const system_run *b) {
  double most = 0;
  for (int f = 0; f < (int)a->p->fields.count; f++)
    for (int64_t c = 0; c < cells(a); c++) most = fmax(most, fabs(value(a, f, c) - value(b, f, c)));
  return most;
}

double distance_from(const system_run *s, double (*exact)(double x)) {
  const grid_shape grid = diffusion_grid_of(s->p);
  double most = 0;
  for (int64_t c = 0; c < grid.n[0]; c++)
    most = fmax(most, fabs(value(s, 0, c) - exact(((double)c + 0.5) * grid.size[0] / (double)grid.n[0])));
  return most;
}

void restart_at(int64_t step, const char *text, system_run *s, system_run *again) {
  open_with(s, text, SIM_ISA_PLAIN, 1, NULL);
  run_to(s, step);
  look(s);
  open_with(again, text, sim_isa_best(), 3, &s->frame);
  run_to(s, INT64_MAX), run_to(again, INT64_MAX);
  look(s), look(again);
}

void read_reference(const char *file, const char *name, int number, int64_t count, double *out) {
  char line[512], word[64];
  int of, found = 0;
  long size = 0;
  snprintf(line, sizeof line, "%s/data/%s", SIM_SOURCE, file);
  FILE *values = fopen(line, "r");
  assert_non_null(values);
  while (!found && fgets(line, sizeof line, values))
    found = sscanf(line, "%63s %d %ld", word, &of, &size) == 3 && !strcmp(word, name) && of == number;
  assert_true(found && size == count);
  for (int64_t i = 0; i < count; i++) {
    assert_non_null(fgets(line, sizeof line, values));
    out[i] = strtod(line, NULL);
  }
  fclose(values);
}
