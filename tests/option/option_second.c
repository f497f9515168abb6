/* Cross gammas, vanna, volga and charm against formulas, by all methods and samplings; and, with `long`, how often the
 * error bars of all Greeks of a book, those by nodes of curves too, cover the truth over 200 seeds. */
#include "kernels/option/run.h"
#include "tests/option/option_driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static double density(double x) { return exp(-x * x / 2) / 2.50662827463100050242; }

/* Of a call with spot 100, volatility 0.2, rate 0.03 until 1; charm: minus the derivative of delta by the maturity. */
static void call_known(double strike, double known[OPTION_GREEKS]) {
  const double v = 0.2, r = 0.03, d1 = log(100 / strike) / v + r / v + v / 2, d2 = d1 - v, n = density(d1);
  known[OPTION_GAMMA] = n / (100 * v);
  known[OPTION_VANNA] = -n * d2 / v;
  known[OPTION_VOLGA] = 100 * n * d1 * d2 / v;
  known[OPTION_CHARM] = -n * (2 * r - d2 * v) / (2 * v);
}

/* `few`: so few paths may carry the number that its error is unknown. */
static void near_or_unknown(const char *what, estimate e, double known, double bias, bool few) {
  print_message("    %-24s %12.6g +- %8.2g, known %12.6g\n", what, e.value, e.error, known);
  if (!(fabs(e.value - known) <= 4 * e.error + bias || (few && isnan(e.error))))
    fail_msg("%s: %.9g +- %.2g, known %.9g", what, e.value, e.error, known);
}

static void near(const char *what, estimate e, double known, double bias) {
  near_or_unknown(what, e, known, bias, false);
}

static void want(pricing *d, bool cross) {
  static const int greeks[] = {OPTION_GAMMA, OPTION_VANNA, OPTION_VOLGA, OPTION_CHARM};
  for (size_t i = 0; i < sizeof greeks / sizeof *greeks; i++) d->p.greeks.want[greeks[i]] = true;
  d->p.greeks.want[OPTION_CROSS_GAMMA] = cross;
}

/* Differences of four prices are off by the squares of their steps: 1 % of the spot, 5 % of the deviation, 0.005 of the
 * volatility and 5 % of the maturity, times He4 and the like of d1 = -0.5: below 1 % of the Greek's size. */
static void check_call(int method, int steps, int sampling, sim_precision precision) {
  static const char *const names[] = {"plain", "antithetic", "Sobol", "matched", "control"};
  static const int greeks[] = {OPTION_GAMMA, OPTION_VANNA, OPTION_VOLGA, OPTION_CHARM};
  double known[OPTION_GREEKS];
  pricing d;
  pricing_make(&d, precision, 0.2, 0.03, 1, steps);
  d.p.sampling.paths = 0x1p18;
  d.p.sampling.antithetic = sampling == 1;
  if (sampling == 2) d.p.sampling.sequence = OPTION_SOBOL, d.p.sampling.scrambles = 32;
  d.p.sampling.moment_matching = sampling == 3;
  if (sampling == 4) d.p.sampling.control = OPTION_CONTROL_UNDERLYING;
  d.p.greeks.method = method;
  want(&d, false);
  pricing_add(&d, &option_european_schema, 115, OPTION_CALL);
  pricing_run(&d);
  call_known(115, known);
  print_message("  method %d, %d steps, %s\n", method, steps, names[sampling]);
  for (size_t i = 0; i < sizeof greeks / sizeof *greeks; i++)
    near_or_unknown(option_greek_names[greeks[i]], pricing_greek(&d, option_greek_names[greeks[i]]), known[greeks[i]],
                    method == OPTION_BUMP ? 0.01 * fabs(known[greeks[i]]) : 0,
                    method == OPTION_LIKELIHOOD && (greeks[i] == OPTION_VANNA || greeks[i] == OPTION_VOLGA));
  pricing_free(&d);
}

static void test_call(void **state) {
  (void)state;
  for (int method = OPTION_AUTO; method <= OPTION_BUMP; method++)
    for (int steps = 1; steps <= 12; steps += 11) check_call(method, steps, 0, SIM_DOUBLE);
  for (int sampling = 1; sampling <= 4; sampling++)
    for (int steps = 1; steps <= 12; steps += 11) check_call(OPTION_AUTO, steps, sampling, SIM_SINGLE);
}

