/* Derivatives of function graphs, forward and reverse. */
#include "expr_language.h"

static double derivative_at(sim_expr_ref ref, int input, double x, double y, double z) {
  sim_expr *expr = finish(ref), *forward, *gradient;
  assert_ok(sim_expr_derivative(expr, input, &forward));
  assert_ok(sim_expr_gradient(expr, 0, &gradient));
  double d = at(forward, 0, x, y, z), g = at(gradient, input, x, y, z);
  if (isnan(d)) assert_true(isnan(g));
  /* Both directions compute the same products in another order: a few roundings of difference. */
  if (!isnan(d) && !(fabs(d - g) <= 1e-14 * fabs(d) || d == g)) fail_msg("forward %.17g, reverse %.17g", d, g);
  sim_expr_free(&expr);
  sim_expr_free(&forward);
  sim_expr_free(&gradient);
  return d;
}

/* Tests every function of numbers at points inside its domain, away from its kinks. Central differences with h = 1e-5
 * are wrong by f''' h^2 / 6 and f eps / h, which is below 1e-8 for values and derivatives up to about 10. */
static void finite_differences(void **state) {
  (void)state;
  const double x[] = {0.31, 0.77, -0.43, 0.052}, y[] = {0.6, -0.83, 0.71, -0.27}, h = 1e-5;
  int tested = 0;
  for (const sim_expr_function *f = sim_expr_functions; f->name; f++) {
    if (strchr(f->takes, 'C')) continue;
    int count = strcmp(f->name, "box") == 0 ? 3 : f->least == 1 && f->most == 2 ? 2 : f->most < 0 ? 2 : f->most;
    sim_expr_ref args[] = {a, b, c}, ref = apply(f->name, count, args);
    if (sim_expr_builder_type(builder, ref) == SIM_EXPR_C) continue;
    for (size_t i = 0; i < COUNT(x); i++)
      for (int input = 0; input < 2; input++) {
        double u = x[i], v = y[i], z = 0.9;
        bool base = strcmp(f->name, "log") == 0 || strcmp(f->name, "pow") == 0;
        if (base) u = fabs(u) + 0.3, v = fabs(v) + 1.2;
        double hu = input == 0 ? h : 0, hv = input == 1 ? h : 0;
        double difference = (value_at(ref, u + hu, v + hv, z) - value_at(ref, u - hu, v - hv, z)) / (2 * h);
        double value = value_at(ref, u, v, z), d = derivative_at(ref, input, u, v, z);
        if (isnan(value)) continue; /* outside the domain */
        tested++;
        if (!(fabs(d - difference) <= 3e-8 * (1 + fabs(d) + fabs(d * d * d))))
          fail_msg("%s by argument %d at (%g, %g): %.12g, difference %.12g", f->name, input + 1, u, v, d, difference);
      }
  }
  assert_true(tested > 200);
}

static void closed_forms(void **state) {
  (void)state;
  const double x = 0.37, y = 1.21, z = -0.55;
  const double root = sqrt(x * x + y * y + z * z);
  sim_expr_ref r2 = F("add", F("add", F("mul", a, a), F("mul", b, b)), F("mul", c, c)), r = F("sqrt", r2);
  const struct {
    sim_expr_ref f;
    int input;
    double expected;
  } rows[] = {
      {r, 0, x / root},
      {F("div", number(-1), r), 1, y / (root * root * root)},
      {F("pow", r2, number(-0.5)), 2, -z / (root * root * root)},
      {F("log", r2), 0, 2 * x / (root * root)},
      {F("exp", F("unm", F("mul", a, a))), 0, -2 * x * exp(-x * x)},
      {F("pow", a, number(7)), 0, 7 * pow(x, 6)},
      {F("pow", a, b), 0, y * pow(x, y - 1)},
      {F("pow", a, b), 1, log(x) * pow(x, y)},
      {F("tanh", a), 0, 1 / (cosh(x) * cosh(x))},
      {F("erf", a), 0, 2 / sqrt(acos(-1)) * exp(-x * x)},
      {F("mul", F("sin", a), F("cos", b)), 1, -sin(x) * sin(y)},
      {F("atan", a, b), 0, y / (x * x + y * y)},
      {F("mod", a, number(0.2)), 0, 1},
      {F("idiv", a, number(0.2)), 0, 0},
      {F("step", a), 0, 0},
      {F("clamp", b, number(0), number(1)), 1, 0},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    double d = derivative_at(rows[i].f, rows[i].input, x, y, z);
    /* a dozen operations of at most 2.5 units each, on both sides */
    if (!(fabs(d - rows[i].expected) <= 1e-14 * (1 + fabs(rows[i].expected))))
      fail_msg("row %zu: %.17g, expected %.17g", i, d, rows[i].expected);
  }
  /* at large x, where 1 - tanh^2 would be 0 */
  assert_true(fabs(derivative_at(F("tanh", a), 0, 30, 0, 0) / (4 * exp(-60)) - 1) < 1e-14);
  /* the second derivative of a^3 b */
  sim_expr *expr = finish(F("mul", F("pow", a, number(3)), b)), *first, *second;
  assert_ok(sim_expr_derivative(expr, 0, &first));
  assert_ok(sim_expr_derivative(first, 0, &second));
  assert_string_equal(sim_expr_output_name(second, 0), "ddy_da_da");
  assert_true(at(second, 0, 2, 5, 0) == 60);
  sim_expr_free(&expr);
  sim_expr_free(&first);
  sim_expr_free(&second);
}

