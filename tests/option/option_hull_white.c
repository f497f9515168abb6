/* Hull and White's random short rate. Known values: hull_white.py beside this file. An estimate is accepted within 4 of
 * its standard errors; seeds are fixed. */
#include "tests/option/option_driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void near_known(const char *what, estimate got, double expected) {
  print_message("    %-34s %.6f +- %.6f, known %.6f\n", what, got.value, got.error, expected);
  assert_true(got.error > 0);
  if (!(fabs(got.value - expected) <= 4 * got.error))
    fail_msg("%s: %.9g +- %.3g is not %.9g", what, got.value, got.error, expected);
}

/* Two assets and forward rates from 2 to 5 % over five years. */
static void make(pricing *d, sim_precision precision, int steps, double reversion) {
  static double correlation[] = {1, 0.5, 0.5, 1}, with_rate[] = {0.4, -0.3};
  pricing_make(d, precision, 0.2, 0, 5, steps);
  pricing_add_asset(d, 90, 0.3);
  sim_expr_free(&d->p.rate);
  d->p.rate = pricing_line(0.02, 0.006);
  sim_expr_free(&d->assets[0].dividend);
  d->assets[0].dividend = pricing_constant(0.01);
  d->p.correlation = (sim_doubles){correlation, 2, 2};
  d->p.hull_white = (option_hull_white){true, reversion, 0.02, {with_rate, 2, 1}};
  d->p.sampling.paths = 0x1p18;
}

/* European calls of two maturities, a put on the second asset, the option to exchange one asset for the other, in which
 * no rate is (Margrabe 1978), a digital, and prices themselves; in one step and in seven, by every way to sample. */
static void test_prices(void **state) {
  (void)state;
  static const double known[] = {16.489725, 19.277835, 10.818540, 24.184599, 0.357148, 95.122942, 90};
  for (int variant = 0; variant < 6; variant++) {
    pricing d;
    make(&d, variant == 4 ? SIM_MIXED : SIM_DOUBLE, variant % 2 ? 7 : 1, 0.1);
    d.p.sampling.antithetic = variant == 1;
    d.p.sampling.moment_matching = variant == 2;
    d.p.sampling.sequence = variant == 3 ? OPTION_SOBOL : OPTION_PHILOX;
    d.p.sampling.scrambles = variant == 3 ? 32 : NAN;
    d.p.sampling.generator = variant == 5 ? OPTION_MRG32K3A : d.p.sampling.generator;
    pricing_add(&d, &option_european_schema, 120, OPTION_CALL);
    pricing_add(&d, &option_european_schema, 100, OPTION_PUT)->asset = 2;
    pricing_add(&d, &option_european_schema, 110, OPTION_CALL)->maturity = 2.5;
    pricing_add(&d, &option_spread_schema, 0, OPTION_CALL)->second = 2;
    pricing_add(&d, &option_digital_schema, 110, OPTION_CALL)->cash = 1;
    pricing_add(&d, &option_european_schema, 0, OPTION_CALL);
    pricing_add(&d, &option_european_schema, 0, OPTION_CALL)->asset = 2;
    pricing_run(&d);
    for (int k = 0; k < 7; k++) near_known("price", pricing_price(&d, k), known[k]);
    pricing_free(&d);
  }
}

/* A digital that always pays is a bond, and no mean reversion is the model of Ho and Lee. */
static void test_bond(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    pricing d;
    make(&d, SIM_DOUBLE, 3, k == 0 ? 0.1 : 0);
    pricing_add(&d, &option_digital_schema, 1e-6, OPTION_CALL)->cash = 1;
    pricing_add(&d, &option_european_schema, 120, OPTION_CALL);
    pricing_run(&d);
    near_known("bond", pricing_price(&d, 0), 0.8394570);
    near_known(k == 0 ? "call" : "Ho and Lee's call", pricing_price(&d, 1), k == 0 ? 16.489725 : 16.899644);
    pricing_free(&d);
  }
}

