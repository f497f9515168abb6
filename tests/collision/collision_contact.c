/* One contact at a time, against the laws' own solutions. */
#include "tests/collision/setups.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static const double pi = 3.14159265358979323846;

static void near_to(double got, double expected, double relative, const char *what) {
  if (!(fabs(got - expected) <= relative * fabs(expected)))
    fail_msg("%s: got %.9g, expected %.9g within %.1e (off by %.2e)", what, got, expected, relative,
             got / expected - 1);
}

/* Two grains of mass m collide head-on at `speed`, `gap` apart. Runs until they have separated. */
typedef struct collision_result {
  double restitution, overlap, duration;
} collision_result;

static collision_result collide(driver *d, double radius, double speed, double gap, double duration) {
  static collision_grain a, b;
  a = (collision_grain){
      .radius = radius, .position = {-radius - 0.5 * gap, 0, 0}, .group.velocity = {0.5 * speed, 0, 0}};
  b = (collision_grain){
      .radius = radius, .position = {radius + 0.5 * gap, 0, 0}, .group.velocity = {-0.5 * speed, 0, 0}};
  driver_add(d, &collision_grain_schema, &a);
  driver_add(d, &collision_grain_schema, &b);
  driver_create(d);
  collision_result out = {0};
  double before = -gap, began = NAN, ended = NAN;
  while (isnan(ended) && d->clock.t < gap / speed + 10 * duration) {
    driver_step(d);
    const double now = 2 * radius - (driver_get(d, "position", 0, 1) - driver_get(d, "position", 0, 0));
    out.overlap = fmax(out.overlap, now);
    /* Times between steps: the overlap is nearly linear there. */
    if (before <= 0 && now > 0) began = d->clock.t - d->clock.dt * now / (now - before);
    if (before > 0 && now <= 0) ended = d->clock.t - d->clock.dt * now / (now - before);
    before = now;
  }
  for (int k = 0; k < 3; k++) driver_step(d);
  out.duration = ended - began;
  out.restitution = (driver_get(d, "velocity", 0, 1) - driver_get(d, "velocity", 0, 0)) / speed;
  /* In the step in which a contact begins the dashpot takes 4 z w dt = 0.1 of the energy, at e = 0.3. The speed changes
   * by w dt = 0.067 in it; half of that, over half of the step, is not accounted for: 1.6e-3. */
  near_to(driver_value(d, "energy", "balance") + 1, 1, 2e-3, "energy balance of a collision");
  driver_destroy(d);
  return out;
}

/* e = exp(-pi z/sqrt(1 - z^2)), duration pi/(w sqrt(1 - z^2)). At duration/50 the oscillator's phase error is (w
 * dt)^2/24 = 1.6e-4. By analysis the scheme is right to 7e-4 at e = 0.3 and 1e-4 at 0.7, wherever in a step the contact
 * begins. */
static void test_linear(void **state) {
  (void)state;
  const double restitution[] = {0.95, 0.9, 0.7, 0.5, 0.3};
  for (size_t k = 0; k < sizeof restitution / sizeof *restitution; k++)
    for (int phase = 0; phase < 5; phase++) {
      const double e = restitution[k], m = 4 * pi / 3, stiffness = 1e4, z = -log(e) / sqrt(pi * pi + log(e) * log(e));
      const double duration = pi / (sqrt(stiffness / (m / 2)) * sqrt(1 - z * z)), dt = duration / 50;
      driver d = driver_make(SIM_DOUBLE, dt, 1e3);
      d.parameters.contact.values.stiffness = stiffness;
      d.parameters.contact.values.restitution = e;
      const collision_result got = collide(&d, 1, 0.1, (1.3 + 0.2 * phase) * 0.1 * dt, duration);
      near_to(got.restitution, e, 1e-3, "restitution");
      near_to(got.duration, duration, 1e-3, "contact time");
    }
}

/* The same by contact_time, and by damping, gamma = 2 z sqrt(k m*). */
static void test_linear_otherwise(void **state) {
  (void)state;
  driver d = driver_make(SIM_DOUBLE, NAN, 1e3);
  d.parameters.contact.values.contact_time = 0.02;
  d.parameters.contact.values.restitution = 0.8;
  collision_result got = collide(&d, 1, 0.1, 1e-4, 0.02);
  near_to(got.restitution, 0.8, 1e-3, "restitution by contact_time");
  near_to(got.duration, 0.02, 1e-3, "contact_time");
  const double m = 2 * pi / 3, stiffness = 1e4, z = 0.1, w = sqrt(stiffness / m);
  d = driver_make(SIM_DOUBLE, NAN, 1e3);
  d.parameters.contact.values.stiffness = stiffness;
  d.parameters.contact.values.damping = 2 * z * sqrt(stiffness * m);
  got = collide(&d, 1, 0.1, 1e-4, pi / w);
  near_to(got.restitution, exp(-pi * z / sqrt(1 - z * z)), 1e-3, "restitution by damping");
}

