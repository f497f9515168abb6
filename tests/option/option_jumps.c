/* Errors of functions that jump, over many seeds, and of differences by small volatilities. S = 100. */
#include "tests/option/option_driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { SEEDS = 200 };
static const double R = 0.03, VOL = 0.2;

/* As functions of the last price S: base + (S > K), and max(S - K, 0) as sim.where(S > K, S - K, 0) or by sim.max. */
typedef enum shape { STEP, KINK_BY_WHERE, KINK } shape;
static sim_expr *function_of(shape of, double base, double strike) {
  sim_expr_builder *b;
  sim_expr_ref last, number[4], above, pays, out;
  sim_expr *expr;
  const double numbers[] = {strike, 0, base, 1};
  assert_int_equal(sim_expr_builder_create(&b), SIM_OK);
  assert_int_equal(sim_expr_builder_input(b, "last_1", &last), SIM_OK);
  for (int i = 0; i < 4; i++) assert_int_equal(sim_expr_builder_number(b, numbers[i], &number[i]), SIM_OK);
  assert_int_equal(sim_expr_builder_call(b, SIM_EXPR_SUB, (sim_expr_ref[]){last, number[0]}, &pays), SIM_OK);
  assert_int_equal(sim_expr_builder_call(b, SIM_EXPR_LT, (sim_expr_ref[]){number[0], last}, &above), SIM_OK);
  if (of == STEP) pays = number[3];
  if (of == KINK)
    assert_int_equal(sim_expr_builder_call(b, SIM_EXPR_MAX, (sim_expr_ref[]){pays, number[1]}, &pays), SIM_OK);
  else
    assert_int_equal(sim_expr_builder_call(b, SIM_EXPR_WHERE, (sim_expr_ref[]){above, pays, number[1]}, &pays), SIM_OK);
  assert_int_equal(sim_expr_builder_call(b, SIM_EXPR_ADD, (sim_expr_ref[]){pays, number[2]}, &out), SIM_OK);
  assert_int_equal(sim_expr_builder_finish(b, &out, (const char *const[]){"out"}, 1, &expr), SIM_OK);
  sim_expr_builder_free(&b);
  return expr;
}

enum { QUANTITIES = 6 };
static const char *const columns[QUANTITIES] = {"price", "delta", "gamma", "vega", "rho", "theta"};

/* Price and Greeks of base + a digital call, to 1e-8: differences of the formula in steps of 1e-4. */
static double price_of(double spot, double vol, double r, double T, double strike, double base) {
  const double d = (log(spot / strike) + (r - vol * vol / 2) * T) / (vol * sqrt(T));
  return exp(-r * T) * (base + 0.5 * erfc(-d / sqrt(2)));
}
static void known_of(double strike, double base, double *out) {
  const double h = 1e-4;
#define AT(s, v, r, t) price_of(100 * (1 + (s)*h), VOL + (v)*h, R + (r)*h, 1 + (t)*h, strike, base)
  out[0] = AT(0, 0, 0, 0);
  out[1] = (AT(1, 0, 0, 0) - AT(-1, 0, 0, 0)) / (200 * h);
  out[2] = (AT(1, 0, 0, 0) - 2 * out[0] + AT(-1, 0, 0, 0)) / (1e4 * h * h);
  out[3] = (AT(0, 1, 0, 0) - AT(0, -1, 0, 0)) / (2 * h);
  out[4] = (AT(0, 0, 1, 0) - AT(0, 0, -1, 0)) / (2 * h);
  out[5] = -(AT(0, 0, 0, 1) - AT(0, 0, 0, -1)) / (2 * h);
#undef AT
}

