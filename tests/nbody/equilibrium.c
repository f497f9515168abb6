/* Many bodies: systems in equilibrium remain so, a cold sphere collapses in the known time, momentum is conserved. The
 * argument "long" takes the numbers of bodies of the published figures. */
#include "tests/nbody/driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const double pi = 3.14159265358979323846;
static bool long_form;

static const char *const radius_columns[NBODY_RADII] = {"r10", "r25", "r50", "r75", "r90"};

/* ---- Plummer ---- */

/* Returns the standard deviation of ln r by sampling: d ln r / d ln f of r = a (f^(-2/3) - 1)^(-1/2), times the
 * sampling error sqrt((1 - f)/(f N)) of f. */
static double plummer_noise(double f, double n) {
  const double p = pow(f, -2.0 / 3);
  return p / (3 * (p - 1)) * sqrt((1 - f) / (f * n));
}

static void plummer_holds(driver_place place, int64_t n, double dt, double crossings) {
  const double a = 3 * pi / 16; /* gives E = -1/4 */
  driver d = driver_make(place, NBODY_LEAPFROG, dt, crossings * 2 * sqrt(2.0), 0.02);
  nbody_sphere sphere = {.n = n, .mass = 1, .radius = a, .cutoff = NAN};
  driver_add(&d, &nbody_plummer_schema, &sphere);
  driver_create(&d);
  const double every = d.clock.t_end / 10;
  for (int k = 0; k <= 10; k++) {
    while (d.clock.t < k * every * (1 - 1e-9)) driver_step(&d);
    /* K and W of a sample scatter by about 1/sqrt(N) each */
    assert_true(fabs(driver_value(&d, "energy", "virial_ratio") - 1) < 3 / sqrt((double)n));
    for (int r = 0; r < NBODY_RADII; r += 2) {
      const double f = nbody_radius_fractions[r], known = a / sqrt(pow(f, -2.0 / 3) - 1);
      /* Three standard deviations of sampling, and 0.5 % for softening (eps^2/a^2 = 0.1 %) and relaxation. */
      const double bound = fmax(0.03, 3 * plummer_noise(f, (double)n) + 0.005);
      const double error = driver_value(&d, "lagrangian", radius_columns[r]) / known - 1;
      if (!(fabs(error) < bound)) fail_msg("%s is off by %g at t = %g", radius_columns[r], error, d.clock.t);
    }
  }
  /* Leapfrog's error is about (w dt)^2/24 of the energy that encounters at distance eps exchange, w^2 = 2 m/eps^3: no
   * drift. */
  assert_true(fabs(driver_value(&d, "energy", "error")) < 1e-3);
  driver_destroy(&d);
}

static void plummer(driver_place place) {
  if (long_form)
    plummer_holds(place, 32768, 1.0 / 32, 10);
  else
    plummer_holds(place, 4096, 1.0 / 32, 2);
}

static void test_plummer(void **state) {
  (void)state;
  if (long_form)
    driver_everywhere_in(SIM_SINGLE, plummer);
  else
    driver_everywhere(plummer);
}

/* ---- Hernquist ---- */

static void hernquist(driver_place place) {
  const int64_t n = long_form ? 32768 : 4096;
  driver d = driver_make(place, NBODY_LEAPFROG, 1.0 / 16, 20, 0.03);
  nbody_sphere sphere = {.n = n, .mass = 1, .radius = 1, .cutoff = NAN};
  driver_add(&d, &nbody_hernquist_schema, &sphere);
  driver_create(&d);
  /* Radii of the density times (1 - r^2/30^2)^2, and d ln r/d ln f, by quadrature. The bound is three sampling errors,
   * d ln r/d ln f times sqrt((1 - f)/(f N)). r10 is left out: the centre of mass is away from the cusp by r90/sqrt(N).
   */
  static const double known[NBODY_RADII] = {0.41416, 0.86277, 1.90357, 4.13266, 7.86155};
  static const double slope[NBODY_RADII] = {0.707, 0.932, 1.460, 2.646, 5.015};
  for (int later = 0; later < 2; later++) {
    for (int r = 1; r < NBODY_RADII; r++) {
      const double f = nbody_radius_fractions[r], now = driver_value(&d, "lagrangian", radius_columns[r]);
      const double bound = 3 * slope[r] * sqrt((1 - f) / (f * (double)n));
      if (!(fabs(now / known[r] - 1) < bound))
        fail_msg("%s is %g, not %g, at t = %g", radius_columns[r], now, known[r], d.clock.t);
    }
    /* 1 without softening; eps = 0.03 reduces W by the share eps^2/r^2 within the cusp: 0.5 %. */
    assert_true(fabs(driver_value(&d, "energy", "virial_ratio") - 1) < 3 / sqrt((double)n) + 0.005);
    driver_run(&d);
  }
  driver_destroy(&d);
}

static void test_hernquist(void **state) {
  (void)state;
  driver_everywhere_in(SIM_SINGLE, hernquist);
}

/* ---- disk and halo ---- */

