/* Models beside geometric Brownian motion, by known values; S = K = 100, r = 5 %, T = 1 unless said. An estimate is
 * accepted within 4 of its standard errors; seeds are fixed. */
#include "tests/option/option_driver.h"

#include "kernels/option/models/heston_steps.h"
#include "kernels/option/scenario/market.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void near(const char *what, estimate got, double expected) {
  const double off = (got.value - expected) / got.error;
  print_message("    %-34s %.6f +- %.6f, known %.6f: %+.2f standard errors\n", what, got.value, got.error, expected,
                off);
  assert_true(got.error > 0);
  if (!(fabs(off) <= 4)) fail_msg("%s: %.9g +- %.3g is not %.9g", what, got.value, got.error, expected);
}

static const sim_precision precisions[] = {SIM_MIXED, SIM_DOUBLE};

/* The martingale correction makes the mean of the last price exact for any step; prices have the scheme's bias, which
 * is below a standard error of 2^18 paths at these steps (Andersen 2008, tables 4 to 6). */
static void heston(const char *what, sim_precision precision, option_heston model, double rate, double maturity,
                   int steps, double paths, const double *strikes, const double *known, int count) {
  pricing d;
  pricing_make(&d, precision, 0.2, rate, maturity, steps);
  pricing_set_motion(&d, 0);
  d.assets[0].heston = model;
  d.p.sampling.paths = paths;
  d.p.sampling.antithetic = true;
  for (int k = 0; k < count; k++) pricing_add(&d, &option_european_schema, strikes[k], OPTION_CALL);
  pricing_add(&d, &option_european_schema, 0, OPTION_CALL);
  pricing_run(&d);
  for (int k = 0; k < count; k++) near(what, pricing_price(&d, k), known[k]);
  near("the price itself", pricing_price(&d, count), 100);
  pricing_free(&d);
}

static void test_heston(void **state) {
  (void)state;
  for (int i = 0; i < 2; i++) {
    heston("calm", precisions[i], pricing_heston(0.010201, 6.21, 0.019, 0.61, -0.7), 0.0319, 1, 32, 0x1p17,
           (const double[]){100}, (const double[]){6.806113}, 1);
    heston("over five years", precisions[i], pricing_heston(0.09, 2, 0.09, 1, -0.3), 0.05, 5, 40, 0x1p17,
           (const double[]){100}, (const double[]){34.999758}, 1);
    heston("Andersen's case I", precisions[i], pricing_heston(0.04, 0.5, 0.04, 1, -0.9), 0, 10, 80, 0x1p16,
           (const double[]){60, 100, 140}, (const double[]){44.329975, 13.084670, 0.295774}, 3);
  }
}

/* Tables 4 and 5 of F. Fang and C. Oosterlee, SIAM Journal on Scientific Computing 31 (2008) 826, as test suites of
 * other programs quote them; an integral of the characteristic function gives the same 8 digits
 * (5.78515543, 22.31894579). The variance may reach 0 (2 kappa theta is 0.38 of sigma^2). */
static void test_fang_oosterlee(void **state) {
  (void)state;
  for (int i = 0; i < 2; i++) {
    const option_heston model = pricing_heston(0.0175, 1.5768, 0.0398, 0.5751, -0.5711);
    heston("Fang and Oosterlee, table 4", precisions[i], model, 0, 1, 32, 0x1p17, (const double[]){100},
           (const double[]){5.785155}, 1);
    const option_heston again = pricing_heston(0.0175, 1.5768, 0.0398, 0.5751, -0.5711);
    heston("Fang and Oosterlee, table 5", precisions[i], again, 0, 10, 80, 0x1p17, (const double[]){100},
           (const double[]){22.318946}, 1);
  }
}

/* kappa dt of 6 and of 10^5, where the variance forgets itself within a step: by heston_curves.py, at a variance that
 * begins at theta. The biases of 2^22 paths are at most 0.01 and 0.0001 there, two thirds of an error here. */
static void test_fast_reversion(void **state) {
  (void)state;
  for (int i = 0; i < 2; i++) {
    heston("kappa 50", precisions[i], pricing_heston(0.04, 50, 0.04, 0.5, -0.7), 0.03, 1, 8, 0x1p18,
           (const double[]){80, 100, 120}, (const double[]){23.2862, 9.4166, 2.6697}, 3);
    heston("kappa 10^6", precisions[i], pricing_heston(0.04, 1e6, 0.04, 0.5, -0.7), 0.03, 1, 8, 0x1p16,
           (const double[]){80, 100, 120}, (const double[]){23.2243, 9.4138, 2.7670}, 3);
  }
}

