/* Fluids on the GPU against those on the CPU; the marching kernel against its plain twin; restarts, guards. */
#include "kernels/fluid/cuda/work.h"
#include "kernels/fluid/run/run.h"
#include "tests/fluid/driver.h"
#include "tests/fluid/stl.h"
#include "tests/gpu/gpu.h"
#include "tests/parity/fluid_compare.h"
#include "tests/parity/fluid_texts.h"

#include "engine/log.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const sim_backend *gpu;
static int first_text; /* of those that are run */

enum { TEXTS = sizeof texts / sizeof *texts, STEPS = 60 };
/* Those that the marching kernel makes. */
static const int marched[] = {0, 1, 2, 6, 7, 9, 13, 15, 17, 19, 21, 22, 23, 28, 31};

enum { TEXT = 2048 };
static void text_of(int i, bool single, char out[TEXT]) {
  snprintf(out, TEXT, "local kind = '%s' %s", single ? "single" : "double", texts[i]);
}

/* A rock: balls, or in 2-D discs, on a lattice askew to the cells. */
static sim_status rock(const sim_grid_source *source, double *values) {
  const int64_t *n = source->n;
  for (int64_t i = 0; i < n[0] * n[1] * (source->rank == 3 ? n[2] : 1); i++) {
    const double x = (double)(i % n[0]), y = (double)(i / n[0] % n[1]), z = (double)(i / n[0] / n[1]);
    const double wave = sin(0.53 * x + 0.17 * y) * cos(0.61 * y - 0.11 * z) + (source->rank == 3 ? sin(0.7 * z) : 0);
    values[i] = wave > (source->rank == 3 ? 0.8 : -0.3) ? 1 : 0;
  }
  return SIM_OK;
}
static void open_on(flow *f, const char *text, const sim_backend *backend, const sim_frame *saved) {
  flow_begin(f, text, backend, 2, saved, rock);
}

static void test_cpu(void **state) {
  (void)state;
  for (int i = 2 * first_text; i < 2 * TEXTS; i++) {
    char text[TEXT], what[64];
    text_of(i / 2, i % 2, text);
    snprintf(what, sizeof what, "case %d, %s", i / 2, i % 2 ? "single" : "double");
    fluid_compare_devices(text, gpu, i % 2, STEPS, 1, rock, what);
  }
}

static void test_restart(void **state) {
  (void)state;
  for (int i = 2 * first_text; i < 2 * TEXTS; i++) {
    char text[TEXT];
    text_of(i / 2, i % 2, text);
    fluid_check_restart(text, gpu, STEPS, rock);
  }
}

/* ---- the marching kernel, and its plain twin ---- */

/* The state after some steps, in host memory, for the caller to free. */
static void *state_after(const flow *f, bool march, bool wide, int chunk, size_t *bytes) {
  const fluid_numbers k = fluid_numbers_of(f->p, 0);
  fluid_machine m = fluid_machine_of(f->p, &k, &f->setup);
  fluid_work *work;
  fluid_warmth warmth = {0};
  fluid_meshes meshes;
  fluid_grains grains = {0};
  must(fluid_meshes_create(f->p, &f->setup, &meshes), "meshes");
  must(fluid_walls_create(f->p, &k, &meshes, 1, NULL, &m.walls), "walls");
  must(fluid_sponge_create(f->p, m.walls.solid, &m.sponge), "sponge");
  if (f->p->heat.given) {
    must(fluid_heat_create(f->p, &m, &k, &f->setup, &warmth), "heat");
    m.warmth = &warmth;
  }
  if (f->p->grains.count > 0) {
    must(fluid_grains_create(f->p, &k, &m.grid, &m.part, &f->setup, &grains), "grains");
    m.grains = &grains;
  }
  must(fluid_ops_cuda.create(&m, f->p, &k, &f->setup, &work), "create");
  fluid_device *d = fluid_cuda_device(work);
  d->march = d->march && march; /* a device with little shared memory has the plain kernel alone */
  d->wide = d->wide && wide;
  if (chunk > 0) d->chunk = chunk;
  must(fluid_ops_cuda.start(work, &f->setup), "start");
  for (int64_t step = 1; step <= 20; step++) must(fluid_ops_cuda.step(work, step), "step");
  const sim_buffer *state = fluid_ops_cuda.state(work);
  *bytes = sim_buffer_bytes(state);
  void *out = malloc(*bytes);
  assert_non_null(out);
  must(gpu->copy(out, state->data, *bytes), "copy");
  fluid_ops_cuda.destroy(&work);
  fluid_walls_destroy(&m.walls);
  fluid_sponge_destroy(&m.sponge);
  fluid_heat_destroy(&warmth);
  fluid_meshes_destroy(&meshes);
  fluid_grains_destroy(&grains);
  return out;
}

