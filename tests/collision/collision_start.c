/* The start of a run: grains that are packed, that enter an empty box, that are read from a file. */
#include "tests/collision/setups.h"
#include "kernels/collision/scenario/sizes.h"
#include "engine/log.h"
#include "tests/sanitized.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static void near_to(double got, double expected, double within, const char *what) {
  if (!(fabs(got - expected) <= within))
    fail_msg("%s: got %.9g, expected %.9g within %.1e", what, got, expected, within);
}

/* Returns the deepest overlap of all pairs over the smaller radius; below 0: a gap. In a periodic box of `size`. */
static double deepest(driver *d, double size) {
  driver_frame kept;
  driver_keep(d, &kept);
  const sim_array *radius = sim_frame_array(&kept.frame, "radius");
  const double *r = radius->data, *x = sim_frame_array(&kept.frame, "position")->data;
  const int64_t n = radius->shape[0];
  double most = -INFINITY;
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < i; j++) {
      double square = 0;
      for (int c = 0; c < 3; c++) {
        double way = fabs(x[c * n + i] - x[c * n + j]);
        if (way > 0.5 * size) way = size - way;
        square += way * way;
      }
      most = fmax(most, (r[i] + r[j] - sqrt(square)) / fmin(r[i], r[j]));
    }
  driver_frame_free(&kept);
  return most;
}

/* Ten large grains among 3000 small ones, which always begin with overlaps. Accepted positions were checked: no overlap
 * at all, to the rounding of 2 in the distances over the smallest radius. */
static void test_pack_sizes(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 3; seed += 2) {
    collision_random_spheres small = {.size.radius = 0.02, .n = 3000, .group.species = "small"};
    collision_random_spheres big = {.size.radius = 0.4, .n = 10, .group.species = "big"};
    driver d = driver_make(SIM_DOUBLE, NAN, 1);
    driver_box(&d, 2, COLLISION_PERIODIC);
    d.parameters.common.seed = seed;
    d.parameters.contact.values.stiffness = 100;
    driver_add(&d, &collision_random_spheres_schema, &small);
    driver_add(&d, &collision_random_spheres_schema, &big);
    driver_create(&d);
    near_to(fmax(0, deepest(&d, 2)), 0, 4 * 2 * 0x1p-52 / 0.02, "overlap of packed grains");
    driver_destroy(&d);
  }
}

/* Close to random packing, 0.64. */
static void test_pack_dense(void **state) {
  (void)state;
  const double size = cbrt(4 * 3.14159265358979323846 / 3 * 0.125 * 500 / 0.62);
  collision_random_spheres spheres = {.size.radius = 0.5, .n = 500};
  driver d = driver_make(SIM_DOUBLE, NAN, 1);
  driver_box(&d, size, COLLISION_PERIODIC);
  d.parameters.contact.values.stiffness = 100;
  driver_add(&d, &collision_random_spheres_schema, &spheres);
  const clock_t before = clock();
  driver_create(&d);
  const double seconds = (double)(clock() - before) / CLOCKS_PER_SEC; /* of all threads */
  printf("500 grains at 0.62: %.2f s of processor time\n", seconds);
  assert_true(TEST_SANITIZED || seconds < 2);
  near_to(fmax(0, deepest(&d, size)), 0, 4 * size * 0x1p-52 / 0.5, "overlap of packed grains");
  driver_destroy(&d);
}

/* ---- inlets ---- */

static collision_inlet inlet;
static sim_item inlets[1];
static double radii[2];

static driver rain(double t_end) {
  driver d = driver_make(SIM_DOUBLE, NAN, t_end);
  inlet = (collision_inlet){.group = {.species = "rain", .material = "grain", .density = 2, .velocity = {0, 0, -1}},
                            .size = {.radius = 0.1},
                            .rate = 10,
                            .low = {-1, -1, 3},
                            .high = {1, 1, 4},
                            .stop = NAN,
                            .limit = NAN};
  inlets[0] = (sim_item){.data = &inlet};
  d.parameters.insert = (sim_list){inlets, 1};
  d.parameters.gravity[2] = -10;
  d.parameters.contact.values.contact_time = 0.01;
  d.parameters.contact.values.friction = 0.5;
  d.parameters.box.sides[4] = COLLISION_OUTLET; /* at z = -50 */
  return d;
}