static void test_greeks(void **state) {
  (void)state;
  static const char *const names[] = {"delta_1", "vega_1", "rho", "theta"};
  static const double known[] = {0.525647, 82.35345, 180.37496, -3.50854};
  for (int bump = 0; bump < 2; bump++) {
    pricing d;
    make(&d, SIM_DOUBLE, 2, 0.1);
    for (int g = 0; g < OPTION_SECOND; g++) d.p.greeks.want[g] = g != OPTION_GAMMA;
    d.p.greeks.method = bump ? OPTION_BUMP : OPTION_AUTO;
    pricing_add(&d, &option_european_schema, 120, OPTION_CALL);
    pricing_run(&d);
    for (int g = 0; g < 4; g++) near_known(names[g], pricing_greek(&d, names[g]), known[g]);
    pricing_free(&d);
  }
}

/* A note that pays 115 after 2.5 years where the price is 105 or more, else 100 after five: two dates of payment, each
 * with the discount factor of its own date on the path. */
static void test_note(void **state) {
  static double dates[] = {2.5};
  (void)state;
  pricing d;
  make(&d, SIM_DOUBLE, 1, 0.1);
  option_payoff *o = pricing_add(&d, &option_autocallable_schema, 0, OPTION_CALL);
  o->level = 105, o->coupon = 0.15, o->protection = 0, o->cash = 100, o->every = 1;
  o->dates = (sim_doubles){dates, 1, 1};
  pricing_run(&d);
  near_known("note", pricing_price(&d, 0), 94.95029);
  pricing_free(&d);
}

/* Beside a random rate that it is independent of, a model with a volatility of its own has its discounted price as a
 * mean, and the bias of its steps; Heston's model with hardly any noise is the model of `vol`. */
static void test_others(void **state) {
  static double with_rate[] = {0, -0.3};
  (void)state;
  pricing d;
  make(&d, SIM_DOUBLE, 10, 0.1);
  d.p.correlation = (sim_doubles){0};
  d.p.hull_white.correlation.data = with_rate;
  pricing_set_motion(&d, 0);
  d.assets[0].heston = pricing_heston(0.04, 1, 0.04, 1e-4, 0);
  pricing_add(&d, &option_european_schema, 0, OPTION_CALL);
  pricing_add(&d, &option_digital_schema, 1e-6, OPTION_CALL)->cash = 1;
  pricing_add(&d, &option_european_schema, 120, OPTION_CALL);
  pricing_run(&d);
  near_known("price", pricing_price(&d, 0), 95.122942);
  near_known("bond", pricing_price(&d, 1), 0.8394570);
  near_known("call", pricing_price(&d, 2), 15.145783);
  pricing_free(&d);
}

/* Bermudan puts and calls on one asset of dividend 3 %, forward rate 4 %, volatility of the rate 3 % until 3: known
 * values by bermudan_rate.py. The rule of 2^16 paths is a lower bound: some 0.1 % below, 0.2 % at most. By the payment
 * alone the put of 10 dates is 3 % below. With one date it is European, for every way to sample, and so it is with a
 * rate that hardly moves and the same rule without one. */
static estimate bermudan(double correlation, double sigma, int steps, option_type type, int basis, int way) {
  static double with_rate[1];
  pricing d;
  pricing_make(&d, way == 4 ? SIM_MIXED : SIM_DOUBLE, 0.2, 0.04, 3, steps);
  sim_expr_free(&d.assets[0].dividend);
  d.assets[0].dividend = pricing_constant(0.03);
  with_rate[0] = correlation;
  if (sigma >= 0) d.p.hull_white = (option_hull_white){true, 0.1, sigma, {with_rate, 1, 1}};
  d.p.sampling.paths = 0x1p18;
  d.p.sampling.antithetic = way == 1;
  d.p.sampling.moment_matching = way == 2;
  d.p.sampling.sequence = way == 3 ? OPTION_SOBOL : OPTION_PHILOX;
  d.p.sampling.scrambles = way == 3 ? 32 : NAN;
  d.p.sampling.generator = way == 5 ? OPTION_MRG32K3A : d.p.sampling.generator;
  option_payoff *o = pricing_add(&d, &option_american_schema, 100, type);
  o->basis = basis;
  pricing_run(&d);
  const estimate got = pricing_price(&d, 0);
  pricing_free(&d);
  return got;
}

