/* Grains that come and go, and a box that is sheared. */
#include "tests/collision/setups.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void near_to(double got, double expected, double within, const char *what) {
  if (!(fabs(got - expected) <= within))
    fail_msg("%s: got %.9g, expected %.9g within %.1e", what, got, expected, within);
}

/* A rain with friction on a tilted floor, of two species, out of which grains fall over an edge. */
static collision_random_spheres first;
static collision_plane slope;
static collision_inlet inlet;
static collision_region region;
static double radii[2] = {0.1, 0.2}, low[3] = {0, 0, 1}, high[3] = {3, 3, 2};
static collision_gate gate;
static sim_item inlets[1], regions[1], gates[1];
static driver rain(sim_precision precision, int threads, double t_end) {
  driver d = driver_make(precision, NAN, t_end);
  first = (collision_random_spheres){.size.radius = 0.2, .n = 5, .group.species = "first"};
  first.low = (sim_doubles){low, 3, 1};
  first.high = (sim_doubles){high, 3, 1};
  slope = (collision_plane){.point = {0, 0, 0}, .normal = {0.5, 0, 1}};
  inlet = (collision_inlet){.group = {.species = "rain", .material = "grain", .density = 2, .velocity = {0, 0, -1}},
                            .size = {NAN, {radii, 2, 1}, COLLISION_UNIFORM},
                            .rate = 400,
                            .low = {0, 0, 3},
                            .high = {3, 3, 4},
                            .stop = NAN,
                            .limit = NAN};
  region = (collision_region){.low = {3, -10, -10}, .high = {10, 10, 10}};
  gate = (collision_gate){.point = {2.5, 0, 0}, .normal = {2, 0, 0}, .radius = NAN};
  inlets[0] = (sim_item){.data = &inlet};
  regions[0] = (sim_item){.data = &region};
  gates[0] = (sim_item){.data = &gate};
  d.parameters.insert = (sim_list){inlets, 1};
  d.parameters.remove = (sim_list){regions, 1};
  d.parameters.gates = (sim_list){gates, 1};
  d.parameters.gravity[2] = -10;
  d.parameters.contact.values.stiffness = 3e3;
  d.parameters.contact.values.restitution = 0.5;
  d.parameters.contact.values.friction = 0.3;
  d.setup.threads = threads;
  driver_add(&d, &collision_random_spheres_schema, &first);
  driver_wall(&d, &collision_plane_schema, &slope);
  return d;
}

/* Grains inserted less grains removed are present. Grains that left through the region have passed the gate before it.
 */
static void test_count(void **state) {
  (void)state;
  driver d = rain(SIM_DOUBLE, 2, 1.5);
  driver_create(&d);
  driver_run(&d);
  driver_frame now;
  driver_keep(&d, &now);
  const double here = (double)sim_frame_array(&now.frame, "id")->shape[0];
  const double came = driver_value(&d, "flow", "inserted"), went = driver_value(&d, "flow", "removed");
  assert_true(came > 100 && went > 10);
  assert_true(here == 5 + came - went);
  assert_true(driver_value(&d, "flow", "gate1_grains") >= went);
  double mass = 0;
  for (int64_t i = 0; i < (int64_t)here; i++) mass += driver_get(&d, "mass", 0, i);
  const double all = 5 * 4 * 3.14159265358979323846 / 3 * 0.008 + driver_value(&d, "flow", "inserted_mass");
  near_to(mass, all - driver_value(&d, "flow", "removed_mass"), 1e-12 * all, "mass that is there");
  /* Grains inserted and removed are not counted in the balance. The step's order remains, and friction, 1 % as for a
   * gas. */
  near_to(driver_value(&d, "energy", "balance"), 0, 1e-2, "energy balance with grains that come and go");
  driver_frame_free(&now);
  driver_destroy(&d);
}

/* The potential 10 z acts as gravity from the first half step of a new grain on: the same to rounding over some
 * thousand steps. */
static void test_newcomers_fall(void **state) {
  (void)state;
  static const char *const inputs[] = {"x", "y", "z", "t", NULL};
  double height[2];
  for (int own = 0; own < 2; own++) {
    sim_expr *phi = driver_function(inputs, SIM_EXPR_MUL, 2, -1, 10, 1);
    driver d = rain(SIM_DOUBLE, 2, 0.2);
    d.parameters.gravity[2] = own ? 0 : -10;
    d.parameters.external = own ? phi : NULL;
    driver_create(&d);
    driver_run(&d);
    assert_true(driver_value(&d, "flow", "inserted") > 20);
    height[own] = driver_get(&d, "position", 2, 10); /* after the five grains of the start */
    driver_destroy(&d);
    sim_expr_free(&phi);
  }
  near_to(height[1], height[0], 1e-11, "height of a new grain in an external potential");
}

