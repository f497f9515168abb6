/* Whole runs by fast multipoles: a cold collapse and two galaxies compared with direct sums, restarts, and the stored
 * method. */
#include "kernels/nbody/run.h"
#include "tests/nbody/driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static nbody_uniform_sphere sphere = {.group = {.species = "stars"}, .n = 3000, .mass = 1, .radius = 1};

static driver collapse(driver_place place, nbody_method method, double t_end) {
  driver d = driver_make(place, NBODY_LEAPFROG, 1.0 / 128, t_end, 0.1);
  d.parameters.gravity.solver = method;
  driver_add(&d, &nbody_uniform_sphere_schema, &sphere);
  driver_create(&d);
  return d;
}

/* A cold collapse through its bounce. The change of the energy is that of direct sums, which comes from the step,
 * within the error of the force asked for. */
static void collapse_as_direct(driver_place place) {
  if (place.backend->kind != SIM_BACKEND_CPU) return;
  driver direct = collapse(place, NBODY_DIRECT, 1.25), fmm = collapse(place, NBODY_FMM, 1.25);
  const double radius = driver_value(&fmm, "lagrangian", "r50");
  driver_run(&direct);
  driver_run(&fmm);
  const double error = driver_value(&fmm, "energy", "error"), of_direct = driver_value(&direct, "energy", "error");
  if (!(fabs(error - of_direct) < NBODY_ERROR)) fail_msg("energy error %.3g, of direct sums %.3g", error, of_direct);
  assert_true(driver_value(&fmm, "lagrangian", "r50") < 0.6 * radius); /* the sphere has collapsed */
  driver_destroy(&direct);
  driver_destroy(&fmm);
}

static nbody_sphere galaxy[2] = {{.group = {.species = "stars", .position = {-2, 0.5, 0}, .velocity = {0.5, 0, 0}},
                                  .n = 1500,
                                  .mass = 1,
                                  .radius = 1},
                                 {.group = {.species = "stars", .position = {2, -0.5, 0}, .velocity = {-0.5, 0, 0}},
                                  .n = 1500,
                                  .mass = 1,
                                  .radius = 1}};

static driver collision(driver_place place, nbody_method method, double t_end) {
  driver d = driver_make(place, NBODY_LEAPFROG, 1.0 / 32, t_end, 0.1);
  d.parameters.gravity.solver = method;
  for (int k = 0; k < 2; k++) {
    galaxy[k].cutoff = NAN;
    driver_add(&d, &nbody_hernquist_schema, &galaxy[k]);
  }
  driver_create(&d);
  return d;
}

/* Returns the mean x of the first galaxy. */
static double place_of(driver *d) {
  double sum = 0;
  for (int i = 0; i < 1500; i++) sum += driver_get(d, "position", 0, i);
  return sum / 1500;
}

/* Two galaxies pass through each other; energies as above. Positions of the galaxies follow from accelerations with
 * errors of random direction, below NBODY_ERROR of about 0.3, over 5 times: 0.3 / 2 * 25 * 1e-4 for errors of one
 * direction. */
