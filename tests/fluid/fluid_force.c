/* Forces that are functions of place, time, velocity and temperature: closed forms, and what else a fluid has. */
#include "tests/fluid/driver.h"

#include <complex.h>
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

static const char *const collisions[] = {"", "collision = 'trt',"};

/* A constant is `acceleration`: both are first order in the force of a step, whose square, below (1e-3/3)^2 in units of
 * the lattice here, tells them apart. */
static void test_constant(void **state) {
  (void)state;
  static const char *const also[] = {"turbulence = { smagorinsky = 0.1 },", "collision = 'trt',", "lattice = 'D3Q27',",
                                     "viscosity = function(shear) return 0.05 / (1 + shear) end,"};
  for (int i = 0; i < 4; i++) {
    double u[2][3], force[2], T[2];
    for (int k = 0; k < 2; k++) {
      flow f;
      flow_run(
          &f,
          "return sim.fluid { precision = 'double', %s %s grid = { n = {18, 10, 9}, size = {18, 10, 9},\n"
          "  y = 'wall' }, speed = 0.1, integrate = { dt = 1, t_end = 60 },\n"
          "  initial = function(x, y) return 0.02 * y * (10 - y) / 25, 0, 0 end,\n"
          "  heat = { diffusivity = 0.04, y_high = 0.5, initial = function(x) return math.sin(x * math.pi / 9) end },\n"
          "  bodies = { sim.ball { name = 'b', point = {9.1, 4.3, 4.4}, radius = 2.2 } },\n"
          "  %s }",
          also[i], i < 3 ? "viscosity = 0.05," : "",
          k ? "force = function() return 3e-5, 0, 1e-5 end" : "acceleration = {3e-5, 0, 1e-5}");
      for (int a = 0; a < 3; a++)
        u[k][a] = flow_field(&f, (const char *[]){"velocity/x", "velocity/y", "velocity/z"}[a], 14, 3, 6);
      T[k] = flow_field(&f, "temperature", 14, 3, 6);
      force[k] = flow_value(&f, "bodies", "b_fx");
      flow_close(&f);
    }
    for (int a = 0; a < 3; a++) near_to(u[1][a], u[0][a], 2e-8, "velocity");
    near_to(T[1], T[0], 1e-6, "temperature");
    near_to(force[1], force[0], 1e-5 * fabs(force[0]), "force on the body");
  }
}

/* The means of a sponge begin with the force, as with an acceleration, also with heat: to the square of half a step's
 * 1e-5, over the velocity of 6e-4. Without half a step of it they make a flow 0.7 % faster. Buoyancy follows the
 * temperature, which compression changes as the density, by up to 3 * 40 * 1e-5 of itself. */
static void test_sponge(void **state) {
  (void)state;
  static const char *const pushes[] = {
      "acceleration = {1e-5, 0}", "force = function() return 1e-5, 0 end",
      "force = function() return 1e-5, 0 end, heat = { diffusivity = 0.05 }",
      "heat = { diffusivity = 0.05, expansion = 1, gravity = {-1e-5, 0}, x_low = 1, x_high = 0,\n"
      "  initial = function() return 1 end }",
      "heat = { diffusivity = 0.05, expansion = 1, gravity = {-4e-6, 0}, x_low = 1, x_high = 0,\n"
      "  initial = function() return 1 end }, acceleration = {3e-6, 0}, force = function() return 3e-6, 0 end"};
  for (int i = 0; i < 2; i++) {
    double u[5];
    for (int k = 0; k < 5; k++) {
      flow f;
      flow_run(
          &f,
          "return sim.fluid { precision = 'double', %s grid = { n = {40, 20}, size = {40, 20}, boundary = 'wall' },\n"
          "  viscosity = 0.05, speed = 0.1, integrate = { dt = 1, t_end = 100 }, %s,\n"
          "  sides = { x_low = { pressure = 0, straight = true },\n"
          "            x_high = { pressure = 0, straight = true, sponge = 10 } } }",
          collisions[i], pushes[k]);
      u[k] = flow_field(&f, "velocity/x", 20, 10, 0);
      flow_close(&f);
      print_message("%s %s: %.9g\n", collisions[i], pushes[k], u[k] / u[0]);
    }
    for (int k = 1; k < 5; k++) near_to(u[k], u[0], (k < 3 ? 2e-6 : 1e-3) * u[0], pushes[k]);
  }
}

