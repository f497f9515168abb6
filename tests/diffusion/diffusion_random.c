/* Random forcing: the law of each forced mode, the power, helicity, and the same bits. */
#include "tests/diffusion/diffusion_driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void row(system_run *s, int table, double *values) {
  must(diffusion_model.observe(s->self, &s->clock, table, values), "observe");
}

/* ---- the law of the modes ---- */

/* Without L and rates the amplitude of each mode is a sum of independent normal steps. The functions are orthonormal:
 * the mean of the square of each is 1. `share`: each function's share of the power. There are modes of all kinds of
 * storage: along x alone, along y alone, which k and -k share, and along walls. */
typedef struct law {
  const char *text;
  int modes;
  double freedom; /* real numbers that determine the forced fields */
} law;

#define R2 "math.sqrt(2)*"
static const law laws[] = {
    /* |k| = 1: (1, 0) and (0, 1), each with cosine and sine */
    {"grid = { n = {8, 6}, size = {2*math.pi, 2*math.pi} }, fields = {{ name = 'u' }},"
     "rates = function(u) return 0*u end, forcing = { fields = 'u', k = {1, 1}, power = 0.3, random = true }, observe "
     "= {"
     "a = { function(u, x) return u*" R2 "math.cos(x) end, reduce = 'mean' },"
     "b = { function(u, x) return u*" R2 "math.sin(x) end, reduce = 'mean' },"
     "c = { function(u, y) return u*" R2 "math.cos(y) end, reduce = 'mean' },"
     "d = { function(u, y) return u*" R2 "math.sin(y) end, reduce = 'mean' } },",
     4, 4},
    /* |k|^2 = 2 of an odd grid: (1, 1) and (1, -1) */
    {"grid = { n = {7, 9}, size = {2*math.pi, 2*math.pi} }, fields = {{ name = 'u' }},"
     "rates = function(u) return 0*u end,"
     "forcing = { fields = 'u', k = {1.4, 1.5}, power = 0.3, random = true }, observe = {"
     "a = { function(u, x, y) return u*" R2 "math.cos(x + y) end, reduce = 'mean' },"
     "b = { function(u, x, y) return u*" R2 "math.sin(x + y) end, reduce = 'mean' },"
     "c = { function(u, x, y) return u*" R2 "math.cos(x - y) end, reduce = 'mean' },"
     "d = { function(u, x, y) return u*" R2 "math.sin(x - y) end, reduce = 'mean' } },",
     4, 4},
    /* between walls along x alone: cosines of 1 and 2 half waves; along y k and -k */
    {"grid = { n = {8, 10}, size = {math.pi, math.pi}, x = 'no_flux' }, fields = {{ name = 'u' }},"
     "rates = function(u) return 0*u end,"
     "forcing = { fields = 'u', k = {1.9, 2.3}, power = 0.3, random = true }, observe = {"
     "a = { function(u, x) return u*" R2 "math.cos(2*x) end, reduce = 'mean' },"
     "b = { function(u, y) return u*" R2 "math.cos(2*y) end, reduce = 'mean' },"
     "c = { function(u, x, y) return u*2*math.cos(x)*math.cos(2*y) end, reduce = 'mean' },"
     "d = { function(u, x, y) return u*2*math.cos(x)*math.sin(2*y) end, reduce = 'mean' } },",
     4, 5},
    /* a vector between walls of all axes: only (1, 1) has a part without divergence; and one more field with two
     * scalars */
    {"grid = { n = {8, 8}, size = {math.pi, math.pi}, boundary = 'no_flux' }, solenoidal = 'u, v', fields = {"
     "{ name = 'u', sides = { x_low = { value = 0 }, x_high = { value = 0 } } },"
     "{ name = 'v', sides = { y_low = { value = 0 }, y_high = { value = 0 } } }, { name = 'c' }},"
     "rates = function(u, v, c) return 0*u, 0*v, 0*c end,"
     "forcing = { fields = 'u, v, c', k = {0.9, 1.5}, power = 0.3, random = true }, observe = {"
     "a = { function(u, v, x, y)"
     " return " R2 "(u*math.sin(x)*math.cos(y) - v*math.cos(x)*math.sin(y)) end, reduce = 'mean' },"
     "b = { function(c, x) return c*" R2 "math.cos(x) end, reduce = 'mean' },"
     "c = { function(c, y) return c*" R2 "math.cos(y) end, reduce = 'mean' },"
     "d = { function(c, x, y) return c*2*math.cos(x)*math.cos(y) end, reduce = 'mean' } },",
     4, 4},
    /* a shell where u has no mode, but v and w have: v of the part without divergence has half of each mode's mean
     * square */
    {"grid = { n = {6, 6, 7}, size = {math.pi/3, math.pi, math.pi*2}, x = 'no_flux', y = 'no_flux' },"
     "solenoidal = 'u, v, w', fields = {"
     "{ name = 'u', sides = { x_low = { value = 0 }, x_high = { value = 0 } } },"
     "{ name = 'v', sides = { y_low = { value = 0 }, y_high = { value = 0 } } }, { name = 'w' }},"
     "rates = function(u, v, w) return 0*u, 0*v, 0*w end,"
     "forcing = { fields = 'u, v, w', k = {1.4, 1.5}, power = 0.3, random = true }, observe = {"
     "a = { function(v, y, z) return v*2*" R2 "math.sin(y)*math.cos(z) end, reduce = 'mean' },"
     "b = { function(v, y, z) return v*2*" R2 "math.sin(y)*math.sin(z) end, reduce = 'mean' } },",
     2, 2},
    /* a vector on periodic axes: (1, 0) moves v, (0, 1) moves u */
    {"grid = { n = {8, 8}, size = {2*math.pi, 2*math.pi} }, solenoidal = 'u, v', fields = {{ name = 'u' }, { name = "
     "'v' }},"
     "rates = function(u, v) return 0*u, 0*v end,"
     "forcing = { fields = 'u, v', k = {0.9, 1.5}, power = 0.3, random = true }, observe = {"
     "a = { function(v, x) return v*" R2 "math.cos(x) end, reduce = 'mean' },"
     "b = { function(u, y) return u*" R2 "math.sin(y) end, reduce = 'mean' },"
     "c = { function(u, v, x, y) return (u - v)*math.cos(x + y) end, reduce = 'mean' },"
     "d = { function(u, v, x, y) return (u + v)*math.sin(x - y) end, reduce = 'mean' } },",
     4, 8},
};

