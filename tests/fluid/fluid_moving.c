/* Bodies that move. */
#include "tests/fluid/driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const double pi = 3.14159265358979323846;

static void near_to(double got, double expected, double tolerance, const char *what) {
  if (!(fabs(got - expected) <= tolerance))
    fail_msg("%s: got %.9g, expected %.9g within %.1e (off by %.2e)", what, got, expected, tolerance, got - expected);
}

/* Mean of a column of `bodies` over steps [from, to). */
static void means(const char *text, int from, int to, int count, const char *const *columns, double *out) {
  flow f;
  flow_open(&f, text, sim_isa_best(), 2, NULL);
  for (int i = 0; i < count; i++) out[i] = 0;
  flow_steps(&f, from);
  for (int step = from; step < to; step++) {
    for (int i = 0; i < count; i++) out[i] += flow_value(&f, "bodies", columns[i]) / (to - from);
    flow_steps(&f, 1);
  }
  flow_close(&f);
}

/* Galilean invariance: a body at rest in wind, and the same body moving through the fluid at rest; both start at once.
 * Errors: the lattice's, of the third power of the velocity, (U/c)^2 = 0.75 % of the drag; and the filling of cells, of
 * the order of the cut of cells at a radius of 8 (4.5 in 3-D): 1/r^2 of the drag for all components. Means over
 * displacements of 5 cells and more. */
static void test_frame(void **state) {
  (void)state;
  static const char *const columns[] = {"body_fx", "body_fy", "body_tz"};
  for (int rank = 2; rank <= 3; rank++) {
    double got[2][3];
    for (int moves = 0; moves < 2; moves++) {
      char text[2048];
      snprintf(text, sizeof text,
               "local three, moves, U = %s, %s, 0.05\n"
               "return sim.fluid { grid = three and { n = {28, 18, 18}, size = {28, 18, 18} }\n"
               "    or { n = {80, 48}, size = {80, 48} }, viscosity = 0.04, speed = 0.1,\n"
               "  initial = function(x, y, z)\n"
               "    local u = moves and 0 or U\n"
               "    if three then return u, 0, 0 end\n"
               "    return u, 0 end,\n"
               "  bodies = { sim.ball { name = 'body', point = {20.3, three and 9.2 or 12.2, three and 8.9 or 0},\n"
               "    radius = three and 4.5 or 8, spin = 0.002, velocity = {moves and -U or 0, 0, 0} } },\n"
               "  integrate = { dt = 1, t_end = 10000 } }",
               rank == 3 ? "true" : "false", moves ? "true" : "false");
      means(text, 200, rank == 3 ? 300 : 500, 3, columns, got[moves]);
    }
    const double r = rank == 3 ? 4.5 : 8, drag = got[0][0];
    near_to(got[1][0], drag, 0.01 * drag, "moving frame: drag");
    near_to(got[1][1], got[0][1], drag / (r * r), "moving frame: lift");
    near_to(got[1][2], got[0][2], drag * r / (r * r), "moving frame: torque");
  }
}

/* A cylinder in the middle of a Couette flow, at rest between walls of -V and V, and carried along between walls of 0
 * and 2 V. Both have the same torque, which tends to turn it with the fluid, and no force. If its surface did not move,
 * the walls would give it the drag of a relative velocity V. */
static void test_couette(void **state) {
  (void)state;
  static const char *const columns[] = {"body_fx", "body_fy", "body_tz"};
  double got[2][3];
  for (int moves = 0; moves < 2; moves++) {
    char text[1024];
    snprintf(text, sizeof text,
             "local moves, V, H = %s, 0.04, 40\n"
             "local low, high = moves and 0 or -V, moves and 2 * V or V\n"
             "return sim.fluid { grid = { n = {64, H}, size = {64, H}, y = 'wall' }, viscosity = 0.1, speed = 0.1,\n"
             "  initial = function(x, y) return low + (high - low) * y / H, 0 end,\n"
             "  sides = { y_low = { velocity = {low, 0} }, y_high = { velocity = {high, 0} } },\n"
             "  bodies = { sim.ball { name = 'body', point = {20.3, H / 2, 0}, radius = 8,\n"
             "    motion = function(t) return moves and V or 0, 0 end } }, integrate = { dt = 1, t_end = 10000 } }",
             moves ? "true" : "false");
    means(text, 600, 800, 3, columns, got[moves]);
  }
  const double torque = got[0][2];
  assert_true(torque < 0);
  near_to(got[1][2], torque, -0.01 * torque, "Couette: torque"); /* as above */
  near_to(got[1][0], got[0][0], -torque / 8 * 0.02, "Couette: force along");
  near_to(got[1][1], got[0][1], -torque / 8 * 0.02, "Couette: force across");
}

