/* Early exercise on several prices, or by a function, against quadrature (bermudan_max.py), published tables and known
 * bounds. S = 100 unless said otherwise. */
#include "kernels/option/scenario/market.h"
#include "tests/option/option_driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* Checks price and upper bound of the only payoff. The price is low, and the bound high, by at most `low` and `high`
 * beyond 4 errors of each. */
static void bracket(const char *what, pricing *d, double known, double low, double high) {
  pricing_run(d);
  const estimate price = pricing_price(d, 0), upper = pricing_greek(d, "upper");
  pricing_free(d);
  print_message("    %-28s %.4f +- %.4f below %.4f +- %.4f, known %.4f\n", what, price.value, price.error, upper.value,
                upper.error, known);
  assert_true(price.error > 0 && upper.error >= price.error);
  assert_true(price.value < known + 4 * price.error && price.value > known - low - 4 * price.error);
  assert_true(upper.value > known - 4 * upper.error && upper.value < known + high + 4 * upper.error);
}

/* `count` equal assets with a dividend, three years, nine dates: the cases of Broadie and Glasserman. */
static option_payoff *make(pricing *d, sim_precision precision, int count, double spot) {
  pricing_make(d, precision, 0.2, 0.05, 3, 9);
  for (int a = 1; a < count; a++) pricing_add_asset(d, spot, 0.2);
  for (int a = 0; a < count; a++) {
    sim_expr_free(&d->assets[a].dividend);
    d->assets[a].dividend = pricing_constant(0.1);
    d->assets[a].spot = spot;
  }
  d->p.sampling.paths = 0x1p18;
  d->p.sampling.antithetic = true;
  option_payoff *o = pricing_add(d, &option_american_schema, 100, OPTION_CALL);
  o->on = OPTION_ON_BEST;
  o->upper_paths = 256;
  o->inner_paths = 512;
  return o;
}

/* Two assets: quadrature; the binomial prices of M. Broadie and P. Glasserman, Journal of Computational Finance 7
 * (2004) 35, are 8.075, 13.902 and 21.345; 8.08, 13.90 and 21.34 on page 462 of P. Glasserman, Monte Carlo Methods in
 * Financial Engineering, Springer 2003, as QuantLib's tests (mclongstaffschwartzengine.cpp) quote it. Rules of
 * regression are about 0.2 % low, and the bound of 256 paths by 512 of their own 0.3 % high; both are given 0.5 %. */
static void test_two_assets(void **state) {
  (void)state;
  static const double spots[] = {90, 100, 110}, known[] = {8.0728, 13.9018, 21.3438};
  for (int i = 0; i < 3; i++) {
    pricing d;
    make(&d, i % 2 ? SIM_MIXED : SIM_DOUBLE, 2, spots[i]);
    bracket("the best of two", &d, known[i], 0.005 * known[i], 0.005 * known[i]);
  }
}

/* The puts of L. C. G. Rogers, Mathematical Finance 12 (2002) 271, who found the bound by martingales: strike 100, rate
 * 0.06, volatility 0.4, half a year. With 50 dates, by binomial trees of 5000 to 20000 steps that exercise at these
 * dates alone, which agree to 2e-4. The bound of 256 paths by 512 of their own is up to 0.9 % high (the put at 80,
 * which is exercised soon); it is given 1 %, and the rule 0.5 %. */
static void test_rogers(void **state) {
  (void)state;
  static const double spots[] = {80, 100, 120}, known[] = {21.5932, 9.9372, 4.0561};
  for (int i = 0; i < 3; i++) {
    pricing d;
    pricing_make(&d, i % 2 ? SIM_MIXED : SIM_DOUBLE, 0.4, 0.06, 0.5, 50);
    d.assets[0].spot = spots[i];
    d.p.sampling.paths = 0x1p18;
    d.p.sampling.antithetic = true;
    option_payoff *o = pricing_add(&d, &option_american_schema, 100, OPTION_PUT);
    o->upper_paths = 256;
    o->inner_paths = 512;
    bracket("Rogers' put", &d, known[i], 0.005 * known[i], 0.01 * known[i]);
  }
}

