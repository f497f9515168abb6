/* Viscosities that are functions of the shear rate and the temperature: closed forms, and what else a fluid has. */
#include "tests/fluid/driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const double pi = 3.14159265358979323846;

static void near_to(double got, double expected, double tolerance, const char *what) {
  if (!(fabs(got - expected) <= tolerance))
    fail_msg("%s: got %.15g, expected %.15g within %.1e (off by %.2e)", what, got, expected, tolerance, got - expected);
}

/* ---- a plane channel ---- */

typedef struct law {
  const char *text; /* of shear */
  double (*viscosity)(double shear);
} law;

static double power_law(double shear) { return 0.05 / sqrt(fmax(shear, 0.02)); }
static double carreau(double shear) { return 0.01 + 0.04 * pow(1 + 9 * shear * shear, -0.25); }
static double bingham(double shear) { return 0.02 + 0.02 * -expm1(-20 * shear) / fmax(shear, 1e-9); }
static double thickening(double shear) { return 0.02 + 0.05 * shear; }

static const law laws[] = {{"0.05 * math.max(shear, 0.02)^-0.5", power_law},
                           {"0.01 + 0.04 * (1 + 9 * shear^2)^-0.25", carreau},
                           {"0.02 + 0.02 * (1 - math.exp(-20 * shear)) / math.max(shear, 1e-9)", bingham},
                           {"0.02 + 0.05 * shear", thickening}};

/* The mean velocity between plates 1 apart under an acceleration a: the integral over the half width of y shear, where
 * viscosity shear = a y, by the rule of middles, whose error is 1e-7. */
static double channel_mean(const law *l, double a) {
  enum { PARTS = 2000 };
  double sum = 0;
  for (int i = 0; i < PARTS; i++) {
    const double y = 0.5 * (i + 0.5) / PARTS;
    double low = 0, high = 1e3;
    for (int k = 0; k < 60; k++) {
      const double middle = (low + high) / 2;
      *(l->viscosity(middle) * middle < a * y ? &low : &high) = middle;
    }
    sum += y * low / PARTS;
  }
  return sum;
}

/* Mean velocity in a run of n cells, with a step as dx^2. */
static double channel_run(const law *l, const char *keys, int n, double a) {
  flow f;
  flow_run(&f,
           "return sim.fluid { %s grid = { n = {2, %d}, size = {%.17g, 1}, x = 'periodic', y = 'wall' }, speed = 0.5,\n"
           "  viscosity = function(shear) return %s end, acceleration = {%g, 0}, mach = %.17g,\n"
           "  integrate = { t_end = 40 } }",
           keys, n, 2.0 / n, l->text, a, 0.8 / n);
  const double out = flow_value(&f, "flow", "momentum_x") / flow_value(&f, "flow", "mass");
  flow_close(&f);
  return out;
}

/* Means of runs of `cells` and twice as many: order 2, and with cells of h an error of 10 h^2 of the slope at walls;
 * t_end is 8 times the slowest decay. */
static void check_channel(int cells) {
  for (int i = 0; i < (int)(sizeof laws / sizeof *laws); i++) {
    const double exact = channel_mean(&laws[i], 0.1);
    double error[2];
    for (int k = 0; k < 2; k++) error[k] = channel_run(&laws[i], "precision = 'double',", cells << k, 0.1) / exact - 1;
    const double order = log2(fabs(error[0] / error[1]));
    print_message("%s: mean %.8g, errors %.2e, %.2e, order %.2f\n", laws[i].text, exact, error[0], error[1], order);
    near_to(error[1], 0, 10.0 / (4 * cells * cells), laws[i].text);
    near_to(order, 2, 0.3, "order");
  }
}

static void test_channel(void **state) {
  (void)state;
  check_channel(8);
}

static void test_fine_channel(void **state) {
  (void)state;
  check_channel(16);
}

/* Single precision: rounding of 6e-8 in 3000 steps, whose sum the viscosity bounds: some 1e-5. */
static void test_single(void **state) {
  (void)state;
  for (int i = 0; i < (int)(sizeof laws / sizeof *laws); i++) {
    const double wide = channel_run(&laws[i], "precision = 'double',", 8, 0.1);
    near_to(channel_run(&laws[i], "precision = 'single',", 8, 0.1) / wide, 1, 5e-5, laws[i].text);
  }
}

/* ---- bodies ---- */