/* The derivative is that of the branch that gave the value. */
static void kinks(void **state) {
  (void)state;
  sim_expr_ref zero = number(0);
  assert_true(derivative_at(F("abs", a), 0, 0, 0, 0) == 1);
  assert_true(derivative_at(F("abs", a), 0, -2, 0, 0) == -1);
  assert_true(derivative_at(F("max", a, zero), 0, 0, 0, 0) == 1);
  assert_true(derivative_at(F("max", zero, a), 0, 0, 0, 0) == 0);
  assert_true(derivative_at(F("min", a, b), 0, 3, 3, 0) == 1);
  assert_true(derivative_at(F("min", a, b), 1, 3, 3, 0) == 0);
  assert_true(derivative_at(F("floor", a), 0, 3, 0, 0) == 0);
  assert_true(derivative_at(F("sign", a), 0, 0, 0, 0) == 0);
  assert_true(derivative_at(F("where", F("gt", a, zero), F("mul", a, a), F("unm", a)), 0, 0, 0, 0) == -1);
  assert_true(derivative_at(F("clamp", a, number(-1), number(1)), 0, 1, 0, 0) == 1);
  assert_true(derivative_at(F("clamp", a, number(-1), number(1)), 0, 2, 0, 0) == 0);
  assert_true(derivative_at(F("step", a), 0, 0, 0, 0) == 0);
  assert_true(derivative_at(F("mod", a, number(2)), 0, 4, 0, 0) == 1);
  /* the branch that is not taken contributes 0, although its own derivative is infinite */
  sim_expr_ref guarded = F("where", F("gt", a, zero), F("sqrt", a), zero);
  assert_true(derivative_at(guarded, 0, 0, 0, 0) == 0);
  sim_expr_ref inside = F("sqrt", F("where", F("gt", a, zero), a, zero));
  assert_true(derivative_at(inside, 0, 0, 0, 0) == 0);
  assert_true(derivative_at(F("div", number(1), F("max", F("mul", a, a), number(0.25))), 0, 0, 0, 0) == 0);
  /* several branches that meet in one value before an infinite factor */
  sim_expr_ref r = F("sqrt", F("add", F("mul", a, a), F("mul", b, b))), far = F("gt", r, number(1));
  sim_expr_ref inverse = F("div", number(1), r), both = F("add", F("log", r), inverse);
  assert_true(derivative_at(F("where", far, both, zero), 0, 0, 0, 0) == 0);
  assert_true(derivative_at(F("where", far, both, zero), 0, 3, 4, 0) == 3. / 25 - 3. / 125);
  sim_expr_ref near = F("where", F("lt", r, number(0.5)), number(7), inverse);
  assert_true(derivative_at(F("add", F("where", far, F("log", r), zero), near), 0, 0, 0, 0) == 0);
  assert_true(derivative_at(F("abs", F("where", far, both, zero)), 0, 0, 0, 0) == 0);
  assert_true(derivative_at(F("abs", F("where", far, F("unm", both), zero)), 0, 3, 4, 0) == 3. / 25 - 3. / 125);
  assert_true(derivative_at(F("mul", F("where", far, r, zero), F("where", far, inverse, zero)), 0, 0, 0, 0) == 0);
  sim_expr *expr = finish(F("lt", a, b)), *derivative;
  assert_int_equal(sim_expr_derivative(expr, 0, &derivative), SIM_ERR_SCENARIO);
  assert_string_equal(sim_error_last()->message, "y is a condition: only a number has a derivative");
  sim_expr_free(&expr);
}

/* (x^2 + y^2)^(n/2) has a derivative at 0 from n = 2 on, in every way to write it. */
static void powers_of_roots_at_their_zero(void **state) {
  (void)state;
  sim_expr_ref r2 = F("add", F("mul", a, a), F("mul", b, b)), r = F("sqrt", r2);
  const struct {
    sim_expr_ref f;
    double factor, n; /* factor r^n */
  } rows[] = {
      {F("pow", r2, number(1.5)), 1, 3},
      {F("pow", r2, number(2.5)), 1, 5},
      {F("pow", r, number(2)), 1, 2},
      {F("pow", r, number(3)), 1, 3},
      {F("pow", r, number(7)), 1, 7},
      {F("mul", r2, r), 1, 3},
      {F("mul", r, F("mul", number(-3), r2)), -3, 3},
      {F("mul", F("mul", F("unm", r), F("div", r, number(4))), r2), -0.25, 4},
      {F("pow", F("mul", number(2), r), number(3)), 8, 3},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    const double n = rows[i].n, expected = rows[i].factor * n * 3 * pow(5, n - 2); /* c n x r^(n - 2) at (3, 4) */
    assert_true(derivative_at(rows[i].f, 0, 0, 0, 0) == 0);
    double d = derivative_at(rows[i].f, 0, 3, 4, 0);
    if (!(fabs(d - expected) <= 1e-14 * fabs(expected))) fail_msg("row %zu: %.17g, expected %.17g", i, d, expected);
  }
  /* a root alone has none */
  assert_true(isnan(derivative_at(r, 0, 0, 0, 0)));
  /* square roots of square roots of a graph that is squared many times */
  sim_expr_ref square = F("sqrt", a);
  for (int i = 0; i < 40; i++) square = F("mul", square, square);
  assert_true(derivative_at(square, 0, 1, 0, 0) == 0x1p39);
}

int main(void) {
  const struct CMUnitTest tests[] = {TEST(finite_differences), TEST(closed_forms), TEST(kinks),
                                     TEST(powers_of_roots_at_their_zero)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