/* A flow that is the same everywhere, from u at t = 0 with a force; out[2]: its velocity at t = 1. */
static void uniform(const char *keys, const char *force, double dt, double out[2]) {
  flow f;
  flow_run(&f,
           "return sim.fluid { precision = 'double', %s grid = { n = {4, 3}, size = {4, 3} }, viscosity = 0.1,\n"
           "  speed = 0.02, integrate = { dt = %.17g, t_end = 1 }, initial = function() return 0.01, 0 end,\n"
           "  force = %s }",
           keys, dt, force);
  out[0] = flow_field(&f, "velocity/x", 2, 1, 0);
  out[1] = flow_field(&f, "velocity/y", 1, 2, 0);
  flow_close(&f);
}

/* Forces by the velocity: an inertial oscillation u (cos ft, -sin ft), which keeps its speed; drags u exp(-rt) and
 * u/(1 + k u t); and a cubic one, u/(1 + 2 k u^2 t)^(1/2). Of second order in time: 2 atan(f dt/2) for f dt. */
static void test_velocity(void **state) {
  (void)state;
  const double u = 0.01;
  const struct {
    const char *force;
    double exact[2];
  } cases[] = {
      {"function(x, y, z, t, ux, uy) return 5 * uy, -5 * ux end", {u * cos(5), -u * sin(5)}},
      {"function(ux, uy) return -3 * ux, -3 * uy end", {u * exp(-3), 0}},
      {"function(ux, uy) local s = math.sqrt(ux^2 + uy^2) return -200 * s * ux, -200 * s * uy end", {u / 3, 0}},
      {"function(ux, uy) local s = ux^2 + uy^2 return -2e4 * s * ux, -2e4 * s * uy end", {u / sqrt(5), 0}},
  };
  for (int c = 0; c < 2; c++)
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
      double got[2][2], miss[2];
      for (int k = 0; k < 2; k++) {
        uniform(collisions[c], cases[i].force, k ? 1.0 / 64 : 1.0 / 32, got[k]);
        miss[k] = hypot(got[k][0] - cases[i].exact[0], got[k][1] - cases[i].exact[1]);
        if (i == 0) near_to(hypot(got[k][0], got[k][1]), u, 1e-13, "speed of an inertial oscillation");
      }
      print_message("%s %s: %.2e, %.2e, order %.2f\n", collisions[c], cases[i].force, miss[0], miss[1],
                    log2(miss[0] / miss[1]));
      near_to(log2(miss[0] / miss[1]), 2, 0.1, "order");
      near_to(miss[1], 0, 0.012 * u, "velocity"); /* 5^3/12 dt^2 = 0.0025; 3^3/12 dt^2 of exp(-3) */
    }
  double stiff[2]; /* each step by (1 - r dt/2)/(1 + r dt/2), here -2/3 */
  uniform("", "function(ux, uy) return -160 * ux, -160 * uy end", 1.0 / 16, stiff);
  near_to(stiff[0], u * pow(-2.0 / 3, 16), 1e-13, "a drag of ten times the step");
}

/* Ekman's layer on a wall (Ark. Mat. Astr. Fys. 2 (1905) 11), of a depth at whose end a wall moves with the flow above:
 * u + i v = U (1 - sinh(k (1 - z))/sinh(k)), k = (i f/nu)^(1/2). Greatest error over U. */
