/* Gases of nearly hard spheres against kinetic theory, and quantities that must not change: momentum, energy, bits.
 * `long`: larger gases, to the tolerances of the field. */
#include "tests/collision/setups.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const double pi = 3.14159265358979323846;
static bool large;

static void near_to(double got, double expected, double relative, const char *what) {
  if (!(fabs(got - expected) <= relative * fabs(expected)))
    fail_msg("%s: got %.9g, expected %.9g within %.1e (off by %.2e)", what, got, expected, relative,
             got / expected - 1);
  print_message("  %s: %.6g of %.6g (%.1e)\n", what, got, expected, got / expected - 1);
}

/* n spheres of diameter 1 and mass 1 at packing eta, temperature 1. */
static collision_random_spheres spheres;
static driver gas(sim_precision precision, int64_t n, double eta, double contact_time, double restitution,
                  double t_end) {
  driver d = driver_make(precision, NAN, t_end);
  driver_box(&d, cbrt((double)n * pi / 6 / eta), COLLISION_PERIODIC);
  spheres = (collision_random_spheres){.group.density = 6 / pi, .size.radius = 0.5, .n = n, .temperature = 1};
  d.parameters.contact.values.contact_time = contact_time;
  d.parameters.contact.values.restitution = restitution;
  driver_add(&d, &collision_random_spheres_schema, &spheres);
  return d;
}

/* Enskog's rate 4 sqrt(pi) n s^2 chi sqrt(T), Z = 1 + 4 eta chi, and <v^4>/<v^2>^2 = 5/3. Soft spheres of contact time
 * tc collide at a smaller distance, by about v tc/pi. The rate is that of spheres smaller by 0.3 of it: 4e-3 with tc =
 * 0.004. N collisions in a run leave a scatter of about 0.6/sqrt(N) in the rate. */
static void test_equilibrium(void **state) {
  (void)state;
  const double eta = 0.1, chi = (1 - eta / 2) / pow(1 - eta, 3), tc = large ? 0.004 : 0.005;
  const int64_t n = large ? 20000 : 1500;
  const double warm = 1, end = large ? 8 : 5;
  driver d = gas(SIM_DOUBLE, n, eta, tc, 1, end);
  driver_create(&d);
  driver_until(&d, warm);
  const double t0 = d.clock.t, first = driver_value(&d, "contacts", "collisions");
  const double virial = driver_value(&d, "gas", "virial_time");
  double temperature = 0, fourth = 0, square = 0;
  int looks = 0;
  while (d.clock.t < end) {
    driver_until(&d, fmin(end, d.clock.t + 0.5));
    temperature += driver_value(&d, "gas", "temperature");
    looks++;
    driver_frame now;
    driver_keep(&d, &now);
    const double *v = sim_frame_array(&now.frame, "velocity")->data;
    for (int64_t i = 0; i < n; i++) {
      const double v2 = v[i] * v[i] + v[n + i] * v[n + i] + v[2 * n + i] * v[2 * n + i];
      square += v2 / (double)n;
      fourth += v2 * v2 / (double)n;
    }
    driver_frame_free(&now);
  }
  temperature /= looks;
  const double time = d.clock.t - t0, count = driver_value(&d, "contacts", "collisions") - first;
  const double density = 6 * eta / pi;
  near_to(2 * count / ((double)n * time), 4 * sqrt(pi) * density * chi * sqrt(temperature), large ? 0.01 : 0.03,
          "collision rate");
  /* the same error for the virial in Z - 1 = 0.51 */
  near_to(1 + (driver_value(&d, "gas", "virial_time") - virial) / (3 * (double)n * time * temperature),
          1 + 4 * eta * chi, large ? 5e-3 : 1.5e-2, "equation of state");
  /* The fourth moment of n velocities scatters by 2.4/sqrt(n): 5 % for one row, and there are 10 rows. */
  near_to(fourth / looks / pow(square / looks, 2), 5.0 / 3, large ? 0.01 : 0.04, "Maxwell's fourth moment");
  near_to(driver_value(&d, "energy", "balance") + 1, 1, 1e-3, "energy");
  driver_destroy(&d);
}

