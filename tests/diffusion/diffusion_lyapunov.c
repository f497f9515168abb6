/* The largest Lyapunov exponent, against exact rates and published ones. */
#include "tests/diffusion/diffusion_driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { INTERVAL, EXPONENT, ERROR, INTERVALS, COLUMNS };

static void row(system_run *s, double *values) {
  int table = 0;
  while (s->p->tables[table] && strcmp(s->p->tables[table]->name, "lyapunov") != 0) table++;
  must(diffusion_model.observe(s->self, &s->clock, table, values), "observe");
}

/* ---- exact rates ---- */

/* Each case ends in a state with a known slowest difference: the mean of a field that grows or decays; the fixed point
 * 1 of u' = u (1 - u), where u' = -(u - 1), or beside a wall that holds 0 the mode of 3/4 - 1/4; two modes of a forced
 * shell, which share its energy in the ratio of the start, so that a difference between them persists. The next slowest
 * difference decays faster by 1 at least, from t = 20 on by e^-20. A distance of 1e-7 has rounding of 1e-16 and a
 * nonlinear part of 1e-7: 1e-6. */
static void test_exact(void **state) {
  static const struct {
    const char *text, *integrate;
    double exponent;
  } cases[] = {
      {"grid = { n = {16, 12}, size = {6, 6} }, fields = {{ name = 'u', D = 1, decay = -0.4, initial = 1 }},"
       "rates = function(u) return 0*u end,",
       "scheme = 'etd1', dt = 1/8", 0.4},
      {"grid = { n = {16}, size = {6} }, fields = {{ name = 'u', D = 1, decay = 0.3, initial = 1 }},"
       "rates = function(u) return 0*u end,",
       "scheme = 'etdrk2', dt = 1/8, dealias = true", -0.3},
      {"grid = { n = {12}, size = {3} }, fields = {{ name = 'u', D = 1, initial = 0.5 }},"
       "rates = function(u) return u*(1 - u) end,",
       "scheme = 'etdrk4', dt = 1/32", -1},
      {"grid = { n = {12}, size = {math.pi}, boundary = 'no_flux' }, fields = {{ name = 'u', D = 1, decay = -0.75,"
       " initial = function(x) return math.sin(x/2) end, sides = { x_low = { value = 0 } } }},"
       "rates = function(u) return 0*u end,",
       "scheme = 'etdrk4', dt = 1/8", 0.5},
      {"grid = { n = {12, 10}, size = {2*math.pi, 2*math.pi} }, fields = {{ name = 'u', D = 0.5,"
       " initial = function(x, y) return math.cos(x) + 0.5*math.sin(y) end }}, rates = function(u) return 0*u end,"
       "forcing = { fields = 'u', k = {1, 1}, power = 0.7 },",
       "scheme = 'etdrk4', dt = 1/32", 0},
  };
  (void)state;
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    double values[COLUMNS];
    system_run s;
    whole(&s, "return sim.diffusion { %s lyapunov = { every = 2, start = 20 }, integrate = { %s, t_end = 40 } }",
          cases[c].text, cases[c].integrate);
    row(&s, values);
    if (!(fabs(values[EXPONENT] - cases[c].exponent) < 1e-6) || values[INTERVALS] != 10 ||
        !(values[ERROR] >= 0 && values[ERROR] < 1e-6))
      fail_msg("case %zu: %.12g +- %.2g of %g intervals, expected %g", c, values[EXPONENT], values[ERROR],
               values[INTERVALS], cases[c].exponent);
    shut(&s);
  }
}

/* ---- chaos ---- */

/* The Kuramoto-Sivashinsky equation at L = 22: 0.048 (Cvitanovic, Davidchack and Siminos, SIAM J. Appl. Dyn. Syst. 9,
 * 2010) or 0.043 (Edson, Bunder, Mattner and Roberts, ANZIAM J. 61, 2019). Lorenz' equations, as fields that diffusion
 * keeps uniform: 0.9056 (Viswanath, 1998). Within 4 errors, whose size follows from the length of the runs. */
