/* Derived fields of fields whose walls have values or slopes. */
#include "tests/diffusion/diffusion_driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define PI 3.14159265358979323846

/* The filter w - a lap w = u by its coefficient 1/(1 + a k^2), beside a Gaussian filter and -lap u, on a line or
 * parabola P between walls and a wave that decays: T = P + 2 D curve t + exp(-D k^2 t) wave. The exact filter of P is P
 * + 2 a curve, the Gaussian's P + 2 b curve with exp(-b k^2), and -lap P is -2 curve. */
typedef struct wall_case {
  const char *sides, *initial;
  double low, slope, curve, k; /* P = low + slope x + curve x^2 */
  bool cosine;
} wall_case;

static const wall_case cases[] = {
    {"x_low = { value = 1 }, x_high = { value = 3 }", "1 + x + math.sin(math.pi*x)", 1, 1, 0, PI, false},
    {"x_low = { value = 2 }, x_high = { value = 2 }", "2 + math.sin(math.pi*x)", 2, 0, 0, PI, false},
    {"x_low = { value = 1 }, x_high = { slope = -0.5 }", "1 - x/2 + math.sin(math.pi*x/4)", 1, -0.5, 0, PI / 4, false},
    {"x_low = { slope = 0.5 }, x_high = { slope = 2.5 }", "x/2 + x^2/2 + math.cos(math.pi*x/2)", 0, 0.5, 0.5, PI / 2,
     true}};

/* Rounding: a transform of 16 cells and k^2 <= 630; -lap u has the error 630 u of the field, and a step of sums. */
static void test_filters(void **state) {
  static const char form[] =
      "return sim.diffusion { grid = { n = {16, 6}, size = {2, 1}, x = 'no_flux' }, precision = '%s',"
      " fields = { { name = 'T', D = 0.1, sides = { %s }, initial = function(x) return %s end } },"
      " derived = { w = function(k2, T) return T/(1 + 0.3*k2) end, minus = function(kx, T) return kx^2*T end,"
      " g = function(kx, ky, T) return 2*math.exp(-0.2*kx^2 - 0.1*ky^2)*T end },"
      " observe = { w2 = function(w_xx, w, lap_w, x) return w_xx + 3*lap_w + x*w end, gx = function(g_x) return g_x "
      "end },"
      " %s output = { fields = 'w, minus, g, w2, gx' } }";
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (int run = 0; run < 3; run++) {
      const wall_case *c = &cases[i];
      char text[2048];
      system_run s;
      snprintf(text, sizeof text, form, run == 2 ? "single" : "double", c->sides, c->initial,
               run == 1 ? "rates = function() return 0 end, integrate = { scheme = 'etdrk4', dt = 0.25, t_end = 1, "
                          "dealias = 'padding' },"
                        : "integrate = { t_end = 1 },");
      open_with(&s, text, sim_isa_best(), 2, NULL);
      run_to(&s, INT64_MAX);
      look(&s);
      assert_int_equal(s.frame.array_count, 7);
      for (int64_t at = 0; at < cells(&s); at++) {
        const double x = ((double)(at % 16) + 0.5) / 8, k = c->k, a = 0.3, bound = run == 2 ? 2e-4 : 2e-12;
        const double size = exp(-0.1 * k * k), wave = size * (c->cosine ? cos(k * x) : sin(k * x)),
                     turned = size * k * (c->cosine ? -sin(k * x) : cos(k * x));
        const double line = c->low + c->slope * x + c->curve * x * x + 0.2 * c->curve, filter = 1 / (1 + a * k * k);
        const double w = line + 2 * a * c->curve + filter * wave, second = 2 * c->curve - k * k * filter * wave;
        const double gauss = 2 * exp(-0.2 * k * k);
        const double exact[] = {line + wave, /* derived fields, then functions, by their names */
                                2 * line + 0.8 * c->curve + gauss * wave,
                                k * k * wave - 2 * c->curve,
                                w,
                                2 * c->slope + 4 * c->curve * x + gauss * turned,
                                4 * second + x * w};
        for (int f = 0; f < 6; f++)
          if (!(fabs(value(&s, f, at) - exact[f]) <= bound))
            fail_msg("%s: array %d, cell %lld: %.17g for %.17g", current, f, (long long)at, value(&s, f, at), exact[f]);
      }
      shut(&s);
    }
}

/* A derived field that is twice the field, in rates and fluxes, is the same as the field there: with all kinds of
 * walls, robin included, and parabolas that grow. Rounding alone differs: 40 steps. */
