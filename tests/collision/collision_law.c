/* Effects of the law of contacts on the step, on the clock and on the balance of energy. */
#include "tests/collision/driver.h"
#include "engine/log.h"
#include "tests/collision/near.h"

#include <math.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

static collision_plane ground;
static collision_grain one, other;
static collision_pair pair;
static sim_item pair_item;

/* Contacts of Hertz's law at overlaps of 5 % last half of Rayleigh's five times, and a fourth where they are deeper: 50
 * of 200 steps. Quantities with kinks at their ends are summed over these steps to (2 pi/50)^2/12. */
static const double closes = 1.3e-3;

static driver make(int law, double restitution, double t_end) {
  driver d = driver_make(SIM_DOUBLE, NAN, t_end);
  ground = (collision_plane){.normal = {0, 0, 1}};
  d.parameters.contact.law = law;
  if (law == COLLISION_HERTZ)
    d.parameters.contact.values.young = 1e6;
  else
    d.parameters.contact.values.stiffness = 1e6;
  d.parameters.contact.values.restitution = restitution;
  return d;
}

static void add_pair(driver *d, char *a, char *b, double young) {
  pair = (collision_pair){.values = driver_values(), .a = a, .b = b};
  pair.values.young = young;
  pair_item = (sim_item){.data = &pair};
  d->parameters.contact.pairs = (sim_list){&pair_item, 1};
}

/* ---- the step ---- */

/* A soft grain and a stiff wall, or a grain of one of two soft materials that are stiff to each other. The step is that
 * of the stiff pair, since Rayleigh's wave is slower by the root of its modulus, and an elastic bounce gives its energy
 * back. Hertz's force is of order d^(3/2) at both ends, so that the scheme's error at 50 steps is below 1e-3. */
static void test_pairs(void **state) {
  (void)state;
  const double ratio = 1e5;
  for (int wall = 0; wall < 2; wall++) {
    double dt[2];
    for (int stiff = 0; stiff < 2; stiff++) {
      driver d = make(COLLISION_HERTZ, 1, 1);
      one = (collision_grain){.radius = 0.5, .position = {0, 0, 0.50005}, .group = {.velocity = {0, 0, -1}}};
      one.group.density = 1000;
      if (stiff) add_pair(&d, "grain", wall ? "wall" : "glass", 1e6 * ratio);
      driver_add(&d, &collision_grain_schema, &one);
      if (wall) {
        driver_wall(&d, &collision_plane_schema, &ground);
      } else {
        other = (collision_grain){.radius = 0.5, .position = {0, 0, -0.50005}, .group = {.velocity = {0, 0, 1}}};
        other.group.density = 1000;
        other.group.material = "glass";
        driver_add(&d, &collision_grain_schema, &other);
      }
      driver_create(&d);
      dt[stiff] = d.clock.dt;
      const double before = driver_value(&d, "energy", "kinetic");
      while (stiff && d.clock.t < 0.01) driver_step(&d);
      if (stiff) near_to(driver_value(&d, "energy", "kinetic") / before, 1, 1e-3, "energy after a stiff contact");
      if (stiff) assert_true(driver_get(&d, "velocity", 2, 0) > 0);
      driver_destroy(&d);
    }
    near_to(dt[0] / dt[1], sqrt(ratio), 1e-9 * sqrt(ratio), "step of a stiff pair");
  }
}

/* A tangential spring stiffer than 2/7 of the normal one is the faster of the two: by sqrt(7/2 of its share). */
static void test_tangential(void **state) {
  (void)state;
  const double share[4] = {0.1, 2.0 / 7, 10, 10}, expected[4] = {1, 1, sqrt(35), 1};
  double first = 0;
  for (int k = 0; k < 4; k++) {
    driver d = make(COLLISION_LINEAR, 0.9, 1);
    one = (collision_grain){.radius = 0.5, .position = {0, 0, 1}};
    d.parameters.contact.values.friction = k < 3 ? 0.5 : 0; /* without friction there is no tangential spring */
    d.parameters.contact.values.tangential_stiffness = share[k];
    driver_add(&d, &collision_grain_schema, &one);
    driver_wall(&d, &collision_plane_schema, &ground);
    driver_create(&d);
    if (k == 0) first = d.clock.dt;
    near_to(first / d.clock.dt, expected[k], 1e-12 * expected[k], "step with a stiff tangential spring");
    driver_destroy(&d);
  }
}