/* The widest range of radii, 1:20, is not refused because of rounding. The step is that of the smallest radius that is
 * drawn, m exp(-4 s): with a constant stiffness it follows the root of the mass. */
static void test_lognormal(void **state) {
  (void)state;
  static const double medians[] = {0.02, 0.03, 0.05, 0.07, 0.09, 0.1};
  for (size_t k = 0; k < sizeof medians / sizeof *medians; k++)
    for (int wide = 0; wide < 2; wide++) {
      const double s = wide ? 0.75 : 0.05, m = medians[k], pi = 3.14159265358979323846;
      driver d = rain(0.3);
      collision_grain grain = {.radius = m};
      radii[0] = m, radii[1] = s;
      inlet.size = (collision_radii){NAN, {radii, 2, 1}, COLLISION_LOGNORMAL};
      d.parameters.contact.values.contact_time = NAN;
      d.parameters.contact.values.stiffness = 1e3;
      driver_add(&d, &collision_grain_schema, &grain);
      d.items[0].data = &grain;
      driver_create(&d);
      const double least = m * fmax(exp(-4 * s), 1 / sqrt(20));
      const double lightest = fmin(2 * 4 * pi / 3 * pow(least, 3), 4 * pi / 3 * pow(m, 3));
      near_to(d.clock.dt, pi * sqrt(0.5 * lightest / 1e3) / 50, 1e-9 * d.clock.dt, "step with a lognormal inlet");
      driver_destroy(&d);
    }
}

/* From an empty box: grains in free fall are at the right positions. */
static void test_empty_start(void **state) {
  (void)state;
  for (int single = 0; single < 2; single++) {
    driver d = rain(1);
    d.parameters.common.precision = single ? SIM_SINGLE : SIM_DOUBLE;
    driver_create(&d);
    assert_true(driver_value(&d, "gas", "temperature") == 0);
    assert_true(driver_value(&d, "energy", "balance") == 0);
    assert_true(driver_value(&d, "momentum", "momentum_z") == 0);
    driver_run(&d);
    assert_true(driver_value(&d, "flow", "inserted") == 10);
    /* Rounding over 5000 steps. */
    near_to(driver_value(&d, "energy", "balance"), 0, single ? 1e-4 : 1e-10, "balance of free fall");
    driver_destroy(&d);
  }
}

/* All grains leave, the box is empty for a while, then others come. From the empty box a restart has the same bits. */
static void test_all_leave(void **state) {
  (void)state;
  char whole[33];
  driver_frame kept;
  collision_grain grain = {.radius = 0.1, .position = {0, 0, -49.9}, .group.velocity = {0, 0, -5}};
  driver d = rain(1);
  inlet.start = 0.5;
  driver_add(&d, &collision_grain_schema, &grain);
  driver_create(&d);
  driver_until(&d, 0.3);
  driver_keep(&d, &kept);
  assert_true(sim_frame_array(&kept.frame, "id")->shape[0] == 0);
  assert_true(driver_value(&d, "flow", "removed") == 1);
  for (int t = 0; t < 4; t++) {
    static const char *const columns[][2] = {
        {"energy", "total"}, {"gas", "pressure"}, {"contacts", "rate"}, {"contacts", "coordination"}};
    assert_true(driver_value(&d, columns[t][0], columns[t][1]) == 0);
  }
  driver_run(&d);
  assert_true(driver_value(&d, "flow", "inserted") == 5);
  driver_digest(&d, whole);
  driver_destroy(&d);
  driver other = rain(1);
  inlet.start = 0.5;
  driver_add(&other, &collision_grain_schema, &grain);
  expect_restart(&other, &kept, whole);
  driver_destroy(&other);
  driver_frame_free(&kept);
}

/* No more grains come: the run continues to its end, and so does a restart from there. */
static void test_stays_empty(void **state) {
  (void)state;
  driver_frame kept;
  collision_grain grain = {.radius = 0.1, .position = {0, 0, -49.9}, .group.velocity = {0, 0, -5}};
  for (int again = 0; again < 2; again++) {
    driver d = rain(0.5);
    d.parameters.insert.count = 0;
    driver_add(&d, &collision_grain_schema, &grain);
    if (again)
      driver_restore(&d, &kept.frame);
    else
      driver_create(&d);
    driver_until(&d, 0.3);
    if (!again) driver_keep(&d, &kept);
    driver_run(&d);
    assert_true(d.clock.t == 0.5 && driver_value(&d, "flow", "removed") == 1);
    driver_destroy(&d);
  }
  driver_frame_free(&kept);
}

