/* Multilevel runs. Known prices: multilevel.py and sabr.py beside this file (characteristic function, noncentral
 * chi-squared law, integrals from date to date, finite differences), and the displaced lognormal law. Over many seeds
 * the deviations from them, in errors of the run, have a root mean square of 1 at most: of N seeds it is uncertain by
 * 1/sqrt(2 N), and 4 of that are allowed. */
#include "kernels/option/multilevel/tail.h"
#include "kernels/option/run.h"
#include "tests/option/option_driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static int seeds = 12;

enum { HESTON, HESTON_FAR, HESTON_LONG, CEV, DISPLACED, SABR, CEV_END, MODELS };

/* A multilevel run; known: its price (NaN: none), and the error of it. */
static void make(pricing *d, int model, double tolerance, int steps) {
  const double rate[] = {0.03, 0.05, 0, 0.04, 0, 0, 0.04}, maturity[] = {1, 1, 5, 2, 1, 5, 1};
  pricing_make(d, model % 2 ? SIM_MIXED : SIM_DOUBLE, 0.2, rate[model], maturity[model], steps);
  pricing_set_motion(d, 0);
  option_asset *a = &d->assets[0];
  if (model == HESTON) a->heston = pricing_heston(0.04, 2, 0.06, 0.5, -0.7);
  if (model == HESTON_FAR) a->heston = pricing_heston(0.4, 8, 0.02, 0.5, -0.5);
  if (model == HESTON_LONG) a->heston = pricing_heston(0.04, 0.5, 0.04, 1, -0.9);
  if (model == CEV) a->local_vol = pricing_root(3);
  if (model == CEV_END) a->local_vol = pricing_root(10);
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
static void randomised(pricing *d) {
  d->p.sampling.randomised = true;
  d->p.common.precision = SIM_DOUBLE;
  call(d);
}
static void barrier(pricing *d) {
  option_payoff *o = pricing_add(d, &option_barrier_schema, 100, OPTION_CALL);
  o->level = 85, o->direction = OPTION_DOWN, o->knock = OPTION_OUT;
}

static void test_heston(void **state) {
  (void)state;
  cover("Heston, call", HESTON, 0.1, 4, call, 9.9831125, 0);
  cover("Heston, call of antithetic paths", HESTON, 0.08, 2, antithetic, 9.9831125, 0);
  cover("Heston, far call", HESTON, 0.02, 4, far_call, 2.1489720, 0);
  cover("Heston, digital", HESTON, 0.03, 4, digital, 5.753374, 0);
  cover("Heston, v far from theta", HESTON_FAR, 0.1, 4, call, 12.6617336, 0);
  cover("Heston, 2 kappa theta/sigma^2 = 0.04", HESTON_LONG, 0.15, 10, call, 8.7568973, 0);
}

static void test_local(void **state) {
  (void)state;
  cover("CEV, call", CEV, 0.2, 2, call, 20.3092623, 0);
  cover("CEV, digital", CEV, 0.03, 2, digital, 4.9159934, 0);
  cover("CEV, barrier at 8 dates", CEV, 0.2, 8, barrier, 17.4625023, 0);
  cover("displaced lognormal, call", DISPLACED, 0.1, 1, call, 7.9755223, 0);
  cover("CEV, an eighth ends at 0, call", CEV_END, 0.3, 4, call, 39.8074349, 0);
}

/* dS = r S dt + 20 sqrt(S) dW: more than half of the paths end at 0, where the local volatility is above the range of
 * numbers. A put, the mean of the price, and chances of 0 and of more than 50, by the law with its mass at 0
 * (multilevel.py). `more` beside four errors: twice the biases that the run tells at this number of steps. */
static void test_ends_at_zero(void **state) {
  (void)state;
  const double known[] = {100, 68.0172706 - 100 + 100 * exp(-0.04), 0.5783508, 0.3179854};
  for (int precision = SIM_MIXED; precision <= SIM_DOUBLE; precision += SIM_DOUBLE - SIM_MIXED) {
    pricing d;
    pricing_make(&d, (sim_precision)precision, 0.2, 0.04, 1, 256);
    pricing_set_motion(&d, 0);
    d.assets[0].local_vol = pricing_root(20);
    d.p.sampling.paths = 65536;
    pricing_add(&d, &option_european_schema, 1e-9, OPTION_CALL);
    pricing_add(&d, &option_european_schema, 100, OPTION_PUT);
    pricing_add(&d, &option_digital_schema, 1, OPTION_PUT)->cash = 1;
    pricing_add(&d, &option_digital_schema, 50, OPTION_CALL)->cash = 1;
    pricing_run(&d);
    const double more[] = {0, 0.4, 0.006, 0.004};
    for (int k = 0; k < 4; k++) {
      const estimate got = pricing_price(&d, k);
      print_message("    ends at 0: %.5f +- %.5f, known %.5f\n", got.value, got.error, known[k]);
      assert_true(got.error > 0 && fabs(got.value - known[k]) < 4 * got.error + more[k]);
    }
    pricing_free(&d);
  }
}

static void test_sabr(void **state) {
  (void)state;
  cover("SABR, call", SABR, 0.004, 10, call, 0.404408, 7e-5);
}

/* A random level in place of all later ones: errors without an order of the bias. */
static void test_randomised(void **state) {
  (void)state;
  cover("randomised: Heston, call", HESTON, 0.1, 4, randomised, 9.9831125, 0);
  cover("randomised: Heston, v far from theta", HESTON_FAR, 0.1, 4, randomised, 12.6617336, 0);
  cover("randomised: CEV, call", CEV, 0.2, 2, randomised, 20.3092623, 0);
  cover("randomised: displaced, call", DISPLACED, 0.1, 1, randomised, 7.9755223, 0);
}

/* A piece has the samples of each level that its chances say: in the mean exactly, in each piece to one sample. */
static void test_counts(void **state) {
  (void)state;
  enum { PIECES = 4096, FIRST = 3 };
  option_tail tail;
  double mean[OPTION_LEVELS_MAX] = {0}, all = 0;
  option_tail_make(FIRST, OPTION_LEVELS_MAX, &tail);
  assert_int_equal(tail.levels, OPTION_LEVELS_MAX - FIRST);
  for (int piece = 0; piece < PIECES; piece++) {
    int count[OPTION_LEVELS_MAX], sum = 0;
    option_tail_counts(&tail, 7, piece, OPTION_LEVELS_PIECE, count);
    for (int k = 0; k < tail.levels; k++) {
      assert_true(fabs(count[k] - tail.chance[k] * OPTION_LEVELS_PIECE) < 1);
      mean[k] += (double)count[k] / PIECES;
      sum += count[k];
    }
    assert_int_equal(sum, OPTION_LEVELS_PIECE);
  }
  for (int k = 0; k < tail.levels; k++) {
    const double expected = tail.chance[k] * OPTION_LEVELS_PIECE, part = expected - floor(expected);
    assert_true(k == 0 || fabs(tail.chance[k] / tail.chance[k - 1] - exp2(-1.25)) < 1e-14);
    assert_true(fabs(mean[k] - expected) < 5 * sqrt(fmax(part * (1 - part), 1e-3) / PIECES)); /* one more or not */
    all += tail.chance[k];
  }
  assert_true(fabs(all - 1) < 1e-14);
}

/* Greeks: each with its own error. */
static void test_greeks(void **state) {
  (void)state;
  const char *const names[] = {"delta", "vega", "rho"};
  const double known[] = {0.675169, 38.20386, 57.53374};
  double squares[3] = {0};
  for (int seed = 1; seed <= seeds; seed++) {
    pricing d;
    make(&d, HESTON, 0.1, 4);
    d.p.common.seed = (uint64_t)seed;
    d.p.greeks.want[OPTION_DELTA] = d.p.greeks.want[OPTION_VEGA] = d.p.greeks.want[OPTION_RHO] = true;
    call(&d);
    pricing_run(&d);
    for (int k = 0; k < 3; k++) {
      const estimate got = pricing_greek(&d, names[k]);
      squares[k] += pow((got.value - known[k]) / got.error, 2) / seeds;
    }
    pricing_free(&d);
  }
  for (int k = 0; k < 3; k++) {
    print_message("    %s: deviations %.2f errors (root mean square)\n", names[k], sqrt(squares[k]));
    assert_true(sqrt(squares[k]) < 1 + 4 / sqrt(2 * seeds));
  }
}

/* ---- the same bits ---- */

static void make_rich(pricing *d, bool random, int threads, sim_isa isa) {
  static double correlation[4] = {1, 0.4, 0.4, 1}, dates[] = {0.3, 0.7};
  make(d, HESTON, 0.2, 4);
  d->setup.threads = threads;
  d->setup.isa = isa;
  pricing_add_asset(d, 90, 0.2);
  pricing_set_motion(d, 1);
  d->assets[1].sabr = (option_sabr){true, 2, 0.5, -0.3, 0.4};
  d->assets[0].jumps = (option_jumps){true, 1, -0.1, 0.1};
  d->p.correlation = (sim_doubles){correlation, 2, 2};
  d->p.hull_white = (option_hull_white){.given = true, .reversion = 0.1, .sigma = 0.01};
  call(d);
  pricing_add(d, &option_asian_schema, 90, OPTION_CALL)->asset = 2;
  if (!random) pricing_add(d, &option_digital_schema, 100, OPTION_CALL)->cash = 10;
  pricing_add(d, &option_worst_of_schema, 85, OPTION_CALL)->dates = (sim_doubles){dates, 2, 1};
  d->p.payoffs.count = 3;
  d->p.sampling.randomised = random;
}

static void assert_same_state(pricing *a, pricing *b) {
  const sim_frame left = pricing_state(a), right = pricing_state(b);
  assert_int_equal(left.array_count, 1);
  assert_int_equal(a->clock.step, b->clock.step);
  assert_memory_equal(left.arrays[0].data, right.arrays[0].data, (size_t)left.arrays[0].shape[0] * sizeof(double));
}

static void same_bits(bool random) {
  pricing one, other;
  make_rich(&one, random, 1, SIM_ISA_PLAIN);
  pricing_run(&one);
  make_rich(&other, random, 3, sim_isa_best());
  pricing_run(&other);
  assert_same_state(&one, &other);
  pricing_destroy(&other);
  /* stopped in the middle and continued */
  pricing_create(&other, NULL);
  for (int k = 0; k < one.clock.step / 2; k++) pricing_step(&other);
  double saved[4096];
  sim_frame frame = pricing_state(&other);
  sim_array array = frame.arrays[0];
  assert_true((size_t)array.shape[0] <= sizeof saved / sizeof *saved);
  memcpy(saved, array.data, (size_t)array.shape[0] * sizeof *saved);
  array.data = saved;
  frame.arrays = &array;
  frame.clock = other.clock;
  option_model.destroy(&other.self);
  pricing_create(&other, &frame);
  while (other.clock.t < other.clock.t_end) pricing_step(&other);
  assert_same_state(&one, &other);
  /* a smaller tolerance goes on from there */
  const double paths = other.clock.t;
  frame = pricing_state(&other);
  array = frame.arrays[0];
  memcpy(saved, array.data, (size_t)array.shape[0] * sizeof *saved);
  array.data = saved;
  frame.arrays = &array;
  frame.clock = other.clock;
  option_model.destroy(&other.self);
  other.p.sampling.standard_error = 0.1;
  pricing_create(&other, &frame);
  while (other.clock.t < other.clock.t_end) pricing_step(&other);
  assert_true(other.clock.t > 2 * paths);
  for (int k = 0; k < 3; k++) assert_true(pricing_price(&other, k).error <= 0.1);
  pricing_free(&one);
  pricing_free(&other);
}

static void test_bits(void **state) {
  (void)state;
  same_bits(false);
  same_bits(true);
}

/* ---- how many samples ---- */

/* Sums as they would be where E Y_l = c 2^(-a l) and V_l = v 2^(-b l), without noise. */
typedef struct model {
  double zero, c, a, v, b;
} model;

static double variance_of(const model *m, int level) { return level == 0 ? m->zero : m->v * exp2(-m->b * level); }

static void draw(const model *m, int level, double samples, double *count, double *squares, double *hits) {
  count[level] += samples;
  hits[level] = count[level];
  squares[level] = variance_of(m, level) * (count[level] - 1);
}

/* The work of the best samples, of those that take at least the first samples of a run on each level, with which the
 * error of `levels` levels is `tolerance`: max(first, x sqrt(variance/cost)), with x by bisection. The bias is that of
 * a run, which knows that means fall in order 1 and not where they fall faster. INFINITY: the bias is too large. */
static double best_work(const model *m, int levels, double tolerance, const double *cost) {
  const double bias = fabs(m->c) * exp2(-m->a * (levels - 1));
  const double room = tolerance * tolerance - bias * bias;
  double low = 0, high = 0x1p80, work = 0;
  if (!(room > 0)) return INFINITY;
  for (int k = 0; k < 200; k++) {
    const double x = k == 0 ? 0 : (low + high) / 2;
    double spread = 0;
    work = 0;
    for (int l = 0; l < levels; l++) {
      const double samples = fmax((l == 0 ? 4 : 1) * OPTION_CHUNK, x * sqrt(variance_of(m, l) / cost[l]));
      spread += variance_of(m, l) / samples;
      work += samples * cost[l];
    }
    if (spread <= room && x == 0) break;
    *(spread <= room ? &high : &low) = x;
  }
  return work;
}

/* The work until the error is reached is at most 1.5 times that of the best levels and samples, of those with the first
 * samples that a run takes of each level, and of at least as many levels as it begins with. */
static void test_work(void **state) {
  (void)state;
  const model models[] = {{150, -0.05, 1, 2, 1.5}, {150, 0.3, 1, 20, 1}, {20, 0.02, 1, 4, 0.5}, {1, 0.3, 2, 0.1, 2}};
  const double tolerances[] = {0.1, 0.02, 0.005};
  for (int i = 0; i < 4; i++)
    for (int t = 0; t < 3; t++) {
      double count[OPTION_LEVELS_MAX] = {0}, mean[OPTION_LEVELS_MAX], squares[OPTION_LEVELS_MAX] = {0},
             hits[OPTION_LEVELS_MAX] = {0}, cost[OPTION_LEVELS_MAX], done = 0, least = INFINITY;
      const model *m = &models[i];
      option_level_sums s = {.most = OPTION_LEVELS_MAX,
                             .least = OPTION_LEVELS_LEAST,
                             .payoffs = 1,
                             .width = 1,
                             .order = 1,
                             .count = count,
                             .mean = mean,
                             .squares = squares,
                             .hits = hits,
                             .cost = cost};
      for (int l = 0; l < OPTION_LEVELS_MAX; l++) {
        cost[l] = l > 0 ? 1.5 * exp2(l) : 1;
        mean[l] = l > 0 ? m->c * exp2(-m->a * l) : 10;
      }
      for (int n = 0; n < 10000; n++) {
        const option_level_step next = option_level_next(&s, tolerances[t], INFINITY);
        if (next.samples == 0) break;
        draw(m, next.level, next.samples, count, squares, hits);
        if (s.levels <= next.level) s.levels = next.level + 1;
      }
      for (int levels = OPTION_LEVELS_LEAST; levels <= OPTION_LEVELS_MAX; levels++)
        least = fmin(least, best_work(m, levels, tolerances[t], cost));
      for (int l = 0; l < s.levels; l++) done += count[l] * cost[l];
      const double error = hypot(sqrt(option_level_spread(&s, 0)), option_level_bias(&s, 0));
      print_message("    model %d, error %.4f of %.4f, %d levels: work %.3g, %.2f times the least\n", i, error,
                    tolerances[t], s.levels, done, done / least);
      assert_true(error <= tolerances[t]);
      assert_true(done <= 1.5 * least);
    }
}

/* The work of each seed over the best one, as the sums of the run tell it. Above 1.5 in one seed of 20 at most (7 of
 * 200 measured), where the noise of a payoff that jumps misleads a run. */
static void check_work(const char *what, int which, double tolerance, int steps, void (*payoff)(pricing *)) {
  double most = 0;
  int above = 0;
  for (int seed = 1; seed <= seeds; seed++) {
    pricing d;
    double done;
    make(&d, which, tolerance, steps);
    d.p.common.seed = (uint64_t)seed;
    payoff(&d);
    pricing_run(&d);
    const option_run *run = d.self;
    const double least = option_level_least_work(option_levels_sums(run->levels), tolerance, &done);
    most = fmax(most, done / least);
    above += done > 1.5 * least;
    pricing_free(&d);
  }
  print_message("    %-34s %d seeds: at most %.2f times the best work, %d above 1.5\n", what, seeds, most, above);
  assert_true(above <= seeds / 20);
}

/* The noise of the finest differences, of which few are other than 0 where a payoff jumps, does not add levels. */
static void test_run_work(void **state) {
  (void)state;
  check_work("Heston, digital", HESTON, 0.03, 4, digital);
  check_work("Heston, call", HESTON, 0.05, 4, call);
  check_work("CEV, call", CEV, 0.1, 2, call);
  check_work("CEV, digital", CEV, 0.02, 2, digital);
  check_work("CEV, barrier at 8 dates", CEV, 0.1, 8, barrier);
  check_work("randomised: Heston, call", HESTON, 0.05, 4, randomised);
  check_work("randomised: CEV, call", CEV, 0.1, 2, randomised);
}

/* Samples of the levels before `levels` of a CEV asset: a call, and a call whose strike is next to 0. */
static const option_level_sums *sample_levels(pricing *d, bool random, int levels, double samples) {
  make(d, CEV, 0.1, 2);
  d->p.common.precision = SIM_DOUBLE;
  d->p.sampling.randomised = random;
  call(d);
  pricing_add(d, &option_european_schema, 1e-9, OPTION_CALL);
  pricing_create(d, NULL);
  option_levels *of = ((option_run *)d->self)->levels;
  for (int l = 0; l < levels; l++) assert_int_equal(option_levels_sample(of, (option_level_step){l, samples}), SIM_OK);
  return option_levels_sums(of);
}

/* Variances of differences of a local volatility fall as 4^-l; by Euler's steps they fall as 2^-l. The ratio over three
 * levels has an error of some 10 % by 16384 samples. The mean of the price itself is exact on each level. */
static void test_milstein(void **state) {
  (void)state;
  pricing d;
  const option_level_sums *s = sample_levels(&d, false, 6, 16384);
  const double ratio = cbrt(option_level_variance(s, 5, 0) / option_level_variance(s, 2, 0));
  print_message("    a level has %.3f of the variance of the level before\n", ratio);
  assert_true(ratio < 0.3 && ratio > 0.2);
  for (int l = 1; l < 6; l++) {
    const double error = sqrt(option_level_variance(s, l, 1) / s->count[l]);
    assert_true(error < 0.02);
    assert_true(fabs(s->mean[l * s->width + 1]) < 4 * error);
  }
  pricing_free(&d);
}

/* The random level has the mean of all levels from 3 on. Those after level 8 have less than 1/31 of that. */
static void test_tail(void **state) {
  (void)state;
  pricing d;
  const option_level_sums *s = sample_levels(&d, false, 9, 16384);
  double known = 0, squares = 0;
  for (int l = 3; l < 9; l++) {
    known += s->mean[l * s->width];
    squares += option_level_variance(s, l, 0) / s->count[l];
  }
  known += s->mean[8 * s->width]; /* those after level 8, which fall by halves */
  pricing_free(&d);
  s = sample_levels(&d, true, 3, 16384); /* where a limit ends the run before the random level: the bias of level 2 */
  double bias = option_level_bias(s, 0);
  assert_true(bias > 0.5 * known);
  pricing_free(&d);
  s = sample_levels(&d, true, 4, 65536);
  assert_int_equal(s->tail, 3);
  const double error = sqrt(squares + option_level_variance(s, 3, 0) / s->count[3]);
  print_message("    random level %.4f, all levels from 3 on %.4f, error %.4f\n", s->mean[3 * s->width], known, error);
  bias = option_level_bias(s, 0); /* of level 12: a share of 1/2^9 or so of the levels from 3 on */
  assert_true(bias > 0 && bias < known / 256);
  assert_true(error < 0.03 * known);
  assert_true(fabs(s->mean[3 * s->width] - known) < 4 * error);
  pricing_free(&d);
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "long") == 0) seeds = 200;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_work),       cmocka_unit_test(test_run_work), cmocka_unit_test(test_milstein),
      cmocka_unit_test(test_tail),       cmocka_unit_test(test_bits),     cmocka_unit_test(test_heston),
      cmocka_unit_test(test_local),      cmocka_unit_test(test_sabr),     cmocka_unit_test(test_ends_at_zero),
      cmocka_unit_test(test_randomised), cmocka_unit_test(test_counts),   cmocka_unit_test(test_greeks)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
