/* Bodies: drag, lift and torque of the literature. */
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
    fail_msg("%s: got %.9g, expected %.9g within %.1e (off by %.2e)", what, got, expected, tolerance, got - expected);
}

/* Stokes flow through a cubic array of spheres of volume fraction c (Hasimoto, J. Fluid Mech. 5 (1959) 317; with the
 * terms behind c^2 of Sangani and Acrivos, Int. J. Multiphase Flow 8 (1982) 343): 6 pi mu r U/F = 1 - 1.7601 c^(1/3) +
 * c
 * - 1.5593 c^2 + 3.9799 c^(8/3) - 3.0734 c^(10/3), with the mean velocity U over the whole box and F the force on all
 * of it. At a radius of 6 cells errors of second order are 1/6^2 = 3 % times a factor that is about 1/3 for bounce-back
 * at this relaxation time, 0.75. */
static void test_hasimoto(void **state) {
  (void)state;
  const double r = 0.25, c = 4 * pi / 3 * r * r * r;
  flow f;
  flow_run(&f, "return sim.fluid { precision = 'double', grid = { n = {24, 24, 24}, size = {1, 1, 1} },\n"
               "  viscosity = 0.1, speed = 0.02, acceleration = {0.01, 0, 0},\n"
               "  bodies = { sim.ball { name = 'ball', point = {0.4, 0.1, 1.3}, radius = 0.25 } },\n"
               "  integrate = { dt = 0.8 / 24^2, t_end = 8 } }");
  const double mass = flow_value(&f, "flow", "mass"), force = flow_value(&f, "bodies", "ball_fx");
  near_to(force / (0.01 * mass), 1, 1e-3, "the body bears the driving force"); /* what has not decayed */
  const double exact = 1 - 1.7601 * cbrt(c) + c - 1.5593 * c * c + 3.9799 * pow(c, 8.0 / 3) - 3.0734 * pow(c, 10.0 / 3);
  near_to(6 * pi * 0.1 * r * flow_value(&f, "flow", "momentum_x") / 0.01, exact, 0.01 * exact, "Hasimoto");
  near_to(flow_value(&f, "bodies", "ball_fy") / force, 0, 1e-3, "force across"); /* of the cells' cut alone */
  flow_close(&f);
}

/* A cylinder that turns in one at rest: torque 4 pi mu W r^2 R^2/(R^2 - r^2) by length, equal and opposite. A gap of 10
 * cells: second order, 1 %. */
static void test_taylor_couette(void **state) {
  (void)state;
  const double r = 0.2, outer = 0.4, expected = 4 * pi * 0.1 * r * r * outer * outer / (outer * outer - r * r);
  flow f;
  flow_run(&f, "return sim.fluid { precision = 'double', grid = { n = {50, 50}, size = {1, 1} }, viscosity = 0.1,\n"
               "  speed = 0.2, bodies = {\n"
               "    sim.cylinder { name = 'rotor', point = {0.5, 0.51, 0}, radius = 0.2, spin = 1 },\n"
               "    sim.cylinder { name = 'stator', point = {0.5, 0.51, 0}, radius = 0.4, inside = true } },\n"
               "  integrate = { t_end = 4 } }");
  near_to(flow_value(&f, "bodies", "rotor_tz"), -expected, 0.01 * expected, "Taylor-Couette: inner torque");
  near_to(flow_value(&f, "bodies", "stator_tz"), expected, 0.01 * expected, "Taylor-Couette: outer torque");
  flow_close(&f);
}

/* Schaefer and Turek, Notes Numer. Fluid Mech. 52 (1996) 547, case 2D-1: drag coefficient 5.5795 and lift coefficient
 * 0.0106 of a cylinder in a channel. The outlet reflects sound, whose mode of a quarter wave decays slowly: values are
 * means over its period of 2 s. */
static void cylinder(int n, double t_end, double drag_tolerance, double lift_tolerance) {
  const int along = (int)lround(2.2 / 0.41 * n);
  flow f;
  char text[1024];
  double drag = 0, lift = 0;
  snprintf(
      text, sizeof text,
      "local n, H, U = %d, 0.41, 0.3\n"
      "local function profile(x, y) return 4 * U * y * (H - y) / H^2, 0 end\n"
      "return sim.fluid { precision = 'double', grid = { n = {%d, n}, size = {%d * H / n, H}, boundary = 'wall' },\n"
      "  viscosity = 1e-3, speed = 0.45, initial = profile,\n"
      "  sides = { x_low = { profile = profile }, x_high = { pressure = 0 } },\n"
      "  bodies = { sim.cylinder { point = {0.2, 0.2, 0}, radius = 0.05 } }, integrate = { t_end = %g } }",
      n, along, along, t_end);
  flow_open(&f, text, sim_isa_best(), 2, NULL);
  while (f.clock.t < t_end - 2) flow_steps(&f, 1);
  int count = 0;
  for (; f.clock.t < t_end; count++) {
    drag += flow_value(&f, "bodies", "body1_fx");
    lift += flow_value(&f, "bodies", "body1_fy");
    flow_steps(&f, 1);
  }
  const double unit = 0.2 * 0.2 * 0.1 / 2; /* density, mean velocity^2, diameter */
  near_to(drag / count / unit, 5.5795, drag_tolerance, "2D-1: drag");
  near_to(lift / count / unit, 0.010619, lift_tolerance, "2D-1: lift");
  flow_close(&f);
}

/* 10 cells a diameter: errors of second order, up to 4/10^2 of the drag; the lift is the difference of two sides. */
static void test_cylinder(void **state) {
  (void)state;
  cylinder(41, 10, 0.04 * 5.5795, 0.004);
}
/* 20 cells: a quarter of that, 1 %. */
static void test_cylinder_fine(void **state) {
  (void)state;
  cylinder(82, 16, 0.01 * 5.5795, 0.001);
}

int main(int count, char **words) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_hasimoto), cmocka_unit_test(test_taylor_couette),
                                     cmocka_unit_test(test_cylinder)};
  const struct CMUnitTest long_tests[] = {cmocka_unit_test(test_cylinder_fine)};
  if (count > 1 && strcmp(words[1], "long") != 0) cmocka_set_test_filter(words[1]);
  if (count > 1 && strcmp(words[1], "long") == 0) return cmocka_run_group_tests(long_tests, NULL, NULL);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
