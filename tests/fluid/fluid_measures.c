/* What a run measures beside its fields: coefficients and y+. */
#include "tests/fluid/driver.h"
#include "kernels/fluid/cpu/measure.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void near_to(double got, double expected, double tolerance, const char *what) {
  if (!(fabs(got - expected) <= tolerance))
    fail_msg("%s: got %.9g, expected %.9g within %.1e (off by %.2e)", what, got, expected, tolerance, got - expected);
}

/* The y+ of y+ u+ = reynolds by bisection of Spalding's law. */
static double plus_by_bisection(double reynolds) {
  double low = 0, high = sqrt(reynolds) + 1e-300;
  for (int i = 0; i < 200; i++) {
    const double u = (low + high) / 2, k = 0.41 * u;
    const double y = u + exp(-0.41 * 5) * (exp(k) - 1 - k - k * k / 2 - k * k * k / 6);
    *(y * u > reynolds ? &high : &low) = u;
  }
  return reynolds / high;
}

static void test_law_of_the_wall(void **state) {
  (void)state;
  for (double reynolds = 1e-3; reynolds < 1e12; reynolds *= 1.7)
    near_to(fluid_plus_of(reynolds), plus_by_bisection(reynolds), 1e-8 * plus_by_bisection(reynolds), "y+");
  near_to(fluid_plus_of(0), 0, 0, "y+ of a fluid at rest");
  near_to(fluid_plus_of(1e-4), 1e-2, 1e-9, "y+ is the root far below 5");
}

/* A shear at the start above a block of three quarters of a cell beyond the middle of one: the first cells are 3/4 of a
 * cell away, and the largest y+ follows from their speed alone. */
static double shear(double rate, const char *keys, const char *of_body, double *mean, bool *sure) {
  flow f;
  char text[1024];
  snprintf(text, sizeof text,
           "local y0, rate = 4.75, %.17g\n"
           "return sim.fluid { grid = { n = {16, 32}, size = {16, 32}, y = 'slip' }, speed = 1,\n"
           "  %s, initial = function(x, y) return rate * (y - y0), 0 end,\n"
           "  bodies = { sim.block { name = 'floor', low = {-20, -5, 0}, high = {40, y0, 0},\n"
           "    %s } }, integrate = { t_end = 1 } }",
           rate, keys, of_body);
  flow_open(&f, text, sim_isa_best(), 2, NULL);
  const double most = flow_value(&f, "bodies", "floor_yplus");
  *mean = flow_value(&f, "bodies", "floor_yplus_mean");
  *sure = flow_value(&f, "bodies", "floor_sure") == 1;
  flow_close(&f);
  return most;
}

static const char *const with_reference = "reference = { area = 1, length = 1, direction = {1, 0} }";

static void test_shear(void **state) {
  (void)state;
  for (int i = 0; i < 2; i++) {
    const double rate = i ? 0.03 : 0.003, expected = plus_by_bisection(0.75 * 0.75 * rate / 0.01);
    double mean;
    bool sure;
    near_to(shear(rate, "viscosity = 0.01, turbulence = { smagorinsky = 0.2 }", i ? "yplus = true" : with_reference,
                  &mean, &sure),
            expected, 1e-9 * expected, "y+ of a shear");
    near_to(mean, expected, 1e-9 * expected, "its mean");
    assert_true(sure);
  }
}

/* The viscosity of a fluid that shear thins is that of the shear at the surface, here 0.077, and not that of `speed`
 * over the distance of sides, 0.024. */
static void test_shear_of_a_law(void **state) {
  (void)state;
  const double rate = 0.003, viscosity = 0.1 / (1 + 100 * rate);
  const double expected = plus_by_bisection(0.75 * 0.75 * rate / viscosity);
  double mean;
  bool sure;
  near_to(shear(rate, "viscosity = function(shear) return 0.1 / (1 + 100 * shear) end", with_reference, &mean, &sure),
          expected, 1e-9 * expected, "y+ of a fluid that shear thins");
}

