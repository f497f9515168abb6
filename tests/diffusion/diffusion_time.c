/* Rates that change with time: their error, the limits of steps, runs that are extended, and states that are not
 * finite. */
#include "tests/diffusion/diffusion_driver.h"

#include <complex.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const double pi = 3.14159265358979323846;

static double oscillating(double x) {
  (void)x;
  return (1 - cos(60)) / 20;
}
static double cosine(double x) { /* a' = -pi^2 a + cos t */
  const double p = pi * pi;
  return cos(pi * x) * (p * cos(2) + sin(2) - p * exp(-2 * p)) / (p * p + 1);
}
static double pulse(double x) {
  (void)x;
  return 0.2 * sqrt(pi); /* the integral of a Gaussian, whose ends are 0 in double */
}
static double carried(double x) { return 0.5 + (sin(4 * pi * (x - 5)) - sin(4 * pi * x)) / (40 * pi); }

/* Rates of t alone, and of a field that is exact: the stages at one time have the same rates, and so has the scheme
 * embedded in ETDRK4. Each step may err by atol + rtol times the field; no damping is assumed. Steps of t_end/64 =
 * 0.047, a power of two below, meet a narrow pulse: their rates are at most 0.58 of a step apart, 0.018, where the
 * pulse is 0.02 wide. */
static void test_quadrature(void **state) {
  static const struct {
    const char *text;
    double (*exact)(double x);
  } cases[] = {{"grid = { n = {8}, size = {1} }, fields = {{ name = 'u' }}, "
                "rates = function(u, t) return math.sin(20*t) end, integrate = { t_end = 3,",
                oscillating},
               {"grid = { n = {32}, size = {1}, boundary = 'no_flux' }, fields = {{ name = 'u', D = 1 }}, "
                "rates = function(u, x, t) return math.cos(math.pi*x)*math.cos(t) end, integrate = { t_end = 2,",
                cosine},
               {"grid = { n = {8}, size = {1} }, fields = {{ name = 'u', D = 0.01 }}, "
                "rates = function(u, t) return 10*math.exp(-((t - 1.5)/0.02)^2) end, integrate = { t_end = 3,",
                pulse},
               {"grid = { n = {32}, size = {1} }, fields = {{ name = 'u' }, { name = 'v', drift = {5, 0, 0}, "
                "initial = function(x) return math.sin(2*math.pi*x) end }}, "
                "rates = function(u, v) return v^2, 0 end, integrate = { t_end = 1,",
                carried}};
  static const char *const schemes[] = {"etdrk2", "etdrk4"};
  static const double rtols[] = {1e-4, 1e-7};
  (void)state;
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
    for (int i = 0; i < 2; i++)
      for (int strict = 0; strict < 1 + i; strict++) {
        const double rtol = rtols[strict], atol = 1e-3 * rtol;
        system_run s;
        double error = 0, most = 0;
        whole(&s, "return sim.diffusion { %s scheme = '%s', dt = 'auto', rtol = %g, atol = %g } }", cases[c].text,
              schemes[i], rtol, atol);
        for (int64_t cell = 0; cell < cells(&s); cell++) {
          const double exact = cases[c].exact(((double)cell + 0.5) / (double)cells(&s));
          error = fmax(error, fabs(value(&s, 0, cell) - exact));
          most = fmax(most, fabs(exact));
        }
        const double bound = (double)s.clock.step * (atol + rtol * most);
        if (!(error < bound) || s.clock.step > 20000)
          fail_msg("case %zu, %s, rtol %g: error %.3g in %lld steps, above %.3g", c, schemes[i], rtol, error,
                   (long long)s.clock.step, bound);
        shut(&s);
      }
}

/* The first step is a whole period, so that the rates at the stages' times are 0, or equal to those at the start. The
 * estimate must still show that it is far too long. Of the steps that follow none is as long as half a period. */
static void test_period(void **state) {
  static const char *const schemes[] = {"etdrk2", "etdrk4"};
  (void)state;
  for (int i = 0; i < 4; i++) {
    system_run s;
    char text[512];
    snprintf(text, sizeof text,
             "return sim.diffusion { grid = { n = {4}, size = {1} }, fields = {{ name = 'u' }}, rates = function(u, t) "
             "return math.%s(64*math.pi*t) end, integrate = { scheme = '%s', dt = 'auto', t_end = 33 } }",
             i / 2 ? "cos" : "sin", schemes[i % 2]);
    open_with(&s, text, sim_isa_best(), 1, NULL);
    assert_true(s.clock.dt == 1.0 / 32);
    for (int step = 1; step <= 200; step++) {
      run_to(&s, step);
      assert_true(s.clock.dt < 1.0 / 64);
    }
    shut(&s);
  }
}

