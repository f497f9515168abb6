/* The path kernels against a reference in plain C and the C library, path by path. So the random bits are those of
 * sim_rng_bits, and every instruction set gives the same. */
#include "engine/rng.h"
#include "kernels/option/cpu/path.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ASSETS = 2, STEPS = 6, FEATURES = 18, PATHS = 1000 };
static const double spot[ASSETS] = {100, 90}, ln2 = 0.69314718055994530942, pi = 3.14159265358979323846;
static const uint64_t seed = UINT64_C(0x123456789abcdef0), first = (UINT64_C(5) << 32) + 7 * OPTION_CHUNK;

static double drift[STEPS * ASSETS], vol[STEPS * ASSETS], cholesky[] = {1, 0, 0.6, 0.8};
static float drift_single[STEPS * ASSETS], vol_single[STEPS * ASSETS], cholesky_single[] = {1, 0, 0.6f, 0.8f};
static option_feature feature[FEATURES];
static int steps; /* at most STEPS */

static double uniform(uint32_t word) { return ((double)(word >> 1) + 0.5) * 0x1p-31; }

/* Computes the random bits of a path's step. Returns the position of the step's own bits: short paths share them, 4 or
 * 2 together. */
static int words_of(uint64_t path, int step, int draw, uint32_t *out) {
  const int turn = steps == 1 ? (int)(path >> 8 & 3) : steps == 2 ? (int)(path >> 8 & 1) : 0;
  const uint64_t lower = steps > 2 ? (uint32_t)path : path & 255;
  const uint64_t group = steps > 2 ? (uint64_t)step / 4 : (uint32_t)path >> (steps == 1 ? 10 : 9);
  sim_rng_bits(seed, group << 32 | lower, path >> 32, (uint32_t)draw, out);
  return (steps * turn + step) % 4;
}

static double word_log(uint64_t path, int step, int draw) {
  uint32_t w[4];
  const int place = words_of(path, step, draw, w);
  return -2 * log(uniform(w[place]));
}

static double normal(uint64_t path, int step, int asset) {
  uint32_t w[4];
  const int place = words_of(path, step, OPTION_DRAW_NORMAL + asset, w);
  const uint32_t *two = w + place / 2 * 2;
  const double radius = sqrt(-2 * log(uniform(two[0])));
  const double angle = 2 * pi * ((double)two[1] + 0.5) * 0x1p-32;
  return radius * (place % 2 ? sin(angle) : cos(angle));
}

/* Probability that a bridge stays on one side. */
static double stays(double x, double y, double level, double v, bool above) {
  const double a = above ? x - level : level - x, b = above ? y - level : level - y;
  return a > 0 && b > 0 ? 1 - exp(-2 * a * b / (v * v)) : 0;
}

/* All features of one path, in natural logarithms. */
static void walk(uint64_t path, double sign, double *out) {
  for (int a = 0; a < ASSETS; a++) {
    double x = 0, sum = 0, logs = 0, most = -INFINITY, least = INFINITY, high = 0, low = 0, above = 1, below = 1,
           fixing = 0;
    for (int s = 0; s < steps; s++) {
      double w = 0;
      for (int b = 0; b <= a; b++) w += cholesky[a * ASSETS + b] * normal(path, s, b);
      const double v = vol[s * ASSETS + a] * ln2, y = x + drift[s * ASSETS + a] * ln2 + sign * v * w;
      high = fmax(high, (x + y + sqrt((y - x) * (y - x) + v * v * word_log(path, s, OPTION_DRAW_HIGH + a))) / 2);
      low = fmin(low, (x + y - sqrt((y - x) * (y - x) + v * v * word_log(path, s, OPTION_DRAW_LOW + a))) / 2);
      below *= stays(x, y, log(110.0 / spot[a]), v, false);
      above *= stays(x, y, log(80.0 / spot[a]), v, true);
      x = y;
      sum += exp(x) / steps;
      logs += x / steps;
      most = fmax(most, x);
      least = fmin(least, x);
      if (s + 1 == feature[0].step) fixing = x;
    }
    const double prices[] = {exp(x), sum, exp(logs), exp(most), exp(least), exp(high), exp(low)};
    for (int k = 0; k < 7; k++) out[a * 9 + k] = spot[a] * prices[k];
    out[a * 9 + 7] = below;
    out[a * 9 + 8] = above;
    if (a == 1) out[0] = spot[1] * exp(fixing); /* in place of the first asset's last price */
  }
}

static void fill(void) {
  for (int i = 0; i < STEPS * ASSETS; i++) {
    drift[i] = drift_single[i] = (float)(0.01 * i - 0.02);
    vol[i] = vol_single[i] = (float)(0.1 + 0.02 * i);
  }
  cholesky[2] = cholesky_single[2];
  cholesky[3] = cholesky_single[3];
  for (int a = 0; a < ASSETS; a++) {
    static const option_kind kinds[] = {OPTION_LAST, OPTION_MEAN, OPTION_GEOMETRIC, OPTION_MAX,
                                        OPTION_MIN,  OPTION_HIGH, OPTION_LOW};
    for (int k = 0; k < 7; k++) feature[a * 9 + k] = (option_feature){kinds[k], a, 0, 0};
    feature[a * 9 + 7] = (option_feature){OPTION_NOT_ABOVE, a, 0, 110};
    feature[a * 9 + 8] = (option_feature){OPTION_NOT_BELOW, a, 0, 80};
  }
  feature[0] = (option_feature){OPTION_FIXING, 1, steps < 4 ? steps : 4, 0};
}

