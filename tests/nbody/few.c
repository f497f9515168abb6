/* Integrators for few bodies: known motions, order, the same bits, elements, and forces that depend on the velocity. */
#include "tests/nbody/functions.h"

#include "engine/rng.h"
#include "kernels/nbody/few/kepler.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const double pi = 3.14159265358979323846;

static const char lua[] = "drag = function(x, y, z, vx, vy, vz) return -0.5 * vx, -0.5 * vy, -0.5 * vz end,\n"
                          "turning = function(x, y, z, vx, vy, vz)\n"
                          "  return 4 * x + 4 * vy, 4 * y - 4 * vx, 0\n" /* Omega = 2: centrifugal and Coriolis */
                          "end,\n"
                          "trap = function(x, y, z) return 0.5 * (x^2 + y^2 + z^2) end,\n";

static driver_place here(void) { return (driver_place){&sim_backend_cpu, SIM_DOUBLE}; }

static nbody_body body(double mass, double x, double y, double vx, double vy) {
  return (nbody_body){.group = {.position = {x, y, 0}, .velocity = {vx, vy, 0}}, .mass = mass};
}

/* ---- steps along Kepler orbits, elements ---- */

static double draw(uint64_t k, uint32_t what) {
  double u[2];
  sim_rng_uniform(7, k, 0, what, u);
  return u[0];
}

/* Elements to position, along the orbit and back to elements. The position is rounded by 4 eps. Its relative condition
 * is 1 / (1 - e) for e, and that over e for angles: 1e-11 for 0.01 < |1 - e|, 0.01 < e, inc > 0.05. M of a hyperbola
 * grows as e sinh H, and is compared relative to that. */
static void test_elements(void **state) {
  (void)state;
  for (uint64_t k = 0; k < 2000; k++) {
    const bool ellipse = k % 2 == 0;
    const double e = ellipse ? 0.01 + 0.98 * draw(k, 0) : 1.01 + 3 * draw(k, 0), mu = 0.1 + 10 * draw(k, 1);
    const nbody_elements from = {(ellipse ? 1 : -1) * (0.1 + 5 * draw(k, 2)),
                                 e,
                                 0.05 + 3 * draw(k, 3),
                                 2 * pi * draw(k, 4),
                                 2 * pi * draw(k, 5),
                                 ellipse ? 2 * pi * draw(k, 6) : 20 * (draw(k, 6) - 0.5)};
    const double motion = sqrt(mu / fabs(from.a)) / fabs(from.a),
                 time = (ellipse ? 30 : 3) * (draw(k, 7) - 0.5) / motion;
    double x[3], v[3], dx[3], dv[3];
    nbody_elements to;
    assert_true(nbody_elements_place(&from, mu, x, v));
    assert_true(nbody_kepler_step(mu, time, x, v, dx, dv));
    for (int c = 0; c < 3; c++) x[c] += dx[c], v[c] += dv[c];
    nbody_elements_of(mu, x, v, &to);
    double M = from.M + motion * time;
    if (ellipse) M = fmod(fmod(M, 2 * pi) + 2 * pi, 2 * pi);
    const double errors[] = {to.a / from.a - 1,
                             to.e - e,
                             to.inc - from.inc,
                             remainder(to.node - from.node, 2 * pi),
                             remainder(to.peri - from.peri, 2 * pi),
                             ellipse ? remainder(to.M - M, 2 * pi) : (to.M - M) / (1 + fabs(M))};
    for (int i = 0; i < 6; i++)
      if (!(fabs(errors[i]) < 1e-11)) fail_msg("case %d: element %d wrong by %g (e = %g)", (int)k, i, errors[i], e);
  }
}

/* E - sin E for sign -1, sinh E - E for 1, by series where E is small. */
static long double lag(long double E, int sign) {
  long double sum = 0, term = E * E * E / 6;
  if (fabsl(E) > 1) return sign < 0 ? E - sinl(E) : sinhl(E) - E;
  for (int k = 4; k < 40; k += 2) {
    sum += term;
    term *= sign * E * E / (k * (k + 1));
  }
  return sum;
}

/* Orbits close to a parabola, at all mean anomalies, against Kepler's equation solved by bisection in long double.
 * Tolerance: 100 roundings, of the position relative to the distance r, of the velocity to the mean one where that is
 * more; and a rounding of M, which changes the eccentric anomaly by |M| a/r roundings and so the position by twice as
 * much of r. */