/* The bound itself, where the divided difference is constant: h^4/32 for u_t = t^3 with ETDRK4; h^3/6 for u_t = t^2 - h
 * t, whose ends are 0, with ETDRK2. A step of h = 1/8 is accepted where atol is slightly above the bound, and rejected
 * where it is below. */
static void test_bound(void **state) {
  static const double bounds[] = {1.0 / 8 / 8 / 8 / 6, 1.0 / 8 / 8 / 8 / 8 / 32};
  (void)state;
  for (int i = 0; i < 4; i++) {
    system_run s;
    char text[512];
    snprintf(text, sizeof text,
             "return sim.diffusion { grid = { n = {4}, size = {1} }, fields = {{ name = 'u', initial = 1 }}, "
             "rates = function(u, t) return %s end, "
             "integrate = { scheme = '%s', rtol = 0, atol = %.17g, t_end = 128 } }",
             i % 2 ? "t^3" : "t^2 - t/8", i % 2 ? "etdrk4" : "etdrk2", bounds[i % 2] * (i / 2 ? 1.001 : 0.999));
    open_with(&s, text, sim_isa_best(), 1, NULL);
    assert_true(s.clock.dt == 1.0 / 8);
    run_to(&s, 1);
    assert_true((s.clock.dt == 1.0 / 8) == (i / 2 == 1));
    shut(&s);
  }
}

/* Where rates are negligible a step is doubled until dt_max, a power of two at or below it. Where rates grow without
 * bound, dt_min ends the run. */
static void test_limits(void **state) {
  static const char *const schemes[] = {"etdrk2", "etdrk4"};
  static const double most[] = {0.25, 0.3, 16, 0}; /* 0: t_end/64 = 0.5 */
  (void)state;
  for (int i = 0; i < 8; i++) {
    const double limit = most[i / 2] > 0 ? exp2(floor(log2(most[i / 2]))) : 0.5;
    char text[512], given[32] = "";
    system_run s;
    if (most[i / 2] > 0) snprintf(given, sizeof given, "dt_max = %g,", most[i / 2]);
    snprintf(text, sizeof text,
             "return sim.diffusion { grid = { n = {8}, size = {1} }, fields = {{ name = 'u', D = 1, initial = 1 }}, "
             "rates = function(u) return 0*u end, integrate = { scheme = '%s', %s t_end = 32 } }",
             schemes[i % 2], given);
    open_with(&s, text, sim_isa_best(), 1, NULL);
    double before = s.clock.dt, longest = 0;
    assert_true(before == 1.0 / 32);
    for (int step = 1; s.clock.t < 32; step++) {
      run_to(&s, step);
      assert_true(s.clock.dt <= 2 * before && s.clock.dt <= limit);
      before = s.clock.dt;
      longest = fmax(longest, before);
    }
    assert_true(longest == limit || limit == 16); /* or 16, before which the run ends */
    shut(&s);
  }
  for (int i = 0; i < 2; i++) {
    system_run s;
    sim_status status = SIM_OK;
    open_with(&s,
              i ? "return sim.diffusion { grid = { n = {4}, size = {1} }, fields = {{ name = 'v' }, { name = 'u', "
                  "initial = 1 }}, rates = function(v, u) return 0, u^2 end, integrate = { scheme = 'etdrk2', "
                  "dt_min = 0.003, t_end = 2 } }"
                : "return sim.diffusion { grid = { n = {4}, size = {1} }, fields = {{ name = 'v' }, { name = 'u', "
                  "initial = 1 }}, rates = function(v, u) return 0, u^2 end, integrate = { scheme = 'etdrk4', "
                  "dt_min = 0.003, t_end = 2 } }",
              sim_isa_best(), 1, NULL);
    double shortest = 1;
    for (int k = 0; k < 10000 && status == SIM_OK; k++) {
      status = diffusion_model.step(s.self, &s.clock);
      shortest = fmin(shortest, s.clock.dt);
    }
    assert_int_equal(status, SIM_ERR_DIVERGED);
    assert_non_null(strstr(sim_error_last()->message, "u needs steps below integrate.dt_min = 0.003"));
    assert_true(shortest >= 0.003 && s.clock.t < 1);
    shut(&s);
  }
}

