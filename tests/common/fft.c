/* Transforms against a direct sum in long double.
 *
 * Bound. A butterfly of prime length p by sums of p products errs by at most p u |x|_1 <= p sqrt(p) u |x|_2 an output;
 * relative to the norm of its p outputs, sqrt(p) |x|_2 in the mean, that is p^1.5 u, and a twiddle adds 4 u (two
 * products, a sum, the constant's own rounding). Each prime factor counts once (Higham, "Accuracy and stability of
 * numerical algorithms", theorem 24.2, with p for 2). Bluestein: two transforms of the longer length, its factors'
 * own, three products; cosine and sine: one more rotation of pairs, at most sqrt(2) (4 + 1) u. */
#include "kernels/common/fft/fft.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const long double pi = 3.141592653589793238462643383279502884L;

static double prime_bound(int64_t n) {
  double sum = 0;
  for (int64_t p = 2; n > 1; p++)
    for (; n % p == 0; n /= p) sum += pow((double)p, 1.5) + 4;
  return sum;
}

static double bound(int64_t n, fft_kind kind, bool single) {
  const double u = single ? 0x1p-24 : 0x1p-53;
  int64_t m = 1;
  while (m < 2 * n - 1) m *= 2; /* a shorter length has neither more nor larger factors in its bound */
  double units = fft_smooth(n) ? prime_bound(n) : 2 * prime_bound(m) + 3 * 8 + 30;
  /* a product, like the other kinds */
  const double shift = kind == FFT_QUARTER_COSINE || kind == FFT_QUARTER_SINE ? 4 : 0;
  return u * (units + (kind ? 8 : 0) + shift + 1);
}

/* Values in (-1, 1). */
static double noise(uint64_t i) {
  uint64_t z = i * 0x9e3779b97f4a7c15u + 0x1234567;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return (double)(int64_t)(z ^ z >> 31) * 0x1p-63;
}

static void *take(size_t bytes) {
  void *p = aligned_alloc(64, (bytes + 63) / 64 * 64);
  assert_non_null(p);
  memset(p, 0, (bytes + 63) / 64 * 64);
  return p;
}

static double get(const void *data, bool single, int64_t i) {
  return single ? (double)((const float *)data)[i] : ((const double *)data)[i];
}
static void set(void *data, bool single, int64_t i, double value) {
  if (single)
    ((float *)data)[i] = (float)value;
  else
    ((double *)data)[i] = value;
}

static fft_plan *plan_of(int64_t n, fft_kind kind, bool single, sim_isa isa) {
  fft_plan *plan;
  if (fft_plan_create(n, kind, single, isa, &plan) != SIM_OK) fail_msg("no plan of %lld", (long long)n);
  return plan;
}

/* cos and sin of a quarter turn times m / n, from a table. */
static long double *quarters;
static int64_t quarters_of;

static long double cosine(int64_t n, int64_t m) {
  if (quarters_of != n) {
    free(quarters);
    quarters = calloc((size_t)(4 * n), sizeof *quarters);
    assert_non_null(quarters);
    for (int64_t i = 0; i < 4 * n; i++) quarters[i] = cosl(pi * (long double)i / (2 * (long double)n));
    quarters_of = n;
  }
  return quarters[(m % (4 * n) + 4 * n) % (4 * n)];
}
static long double sine(int64_t n, int64_t m) { return cosine(n, m - n); }

static void direct(const void *x, bool single, int lane, int group, int64_t n, fft_kind kind, int64_t k,
                   long double *re, long double *im) {
  *re = *im = 0;
  for (int64_t j = 0; j < n; j++) {
    const long double a = get(x, single, j * 2 * group + lane), b = get(x, single, j * 2 * group + group + lane);
    if (kind == FFT_PERIODIC) {
      const long double c = cosine(n, -4 * j * k), s = sine(n, -4 * j * k);
      *re += a * c - b * s;
      *im += a * s + b * c;
    } else {
      const long double w = kind == FFT_COSINE           ? cosine(n, k * (2 * j + 1))
                            : kind == FFT_QUARTER_COSINE ? cosine(2 * n, (2 * k + 1) * (2 * j + 1))
                            : kind == FFT_QUARTER_SINE   ? sine(2 * n, (2 * k + 1) * (2 * j + 1))
                                                         : sine(n, k * (2 * j + 1));
      *re += a * w;
      *im += b * w;
    }
  }
}

