/* Grains in a fluid: known answers, what is kept, and the bits on other threads and after a restart. */
#include "tests/fluid/driver.h"

#include "kernels/fluid/grains/covered.h"
#include "kernels/fluid/grains/grains.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const double pi = 3.14159265358979323846;

static double whole_momentum(flow *f, char axis) {
  char column[16];
  snprintf(column, sizeof column, "momentum_%c", axis);
  return flow_value(f, "flow", column) + flow_value(f, "grains", column);
}

/* ---- shares ---- */

/* The cells' parts add up to the sphere: 8 x 8 lines in each of the some 4 pi r^2 cells of the surface have errors of
 * some 1/(12 64) of a cell, of both signs. Turned about a diagonal, a cell's part is the same. */
static void test_shares(void **state) {
  (void)state;
  for (int k = 0; k < 5; k++) {
    const double r = 3 + 0.37 * k, at[3] = {0.13 * k, 0.21 * k, -0.17 * k};
    double sum = 0, turned = 0;
    for (int z = -6; z <= 6; z++)
      for (int y = -6; y <= 6; y++)
        for (int x = -6; x <= 6; x++) {
          const double c[3] = {at[0] - x, at[1] - y, at[2] - z}, d[3] = {c[1], c[2], c[0]};
          const double part = fluid_covered(c, r);
          assert_true(part >= 0 && part <= 1);
          sum += part;
          turned = fmax(turned, fabs(fluid_covered(d, r) - part));
        }
    assert_true(fabs(sum / (4.0 / 3 * pi * r * r * r) - 1) < 5e-4);
    assert_true(turned < 1e-3);
  }
}

/* ---- what is kept ---- */

/* Grains that move with a uniform flow feel nothing: their velocity changes by rounding alone, of sums over some 400
 * cells in each of 50 steps. */
static void test_uniform(void **state) {
  (void)state;
  flow f;
  flow_run(&f, "return sim.fluid { precision = 'double', grid = { n = {20, 20, 20}, size = {20, 20, 20} },\n"
               "  viscosity = 0.1, speed = 0.1, initial = function(x, y, z) return 0.03, -0.04, 0.05 end,\n"
               "  grains = { { radius = 3.2, position = {10.1, 9.7, 10.3}, velocity = {0.03, -0.04, 0.05} } },\n"
               "  contact = { contact_time = 10 }, integrate = { dt = 1, t_end = 50 } }");
  static const double u[3] = {0.03, -0.04, 0.05};
  for (int a = 0; a < 3; a++) {
    char column[16];
    snprintf(column, sizeof column, "velocity_%c", "xyz"[a]);
    assert_true(fabs(flow_value(&f, "grains", column) - u[a]) < 1e-13);
    snprintf(column, sizeof column, "spin_%c", "xyz"[a]);
    assert_true(fabs(flow_value(&f, "grains", column)) < 1e-13);
  }
  flow_close(&f);
}

/* Three grains of two sizes, which fall on each other through periodic sides; `kind` is the precision. */
static const char crowd[] =
    "return sim.fluid { precision = kind, grid = { n = {24, 26, 28}, size = {24, 26, 28}, z = bound },\n"
    "  viscosity = 0.08, speed = 0.12, initial = function(x, y, z) return 0.02 * math.sin(z/28*2*math.pi), 0, 0 end,\n"
    "  grains = { { radius = 3.1, position = {2, 12, 14}, velocity = {0, 0, -0.1}, density = 9 },\n"
    "    { radius = 3.6, position = {1, 12.5, 7}, density = 1, angular_velocity = {0.004, 0.002, 0} },\n"
    "    { radius = 3.3, position = {12, 25, 14.2}, velocity = {0.03, 0.02, -0.03}, density = 2.2 } },\n"
    "  gravity = {0, 0, -pull}, contact = { contact_time = 5, restitution = 0.8, friction = 0.4 },\n"
    "  integrate = { dt = 1, t_end = 200 } }";

/* In a periodic box the momentum of fluid and grains stays: of some 17000 cells, with values of some 0.05 each, which
 * round once or twice a step; in single what rounding took is kept beside the moments, but `flow` sums moments alone.
 * Energy of the grains: the work of the fluid makes their kinetic energy and what contacts and films dissipate, but for
 * the sums of contacts over 50 substeps: (2 pi/50)^2/12 = 0.13 % of what passes through them, and in a contact that
 * lasts the loss of half a substep, 2 % of what a dashpot dissipates. */