static void prepare(pricing *d, int seed, bool sobol) {
  pricing_make(d, SIM_DOUBLE, VOL, R, 1, 1);
  d->p.common.seed = (uint64_t)seed;
  d->p.sampling.paths = 0x1p10;
  d->p.sampling.sequence = sobol ? OPTION_SOBOL : OPTION_PHILOX;
  d->p.sampling.scrambles = NAN;
  d->p.greeks.method = OPTION_BUMP;
  d->setup.threads = 1;
  for (int g = 0; g < OPTION_SECOND; g++) d->p.greeks.want[g] = true;
}

/* Of the paths k cross the jump, a Poisson number of mean m. With an error of root(max(k, m)) paths the estimate is off
 * by |k - m|/root(max(k, m)) errors: above 4 with a probability below 1e-4 for any m, so that none of these few
 * thousand is expected. With the spread alone, which is nearly 0 for k = 0, exp(-m) of them are. The named digital's
 * error is at least that of one path: off by m for k = 0, of delta and rho here 4.08 with a probability of exp(-4.08)
 * = 1.7 %. The mean square of the ratio is 1 at most but for chance: 5 deviations of 200 (60) squares of normals are
 * 0.5 (0.9). Price, delta, gamma and rho of the random paths, whose m is above 2, have at least 0.4: their errors are
 * not blown up. */
static void test_coverage(void **state) {
  (void)state;
  static const struct {
    bool named, sobol;
    double strike, base;
    int seeds;
  } cases[] = {{false, false, 100, 0, 200}, {true, false, 100, 0, 200}, {false, false, 100, 50, 60},
               {false, false, 70, 0, 60},   {false, false, 140, 0, 60}, {false, true, 100, 0, 60},
               {false, true, 140, 0, 60}};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    const bool named = cases[c].named, sobol = cases[c].sobol;
    const int seeds = cases[c].seeds;
    double known[QUANTITIES], squares[QUANTITIES] = {0}, most = 0;
    known_of(cases[c].strike, cases[c].base, known);
    int beyond = 0;
    for (int seed = 1; seed <= seeds; seed++) {
      pricing d;
      prepare(&d, seed, sobol);
      if (named)
        pricing_add(&d, &option_digital_schema, cases[c].strike, OPTION_CALL);
      else
        d.p.payoff = function_of(STEP, cases[c].base, cases[c].strike);
      pricing_run(&d);
      for (int q = 0; q < QUANTITIES; q++) {
        const estimate got = pricing_greek(&d, columns[q]);
        if (named && isnan(got.error)) continue; /* no sample but 0: stated as unknown */
        assert_true(got.error > 0);
        const double off = fabs(got.value - known[q]) / got.error;
        squares[q] += off * off / seeds;
        beyond += off > 4;
        most = fmax(most, off);
      }
      pricing_free(&d);
    }
    print_message("    %s%s above %g, base %g: %d of %d beyond 4 errors, at most %.2f; mean squares",
                  sobol ? "Sobol, " : "", named ? "digital" : "function", cases[c].strike, cases[c].base, beyond,
                  seeds * QUANTITIES, most);
    for (int q = 0; q < QUANTITIES; q++) print_message(" %.2f", squares[q]);
    print_message("\n");
    assert_true(named ? most < 4.5 : beyond == 0);
    for (int q = 0; q < QUANTITIES; q++) assert_true(named || sobol || squares[q] < (seeds == 200 ? 1.5 : 1.9));
    for (int q = 0; q < QUANTITIES && !sobol && cases[c].base == 0; q++)
      assert_true(q == 3 || q == 5 || squares[q] > 0.4);
  }
}

/* 1 or, with a probability P near 1/1000, 20 more: sim.where(S > K, 20, 0) + 1 of 2^12 paths, some 4 of which get more.
 * The error is that of the rare paths, as in test_coverage, not of the constant: |k - m|/max(1, root(k)) paths. Where
 * no path gets more it is unknown, and said to be. */
