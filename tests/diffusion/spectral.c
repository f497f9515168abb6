/* The passes on plane waves, of which each is an eigenfunction: with wavenumbers 0 and n/2 along x, which go through
 * the transform along y together where n is a multiple of 2 G, and beside it; any number of threads gives the same
 * bits.
 *
 * Bound: a pass there and back over 3 axes errs relative to the norm by some 2 log2(cells) u; times 8 for the largest
 * of all cells, and times |k| <= 8 for derivatives. */
#include "kernels/diffusion/cpu/spectral/inverse.h"
#include "kernels/diffusion/cpu/spectral/spectral.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { WAVES = 5 };
static const double two_pi = 6.283185307179586476925;

typedef struct wave {
  int64_t k[3];
  double amplitude, phase;
} wave;

typedef struct fixture {
  grid_shape grid;
  bool single, complex;
  wave waves[WAVES];
  int64_t cells;
} fixture;

static void *take(double numbers, bool single) {
  const size_t bytes = ((size_t)numbers * (single ? 4 : 8) + 63) / 64 * 64;
  void *p = aligned_alloc(64, bytes);
  assert_non_null(p);
  memset(p, 255, bytes); /* NaN: shows what is read before it is written */
  return p;
}

/* Damping, and with complex tables a shift by 0.3 along y and 0.2 along z. */
static double damping(const double k[3]) { return exp(-0.02 * (k[0] * k[0] + 2 * k[1] * k[1] + 3 * k[2] * k[2])); }
static double shift(const double k[3]) { return 0.3 * k[1] + 0.2 * k[2]; }

static void fill(void *context, const double k[3], const int64_t mode[3], double (*values)[2]) {
  const fixture *f = context;
  (void)mode;
  const double turn = f->complex ? shift(k) : 0;
  values[0][0] = diffusion_scale(&f->grid) * damping(k) * cos(turn);
  values[0][1] = diffusion_scale(&f->grid) * damping(k) * sin(turn);
}

/* Returns the waves at a cell, damped and shifted where `after`, differentiated along an axis where one is given. */
static double sum(const fixture *f, int64_t cell, bool after, int axis) {
  const int64_t *n = f->grid.n, at[3] = {cell % n[0], cell / n[0] % n[1], cell / n[0] / n[1]};
  double all = 0;
  for (int w = 0; w < WAVES; w++) {
    const wave *v = &f->waves[w];
    const double k[3] = {(double)v->k[0], (double)v->k[1], (double)v->k[2]};
    double angle = v->phase;
    for (int a = 0; a < 3; a++) angle += two_pi * (double)(v->k[a] * at[a] % n[a]) / (double)n[a];
    if (after && f->complex) angle += shift(k);
    const double factor = v->amplitude * (after ? damping(k) : 1);
    if (axis < 0)
      all += factor * cos(angle);
    else if (2 * v->k[axis] != n[axis])
      all -= factor * k[axis] * sin(angle);
  }
  return all;
}

static void check(const fixture *f, const void *real_field, int axis, double bound) {
  for (int64_t i = 0; i < f->cells; i++) {
    const double got = f->single ? (double)((const float *)real_field)[i] : ((const double *)real_field)[i];
    if (!(fabs(got - sum(f, i, true, axis)) <= bound))
      fail_msg("n %lld single %d complex %d axis %d cell %lld: %.9g, not %.9g", (long long)f->grid.n[0], (int)f->single,
               (int)f->complex, axis, (long long)i, got, sum(f, i, true, axis));
  }
}

