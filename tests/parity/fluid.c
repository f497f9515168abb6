/* Fluids on the GPU against those on the CPU; the marching kernel against its plain twin; restarts, guards. */
#include "kernels/fluid/cuda/work.h"
#include "kernels/fluid/run/run.h"
#include "tests/fluid/driver.h"
#include "tests/gpu/gpu.h"
#include "tests/parity/fluid_compare.h"

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

/* All that a run may have. The first ones are made by the marching kernel; widths are no multiples of its tiles. */
static const char *const texts[] = {
    "return sim.fluid { precision = kind, grid = { n = {75, 20, 26}, size = {3.75, 1, 1.3}, z = 'wall' },\n"
    "  viscosity = 0.02, speed = 1, acceleration = {0.1, 0.05, 0}, sides = { z_high = { velocity = {0.5, 0.2, 0} } },\n"
    "  initial = function(x, y, z) return 0.2 * math.sin(3*x), 0, 0.1 * math.cos(5*y) end,\n"
    "  probes = { {2, 0.5, 0.5}, {3, 0.1, 1.2} },\n"
    "  bodies = { sim.ball { point = {0.1, 0.5, 0.6}, radius = 0.3, spin = 1 },\n"
    "             sim.block { low = {1, 0.2, 0.3}, high = {1.3, 0.5, 0.6} } }, integrate = { t_end = 100 } }",
    "return sim.fluid { precision = kind, grid = { n = {64, 33, 40}, size = {6.4, 3.3, 4}, boundary = 'periodic' },\n"
    "  viscosity = 0.003, speed = 1, turbulence = { smagorinsky = 0.2 },\n"
    "  initial = function(x, y, z) return 0.7 * math.sin(2*y), 0.5 * math.sin(3*z), 0.3 * math.cos(2*x), 0.1 end,\n"
    "  integrate = { t_end = 100 } }",
    "return sim.fluid { precision = kind, grid = { n = {40, 24, 20}, size = {4, 2.4, 2}, boundary = 'wall', y = 'slip' "
    "},\n"
    "  viscosity = 0.01, speed = 1, sides = { x_high = { pressure = 0 }, x_low = { profile = function(x, y, z)\n"
    "    return 4 * z * (2 - z) / 4 * 0.8, 0, 0 end } },\n"
    "  bodies = { sim.cylinder { point = {1.5, 1, 1}, axis = {0.2, 1, 0}, radius = 0.42, spin = 0.5 } },\n"
    "  integrate = { t_end = 100 } }",
    "return sim.fluid { precision = kind, grid = { n = {20, 12, 10}, size = {2, 1.2, 1} }, viscosity = 0.01, speed = "
    "1,\n"
    "  turbulence = { smagorinsky = 0.15 }, acceleration = {0.02, 0, 0.01},\n"
    "  bodies = { sim.ball { point = {1, 0.6, 0.5}, radius = 0.31 } }, integrate = { t_end = 100 } }",
    "return sim.fluid { precision = kind, grid = { n = {185, 95}, size = {3.7, 1.9}, boundary = 'wall', y = 'slip' },\n"
    "  viscosity = 0.005, speed = 1, sides = { x_low = { velocity = {0.5, 0} }, x_high = { pressure = 0.1 } },\n"
    "  probes = { {2, 1, 0} },\n"
    "  bodies = { sim.cylinder { point = {1, 1, 0}, radius = 0.33, spin = -1 } }, integrate = { t_end = 100 } }",
    "return sim.fluid { precision = kind, grid = { n = {40, 37}, size = {4, 3.7} }, viscosity = 0.002, speed = 1,\n"
    "  turbulence = { smagorinsky = 0.1 }, acceleration = {0.02, 0.01},\n"
    "  initial = function(x, y) return 0.5 * math.sin(3*y), 0.4 * math.sin(2*x) end, integrate = { t_end = 100 } }",
    /* heat: convection between plates, by the marching kernel; bodies, inlet and outlet, eddies; in 2-D */
    "return sim.fluid { precision = kind, grid = { n = {75, 20, 26}, size = {3.75, 1, 1.3}, z = 'wall' },\n"
    "  viscosity = 0.01, speed = 1, acceleration = {0.1, 0, 0}, heat = { diffusivity = 0.008, expansion = 0.5,\n"
    "  gravity = {0, 0.1, -1}, reference = 300, z_low = 301, z_high = 299,\n"
    "  initial = function(x, y, z) return 300 - 0.5*z + 0.3*math.sin(4*x) end },\n"
    "  initial = function(x, y, z) return 0.2*math.sin(3*x), 0, 0.1*math.cos(5*y) end, integrate = { t_end = 100 } }",
    "return sim.fluid { precision = kind, grid = { n = {40, 24, 20}, size = {4, 2.4, 2}, boundary = 'wall', y = 'slip' "
    "},\n"
    "  viscosity = 0.01, speed = 1, turbulence = { smagorinsky = 0.15, prandtl = 0.7 },\n"
    "  sides = { x_high = { pressure = 0 }, x_low = { profile = function(x, y, z) return z * (2 - z) * 0.8, 0, 0 end } "
    "},\n"
    "  heat = { diffusivity = 0.004, expansion = 0.2, gravity = {0, 0, -1}, x_low = 0.3, z_high = 1, reference = 0.2 "
    "},\n"
    "  bodies = { sim.cylinder { point = {1.5, 1, 1}, axis = {0.2, 1, 0}, radius = 0.42, spin = 0.5, temperature = 1 "
    "},\n"
    "             sim.ball { point = {3, 1.2, 1}, radius = 0.3 } }, integrate = { t_end = 100 } }",
    "return sim.fluid { precision = kind, grid = { n = {95, 45}, size = {1.9, 0.9}, boundary = 'wall' },\n"
    "  viscosity = 0.005, speed = 1, sides = { x_low = { velocity = {0.5, 0} }, x_high = { pressure = 0.1 } },\n"
    "  heat = { diffusivity = 0.01, x_low = -1, y_high = 0.5, x_high = 0, reference = -1 },\n"
    "  bodies = { sim.cylinder { point = {0.6, 0.5, 0}, radius = 0.23, spin = -1, temperature = 2 },\n"
    "             sim.block { low = {1, 0.2, 0}, high = {1.3, 0.43, 0} } }, integrate = { t_end = 100 } }",
    /* sponges, two of which meet at an edge */
    "return sim.fluid { precision = kind, grid = { n = {70, 24, 20}, size = {7, 2.4, 2}, boundary = 'wall', z = "
    "'periodic' },\n"
    "  viscosity = 0.01, speed = 1, sides = { x_low = { velocity = {0.5, 0, 0}, sponge = 1 },\n"
    "    x_high = { pressure = 0, sponge = 1.5 }, y_high = { pressure = 0, sponge = 0.9 } },\n"
    "  bodies = { sim.ball { point = {6, 1.1, 1}, radius = 0.4 } }, integrate = { t_end = 100 } }",
    "return sim.fluid { precision = kind, grid = { n = {95, 45}, size = {1.9, 0.9}, boundary = 'wall', y = 'slip' },\n"
    "  viscosity = 0.005, speed = 1, turbulence = { smagorinsky = 0.1 },\n"
    "  sides = { x_low = { velocity = {0.5, 0} }, x_high = { pressure = 0.1, sponge = 0.4 } },\n"
    "  initial = function(x, y) return 0.5, 0.1*math.sin(7*x), 0.02*math.sin(9*x) end,\n"
    "  integrate = { t_end = 100 } }",
    /* bodies that move, beside one that rests and a sponge */
    "return sim.fluid { precision = kind, grid = { n = {48, 24, 20}, size = {4.8, 2.4, 2}, boundary = 'periodic' },\n"
    "  viscosity = 0.02, speed = 1, acceleration = {0.02, 0, 0.01},\n"
    "  bodies = { sim.ball { point = {1, 1.2, 1}, radius = 0.41, velocity = {0.8, 0.2, 0.1} },\n"
    "             sim.block { low = {2.2, 0.6, 0.7}, high = {2.9, 1.5, 1.4}, axis = {0, 0.3, 1},\n"
    "                         turning = function(t) return 1.1 * math.cos(t) end },\n"
    "             sim.ball { point = {4, 0.7, 0.5}, radius = 0.33, spin = 1 } }, integrate = { t_end = 1 } }",
    "return sim.fluid { precision = kind, grid = { n = {70, 45}, size = {7, 4.5}, boundary = 'wall', y = 'slip' },\n"
    "  viscosity = 0.02, speed = 1.2, turbulence = { smagorinsky = 0.1 },\n"
    "  sides = { x_low = { velocity = {0.3, 0} }, x_high = { pressure = 0, sponge = 1.2 } },\n"
    "  bodies = { sim.cylinder { point = {2, 2.2, 0}, radius = 0.52, motion = function(t)\n"
    "    return 0.5, 0.6*math.sin(3*t) end, spin = 0.7 } }, integrate = { t_end = 1 } }"};
