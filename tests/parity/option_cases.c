#include "tests/parity/option_cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

static void must(sim_status status, const char *what) {
  if (status != SIM_OK) fail_msg("%s: %s", what, sim_error_last()->message);
}

static sim_expr *function_of(const char *const *inputs, int count, double a, double b, bool average) {
  sim_expr_builder *builder;
  sim_expr_ref in[8], number, sum, strike;
  sim_expr *expr;
  must(sim_expr_builder_create(&builder), "builder");
  for (int i = 0; i < count; i++) must(sim_expr_builder_input(builder, inputs[i], &in[i]), "input");
  must(sim_expr_builder_number(builder, a, &number), "number");
  must(sim_expr_builder_call(builder, SIM_EXPR_MUL, (sim_expr_ref[]){in[0], number}, &sum), "product");
  for (int i = 1; i < count; i++)
    must(sim_expr_builder_call(builder, SIM_EXPR_ADD, (sim_expr_ref[]){sum, in[i]}, &sum), "sum");
  must(sim_expr_builder_number(builder, b, &strike), "number");
  must(sim_expr_builder_call(builder, SIM_EXPR_ADD, (sim_expr_ref[]){sum, strike}, &sum), "sum");
  must(sim_expr_builder_number(builder, 0, &number), "number");
  if (average) must(sim_expr_builder_call(builder, SIM_EXPR_MAX, (sim_expr_ref[]){sum, number}, &sum), "max");
  must(sim_expr_builder_finish(builder, &sum, (const char *const[]){"out"}, 1, &expr), "finish");
  sim_expr_builder_free(&builder);
  return expr;
}

static void several(pricing *d, int assets) {
  static double correlation[12 * 12];
  for (int i = 0; i < assets; i++)
    for (int j = 0; j < assets; j++) correlation[i * assets + j] = i == j ? 1 : 0.3 + 0.02 * (i + j);
  for (int a = 1; a < assets; a++) pricing_add_asset(d, 100 - 3 * a, 0.2 + 0.02 * a);
  d->p.correlation = (sim_doubles){correlation, (size_t)assets, (size_t)assets};
}

static void make_european(pricing *d) {
  pricing_add(d, &option_european_schema, 100, OPTION_CALL);
  pricing_add(d, &option_european_schema, 100, OPTION_PUT);
  pricing_add(d, &option_digital_schema, 100, OPTION_CALL);
}

static void make_asian(pricing *d) {
  pricing_add(d, &option_asian_schema, 100, OPTION_CALL)->average = OPTION_GEOMETRIC_AVERAGE;
  pricing_add(d, &option_asian_schema, 95, OPTION_PUT);
}

static void make_barriers(pricing *d) {
  for (int k = 0; k < 8; k++) {
    option_payoff *o = pricing_add(d, &option_barrier_schema, 100, k % 2 ? OPTION_PUT : OPTION_CALL);
    o->direction = k / 2 % 2 ? OPTION_UP : OPTION_DOWN;
    o->level = k / 2 % 2 ? 125 : 85;
    o->knock = k % 3 ? OPTION_OUT : OPTION_IN;
    o->monitoring = k / 4 ? OPTION_CONTINUOUS : OPTION_AT_STEPS;
  }
}

static void make_double_barriers(pricing *d) {
  for (int k = 0; k < 4; k++) {
    option_payoff *o = pricing_add(d, &option_double_barrier_schema, 95, k % 2 ? OPTION_PUT : OPTION_CALL);
    o->low = 80, o->high = 130, o->rebate = k;
    o->knock = k % 2 ? OPTION_OUT : OPTION_IN;
    o->monitoring = k / 2 ? OPTION_CONTINUOUS : OPTION_AT_STEPS;
  }
  option_payoff *start = pricing_add(d, &option_forward_start_schema, 0, OPTION_PUT);
  start->start = 2, start->moneyness = 1.05;
}

static void make_lookbacks(pricing *d) {
  for (int k = 0; k < 8; k++) {
    option_payoff *o = pricing_add(d, &option_lookback_schema, k / 4 ? 100 : NAN, k % 2 ? OPTION_PUT : OPTION_CALL);
    o->monitoring = k / 2 % 2 ? OPTION_CONTINUOUS : OPTION_AT_STEPS;
  }
}

static void make_several(pricing *d) {
  several(d, 3);
  sim_expr_free(&d->assets[1].vol);
  d->assets[1].vol = function_of((const char *const[]){"t"}, 1, 0.05, 0.18, false);
  pricing_add(d, &option_spread_schema, 3, OPTION_CALL)->second = 2;
  pricing_add(d, &option_best_of_schema, 100, OPTION_CALL);
  pricing_add(d, &option_worst_of_schema, 90, OPTION_CALL);
  pricing_add(d, &option_basket_schema, 98, OPTION_PUT);
  pricing_add(d, &option_asian_schema, 95, OPTION_CALL)->asset = 3;
}

static void make_many_assets(pricing *d) {
  several(d, 12);
  pricing_add(d, &option_basket_schema, 85, OPTION_CALL);
  pricing_add(d, &option_asian_schema, 95, OPTION_CALL)->asset = 5;
  pricing_add(d, &option_lookback_schema, NAN, OPTION_CALL)->asset = 12;
}

static void make_strikes(pricing *d) {
  for (int k = 0; k < 20; k++) pricing_add(d, &option_asian_schema, 85 + k, OPTION_CALL);
}

static void make_own(pricing *d) {
  d->p.payoff = function_of(
      (const char *const[]){"fixing_1_2", "mean_1", "max_1", "geometric_1", "low_1", "fixing_1_5"}, 6, 0.5, -540, true);
}

/* High and low in one payoff: from their joint law. */
static void make_range(pricing *d) {
  d->p.payoff = function_of((const char *const[]){"high_1", "low_1", "last_1"}, 3, -1, -60, true);
}

static void make_heston(pricing *d) {
  pricing_set_motion(d, 0);
  d->assets[0].heston = pricing_heston(0.04, 0.5, 0.04, 1, -0.9);
  pricing_add(d, &option_european_schema, 100, OPTION_CALL);
  pricing_add(d, &option_asian_schema, 100, OPTION_PUT);
  option_payoff *o = pricing_add(d, &option_barrier_schema, 100, OPTION_PUT);
  o->level = 80;
  o->monitoring = OPTION_CONTINUOUS;
}

