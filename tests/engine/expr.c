/* Function graphs: building, rewriting, types, text, programs. */
#include "expr_language.h"

#include "engine/expr/comparisons.h"

#include <pthread.h>

/* ---- building ---- */

static void equal_parts_are_one(void **state) {
  (void)state;
  assert_int_equal(F("mul", a, b), F("mul", a, b));
  assert_int_equal(F("mul", a, b), F("mul", b, a));
  assert_int_equal(F("add", a, b), F("add", b, a));
  assert_int_not_equal(F("sub", a, b), F("sub", b, a));
  assert_int_not_equal(number(0), number(-0.0));
  assert_int_equal(number(NAN), number(-NAN));
  assert_int_equal(F("gt", a, b), F("lt", b, a));
  /* sums keep their order: (a + b) + c is not a + (b + c) */
  assert_int_not_equal(F("add", F("add", a, b), c), F("add", a, F("add", b, c)));
}

static void constants_fold(void **state) {
  (void)state;
  assert_true(constant(F("add", number(0.1), number(0.2))) == 0.1 + 0.2);
  assert_true(constant(F("idiv", number(-7), number(2))) == -4);
  assert_true(constant(F("mod", number(-7), number(3))) == 2);
  assert_true(constant(F("mod", number(7), number(-3))) == -2);
  assert_true(constant(F("pow", number(3), number(4))) == 81);
  assert_true(isinf(constant(F("div", number(1), number(0)))));
  assert_true(constant(F("lt", number(1), number(2))) == 1);
  assert_int_equal(sim_expr_builder_type(builder, F("lt", number(1), number(2))), SIM_EXPR_C);
  /* the same as the evaluator computes, on every instruction set */
  for (int isa = 0; isa <= (int)sim_isa_best(); isa++)
    for (double x = 0.01; x < 30; x *= 1.7) {
      double y;
      sim_expr *expr = finish(F("erfc", F("sin", a)));
      test_run(expr, &(sim_expr_target){.isa = (sim_isa)isa}, 1, (const void *const[]){&x, &x, &x},
               (void *const[]){&y});
      assert_true(constant(F("erfc", F("sin", number(x)))) == y);
      sim_expr_free(&expr);
    }
}

/* Expressions that are rewritten, and expressions that only look as if they could be. */
static void rewritings(void **state) {
  (void)state;
  sim_expr_ref zero = number(0), minus_zero = number(-0.0), one = number(1), p = F("lt", a, b);
  assert_int_equal(F("mul", a, one), a);
  assert_int_equal(F("mul", one, a), a);
  assert_int_equal(F("div", a, one), a);
  assert_int_equal(F("sub", a, zero), a);
  assert_int_equal(F("add", a, minus_zero), a);
  assert_int_equal(F("add", minus_zero, a), a);
  assert_int_equal(F("unm", F("unm", a)), a);
  assert_int_equal(F("mul", a, number(-1)), F("unm", a));
  assert_int_equal(F("add", a, F("unm", b)), F("sub", a, b));
  assert_int_equal(F("sub", a, F("unm", b)), F("add", a, b));
  assert_int_equal(F("div", a, number(8)), F("mul", a, number(0.125)));
  assert_int_equal(F("where", p, a, a), a);
  assert_int_equal(F("not", F("not", p)), p);
  assert_int_equal(F("min", a, a), a);
  assert_int_not_equal(F("add", a, zero), a); /* -0 + 0 = 0 */
  assert_int_not_equal(F("sub", a, minus_zero), a);
  assert_false(signbit(value_at(F("add", a, zero), -0.0, 0, 0)));
  assert_false(signbit(value_at(F("sub", a, minus_zero), -0.0, 0, 0)));
  assert_false(sim_expr_builder_constant(builder, F("mul", a, zero), NULL));
  assert_false(sim_expr_builder_constant(builder, F("sub", a, a), NULL));
  assert_false(sim_expr_builder_constant(builder, F("eq", a, a), NULL));
  assert_int_not_equal(F("div", a, number(3)), F("mul", a, number(1.0 / 3)));
  /* In single precision 2^-130 is subnormal and 2^130 infinite. */
  assert_int_not_equal(F("div", a, number(0x1p130)), F("mul", a, number(0x1p-130)));
}

