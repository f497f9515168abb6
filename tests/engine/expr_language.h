/* Short notation for graphs of three inputs a, b, c. */
#ifndef TESTS_EXPR_LANGUAGE_H
#define TESTS_EXPR_LANGUAGE_H

#include "expr_testing.h"

static sim_expr_builder *builder;
static sim_expr_ref a, b, c;

static inline int begin(void **state) {
  (void)state;
  assert_ok(sim_expr_builder_create(&builder));
  assert_ok(sim_expr_builder_input(builder, "a", &a));
  assert_ok(sim_expr_builder_input(builder, "b", &b));
  assert_ok(sim_expr_builder_input(builder, "c", &c));
  return 0;
}
static inline int end(void **state) {
  (void)state;
  sim_expr_builder_free(&builder);
  return 0;
}

static inline sim_expr_ref number(double value) {
  sim_expr_ref out;
  assert_ok(sim_expr_builder_number(builder, value, &out));
  return out;
}
static inline sim_expr_ref apply(const char *name, int count, const sim_expr_ref *args) {
  sim_expr_ref out = 0;
  const sim_expr_function *function = sim_expr_function_find(name);
  assert_non_null(function);
  assert_ok(sim_expr_builder_apply(builder, function, args, count, &out));
  return out;
}
#define F(name, ...)                                                                                                   \
  apply(name, (int)(sizeof((sim_expr_ref[]){__VA_ARGS__}) / sizeof(sim_expr_ref)), (sim_expr_ref[]){__VA_ARGS__})

static inline sim_expr *finish(sim_expr_ref out) {
  sim_expr *expr;
  assert_ok(sim_expr_builder_finish(builder, &out, (const char *const[]){"y"}, 1, &expr));
  return expr;
}

/* Returns the first output at (x, y, z). */
static inline double at(const sim_expr *expr, int output, double x, double y, double z) {
  double results[8];
  void *outputs[8];
  for (int i = 0; i < 8; i++) outputs[i] = &results[i];
  test_run(expr, &(sim_expr_target){.isa = SIM_ISA_PLAIN}, 1, (const void *const[]){&x, &y, &z}, outputs);
  return results[output];
}
static inline double value_at(sim_expr_ref ref, double x, double y, double z) {
  sim_expr *expr = finish(ref);
  double value = at(expr, 0, x, y, z);
  sim_expr_free(&expr);
  return value;
}
static inline double constant(sim_expr_ref ref) {
  double value = NAN;
  assert_true(sim_expr_builder_constant(builder, ref, &value));
  return value;
}

/* Each test has a builder of its own. */
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

#endif
