/* Multilevel runs. Known prices: multilevel.py and sabr.py beside this file (characteristic function, noncentral
 * chi-squared law, integrals from date to date, finite differences), and the displaced lognormal law. Over many seeds
 * the deviations from them, in errors of the run, have a root mean square of 1 at most: of N seeds it is uncertain by
 * 1/sqrt(2 N), and 4 of that are allowed. */
#include "kernels/option/multilevel/allocate.h"
#include "tests/option/option_driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static int seeds = 24;

/* The local volatility a/sqrt(S). */
static sim_expr *root_volatility(double a) {
  sim_expr_builder *builder;
  sim_expr_ref in[2], number, root, out;
  sim_expr *expr;
  assert_int_equal(sim_expr_builder_create(&builder), SIM_OK);
  assert_int_equal(sim_expr_builder_input(builder, "S", &in[0]), SIM_OK);
  assert_int_equal(sim_expr_builder_input(builder, "t", &in[1]), SIM_OK);
  assert_int_equal(sim_expr_builder_number(builder, a, &number), SIM_OK);
  assert_int_equal(sim_expr_builder_call(builder, SIM_EXPR_SQRT, in, &root), SIM_OK);
  assert_int_equal(sim_expr_builder_call(builder, SIM_EXPR_DIV, (const sim_expr_ref[]){number, root}, &out), SIM_OK);
  assert_int_equal(sim_expr_builder_finish(builder, &out, (const char *const[]){"out"}, 1, &expr), SIM_OK);
  sim_expr_builder_free(&builder);
  return expr;
}

enum { HESTON, HESTON_FAR, HESTON_LONG, CEV, DISPLACED, SABR, MODELS };

/* A multilevel run; known: its price (NaN: none), and the error of it. */
static void make(pricing *d, int model, double tolerance, int steps) {
  const double rate[] = {0.03, 0.05, 0, 0.04, 0, 0}, maturity[] = {1, 1, 5, 2, 1, 5};
  pricing_make(d, model % 2 ? SIM_MIXED : SIM_DOUBLE, 0.2, rate[model], maturity[model], steps);
  pricing_set_motion(d, 0);
  option_asset *a = &d->assets[0];
  if (model == HESTON) a->heston = pricing_heston(0.04, 2, 0.06, 0.5, -0.7);
  if (model == HESTON_FAR) a->heston = pricing_heston(0.4, 8, 0.02, 0.5, -0.5);
  if (model == HESTON_LONG) a->heston = pricing_heston(0.04, 0.5, 0.04, 1, -0.9);
  if (model == CEV) a->local_vol = root_volatility(3);
  if (model == DISPLACED) a->local_vol = pricing_displaced(10, 0.1);
  if (model == SABR) a->spot = 1, a->sabr = (option_sabr){true, 0.5, 0.3, -0.3, 0.4};
  d->p.sampling.multilevel = true;
  d->p.sampling.standard_error = tolerance;
  d->p.sampling.paths = 0x1p40;
  d->p.sampling.time = NAN;
}

/* Runs over all seeds; `known` may be off by `more`. */
static void cover(const char *what, int model, double tolerance, int steps, void (*payoff)(pricing *), double known,
                  double more) {
  double squares = 0, paths = 0, within = 0, most = 0;
  for (int seed = 1; seed <= seeds; seed++) {
    pricing d;
    make(&d, model, tolerance, steps);
    d.p.common.seed = (uint64_t)seed;
    payoff(&d);
    pricing_run(&d);
    const estimate got = pricing_price(&d, 0);
    const double off = (got.value - known) / hypot(got.error, more);
    assert_true(got.error > 0 && got.error <= tolerance);
    squares += off * off / seeds;
    within += fabs(off) < 1.96;
    most = fmax(most, fabs(off));
    paths += d.clock.t / seeds;
    pricing_free(&d);
  }
  print_message("    %-34s deviations %.2f errors (root mean square), %.0f %% within 1.96, at most %.1f; %.0f paths\n",
                what, sqrt(squares), 100 * within / seeds, most, paths);
  assert_true(sqrt(squares) < 1 + 4 / sqrt(2 * seeds));
}

static void call(pricing *d) { pricing_add(d, &option_european_schema, d->assets[0].spot, OPTION_CALL); }
static void digital(pricing *d) { pricing_add(d, &option_digital_schema, 100, OPTION_CALL)->cash = 10; }
static void far_call(pricing *d) { pricing_add(d, &option_european_schema, 120, OPTION_CALL); }
static void antithetic(pricing *d) {
  d->p.sampling.antithetic = true;
  call(d);
}
static void barrier(pricing *d) {
  option_payoff *o = pricing_add(d, &option_barrier_schema, 100, OPTION_CALL);
  o->level = 85, o->direction = OPTION_DOWN, o->knock = OPTION_OUT;
}

static void test_heston(void **state) {
  (void)state;
  cover("Heston, call", HESTON, 0.05, 4, call, 9.9831125, 0);
  cover("Heston, call of antithetic paths", HESTON, 0.03, 2, antithetic, 9.9831125, 0);
  cover("Heston, far call", HESTON, 0.02, 4, far_call, 2.1489720, 0);
  cover("Heston, digital", HESTON, 0.03, 4, digital, 5.753374, 0);
  cover("Heston, v far from theta", HESTON_FAR, 0.05, 4, call, 12.6617336, 0);
  cover("Heston, 2 kappa theta/sigma^2 = 0.04", HESTON_LONG, 0.05, 10, call, 8.7568973, 0);
}

static void test_local(void **state) {
  (void)state;
  cover("CEV, call", CEV, 0.1, 2, call, 20.3092623, 0);
  cover("CEV, barrier at 8 dates", CEV, 0.1, 8, barrier, 17.4625023, 0);
  cover("displaced lognormal, call", DISPLACED, 0.05, 1, call, 7.9755223, 0);
}

static void test_sabr(void **state) {
  (void)state;
  cover("SABR, call", SABR, 0.002, 10, call, 0.404408, 7e-5);
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "long") == 0) seeds = 200;
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_heston), cmocka_unit_test(test_local),
                                     cmocka_unit_test(test_sabr)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
