/* Dates of observation, exercise and payment that are not steps, and cash dividends, against known values. S = K = 100,
 * r = 5 %, a dividend rate of 2 %, a volatility of 25 % unless said otherwise. An estimate is accepted within 4 of its
 * standard errors; seeds are fixed. */
#include "tests/option/option_driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const double R = 0.05, Q = 0.02, VOL = 0.25;

static void near_but(const char *what, estimate got, double expected, double bias) {
  const double off = got.value - expected;
  print_message("    %-34s %.6f +- %.6f, known %.6f\n", what, got.value, got.error, expected);
  assert_true(got.error > 0);
  if (!(fabs(off) <= 4 * got.error + bias))
    fail_msg("%s: %.9g +- %.3g is not %.9g", what, got.value, got.error, expected);
}
static void near(const char *what, estimate got, double expected) { near_but(what, got, expected, 0); }

static void set_dates(option_payoff *o, const double *dates, size_t count) {
  o->dates = (sim_doubles){(double *)(uintptr_t)dates, count, 1};
}

/* Sets these rates, and dividends. */
static void make(pricing *d, sim_precision precision, double maturity, int steps) {
  pricing_make(d, precision, VOL, R, maturity, steps);
  sim_expr_free(&d->assets[0].dividend);
  d->assets[0].dividend = pricing_constant(Q);
}

static double below(double x) { return erfc(-x / sqrt(2)) / 2; }

/* Black and Scholes. */
static double black(double spot, double strike, double vol, double rate, double maturity, double sign) {
  const double forward = spot * exp((rate - Q) * maturity), s = vol * sqrt(maturity),
               d = log(forward / strike) / s + s / 2;
  return exp(-rate * maturity) * sign * (forward * below(sign * d) - strike * below(sign * (d - s)));
}

/* A call on the geometric mean at `dates`, paid at `maturity`: the mean is lognormal. */
static double geometric(const double *dates, int count, double maturity, double vol) {
  double mean = log(100), variance = 0;
  for (int i = 0; i < count; i++) {
    mean += (R - Q - vol * vol / 2) * dates[i] / count;
    for (int j = 0; j < count; j++) variance += vol * vol * fmin(dates[i], dates[j]) / count / count;
  }
  const double s = sqrt(variance), d = (mean - log(100)) / s;
  return exp(-R * maturity) * (exp(mean + variance / 2) * below(d + s) - 100 * below(d));
}

/* Payoffs with dates and maturities of their own on the same paths, one pass. Values by quadrature over the dates, with
 * 16001 points in the logarithm and 6001 a step; QuantLib 1.44 has 8.43229 for the
 * Bermudan put on the days 37, 128, 292 and 365. The rule of exercise is not the best one: up to 0.5 % below. */
static void test_known_values(void **state) {
  (void)state;
  static const double three[] = {0.1, 0.35, 0.8}, four[] = {0.1, 0.35, 0.8, 1}, two[] = {0.35, 0.8}, one[] = {0.3};
  for (int i = 0; i < 2; i++) {
    pricing d;
    make(&d, i ? SIM_DOUBLE : SIM_MIXED, 1, 0);
    d.p.sampling.paths = 0x1p18;
    d.p.sampling.antithetic = i;
    pricing_add(&d, &option_european_schema, 100, OPTION_CALL);
    pricing_add(&d, &option_european_schema, 95, OPTION_PUT)->maturity = 0.5;
    option_payoff *o = pricing_add(&d, &option_barrier_schema, 100, OPTION_CALL);
    o->level = 90;
    set_dates(o, three, 3);
    set_dates(pricing_add(&d, &option_american_schema, 100, OPTION_PUT), four, 4);
    o = pricing_add(&d, &option_autocallable_schema, 0, OPTION_CALL);
    o->level = 105, o->coupon = 0.04, o->protection = 80, o->cash = 100;
    set_dates(o, two, 2);
    o = pricing_add(&d, &option_asian_schema, 100, OPTION_CALL);
    o->average = OPTION_GEOMETRIC_AVERAGE, o->maturity = 0.9;
    set_dates(o, three, 3);
    o = pricing_add(&d, &option_forward_start_schema, 0, OPTION_CALL);
    o->start_time = 0.3, o->moneyness = 1.05, o->maturity = 0.75;
    o = pricing_add(&d, &option_lookback_schema, NAN, OPTION_CALL); /* of one date: starts there */
    set_dates(o, one, 1);
    o = pricing_add(&d, &option_digital_schema, 100, OPTION_CALL);
    o->maturity = 0.25;
    pricing_run(&d);
    near("call", pricing_price(&d, 0), black(100, 100, VOL, R, 1, 1));
    near("put until 0.5", pricing_price(&d, 1), black(100, 95, VOL, R, 0.5, -1));
    near("barrier on three dates", pricing_price(&d, 2), 10.249366);
    near_but("Bermudan put", pricing_price(&d, 3), 8.432120, 0.005 * 8.43);
    near("autocallable", pricing_price(&d, 4), 94.123266);
    near("geometric mean, paid later", pricing_price(&d, 5), geometric(three, 3, 0.9, VOL));
    near("forward start", pricing_price(&d, 6), exp(-Q * 0.3) * black(100, 105, VOL, R, 0.45, 1));
    near("lookback of one date", pricing_price(&d, 7), exp(-Q * 0.3) * black(100, 100, VOL, R, 0.7, 1));
    const double s = VOL * sqrt(0.25);
    near("digital until 0.25", pricing_price(&d, 8), exp(-R * 0.25) * below((R - Q) * 0.25 / s - s / 2));
    pricing_free(&d);
  }
}