/* The moments by which steps are judged: numbers of heston_steps.py, with 7 digits. Short steps leave nothing off. */
static void test_heston_steps(void **state) {
  (void)state;
  static const struct {
    double v, kappa, theta, sigma, maturity;
    int steps;
    option_heston_moments known;
    int from; /* steps before the integral begins */
  } rows[] = {
      {0.4, 8, 0.02, 0.5, 1, 1, {2.1127902, -0.0370904}},   {0.4, 8, 0.02, 0.5, 1, 4, {0.2202622, -0.0082551}},
      {0.002, 3, 0.04, 2, 2, 3, {-0.0587145, 1.3898652}},   {0.04, 0.004, 0.05, 0.3, 1, 2, {-0.0000001, -0.0468044}},
      {0.04, 50, 0.04, 0.5, 1, 8, {0, 0.0046796}},          {0.4, 8, 0.02, 0.5, 1, 20000, {0, 0}},
      {0.4, 8, 0.02, 0.5, 1, 4, {0.0937460, 0.0431123}, 1}, {0.01, 1, 0.08, 1.2, 8, 16, {-0.0000079, -0.4410095}, 15}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    pricing d;
    option_grid grid;
    option_heston_moments m;
    pricing_make(&d, SIM_DOUBLE, 0.2, 0, rows[i].maturity, rows[i].steps);
    pricing_set_motion(&d, 0);
    d.assets[0].heston = pricing_heston(rows[i].v, rows[i].kappa, rows[i].theta, rows[i].sigma, -0.7);
    d.p.assets.items = d.asset_items;
    assert_int_equal(option_grid_create(&d.p, 0, 1, &grid), SIM_OK);
    option_heston_step step;
    assert_int_equal(grid.kinds, 1);
    assert_int_equal(option_heston_steps(&d.assets[0].heston, 0, &grid, 0, &step), SIM_OK);
    option_heston_moments_of(rows[i].v, &grid, &step, rows[i].from, grid.steps, NULL, &m);
    option_grid_free(&grid);
    print_message("    %d steps: mean %.7f, variance %.7f\n", rows[i].steps, m.mean, m.variance);
    assert_true(fabs(m.mean - rows[i].known.mean) < 1e-7 && fabs(m.variance - rows[i].known.variance) < 1e-7);
    pricing_free(&d);
  }
}

/* One step of kappa dt = 8 far from theta would tell 17.1 for 10.1, and is refused. With the steps that the message
 * names the price less its bias is right; known: the characteristic function by heston_curves.py. */
static void test_long_steps(void **state) {
  (void)state;
  static const double strikes[] = {80, 100, 120}, known[] = {22.810762, 10.131289, 3.388665};
  for (int steps = 1; steps <= 16; steps += 15) {
    pricing d;
    sim_faults faults = {0};
    pricing_make(&d, SIM_DOUBLE, 0.2, 0, 1, steps);
    pricing_set_motion(&d, 0);
    d.assets[0].heston = pricing_heston(0.4, 8, 0.02, 0.5, -0.7);
    for (int k = 0; k < 3; k++) pricing_add(&d, &option_european_schema, strikes[k], OPTION_CALL);
    d.p.assets.items = d.asset_items;
    d.p.payoffs.items = d.payoff_items;
    assert_int_equal(option_model.validate(&d.p, &faults), SIM_OK);
    assert_int_equal(faults.count, steps == 1);
    if (steps == 1) assert_non_null(strstr(faults.text.data, "assets[1].heston: steps = 1 are too long"));
    if (steps == 1) assert_non_null(strstr(faults.text.data, "expected steps = 16 or more"));
    sim_faults_free(&faults);
    if (steps > 1) pricing_run(&d);
    for (int k = 0; k < 3 && steps > 1; k++) {
      double bias[2][3];
      for (int t = 0; t < 2; t++) assert_int_equal(option_model.observe(d.self, &d.clock, 3 + t, bias[t]), SIM_OK);
      estimate got = pricing_price(&d, k);
      got.error = hypot(got.error, bias[1][k]);
      got.value -= bias[0][k];
      near("v far from theta", got, known[k]);
    }
    pricing_free(&d);
  }
}

/* Steps are judged by each payoff's own maturity: one step of 16 is too long for a digital option, beside a European
 * one that 16 steps suit. (Of 10 to be paid after two steps, 3.38 was told for 4.18, by its characteristic function,
 * with a bias of -0.16 +- 0.07.) An asset that the payoff does not see, and forward starts, refuse nothing; but a
 * forward start over the last step alone has a doubt. */
