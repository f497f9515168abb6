/* Temperature at bodies and open sides, and that of eddies: conduction, channels, convection, budgets. */
#include "tests/fluid/driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const double pi = 3.14159265358979323846;

/* Between two cylinders of one axis the temperature is that of a logarithm: T = ln(r/b)/ln(a/b), and the heat that
 * passes 2 pi D/ln(b/a) by length. Returns the relative error of the heat, and the greatest and the mean error of
 * cells. */
static double between_cylinders(int n, double *most, double *mean) {
  flow f;
  const double a = 0.17, b = 0.46, D = 0.3;
  int cells = 0;
  flow_run(
      &f,
      "return sim.fluid { precision = 'double', grid = { n = {%d, %d}, size = {1, 1}, boundary = 'slip' },\n"
      "  viscosity = 0.1, speed = 1e-3, heat = { diffusivity = %g, reference = 0.5 },\n"
      "  bodies = { sim.ball { name = 'inner', point = {0.503, 0.496, 0}, radius = %g, temperature = 1, spin = 1e-4 "
      "},\n"
      "  sim.cylinder { name = 'outer', point = {0.503, 0.496, 0}, radius = %g, inside = true, temperature = 0 } },\n"
      "  integrate = { t_end = 0.4 } }",
      n, n, D, a, b);
  const double want = 2 * pi * D / log(b / a), in = flow_value(&f, "heat", "flux_inner"),
               out = flow_value(&f, "heat", "flux_outer"), nusselt = flow_value(&f, "heat", "nusselt_inner");
  *most = *mean = 0;
  for (int y = 0; y < n; y++)
    for (int x = 0; x < n; x++) {
      const double r = hypot((x + 0.5) / n - 0.503, (y + 0.5) / n - 0.496);
      if (r <= a || r >= b) continue;
      const double error = fabs(flow_field(&f, "temperature", x, y, 0) - log(r / b) / log(a / b));
      *most = fmax(*most, error);
      *mean += error;
      cells++;
    }
  *mean /= cells;
  /* What is left of the start decays by exp(-pi^2 D t/(b - a)^2) = 8e-7. */
  if (!(fabs(in + out) < 1e-5 * want)) fail_msg("%.6f enters and %.6f leaves", in, out);
  if (!(fabs(nusselt / (in / (pi * D * 0.5)) - 1) < 1e-12)) fail_msg("Nusselt number %.12g", nusselt);
  flow_close(&f);
  print_message("%d cells: heat %.5f, not %.5f; errors of cells %.2e, mean %.2e\n", n, in, want, *most, *mean);
  return fabs(in / want - 1);
}

/* The interpolation keeps linear temperatures. Of a second derivative K (by cell) what arrives is wrong by at most 2 K
 * (tau - 1/2) <= K, and so is the cell: K = (dx/a)^2/ln(b/a). The mean error and that of the heat have few such cells.
 * Errors jump by a factor of two as q does from grid to grid: over two halvings the order is 2 within one half. */
static void test_cylinders(void **state) {
  (void)state;
  double most, mean[2];
  for (int i = 0; i < 2; i++) {
    const int n = i ? 80 : 20;
    const double heat = between_cylinders(n, &most, &mean[i]), bound = 1 / (0.17 * 0.17 * n * n) / log(0.46 / 0.17);
    if (!(most < bound)) fail_msg("error of a cell %.3e", most);
    if (!(heat < bound / 2)) fail_msg("error of the heat %.3e", heat);
  }
  print_message("order %.2f\n", log2(mean[0] / mean[1]) / 2);
  if (!(fabs(log2(mean[0] / mean[1]) / 2 - 2) < 0.5)) fail_msg("mean errors %.3e, %.3e", mean[0], mean[1]);
}

/* The conductance of a square array of cylinders that insulate (sign 1) or conduct perfectly (-1), each with a part f
 * of the plane: Perrins, McKenzie and McPhedran, Proc. R. Soc. Lond. A 369 (1979) 207. By symmetry it is that of one
 * cell between two plates, and a perfect conductor there has their mean temperature. */
static double array_conductance(double f, double sign) {
  const double f4 = f * f * f * f, f8 = f4 * f4;
  return 1 - 2 * f / (sign + f - 0.305827 * f4 * sign / (1 - 1.402958 * f8) - 0.013362 * f8 * sign);
}

