/* Vega and rho by node of curves: against Black and Scholes, whose variance is the integral of the squared volatility,
 * and against the numbers of bucket.py beside this file. An estimate is accepted within 4 of its standard errors. */
#include "kernels/option/run.h"
#include "tests/option/option_driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { VOLS = 5, RATES = 3 };
static const sim_curve_point vol[VOLS] = {{0, 0.2}, {0.25, 0.25}, {0.7, 0.15}, {1.2, 0.3}, {2, 0.4}},
                             rate[RATES] = {{0, 0.01}, {0.5, 0.03}, {1, 0.05}};

static double value_at(const sim_curve_point *point, int count, bool flat, double t) {
  int i = count - 1;
  while (i >= 0 && t < point[i].t) i--;
  if (i < 0) return point[0].value;
  return flat || i + 1 == count ? point[i].value : point[i].value + (t - point[i].t) * sim_curve_slope(point, i);
}

/* Integrals until 1, by the midpoints of 2^16 intervals, which is off by 1e-5 at a jump. */
typedef struct known {
  double variance, rate, by_vol[VOLS], by_rate[RATES];
} known;
static known integrate(bool flat) {
  known sum = {0};
  const double h = 0x1p-16;
  for (double t = h / 2; t < 1; t += h) {
    const double sigma = value_at(vol, VOLS, flat, t);
    sum.variance += h * sigma * sigma;
    sum.rate += h * value_at(rate, RATES, false, t);
    for (int j = 0; j < VOLS; j++) {
      sim_curve_point hat[VOLS];
      for (int i = 0; i < VOLS; i++) hat[i] = (sim_curve_point){vol[i].t, i == j};
      sum.by_vol[j] += h * sigma * value_at(hat, VOLS, flat, t);
    }
    for (int j = 0; j < RATES; j++) {
      sim_curve_point hat[RATES];
      for (int i = 0; i < RATES; i++) hat[i] = (sim_curve_point){rate[i].t, i == j};
      sum.by_rate[j] += h * value_at(hat, RATES, false, t);
    }
  }
  return sum;
}

static void make(pricing *d, bool flat, int steps, sim_precision precision) {
  pricing_make(d, precision, 0.2, 0, 1, steps);
  sim_expr_free(&d->assets[0].vol);
  sim_expr_free(&d->p.rate);
  d->assets[0].vol = pricing_curve(vol, VOLS, flat);
  d->p.rate = pricing_curve(rate, RATES, false);
  d->p.sampling.paths = 0x1p17;
  d->p.greeks.want[OPTION_VEGA] = d->p.greeks.want[OPTION_RHO] = true;
  d->p.greeks.want[OPTION_VEGA_BUCKET] = d->p.greeks.want[OPTION_RHO_BUCKET] = true;
}

/* Greek number `which` of its kind, of a payoff. */
static estimate found(pricing *d, int payoff, int greek, int which) {
  const option_run *run = d->self;
  for (int q = 0; q < run->told; q++) {
    const option_quantity *of = &run->quantity[q];
    if (of->payoff == payoff && of->greek == greek && option_greek_place(of) == which)
      return (estimate){option_mean(run, q), option_error(run, option_samples(run, d->clock.t), q)};
  }
  fail_msg("no Greek %d", greek);
  return (estimate){0, 0};
}

static void near(const char *what, int node, estimate e, double expected, double error, double bias) {
  print_message("    %-8s %d: %11.5f +- %7.2g, known %11.5f\n", what, node + 1, e.value, e.error, expected);
  if (!(fabs(e.value - expected) <= 4 * hypot(e.error, error) + bias))
    fail_msg("%s %d: %.9g +- %.3g, known %.9g", what, node + 1, e.value, e.error, expected);
}

/* The sum over the nodes is the Greek by the whole curve. */
static void check_sum(pricing *d, int payoff, int of, int nodes, int whole, double share) {
  double sum = 0;
  for (int j = 0; j < nodes; j++) sum += found(d, payoff, of, j).value;
  const estimate e = found(d, payoff, whole, 0);
  if (!(fabs(sum - e.value) <= share * fabs(e.value)))
    fail_msg("Greek %d of payoff %d: the sum over nodes is %.12g, the whole %.12g", whole, payoff, sum, e.value);
}

