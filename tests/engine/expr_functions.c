/* Every operation against the C library, in long double where it has 64 bits: bounds in units of the last place,
 * special values, the same bits on all instruction sets. With the argument `table` it prints the table of
 * docs/functions.md. */
#include "expr_testing.h"

#include <float.h>

typedef long double one(long double);
typedef long double two(long double, long double);

static long double add(long double x, long double y) { return x + y; }
static long double subtract(long double x, long double y) { return x - y; }
static long double multiply(long double x, long double y) { return x * y; }
static long double divide(long double x, long double y) { return x / y; }
static long double least(long double x, long double y) { return y < x || isnan(y) ? y : x; }
static long double greatest(long double x, long double y) { return y > x || isnan(y) ? y : x; }
static long double below(long double x, long double y) { return x < y; }
static long double below_or_equal(long double x, long double y) { return x <= y; }
static long double equal(long double x, long double y) { return x == y; }
static long double different(long double x, long double y) { return x != y; }
static long double both(long double x, long double y) { return x != 0 && y != 0; }
static long double either(long double x, long double y) { return x != 0 || y != 0; }
static long double negation(long double x) { return !(x != 0); }
static long double negated(long double x) { return -x; }
static long double sign_of(long double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }
static long double modulo(long double x, long double y) {
  long double r = fmodl(x, y);
  return r != 0 && (r < 0) != (y < 0) ? (long double)((double)r + (double)y) : r;
}
static long double modulo_f(long double x, long double y) {
  long double r = fmodl(x, y);
  return r != 0 && (r < 0) != (y < 0) ? (long double)((float)r + (float)y) : r;
}

/* Bounds in double and single precision, measured on 10^6 arguments and raised by a tenth or more. 0.5 and 0 are
 * required by IEEE 754. Single precision is a double rounded once: half a unit plus the double's error. Arguments are
 * drawn evenly between low and high. With `decades` their logarithm is drawn evenly, and both signs where `negative` is
 * set. The b of a ^ b is between -20 and 20. */
