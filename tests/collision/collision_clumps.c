/* Clumps of spheres: mass properties, the free top, falls and collisions, budgets, packings, and the same bits. */
#include "kernels/collision/clumps/clumps.h"
#include "tests/collision/driver.h"
#include "tests/collision/setups.h"

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

enum { MASS = 0, MOMENT = 1, POSITION = 11, VELOCITY = 14, ORIENTATION = 17, ANGULAR = 21 };
_Static_assert(offsetof(collision_body, angular) == ANGULAR * sizeof(double), "columns of bodies");

static double body(driver *d, int64_t b, int k) { return driver_get(d, "bodies", (int)b, k); }

static collision_clump clump_of(double *spheres, size_t count) {
  return (collision_clump){.rigid = {.spheres = {spheres, count, 4}, .mass = NAN}, .orientation = {1, 0, 0, 0}};
}

/* ---- mass properties ---- */

/* Three spheres by hand: masses V, V and V/8 for the radii 1, 1 and 1/2. */
static void exact_properties(void **state) {
  (void)state;
  double spheres[] = {-1, 0, 0, 1, 1, 0, 0, 1, 0, 3, 0, 0.5};
  collision_rigid rigid = {.group.density = 2, .spheres = {spheres, 3, 4}, .mass = NAN};
  collision_shape s;
  assert_int_equal(collision_shape_create(&rigid, &s), SIM_OK);
  const double m = 2 * 4 * pi / 3, light = m / 8, all = 2 * m + light, y = 3 * light / all;
  near_to(s.body.mass, all, 1e-14 * all, "mass");
  near_to(s.centre[1], y, 1e-15, "centre");
  const double own = 2 * 0.4 * m + 0.4 * light / 4, up = 2 * m * y * y + light * (3 - y) * (3 - y);
  const double expected[3] = {own + up, own + 2 * m, own + up + 2 * m};
  for (int k = 0; k < 3; k++) near_to(s.body.moment[k], expected[k], 1e-13 * expected[k], "moment");
  near_to(s.error, 0, 0, "error");
  near_to(s.body.bound, fmax(1 + sqrt(1 + y * y), 3.5 - y), 1e-14, "bound");
  collision_shape_free(&s);
  /* A mass instead of a density, and the same body tilted: the same moments, in some order. */
  const double c = cos(0.7), t = sin(0.7);
  double askew[12];
  for (int i = 0; i < 3; i++) {
    const double *p = spheres + 4 * i;
    askew[4 * i] = 5 + c * p[0] - t * p[1], askew[4 * i + 1] = -3, askew[4 * i + 2] = t * p[0] + c * p[1];
    askew[4 * i + 3] = p[3];
  }
  rigid = (collision_rigid){.group.density = NAN, .spheres = {askew, 3, 4}, .mass = all};
  assert_int_equal(collision_shape_create(&rigid, &s), SIM_OK);
  double found = 0;
  for (int k = 0; k < 3; k++)
    for (int j = 0; j < 3; j++) found += fabs(s.body.moment[j] - expected[k]) < 1e-12 * expected[k];
  near_to(found, 3, 0, "moments of the askew body");
  collision_shape_free(&s);
}

/* Two unit spheres at +-a that overlap. Half of the union is a body of revolution about x of radius R^2 = 1 - t^2, t =
 * x - a from -a to 1. The result must be within the stated error, which must be small: midpoints of 400 lines err by
 * the distance of the lines to the power of about 1.5, (2/400)^1.5 = 4e-4, at short edges. Where no spheres overlap,
 * sampling is near the sums. */
