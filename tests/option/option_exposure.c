/* Exposures beside closed forms and the values of exposure.py. S = 100, rate 0.05, volatility 0.2 unless said
 * otherwise. */
#include "kernels/option/run.h"
#include "tests/option/option_driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static double dates_[OPTION_EXPOSURES_MAX], quantities_[24];

/* One asset, one year; exposures at `count` dates. */
static void make(pricing *d, int steps, int count, const double *dates) {
  pricing_make(d, SIM_DOUBLE, 0.2, 0.05, 1, steps);
  d->p.sampling.paths = 0x1p12;
  memcpy(dates_, dates, (size_t)count * sizeof *dates);
  d->p.exposure = (option_exposure){.given = true,
                                    .dates = {.data = dates_, .rows = (size_t)count, .cols = 1},
                                    .quantile = 0.95,
                                    .paths = 0x1p17,
                                    .fit_paths = 0x1p16,
                                    .recovery = 0.4,
                                    .own_recovery = 0.4};
}

static void set_quantities(pricing *d, const double *quantities) {
  memcpy(quantities_, quantities, d->p.payoffs.count * sizeof *quantities);
  d->p.exposure.quantities = (sim_doubles){.data = quantities_, .rows = d->p.payoffs.count, .cols = 1};
}

static const option_exposures *exposures(const pricing *d) { return ((const option_run *)d->self)->exposure; }
static const option_exposure_row *row(const pricing *d, int date) { return &exposures(d)->row[date]; }

static void finish(pricing *d) {
  sim_expr_free(&d->p.exposure.hazard);
  sim_expr_free(&d->p.exposure.own_hazard);
  pricing_free(d);
}

/* Within 4 errors of both. */
static void near(const char *what, double value, double error, double known, double known_error) {
  print_message("    %-24s %.4f +- %.4f, known %.4f +- %.4f\n", what, value, error, known, known_error);
  assert_true(error > 0);
  assert_true(fabs(value - known) < 4 * hypot(error, known_error));
}

static void expect(const char *what, const option_exposure_row *r, const double known[3], const double errors[3]) {
  print_message("  %s\n", what);
  near("EPE", r->epe, r->epe_error, known[0], errors[0]);
  near("ENE", r->ene, r->ene_error, known[1], errors[1]);
  near("PFE", r->pfe, r->pfe_error, known[2], errors[2]);
}

static const double none[3] = {0, 0, 0};

static double normal(double x) { return 0.5 * erfc(-x / sqrt(2)); }

/* Black's formula; sign 1 of a call, -1 of a put. */
static double black(double forward, double strike, double deviation, double sign) {
  const double d = log(forward / strike) / deviation + deviation / 2;
  return sign * (forward * normal(sign * d) - strike * normal(sign * (d - deviation)));
}

static const double upper_normal = 1.6448536269514722; /* its distribution function there is 0.95 */

/* The price at t below which 95 % of all are. */
static double high_price(double t) { return 100 * exp((0.05 - 0.02) * t + 0.2 * sqrt(t) * upper_normal); }

/* A call: the mean of its value grows at the rate, V(t, S) rises with S; the CVA is V(0) times the loss. Errors are
 * told below 1 %. */
static void test_call(void **state) {
  (void)state;
  static const double dates[] = {0.1, 0.25, 0.5, 0.75, 1};
  const double price = exp(-0.05) * black(100 * exp(0.05), 100, 0.2, 1);
  pricing d;
  make(&d, 1, 5, dates);
  pricing_add(&d, &option_european_schema, 100, OPTION_CALL);
  d.p.exposure.hazard = pricing_constant(0.02);
  pricing_create(&d, NULL);
  assert_int_equal(d.p.exposures, 6);
  for (int k = 0; k < 6; k++) {
    const double t = k == 0 ? 0 : dates[k - 1], left = 1 - t, s = high_price(t);
    const double value = left > 0 ? exp(-0.05 * left) * black(s * exp(0.05 * left), 100, 0.2 * sqrt(left), 1) : s - 100;
    assert_true(fabs(row(&d, k)->time - t) < 1e-12);
    expect("a call", row(&d, k), (const double[]){price * exp(0.05 * t), 0, k == 0 ? price : value}, none);
    assert_true(row(&d, k)->epe_error < 0.01 * price && row(&d, k)->pfe_error < 0.01 * value);
  }
  near("CVA", exposures(&d)->cva, exposures(&d)->cva_error, 0.6 * -expm1(-0.02) * price, 0);
  assert_true(isnan(exposures(&d)->dva));
  finish(&d);
}