static const struct row {
  const char *name;
  sim_expr_op op;
  one *f;
  two *g;
  double bound, bound_single;
  double low, high;
  bool decades, negative;
} rows[] = {
    {"a + b", SIM_EXPR_ADD, NULL, add, 0.5, 0.5, 1e-6, 1e6, true, true},
    {"a - b", SIM_EXPR_SUB, NULL, subtract, 0.5, 0.5, 1e-6, 1e6, true, true},
    {"a * b", SIM_EXPR_MUL, NULL, multiply, 0.5, 0.5, 1e-18, 1e18, true, true},
    {"a / b", SIM_EXPR_DIV, NULL, divide, 0.5, 0.5, 1e-18, 1e18, true, true},
    {"a % b", SIM_EXPR_MOD, NULL, modulo, 0, 0, 1e-3, 1e3, true, true},
    {"-a", SIM_EXPR_NEG, negated, NULL, 0, 0, 1e-18, 1e18, true, true},
    {"a ^ b", SIM_EXPR_POW, NULL, powl, 1, 0.51, 1e-2, 30, true, false},
    {"fmod", SIM_EXPR_FMOD, NULL, fmodl, 0, 0, 1e-3, 1e3, true, true},
    {"min", SIM_EXPR_MIN, NULL, least, 0, 0, -1, 1, false, false},
    {"max", SIM_EXPR_MAX, NULL, greatest, 0, 0, -1, 1, false, false},
    {"lt, gt", SIM_EXPR_LT, NULL, below, 0, 0, -1, 1, false, false},
    {"le, ge", SIM_EXPR_LE, NULL, below_or_equal, 0, 0, -1, 1, false, false},
    {"eq", SIM_EXPR_EQ, NULL, equal, 0, 0, -1, 1, false, false},
    {"ne", SIM_EXPR_NE, NULL, different, 0, 0, -1, 1, false, false},
    {"and", SIM_EXPR_AND, NULL, both, 0, 0, -1, 1, false, false},
    {"or", SIM_EXPR_OR, NULL, either, 0, 0, -1, 1, false, false},
    {"not", SIM_EXPR_NOT, negation, NULL, 0, 0, -1, 1, false, false},
    {"abs", SIM_EXPR_ABS, fabsl, NULL, 0, 0, 1e-18, 1e18, true, true},
    {"sign", SIM_EXPR_SIGN, sign_of, NULL, 0, 0, 1e-18, 1e18, true, true},
    {"floor", SIM_EXPR_FLOOR, floorl, NULL, 0, 0, 1e-3, 1e18, true, true},
    {"ceil", SIM_EXPR_CEIL, ceill, NULL, 0, 0, 1e-3, 1e18, true, true},
    {"sqrt", SIM_EXPR_SQRT, sqrtl, NULL, 0.5, 0.5, 1e-30, 1e30, true, false},
    {"cbrt", SIM_EXPR_CBRT, cbrtl, NULL, 0.7, 0.51, 1e-30, 1e30, true, true},
    {"hypot", SIM_EXPR_HYPOT, NULL, hypotl, 1.3, 0.51, 1e-12, 1e12, true, true},
    {"exp", SIM_EXPR_EXP, expl, NULL, 0.9, 0.51, -87, 88, false, false},
    {"exp, small x", SIM_EXPR_EXP, expl, NULL, 0.9, 0.51, -1, 1, false, false},
    {"exp, any x", SIM_EXPR_EXP, expl, NULL, 0.9, 0.51, -745, 709.7, false, false},
    {"expm1", SIM_EXPR_EXPM1, expm1l, NULL, 1.6, 0.51, 1e-12, 80, true, true},
    {"log", SIM_EXPR_LOG, logl, NULL, 0.9, 0.51, 1e-30, 1e30, true, false},
    {"log, x near 1", SIM_EXPR_LOG, logl, NULL, 0.9, 0.51, 0.5, 2, false, false},
    {"log1p", SIM_EXPR_LOG1P, log1pl, NULL, 0.9, 0.51, -0.999, 3, false, false},
    {"log2", SIM_EXPR_LOG2, log2l, NULL, 0.9, 0.51, 0.5, 2, false, false},
    {"log10", SIM_EXPR_LOG10, log10l, NULL, 0.9, 0.51, 0.5, 2, false, false},
    {"sin", SIM_EXPR_SIN, sinl, NULL, 0.9, 0.51, -7, 7, false, false},
    {"sin, any x", SIM_EXPR_SIN, sinl, NULL, 0.9, 0.51, 1e-12, 1e18, true, true},
    {"cos", SIM_EXPR_COS, cosl, NULL, 0.9, 0.51, -7, 7, false, false},
    {"cos, any x", SIM_EXPR_COS, cosl, NULL, 0.9, 0.51, 1e-12, 1e18, true, true},
    {"tan", SIM_EXPR_TAN, tanl, NULL, 2.4, 0.51, -7, 7, false, false},
    {"tan, any x", SIM_EXPR_TAN, tanl, NULL, 2.4, 0.51, 1e-12, 1e18, true, true},
    {"asin", SIM_EXPR_ASIN, asinl, NULL, 0.9, 0.51, -1, 1, false, false},
    {"acos", SIM_EXPR_ACOS, acosl, NULL, 1, 0.51, -1, 1, false, false},
    {"atan", SIM_EXPR_ATAN, atanl, NULL, 1.9, 0.51, 1e-12, 1e12, true, true},
    {"atan2", SIM_EXPR_ATAN2, NULL, atan2l, 2.4, 0.51, 1e-3, 1e3, true, true},
    {"sinh", SIM_EXPR_SINH, sinhl, NULL, 2.2, 0.51, 1e-12, 80, true, true},
    {"cosh", SIM_EXPR_COSH, coshl, NULL, 1.5, 0.51, 1e-12, 80, true, true},
    {"tanh", SIM_EXPR_TANH, tanhl, NULL, 2.5, 0.51, 1e-12, 30, true, true},
    {"erf", SIM_EXPR_ERF, erfl, NULL, 1.3, 0.51, 1e-12, 6, true, true},
    {"erfc", SIM_EXPR_ERFC, erfcl, NULL, 4.5, 0.51, -6, 9, false, false},
    {"erfc, any x", SIM_EXPR_ERFC, erfcl, NULL, 4.5, 0.51, -1, 27.3, false, false},
};

/* Returns the error in units of the last place, which are never smaller than the least subnormal number. */
static double distance(double y, long double truth, bool single) {
  if (isnan(y) || isnan(truth)) return isnan(y) && isnan(truth) ? 0 : HUGE_VAL;
  double rounded = single ? (double)(float)truth : (double)truth;
  if (isinf(y) || isinf(rounded)) return y == rounded ? 0 : HUGE_VAL;
  int digits = single ? FLT_MANT_DIG : DBL_MANT_DIG, least_exponent = single ? FLT_MIN_EXP - 1 : DBL_MIN_EXP - 1;
  int exponent = truth == 0 ? least_exponent : ilogbl(truth);
  if (exponent < least_exponent) exponent = least_exponent;
  return (double)fabsl(ldexpl((long double)y - truth, digits - 1 - exponent));
}

