/* The tables `gates` and `spectrum`. */
#include "tests/fluid/driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static const double pi = 3.14159265358979323846;

static void near_to(double got, double expected, double tolerance, const char *what) {
  if (!(fabs(got - expected) <= tolerance))
    fail_msg("%s: got %.9g, expected %.9g within %.1e (off by %.2e)", what, got, expected, tolerance, got - expected);
}

/* A uniform velocity and a pressure that is linear in x: sums over cells are integrals, and what is linear between
 * centres is exact. Sums of 100 products of the order of 1: 1e-13. */
static void test_uniform(void **state) {
  (void)state;
  flow f;
  flow_open(
      &f,
      "return sim.fluid { grid = { n = {10, 8, 6}, size = {5, 4, 3}, boundary = 'slip' }, viscosity = 0.2,\n"
      "  speed = 0.5, density = 1.3, initial = function(x, y, z) return 0.3, -0.2, 0.1, 0.5 - 0.2 * x end,\n"
      "  gates = { { axis = 'x', at = 1.9, y = {0.4, 2.7}, z = {0, 1.1} }, { name = 'floor', axis = 'z', at = 1 },\n"
      "    { axis = 'y', at = 0, x = {4.9, 5} }, { name = 'end', axis = 'x', at = 4.9 } },\n"
      "  integrate = { dt = 0.1, t_end = 1 } }",
      sim_isa_best(), 2, NULL);
  const double dense = 3 * 0.1 * 0.1 / 0.25; /* 1/c^2 */
  const double p = 0.5 - 0.2 * 1.9, area = 2.3 * 1.1, flux = (1.3 + dense * p) * 0.3 * area;
  near_to(flow_value(&f, "gates", "gate1_pressure"), p, 1e-13, "pressure");
  near_to(flow_value(&f, "gates", "gate1_flux"), flux, 1e-13, "flux");
  near_to(flow_value(&f, "gates", "gate1_momentum_x"), 0.3 * flux, 1e-13, "momentum along x");
  near_to(flow_value(&f, "gates", "gate1_momentum_y"), -0.2 * flux, 1e-13, "momentum along y");
  near_to(flow_value(&f, "gates", "gate1_momentum_z"), 0.1 * flux, 1e-13, "momentum along z");
  const double down = (1.3 + dense * (0.5 - 0.2 * 2.5)) * 0.1 * 20; /* its mean pressure is 0 */
  near_to(flow_value(&f, "gates", "floor_pressure"), 0, 1e-13, "pressure across z");
  near_to(flow_value(&f, "gates", "floor_flux"), down, 1e-13, "flux across z");
  near_to(flow_value(&f, "gates", "floor_momentum_x"), 0.3 * down, 1e-13, "momentum across z");
  /* A part of the last cells along x, whose centres are at 4.75. */
  const double edge = 0.5 - 0.2 * 4.75;
  near_to(flow_value(&f, "gates", "gate3_flux"), -(1.3 + dense * edge) * 0.2 * 0.1 * 3, 1e-13, "flux across y");
  near_to(flow_value(&f, "gates", "end_pressure"), edge, 1e-13, "pressure near a side");
  flow_close(&f);
}

/* Across a periodic side values are linear between the last cell and the first one. */
static void test_periodic(void **state) {
  (void)state;
  flow f;
  flow_open(&f,
            "return sim.fluid { grid = { n = {8, 4}, size = {8, 4} }, viscosity = 0.2, speed = 1,\n"
            "  initial = function(x, y) return 0.5 + 0.25 * math.sin(2 * math.pi * x / 8 + 1), 0 end,\n"
            "  gates = { { axis = 'x', at = 0.3 } }, integrate = { t_end = 1 } }",
            sim_isa_best(), 1, NULL);
  const double first = 0.5 + 0.25 * sin(2 * pi * 0.5 / 8 + 1), last = 0.5 + 0.25 * sin(2 * pi * 7.5 / 8 + 1);
  near_to(flow_value(&f, "gates", "gate1_flux"), 4 * (0.8 * first + 0.2 * last), 1e-13, "flux");
  near_to(flow_value(&f, "gates", "gate1_momentum_x"), 4 * (0.8 * first * first + 0.2 * last * last), 1e-13,
          "momentum");
  flow_close(&f);
}

/* A steady flow past a cylinder: planes before and behind it pass the same mass, and what they lose of pressure and
 * momentum, and what the acceleration gives to the fluid between them, is the force on the cylinder. The flow still
 * changes by 1e-5 of its energy in a unit of time, which is 1e-7 of the flux in the 2.7 between the planes. The force
 * is found from links, the balance from cells: 4e-4 apart at 8 cells across, 2e-4 at 16. */