static void make_jumps(pricing *d) {
  several(d, 2);
  d->assets[1].jumps = (option_jumps){true, 2, -0.1, 0.15};
  pricing_add(d, &option_european_schema, 100, OPTION_CALL)->asset = 2;
  pricing_add(d, &option_basket_schema, 100, OPTION_CALL);
  pricing_add(d, &option_lookback_schema, NAN, OPTION_CALL)->asset = 2;
}

static void make_local(pricing *d) {
  static double spots[3] = {80, 100, 130}, times[2] = {0, 1}, vols[6] = {0.3, 0.2, 0.15, 0.35, 0.25, 0.2};
  several(d, 2);
  pricing_set_motion(d, 0);
  pricing_set_motion(d, 1);
  d->assets[0].local_vol = pricing_displaced(10, 0.1);
  d->assets[1].vol_grid = (option_vol_grid){true, {spots, 3, 1}, {times, 2, 1}, {vols, 6, 1}};
  pricing_add(d, &option_spread_schema, 3, OPTION_CALL)->second = 2;
  pricing_add(d, &option_asian_schema, 95, OPTION_CALL)->asset = 2;
}

/* Ranks of four prices, with their Greeks. */
static void make_rainbow(pricing *d) {
  static double second[] = {0, 1, 0, 0}, ranks[] = {0.4, 0.3, 0.2, 0.1};
  several(d, 4);
  pricing_add(d, &option_rainbow_schema, 98, OPTION_CALL)->weights = (sim_doubles){second, 4, 1};
  pricing_add(d, &option_rainbow_schema, 98, OPTION_PUT)->weights = (sim_doubles){ranks, 4, 1};
}

/* A local volatility 20/sqrt(S), by which half of the paths end at 0. */
static void make_ends(pricing *d) {
  pricing_set_motion(d, 0);
  d->assets[0].local_vol = pricing_root(20);
  pricing_add(d, &option_european_schema, 100, OPTION_CALL);
  pricing_add(d, &option_digital_schema, 1, OPTION_PUT);
}

static void make_far(pricing *d) { pricing_add(d, &option_asian_schema, 100, OPTION_PUT); }

static void make_american(pricing *d) {
  several(d, 2);
  option_payoff *o = pricing_add(d, &option_american_schema, 100, OPTION_PUT);
  o->fit_paths = 20000;
  o = pricing_add(d, &option_american_schema, 97, OPTION_CALL);
  o->asset = 2;
  o->every = 2;
  o->degree = 5;
  o->fit_paths = 10000;
  pricing_add(d, &option_european_schema, 100, OPTION_PUT);
}

static void make_american_heston(pricing *d) {
  pricing_set_motion(d, 0);
  d->assets[0].heston = pricing_heston(0.04, 0.5, 0.04, 1, -0.9);
  pricing_add(d, &option_american_schema, 110, OPTION_PUT)->fit_paths = 20000;
}

/* Rules that see the volatility of one asset, of two, and of none. */
static void make_american_volatilities(pricing *d) {
  for (int a = 1; a < 3; a++) pricing_add_asset(d, 100, 0.25);
  for (int a = 0; a < 2; a++) pricing_set_motion(d, a);
  d->assets[0].heston = pricing_heston(0.04, 1.5, 0.05, 0.6, -0.7);
  d->assets[1].sabr = (option_sabr){true, 2, 0.5, -0.4, 0.7};
  option_payoff *o = pricing_add(d, &option_american_schema, 105, OPTION_PUT);
  o->asset = 2;
  o->fit_paths = 20000;
  o = pricing_add(d, &option_american_schema, 95, OPTION_CALL);
  o->asset = 3;
  o->fit_paths = 10000;
  o = pricing_add(d, &option_american_schema, 100, OPTION_PUT);
  o->on = OPTION_ON_WORST;
  o->every = 2;
  o->fit_paths = 20000;
}

static void use_sobol(pricing *d, int construction) {
  d->p.sampling.sequence = OPTION_SOBOL;
  d->p.sampling.scrambles = 16;
  d->p.sampling.construction = construction;
}

static void make_sobol(pricing *d) {
  use_sobol(d, OPTION_BRIDGE);
  make_asian(d);
  pricing_add(d, &option_lookback_schema, NAN, OPTION_CALL)->monitoring = OPTION_CONTINUOUS;
}

static void make_sobol_heston(pricing *d) {
  use_sobol(d, OPTION_BRIDGE);
  pricing_set_motion(d, 0);
  d->assets[0].heston = pricing_heston(0.010201, 6.21, 0.019, 0.61, -0.7);
  pricing_add(d, &option_european_schema, 100, OPTION_CALL);
  pricing_add(d, &option_asian_schema, 100, OPTION_PUT);
}

static void make_components(pricing *d) {
  use_sobol(d, OPTION_PCA);
  several(d, 2);
  pricing_set_motion(d, 0);
  d->assets[0].heston = pricing_heston(0.04, 0.5, 0.04, 1, -0.9);
  pricing_add(d, &option_basket_schema, 98, OPTION_PUT);
}

static void make_matched(pricing *d) {
  d->p.sampling.moment_matching = true;
  several(d, 2);
  pricing_add(d, &option_spread_schema, 3, OPTION_CALL)->second = 2;
  pricing_add(d, &option_asian_schema, 95, OPTION_CALL)->asset = 2;
}

static void make_matched_european(pricing *d) {
  d->p.sampling.moment_matching = true;
  make_european(d);
}

/* ---- dates ---- */

static const double three[] = {0.1, 0.35, 0.8}, four[] = {0.1, 0.35, 0.8, 1}, two[] = {0.35, 0.8};

static void at(option_payoff *o, const double *dates, size_t count) {
  o->dates = (sim_doubles){(double *)(uintptr_t)dates, count, 1};
}

static void make_dates(pricing *d) {
  at(pricing_add(d, &option_asian_schema, 100, OPTION_CALL), three, 3);
  option_payoff *o = pricing_add(d, &option_asian_schema, 98, OPTION_PUT);
  o->average = OPTION_GEOMETRIC_AVERAGE, o->maturity = 0.9;
  at(o, three, 3);
  o = pricing_add(d, &option_barrier_schema, 100, OPTION_CALL);
  o->level = 90;
  at(o, two, 2);
  o = pricing_add(d, &option_double_barrier_schema, 95, OPTION_CALL);
  o->low = 80, o->high = 130, o->rebate = 1;
  at(o, four, 4);
  at(pricing_add(d, &option_lookback_schema, NAN, OPTION_PUT), three, 3);
  o = pricing_add(d, &option_forward_start_schema, 0, OPTION_CALL);
  o->start_time = 0.3, o->moneyness = 1.05, o->maturity = 0.75;
  o = pricing_add(d, &option_autocallable_schema, 0, OPTION_CALL);
  o->level = 105, o->coupon = 0.04, o->protection = 80, o->cash = 100, o->passed = 1;
  at(o, two, 2);
  pricing_add(d, &option_european_schema, 95, OPTION_PUT)->maturity = 0.5;
}