/* From the middle, with history, between two times of insertion. */
static void test_restart(void **state) {
  (void)state;
  for (int single = 0; single < 2; single++) {
    char whole[33];
    driver d = rain(single ? SIM_SINGLE : SIM_DOUBLE, 2, 1.2);
    driver_create(&d);
    driver_until(&d, 0.8);
    driver_frame kept;
    driver_keep(&d, &kept);
    driver_run(&d);
    driver_digest(&d, whole);
    driver_destroy(&d);
    driver other = rain(single ? SIM_SINGLE : SIM_DOUBLE, 1, 1.2);
    expect_restart(&other, &kept, whole);
    driver_destroy(&other);
    driver_frame_free(&kept);
  }
}

static int64_t room(driver *d, int64_t *n) {
  driver_frame now;
  driver_keep(d, &now);
  const sim_array *id = sim_frame_array(&now.frame, "id");
  const int64_t room = (int64_t)(id->room / sizeof(uint64_t));
  *n = id->shape[0];
  driver_frame_free(&now);
  return room;
}

/* More grains than there was memory for at the start: the same bits as with memory for all. */
static void test_growth(void **state) {
  (void)state;
  for (int single = 0; single < 2; single++) {
    char whole[33], grown[33];
    int64_t n;
    driver d = rain(single ? SIM_SINGLE : SIM_DOUBLE, 2, 0.9);
    driver_create(&d);
    driver_run(&d);
    driver_digest(&d, whole);
    driver_destroy(&d);
    driver other = rain(single ? SIM_SINGLE : SIM_DOUBLE, 1, 0.05); /* 5 and 20 until then */
    driver_create(&other);
    assert_int_equal(room(&other, &n), 25);
    other.clock.t_end = 0.9;
    driver_run(&other);
    driver_digest(&other, grown);
    assert_string_equal(whole, grown);
    const int64_t now = room(&other, &n); /* half more than were present at some time */
    assert_true(n > 150 && now >= n && now <= 365 + 365 / 2);
    driver_destroy(&other);
  }
}

static double planned(double t_end) {
  sim_plan plan = {.space = SIM_SPACE_HOST};
  driver d = rain(SIM_DOUBLE, 2, t_end);
  driver_create(&d);
  assert_int_equal(collision_model.plan(&d.parameters, &d.setup, &plan), SIM_OK);
  driver_destroy(&d);
  return sim_plan_bytes(&plan, SIM_SPACE_HOST);
}

/* Grains are removed, so the memory of a run does not follow the grains that ever come: 8e9 of them in the end. */
static void test_long_plan(void **state) {
  (void)state;
  const double hour = planned(3600);
  assert_true(planned(2e7) == hour && planned(0.1) < 0.1 * hour);
}

/* Two grains that collide across the sheared boundary, and far from it with the same relative motion, behave the same.
 */
static void test_shear_image(void **state) {
  (void)state;
  const double rate = 0.5, size = 10;
  double speed[2];
  for (int across = 0; across < 2; across++) {
    driver d = driver_make(SIM_DOUBLE, 1e-3, 1);
    driver_box(&d, size, COLLISION_PERIODIC);
    d.parameters.box.shear_rate = rate;
    /* Velocities are relative to the flow: b is above a by 2.05, in the image or not. */
    collision_grain a = {.radius = 1, .position = {5, across ? 9 : 4, 5}, .group.velocity = {0, 0.5, 0}};
    collision_grain b = {.radius = 1, .position = {5, across ? 1.05 : 6.05, 5}, .group.velocity = {0, -0.5, 0}};
    d.parameters.contact.values.stiffness = 1e3;
    d.parameters.contact.values.friction = 0.5;
    driver_add(&d, &collision_grain_schema, &a);
    driver_add(&d, &collision_grain_schema, &b);
    driver_create(&d);
    driver_run(&d);
    speed[across] = driver_get(&d, "velocity", 0, 0) - rate * (driver_get(&d, "position", 1, 0) - 0.5 * size);
    driver_destroy(&d);
  }
  /* Rounding of positions near 10 over 1e3 steps. */
  near_to(speed[1], speed[0], 1e-10, "a contact across a sheared boundary");
  assert_true(fabs(speed[0]) > 1e-3);
}

/* Temperature and stress of motion of a sheared gas by their definition: of the velocities relative to the flow, about
 * their mean. Rounding of 400 terms. */
