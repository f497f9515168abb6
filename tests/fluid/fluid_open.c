/* Open sides: what a pressure at both ends of a channel drives, with and without shear stress at the ends. */
#include "tests/fluid/driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static const double pi = 3.14159265358979323846;

static void near_to(double got, double expected, double tolerance, const char *what) {
  if (!(fabs(got - expected) <= tolerance))
    fail_msg("%s: got %.15g, expected %.15g within %.1e (off by %.2e)", what, got, expected, tolerance, got - expected);
}

static const char *const collisions[] = {"", "collision = 'trt',"};

/* Flow along x, or along z of D3Q19 or D3Q27, from a pressure p to none between walls along y as far apart as the ends
 * are. *flux: the sum of the velocity in the middle over p/(12 nu), that of the parabola. Returns the greatest
 * difference from the parabola, over its maximum. */
static double channel(const char *keys, int n, int axis, bool straight, double *flux) {
  const double p = 1e-3, nu = 0.1, h = 1.0 / n;
  const char *name[] = {"velocity/x", "", "velocity/z"};
  flow f;
  flow_run(&f,
           "return sim.fluid { precision = 'double', %s viscosity = %g, speed = 1e-3, mach = %.17g,\n"
           "  grid = { n = {%s}, size = {%s}, y = 'wall', %s = 'wall' }, integrate = { t_end = 14 },\n"
           "  sides = { %c_low = { pressure = %g, straight = %s }, %c_high = { pressure = 0, straight = %s } } }",
           keys, nu, 0.4 / n, axis ? (n == 8 ? "2, 8, 8" : "2, 16, 16") : (n == 8 ? "8, 8" : "16, 16"),
           axis ? (n == 8 ? "0.25, 1, 1" : "0.125, 1, 1") : "1, 1", axis ? "z" : "x", axis ? 'z' : 'x', p,
           straight ? "true" : "false", axis ? 'z' : 'x', straight ? "true" : "false");
  double out = 0;
  *flux = 0;
  for (int y = 0; y < n; y++) {
    const double at = (y + 0.5) * h, exact = p / (2 * nu) * at * (1 - at);
    for (int i = 0; i < n; i++) {
      const double u = flow_field(&f, name[axis], axis ? 0 : i, y, axis ? i : 0);
      out = fmax(out, fabs(u - exact) / (p / (8 * nu)));
      if (i == n / 2) *flux += u * h * 12 * nu / p;
    }
  }
  flow_close(&f);
  return out;
}

/* With straight ends the parabola is the flow. Of moments the errors are those of walls, of second order; two
 * relaxation times have none but compression, p/(rho c^2) = 1.3e-4 with the relaxation time 1. */
static void test_straight(void **state) {
  (void)state;
  double flux;
  const double coarse = channel("", 8, 0, true, &flux), fine = channel("", 16, 0, true, &flux);
  print_message("straight ends: %.2e, %.2e, order %.2f\n", coarse, fine, log2(coarse / fine));
  near_to(log2(coarse / fine), 2, 0.2, "order");
  near_to(fine, 0, 5e-3, "velocity");
  near_to(channel(collisions[1], 8, 0, true, &flux), 0, 2e-4, "velocity, two relaxation times");
  near_to(channel("", 8, 2, true, &flux), coarse, 1e-3, "velocity along z, D3Q19");
  near_to(channel("lattice = 'D3Q27',", 8, 2, true, &flux), coarse, 1e-3, "velocity along z, D3Q27");
}

/* Without shear stress at the ends the flow is 1.1138 times as much: by the equations of Stokes with sigma n = -p n
 * there, in finite elements (Q2-Q1, with scipy: 1.10683, 1.11065, 1.11224 at 8, 16, 32 elements, whose error is of
 * first order, as the stress is infinite where ends and walls meet). That error is here too, 0.1 % at 16 cells, and
 * that of walls of moments, a third of 1.3 % at 8 cells and of 0.3 % at 16, which the limit takes with a factor of -1.
 */
static void test_without_shear(void **state) {
  (void)state;
  for (int i = 0; i < 2; i++) {
    double coarse, fine;
    (void)channel(collisions[i], 8, 0, false, &coarse);
    (void)channel(collisions[i], 16, 0, false, &fine);
    coarse -= 0.5 / 64, fine -= 0.5 / 256; /* the sum of a parabola at the middles of cells */
    print_message("free ends: %.5f, %.5f, limit %.5f\n", coarse, fine, 2 * fine - coarse);
    near_to(fine, 1.1138, 0.01, "flux");
    near_to(2 * fine - coarse, 1.1138, 0.006, "flux of small cells");
  }
}