/* ---- Hertz with friction and dashpots ---- */

/* While a grain slides under its weight the floor takes mu of the normal impulse, whatever the bounces of the start.
 * The load is the whole normal force where the dashpot never pulls. */
static void test_slide(void **state) {
  (void)state;
  const double mu = 0.3, g = 10, m = 1000 * pi / 6;
  driver d = make(COLLISION_HERTZ, 0.5, 1);
  one = (collision_grain){.radius = 0.5, .position = {0, 0, 0.49}};
  one.group.density = 1000;
  one.group.velocity[0] = 1;
  d.parameters.contact.values.friction = mu;
  d.parameters.gravity[2] = -g;
  d.parameters.integrate.steps_per_contact = 200;
  driver_add(&d, &collision_grain_schema, &one);
  driver_wall(&d, &collision_plane_schema, &ground);
  driver_create(&d);
  const double start = driver_value(&d, "energy", "total");
  driver_until(&d, 0.05);
  const double up = g * d.clock.t + driver_get(&d, "velocity", 2, 0);
  near_to(driver_get(&d, "velocity", 0, 0), 1 - mu * up, 1e-9, "speed while sliding");
  driver_until(&d, 1);
  /* Losses are counted at the end of a step, and mu m g v decreases from v = 1: half a step of that, of m v^2/2. */
  const double gap = driver_value(&d, "energy", "total") + driver_value(&d, "energy", "dissipated") - start;
  near_to(gap / (0.5 * m), 0, mu * g * d.clock.dt, "energy of a grain that slides, then rolls");
  driver_destroy(&d);
}

/* An oblique impact. Until the normal speed changes its sign, the grain slides forward and friction opposes it with mu
 * N at every step, also for a spring that begins at an overlap of 0. A dashpot takes 0.64 of the energy in 100 of 200
 * steps (see `closes`): (2 pi/100)^2/12 of it in the balance. */
static void test_oblique(void **state) {
  (void)state;
  const double mu = 0.1;
  int steps = 0;
  driver d = make(COLLISION_HERTZ, 0.6, 1);
  one = (collision_grain){.radius = 0.5, .position = {0, 0, 0.5001}};
  one.group.density = 1000;
  one.group.velocity[0] = 0.5;
  one.group.velocity[2] = -1;
  d.parameters.contact.values.friction = mu;
  d.parameters.integrate.steps_per_contact = 200;
  driver_add(&d, &collision_grain_schema, &one);
  driver_wall(&d, &collision_plane_schema, &ground);
  driver_create(&d);
  while (driver_get(&d, "velocity", 2, 0) < 0) {
    driver_step(&d);
    const double along = driver_value(&d, "walls", "wall1_force_x"), down = -driver_value(&d, "walls", "wall1_force_z");
    if (!(down > 0)) continue;
    near_to(along / down, mu, 1e-9, "friction of a grain that slides on");
    steps++;
  }
  assert_true(steps > 20);
  while (driver_get(&d, "position", 2, 0) < 0.501) driver_step(&d);
  assert_true(driver_value(&d, "energy", "elastic") == 0);
  near_to(driver_value(&d, "energy", "balance"), 0, 2.2e-4, "energy balance of an oblique impact");
  driver_destroy(&d);
}

