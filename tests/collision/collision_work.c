/* The energy that moving walls and a sheared box give to grains: with it the balance closes. */
#include "tests/collision/setups.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const double pi = 3.14159265358979323846;

/* A sum over steps of a fiftieth of a contact, of a quantity with a kink at its ends: (2 pi/50)^2/12 of it. */
static const double closes = 1.3e-3;

static double energy(driver *d, const char *column) { return driver_value(d, "energy", column); }

static void near_to(double got, double expected, double within, const char *what) {
  if (!(fabs(got - expected) <= within))
    fail_msg("%s: got %.9g, expected %.9g within %.1e", what, got, expected, within);
}

/* Returns the error of the balance, over the energy lost and gained. */
static double missing(driver *d, double total) {
  const double gap = energy(d, "total") - total + energy(d, "dissipated") - energy(d, "work");
  const double share = fabs(gap) / (energy(d, "dissipated") + fabs(energy(d, "work")));
  print_message("  total %.4g, dissipated %.4g, work %.4g: missing %.1e\n", energy(d, "total"), energy(d, "dissipated"),
                energy(d, "work"), share);
  return share;
}

/* A plane of velocity V hits a grain of velocity -u. It transfers the momentum m (1 + e)(V + u), and V times that as
 * energy, to `closes`. */
static void test_plane(void **state) {
  (void)state;
  const double V = 0.7, u = 0.4, e = 0.6, m = 4 * pi / 3 * 0.125;
  sim_expr *speed = driver_function((const char *const[]){"t", NULL}, SIM_EXPR_POW, 0, -1, 0, 3);
  for (int function = 0; function < 2; function++) { /* as a number, and V t^0 = 1 as a function of time */
    const double way = function ? 1 : V, given = way * m * (1 + e) * (way + u);
    driver d = driver_make(SIM_DOUBLE, NAN, 1);
    collision_plane plane = {.normal = {0, 0, 1}};
    collision_grain grain = {.radius = 0.5, .position = {0, 0, 0.7}, .group.velocity = {0.3, 0, -u}};
    if (function)
      plane.motion = speed;
    else
      plane.velocity[2] = V;
    d.parameters.contact.values.stiffness = 1e4;
    d.parameters.contact.values.restitution = e;
    driver_add(&d, &collision_grain_schema, &grain);
    driver_wall(&d, &collision_plane_schema, &plane);
    driver_create(&d);
    driver_run(&d);
    assert_true(energy(&d, "elastic") == 0);
    near_to(energy(&d, "work"), given, closes * given, "work of a plane");
    const double start = 0.5 * m * (u * u + 0.3 * 0.3);
    near_to(energy(&d, "balance") * start, 0, closes * given, "balance of a plane");
    driver_destroy(&d);
  }
  sim_expr_free(&speed);
}

static collision_random_spheres spheres;
static collision_cylinder turning;

/* Grains with friction and rolling in a rotating drum. */
static driver drum(int threads, double dt, double t_end) {
  static double low[3] = {-2.5, -1.5, -2.5}, high[3] = {2.5, 1.5, 2.5};
  driver d = driver_make(SIM_DOUBLE, dt, t_end);
  for (int c = 0; c < 3; c++) d.parameters.box.size[c] = 10, d.parameters.box.origin[c] = -5;
  d.parameters.box.size[1] = 3, d.parameters.box.origin[1] = -1.5;
  d.parameters.box.sides[2] = d.parameters.box.sides[3] = COLLISION_PERIODIC;
  spheres = (collision_random_spheres){.n = 100, .size = {NAN, {(double[]){0.25, 0.3}, 2, 1}, COLLISION_UNIFORM}};
  spheres.low = (sim_doubles){low, 3, 1};
  spheres.high = (sim_doubles){high, 3, 1};
  turning = (collision_cylinder){.axis = {0, 1, 0}, .radius = 4, .spin = 2};
  d.parameters.gravity[2] = -10;
  d.parameters.contact.values.stiffness = 2e4;
  d.parameters.contact.values.restitution = 0.6;
  d.parameters.contact.values.friction = 0.5;
  d.parameters.contact.values.rolling_friction = 0.05;
  driver_add(&d, &collision_random_spheres_schema, &spheres);
  driver_wall(&d, &collision_cylinder_schema, &turning);
  d.setup.threads = threads;
  return d;
}

static void test_drum(void **state) {
  (void)state;
  char whole[33];
  driver d = drum(2, NAN, 3), other = drum(1, NAN, 3);
  driver_frame kept;
  driver_create(&d);
  const double total = energy(&d, "total");
  driver_until(&d, 1.5);
  driver_keep(&d, &kept);
  driver_run(&d);
  assert_true(missing(&d, total) < closes);
  driver_digest(&d, whole);
  expect_restart(&other, &kept, whole);
  assert_true(energy(&d, "work") == energy(&other, "work"));
  assert_true(energy(&d, "balance") == energy(&other, "balance"));
  driver_frame_free(&kept);
  driver_destroy(&d);
  driver_destroy(&other);
}

