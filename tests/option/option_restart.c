/* The same bits: stopped and continued or not, with any number of threads, and in double with any instruction set. */
#include "tests/option/option_driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Neither is a multiple of a chunk or of a vector; in pairs they are two blocks, and three steps. */
static const double few = 0x1p17 + 2 * 777, many = 0x1p22 + 2 * 777;

typedef struct situation {
  sim_precision precision;
  sim_isa isa;
  int threads;
  int steps;
  double paths;
  bool accuracy; /* whether the accuracy ends the run */
  bool matched;  /* moments */
  bool rich;     /* Heston with jumps, local volatility and early exercise, on Sobol's points */
} situation;

static double spots[] = {50, 150}, times[] = {0, 1}, vols[] = {0.3, 0.2, 0.4, 0.3};

static void make_rich(const situation *s, pricing *d) {
  static double correlation[4] = {1, -0.3, -0.3, 1};
  pricing_make(d, s->precision, 0.2, 0.05, 1, s->steps);
  d->setup.isa = s->isa;
  d->setup.threads = s->threads;
  pricing_add_asset(d, 90, 0.4);
  pricing_set_motion(d, 0);
  pricing_set_motion(d, 1);
  d->assets[0].heston = pricing_heston(0.04, 1, 0.05, 0.4, -0.6);
  d->assets[0].jumps = (option_jumps){true, 1, -0.1, 0.1};
  d->assets[1].vol_grid = (option_vol_grid){true, {spots, 2, 1}, {times, 2, 1}, {vols, 4, 1}};
  d->p.correlation = (sim_doubles){correlation, 2, 2};
  d->p.sampling = (option_sampling){.sequence = OPTION_SOBOL,
                                    .scrambles = 16,
                                    .paths = s->paths,
                                    .antithetic = true,
                                    /* never reached: only makes steps of a quarter of the size */
                                    .standard_error = 1e-9,
                                    .control = OPTION_CONTROL_UNDERLYING};
  option_payoff *put = pricing_add(d, &option_american_schema, 100, OPTION_PUT);
  put->fit_paths = 4096;
  pricing_add(d, &option_asian_schema, 100, OPTION_CALL)->asset = 2;
  option_payoff *barrier = pricing_add(d, &option_barrier_schema, 90, OPTION_CALL);
  barrier->asset = 2;
  barrier->level = 70;
  barrier->monitoring = OPTION_CONTINUOUS;
  d->p.greeks.want[OPTION_DELTA] = true;
}

static void make(const situation *s, pricing *d) {
  static double correlation[4] = {1, -0.3, -0.3, 1};
  if (s->rich) {
    make_rich(s, d);
    return;
  }
  pricing_make(d, s->precision, 0.2, 0.05, 1, s->steps);
  d->setup.isa = s->isa;
  d->setup.threads = s->threads;
  pricing_add_asset(d, 90, 0.4);
  d->p.correlation = (sim_doubles){correlation, 2, 2};
  d->p.sampling = (option_sampling){
      .paths = s->paths, .standard_error = NAN, .antithetic = true, .control = OPTION_CONTROL_GEOMETRIC};
  if (s->accuracy) d->p.sampling = (option_sampling){.paths = NAN, .standard_error = 0.02};
  d->p.sampling.moment_matching = s->matched;
  pricing_add(d, &option_asian_schema, 100, OPTION_CALL);
  pricing_add(d, &option_best_of_schema, 100, OPTION_PUT);
  pricing_add(d, &option_lookback_schema, NAN, OPTION_PUT)->monitoring = OPTION_CONTINUOUS;
  option_payoff *barrier = pricing_add(d, &option_barrier_schema, 100, OPTION_CALL);
  barrier->level = 80;
  barrier->monitoring = OPTION_CONTINUOUS;
  d->p.greeks.want[OPTION_DELTA] = d->p.greeks.want[OPTION_VEGA] = d->p.greeks.want[OPTION_RHO] = true;
}

static void digest_of(pricing *d, char out[33]) {
  const sim_frame frame = pricing_state(d);
  if (sim_frame_check_finite(&frame) != SIM_OK) fail_msg("%s", sim_error_last()->message);
  sim_frame_digest(&frame, out);
}

static void whole(const situation *s, char digest[33], int64_t *steps) {
  pricing d;
  make(s, &d);
  pricing_run(&d);
  digest_of(&d, digest);
  *steps = d.clock.step;
  pricing_free(&d);
}

static void split(const situation *s, int64_t at, char digest[33]) {
  pricing d, e;
  make(s, &d);
  pricing_create(&d, NULL);
  while (d.clock.step < at) pricing_step(&d);
  const sim_frame saved = pricing_state(&d);
  make(s, &e);
  pricing_create(&e, &saved);
  pricing_free(&d);
  while (e.clock.t < e.clock.t_end) pricing_step(&e);
  digest_of(&e, digest);
  pricing_free(&e);
}

static void test_restart(void **state) {
  (void)state;
  for (int accuracy = 0; accuracy < 2; accuracy++) {
    const situation s = {SIM_MIXED, sim_isa_best(), 2, 1, many, accuracy};
    char expected[33], got[33];
    int64_t steps;
    whole(&s, expected, &steps);
    assert_true(steps >= 3);
    for (int64_t at = 0; at <= steps; at++) { /* also at the end of the run */
      split(&s, at, got);
      assert_string_equal(got, expected);
    }
  }
}