/* A bed that settles, with all springs, in contacts that load and unload repeatedly. */
static void test_bed(void **state) {
  (void)state;
  static double low[3] = {-2, -2, 0}, high[3] = {2, 2, 6};
  static collision_random_spheres spheres;
  static collision_cylinder tube;
  driver d = make(COLLISION_HERTZ, 0.5, 3);
  spheres = (collision_random_spheres){.group.density = 10, .n = 80, .size.radius = 0.4, .temperature = 30};
  spheres.low = (sim_doubles){low, 3, 1}, spheres.high = (sim_doubles){high, 3, 1};
  tube = (collision_cylinder){.axis = {0, 0, 1}, .radius = 3};
  d.parameters.contact.values.young = 1e5;
  d.parameters.contact.values.friction = 0.8;
  d.parameters.contact.values.rolling_friction = 0.1;
  d.parameters.contact.values.twisting_friction = 0.1;
  d.parameters.integrate.steps_per_contact = 200;
  d.parameters.gravity[2] = -10;
  driver_add(&d, &collision_random_spheres_schema, &spheres);
  driver_wall(&d, &collision_plane_schema, &ground);
  driver_wall(&d, &collision_cylinder_schema, &tube);
  driver_create(&d);
  const double start = driver_value(&d, "energy", "total");
  driver_run(&d);
  const double lost = driver_value(&d, "energy", "dissipated");
  const double gap = driver_value(&d, "energy", "total") + lost - start;
  print_message("  lost %.4g, missing %.1e of it\n", lost, gap / lost);
  near_to(gap / lost, 0, closes, "energy of a bed that settles");
  driver_destroy(&d);
}

/* ---- time ---- */

static collision_random_spheres spheres;
static driver gas(double t_end) {
  driver d = driver_make(SIM_SINGLE, 2e-4, t_end);
  driver_box(&d, cbrt(300 * pi / 6 / 0.3), COLLISION_PERIODIC);
  spheres = (collision_random_spheres){.group.density = 6 / pi, .size.radius = 0.5, .n = 300, .temperature = 1};
  d.parameters.contact.values.contact_time = 0.01;
  d.parameters.contact.values.restitution = 0.8;
  driver_add(&d, &collision_random_spheres_schema, &spheres);
  return d;
}

/* A run ends in a shortened step. A run that continues from there does not jump, returns to whole steps, and has the
 * bits of a run to the later end: in the general solver and in the fixed-point solver. */
static void test_later_end(void **state) {
  (void)state;
  driver d = driver_make(SIM_DOUBLE, 0.001, 0.0205);
  one = (collision_grain){.radius = 0.5, .group.velocity = {1, 0, 0}};
  driver_add(&d, &collision_grain_schema, &one);
  d.parameters.contact.values.contact_time = 0.01;
  driver_create(&d);
  driver_run(&d);
  assert_true(d.clock.t == 0.0205 && d.clock.step == 21);
  const double ends[3] = {0.0211, 0.0212, 0.03}, after[3] = {0.021, 0.0212, 0.022};
  for (int k = 0; k < 3; k++) {
    driver_frame kept;
    driver_keep(&d, &kept);
    driver_destroy(&d);
    d.parameters.integrate.t_end = ends[k];
    driver_restore(&d, &kept.frame);
    driver_step(&d);
    near_to(d.clock.t, after[k], 1e-15, "time of the first step");
    while (d.clock.t < d.clock.t_end) driver_step(&d);
    assert_true(d.clock.t == ends[k]);
    near_to(driver_get(&d, "position", 0, 0), d.clock.t, 1e-14, "way of a free grain");
    driver_frame_free(&kept);
  }
  near_to(d.clock.dt, 0.001, 1e-17, "whole steps");
  driver_destroy(&d);

  char knew[33], went[33];
  const double first = 0.02007, last = 0.04;
  driver whole = gas(first), parts = gas(last);
  driver_frame kept;
  driver_create(&whole);
  driver_run(&whole);
  driver_keep(&whole, &kept);
  assert_non_null(sim_frame_array(&kept.frame, "quanta"));
  whole.clock.t_end = last;
  driver_run(&whole);
  driver_restore(&parts, &kept.frame);
  driver_run(&parts);
  driver_digest(&whole, knew);
  driver_digest(&parts, went);
  assert_string_equal(knew, went);
  assert_true(driver_value(&whole, "contacts", "collisions") > 10);
  driver_frame_free(&kept);
  driver_destroy(&whole);
  driver_destroy(&parts);
}

