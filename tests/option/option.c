/* Prices and Greeks with known values: S = K = 100, r = 5 %, vol = 20 %, T = 1 unless said otherwise. An estimate is
 * accepted within 4 of its standard errors: by chance one in 16000 is not, and seeds are fixed. */
#include "tests/option/option_driver.h"

#include "kernels/option/scenario/market.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
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

static void test_european(void **state) {
  (void)state;
  for (int i = 0; i < 2; i++) {
    pricing d;
    pricing_make(&d, precisions[i], 0.2, 0.05, 1, 1);
    pricing_add(&d, &option_european_schema, 100, OPTION_CALL);
    pricing_add(&d, &option_european_schema, 100, OPTION_PUT);
    pricing_add(&d, &option_digital_schema, 100, OPTION_CALL);
    pricing_run(&d);
    const estimate call = pricing_price(&d, 0), put = pricing_price(&d, 1);
    near("call", call, 10.450583572185565);
    near("put", put, 5.573526022256971);
    near("digital", pricing_price(&d, 2), 0.5323248155);
    /* call - put is S - K exp(-r T) except for the mean of the last price: variance of S_T exp(-r T). */
    const double deviation = 100 * sqrt(exp(0.04) - 1) / sqrt(0x1p20);
    near("parity", (estimate){call.value - put.value, deviation}, 100 - 100 * exp(-0.05));
    /* The payoff's deviation is 14.7194041; its estimate's relative error is sqrt(kurtosis / n) / 2 < 0.005 here. */
    assert_true(fabs(call.error * sqrt(0x1p20) / 14.7194041 - 1) < 0.01);
    pricing_free(&d);
  }
}

static void greeks_by(int method, bool digital) {
  static const double known[] = {0.6368306512, 0.0187620173, 37.5240347, 53.2324815, -6.4140275};
  pricing d;
  pricing_make(&d, SIM_DOUBLE, 0.2, 0.05, 1, 1);
  pricing_add(&d, digital ? &option_digital_schema : &option_european_schema, 100, OPTION_CALL);
  for (int g = 0; g < OPTION_SECOND; g++) d.p.greeks.want[g] = !digital || g <= OPTION_GAMMA;
  d.p.greeks.method = method;
  pricing_run(&d);
  if (digital) { /* d = 0.15: delta exp(-r T) phi(d) / (S v), gamma -delta (d + v) / (S v) */
    const double delta = exp(-0.05) * exp(-0.15 * 0.15 / 2) / sqrt(2 * 3.14159265358979) / 20;
    near("digital delta", pricing_greek(&d, "delta"), delta);
    near("digital gamma", pricing_greek(&d, "gamma"), -delta * 0.35 / 20);
  } else {
    for (int g = 0; g < OPTION_SECOND; g++)
      near(option_greek_names[g], pricing_greek(&d, option_greek_names[g]), known[g]);
  }
  pricing_free(&d);
}

static void test_greeks(void **state) {
  (void)state;
  greeks_by(OPTION_AUTO, false);
  greeks_by(OPTION_LIKELIHOOD, false);
  greeks_by(OPTION_BUMP, false);
  greeks_by(OPTION_AUTO, true);
}

/* Greeks by differences of each of several payoffs: of a put of another strike, not those of the first payoff. S = 100,
 * K = 130, rate 5 %, volatility 20 %, one year: Black and Scholes. */
static void test_greeks_of_second(void **state) {
  (void)state;
  const double d1 = (log(100 / 130.) + 0.07) / 0.2, density = exp(-d1 * d1 / 2) / sqrt(2 * 3.14159265358979);
  const double out = 0.5 * erfc(-(0.2 - d1) / sqrt(2)), rho = -130 * exp(-0.05) * out; /* the put is exercised */
  const double known[OPTION_SECOND] = {-0.5 * erfc(d1 / sqrt(2)), density / 20, 100 * density, rho,
                                       -10 * density - 0.05 * rho};
  pricing p;
  pricing_make(&p, SIM_DOUBLE, 0.2, 0.05, 1, 1);
  pricing_add(&p, &option_european_schema, 100, OPTION_CALL);
  pricing_add(&p, &option_european_schema, 130, OPTION_PUT);
  p.p.greeks.method = OPTION_BUMP;
  for (int g = 0; g < OPTION_SECOND; g++) p.p.greeks.want[g] = true;
  pricing_run(&p);
  for (int g = 0; g < OPTION_SECOND; g++)
    near(option_greek_names[g], pricing_greek_of(&p, 1, (option_greek)g), known[g]);
  pricing_free(&p);
}

/* Gammas of an exchange option of correlated assets, by the pathwise deltas and the density of the first step, against
 * Margrabe's formula; with a control, and of a long first step and a short one, which takes differences. */
