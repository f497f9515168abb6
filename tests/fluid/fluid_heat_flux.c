/* Heat fluxes given at sides and bodies. */
#include "tests/fluid/driver.h"
#include "tests/fluid/stl.h"

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

/* Between a side with a flux q and one of temperature 0 the temperature is q (L - x)/D, which the links keep for every
 * diffusivity: from there it stays to rounding, some 1e-16 of it in each of 500 steps. */
static void test_slab(void **state) {
  (void)state;
  static const double q = 0.3;
  for (int rank = 2; rank <= 3; rank++)
    for (int i = 0; i < 2; i++) {
      const double D = i ? 0.02 : 0.3;
      flow f;
      flow_run(&f,
               "local D, q, three = %g, %g, %s\n"
               "return sim.fluid { grid = { n = three and {20, 6, 4} or {20, 6}, size = three and {2, 0.6, 0.4} or {2, "
               "0.6},\n"
               "    x = 'wall', y = 'slip' }, viscosity = 0.1, speed = 0.1,\n"
               "  heat = { diffusivity = D, flux = { x_low = q }, x_high = 0, initial = function(x) return q*(2 - x)/D "
               "end },\n"
               "  integrate = { dt = 0.01, t_end = 5 } }",
               D, q, rank == 3 ? "true" : "false");
      for (int x = 0; x < 20; x++)
        near_to(flow_field(&f, "temperature", x, 2, 0), q * (2 - (x + 0.5) * 0.1) / D, 1e-13 * 2 * q / D,
                "temperature");
      near_to(flow_value(&f, "heat", "temperature_x_low"), 2 * q / D, 1e-13 * 2 * q / D, "side");
      const double area = rank == 3 ? 0.6 * 0.4 : 0.6;
      near_to(flow_value(&f, "heat", "flux_x_low"), q * area, 1e-13 * area, "heat in");
      near_to(flow_value(&f, "heat", "flux_x_high"), -q * area, 1e-12 * area, "heat out");
      flow_close(&f);
    }
}

/* A steady flow from temperature 0: the same slab, whose start is not the solution. Its modes have decayed by
 * exp(-(pi/(2 L))^2 D t) = 4e-13. */
static void test_slab_grows(void **state) {
  (void)state;
  flow f;
  flow_run(&f, "return sim.fluid { grid = { n = {10, 4}, size = {1, 0.4}, x = 'wall', y = 'slip' }, viscosity = 0.1,\n"
               "  speed = 0.1, heat = { diffusivity = 0.1, flux = { x_high = -0.2 }, x_low = 1 },\n"
               "  integrate = { dt = 0.02, t_end = 116 } }");
  for (int x = 0; x < 10; x++)
    near_to(flow_field(&f, "temperature", x, 2, 0), 1 - 2 * (x + 0.5) / 10, 1e-11, "temperature");
  near_to(flow_value(&f, "heat", "temperature_x_high"), -1, 1e-11, "side");
  flow_close(&f);
}

/* Between a cylinder r that gives q and one R of temperature 0: T = q r/D log(R/s). Faces of cells stand for the
 * surface: their sum is that of the circle, as a cell of fluid is all about it, and they stand half a cell off at
 * most, 1/(2 r) of q r/D in the surface's temperature; less at twice the cells. The table's flux is what is brought. */
static void annulus(int n, double *heat, double *surface, double *field) {
  const double r = 0.15, outer = 0.46, q = 0.4, D = 0.2;
  flow f;
  *field = 0;
  flow_run(&f,
           "return sim.fluid { grid = { n = {%d, %d}, size = {1, 1} }, viscosity = 0.1, speed = 0.01,\n"
           "  heat = { diffusivity = 0.2 }, bodies = {\n"
           "    sim.cylinder { name = 'rod', point = {0.503, 0.498, 0}, radius = 0.15, flux = 0.4 },\n"
           "    sim.cylinder { name = 'ring', point = {0.503, 0.498, 0}, radius = 0.46, inside = true, temperature = 0 "
           "} },\n"
           "  integrate = { t_end = 3 } }",
           n, n);
  *heat = flow_value(&f, "heat", "flux_rod") / (q * 2 * pi * r) - 1;
  near_to(flow_value(&f, "heat", "flux_ring"), -flow_value(&f, "heat", "flux_rod"), 1e-6, "what comes out");
  *surface = flow_value(&f, "heat", "temperature_rod") / (q * r / D * log(outer / r)) - 1;
  for (int x = 0; x < n; x++)
    for (int y = 0; y < n; y++) {
      const double s = hypot((x + 0.5) / n - 0.503, (y + 0.5) / n - 0.498);
      if (s > r + 2.0 / n && s < outer)
        *field = fmax(*field, fabs(flow_field(&f, "temperature", x, y, 0) / (q * r / D) - log(outer / s)));
    }
  flow_close(&f);
}

