/* The expanding universe, without forces: growth and factors of steps, spectra, the state at the start. */
#include "kernels/nbody/cosmos/spectrum.h"
#include "kernels/nbody/start/bodies.h"

#include "engine/rng.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const double pi = 3.14159265358979323846;
static const nbody_expansion flat = {
    .given = true, .omega_m = 0.3, .omega_lambda = 0.7, .H0 = 100, .h = 0.7, .a_start = 0.02};

static void near(double got, double expected, double tolerance) {
  if (!(fabs(got - expected) <= tolerance * fabs(expected)))
    fail_msg("expected %.16g, got %.16g: error %.2g above %.2g", expected, got, fabs(got / expected - 1), tolerance);
}

/* ---- expansion ---- */

/* D = a and dlnD/dlna = 1 without curvature and cosmological constant. Closed forms for flat and for open universes: D
 * = a 2F1(1/3, 1; 11/6; -a^3 omega_lambda/omega_m); and S. Weinberg, "Gravitation and cosmology" (1972), for the open
 * one. Hypergeometric functions, and the universe with all three terms (adaptive quadrature), are from scipy 1.11; the
 * rates are differences, good to 1e-8. Gauss's rule errs only by rounding. */
static void test_growth(void **state) {
  (void)state;
  const nbody_expansion eds = {.omega_m = 1, .H0 = 3}, open = {.omega_m = 0.3, .H0 = 1},
                        closed = {.omega_m = 0.4, .omega_lambda = 0.8, .H0 = 1},
                        other = {.omega_m = 0.31, .omega_lambda = 0.69, .H0 = 1};
  for (double a = 1e-3; a < 3; a *= 2) {
    near(nbody_growth(&eds, a), a, 1e-14);
    near(nbody_growth_rate(&eds, a), 1, 1e-14);
  }
  near(nbody_growth(&flat, 1), 0.7789810167707879, 1e-13);
  near(nbody_growth(&flat, 0.5), 0.4765850677723244, 1e-13);
  near(nbody_growth(&other, 0.1), 0.0999595731234465, 1e-13);
  near(nbody_growth_rate(&flat, 1), 0.5127962509956302, 1e-7);
  near(nbody_growth_rate(&flat, 0.5), 0.8692851217408313, 1e-7);
  near(nbody_growth(&open, 1), 0.45683546140824005, 1e-13);
  near(nbody_growth(&closed, 1), 0.9905106145156956, 1e-12);
  /* S. M. Carroll, W. H. Press and E. L. Turner, ARA&A 30 (1992) 499, equation 29, is good to a few percent by its
   * authors' words */
  for (double m = 0.2; m < 1; m += 0.1) {
    const nbody_expansion e = {.omega_m = m, .omega_lambda = 1 - m, .H0 = 1};
    near(nbody_growth(&e, 1), 2.5 * m / (pow(m, 4.0 / 7) - (1 - m) + (1 + m / 2) * (1 + (1 - m) / 70)), 0.02);
  }
}

/* Einstein and de Sitter: dt/a = da a^(-1/2)/H0, dt/a^2 = da a^(-3/2)/H0. Other universes by scipy's adaptive
 * quadrature. */
static void test_factors(void **state) {
  (void)state;
  const nbody_expansion eds = {.omega_m = 1, .H0 = 3}, closed = {.omega_m = 0.4, .omega_lambda = 0.8, .H0 = 1};
  for (double ratio = 1.001; ratio < 60; ratio *= 1.3) {
    const double a = 0.02, b = a * ratio;
    near(nbody_kick_factor(&eds, a, b), 2 * (sqrt(b) - sqrt(a)) / 3, 1e-12);
    near(nbody_drift_factor(&eds, a, b), 2 * (1 / sqrt(a) - 1 / sqrt(b)) / 3, 1e-12);
  }
  near(100 * nbody_kick_factor(&flat, 0.02, 0.0204), 0.005138363508469069, 1e-13);
  near(100 * nbody_drift_factor(&flat, 0.02, 0.0204), 0.2543869003813813, 1e-13);
  near(100 * nbody_kick_factor(&flat, 0.5, 1), 0.7714270664278111, 1e-13);
  near(100 * nbody_drift_factor(&flat, 0.5, 1), 1.12045778896516, 1e-13);
  near(nbody_kick_factor(&closed, 0.02, 1), 2.6164500307125653, 1e-12);
  near(nbody_drift_factor(&closed, 0.02, 1), 19.35933255495542, 1e-12);
}

/* A universe whose curvature halts the expansion before a = 1, and a universe without a beginning. */
static void test_lasts(void **state) {
  (void)state;
  const nbody_expansion halts = {.omega_m = 3, .omega_lambda = 0}, bounces = {.omega_m = 0.1, .omega_lambda = 2};
  assert_true(nbody_expansion_lasts(&flat, 100));
  assert_true(nbody_expansion_lasts(&halts, 1.49));
  assert_false(nbody_expansion_lasts(&halts, 1.51));
  assert_false(nbody_expansion_lasts(&bounces, 1));
}

