/* Walls that mix value and slope, a u + b du/dn = g, against exact solutions in the forms of Carslaw and Jaeger
 * (Conduction of heat in solids, 1959, sections 3.9 to 3.11), and against SciPy. */
#include "tests/diffusion/diffusion_driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const double pi = 3.14159265358979323846;

static void row(system_run *s, int table, double *values) {
  must(diffusion_model.observe(s->self, &s->clock, table, values), "observe");
}

/* A wall: h of du/dn + h u; 0 is a slope, INFINITY a value. */
typedef struct wall {
  double h;
} wall;

/* Left side of the equation of k for walls L apart: (k^2 - h_0 h_1) sin kL = k (h_0 + h_1) cos kL, divided by what is
 * infinite. */
static double condition(wall low, wall high, double size, double k) {
  const double s = sin(k * size), c = cos(k * size);
  if (isinf(low.h) && isinf(high.h)) return s;
  if (isinf(low.h)) return k * c + high.h * s;
  if (isinf(high.h)) return k * c + low.h * s;
  return (k * k - low.h * high.h) * s - k * (low.h + high.h) * c;
}

/* Returns root m of it, which lies within m pi <= k L <= (m + 1) pi. */
static double root(wall low, wall high, double size, int m) {
  double from = (m + 1e-9) * pi / size, to = (m + 1 - 1e-9) * pi / size;
  const double first = condition(low, high, size, from);
  for (int i = 0; i < 100; i++) {
    const double k = (from + to) / 2;
    *((condition(low, high, size, k) > 0) == (first > 0) ? &from : &to) = k;
  }
  return (from + to) / 2;
}

/* Writes the side that holds A + B x: its value, its slope, or a mixture with b = 2. normal: -1 at the low wall. */
static void put_side(char *out, size_t capacity, char axis, const char *end, wall w, double value, double slope,
                     int normal) {
  if (isinf(w.h))
    snprintf(out, capacity, "%c_%s = { value = %.17g }", axis, end, value);
  else if (w.h == 0)
    snprintf(out, capacity, "%c_%s = { slope = %.17g }", axis, end, slope);
  else
    snprintf(out, capacity, "%c_%s = { robin = { a = %.17g, b = 2, g = %.17g } }", axis, end, 2 * w.h,
             2 * w.h * value + 2 * normal * slope);
}

/* Heat between walls, one or both of which mix value and slope, along each axis of boxes of 1 to 3 axes, in both
 * precisions: A + B x, and a mode that decays on it. Values are below 12, slopes below 12 k and curvatures below 12
 * k^2, with k < 16; the rounding of the transforms grows by a factor k_n = 63 a derivative. */
static void test_heat(void **state) {
  static const char *const n[] = {"20", "20, 18", "20, 18, 24"}, *const size[] = {"1.5", "1.5, 1.5", "1.5, 1.5, 1.5"};
  static const int rank[] = {1, 2, 2, 3, 3, 3}, axis[] = {0, 0, 1, 0, 1, 2};
  static const wall walls[] = {{0}, {INFINITY}, {0.01}, {2}, {300}};
  (void)state;
  for (int c = 0; c < 5 * 5 * 6 * 2; c++) {
    const wall low = walls[c % 5], high = walls[c / 5 % 5];
    const int r = rank[c / 25 % 6], single = c / 150, mode = c % 7;
    const char x = "xyz"[axis[c / 25 % 6]];
    const double u = single ? 0x1p-24 : 0x1p-53, A = 2, B = 3, L = 1.5;
    const char *beside = c % 3 == 0 ? "no_flux" : "periodic";
    if (c % 5 < 2 && c / 5 % 5 < 2) continue; /* no such wall */
    const double k = root(low, high, L, mode), D = 0.3;
    char sides[2][128], shape[256], slope[256], held[256];
    put_side(sides[0], sizeof sides[0], x, "low", low, A, B, -1);
    put_side(sides[1], sizeof sides[1], x, "high", high, A + B * L, B, 1);
    const double p = isinf(low.h) ? 0 : 1, q = isinf(low.h) ? 1 : low.h / k, most = fabs(p) + fabs(q);
    snprintf(shape, sizeof shape, "(%.17g*math.cos(%.17g*%c) + %.17g*math.sin(%.17g*%c))", p / most, k, x, q / most, k,
             x);
    snprintf(slope, sizeof slope, "(%.17g*math.cos(%.17g*%c) - %.17g*math.sin(%.17g*%c))", k * q / most, k, x,
             k * p / most, k, x);
    snprintf(held, sizeof held, "math.exp(%.17g*t)", -D * k * k);
    double values[3];
    system_run s;
    whole(&s,
          "return sim.diffusion { precision = '%s', grid = { n = {%s}, size = {%s}, boundary = '%s', %c = 'no_flux' },"
          " fields = {{ name = 'u', D = %.17g, sides = { %s, %s }, initial = function(%c) return 2 + 3*%c + %s end }},"
          " observe = { a = { function(u, %c, t) return math.abs(u - 2 - 3*%c - %s*%s) end, reduce = 'max' },"
          " b = { function(u_%c, %c, t) return math.abs(u_%c - 3 - %s*%s) end, reduce = 'max' },"
          " c = { function(u_%c%c, %c, t) return math.abs(u_%c%c + %.17g*%s*%s) end, reduce = 'max' } },"
          " integrate = { t_end = 0.5, dt = 0.125 } }",
          single ? "single" : "double", n[r - 1], size[r - 1], r > 1 ? beside : "periodic", x, D, sides[0], sides[1], x,
          x, shape, x, x, held, shape, x, x, x, held, slope, x, x, x, x, x, k * k, held, shape);
    row(&s, 1, values);
    if (!(values[0] < 200 * u && values[1] < 200 * 63 * u && values[2] < 200 * 63 * 63 * u))
      fail_msg("h = %g and %g, mode %d, %c of %d axes, %s: %.3g %.3g %.3g", low.h, high.h, mode, x, r,
               single ? "single" : "double", values[0], values[1], values[2]);
    shut(&s);
  }
}

