/* Cross diffusion between fields. */
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
static const char *const boundary[] = {"periodic", "no_flux", "fixed"};

/* Computes exp(-t D) of two rows by its eigenvalues m +- r: e^(-tm) (cosh(tr) - (D - m) sinh(tr)/r). */
static void exponential(const double d[2][2], double t, double out[2][2]) {
  const double m = (d[0][0] + d[1][1]) / 2;
  const double complex r = csqrt((d[0][0] - m) * (d[0][0] - m) + d[0][1] * d[1][0]);
  const double even = exp(-t * m) * creal(ccosh(t * r)), odd = exp(-t * m) * creal(csinh(t * r) / r);
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++) out[i][j] = (i == j ? even + m * odd : 0) - d[i][j] * odd;
}

/* One mode in every boundary and number of axes; eigenvalues that are real, complex, and imaginary (Schroedinger's
 * equation). Tolerances as for eigenmodes of one field: |D| k^2 t is below 30, and doubling loses as many roundings. */
static void test_modes(void **state) {
  static const double matrix[][2][2] = {
      {{0.02, 0.006}, {0.004, 0.01}}, {{0.02, -0.03}, {0.03, 0.02}}, {{0, -0.03}, {0.03, 0}}};
  static const char *const n[] = {"17", "16, 9", "32, 5, 9"}, *const size[] = {"1.5", "1.5, 2.5", "1.5, 2.5, 3.5"};
  static const int cells_of[][3] = {{17, 1, 1}, {16, 9, 1}, {32, 5, 9}};
  static const char *const shapes[] = {"cos(2*", "cos(", "sin("};
  (void)state;
  for (int i = 0; i < 3; i++)
    for (int rank = 1; rank <= 3; rank++)
      for (int b = 0; b < 27; b++)
        for (int single = 0; single < 2; single++) {
          const int kinds[3] = {b % 3, b / 3 % 3, b / 9};
          const double(*d)[2] = matrix[i];
          if ((rank < 3 && b >= 9) || (rank < 2 && b >= 3)) continue;
          char product[512] = "1";
          double k2 = 0, factor[2][2];
          for (int a = 0; a < rank; a++) {
            const double k = (kinds[a] == 0 ? 2 : 1) * pi * 2 / (1.5 + a);
            k2 += k * k;
            snprintf(product + strlen(product), sizeof product - strlen(product), "*math.%smath.pi*2*%c/%g)",
                     shapes[kinds[a]], "xyz"[a], 1.5 + a);
          }
          system_run s;
          whole(
              &s,
              "return sim.diffusion { precision = '%s', grid = { n = {%s}, size = {%s}, x = '%s', y = '%s', z = '%s' },"
              "fields = {{ name = 'u', D = %g, cross = {0, %g}, initial = function(x, y, z) return %s end },"
              "{ name = 'v', D = %g, cross = {%g, 0}, initial = function(x, y, z) return 0.5*%s end }},"
              "integrate = { t_end = 0.75 } }",
              single ? "single" : "double", n[rank - 1], size[rank - 1], boundary[kinds[0]],
              rank > 1 ? boundary[kinds[1]] : "as others", rank > 2 ? boundary[kinds[2]] : "as others", d[0][0],
              d[0][1], product, d[1][1], d[1][0], product);
          exponential(d, k2 * 0.75, factor);
          for (int64_t c = 0; c < cells(&s); c++) {
            const int *m = cells_of[rank - 1];
            const int64_t at[3] = {c % m[0], c / m[0] % m[1], c / m[0] / m[1]};
            double mode = 1;
            for (int a = 0; a < rank; a++) {
              const double turns = 2 * ((double)at[a] + 0.5) / m[a];
              mode *= kinds[a] == 0 ? cos(2 * pi * turns) : kinds[a] == 1 ? cos(pi * turns) : sin(pi * turns);
            }
            for (int f = 0; f < 2; f++) {
              const double want = mode * (factor[f][0] + 0.5 * factor[f][1]);
              if (!(fabs(value(&s, f, c) - want) < (single ? 1e-5 : 2e-12)))
                fail_msg("matrix %d, %d axes, boundaries %d, single %d: %.15g, not %.15g", i, rank, b, single,
                         value(&s, f, c), want);
            }
          }
          shut(&s);
        }
}

