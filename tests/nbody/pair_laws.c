/* Laws between bodies that a scenario writes as a function, in place of gravity. */
#include "tests/nbody/functions.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const double pi = 3.14159265358979323846;

static const char lua[] =
    "plummer = function(r2) return -1 / math.sqrt(r2 + 0.01) end,\n"
    "pull    = function(r2) return (r2 + 0.01) ^ -1.5 end,\n"
    "lj      = function(r2) local s = 1 / r2 ^ 3 return 4 * (s ^ 2 - s) end,\n"
    "spring  = function(r2) return 1 end,\n"
    "virial  = function(body) return body.mass * (body.x * body.ax + body.y * body.ay + body.z * body.az) end,\n";

static nbody_body body(double mass, double x, double y, double z) {
  return (nbody_body){.group = {.position = {x, y, z}}, .mass = mass};
}

static void finish(driver *d) {
  driver_destroy(d);
  driver_forget(d);
}

/* ---- Plummer's softened gravity against the built-in one ---- */

static driver cloud(driver_place place, nbody_scheme scheme, double dt, nbody_sphere *sphere, const char *field,
                    const char *name) {
  driver d = driver_make(place, scheme, dt, 8 * dt, 0.1);
  if (field != NULL) driver_law(&d, field, name);
  driver_add(&d, &nbody_plummer_schema, sphere);
  return d;
}

/* Returns, for body i, the sum over j of the sizes of the pair terms of component c of the acceleration and the jerk,
 * and of U. */
static void sizes(driver *d, int64_t n, int64_t i, double *a, double *j, double *u) {
  *a = *j = *u = 0;
  for (int64_t k = 0; k < n; k++) {
    double r2 = 0.01, w2 = 0;
    if (k == i) continue;
    for (int c = 0; c < 3; c++) {
      const double x = driver_get(d, "position", c, k) - driver_get(d, "position", c, i);
      const double v = driver_get(d, "velocity", c, k) - driver_get(d, "velocity", c, i);
      r2 += x * x;
      w2 += v * v;
    }
    const double m = driver_get(d, "mass", 0, k);
    *a += m / r2;
    *j += 4 * m * sqrt(w2 / r2) / r2;
    *u += 0.5 * m * driver_get(d, "mass", 0, i) / sqrt(r2);
  }
}

static void gravity(driver_place place) {
  static const struct {
    nbody_scheme scheme;
    const char *field, *name;
    int64_t n;
  } cases[] = {{NBODY_LEAPFROG, "pair", "plummer", 2},      {NBODY_LEAPFROG, "pair", "plummer", 65},
               {NBODY_LEAPFROG, "pair_force", "pull", 300}, {NBODY_HERMITE4, "pair", "plummer", 40},
               {NBODY_HERMITE4, "pair", "plummer", 1100},   {NBODY_HERMITE4, "pair_force", "pull", 129}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    const bool jerk = cases[k].scheme == NBODY_HERMITE4;
    nbody_sphere sphere = {.group = {.position = {5, 0, 0}}, .n = cases[k].n, .mass = 1, .radius = 1, .cutoff = NAN};
    driver own = cloud(place, cases[k].scheme, 0.01, &sphere, cases[k].field, cases[k].name);
    driver built_in = cloud(place, cases[k].scheme, 0.01, &sphere, NULL, NULL);
    driver_create(&built_in);
    driver_create(&own);
    /* The groups are generated alike, since they do not depend on the softening. A pair term has some ten roundings:
     * distance, root, cube, product. Positions are rounded to 2^-24 of the extent (10 and more for fp32, relative to
     * distances of 0.1): fp32 2^-24 (10 + 3 x 10/0.1 at worst). Two results. Sums are fp64. */
    const bool single = place.precision != SIM_DOUBLE;
    const double share = single ? 2 * 310 * 0x1p-24 : 2 * 20 * 0x1p-53 + 0x1p-48;
    double energy = 0, worst = 0;
    for (int64_t i = 0; i<cases[k].n; i += cases[k].n> 200 ? 37 : 1) {
      double a, j, u;
      sizes(&own, cases[k].n, i, &a, &j, &u);
      for (int c = 0; c < 3; c++) {
        const double apart = fabs(driver_get(&own, "acceleration", c, i) - driver_get(&built_in, "acceleration", c, i));
        worst = fmax(worst, apart / a);
        if (!(apart <= share * a)) fail_msg("body %d: %g of %g", (int)i, apart, a);
        if (jerk && !(fabs(driver_get(&own, "jerk", c, i) - driver_get(&built_in, "jerk", c, i)) <= 4 * share * j))
          fail_msg("jerk of body %d", (int)i);
      }
      energy += u;
    }
    print_message("    %s, %d bodies: %.2g\n", cases[k].field, (int)cases[k].n, worst);
    const double potential = driver_value(&own, "energy", "potential"),
                 expected = driver_value(&built_in, "energy", "potential");
    if (strcmp(cases[k].field, "pair_force") == 0)
      assert_true(isnan(potential) && isnan(driver_value(&own, "energy", "error")));
    else /* always in fp64; all terms have one sign */
      assert_true(fabs(potential - expected) <= 1e-13 * fabs(expected));
    assert_true(cases[k].n > 200 || fabs(energy + expected) <= 1e-13 * energy);
    driver_run(&own);
    driver_run(&built_in);
    for (int64_t i = 0; i < cases[k].n; i += 7) {
      double a, j, u;
      sizes(&own, cases[k].n, i, &a, &j, &u);
      /* Eight steps: t^2/2 of the difference of accelerations, doubled for later effects; and rounding. */
      const double bound = 0.08 * 0.08 * 2 * share * a + 64 * 8 * (place.precision == SIM_SINGLE ? 0x1p-24 : 0x1p-53);
      for (int c = 0; c < 3; c++)
        assert_true(fabs(driver_get(&own, "position", c, i) - driver_get(&built_in, "position", c, i)) <= bound);
    }
    finish(&own);
    finish(&built_in);
  }
}