static void test_early_payments(void **state) {
  (void)state;
  for (int variant = 0; variant < 4; variant++) {
    pricing d;
    sim_faults faults = {0};
    double doubt[2];
    pricing_make(&d, SIM_DOUBLE, 0.2, 0, 8, 16);
    pricing_set_motion(&d, 0);
    d.assets[0].heston = pricing_heston(variant < 3 ? 0.005 : 0.08, 1, 0.08, 1.2, 0.6);
    pricing_add_asset(&d, 100, 0.2);
    pricing_add(&d, &option_european_schema, 100, OPTION_CALL);
    option_payoff *early = NULL;
    if (variant == 1 || variant == 2) early = pricing_add(&d, &option_digital_schema, 98, OPTION_CALL);
    if (variant == 3) early = pricing_add(&d, &option_forward_start_schema, 0, OPTION_CALL);
    if (early != NULL) early->maturity = 0.5;
    if (variant == 2) early->asset = 2;
    if (variant == 3) *early = (option_payoff){.asset = 1, .cash = 1, .moneyness = 1, .start_time = 7.5, .maturity = 8};
    d.p.assets.items = d.asset_items;
    d.p.payoffs.items = d.payoff_items;
    assert_int_equal(option_model.validate(&d.p, &faults), SIM_OK);
    if (faults.count > 0) print_message("%s\n", faults.text.data);
    assert_int_equal(faults.count, variant == 1);
    if (variant == 1) assert_non_null(strstr(faults.text.data, "steps = 16 are too long for payoffs[2]"));
    assert_int_equal(option_warn_heston(&d.p, doubt), SIM_OK);
    if (variant == 2) assert_true(doubt[0] > 0 && doubt[1] == 0);
    if (variant == 3) assert_true(doubt[0] < 0.02 && doubt[1] > 0.1); /* -0.44/8, twice beyond the warning */
    sim_faults_free(&faults);
    pricing_free(&d);
  }
}

/* One step is exact, and so are twelve. */
static void test_merton(void **state) {
  (void)state;
  for (int i = 0; i < 2; i++)
    for (int steps = 1; steps <= 12; steps += 11) {
      pricing d;
      pricing_make(&d, precisions[i], 0.2, 0.05, 1, steps);
      d.assets[0].jumps = (option_jumps){true, 1, -0.1, 0.15};
      d.p.sampling.paths = 0x1p19;
      d.p.sampling.antithetic = i;
      pricing_add(&d, &option_european_schema, 100, OPTION_CALL);
      d.p.greeks.want[OPTION_DELTA] = true;
      pricing_run(&d);
      near("Merton", pricing_price(&d, 0), 12.761289);
      pricing_free(&d);
    }
}

/* ---- high and low together ---- */

/* A call that is lost where the price is ever at `low` or `high`, by eigenfunctions of the diffusion between them. */
static double double_knock_out(double strike, double low, double high, double vol, double rate, double maturity) {
  enum { PANELS = 2000, TERMS = 30 };
  const double pi = 3.14159265358979323846, width = log(high / low), begin = log(100 / low);
  const double drift = rate - vol * vol / 2;
  double sum = 0;
  for (int i = 0; i < PANELS; i++) {
    const double y = (i + 0.5) / PANELS * width, pays = fmax(low * exp(y) - strike, 0);
    double density = 0;
    for (int n = 1; n <= TERMS; n++)
      density +=
          sin(n * pi * begin / width) * sin(n * pi * y / width) * exp(-pow(n * pi * vol / width, 2) * maturity / 2);
    sum += pays * density * exp(drift / (vol * vol) * (y - begin)) * 2 / PANELS;
  }
  return sum * exp(-drift * drift * maturity / (2 * vol * vol) - rate * maturity);
}

static sim_expr *knock_out_function(double strike, double low, double high) {
  static const char *const names[] = {"high_1", "low_1", "last_1"};
  const double numbers[] = {strike, low, high, 0};
  sim_expr_builder *b;
  sim_expr_ref in[3], k[4], alive[2], pays, out;
  sim_expr *expr;
  assert_int_equal(sim_expr_builder_create(&b), SIM_OK);
  for (int i = 0; i < 3; i++) assert_int_equal(sim_expr_builder_input(b, names[i], &in[i]), SIM_OK);
  for (int i = 0; i < 4; i++) assert_int_equal(sim_expr_builder_number(b, numbers[i], &k[i]), SIM_OK);
  assert_int_equal(sim_expr_builder_call(b, SIM_EXPR_LT, (sim_expr_ref[]){in[0], k[2]}, &alive[0]), SIM_OK);
  assert_int_equal(sim_expr_builder_call(b, SIM_EXPR_LT, (sim_expr_ref[]){k[1], in[1]}, &alive[1]), SIM_OK);
  assert_int_equal(sim_expr_builder_call(b, SIM_EXPR_AND, alive, &alive[0]), SIM_OK);
  assert_int_equal(sim_expr_builder_call(b, SIM_EXPR_SUB, (sim_expr_ref[]){in[2], k[0]}, &pays), SIM_OK);
  assert_int_equal(sim_expr_builder_call(b, SIM_EXPR_MAX, (sim_expr_ref[]){pays, k[3]}, &pays), SIM_OK);
  assert_int_equal(sim_expr_builder_call(b, SIM_EXPR_WHERE, (sim_expr_ref[]){alive[0], pays, k[3]}, &out), SIM_OK);
  assert_int_equal(sim_expr_builder_finish(b, &out, (const char *const[]){"out"}, 1, &expr), SIM_OK);
  sim_expr_builder_free(&b);
  return expr;
}