static void make_own_maturities(pricing *d) {
  pricing_add(d, &option_european_schema, 95, OPTION_PUT)->maturity = 0.5;
  pricing_add(d, &option_asian_schema, 95, OPTION_PUT)->maturity = 0.5;
  pricing_add(d, &option_lookback_schema, 105, OPTION_CALL)->maturity = 0.75;
  pricing_add(d, &option_european_schema, 105, OPTION_CALL);
}

static void make_windows(pricing *d) {
  option_payoff *o = pricing_add(d, &option_barrier_schema, 100, OPTION_CALL);
  o->monitoring = OPTION_CONTINUOUS, o->level = 90, o->from = 0.2, o->to = 0.6;
  o = pricing_add(d, &option_barrier_schema, 100, OPTION_CALL);
  o->monitoring = OPTION_CONTINUOUS, o->level = 130, o->direction = OPTION_UP, o->maturity = 0.7;
  o = pricing_add(d, &option_double_barrier_schema, 95, OPTION_CALL);
  o->monitoring = OPTION_CONTINUOUS, o->low = 80, o->high = 130, o->maturity = 0.7;
  pricing_add(d, &option_lookback_schema, NAN, OPTION_CALL)->monitoring = OPTION_CONTINUOUS;
  o = pricing_add(d, &option_lookback_schema, NAN, OPTION_PUT);
  o->monitoring = OPTION_CONTINUOUS, o->maturity = 0.7, o->extreme = 104;
}

/* All motions on unequal steps. */
static void make_moved_dates(pricing *d) {
  static double spots[3] = {80, 100, 130}, times[2] = {0, 1}, vols[6] = {0.3, 0.2, 0.15, 0.35, 0.25, 0.2};
  several(d, 4);
  for (int a = 0; a < 3; a++) pricing_set_motion(d, a);
  d->assets[0].heston = pricing_heston(0.04, 0.5, 0.04, 1, -0.9);
  d->assets[0].jumps = (option_jumps){true, 1, -0.1, 0.15};
  d->assets[1].local_vol = function_of((const char *const[]){"S", "t"}, 2, 0.001, 0.1, false);
  d->assets[2].vol_grid = (option_vol_grid){true, {spots, 3, 1}, {times, 2, 1}, {vols, 6, 1}};
  for (int a = 1; a <= 4; a++) {
    option_payoff *o = pricing_add(d, &option_asian_schema, 95, OPTION_CALL);
    o->asset = a;
    at(o, a % 2 ? three : four, a % 2 ? 3 : 4);
  }
  option_payoff *o = pricing_add(d, &option_forward_start_schema, 0, OPTION_CALL);
  o->start_time = 0.3, o->moneyness = 1.05, o->maturity = 0.75;
  pricing_add(d, &option_european_schema, 95, OPTION_PUT)->maturity = 0.5;
}

/* Theta moves the first date, and with it the times of a local volatility and the lengths of steps. */
static void make_moved_greeks(pricing *d) {
  several(d, 2);
  for (int a = 0; a < 2; a++) pricing_set_motion(d, a);
  d->assets[0].heston = pricing_heston(0.04, 0.5, 0.04, 1, -0.9);
  d->assets[0].jumps = (option_jumps){true, 1, -0.1, 0.15};
  d->assets[1].local_vol = function_of((const char *const[]){"S", "t"}, 2, 0.001, 0.1, false);
  for (int a = 1; a <= 2; a++) {
    option_payoff *o = pricing_add(d, &option_asian_schema, 95, OPTION_CALL);
    o->asset = a;
    at(o, a % 2 ? three : four, a % 2 ? 3 : 4);
    o = pricing_add(d, &option_forward_start_schema, 0, OPTION_CALL);
    o->asset = a, o->start_time = 0.3, o->moneyness = 1.05, o->maturity = 0.75;
  }
}

static void pay_cash(pricing *d) {
  static double rows[] = {0.25, 2, 0.8, 3};
  d->assets[0].dividends = (sim_doubles){rows, 2, 2};
  pricing_add(d, &option_european_schema, 100, OPTION_CALL);
  at(pricing_add(d, &option_asian_schema, 95, OPTION_PUT), four, 4);
  option_payoff *o = pricing_add(d, &option_american_schema, 100, OPTION_CALL);
  o->fit_paths = 20000;
  at(o, four, 4);
}

static void make_cash(pricing *d) { pay_cash(d); }

static void make_cash_heston(pricing *d) {
  pricing_set_motion(d, 0);
  d->assets[0].heston = pricing_heston(0.04, 0.5, 0.04, 1, -0.9);
  pay_cash(d);
}

/* Parameters that change in time: every step is a kind of its own. */
static void make_curves(pricing *d) {
  pricing_set_motion(d, 0);
  d->assets[0].heston = pricing_heston(0.04, 0.5, 0.04, 1, -0.9);
  sim_expr_free(&d->assets[0].heston.sigma);
  d->assets[0].heston.sigma = pricing_line(1, -0.5);
  pricing_add(d, &option_european_schema, 100, OPTION_CALL);
  pricing_add(d, &option_asian_schema, 100, OPTION_PUT);
}

static void make_bermudan(pricing *d) {
  option_payoff *o = pricing_add(d, &option_american_schema, 100, OPTION_PUT);
  o->fit_paths = 20000;
  at(o, four, 4);
  o = pricing_add(d, &option_american_schema, 97, OPTION_CALL);
  o->fit_paths = 10000, o->maturity = 0.9;
  at(o, two, 2);
  o = pricing_add(d, &option_american_schema, 105, OPTION_PUT);
  o->fit_paths = 10000, o->maturity = 0.5;
  o->every = 1;
}

/* ---- early exercise on several assets ---- */

static option_payoff *add_joint(pricing *d, double strike, option_type type, int on) {
  option_payoff *o = pricing_add(d, &option_american_schema, strike, type);
  o->on = on;
  o->fit_paths = 20000;
  return o;
}

static void add_exercise(pricing *d, const char *first, const char *second) {
  option_payoff *o = add_joint(d, NAN, OPTION_CALL, OPTION_ON_ASSET);
  o->exercise = function_of((const char *const[]){first, second}, 2, 0.5, -140, true);
}