/* Differences change the volatility by 2 % at most and the forward by 0.1 %: below 1e-3 of the largest bucket. */
static void check_call(bool flat, int method, int steps, int sampling, sim_precision precision) {
  static const char *const names[] = {"plain", "antithetic", "Sobol", "matched", "control"};
  const known k = integrate(flat);
  const double strike = 105, deviation = sqrt(k.variance),
               d1 = (log(100 / strike) + k.rate) / deviation + deviation / 2;
  const double by_vol = 100 * exp(-d1 * d1 / 2) / 2.50662827463100050242 / deviation,
               by_rate = strike * exp(-k.rate) * erfc((deviation - d1) / sqrt(2)) / 2;
  const double bias = method == OPTION_BUMP ? 0.03 : 1e-3;
  pricing d;
  make(&d, flat, steps, precision);
  d.p.greeks.method = method;
  d.p.sampling.antithetic = sampling == 1;
  if (sampling == 2) d.p.sampling.sequence = OPTION_SOBOL, d.p.sampling.scrambles = 32;
  d.p.sampling.moment_matching = sampling == 3;
  if (sampling == 4) d.p.sampling.control = OPTION_CONTROL_UNDERLYING;
  pricing_add(&d, &option_european_schema, strike, OPTION_CALL);
  pricing_run(&d);
  print_message("  method %d, %d steps, %s, %s\n", method, steps, names[sampling], flat ? "flat" : "linear");
  for (int j = 0; j < VOLS; j++) near("vega", j, found(&d, 0, OPTION_VEGA_BUCKET, j), by_vol * k.by_vol[j], 0, bias);
  for (int j = 0; j < RATES; j++) near("rho", j, found(&d, 0, OPTION_RHO_BUCKET, j), by_rate * k.by_rate[j], 0, bias);
  assert_true(found(&d, 0, OPTION_VEGA_BUCKET, VOLS - 1).value == 0);
  /* controls have their own coefficients */
  const double share = method == OPTION_BUMP || sampling == 4 ? 2e-3 : precision == SIM_SINGLE ? 1e-5 : 1e-7;
  check_sum(&d, 0, OPTION_VEGA_BUCKET, VOLS, OPTION_VEGA, share);
  check_sum(&d, 0, OPTION_RHO_BUCKET, RATES, OPTION_RHO, share);
  pricing_free(&d);
}

static void test_call(void **state) {
  (void)state;
  for (int flat = 0; flat < 2; flat++)
    for (int steps = 1; steps <= 12; steps += 11) {
      check_call(flat, OPTION_AUTO, steps, 0, SIM_DOUBLE);
      check_call(flat, OPTION_BUMP, steps, 0, SIM_DOUBLE);
      for (int sampling = 1; sampling <= 4; sampling++) check_call(flat, OPTION_AUTO, steps, sampling, SIM_SINGLE);
      check_call(flat, OPTION_BUMP, steps, 1 + steps / 12, SIM_SINGLE);
    }
}

/* An Asian (slopes along the path), a barrier (differences) and a call on the best of two, whose second asset has no
 * curve. */
static void test_simulated(void **state) {
  (void)state;
  static const double numpy[3][VOLS - 1 + RATES][2] = {{{7.10369, 0.00995},
                                                        {12.64012, 0.01264},
                                                        {3.76772, 0.00792},
                                                        {0.13115, 0.00101},
                                                        {10.69466, 0.00513},
                                                        {12.43430, 0.00600},
                                                        {1.56880, 0.00096}},
                                                       {{4.16805, 0.04967},
                                                        {12.65562, 0.05507},
                                                        {12.59530, 0.02800},
                                                        {2.89580, 0.00752},
                                                        {13.00607, 0.04908},
                                                        {24.35515, 0.03745},
                                                        {11.80311, 0.00729}},
                                                       {{4.03338, 0.00933},
                                                        {11.68752, 0.01613},
                                                        {11.59787, 0.01818},
                                                        {2.78526, 0.00621},
                                                        {14.40801, 0.00616},
                                                        {28.81625, 0.01232},
                                                        {14.40801, 0.00616}}};
  static double correlation[] = {1, 0.4, 0.4, 1};
  for (int k = 0; k < 3; k++) {
    pricing d;
    make(&d, false, k < 2 ? 12 : 48, SIM_DOUBLE); /* volatilities of two assets take correlation away in long steps */
    if (k == 2) {
      pricing_add_asset(&d, 95, 0.3);
      d.p.correlation = (sim_doubles){correlation, 2, 2};
    }
    if (k == 0) pricing_add(&d, &option_asian_schema, 100, OPTION_CALL);
    if (k == 1) pricing_add(&d, &option_barrier_schema, 100, OPTION_CALL)->level = 85;
    if (k == 2) pricing_add(&d, &option_best_of_schema, 105, OPTION_CALL)->asset = 0;
    pricing_run(&d);
    assert_int_equal(d.p.buckets[0], VOLS);
    print_message("  payoff %d\n", k + 1);
    for (int j = 0; j < VOLS - 1; j++)
      near("vega", j, found(&d, 0, OPTION_VEGA_BUCKET, j), numpy[k][j][0], numpy[k][j][1], 0.005);
    for (int j = 0; j < RATES; j++)
      near("rho", j, found(&d, 0, OPTION_RHO_BUCKET, j), numpy[k][VOLS - 1 + j][0], numpy[k][VOLS - 1 + j][1], 0.005);
    if (k != 1) check_sum(&d, 0, OPTION_VEGA_BUCKET, VOLS, OPTION_VEGA, 1e-7);
    if (k != 1) check_sum(&d, 0, OPTION_RHO_BUCKET, RATES, OPTION_RHO, 1e-9);
    pricing_free(&d);
  }
}