/* Torque of a cylinder that turns by a function of time in a cylinder at rest, 4 pi mu W r^2 R^2/(R^2 - r^2) by length;
 * both may move through the box together. Returns the relative error. */
static double taylor_couette(int n, bool moves) {
  const double r = 0.2, outer = 0.4, expected = 4 * pi * 0.1 * r * r * outer * outer / (outer * outer - r * r);
  static const char *const columns[] = {"rotor_tz"};
  double torque;
  char text[1024];
  snprintf(text, sizeof text,
           "local n, V = %d, %g\n"
           "local function turning(t) return sim.min(4 * t, 1) end\n"
           "return sim.fluid { grid = { n = {n, n}, size = {1, 1} }, viscosity = 0.1, speed = 0.4,\n"
           "  initial = function(x, y) return V, 0 end, bodies = {\n"
           "    sim.cylinder { name = 'rotor', point = {0.5, 0.51, 0}, radius = 0.2, turning = turning,\n"
           "      velocity = {V, 0, 0} },\n"
           "    sim.cylinder { name = 'stator', point = {0.5, 0.51, 0}, radius = 0.4, inside = true,\n"
           "      velocity = {V, 0, 0} } }, integrate = { dt = 0.4 / n^2, t_end = 100 } }",
           n, moves ? 0.1 : 0);
  const int steps = (int)(1.5 * n * n / 0.4); /* to t = 1.5: modes decay as exp(-0.1 (pi/0.2)^2 t) */
  means(text, steps, steps + (moves ? n * n / 4 : 1), 1, columns, &torque);
  return fabs(torque / -expected - 1);
}

/* 8 cells of radius: (1/8)^2 = 1.6 % times a factor below 2, and a quarter of it with twice the cells (test_order),
 * within the spread by where the cells are cut; in motion too. */
static void test_taylor_couette(void **state) {
  (void)state;
  near_to(taylor_couette(20, false), 0, 0.03, "Taylor-Couette, 20 cells");
  near_to(taylor_couette(20, true), 0, 0.03, "Taylor-Couette, 20 cells, in motion");
}
/* Over a factor of 4: order 2, reduced by the cut of cells. */
static void test_order(void **state) {
  (void)state;
  const double order = log2(taylor_couette(20, false) / taylor_couette(80, false)) / 2;
  if (!(order > 1.7 && order < 2.5)) fail_msg("Taylor-Couette: order %.2f", order);
  near_to(taylor_couette(40, false), 0, 0.03 / 4, "Taylor-Couette, 40 cells");
  near_to(taylor_couette(40, true), 0, 0.03 / 4, "Taylor-Couette, 40 cells, in motion");
}

/* A square that turns in a cylinder at rest: over a quarter of a turn of a flow that repeats itself the torques of both
 * cancel. A gap of 9 cells is steady after 9^2/(pi^2 0.1) = 80 steps. The sum, of cells that are covered and filled:
 * 1/s^2 of the half edge s = 5.5, 3 %. */
static void test_square(void **state) {
  (void)state;
  static const char *const columns[] = {"rotor_tz", "stator_tz"};
  double got[2];
  means("return sim.fluid { grid = { n = {36, 36}, size = {36, 36} }, viscosity = 0.1, speed = 0.1,\n"
        "  bodies = { sim.block { name = 'rotor', low = {12.3, 12.2, 0}, high = {23.3, 23.2, 0},\n"
        "      spin = math.pi / 250 },\n"
        "    sim.cylinder { name = 'stator', point = {17.8, 17.7, 0}, radius = 16.5, inside = true } },\n"
        "  integrate = { dt = 1, t_end = 10000 } }",
        750, 875, 2, columns, got);
  assert_true(got[1] > 0);
  near_to(got[0], -got[1], 0.03 * got[1], "square: torque");
}

