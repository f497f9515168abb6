/* Runs in an expanding universe: a plane wave, growth, energy, restarts. `long`: a plane wave in more universes. */
#include "kernels/nbody/cosmos/power.h"
#include "tests/nbody/driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const double pi = 3.14159265358979323846;
static bool all;

static driver make(driver_place place, nbody_expansion e, double size, double dt, double a_end) {
  driver d = driver_make(place, NBODY_LEAPFROG, dt, a_end, 0);
  e.given = true;
  d.parameters.expansion = e;
  d.parameters.box = (nbody_box){.given = true, .size = size};
  d.parameters.gravity.solver = NBODY_DIRECT;
  return d;
}

/* A plane wave grows by linear theory exactly until sheets cross, x = q + D psi(q), p = a^2 H dlnD/dlna D psi, also for
 * a few sheets of infinite extent, whose force depends on their order alone (Ya. B. Zel'dovich, A&A 5 (1970) 84).
 *
 * Sheets here are square lattices of spacing L/16, L/8 apart at first and L/16 where they are closest at the end.
 * Another sheet at distance s then attracts by 2 pi G sigma (1 + 4 exp(-g s)), g = 32 pi/L: at the end by 4 exp(-2 pi)
 * = 0.0075 more. A sheet that has moved by u = L/32 feels 4 pi G sigma u/(L/8) = pi G sigma, so that its force is wrong
 * by 0.015, for the last D/(g s) of its growth, 0.16: momenta by 0.015 * 0.16 * 3/2 = 0.0036 and displacements by half
 * of 0.16 of that, 3e-4. Steps of da/a = 0.04 err by (da/a)^2/12 in each of 3.2 e-folds, 4e-4. All times 2, of the
 * largest. */
static void check_pancake(driver_place place) {
  enum { SHEETS = 8, SIDE = 16, N = SHEETS * SIDE * SIDE };
  static const nbody_expansion universes[] = {{.omega_m = 0.3, .omega_lambda = 0.7, .H0 = 1, .a_start = 0.04},
                                              {.omega_m = 1, .H0 = 1, .a_start = 0.04}};
  for (int u = 0; u < (all ? 2 : 1); u++) {
    const nbody_expansion *e = &universes[u];
    const double L = 10, end = 1, first = nbody_growth(e, e->a_start), last = nbody_growth(e, end);
    /* neighbours on both sides of q = 0 move together by L/16: 2 (L/k) sin(pi/8) amplitude = L/16 */
    const double amplitude = L / 32 / sin(pi / SHEETS), spacing = L / SHEETS;
    const double rate = e->a_start * e->a_start * nbody_hubble(e, e->a_start) * nbody_growth_rate(e, e->a_start);
    double *mass = calloc(7 * N, sizeof *mass), *position = mass + N, *velocity = position + 3 * N;
    for (int i = 0; i < N; i++) {
      const double q = (i % SHEETS + 0.5) * spacing, psi = -amplitude * sin(2 * pi * q / L) * first / last;
      mass[i] = nbody_mean_density(e, 1) * L * L * L / N;
      position[3 * i] = q + psi;
      position[3 * i + 1] = (i / SHEETS % SIDE + 0.5) * L / SIDE;
      position[3 * i + 2] = ((double)(i / SHEETS / SIDE) + 0.5) * L / SIDE;
      velocity[3 * i] = rate * psi;
    }
    nbody_each each = {.mass = {mass, N, 1}, .position = {position, N, 3}, .velocity = {velocity, N, 3}};
    driver d = make(place, *e, L, 0.04, end);
    driver_add(&d, &nbody_each_schema, &each);
    driver_create(&d);
    driver_run(&d);
    const double momentum = nbody_hubble(e, end) * nbody_growth_rate(e, end);
    double x_error = 0, p_error = 0;
    for (int i = 0; i < N; i++) {
      const double q = (i % SHEETS + 0.5) * spacing, psi = -amplitude * sin(2 * pi * q / L);
      x_error = fmax(x_error, fabs(driver_get(&d, "position", 0, i) - q - psi) / amplitude);
      p_error = fmax(p_error, fabs(driver_get(&d, "velocity", 0, i) / momentum - psi) / amplitude);
    }
    print_message("    plane wave: displacements %.2g, momenta %.2g, energy %.2g\n", x_error, p_error,
                  driver_value(&d, "energy", "error"));
    assert_true(x_error < 2 * (3e-4 + 4e-4));
    assert_true(p_error < 2 * (3.6e-3 + 4e-4));
    driver_destroy(&d);
    free(mass);
  }
}

static void test_pancake(void **state) {
  (void)state;
  driver_everywhere_in(SIM_DOUBLE, check_pancake);
}

/* Returns the growth of a displacement from a_start by `ratio` in a universe of matter alone, over that of linear
 * theory, with the velocity of linear theory at first. `attraction`: of a wave on the lattice, in units of the
 * attraction in a smooth medium. With u ~ a^s, s^2 + s/2 = 3/2 attraction (M. Joyce and B. Marcos, PRD 75 (2007)
 * 063516). */
