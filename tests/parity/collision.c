/* Grains on a GPU against the CPU: both compile the same text of physics.h, wall_contact.h and gas.h, without
 * contraction, in the order of ids or in fixed point. So every number of the state has the same bits. */
#include "tests/collision/setups.h"
#include "tests/gpu/gpu.h"
#include "tests/parity/collision_compare.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const double pi = 3.14159265358979323846;

/* ---- the runs ---- */

static collision_random_spheres spheres;
static collision_plane slope;
static collision_cylinder drum;

/* Packing 0.3; radii up to `ratio` apart. */
static bool limited; /* dashpots never pull */
static driver gas(sim_precision precision, int64_t n, double ratio, double restitution) {
  static double radii[2];
  driver d = driver_make(precision, 0.0005, 1e9);
  driver_box(&d, cbrt((double)n * pi / 6 / 0.3), COLLISION_PERIODIC);
  spheres = (collision_random_spheres){.group.density = 6 / pi, .size.radius = 0.5, .n = n, .temperature = 0.1};
  radii[0] = 0.5 / ratio, radii[1] = 0.5;
  if (ratio > 1)
    spheres.size = (collision_radii){.radius = NAN, .radii = {radii, 2, 1}, .distribution = COLLISION_UNIFORM};
  d.parameters.contact.values.stiffness = 1000;
  if (restitution < 1) d.parameters.contact.values.restitution = restitution;
  d.parameters.contact.limit_damping = limited;
  driver_add(&d, &collision_random_spheres_schema, &spheres);
  return d;
}

/* Two kinds of grains of unlike radii that fall onto walls, with friction and rolling, beside a rotating drum. */
static driver bed(sim_precision precision, int law, bool rolling) {
  driver d = setup_two_kinds(precision, law);
  slope = (collision_plane){.point = {5, 5, 0.5}, .normal = {0.2, 0, 0.9797958971132712}, .velocity = {0, 0, 0.01}};
  drum = (collision_cylinder){.point = {5, 5, 5}, .axis = {1, 0, 0}, .spin = 0.5, .radius = 7.2};
  if (rolling) d.parameters.contact.values.rolling_friction = 0.05;
  d.parameters.contact.limit_damping = limited;
  driver_wall(&d, &collision_plane_schema, &slope);
  driver_wall(&d, &collision_cylinder_schema, &drum);
  return d;
}

static void test_gas(void **state) {
  (void)state;
  for (int damped = 0; damped < 3; damped++)
    for (int mixed = 0; mixed < 2; mixed++) {
      char what[80];
      limited = damped == 2;
      snprintf(what, sizeof what, "gas, restitution %g%s, radii 1:%g", damped ? 0.8 : 1, limited ? " limited" : "",
               mixed ? 3.0 : 1);
      collision_compare(gas(SIM_SINGLE, 5000, mixed ? 3 : 1, damped ? 0.8 : 1),
                        gas(SIM_SINGLE, 5000, mixed ? 3 : 1, damped ? 0.8 : 1), true, what);
    }
  limited = false;
}

/* Gaps of 1 % of a diameter: packing 0.72. Each grain has 12 neighbours, more than lists hold at first. */
static driver crystal(double restitution) {
  driver d = driver_make(SIM_SINGLE, 0.0005, 1e9);
  d.parameters.contact.values.stiffness = 1000;
  if (restitution < 1) d.parameters.contact.values.restitution = restitution;
  setup_crystal(&d, 12, 1.01, 0.5);
  return d;
}

static void test_dense(void **state) {
  (void)state;
  for (int damped = 0; damped < 2; damped++)
    collision_compare(crystal(damped ? 0.9 : 1), crystal(damped ? 0.9 : 1), true, "crystal");
}

/* A GPU sums integers, so no bit changes. The CPU sums the same in double, of masses below 1: rounding of each and of a
 * tree of 15 levels, 2^-48 of sum |m v| <= sqrt(2 M K). */
static void test_momentum(void **state) {
  (void)state;
  const char *const names[] = {"momentum_x", "momentum_y", "momentum_z"};
  driver here = gas(SIM_SINGLE, 20000, 3, 0.9), there = here;
  collision_on_gpu(&there);
  driver_create(&here);
  driver_create(&there);
  const double most = 0x1p-48 * sqrt(2 * 20000 * driver_value(&here, "energy", "kinetic"));
  double before[3];
  for (int c = 0; c < 3; c++) before[c] = driver_value(&there, "momentum", names[c]);
  for (int k = 0; k < 500; k++) {
    driver_step(&there);
    if (k < 100) driver_step(&here);
  }
  for (int c = 0; c < 3; c++) {
    assert_true(driver_value(&there, "momentum", names[c]) == before[c]);
    assert_true(fabs(driver_value(&here, "momentum", names[c]) - before[c]) <= most);
  }
  driver_destroy(&here);
  driver_destroy(&there);
}

static void test_any_grains(void **state) {
  (void)state;
  for (int precision = 0; precision < 2; precision++) {
    const sim_precision p = precision ? SIM_DOUBLE : SIM_SINGLE;
    collision_compare(bed(p, COLLISION_HERTZ, false), bed(p, COLLISION_HERTZ, false), false, "Hertz with friction");
    collision_compare(bed(p, COLLISION_LINEAR, true), bed(p, COLLISION_LINEAR, true), false, "linear with rolling");
    limited = true;
    collision_compare(bed(p, COLLISION_HERTZ, false), bed(p, COLLISION_HERTZ, false), false, "Hertz, limited");
    collision_compare(bed(p, COLLISION_LINEAR, true), bed(p, COLLISION_LINEAR, true), false, "linear, limited");
    limited = false;
  }
  collision_compare(gas(SIM_DOUBLE, 3000, 2, 0.9), gas(SIM_DOUBLE, 3000, 2, 0.9), false, "gas in double");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_gas), cmocka_unit_test(test_dense),
                                     cmocka_unit_test(test_momentum), cmocka_unit_test(test_any_grains)};
  const int missing = gpu_open();
  return missing != 0 ? missing : cmocka_run_group_tests(tests, NULL, NULL);
}