static void test_gammas_of_several(void **state) {
  (void)state;
  static double correlation[] = {1, 0.3, 0.3, 1};
  const double vols[2] = {0.22, 0.24}, v = sqrt(0.22 * 0.22 + 0.24 * 0.24 - 2 * 0.3 * 0.22 * 0.24),
               root = sqrt(2 * 3.14159265358979);
  const double d1 = log(100 / 96.) / v + v / 2, d2 = d1 - v;
  const double known[2] = {exp(-d1 * d1 / 2) / (100 * v * root), exp(-d2 * d2 / 2) / (96 * v * root)};
  double error[3];
  for (int way = 0; way < 3; way++) {
    pricing p;
    pricing_make(&p, SIM_DOUBLE, vols[0], 0.03, 1, way == 2 ? 100 : 2);
    pricing_add_asset(&p, 96, vols[1]);
    p.p.correlation = (sim_doubles){correlation, 2, 2};
    p.p.sampling.paths = 0x1p17;
    p.p.sampling.control = way == 1 ? OPTION_CONTROL_UNDERLYING : OPTION_NO_CONTROL;
    option_payoff *o = pricing_add(&p, &option_spread_schema, 0, OPTION_CALL);
    o->second = 2;
    p.p.greeks.want[OPTION_GAMMA] = true;
    pricing_run(&p);
    near("gamma of asset 1", pricing_greek(&p, "gamma_1"), known[0]);
    near("gamma of asset 2", pricing_greek(&p, "gamma_2"), known[1]);
    error[way] = pricing_greek(&p, "gamma_1").error;
    pricing_free(&p);
  }
  assert_true(error[1] < error[0] && error[0] < 0.9 * error[2]); /* of differences: 1.9e-4 */
}

/* Where r is near vol^2/2 an at-the-money digital pays as often for a slightly longer maturity: no path pays only in
 * one market of the difference, whose spread would be that of the discount. The error is the worth of a path. */
static void test_digital_theta(void **state) {
  (void)state;
  const double r = 0.046, vol = 0.3, d = (r - vol * vol / 2) / vol;
  const double discount = exp(-r), above = 0.5 * erfc(-d / sqrt(2));
  const double theta = discount * (r * above - exp(-d * d / 2) / sqrt(2 * 3.14159265358979) * d / 2);
  pricing p;
  pricing_make(&p, SIM_DOUBLE, vol, r, 1, 1);
  pricing_add(&p, &option_digital_schema, 100, OPTION_CALL);
  p.p.sampling.paths = 0x1p18;
  p.p.greeks.want[OPTION_THETA] = true;
  pricing_run(&p);
  near("digital theta", pricing_greek(&p, "theta"), theta);
  pricing_free(&p);
}

/* A maturity in minutes: the Greeks by differences of a digital call at 5 % and a volatility of 20 % a year. */
static void test_minutes(void **state) {
  (void)state;
  const double minutes = 525600, r = 0.05 / minutes, v = 0.2 / sqrt(minutes), root = sqrt(minutes);
  const double d2 = (r / v - v / 2) * root, d1 = d2 + v * root, discount = exp(-0.05);
  const double density = discount * exp(-d2 * d2 / 2) / sqrt(2 * 3.14159265358979);
  pricing p;
  pricing_make(&p, SIM_DOUBLE, v, r, minutes, 1);
  pricing_add(&p, &option_digital_schema, 100, OPTION_CALL);
  p.p.greeks.want[OPTION_VEGA] = p.p.greeks.want[OPTION_RHO] = true;
  pricing_run(&p);
  near("digital vega, minutes", pricing_greek(&p, "vega"), -density * d1 / v);
  near("digital rho, minutes", pricing_greek(&p, "rho"),
       density * root / v - minutes * discount * erfc(-d2 / sqrt(2)) / 2);
  pricing_free(&p);
}

/* An autocallable and a barrier of one date, the maturity, whose rho is a difference. Of 2^10 paths 0.1 on average are
 * called, or knocked out, in only one of the two markets, and none here. The spread would be that of the discount. */
static void test_rho_of_jumps(void **state) {
  (void)state;
  const double r = 0.03, vol = 0.2, discount = exp(-r), root = sqrt(2 * 3.14159265358979);
  const double d = (log(100 / 130.) + r - vol * vol / 2) / vol;                  /* ends above 130 */
  const double called = 0.5 * erfc(-d / sqrt(2)), e = (r - vol * vol / 2) / vol; /* above 100 */
  /* 100 (1 + 0.05 1{S > 130}); a call of strike 100 if S < 130 */
  const double note = 100 * discount * (-(1 + 0.05 * called) + 0.05 * exp(-d * d / 2) / root / vol);
  const double call =
      100 * discount * (0.5 * erfc(-e / sqrt(2)) - called) - 30 * discount * exp(-d * d / 2) / root / vol;
  const double known[2] = {note, call};
  for (int k = 0; k < 2; k++) {
    pricing p;
    pricing_make(&p, SIM_DOUBLE, vol, r, 1, 1);
    option_payoff *o = pricing_add(&p, k ? &option_barrier_schema : &option_autocallable_schema, 100, OPTION_CALL);
    o->level = 130, o->coupon = 0.05, o->protection = 1e-6, o->cash = 100, o->direction = OPTION_UP;
    p.p.sampling.paths = 0x1p10;
    p.p.greeks.want[OPTION_RHO] = true;
    pricing_run(&p);
    near(k ? "barrier rho" : "autocallable rho", pricing_greek(&p, "rho"), known[k]);
    pricing_free(&p);
  }
}

static void asian(sim_precision precision, int steps, double geometric, double arithmetic, bool antithetic) {
  pricing d;
  pricing_make(&d, precision, 0.2, 0.05, 1, steps);
  d.p.sampling.paths = 0x1p17;
  d.p.sampling.antithetic = antithetic;
  pricing_add(&d, &option_asian_schema, 100, OPTION_CALL)->average = OPTION_GEOMETRIC_AVERAGE;
  pricing_add(&d, &option_asian_schema, 100, OPTION_CALL);
  pricing_run(&d);
  near("geometric Asian", pricing_price(&d, 0), geometric);
  near("arithmetic Asian", pricing_price(&d, 1), arithmetic);
  pricing_free(&d);
}

