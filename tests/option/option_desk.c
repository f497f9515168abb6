/* Quantos, composites and payments that are converted, against the formulas of Black and Scholes with E. Reiner's
 * changes (Risk 5 (1992) 59), and accumulators against the quadrature of accumulator.py.
 * An asset at 100 in a currency that costs 1.2: its market has the rate 0.03, the run's 0.05. */
#include "tests/option/option_driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

typedef struct market {
  double spot, exchange, vol, exchange_vol, rate, T, dividend, foreign, correlation;
} market;
static const market base = {100, 1.2, 0.25, 0.12, 0.05, 1, 0.01, 0.03, -0.4};

static double below(double x) { return 0.5 * erfc(-x * 0.70710678118654752440); }

static double black(double forward, double strike, double deviation) {
  const double d = log(forward / strike) / deviation + deviation / 2;
  return forward * below(d) - strike * below(d - deviation);
}

/* A call of strike 105 that pays 1.3 for one of its currency; of strike 125 on the converted price; of strike 105 whose
 * payment is converted. */
static double known_of(int exchange, const market *m) {
  const double covariance = m->correlation * m->vol * m->exchange_vol, root = sqrt(m->T);
  if (exchange == OPTION_QUANTO)
    return 1.3 * exp(-m->rate * m->T) *
           black(m->spot * exp((m->foreign - m->dividend - covariance) * m->T), 105, m->vol * root);
  if (exchange == OPTION_AT_PAYMENT)
    return m->exchange * exp(-m->foreign * m->T) *
           black(m->spot * exp((m->foreign - m->dividend) * m->T), 105, m->vol * root);
  const double vol = sqrt(m->vol * m->vol + m->exchange_vol * m->exchange_vol + 2 * covariance);
  return exp(-m->rate * m->T) * black(m->spot * m->exchange * exp((m->rate - m->dividend) * m->T), 125, vol * root);
}

/* The price where the members at two places are changed by a and b. */
static double changed(int exchange, size_t at, double a, size_t and, double b) {
  market m = base;
  *(double *)(void *)((char *)&m + at) += a;
  *(double *)(void *)((char *)&m + and) += b;
  return known_of(exchange, &m);
}

/* A derivative by one or two members, by differences of steps h: off by less than 1e-5 of it. */
static double slope(int exchange, size_t at, double h) {
  return (changed(exchange, at, h, at, 0) - changed(exchange, at, -h, at, 0)) / (2 * h);
}
static double second(int exchange, size_t at, double h, size_t and, double k) {
  if (at == and)
    return (changed(exchange, at, h, at, 0) - 2 * known_of(exchange, &base) + changed(exchange, at, -h, at, 0)) /
           (h * h);
  return (changed(exchange, at, h, and, k) - changed(exchange, at, -h, and, k) - changed(exchange, at, h, and, -k) +
          changed(exchange, at, -h, and, -k)) /
         (4 * h * k);
}

static void add_correlation(pricing *d, double *room, double correlation) {
  const double c[] = {1, correlation, correlation, 1};
  memcpy(room, c, sizeof c);
  d->p.correlation = (sim_doubles){.data = room, .rows = 2, .cols = 2};
}

/* The market `base`, with the rate of exchange as asset 2. */
static void make(pricing *d, sim_precision precision, int steps, double *room) {
  pricing_make(d, precision, base.vol, base.rate, base.T, steps);
  pricing_add_asset(d, base.exchange, base.exchange_vol);
  const double dividends[] = {base.dividend, base.foreign};
  for (int a = 0; a < 2; a++) {
    sim_expr_free(&d->assets[a].dividend);
    d->assets[a].dividend = pricing_constant(dividends[a]);
  }
  d->assets[0].currency = 2;
  d->p.sampling.paths = 0x1p18;
  add_correlation(d, room, base.correlation);
}

