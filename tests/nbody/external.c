/* External forces that a scenario writes as a function, in motions with known solutions. */
#include "tests/nbody/functions.h"

#include "engine/log.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const double pi = 3.14159265358979323846;

static const char lua[] = "trap  = function(x, y, z) return (x^2 + y^2 + z^2) / 2 end,\n"
                          "pull  = function(x, y, z) return -x, -y, -z end,\n"
                          "halo  = function(x, y, z) return 0.5 * math.log(0.25 + x^2 + y^2 + z^2 / 0.64) end,\n"
                          "ramp  = function(t) return 1, t, -2 * t end,\n"
                          "swing = function(t) return math.cos(t), 0, math.sin(2 * t) end,\n"
                          /* A logarithmic bar that rotates with angular velocity 0.5. */
                          "bar   = function(x, y, z, t)\n"
                          "  local c, s = math.cos(t / 2), math.sin(t / 2)\n"
                          "  local u, v = c * x + s * y, c * y - s * x\n"
                          "  return 0.5 * math.log(0.04 + u^2 + v^2 / 0.64 + z^2)\n"
                          "end,\n"
                          "pole  = function(x, y, z) return -1 / sim.hypot(x, y) end,\n"
                          "none  = function(r2) return 0 end,\n"
                          "heavy = function(r2) return -math.exp(-math.sqrt(r2)) * math.sin(r2) end,\n"
                          "wide  = function(body) return math.exp(math.sin(body.x) * sim.hypot(body.x, body.y)) end,\n"
                          "late  = function(x, t) return sim.where(sim.gt(t, 2), 10 * x^2, 0) end,\n"
                          "spin  = function(x, y, z) return -y, x, 0 end,\n";

static const char *const scheme_names[] = {"leapfrog", "yoshida4", "hermite4"};

static nbody_body body(double mass, double x, double y, double z, double vx, double vy, double vz) {
  return (nbody_body){.group = {.position = {x, y, z}, .velocity = {vx, vy, vz}}, .mass = mass};
}

/* Creates a run of bodies in an external force, without forces between them. */
static driver make(driver_place place, nbody_scheme scheme, double dt, double t_end, const char *external,
                   nbody_body *bodies, int count) {
  driver d = driver_make(place, scheme, dt, t_end, 0);
  driver_law(&d, "external", external);
  driver_law(&d, "pair", "none");
  for (int i = 0; i < count; i++) driver_add(&d, &nbody_body_schema, &bodies[i]);
  return d;
}

static void finish(driver *d) {
  driver_destroy(d);
  driver_forget(d);
}

static double unit_of(driver_place place) { return place.precision == SIM_SINGLE ? 0x1p-24 : 0x1p-53; }

/* ---- harmonic trap: x = x0 cos t + v0 sin t ---- */

static double trap_error(driver_place place, nbody_scheme scheme, const char *external, int steps) {
  nbody_body bodies[] = {body(1, 1, 0, 0, 0, 0, 0), body(2, 0.5, -0.25, 0.125, 0, 1, 0.5), body(0, 0, 0, 1, 1, 0, 0)};
  driver d = make(place, scheme, 2 * pi / steps, 2 * pi, external, bodies, 3);
  driver_create(&d);
  driver_run(&d);
  double worst = 0;
  for (int i = 0; i < 3; i++)
    for (int c = 0; c < 3; c++) {
      worst = fmax(worst, fabs(driver_get(&d, "position", c, i) - bodies[i].group.position[c]));
      worst = fmax(worst, fabs(driver_get(&d, "velocity", c, i) - bodies[i].group.velocity[c]));
    }
  if (strcmp(external, "pull") == 0) {
    assert_true(isnan(driver_value(&d, "energy", "potential")));
    assert_true(isnan(driver_value(&d, "energy", "error")));
    assert_true(isfinite(driver_value(&d, "energy", "kinetic")));
  } else {
    /* Energy of the orbit: 1/2 + 2 (0.5^2 + 0.25^2 + 0.125^2 + 1 + 0.5^2)/2 + 0. An error of x and v changes it by up
     * to 2 m (|x| + |v|) times as much, below 8. */
    assert_true(fabs(driver_value(&d, "energy", "total") - 0.5 - (0.25 + 0.0625 + 0.015625 + 1 + 0.25)) <=
                8 * worst + 64 * unit_of(place));
  }
  finish(&d);
  return worst;
}