/* Exact for any number of steps: drawn apart, one step would give 0.556. */
static void test_double_knock_out(void **state) {
  (void)state;
  const double known = double_knock_out(85, 85, 115, 0.3, 0.05, 1);
  assert_true(fabs(known - 0.1313) < 5e-5);
  for (int i = 0; i < 2; i++)
    for (int steps = 1; steps <= 4; steps += 3) {
      pricing d;
      pricing_make(&d, precisions[i], 0.3, 0.05, 1, steps);
      d.p.sampling.paths = 0x1p17;
      d.p.sampling.antithetic = steps > 1;
      d.p.payoff = knock_out_function(85, 85, 115);
      pricing_run(&d);
      near("double knock-out", pricing_price(&d, 0), known);
      pricing_free(&d);
    }
}

/* ---- control variates ---- */

static const double one_vol[] = {0.2, 0.2}, grid_spots[] = {50, 150}, grid_times[] = {0};

/* Model i of asset `a`, of volatility 0.2 but for Heston's. */
static void set_model(pricing *d, int a, int i) {
  option_asset *asset = &d->assets[a];
  if (i >= 2) pricing_set_motion(d, a);
  if (i == 1 || i == 3) asset->jumps = (option_jumps){true, 1, -0.1, 0.15};
  if (i == 2 || i == 3) asset->heston = pricing_heston(0.010201, 6.21, 0.019, 0.61, -0.7);
  if (i == 4) asset->local_vol = pricing_displaced(0, 0.2);
  if (i == 5)
    asset->vol_grid =
        (option_vol_grid){true, {(double *)grid_spots, 2, 1}, {(double *)grid_times, 1, 1}, {(double *)one_vol, 2, 1}};
}

/* A control is a shift by its known mean: each control of each model that has it, of one asset and of two, the second
 * one with jumps or without. A call on the mean of both last prices with strike 0 is the control "underlying" itself,
 * and comes out as the mean that it is said to have: the spot, as there are no dividends. A call on the first asset has
 * a price in closed form (no number for Heston with jumps). */
static void test_controls(void **state) {
  static const double known[] = {10.450584, 12.761289, 7.973498, 0, 10.450584, 10.450584};
  static const double deltas[] = {0.6368306512, 0.6496595500};
  (void)state;
  for (int model = 0; model < 6; model++)
    for (int control = OPTION_CONTROL_GEOMETRIC; control <= OPTION_CONTROL_UNDERLYING; control++)
      for (int assets = 1; assets <= 3; assets++) { /* 3: the second one jumps */
        if (control != OPTION_CONTROL_UNDERLYING && (model > 0 || assets == 3)) continue;
        pricing d;
        pricing_make(&d, SIM_MIXED, 0.2, 0.05, 1, model == 2 ? 32 : 2);
        set_model(&d, 0, model);
        if (assets >= 2) pricing_add_asset(&d, 100, 0.3);
        if (assets == 3) set_model(&d, 1, 1);
        d.p.sampling.paths = 0x1p15;
        d.p.sampling.control = control;
        d.p.greeks.want[OPTION_DELTA] = model < 4;
        pricing_add(&d, &option_european_schema, 100, OPTION_CALL);
        pricing_add(&d, &option_basket_schema, 0, OPTION_CALL)->asset = 0;
        pricing_run(&d);
        const estimate call = pricing_price(&d, 0), both = pricing_price(&d, 1);
        print_message("    model %d, control %d, %d: %.6f\n", model, control, assets, both.value);
        if (known[model] > 0) near("call", call, known[model]);
        if (control == OPTION_CONTROL_UNDERLYING) /* in fp32, of prices near 100 */
          assert_true(fabs(both.value - 100) < 100 * 0x1p-20);
        if (model < 2) near("delta", pricing_greek(&d, assets == 1 ? "delta" : "delta_1"), deltas[model]);
        pricing_free(&d);
      }
}

/* A grid of one volatility is Black and Scholes' model, exactly; one that rises with the time only has their price with
 * its root mean square at the steps' beginnings. */
