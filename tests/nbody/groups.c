/* Sources of bodies: order, species, positions, files, refusals; and the plan of a run. */
#include "kernels/nbody/start/bodies.h"
#include "tests/nbody/driver.h"

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

/* Groups a, b, a: bodies of a species are contiguous, and ids count through the groups. */
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

/* A body is a function of seed and id. A group before another one shifts its ids, and so changes it; a group after it
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

/* 90 degrees about z, then moved: x becomes y. `each` is neither turned nor moved. */
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
    disk.group = (nbody_group_fields){.species = "disk", .position = {5, 0, 0}};
    memcpy(disk.group.rotation, turns[k], sizeof turns[k]);
    d = driver_make(here, NBODY_LEAPFROG, 0.1, 1, 0.1);
    driver_add(&d, &nbody_exponential_disk_schema, &disk);
    driver_create(&d);
    assert_int_equal(driver_count(&d), 500);
    assert_true(fabs(driver_value(&d, "energy", "centre_x") - 5) < 1e-12);
    /* About x, z becomes -y; about y, z becomes x. */
    const double spin = driver_value(&d, "energy", axis[k]) * (k == 1 ? -1 : 1);
    if (k == 0) size = spin;
    assert_true(spin > 0.5);
    assert_true(fabs(spin / size - 1) < 1e-12);
    driver_destroy(&d);
  }
}

/* With `recentre` the bodies are as without it, less the centre of mass and its velocity: sum(m x) / sum(m), by hand
 * {3.5, -0.25, 0} and {0.25, 0, -0.5}; all numbers are exact in binary. */
static void test_recentre(void **state) {
  (void)state;
  static const double centre[] = {3.5, -0.25, 0}, drift[] = {0.25, 0, -0.5};
  nbody_body one[] = {{.group = {.species = "a", .position = {5, 1, 0}, .velocity = {0, 1, -2}}, .mass = 1},
                      {.group = {.species = "b", .position = {2, -1, 0}, .velocity = {1, -1, 0}}, .mass = 1},
                      {.group = {.species = "a", .position = {3.5, -0.5, 0}, .velocity = {0, 0, 0}}, .mass = 2},
                      {.group = {.species = "dust", .position = {9, 9, 9}, .velocity = {7, 7, 7}}}};
  for (int k = 0; k < 2; k++) {
    driver d =
        driver_make((driver_place){&sim_backend_cpu, k == 0 ? SIM_DOUBLE : SIM_SINGLE}, NBODY_LEAPFROG, 0.1, 1, 0.1);
    for (int i = 0; i < 4; i++) driver_add(&d, &nbody_body_schema, &one[i]);
    d.parameters.recentre = true;
    driver_create(&d);
    static const int body[] = {0, 2, 1, 3}; /* in the order of species */
    for (int i = 0; i < 4; i++)
      for (int c = 0; c < 3; c++) {
        const nbody_group_fields *given = &one[body[i]].group;
        assert_true(driver_get(&d, "position", c, i) == given->position[c] - centre[c]);
        assert_true(driver_get(&d, "velocity", c, i) == given->velocity[c] - drift[c]);
      }
    driver_destroy(&d);
  }
}

/* ---- files ---- */

static int64_t file_count;
static double file_first, file_mass;

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
  out->mass[0] = file_first;
  out->mass[1] = file_mass;
  out->position[1][1] = 7;
  return SIM_OK;
}