static void test_gravity(void **state) {
  (void)state;
  driver_everywhere(gravity);
}

/* ---- Lennard-Jones: phi = 4 (r^-12 - r^-6) ---- */

static double distance(driver *d, int64_t i, int64_t k) {
  double square = 0;
  for (int c = 0; c < 3; c++) {
    const double x = driver_get(d, "position", c, i) - driver_get(d, "position", c, k);
    square += x * x;
  }
  return sqrt(square);
}

static double lennard_jones(double r) { return 4 * (pow(r, -12) - pow(r, -6)); }

/* Returns the distance below the best one at which the potential has the same value as at r. */
static double far_end(double r) {
  double low = 1, high = pow(2, 1.0 / 6);
  for (int k = 0; k < 60; k++) {
    const double middle = (low + high) / 2;
    if (lennard_jones(middle) > lennard_jones(r))
      low = middle;
    else
      high = middle;
  }
  return high;
}

/* Two bodies of mass 1: at rest at r0 = 2^(1/6), and oscillating about it with omega^2 = 2 phi''(r0) = 144 / 2^(1/3).
 */
static void dimer(driver_place place) {
  const double r0 = pow(2, 1.0 / 6), omega = sqrt(144 / cbrt(2)), amplitude = 0.002;
  const double unit = place.precision == SIM_DOUBLE ? 0x1p-53 : 0x1p-24;
  for (int scheme = NBODY_LEAPFROG; scheme <= NBODY_HERMITE4; scheme++) {
    const int steps = scheme == NBODY_LEAPFROG ? 512 : 128;
    nbody_body two[] = {body(1, 0, 0, 0), body(1, r0 + amplitude, 0, 0)};
    driver d = driver_make(place, (nbody_scheme)scheme, pi / omega / steps, pi / omega, 0);
    driver_law(&d, "pair", "lj");
    for (int i = 0; i < 2; i++) driver_add(&d, &nbody_body_schema, &two[i]);
    driver_create(&d);
    driver_run(&d);
    /* Half an oscillation later the energy is the same on the other side. The period is longer by some 30 A^2 of it,
     * and steps are ahead by (omega dt)^2/24: a phase that changes the distance in second order. Rounding: fp32 terms
     * of a force that is the difference of two terms of 24/r0. */
    const double phase = pow(pi / steps, 2) / 24 * pi + 100 * pi * amplitude * amplitude;
    const double rounding = 200 * unit + 7 * steps * 1.2 * unit, expected = far_end(r0 + amplitude);
    const double bound = amplitude * (phase * phase + 1e-9) + rounding;
    if (!(fabs(distance(&d, 0, 1) - expected) < bound))
      fail_msg("far end: off by %g, bound %g", distance(&d, 0, 1) - expected, bound);
    const double speed = fabs(driver_get(&d, "velocity", 0, 1) - driver_get(&d, "velocity", 0, 0));
    if (!(speed < omega * amplitude * phase + omega * rounding)) fail_msg("speed %g at the far end", speed);
    finish(&d);
  }
}