static void below_known(const char *what, estimate got, double known, double share) {
  print_message("    %-34s %.6f +- %.6f, known %.6f\n", what, got.value, got.error, known);
  if (!(got.error > 0 && got.value < known + 4 * got.error && got.value > known * (1 - share) - 4 * got.error))
    fail_msg("%s: %.9g +- %.3g is not %.9g", what, got.value, got.error, known);
}

static void test_bermudan(void **state) {
  (void)state;
  for (int way = 0; way < 6; way++)
    below_known("put, 1 date", bermudan(0.4, 0.03, 1, OPTION_PUT, OPTION_BASIS_AUTO, way), 12.33825, 0);
  for (int way = 0; way < 6; way++)
    below_known("put, 3 dates", bermudan(0.4, 0.03, 3, OPTION_PUT, OPTION_BASIS_AUTO, way), 12.65606, 0.002);
  below_known("put, 10 dates", bermudan(0.4, 0.03, 10, OPTION_PUT, OPTION_BASIS_AUTO, 0), 12.79540, 0.002);
  below_known("put, 3 dates, against the rate", bermudan(-0.5, 0.03, 3, OPTION_PUT, OPTION_BASIS_AUTO, 0), 11.34334,
              0.002);
  below_known("call, the same", bermudan(-0.5, 0.03, 3, OPTION_CALL, OPTION_BASIS_AUTO, 0), 13.43403, 0.002);
  const estimate blind = bermudan(0.4, 0.03, 10, OPTION_PUT, OPTION_BASIS_PAYOFF, 0);
  assert_true(blind.value < 12.79540 * 0.98);
  const estimate still = bermudan(0, 1e-6, 6, OPTION_PUT, OPTION_BASIS_AUTO, 0),
                 none = bermudan(0, -1, 6, OPTION_PUT, OPTION_BASIS_AUTO, 0);
  print_message("    hardly a random rate %.6f, none %.6f\n", still.value, none.value);
  assert_true(fabs(still.value - none.value) < 0.002 * none.value);
}

/* Two assets that move as one must have one correlation with the rate. */
static void test_rank(void **state) {
  static double same[] = {1, 1, 1, 1}, with_rate[] = {0.4, 0.4};
  (void)state;
  for (int k = 0; k < 2; k++) {
    pricing d;
    sim_faults faults = {0};
    make(&d, SIM_DOUBLE, 1, 0.1);
    with_rate[1] = k == 0 ? 0.4 : 0.3;
    d.p.correlation.data = same;
    d.p.hull_white.correlation.data = with_rate;
    pricing_add(&d, &option_european_schema, 120, OPTION_CALL);
    d.p.assets.items = d.asset_items;
    d.p.payoffs.items = d.payoff_items;
    assert_int_equal(option_model.validate(&d.p, &faults), SIM_OK);
    assert_int_equal(faults.count, k);
    if (k == 1) assert_non_null(strstr(faults.text.data, "contradicts the correlation of the assets"));
    sim_faults_free(&faults);
    if (k == 0) pricing_run(&d);
    if (k == 0) near_known("call", pricing_price(&d, 0), 16.489725);
    pricing_free(&d);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_prices),  cmocka_unit_test(test_bond),
                                     cmocka_unit_test(test_greeks),  cmocka_unit_test(test_note),
                                     cmocka_unit_test(test_others),  cmocka_unit_test(test_rank),
                                     cmocka_unit_test(test_bermudan)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