/* Rounding: x is a sum of 6 terms below 1, and polynomials are good to 2e-7 or 1e-16; prices are 100. A probability
 * near 0 is 1 minus a number near 1, with (a b / v^2) times that error, a b / v^2 up to 50: 1e-4. The angle near a
 * whole quarter is exact to 2^-25 only in fp32, and so is a uniform near 1, whose -2 ln is small: its root is exact to
 * 5e-4. */
static void compare(bool single, sim_isa isa, double tolerance) {
  option_path_kernel *kernel = option_path_find(single, isa);
  double worst = 0;
  void *buffers[2 * FEATURES];
  for (int i = 0; i < 2 * FEATURES; i++) assert_non_null(buffers[i] = aligned_alloc(64, OPTION_CHUNK * sizeof(double)));
  void *scratch = aligned_alloc(64, (option_path_scratch(ASSETS, 2, 0) + 63) / 64 * 64);
  double negative[STEPS * ASSETS];
  float negative_single[STEPS * ASSETS];
  for (int i = 0; i < STEPS * ASSETS; i++) negative[i] = negative_single[i] = -vol_single[i];
  const option_variant variants[2] = {
      {single ? (void *)drift_single : (void *)drift, single ? (void *)vol_single : (void *)vol, spot},
      {single ? (void *)drift_single : (void *)drift, single ? (void *)negative_single : (void *)negative, spot}};
  const option_paths paths = {.seed = seed,
                              .assets = ASSETS,
                              .steps = steps,
                              .variants = 2,
                              .features = FEATURES,
                              .variant = variants,
                              .feature = feature,
                              .cholesky = single ? (void *)cholesky_single : (void *)cholesky};
  kernel(&paths, first, PATHS, buffers, scratch);
  for (int i = 0; i < PATHS; i++)
    for (int v = 0; v < 2; v++) {
      double expected[FEATURES];
      walk(first + (uint64_t)i, v == 0 ? 1 : -1, expected);
      for (int f = 0; f < FEATURES; f++) {
        void *at = buffers[v * FEATURES + f];
        const double got = single ? (double)((float *)at)[i] : ((double *)at)[i];
        const double off = fabs(got - expected[f]) / (f % 9 >= 7 ? 1 : expected[f]);
        worst = fmax(worst, off);
        if (!(off <= tolerance))
          fail_msg("%s: path %d, variant %d, feature %d: %.17g, not %.17g", sim_isa_name(isa), i, v, f, got,
                   expected[f]);
      }
    }
  print_message("    %s, %s: within %.2g\n", single ? "single" : "double", sim_isa_name(isa), worst);
  for (int i = 0; i < 2 * FEATURES; i++) free(buffers[i]);
  free(scratch);
}

static void test_twin(void **state) {
  (void)state;
  static const int lengths[] = {STEPS, 1, 2, 3};
  for (int k = 0; k < 4; k++) {
    steps = lengths[k];
    fill();
    for (sim_isa isa = SIM_ISA_PLAIN; isa <= sim_isa_best(); isa++) {
      compare(true, isa, 1e-4);
      compare(false, isa, 1e-12);
    }
  }
}

/* One asset without extremes takes another branch of the kernel: the same numbers to the last bit in fp64. */
static void test_lean(void **state) {
  (void)state;
  static const double one[] = {1};
  static const int lengths[] = {11, 1, 2};
  fill();
  for (int k = 0; k < 3 * ((int)sim_isa_best() + 1); k++) {
    option_path_kernel *kernel = option_path_find(false, (sim_isa)(k / 3));
    const option_variant variant = {drift, vol, spot};
    const option_feature seen[] = {
        {OPTION_MEAN, 0, 0, 0}, {OPTION_GEOMETRIC, 0, 0, 0}, {OPTION_LAST, 0, 0, 0}, {OPTION_MAX, 0, 0, 0}};
    option_paths paths = {.seed = 3,
                          .assets = 1,
                          .steps = lengths[k % 3],
                          .variants = 1,
                          .variant = &variant,
                          .feature = seen,
                          .cholesky = one};
    void *out[2][4], *scratch = aligned_alloc(64, (option_path_scratch(1, 1, 0) + 63) / 64 * 64);
    for (int i = 0; i < 8; i++) out[i / 4][i % 4] = aligned_alloc(64, OPTION_CHUNK * sizeof(double));
    paths.features = 3;
    kernel(&paths, 0, OPTION_CHUNK, out[0], scratch);
    paths.features = 4;
    kernel(&paths, 0, OPTION_CHUNK, out[1], scratch);
    for (int f = 0; f < 3; f++) assert_memory_equal(out[0][f], out[1][f], OPTION_CHUNK * sizeof(double));
    for (int i = 0; i < 8; i++) free(out[i / 4][i % 4]);
    free(scratch);
  }
}

