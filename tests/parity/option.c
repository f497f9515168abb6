/* Prices by simulated paths on the GPU against those on the CPU, from the same random words. */
#include "engine/device/compile.h"
#include "engine/device/cuda.h"
#include "engine/rng.h"
#include "engine/wall_clock.h"
#include "kernels/option/cuda/plan.h"
#include "tests/gpu/gpu.h"
#include "tests/parity/option_cases.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void must(sim_status status, const char *what) {
  if (status != SIM_OK) fail_msg("%s: %s", what, sim_error_last()->message);
}

/* ---- random words and normals ---- */

enum { WORDS = 4096, STEPS = 7, DRAW = 66 };
static const char words_text[] =
    "#include \"kernels/option/cuda/paths/random.cuh\"\n"
    "extern \"C\" __global__ void draw_all(const option_keys keys, unsigned high, unsigned low, unsigned *words,\n"
    "                                    float *narrow, double *wide) {\n"
    "  const unsigned path = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  const stream s = begin_stream(high, low + path);\n"
    "  for (unsigned step = 0; step < 7; step++) {\n"
    "    const bits4 w = random_bits(s, keys, step, 66);\n"
    "    const unsigned at = 4 * (path * 7 + step);\n"
    "    for (int i = 0; i < 4; i++) words[at + i] = w.bits[i];\n"
    "    for (int i = 0; i < 4; i += 2) {\n"
    "      two_normals(w.bits[i], w.bits[i + 1], -1.38629436f, narrow + at + i);\n"
    "      two_normals(w.bits[i], w.bits[i + 1], -1.3862943611198906, wide + at + i);\n"
    "    }\n"
    "  }\n"
    "}\n";

/* Bounds on normals of at most 6.7: in fp64 the functions' 2 units each; in fp32 the radius has 2^-22 from the
 * logarithm (absolutely, near 0 of the radius more in proportion: sqrt), and cosine and sine 2^-20.9 absolutely. */
static void compare_normals(const uint32_t *word, const float *narrow, const double *wide) {
  const double radius = sqrt(-2 * log(((double)(word[0] >> 1) + 0.5) * 0x1p-31));
  const double angle = 6.28318530717958647693 * ((double)word[1] + 0.5) * 0x1p-32;
  for (int k = 0; k < 2; k++) {
    const double z = radius * (k ? sin(angle) : cos(angle));
    assert_true(fabs(wide[k] - z) <= 8e-15 * (1 + radius));
    const double of_log = 0x1p-22 * 1.3862943611198906 / fmax(radius, 1e-3);
    assert_true(fabs((double)narrow[k] - z) <= of_log + radius * (0x1p-20 + 0x1p-21));
  }
}

static void test_words(void **state) {
  (void)state;
  const uint64_t seed = UINT64_C(0x123456789abcdef0), first = (UINT64_C(5) << 32) + 7 * OPTION_CHUNK;
  enum { COUNT = WORDS * STEPS * 4 };
  static uint32_t bits4[COUNT];
  static float narrow[COUNT];
  static double wide[COUNT];
  sim_module *module;
  void *kernel, *device;
  const sim_source source = {
      .name = "draw_all", .text = words_text, .files = option_cuda_files, .contract = true, .approximate = true};
  must(sim_module_create(&source, &module), "compile");
  must(sim_module_kernel(module, "draw_all", &kernel), "kernel");
  must(sim_backend_cuda.alloc(COUNT * 16, &device), "alloc");
  double *there_wide = device;
  float *there_narrow = (float *)(there_wide + COUNT);
  uint32_t *there = (uint32_t *)(there_narrow + COUNT);
  option_keys keys;
  option_parameters p = {.common.seed = seed};
  must(option_cuda_keys(&p, &keys), "keys");
  unsigned high = (unsigned)(first >> 32), low = (unsigned)first;
  const dim3 grid = {WORDS / 256, 1, 1}, block = {256, 1, 1};
  void *arguments[] = {&keys, &high, &low, &there, &there_narrow, &there_wide};
  assert_int_equal(cudaLaunchKernel(kernel, grid, block, arguments, 0, (cudaStream_t)sim_cuda_stream()), cudaSuccess);
  must(sim_backend_cuda.copy(bits4, there, sizeof bits4), "copy");
  must(sim_backend_cuda.copy(narrow, there_narrow, sizeof narrow), "copy");
  must(sim_backend_cuda.copy(wide, there_wide, sizeof wide), "copy");
  for (uint64_t path = 0; path < WORDS; path++)
    for (uint64_t step = 0; step < STEPS; step++) {
      const uint64_t at = 4 * (path * STEPS + step);
      uint32_t known[4];
      sim_rng_bits(seed, step << 32 | (uint32_t)(first + path), (first + path) >> 32, DRAW, known);
      assert_memory_equal(known, bits4 + at, sizeof known);
      compare_normals(known, narrow + at, wide + at);
      compare_normals(known + 2, narrow + at + 2, wide + at + 2);
    }
  sim_backend_cuda.free(device);
  sim_module_free(&module);
}