/* The exchange of an asset for another (W. Margrabe, Journal of Finance 33 (1978) 177). */
static void test_exchange(void **state) {
  (void)state;
  static double correlation[] = {1, 0.4, 0.4, 1};
  const double a = 100, b = 95, s = sqrt(0.2 * 0.2 + 0.3 * 0.3 - 2 * 0.4 * 0.2 * 0.3), d1 = log(b / a) / s + s / 2;
  const double n = density(d1), d2 = d1 - s, by_s = b * n, twice = b * n * d1 * d2 / s;
  const double slope[2] = {(0.2 - 0.4 * 0.3) / s, (0.3 - 0.4 * 0.2) / s}; /* of s by each volatility */
  for (int steps = 1; steps <= 20; steps += 19)
    for (int method = OPTION_AUTO; method <= OPTION_BUMP; method += OPTION_BUMP) {
      pricing d;
      pricing_make(&d, SIM_DOUBLE, 0.2, 0.03, 1, steps);
      pricing_add_asset(&d, b, 0.3);
      d.p.correlation = (sim_doubles){correlation, 2, 2};
      d.p.sampling.paths = 0x1p18;
      d.p.greeks.method = method;
      want(&d, true);
      option_payoff *o = pricing_add(&d, &option_spread_schema, 0, OPTION_CALL);
      o->asset = 2;
      o->second = 1;
      pricing_run(&d);
      const double share = method == OPTION_BUMP ? 0.01 : 0;
      print_message("  method %d, %d steps\n", method, steps);
      near("cross_gamma_1_2", pricing_greek(&d, "cross_gamma_1_2"), -n / (a * s), share * n / (a * s));
      near("gamma_2", pricing_greek(&d, "gamma_2"), n / (b * s), share * n / (b * s));
      near("vanna_2", pricing_greek(&d, "vanna_2"), -n * d2 / s * slope[1], share * n / s);
      near("volga_2", pricing_greek(&d, "volga_2"), twice * slope[1] * slope[1] + by_s * (1 - slope[1] * slope[1]) / s,
           share * by_s / s);
      near("volga_1", pricing_greek(&d, "volga_1"), twice * slope[0] * slope[0] + by_s * (1 - slope[0] * slope[0]) / s,
           share * by_s / s);
      near("charm_2", pricing_greek(&d, "charm_2"), n * d2 / 2, share * n);
      pricing_free(&d);
    }
}

/* Of a digital: by the density, or differences of deltas by it. */
static void test_digital(void **state) {
  (void)state;
  const double v = 0.2, r = 0.03, d2 = log(100. / 105) / v + r / v - v / 2, d1 = d2 + v;
  const double n = exp(-r) * density(d2);
  for (int steps = 1; steps <= 12; steps += 11) {
    pricing d;
    pricing_make(&d, SIM_DOUBLE, v, r, 1, steps);
    d.p.sampling.paths = 0x1p18;
    want(&d, false);
    pricing_add(&d, &option_digital_schema, 105, OPTION_CALL)->cash = 1;
    pricing_run(&d);
    near("vanna", pricing_greek(&d, "vanna"), n * (d1 * d2 - 1) / (100 * v * v), steps > 1 ? 1e-3 * n : 0);
    near("volga", pricing_greek(&d, "volga"), -n * (d1 * d1 * d2 - d1 - d2) / (v * v), 0);
    near("charm", pricing_greek(&d, "charm"), n * (r + (1 + d2 * (2 * r - d1 * v) / v) / 2) / (100 * v),
         steps > 1 ? 1e-4 * n : 0);
    pricing_free(&d);
  }
}

/* ---- coverage ---- */

enum { SEEDS = 200, MOST = 160 };