static void collide_as_direct(driver_place place) {
  if (place.backend->kind != SIM_BACKEND_CPU) return;
  driver direct = collision(place, NBODY_DIRECT, 5), fmm = collision(place, NBODY_FMM, 5);
  assert_true(place_of(&fmm) < -1.5);
  driver_run(&direct);
  driver_run(&fmm);
  const double error = driver_value(&fmm, "energy", "error"), of_direct = driver_value(&direct, "energy", "error");
  const double at = place_of(&fmm), expected = place_of(&direct);
  print_message("    energy error %.3g, of direct sums %.3g; first galaxy at %.6g and %.6g\n", error, of_direct, at,
                expected);
  if (!(fabs(error - of_direct) < NBODY_ERROR)) fail_msg("energy error %.3g, of direct sums %.3g", error, of_direct);
  assert_true(expected > 0); /* the galaxies have passed each other */
  if (!(fabs(at - expected) < 0.15 * 25 * NBODY_ERROR)) fail_msg("a galaxy at %.6g, expected %.6g", at, expected);
  driver_destroy(&direct);
  driver_destroy(&fmm);
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Returns the median over the bodies of the length of one - two, [3][BODIES] each. */
enum { BODIES = 3000 };
static double median_distance(const double *one, const double *two) {
  static double distance[BODIES];
  for (int i = 0; i < BODIES; i++) {
    double d2 = 0;
    for (int k = i; k < 3 * BODIES; k += BODIES) d2 += (one[k] - two[k]) * (one[k] - two[k]);
    distance[i] = sqrt(d2);
  }
  qsort(distance, BODIES, sizeof *distance, ascending);
  return distance[BODIES / 2];
}

static void read_positions(driver *d, double *x) {
  for (int k = 0; k < 3 * BODIES; k++) x[k] = driver_get(d, "position", k / BODIES, k % BODIES);
}

/* A body's displacement by forces is the double integral of its acceleration. If all errors are NBODY_ERROR of it and
 * in one direction, the displacement errs by as much. Differences grow by the tides, whose rate is at most some (2 /
 * r^3)^(1/2) = 1.4 at the start, over times up to 1: by less than cosh(1.4) = 2.2. */
static void expect_positions(driver direct, driver fmm, const char *what) {
  static double start[3 * BODIES], expected[3 * BODIES], got[3 * BODIES];
  for (int k = 0; k < 3 * BODIES; k++)
    start[k] = driver_get(&direct, "position", k / BODIES, k % BODIES) +
               direct.clock.t_end * driver_get(&direct, "velocity", k / BODIES, k % BODIES);
  driver_run(&direct);
  driver_run(&fmm);
  read_positions(&direct, expected);
  read_positions(&fmm, got);
  const double off = median_distance(got, expected), moved = median_distance(expected, start);
  print_message("    %s: positions differ by %.2g of what forces have moved the bodies by\n", what, off / moved);
  if (!(off < 2.2 * NBODY_ERROR * moved)) fail_msg("%s: positions differ by %g, moved by %g", what, off, moved);
  assert_true(off > 0);
  driver_destroy(&direct);
  driver_destroy(&fmm);
}

static void move_as_direct(driver_place place) {
  if (place.backend->kind != SIM_BACKEND_CPU) return;
  expect_positions(collapse(place, NBODY_DIRECT, 0.75), collapse(place, NBODY_FMM, 0.75), "cold collapse");
  expect_positions(collision(place, NBODY_DIRECT, 1), collision(place, NBODY_FMM, 1), "two galaxies");
}

static void moves(void **unused) {
  (void)unused;
  driver_everywhere(move_as_direct);
}

static void collides(void **unused) {
  (void)unused;
  driver_everywhere(collide_as_direct);
}

static void collapses(void **unused) {
  (void)unused;
  driver_everywhere(collapse_as_direct);
}

/* A run of 21 steps, and a run that is restored after 7. */
static void restart_at(driver_place place) {
  if (place.backend->kind != SIM_BACKEND_CPU) return;
  char straight[33], restored[33];
  driver a = collapse(place, NBODY_FMM, 1.25), b = collapse(place, NBODY_FMM, 1.25), c = b;
  driver_frame kept;
  for (int step = 0; step < 21; step++) driver_step(&a);
  for (int step = 0; step < 7; step++) driver_step(&b);
  driver_keep(&b, &kept);
  c.self = NULL;
  driver_restore(&c, &kept.frame);
  for (int step = 7; step < 21; step++) driver_step(&c);
  driver_digest(&a, straight);
  driver_digest(&c, restored);
  assert_string_equal(straight, restored);
  driver_frame_free(&kept);
  driver_destroy(&a);
  driver_destroy(&b);
  driver_destroy(&c);
}

static void restarts(void **unused) {
  (void)unused;
  driver_everywhere(restart_at);
}

/* A run continues with the method and the settings of its checkpoint, whatever "auto" would choose now. An older
 * checkpoint without them opens and chooses anew. */
static void method_kept(void **unused) {
  (void)unused;
  static const nbody_method begun[] = {NBODY_FMM, NBODY_DIRECT};
  static const char *const names[] = {"order 5, angle 0.6 (leaves of 32); as the run has begun",
                                      "direct sum (Newton's third law, blocks of 128); as the run has begun"};
  const driver_place place = {&sim_backend_cpu, SIM_DOUBLE};
  for (int k = 0; k < 2; k++)
    for (int before = 0; before < 2; before++) {
      driver a = collapse(place, begun[k], 1.25), b = a;
      driver_frame kept;
      char text[400];
      driver_keep(&a, &kept);
      driver_destroy(&a);
      for (size_t i = 0; i < kept.frame.array_count; i++) {
        if (strcmp(kept.arrays[i].field->name, "controller") != 0) continue;
        double *const x = kept.arrays[i].data;
        assert_true(x[NBODY_METHOD] == begun[k]);
        if (begun[k] == NBODY_FMM) x[NBODY_ORDER] = 5, x[NBODY_ANGLE] = 0.6, x[NBODY_LEAF] = 32;
        if (before) kept.arrays[i].shape[0] = NBODY_CONTROLS_EARLIER;
      }
      b.self = NULL;
      b.parameters.gravity.solver = NBODY_AUTO;
      driver_restore(&b, &kept.frame);
      nbody_model.describe(b.self, text, sizeof text);
      if (strstr(text, before ? "; auto: faster" : names[k]) == NULL) fail_msg("%s", text);
      driver_step(&b);
      driver_destroy(&b);
      driver_frame_free(&kept);
    }
}

/* Damaged settings are refused by name. */
static void method_damaged(void **unused) {
  (void)unused;
  static const double damage[][2] = {{NBODY_METHOD, 3}, {NBODY_ORDER, 7},  {NBODY_ORDER, 3.5}, {NBODY_ANGLE, 0},
                                     {NBODY_WEIGHT, 9}, {NBODY_LEAF, 1e9}, {NBODY_LEAF, 8.5}};
  const driver_place place = {&sim_backend_cpu, SIM_DOUBLE};
  for (size_t k = 0; k < sizeof damage / sizeof *damage; k++) {
    driver a = collapse(place, NBODY_FMM, 1.25), b = a;
    driver_frame kept;
    char expected[64];
    driver_keep(&a, &kept);
    driver_destroy(&a);
    for (size_t i = 0; i < kept.frame.array_count; i++)
      if (strcmp(kept.arrays[i].field->name, "controller") == 0)
        ((double *)kept.arrays[i].data)[(int)damage[k][0]] = damage[k][1];
    b.self = NULL;
    b.parameters.bodies.items = b.items;
    b.setup.saved = &kept.frame;
    assert_int_equal(nbody_model.create(&b.parameters, &b.setup, &b.clock, &b.self), SIM_ERR_INCOMPATIBLE);
    snprintf(expected, sizeof expected, "controller[%d]", (int)damage[k][0]);
    if (strstr(sim_error_last()->message, expected) == NULL) fail_msg("%s", sim_error_last()->message);
    driver_frame_free(&kept);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(moves),       cmocka_unit_test(collapses),
                                     cmocka_unit_test(collides),    cmocka_unit_test(restarts),
                                     cmocka_unit_test(method_kept), cmocka_unit_test(method_damaged)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