/* The momentum that the fluid of a periodic box gains is the momentum lost by bodies, by the table. Its mass above that
 * at rest is conserved to rounding. A paddle turns beside a ball that oscillates. The number of a body's cells differs
 * from its area by some sqrt(44) cells of the ball, and half a row of 20 of the paddle, whose momentum at 0.06 is 1 at
 * most; the ball alone has given the fluid 70. */
static void test_balance(void **state) {
  (void)state;
  enum { STEPS = 1500 };
  flow f;
  double lost[2] = {0};
  flow_open(&f,
            "return sim.fluid { grid = { n = {64, 48}, size = {64, 48} }, viscosity = 0.05, speed = 0.15,\n"
            "  bodies = { sim.block { name = 'paddle', low = {12, 12, 0}, high = {17, 32, 0}, pivot = {14.5, 15, 0},\n"
            "      spin = 0.004 },\n"
            "    sim.ball { name = 'ball', point = {46, 20, 0}, radius = 7,\n"
            "      motion = function(t) return 0.05 * math.sin(t / 100), 0.04 * sim.min(t / 100, 1) end } },\n"
            "  integrate = { dt = 1, t_end = 10000 } }",
            sim_isa_best(), 2, NULL);
  for (int step = 0; step < STEPS; step++) {
    lost[0] += flow_value(&f, "bodies", "paddle_fx") + flow_value(&f, "bodies", "ball_fx");
    lost[1] += flow_value(&f, "bodies", "paddle_fy") + flow_value(&f, "bodies", "ball_fy");
    flow_steps(&f, 1);
  }
  flow_look(&f);
  double excess = 0;
  for (int y = 0; y < 48; y++)
    for (int x = 0; x < 64; x++) excess += 3 * flow_field(&f, "pressure", x, y, 0);
  const double gained[] = {flow_value(&f, "flow", "momentum_x"), flow_value(&f, "flow", "momentum_y")};
  for (int a = 0; a < 2; a++) near_to(gained[a], -lost[a], 1, "momentum of fluid and bodies");
  near_to(excess, 0, STEPS * 64 * 48 * 0x1p-53 / 100, "mass above that at rest"); /* as of boxes without bodies */
  flow_close(&f);
}

/* A ball and the fluid around it fall freely. A cell that the ball leaves begins with the velocity of the ball then, V
 * = 0.02 + 0.001 t. Half a step's force, or of the ball's acceleration, is 5e-4. The mass that cells get back changes
 * velocities by their part of it, 1e-3 of V <= 0.06 at most. */
static void test_left(void **state) {
  (void)state;
  enum { N = 24, STEPS = 40 };
  static const char *const pushes[] = {"acceleration = {0.001, 0}", "force = function() return 0.001, 0 end",
                                       "acceleration = {0.0007, 0}, force = function(ux) return 0.0003, 0 * ux end"};
  for (int i = 0; i < 3; i++) {
    flow f;
    char text[512];
    int left = 0;
    snprintf(
        text, sizeof text,
        "return sim.fluid { precision = 'double', grid = { n = {24, 24}, size = {24, 24} }, viscosity = 0.1,\n"
        "  speed = 0.1, initial = function() return 0.02, 0 end, %s, bodies = { sim.ball { point = {9.3, 12.2, 0},\n"
        "    radius = 5, motion = function(t) return 0.02 + 0.001 * t, 0 end } },\n"
        "  integrate = { dt = 1, t_end = 40 } }",
        pushes[i]);
    flow_open(&f, text, sim_isa_best(), 2, NULL);
    bool solid[N * N];
    for (int step = 0; step <= STEPS; step++) {
      flow_look(&f);
      for (int k = 0; k < N * N; k++) {
        const double u = flow_field(&f, "velocity/x", k % N, k / N, 0);
        if (step > 0 && solid[k] && u != 0) {
          near_to(u, 0.02 + 0.001 * step, 6e-5, "velocity of a cell that the ball has left");
          near_to(flow_field(&f, "velocity/y", k % N, k / N, 0), 0, 6e-5, "velocity across");
          left++;
        }
        solid[k] = u == 0;
      }
      flow_steps(&f, 1);
    }
    assert_true(left >= 8); /* 1.6 cells of 10 rows */
    flow_close(&f);
  }
}

/* The estimate of `sim check` includes motion. Measured, a step of 64^3 cells with a moving ball of 12.8 cells takes
 * twice that of a ball at rest, with one of 25.6 cells four times. */