/* exercise = function(path): max(S1 - S2, 0) + 0.2 |S1 + S2 - 200|, on the same paths. */
static void test_function(void **state) {
  (void)state;
  pricing d;
  sim_expr_builder *b;
  sim_expr_ref s[2], x[4];
  const double numbers[] = {0, 0.2, 200};
  make(&d, SIM_DOUBLE, 2, 100);
  assert_int_equal(sim_expr_builder_create(&b), SIM_OK);
  for (int a = 0; a < 2; a++) assert_int_equal(sim_expr_builder_input(b, a ? "last_2" : "last_1", &s[a]), SIM_OK);
  for (int k = 0; k < 3; k++) assert_int_equal(sim_expr_builder_number(b, numbers[k], &x[k]), SIM_OK);
#define CALL(op, a, c, out) assert_int_equal(sim_expr_builder_call(b, op, (sim_expr_ref[]){a, c}, out), SIM_OK)
  CALL(SIM_EXPR_SUB, s[0], s[1], &x[3]);
  CALL(SIM_EXPR_MAX, x[3], x[0], &x[3]);
  CALL(SIM_EXPR_ADD, s[0], s[1], &s[0]);
  CALL(SIM_EXPR_SUB, s[0], x[2], &s[0]);
  CALL(SIM_EXPR_ABS, s[0], s[0], &s[0]);
  CALL(SIM_EXPR_MUL, s[0], x[1], &s[0]);
  CALL(SIM_EXPR_ADD, x[3], s[0], &x[3]);
#undef CALL
  d.payoffs[0].on = OPTION_ON_ASSET;
  d.payoffs[0].strike = NAN;
  assert_int_equal(sim_expr_builder_finish(b, &x[3], (const char *const[]){"out"}, 1, &d.payoffs[0].exercise), SIM_OK);
  sim_expr_builder_free(&b);
  bracket("a function", &d, 22.8348, 0.02 * 22.8348, 0.02 * 22.8348);
}

/* A put on the lower of two, four dates; one on 0.7 S1 + 0.3 S2, ten. */
static void test_worst_and_basket(void **state) {
  (void)state;
  static double weights[] = {0.7, 0.3};
  for (int i = 0; i < 2; i++) {
    pricing d;
    option_payoff *o = make(&d, SIM_DOUBLE, 2, 100);
    o->type = OPTION_PUT;
    o->on = i ? OPTION_ON_BASKET : OPTION_ON_WORST;
    d.p.maturity = 1;
    d.p.steps = i ? 10 : 4;
    for (int a = 0; a < 2; a++) {
      sim_expr_free(&d.assets[a].dividend);
      d.assets[a].dividend = pricing_constant(i ? 0 : 0.02);
      sim_expr_free(&d.assets[a].vol);
      d.assets[a].vol = pricing_constant(i ? 0.3 : 0.2);
    }
    if (i) o->weights = (sim_doubles){weights, 2, 1};
    bracket(i ? "a put on a basket" : "a put on the worst", &d, i ? 7.1239 : 11.0363, 0.05, 0.05);
  }
}

/* Five assets: 26.096 +- 0.038 by another regression (bermudan_max.py), which is low by its rule, as this one is,
 * within 0.3 %. The interval of 95 % of L. Andersen and M. Broadie, Management Science 50 (2004) 1222, is 26.109
 * to 26.292 as other authors quote it; their table was not at hand. */