static void test_asian(void **state) {
  (void)state;
  for (int i = 0; i < 2; i++)
    for (int antithetic = 0; antithetic < 2; antithetic++) {
      asian(precisions[i], 12, 5.940200221633, 6.156041, antithetic);
      asian(precisions[i], 252, 5.565508831349, 5.781824, antithetic);
    }
}

/* Variance of the mean of 2^16 samples, times samples. */
static double variance(int control, bool antithetic) {
  pricing d;
  pricing_make(&d, SIM_MIXED, 0.2, 0.05, 1, 252);
  d.p.sampling = (option_sampling){
      .paths = 0x1p16 * (1 + antithetic), .standard_error = NAN, .control = control, .antithetic = antithetic};
  pricing_add(&d, &option_asian_schema, 100, OPTION_CALL);
  pricing_run(&d);
  const estimate got = pricing_price(&d, 0);
  near("with less variance", got, 5.781824);
  pricing_free(&d);
  return got.error * got.error * 0x1p16;
}

/* Known ratios: 1322 for the control, 4.2 for a pair against one path. Of 2^16 samples a variance has a relative error
 * of sqrt((kurtosis - 1) / 2^16): 1 % for the payoff (kurtosis 6), 5 % for the rest after the control (heavy tails,
 * kurtosis up to 160): 4 of these. */
static void test_variance(void **state) {
  (void)state;
  const double plain = variance(OPTION_NO_CONTROL, false);
  const double control = plain / variance(OPTION_CONTROL_GEOMETRIC, false),
               pair = plain / variance(OPTION_NO_CONTROL, true);
  print_message("    variance divided by %.0f (control), %.2f (pair)\n", control, pair);
  assert_true(fabs(control / 1322 - 1) < 0.2);
  assert_true(fabs(pair / 4.2 - 1) < 0.06);
  assert_true(plain > 2 * variance(OPTION_CONTROL_BLACK_SCHOLES, false));
  assert_true(plain > 2 * variance(OPTION_CONTROL_UNDERLYING, false));
}

/* With the control of Black and Scholes a European call's Greeks are those of the control on each path. Only the
 * control's own Greek remains, a difference of the formula over 1e-4 of the spot or less: 2e-8 of a gamma. */
static void exact_greeks(int method) {
  static const double known[] = {0.6368306512, 0.0187620173, 37.5240347, 53.2324815, -6.4140275};
  pricing d;
  pricing_make(&d, SIM_DOUBLE, 0.2, 0.05, 1, 1);
  d.p.sampling.paths = 0x1p17;
  d.p.sampling.control = OPTION_CONTROL_BLACK_SCHOLES;
  pricing_add(&d, &option_european_schema, 100, OPTION_CALL);
  const int greeks = method == OPTION_LIKELIHOOD ? OPTION_VEGA : OPTION_SECOND;
  for (int g = 0; g < greeks; g++) d.p.greeks.want[g] = true;
  d.p.greeks.method = method;
  pricing_run(&d);
  for (int g = 0; g < greeks; g++) {
    const estimate got = pricing_greek(&d, option_greek_names[g]);
    print_message("    %s %.9g +- %.2g, known %.9g\n", option_greek_names[g], got.value, got.error, known[g]);
    /* The error is the least error by rounding, 2^-25 of the gamma and 2^-33 of the others; known has eight digits. */
    assert_true(fabs(got.value - known[g]) <= got.error + 1e-8 * fabs(known[g]));
    assert_true(got.error > 1e-11 * fabs(known[g]) && got.error < 4e-8 * fabs(known[g]));
  }
  pricing_free(&d);
}

/* The discounted spot as control: its own rho is 0 on every path but for rounding, and is no control. */
static void test_greeks_by_underlying(void **state) {
  static const double known[] = {0.6368306512, 0.0187620173, 37.5240347, 53.2324815, -6.4140275};
  (void)state;
  for (int precision = SIM_SINGLE; precision <= SIM_DOUBLE; precision += SIM_DOUBLE - SIM_SINGLE) {
    pricing d;
    pricing_make(&d, (sim_precision)precision, 0.2, 0.05, 1, 1);
    d.p.sampling.paths = 0x1p17;
    d.p.sampling.control = OPTION_CONTROL_UNDERLYING;
    pricing_add(&d, &option_european_schema, 100, OPTION_CALL);
    for (int g = 0; g < OPTION_SECOND; g++) d.p.greeks.want[g] = true;
    pricing_run(&d);
    for (int g = 0; g < OPTION_SECOND; g++)
      near(option_greek_names[g], pricing_greek(&d, option_greek_names[g]), known[g]);
    pricing_free(&d);
  }
}