static void powers(void **state) {
  (void)state;
  sim_expr_ref square = F("mul", a, a);
  assert_int_equal(F("pow", a, number(2)), square);
  assert_int_equal(F("pow", a, number(5)), F("mul", a, F("mul", square, square)));
  assert_int_equal(F("pow", a, number(-1)), F("div", number(1), a));
  assert_int_equal(F("pow", a, number(0.5)), F("sqrt", a));
  assert_int_equal(F("pow", a, number(-1.5)), F("div", number(1), F("mul", a, F("sqrt", a))));
  assert_true(constant(F("pow", a, number(0))) == 1);
  for (int n = -64; n <= 64; n++) {
    /* a product of at most 12 factors rounds 12 times; a reciprocal adds one rounding */
    double got = value_at(F("pow", a, number(n)), 1.37, 0, 0), expected = pow(1.37, n);
    assert_true(fabs(got - expected) <= 70 * 0x1p-52 * expected);
  }
}

static void composites(void **state) {
  (void)state;
  sim_expr_ref box = F("box", a, b, number(1), number(2)), clamp = F("clamp", a, number(-1), number(1));
  assert_true(value_at(box, 1, 1.5, 0) == 1 && value_at(box, 2, 1.5, 0) == 0 && value_at(box, 1.5, 0.9, 0) == 0);
  assert_true(value_at(clamp, 7, 0, 0) == 1 && value_at(clamp, -7, 0, 0) == -1 && value_at(clamp, 0.5, 0, 0) == 0.5);
  assert_true(value_at(F("step", a), 0, 0, 0) == 1 && value_at(F("step", a), -1e-300, 0, 0) == 0);
  assert_true(value_at(F("max", a, b, c), 1, 3, 2) == 3 && value_at(F("min", a, b, c), 2, 3, 1) == 1);
  assert_true(value_at(F("idiv", a, b), -7, 2, 0) == -4 && value_at(F("mod", a, b), -7, 2, 0) == 1);
  assert_true(value_at(F("log", a, number(2)), 8, 0, 0) == 3 && value_at(F("log", a, number(10)), 1000, 0, 0) == 3);
  assert_true(value_at(F("deg", F("atan", a, b)), 1, -1, 0) == 135 && value_at(F("rad", a), 180, 0, 0) == acos(-1));
  assert_int_equal(F("atan", a, b), F("atan2", a, b));
  /* A NaN is neither inside nor outside. Numbers can be compared with infinities. */
  sim_expr_ref open = F("box", a, number(-INFINITY), b);
  assert_true(isnan(value_at(F("step", a), NAN, 0, 0)) && isnan(constant(F("step", number(NAN)))));
  assert_true(isnan(value_at(box, NAN, 1.5, 0)) && isnan(value_at(box, 1.5, NAN, 0)) &&
              isnan(value_at(box, 9, NAN, 0)));
  assert_true(value_at(open, -INFINITY, 1, 0) == 1 && value_at(open, INFINITY, 1, 0) == 0);
  assert_true(isnan(value_at(open, 0, NAN, 0)) && value_at(F("step", a), -INFINITY, 0, 0) == 0);
}

/* The points where linear functions of the input meet, in pieces, products and sizes; and the graph of all other
 * switches. */
