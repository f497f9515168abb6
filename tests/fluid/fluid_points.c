/* Grains that are points with a law of drag: the law, speeds of settling, what is kept, and the bits on other threads and
 * after a restart. */
#include "tests/fluid/driver.h"

#include "kernels/fluid/grains/points.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const double pi = 3.14159265358979323846;

static void near_to(double got, double expected, double tolerance, const char *what) {
  if (!(fabs(got - expected) <= tolerance))
    fail_msg("%s: got %.9g, expected %.9g within %.1e (off by %.2e)", what, got, expected, tolerance, got - expected);
}

/* Coefficients of drag of spheres as measured (Clift, Grace and Weber, Bubbles, Drops and Particles (1978), table 5.2): the
 * law is within 5 % of them. Di Felice's exponent is that of Richardson and Zaki, Trans. Inst. Chem. Eng. 32 (1954) 35, at
 * both ends: speeds fall as (1 - solid)^4.65 in Stokes flow and ^2.39 at Re 1000. */
static void test_law(void **state) {
  (void)state;
  static const double measured[][2] = {{0.1, 244}, {1, 27.2}, {10, 4.26}, {100, 1.09}, {1000, 0.46}};
  for (int i = 0; i < 5; i++) {
    const double re = measured[i][0], drag = 24 / re * fluid_drag_factor(FLUID_SCHILLER_NAUMANN, re, 0.3);
    near_to(drag / measured[i][1], 1, 0.05, "coefficient of drag");
  }
  near_to(fluid_drag_factor(FLUID_SCHILLER_NAUMANN, 1e5, 0) * 24 / 1e5, 0.44, 1e-12, "above 1000");
  near_to(log(fluid_drag_factor(FLUID_DI_FELICE, 0, 0.2)) / -log(0.8), 4.65, 0.1, "exponent in Stokes flow");
  const double fast = fluid_drag_factor(FLUID_DI_FELICE, 1e4, 0.2) / fluid_drag_factor(FLUID_DI_FELICE, 1e4, 0);
  near_to(log(fast) / -log(0.8) / 2, 2.39, 0.06, "exponent of fast grains");
}

/* The share is 1 of a slow kernel alone, and falls as Oseen's drag grows: by 3/8 sqrt(pi) s w/nu; where others resist, by
 * sqrt(pi) s kappa, and at last as 1/(2 (s kappa)^2). */
static void test_own_share(void **state) {
  (void)state;
  near_to(fluid_own_share(0, 0), 1, 1e-12, "share at rest");
  near_to((1 - fluid_own_share(0, 1e-3)) / 1e-3, 3 * sqrt(pi) / 8, 2e-3, "share of a slow one");
  near_to((1 - fluid_own_share(1e-4, 0)) / 1e-4, sqrt(pi), 1e-3, "share among others");
  near_to(fluid_own_share(100, 0) * 2e4, 1, 1e-3, "share among many others");
  double sum = 0; /* by the rule of the midpoint in c */
  for (int i = 0; i < 100000; i++) {
    const double c = (i + 0.5) / 100000, x = sqrt(0.09 + 4 * c * c);
    sum += 1.5 * (1 - c * c) * (1 - sqrt(pi) * x * exp(x * x) * erfc(x)) / 100000;
  }
  near_to(fluid_own_share(0.3, 2), sum, 1e-5, "share of both");
  near_to(fluid_own_share(6.0001, 0), fluid_own_share(5.9999, 0), 1e-5, "where the series begins");
}

static void flow_one(flow *f, const char *format, ...) {
  char text[4096];
  va_list more;
  va_start(more, format);
  vsnprintf(text, sizeof text, format, more);
  va_end(more);
  flow_open(f, text, sim_isa_best(), 1, NULL);
  flow_steps(f, INT64_MAX);
  flow_look(f);
}

/* Speed, over that of the law alone in an endless fluid, of one grain of radius r that settles along {1, 2, 3} through a
 * periodic box; the fluid is held by a force that takes its weight, so that its mean velocity stays 0. *reynolds: wanted. */
static double settling(double r, int n, double nu, double reynolds, const char *more) {
  const double k = fluid_drag_factor(FLUID_SCHILLER_NAUMANN, reynolds, 0), speed = reynolds * nu / (2 * r);
  const double volume = 4 * pi / 3 * r * r * r, density = 3, weight = 6 * pi * nu * r * k * speed; /* at density 1 */
  const double g = weight / ((density - 1) * volume), d[3] = {1 / sqrt(14), 2 / sqrt(14), 3 / sqrt(14)};
  const double hold = weight / ((double)n * n * n);
  flow f;
  flow_one(&f,
           "return sim.fluid { precision = 'double', grid = { n = {%d, %d, %d}, size = {%d, %d, %d} }, viscosity = %g,\n"
           "  speed = 0.1, drag = 'schiller_naumann', %s acceleration = {%.17g, %.17g, %.17g},\n"
           "  gravity = {%.17g, %.17g, %.17g}, contact = { contact_time = 50 },\n"
           "  grains = { { radius = %.17g, position = {3.1, 2.2, 1.7}, velocity = {%.17g, %.17g, %.17g}, density = 3 } },\n"
           "  integrate = { dt = 1, t_end = %d } }",
           n, n, n, n, n, n, nu, more, -hold * d[0], -hold * d[1], -hold * d[2], g * d[0], g * d[1], g * d[2], r,
           speed * d[0], speed * d[1], speed * d[2], (int)(0.6 * n * n / (4 * nu)));
  double out = 0;
  for (int a = 0; a < 3; a++) {
    char column[16];
    snprintf(column, sizeof column, "velocity_%c", "xyz"[a]);
    out += d[a] * (flow_value(&f, "grains", column));
    snprintf(column, sizeof column, "momentum_%c", "xyz"[a]);
    out -= d[a] * flow_value(&f, "flow", column) / ((double)n * n * n);
  }
  flow_close(&f);
  return out / speed;
}

static void test_settling(void **state) {
  (void)state;
  static const double radius[] = {0.1, 0.4, 0.8, 1.5, 2.5}, nus[] = {0.02, 0.05, 0.15};
  for (int i = 0; i < 5; i++)
  for (int j = 0; j < 3; j++) {
    const int n = 24;
    const double width = fmax(3, 2.5 * radius[i] / sqrt(pi) / 0.36151232), s = width * 0.36151232, V=n*n*n;
    const double c = 4 * pi / 3 * pow(radius[i], 3)/V, exact = 1 - 1.7601 * cbrt(c) + 4*pi*radius[i]*s*s/V;
    const double got = settling(radius[i], n, nus[j], 1e-3, "");
    print_message("radius %g nu %g: %.5f, expected %.5f: %.4f\n", radius[i], nus[j], got, exact, got / exact - 1);
  }
  for (int i = 0; i < 4; i++) {
    const double re = 0.1 * pow(3, i);
    print_message("Re %g: radius 0.8: %.5f\n", re, settling(0.8, 32, 0.02, re, ""));
  }
}

int main(int count, char **words) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_law), cmocka_unit_test(test_own_share),
                                     cmocka_unit_test(test_settling)};
  if (count > 1) cmocka_set_test_filter(words[1]);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