static void test_budget(void **state) {
  (void)state;
  static const double limit[] = {1e-11, 1e-5};
  for (int k = 0; k < 2; k++) {
    char text[2048];
    double before[3], now[2][5] = {{0}};
    static const char *const energies[] = {"kinetic", "rotational", "elastic", "dissipated", "lubricated"};
    flow f;
    snprintf(text, sizeof text, "local kind, bound, pull = '%s', 'periodic', 0 %s", k ? "single" : "double", crowd);
    flow_open(&f, text, sim_isa_best(), 2, NULL);
    for (int a = 0; a < 3; a++) before[a] = whole_momentum(&f, "xyz"[a]);
    for (int e = 0; e < 5; e++) now[0][e] = flow_value(&f, "grains", energies[e]);
    flow_steps(&f, 200);
    for (int a = 0; a < 3; a++) assert_true(fabs(whole_momentum(&f, "xyz"[a]) - before[a]) < limit[k]);
    double sum = -flow_value(&f, "grains", "work_fluid"), scale = 0;
    for (int e = 0; e < 5; e++) {
      now[1][e] = flow_value(&f, "grains", energies[e]);
      sum += now[1][e] - now[0][e];
      scale += now[0][e];
    }
    assert_true(now[1][3] > 1e-6 * scale && now[1][4] > 1e-3 * scale); /* they have met, and their films */
    assert_true(fabs(sum) < 3e-2 * (now[1][2] + now[1][3]) + 1e-12);
    flow_close(&f);
  }
}

/* Gravity pulls with the weight less that of the displaced fluid, and nothing else does before grains meet a wall: the
 * momentum grows by it in each step. */
static void test_weight(void **state) {
  (void)state;
  enum { STEPS = 40 };
  flow f;
  char text[2048];
  snprintf(text, sizeof text, "local kind, bound, pull = 'double', 'periodic', 1e-4 %s", crowd);
  flow_open(&f, text, sim_isa_best(), 2, NULL);
  const double before = whole_momentum(&f, 'z');
  flow_steps(&f, STEPS);
  const double weight = 1e-4 * 4.0 / 3 * pi * (8 * pow(3.1, 3) + 1.2 * pow(3.3, 3));
  assert_true(fabs((whole_momentum(&f, 'z') - before) / (-weight * STEPS) - 1) < 1e-9);
  flow_close(&f);
}

/* ---- known answers ---- */

/* Slow settling of a periodic array of spheres, whose weight the fluid's acceleration balances: the drag is that of
 * Stokes times K = 1/(1 - 1.7601 c^(1/3) + c - 1.5593 c^2), c their part of the box (Hasimoto, J. Fluid Mech. 5 (1959)
 * 317), with the velocity over the mean one. Returns drag over 6 pi mu R U K - 1. At Re 0.02 inertia adds less than
 * 0.1 %. */
static double array_error(double n, double radius, double tau, double t_end) {
  const double u = 0.02 / (2 * radius), force = 6 * pi * radius * u, ratio = 1.5;
  const double volume = 4.0 / 3 * pi * radius * radius * radius, c = volume / (n * n * n);
  flow f;
  flow_run(&f,
           "local n, r, middle = %.9g, %.9g, %.9g return sim.fluid { precision = 'double',\n"
           "  grid = { n = {n, n, n}, size = {n, n, n} }, viscosity = 1, speed = %.9g, gravity = {0, 0, -%.17g},\n"
           "  acceleration = {0, 0, %.17g}, contact = { contact_time = 10 },\n"
           "  grains = { { radius = r, position = {middle, middle + 0.3, middle + 0.4}, density = %.9g } },\n"
           "  integrate = { dt = %.17g, t_end = %.9g } }",
           n, radius, n / 2, 3 * u, force / (volume * (ratio - 1)), force / (n * n * n), ratio, (tau - 0.5) / 3, t_end);
  const double mean = flow_value(&f, "flow", "momentum_z") / (n * n * n);
  const double speed = mean - flow_value(&f, "grains", "velocity_z");
  flow_close(&f);
  return force / (6 * pi * radius * speed) * (1 - 1.7601 * cbrt(c) + c - 1.5593 * c * c) - 1;
}