static void breaks(void **state) {
  (void)state;
  sim_expr_ref half = F("sub", F("mul", number(2), a), number(1)), sum, size = F("abs", F("sub", a, number(3)));
  const struct {
    sim_expr_ref condition;
    int count;
    double at[4];
    bool switches;
  } rows[] = {
      {F("lt", a, number(0.3)), 1, {0.3}, false},
      {F("le", number(7), F("div", a, number(4))), 1, {28}, false},
      {F("lt", half, F("unm", a)), 1, {1.0 / 3}, false},
      {F("eq", half, F("add", half, number(1))), 0, {0}, false}, /* parallel */
      {F("lt", size, number(1)), 3, {2, 3, 4}, false},           /* 3: the kink of |a - 3| */
      {F("lt", b, number(1)), 0, {0}, false},                    /* of another input */
      {F("lt", a, b), 0, {0}, false},
      {F("lt", F("mul", a, a), number(4)), 0, {0}, true},
      {F("lt", F("mod", a, number(2)), number(1)), 0, {0}, true},
      {F("lt", F("floor", half), b), 0, {0}, true},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    double *found;
    int count;
    sum = F("where", rows[i].condition, a, b);
    sim_expr *expr = finish(sum), *switches;
    assert_ok(sim_expr_breaks(expr, 0, &found, &count));
    assert_int_equal(count, rows[i].count);
    for (int k = 0; k < count; k++) {
      bool there = false;
      for (int j = 0; j < count; j++) there |= fabs(found[k] - rows[i].at[j]) <= 0x1p-52 * fabs(found[k]);
      assert_true(there);
    }
    free(found);
    assert_ok(sim_expr_switches(expr, 0, 0, 16, &switches));
    if ((switches != NULL) != rows[i].switches) fail_msg("row %zu: switches", i);
    sim_expr_free(&switches);
    assert_ok(sim_expr_switches(expr, 0, 16, 16, &switches)); /* nothing is returned above that number */
    assert_null(switches);
    sim_expr_free(&expr);
  }
  /* a^2 - 4 changes its sign at -2 and 2; the remainder of a by 2 jumps at even numbers */
  sim_expr *expr = finish(F("where", F("lt", F("mul", a, a), number(4)), F("mod", a, number(2)), b)), *switches;
  assert_ok(sim_expr_switches(expr, 0, 0, 16, &switches));
  assert_int_equal(sim_expr_output_count(switches), 2);
  assert_true(at(switches, 0, 1.9, 0, 0) * at(switches, 0, 2.1, 0, 0) < 0);
  assert_true(at(switches, 1, 1.9, 0, 0) * at(switches, 1, 2.1, 0, 0) < 0);
  sim_expr_free(&switches);
  sim_expr_free(&expr);
}

/* max(max(a, b) - 3, 0) if c > 2, else 7: what it compares, as ratios from -1 to 1. */
static void comparisons(void **state) {
  (void)state;
  const sim_expr_ref paid = F("max", F("sub", F("max", a, b), number(3)), number(0));
  sim_expr *expr = finish(F("where", F("lt", number(2), c), paid, number(7))), *ratios;
  assert_ok(sim_expr_comparisons(expr, 0, 0, 16, &ratios));
  assert_int_equal(sim_expr_output_count(ratios), 4);
  double found[4];
  for (int k = 0; k < 4; k++) found[k] = at(ratios, k, 5, 4, 1);
  assert_true(found[0] == 1); /* the output and 0 */
  const double known[] = {1. / 9, 2. / 8, 1. / 3};
  for (int i = 0; i < 3; i++) {
    bool there = false;
    for (int k = 1; k < 4; k++) there |= fabs(found[k] - known[i]) < 1e-15;
    assert_true(there);
  }
  sim_expr_free(&ratios);
  assert_ok(sim_expr_comparisons(expr, 0, 3, 16, &ratios));
  assert_int_equal(sim_expr_output_count(ratios), 1);
  sim_expr_free(&ratios);
  assert_ok(sim_expr_comparisons(expr, 0, 4, 16, &ratios));
  assert_null(ratios);
  sim_expr_free(&expr);
  expr = finish(paid); /* of max(x, 0) x and 0 */
  assert_ok(sim_expr_comparisons(expr, 0, 0, 1, &ratios));
  assert_true(fabs(at(ratios, 0, 2, 1, 0) + 1. / 5) < 1e-15);
  sim_expr_free(&ratios);
  sim_expr_free(&expr);
  expr = finish(F("floor", a)); /* its operand and the nearest integer */
  assert_ok(sim_expr_comparisons(expr, 0, 1, 1, &ratios));
  for (int side = -1; side <= 1; side++)
    assert_true(fabs(at(ratios, 0, 3 + side * 1e-3, 0, 0) - side * 1e-3 / (8 + side * 1e-3)) < 1e-15);
  sim_expr_free(&ratios);
  sim_expr_free(&expr);
  /* a difference in a product, a quotient, a choice, a cap and a logarithm: each 0 where a = b, and at a distance of
   * 1e-3 from there at most 1e-3 over a size of at least 1 */
  const sim_expr_ref difference = F("sub", a, b);
  const sim_expr_ref within[] = {
      F("mul", difference, c),          F("div", difference, b),
      F("mul", number(-2), difference), F("where", F("lt", number(0), c), difference, number(3)),
      F("min", difference, c),          F("log", F("div", a, b))};
  for (size_t i = 0; i < sizeof within / sizeof *within; i++) {
    expr = finish(F("max", within[i], number(0)));
    assert_ok(sim_expr_comparisons(expr, 0, 0, 1, &ratios));
    for (int side = -1; side <= 1; side++) assert_true(fabs(at(ratios, 0, 2 + side * 1e-3, 2, 1)) < 1e-3);
    const double up = at(ratios, 0, 2.001, 2, 1), down = at(ratios, 0, 1.999, 2, 1);
    assert_true(up * down < 0);
    sim_expr_free(&ratios);
    sim_expr_free(&expr);
  }
}