static double draw(const struct row *row, uint64_t *state) {
  double u = test_uniform(state);
  if (!row->decades) return row->low + u * (row->high - row->low);
  double x = exp(log(row->low) + u * (log(row->high) - log(row->low)));
  return row->negative && (test_random(state) & 1) ? -x : x;
}

/* Arguments [n] of an operation, rounded to the precision, and its results on each instruction set, which must have the
 * same bits. results: as doubles. */
static void evaluate(const struct row *row, bool single, size_t n, double *a, double *b, double *results) {
  bool takes_conditions = row->op == SIM_EXPR_AND || row->op == SIM_EXPR_OR || row->op == SIM_EXPR_NOT;
  sim_expr *expr = test_operation(row->op, row->g ? 2 : 1, takes_conditions ? (const bool[]){true, true} : NULL);
  float *fa = malloc(4 * n), *fb = malloc(4 * n), *fy = malloc(4 * n), *fz = malloc(4 * n);
  double *z = malloc(8 * n);
  for (size_t i = 0; i < n; i++) {
    fa[i] = (float)a[i];
    fb[i] = (float)b[i];
    if (single) a[i] = (double)fa[i];
    if (single) b[i] = (double)fb[i];
  }
  const void *const inputs[] = {single ? (void *)fa : a, single ? (void *)fb : b};
  for (int isa = 0; isa <= (int)sim_isa_best(); isa++) {
    sim_expr_target target = {.single = single, .isa = (sim_isa)isa};
    void *first[] = {single ? (void *)fy : results}, *other[] = {single ? (void *)fz : z};
    test_run(expr, &target, n, inputs, isa ? other : first);
    if (isa) assert_memory_equal(first[0], other[0], n * (single ? 4 : 8));
  }
  if (single)
    for (size_t i = 0; i < n; i++) results[i] = (double)fy[i];
  free(fa), free(fb), free(fy), free(fz), free(z);
  sim_expr_free(&expr);
}

static double worst_of(const struct row *row, bool single, size_t n, const double *a, const double *b,
                       const double *results, size_t *where) {
  double worst = 0;
  for (size_t i = 0; i < n; i++) {
    two *g = row->g == modulo && single ? modulo_f : row->g;
    long double truth = g ? g(a[i], b[i]) : row->f((long double)a[i]);
    double wrong = distance(results[i], truth, single);
    if (wrong > worst) {
      worst = wrong;
      *where = i;
    }
  }
  return worst;
}

enum { DRAWS = 20000 };

static double measured(const struct row *row, bool single, size_t n) {
  uint64_t state = 7;
  double *a = malloc(8 * n), *b = malloc(8 * n), *y = malloc(8 * n);
  for (size_t i = 0; i < n; i++) {
    a[i] = draw(row, &state);
    b[i] = row->op == SIM_EXPR_POW ? test_uniform(&state) * 40 - 20 : draw(row, &state);
    if (i % 16 == 0 && (row->op == SIM_EXPR_EQ || row->op == SIM_EXPR_NE || row->op == SIM_EXPR_LE)) b[i] = a[i];
    if (i % 3 == 0 && (row->op == SIM_EXPR_AND || row->op == SIM_EXPR_OR || row->op == SIM_EXPR_NOT)) a[i] = 0;
    if (i % 5 == 0 && (row->op == SIM_EXPR_AND || row->op == SIM_EXPR_OR)) b[i] = 0;
  }
  evaluate(row, single, n, a, b, y);
  size_t where = 0;
  double worst = worst_of(row, single, n, a, b, y, &where);
  if (worst > (single ? row->bound_single : row->bound))
    print_message("%s: %.3f units at (%.17g, %.17g)\n", row->name, worst, a[where], b[where]);
  free(a), free(b), free(y);
  return worst;
}

static void accuracy(void **state) {
  (void)state;
  if (LDBL_MANT_DIG < 64) skip(); /* nothing to compare with */
  int failed = 0;
  for (size_t i = 0; i < COUNT(rows); i++)
    for (int single = 0; single < 2; single++)
      failed += measured(&rows[i], single, DRAWS) > (single ? rows[i].bound_single : rows[i].bound);
  assert_int_equal(failed, 0);
}

/* C's results at special values (annex F): the same number, infinity, NaN, and sign of zero. Other results within 5
 * units, more than any row's bound. */
