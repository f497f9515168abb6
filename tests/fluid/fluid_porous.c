/* Porous media: solid cells from a file, and media that resist the flow. */
#include "tests/fluid/driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void near_to(double got, double expected, double tolerance, const char *what) {
  if (!(fabs(got - expected) <= tolerance))
    fail_msg("%s: got %.15g, expected %.15g within %.1e (off by %.2e)", what, got, expected, tolerance, got - expected);
}

/* A channel filled with a medium of permeability K (Brinkman): u = g/r (1 - cosh((y - H/2)/l)/cosh(H/(2 l))) with
 * r = viscosity/K and l = sqrt(K). The greatest error over g/r. */
static double brinkman(int rank, int n, double length) {
  const double viscosity = 0.1, r = viscosity / (length * length), g = 0.02 * r;
  double most = 0;
  flow f;
  flow_run(
      &f,
      "local three, n, r, g = %s, %d, %.17g, %.17g\n"
      "return sim.fluid { grid = { n = three and {3, n, 4} or {4, n}, size = three and {3/n, 1, 4/n} or {4/n, 1},\n"
      "    y = 'wall' }, viscosity = 0.1, speed = 0.1, collision = 'trt',\n"
      "  acceleration = three and {0, 0, g} or {g, 0}, resistance = function(x, y, z) return r end,\n"
      "  integrate = { dt = 0.5 / n^2, t_end = 8 } }",
      rank == 3 ? "true" : "false", n, r, g);
  for (int i = 0; i < n; i++) {
    const double y = (i + 0.5) / n, u = flow_field(&f, rank == 3 ? "velocity/z" : "velocity/x", 1, i, 0);
    most = fmax(most, fabs(u / (g / r) - (1 - cosh((y - 0.5) / length) / cosh(0.5 / length))));
  }
  flow_close(&f);
  return most;
}

/* Of second order in the width of a cell over l, with the factor 1/24 of the fourth derivative and as much of the wall.
 */
static void test_brinkman(void **state) {
  (void)state;
  double error[2];
  for (int rank = 2; rank <= 3; rank++) {
    for (int i = 0; i < 2; i++) error[i] = brinkman(rank, 12 << i, 0.2);
    print_message("%d axes: %.3e, %.3e\n", rank, error[0], error[1]);
    near_to(error[0], 0, 0.5 / 2.4 / 2.4 / 12, "Brinkman");
    if (!(fabs(log2(error[0] / error[1]) - 2) < 0.3)) fail_msg("order %.2f", log2(error[0] / error[1]));
  }
}

/* Without walls a medium of resistance r has the velocity g/r (Darcy): exact, and so is the permeability of the table.
 * Where it fills half of a layered box, along the layers, each layer has its own flow far from the other one. */
static void test_darcy(void **state) {
  (void)state;
  flow f;
  flow_run(&f, "return sim.fluid { grid = { n = {6, 6, 6}, size = {6, 6, 6} }, viscosity = 0.1, speed = 0.1,\n"
               "  collision = 'trt', acceleration = {0.002, -0.001, 0.002}, resistance = function() return 0.05 end,\n"
               "  integrate = { dt = 1, t_end = 800 } }");
  near_to(flow_field(&f, "velocity/x", 1, 2, 3), 0.04, 1e-14, "Darcy");
  near_to(flow_field(&f, "velocity/y", 1, 2, 3), -0.02, 1e-14, "Darcy");
  near_to(flow_value(&f, "porous", "darcy_z"), 0.04, 1e-14, "mean");
  near_to(flow_value(&f, "porous", "permeability"), 0.1 / 0.05, 1e-12, "permeability");
  near_to(flow_value(&f, "porous", "porosity"), 1, 0, "porosity");
  flow_close(&f);
}

/* Resistance and mass: a pulse of pressure in a medium at rest conserves the mass, and the start has the given
 * velocity. */
static void test_start(void **state) {
  (void)state;
  flow f;
  flow_open(&f,
            "return sim.fluid { grid = { n = {10, 10}, size = {10, 10} }, viscosity = 0.1, speed = 0.1,\n"
            "  collision = 'trt', initial = function(x, y) return 0.05, -0.02, 0.001 * math.sin(x * math.pi / 5) end,\n"
            "  resistance = function(x, y) return 0.4 * sim.step(x - 5) end, integrate = { dt = 1, t_end = 800 } }",
            sim_isa_best(), 2, NULL);
  flow_look(&f);
  near_to(flow_field(&f, "velocity/x", 8, 2, 0), 0.05, 1e-15, "start");
  near_to(flow_field(&f, "velocity/y", 1, 2, 0), -0.02, 1e-15, "start");
  const double mass = flow_value(&f, "flow", "mass");
  flow_steps(&f, 300);
  near_to(flow_value(&f, "flow", "mass"), mass, 1e-12, "mass");
  flow_close(&f);
}