/* A payoff with its own maturity is worth the price of a run to that maturity, on the same random numbers: the same
 * except for rounding (2^-40 of 12 steps). Dates at the steps' ends change nothing. */
static void test_own_run(void **state) {
  (void)state;
  static const double ends[] = {1. / 12, 2. / 12, 3. / 12, 4. / 12, 5. / 12, 6. / 12};
  estimate book[6], own[6];
  for (int run = 0; run < 2; run++) {
    pricing d;
    make(&d, SIM_DOUBLE, run ? 0.5 : 1, run ? 6 : 12);
    d.p.sampling.paths = 0x1p16;
    const sim_schema *const schemas[] = {&option_european_schema, &option_asian_schema,   &option_lookback_schema,
                                         &option_american_schema, &option_barrier_schema, &option_asian_schema};
    for (int k = 0; k < 6; k++) {
      option_payoff *o = pricing_add(&d, schemas[k], 100, OPTION_PUT);
      o->level = k == 4 ? 80 : 0;
      if (run == 0) o->maturity = 0.5;
      if (run == 0 && k > 2) set_dates(o, ends, 6);
    }
    pricing_run(&d);
    for (int k = 0; k < 6; k++) (run ? own : book)[k] = pricing_price(&d, k);
    pricing_free(&d);
  }
  for (int k = 0; k < 6; k++) {
    print_message("    payoff %d: %.15g in a book, %.15g alone\n", k, book[k].value, own[k].value);
    assert_true(fabs(book[k].value - own[k].value) <= 0x1p-40 * own[k].value);
    assert_true(fabs(book[k].error - own[k].error) <= 1e-9 * own[k].error);
  }
}

/* Greeks of a call until 0.5 in a run until 1, by differences of the formula (exact to 1e-6 of each), by every
 * method. Bumps are 1e-3, and of gamma 1e-2: 1e-4 of a second derivative. */
static void test_greeks(void **state) {
  (void)state;
  const double T = 0.5, h = 1e-4, price = black(100, 100, VOL, R, T, 1);
  const double known[OPTION_SECOND] = {
      (black(100 + h, 100, VOL, R, T, 1) - black(100 - h, 100, VOL, R, T, 1)) / (2 * h),
      (black(100.1, 100, VOL, R, T, 1) - 2 * price + black(99.9, 100, VOL, R, T, 1)) / 0.01,
      (black(100, 100, VOL + h, R, T, 1) - black(100, 100, VOL - h, R, T, 1)) / (2 * h),
      (black(100, 100, VOL, R + h, T, 1) - black(100, 100, VOL, R - h, T, 1)) / (2 * h),
      -(black(100, 100, VOL, R, T + h, 1) - black(100, 100, VOL, R, T - h, 1)) / (2 * h)};
  for (int method = OPTION_AUTO; method <= OPTION_BUMP; method++) {
    pricing d;
    make(&d, SIM_DOUBLE, 1, 4);
    d.p.sampling.paths = 0x1p17;
    d.p.greeks = (option_greeks){.want = {true, true, true, true, true}, .method = method};
    if (method == OPTION_AUTO) d.p.sampling.control = OPTION_CONTROL_UNDERLYING;
    pricing_add(&d, &option_european_schema, 100, OPTION_CALL)->maturity = T;
    pricing_add(&d, &option_european_schema, 100, OPTION_CALL);
    pricing_run(&d);
    for (int g = 0; g < OPTION_SECOND; g++)
      near_but(option_greek_names[g], pricing_greek(&d, option_greek_names[g]), known[g], 2e-4 * fabs(known[g]));
    pricing_free(&d);
  }
}