/* 0.75 of a cell and a speed of 0.9: y+ is 8, and forces are not sure, which the end of the run says. */
static void test_not_sure(void **state) {
  (void)state;
  flow f;
  sim_bytes said = {0};
  flow_open(
      &f,
      "return sim.fluid { grid = { n = {16, 8, 8}, size = {16, 8, 8}, z = 'slip' }, viscosity = 0.01, speed = 1,\n"
      "  turbulence = { smagorinsky = 0.2 }, initial = function() return 0, 0.9, 0 end,\n"
      "  bodies = { sim.block { name = 'floor', low = {-20, -20, -5}, high = {40, 40, 2.75},\n"
      "    reference = { area = 64, length = 2, speed = 3, direction = {0, 2, 0}, centre = {8, 4, 1} } } },\n"
      "  integrate = { t_end = 1 } }",
      sim_isa_best(), 1, NULL);
  const double plus = flow_value(&f, "bodies", "floor_yplus"), expected = plus_by_bisection(0.75 * 0.9 / 0.01);
  near_to(plus, expected, 1e-9 * expected, "y+");
  near_to(flow_value(&f, "bodies", "floor_sure"), 0, 0, "sure");
  fluid_model.remark(f.self, &f.clock, &said);
  assert_non_null(strstr(said.data, "forces on floor are not sure: y+ of its first cells is up to"));
  sim_bytes_free(&said);
  /* Drag along y, lift along z, the side force along y x z = x; the nose rises about z x y = -x. */
  const double unit = 9.0 / 2 * 64, fy = flow_value(&f, "bodies", "floor_fy"),
               fz = flow_value(&f, "bodies", "floor_fz");
  near_to(flow_value(&f, "bodies", "floor_cd"), fy / unit, 1e-12, "drag");
  near_to(flow_value(&f, "bodies", "floor_cl"), fz / unit, 1e-12, "lift");
  near_to(flow_value(&f, "bodies", "floor_cs"), flow_value(&f, "bodies", "floor_fx") / unit, 1e-12, "side force");
  /* The block's own point is {10, 10, -1.125}. */
  const double about = flow_value(&f, "bodies", "floor_tx") + (10 - 4) * fz - (-1.125 - 1) * fy;
  near_to(flow_value(&f, "bodies", "floor_cm"), -about / (unit * 2), 1e-12, "moment");
  flow_close(&f);
}

static const char *const cavity =
    "return sim.fluid { precision = '%s', grid = { n = {32, 32}, size = {1, 1}, boundary = 'wall' },\n"
    "  viscosity = 0.01, speed = 2, sides = { y_high = { velocity = {1, 0} } }, steady = 1e-%d,\n"
    "  collision = '%s', integrate = { t_end = 60 } }";

/* Square of the difference of two steps' velocities, as snapshots have them. */
static double changed(const flow *f, double (*old)[2]) {
  double square = 0;
  for (int i = 0; i < 32 * 32; i++) {
    const double u[2] = {flow_field(f, "velocity/x", i % 32, i / 32, 0),
                         flow_field(f, "velocity/y", i % 32, i / 32, 0)};
    square += (u[0] - old[i][0]) * (u[0] - old[i][0]) + (u[1] - old[i][1]) * (u[1] - old[i][1]);
    memcpy(old[i], u, sizeof u);
  }
  return square;
}

/* The change of a step is the root mean square of the differences between two snapshots, over `speed`; before the first
 * step it is 1, which no `steady` is above. Rounding of fields of 1: 1e-16 in double, 1e-7 in single. */