/* A call less a put is S - 100 exp(-0.05 (1 - t)): EPE and ENE by Black's formula, CVA and DVA by quadrature (SciPy:
 * 0.6 times the integral of the discounted exposure times the density of default). */
static void test_forward(void **state) {
  (void)state;
  static const double dates[] = {0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1};
  pricing d;
  make(&d, 1, 11, dates);
  pricing_add(&d, &option_european_schema, 100, OPTION_CALL);
  pricing_add(&d, &option_european_schema, 100, OPTION_PUT);
  set_quantities(&d, (const double[]){1, -1});
  d.p.exposure.hazard = pricing_constant(0.02);
  d.p.exposure.own_hazard = pricing_constant(0.01);
  pricing_create(&d, NULL);
  for (int k = 0; k < 12; k += 3) {
    const double t = k == 0 ? 0 : dates[k - 1], strike = 100 * exp(-0.05 * (1 - t)), forward = 100 * exp(0.05 * t);
    const double known[3] = {k == 0 ? 100 - strike : black(forward, strike, 0.2 * sqrt(t), 1),
                             k == 0 ? 0 : black(forward, strike, 0.2 * sqrt(t), -1), high_price(t) - strike};
    /* the value at 0 is known but for rounding, as the hedge takes all of the spread: 1e-10 of 100 is given */
    expect("a forward", row(&d, k), known, (const double[]){1e-8, 1e-8, 1e-8});
  }
  near("CVA", exposures(&d)->cva, exposures(&d)->cva_error, 0.0956524, 0);
  near("DVA", exposures(&d)->dva, exposures(&d)->dva_error, 0.0189762, 0);
  finish(&d);
}

/* The same with no date but the maturity: a trapezoid over the whole year is 5 % too low, which its error contains. */
static void test_one_interval(void **state) {
  (void)state;
  static const double dates[] = {1};
  pricing d;
  make(&d, 1, 1, dates);
  pricing_add(&d, &option_european_schema, 100, OPTION_CALL);
  pricing_add(&d, &option_european_schema, 100, OPTION_PUT);
  set_quantities(&d, (const double[]){1, -1});
  d.p.exposure.hazard = pricing_constant(0.02);
  pricing_create(&d, NULL);
  const double off = exposures(&d)->cva - 0.0956524, error = exposures(&d)->cva_error;
  print_message("    CVA off by %.5f, error %.5f\n", off, error);
  assert_true(fabs(off) > 0.003 && fabs(off) < error && error < 0.03);
  finish(&d);
}

/* Few dates, uneven ones and high intensities: CVA of a call less a put by quadrature of its closed exposure. The
 * trapezoid is up to 12 % low here, of which the one of every second date tells 1 %. No error is above a quarter. */