static void test_grid(void **state) {
  (void)state;
  double spots[] = {50, 100, 200}, times[] = {0, 1}, flat[] = {0.2, 0.2, 0.2, 0.2, 0.2, 0.2},
         rising[] = {0.1, 0.1, 0.1, 0.3, 0.3, 0.3};
  for (int i = 0; i < 4; i++) {
    pricing d;
    const int steps = 8;
    pricing_make(&d, precisions[i % 2], 0.2, 0.05, 1, steps);
    pricing_set_motion(&d, 0);
    d.assets[0].vol_grid = (option_vol_grid){true, {spots, 3, 1}, {times, 2, 1}, {i < 2 ? flat : rising, 6, 1}};
    d.p.sampling.paths = 0x1p18;
    d.p.greeks.want[OPTION_DELTA] = d.p.greeks.want[OPTION_VEGA] = i < 2;
    pricing_add(&d, &option_european_schema, 100, OPTION_CALL);
    pricing_run(&d);
    double square = 0;
    for (int s = 0; s < steps; s++) square += pow(0.1 + 0.2 * s / steps, 2) / steps;
    const double v = i < 2 ? 0.2 : sqrt(square);
    near("local volatility", pricing_price(&d, 0),
         exp(-0.05) * option_lognormal_price(log(100) + 0.05 - v * v / 2, v, 100, OPTION_CALL));
    if (i < 2) {
      near("its delta", pricing_greek(&d, "delta"), 0.6368306512);
      near("its vega", pricing_greek(&d, "vega"), 37.5240347);
    }
    pricing_free(&d);
  }
}

/* dS = r S dt + (a + b S) dW at r = 0 is a displaced geometric Brownian motion: S + a/b has the volatility b. Euler's
 * bias in 64 steps is of order b^2 dt: 1e-4 of the price or 0.001, a thirtieth of the standard error. */
static void test_function(void **state) {
  (void)state;
  for (int i = 0; i < 2; i++) {
    pricing d;
    pricing_make(&d, precisions[i], 0.2, 0, 1, 64);
    pricing_set_motion(&d, 0);
    d.assets[0].local_vol = pricing_displaced(10, 0.1);
    d.p.sampling.paths = 0x1p16; /* without a control: one on the price would hide a wrong drift */
    pricing_add(&d, &option_european_schema, 100, OPTION_CALL);
    pricing_run(&d);
    near("displaced", pricing_price(&d, 0), option_lognormal_price(log(200) - 0.005, 0.1, 200, OPTION_CALL));
    pricing_free(&d);
  }
}

/* Longstaff and Schwartz (2001), table 1, by finite differences: strike 40, rate 6 %, 50 dates a year. A fitted rule is
 * not better than the best one: the price is low, by less than 0.5 % for such fits; it may be high only by chance. */
static void test_american(void **state) {
  (void)state;
  static const struct {
    double vol, maturity, price[3];
  } table[] = {{0.2, 1, {4.478, 2.314, 1.110}},
               {0.2, 2, {4.840, 2.885, 1.690}},
               {0.4, 1, {7.101, 5.312, 3.948}},
               {0.4, 2, {8.508, 6.920, 5.647}}};
  for (int row = 0; row < 4; row++)
    for (int k = 0; k < 3; k++) {
      pricing d;
      pricing_make(&d, precisions[(row + k) % 2], table[row].vol, 0.06, table[row].maturity,
                   (int)(50 * table[row].maturity));
      d.assets[0].spot = 36 + 4 * k;
      d.p.sampling.paths = 0x1p18;
      d.p.sampling.antithetic = true;
      pricing_add(&d, &option_american_schema, 40, OPTION_PUT);
      pricing_run(&d);
      const estimate got = pricing_price(&d, 0);
      const double known = table[row].price[k];
      print_message("    S %d, vol %.1f, T %.0f: %.4f +- %.4f, known %.3f: %+.2f %%\n", 36 + 4 * k, table[row].vol,
                    table[row].maturity, got.value, got.error, known, 100 * (got.value / known - 1));
      assert_true(got.value >= known * 0.995 && got.value <= known + 3 * got.error);
      pricing_free(&d);
    }
}

/* With one date, the last, it is the European put on every path; a call on what pays no dividend is never taken early,
 * and a rule for it loses little. */
