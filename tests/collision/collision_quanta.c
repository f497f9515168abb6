/* Gases in the fixed-point solver: their contacts against all pairs, their paths against the general solver, and
 * changes that must keep every bit. */
#include "tests/collision/setups.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const double pi = 3.14159265358979323846;

static void near_to(double got, double expected, double relative, const char *what) {
  if (!(fabs(got - expected) <= relative * fabs(expected)))
    fail_msg("%s: got %.9g, expected %.9g within %.1e (off by %.2e)", what, got, expected, relative,
             got / expected - 1);
}

/* Spheres at packing eta and temperature 1: of mass and diameter 1, or of diameters from 0.5 to 1.5. */
static collision_random_spheres spheres;
static double sizes[2] = {0.25, 0.75};
static bool limited; /* dashpots never pull */
static driver gas(sim_precision precision, bool mixed, double restitution, double t_end) {
  const int64_t n = 2000;
  driver d = driver_make(precision, NAN, t_end);
  driver_box(&d, cbrt((double)n * pi / 6 / 0.25), COLLISION_PERIODIC);
  d.parameters.box.size[0] *= 1.2;
  d.parameters.box.origin[1] = -5;
  spheres = (collision_random_spheres){.group.density = 6 / pi, .size.radius = 0.5, .n = n, .temperature = 1};
  if (mixed) spheres.size = (collision_radii){NAN, {sizes, 2, 1}, COLLISION_UNIFORM};
  d.parameters.contact.values.contact_time = 0.01;
  d.parameters.contact.values.restitution = restitution;
  d.parameters.contact.limit_damping = limited;
  driver_add(&d, &collision_random_spheres_schema, &spheres);
  return d;
}

static const void *array(const driver_frame *frame, const char *name) {
  const sim_array *a = sim_frame_array(&frame->frame, name);
  if (a == NULL) fail_msg("no array %s", name);
  return a->data;
}

/* Overlaps of a thousandth of a radius are 1e-4 of positions, above their rounding of 2^-24 of the distance. Of about
 * 100 contacts one may be at the edge of touch within that. */
static void check_contacts(driver *d, bool mixed) {
  driver_frame now;
  driver_keep(d, &now);
  const uint64_t *word = array(&now, "quanta");
  const float *radius = array(&now, "radius"), *mass = array(&now, "mass");
  const int64_t n = spheres.n;
  int64_t touching = 0, close = 0;
  double elastic = 0, deepest = 0;
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = i + 1; j < n; j++) {
      double square = 0;
      for (int c = 0; c < 3; c++) {
        const double x = (double)(int32_t)((uint32_t)word[c * n + i] - (uint32_t)word[c * n + j]);
        square += pow(x * 0x1p-32 * d->parameters.box.size[c], 2);
      }
      const double overlap = (double)radius[i] + (double)radius[j] - sqrt(square);
      if (fabs(overlap) < 3e-7) close++;
      if (!(overlap > 0)) continue;
      const double m = (double)mass[i] * (double)mass[j] / ((double)mass[i] + (double)mass[j]);
      elastic += 0.5 * m * pow(pi / 0.01, 2) * overlap * overlap; /* by contact_time, restitution 1 */
      deepest = fmax(deepest, overlap / (double)fminf(radius[i], radius[j]));
      touching++;
    }
  driver_frame_free(&now);
  const double counted = driver_value(d, "contacts", "coordination") * (double)n / 2;
  if (fabs(counted - (double)touching) > (double)close) fail_msg("%g contacts of %lld", counted, (long long)touching);
  assert_true(touching > 20);
  near_to(driver_value(d, "energy", "elastic"), elastic, mixed ? 1e-3 : 1e-3, "elastic energy");
  near_to(driver_value(d, "contacts", "overlap"), deepest, 1e-3, "deepest overlap");
}

static void test_contacts(void **state) {
  (void)state;
  for (int mixed = 0; mixed < 2; mixed++)
    for (sim_isa isa = SIM_ISA_PLAIN; isa <= sim_isa_best(); isa++) {
      driver d = gas(SIM_SINGLE, mixed, 1, 10);
      d.setup.isa = isa;
      driver_create(&d);
      driver_until(&d, 0.3);
      for (int look = 0; look < 8; look++) {
        for (int k = 0; k < 7 + look; k++) driver_step(&d);
        check_contacts(&d, mixed);
      }
      driver_destroy(&d);
    }
}

/* Paths diverge as fast as in a gas, by e at each collision; in a time of 0.15 a grain has about one collision. The
 * start differs by fp32's 2^-24 of positions of 20: 1e-6. Forces differ by as much of an overlap of 0.01: 1e-4 of a
 * velocity. */
