/* Forces on bodies that go through sides of the box: balances of momentum. */
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
    fail_msg("%s: got %.12g, expected %.12g within %.1e (off by %.2e)", what, got, expected, tolerance, got - expected);
}

/* A channel of two blocks between pressures: in a steady flow they bear the pressure over its width, less what the
 * fluid carries out more than in. In corners the diagonals have the pressure of the straight links, whose u^2/18
 * differs by as much: 4e-6 with u = 0.004 in four corners, in units of the lattice. Without what crosses corners each
 * block bears a sixth of a cell of the pressure less, 8e-4. */
static void test_channel(void **state) {
  (void)state;
  static const char *const keys[] = {"straight = true", "straight = false"};
  static const char *const also[] = {"", "collision = 'trt',"};
  for (int k = 0; k < 6; k++) { /* the last two: one moves */
    flow f;
    flow_run(
        &f,
        "return sim.fluid { precision = 'double', %s grid = { n = {16, 12}, size = {16, 12}, boundary = 'wall' },\n"
        "  viscosity = 0.15, speed = 0.1, sides = { x_low = { pressure = 0.006, %s }, x_high = { pressure = 0.001,\n"
        "  %s } }, bodies = { sim.block { name = 'lo', low = {-9, -9, 0}, high = {99, 2, 0} },\n"
        "    sim.block { name = 'hi', low = {-99, 10, 0}, high = {199, 99, 0}, velocity = {%s, 0, 0} } },\n"
        "  gates = { { name = 'a', axis = 'x', at = 0 }, { name = 'b', axis = 'x', at = 16 } },\n"
        "  integrate = { dt = 1, t_end = 2500 } }",
        also[k / 2 % 2], keys[k % 2], keys[k % 2], k < 4 ? "0" : "0.01");
    const double more = flow_value(&f, "gates", "b_momentum_x") - flow_value(&f, "gates", "a_momentum_x");
    const double low = flow_value(&f, "bodies", "lo_fx"), high = flow_value(&f, "bodies", "hi_fx");
    print_message("%s %s: %.9g + %.9g, momentum %.3g\n", also[k / 2 % 2], keys[k % 2], low, high, more);
    near_to(low + high, 0.005 * 8 - more, 4e-6, "force on both");
    if (k < 4) near_to(low, high, 1e-12, "they are alike");
    flow_close(&f);
  }
}

/* Walls of a channel, endless in a periodic box: the shear acts at their surface, whose torque about the middle of a
 * block, 2 cells off, is its force times 2, wherever the surface is in its cells and the cut between images in the box.
 * With the shear at the centres of cells it is a half of a cell more, 25 %. */
static void test_periodic_torque(void **state) {
  (void)state;
  static const char *const also[] = {"", "collision = 'trt',", "lattice = 'auto',", "lattice = 'D3Q27',"};
  static const double offset[] = {0, 0.3, -0.3}, shift[] = {0, 0.2, 0.5};
  for (int k = 0; k < 12; k++) {
    const double o = offset[k % 3], s = shift[k / 3 % 3], force = 1e-4 * 6 * (8 - 2 * o) / 2;
    const bool solid = k >= 6;
    flow f;
    flow_run(
        &f,
        "local o, s, deep = %.17g, %.17g, %s\n"
        "local back, front = deep and -98 or 0, deep and 102 or 0\n"
        "return sim.fluid { precision = 'double', %s grid = { n = {6, 12, deep and 4 or nil},\n"
        "  size = {6, 12, deep and 4 or nil}, boundary = 'wall', x = 'periodic', z = deep and 'periodic' or nil },\n"
        "  viscosity = 0.15, speed = 0.1, acceleration = {1e-4, 0, deep and 5e-5 or nil}, bodies = {\n"
        "    sim.block { name = 'lo', low = {-97 + s, -2 + o, back}, high = {103 + s, 2 + o, front} },\n"
        "    sim.block { name = 'hi', low = {-97 + s, 10 - o, back}, high = {103 + s, 14 - o, front} } },\n"
        "  integrate = { dt = 1, t_end = 2500 } }",
        o, s, solid ? "true" : "false", also[k / 3]);
    const double scale = solid ? 4 * force : force;
    print_message("%s %g %g: torque %.12g of the force times the arm\n", also[k / 3], o, s,
                  flow_value(&f, "bodies", "lo_tz") / (-2 * scale));
    near_to(flow_value(&f, "bodies", "lo_fx"), scale, 1e-9 * scale, "force");
    near_to(flow_value(&f, "bodies", "lo_tz"), -2 * scale, 1e-9 * scale, "torque of the lower wall");
    near_to(flow_value(&f, "bodies", "hi_tz"), 2 * scale, 1e-9 * scale, "torque of the upper wall");
    if (solid) near_to(flow_value(&f, "bodies", "lo_tx"), scale, 1e-9 * scale, "torque along x");
    flow_close(&f);
  }
}