static sim_status create_from_file(int64_t count, double first, double mass, driver *d) {
  static nbody_from_file file;
  file = (nbody_from_file){.path = "some.csv"};
  file_count = count;
  file_first = first;
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
  assert_int_equal(create_from_file(2, 1, 3, &d), SIM_OK);
  assert_true(driver_get(&d, "mass", 0, 1) == 3 && driver_get(&d, "position", 1, 1) == 7);
  driver_destroy(&d);
  assert_int_equal(create_from_file(2, 1, -3, &d), SIM_ERR_SCENARIO);
  assert_non_null(strstr(sim_error_last()->message, "body 2 has mass -3"));
  assert_int_equal(create_from_file(2, 1, NAN, &d), SIM_ERR_SCENARIO);
  assert_int_equal(create_from_file(3, 1, 1, &d), SIM_ERR_SCENARIO);
  assert_int_equal(create_from_file(0, 1, 1, &d), SIM_ERR_SCENARIO);
  assert_int_equal(create_from_file(2, 0, 3, &d), SIM_OK);
  driver_destroy(&d);
  assert_int_equal(create_from_file(2, 0, 0, &d), SIM_ERR_SCENARIO);
  assert_non_null(strstr(sim_error_last()->message, "bodies: expected a body with mass > 0"));
}

/* ---- generators ---- */

/* Freeman's thin disk, 2 y^2 (I0 K0 - I1 K1) at y = R/2, to 30 digits by mpmath (K. C. Freeman, ApJ 160 (1970) 811).
 * The transform ends at k = 50. The rest oscillates and is below 50^(-5/2) sqrt(2/(pi R)) R/pull R^-1 of it, 2e-4 at 1
 * and 10; far out the series is used, with an error of 3445/R^6. In tables of all sizes, and where the disk's own pull
 * changes from the transform to the series (44 for a thickness of 0.1), 1e-4 is the error of either one. */
static void test_disk_pull(void **state) {
  (void)state;
  static const double known[][2] = {{1, 0.277958788891296},
                                    {10, 0.105839004728623},
                                    {50, 0.0200362745408388},
                                    {130, 0.00769435821789598},
                                    {400, 0.00250007032074185}};
  double pull[512];
  for (int k = 0; k < 5; k++) {
    static const int rings[] = {30, 200, 511};
    for (int r = 0; r < 3; r++) {
      nbody_disk_circular_speed2(known[k][0] / (rings[r] + 0.5), 1e-6, 0, pull, 512);
      const double error = pull[rings[r]] / known[k][1] - 1;
      if (!(fabs(error) < 2e-4)) fail_msg("R = %g: off by %g", known[k][0], error);
    }
  }
  nbody_disk_circular_speed2(50.0 / 512, 0.1, 0, pull, 512);
  for (int r = 300; r < 511; r++) {
    const double step = (pull[r + 1] * (r + 1.5)) / (pull[r] * (r + 0.5)) - 1; /* of v^2 R, which is nearly 1 */
    if (!(fabs(step) < 1e-4)) fail_msg("a jump of %g at R = %g", step, (r + 1) * 50.0 / 512);
  }
}

/* The outermost body has a finite radius for any number of bodies. */
static void test_plummer_radius(void **state) {
  (void)state;
  assert_true(fabs(nbody_plummer_radius(0.5) - 1.30476602) < 1e-8); /* 1/sqrt(2^(2/3) - 1) */
  assert_true(nbody_plummer_radius(1) == 0x1p26);
  for (double n = 1; n <= 0x1p60; n *= 2) {
    const double share = (n - 1 + (1 - 0x1p-53)) / n, radius = nbody_plummer_radius(share);
    assert_true(radius > 0 && radius <= 0x1p26);
  }
}

/* ---- refused ---- */

/* Two bodies at one position, or so close that the pair terms cannot tell them apart, without softening. Packed for
 * fp32 terms, 0.7 and 0.7 + 1e-9 are one number beside 5, but not alone. 1e-14 is not 0, but its inverse cube is
 * infinite. Few bodies take the plain loop, many the tiles; the others are on a line behind. */
