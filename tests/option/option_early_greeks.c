/* Greeks of early exercise by the spot where the first date is near, against lattices (early_greeks.py). */
#include "tests/option/option_driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* Checks a Greek, whose error has that of the step. */
static void near(const char *what, uint64_t seed, const char *name, estimate told, double known) {
  print_message("    %-8s seed %d %-15s %.5f +- %.5f, known %.5f: %.1f errors\n", what, (int)seed, name, told.value,
                told.error, known, (told.value - known) / told.error);
  assert_true(told.error > 0 && fabs(told.value - known) < 4 * told.error);
}

static void want_all(pricing *d, uint64_t seed) {
  d->p.common.seed = seed;
  d->p.greeks.want[OPTION_DELTA] = d->p.greeks.want[OPTION_GAMMA] = true;
}

/* Puts that are exercised tomorrow or in half a week, which the rule fitted from today's spot alone gets wrong on
 * seed 2: gamma by 8 errors and more where differences are as long as those of a far first date. At 110 the spot is
 * nearly at the boundary of tomorrow, and such differences are off by a quarter on all seeds. */
static void test_near_date(void **state) {
  (void)state;
  static double tomorrow[] = {1. / 365, 0.5, 1}, week[] = {7. / 730, 0.5, 1, 2};
  static const struct {
    const char *name;
    double *dates, strike, maturity, delta, gamma, most;
    size_t count;
  } cases[] = {{"put 105", tomorrow, 105, 1, -0.49237, 0.02332, 0.0033, 3},
               {"put 110", tomorrow, 110, 1, -0.60346, 0.02928, 0.0054, 3},
               {"put 108", week, 108, 2, -0.51557, 0.02089, 0.0020, 4}};
  for (int i = 0; i < 3; i++)
    for (uint64_t seed = 1; seed <= 3; seed++) {
      pricing d;
      pricing_make(&d, SIM_MIXED, 0.2, 0.06, cases[i].maturity, 1);
      want_all(&d, seed);
      d.p.sampling.paths = 0x1p21;
      option_payoff *o = pricing_add(&d, &option_american_schema, cases[i].strike, OPTION_PUT);
      o->dates = (sim_doubles){cases[i].dates, cases[i].count, 1};
      o->fit_paths = 1 << 16;
      pricing_run(&d);
      const estimate gamma = pricing_greek(&d, "gamma");
      near(cases[i].name, seed, "delta", pricing_greek(&d, "delta"), cases[i].delta);
      near(cases[i].name, seed, "gamma", gamma, cases[i].gamma);
      assert_true(gamma.error < cases[i].most);
      pricing_free(&d);
    }
}

/* The same of rules on two prices. */
static void test_two_assets(void **state) {
  (void)state;
  static double dates[] = {1. / 365, 0.5, 1}, correlation[] = {1, 0.5, 0.5, 1};
  static const char *const names[] = {"delta_1", "delta_2", "gamma_1", "gamma_2", "cross_gamma_1_2"};
  static const double known[2][5] = {{0.51202, 0.34888, 0.01760, 0.01319, -0.00745},
                                     {-0.30907, -0.28921, 0.00566, 0.00597, 0.00568}};
  for (int basket = 0; basket < 2; basket++)
    for (uint64_t seed = 1; seed <= 2; seed++) {
      pricing d;
      pricing_make(&d, SIM_MIXED, 0.2, 0.06, 1, 1);
      pricing_add_asset(&d, 90, 0.3);
      for (int a = 0; a < 2 && !basket; a++) {
        sim_expr_free(&d.assets[a].dividend);
        d.assets[a].dividend = pricing_constant(0.1);
      }
      if (basket) d.p.correlation = (sim_doubles){correlation, 2, 2};
      want_all(&d, seed);
      d.p.greeks.want[OPTION_CROSS_GAMMA] = true;
      option_payoff *o = pricing_add(&d, &option_american_schema, basket ? 105 : 90, basket ? OPTION_PUT : OPTION_CALL);
      o->on = basket ? OPTION_ON_BASKET : OPTION_ON_BEST;
      o->dates = (sim_doubles){dates, 3, 1};
      o->fit_paths = 1 << 16;
      pricing_run(&d);
      for (int k = 0; k < 5; k++)
        near(basket ? "basket" : "best", seed, names[k], pricing_greek(&d, names[k]), known[basket][k]);
      pricing_free(&d);
    }
}

/* Exercise by a ratio of two prices, as a basket of weights of both signs or as a function, and by a basket of prices
 * that move against each other: what is compared deviates much less than each price at the first date. */
static void test_ratio(void **state) {
  (void)state;
  static const char *const names[] = {"delta_1", "delta_2", "gamma_1", "gamma_2", "cross_gamma_1_2"};
  static double difference[] = {1, -1}, mean[] = {0.5, 0.5};
  static const struct {
    double correlation, spot, first, strike; /* strike 0: the exchange */
    double known[5], most;
  } cases[] = {{0.9, 101, 1. / 12, 0, {0.46418, -0.45157, 0.11152, 0.11377, -0.11264}, 0.004},
               {0.95, 102, 1. / 52, 0, {0.92598, -0.92577, 0.14562, 0.15150, -0.14853}, 0.015},
               {0.99, 100, 1. / 365, 0, {0.40701, -0.40644, 2.55276, 2.55276, -2.55276}, 0.12},
               {-0.8, 100, 14. / 365, 101.5, {-0.31600, -0.31600, 0.0599, 0.0599, 0.0594}, 0.003},
               {-0.95, 100, 1. / 12, 101, {-0.32980, -0.32980, 0.0916, 0.0916, 0.0906}, 0.002}};
  for (int i = 0; i < 5; i++)
    for (uint64_t seed = 1; seed <= 2; seed++) {
      double dates[] = {cases[i].first, 0.5, 1}, room[] = {1, cases[i].correlation, cases[i].correlation, 1};
      pricing d;
      pricing_make(&d, SIM_MIXED, 0.2, cases[i].strike > 0 ? 0.06 : 0.05, 1, 1);
      pricing_add_asset(&d, 100, 0.2);
      d.assets[0].spot = cases[i].spot;
      for (int a = 0; a < 2 && cases[i].strike == 0; a++) {
        sim_expr_free(&d.assets[a].dividend);
        d.assets[a].dividend = pricing_constant(a == 0 ? 0.1 : 0.02);
      }
      d.p.correlation = (sim_doubles){room, 2, 2};
      want_all(&d, seed);
      d.p.sampling.paths = 0x1p19;
      d.p.greeks.want[OPTION_CROSS_GAMMA] = true;
      option_payoff *o =
          pricing_add(&d, &option_american_schema, cases[i].strike, cases[i].strike > 0 ? OPTION_PUT : OPTION_CALL);
      o->on = OPTION_ON_BASKET;
      o->weights = (sim_doubles){cases[i].strike > 0 ? mean : difference, 2, 1};
      o->dates = (sim_doubles){dates, 3, 1};
      o->fit_paths = 1 << 16;
      pricing_run(&d);
      for (int k = 0; k < 5; k++)
        near(cases[i].strike > 0 ? "basket" : "exchange", seed, names[k], pricing_greek(&d, names[k]),
             cases[i].known[k]);
      assert_true(pricing_greek(&d, "cross_gamma_1_2").error < cases[i].most);
      pricing_free(&d);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_near_date), cmocka_unit_test(test_two_assets),
                                     cmocka_unit_test(test_ratio)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