enum { TEXTS = sizeof texts / sizeof *texts, STEPS = 60 };
/* Those that the marching kernel makes. */
static const int marched[] = {0, 1, 2, 6, 7, 9};

static void text_of(int i, bool single, char out[1024]) {
  snprintf(out, 1024, "local kind = '%s' %s", single ? "single" : "double", texts[i]);
}

static void test_cpu(void **state) {
  (void)state;
  for (int i = 0; i < 2 * TEXTS; i++) {
    const bool single = i % 2;
    char text[1024], what[64];
    flow a, b;
    text_of(i / 2, single, text);
    snprintf(what, sizeof what, "case %d, %s", i / 2, single ? "single" : "double");
    flow_open(&a, text, sim_isa_best(), 2, NULL);
    flow_open_on(&b, text, gpu, NULL);
    fluid_compare_tables(&a, &b, single, STEPS, what);
    flow_steps(&a, STEPS);
    flow_steps(&b, STEPS);
    fluid_compare_runs(&a, &b, single, STEPS, what);
    fluid_compare_tables(&a, &b, single, STEPS, what);
    flow_close(&a);
    flow_close(&b);
  }
}

static void test_restart(void **state) {
  (void)state;
  for (int i = 0; i < 2 * TEXTS; i++) {
    char text[1024];
    text_of(i / 2, i % 2, text);
    fluid_check_restart(text, gpu, STEPS, NULL);
  }
}