static double ekman(const char *keys, int n) {
  const double nu = 0.1, turn = 3.2, U = 1;
  const double complex k = csqrt(I * turn / nu);
  flow f;
  flow_run(
      &f,
      "return sim.fluid { precision = 'double', %s grid = { n = {1, 1, %d}, size = {%.17g, %.17g, 1}, z = 'wall' },\n"
      "  viscosity = %g, speed = 1.2, mach = %.17g, integrate = { t_end = 10 }, sides = { z_high = { velocity = {1, 0, "
      "0} } },\n"
      "  force = function(ux, uy) return %g * uy, -%g * (ux - 1), 0 end }",
      keys, n, 1.0 / n, 1.0 / n, nu, 1.6 / n, turn, turn);
  double out = 0;
  for (int z = 0; z < n; z++) {
    const double complex exact = U * (1 - csinh(k * (1 - (z + 0.5) / n)) / csinh(k));
    out = fmax(out, cabs(flow_field(&f, "velocity/x", 0, 0, z) + I * flow_field(&f, "velocity/y", 0, 0, z) - exact));
  }
  flow_close(&f);
  return out;
}

static void test_ekman(void **state) {
  (void)state;
  static const char *const keys[] = {"", "collision = 'trt',", "lattice = 'D3Q27',"};
  for (int i = 0; i < 3; i++) {
    const double coarse = ekman(keys[i], 16), fine = ekman(keys[i], 32);
    print_message("Ekman %s: %.2e, %.2e, order %.2f\n", keys[i], coarse, fine, log2(coarse / fine));
    near_to(log2(coarse / fine), 2, 0.3, "order");
    near_to(fine, 0, 4e-3, "velocity"); /* (dx |k|)^2/12 = 0.003, |k|^2 = f/nu = 32 */
  }
}

/* Womersley's flow in a plane channel, driven by a force that swings. */
static double womersley(const char *keys, int n, double end) {
  const double nu = 0.1;
  flow f;
  flow_run(&f,
           "return sim.fluid { precision = 'double', %s grid = { n = {2, %d}, size = {%.17g, 1}, y = 'wall' },\n"
           "  viscosity = %g, speed = 0.3, mach = %.17g, integrate = { t_end = %g },\n"
           "  force = function(t) return math.cos(2 * math.pi * t), 0 end }",
           keys, n, 2.0 / n, nu, 0.5 / n, end);
  const double out = flow_womersley_error(&f, 0, n, nu, 2 * pi);
  flow_close(&f);
  return out;
}

static void test_womersley(void **state) {
  (void)state;
  for (int i = 0; i < 2; i++) {
    double error[2] = {0};
    for (int k = 0; k < 4; k++) /* at two phases */
      error[k / 2] = fmax(error[k / 2], womersley(collisions[i], k / 2 ? 32 : 16, k % 2 ? 12.25 : 12));
    print_message("Womersley %s: %.2e, %.2e, order %.2f\n", collisions[i], error[0], error[1],
                  log2(error[0] / error[1]));
    near_to(error[1], 0, 1e-3, "velocity"); /* of 0.17: (dx |k|)^2/12, |k|^2 = w/nu = 63 */
    near_to(log2(error[0] / error[1]), 2, 0.5, "order");
  }
}

/* Kolmogorov's flow sin(ky) F/(nu k^2), k = 2 pi, from rest: 1 - exp(-nu k^2 t) of it. In a box of walls without
 * friction the same of cos(k x/2) sin(...) would need a pressure: this one needs none. Greatest error over the speed.
 */
static double kolmogorov(const char *keys, int n) {
  const double nu = 0.02, k = 2 * pi, speed = 1e-2, end = 1.5;
  flow f;
  flow_run(&f,
           "return sim.fluid { precision = 'double', %s grid = { n = {3, %d}, size = {%.17g, 1} },\n"
           "  viscosity = %g, speed = 0.01, mach = %.17g, integrate = { t_end = %g },\n"
           "  force = function(x, y) return %.17g * math.sin(2 * math.pi * y), 0 end }",
           keys, n, 3.0 / n, nu, 0.055 / n, end, nu * k * k * speed);
  double out = 0;
  for (int y = 0; y < n; y++) {
    const double exact = speed * (1 - exp(-nu * k * k * f.clock.t)) * sin(k * (y + 0.5) / n);
    out = fmax(out, fabs(flow_field(&f, "velocity/x", 1, y, 0) - exact) / speed);
  }
  flow_close(&f);
  return out;
}