/* ---- spectrum of linear theory ---- */

/* Values from a Python program with the same formula, and from scipy's adaptive quadrature for sigma. */
static void test_power(void **state) {
  (void)state;
  near(nbody_transfer(0.3, 0.049, 0.7, 0.01), 0.7861413717063611, 1e-13);
  near(nbody_transfer(0.3, 0.049, 0.7, 0.1), 0.1319923361798621, 1e-13);
  near(nbody_transfer(0.3, 0.049, 0.7, 1), 0.00459154801280051, 1e-13);
  nbody_zeldovich z = {.n = 8, .index = NAN, .omega_b = NAN, .sigma8 = NAN};
  nbody_power power = nbody_power_of(&z, &flat);
  near(nbody_sigma(&power, 8), 0.81, 1e-12);
  near(nbody_power_at(&power, 0.1), 5761.108376275875, 1e-6);
  near(nbody_sigma(&power, 1), 2.3995293729112506, 1e-6);
  /* rows of a power law are that power law, and sigma8 scales them */
  double rows[] = {0.01, 1e4, 0.5, 1e4 * pow(50, -1.5), 20, 1e4 * pow(2000, -1.5)};
  z.power = (sim_doubles){rows, 3, 2};
  power = nbody_power_of(&z, &flat);
  near(nbody_power_at(&power, 0.3), 1e4 * pow(30, -1.5), 1e-13);
  near(nbody_power_at(&power, 7), 1e4 * pow(700, -1.5), 1e-13);
  const double before = nbody_sigma(&power, 8);
  z.sigma8 = 0.9;
  power = nbody_power_of(&z, &flat);
  near(nbody_power_at(&power, 0.3), 1e4 * pow(30, -1.5) * pow(0.9 / before, 2), 1e-12);
}

/* ---- the grid ---- */

/* A plane wave has one coefficient, and the inverse transform gives n^3 times the grid. Also for n that is no multiple
 * of the lanes. */
static void test_cube(void **state) {
  (void)state;
  static const int64_t sizes[] = {4, 15, 22, 32};
  for (int s = 0; s < 4; s++) {
    const int64_t n = sizes[s], k[] = {1, -(n - 1) / 2, n / 2 - 1};
    nbody_cube cube;
    assert_int_equal(nbody_cube_create(n, sim_isa_best(), 2, &cube), SIM_OK);
    for (int64_t i = 0; i < n * n * n; i++) {
      const double phase = 2 * pi * (double)(k[0] * (i % n) + k[1] * (i / n % n) + k[2] * (i / n / n)) / (double)n;
      double *v = nbody_cube_at(&cube, i % n, i / n % n, i / n / n);
      v[0] = cos(phase);
      v[cube.lanes] = sin(phase);
    }
    nbody_cube_forward(&cube);
    for (int64_t i = 0; i < n * n * n; i++) {
      const int64_t x = i % n, y = i / n % n, z = i / n / n;
      const bool here = cube.wave[x] == k[0] && cube.wave[y] == k[1] && cube.wave[z] == k[2];
      const double *v = nbody_cube_at(&cube, x, y, z);
      assert_true(fabs(v[0] / (double)(n * n * n) - here) < 1e-14 && fabs(v[cube.lanes]) < 1e-14 * (double)(n * n * n));
      assert_true(cube.wave[cube.position[(cube.wave[x] + n) % n]] == cube.wave[x]);
    }
    nbody_cube_inverse(&cube);
    for (int64_t i = 0; i < n * n * n; i++) {
      const double phase = 2 * pi * (double)(k[0] * (i % n) + k[1] * (i / n % n) + k[2] * (i / n / n)) / (double)n;
      assert_true(fabs(nbody_cube_at(&cube, i % n, i / n % n, i / n / n)[0] / (double)(n * n * n) - cos(phase)) <
                  1e-14);
    }
    nbody_cube_destroy(&cube);
  }
}

/* ---- the state at the start ---- */

static nbody_bodies make(const nbody_zeldovich *z, const nbody_expansion *e, double size, int threads) {
  const nbody_maker maker = {.seed = 7, .G = 43, .threads = threads, .isa = sim_isa_best()};
  const size_t n = (size_t)(z->n * z->n * z->n);
  nbody_bodies out = {.n = (int64_t)n, .mass = calloc(7 * n, sizeof(double))};
  for (size_t c = 0; c < 3; c++) {
    out.position[c] = out.mass + (1 + c) * n;
    out.velocity[c] = out.mass + (4 + c) * n;
  }
  assert_int_equal(nbody_make_zeldovich(&maker, z, e, size, &out), SIM_OK);
  return out;
}

