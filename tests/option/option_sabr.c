/* The SABR model. Known prices: finite differences of sabr.py beside this file, or closed forms. An estimate, less its
 * bias by the steps, is accepted within 4 of their errors together; seeds are fixed. */
#include "tests/option/option_driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void near_but(const char *what, estimate got, double expected, double more) {
  print_message("    %-34s %.6f +- %.6f, known %.6f +- %.6f\n", what, got.value, got.error, expected, more);
  assert_true(got.error > 0);
  if (!(fabs(got.value - expected) <= 4 * hypot(got.error, more)))
    fail_msg("%s: %.9g +- %.3g is not %.9g", what, got.value, got.error, expected);
}

static void make(pricing *d, sim_precision precision, double spot, double maturity, int steps, option_sabr s) {
  pricing_make(d, precision, 0.2, 0, maturity, steps);
  pricing_set_motion(d, 0);
  d->assets[0].spot = spot;
  d->assets[0].sabr = s;
  d->p.sampling.antithetic = true;
}

/* Price of payoff k less its bias. */
static estimate mended(pricing *d, int k) {
  double bias[2][24];
  const bool several = d->p.payoffs.count > 1;
  estimate got = pricing_price(d, k), shift = several ? (estimate){0} : pricing_greek(d, "bias");
  for (int t = 0; t < 2 && several; t++)
    assert_int_equal(option_model.observe(d->self, &d->clock, 3 + t, bias[t]), SIM_OK);
  if (several) shift = (estimate){bias[0][k], bias[1][k]};
  return (estimate){got.value - shift.value, hypot(got.error, isnan(shift.error) ? 0 : shift.error)};
}

/* Far from 0 (the first row is 2e-4 from Hagan's formula, good there) and, with a tenth to a third of the paths ended,
 * near it; and the price itself, whose mean is exact. */
static void test_calls(void **state) {
  (void)state;
  static const struct {
    double spot, maturity;
    int steps;
    option_sabr sabr;
    double strike[3], known[3], error;
  } rows[] = {
      {100, 0.25, 4, {true, 2, 0.5, -0.3, 0.3}, {90, 100, 110}, {10.83443, 3.99234, 0.84799}, 3e-4},
      {100, 1, 16, {true, 3, 0.5, -0.5, 0.6}, {80, 100, 120}, {25.05017, 11.98535, 4.30198}, 5e-4},
      {1, 5, 32, {true, 0.5, 0.3, -0.3, 0.4}, {0.5, 1, 1.5}, {0.669331, 0.404408, 0.227141}, 7e-5},
      {1, 5, 32, {true, 0.5, 0, -0.3, 0.4}, {0.5, 1, 1.5}, {0.680759, 0.403804, 0.209004}, 6e-5},
      {1, 1, 8, {true, 0.3, 0.9, -0.7, 1}, {0.8, 1, 1.2}, {0.252588, 0.114639, 0.033936}, 4e-5},
      {1, 1, 8, {true, 0.2, 1, -0.5, 0.5}, {0.8, 1, 1.2}, {0.218226, 0.079581, 0.016923}, 5e-6},
  };
  for (int k = 0; k < 6; k++) {
    pricing d;
    make(&d, k % 2 ? SIM_MIXED : SIM_DOUBLE, rows[k].spot, rows[k].maturity, rows[k].steps, rows[k].sabr);
    for (int i = 0; i < 3; i++) pricing_add(&d, &option_european_schema, rows[k].strike[i], OPTION_CALL);
    pricing_add(&d, &option_european_schema, 0, OPTION_CALL);
    d.p.sampling.paths = 0x1p18;
    pricing_run(&d);
    for (int i = 0; i < 3; i++) near_but("call", mended(&d, i), rows[k].known[i], rows[k].error);
    near_but("the price itself", pricing_price(&d, 3), rows[k].spot, 0);
    pricing_free(&d);
  }
}

static double normal(double x) { return erfc(-x / sqrt(2)) / 2; }
/* Mean of max(f - K, 0), f normal. */
static double bachelier(double f, double K, double deviation) {
  const double d = (f - K) / deviation;
  return (f - K) * normal(d) + deviation * exp(-d * d / 2) / sqrt(2 * M_PI);
}

/* Sigma constant, with a forward that grows: the law of a Brownian motion that ends at 0, by its image, and of the
 * square root, by a noncentral chi-squared law of SciPy (sabr.py). */
static void test_constant(void **state) {
  (void)state;
  const double root[] = {0.6616542, 0.4272475, 0.2703748}, strikes[] = {0.5, 1, 1.5};
  for (int k = 0; k < 2; k++) {
    pricing d;
    make(&d, SIM_DOUBLE, 1, 5, 32, (option_sabr){true, 0.5, k == 0 ? 0 : 0.5, 0.7, 0});
    d.p.sampling.paths = 0x1p18;
    sim_expr_free(&d.p.rate);
    d.p.rate = pricing_constant(0.02);
    for (int i = 0; i < 3; i++) pricing_add(&d, &option_european_schema, strikes[i] * exp(0.1), OPTION_CALL);
    pricing_run(&d);
    for (int i = 0; i < 3; i++) {
      const double s = 0.5 * sqrt(5), images = bachelier(1, strikes[i], s) - bachelier(-1, strikes[i], s);
      near_but(k == 0 ? "ended Brownian motion" : "square root", mended(&d, i), k == 0 ? images : root[i], 0);
    }
    pricing_free(&d);
  }
}

/* The order of the steps: of the call at 1.5 near 0 the biases of 8 and 16 steps have the ratio 2 within their errors
 * of some 8 %; 2.8 would be the order 1.5. */