static void test_kolmogorov(void **state) {
  (void)state;
  for (int i = 0; i < 2; i++) {
    const double coarse = kolmogorov(collisions[i], 8), fine = kolmogorov(collisions[i], 16);
    print_message("Kolmogorov %s: %.2e, %.2e, order %.2f\n", collisions[i], coarse, fine, log2(coarse / fine));
    near_to(log2(coarse / fine), 2, 0.3, "order");
    near_to(fine, 0, 0.02, "velocity"); /* (k dx)^2/12 = 0.013 */
  }
}

/* -expansion (T - reference) gravity as a function of T is the buoyancy: with equal bits but for squares of the force
 * of a step, some 1e-5 of the velocity. */
static void test_buoyancy(void **state) {
  (void)state;
  static const char *const keys[] = {"", "collision = 'trt',", "precision = 'single',"};
  for (int i = 0; i < 3; i++) {
    double u[2][2], T[2];
    for (int k = 0; k < 2; k++) {
      flow f;
      flow_run(&f,
               "return sim.fluid { %s %s grid = { n = {16, 16}, size = {1, 1}, boundary = 'wall' }, viscosity = 0.02,\n"
               "  speed = 0.3, integrate = { t_end = 6 },\n"
               "  heat = { diffusivity = 0.03, x_low = 1.5, x_high = 0.5, reference = 1%s }%s }",
               i < 2 ? "precision = 'double'," : "", keys[i], k ? "" : ", expansion = 0.5, gravity = {0, -2}",
               k ? ", force = function(T) return 0, T - 1 end" : "");
      for (int a = 0; a < 2; a++) u[k][a] = flow_field(&f, a ? "velocity/y" : "velocity/x", 4, 6, 0);
      T[k] = flow_field(&f, "temperature", 11, 3, 0);
      flow_close(&f);
    }
    assert_true(fabs(u[0][1]) > 0.02);
    for (int a = 0; a < 2; a++) near_to(u[1][a], u[0][a], 2e-5, "velocity");
    near_to(T[1], T[0], 2e-5, "temperature");
  }
}

/* Archimedes: a ball in a fluid at rest has the lift of the weight of the fluid in its place, and the fluid stays at
 * rest, under a force of any kind. A force of a step that links interpolate makes a slip of up to half of it, 5e-5.
 * Lift: as of test_buoyancy of fluid_bodies.c, 1 %. Velocities: what compression, 3 * 12 * 1e-4, changes of the force
 * at a link. */
static void test_rest(void **state) {
  (void)state;
  static const char *const pushes[] = {
      "acceleration = {0, -1e-4}", "force = function() return 0, -1e-4 end",
      "heat = { diffusivity = 0.1, expansion = 0.5, gravity = {0, 1e-4}, initial = function() return 2 end }",
      "heat = { diffusivity = 0.1, expansion = 0.5, gravity = {0, 5e-5}, initial = function() return 2 end },\n"
      "  force = function(T) return 0, -2.5e-5 * T end"};
  const double weight = 1e-4 * pi * 4.6 * 4.6;
  for (int c = 0; c < 2; c++)
    for (int k = 0; k < 4; k++) {
      flow f;
      double most = 0;
      flow_run(&f,
               "return sim.fluid { precision = 'double', %s grid = { n = {24, 24}, size = {24, 24}, boundary = 'wall' "
               "},\n"
               "  viscosity = 1/6, speed = 0.05, initial = function(x, y) return 0, 0, -1e-4 * (y - 12) end, %s,\n"
               "  bodies = { sim.ball { name = 'ball', point = {12.2, 11.1, 0}, radius = 4.6 } },\n"
               "  integrate = { dt = 1, t_end = 100 } }",
               collisions[c], pushes[k]);
      for (int i = 0; i < 24 * 24; i++)
        most = fmax(most, hypot(flow_field(&f, "velocity/x", i % 24, i / 24, 0),
                                flow_field(&f, "velocity/y", i % 24, i / 24, 0)));
      print_message("%s %s: lift %.5f, speed %.2e\n", collisions[c], pushes[k],
                    flow_value(&f, "bodies", "ball_fy") / weight, most);
      near_to(flow_value(&f, "bodies", "ball_fy"), weight, 0.01 * weight, "lift");
      near_to(most, 0, 36 * 1e-4 * 1e-4 * 10, "speed");
      flow_close(&f);
    }
}