static void sampled_properties(void **state) {
  (void)state;
  const double a = 0.6;
  double spheres[] = {-a, 0.3, 0, 1, a, 0.3, 0, 1};
  collision_rigid rigid = {.group.density = 1, .spheres = {spheres, 2, 4}, .mass = NAN};
  collision_shape s;
  size_t pair[2];
  assert_true(collision_spheres_overlap(&rigid, pair) && pair[0] == 0 && pair[1] == 1);
  assert_int_equal(collision_shape_create(&rigid, &s), SIM_OK);
  double v = 0, along = 0, xx = 0;
  enum { STEPS = 2000 }; /* Simpson's rule is exact up to cubes; for polynomials of the fourth degree to 1e-13 */
  for (int k = 0; k <= STEPS; k++) {
    const double h = (1 + a) / STEPS, t = -a + k * h, w = h / 3 * (k == 0 || k == STEPS ? 1 : k % 2 ? 4 : 2);
    const double square = 1 - t * t;
    v += 2 * w * pi * square;
    along += 2 * w * pi / 2 * square * square;
    xx += 2 * w * pi * square * (t + a) * (t + a);
  }
  assert_true(s.error > 0 && s.error < 1e-4);
  near_to(s.body.mass, v, s.error * v, "mass");
  near_to(s.body.moment[0], along, s.error * (along + xx), "moment about the axis");
  near_to(s.body.moment[1], along / 2 + xx, s.error * (along + xx), "moment across");
  near_to(s.body.moment[2], along / 2 + xx, s.error * (along + xx), "moment across");
  near_to(s.centre[0], 0, s.error, "centre");
  near_to(s.centre[1], 0.3, s.error, "centre");
  collision_shape_free(&s);
  /* A third sphere far away on the axis: the other two are sampled as well as before, by lines of their own. */
  double far[] = {-a, 0.3, 0, 1, 1000, 0.3, 0, 1, a, 0.3, 0, 1};
  const double ball = 4 * pi / 3, reduced = v * ball / (v + ball);
  rigid = (collision_rigid){.group.density = 1, .spheres = {far, 3, 4}, .mass = NAN};
  assert_int_equal(collision_shape_create(&rigid, &s), SIM_OK);
  assert_true(s.error > 0 && s.error < 1e-4);
  near_to(s.body.mass, v + ball, s.error * v, "mass, far");
  near_to(s.body.moment[0], along + 0.4 * ball, s.error * (along + xx), "moment about the axis, far");
  near_to(s.body.moment[2], along / 2 + xx + 0.4 * ball + reduced * 1e6, s.error * v * 1e6, "moment across, far");
  near_to(s.centre[0], 1000 * ball / (v + ball), s.error * 1000, "centre, far");
  collision_shape_free(&s);
  double apart[] = {0, 0, 0, 1, 1.2, 1.4, 0.8, 0.7, 0, 0, -1.3, 0.3};
  rigid = (collision_rigid){.group.density = 1, .spheres = {apart, 3, 4}, .mass = NAN};
  collision_shape exact;
  assert_int_equal(collision_shape_create(&rigid, &exact), SIM_OK);
  rigid.volume = COLLISION_VOLUME_SAMPLED;
  assert_int_equal(collision_shape_create(&rigid, &s), SIM_OK);
  assert_true(exact.error == 0 && s.error > 0 && s.error < 1e-4);
  const double size = exact.body.moment[0] + exact.body.moment[1] + exact.body.moment[2];
  near_to(s.body.mass, exact.body.mass, s.error * exact.body.mass, "mass");
  for (int k = 0; k < 3; k++) near_to(s.body.moment[k], exact.body.moment[k], s.error * size, "moment");
  collision_shape_free(&exact);
  collision_shape_free(&s);
}

/* Rods of spheres of radius 1/2 at distances d = 0.8, each of which overlaps its neighbours alone: the volume is that
 * of the spheres less that of the lenses, pi (2 r - d)^2 (d^2 + 4 d r)/(12 d) each (E. W. Weisstein, Sphere-Sphere
 * Intersection), at any angle to the lines. The error that is told holds, and is as small as that of compact clumps:
 * 400 lines a side alone tell 4e-4 along the first axis. */
static void slender_properties(void **state) {
  (void)state;
  enum { COUNT = 24 };
  static const double axes[][3] = {{1, 1, 1}, {1, 2, 3}, {0.3, 1, 0.1}, {1, 1, 0.02}, {5, 4, -3}};
  const double r = 0.5, d = 0.8, ball = 4 * pi / 3 * r * r * r;
  const double lens = pi * pow(2 * r - d, 2) * (d * d + 4 * d * r) / (12 * d);
  for (size_t k = 0; k < sizeof axes / sizeof *axes; k++) {
    const double *u = axes[k], length = sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
    double spheres[4 * COUNT];
    for (int i = 0; i < COUNT; i++) {
      for (int c = 0; c < 3; c++) spheres[4 * i + c] = d * i * u[c] / length;
      spheres[4 * i + 3] = r;
    }
    collision_rigid rigid = {.group.density = 1, .spheres = {spheres, COUNT, 4}, .mass = NAN};
    collision_shape s;
    assert_int_equal(collision_shape_create(&rigid, &s), SIM_OK);
    const double mass = COUNT * ball - (COUNT - 1) * lens;
    if (!(s.error < 1.5e-4 && fabs(s.body.mass / mass - 1) < s.error))
      fail_msg("axis %zu: %.3g off, %.3g told", k, s.body.mass / mass - 1, s.error);
    collision_shape_free(&s);
  }
}

/* The linker gives this the place of the model's own function: the `failing`-th call finds no memory. */
static int failing;
sim_status __real_collision_shape_create(const collision_rigid *rigid, collision_shape *out);
sim_status __wrap_collision_shape_create(const collision_rigid *rigid, collision_shape *out);
sim_status __wrap_collision_shape_create(const collision_rigid *rigid, collision_shape *out) {
  if (failing > 0 && --failing == 0) return sim_no_memory("a clump in this test");
  return __real_collision_shape_create(rigid, out);
}

