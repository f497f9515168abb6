/* Sides whose velocity or pressure changes with time: closed forms, and what else a fluid has. */
#include "tests/fluid/driver.h"

#include <complex.h>
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

static const char *const collisions[] = {"", "collision = 'trt',"};

/* Fluid between a wall at rest and one that swings along itself as cos(w t), 1 apart: the velocity is the real part of
 * exp(i w t) sinh(k y)/sinh(k), k = (i w/nu)^(1/2). Greatest error at t = 12 = 12/(nu pi^2). */
static double swinging(const char *keys, int n) {
  const double nu = 0.1, w = 2 * pi;
  const double complex k = csqrt(I * w / nu);
  flow f;
  flow_run(&f,
           "return sim.fluid { precision = 'double', %s grid = { n = {2, %d}, size = {%.17g, 1}, y = 'wall' },\n"
           "  viscosity = %g, speed = 1, mach = %.17g, integrate = { t_end = 12 },\n"
           "  sides = { y_high = { profile = function(x, y, t) return math.cos(2 * math.pi * t), 0 end } } }",
           keys, n, 2.0 / n, nu, 1.6 / n);
  double out = 0;
  for (int y = 0; y < n; y++) {
    const double exact = creal(cexp(I * w * f.clock.t) * csinh(k * ((y + 0.5) / n)) / csinh(k));
    out = fmax(out, fabs(flow_field(&f, "velocity/x", 0, y, 0) - exact));
  }
  flow_close(&f);
  return out;
}

static void test_swinging(void **state) {
  (void)state;
  for (int i = 0; i < 2; i++) {
    const double coarse = swinging(collisions[i], 16), fine = swinging(collisions[i], 32);
    print_message("swinging wall %s: %.2e, %.2e, order %.2f\n", collisions[i], coarse, fine, log2(coarse / fine));
    near_to(fine, 0, 4e-3, "velocity"); /* (dx |k|)^2/12, |k|^2 = w/nu = 63 */
    near_to(log2(coarse / fine), 2, 0.3, "order");
  }
}

/* Between slip sides 1 apart a pressure A (1 - cos(2 pi t))/2 at one end, and none at the other, drives all fluid as
 * one: u = A/(2 rho L) (t - sin(2 pi t)/(2 pi)), and the pressure falls along x. Sound passes in 0.004, a part of the
 * time whose square is the error. */
static void test_driven(void **state) {
  (void)state;
  const double density = 3, A = 0.3, L = 1;
  for (int i = 0; i < 2; i++) {
    flow f;
    flow_run(
        &f,
        "return sim.fluid { precision = 'double', %s grid = { n = {32, 3}, size = {1, %.17g}, boundary = 'wall',\n"
        "  y = 'slip' }, density = %g, viscosity = 0.01, speed = 0.1, mach = 0.0004, integrate = { t_end = 1.25 },\n"
        "  sides = { x_low = { pressure = function(t) return %g * (1 - math.cos(2 * math.pi * t)) / 2 end },\n"
        "            x_high = { pressure = 0 } } }",
        collisions[i], 3.0 / 32, density, A);
    const double t = f.clock.t, u = A / (2 * density * L) * (t - sin(2 * pi * t) / (2 * pi));
    for (int x = 0; x < 32; x++) {
      near_to(flow_field(&f, "velocity/x", x, 1, 0), u, 0.005 * u, "velocity");
      near_to(flow_field(&f, "pressure", x, 1, 0), A * (1 - cos(2 * pi * t)) / 2 * (1 - (x + 0.5) / 32), 0.02 * A,
              "pressure");
    }
    flow_close(&f);
  }
}

/* An inlet that starts as U(t) = u (1 - cos(pi t))/2 up to t = 1 between slip sides: the fluid moves as one, and its
 * pressure falls as -rho dU/dt (L - x): at t = 0.5 that is rho u pi/2 at the inlet. */
static void test_inlet(void **state) {
  (void)state;
  const double u = 0.1;
  flow f;
  flow_run(&f,
           "return sim.fluid { precision = 'double', grid = { n = {32, 3}, size = {1, %.17g}, boundary = 'wall',\n"
           "  y = 'slip' }, density = 2, viscosity = 0.01, speed = %g, mach = 0.0004, integrate = { t_end = 0.5 },\n"
           "  sides = { x_low = { profile = function(x, y, t)\n"
           "    return %g * (1 - math.cos(math.pi * math.min(t, 1))) / 2, 0 end }, x_high = { pressure = 0 } } }",
           3.0 / 32, u, u);
  for (int x = 0; x < 32; x++) {
    near_to(flow_field(&f, "velocity/x", x, 1, 0), u / 2, 0.01 * u, "velocity");
    near_to(flow_field(&f, "pressure", x, 1, 0), 2 * u * pi / 2 * (1 - (x + 0.5) / 32), 0.02 * u * pi, "pressure");
  }
  flow_close(&f);
}

/* The same before a sponge, which takes sound 42 steps to pass: in t = 6000 steps its means, which follow in 1250,
 * would hold the flow back, and let it swing behind. Sound comes from the inlet in 166 steps: 166/2 pi/12000 = 2 % of
 * u. */