static void test_few_dates(void **state) {
  (void)state;
  static const struct {
    double hazard;
    int count;
    double dates[4];
  } rows[] = {{1.3, 1, {0.7}}, {1, 1, {0.5}}, {0.1, 4, {0.55, 0.6, 0.65, 0.9}}, {0.25, 3, {0.1, 0.8, 0.85}}};
  enum { PANELS = 4000 };
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    pricing d;
    double known = 0;
    make(&d, 20, rows[k].count, rows[k].dates);
    pricing_add(&d, &option_european_schema, 105, OPTION_CALL);
    pricing_add(&d, &option_european_schema, 105, OPTION_PUT);
    set_quantities(&d, (const double[]){1, -1});
    d.p.exposure.paths = d.p.exposure.fit_paths = 0x1p15;
    d.p.exposure.hazard = pricing_constant(rows[k].hazard);
    pricing_create(&d, NULL);
    for (int i = 0; i < PANELS; i++) { /* in the root of time */
      const double root = (i + 0.5) / PANELS, t = root * root;
      known += 0.6 * black(100, 105 * exp(-0.05), 0.2 * root, 1) * rows[k].hazard * exp(-rows[k].hazard * t) * 2 *
               root / PANELS;
    }
    const double off = exposures(&d)->cva - known, error = exposures(&d)->cva_error;
    print_message("    CVA off by %.4f +- %.4f of %.4f\n", off, error, known);
    assert_true(fabs(off) < 2.5 * error && error < known / 4);
    finish(&d);
  }
}

/* A put that 0.76 % of all paths knock in at 0.5, of 1024 paths some eight. EPE and the quantile of all paths at 0.75
 * by quadrature over the price at 0.5 (SciPy). */
static void test_rare(void **state) {
  (void)state;
  static const double dates[] = {0.75};
  static double watched[] = {0.5};
  pricing d;
  make(&d, 1, 1, dates);
  option_payoff *o = pricing_add(&d, &option_barrier_schema, 100, OPTION_PUT);
  o->level = 72, o->knock = OPTION_IN, o->dates = (sim_doubles){watched, 1, 1};
  d.p.exposure.quantile = 0.994;
  pricing_create(&d, NULL);
  expect("a rare knock-in", row(&d, 1), (const double[]){0.220627, 0, 23.102178}, none);
  finish(&d);
}

/* One asset for another: the value is S1 - S2, EPE by W. Margrabe, Journal of Finance 33 (1978) 177, times exp(r t),
 * PFE by quadrature over the second price (SciPy). */
static void test_exchange(void **state) {
  (void)state;
  static const double dates[] = {0.5};
  static double correlation[] = {1, 0.4, 0.4, 1};
  pricing d;
  make(&d, 1, 1, dates);
  pricing_add_asset(&d, 95, 0.3);
  d.p.correlation = (sim_doubles){.data = correlation, .rows = 2, .cols = 2};
  pricing_add(&d, &option_european_schema, 0, OPTION_CALL);
  pricing_add(&d, &option_european_schema, 0, OPTION_CALL)->asset = 2;
  set_quantities(&d, (const double[]){1, -1});
  pricing_create(&d, NULL);
  const double deviation = sqrt(0.5 * (0.04 + 0.09 - 2 * 0.4 * 0.06)), growth = exp(0.025);
  const double known[3] = {growth * black(100, 95, deviation, 1), growth * black(100, 95, deviation, -1), 36.2698};
  expect("an exchange", row(&d, 1), known, none);
  finish(&d);
}

/* Merton's jumps (rate 1, mean -0.1, deviation 0.2): his series at the 0.95 quantile of the mixture of normals (SciPy).
 * And a cash dividend of 3 at 0.25, by quadrature. */
static void test_jumps_and_cash(void **state) {
  (void)state;
  static const double dates[] = {0.5};
  static double cash[] = {0.25, 3};
  pricing d;
  make(&d, 1, 1, dates);
  d.assets[0].jumps = (option_jumps){.given = true, .rate = 1, .mean = -0.1, .deviation = 0.2};
  pricing_add(&d, &option_european_schema, 100, OPTION_CALL);
  pricing_create(&d, NULL);
  expect("jumps", row(&d, 1), (const double[]){14.035212, 0, 39.776995}, none);
  finish(&d);
  make(&d, 1, 1, dates);
  d.assets[0].dividends = (sim_doubles){.data = cash, .rows = 1, .cols = 2};
  pricing_add(&d, &option_european_schema, 100, OPTION_CALL);
  pricing_create(&d, NULL);
  expect("a cash dividend", row(&d, 1), (const double[]){8.927609, 0, 27.424490}, none);
  finish(&d);
}