static void test_time(void **state) {
  (void)state;
  double rate[3];
  for (int i = 0; i < 3; i++) {
    flow f;
    sim_plan plan = {0};
    char text[512];
    snprintf(text, sizeof text,
             "return sim.fluid { grid = { n = {64, 64, 64}, size = {1, 1, 1} }, viscosity = 0.02, speed = 1,\n"
             "  bodies = { sim.ball { point = {0.5, 0.5, 0.5}, radius = %g, velocity = {%g, 0, 0} } },\n"
             "  integrate = { t_end = 0.1 } }",
             i == 2 ? 0.2 : 0.1, i ? 0.3 : 0.0);
    flow_open(&f, text, sim_isa_best(), 1, NULL);
    must(fluid_model.plan(f.p, &f.setup, &plan), "plan");
    rate[i] = plan.work_rate_guess;
    flow_close(&f);
  }
  if (!(rate[0] > 1.5 * rate[1] && rate[1] > 1.5 * rate[2])) fail_msg("%g, %g, %g", rate[0], rate[1], rate[2]);
}

/* The same by two relaxation times, of populations. */
static int by_populations(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_couette), cmocka_unit_test(test_balance),
                                     cmocka_unit_test(test_left)};
  flow_with = "collision = 'trt',";
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Bodies that accelerate, by A in a step, for so few steps that they move by 2e-3 cells.
 *
 * With the whole fluid: it goes on as one, and no force acts on them; the surface's own acceleration is the force's.
 * In a fluid at rest: as bodies at rest under the acceleration -A, in whose frame the fluid has the velocity of the
 * bodies less; the pressure, and so the force on them, is the same.
 *
 * Errors: squares of velocities of 6e-5, 4e-9, in the first case times what a step changes, 2e-2; and cuts that move by
 * 2e-3 cells, within which the flow changes by that part of 6e-5, 1.2e-7. A force at the links that does not know of A
 * makes a slip of up to A/2, 5e-7. */
static void test_accelerating(void **state) {
  (void)state;
  static const char *const collisions[] = {"", "collision = 'trt',"};
  static const double A = 1e-6, mass = 3.14159265358979323846 * 4.6 * 4.6 + 4.5 * 3.1;
  for (int c = 0; c < 2; c++) {
    double u[3][24 * 24][2], fx[3], fy[3], most[2] = {0};
    for (int k = 0; k < 3; k++) { /* with the fluid; in a fluid at rest; at rest */
      flow f;
      flow_run(
          &f,
          "local motion = %s\n"
          "return sim.fluid { precision = 'double', %s grid = { n = {24, 24}, size = {24, 24} }, viscosity = 0.1,\n"
          "  speed = 0.1, %s\n"
          "  bodies = { sim.ball { name = 'ball', point = {8.2, 11.1, 0}, radius = 4.6, motion = motion },\n"
          "    sim.block { name = 'block', low = {16.3, 5.2, 0}, high = {20.8, 8.3, 0}, motion = motion } },\n"
          "  integrate = { dt = 1, t_end = 60 } }",
          k < 2 ? "function(t) return 1e-6 * t, 5e-7 * t end" : "nil", collisions[c],
          k == 0   ? "acceleration = {1e-6, 5e-7},"
          : k == 2 ? "acceleration = {-1e-6, -5e-7},"
                   : "");
      for (int i = 0; i < 24 * 24; i++) {
        u[k][i][0] = flow_field(&f, "velocity/x", i % 24, i / 24, 0);
        u[k][i][1] = flow_field(&f, "velocity/y", i % 24, i / 24, 0);
      }
      fx[k] = flow_value(&f, "bodies", "ball_fx") + flow_value(&f, "bodies", "block_fx");
      fy[k] = flow_value(&f, "bodies", "ball_fy") + flow_value(&f, "bodies", "block_fy");
      flow_close(&f);
    }
    for (int i = 0; i < 24 * 24; i++) {
      if (u[0][i][0] == 0 || u[1][i][0] == 0 || u[2][i][0] == 0) continue; /* solid */
      for (int a = 0; a < 2; a++) {
        most[0] = fmax(most[0], fabs(u[0][i][a] - 60 * A / (1 + a)));
        most[1] = fmax(most[1], fabs(u[1][i][a] - 60 * A / (1 + a) - u[2][i][a]));
      }
    }
    near_to(most[0], 0, 1e-9, "with the fluid: velocity");
    near_to(most[1], 0, 1.2e-7, "frames: velocity");
    near_to(fx[0], 0, 1e-3 * A * mass, "with the fluid: force along x");
    near_to(fy[0], 0, 1e-3 * A * mass, "with the fluid: force along y");
    near_to(fx[1], fx[2], 4e-3 * fabs(fx[2]), "frames: force along x");
    near_to(fy[1], fy[2], 4e-3 * fabs(fy[2]), "frames: force along y");
  }
}