/* A gas in a sheared box: work over rate, volume and time is the mean of the stress -P_xy, except for the share of the
 * flow in the energy. That share is rate sum m y u_x + rate^2/2 sum m y^2 (u: relative to the flow), which scatters at
 * both ends by about 2 sqrt(500) 2.7 3 and 2 sqrt(500) 6.7: together 4 % of the work here. */
static void test_shear(void **state) {
  (void)state;
  const double rate = 2, size = cbrt(500 * pi / 6 / 0.3);
  driver d = driver_make(SIM_DOUBLE, NAN, 6);
  driver_box(&d, size, COLLISION_PERIODIC);
  d.parameters.box.shear_rate = rate;
  spheres = (collision_random_spheres){.group.density = 6 / pi, .size.radius = 0.5, .n = 500, .temperature = 1};
  d.parameters.contact.values.contact_time = 0.02;
  d.parameters.contact.values.restitution = 0.8;
  driver_add(&d, &collision_random_spheres_schema, &spheres);
  driver_create(&d);
  const double total = energy(&d, "total");
  double stress = 0;
  int64_t looks = 0;
  for (; d.clock.t < d.clock.t_end; looks++) {
    for (int k = 0; k < 5 && d.clock.t < d.clock.t_end; k++) driver_step(&d);
    stress -= driver_value(&d, "gas", "stress_xy");
  }
  assert_true(missing(&d, total) < closes);
  const double expected = stress / (double)looks * rate * size * size * size * d.clock.t;
  print_message("  work %.5g, stress %.5g\n", energy(&d, "work"), expected);
  near_to(energy(&d, "work"), expected, 0.1 * expected, "work of shear");
  driver_destroy(&d);
}

/* Grains that rotate with a wall are at rest relative to it, without rolling or twisting resistance. A grain in a drum,
 * pressed on it by its inertia: k d = m w^2 (R - r + d) at first. The remaining error is that of the circle with a step
 * of 1/50 of a contact, (w dt)^2 = 1e-7 of it a turn. The resistance would stop the spin within 1/10 of a turn. A grain
 * on the axis of a rotating plane keeps its spin. */
static void test_turning(void **state) {
  (void)state;
  const double w = 2, r = 0.5, R = 3, k = 1e4, m = 4 * pi / 3 * r * r * r,
               depth = m * w * w * (R - r) / (k - m * w * w);
  driver d = driver_make(SIM_DOUBLE, NAN, 2 * pi / w);
  collision_cylinder shell = {.axis = {0, 0, 1}, .radius = R, .spin = w};
  collision_plane disc = {.point = {20, 0, 0}, .normal = {0, 0, 1}, .axis = {0, 0, 1}, .spin = w};
  collision_grain inside = {.radius = r,
                            .position = {R - r + depth, 0, 5},
                            .group.velocity = {0, w * (R - r + depth), 0},
                            .angular_velocity = {0, 0, w}};
  driver_wall(&d, &collision_cylinder_schema, &shell);
  driver_add(&d, &collision_grain_schema, &inside);
  collision_values *v = &d.parameters.contact.values;
  v->stiffness = k;
  v->restitution = 0.5;
  v->friction = 0.5;
  v->rolling_friction = v->twisting_friction = 0.2;
  driver on = d;
  driver_create(&d);
  driver_run(&d);
  near_to(driver_get(&d, "angular_velocity", 2, 0), w, 1e-5 * w, "spin of a grain that turns with a drum");
  near_to(energy(&d, "work"), 0, 1e-5 * 0.5 * m * w * w * R * R, "work on a grain that turns with a drum");
  driver_destroy(&d);
  collision_grain top = {.radius = r, .position = {20, 0, r - 0.01}, .angular_velocity = {0, 0, w}};
  on.parameters.walls.count = on.parameters.grains.count = 0;
  on.parameters.gravity[2] = -10;
  driver_wall(&on, &collision_plane_schema, &disc);
  driver_add(&on, &collision_grain_schema, &top);
  driver_create(&on);
  driver_run(&on);
  assert_true(driver_get(&on, "angular_velocity", 2, 0) == w);
  assert_true(driver_value(&on, "walls", "wall1_force_z") < 0);
  driver_destroy(&on);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_plane), cmocka_unit_test(test_drum),
                                     cmocka_unit_test(test_turning), cmocka_unit_test(test_shear)};
  return cmocka_run_group_tests_name("work", tests, NULL, NULL);
}
