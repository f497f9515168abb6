/* Where bodies come from: order, species, placing, files, what is refused; and what a run will take. */
#include "tests/physics/driver.h"

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const driver_place here = {&sim_backend_cpu, SIM_DOUBLE};

static uint64_t id_at(driver *d, int64_t i) {
  driver_frame kept;
  driver_keep(d, &kept);
  const uint64_t id = ((const uint64_t *)sim_frame_array(&kept.frame, "id")->data)[i];
  driver_frame_free(&kept);
  return id;
}

/* Groups a, b, a: species stand together, ids count through the groups. */
static void test_order(void **state) {
  (void)state;
  driver d = driver_make(here, NBODY_LEAPFROG, 0.1, 1, 0.1);
  nbody_body one[] = {{.group = {.species = "a", .position = {1}}, .mass = 1},
                      {.group = {.species = "b", .position = {2}}, .mass = 2},
                      {.group = {.species = "a", .position = {3}}, .mass = 3}};
  for (int i = 0; i < 3; i++) driver_add(&d, &nbody_body_schema, &one[i]);
  driver_create(&d);
  driver_frame kept;
  driver_keep(&d, &kept);
  assert_int_equal(kept.frame.species_count, 2);
  assert_string_equal(kept.species[0].name, "a");
  assert_true(kept.species[0].first == 0 && kept.species[0].count == 2);
  assert_true(kept.species[1].first == 2 && kept.species[1].count == 1);
  driver_frame_free(&kept);
  static const uint64_t ids[] = {0, 2, 1};
  for (int i = 0; i < 3; i++) {
    assert_true(id_at(&d, i) == ids[i]);
    assert_true(driver_get(&d, "mass", 0, i) == (double)ids[i] + 1);
    assert_true(driver_get(&d, "position", 0, i) == (double)ids[i] + 1);
  }
  driver_destroy(&d);
}

/* A body is a function of seed and id: one group before another shifts the ids, and so changes it; a group after it
 * does not. */
static void test_random(void **state) {
  (void)state;
  double x[3];
  nbody_sphere first = {.n = 50, .mass = 1, .radius = 1, .cutoff = 5}, second = first;
  for (int k = 0; k < 3; k++) {
    driver d = driver_make(here, NBODY_LEAPFROG, 0.1, 1, 0.1);
    driver_add(&d, &nbody_plummer_schema, &first);
    if (k == 1) driver_add(&d, &nbody_plummer_schema, &second);
    if (k == 2) d.parameters.common.seed = 2;
    driver_create(&d);
    x[k] = driver_get(&d, "position", 0, 17);
    for (int64_t i = 0; i < 50; i++) {
      double r2 = 0;
      for (int c = 0; c < 3; c++) r2 += pow(driver_get(&d, "position", c, i), 2);
      assert_true(r2 < 36); /* the cutoff, and the shift of the centre */
    }
    driver_destroy(&d);
  }
  assert_true(x[0] == x[1]);
  assert_true(x[0] != x[2]);
}

/* 90 degrees about z, then moved: x goes to y. `each` is not turned or moved. */
static void test_placing(void **state) {
  (void)state;
  sim_doubles mass = {(double[]){1, 1}, 2, 1};
  sim_doubles position = {(double[]){1, 0, 0, -1, 0, 0}, 2, 3}, velocity = {(double[]){0, 0.5, 0, 0, -0.5, 0}, 2, 3};
  nbody_each pair = {.mass = mass, .position = position, .velocity = velocity};
  driver d = driver_make(here, NBODY_LEAPFROG, 0.1, 1, 0.1);
  driver_add(&d, &nbody_each_schema, &pair);
  driver_create(&d);
  assert_true(driver_get(&d, "position", 0, 1) == -1 && driver_get(&d, "velocity", 1, 0) == 0.5);
  driver_destroy(&d);

  nbody_exponential_disk disk = {.n = 400,
                                 .mass = 1,
                                 .radius = 1,
                                 .thickness = NAN,
                                 .Q = 1.5,
                                 .cutoff = NAN,
                                 .halo = {.n = 100, .species = "halo", .mass = 5, .radius = 3, .cutoff = NAN}};
  static const double turns[][3] = {{0, 0, 0}, {90, 0, 0}, {0, 90, 0}};
  static const char *const axis[] = {"angular_momentum_z", "angular_momentum_y", "angular_momentum_x"};
  double size = 0;
  for (int k = 0; k < 3; k++) {
    disk.group = (nbody_group){.species = "disk", .position = {5, 0, 0}};
    memcpy(disk.group.rotation, turns[k], sizeof turns[k]);
    d = driver_make(here, NBODY_LEAPFROG, 0.1, 1, 0.1);
    driver_add(&d, &nbody_exponential_disk_schema, &disk);
    driver_create(&d);
    assert_int_equal(driver_count(&d), 500);
    assert_true(fabs(driver_value(&d, "energy", "centre_x") - 5) < 1e-12);
    /* About x, z goes to -y; about y, z goes to x. */
    const double spin = driver_value(&d, "energy", axis[k]) * (k == 1 ? -1 : 1);
    if (k == 0) size = spin;
    assert_true(spin > 0.5);
    assert_true(fabs(spin / size - 1) < 1e-12);
    driver_destroy(&d);
  }
}