static void test_five_assets(void **state) {
  (void)state;
  pricing d;
  make(&d, SIM_DOUBLE, 5, 100);
  pricing_run(&d);
  const estimate price = pricing_price(&d, 0), upper = pricing_greek(&d, "upper");
  print_message("    the best of five             %.4f +- %.4f below %.4f +- %.4f\n", price.value, price.error,
                upper.value, upper.error);
  assert_true(fabs(price.value - 26.096) < 4 * hypot(price.error, 0.038) + 0.003 * 26.096);
  assert_true(price.value < 26.292 + 4 * price.error);
  assert_true(upper.value > 26.109 - 4 * upper.error && upper.value < 26.292 + 0.005 * 26.292 + 4 * upper.error);
  pricing_free(&d);
}

/* One asset as the best of one, and by weights of 1 and 0: the rule of one asset prices it too, within the errors of
 * both and 0.2 % for other functions of the regression. A bound of a rule of one asset; jumps and a cash dividend,
 * where the European price is a bound from below. */
static void test_one(void **state) {
  (void)state;
  static double weights[] = {1, 0};
  estimate got[3], upper[3];
  for (int i = 0; i < 3; i++) {
    pricing d;
    pricing_make(&d, SIM_DOUBLE, 0.2, 0.06, 1, 10);
    if (i == 1) pricing_add_asset(&d, 100, 0.4);
    d.p.sampling.paths = 0x1p18;
    option_payoff *o = pricing_add(&d, &option_american_schema, 100, OPTION_PUT);
    o->on = i == 0 ? OPTION_ON_ASSET : i == 1 ? OPTION_ON_BASKET : OPTION_ON_BEST;
    if (i == 1) o->weights = (sim_doubles){weights, 2, 1};
    o->upper_paths = 256;
    o->inner_paths = 512;
    pricing_run(&d);
    got[i] = pricing_price(&d, 0);
    upper[i] = pricing_greek(&d, "upper");
    pricing_free(&d);
    print_message("    %d: %.5f +- %.5f below %.5f +- %.5f\n", i, got[i].value, got[i].error, upper[i].value,
                  upper[i].error);
    assert_true(fabs(got[i].value - got[0].value) < 4 * hypot(got[i].error, got[0].error) + 0.01);
    assert_true(upper[i].value > got[0].value - 4 * hypot(upper[i].error, got[0].error));
    assert_true(upper[i].value < got[0].value * 1.01 + 4 * hypot(upper[i].error, got[0].error));
  }
}

/* Deltas by differences, for which the rule is kept: those of two equal assets are equal, and near the slope of the
 * quadrature.
 */
static void test_greeks(void **state) {
  (void)state;
  pricing d;
  option_payoff *o = make(&d, SIM_DOUBLE, 2, 100);
  o->upper_paths = o->inner_paths = 0;
  d.p.greeks.want[OPTION_DELTA] = true;
  pricing_run(&d);
  const estimate a = pricing_greek(&d, "delta_1"), b = pricing_greek(&d, "delta_2");
  pricing_free(&d);
  /* both spots together: (21.3438 - 8.0728)/20 but for the cubic term, 5 % of it */
  print_message("    deltas %.4f +- %.4f, %.4f +- %.4f\n", a.value, a.error, b.value, b.error);
  assert_true(fabs(a.value - b.value) < 4 * hypot(a.error, b.error) + 0.01);
  assert_true(fabs(a.value + b.value - 0.6636) < 0.033 + 4 * (a.error + b.error));
}

/* A put with ten dates in a year; with Heston's model 20 steps. */
static void make_put(pricing *d, bool heston) {
  pricing_make(d, SIM_DOUBLE, 0.2, 0.05, 1, heston ? 20 : 10);
  d->p.sampling.paths = 0x1p18;
  d->p.sampling.antithetic = true;
  if (heston) {
    pricing_set_motion(d, 0);
    d->assets[0].heston = pricing_heston(0.04, 1.5, 0.04, 0.6, -0.7);
  }
  option_payoff *o = pricing_add(d, &option_american_schema, 100, OPTION_PUT);
  o->every = heston ? 2 : 1;
  o->fit_paths = 1 << 16;
}

