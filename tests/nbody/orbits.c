/* Few bodies with known motion; and the clock. */
#include "tests/nbody/driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const double pi = 3.14159265358979323846;

static nbody_body body(double mass, double x, double y, double vx, double vy) {
  return (nbody_body){.group = {.position = {x, y, 0}, .velocity = {vx, vy, 0}}, .mass = mass};
}

/* ---- Kepler: ten orbits of e = 0.5, semi-major axis 1, from the nearest point ---- */

static double kepler_error(driver_place place, nbody_scheme scheme, int steps) {
  driver d = driver_make(place, scheme, 2 * pi / steps, 20 * pi, 0);
  const double r = 0.5, v = sqrt(3.0);
  nbody_body first = body(0.5, r / 2, 0, 0, v / 2), second = body(0.5, -r / 2, 0, 0, -v / 2);
  driver_add(&d, &nbody_body_schema, &first);
  driver_add(&d, &nbody_body_schema, &second);
  driver_create(&d);
  double worst = 0;
  while (d.clock.t < d.clock.t_end) {
    driver_step(&d);
    worst = fmax(worst, fabs(driver_value(&d, "energy", "error")));
  }
  assert_int_equal(d.clock.step, 10 * steps);
  driver_destroy(&d);
  return worst;
}

/* Returns the contribution of rounding. Single: a rounding of v changes E = -1/2 by up to v^2 2^-25 = 1e-7 at the
 * nearest point, 5e-8 on the average of the orbit. `roundings` of them in each step add up at random, and 4 standard
 * deviations are allowed. Mixed: a force that is wrong by 2^-22 throughout acts as another G, which moves E by 2^-22
 * |U|, at most 4 |E|. */
static double rounding(sim_precision precision, int roundings, int steps) {
  if (precision == SIM_SINGLE) return 4 * 5e-8 * sqrt((double)roundings * 10 * steps);
  return precision == SIM_MIXED ? 0x1p-20 : 0;
}

static void kepler(driver_place place) {
  static const struct {
    nbody_scheme scheme;
    int order, roundings;
    double error[4]; /* at 128, 256, 512, 1024 steps an orbit */
  } known[] = {{NBODY_LEAPFROG, 2, 3, {6.6e-3, 1.6e-3, 4.1e-4, 1.02e-4}},
               {NBODY_YOSHIDA4, 4, 7, {1.2e-4, 7.5e-6, 4.7e-7, 3.0e-8}},
               {NBODY_HERMITE4, 4, 2, {3.7e-5, 2.4e-6, 1.5e-7, 9.4e-9}}};
  for (size_t s = 0; s < sizeof known / sizeof *known; s++) {
    double before = 0;
    for (int k = 0; k < 4; k++) {
      const int steps = 128 << k;
      const double error = kepler_error(place, known[s].scheme, steps), expected = known[s].error[k];
      const double floor = rounding(place.precision, known[s].roundings, steps);
      assert_true(fabs(error - expected) <= 0.2 * expected + floor); /* 20 %: the values have two digits */
      /* The next order contributes at most dt/T of the leading one: 0.1 in the slope. */
      if (k > 0 && place.precision == SIM_DOUBLE) assert_true(fabs(log2(before / error) - known[s].order) <= 0.1);
      before = error;
    }
  }
}

static void test_kepler(void **state) {
  (void)state;
  driver_everywhere(kepler);
}

/* ---- figure-eight (Chenciner and Montgomery 2000) ---- */

static void figure_eight(driver_place place) {
  const double x = 0.97000436, y = -0.24308753, vx = -0.93240737, vy = -0.86473146, period = 6.32591398;
  for (int scheme = NBODY_YOSHIDA4; scheme <= NBODY_HERMITE4; scheme++) {
    driver d = driver_make(place, (nbody_scheme)scheme, period / 4096, period, 0);
    nbody_body three[] = {body(1, x, y, -vx / 2, -vy / 2), body(1, -x, -y, -vx / 2, -vy / 2), body(1, 0, 0, vx, vy)};
    for (int i = 0; i < 3; i++) driver_add(&d, &nbody_body_schema, &three[i]);
    driver_create(&d);
    /* Single: the velocities are rounded, 2^-24 each. */
    const double exact = place.precision == SIM_SINGLE ? 5e-7 : 5e-8;
    assert_true(fabs(driver_value(&d, "energy", "total") + 1.2871420) < exact);
    driver_run(&d);
    double closure = 0;
    for (int i = 0; i < 3; i++) {
      closure = fmax(closure, fabs(driver_get(&d, "position", 0, i) - three[i].group.position[0]));
      closure = fmax(closure, fabs(driver_get(&d, "position", 1, i) - three[i].group.position[1]));
    }
    /* Eight digits of the start leave some 1e-7. fp32 state: 4096 times 7 roundings of 2^-25 make v, and so E, wrong by
     * 5e-6 (1 standard deviation). The period follows E by 3/2, and the path is 6.3 times 1.3 long: 6e-5, and three
     * times that. fp32 pairs: a force wrong by 2^-22 adds a phase of half that share of the path, 1e-6. */
    const double bound = place.precision == SIM_SINGLE ? 2e-4 : place.precision == SIM_MIXED ? 2e-6 : 1e-6;
    if (!(closure < bound)) fail_msg("closure %g, scheme %d", closure, scheme);
    driver_destroy(&d);
  }
}