/* Greeks of the Asian option, with its control and without: the same, with smaller errors. */
static void test_controlled_greeks(void **state) {
  (void)state;
  estimate got[2][OPTION_SECOND];
  exact_greeks(OPTION_AUTO);
  exact_greeks(OPTION_LIKELIHOOD);
  for (int antithetic = 0; antithetic < 2; antithetic++) {
    for (int control = 0; control < 2; control++) {
      pricing d;
      pricing_make(&d, SIM_MIXED, 0.2, 0.05, 1, 12);
      d.p.sampling.paths = 0x1p18;
      d.p.sampling.control = control ? OPTION_CONTROL_GEOMETRIC : OPTION_NO_CONTROL;
      d.p.sampling.antithetic = antithetic;
      pricing_add(&d, &option_asian_schema, 100, OPTION_CALL);
      pricing_add(&d, &option_asian_schema, 90, OPTION_PUT);
      for (int g = 0; g < OPTION_SECOND; g++) d.p.greeks.want[g] = true;
      pricing_run(&d);
      for (int g = 0; g < OPTION_SECOND; g++) got[control][g] = pricing_greek(&d, option_greek_names[g]);
      pricing_free(&d);
    }
    for (int g = 0; g < OPTION_SECOND; g++) {
      const estimate *a = &got[0][g], *b = &got[1][g];
      print_message("    %s: variance divided by %.1f\n", option_greek_names[g], pow(a->error / b->error, 2));
      assert_true(b->error < a->error / 2);
      near(option_greek_names[g], (estimate){a->value, hypot(a->error, b->error)}, b->value);
    }
  }
}

static void test_barrier(void **state) {
  (void)state;
  static const double level[] = {85, 90, 95}, at_steps[] = {6.32224, 6.09820, 4.90679},
                      continuous[] = {6.307575, 5.977242, 4.397503};
  for (int i = 0; i < 2; i++) {
    pricing d;
    pricing_make(&d, precisions[i], 0.3, 0.1, 0.2, 50);
    d.p.sampling.paths = 0x1p18;
    pricing_add(&d, &option_european_schema, 100, OPTION_CALL);
    for (int k = 0; k < 9; k++) { /* at steps, continuous, and knock-ins */
      option_payoff *o = pricing_add(&d, &option_barrier_schema, 100, OPTION_CALL);
      o->level = level[k % 3];
      o->monitoring = k / 3 == 1;
      o->knock = k / 3 == 2;
    }
    pricing_run(&d);
    for (int k = 0; k < 3; k++) {
      near("down and out, at steps", pricing_price(&d, 1 + k), at_steps[k]);
      near("down and out, continuous", pricing_price(&d, 4 + k), continuous[k]);
      /* In and out together are the European payoff on every path: only the rounding of sums differs. */
      const double both = pricing_price(&d, 1 + k).value + pricing_price(&d, 7 + k).value;
      assert_true(fabs(both - pricing_price(&d, 0).value) < 1e-6);
    }
    pricing_free(&d);
  }
}

/* The bridge makes any number of steps exact. */
static void test_lookback(void **state) {
  (void)state;
  for (int i = 0; i < 2; i++)
    for (int steps = 1; steps <= 10; steps += 9) {
      pricing d;
      pricing_make(&d, precisions[i], 0.2, 0.05, 1, steps);
      pricing_add(&d, &option_lookback_schema, NAN, OPTION_CALL)->monitoring = OPTION_CONTINUOUS;
      pricing_run(&d);
      near("floating lookback call", pricing_price(&d, 0), 17.216802);
      pricing_free(&d);
    }
}

static double below(double x) { return 0.5 * erfc(-x * 0.70710678118654752440); }

/* Margrabe (1978): max(S1 - S2, 0), and so the best of two is S2 more; a basket of one asset is that asset. */
static void test_several(void **state) {
  (void)state;
  static double correlation[4] = {1, 0.5, 0.5, 1};
  for (int i = 0; i < 2; i++) {
    pricing d;
    pricing_make(&d, precisions[i], 0.2, 0.05, 1, 4);
    pricing_add_asset(&d, 95, 0.3);
    d.p.correlation = (sim_doubles){correlation, 2, 2};
    pricing_add(&d, &option_spread_schema, 0, OPTION_CALL)->second = 2;
    pricing_add(&d, &option_best_of_schema, 0, OPTION_CALL);
    pricing_add(&d, &option_basket_schema, 100, OPTION_CALL)->weights = (sim_doubles){(double[]){1, 0}, 2, 1};
    pricing_add(&d, &option_worst_of_schema, 0, OPTION_CALL);
    d.p.greeks.want[OPTION_DELTA] = d.p.greeks.want[OPTION_VEGA] = true;
    pricing_run(&d);
    const double v = sqrt(0.04 + 0.09 - 2 * 0.5 * 0.06), d1 = log(100.0 / 95) / v + v / 2, d2 = d1 - v;
    const double exchange = 100 * below(d1) - 95 * below(d2);
    near("exchange", pricing_price(&d, 0), exchange);
    near("best of two", pricing_price(&d, 1), exchange + 95);
    near("basket", pricing_price(&d, 2), 10.450583572185565);
    near("worst of two", pricing_price(&d, 3), 100 - exchange);
    near("delta of the first", pricing_greek(&d, "delta_1"), below(d1));
    near("delta of the second", pricing_greek(&d, "delta_2"), -below(d2));
    /* dv/dvol = (vol - correlation other) / v */
    const double vega = 100 * exp(-d1 * d1 / 2) / sqrt(2 * 3.14159265358979);
    near("vega of the first", pricing_greek(&d, "vega_1"), vega * (0.2 - 0.15) / v);
    near("vega of the second", pricing_greek(&d, "vega_2"), vega * (0.3 - 0.1) / v);
    pricing_free(&d);
  }
}