static int compare(const void *left, const void *right) {
  const double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

typedef struct disk_shape {
  double half_mass; /* cylindrical radius */
  double height;    /* median of |z| */
} disk_shape;

static disk_shape shape_of(driver *d, int64_t count) {
  double *x = malloc(2 * (size_t)count * sizeof *x);
  assert_non_null(x);
  for (int64_t i = 0; i < count; i++) {
    x[i] = hypot(driver_get(d, "position", 0, i), driver_get(d, "position", 1, i));
    x[count + i] = fabs(driver_get(d, "position", 2, i));
  }
  qsort(x, (size_t)count, sizeof *x, compare);
  qsort(x + count, (size_t)count, sizeof *x, compare);
  const disk_shape shape = {x[count / 2], x[count + count / 2]};
  free(x);
  return shape;
}

/* Returns the standard deviation of the radial velocity of the bodies between 2.2 and 2.8. */
static double radial_dispersion(driver *d, int64_t count) {
  double sum = 0, squares = 0;
  int64_t found = 0;
  for (int64_t i = 0; i < count; i++) {
    const double x = driver_get(d, "position", 0, i), y = driver_get(d, "position", 1, i), R = hypot(x, y);
    if (R < 2.2 || R > 2.8) continue;
    const double v = (x * driver_get(d, "velocity", 0, i) + y * driver_get(d, "velocity", 1, i)) / R;
    sum += v;
    squares += v * v;
    found++;
  }
  return sqrt(squares / (double)found - pow(sum / (double)found, 2));
}

/* Three rotations at the half-mass radius (9 each). The radius must begin at the formula's value and stay there.
 * Formula: R with 1 - (1 + R) exp(-R) = half of the share within 8, 1.6731. Radii are stratified, so it is right to the
 * shift of the centre, 1/sqrt(N). Later: sampling d R/df * 1/(2 sqrt(N)) = 1.6/sqrt(N), three of these, and 2 % for the
 * spiral arms. Height: |z| has its median at 0.549 thickness, with a sampling error of 1/sqrt(N) of itself. Halo bodies
 * of 2.5 times the mass of the disk's bodies heat the disk: at n = 2048 by half of its height in three rotations,
 * proportional to 1/N. */
static void disk(driver_place place) {
  const int64_t n = long_form ? 16384 : 2048;
  nbody_exponential_disk galaxy = {.group.species = "disk",
                                   .n = n,
                                   .mass = 1,
                                   .radius = 1,
                                   .thickness = 0.2,
                                   .Q = 1.5,
                                   .cutoff = NAN,
                                   .halo = {.n = 2 * n, .species = "halo", .mass = 5, .radius = 3, .cutoff = NAN}};
  driver d = driver_make(place, NBODY_LEAPFROG, 1.0 / 16, 27, 0.08);
  driver_add(&d, &nbody_exponential_disk_schema, &galaxy);
  driver_create(&d);
  const disk_shape start = shape_of(&d, n);
  const double noise = 1 / sqrt((double)n);
  assert_true(fabs(start.half_mass - 1.6731) < noise);
  assert_true(fabs(start.height / (0.2 * atanh(0.5)) - 1) < 3 * noise);
  assert_true(fabs(driver_value(&d, "energy", "virial_ratio") - 1) < 3 * noise);
  /* 3.36 Q G Sigma/kappa for a thin disk, by Freeman's formula and quadrature of the halo; kappa of a thick disk is
   * some percent smaller. One body in 8 is in the ring: three standard deviations of 1/sqrt(2 N/8), and 5 %. */
  assert_true(fabs(radial_dispersion(&d, n) / 0.1269 - 1) < 6 * noise + 0.05);
  for (int k = 1; k <= 6; k++) {
    while (d.clock.t < 4.5 * k) driver_step(&d);
    const disk_shape now = shape_of(&d, n);
    print_message("    t %g: half mass %g, height %g, 2K/|W| %g\n", d.clock.t, now.half_mass, now.height,
                  driver_value(&d, "energy", "virial_ratio"));
    assert_true(fabs(now.half_mass - start.half_mass) < 4.8 * noise + 0.02 * start.half_mass);
    assert_true(now.height > start.height * (1 - 3 * noise) && now.height < start.height * (1.2 + 1200.0 / (double)n));
    assert_true(fabs(driver_value(&d, "energy", "virial_ratio") - 1) < 3 * noise);
  }
  driver_destroy(&d);
}

static void test_disk(void **state) {
  (void)state;
  driver_everywhere_in(SIM_SINGLE, disk);
}

/* ---- cold collapse ---- */

/* Returns the radius over the initial radius after a share tau of the free-fall time: cos^2 theta with theta + sin(2
 * theta)/2 = (pi/2) tau. */
static double fallen(double tau) {
  double low = 0, high = pi / 2;
  for (int i = 0; i < 60; i++) {
    const double theta = 0.5 * (low + high);
    if (theta + 0.5 * sin(2 * theta) < 0.5 * pi * tau)
      low = theta;
    else
      high = theta;
  }
  return cos(low) * cos(low);
}

/* A shell is a share of the mass. Radii are stratified, so that all shells begin as those of a smooth sphere. The
 * remaining error is granularity: it scatters bodies by some N^(-1/3) of the radius and blurs the edge, and the force
 * there is softened. Runs of 2048 to 16384 bodies and three seeds were off by at most 1.6/sqrt(N), at r90 by
 * 2.2/sqrt(N). The bound is half as much again, and in the long form the 1 % that is asked for. */
static void collapse(driver_place place) {
  const double t_ff = 0.5 * pi * sqrt(0.5);
  const int64_t n = long_form ? 65536 : 4096;
  driver d = driver_make(place, NBODY_LEAPFROG, 0.8 * t_ff / 64, 0.8 * t_ff, long_form ? 0.002 : 0.005);
  nbody_uniform_sphere sphere = {.n = n, .mass = 1, .radius = 1};
  driver_add(&d, &nbody_uniform_sphere_schema, &sphere);
  driver_create(&d);
  for (int k = 1; k <= 4; k++) {
    while (d.clock.t < 0.25 * k * d.clock.t_end * (1 - 1e-9)) driver_step(&d);
    for (int r = 0; r < NBODY_RADII; r++) {
      const double known = cbrt(nbody_radius_fractions[r]) * fallen(d.clock.t / t_ff);
      const double error = driver_value(&d, "lagrangian", radius_columns[r]) / known - 1;
      const double bound = long_form ? 0.01 : (r == NBODY_RADII - 1 ? 3.3 : 2.4) / sqrt((double)n);
      print_message("    t %g %s %g\n", d.clock.t, radius_columns[r], error);
      if (!(fabs(error) < bound)) fail_msg("%s is off by %g at t = %g", radius_columns[r], error, d.clock.t);
    }
  }
  driver_destroy(&d);
}

static void test_collapse(void **state) {
  (void)state;
  driver_everywhere_in(SIM_SINGLE, collapse);
}

/* ---- momentum ---- */

static void momentum(driver_place place) {
  driver d = driver_make(place, NBODY_LEAPFROG, 1.0 / 64, 1, 0.01);
  nbody_sphere sphere = {.n = 3000, .mass = 1, .radius = 1, .cutoff = NAN};
  driver_add(&d, &nbody_plummer_schema, &sphere);
  driver_create(&d);
  double sum[3] = {0}, sizes = 0;
  for (int64_t i = 0; i < sphere.n; i++) {
    double size = 0;
    for (int c = 0; c < 3; c++) {
      const double force = driver_get(&d, "mass", 0, i) * driver_get(&d, "acceleration", c, i);
      sum[c] += force;
      size += force * force;
    }
    sizes += sqrt(size);
  }
  const double rest = sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]) / sizes;
  print_message("    |sum m a| / sum |m a| = %.2g\n", rest);
  assert_true(rest < (place.precision == SIM_DOUBLE ? 1e-14 : 1e-6));
  /* The generator sets momentum and centre to zero except for rounding of the state: 2^-24 or 2^-53 of speeds and
   * distances of order 1, over sqrt(N). The bound is 20 times that. */
  const double unit = (place.precision == SIM_SINGLE ? 0x1p-24 : 0x1p-53) * 20 / sqrt((double)sphere.n);
  static const char *const zero[] = {"momentum_x", "momentum_y", "momentum_z", "centre_x", "centre_y", "centre_z"};
  for (size_t i = 0; i < sizeof zero / sizeof *zero; i++) assert_true(fabs(driver_value(&d, "energy", zero[i])) < unit);
  driver_destroy(&d);
}