static void messages(void **state) {
  (void)state;
  const sim_expr_ref p = F("lt", a, b);
  const struct {
    const char *function;
    int count;
    sim_expr_ref args[4];
    const char *message;
  } rows[] = {
      {"add", 2, {a, p}, "add: argument 2 is a condition: expected a number (where(condition, 1, 0) makes one)"},
      {"where",
       3,
       {a, a, b},
       "where: argument 1 is a number: expected a condition (lt, le, gt, ge, eq, ne, and, or, not give one)"},
      {"where", 3, {p, a, p}, "where: argument 3 is a condition: expected a number (where(condition, 1, 0) makes one)"},
      {"and",
       3,
       {p, p, a},
       "and: argument 3 is a number: expected a condition (lt, le, gt, ge, eq, ne, and, or, not give one)"},
      {"sin", 2, {a, b}, "sin: 2 arguments: expected 1"},
      {"min", 0, {0}, "min: 0 arguments: expected at least 1"},
      {"log", 3, {a, b, c}, "log: 3 arguments: expected at most 2"},
      {"box", 2, {a, b}, "box: 2 arguments: expected at least 3"},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    sim_expr_ref out;
    const sim_expr_function *function = sim_expr_function_find(rows[i].function);
    assert_int_equal(sim_expr_builder_apply(builder, function, rows[i].args, rows[i].count, &out), SIM_ERR_SCENARIO);
    assert_string_equal(sim_error_last()->message, rows[i].message);
  }
  static const char *const bad[] = {"", "1a", "a b", "a-b", "\xc3\xa4", "a"};
  for (size_t i = 0; i < COUNT(bad); i++) {
    sim_expr_ref out;
    assert_int_equal(sim_expr_builder_input(builder, bad[i], &out), SIM_ERR_SCENARIO);
  }
  assert_null(sim_expr_function_find("sine"));
}

static void limits(void **state) {
  (void)state;
  sim_expr_ref x = a;
  sim_status status = SIM_OK;
  int made = 0;
  for (; made <= SIM_EXPR_NODES_MAX && status == SIM_OK; made++)
    status = sim_expr_builder_call(builder, SIM_EXPR_MUL, (sim_expr_ref[]){x, b}, &x);
  assert_int_equal(status, SIM_ERR_SCENARIO);
  assert_string_equal(sim_error_last()->message, "the function has more than 16384 operations");
  assert_int_equal(made, SIM_EXPR_NODES_MAX - 3 + 1);
  /* The largest graph is either refused or differentiated, written, read and run. */
  sim_expr *expr = finish(x), *derivative, *read;
  assert_int_equal(sim_expr_derivative(expr, 0, &derivative), SIM_ERR_SCENARIO);
  assert_string_equal(sim_error_last()->message,
                      "the derivative by a has more than 16384 operations: the function itself has 16383, expected a "
                      "shorter one");
  assert_null(derivative);
  assert_int_equal(sim_expr_gradient(expr, 0, &derivative), SIM_ERR_SCENARIO);
  assert_non_null(strstr(sim_error_last()->message, "the gradient has more than 16384 operations"));
  assert_true(at(expr, 0, 2, 1, 0) == 2);
  sim_bytes bytes = {0}, text = {0};
  assert_ok(sim_expr_write(expr, &bytes));
  assert_ok(sim_expr_read(bytes.data, bytes.size, &read));
  assert_ok(sim_expr_text(read, &text));
  sim_bytes_free(&bytes);
  sim_bytes_free(&text);
  sim_expr_free(&expr);
  sim_expr_free(&read);
  end(NULL);
  assert_ok(sim_expr_builder_create(&builder));
  for (int i = 0; i < SIM_EXPR_INPUTS_MAX; i++) {
    char name[16];
    snprintf(name, sizeof name, "x%d", i);
    assert_ok(sim_expr_builder_input(builder, name, &x));
  }
  assert_int_equal(sim_expr_builder_input(builder, "more", &x), SIM_ERR_SCENARIO);
}