static option_payoff *add(pricing *d, const sim_schema *schema, double strike, option_type type, int exchange) {
  option_payoff *o = pricing_add(d, schema, strike, type);
  o->exchange = exchange;
  if (exchange == OPTION_QUANTO) o->exchange_rate = 1.3;
  return o;
}

/* Compares with a known number; `bias`: of a difference, as a share of it. */
static void near(const char *what, estimate e, double known, double bias) {
  const double size = fabs(known) * bias, allowed = 4 * e.error + size;
  print_message("    %-34s %.6f +- %.6f, known %.6f\n", what, e.value, e.error, known);
  assert_true(e.error >= 0);
  if (!(fabs(e.value - known) <= allowed)) fail_msg("%s: %g for %g, off by %g", what, e.value, known, allowed);
}

enum { SPOT = offsetof(market, spot), RATE_OF_EXCHANGE = offsetof(market, exchange), VOL = offsetof(market, vol) };
enum { EXCHANGE_VOL = offsetof(market, exchange_vol), RATE = offsetof(market, rate), TIME = offsetof(market, T) };

/* All Greeks of a kind of exchange. Vega, rho, theta and the second derivatives are differences here, whose bias is
 * below 1 % of a Greek of a payoff near the money, and of the larger one of two that nearly cancel. */
static void check_greeks(pricing *d, int k, int exchange) {
  static const char *const names[] = {"", "quanto", "composite", "payment"};
  const double vega = slope(exchange, VOL, 1e-4), all = fabs(vega) + fabs(slope(exchange, EXCHANGE_VOL, 1e-4));
  print_message("  %s\n", names[exchange]);
  near("price", pricing_price(d, k), known_of(exchange, &base), 0);
  if (k > 0) return; /* the table has one asset's Greeks of the first payoff alone by these names */
  near("delta", pricing_greek(d, "delta_1"), slope(exchange, SPOT, 1e-2), 1e-4);
  near("delta by exchange", pricing_greek(d, "delta_2"), slope(exchange, RATE_OF_EXCHANGE, 1e-4), 1e-4);
  near("gamma", pricing_greek(d, "gamma_1"), second(exchange, SPOT, 0.05, SPOT, 0), 0.01);
  near("gamma by exchange", pricing_greek(d, "gamma_2"), second(exchange, RATE_OF_EXCHANGE, 1e-3, RATE_OF_EXCHANGE, 0),
       0.01);
  near("vega", pricing_greek(d, "vega_1"), vega, 0.01);
  const estimate e = pricing_greek(d, "vega_2");
  near("vega by exchange", (estimate){e.value, e.error + 0.001 * all}, slope(exchange, EXCHANGE_VOL, 1e-4), 0.01);
  near("rho", pricing_greek(d, "rho"), slope(exchange, RATE, 1e-4), 0.01);
  near("theta", pricing_greek(d, "theta"), -slope(exchange, TIME, 1e-4), 0.01);
  near("cross gamma", pricing_greek(d, "cross_gamma_1_2"), second(exchange, SPOT, 1e-2, RATE_OF_EXCHANGE, 1e-4), 0.01);
  near("vanna", pricing_greek(d, "vanna_1"), second(exchange, SPOT, 1e-2, VOL, 1e-4), 0.02);
  near("volga", pricing_greek(d, "volga_1"), second(exchange, VOL, 1e-3, VOL, 0), 0.02);
  near("volga by exchange", pricing_greek(d, "volga_2"), second(exchange, EXCHANGE_VOL, 1e-3, EXCHANGE_VOL, 0), 0.02);
}

