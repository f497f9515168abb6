/* Ladders of scenarios and paths that are written: against formulas of Black and Scholes, against runs of the shifted
 * scenario, and a payoff priced once more from its paths. S = 100. An estimate is accepted within 4 of its standard
 * errors; seeds are fixed. */
#include "tests/option/option_driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static double spots[] = {-0.2, 0, 0.1}, vols[] = {-0.05, 0, 0.1}, times[] = {0, 0.25};

/* All combinations of three spots, three volatilities and, where `later`, two times. */
static void add_ladder(pricing *d, bool later) {
  d->p.ladder = (option_ladder){.given = true, .spot = {spots, 3, 1}, .vol = {vols, 3, 1}};
  if (later) d->p.ladder.time = (sim_doubles){times, 2, 1};
}

/* Dataset number `index` of a run. */
static sim_dataset dataset_of(pricing *d, int index) {
  sim_dataset out = {0};
  if (option_model.dataset(d->self, &d->clock, index, &out) != SIM_OK) fail_msg("%s", sim_error_last()->message);
  return out;
}

/* A number of the ladder: variable 0 to 3 of a payoff at the point by its indices. */
static double number_of(const sim_dataset *l, int variable, int payoff, int time, int vol, int spot) {
  const int64_t at = ((payoff * l->axes[1].count + time) * l->axes[2].count + vol) * l->axes[3].count + spot;
  return l->variables[variable].data[at];
}

static void near(const char *what, double got, double error, double known) {
  print_message("    %-28s %.6f +- %.6f, known %.6f\n", what, got, error, known);
  if (!(fabs(got - known) <= 4 * error + 1e-12)) fail_msg("%s: %.9g +- %.3g is not %.9g", what, got, error, known);
}

static double below(double x) { return 0.5 * erfc(-x / sqrt(2)); }

/* Black and Scholes: a call of strike 105, or 10 where it ends above 110; rate 5 %. */
static double known_price(bool digital, double spot, double vol, double left) {
  const double strike = digital ? 110 : 105, root = vol * sqrt(left), discount = exp(-0.05 * left);
  const double d2 = (log(spot / strike) + (0.05 - vol * vol / 2) * left) / root;
  return digital ? 10 * discount * below(d2) : spot * below(d2 + root) - strike * discount * below(d2);
}

/* Prices and changes of all points, whose errors are smaller than those of differences of independent runs. */
static void test_formulas(void **state) {
  (void)state;
  for (int way = 0; way < 3; way++) {
    pricing d;
    pricing_make(&d, way == 0 ? SIM_MIXED : SIM_DOUBLE, 0.2, 0.05, 1, 1);
    d.p.sampling.paths = 0x1p17;
    d.p.sampling.antithetic = way == 1;
    d.p.sampling.sequence = way == 2 ? OPTION_SOBOL : OPTION_PHILOX;
    d.p.sampling.scrambles = way == 2 ? 16 : NAN;
    pricing_add(&d, &option_european_schema, 105, OPTION_CALL);
    pricing_add(&d, &option_digital_schema, 110, OPTION_CALL)->cash = 10;
    add_ladder(&d, true);
    pricing_run(&d);
    const sim_dataset l = dataset_of(&d, 0);
    for (int k = 0; k < 2; k++) {
      const double today = known_price(k, 100, 0.2, 1);
      assert_true(number_of(&l, 0, k, 0, 1, 1) == pricing_price(&d, k).value);
      assert_true(number_of(&l, 1, k, 0, 1, 1) == pricing_price(&d, k).error);
      assert_true(number_of(&l, 2, k, 0, 1, 1) == 0 && number_of(&l, 3, k, 0, 1, 1) == 0);
      for (int i = 0; i < 18; i++) {
        const int t = i / 9, v = i / 3 % 3, s = i % 3;
        const double known = known_price(k, 100 * (1 + spots[s]), 0.2 + vols[v], 1 - times[t]);
        near(k ? "digital" : "call", number_of(&l, 0, k, t, v, s), number_of(&l, 1, k, t, v, s), known);
        near("  change", number_of(&l, 2, k, t, v, s), number_of(&l, 3, k, t, v, s), known - today);
      }
    }
    /* of a difference of independent runs 1.4 errors of a price; a smooth one of a tenth of the spot has 0.45 */
    assert_true(way > 0 || number_of(&l, 3, 0, 0, 1, 2) < 0.6 * number_of(&l, 1, 0, 0, 1, 2));
    pricing_free(&d);
  }
}

/* Models whose volatility is shifted in different ways: vol, Heston with jumps, SABR, local, rough Bergomi. */
enum { MODELS = 5 };