/* Chance that `rank` (from 1, the highest) of three independent lognormal prices is above x at 1; rate 0.05. */
static double rank_above(int rank, double x) {
  static const double spot[] = {100, 95, 105}, vol[] = {0.2, 0.3, 0.25};
  double p[3];
  for (int a = 0; a < 3; a++) p[a] = below((log(spot[a] / x) + 0.05) / vol[a] - vol[a] / 2);
  const double all = p[0] * p[1] * p[2], pairs = p[0] * p[1] + p[0] * p[2] + p[1] * p[2];
  return rank == 1 ? p[0] + p[1] + p[2] - pairs + all : rank == 2 ? pairs - 2 * all : all;
}

/* Of two prices the higher one is as above, and the lower one the rest. Of three independent ones a call on a rank is
 * the integral of its chance to be above x, from the strike on; by the midpoint rule, with an error below 1e-5. A sum
 * of ranks with equal weights is a basket, on each path but for rounding. */
static void test_rainbow(void **state) {
  (void)state;
  static double correlation[4] = {1, 0.5, 0.5, 1};
  for (int i = 0; i < 2; i++) {
    pricing d;
    pricing_make(&d, precisions[i], 0.2, 0.05, 1, 1);
    pricing_add_asset(&d, 95, 0.3);
    d.p.correlation = (sim_doubles){correlation, 2, 2};
    pricing_add(&d, &option_rainbow_schema, 0, OPTION_CALL)->weights = (sim_doubles){(double[]){0.7, 0.3}, 2, 1};
    pricing_add(&d, &option_rainbow_schema, 100, OPTION_PUT)->weights = (sim_doubles){(double[]){0.5, 0.5}, 2, 1};
    pricing_add(&d, &option_basket_schema, 100, OPTION_PUT);
    d.p.greeks.want[OPTION_DELTA] = true;
    pricing_run(&d);
    const double v = sqrt(0.04 + 0.09 - 2 * 0.5 * 0.06), d1 = log(100.0 / 95) / v + v / 2;
    const double higher = 100 * below(d1) - 95 * below(d1 - v) + 95;
    near("rainbow of two", pricing_price(&d, 0), 0.7 * higher + 0.3 * (195 - higher));
    near("its delta", pricing_greek(&d, "delta_1"), 0.3 + 0.4 * below(d1));
    assert_true(fabs(pricing_price(&d, 1).value - pricing_price(&d, 2).value) < 1e-6);
    pricing_free(&d);
    pricing_make(&d, precisions[i], 0.2, 0.05, 1, 1);
    pricing_add_asset(&d, 95, 0.3);
    pricing_add_asset(&d, 105, 0.25);
    static double weights[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int k = 0; k < 3; k++)
      pricing_add(&d, &option_rainbow_schema, 100, OPTION_CALL)->weights = (sim_doubles){weights[k], 3, 1};
    pricing_run(&d);
    for (int k = 0; k < 3; k++) {
      double known = 0;
      for (double x = 100.05; x < 2000; x += 0.1) known += 0.1 * exp(-0.05) * rank_above(k + 1, x);
      near("a rank of three", pricing_price(&d, k), known);
    }
    pricing_free(&d);
  }
}

/* A knock-out call between two levels, by C. H. Hui's sine series (Applied Financial Economics 6 (1996) 343): the law
 * of the last logarithm, integrated over the payoff in closed form; and the probability to live. */
static double sine_series(double spot, double strike, double low, double high, double r, double v, double t,
                          bool alive) {
  const double pi = 3.14159265358979323846, b = log(high / low), x = log(spot / low), mu = r - v * v / 2;
  const double m = mu / (v * v), from = alive ? 0 : fmax(log(strike / low), 0);
  double sum = 0;
  for (int n = 1; n <= 200; n++) {
    const double w = n * pi / b, decay = exp(-(w * w * v * v + mu * mu / (v * v)) * t / 2);
    double parts[2]; /* integral of exp(c y) sin(w y) from `from` to b, c = m + 1 and m */
    for (int k = 0; k < 2; k++) {
      const double c = m + 1 - k, scale = 1 / (c * c + w * w);
      parts[k] = scale * (exp(c * b) * (c * sin(w * b) - w * cos(w * b)) -
                          exp(c * from) * (c * sin(w * from) - w * cos(w * from)));
    }
    sum += 2 / b * sin(w * x) * decay * (alive ? parts[1] : low * parts[0] - strike * parts[1]);
  }
  return exp(-m * x) * sum;
}

/* Continuous double barriers with a rebate, exact for any number of steps; in + out is the European and the rebate. */
static void test_double_barrier(void **state) {
  (void)state;
  for (int i = 0; i < 2; i++)
    for (int steps = 1; steps <= 5; steps += 4) {
      const double discount = exp(-0.05 * 0.5), strike = 95, rebate = 3;
      pricing d;
      pricing_make(&d, precisions[i], 0.25, 0.05, 0.5, steps);
      for (int knock = 0; knock < 2; knock++) {
        option_payoff *o = pricing_add(&d, &option_double_barrier_schema, strike, OPTION_CALL);
        o->low = 80, o->high = 130, o->rebate = rebate, o->knock = knock, o->monitoring = OPTION_CONTINUOUS;
      }
      pricing_run(&d);
      const double lives = sine_series(100, strike, 80, 130, 0.05, 0.25, 0.5, true),
                   out = sine_series(100, strike, 80, 130, 0.05, 0.25, 0.5, false);
      const double v = 0.25 * sqrt(0.5), d1 = (log(100 / strike) + 0.025) / v + v / 2;
      const double european = 100 * below(d1) - strike * discount * below(d1 - v);
      near("double knock-out", pricing_price(&d, 0), discount * (out + rebate * (1 - lives)));
      near("double knock-in", pricing_price(&d, 1), european - discount * (out - rebate * lives));
      pricing_free(&d);
    }
}