/* ---- prices ---- */

/* In fp64 a path's numbers differ by the rounding of some functions: 1e-14 of the price or so a step, which bumped
 * differences divide by 1e-3 or 1e-4 at most; a path on another side of a jump would show, and no price here is within
 * 1e-12 of a level. In fp32 paths differ by 1e-6 of the price, at random: a tenth of the standard error holds, but not
 * where a payoff that jumps is bumped. Of 7e4 paths, with a density of 2 of ln S, 0.15 of each of a difference's two to
 * four prices are on another side of the jump than in fp64, and of the hundred or so that jump between the bumps at all
 * each is 1/sqrt(100) of the standard error: up to 4 of them more (once in 200 cases), and in the squares likewise.
 *
 * What is 0 but for rounding (the gamma of a price without a strike, a Greek
 * that its control takes away) is 0 to 1e-12, of samples within 1e-8. In fp32 its samples are differences of deltas
 * near 1, each rounded to 2^-24, over twice a bump of 1: so is their mean where all round to one side, and their
 * squares are no more alike. Second derivatives in fp64 are those of a market that differs by a small fraction of the
 * bump, which gives derivatives to 1e-9 (option_market_near): so much a Greek may have that is 0, and its samples. Five
 * steps of Heston's variance with jumps round a hundred times: 8e-6 a sample (the gamma of a forward start), so that
 * squares below those of 2^-14 say nothing. */
static void compare(int which, sim_precision precision, const pricing *d, int quantities, const double *here,
                    const double *there) {
  const double n = d->clock.t / (d->p.sampling.antithetic ? 2 : 1);
  double worst = 0;
  for (int q = 0; q < quantities; q++) {
    /* of one path, also where squares are those of chunks' means */
    const double deviation = sqrt(here[quantities + q] / n) * option_unit(&d->p), off = fabs(there[q] - here[q]);
    const double share = option_cases[which].jumps ? 0.5 : 0.1;
    const double bound = precision == SIM_DOUBLE
                             ? (option_cases[which].second ? 1e-9 : 1e-12) + 1e-9 * (deviation + fabs(here[q]))
                             : 0x1p-24 + share * deviation / sqrt(n);
    worst = fmax(worst, off / bound);
    if (!(off <= bound))
      fail_msg("%s, %s, quantity %d: %.15g on the CPU, %.15g on the GPU, deviation %.3g", option_cases[which].name,
               sim_precision_name(precision), q, here[q], there[q], deviation);
    const double wide = precision == SIM_DOUBLE ? 1e-8 : 0.1;
    const double least = precision == SIM_DOUBLE ? (option_cases[which].second ? 1e-10 : 1e-16) * n : 0x1p-28 * n;
    const double squares = fabs(there[quantities + q] - here[quantities + q]) / (here[quantities + q] + least);
    if (!(squares <= wide))
      fail_msg("%s, %s, quantity %d: squares differ by %.3g", option_cases[which].name, sim_precision_name(precision),
               q, squares);
  }
  print_message("    %-20s %s: %d quantities, at worst %.3g of the bound\n", option_cases[which].name,
                sim_precision_name(precision), quantities, worst);
}