/* Payoffs that remember their path, beside exposure.py. Its own errors are those of 400000 outer paths, and of the note
 * 0.02 of the PFE by its quadrature. */
static void test_paths(void **state) {
  (void)state;
  static const double half[] = {0.5}, late[] = {0.6}, short_[] = {1, -1};
  pricing d;
  make(&d, 12, 1, half);
  pricing_add(&d, &option_asian_schema, 100, OPTION_CALL);
  pricing_add(&d, &option_european_schema, 105, OPTION_CALL);
  set_quantities(&d, short_);
  pricing_create(&d, NULL);
  expect("Asian less a call", row(&d, 1), (const double[]){0.0740, 1.9883, 0.3659},
         (const double[]){0.0006, 0.0027, 0.0082});
  finish(&d);
  make(&d, 12, 1, half);
  option_payoff *o = pricing_add(&d, &option_barrier_schema, 100, OPTION_CALL);
  o->level = 90;
  pricing_add(&d, &option_european_schema, 105, OPTION_CALL);
  set_quantities(&d, short_);
  pricing_create(&d, NULL);
  expect("barrier less a call", row(&d, 1), (const double[]){2.1123, 0.5156, 4.6432},
         (const double[]){0.0027, 0.0025, 0.0016});
  finish(&d);
  make(&d, 4, 1, late);
  o = pricing_add(&d, &option_autocallable_schema, 0, OPTION_CALL);
  o->level = 105;
  o->coupon = 0.04;
  o->protection = 70;
  o->cash = 100;
  pricing_create(&d, NULL);
  expect("autocallable", row(&d, 1), (const double[]){50.7388, 0, 107.4151}, (const double[]){0.0796, 0, 0.026});
  finish(&d);
}

/* The best of two (volatilities 0.2 and 0.3, correlation 0.5), and Heston's model less a forward. */
static void test_more_states(void **state) {
  (void)state;
  static const double half[] = {0.5};
  static double correlation[] = {1, 0.5, 0.5, 1};
  pricing d;
  make(&d, 1, 1, half);
  pricing_add_asset(&d, 100, 0.3);
  d.p.correlation = (sim_doubles){.data = correlation, .rows = 2, .cols = 2};
  pricing_add(&d, &option_best_of_schema, 100, OPTION_CALL);
  pricing_create(&d, NULL);
  expect("the best of two", row(&d, 1), (const double[]){19.2890, 0, 48.7715}, (const double[]){0.0240, 0, 0.0900});
  finish(&d);
  make(&d, 100, 1, half);
  pricing_set_motion(&d, 0);
  d.assets[0].heston = pricing_heston(0.04, 1.5, 0.06, 0.5, -0.7);
  pricing_add(&d, &option_european_schema, 100, OPTION_CALL);
  pricing_add(&d, &option_european_schema, 90, OPTION_CALL);
  pricing_add(&d, &option_european_schema, 90, OPTION_PUT);
  set_quantities(&d, (const double[]){1, -1, 1});
  pricing_create(&d, NULL);
  /* the forward here is worth S - 90 exp(-0.025), as there */
  expect("Heston less a forward", row(&d, 1), (const double[]){1.8847, 5.4387, 13.4793},
         (const double[]){0.0086, 0.0055, 0.0667});
  finish(&d);
}

/* A Bermudan put ends with its exercise. Its rule is by regression on the paths of a run with an exposure that gives no
 * number, 2^19, whose boundary is near the best one: EPE and PFE, which depend on it in first order, get 0.5 % beside
 * the errors. */