static void test_coincident(void **state) {
  (void)state;
  static const struct {
    sim_precision precision;
    double softening, first, second;
    int others;
    const char *expected; /* NULL: accepted */
  } known[] = {
      {SIM_DOUBLE, 0, 1, 1, 1, "0 and 2 (ids, from 0) are both at {1, 0, 0}"},
      {SIM_DOUBLE, 0, 1, 1, 0, "0 and 1 (ids, from 0) are both at"},
      {SIM_DOUBLE, 0.1, 1, 1, 1, NULL},
      {SIM_DOUBLE, 0, 1, 1 + 1e-12, 1, NULL},
      {SIM_SINGLE, 0, 1, 1 + 1e-12, 1, "0 and 2 (ids, from 0) are 1e-12 apart at {1, 0, 0}, and one point in single"},
      {SIM_SINGLE, 0.1, 1, 1 + 1e-12, 80, "0 and 81 (ids, from 0) are 1e-12 apart at {1, 0, 0}, and one"},
      {SIM_SINGLE, 0.1, 1, 1, 80, NULL},
      {SIM_MIXED, 0, 0.7, 0.7 + 1e-9, 1, "are 1e-09 apart at {0.7, 0, 0}, and one point in the pair terms' single"},
      {SIM_MIXED, 1e-7, 0.7, 0.7 + 1e-9, 1, "are 1e-09 apart at {0.7, 0, 0}, and one point in the pair"},
      {SIM_MIXED, 0, 0.7, 0.7 + 1e-9, 0, NULL},
      {SIM_MIXED, 0, 0.7, 0.7 + 1e-9, 80, "0 and 81 (ids, from 0) are 1e-09 apart"},
      {SIM_MIXED, 0.1, 0.7, 0.7 + 1e-9, 1, NULL},
      {SIM_MIXED, 0, 0, 1e-14, 1, "0 and 2 (ids, from 0) are only 1e-14 apart"},
      {SIM_SINGLE, 0, 0, 1e-14, 1, "0 and 2 (ids, from 0) are only 1e-14 apart"},
      {SIM_SINGLE, 0, 0, 1e-14, 80, "0 and 81 (ids, from 0) are only 1e-14 apart"},
      {SIM_DOUBLE, 0, 0, 1e-14, 1, NULL},
      {SIM_DOUBLE, 0, 3, 3, 700, "0 and 701 (ids, from 0) are both at"}};
  for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
    for (int scheme = NBODY_LEAPFROG; scheme <= NBODY_HERMITE4; scheme += NBODY_HERMITE4) {
      double mass[702], position[3 * 702] = {0}, velocity[3 * 702] = {0};
      const size_t n = 2 + (size_t)known[k].others;
      for (size_t i = 0; i < n; i++) {
        mass[i] = 1;
        position[3 * i] = 4.5 + 0.5 * (double)i;
      }
      position[0] = known[k].first;
      position[3 * (n - 1)] = known[k].second;
      nbody_each each = {.mass = {mass, n, 1}, .position = {position, n, 3}, .velocity = {velocity, n, 3}};
      driver d = driver_make((driver_place){here.backend, known[k].precision}, (nbody_scheme)scheme, 0.1, 1,
                             known[k].softening);
      driver_add(&d, &nbody_each_schema, &each);
      d.parameters.bodies.items = d.items;
      const sim_status status = nbody_model.create(&d.parameters, &d.setup, &d.clock, &d.self);
      const char *said = status == SIM_OK ? "" : sim_error_last()->message;
      if (known[k].expected == NULL ? status != SIM_OK
                                    : status != SIM_ERR_SCENARIO || strstr(said, known[k].expected) == NULL)
        fail_msg("case %zu: status %d: %s", k, (int)status, said);
      if (status != SIM_OK) continue;
      driver_frame now;
      driver_keep(&d, &now);
      assert_int_equal(sim_frame_check_finite(&now.frame), SIM_OK);
      driver_frame_free(&now);
      driver_destroy(&d);
    }
  }
}

/* Forces that are infinite for another reason, with bodies well apart, are not reported as two bodies at one position.
 */