static void check(int64_t n, fft_kind kind, bool single, sim_isa isa) {
  const int group = fft_group(single);
  fft_plan *plan = plan_of(n, kind, single, isa), *beside = plan_of(n, FFT_COSINE, single, isa);
  const size_t bytes = (size_t)n * 128;
  void *x = take(bytes), *y = take(bytes), *back = take(bytes), *work = take(fft_work_bytes(plan));
  for (int64_t i = 0; i < n * 2 * group; i++) set(x, single, i, noise((uint64_t)i));
  fft_forward(plan, x, 1, y, 1, work, NULL);
  const int64_t step = n > 600 ? n / 97 + 1 : 1; /* of long transforms only some wavenumbers */
  for (int lane = 0; lane < group; lane += group - 1) {
    long double error = 0, norm = 0;
    bool *seen = calloc((size_t)n + 1, 1);
    assert_non_null(seen);
    for (int64_t p = 0; p < n; p++) {
      const int64_t k = fft_order(plan)[p];
      const bool sine_series = kind == FFT_SINE || kind == FFT_SINE_ALIGNED;
      assert_true(k >= sine_series && k < n + sine_series && !seen[k]);
      if (kind > FFT_SINE) assert_true(k % n == fft_order(beside)[p]);
      seen[k] = true;
      if (p % step) continue;
      long double re, im;
      direct(x, single, lane, group, n, kind, k, &re, &im);
      const long double dr = get(y, single, p * 2 * group + lane) - re;
      const long double di = get(y, single, p * 2 * group + group + lane) - im;
      error += dr * dr + di * di;
      norm += re * re + im * im;
    }
    free(seen);
    if (!(sqrtl(error) <= bound(n, kind, single) * sqrtl(norm)))
      fail_msg("n %lld kind %d single %d isa %s lane %d: error %.3Lg > %.3g", (long long)n, (int)kind, single,
               sim_isa_name(isa), lane, sqrtl(error / norm), bound(n, kind, single));
  }
  fft_inverse(plan, y, 1, back, 1, work, NULL);
  double error = 0, norm = 0;
  for (int64_t i = 0; i < n * 2 * group; i++) {
    const double d = get(back, single, i) / (double)n - get(x, single, i);
    error += d * d;
    norm += get(x, single, i) * get(x, single, i);
  }
  assert_true(sqrt(error) <= 2 * bound(n, kind, single) * sqrt(norm)); /* forward and back */
  free(x), free(y), free(back), free(work);
  fft_plan_destroy(&plan);
  fft_plan_destroy(&beside);
}

static void test_direct_sum(void **state) {
  static const int64_t sizes[] = {1,   2,   3,   4,   5,   6,   7,   8,   9,   10,   11,   12,   13,   14,  15,  16,
                                  17,  18,  19,  22,  26,  32,  60,  64,  100, 121,  125,  127,  128,  143, 169, 200,
                                  210, 243, 250, 256, 343, 360, 384, 509, 512, 1000, 1024, 1009, 4096, 3125};
  (void)state;
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    for (fft_kind kind = FFT_PERIODIC; kind <= FFT_QUARTER_SINE; kind++)
      for (int single = 0; single < 2; single++)
        for (sim_isa isa = SIM_ISA_PLAIN; isa <= sim_isa_best(); isa++) check(sizes[i], kind, single, isa);
}

