/* Coefficients of derived fields of several fields. */
#include "tests/diffusion/diffusion_driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static const double pi = 3.14159265358979323846;

/* At k = 0 a coefficient that is not finite counts as 0 and does not change those of the other fields: p is the mean of
 * u, plus the potential of v, whose mean is 0. The bound is rounding. */
static void test_mean(void **state) {
  (void)state;
  system_run s;
  double values[1];
  open_with(&s,
            "return sim.diffusion { grid = { n = {9, 8}, size = {2*math.pi, 2*math.pi} }, fields = {"
            "{ name = 'u', initial = 3 }, { name = 'v', initial = function(x, y) return 5 + math.sin(x + 2*y) end }},"
            "derived = { p = function(k2, u, v) return u - v/k2 end }, observe = { gap = { function(p, v)"
            " return math.abs(p - 3 + (v - 5)/5) end, reduce = 'max' } }, integrate = { t_end = 1 } }",
            sim_isa_best(), 1, NULL);
  must(diffusion_model.observe(s.self, &s.clock, 1, values), "observe");
  assert_true(values[0] < 1e-13);
  shut(&s);
}

/* Imaginary coefficients of the second of two fields, beside an axis with walls: derivatives along the periodic axis.
 */
static void test_beside_walls(void **state) {
  (void)state;
  for (int wall = 0; wall < 2; wall++) {
    system_run s;
    char text[1024];
    double values[1];
    snprintf(
        text, sizeof text,
        "return sim.diffusion { grid = { n = {9, 8}, size = {%.17g, %.17g}, %c = 'no_flux' }, fields = {"
        "{ name = 'u', initial = 1 }, { name = 'v', initial = function(x, y) return math.sin(%c)*math.cos(%c) end }},"
        "derived = { p = function(kx, ky, u, v) return 0, k%c*v/(1 + k%c^2) end }, observe = { gap = {"
        " function(p, x, y) return math.abs(p - math.cos(%c)*math.cos(%c)/2) end, reduce = 'max' } },"
        "integrate = { t_end = 1 } }",
        wall ? 2 * pi : pi, wall ? pi : 2 * pi, wall ? 'y' : 'x', wall ? 'x' : 'y', wall ? 'y' : 'x', wall ? 'x' : 'y',
        wall ? 'y' : 'x', wall ? 'x' : 'y', wall ? 'y' : 'x');
    open_with(&s, text, sim_isa_best(), 1, NULL);
    must(diffusion_model.observe(s.self, &s.clock, 1, values), "observe");
    assert_true(values[0] < 1e-14);
    shut(&s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_mean), cmocka_unit_test(test_beside_walls)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