static void test_twins(void **state) {
  static const char *const sides[] = {"x_low = { value = 1 }, x_high = { value = 3 }",
                                      "x_low = { value = 1 }, x_high = { value = 1 }, y_low = { value = 1 }",
                                      "x_low = { slope = 0.5 }, x_high = { slope = 2 }, y_high = { slope = 1 }",
                                      "x_low = { robin = { a = 1, b = 2, g = 3 } }, x_high = { slope = 1 }"};
  static const char *const schemes[] = {"'lie', dt = 1/400", "'etdrk2', dt = 1/400", "'etdrk4', dt = 1/400",
                                        "'etdrk2', dt = 1/400, dealias = 'padding'"};
  static const char *const functions[][2] = {
      {"rates = function(T, x, t) return math.cos(T)*x + t end",
       "rates = function(s, x, t) return math.cos(s/2)*x + t end"},
      {"rates = function(T, T_x, T_yy, lap_T) return -T*T_x + 0.1*T_yy + 0.1*lap_T end",
       "rates = function(s, s_x, s_yy, lap_s) return -s*s_x/4 + 0.05*s_yy + 0.05*lap_s end"},
      {"flux = function(T, T_y) return 0, -0.1*T*T_y end", "flux = function(s, s_y) return 0, -0.1*s*s_y/4 end"}};
  (void)state;
  for (size_t i = 0; i < 4; i++)
    for (size_t k = 0; k < 4; k++)
      for (size_t g = 0; g < 3; g++) {
        static const char form[] =
            "return sim.diffusion { grid = { n = {12, 10}, size = {1, 1}, boundary = 'no_flux' },"
            " fields = { { name = 'T', D = 0.2, sides = { %s }, initial = function(x, y) return 1 + x*y end } },"
            " derived = { s = function(T) return 2*T end }, %s, integrate = { scheme = %s, t_end = 0.1 } }";
        system_run a, b;
        whole(&a, form, sides[i], functions[g][0], schemes[k]);
        whole(&b, form, sides[i], functions[g][1], schemes[k]);
        assert_true(distance(&a, &b) < 1e-12);
        shut(&a), shut(&b);
      }
}

/* A field on the slow side of a fast one: T_t = T_xx + w - T with w - w_xx = T and T = 1 + 2x at the walls stays at
 * rest at 1 + 2x, which is its own filter. */
static void test_rest(void **state) {
  system_run s;
  (void)state;
  whole(&s,
        "return sim.diffusion { grid = { n = {20}, size = {1}, boundary = 'fixed' }, fields = { { name = 'T', D = 1,"
        " walls = {1, 3}, initial = function(x) return 1 + 2*x end } }, derived = { w = function(k2, T) return"
        " T/(1 + k2) end }, rates = function(w, T) return w - T end,"
        " integrate = { scheme = 'etdrk4', dt = 0.05, t_end = 1 } }");
  for (int64_t i = 0; i < cells(&s); i++) assert_true(fabs(value(&s, 0, i) - 1 - ((double)i + 0.5) / 10) < 1e-14);
  shut(&s);
}

/* The same bits from a checkpoint, by other threads and instructions. */
static void test_same_bits(void **state) {
  system_run s, again;
  (void)state;
  restart_at(
      5,
      "return sim.diffusion { grid = { n = {18, 10}, size = {1, 1}, x = 'no_flux' }, fields = { { name = 'T', D ="
      " 0.1, noise = 0.1, sides = { x_low = { slope = 1 }, x_high = { slope = 3 } } } },"
      " derived = { w = function(k2, T) return T/(1 + k2) end }, rates = function(w, T, w_x) return w*w_x - T^3 end,"
      " integrate = { scheme = 'etdrk4', dt = 0.01, t_end = 0.1 }, output = { fields = 'w' } }",
      &s, &again);
  for (int f = 0; f < 2; f++)
    for (int64_t c = 0; c < cells(&s); c++) assert_true(value(&s, f, c) == value(&again, f, c));
  shut(&s), shut(&again);
}

/* Coefficients that do not fit a lift. */
static void test_faults(void **state) {
  static const char *const texts[][3] = {
      {"value = 1", "1/k2", "finite and continuous at k = 0"},
      {"value = 1", "sim.where(sim.gt(k2, 0), 1/k2, 0)", "finite and continuous at k = 0"},
      {"value = 1", "sim.where(sim.gt(k2, 0), 1, 0)", "finite and continuous at k = 0"},
      {"value = 1", "sim.where(sim.gt(k2, 99), 1, 0)", ""},
      {"slope = 1", "math.sqrt(k2)", "second derivative at k = 0"},
      {"slope = 1", "math.abs(kx)", "second derivative at k = 0"},
      {"slope = 1", "1/math.sqrt(k2)", "finite and continuous at k = 0"},
      {"value = 1", "math.sqrt(k2)", ""},
      {"slope = 1", "math.exp(-k2)", ""},
      {"slope = 1", "member/(1 + k2)", "without member"}};
  char faults[512];
  (void)state;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    char text[1024];
    system_run s;
    snprintf(text, sizeof text,
             "return sim.diffusion { members = 2, grid = { n = {16}, size = {1}, boundary = 'no_flux' }, fields = { {"
             " name = 'u', D = 1, sides = { x_low = { %s } } } }, derived = { p = function(kx, k2, member, u) return"
             " u*(%s) end }, integrate = { t_end = 1 } }",
             texts[i][0], texts[i][1]);
    const bool good = decode(&s, text, faults);
    if (good != (texts[i][2][0] == '\0') || (!good && !strstr(faults, texts[i][2])))
      fail_msg("%s: %s", text, good ? "no fault" : faults);
    void *p = s.p;
    sim_model_parameters_free(&diffusion_model, &p);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_filters), cmocka_unit_test(test_twins),
                                     cmocka_unit_test(test_rest), cmocka_unit_test(test_same_bits),
                                     cmocka_unit_test(test_faults)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
