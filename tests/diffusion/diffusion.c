/* The model `diffusion` against known answers. Each case is a scenario's text, run through the model's descriptor. */
#include "tests/diffusion/diffusion_driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const double pi = 3.14159265358979323846;

/* ---- linear ---- */

static const char *const boundary[] = {"periodic", "no_flux", "fixed"};

/* exp(-D k^2 t) of one mode, at each boundary of each axis, with odd sizes and odd boxes. Values are of order 1. 1e-12
 * in double and 1e-5 in single are some 10 times the bound of three transforms and back at these lengths
 * (tests/common/fft.c). */
static void test_eigenmodes(void **state) {
  static const int sizes[][3] = {{16, 1, 1}, {17, 1, 1}, {1, 1, 1}, {64, 9, 1}, {7, 33, 1}, {12, 5, 9}, {33, 4, 3}};
  static const char *const shapes[] = {"cos(2*", "cos(", "sin("};
  (void)state;
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    for (int b = 0; b < 27; b++)
      for (int single = 0; single < 2; single++) {
        const int rank = sizes[i][2] > 1 ? 3 : sizes[i][1] > 1 ? 2 : 1, kinds[3] = {b % 3, b / 3 % 3, b / 9};
        if ((rank < 3 && b >= 9) || (rank < 2 && b >= 3)) continue;
        char n[64] = "", size[64] = "", product[512] = "1";
        double k2 = 0;
        int modes[3] = {0};
        for (int a = 0; a < rank; a++) {
          char shape[64];
          const double length = 1.5 + a;
          modes[a] = kinds[a] == 0 ? (sizes[i][a] - 1) / 2 : kinds[a] == 1 ? sizes[i][a] - 1 : sizes[i][a];
          if (modes[a] > 2 + a) modes[a] = 2 + a;
          const double k = (kinds[a] == 0 ? 2 * pi : pi) * modes[a] / length;
          k2 += (1 + a) * k * k;
          snprintf(n + strlen(n), sizeof n - strlen(n), "%d,", sizes[i][a]);
          snprintf(size + strlen(size), sizeof size - strlen(size), "%g,", length);
          snprintf(shape, sizeof shape, "*math.%smath.pi*%d*%c/%g)", shapes[kinds[a]], modes[a], "xyz"[a], length);
          strncat(product, shape, sizeof product - strlen(product) - 1);
        }
        system_run s;
        whole(&s,
              "return sim.diffusion { precision = '%s', grid = { n = {%s}, size = {%s}, x = '%s', y = '%s', z = '%s' },"
              "fields = {{ name = 'u', D = 0.02, axes = {1, %d, %d}, decay = 0.1, hyper = 0, initial = function(x, y, "
              "z) return %s end }}, integrate = { t_end = 0.75 } }",
              single ? "single" : "double", n, size, boundary[kinds[0]], rank > 1 ? boundary[kinds[1]] : "as others",
              rank > 2 ? boundary[kinds[2]] : "as others", rank > 1 ? 2 : 1, rank > 2 ? 3 : 1, product);
        const double factor = exp(-(0.02 * k2 + 0.1) * 0.75), tolerance = single ? 1e-5 : 1e-12;
        for (int64_t c = 0; c < cells(&s); c++) {
          const int64_t at[3] = {c % sizes[i][0], c / sizes[i][0] % sizes[i][1], c / sizes[i][0] / sizes[i][1]};
          double want = factor;
          for (int a = 0; a < rank; a++) {
            const double turns = (double)modes[a] * ((double)at[a] + 0.5) / sizes[i][a];
            want *= kinds[a] == 0 ? cos(2 * pi * turns) : kinds[a] == 1 ? cos(pi * turns) : sin(pi * turns);
          }
          if (fabs(value(&s, 0, c) - want) > tolerance)
            fail_msg("size %zu boundaries %d single %d cell %lld: %.15g, not %.15g", i, b, single, (long long)c,
                     value(&s, 0, c), want);
        }
        shut(&s);
      }
}