/* ---- files ---- */

static int64_t file_count;
static double file_mass;

static sim_status count_file(const char *path, const char *species, int64_t *count) {
  assert_string_equal(path, "folder/some.csv");
  assert_string_equal(species, "stars");
  *count = file_count;
  return SIM_OK;
}

static sim_status read_file(const char *path, const char *species, const sim_units *units, sim_particles *out) {
  (void)path, (void)species, (void)units;
  out->count = 2;
  out->mass = calloc(2, sizeof(double));
  for (int c = 0; c < 3; c++) {
    out->position[c] = calloc(2, sizeof(double));
    out->velocity[c] = calloc(2, sizeof(double));
  }
  out->mass[0] = 1;
  out->mass[1] = file_mass;
  out->position[1][1] = 7;
  return SIM_OK;
}

static sim_status create_from_file(int64_t count, double mass, driver *d) {
  static nbody_from_file file;
  file = (nbody_from_file){.path = "some.csv"};
  file_count = count;
  file_mass = mass;
  *d = driver_make(here, NBODY_LEAPFROG, 0.1, 1, 0);
  d->setup.folder = "folder";
  d->setup.count_particles = count_file;
  d->setup.read_particles = read_file;
  driver_add(d, &nbody_from_file_schema, &file);
  d->parameters.bodies.items = d->items;
  return nbody_model.create(&d->parameters, &d->setup, &d->clock, &d->self);
}

static void test_file(void **state) {
  (void)state;
  driver d;
  assert_int_equal(create_from_file(2, 3, &d), SIM_OK);
  assert_true(driver_get(&d, "mass", 0, 1) == 3 && driver_get(&d, "position", 1, 1) == 7);
  driver_destroy(&d);
  assert_int_equal(create_from_file(2, -3, &d), SIM_ERR_SCENARIO);
  assert_non_null(strstr(sim_error_last()->message, "body 2 has mass -3"));
  assert_int_equal(create_from_file(2, NAN, &d), SIM_ERR_SCENARIO);
  assert_int_equal(create_from_file(3, 1, &d), SIM_ERR_SCENARIO);
  assert_int_equal(create_from_file(0, 1, &d), SIM_ERR_SCENARIO);
}

/* ---- refused ---- */

/* Two bodies in one place without softening; apart in fp64, but not in fp32. */
static void test_coincident(void **state) {
  (void)state;
  for (int k = 0; k < 3; k++) {
    const driver_place place = {here.backend, k == 2 ? SIM_SINGLE : SIM_DOUBLE};
    driver d = driver_make(place, NBODY_LEAPFROG, 0.1, 1, k == 1 ? 0.1 : 0);
    nbody_body one[3] = {{.group.position = {1}, .mass = 1},
                         {.group.position = {5}, .mass = 1},
                         {.group.position = {k == 2 ? 1 + 1e-12 : 1}, .mass = 1}};
    for (int i = 0; i < 3; i++) driver_add(&d, &nbody_body_schema, &one[i]);
    d.parameters.bodies.items = d.items;
    const sim_status status = nbody_model.create(&d.parameters, &d.setup, &d.clock, &d.self);
    if (k == 1) {
      assert_int_equal(status, SIM_OK);
      driver_destroy(&d);
    } else {
      assert_int_equal(status, SIM_ERR_SCENARIO);
      assert_non_null(strstr(sim_error_last()->message, "0 and 2"));
    }
  }
}

static void assert_fault(driver *d, const char *expected) {
  sim_faults faults = {0};
  d->parameters.bodies.items = d->items;
  assert_int_equal(nbody_model.validate(&d->parameters, &faults), SIM_OK);
  if (faults.count != 1 || strstr(faults.text.data, expected) == NULL)
    fail_msg("expected one fault with \"%s\", got %zu: %s", expected, faults.count,
             faults.text.data != NULL ? faults.text.data : "");
  sim_faults_free(&faults);
}