/* Of a geometric mean at unequal dates, paid later; theta moves dates and payment. */
static void test_greeks_of_dates(void **state) {
  (void)state;
  static const double dates[] = {0.1, 0.35, 0.8};
  const double h = 1e-4, m = 0.9;
  double later[3], sooner[3];
  for (int k = 0; k < 3; k++) later[k] = dates[k] + h, sooner[k] = dates[k] - h;
  const double price = geometric(dates, 3, m, VOL);
  const double vega = (geometric(dates, 3, m, VOL + h) - geometric(dates, 3, m, VOL - h)) / (2 * h),
               theta = -(geometric(later, 3, m + h, VOL) - geometric(sooner, 3, m - h, VOL)) / (2 * h);
  pricing d;
  make(&d, SIM_DOUBLE, 1, 0);
  d.p.sampling.paths = 0x1p17;
  d.p.greeks.want[OPTION_DELTA] = d.p.greeks.want[OPTION_VEGA] = d.p.greeks.want[OPTION_THETA] = true;
  option_payoff *o = pricing_add(&d, &option_asian_schema, 100, OPTION_CALL);
  o->average = OPTION_GEOMETRIC_AVERAGE, o->maturity = m;
  set_dates(o, dates, 3);
  pricing_run(&d);
  near("price", pricing_price(&d, 0), price);
  near_but("vega", pricing_greek(&d, "vega"), vega, 2e-4 * vega);
  near_but("theta", pricing_greek(&d, "theta"), theta, 2e-4 * fabs(theta));
  pricing_free(&d);
}

/* The control on the geometric mean of a payoff's own fixings, two of them past ones: a geometric mean is known by it
 * alone, but for rounding (2^-40 of the price), its delta too. With past fixings of 96 and 103 the strike of the other
 * three is 100^(5/3)/(96 103)^(1/3), and the mean a power 3/5 of theirs: its formula is a quadrature here. The
 * arithmetic mean has the price of a run without control, with an error less than a fifth of it. */
static void test_control(void **state) {
  (void)state;
  static const double dates[] = {0.1, 0.35, 0.8};
  static double past[] = {96, 103};
  enum { POINTS = 200000 };
  double mean = (log(96) + log(103) + 3 * log(100)) / 5, variance = 0, known = 0;
  for (int i = 0; i < 3; i++) {
    mean += (R - Q - VOL * VOL / 2) * dates[i] / 5;
    for (int j = 0; j < 3; j++) variance += VOL * VOL * fmin(dates[i], dates[j]) / 25;
  }
  for (int i = 0; i < POINTS; i++) { /* the midpoint rule, off by 1e-9 at the kink */
    const double z = -10 + 20 * (i + 0.5) / POINTS;
    known +=
        exp(-R * 0.9 - z * z / 2) / sqrt(2 * acos(-1)) * 20 / POINTS * fmax(exp(mean + z * sqrt(variance)) - 100, 0);
  }
  estimate price[2][2];
  for (int k = 0; k < 2; k++) {
    pricing d;
    make(&d, SIM_DOUBLE, 1, 0);
    d.p.sampling.paths = 0x1p18;
    d.p.sampling.control = k ? OPTION_CONTROL_GEOMETRIC : OPTION_NO_CONTROL;
    d.p.greeks.want[OPTION_DELTA] = true;
    for (int arithmetic = 0; arithmetic < 2; arithmetic++) {
      option_payoff *o = pricing_add(&d, &option_asian_schema, 100, OPTION_CALL);
      o->average = arithmetic ? OPTION_ARITHMETIC : OPTION_GEOMETRIC_AVERAGE, o->maturity = 0.9;
      o->past = (sim_doubles){past, 2, 1};
      set_dates(o, dates, 3);
    }
    pricing_run(&d);
    for (int i = 0; i < 2; i++) price[k][i] = pricing_price(&d, i);
    if (k) assert_true(pricing_greek_of(&d, 0, OPTION_DELTA).error < 1e-8);
    pricing_free(&d);
  }
  print_message("    geometric %.9f +- %.1e, known %.9f; arithmetic %.4f +- %.4f, %.5f +- %.5f\n", price[1][0].value,
                price[1][0].error, known, price[0][1].value, price[0][1].error, price[1][1].value, price[1][1].error);
  assert_true(price[1][0].error < 1e-8 && fabs(price[1][0].value - known) < 1e-7);
  assert_true(price[1][1].error < price[0][1].error / 5);
  assert_true(fabs(price[1][1].value - price[0][1].value) < 4 * price[0][1].error);
}

