/* Scenarios of diffusion on both devices, and what their programs share. */
#ifndef TESTS_PARITY_DIFFUSION_SIDES_H
#define TESTS_PARITY_DIFFUSION_SIDES_H

#include "engine/cuda.h"
#include "kernels/diffusion/cuda/work.h"
#include "lua/scenario.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

typedef struct side {
  sim_setup setup;
  sim_clock clock;
  void *self;
  sim_array arrays[SIM_ARRAYS_MAX];
  sim_species species[SIM_SPECIES_MAX];
  sim_frame frame;
} side;

static const char *current = "";

static void must(sim_status status, const char *what) {
  if (status != SIM_OK) fail_msg("%s: %s: %s", current, what, sim_error_last()->message);
}

static diffusion_parameters *decode(const char *text) {
  static const char *const models[] = {"diffusion", NULL};
  char path[] = "/tmp/sim-diffusion-XXXXXX";
  const int fd = mkstemp(path);
  FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
  const scenario_options options = {
      .constructors = models, .models = models, .seconds = 10, .memory = (size_t)128 << 20};
  scenario loaded;
  sim_faults faults = {0};
  const sim_status status = scenario_load(path, &options, &loaded);
  (void)unlink(path);
  must(status, "scenario");
  void *p;
  must(sim_model_decode(&diffusion_model, loaded.value, &p, &faults), "decode");
  if (faults.count > 0) fail_msg("%s: %s", current, faults.text.data);
  scenario_free(&loaded);
  return p;
}

static void begin(side *s, const diffusion_parameters *p, const sim_backend *backend, const sim_frame *saved) {
  *s = (side){.setup = {.backend = backend, .isa = sim_isa_best(), .threads = 2, .folder = "", .saved = saved}};
  must(diffusion_model.create(p, &s->setup, &s->clock, &s->self), "create");
  if (saved) s->clock = saved->clock;
}

static void steps(side *s, int64_t until) {
  while (s->clock.t < s->clock.t_end && s->clock.step < until) must(diffusion_model.step(s->self, &s->clock), "step");
}

static void look(side *s) {
  s->frame = (sim_frame){.clock = s->clock, .arrays = s->arrays, .species = s->species};
  must(diffusion_model.view(s->self, s->arrays, s->species, &s->frame), "view");
}

static void *on_host(const side *s, int array) {
  const size_t bytes = sim_array_bytes(&s->arrays[array]);
  void *out = malloc(bytes);
  must(s->setup.backend->copy(out, s->arrays[array].data, bytes), "copy");
  return out;
}

static double number(const void *values, bool single, int64_t i) {
  return single ? (double)((const float *)values)[i] : ((const double *)values)[i];
}

/* Greatest difference of all fields, and of their statistics. */
static void expect_near(side *a, side *b, const diffusion_parameters *p, double bound) {
  const diffusion_grid grid = diffusion_grid_of(p);
  const int64_t cells = grid.n[0] * grid.n[1] * grid.n[2];
  const bool single = diffusion_single(p);
  double rows[2][(int)DIFFUSION_FIELDS * DIFFUSION_STATISTICS];
  look(a), look(b);
  for (int f = 0; f < (int)p->fields.count; f++) {
    void *one = on_host(a, 1 + f), *two = on_host(b, 1 + f);
    for (int64_t i = 0; i < cells; i++)
      if (!(fabs(number(one, single, i) - number(two, single, i)) <= bound))
        fail_msg("%s: field %d, cell %lld: %.17g on the CPU, %.17g on the GPU", current, f, (long long)i,
                 number(one, single, i), number(two, single, i));
    free(one), free(two);
  }
  must(diffusion_model.observe(a->self, &a->clock, 0, rows[0]), "observe");
  must(diffusion_model.observe(b->self, &b->clock, 0, rows[1]), "observe");
  for (int c = 0; c < DIFFUSION_STATISTICS * (int)p->fields.count; c++)
    if (!(fabs(rows[0][c] - rows[1][c]) <= 10 * bound * (1 + fabs(rows[0][c]))))
      fail_msg("%s: column %d: %.17g on the CPU, %.17g on the GPU", current, c, rows[0][c], rows[1][c]);
}

#endif