/* A lack of memory for a clump is told by the plan, wherever it comes; nothing is judged without that clump. */
static void no_memory(void **state) {
  (void)state;
  double spheres[] = {-0.5, 0, 0, 0.5, 0.5, 0, 0, 0.5};
  collision_clump c = clump_of(spheres, 2);
  driver d = driver_make(SIM_DOUBLE, 1e-3, 1);
  d.parameters.contact.values.stiffness = 100;
  driver_add(&d, &collision_clump_schema, &c);
  driver_create(&d);
  int calls = 0;
  for (bool fails = true; fails; calls++) {
    sim_plan plan = {0};
    failing = calls + 1;
    const sim_status status = collision_model.plan(&d.parameters, &d.setup, &plan);
    fails = failing == 0;
    if (status != (fails ? SIM_ERR_NO_MEMORY : SIM_OK)) fail_msg("call %d: status %d", calls + 1, (int)status);
  }
  failing = 0;
  driver_destroy(&d);
  assert_true(calls > 2); /* it was called in two places at least */
}

/* ---- the free top ---- */

/* sn, cn and dn of u for the parameter m, by descending Landen transformations (Abramowitz and Stegun 16.4). */
static void jacobi(double u, double m, double *sn, double *cn, double *dn) {
  double a[16] = {1}, c[16] = {sqrt(m)}, b = sqrt(1 - m);
  int n = 0;
  for (; n < 15 && c[n] > 1e-16; n++) {
    a[n + 1] = 0.5 * (a[n] + b);
    c[n + 1] = 0.5 * (a[n] - b);
    b = sqrt(a[n] * b);
  }
  double phi = ldexp(a[n] * u, n);
  for (; n > 0; n--) phi = 0.5 * (phi + asin(c[n] / a[n] * sin(phi)));
  *sn = sin(phi), *cn = cos(phi), *dn = sqrt(1 - m * *sn * *sn);
}

/* Angular velocities of the top along its axes, I1 < I2 < I3, which turns mainly about the third one; w2 = 0 at t = 0.
 * L. D. Landau and E. M. Lifshitz, Mechanics, section 37: w1 ~ cn, w2 ~ sn, w3 ~ dn. */
typedef struct top {
  double I[3], w[3], rate, m;
} top;

static top top_of(const double I[3], double w1, double w3) {
  top t = {{I[0], I[1], I[2]}, {0}, 0, 0};
  const double square = I[0] * I[0] * w1 * w1 + I[2] * I[2] * w3 * w3, energy2 = I[0] * w1 * w1 + I[2] * w3 * w3;
  t.w[0] = sqrt((energy2 * I[2] - square) / (I[0] * (I[2] - I[0])));
  t.w[1] = sqrt((energy2 * I[2] - square) / (I[1] * (I[2] - I[1])));
  t.w[2] = sqrt((square - energy2 * I[0]) / (I[2] * (I[2] - I[0])));
  t.rate = sqrt((I[2] - I[1]) * (square - energy2 * I[0]) / (I[0] * I[1] * I[2]));
  t.m = (I[1] - I[0]) * (energy2 * I[2] - square) / ((I[2] - I[1]) * (square - energy2 * I[0]));
  return t;
}

static void spins(const top *t, double time, double w[3]) {
  double sn, cn, dn;
  jacobi(t->rate * time, t->m, &sn, &cn, &dn);
  w[0] = t->w[0] * cn, w[1] = t->w[1] * sn, w[2] = t->w[2] * dn;
}

/* An asymmetric top over several of its periods, against Jacobi's functions. Also its axes about the angular momentum L
 * along z: axis 3 is at the angle acos(I3 w3/L), and its azimuth grows as L (I1 w1^2 + I2 w2^2)/(I1^2 w1^2 + I2^2
 * w2^2). The error is of the second order: 4 times smaller with half of the step, 10 % for higher orders. L keeps every
 * bit. */
