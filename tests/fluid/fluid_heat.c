/* Temperature in fluids: conduction, waves, budgets, convection. */
#include "tests/fluid/driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const double pi = 3.14159265358979323846;

/* Between two plates a linear temperature is kept to rounding: every population at a side is that of the line. In 3-D
 * along each axis. Steps add up rounding at random, 2e-16 each, at most 1e-16 * 100 of them. The flux through both
 * sides is D dT/dx = 0.3 * 2 / 1 by area. */
static void test_conduction(void **state) {
  (void)state;
  for (int axis = 0; axis < 3; axis++) {
    flow f;
    char column[32];
    flow_run(&f,
             "local size, n = {0.5, 0.5, 0.5}, {5, 5, 5}\n"
             "size[%d], n[%d] = 1, 10\n"
             "return sim.fluid { precision = 'double', grid = { n = n, size = size, %c = 'wall' }, viscosity = 0.1,\n"
             "  speed = 1, heat = { diffusivity = 0.3, %c_low = 3, %c_high = 1,\n"
             "  initial = function(x, y, z) return 3 - 2 * %c end }, integrate = { t_end = 1 } }",
             axis + 1, axis + 1, "xyz"[axis], "xyz"[axis], "xyz"[axis], "xyz"[axis]);
    for (int i = 0; i < 10; i++) {
      const int64_t at[3] = {axis == 0 ? i : 2, axis == 1 ? i : 2, axis == 2 ? i : 2};
      const double T = flow_field(&f, "temperature", at[0], at[1], at[2]);
      if (!(fabs(T - (3 - 0.2 * (i + 0.5))) < 1e-13)) fail_msg("cell %d along %c: %.15g", i, "xyz"[axis], T);
    }
    for (int high = 0; high < 2; high++) {
      snprintf(column, sizeof column, "flux_%c_%s", "xyz"[axis], high ? "high" : "low");
      const double flux = flow_value(&f, "heat", column) * (high ? -1 : 1);
      if (!(fabs(flux - 0.3 * 2 * 0.25) < 1e-12)) fail_msg("%s is %.15g", column, flux);
      snprintf(column, sizeof column, "nusselt_%c_%s", "xyz"[axis], high ? "high" : "low");
      if (!(fabs(flow_value(&f, "heat", column) - (high ? 1 : 1)) < 1e-12)) fail_msg("%s", column);
    }
    if (!(fabs(flow_value(&f, "heat", "mean") - 2) < 1e-13)) fail_msg("mean along %c", "xyz"[axis]);
    flow_close(&f);
  }
}

/* A wave of temperature sin(2 pi (x + y - 2 U t)), carried by a uniform flow, decays by exp(-8 pi^2 D t). Returns the
 * greatest error, with dt ~ dx^2. */
static double wave_error(int n) {
  flow f;
  const double D = 0.02, U = 0.5;
  double most = 0;
  flow_run(
      &f,
      "local n, U = %d, %g\n"
      "local function wave(x, y) return math.sin(2 * math.pi * (x + y)) end\n"
      "return sim.fluid { precision = 'double', grid = { n = {n, n}, size = {1, 1} }, viscosity = 0.02, speed = 1,\n"
      "  initial = function(x, y) return U, U end, heat = { diffusivity = %g, initial = wave },\n"
      "  integrate = { dt = 0.64 / n^2, t_end = 0.25 } }",
      n, U, D);
  const double decay = exp(-8 * pi * pi * D * f.clock.t);
  for (int y = 0; y < n; y++)
    for (int x = 0; x < n; x++) {
      const double phase = 2 * pi * ((x + y + 1.0) / n - 2 * U * f.clock.t);
      most = fmax(most, fabs(flow_field(&f, "temperature", x, y, 0) - decay * sin(phase)));
    }
  flow_close(&f);
  return most;
}

/* Order 2 for dt ~ dx^2. The next order is a share (2 pi/n)^2 = 4 to 15 % of the error, less than a tenth of an order.
 */
static void test_wave(void **state) {
  (void)state;
  const double coarse = wave_error(16), fine = wave_error(32), order = log2(coarse / fine);
  print_message("errors %.4g, %.4g, order %.3f\n", coarse, fine, order);
  if (!(fabs(order - 2) < 0.1)) fail_msg("order %.3f: errors %.4g, %.4g", order, coarse, fine);
}