static void test_exercise_limits(void **state) {
  (void)state;
  for (int i = 0; i < 2; i++) {
    pricing d;
    pricing_make(&d, precisions[i], 0.2, 0.05, 1, 10);
    d.p.sampling.paths = 0x1p17;
    pricing_add(&d, &option_american_schema, 100, OPTION_PUT)->every = 10;
    pricing_add(&d, &option_european_schema, 100, OPTION_PUT);
    pricing_add(&d, &option_american_schema, 100, OPTION_CALL);
    pricing_run(&d);
    assert_true(fabs(pricing_price(&d, 0).value - pricing_price(&d, 1).value) < 1e-5);
    const estimate call = pricing_price(&d, 2);
    assert_true(call.value > 10.450583572185565 * 0.995 - 3 * call.error &&
                call.value < 10.450583572185565 + 3 * call.error);
    pricing_free(&d);
  }
}

static void heston_sobol(void) {
  pricing d;
  pricing_make(&d, SIM_MIXED, 0.2, 0.0319, 1, 32);
  pricing_set_motion(&d, 0);
  d.assets[0].heston = pricing_heston(0.010201, 6.21, 0.019, 0.61, -0.7);
  d.p.sampling = (option_sampling){.sequence = OPTION_SOBOL, .scrambles = 32, .paths = 0x1p16, .standard_error = NAN};
  pricing_add(&d, &option_european_schema, 100, OPTION_CALL);
  pricing_run(&d);
  near("Heston", pricing_price(&d, 0), 6.806113);
  pricing_free(&d);
}

/* Of 1 and 2 steps, whose paths share words elsewhere, Sobol's points make the law of plain paths; and the price itself
 * has its mean, which it has for the right law of the variance alone. */
static void test_short_heston(void **state) {
  (void)state;
  for (int steps = 1; steps <= 2; steps++) {
    estimate got[2][2];
    for (int sobol = 0; sobol < 2; sobol++) {
      pricing d;
      pricing_make(&d, precisions[steps - 1], 0.2, 0.0319, 1, steps);
      pricing_set_motion(&d, 0);
      d.assets[0].heston = pricing_heston(0.010201, 6.21, 0.019, 0.61, -0.7);
      d.p.sampling.paths = 0x1p18;
      d.p.sampling.sequence = sobol ? OPTION_SOBOL : OPTION_PHILOX;
      d.p.sampling.scrambles = sobol ? 32 : NAN;
      pricing_add(&d, &option_european_schema, 100, OPTION_CALL);
      pricing_add(&d, &option_european_schema, 0, OPTION_CALL);
      pricing_run(&d);
      for (int k = 0; k < 2; k++) got[sobol][k] = pricing_price(&d, k);
      pricing_free(&d);
    }
    near("the price itself", got[1][1], 100);
    near("Heston in few steps", (estimate){got[1][0].value, hypot(got[0][0].error, got[1][0].error)}, got[0][0].value);
  }
}

static double below(double x) { return 0.5 * erfc(-x * 0.70710678118654752440); }

/* Mean of what is paid at the second of two dates, half a year after a price s. */
static double second_date(const option_payoff *o, double s) {
  const double v = 0.2 * sqrt(0.5), m = log(s) + (0.05 - 0.02) * 0.5;
  const double called = below((m - log(o->level)) / v), above = below((m - log(o->protection)) / v);
  /* E[S; S < protection] = forward N(-d1) */
  const double share = s * exp(0.025) * below(-((m - log(o->protection)) / v + v)) * o->cash / 100;
  return o->cash * (1 + 2 * o->coupon) * called + o->cash * (above - called) + share;
}

/* By Simpson's rule over the logarithm of the first price, below the level: 2000 intervals of a smooth function. */
static double autocallable_price(const option_payoff *o) {
  const double v = 0.2 * sqrt(0.5), m = log(100) + (0.05 - 0.02) * 0.5, top = (log(o->level) - m) / v;
  const int n = 2000;
  double sum = 0;
  for (int i = 0; i <= n; i++) {
    const double z = top - 10 + 10.0 * i / n, weight = i == 0 || i == n ? 1 : i % 2 == 1 ? 4 : 2;
    sum += weight * exp(-z * z / 2) * second_date(o, exp(m + v * z));
  }
  sum *= 10.0 / n / 3 / sqrt(2 * 3.14159265358979);
  return exp(-0.025) * o->cash * (1 + o->coupon) * below(-top) + exp(-0.05) * sum;
}

/* Two dates, the first of them after 4 of 8 steps, against an integral; and sure to be called at once. */
static void test_autocallable(void **state) {
  (void)state;
  static const double levels[] = {102, 110, 95, 1e-3}, protections[] = {80, 99, 70, 1e-4};
  for (int i = 0; i < 2; i++) {
    pricing d;
    pricing_make(&d, precisions[i], 0.2, 0.05, 1, 8);
    d.p.sampling.paths = 0x1p19;
    for (int k = 0; k < 4; k++) {
      option_payoff *o = pricing_add(&d, &option_autocallable_schema, 0, OPTION_CALL);
      o->every = 4;
      o->level = levels[k];
      o->protection = protections[k];
      o->coupon = 0.04;
      o->cash = 1000;
    }
    pricing_run(&d);
    for (int k = 0; k < 3; k++) near("autocallable", pricing_price(&d, k), autocallable_price(&d.payoffs[k]));
    assert_true(fabs(pricing_price(&d, 3).value - 1040 * exp(-0.025)) < (i == 0 ? 1e-4 : 1e-9));
    pricing_free(&d);
  }
}