/* A slab of temperature 1 that cools to air of 0 at x = 1, with the Biot number 2: the sum over the roots of k tan k =
 * 2 of 2 sin k/(k + sin k cos k) cos(k x) exp(-k^2 t). The start does not obey the wall's condition, so its series has
 * terms as 1/k^2, and its aliases fall as 1/n^2. */
static double slab(double x) {
  double sum = 0;
  for (int m = 0; m < 20; m++) { /* exp(-(19 pi)^2/5) < 1e-300 */
    const double k = root((wall){0}, (wall){2}, 1, m);
    sum += 2 * sin(k) / (k + sin(k) * cos(k)) * cos(k * x) * exp(-0.2 * k * k);
  }
  return sum;
}

static void test_slab(void **state) {
  double error[2];
  (void)state;
  for (int fine = 0; fine < 2; fine++) {
    system_run s;
    whole(&s,
          "return sim.diffusion { grid = { n = {%d}, size = {1}, boundary = 'no_flux' }, fields = {{ name = 'u', D = 1,"
          " initial = 1, sides = { x_high = { robin = { a = 2 } } } }}, integrate = { t_end = 0.2 } }",
          fine ? 64 : 32);
    error[fine] = distance_from(&s, slab);
    shut(&s);
  }
  if (!(error[1] < 2e-5 && error[0] > 3.5 * error[1] && error[0] < 4.5 * error[1]))
    fail_msg("errors %.3g and %.3g", error[0], error[1]);
}

/* The steady state of u_t = u_xx + u - u^3 with 1.5 u - u_x = 0.6 at x = 0 and u/2 + 2 u_x = 0.1 at x = 2, by SciPy's
 * solve_bvp with tol = 1e-10 at the centres of cells 0, 10, 20 and 31 of 32. The rates do not obey the walls'
 * conditions: an error of second order in the cells. */
static void test_steady(void **state) {
  static const double exact[] = {0.6593475421, 0.8177281639, 0.8685540344, 0.8240510511};
  static const int at[] = {0, 10, 20, 31};
  (void)state;
  system_run s;
  whole(&s, "return sim.diffusion { grid = { n = {32}, size = {2}, boundary = 'no_flux' }, fields = {{ name = 'u',"
            " D = 1, initial = 0.2, sides = { x_low = { robin = { a = 1.5, g = 0.6 } },"
            " x_high = { robin = { a = 0.5, b = 2, g = 0.1 } } } }}, rates = function(u) return u - u^3 end,"
            " integrate = { scheme = 'etdrk4', dt = 0.05, t_end = 40 } }");
  look(&s);
  for (int i = 0; i < 4; i++)
    if (!(fabs(value(&s, 0, at[i]) - exact[i]) < 6e-5))
      fail_msg("cell %d: %.9g, not %.9g", at[i], value(&s, 0, at[i]), exact[i]);
  shut(&s);
}