static void test_balance(void **state) {
  (void)state;
  flow f;
  flow_open(&f,
            "return sim.fluid { grid = { n = {48, 24}, size = {6, 3}, y = 'slip' }, speed = 1, density = 1.3,\n"
            "  viscosity = 0.2, acceleration = {0.03, 0}, integrate = { t_end = 50 },\n"
            "  bodies = { sim.cylinder { name = 'c', point = {2.51, 1.5, 0}, radius = 0.5 } },\n"
            "  gates = { { name = 'a', axis = 'x', at = 1.4 }, { name = 'b', axis = 'x', at = 4.13 } } }",
            sim_isa_best(), 2, NULL);
  flow_steps(&f, INT64_MAX);
  const double flux = flow_value(&f, "gates", "a_flux"), fluid = 3 * (4.13 - 1.4) - pi / 4;
  near_to(flow_value(&f, "gates", "b_flux"), flux, 1e-7 * flux, "mass flux");
  const double lost = 3 * (flow_value(&f, "gates", "a_pressure") - flow_value(&f, "gates", "b_pressure")) +
                      flow_value(&f, "gates", "a_momentum_x") - flow_value(&f, "gates", "b_momentum_x");
  const double force = lost + 1.3 * 0.03 * fluid;
  near_to(flow_value(&f, "bodies", "c_fx"), force, 1e-3 * force, "balance of momentum");
  flow_close(&f);
}

/* Poiseuille's flow between blocks that cut cells, from the start: flux a H^3/12 nu. A cell of the fluid whose wall is
 * q cells away, 0 <= q <= 1, counts whole, and misses (q - 1/2)^2/2 of the shear rate there, of either wall 6 (q -
 * 1/2)^2/H^2 <= 1.5/H^2 of the flux; the rule of middles misses 1/(2 H^2). Parts of cells, q + 1/2, would miss up to
 * 4.5/H^2. */
static void test_cut(void **state) {
  (void)state;
  const double H = 10;
  for (int i = 0; i < 10; i++) {
    const double low = 3 + i / 10.0;
    flow f;
    char text[1024];
    snprintf(text, sizeof text,
             "local low, H = %.17g, %g\n"
             "return sim.fluid { grid = { n = {8, 20}, size = {8, 20} }, viscosity = 0.2, speed = 1,\n"
             "  initial = function(x, y) return 4 * (y - low) * (low + H - y) / H^2 * 0.9, 0 end,\n"
             "  bodies = { sim.block { low = {-20, -1, 0}, high = {40, low, 0} },\n"
             "    sim.block { low = {-20, low + H, 0}, high = {40, 21, 0} } },\n"
             "  gates = { { axis = 'x', at = 3.3 } }, integrate = { t_end = 1 } }",
             low, H);
    flow_open(&f, text, sim_isa_best(), 1, NULL);
    const double flux = 0.9 * 2 / 3 * H;
    near_to(flow_value(&f, "gates", "gate1_flux"), flux, 2 / (H * H) * flux, "flux between cut cells");
    flow_close(&f);
  }
}

/* Waves of known wavenumbers: half of their mean squares over the width of a bin. The longest side sets it. */
static void test_waves(void **state) {
  (void)state;
  flow f;
  flow_open(
      &f,
      "local k = 2 * math.pi / 3\n"
      "return sim.fluid { grid = { n = {10, 15, 5}, size = {2, 3, 1} }, viscosity = 0.01, speed = 1, spectrum = 4,\n"
      "  initial = function(x, y, z)\n"
      "    return 0.4 * math.sin(k * y), 0.2 * math.cos(1.5 * k * x + 3 * k * z), 0.1 + 0.3 * math.sin(2 * k * y) "
      "end,\n"
      "  integrate = { t_end = 1 } }",
      sim_isa_best(), 2, NULL);
  const double width = 2 * pi / 3;
  near_to(flow_value(&f, "spectrum", "energy_0"), 0.1 * 0.1 / 2 / width, 1e-15, "mean flow");
  near_to(flow_value(&f, "spectrum", "energy_1"), 0.4 * 0.4 / 4 / width, 1e-15, "first bin");
  near_to(flow_value(&f, "spectrum", "energy_2"), 0.3 * 0.3 / 4 / width, 1e-15, "second bin");
  near_to(flow_value(&f, "spectrum", "energy_3"), 0.2 * 0.2 / 4 / width, 1e-15, "last bin, of 3.35 and more");
  flow_close(&f);
}

/* Taylor and Green's eddies lose exp(-2 viscosity k^2 t) of their energy, k^2 = 2: at 32 cells and Mach number 0.02 to
 * 1e-3, by the error of the viscosity, of second order in the width of a cell. */
static void test_decay(void **state) {
  (void)state;
  flow f;
  flow_open(
      &f,
      "local n, L = 32, 2 * math.pi\n"
      "return sim.fluid { grid = { n = {n, n}, size = {L, L} }, viscosity = 0.1, speed = 1, mach = 0.02,\n"
      "  spectrum = 8, integrate = { t_end = 1 }, initial = function(x, y)\n"
      "    return math.sin(x) * math.cos(y), -math.cos(x) * math.sin(y), (math.cos(2 * x) + math.cos(2 * y)) / 4 end }",
      sim_isa_best(), 2, NULL);
  near_to(flow_value(&f, "spectrum", "energy_1"), 0.25, 1e-14, "energy at the start");
  flow_steps(&f, INT64_MAX);
  const double expected = 0.25 * exp(-4 * 0.1 * f.clock.t);
  near_to(flow_value(&f, "spectrum", "energy_1"), expected, 1e-3 * expected, "energy");
  near_to(flow_value(&f, "spectrum", "energy_0"), 0, 1e-12, "mean flow");
  flow_close(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_uniform), cmocka_unit_test(test_periodic),
                                     cmocka_unit_test(test_balance), cmocka_unit_test(test_cut),
                                     cmocka_unit_test(test_waves),   cmocka_unit_test(test_decay)};
  return cmocka_run_group_tests_name("fluid gates", tests, NULL, NULL);
}