static void free_top(void **state) {
  (void)state;
  double error[2];
  for (int k = 0; k < 2; k++) {
    /* Principal axes along x, y and z, I1 < I2 < I3. */
    double spheres[] = {-2, 0, 0, 0.9, 2, 0, 0, 0.9, 0, -1.5, 0, 0.8, 0, 1.5, 0, 0.8};
    collision_clump c = clump_of(spheres, 4);
    driver d = driver_make(SIM_DOUBLE, k ? 5e-3 : 1e-2, 20);
    d.parameters.contact.values.stiffness = 1;
    driver_add(&d, &collision_clump_schema, &c);
    collision_shape s;
    assert_int_equal(collision_shape_create(&c.rigid, &s), SIM_OK);
    const double *I = s.body.moment, w1 = 0.6, w3 = 0.7;
    assert_true(I[0] < I[1] && I[1] < I[2]);
    const double L = sqrt(I[0] * I[0] * w1 * w1 + I[2] * I[2] * w3 * w3);
    /* Turned about y so that L is along z. L in the body is (I1 w1, 0, I3 w3). */
    const double tilt = -atan2(I[0] * w1, I[2] * w3), cosine = cos(tilt), sine = sin(tilt);
    c.orientation[0] = cos(tilt / 2), c.orientation[2] = sin(tilt / 2);
    c.angular_velocity[0] = cosine * w1 + sine * w3, c.angular_velocity[2] = -sine * w1 + cosine * w3;
    driver_create(&d);
    const double before[3] = {body(&d, 0, ANGULAR), body(&d, 0, ANGULAR + 1), body(&d, 0, ANGULAR + 2)};
    near_to(before[0], 0, 1e-14 * L, "L along x");
    near_to(before[2], L, 1e-14 * L, "L");
    driver_run(&d);
    for (int a = 0; a < 3; a++) assert_true(body(&d, 0, ANGULAR + a) == before[a]);
    const top t = top_of(I, w1, w3);
    double w[3], turn[3][3], q[4], azimuth = pi, end = d.clock.t; /* axis 3 begins towards -x: tilt < 0 */
    enum { STEPS = 4000 };
    for (int i = 0; i <= STEPS; i++) {
      spins(&t, end * i / STEPS, w);
      const double part = end / STEPS / 3 *
                          (i == 0 || i == STEPS ? 1
                           : i % 2              ? 4
                                                : 2),
                   p = I[0] * w[0], r = I[1] * w[1];
      azimuth += part * L * (p * w[0] + r * w[1]) / (p * p + r * r);
    }
    spins(&t, end, w);
    for (int a = 0; a < 4; a++) q[a] = body(&d, 0, ORIENTATION + a);
    rigid_matrix(q, turn);
    double worst = 0;
    /* L in the frame of the body */
    for (int a = 0; a < 3; a++) worst = fmax(worst, fabs(turn[2][a] - I[a] * w[a] / L));
    worst = fmax(worst, fabs(remainder(atan2(turn[1][2], turn[0][2]) - azimuth, 2 * pi)));
    error[k] = worst;
    const double energy = 0.5 * (I[0] * w1 * w1 + I[2] * w3 * w3);
    near_to(driver_value(&d, "energy", "rotational"), energy, 1e-3 * energy, "energy");
    collision_shape_free(&s);
    driver_destroy(&d);
  }
  assert_true(error[0] < 2e-3);
  near_to(error[0] / error[1], 4, 0.4, "order");
}

/* ---- falls ---- */

typedef struct planar {
  double z, angle, vz, spin;
} planar;

/* Rates of a dumbbell that hits the floor z = 0 without friction: two spheres of radius r at a distance `arm` from the
 * middle, linear springs, gravity. */
static planar rates(const planar *s, double M, double I, double r, double arm, double k, double g) {
  planar d = {s->vz, s->spin, -g, 0};
  for (int side = -1; side <= 1; side += 2) {
    const double over = r - (s->z + side * arm * sin(s->angle));
    if (over <= 0) continue;
    d.vz += k * over / M;
    d.spin += side * arm * cos(s->angle) * k * over / I;
  }
  return d;
}

static planar moved(const planar *s, const planar *d, double h) {
  return (planar){s->z + h * d->z, s->angle + h * d->angle, s->vz + h * d->vz, s->spin + h * d->spin};
}

/* A tilted dumbbell falls on a floor and bounces twice. It is compared with the equations in its plane by the
 * Runge-Kutta method of the fourth order with steps of a tenth. The step's error is of the second order, and a contact
 * that begins in the middle of a step adds a little: errors with half steps are 4 times smaller, within a factor of 2.
 */