/* The same bits for every instruction set in fp64; for all strides; in place or not, in both precisions. */
static void test_same_bits(void **state) {
  static const int64_t sizes[] = {1, 2, 7, 17, 60, 121, 256, 509, 720};
  (void)state;
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    for (fft_kind kind = FFT_PERIODIC; kind <= FFT_QUARTER_SINE; kind++)
      for (int single = 0; single < 2; single++) {
        const int64_t n = sizes[i], group = fft_group(single), stride = 3;
        const size_t bytes = (size_t)n * 128;
        void *x = take(bytes), *first = take(bytes), *y = take(bytes), *wide = take(3 * bytes);
        for (int64_t p = 0; p < n * 2 * group; p++) set(x, single, p, noise((uint64_t)p));
        for (sim_isa isa = SIM_ISA_PLAIN; isa <= sim_isa_best(); isa++) {
          fft_plan *plan = plan_of(n, kind, single, isa);
          void *work = take(fft_work_bytes(plan));
          fft_forward(plan, x, 1, y, 1, work, NULL);
          if (isa == SIM_ISA_PLAIN || single) memcpy(first, y, bytes);
          assert_memory_equal(first, y, bytes);
          for (int64_t p = 0; p < n; p++) memcpy((char *)wide + p * stride * 128, (char *)x + p * 128, 128);
          fft_forward(plan, wide, stride, wide, stride, work, NULL);
          for (int64_t p = 0; p < n; p++)
            assert_memory_equal((char *)wide + p * stride * 128, (char *)y + p * 128, 128);
          memcpy(y, x, bytes);
          fft_forward(plan, y, 1, y, 1, work, NULL);
          assert_memory_equal(first, y, bytes);
          fft_inverse(plan, wide, stride, wide, stride, work, NULL);
          fft_inverse(plan, y, 1, y, 1, work, NULL);
          for (int64_t p = 0; p < n; p++)
            assert_memory_equal((char *)wide + p * stride * 128, (char *)y + p * 128, 128);
          free(work);
          fft_plan_destroy(&plan);
        }
        free(x), free(first), free(y), free(wide);
      }
}

/* Transforms rows to coefficients and back, for any number of rows. The result is twice the coefficients; the factor
 * 1/2 is exact. */
static void check_rows(int64_t n, fft_kind kind, fft_packing packing, bool single, int64_t count, sim_isa isa) {
  fft_plan *plan = plan_of(n, kind, single, isa);
  const int64_t group = fft_group(single), points = fft_row_points(n, packing, single), row = n + 3;
  void *rows = take((size_t)(count * row) * 8), *column = take((size_t)n * 128), *work = take(fft_work_bytes(plan));
  void *split = take((size_t)(count * points) * 128), *out = take((size_t)(count * row) * 8);
  for (int64_t i = 0; i < count * row; i++) set(rows, single, i, noise((uint64_t)i));
  fft_rows_load(plan, rows, row, count, column);
  fft_forward(plan, column, 1, column, 1, work, NULL);
  memset(split, 255, (size_t)(count * points) * 128);
  fft_rows_split(plan, packing, column, split, points, count);
  const bool half = packing == FFT_HALF || packing == FFT_HALF_PAIRED;
  const double scale = half ? 0.5 : 1, tolerance = 2 * bound(n, kind, single);
  const int64_t stored = packing == FFT_HALF ? n / 2 + 1 : half ? n / 2 : n;
  for (int64_t r = 0; r < count; r++) {
    double error = 0, norm = 1e-300;
    for (int64_t i = 0; i < points * 2 * group; i++) {
      const int64_t lane = i % group, im = i / group % 2, g = i / group / 2;
      const int64_t k = packing == FFT_TWO_REAL ? i : g * group + lane;
      long double re = 0, part = 0;
      if (k < stored)
        for (int64_t j = 0; j < n; j++) {
          const long double a = get(rows, single, r * row + j);
          if (kind == FFT_PERIODIC) {
            re += a * cosine(n, -4 * j * k);
            part += a * sine(n, -4 * j * k);
          } else if (kind == FFT_COSINE) {
            re += a * cosine(n, k * (2 * j + 1));
          } else {
            re += a * sine(n, (n - k) * (2 * j + 1));
          }
          if (packing == FFT_HALF_PAIRED && k == 0 && im) part += j % 2 ? -a : a; /* n/2 */
        }
      const double want = (double)(im && packing != FFT_TWO_REAL ? part : re);
      const double got = scale * get(split, single, r * points * 2 * group + i);
      assert_true(k < stored || got == 0);
      error += (got - want) * (got - want);
      norm += want * want;
      set(split, single, r * points * 2 * group + i, got);
    }
    /* a row's norm may be below that of the pair with which it shares a transform: factor 4 for rows of noise */
    assert_true(sqrt(error) <= 4 * tolerance * sqrt(norm));
  }
  fft_rows_join(plan, packing, split, points, count, column);
  fft_inverse(plan, column, 1, column, 1, work, NULL);
  fft_rows_store(plan, column, out, row, count);
  for (int64_t r = 0; r < count; r++)
    for (int64_t j = 0; j < n; j++)
      assert_true(fabs(get(out, single, r * row + j) / (double)n - get(rows, single, r * row + j)) <=
                  4 * tolerance * sqrt((double)n));
  free(rows), free(column), free(work), free(split), free(out);
  fft_plan_destroy(&plan);
}