static void measure(const nbody_bodies *b, int64_t m, double size, const nbody_power *power, int threads,
                    double values[64], double linear[NBODY_SHELLS_MAX]) {
  nbody_spectrum *s;
  assert_int_equal(nbody_spectrum_create(m, size, power, sim_isa_best(), threads, &s), SIM_OK);
  nbody_spectrum_measure(s, SIM_F64, b->n, b->mass, b->position[0], values);
  if (power != NULL) memcpy(linear, nbody_spectrum_linear(s), (size_t)nbody_spectrum_shells(s) * sizeof *linear);
  nbody_spectrum_destroy(&s);
}

/* Mass, momenta a^2 H f D psi, and the spectrum of fixed amplitudes. Each shell is the mean of exactly P, at a time so
 * early that the second order of the displacements is below 1e-3. Images of the lattice, of wave number K: a
 * displacement psi along k gives each k + n K the amplitude (k + n K) psi. Clouds in cells reduce it by (k_c / (k_c +
 * n_c K))^2 along each axis. The two grids cancel odd sums of n, and the quarter of a cell changes the sign of n = 2,
 * 6, ... along one axis. The sum over n of -2 (-1)^(n/2) / n^2 is pi^2/24 for k_c^3 psi_c / K^2, and the same with the
 * other sign for the other components of psi. The mean over directions is (3/5 - 2/5) pi^2/24 = pi^2/120 (k/K)^2, twice
 * that in the power. The next order is (k/K)^4, below 1/256. */
static void test_start(void **state) {
  (void)state;
  const nbody_zeldovich z = {.n = 32, .index = NAN, .omega_b = NAN, .sigma8 = NAN, .amplitudes = NBODY_FIXED};
  nbody_expansion e = flat;
  e.a_start = 1e-4;
  const double size = 200, a = e.a_start, growth = nbody_growth(&e, a) / nbody_growth(&e, 1);
  nbody_bodies b = make(&z, &e, size, 2);
  near(b.mass[5] * (double)b.n, 3 * 0.3 * 1e4 / (8 * pi * 43) * pow(size, 3), 1e-12);
  const double factor = a * a * nbody_hubble(&e, a) * nbody_growth_rate(&e, a), cell = size / 32;
  for (int64_t i = 0; i < b.n; i++) {
    const double psi = b.position[0][i] - cell * ((double)(i % 32) + 0.5);
    assert_true(fabs(b.velocity[0][i] - factor * psi) < 1e-12 * factor * cell);
    assert_true(fabs(psi) < 2e-2 * cell);
  }
  double values[64], linear[NBODY_SHELLS_MAX];
  const nbody_power power = nbody_power_of(&z, &e);
  measure(&b, 32, size, &power, 2, values, linear);
  nbody_shell shells[NBODY_SHELLS_MAX];
  const int count = nbody_shells(32, shells);
  near(values[0], pow(size / 32, 3), 1e-12);
  for (int i = 0; i < count && shells[i].high <= 8.5; i++) {
    const double square = pow(shells[i].low + 0.5, 2) / (32 * 32);
    near(values[1 + i], growth * growth * linear[i] * (1 + pi * pi / 60 * square), 1e-3 + square * square);
  }
  free(b.mass);
}

/* With random amplitudes a shell of M modes, M/2 of them independent, scatters by (2/M)^(1/2). The bounds are 4 of
 * these for each shell, and chi^2 of all modes together. */
static void test_random_start(void **state) {
  (void)state;
  const nbody_zeldovich z = {.n = 32, .index = NAN, .omega_b = NAN, .sigma8 = NAN};
  nbody_expansion e = flat;
  e.a_start = 1e-4;
  nbody_bodies b = make(&z, &e, 200, 2);
  double values[64], linear[NBODY_SHELLS_MAX], chi2 = 0;
  const nbody_power power = nbody_power_of(&z, &e);
  measure(&b, 32, 200, &power, 1, values, linear);
  nbody_shell shells[NBODY_SHELLS_MAX];
  const int count = nbody_shells(32, shells);
  const double growth = nbody_growth(&e, 1e-4) / nbody_growth(&e, 1);
  int used = 0;
  for (int i = 0; i < count && shells[i].high <= 8.5; i++, used++) {
    int modes = 0;
    for (int k = 0; k < 31 * 31 * 31; k++) {
      const double x = k % 31 - 15, y = k / 31 % 31 - 15, w = k / 961 - 15, length = sqrt(x * x + y * y + w * w);
      modes += length >= shells[i].low && length < shells[i].high;
    }
    const double off = (values[1 + i] / (growth * growth * linear[i]) - 1) / sqrt(2.0 / modes);
    assert_true(fabs(off) < 4);
    chi2 += off * off;
  }
  assert_true(chi2 > 0.1 * used && chi2 < 3 * used);
  free(b.mass);
}