/* ---- files ---- */

static sim_status count_two(const char *path, const char *species, int64_t *count) {
  (void)path, (void)species;
  *count = 2;
  return SIM_OK;
}

/* As in a snapshot: radii that do not follow from mass and density, and spins. */
static sim_status read_two(const char *path, const char *species, const sim_units *units, sim_particles *out) {
  (void)path, (void)species, (void)units;
  *out = (sim_particles){.count = 2, .radius = calloc(2, sizeof(double)), .mass = calloc(2, sizeof(double))};
  for (int c = 0; c < 3; c++) out->position[c] = calloc(2, sizeof(double)), out->spin[c] = calloc(2, sizeof(double));
  for (int i = 0; i < 2; i++) {
    out->radius[i] = 0.25 + i, out->mass[i] = 3 + i;
    for (int c = 0; c < 3; c++) out->position[c][i] = 4 * i, out->spin[c][i] = c - 2 * i;
  }
  return SIM_OK;
}

static void test_file(void **state) {
  (void)state;
  for (int given = 0; given < 2; given++) {
    collision_from_file file = {.path = "snap.h5", .radius = given ? 0.5 : NAN};
    driver d = driver_make(SIM_DOUBLE, NAN, 1);
    d.setup.count_particles = count_two;
    d.setup.read_particles = read_two;
    d.parameters.contact.values.stiffness = 100;
    driver_add(&d, &collision_from_file_schema, &file);
    driver_create(&d);
    for (int i = 0; i < 2; i++) {
      assert_true(driver_get(&d, "radius", 0, i) == (given ? 0.5 : 0.25 + i));
      if (!given) assert_true(driver_get(&d, "mass", 0, i) == 3 + i);
      for (int c = 0; c < 3; c++) assert_true(driver_get(&d, "angular_velocity", c, i) == c - 2 * i);
    }
    driver_destroy(&d);
  }
}

static sim_status read_moving(const char *path, const char *species, const sim_units *units, sim_particles *out) {
  const sim_status status = read_two(path, species, units, out);
  for (int c = 0; c < 3; c++) {
    out->velocity[c] = calloc(2, sizeof(double));
    for (int i = 0; i < 2; i++) out->velocity[c][i] = 0.5 * i - c;
  }
  return status;
}

/* In a sheared box a file's velocities are kept, as they are in snapshots, to the rounding of adding the flow; a grain
 * that is given moves with the flow. */
static void test_file_in_flow(void **state) {
  (void)state;
  collision_from_file file = {.path = "snap.h5", .radius = NAN};
  collision_grain beside = {.radius = 0.5, .position = {8, 2, 8}};
  driver d = driver_make(SIM_DOUBLE, NAN, 1);
  driver_box(&d, 10, COLLISION_PERIODIC);
  d.setup.count_particles = count_two;
  d.setup.read_particles = read_moving;
  d.parameters.box.shear_rate = 3;
  d.parameters.contact.values.stiffness = 100;
  driver_add(&d, &collision_from_file_schema, &file);
  driver_add(&d, &collision_grain_schema, &beside);
  driver_create(&d);
  for (int i = 0; i < 2; i++)
    for (int c = 0; c < 3; c++) assert_true(fabs(driver_get(&d, "velocity", c, i) - (0.5 * i - c)) < 1e-14);
  assert_true(driver_get(&d, "velocity", 0, 2) == 3 * (2 - 5));
  driver_destroy(&d);
}

static int too_fast, too_far;
static void count_warnings(void *context, sim_log_level level, const char *message) {
  (void)context;
  too_far += level == SIM_LOG_WARN && strstr(message, "apart in single precision") != NULL;
  too_fast += level == SIM_LOG_WARN && strstr(message, "of its radius in a step") != NULL;
}

/* A warning for a grain that moves 1.1 radii in a step, relative to the flow of a sheared box; none for a grain that
 * moves 0.9. */