static void test_rows(void **state) {
  static const int64_t sizes[] = {1, 2, 3, 15, 16, 17, 31, 32, 33, 64, 90, 121}, counts[] = {1, 3, 9, 16, 17, 32};
  (void)state;
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
      for (int single = 0; single < 2; single++)
        for (sim_isa isa = SIM_ISA_PLAIN; isa <= sim_isa_best(); isa++) {
          if (counts[c] > 2 * fft_group(single)) continue;
          check_rows(sizes[i], FFT_PERIODIC, FFT_HALF, single, counts[c], isa);
          if (sizes[i] % 2 == 0) check_rows(sizes[i], FFT_PERIODIC, FFT_HALF_PAIRED, single, counts[c], isa);
          check_rows(sizes[i], FFT_COSINE, FFT_REAL, single, counts[c], isa);
          check_rows(sizes[i], FFT_COSINE, FFT_TWO_REAL, single, counts[c], isa);
          check_rows(sizes[i], FFT_SINE, FFT_TWO_REAL, single, counts[c], isa);
        }
}

/* fft_filter against its three parts: the same operations on every number, so the same bits. */
static void test_filter(void **state) {
  static const int64_t sizes[] = {2, 13, 16, 60, 121, 256, 720};
  (void)state;
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    for (int single = 0; single < 2; single++)
      for (sim_isa isa = SIM_ISA_PLAIN; isa <= sim_isa_best(); isa++) {
        const int64_t n = sizes[i], group = fft_group(single), slots = n / 2 + 1;
        fft_plan *plan = plan_of(n, FFT_PERIODIC, single, isa);
        void *x = take((size_t)n * 128), *y = take((size_t)n * 128), *work = take(fft_work_bytes(plan));
        void *factors = take((size_t)(slots * group) * 8);
        int32_t *slot = calloc((size_t)n, sizeof *slot);
        assert_non_null(slot);
        for (int64_t p = 0; p < n * 2 * group; p++) set(x, single, p, noise((uint64_t)p));
        for (int64_t p = 0; p < slots * group; p++) set(factors, single, p, noise((uint64_t)(p + 77)));
        for (int64_t p = 0; p < n; p++) {
          const int64_t k = fft_order(plan)[p];
          slot[p] = (int32_t)(2 * k > n ? n - k : k);
        }
        assert_true(fft_can_filter(plan));
        fft_ahead ahead = {x, 128, 2, (int)n};
        fft_filter(plan, x, 1, y, 1, factors, slot, work, &ahead);
        fft_forward(plan, x, 1, x, 1, work, NULL);
        for (int64_t p = 0; p < n; p++)
          for (int64_t lane = 0; lane < 2 * group; lane++) {
            const double factor = get(factors, single, slot[p] * group + lane % group);
            const double value = get(x, single, p * 2 * group + lane);
            set(x, single, p * 2 * group + lane, single ? (double)((float)value * (float)factor) : value * factor);
          }
        fft_inverse(plan, x, 1, x, 1, work, NULL);
        assert_memory_equal(x, y, (size_t)n * 128);
        free(x), free(y), free(work), free(factors), free(slot);
        fft_plan_destroy(&plan);
      }
  fft_plan *plan = plan_of(17, FFT_PERIODIC, true, SIM_ISA_PLAIN);
  assert_false(fft_can_filter(plan));
  fft_plan_destroy(&plan);
}

static bool is_kept(int64_t p) { return p == 0 || noise((uint64_t)(p + 33)) > -0.3; }