/* All kinds of payments and bases, beside an exercise on one asset. */
static void make_joint(pricing *d) {
  static double weights[] = {0.5, 0.3, 0.2};
  several(d, 3);
  add_joint(d, 100, OPTION_CALL, OPTION_ON_BEST);
  add_joint(d, 97, OPTION_PUT, OPTION_ON_WORST)->basis = OPTION_BASIS_ORDERED;
  option_payoff *o = add_joint(d, 98, OPTION_PUT, OPTION_ON_BASKET);
  o->weights = (sim_doubles){weights, 3, 1}, o->every = 2;
  add_exercise(d, "last_3", "last_1");
  add_joint(d, 100, OPTION_PUT, OPTION_ON_BASKET)->basis = OPTION_BASIS_PAYOFF;
  pricing_add(d, &option_american_schema, 100, OPTION_PUT)->fit_paths = 20000;
}

static void make_joint_greeks(pricing *d) {
  several(d, 2);
  add_joint(d, 100, OPTION_CALL, OPTION_ON_BEST);
}

static void make_joint_motions(pricing *d) {
  several(d, 2);
  pricing_set_motion(d, 0);
  d->assets[0].heston = pricing_heston(0.04, 0.5, 0.04, 1, -0.9);
  d->assets[1].jumps = (option_jumps){true, 2, -0.1, 0.15};
  static double rows[] = {0.25, 2, 0.8, 3};
  d->assets[1].dividends = (sim_doubles){rows, 2, 2};
  at(add_joint(d, 98, OPTION_PUT, OPTION_ON_WORST), four, 4);
  option_payoff *o = add_joint(d, 98, OPTION_CALL, OPTION_ON_BASKET);
  o->maturity = 0.9;
  at(o, two, 2);
}

/* Loops over assets are not unrolled; the basis is the payment's powers, since others have too many functions. */
static void make_joint_many(pricing *d) {
  several(d, 12);
  add_joint(d, 85, OPTION_PUT, OPTION_ON_BASKET);
}

static void make_joint_sobol(pricing *d) {
  use_sobol(d, OPTION_BRIDGE);
  make_joint_greeks(d);
}

/* ---- SABR ---- */

/* Powers on both sides of the special cases; the first asset is near 0, where steps take the table. */
static void make_sabr(pricing *d) {
  static const option_sabr models[] = {
      {true, 8, 0.5, -0.3, 0.5}, {true, 20, 0, 0.4, 0.6}, {true, 0.3, 1, -0.5, 0.4}, {true, 0.3, 0.9, 0, 0}};
  several(d, 5);
  for (int a = 0; a < 4; a++) {
    pricing_set_motion(d, a);
    d->assets[a].sabr = models[a];
    pricing_add(d, &option_european_schema, 95, OPTION_CALL)->asset = a + 1;
    pricing_add(d, &option_asian_schema, 95, OPTION_PUT)->asset = a + 1;
  }
  d->assets[2].jumps = (option_jumps){true, 1, -0.1, 0.15};
  pricing_add(d, &option_worst_of_schema, 90, OPTION_PUT);
}

static void make_sabr_alone(pricing *d) {
  pricing_set_motion(d, 0);
  d->assets[0].sabr = (option_sabr){true, 6, 0.5, -0.3, 0.5};
  pricing_add(d, &option_european_schema, 100, OPTION_CALL);
}

/* Leverage functions of a local volatility as a function and on a grid, mixed in part; on dates too. */
static void make_leverage(pricing *d) {
  static double spots[3] = {80, 100, 130}, times[2] = {0, 1}, vols[6] = {0.3, 0.2, 0.15, 0.35, 0.25, 0.2};
  several(d, 2);
  for (int a = 0; a < 2; a++) {
    pricing_set_motion(d, a);
    d->assets[a].heston = pricing_heston(0.04, 1.5, 0.05, 0.6, a == 0 ? -0.7 : 0.2);
    d->assets[a].leverage = (option_leverage){true, a == 0 ? 1 : 0.5, 16384};
  }
  d->assets[0].local_vol = pricing_displaced(10, 0.1);
  d->assets[1].vol_grid = (option_vol_grid){true, {spots, 3, 1}, {times, 2, 1}, {vols, 6, 1}};
  pricing_add(d, &option_spread_schema, 3, OPTION_CALL)->second = 2;
  pricing_add(d, &option_asian_schema, 95, OPTION_CALL)->asset = 2;
  option_payoff *o = pricing_add(d, &option_barrier_schema, 100, OPTION_CALL);
  o->level = 85, o->monitoring = OPTION_CONTINUOUS;
  o = pricing_add(d, &option_forward_start_schema, 0, OPTION_CALL);
  o->start = 1, o->moneyness = 1.05;
}

static void make_leverage_alone(pricing *d) {
  pricing_set_motion(d, 0);
  d->assets[0].heston = pricing_heston(0.04, 1.5, 0.05, 0.6, -0.7);
  d->assets[0].local_vol = pricing_displaced(10, 0.1);
  d->assets[0].leverage = (option_leverage){true, 0.8, 16384};
  pricing_add(d, &option_european_schema, 100, OPTION_PUT);
  pricing_add(d, &option_american_schema, 100, OPTION_PUT)->fit_paths = 10000;
}

static void make_leverage_dates(pricing *d) {
  use_sobol(d, OPTION_BRIDGE);
  make_leverage_alone(d);
  at(pricing_add(d, &option_asian_schema, 95, OPTION_PUT), four, 4);
}

static void make_sabr_greeks(pricing *d) {
  make_sabr_alone(d);
  at(pricing_add(d, &option_asian_schema, 95, OPTION_CALL), three, 3);
  option_payoff *o = pricing_add(d, &option_american_schema, 105, OPTION_PUT);
  o->fit_paths = 20000;
  at(o, four, 4);
}

static void make_sabr_sobol(pricing *d) {
  use_sobol(d, OPTION_BRIDGE);
  several(d, 2);
  pricing_set_motion(d, 1);
  d->assets[1].sabr = (option_sabr){true, 6, 0.5, -0.3, 0.5};
  add_joint(d, 100, OPTION_PUT, OPTION_ON_WORST);
  pricing_add(d, &option_european_schema, 95, OPTION_CALL)->asset = 2;
}

/* ---- random rates ---- */