static void trap(driver_place place) {
  static const int orders[] = {2, 4, 4};
  for (int scheme = NBODY_LEAPFROG; scheme <= NBODY_HERMITE4; scheme++) {
    for (int form = 0; form < 2; form++) {
      double before = 0;
      for (int k = 0; k < 3; k++) {
        const int steps = 64 << k;
        const double error = trap_error(place, (nbody_scheme)scheme, form ? "pull" : "trap", steps);
        /* Seven roundings a step at most, of numbers up to 1.2; each rounding persists for the rest of the orbit. */
        const double floor = 7 * 1.2 * steps * unit_of(place), dt = 2 * pi / steps;
        /* Leapfrog turns faster by dt^2/24: 2 pi dt^2/24 ahead after a turn, on a circle of radius 1.2 at most. */
        if (scheme == NBODY_LEAPFROG &&
            !(error > 0.9 * 2 * pi * dt * dt / 24 - floor && error < 1.2 * 1.1 * 2 * pi * dt * dt / 24 + floor))
          fail_msg("leapfrog: %g at dt = %g", error, dt);
        /* The next order adds dt^2: below 0.02 in the slope at these steps; 0.1 is allowed. */
        if (k > 0 && place.precision != SIM_SINGLE && !(fabs(log2(before / error) - orders[scheme]) <= 0.1))
          fail_msg("%s: order %g", scheme_names[scheme], log2(before / error));
        if (place.precision == SIM_SINGLE && k > 0) assert_true(error <= before / (1 << orders[scheme]) * 1.1 + floor);
        before = error;
      }
    }
  }
}

static void test_trap(void **state) {
  (void)state;
  driver_everywhere(trap);
}

/* ---- adaptive steps ---- */

/* A body at rest in the trap, or a force that begins without a slope: only the second derivative limits the first step.
 */
static void adaptive(driver_place place) {
  static const char *const laws[] = {"trap", "swing", "bar"};
  for (int k = 0; k < 3; k++) {
    nbody_body alone = body(1, 1, 0, 0, 0, 0, 0);
    driver d = make(place, NBODY_HERMITE4, NAN, 3, laws[k], &alone, 1);
    driver_create(&d);
    /* eta = 0.01 times a time scale between 0.2 (the bar's core) and 1 */
    if (!(d.clock.dt > 0.001 && d.clock.dt <= 0.011)) fail_msg("%s begins with %g", laws[k], d.clock.dt);
    driver_run(&d);
    assert_true(d.clock.t == 3);
    const double x = driver_get(&d, "position", 0, 0), unit = unit_of(place) * (double)d.clock.step * 7;
    /* Aarseth's eta of 0.01 gives steps of about 0.1: (0.1)^4/720 a unit of time at most, times 3; 1e-5 is allowed. */
    if (k == 0) assert_true(fabs(x - cos(3)) < 1e-5 + unit);
    if (k == 1) assert_true(fabs(x - (2 - cos(3))) < 1e-5 + 3 * unit);
    finish(&d);
  }
}

static void test_adaptive(void **state) {
  (void)state;
  driver_everywhere(adaptive);
}

/* ---- logarithmic halo: v^2 = R^2/(R^2 + 1/4) on circles ---- */

static void halo(driver_place place) {
  const double v = sqrt(4 / 4.25), radius = 2, period = 2 * pi * radius / v;
  for (int scheme = NBODY_LEAPFROG; scheme <= NBODY_HERMITE4; scheme++) {
    const int steps = 512;
    nbody_body bodies[] = {body(1, radius, 0, 0, 0, v, 0), body(0.5, 0.7, 0, 0.3, 0.1, 0.6, 0.2)};
    driver d = make(place, (nbody_scheme)scheme, period / steps, period, "halo", bodies, 2);
    driver_create(&d);
    const double turning = driver_value(&d, "energy", "angular_momentum_z");
    double worst = 0, energy = 0;
    while (d.clock.t < d.clock.t_end) {
      driver_step(&d);
      worst = fmax(worst, fabs(hypot(driver_get(&d, "position", 0, 0), driver_get(&d, "position", 1, 0)) - radius));
      energy = fmax(energy, fabs(driver_value(&d, "energy", "error")));
    }
    const double rounding = 7 * radius * steps * unit_of(place), dt = period / steps;
    /* Leapfrog: the circle's radius oscillates by about R (Omega dt)^2/8, below R (Omega dt)^2/4. Fourth order: below R
     * (Omega dt)^4. The second body turns up to 4 times as fast (Omega <= 2): its energy errs by (Omega dt)^2/4 and
     * (Omega dt)^4 of about 1. */
    const double turn = 2 * pi / steps, fast = 2 * dt;
    const double radial = scheme == NBODY_LEAPFROG ? turn * turn / 4 : pow(turn, 4);
    const double total = scheme == NBODY_LEAPFROG ? fast * fast / 4 : pow(fast, 4);
    if (!(worst <= radius * radial + rounding)) fail_msg("%s: radius %g", scheme_names[scheme], worst);
    if (!(energy <= total + rounding)) fail_msg("%s: energy %g", scheme_names[scheme], energy);
    /* The force is symmetric about z. Kicks are along the radius, so only Hermite's corrector changes the angular
     * momentum, at its order. */
    const double left = fabs(driver_value(&d, "energy", "angular_momentum_z") - turning);
    if (!(left <= rounding + (scheme == NBODY_HERMITE4 ? pow(fast, 4) : 0)))
      fail_msg("%s: angular momentum %g", scheme_names[scheme], left);
    finish(&d);
  }
}