static void special_values(void **state) {
  (void)state;
  static const double values[] = {0.0,       -0.0,
                                  0.5,       -0.5,
                                  1,         -1,
                                  2,         -2,
                                  3,         -3,
                                  10,        INFINITY,
                                  -INFINITY, NAN,
                                  0x1p-1074, -0x1p-1074,
                                  0x1p-1030, 0x1p-1022,
                                  0x1p-149,  1e-300,
                                  1e300,     -1e300,
                                  DBL_MAX,   -DBL_MAX,
                                  0x1p53,    0x1p53 + 1,
                                  1e22,      709.7,
                                  -745.2,    89,
                                  -104,      1e15,
                                  0x1p20,    0x1.0000000000001p20};
  enum { N = sizeof values / sizeof values[0] };
  int failed = 0;
  for (size_t r = 0; r < COUNT(rows); r++)
    for (int single = 0; single < 2; single++) {
      static double a[N * N], b[N * N], y[N * N];
      const struct row *row = &rows[r];
      two *g = row->g == modulo && single ? modulo_f : row->g;
      for (size_t i = 0; i < (size_t)N * N; i++) {
        a[i] = values[i / N];
        b[i] = values[i % N];
      }
      evaluate(row, single, (size_t)N * N, a, b, y);
      for (size_t i = 0; i < (size_t)N * N; i++) {
        long double truth = g ? g(a[i], b[i]) : row->f((long double)a[i]);
        bool sign = isnan(y[i]) || y[i] != 0 || !signbit(y[i]) == !signbit(truth);
        if (distance(y[i], truth, single) <= 5 && sign) continue;
        if (failed++ < 20)
          print_message("%s%s(%g, %g): %.17g, expected %.17g\n", row->name, single ? " (single)" : "", a[i], b[i], y[i],
                        (double)truth);
      }
    }
  assert_int_equal(failed, 0);
}

/* Arguments far beyond the last exact turn, computed from 60 digits. 6381956970095103 * 2^797 is the double nearest to
 * a multiple of pi/2. */
static void huge_arguments(void **state) {
  (void)state;
  static const struct {
    double x, sine, cosine;
  } rows_huge[] = {
      {0x1.6ac5b262ca1ffp+849, 0x1.0000000000000p+0, -0x1.14ae72e6ba22fp-61},
      {0x1.0f0cf064dd592p+73, -0x1.b453ab76bf397p-1, 0x1.0be2cef01c8f4p-1},
      {0x1.7e43c8800759cp+996, -0x1.a2c16b010e385p-1, -0x1.2699022adc4c1p-1},
      {0x1.fffffffffffffp+1023, 0x1.452fc98b34e97p-8, -0x1.fffe62ecfab75p-1},
      {0x1.0000000000000p+1023, 0x1.205248cbdb760p-1, -0x1.a719f26c232bfp-1},
      {0x1.c9c3800000000p+24, 0x1.eda27c851d431p-1, -0x1.0fccb9cbaf7eap-2},
      {0x1.0000000000004p+60, -0x1.76b827d431e3ep-1, -0x1.5ce5bcaeef6f4p-1},
  };
  sim_expr *sine = test_operation(SIM_EXPR_SIN, 1, NULL), *cosine = test_operation(SIM_EXPR_COS, 1, NULL);
  for (size_t i = 0; i < COUNT(rows_huge); i++) {
    double s, c;
    sim_expr_target target = {.isa = sim_isa_best()};
    test_run(sine, &target, 1, (const void *const[]){&rows_huge[i].x}, (void *const[]){&s});
    test_run(cosine, &target, 1, (const void *const[]){&rows_huge[i].x}, (void *const[]){&c});
    /* 0.9 from the table, and half a unit from the rounding of the reference */
    assert_true(distance(s, (long double)rows_huge[i].sine, false) <= 1.4);
    assert_true(distance(c, (long double)rows_huge[i].cosine, false) <= 1.4);
  }
  sim_expr_free(&sine);
  sim_expr_free(&cosine);
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "table") == 0) {
    for (size_t i = 0; i < COUNT(rows); i++)
      printf("| %s | %.2f (%.2f) | %.2f (%.3f) |\n", rows[i].name, rows[i].bound, measured(&rows[i], false, 1000000),
             rows[i].bound_single, measured(&rows[i], true, 1000000));
    return 0;
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(accuracy), cmocka_unit_test(special_values),
                                     cmocka_unit_test(huge_arguments)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
