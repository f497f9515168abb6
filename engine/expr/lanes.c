/* The loops of one table of lanes.h, for EXPR_SINGLE 0 or 1. In single precision, operations that IEEE 754 rounds are
 * computed in float; functions are computed in double and rounded once. */
#include "engine/expr/lanes.h"
#include "engine/expr/trig.h"

#if EXPR_SINGLE
typedef float real;
#define SQRT sqrtf
#define FLOOR floorf
#define CEIL ceilf
#define FMOD fmodf
#define ABS fabsf
LANE double hypot_of(double x, double y) { /* squares of floats cannot overflow a double */
  double r = sqrt(x * x + y * y);
  r = magnitude(x) == (double)INFINITY ? (double)INFINITY : r;
  return magnitude(y) == (double)INFINITY ? (double)INFINITY : r;
}
#else
typedef double real;
#define SQRT sqrt
#define FLOOR floor
#define CEIL ceil
#define FMOD fmod
#define ABS fabs
#define hypot_of lane_hypot
#endif

#define UNARY(op, formula)                                                                                             \
  static void op_##op(size_t n, void *out, const void *const *operands) {                                              \
    real *restrict o = out;                                                                                            \
    const real *a = operands[0];                                                                                       \
    for (size_t i = 0; i < n; i++) {                                                                                   \
      real x = a[i];                                                                                                   \
      o[i] = (real)(formula);                                                                                          \
    }                                                                                                                  \
  }
/* One loop per combination of operands that have one value. */
#define BINARY_LOOP(name, first, second, formula)                                                                      \
  static void name(size_t n, void *out, const void *const *operands) {                                                 \
    real *restrict o = out;                                                                                            \
    const real *a = operands[0], *b = operands[1];                                                                     \
    const real a0 = *a, b0 = *b;                                                                                       \
    (void)a0, (void)b0;                                                                                                \
    for (size_t i = 0; i < n; i++) {                                                                                   \
      real x = first, y = second;                                                                                      \
      o[i] = (real)(formula);                                                                                          \
    }                                                                                                                  \
  }