/* ---- the marching kernel, and its plain twin ---- */

/* The state after some steps, in host memory, for the caller to free. */
static void *state_after(const flow *f, bool march, int chunk, size_t *bytes) {
  const fluid_numbers k = fluid_numbers_of(f->p, 0);
  fluid_machine m = fluid_machine_of(f->p, &k, &f->setup);
  fluid_work *work;
  fluid_warmth warmth = {0};
  must(fluid_walls_create(f->p, &k, NULL, 1, NULL, &m.walls), "walls");
  must(fluid_sponge_create(f->p, &m.sponge), "sponge");
  if (f->p->heat.given) {
    must(fluid_heat_create(f->p, &m, &k, &f->setup, &warmth), "heat");
    m.warmth = &warmth;
  }
  must(fluid_ops_cuda.create(&m, f->p, &k, &f->setup, &work), "create");
  fluid_device *d = fluid_cuda_device(work);
  d->march = d->march && march; /* a device with little shared memory has the plain kernel alone */
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
  return out;
}

static void test_twin(void **state) {
  (void)state;
  for (size_t i = 0; i < 2 * sizeof marched / sizeof *marched; i++) {
    char text[1024];
    flow f;
    size_t bytes;
    text_of(marched[i / 2], i % 2, text);
    flow_open_on(&f, text, gpu, NULL);
    void *plain = state_after(&f, false, 0, &bytes);
    for (int chunk = 0; chunk < 12; chunk += 3) {
      void *other = state_after(&f, true, chunk, &bytes);
      if (memcmp(plain, other, bytes) != 0) fail_msg("case %d, chunks of %d planes: other bits", marched[i / 2], chunk);
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
      "return sim.fluid { precision = kind, grid = { n = {32, 32}, size = {1, 1}, boundary = 'wall' },\n"
      "  viscosity = 1.3e-5, speed = 0.1, mach = 0.3, acceleration = {2000, 0}, integrate = { t_end = 100 } }"};
  for (int i = 0; i < 2; i++) {
    flow_heard heards[2] = {0};
    char text[1024], message[2][1100];
    snprintf(text, sizeof text, "local kind = 'double' %s", flows[i]);
    for (int k = 0; k < 2; k++) {
      flow f;
      sim_status status = SIM_OK;
      flow_open_on(&f, text, k ? gpu : &sim_backend_cpu, NULL);
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
    char text[1024];
    const double eps = single ? 0x1p-24 : 0x1p-53;
    snprintf(text, sizeof text,
             "return sim.fluid { precision = '%s', grid = { n = {20, 12}, size = {20, 12} }, viscosity = 0.02,\n"
             "  speed = 0.1, mach = 0.3, acceleration = {0.0005, 0.0002}, integrate = { t_end = 1e9 }, bodies = {\n"
             "    sim.ball { point = {5.2, 6.1, 0}, radius = 3.3 },\n"
             "    sim.ball { point = {15.3, 6.4, 0}, radius = 2.7, spin = 0.02 } } }",
             single ? "single" : "double");
    flow_open_on(&f, text, gpu, NULL);
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
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_cpu), cmocka_unit_test(test_restart),
                                     cmocka_unit_test(test_twin), cmocka_unit_test(test_guards),
                                     cmocka_unit_test(test_mass)};
  if (count > 1) cmocka_set_test_filter(words[1]);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