/* The drag of small spheres varies by some 1 % with where they stand between cells. */
static void test_array(void **state) {
  (void)state;
  assert_true(fabs(array_error(16, 3.1, 1, 60)) < 0.015);
  assert_true(fabs(array_error(16, 3.1, 0.65, 60)) < 0.015);
}

static void test_array_long(void **state) {
  (void)state;
  assert_true(fabs(array_error(24, 4.65, 0.55, 135)) < 0.01);
  assert_true(fabs(array_error(24, 4.65, 1, 135)) < 0.01);
  assert_true(fabs(array_error(32, 6.2, 0.8, 240)) < 0.01);
}

/* A sphere as heavy as the fluid, in the middle of a shear flow, turns at half its rate (Jeffery, Proc. R. Soc. A 102
 * (1922) 161), but for walls at four radii, which slow it by some (1/4)^5 = 0.1 %, and for inertia, which takes 0.054
 * Re^1.5 of the rate (Meibohm et al., arXiv:1606.02665), 0.12 % of the turning at Re = rate R^2/nu = 0.05. The rest of
 * 1 % is for a sphere of 8 cells across, whose torques are within 3 % (test_torque, 6 cells) and cancel where it turns
 * freely. It does not move: 2e-3 of the velocity at its surface. */
static void test_shear(void **state) {
  (void)state;
  const double rate = 0.05 / 16;
  flow f;
  flow_run(&f, "local rate = 0.05/16 return sim.fluid { precision = 'double',\n"
               "  grid = { n = {32, 32, 32}, size = {32, 32, 32}, z = 'wall' }, viscosity = 1, speed = 16*rate,\n"
               "  sides = { z_low = { velocity = {-16*rate, 0, 0} }, z_high = { velocity = {16*rate, 0, 0} } },\n"
               "  initial = function(x, y, z) return rate*(z - 16), 0, 0 end,\n"
               "  grains = { { radius = 4, position = {16.2, 16.35, 16} } }, contact = { contact_time = 10 },\n"
               "  integrate = { dt = 1/6, t_end = 30 } }");
  assert_true(fabs(flow_value(&f, "grains", "spin_y") / (rate / 2) - 1) < 0.01);
  assert_true(fabs(flow_value(&f, "grains", "velocity_x")) < 2e-3 * rate * 4);
  flow_close(&f);
}

/* A film slows two grains by exp(-6 pi mu R^2 (1/h - 1/gap) dt/m) in a step, m their reduced mass and R = r1 r2/(r1 +
 * r2), and keeps their momentum; below FLUID_GRAIN_TOUCH it is that of this gap. */
static void test_film(void **state) {
  (void)state;
  enum { CASES = 3 };
  static const double gap[CASES] = {0.3, 0.001, 1.1}, film[CASES] = {1 / 0.3 - 1, 1 / 0.02 - 1, 0};
  for (int k = 0; k < CASES; k++) {
    fluid_parameters p = {.viscosity = 0.1, .density = 2};
    const fluid_numbers numbers = {.dx = 1, .dt = 0.5};
    double radius[2] = {3, 4}, mass[2] = {300, 900}, v[6] = {0, 0, 0, 0, 0.02, -0.01};
    double x[6] = {0, 0, 0, 0, 0, 0};
    for (int a = 0; a < 6; a++) x[a] = 20;
    x[4] = 2;
    x[5] = 2 - 7 - gap[k] + 40; /* through the periodic side */
    for (int a = 0; a < 3; a++) p.grid.along[a] = GRID_PERIODIC;
    double size[3] = {40, 40, 40}, n[3] = {40, 40, 40};
    p.grid.size = (sim_doubles){.data = size, .rows = 3};
    p.grid.n = (sim_doubles){.data = n, .rows = 3};
    fluid_grains g = {.p = &p, .numbers = &numbers};
    g.s = (collision_coupled_state){.n = 2, .radius = radius, .mass = mass, .position = x, .velocity = v};
    const grid_shape grid = fluid_grid_of(&p);
    must(fluid_bins_create(&g, &grid, FLUID_GRAIN_GAP * numbers.dx, &g.bins), "bins");
    const double dissipated = fluid_lubricate(&g, &grid);
    fluid_bins_destroy(&g.bins);
    const double R = 12.0 / 7, m = 300 * 900 / 1200.0, left = exp(-6 * pi * 0.2 * R * R * film[k] * 0.5 / m);
    /* the first grain is above the image of the second one: they part with v[4] - v[5] */
    assert_true(fabs(v[4] - v[5] - 0.03 * left) < 1e-15);
    assert_true(fabs(300 * v[4] + 900 * v[5] - (300 * 0.02 - 900 * 0.01)) < 1e-12);
    assert_true(fabs(dissipated - m * 0.03 * 0.03 * (1 - left * left) / 2) < 1e-15);
  }
}