static void test_overflow(void **state) {
  (void)state;
  driver d = driver_make(here, NBODY_LEAPFROG, 0.1, 1, 0);
  nbody_body one[] = {{.group.position = {1e-200}, .mass = 1e300}, {.group.position = {-1e-200}, .mass = 1e300}};
  for (int i = 0; i < 2; i++) driver_add(&d, &nbody_body_schema, &one[i]);
  d.parameters.bodies.items = d.items;
  assert_int_equal(nbody_model.create(&d.parameters, &d.setup, &d.clock, &d.self), SIM_ERR_SCENARIO);
  if (strstr(sim_error_last()->message, "the force on body 0 (from 0)") == NULL)
    fail_msg("%s", sim_error_last()->message);
}

/* A mass that fp32 cannot hold counts as none. */
static void test_light(void **state) {
  (void)state;
  for (sim_precision precision = SIM_SINGLE; precision <= SIM_DOUBLE; precision++) {
    driver d = driver_make((driver_place){here.backend, precision}, NBODY_LEAPFROG, 0.1, 1, 0.1);
    nbody_body one = {.mass = 1e-60};
    driver_add(&d, &nbody_body_schema, &one);
    d.parameters.bodies.items = d.items;
    const sim_status status = nbody_model.create(&d.parameters, &d.setup, &d.clock, &d.self);
    assert_int_equal(status, precision == SIM_SINGLE ? SIM_ERR_SCENARIO : SIM_OK);
    if (status == SIM_OK) driver_destroy(&d);
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
  assert_fault(&d, "a step that changes the time");
  d = driver_make(here, NBODY_LEAPFROG, 0.1, 1, 0);
  driver_add(&d, &nbody_body_schema, &odd);
  assert_fault(&d, "bodies[1].species: expected 1 to 63 letters");
  d = driver_make(here, NBODY_LEAPFROG, 0.1, 1, 0);
  driver_add(&d, &nbody_body_schema, &light);
  assert_fault(&d, "a body with mass > 0");
  sim_doubles two = {(double[]){1, -1}, 2, 1}, three = {(double[]){0, 0, 0}, 1, 3};
  nbody_each each = {.mass = two, .position = three, .velocity = three};
  d = driver_make(here, NBODY_LEAPFROG, 0.1, 1, 0);
  driver_add(&d, &nbody_body_schema, &one);
  driver_add(&d, &nbody_each_schema, &each);
  sim_faults faults = {0};
  d.parameters.bodies.items = d.items;
  assert_int_equal(nbody_model.validate(&d.parameters, &faults), SIM_OK);
  assert_int_equal(faults.count, 2);
  assert_non_null(strstr(faults.text.data, "position and velocity, got 2, 1 and 1"));
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
  /* Gauss's constant squared is this G, to the four digits of G and of the Sun's mass in kg. */
  assert_true(fabs(d.parameters.gravity.G / (0.01720209895 * 0.01720209895) - 1) < 1e-4);
  driver_destroy(&d);
}

/* Numbers far beyond memory are still counted right. The sum refuses them, without an overflow. */
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
  assert_true(sim_plan_bytes(&plan, SIM_SPACE_HOST) > 16e18 * 80);
  assert_true(plan.work_per_step == 3 * 16e18 * 16e18);
  assert_true(plan.steps == 4);
  assert_true(plan.snapshot_bytes == 16e18 * 64);
  assert_int_equal(nbody_model.create(&d.parameters, &d.setup, &d.clock, &d.self), SIM_ERR_NO_MEMORY);
}

/* A run that has a limit of the energy error stops there. */
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
      cmocka_unit_test(test_order),    cmocka_unit_test(test_random),      cmocka_unit_test(test_placing),
      cmocka_unit_test(test_recentre), cmocka_unit_test(test_file),        cmocka_unit_test(test_coincident),
      cmocka_unit_test(test_overflow), cmocka_unit_test(test_disk_pull),   cmocka_unit_test(test_plummer_radius),
      cmocka_unit_test(test_light),    cmocka_unit_test(test_rules),       cmocka_unit_test(test_units),
      cmocka_unit_test(test_plan),     cmocka_unit_test(test_energy_limit)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