static void test_change(void **state) {
  (void)state;
  static const char *const precisions[] = {"double", "single"}, *const collisions[] = {"regularised", "trt"};
  static double old[32 * 32][2];
  for (int i = 0; i < 4; i++) {
    char text[512];
    flow f;
    snprintf(text, sizeof text, cavity, precisions[i / 2], 8, collisions[i % 2]);
    flow_open(&f, text, sim_isa_best(), 2, NULL);
    near_to(flow_value(&f, "flow", "change"), 1, 0, "change before a step");
    /* The parameters of a checkpoint have the condition of `steady` already, and are valid. */
    sim_faults faults = {0};
    assert_non_null(f.p->common.stop_when);
    must(fluid_validate(f.p, &faults), "validate");
    assert_int_equal(faults.count, 0);
    sim_faults_free(&faults);
    memset(old, 0, sizeof old);
    for (int steps = 0; steps < 3; steps++) {
      flow_steps(&f, 50);
      flow_look(&f);
      (void)changed(&f, old);
      flow_steps(&f, 1);
      flow_look(&f);
      const double expected = sqrt(changed(&f, old) / (32 * 32)) / 2;
      near_to(flow_value(&f, "flow", "change"), expected, i / 2 ? 1e-7 : 1e-13, "change");
    }
    flow_close(&f);
  }
}

/* With heat the change is that of the temperature where this is more: a wall of 1 beside a fluid at rest of 0. In the
 * first step the temperature of a cell at the wall changes; the velocity does not. */
static void test_change_of_heat(void **state) {
  (void)state;
  flow f;
  double old[16], square = 0;
  flow_open(&f,
            "return sim.fluid { grid = { n = {16, 4}, size = {16, 4}, x = 'wall' }, viscosity = 0.1, speed = 1,\n"
            "  heat = { diffusivity = 0.1, x_low = 3, x_high = 1, reference = 1 }, steady = 1e-8,\n"
            "  integrate = { t_end = 60 } }",
            sim_isa_best(), 1, NULL);
  flow_steps(&f, 5);
  flow_look(&f);
  for (int x = 0; x < 16; x++) old[x] = flow_field(&f, "temperature", x, 0, 0);
  flow_steps(&f, 1);
  flow_look(&f);
  for (int x = 0; x < 16; x++) square += pow(flow_field(&f, "temperature", x, 0, 0) - old[x], 2);
  near_to(flow_value(&f, "flow", "change"), sqrt(square / 16) / (3 - 1), 1e-13, "change of the temperature");
  flow_close(&f);
}

/* Central differences of sin(x) are its derivative times sin(dx)/dx. Fields of the start are those of the scenario to
 * rounding; sums of differences over dx = 0.2: 1e-14. */
static void test_taylor_green(void **state) {
  (void)state;
  enum { N = 32 };
  const double dx = 2 * acos(-1.0) / N, f = sin(dx) / dx;
  flow run;
  flow_open(&run,
            "local n, L = 32, 2 * math.pi\n"
            "return sim.fluid { grid = { n = {n, n}, size = {L, L} }, viscosity = 0.05, speed = 1,\n"
            "  initial = function(x, y) return math.sin(x) * math.cos(y), -math.cos(x) * math.sin(y) end,\n"
            "  integrate = { t_end = 1 }, output = { fields = 'vorticity, q ,shear' } }",
            sim_isa_best(), 2, NULL);
  flow_look(&run);
  for (int i = 0; i < N * N; i++) {
    const double x = (i % N + 0.5) * dx, y = ((double)(i / N) + 0.5) * dx;
    const double turn = 2 * sin(x) * sin(y) * f, strain = cos(x) * cos(y) * f;
    near_to(flow_field(&run, "vorticity", i % N, i / N, 0), turn, 1e-13, "vorticity");
    near_to(flow_field(&run, "q", i % N, i / N, 0), turn * turn / 4 - strain * strain, 1e-13, "q");
    near_to(flow_field(&run, "shear", i % N, i / N, 0), 2 * fabs(strain), 1e-13, "shear");
  }
  flow_close(&run);
}