/* The price where the rate, the volatility (of Heston's model the roots of v and theta) or the maturity is changed. */
static double moved_price(bool heston, const option_bump *by) {
  pricing d;
  make_put(&d, heston);
  const double vol = 0.2 + by->vol;
  sim_expr_free(&d.p.rate);
  d.p.rate = pricing_constant(0.05 + by->rate);
  d.p.maturity = 1 + by->maturity;
  if (heston) {
    sim_expr_free(&d.assets[0].heston.theta);
    d.assets[0].heston.v = vol * vol;
    d.assets[0].heston.theta = pricing_constant(vol * vol);
  } else {
    sim_expr_free(&d.assets[0].vol);
    d.assets[0].vol = pricing_constant(vol);
  }
  pricing_run(&d);
  const double price = pricing_price(&d, 0).value;
  pricing_free(&d);
  return price;
}

/* Vega, rho and theta are derivatives of the price with its rule: those of two runs with other parameters, and so with
 * rules of their own, on the same paths, but for rounding (2^-40 of the price over the width of 0.008 and more). With
 * today's rule in all markets the rho of Heston's put is 0.6 below the known one in the mean of seeds. Known:
 * quadrature (bermudan_greeks.py); finite differences of QuantLib (heston in bermudan_variance.py), with prices low by
 * 0.25 % for their steps and rule. */
static void test_rule_follows(void **state) {
  (void)state;
  static const option_greek greeks[] = {OPTION_VEGA, OPTION_RHO, OPTION_THETA};
  static const char *const names[] = {"vega", "rho", "theta"};
  static const double known[2][3] = {{37.4356, -31.2184, -2.1827}, {36.643, -20.363, NAN}};
  for (int heston = 0; heston < 2; heston++) {
    pricing d;
    double width[3];
    option_bump bump[3];
    make_put(&d, heston);
    for (int g = 0; g < 3; g++) d.p.greeks.want[greeks[g]] = true;
    pricing_run(&d);
    for (int g = 0; g < 3; g++) {
      const estimate got = pricing_greek(&d, names[g]);
      bump[g] = option_bump_of(&d.p, greeks[g], 0, d.p.step_set[0], &width[g]);
      const option_bump other = {.vol = -bump[g].vol, .rate = -bump[g].rate, .maturity = -bump[g].maturity};
      const double difference = (moved_price(heston, &bump[g]) - moved_price(heston, &other)) / width[g];
      print_message("    %-5s %.5f +- %.5f, of two runs %.5f, known %.4f\n", names[g], got.value, got.error, difference,
                    known[heston][g]);
      assert_true(fabs(got.value - difference) < 1e-8 * fabs(difference));
      if (!isnan(known[heston][g]))
        assert_true(fabs(got.value - known[heston][g]) < 4 * got.error + 0.0025 * fabs(known[heston][g]));
    }
    pricing_free(&d);
  }
}

/* Over 24 seeds the mean price is low only by its rule and the mean bound is high, both within 0.5 %. The spread of
 * prices is the stated error, except for the effect of different rules: a mean square of 0.4 to 2 (24 squares of
 * normals: 5 deviations are 1.4). */
static void test_coverage(void **state) {
  (void)state;
  enum { SEEDS = 24 };
  double price[SEEDS], mean = 0, above = 0, told = 0, squares = 0;
  for (int k = 0; k < SEEDS; k++) {
    pricing d;
    option_payoff *o = make(&d, SIM_DOUBLE, 2, 100);
    d.p.common.seed = (uint64_t)(100 + k);
    d.p.sampling.paths = 0x1p14;
    o->fit_paths = 16384;
    o->upper_paths = 64;
    o->inner_paths = 128;
    pricing_run(&d);
    const estimate got = pricing_price(&d, 0), upper = pricing_greek(&d, "upper");
    pricing_free(&d);
    price[k] = got.value;
    mean += got.value / SEEDS;
    above += upper.value / SEEDS;
    told += got.error * got.error / SEEDS;
  }
  for (int k = 0; k < SEEDS; k++) squares += (price[k] - mean) * (price[k] - mean) / (SEEDS - 1);
  print_message("    mean %.4f, bound %.4f, spread %.4f, told %.4f\n", mean, above, sqrt(squares), sqrt(told));
  const double error = sqrt(told / SEEDS);
  assert_true(mean < 13.9018 + 4 * error && mean > 13.9018 * 0.993 - 4 * error);
  assert_true(above > 13.9018 - 4 * error && above < 13.9018 * 1.01 + 4 * error);
  assert_true(squares / told > 0.4 && squares / told < 2.4);
}