static void make_book(pricing *d, uint64_t seed) {
  static double correlation[] = {1, 0.4, 0.4, 1};
  static const sim_curve_point vol[2] = {{0, 0.2}, {0.6, 0.2}}, rate[2] = {{0, 0.03}, {1, 0.03}};
  pricing_make(d, SIM_DOUBLE, 0.2, 0.03, 1, 8);
  sim_expr_free(&d->p.rate);
  sim_expr_free(&d->assets[0].vol);
  d->p.rate = pricing_curve(rate, 2, false);
  d->assets[0].vol = pricing_curve(vol, 2, false);
  pricing_add_asset(d, 95, 0.3);
  d->p.correlation = (sim_doubles){correlation, 2, 2};
  d->p.common.seed = seed;
  d->p.sampling.paths = 0x1p14;
  for (int g = 0; g < OPTION_GREEKS; g++) d->p.greeks.want[g] = true;
  pricing_add(d, &option_european_schema, 105, OPTION_CALL);
  pricing_add(d, &option_european_schema, 95, OPTION_PUT);
  pricing_add(d, &option_digital_schema, 105, OPTION_CALL)->cash = 10;
  pricing_add(d, &option_barrier_schema, 100, OPTION_CALL)->level = 85;
  pricing_add(d, &option_asian_schema, 100, OPTION_CALL);
  pricing_add(d, &option_basket_schema, 100, OPTION_PUT);
  pricing_add(d, &option_american_schema, 105, OPTION_PUT)->fit_paths = 0x1p16;
}

/* Cross gammas of ten assets with early exercise, at the maturity alone: 45 differences of four prices, 181 markets.
 * The payment is the square of the sum of all prices, whose mean has the cross gamma 2 exp((rate + correlation vol_i
 * vol_j) T) without dividends; differences of a square are exact. */
static void test_many(void **state) {
  (void)state;
  enum { ASSETS = 10 };
  static double room[ASSETS * ASSETS];
  pricing d;
  sim_expr_builder *b;
  sim_expr_ref sum = 0, price;
  pricing_make(&d, SIM_DOUBLE, 0.15, 0.03, 1, 1);
  for (int a = 1; a < ASSETS; a++) pricing_add_asset(&d, 100, 0.15 + 0.01 * a);
  for (int i = 0; i < ASSETS * ASSETS; i++) room[i] = i % (ASSETS + 1) == 0 ? 1 : 0.3;
  d.p.correlation = (sim_doubles){.data = room, .rows = ASSETS, .cols = ASSETS};
  d.p.sampling.paths = 0x1p14;
  d.p.greeks.want[OPTION_CROSS_GAMMA] = true;
  option_payoff *o = pricing_add(&d, &option_american_schema, NAN, OPTION_CALL);
  assert_int_equal(sim_expr_builder_create(&b), SIM_OK);
  for (int a = 0; a < ASSETS; a++) {
    char name[16];
    snprintf(name, sizeof name, "last_%d", a + 1);
    assert_int_equal(sim_expr_builder_input(b, name, &price), SIM_OK);
    if (a == 0)
      sum = price;
    else
      assert_int_equal(sim_expr_builder_call(b, SIM_EXPR_ADD, (sim_expr_ref[]){sum, price}, &sum), SIM_OK);
  }
  assert_int_equal(sim_expr_builder_call(b, SIM_EXPR_MUL, (sim_expr_ref[]){sum, sum}, &sum), SIM_OK);
  assert_int_equal(sim_expr_builder_finish(b, &sum, (const char *const[]){"out"}, 1, &o->exercise), SIM_OK);
  sim_expr_builder_free(&b);
  o->degree = 2;
  o->every = 1;
  o->fit_paths = 1 << 12;
  pricing_run(&d);
  for (int j = 1; j < 8; j++) /* further pairs have no room in this table */
    for (int i = 0; i < j; i++) {
      char name[32];
      snprintf(name, sizeof name, "cross_gamma_%d_%d", i + 1, j + 1);
      near(name, pricing_greek(&d, name), 2 * exp(0.03 + 0.3 * (0.15 + 0.01 * i) * (0.15 + 0.01 * j)), 0);
    }
  pricing_free(&d);
}

/* The larger of two prices that go together: 100 and 100 S2/S1, volatilities 0.2. */
static void add_pair(pricing *d, const sim_schema *schema, double other, double *correlation) {
  pricing_make(d, SIM_DOUBLE, 0.2, 0.03, 1, 1);
  pricing_add_asset(d, other, 0.2);
  d->p.correlation = (sim_doubles){correlation, 2, 2};
  d->p.sampling.paths = 0x1p18;
  d->p.greeks.want[OPTION_GAMMA] = d->p.greeks.want[OPTION_CROSS_GAMMA] = true;
  const bool spread = schema == &option_spread_schema, early = schema == &option_american_schema;
  option_payoff *o = pricing_add(d, schema, spread ? 0 : 1, OPTION_CALL);
  if (spread) o->second = 2;
  if (!spread && !early) o->asset = 0;
  if (early) o->on = OPTION_ON_BEST;
  if (early) o->fit_paths = 4096;
}

