/* Kernels of the table SIM_EXPR_KERNELS for EXPR_SINGLE 0 or 1; see lanes.h. In single precision, operations that
 * IEEE 754 rounds are computed in float, functions in double and rounded once. */
#include "engine/expr/lanes.h"
#include "engine/expr/trig.h"

#if EXPR_SINGLE
typedef float real;
#define SQRT sqrtf
#define FLOOR floorf
#define CEIL ceilf
#define FMOD fmodf
#define ABS fabsf
LANE double hypot_of(double x, double y) { /* floats cannot overflow a double here */
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

#define UNARY(name, formula)                                                                                           \
  static void name(size_t n, void *out, const void *const *operands) {                                                 \
    real *restrict o = out;                                                                                            \
    const real *a = operands[0];                                                                                       \
    for (size_t i = 0; i < n; i++) {                                                                                   \
      real x = a[i];                                                                                                   \
      o[i] = (real)(formula);                                                                                          \
    }                                                                                                                  \
  }
/* One loop for each combination of operands that are single values. */
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
#define BINARY(name, formula)                                                                                          \
  BINARY_LOOP(name##_00, a[i], b[i], formula)                                                                          \
  BINARY_LOOP(name##_10, a0, b[i], formula)                                                                            \
  BINARY_LOOP(name##_01, a[i], b0, formula)
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
/* Few arguments are beyond the range of the vector reduction: a block with such an argument takes a second pass. */
#define PERIODIC(name, near, far)                                                                                      \
  static void name(size_t n, void *out, const void *const *operands) {                                                 \
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

UNARY(copy, x)
static void fill(size_t n, void *out, const void *const *operands) {
  real *restrict o = out;
  const real value = *(const real *)operands[0];
  for (size_t i = 0; i < n; i++) o[i] = value;
}

BINARY(add, x + y)
BINARY(sub, x - y)
BINARY(mul, x *y)
BINARY(quotient, x / y)
BINARY(min, ((y < x) | (y != y)) ? y : x)
BINARY(max, ((y > x) | (y != y)) ? y : x)
BINARY(lt, x < y ? 1 : 0)
BINARY(le, x <= y ? 1 : 0)
BINARY(eq, x == y ? 1 : 0)
BINARY(ne, x != y ? 1 : 0)
BINARY(both, x *y)
BINARY(either, x > y ? x : y)
BINARY(power, lane_pow((double)x, (double)y))
BINARY(arc2, lane_atan2((double)x, (double)y))
BINARY(distance, hypot_of((double)x, (double)y))
SELECT_LOOP(where_000, c[i], a[i], b[i])
SELECT_LOOP(where_010, c[i], a0, b[i])
SELECT_LOOP(where_001, c[i], a[i], b0)
SELECT_LOOP(where_011, c[i], a0, b0)
SELECT_LOOP(where_100, c0, a[i], b[i])
SELECT_LOOP(where_110, c0, a0, b[i])
SELECT_LOOP(where_101, c0, a[i], b0)

/* C's fmod is exact, so that its bits do not depend on the library; it is not vectorized. */
LANE real floored(real x, real y) {
  real r = FMOD(x, y);
  return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}
BINARY(modulo, floored(x, y))
BINARY(remainder_of, FMOD(x, y))

UNARY(neg, -x)
UNARY(not_of, 1 - x)
UNARY(size, ABS(x))
UNARY(sign_of, x > 0 ? 1 : x < 0 ? -1 : x)
UNARY(down, FLOOR(x))
UNARY(up, CEIL(x))
UNARY(root, SQRT(x))
UNARY(cube_root, lane_cbrt((double)x))
UNARY(expo, lane_exp((double)x))
UNARY(expo_less_1, lane_expm1((double)x))
UNARY(logarithm, lane_log((double)x))
UNARY(logarithm_1, lane_log1p((double)x))
UNARY(logarithm2, lane_log2((double)x))
UNARY(logarithm10, lane_log10((double)x))
PERIODIC(sinus, lane_sin, far_sin)
PERIODIC(cosinus, lane_cos, far_cos)
PERIODIC(tangens, lane_tan, far_tan)
UNARY(arc_sine, lane_asin((double)x))
UNARY(arc_cosine, lane_acos((double)x))
UNARY(arc_tangent, lane_atan((double)x))
UNARY(sine_h, lane_sinh((double)x))
UNARY(cosine_h, lane_cosh((double)x))
UNARY(tangent_h, lane_tanh((double)x))
UNARY(error, lane_erf((double)x))
UNARY(error_c, lane_erfc((double)x))

#define TWO(name)                                                                                                      \
  { name##_00, name##_10, name##_01 }
sim_expr_kernels SIM_EXPR_KERNELS = {
    [SIM_EXPR_INPUT] = {copy, fill},
    [SIM_EXPR_ADD] = TWO(add),
    [SIM_EXPR_SUB] = TWO(sub),
    [SIM_EXPR_MUL] = TWO(mul),
    [SIM_EXPR_DIV] = TWO(quotient),
    [SIM_EXPR_NEG] = {neg},
    [SIM_EXPR_MOD] = TWO(modulo),
    [SIM_EXPR_FMOD] = TWO(remainder_of),
    [SIM_EXPR_POW] = TWO(power),
    [SIM_EXPR_MIN] = TWO(min),
    [SIM_EXPR_MAX] = TWO(max),
    [SIM_EXPR_ATAN2] = TWO(arc2),
    [SIM_EXPR_HYPOT] = TWO(distance),
    [SIM_EXPR_LT] = TWO(lt),
    [SIM_EXPR_LE] = TWO(le),
    [SIM_EXPR_EQ] = TWO(eq),
    [SIM_EXPR_NE] = TWO(ne),
    [SIM_EXPR_AND] = TWO(both),
    [SIM_EXPR_OR] = TWO(either),
    [SIM_EXPR_NOT] = {not_of},
    [SIM_EXPR_WHERE] = {where_000, where_100, where_010, where_110, where_001, where_101, where_011},
    [SIM_EXPR_ABS] = {size},
    [SIM_EXPR_SIGN] = {sign_of},
    [SIM_EXPR_FLOOR] = {down},
    [SIM_EXPR_CEIL] = {up},
    [SIM_EXPR_SQRT] = {root},
    [SIM_EXPR_CBRT] = {cube_root},
    [SIM_EXPR_EXP] = {expo},
    [SIM_EXPR_EXPM1] = {expo_less_1},
    [SIM_EXPR_LOG] = {logarithm},
    [SIM_EXPR_LOG1P] = {logarithm_1},
    [SIM_EXPR_LOG2] = {logarithm2},
    [SIM_EXPR_LOG10] = {logarithm10},
    [SIM_EXPR_SIN] = {sinus},
    [SIM_EXPR_COS] = {cosinus},
    [SIM_EXPR_TAN] = {tangens},
    [SIM_EXPR_ASIN] = {arc_sine},
    [SIM_EXPR_ACOS] = {arc_cosine},
    [SIM_EXPR_ATAN] = {arc_tangent},
    [SIM_EXPR_SINH] = {sine_h},
    [SIM_EXPR_COSH] = {cosine_h},
    [SIM_EXPR_TANH] = {tangent_h},
    [SIM_EXPR_ERF] = {error},
    [SIM_EXPR_ERFC] = {error_c},
};