static void dumbbell_falls(void **state) {
  (void)state;
  double error[2] = {0};
  for (int run = 0; run < 12; run++) {
    const int half = run % 2;
    const double r = 0.5, arm = 0.5, k = 1e4, g = 10, dt = half ? 2e-4 : 4e-4, t_end = 0.6,
                 angle = 0.3 + 0.05 * (run / 2);
    double spheres[] = {-arm, 0, 0, r, arm, 0, 0, r};
    collision_clump c = clump_of(spheres, 2);
    collision_plane floor = {.normal = {0, 0, 1}};
    driver d = driver_make(SIM_DOUBLE, dt, t_end);
    d.parameters.contact.values.stiffness = k;
    d.parameters.gravity[2] = -g;
    c.position[2] = 1.2;
    c.orientation[0] = cos(angle / 2), c.orientation[2] = -sin(angle / 2); /* raises the end at +x */
    driver_add(&d, &collision_clump_schema, &c);
    driver_wall(&d, &collision_plane_schema, &floor);
    driver_create(&d);
    driver_run(&d);
    const double m = 4 * pi / 3 * r * r * r, M = 2 * m, I = 2 * (0.4 * m * r * r + m * arm * arm);
    planar s = {1.2, angle, 0, 0};
    const double h = dt / 10;
    for (int64_t i = 0; i < d.clock.step * 10; i++) {
      const planar a = rates(&s, M, I, r, arm, k, g), p = moved(&s, &a, h / 2);
      const planar b = rates(&p, M, I, r, arm, k, g), q = moved(&s, &b, h / 2);
      const planar e = rates(&q, M, I, r, arm, k, g), u = moved(&s, &e, h);
      const planar f = rates(&u, M, I, r, arm, k, g);
      s.z += h / 6 * (a.z + 2 * b.z + 2 * e.z + f.z),
          s.angle += h / 6 * (a.angle + 2 * b.angle + 2 * e.angle + f.angle);
      s.vz += h / 6 * (a.vz + 2 * b.vz + 2 * e.vz + f.vz),
          s.spin += h / 6 * (a.spin + 2 * b.spin + 2 * e.spin + f.spin);
    }
    error[half] = fmax(error[half], fabs(body(&d, 0, POSITION + 2) - s.z));
    error[half] = fmax(error[half], fabs(body(&d, 0, VELOCITY + 2) - s.vz));
    error[half] = fmax(error[half], fabs(body(&d, 0, ANGULAR + 1) / I + s.spin)); /* about -y */
    near_to(driver_get(&d, "orientation", 1, 0), -s.angle, 0.02, "angle");
    assert_true(fabs(s.angle - angle) > 0.5);                          /* it hit the floor off its middle */
    near_to(driver_value(&d, "energy", "balance"), 0, 3e-4, "energy"); /* (w dt)^2/12, w^2 = k/m, m = 0.6 */
    driver_destroy(&d);
  }
  assert_true(error[0] < 0.02);
  assert_true(error[0] / error[1] > 2 && error[0] / error[1] < 8);
}

/* The end of a dumbbell hits a floor, at three angles. The point of the contact leaves with e times the speed of
 * approach, since the dashpot is that of the effective mass of the contact. During the contact, of a duration T = pi/w
 * root(1 + (log e/pi)^2) with w^2 = k/m, the arm turns by the spin times T: 3e-3, which is the allowed error. */
static void restitution(void **state) {
  (void)state;
  for (int k = 0; k < 3; k++) {
    const double e = 0.5, r = 0.5, arm = 0.7, angle = 0.3 + 0.4 * k, v = 1;
    double spheres[] = {-arm, 0, 0, r, arm, 0, 0, r};
    collision_clump c = clump_of(spheres, 2);
    collision_plane floor = {.normal = {0, 0, 1}};
    driver d = driver_make(SIM_DOUBLE, 2e-6, 8e-3);
    d.parameters.contact.values.stiffness = 1e6;
    d.parameters.contact.values.restitution = e;
    c.position[2] = arm * sin(angle) + r + 1e-3;
    c.rigid.group.velocity[2] = -v;
    c.orientation[0] = cos(angle / 2), c.orientation[2] = -sin(angle / 2);
    driver_add(&d, &collision_clump_schema, &c);
    driver_wall(&d, &collision_plane_schema, &floor);
    driver_create(&d);
    driver_run(&d);
    near_to(driver_get(&d, "velocity", 2, 0), e * v, 6e-3, "speed of the end that met the floor");
    assert_true(driver_value(&d, "contacts", "wall_contacts") == 0);
    driver_destroy(&d);
  }
}

/* ---- collisions ---- */

/* A clump of one sphere is a grain. Two of them, or a grain and one clump, collide obliquely with friction, rolling and
 * twist. The arithmetic differs only in its order: 1e-12 after 2000 steps of rounding at 1e-16; contacts, 300 steps,
 * amplify it up to 100 times. */