/* Theta of Heston's model with a nearly constant variance is that of Black and Scholes, except for 1e-3 of it (sigma).
 * Steps of one length become steps of two lengths where the dates move nearer. */
static void test_theta_of_heston(void **state) {
  (void)state;
  const double h = 1e-4;
  pricing d;
  make(&d, SIM_DOUBLE, 1, 8);
  pricing_set_motion(&d, 0);
  d.assets[0].heston = pricing_heston(VOL * VOL, 1, VOL * VOL, 1e-3, 0);
  d.p.sampling.paths = 0x1p15;
  d.p.sampling.antithetic = true;
  d.p.greeks.want[OPTION_THETA] = true;
  pricing_add(&d, &option_european_schema, 100, OPTION_CALL);
  option_payoff *o = pricing_add(&d, &option_forward_start_schema, 0, OPTION_CALL);
  o->moneyness = 1, o->start_time = 0.5;
  pricing_run(&d);
  const double theta = -(black(100, 100, VOL, R, 1 + h, 1) - black(100, 100, VOL, R, 1 - h, 1)) / (2 * h);
  near_but("theta of Heston with dates", pricing_greek(&d, "theta"), theta, 1e-3 * fabs(theta));
  pricing_free(&d);
}

/* Twelve fixings on the days of months, with steps of at most 1/100 year between them: QuantLib 1.44's
 * AnalyticDiscreteGeometricAveragePriceAsianHestonEngine and AnalyticHestonEngine. */
static void test_heston(void **state) {
  (void)state;
  static const double day[] = {30, 61, 91, 122, 152, 182, 213, 243, 274, 304, 335, 365};
  double dates[12];
  for (int k = 0; k < 12; k++) dates[k] = day[k] / 365;
  pricing d;
  pricing_make(&d, SIM_MIXED, 0.2, 0.03, 1, 100);
  pricing_set_motion(&d, 0);
  d.assets[0].heston = pricing_heston(0.04, 1.5, 0.06, 0.6, -0.7);
  d.p.sampling.paths = 0x1p16;
  d.p.sampling.antithetic = true;
  option_payoff *o = pricing_add(&d, &option_asian_schema, 100, OPTION_CALL);
  o->average = OPTION_GEOMETRIC_AVERAGE;
  set_dates(o, dates, 12);
  pricing_add(&d, &option_european_schema, 100, OPTION_CALL)->maturity = dates[5];
  pricing_add(&d, &option_european_schema, 100, OPTION_CALL);
  pricing_run(&d);
  assert_int_equal(d.p.nodes, 5 * 10 + 7 * 9 - 5); /* months of 31 days have 9 steps, and of 30 days 9 */
  near("geometric mean", pricing_price(&d, 0), 5.485912);
  near("call until day 182", pricing_price(&d, 1), 6.281732);
  near("call", pricing_price(&d, 2), 9.508931);
  pricing_free(&d);
}

/* Cash dividends of 3 and 4 after 91 and 274 days; by quadrature over both dates, and QuantLib's
 * FdBlackScholesVanillaEngine (the price falls by the amount): 7.82856, 11.68380, and 8.60099 for the American call,
 * which is taken just before a dividend or at the end. */
static void test_dividends(void **state) {
  (void)state;
  double cash[4] = {91. / 365, 3, 274. / 365, 4};
  static const double before[] = {90.9 / 365, 273.9 / 365, 1};
  for (int i = 0; i < 2; i++) {
    pricing d;
    make(&d, i ? SIM_DOUBLE : SIM_MIXED, 1, 0);
    d.assets[0].dividends = (sim_doubles){cash, 2, 2};
    d.p.sampling.paths = 0x1p17;
    d.p.greeks.want[OPTION_DELTA] = d.p.greeks.want[OPTION_GAMMA] = true;
    pricing_add(&d, &option_european_schema, 100, OPTION_CALL);
    pricing_add(&d, &option_european_schema, 100, OPTION_PUT);
    set_dates(pricing_add(&d, &option_american_schema, 100, OPTION_CALL), before, 3);
    pricing_run(&d);
    near("call", pricing_price(&d, 0), 7.828688);
    near("put", pricing_price(&d, 1), 11.683857);
    near_but("American call", pricing_price(&d, 2), 8.60099, 0.005 * 8.6);
    near_but("delta", pricing_greek(&d, "delta"), 0.476061, 1e-4);
    near_but("gamma", pricing_greek(&d, "gamma"), 0.016139, 1e-5);
    pricing_free(&d);
  }
}