/* A put that may be exercised at each step, by quadrature. The rule is that of 2^18 paths: rho of a put was off by its
 * error with 2^16. */
static void test_early(void **state) {
  (void)state;
  static const double vega[VOLS - 1] = {5.88997, 16.07235, 13.16544, 2.57318},
                                  rho[RATES] = {-15.28135, -19.03348, -4.26857};
  pricing d;
  make(&d, false, 12, SIM_DOUBLE);
  d.p.sampling.paths = 0x1p18;
  pricing_add(&d, &option_american_schema, 105, OPTION_PUT)->fit_paths = 0x1p18;
  pricing_run(&d);
  for (int j = 0; j < VOLS - 1; j++) near("vega", j, found(&d, 0, OPTION_VEGA_BUCKET, j), vega[j], 0, 0);
  for (int j = 0; j < RATES; j++) near("rho", j, found(&d, 0, OPTION_RHO_BUCKET, j), rho[j], 0, 0);
  pricing_free(&d);
}

/* Payoffs of a book have what each has alone; a node that a payoff does not see is 0, and its error not unknown. */
static void test_book(void **state) {
  (void)state;
  double alone[2];
  pricing d;
  for (int k = 0; k < 3; k++) {
    make(&d, true, 8, SIM_DOUBLE);
    if (k != 1) pricing_add(&d, &option_european_schema, 100, OPTION_CALL);
    if (k != 0) pricing_add(&d, &option_digital_schema, 100, OPTION_PUT)->maturity = 0.25;
    pricing_run(&d);
    if (k < 2) alone[k] = found(&d, 0, OPTION_VEGA_BUCKET, k == 0).value;
    if (k == 2) {
      assert_true(fabs(found(&d, 0, OPTION_VEGA_BUCKET, 1).value - alone[0]) <= 1e-9 * fabs(alone[0]));
      assert_true(fabs(found(&d, 1, OPTION_VEGA_BUCKET, 0).value - alone[1]) <= 1e-9 * fabs(alone[1]));
      for (int j = 1; j < VOLS; j++) {
        const estimate e = found(&d, 1, OPTION_VEGA_BUCKET, j);
        assert_true(e.value == 0 && e.error < 1e-9);
      }
    }
    pricing_free(&d);
  }
}

/* The same bits on one and on three threads. */
static void test_threads(void **state) {
  (void)state;
  double sums[2][64];
  for (int i = 0; i < 2; i++) {
    pricing d;
    make(&d, false, 5, SIM_MIXED);
    d.setup.threads = i == 0 ? 1 : 3;
    pricing_add(&d, &option_asian_schema, 100, OPTION_CALL);
    pricing_add(&d, &option_digital_schema, 100, OPTION_PUT);
    pricing_run(&d);
    const option_run *run = d.self;
    assert_true(run->quantities <= 64);
    memcpy(sums[i], run->mean, (size_t)run->quantities * sizeof(double));
    if (i == 1) assert_memory_equal(sums[0], sums[1], (size_t)run->quantities * sizeof(double));
    pricing_free(&d);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_call), cmocka_unit_test(test_simulated),
                                     cmocka_unit_test(test_early), cmocka_unit_test(test_book),
                                     cmocka_unit_test(test_threads)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