/* Each kind of exchange: plain, antithetic in fp32, Sobol, matched moments, and with a control. */
static void test_formulas(void **state) {
  (void)state;
  static const double strikes[] = {0, 105, 125, 105};
  for (int way = 0; way < 5; way++)
    for (int first = OPTION_QUANTO; first <= OPTION_AT_PAYMENT; first++) {
      pricing d;
      double room[4];
      if (way > 0 && way != first + 1 && way != 5 - first) continue;
      make(&d, way == 1 ? SIM_MIXED : SIM_DOUBLE, way == 1 ? 4 : 1, room);
      d.p.sampling.antithetic = way == 1;
      d.p.sampling.sequence = way == 2 ? OPTION_SOBOL : OPTION_PHILOX;
      d.p.sampling.moment_matching = way == 3;
      d.p.sampling.scrambles = NAN;
      if (way == 4)
        d.p.sampling.control = first == OPTION_QUANTO ? OPTION_CONTROL_BLACK_SCHOLES : OPTION_CONTROL_UNDERLYING;
      for (int k = 0; k < 3; k++) {
        const int exchange = OPTION_QUANTO + (first - OPTION_QUANTO + k) % 3;
        add(&d, &option_european_schema, strikes[exchange], OPTION_CALL, exchange);
      }
      for (int g = 0; g < OPTION_BUCKETS; g++) d.p.greeks.want[g] = true;
      pricing_run(&d);
      for (int k = 0; k < 3; k++) check_greeks(&d, k, OPTION_QUANTO + (first - OPTION_QUANTO + k) % 3);
      pricing_free(&d);
    }
}

/* Contracts on the converted price: those on one asset of the run's currency, whose volatility is that of the product.
 * Two runs of other seeds; the product moves by its exact law in both. */
static void test_composites(void **state) {
  (void)state;
  static const double dates[] = {0.2, 0.5, 0.7, 1};
  pricing d[2];
  double room[4];
  const double vol = sqrt(0.25 * 0.25 + 0.12 * 0.12 - 2 * 0.4 * 0.25 * 0.12);
  make(&d[0], SIM_DOUBLE, 4, room);
  pricing_make(&d[1], SIM_DOUBLE, vol, base.rate, 1, 4);
  d[1].assets[0].spot = 120;
  sim_expr_free(&d[1].assets[0].dividend);
  d[1].assets[0].dividend = pricing_constant(base.dividend);
  d[1].p.common.seed = 77;
  for (int i = 0; i < 2; i++) {
    const int how = i == 0 ? OPTION_COMPOSITE : OPTION_NO_EXCHANGE;
    const sim_doubles list = {.data = (double *)(uintptr_t)dates, .rows = 4, .cols = 1};
    option_payoff *o = add(&d[i], &option_asian_schema, 120, OPTION_CALL, how);
    o = add(&d[i], &option_asian_schema, 120, OPTION_PUT, how);
    o->average = OPTION_GEOMETRIC_AVERAGE;
    o->dates = list;
    o = add(&d[i], &option_barrier_schema, 115, OPTION_CALL, how);
    o->level = 105;
    o->dates = list;
    o->rebate = 3;
    o = add(&d[i], &option_double_barrier_schema, 115, OPTION_CALL, how);
    o->low = 95;
    o->high = 150;
    add(&d[i], &option_lookback_schema, NAN, OPTION_CALL, how)->dates = list;
    o = add(&d[i], &option_forward_start_schema, 0, OPTION_CALL, how);
    o->start = 2;
    o->moneyness = 1.05;
    add(&d[i], &option_digital_schema, 118, OPTION_PUT, how)->cash = 10;
    o = add(&d[i], &option_autocallable_schema, 0, OPTION_CALL, how);
    o->level = 121;
    o->coupon = 0.05;
    o->protection = 100;
    o->cash = 100;
    o->every = 1;
    o = add(&d[i], &option_accumulator_schema, 115, OPTION_CALL, how);
    o->level = 130;
    o->shares = 2;
    o->gearing = 1.5;
    o->every = 1;
    pricing_run(&d[i]);
  }
  for (int k = 0; k < 9; k++) {
    const estimate a = pricing_price(&d[0], k), b = pricing_price(&d[1], k);
    near("composite", (estimate){a.value, hypot(a.error, b.error)}, b.value, 0);
  }
  for (int i = 0; i < 2; i++) pricing_free(&d[i]);
}