/* Rows of 32 in three periodic axes, whose wavenumber 16 is stored separately. Five modes at once, three of them with
 * wavenumber 16, each with its own exponential. |D| k^2 t is below 3, so that the bounds above are ample. In fp32 the
 * arguments of the first sines are rounded to 2^-18, at their crests, and the others to 2^-20. */
static void test_rows_apart(void **state) {
  static const double matrix[][2][2] = {{{2e-4, 6e-5}, {4e-5, 1e-4}}, {{2e-4, -3e-4}, {3e-4, 2e-4}}};
  static const int n[3] = {32, 6, 5}, modes[5][3] = {{16, 1, 0}, {16, 3, 1}, {16, 0, 2}, {0, 1, 1}, {5, 2, 1}};
  static const double first[5] = {0.3, -0.2, 0.4, 0.5, 0.25}, second[5] = {-0.1, 0.4, 0.2, 0.3, -0.5};
  (void)state;
  for (int i = 0; i < 2; i++)
    for (int single = 0; single < 2; single++) {
      char text[2][1024] = {"0", "0"};
      double factor[5][2][2];
      system_run s;
      for (int m = 0; m < 5; m++) {
        double k2 = 0;
        for (int a = 0; a < 3; a++) k2 += 4 * pi * pi * modes[m][a] * modes[m][a] / ((a + 1) * (a + 1));
        exponential(matrix[i], k2 * 0.75, factor[m]);
        for (int f = 0; f < 2; f++)
          snprintf(text[f] + strlen(text[f]), sizeof text[f] - strlen(text[f]),
                   "+ %g*math.sin(2*math.pi*%d*x + %d)*math.sin(math.pi*%d*y)*math.cos(2*math.pi/3*%d*z + 1)",
                   f ? second[m] : first[m], modes[m][0], modes[m][0] == 16 ? 0 : 1, modes[m][1], modes[m][2]);
      }
      whole(&s,
            "return sim.diffusion { precision = '%s', grid = { n = {32, 6, 5}, size = {1, 2, 3} }, fields = {"
            "{ name = 'u', D = %g, cross = {0, %g}, initial = function(x, y, z) return %s end },"
            "{ name = 'v', D = %g, cross = {%g, 0}, initial = function(x, y, z) return %s end }},"
            "integrate = { t_end = 0.75 } }",
            single ? "single" : "double", matrix[i][0][0], matrix[i][0][1], text[0], matrix[i][1][1], matrix[i][1][0],
            text[1]);
      for (int64_t c = 0; c < cells(&s); c++) {
        const double x = ((double)(c % n[0]) + 0.5) / n[0], y = 2 * ((double)(c / n[0] % n[1]) + 0.5) / n[1];
        const double z = 3 * ((double)(c / n[0] / n[1]) + 0.5) / n[2];
        double want[2] = {0};
        for (int m = 0; m < 5; m++) {
          const double mode = sin(2 * pi * modes[m][0] * x + (modes[m][0] == 16 ? 0 : 1)) * sin(pi * modes[m][1] * y) *
                              cos(2 * pi / 3 * modes[m][2] * z + 1);
          for (int f = 0; f < 2; f++) want[f] += mode * (factor[m][f][0] * first[m] + factor[m][f][1] * second[m]);
        }
        for (int f = 0; f < 2; f++)
          if (!(fabs(value(&s, f, c) - want[f]) < (single ? 1e-5 : 2e-12)))
            fail_msg("matrix %d, single %d, cell %lld: %.15g, not %.15g", i, single, (long long)c, value(&s, f, c),
                     want[f]);
      }
      shut(&s);
    }
}