static void make_rates(pricing *d) {
  static double correlation[] = {0.3, -0.2};
  several(d, 2);
  d->p.hull_white =
      (option_hull_white){.given = true, .reversion = 0.1, .sigma = 0.02, .correlation = {correlation, 2, 1}};
  at(pricing_add(d, &option_asian_schema, 100, OPTION_CALL), three, 3);
  pricing_add(d, &option_european_schema, 95, OPTION_PUT)->maturity = 0.5;
  option_payoff *o = pricing_add(d, &option_autocallable_schema, 0, OPTION_CALL);
  o->level = 105, o->coupon = 0.04, o->protection = 80, o->cash = 100, o->passed = 1;
  at(o, two, 2);
  pricing_add(d, &option_best_of_schema, 110, OPTION_CALL);
}

static void make_rates_greeks(pricing *d) {
  d->p.hull_white = (option_hull_white){.given = true, .reversion = 0.1, .sigma = 0.02};
  pricing_add(d, &option_european_schema, 100, OPTION_CALL);
  pricing_add(d, &option_digital_schema, 100, OPTION_CALL)->maturity = 0.5;
}

static void make_rates_models(pricing *d) {
  several(d, 2);
  pricing_set_motion(d, 0);
  d->assets[0].heston = pricing_heston(0.04, 0.5, 0.04, 1, -0.9);
  d->p.hull_white = (option_hull_white){.given = true, .reversion = 0, .sigma = 0.03};
  pricing_add(d, &option_european_schema, 100, OPTION_CALL);
  pricing_add(d, &option_basket_schema, 98, OPTION_PUT);
}

static void make_rates_sobol(pricing *d) {
  use_sobol(d, OPTION_BRIDGE);
  make_rates_models(d);
}

static void make_rates_matched(pricing *d) {
  d->p.sampling.moment_matching = true;
  make_rates(d);
}

static void make_begun(pricing *d) {
  static double past[] = {95, 103};
  option_payoff *o = pricing_add(d, &option_asian_schema, 100, OPTION_CALL);
  o->past = (sim_doubles){past, 2, 1};
  at(o, three, 3);
  o = pricing_add(d, &option_asian_schema, 100, OPTION_CALL);
  o->past = (sim_doubles){past, 2, 1}, o->average = OPTION_GEOMETRIC_AVERAGE;
  o = pricing_add(d, &option_lookback_schema, 100, OPTION_CALL);
  o->extreme = 108;
  at(o, three, 3);
}

static void add_swaps(pricing *d) {
  for (int k = 0; k < 2; k++) {
    option_payoff *o =
        pricing_add(d, k ? &option_volatility_swap_schema : &option_variance_swap_schema, 20, OPTION_CALL);
    o->cash = 1;
    o = pricing_add(d, k ? &option_volatility_swap_schema : &option_variance_swap_schema, 20, OPTION_CALL);
    o->cash = 1, o->per_year = 4;
    at(o, four, 4);
  }
}

static void make_swaps(pricing *d) { add_swaps(d); }

static void make_swaps_bates(pricing *d) {
  pricing_set_motion(d, 0);
  d->assets[0].heston = pricing_heston(0.04, 0.5, 0.04, 1, -0.9);
  d->assets[0].jumps = (option_jumps){true, 1, -0.1, 0.15};
  add_swaps(d);
}

static void make_sobol_dates(pricing *d) {
  use_sobol(d, OPTION_BRIDGE);
  make_dates(d);
}

/* Points of a ladder, which take two samplers. */
static void add_ladder(pricing *d) {
  static double spots[] = {-0.2, -0.1, 0, 0.1, 0.2}, vols[] = {-0.05, 0, 0.05}, times[] = {0, 0.05};
  d->p.ladder = (option_ladder){.given = true, .spot = {spots, 5, 1}, .vol = {vols, 3, 1}, .time = {times, 2, 1}};
}

static void make_ladder(pricing *d) {
  make_european(d);
  add_ladder(d);
}

static void make_ladder_heston(pricing *d) {
  pricing_set_motion(d, 0);
  d->assets[0].heston = pricing_heston(0.04, 0.5, 0.04, 1, -0.9);
  pricing_add(d, &option_european_schema, 100, OPTION_CALL);
  at(pricing_add(d, &option_asian_schema, 100, OPTION_PUT), two, 2);
  add_ladder(d);
}

/* SABR with a random rate: tracks and rates of their own at each point. */
static void make_ladder_rates(pricing *d) {
  make_rates(d);
  add_ladder(d);
}

/* Each point has a rule of its own. */
static void make_ladder_bermudan(pricing *d) {
  option_payoff *o = pricing_add(d, &option_american_schema, 100, OPTION_PUT);
  o->fit_paths = 20000;
  at(o, four, 4);
  o = pricing_add(d, &option_american_schema, 97, OPTION_CALL);
  o->fit_paths = 10000, o->maturity = 0.9;
  at(o, two, 2);
  add_ladder(d);
}

static void make_ladder_joint(pricing *d) {
  static double spots[] = {-0.1, 0, 0.1}, times[] = {0, 0.1};
  several(d, 2);
  option_payoff *o = pricing_add(d, &option_american_schema, 95, OPTION_CALL);
  o->on = OPTION_ON_BEST, o->fit_paths = 20000;
  at(o, two, 2);
  d->p.ladder = (option_ladder){.given = true, .spot = {spots, 3, 1}, .time = {times, 2, 1}};
}

/* Curves of volatility and rate, and derivatives by their nodes. */
static void set_curves(pricing *d) {
  static const sim_curve_point vol[4] = {{0, 0.2}, {0.3, 0.25}, {0.8, 0.15}, {1.5, 0.2}},
                               rate[2] = {{0, 0.02}, {1, 0.06}};
  sim_expr_free(&d->assets[0].vol);
  sim_expr_free(&d->p.rate);
  d->assets[0].vol = pricing_curve(vol, 4, false);
  d->p.rate = pricing_curve(rate, 2, false);
  d->p.greeks.want[OPTION_VEGA_BUCKET] = d->p.greeks.want[OPTION_RHO_BUCKET] = true;
}

static void make_buckets(pricing *d) {
  set_curves(d);
  make_asian(d);
}

static void make_bumped_buckets(pricing *d) {
  set_curves(d);
  make_barriers(d);
}

/* ---- assets in another currency, rough volatilities, exercise by the highest price or with a random rate ---- */

static option_payoff *exchanged(pricing *d, const sim_schema *schema, double strike, int asset, int exchange) {
  option_payoff *o = pricing_add(d, schema, strike, OPTION_CALL);
  o->asset = asset;
  o->exchange = exchange;
  if (exchange == OPTION_QUANTO) o->exchange_rate = 1.3;
  return o;
}