/* W. Margrabe, Journal of Finance 33 (1978) 177: with D the deviation of the logarithm of the ratio of the prices,
 * gamma_1 = phi(d)/(S1 D) and the cross gamma -phi(d)/(S2 D), d = log(S1/S2)/D + D/2. Steps as long as a tenth of a
 * price's own deviation are off by a third at a correlation of 0.999. Differences of slopes are off by 0.6 % at most,
 * of four prices by 1.3 %. */
static void test_near_correlation(void **state) {
  (void)state;
  static const sim_schema *const schemas[] = {&option_spread_schema, &option_best_of_schema, &option_american_schema};
  static const double rho[] = {0.99, 0.9999}, spot[] = {100, 100.5};
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 2; k++) {
      pricing d;
      double correlation[] = {1, rho[k], rho[k], 1};
      const double D = 0.2 * sqrt(2 * (1 - rho[k])), x = log(100 / spot[k]) / D + D / 2,
                   density = exp(-x * x / 2) / sqrt(2 * M_PI) / D, share = i == 2 ? 0.013 : 0.006;
      add_pair(&d, schemas[i], spot[k], correlation);
      pricing_run(&d);
      near("gamma_1", pricing_greek(&d, "gamma_1"), density / 100, share * density / 100);
      near("cross_gamma_1_2", pricing_greek(&d, "cross_gamma_1_2"), -density / spot[k], share * density / 100);
      pricing_free(&d);
    }
}

/* Second derivatives at a kink that nothing smooths have no known error: of the larger of two equal prices, of a call
 * struck at a certain forward price, and of an exercise at a date until which the price is certain. The gamma
 * of a call far from its kink is known. */
static void test_kinks(void **state) {
  (void)state;
  static double one[] = {1, 1, 1, 1}, dates[] = {0.25, 0.75, 1};
  static const sim_curve_point jump[] = {{0, 0}, {0.5, 0.3}};
  pricing d;
  add_pair(&d, &option_best_of_schema, 100, one);
  pricing_run(&d);
  estimate got = pricing_greek(&d, "cross_gamma_1_2");
  assert_true(got.value < -0.1 && isnan(got.error));
  pricing_free(&d);
  add_pair(&d, &option_best_of_schema, 80, one);
  pricing_run(&d);
  got = pricing_greek(&d, "cross_gamma_1_2");
  assert_true(got.value == 0);
  pricing_free(&d);
  for (int far = 0; far < 2; far++) {
    pricing_make(&d, SIM_DOUBLE, 0, 0.05, 1, 1);
    d.p.sampling.paths = 0x1p14;
    d.p.greeks.want[OPTION_GAMMA] = d.p.greeks.want[OPTION_DELTA] = true;
    pricing_add(&d, &option_european_schema, far ? 90 : 100 * exp(0.05), OPTION_CALL);
    pricing_run(&d);
    got = pricing_greek(&d, "gamma");
    assert_true(far ? fabs(got.value) < 1e-9 && got.error < 1e-9 : got.value > 0.1 && isnan(got.error));
    pricing_free(&d);
  }
  pricing_make(&d, SIM_DOUBLE, 0.2, 0.06, 1, 1);
  sim_expr_free(&d.assets[0].vol);
  d.assets[0].vol = pricing_curve(jump, 2, true);
  d.p.greeks.want[OPTION_GAMMA] = d.p.greeks.want[OPTION_DELTA] = true;
  option_payoff *o = pricing_add(&d, &option_american_schema, 110, OPTION_PUT);
  o->dates = (sim_doubles){dates, 3, 1};
  o->fit_paths = 1 << 16;
  pricing_run(&d);
  got = pricing_greek(&d, "gamma");
  near("delta", pricing_greek(&d, "delta"), -0.5496, 0.002); /* a lattice from 0.5 on */
  assert_true(got.value > 0 && isnan(got.error));
  pricing_free(&d);
}

/* ---- payoffs that bend within much less than the deviation of a price at the maturity ---- */

static void want_gammas(pricing *d) {
  d->p.sampling.paths = 0x1p19;
  d->p.greeks.want[OPTION_DELTA] = d->p.greeks.want[OPTION_GAMMA] = true;
  d->p.greeks.want[OPTION_CROSS_GAMMA] = d->p.assets.count > 1;
}

