/* D3Q27: exact solutions, flows that lie aslant to the grid or are carried by a mean flow, and what else a fluid has. */
#include "tests/fluid/driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const double pi = 3.14159265358979323846;

__attribute__((unused)) static void near_to(double got, double expected, double tolerance, const char *what) {
  if (!(fabs(got - expected) <= tolerance))
    fail_msg("%s: got %.15g, expected %.15g within %.1e (off by %.2e)", what, got, expected, tolerance, got - expected);
}

/* nu_eff/nu - 1 of a shear wave that a mean flow U carries along its wave vector k = (kx, ky, kz) turns around a box of
 * 24 cells: the amplitude, of a velocity along `d`, decays as exp(-nu k^2 t). The wave is so weak that only U acts. */
static double carried(const char *keys, const int k[3], const double d[3], double speed) {
  const int n = 24, steps = 400;
  const double nu = 0.01, square = k[0] * k[0] + k[1] * k[1] + k[2] * k[2], length = sqrt(square);
  flow f;
  double a = 0, b = 0;
  flow_run(&f,
           "local q, sin = 2 * math.pi / %d, math.sin\n"
           "return sim.fluid { precision = 'double', grid = { n = {%d, %d, %d}, size = {%d, %d, %d} }, viscosity = %g,\n"
           "  speed = 0.15, %s initial = function(x, y, z)\n"
           "    local w = 1e-4 * sin(q * (%d * x + %d * y + %d * z))\n"
           "    return %.17g + w * %.17g, %.17g + w * %.17g, %.17g + w * %.17g\n"
           "  end, integrate = { dt = 1, t_end = %d } }",
           n, n, n, n, n, n, n, nu, keys, k[0], k[1], k[2], speed * k[0] / length, d[0], speed * k[1] / length, d[1],
           speed * k[2] / length, d[2], steps);
  for (int z = 0; z < n; z++)
    for (int y = 0; y < n; y++)
      for (int x = 0; x < n; x++) {
        const double phase = 2 * pi / n * (k[0] * (x + 0.5) + k[1] * (y + 0.5) + k[2] * (z + 0.5));
        const double u = d[0] * flow_field(&f, "velocity/x", x, y, z) + d[1] * flow_field(&f, "velocity/y", x, y, z) +
                         d[2] * flow_field(&f, "velocity/z", x, y, z);
        a += u * sin(phase);
        b += u * cos(phase);
      }
  flow_close(&f);
  const double amplitude = hypot(a, b) / (n * n * n / 2.0) / 1e-4;
  return -log(amplitude) / (nu * square * 4 * pi * pi / (n * n) * steps) - 1;
}

static void test_carried(void **state) {
  (void)state;
  static const int ways[3][3] = {{1, 0, 0}, {1, 1, 0}, {1, 1, 1}};
  static const double across[3][3] = {{0, 1, 0}, {0, 0, 1}, {0.70710678118654752, -0.70710678118654752, 0}};
  static const char *const keys[] = {"", "lattice = 'D3Q27',", "collision = 'trt',", "collision = 'trt', lattice = 'D3Q27',"};
  for (int i = 0; i < 3; i++)
    for (int s = 0; s < 4; s++)
      print_message("way %d, %s: rest %.3e, carried %.3e\n", i, keys[s], carried(keys[s], ways[i], across[i], 0),
                    carried(keys[s], ways[i], across[i], 0.1));
}

/* Greatest speed across the axis of a round pipe over that along it: of a developed flow it is 0. */
static double secondary(const char *keys, double radius, double *flux) {
  const int n = (int)(2 * radius) + 4;
  const double nu = 0.01, top = 0.1, g = 4 * nu * top / (radius * radius);
  flow f;
  double most = 0, sum = 0;
  flow_run(&f,
           "return sim.fluid { precision = 'double', grid = { n = {3, %d, %d}, size = {3, %d, %d} }, viscosity = %g,\n"
           "  speed = 0.15, %s acceleration = {%.17g, 0, 0},\n"
           "  bodies = { sim.cylinder { name = 'pipe', point = {0, %.17g, %.17g}, axis = {1, 0, 0}, radius = %g, inside = true } },\n"
           "  initial = function(x, y, z) local s = 1 - ((y - %.17g)^2 + (z - %.17g)^2) / %.17g\n"
           "    return 0.1 * math.max(s, 0), 0, 0 end,\n"
           "  integrate = { dt = 1, t_end = 8000 } }",
           n, n, n, n, nu, keys, g, n / 2.0, n / 2.0, radius, n / 2.0, n / 2.0, radius * radius);
  for (int z = 0; z < n; z++)
    for (int y = 0; y < n; y++) {
      sum += flow_field(&f, "velocity/x", 1, y, z);
      most = fmax(most, hypot(flow_field(&f, "velocity/y", 1, y, z), flow_field(&f, "velocity/z", 1, y, z)));
    }
  flow_close(&f);
  *flux = sum / (pi / 2 * radius * radius * top) - 1;
  return most / top;
}

static void test_pipe(void **state) {
  (void)state;
  static const char *const keys[] = {"", "lattice = 'D3Q27',", "collision = 'trt',", "collision = 'trt', lattice = 'D3Q27',"};
  for (int s = 0; s < 4; s++) {
    double flux;
    const double most = secondary(keys[s], 10.3, &flux);
    print_message("%s: secondary %.3e, flux %.3e\n", keys[s], most, flux);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_carried), cmocka_unit_test(test_pipe)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
