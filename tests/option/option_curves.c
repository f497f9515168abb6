/* Heston's and Bates' models with parameters that change in time, by their characteristic functions: the numbers of
 * heston_curves.py beside this file (QuantLib 1.44's AnalyticPTDHestonEngine gives the same flat ones). S = 100, r =
 * 3 %, v = 0.04, T = 1. An estimate is accepted within 4 of its standard errors; seeds are fixed. */
#include "tests/option/option_driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void near_but(const char *what, estimate got, double expected, double bias) {
  print_message("    %-34s %.6f +- %.6f, known %.6f\n", what, got.value, got.error, expected);
  assert_true(got.error > 0);
  if (!(fabs(got.value - expected) <= 4 * got.error + bias))
    fail_msg("%s: %.9g +- %.3g is not %.9g", what, got.value, got.error, expected);
}

static sim_expr *pieces(double a, double b, double c) {
  return pricing_curve((const sim_curve_point[]){{0, a}, {0.3, b}, {0.6, c}}, 3, true);
}
static sim_expr *line(double a, double b) { return pricing_curve((const sim_curve_point[]){{0, a}, {1, b}}, 2, false); }

static option_heston flat_model(void) {
  return (option_heston){
      true, 0.04, pieces(3, 1, 2), pieces(0.03, 0.09, 0.05), pieces(0.4, 0.9, 0.3), pieces(-0.8, -0.2, -0.6)};
}
static option_heston linear_model(void) {
  return (option_heston){true, 0.04, line(1, 3), line(0.03, 0.09), line(0.8, 0.3), line(-0.9, -0.1)};
}

static void make(pricing *d, int i, option_heston h, int steps, double paths) {
  pricing_make(d, i ? SIM_DOUBLE : SIM_MIXED, 0.2, 0.03, 1, steps);
  pricing_set_motion(d, 0);
  d->assets[0].heston = h;
  d->p.sampling.paths = paths;
  d->p.sampling.antithetic = true;
}

static const double strikes[] = {80, 100, 120};

/* With 20 steps the parameters change at steps' ends, with 16 within steps. The bias of the scheme and of the averages
 * over a step, both of order dt^2 here, is below 0.1 with 4 steps (test_order), so below 0.1/16 with 16. */
static void test_flat(void **state) {
  static const double known[2][3] = {{23.792739, 9.092171, 1.963756}, {24.551992, 10.825216, 3.180503}};
  (void)state;
  for (int i = 0; i < 4; i++) {
    pricing d;
    make(&d, i % 2, flat_model(), i < 2 ? 20 : 16, 0x1p17);
    if (i % 2) d.assets[0].jumps = (option_jumps){true, 0.8, -0.12, 0.1};
    for (int k = 0; k < 3; k++) pricing_add(&d, &option_european_schema, strikes[k], OPTION_CALL);
    pricing_add(&d, &option_european_schema, 0, OPTION_CALL);
    pricing_run(&d);
    for (int k = 0; k < 3; k++)
      near_but(i % 2 ? "flat, with jumps" : "flat", pricing_price(&d, k), known[i % 2][k], 0.006);
    near_but("the price itself", pricing_price(&d, 3), 100, 0);
    pricing_free(&d);
  }
}

/* A maturity of its own: a step of another length, whose parameters are still those at its time. */
static void test_dated(void **state) {
  (void)state;
  pricing d;
  make(&d, 0, flat_model(), 30, 0x1p17);
  pricing_add(&d, &option_european_schema, 100, OPTION_CALL)->maturity = 0.5;
  pricing_add(&d, &option_european_schema, 100, OPTION_CALL);
  pricing_run(&d);
  near_but("until 0.5", pricing_price(&d, 0), 5.954637, 0.003);
  near_but("until 1", pricing_price(&d, 1), 9.092171, 0.003);
  pricing_free(&d);
}

/* Vega moves the square roots of v and of the whole curve theta; theta the maturity, with the curves at their times. */
static void test_greeks(void **state) {
  (void)state;
  pricing d;
  make(&d, 1, flat_model(), 20, 0x1p17);
  d.p.greeks.want[OPTION_DELTA] = d.p.greeks.want[OPTION_VEGA] = d.p.greeks.want[OPTION_THETA] = true;
  pricing_add(&d, &option_european_schema, 100, OPTION_CALL);
  pricing_run(&d);
  near_but("delta", pricing_greek(&d, "delta"), 0.660441, 1e-3);
  near_but("vega", pricing_greek(&d, "vega"), 37.68062, 0.1);
  near_but("theta", pricing_greek(&d, "theta"), -6.016747, 0.02);
  pricing_free(&d);
}