/* T = T0 (1 + t/tc)^-2, tc = 6/((1 - e^2) w0), to 5 %; small runs scatter by 1/sqrt(collisions), 2 %, more. */
static void test_haff(void **state) {
  (void)state;
  const double eta = 0.1, e = 0.9, chi = (1 - eta / 2) / pow(1 - eta, 3), start = 1;
  const int64_t n = large ? 20000 : 1500;
  driver d = gas(SIM_DOUBLE, n, eta, large ? 0.01 : 0.02, e, 12);
  driver_create(&d);
  driver_until(&d, start);
  const double t0 = driver_value(&d, "gas", "temperature");
  const double rate = 4 * sqrt(pi) * 6 * eta / pi * chi * sqrt(t0), cooling = 6 / ((1 - e * e) * rate);
  for (double t = 3; t <= 12; t += 3) {
    driver_until(&d, t);
    near_to(driver_value(&d, "gas", "temperature"), t0 * pow(1 + (d.clock.t - start) / cooling, -2), 0.05,
            "Haff's law");
  }
  /* The dashpots' loss is the energy that is missing: of the energy at the start, to a step's order. */
  near_to(driver_value(&d, "energy", "balance") + 1, 1, 2e-3, "energy with what was lost");
  driver_destroy(&d);
}

/* Forces of a pair are opposite to the bit, so only the rounding of each velocity's sums remains: for n grains of speed
 * 1 that is 2^-53 (2^-24) a step and grain, with random signs. */
static void test_momentum(void **state) {
  (void)state;
  for (int single = 0; single < 2; single++) {
    driver d = gas(single ? SIM_SINGLE : SIM_DOUBLE, 2000, 0.3, 0.02, 0.8, 0.5);
    d.parameters.contact.values.friction = 0.4;
    spheres.size = (collision_radii){NAN, {(double[]){0.2, 0.6}, 2, 1}, COLLISION_UNIFORM};
    driver_create(&d);
    const double before = driver_value(&d, "momentum", "momentum_x");
    driver_run(&d);
    const double change = fabs(driver_value(&d, "momentum", "momentum_x") - before);
    const double steps = (double)d.clock.step, unit = single ? 0x1p-24 : 0x1p-53;
    print_message("  momentum: %.2e\n", change);
    assert_true(change < 6 * unit * sqrt(2000 * steps));
    assert_true(driver_value(&d, "energy", "rotational") > 0);
    /* Friction's loss is evaluated at the end of each step, with 50 steps a contact: 1 % of the loss. */
    near_to(driver_value(&d, "energy", "balance") + 1, 1, 1e-2, "energy with friction");
    driver_destroy(&d);
  }
}

/* A heap between walls with every option of contacts. */
static collision_each each;
static driver heap(sim_precision precision, int threads, double t_end) {
  static double radii[] = {0.2, 0.7}, equal[] = {0.3, 0.3}, places[] = {2, 2, 8, 6, 6, 8};
  driver d = driver_make(precision, NAN, t_end);
  driver_box(&d, 10, COLLISION_WALL);
  d.parameters.box.sides[0] = d.parameters.box.sides[1] = COLLISION_PERIODIC;
  spheres = (collision_random_spheres){.n = 600, .temperature = 1, .size = {NAN, {radii, 2, 1}, COLLISION_UNIFORM}};
  each = (collision_each){.group.species = "light", .group.density = 0.5};
  each.radius = (sim_doubles){equal, 2, 1};
  each.position = (sim_doubles){places, 2, 3};
  d.parameters.gravity[2] = -10;
  d.parameters.contact.law = COLLISION_HERTZ;
  d.parameters.contact.values.young = 1e5;
  d.parameters.contact.values.restitution = 0.5;
  d.parameters.contact.values.friction = 0.5;
  d.parameters.contact.values.rolling_friction = 0.05;
  d.parameters.contact.values.twisting_friction = 0.05;
  driver_add(&d, &collision_random_spheres_schema, &spheres);
  driver_add(&d, &collision_each_schema, &each);
  d.setup.threads = threads;
  return d;
}