static void queries(void **state) {
  (void)state;
  sim_expr_ref outputs[] = {F("add", a, b), F("lt", b, number(1)), number(4)};
  sim_expr *expr;
  assert_ok(sim_expr_builder_finish(builder, outputs, (const char *const[]){"p", "q", "r"}, 3, &expr));
  assert_int_equal(sim_expr_input_count(expr), 3);
  assert_int_equal(sim_expr_output_count(expr), 3);
  assert_int_equal(sim_expr_node_count(expr), 6); /* a, b, a + b, 1, b < 1, 4; c is not needed */
  assert_int_equal(sim_expr_input_find(expr, "c"), 2);
  assert_int_equal(sim_expr_input_find(expr, "d"), -1);
  assert_string_equal(sim_expr_output_name(expr, 1), "q");
  assert_int_equal(sim_expr_output_type(expr, 1), SIM_EXPR_C);
  assert_true(sim_expr_depends(expr, 0, 0) && sim_expr_depends(expr, 1, 1));
  assert_false(sim_expr_depends(expr, 1, 0) || sim_expr_depends(expr, 2, 1) || sim_expr_depends(expr, 0, 2));
  /* composed: a is replaced by b */
  sim_expr_ref composed[3];
  assert_ok(sim_expr_builder_insert(builder, expr, (sim_expr_ref[]){a, a, c}, composed));
  assert_int_equal(composed[0], F("add", a, a));
  sim_expr_free(&expr);
}

static void text(void **state) {
  (void)state;
  sim_expr_ref r2 = F("add", F("add", F("mul", a, a), F("mul", b, b)), F("pow", c, number(2.25)));
  sim_expr_ref outputs[] = {F("where", F("and", F("lt", a, b), F("not", F("eq", b, c))), F("unm", F("sqrt", r2)), r2),
                            F("sub", a, F("sub", b, F("div", number(-0.1), c)))};
  sim_expr *expr;
  sim_bytes out = {0};
  assert_ok(sim_expr_builder_finish(builder, outputs, (const char *const[]){"p", "q"}, 2, &expr));
  assert_ok(sim_expr_text(expr, &out));
  assert_string_equal(out.data, "t1 = a * a + b * b + c ^ 2.25\n"
                                "p = where(a < b and not (b == c), -sqrt(t1), t1)\n"
                                "q = a - (b - -0.1 / c)\n");
  sim_bytes_free(&out);
  assert_ok(sim_expr_emit(expr, &(sim_expr_emission){"f", "static", true}, &out));
  assert_string_equal(out.data, "static void f(float i0, float i1, float i2, float *o0, float *o1) {\n"
                                "  const float t0 = i0;\n"
                                "  const float t1 = i1;\n"
                                "  const float t2 = i2;\n"
                                "  const float t3 = t0 * t0;\n"
                                "  const float t4 = t1 * t1;\n"
                                "  const float t5 = t3 + t4;\n"
                                "  const float t6 = 0x1.2p+1f;\n"
                                "  const float t7 = powf(t2, t6);\n"
                                "  const float t8 = t5 + t7;\n"
                                "  const int t9 = t0 < t1;\n"
                                "  const int t10 = t1 == t2;\n"
                                "  const int t11 = !t10;\n"
                                "  const int t12 = t9 & t11;\n"
                                "  const float t13 = sqrtf(t8);\n"
                                "  const float t14 = -t13;\n"
                                "  const float t15 = t12 ? t14 : t8;\n"
                                "  const float t16 = -0x1.99999ap-4f;\n"
                                "  const float t17 = t16 / t2;\n"
                                "  const float t18 = t1 - t17;\n"
                                "  const float t19 = t0 - t18;\n"
                                "  *o0 = t15;\n"
                                "  *o1 = t19;\n"
                                "}\n");
  sim_bytes_free(&out);
  sim_expr_free(&expr);
}