static void test_paths(void **state) {
  (void)state;
  for (int mixed = 0; mixed < 2; mixed++)
    for (int soft = 0; soft < 3; soft++) {
      driver d[2];
      driver_frame now[2];
      limited = soft == 2;
      for (int k = 0; k < 2; k++) {
        d[k] = gas(k ? SIM_DOUBLE : SIM_SINGLE, mixed, soft ? 0.7 : 1, 10);
        driver_create(&d[k]);
        driver_until(&d[k], 0.15);
        driver_keep(&d[k], &now[k]);
      }
      const float *a = array(&now[0], "velocity");
      const double *b = array(&now[1], "velocity");
      double off = 0, all = 0;
      for (int64_t i = 0; i < 3 * spheres.n; i++) {
        off += pow((double)a[i] - b[i], 2);
        all += b[i] * b[i];
      }
      print_message("  velocities differ by %.1e\n", sqrt(off / all));
      assert_true(sqrt(off / all) < (soft ? 2e-2 : 2e-3));
      near_to(driver_value(&d[0], "contacts", "collisions"), driver_value(&d[1], "contacts", "collisions"), 0.02,
              "collisions");
      near_to(driver_value(&d[0], "gas", "virial_time"), driver_value(&d[1], "gas", "virial_time"), 0.01, "virial");
      near_to(driver_value(&d[0], "gas", "pressure"), driver_value(&d[1], "gas", "pressure"), 0.01, "pressure");
      near_to(driver_value(&d[0], "energy", "balance") + 1, 1, 1e-3, "energy");
      if (soft)
        near_to(driver_value(&d[0], "energy", "dissipated"), driver_value(&d[1], "energy", "dissipated"), 0.02, "loss");
      for (int k = 0; k < 2; k++) {
        driver_frame_free(&now[k]);
        driver_destroy(&d[k]);
      }
    }
  limited = false;
}

/* Two grains head-on whose dashpot never pulls: 1e-3 as in collision_contact.c, and velocities of 2^-24. */
static void test_limited(void **state) {
  (void)state;
  const double restitution[] = {0.9, 0.6, 0.3};
  for (int k = 0; k < 3; k++)
    for (sim_isa isa = SIM_ISA_PLAIN; isa <= sim_isa_best(); isa++) {
      collision_grain a = {.radius = 0.5, .position = {4.4, 5, 5}, .group.velocity = {0.5, 0, 0}};
      collision_grain b = {.radius = 0.5, .position = {5.41, 5, 5}, .group.velocity = {-0.5, 0, 0}};
      driver d = driver_make(SIM_SINGLE, NAN, 0.1);
      driver_box(&d, 10, COLLISION_PERIODIC);
      d.setup.isa = isa;
      d.parameters.contact.values.contact_time = 0.01;
      d.parameters.contact.values.restitution = restitution[k];
      d.parameters.contact.limit_damping = true;
      driver_add(&d, &collision_grain_schema, &a);
      driver_add(&d, &collision_grain_schema, &b);
      driver_create(&d);
      driver_run(&d);
      driver_frame now;
      driver_look(&d, &now);
      assert_non_null(sim_frame_array(&now.frame, "quanta"));
      near_to(driver_get(&d, "velocity", 0, 1) - driver_get(&d, "velocity", 0, 0), limited_restitution(restitution[k]),
              1e-3, "restitution of a dashpot that never pulls");
      near_to(driver_value(&d, "energy", "balance") + 1, 1, 2e-3, "energy balance");
      driver_destroy(&d);
    }
}

static void add_momenta(driver *d, int64_t sum[3]) {
  driver_frame now;
  driver_keep(d, &now);
  const uint64_t *word = array(&now, "quanta");
  for (int c = 0; c < 3; c++) {
    sum[c] = 0;
    for (int64_t i = 0; i < spheres.n; i++) sum[c] += (int32_t)(uint32_t)(word[c * spheres.n + i] >> 32);
  }
  driver_frame_free(&now);
}

/* Momentum to the last quantum. Energy: the step's error is compensated at the end of each contact, (w dt)^2 = 4e-3 of
 * a contact's energy; 3e-5 of the energy is in contacts' springs at packing 0.25. */
static void test_conserved(void **state) {
  (void)state;
  for (int mixed = 0; mixed < 2; mixed++) {
    driver d = gas(SIM_SINGLE, mixed, 1, 1);
    int64_t before[3], after[3];
    driver_create(&d);
    add_momenta(&d, before);
    driver_run(&d);
    add_momenta(&d, after);
    for (int c = 0; c < 3; c++) assert_true(before[c] == after[c]);
    print_message("  energy %.1e, %g collisions\n", driver_value(&d, "energy", "balance"),
                  driver_value(&d, "contacts", "collisions"));
    assert_true(fabs(driver_value(&d, "energy", "balance")) < 1e-4);
    driver_destroy(&d);
  }
}

/* T = T0 (1 + t/tc)^-2, see collision_gas.c. */
static void test_cooling(void **state) {
  (void)state;
  const double eta = 0.25 / 1.2, e = 0.9, chi = (1 - eta / 2) / pow(1 - eta, 3);
  driver d = gas(SIM_SINGLE, false, e, 4);
  driver_create(&d);
  driver_until(&d, 0.5);
  const double t0 = driver_value(&d, "gas", "temperature");
  const double rate = 4 * sqrt(pi) * 6 * eta / pi * chi * sqrt(t0), cooling = 6 / ((1 - e * e) * rate);
  driver_run(&d);
  near_to(driver_value(&d, "gas", "temperature"), t0 * pow(1 + (d.clock.t - 0.5) / cooling, -2), 0.07, "Haff's law");
  near_to(driver_value(&d, "energy", "balance") + 1, 1, 1e-3, "energy with what was lost");
  driver_destroy(&d);
}