/* A Gaussian of variance s^2 becomes one of variance s^2 + 2 D t, and drift moves it. Images 1 box away count; further
 * ones are below exp(-100). Spectrally resolved: the initial spectrum falls to exp(-(pi s n/L)^2/2) < 1e-20 at the
 * largest k. */
static void test_gaussian(void **state) {
  (void)state;
  system_run s;
  whole(
      &s,
      "local function g(d) return math.exp(-d*d/(2*0.04)) end\n"
      "return sim.diffusion { grid = { n = {128}, size = {4} }, fields = {{ name = 'u', D = 0.03, drift = {0.5, 0, 0},"
      "initial = function(x) return g(x - 1.5) + g(x - 5.5) + g(x + 2.5) end }}, integrate = { t_end = 2 } }");
  const double variance = 0.04 + 2 * 0.03 * 2, height = sqrt(0.04 / variance);
  for (int64_t c = 0; c < cells(&s); c++) {
    const double x = ((double)c + 0.5) * 4 / 128 - 2.5;
    double want = 0;
    for (int image = -2; image <= 2; image++) want += height * exp(-pow(x + 4 * image, 2) / (2 * variance));
    assert_true(fabs(value(&s, 0, c) - want) < 1e-10);
  }
  shut(&s);
}

/* ---- rates ---- */

/* u_t = 0.01 u_xx + u - u^3 with u in the linear part. The table's errors were computed with an independent program. */
static void allen_cahn(system_run *s, const char *scheme, double h) {
  whole(
      s,
      "return sim.diffusion { grid = { n = {256}, size = {2*math.pi} }, fields = {{ name = 'u', D = 0.01, decay = -1,"
      "initial = function(x) return 0.53*math.sin(x) + 0.47*math.cos(3*x) end }}, rates = function(u) return -u^3 end,"
      "integrate = { scheme = '%s', dt = %.17g, t_end = 4 } }",
      scheme, h);
}

static void test_table(void **state) {
  static const double table[] = {8.95e-6, 4.99e-7, 2.95e-8, 1.79e-9};
  (void)state;
  system_run exact, s;
  allen_cahn(&exact, "etdrk4", 1.0 / 512); /* its own error is 4^4 below the last error of the table */
  for (int i = 0; i < 4; i++) {
    allen_cahn(&s, "etdrk4", 0.125 / (1 << i));
    const double error = distance(&s, &exact);
    print_message("  etdrk4, h = 1/%d: %.3g (%.3g)\n", 8 << i, error, table[i]);
    assert_true(fabs(error / table[i] - 1) < 0.2); /* the table's maximum was taken at other points of the same curve */
    shut(&s);
  }
  shut(&exact);
}

/* Orders of every scheme at every boundary in every dimension: the ratio of errors when dt is halved, against etdrk4
 * with an eighth of the step. Two fields, with rates that depend on both. */
static void mixed(system_run *s, int rank, int b, const char *scheme, double dt) {
  static const char *const n[] = {"14", "14, 9", "10, 9, 6"}, *const size[] = {"3", "3, 2", "3, 2, 2"};
  static const char *const bump[] = {
      "(0.3 + 0.1*math.cos(2*math.pi*x/3))*(1 + 0.2*math.sin(math.pi*y))", /* periodic */
      "(0.3 + 0.1*math.cos(math.pi*x/3))*(1 + 0.2*math.cos(math.pi*y/2))",
      "(0.4*math.sin(math.pi*x/3) + 0.1*math.sin(math.pi*x))*math.sin(math.pi*(y + %d)/2)"};
  char shape[256];
  /* sin(pi (0 + 1)/2) = 1 where there is no y; z matters only at a fixed wall */
  snprintf(shape, sizeof shape, "%s", bump[b]);
  char *hole = strstr(shape, "%d");
  if (hole) memcpy(hole, rank == 1 ? "1 " : "0 ", 2);
  whole(s,
        "return sim.diffusion { grid = { n = {%s}, size = {%s}, boundary = '%s' }, fields = {"
        "{ name = 'u', D = 0.1, initial = function(x, y, z) return %s%s end },"
        "{ name = 'v', D = 0.05, decay = 0.2, initial = function(x, y, z) return 0.5*(%s)%s end }},"
        "rates = function(u, v, t) return u*(1 - u) - u*v*math.cos(t), u*v - 0.3*v^2 end,"
        "integrate = { scheme = '%s', dt = %.17g, t_end = 1 } }",
        n[rank - 1], size[rank - 1], boundary[b], shape, rank == 3 && b == 2 ? "*math.sin(math.pi*z/2)" : "", shape,
        rank == 3 && b == 2 ? "*math.sin(math.pi*z/2)" : "", scheme, dt);
}