/* The motions of an asset in another currency. */
enum { GEOMETRIC, CURVES, JUMPS, HESTON, ROUGH, SABR, LOCAL, MODELS };
static void set_model(pricing *d, int model) {
  option_asset *a = &d->assets[0];
  if (model == JUMPS) a->jumps = (option_jumps){true, 0.5, -0.1, 0.15};
  if (model == CURVES) {
    sim_expr_free(&a->vol);
    a->vol = pricing_line(0.2, 0.1);
  }
  if (model < HESTON) return;
  pricing_set_motion(d, 0);
  if (model == HESTON) a->heston = pricing_heston(0.06, 1.5, 0.05, 0.5, -0.7);
  if (model == ROUGH) a->rough_bergomi = (option_rough){true, pricing_constant(0.05), 1.5, 0.1, -0.7};
  if (model == SABR) a->sabr = (option_sabr){true, 2, 0.5, -0.5, 0.5};
  if (model == LOCAL) a->local_vol = pricing_displaced(10, 0.1);
}

/* A payment that is converted at its date is worth the rate of exchange of today times the contract in its own market,
 * whatever the motion and the correlation: that is the change of measure. Each scheme has it exactly, steps and all. */
static void test_models(void **state) {
  (void)state;
  for (int model = 0; model < MODELS; model++) {
    static const char *const names[] = {"vol", "curves", "jumps", "heston", "rough", "sabr", "local"};
    pricing d[2];
    double room[4];
    make(&d[0], model % 2 ? SIM_DOUBLE : SIM_MIXED, 20, room);
    add_correlation(&d[0], room, -0.8);
    pricing_make(&d[1], SIM_DOUBLE, base.vol, base.foreign, 1, 20);
    sim_expr_free(&d[1].assets[0].dividend);
    d[1].assets[0].dividend = pricing_constant(base.dividend);
    d[1].p.common.seed = 77;
    for (int i = 0; i < 2; i++) {
      const int how = i == 0 ? OPTION_AT_PAYMENT : OPTION_NO_EXCHANGE;
      d[i].p.sampling.paths = 0x1p17;
      d[i].p.sampling.antithetic = true;
      set_model(&d[i], model);
      for (int k = 0; k < 2; k++) add(&d[i], &option_european_schema, 95 + 15 * k, OPTION_CALL, how);
      add(&d[i], &option_asian_schema, 100, OPTION_PUT, how);
      add(&d[i], &option_barrier_schema, 100, OPTION_CALL, how)->level = 90;
      option_payoff *o = add(&d[i], &option_accumulator_schema, 97, OPTION_CALL, how);
      o->level = 110;
      o->gearing = 2;
      o->shares = 1;
      o->every = 5;
      pricing_run(&d[i]);
    }
    for (int k = 0; k < 5; k++) {
      const estimate a = pricing_price(&d[0], k), b = pricing_price(&d[1], k);
      near(names[model], (estimate){a.value, hypot(a.error, base.exchange * b.error)}, base.exchange * b.value, 0);
    }
    for (int i = 0; i < 2; i++) pricing_free(&d[i]);
  }
}