/* Threads, instruction sets, lists, outputs and a restart change no bit. */
static void test_bits(void **state) {
  (void)state;
  for (int form = 0; form < 4; form++) {
    const bool mixed = form % 2 == 1;
    limited = form > 1;
    char first[33] = "", digest[33];
    double balance = NAN;
    for (int run = limited ? 2 : 0; run < (limited ? 6 : 8); run++) {
      driver d = gas(SIM_SINGLE, mixed, 0.8, limited ? 0.1 : 0.4);
      d.setup.threads = (int[]){1, 2, 3, 7, 16, 2, 2, 1}[run];
      d.setup.isa = run < 3 ? sim_isa_best() : (sim_isa)(run % (sim_isa_best() + 1));
      if (run == 5) d.parameters.integrate.skin = 0.15;
      driver_create(&d);
      while (d.clock.t < d.clock.t_end) {
        driver_step(&d);
        if (run == 6 && d.clock.step % 5 == 0) driver_digest(&d, digest);
        if (run != 7 || d.clock.step % 331 != 330) continue;
        driver_frame kept;
        driver_keep(&d, &kept);
        driver_destroy(&d);
        driver other = gas(SIM_SINGLE, mixed, 0.8, 0.4);
        other.setup.threads = 3;
        driver_restore(&other, &kept.frame);
        driver_frame_free(&kept);
        d = other;
      }
      driver_digest(&d, digest);
      if (*first == 0) {
        memcpy(first, digest, sizeof first);
        balance = driver_value(&d, "energy", "balance");
      }
      if (strcmp(digest, first) != 0) fail_msg("run %d: digest %s, not %s", run, digest, first);
      assert_true(driver_value(&d, "energy", "balance") == balance);
      driver_destroy(&d);
    }
  }
  limited = false;
}

/* Face-centred cubic, gaps of 0.1 % of a diameter, packing 0.738; or random, radii 1 to 1:4, packing 0.62. */
static driver dense(bool random, sim_precision precision) {
  enum { SIDE = 8, COUNT = 4 * SIDE * SIDE * SIDE };
  static double radii[2] = {0.125, 0.5};
  driver d = driver_make(precision, 0.0005, 0.05);
  d.parameters.contact.values.stiffness = 1000;
  d.parameters.contact.values.restitution = 0.9;
  if (random) {
    const double mean = 0.85 / 16; /* of a cube with the side of a radius */
    driver_box(&d, cbrt(COUNT * 4 * pi / 3 * mean / 0.62), COLLISION_PERIODIC);
    spheres = (collision_random_spheres){.group.density = 6 / pi, .n = COUNT, .temperature = 0.1};
    spheres.size = (collision_radii){NAN, {radii, 2, 1}, COLLISION_UNIFORM};
    driver_add(&d, &collision_random_spheres_schema, &spheres);
    return d;
  }
  setup_crystal(&d, SIDE, 1.001, 0.1);
  return d;
}

/* Close packings, compared with the general solver, for less than a contact's time of 0.07. fp32's rounding of
 * positions of 11, 7e-7, is 1e-3 of overlaps of some 1e-3; 1e-2 for a grain with several contacts. */
static void test_dense(void **state) {
  (void)state;
  for (int random = 0; random < 2; random++) {
    driver d[2];
    driver_frame now[2];
    for (int k = 0; k < 2; k++) {
      d[k] = dense(random, k ? SIM_DOUBLE : SIM_SINGLE);
      driver_create(&d[k]);
      driver_run(&d[k]);
      driver_keep(&d[k], &now[k]);
    }
    assert_non_null(array(&now[0], "quanta"));
    const float *a = array(&now[0], "velocity");
    const double *b = array(&now[1], "velocity");
    double off = 0, all = 0;
    for (int64_t i = 0; i < 3 * 2048; i++) {
      off += pow((double)a[i] - b[i], 2);
      all += b[i] * b[i];
    }
    print_message("  velocities differ by %.1e, coordination %g, balance %g\n", sqrt(off / all),
                  driver_value(&d[0], "contacts", "coordination"), driver_value(&d[0], "energy", "balance"));
    assert_true(sqrt(off / all) < 1e-2);
    near_to(driver_value(&d[0], "contacts", "coordination"), driver_value(&d[1], "contacts", "coordination"), 0.01,
            "coordination");
    for (int k = 0; k < 2; k++) {
      driver_frame_free(&now[k]);
      driver_destroy(&d[k]);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_contacts), cmocka_unit_test(test_limited),
                                     cmocka_unit_test(test_paths),    cmocka_unit_test(test_conserved),
                                     cmocka_unit_test(test_cooling),  cmocka_unit_test(test_bits),
                                     cmocka_unit_test(test_dense)};
  return cmocka_run_group_tests_name("quanta", tests, NULL, NULL);
}