/* Errors contain those of the steps, and are below 2 % of the Greek. */
static void near_bend(const char *what, pricing *d, const char *column, double known) {
  const estimate got = pricing_greek(d, column);
  near(what, got, known, 0);
  assert_true(got.error < 0.02 * fabs(known));
}

/* A basket of the difference of two prices bends where it is 0: Margrabe's formula. With jumps of one price a mixture
 * of such gammas, by the number of jumps; local volatilities of one number are no other model. */
static void test_differences(void **state) {
  (void)state;
  static const double correlations[] = {0, 0.99, 0.9999, 0.999, 0.999};
  for (int i = 0; i < 5; i++) {
    double room[4] = {1, correlations[i], correlations[i], 1}, weights[2] = {1, -1}, known = 0;
    const double v = 0.2 * sqrt(2 * (1 - correlations[i])), rate = i == 3 ? 0.02 : 0, jump = 0.1;
    double share = exp(-rate);
    for (int n = 0; n < 6; n++, share *= rate / n) {
      const double all = sqrt(v * v + n * jump * jump), forward = n * jump * jump / 2 - rate * expm1(jump * jump / 2);
      known += share * exp(forward) * density(forward / all + all / 2) / (100 * all);
    }
    pricing d;
    pricing_make(&d, SIM_DOUBLE, 0.2, 0.03, 1, i == 4 ? 4 : 1);
    pricing_add_asset(&d, 100, 0.2);
    d.p.correlation = (sim_doubles){room, 2, 2};
    for (int a = 0; i == 4 && a < 2; a++) {
      pricing_set_motion(&d, a);
      d.assets[a].local_vol = pricing_displaced(0, 0.2);
    }
    if (i == 3) d.assets[0].jumps = (option_jumps){true, rate, 0, jump};
    want_gammas(&d);
    if (i < 3)
      pricing_add(&d, &option_basket_schema, 0, OPTION_CALL)->weights = (sim_doubles){weights, 2, 1};
    else
      pricing_add(&d, &option_best_of_schema, 1e-3, OPTION_CALL);
    pricing_run(&d);
    near_bend("difference", &d, "gamma_1", known);
    if (i != 3) near_bend("difference", &d, "cross_gamma_1_2", -known);
    pricing_free(&d);
  }
}

/* A share whose price in the run's money hardly moves, because the rate of exchange moves against it. */
static void test_composite(void **state) {
  (void)state;
  static const double correlations[] = {-0.9, -0.99, -0.999};
  for (int i = 0; i < 3; i++) {
    double room[4] = {1, correlations[i], correlations[i], 1};
    const double v = 0.2 * sqrt(2 * (1 + correlations[i])), n = density(v / 2) / v;
    double below = 0.5 * erfc(-v / 2 / sqrt(2));
    pricing d;
    pricing_make(&d, SIM_DOUBLE, 0.2, 0.05, 1, 1);
    pricing_add_asset(&d, 1, 0.2);
    d.assets[0].currency = 2;
    d.p.correlation = (sim_doubles){room, 2, 2};
    want_gammas(&d);
    pricing_add(&d, &option_european_schema, 100 * exp(0.05), OPTION_CALL)->exchange = OPTION_COMPOSITE;
    pricing_run(&d);
    near_bend("composite", &d, "gamma_1", n / 100);
    near_bend("composite", &d, "gamma_2", 100 * n);
    near_bend("composite", &d, "cross_gamma_1_2", below + n);
    pricing_free(&d);
  }
}

/* First fixings tomorrow, and payments at 1. An accumulator of gearing 2 from a strike on is the sum of forwards less a
 * put at each date; an Asian option and a lookback of two fixings by quadrature over the first one. */