/* The same between open sides, where the pressure falls from P to 0 along L = 16 cells: its moment is P L^2/12. To the
 * second order, 0.3/8 of the force times half a cell, where the surface is at sides of cells. Elsewhere the end cell
 * has no neighbour to interpolate with: less than 0.3 of it. Without the side's share of the shear 1.0 and 0.6. */
static void test_open_torque(void **state) {
  (void)state;
  static const char *const also[] = {"", "collision = 'trt',"};
  static const double offset[] = {0, 0.3, -0.3}, within[] = {0.05, 0.3, 0.3};
  for (int k = 0; k < 6; k++) {
    const double o = offset[k % 3], force = 0.001 * (8 - 2 * o) / 2, exact = 0.001 * 16 * 16 / 12 - 2 * force;
    flow f;
    flow_run(
        &f,
        "local o = %.17g\n"
        "return sim.fluid { precision = 'double', %s grid = { n = {16, 12}, size = {16, 12}, boundary = 'wall' },\n"
        "  viscosity = 0.15, speed = 0.1,\n"
        "  sides = { x_low = { pressure = 0.001, straight = true }, x_high = { pressure = 0, straight = true } },\n"
        "  bodies = { sim.block { name = 'lo', low = {-9, -2 + o, 0}, high = {25, 2 + o, 0} },\n"
        "    sim.block { name = 'hi', low = {-9, 10 - o, 0}, high = {25, 14 - o, 0} } },\n"
        "  integrate = { dt = 1, t_end = 2500 } }",
        o, also[k / 3]);
    const double low = flow_value(&f, "bodies", "lo_tz"), high = flow_value(&f, "bodies", "hi_tz");
    print_message("%s %g: torque off by %.4f of half a cell\n", also[k / 3], o, (low - exact) / (force / 2));
    near_to(low, exact, within[k % 3] * force / 2, "torque of the lower wall");
    near_to(high, -low, 1e-10, "of the upper wall");
    flow_close(&f);
  }
}

/* The lower of two walls `gap` cells apart, 2 gap long, behind an inlet (out: before an outlet) with Poiseuille's
 * profile: its force over the exact one, less 1, and how far its torque is off, of its force times half a cell. */
static void find_inlet_errors(const char *also, bool out, const char *share, int gap, double o, double error[2]) {
  const double wide = gap - 2 * o, L = 2 * gap, push = 0.024 / wide / wide, force = push * wide / 2 * L;
  flow f;
  flow_run(&f,
           "local n, o, G = %d, %.17g, %.17g\n"
           "local function u(x, y) return sim.max(G/0.3*(y - 2 - o)*(n + 2 - o - y), 0), 0*x end\n"
           "local function profile(x, y, z, t) return u(x, y)*%s, 0*x end\n"
           "local given, free = { profile = profile }, { pressure = %s, straight = true }\n"
           "return sim.fluid { precision = 'double', %s grid = { n = {2*n, n + 4}, size = {2*n, n + 4},\n"
           "  boundary = 'wall' }, viscosity = 0.15, speed = 0.1, sides = { x_low = %s, x_high = %s },\n"
           "  initial = function(x, y) local u = u(x, y) return u, 0, G*(2*n - x) end,\n"
           "  bodies = { sim.block { name = 'lo', low = {-2*n, -2 + o, 0}, high = {4*n, 2 + o, 0} },\n"
           "    sim.block { name = 'hi', low = {-2*n, n + 2 - o, 0}, high = {4*n, n + 6 - o, 0} } },\n"
           "  integrate = { dt = 1, t_end = %d } }",
           gap, o, push, share, out ? "G*2*n" : "0", also, out ? "free" : "given", out ? "given" : "free",
           15 * gap * gap);
  error[0] = flow_value(&f, "bodies", "lo_fx") / force - 1;
  error[1] = (flow_value(&f, "bodies", "lo_tz") - (push * L * L * L / 12 - 2 * force)) / (force / 2);
  flow_close(&f);
}

