/* Kernels of grains with functions of a scenario, tested without a GPU: every form compiles, and NVRTC is given the
 * files of this tree. */
#include "kernels/collision/general/cuda/laws.h"

#include "tests/collision/driver.h"
#include "tests/gpu/text/sources.h"

#include <stdio.h>
#include <string.h>

static bool all;

static void test_files(void **state) {
  (void)state;
  sources_expect(collision_cuda_files, 14);
}

static void compiles(const sim_source *source) {
  sim_bytes code = {0};
  must(sim_compile(source, 90, &code));
  assert_true(code.size > 1000);
  sim_bytes_free(&code);
}

static void test_field(void **state) {
  (void)state;
  static const char *const inputs[] = {"x", "y", "z", "t", NULL};
  for (int kind = 0; kind < (all ? 2 : 1); kind++) {
    sim_bytes text = {0};
    sim_expr *field = driver_function(inputs, SIM_EXPR_MUL, 0, 3, 0, kind ? 3 : 1);
    collision_options options = {.external = field};
    if (!kind) must(sim_expr_gradient(field, 0, &options.gradient));
    must(collision_cuda_write_external(&options, kind == 0, &text));
    const sim_source source = collision_cuda_external_source(&text);
    compiles(&source);
    sim_bytes_free(&text);
    collision_options_free(&options);
    sim_expr_free(&field);
  }
}

static void test_law(void **state) {
  (void)state;
  static const char *const inputs[] = {COLLISION_FORCE_INPUTS, NULL};
  static const int springs[] = {0, 3, 7};
  sim_expr *force = driver_function(inputs, SIM_EXPR_POW, 0, -1, 1.5, 1);
  for (int k = all ? 0 : 1; k < 6; k += all ? 1 : 4) { /* 1: in the other precision; 5: clumps */
    sim_bytes text = {0};
    const collision_options options = {.custom = force, .springs = springs[k % 3], .clumps = k >= 3};
    must(collision_cuda_write_law(&options, k != 1, &text));
    const sim_source source = collision_cuda_law_source(&text);
    compiles(&source);
    sim_bytes_free(&text);
  }
  sim_expr_free(&force);
  static const char *const speed[] = {COLLISION_SPEED_INPUTS, NULL};
  sim_expr *restitution = driver_function(speed, SIM_EXPR_MUL, 0, -1, 0.5, 1);
  for (int k = all ? 0 : 3; k < 4; k++) {
    sim_bytes text = {0};
    const collision_options options = {.restitution = restitution, .springs = k % 2 ? 4 : 1};
    must(collision_cuda_write_law(&options, k < 2, &text));
    const sim_source source = collision_cuda_law_source(&text);
    compiles(&source);
    sim_bytes_free(&text);
  }
  sim_expr_free(&restitution);
}

int main(int argc, char **argv) {
  (void)argv;
  all = argc > 1;
  if (!sources_compile()) return 77;
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_files), cmocka_unit_test(test_field),
                                     cmocka_unit_test(test_law)};
  return cmocka_run_group_tests_name("collision text", tests, NULL, NULL);
}