/* A Bermudan put by quadrature (accumulator.py), its upper bound, and quantos on two assets. */
static void test_quantos(void **state) {
  (void)state;
  pricing d;
  double room[9] = {1, -0.4, 0.3, -0.4, 1, 0, 0.3, 0, 1};
  make(&d, SIM_DOUBLE, 4, room);
  option_payoff *o = add(&d, &option_american_schema, 110, OPTION_PUT, OPTION_QUANTO);
  o->exchange_rate = 2;
  o->degree = 5;
  o->every = 1;
  o->fit_paths = 1 << 16;
  o->upper_paths = 512;
  o->inner_paths = 512;
  pricing_run(&d);
  const estimate price = pricing_price(&d, 0), upper = pricing_greek(&d, "upper");
  const double known = 2 * 14.197400;
  print_message("    bermudan %.4f +- %.4f below %.4f +- %.4f, known %.4f\n", price.value, price.error, upper.value,
                upper.error, known);
  assert_true(price.value < known + 4 * price.error && price.value > 0.998 * known - 4 * price.error);
  assert_true(upper.value > known - 4 * upper.error && upper.value < 1.005 * known + 4 * upper.error);
  pricing_free(&d);
  /* the exchange of the asset's number of currency against one of the run's: Margrabe's formula with forwards */
  make(&d, SIM_DOUBLE, 1, room);
  memcpy(room, (const double[]){1, -0.4, 0.3, -0.4, 1, 0, 0.3, 0, 1}, sizeof room);
  pricing_add_asset(&d, 95, 0.3);
  d.p.correlation = (sim_doubles){.data = room, .rows = 3, .cols = 3};
  o = add(&d, &option_spread_schema, 0, OPTION_CALL, OPTION_QUANTO);
  o->second = 3;
  add(&d, &option_best_of_schema, 0, OPTION_CALL, OPTION_QUANTO)->asset = 0;
  pricing_run(&d);
  const double first = 100 * exp(0.02 + 0.4 * 0.25 * 0.12), other = 95 * exp(0.05);
  const double deviation = sqrt(0.25 * 0.25 + 0.3 * 0.3 - 2 * 0.3 * 0.25 * 0.3), paid = black(first, other, deviation);
  near("spread", pricing_price(&d, 0), 1.3 * exp(-0.05) * paid, 0);
  near("best of, without the exchange", pricing_price(&d, 1), 1.3 * exp(-0.05) * (other + paid), 0);
  pricing_free(&d);
}

/* ---- early exercise by functions ---- */

/* A payment of the price of asset 1, or of its highest price, and the strike; times the price of asset 2, if it exists.
 */
static sim_expr *exercise_of(const char *input, double strike, bool absolute, bool exchanged) {
  sim_expr_builder *b;
  sim_expr_ref price, number, factor, out;
  sim_expr *expr;
  assert_int_equal(sim_expr_builder_create(&b), SIM_OK);
  assert_int_equal(sim_expr_builder_input(b, input, &price), SIM_OK);
  assert_int_equal(sim_expr_builder_number(b, strike, &number), SIM_OK);
  assert_int_equal(sim_expr_builder_call(b, SIM_EXPR_SUB, (sim_expr_ref[]){price, number}, &out), SIM_OK);
  if (absolute) assert_int_equal(sim_expr_builder_call(b, SIM_EXPR_ABS, &out, &out), SIM_OK);
  if (exchanged) {
    assert_int_equal(sim_expr_builder_input(b, "last_2", &factor), SIM_OK);
    assert_int_equal(sim_expr_builder_call(b, SIM_EXPR_MUL, (sim_expr_ref[]){factor, out}, &out), SIM_OK);
  }
  assert_int_equal(sim_expr_builder_finish(b, &out, (const char *const[]){"out"}, 1, &expr), SIM_OK);
  sim_expr_builder_free(&b);
  return expr;
}

static void add_exercise(pricing *d, sim_expr *exercise) {
  option_payoff *o = pricing_add(d, &option_american_schema, NAN, OPTION_CALL);
  o->exercise = exercise;
  o->degree = 5;
  o->every = 1;
  o->fit_paths = 1 << 17;
}

/* One asset at 100, or the same in a currency whose rate of exchange is asset 2; the rate of its market is 0.15. */
static void make_exercise(pricing *d, bool exchanged, double *room) {
  pricing_make(d, SIM_DOUBLE, 0.25, exchanged ? 0.05 : 0.15, 1, 6);
  if (exchanged) {
    pricing_add_asset(d, 1.2, 0.12);
    sim_expr_free(&d->assets[1].dividend);
    d->assets[1].dividend = pricing_constant(0.15);
    d->assets[0].currency = 2;
    add_correlation(d, room, -0.6);
  }
  sim_expr_free(&d->assets[0].dividend);
  d->assets[0].dividend = pricing_constant(0.08);
  d->p.sampling.paths = 0x1p18;
  d->p.sampling.antithetic = true;
}