/* Torque on a cylinder that turns in another one, of a power law nu = K shear^(n - 1), by length: shear = (torque/(2 pi
 * K r^2))^(1/n), whose integral over the gap is the difference of the spins. The greater cylinder is at rest. The flow
 * begins as the exact one, and 4 times (gap/pi)^2/viscosity show 98 % of any difference. */
static double couette_torque(int across, double n, double *exact) {
  enum { OUTER = 2 };
  const double K = 0.02, inner = 1, spin = 0.2, size = 4.4;
  flow f;
  flow_run(
      &f,
      "return sim.fluid { precision = 'double', grid = { n = {%d, %d}, size = {%g, %g} }, speed = 0.25, mach = %g,\n"
      "  viscosity = function(shear) return %g * math.max(shear, 1e-3)^%.17g end,\n"
      "  bodies = { sim.cylinder { name = 'inner', point = {2.2, 2.2, 0}, radius = 1, spin = %g },\n"
      "             sim.cylinder { name = 'outer', point = {2.2, 2.2, 0}, radius = 2, inside = true } },\n"
      "  initial = function(x, y)\n"
      "    local X, Y, k, outer = x - 2.2, y - 2.2, %.17g, %.17g\n"
      "    local turn = %g * math.min(1, math.max(0, ((X^2 + Y^2)^(k/2) - outer) / (1 - outer)))\n"
      "    return -turn * Y, turn * X\n"
      "  end,\n"
      "  integrate = { t_end = %g } }",
      across, across, size, size, 4.4 / across, K, n - 1, spin, -2 / n, pow(OUTER, -2 / n), spin, n < 1 ? 12.0 : 32.0);
  *exact = -2 * pi * K * pow(2 / n * spin / (pow(inner, -2 / n) - pow(OUTER, -2 / n)), n);
  const double out = flow_value(&f, "bodies", "inner_tz");
  near_to(flow_value(&f, "bodies", "outer_tz"), -out, 0.02 * fabs(out), "torques of both");
  flow_close(&f);
  return out;
}

static void check_couette(int across, double power, double tolerance) {
  double exact;
  const double error = couette_torque(across, power, &exact) / exact - 1;
  print_message("power %g, %d cells: torque %.6g, error %.2e\n", power, across, exact, error);
  near_to(error, 0, tolerance, "torque");
}

static void test_couette(void **state) { /* gaps of 10 cells */
  (void)state;
  check_couette(44, 0.7, 0.02);
  check_couette(44, 1.4, 0.02);
}

static void test_fine_couette(void **state) { /* of 20 cells */
  (void)state;
  check_couette(88, 0.7, 0.005);
}

/* A pipe along z, of a power law: mean velocity n/(3n + 1) R (a R/(2 K))^(1/n) over its cells. It begins with the exact
 * velocity, so that 4 times of the slowest decay show 98 % of any difference. */
static void test_pipe(void **state) {
  (void)state;
  const double K = 0.02, n = 0.6, R = 0.5, a = 0.06, top = n / (n + 1) * R * pow(a * R / (2 * K), 1 / n);
  static const char *const lattices[] = {"", "lattice = 'D3Q27',"};
  for (int i = 0; i < 2; i++) {
    flow f;
    flow_run(&f,
             "return sim.fluid { precision = 'double', %s grid = { n = {22, 22, 2}, size = {1.1, 1.1, 0.1} },\n"
             "  viscosity = function(shear) return %g * math.max(shear, 0.01)^%g end, speed = 0.4, mach = 0.05,\n"
             "  acceleration = {0, 0, %g}, integrate = { t_end = 9 },\n" /* 4 times the slowest decay */
             "  initial = function(x, y, z)\n"
             "    local r2 = (x - 0.55)^2 + (y - 0.55)^2\n"
             "    return 0, 0, %.17g * math.max(0, 1 - (r2 / %.17g)^%.17g)\n"
             "  end,\n"
             "  bodies = { sim.cylinder { point = {0.55, 0.55, 0}, radius = %g, inside = true } } }",
             lattices[i], K, n - 1, a, top, R * R, (1 + 1 / n) / 2, R);
    const double exact = n / (3 * n + 1) * R * pow(a * R / (2 * K), 1 / n);
    const double flux = flow_value(&f, "flow", "momentum_z") / (0.1 * pi * R * R);
    print_message("pipe %s: mean %.6g of %.6g\n", lattices[i], flux, exact);
    near_to(flux / exact, 1, 0.02, "mean velocity at 20 cells of diameter"); /* 8 h^2 */
    flow_close(&f);
  }
}