/* The same and a Bermudan put on the quarters under Heston's model: QuantLib 1.44's FdHestonVanillaEngine on 600 x 400
 * x 120 points. The rule of exercise does not see the variance, and is up to 0.5 % below. */
static void test_heston_dividends(void **state) {
  (void)state;
  double cash[4] = {146. / 365, 1.5, 329. / 365, 1.5};
  static const double quarters[] = {91. / 365, 182. / 365, 274. / 365, 1};
  pricing d;
  pricing_make(&d, SIM_MIXED, 0.2, 0.03, 1, 100);
  pricing_set_motion(&d, 0);
  d.assets[0].heston = pricing_heston(0.04, 1.5, 0.06, 0.6, -0.7);
  d.assets[0].dividends = (sim_doubles){cash, 2, 2};
  d.p.sampling.paths = 0x1p16;
  d.p.sampling.antithetic = true;
  d.p.greeks.want[OPTION_DELTA] = true;
  pricing_add(&d, &option_european_schema, 100, OPTION_CALL)->maturity = quarters[1];
  pricing_add(&d, &option_european_schema, 100, OPTION_CALL);
  set_dates(pricing_add(&d, &option_american_schema, 100, OPTION_PUT), quarters, 4);
  pricing_run(&d);
  near("call until day 182", pricing_price(&d, 0), 5.377442);
  near("call", pricing_price(&d, 1), 7.673387);
  near_but("Bermudan put", pricing_price(&d, 2), 7.659269, 0.005 * 7.66);
  near("delta", pricing_greek(&d, "delta"), 0.631956);
  pricing_free(&d);
}

/* Contracts that have begun. An arithmetic mean with past fixings is a share of another one with another strike, on the
 * same paths; a geometric one is lognormal; a lookback of one date and an extreme are calls; a note that is never
 * called pays in proportion to its issue price. */
static void test_seasoned(void **state) {
  (void)state;
  static const double dates[] = {0.25, 0.75}, one[] = {0.5};
  static double past[] = {104, 98, 101}, known[] = {110};
  pricing d;
  make(&d, SIM_DOUBLE, 1, 0);
  d.p.sampling.paths = 0x1p17;
  d.p.greeks.want[OPTION_DELTA] = true;
  option_payoff *o = pricing_add(&d, &option_asian_schema, 100, OPTION_CALL);
  o->past = (sim_doubles){past, 3, 1};
  set_dates(o, dates, 2);
  set_dates(pricing_add(&d, &option_asian_schema, (500 - 303) / 2., OPTION_CALL), dates, 2);
  o = pricing_add(&d, &option_asian_schema, 100, OPTION_CALL);
  o->average = OPTION_GEOMETRIC_AVERAGE;
  o->past = (sim_doubles){known, 1, 1};
  set_dates(o, one, 1);
  o = pricing_add(&d, &option_lookback_schema, 95, OPTION_CALL);
  o->extreme = 105;
  set_dates(o, one, 1);
  o = pricing_add(&d, &option_lookback_schema, NAN, OPTION_PUT); /* the highest price is 300, and stays so */
  o->extreme = 300;
  set_dates(o, one, 1);
  o = pricing_add(&d, &option_autocallable_schema, 0, OPTION_CALL);
  o->level = 1e6, o->protection = 1e5, o->cash = 100, o->initial = 125;
  set_dates(o, one, 1);
  o = pricing_add(&d, &option_autocallable_schema, 0, OPTION_CALL);
  o->level = 1e-6, o->coupon = 0.05, o->passed = 2, o->cash = 100; /* called at once: certain */
  set_dates(o, one, 1);
  pricing_run(&d);
  const estimate mean = pricing_price(&d, 0), other = pricing_price(&d, 1);
  assert_true(fabs(mean.value - 0.4 * other.value) <= 0x1p-40 * mean.value);
  /* sqrt(110 S) until 0.5, paid at 1 */
  const double s = VOL * sqrt(0.5) / 2, m = (log(110) + log(100) + (R - Q - VOL * VOL / 2) * 0.5) / 2;
  const double above = (m - log(100)) / s;
  near("geometric mean with a past", pricing_price(&d, 2),
       exp(-R) * (exp(m + s * s / 2) * below(above + s) - 100 * below(above)));
  near("highest price so far", pricing_price(&d, 3), 10 * exp(-R) + exp(-R * 0.5) * black(100, 105, VOL, R, 0.5, 1));
  near("highest price so far, floating", pricing_price(&d, 4), 300 * exp(-R) - 100 * exp(-Q));
  near("issue price", pricing_price(&d, 5), 80 * exp(-Q));
  assert_true(fabs(pricing_price(&d, 6).value - 115 * exp(-R * 0.5)) < 1e-9);
  const estimate delta = pricing_greek(&d, "delta");
  pricing_free(&d);
  /* The same share of the delta of the other option, from its own run. */
  make(&d, SIM_DOUBLE, 1, 0);
  d.p.sampling.paths = 0x1p17;
  d.p.greeks.want[OPTION_DELTA] = true;
  set_dates(pricing_add(&d, &option_asian_schema, (500 - 303) / 2., OPTION_CALL), dates, 2);
  pricing_add(&d, &option_european_schema, 100, OPTION_CALL)->maturity = 0.5;
  pricing_run(&d);
  const estimate of_other = pricing_greek(&d, "delta");
  assert_true(fabs(delta.value - 0.4 * of_other.value) <= 0x1p-40);
  pricing_free(&d);
}