/* A finished run that is given more paths has the state of a run that had them from the beginning. */
static void test_more_paths(void **state) {
  (void)state;
  for (int k = 0; k < 5; k++) {
    situation s = {.precision = SIM_MIXED, .isa = sim_isa_best(), .threads = 2, .steps = 1, .paths = many};
    char expected[33], got[33];
    int64_t steps;
    s.matched = k == 1;
    s.rich = k >= 2;
    if (s.rich)
      s = (situation){
          .precision = SIM_MIXED, .isa = sim_isa_best(), .threads = 2, .steps = 4, .rich = true, .paths = 0x1p18};
    whole(&s, expected, &steps);
    const double paths = s.paths;
    s.paths = k == 4 ? 1024 : 0x1p17 + 2 * 333;
    pricing d, e;
    make(&s, &d);
    if (s.rich) d.p.sampling.standard_error = NAN;
    pricing_run(&d);
    const sim_frame saved = pricing_state(&d);
    s.paths = paths;
    make(&s, &e);
    if (s.rich) { /* every end of a step is checked */
      pricing f;
      make(&s, &f);
      f.p.sampling.standard_error = e.p.sampling.standard_error = NAN;
      pricing_run(&f);
      digest_of(&f, expected);
      pricing_free(&f);
    }
    pricing_create(&e, &saved);
    while (e.clock.t < e.clock.t_end) pricing_step(&e);
    digest_of(&e, got);
    assert_string_equal(got, expected);
    pricing_free(&d);
    pricing_free(&e);
  }
}

static void test_threads(void **state) {
  (void)state;
  char expected[33], got[33];
  int64_t steps;
  for (sim_precision precision = SIM_SINGLE; precision <= SIM_DOUBLE; precision += 2) {
    static const int threads[] = {1, 2, 3, 7};
    for (int k = 0; k < 4; k++) {
      whole(&(situation){precision, sim_isa_best(), threads[k], 5, few, false}, k == 0 ? expected : got, &steps);
      if (k > 0) assert_string_equal(got, expected);
    }
  }
}

static void test_instruction_sets(void **state) {
  (void)state;
  char expected[33], got[33];
  int64_t steps;
  whole(&(situation){SIM_DOUBLE, SIM_ISA_PLAIN, 2, 5, few, false}, expected, &steps);
  for (sim_isa isa = SIM_ISA_AVX2; isa <= sim_isa_best(); isa++) {
    whole(&(situation){SIM_DOUBLE, isa, 2, 5, few, false}, got, &steps);
    assert_string_equal(got, expected);
  }
}

/* Other models and other points, all at once. The run takes two steps. */
static void test_rich(void **state) {
  (void)state;
  char expected[33], got[33];
  int64_t steps;
  const double paths = 0x1p19 + 0x1p17;
  for (sim_precision precision = SIM_SINGLE; precision <= SIM_DOUBLE; precision += 2) {
    situation s = {precision, sim_isa_best(), 1, 1, paths, .rich = true};
    whole(&s, expected, &steps);
    assert_true(steps == 2);
    s.threads = 3;
    split(&s, 1, got);
    assert_string_equal(got, expected);
  }
  whole(&(situation){SIM_DOUBLE, sim_isa_best(), 2, 3, 0x1p14, .rich = true}, expected, &steps);
  for (sim_isa isa = SIM_ISA_PLAIN; isa < sim_isa_best(); isa++) {
    whole(&(situation){SIM_DOUBLE, isa, 1, 3, 0x1p14, .rich = true}, got, &steps);
    assert_string_equal(got, expected);
  }
}

/* Matched moments: the same after a stop, with any threads, and in double with any instruction set. */
static void test_matched(void **state) {
  (void)state;
  char expected[33], got[33];
  int64_t steps;
  for (sim_precision precision = SIM_SINGLE; precision <= SIM_DOUBLE; precision += 2) {
    const double paths = precision == SIM_SINGLE ? 0x1p21 + 5e5 : few / 4;
    situation s = {precision, sim_isa_best(), 1, precision == SIM_SINGLE ? 1 : 5, paths, .matched = true};
    whole(&s, expected, &steps);
    s.threads = 3;
    split(&s, steps / 2, got);
    assert_string_equal(got, expected);
    for (s.isa = SIM_ISA_PLAIN; precision == SIM_DOUBLE && s.isa < sim_isa_best(); s.isa++) {
      whole(&s, got, &steps);
      assert_string_equal(got, expected);
    }
  }
}

/* A checkpoint of other payoffs is refused. */
static void test_unfit(void **state) {
  (void)state;
  const situation s = {SIM_MIXED, sim_isa_best(), 1, 1, few, false};
  pricing d, e;
  make(&s, &d);
  pricing_create(&d, NULL);
  sim_frame saved = pricing_state(&d);
  d.arrays[1].shape[0]--;
  make(&s, &e);
  e.p.assets.items = e.asset_items;
  e.p.payoffs.items = e.payoff_items;
  e.setup.saved = &saved;
  sim_faults faults = {0};
  assert_int_equal(option_model.validate(&e.p, &faults), SIM_OK);
  assert_int_equal(option_model.create(&e.p, &e.setup, &e.clock, &e.self), SIM_ERR_INCOMPATIBLE);
  assert_null(e.self);
  pricing_free(&d);
  pricing_free(&e);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_restart), cmocka_unit_test(test_more_paths),
                                     cmocka_unit_test(test_threads), cmocka_unit_test(test_instruction_sets),
                                     cmocka_unit_test(test_rich),    cmocka_unit_test(test_matched),
                                     cmocka_unit_test(test_unfit)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