static void run_case(int which, sim_precision precision) {
  static double results[2][2 * 512];
  pricing d;
  for (int k = 0; k < 2; k++) {
    option_case_make(&d, which, precision, k ? &sim_backend_cuda : &sim_backend_cpu);
    pricing_run(&d);
    const sim_frame frame = pricing_state(&d);
    const size_t quantities = (size_t)(frame.arrays[0].shape[0] / option_groups(&d.p));
    assert_true(quantities <= 512);
    memcpy(results[k], frame.arrays[0].data, quantities * sizeof(double));
    memcpy(results[k] + quantities, frame.arrays[1].data, quantities * sizeof(double));
    if (k == 1) compare(which, precision, &d, (int)quantities, results[0], results[1]);
    pricing_free(&d);
  }
}

/* Beginnings of the names of the cases to run; none: all. */
static char **only;
static int only_count;

static bool is_wanted(const char *name) {
  bool wanted = only_count == 0;
  for (int i = 0; i < only_count; i++) wanted |= strncmp(name, only[i], strlen(only[i])) == 0;
  return wanted;
}

static void run_cases(sim_precision precision) {
  for (int which = 0; which < OPTION_CASES; which++) {
    if (precision == SIM_SINGLE && option_cases[which].second) continue; /* refused there */
    if (is_wanted(option_cases[which].name)) run_case(which, precision);
  }
}

static void test_cases_double(void **state) {
  (void)state;
  run_cases(SIM_DOUBLE);
}

static void test_cases_single(void **state) {
  (void)state;
  run_cases(SIM_SINGLE);
}

/* ---- order ---- */

/* The same bits however the blocks are cut into launches, and on a second run; a restart is such a cut. */
static void test_order(void **state) {
  (void)state;
  static double sums[3][4][2 * 12]; /* means, squares, tails */
  const option_ops *ops = &option_ops_cuda;
  pricing d;
  option_case_make(&d, 2, SIM_SINGLE, &sim_backend_cuda);
  pricing_create(&d, NULL);
  option_sampler *sampler;
  const size_t row = (size_t)option_quantities(&d.p, NULL);
  assert_true(row <= 12);
  must(ops->create(&d.p, &d.setup, &sampler), "create");
  for (int k = 0; k < 2; k++)
    must(ops->sample(sampler, 0, 2 * OPTION_BLOCK, sums[k][0], sums[k][1], sums[k][2]), "sample");
  for (size_t b = 0; b < 2; b++)
    must(ops->sample(sampler, (int64_t)b * OPTION_BLOCK, OPTION_BLOCK, sums[2][0] + b * row, sums[2][1] + b * row,
                     sums[2][2] + 2 * b * row),
         "sample");
  for (int k = 1; k < 3; k++) assert_memory_equal(sums[0], sums[k], sizeof sums[0]);
  assert_true(sums[0][0][0] != sums[0][0][row]); /* blocks differ */
  ops->destroy(&sampler);
  pricing_free(&d);
}

/* The accuracy is reached at the same number of paths as on the CPU, and the price is known: 5.781824. */
static void test_accuracy(void **state) {
  (void)state;
  double paths[2];
  for (int k = 0; k < 2; k++) {
    pricing d;
    pricing_make(&d, SIM_DOUBLE, 0.2, 0.05, 1, k ? 252 : 1);
    d.setup.backend = &sim_backend_cuda;
    d.p.sampling.paths = 0x1p30;
    d.p.sampling.standard_error = k ? 4e-4 : 1e-2;
    d.p.sampling.control = k ? OPTION_CONTROL_GEOMETRIC : OPTION_NO_CONTROL;
    pricing_add(&d, k ? &option_asian_schema : &option_european_schema, 100, OPTION_CALL);
    pricing_run(&d);
    const estimate e = pricing_price(&d, 0);
    paths[k] = d.clock.t;
    print_message("    %.6f +- %.6f after %.0f paths\n", e.value, e.error, paths[k]);
    assert_true(e.error <= d.p.sampling.standard_error);
    assert_true(fabs(e.value - (k ? 5.781824 : 10.450583572185565)) < 4 * e.error);
    assert_true(fmod(paths[k], OPTION_CHUNK) == 0);
    pricing_free(&d);
  }
  pricing d;
  pricing_make(&d, SIM_DOUBLE, 0.2, 0.05, 1, 1);
  d.p.sampling.paths = 0x1p30;
  d.p.sampling.standard_error = 1e-2;
  pricing_add(&d, &option_european_schema, 100, OPTION_CALL);
  pricing_run(&d);
  assert_true(d.clock.t == paths[0]);
  pricing_free(&d);
}