/* Three fields with drift, decay, hyper-diffusion, a conserved field and derivatives. With a cross-diffusion of 1e-300
 * the matrices are diagonal, and give the same as each scheme's coefficients for single fields. */
static void run_with(system_run *s, const char *scheme, const char *cross, double dt, const char *more) {
  whole(s,
        "return sim.diffusion { grid = { n = {14, 9}, size = {3, 2} }, fields = {"
        "{ name = 'u', D = 0.1, drift = {0.3, 0, 0}, initial = function(x, y) return (0.3 + "
        "0.1*math.cos(2*math.pi*x/3))*(1 + 0.2*math.sin(math.pi*y)) end },"
        "{ name = 'v', D = 0.05, decay = 0.2, %s initial = 0.2 },"
        "{ name = 'w', D = 0.08, hyper = 1e-3, initial = function(y) return math.cos(math.pi*y) end %s}},"
        "rates = function(u, v, w, t) return u*(1 - u) - u*v*math.cos(t), u*v - 0.3*v^2, 0.1*(v - w^2) end,"
        "integrate = { scheme = '%s', dt = %.17g, t_end = 1 } }",
        cross, more, scheme, dt);
}

static void test_schemes(void **state) {
  static const char *const names[] = {"lie", "strang", "etd1", "etdrk2", "etdrk4"};
  static const int orders[] = {1, 2, 1, 2, 4};
  (void)state;
  system_run exact;
  run_with(&exact, "etdrk4", "cross = {0.04, 0, -0.03},", 1.0 / 128, "");
  for (int i = 0; i < 5; i++) {
    system_run one, two;
    for (int conserved = 0; conserved < (i >= 2 ? 2 : 1); conserved++) {
      run_with(&one, names[i], "", 1.0 / 16, conserved ? ", conserved = true" : "");
      run_with(&two, names[i], "cross = {1e-300, 0, 0},", 1.0 / 16, conserved ? ", conserved = true" : "");
      if (!(distance(&one, &two) < 1e-12)) fail_msg("%s: %.3g", names[i], distance(&one, &two));
      shut(&one), shut(&two);
    }
    double error[2];
    for (int half = 0; half < 2; half++) {
      run_with(&one, names[i], "cross = {0.04, 0, -0.03},", 1.0 / (16 << half), "");
      error[half] = distance(&one, &exact);
      shut(&one);
    }
    const double order = log2(error[0] / error[1]);
    if (!(fabs(order - orders[i]) < 0.3) || !(error[1] < 0.1))
      fail_msg("%s: order %.2f, error %.3g", names[i], order, error[1]);
  }
  shut(&exact);
  /* every wavenumber of three axes */
  for (int single = 0; single < 2; single++) {
    static const char text[] =
        "return sim.diffusion { precision = '%s', grid = { n = {32, 6, 5}, size = {1, 2, 3} }, fields = {{ name = 'u', "
        "D = 1e-3, %s noise = 1 }, { name = 'v', D = 2e-3, tensor = {%g, 0, 0}, noise = 1 }}, integrate = { t_end = 1 "
        "} }";
    for (int tensor = 0; tensor < 2; tensor++) {
      system_run one, two;
      whole(&one, text, single ? "single" : "double", "", 1e-3 * tensor);
      whole(&two, text, single ? "single" : "double", single ? "cross = {0, 1e-30}," : "cross = {0, 1e-300},",
            1e-3 * tensor);
      assert_true(distance(&one, &two) < (single ? 1e-5 : 1e-12));
      shut(&one), shut(&two);
    }
  }
}

/* Adaptive steps, in every boundary, end as near to the solution of short steps as the tolerance of one step, since
 * errors are damped (tests/diffusion/diffusion_adaptive.c). */
