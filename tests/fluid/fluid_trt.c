/* Populations by two relaxation times: exact walls, and permeabilities that do not depend on the viscosity. */
#include "tests/fluid/driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const double pi = 3.14159265358979323846;

static void near_to(double got, double expected, double tolerance, const char *what) {
  if (!(fabs(got - expected) <= tolerance))
    fail_msg("%s: got %.15g, expected %.15g within %.1e (off by %.2e)", what, got, expected, tolerance, got - expected);
}

/* Returns the greatest error of the velocity of a channel of 8 cells, driven by a force, over the greatest velocity. */
static double poiseuille(int rank, double viscosity, const char *collision) {
  const double g = 0.02 * 8 * viscosity / 64, H = 8; /* 0.02 in the middle */
  double most = 0;
  flow f;
  flow_run(&f,
           "local three = %s\n"
           "return sim.fluid { grid = { n = three and {3, 4, 8} or {4, 8}, size = three and {3, 4, 8} or {4, 8},\n"
           "    [three and 'z' or 'y'] = 'wall' }, viscosity = %.17g, speed = 0.03, %s\n"
           "  acceleration = three and {%.17g, 0, 0} or {%.17g, 0}, integrate = { dt = 1, t_end = %.17g } }",
           rank == 3 ? "true" : "false", viscosity, collision, g, g, ceil(40 * 64 / (pi * pi * viscosity)) + 2000);
  for (int i = 0; i < 8; i++) {
    const double y = i + 0.5, u = flow_field(&f, "velocity/x", 1, rank == 3 ? 2 : i, rank == 3 ? i : 0);
    most = fmax(most, fabs(u - g / (2 * viscosity) * y * (H - y)) / 0.02);
  }
  flow_close(&f);
  return most;
}

/* At the magic number 3/16 the parabola is exact for every viscosity (Ginzburg, Verhaeghe and d'Humieres 2008): after
 * 40 times its decay by e what is left are roundings, 1e-16 in each step of a decay time of 6.5/viscosity steps, here
 * at most 650, and where the relaxation time, of 3 viscosity steps, is long, 2000 steps more. At another one, and with
 * moments, it is not. */
static void test_poiseuille(void **state) {
  (void)state;
  static const double viscosities[] = {0.01, 0.1, 1.0 / 6, 1, 4};
  for (int rank = 2; rank <= 3; rank++)
    for (int i = rank == 3 ? 1 : 0; i < 5; i++)
      near_to(poiseuille(rank, viscosities[i], "collision = 'trt',"), 0, 1e-16 * 650 * 10, "Poiseuille");
  assert_true(poiseuille(2, 1, "collision = 'trt', magic = 0.25,") > 1e-3);
  assert_true(poiseuille(2, 1.0 / 6, "") > 1e-3);
}

/* Between a wall at rest and a moving wall the profile is linear; this is exact too. */
static void test_couette(void **state) {
  (void)state;
  flow f;
  flow_run(&f,
           "return sim.fluid { grid = { n = {6, 10}, size = {6, 10}, y = 'wall' }, viscosity = 0.5, speed = 0.05,\n"
           "  collision = 'trt', sides = { y_high = { velocity = {0.04, 0} } }, integrate = { dt = 1, t_end = 900 } }");
  for (int y = 0; y < 10; y++) near_to(flow_field(&f, "velocity/x", 3, y, 0), 0.04 * (y + 0.5) / 10, 1e-14, "Couette");
  flow_close(&f);
}

/* Viscosity times mean velocity over the force: the permeability of an array of blocks, in cells^2. */
static double permeability(double viscosity, const char *collision) {
  flow f;
  flow_run(&f,
           "return sim.fluid { grid = { n = {12, 12}, size = {12, 12} }, viscosity = %.17g, speed = 0.01, %s\n"
           "  acceleration = {1e-9, 0}, bodies = { sim.block { low = {3, 2, 0}, high = {8, 7, 0} } },\n"
           "  integrate = { dt = 1, t_end = %.17g } }",
           viscosity, collision, ceil(600 / viscosity));
  const double out = viscosity * flow_value(&f, "flow", "momentum_x") / 144 / 1e-9;
  flow_close(&f);
  return out;
}

/* With half-way walls and one magic number a Stokes flow does not depend on the viscosity (d'Humieres and Ginzburg,
 * Comput. Math. Appl. 58 (2009) 823); that of moments does. Velocities are so small that inertia, u L/viscosity, is
 * below 1e-5 of it squared; of the start exp(-600/9) is left. */
static void test_permeability(void **state) {
  (void)state;
  const double first = permeability(1.0 / 6, "collision = 'trt',"), moments = permeability(1.0 / 6, "");
  print_message("permeability %.9f, of moments %.9f\n", first, moments);
  for (int i = 0; i < 3; i++) {
    const double viscosity = 0.05 * pow(4, i);
    const double k = permeability(viscosity, "collision = 'trt',"), other = permeability(viscosity, "");
    print_message("viscosity %g: %.3e off, of moments %.3e\n", viscosity, k / first - 1, other / moments - 1);
    near_to(k / first, 1, 1e-8, "permeability");
    assert_true(fabs(other / moments - 1) > 0.01);
  }
}