/* A variance that begins near 0, and a theta that is near 0 for a while. The step of vega is a share of the whole
 * volatility, so that fp32 paths give the same as fp64 paths. A share of the least value, 1e-10, vanished in fp32. */
static void test_vega_of_tiny_pieces(void **state) {
  estimate got[2];
  (void)state;
  for (int i = 0; i < 2; i++) {
    pricing d;
    make(&d, i, flat_model(), 20, 0x1p14);
    d.assets[0].heston.v = 1e-16;
    sim_expr_free(&d.assets[0].heston.theta);
    d.assets[0].heston.theta = pieces(0.06, 1e-10, 0.06);
    d.p.greeks.want[OPTION_VEGA] = true;
    pricing_add(&d, &option_european_schema, 100, OPTION_CALL);
    pricing_run(&d);
    got[i] = pricing_greek(&d, "vega");
    pricing_free(&d);
  }
  print_message("    vega %.6f, %.6f\n", got[0].value, got[1].value);
  assert_true(got[1].value > 20 && fabs(got[0].value - got[1].value) < 1e-3 * got[1].value);
}

static double error_of(int steps, double *spread) {
  pricing d;
  make(&d, 0, linear_model(), steps, 0x1p19);
  pricing_add(&d, &option_european_schema, 80, OPTION_CALL);
  pricing_run(&d);
  const estimate got = pricing_price(&d, 0);
  pricing_free(&d);
  *spread = got.error;
  print_message("    %d steps: off by %.5f +- %.5f\n", steps, got.value - 24.092481, got.error);
  return got.value - 24.092481;
}

/* Linear parameters, by the numerical solution of the equations of the characteristic function; the weak order of the
 * averages and the scheme together, at least about 1, which the stated bias takes: errors of 1 and 2 steps 4 of their
 * spreads above 0, with a ratio of 2^order between 2^0.5 and 2^2.7 (0.157 and 0.080 +- 0.011: 1.0 +- 0.2). */
static void test_order(void **state) {
  (void)state;
  double spread[3], error[3];
  for (int k = 0; k < 3; k++) error[k] = error_of(1 << k, &spread[k]);
  const double ratio = error[0] / error[1];
  assert_true(error[1] > 4 * spread[1]);
  print_message("    weak order %.2f\n", log2(ratio));
  assert_true(ratio > exp2(0.5) && ratio < exp2(2.7));
  assert_true(fabs(error[2]) < 0.1);
  for (int i = 0; i < 2; i++) {
    static const double known[] = {24.092481, 9.452913, 2.031875};
    pricing d;
    make(&d, i, linear_model(), 16, 0x1p17);
    for (int k = 0; k < 3; k++) pricing_add(&d, &option_european_schema, strikes[k], OPTION_CALL);
    pricing_run(&d);
    for (int k = 0; k < 3; k++) near_but("linear", pricing_price(&d, k), known[k], 0.006);
    pricing_free(&d);
  }
}

/* A curve of one value equals that number: the same paths except for rounding, of 1e-9 of the integrals
 * (option_integrate), and Bates' jumps too. */
static void test_constant(void **state) {
  estimate got[2];
  (void)state;
  for (int i = 0; i < 2; i++) {
    pricing d;
    make(&d, 1,
         i ? (option_heston){true, 0.04, pieces(2, 2, 2), pieces(0.05, 0.05, 0.05), line(0.6, 0.6),
                             pieces(-0.6, -0.6, -0.6)}
           : pricing_heston(0.04, 2, 0.05, 0.6, -0.6),
         7, 0x1p13);
    d.assets[0].jumps = (option_jumps){true, 0.8, -0.12, 0.1};
    pricing_add(&d, &option_american_schema, 110, OPTION_PUT);
    pricing_run(&d);
    got[i] = pricing_price(&d, 0);
    pricing_free(&d);
  }
  print_message("    %.12f %.12f\n", got[0].value, got[1].value);
  assert_true(fabs(got[0].value - got[1].value) < 1e-6);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_flat),   cmocka_unit_test(test_dated),
                                     cmocka_unit_test(test_greeks), cmocka_unit_test(test_vega_of_tiny_pieces),
                                     cmocka_unit_test(test_order),  cmocka_unit_test(test_constant)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