static void test_halo(void **state) {
  (void)state;
  driver_everywhere(halo);
}

/* ---- forces that depend on time ---- */

/* a = (1, t, -2 t). Velocities are exact in all schemes, positions in schemes of fourth order. Leapfrog lacks a' dt^3/6
 * a step. */
static void ramp(driver_place place) {
  const double t = 2;
  for (int scheme = NBODY_LEAPFROG; scheme <= NBODY_HERMITE4; scheme++) {
    nbody_body alone = body(1, 0, 0, 0, 0, 0, 0);
    driver d = make(place, (nbody_scheme)scheme, 1.0 / 64, t, "ramp", &alone, 1);
    driver_create(&d);
    driver_run(&d);
    const double lag = scheme == NBODY_LEAPFROG ? t / (64.0 * 64 * 6) : 0;
    const double rounding = 7 * 128 * 8 * unit_of(place), v[] = {t, t * t / 2, -t * t},
                 x[] = {t * t / 2, t * t * t / 6 - lag, -2 * (t * t * t / 6 - lag)};
    for (int c = 0; c < 3; c++) {
      assert_true(fabs(driver_get(&d, "velocity", c, 0) - v[c]) <= rounding);
      assert_true(fabs(driver_get(&d, "position", c, 0) - x[c]) <= rounding);
    }
    finish(&d);
  }
}

static void test_ramp(void **state) {
  (void)state;
  driver_everywhere(ramp);
}

/* The bar rotates: energy and angular momentum are not conserved, but E - Omega Lz is (Jacobi's integral). */
static double jacobi(driver *d) {
  return driver_value(d, "energy", "total") - 0.5 * driver_value(d, "energy", "angular_momentum_z");
}

static double bar_error(driver_place place, nbody_scheme scheme, double dt, double *change) {
  nbody_body alone = body(1, 1, 0, 0.1, 0, 0.9, 0);
  driver d = make(place, scheme, dt, 8, "bar", &alone, 1);
  driver_create(&d);
  const double first = jacobi(&d), energy = driver_value(&d, "energy", "total");
  assert_true(isnan(driver_value(&d, "energy", "error")));
  double worst = 0;
  while (d.clock.t < d.clock.t_end) {
    driver_step(&d);
    worst = fmax(worst, fabs(jacobi(&d) - first));
    *change = fmax(*change, fabs(driver_value(&d, "energy", "total") - energy));
  }
  finish(&d);
  return worst;
}

static void bar(driver_place place) {
  static const int orders[] = {2, 4, 4};
  for (int scheme = NBODY_LEAPFROG; scheme <= NBODY_HERMITE4; scheme++) {
    double change = 0;
    const double coarse = bar_error(place, (nbody_scheme)scheme, 1.0 / 64, &change);
    const double fine = bar_error(place, (nbody_scheme)scheme, 1.0 / 128, &change);
    const double floor = 7 * 1024 * 2 * unit_of(place);
    assert_true(change > 0.02);        /* of the energy, which is not conserved */
    assert_true(coarse < change / 10); /* Jacobi's integral is conserved to the scheme's error */
    /* Half the step: the error falls to 2^-order of it, within a factor of 1.5, or to rounding. */
    if (!(fine <= 1.5 * coarse / (1 << orders[scheme]) + floor))
      fail_msg("%s: %g and %g", scheme_names[scheme], coarse, fine);
  }
}

static void test_bar(void **state) {
  (void)state;
  driver_everywhere(bar);
}

/* ---- with gravity, and at the beginning ---- */