/* Stokes flow through an array of spheres, as in fluid_bodies.c, with the same bound. */
static void test_hasimoto(void **state) {
  (void)state;
  const double r = 0.25, c = 4 * pi / 3 * r * r * r;
  flow f;
  flow_run(&f, "return sim.fluid { grid = { n = {20, 20, 20}, size = {1, 1, 1} }, collision = 'trt',\n"
               "  viscosity = 0.1, speed = 0.02, acceleration = {0.01, 0, 0},\n"
               "  bodies = { sim.ball { name = 'ball', point = {0.4, 0.1, 1.3}, radius = 0.25 } },\n"
               "  integrate = { dt = 1.6 / 20^2, t_end = 6 } }");
  const double exact = 1 - 1.7601 * cbrt(c) + c - 1.5593 * c * c + 3.9799 * pow(c, 8.0 / 3) - 3.0734 * pow(c, 10.0 / 3);
  near_to(flow_value(&f, "bodies", "ball_fx") / (0.01 * flow_value(&f, "flow", "mass")), 1, 4e-3,
          "the driving force"); /* the volume by
chords of 10 cells, (1/10)^1.5 of a ball that is 6.5 % of the box: 2e-3, and what has not decayed */
  near_to(6 * pi * 0.1 * r * flow_value(&f, "flow", "momentum_x") / 0.01, exact, 0.015 * exact, "Hasimoto");
  flow_close(&f);
}

/* A rotating cylinder inside one at rest, as in fluid_bodies.c. */
static void test_taylor_couette(void **state) {
  (void)state;
  const double r = 0.2, outer = 0.4, expected = 4 * pi * 0.1 * r * r * outer * outer / (outer * outer - r * r);
  flow f;
  flow_run(&f, "return sim.fluid { grid = { n = {50, 50}, size = {1, 1} }, viscosity = 0.1, collision = 'trt',\n"
               "  speed = 0.2, bodies = {\n"
               "    sim.cylinder { name = 'rotor', point = {0.5, 0.51, 0}, radius = 0.2, spin = 1 },\n"
               "    sim.cylinder { name = 'stator', point = {0.5, 0.51, 0}, radius = 0.4, inside = true } },\n"
               "  integrate = { t_end = 4 } }");
  near_to(flow_value(&f, "bodies", "rotor_tz"), -expected, 0.01 * expected, "inner torque");
  near_to(flow_value(&f, "bodies", "stator_tz"), expected, 0.01 * expected, "outer torque");
  flow_close(&f);
}

/* A ball in a fluid at rest under gravity: lifted by the weight of the fluid in its place, as in fluid_bodies.c; the
 * fluid stays at rest. Its speed is that of chords, a share of 1e-2 of g r^2/viscosity at most. */
static void test_buoyancy(void **state) {
  (void)state;
  const double volume = 4 * pi / 3 * 4.85 * 4.85 * 4.85;
  flow f;
  flow_run(&f,
           "return sim.fluid { grid = { n = {24, 24, 24}, size = {24, 24, 24}, boundary = 'wall' }, viscosity = 1/6,\n"
           "  speed = 0.05, density = 2, acceleration = {0, -1e-4, 0}, collision = 'trt',\n"
           "  initial = function(x, y) return 0, 0, 0, -2e-4 * (y - 12) end,\n"
           "  bodies = { sim.ball { name = 'ball', point = {12.2, 11.1, 12.4}, radius = 4.85 } },\n"
           "  integrate = { dt = 1, t_end = 200 } }");
  near_to(flow_value(&f, "bodies", "ball_fy"), 2e-4 * volume, 0.01 * 2e-4 * volume, "lift");
  assert_true(flow_value(&f, "flow", "speed") < 1e-4 * 4.85 * 4.85 * 6 * 1e-2);
  flow_close(&f);
}

/* A stream through inlet and outlet around a body, beside slip sides, is that of moments: both are of second order, and
 * forces by 6 cells a radius are right to 1/36 each. The mass stays in a closed box. */
static void test_stream(void **state) {
  (void)state;
  double drag[2];
  for (int i = 0; i < 2; i++) {
    flow f;
    flow_run(
        &f,
        "return sim.fluid { grid = { n = {72, 36}, size = {72, 36}, boundary = 'wall', y = 'slip' }, viscosity = 0.1,\n"
        "  speed = 0.09, sides = { x_low = { velocity = {0.05, 0} }, x_high = { pressure = 0 } }, %s\n"
        "  bodies = { sim.ball { name = 'body', point = {24.2, 18, 0}, radius = 6 } },\n"
        "  integrate = { dt = 1, t_end = 4000 } }",
        i ? "collision = 'trt'," : "");
    drag[i] = flow_value(&f, "bodies", "body_fx");
    flow_close(&f);
  }
  print_message("drag %.6g, of moments %.6g\n", drag[1], drag[0]);
  near_to(drag[1], drag[0], 0.03 * drag[0], "drag");
}