/* A single barrier's rebate: the probability to live is that of D. Reiner and M. Rubinstein (Risk 4 (8), 1991, 28). */
static void test_rebate(void **state) {
  (void)state;
  const double r = 0.05, v = 0.2, level = 90, x = log(level / 100), mu = r - v * v / 2;
  const double lives = below((mu - x) / v) - exp(2 * mu * x / (v * v)) * below((mu + x) / v);
  for (int i = 0; i < 2; i++) {
    pricing d;
    pricing_make(&d, precisions[i], v, r, 1, 3);
    for (int k = 0; k < 4; k++) {
      option_payoff *o = pricing_add(&d, &option_barrier_schema, 1e6, OPTION_CALL); /* never pays but the rebate */
      o->level = level, o->rebate = 7, o->knock = k % 2, o->monitoring = k < 2 ? OPTION_CONTINUOUS : OPTION_AT_STEPS;
    }
    pricing_run(&d);
    near("rebate of a knock-out", pricing_price(&d, 0), 7 * exp(-r) * (1 - lives));
    near("rebate of a knock-in", pricing_price(&d, 1), 7 * exp(-r) * lives);
    /* one of the two is paid on every path; rounding of fp32 paths is 2^-20 */
    assert_true(fabs(pricing_price(&d, 2).value + pricing_price(&d, 3).value - 7 * exp(-r)) < 7 * 0x1p-20);
    pricing_free(&d);
  }
}

/* M. Rubinstein, Risk 4 (2), 1991, 86: spot times the price of a European option on 1 over the remaining time. Its
 * delta is the price over the spot, its gamma 0. */
static void test_forward_start(void **state) {
  (void)state;
  for (int i = 0; i < 2; i++) {
    pricing d;
    pricing_make(&d, precisions[i], 0.2, 0.05, 1, 4);
    option_payoff *o = pricing_add(&d, &option_forward_start_schema, 0, OPTION_CALL);
    o->start = 1, o->moneyness = 1.1;
    d.p.greeks.want[OPTION_DELTA] = d.p.greeks.want[OPTION_GAMMA] = d.p.greeks.want[OPTION_VEGA] = true;
    pricing_run(&d);
    const double v = 0.2 * sqrt(0.75), discount = exp(-0.05 * 0.75), d1 = (log(1 / 1.1) + 0.05 * 0.75) / v + v / 2;
    const double price = 100 * (below(d1) - 1.1 * discount * below(d1 - v));
    near("forward start", pricing_price(&d, 0), price);
    near("its delta", pricing_greek(&d, "delta"), price / 100);
    near("its gamma", pricing_greek(&d, "gamma"), 0);
    near("its vega", pricing_greek(&d, "vega"), 100 * sqrt(0.75) * exp(-d1 * d1 / 2) / sqrt(2 * 3.14159265358979));
    pricing_free(&d);
  }
}

/* The same random bits make the same paths except for rounding, so that the difference of the two prices is the bias of
 * fp32, with hardly any noise. A tenth of the standard error of 1e9 paths is 14.72 / sqrt(1e9) / 10 = 4.6e-5; for the
 * Asian option, whose deviation is 8.0, 2.5e-5. */
static void test_bias(void **state) {
  (void)state;
  double price[2][2];
  for (int i = 0; i < 2; i++)
    for (int k = 0; k < 2; k++) {
      pricing d;
      pricing_make(&d, precisions[i], 0.2, 0.05, 1, k == 0 ? 1 : 252);
      if (k == 1) d.p.sampling.paths = 0x1p18;
      pricing_add(&d, k == 0 ? &option_european_schema : &option_asian_schema, 100, OPTION_CALL);
      pricing_run(&d);
      price[i][k] = pricing_price(&d, 0).value;
      pricing_free(&d);
    }
  print_message("    bias %.2g and %.2g\n", price[0][0] - price[1][0], price[0][1] - price[1][1]);
  assert_true(fabs(price[0][0] - price[1][0]) < 4.6e-5);
  assert_true(fabs(price[0][1] - price[1][1]) < 2.5e-5);
}

/* The same of 1e9 European paths. */
static void test_long_bias(void **state) {
  (void)state;
  double price[2];
  for (int i = 0; i < 2; i++) {
    pricing d;
    pricing_make(&d, precisions[i], 0.2, 0.05, 1, 1);
    d.p.sampling.paths = 1e9;
    pricing_add(&d, &option_european_schema, 100, OPTION_CALL);
    pricing_run(&d);
    near("1e9 paths", pricing_price(&d, 0), 10.450583572185565);
    price[i] = pricing_price(&d, 0).value;
    pricing_free(&d);
  }
  print_message("    bias %.2g\n", price[0] - price[1]);
  assert_true(fabs(price[0] - price[1]) < 4.6e-5);
}