/* Steps of dt give each mode the variance 2 P dt/freedom. Over N steps the estimate of a variance has the relative
 * standard deviation sqrt(2/N), that of a covariance of two modes sqrt(1/N): 5 of them. */
static void test_law(void **state) {
  enum { STEPS = 2000 };
  (void)state;
  for (size_t c = 0; c < sizeof laws / sizeof *laws; c++)
    for (int single = 0; single < 2; single++) {
      const law *of = &laws[c];
      double now[SIM_COLUMNS_MAX], before[4] = {0}, sums[4][4] = {{0}};
      char text[2048];
      system_run s;
      snprintf(text, sizeof text,
               "return sim.diffusion { seed = 7, precision = '%s', %s"
               " integrate = { scheme = 'etd1', dt = 0.5, t_end = 1000 } }",
               single ? "single" : "double", of->text);
      open_with(&s, text, sim_isa_best(), 1, NULL);
      for (int64_t i = 1; i <= STEPS; i++) {
        run_to(&s, i);
        row(&s, 1, now);
        for (int a = 0; a < of->modes; a++)
          for (int b = 0; b < of->modes; b++) sums[a][b] += (now[a] - before[a]) * (now[b] - before[b]) / STEPS;
        memcpy(before, now, sizeof before);
      }
      const double variance = 2 * 0.3 * 0.5 / of->freedom;
      for (int a = 0; a < of->modes; a++)
        for (int b = 0; b < of->modes; b++)
          if (!(fabs(sums[a][b] - (a == b) * variance) < 5 * variance * sqrt((a == b ? 2.0 : 1.0) / STEPS)))
            fail_msg("law %zu, modes %d, %d: %g, expected %g", c, a, b, sums[a][b], (a == b) * variance);
      shut(&s);
    }
}