static void check_relative(driver *d, double rate, double size) {
  const int n = 400;
  double sum[3] = {0}, square[3] = {0}, mass = 0, carried = 0;
  for (int i = 0; i < n; i++) {
    const double m = driver_get(d, "mass", 0, i);
    const double flow[3] = {rate * (driver_get(d, "position", 1, i) - 0.5 * size)};
    mass += m;
    carried += m * flow[0];
    for (int c = 0; c < 3; c++) {
      const double u = driver_get(d, "velocity", c, i) - flow[c];
      sum[c] += m * u;
      square[c] += m * u * u;
    }
  }
  double all = 0;
  for (int c = 0; c < 3; c++) {
    char name[16];
    const double t = (square[c] - sum[c] * sum[c] / mass) / n;
    snprintf(name, sizeof name, "temperature_%c%c", "xyz"[c], "xyz"[c]);
    near_to(driver_value(d, "gas", name), t, 1e-13, name);
    all += t / 3;
  }
  assert_true(fabs(carried) > 0.01 * mass); /* the mean of the flow over the grains is not 0 */
  near_to(driver_value(d, "gas", "temperature"), all, 1e-13, "temperature");
}

/* The mean flow of a sheared gas stays linear: 400 grains of thermal speed 1 leave 0.15 in each of 4 slices. */
static collision_random_spheres spheres;
static void test_shear_flow(void **state) {
  (void)state;
  const double rate = 1;
  driver d = driver_make(SIM_DOUBLE, NAN, 2);
  driver_box(&d, 9, COLLISION_PERIODIC);
  spheres = (collision_random_spheres){.size.radius = 0.5, .group.density = 1.9, .n = 400, .temperature = 0.3};
  d.parameters.box.shear_rate = rate;
  d.parameters.profile = (collision_profile){.axis = 1, .bins = 4};
  d.parameters.contact.values.contact_time = 0.02;
  d.parameters.contact.values.restitution = 0.8;
  driver_add(&d, &collision_random_spheres_schema, &spheres);
  driver_create(&d);
  check_relative(&d, rate, 9);
  driver_run(&d);
  check_relative(&d, rate, 9);
  char name[16];
  for (int k = 0; k < 4; k++) {
    snprintf(name, sizeof name, "slice%d", k + 1);
    near_to(driver_value(&d, "profile_velocity_x", name), rate * 9 * (k - 1.5) / 4, 0.4, "flow in a slice");
  }
  assert_true(driver_value(&d, "gas", "stress_xy") < 0); /* momentum flows down the gradient */
  driver_destroy(&d);
}

/* Two grains of mass m in one slice of five, of 5 x 5 x 1. They fill 2 (4 pi/3) r^3 of its 25; V = 1, and the mean of m
 * (v - V)^2/3 is m (2^2 + 2^2)/2/3. */
static void test_profile(void **state) {
  (void)state;
  driver d = driver_make(SIM_DOUBLE, 1e-3, 1);
  driver_box(&d, 5, COLLISION_OPEN);
  collision_grain a = {.radius = 0.5, .position = {1, 1, 1.5}, .group.velocity = {0, 0, 3}};
  collision_grain b = {.radius = 0.5, .position = {3, 3, 1.5}, .group.velocity = {0, 0, -1}};
  d.parameters.profile = (collision_profile){.axis = 2, .bins = 5};
  d.parameters.contact.values.stiffness = 1e3;
  driver_add(&d, &collision_grain_schema, &a);
  driver_add(&d, &collision_grain_schema, &b);
  driver_create(&d);
  const double m = driver_get(&d, "mass", 0, 0);
  near_to(driver_value(&d, "profile_density", "slice2"), 2 * m / 25, 1e-15, "share of volume at a density of 1");
  near_to(driver_value(&d, "profile_velocity_z", "slice2"), 1, 1e-15, "velocity of a slice");
  near_to(driver_value(&d, "profile_temperature", "slice2"), m * 4 / 3, 1e-15, "temperature of a slice");
  assert_true(driver_value(&d, "profile_density", "slice1") == 0);
  assert_true(isnan(driver_value(&d, "profile_velocity_x", "slice1")));
  assert_true(isnan(driver_value(&d, "profile_temperature", "slice5")));
  driver_destroy(&d);
}

/* Gates in both planes of a periodic side count the same, in both directions. A gate of radius 1 reaches over the other
 * seam. No grain passes a fourth gate, across the middle. */