static void test_too_fast(void **state) {
  (void)state;
  sim_log_add(count_warnings, NULL);
  for (int k = 0; k < 4; k++) {
    driver d = driver_make(k % 2 ? SIM_DOUBLE : SIM_SINGLE, 1e-3, 1);
    driver_box(&d, 10, COLLISION_PERIODIC);
    collision_grain one = {.radius = 0.5, .position = {5, 9, 5}, .group.velocity = {k / 2 ? -550 : 450, 0, 0}};
    d.parameters.box.shear_rate = k / 2 ? 100 : 50; /* 4 above the middle: 400 and 200 */
    d.parameters.contact.values.stiffness = 100;
    driver_add(&d, &collision_grain_schema, &one);
    too_fast = 0;
    driver_create(&d);
    assert_int_equal(too_fast, k / 2);
    driver_destroy(&d);
  }
  sim_log_remove(count_warnings, NULL);
}

/* Near 2^17 numbers are 2^-7 apart in single precision, 1.6e-2 of a radius of 0.5; near 2^12 2^-12, 4.9e-4 of it. */
static void test_too_far(void **state) {
  (void)state;
  sim_log_add(count_warnings, NULL);
  for (int k = 0; k < 4; k++) {
    driver d = driver_make(k % 2 ? SIM_DOUBLE : SIM_SINGLE, 1e-3, 1);
    driver_box(&d, 10, COLLISION_WALL);
    const double origin = k / 2 ? 100000 : 4000;
    for (int c = 0; c < 3; c++) d.parameters.box.origin[c] = -origin;
    collision_grain one = {.radius = 0.5, .position = {5 - origin, 5 - origin, 5 - origin}};
    d.parameters.contact.values.stiffness = 100;
    driver_add(&d, &collision_grain_schema, &one);
    too_far = 0;
    driver_create(&d);
    assert_int_equal(too_far, k == 2);
    driver_destroy(&d);
  }
  sim_log_remove(count_warnings, NULL);
}

/* A lattice has a site for each grain, and numbers of sites that an int64_t holds, whatever the sides. */
static void test_sites(void **state) {
  (void)state;
  const double sides[][3] = {{1, 1, 1},
                             {1e300, 10, 10},
                             {1e300, 1e300, 1e300},
                             {1e-300, 1e-300, 1e-300},
                             {1, 1e200, 1e-200},
                             {1e-300, 1e300, 1e300},
                             {3, 2, 1}};
  for (size_t k = 0; k < sizeof sides / sizeof *sides; k++)
    for (int64_t n = 1; n < 100000; n = 3 * n + 1) {
      int64_t sites[3];
      double all = 1;
      collision_lattice_sites(sides[k], n, sites);
      for (int c = 0; c < 3; c++) {
        assert_true(sites[c] >= 1);
        all *= (double)sites[c];
      }
      assert_true(all >= (double)n && all < 0x1p62);
    }
  int64_t sites[3];
  collision_lattice_sites((const double[3]){4, 3, 2}, 24, sites);
  for (int c = 0; c < 3; c++) assert_int_equal(sites[c], 4 - c);
}

/* Two grains with velocities 4 and 2 along x have the temperature m/3, also where m^2 is out of range. */
static void test_heavy(void **state) {
  (void)state;
  const double densities[] = {1, 1e150, 1e200, 1e300};
  for (int k = 0; k < 4; k++) {
    driver d = driver_make(SIM_DOUBLE, 1e-3, 1);
    driver_box(&d, 10, COLLISION_PERIODIC);
    collision_grain one = {
        .radius = 0.5, .position = {2, 5, 5}, .group = {.velocity = {4, 0, 0}, .density = densities[k]}};
    collision_grain two = {
        .radius = 0.5, .position = {7, 5, 5}, .group = {.velocity = {2, 0, 0}, .density = densities[k]}};
    d.parameters.contact.values.stiffness = 100 * densities[k];
    driver_add(&d, &collision_grain_schema, &one);
    driver_add(&d, &collision_grain_schema, &two);
    driver_create(&d);
    const double mass = densities[k] * acos(-1) / 6;
    near_to(driver_value(&d, "gas", "temperature") / mass, 1.0 / 3, 1e-14,
            "temperature"); /* some roundings of 1.1e-16 */
    driver_destroy(&d);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pack_sizes),  cmocka_unit_test(test_pack_dense),   cmocka_unit_test(test_lognormal),
      cmocka_unit_test(test_empty_start), cmocka_unit_test(test_all_leave),    cmocka_unit_test(test_stays_empty),
      cmocka_unit_test(test_file),        cmocka_unit_test(test_file_in_flow), cmocka_unit_test(test_too_fast),
      cmocka_unit_test(test_too_far),     cmocka_unit_test(test_sites),        cmocka_unit_test(test_heavy)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