/* Ornstein and Uhlenbeck: from 0 the variance of a mode at t is 2 P/freedom (1 - e^(-2 a t))/(2 a), a = D k^2, for any
 * step. The shell 2 <= |k| <= 5 has 490 wavenumbers, counted in the test. Each has as many degrees of freedom as
 * components without divergence. The energy is a sum over them, each with a relative variance of 2. */
static void test_variance(void **state) {
  (void)state;
  for (int steps = 1; steps <= 4; steps += 3) {
    double expected = 0, spread = 0, freedom = 0, forcing[3], e[2];
    system_run s;
    for (int x = -5; x <= 5; x++)
      for (int y = -5; y <= 5; y++)
        for (int z = -5; z <= 5; z++) freedom += 2 * (x * x + y * y + z * z >= 4 && x * x + y * y + z * z <= 25);
    for (int x = -5; x <= 5; x++)
      for (int y = -5; y <= 5; y++)
        for (int z = -5; z <= 5; z++) {
          const int k2 = x * x + y * y + z * z;
          if (k2 < 4 || k2 > 25) continue;
          const double a = 0.05 * k2, v = 2 * 0.4 / freedom * (1 - exp(-2 * a * 2)) / (2 * a);
          expected += 2 * v / 2;
          spread += 2 * 2 * (v / 2) * (v / 2);
        }
    whole(&s,
          "return sim.diffusion { seed = 3, grid = { n = {16, 15, 18}, size = {2*math.pi, 2*math.pi, 2*math.pi} },"
          "solenoidal = 'u, v, w', fields = {{ name = 'u', D = 0.05 }, { name = 'v', D = 0.05 },"
          "{ name = 'w', D = 0.05 }}, rates = function(u, v, w) return 0*u, 0*v, 0*w end,"
          "forcing = { fields = 'u, v, w', k = {2, 5}, power = 0.4, random = true }, observe = {"
          "a = { function(u_x, v_y, w_z) return math.abs(u_x + v_y + w_z) end, reduce = 'max' },"
          "b = { function(u) return u end, reduce = 'mean' } },"
          "integrate = { scheme = 'etdrk4', dt = 2/%d, t_end = 2 } }",
          steps);
    row(&s, 1, e);
    row(&s, 2, forcing);
    if (!(fabs(forcing[0] - expected) < 5 * sqrt(spread)) || !(e[0] < 1e-12) || !(fabs(e[1]) < 1e-15))
      fail_msg("energy %g, expected %g +- %g; divergence %g, mean %g", forcing[0], expected, sqrt(spread), e[0], e[1]);
    assert_true(forcing[1] == 0.4 && forcing[2] == 0.8);
    shut(&s);
  }
}

/* ---- power, whatever the flow does ---- */

/* The energy of a flow that mixes its modes: E(T) - E(0) + dissipation = P T + a martingale. The martingale's variance
 * is the integral of 2 P/freedom 2 E dt, where E is the shell's energy, at most that of the flow. The errors of the
 * dissipation by the trapezoidal rule over dt = 1/32, and of the scheme's first order, are far below. */