/* Womersley's flow in a plane channel (J. Physiol. 127 (1955) 553, of a pipe): a pressure that swings drives it through
 * straight ends. The velocity is the real part of G/(i w) (1 - cosh(k (y - 1/2))/cosh(k/2)) exp(i w t), k = (i
 * w/nu)^(1/2), G the greatest slope of the pressure. Greatest error at a time. */
static double womersley(const char *keys, int n, double end) {
  const double nu = 0.1, length = 4.0 / n;
  flow f;
  flow_run(&f,
           "return sim.fluid { precision = 'double', %s grid = { n = {4, %d}, size = {%.17g, 1}, boundary = 'wall' },\n"
           "  viscosity = %g, speed = 0.3, mach = %.17g, integrate = { t_end = %g },\n"
           "  sides = { x_low = { pressure = function(t) return %.17g * math.cos(2 * math.pi * t) end,\n"
           "    straight = true }, x_high = { pressure = 0, straight = true } } }",
           keys, n, length, nu, 0.3 / n, end, length);
  const double out = flow_womersley_error(&f, 1, n, nu, 2 * pi);
  flow_close(&f);
  return out;
}

static void test_womersley(void **state) {
  (void)state;
  for (int i = 0; i < 2; i++) {
    double error[2] = {0};
    for (int k = 0; k < 4; k++) /* at two phases */
      error[k / 2] = fmax(error[k / 2], womersley(collisions[i], k / 2 ? 24 : 12, k % 2 ? 12.25 : 12));
    const double coarse = error[0], fine = error[1];
    print_message("Womersley %s: %.2e, %.2e, order %.2f\n", collisions[i], coarse, fine, log2(coarse / fine));
    near_to(fine, 0, 2e-3, "velocity");     /* of 0.17: (dx |k|)^2/12, |k|^2 = w/nu = 63 */
    assert_true(log2(coarse / fine) > 1.7); /* 1.9 and 2.4 from 32 to 64 cells: part of the error falls faster */
  }
}

/* Where a straight end meets a side that slips, the flow is half of the one with its mirror image: to the rounding of
 * 30 steps, whose velocities are 0.1 of a cell. */
static void test_corner(void **state) {
  (void)state;
  static const char *const keys[] = {"", "collision = 'trt',"};
  for (int i = 0; i < 4; i++) {
    flow f[2];
    for (int k = 0; k < 2; k++)
      flow_run(
          &f[k],
          "local three, whole, w = %s, %s, math.pi / 8\n"
          "local n = { 12, whole and 16 or 8, three and 3 or nil }\n"
          "return sim.fluid { precision = 'double', %s grid = { n = n, size = n, x = 'wall',\n"
          "  y = whole and 'periodic' or 'slip' }, viscosity = 0.1, speed = 0.15, integrate = { dt = 1, t_end = 30 },\n"
          "  initial = function(x, y) local u, v = 0.05 + 0.03 * math.cos(w * y), 0.05 * math.sin(w * y)\n"
          "    if three then return u, v, 0.01 end\n"
          "    return u, v end,\n"
          "  sides = { x_low = { velocity = three and {0.05, 0, 0} or {0.05, 0} },\n"
          "            x_high = { pressure = 0, straight = true } } }",
          i / 2 ? "true" : "false", k ? "true" : "false", keys[i % 2]);
    for (int y = 0; y < 8; y++)
      for (int x = 0; x < 12; x++)
        for (int a = 0; a < 3; a++) {
          const char *name = (const char *[]){"velocity/x", "velocity/y", "pressure"}[a];
          near_to(flow_field(&f[0], name, x, y, 0), flow_field(&f[1], name, x, y, 0), 1e-13, name);
        }
    for (int k = 0; k < 2; k++) flow_close(&f[k]);
  }
}

int main(int count, char **words) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_straight), cmocka_unit_test(test_without_shear),
                                     cmocka_unit_test(test_womersley), cmocka_unit_test(test_corner)};
  if (count > 1) cmocka_set_test_filter(words[1]);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