static void test_figure_eight(void **state) {
  (void)state;
  driver_everywhere(figure_eight);
}

/* ---- Pythagorean problem (Burrau 1913) ---- */

static double separation(driver *d, int i, int k) {
  return hypot(driver_get(d, "position", 0, i) - driver_get(d, "position", 0, k),
               driver_get(d, "position", 1, i) - driver_get(d, "position", 1, k));
}

static void pythagorean(driver_place place) {
  driver d = driver_make(place, NBODY_HERMITE4, NAN, 16, 0);
  d.parameters.integrate.eta = 1e-3;
  nbody_body three[] = {body(3, 1, 3, 0, 0), body(4, -2, -1, 0, 0), body(5, 1, -1, 0, 0)};
  for (int i = 0; i < 3; i++) driver_add(&d, &nbody_body_schema, &three[i]);
  driver_create(&d);
  assert_true(fabs(driver_value(&d, "energy", "total") + 12.816667) < 1e-6);
  double least = INFINITY, when = 0;
  int first = 0, second = 0;
  while (d.clock.t < d.clock.t_end) {
    driver_step(&d);
    for (int i = 0; i < 3; i++) {
      for (int k = 0; k < i; k++) {
        if (separation(&d, i, k) >= least) continue;
        least = separation(&d, i, k);
        when = d.clock.t;
        first = k;
        second = i;
      }
    }
  }
  assert_true(d.clock.t == 16);
  print_message("    %g at t = %.6f, dE/E = %.2g, %lld steps\n", least, when, driver_value(&d, "energy", "error"),
                (long long)d.clock.step);
  assert_true(first == 1 && second == 2);
  /* Three digits of 4.14e-4 and four decimals of 15.8299 are known. A step there is some 1e-6 long. */
  assert_true(fabs(least - 4.14e-4) < 1e-6);
  assert_true(fabs(when - 15.8299) < 1e-4);
  driver_destroy(&d);
}

static void test_pythagorean(void **state) {
  (void)state;
  driver_everywhere_in(SIM_DOUBLE, pythagorean);
}

/* ---- the clock ---- */

static void clock_of_steps(driver_place place) {
  static const struct {
    double dt, t_end;
    int64_t steps;
    double last; /* length of the last step */
  } known[] = {{0.1, 1, 10, 0.1}, {0.3, 1, 4, 0.1}, {0x1p-6, 1, 64, 0x1p-6}, {5, 2, 1, 2}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    driver d = driver_make(place, NBODY_LEAPFROG, known[i].dt, known[i].t_end, 0);
    nbody_body alone = body(1, 0, 0, 1, 0);
    driver_add(&d, &nbody_body_schema, &alone);
    driver_create(&d);
    for (int64_t step = 1; step < known[i].steps; step++) {
      driver_step(&d);
      assert_true(d.clock.t == (double)step * known[i].dt); /* a product, not a sum */
    }
    driver_step(&d);
    assert_true(d.clock.t == known[i].t_end && d.clock.step == known[i].steps);
    assert_true(fabs(d.clock.dt - known[i].last) < 1e-15);
    /* A free body: its position is the sum of the steps; up to 64 roundings. */
    const double unit = place.precision == SIM_SINGLE ? 0x1p-24 : 0x1p-53;
    assert_true(fabs(driver_get(&d, "position", 0, 0) - known[i].t_end) <= 64 * known[i].t_end * unit);
    driver_destroy(&d);
  }
}

static void test_clock(void **state) {
  (void)state;
  driver_everywhere(clock_of_steps);
}

/* Three schemes with adaptive steps end exactly at t_end, and follow eta: half the error needs more steps. */
static void adaptive(driver_place place) {
  for (int scheme = NBODY_LEAPFROG; scheme <= NBODY_HERMITE4; scheme++) {
    int64_t steps[2];
    for (int fine = 0; fine < 2; fine++) {
      driver d = driver_make(place, (nbody_scheme)scheme, NAN, 2 * pi, 0.05);
      d.parameters.integrate.eta = fine ? 0.01 : 0.04;
      nbody_body pair[] = {body(0.5, 0.5, 0, 0, 0.3), body(0.5, -0.5, 0, 0, -0.3)};
      for (int i = 0; i < 2; i++) driver_add(&d, &nbody_body_schema, &pair[i]);
      driver_create(&d);
      driver_run(&d);
      assert_true(d.clock.t == d.clock.t_end);
      steps[fine] = d.clock.step;
      /* At least 100 steps in each passage: at most leapfrog's (2 pi/100)^2 / 12. */
      assert_true(fabs(driver_value(&d, "energy", "error")) < 1e-3);
      driver_destroy(&d);
    }
    /* dt is proportional to eta, or to its root for Aarseth's formula; a tenth for the ends */
    const double ratio = (double)steps[1] / (double)steps[0], expected = scheme == NBODY_HERMITE4 ? 2 : 4;
    if (fabs(ratio - expected) > 0.1 * expected) fail_msg("scheme %d: %g times the steps", scheme, ratio);
  }
}

static void test_adaptive(void **state) {
  (void)state;
  driver_everywhere(adaptive);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_kepler), cmocka_unit_test(test_figure_eight),
                                     cmocka_unit_test(test_pythagorean), cmocka_unit_test(test_clock),
                                     cmocka_unit_test(test_adaptive)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