static void test_first_fixings(void **state) {
  (void)state;
  static double dates[] = {1. / 365, 2. / 365, 0.5, 1};
  static const sim_schema *const schemas[] = {&option_accumulator_schema, &option_asian_schema,
                                              &option_lookback_schema};
  double known[] = {0, 0.33078, 0.31527};
  for (int k = 0; k < 4; k++) {
    const double v = 0.2 * sqrt(dates[k]);
    known[0] -= density(0.03 * dates[k] / v + v / 2) / (100 * v);
  }
  for (int i = 0; i < 3; i++) {
    pricing d;
    pricing_make(&d, SIM_DOUBLE, 0.2, 0.03, 1, 1);
    want_gammas(&d);
    d.p.sampling.paths = i == 0 ? 0x1p21 : 0x1p19;
    option_payoff *o = pricing_add(&d, schemas[i], 100, OPTION_CALL);
    o->dates = (sim_doubles){dates, i == 0 ? 4 : 2, 1};
    if (i == 0) {
      o->shares = 1;
      o->gearing = 2;
      pricing_run(&d);
      near("accumulator", pricing_greek(&d, "gamma"), known[i], 0);
    } else {
      pricing_run(&d);
      near_bend(i == 1 ? "asian" : "lookback", &d, "gamma", known[i]);
    }
    pricing_free(&d);
  }
}

/* The highest of fixings tomorrow and at 1: max(s, 100) - 100 and a call at max(s, 100), s the first price, by
 * quadrature. The highest price itself deviates by 20 times what the first fixing does, whose kink is most of gamma. */
static void test_first_extreme(void **state) {
  (void)state;
  static double dates[] = {1. / 365, 1};
  pricing d;
  pricing_make(&d, SIM_DOUBLE, 0.2, 0.03, 1, 1);
  want_gammas(&d);
  pricing_add(&d, &option_lookback_schema, 100, OPTION_CALL)->dates = (sim_doubles){dates, 2, 1};
  pricing_run(&d);
  near_bend("lookback", &d, "gamma", 0.187216);
  pricing_free(&d);
}

/* Down-and-out calls at 110, r = 0, watched continuously from or to tomorrow, or all the time from a spot near the
 * level: quadrature over the price at the window's end of the closed formula (of images, v(S) - S/H v(H^2/S)). */