static void test_twin(void **state) {
  (void)state;
  for (size_t i = 0; i < 2 * sizeof marched / sizeof *marched; i++) {
    char text[TEXT];
    flow f;
    size_t bytes;
    if (marched[i / 2] < first_text) continue;
    text_of(marched[i / 2], i % 2, text);
    open_on(&f, text, gpu, NULL);
    void *plain = state_after(&f, false, false, 0, &bytes);
    for (int k = 0; k < 5; k++) { /* both tiles, and planes of a block */
      void *other = state_after(&f, true, k < 4, k % 4 * 3, &bytes);
      if (memcmp(plain, other, bytes) != 0)
        fail_msg("case %d, %s tile, chunks of %d planes: other bits", marched[i / 2], k < 4 ? "first" : "narrow",
                 k % 4 * 3);
      free(other);
    }
    free(plain);
    flow_close(&f);
  }
}

/* ---- guards ---- */

/* Warning, failure and remark name the same step, cell and cause as on the CPU, which looks after every step. */
static void test_guards(void **state) {
  (void)state;
  static const char *const flows[] = {
      /* a shear that gains speed: all cells of one y are the fastest, and the first of them is named */
      "return sim.fluid { precision = kind, grid = { n = {40, 8, 8}, size = {40, 8, 8} }, viscosity = 0.002,\n"
      "  speed = 0.1, initial = function(x, y, z) return 0.01 * math.sin(2 * math.pi * (y + 0.3) / 8), 0, 0 end,\n"
      "  acceleration = {0.001, 0, 0}, integrate = { dt = 1, t_end = 1000 } }",
      "return sim.fluid { precision = kind, grid = { n = {32, 32}, size = {1, 1}, y = 'wall' }, viscosity = 1.3e-5,\n"
      "  speed = 0.1, mach = 0.3, initial = function(x, y) return 0.01 * math.sin(5 * y), 0 end,\n"
      "  acceleration = {0.5, 0}, integrate = { t_end = 100 } }"};
  for (int i = 0; i < 2; i++) {
    flow_heard heards[2] = {0};
    char text[TEXT], message[2][1100];
    snprintf(text, sizeof text, "local kind = 'double' %s", flows[i]);
    for (int k = 0; k < 2; k++) {
      flow f;
      sim_status status = SIM_OK;
      open_on(&f, text, k ? gpu : &sim_backend_cpu, NULL);
      assert_true(sim_log_add(flow_hear, &heards[k]));
      while (status == SIM_OK && f.clock.step < 1000) status = fluid_model.step(f.self, &f.clock);
      sim_log_remove(flow_hear, &heards[k]);
      assert_int_equal(status, SIM_ERR_DIVERGED);
      snprintf(message[k], sizeof message[k], "%s", sim_error_last()->message);
      flow_close(&f);
    }
    /* what follows the cell and the time names numbers of the scenario alone */
    char *cut[2] = {strstr(message[0], "; the mass"), strstr(message[1], "; the mass")};
    for (int k = 0; k < 2; k++)
      if (cut[k]) *cut[k] = 0;
    assert_string_equal(message[0], message[1]);
    assert_string_equal(heards[0].text, heards[1].text);
  }
}

/* A body's interpolated links lose nothing of the mass, as on the CPU: tests/fluid/fluid_same.c. */
static void test_mass(void **state) {
  (void)state;
  enum { LONG = 20000 };
  for (int single = 0; single < 2; single++) {
    flow f;
    char text[TEXT];
    const double eps = single ? 0x1p-24 : 0x1p-53;
    snprintf(text, sizeof text,
             "return sim.fluid { precision = '%s', grid = { n = {20, 12}, size = {20, 12} }, viscosity = 0.02,\n"
             "  speed = 0.1, mach = 0.3, acceleration = {0.0005, 0.0002}, integrate = { t_end = 1e9 }, bodies = {\n"
             "    sim.ball { point = {5.2, 6.1, 0}, radius = 3.3 },\n"
             "    sim.ball { point = {15.3, 6.4, 0}, radius = 2.7, spin = 0.02 } } }",
             single ? "single" : "double");
    open_on(&f, text, gpu, NULL);
    const double before = flow_value(&f, "flow", "mass");
    flow_steps(&f, LONG);
    const double change = flow_value(&f, "flow", "mass") / before - 1;
    if (!(fabs(change) <= LONG * eps / 100))
      fail_msg("%s: the mass is off by %.3e", single ? "single" : "double", change);
    flow_close(&f);
  }
}

int main(int count, char **words) {
  gpu = gpu_or_skip();
  if (!gpu) return 77;
  (void)stl_sphere("parity_fluid.stl", (const double[]){0, 0, 0}, 0.57, 2);
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_cpu), cmocka_unit_test(test_restart),
                                     cmocka_unit_test(test_twin), cmocka_unit_test(test_guards),
                                     cmocka_unit_test(test_mass)};
  if (count > 1) cmocka_set_test_filter(words[1]);
  if (count > 2) first_text = atoi(words[2]);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