static double lattice_growth(double attraction, double ratio) {
  const double root = sqrt(1 + 24 * attraction), grows = (root - 1) / 4, decays = (-root - 1) / 4;
  const double share = (1 - decays) / (grows - decays);
  return (share * pow(ratio, grows) + (1 - share) * pow(ratio, decays)) / ratio;
}

/* The waves of the first shell, 6 of |k| = 1 and 12 of |k| = 2^(1/2), grow by a factor of 10 as linear theory says for
 * bodies on a lattice of 8 to the box. Its attraction is 1.015354 and 0.946330 times that of a smooth medium (Ewald
 * sums of the lattice's dynamical matrix, by a Python program; its trace is 1 to 1e-15). The cosmological constant
 * makes omega_m(0.2) = 0.98, which changes the 7 % between both theories by a fiftieth. Waves of the second order have
 * relative power sigma^2, 0.003 at this spacing of 125 Mpc/h and D = 0.25: 0.005 in all, times 2. The Layzer-Irvine
 * constant has the second order of the leapfrog. */
static void check_growth(driver_place place) {
  enum { SIDE = 8 };
  const nbody_expansion e = {.omega_m = 0.3, .omega_lambda = 0.7, .H0 = 100, .h = 0.7, .a_start = 0.02};
  double errors[2];
  for (int k = 0; k < 2; k++) {
    nbody_zeldovich z = {
        .n = SIDE, .index = NAN, .omega_b = NAN, .sigma8 = NAN, .amplitudes = NBODY_FIXED, .group.species = "matter"};
    driver d = make(place, e, 1000, k == 0 ? 0.04 : 0.02, 0.2);
    d.parameters.gravity.G = NAN;
    d.parameters.spectrum = SIDE;
    driver_add(&d, &nbody_zeldovich_schema, &z);
    driver_create(&d);
    const nbody_power power = nbody_power_of(&z, &e);
    const double before = driver_value(&d, "spectrum", "P_1"), theory = driver_value(&d, "spectrum", "linear_1");
    const double growth = pow(nbody_growth(&e, 0.2) / nbody_growth(&e, 0.02), 2), unit = 2 * pi / 1000;
    const double axis = 6 * nbody_power_at(&power, unit), edge = 12 * nbody_power_at(&power, sqrt(2) * unit);
    const double expected =
        (axis * pow(lattice_growth(1.015354, 10), 2) + edge * pow(lattice_growth(0.946330, 10), 2)) / (axis + edge);
    assert_true(fabs(theory * 18 / (axis + edge) / pow(nbody_growth(&e, 0.02) / nbody_growth(&e, 1), 2) - 1) < 1e-12);
    driver_run(&d);
    assert_true(fabs(driver_value(&d, "spectrum", "linear_1") / theory / growth - 1) < 1e-12);
    const double got = driver_value(&d, "spectrum", "P_1") / before / growth;
    print_message("    growth of the power over that of a smooth medium: %.4g, expected %.4g\n", got, expected);
    assert_true(fabs(got / expected - 1) < 0.01);
    errors[k] = fabs(driver_value(&d, "energy", "error"));
    driver_destroy(&d);
  }
  print_message("    Layzer-Irvine: %.3g, with half the step %.3g\n", errors[0], errors[1]);
  assert_true(errors[1] < 0.02 * 0.02);
  assert_true(errors[0] > 3 * errors[1]);
}

static void test_growth(void **state) {
  (void)state;
  driver_everywhere_in(SIM_DOUBLE, check_growth);
}

/* Any number of threads, and a restart in the middle, give the same bits; steps are a tenth of a. */
static void check_restart(driver_place place) {
  static const int threads[] = {1, 2, 7, 2};
  nbody_zeldovich z = {.n = 6, .index = NAN, .omega_b = NAN, .sigma8 = NAN, .group.species = "matter"};
  const nbody_expansion e = {.omega_m = 0.3, .omega_lambda = 0.7, .H0 = 100, .h = 0.7, .a_start = 0.1};
  char digest[4][33];
  for (int k = 0; k < 4; k++) {
    driver d = make(place, e, 50, 0.1, 0.3);
    d.parameters.gravity = (nbody_gravity){.G = NAN, .softening = 1, .solver = NBODY_DIRECT};
    d.setup.threads = threads[k];
    driver_add(&d, &nbody_zeldovich_schema, &z);
    driver_create(&d);
    assert_true(d.clock.t == 0.1);
    if (k == 3) {
      driver_frame kept;
      driver_until(&d, 0.15);
      driver_keep(&d, &kept);
      driver_destroy(&d);
      driver_restore(&d, &kept.frame);
      driver_frame_free(&kept);
    }
    driver_run(&d);
    assert_true(d.clock.t == 0.3 && d.clock.step == 12); /* ln(3)/ln(1.1) = 11.5 */
    driver_digest(&d, digest[k]);
    driver_destroy(&d);
  }
  for (int k = 1; k < 4; k++) assert_string_equal(digest[k], digest[0]);
}

static void test_restart(void **state) {
  (void)state;
  driver_everywhere(check_restart);
}

int main(int count, char **words) {
  all = count > 1 && strcmp(words[1], "long") == 0;
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_pancake), cmocka_unit_test(test_growth),
                                     cmocka_unit_test(test_restart)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