/* ---- the balance ---- */

static int warnings;
static void count_warnings(void *context, sim_log_level level, const char *message) {
  (void)context;
  warnings += level == SIM_LOG_WARN && strstr(message, "the energy is not conserved") != NULL;
}

/* A grain so fast that its contact lasts only a few of Rayleigh's steps gains energy: one warning. A slow grain gives
 * none. */
static void test_warning(void **state) {
  (void)state;
  sim_log_add(count_warnings, NULL);
  for (int fast = 0; fast < 2; fast++) {
    driver d = make(COLLISION_HERTZ, 1, 1);
    warnings = 0;
    one = (collision_grain){.radius = 0.05, .position = {0, 0, 0.06}};
    one.group.density = 2500;
    one.group.velocity[2] = fast ? -400 : -0.1;
    d.parameters.integrate.steps_per_contact = 10;
    driver_add(&d, &collision_grain_schema, &one);
    driver_wall(&d, &collision_plane_schema, &ground);
    driver_create(&d);
    for (int k = 0; k < 20 || driver_get(&d, "velocity", 2, 0) < 0; k++) {
      driver_step(&d);
      (void)driver_value(&d, "energy", "balance");
    }
    assert_int_equal(warnings, fast);
    driver_destroy(&d);
  }
  sim_log_remove(count_warnings, NULL);
}

/* A pile at the longest step that is accepted, with dashpots that nearly end a contact: once it is at rest no energy is
 * lost any more. Dashpots faster than the step oscillate for ever, and lose 1e-2 in that time. Before the rest the
 * kinetic energy is below 1e-3 of the fall's, and decreases by a factor of ten in a tenth of that time. */
static void test_rest(void **state) {
  (void)state;
  for (int law = COLLISION_LINEAR; law <= COLLISION_HERTZ; law++) {
    collision_random_spheres pile = {.group.density = 1000, .size.radius = 0.13, .n = 40};
    double lost[2];
    driver d = make(law, 0.01, 2);
    driver_box(&d, 1, COLLISION_WALL);
    collision_values *v = &d.parameters.contact.values;
    if (law == COLLISION_HERTZ) v->young = 1e7;
    v->friction = 0.5;
    v->rolling_friction = 0.1;
    d.parameters.gravity[2] = -50;
    d.parameters.integrate.steps_per_contact = 10;
    driver_add(&d, &collision_random_spheres_schema, &pile);
    driver_create(&d);
    for (int k = 0; k < 2; k++) {
      driver_until(&d, k + 1);
      lost[k] = driver_value(&d, "energy", "dissipated");
    }
    assert_true(lost[1] - lost[0] < 1e-3 * lost[0]);
    driver_destroy(&d);
  }
}

/* A potential that changes in time does work that no column counts. */
static void test_timed(void **state) {
  (void)state;
  const char *const inputs[] = {"x", "y", "z", "t", NULL};
  for (int timed = 0; timed < 2; timed++) {
    sim_expr *potential = driver_function(inputs, SIM_EXPR_MUL, 0, timed ? 3 : 0, 1, 1);
    driver d = make(COLLISION_LINEAR, 1, 0.1);
    one = (collision_grain){.radius = 0.5, .position = {1, 0, 0}};
    d.parameters.external = potential;
    driver_add(&d, &collision_grain_schema, &one);
    driver_create(&d);
    driver_run(&d);
    assert_true(isnan(driver_value(&d, "energy", "balance")) == (timed != 0));
    assert_true(isfinite(driver_value(&d, "energy", "potential")));
    driver_destroy(&d);
    sim_expr_free(&potential);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pairs),   cmocka_unit_test(test_tangential), cmocka_unit_test(test_slide),
      cmocka_unit_test(test_oblique), cmocka_unit_test(test_bed),        cmocka_unit_test(test_later_end),
      cmocka_unit_test(test_warning), cmocka_unit_test(test_rest),       cmocka_unit_test(test_timed)};
  return cmocka_run_group_tests_name("law", tests, NULL, NULL);
}
