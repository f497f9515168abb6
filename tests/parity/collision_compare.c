#include "tests/parity/collision_compare.h"

#include "engine/device/cuda.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

void collision_on_gpu(driver *d) { d->setup.backend = &sim_backend_cuda; }

/* The sums over time of a gas are integers only on a GPU. Energies, in `controller`, are sums in another order. */
static bool summed(const char *name) { return strcmp(name, "virial") == 0 || strcmp(name, "dissipated") == 0; }

static void expect_same(driver *a, driver *b, bool whole, const char *what) {
  driver_frame one, two;
  driver_keep(a, &one);
  driver_keep(b, &two);
  assert_int_equal(one.frame.array_count, two.frame.array_count);
  for (size_t k = 0; k < one.frame.array_count; k++) {
    const sim_array *x = &one.arrays[k], *y = &two.arrays[k];
    const size_t bytes = sim_array_bytes(x);
    assert_string_equal(x->field->name, y->field->name);
    assert_int_equal(bytes, sim_array_bytes(y));
    if ((whole && summed(x->field->name)) || strcmp(x->field->name, "controller") == 0) continue;
    size_t at = 0;
    while (at < bytes && ((const char *)x->data)[at] == ((const char *)y->data)[at]) at++;
    if (at < bytes) fail_msg("%s: %s differs from byte %zu of %zu", what, x->field->name, at, bytes);
  }
  driver_frame_free(&one);
  driver_frame_free(&two);
}

/* Compares sums of n terms in another order. */
static void expect_near(driver *a, driver *b, const char *table, const char *column, double scale) {
  const double x = driver_value(a, table, column), y = driver_value(b, table, column);
  if (!(fabs(x - y) <= 1e-10 * fmax(fabs(scale), fabs(x)))) fail_msg("%s: %.17g and %.17g", column, x, y);
}

static void expect_sums(driver *a, driver *b) {
  const double energy = driver_value(a, "energy", "total");
  expect_near(a, b, "energy", "kinetic", energy);
  expect_near(a, b, "energy", "rotational", energy);
  const double potential = driver_value(a, "energy", "potential");
  if (!isnan(potential) || !isnan(driver_value(b, "energy", "potential")))
    expect_near(a, b, "energy", "potential", energy);
  expect_near(a, b, "energy", "work", energy);
  expect_near(a, b, "contacts", "collisions", 1);
  expect_near(a, b, "contacts", "coordination", 1);
  expect_near(a, b, "contacts", "wall_contacts", 1);
  expect_near(a, b, "gas", "temperature_xy", energy);
}

/* Compares integers of 2^-40 of an energy at full overlap: contacts' sums to 1e-6 of them. */
static void expect_close(driver *a, driver *b, const char *table, const char *column) {
  const double x = driver_value(a, table, column), y = driver_value(b, table, column);
  if (!(fabs(x - y) <= 1e-6 * fabs(x))) fail_msg("%s: %.17g and %.17g", column, x, y);
}

void collision_compare(driver here, driver there, bool whole, const char *what) {
  driver_frame saved;
  driver again = there;
  collision_on_gpu(&there);
  collision_on_gpu(&again);
  driver_create(&here);
  driver_create(&there);
  here.clock.t_end = there.clock.t_end = 1e9; /* a run that continues: more grains come than were planned for */
  expect_same(&here, &there, whole, "start");
  for (int k = 0; k < 400; k++) {
    /* As at the end of a run that continues: a step of 0.3 dt, and one that makes up for it. */
    const double end = here.clock.t_end;
    if (k == 100) here.clock.t_end = there.clock.t_end = here.clock.t + 0.3 * here.clock.dt;
    driver_step(&here);
    driver_step(&there);
    here.clock.t_end = there.clock.t_end = end;
    if (k == 0) expect_same(&here, &there, whole, "one step");
    if (k == 149) driver_keep(&there, &saved);
  }
  expect_same(&here, &there, whole, what);
  expect_sums(&here, &there);
  expect_close(&here, &there, "energy", "elastic");
  expect_close(&here, &there, "energy", "dissipated");
  expect_close(&here, &there, "gas", "pressure");
  expect_close(&here, &there, "gas", "virial_time");
  expect_close(&here, &there, "contacts", "overlap");
  /* From the middle on, with lists rebuilt at other times. */
  driver_restore(&again, &saved.frame);
  again.clock.t_end = 1e9;
  while (again.clock.step < there.clock.step) driver_step(&again);
  expect_same(&there, &again, false, "restart");
  assert_true(driver_value(&there, "contacts", "collisions") > 0);
  driver_frame_free(&saved);
  driver_destroy(&here);
  driver_destroy(&there);
  driver_destroy(&again);
}
