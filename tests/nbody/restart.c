/* The same bits: stopped and continued or not, with any number of threads, with tables or without. */
#include "tests/nbody/driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { STEPS = 12, SMALL = 40, LARGE = 1100 };

typedef struct situation {
  driver_place place;
  nbody_scheme scheme;
  bool adaptive;
  int64_t n;
  int threads;
} situation;

/* Bodies: two species whose groups are mixed. */
static nbody_sphere groups[3];

static driver make(const situation *s) {
  driver d = driver_make(s->place, s->scheme, s->adaptive ? NAN : 0x1p-7, STEPS * 0x1p-7, 0.05);
  if (s->adaptive) { /* steps then differ, and there are about as many; dt_max limits none */
    d.parameters.integrate.eta = s->scheme == NBODY_HERMITE4 ? 0.003 : 0.1;
    d.parameters.integrate.dt_max = 1;
  }
  d.setup.threads = s->threads;
  for (int g = 0; g < 3; g++) {
    groups[g] = (nbody_sphere){.group = {.species = g == 1 ? "gas" : "stars", .position = {g, 0, 0}},
                               .n = s->n / 3,
                               .mass = 1,
                               .radius = 1,
                               .cutoff = NAN};
    driver_add(&d, &nbody_plummer_schema, &groups[g]);
  }
  return d;
}

static void whole(const situation *s, char digest[33], int64_t *steps) {
  driver d = make(s);
  driver_create(&d);
  double least = INFINITY, most = 0; /* steps, except the last one, which is cut at the end */
  while (d.clock.t < d.clock.t_end) {
    driver_step(&d);
    if (d.clock.t == d.clock.t_end) break;
    least = fmin(least, d.clock.dt);
    most = fmax(most, d.clock.dt);
  }
  if (s->adaptive && !(most > least)) fail_msg("all %lld adaptive steps are %g", (long long)d.clock.step, most);
  driver_digest(&d, digest);
  *steps = d.clock.step;
  driver_destroy(&d);
}

/* Stops after each of the given steps. Generators must not run again, which another seed would show. */
static void split(const situation *s, const int64_t *at, int count, char digest[33]) {
  driver d = make(s);
  driver_frame kept = {0};
  driver_create(&d);
  for (int k = 0; k < count; k++) {
    while (d.clock.step < at[k]) driver_step(&d);
    driver_frame_free(&kept);
    driver_keep(&d, &kept);
    driver_destroy(&d);
    d = make(s);
    d.parameters.common.seed = 99;
    driver_restore(&d, &kept.frame);
    assert_true(d.clock.step == at[k]);
  }
  driver_run(&d);
  driver_digest(&d, digest);
  driver_destroy(&d);
  driver_frame_free(&kept);
}

static void restart(driver_place place) {
  for (int scheme = NBODY_LEAPFROG; scheme <= NBODY_HERMITE4; scheme++) {
    for (int adaptive = 0; adaptive < 2; adaptive++) {
      const situation s = {place, (nbody_scheme)scheme, adaptive, SMALL, 1};
      char expected[33], got[33];
      int64_t steps;
      whole(&s, expected, &steps);
      assert_true(steps >= 6); /* some are between the cuts */
      const int64_t cuts[][5] = {{steps / 2}, {0, 1, 2, steps - 2, steps - 1}};
      static const int counts[] = {1, 5};
      for (int c = 0; c < 2; c++) {
        split(&s, cuts[c], counts[c], got);
        assert_string_equal(got, expected);
      }
    }
  }
}

static void test_restart(void **state) {
  (void)state;
  driver_everywhere(restart);
}

static void threads(driver_place place) {
  for (int scheme = NBODY_LEAPFROG; scheme <= NBODY_HERMITE4; scheme++) {
    const int several = scheme % 2 ? 2 : 7; /* in turn: the schemes share the loops over pairs */
    char expected[33], got[33];
    for (int k = 0; k < 2; k++) {
      const situation s = {place, (nbody_scheme)scheme, true, LARGE, k == 0 ? 1 : several};
      int64_t steps;
      whole(&s, k == 0 ? expected : got, &steps);
      if (k > 0) assert_string_equal(got, expected);
    }
  }
}

static void test_threads(void **state) {
  (void)state;
  driver_everywhere(threads);
}