static void step(fixture *f, sim_isa isa, int threads, void *out) {
  const diffusion_gradients along = {3, {{0, 0}, {0, 1}, {0, 2}}};
  const double numbers = diffusion_field_numbers(&f->grid, f->single), u = f->single ? 0x1p-24 : 0x1p-53;
  const double bound = 8 * 2 * log2((double)f->cells) * u;
  diffusion_spectral *s;
  diffusion_arrays arrays = {.complex = f->complex};
  if (diffusion_spectral_create(&f->grid, &sim_comm_alone, 1, &along, NULL, f->single, isa, threads, &s) != SIM_OK)
    fail();
  for (int a = 0; a < 2; a++) arrays.array[0][a] = take(numbers, f->single);
  for (int a = 0; a < 3; a++) arrays.gradient[a] = take(numbers, f->single);
  const diffusion_slab all = diffusion_own_slab(&f->grid, f->single, &sim_comm_alone);
  arrays.table[0][0] = take(diffusion_table_numbers(&f->grid, f->single, f->complex, &all), f->single);
  diffusion_tables(s, 0, 1, arrays.table[0], f->complex, fill, f);
  for (int64_t i = 0; i < f->cells; i++) {
    if (f->single)
      ((float *)out)[i] = (float)sum(f, i, false, -1);
    else
      ((double *)out)[i] = sum(f, i, false, -1);
  }
  /* array 1 has the coefficients */
  const diffusion_stage stage = {1, 1, 2, {{1, 1, {{1, 0, 0}}}, {0, 1, {{1, -1, 1}}}}};
  diffusion_planes_load(s, (const void *const[]){out}, arrays.array[0]);
  diffusion_columns(s, &stage, &arrays);
  for (int a = 0; a < 3; a++) {
    diffusion_planes_store(s, (const void *const[]){arrays.gradient[a]}, NULL, (void *const[]){out}, NULL, NULL);
    check(f, out, a, 8 * bound);
  }
  diffusion_planes_store(s, (const void *const[]){arrays.array[0][0]}, NULL, (void *const[]){out}, NULL, NULL);
  check(f, out, -1, bound);

  /* Parseval, and each wave in its bin of |k| */
  double power[10], want[10] = {0}, squares = 0, total = 0;
  diffusion_power(s, 0, arrays.array[0][1], NULL, 10, power);
  for (int64_t i = 0; i < f->cells; i++) squares += pow(sum(f, i, true, -1), 2) / (double)f->cells;
  for (int w = 0; w < WAVES; w++) {
    const double k[3] = {(double)f->waves[w].k[0], (double)f->waves[w].k[1], (double)f->waves[w].k[2]};
    const int bin = (int)(sqrt(k[0] * k[0] + k[1] * k[1] + k[2] * k[2]) + 0.5);
    const bool alone = k[1] == 0 && k[2] == 0 && (k[0] == 0 || 2 * f->waves[w].k[0] == f->grid.n[0]);
    want[bin < 9 ? bin : 9] +=
        pow(f->waves[w].amplitude * damping(k), 2) * (alone ? pow(cos(f->waves[w].phase), 2) : 0.5);
  }
  for (int b = 0; b < 10; b++) {
    assert_true(fabs(power[b] - want[b]) <= 16 * bound);
    total += power[b];
  }
  assert_true(fabs(total - squares) <= 16 * bound);
  diffusion_norm *norm;
  if (diffusion_norm_create(s, &norm) != SIM_OK) fail();
  double root;
  if (diffusion_norm_of(norm, 0, arrays.array[0][1], &root) != SIM_OK) fail();
  assert_true(fabs(pow(root, 2) - squares) <= 16 * bound);
  diffusion_norm_destroy(&norm);

  /* the same without sums between */
  const diffusion_stage scale = {1, 1, 1, {{0, 1, {{1, 0, 0}}}}};
  const diffusion_gradients none = {0};
  diffusion_spectral_destroy(&s);
  if (diffusion_spectral_create(&f->grid, &sim_comm_alone, 1, &none, NULL, f->single, isa, threads, &s) != SIM_OK)
    fail();
  for (int64_t i = 0; i < f->cells; i++) {
    if (f->single)
      ((float *)out)[i] = (float)sum(f, i, false, -1);
    else
      ((double *)out)[i] = sum(f, i, false, -1);
  }
  diffusion_planes_load(s, (const void *const[]){out}, arrays.array[0]);
  diffusion_columns(s, &scale, &arrays);
  diffusion_planes(s, arrays.array[0], NULL, NULL);
  const diffusion_stage back = {1, 1, 1, {{0, 1, {{diffusion_scale(&f->grid), -1, 0}}}}};
  diffusion_columns(s, &back, &arrays);
  diffusion_planes_store(s, (const void *const[]){arrays.array[0][0]}, NULL, (void *const[]){out}, NULL, NULL);
  check(f, out, -1, 2 * bound);
  for (int a = 0; a < 2; a++) free(arrays.array[0][a]);
  for (int a = 0; a < 3; a++) free(arrays.gradient[a]);
  free(arrays.table[0][0]);
  diffusion_spectral_destroy(&s);
}