/* Overlap (15 m* v^2/(16 E* sqrt(R*)))^(2/5), duration 2.9433 overlap/v: 0.5 % at the automatic step. */
static void test_hertz(void **state) {
  (void)state;
  const double m = 2 * pi / 3, young = 1e6, nu = 0.25, e_star = young / (2 * (1 - nu * nu)), v = 0.1, r_star = 0.5;
  const double overlap = pow(15 * m * v * v / (16 * e_star * sqrt(r_star)), 0.4), duration = 2.9433 * overlap / v;
  const double restitution[] = {1, 0.8, 0.5};
  for (int k = 0; k < 3; k++) {
    driver d = driver_make(SIM_DOUBLE, NAN, 1e3);
    d.parameters.contact.law = COLLISION_HERTZ;
    d.parameters.contact.values.young = young;
    d.parameters.contact.values.poisson = nu;
    d.parameters.contact.values.restitution = restitution[k];
    const collision_result got = collide(&d, 1, v, 1e-5, duration);
    near_to(got.restitution, restitution[k], 5e-3, "restitution by Hertz");
    if (k > 0) continue;
    near_to(got.overlap, overlap, 5e-3, "overlap by Hertz");
    near_to(got.duration, duration, 5e-3, "duration by Hertz");
  }
}

/* Dashpots that never pull keep the bounds of the two tests above. */
static void test_limited(void **state) {
  (void)state;
  const double restitution[] = {0.9, 0.6, 0.3}, v = 0.1, m = 2 * pi / 3;
  for (int k = 0; k < 3; k++)
    for (int phase = 0; phase < 3; phase++) {
      const double e = restitution[k], duration = pi / sqrt(1e4 / m);
      driver d = driver_make(SIM_DOUBLE, duration / 50, 1e3);
      d.parameters.contact.limit_damping = true;
      d.parameters.contact.values.stiffness = 1e4;
      d.parameters.contact.values.restitution = e;
      near_to(collide(&d, 1, v, (1.3 + 0.3 * phase) * v * duration / 50, duration).restitution, limited_restitution(e),
              1e-3, "restitution of a dashpot that never pulls");
      if (phase > 0) continue;
      d = driver_make(SIM_DOUBLE, NAN, 1e3);
      d.parameters.contact.law = COLLISION_HERTZ;
      d.parameters.contact.limit_damping = true;
      d.parameters.contact.values.young = 1e6;
      d.parameters.contact.values.restitution = e;
      near_to(collide(&d, 1, v, 1e-5, 3 * pow(m * v * v / 1e6, 0.4) / v).restitution, limited_restitution(e), 5e-3,
              "restitution of Hertz's law with a dashpot that never pulls");
    }
}

static const collision_plane ground = {.point = {0, 0, 0}, .normal = {0, 0, 2}};

/* Heights h0 e^(2n). Gravity within a contact changes the speed v by about g tc/v = 1e-3 of it. The restitution is
 * right to 4e-4 (see above). Both count twice in a height: 6e-3 after four bounces. */
static void test_bounces(void **state) {
  (void)state;
  const double e = 0.8, g = 10, h0 = 1;
  driver d = driver_make(SIM_DOUBLE, NAN, 4);
  collision_plane wall = ground;
  collision_grain grain = {.radius = 0.1, .position = {0, 0, h0 + 0.1}};
  d.parameters.gravity[2] = -g;
  d.parameters.contact.values.restitution = e;
  d.parameters.contact.values.contact_time = 3e-4;
  driver_add(&d, &collision_grain_schema, &grain);
  driver_wall(&d, &collision_plane_schema, &wall);
  driver_create(&d);
  int bounces = 0;
  double highest = 0, last = -1;
  while (bounces < 4 && d.clock.t < d.clock.t_end) {
    driver_step(&d);
    const double v = driver_get(&d, "velocity", 2, 0);
    highest = fmax(highest, driver_get(&d, "position", 2, 0) - 0.1);
    if (last > 0 && v <= 0) {
      bounces++;
      near_to(highest, h0 * pow(e, 2 * bounces), 6e-3, "height of a bounce");
    }
    if (last <= 0 && v > 0) highest = 0;
    last = v;
  }
  assert_int_equal(bounces, 4);
  /* As above, z = 0.071: 2.8e-4 of the energy before a bounce, which is 1 + e^2 + e^4 + e^6 = 2.3 of that at the start.
   */
  near_to(driver_value(&d, "energy", "balance") + 1, 1, 1e-3, "energy balance of bounces");
  driver_destroy(&d);
}