static void test_chaos(void **state) {
  static const struct {
    const char *text;
    double least, most, error[2];
  } cases[] = {
      {"grid = { n = {64}, size = {22} }, fields = {{ name = 'u', linear = function(k2) return k2 - k2^2 end,"
       " initial = function(x) return math.cos(math.pi*x/11) + 0.3*math.sin(2*math.pi*x/11 + 1) end }},"
       "rates = function(u, u_x) return -u*u_x end, lyapunov = { every = 10, start = 200 },"
       "integrate = { scheme = 'etdrk4', dt = 0.1, t_end = 3000, dealias = true }",
       0.043,
       0.048,
       {1e-3, 8e-3}},
      {"grid = { n = {8}, size = {1} }, fields = {{ name = 'a', D = 10, initial = 1 },"
       "{ name = 'b', D = 10, initial = 2 }, { name = 'c', D = 10, initial = 20 }},"
       "rates = function(a, b, c) return 10*(b - a), a*(28 - c) - b, a*b - 8/3*c end,"
       "lyapunov = { every = 1, start = 20 }, integrate = { scheme = 'etdrk4', dt = 0.01, t_end = 420 }",
       0.9056,
       0.9056,
       {2e-3, 4e-2}},
  };
  (void)state;
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    double v[COLUMNS];
    system_run s;
    whole(&s, "return sim.diffusion { %s }", cases[c].text);
    row(&s, v);
    if (!(v[EXPONENT] > cases[c].least - 4 * v[ERROR] && v[EXPONENT] < cases[c].most + 4 * v[ERROR]) ||
        !(v[ERROR] > cases[c].error[0] && v[ERROR] < cases[c].error[1]))
      fail_msg("case %zu: %.4g +- %.2g of %g intervals", c, v[EXPONENT], v[ERROR], v[INTERVALS]);
    shut(&s);
  }
}

/* The first case of test_chaos to t = 40000, whose error is then as small as the published numbers are apart. `long`.
 */
static void test_long_chaos(void **state) {
  double v[COLUMNS];
  system_run s;
  (void)state;
  whole(&s, "return sim.diffusion { grid = { n = {64}, size = {22} }, fields = {{ name = 'u', linear = function(k2)"
            " return k2 - k2^2 end, initial = function(x) return math.cos(math.pi*x/11) + 0.3*math.sin(2*math.pi*x/11 +"
            " 1) end }}, rates = function(u, u_x) return -u*u_x end, lyapunov = { every = 10, start = 200 },"
            "integrate = { scheme = 'etdrk4', dt = 0.1, t_end = 40000, dealias = true } }");
  row(&s, v);
  printf("Kuramoto and Sivashinsky, L = 22: %.4f +- %.4f of %g intervals\n", v[EXPONENT], v[ERROR], v[INTERVALS]);
  assert_true(v[ERROR] > 3e-4 && v[ERROR] < 2e-3);
  assert_true(v[EXPONENT] > 0.043 - 3 * v[ERROR] && v[EXPONENT] < 0.048 + 3 * v[ERROR]);
  shut(&s);
}

/* u' = a u, where a is Ornstein and Uhlenbeck's process with memory 1 and deviation 0.3: the exponent is the mean of a
 * over a time T = 40, whose variance is 2 0.3^2/T (1 - (1 - e^-T)/T). Blocks are as short as 2. Simulated in NumPy over
 * 4000 such runs the errors told are 0.95 of the true one (root mean square), and those of blocks alone 0.75; the mean
 * square of 64 runs scatters by 8 %. The exponents themselves have the exact scatter within 4/sqrt(2 64). */
static void test_memory(void **state) {
  enum { RUNS = 64 };
  const double exact = 2 * 0.09 / 40 * (1 - (1 - exp(-40)) / 40);
  double told = 0, seen = 0;
  (void)state;
  for (int i = 0; i < RUNS; i++) {
    double v[COLUMNS];
    system_run s;
    whole(&s,
          "return sim.diffusion { seed = %d, grid = { n = {8}, size = {1} }, fields = {"
          "{ name = 'u', D = 10, initial = 1 }, { name = 'a', D = 10, decay = 1, fluctuation = 0.3*math.sqrt(2) }},"
          "rates = function(u, a) return a*u, 0*a end, lyapunov = { every = 1/2, start = 10 },"
          "integrate = { scheme = 'etdrk2', dt = 1/8, t_end = 50 } }",
          i + 1);
    row(&s, v);
    told += v[ERROR] * v[ERROR] / exact / RUNS;
    seen += v[EXPONENT] * v[EXPONENT] / exact / RUNS;
    shut(&s);
  }
  if (!(fabs(seen - 1) < 4 * sqrt(2.0 / RUNS)))
    fail_msg("the exponents scatter by %.3g of the exact error", sqrt(seen));
  if (!(told > 0.81 * 0.81 && told < 1.1 * 1.1)) fail_msg("%.3g of the exact error is told", sqrt(told));
}

/* ---- the run itself, and restarts ---- */

static const char flow[] = "grid = { n = {24, 18}, size = {6, 5}, y = 'no_flux' }, solenoidal = 'u, v', fields = {"
                           "{ name = 'u', D = 0.02, noise = 0.1 }, { name = 'v', D = 0.02, noise = 0.1,"
                           " sides = { y_low = { value = 0 }, y_high = { value = 0 } } }},"
                           "rates = function(u, v, u_x, u_y, v_x, v_y) return -u*u_x - v*u_y, -u*v_x - v*v_y end,"
                           "forcing = { fields = 'u, v', k = {1, 3}, power = 1e-2, random = true },"
                           "integrate = { scheme = 'etdrk4', dt = 1/32, dealias = true, t_end = 2 }";