static void remark_of(flow *f, int steps, sim_bytes *out) {
  *out = (sim_bytes){0};
  flow_steps(f, steps);
  (void)flow_value(f, "porous", "permeability");
  fluid_model.remark(f->self, &f->clock, out);
}

/* From rest a medium of resistance r has the flow 1 - exp(-r t), with r = 0.05: from t = 20 to 22 it gains 5 %, and in
 * the time of the run at this rate 22/2 times that; from 400 to 402 2e-10. */
static void test_steady(void **state) {
  (void)state;
  flow f;
  sim_bytes remark;
  flow_open(
      &f,
      "return sim.fluid { grid = { n = {6, 6}, size = {6, 6} }, viscosity = 0.1, speed = 0.1, collision = 'trt',\n"
      "  acceleration = {0.002, 0}, resistance = function() return 0.05 end,\n"
      "  integrate = { dt = 1, t_end = 800 } }",
      sim_isa_best(), 2, NULL);
  remark_of(&f, 20, &remark);
  assert_true(remark.size == 0);
  remark_of(&f, 2, &remark);
  if (!remark.data || !strstr(remark.data, "the permeability is not steady")) fail_msg("a flow that still changes");
  const double part = strtod(strstr(remark.data, "changes by ") + strlen("changes by "), NULL);
  near_to(part, 100 * 11 * (1 - (1 - exp(-1)) / (1 - exp(-1.1))), 6, "change"); /* two digits, and the first step */
  sim_bytes_free(&remark);
  remark_of(&f, 378, &remark);
  sim_bytes_free(&remark);
  remark_of(&f, 2, &remark);
  assert_true(remark.size == 0);
  flow_close(&f);
}

/* ---- solid cells ---- */

static double (*solid_at)(int64_t x, int64_t y, int64_t z);
static int reads;
static sim_status made_up(const sim_grid_source *source, double *values) {
  int number = 0;
  const char *name = strrchr(source->path, '/');
  (void)sscanf(name ? name + 1 : source->path, "slice%d", &number);
  reads++;
  for (int64_t i = 0; values && i < source->n[0] * source->n[1] * source->n[2]; i++)
    values[i] = solid_at(i % source->n[0], i / source->n[0] % source->n[1],
                         source->rank == 2 ? number : i / source->n[0] / source->n[1]);
  return SIM_OK;
}

static void run_solid(flow *f, const char *text, int threads, const sim_frame *saved, bool reads_files) {
  flow_begin(f, text, &sim_backend_cpu, threads, saved, reads_files ? made_up : NULL);
}

static double block(int64_t x, int64_t y, int64_t z) {
  return x >= 3 && x < 8 && y >= 2 && y < 7 && z >= 1 && z < 5 ? 0.75 : 0.25;
}

/* Solid cells equal the scenario's block whose faces are the sides of these cells, except for its links at edges, which
 * the block cuts where they reach it: both are half-way. The same flow to roundings. */
static void test_block(void **state) {
  (void)state;
  static const char *const shapes[] = {"solid = { path = 'slice%02d.png', first = 0 }", "solid = { path = 'a.h5' }",
                                       "bodies = { sim.block { low = {3, 2, 1}, high = {8, 7, 5} } }"};
  static const char *const kinds[] = {"", "collision = 'trt',"};
  solid_at = block;
  for (int k = 0; k < 2; k++) {
    double got[3], speed[3];
    for (int i = 0; i < 3; i++) {
      char text[1024];
      flow f;
      snprintf(text, sizeof text,
               "return sim.fluid { grid = { n = {12, 10, 6}, size = {12, 10, 6}, z = 'slip' }, viscosity = 0.1, speed "
               "= 0.1,\n"
               "  %s acceleration = {1e-4, 2e-5, 0}, %s, integrate = { dt = 1, t_end = 300 } }",
               kinds[k], shapes[i]);
      reads = 0;
      run_solid(&f, text, 2, NULL, true);
      assert_int_equal(reads, i == 0 ? 6 : i == 1 ? 1 : 0);
      flow_steps(&f, 300);
      flow_look(&f);
      got[i] = flow_value(&f, "flow", "momentum_x");
      speed[i] = flow_field(&f, "velocity/y", 2, 3, 4);
      if (i < 2) {
        near_to(flow_value(&f, "porous", "porosity"), 1 - 100.0 / 720, 1e-15, "porosity");
        const double along = got[i] * 1e-4 + flow_value(&f, "flow", "momentum_y") * 2e-5;
        near_to(flow_value(&f, "porous", "permeability"), 0.1 * along / 720 / (1e-8 + 4e-10), 1e-12, "permeability");
      }
      flow_close(&f);
    }
    near_to(got[0], got[1], 0, "a stack and an array");
    near_to(got[0], got[2], 1e-9 * got[2], "momentum");
    near_to(speed[0], speed[2], 1e-9 * fabs(speed[2]), "velocity");
  }
}