static void test_gate_at_seam(void **state) {
  (void)state;
  for (int precision = 0; precision < 2; precision++)
    for (int back = 0; back < 2; back++) {
      driver d = driver_make(precision ? SIM_DOUBLE : SIM_SINGLE, 1e-3, 2);
      driver_box(&d, 10, COLLISION_PERIODIC);
      collision_grain grain = {
          .radius = 0.5, .position = {back ? 1 : 9, 9.8, 5}, .group.velocity = {back ? -1 : 1, 0, 0}};
      collision_gate gate_of[4] = {{.point = {0, 5, 5}, .normal = {1, 0, 0}, .radius = NAN},
                                   {.point = {10, 5, 5}, .normal = {1, 0, 0}, .radius = NAN},
                                   {.point = {0, 0.5, 5}, .normal = {1, 0, 0}, .radius = 1},
                                   {.point = {5, 5, 5}, .normal = {1, 0, 0}, .radius = NAN}};
      sim_item list[4];
      for (int k = 0; k < 4; k++) list[k] = (sim_item){.data = &gate_of[k]};
      d.parameters.gates = (sim_list){list, 4};
      d.parameters.contact.values.stiffness = 1e3;
      driver_add(&d, &collision_grain_schema, &grain);
      driver_create(&d);
      driver_run(&d);
      for (int k = 0; k < 4; k++) {
        char name[16];
        snprintf(name, sizeof name, "gate%d_grains", k + 1);
        near_to(driver_value(&d, "flow", name), k == 3 ? 0 : back ? -1 : 1, 0, name);
      }
      driver_destroy(&d);
    }
}

/* A grain falls freely through a periodic box of 10 eight times. Gravity has done work of 8 m g 10 on it, to rounding
 * of m. Steps are exact, and each of 4e3 rounds v, of up to 40, by half an ulp: 2 (m/2 40^2) eps 4e3/2 relative to m g
 * 5. */
static void test_fall_through(void **state) {
  (void)state;
  for (int precision = 0; precision < 2; precision++) {
    const double eps = precision ? 0x1p-52 : 0x1p-23;
    driver d = driver_make(precision ? SIM_DOUBLE : SIM_SINGLE, 1e-3, 4);
    driver_box(&d, 10, COLLISION_PERIODIC);
    collision_grain grain = {.radius = 0.5, .position = {5, 5, 5}};
    d.parameters.gravity[2] = -10;
    d.parameters.contact.values.stiffness = 1e3;
    driver_add(&d, &collision_grain_schema, &grain);
    driver_create(&d);
    driver_run(&d);
    near_to(driver_value(&d, "energy", "balance"), 0, 800.0 / 50 * 4e3 * eps, "balance of a grain that falls");
    const double given = 8 * driver_get(&d, "mass", 0, 0) * 10 * 10;
    near_to(driver_value(&d, "energy", "work"), given, 8 * eps * given, "work of gravity over eight boxes");
    driver_destroy(&d);
  }
}

/* Grains that run down a slope, periodic along it. At 50 steps a contact, sums over steps miss (2 pi/50)^2/12 = 0.13 %
 * of the energy that passes through contacts. The lost energy bounds half of that with a restitution of 0.7 (1 -
 * 0.7^2). During contacts a part of one step's loss is missed too, which is less. */
static void test_chute(void **state) {
  (void)state;
  driver d = driver_make(SIM_DOUBLE, NAN, 3);
  driver_box(&d, 4, COLLISION_PERIODIC);
  d.parameters.box.sides[4] = COLLISION_WALL;
  d.parameters.box.sides[5] = COLLISION_OPEN;
  spheres = (collision_random_spheres){.size.radius = 0.4, .n = 40};
  d.parameters.gravity[0] = 5;
  d.parameters.gravity[2] = -8;
  d.parameters.contact.values.stiffness = 2e4;
  d.parameters.contact.values.restitution = 0.7;
  d.parameters.contact.values.friction = 0.3;
  driver_add(&d, &collision_random_spheres_schema, &spheres);
  driver_create(&d);
  const double energy = driver_value(&d, "energy", "potential");
  driver_run(&d);
  const double lost = driver_value(&d, "energy", "dissipated");
  assert_true(driver_value(&d, "energy", "work") > energy && lost > 0.5 * energy);
  near_to(driver_value(&d, "energy", "balance"), 0, 0.0013 * 2 * lost / energy, "balance of grains on a chute");
  driver_destroy(&d);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_count),        cmocka_unit_test(test_newcomers_fall), cmocka_unit_test(test_restart),
      cmocka_unit_test(test_growth),       cmocka_unit_test(test_long_plan),      cmocka_unit_test(test_shear_image),
      cmocka_unit_test(test_shear_flow),   cmocka_unit_test(test_profile),        cmocka_unit_test(test_gate_at_seam),
      cmocka_unit_test(test_fall_through), cmocka_unit_test(test_chute)};
  return cmocka_run_group_tests_name("flow", tests, NULL, NULL);
}