/* Returns the diffusivity of a wave along x in a flow of `u` cells a step, over the given diffusivity, from the wave's
 * amplitude. */
static double diffusivity(double u) {
  enum { N = 32 };
  flow f;
  const double D = 0.02;
  double part[2] = {0, 0};
  flow_run(&f,
           "local n, U = %d, %g\n"
           "return sim.fluid { precision = 'double', grid = { n = {n, 4}, size = {1, 4 / n} }, viscosity = 0.02,\n"
           "  speed = 1, initial = function(x, y) return U, 0 end,\n"
           "  heat = { diffusivity = %g, initial = function(x, y) return math.sin(2 * math.pi * x) end },\n"
           "  integrate = { dt = 0.08 / n, t_end = 1.25 } }",
           N, u / 0.08, D);
  for (int x = 0; x < N; x++) {
    part[0] += flow_field(&f, "temperature", x, 1, 0) * cos(2 * pi * (x + 0.5) / N) * 2 / N;
    part[1] += flow_field(&f, "temperature", x, 1, 0) * sin(2 * pi * (x + 0.5) / N) * 2 / N;
  }
  const double out = -log(hypot(part[0], part[1])) / (4 * pi * pi * D * f.clock.t);
  print_message("%g cells a step: diffusivity %.5f\n", u, out);
  flow_close(&f);
  return out;
}

/* A flow does not change the diffusivity. Without the correction of the flux a lattice of five directions would lose
 * (2 u)^2 = 2.6 % of it. With it, the error is smaller by a factor of about (2 pi/n)^2 = 4 %; a tenth is allowed. */
static void test_moving_wave(void **state) {
  (void)state;
  const double still = diffusivity(0), moving = diffusivity(0.08);
  if (!(fabs(moving - still) < 0.0026)) fail_msg("diffusivity %.5f at rest, %.5f in a flow", still, moving);
}

/* A box of one temperature falls freely from the given velocity: -expansion (T - reference) gravity t, to rounding.
 * Each step rounds the velocity, and in single precision the rounded part is kept. Units: (dx/dt = 100) times 2^-53 or
 * 2^-24 for each of 50 steps. */
static void test_fall(void **state) {
  (void)state;
  for (int single = 0; single < 2; single++) {
    flow f;
    flow_open_on(&f,
                 single ? "return sim.fluid { precision = 'single', grid = { n = {8, 8, 8}, size = {1, 1, 1} },\n"
                          "  viscosity = 0.1, speed = 10, initial = function(x, y, z) return 1, -2, 3 end,\n"
                          "  heat = { diffusivity = 0.1, expansion = 0.5, gravity = {1, -2, 4}, reference = 1,\n"
                          "  initial = function(x, y, z) return 5 end }, integrate = { dt = 1 / 800, t_end = 1 } }"
                        : "return sim.fluid { precision = 'double', grid = { n = {8, 8, 8}, size = {1, 1, 1} },\n"
                          "  viscosity = 0.1, speed = 10, initial = function(x, y, z) return 1, -2, 3 end,\n"
                          "  heat = { diffusivity = 0.1, expansion = 0.5, gravity = {1, -2, 4}, reference = 1,\n"
                          "  initial = function(x, y, z) return 5 end }, integrate = { dt = 1 / 800, t_end = 1 } }",
                 &sim_backend_cpu, NULL);
    for (int steps = 0; steps <= 50; steps += 50) {
      flow_steps(&f, steps);
      flow_look(&f);
      const double t = f.clock.t, want[3] = {1 - 2 * t, -2 + 4 * t, 3 - 8 * t};
      static const char *const names[] = {"velocity/x", "velocity/y", "velocity/z"};
      for (int a = 0; a < 3; a++) {
        const double got = flow_field(&f, names[a], 3, 4, 5);
        if (!(fabs(got - want[a]) < 50 * 100 * (single ? 0x1p-24 : 0x1p-53)))
          fail_msg("%s after %d steps: %.15g, not %.15g", names[a], steps, got, want[a]);
      }
    }
    flow_close(&f);
  }
}

