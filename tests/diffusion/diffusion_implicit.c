/* The linearly implicit scheme: orders in dt, steps far above the limits of explicit schemes, conservation, and the
 * same answers as ETDRK4 with short steps wherever both run. */
#include "tests/diffusion/diffusion_driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* u_t = (D(x) u_x)_x + u - u^3 with D(x) = 0.505 + 0.495 cos x, to t = 1: SciPy's solution of diffusion_stiff.c. */
static double error_of(int fine, int steps) {
  static const double exact[] = {0.041768779876, 0.585925640317, 0.241266535593, -0.607343197024};
  double worst = 0;
  system_run s;
  whole(&s,
        "return sim.diffusion { grid = { n = {%d}, size = {2*math.pi} }, fields = {{ name = 'u',"
        " initial = function(x) return 0.5*math.sin(x) + 0.2*math.cos(2*x) end }},"
        " flux = function(u_x, x) return -(0.505 + 0.495*math.cos(x))*u_x end,"
        " rates = function(u) return u - u^3 end, integrate = { scheme = 'rodas3', dt = 1/%d, t_end = 1 } }",
        63 * fine, steps);
  for (int i = 0; i < 4; i++) worst = fmax(worst, fabs(value(&s, 0, 16 * i * fine + fine / 2) - exact[i]));
  shut(&s);
  return worst;
}

/* An explicit scheme of order 4 needs 320 steps on 63 cells, and 8000 on 315. The order is 3: half the step has an
 * eighth of the error. On 315 cells SciPy's solution itself differs by 4.2e-5. */
static void test_variable_diffusivity(void **state) {
  (void)state;
  for (int steps = 16; steps <= 64; steps *= 2) {
    const double a = error_of(1, steps), b = error_of(1, 2 * steps);
    if (!(a / b > 7.2 && a / b < 9)) fail_msg("%d steps: errors %.3g and %.3g", steps, a, b);
  }
  assert_true(error_of(1, 4) < 3e-4);
  assert_true(error_of(5, 8) < 6e-5);
}

static double sum_of(const system_run *s) {
  double sum = 0;
  for (int64_t i = 0; i < cells(s); i++) sum += value(s, 0, i);
  return sum;
}

/* u = (2 + cos x) exp(-t) of u_t = (D u_x)_x + S with D = 2 + sin(x + t) + u/4, whose source S is made for it. Both
 * depend on t. */
static double error_in_time(int steps) {
  system_run s;
  double worst = 0;
  whole(&s,
        "return sim.diffusion { grid = { n = {32}, size = {2*math.pi} }, fields = {{ name = 'u', initial = function(x)"
        " return 2 + math.cos(x) end }}, flux = function(u, u_x, x, t) return -(2 + math.sin(x + t) + u/4)*u_x end,"
        " rates = function(x, t) local e = math.exp(-t)"
        "  local v, v_x, v_xx = (2 + math.cos(x))*e, -math.sin(x)*e, -math.cos(x)*e"
        "  return -v - (math.cos(x + t) + v_x/4)*v_x - (2 + math.sin(x + t) + v/4)*v_xx end,"
        " integrate = { scheme = 'rodas3', dt = 1/%d, t_end = 1 } }",
        steps);
  for (int64_t i = 0; i < cells(&s); i++)
    worst = fmax(worst, fabs(value(&s, 0, i) - (2 + cos(((double)i + 0.5) * 2 * acos(-1) / 32)) * exp(-1)));
  shut(&s);
  return worst;
}

static void test_time(void **state) {
  (void)state;
  for (int steps = 16; steps <= 64; steps *= 2) {
    const double a = error_in_time(steps), b = error_in_time(2 * steps);
    if (!(a / b > 6.8 && a / b < 9)) fail_msg("%d steps: errors %.3g and %.3g", steps, a, b);
  }
  assert_true(error_in_time(64) < 1e-5);
}

/* Barenblatt's solution of u_t = (u^2)_xx from t = 1 to 4: t^(-1/3) (1 - x^2 t^(-2/3)/12), where that is positive. */
static double barenblatt(double x, double t) { return fmax(1 - x * x * pow(t, -2.0 / 3) / 12, 0) / cbrt(t); }

/* 256 cells of 12/256: an explicit scheme of order 4 needs dt < 2.785/(2 (256 pi/12)^2) = 3.1e-4, and a step here is
 * 101 times as long. The solution has a kink at each front, with slopes of at most 0.6: where a front is off by a cell,
 * two cells have errors of up to 0.6 * 12/256 = 0.03, so that the mean error is below 2 * 0.03/256 = 2.2e-4. */