static void test_bermudan(void **state) {
  (void)state;
  static const double dates[] = {0.5, 0.6};
  pricing d;
  make(&d, 4, 2, dates);
  pricing_add(&d, &option_american_schema, 100, OPTION_PUT)->fit_paths = SIM_INT_KEYWORD;
  pricing_create(&d, NULL);
  expect("at a date", row(&d, 1), (const double[]){4.9481, 0, 16.5336}, (const double[]){0.026, 0, 0.09});
  expect("after it", row(&d, 2), (const double[]){2.9730, 0, 11.2650}, (const double[]){0.016, 0, 0.06});
  finish(&d);
}

/* Knock-in and knock-out are a European payoff, also on each path: EPE of the two sold and that bought is 0 but for the
 * regressions, which may leave 2 % of the price. After the maturity of a contract the rest is left. */
static void test_sums(void **state) {
  (void)state;
  static const double dates[] = {0.25, 0.5, 0.75};
  pricing d;
  make(&d, 12, 3, dates);
  for (int k = 0; k < 2; k++) {
    option_payoff *o = pricing_add(&d, &option_barrier_schema, 100, OPTION_CALL);
    o->level = 90;
    o->knock = k;
    o->maturity = 0.5;
  }
  pricing_add(&d, &option_european_schema, 100, OPTION_CALL)->maturity = 0.5;
  pricing_add(&d, &option_european_schema, 100, OPTION_PUT);
  set_quantities(&d, (const double[]){-1, -1, 1, 1});
  pricing_create(&d, NULL);
  const double put = exp(-0.05) * black(100 * exp(0.05), 100, 0.2, -1);
  for (int k = 1; k < 4; k++) {
    const option_exposure_row *r = row(&d, k);
    print_message("    at %.2f: EPE - ENE %.4f +- %.4f, known %.4f\n", r->time, r->epe - r->ene, r->epe_error,
                  put * exp(0.05 * r->time));
    assert_true(fabs(r->epe - r->ene - put * exp(0.05 * r->time)) < 4 * hypot(r->epe_error, r->ene_error));
    assert_true(r->ene < 0.02 * put);
  }
  finish(&d);
}

/* Threads, precision and the sampling of prices change no bit; nor does a restart. */
static void test_same_bits(void **state) {
  (void)state;
  static const double dates[] = {0.3, 0.7};
  option_exposures first = {0};
  for (int k = 0; k < 4; k++) {
    pricing d;
    make(&d, 12, 2, dates);
    d.p.exposure.paths = d.p.exposure.fit_paths = 0x1p13;
    d.p.exposure.hazard = pricing_line(0.01, 0.02);
    pricing_add(&d, &option_asian_schema, 100, OPTION_CALL);
    pricing_add(&d, &option_american_schema, 100, OPTION_PUT)->fit_paths = 4096;
    d.setup.threads = 1 + k;
    if (k == 1) d.p.sampling.antithetic = true;
    if (k == 2) d.p.common.precision = SIM_MIXED;
    if (k == 3) d.p.sampling.sequence = OPTION_SOBOL;
    d.p.sampling.scrambles = NAN;
    pricing_create(&d, NULL);
    if (k == 0) first = *exposures(&d);
    for (int date = 0; date < d.p.exposures; date++)
      assert_memory_equal(&first.row[date], row(&d, date), sizeof first.row[0]);
    assert_true(first.cva == exposures(&d)->cva && first.cva_error == exposures(&d)->cva_error);
    finish(&d);
  }
}

/* Errors over 100 seeds of a call less a call: the deviations of EPE and PFE from their known values, in errors, have a
 * root mean square of 1 within four of its own errors (0.07 each) for EPE, whose error is that of the paths alone: 0.72
 * to 1.28. The error of the PFE is that or more: at most 1.28. No mean is beyond 0.4. */