/* At a side where the fluid enters or leaves with a given velocity, the force on a wall includes the shear of the half
 * cell next to that side. Without this part the force would be too small by the share 1/(4 gap), with `gap` in cells,
 * and the torque would be off by the force times half a cell. The error that remains comes from how the flow enters. It
 * is of second order: with twice the cells a quarter of it is left, and at most a third is allowed here. Where the
 * surface lies before the centres of the first cells, the bounce-back there takes it 1.3/gap of a cell too far out: the
 * force is less by the share 4*1.3/gap^2, here at most 5.5/gap^2, and the torque by as much at half of the length. A
 * profile that grows from 0.9 of it to the same in 5 steps gives the same at the end, up to the rest of the sound that
 * it makes, 7e-7. */
static void test_inlet(void **state) {
  (void)state;
  static const char *const also[] = {"", "collision = 'trt',"};
  static const double offset[] = {0, -0.3, 0.3};
  for (int k = 0; k < 9; k++) {
    double coarse[2], fine[2];
    const double o = offset[k % 3], bound = o > 0 ? 5.5 / 256 : 1.6 / 256;
    find_inlet_errors(also[k / 3 % 2], k >= 6, "1", 8, o, coarse);
    find_inlet_errors(also[k / 3 % 2], k >= 6, "1", 16, o, fine);
    print_message("%s %g: force off by %.5f, %.5f, torque by %.4f, %.4f of half a cell\n", also[k / 3 % 2], o,
                  coarse[0], fine[0], coarse[1], fine[1]);
    if (!(fabs(fine[0]) < fabs(coarse[0]) / 3 && fabs(fine[0]) < bound))
      fail_msg("the force is off by %.3g and %.3g", coarse[0], fine[0]);
    if (!(fabs(fine[1]) < (o > 0 ? 2 * 16 * bound : 0.1)))
      fail_msg("the torque is off by %.3g of half a cell", fine[1]);
    find_inlet_errors(also[k / 3 % 2], k >= 6, "sim.min(1, 0.9 + t/50)", 8, o, fine);
    near_to(fine[0], coarse[0], 1e-5, "force with a profile that changes with time");
  }
}

/* A pipe: the pressure acts on all of the circle, to the second order of the surface, (1/2)^2/R^2 = 1.2 % of R = 4.6
 * cells; without the parts of cells between their sides and the surface it is that of 68 cells, 2.3 % more, and without
 * what crosses the edges 5 % less. */