static void test_porous_medium(void **state) {
  (void)state;
  system_run s;
  double error = 0, mass = 0;
  whole(&s, "return sim.diffusion { grid = { n = {256}, size = {12} }, fields = {{ name = 'u', initial = function(x)"
            " return sim.max(1 - (x - 6)^2/12, 0) end }}, flux = function(u, u_x) return -2*sim.max(u, 0)*u_x end,"
            " integrate = { scheme = 'rodas3', dt = 1/32, t_end = 3 } }");
  for (int64_t c = 0; c < 256; c++) {
    const double x = ((double)c + 0.5) * 12 / 256 - 6;
    error += fabs(value(&s, 0, c) - barenblatt(x, 4)) / 256;
    mass += barenblatt(x, 1);
  }
  assert_true(error < 2.2e-4);
  assert_true(fabs(sum_of(&s) - mass) < 1e-12 * mass); /* rounding of the cells' sums */
  shut(&s);
}

/* Cahn and Hilliard with the mobility 1 - c^2, from a wave and noise. An explicit scheme of order 4 needs
 * dt < 2.785/(eps^2 k^4) = 4.2e-6 with k^2 = 2 (32 pi)^2 and a mobility near 1. Mass is kept to rounding, and the
 * energy falls in each step. */
static void test_mobility(void **state) {
  (void)state;
  system_run s;
  double before = INFINITY, mass = 0;
  open_with(
      &s,
      "local eps = 0.04 return sim.diffusion { grid = { n = {32, 32}, size = {1, 1} }, seed = 3,"
      " fields = {{ name = 'c', noise = 0.05, initial = function(x) return 0.1 + 0.2*math.cos(4*math.pi*x) end }},"
      " derived = { l = function(k2, c) return -k2*c end },"
      " flux = function(c, c_x, c_y, l_x, l_y) local m = sim.max(1 - c^2, 0)"
      "  return -m*((3*c^2 - 1)*c_x - eps^2*l_x), -m*((3*c^2 - 1)*c_y - eps^2*l_y) end,"
      " observe = { energy = function(c, c_x, c_y) return (c^2 - 1)^2/4 + eps^2*(c_x^2 + c_y^2)/2 end },"
      " integrate = { scheme = 'rodas3', dt = 5e-4, t_end = 0.1 } }",
      sim_isa_best(), 2, NULL);
  for (int step = 0; step <= 200; step++) {
    double energy;
    run_to(&s, step);
    look(&s);
    must(diffusion_model.observe(s.self, &s.clock, 1, &energy), "observe");
    if (step == 0) mass = sum_of(&s);
    if (!(energy < before)) fail_msg("step %d: energy %.12g after %.12g", step, energy, before);
    assert_true(fabs(sum_of(&s) - mass) < 1e-12 * 1024);
    before = energy;
  }
  assert_true(before < 0.16); /* 0.25 at c = 0: domains have formed */
  shut(&s);
}

typedef struct twin_case {
  const char *name, *text; /* without `integrate` and the last brace */
  double t_end;
  int steps, fine; /* of rodas3 and of etdrk4 */
  double most;     /* largest difference with steps/2; it falls by the order */
} twin_case;

static void run_twin(const twin_case *c, const char *scheme, int steps, system_run *s) {
  whole(s, "%s integrate = { scheme = '%s', dt = %.17g/%d, t_end = %.17g } }", c->text, scheme, c->t_end, steps,
        c->t_end);
}

#define GRID(n, size, more) "return sim.diffusion { grid = { n = {" n "}, size = {" size "}" more " }, "
#define VARIED "(1 + 0.9*math.cos(2*math.pi*x))"