static void test_coverage(void **state) {
  (void)state;
  enum { SEEDS = 100 };
  static const double dates[] = {0.5};
  double sum[2] = {0, 0}, squares[2] = {0, 0};
  const double left = 0.5, s = high_price(0.5);
  const double pfe = exp(-0.05 * left) * black(s * exp(0.05 * left), 100, 0.2 * sqrt(left), 1);
  const double epe = exp(0.025) * exp(-0.05) * black(100 * exp(0.05), 100, 0.2, 1);
  for (int seed = 1; seed <= SEEDS; seed++) {
    pricing d;
    make(&d, 1, 1, dates);
    d.p.sampling.paths = 1024;
    d.p.common.seed = (uint64_t)seed;
    d.p.exposure.paths = d.p.exposure.fit_paths = 0x1p13;
    pricing_add(&d, &option_european_schema, 100, OPTION_CALL);
    pricing_create(&d, NULL);
    const double off[2] = {(row(&d, 1)->epe - epe) / row(&d, 1)->epe_error,
                           (row(&d, 1)->pfe - pfe) / row(&d, 1)->pfe_error};
    for (int k = 0; k < 2; k++) {
      sum[k] += off[k] / SEEDS;
      squares[k] += off[k] * off[k] / SEEDS;
    }
    finish(&d);
  }
  for (int k = 0; k < 2; k++) {
    print_message("    %s: mean %.3f, root mean square %.3f\n", k == 0 ? "EPE" : "PFE", sum[k], sqrt(squares[k]));
    assert_true(fabs(sum[k]) < 0.4 && sqrt(squares[k]) < 1.28 && (k == 1 || sqrt(squares[k]) > 0.72));
  }
}

/* Values along paths. Of a call and half a put sold, of other maturities, on one path after the other: Black's formula
 * at its price, within what the spline of the regression leaves, 0.2 % of the spot in the root mean square. At the last
 * date the call is its payment; E V(t) discounted is V(0). */
static void test_values(void **state) {
  (void)state;
  enum { PATHS = 3000, DATES = 4 };
  static const double dates[] = {0.25, 0.5, 1};
  pricing d;
  sim_dataset set = {0};
  make(&d, 1, 3, dates);
  d.p.exposure.values = PATHS;
  pricing_add(&d, &option_european_schema, 100, OPTION_CALL);
  pricing_add(&d, &option_european_schema, 95, OPTION_PUT)->maturity = 0.5;
  set_quantities(&d, (const double[]){1, -0.5});
  pricing_create(&d, NULL);
  assert_int_equal(option_model.dataset(d.self, &d.clock, 0, &set), SIM_OK);
  assert_string_equal(set.name, "exposure");
  assert_string_equal(set.variables[0].unit, "money of the run");
  assert_string_equal(set.variables[3].name, "quantity");
  assert_true(set.variables[3].data[0] == 1 && set.variables[3].data[1] == -0.5);
  assert_true(set.variables[4].data[0] == 1 && set.variables[4].data[1] == 0.5);
  assert_string_equal(set.axes[3].labels[1], "2 european put 95, to 0.5");
  assert_int_equal(set.axes[0].count, PATHS);
  assert_int_equal(set.axes[2].count, DATES);
  for (int t = 0; t < DATES; t++) {
    const double time = set.axes[2].values[t], left = 1 - time;
    double squares = 0, mean = 0, spread = 0, first = set.variables[0].data[0] * exp(0.05 * time);
    for (int i = 0; i < PATHS; i++) {
      const double v = set.variables[0].data[i * DATES + t], s = set.variables[2].data[i * DATES + t];
      assert_true(set.variables[1].data[i * DATES + t] == 0);
      const double call =
          left > 0 ? exp(-0.05 * left) * black(s * exp(0.05 * left), 100, 0.2 * sqrt(left), 1) : fmax(s - 100, 0);
      const double put =
          time < 0.5 ? exp(-0.05 * (0.5 - time)) * black(s * exp(0.05 * (0.5 - time)), 95, 0.2 * sqrt(0.5 - time), -1)
                     : fmax(95 - s, 0);
      const double known = call - (time < 0.6 ? put / 2 : 0);
      squares += (v - known) * (v - known) / PATHS;
      mean += v / PATHS;
      spread += v * v / PATHS;
      if (t == 0) assert_true(s == 100);
    }
    print_message("    t %.2f: root mean square %.4f of a value of %.3f\n", time, sqrt(squares), mean);
    assert_true(sqrt(squares) < 1e-9); /* both values are Black's: rounding of sums of some 100 */
    if (time < 0.4) assert_true(fabs(mean - first) < 4 * sqrt(fmax(spread - mean * mean, 0) / PATHS) + 0.1);
  }
  assert_int_equal(option_model.dataset(d.self, &d.clock, 1, &(sim_dataset){0}), SIM_OK);
  finish(&d);
}