static void test_dimer(void **state) {
  (void)state;
  driver_everywhere(dimer);
}

/* Returns the energy of 13 bodies: 12 at the corners of an icosahedron, at distance a from the body in the middle. */
static double icosahedron_energy(double a) {
  static const struct {
    double over_a;
    int count;
  } known[] = {{1, 12}, {1.0514622242382672, 30}, {1.7013016167040798, 30}, {2, 6}};
  double sum = 0;
  for (int k = 0; k < 4; k++) {
    const double s = pow(known[k].over_a * a, -6);
    sum += known[k].count * 4 * (s * s - s);
  }
  return sum;
}

static double best_radius(void) {
  double low = 1, high = 1.2;
  while (high - low > 1e-9) {
    const double third = (high - low) / 3;
    if (icosahedron_energy(low + third) < icosahedron_energy(high - third))
      high -= third;
    else
      low += third;
  }
  return (low + high) / 2;
}

/* The cluster of 13 is in equilibrium with the energy -44.326801 (D. J. Wales and J. P. K. Doye, J. Phys. Chem. A 101
 * (1997) 5111). Displaced, it oscillates and conserves its energy, and no distance falls below 0.9. */
static void cluster(driver_place place) {
  const double a = best_radius(), g = (1 + sqrt(5)) / 2, scale = a / sqrt(1 + g * g);
  nbody_body bodies[13] = {body(1, 0, 0, 0)};
  for (int k = 0; k < 12; k++) {
    const double p = k & 1 ? scale : -scale, q = k & 2 ? g * scale : -g * scale;
    const int turn = k / 4;
    double x[3];
    x[turn] = 0;
    x[(turn + 1) % 3] = p;
    x[(turn + 2) % 3] = q;
    bodies[1 + k] = body(1, x[0], x[1], x[2]);
  }
  const double unit = place.precision == SIM_DOUBLE ? 0x1p-53 : 0x1p-24;
  for (int scheme = NBODY_LEAPFROG; scheme <= NBODY_HERMITE4; scheme++) {
    for (int swing = 0; swing < 2; swing++) {
      if (swing) bodies[3].group.velocity[0] = 0.8;
      driver d = driver_make(place, (nbody_scheme)scheme, 1.0 / 1024, swing ? 1 : 1.0 / 1024, 0);
      driver_law(&d, "pair", "lj");
      driver_observe(&d, "virial", SIM_SUM);
      d.parameters.common.precision = (int)place.precision;
      for (int k = 0; k < 13; k++) driver_add(&d, &nbody_body_schema, &bodies[k]);
      driver_create(&d);
      const double energy = driver_value(&d, "energy", "potential");
      /* Six decimals are known. The potential is fp64, of positions that fp32 rounds by 2^-25 where forces are in
       * equilibrium. */
      assert_true(fabs(energy + 44.326801) < 1e-6);
      if (!swing) {
        /* Virial: minus the sum of r dphi/dr, 0 at the best radius: 1e-9 of it at a stiffness of 12 x 400; terms of 24
         * each in the precision of the pairs. */
        if (!(fabs(driver_value(&d, "observe", "virial")) < 1e-5 + 78 * 24 * 10 * unit))
          fail_msg("virial %g", driver_value(&d, "observe", "virial"));
        for (int i = 0; i < 13; i++)
          for (int c = 0; c < 3; c++)
            assert_true(fabs(driver_get(&d, "acceleration", c, i)) < 1e-5 + 12 * 24 * 10 * unit);
      } else {
        double least = INFINITY, worst = 0;
        while (d.clock.t < d.clock.t_end) {
          driver_step(&d);
          worst = fmax(worst, fabs(driver_value(&d, "energy", "total") - energy - 0.32));
          for (int i = 0; i < 13; i++)
            for (int k = 0; k < i; k++) least = fmin(least, distance(&d, i, k));
        }
        /* The fastest oscillation has omega of about 30: (omega dt)^2/8 of an energy of 0.32 for leapfrog, less in
         * higher orders. fp32: 1024 steps of 13 bodies at speeds up to 0.8, with forces wrong by 240 units each. */
        const double bound =
            (scheme == NBODY_LEAPFROG ? 0.32 * 1e-3 / 8 : 1e-6) + (unit > 1e-10 ? 240 * unit * 13 * 0.8 : 1e-10);
        if (!(worst < bound)) fail_msg("energy off by %g, bound %g, scheme %d", worst, bound, scheme);
        assert_true(least > 0.9 && least < a);
      }
      finish(&d);
      bodies[3].group.velocity[0] = 0;
    }
  }
}