/* u = (sin z, sin x, sin y) has the vorticity (cos y, cos z, cos x). */
static void test_vorticity(void **state) {
  (void)state;
  enum { N = 8 };
  const double dx = 2 * acos(-1.0) / N, f = sin(dx) / dx;
  flow run;
  flow_open(&run,
            "local n, L, sin = 8, 2 * math.pi, math.sin\n"
            "return sim.fluid { grid = { n = {n, n, n}, size = {L, L, L} }, viscosity = 0.05, speed = 2,\n"
            "  initial = function(x, y, z) return sin(z), sin(x), sin(y) end,\n"
            "  integrate = { t_end = 1 }, output = { fields = 'vorticity' } }",
            sim_isa_best(), 2, NULL);
  flow_look(&run);
  assert_null(sim_frame_array(&run.frame, "q"));
  for (int i = 0; i < N * N * N; i++) {
    const int at[3] = {i % N, i / N % N, i / N / N};
    static const char *const names[] = {"vorticity/x", "vorticity/y", "vorticity/z"};
    for (int a = 0; a < 3; a++)
      near_to(flow_field(&run, names[a], at[0], at[1], at[2]), cos((at[(a + 1) % 3] + 0.5) * dx) * f, 1e-13, names[a]);
  }
  flow_close(&run);
}

static const char *const averaged =
    "return sim.fluid { precision = '%s', grid = { n = {12, 8%s}, size = {12, 8%s}, y = 'wall' }, viscosity = 0.05,\n"
    "  speed = 1, acceleration = {0.001, 0%s}, average = { from = %g, every = 3 },\n"
    "  initial = function(x, y, z) return 0.3 * math.sin(math.pi * y / 8), 0.1 * math.sin(math.pi * x / 6)%s end,\n"
    "  bodies = { sim.ball { point = {6, 4, %d}, radius = 2 } }, integrate = { dt = 0.05, t_end = 6 } }";

static const char *const mean_names[2][6] = {
    {"mean_velocity/x", "mean_velocity/y", "mean_pressure", "stress_xx", "stress_yy", "stress_xy"},
    {"mean_velocity/x", "mean_velocity/z", "mean_pressure", "stress_xx", "stress_zz", "stress_yz"}};

/* Means and mean products of one cell, by sums over the samples of a run from step 63 on, at multiples of 3. */
static void check_means(bool deep, const char *precision) {
  static const char *const velocity[2][2] = {{"velocity/x", "velocity/y"}, {"velocity/y", "velocity/z"}};
  double sum[4] = {0}, square[3] = {0};
  int n = 0;
  char text[1024];
  flow f;
  snprintf(text, sizeof text, averaged, precision, deep ? ", 5" : "", deep ? ", 5" : "", deep ? ", 0" : "", 3.05,
           deep ? ", 0.1 * math.sin(math.pi * x / 3)" : "", deep ? 2 : 0);
  flow_open(&f, text, sim_isa_best(), 2, NULL);
  while (f.clock.t < f.clock.t_end) {
    flow_steps(&f, 1);
    if (f.clock.step < 63 || f.clock.step % 3 != 0) continue;
    flow_look(&f);
    const double u = flow_field(&f, velocity[deep][0], 2, 6, deep), v = flow_field(&f, velocity[deep][1], 2, 6, deep);
    const double more[4] = {flow_field(&f, "velocity/x", 2, 6, deep), flow_field(&f, "pressure", 2, 6, deep), u, v};
    for (int i = 0; i < 4; i++) sum[i] += more[i];
    square[0] += more[0] * more[0];
    square[1] += v * v;
    square[2] += u * v;
    n++;
  }
  assert_int_equal(n, (120 - 63) / 3 + 1);
  flow_look(&f);
  for (int i = 0; i < 4; i++) sum[i] /= n;
  const double expected[6] = {sum[0],
                              sum[3],
                              sum[1],
                              square[0] / n - sum[0] * sum[0],
                              square[1] / n - sum[3] * sum[3],
                              square[2] / n - sum[2] * sum[3]};
  for (int i = 0; i < 6; i++)
    near_to(flow_field(&f, mean_names[deep][i], 2, 6, deep), expected[i], precision[0] == 's' ? 1e-7 : 1e-14,
            mean_names[deep][i]);
  if (!(expected[3] > 1e-6)) fail_msg("the flow hardly changes: %g", expected[3]);
  near_to(flow_field(&f, "mean_velocity/x", 6, 4, deep ? 2 : 0), 0, 0, "mean in a body");
  flow_close(&f);
}