static void test_elements_near_parabola(void **state) {
  (void)state;
  static const double eccentricities[] = {0.9999, 0.999999, 0.99999999, 1 - 1e-13, 1.0000001, 1.001};
  for (int i = 0; i < 6; i++)
    for (int k = 0; k < 400; k++) {
      const bool ellipse = eccentricities[i] < 1;
      const double a = ellipse ? 3 : -3, mu = 2;
      const double M = k % 4 == 0 ? pow(10, -12.0 + k / 40.0) : (ellipse ? pi : 300) * (k / 200.0 - 1);
      const long double e = eccentricities[i];
      long double low = ellipse ? -3.2L : -10, high = ellipse ? 3.2L : 10;
      for (int n = 0; n < 200; n++) {
        const long double E = (low + high) / 2;
        const bool early = fabsl(1 - e) * E + e * lag(E, ellipse ? -1 : 1) < M;
        *(early ? &low : &high) = E;
      }
      const long double E = low, half = ellipse ? sinl(E / 2) : sinhl(E / 2), b = 3 * sqrtl(fabsl(1 - e) * (1 + e));
      const long double r = 3 * (fabsl(1 - e) + 2 * e * half * half), rate = sqrtl(mu / 3) / r; /* a dE/dt */
      const long double along = ellipse ? sinl(E) : sinhl(E), across = ellipse ? cosl(E) : coshl(E);
      const long double expected[4] = {3 * (fabsl(1 - e) - 2 * half * half), b * along, -3 * along * rate,
                                       b * across * rate};
      const nbody_elements el = {a, eccentricities[i], 0, 0, 0, M};
      double x[3], v[3];
      assert_true(nbody_elements_place(&el, mu, x, v));
      const double speed = (double)hypotl(expected[2], expected[3]);
      const double error[2] = {hypot((double)(x[0] - expected[0]), (double)(x[1] - expected[1])) / (double)r,
                               hypot((double)(v[0] - expected[2]), (double)(v[1] - expected[3])) / speed};
      const double slow = fmax(1, sqrt(mu / 3) / speed), spread = fabs(M) * 3 / (double)r * 2;
      if (!(error[0] < (100 + spread) * 0x1p-53 && error[1] < (100 * slow + spread) * 0x1p-53))
        fail_msg("e = %.14g, M = %g: off by %.2e and %.2e", eccentricities[i], M, error[0], error[1]);
    }
}

/* A circle in the plane has no node and no pericentre. A straight line has only a and e. */
static void test_elements_of_circle(void **state) {
  (void)state;
  nbody_elements el;
  nbody_elements_of(1, (double[]){0, 1, 0}, (double[]){-1, 0, 0}, &el);
  assert_true(el.a == 1 && el.e == 0 && el.inc == 0 && el.node == 0 && el.peri == 0 && fabs(el.M - pi / 2) < 1e-15);
  nbody_elements_of(1, (double[]){0, 1, 0}, (double[]){1, 0, 0}, &el);
  assert_true(el.e == 0 && el.inc == 2 * asin(1) && fabs(el.M - 3 * pi / 2) < 1e-15); /* the orbit turns backwards */
  nbody_elements_of(1, (double[]){0, 1, 0}, (double[]){-1 - 4e-15, 0, 0}, &el);
  assert_true(el.e > 0 && el.peri == 0 && fabs(el.M - pi / 2) < 1e-13); /* rounding, not a pericentre */
  /* a rounding below the pericentre, and below the node: 0 and not 360 degrees */
  nbody_elements_of(1, (double[]){0.5, -1e-17, 0}, (double[]){0, sqrt(3), 0}, &el);
  assert_true(el.M == 0 && fabs(el.a - 1) < 1e-14);
  nbody_elements_of(1, (double[]){0, 1, 0}, (double[]){-1, 1e-17, 0}, &el);
  assert_true(el.M * 180 / pi < 360 && el.peri * 180 / pi < 360);
  nbody_elements_of(1, (double[]){1, 0, 0}, (double[]){0.5, 0, 0}, &el);
  assert_true(isnan(el.inc) && isnan(el.M) && el.e == 1);
}

/* ---- ias15 ---- */

/* Returns the distance along the path after one orbit of e = 0.5, in steps of one length. */
static double fixed_error(int steps) {
  driver d = driver_make(here(), NBODY_IAS15, 2 * pi / steps, 2 * pi, 0);
  nbody_body first = body(1, 0, 0, 0, 0), second = body(0, 0.5, 0, 0, sqrt(3.0));
  driver_add(&d, &nbody_body_schema, &first);
  driver_add(&d, &nbody_body_schema, &second);
  driver_create(&d);
  driver_run(&d);
  const double error = fabs(driver_get(&d, "position", 1, 1));
  driver_destroy(&d);
  return error;
}

/* Errors of 8e-13 and 2.7e-14 are limited by rounding at one end; at the other end the next orders make them change
 * sign. 14.4 is measured. A wrong node or coefficient leaves order 8, that of the polynomial. */
static void test_order(void **state) {
  (void)state;
  const double coarse = fixed_error(30), fine = fixed_error(38), order = log(coarse / fine) / log(38.0 / 30);
  if (!(order > 13.5 && order < 16)) fail_msg("order %g from %g and %g", order, coarse, fine);
}

/* Ten orbits of e = 0.9999, with 141 times the mean speed at the pericentre. A rounding of x at distance 1 is 1e-16 /
 * 1e-4 of the distance at the pericentre, where the energy is 1e4 times that of the orbit: some roundings of 1e-16 *
 * 1e4 * sqrt(orbits) each. The adaptive step of 1e-9 adds less. */
static void test_eccentric(void **state) {
  (void)state;
  const double e = 0.9999;
  driver d = driver_make(here(), NBODY_IAS15, NAN, 20 * pi, 0);
  nbody_body first = body(1, 0, 0, 0, 0), second = body(0, 1 - e, 0, 0, sqrt((1 + e) / (1 - e)));
  driver_add(&d, &nbody_body_schema, &first);
  driver_add(&d, &nbody_body_schema, &second);
  driver_create(&d);
  driver_run(&d);
  double x[3], v[3];
  for (int c = 0; c < 3; c++) {
    x[c] = driver_get(&d, "position", c, 1);
    v[c] = driver_get(&d, "velocity", c, 1);
  }
  nbody_elements el;
  nbody_elements_of(1, x, v, &el);
  const double rounding = 1e-12 * sqrt(10.0);
  if (!(fabs(el.a - 1) < 10 * rounding && fabs(el.e - e) < 1e-13)) fail_msg("a %.17g, e %.17g", el.a, el.e);
  driver_destroy(&d);
}

