/* Diffusivities that vary in space: half of the largest one is D, solved exactly, and a flux carries the rest. Steps
 * are then limited by accuracy alone. */
#include "engine/log.h"
#include "tests/diffusion/diffusion_driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* u_t = (D(x) u_x)_x + u - u^3 with D(x) = 0.505 + 0.495 cos x, from 0.01 to 1, to t = 1, on 63 `fine` cells. SciPy's
 * Radau and DOP853 (rtol = 1e-12 and 1e-13, Fourier derivatives in NumPy, 63 cells) agree in 12 digits at the centres
 * of cells 0, 16, 32 and 48. Returns the greatest error there; INFINITY where the run diverges. */
static double error_of(int fine, double D, const char *scheme, int steps) {
  static const double exact[] = {0.041768779876, 0.585925640317, 0.241266535593, -0.607343197024};
  double worst = 0;
  system_run s;
  char text[1024];
  snprintf(text, sizeof text,
           "return sim.diffusion { grid = { n = {%d}, size = {2*math.pi} }, fields = {{ name = 'u', D = %.17g,"
           " initial = function(x) return 0.5*math.sin(x) + 0.2*math.cos(2*x) end }}, flux = function(u_x, x) return"
           " (%.17g - 0.505 - 0.495*math.cos(x))*u_x end, rates = function(u) return u - u^3 end,"
           " integrate = { scheme = '%s', dt = 1/%d, t_end = 1 } }",
           63 * fine, D, D, scheme, steps);
  open_with(&s, text, sim_isa_best(), 1, NULL);
  sim_status status = SIM_OK;
  while (s.clock.t < 1 && status == SIM_OK) status = diffusion_model.step(s.self, &s.clock);
  if (status == SIM_OK) look(&s);
  for (int i = 0; i < 4 && status == SIM_OK; i++)
    worst = fmax(worst, fabs(value(&s, 0, 16 * i * fine + fine / 2) - exact[i]));
  shut(&s);
  return status == SIM_OK ? worst : INFINITY;
}

/* The order of the schemes, where D h k^2 is small for the waves that the solution has. */
static void test_orders(void **state) {
  static const struct {
    const char *scheme;
    int steps;
    double ratio;
  } cases[] = {{"etd1", 1024, 2}, {"etdrk2", 1024, 4}, {"etdrk4", 512, 16}};
  (void)state;
  for (int i = 0; i < 3; i++) {
    const double a = error_of(1, 0.505, cases[i].scheme, cases[i].steps);
    const double b = error_of(1, 0.505, cases[i].scheme, 2 * cases[i].steps);
    if (!(a / b > 0.85 * cases[i].ratio && a / b < 1.15 * cases[i].ratio))
      fail_msg("%s: errors %.3g and %.3g", cases[i].scheme, a, b);
  }
}

/* The whole flux in the rates needs steps of 2.785/892 (ETDRK4; 892 is the largest eigenvalue) on 63 cells, and of 1/25
 * of that on 315. With D = max D(x)/2 no mode grows: where D h k^2 is large, a step multiplies it by 2 r^4 - r^2 with
 * r = 1 - D(x)/D, which is from -1 to 1. Then the error does not depend on the cells;
 * SciPy's own solutions on 63 and 315 cells differ by 4e-5. */
static void test_limits(void **state) {
  (void)state;
  assert_true(isinf(error_of(1, 0, "etdrk4", 256)));
  assert_true(error_of(1, 0, "etdrk4", 400) < 1e-10);
  assert_true(isinf(error_of(5, 0, "etdrk4", 6400)));
  for (int steps = 4; steps <= 64; steps *= 4) {
    const double coarse = error_of(1, 0.505, "etdrk4", steps), fine = error_of(5, 0.505, "etdrk4", steps);
    if (!(coarse < 0.6 / steps && fabs(fine - coarse) < 0.2 * coarse + 5e-5))
      fail_msg("%d steps: errors %.3g and %.3g", steps, coarse, fine);
  }
  assert_true(isinf(error_of(5, 0.25, "etdrk4", 64))); /* r is -3: D is too small */
}

static void count_spreading(void *context, sim_log_level level, const char *message) {
  *(int *)context += level == SIM_LOG_WARN && strstr(message, "D is solved exactly") != NULL;
}

/* A flux that spreads a field more than D does is warned of where steps are too long: above 2.785/(0.81 64^2) = 8.4e-4
 * with D(x) up to 0.81 on 128 cells, whose largest wavenumber is 64. */
static void test_warning(void **state) {
  static const struct {
    const char *field, *flux, *integrate;
    int warnings;
  } cases[] = {{"", "(math.sin(x)^2*0.81)*-u_x", "dt = 1e-3", 1},
               {"", "(math.sin(x)^2*0.81)*-u_x", "dt = 7e-4", 0},
               {"D = 0.5,", "-0.5*math.sin(x)^2*u_x", "dt = 0.1", 0},
               {"D = 0.2,", "-0.8*math.sin(x)^2*u_x", "dt = 0.1", 1},
               {"", "-0.81*u*u_x", "dt_max = 0.01", 1},
               {"", "0.81*u_x", "dt = 1e-3", 0},
               {"", "u*u", "dt = 1e-3", 0},
               {"hyper = 0.1,", "-0.81*u_x", "dt = 1e-3", 0}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[512];
    int warnings = 0;
    system_run s;
    snprintf(text, sizeof text,
             "return sim.diffusion { grid = { n = {128}, size = {2*math.pi} }, fields = {{ name = 'u', %s initial ="
             " function(x) return 1 + 0.5*math.sin(x) end }}, flux = function(u, u_x, x) return %s end,"
             " integrate = { scheme = 'etdrk4', %s, t_end = 1 } }",
             cases[i].field, cases[i].flux, cases[i].integrate);
    assert_true(sim_log_add(count_spreading, &warnings));
    open_with(&s, text, sim_isa_best(), 1, NULL);
    sim_log_remove(count_spreading, &warnings);
    shut(&s);
    if (warnings != cases[i].warnings) fail_msg("%s %s: %d warnings", cases[i].field, cases[i].flux, warnings);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_orders), cmocka_unit_test(test_limits),
                                     cmocka_unit_test(test_warning)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
