/* Populations by two relaxation times on the GPU, in place, against those on the CPU; restarts, guards, mass; and half
 * storage against single precision and known answers. */
#include "tests/fluid/stl.h"
#include "tests/gpu/gpu.h"
#include "tests/parity/fluid_compare.h"

#include "engine/log.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const sim_backend *gpu;
static int first_text; /* of those that are run */
static const double pi = 3.14159265358979323846;

/* All that a run of populations may have; rows that are multiples of 32, 64 and 128 cells, and others. */
static const char *const texts[] = {
    "grid = { n = {75, 20, 26}, size = {3.75, 1, 1.3}, z = 'wall' },\n"
    "  viscosity = 0.02, speed = 1, acceleration = {0.1, 0.05, 0}, sides = { z_high = { velocity = {0.5, 0.2, 0} } },\n"
    "  initial = function(x, y, z) return 0.2 * math.sin(3*x), 0, 0.1 * math.cos(5*y) end,\n"
    "  probes = { {2, 0.5, 0.5}, {3, 0.1, 1.2} },\n"
    "  bodies = { sim.ball { point = {0.1, 0.5, 0.6}, radius = 0.3, spin = 1 },\n"
    "             sim.block { low = {1, 0.2, 0.3}, high = {1.3, 0.5, 0.6} } }",
    "grid = { n = {64, 34, 20}, size = {6.4, 3.4, 2}, boundary = 'periodic' }, viscosity = 0.01, speed = 1,\n"
    "  initial = function(x, y, z) return 0.7 * math.sin(2*y), 0.5 * math.sin(3*z), 0.3 * math.cos(2*x), 0.1 end",
    "grid = { n = {128, 12, 10}, size = {12.8, 1.2, 1}, boundary = 'wall', y = 'slip' },\n"
    "  viscosity = 0.01, speed = 1, sides = { x_high = { pressure = 0.05 }, x_low = { profile = function(x, y, z)\n"
    "    return 4 * z * (1 - z) * 0.8, 0, 0 end } },\n"
    "  bodies = { sim.cylinder { point = {1.5, 0.5, 0.5}, axis = {0.2, 1, 0}, radius = 0.22, spin = 0.5 } }",
    "grid = { n = {20, 12, 2}, size = {2, 1.2, 0.2} }, viscosity = 0.01, speed = 1,\n"
    "  resistance = function(x) return sim.where(sim.lt(x, 1), 3, 0) end, acceleration = {0.2, 0, 0.1}",
    "grid = { n = {185, 96}, size = {3.7, 1.92}, boundary = 'wall', y = 'slip' },\n"
    "  viscosity = 0.005, speed = 1, magic = 0.25,\n"
    "  sides = { x_low = { velocity = {0.5, 0} }, x_high = { pressure = 0.1 } }, probes = { {2, 1, 0} },\n"
    "  bodies = { sim.cylinder { point = {1, 1, 0}, radius = 0.33, spin = -1 } }",
    "grid = { n = {40, 38}, size = {4, 3.8} }, viscosity = 0.004, speed = 1, acceleration = {0.02, 0.01},\n"
    "  initial = function(x, y) return 0.5 * math.sin(3*y), 0.4 * math.sin(2*x) end",
    "grid = { n = {2, 2, 4}, size = {2, 2, 4}, z = 'wall' }, viscosity = 0.1, speed = 0.1, acceleration = {1e-4, 0, 0}",
    "grid = { n = {24, 20, 12}, size = {24, 20, 12} }, viscosity = 0.1, speed = 0.1, acceleration = {1e-4, 2e-5, 0},\n"
    "  solid = { path = 'rock.h5', dataset = 'rock' }",
    "grid = { n = {60, 36, 32}, size = {3.75, 2.25, 2} }, viscosity = 0.01, speed = 1, acceleration = {0.1, 0.02, 0},\n"
    "  bodies = { sim.stl { path = 'parity_fluid_trt.stl', shift = {2, 1.2, 1.04} } }, probes = { {1, 1, 1} }",
    /* bodies that go through sides */
    "grid = { n = {40, 20, 18}, size = {4, 2, 1.8}, boundary = 'wall', y = 'slip' }, viscosity = 0.02, speed = 1,\n"
    "  acceleration = {0.02, 0.01, -0.03}, sides = { x_high = { pressure = 0 },\n"
    "    x_low = { pressure = 0.03, straight = true } }, bodies = {\n"
    "      sim.cylinder { point = {0, 1, 0.9}, axis = {1, 0, 0}, radius = 0.83, inside = true },\n"
    "      sim.cylinder { point = {1.23, 0.97, 0}, axis = {0, 0, 1}, radius = 0.42, spin = 0.3 } }",
    /* sides that change with time, one of them straight, derived fields, means, gates and coefficients; spectrum and
     * the end of a flow that is steady */
    "grid = { n = {64, 22, 20}, size = {6.4, 2.2, 2}, boundary = 'wall', y = 'slip' }, viscosity = 0.01, speed = 1,\n"
    "  sides = { x_high = { pressure = function(y, t) return 0.02 * math.sin(11*t) * y end, straight = true },\n"
    "    x_low = { profile = function(y, z, t) return z * (2 - z) * 0.6 * math.sin(9*t), 0, 0.1*y*math.sin(t) end } "
    "},\n"
    "  bodies = { sim.ball { point = {1.5, 1, 0.9}, radius = 0.42, spin = 1, reference = { area = 0.5, length = 0.8,\n"
    "    direction = {1, 0, 0} } } }, gates = { { axis = 'x', at = 3.33, z = {0.31, 1.77} }, { axis = 'z', at = 1.97 } "
    "},\n"
    "  average = { from = 0.1, every = 3 }, output = { fields = 'vorticity, q, shear' }",
    "grid = { n = {40, 36}, size = {4, 3.6} }, viscosity = 0.004, speed = 1, acceleration = {0.02, 0.01},\n"
    "  spectrum = 7, steady = 1e-9, average = {}, output = { tables = 'every 1 steps', fields = 'vorticity, q' },\n"
    "  initial = function(x, y) return 0.5 * math.sin(math.pi*y/0.9), 0.4 * math.sin(math.pi*x) end",
    /* a pipe behind an inlet */
    "grid = { n = {40, 20, 18}, size = {4, 2, 1.8}, boundary = 'wall' }, viscosity = 0.02, speed = 1,\n"
    "  sides = { x_high = { pressure = 0 }, x_low = { profile = function(x, y, z)\n"
    "    return sim.max(0, 0.83^2 - (y - 1)^2 - (z - 0.9)^2), 0, 0 end } },\n"
    "  bodies = { sim.cylinder { point = {0, 1, 0.9}, axis = {1, 0, 0}, radius = 0.83, inside = true } }",
    /* D3Q27, which has no half storage */
    "lattice = 'D3Q27', grid = { n = {50, 20, 18}, size = {5, 2, 1.8}, boundary = 'wall', y = 'slip' },\n"
    "  viscosity = 0.01, speed = 1, sides = { x_high = { pressure = 0.05 }, x_low = { profile = function(x, y, z)\n"
    "    return z * (1.8 - z) * 0.8, 0, 0 end } }, probes = { {2, 1, 1} },\n"
    "  bodies = { sim.cylinder { point = {1.5, 1, 0.9}, axis = {0.2, 1, 0}, radius = 0.32, spin = 0.5 },\n"
    "             sim.ball { point = {3.2, 0.2, 1}, radius = 0.3 } }",
    "lattice = 'D3Q27', grid = { n = {34, 12, 10}, size = {3.4, 1.2, 1} }, viscosity = 0.01, speed = 1,\n"
    "  resistance = function(x) return sim.where(sim.lt(x, 1), 3, 0) end, acceleration = {0.2, 0, 0.1},\n"
    "  initial = function(x, y, z) return 0.3*math.sin(5*y), 0.2*math.cos(6*z), 0.2*math.sin(4*x), 0.1 end"};