static void test_adaptive(void **state) {
  static const char *const n[] = {"32", "16, 9", "32, 6, 5"}, *const size[] = {"3", "3, 2", "3, 2, 2"};
  (void)state;
  for (int rank = 1; rank <= 3; rank++)
    for (int b = 0; b < 3; b++) {
      system_run s[2];
      for (int i = 0; i < 2; i++)
        whole(&s[i],
              "return sim.diffusion { grid = { n = {%s}, size = {%s}, boundary = '%s' }, fields = {"
              "{ name = 'u', D = 0.1, cross = {0, 0.04}, initial = function(x) return math.sin(math.pi*x/3)^2 end },"
              "{ name = 'v', D = 0.05, cross = {-0.03, 0}, initial = function(x) return 0.5*math.sin(math.pi*x/3)^2 "
              "end }}, rates = function(u, v, t) return 5*math.exp(-2*t)*u*(1 - u) - u*v, u*v - 0.3*v^2 end,"
              "integrate = { scheme = 'etdrk4', dt = %s, t_end = 1 } }",
              n[rank - 1], size[rank - 1], boundary[b], i ? "'auto', rtol = 1e-6, atol = 1e-9, dt_max = 1" : "1/128");
      if (!(distance(&s[0], &s[1]) < 1e-6) || s[1].clock.step > 64)
        fail_msg("%s, %d axes: %.3g in %lld steps", boundary[b], rank, distance(&s[0], &s[1]),
                 (long long)s[1].clock.step);
      shut(&s[0]), shut(&s[1]);
    }
}

/* Any number of threads, restarts, and adaptive steps give the same bits. */
static void test_same_bits(void **state) {
  (void)state;
  for (int i = 0; i < 2; i++) {
    char text[1024], first[33], other[33];
    system_run s, again;
    snprintf(text, sizeof text,
             "return sim.diffusion { seed = 5, precision = '%s', grid = { n = {32, 30, 10}, size = {1, 1, 0.5}, y = "
             "'no_flux' }, fields = {{ name = 'u', D = 1e-3, initial = 1, noise = 0.1 },"
             "{ name = 'v', D = 2e-3, cross = {-1e-3, 0}, initial = 0.5, noise = 0.1 }},"
             "rates = function(u, v, u_x) return u*(1 - u)*v + 0.1*u_x, u - v end,"
             "integrate = { scheme = 'etdrk4', dt = %s, t_end = 0.4 } }",
             i ? "single" : "double", i ? "0.05" : "'auto'");
    open_with(&s, text, sim_isa_best(), 1, NULL);
    run_to(&s, 6);
    look(&s);
    must(sim_frame_check_finite(&s.frame), "state");
    sim_frame_digest(&s.frame, first);
    shut(&s);
    open_with(&s, text, sim_isa_best(), 3, NULL);
    run_to(&s, 3);
    look(&s);
    open_with(&again, text, sim_isa_best(), 2, &s.frame);
    shut(&s);
    run_to(&again, 6);
    look(&again);
    sim_frame_digest(&again.frame, other);
    assert_string_equal(first, other);
    shut(&again);
  }
}

static void test_faults(void **state) {
  static const char *const texts[][2] = {{"cross = {0}", "fields[1].cross: expected a number for each field, 2, got 1"},
                                         {"cross = {1, 0}", "fields[1].cross: expected 0 for the field itself"},
                                         {"cross = {0, 3}", "an eigenvalue with a negative real part"}};
  (void)state;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    char text[512], faults[512] = "";
    system_run s = {0};
    snprintf(text, sizeof text,
             "return sim.diffusion { grid = { n = {8, 8}, size = {1, 1} }, fields = {{ name = 'u', D = 1, %s },"
             "{ name = 'v', D = 1, cross = {1, 0} }}, integrate = { t_end = 1 } }",
             texts[i][0]);
    if (decode(&s, text, faults) || !strstr(faults, texts[i][1])) fail_msg("%s: %s", texts[i][0], faults);
    shut(&s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_modes),     cmocka_unit_test(test_rows_apart),
                                     cmocka_unit_test(test_schemes),   cmocka_unit_test(test_adaptive),
                                     cmocka_unit_test(test_same_bits), cmocka_unit_test(test_faults)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