/* Of one payoff with dates: deltas from the first step's density and from differences of the same price. */
static void two_deltas(const sim_schema *schema, int type, double strike) {
  estimate delta[2];
  for (int i = 0; i < 2; i++) {
    pricing d;
    pricing_make(&d, SIM_DOUBLE, 0.2, 0.05, 1, 4);
    d.p.sampling.paths = 0x1p16;
    d.p.greeks.want[OPTION_DELTA] = true;
    d.p.greeks.method = i == 0 ? OPTION_LIKELIHOOD : OPTION_BUMP;
    option_payoff *o = pricing_add(&d, schema, strike, (option_type)type);
    o->level = 100;
    o->protection = 80;
    o->coupon = 0.05;
    o->cash = 100;
    o->fit_paths = 4096;
    pricing_run(&d);
    delta[i] = pricing_greek(&d, "delta");
    pricing_free(&d);
  }
  print_message("    delta %.4f +- %.4f by likelihood, %.4f +- %.4f by differences\n", delta[0].value, delta[0].error,
                delta[1].value, delta[1].error);
  /* On the same paths: no more than 4 of both errors together. Another estimator than was asked for has the same. */
  assert_true(fabs(delta[0].value - delta[1].value) <= 4 * hypot(delta[0].error, delta[1].error));
  assert_true(fabs(delta[0].error / delta[1].error - 1) > 0.02);
}

static void test_methods(void **state) {
  (void)state;
  two_deltas(&option_american_schema, OPTION_PUT, 100);
  two_deltas(&option_autocallable_schema, OPTION_CALL, 0);
}

/* Root mean square of the errors of 32 scrambles of 2^log points each. */
static double scrambled(int steps, int log, double known) {
  double squares = 0;
  pricing d;
  pricing_make(&d, SIM_DOUBLE, 0.2, 0.05, 1, steps);
  d.p.sampling =
      (option_sampling){.sequence = OPTION_SOBOL, .scrambles = 32, .paths = 32 * pow(2, log), .standard_error = NAN};
  pricing_add(&d, steps > 1 ? &option_asian_schema : &option_european_schema, 100, OPTION_CALL);
  pricing_run(&d);
  const double *mean = pricing_state(&d).arrays[0].data;
  for (int g = 0; g < 32; g++) squares += pow(mean[g] - known, 2) / 32;
  pricing_free(&d);
  return sqrt(squares);
}

/* The same of plain paths, over `PLAIN` seeds. */
enum { PLAIN = 256 };
static double plain(int steps, int log, double known) {
  double squares = 0;
  for (int seed = 1; seed <= PLAIN; seed++) {
    pricing d;
    pricing_make(&d, SIM_MIXED, 0.2, 0.05, 1, steps);
    d.p.common.seed = (uint64_t)seed;
    d.p.sampling.paths = pow(2, log);
    pricing_add(&d, &option_european_schema, 100, OPTION_CALL);
    pricing_run(&d);
    squares += pow(pricing_price(&d, 0).value - known, 2) / PLAIN;
    pricing_free(&d);
  }
  return sqrt(squares);
}

static double slope(const char *what, double (*error)(int, int, double), int steps, int from, int to, int by,
                    double known) {
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (int log = from; log <= to; log += by) {
    const double e = log2(error(steps, log, known));
    n++;
    x += log;
    y += e;
    xx += log * log;
    xy += log * e;
  }
  const double out = (n * xy - x * y) / (n * xx - x * x);
  print_message("    %s: error falls as N^%.3f\n", what, out);
  return out;
}

/* Known slopes: -0.9 or better in one dimension, -0.75 for the Asian option with a bridge, -0.5 for plain paths. A
 * deviation of 32 scrambles is known to 1/sqrt(64) = 13 % (0.18 in log2): a slope over 10 octaves in 6 points to
 * 0.18/sqrt(70) = 0.02, over 6 octaves in 7 points to 0.18/sqrt(28) = 0.034; a plain one of 256 runs (4.4 %, 0.064)
 * over 10 octaves to 0.0076, of which 0.03 is four. The Asian from 2^8 to 2^18 is in the long form. */
static const double call = 10.450583572185565, asian = 5.781824;