/* A grain that falls on a wall; *heard: what `sim check` warns of. Returns how 60 units of time end. */
static sim_status fall(double mach, flow_heard *heard) {
  flow f;
  char text[1024];
  sim_plan plan = {0};
  sim_status status = SIM_OK;
  snprintf(text, sizeof text,
           "return sim.fluid { precision = 'double', grid = { n = {28, 28, 28}, size = {28, 28, 28}, z = 'wall' },\n"
           "  viscosity = 0.11, speed = 0.1, mach = %g, contact = { contact_time = 1, restitution = 0.9 },\n"
           "  grains = { { radius = 4, position = {14.1, 14.2, 9}, velocity = {0, 0, -0.1}, density = 20 } },\n"
           "  integrate = { t_end = 60 } }",
           mach);
  flow_open(&f, text, sim_isa_best(), 2, NULL);
  *heard = (flow_heard){0};
  assert_true(sim_log_add(flow_hear, heard));
  must(fluid_model.plan(f.p, &f.setup, &plan), "plan");
  sim_log_remove(flow_hear, heard);
  while (status == SIM_OK && f.clock.t < f.clock.t_end) status = fluid_model.step(f.self, &f.clock);
  flow_close(&f);
  return status;
}

/* The film below it is pressed to more than 1.5 times its density: `sim check` warns, and the `mach` that it names
 * serves. */
static void test_pressed(void **state) {
  (void)state;
  flow_heard heard;
  assert_int_equal(fall(0.25, &heard), SIM_ERR_DIVERGED);
  const char *says = strstr(heard.text, "presses the fluid"), *named = says ? strstr(says, "expected mach = ") : NULL;
  if (!named) fail_msg("no warning of a film, but: %s", heard.text);
  const double mach = strtod(named + strlen("expected mach = "), NULL);
  assert_true(mach > 0.1 && mach < 0.2);
  assert_int_equal(fall(mach, &heard), SIM_OK);
  assert_null(strstr(heard.text, "presses the fluid"));
}

/* A heavy sphere spins down by the torque of Stokes, 8 pi mu R^3 w. Its images add some 1/(1 - c) = 1.6 %, c being its
 * part of the box; at 6 cells across the torque is 3 % too high. Its time is 200 times R^2/nu, so that the flow
 * follows. */
static void test_torque(void **state) {
  (void)state;
  const double r = 3.1, c = 4.0 / 3 * pi * r * r * r / 8000, rate = 8 * pi / (0.4 * 3000 * 4.0 / 3 * pi * r * r);
  flow f;
  flow_open(&f,
            "return sim.fluid { precision = 'double', grid = { n = {20, 20, 20}, size = {20, 20, 20} },\n"
            "  viscosity = 1, speed = 0.05, contact = { contact_time = 10 },\n"
            "  grains = { { radius = 3.1, position = {10.1, 10.3, 9.8}, density = 3000,\n"
            "    angular_velocity = {0, 0, 0.01} } }, integrate = { dt = 0.1, t_end = 90 } }",
            sim_isa_best(), 2, NULL);
  flow_steps(&f, 600);
  const double before = flow_value(&f, "grains", "spin_z");
  flow_steps(&f, 300);
  const double torque = log(before / flow_value(&f, "grains", "spin_z")) / 30 / rate * (1 - c);
  assert_true(torque > 0.99 && torque < 1.05);
  flow_close(&f);
}

/* A sphere of 15 mm that settles in a box of 100 x 100 x 160 mm: greatest speed over that in a box without walls, as
 * measured (ten Cate, Nieuwstad, Derksen and Van den Akker, Phys. Fluids 14 (2002) 4012, tables I and II). Spheres of 8
 * cells across have a drag within 1.5 % (test_array); the speed in the table, 0.038, is rounded by 1.3 %; compression
 * makes some Mach^2 = 1 %; and the walls, which slow it by 5 %, are rounded to cells by 1.25 % of the box: together 4
 * %. */