/* A grain at rest on the ground under gravity g. */
static void rest(driver *d, collision_grain *grain, collision_plane *wall, double g, double tilt, double friction) {
  const double m = 4 * pi / 3 * pow(grain->radius, 3), stiffness = 1e6;
  d->parameters.gravity[0] = g * sin(tilt);
  d->parameters.gravity[2] = -g * cos(tilt);
  d->parameters.contact.values.stiffness = stiffness;
  d->parameters.contact.values.restitution = 0.5;
  d->parameters.contact.values.friction = friction;
  grain->position[2] = grain->radius - m * g * cos(tilt) / stiffness;
  driver_add(d, &collision_grain_schema, grain);
  driver_wall(d, &collision_plane_schema, wall);
  driver_create(d);
}

/* The grain rolls at 5 v0/7 after 2 v0/(7 mu g). The arm is the radius less an overlap of 4e-5 of it. The loss by
 * friction is counted at the end of each step: mu m g v0 dt/2 = 8e-4 in all, of an energy of 44 including height, 2e-5.
 */
static void test_sliding(void **state) {
  (void)state;
  for (int axis = 0; axis < 2; axis++) {
    const double v0 = 1, mu = 0.3, g = 10, t = 2 * v0 / (7 * mu * g);
    driver d = driver_make(SIM_DOUBLE, NAN, 1);
    collision_plane wall = ground;
    collision_grain grain = {.radius = 1};
    grain.group.velocity[axis] = v0;
    rest(&d, &grain, &wall, g, 0, mu);
    driver_until(&d, 0.5 * t);
    near_to(driver_get(&d, "velocity", axis, 0), v0 - mu * g * d.clock.t, 1e-4, "speed while sliding");
    near_to(driver_get(&d, "angular_velocity", 1 - axis, 0) * (axis == 0 ? 1 : -1), 2.5 * mu * g * d.clock.t, 1e-4,
            "turning while sliding");
    driver_until(&d, 2 * t);
    near_to(driver_get(&d, "velocity", axis, 0), 5 * v0 / 7, 1e-4, "rolling speed");
    near_to(driver_value(&d, "energy", "balance") + 1, 1, 3e-5, "energy balance of sliding");
    driver_destroy(&d);
  }
}

/* On an incline: rolls with (5/7) g sin(alpha) if mu >= (2/7) tan(alpha), else slides with g (sin - mu cos). */
static void test_incline(void **state) {
  (void)state;
  const double alpha = 0.5, g = 10;
  for (int k = 0; k < 2; k++) {
    const double mu = (k ? 0.8 : 1.5) * 2.0 / 7 * tan(alpha);
    driver d = driver_make(SIM_DOUBLE, NAN, 1);
    collision_plane wall = ground;
    collision_grain grain = {.radius = 1};
    rest(&d, &grain, &wall, g, alpha, mu);
    driver_until(&d, 0.5);
    const double a = k ? g * (sin(alpha) - mu * cos(alpha)) : 5.0 / 7 * g * sin(alpha);
    /* The spring takes up its load within some contact times of 6 ms, out of 500 ms: 2e-3. */
    near_to(driver_get(&d, "velocity", 0, 0), a * d.clock.t, 2e-3, "speed on an incline");
    driver_destroy(&d);
  }
}

/* Rolling friction: torque mu_r R m g, so v' = -(mu_r g)/(1 + 2/5) for a grain that rolls without sliding, except for
 * an overlap of 4e-5, as above. Its loss is counted like that of sliding: mu_r m g v0 dt/2 of 45, 1.2e-6. */
static void test_rolling(void **state) {
  (void)state;
  const double v0 = 1, g = 10, rolling = 0.02;
  driver d = driver_make(SIM_DOUBLE, NAN, 2);
  collision_plane wall = ground;
  collision_grain grain = {.radius = 1, .group.velocity = {v0, 0, 0}, .angular_velocity = {0, v0, 0}};
  d.parameters.contact.values.rolling_friction = rolling;
  rest(&d, &grain, &wall, g, 0, 0.5);
  driver_until(&d, 2);
  near_to(driver_get(&d, "velocity", 0, 0), v0 - rolling * g / 1.4 * d.clock.t, 1e-4, "speed with rolling friction");
  near_to(driver_value(&d, "energy", "balance") + 1, 1, 3e-6, "energy balance of rolling");
  driver_destroy(&d);
}