static void test_waves(void **state) {
  static const int64_t sizes[][3] = {{32, 12, 9}, {64, 17, 8}, {16, 33, 7}, {30, 12, 9}, {17, 8, 8}};
  (void)state;
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    for (int kind = 0; kind < 4; kind++)
      for (sim_isa isa = SIM_ISA_PLAIN; isa <= sim_isa_best(); isa++) {
        const int64_t *n = sizes[i];
        fixture f = {
            .grid = {3, {n[0], n[1], n[2]}, {two_pi, two_pi, two_pi}, {GRID_PERIODIC, GRID_PERIODIC, GRID_PERIODIC}},
            .single = kind % 2,
            .complex = kind / 2,
            .waves = {{{0, 2, 3}, 0.5, 0.1},
                      {{n[0] / 2, 3, -2}, 0.4, 0.7},
                      {{0, 0, 0}, 0.3, 0.2},
                      {{n[0] / 2, 0, 0}, 0.2, 0.4},
                      {{3, -3, 2}, 0.3, 1.1}},
            .cells = n[0] * n[1] * n[2]};
        if (n[0] % 2) f.waves[3].phase = 0, f.waves[3].amplitude = 0;
        void *one = take((double)f.cells, f.single), *three = take((double)f.cells, f.single);
        step(&f, isa, 1, one);
        step(&f, isa, 3, three);
        assert_memory_equal(one, three, (size_t)f.cells * (f.single ? 4 : 8));
        free(one), free(three);
      }
}

/* The inverse of matrices whose largest pivots are in other blocks of rows, by any number of threads, and a matrix
 * without an inverse. The matrices are 2 in one place of each row and column, and below 1/n elsewhere: their condition
 * number is below 3, and sums of n products err by less than n u. */
static void test_inverse(void **state) {
  static const int64_t sizes[] = {1, 2, 31, 32, 33, 65, 300};
  (void)state;
  for (size_t c = 0; c < sizeof sizes / sizeof *sizes; c++) {
    const int64_t n = sizes[c], bytes = n * n * (int64_t)sizeof(double);
    double *a = malloc((size_t)bytes), *copy = malloc((size_t)bytes), *out = malloc((size_t)bytes),
           *again = malloc((size_t)bytes), worst = 0;
    assert_true(a && copy && out && again);
    for (int64_t i = 0; i < n; i++)
      for (int64_t j = 0; j < n; j++)
        a[i * n + j] = j == (i + n / 2) % n ? 2 : sin((double)(7 * i + 3 * j + i * j % 11)) / (double)n;
    memcpy(copy, a, (size_t)bytes);
    assert_int_equal(diffusion_inverse(n, copy, out, 1), SIM_OK);
    memcpy(copy, a, (size_t)bytes);
    assert_int_equal(diffusion_inverse(n, copy, again, 3), SIM_OK);
    assert_memory_equal(out, again, (size_t)bytes);
    for (int64_t i = 0; i < n; i++)
      for (int64_t j = 0; j < n; j++) {
        double sum = i == j ? -1 : 0;
        for (int64_t k = 0; k < n; k++) sum += out[i * n + k] * a[k * n + j];
        worst = fmax(worst, fabs(sum));
      }
    if (!(worst < 10 * (double)n * 0x1p-53)) fail_msg("%lld rows: %.3g", (long long)n, worst);
    memset(copy, 0, (size_t)bytes);
    assert_int_equal(diffusion_inverse(n, copy, out, 1), SIM_ERR_INTERNAL);
    free(a), free(copy), free(out), free(again);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_waves), cmocka_unit_test(test_inverse)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