/* exercise = function(path) return sim.where(sim.gt(path.last[1], level), high, low) end, at maturity alone. */
static estimate jumping(double level, double high, double low, const char *quantity) {
  pricing d;
  sim_expr_builder *b;
  sim_expr_ref s, x[4];
  const double numbers[] = {level, high, low};
  pricing_make(&d, SIM_DOUBLE, 0.2, 0.05, 1, 1);
  d.p.sampling.paths = 0x1p14;
  d.p.greeks.want[OPTION_DELTA] = true;
  option_payoff *o = pricing_add(&d, &option_american_schema, NAN, OPTION_CALL);
  assert_int_equal(sim_expr_builder_create(&b), SIM_OK);
  assert_int_equal(sim_expr_builder_input(b, "last_1", &s), SIM_OK);
  for (int k = 0; k < 3; k++) assert_int_equal(sim_expr_builder_number(b, numbers[k], &x[k]), SIM_OK);
  assert_int_equal(sim_expr_builder_call(b, SIM_EXPR_LT, (sim_expr_ref[]){x[0], s}, &x[3]), SIM_OK);
  assert_int_equal(sim_expr_builder_call(b, SIM_EXPR_WHERE, (sim_expr_ref[]){x[3], x[1], x[2]}, &x[3]), SIM_OK);
  assert_int_equal(sim_expr_builder_finish(b, &x[3], (const char *const[]){"out"}, 1, &o->exercise), SIM_OK);
  sim_expr_builder_free(&b);
  pricing_run(&d);
  const estimate got = quantity == NULL ? pricing_price(&d, 0) : pricing_greek(&d, quantity);
  pricing_free(&d);
  return got;
}

/* A function that jumps where hardly a path is: 1, and 1000 beyond 250, which a path reaches with a probability of
 * 4.7e-6 and which is worth 0.5 % more. Of 2^14 paths k are beyond: none with a probability of 0.93, more than three
 * with 1e-6. Then the price is e^-0.05 (1 + 999 k/n). Without such a path its error is not one of rounding alone, but
 * unknown; else it is 999 e^-0.05 sqrt(k (1 - k/n))/n, but for n - 1 in place of n. Beyond 170, which 0.7 % reach,
 * price and delta are a digital's, and the delta, of which few paths or none tell, is known no better than by one path
 * more.
 */
static void test_jumping_exercise(void **state) {
  (void)state;
  const estimate flat = jumping(250, 1000, 1, NULL), rare = jumping(170, 10, 0, NULL),
                 delta = jumping(170, 10, 0, "delta");
  const double d2 = (log(100. / 170) + 0.03) / 0.2, price = 10 * exp(-0.05) * erfc(-d2 / sqrt(2)) / 2,
               slope = 10 * exp(-0.05 - d2 * d2 / 2) / sqrt(2 * 3.14159265358979) / 20;
  print_message("    %.6f +- %g; %.4f +- %.4f, %.4f; delta %.4f +- %.4f, %.4f\n", flat.value, flat.error, rare.value,
                rare.error, price, delta.value, delta.error, slope);
  const double n = 0x1p14, k = floor((flat.value * exp(0.05) - 1) * n / 999 + 0.5);
  assert_true(k >= 0 && k <= 3 && fabs(flat.value - exp(-0.05) * (1 + 999 * k / n)) < 1e-9);
  const double spread = 999 * exp(-0.05) * sqrt(k * (1 - k / n)) / n;
  assert_true(k == 0 ? isnan(flat.error) : fabs(flat.error - spread) < spread / n);
  assert_true(fabs(rare.value - price) < 4 * rare.error && rare.error < 0.02);
  assert_true(fabs(delta.value - slope) < 4 * delta.error && delta.error > 10 * exp(-0.05) / 0x1p14 / 1.2);
}