static void extended(char *text, size_t capacity, const char *scheme, const char *dt, double t_end) {
  const bool exact = strcmp(scheme, "exact") == 0;
  snprintf(text, capacity,
           "return sim.diffusion { grid = { n = {16}, size = {1}, boundary = 'no_flux' }, fields = {{ name = 'u', D = "
           "0.01, initial = function(x) return 1 + 0.1*math.cos(math.pi*x) end }}, %s "
           "integrate = { scheme = '%s', dt = %s, t_end = %g } }",
           exact ? "" : "rates = function(u, t) return math.sin(3*t) - u^3 end,", scheme, dt, t_end);
}

/* A run to t_end that is continued to a later one. Where dt fills both it has the bits of a run that was never stopped.
 * Where not, steps are shorter from there on by at most a third, so that the error is of the same size (4 times, since
 * it may cancel). A restart on the way has the same bits. */
static void test_extension(void **state) {
  static const char *const schemes[] = {"exact", "lie", "strang", "etd1", "etdrk2", "etdrk4", "auto"};
  static const double ends[][2] = {{0.7, 1.3}, {1, 2}};
  (void)state;
  for (int i = 0; i < 14; i++) {
    const bool fills = i / 7 == 0, adapts = i % 7 == 6;
    const char *scheme = adapts ? "etdrk4" : schemes[i % 7], *dt = adapts ? "'auto'" : fills ? "0.1" : "0.3";
    char text[768], first[33], other[33];
    system_run s, all, exact, again;
    extended(text, sizeof text, scheme, dt, ends[i / 7][1]);
    whole(&all, "%s", text);
    sim_frame_digest(&all.frame, first);
    extended(text, sizeof text, scheme, dt, ends[i / 7][0]);
    whole(&s, "%s", text);
    extended(text, sizeof text, scheme, dt, ends[i / 7][1]);
    open_with(&again, text, sim_isa_best(), 1, &s.frame);
    look(&again);
    assert_true(distance(&s, &again) < 1e-14); /* rounding: where steps change, a transform and back */
    shut(&s);
    again.clock.t_end = ends[i / 7][1];
    run_to(&again, again.clock.step + 2);
    look(&again);
    open_with(&s, text, sim_isa_best(), 2, &again.frame);
    run_to(&s, INT64_MAX), look(&s);
    run_to(&again, INT64_MAX), look(&again);
    sim_frame_digest(&again.frame, other);
    if (fills && !adapts) assert_string_equal(first, other);
    sim_frame_digest(&s.frame, first);
    assert_string_equal(first, other);
    assert_true(s.clock.t == ends[i / 7][1]);
    extended(text, sizeof text, i % 7 ? "etdrk4" : "exact", "1/256", ends[i / 7][1]);
    whole(&exact, "%s", text);
    const double error = distance(&s, &exact), want = distance(&all, &exact);
    if (!(error <= 4 * want + 1e-5)) fail_msg("%s, dt = %s: %.3g, in one go %.3g", scheme, dt, error, want);
    shut(&s), shut(&all), shut(&exact), shut(&again);
  }
}

/* One cell becomes not finite between t = 0.45 and 0.55. The step that takes its rate there, or the next step, is
 * refused, and the message names the field. In every boundary, number of axes and scheme, and in one member of an
 * ensemble. */