/* A cylinder of radius 6 that swings by 0.6 cells in a cylinder at rest of radius 14, at Stokes number w r^2/viscosity
 * 3.8: drag and added mass, the parts of the force in phase with the velocity U sin wt and a fourth of a period ahead
 * of it (S. S. Chen, M. W. Wambsganss and J. A. Jendrzejczyk, J. Appl. Mech. 43 (1976) 325). The velocity is u =
 * grad(A I1(k r) + B K1(k r)) cos a + curl(C I1(m r) + D K1(m r)) sin a with m^2 = i w/viscosity, and k^2 = -w^2/(c^2 +
 * 2 i w viscosity) for a fluid of the speed of sound c = 3^-1/2, which changes drag and added mass by 5 and 15 %; four
 * conditions at the walls. The numbers are from SciPy's Bessel functions. After half a period, 4.6 times the decay of
 * what the start leaves, means over one period. Errors: cut cells, 1/r^2 (of the
 * added mass twice that: outermost cells count whole), and (0.6/6)^2 of the amplitude. */
static void test_swinging(void **state) {
  (void)state;
  enum { PERIOD = 600 };
  static const double drag = -8.42715917113296, mass = -2.4703419622502536;
  static const char *const collisions[] = {"", "collision = 'trt',"};
  const double w = 2 * pi / PERIOD, speed = 0.6 * w;
  for (int c = 0; c < 2; c++) {
    flow f;
    char text[1024];
    double got[2] = {0}, across = 0;
    snprintf(
        text, sizeof text,
        "return sim.fluid { %s grid = { n = {32, 32}, size = {32, 32} }, viscosity = 0.1, speed = 0.1, bodies = {\n"
        "    sim.cylinder { name = 'rod', point = {16.3, 16.2, 0}, radius = 6,\n"
        "      motion = function(t) return %.17g * math.sin(%.17g * t), 0 end },\n"
        "    sim.cylinder { name = 'shell', point = {16.3, 16.2, 0}, radius = 14, inside = true } },\n"
        "  integrate = { dt = 1, t_end = 10000 } }",
        collisions[c], speed, w);
    flow_open(&f, text, sim_isa_best(), 2, NULL);
    flow_steps(&f, PERIOD / 2);
    for (int step = PERIOD / 2; step < PERIOD * 3 / 2; step++) {
      const double force = flow_value(&f, "bodies", "rod_fx") / speed * 2 / PERIOD;
      got[0] += force * sin(w * step);
      got[1] += force * cos(w * step);
      across += flow_value(&f, "bodies", "rod_fy") / speed * 2 / PERIOD * sin(w * step);
      flow_steps(&f, 1);
    }
    flow_close(&f);
    print_message("%s drag %.4f, added mass %.4f of the exact ones\n", collisions[c], got[0] / drag, got[1] / mass);
    near_to(got[0], drag, -drag / 36, "swinging: drag");
    near_to(got[1], mass, -mass / 18, "swinging: added mass");
    near_to(across, 0, -drag / 36, "swinging: across");
  }
}

int main(int count, char **words) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_frame),   cmocka_unit_test(test_accelerating),   cmocka_unit_test(test_swinging),
      cmocka_unit_test(test_couette), cmocka_unit_test(test_taylor_couette), cmocka_unit_test(test_square),
      cmocka_unit_test(test_balance), cmocka_unit_test(test_left),           cmocka_unit_test(test_time)};
  const struct CMUnitTest long_tests[] = {cmocka_unit_test(test_order)};
  if (count > 1 && strcmp(words[1], "long") != 0) cmocka_set_test_filter(words[1]);
  if (count > 1 && strcmp(words[1], "long") == 0) return cmocka_run_group_tests(long_tests, NULL, NULL);
  return cmocka_run_group_tests(tests, NULL, NULL) + by_populations();
}