/* The heat in a box changes by the heat that enters through its sides: a cavity in which the fluid circulates. The flux
 * of the table is that of the next step. */
static void test_budget(void **state) {
  (void)state;
  flow f;
  flow_open(&f,
            "return sim.fluid { precision = 'double', grid = { n = {12, 12}, size = {1, 1}, boundary = 'wall' },\n"
            "  viscosity = 0.05, speed = 1, sides = { y_high = { velocity = {1, 0} } },\n"
            "  heat = { diffusivity = 0.02, x_low = 1, y_high = -1, expansion = 0.5, gravity = {0, -2} },\n"
            "  integrate = { t_end = 100 } }",
            sim_isa_best(), 2, NULL);
  flow_steps(&f, 50);
  for (int i = 0; i < 20; i++) {
    const double before = flow_value(&f, "heat", "mean");
    const double flux = flow_value(&f, "heat", "flux_x_low") + flow_value(&f, "heat", "flux_y_high");
    flow_steps(&f, 1);
    const double more = flow_value(&f, "heat", "mean") - before;
    if (!(fabs(more - flux * f.clock.dt) < 1e-15)) fail_msg("step %d: %.6e, not %.6e", i, more, flux * f.clock.dt);
  }
  flow_close(&f);
}

/* The square cavity of de Vahl Davis, Int. J. Numer. Methods Fluids 3 (1983) 249: Pr 0.71, one side warm and the other
 * cold, gravity along them. Returns the mean Nusselt number of the warm side and checks that of the cold one. Lengths
 * are 1, and free fall has the speed 1; `speed` is the greatest measured speed, rounded up. */
static double cavity(double rayleigh, int n, double t_end, const char *precision, double reference) {
  flow f;
  flow_run(
      &f,
      "local Ra, Pr, n, T = %g, 0.71, %d, %g\n"
      "local D = 1 / math.sqrt(Ra * Pr)\n"
      "return sim.fluid { precision = '%s', grid = { n = {n, n}, size = {1, 1}, boundary = 'wall' },\n"
      "  viscosity = Pr * D, speed = 0.3, mach = 0.05, heat = { diffusivity = D, expansion = 1, gravity = {0, -1},\n"
      "  reference = T, x_low = T + 0.5, x_high = T - 0.5, initial = function(x) return T + 0.5 - x end },\n"
      "  integrate = { t_end = %g } }",
      rayleigh, n, reference, precision, t_end);
  const double warm = flow_value(&f, "heat", "nusselt_x_low"), cold = flow_value(&f, "heat", "nusselt_x_high");
  print_message("Ra %g, %d cells, %s: Nusselt number %.4f, %.4f\n", rayleigh, n, precision, warm, cold);
  if (!(fabs(warm - cold) < 2e-3 * warm)) fail_msg("Ra %g: %.6f enters and %.6f leaves", rayleigh, warm, cold);
  flow_close(&f);
  return warm;
}

/* Nusselt numbers of the paper's table, to its own error of 0.1 to 0.2 %, and those of the grid, of second order: the
 * layers at the sides are about 1/(2 Nu) thick, n/(2 Nu) cells, of which errors are a part (2 Nu/n)^2. */
static void meets(double rayleigh, double nusselt, int n, double t_end, const char *precision) {
  const double got = cavity(rayleigh, n, t_end, precision, 0), part = 2 * nusselt / n;
  if (!(fabs(got / nusselt - 1) < 2e-3 + part * part)) fail_msg("Ra %g: Nusselt number %.4f", rayleigh, got);
}
static void test_cavity(void **state) {
  (void)state;
  meets(1e3, 1.118, 24, 30, "double");
  meets(1e3, 1.118, 24, 30, "single");
}
static void test_cavity_fine(void **state) {
  (void)state;
  meets(1e4, 2.243, 40, 60, "double");
}
/* Temperatures that are all 300 higher change only rounding: of 300 in the start, 6e-14, which a flow to rest does not
 * enlarge. (Compression by some 1e-4 would else change them by 0.03.) */