static const twin_case twins[] = {
    {"two axes, advection",
     GRID("24, 20", "1, 1",
          "") "fields = {{ name = 'u', D = 0.01, drift = {0.5, 0.2, 0}, initial = function(x, y) return"
              " math.sin(2*math.pi*x)*math.cos(2*math.pi*y) end }}, flux = function(u, u_x, u_y, x)"
              " return -0.1*" VARIED "*u_x + u^2/4, -0.1*" VARIED "*u_y end,",
     0.2, 20, 400, 1e-4},
    {"three axes",
     GRID("12, 10, 16", "1, 1, 1", "") "fields = {{ name = 'u', initial = function(x, y, z) return"
                                       " math.sin(2*math.pi*(x + y))*math.cos(2*math.pi*z) end }},"
                                       " flux = function(u, u_x, u_y, u_z, x) return -0.02*" VARIED "*u_x,"
                                       " -0.02*(1 + u^2)*u_y, -0.02*u_z end,",
     0.5, 20, 800, 1e-4},
    {"cross terms that differ from place to place",
     GRID("32", "1", "") "fields = {{ name = 'u', initial = function(x) return math.sin(2*math.pi*x) end },"
                         " { name = 'v', D = 0.01, initial = function(x) return math.cos(4*math.pi*x) end }},"
                         " flux = function(u_x, v_x, x) return -0.1*" VARIED "*u_x - 0.05*v_x,"
                         " -0.1*v_x - 0.03*" VARIED "*u_x end, rates = function(u, v) return u*v, u - v^2 end,",
     0.4, 20, 1600, 1e-3},
    {"no flux",
     GRID("32", "1",
          ", boundary = 'no_flux'") "fields = {{ name = 'u', initial = function(x) return math.cos(math.pi*x)"
                                    " end }}, flux = function(u_x, x) return -0.1*" VARIED "*u_x end,",
     0.5, 20, 1600, 1e-4},
    {"walls with values",
     GRID("32, 16", "1, 1",
          ", x = 'fixed'") "fields = {{ name = 'u', D = 0.05, walls = {0, 1}, initial = function(x, y)"
                           " return x + math.sin(math.pi*x)*math.cos(2*math.pi*y) end }},"
                           " flux = function(u, u_x, u_y) return -0.05*u^2*u_x, -0.1*(1 + u)*u_y end,",
     0.3, 20, 1600, 1e-3},
    {"sides",
     GRID("24, 24", "1, 1",
          ", boundary = 'no_flux'") "fields = {{ name = 'u', D = 0.05, sides = { x_low = { value = 1 },"
                                    " x_high = { slope = 0 } }, initial = function(x) return 1 - x*(2 - x)/2"
                                    " end }, { name = 'v', initial = function(x, y) return"
                                    " math.cos(math.pi*y) end }},"
                                    " flux = function(u_y, v_x, v_y, x, y) return 0, -0.1*" VARIED "*u_y,"
                                    " -0.1*v_x, -0.1*" VARIED "*v_y end,"
                                    " rates = function(u, v) return v, -u*v end,",
     0.4, 20, 1600, 1e-3},
    {"robin",
     GRID("24", "1",
          ", boundary = 'no_flux'") "fields = {{ name = 'u', D = 0.1, sides = { x_low = { robin = { a = 2 } },"
                                    " x_high = { robin = { a = 1, g = 0.5 } } }, initial = 1 }},"
                                    " rates = function(u, x) return -20*(1 + x)*u + math.cos(3*x) end,",
     0.4, 20, 800, 1e-3},
    {"members",
     GRID("32", "1",
          "") "members = 3, fields = {{ name = 'u', initial = function(x) return math.sin(2*math.pi*x) end }},"
              " flux = function(u_x, x, member) return -0.05*member*" VARIED "*u_x end,",
     0.4, 20, 1600, 1e-4},
    {"a velocity with a viscosity that differs",
     GRID("24, 24", "1, 1", "") "solenoidal = 'u, v', fields = {{ name = 'u', initial = function(x, y) return"
                                " math.sin(2*math.pi*y) end }, { name = 'v', initial = function(x, y) return"
                                " math.sin(2*math.pi*x)/2 end }}, flux = function(u, v, u_x, u_y, v_x, v_y, x)"
                                " local n = 0.02*" VARIED
                                " return u*u - 2*n*u_x, u*v - n*(u_y + v_x), u*v - n*(u_y + v_x), v*v - 2*n*v_y end,",
     0.4, 20, 400, 1e-4},
    {"conserved, linear",
     GRID("32", "1",
          "") "fields = {{ name = 'u', hyper = 1e-5, conserved = true, linear = function(kx) return 0, kx/9 end,"
              " initial = function(x) return 0.3*math.sin(2*math.pi*x) end }},"
              " rates = function(u, x) return 0.02*" VARIED "*u + 0.01*u^3 end,",
     0.3, 20, 1600, 1e-4},
};

/* ETDRK4 has an error far below with steps of fine. Half the step of rodas3 has between a quarter and a twelfth of its
 * error: 8, and less where boundary layers or stiff sources reduce the order. */