/* A payment that is not finite at an early date of a few paths ends the run, though it is finite at maturity:
 * sqrt(170 - S), where one path in 1e4 is above 170 at the first of two dates, and none at the second, by a dividend
 * that grows. No path of the rule is. */
static void test_not_finite(void **state) {
  (void)state;
  for (int isa = SIM_ISA_PLAIN; isa <= (int)sim_isa_best(); isa++) {
    pricing d;
    sim_expr_builder *b;
    sim_expr_ref s, x;
    pricing_make(&d, SIM_DOUBLE, 0.2, 0, 1, 2);
    d.setup.isa = (sim_isa)isa;
    d.assets[0].spot = 100 * exp(0.25);
    sim_expr_free(&d.assets[0].dividend);
    d.assets[0].dividend = pricing_line(0, 2);
    d.p.sampling.paths = 0x1p17;
    option_payoff *o = pricing_add(&d, &option_american_schema, NAN, OPTION_CALL);
    o->fit_paths = OPTION_CHUNK;
    assert_int_equal(sim_expr_builder_create(&b), SIM_OK);
    assert_int_equal(sim_expr_builder_input(b, "last_1", &s), SIM_OK);
    assert_int_equal(sim_expr_builder_number(b, 170, &x), SIM_OK);
    assert_int_equal(sim_expr_builder_call(b, SIM_EXPR_SUB, (sim_expr_ref[]){x, s}, &x), SIM_OK);
    assert_int_equal(sim_expr_builder_call(b, SIM_EXPR_SQRT, (sim_expr_ref[]){x}, &x), SIM_OK);
    assert_int_equal(sim_expr_builder_finish(b, &x, (const char *const[]){"out"}, 1, &o->exercise), SIM_OK);
    sim_expr_builder_free(&b);
    pricing_create(&d, NULL);
    assert_int_equal(option_model.step(d.self, &d.clock), SIM_ERR_DIVERGED);
    pricing_free(&d);
  }
}

/* A put on the higher of two unlike assets: by quadrature in Brownian coordinates 5.1973 (601 and 1201 points). The
 * ordered prices alone do not tell which is which, and their rule is 0.9 % low. */
static void test_unlike(void **state) {
  (void)state;
  pricing d;
  pricing_make(&d, SIM_DOUBLE, 0.15, 0.05, 0.5, 2);
  pricing_add_asset(&d, 100, 0.45);
  d.assets[0].spot = 90;
  sim_expr_free(&d.assets[1].dividend);
  d.assets[1].dividend = pricing_constant(0.1);
  d.p.sampling.antithetic = true;
  pricing_add(&d, &option_american_schema, 100, OPTION_PUT)->on = OPTION_ON_BEST;
  pricing_run(&d);
  const estimate got = pricing_price(&d, 0);
  pricing_free(&d);
  print_message("    %.4f +- %.4f, known 5.1973\n", got.value, got.error);
  assert_true(got.value < 5.1973 + 4 * got.error && got.value > 5.1973 - 0.01 - 4 * got.error);
}