static void test_broken(void **state) {
  static const char *const boundary[] = {"periodic", "no_flux", "fixed"}, *const size[] = {"1", "1, 1", "1, 1, 1"};
  static const char *const schemes[] = {"lie", "strang", "etd1", "etdrk2", "etdrk4"};
  static const char *const n[] = {"20", "20, 9", "20, 9, 4"}, *const cell[] = {"0", "(y - 1.5/9)^2",
                                                                               "(y - 1.5/9)^2 + (z - 0.375)^2"};
  (void)state;
  for (int i = 0; i < 3 * 3 * 5 * 2; i++) {
    const int rank = 1 + i % 3, b = i / 3 % 3, scheme = i / 9 % 5, members = i / 45 && rank < 3 ? 3 : 1;
    char text[1024];
    system_run s;
    sim_status status = SIM_OK;
    snprintf(
        text, sizeof text,
        "return sim.diffusion { members = %d, precision = '%s', grid = { n = {%s}, size = {%s}, boundary = '%s' }, "
        "fields = {{ name = 'v', D = 0.01 }, { name = 'u', D = 0.01, initial = 0.1 }}, "
        "rates = function(v, u, x, y, z, t, member) local far = (x - 0.375)^2 + %s%s "
        "return 0*v, sim.where(sim.lt(far, 1e-9), sim.where(sim.gt(t, 0.45), (t - t)/(t - t), 0), -u) end, "
        "integrate = { scheme = '%s', dt = 0.1, t_end = 2 } }",
        members, i / 45 ? "single" : "double", n[rank - 1], size[rank - 1], boundary[b], cell[rank - 1],
        members > 1 ? " + (member - 2)^2" : "", schemes[scheme]);
    open_with(&s, text, sim_isa_best(), 1, NULL);
    while (status == SIM_OK && s.clock.t < 2) status = diffusion_model.step(s.self, &s.clock);
    if (status != SIM_ERR_DIVERGED || s.clock.step < 5 || s.clock.step > 6 ||
        !strstr(sim_error_last()->message, "the field u is not finite at step"))
      fail_msg("%s\nends at step %lld: %s", text, (long long)s.clock.step, sim_error_last()->message);
    shut(&s);
  }
}

/* Coefficients of ETDRK4 against their series in long double, whose 60th term is below 3^60/60! = 5e-54. Points are
 * around |c| = 1, where a circle of radius 1 about c comes near 0, on all sides. phi_3 divides three times by c, and
 * errs by at most 4 + 3 + 2 roundings of 1 where |c| = 1. F1 has 4 of it, and 3 phi_2 and phi_1: 9 * 4 + 7 * 3 + 4 < 64
 * of 1.1e-16. */
static void test_coefficients(void **state) {
  static const double sizes[] = {1e-3, 0.5, 0.99, 0.9999, 1, 1.0001, 1.5, 3};
  const diffusion_field species = {.decay = 0, .axes = {1, 1, 1}, .D = 1, .drift = {1, 0, 0}};
  (void)state;
  for (int i = 0; i < 8; i++)
    for (int turn = 0; turn < 256; turn++) {
      const double angle = 2 * pi * turn / 256, h = 0.5;
      const double complex want_c = sizes[i] * cexp(I * angle);
      diffusion_field s = species; /* L = -decay - i k */
      s.D = 0;
      s.decay = -creal(want_c) / h;
      s.drift[0] = -cimag(want_c) / h;
      const diffusion_filling filling = {.species = &s,
                                         .grid = {.rank = 1, .n = {64, 1, 1}, .size = {2 * pi, 1, 1}},
                                         .scheme = DIFFUSION_ETDRK4,
                                         .dt = h,
                                         .scale = 1};
      double got[DIFFUSION_TABLES][2];
      diffusion_method_fill((void *)(uintptr_t)&filling, (const double[]){1, 0, 0}, (const int64_t[]){1, 0, 0}, got);
      const double complex exact_c = h * (-s.decay - I * s.drift[0]);
      long double complex c = exact_c, phi[4], term[4] = {1, 1, 0.5L, 1.0L / 6};
      for (int j = 0; j < 4; j++) {
        phi[j] = 0;
        for (int k = 1; k <= 60; k++) phi[j] += term[j], term[j] *= c / (j + k);
      }
      const long double complex want[] = {phi[1] - 3 * phi[2] + 4 * phi[3], phi[2] - 2 * phi[3], 4 * phi[3] - phi[2]};
      for (int t = 0; t < 3; t++) {
        const double error = (double)cabsl(h * want[t] - (got[3 + t][0] + I * got[3 + t][1])) / h;
        if (!(error < 64 * 1.1e-16 * fmax(1, exp(creal(want_c)))))
          fail_msg("F%d at %g exp(i %.4f): error %.3g", t + 1, sizes[i], angle, error);
      }
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_quadrature),  cmocka_unit_test(test_period),
                                     cmocka_unit_test(test_bound),       cmocka_unit_test(test_limits),
                                     cmocka_unit_test(test_extension),   cmocka_unit_test(test_broken),
                                     cmocka_unit_test(test_coefficients)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