/* fp32 against fp64 on the same 2^26 paths, at the default tolerance: a tenth of the standard error at 1e9 paths. */
static void test_bias(void **state) {
  (void)state;
  estimate e[2];
  for (int k = 0; k < 2; k++) {
    pricing d;
    pricing_make(&d, k ? SIM_DOUBLE : SIM_SINGLE, 0.2, 0.05, 1, 12);
    d.setup.backend = &sim_backend_cuda;
    d.p.sampling.paths = 0x1p26;
    pricing_add(&d, &option_asian_schema, 100, OPTION_CALL);
    pricing_run(&d);
    e[k] = pricing_price(&d, 0);
    pricing_free(&d);
  }
  const double of_billion = e[1].error * sqrt(0x1p26 / 1e9);
  print_message("    fp32 - fp64: %.2g, standard error at 1e9 paths %.2g\n", e[0].value - e[1].value, of_billion);
  assert_true(fabs(e[0].value - e[1].value) < 0.1 * of_billion);
}

/* A payoff that no path brings anything: exactly 0, also with a strike that is no number of fp32. */
static void test_unpaid(void **state) {
  (void)state;
  for (int precision = SIM_SINGLE; precision <= SIM_DOUBLE; precision += SIM_DOUBLE - SIM_SINGLE) {
    pricing d;
    pricing_make(&d, (sim_precision)precision, 0.2, 0.05, 1, 1);
    d.setup.backend = &sim_backend_cuda;
    d.p.sampling.paths = 0x1p20;
    d.p.sampling.standard_error = 1;
    pricing_add(&d, &option_european_schema, 400.1, OPTION_CALL);
    pricing_run(&d);
    assert_true(pricing_price(&d, 0).value == 0 && isnan(pricing_price(&d, 0).error));
    assert_true(d.clock.t == 0x1p20);
    pricing_free(&d);
  }
}

static int ascending(const void *a, const void *b) {
  return *(const double *)a < *(const double *)b ? -1 : *(const double *)a > *(const double *)b;
}

/* The best of five: known values as in tests/option/option_early.c, and the time of rule and price once the kernels are
 * on disk. */
static void test_five_assets(void **state) {
  (void)state;
  for (int turn = 0; turn < 2; turn++) {
    pricing d;
    pricing_make(&d, SIM_MIXED, 0.2, 0.05, 3, 9);
    for (int a = 1; a < 5; a++) pricing_add_asset(&d, 100, 0.2);
    for (int a = 0; a < 5; a++) {
      sim_expr_free(&d.assets[a].dividend);
      d.assets[a].dividend = pricing_constant(0.1);
    }
    d.setup.backend = &sim_backend_cuda;
    d.p.sampling.paths = 0x1p18;
    option_payoff *o = pricing_add(&d, &option_american_schema, 100, OPTION_CALL);
    o->on = OPTION_ON_BEST;
    o->fit_paths = 1 << 18;
    const double begin = sim_wall_clock();
    pricing_create(&d, NULL);
    const double made = sim_wall_clock();
    while (d.clock.t < d.clock.t_end) pricing_step(&d);
    const estimate price = pricing_price(&d, 0);
    print_message("    %.4f +- %.4f, %.2f ms for the rule, %.2f ms for the price\n", price.value, price.error,
                  1e3 * (made - begin), 1e3 * (sim_wall_clock() - made));
    assert_true(fabs(price.value - 26.096) < 4 * hypot(price.error, 0.038) + 0.003 * 26.096);
    assert_true(price.value < 26.292 + 4 * price.error);
    pricing_free(&d);
  }
}