static void set_model(pricing *d, int model, double vol) {
  option_asset *a = &d->assets[0];
  static const double shape = 0.5;
  const double left = 0.25 + vol;
  if (model == 0) return;
  pricing_set_motion(d, 0);
  if (model == 1) {
    a->heston = pricing_heston((0.2 + vol) * (0.2 + vol), 2, left * left, 0.4, -0.6);
    a->jumps = (option_jumps){.given = true, .rate = 0.3, .mean = -0.1, .deviation = 0.1};
  } else if (model == 2) { /* alpha S^(beta - 1) is the volatility, at the spot that is not shifted */
    a->sabr =
        (option_sabr){.given = true, .alpha = (0.2 + vol) * pow(100, 1 - shape), .beta = shape, .rho = -0.4, .nu = 0.5};
  } else if (model == 3) {
    a->local_vol = pricing_displaced(10, 0.1 + vol);
  } else {
    a->rough_bergomi =
        (option_rough){.given = true, .xi = pricing_constant(left * left), .eta = 1.2, .hurst = 0.1, .rho = -0.7};
  }
}

static void make_book(pricing *d, int model, double spot, double vol) {
  pricing_make(d, SIM_DOUBLE, 0.2 + vol, 0.05, 1, 8);
  d->p.sampling.paths = 0x1p14;
  d->assets[0].spot = 100 * (1 + spot);
  set_model(d, model, vol);
  pricing_add(d, &option_asian_schema, 100, OPTION_CALL);
  pricing_add(d, &option_european_schema, 105, OPTION_PUT);
  option_payoff *o = pricing_add(d, &option_barrier_schema, 100, OPTION_CALL);
  o->level = 60, o->rebate = 3;
  o = pricing_add(d, &option_american_schema, 100, OPTION_PUT); /* with a rule of its own at each point */
  o->fit_paths = 4096, o->every = 4;
  o = pricing_add(d, &option_autocallable_schema, 0, OPTION_CALL);
  o->level = 105, o->coupon = 0.05, o->protection = 70, o->cash = 100, o->initial = 100, o->every = 2;
}

/* A point has the price of a run of the shifted scenario, but for rounding: on the same paths. Of SABR the two spots
 * differ in the meaning of sigma, and its volatility alone is shifted. */
static void test_runs(void **state) {
  (void)state;
  for (int model = 0; model < MODELS; model++) {
    pricing d, other;
    make_book(&d, model, 0, 0);
    add_ladder(&d, false);
    pricing_run(&d);
    const sim_dataset l = dataset_of(&d, 0);
    for (int i = 0; i < 9; i++) {
      if (model == 2 && i % 3 != 1) continue;
      make_book(&other, model, spots[i % 3], vols[i / 3]);
      pricing_run(&other);
      for (int k = 0; k < 5; k++) {
        const double got = number_of(&l, 0, k, 0, i / 3, i % 3), known = pricing_price(&other, k).value;
        if (!(fabs(got - known) <= 1e-11 * fabs(known)))
          fail_msg("model %d, payoff %d, point %d: %.15g is not %.15g", model, k, i, got, known);
        assert_true(fabs(number_of(&l, 2, k, 0, i / 3, i % 3) - (got - pricing_price(&d, k).value)) <= 1e-11 * known);
      }
      pricing_free(&other);
    }
    pricing_free(&d);
  }
}

/* An autocallable and swaps a quarter of a year later, with a rate that changes: two runs, of the same steps where the
 * first date is as far from today as the steps are long. A swap without per_year is over the time that is left. */
static void test_later(void **state) {
  (void)state;
  pricing d[2];
  for (int k = 0; k < 2; k++) {
    static double dates[2][3] = {{0.5, 0.75, 1}, {0.25, 0.5, 0.75}};
    pricing_make(&d[k], SIM_DOUBLE, 0.2, 0.05, 1 - 0.25 * k, k ? 3 : 2);
    d[k].p.sampling.paths = 0x1p14;
    sim_expr_free(&d[k].p.rate);
    d[k].p.rate = pricing_line(0.02, 0.05);
    for (int i = 0; i < 3; i++) {
      option_payoff *o = pricing_add(&d[k], i == 0 ? &option_autocallable_schema : &option_variance_swap_schema,
                                     i == 0 ? 0 : 15, OPTION_CALL);
      o->dates = (sim_doubles){dates[k], 3, 1};
      o->level = 105, o->coupon = 0.05, o->protection = 70, o->cash = i == 0 ? 100 : 1, o->initial = 100;
      if (i == 2) o->per_year = 3;
    }
  }
  add_ladder(&d[0], true);
  pricing_run(&d[0]);
  pricing_run(&d[1]);
  const sim_dataset l = dataset_of(&d[0], 0);
  for (int k = 0; k < 3; k++) {
    const double got = number_of(&l, 0, k, 1, 1, 1), known = pricing_price(&d[1], k).value;
    print_message("    payoff %d, later: %.12g, by a run %.12g\n", k, got, known);
    assert_true(fabs(got - known) <= 1e-11 * fabs(known));
  }
  for (int k = 0; k < 2; k++) pricing_free(&d[k]);
}