/* Twist: torque mu_t R m g on a spinning top of inertia (2/5) m R^2; to a step of 6e-5 of 2, and rounding. */
static void test_twisting(void **state) {
  (void)state;
  const double w0 = 2, g = 10, twisting = 0.02;
  driver d = driver_make(SIM_DOUBLE, NAN, 2);
  collision_plane wall = ground;
  collision_grain grain = {.radius = 1, .angular_velocity = {0, 0, w0}};
  d.parameters.contact.values.twisting_friction = twisting;
  rest(&d, &grain, &wall, g, 0, 0.5);
  driver_until(&d, 2);
  near_to(driver_get(&d, "angular_velocity", 2, 0), w0 - 2.5 * twisting * g * d.clock.t, 1e-4, "turning on the spot");
  driver_destroy(&d);
}

/* Oblique impact on a wall that slides throughout: the tangential impulse is mu (1 + e) m v, and the surface speed of
 * the spin 5/2 of it. */
static void test_oblique(void **state) {
  (void)state;
  const double e = 0.8, mu = 0.1, vn = 1, vt = 2;
  for (int law = 0; law < 2; law++) {
    driver d = driver_make(SIM_DOUBLE, NAN, 10);
    collision_plane wall = ground;
    collision_grain grain = {.radius = 1, .position = {0, 0, 1.001}, .group.velocity = {vt, 0, -vn}};
    d.parameters.contact.law = law;
    if (law == COLLISION_LINEAR)
      d.parameters.contact.values.stiffness = 1e8;
    else
      d.parameters.contact.values.young = 1e10;
    d.parameters.contact.values.restitution = e;
    d.parameters.contact.values.friction = mu;
    driver_add(&d, &collision_grain_schema, &grain);
    driver_wall(&d, &collision_plane_schema, &wall);
    driver_create(&d);
    while (driver_get(&d, "velocity", 2, 0) < 0 || driver_get(&d, "position", 2, 0) < 1.0005) driver_step(&d);
    /* The pull of the dashpot at the end of a contact carries no friction: 1 %. */
    near_to(vt - driver_get(&d, "velocity", 0, 0), mu * (1 + e) * vn, 1e-2, "tangential impulse");
    near_to(driver_get(&d, "angular_velocity", 1, 0), 2.5 * (vt - driver_get(&d, "velocity", 0, 0)), 1e-3,
            "turning after an oblique impact");
    driver_destroy(&d);
  }
}

/* The same where the dashpot never pulls: friction is mu times the normal force in every step, and so are impulses, to
 * rounding. A dashpot that pulls takes back some of the normal impulse, and none of the friction: 7 % at e = 0.3. The
 * normal impulse and the balance are as in a collision, see above. */
static void test_oblique_limited(void **state) {
  (void)state;
  const double restitution[] = {0.8, 0.5, 0.3}, mu = 0.1, vn = 1, vt = 2;
  for (int law = 0; law < 2; law++)
    for (int k = 0; k < 3; k++)
      for (int limited = 0; limited < 2; limited++) {
        const double e = restitution[k];
        driver d = driver_make(SIM_DOUBLE, NAN, 10);
        collision_plane wall = ground;
        collision_grain grain = {.radius = 1, .position = {0, 0, 1.001}, .group.velocity = {vt, 0, -vn}};
        d.parameters.contact.law = law;
        d.parameters.contact.limit_damping = limited;
        if (law == COLLISION_LINEAR)
          d.parameters.contact.values.stiffness = 1e8;
        else
          d.parameters.contact.values.young = 1e10;
        d.parameters.contact.values.restitution = e;
        d.parameters.contact.values.friction = mu;
        driver_add(&d, &collision_grain_schema, &grain);
        driver_wall(&d, &collision_plane_schema, &wall);
        driver_create(&d);
        while (driver_get(&d, "velocity", 2, 0) < 0 || driver_get(&d, "position", 2, 0) < 1.0005) driver_step(&d);
        const double along = vt - driver_get(&d, "velocity", 0, 0), normal = vn + driver_get(&d, "velocity", 2, 0);
        const double excess = along / (mu * normal) - 1;
        print_message("  law %d, restitution %g, limited %d: tangential impulse %+.2e\n", law, e, limited, excess);
        if (limited) {
          near_to(normal, (1 + limited_restitution(e)) * vn, 3e-3, "normal impulse of a dashpot that never pulls");
          if (!(fabs(excess) <= 1e-12)) fail_msg("tangential impulse: %+.2e beyond mu times normal", excess);
        } else if (e < 0.4 && !(excess > 0.05)) {
          fail_msg("a dashpot that pulls: %+.2e", excess);
        }
        near_to(driver_value(&d, "energy", "balance") + 1, 1, 2e-3, "energy balance of an oblique impact");
        driver_destroy(&d);
      }
}