/* Bodies whose acceleration passes through zero, or is a sum that cancels to rounding. */
typedef enum zero { FIGURE_EIGHT, SITNIKOV, RING, UNEVEN_RING, HEAD_ON, OSCILLATOR, ZEROS } zero;

static driver make_zero(zero which, double dt) {
  static nbody_body bodies[8];
  driver d = driver_make(here(), NBODY_IAS15, dt, 10, which == HEAD_ON ? 0.1 : 0);
  int n = 0;
  if (which == FIGURE_EIGHT) {
    bodies[n++] = body(1, 0.97000436, -0.24308753, 0.466203685, 0.43236573);
    bodies[n++] = body(1, -0.97000436, 0.24308753, 0.466203685, 0.43236573);
    bodies[n++] = body(1, 0, 0, -0.93240737, -0.86473146);
  } else if (which == SITNIKOV) {
    bodies[n++] = body(0.5, 0.5, 0, 0, 0.5);
    bodies[n++] = body(0.5, -0.5, 0, 0, -0.5);
    bodies[n++] = body(0, 0, 0, 0, 0);
    bodies[2].group.position[2] = 1;
  } else if (which == RING || which == UNEVEN_RING) {
    bodies[n++] = body(1, 0, 0, 0, 0);
    for (int i = 0; i < 7; i++) {
      const double angle = 2 * pi * i / 7, mass = 1e-3 * (which == RING ? 1 : 1 + 1e-12 * i);
      bodies[n++] = body(mass, cos(angle), sin(angle), -sin(angle), cos(angle));
    }
  } else {
    bodies[n++] = body(1, which == HEAD_ON ? -0.5 : 1, 0, 0, 0);
    if (which == HEAD_ON) bodies[n++] = body(1, 0.5, 0, 0, 0);
  }
  for (int i = 0; i < n; i++) driver_add(&d, &nbody_body_schema, &bodies[i]);
  if (which == OSCILLATOR) driver_law(&d, "external", "trap");
  return d;
}

/* Compared with steps of one length that follow the strongest force here to rounding: that of bodies at the softening
 * 0.1, with the time scale (0.1^3 / 2)^(1/2) = 0.02. Rounding of 1e-16 in each of some 10^4 steps, times up to 10^3 by
 * the unstable motions (ring: e^(10 (7e-3)^(1/2) ...), head-on: v / 0.1): 1e-10. */
static void test_zero_acceleration(void **state) {
  (void)state;
  for (int which = 0; which < ZEROS; which++) {
    double x[2][8][3], v[3], worst = 0;
    int64_t n = 0;
    for (int k = 0; k < 2; k++) {
      driver d = make_zero((zero)which, k == 0 ? NAN : 0.002);
      driver_create(&d);
      driver_run(&d);
      if (k == 0) assert_true(d.clock.step < 1000);
      n = driver_count(&d);
      for (int64_t i = 0; i < n; i++)
        for (int c = 0; c < 3; c++) x[k][i][c] = driver_get(&d, "position", c, i);
      v[0] = driver_get(&d, "velocity", 0, 0);
      driver_destroy(&d);
      driver_forget(&d);
    }
    for (int64_t i = 0; i < n; i++)
      for (int c = 0; c < 3; c++) worst = fmax(worst, fabs(x[0][i][c] - x[1][i][c]));
    if (!(worst < 1e-10)) fail_msg("case %d: %g", which, worst);
    if (which == OSCILLATOR) assert_true(fabs(x[0][0][0] - cos(10)) < 1e-13 && fabs(v[0] + sin(10)) < 1e-13);
  }
}

/* Drag stops a body at the origin within a 10000th of the run. A first step as long as the run gives no polynomial, and
 * later steps grow until their iteration would not converge. The body moves v / 0.5, to a rounding of 2e-16 or 4e-16 in
 * each of some 4000 steps. */
static void test_first_step(void **state) {
  (void)state;
  driver d = driver_make(here(), NBODY_IAS15, NAN, 20000, 0);
  nbody_body only = body(1, 0, 0, 1, 2);
  driver_add(&d, &nbody_body_schema, &only);
  driver_law(&d, "external", "drag");
  driver_create(&d);
  driver_run(&d);
  assert_true(fabs(driver_get(&d, "position", 0, 0) - 2) < 1e-12);
  assert_true(fabs(driver_get(&d, "position", 1, 0) - 4) < 2e-12);
  driver_destroy(&d);
  driver_forget(&d);
}

/* A flyby of e = 2 turns the velocity by 2 asin(1/e). It begins and ends at a distance of 1e4 pericentres, where the
 * velocity is along the asymptote to p/r = 3e-4. Then the position from the elements: a rounding of 1e-16 of the
 * velocity moves the pericentre by 1e-12, which turns the orbit by as much and ends 1e-8 away; ten times that. */
