/* Fluids with functions of a scenario on the GPU, where they are compiled when a run begins, against those on the CPU;
 * restarts, guards. */
#include "tests/parity/fluid_functions.h"
#include "tests/fluid/driver.h"
#include "tests/gpu/gpu.h"
#include "tests/parity/fluid_compare.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const sim_backend *gpu;
static int first_text; /* of those that are run */

enum { TEXTS = sizeof function_texts / sizeof *function_texts, STEPS = 60, TEXT = 2048 };

static void text_of(int i, bool single, char out[TEXT]) {
  snprintf(out, TEXT, "local kind = '%s' %s", single ? "single" : "double", function_texts[i]);
}

/* How many steps' bounds a step has. A force rounds J and S once more, as another step does. Relaxation times are found
 * to 3e-8 of themselves, in double 1e-12. Where a search ends a round apart on the two devices, the stress, of |Q|
 * below 1e-2, is off by as much of it, in double 90 eps, of which a third moves into j as S does. */
static int rounds_of(const char *text, bool single) { return !single && strstr(text, "viscosity = function") ? 30 : 2; }

static void test_cpu(void **state) {
  (void)state;
  for (int i = 2 * first_text; i < 2 * TEXTS; i++) {
    char text[TEXT], what[64];
    text_of(i / 2, i % 2, text);
    snprintf(what, sizeof what, "case %d, %s", i / 2, i % 2 ? "single" : "double");
    fluid_compare_devices(text, gpu, i % 2, STEPS, rounds_of(text, i % 2), NULL, what);
  }
}

static void test_restart(void **state) {
  (void)state;
  for (int i = 2 * first_text; i < 2 * TEXTS; i++) {
    char text[TEXT];
    text_of(i / 2, i % 2, text);
    fluid_check_restart(text, gpu, STEPS, NULL);
  }
}

/* A run that a function ends says the same as on the CPU, which looks after every step: the first cell of the first
 * step, its velocity and the time. */
static void test_guards(void **state) {
  (void)state;
  static const char *const flows[] = {
      /* no force from t = 99.3 to 100.7, in all cells; a jump, which no velocity solves */
      "return sim.fluid { grid = { n = {16, 16}, size = {16, 16} }, viscosity = 0.1, speed = 0.1, precision = "
      "'double',\n"
      "  initial = function(x, y) return 0.01 * math.sin(math.pi * y / 8), 0.02 end,\n"
      "  force = function(t) return 1e-7 * math.sqrt((t - 100)^2 - 0.5), 0 end, integrate = { dt = 1, t_end = 1000 } }",
      "return sim.fluid { grid = { n = {40, 16}, size = {40, 16} }, viscosity = 0.1, speed = 0.1, precision = "
      "'double',\n"
      "  initial = function(x, y) return 0.01 * math.sin(math.pi * y / 8), 0 end,\n"
      "  force = function(ux, uy) return -1e-3 * sim.sign(ux), 0 end, integrate = { dt = 1, t_end = 1000 } }",
      /* a viscosity that is too small where a lid begins to move */
      "return sim.fluid { grid = { n = {16, 64}, size = {16, 64}, boundary = 'wall', x = 'periodic' }, speed = 0.1,\n"
      "  viscosity = function(shear) return 0.1 / (1 + (2e3 * shear)^2)^0.4999 end, precision = 'double',\n"
      "  sides = { y_low = { velocity = {-0.1, 0} }, y_high = { velocity = {0.1, 0} } },\n"
      "  integrate = { dt = 1, t_end = 1000 } }"};
  for (size_t i = 0; i < sizeof flows / sizeof *flows; i++) {
    char message[2][1100];
    for (int k = 0; k < 2; k++) {
      flow f;
      sim_status status = SIM_OK;
      flow_open_on(&f, flows[i], k ? gpu : &sim_backend_cpu, NULL);
      while (status == SIM_OK && f.clock.step < 1000) status = fluid_model.step(f.self, &f.clock);
      assert_int_equal(status, SIM_ERR_DIVERGED);
      snprintf(message[k], sizeof message[k], "%s", sim_error_last()->message);
      flow_close(&f);
    }
    assert_string_equal(message[0], message[1]);
  }
}

int main(int count, char **words) {
  gpu = gpu_or_skip();
  if (!gpu) return 77;
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_cpu), cmocka_unit_test(test_restart),
                                     cmocka_unit_test(test_guards)};
  if (count > 1) cmocka_set_test_filter(words[1]);
  if (count > 2) first_text = atoi(words[2]);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