/* ---- programs ---- */

enum { LANES = 5000 };
typedef struct worker {
  const sim_expr_program *program;
  const double *in;
  double out[LANES];
} worker;
static void *work(void *self) {
  worker *w = self;
  double half = 0.5;
  void *scratch = aligned_alloc(64, (sim_expr_program_scratch(w->program) + 63) / 64 * 64);
  for (int round = 0; round < 20; round++)
    sim_expr_program_run(w->program, LANES, (const void *const[]){w->in, &half, NULL}, (void *const[]){w->out},
                         scratch);
  free(scratch);
  return NULL;
}

static void threads_share_a_program(void **state) {
  (void)state;
  sim_expr *expr = finish(F("exp", F("sin", F("mul", F("add", a, b), F("cos", b)))));
  const bool uniform[] = {false, true, false};
  sim_expr_program *program;
  assert_ok(sim_expr_program_create(expr, &(sim_expr_target){.isa = sim_isa_best(), .uniform = uniform}, &program));
  /* one value for each lane at a time, and 4 values that are the same for all lanes: cos b is computed once a run */
  assert_true(sim_expr_program_scratch(program) <= 2 * 1024 * sizeof(double) + 256);
  assert_true(sim_expr_program_bytes(program) > 0);
  static double in[LANES];
  for (int i = 0; i < LANES; i++) in[i] = 0.01 * i;
  static worker workers[3];
  pthread_t threads[3];
  for (int i = 0; i < 3; i++) {
    workers[i].program = program;
    workers[i].in = in;
    assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
  }
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < LANES; i++) assert_true(workers[0].out[i] == at(expr, 0, in[i], 0.5, 0));
  assert_memory_equal(workers[0].out, workers[1].out, sizeof workers[0].out);
  assert_memory_equal(workers[0].out, workers[2].out, sizeof workers[0].out);
  sim_expr_program_run(program, 0, (const void *const[]){in, in, NULL}, (void *const[]){NULL}, workers[0].out);
  sim_expr_program_free(&program);
  sim_expr_free(&expr);
}

/* Outputs that are inputs, constants, uniform, or the same value twice. */
static void plain_outputs(void **state) {
  (void)state;
  sim_expr_ref sum = F("add", a, b), outputs[] = {a, number(3), sum, sum, c, F("mul", sum, number(2))};
  sim_expr *expr;
  assert_ok(sim_expr_builder_finish(builder, outputs, test_names, 6, &expr));
  enum { n = 300 };
  static double x[n], y[n], z = 7, out[6][n];
  for (int i = 0; i < n; i++) {
    x[i] = i;
    y[i] = -2 * i;
  }
  const bool uniform[] = {false, false, true};
  void *const results[] = {out[0], out[1], out[2], out[3], out[4], out[5]};
  test_run(expr, &(sim_expr_target){.isa = SIM_ISA_PLAIN, .uniform = uniform}, n, (const void *const[]){x, y, &z},
           results);
  for (int i = 0; i < n; i++) {
    assert_true(out[0][i] == i && out[1][i] == 3 && out[2][i] == -i && out[3][i] == -i);
    assert_true(out[4][i] == 7 && out[5][i] == -2 * i);
  }
  sim_expr_free(&expr);
}