static void test_offset(void **state) {
  (void)state;
  const double low = cavity(1e3, 16, 5, "double", 0), high = cavity(1e3, 16, 5, "double", 300);
  if (!(fabs(high - low) < 1e-11)) fail_msg("Nusselt numbers %.15g, %.15g", low, high);
}

static void test_cavity_large(void **state) {
  (void)state;
  meets(1e5, 4.519, 96, 120, "double");
}

/* Rate at which rolls between two plates grow, in units of D/height^2. They are one height wide each, with the
 * wavenumber pi; the critical ones have 3.117 (Chandrasekhar, Hydrodynamic and Hydromagnetic Stability, 1961, chapter
 * 2), and the marginal Rayleigh number of pi is above 1707.76 by 0.148 (pi - 3.117)^2 of it, 0.01 %. The kinetic energy
 * grows twice as fast; other modes decay by exp(-30 t) or faster. Pressure changes the density by 0.1 % at most. */
static double growth(double rayleigh, int n) {
  flow f;
  double speed[2];
  char text[1024];
  snprintf(text, sizeof text,
           "local Ra, n = %g, %d\n"
           "return sim.fluid { precision = 'double', grid = { n = {n, n}, size = {1, 1}, x = 'slip', y = 'wall' },\n"
           "  viscosity = 1, speed = 40, heat = { diffusivity = 1, expansion = Ra, gravity = {0, -1},\n"
           "  y_low = 1, y_high = 0, reference = 0.5,\n"
           "  initial = function(x, y) return 1 - y + 1e-5 * math.cos(math.pi * x) * math.sin(math.pi * y) end },\n"
           "  initial = function(x, y) return 0, 0, Ra * (y - y^2) / 2 end,\n"
           "  integrate = { dt = 0.03 / n^2, t_end = 100 } }",
           rayleigh, n);
  flow_open(&f, text, sim_isa_best(), 2, NULL);
  const int64_t part = (int64_t)(0.5 / f.clock.dt);
  for (int i = 0; i < 2; i++) {
    flow_steps(&f, part);
    speed[i] = flow_value(&f, "flow", "kinetic");
  }
  const double rate = log(speed[1] / speed[0]) / (2 * (double)part * f.clock.dt);
  print_message("Ra %g, %d cells: rolls grow at %.4f\n", rayleigh, n, rate);
  flow_close(&f);
  return rate;
}

/* Returns the Rayleigh number at which rolls neither grow nor decay, on the straight line between rates at 3 % below
 * and above. */
static double critical(int n) {
  const double low = 1650, high = 1760, below = growth(low, n), above = growth(high, n);
  const double out = low - below * (high - low) / (above - below);
  print_message("critical Rayleigh number %.2f\n", out);
  if (!(below < 0 && above > 0)) fail_msg("rates %.4f, %.4f", below, above);
  return out;
}

/* Rolls decay below the critical Rayleigh number and grow above it. Its error is the grid's, of second order: the
 * mode's (pi/n)^2/12 for each of the four derivatives of a wave of half a length n, 0.8 %, at 20 cells; 1.5 % with
 * sides. */
static void test_critical(void **state) {
  (void)state;
  const double got = critical(20);
  if (!(fabs(got / 1707.76 - 1) < 0.015)) fail_msg("critical at %.2f", got);
}

/* Two grids, and the extrapolation to a grid without error: a quarter of the error remains, and the next order of it is
 * some (pi/n)^2 = 2 % of the error of 20 cells, 3e-4 with the 1e-4 of the wavelength. */
static void test_critical_large(void **state) {
  (void)state;
  const double coarse = critical(20), fine = critical(40), end = fine + (fine - coarse) / 3;
  print_message("extrapolated: %.2f\n", end);
  if (!(fabs(end / 1707.76 - 1) < 1e-3)) fail_msg("critical at %.2f, %.2f: %.2f", coarse, fine, end);
}