static void test_threads(void **state) {
  (void)state;
  for (int single = 0; single < 2; single++) {
    char first[33] = "", digest[33];
    for (int threads = 1; threads <= 7; threads += 2) {
      driver d = heap(single ? SIM_SINGLE : SIM_DOUBLE, threads, 0.4);
      if (threads == 5) d.parameters.integrate.skin = 0.17; /* nor does it depend on when lists are rebuilt */
      driver_create(&d);
      driver_run(&d);
      driver_digest(&d, digest);
      if (threads == 1) memcpy(first, digest, sizeof first);
      assert_string_equal(digest, first);
      driver_destroy(&d);
    }
  }
}

/* 7 threads divide 3000 grains into three chunks, one thread into one, so that other pairs are computed once; history
 * and observables are asked for in the middle. */
static void test_chunks(void **state) {
  (void)state;
  for (int single = 0; single < 2; single++) {
    char first[33] = "", digest[33];
    for (int threads = 1; threads <= 7; threads += 6) {
      driver d = heap(single ? SIM_SINGLE : SIM_DOUBLE, threads, 0.1);
      spheres.n = 3000;
      spheres.temperature = 10;
      spheres.size = (collision_radii){NAN, {(double[]){0.2, 0.35}, 2, 1}, COLLISION_UNIFORM};
      d.parameters.contact.values.cohesion.model = COLLISION_JKR;
      d.parameters.contact.values.cohesion.surface_energy = 0.1;
      driver_create(&d);
      driver_until(&d, 0.05);
      if (threads > 1) assert_true(driver_value(&d, "contacts", "coordination") > 0.1);
      driver_run(&d);
      driver_digest(&d, digest);
      if (threads == 1) memcpy(first, digest, sizeof first);
      assert_string_equal(digest, first);
      driver_destroy(&d);
    }
  }
}

/* From the middle of a fall, with history in springs of grains and walls. */
static void test_restart(void **state) {
  (void)state;
  for (int single = 0; single < 2; single++) {
    char whole[33];
    driver d = heap(single ? SIM_SINGLE : SIM_DOUBLE, 2, 1.2);
    driver_create(&d);
    driver_until(&d, 1);
    assert_true(driver_value(&d, "contacts", "coordination") > 1);
    driver_frame kept;
    driver_keep(&d, &kept);
    driver_run(&d);
    driver_digest(&d, whole);
    const double balance = driver_value(&d, "energy", "balance");
    driver_destroy(&d);
    driver other = heap(single ? SIM_SINGLE : SIM_DOUBLE, 1, 1.2);
    other.parameters.integrate.skin = 1e-6; /* less than the motion of grains in a step: history reaches farther */
    expect_restart(&other, &kept, whole);
    assert_true(balance == driver_value(&other, "energy", "balance"));
    driver_destroy(&other);
    driver_frame_free(&kept);
  }
}

/* A heap presses on the floor with its weight. */
static void test_weight(void **state) {
  (void)state;
  driver d = heap(SIM_DOUBLE, 2, 6);
  spheres.n = 200;
  driver_create(&d);
  driver_run(&d);
  double weight = 0, force = -driver_value(&d, "walls", "z_low_force_z");
  for (int64_t i = 0; i < 202; i++) weight += 10 * driver_get(&d, "mass", 0, i);
  near_to(force, weight, 0.02, "weight on the floor"); /* the heap still creeps a little */
  assert_true(driver_value(&d, "contacts", "overlap") < 0.05);
  driver_destroy(&d);
}

int main(int count, char **arguments) {
  large = count > 1 && strcmp(arguments[1], "long") == 0;
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_equilibrium), cmocka_unit_test(test_haff),
                                     cmocka_unit_test(test_momentum),    cmocka_unit_test(test_threads),
                                     cmocka_unit_test(test_chunks),      cmocka_unit_test(test_restart),
                                     cmocka_unit_test(test_weight)};
  return cmocka_run_group_tests_name("gas", tests, NULL, NULL);
}