static void test_pipe(void **state) {
  (void)state;
  static const char *const also[] = {"", "collision = 'trt',", "lattice = 'D3Q27',"};
  for (int k = 0; k < 3; k++) {
    flow f;
    flow_run(
        &f,
        "return sim.fluid { precision = 'double', %s grid = { n = {10, 10, 10}, size = {10, 10, 10},\n"
        "  boundary = 'wall' }, viscosity = 0.15, speed = 0.1, sides = {\n"
        "    x_low = { pressure = 0.004, straight = true }, x_high = { pressure = 0, straight = true } },\n"
        "  bodies = { sim.cylinder { name = 'pipe', point = {0, 5, 5}, axis = {1, 0, 0}, radius = 4.6,\n"
        "    inside = true } }, gates = { { name = 'a', axis = 'x', at = 0 }, { name = 'b', axis = 'x', at = 10 } },\n"
        "  integrate = { dt = 1, t_end = 1000 } }",
        also[k]);
    const double more = flow_value(&f, "gates", "b_momentum_x") - flow_value(&f, "gates", "a_momentum_x");
    const double force = flow_value(&f, "bodies", "pipe_fx"), exact = 0.004 * pi * 4.6 * 4.6;
    print_message("%s: %.6f of the pressure over the circle, momentum %.6f\n", also[k], force / exact, more / exact);
    near_to(force + more, exact, 0.012 * exact, "force on a pipe");
    near_to(flow_value(&f, "bodies", "pipe_fy"), 0, 1e-10, "force across");
    near_to(flow_value(&f, "bodies", "pipe_tx"), 0, 1e-10, "torque");
    flow_close(&f);
  }
}

/* The fluid rests with the pressure (x - 8) g_x + (y - 8) g_y + (z - 4) g_z. */
static void at_rest(flow *f, const char *also, const char *z, const double g[3], const char *body) {
  flow_run(f,
           "local gx, gy, gz = %.17g, %.17g, %.17g\n"
           "return sim.fluid { precision = 'double', %s grid = { n = {16, 16, 8}, size = {16, 16, 8},\n"
           "  boundary = 'wall', z = '%s' }, viscosity = 0.2, speed = 0.1, acceleration = {gx, gy, gz},\n"
           "  initial = function(x, y, z) return 0, 0, 0, (x - 8) * gx + (y - 8) * gy + (z - 4) * gz end,\n"
           "  bodies = { sim.%s }, integrate = { dt = 1, t_end = 600 } }",
           g[0], g[1], g[2], also, z, body);
}

/* Archimedes between two sides: the weight of the fluid in a cylinder's volume, whatever the sides are, to the square
 * of what gravity changes the density by, (16 g 3)^2; and none of it along the sides' axis, where all is the sides'. A
 * round surface is of second order, (1/2)^2/R^2 = 1.2 %. Without what crosses edges 2/(6 8) = 4 % are lost. */
static void test_cylinder(void **state) {
  (void)state;
  static const char *const also[] = {"", "collision = 'trt',", "lattice = 'D3Q27',"};
  static const char body[] = "cylinder { name = 'c', point = {8.2, 7.9, 0}, radius = 4.5 }";
  for (int k = 0; k < 3; k++) {
    static const char *const sides[] = {"periodic", "wall", "slip"};
    const double g[3] = {0, -1e-5, 0}, askew[3] = {0, -1e-5, 1e-5}, weight = 1e-5 * pi * 4.5 * 4.5 * 8;
    double first = 0;
    for (int s = 0; s < 3; s++) {
      flow f;
      at_rest(&f, also[k], sides[s], g, body);
      const double force = flow_value(&f, "bodies", "c_fy");
      if (s == 0) first = force;
      print_message("%s %s: %.9f of the weight\n", also[k], sides[s], force / weight);
      near_to(force, weight, 0.012 * weight, "Archimedes");
      near_to(force, first, 1e-6 * weight, "as between periodic sides");
      if (s > 0) near_to(flow_value(&f, "bodies", "c_tx"), -4 * force, 1e-4 * weight, "torque about an end");
      flow_close(&f);
      if (s == 0) continue;
      at_rest(&f, also[k], sides[s], askew, body);
      near_to(flow_value(&f, "bodies", "c_fz"), 0, 2e-3 * weight, "along the axis"); /* of 1 % of the pressure's part */
      near_to(flow_value(&f, "bodies", "c_fy"), force, 1e-5 * weight, "across the axis");
      flow_close(&f);
    }
  }
}

/* A disc through a side, which its surface meets at a slant: the integral of a pressure g (y - 10) over the arc. To
 * 0.15 of a cell of the pressure at the side; with a side that ends where the surface is half a cell off, 0.5 and 1.0.
 */