static void test_constant_and_rare(void **state) {
  (void)state;
  const double strike = 187, high = exp(-R) * 20, one = exp(-R);
  const double known = one + high * (price_of(100, VOL, R, 1, strike, 0) / exp(-R));
  double squares = 0;
  int unknown = 0, seen = 0;
  for (int seed = 1; seed <= 60; seed++) {
    pricing d;
    sim_expr_builder *b;
    sim_expr_ref of[3], pays;
    const double numbers[] = {20, 0, 1};
    prepare(&d, seed, false);
    d.p.sampling.paths = 0x1p12;
    d.p.greeks = (option_greeks){.method = OPTION_AUTO};
    sim_expr *digital = function_of(STEP, 0, strike);
    assert_int_equal(sim_expr_builder_create(&b), SIM_OK);
    assert_int_equal(sim_expr_builder_input(b, "last_1", &pays), SIM_OK);
    assert_int_equal(sim_expr_builder_insert(b, digital, &pays, &pays), SIM_OK);
    for (int i = 0; i < 3; i++) assert_int_equal(sim_expr_builder_number(b, numbers[i], &of[i]), SIM_OK);
    assert_int_equal(sim_expr_builder_call(b, SIM_EXPR_MUL, (sim_expr_ref[]){pays, of[0]}, &pays), SIM_OK);
    assert_int_equal(sim_expr_builder_call(b, SIM_EXPR_ADD, (sim_expr_ref[]){pays, of[2]}, &pays), SIM_OK);
    assert_int_equal(sim_expr_builder_finish(b, &pays, (const char *const[]){"out"}, 1, &d.p.payoff), SIM_OK);
    sim_expr_builder_free(&b);
    sim_expr_free(&digital);
    pricing_run(&d);
    const estimate got = pricing_price(&d, 0);
    pricing_free(&d);
    unknown += isnan(got.error);
    if (isnan(got.error)) {
      assert_true(fabs(got.value - one) < 1e-12);
      continue;
    }
    const double off = fabs(got.value - known) / got.error;
    assert_true(got.error >= 0.99 * high / 0x1p12 && off < 4.5);
    squares += off * off;
    seen++;
  }
  print_message("    %d unknown, mean square of %d others %.2f\n", unknown, seen, squares / seen);
  assert_true(unknown > 0 && seen > 30 && squares / seen < 1.9);
}

/* A function that only looks as if it jumps has the errors of the same function by sim.max, in every digit. */
static void test_kink(void **state) {
  (void)state;
  for (int seed = 1; seed <= 5; seed++) {
    double error[2][QUANTITIES];
    for (int k = 0; k < 2; k++) {
      pricing d;
      prepare(&d, seed, false);
      d.p.payoff = function_of(k ? KINK : KINK_BY_WHERE, 0, 100);
      pricing_run(&d);
      for (int q = 0; q < QUANTITIES; q++) error[k][q] = pricing_greek(&d, columns[q]).error;
      pricing_free(&d);
    }
    for (int q = 0; q < QUANTITIES; q++) assert_true(error[0][q] == error[1][q]);
  }
}

/* A payoff that hardly any path gets: 2 of 2^12 pay 1 above 195; all but 2 of 2^12 pay above 51. The error of the price
 * is at least one path's worth, and the pilot paths do not determine the Greek's: the truth is within 4 of these
 * errors. */
static void test_rare(void **state) {
  (void)state;
  static const double strikes[] = {195, 51};
  for (int c = 0; c < 2; c++)
    for (int seed = 1; seed <= 40; seed++) {
      double known[QUANTITIES];
      known_of(strikes[c], 0, known);
      pricing d;
      prepare(&d, seed, false);
      d.p.sampling.paths = 0x1p12;
      d.p.payoff = function_of(STEP, 0, strikes[c]);
      pricing_run(&d);
      for (int q = 0; q < QUANTITIES; q++) {
        const estimate got = pricing_greek(&d, columns[q]);
        if (isnan(got.error)) continue;
        if (!(fabs(got.value - known[q]) <= 4 * got.error))
          fail_msg("%s above %g, seed %d: %.9g +- %.3g is not %.9g", columns[q], strikes[c], seed, got.value, got.error,
                   known[q]);
      }
      pricing_free(&d);
    }
}