/* ---- temperature ---- */

/* Plates at temperatures 0 and 1, one of which moves: the temperature is y, the stress the same everywhere, and with
 * viscosity = 0.05 exp(-T) the velocity (e^y - 1)/(e - 1). */
static void test_warm(void **state) {
  (void)state;
  double error[2] = {0};
  for (int k = 0; k < 2; k++) {
    const int n = 16 << k;
    flow f;
    flow_run(&f,
             "return sim.fluid { precision = 'double', grid = { n = {2, %d}, size = {%.17g, 1}, y = 'wall' },\n"
             "  viscosity = function(shear, T) return 0.05 * math.exp(-T) end, speed = 1, mach = %g,\n"
             "  sides = { y_high = { velocity = {1, 0} } }, integrate = { t_end = 100 },\n"
             "  heat = { diffusivity = 0.05, y_low = 0, y_high = 1, initial = function(x, y) return y end } }",
             n, 2.0 / n, 1.6 / n);
    for (int y = 0; y < n; y++) {
      const double at = (y + 0.5) / n;
      error[k] = fmax(error[k], fabs(flow_field(&f, "velocity/x", 0, y, 0) - expm1(at) / expm1(1)));
    }
    flow_close(&f);
  }
  print_message("viscosity of a temperature: %.2e, %.2e\n", error[0], error[1]);
  near_to(error[1], 0, 2e-3, "velocity");
  assert_true(error[0] > 3 * error[1]);
}

/* ---- what else a fluid has ---- */

/* A function that is constant gives the flow of the number, to the rounding of the relaxation time in `steps` steps. */
static void test_constant(void **state) {
  (void)state;
  static const char *const scenes[] = {
      "grid = { n = {24, 18}, size = {24, 18}, boundary = 'wall' }, sides = { y_high = { velocity = {0.1, 0} } },\n"
      "  bodies = { sim.ball { point = {9.2, 8.3, 0}, radius = 3.1, spin = 0.01 } },",
      "grid = { n = {30, 12}, size = {30, 12}, boundary = 'wall', y = 'slip' }, initial = function(x) return 0.05, 0 "
      "end,\n"
      "  sides = { x_low = { velocity = {0.05, 0} }, x_high = { pressure = 0, sponge = 9 } },\n"
      "  bodies = { sim.cylinder { point = {9.2, 6.3, 0}, radius = 2.1 } },",
      "grid = { n = {16, 12, 13}, size = {16, 12, 13} }, acceleration = {1e-5, 2e-5, 0},\n"
      "  initial = function(x, y, z) return 0.05 * math.sin(2 * math.pi / 12 * y), 0, 0 end,\n"
      "  bodies = { sim.block { low = {4.2, 3.1, 3.3}, high = {9.3, 7.2, 8.1}, velocity = {0.03, 0.01, 0} } },",
      "grid = { n = {16, 12, 13}, size = {16, 12, 13}, z = 'wall' }, lattice = 'D3Q27', acceleration = {1e-4, 0, 0},\n"
      "  heat = { diffusivity = 0.05, expansion = 1, gravity = {0, 0, -1e-4}, z_low = 1, z_high = 0,\n"
      "    initial = function(x, y, z) return 0.5 + 0.1 * math.sin(2 * math.pi / 16 * x) end },"};
  for (int i = 0; i < 8; i++) {
    static const char *const fields[] = {"velocity/x", "velocity/y", "pressure"};
    char text[2][1400];
    flow f[2];
    for (int k = 0; k < 2; k++) {
      snprintf(
          text[k], sizeof text[k],
          "return sim.fluid { precision = '%s', %s viscosity = %s, speed = 0.1, integrate = { dt = 1, t_end = 100 } }",
          i % 2 ? "single" : "double", scenes[i / 2], k ? "function(shear) return 0.04 + 1e-30 * shear end" : "0.04");
      flow_run(&f[k], "%s", text[k]);
    }
    for (int a = 0; a < 3; a++)
      for (int y = 0; y < 12; y++)
        for (int x = 0; x < 16; x++)
          near_to(flow_field(&f[1], fields[a], x, y, 0), flow_field(&f[0], fields[a], x, y, 0), i % 2 ? 2e-6 : 1e-13,
                  fields[a]);
    for (int k = 0; k < 2; k++) flow_close(&f[k]);
  }
}