/* The same of small blocks, of V cells: the surfaces stand parts d of a cell off the sides of the solid cells, which
 * the lift takes up to products of them at the edges, d^2 of V: 0.3 x 0.3 of 14 at most, or 2 % in 3-D. */
static void test_block(void **state) {
  (void)state;
  for (int rank = 2; rank <= 3; rank++)
    for (int k = 0; k < 3; k++) {
      flow f;
      const double side[3] = {4.6 + 0.2 * k, 3.1 + 0.3 * k, rank == 3 ? 3.8 : 1}, volume = side[0] * side[1] * side[2];
      flow_run(
          &f,
          "local three = %s\n"
          "return sim.fluid { precision = 'double', grid = three and { n = {14, 14, 12}, size = {14, 14, 12}, y = "
          "'wall' }\n"
          "    or { n = {16, 16}, size = {16, 16}, boundary = 'wall' }, viscosity = 1/6, speed = 0.05,\n"
          "  initial = function(x, y) if three then return 0, 0, 0, -1e-4 * (y - 7) end return 0, 0, -1e-4 * (y - 8) "
          "end,\n"
          "  acceleration = three and {0, -1e-4, 0} or {0, -1e-4},\n"
          "  bodies = { sim.block { name = 'b', low = {4.2, 4.3, three and 4.1 or 0}, high = {%.17g, %.17g, %.17g} } "
          "},\n"
          "  integrate = { dt = 1, t_end = 100 } }",
          rank == 3 ? "true" : "false", 4.2 + side[0], 4.3 + side[1], rank == 3 ? 4.1 + side[2] : 0);
      near_to(flow_value(&f, "bodies", "b_fy"), 1e-4 * volume, 0.02 * 1e-4 * volume, "lift");
      flow_close(&f);
    }
}

static const char *const all =
    "return sim.fluid { precision = '%s', %s grid = { n = {20, 10, 9}, size = {20, 10, 9}, y = 'wall' },\n"
    "  viscosity = 0.05, speed = 0.1, integrate = { dt = 1, t_end = 60 },\n"
    "  bodies = { sim.ball { name = 'b', point = {9.1, 2.3, 4.4}, radius = 2.2 } },\n"
    "  heat = { diffusivity = 0.04, y_low = 1, y_high = 0.5, expansion = 1, gravity = {0, -1e-5, 0} },\n"
    "  force = function(x, y, z, t, ux, uy, uz, T)\n"
    "    local s = math.sqrt(ux^2 + uy^2 + uz^2 + 1e-12)\n"
    "    return 1e-4 * math.sin(t / 9) - 0.1 * s * ux + 1e-3 * uy, 1e-5 * T - 1e-3 * ux, 1e-5 * math.sin(x * math.pi / "
    "10)\n"
    "  end }";

static void test_same(void **state) {
  (void)state;
  static const char *const precisions[] = {"double", "single"};
  for (int i = 0; i < 4; i++) {
    char text[1024];
    snprintf(text, sizeof text, all, precisions[i % 2], collisions[i / 2]);
    flow_check_same(text, (const char *const[]){"bodies", "b_fx", "flow", "speed", NULL});
  }
}

int main(int count, char **words) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_constant),  cmocka_unit_test(test_sponge),
                                     cmocka_unit_test(test_velocity),  cmocka_unit_test(test_ekman),
                                     cmocka_unit_test(test_womersley), cmocka_unit_test(test_kolmogorov),
                                     cmocka_unit_test(test_buoyancy),  cmocka_unit_test(test_rest),
                                     cmocka_unit_test(test_block),     cmocka_unit_test(test_same)};
  if (count > 1) cmocka_set_test_filter(words[1]);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