/* Puts under models with a random volatility, by finite differences of QuantLib 1.44 (bermudan_variance.py, whose grids
 * agree within 2e-4 of a price), 10 and 5 dates. The first three and the last are the case of S. Ikonen and J.
 * Toivanen, Numerical Methods for Partial Differential Equations 24 (2008) 104; QuantLib's tests (fdheston.cpp) quote
 * their American prices 1.10763, 0.520038 and 0.213681: the last, of 100 dates, which cost 0.06 %. The rule costs less
 * than 0.3 %, steps of 1/400 and 1/100 of a year and the bound of 256 paths by 256 less than 0.5 %; rules of the price
 * alone are 1 to 3 % low. Deltas are by differences along the kept rule, whose error is of the first order: 1 %.
 * The short form has one of each model and precision; `long` all of them. */
static bool all;
static void test_random_volatility(void **state) {
  (void)state;
  static const struct {
    double spot, price, delta;
  } table[] = {{9, 1.10281, -0.74568},  {10, 0.51716, -0.43093}, {11, 0.21236, -0.19853},
               {100, 5.4125, -0.29044}, {100, 7.79892, NAN},     {10, 0.520038, NAN}};
  for (int i = 0; i < 6; i++) {
    if (!all && i != 3 && i != 4) continue;
    const bool ikonen = i < 3 || i == 5;
    pricing d;
    pricing_make(&d, i % 2 ? SIM_MIXED : SIM_DOUBLE, 0.2, ikonen ? 0.1 : 0.05, ikonen ? 0.25 : 1, 100);
    pricing_set_motion(&d, 0);
    d.assets[0].spot = table[i].spot;
    if (ikonen) d.assets[0].heston = pricing_heston(0.0625, 5, 0.16, 0.9, 0.1);
    if (i == 3) d.assets[0].heston = pricing_heston(0.04, 1.5, 0.04, 0.6, -0.7);
    if (i == 4) {
      d.assets[0].sabr = (option_sabr){true, 2, 0.5, -0.4, 0.7};
      sim_expr_free(&d.assets[0].dividend);
      d.assets[0].dividend = pricing_constant(0.05);
    }
    d.p.sampling.paths = 0x1p18;
    d.p.sampling.antithetic = true;
    d.p.greeks.want[OPTION_DELTA] = i < 4;
    option_payoff *o = pricing_add(&d, &option_american_schema, ikonen ? 10 : 100, OPTION_PUT);
    o->every = i < 3 ? 10 : i < 5 ? 20 : 1;
    o->upper_paths = i < 5 ? 256 : 64;
    o->inner_paths = 256;
    pricing_run(&d);
    const double known = table[i].price;
    const estimate price = pricing_price(&d, 0), upper = pricing_greek(&d, "upper");
    print_message("    S %3.0f: %.4f +- %.4f below %.4f +- %.4f, known %.4f\n", table[i].spot, price.value, price.error,
                  upper.value, upper.error, known);
    assert_true(price.value < known + 4 * price.error && price.value > known * 0.995 - 4 * price.error);
    assert_true(upper.value > known * 0.998 - 4 * upper.error && upper.value < known * 1.01 + 4 * upper.error);
    if (i < 4) {
      const estimate delta = pricing_greek(&d, "delta");
      print_message("           delta %.4f +- %.4f, known %.4f\n", delta.value, delta.error, table[i].delta);
      assert_true(fabs(delta.value - table[i].delta) < 4 * delta.error + 0.01 * fabs(table[i].delta));
    }
    pricing_free(&d);
  }
}

int main(int argc, char **argv) {
  all = argc > 1 && strcmp(argv[1], "long") == 0;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_two_assets),        cmocka_unit_test(test_rogers),      cmocka_unit_test(test_function),
      cmocka_unit_test(test_worst_and_basket),  cmocka_unit_test(test_five_assets), cmocka_unit_test(test_one),
      cmocka_unit_test(test_random_volatility), cmocka_unit_test(test_greeks),      cmocka_unit_test(test_coverage),
      cmocka_unit_test(test_jumping_exercise),  cmocka_unit_test(test_not_finite),  cmocka_unit_test(test_unlike),
      cmocka_unit_test(test_rule_follows)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