static void one_sphere(void **state) {
  (void)state;
  double x[3][12];
  for (int k = 0; k < 3; k++) {
    driver d = driver_make(SIM_DOUBLE, 1e-4, 0.2);
    collision_values *v = &d.parameters.contact.values;
    v->stiffness = 4000, v->restitution = 0.7, v->friction = 0.4, v->rolling_friction = 0.1, v->twisting_friction = 0.1;
    d.parameters.gravity[1] = -1;
    collision_grain g[2] = {{.group.velocity = {3, 0.5, 0}, .radius = 0.5, .position = {-0.55, 0, 0.3}},
                            {.group.velocity = {-2, 0, 1}, .radius = 0.6, .position = {0.6, 0.1, 0}}};
    g[0].angular_velocity[2] = 5, g[1].angular_velocity[0] = -4;
    double sphere[2][4] = {{1, 2, 3, 0.5}, {0, 0, 0, 0.6}};
    collision_clump c[2];
    for (int i = 0; i < 2; i++) {
      c[i] = clump_of(sphere[i], 1);
      memcpy(c[i].position, g[i].position, sizeof c[i].position);
      memcpy(c[i].angular_velocity, g[i].angular_velocity, sizeof c[i].angular_velocity);
      c[i].rigid.group = g[i].group;
      if (k > i)
        driver_add(&d, &collision_clump_schema, &c[i]);
      else
        driver_add(&d, &collision_grain_schema, &g[i]);
    }
    driver_create(&d);
    driver_run(&d);
    for (int i = 0; i < 2; i++)
      for (int a = 0; a < 3; a++) {
        x[k][6 * i + a] = driver_get(&d, "velocity", a, i);
        x[k][6 * i + 3 + a] = driver_get(&d, "angular_velocity", a, i);
      }
    assert_true(driver_value(&d, "contacts", "collisions") == 1);
    driver_destroy(&d);
  }
  for (int i = 0; i < 12; i++) {
    near_to(x[1][i], x[0][i], 1e-12, "a grain and a clump");
    near_to(x[2][i], x[0][i], 1e-12, "two clumps");
  }
  assert_true(fabs(x[0][3]) > 0.1 && fabs(x[0][1] - 0.3) > 0.01); /* the collision had an effect */
}

static double tripod[] = {0, 0, 0, 0.5, 0.7, 0, 0, 0.4, 0, 0.6, 0.2, 0.3}, rod[] = {-0.4, 0, 0, 0.4, 0.4, 0, 0, 0.4};

/* Four clumps and two grains that meet about the origin. */
static driver meeting(sim_precision precision, double dt, double t_end, collision_clump c[4], collision_grain g[2]) {
  driver d = driver_make(precision, dt, t_end);
  for (int i = 0; i < 4; i++) {
    c[i] = i % 2 ? clump_of(rod, 2) : clump_of(tripod, 3);
    for (int a = 0; a < 3; a++) {
      const double side = ((i + 1) >> a) % 2 ? 1.1 : -1.1;
      c[i].position[a] = side + 0.1 * sin(3 * i + a);
      c[i].rigid.group.velocity[a] = -1.5 * side + 0.3 * cos(5 * i + a);
      c[i].orientation[1 + a] = sin(7 * i + a);
      c[i].angular_velocity[a] = 2 * sin(11 * i + 2 * a);
    }
    driver_add(&d, &collision_clump_schema, &c[i]);
  }
  for (int i = 0; i < 2; i++) {
    g[i] = (collision_grain){.radius = 0.3, .position = {i ? 2.6 : -2.6, 0, 0.1}};
    g[i].group.velocity[0] = i ? -2 : 2;
    driver_add(&d, &collision_grain_schema, &g[i]);
  }
  return d;
}

/* Contacts with friction, rolling, twist and dashpots conserve momentum, and angular momentum with spin: forces of a
 * pair are opposite to the bit, and on one line. Sums over some thousand steps round at 1e-16 of momenta of about 10.
 */
static void momenta(void **state) {
  (void)state;
  static const char *const columns[] = {"momentum_x",         "momentum_y",         "momentum_z",
                                        "angular_momentum_x", "angular_momentum_y", "angular_momentum_z"};
  for (int hertz = 0; hertz < 2; hertz++) {
    collision_clump c[4];
    collision_grain g[2];
    double before[6];
    driver d = meeting(SIM_DOUBLE, 5e-4, 1.5, c, g);
    collision_values *v = &d.parameters.contact.values;
    v->restitution = 0.6, v->friction = 0.5, v->rolling_friction = 0.1, v->twisting_friction = 0.1;
    if (hertz) {
      d.parameters.contact.law = COLLISION_HERTZ;
      v->young = 3000;
    } else {
      v->stiffness = 1000;
    }
    driver_create(&d);
    for (int k = 0; k < 6; k++) before[k] = driver_value(&d, "momentum", columns[k]);
    const double energy = driver_value(&d, "energy", "total");
    driver_run(&d);
    assert_true(driver_value(&d, "contacts", "collisions") >= 4);
    for (int k = 0; k < 6; k++) near_to(driver_value(&d, "momentum", columns[k]), before[k], 1e-12, columns[k]);
    assert_true(driver_value(&d, "energy", "dissipated") > 0.1 * energy);
    /* (w dt)^2 with w^2 = k/m of the lightest contact, 0.06: at most 8e-3 of the energy in contacts */
    near_to(driver_value(&d, "energy", "balance"), 0, 4e-3, "energy");
    driver_destroy(&d);
  }
}