/* With some coefficients alone: the inverse transform does not read the others (NaN) and gives the bits of zeros, in
 * place and not; the forward transform gives the same bits and leaves the others alone. */
static void check_kept(int64_t n, bool single, sim_isa isa) {
  const int64_t group = fft_group(single), bytes = n * 128;
  fft_plan *whole = plan_of(n, FFT_PERIODIC, single, isa), *plan = plan_of(n, FFT_PERIODIC, single, isa);
  char *x = take((size_t)bytes), *y = take((size_t)bytes), *want = take((size_t)bytes), *work = take((size_t)bytes);
  bool *keeps = calloc((size_t)n, sizeof *keeps);
  assert_non_null(keeps);
  for (int64_t p = 0; p < n; p++) keeps[p] = is_kept(p);
  if (fft_plan_keep(plan, keeps) != SIM_OK) fail();
  for (int64_t i = 0; i < n * 2 * group; i++) set(x, single, i, noise((uint64_t)i));
  for (int in_place = 0; in_place < 2; in_place++) {
    fft_forward(whole, x, 1, want, 1, work, NULL);
    memcpy(y, x, (size_t)bytes);
    if (!in_place) memset(y, 255, (size_t)bytes);
    fft_forward(plan, in_place ? y : x, 1, y, 1, work, NULL);
    for (int64_t p = 0; p < n; p++) {
      if (keeps[p]) assert_memory_equal(y + 128 * p, want + 128 * p, 128);
      for (int i = 0; i < 128 && !keeps[p] && !in_place; i++) assert_true(y[128 * p + i] == (char)255);
      if (!keeps[p]) memset(want + 128 * p, 0, 128);
      memset(y + 128 * p, keeps[p] ? 0 : 255, 128);
      if (keeps[p]) memcpy(y + 128 * p, want + 128 * p, 128);
    }
    fft_inverse(whole, want, 1, want, 1, work, NULL);
    fft_inverse(plan, y, 1, in_place ? y : x, 1, work, NULL);
    assert_memory_equal(in_place ? y : x, want, (size_t)bytes);
  }
  free(x), free(y), free(want), free(work), free(keeps);
  fft_plan_destroy(&whole);
  fft_plan_destroy(&plan);
}

/* The same of rows whose wavenumbers k < count alone are kept. */
static void check_kept_rows(int64_t n, fft_packing packing, int64_t count, bool single, sim_isa isa) {
  const int64_t group = fft_group(single), points = fft_row_points(n, packing, single), numbers = points * 2 * group;
  const int64_t rows = 2 * group - 3, kept = (count + group - 1) / group * 2 * group;
  fft_plan *whole = plan_of(n, FFT_PERIODIC, single, isa), *plan = plan_of(n, FFT_PERIODIC, single, isa);
  char *x = take((size_t)n * 128), *column = take((size_t)n * 128), *work = take((size_t)n * 128);
  char *want = take((size_t)(rows * numbers) * 8), *got = take((size_t)(rows * numbers) * 8),
       *y = take((size_t)n * 128);
  if (fft_plan_keep_half(plan, count) != SIM_OK) fail();
  for (int64_t i = 0; i < n * 2 * group; i++) set(x, single, i, i % (2 * group) < rows ? noise((uint64_t)i) : 0);
  fft_forward(whole, x, 1, column, 1, work, NULL);
  fft_rows_split(whole, packing, column, want, points, rows);
  memset(got, 255, (size_t)(rows * numbers) * 8);
  memset(column, 255, (size_t)n * 128);
  fft_forward(plan, x, 1, column, 1, work, NULL);
  fft_rows_split(plan, packing, column, got, points, rows);
  for (int64_t r = 0; r < rows; r++)
    for (int64_t i = 0; i < numbers; i++) {
      const int64_t k = i / 2 / group * group + i % group, at = r * numbers + i;
      const bool stored = k < count && 2 * k < n && !(k == 0 && i % (2 * group) >= group);
      if (stored) assert_true(get(got, single, at) == get(want, single, at));
      if (i >= kept) assert_true(isnan(get(got, single, at)));
      if (!stored) set(want, single, at, 0);
      if (!stored && i < kept && k > 0) set(got, single, at, 0);
    }
  fft_rows_join(whole, packing, want, points, rows, column);
  fft_inverse(whole, column, 1, y, 1, work, NULL);
  memset(column, 255, (size_t)n * 128);
  fft_rows_join(plan, packing, got, points, rows, column);
  fft_inverse(plan, column, 1, column, 1, work, NULL);
  for (int64_t i = 0; i < n * 2 * group; i++) assert_true(get(column, single, i) == get(y, single, i));
  free(x), free(column), free(work), free(want), free(got), free(y);
  fft_plan_destroy(&whole);
  fft_plan_destroy(&plan);
}