/* Of 400 seeds the 95 % interval holds the true price for 95 % +- 3 % (2.8 binomial deviations of 1.1 %). */
static void coverage(int seeds, bool matched) {
  int held = 0;
  for (int seed = 1; seed <= seeds; seed++) {
    pricing d;
    pricing_make(&d, SIM_MIXED, 0.2, 0.05, 1, 1);
    d.p.common.seed = (uint64_t)seed;
    d.p.sampling.paths = 0x1p15;
    d.p.sampling.moment_matching = matched;
    pricing_add(&d, &option_european_schema, 100, OPTION_CALL);
    pricing_run(&d);
    const estimate got = pricing_price(&d, 0);
    held += fabs(got.value - 10.450583572185565) <= 1.959964 * got.error;
    pricing_free(&d);
  }
  print_message("    %d of %d intervals hold the price\n", held, seeds);
  assert_true(fabs((double)held / seeds - 0.95) <= (seeds >= 400 ? 0.03 : 0.12));
}

/* 30 seeds: 3 deviations of 4 %. */
static void test_coverage(void **state) {
  coverage(*state != NULL ? 400 : 30, false);
  coverage(*state != NULL ? 400 : 30, true); /* 32 means: Student's quantile takes 0.9 % off 95 % */
}

/* The stated errors of a down-and-in call, which pays a hundredth of the forward, in the mean over 60 seeds, compared
 * with the spread of its prices: both are known to 15 % at these paths. The worth of a forward a path would be 2.3
 * times that. Where few paths carry the price the error is unknown. */
static void test_knock_in(void **state) {
  enum { SEEDS = 60 };
  double sum = 0, squares = 0, told = 0;
  int known = 0;
  (void)state;
  for (int seed = 1; seed <= SEEDS; seed++) {
    pricing d;
    pricing_make(&d, SIM_DOUBLE, 0.2, 0.05, 1, 12);
    d.p.common.seed = (uint64_t)seed;
    d.p.sampling.paths = 0x1p12;
    option_payoff *o = pricing_add(&d, &option_barrier_schema, 100, OPTION_CALL);
    o->level = 80, o->knock = OPTION_IN;
    pricing_run(&d);
    const estimate got = pricing_price(&d, 0);
    sum += got.value / SEEDS;
    squares += got.value * got.value / SEEDS;
    known += !isnan(got.error);
    told += isnan(got.error) ? 0 : got.error;
    pricing_free(&d);
  }
  const double spread = sqrt(squares - sum * sum);
  told /= known;
  print_message("    knock-in %.5f, spread %.5f, told %.5f by %d\n", sum, spread, told, known);
  assert_true(known > SEEDS / 2 && told > 0.7 * spread && told < 1.5 * spread);
}

/* Between 97 and 103.5 at 12 dates one path in 40000 survives, and is paid 40: of 2^12 paths, all of which have the
 * rebate of 0.05, mostly none. 2^23 paths gave 0.050909 +- 0.000066. */
static void test_rare_survivors(void **state) {
  (void)state;
  pricing d;
  pricing_make(&d, SIM_DOUBLE, 0.2, 0, 1, 12);
  d.p.sampling.paths = 0x1p12;
  option_payoff *o = pricing_add(&d, &option_double_barrier_schema, 60, OPTION_CALL);
  o->low = 97, o->high = 103.5, o->rebate = 0.05;
  d.p.greeks.want[OPTION_DELTA] = true;
  pricing_run(&d);
  const estimate got = pricing_price(&d, 0);
  near("a rebate and rare survivors", got, 0.050909);
  assert_true(got.error < 0.05); /* a path that is paid twice the forward */
  assert_true(pricing_greek(&d, "delta").error > 0.9 * got.error / (20 / sqrt(12))); /* by the first step's density */
  pricing_free(&d);
}

/* With He_k the Hermite polynomials a payoff of one normal has the variance sum c_k^2/k!, c_k = E[f He_k], and matched
 * moments take k = 1 and 2: here c1 = vol S N(d1) and c2 = vol c1 + vol S phi(d1), which leaves 3.92 of 216.66, a 55th.
 * The variance of 2^10 means of chunks has a relative error of sqrt(2/1023) = 4.4 %: 4 of these. Of 2^25 paths the
 * standard error is 3.4e-4: normals that are matched and no more would make the price 0.0019 too high. */
static void test_matching(void **state) {
  (void)state;
  for (int i = 0; i < 2; i++) {
    pricing d;
    pricing_make(&d, precisions[i], 0.2, 0.05, 1, 1);
    d.p.sampling.moment_matching = true;
    d.p.sampling.paths = i == 0 ? 0x1p25 : 0x1p20 - 1;
    pricing_add(&d, &option_european_schema, 100, OPTION_CALL);
    if (i == 1)
      for (int g = 0; g < OPTION_SECOND; g++) d.p.greeks.want[g] = true;
    pricing_run(&d);
    const estimate got = pricing_price(&d, 0);
    near("with matched moments", got, 10.450583572185565);
    assert_true(d.clock.t == (i == 0 ? 0x1p25 : 0x1p20));
    const double c1 = 20 * 0.6368306512, c2 = 0.2 * (c1 + 37.5240347), left = 216.6609 - c1 * c1 - c2 * c2 / 2;
    print_message("    variance %.3f, expected %.3f\n", got.error * got.error * d.clock.t, left);
    assert_true(fabs(got.error * got.error * d.clock.t / left - 1) < 0.18);
    static const double known[] = {0.6368306512, 0.0187620173, 37.5240347, 53.2324815, -6.4140275};
    for (int g = 0; g < OPTION_SECOND && i == 1; g++)
      near(option_greek_names[g], pricing_greek(&d, option_greek_names[g]), known[g]);
    pricing_free(&d);
  }
}

