/* Grains that merge: two by hand, chains, criteria, sheared and rotating boxes, coagulation, and the same bits. */
#include "tests/collision/driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const double pi = 3.14159265358979323846;

static void near_to(double got, double expected, double within, const char *what) {
  if (!(fabs(got - expected) <= within))
    fail_msg("%s: got %.17g, expected %.17g within %.1e", what, got, expected, within);
}

static driver gas(sim_precision precision, double dt, double t_end, int when) {
  driver d = driver_make(precision, dt, t_end);
  d.parameters.contact.values.contact_time = 50 * dt;
  d.parameters.contact.values.restitution = 0.7;
  d.parameters.merge = (collision_merge){true, when, NAN};
  return d;
}

static double mass_of(const collision_grain *g, double density) { return density * 4 * pi / 3 * pow(g->radius, 3); }

/* Two unequal rotating spheres collide across a side of a periodic box, off centre. Mass, volume, momentum and centre
 * of mass are sums. The spin has the angular momentum about the centre of mass, which moves by V t. Forces between the
 * two change none of these. In double: rounding of some ten operations, and of 20,000 positions up to 10, 1e-15 each.
 * In single half of 6e-7 for each of these; the position of the touch, known to 1e-5, turns the lever of 0.7. */
static void two_by_hand(void **state) {
  (void)state;
  for (int single = 0; single < 2; single++) {
    const double dt = 1e-4, t_end = 2, tight = single ? 4e-6 : 1e-12;
    driver d = gas(single ? SIM_SINGLE : SIM_DOUBLE, dt, t_end, COLLISION_MERGE_TOUCH);
    driver_box(&d, 10, COLLISION_PERIODIC);
    collision_grain a = {
        .group = {.velocity = {1, 0, 0}}, .radius = 0.5, .position = {8.5, 5, 5}, .angular_velocity = {0, 0.5, 1}};
    collision_grain b = {.group = {.velocity = {-0.2, 0.1, 0}, .density = 0.5}, .radius = 1, .position = {0.5, 5.9, 5}};
    driver_add(&d, &collision_grain_schema, &a);
    driver_add(&d, &collision_grain_schema, &b);
    driver_create(&d);
    const double before = driver_value(&d, "energy", "total");
    driver_run(&d);
    const double m = mass_of(&a, 1), M = mass_of(&b, 0.5), all = m + M, r = cbrt(0.125 + 1), mu = m * M / all;
    /* positions of b relative to a, whose image is at -1.5 */
    const double x[3] = {2, 0.9, 0}, u[3] = {-1.2, 0.1, 0};
    assert_true(driver_value(&d, "events", "mergers") == 1);
    assert_true(driver_value(&d, "events", "grains") == 1);
    near_to(driver_get(&d, "mass", 0, 0), all, tight, "mass");
    near_to(driver_get(&d, "radius", 0, 0), r, tight, "radius");
    assert_true(driver_get(&d, "id", 0, 0) == 1); /* the heavier grain */
    assert_true(driver_value(&d, "events", "last_other") == 0);
    double V[3], spin[3], energy = 0;
    for (int c = 0; c < 3; c++) V[c] = (m * a.group.velocity[c] + M * b.group.velocity[c]) / all;
    const double start[3] = {-1.5, 5, 5};
    for (int c = 0; c < 3; c++) {
      const double centre = start[c] + M / all * x[c] + V[c] * t_end;
      near_to(driver_get(&d, "velocity", c, 0), V[c], tight, "velocity");
      near_to(remainder(driver_get(&d, "position", c, 0) - centre, 10), 0, single ? 6e-3 : 1e-11, "position");
      spin[c] = 0.4 * m * 0.25 * a.angular_velocity[c];
    }
    spin[2] += mu * (x[0] * u[1] - x[1] * u[0]); /* the same at the touch, since no force acts before */
    for (int c = 0; c < 3; c++) {
      spin[c] /= 0.4 * all * r * r;
      near_to(driver_get(&d, "angular_velocity", c, 0), spin[c], single ? 2e-5 : 1e-11, "spin");
      energy += 0.5 * all * V[c] * V[c] + 0.2 * all * r * r * spin[c] * spin[c];
    }
    near_to(driver_value(&d, "energy", "total"), energy, single ? 1e-5 : 1e-11, "energy");
    /* The contact of the step of the touch, whose dashpot takes c v^2 dt with c = 2 mu |log e|/t_c, a part in 60 of
     * this energy, is a part of the merger. */
    near_to(driver_value(&d, "energy", "dissipated"), before - energy, single ? 1e-5 : 1e-11, "dissipated");
    near_to(driver_value(&d, "events", "energy"), before - energy, single ? 1e-5 : 1e-11, "energy of mergers");
    near_to(driver_value(&d, "events", "last_speed"), sqrt(1.45), single ? 1e-5 : 1e-12, "speed");
    driver_destroy(&d);
  }
}

