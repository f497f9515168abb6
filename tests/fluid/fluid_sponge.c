/* Sides that absorb sound. */
#include "tests/fluid/driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { LENGTH = 240, SPONGE = 40 };

/* A pulse of sound exp(-(x - 120)^2/(2 s^2)) moves towards an open side in a flow of Mach number 0.05. Returns the
 * greatest pressure, over that of the pulse, when it is back in the middle. */
static double reflected(const char *side, double s, bool sponge, const char *precision) {
  flow f;
  double most = 0;
  flow_run(
      &f,
      "local low, U, c, A, sponge = '%s' == 'low', 0.03, 1 / math.sqrt(3), 1e-3, %s\n"
      "local inlet, outlet = { velocity = {U, 0} }, { pressure = 0 }\n"
      "if low then inlet.sponge = sponge else outlet.sponge = sponge end\n"
      "return sim.fluid { precision = '%s', grid = { n = {%d, 4}, size = {%d, 4}, x = 'wall' }, viscosity = 0.01,\n"
      "  speed = 0.05, sides = { x_low = inlet, x_high = outlet },\n"
      "  initial = function(x, y)\n"
      "    local p = A * math.exp(-((x - %d / 2) / %g)^2 / 2)\n"
      "    return U + (low and -1 or 1) * p / c, 0, p end,\n"
      "  integrate = { dt = 1, t_end = %d } }",
      side, sponge ? "40" : "nil", precision, LENGTH, LENGTH, LENGTH, s, (int)(LENGTH * sqrt(3)));
  for (int x = 0; x < LENGTH; x++) most = fmax(most, fabs(flow_field(&f, "pressure", x, 1, 0)));
  flow_close(&f);
  return most / 1e-3;
}

/* At half of its height the pulse is 2.35 s = 23.5 cells wide; the sponge has 40. Two passes through the layer keep
 * exp(-7) = 1e-3. The running mean absorbs sqrt(2 pi) s/(30 40) = 2 % of a pulse of one sign during its passage. It
 * releases this slowly, over the 2 * 240 cells of the two waves that it sends and 30 times the sponge: below 1 %.
 * Without a sponge most of the pulse comes back (the rest, damped by viscosity, has become wider). */
static void test_pulse(void **state) {
  (void)state;
  static const char *const sides[] = {"high", "low"};
  for (int i = 0; i < 4; i++) {
    const char *side = sides[i / 2], *precision = i % 2 ? "single" : "double";
    const double with = reflected(side, 10, true, precision), without = reflected(side, 10, false, precision);
    if (!(with < 0.01)) fail_msg("x_%s, %s: %.4f of the pulse comes back", side, precision, with);
    if (!(without > 0.6)) fail_msg("x_%s, %s: %.4f comes back without a sponge", side, precision, without);
  }
}

static const char *const channel =
    "local function profile(x, y) return 4 * y * (1 - y), 0 end\n"
    "return sim.fluid { precision = 'double', grid = { n = {20, 10}, size = {2, 1}, boundary = 'wall' },\n"
    "  viscosity = 0.1, speed = 1, mach = 0.05, sides = { x_low = { profile = profile },\n"
    "    x_high = { pressure = 0, sponge = %s } }, initial = profile, integrate = { t_end = 150 } }";

/* A sponge does not change a steady flow, because its means become that flow. By t = 150 little is left of the start.
 * The means decay in 30 * 8 cells/c = 1.2, viscous flow in 1/(pi^2 0.1) = 1, and sound, without a sponge, in 2/(0.1
 * (pi/4)^2) = 32 by viscosity alone (a quarter of a wave in the channel), in less than 8 with the friction of the
 * walls: the rest is below exp(-150/8). */
static void test_steady(void **state) {
  (void)state;
  flow with, without;
  flow_run(&with, channel, "0.8");
  flow_run(&without, channel, "'none'");
  for (int y = 0; y < 10; y++)
    for (int x = 0; x < 20; x++) {
      const double u = flow_field(&with, "velocity/x", x, y, 0) - flow_field(&without, "velocity/x", x, y, 0);
      const double p = flow_field(&with, "pressure", x, y, 0) - flow_field(&without, "pressure", x, y, 0);
      if (!(fabs(u) < 1e-8 && fabs(p) < 1e-8)) fail_msg("cell {%d, %d} is off by %.2e, %.2e", x, y, u, p);
    }
  flow_close(&with);
  flow_close(&without);
}

/* An inlet that begins at once is warned of, before a sponge and without one, and not one with a start; and one that
 * changes with time where several sides have a pressure. */
static void test_jump(void **state) {
  (void)state;
  static const char *const cases[] = {
      "x_high = { pressure = 0, sponge = 10 } }",
      "x_high = { pressure = 0 } }",
      "x_high = { pressure = 0, sponge = 10 } }, initial = function(x, y) return 0.1, 0 end",
      "x_high = { pressure = 0, sponge = 10 }, y_low = { profile = function(t) return 0, 0.1 * t end } },\n"
      "  initial = function(x, y) return 0.1, 0 end",
      "x_high = { pressure = 0, sponge = 10 }, y_low = { profile = function(t) return 0, 0.1 * t end },\n"
      "  y_high = { pressure = 0 } }, initial = function(x, y) return 0.1, 0 end",
      "x_high = { pressure = 0, sponge = 10 } }",
      "x_high = { pressure = 0, sponge = 10 } }"};
  static const char *const inlets[] = {"profile = function(t) return 0.1 * math.exp(-t), 0 end",
                                       "profile = function(t) return 0.1 * (1 - math.exp(-t)), 0 end"};
  for (int i = 0; i < 7; i++) {
    flow f;
    flow_heard h = {0};
    sim_plan plan = {0};
    char text[1024];
    snprintf(text, sizeof text,
             "return sim.fluid { grid = { n = {40, 10}, size = {40, 10}, boundary = 'wall' }, viscosity = 0.1, speed = "
             "0.2,\n"
             "  sides = { x_low = { %s }, %s, integrate = { t_end = 1 } }",
             i < 5 ? "velocity = {0.1, 0}" : inlets[i - 5], cases[i]);
    flow_open(&f, text, sim_isa_best(), 1, NULL);
    assert_true(sim_log_add(flow_hear, &h));
    assert_int_equal(fluid_model.plan(f.p, &f.setup, &plan), SIM_OK);
    sim_log_remove(flow_hear, &h);
    assert_int_equal(strstr(h.text, "give `initial`") != NULL, i <= 1 || i == 5);
    assert_int_equal(strstr(h.text, "where several sides have a pressure") != NULL, i == 4);
    flow_close(&f);
  }
}

/* The same by two relaxation times, of populations. */
static int by_populations(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_pulse), cmocka_unit_test(test_steady)};
  flow_with = "collision = 'trt',";
  return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(int count, char **words) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_pulse), cmocka_unit_test(test_steady),
                                     cmocka_unit_test(test_jump)};
  if (count > 1) cmocka_set_test_filter(words[1]);
  return cmocka_run_group_tests(tests, NULL, NULL) + by_populations();
}