/* Several steps and assets, in pairs and with a control, and 2 steps, whose paths share random bits. */
static void test_matched_paths(void **state) {
  (void)state;
  double correlation[4] = {1, 0.5, 0.5, 1};
  for (int i = 0; i < 2; i++) {
    pricing d;
    pricing_make(&d, precisions[i], 0.2, 0.05, 1, i == 0 ? 12 : 2);
    d.p.sampling = (option_sampling){.paths = 0x1p18,
                                     .standard_error = NAN,
                                     .moment_matching = true,
                                     .antithetic = i == 0,
                                     .control = i == 0 ? OPTION_CONTROL_UNDERLYING : OPTION_NO_CONTROL};
    pricing_add_asset(&d, 95, 0.3);
    d.p.correlation = (sim_doubles){correlation, 2, 2};
    pricing_add(&d, &option_european_schema, 100, OPTION_CALL);
    pricing_add(&d, &option_spread_schema, 0, OPTION_CALL)->second = 2;
    pricing_add(&d, &option_asian_schema, 100, OPTION_CALL)->average = OPTION_GEOMETRIC_AVERAGE;
    pricing_run(&d);
    const double v = 0.2 * sqrt(i == 0 ? 13 * 25 / (6 * 144.0) : 5 / 8.0),
                 m = log(100) + 0.03 * (i == 0 ? 13 / 24.0 : 0.75);
    near("call", pricing_price(&d, 0), 10.450583572185565);
    near("exchange", pricing_price(&d, 1), 12.952273);
    near("geometric Asian", pricing_price(&d, 2), exp(-0.05) * option_lognormal_price(m, v, 100, OPTION_CALL));
    pricing_free(&d);
  }
}

/* Ends with the first step whose error is small enough. */
static void test_accuracy(void **state) {
  (void)state;
  pricing d;
  pricing_make(&d, SIM_MIXED, 0.2, 0.05, 1, 1);
  d.p.sampling = (option_sampling){.paths = NAN, .standard_error = 0.01};
  pricing_add(&d, &option_european_schema, 100, OPTION_CALL);
  pricing_run(&d);
  const estimate got = pricing_price(&d, 0);
  assert_true(got.error <= 0.01 && d.clock.t == d.clock.t_end);
  /* (14.72 / 0.01)^2 = 2.17e6 paths are needed; steps are of 2^18. */
  assert_true(d.clock.t > 2e6 && d.clock.t < 2.6e6);
  near("to an accuracy", got, 10.450583572185565);
  pricing_free(&d);
}

/* Ends with the first step after the time is over, long before all paths; there is a price nevertheless. */
static void test_time(void **state) {
  (void)state;
  pricing d;
  pricing_make(&d, SIM_MIXED, 0.2, 0.05, 1, 1);
  d.p.sampling = (option_sampling){.paths = NAN, .standard_error = NAN, .time = 0.05};
  pricing_add(&d, &option_european_schema, 100, OPTION_CALL);
  pricing_run(&d);
  assert_true(d.clock.t < 0x1p36 && d.clock.t >= 0x1p20);
  near("after a time", pricing_price(&d, 0), 10.450583572185565);
  pricing_free(&d);
}

int main(int argc, char **argv) {
  (void)argv;
  const struct CMUnitTest quick[] = {cmocka_unit_test(test_european),
                                     cmocka_unit_test(test_greeks),
                                     cmocka_unit_test(test_greeks_of_second),
                                     cmocka_unit_test(test_gammas_of_several),
                                     cmocka_unit_test(test_digital_theta),
                                     cmocka_unit_test(test_minutes),
                                     cmocka_unit_test(test_rho_of_jumps),
                                     cmocka_unit_test(test_asian),
                                     cmocka_unit_test(test_variance),
                                     cmocka_unit_test(test_controlled_greeks),
                                     cmocka_unit_test(test_greeks_by_underlying),
                                     cmocka_unit_test(test_barrier),
                                     cmocka_unit_test(test_lookback),
                                     cmocka_unit_test(test_several),
                                     cmocka_unit_test(test_rainbow),
                                     cmocka_unit_test(test_double_barrier),
                                     cmocka_unit_test(test_rebate),
                                     cmocka_unit_test(test_forward_start),
                                     cmocka_unit_test(test_bias),
                                     cmocka_unit_test(test_coverage),
                                     cmocka_unit_test(test_knock_in),
                                     cmocka_unit_test(test_rare_survivors),
                                     cmocka_unit_test(test_matching),
                                     cmocka_unit_test(test_matched_paths),
                                     cmocka_unit_test(test_accuracy),
                                     cmocka_unit_test(test_time)};
  const struct CMUnitTest thorough[] = {cmocka_unit_test_prestate(test_coverage, &argc),
                                        cmocka_unit_test(test_long_bias)};
  return argc > 1 ? cmocka_run_group_tests(thorough, NULL, NULL) : cmocka_run_group_tests(quick, NULL, NULL);
}