/* Asset 3 is the price of the currency of the others. */
static void make_currencies(pricing *d) {
  several(d, 3);
  pricing_set_motion(d, 1);
  d->assets[1].heston = pricing_heston(0.04, 1.5, 0.05, 0.6, -0.7);
  d->assets[0].currency = d->assets[1].currency = 3;
  for (int a = 1; a <= 2; a++) {
    exchanged(d, &option_european_schema, 100, a, OPTION_QUANTO);
    exchanged(d, &option_european_schema, 9500, a, OPTION_COMPOSITE);
    exchanged(d, &option_asian_schema, 95, a, OPTION_AT_PAYMENT);
    exchanged(d, &option_american_schema, 95, a, OPTION_QUANTO)->fit_paths = 20000;
  }
  add_exercise(d, "last_2", "last_3");
}

/* In fp32 theta, whose bump is small beside rounding, differs by 0.11 of its standard error. */
static void make_currencies_greeks(pricing *d) {
  several(d, 2);
  pricing_set_motion(d, 0);
  d->assets[0].heston = pricing_heston(0.04, 1.5, 0.05, 0.6, -0.7);
  d->assets[0].currency = 2;
  exchanged(d, &option_european_schema, 100, 1, OPTION_QUANTO);
  if (d->p.common.precision != SIM_DOUBLE) d->p.greeks.want[OPTION_THETA] = false;
}

/* All assets are geometric Brownian motions, whose drift has the exchange. */
static void make_currencies_dates(pricing *d) {
  several(d, 2);
  d->assets[0].currency = 2;
  d->assets[1].spot = 1.2;
  at(exchanged(d, &option_asian_schema, 118, 1, OPTION_COMPOSITE), three, 3);
  at(exchanged(d, &option_barrier_schema, 100, 1, OPTION_QUANTO), four, 4);
  d->payoffs[1].level = 85;
  exchanged(d, &option_european_schema, 100, 1, OPTION_AT_PAYMENT)->maturity = 0.5;
}

static option_rough rough_model(double eta, double hurst, double rho) {
  return (option_rough){true, pricing_line(0.03, 0.04), eta, hurst, rho};
}

static void make_rough(pricing *d) {
  several(d, 3);
  for (int a = 0; a < 2; a++) {
    pricing_set_motion(d, a);
    d->assets[a].rough_bergomi = a == 0 ? rough_model(1.9, 0.07, -0.9) : rough_model(1.2, 0.3, 0.2);
  }
  d->assets[1].jumps = (option_jumps){true, 1, -0.1, 0.15};
  pricing_add(d, &option_european_schema, 100, OPTION_CALL);
  pricing_add(d, &option_asian_schema, 95, OPTION_PUT)->asset = 2;
  pricing_add(d, &option_worst_of_schema, 90, OPTION_PUT);
  option_payoff *o = pricing_add(d, &option_barrier_schema, 100, OPTION_PUT);
  o->level = 80, o->monitoring = OPTION_CONTINUOUS;
}

/* Steps of several lengths. */
static void make_rough_alone(pricing *d) {
  pricing_set_motion(d, 0);
  d->assets[0].rough_bergomi = rough_model(1.9, 0.1, -0.7);
  at(pricing_add(d, &option_asian_schema, 95, OPTION_CALL), three, 3);
  option_payoff *o = pricing_add(d, &option_american_schema, 105, OPTION_PUT);
  o->fit_paths = 20000;
  at(o, four, 4);
}

/* An asset of rough volatility in another currency, with few steps and with many. */
static void make_rough_currency(pricing *d) {
  several(d, 2);
  pricing_set_motion(d, 0);
  d->assets[0].rough_bergomi = rough_model(1.5, 0.15, -0.5);
  d->assets[0].currency = 2;
  exchanged(d, &option_european_schema, 100, 1, OPTION_QUANTO);
  exchanged(d, &option_european_schema, 9500, 1, OPTION_COMPOSITE);
}

static void make_highest(pricing *d) {
  several(d, 2);
  pricing_set_motion(d, 1);
  d->assets[1].heston = pricing_heston(0.04, 1.5, 0.05, 0.6, -0.7);
  add_exercise(d, "last_1", "max_1");
  add_exercise(d, "max_2", "last_1");
  pricing_add(d, &option_lookback_schema, NAN, OPTION_CALL);
}

static void make_rates_exercise(pricing *d) {
  static double correlation[] = {0.3};
  d->p.hull_white =
      (option_hull_white){.given = true, .reversion = 0.1, .sigma = 0.02, .correlation = {correlation, 1, 1}};
  pricing_add(d, &option_american_schema, 105, OPTION_PUT)->fit_paths = 20000;
  option_payoff *o = pricing_add(d, &option_american_schema, 105, OPTION_PUT);
  o->fit_paths = 20000, o->basis = OPTION_BASIS_PAYOFF;
  pricing_add(d, &option_european_schema, 100, OPTION_CALL);
}

static void make_rates_joint(pricing *d) {
  several(d, 2);
  pricing_set_motion(d, 0);
  d->assets[0].heston = pricing_heston(0.04, 1.5, 0.05, 0.6, -0.7);
  d->p.hull_white = (option_hull_white){.given = true, .reversion = 0, .sigma = 0.03};
  at(add_joint(d, 98, OPTION_PUT, OPTION_ON_WORST), four, 4);
  add_exercise(d, "last_1", "last_2");
}

static void make_rates_highest(pricing *d) {
  static double spots[] = {-0.1, 0, 0.1};
  make_rates_exercise(d);
  add_exercise(d, "last_1", "max_1");
  d->p.ladder = (option_ladder){.given = true, .spot = {spots, 3, 1}};
}