/* A plate that cools to the same air at all four edges: the product of two slabs. */
static void test_plate(void **state) {
  (void)state;
  const double kx = root((wall){3}, (wall){1}, 2, 0), ky = root((wall){INFINITY}, (wall){0.5}, 1, 1);
  double values[2];
  system_run s;
  whole(&s,
        "local function F(x, y) return (math.cos(%.17g*x) + %.17g*math.sin(%.17g*x))*math.sin(%.17g*y) end "
        "return sim.diffusion { grid = { n = {24, 20}, size = {2, 1}, boundary = 'no_flux' }, fields = {{ name = 'T',"
        " D = 0.1, axes = {1, 3, 1}, sides = { x_low = { robin = { a = 3, g = 15 } }, x_high = { robin = { a = 1, g = 5"
        " } }, y_low = { value = 5 }, y_high = { robin = { a = 1, b = 2, g = 5 } } }, initial = function(x, y) return"
        " 5 + F(x, y) end }}, observe = { a = { function(T, x, y, t) return math.abs(T - 5 - math.exp(%.17g*t)*F(x, y))"
        " end, reduce = 'max' }, b = { function(T_xy, x, y, t) return math.abs(T_xy - math.exp(%.17g*t)*%.17g*("
        "%.17g*math.cos(%.17g*x) - math.sin(%.17g*x))*math.cos(%.17g*y)) end, reduce = 'max' } },"
        " integrate = { t_end = 1 } }",
        kx, 3 / kx, kx, ky, -0.1 * (kx * kx + 3 * ky * ky), -0.1 * (kx * kx + 3 * ky * ky), kx * ky, 3 / kx, kx, kx,
        ky);
  row(&s, 1, values);
  assert_true(values[0] < 1e-13 && values[1] < 1e-10); /* derivatives: rounding times 38 and 63 */
  shut(&s);
}

/* Orders of all schemes: the rates f make A + B x + exp(-t) times a mode an exact solution, and other terms vanish with
 * the error. */
static void test_orders(void **state) {
  static const char *const names[] = {"lie", "strang", "etd1", "etdrk2", "etdrk4"};
  static const double order[] = {1, 2, 1, 2, 4};
  const double k = root((wall){2}, (wall){0.5}, 1, 1);
  char head[1024];
  (void)state;
  snprintf(head, sizeof head,
           "local k = %.17g local function F(x) return math.cos(k*x) + 2/k*math.sin(k*x) end "
           "local function U(x, t) return 1 + 2*x + math.cos(2*t)*F(x) end "
           "return sim.diffusion { grid = { n = {16}, size = {1}, boundary = 'no_flux' }, fields = {{ name = 'u', D = "
           "0.1, sides = { x_low = { robin = { a = 2, g = 0 } }, x_high = { robin = { a = 1, b = 2, g = 7 } } },"
           " initial = function(x) return U(x, 0) end }}, rates = function(u, x, t) return (0.1*k^2*math.cos(2*t) -"
           " 2*math.sin(2*t))*F(x) + 0.2*(U(x, t)^2 - u^2) end, observe = { e = { function(u, x, t) return"
           " (u - U(x, t))^2 end, reduce = 'mean' } },",
           k);
  for (int i = 0; i < 5; i++) {
    double error[2];
    for (int half = 0; half < 2; half++) {
      system_run s;
      whole(&s, "%s integrate = { scheme = '%s', dt = 1/%d, t_end = 1 } }", head, names[i], half ? 64 : 32);
      row(&s, 1, &error[half]);
      error[half] = sqrt(error[half]);
      shut(&s);
    }
    const double got = log2(error[0] / error[1]);
    /* the next order's share of the error is some 2/32 */
    if (!(fabs(got - order[i]) < 0.2) || !(error[1] < (order[i] == 1 ? 0.05 : order[i] == 2 ? 2e-3 : 1e-5)))
      fail_msg("%s: order %.2f, error %.3g", names[i], got, error[1]);
  }
  double error;
  system_run s;
  whole(&s, "%s integrate = { scheme = 'etdrk4', dt = 'auto', rtol = 1e-7, t_end = 1 } }", head);
  row(&s, 1, &error);
  assert_true(sqrt(error) < 1e-5); /* some 100 steps of 1e-7 times 3 */
  shut(&s);
}

/* White noise and heat: each mode has the variance a^2 (1 - exp(-2 D k^2 t))/(2 D k^2) over the length, also the modes
 * whose functions have a norm of their own. 4096 members: 2.2 % of statistical error each, of which five are allowed.
 */
