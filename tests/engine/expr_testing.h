/* Shared by the tests of function graphs. */
#ifndef TESTS_EXPR_TESTING_H
#define TESTS_EXPR_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/expr/expr.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

#define assert_ok(expression)                                                                                          \
  do {                                                                                                                 \
    if ((expression) != SIM_OK) fail_msg("%s: %s", #expression, sim_error_last()->message);                            \
  } while (0)

static const char *const test_names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};

/* Random generator of the tests (splitmix64). */
static inline uint64_t test_random(uint64_t *state) {
  uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}
static inline double test_uniform(uint64_t *state) { return (double)(test_random(state) >> 11) * 0x1p-53; }

/* The graph of one operation on inputs a, b, c. Where the operation takes a condition, a number x stands for x ~= 0. */
static inline sim_expr *test_operation(sim_expr_op op, int operands, const bool *conditions) {
  sim_expr_builder *builder;
  sim_expr *expr;
  sim_expr_ref args[3] = {0}, zero, out;
  assert_ok(sim_expr_builder_create(&builder));
  assert_ok(sim_expr_builder_number(builder, 0, &zero));
  for (int k = 0; k < operands; k++) {
    assert_ok(sim_expr_builder_input(builder, test_names[k], &args[k]));
    if (conditions && conditions[k])
      assert_ok(sim_expr_builder_call(builder, SIM_EXPR_NE, (sim_expr_ref[]){args[k], zero}, &args[k]));
  }
  assert_ok(sim_expr_builder_call(builder, op, args, &out));
  assert_ok(sim_expr_builder_finish(builder, &out, (const char *const[]){"y"}, 1, &expr));
  sim_expr_builder_free(&builder);
  return expr;
}

static inline sim_expr_program *test_program(const sim_expr *expr, const sim_expr_target *target, void **scratch) {
  sim_expr_program *program;
  assert_ok(sim_expr_program_create(expr, target, &program));
  size_t bytes = (sim_expr_program_scratch(program) + 63) / 64 * 64;
  *scratch = aligned_alloc(64, bytes ? bytes : 64);
  assert_non_null(*scratch);
  memset(*scratch, 0xff, bytes); /* NaN: shows what is read before it is written */
  return program;
}

/* Runs a graph in one call. */
static inline void test_run(const sim_expr *expr, const sim_expr_target *target, size_t n, const void *const *inputs,
                            void *const *outputs) {
  void *scratch;
  sim_expr_program *program = test_program(expr, target, &scratch);
  sim_expr_program_run(program, n, inputs, outputs, scratch);
  sim_expr_program_free(&program);
  free(scratch);
}

#endif