/* By quadrature (accumulator.py): a call on the highest price so far, exercised at any of six dates, and a straddle. */
static const double highest_price = 20.92252, straddle = 18.967813;

/* Without early exercise the call on the highest price is worth 20.83216. The rules were 0.01 and 0.07 % low with 2^18
 * points of Sobol, errors of 0.01 %; 0.1 and 0.2 % are allowed. The straddle of a rule by its payment alone, which is
 * the same on both sides of the strike, was 0.6 % low. */
static void test_exercise(void **state) {
  (void)state;
  pricing d;
  make_exercise(&d, false, NULL);
  add_exercise(&d, exercise_of("max_1", 95, false, false));
  pricing_add(&d, &option_lookback_schema, 95, OPTION_CALL);
  add_exercise(&d, exercise_of("last_1", 100, true, false));
  pricing_run(&d);
  const estimate early = pricing_price(&d, 0), late = pricing_price(&d, 1);
  near("lookback", late, 20.83216, 0);
  near("with early exercise", early, highest_price, 0.001);
  assert_true(early.value - late.value > 0.07); /* on the same paths, whose difference has an error of 0.004 */
  near("straddle", pricing_price(&d, 2), straddle, 0.002);
  pricing_free(&d);
}

/* The same, paid by a rate of exchange: that times the price in the asset's own market, whatever correlates. So the
 * derivative by the rate of exchange is that price, and none is by the run's rate; the rule is kept for both, and must
 * be the same for any rate of exchange. Their samples are the payments', but for rounding. */
static void test_exchanged_exercise(void **state) {
  (void)state;
  pricing d;
  double room[4];
  make_exercise(&d, true, room);
  d.p.greeks.want[OPTION_DELTA] = d.p.greeks.want[OPTION_RHO] = true;
  add_exercise(&d, exercise_of("max_1", 95, false, true));
  add_exercise(&d, exercise_of("last_1", 100, true, true));
  pricing_run(&d);
  const estimate price = pricing_price(&d, 0), delta = pricing_greek(&d, "delta_2"), rho = pricing_greek(&d, "rho");
  near("exchanged", price, 1.2 * highest_price, 0.001);
  near("its delta by the exchange", delta, highest_price, 0.001);
  assert_true(fabs(delta.value * 1.2 - price.value) < 1e-6 * price.value);
  assert_true(fabs(rho.value) < 1e-6 * price.value);
  near("straddle", pricing_price(&d, 1), 1.2 * straddle, 0.002);
  pricing_free(&d);
}

/* ---- accumulators ---- */

typedef struct case_of {
  const char *name;
  option_type type;
  double strike, level, gearing;
  int guaranteed, settle;
  double price, delta, vega, rho;
} case_of;
/* By accumulator.py: S = 100, vol 0.2, rate 0.05, dividend 0.02, twelve dates in a year. */
static const case_of cases[] = {
    {"no knock-out", OPTION_CALL, 97, 0, 2, 0, OPTION_SETTLE_FIXINGS, 12.614997, NAN, NAN, NAN},
    {"knock-out", OPTION_CALL, 97, 106, 2, 0, OPTION_SETTLE_FIXINGS, -63.281528, 9.09793, -502.5302, 436.3457},
    {"guaranteed", OPTION_CALL, 97, 106, 2, 3, OPTION_SETTLE_FIXINGS, -52.736624, 10.98876, -439.7129, 465.6076},
    {"at maturity", OPTION_CALL, 97, 106, 2, 0, OPTION_SETTLE_MATURITY, -48.753322, 7.69169, -508.0229, 864.8310},
    {"decumulator", OPTION_PUT, 103, 94, 1.5, 0, OPTION_SETTLE_FIXINGS, -69.787240, -9.66693, -405.0620, -398.1750},
    {"both", OPTION_CALL, 97, 106, 2, 3, OPTION_SETTLE_MATURITY, -36.429402, 9.89010, -436.8787, 961.6266}};