static void test_noise(void **state) {
  double power[6];
  system_run s;
  (void)state;
  whole(&s, "return sim.diffusion { seed = 3, members = 4096, grid = { n = {16}, size = {1}, boundary = 'no_flux' },"
            " fields = {{ name = 'u', D = 0.2, fluctuation = 0.5, sides = { x_low = { robin = { a = 1 } },"
            " x_high = { robin = { a = 0.6 } } } }}, rates = function(u) return 0*u end, spectrum = 6,"
            " integrate = { scheme = 'etd1', dt = 0.25, t_end = 1 } }");
  int table = 0;
  while (strcmp(s.p->table[table].name, "spectrum") != 0) table++;
  row(&s, table, power);
  for (int m = 0; m < 5; m++) {
    const double k = root((wall){1}, (wall){0.6}, 1, m), rate = 2 * 0.2 * k * k;
    const double exact = 0.25 * (1 - exp(-rate)) / rate;
    if (!(fabs(power[m] / exact - 1) < 0.11)) fail_msg("mode %d: %.4g, not %.4g", m, power[m], exact);
  }
  shut(&s);
}

/* Threads, instruction sets and a restart change no bit. */
static void test_bits(void **state) {
  static const char text[] =
      "return sim.diffusion { grid = { n = {40, 24, 12}, size = {1, 1, 1}, boundary = 'no_flux', z = 'periodic' },"
      " fields = {{ name = 'u', D = 0.1, noise = 1, sides = { x_low = { robin = { a = 2, g = 1 } } } },"
      " { name = 'v', D = 0.2, noise = 1, sides = { y_high = { robin = { a = 5, g = -1 } } } }},"
      " rates = function(u, v, u_x, v_y) return -u*u_x + v, u - v + v_y end,"
      " integrate = { scheme = 'etdrk2', dt = 0.01, t_end = 0.08 } }";
  system_run a, b, half;
  (void)state;
  open_with(&a, text, SIM_ISA_PLAIN, 1, NULL);
  run_to(&a, 8);
  look(&a);
  open_with(&b, text, sim_isa_best(), 3, NULL);
  run_to(&b, 8);
  look(&b);
  assert_true(distance(&a, &b) == 0);
  shut(&b);
  open_with(&half, text, sim_isa_best(), 2, NULL);
  run_to(&half, 3);
  look(&half);
  open_with(&b, text, sim_isa_best(), 2, &half.frame);
  run_to(&b, 8);
  look(&b);
  assert_true(distance(&a, &b) == 0);
  shut(&half);
  shut(&b);
  shut(&a);
}

/* Fluxes beside such a wall: of other fields along its axis, and of the field itself along another one; they take the
 * field and its derivative. v = s(x) (1 + 0.3 t sin y) with the wave s = cos(k x - pi/4), k = pi/2, of walls with a/b =
 * k; u_t = -d/dy ((v + v_x) cos y) and c_t = -d/dx sin(pi x). Rates are polynomials of t that etdrk4 integrates
 * exactly. */
static void test_flux(void **state) {
  (void)state;
  for (int padding = 0; padding < 2; padding++) {
    const double k = pi / 2, t = 0.5;
    system_run s;
    whole(&s,
          "return sim.diffusion { grid = { n = {12, 10}, size = {1, 2*math.pi}, x = 'no_flux' }, fields = {"
          "{ name = 'u' }, { name = 'v', initial = function(x) return math.cos(math.pi*x/2 - math.pi/4) end, sides = {"
          " x_low = { robin = { a = math.pi/2 } }, x_high = { robin = { a = math.pi/2 } } } }, { name = 'c' } },"
          "flux = function(v, v_x, x, y) return 0, (v + v_x)*math.cos(y),"
          " 0, 0.3*math.cos(y)*math.cos(math.pi*x/2 - math.pi/4), math.sin(math.pi*x), 0 end,"
          "integrate = { scheme = 'etdrk4', dt = 0.125, t_end = 0.5, dealias = %s } }",
          padding ? "'padding'" : "false");
    for (int64_t i = 0; i < cells(&s); i++) {
      const double x = ((double)(i % 12) + 0.5) / 12, y = 2 * pi * ((double)(i / 12) + 0.5) / 10;
      const double wave = cos(k * x - pi / 4), slope = -k * sin(k * x - pi / 4);
      const double errors[] = {value(&s, 0, i) - (wave + slope) * (t * sin(y) - 0.15 * t * t * cos(2 * y)),
                               value(&s, 1, i) - wave * (1 + 0.3 * t * sin(y)), value(&s, 2, i) + pi * t * cos(pi * x)};
      for (int f = padding; f < 3; f++) /* with padding the series of u is cut: it has not the wave of v */
        if (!(fabs(errors[f]) < 1e-14)) fail_msg("padding %d, field %d, cell %d: %.3g", padding, f, (int)i, errors[f]);
    }
    shut(&s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_heat),  cmocka_unit_test(test_slab),   cmocka_unit_test(test_steady),
      cmocka_unit_test(test_plate), cmocka_unit_test(test_orders), cmocka_unit_test(test_noise),
      cmocka_unit_test(test_bits),  cmocka_unit_test(test_flux),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