static void test_twins(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof twins / sizeof *twins; i++) {
    const twin_case *c = &twins[i];
    system_run exact, a, b;
    run_twin(c, "etdrk4", c->fine, &exact);
    run_twin(c, "rodas3", c->steps, &a);
    run_twin(c, "rodas3", 2 * c->steps, &b);
    const double first = distance(&exact, &a), second = distance(&exact, &b);
    if (!(first < c->most && first > 3.5 * second && first < 14 * second))
      fail_msg("%s: differences %.3g and %.3g", c->name, first, second);
    shut(&exact);
    shut(&a);
    shut(&b);
  }
}

/* The same bits for threads, vector widths and restarts, with fixed and with adaptive steps. */
static void test_same_bits(void **state) {
  static const char *const integrate[] = {"dt = 0.01", "rtol = 1e-4", "rtol = 1e-4, dealias = true",
                                          "dt = 0.01, dealias = 'padding'", "courant = 0.5, velocity = 'u, v'"};
  (void)state;
  for (int i = 0; i < 5; i++) {
    system_run s, again;
    char text[1024];
    snprintf(text, sizeof text,
             "return sim.diffusion { grid = { n = {32, 24}, size = {1, 1} }, fields = {"
             " { name = 'u', initial = function(x, y) return 1 + math.sin(2*math.pi*x)*math.sin(2*math.pi*y) end },"
             " { name = 'v', D = 0.01, initial = function(x) return math.cos(2*math.pi*x) end }},"
             " flux = function(u, v, u_x, u_y, v_x, v_y, x) return -0.1*u^2*u_x, -0.1*u^2*u_y, -v*u_x/40,"
             " -0.1*(1 + 0.9*math.sin(2*math.pi*x))*v_y end, rates = function(u, v) return -u*v, u - v end,"
             " integrate = { scheme = 'rodas3', %s, t_end = 0.2 } }",
             integrate[i]);
    restart_at(7, text, &s, &again);
    if (distance(&s, &again) != 0) fail_msg("%s: %g", integrate[i], distance(&s, &again));
    shut(&s);
    shut(&again);
  }
}

/* The error of adaptive steps follows rtol. */
static void test_adaptive(void **state) {
  const twin_case *c = &twins[2];
  double before = INFINITY;
  int64_t steps = 0;
  system_run exact;
  (void)state;
  run_twin(c, "etdrk4", 3200, &exact);
  for (int i = 3; i <= 6; i++) {
    system_run s;
    whole(&s, "%s integrate = { scheme = 'rodas3', rtol = 1e-%d, atol = 0, dt_max = 1, t_end = %g } }", c->text, i,
          c->t_end);
    const double error = distance(&exact, &s);
    assert_true(error < 30 * pow(10, -i) && error < before / 3);
    assert_true(s.clock.step > steps && s.clock.step < 400);
    before = error;
    steps = s.clock.step;
    shut(&s);
  }
  shut(&exact);
}

/* In single precision the difference to double is of its rounding: some hundred units of 6e-8 of fields of size 1. */
static void test_single(void **state) {
  system_run s, d;
  (void)state;
  for (int i = 0; i < 2; i++) {
    char text[2048];
    snprintf(text, sizeof text, "%s", twins[i].text);
    whole(&d, "%s integrate = { scheme = 'rodas3', dt = 0.01, t_end = %g } }", text, twins[i].t_end);
    whole(&s, "%s precision = 'single', integrate = { scheme = 'rodas3', dt = 0.01, t_end = %g } }", text,
          twins[i].t_end);
    double worst = 0;
    for (int64_t c = 0; c < cells(&s); c++) worst = fmax(worst, fabs(value(&s, 0, c) - value(&d, 0, c)));
    if (!(worst < 1e-5 && worst > 1e-9)) fail_msg("%s: %.3g", twins[i].name, worst);
    shut(&s);
    shut(&d);
  }
}

/* Slow changes of a large field are not lost in single, of which a number near 300 has errors of 1.5e-5: 512 steps add
 * up errors of rounding like sqrt(512) of them, where a lost change is of the size of 0.1. Beside it a field of 0
 * stays. */
