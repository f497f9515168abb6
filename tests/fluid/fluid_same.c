/* Invariants: mass, and the bits on other threads, vectors, and after a restart. */
#include "tests/fluid/driver.h"

#include "engine/log.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Every feature of a run: moving walls, slip, sides with a flow and a pressure, a body across a periodic side, a force.
 * 3-D and 2-D, of more than 7 * 2048 cells, so that 7 threads are used. `kind` is the precision. */
static const char *const texts[] = {
    "return sim.fluid { precision = kind, grid = { n = {40, 22, 24}, size = {4, 2.2, 2.4}, z = 'wall' },\n"
    "  viscosity = 0.03, speed = 1, acceleration = {0.1, 0, 0}, bodies = {\n"
    "    sim.ball { point = {0.3, 0.5, 1.2}, radius = 0.4, motion = function(t)\n"
    "      return -0.6, 0.3 * math.sin(20*t), 0.1 end },\n"
    "    sim.block { low = {2, 0.6, 0.3}, high = {2.7, 1.4, 0.6}, axis = {1, 1, 3}, pivot = {2.2, 0.9, 0.8},\n"
    "      turning = function(t) return sim.min(9*t, 1) end }, sim.ball { point = {3.4, 1, 1}, radius = 0.3 } },\n"
    "  integrate = { t_end = 100 } }",
    "return sim.fluid { precision = kind, grid = { n = {42, 20, 26}, size = {2.1, 1, 1.3}, z = 'wall' },\n"
    "  viscosity = 0.02, speed = 1, acceleration = {0.1, 0.05, 0}, sides = { z_high = { velocity = {0.5, 0.2, 0} } },\n"
    "  initial = function(x, y, z) return 0.2 * math.sin(3*x), 0, 0.1 * math.cos(5*y) end,\n"
    "  bodies = { sim.ball { point = {0.1, 0.5, 0.6}, radius = 0.3, spin = 1 },\n"
    "             sim.block { low = {1, 0.2, 0.3}, high = {1.3, 0.5, 0.6} } }, integrate = { t_end = 100 } }",
    "return sim.fluid { precision = kind, grid = { n = {185, 95}, size = {3.7, 1.9}, boundary = 'wall', y = 'slip' },\n"
    "  viscosity = 0.005, speed = 1, sides = { x_low = { velocity = {0.5, 0} }, x_high = { pressure = 0.1,\n"
    "    sponge = 0.6 } },\n"
    "  bodies = { sim.cylinder { point = {1, 1, 0}, radius = 0.33, spin = -1 } }, integrate = { t_end = 100 } }"};
enum { TEXTS = sizeof texts / sizeof *texts };

enum { STEPS_OF_DIGEST = 30 }; /* the first ball moves by a cell */

static void digest_of(const char *text, sim_isa isa, int threads, int steps, char out[33]) {
  flow f;
  flow_open(&f, text, isa, threads, NULL);
  flow_steps(&f, steps);
  flow_digest(&f, out);
  flow_close(&f);
}

/* One run for each number of threads, with another instruction set where there is one. Every operation rounds once, in
 * single too. */
static void test_threads(void **state) {
  static const struct {
    int threads;
    sim_isa isa;
  } cases[] = {{2, SIM_ISA_PLAIN}, {3, SIM_ISA_AVX2}, {7, SIM_ISA_AVX512}};
  (void)state;
  for (int i = 0; i < 2 * TEXTS; i++) {
    char text[1024], one[33], other[33];
    snprintf(text, sizeof text, "local kind = '%s' %s", i % 2 ? "single" : "double", texts[i / 2]);
    digest_of(text, sim_isa_best(), 1, STEPS_OF_DIGEST, one);
    for (int k = 0; k < 3; k++) {
      const sim_isa isa = cases[k].isa < sim_isa_best() ? cases[k].isa : sim_isa_best();
      digest_of(text, isa, cases[k].threads, STEPS_OF_DIGEST, other);
      if (strcmp(one, other) != 0)
        fail_msg("%s: %d threads, %s: other bits", text, cases[k].threads, sim_isa_name(isa));
    }
  }
}

