/* Closed boxes begin with the pressure of the fluid at rest under its weight: of an acceleration, of warm and cold
 * levels. Answers are the isothermal atmosphere's: d rho/dh = rho a(h)/c^2, p = density c^2 (rho - 1). */
#include "tests/fluid/driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

enum { N = 20 }; /* cells of the axis with the weight, 1 long */

static double sound_squared(const flow *f) {
  const double unit = 1.0 / N / f->clock.dt;
  return unit * unit / 3;
}

static double speed_of(flow *f) { return flow_value(f, "flow", "speed"); }

/* The pressure along an axis against density c^2 (exp(height(h)) C - 1), whose density is 1 in the mean of the cells.
 * The trapezoidal rule is off by h^2/12 of the second derivative of rho a, at most `bend`. */
static void check_column(const flow *f, int axis, double (*height)(double h), double bend) {
  const double square = sound_squared(f);
  double rho[N], sum = 0;
  for (int i = 0; i < N; i++) sum += rho[i] = exp(height((i + 0.5) / N) / square) / N;
  for (int i = 0; i < N; i++) {
    const int64_t at[3] = {axis == 0 ? i : 2, axis == 1 ? i : 2, axis == 2 ? i : 2};
    const double p = flow_field(f, "pressure", at[0], at[1], at[2]), expected = square * (rho[i] * N / sum - 1);
    if (!(fabs(p - expected) < 1e-12 * square + bend / (12.0 * N * N)))
      fail_msg("cell %d along %c: the pressure is %.9g, expected %.9g", i, "xyz"[axis], p, expected);
  }
}

static double weight(double h) { return -4 * h; }

/* An acceleration of -4 along an axis, speed of sound 10: rho a bends by 4^3/10^4. Each of 400 steps rounds densities
 * by some 1e-16, of a velocity of sound 10: 1e-12 is 10^3 of it. Without the pressure of the start the speed is about
 * 4/20. */
static void test_weight(void **state) {
  (void)state;
  for (int k = 0; k < 6; k++) {
    const int axis = k % 3;
    static const char *const more[] = {"",
                                       "lattice = 'D3Q27',",
                                       "collision = 'trt',",
                                       "collision = 'trt',",
                                       "",
                                       "lattice = 'D3Q27', collision = 'trt',"};
    flow f;
    flow_run(&f,
             "local n, size, a = {4, 4, 4}, {0.2, 0.2, 0.2}, {0, 0, 0}\n"
             "n[%d], size[%d], a[%d] = 20, 1, -4\n"
             "return sim.fluid { precision = 'double', grid = { n = n, size = size, %c = '%s' }, viscosity = 0.02,\n"
             "  speed = 1, %s acceleration = a, integrate = { t_end = 1 } }",
             axis + 1, axis + 1, axis + 1, "xyz"[axis], k < 3 ? "wall" : "slip", more[k]);
    check_column(&f, axis, weight, 4.0 * 4 * 4 / 1e4 * 1.2);
    if (!(speed_of(&f) < 1e-12)) fail_msg("case %d: speed %.3g", k, speed_of(&f));
    flow_close(&f);
  }
}

static double warm_above(double h) { return 9.81 * (h * h - h) / 2; }

/* A temperature that rises with height from 0 to 1 about its reference 0.5: a = 9.81 (h - 0.5). Buoyancy acts behind
 * the collision, which then sees the velocity -a dt/2: its pressure (a dt/2)^2, at most, is not balanced, which is
 * sound of (a dt)^2/(4 c). Without the pressure of the start the speed is some 0.1 after a quarter of the period of
 * sound. */
static void test_levels(void **state) {
  (void)state;
  for (int k = 0; k < 4; k++) {
    const int axis = k % 3;
    flow f;
    flow_run(&f,
             "local n, size, g, axis = {5, 5, 5}, {0.25, 0.25, 0.25}, {0, 0, 0}, %d\n"
             "n[axis], size[axis], g[axis] = 20, 1, -9.81\n"
             "local heat = { diffusivity = 0.02, expansion = 1, gravity = g, reference = 0.5,\n"
             "  initial = function(x, y, z) return axis == 1 and x or axis == 2 and y or z end }\n"
             "heat['%c_low'], heat['%c_high'] = 0, 1\n"
             "return sim.fluid { precision = 'double', grid = { n = n, size = size, boundary = 'wall' },\n"
             "  viscosity = 0.02, speed = 0.5, %s heat = heat, integrate = { t_end = 0.1 } }",
             axis + 1, "xyz"[axis], "xyz"[axis], k == 3 ? "collision = 'trt'," : "");
    const double step = 4.905 * f.clock.dt;
    /* (rho a)'' = 3 a a'/c^2 + ..., a' = 9.81 */
    check_column(&f, axis, warm_above, 4 * 4.905 * 9.81 / sound_squared(&f));
    if (!(speed_of(&f) < step * step / 4 / sqrt(sound_squared(&f))))
      fail_msg("along %c: %.3g", "xyz"[axis], speed_of(&f));
    flow_close(&f);
  }
}