static double array(int n, const char *temperature) {
  flow f;
  flow_run(&f,
           "return sim.fluid { precision = 'double', grid = { n = {%d, %d}, size = {1, 1}, boundary = 'slip' },\n"
           "  viscosity = 0.1, speed = 1e-3, heat = { diffusivity = 0.2, x_low = 1, x_high = -1, initial = function(x) "
           "return 1 - 2*x end },\n"
           "  bodies = { sim.ball { point = {0.5, 0.5, 0}, radius = 0.3 %s } }, integrate = { t_end = 1 } }",
           n, n, temperature);
  const double low = flow_value(&f, "heat", "nusselt_x_low"), high = flow_value(&f, "heat", "nusselt_x_high");
  if (!(fabs(low - high) < 1e-4)) fail_msg("Nusselt numbers %.6f, %.6f", low, high);
  flow_close(&f);
  return low;
}

/* Adiabatic surfaces go along the sides of cells, half a cell off: of first order, dx/(2 R) = 4 % of what the body
 * changes, 0.45, at 40 cells. Of given temperature: second order, (dx/R)^2 = 0.7 %. */
static void test_array(void **state) {
  (void)state;
  const double f = pi * 0.09, insulates = array_conductance(f, 1), conducts = array_conductance(f, -1);
  const double got[2] = {array(40, ""), array(40, ", temperature = 0")};
  print_message("adiabatic: %.5f, not %.5f; conductor: %.5f, not %.5f\n", got[0], insulates, got[1], conducts);
  if (!(fabs(insulates * conducts - 1) < 1e-6)) fail_msg("the series: %.9f", insulates * conducts); /* Keller 1964 */
  if (!(fabs(got[0] - insulates) < 0.45 * 0.04)) fail_msg("adiabatic: %.5f, not %.5f", got[0], insulates);
  if (!(fabs(got[1] / conducts - 1) < 0.007)) fail_msg("conductor: %.5f, not %.5f", got[1], conducts);
}

/* A stream between plates of temperature 0 that came in with 1: far behind the inlet the mean temperature (of the
 * stream) decays by exp(-Nu D x/(height^2 U)) with Nu = 7.5407, of twice the height (Shah and London, Laminar Flow
 * Forced Convection in Ducts, 1978); at a Peclet number 2 height U/D = 80 conduction along the stream changes that by a
 * part 1/Pe^2 only. The next mode decays 11 times as fast: exp(-80 D 4/1) = 3e-4 of it is left where the mean is taken.
 * The grid: height 20 cells, second order, (pi/20)^2/12 = 0.2 %, twice, for both fields. */
static void test_channel(void **state) {
  (void)state;
  enum { NX = 160, NY = 20 };
  flow f;
  flow_run(&f,
           "return sim.fluid { precision = 'double', grid = { n = {%d, %d}, size = {8, 1}, boundary = 'wall' },\n"
           "  viscosity = 0.02, speed = 1.6, mach = 0.15, initial = function(x, y) return 6*y*(1 - y), 0, 12 * 0.02 * "
           "(8 - x) end,\n"
           "  sides = { x_low = { profile = function(x, y) return 6*y*(1 - y), 0 end }, x_high = { pressure = 0 } },\n"
           "  heat = { diffusivity = 0.025, x_low = 1, y_low = 0, y_high = 0 }, integrate = { t_end = 24 } }",
           NX, NY);
  double heats[2], streams = 0;
  for (int i = 0; i < 2; i++) {
    double stream = 0, heat = 0;
    const int x = i ? 140 : 100;
    for (int y = 0; y < NY; y++) {
      const double u = flow_field(&f, "velocity/x", x, y, 0);
      stream += u;
      heat += u * flow_field(&f, "temperature", x, y, 0);
    }
    heats[i] = heat;
    streams += stream / NY / 2;
  }
  const double nusselt = streams * log(heats[0] / heats[1]) / (40 * 8.0 / NX) / 0.025;
  print_message("channel: Nusselt number %.4f\n", nusselt);
  if (!(fabs(nusselt / 7.5407 - 1) < 0.005)) fail_msg("Nusselt number %.4f", nusselt);
  /* steady: what comes in goes out, through plates and the open side */
  const double in = flow_value(&f, "heat", "flux_x_low"), out = flow_value(&f, "heat", "flux_x_high") +
                                                                flow_value(&f, "heat", "flux_y_low") +
                                                                flow_value(&f, "heat", "flux_y_high");
  if (!(fabs(in + out) < 2e-3 * in)) fail_msg("%.6f comes in, %.6f goes out", in, -out);
  flow_close(&f);
}

