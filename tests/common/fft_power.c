/* Power spectra against a direct sum over all wavenumbers. */
#include "kernels/common/fft/power.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const double pi = 3.14159265358979323846;
enum { BINS = 5, CELLS = 1000 };

typedef struct box {
  int rank;
  int64_t n[3];
  double size[3];
} box;
static const box boxes[] = {{3, {6, 5, 4}, {3, 2.5, 2}},
                            {3, {4, 18, 3}, {4, 18, 3}},
                            {3, {19, 4, 4}, {19, 4, 4}},
                            {2, {7, 20, 1}, {7, 20, 1}},
                            {2, {33, 4, 1}, {3.3, 0.4, 0}}};

static double field[CELLS];

static int64_t fill(const box *b) {
  const int64_t cells = b->n[0] * b->n[1] * b->n[2];
  assert_true(cells <= CELLS);
  for (int64_t i = 0; i < cells; i++) field[i] = sin((double)(i * i % 97) + 0.3 * (double)i); /* of all wavenumbers */
  return cells;
}

/* Power in each bin, from sums over cells at every wavenumber -n/2 < m <= n/2. */
static void direct(const box *b, double sums[BINS]) {
  double least = INFINITY;
  const int64_t cells = fill(b), *n = b->n;
  for (int a = 0; a < b->rank; a++) least = fmin(least, 2 * pi / b->size[a]);
  memset(sums, 0, BINS * sizeof *sums);
  for (int64_t mode = 0; mode < cells; mode++) {
    const int64_t number[3] = {mode % n[0], mode / n[0] % n[1], mode / n[0] / n[1]};
    double re = 0, im = 0, k2 = 0;
    for (int a = 0; a < b->rank; a++) {
      const int64_t m = 2 * number[a] > n[a] ? number[a] - n[a] : number[a];
      k2 += pow(2 * pi * (double)m / b->size[a], 2);
    }
    for (int64_t i = 0; i < cells; i++) {
      const int64_t at[3] = {i % n[0], i / n[0] % n[1], i / n[0] / n[1]};
      double turns = 0;
      for (int a = 0; a < 3; a++) turns += (double)(number[a] * at[a] % n[a]) / (double)n[a];
      re += field[i] * cos(2 * pi * turns) / (double)cells;
      im -= field[i] * sin(2 * pi * turns) / (double)cells;
    }
    const int bin = (int)floor(sqrt(k2) / least + 0.5 + 1e-6);
    sums[bin < BINS ? bin : BINS - 1] += re * re + im * im;
  }
}

/* The same by fft_power, planes and pieces in `parts` parts. */
static void measure(const box *b, int threads, int parts, bool single, double sums[BINS]) {
  fft_power *s;
  float narrow[CELLS];
  size_t plane;
  const int64_t cells = fill(b), planes = b->n[b->rank - 1];
  for (int64_t i = 0; i < cells; i++) narrow[i] = (float)field[i];
  assert_int_equal(fft_power_create(b->rank, b->n, b->size, sim_isa_best(), threads, &s), SIM_OK);
  const int64_t pieces = fft_power_pieces(s);
  double *partial = calloc((size_t)(pieces * BINS), sizeof *partial);
  assert_non_null(partial);
  for (int i = parts - 1; i >= 0; i--)
    fft_power_planes(s, single, single ? (void *)narrow : field, planes * i / parts, planes * (i + 1) / parts);
  assert_non_null(fft_power_data(s, &plane));
  for (int i = 0; i < parts; i++) fft_power_add(s, pieces * i / parts, pieces * (i + 1) / parts, BINS, partial);
  memset(sums, 0, BINS * sizeof *sums);
  for (int64_t i = 0; i < pieces * BINS; i++) sums[i % BINS] += partial[i];
  free(partial);
  fft_power_destroy(&s);
}

/* Sums of at most 1000 terms of at most 1, twice: 1e-12. */
static void test_direct_sum(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof boxes / sizeof *boxes; i++) {
    double expected[BINS], got[BINS], single[BINS], total = 0, square = 0;
    direct(&boxes[i], expected);
    measure(&boxes[i], 1, 1, false, got);
    measure(&boxes[i], 1, 1, true, single);
    for (int b = 0; b < BINS; b++) {
      if (!(fabs(got[b] - expected[b]) <= 1e-12)) fail_msg("box %zu, bin %d: %g, not %g", i, b, got[b], expected[b]);
      assert_true(fabs(single[b] - expected[b]) <= 1e-6);
      total += got[b];
    }
    const int64_t cells = fill(&boxes[i]);
    for (int64_t c = 0; c < cells; c++) square += field[c] * field[c] / (double)cells;
    assert_true(fabs(total - square) <= 1e-12);
  }
}

static void test_same_bits(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof boxes / sizeof *boxes; i++) {
    double one[BINS], other[BINS];
    measure(&boxes[i], 1, 1, false, one);
    for (int parts = 1; parts <= 3; parts++) {
      measure(&boxes[i], parts, parts, false, other);
      assert_memory_equal(one, other, sizeof one);
    }
  }
}

static void test_bins(void **state) {
  (void)state;
  assert_int_equal(fft_bin(0, 2, 4), 0);
  assert_int_equal(fft_bin(0.99 * 0.99, 2, 4), 0);
  assert_int_equal(fft_bin(1, 2, 4), 1); /* midway: the upper one */
  assert_int_equal(fft_bin(9, 2, 4), 2);
  assert_int_equal(fft_bin(1e300, 2, 4), 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_direct_sum), cmocka_unit_test(test_same_bits),
                                     cmocka_unit_test(test_bins)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