/* The mean temperature by a sum over the samples, of a cell of the fluid and of one in a warm body. */
static void test_mean_temperature(void **state) {
  (void)state;
  double sum = 0;
  int n = 0;
  flow f;
  flow_open(&f,
            "return sim.fluid { grid = { n = {12, 12}, size = {12, 12}, boundary = 'wall' }, viscosity = 0.05,\n"
            "  speed = 0.5, average = { from = 1, every = 2 }, integrate = { dt = 0.1, t_end = 4 },\n"
            "  heat = { diffusivity = 0.1, expansion = 0.1, gravity = {0, -0.1}, reference = 300, x_low = 301,\n"
            "    initial = function(x, y) return 300 + math.exp(-(x - 3)^2) end },\n"
            "  bodies = { sim.ball { point = {8, 6, 0}, radius = 2.5, temperature = 302 } } }",
            sim_isa_best(), 2, NULL);
  while (f.clock.t < f.clock.t_end) {
    flow_steps(&f, 1);
    if (f.clock.step < 10 || f.clock.step % 2 != 0) continue;
    flow_look(&f);
    sum += flow_field(&f, "temperature", 2, 6, 0);
    n++;
  }
  assert_int_equal(n, (40 - 10) / 2 + 1);
  flow_look(&f);
  near_to(flow_field(&f, "mean_temperature", 2, 6, 0), sum / n, 1e-12, "mean temperature"); /* 300 to rounding */
  near_to(flow_field(&f, "mean_temperature", 8, 6, 0), 302, 1e-12, "mean temperature in a body");
  flow_close(&f);
}

static void test_means(void **state) {
  (void)state;
  check_means(false, "double");
  check_means(true, "double");
  check_means(false, "single");
}

/* The means of a run that is continued from a checkpoint, with other threads, are those of one run, to the last bit. */
static void test_means_restart(void **state) {
  (void)state;
  char text[1024], whole[33], parts[33];
  flow a, b, c;
  snprintf(text, sizeof text, averaged, "double", ", 5", ", 5", ", 0", 0.4, ", 0", 2);
  flow_open(&a, text, sim_isa_best(), 1, NULL);
  flow_steps(&a, INT64_MAX);
  flow_digest(&a, whole);
  flow_open(&b, text, sim_isa_best(), 2, NULL);
  flow_steps(&b, 37);
  flow_look(&b);
  flow_open(&c, text, sim_isa_best(), 2, &b.frame);
  flow_steps(&c, INT64_MAX);
  flow_digest(&c, parts);
  assert_string_equal(whole, parts);
  flow_close(&a);
  flow_close(&b);
  flow_close(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_law_of_the_wall), cmocka_unit_test(test_shear),
      cmocka_unit_test(test_shear_of_a_law),  cmocka_unit_test(test_not_sure),
      cmocka_unit_test(test_change),          cmocka_unit_test(test_change_of_heat),
      cmocka_unit_test(test_taylor_green),    cmocka_unit_test(test_vorticity),
      cmocka_unit_test(test_means),           cmocka_unit_test(test_mean_temperature),
      cmocka_unit_test(test_means_restart),
  };
  return cmocka_run_group_tests_name("fluid measures", tests, NULL, NULL);
}