/* Pictures draw the Nusselt numbers of a table that has some, and nothing beside them. */
static void drawn_are_nusselt(const fluid_parameters *p) {
  int drawn = 0;
  for (int i = 0; p->tables[i]; i++)
    for (const sim_field *c = p->tables[i]->columns; strcmp(p->tables[i]->name, "heat") == 0 && c->name; c++) {
      if (c->display == SIM_DISPLAY_NUMBER) continue;
      if (strncmp(c->name, "nusselt_", 8) != 0) fail_msg("%s is drawn", c->name);
      drawn++;
    }
  assert_int_equal(drawn, 1);
}

/* The heat changes by what enters, in each step, to rounding: beside a warm cylinder that spins, a cold block and an
 * adiabatic ball, in a stream with eddies and buoyancy that comes in and leaves. */
static void test_budget(void **state) {
  (void)state;
  static const char *const fluxes[] = {"flux_x_low", "flux_x_high", "flux_y_high", "flux_warm", "flux_cold"};
  for (int single = 0; single < 2; single++) {
    flow f;
    char text[2048];
    snprintf(
        text, sizeof text,
        "return sim.fluid { precision = '%s', grid = { n = {48, 24}, size = {2, 1}, boundary = 'wall' },\n"
        "  viscosity = 0.01, speed = 1, sides = { x_low = { velocity = {0.5, 0} }, x_high = { pressure = 0 } },\n"
        "  %s\n"
        "  heat = { diffusivity = 0.01, x_low = 0.2, x_high = 0.1, y_high = -1, expansion = 0.5, gravity = {0.1, -2}, "
        "reference = 0.1 },\n"
        "  bodies = { sim.ball { name = 'warm', point = {0.6, 0.4, 0}, radius = 0.17, spin = 2, temperature = 1 },\n"
        "  sim.block { name = 'cold', low = {1.2, 0.6, 0}, high = {1.5, 0.8, 0}, temperature = -0.5 },\n"
        "  sim.ball { point = {1.3, 0.2, 0}, radius = 0.12 } }, integrate = { t_end = 100 } }",
        single ? "single" : "double", flow_with[0] ? "" : "turbulence = { smagorinsky = 0.16, prandtl = 0.7 },");
    flow_open(&f, text, sim_isa_best(), 2, NULL);
    drawn_are_nusselt(f.p);
    flow_steps(&f, 100);
    const fluid_numbers k = fluid_numbers_of(f.p, 0);
    double fluid = 48 * 24;
    flow_look(&f);
    for (int y = 0; y < 24; y++)
      for (int x = 0; x < 48; x++) fluid -= flow_field(&f, "velocity/x", x, y, 0) == 0;
    for (int i = 0; i < 20; i++) {
      const double before = flow_value(&f, "heat", "mean");
      double flux = 0;
      for (int j = 0; j < 5; j++) flux += flow_value(&f, "heat", fluxes[j]);
      flow_steps(&f, 1);
      const double more = flow_value(&f, "heat", "mean") - before, want = flux * f.clock.dt / (fluid * k.dx * k.dx);
      if (!(fabs(more - want) < 1e-15)) fail_msg("step %d: %.6e, not %.6e", i, more, want); /* 2^-52 of numbers of 1 */
    }
    flow_close(&f);
  }
}

/* Between walls that move, shear of the rate s has the eddy viscosity (C dx)^2 s, and heat across it is conducted by D
 * + (C dx)^2 s/Pr, as both profiles are linear. */