/* Threads compute tables at every step: nothing changes, and the tables are the same for any number of threads. */
static void observing(driver_place place) {
  char expected[33], got[33];
  int64_t steps;
  double first[2] = {0};
  const situation s = {place, NBODY_LEAPFROG, false, 3000, 1};
  whole(&s, expected, &steps);
  for (int threads_used = 1; threads_used <= 3; threads_used += 2) {
    const situation t = {place, NBODY_LEAPFROG, false, 3000, threads_used};
    driver d = make(&t);
    driver_create(&d);
    double sum[2] = {0};
    while (d.clock.t < d.clock.t_end) {
      sum[0] += driver_value(&d, "energy", "total") + driver_value(&d, "energy", "angular_momentum_z");
      sum[1] += driver_value(&d, "lagrangian", "r50");
      driver_step(&d);
    }
    driver_digest(&d, got);
    assert_string_equal(got, expected);
    for (int k = 0; k < 2; k++) {
      if (threads_used == 1) first[k] = sum[k];
      assert_true(sum[k] == first[k]);
    }
    driver_destroy(&d);
  }
}

static void test_observing(void **state) {
  (void)state;
  driver_everywhere(observing);
}

/* A checkpoint that does not fit is refused by name. */
static void test_unfit(void **state) {
  (void)state;
  const situation s = {{&sim_backend_cpu, SIM_DOUBLE}, NBODY_LEAPFROG, false, SMALL, 1};
  static const struct {
    const char *message;
    int fault;
  } known[] = {{"checkpoint's jerk is missing", 0},
               {"checkpoint's velocity is missing or has another type", 1},
               {"checkpoint's mass is missing or has another", 2},
               {"species", 3}};
  for (int k = 0; k < 4; k++) {
    driver d = make(&s);
    driver_frame kept;
    driver_create(&d);
    driver_keep(&d, &kept);
    driver_destroy(&d);
    d = make(&s);
    if (known[k].fault == 0) d.parameters.integrate.scheme = NBODY_HERMITE4;
    for (size_t i = 0; i < kept.frame.array_count; i++) {
      sim_array *array = &kept.arrays[i];
      if (known[k].fault == 1 && strcmp(array->field->name, "velocity") == 0) array->dtype = SIM_F32;
      if (known[k].fault == 2 && strcmp(array->field->name, "mass") == 0) array->shape[0]--;
    }
    if (known[k].fault == 3) kept.species[1].count++;
    d.parameters.bodies.items = d.items;
    d.setup.saved = &kept.frame;
    assert_int_equal(nbody_model.create(&d.parameters, &d.setup, &d.clock, &d.self), SIM_ERR_INCOMPATIBLE);
    assert_non_null(strstr(sim_error_last()->message, known[k].message));
    assert_null(d.self);
    driver_frame_free(&kept);
  }
}

/* A run whose last step was shortened continues without a jump, and then in whole steps. A body without forces is at v
 * t: sums of up to 30 steps to some 30 ulp. */
static void later_end(driver_place place) {
  static nbody_body body;
  for (int scheme = 0; scheme < 3; scheme++) {
    const double ends[3] = {0.0205, 0.0212, 0.03}, rounding = place.precision == SIM_DOUBLE ? 1e-15 : 1e-6;
    driver d = driver_make(place, (nbody_scheme)scheme, 0.001, ends[0], 0.05);
    driver_frame kept;
    body = (nbody_body){.mass = 1, .group.velocity = {1, 0, 0}};
    driver_add(&d, &nbody_body_schema, &body);
    driver_create(&d);
    for (int k = 0; k < 3; k++) {
      driver_run(&d);
      assert_true(d.clock.t == ends[k]);
      assert_true(fabs(driver_get(&d, "position", 0, 0) - ends[k]) < rounding);
      if (k == 2) break;
      driver_keep(&d, &kept);
      driver_destroy(&d);
      d.parameters.integrate.t_end = ends[k + 1];
      driver_restore(&d, &kept.frame);
      driver_frame_free(&kept);
    }
    assert_true(d.clock.dt == 0.001);
    driver_destroy(&d);
  }
}

static void test_later_end(void **state) {
  (void)state;
  driver_everywhere(later_end);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_restart), cmocka_unit_test(test_threads),
                                     cmocka_unit_test(test_observing), cmocka_unit_test(test_unfit),
                                     cmocka_unit_test(test_later_end)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