/* Threads, vectors and a restart give the same bits; temperature too. */
static void test_same(void **state) {
  (void)state;
  static const char *const text =
      "return sim.fluid { precision = '%s', grid = { n = {%s}, size = {%s}, y = 'wall', x = 'slip' },\n"
      "  viscosity = 0.02, speed = 1, heat = { diffusivity = 0.02, expansion = 1, gravity = {%s}, y_low = 1,\n"
      "  initial = function(x, y) return math.sin(7 * x + 3 * y) end }, integrate = { t_end = 100 } }";
  static const char *const grids[2][3] = {{"80, 60", "0.8, 0.6", "0.1, -1"},
                                          {"20, 20, 20", "0.5, 0.5, 0.5", "0.1, -1, 0.2"}};
  for (int i = 0; i < 4; i++) {
    char words[1024], digest[4][33];
    const char *const *g = grids[i / 2];
    flow f, again;
    snprintf(words, sizeof words, text, i % 2 ? "single" : "double", g[0], g[1], g[2]);
    flow_open(&f, words, sim_isa_best(), 1, NULL);
    flow_steps(&f, 40);
    flow_digest(&f, digest[0]);
    flow_close(&f);
    flow_open(&f, words, sim_isa_best(), 3, NULL);
    flow_steps(&f, 17);
    flow_digest(&f, digest[3]);
    flow_open(&again, words, sim_isa_best(), 2, &f.frame);
    flow_steps(&again, 23);
    flow_digest(&again, digest[1]);
    flow_close(&again);
    flow_steps(&f, 23);
    flow_digest(&f, digest[2]);
    flow_close(&f);
    assert_string_equal(digest[0], digest[1]);
    assert_string_equal(digest[0], digest[2]);
    assert_string_not_equal(digest[0], digest[3]);
  }
}

/* Runs to the end, with a row of `heat` after half of the time and at the end, and collects the warnings. */
static void listen(const char *diffusivity, const char *start, const char *more, flow_heard *h) {
  flow f;
  sim_plan plan = {0};
  char text[1024];
  snprintf(
      text, sizeof text,
      "return sim.fluid { grid = { n = {32, 32}, size = {1, 1} }, viscosity = 0.02, speed = 1,\n"
      "  initial = function(x, y) return 0.8, 0.4 end, heat = { diffusivity = %s, initial = function(x, y) %s end },\n"
      "  %s integrate = { t_end = 0.5 } }",
      diffusivity, start, more);
  *h = (flow_heard){0};
  assert_true(sim_log_add(flow_hear, h));
  flow_open(&f, text, sim_isa_best(), 1, NULL);
  assert_int_equal(fluid_model.plan(f.p, &f.setup, &plan), SIM_OK);
  const double with = plan.work_rate_guess;
  f.p->heat.given = false;
  assert_int_equal(fluid_model.plan(f.p, &f.setup, &plan), SIM_OK);
  f.p->heat.given = true;
  if (!(with < plan.work_rate_guess / 1.5)) /* heat takes at least half as long as the flow */
    fail_msg("%g cells a second with heat, %g without", with, plan.work_rate_guess);
  for (int half = 0; half < 2; half++) {
    while (f.clock.t < f.clock.t_end * (half + 1) / 2) flow_steps(&f, 1);
    (void)flow_value(&f, "heat", "mean");
  }
  flow_close(&f);
  sim_log_remove(flow_hear, h);
}

/* A cell Peclet number above 20 is reported before the run, and in the run, once, temperatures that no diffusion
 * produces. */
static void test_overshoot(void **state) {
  (void)state;
  static const char *const jump = "return sim.where(sim.lt((x - 0.5)^2 + (y - 0.5)^2, 0.04), 1, 0)";
  flow_heard h;
  listen("1 / 32 / 40", jump, "", &h);
  const char *first = strstr(h.text, "cell Peclet number speed dx/diffusivity is 40:");
  const char *told = strstr(h.text, "a temperature is beyond those of the start");
  if (!first || !told || strstr(told + 1, "a temperature is beyond")) fail_msg("%s", h.text);
  assert_non_null(strstr(first, "expected about 64 cells along x"));
  listen("1 / 32 / 40", jump, "turbulence = { smagorinsky = 0.1 },", &h); /* eddies do not remove it */
  assert_non_null(strstr(h.text, "cell Peclet number speed dx/diffusivity is 40:"));
  listen("1 / 32 / 4", jump, "", &h);
  assert_string_equal(h.text, "");
  listen("1 / 32 / 4", "return 0 * x + 3", "", &h); /* all the same temperature */
  assert_string_equal(h.text, "");
}