/* ---- high and low together ---- */

/* The probability that a bridge from x to y with deviation v stays between two walls, by eigenfunctions: the other
 * series than the kernels'. */
static double stays_between(double x, double y, double v, double low, double high) {
  const double width = high - low;
  double sum = 0;
  for (int n = 1; n <= 60; n++)
    sum += sin(n * pi * (x - low) / width) * sin(n * pi * (y - low) / width) * exp(-pow(n * pi * v / width, 2) / 2);
  return 2 / width * sum * sqrt(2 * pi) * v * exp((y - x) * (y - x) / (2 * v * v));
}

/* One less the uniform number that a lowest point belongs to, given the highest: its conditional probability not to be
 * below. */
static double conditional(double x, double y, double v, double low, double high) {
  const double h = 1e-4 * v, density = 2 * (2 * high - x - y) / (v * v) * exp(-2 * (high - x) * (high - y) / (v * v));
  /* Four points: the fifth derivative times h^4/30 is below 1e-9. */
  return (8 * (stays_between(x, y, v, low, high + h) - stays_between(x, y, v, low, high - h)) -
          (stays_between(x, y, v, low, high + 2 * h) - stays_between(x, y, v, low, high - 2 * h))) /
         (12 * h) / density;
}

/* One asset and step: the low of each path is where the other series has the probability that its word says. Sums of
 * terms of size 1 to 100 leave 1e-14 of the series, over h: 1e-9; in fp32 logarithms of prices have 1e-6 of the step's
 * deviation, densities are below 10 (which a step's end near the lowest point has), and a path in a thousand has a
 * highest point so near to an end that its own distance has few digits: these are left out. */
static void compare_joint(bool single, sim_isa isa, double sign, double tolerance) {
  static const option_feature seen[] = {{OPTION_LAST, 0, 0, 0}, {OPTION_HIGH, 0, 0, 0}, {OPTION_LOW, 0, 0, 0}};
  const double one = 1, v = sign * 0.25, d = 0.0625;
  const float one_single = 1, v_single = (float)v, d_single = (float)d;
  const option_variant variant = {single ? (void *)&d_single : (void *)&d, single ? (void *)&v_single : (void *)&v,
                                  spot};
  option_paths paths = {.seed = seed,
                        .assets = 1,
                        .steps = 1,
                        .variants = 1,
                        .features = 3,
                        .variant = &variant,
                        .feature = seen,
                        .joint = 1,
                        .cholesky = single ? (void *)&one_single : (void *)&one};
  void *out[3], *scratch = aligned_alloc(64, (option_path_scratch(1, 1, 0) + 63) / 64 * 64);
  for (int i = 0; i < 3; i++) out[i] = aligned_alloc(64, OPTION_CHUNK * sizeof(double));
  option_path_find(single, isa)(&paths, first, OPTION_CHUNK, out, scratch);
  double worst = 0;
  int left_out = 0;
  steps = 1;
  for (int i = 0; i < OPTION_CHUNK; i++) {
    double x[3];
    for (int f = 0; f < 3; f++)
      x[f] = log((single ? (double)((float *)out[f])[i] : ((double *)out[f])[i]) / spot[0]) / ln2;
    const double y = x[0], high = x[1], low = x[2], u = exp(-word_log(first + (uint64_t)i, 0, OPTION_DRAW_LOW) / 2);
    assert_true(low <= fmin(0, y) && high >= fmax(0, y));
    if (high - fmax(0, y) < 2e-3 || fmin(0, y) - low < 1e-4) {
      left_out++;
      continue;
    }
    const double off = fabs(1 - conditional(0, y, 0.25, low, high) - u);
    worst = fmax(worst, off);
    if (!(off <= tolerance))
      fail_msg("%s: path %d from 0 to %.9g, high %.9g, low %.9g: probability %.9g, not %.9g", sim_isa_name(isa), i, y,
               high, low, 1 - conditional(0, y, 0.25, low, high), u);
  }
  print_message("    high and low, %s, %s: within %.2g, %d left out\n", single ? "single" : "double", sim_isa_name(isa),
                worst, left_out);
  assert_true(left_out < OPTION_CHUNK / 20);
  for (int i = 0; i < 3; i++) free(out[i]);
  free(scratch);
}

static void test_joint(void **state) {
  (void)state;
  for (sim_isa isa = SIM_ISA_PLAIN; isa <= sim_isa_best(); isa++)
    for (int sign = -1; sign <= 1; sign += 2) {
      compare_joint(true, isa, sign, 1e-4);
      compare_joint(false, isa, sign, 1e-7);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_twin), cmocka_unit_test(test_lean),
                                     cmocka_unit_test(test_joint)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