/* Notes that are called at their first date for sure are bonds until then, not until their maturity: rho is -t and
 * theta the rate of the price. Differences of exp(-r t) by 1e-3 miss rho by the third derivative, 1e-7 of it. */
static void test_called_note(void **state) {
  static const double dates[] = {0.5, 1, 2};
  (void)state;
  for (int i = 0; i < 3; i++) {
    pricing d;
    make(&d, i == 1 ? SIM_MIXED : SIM_DOUBLE, 3, 0);
    d.p.sampling.paths = 0x1p12;
    d.p.greeks.want[OPTION_RHO] = d.p.greeks.want[OPTION_THETA] = true;
    if (i == 2) d.p.hull_white = (option_hull_white){true, 0.1, 1e-9, {NULL, 0, 0}};
    option_payoff *o = pricing_add(&d, &option_autocallable_schema, 0, OPTION_CALL);
    o->level = 1e-6, o->coupon = 0.05, o->cash = 100, o->protection = 1e-9;
    set_dates(o, dates, 3);
    pricing_run(&d);
    const double price = 105 * exp(-R * 0.5), share = i == 1 ? 1e-3 : 1e-6;
    const estimate rho = pricing_greek(&d, "rho"), theta = pricing_greek(&d, "theta");
    print_message("    rho %.9g, theta %.9g of a bond of %.9g\n", rho.value, theta.value, price);
    assert_true(fabs(rho.value + 0.5 * price) < share * price);
    assert_true(fabs(theta.value - R * price) < share * price);
    pricing_free(&d);
  }
}

/* A barrier that is watched for a part of the time (Heynen and Kat 1994): QuantLib 1.44's
 * AnalyticPartialTimeBarrierOptionEngine. A strike of 85, a level of 90; bridges are exact. */
static void test_window(void **state) {
  (void)state;
  for (int i = 0; i < 2; i++) {
    pricing d;
    make(&d, i ? SIM_DOUBLE : SIM_MIXED, 1, 0);
    d.p.sampling.paths = 0x1p17;
    option_payoff *o = pricing_add(&d, &option_barrier_schema, 85, OPTION_CALL);
    o->level = 90, o->monitoring = OPTION_CONTINUOUS, o->to = 0.4;
    o = pricing_add(&d, &option_barrier_schema, 85, OPTION_CALL);
    o->level = 90, o->monitoring = OPTION_CONTINUOUS, o->from = 0.4;
    pricing_run(&d);
    near("watched until 0.4", pricing_price(&d, 0), 14.078583);
    near("watched from 0.4 on", pricing_price(&d, 1), 15.553610);
    pricing_free(&d);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_known_values),    cmocka_unit_test(test_own_run),          cmocka_unit_test(test_greeks),
      cmocka_unit_test(test_greeks_of_dates), cmocka_unit_test(test_theta_of_heston),  cmocka_unit_test(test_heston),
      cmocka_unit_test(test_dividends),       cmocka_unit_test(test_heston_dividends), cmocka_unit_test(test_seasoned),
      cmocka_unit_test(test_called_note),     cmocka_unit_test(test_window),           cmocka_unit_test(test_control)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