/* Where the fluid passes a side, a reference 3 times as far from all temperatures as these are apart is told. */
static void test_far(void **state) {
  (void)state;
  for (int far = 0; far < 2; far++) {
    flow_heard h = {0};
    flow f;
    sim_plan plan = {0};
    char text[512];
    snprintf(
        text, sizeof text,
        "return sim.fluid { grid = { n = {16, 16}, size = {1, 1}, boundary = 'wall' }, viscosity = 0.1, speed = 1,\n"
        "  sides = { x_low = { velocity = {0.5, 0} }, x_high = { pressure = 0 } },\n"
        "  heat = { diffusivity = 0.1, x_low = 3, y_low = 4, reference = %d }, integrate = { t_end = 1 } }",
        far ? 0 : 2);
    flow_open(&f, text, sim_isa_best(), 1, NULL);
    assert_true(sim_log_add(flow_hear, &h));
    assert_int_equal(fluid_model.plan(f.p, &f.setup, &plan), SIM_OK);
    sim_log_remove(flow_hear, &h);
    assert_int_equal(strstr(h.text, "heat.reference: is 3 times as far") != NULL, far);
    flow_close(&f);
  }
}

/* A GPU has heat as well. */
static void test_devices(void **state) {
  (void)state;
  char lacks[256] = "";
  flow f;
  flow_run(&f, "return sim.fluid { grid = { n = {8, 8}, size = {1, 1} }, viscosity = 0.1, speed = 1,\n"
               "  heat = { diffusivity = 0.1 }, integrate = { t_end = 0.1 } }");
  assert_true(fluid_model.supports(f.p, SIM_BACKEND_CUDA, lacks, sizeof lacks));
  flow_close(&f);
  /* What populations have on the CPU alone. */
  static const char *const keys[] = {
      "heat = { diffusivity = 0.1 }", "sides = { x_high = { pressure = 0, sponge = 0.5 } }",
      "bodies = { sim.ball { point = {0.5, 0.5, 0}, radius = 0.2, velocity = {0.1, 0, 0} } }"};
  static const char *const what[] = {"`heat` with collision = \"trt\" is", "a `sponge` with collision = \"trt\" is",
                                     "a body that moves with collision = \"trt\" is"};
  for (int i = 0; i < 3; i++) {
    flow_run(&f,
             "return sim.fluid { collision = 'trt', grid = { n = {16, 16}, size = {1, 1}, x = 'wall' }, speed = 1,\n"
             "  viscosity = 0.1, %s, integrate = { t_end = 0.01 } }",
             keys[i]);
    assert_true(fluid_model.supports(f.p, SIM_BACKEND_CPU, lacks, sizeof lacks));
    assert_false(fluid_model.supports(f.p, SIM_BACKEND_CUDA, lacks, sizeof lacks));
    assert_string_equal(lacks, what[i]);
    flow_close(&f);
  }
}

/* Flows by two relaxation times, of populations. */
static int by_populations(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_moving_wave), cmocka_unit_test(test_fall),
                                     cmocka_unit_test(test_budget), cmocka_unit_test(test_cavity_fine),
                                     cmocka_unit_test(test_same)};
  flow_with = "collision = 'trt',";
  return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(int count, char **words) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_conduction),  cmocka_unit_test(test_wave),      cmocka_unit_test(test_budget),
      cmocka_unit_test(test_moving_wave), cmocka_unit_test(test_fall),      cmocka_unit_test(test_cavity),
      cmocka_unit_test(test_cavity_fine), cmocka_unit_test(test_offset),    cmocka_unit_test(test_critical),
      cmocka_unit_test(test_same),        cmocka_unit_test(test_overshoot), cmocka_unit_test(test_far),
      cmocka_unit_test(test_devices)};
  const struct CMUnitTest large[] = {cmocka_unit_test(test_critical_large), cmocka_unit_test(test_cavity_large)};
  if (count > 1 && strcmp(words[1], "long") == 0) return cmocka_run_group_tests(large, NULL, NULL);
  if (count > 1) cmocka_set_test_filter(words[1]);
  return cmocka_run_group_tests(tests, NULL, NULL) + by_populations();
}