static void test_slopes(void **state) {
  (void)state;
  assert_true(slope("one dimension", scrambled, 1, 8, 18, 2, call) <= -0.9);
  assert_true(slope("Asian 252", scrambled, 252, 6, 12, 1, asian) <= -0.75);
  assert_true(fabs(slope("plain", plain, 1, 8, 18, 2, call) + 0.5) <= 0.03);
}

static void test_long_slope(void **state) {
  (void)state;
  assert_true(slope("Asian 252", scrambled, 252, 8, 18, 2, asian) <= -0.75);
}

/* Principal components make the same paths as bridges: of twelve steps the geometric mean and the maximum, whose laws
 * they must not change, and errors far below those of plain paths, 8/sqrt(2^16) = 0.03. */
static void test_components(void **state) {
  (void)state;
  estimate got[2][3];
  for (int pca = 0; pca < 2; pca++)
    for (int i = 0; i < 2; i++) {
      pricing d;
      pricing_make(&d, precisions[i], 0.2, 0.05, 1, 12);
      d.p.sampling = (option_sampling){.sequence = OPTION_SOBOL,
                                       .construction = pca ? OPTION_PCA : OPTION_BRIDGE,
                                       .scrambles = 32,
                                       .paths = 0x1p16,
                                       .standard_error = NAN};
      pricing_add(&d, &option_asian_schema, 100, OPTION_CALL)->average = OPTION_GEOMETRIC_AVERAGE;
      pricing_add(&d, &option_european_schema, 100, OPTION_CALL);
      pricing_add(&d, &option_lookback_schema, 100, OPTION_CALL);
      pricing_run(&d);
      near("geometric Asian", pricing_price(&d, 0), 5.940200221633);
      near("call", pricing_price(&d, 1), 10.450583572185565);
      for (int k = 0; k < 3; k++) got[pca][k] = pricing_price(&d, k);
      pricing_free(&d);
    }
  near("lookback", (estimate){got[1][2].value, hypot(got[0][2].error, got[1][2].error)}, got[0][2].value);
  assert_true(got[1][0].error < 0.001 && got[1][1].error < 0.002);
}

static void test_sobol(void **state) {
  (void)state;
  double correlation[4] = {1, 0.5, 0.5, 1};
  for (int i = 0; i < 2; i++) {
    pricing d;
    pricing_make(&d, precisions[i], 0.2, 0.05, 1, 12);
    pricing_add_asset(&d, 95, 0.3);
    d.p.correlation = (sim_doubles){correlation, 2, 2};
    d.p.sampling = (option_sampling){.sequence = OPTION_SOBOL, .scrambles = 32, .paths = 0x1p17, .standard_error = NAN};
    pricing_add(&d, &option_european_schema, 100, OPTION_CALL);
    pricing_add(&d, &option_asian_schema, 100, OPTION_CALL)->average = OPTION_GEOMETRIC_AVERAGE;
    pricing_add(&d, &option_spread_schema, 0, OPTION_CALL)->second = 2;
    pricing_run(&d);
    near("call", pricing_price(&d, 0), 10.450583572185565);
    near("geometric Asian", pricing_price(&d, 1), 5.940200221633);
    near("exchange", pricing_price(&d, 2), 12.952273);
    /* Plain paths would have 14.7 / sqrt(2^17) = 0.041: smooth and of few dimensions, it has far less. */
    assert_true(pricing_price(&d, 0).error < 0.002);
    pricing_free(&d);
  }
  heston_sobol();
}

int main(int argc, char **argv) {
  (void)argv;
  const struct CMUnitTest quick[] = {cmocka_unit_test(test_heston),
                                     cmocka_unit_test(test_fang_oosterlee),
                                     cmocka_unit_test(test_fast_reversion),
                                     cmocka_unit_test(test_heston_steps),
                                     cmocka_unit_test(test_long_steps),
                                     cmocka_unit_test(test_early_payments),
                                     cmocka_unit_test(test_short_heston),
                                     cmocka_unit_test(test_merton),
                                     cmocka_unit_test(test_grid),
                                     cmocka_unit_test(test_function),
                                     cmocka_unit_test(test_american),
                                     cmocka_unit_test(test_exercise_limits),
                                     cmocka_unit_test(test_autocallable),
                                     cmocka_unit_test(test_controls),
                                     cmocka_unit_test(test_double_knock_out),
                                     cmocka_unit_test(test_methods),
                                     cmocka_unit_test(test_sobol),
                                     cmocka_unit_test(test_components),
                                     cmocka_unit_test(test_slopes)};
  const struct CMUnitTest thorough[] = {cmocka_unit_test(test_long_slope)};
  return argc > 1 ? cmocka_run_group_tests(thorough, NULL, NULL) : cmocka_run_group_tests(quick, NULL, NULL);
}