static double eddies(double mach) {
  flow f;
  flow_run(&f,
           "return sim.fluid { precision = 'double', grid = { n = {4, 16}, size = {0.25, 1}, y = 'wall' }, mach = %g,\n"
           "  viscosity = 0.004, speed = 1, initial = function(x, y) return 2*y - 1, 0 end,\n"
           "  sides = { y_low = { velocity = {-1, 0} }, y_high = { velocity = {1, 0} } },\n"
           "  turbulence = { smagorinsky = 0.3, prandtl = 0.6 }, heat = { diffusivity = 0.002, y_low = 1, y_high = 0,\n"
           "  initial = function(x, y) return 1 - y end }, integrate = { t_end = 100 } }",
           mach);
  const double got = flow_value(&f, "heat", "nusselt_y_low"), high = flow_value(&f, "heat", "nusselt_y_high");
  if (!(fabs(got / high - 1) < 1e-5)) fail_msg("Nusselt numbers %.9f, %.9f", got, high);
  flow_close(&f);
  return got;
}

/* The error is that of compression alone, of order mach^2: two Mach numbers say what is without. Of the start is left
 * exp(-2 pi^2 0.004 t) = 4e-4 of an error of 1e-3 at t = 100; the next order is mach^4 = 1e-4 of an error of 3e-5. */
static void test_eddies(void **state) {
  (void)state;
  const double want = 1 + 0.3 * 0.3 / 256 * 2 / (0.6 * 0.002), a = eddies(0.1), b = eddies(0.05), got = (4 * b - a) / 3;
  print_message("eddies: Nusselt numbers %.8f, %.8f, so %.8f, not %.8f\n", a, b, got, want);
  if (!(fabs(a - want) < 1e-4)) fail_msg("Nusselt number %.9f, not %.9f", a, want);
  if (!(fabs(got - want) < 1e-6)) fail_msg("Nusselt number %.9f, not %.9f", got, want);
}

/* A fluid of one temperature stays so beside bodies and sides of it, in any flow: to rounding. */
static void test_uniform(void **state) {
  (void)state;
  flow f;
  flow_run(
      &f,
      "return sim.fluid { precision = 'single', grid = { n = {24, 16, 16}, size = {1.5, 1, 1}, boundary = 'wall' },\n"
      "  viscosity = 0.02, speed = 1, sides = { x_low = { velocity = {0.5, 0, 0} }, x_high = { pressure = 0 } },\n"
      "  heat = { diffusivity = 0.02, x_low = 300, y_low = 300, reference = 300 },\n"
      "  bodies = { sim.ball { point = {0.5, 0.47, 0.52}, radius = 0.2, temperature = 300 },\n"
      "  sim.cylinder { point = {1, 0.5, 0.5}, axis = {0, 0, 1}, radius = 0.2 } }, integrate = { t_end = 1 } }");
  assert_true(flow_value(&f, "heat", "least") == 300 && flow_value(&f, "heat", "greatest") == 300);
  flow_close(&f);
}

/* The annulus of Kuehn and Goldstein, J. Fluid Mech. 74 (1976) 695: radii of 5/8 and 13/8 of the gap, Pr 0.7; returns
 * the heat over that of conduction. Free fall has the speed 1. */
static double annulus(double rayleigh, int n, double t_end) {
  flow f;
  flow_run(
      &f,
      "local Ra, Pr, n = %g, 0.7, %d\n"
      "local D = 1 / math.sqrt(Ra * Pr)\n"
      "return sim.fluid { precision = 'double', grid = { n = {n, n}, size = {3.5, 3.5}, boundary = 'slip' },\n"
      "  viscosity = Pr * D, speed = 0.4, heat = { diffusivity = D, expansion = 1, gravity = {0, -1} },\n"
      "  bodies = { sim.ball { name = 'inner', point = {1.75, 1.75, 0}, radius = 0.625, temperature = 0.5 },\n"
      "  sim.ball { name = 'outer', point = {1.75, 1.75, 0}, radius = 1.625, inside = true, temperature = -0.5 } },\n"
      "  integrate = { t_end = %g } }",
      rayleigh, n, t_end);
  const double conducts = 2 * pi / sqrt(rayleigh * 0.7) / log(2.6);
  const double in = flow_value(&f, "heat", "flux_inner") / conducts,
               out = -flow_value(&f, "heat", "flux_outer") / conducts;
  print_message("annulus, Ra %g, %d cells: %.4f, %.4f\n", rayleigh, n, in, out);
  if (!(fabs(in / out - 1) < 5e-3)) fail_msg("%.5f enters and %.5f leaves", in, out);
  flow_close(&f);
  return in;
}