const option_case option_cases[OPTION_CASES] = {
    {"european", make_european, 1, OPTION_CONTROL_UNDERLYING, false, true, OPTION_AUTO, 0.2, 1},
    {"european, bumped", make_european, 1, OPTION_NO_CONTROL, true, true, OPTION_BUMP, 0.2, 1, true},
    {"asian", make_asian, 30, OPTION_CONTROL_UNDERLYING, true, true, OPTION_AUTO, 0.2, 1},
    {"asian, likelihood", make_asian, 12, OPTION_NO_CONTROL, false, true, OPTION_LIKELIHOOD, 0.2, 1},
    {"barriers", make_barriers, 10, OPTION_NO_CONTROL, true, false, OPTION_AUTO, 0.3, 1},
    {"barriers' greeks", make_barriers, 5, OPTION_NO_CONTROL, false, true, OPTION_AUTO, 0.3, 1},
    {"two barriers", make_double_barriers, 6, OPTION_NO_CONTROL, true, true, OPTION_AUTO, 0.25, 1},
    {"lookbacks", make_lookbacks, 9, OPTION_NO_CONTROL, true, false, OPTION_AUTO, 0.2, 1},
    {"several assets", make_several, 6, OPTION_CONTROL_UNDERLYING, false, true, OPTION_AUTO, 0.2, 1},
    {"rainbow", make_rainbow, 3, OPTION_NO_CONTROL, false, true, OPTION_AUTO, 0.2, 1},
    {"twelve assets", make_many_assets, 5, OPTION_NO_CONTROL, true, false, OPTION_AUTO, 0.2, 1},
    {"strikes", make_strikes, 8, OPTION_CONTROL_GEOMETRIC, true, false, OPTION_AUTO, 0.2, 1},
    {"own payoff", make_own, 7, OPTION_CONTROL_GEOMETRIC, false, false, OPTION_AUTO, 0.2, 1},
    {"high and low", make_range, 5, OPTION_NO_CONTROL, true, false, OPTION_AUTO, 0.2, 1},
    {"Heston", make_heston, 10, OPTION_NO_CONTROL, true, false, OPTION_AUTO, 0.2, 2},
    {"Heston's greeks", make_heston, 6, OPTION_NO_CONTROL, false, true, OPTION_AUTO, 0.2, 2},
    {"jumps", make_jumps, 6, OPTION_NO_CONTROL, true, true, OPTION_AUTO, 0.2, 1},
    {"local volatility", make_local, 6, OPTION_NO_CONTROL, true, true, OPTION_AUTO, 0.2, 1},
    {"local volatility, to 0", make_ends, 32, OPTION_NO_CONTROL, true, false, OPTION_AUTO, 0.2, 1},
    {"american", make_american, 12, OPTION_NO_CONTROL, true, false, OPTION_AUTO, 0.2, 1},
    {"american, Heston", make_american_heston, 2, OPTION_NO_CONTROL, false, true, OPTION_AUTO, 0.2, 1},
    {"american, volatilities", make_american_volatilities, 6, OPTION_NO_CONTROL, true, true, OPTION_AUTO, 0.2, 1},
    {"Sobol", make_sobol, 13, OPTION_CONTROL_GEOMETRIC, true, false, OPTION_AUTO, 0.2, 1},
    {"Sobol, components", make_components, 6, OPTION_NO_CONTROL, false, false, OPTION_AUTO, 0.2, 1},
    {"Sobol, one step", make_sobol, 1, OPTION_NO_CONTROL, false, false, OPTION_AUTO, 0.2, 1},
    {"Sobol, Heston", make_sobol_heston, 2, OPTION_NO_CONTROL, true, false, OPTION_AUTO, 0.2, 1},
    {"Sobol, Heston, one step", make_sobol_heston, 1, OPTION_NO_CONTROL, false, false, OPTION_AUTO, 0.2, 1},
    {"matched", make_matched, 6, OPTION_CONTROL_UNDERLYING, true, false, OPTION_AUTO, 0.2, 1},
    {"matched, one step", make_matched_european, 1, OPTION_NO_CONTROL, false, true, OPTION_AUTO, 0.2, 1},
    {"matched, two steps", make_matched_european, 2, OPTION_CONTROL_UNDERLYING, false, false, OPTION_AUTO, 0.2, 1},
    {"far", make_far, 3, OPTION_NO_CONTROL, true, false, OPTION_AUTO, 4, 30},
    {"dates", make_dates, 5, OPTION_NO_CONTROL, true, true, OPTION_AUTO, 0.25, 1, true},
    {"dates' maturities", make_own_maturities, 8, OPTION_NO_CONTROL, false, false, OPTION_AUTO, 0.25, 1},
    {"dates' windows", make_windows, 5, OPTION_NO_CONTROL, true, false, OPTION_AUTO, 0.25, 1},
    {"dates, motions", make_moved_dates, 7, OPTION_NO_CONTROL, true, false, OPTION_AUTO, 0.25, 1},
    {"dates, motions' greeks", make_moved_greeks, 5, OPTION_NO_CONTROL, false, true, OPTION_AUTO, 0.25, 1},
    {"dates, cash", make_cash, 5, OPTION_NO_CONTROL, true, true, OPTION_AUTO, 0.25, 1, true},
    {"dates, cash, Heston", make_cash_heston, 7, OPTION_NO_CONTROL, false, false, OPTION_AUTO, 0.25, 1},
    {"dates' curves, Heston", make_curves, 7, OPTION_NO_CONTROL, true, true, OPTION_AUTO, 0.25, 1},
    {"dates of exercise", make_bermudan, 4, OPTION_NO_CONTROL, true, false, OPTION_AUTO, 0.25, 1},
    {"dates of the past", make_begun, 5, OPTION_CONTROL_UNDERLYING, false, false, OPTION_AUTO, 0.25, 1},
    {"dates, swaps", make_swaps, 9, OPTION_NO_CONTROL, true, false, OPTION_AUTO, 0.25, 1},
    {"dates, swaps, Bates", make_swaps_bates, 6, OPTION_CONTROL_UNDERLYING, false, false, OPTION_AUTO, 0.25, 1},
    {"dates, Sobol", make_sobol_dates, 5, OPTION_NO_CONTROL, true, false, OPTION_AUTO, 0.25, 1},
    {"ladder", make_ladder, 1, OPTION_CONTROL_UNDERLYING, true, true, OPTION_AUTO, 0.2, 1, true},
    {"ladder, Heston", make_ladder_heston, 7, OPTION_NO_CONTROL, false, false, OPTION_AUTO, 0.25, 1},
    {"ladder, random rates", make_ladder_rates, 5, OPTION_NO_CONTROL, true, false, OPTION_AUTO, 0.25, 1},
    {"ladder, dates of exercise", make_ladder_bermudan, 4, OPTION_NO_CONTROL, true, false, OPTION_AUTO, 0.25, 1},
    {"ladder, joint exercise", make_ladder_joint, 4, OPTION_NO_CONTROL, false, false, OPTION_AUTO, 0.2, 1},
    {"joint exercise", make_joint, 4, OPTION_NO_CONTROL, true, false, OPTION_AUTO, 0.2, 1},
    {"joint exercise, greeks", make_joint_greeks, 3, OPTION_NO_CONTROL, true, true, OPTION_AUTO, 0.2, 1, true},
    {"joint exercise, motions", make_joint_motions, 5, OPTION_NO_CONTROL, true, false, OPTION_AUTO, 0.25, 1},
    {"joint exercise, many assets", make_joint_many, 4, OPTION_NO_CONTROL, false, false, OPTION_AUTO, 0.2, 1},
    {"SABR", make_sabr, 6, OPTION_NO_CONTROL, true, false, OPTION_AUTO, 0.2, 1},
    {"SABR's greeks", make_sabr_greeks, 5, OPTION_NO_CONTROL, true, true, OPTION_AUTO, 0.2, 1},
    {"SABR, Sobol", make_sabr_sobol, 6, OPTION_NO_CONTROL, false, false, OPTION_AUTO, 0.2, 1},
    {"SABR, one step", make_sabr_alone, 1, OPTION_NO_CONTROL, false, false, OPTION_AUTO, 0.2, 0.25},
    {"leverage", make_leverage, 6, OPTION_NO_CONTROL, true, false, OPTION_AUTO, 0.2, 1},
    {"leverage's greeks", make_leverage_alone, 4, OPTION_NO_CONTROL, true, true, OPTION_AUTO, 0.2, 1},
    {"leverage, dates, Sobol", make_leverage_dates, 5, OPTION_CONTROL_UNDERLYING, false, false, OPTION_AUTO, 0.2, 1},
    {"random rates", make_rates, 5, OPTION_NO_CONTROL, true, false, OPTION_AUTO, 0.25, 1},
    {"random rates' greeks", make_rates_greeks, 4, OPTION_NO_CONTROL, true, true, OPTION_AUTO, 0.2, 1, true},
    {"random rates, models", make_rates_models, 6, OPTION_NO_CONTROL, false, false, OPTION_AUTO, 0.2, 1},
    {"random rates, Sobol", make_rates_sobol, 2, OPTION_NO_CONTROL, true, false, OPTION_AUTO, 0.2, 1},
    {"random rates, matched", make_rates_matched, 5, OPTION_NO_CONTROL, false, false, OPTION_AUTO, 0.25, 1},
    {"joint exercise, Sobol", make_joint_sobol, 6, OPTION_CONTROL_UNDERLYING, false, false, OPTION_AUTO, 0.2, 1},
    {"second derivatives", make_european, 1, OPTION_CONTROL_UNDERLYING, true, true, OPTION_AUTO, 0.2, 1, false, true},
    {"second derivatives, steps", make_asian, 12, OPTION_NO_CONTROL, false, true, OPTION_AUTO, 0.2, 1, false, true},
    {"second derivatives, bumped", make_european, 1, OPTION_NO_CONTROL, false, true, OPTION_BUMP, 0.2, 1, true, true},
    {"second derivatives, barriers", make_barriers, 5, OPTION_NO_CONTROL, false, true, OPTION_AUTO, 0.3, 1, true, true},
    {"second derivatives, assets", make_several, 6, OPTION_NO_CONTROL, false, true, OPTION_AUTO, 0.2, 1, false, true},
    {"second derivatives, Heston", make_heston, 6, OPTION_NO_CONTROL, false, true, OPTION_AUTO, 0.2, 2, false, true},
    {"second derivatives, SABR", make_sabr_greeks, 5, OPTION_NO_CONTROL, true, true, OPTION_AUTO, 0.2, 1, false, true},
    {"buckets", make_buckets, 12, OPTION_NO_CONTROL, false, true, OPTION_AUTO, 0.2, 1},
    {"buckets, control", make_buckets, 12, OPTION_CONTROL_UNDERLYING, true, true, OPTION_AUTO, 0.2, 1},
    {"buckets, bumped", make_bumped_buckets, 5, OPTION_NO_CONTROL, false, true, OPTION_AUTO, 0.3, 1, true},
    {"currencies", make_currencies, 4, OPTION_NO_CONTROL, true, false, OPTION_AUTO, 0.2, 1},
    {"currencies' greeks", make_currencies_greeks, 2, OPTION_NO_CONTROL, false, true, OPTION_AUTO, 0.2, 1},
    {"currencies, dates", make_currencies_dates, 5, OPTION_NO_CONTROL, true, false, OPTION_AUTO, 0.25, 1},
    {"rough volatility", make_rough, 9, OPTION_NO_CONTROL, true, false, OPTION_AUTO, 0.2, 1},
    {"rough volatility's greeks", make_rough_alone, 5, OPTION_NO_CONTROL, true, true, OPTION_AUTO, 0.2, 1},
    {"rough volatility, one step", make_rough_currency, 1, OPTION_NO_CONTROL, true, false, OPTION_AUTO, 0.2, 1},
    {"rough volatility, currency", make_rough_currency, 70, OPTION_NO_CONTROL, false, false, OPTION_AUTO, 0.2, 1},
    {"exercise by highest", make_highest, 5, OPTION_NO_CONTROL, true, false, OPTION_AUTO, 0.2, 1},
    {"exercise by highest, greeks", make_highest, 4, OPTION_NO_CONTROL, false, true, OPTION_AUTO, 0.2, 1, true},
    {"random rates, exercise", make_rates_exercise, 6, OPTION_NO_CONTROL, true, true, OPTION_AUTO, 0.2, 1, true},
    {"random rates, joint exercise", make_rates_joint, 5, OPTION_NO_CONTROL, true, false, OPTION_AUTO, 0.2, 1},
    {"random rates, highest", make_rates_highest, 4, OPTION_NO_CONTROL, false, false, OPTION_AUTO, 0.2, 1},
};

void option_case_make(pricing *d, int which, sim_precision precision, const sim_backend *backend) {
  const option_case *of = &option_cases[which];
  pricing_make(d, precision, of->vol, 0.05, of->maturity, of->steps);
  d->p.sampling.antithetic = of->antithetic;
  d->p.sampling.control = of->control;
  d->p.sampling.paths = 2 * (0x1p16 + 5431); /* a block, or two, and a part */
  d->p.greeks.method = of->method;
  for (int g = 0; g < OPTION_GREEKS; g++)
    d->p.greeks.want[g] = of->greeks && g < OPTION_BUCKETS && (of->second || g < OPTION_SECOND);
  d->setup.backend = backend;
  of->make(d);
  if (d->p.assets.count < 2) d->p.greeks.want[OPTION_CROSS_GAMMA] = false;
}