/* A volatility swap is linear in the volatility, so that its vega at rate 0 is price/vol: 100 E[chi_12]/sqrt(12), but
 * for the volatility's square in the drift, 1e-8 of it at 1e-3. A step of fixed length once went across 0. */
static void test_small_volatility(void **state) {
  (void)state;
  static const double vols[] = {1e-6, 5e-4, 2e-3};
  const double known = 100 * sqrt(2. / 12) * tgamma(6.5) / tgamma(6);
  for (int i = 0; i < 6; i++) {
    pricing d;
    pricing_make(&d, i % 2 ? SIM_DOUBLE : SIM_MIXED, vols[i / 2], 0, 1, 12);
    d.p.sampling.paths = 0x1p14;
    d.p.greeks.want[OPTION_VEGA] = true;
    pricing_add(&d, &option_volatility_swap_schema, 0, OPTION_CALL);
    pricing_run(&d);
    const estimate price = pricing_price(&d, 0), vega = pricing_greek(&d, "vega");
    print_message("    vol %g: vega %.5f +- %.5f, known %.5f\n", vols[i / 2], vega.value, vega.error, known);
    assert_true(fabs(vega.value - known) < 4 * vega.error);
    assert_true(fabs(vega.value - price.value / vols[i / 2]) < 1e-4 * known);
    pricing_free(&d);
  }
}

/* 12 assets, whose deltas have no memory beside their vegas: 102 markets of pairs with them, 54 without. */
static void test_many_assets(void **state) {
  (void)state;
  pricing d;
  prepare(&d, 1, false);
  for (int a = 1; a < 12; a++) pricing_add_asset(&d, 100, VOL);
  for (int g = 0; g < OPTION_SECOND; g++) d.p.greeks.want[g] = g == OPTION_RHO || g == OPTION_VEGA;
  d.p.sampling.antithetic = true;
  d.p.payoff = function_of(STEP, 0, 100);
  pricing_run(&d);
  assert_true(pricing_greek(&d, "rho").error > 0);
  pricing_free(&d);
}

/* Results where(S > 300, 1, 0) and 2: no path determines the error of the first, and the second has only rounding. */
static void test_constant_beside(void **state) {
  (void)state;
  pricing d;
  sim_expr_builder *b;
  sim_expr_ref of[2];
  prepare(&d, 1, false);
  d.p.sampling.paths = 0x1p12;
  d.p.greeks = (option_greeks){.method = OPTION_AUTO};
  sim_expr *digital = function_of(STEP, 0, 300);
  assert_int_equal(sim_expr_builder_create(&b), SIM_OK);
  assert_int_equal(sim_expr_builder_input(b, "last_1", &of[0]), SIM_OK);
  assert_int_equal(sim_expr_builder_insert(b, digital, &of[0], &of[0]), SIM_OK);
  assert_int_equal(sim_expr_builder_number(b, 2, &of[1]), SIM_OK);
  assert_int_equal(sim_expr_builder_finish(b, of, (const char *const[]){"a", "b"}, 2, &d.p.payoff), SIM_OK);
  sim_expr_builder_free(&b);
  sim_expr_free(&digital);
  pricing_run(&d);
  const estimate rare = pricing_price(&d, 0), two = pricing_price(&d, 1);
  pricing_free(&d);
  assert_true(rare.value == 0 && isnan(rare.error));
  assert_true(fabs(two.value - 2 * exp(-R)) < 1e-9 && two.error < 1e-9);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_coverage),
                                     cmocka_unit_test(test_constant_and_rare),
                                     cmocka_unit_test(test_kink),
                                     cmocka_unit_test(test_rare),
                                     cmocka_unit_test(test_small_volatility),
                                     cmocka_unit_test(test_many_assets),
                                     cmocka_unit_test(test_constant_beside)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