static void test_settling_long(void **state) {
  (void)state;
  static const struct {
    double density, viscosity, speed, measured, t_end;
  } cases[] = {{970, 0.373, 0.038, 0.947, 2}, {960, 0.058, 0.128, 0.955, 1.05}};
  for (int k = 0; k < 2; k++) {
    double most = 0;
    flow f;
    char text[2048];
    snprintf(text, sizeof text,
             "return sim.fluid { precision = 'single', grid = { n = {54, 54, 86}, size = {0.10125, 0.10125, 0.16125},\n"
             "  boundary = 'wall' }, viscosity = %.9g, density = %.9g, speed = %.9g, gravity = {0, 0, -9.81},\n"
             "  grains = { { radius = 0.0075, position = {0.050625, 0.050625, 0.1275}, density = 1120 } },\n"
             "  contact = { contact_time = 2e-3 }, integrate = { t_end = %.9g } }",
             cases[k].viscosity / cases[k].density, cases[k].density, 1.3 * cases[k].speed, cases[k].t_end);
    flow_open(&f, text, sim_isa_best(), 2, NULL);
    while (f.clock.t < f.clock.t_end) {
      flow_steps(&f, 20);
      most = fmax(most, flow_value(&f, "grains", "speed"));
    }
    assert_true(fabs(most / cases[k].speed / cases[k].measured - 1) < 0.04);
    flow_close(&f);
  }
}

/* ---- bits ---- */

static void crowd_digest(const char *kind, sim_isa isa, int threads, char out[33]) {
  flow f;
  char text[2048];
  snprintf(text, sizeof text, "local kind, bound, pull = '%s', 'wall', 1e-4 %s", kind, crowd);
  flow_open(&f, text, isa, threads, NULL);
  flow_steps(&f, 60);
  flow_digest(&f, out);
  flow_close(&f);
}

static void test_threads(void **state) {
  (void)state;
  static const char *const kinds[] = {"single", "double"};
  for (int k = 0; k < 2; k++) {
    char one[33], other[33];
    crowd_digest(kinds[k], sim_isa_best(), 1, one);
    for (int threads = 2; threads <= 7; threads += 5) {
      crowd_digest(kinds[k], sim_isa_best(), threads, other);
      assert_string_equal(one, other);
    }
    crowd_digest(kinds[k], SIM_ISA_PLAIN, 2, other);
    assert_string_equal(one, other);
  }
}

/* From the middle of a contact. */
static void test_restart(void **state) {
  (void)state;
  for (int steps = 1; steps < 60; steps += 29) {
    flow f, g;
    char text[2048], straight[33], resumed[33];
    snprintf(text, sizeof text, "local kind, bound, pull = 'single', 'wall', 1e-4 %s", crowd);
    crowd_digest("single", sim_isa_best(), 2, straight);
    flow_open(&f, text, sim_isa_best(), 2, NULL);
    flow_steps(&f, steps);
    flow_look(&f);
    flow_open(&g, text, sim_isa_best(), 3, &f.frame);
    static const char *const columns[] = {"elastic", "work_fluid", "momentum_z", "overlap"};
    for (int c = 0; c < 4; c++)
      assert_true(flow_value(&f, "grains", columns[c]) == flow_value(&g, "grains", columns[c]));
    flow_steps(&g, 60 - steps);
    flow_digest(&g, resumed);
    assert_string_equal(straight, resumed);
    flow_close(&f);
    flow_close(&g);
  }
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_shares),  cmocka_unit_test(test_uniform), cmocka_unit_test(test_budget),
      cmocka_unit_test(test_weight),  cmocka_unit_test(test_torque),  cmocka_unit_test(test_array),
      cmocka_unit_test(test_shear),   cmocka_unit_test(test_film),    cmocka_unit_test(test_threads),
      cmocka_unit_test(test_restart), cmocka_unit_test(test_pressed)};
  const struct CMUnitTest longer[] = {cmocka_unit_test(test_array_long), cmocka_unit_test(test_settling_long)};
  if (argc > 1 && strcmp(argv[1], "long") == 0) return cmocka_run_group_tests(longer, NULL, NULL);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