static void test_order(void **state) {
  (void)state;
  estimate bias[2];
  for (int k = 0; k < 2; k++) {
    pricing d;
    make(&d, SIM_DOUBLE, 1, 5, 8 << k, (option_sabr){true, 0.5, 0.3, -0.3, 0.4});
    pricing_add(&d, &option_european_schema, 1.5, OPTION_CALL);
    d.p.sampling.paths = 0x1p18;
    pricing_run(&d);
    bias[k] = pricing_greek(&d, "bias");
    print_message("    %d steps: bias %.5f +- %.5f\n", 8 << k, bias[k].value, bias[k].error);
    pricing_free(&d);
  }
  const double ratio = bias[0].value / bias[1].value;
  assert_true(bias[1].value > 2 * bias[1].error);
  assert_true(ratio > 1.4 && ratio < 3);
}

/* beta = 1, nu = 0 is `vol` in every payoff, Greek and way to sample. */
static void book(pricing *d, int variant, bool sabr) {
  static double correlation[] = {1, 0.5, 0.5, 1};
  pricing_make(d, SIM_DOUBLE, 0.2, 0.05, 1, 8);
  pricing_add_asset(d, 100, 0.3);
  d->p.correlation = (sim_doubles){correlation, 2, 2};
  for (int a = 0; a < 2 && sabr; a++) {
    pricing_set_motion(d, a);
    d->assets[a].sabr = (option_sabr){true, a == 0 ? 0.2 : 0.3, 1, 0, 0};
  }
  if (variant == 1) d->assets[0].jumps = (option_jumps){true, 1, -0.1, 0.15};
  d->p.sampling.paths = 0x1p13;
  d->p.sampling.antithetic = variant == 2;
  d->p.sampling.scrambles = variant == 3 ? 32 : NAN;
  d->p.sampling.sequence = variant == 3 ? OPTION_SOBOL : OPTION_PHILOX;
  d->p.sampling.moment_matching = variant == 4;
  d->p.sampling.control = variant == 5 ? OPTION_CONTROL_UNDERLYING : OPTION_NO_CONTROL;
  for (int g = 0; g < OPTION_SECOND; g++) d->p.greeks.want[g] = g != OPTION_GAMMA;
  d->p.greeks.method = OPTION_BUMP;
  pricing_add(d, &option_european_schema, 100, OPTION_CALL);
  pricing_add(d, &option_asian_schema, 100, OPTION_PUT);
  pricing_add(d, &option_barrier_schema, 100, OPTION_CALL)->level = 85;
  pricing_add(d, &option_spread_schema, 0, OPTION_CALL)->second = 2;
  option_payoff *american = pricing_add(d, &option_american_schema, 100, OPTION_PUT);
  american->every = 2;
  american->fit_paths = 4096;
  pricing_run(d);
}

/* The draws are the same: values and errors differ by rounding, below 100 of 2^-53 in 8 steps, and in Greeks as often
 * again as their width of 1/1000 or more divides. An error that the paths do not tell is unknown in both. */
static void same_but_rounding(const char *what, estimate got, estimate known, double rounding) {
  print_message("    %-34s %.9g +- %.9g, known %.9g +- %.9g\n", what, got.value, got.error, known.value, known.error);
  if (!(fabs(got.value - known.value) <= rounding * fabs(known.value)))
    fail_msg("%s: %.15g is not %.15g", what, got.value, known.value);
  assert_int_equal(isnan(got.error), isnan(known.error));
  if (!isnan(known.error)) assert_true(fabs(got.error - known.error) <= 1e-6 * known.error);
}

/* Sobol's points, which serve other draws where there are steps, are compared within the errors of both. */
static void test_together(void **state) {
  static const char *const greeks[] = {"delta_1", "vega_1", "rho", "theta"};
  (void)state;
  for (int variant = 0; variant < 6; variant++) {
    pricing d, plain;
    book(&d, variant, true);
    book(&plain, variant, false);
    for (int k = 0; k < 5; k++) {
      const estimate got = pricing_price(&d, k), known = pricing_price(&plain, k);
      if (variant == 3)
        near_but("payoff", got, known.value, known.error);
      else
        same_but_rounding("payoff", got, known, 1e-14);
    }
    for (int g = 0; g < 4; g++) {
      const estimate got = pricing_greek(&d, greeks[g]), known = pricing_greek(&plain, greeks[g]);
      if (variant == 3)
        near_but(greeks[g], got, known.value, known.error);
      else
        same_but_rounding(greeks[g], got, known, 1e-11);
    }
    pricing_free(&d);
    pricing_free(&plain);
  }
}

/* Delta and vega of a call at the spot, sigma constant, beta = 1/2: differences of the noncentral chi-squared law of
 * sabr.py, alpha held. Biases with 32 steps are below 0.2 %. */
static void test_greeks(void **state) {
  (void)state;
  pricing d;
  make(&d, SIM_DOUBLE, 1, 5, 32, (option_sabr){true, 0.5, 0.5, 0.7, 0});
  d.p.sampling.paths = 0x1p17;
  d.p.greeks.want[OPTION_DELTA] = d.p.greeks.want[OPTION_VEGA] = true;
  pricing_add(&d, &option_european_schema, 1, OPTION_CALL);
  pricing_run(&d);
  near_but("delta", pricing_greek(&d, "delta"), 0.6171344, 0.001);
  near_but("vega", pricing_greek(&d, "vega"), 0.7719142, 0.002);
  pricing_free(&d);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_calls), cmocka_unit_test(test_constant),
                                     cmocka_unit_test(test_order), cmocka_unit_test(test_together),
                                     cmocka_unit_test(test_greeks)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