static void test_slant(void **state) {
  (void)state;
  static const double middle[] = {3.3, -2.2, 0.4, 4.9};
  for (int k = 0; k < 8; k++) {
    const double r = 6.4, g = 1e-5, y = middle[k / 2], low = -asin(y / r);
    /* -integral of g (y + r sin t - 10) sin t r dt from low to pi - low */
    const double exact = -g * r * ((y - 10) * 2 * cos(low) + r * ((pi - 2 * low) / 2 + sin(2 * low) / 2));
    flow f;
    flow_run(&f,
             "local g = 1e-5\n"
             "return sim.fluid { precision = 'double', grid = { n = {48, 20}, size = {48, 20}, boundary = 'wall',\n"
             "  y = '%s' }, viscosity = 0.2, speed = 0.1, acceleration = {0, g},\n"
             "  initial = function(x, y) return 0, 0, g * (y - 10) end,\n"
             "  bodies = { sim.ball { name = 'b', point = {20.3, %.17g, 0}, radius = 6.4 } },\n"
             "  integrate = { dt = 1, t_end = 600 } }",
             k % 2 ? "wall" : "slip", y);
    const double force = flow_value(&f, "bodies", "b_fy");
    print_message("%g %s: off by %.3f cells\n", y, k % 2 ? "wall" : "slip", (force - exact) / (10 * g));
    near_to(force, exact, 0.15 * 10 * g, "force across the side");
    flow_close(&f);
  }
}

/* A block through a wall, whose faces are sides of cells: each of them bears the pressure at its middle, which is
 * linear. Without what crosses its edges at the wall a sixth of a cell around it is on the wrong face. */
static void test_block(void **state) {
  (void)state;
  static const char *const also[] = {"", "collision = 'trt',", "lattice = 'D3Q27',"};
  for (int k = 0; k < 3; k++) {
    const double g[3] = {2e-5, -1e-5, 1.5e-5};
    flow f;
    at_rest(&f, also[k], "wall", g, "block { name = 'b', low = {-9, 4, 2}, high = {6, 11, 5} }");
    const double scale = 1e-5 * 16 * 21;
    near_to(flow_value(&f, "bodies", "b_fx"), -((6 - 8) * g[0] + (7.5 - 8) * g[1] + (3.5 - 4) * g[2]) * 21,
            2e-3 * scale, "the end");
    near_to(flow_value(&f, "bodies", "b_fy"), -g[1] * 6 * 21, 2e-3 * scale, "two faces");
    near_to(flow_value(&f, "bodies", "b_fz"), -g[2] * 6 * 21, 2e-3 * scale, "two faces");
    flow_close(&f);
  }
}

/* Threads, instruction sets and restarts. */
static void test_same(void **state) {
  (void)state;
  flow_check_same(
      "return sim.fluid { grid = { n = {20, 14, 9}, size = {20, 14, 9}, boundary = 'wall', z = 'slip' },\n"
      "  viscosity = 0.05, speed = 0.1, sides = { x_low = { velocity = {0.05, 0, 0} }, x_high = { pressure = 0 "
      "} },\n"
      "  bodies = { sim.cylinder { name = 'c', point = {6.3, 6.9, 0}, radius = 3.2 },\n"
      "    sim.block { name = 'b', low = {12.2, 3, 2}, high = {99, 9, 5.3} } }, integrate = { t_end = 1e9 } }",
      (const char *const[]){"bodies", "c_fx", "bodies", "c_tx", "bodies", "b_fx", "bodies", "b_ty", NULL});
}

int main(int count, char **words) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_channel),     cmocka_unit_test(test_periodic_torque),
                                     cmocka_unit_test(test_open_torque), cmocka_unit_test(test_inlet),
                                     cmocka_unit_test(test_pipe),        cmocka_unit_test(test_cylinder),
                                     cmocka_unit_test(test_block),       cmocka_unit_test(test_slant),
                                     cmocka_unit_test(test_same)};
  if (count > 1) cmocka_set_test_filter(words[1]);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