/* Theta of a variance swap is minus the derivative by the maturity: r V where the swap is over its time, undiscounted
 * variance being the same for any; and with a fixed number of fixings a year less the variance of the time that is
 * gone. V = e^(-rT) (E - K^2), E = 1e4 (vol^2 + m^2 T/n) with m = r - vol^2/2 and n fixings. */
static void test_theta_of_swaps(void **state) {
  (void)state;
  enum { STEPS = 50 };
  const double T = 2, r = 0.03, vol = 0.2, m = r - vol * vol / 2, strike = 18;
  pricing d;
  pricing_make(&d, SIM_DOUBLE, vol, r, T, STEPS);
  d.p.sampling.paths = 0x1p17;
  for (int k = 0; k < 2; k++) pricing_add(&d, &option_variance_swap_schema, strike, OPTION_CALL);
  d.payoffs[1].per_year = STEPS / T;
  d.p.greeks.want[OPTION_THETA] = true;
  pricing_run(&d);
  const double discount = exp(-r * T), mean = 1e4 * (vol * vol + m * m * T / STEPS);
  const double value = discount * (mean - strike * strike), change = 1e4 * discount * m * m / STEPS;
  const estimate own = pricing_greek_of(&d, 0, OPTION_THETA), fixed = pricing_greek_of(&d, 1, OPTION_THETA);
  near("theta over its time", own.value, own.error, r * value - change);
  near("theta, fixings a year", fixed.value, fixed.error, r * value - change - discount * mean / T);
  pricing_free(&d);
}

/* Paths that are written have the payoffs that the run has averaged: a mean of prices, and the best of two at the end.
 */
static void test_paths(void **state) {
  (void)state;
  for (int way = 0; way < 3; way++) {
    enum { PATHS = 1 << 12, STEPS = 6 };
    static double correlation[] = {1, 0.5, 0.5, 1};
    pricing d;
    pricing_make(&d, SIM_DOUBLE, 0.2, 0.05, 1, STEPS);
    set_model(&d, 1, 0);
    pricing_add_asset(&d, 95, 0.3);
    d.p.correlation = (sim_doubles){correlation, 2, 2};
    d.p.sampling.paths = PATHS;
    d.p.sampling.antithetic = way > 0;
    d.p.sampling.sequence = way == 2 ? OPTION_SOBOL : OPTION_PHILOX;
    d.p.sampling.scrambles = way == 2 ? 16 : NAN;
    pricing_add(&d, &option_asian_schema, 100, OPTION_CALL);
    pricing_add(&d, &option_best_of_schema, 110, OPTION_CALL);
    d.p.paths = (option_path_output){.given = true, .count = PATHS};
    pricing_run(&d);
    const sim_dataset l = dataset_of(&d, 0);
    double sum[2] = {0, 0};
    assert_int_equal(l.axes[0].count, PATHS);
    assert_int_equal(l.axes[2].count, STEPS + 1);
    for (int p = 0; p < PATHS; p++) {
      const double *price = l.variables[0].data + (size_t)p * 2 * (STEPS + 1), *other = price + STEPS + 1;
      double mean = 0;
      assert_true(price[0] == 100 && other[0] == 95);
      for (int s = 1; s <= STEPS; s++) mean += price[s] / STEPS;
      sum[0] += fmax(mean - 100, 0) / PATHS;
      sum[1] += fmax(fmax(price[STEPS], other[STEPS]) - 110, 0) / PATHS;
      assert_true(l.variables[1].data[(size_t)p * 2 * (STEPS + 1)] == 0.2 * 0.2); /* variance */
    }
    for (int k = 0; k < 2; k++) {
      const double known = pricing_price(&d, k).value, got = sum[k] * exp(-0.05);
      print_message("    payoff %d from %d paths: %.12g, of the run %.12g\n", k, PATHS, got, known);
      assert_true(fabs(got - known) <= 1e-11 * known); /* sums in another order */
    }
    pricing_free(&d);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_formulas), cmocka_unit_test(test_runs),
                                     cmocka_unit_test(test_later), cmocka_unit_test(test_theta_of_swaps),
                                     cmocka_unit_test(test_paths)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