enum { TEXTS = sizeof texts / sizeof *texts, WITH_HALF = TEXTS - 2, STEPS = 60 };

/* Solid cells of a file: some rock. */
static sim_status rock(const sim_grid_source *source, double *values) {
  for (int64_t i = 0; values && i < source->n[0] * source->n[1] * source->n[2]; i++) {
    const int64_t x = i % source->n[0], y = i / source->n[0] % source->n[1], z = i / source->n[0] / source->n[1];
    values[i] = (x * 7 + y * 11 + z * 5) % 19 < 4 && (x + y) % 5 < 3;
  }
  return SIM_OK;
}
static void begin(flow *f, const char *text, const sim_backend *backend, const sim_frame *saved) {
  flow_begin(f, text, backend, 2, saved, rock);
}

static void text_of(int i, const char *kind, char out[1024]) {
  snprintf(out, 1024, "return sim.fluid { precision = '%s', collision = 'trt', integrate = { t_end = 100 }, %s }", kind,
           texts[i]);
}

/* The bound is that of moments (fluid_compare.c); here the devices differ in less: both add what arrives in the same
 * precision, and keep all bits. */
static void test_cpu(void **state) {
  (void)state;
  for (int i = 2 * first_text; i < 2 * TEXTS; i++) {
    const bool single = i % 2;
    char text[1024], what[64];
    flow a, b;
    text_of(i / 2, single ? "single" : "double", text);
    snprintf(what, sizeof what, "case %d, %s", i / 2, single ? "single" : "double");
    begin(&a, text, &sim_backend_cpu, NULL);
    begin(&b, text, gpu, NULL);
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
  static const char *const kinds[] = {"double", "single", "half"};
  for (int i = 3 * first_text; i < 3 * TEXTS; i++) {
    char text[1024];
    if (i % 3 == 2 && i / 3 >= WITH_HALF) continue;
    text_of(i / 3, kinds[i % 3], text);
    fluid_check_restart(text, gpu, STEPS, rock);
  }
}

/* Fields of more than a window (cuda/trt.c), at the start and where they are shown. */
static void test_windows(void **state) {
  (void)state;
  for (int single = 0; single < 2; single++) {
    char text[1024];
    flow a, b;
    snprintf(
        text, sizeof text,
        "return sim.fluid { precision = '%s', collision = 'trt', grid = { n = {32, 50000}, size = {32, 50000} },\n"
        "  viscosity = 0.1, speed = 0.1, integrate = { t_end = 100 },\n"
        "  initial = function(x, y) return 0.05*math.sin(0.2*y), 0.03*math.sin(2*math.pi*x/32), 1e-4*math.cos(y) end }",
        single ? "single" : "double");
    begin(&a, text, &sim_backend_cpu, NULL);
    begin(&b, text, gpu, NULL);
    flow_steps(&a, 2);
    flow_steps(&b, 2);
    fluid_compare_runs(&a, &b, single, 2, "windows");
    fluid_compare_tables(&a, &b, single, 2, "windows");
    flow_close(&a);
    flow_close(&b);
  }
}

/* ---- half storage ---- */

/* In a step each number is rounded to one of its neighbours in fp16, with mean 0 and a standard deviation of at most
 * half their distance: 2^-14 below 1/4, where 3 sqrt(2) 0.058 is at Mach number 0.1. j of a cell adds 19 of them with
 * weights whose squares add to sum w^2 c^2 = 2/18^2 + 8/36^2 < 1/9^2 (2-D: 2/9^2 + 4/36^2 < 1/6^2): 1e-5 a step. After
 * 60 steps sqrt(60) = 7.7 times as much if viscosity spread none of it; 5 deviations bound all cells. */
static void test_half(void **state) {
  (void)state;
  for (int i = 0; i < WITH_HALF; i++) {
    char text[1024], what[64];
    flow a, b;
    text_of(i, "single", text);
    begin(&a, text, gpu, NULL);
    text_of(i, "half", text);
    begin(&b, text, gpu, NULL);
    flow_steps(&a, STEPS);
    flow_steps(&b, STEPS);
    snprintf(what, sizeof what, "case %d, half", i);
    flow_look(&a);
    flow_look(&b);
    const fluid_numbers k = fluid_numbers_of(a.p, 0);
    const grid_shape g = fluid_grid_of(a.p);
    double worst = 0, square = 0;
    for (int64_t row = 0; row < g.n[1] * g.n[2]; row++)
      for (int64_t x = 0; x < g.n[0]; x++) {
        const double far = fabs(flow_field(&a, "velocity/x", x, row % g.n[1], row / g.n[1]) -
                                flow_field(&b, "velocity/x", x, row % g.n[1], row / g.n[1])) *
                           k.dt / k.dx;
        worst = fmax(worst, far);
        square += far * far;
      }
    print_message("%s: at most %.2g, %.2g in the mean\n", what, worst, sqrt(square / grid_cells_wanted(&g)));
    if (!(worst <= 5 * 7.7 * 1e-5)) fail_msg("%s: a velocity is off by %.3e", what, worst);
    flow_close(&a);
    flow_close(&b);
  }
}

/* Decay of a Taylor-Green vortex of 64^2 cells: its energy falls as exp(-4 nu k^2 t), so that the viscosity is known
 * from two rows: to 1e-3, of which 7e-4 are the cells', where rounding to the nearest of fp16 is off by 2.4e-3 and, on
 * finer grids, by 4e-2; of Poiseuille below, by 9e-2. Half storage rounds the mass of a cell in each step by sqrt(sum
 * w^2) = 0.5 times 2^-17, so that the mean of N^2 cells walks sqrt(2600)/64 of it: 5 deviations are 1.6e-5. */
static void test_taylor_green(void **state) {
  (void)state;
  static const char *const kinds[] = {"double", "single", "half"};
  static const double drifts[] = {1e-13, 2e-7, 1.6e-5};
  enum { N = 64 };
  for (int i = 0; i < 3; i++) {
    flow f;
    char text[1024];
    const double nu = 0.02, k = 2 * pi / N, steps = floor(1 / (2 * nu * k * k));
    snprintf(text, sizeof text,
             "local k = 2*math.pi/%d return sim.fluid { precision = '%s', collision = 'trt', viscosity = %g,\n"
             "  grid = { n = {%d, %d}, size = {%d, %d} }, speed = 0.021, integrate = { dt = 1, t_end = 1e6 },\n"
             "  initial = function(x, y) return -0.02*math.cos(k*x)*math.sin(k*y), 0.02*math.sin(k*x)*math.cos(k*y),\n"
             "    -1e-4*(math.cos(2*k*x) + math.cos(2*k*y)) end }",
             N, kinds[i], nu, N, N, N, N);
    begin(&f, text, gpu, NULL);
    const double mass = flow_value(&f, "flow", "mass"), before = flow_value(&f, "flow", "kinetic");
    flow_steps(&f, (int64_t)steps);
    const double after = flow_value(&f, "flow", "kinetic");
    const double got = log(before / after) / (4 * k * k * steps) / nu - 1,
                 drift = (flow_value(&f, "flow", "mass") - mass) / (N * N);
    print_message("%s: viscosity %.2e off, mass %.2e a cell\n", kinds[i], got, drift);
    assert_true(fabs(got) < 1e-3);
    assert_true(fabs(drift) < drifts[i]);
    flow_close(&f);
  }
}

/* Poiseuille's parabola at the magic number 3/16 is exact (tests/fluid/fluid_trt.c): what is left is rounding. A steady
 * flow rounds alike in each step: each population below 1/4 by at most 2^-27, and the odd part of each pair by as much
 * before. So j changes by up to twice sum w |c| = 1/3 of it, 5e-9, which is 1.2e-4 of the force 4.2e-5 (in double
 * 2e-13; on the CPU it is 6e-5 and 2e-13). Half storage rounds j at random, by 1e-5 a step: in the 974 steps in which
 * the flow forgets, sqrt(974/2)/sqrt(31 x 32) times as much in the mean of the box, 1.4e-4 of the velocity 0.05; 5
 * deviations and more. */
static void test_poiseuille(void **state) {
  (void)state;
  static const char *const kinds[] = {"double", "single", "half"};
  static const double bounds[] = {1e-12, 1.2e-4, 1e-3};
  enum { H = 31, STEPS_LONG = 30000 };
  for (int i = 0; i < 3; i++) {
    flow f;
    char text[1024];
    const double nu = 0.1, g = 8 * nu * 0.05 / (H * H);
    double error = 0, all = 0;
    snprintf(text, sizeof text,
             "return sim.fluid { precision = '%s', collision = 'trt', viscosity = %.17g, speed = 0.06,\n"
             "  grid = { n = {%d, 32}, size = {%d, 32}, x = 'wall' }, acceleration = {0, %.17g},\n"
             "  integrate = { dt = 1, t_end = 1e6 } }",
             kinds[i], nu, H, H, g);
    begin(&f, text, gpu, NULL);
    flow_steps(&f, STEPS_LONG);
    flow_look(&f);
    for (int x = 0; x < H; x++) {
      double mean = 0;
      for (int y = 0; y < 32; y++) mean += flow_field(&f, "velocity/y", x, y, 0) / 32;
      const double exact = g / (2 * nu) * (x + 0.5) * (H - x - 0.5);
      error += (mean - exact) * (mean - exact);
      all += exact * exact;
    }
    print_message("%s: Poiseuille %.2e off\n", kinds[i], sqrt(error / all));
    assert_true(sqrt(error / all) < bounds[i]);
    flow_close(&f);
  }
}

/* ---- guards and mass ---- */

/* Warning and failure name the same step, cell and cause as on the CPU, which looks after every step. */
static void test_guards(void **state) {
  (void)state;
  static const char *const text =
      "return sim.fluid { precision = 'double', collision = 'trt', grid = { n = {32, 32}, size = {1, 1},\n"
      "  y = 'wall' }, viscosity = 1.3e-5, speed = 0.1, mach = 0.3, acceleration = {0.5, 0},\n"
      "  initial = function(x, y) return 0.01 * math.sin(5 * y), 0 end,\n"
      "  integrate = { t_end = 100 } }";
  flow_heard heards[2] = {0};
  char message[2][1100];
  for (int k = 0; k < 2; k++) {
    flow f;
    sim_status status = SIM_OK;
    begin(&f, text, k ? gpu : &sim_backend_cpu, NULL);
    assert_true(sim_log_add(flow_hear, &heards[k]));
    while (status == SIM_OK && f.clock.step < 1000) status = fluid_model.step(f.self, &f.clock);
    sim_log_remove(flow_hear, &heards[k]);
    assert_int_equal(status, SIM_ERR_DIVERGED);
    snprintf(message[k], sizeof message[k], "%s", sim_error_last()->message);
    flow_close(&f);
    char *cut = strstr(message[k], "; the mass");
    if (cut) *cut = 0;
  }
  assert_string_equal(message[0], message[1]);
  assert_string_equal(heards[0].text, heards[1].text);
}

/* A body's interpolated links lose nothing of the mass. In a steady flow each step rounds alike, by the bound of
 * parity/fluid.c. Half storage rounds the mass of a cell by sqrt(sum w^2) = 0.5 times 2^-14 (g up to 1/4), so that the
 * mean of 164 cells walks sqrt(5000/164) of it: 5 deviations are 8.4e-4. */
static void test_mass(void **state) {
  (void)state;
  static const char *const kinds[] = {"double", "single", "half"};
  enum { LONG = 5000 };
  static const double bounds[] = {LONG * 0x1p-53 / 100, LONG * 0x1p-24 / 100, 8.4e-4};
  for (int i = 0; i < 3; i++) {
    flow f;
    char text[1024];
    snprintf(text, sizeof text,
             "return sim.fluid { precision = '%s', collision = 'trt', grid = { n = {20, 12}, size = {20, 12} },\n"
             "  viscosity = 0.02, speed = 0.1, mach = 0.3, acceleration = {0.0005, 0.0002}, integrate = { t_end = 1e9 "
             "},\n"
             "  bodies = { sim.ball { point = {5.2, 6.1, 0}, radius = 3.3 },\n"
             "    sim.ball { point = {15.3, 6.4, 0}, radius = 2.7, spin = 0.02 } } }",
             kinds[i]);
    begin(&f, text, gpu, NULL);
    const double before = flow_value(&f, "flow", "mass");
    flow_steps(&f, LONG);
    const double change = flow_value(&f, "flow", "mass") / before - 1;
    print_message("%s: mass %.2e\n", kinds[i], change);
    if (!(fabs(change) <= bounds[i])) fail_msg("%s: the mass is off by %.3e", kinds[i], change);
    flow_close(&f);
  }
}

int main(int count, char **words) {
  gpu = gpu_or_skip();
  if (!gpu) return 77;
  (void)stl_sphere("parity_fluid_trt.stl", (const double[]){0, 0, 0}, 0.57, 2);
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_cpu),          cmocka_unit_test(test_restart),
                                     cmocka_unit_test(test_windows),      cmocka_unit_test(test_half),
                                     cmocka_unit_test(test_taylor_green), cmocka_unit_test(test_poiseuille),
                                     cmocka_unit_test(test_guards),       cmocka_unit_test(test_mass)};
  if (count > 1) cmocka_set_test_filter(words[1]);
  if (count > 2) first_text = atoi(words[2]);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