static void test_annulus(void **state) {
  (void)state;
  double heat[2], surface[2], field[2];
  for (int i = 0; i < 2; i++) {
    const int n = 32 << i;
    annulus(n, &heat[i], &surface[i], &field[i]);
    print_message("%d cells: heat %.2e, surface %.2e, field %.2e\n", n, heat[i], surface[i], field[i]);
    near_to(heat[i], 0, 1e-12, "heat");
    near_to(surface[i], 0, 0.5 / (0.15 * n), "temperature of the surface");
    near_to(field[i], 0, 0.5 / (0.15 * n), "temperature");
  }
}

/* A body in another's inside, and that one itself, give the flux times their areas: 2 pi r, 4 pi r^2, the faces of a
 * block. A disc that is less than a cell off the ring is told by its links, as before. */
static void test_inside(void **state) {
  (void)state;
  static const struct {
    const char *ring, *body;
    int rank;
    double ring_area, area;
  } cases[] = {{"sim.cylinder { name = 'o', point = {10, 10, 0}, radius = 8.3, inside = true, flux = 2 }",
                "sim.cylinder { name = 'i', point = {10.4, 9, 0}, radius = 3.3, flux = 3 }", 2, 2 * 8.3, 2 * 3.3},
               {"sim.ball { name = 'o', point = {10, 10, 0}, radius = 8.3, inside = true, flux = 2 }",
                "sim.block { name = 'i', low = {7.2, 7.9, 0}, high = {12.8, 12.1, 0}, flux = 3 }", 2, 2 * 8.3, 0},
               {"sim.ball { name = 'o', point = {10, 10, 10}, radius = 8.3, inside = true, flux = 2 }",
                "sim.ball { name = 'i', point = {10.4, 9, 10.3}, radius = 3.3, flux = 3 }", 3, 4 * 8.3 * 8.3,
                4 * 3.3 * 3.3}};
  for (int i = 0; i < 3; i++) {
    const double area = cases[i].area > 0 ? pi * cases[i].area : 2 * (5.6 + 4.2);
    flow f;
    flow_run(&f,
             "return sim.fluid { precision = 'double', grid = { n = {20, 20%s}, size = {20, 20%s} }, viscosity = 0.1,\n"
             "  speed = 0.1, heat = { diffusivity = 0.1 }, bodies = { %s, %s }, integrate = { dt = 1, t_end = 3 } }",
             cases[i].rank == 3 ? ", 20" : "", cases[i].rank == 3 ? ", 20" : "", cases[i].ring, cases[i].body);
    near_to(flow_value(&f, "heat", "flux_o"), 2 * pi * cases[i].ring_area, 1e-11 * cases[i].ring_area, "the ring");
    near_to(flow_value(&f, "heat", "flux_i"), 3 * area, 1e-11 * area, "the body in it");
    flow_close(&f);
  }
  double far[2];
  for (int i = 0; i < 2; i++) { /* 0.5 and 1.1 cells off */
    flow f;
    flow_run(&f,
             "return sim.fluid { precision = 'double', grid = { n = {20, 20}, size = {20, 20} }, viscosity = 0.1,\n"
             "  speed = 0.1, heat = { diffusivity = 0.1 }, bodies = {\n"
             "    sim.cylinder { name = 'o', point = {10, 10, 0}, radius = 8.3, inside = true },\n"
             "    sim.cylinder { name = 'i', point = {10, %g, 0}, radius = 3.3, flux = 3 } },\n"
             "  integrate = { dt = 1, t_end = 3 } }",
             i ? 13.9 : 14.5);
    far[i] = fabs(flow_value(&f, "heat", "flux_i") / (3 * 2 * pi * 3.3) - 1);
    flow_close(&f);
  }
  near_to(far[1], 0, 1e-12, "a cell and more off");
  assert_true(far[0] > 1e-4);
}

/* A flow that stirs a closed box with fluxes of both signs, a ball, a block and a body at a slip side: the mean
 * temperature changes by what the table tells in each step, to the rounding of the sums of 5e3 cells. */