static double plate(int64_t x, int64_t y, int64_t z) {
  (void)x;
  (void)z;
  return y < 3 || y >= 11 ? 0 : 1; /* dark */
}

/* Between two solid layers 8 cells apart the parabola is exact, and the permeability 8^3/12/16 of the box of 16 cells.
 */
static void test_plates(void **state) {
  (void)state;
  flow f;
  solid_at = plate;
  run_solid(
      &f,
      "return sim.fluid { grid = { n = {4, 16}, size = {4, 16} }, viscosity = 0.5, speed = 0.1, collision = 'trt',\n"
      "  acceleration = {1e-4, 0}, solid = { path = 'a.png', dark = true, threshold = 0.5 },\n"
      "  integrate = { dt = 1, t_end = 1200 } }",
      2, NULL, true);
  flow_steps(&f, 1200);
  near_to(flow_value(&f, "porous", "permeability"), 8.0 * 8 * 8 / 12 / 16 * (1 + 0.5 / 64), 1e-10, "plates");
  flow_close(&f);
}

/* The permeability that inertia takes: none is told of a slow flow past a block; of a faster one no less is told than
 * the permeability has lost of the slow one's. */
static void test_inertia(void **state) {
  (void)state;
  double permeability[3], told[3] = {0};
  solid_at = block;
  for (int i = 0; i < 3; i++) {
    flow f;
    sim_bytes remark;
    char text[512];
    snprintf(text, sizeof text,
             "return sim.fluid { grid = { n = {12, 10, 6}, size = {12, 10, 6} }, viscosity = 0.02, speed = 0.1,\n"
             "  collision = 'trt', acceleration = {%g, 0, 0}, solid = { path = 'a.h5' },\n"
             "  integrate = { dt = 1, t_end = 4000 } }",
             i == 0   ? 1e-7
             : i == 1 ? 2e-5
                      : 1e-4);
    run_solid(&f, text, 2, NULL, true);
    remark_of(&f, 3000, &remark);
    permeability[i] = flow_value(&f, "porous", "permeability");
    const double u = flow_value(&f, "porous", "darcy_x"), reynolds = u * sqrt(permeability[i]) / 0.02;
    assert_int_equal(remark.data != NULL && strstr(remark.data, "inertia may take") != NULL, i > 0);
    if (i > 0) {
      told[i] = strtod(strstr(remark.data, "up to some ") + strlen("up to some "), NULL) / 100;
      near_to(told[i], 0.55 * reynolds * reynolds, 0.05 * told[i], "told"); /* two digits; reynolds < 1 */
    }
    sim_bytes_free(&remark);
    flow_close(&f);
  }
  for (int i = 1; i < 3; i++) {
    const double lost = 1 - permeability[i] / permeability[0];
    print_message("    told %.3g, lost %.3g\n", told[i], lost);
    if (!(lost > 0 && lost < told[i]))
      fail_msg("drive %d: %.3g of the permeability is lost, %.3g told", i, lost, told[i]);
  }
  if (!(1 - permeability[2] / permeability[0] > 0.01)) fail_msg("the faster flow loses nothing that matters");
}

/* A run continues without its files, and with the same bits on other threads; with a resistance too. */
static void test_restart(void **state) {
  (void)state;
  static const char text[] =
      "return sim.fluid { precision = 'single', grid = { n = {40, 22, 24}, size = {4, 2.2, 2.4}, boundary = 'wall',\n"
      "    y = 'slip' }, viscosity = 0.03, speed = 1, collision = 'trt',\n"
      "  sides = { x_low = { pressure = 0.05 }, x_high = { pressure = 0 } }, solid = { path = 'slice%d.png' },\n"
      "  resistance = function(x, y, z) return 2 + math.sin(x) end, integrate = { t_end = 100 } }";
  char straight[33], resumed[33];
  flow f, g;
  solid_at = block;
  run_solid(&f, text, 1, NULL, true);
  flow_steps(&f, 11);
  flow_look(&f);
  run_solid(&g, text, 3, &f.frame, false);
  flow_steps(&f, 12);
  flow_digest(&f, straight);
  flow_steps(&g, 12);
  flow_digest(&g, resumed);
  assert_string_equal(straight, resumed);
  flow_close(&f);
  flow_close(&g);
}

int main(int count, char **words) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_brinkman), cmocka_unit_test(test_darcy),
                                     cmocka_unit_test(test_start),    cmocka_unit_test(test_block),
                                     cmocka_unit_test(test_plates),   cmocka_unit_test(test_restart),
                                     cmocka_unit_test(test_steady),   cmocka_unit_test(test_inertia)};
  if (count > 1) cmocka_set_test_filter(words[1]);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