/* Three grains in a row; the outer two touch the middle one in the same step. They become one grain at rest with the id
 * of the middle one, which is the heaviest. Its neighbours overlap deeply with the merged sphere of radius 3^(1/3) r,
 * and merge too although they approach slowly. */
static void chain(void **state) {
  (void)state;
  driver d = gas(SIM_DOUBLE, 1e-3, 0.3, COLLISION_MERGE_SLOW);
  d.parameters.merge.speed = 2;
  collision_grain g[5] = {{.group = {.velocity = {1, 0, 0}}, .radius = 1, .position = {-2.2, 0, 0}},
                          {.group = {.velocity = {-1, 0, 0}}, .radius = 1, .position = {2.2, 0, 0}},
                          {.group = {.density = 1.5}, .radius = 1},
                          {.group = {.velocity = {0, 3, 0}}, .radius = 0.2, .position = {0, -2.2, 0}},
                          {.group = {.velocity = {0, 3, 0}}, .radius = 0.2, .position = {0, 2.2, 0}}};
  for (int i = 0; i < 5; i++) driver_add(&d, &collision_grain_schema, &g[i]);
  driver_create(&d);
  driver_until(&d, 0.199);
  assert_true(driver_value(&d, "events", "mergers") == 0);
  driver_until(&d, 0.202);
  /* the lower small grain is then 1.6 from the middle */
  near_to(driver_value(&d, "events", "mergers"), 3, 0, "mergers");
  assert_true(driver_value(&d, "events", "last_grain") == 2);
  double p = 3 * (mass_of(&g[3], 1) + mass_of(&g[4], 1));
  near_to(driver_value(&d, "momentum", "momentum_y"), p, 1e-12, "momentum");
  near_to(driver_value(&d, "momentum", "momentum_x"), 0, 1e-12, "momentum");
  driver_destroy(&d);
}

/* The speed that decides is that of the approach, without the dashpot of the touch: 1 % above and below `speed`, and of
 * the escape speed, G (m + m)/(r + r), from gaps of 0.01. Until the touch v^2 grows by 2 G M (1/2 - 1/2.01) = 1.0 % of
 * 2 G M/2. */
static void criteria(void **state) {
  (void)state;
  for (int k = 0; k < 4; k++) {
    const bool bound = k > 1, slower = k % 2 == 1;
    driver d = gas(SIM_DOUBLE, 1e-4, 0.1, bound ? COLLISION_MERGE_BOUND : COLLISION_MERGE_SLOW);
    if (!bound) d.parameters.merge.speed = 1;
    const double M = 2 * 4 * pi / 3, G = 1 / M; /* speed of escape: 1 */
    if (bound) d.parameters.self_gravity.G = G;
    const double touch = slower ? 0.99 : 1.01, v = bound ? sqrt(touch * touch - 1 + 2 / 2.01) : touch;
    collision_grain a = {.group = {.velocity = {0.8 * v, 0, 0}}, .radius = 1, .position = {-1.005, 0, 0}};
    collision_grain b = {.group = {.velocity = {-0.2 * v, 0, 0}}, .radius = 1, .position = {1.005, 0, 0}};
    driver_add(&d, &collision_grain_schema, &a);
    driver_add(&d, &collision_grain_schema, &b);
    driver_create(&d);
    driver_run(&d);
    near_to(driver_value(&d, "events", "mergers"), slower ? 1 : 0, 0, bound ? "bound" : "slow");
    assert_true(driver_value(&d, "contacts", "collisions") == 1);
    driver_destroy(&d);
  }
}

/* Across the moving side of a sheared box, whose images move by 0.5 x 10: velocities relative to the flow count. Also
 * with Hill's equations, where the side is x and the energy includes the tide. All energies stay in balance, to the
 * rounding of 5000 positions. */