static void test_flyby(void **state) {
  (void)state;
  const nbody_elements before = {-1, 2, 0.3, 0.4, 0.5, -1e4}, after = {-1, 2, 0.3, 0.4, 0.5, 1e4};
  double x[3], v[3], out[3], w_out[3];
  assert_true(nbody_elements_place(&before, 1, x, v));
  driver d = driver_make(here(), NBODY_IAS15, NAN, 2e4, 0);
  nbody_body first = body(1, 0, 0, 0, 0), second = body(0, 0, 0, 0, 0);
  memcpy(second.group.position, x, sizeof x);
  memcpy(second.group.velocity, v, sizeof v);
  driver_add(&d, &nbody_body_schema, &first);
  driver_add(&d, &nbody_body_schema, &second);
  driver_create(&d);
  driver_run(&d);
  assert_true(nbody_elements_place(&after, 1, out, w_out));
  double dot = 0, speeds = 0, w2 = 0;
  for (int c = 0; c < 3; c++) {
    const double w = driver_get(&d, "velocity", c, 1);
    assert_true(fabs(driver_get(&d, "position", c, 1) - out[c]) < 1e-7);
    assert_true(fabs(w - w_out[c]) < 1e-11);
    dot += w * v[c];
    speeds += v[c] * v[c];
    w2 += w * w;
  }
  assert_true(fabs(acos(dot / sqrt(speeds * w2)) - 2 * asin(0.5)) < 2 * 3e-4);
  driver_destroy(&d);
}

/* Burrau's problem at t = 70 (scenarios/pythagorean.lua), compared with an integration in quadruple precision by
 * extrapolation (Gragg, Bulirsch and Stoer) to 1e-26 a step. Close passages amplify roundings of 1e-16 about 1e12
 * times: 1e-4, and ten times that. */
static void test_pythagorean(void **state) {
  (void)state;
  static const double known[3][2] = {{6.9334635990118905, 20.261804305951721},
                                     {-2.0030060026059968, -6.8724634358245451},
                                     {-2.5576733573223369, -6.6591118349113971}};
  const double x0 = 0.595, y0 = 0.325;
  driver d = driver_make(here(), NBODY_IAS15, NAN, 70, 0);
  nbody_body three[] = {body(3, x0 + 1, y0 + 3, 0, 0), body(4, x0 - 2, y0 - 1, 0, 0), body(5, x0 + 1, y0 - 1, 0, 0)};
  for (int i = 0; i < 3; i++) driver_add(&d, &nbody_body_schema, &three[i]);
  driver_create(&d);
  driver_run(&d);
  for (int i = 0; i < 3; i++) {
    const double dx = driver_get(&d, "position", 0, i) - x0 - known[i][0];
    const double dy = driver_get(&d, "position", 1, i) - y0 - known[i][1];
    if (!(hypot(dx, dy) < 1e-3)) fail_msg("body %d is %g away", i, hypot(dx, dy));
  }
  assert_true(fabs(driver_value(&d, "energy", "error")) < 1e-10);
  assert_true(fabs(driver_value(&d, "energy", "angular_momentum_z")) < 1e-12);
  driver_destroy(&d);
}

/* ---- whfast ---- */

typedef struct planets {
  nbody_body body[4];
} planets;

/* A sun and three planets whose order by distance is not that of the list. */
static planets make_planets(void) {
  planets p;
  p.body[0] = (nbody_body){.group = {.species = "sun"}, .mass = 1};
  static const struct {
    const char *name;
    double mass;
    nbody_orbit orbit;
  } list[] = {{"outer", 3e-4, {true, 1.9, 0.05, 1, 30, 40, 10, NULL}},
              {"inner", 1e-3, {true, 1, 0.1, 3, 100, 20, 200, NULL}},
              {"dust", 0, {true, 4, 0.2, 10, 10, 20, 30, NULL}}};
  for (int i = 0; i < 3; i++) {
    p.body[1 + i] = (nbody_body){.group = {.species = (char *)(uintptr_t)list[i].name, .orbit = list[i].orbit},
                                 .mass = list[i].mass};
    p.body[1 + i].group.orbit.primary = (char *)(uintptr_t) "sun";
  }
  return p;
}

static driver with_planets(planets *p, nbody_scheme scheme, double dt, double t_end) {
  driver d = driver_make(here(), scheme, dt, t_end, 0);
  for (int i = 0; i < 4; i++) driver_add(&d, &nbody_body_schema, &p->body[i]);
  return d;
}

/* Returns the largest distance of positions from those of ias15 after some orbits. */
static double map_error(double dt, const char *external) {
  double x[2][4][3], worst = 0;
  for (int k = 0; k < 2; k++) {
    planets p = make_planets();
    driver d = with_planets(&p, k == 0 ? NBODY_IAS15 : NBODY_WHFAST, k == 0 ? NAN : dt, 30);
    if (external != NULL) driver_law(&d, "external", external);
    driver_create(&d);
    driver_run(&d);
    for (int i = 0; i < 4; i++)
      for (int c = 0; c < 3; c++) x[k][i][c] = driver_get(&d, "position", c, i);
    if (k == 1) assert_true(external != NULL || fabs(driver_value(&d, "energy", "error")) < 1e-3 * dt * dt * 100);
    driver_destroy(&d);
    driver_forget(&d);
  }
  for (int i = 0; i < 4; i++)
    for (int c = 0; c < 3; c++) worst = fmax(worst, fabs(x[0][i][c] - x[1][i][c]));
  return worst;
}

/* Order 2: errors of 4 : 1 except for the next order, dt^2 = 1 % of a radian. 30 is no multiple of the steps. */
static void test_map(void **state) {
  (void)state;
  const char *const external[] = {NULL, "trap"};
  for (int k = 0; k < 2; k++) {
    const double coarse = map_error(0.04, external[k]), fine = map_error(0.02, external[k]);
    if (!(fabs(log2(coarse / fine) - 2) < 0.2)) fail_msg("%g and %g", coarse, fine);
    assert_true(fine < (k == 0 ? 1e-4 : 1)); /* the masses of planets, 1e-3, times dt^2, along 30 radians; the trap is
                                                no perturbation */
  }
}