static const char *const texts[] = {
    "return sim.fluid { precision = kind, grid = { n = {42, 20, 26}, size = {2.1, 1, 1.3}, z = 'wall' },\n"
    "  viscosity = 0.02, speed = 1, acceleration = {0.1, 0.05, 0}, sides = { z_high = { velocity = {0.5, 0.2, 0} } },\n"
    "  initial = function(x, y, z) return 0.2 * math.sin(3*x), 0, 0.1 * math.cos(5*y) end, collision = 'trt',\n"
    "  bodies = { sim.ball { point = {0.1, 0.5, 0.6}, radius = 0.3, spin = 1 },\n"
    "             sim.block { low = {1, 0.2, 0.3}, high = {1.3, 0.5, 0.6} } }, integrate = { t_end = 100 } }",
    "return sim.fluid { precision = kind, grid = { n = {185, 95}, size = {3.7, 1.9}, boundary = 'wall', y = 'slip' },\n"
    "  viscosity = 0.005, speed = 1, collision = 'trt', magic = 0.25,\n"
    "  sides = { x_low = { velocity = {0.5, 0} }, x_high = { pressure = 0.1 } },\n"
    "  bodies = { sim.cylinder { point = {1, 1, 0}, radius = 0.33, spin = -1 } }, integrate = { t_end = 100 } }"};

/* The same bits on other threads and vectors, and after a restart. */
static void test_same(void **state) {
  (void)state;
  for (int i = 0; i < 4; i++) {
    char text[1024], straight[33], other[33];
    flow f, g;
    snprintf(text, sizeof text, "local kind = '%s' %s", i % 2 ? "single" : "double", texts[i / 2]);
    flow_open(&f, text, sim_isa_best(), 1, NULL);
    flow_steps(&f, 11);
    flow_look(&f);
    flow_open(&g, text, sim_isa_best(), 3, &f.frame);
    flow_steps(&f, 10);
    flow_digest(&f, straight);
    flow_steps(&g, 10);
    flow_digest(&g, other);
    assert_string_equal(straight, other);
    flow_close(&f);
    flow_close(&g);
    for (int isa = 0; isa < (int)sim_isa_best(); isa++) {
      flow_open(&f, text, (sim_isa)isa, 2, NULL);
      flow_steps(&f, 21);
      flow_digest(&f, other);
      flow_close(&f);
      assert_string_equal(straight, other);
    }
  }
}

/* In a closed box with a body the mass stays to rounding: some 2e-16 a step, independent of each other. */
static void test_mass(void **state) {
  (void)state;
  flow f;
  flow_open(
      &f,
      "return sim.fluid { grid = { n = {20, 20}, size = {1, 1}, boundary = 'wall' }, viscosity = 0.01, speed = 1,\n"
      "  collision = 'trt', sides = { y_high = { velocity = {1, 0} } },\n"
      "  bodies = { sim.ball { point = {0.4, 0.5, 0}, radius = 0.2, spin = 2 } }, integrate = { t_end = 1e6 } }",
      sim_isa_best(), 2, NULL);
  const double before = flow_value(&f, "flow", "mass");
  flow_steps(&f, 5000);
  near_to(flow_value(&f, "flow", "mass"), before, 1e-13, "mass");
  flow_close(&f);
}

/* Long relaxation times are reported where a body is interpolated. */
static void test_long_steps(void **state) {
  (void)state;
  for (int slow = 0; slow < 2; slow++) {
    flow f;
    flow_heard h = {0};
    sim_plan plan = {0};
    char text[512];
    snprintf(text, sizeof text,
             "return sim.fluid { grid = { n = {20, 20}, size = {20, 20} }, viscosity = %s, speed = 0.01,\n"
             "  collision = 'trt', bodies = { sim.ball { point = {10, 10, 0}, radius = 5 } },\n"
             "  integrate = { dt = 1, t_end = 10 } }",
             slow ? "0.5" : "0.3"); /* relaxation times 2 and 1.4 */
    flow_open(&f, text, sim_isa_best(), 1, NULL);
    assert_true(sim_log_add(flow_hear, &h));
    assert_int_equal(fluid_model.plan(f.p, &f.setup, &plan), SIM_OK);
    sim_log_remove(flow_hear, &h);
    assert_int_equal(strstr(h.text, "have too little drag") != NULL, slow);
    flow_close(&f);
  }
}

int main(int count, char **words) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_poiseuille),     cmocka_unit_test(test_couette),
                                     cmocka_unit_test(test_permeability),   cmocka_unit_test(test_hasimoto),
                                     cmocka_unit_test(test_taylor_couette), cmocka_unit_test(test_buoyancy),
                                     cmocka_unit_test(test_stream),         cmocka_unit_test(test_same),
                                     cmocka_unit_test(test_mass),           cmocka_unit_test(test_long_steps)};
  if (count > 1) cmocka_set_test_filter(words[1]);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