/* A warm block of fluid in a cold one, and a body: the pressure of the start is that of the mean of each height over
 * cells of the fluid, by sums here. An acceleration adds to it. A pressure of `initial` stays as it is. */
static void test_means(void **state) {
  (void)state;
  static const char text[] =
      "return sim.fluid { precision = 'double', grid = { n = {10, 20}, size = {0.5, 1}, boundary = 'wall' },\n"
      "  viscosity = 0.02, speed = 0.5, acceleration = {0, 2}, %s\n"
      "  bodies = { sim.block { low = {0.3, 0.6, 0}, high = {0.5, 0.8, 0} } },\n"
      "  heat = { diffusivity = 0.02, expansion = 1, gravity = {0, -9.81}, initial = function(x, y)\n"
      "    return sim.where(sim.lt(x, 0.2), 1, 0)*sim.where(sim.lt(y, 0.7), 1, 0) end }, integrate = { t_end = 1 } }";
  for (int own = 0; own < 2; own++) {
    char filled[1024];
    flow f;
    snprintf(filled, sizeof filled, text, own ? "initial = function(x, y) return 0, 0, 0.01*x end," : "");
    flow_open(&f, filled, sim_isa_best(), 2, NULL);
    flow_look(&f);
    const double c2 = sound_squared(&f), h = 1.0 / N;
    double rho[N], sum = 0, before = 0;
    for (int y = 0; y < N; y++) {
      const double warm = y < 14 ? 4 : 0, cells = y >= 12 && y < 16 ? 6 : 10, a = 2 + 9.81 * warm / cells;
      rho[y] = y == 0 ? 1 : rho[y - 1] * (1 + before * h / (2 * c2)) / (1 - a * h / (2 * c2));
      sum += rho[y] / N;
      before = a;
    }
    for (int y = 0; y < N; y++)
      for (int x = 0; x < 10; x++) {
        const bool solid = x >= 6 && y >= 12 && y < 16;
        const double p = flow_field(&f, "pressure", x, y, 0);
        const double expected = solid ? 0 : own ? 0.01 * (x + 0.5) * h : c2 * (rho[y] / sum - 1);
        /* a parts of 2^30 of a range of 1 */
        if (!(fabs(p - expected) < 1e-7))
          fail_msg("cell %d, %d: the pressure is %.9g, expected %.9g", x, y, p, expected);
      }
    flow_close(&f);
  }
}

/* No pressure of the start where fluid passes a side, along a periodic axis, or with a force. */
static void test_others(void **state) {
  (void)state;
  static const char *const cases[] = {
      "acceleration = {0, -4}, sides = { x_high = { pressure = 0 } },",
      "acceleration = {0, -4}, sides = { y_high = { pressure = 0 } },",
      "acceleration = {0, -4}, force = function(x, y) return 0, 4 end,",
      "heat = { diffusivity = 0.02, expansion = 1, gravity = {0, -4}, reference = 1, initial = function() return 1 end "
      "},",
  };
  for (size_t k = 0; k <= sizeof cases / sizeof cases[0]; k++) {
    char text[1024];
    flow f;
    snprintf(text, sizeof text,
             "return sim.fluid { precision = 'double', grid = { n = {10, 20}, size = {0.5, 1}, boundary = '%s' },\n"
             "  viscosity = 0.02, speed = 1, %s integrate = { t_end = 1 } }",
             k == 4 ? "periodic" : "wall", k == 4 ? "acceleration = {0, -4}," : cases[k]);
    flow_open(&f, text, sim_isa_best(), 1, NULL);
    flow_look(&f);
    for (int y = 0; y < N; y++)
      if (!(fabs(flow_field(&f, "pressure", 3, y, 0)) < 1e-12)) fail_msg("case %zu: a pressure at y = %d", k, y);
    flow_close(&f);
  }
}

/* Threads, instruction sets and restarts. */
static void test_same(void **state) {
  (void)state;
  flow_check_same(
      "return sim.fluid { grid = { n = {20, 14, 9}, size = {20, 14, 9}, boundary = 'wall' }, viscosity = 0.05,\n"
      "  speed = 0.1, acceleration = {0, 0, -1e-4},\n"
      "  bodies = { sim.ball { name = 'b', point = {6.3, 6.9, 4}, radius = 2.2 } },\n"
      "  heat = { diffusivity = 0.05, expansion = 1, gravity = {-1e-3, 0, 0}, reference = 0.3,\n"
      "    initial = function(x, y, z) return 0.04*x + 0.1*math.sin(y + z) end }, integrate = { t_end = 1e9 } }",
      (const char *const[]){"flow", "speed", "bodies", "b_fx", "bodies", "b_fz", "heat", "mean", NULL});
}

int main(int count, char **words) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_weight), cmocka_unit_test(test_levels),
                                     cmocka_unit_test(test_means), cmocka_unit_test(test_others),
                                     cmocka_unit_test(test_same)};
  if (count > 1) cmocka_set_test_filter(words[1]);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