static void test_slow(void **state) {
  static const char start[] =
      "return sim.diffusion { grid = { n = {64}, size = {2*math.pi} }, fields = {{ name = 'u', initial = function(x) "
      "return 300 + math.sin(x) end }, { name = 'v' }}, flux = function(u_x, v_x, x) local D = 0.01 + "
      "math.exp(-20*(x - 3)^2) return -D*u_x, -D*v_x end,";
  static const char *const steps[] = {"precision = 'single', integrate = { scheme = 'rodas3', dt = 1/512",
                                      "integrate = { scheme = 'rodas3', rtol = 1e-7, atol = 0"};
  system_run s, d;
  (void)state;
  for (int i = 0; i < 2; i++) {
    whole(&d, "%s integrate = { scheme = 'rodas3', dt = 1/512, t_end = %g } }", start, 1.0);
    whole(&s, "%s %s, t_end = %g } }", start, steps[i], 1.0);
    double worst = 0;
    for (int64_t c = 0; c < cells(&s); c++) worst = fmax(worst, fabs(value(&s, 0, c) - value(&d, 0, c)));
    print_message("%s: %.3g\n", steps[i], worst);
    assert_true(worst < (i == 0 ? 3 * 23 * 1.5e-5 : 1e-4));
    for (int64_t c = 0; c < cells(&s); c++) assert_true(value(&s, 1, c) == 0);
    shut(&s);
    shut(&d);
  }
}

/* From 1e-6, far below atol, u' = 100 (u - u^3) still comes to 1 after t = 0.14 and some hundredths: changes below the
 * tolerance of a step are solved for too. */
static void test_small(void **state) {
  system_run s;
  (void)state;
  whole(&s, "%s integrate = { scheme = 'rodas3', rtol = 1e-4, atol = 1e-4, t_end = %g } }",
        "return sim.diffusion { grid = { n = {16}, size = {1} }, fields = {{ name = 'u', D = 0.01, initial = 1e-6 }}, "
        "rates = function(u) return 100*(u - u^3) end,",
        1.0);
  if (!(fabs(value(&s, 0, 3) - 1) < 1e-3)) fail_msg("%.9g", value(&s, 0, 3));
  shut(&s);
}

/* Diffusion backwards in time, whose shortest wave grows by any factor in a step, ends as an unstable run does. */
static void test_failure(void **state) {
  system_run s;
  (void)state;
  open_with(
      &s,
      "return sim.diffusion { grid = { n = {64}, size = {1} }, fields = {{ name = 'u', noise = 0.01, initial = 1 }},"
      " flux = function(u, u_x, x) return (1 + 0.9*math.sin(2*math.pi*x))*u^3*u_x end,"
      " integrate = { scheme = 'rodas3', dt = 1e-3, t_end = 1 } }",
      sim_isa_best(), 1, NULL);
  sim_status status = SIM_OK;
  for (int i = 0; i < 1000 && status == SIM_OK; i++) status = diffusion_model.step(s.self, &s.clock);
  assert_int_equal(status, SIM_ERR_DIVERGED);
  assert_true(strstr(sim_error_last()->message, "rodas3") != NULL);
  shut(&s);
}

/* u' = u^2 from 1 has no bound at t = 1, and with a little diffusion and a start of 1.1 in some cells soon after
 * t = 1/1.1. An L-stable step that is longer than what is left would give numbers beyond that time. */
static void test_growth(void **state) {
  static const char *const dt[] = {"0.05", "0.25", "'auto', rtol = 1e-6"};
  (void)state;
  for (int i = 0; i < 3; i++) {
    char text[400];
    system_run s;
    snprintf(text, sizeof text,
             "return sim.diffusion { grid = { n = {64}, size = {1} }, fields = {{ name = 'u', D = 0.01, initial = "
             "function(x) return 1 + 0.1*math.sin(2*math.pi*x) end }}, rates = function(u) return u^2 end,"
             " integrate = { scheme = 'rodas3', dt = %s, t_end = 5 } }",
             dt[i]);
    open_with(&s, text, sim_isa_best(), 1, NULL);
    sim_status status = SIM_OK;
    for (int k = 0; k < 10000 && status == SIM_OK; k++) status = diffusion_model.step(s.self, &s.clock);
    assert_int_equal(status, SIM_ERR_DIVERGED);
    print_message("dt = %s: ended at t = %.6f: %s\n", dt[i], s.clock.t, sim_error_last()->message);
    assert_true(s.clock.t < 0.95);
    shut(&s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_variable_diffusivity),
                                     cmocka_unit_test(test_time),
                                     cmocka_unit_test(test_porous_medium),
                                     cmocka_unit_test(test_mobility),
                                     cmocka_unit_test(test_twins),
                                     cmocka_unit_test(test_same_bits),
                                     cmocka_unit_test(test_adaptive),
                                     cmocka_unit_test(test_single),
                                     cmocka_unit_test(test_slow),
                                     cmocka_unit_test(test_small),
                                     cmocka_unit_test(test_failure),
                                     cmocka_unit_test(test_growth)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