static void test_orders(void **state) {
  static const char *const names[] = {"lie", "strang", "etd1", "etdrk2", "etdrk4"};
  static const int orders[] = {1, 2, 1, 2, 4};
  (void)state;
  for (int rank = 1; rank <= 3; rank++)
    for (int b = 0; b < 3; b++) {
      system_run exact;
      mixed(&exact, rank, b, "etdrk4", 1.0 / 128);
      for (int i = 0; i < 5; i++) {
        double error[2];
        for (int half = 0; half < 2; half++) {
          system_run s;
          mixed(&s, rank, b, names[i], 1.0 / (16 << half));
          error[half] = distance(&s, &exact);
          shut(&s);
        }
        const double order = log2(error[0] / error[1]);
        if (!(fabs(order - orders[i]) < 0.3) || !(error[1] < 0.1))
          fail_msg("%s, %s, %d axes: order %.2f, error %.3g", names[i], boundary[b], rank, order, error[1]);
      }
      shut(&exact);
    }
}

/* u = exp(-t) sin(x) cos(2y) with the source that makes it a solution. Spectral in space, so the error is that of time
 * alone, of order 4. At dt = 1/64 the measured order puts it below 1e-9. */
static void test_manufactured(void **state) {
  (void)state;
  double error[2];
  for (int half = 0; half < 2; half++) {
    system_run s;
    whole(&s,
          "return sim.diffusion { grid = { n = {16, 18}, size = {2*math.pi, 2*math.pi} }, fields = {{ name = 'u', D = "
          "0.3,"
          "initial = function(x, y) return math.sin(x)*math.cos(2*y) end }},"
          "rates = function(u, x, y, t) local e = math.exp(-t)*math.sin(x)*math.cos(2*y) return u^2 - e^2 + (5*0.3 - "
          "1)*e end,"
          "integrate = { scheme = 'etdrk4', dt = %.17g, t_end = 1 } }",
          1.0 / (16 << half));
    error[half] = 0;
    for (int64_t c = 0; c < cells(&s); c++) {
      const double x = ((double)(c % 16) + 0.5) * 2 * pi / 16, y = ((double)(c / 16) + 0.5) * 2 * pi / 18;
      error[half] = fmax(error[half], fabs(value(&s, 0, c) - exp(-1) * sin(x) * cos(2 * y)));
    }
    shut(&s);
  }
  assert_true(error[1] < 1e-6 && fabs(log2(error[0] / error[1]) - 4) < 0.4);
}

/* Rates that are 0, but not known to be 0: only rounding moves the mean, 1e-14 a step. */
static void test_mean(void **state) {
  static const char *const names[] = {"lie", "strang", "etd1", "etdrk2", "etdrk4"};
  (void)state;
  for (int i = 0; i < 5; i++) {
    system_run s;
    whole(&s,
          "return sim.diffusion { grid = { n = {30, 22}, size = {1, 1} }, fields = {{ name = 'u', D = 1e-3,"
          "initial = function(x, y) return 1 + math.exp(-20*(x - 0.4)^2 - 30*(y - 0.5)^2) end }},"
          "rates = function(u) return 0*u end, integrate = { scheme = '%s', dt = 0.1, t_end = 10 } }",
          names[i]);
    double now = 0, first = 0;
    for (int64_t c = 0; c < cells(&s); c++) now += value(&s, 0, c);
    diffusion_parameters *p = s.p;
    double *start = calloc((size_t)cells(&s), sizeof(double));
    must(diffusion_start(p, &s.setup, (void *[]){start}), "start");
    for (int64_t c = 0; c < cells(&s); c++) first += start[c];
    free(start);
    assert_true(fabs(now / first - 1) < 100 * 1e-14);
    shut(&s);
  }
}

