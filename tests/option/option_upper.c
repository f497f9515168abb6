/* Upper bounds of early exercise under models whose paths from a date on depend on more than prices and volatilities:
 * Bermudan puts of five dates in a year against QuantLib's finite differences (bermudan_variance.py beside this file).
 * A price is below its known value by the rule, 0.3 % at most here, a bound above it, 0.4 % at most, each within 4 of
 * its errors. Seeds are fixed. */
#include "tests/option/option_driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static option_payoff *make(pricing *d, double rate, double dividend, int steps) {
  pricing_make(d, SIM_DOUBLE, 0.2, rate, 1, steps);
  pricing_set_motion(d, 0);
  sim_expr_free(&d->assets[0].dividend);
  d->assets[0].dividend = pricing_constant(dividend);
  d->p.sampling.paths = 0x1p19;
  d->p.sampling.antithetic = true;
  option_payoff *o = pricing_add(d, &option_american_schema, 100, OPTION_PUT);
  o->every = steps / 5;
  o->upper_paths = 600;
  o->inner_paths = 256;
  return o;
}

static void check(pricing *d, const char *what, double known) {
  pricing_run(d);
  const estimate price = pricing_price(d, 0), upper = pricing_greek(d, "upper");
  const double gap = upper.value - price.value;
  print_message("    %-18s %.4f +- %.4f below %.4f +- %.4f, known %.4f\n", what, price.value, price.error, upper.value,
                upper.error, known);
  assert_true(price.value < known + 4 * price.error && price.value > 0.997 * known - 4 * price.error);
  assert_true(upper.value > known - 4 * upper.error && upper.value < 1.004 * known + 4 * upper.error);
  assert_true(gap > 0 && gap < 0.004 * known);
  pricing_free(d);
}

/* exp(t/4)/25 */
static sim_expr *rising(void) {
  sim_expr_builder *b;
  sim_expr_ref t, number, out;
  sim_expr *expr;
  assert_int_equal(sim_expr_builder_create(&b), SIM_OK);
  assert_int_equal(sim_expr_builder_input(b, "t", &t), SIM_OK);
  assert_int_equal(sim_expr_builder_number(b, 0.25, &number), SIM_OK);
  assert_int_equal(sim_expr_builder_call(b, SIM_EXPR_MUL, (sim_expr_ref[]){t, number}, &out), SIM_OK);
  assert_int_equal(sim_expr_builder_call(b, SIM_EXPR_EXP, &out, &out), SIM_OK);
  assert_int_equal(sim_expr_builder_number(b, 0.04, &number), SIM_OK);
  assert_int_equal(sim_expr_builder_call(b, SIM_EXPR_MUL, (sim_expr_ref[]){out, number}, &out), SIM_OK);
  assert_int_equal(sim_expr_builder_finish(b, &out, (const char *const[]){"out"}, 1, &expr), SIM_OK);
  sim_expr_builder_free(&b);
  return expr;
}

/* With H = 1/2 the volatility is 0.2 exp(W/2 - t/8), W a Brownian motion: SABR's with beta = 1 and nu = 1/2, where xi
 * is E v. QuantLib's SABR has beta = 0.999. All weights of the past are alike then, so that the paths from a date on
 * depend on it as much as they can. */
static void test_rough(void **state) {
  (void)state;
  pricing d;
  make(&d, 0.05, 0.05, 60);
  d.assets[0].rough_bergomi = (option_rough){true, rising(), 1, 0.5, -0.4};
  check(&d, "rough, H = 1/2", 7.67239);
}

/* sigma = 2 S^(-1/2), QuantLib's CEV: as a function, and on a grid that is linear between its prices. */
static void test_local(void **state) {
  enum { SPOTS = 60 };
  static double spots[SPOTS], vols[SPOTS], times[1] = {0};
  sim_expr_builder *b;
  sim_expr_ref in[2], two, root, out;
  (void)state;
  for (int k = 0; k < SPOTS; k++) {
    spots[k] = 30 * pow(8, k / (SPOTS - 1.));
    vols[k] = 2 / sqrt(spots[k]);
  }
  for (int k = 0; k < 2; k++) {
    pricing d;
    make(&d, 0.05, 0.05, 60);
    if (k == 0) {
      assert_int_equal(sim_expr_builder_create(&b), SIM_OK);
      assert_int_equal(sim_expr_builder_input(b, "S", &in[0]), SIM_OK);
      assert_int_equal(sim_expr_builder_input(b, "t", &in[1]), SIM_OK);
      assert_int_equal(sim_expr_builder_number(b, 2, &two), SIM_OK);
      assert_int_equal(sim_expr_builder_call(b, SIM_EXPR_SQRT, in, &root), SIM_OK);
      assert_int_equal(sim_expr_builder_call(b, SIM_EXPR_DIV, (sim_expr_ref[]){two, root}, &out), SIM_OK);
      assert_int_equal(sim_expr_builder_finish(b, &out, (const char *const[]){"out"}, 1, &d.assets[0].local_vol),
                       SIM_OK);
      sim_expr_builder_free(&b);
    } else {
      d.assets[0].vol_grid = (option_vol_grid){true, {spots, SPOTS, 1}, {times, 1, 1}, {vols, SPOTS, 1}};
    }
    check(&d, k == 0 ? "local function" : "local grid", 7.64457);
  }
}

/* A local volatility 0.2 - max(S - 140, 0), which is below 0 where paths of the bound go. */
static void test_unsound(void **state) {
  (void)state;
  pricing d;
  option_payoff *o = make(&d, 0.05, 0.05, 10);
  sim_expr_builder *b;
  sim_expr_ref in[2], number, x;
  assert_int_equal(sim_expr_builder_create(&b), SIM_OK);
  assert_int_equal(sim_expr_builder_input(b, "S", &in[0]), SIM_OK);
  assert_int_equal(sim_expr_builder_input(b, "t", &in[1]), SIM_OK);
  assert_int_equal(sim_expr_builder_number(b, 140, &number), SIM_OK);
  assert_int_equal(sim_expr_builder_call(b, SIM_EXPR_SUB, (sim_expr_ref[]){in[0], number}, &x), SIM_OK);
  assert_int_equal(sim_expr_builder_number(b, 0, &number), SIM_OK);
  assert_int_equal(sim_expr_builder_call(b, SIM_EXPR_MAX, (sim_expr_ref[]){x, number}, &x), SIM_OK);
  assert_int_equal(sim_expr_builder_number(b, 0.2, &number), SIM_OK);
  assert_int_equal(sim_expr_builder_call(b, SIM_EXPR_SUB, (sim_expr_ref[]){number, x}, &x), SIM_OK);
  assert_int_equal(sim_expr_builder_finish(b, &x, (const char *const[]){"out"}, 1, &d.assets[0].local_vol), SIM_OK);
  sim_expr_builder_free(&b);
  o->upper_paths = 64;
  d.p.sampling.paths = 64;
  sim_clock clock;
  void *self = NULL;
  sim_faults faults = {0};
  d.p.assets.items = d.asset_items;
  d.p.payoffs.items = d.payoff_items;
  assert_int_equal(option_model.validate(&d.p, &faults), SIM_OK);
  assert_int_equal(option_model.create(&d.p, &d.setup, &clock, &self), SIM_ERR_DIVERGED);
  print_message("    %s\n", sim_error_last()->message);
  assert_non_null(strstr(sim_error_last()->message, "payoffs[1]: a local volatility is below 0"));
  pricing_free(&d);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_rough), cmocka_unit_test(test_local),
                                     cmocka_unit_test(test_unsound)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