/* Errors of values by regression: of a call where the volatility is a function that is 0.2 (Black's value is none of
 * the regression's functions then), and of a digital with jumps that never come. In the root mean square over 6 seeds,
 * all paths and three dates the value is off by about one error: few of the 6 x 3 x 13 coefficients are independent on
 * the paths that count, say 18, so that the mean square is within 4 root(2/18) of 1 or above 1/4, since the greater of
 * two errors is told. */
static void test_value_errors(void **state) {
  (void)state;
  enum { PATHS = 2000, DATES = 4, SEEDS = 6 };
  static const double dates[] = {0.25, 0.5, 0.75};
  for (int digital = 0; digital < 2; digital++) {
    double squares = 0, numbers = 0;
    for (int seed = 0; seed < SEEDS; seed++) {
      pricing d;
      sim_dataset set = {0};
      make(&d, 4, 3, dates);
      d.p.common.seed = (uint64_t)seed + 1;
      d.p.exposure.values = PATHS;
      d.p.exposure.fit_paths = 0x1p14;
      if (digital) {
        d.assets[0].jumps = (option_jumps){.given = true, .rate = 1e-12, .mean = 0, .deviation = 0.1};
        pricing_add(&d, &option_digital_schema, 100, OPTION_CALL)->cash = 10;
      } else {
        d.assets[0].vol = NULL;
        d.assets[0].local_vol = pricing_constant(0.2);
        pricing_add(&d, &option_european_schema, 100, OPTION_CALL);
      }
      pricing_create(&d, NULL);
      assert_int_equal(option_model.dataset(d.self, &d.clock, 0, &set), SIM_OK);
      for (int t = 1; t < DATES; t++)
        for (int i = 0; i < PATHS; i++) {
          const double left = 1 - set.axes[2].values[t], deviation = 0.2 * sqrt(left);
          const double v = set.variables[0].data[i * (DATES + 1) + t], s = set.variables[2].data[i * (DATES + 1) + t];
          const double error = set.variables[1].data[i * (DATES + 1) + t];
          const double forward = s * exp(0.05 * left), d2 = log(forward / 100) / deviation - deviation / 2;
          const double known = exp(-0.05 * left) * (digital ? 10 * normal(d2) : black(forward, 100, deviation, 1));
          if (error < 1e-3) continue; /* far from the strike, where a value below 0 is 0 */
          squares += (v - known) * (v - known) / (error * error);
          numbers++;
        }
      finish(&d);
    }
    print_message("    mean square %.3f over %.0f values\n", squares / numbers, numbers);
    assert_true(numbers > SEEDS * 3 * PATHS / 2);
    assert_true(squares / numbers < 1 + 4 * sqrt(2.0 / 18) && squares / numbers > 0.25);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_call),      cmocka_unit_test(test_forward),        cmocka_unit_test(test_exchange),
      cmocka_unit_test(test_paths),     cmocka_unit_test(test_jumps_and_cash), cmocka_unit_test(test_more_states),
      cmocka_unit_test(test_bermudan),  cmocka_unit_test(test_sums),           cmocka_unit_test(test_same_bits),
      cmocka_unit_test(test_coverage),  cmocka_unit_test(test_one_interval),   cmocka_unit_test(test_rare),
      cmocka_unit_test(test_few_dates), cmocka_unit_test(test_values),         cmocka_unit_test(test_value_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