static void test_sponge(void **state) {
  (void)state;
  const double u = 0.02;
  for (int i = 0; i < 3; i++) {
    flow f;
    char text[1024];
    snprintf(text, sizeof text,
             "local low = %s\n"
             "local inlet = { profile = function(x, y, t)\n"
             "  return (low and 1 or -1) * %g * (1 - math.cos(math.pi * math.min(t / 6000, 1))) / 2, 0 end }\n"
             "local outlet = { pressure = 0, sponge = 24 }\n"
             "return sim.fluid { precision = 'double', %s grid = { n = {96, 3}, size = {96, 3}, boundary = 'wall',\n"
             "  y = 'slip' }, viscosity = 0.05, speed = 0.03, integrate = { dt = 1, t_end = 9000 },\n"
             "  sides = { x_low = low and inlet or outlet, x_high = low and outlet or inlet } }",
             i == 1 ? "false" : "true", u, i == 2 ? "collision = 'trt'," : "");
    flow_open(&f, text, sim_isa_best(), 1, NULL);
    for (int part = 1; part <= 6; part++) {
      const double t = 1500 * part, exact = u * (1 - cos(pi * fmin(t / 6000, 1))) / 2;
      flow_steps(&f, 1500);
      flow_look(&f);
      for (int x = 0; x < 96; x += 19)
        near_to((i == 1 ? -1 : 1) * flow_field(&f, "velocity/x", x, 1, 0), exact, 0.03 * u, "velocity");
    }
    flow_close(&f);
  }
}

/* A function of time that is constant gives the bits of the same without time; with heat, bodies and a sponge. */
static void test_constant(void **state) {
  (void)state;
  static const char *const also[] = {"", "lattice = 'D3Q27',", "collision = 'trt',"};
  for (int i = 0; i < 3; i++) {
    char digest[2][33];
    for (int k = 0; k < 2; k++) {
      flow f;
      flow_run(&f,
               "return sim.fluid { precision = 'double', %s grid = { n = {24, 10, 9}, size = {24, 10, 9}, y = 'wall',\n"
               "    x = 'wall' }, viscosity = 0.05, speed = 0.1, integrate = { dt = 1, t_end = 60 },\n"
               "  bodies = { sim.ball { point = {9.1, 2.3, 4.4}, radius = 2.6 } },\n"
               "  heat = { diffusivity = 0.04, x_low = 1, y_high = 0.5 },\n"
               "  sides = { x_low = { profile = function(x, y, z%s) return 0.05 * y * (10 - y) / 25, 0, 0 end },\n"
               "            x_high = { pressure = function(y%s) return 1e-4 * y end, sponge = 8 } } }",
               also[i], k ? ", t" : "", k ? ", t" : "");
      flow_digest(&f, digest[k]);
      flow_close(&f);
    }
    assert_string_equal(digest[0], digest[1]);
  }
}

/* A profile along a wall is that of a wall that moves: with heat no temperature comes in by it. */
static void test_lid(void **state) {
  (void)state;
  double u[2], T[2];
  for (int k = 0; k < 2; k++) {
    flow f;
    flow_run(&f,
             "return sim.fluid { precision = 'double', grid = { n = {12, 10}, size = {12, 10}, boundary = 'wall' },\n"
             "  viscosity = 0.05, speed = 0.1, integrate = { dt = 1, t_end = 60 },\n"
             "  heat = { diffusivity = 0.04, x_low = 1 }, sides = { y_high = { %s } } }",
             k ? "profile = function(x, y) return 0.05, 0 end" : "velocity = {0.05, 0}");
    u[k] = flow_field(&f, "velocity/x", 4, 8, 0);
    T[k] = flow_field(&f, "temperature", 4, 8, 0);
    flow_close(&f);
  }
  near_to(u[1], u[0], 1e-14, "velocity");
  near_to(T[1], T[0], 1e-14, "temperature");
}

static const char *const moving =
    "return sim.fluid { precision = '%s', %s grid = { n = {24, 10, 9}, size = {24, 10, 9}, y = 'wall', x = 'wall' },\n"
    "  viscosity = 0.05, speed = 0.1, integrate = { dt = 1, t_end = 60 },\n"
    "  bodies = { sim.ball { name = 'b', point = {9.1, 2.3, 4.4}, radius = 2.6 } },\n"
    "  heat = { diffusivity = 0.04, x_low = 1, y_high = 0.5 },\n"
    "  sides = { x_low = { profile = function(x, y, z, t) return 0.05 * math.min(t / 30, 1) * y * (10 - y) / 25, 0, 0 "
    "end },\n"
    "            x_high = { pressure = function(y, t) return 1e-4 * math.sin(t / 9) * y end, sponge = 8 } } }";

static void test_same(void **state) {
  (void)state;
  static const char *const precisions[] = {"double", "single"};
  for (int i = 0; i < 4; i++) {
    char text[1024];
    snprintf(text, sizeof text, moving, precisions[i % 2], collisions[i / 2]);
    flow_check_same(text, (const char *const[]){"bodies", "b_fx", NULL});
  }
}

int main(int count, char **words) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_swinging), cmocka_unit_test(test_driven),
                                     cmocka_unit_test(test_inlet),    cmocka_unit_test(test_sponge),
                                     cmocka_unit_test(test_constant), cmocka_unit_test(test_lid),
                                     cmocka_unit_test(test_same)};
  if (count > 1) cmocka_set_test_filter(words[1]);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
