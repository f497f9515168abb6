/* Gammas near levels that are watched continuously from now on, and of comparisons of which a part of the paths
 * deviates little: closed formulas and quadrature. */
#include "kernels/option/run.h"
#include "tests/option/option_driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void near(const char *what, estimate e, double known) {
  print_message("    %-24s %12.6g +- %8.2g, known %12.6g\n", what, e.value, e.error, known);
  if (!(fabs(e.value - known) <= 4 * e.error)) fail_msg("%s: %.9g +- %.2g, known %.9g", what, e.value, e.error, known);
}

/* Spot 100, volatility 0.2, rate 0.03, maturity 1. */
static void make(pricing *d, int sampling) {
  pricing_make(d, sampling == 2 ? SIM_MIXED : SIM_DOUBLE, 0.2, 0.03, 1, 1);
  d->p.sampling.paths = 0x1p18;
  d->p.sampling.antithetic = sampling == 1;
  if (sampling == 3) d->p.sampling.sequence = OPTION_SOBOL, d->p.sampling.scrambles = 32;
  d->p.greeks.want[OPTION_DELTA] = d->p.greeks.want[OPTION_GAMMA] = true;
}

/* where(low < level, 0, max(last - 100, 0)), `low` the lowest price of all times. */
static sim_expr *make_down_and_out(double level) {
  const double numbers[] = {level, 0, 100};
  sim_expr_builder *b;
  sim_expr_ref low, last, of[3], out;
  sim_expr *expr;
  assert_int_equal(sim_expr_builder_create(&b), SIM_OK);
  assert_int_equal(sim_expr_builder_input(b, "low_1", &low), SIM_OK);
  assert_int_equal(sim_expr_builder_input(b, "last_1", &last), SIM_OK);
  for (int i = 0; i < 3; i++) assert_int_equal(sim_expr_builder_number(b, numbers[i], &of[i]), SIM_OK);
  assert_int_equal(sim_expr_builder_call(b, SIM_EXPR_SUB, (sim_expr_ref[]){last, of[2]}, &out), SIM_OK);
  assert_int_equal(sim_expr_builder_call(b, SIM_EXPR_MAX, (sim_expr_ref[]){out, of[1]}, &out), SIM_OK);
  assert_int_equal(sim_expr_builder_call(b, SIM_EXPR_LT, (sim_expr_ref[]){low, of[0]}, &low), SIM_OK);
  assert_int_equal(sim_expr_builder_call(b, SIM_EXPR_WHERE, (sim_expr_ref[]){low, of[1], out}, &out), SIM_OK);
  assert_int_equal(sim_expr_builder_finish(b, &out, (const char *const[]){"out"}, 1, &expr), SIM_OK);
  sim_expr_builder_free(&b);
  return expr;
}

/* Knock-out calls between two levels, by the series of images (Kunitomo and Ikeda, Mathematical Finance 2 (1992) 275).
 * Steps that cross a level, 1 % of the spot, tell gammas of 0.2 and more at the first two. Samples deviate as the step
 * to the power -3/2. */