/* The steady flow in Chebyshev polynomials of the radius (25 points) and 20 waves of the angle, by Newton's method, has
 * 1.08214 at Ra 1e3 and 1.9784 at 1e4, inside and outside (19 points and 14 waves: 1.08214 and 1.9783). Grids as of
 * test_cavity: the layer is gap/(2 k) thick, of m cells, of which errors are (1/m)^2; compression 3e-3. */
static void meets(double rayleigh, double want, int n, double t_end) {
  const double got = annulus(rayleigh, n, t_end), cells = n / 3.5 / (2 * want);
  if (!(fabs(got / want - 1) < 3e-3 + 1 / (cells * cells))) fail_msg("Ra %g: %.4f, not %.4f", rayleigh, got, want);
}
static void test_annulus(void **state) {
  (void)state;
  meets(1e3, 1.08214, 70, 25);
}
static void test_annulus_large(void **state) {
  (void)state;
  meets(1e4, 1.9784, 140, 80);
}

/* Threads, vectors and a restart give the same bits, with bodies, eddies and open sides. */
static void test_same(void **state) {
  (void)state;
  static const char *const texts[2] = {
      "return sim.fluid { precision = P, grid = { n = {61, 24}, size = {6.1, 2.4}, boundary = 'wall' },\n"
      "  viscosity = 0.02, speed = 1, sides = { x_low = { velocity = {0.5, 0} }, x_high = { pressure = 0 } },\n"
      "  turbulence = eddies, heat = { diffusivity = 0.03, expansion = 1, gravity = {0, -1}, x_low = "
      "0, x_high = 0.2 },\n"
      "  bodies = { sim.ball { point = {2, 1.2, 0}, radius = 0.5, temperature = 1 } }, integrate = { t_end = 100 } }",
      "return sim.fluid { precision = P, grid = { n = {22, 20, 18}, size = {2.2, 2, 1.8}, y = 'slip' },\n"
      "  viscosity = 0.02, speed = 1, acceleration = {0.5, 0, 0}, heat = { diffusivity = 0.03, expansion = 1, gravity "
      "= {0, -1, 0.1}, y_low = 1 },\n"
      "  bodies = { sim.ball { point = {1.1, 1, 0.2}, radius = 0.4, temperature = -1 } }, integrate = { t_end = 100 } "
      "}"};
  for (int i = 0; i < 4; i++) {
    char words[2048], digest[4][33];
    flow f, again;
    snprintf(words, sizeof words, "local P, eddies = '%s', %s\n%s", i % 2 ? "single" : "double",
             flow_with[0] ? "nil" : "{ smagorinsky = 0.16 }", texts[i / 2]);
    flow_open(&f, words, SIM_ISA_PLAIN, 1, NULL);
    flow_steps(&f, 30);
    flow_digest(&f, digest[0]);
    flow_close(&f);
    flow_open(&f, words, sim_isa_best(), 3, NULL);
    flow_steps(&f, 13);
    flow_digest(&f, digest[3]);
    flow_open(&again, words, sim_isa_best(), 2, &f.frame);
    flow_steps(&again, 17);
    flow_digest(&again, digest[1]);
    flow_close(&again);
    flow_steps(&f, 17);
    flow_digest(&f, digest[2]);
    flow_close(&f);
    assert_string_equal(digest[0], digest[1]);
    assert_string_equal(digest[0], digest[2]);
    assert_string_not_equal(digest[0], digest[3]);
  }
}

/* Flows by two relaxation times, of populations. */
static int by_populations(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_budget), cmocka_unit_test(test_uniform),
                                     cmocka_unit_test(test_same)};
  flow_with = "collision = 'trt',";
  return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(int count, char **words) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_cylinders), cmocka_unit_test(test_array),
                                     cmocka_unit_test(test_channel),   cmocka_unit_test(test_budget),
                                     cmocka_unit_test(test_eddies),    cmocka_unit_test(test_uniform),
                                     cmocka_unit_test(test_annulus),   cmocka_unit_test(test_same)};
  const struct CMUnitTest large[] = {cmocka_unit_test(test_annulus_large)};
  if (count > 1 && strcmp(words[1], "long") == 0) return cmocka_run_group_tests(large, NULL, NULL);
  if (count > 1) cmocka_set_test_filter(words[1]);
  return cmocka_run_group_tests(tests, NULL, NULL) + by_populations();
}