static void add_case(pricing *d, const case_of *c, const sim_doubles *dates) {
  option_payoff *o = pricing_add(d, &option_accumulator_schema, c->strike, c->type);
  o->level = c->level > 0 ? c->level : NAN;
  o->gearing = c->gearing;
  o->guaranteed = c->guaranteed;
  o->settle = c->settle;
  o->shares = 1;
  o->every = 1;
  if (dates != NULL) o->dates = *dates;
}

/* Each case first, as the table names the Greeks of the first payoff; the others beside it. Vega is a difference. */
static void test_accumulators(void **state) {
  (void)state;
  enum { CASES = sizeof cases / sizeof *cases };
  double dates[12];
  for (int k = 0; k < 12; k++) dates[k] = (k + 1) / 12.;
  const sim_doubles list = {.data = dates, .rows = 12, .cols = 1};
  for (int first = 0; first < CASES; first++) {
    pricing d;
    pricing_make(&d, first % 2 ? SIM_MIXED : SIM_DOUBLE, 0.2, 0.05, 1, first % 3 ? 12 : 5);
    sim_expr_free(&d.assets[0].dividend);
    d.assets[0].dividend = pricing_constant(0.02);
    d.p.sampling.paths = 0x1p18;
    d.p.sampling.sequence = first == 4 ? OPTION_SOBOL : OPTION_PHILOX;
    d.p.sampling.scrambles = NAN;
    if (first == 0) d.p.sampling.control = OPTION_CONTROL_BLACK_SCHOLES;
    for (int k = 0; k < CASES; k++) add_case(&d, &cases[(first + k) % CASES], first % 3 ? NULL : &list);
    d.p.greeks.want[OPTION_DELTA] = d.p.greeks.want[OPTION_VEGA] = d.p.greeks.want[OPTION_RHO] = first > 0;
    pricing_run(&d);
    for (int k = 0; k < CASES; k++)
      near(cases[(first + k) % CASES].name, pricing_price(&d, k), cases[(first + k) % CASES].price, 0);
    if (first > 0) {
      near("delta", pricing_greek(&d, "delta"), cases[first].delta, 0.005);
      near("vega", pricing_greek(&d, "vega"), cases[first].vega, 0.005);
      near("rho", pricing_greek(&d, "rho"), cases[first].rho, 0.005);
    }
    pricing_free(&d);
  }
}

/* A control that hardly ever pays, of strikes far above the price: a rebate, paid where the only price is below the
 * level, is worth its probability. The calls at these strikes are worth less than 1e-4. */
static void test_rare_controls(void **state) {
  (void)state;
  static const int controls[] = {OPTION_CONTROL_GEOMETRIC, OPTION_CONTROL_BLACK_SCHOLES};
  const double T = 0.4, deviation = 0.23 * sqrt(T),
               known = 10 * exp(-0.05 * T) * below((log(90. / 100) - 0.05 * T) / deviation + deviation / 2);
  for (int c = 0; c < 2; c++) {
    pricing d;
    pricing_make(&d, SIM_DOUBLE, 0.23, 0.05, T, 1);
    d.p.sampling.paths = 0x1p18;
    d.p.sampling.control = controls[c];
    for (int k = 0; k < 8; k++) {
      option_payoff *o = pricing_add(&d, &option_barrier_schema, 180 + 20 * k, OPTION_CALL);
      o->level = 90;
      o->rebate = 10;
    }
    pricing_run(&d);
    for (int k = 0; k < 8; k++) near("rebate", pricing_price(&d, k), known, 1e-4);
    pricing_free(&d);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_rare_controls), cmocka_unit_test(test_formulas),
                                     cmocka_unit_test(test_composites),    cmocka_unit_test(test_models),
                                     cmocka_unit_test(test_quantos),       cmocka_unit_test(test_exercise),
                                     cmocka_unit_test(test_accumulators),  cmocka_unit_test(test_exchanged_exercise)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