static void test_power(void **state) {
  double e[2], before = 0, dissipated = 0, variance = 0, first = 0;
  const double freedom = 2 * 1044; /* vectors of integers with 1 <= |k|^2 <= 40, twice */
  int counted = 0;
  system_run s;
  (void)state;
  for (int x = -6; x <= 6; x++)
    for (int y = -6; y <= 6; y++)
      for (int z = -6; z <= 6; z++) counted += x * x + y * y + z * z >= 1 && x * x + y * y + z * z <= 40;
  open_with(&s,
            "return sim.diffusion { seed = 11, grid = { n = {24, 24, 24}, size = {2*math.pi, 2*math.pi, 2*math.pi} },"
            "fields = {{ name = 'u', D = 0.02, initial = function(x, y, z)"
            " return 2*math.sin(x)*math.cos(y)*math.cos(z) end },"
            "{ name = 'v', D = 0.02, initial = function(x, y, z) return -2*math.cos(x)*math.sin(y)*math.cos(z) end },"
            "{ name = 'w', D = 0.02 }}, solenoidal = 'u, v, w',"
            "derived = { a = function(ky, kz, v, w) return 0, ky*w - kz*v end,"
            "b = function(kz, kx, u, w) return 0, kz*u - kx*w end,"
            "c = function(kx, ky, u, v) return 0, kx*v - ky*u end },"
            "rates = function(u, v, w, a, b, c) return v*c - w*b, w*a - u*c, u*b - v*a end,"
            "forcing = { fields = 'u, v, w', k = {1, 6.33}, power = 0.5, random = true }, observe = {"
            "e = { function(u, v, w) return 0.5*(u^2 + v^2 + w^2) end, reduce = 'mean' },"
            "eps = { function(a, b, c) return 0.02*(a^2 + b^2 + c^2) end, reduce = 'mean' } },"
            "integrate = { scheme = 'etdrk2', dt = 1/32, t_end = 2, dealias = true } }",
            sim_isa_best(), 2, NULL);
  for (int64_t i = 0; i <= 64; i++) {
    run_to(&s, i);
    row(&s, 1, e);
    if (i == 0) first = e[0];
    if (i > 0) dissipated += (before + e[1]) / 64;
    before = e[1];
    variance += 4 * 0.5 / freedom * e[0] / 32;
  }
  const double defect = e[0] - first + dissipated - 0.5 * 2;
  if (2 * counted != (int)freedom || !(fabs(defect) < 4 * sqrt(variance)))
    fail_msg("%d wavenumbers; defect %g, standard deviation %g", counted, defect, sqrt(variance));
  assert_true(sqrt(variance) < 0.04); /* 4 % of P T */
  shut(&s);
}

/* ---- helicity ---- */

/* Modes of one helicity at |k| = 1 are their own curl. The helicity <u . curl u> of a wide shell grows by 2 h P <|k|>:
 * with h = 1/2 one sign has three quarters of the power. Its spread is below that of the energy times 2 k. */
static void test_helicity(void **state) {
  static const double shares[] = {1, -1, 0.5};
  (void)state;
  for (int i = 0; i < 3; i++) {
    double e[3], mean = 0;
    int count = 0;
    system_run s;
    for (int x = -4; x <= 4; x++)
      for (int y = -4; y <= 4; y++)
        for (int z = -4; z <= 4; z++) {
          const int k2 = x * x + y * y + z * z;
          if (k2 < 1 || k2 > 16) continue;
          mean += sqrt(k2);
          count++;
        }
    mean /= count;
    whole(&s,
          "return sim.diffusion { seed = 5, grid = { n = {12, 11, 10}, size = {2*math.pi, 2*math.pi, 2*math.pi} },"
          "fields = {{ name = 'u' }, { name = 'v' }, { name = 'w' }}, solenoidal = 'u, v, w',"
          "derived = { a = function(ky, kz, v, w) return 0, ky*w - kz*v end,"
          "b = function(kz, kx, u, w) return 0, kz*u - kx*w end,"
          "c = function(kx, ky, u, v) return 0, kx*v - ky*u end }, rates = function(u, v, w) return 0*u, 0*v, 0*w end,"
          "forcing = { fields = 'u, v, w', k = {1, %d}, power = 0.5, random = true, helicity = %g }, observe = {"
          "curl = { function(u, v, w, a, b, c)"
          " return math.abs(u - %g*a) + math.abs(v - %g*b) + math.abs(w - %g*c) end, reduce = 'max' },"
          "energy = { function(u, v, w) return (u^2 + v^2 + w^2)/2 end, reduce = 'mean' },"
          "helicity = { function(u, v, w, a, b, c) return u*a + v*b + w*c end, reduce = 'mean' } },"
          "integrate = { scheme = 'etd1', dt = 1/4, t_end = 2 } }",
          i < 2 ? 1 : 4, shares[i], shares[i], shares[i], shares[i]);
    row(&s, 1, e);
    if (i < 2 && !(e[0] < 1e-13 && e[1] > 0.05)) fail_msg("not its own curl by %g, energy %g", e[0], e[1]);
    const double expected = 2 * shares[i] * 0.5 * 2 * mean;
    if (i == 2 && !(fabs(e[2] - expected) < 5 * 2 * 4 * sqrt(2.0 / (2 * count))))
      fail_msg("helicity %g, expected %g", e[2], expected);
    shut(&s);
  }
}