static void test_cluster(void **state) {
  (void)state;
  driver_everywhere(cluster);
}

/* Adaptive steps of an unsoftened law: two bodies in a head-on collision, which the last steps resolve. */
static void collision(driver_place place) {
  nbody_body two[] = {body(1, 0, 0, 0), body(1, 3, 0, 0)};
  two[1].group.velocity[0] = -2;
  driver d = driver_make(place, NBODY_HERMITE4, NAN, 2, 0);
  driver_law(&d, "pair", "lj");
  d.parameters.integrate.eta = 0.003;
  for (int i = 0; i < 2; i++) driver_add(&d, &nbody_body_schema, &two[i]);
  driver_create(&d);
  double least = INFINITY;
  while (d.clock.t < d.clock.t_end) {
    driver_step(&d);
    least = fmin(least, distance(&d, 0, 1));
  }
  /* At the closest point phi is the energy of the relative motion, 1 + phi(3), with s = r^-6: 4 (s^2 - s). A step there
   * is at most 0.01 long, in which the distance changes in second order: by 100/2 (0.01)^2. */
  const double e = 1 + lennard_jones(3), s = (1 + sqrt(1 + e)) / 2;
  if (!(fabs(least - pow(s, -1.0 / 6)) < 5e-3)) fail_msg("closest %g, expected %g", least, pow(s, -1.0 / 6));
  assert_true(fabs(driver_value(&d, "energy", "error")) < 1e-4);
  assert_true(driver_get(&d, "velocity", 0, 0) < -1.9); /* the momentum has been transferred */
  finish(&d);
}

static void test_collision(void **state) {
  (void)state;
  driver_everywhere(collision);
}

/* ---- a force without potential ---- */

/* f = 1: two bodies of masses 1 and 3 oscillate about each other with omega^2 = 4. */
static void spring(driver_place place) {
  nbody_body two[] = {body(1, 1, 0, 0), body(3, -1, 0, 0)};
  driver d = driver_make(place, NBODY_YOSHIDA4, pi / 256, pi / 2, 0);
  driver_law(&d, "pair_force", "spring");
  for (int i = 0; i < 2; i++) driver_add(&d, &nbody_body_schema, &two[i]);
  driver_create(&d);
  driver_run(&d);
  /* After half a period both are mirrored at their centre, -0.5. Yoshida's phase error is 0.07 (omega dt)^4 omega t,
   * which counts in second order here; rounding as above. */
  const double bound = 1e-8 + 7 * 128 * 4 * (place.precision == SIM_DOUBLE ? 0x1p-53 : 0x1p-24);
  assert_true(fabs(driver_get(&d, "position", 0, 0) + 2) < bound);
  assert_true(fabs(driver_get(&d, "position", 0, 1)) < bound);
  assert_true(isnan(driver_value(&d, "energy", "total")));
  finish(&d);
}

static void test_spring(void **state) {
  (void)state;
  driver_everywhere(spring);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_gravity), cmocka_unit_test(test_dimer),
                                     cmocka_unit_test(test_cluster), cmocka_unit_test(test_collision),
                                     cmocka_unit_test(test_spring)};
  functions_load(lua);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  functions_free();
  return failed;
}