static void test_budget(void **state) {
  (void)state;
  static const char text[] =
      "return sim.fluid { precision = 'single', grid = { n = {20, 18, 16}, size = {20, 18, 16}, boundary = 'wall',\n"
      "    z = 'slip' }, viscosity = 0.05, speed = 0.1, sides = { y_high = { velocity = {0.08, 0, 0} } },\n"
      "  turbulence = { smagorinsky = 0.15 },\n"
      "  heat = { diffusivity = 0.03, expansion = 0.1, gravity = {0, -0.001, 0}, reference = 0.2,\n"
      "    flux = { y_low = 0.02, x_high = -0.01 } },\n"
      "  bodies = { sim.ball { name = 'ball', point = {7, 8, 9}, radius = 3.3, flux = 0.05, spin = 0.01 },\n"
      "    sim.ball { name = 'half', point = {14, 12, 0.2}, radius = 3.1, flux = -0.03 },\n"
      "    sim.block { name = 'block', low = {12, 3, 6}, high = {16, 6, 11}, flux = 0.04 } },\n"
      "  integrate = { dt = 1, t_end = 1000 } }";
  static const char *const columns[] = {"flux_y_low", "flux_x_high", "flux_ball", "flux_half", "flux_block"};
  static const double heats[] = {0.02 * 20 * 16, -0.01 * 18 * 16, 0.05 * 4 * 3.14159265 * 3.3 * 3.3, 0, 0.04 * 2 * 47};
  flow f, g;
  char straight[33], resumed[33];
  flow_open(&f, text, sim_isa_best(), 2, NULL);
  const double cells = 20 * 18 * 16;
  for (int step = 0; step < 30; step++) {
    double in = 0;
    const double before = flow_value(&f, "heat", "mean");
    for (int c = 0; c < 5; c++) in += flow_value(&f, "heat", columns[c]);
    flow_steps(&f, 1);
    /* The mean is over the fluid, whose cells are those without the bodies. */
    const double fluid = flow_value(&f, "flow", "mass"), change = flow_value(&f, "heat", "mean") - before;
    if (step == 0) assert_true(fluid < cells && fluid > cells / 2);
    near_to(change * round(fluid), in, 1e-12 * cells, "budget");
  }
  for (int c = 0; c < 5; c++) /* by chords, of bodies: (1/6.6)^1.5 = 6 %; sides and blocks along axes are exact */
    if (c != 3)
      near_to(flow_value(&f, "heat", columns[c]), heats[c], (c == 2 ? 0.06 : 1e-12) * fabs(heats[c]), columns[c]);
  flow_look(&f);
  flow_open(&g, text, sim_isa_best(), 3, &f.frame);
  flow_steps(&f, 20);
  flow_digest(&f, straight);
  flow_steps(&g, 20);
  flow_digest(&g, resumed);
  assert_string_equal(straight, resumed);
  flow_close(&f);
  flow_close(&g);
}

/* A block from a file gives the heat of the scenario's block: normals are those of triangles. */
static void test_file(void **state) {
  (void)state;
  static const double low[3] = {4.2, 3.3, 5.1}, high[3] = {9.1, 9.7, 10.2};
  double got[2][2];
  stl_block("fluid_heat_flux.stl", low, high, NULL);
  for (int i = 0; i < 2; i++) {
    flow f;
    flow_run(
        &f,
        "return sim.fluid { grid = { n = {16, 14, 16}, size = {16, 14, 16}, boundary = 'wall' }, viscosity = 0.1,\n"
        "  speed = 0.1, heat = { diffusivity = 0.1, x_low = 0 },\n"
        "  bodies = { %s, name = 'block', flux = 0.02 } }, integrate = { dt = 1, t_end = 50 } }",
        i ? "sim.stl { path = 'fluid_heat_flux.stl'" : "sim.block { low = {4.2, 3.3, 5.1}, high = {9.1, 9.7, 10.2}");
    got[i][0] = flow_value(&f, "heat", "flux_block");
    got[i][1] = flow_value(&f, "heat", "temperature_block");
    flow_close(&f);
  }
  for (int k = 0; k < 2; k++) near_to(got[1][k], got[0][k], 1e-12 * got[0][k], k ? "temperature" : "heat");
}

/* Blocks whose faces lie between the sides of cells give q times their surface (two dimensions: girth), and so do
 * balls, rods across a box and blocks askew or over the periodic ends: to roundings. Faces of cells alone are up to 14
 * % off. */