/* Without friction and dashpots the energy is conserved to the second order of the step: 4 times better with half of
 * it. */
static void energy_kept(void **state) {
  (void)state;
  double most[2] = {0};
  for (int k = 0; k < 2; k++) {
    collision_clump c[4];
    collision_grain g[2];
    driver d = meeting(SIM_DOUBLE, k ? 5e-4 : 1e-3, 1.5, c, g);
    d.parameters.contact.law = COLLISION_HERTZ; /* smooth at the first touch */
    d.parameters.contact.values.young = 1000;
    driver_create(&d);
    for (double t = 0.01; t < 1.5; t += 0.01) {
      driver_until(&d, t);
      most[k] = fmax(most[k], fabs(driver_value(&d, "energy", "balance")));
    }
    assert_true(driver_value(&d, "contacts", "collisions") >= 4);
    driver_destroy(&d);
  }
  assert_true(most[0] < 2e-3);
  near_to(most[0] / most[1], 4, 1.2, "order");
}

/* Two clumps that overlap at rest press on each other along the line of the spheres' centres. The stress is that force
 * times the line between the centres of mass: (X1 - X2) F over the volume. */
static void stress(void **state) {
  (void)state;
  driver d = driver_make(SIM_DOUBLE, 1e-4, 1e-4);
  collision_clump c[2] = {clump_of(rod, 2), clump_of(rod, 2)};
  d.parameters.contact.values.stiffness = 1000;
  driver_add(&d, &collision_clump_schema, &c[0]);
  driver_add(&d, &collision_clump_schema, &c[1]);
  c[1].position[0] = 1.2; /* its middle; spheres at 0.4 of the first, and at 0.8 of the second, 0.69 above */
  c[1].position[1] = 0.69;
  driver_create(&d);
  const double apart = sqrt(0.16 + 0.69 * 0.69), force = 1000 * (0.8 - apart);
  near_to(driver_value(&d, "gas", "stress_xx"), 1.2 * 0.4 / apart * force / 1e6, 1e-15, "stress xx");
  near_to(driver_value(&d, "gas", "stress_xy"), 1.2 * 0.69 / apart * force / 1e6, 1e-15, "stress xy");
  near_to(driver_value(&d, "gas", "stress_yy"), 0.69 * 0.69 / apart * force / 1e6, 1e-15, "stress yy");
  near_to(driver_value(&d, "contacts", "coordination"), 1, 0, "coordination");
  driver_run(&d); /* the force decreases by the share k dt^2/(2 m), m > 0.1 */
  const double power = force * (1.2 * 0.4 + 0.69 * 0.69) / apart;
  near_to(driver_value(&d, "gas", "virial_time"), power * 1e-4, 5e-5 * power * 1e-4, "virial");
  driver_destroy(&d);
}

/* ---- boxes and packings ---- */

/* A rod that flies through the sides of a periodic box while it turns, compared with the same rod in an open box; and
 * gravity along the box's periodic axis, whose work balances. */
static void periodic(void **state) {
  (void)state;
  for (int single = 0; single < 2; single++) {
    double at[2][3];
    for (int k = 0; k < 2; k++) {
      collision_clump c = clump_of(tripod, 3);
      driver d = driver_make(single ? SIM_SINGLE : SIM_DOUBLE, 1e-3, 3);
      d.parameters.contact.values.stiffness = 100;
      driver_box(&d, 6, k ? COLLISION_PERIODIC : COLLISION_OPEN);
      c.position[0] = 5.5, c.position[1] = 0.1, c.position[2] = 3;
      c.rigid.group.velocity[0] = 4, c.rigid.group.velocity[1] = -3;
      c.angular_velocity[2] = 3, c.angular_velocity[0] = 1;
      d.parameters.gravity[1] = -1;
      driver_add(&d, &collision_clump_schema, &c);
      driver_create(&d);
      driver_run(&d);
      for (int a = 0; a < 3; a++) at[k][a] = driver_get(&d, "position", a, 1);
      near_to(driver_value(&d, "energy", "balance"), 0, 1e-6, "energy"); /* (w dt)^2/12 of a body that turns */
      assert_true(driver_value(&d, "contacts", "collisions") == 0);      /* not even with itself */
      for (int a = 0; a < 3 && k; a++) assert_true(at[k][a] >= 0 && at[k][a] < 6);
      driver_destroy(&d);
    }
    /* rounding of some 3000 steps at positions up to 18 */
    for (int a = 0; a < 3; a++) near_to(remainder(at[1][a] - at[0][a], 6), 0, single ? 1e-5 : 1e-11, "position");
  }
}