/* A small book of 8 European options, priced again and again with other volatilities, as `sim serve` does: known
 * prices, and the median times of a call. The memory of a small run is small: the code stays on the device. */
static void test_small_book(void **state) {
  (void)state;
  enum { CALLS = 101 };
  static double time[3][CALLS];
  sim_modules_keep();
  sim_cuda_keep_memory();
  for (int k = 0; k < CALLS; k++) {
    pricing d;
    const double vol = 0.2 + 1e-3 * k;
    pricing_make(&d, SIM_MIXED, vol, 0.05, 1, 1);
    d.setup.backend = &sim_backend_cuda;
    d.p.sampling.paths = 0x1p14;
    const double lowest = 80 + 0.01 * k; /* of the strikes, which the compiled kernel takes as constants */
    for (int i = 0; i < 8; i++) pricing_add(&d, &option_european_schema, lowest + 6 * i, OPTION_CALL);
    const double begin = sim_wall_clock();
    pricing_create(&d, NULL);
    const double made = sim_wall_clock();
    while (d.clock.t < d.clock.t_end) pricing_step(&d);
    const double stepped = sim_wall_clock();
    for (int i = 0; i < 8; i++) {
      const estimate e = pricing_price(&d, i);
      const double strike = lowest + 6 * i, up = (log(100 / strike) + 0.05) / vol + vol / 2;
      const double known = 50 * erfc(-up / sqrt(2)) - strike * exp(-0.05) * erfc(-(up - vol) / sqrt(2)) / 2;
      assert_true(fabs(e.value - known) < 5 * e.error);
    }
    const double read = sim_wall_clock();
    pricing_free(&d);
    time[0][k] = made - begin, time[1][k] = stepped - made, time[2][k] = sim_wall_clock() - read;
  }
  for (int i = 0; i < 3; i++) qsort(time[i], CALLS, sizeof(double), ascending);
  print_message("    a call: %.3f ms to create, %.3f ms to sample, %.3f ms to destroy; the first %.1f ms to create\n",
                1e3 * time[0][CALLS / 2], 1e3 * time[1][CALLS / 2], 1e3 * time[2][CALLS / 2], 1e3 * time[0][CALLS - 1]);
}

/* A local volatility 70/S - 0.5, below 0 from S = 140 on, under a payoff that does not see it. */
static void test_unsound(void **state) {
  (void)state;
  for (int precision = SIM_SINGLE; precision <= SIM_DOUBLE; precision += SIM_DOUBLE - SIM_SINGLE) {
    pricing d;
    pricing_make(&d, (sim_precision)precision, 0.2, 0.05, 1, 8);
    pricing_set_motion(&d, 0);
    d.assets[0].local_vol = pricing_displaced(70, -0.5);
    d.setup.backend = &sim_backend_cuda;
    pricing_add(&d, &option_digital_schema, 100, OPTION_CALL);
    pricing_create(&d, NULL);
    assert_int_equal(option_model.step(d.self, &d.clock), SIM_ERR_DIVERGED);
    print_message("    %s\n", sim_error_last()->message);
    assert_true(strncmp(sim_error_last()->message, "assets[1].local_vol is -0.", 26) == 0);
    pricing_free(&d);
  }
}

int main(int argc, char **argv) {
  const int missing = gpu_open();
  if (missing != 0) return missing;
  int read = 1;
  for (; read + 1 < argc && strncmp(argv[read], "--", 2) == 0; read += 2) {
    if (strcmp(argv[read], "--only") == 0) cmocka_set_test_filter(argv[read + 1]);
    if (strcmp(argv[read], "--skip") == 0) cmocka_set_skip_filter(argv[read + 1]);
  }
  only = argv + read;
  only_count = argc - read;
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_words),        cmocka_unit_test(test_unpaid),
                                     cmocka_unit_test(test_unsound),      cmocka_unit_test(test_five_assets),
                                     cmocka_unit_test(test_small_book),   cmocka_unit_test(test_order),
                                     cmocka_unit_test(test_accuracy),     cmocka_unit_test(test_bias),
                                     cmocka_unit_test(test_cases_double), cmocka_unit_test(test_cases_single)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