static void test_windows(void **state) {
  (void)state;
  static const struct {
    double from, to, level, delta, gamma;
  } cases[] = {{1. / 365, 1, 100, 0.3331790, 0.2530674}, {2. / 365, 1, 101, 0.1765201, 0.1507393},
               {0, 1. / 365, 99, 2.2527342, -1.732508},  {0, 1. / 365, 99.5, 3.146772, -1.273111},
               {0, 1, 99.5, 0.6467002, 0.00046139},      {0, 1, 98.5, 0.6139063, 0.00148764}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (int sampling = 0; sampling < 3; sampling++) {
      pricing d;
      pricing_make(&d, sampling == 2 ? SIM_MIXED : SIM_DOUBLE, 0.2, 0, 1, 1);
      d.p.sampling.paths = 0x1p18;
      d.p.sampling.antithetic = sampling == 1;
      d.p.greeks.want[OPTION_DELTA] = d.p.greeks.want[OPTION_GAMMA] = true;
      option_payoff *o = pricing_add(&d, &option_barrier_schema, 110, OPTION_CALL);
      o->monitoring = OPTION_CONTINUOUS;
      o->level = cases[i].level;
      o->from = cases[i].from;
      o->to = cases[i].to;
      pricing_run(&d);
      near("delta", pricing_greek(&d, "delta"), cases[i].delta, 0);
      near("gamma", pricing_greek(&d, "gamma"), cases[i].gamma, 0);
      pricing_free(&d);
    }
}

/* Payoffs with dates far away, alone or beside others with a date tomorrow: errors[2 payoffs][delta, gamma]. */
static void far_errors(bool beside, double errors[2][2]) {
  static double far[] = {0.25, 0.5, 0.75, 1}, near_dates[] = {1. / 365, 0.5};
  pricing d;
  pricing_make(&d, SIM_DOUBLE, 0.2, 0.03, 1, 1);
  d.p.sampling.paths = 0x1p17;
  d.p.greeks.want[OPTION_DELTA] = d.p.greeks.want[OPTION_GAMMA] = true;
  for (int k = 0; k < (beside ? 4 : 2); k++) {
    option_payoff *o = pricing_add(&d, k % 2 == 0 ? &option_accumulator_schema : &option_american_schema, 100,
                                   k % 2 == 0 ? OPTION_CALL : OPTION_PUT);
    o->dates = k < 2 ? (sim_doubles){far, 4, 1} : (sim_doubles){near_dates, 2, 1};
    o->shares = 1;
    o->gearing = 2;
    o->level = k == 0 ? 115 : 0;
  }
  pricing_run(&d);
  assert_int_equal(d.p.cramped, 0);
  for (int k = 0; k < 2; k++)
    for (int greek = 0; greek < 2; greek++) errors[k][greek] = pricing_greek_of(&d, k, greek).error;
  pricing_free(&d);
}

/* A date tomorrow of one payoff leaves the steps of others, and so their errors, as they were: within 10 %, where steps
 * a tenth as long would give 3 and 30 times the errors. Deviations of 2^17 samples are known to 1 or 2 %. */
static void test_sets(void **state) {
  (void)state;
  double alone[2][2], beside[2][2];
  far_errors(false, alone);
  far_errors(true, beside);
  for (int i = 0; i < 4; i++) {
    print_message("    errors %.4g alone, %.4g beside a near date\n", alone[i / 2][i % 2], beside[i / 2][i % 2]);
    assert_true(beside[i / 2][i % 2] < 1.1 * alone[i / 2][i % 2]);
    assert_true(beside[i / 2][i % 2] > 0.9 * alone[i / 2][i % 2]);
  }
}

/* Deltas and gammas of 12 assets by prices take 48 markets a set at least, antithetic twice as many: two sets do not
 * fit into 128, and the payoff that shortens the steps is named. */
static void test_cramped(void **state) {
  (void)state;
  pricing d;
  sim_bytes remark = {0};
  pricing_make(&d, SIM_DOUBLE, 0.2, 0.03, 1, 1);
  for (int a = 1; a < 12; a++) pricing_add_asset(&d, 100, 0.2);
  d.p.sampling.paths = 0x1p14;
  d.p.sampling.antithetic = true;
  d.p.greeks.want[OPTION_DELTA] = d.p.greeks.want[OPTION_GAMMA] = true;
  d.p.greeks.method = OPTION_BUMP;
  pricing_add(&d, &option_worst_of_schema, 90, OPTION_CALL);
  pricing_add(&d, &option_best_of_schema, 100, OPTION_CALL)->maturity = 1. / 365;
  pricing_run(&d);
  assert_int_equal(d.p.cramped, 2);
  option_remark(d.self, &d.clock, &remark);
  sim_bytes_add(&remark, "", 1);
  print_message("    %s\n", remark.data);
  assert_true(strstr(remark.data, "what payoffs[2] compares deviates by so little") != NULL);
  sim_bytes_free(&remark);
  pricing_free(&d);
}

/* The delta of a call out of the money by prices is off by 2e-4 of it, 4e-5 of the slope, which Sobol's points see. */
static void test_small_delta(void **state) {
  (void)state;
  const double v = 0.2 / sqrt(52);
  pricing d;
  pricing_make(&d, SIM_DOUBLE, 0.2, 0, 1. / 52, 1);
  d.p.sampling.paths = 0x1p18;
  d.p.sampling.sequence = OPTION_SOBOL, d.p.sampling.scrambles = 32;
  d.p.greeks.want[OPTION_DELTA] = true;
  d.p.greeks.method = OPTION_BUMP;
  pricing_add(&d, &option_european_schema, 103, OPTION_CALL);
  pricing_run(&d);
  near("small delta", pricing_greek(&d, "delta"), erfc((log(1.03) / v - v / 2) / sqrt(2)) / 2, 0);
  assert_true(pricing_greek(&d, "delta").error < 1e-4);
  pricing_free(&d);
}

/* A level of ten times the spot, out of reach of every path, adds nothing to the errors of an accumulator's Greeks. */
static void test_out_of_reach(void **state) {
  (void)state;
  static double date = 1. / 8760;
  double error[2];
  for (int i = 0; i < 2; i++) {
    const double v = 0.2 * sqrt(date);
    pricing d;
    pricing_make(&d, SIM_DOUBLE, 0.2, 0, 1, 1);
    d.p.sampling.paths = 0x1p16;
    d.p.greeks.want[OPTION_DELTA] = d.p.greeks.want[OPTION_GAMMA] = true;
    option_payoff *o = pricing_add(&d, &option_accumulator_schema, 100, OPTION_CALL);
    o->dates = (sim_doubles){&date, 1, 1};
    o->shares = 1;
    o->gearing = 2;
    o->level = i == 0 ? 0 : 1000;
    pricing_run(&d);
    near("delta", pricing_greek(&d, "delta"), 1 + erfc(v / 2 / sqrt(2)) / 2, 0);
    near("gamma", pricing_greek(&d, "gamma"), -density(v / 2) / (100 * v), 0);
    error[i] = pricing_greek(&d, "delta").error;
    pricing_free(&d);
  }
  assert_true(error[0] == error[1]);
}

/* Fixings at the strike, certain until 0.2: nothing smooths the kink. At another strike it is not met. */
static void test_certain_fixing(void **state) {
  (void)state;
  static double dates[] = {0.1, 1};
  static const sim_curve_point jump[] = {{0, 0}, {0.2, 0.3}};
  for (int i = 0; i < 3; i++) {
    pricing d;
    pricing_make(&d, SIM_DOUBLE, 0.2, 0, 1, 1);
    sim_expr_free(&d.assets[0].vol);
    d.assets[0].vol = pricing_curve(jump, 2, true);
    want_gammas(&d);
    option_payoff *o =
        pricing_add(&d, i < 2 ? &option_accumulator_schema : &option_lookback_schema, i % 2 ? 80 : 100, OPTION_CALL);
    o->dates = (sim_doubles){dates, 2, 1};
    if (i < 2) o->shares = 1, o->gearing = 2;
    pricing_run(&d);
    assert_true(isnan(pricing_greek(&d, "gamma").error) == (i % 2 == 0));
    pricing_free(&d);
  }
}

/* The sum of squares of (estimate - mean over the seeds)/error of every quantity. The mean of 200 such squares of a
 * normal law has a deviation of 0.1; of the differences of payoffs that jump, few paths carry the spread, and their
 * laws have tails: 1.4 is four deviations of the former. Floors of errors make some of the latter too small. */
static void test_coverage(void **state) {
  (void)state;
  static double value[SEEDS][MOST], error[SEEDS][MOST];
  option_quantity quantity[MOST];
  int quantities = 0;
  double worst = 0;
  for (int i = 0; i < SEEDS; i++) {
    pricing d;
    make_book(&d, (uint64_t)i + 1);
    pricing_run(&d);
    const option_run *run = d.self;
    quantities = option_quantities(&d.p, quantity);
    assert_true(quantities <= MOST);
    for (int q = 0; q < quantities; q++) {
      value[i][q] = option_mean(run, q);
      error[i][q] = option_error(run, option_samples(run, d.clock.t), q);
    }
    pricing_free(&d);
  }
  for (int q = 0; q < quantities; q++) {
    double mean = 0, sum = 0;
    int known = 0;
    for (int i = 0; i < SEEDS; i++) mean += value[i][q] / SEEDS;
    for (int i = 0; i < SEEDS; i++)
      if (error[i][q] > 0 && ++known > 0) sum += pow((value[i][q] - mean) / error[i][q], 2);
    const char *name = quantity[q].greek < 0 ? "price" : option_greek_names[quantity[q].greek];
    const double rms = sqrt(sum / (known - 1));
    print_message("    payoff %d, %s %d: RMS %.3f of %d\n", quantity[q].payoff, name, quantity[q].asset + 1, rms,
                  known);
    worst = fmax(worst, sum / (known - 1));
    if (!(sum / (known - 1) < 1.4)) fail_msg("payoff %d, %s: RMS %.3f", quantity[q].payoff, name, rms);
  }
  print_message("    worst mean square %.3f\n", worst);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_call),
                                     cmocka_unit_test(test_exchange),
                                     cmocka_unit_test(test_digital),
                                     cmocka_unit_test(test_many),
                                     cmocka_unit_test(test_near_correlation),
                                     cmocka_unit_test(test_differences),
                                     cmocka_unit_test(test_kinks),
                                     cmocka_unit_test(test_composite),
                                     cmocka_unit_test(test_first_fixings),
                                     cmocka_unit_test(test_first_extreme),
                                     cmocka_unit_test(test_windows),
                                     cmocka_unit_test(test_sets),
                                     cmocka_unit_test(test_cramped),
                                     cmocka_unit_test(test_out_of_reach),
                                     cmocka_unit_test(test_small_delta),
                                     cmocka_unit_test(test_certain_fixing)};
  const struct CMUnitTest coverage[] = {cmocka_unit_test(test_coverage)};
  if (argc > 1 && strcmp(argv[1], "long") == 0) return cmocka_run_group_tests(coverage, NULL, NULL);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