/* States above 64 MiB, whose rows are written past the caches where vectors are lines of a cache: rows of whole vectors
 * and others, periodic and between walls, and each lattice. */
static void test_large(void **state) {
  (void)state;
  static const struct {
    const char *n, *sides, *keys;
  } cases[] = {{"96, 80, 80", "", "precision = 'single'"},
               {"108, 80, 80", "z = 'wall'", "precision = 'single', turbulence = { smagorinsky = 0.1 }"},
               {"64, 80, 88", "", "precision = 'double', acceleration = {0.1, 0, 0}"},
               {"96, 64, 64", "",
                "precision = 'single', collision = 'trt', bodies = {\n"
                "  sim.ball { point = {0.1, 0.5, 0.6}, radius = 0.3, spin = 1 } }"},
               {"110, 64, 64", "", "precision = 'single', collision = 'trt'"},
               {"100, 40, 44", "", "precision = 'double', collision = 'trt', lattice = 'D3Q27'"},
               {"96, 64, 64", "x = 'wall'",
                "precision = 'single', collision = 'trt', sides = { x_low = { velocity = {0, 0.2, 0} } }"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[1024], plain[33], other[33];
    snprintf(text, sizeof text,
             "local n = {%s} return sim.fluid { grid = { n = n, size = {n[1]/50, n[2]/50, n[3]/50}, %s }, %s,\n"
             "  viscosity = 0.02, speed = 1, initial = function(x, y, z)\n"
             "    return 0.2 * math.sin(math.pi*x), 0.1 * math.cos(9*z), 0.1 * math.cos(5*x) end,\n"
             "  integrate = { t_end = 100 } }",
             cases[i].n, cases[i].sides, cases[i].keys);
    digest_of(text, SIM_ISA_PLAIN, 2, 4, plain);
    digest_of(text, sim_isa_best(), 3, 4, other);
    if (strcmp(plain, other) != 0) fail_msg("%s: other bits", text);
  }
}

static void test_restart(void **state) {
  (void)state;
  for (int i = 0; i < TEXTS; i++) {
    char text[1024], straight[33], resumed[33];
    flow f, g;
    snprintf(text, sizeof text, "local kind = 'single' %s", texts[i]);
    digest_of(text, sim_isa_best(), 2, STEPS_OF_DIGEST, straight);
    flow_open(&f, text, sim_isa_best(), 2, NULL);
    flow_steps(&f, 11);
    flow_look(&f);
    flow_open(&g, text, sim_isa_best(), 3, &f.frame);
    flow_steps(&g, 19);
    flow_digest(&g, resumed);
    assert_string_equal(straight, resumed);
    flow_close(&f);
    flow_close(&g);
  }
}

/* A run continues from a step where a ball is hidden in another, and from one where it covers a probe: steps 900 and
 * 300. Its displacement is 12 (1 - cos(t/300)) cells: 5.5 and 23.9. */
static void test_covered(void **state) {
  (void)state;
  static const char text[] =
      "return sim.fluid { grid = { n = {44, 26}, size = {44, 26}, boundary = 'wall' }, viscosity = 0.1, speed = 0.15,\n"
      "  bodies = { sim.ball { point = {12, 13, 0}, radius = 10 }, sim.ball { point = {36, 13, 0}, radius = 4,\n"
      "    motion = function(t) return -0.04 * math.sin(t / 300), 0 end } }, probes = {{29.5, 13.5, 0}},\n"
      "  integrate = { dt = 1, t_end = 1000 } }";
  static const struct {
    int step;
    const char *column;
  } cases[] = {{300, "pressure_1"}, {900, "body2_fx"}};
  for (int i = 0; i < 2; i++) {
    char straight[33], resumed[33];
    flow f, g;
    flow_open(&f, text, sim_isa_best(), 2, NULL);
    flow_steps(&f, cases[i].step);
    flow_look(&f);
    assert_true(flow_value(&f, i == 0 ? "probes" : "bodies", cases[i].column) == 0);
    flow_open(&g, text, sim_isa_best(), 2, &f.frame);
    flow_steps(&g, 1000 - cases[i].step);
    flow_digest(&g, resumed);
    flow_steps(&f, 1000 - cases[i].step);
    flow_digest(&f, straight);
    assert_string_equal(straight, resumed);
    flow_close(&f);
    flow_close(&g);
  }
}

/* In a closed box each step rounds sums of the cells' densities, of 2^-53 or 2^-24 a cell: after s steps of independent
 * roundings of a few operations the mean density is off by about 3 eps sqrt(s/cells) and, where roundings lean to one
 * side, by at most a hundredth of eps a step. */
static void test_mass(void **state) {
  (void)state;
  static const char *const precision[] = {"double", "single"};
  const double eps[] = {0x1p-53, 0x1p-24};
  enum { STEPS = 3000 };
  for (int k = 0; k < 2; k++) {
    flow f;
    char text[1024];
    snprintf(
        text, sizeof text,
        "return sim.fluid { precision = '%s', grid = { n = {12, 12, 12}, size = {1, 1, 1}, boundary = 'wall' },\n"
        "  viscosity = 0.01, speed = 1, sides = { y_high = { velocity = {1, 0, 0} } }, integrate = { t_end = 1e6 } }",
        precision[k]);
    flow_open(&f, text, sim_isa_best(), 2, NULL);
    flow_steps(&f, STEPS);
    const double mass = flow_value(&f, "flow", "mass");
    if (!(fabs(mass - 1) <= STEPS * eps[k] / 100)) fail_msg("%s: the mass is off by %.3e", precision[k], mass - 1);
    flow_close(&f);
  }
}

/* A coarse disc, whose interpolated links alone would lose percents of the mass in a thousand steps, and one that
 * turns. Their loss is returned in the same step. The rounding of each cell remains, as above, of densities of 1e-2. */
static void test_mass_at_bodies(void **state) {
  (void)state;
  static const char *const precision[] = {"double", "single"};
  const double eps[] = {0x1p-53, 0x1p-24};
  enum { STEPS = 20000 };
  for (int k = 0; k < 2; k++) {
    flow f;
    char text[1024];
    snprintf(text, sizeof text,
             "return sim.fluid { precision = '%s', grid = { n = {20, 12}, size = {20, 12} }, viscosity = 0.02,\n"
             "  speed = 0.1, mach = 0.3, acceleration = {0.0005, 0.0002}, integrate = { t_end = 1e9 }, bodies = {\n"
             "    sim.ball { point = {5.2, 6.1, 0}, radius = 3.3 },\n"
             "    sim.ball { point = {15.3, 6.4, 0}, radius = 2.7, spin = 0.02 } } }",
             precision[k]);
    flow_open(&f, text, sim_isa_best(), 2, NULL);
    const double before = flow_value(&f, "flow", "mass");
    flow_steps(&f, STEPS);
    const double change = flow_value(&f, "flow", "mass") / before - 1;
    if (!(fabs(change) <= STEPS * eps[k] / 100)) fail_msg("%s: the mass is off by %.3e", precision[k], change);
    flow_close(&f);
  }
}

/* A vortex above a plate, whose surface is a fifth of a cell away from half-way between cells. The mass that its links
 * take above is returned above, and the fluid below stays at rest, where every sum is exact. */
static void test_mass_beside_plate(void **state) {
  (void)state;
  flow f;
  double greatest = 0;
  flow_open(
      &f,
      "return sim.fluid { grid = { n = {24, 24}, size = {24, 24}, x = 'periodic', y = 'wall' }, viscosity = 0.1,\n"
      "  speed = 1, initial = function(x, y)\n"
      "    local k = math.pi / 12\n"
      "    return sim.where(sim.gt(y, 14), math.sin(k*x) * math.sin(k*y), 0), sim.where(sim.gt(y, 14), math.cos(k*x), "
      "0) end,\n"
      "  bodies = { sim.block { low = {-1, 9.8, 0}, high = {25, 13.2, 0} } }, integrate = { t_end = 10 } }",
      sim_isa_best(), 2, NULL);
  flow_steps(&f, 200);
  flow_look(&f);
  for (int64_t y = 0; y < 10; y++)
    for (int64_t x = 0; x < 24; x++) greatest = fmax(greatest, fabs(flow_field(&f, "pressure", x, y, 0)));
  assert_true(greatest == 0);
  flow_close(&f);
}

/* A relaxation time next to 1/2 and a jet: the failure names cell, time and cause. */
static void test_unstable(void **state) {
  (void)state;
  flow f;
  sim_status status = SIM_OK;
  flow_open(&f,
            "return sim.fluid { grid = { n = {32, 32}, size = {1, 1}, x = 'periodic', y = 'wall' },\n"
            "  viscosity = 1.3e-5, speed = 0.1, mach = 0.3, acceleration = {2000, 0}, integrate = { t_end = 100 } }",
            sim_isa_best(), 2, NULL);
  while (status == SIM_OK && f.clock.step < 20000) status = fluid_model.step(f.self, &f.clock);
  assert_int_equal(status, SIM_ERR_DIVERGED);
  assert_non_null(strstr(sim_error_last()->message, "unstable"));
  assert_non_null(strstr(sim_error_last()->message, "cell {"));
  flow_close(&f);
}

/* Returns how often a text is among the warnings. */
static int times(const flow_heard *h, const char *text) {
  int count = 0;
  for (const char *at = strstr(h->text, text); at; at = strstr(at + 1, text)) count++;
  return count;
}

/* A force drives a uniform flow of one velocity: Mach number sqrt(3) g t after t steps, so that a step after 0.3 tells,
 * the first after 0.5 fails, and the remark of the run says so. Every precision, vector and rank has its own text. */
static void test_mach(void **state) {
  (void)state;
  for (int i = 0; i < 4; i++) {
    char text[512];
    flow f;
    sim_bytes remark = {0};
    sim_status status = SIM_OK;
    snprintf(text, sizeof text,
             "local three = %s\n"
             "return sim.fluid { precision = '%s', grid = { n = three and {19, 4, 4} or {19, 4},\n"
             "    size = three and {19, 4, 4} or {19, 4} }, viscosity = 0.1, speed = 0.1,\n"
             "  acceleration = three and {0, 0.001, 0} or {0, 0.001}, integrate = { dt = 1, t_end = 1000 } }",
             i / 2 ? "true" : "false", i % 2 ? "single" : "double");
    flow_heard h = {0};
    flow_open(&f, text, i % 2 ? sim_isa_best() : SIM_ISA_PLAIN, 1, NULL);
    assert_true(sim_log_add(flow_hear, &h));
    while (status == SIM_OK && f.clock.step < 1000) {
      status = fluid_model.step(f.self, &f.clock);
      const double speed = 0.001 * (double)f.clock.step; /* rounding decides the step at which it is passed exactly */
      if (status == SIM_OK) assert_true(sqrt(3) * speed <= 0.5 * (1 + 1e-5));
      assert_int_equal(times(&h, "Mach number 0.3"), sqrt(3) * speed > 0.3 * (1 + 1e-5));
    }
    sim_log_remove(flow_hear, &h);
    assert_int_equal(status, SIM_ERR_DIVERGED);
    assert_int_equal(f.clock.step, 289); /* 0.5/sqrt(3) = 0.28868 */
    assert_non_null(strstr(sim_error_last()->message, "Mach number 0.501, in cell {0, 0, 0}"));
    fluid_model.remark(f.self, &f.clock, &remark);
    assert_non_null(strstr(remark.data, "the Mach number was above 0.3"));
    assert_non_null(strstr(remark.data, "step 174")); /* 0.3/sqrt(3) = 0.17321 */
    sim_bytes_free(&remark);
    flow_close(&f);
  }
}

/* A run that is resumed after its Mach number has passed 0.3 does not warn again, and its remark names the same step
 * and cell; its digest is that of the uninterrupted run. A checkpoint whose step or cell cannot be is refused. */
static void test_remark(void **state) {
  (void)state;
  static const char text[] =
      "return sim.fluid { grid = { n = {19, 4}, size = {19, 4} }, viscosity = 0.1, speed = 0.1,\n"
      "  initial = function(x, y) return 0, 0.01 * math.sin(2 * math.pi * x / 19) end,\n"
      "  acceleration = {0, 0.001}, integrate = { dt = 1, t_end = 1000 } }";
  flow f, g;
  sim_bytes straight = {0}, resumed = {0};
  char digest[2][33];
  flow_heard h = {0};
  flow_open(&f, text, sim_isa_best(), 1, NULL);
  flow_steps(&f, 200);
  flow_look(&f);
  assert_true(sim_log_add(flow_hear, &h));
  flow_open(&g, text, sim_isa_best(), 1, &f.frame);
  flow_steps(&g, 20);
  sim_log_remove(flow_hear, &h);
  assert_string_equal(h.text, "");
  flow_digest(&g, digest[1]);
  fluid_model.remark(g.self, &g.clock, &resumed);
  flow_close(&g);
  double first[3];
  const sim_array *fast = sim_frame_array(&f.frame, "fast");
  assert_non_null(fast);
  memcpy(first, fast->data, sizeof first);
  for (int i = 0; i < 3; i++) {
    memcpy(fast->data, first, sizeof first);
    ((double *)fast->data)[i] = i == 1 ? -1 : 1000;
    sim_setup setup = f.setup;
    sim_clock clock;
    void *self;
    setup.saved = &f.frame;
    assert_int_equal(fluid_model.create(f.p, &setup, &clock, &self), SIM_ERR_INCOMPATIBLE);
  }
  memcpy(fast->data, first, sizeof first);
  flow_steps(&f, 20);
  flow_digest(&f, digest[0]);
  fluid_model.remark(f.self, &f.clock, &straight);
  flow_close(&f);
  assert_non_null(strstr(straight.data, "the Mach number was above 0.3"));
  assert_string_equal(straight.data, resumed.data);
  assert_string_equal(digest[0], digest[1]);
  sim_bytes_free(&straight);
  sim_bytes_free(&resumed);
}

/* Runs to the end, with a row of `flow` after half of the time; optionally resumes there. */
static void listen(const char *text, bool resume, flow_heard *h) {
  flow f, g;
  sim_plan plan = {0};
  *h = (flow_heard){0};
  assert_true(sim_log_add(flow_hear, h));
  flow_open(&f, text, sim_isa_best(), 2, NULL);
  must(fluid_model.plan(f.p, &f.setup, &plan), "plan");
  while (f.clock.t < f.clock.t_end / 2) flow_steps(&f, 1);
  if (resume) {
    flow_look(&f);
    flow_open(&g, text, sim_isa_best(), 2, &f.frame);
    flow_steps(&g, INT64_MAX);
    (void)flow_value(&g, "flow", "mass");
    flow_close(&g);
  } else {
    (void)flow_value(&f, "flow", "mass");
    flow_steps(&f, INT64_MAX);
    (void)flow_value(&f, "flow", "mass");
  }
  flow_close(&f);
  sim_log_remove(flow_hear, h);
}

/* A coarse disc in a flow that a force drives above Mach number 0.3 after half of the time: told once, with cell and
 * time, and of a resumed run too; no table is asked for there. */
static void test_warnings(void **state) {
  (void)state;
  flow_heard h;
  for (int resume = 0; resume < 2; resume++) {
    listen("return sim.fluid { grid = { n = {20, 12}, size = {20, 12} }, viscosity = 0.02, speed = 0.1, mach = 0.3,\n"
           "  acceleration = {0.0005, 0.0002}, bodies = { sim.ball { point = {10.2, 6.1, 0}, radius = 3.3 } },\n"
           "  integrate = { t_end = 260 } }",
           resume, &h);
    assert_int_equal(times(&h, "the mass has changed"), 0);
    assert_int_equal(times(&h, "compressibility errors of order mach^2"), 1);
    assert_int_equal(times(&h, ", in cell {"), 1);
    assert_int_equal(times(&h, "bodies[1]: is 6.6 cells wide"), 1);
  }
  listen("return sim.fluid { precision = 'single', grid = { n = {16, 6}, size = {16, 6}, y = 'wall' },\n"
         "  viscosity = 0.02, speed = 0.1, mach = 0.01, acceleration = {1e-7, 0}, integrate = { t_end = 1 } }",
         false, &h);
  assert_int_equal(times(&h, "walls along y are 6 cells apart"), 1);
  listen("return sim.fluid { grid = { n = {32, 32}, size = {1, 1}, boundary = 'wall' }, viscosity = 0.01, speed = 1,\n"
         "  sides = { y_high = { velocity = {1, 0} } }, integrate = { t_end = 1 } }",
         false, &h);
  assert_string_equal(h.text, "");
}

/* Gaps below 3 cells are reported once a pair. Bodies that overlap, or stand in a wall, have none. */
static void test_gaps(void **state) {
  (void)state;
  static const char *const format =
      "return sim.fluid { grid = { n = {64, 40}, size = {64, 40}, y = 'wall' }, viscosity = 0.1, speed = 0.1,\n"
      "  bodies = { sim.ball { point = {20.2, %g, 0}, radius = 8 }, sim.ball { point = {%g, 20, 0}, radius = 8 },\n"
      "             sim.block { low = {50, -1, 0}, high = {58, 9, 0} } }, integrate = { t_end = 1e-9 } }";
  flow_heard h;
  char text[1024];
  snprintf(text, sizeof text, format, 20.0, 38.0); /* 1.8 cells between the balls */
  listen(text, false, &h);
  assert_int_equal(times(&h, "the gap between them"), 1);
  assert_int_equal(times(&h, "bodies[1] and bodies[2]: the gap between them is 1.8 cells wide"), 1);
  snprintf(text, sizeof text, format, 10.5, 45.0); /* 2.5 cells to the wall */
  listen(text, false, &h);
  assert_int_equal(times(&h, "the gap between them"), 1);
  assert_int_equal(times(&h, "bodies[1] and the side y_low: the gap between them is 2.5 cells wide"), 1);
  snprintf(text, sizeof text, format, 20.0, 30.0); /* they overlap */
  listen(text, false, &h);
  assert_string_equal(h.text, "");
}

int main(int count, char **words) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_threads),
                                     cmocka_unit_test(test_large),
                                     cmocka_unit_test(test_restart),
                                     cmocka_unit_test(test_covered),
                                     cmocka_unit_test(test_mass),
                                     cmocka_unit_test(test_mass_at_bodies),
                                     cmocka_unit_test(test_mass_beside_plate),
                                     cmocka_unit_test(test_unstable),
                                     cmocka_unit_test(test_mach),
                                     cmocka_unit_test(test_remark),
                                     cmocka_unit_test(test_warnings),
                                     cmocka_unit_test(test_gaps)};
  if (count > 1) cmocka_set_test_filter(words[1]);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