/* A test particle inside a planet's orbit moves as one with next to no mass: the limit of Jacobi coordinates. The mass
 * of 1e-15 changes the motion by as much, times some 10^3 over 12 orbits. */
static void test_map_of_inner_particle(void **state) {
  (void)state;
  double x[2][3];
  for (int k = 0; k < 2; k++) {
    planets p = make_planets();
    p.body[2].mass = k == 0 ? 0 : 1e-15;
    p.body[1].mass = 1e-2;
    driver d = with_planets(&p, NBODY_WHFAST, 0.05, 75);
    driver_create(&d);
    driver_run(&d);
    for (int c = 0; c < 3; c++) x[k][c] = driver_get(&d, "position", c, 2);
    driver_destroy(&d);
  }
  for (int c = 0; c < 3; c++)
    if (!(fabs(x[0][c] - x[1][c]) < 1e-11)) fail_msg("%g", x[0][c] - x[1][c]);
}

/* A body at rest falls on a straight line from the apocentre, r = 2 a, and has no angles; it goes on falling. */
static void test_fall(void **state) {
  (void)state;
  planets p = make_planets();
  driver d = driver_make(here(), NBODY_IAS15, 0.01, 0.5, 0);
  driver_add(&d, &nbody_body_schema, &p.body[0]);
  p.body[2].group.orbit.given = false;
  p.body[2].group.position[0] = 2;
  driver_add(&d, &nbody_body_schema, &p.body[2]);
  d.parameters.orbits = (char *)(uintptr_t) "sun";
  driver_create(&d);
  for (int k = 0; k < 2; k++) {
    assert_true(fabs(driver_value(&d, "orbits", "a_inner") - 1) < 1e-13);
    assert_true(fabs(driver_value(&d, "orbits", "e_inner") - 1) < 1e-13);
    assert_true(isnan(driver_value(&d, "orbits", "inc_inner")) && isnan(driver_value(&d, "orbits", "M_inner")));
    driver_run(&d);
  }
  assert_true(driver_get(&d, "position", 0, 1) < 2);
  driver_destroy(&d);
}

/* One body about another is Kepler's motion for any step; its angular momentum is conserved to rounding. */
static void test_map_of_two(void **state) {
  (void)state;
  planets p = make_planets();
  driver d = driver_make(here(), NBODY_WHFAST, 0.7, 700, 0);
  driver_add(&d, &nbody_body_schema, &p.body[0]);
  driver_add(&d, &nbody_body_schema, &p.body[2]);
  d.parameters.orbits = (char *)(uintptr_t) "sun";
  driver_create(&d);
  const double L = driver_value(&d, "energy", "angular_momentum_z");
  driver_run(&d);
  assert_true(fabs(driver_value(&d, "orbits", "a_inner") - 1) < 1e-13);
  assert_true(fabs(driver_value(&d, "orbits", "e_inner") - 0.1) < 1e-13);
  assert_true(fabs(driver_value(&d, "orbits", "node_inner") - 100) < 1e-10);
  assert_true(fabs(driver_value(&d, "energy", "error")) < 1e-13);
  assert_true(fabs(driver_value(&d, "energy", "angular_momentum_z") / L - 1) < 1e-13);
  /* 700 sqrt(1 + m) radians from 200 degrees; a rounding of a moves it by 1.5 * 700 of that */
  const double M = fmod(200 + 700 * sqrt(1.001) * 180 / pi, 360);
  assert_true(fabs(remainder(driver_value(&d, "orbits", "M_inner") - M, 360)) < 1e-8);
  driver_destroy(&d);
}

/* ---- orbits of groups ---- */

/* A Plummer sphere whose centre orbits the centre of mass of two bodies. Its elements are those of its centre of mass,
 * with the mass of all. */
static void test_group(void **state) {
  (void)state;
  driver d = driver_make(here(), NBODY_LEAPFROG, 0.1, 1, 0);
  nbody_body two[] = {body(3, 1, 0, 0, 1), body(1, -2, 1, 0.5, 0)};
  nbody_sphere stars = {
      .group = {.species = "cluster", .orbit = {true, 20, 0.5, 40, 50, 60, 70, (char *)(uintptr_t) "all"}},
      .n = 500,
      .mass = 2,
      .radius = 0.1,
      .cutoff = NAN};
  for (int i = 0; i < 2; i++) driver_add(&d, &nbody_body_schema, &two[i]);
  driver_add(&d, &nbody_plummer_schema, &stars);
  driver_create(&d);
  double x[3] = {0}, v[3] = {0};
  for (int c = 0; c < 3; c++) {
    for (int i = 0; i < 500; i++) {
      x[c] += driver_get(&d, "position", c, 2 + i) / 500;
      v[c] += driver_get(&d, "velocity", c, 2 + i) / 500;
    }
    for (int i = 0; i < 2; i++) {
      x[c] -= two[i].mass / 4 * two[i].group.position[c];
      v[c] -= two[i].mass / 4 * two[i].group.velocity[c];
    }
  }
  nbody_elements el;
  nbody_elements_of(6, x, v, &el);
  assert_true(fabs(el.a - 20) < 1e-11 && fabs(el.e - 0.5) < 1e-12 && fabs(el.inc * 180 / pi - 40) < 1e-11 &&
              fabs(el.node * 180 / pi - 50) < 1e-11 && fabs(el.peri * 180 / pi - 60) < 1e-11 &&
              fabs(el.M * 180 / pi - 70) < 1e-10);
  driver_destroy(&d);
}

/* ---- forces that depend on the velocity ---- */