/* Threads, instruction sets (in double) and a restart change no bit. */
static void test_same_bits(void **state) {
  (void)state;
  for (int i = 0; i < 2; i++) {
    char text[2048];
    system_run first, s;
    snprintf(text, sizeof text,
             "return sim.diffusion { precision = '%s', grid = { n = {24, 18, 14}, size = {6, 5, 4}, z = 'no_flux' },"
             "solenoidal = 'u, v, w', fields = {{ name = 'u', D = 0.02, noise = 0.1 }, { name = 'v', D = 0.02,"
             " noise = 0.1 }, { name = 'w', D = 0.02, sides = { z_low = { value = 0 }, z_high = { value = 0 } },"
             " noise = 0.1 }}, rates = function(u, v, w, u_x, v_x, w_x) return -u*u_x, -u*v_x, -u*w_x end,"
             "forcing = { fields = 'u, v, w', k = {2, 4}, power = 1e-3, random = true },"
             "integrate = { scheme = 'etdrk4', dt = 1/64, dealias = true, t_end = 1/8 } }",
             i == 1 ? "single" : "double");
    open_with(&first, text, i == 1 ? sim_isa_best() : SIM_ISA_PLAIN, 1, NULL);
    run_to(&first, 4);
    look(&first);
    open_with(&s, text, sim_isa_best(), 3, &first.frame);
    run_to(&first, INT64_MAX);
    run_to(&s, INT64_MAX);
    look(&first);
    look(&s);
    if (!(first.clock.step > 4 && distance(&first, &s) == 0)) fail_msg("%s", text);
    shut(&s);
    shut(&first);
  }
}

/* Which runs a GPU takes: those on periodic axes. */
static void test_on_gpu(void **state) {
  (void)state;
  for (size_t c = 0; c < sizeof laws / sizeof *laws; c++) {
    const bool walls = strstr(laws[c].text, "no_flux");
    char text[2048], lacks[160] = "";
    system_run s;
    snprintf(text, sizeof text, "return sim.diffusion { %s integrate = { scheme = 'etd1', dt = 0.5, t_end = 1 } }",
             laws[c].text);
    assert_true(decode(&s, text, NULL));
    assert_int_equal(diffusion_model.supports(s.p, SIM_BACKEND_CUDA, lacks, sizeof lacks), !walls);
    assert_string_equal(lacks, walls ? "random `forcing` between walls is" : "");
    void *p = s.p;
    sim_model_parameters_free(&diffusion_model, &p);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_law),       cmocka_unit_test(test_variance),
                                     cmocka_unit_test(test_power),     cmocka_unit_test(test_helicity),
                                     cmocka_unit_test(test_same_bits), cmocka_unit_test(test_on_gpu)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