/* In a trap the centre of mass oscillates as a single body, whatever the forces between the bodies. */
static void with_gravity(driver_place place) {
  driver d = driver_make(place, NBODY_HERMITE4, 1.0 / 128, 2, 0.1);
  driver_law(&d, "external", "trap");
  nbody_sphere sphere = {
      .group = {.position = {1, 0, 0}, .velocity = {0, 0.5, 0}}, .n = 200, .mass = 1, .radius = 0.5, .cutoff = NAN};
  driver_add(&d, &nbody_plummer_schema, &sphere);
  driver_create(&d);
  const double kinetic = driver_value(&d, "energy", "kinetic");
  driver_run(&d);
  /* dt^4/720 a unit of time is 1e-11 here. fp32: 256 steps of 7 roundings, averaged over 200 bodies. */
  const double bound = place.precision == SIM_SINGLE ? 7 * 256 * 0x1p-24 : place.precision == SIM_MIXED ? 1e-6 : 1e-9;
  assert_true(fabs(driver_value(&d, "energy", "centre_x") - cos(2)) < bound);
  assert_true(fabs(driver_value(&d, "energy", "centre_y") - 0.5 * sin(2)) < bound);
  assert_true(fabs(driver_value(&d, "energy", "error")) < 1e-4);
  assert_true(fabs(driver_value(&d, "energy", "kinetic") - kinetic) > 0.01);
  finish(&d);
}

static void test_with_gravity(void **state) {
  (void)state;
  driver_everywhere(with_gravity);
}

static void refused(driver_place place) {
  sim_faults faults = {0};
  nbody_body alone = body(1, 0, 0, 0, 0, 0, 0);
  driver d = make(place, NBODY_LEAPFROG, 0.1, 1, "pole", &alone, 1);
  d.parameters.bodies.items = d.items;
  assert_int_equal(nbody_model.validate(&d.parameters, &faults), SIM_OK);
  assert_int_equal(faults.count, 0);
  assert_int_equal(nbody_model.create(&d.parameters, &d.setup, &d.clock, &d.self), SIM_ERR_SCENARIO);
  assert_non_null(strstr(sim_error_last()->message, "the force on body 0 (from 0) at {0, 0, 0}"));
  driver_forget(&d);
}

static void test_refused(void **state) {
  (void)state;
  driver_everywhere(refused);
}

/* A velocity field is evaluated at the bodies' positions after rotation and shift, and added to the group's own
 * velocity. */
static void velocity_field(driver_place place) {
  driver d = driver_make(place, NBODY_LEAPFROG, 0.1, 1, 0.1);
  nbody_uniform_sphere sphere = {.group = {.position = {3, -1, 0}, .velocity = {0.5, 0, 0.25}, .rotation = {0, 0, 90}},
                                 .n = 700,
                                 .mass = 1,
                                 .radius = 1};
  nbody_body alone = body(1, 2, 5, 0, 1, 0, 0);
  sim_expr *field = functions_get("velocity_field", "spin");
  sphere.group.velocity_field = alone.group.velocity_field = field;
  driver_add(&d, &nbody_uniform_sphere_schema, &sphere);
  driver_add(&d, &nbody_body_schema, &alone);
  driver_create(&d);
  for (int64_t i = 0; i < 701; i++) {
    const double x = driver_get(&d, "position", 0, i), y = driver_get(&d, "position", 1, i);
    /* A cold sphere has no velocity of its own. Three roundings of numbers up to 5. */
    const double bound = 3 * 8 * unit_of(place), *v = i < 700 ? sphere.group.velocity : alone.group.velocity;
    assert_true(fabs(driver_get(&d, "velocity", 0, i) - (v[0] - y)) <= bound);
    assert_true(fabs(driver_get(&d, "velocity", 1, i) - (v[1] + x)) <= bound);
    assert_true(fabs(driver_get(&d, "velocity", 2, i) - v[2]) <= bound);
  }
  finish(&d);
  sim_expr_free(&field);
}

static void test_velocity_field(void **state) {
  (void)state;
  driver_everywhere(velocity_field);
}

/* ---- before a run ---- */

static sim_plan plan_of(driver *d) {
  sim_plan plan = {0};
  d->parameters.bodies.items = d->items;
  if (nbody_model.plan(&d->parameters, &d->setup, &plan) != SIM_OK) fail_msg("%s", sim_error_last()->message);
  return plan;
}