static void sheared(void **state) {
  (void)state;
  for (int hill = 0; hill < 2; hill++) {
    const double dt = 1e-4;
    driver d = gas(SIM_DOUBLE, dt, 0.5, COLLISION_MERGE_TOUCH);
    driver_box(&d, 10, COLLISION_PERIODIC);
    d.parameters.box.sides[4] = d.parameters.box.sides[5] = COLLISION_OPEN;
    for (int s = 0; s < 4; s++) d.parameters.box.sides[s] = COLLISION_PERIODIC;
    if (hill)
      d.parameters.hill = (collision_hill){true, 0.3, NAN, NAN};
    else
      d.parameters.box.shear_rate = 0.5;
    /* the flow is added; relative to it the grains approach each other across the side */
    const double low[3] = {hill ? 0.6 : 5, hill ? 5 : 0.6, 5}, high[3] = {hill ? 9.3 : 5.3, hill ? 5.3 : 9.3, 5.1};
    collision_grain a = {.radius = 0.5, .position = {low[0], low[1], low[2]}};
    collision_grain b = {.radius = 0.6, .position = {high[0], high[1], high[2]}};
    a.group.velocity[hill ? 0 : 1] = -1;
    b.group.velocity[hill ? 0 : 1] = 1;
    driver_add(&d, &collision_grain_schema, &a);
    driver_add(&d, &collision_grain_schema, &b);
    driver_create(&d);
    driver_run(&d);
    assert_true(driver_value(&d, "events", "mergers") == 1);
    near_to(driver_value(&d, "energy", "balance"), 0, 1e-11, "balance");
    near_to(driver_value(&d, "events", "energy"), driver_value(&d, "energy", "dissipated"), 1e-12, "energy of mergers");
    /* speeds of approach: 2 across; along, the difference of the flow over the distance, at most the rate times 1.1 */
    near_to(driver_value(&d, "events", "last_speed"), 2, 0.2, "speed");
    driver_destroy(&d);
  }
}

/* A sphere touches four others in one step, at 45 degrees from its direction of motion. It grows to 201 times the
 * radius of a fifth sphere, a ratio with which no run may begin; this run continues, and can be resumed. In the rest of
 * the step after a touch the dashpot takes c v^2 times that rest, over two. It must be counted once: `total` plus
 * `dissipated` is constant within a tenth of the loss of the four touches. The springs, which also act for a step, are
 * neglected: they take (pi/100)^2/4 of the energy of approach, a hundredth of it. */
static void several_at_once(void **state) {
  (void)state;
  /* time of the touch: 0.85 of the step about 0.028 comes after it */
  const double dt = 1e-3, both = 1.99 + 0.4, t = 0.02765;
  const double away = 0.5 * (t + sqrt(2 * both * both - t * t));
  driver_frame kept;
  driver d = gas(SIM_DOUBLE, dt, 0.1, COLLISION_MERGE_TOUCH);
  collision_grain big = {.group = {.velocity = {1, 0, 0}}, .radius = 1.99}, far = {.radius = 0.01, .position = {9}};
  collision_grain small[4];
  driver_add(&d, &collision_grain_schema, &big);
  driver_add(&d, &collision_grain_schema, &far);
  for (int i = 0; i < 4; i++) {
    const double side = i % 2 ? away : -away;
    small[i] = (collision_grain){.radius = 0.4, .position = {away, i < 2 ? side : 0, i < 2 ? 0 : side}};
    driver_add(&d, &collision_grain_schema, &small[i]);
  }
  driver_create(&d);
  const double before = driver_value(&d, "energy", "total");
  driver_until(&d, 0.05);
  assert_true(driver_value(&d, "events", "mergers") == 4);
  near_to(driver_value(&d, "events", "greatest_radius"), cbrt(pow(1.99, 3) + 4 * 0.064), 1e-12, "radius");
  const double m = mass_of(&small[0], 1), M = mass_of(&big, 1), mu = m * M / (m + M);
  const double dashpots = 0.85 * 4 * 2 * mu * 0.357 / (50 * dt) * 0.5 * dt;
  const double after = driver_value(&d, "energy", "total") + driver_value(&d, "energy", "dissipated");
  near_to(after, before, 0.1 * dashpots, "energy");
  driver_keep(&d, &kept);
  driver_destroy(&d);
  driver_restore(&d, &kept.frame);
  driver_run(&d);
  assert_true(driver_value(&d, "events", "mergers") == 4);
  driver_destroy(&d);
  driver_frame_free(&kept);
}

enum { COUNT = 3000 };