static void test_momentum(void **state) {
  (void)state;
  driver_everywhere(momentum);
}

/* Radii of bodies so far from each other that squares of distances are out of range: 1e300 for a pair about its centre,
 * and 0 for the heavy body of a trio of masses 8, 1 and 1. On a GPU such a row ends the run. */
static void test_far(void **state) {
  (void)state;
  for (int trio = 0; trio < 2; trio++) {
    driver d = driver_make((driver_place){&sim_backend_cpu, SIM_DOUBLE}, NBODY_LEAPFROG, 1e-3, 1, 0.02);
    nbody_body left = {.group.position = {-1e300, 0, 0}, .mass = 1},
               right = {.group.position = {1e300, 0, 0}, .mass = 1};
    nbody_body heavy = {.mass = 8};
    driver_add(&d, &nbody_body_schema, &left);
    driver_add(&d, &nbody_body_schema, &right);
    if (trio) driver_add(&d, &nbody_body_schema, &heavy);
    driver_create(&d);
    for (int r = 0; r < NBODY_RADII; r++) {
      const double expected = trio && nbody_radius_fractions[r] <= 0.8 ? 0 : 1e300;
      assert_true(fabs(driver_value(&d, "lagrangian", radius_columns[r]) - expected) <= 1e-15 * 1e300);
    }
    driver_destroy(&d);
  }
}

int main(int count, char **arguments) {
  long_form = count > 1 && strcmp(arguments[1], "long") == 0;
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_plummer),  cmocka_unit_test(test_hernquist),
                                     cmocka_unit_test(test_disk),     cmocka_unit_test(test_collapse),
                                     cmocka_unit_test(test_momentum), cmocka_unit_test(test_far)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