static void test_double_barriers(void **state) {
  (void)state;
  static const struct {
    double strike, low, high, delta, gamma, error;
  } cases[] = {{100, 99.7, 150, 0.680247440, -0.0112929857, 0.2},
               {70, 60, 100.5, -0.373242113, 0.0045193839, 0.05},
               {100, 97, 130, 0.162080177, -0.00835174877, 0.02}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (int sampling = 0; sampling < 4; sampling++) {
      pricing d;
      make(&d, sampling);
      option_payoff *o = pricing_add(&d, &option_double_barrier_schema, cases[i].strike, OPTION_CALL);
      o->monitoring = OPTION_CONTINUOUS;
      o->low = cases[i].low;
      o->high = cases[i].high;
      pricing_run(&d);
      near("delta", pricing_greek(&d, "delta"), cases[i].delta);
      near("gamma", pricing_greek(&d, "gamma"), cases[i].gamma);
      assert_true(pricing_greek(&d, "gamma").error < cases[i].error);
      pricing_free(&d);
    }
}

/* floor(high / 100.3), `high` the highest price of all times. */
static sim_expr *make_rounded(void) {
  sim_expr_builder *b;
  sim_expr_ref high, level, out;
  sim_expr *expr;
  assert_int_equal(sim_expr_builder_create(&b), SIM_OK);
  assert_int_equal(sim_expr_builder_input(b, "high_1", &high), SIM_OK);
  assert_int_equal(sim_expr_builder_number(b, 100.3, &level), SIM_OK);
  assert_int_equal(sim_expr_builder_call(b, SIM_EXPR_DIV, (sim_expr_ref[]){high, level}, &out), SIM_OK);
  assert_int_equal(sim_expr_builder_call(b, SIM_EXPR_FLOOR, (sim_expr_ref[]){out}, &out), SIM_OK);
  assert_int_equal(sim_expr_builder_finish(b, &out, (const char *const[]){"out"}, 1, &expr), SIM_OK);
  sim_expr_builder_free(&b);
  return expr;
}

/* Whole numbers of a level: by the law of the highest price. A step that crosses the level tells -0.029. */
static void test_rounded(void **state) {
  (void)state;
  for (int sampling = 0; sampling < 4; sampling++) {
    pricing d;
    make(&d, sampling);
    d.p.sampling.paths = 0x1p16;
    d.p.payoff = make_rounded();
    pricing_run(&d);
    near("delta", pricing_greek(&d, "delta"), 0.03649382);
    near("gamma", pricing_greek(&d, "gamma"), -0.00049969);
    pricing_free(&d);
  }
}

/* The same of a function that compares the lowest price with one level: the formula of a down-and-out call. */
static void test_functions(void **state) {
  (void)state;
  static const double levels[] = {99.7, 99.2}, deltas[] = {1.22658327, 1.19704604}, gammas[] = {-0.0181492, -0.0172542};
  for (int i = 0; i < 2; i++)
    for (int sampling = 0; sampling < 4; sampling++) {
      pricing d;
      make(&d, sampling);
      d.p.payoff = make_down_and_out(levels[i]);
      pricing_run(&d);
      near("delta", pricing_greek(&d, "delta"), deltas[i]);
      near("gamma", pricing_greek(&d, "gamma"), gammas[i]);
      pricing_free(&d);
    }
}

/* The gamma of a lookback jumps where the spot is the strike or the highest price so far: by the formula of a call on
 * the highest price (A. Conze and Viswanathan, Journal of Finance 46 (1991) 1893), and unknown at the strike itself.
 * There the delta's difference, by 0.1 % of the spot, is 0.00098 too small, 6.7 deviations of 2^20 paths. */
static void test_lookbacks(void **state) {
  (void)state;
  static const struct {
    double strike, highest, delta, gamma;
  } cases[] = {{100.3, 0, 1.14222599, 0.0364967325},
               {101, 0, 1.11672284, 0.0368354038},
               {100, 100.5, 1.13494555, 0.0365982151},
               {100, 0, 1.153134957, NAN}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (int method = OPTION_AUTO; method <= OPTION_BUMP; method += OPTION_BUMP) {
      pricing d;
      make(&d, 0);
      d.p.greeks.method = method;
      if (i == 3) d.p.sampling.paths = 0x1p20;
      option_payoff *o = pricing_add(&d, &option_lookback_schema, cases[i].strike, OPTION_CALL);
      o->monitoring = OPTION_CONTINUOUS;
      o->extreme = cases[i].highest;
      pricing_run(&d);
      near("delta", pricing_greek(&d, "delta"), cases[i].delta);
      if (i < 3) near("gamma", pricing_greek(&d, "gamma"), cases[i].gamma);
      assert_true(isnan(pricing_greek(&d, "gamma").error) == (i == 3));
      assert_true(pricing_greek(&d, "delta").error < 2e-3);
      pricing_free(&d);
    }
}

/* A function whose level is the spot: delta jumps there, too, and a line at the end says so. */
static void test_at_level(void **state) {
  (void)state;
  pricing d;
  sim_bytes remark = {0};
  make(&d, 0);
  d.p.payoff = make_down_and_out(100);
  pricing_run(&d);
  assert_true(isnan(pricing_greek(&d, "delta").error) && isnan(pricing_greek(&d, "gamma").error));
  option_remark(d.self, &d.clock, &remark);
  sim_bytes_add(&remark, "", 1);
  print_message("    %s\n", remark.data);
  assert_true(strstr(remark.data, "the spot is at a level of its continuous extremes") != NULL);
  sim_bytes_free(&remark);
  pricing_free(&d);
}

/* ---- comparisons of which a part of the paths deviates little ---- */

/* max(min(fixing, last) - 100, 0) of the first of 250 fixings, or max(max(fixing - 101, 0) - 1, 0). */
static sim_expr *make_mixture(bool nested) {
  const double numbers[] = {nested ? 101 : 100, 0, 1};
  sim_expr_builder *b;
  sim_expr_ref fixing, last, of[3], out;
  sim_expr *expr;
  assert_int_equal(sim_expr_builder_create(&b), SIM_OK);
  assert_int_equal(sim_expr_builder_input(b, "fixing_1_1", &fixing), SIM_OK);
  for (int i = 0; i < 3; i++) assert_int_equal(sim_expr_builder_number(b, numbers[i], &of[i]), SIM_OK);
  if (!nested) {
    assert_int_equal(sim_expr_builder_input(b, "last_1", &last), SIM_OK);
    assert_int_equal(sim_expr_builder_call(b, SIM_EXPR_MIN, (sim_expr_ref[]){fixing, last}, &fixing), SIM_OK);
  }
  assert_int_equal(sim_expr_builder_call(b, SIM_EXPR_SUB, (sim_expr_ref[]){fixing, of[0]}, &out), SIM_OK);
  assert_int_equal(sim_expr_builder_call(b, SIM_EXPR_MAX, (sim_expr_ref[]){out, of[1]}, &out), SIM_OK);
  if (nested) {
    assert_int_equal(sim_expr_builder_call(b, SIM_EXPR_SUB, (sim_expr_ref[]){out, of[2]}, &out), SIM_OK);
    assert_int_equal(sim_expr_builder_call(b, SIM_EXPR_MAX, (sim_expr_ref[]){out, of[1]}, &out), SIM_OK);
  }
  assert_int_equal(sim_expr_builder_finish(b, &out, (const char *const[]){"out"}, 1, &expr), SIM_OK);
  sim_expr_builder_free(&b);
  return expr;
}

/* The lesser of a first fixing and the last price deviates by the fixing's 1.3 % on half of the paths, by 20 % on the
 * others: steps of 1 % of the spot tell 7 % less. A comparison of what is 0 for most paths is one of the others alone.
 * By quadrature over the first fixing, and the formula of a call. */
static void test_mixtures(void **state) {
  (void)state;
  for (int nested = 0; nested < 2; nested++)
    for (int sampling = 0; sampling < 4; sampling++) {
      pricing d;
      pricing_make(&d, sampling == 2 ? SIM_MIXED : SIM_DOUBLE, 0.2, 0.03, 1, nested ? 50 : 250);
      d.p.sampling.paths = nested ? 0x1p17 : 0x1p16;
      d.p.sampling.antithetic = sampling == 1;
      if (sampling == 3) d.p.sampling.sequence = OPTION_SOBOL, d.p.sampling.scrambles = 32;
      d.p.greeks.want[OPTION_DELTA] = d.p.greeks.want[OPTION_GAMMA] = true;
      d.p.payoff = make_mixture(nested);
      pricing_run(&d);
      near("delta", pricing_greek(&d, "delta"), nested ? 0.2457650 : 0.2653401);
      near("gamma", pricing_greek(&d, "gamma"), nested ? 0.1098081 : 0.1687915);
      assert_true(pricing_greek(&d, "gamma").error < 0.015 * 0.17);
      pricing_free(&d);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_double_barriers), cmocka_unit_test(test_functions),
                                     cmocka_unit_test(test_rounded),         cmocka_unit_test(test_lookbacks),
                                     cmocka_unit_test(test_at_level),        cmocka_unit_test(test_mixtures)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