/* Fisher's front from a steep start, D = r = 1: its mean speed over t = 10 ... 20 and 20 ... 30 (computed
 * independently), +- 0.02. The speed is not 2, but about 2 - 3/(2t) (Bramson). The integral of u grows with that speed.
 * The start is smooth, since a jump causes oscillations. Rounding ahead of the front, 1e-16, grows as exp(t), to 1e-3
 * at t = 30. */
static void test_front(void **state) {
  static const double speed[] = {1.882, 1.927};
  (void)state;
  double mass[3];
  for (int i = 0; i < 3; i++) {
    system_run s;
    whole(&s,
          "return sim.diffusion { grid = { n = {1024}, size = {120}, boundary = 'no_flux' }, fields = {{ name = 'u', D "
          "= 1,"
          "initial = function(x) return 0.5*sim.erfc(x - 10) end }},"
          "rates = function(u) return u*(1 - u) end,"
          "integrate = { scheme = 'etdrk4', dt = 0.1, t_end = %d } }",
          10 * (i + 1));
    mass[i] = 0;
    for (int64_t c = 0; c < cells(&s); c++) mass[i] += value(&s, 0, c) * 120 / 1024;
    shut(&s);
  }
  for (int i = 0; i < 2; i++) {
    const double mean = (mass[i + 1] - mass[i]) / 10;
    print_message("  speed %.4f (%.3f)\n", mean, speed[i]);
    assert_true(fabs(mean - speed[i]) < 0.02);
  }
}

/* ---- the same bits ---- */

/* Large enough that three threads have work. */
static const char case_text[] = "return sim.diffusion { seed = 5, precision = '%s', grid = { n = {36, 30, 40}, "
                                "size = {1, 1, 0.5}, y = '%s', x = '%s' },"
                                "fields = {{ name = 'u', D = 1e-3, initial = 1, noise = 0.1 }, { name = 'v', D = "
                                "2e-3, initial = 0.5, noise = 0.1 }},"
                                "rates = function(u, v, y) return u*(1 - u)*v + 0.1*y, u - v end,"
                                "integrate = { scheme = '%s', dt = 0.05, t_end = 0.5 } }";

static void digest_of(system_run *s, char out[33]) {
  look(s);
  must(sim_frame_check_finite(&s->frame), "state");
  sim_frame_digest(&s->frame, out);
}

static void test_same_bits(void **state) {
  static const char *const names[] = {"lie", "strang", "etd1", "etdrk2", "etdrk4"};
  (void)state;
  for (int i = 0; i < 5; i++)
    for (int single = 0; single < 2; single++)
      for (int walls = 0; walls < 2; walls++) {
        char text[1024], first[33], other[33];
        system_run s, again;
        snprintf(text, sizeof text, case_text, single ? "single" : "double", boundary[walls], boundary[2 * walls],
                 names[i]);
        open_with(&s, text, sim_isa_best(), 1, NULL);
        run_to(&s, INT64_MAX);
        digest_of(&s, first);
        shut(&s);
        for (int threads = 2; threads <= 3; threads++) {
          open_with(&s, text, single ? sim_isa_best() : SIM_ISA_PLAIN, threads, NULL);
          run_to(&s, 4);
          look(&s);
          open_with(&again, text, sim_isa_best(), threads, &s.frame); /* a restart, in double with other vectors */
          shut(&s);
          run_to(&again, INT64_MAX);
          digest_of(&again, other);
          shut(&again);
          assert_string_equal(first, other);
        }
      }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_eigenmodes),   cmocka_unit_test(test_gaussian),
                                     cmocka_unit_test(test_table),        cmocka_unit_test(test_orders),
                                     cmocka_unit_test(test_manufactured), cmocka_unit_test(test_mean),
                                     cmocka_unit_test(test_front),        cmocka_unit_test(test_same_bits)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