/* A function of neither shear nor T is its number, also where functions are refused. */
static void test_number(void **state) {
  (void)state;
  static const char *const keys[] = {"collision = 'trt'", "turbulence = { smagorinsky = 0.1 }"};
  for (int i = 0; i < 2; i++) {
    char digest[2][33];
    for (int k = 0; k < 2; k++) {
      flow f;
      flow_run(&f,
               "return sim.fluid { %s, viscosity = %s, grid = { n = {12, 10}, size = {12, 10}, y = 'wall' },\n"
               "  acceleration = {1e-4, 0}, speed = 0.1, integrate = { dt = 1, t_end = 20 } }",
               keys[i], k ? "function() return 0.04 end" : "0.04");
      flow_digest(&f, digest[k]);
      flow_close(&f);
    }
    assert_string_equal(digest[1], digest[0]);
  }
}

static const char *const everything =
    "return sim.fluid { precision = '%s', grid = { n = {26, 17, 6}, size = {26, 17, 6}, y = 'wall' }, speed = 0.1,\n"
    "  viscosity = function(shear, T) return 0.03 * (1 + (500 * shear)^2)^-0.2 * math.exp(-0.2 * T) end,\n"
    "  acceleration = {2e-5, 0, 1e-6}, bodies = { sim.ball { name = 'b', point = {9.2, 8.3, 2.9}, radius = 2.1 } },\n"
    "  heat = { diffusivity = 0.05, y_low = 1, y_high = 0 }, integrate = { dt = 1, t_end = 40 } }";

static void test_same(void **state) {
  (void)state;
  static const char *const precisions[] = {"double", "single"};
  for (int i = 0; i < 2; i++) {
    char text[1024];
    snprintf(text, sizeof text, everything, precisions[i]);
    flow_check_same(text, (const char *const[]){"bodies", "b_fx", NULL});
  }
}

/* What a GPU has of it, and what it lacks. */
static void test_devices(void **state) {
  static const char *const given[][2] = {
      {"bodies = { sim.ball { point = {8, 8, 0}, radius = 3, velocity = {0.01, 0, 0}, yplus = true } }, viscosity = "
       "shear",
       NULL},
      {"bodies = { sim.ball { point = {8, 8, 0}, radius = 3 } }, heat = { diffusivity = 0.1 }, viscosity = warm", NULL},
      {"bodies = { sim.ball { point = {8, 8, 0}, radius = 3, yplus = true } }, heat = { diffusivity = 0.1 },\n"
       "  viscosity = warm",
       "y+ of a body with a `viscosity` that is a function of the temperature is"}};
  (void)state;
  for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
    char text[512], lacks[128] = "";
    flow f;
    snprintf(text, sizeof text,
             "local function shear(shear) return 0.1 / (1 + shear) end\n"
             "local function warm(T) return 0.1 * math.exp(-0.1 * T) end\n"
             "return sim.fluid { grid = { n = {16, 16}, size = {16, 16} }, speed = 1, %s, integrate = { t_end = 1 } }",
             given[i][0]);
    flow_open(&f, text, sim_isa_best(), 1, NULL);
    assert_true(fluid_model.supports(f.p, SIM_BACKEND_CPU, lacks, sizeof lacks));
    assert_int_equal(fluid_model.supports(f.p, SIM_BACKEND_CUDA, lacks, sizeof lacks), given[i][1] == NULL);
    assert_string_equal(lacks, given[i][1] ? given[i][1] : "");
    flow_close(&f);
  }
}

int main(int count, char **words) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_channel), cmocka_unit_test(test_single), cmocka_unit_test(test_couette),
      cmocka_unit_test(test_pipe),    cmocka_unit_test(test_warm),   cmocka_unit_test(test_constant),
      cmocka_unit_test(test_number),  cmocka_unit_test(test_same),   cmocka_unit_test(test_devices)};
  const struct CMUnitTest long_tests[] = {cmocka_unit_test(test_fine_channel), cmocka_unit_test(test_fine_couette)};
  if (count > 1 && strcmp(words[1], "long") == 0) return cmocka_run_group_tests(long_tests, NULL, NULL);
  if (count > 1) cmocka_set_test_filter(words[1]);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