static void test_velocity(void **state) {
  (void)state;
  driver d = driver_make(here(), NBODY_IAS15, NAN, 3, 0);
  nbody_body alone = body(1, 1, 0, 1, 0.5);
  driver_add(&d, &nbody_body_schema, &alone);
  driver_law(&d, "external", "drag");
  driver_create(&d);
  driver_run(&d);
  assert_true(fabs(driver_get(&d, "velocity", 0, 0) - exp(-1.5)) < 1e-14);
  assert_true(fabs(driver_get(&d, "position", 0, 0) - (1 + 2 * (1 - exp(-1.5)))) < 1e-14);
  driver_destroy(&d);
  driver_forget(&d);
  /* at rest in space, seen from a frame that rotates with Omega = 2: circles backwards */
  d = driver_make(here(), NBODY_IAS15, NAN, 3, 0);
  alone = body(1, 1, 0, 0, -2);
  driver_add(&d, &nbody_body_schema, &alone);
  driver_law(&d, "external", "turning");
  driver_create(&d);
  driver_run(&d);
  assert_true(fabs(driver_get(&d, "position", 0, 0) - cos(6.0)) < 1e-13);
  assert_true(fabs(driver_get(&d, "position", 1, 0) + sin(6.0)) < 1e-13);
  driver_destroy(&d);
  driver_forget(&d);
}

/* ---- the same bits ---- */

typedef struct situation {
  nbody_scheme scheme;
  int64_t n;
  int threads;
  double tables; /* interval; 0: none */
} situation;

static nbody_sphere cluster;

static driver make(const situation *s, double t_end) {
  static planets p;
  const bool map = s->scheme == NBODY_WHFAST;
  p = make_planets();
  driver d = map ? with_planets(&p, s->scheme, 0.13, t_end) : driver_make(here(), s->scheme, NAN, t_end, 0);
  cluster = (nbody_sphere){.n = s->n, .mass = 1e-3, .radius = map ? 9 : 1, .cutoff = NAN};
  driver_add(&d, &nbody_plummer_schema, &cluster);
  d.setup.threads = s->threads;
  if (s->tables > 0) d.parameters.common.output.tables = (sim_cadence){SIM_EVERY_TIME, s->tables};
  return d;
}

/* Returns positions and velocities summed with weights, to compare states with different step numbers. */
static double sum_of(driver *d, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; i++)
    for (int c = 0; c < 3; c++)
      sum += driver_get(d, "position", c, i) * sin((double)(i + 1)) + driver_get(d, "velocity", c, i) * cos((double)i);
  return sum;
}

static void whole(const situation *s, double t_end, char digest[33], double *sum) {
  driver d = make(s, t_end);
  driver_create(&d);
  while (d.clock.t < d.clock.t_end) {
    const double before = d.clock.t;
    driver_step(&d);
    assert_true(d.clock.t > before);
    if (s->tables > 0) (void)driver_value(&d, "energy", "total");
  }
  assert_true(d.clock.t == t_end);
  *sum = sum_of(&d, s->n);
  driver_digest(&d, digest);
  driver_destroy(&d);
}

static void split(const situation *s, double t_end, int64_t at, char digest[33]) {
  driver d = make(s, t_end);
  driver_frame kept = {0};
  driver_create(&d);
  while (d.clock.step < at) driver_step(&d);
  driver_keep(&d, &kept);
  driver_destroy(&d);
  d = make(s, t_end);
  driver_restore(&d, &kept.frame);
  driver_run(&d);
  driver_digest(&d, digest);
  driver_destroy(&d);
  driver_frame_free(&kept);
}

static void test_same_bits(void **state) {
  (void)state;
  for (int scheme = NBODY_IAS15; scheme <= NBODY_WHFAST; scheme++) {
    const double t_end = scheme == NBODY_IAS15 ? 30 : 2;
    situation s = {(nbody_scheme)scheme, 12, 1, 0};
    char digest[33], got[33];
    double sum, other;
    whole(&s, t_end, digest, &sum);
    for (int64_t at = 0; at < 12; at++) {
      split(&s, t_end, at, got);
      assert_string_equal(got, digest);
    }
    s.tables = 0.37; /* reading rows changes nothing */
    whole(&s, t_end, got, &other);
    assert_true(other == sum);
    if (scheme == NBODY_WHFAST) assert_string_equal(got, digest);     /* nor does it change the number of steps */
    for (int64_t at = 1; at < 80 && scheme == NBODY_IAS15; at += 7) { /* stopped at rows between ends of steps */
      char again[33];
      split(&s, t_end, at, again);
      assert_string_equal(again, got);
    }
    s = (situation){(nbody_scheme)scheme, 600, 1, 0}; /* with tiles of the direct sum, and threads */
    whole(&s, 0.3, digest, &sum);
    static const int counts[] = {2, 3, 7};
    for (int k = 0; k < 3; k++) {
      s.threads = counts[k];
      whole(&s, 0.3, got, &sum);
      assert_string_equal(got, digest);
    }
  }
}

/* Rows of tables are at exactly k times the interval. */
static void test_times(void **state) {
  (void)state;
  const situation s = {NBODY_IAS15, 3, 1, 0.1};
  driver d = make(&s, 5);
  driver_create(&d);
  int rows = 0;
  while (d.clock.t < d.clock.t_end) {
    const double before = d.clock.t;
    driver_step(&d);
    if (floor(d.clock.t / 0.1 + 1e-9) == floor(before / 0.1 + 1e-9)) continue;
    rows++;
    assert_true(fabs(d.clock.t - rows * 0.1) < 1e-14 * 5);
  }
  assert_int_equal(rows, 50);
  driver_destroy(&d);
}