/* The second run changes no bit of the first one. Threads, instruction sets and a restart between two resets change no
 * bit of the exponent. */
static void test_same_bits(void **state) {
  double one[COLUMNS], other[COLUMNS];
  char with[2048];
  system_run alone, first, s;
  (void)state;
  snprintf(with, sizeof with, "return sim.diffusion { %s, lyapunov = { every = 1/8 } }", flow);
  whole(&alone, "return sim.diffusion { %s }", flow);
  open_with(&first, with, SIM_ISA_PLAIN, 1, NULL);
  run_to(&first, 31); /* every is 4 steps */
  look(&first);
  open_with(&s, with, sim_isa_best(), 3, &first.frame);
  run_to(&first, INT64_MAX);
  run_to(&s, INT64_MAX);
  look(&first);
  look(&s);
  row(&first, one);
  row(&s, other);
  assert_true(distance(&first, &s) == 0 && distance(&first, &alone) == 0);
  assert_memory_equal(one, other, sizeof one);
  assert_true(one[INTERVALS] == 16 && one[ERROR] > 0);
  shut(&s);
  shut(&first);
  shut(&alone);
}

/* Before the first interval since `start` the exponent is not known, and its error with fewer than 8 intervals. */
static void test_unknown(void **state) {
  double v[COLUMNS];
  char text[1024];
  system_run s;
  (void)state;
  snprintf(text, sizeof text, "return sim.diffusion { %s, lyapunov = { every = 1/8, start = 1/2 } }", flow);
  open_with(&s, text, sim_isa_best(), 1, NULL);
  for (int64_t step = 0; step <= 52; step++) { /* an interval has 4 steps, and `start` is at step 16 */
    run_to(&s, step);
    row(&s, v);
    const int64_t intervals = step < 16 ? 0 : (step - 16) / 4;
    if (isnan(v[INTERVAL]) != (step < 4) || isnan(v[EXPONENT]) != (intervals == 0) ||
        isnan(v[ERROR]) != (intervals < 8) || v[INTERVALS] != (double)intervals)
      fail_msg("step %lld: %g, %g +- %g of %g intervals", (long long)step, v[INTERVAL], v[EXPONENT], v[ERROR],
               v[INTERVALS]);
  }
  shut(&s);
}

/* An interval so long that the second run is no longer a neighbour, or is too near; and fields that are 0. */
static void test_refused(void **state) {
  static const struct {
    const char *decay, *initial, *message;
    sim_status status;
  } cases[] = {{"-2", "1e-6", "outside of 1e-11 to 0.001", SIM_ERR_DIVERGED},
               {"2", "1", "outside of 1e-11 to 0.001", SIM_ERR_DIVERGED},
               {"0", "0", "the fields are 0 at the start", SIM_ERR_SCENARIO}};
  (void)state;
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    char text[1024];
    system_run s = {
        .setup = {
            .backend = &sim_backend_cpu, .comm = &sim_comm_alone, .isa = sim_isa_best(), .threads = 1, .folder = ""}};
    /* u settles at 1, where differences decay as e^-t: by e^-32 in an interval. v grows beside it, and with it
     * differences grow */
    snprintf(
        text, sizeof text,
        "return sim.diffusion { grid = { n = {8}, size = {1} }, fields = {{ name = 'u', D = 1, initial = %s },"
        "{ name = 'v', D = 1, decay = %s }}, rates = function(u, v) return sim.where(sim.gt(u, 0), 1 - u, 0), 0*v end,"
        "lyapunov = { every = 32 }, integrate = { scheme = 'etd1', dt = 1/8, t_end = 64 } }",
        cases[c].initial, cases[c].decay);
    assert_true(decode(&s, text, NULL));
    sim_status status = diffusion_model.create(s.p, &s.setup, &s.clock, &s.self);
    for (int i = 0; i < 512 && status == SIM_OK; i++) status = diffusion_model.step(s.self, &s.clock);
    assert_int_equal(status, cases[c].status);
    if (!strstr(sim_error_last()->message, cases[c].message)) fail_msg("%zu: %s", c, sim_error_last()->message);
    if (s.self) diffusion_model.destroy(&s.self);
    void *p = s.p;
    sim_model_parameters_free(&diffusion_model, &p);
  }
}

int main(int argc, char **argv) {
  const struct CMUnitTest long_tests[] = {cmocka_unit_test(test_long_chaos)};
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_exact),   cmocka_unit_test(test_chaos),
                                     cmocka_unit_test(test_memory),  cmocka_unit_test(test_same_bits),
                                     cmocka_unit_test(test_unknown), cmocka_unit_test(test_refused)};
  if (argc > 1 && strcmp(argv[1], "long") == 0) return cmocka_run_group_tests(long_tests, NULL, NULL);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