/* The same seed gives the same waves for any number of bodies. Smooth fields, cut at the waves that both lattices have,
 * agree at the points that both lattices have. This spectrum has no power beyond the small lattice. */
static void test_same_waves(void **state) {
  (void)state;
  double rows[] = {0.01, 1e3, 0.1, 1e3, 0.1001, 1e-30, 100, 1e-30}; /* ends at 3.2 times 2 pi/200 */
  nbody_zeldovich z = {.n = 9, .power = {rows, 4, 2}, .index = NAN, .omega_b = NAN, .sigma8 = NAN};
  nbody_bodies few = make(&z, &flat, 200, 1);
  z.n = 27; /* the centre of each of 9 cells is the centre of the middle one of 3 cells */
  nbody_bodies many = make(&z, &flat, 200, 2);
  double largest = 0;
  for (int64_t i = 0; i < few.n; i++) {
    const int64_t x = i % 9, y = i / 9 % 9, w = i / 81, j = ((3 * w + 1) * 27 + 3 * y + 1) * 27 + 3 * x + 1;
    for (int c = 0; c < 3; c++) {
      assert_true(fabs(few.position[c][i] - many.position[c][j]) < 1e-11);
      largest = fmax(largest, fabs(few.velocity[c][i]));
    }
  }
  assert_true(largest > 0);
  free(few.mass);
  free(many.mass);
}

static void test_threads(void **state) {
  (void)state;
  const nbody_zeldovich z = {.n = 12, .index = NAN, .omega_b = NAN, .sigma8 = NAN};
  nbody_bodies one = make(&z, &flat, 50, 1), seven = make(&z, &flat, 50, 7);
  assert_memory_equal(one.mass, seven.mass, 7 * 1728 * sizeof(double));
  double a[64] = {0}, b[64] = {0};
  measure(&one, 16, 50, NULL, 1, a, NULL);
  measure(&one, 16, 50, NULL, 7, b, NULL);
  assert_memory_equal(a, b, sizeof a);
  one.position[1][3] = NAN;
  measure(&one, 16, 50, NULL, 1, a, NULL);
  assert_true(isnan(a[1]));
  free(one.mass);
  free(seven.mass);
}

/* Bodies at random: the power is the shot noise, with the scatter of M/2 modes. Aliases of the assignment double it
 * only at the grid's last wave numbers. Half of the bodies have three times the mass. */
static void test_shot_noise(void **state) {
  (void)state;
  enum { N = 40000 };
  double *data = calloc(7 * N, sizeof *data), values[64];
  nbody_bodies b = {.n = N, .mass = data, .position = {data + N, data + 2 * N, data + 3 * N}};
  for (int64_t i = 0; i < N; i++) {
    double u[2][2];
    for (uint32_t d = 0; d < 2; d++) sim_rng_uniform(5, (uint64_t)i, 0, d, u[d]);
    b.mass[i] = i % 2 ? 3 : 1;
    for (int c = 0; c < 3; c++) b.position[c][i] = 10 * u[c / 2][c % 2];
  }
  measure(&b, 32, 10, NULL, 2, values, NULL);
  near(values[0], 1000 * (10.0 / 16) * 2 / N, 1e-12); /* V sum m^2/(sum m)^2 = V (10/2)/(4/2)^2/N */
  nbody_shell shells[NBODY_SHELLS_MAX];
  const int count = nbody_shells(32, shells);
  for (int i = 2; i < count && shells[i].high <= 10.5; i++) {
    const double modes = 4 * pi / 3 * (pow(shells[i].high, 3) - pow(shells[i].low, 3));
    near(values[1 + i], values[0], 5 * sqrt(2 / modes) + 0.05);
  }
  free(data);
}

static void test_shells(void **state) {
  (void)state;
  nbody_shell shells[NBODY_SHELLS_MAX];
  for (int64_t m = NBODY_SPECTRUM_GRID_MIN; m <= NBODY_SPECTRUM_GRID_MAX; m += 2) {
    const int count = nbody_shells(m, shells);
    assert_true(count > 0 && shells[0].low == 0.5 && shells[count - 1].high == 0.5 * (double)m - 0.5);
    for (int i = 1; i < count; i++)
      assert_true(shells[i].low == shells[i - 1].high && shells[i].number > shells[i - 1].number);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_growth),       cmocka_unit_test(test_factors),    cmocka_unit_test(test_lasts),
      cmocka_unit_test(test_power),        cmocka_unit_test(test_cube),       cmocka_unit_test(test_start),
      cmocka_unit_test(test_random_start), cmocka_unit_test(test_same_waves), cmocka_unit_test(test_threads),
      cmocka_unit_test(test_shot_noise),   cmocka_unit_test(test_shells),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