/* A gas of equal spheres that merge at each touch, at early times. By Smoluchowski, dN/dt = -K N^2/(2 V), with K = pi
 * (2 r)^2 <v> = 16 r^2 sqrt(pi T/m) of spheres of a temperature T; x = K N t/(2 V): N/N_0 = 1 - x + c x^2. A constant
 * kernel has c = 1. Here pairs of one and two have 1.277 (radii) x 0.866 (speeds) of K, and the spheres that merge are
 * faster than the mean (T decreases by x/3): c = 0.98, with 0.2 for neglected effects, 0.004 N_0 at x = 0.15. The
 * number of mergers scatters by its root at most, 20; 4 of these are allowed. Contacts of spheres that fill 0.005 are
 * more frequent by 1 + 5/2 0.005 (Enskog). */
static void coagulation(void **state) {
  (void)state;
  const double r = 0.5, T = 1, side = cbrt(COUNT * 4 * pi / 3 * 0.125 / 0.005), V = side * side * side;
  const double m = 4 * pi / 3 * 0.125, K = 16 * r * r * sqrt(pi * T / m) * (1 + 2.5 * 0.005), x = 0.15;
  const double t_end = x * 2 * V / (K * COUNT), dt = 0.1 * r / sqrt(3 * T / m);
  driver d = gas(SIM_DOUBLE, dt, t_end, COLLISION_MERGE_TOUCH);
  driver_box(&d, side, COLLISION_PERIODIC);
  collision_random_spheres g = {.size = {.radius = r}, .n = COUNT, .temperature = T};
  driver_add(&d, &collision_random_spheres_schema, &g);
  driver_create(&d);
  driver_run(&d);
  const double mergers = driver_value(&d, "events", "mergers"), expected = COUNT * (x - 0.98 * x * x);
  near_to(mergers, expected, 4 * sqrt(expected) + COUNT * 0.2 * x * x, "mergers");
  near_to(driver_value(&d, "events", "grains"), COUNT - mergers, 0, "grains");
  double mass = 0, volume = 0;
  for (int64_t i = 0; i < COUNT - (int64_t)mergers; i++) {
    mass += driver_get(&d, "mass", 0, i);
    volume += pow(driver_get(&d, "radius", 0, i), 3);
  }
  near_to(mass / (COUNT * m), 1, 1e-12, "mass");
  near_to(volume / (COUNT * 0.125), 1, 1e-12, "volume");
  for (int c = 0; c < 3; c++) /* 0 at the start */
    near_to(driver_value(&d, "momentum",
                         c == 0   ? "momentum_x"
                         : c == 1 ? "momentum_y"
                                  : "momentum_z"),
            0, 1e-9, "momentum");
  driver_destroy(&d);
}

/* The same digest on 1 and 3 threads, and from a state in the middle. */
static void same_bits(void **state) {
  (void)state;
  char digest[3][33];
  double mergers = 0;
  for (int k = 0; k < 3; k++) {
    driver d = gas(k < 3 ? SIM_DOUBLE : SIM_SINGLE, 5e-3, 1, COLLISION_MERGE_SLOW);
    d.parameters.merge.speed = 3;
    d.parameters.contact.values.friction = 0.3;
    driver_box(&d, 12, COLLISION_PERIODIC);
    d.setup.threads = k == 1 ? 3 : 1;
    collision_random_spheres g = {.size = {.radius = 0.5}, .n = 300, .temperature = 1};
    driver_add(&d, &collision_random_spheres_schema, &g);
    driver_create(&d);
    if (k == 2) {
      driver_frame kept;
      driver_until(&d, 0.4);
      assert_true(driver_value(&d, "events", "mergers") > 0);
      driver_keep(&d, &kept);
      driver_destroy(&d);
      driver_restore(&d, &kept.frame);
      driver_frame_free(&kept);
    }
    driver_run(&d);
    driver_digest(&d, digest[k]);
    mergers = driver_value(&d, "events", "mergers");
    driver_destroy(&d);
  }
  assert_true(mergers > 5 && mergers < 290);
  assert_string_equal(digest[0], digest[1]);
  assert_string_equal(digest[0], digest[2]);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(two_by_hand),     cmocka_unit_test(chain),
                                     cmocka_unit_test(criteria),        cmocka_unit_test(sheared),
                                     cmocka_unit_test(several_at_once), cmocka_unit_test(coagulation),
                                     cmocka_unit_test(same_bits)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