/* Cohesion: two grains at rest in contact reach the overlap where k d = 4 pi surface_energy R. */
static void test_cohesion(void **state) {
  (void)state;
  driver d = driver_make(SIM_DOUBLE, NAN, 20);
  const double stiffness = 1e4, energy = 3;
  collision_grain a = {.radius = 1, .position = {-1 + 1e-6, 0, 0}}, b = {.radius = 1, .position = {1 - 1e-6, 0, 0}};
  d.parameters.contact.values.stiffness = stiffness;
  d.parameters.contact.values.restitution = 0.3;
  d.parameters.contact.values.surface_energy = energy;
  driver_add(&d, &collision_grain_schema, &a);
  driver_add(&d, &collision_grain_schema, &b);
  driver_create(&d);
  driver_run(&d);
  const double overlap = 2 - (driver_get(&d, "position", 0, 1) - driver_get(&d, "position", 0, 0));
  near_to(overlap, 4 * pi * energy * 0.5 / stiffness, 1e-6, "overlap by cohesion");
  driver_destroy(&d);
}

/* A pair of materials has its own constants. */
static void test_pairs(void **state) {
  (void)state;
  collision_pair pair = {.values = driver_values(), .a = "steel", .b = "steel"};
  pair.values.restitution = 0.4;
  sim_item item = {.schema = NULL, .data = &pair};
  for (int steel = 0; steel < 2; steel++) {
    driver d = driver_make(SIM_DOUBLE, NAN, 1);
    collision_grain a = {
        .radius = 1, .position = {-1.001, 0, 0}, .group = {.material = "steel", .velocity = {1, 0, 0}}};
    collision_grain b = {.radius = 1, .position = {1.001, 0, 0}, .group.material = steel ? "steel" : "glass"};
    d.parameters.contact.values.stiffness = 1e8;
    d.parameters.contact.values.restitution = 0.9;
    d.parameters.contact.pairs = (sim_list){&item, 1};
    driver_add(&d, &collision_grain_schema, &a);
    driver_add(&d, &collision_grain_schema, &b);
    driver_create(&d);
    driver_until(&d, 0.1);
    near_to(driver_get(&d, "velocity", 0, 1) - driver_get(&d, "velocity", 0, 0), steel ? 0.4 : 0.9, 1e-3,
            "restitution of a pair");
    driver_destroy(&d);
  }
}

/* A grain carried round by a drum that turns: at the start it slides, with friction mu m g along the surface. */
static void test_drum(void **state) {
  (void)state;
  driver d = driver_make(SIM_DOUBLE, NAN, 1);
  const double g = 10, mu = 0.2, radius = 1, m = 4 * pi / 3, stiffness = 1e6;
  collision_cylinder drum = {.point = {0, 0, 10}, .axis = {0, 3, 0}, .radius = 10, .spin = 1};
  collision_grain grain = {.radius = radius, .position = {0, 0, radius - m * g / stiffness}};
  d.parameters.gravity[2] = -g;
  d.parameters.contact.values.stiffness = stiffness;
  d.parameters.contact.values.restitution = 0.5;
  d.parameters.contact.values.friction = mu;
  driver_add(&d, &collision_grain_schema, &grain);
  driver_wall(&d, &collision_cylinder_schema, &drum);
  driver_create(&d);
  driver_until(&d, 0.02);
  /* Axis y, spin 1: the lowest point goes towards -x at 10. It slides at once; its weight has 2e-4 of that along
   * the slope that it gets to. */
  near_to(driver_get(&d, "velocity", 0, 0), -mu * g * d.clock.t, 5e-4, "carried by a drum");
  driver_destroy(&d);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_linear),  cmocka_unit_test(test_linear_otherwise),
                                     cmocka_unit_test(test_limited), cmocka_unit_test(test_oblique_limited),
                                     cmocka_unit_test(test_hertz),   cmocka_unit_test(test_bounces),
                                     cmocka_unit_test(test_sliding), cmocka_unit_test(test_incline),
                                     cmocka_unit_test(test_rolling), cmocka_unit_test(test_twisting),
                                     cmocka_unit_test(test_oblique), cmocka_unit_test(test_cohesion),
                                     cmocka_unit_test(test_pairs),   cmocka_unit_test(test_drum)};
  return cmocka_run_group_tests_name("contact", tests, NULL, NULL);
}