static void test_rules(void **state) {
  (void)state;
  nbody_body one = {.mass = 1}, odd = {.group.species = "two words", .mass = 1}, light = {.mass = 0};
  driver d = driver_make(here, NBODY_LEAPFROG, NAN, 1, 0);
  driver_add(&d, &nbody_body_schema, &one);
  assert_fault(&d, "leapfrog then needs gravity.softening > 0; hermite4 does not");
  d = driver_make(here, NBODY_LEAPFROG, 1e-300, 1, 0);
  driver_add(&d, &nbody_body_schema, &one);
  assert_fault(&d, "at most 2^62 steps");
  d = driver_make(here, NBODY_LEAPFROG, 1e-18, 1, 0);
  driver_add(&d, &nbody_body_schema, &one);
  assert_fault(&d, "a step that moves the clock");
  d = driver_make(here, NBODY_LEAPFROG, 0.1, 1, 0);
  driver_add(&d, &nbody_body_schema, &odd);
  assert_fault(&d, "bodies[1].species: expected 1 to 63 letters");
  d = driver_make(here, NBODY_LEAPFROG, 0.1, 1, 0);
  driver_add(&d, &nbody_body_schema, &light);
  assert_fault(&d, "a body that has mass");
  sim_doubles two = {(double[]){1, -1}, 2, 1}, three = {(double[]){0, 0, 0}, 1, 3};
  nbody_each each = {.mass = two, .position = three, .velocity = three};
  d = driver_make(here, NBODY_LEAPFROG, 0.1, 1, 0);
  driver_add(&d, &nbody_body_schema, &one);
  driver_add(&d, &nbody_each_schema, &each);
  sim_faults faults = {0};
  d.parameters.bodies.items = d.items;
  assert_int_equal(nbody_model.validate(&d.parameters, &faults), SIM_OK);
  assert_int_equal(faults.count, 2);
  assert_non_null(strstr(faults.text.data, "as many bodies, got 2, 1 and 1"));
  assert_non_null(strstr(faults.text.data, "masses >= 0, got -1 for body 2"));
  sim_faults_free(&faults);
}

static void test_units(void **state) {
  (void)state;
  driver d = driver_make(here, NBODY_LEAPFROG, 0.1, 1, 0);
  nbody_body one = {.mass = 1};
  driver_add(&d, &nbody_body_schema, &one);
  d.parameters.gravity.G = NAN;
  d.parameters.common.units = (sim_units){true, 149597870700.0, 1.98840987e30, 86400};
  driver_create(&d);
  /* Gauss's constant squared is this G, to the four digits that G and the Sun's mass in kg have. */
  assert_true(fabs(d.parameters.gravity.G / (0.01720209895 * 0.01720209895) - 1) < 1e-4);
  driver_destroy(&d);
}

/* Numbers far beyond memory are still counted right, and refused by the sum, not by an overflow. */
static void test_plan(void **state) {
  (void)state;
  driver d = driver_make(here, NBODY_YOSHIDA4, 0.3, 1, 0.1);
  nbody_sphere many[4];
  for (int i = 0; i < 4; i++) {
    many[i] = (nbody_sphere){.n = INT64_C(4000000000000000000), .mass = 1, .radius = 1, .cutoff = NAN};
    driver_add(&d, &nbody_plummer_schema, &many[i]);
  }
  d.parameters.bodies.items = d.items;
  sim_plan plan = {0};
  assert_int_equal(nbody_model.plan(&d.parameters, &d.setup, &plan), SIM_OK);
  assert_true(sim_plan_total(&plan) > 16e18 * 80);
  assert_true(plan.work_per_step == 3 * 16e18 * 16e18);
  assert_true(plan.steps == 4);
  assert_true(plan.snapshot_bytes == 16e18 * 64);
  assert_int_equal(nbody_model.create(&d.parameters, &d.setup, &d.clock, &d.self), SIM_ERR_NO_MEMORY);
}

/* A run that is told to stop at an energy error does. */
static void test_energy_limit(void **state) {
  (void)state;
  driver d = driver_make(here, NBODY_LEAPFROG, 0.2, 10, 0);
  d.parameters.integrate.max_energy_error = 1e-3;
  nbody_body pair[] = {{.group = {.position = {0.25}, .velocity = {0, 0.87}}, .mass = 0.5},
                       {.group = {.position = {-0.25}, .velocity = {0, -0.87}}, .mass = 0.5}};
  for (int i = 0; i < 2; i++) driver_add(&d, &nbody_body_schema, &pair[i]);
  driver_create(&d);
  double values[SIM_COLUMNS_MAX];
  sim_status status = SIM_OK;
  while (d.clock.t < d.clock.t_end && status == SIM_OK) {
    driver_step(&d);
    status = nbody_model.observe(d.self, &d.clock, 0, values);
  }
  assert_int_equal(status, SIM_ERR_DIVERGED);
  assert_non_null(strstr(sim_error_last()->message, "max_energy_error"));
  driver_destroy(&d);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_order), cmocka_unit_test(test_random),     cmocka_unit_test(test_placing),
      cmocka_unit_test(test_file),  cmocka_unit_test(test_coincident), cmocka_unit_test(test_rules),
      cmocka_unit_test(test_units), cmocka_unit_test(test_plan),       cmocka_unit_test(test_energy_limit)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