#define BINARY(op, formula)                                                                                            \
  BINARY_LOOP(op_##op##_00, a[i], b[i], formula)                                                                       \
  BINARY_LOOP(op_##op##_10, a0, b[i], formula)                                                                         \
  BINARY_LOOP(op_##op##_01, a[i], b0, formula)
#define SELECT_LOOP(name, condition, first, second)                                                                    \
  static void name(size_t n, void *out, const void *const *operands) {                                                 \
    real *restrict o = out;                                                                                            \
    const real *c = operands[0], *a = operands[1], *b = operands[2];                                                   \
    const real c0 = *c, a0 = *a, b0 = *b;                                                                              \
    (void)c0, (void)a0, (void)b0;                                                                                      \
    for (size_t i = 0; i < n; i++) {                                                                                   \
      real x = first, y = second;                                                                                      \
      o[i] = condition != 0 ? x : y;                                                                                   \
    }                                                                                                                  \
  }
/* Few arguments exceed the range of reduce_near: only a block with such an argument is computed a second time. */
#define PERIODIC(op, near, far)                                                                                        \
  static void op_##op(size_t n, void *out, const void *const *operands) {                                              \
    real *restrict o = out;                                                                                            \
    const real *a = operands[0];                                                                                       \
    uint64_t beyond = 0;                                                                                               \
    for (size_t i = 0; i < n; i++) {                                                                                   \
      double x = (double)a[i];                                                                                         \
      beyond |= bits_of(REDUCE_MAX) - bits_of(magnitude(x));                                                           \
      o[i] = (real)near(x);                                                                                            \
    }                                                                                                                  \
    if (beyond >> 63)                                                                                                  \
      for (size_t i = 0; i < n; i++)                                                                                   \
        if (!(magnitude((double)a[i]) <= REDUCE_MAX)) o[i] = (real)far((double)a[i]);                                  \
  }

/* C's fmod is exact, so its bits do not depend on the library; this loop is not vectorized. */
LANE real floored(real x, real y) {
  real r = FMOD(x, y);
  return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

/* Operations with one operand and with two: X(operation, formula); operation as in sim_expr_op without SIM_EXPR_. */
#define OF_ONE(X)                                                                                                      \
  X(NEG, -x)                                                                                                           \
  X(NOT, 1 - x)                                                                                                        \
  X(ABS, ABS(x))                                                                                                       \
  X(SIGN, x > 0 ? 1 : x < 0 ? -1 : x)                                                                                  \
  X(FLOOR, FLOOR(x))                                                                                                   \
  X(CEIL, CEIL(x))                                                                                                     \
  X(SQRT, SQRT(x))                                                                                                     \
  X(CBRT, lane_cbrt((double)x))                                                                                        \
  X(EXP, lane_exp((double)x))                                                                                          \
  X(EXPM1, lane_expm1((double)x))                                                                                      \
  X(LOG, lane_log((double)x))                                                                                          \
  X(LOG1P, lane_log1p((double)x))                                                                                      \
  X(LOG2, lane_log2((double)x))                                                                                        \
  X(LOG10, lane_log10((double)x))                                                                                      \
  X(ASIN, lane_asin((double)x))                                                                                        \
  X(ACOS, lane_acos((double)x))                                                                                        \
  X(ATAN, lane_atan((double)x))                                                                                        \
  X(SINH, lane_sinh((double)x))                                                                                        \
  X(COSH, lane_cosh((double)x))                                                                                        \
  X(TANH, lane_tanh((double)x))                                                                                        \
  X(ERF, lane_erf((double)x))                                                                                          \
  X(ERFC, lane_erfc((double)x))
#define OF_TWO(X)                                                                                                      \
  X(ADD, x + y)                                                                                                        \
  X(SUB, x - y)                                                                                                        \
  X(MUL, x *y)                                                                                                         \
  X(DIV, x / y)                                                                                                        \
  X(MOD, floored(x, y))                                                                                                \
  X(FMOD, FMOD(x, y))                                                                                                  \
  X(POW, lane_pow((double)x, (double)y))                                                                               \
  X(MIN, ((y < x) | (y != y)) ? y : x)                                                                                 \
  X(MAX, ((y > x) | (y != y)) ? y : x)                                                                                 \
  X(ATAN2, lane_atan2((double)x, (double)y))                                                                           \
  X(HYPOT, hypot_of((double)x, (double)y))                                                                             \
  X(LT, x < y ? 1 : 0)                                                                                                 \
  X(LE, x <= y ? 1 : 0)                                                                                                \
  X(EQ, x == y ? 1 : 0)                                                                                                \
  X(NE, x != y ? 1 : 0)                                                                                                \
  X(AND, x *y)                                                                                                         \
  X(OR, x > y ? x : y)

UNARY(INPUT, x)
static void fill(size_t n, void *out, const void *const *operands) {
  real *restrict o = out;
  const real value = *(const real *)operands[0];
  for (size_t i = 0; i < n; i++) o[i] = value;
}
OF_ONE(UNARY)
OF_TWO(BINARY)
PERIODIC(SIN, lane_sin, far_sin)
PERIODIC(COS, lane_cos, far_cos)
PERIODIC(TAN, lane_tan, far_tan)
SELECT_LOOP(where_000, c[i], a[i], b[i])
SELECT_LOOP(where_010, c[i], a0, b[i])
SELECT_LOOP(where_001, c[i], a[i], b0)
SELECT_LOOP(where_011, c[i], a0, b0)
SELECT_LOOP(where_100, c0, a[i], b[i])
SELECT_LOOP(where_110, c0, a0, b[i])
SELECT_LOOP(where_101, c0, a[i], b0)

#define ENTRY_ONE(op, formula) [SIM_EXPR_##op] = {op_##op},
#define ENTRY_TWO(op, formula) [SIM_EXPR_##op] = {op_##op##_00, op_##op##_10, op_##op##_01},
sim_expr_kernels SIM_EXPR_KERNELS = {
    [SIM_EXPR_INPUT] = {op_INPUT, fill},
    [SIM_EXPR_SIN] = {op_SIN},
    [SIM_EXPR_COS] = {op_COS},
    [SIM_EXPR_TAN] = {op_TAN},
    [SIM_EXPR_WHERE] = {where_000, where_100, where_010, where_110, where_001, where_101, where_011},
    OF_ONE(ENTRY_ONE) OF_TWO(ENTRY_TWO)};