/* Clumps and grains fall into a box and come to rest. Then floor and walls bear their weight. They are at rest where
 * the remaining energy, 1e-6 of a fall's energy, cannot move the floor's force by 1e-3 of the weight: v w of 1e-3 g,
 * with w^2 = k/m. */
static void packing(void **state) {
  (void)state;
  driver d = driver_make(SIM_DOUBLE, NAN, 2);
  collision_clumps c = {.rigid = {.spheres = {tripod, 3, 4}, .mass = 1, .group.density = NAN}, .n = 30};
  collision_random_spheres g = {.group.density = 1, .size.radius = 0.4, .n = 20};
  driver_box(&d, 5, COLLISION_WALL);
  d.parameters.box.sides[0] = d.parameters.box.sides[1] = COLLISION_PERIODIC;
  d.parameters.box.size[2] = 12;
  d.parameters.box.sides[5] = COLLISION_OPEN;
  d.parameters.gravity[2] = -10;
  collision_values *v = &d.parameters.contact.values;
  v->stiffness = 2e4, v->restitution = 0.2, v->friction = 0.5, v->rolling_friction = v->twisting_friction = 0.1;
  d.parameters.integrate.t_end = 6;
  d.parameters.integrate.steps_per_contact = 20;
  driver_add(&d, &collision_clumps_schema, &c);
  driver_add(&d, &collision_random_spheres_schema, &g);
  driver_create(&d);
  driver_run(&d);
  const double weight = 10 * (30 + 20 * 4 * pi / 3 * 0.064);
  const double borne = driver_value(&d, "walls", "z_low_force_z") + driver_value(&d, "walls", "y_low_force_z") +
                       driver_value(&d, "walls", "y_high_force_z");
  near_to(borne, -weight, 1e-3 * weight, "weight");
  assert_true(driver_value(&d, "energy", "kinetic") < 1e-6 * weight);
  near_to(driver_value(&d, "energy", "balance"), 0, 1e-2, "energy");
  assert_true(driver_value(&d, "contacts", "coordination") > 3);
  driver_destroy(&d);
}

/* The same digest on 1 and 3 threads, with more than 4096 grains, and from a state in the middle. */
static void same_bits(void **state) {
  (void)state;
  for (int single = 0; single < 2; single++) {
    char digest[3][33];
    for (int k = 0; k < 3; k++) {
      driver d = driver_make(single ? SIM_SINGLE : SIM_DOUBLE, 2e-3, 0.12);
      driver_box(&d, 30, COLLISION_PERIODIC);
      d.parameters.box.sides[4] = d.parameters.box.sides[5] = COLLISION_WALL;
      d.parameters.gravity[0] = 1;
      d.parameters.contact.values.stiffness = 500;
      d.parameters.contact.values.restitution = 0.6;
      d.parameters.contact.values.friction = 0.3;
      collision_clumps c = {.rigid = {.spheres = {tripod, 3, 4}, .mass = NAN}, .n = 1500, .temperature = 30};
      collision_random_spheres g = {.size.radius = 0.3, .n = 200, .temperature = 3};
      d.setup.threads = k == 1 ? 3 : 1;
      driver_add(&d, &collision_clumps_schema, &c);
      driver_add(&d, &collision_random_spheres_schema, &g);
      driver_create(&d);
      if (k == 2) {
        driver_frame kept;
        driver_until(&d, 0.07);
        driver_keep(&d, &kept);
        driver_destroy(&d);
        driver_restore(&d, &kept.frame);
        driver_frame_free(&kept);
      }
      driver_run(&d);
      driver_digest(&d, digest[k]);
      assert_true(driver_value(&d, "contacts", "collisions") > 100);
      driver_destroy(&d);
    }
    assert_string_equal(digest[0], digest[1]);
    assert_string_equal(digest[0], digest[2]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(exact_properties),
                                     cmocka_unit_test(sampled_properties),
                                     cmocka_unit_test(slender_properties),
                                     cmocka_unit_test(no_memory),
                                     cmocka_unit_test(free_top),
                                     cmocka_unit_test(dumbbell_falls),
                                     cmocka_unit_test(restitution),
                                     cmocka_unit_test(one_sphere),
                                     cmocka_unit_test(momenta),
                                     cmocka_unit_test(energy_kept),
                                     cmocka_unit_test(stress),
                                     cmocka_unit_test(periodic),
                                     cmocka_unit_test(packing),
                                     cmocka_unit_test(same_bits)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