/* The estimate of a run includes the cost of its functions: nearly all of it for bodies without forces between them. */
static void test_estimate(void **state) {
  (void)state;
  const driver_place here = {&sim_backend_cpu, SIM_DOUBLE};
  nbody_sphere sphere = {.n = 2000, .mass = 1, .radius = 1, .cutoff = NAN};
  double rates[5];
  for (int k = 0; k < 5; k++) {
    driver d = driver_make(here, NBODY_LEAPFROG, 0.01, 1, 0.1);
    if (k > 0) driver_law(&d, "pair", k == 4 ? "heavy" : "none");
    if (k == 2) driver_law(&d, "external", "bar");
    if (k == 3) driver_observe(&d, "wide", SIM_SUM);
    d.parameters.common.output.tables = (sim_cadence){SIM_EVERY_STEPS, 1};
    driver_add(&d, &nbody_plummer_schema, &sphere);
    const sim_plan plan = plan_of(&d);
    assert_true(plan.work_per_step == (k == 0 || k == 4 ? 2000. * 2000 : 2000));
    rates[k] = plan.work_rate_guess;
    driver_forget(&d);
  }
  assert_true(fabs(rates[1] / rates[0] - 1) < 1e-15); /* only the interactions; two divisions */
  assert_true(rates[2] < 0.5 * rates[1] && rates[3] < 0.5 * rates[1] && rates[4] < 0.5 * rates[0]);
}

static int warnings;
static const char *warning; /* the warning that is counted */
static void count_warnings(void *context, sim_log_level level, const char *message) {
  (void)context;
  if (level == SIM_LOG_WARN && strstr(message, warning) != NULL) warnings++;
}

/* An adaptive step without a limit, for a force with a time scale of its own. */
static void test_late_force(void **state) {
  (void)state;
  const driver_place here = {&sim_backend_cpu, SIM_DOUBLE};
  static const struct {
    nbody_scheme scheme;
    double dt, dt_max;
    const char *external;
    int warned;
  } cases[] = {{NBODY_HERMITE4, NAN, NAN, "late", 1},
               {NBODY_HERMITE4, NAN, 0.1, "late", 0},
               {NBODY_HERMITE4, 0.1, NAN, "late", 0},
               {NBODY_HERMITE4, NAN, NAN, "trap", 0}};
  warning = "dt_max";
  assert_true(sim_log_add(count_warnings, NULL));
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    nbody_body alone = body(1, 1, 0, 0, 0, 0, 0);
    driver d = make(here, cases[k].scheme, cases[k].dt, 3, cases[k].external, &alone, 1);
    d.parameters.integrate.dt_max = cases[k].dt_max;
    warnings = 0;
    plan_of(&d);
    assert_int_equal(warnings, cases[k].warned);
    driver_forget(&d);
  }
  sim_log_remove(count_warnings, NULL);
}

/* A step so short that single precision sees only rounding. */
static void test_rounded_step(void **state) {
  (void)state;
  static const struct {
    sim_precision precision;
    nbody_scheme scheme;
    double dt, eta;
    const char *pair;
    int warned;
  } cases[] = {{SIM_MIXED, NBODY_HERMITE4, NAN, 9e-4, NULL, 1},   {SIM_SINGLE, NBODY_HERMITE4, NAN, 9e-4, NULL, 1},
               {SIM_DOUBLE, NBODY_HERMITE4, NAN, 9e-4, NULL, 0},  {SIM_MIXED, NBODY_HERMITE4, NAN, 1e-3, NULL, 0},
               {SIM_MIXED, NBODY_HERMITE4, 0.1, NAN, NULL, 0},    {SIM_MIXED, NBODY_LEAPFROG, NAN, 9e-4, NULL, 0},
               {SIM_MIXED, NBODY_HERMITE4, NAN, 9e-4, "none", 0}, {SIM_SINGLE, NBODY_HERMITE4, NAN, 9e-4, "none", 1}};
  warning = "integrate.eta = 0.0009 is below 0.001";
  assert_true(sim_log_add(count_warnings, NULL));
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    const driver_place here = {&sim_backend_cpu, cases[k].precision};
    nbody_body alone = body(1, 1, 0, 0, 0, 0, 0);
    driver d = driver_make(here, cases[k].scheme, cases[k].dt, 3, cases[k].pair ? 0 : 0.1);
    d.parameters.integrate.eta = cases[k].eta;
    if (cases[k].pair) driver_law(&d, "pair", cases[k].pair);
    driver_add(&d, &nbody_body_schema, &alone);
    warnings = 0;
    plan_of(&d);
    assert_int_equal(warnings, cases[k].warned);
    driver_forget(&d);
  }
  sim_log_remove(count_warnings, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_trap),        cmocka_unit_test(test_adaptive),
                                     cmocka_unit_test(test_halo),        cmocka_unit_test(test_ramp),
                                     cmocka_unit_test(test_bar),         cmocka_unit_test(test_with_gravity),
                                     cmocka_unit_test(test_refused),     cmocka_unit_test(test_velocity_field),
                                     cmocka_unit_test(test_estimate),    cmocka_unit_test(test_late_force),
                                     cmocka_unit_test(test_rounded_step)};
  functions_load(lua);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  functions_free();
  return failed;
}