/* ---- mergers and escapers ---- */

/* Two bodies of total mass M fall towards each other from rest at distance D. They touch at r after (D^3 / 2 M)^(1/2)
 * (a + sin a cos a), with cos^2 a = r / D (E. J. Routh's radial Kepler motion), at a relative speed of (2 M (1/r -
 * 1/D))^(1/2). A step is known to rounding, and the time of the touch to 2^-60 of it. */
static void test_merger(void **state) {
  (void)state;
  const double D = 2, r = 0.3, a = acos(sqrt(r / D)), when = sqrt(D * D * D / 8) * (a + sin(a) * cos(a));
  driver d = driver_make(here(), NBODY_IAS15, NAN, 3, 0);
  nbody_body light = body(1, 0, 0, 0, 0.5), heavy = body(3, 2, 0, 0, 0.5), far = body(0, 1000, 0, 0, 0);
  light.radius = 0.1;
  heavy.radius = 0.2;
  light.group.species = (char *)(uintptr_t) "light";
  driver_add(&d, &nbody_body_schema, &light);
  driver_add(&d, &nbody_body_schema, &heavy);
  driver_add(&d, &nbody_body_schema, &far);
  d.parameters.merge = true;
  driver_create(&d);
  driver_until(&d, when - 1e-9);
  assert_int_equal(driver_count(&d), 3);
  driver_run(&d);
  assert_int_equal(driver_count(&d), 2);
  assert_true(driver_value(&d, "events", "mergers") == 1 && driver_value(&d, "events", "bodies") == 2);
  assert_true(driver_value(&d, "events", "last_body") == 1 && driver_value(&d, "events", "last_other") == 0);
  const double speed = sqrt(8 * (1 / r - 1 / D)), lost = 0.5 * 0.75 * speed * speed - 3 / r; /* reduced mass; binding */
  assert_true(fabs(driver_value(&d, "events", "last_time") - when) < 1e-13);
  assert_true(fabs(driver_value(&d, "events", "last_speed") - speed) < 1e-12);
  assert_true(fabs(driver_value(&d, "events", "energy") - lost) < 1e-12);
  assert_true(fabs(driver_value(&d, "energy", "error")) < 1e-13);
  assert_true(driver_get(&d, "mass", 0, 0) == 4);
  assert_true(fabs(driver_get(&d, "radius", 0, 0) - cbrt(0.001 + 0.008)) < 1e-15);
  assert_true(fabs(driver_get(&d, "position", 0, 0) - 1.5) < 1e-14); /* as the centre of mass before */
  assert_true(fabs(driver_get(&d, "position", 1, 0) - 0.5 * 3) < 1e-14);
  assert_true(fabs(driver_get(&d, "velocity", 1, 0) - 0.5) < 1e-15);
  driver_destroy(&d);
}

/* Two bodies that merge at rest lose all energy: the error remains relative to the energy at the start. With a force
 * that depends on the velocity the energy is unknown. */
static void test_last_merger(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    driver d = driver_make(here(), NBODY_IAS15, NAN, 5, 0);
    nbody_body one = body(1, 0, 0, 0, 0), other = body(1, 1.1, 0, 0, 0);
    one.radius = other.radius = 0.1;
    driver_add(&d, &nbody_body_schema, &one);
    driver_add(&d, &nbody_body_schema, &other);
    d.parameters.merge = true;
    if (k == 1) driver_law(&d, "external", "drag");
    driver_create(&d);
    driver_run(&d);
    assert_int_equal(driver_count(&d), 1);
    if (k == 0) assert_true(fabs(driver_value(&d, "energy", "error")) < 1e-14); /* some roundings */
    assert_true((k == 1) == isnan(driver_value(&d, "events", "energy")));
    driver_destroy(&d);
    driver_forget(&d);
  }
}

/* A body that crosses another one within a step must be detected: a test particle without forces, whose steps grow
 * without limit, flies through a small target. */
static void test_fast_body(void **state) {
  (void)state;
  driver d = driver_make(here(), NBODY_IAS15, NAN, 100, 0);
  nbody_body target = body(1e-12, 0, 0, 0, 0), bullet = body(0, -50, 0.005, 1, 0);
  target.radius = 0.01;
  driver_add(&d, &nbody_body_schema, &target);
  driver_add(&d, &nbody_body_schema, &bullet);
  d.parameters.merge = true;
  driver_create(&d);
  driver_run(&d);
  assert_true(driver_value(&d, "events", "mergers") == 1);
  assert_true(fabs(driver_value(&d, "events", "last_time") - (50 - sqrt(1e-4 - 2.5e-5))) < 1e-9);
  driver_destroy(&d);
}