/* (a + c)^-3 / (a + c)^3 is one power, of minus twelve halves. */
static void quotients_of_powers(void **state) {
  (void)state;
  sim_expr_ref s = F("add", a, number(0.25));
  sim_expr *expr = finish(F("div", F("pow", s, number(-3)), F("pow", s, number(3))));
  sim_bytes text = {0};
  double factor = 0, shift = 0;
  assert_true(sim_expr_is_power(expr, 0, 0, &factor) && factor == 1);
  const sim_expr_emission emission = {.name = "f", .qualifier = "static", .powers = "powers", .shift = &shift};
  assert_ok(sim_expr_emit(expr, &emission, &text));
  if (!strstr(text.data, "powers<-12,")) fail_msg("%s", text.data);
  assert_true(shift == 0.25);
  sim_bytes_free(&text);
  sim_expr_free(&expr);
}

/* Results that are known without the inputs. */
static void always(void **state) {
  (void)state;
  sim_expr_ref zero = number(0), nan = number(NAN);
  const struct {
    sim_expr_ref ref;
    bool nan, zero;
  } rows[] = {{a, false, false},
              {F("mul", zero, a), false, true},
              {F("sub", F("mul", a, zero), F("div", zero, b)), false, true},
              {F("where", F("lt", a, b), F("mul", zero, a), zero), false, true},
              {F("add", F("mul", zero, a), b), false, false},
              {F("mul", nan, a), true, false},
              {F("sin", F("add", a, nan)), true, false},
              {F("where", F("lt", a, b), nan, F("mul", nan, b)), true, false},
              {F("where", F("lt", a, b), nan, b), false, false},
              {F("where", F("lt", a, nan), a, b), false, false},
              {F("pow", nan, a), false, false},
              {F("max", a, nan), true, false},
              {F("hypot", nan, a), false, false}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    sim_expr *expr = finish(rows[i].ref);
    if (sim_expr_always_nan(expr, 0) != rows[i].nan || sim_expr_always_zero(expr, 0) != rows[i].zero)
      fail_msg("row %zu", i);
    sim_expr_free(&expr);
  }
  /* the heavier program takes more time */
  sim_expr *light = finish(F("add", a, b)), *heavy = finish(F("exp", F("div", a, b)));
  assert_true(sim_expr_work(light) == 1 && sim_expr_work(heavy) == 18);
  sim_expr_free(&light);
  sim_expr_free(&heavy);
}

/* Functions that are proportional to a. */
static void proportional(void **state) {
  (void)state;
  sim_expr_ref zero = number(0), one = number(1), positive = F("max", F("sub", b, one), zero);
  const struct {
    sim_expr_ref ref;
    bool is;
  } rows[] = {{a, true},
              {b, false},
              {F("mul", a, positive), true},
              {F("max", F("mul", a, F("sub", b, one)), zero), true},
              {F("sub", F("mul", a, b), F("div", a, number(3))), true},
              {F("div", F("mul", a, a), a), true},
              {F("where", F("lt", b, one), zero, F("abs", a)), true},
              {F("where", F("lt", F("mul", a, b), a), a, F("mul", a, number(2))), true},
              {F("where", F("lt", a, one), zero, a), false},
              {F("sub", F("mul", a, b), one), false},
              {F("mul", a, a), false},
              {F("div", b, a), false},
              {F("min", a, one), false},
              {F("exp", a), false},
              {F("mul", a, F("exp", b)), true},
              {F("mul", a, F("exp", a)), false},
              {F("mod", a, b), false},
              {F("div", a, zero), false}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    sim_expr *expr = finish(rows[i].ref);
    if (sim_expr_is_proportional(expr, 0, sim_expr_input_find(expr, "a")) != rows[i].is) fail_msg("row %zu", i);
    sim_expr_free(&expr);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {TEST(equal_parts_are_one),
                                     TEST(constants_fold),
                                     TEST(rewritings),
                                     TEST(powers),
                                     TEST(composites),
                                     TEST(breaks),
                                     TEST(proportional),
                                     TEST(messages),
                                     TEST(comparisons),
                                     TEST(limits),
                                     TEST(queries),
                                     TEST(text),
                                     TEST(threads_share_a_program),
                                     TEST(plain_outputs),
                                     TEST(always),
                                     TEST(quotients_of_powers)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