static void test_true_area(void **state) {
  (void)state;
  static const struct {
    const char *grid, *body;
    double area;
  } cases[] = {
      {"n = {20, 18}, size = {20, 18}, boundary = 'wall'", "sim.block { low = {4.2, 3.3, 0}, high = {9.1, 9.7, 0}",
       2 * 11.3},
      {"n = {16, 14, 16}, size = {16, 14, 16}, boundary = 'wall'",
       "sim.block { low = {4.2, 3.3, 5.1}, high = {9.1, 9.7, 10.2}", 2 * (4.9 * 6.4 + 6.4 * 5.1 + 5.1 * 4.9)},
      {"n = {16, 14, 16}, size = {16, 14, 16}", "sim.block { low = {-2.2, 3.3, 5.1}, high = {2.7, 9.7, 10.2}",
       2 * (4.9 * 6.4 + 6.4 * 5.1 + 5.1 * 4.9)},
      {"n = {16, 14, 16}, size = {8, 7, 8}", "sim.ball { point = {4.1, 3.3, 4}, radius = 1.7", 4 * 1.7 * 1.7},
      {"n = {16, 14, 10}, size = {16, 14, 10}, y = 'wall'",
       "sim.cylinder { point = {8.1, 7.3, 0}, radius = 3.3, axis = {0, 0, 1}", 2 * 3.3 * 10},
      {"n = {20, 18}, size = {20, 18}, boundary = 'wall'", "sim.cylinder { point = {8.1, 7.3, 0}, radius = 3.3",
       2 * 3.3},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    flow f;
    flow_run(&f,
             "return sim.fluid { grid = { %s }, viscosity = 0.1, speed = 0.1, heat = { diffusivity = 0.1 },\n"
             "  bodies = { %s, name = 'it', flux = 0.02 } }, integrate = { dt = 1/4, t_end = 1/2 } }",
             cases[k].grid, cases[k].body);
    const double area = cases[k].area * (k < 3 ? 1 : pi);
    near_to(flow_value(&f, "heat", "flux_it"), 0.02 * area, 1e-12 * area, cases[k].body);
    flow_close(&f);
  }
}

/* A stream between plates that give q: far from the inlet every temperature rises along it by 2 q/(U H), and the plates
 * are above the mean of the stream by q 2 H/(D Nu), Nu = 140/17 (Shah and London, Laminar Flow Forced Convection in
 * Ducts, 1978). A height of 16 cells: (pi/16)^2/12 = 0.3 %, twice, for both fields; the pressure along it, 2.4,
 * changes the density by 0.2 %. */
static double channel(int ny, double *slope) {
  double mean[2] = {0}, streams = 0;
  flow f;
  flow_run(&f,
           "return sim.fluid { grid = { n = {4 * %d, %d}, size = {4, 1}, boundary = 'wall' }, viscosity = 0.05, speed "
           "= 1.6,\n"
           "  mach = 0.05, initial = function(x, y) return 6*y*(1 - y), 0, 12 * 0.05 * (4 - x) end,\n"
           "  sides = { x_low = { profile = function(x, y) return 6*y*(1 - y), 0 end }, x_high = { pressure = 0 } },\n"
           "  heat = { diffusivity = 0.1, x_low = 0, flux = { y_low = 1, y_high = 1 } }, integrate = { t_end = 8 } }",
           ny, ny);
  for (int i = 0; i < 2; i++) {
    double stream = 0;
    for (int y = 0; y < ny; y++) {
      const int x = (9 + 4 * i) * ny / 4;
      const double u = flow_field(&f, "velocity/x", x, y, 0);
      stream += u;
      mean[i] += u * flow_field(&f, "temperature", x, y, 0);
    }
    mean[i] /= stream;
    streams += stream / ny / 2;
  }
  const double wall = flow_field(&f, "temperature", 9 * ny / 4, 0, 0) + 1 / 0.1 / (2.0 * ny);
  flow_close(&f);
  *slope = (mean[1] - mean[0]) * streams / 2; /* over one unit of length */
  return 2 / 0.1 / (wall - mean[0]);
}

static void test_channel(void **state) {
  (void)state;
  double slope, got[2];
  for (int i = 0; i < 2; i++) {
    const int ny = i ? 24 : 12;
    got[i] = channel(ny, &slope) / (140.0 / 17) - 1;
    print_message("%d cells: slope %.5f, Nusselt %.5f off\n", ny, slope, got[i]);
    near_to(slope, 1, 0.005, "slope");
    near_to(got[i], 0, 3.0 / (ny * ny), "Nusselt");
  }
}

int main(int count, char **words) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_slab),      cmocka_unit_test(test_slab_grows),
                                     cmocka_unit_test(test_annulus),   cmocka_unit_test(test_inside),
                                     cmocka_unit_test(test_budget),    cmocka_unit_test(test_file),
                                     cmocka_unit_test(test_true_area), cmocka_unit_test(test_channel)};
  if (count > 1) cmocka_set_test_filter(words[1]);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