static void test_kept(void **state) {
  static const int64_t sizes[] = {2, 12, 16, 45, 64, 121, 256, 720};
  (void)state;
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    for (int single = 0; single < 2; single++)
      for (sim_isa isa = SIM_ISA_PLAIN; isa <= sim_isa_best(); isa++) {
        const int64_t n = sizes[i], group = fft_group(single), all = (n + 2 * group - 1) / 2 / group * group;
        check_kept(n, single, isa);
        for (int64_t count = group; count <= all; count += group) {
          check_kept_rows(n, FFT_HALF, count, single, isa);
          if (n % (2 * group) == 0) check_kept_rows(n, FFT_HALF_PAIRED, count, single, isa);
        }
      }
}

/* Strided transforms from one column to another: the bits of those without gaps, wherever the points stay
 * between the sweeps. A forward transform leaves its source, and both leave what is between the target's points. */
static void check_strides(int64_t n, fft_kind kind, bool single, sim_isa isa, int from, int to) {
  const int64_t group = fft_group(single), most = 5 * n * 128;
  fft_plan *plan = plan_of(n, kind, single, isa);
  char *x = take((size_t)n * 128), *work = take(fft_work_bytes(plan)), *scratch = take((size_t)n * 128);
  char *want = take((size_t)n * 128), *source = take((size_t)most), *target = take((size_t)most);
  for (int64_t i = 0; i < n * 2 * group; i++) set(x, single, i, noise((uint64_t)i));
  for (int inverse = 0; inverse < 2; inverse++) {
    memcpy(scratch, x, (size_t)n * 128);
    if (inverse)
      fft_inverse(plan, scratch, 1, want, 1, work, NULL);
    else
      fft_forward(plan, scratch, 1, want, 1, work, NULL);
    memset(source, 85, (size_t)most);
    memset(target, 85, (size_t)most);
    for (int64_t p = 0; p < n; p++) memcpy(source + p * from * 128, x + p * 128, 128);
    if (inverse)
      fft_inverse(plan, source, from, target, to, work, NULL);
    else
      fft_forward(plan, source, from, target, to, work, NULL);
    for (int64_t p = 0; p < n; p++) {
      assert_memory_equal(target + p * to * 128, want + p * 128, 128);
      if (!inverse) assert_memory_equal(source + p * from * 128, x + p * 128, 128);
      for (int64_t i = 128; i < to * 128; i++) assert_true(target[p * to * 128 + i] == 85);
    }
  }
  free(x), free(work), free(scratch), free(want), free(source), free(target);
  fft_plan_destroy(&plan);
}

static void test_strides(void **state) {
  static const int64_t sizes[] = {1, 7, 16, 60, 121, 256, 289};
  static const int strides[][2] = {{1, 1}, {1, 3}, {3, 1}, {3, 5}, {5, 3}, {3, 3}};
  (void)state;
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    for (size_t j = 0; j < sizeof strides / sizeof *strides; j++)
      for (int single = 0; single < 2; single++)
        for (sim_isa isa = SIM_ISA_PLAIN; isa <= sim_isa_best(); isa++)
          for (fft_kind kind = FFT_PERIODIC; kind <= FFT_QUARTER_SINE; kind++)
            check_strides(sizes[i], kind, single, isa, strides[j][0], strides[j][1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_direct_sum), cmocka_unit_test(test_same_bits),
                                     cmocka_unit_test(test_rows),       cmocka_unit_test(test_filter),
                                     cmocka_unit_test(test_kept),       cmocka_unit_test(test_strides)};
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  free(quarters);
  return failed;
}