static void test_escape(void **state) {
  (void)state;
  driver d = driver_make(here(), NBODY_IAS15, NAN, 50, 0);
  nbody_body sun = body(1, 0, 0, 0, 0), planet = body(0, 1, 0, 0, 1), comet = body(1e-3, 2, 0, 3, 0);
  planet.group.species = (char *)(uintptr_t) "planet";
  comet.group.species = (char *)(uintptr_t) "comet";
  driver_add(&d, &nbody_body_schema, &sun);
  driver_add(&d, &nbody_body_schema, &planet);
  driver_add(&d, &nbody_body_schema, &comet);
  d.parameters.escape = (nbody_escape){true, 30};
  d.parameters.orbits = (char *)(uintptr_t) "stars";
  driver_create(&d);
  const double momentum = driver_value(&d, "energy", "momentum_x");
  driver_run(&d);
  assert_int_equal(driver_count(&d), 2);
  assert_true(driver_value(&d, "events", "escapers") == 1 && driver_value(&d, "events", "last_body") == 2);
  assert_true(isnan(driver_value(&d, "events", "last_other")) && isnan(driver_value(&d, "orbits", "a_comet")));
  assert_true(fabs(driver_value(&d, "orbits", "a_planet") - 1) < 0.01);
  /* the Sun keeps almost no energy: the error is some roundings of the energy at the start */
  assert_true(fabs(driver_value(&d, "energy", "error")) < 1e-14);
  /* the escaper takes its momentum away: at v^2 / 2 - 1.001 / r = 4 relative to the Sun, from 2 to 30 and more */
  /* relative to the Sun, not the centre of mass */
  const double speed = driver_value(&d, "events", "last_speed") * 1.001;
  assert_true(fabs(speed * speed / 2 - (4.5 - 1.001 / 2)) < 1.001 / 30);
  assert_true(driver_value(&d, "energy", "momentum_x") < 0.1 * momentum);
  driver_destroy(&d);
}

/* A body without forces, whose steps grow without limit, is removed exactly where it escapes. The bound is the step of
 * 2e3 or more times 2^-53, and the 2^-60 of the halvings. */
static void test_time_of_escape(void **state) {
  (void)state;
  driver d = driver_make(here(), NBODY_IAS15, NAN, 1000, 0);
  nbody_body rest = body(1, 0, 0, 0, 0), fast = body(0, 0, 1, 1, 0);
  rest.mass = 1e-12;
  driver_add(&d, &nbody_body_schema, &rest);
  driver_add(&d, &nbody_body_schema, &fast);
  d.parameters.escape = (nbody_escape){true, 100};
  driver_create(&d);
  driver_run(&d);
  assert_true(driver_value(&d, "events", "escapers") == 1);
  assert_true(fabs(driver_value(&d, "events", "last_time") - sqrt(1e4 - 1)) < 1e-9);
  driver_destroy(&d);
}

/* A ring of bodies of which several merge and one escapes, stopped and continued at any step. */
static driver make_ring(int n, double t_end) {
  static nbody_body bodies[72];
  driver d = driver_make(here(), NBODY_IAS15, NAN, t_end, 0);
  for (int i = 0; i < n; i++) {
    const double angle = 2.4 * i, r = n > 16 ? 0.8 + 0.4 * fmod(0.414 * i, 1) : 0.9 + 0.03 * (i % 5), v = 1 / sqrt(r);
    bodies[i] = i == 0   ? body(1, 0, 0, 0, 0)
                : i == 1 ? body(1e-5, 3, 0, 4, 0)
                         : body(1e-3, r * cos(angle), r * sin(angle), -v * sin(angle), v * cos(angle));
    bodies[i].radius = n > 16 ? 0.02 : 0.03;
    bodies[i].group.species = (char *)(uintptr_t)(i % 2 == 0 ? "even" : "odd");
    driver_add(&d, &nbody_body_schema, &bodies[i]);
  }
  d.parameters.merge = true;
  d.parameters.escape = (nbody_escape){true, 10};
  return d;
}

static void check_restart(int n, double t_end, int times) {
  driver d = make_ring(n, t_end);
  char expected[33], got[33];
  driver_create(&d);
  driver_run(&d);
  driver_digest(&d, expected);
  const int64_t steps = d.clock.step;
  assert_true(driver_value(&d, "events", "mergers") >= 3 && driver_value(&d, "events", "escapers") == 1);
  assert_true(fabs(driver_value(&d, "energy", "error")) < 1e-13);
  driver_destroy(&d);
  for (int64_t at = 0; at < steps; at += 1 + steps / times) {
    driver_frame kept = {0};
    d = make_ring(n, t_end);
    driver_create(&d);
    while (d.clock.step < at) driver_step(&d);
    driver_keep(&d, &kept);
    driver_destroy(&d);
    d = make_ring(n, t_end);
    d.setup.threads = 3;
    driver_restore(&d, &kept.frame);
    driver_run(&d);
    driver_digest(&d, got);
    assert_string_equal(got, expected);
    driver_destroy(&d);
    driver_frame_free(&kept);
  }
}

static void test_events_restart(void **state) {
  (void)state;
  check_restart(16, 6, 50);
  check_restart(71, 2.5, 4); /* many of them merge: fewer bodies have other settings of the solver */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_elements),
      cmocka_unit_test(test_elements_near_parabola),
      cmocka_unit_test(test_elements_of_circle),
      cmocka_unit_test(test_order),
      cmocka_unit_test(test_eccentric),
      cmocka_unit_test(test_zero_acceleration),
      cmocka_unit_test(test_first_step),
      cmocka_unit_test(test_flyby),
      cmocka_unit_test(test_pythagorean),
      cmocka_unit_test(test_map),
      cmocka_unit_test(test_map_of_two),
      cmocka_unit_test(test_fall),
      cmocka_unit_test(test_map_of_inner_particle),
      cmocka_unit_test(test_group),
      cmocka_unit_test(test_velocity),
      cmocka_unit_test(test_same_bits),
      cmocka_unit_test(test_times),
      cmocka_unit_test(test_merger),
      cmocka_unit_test(test_last_merger),
      cmocka_unit_test(test_fast_body),
      cmocka_unit_test(test_escape),
      cmocka_unit_test(test_time_of_escape),
      cmocka_unit_test(test_events_restart),
  };
  functions_load(lua);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  functions_free();
  return failed;
}
