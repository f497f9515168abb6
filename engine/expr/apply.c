/* The functions that a user can call. */
#include "engine/expr/expr.h"

#include <math.h>
#include <string.h>

/* Rules for functions that are not single operations. */
enum { FOLD = 1000, IDIV = 2000, GT, GE, CLAMP, STEP, BOX, LOG_BASE, ATAN_TWO, DEG, RAD };

#define ONE(name, op, doc)                                                                                             \
  { name, 1, 1, "N", SIM_EXPR_##op, doc }
#define TWO(name, op, doc)                                                                                             \
  { name, 2, 2, "N", SIM_EXPR_##op, doc }

const sim_expr_function sim_expr_functions[] = {
    TWO("add", ADD, "a + b"),
    TWO("sub", SUB, "a - b"),
    TWO("mul", MUL, "a * b"),
    TWO("div", DIV, "a / b"),
    ONE("unm", NEG, "-a"),
    TWO("mod", MOD, "a % b: the rest of a // b, with the sign of b"),
    {"idiv", 2, 2, "N", IDIV, "a // b: floor(a / b)"},
    TWO("pow", POW, "a ^ b: products for a constant integer or half-integer b"),
    {"lt", 2, 2, "N", SIM_EXPR_LT, "lt(a, b): whether a < b"},
    {"le", 2, 2, "N", SIM_EXPR_LE, "le(a, b): whether a <= b"},
    {"gt", 2, 2, "N", GT, "gt(a, b): whether a > b"},
    {"ge", 2, 2, "N", GE, "ge(a, b): whether a >= b"},
    {"eq", 2, 2, "N", SIM_EXPR_EQ, "eq(a, b): whether a == b"},
    {"ne", 2, 2, "N", SIM_EXPR_NE, "ne(a, b): whether a ~= b"},
    {"and", 1, -1, "C", FOLD + SIM_EXPR_AND, "and(p, q, ...): whether all hold"},
    {"or", 1, -1, "C", FOLD + SIM_EXPR_OR, "or(p, q, ...): whether one holds"},
    {"not", 1, 1, "C", SIM_EXPR_NOT, "not(p): whether p does not hold"},
    {"where", 3, 3, "CNN", SIM_EXPR_WHERE, "where(p, a, b): a where p holds, else b"},
    {"min", 1, -1, "N", FOLD + SIM_EXPR_MIN, "min(a, b, ...): the least"},
    {"max", 1, -1, "N", FOLD + SIM_EXPR_MAX, "max(a, b, ...): the greatest"},
    {"clamp", 3, 3, "N", CLAMP, "clamp(x, low, high): min(max(x, low), high)"},
    {"step", 1, 1, "N", STEP, "step(x): 1 for x >= 0, else 0; NaN of NaN"},
    {"box", 3, -1, "N", BOX,
     "box(x, ..., low, high): 1 where low <= x < high for each x, else 0; NaN where an argument is NaN"},
    ONE("abs", ABS, "magnitude"),
    ONE("sign", SIGN, "-1, 0 or 1; of -0 and NaN itself"),
    ONE("floor", FLOOR, "greatest integer not above x"),
    ONE("ceil", CEIL, "least integer not below x"),
    TWO("fmod", FMOD, "fmod(a, b): the rest of a / b rounded towards 0, with the sign of a"),
    ONE("sqrt", SQRT, "square root"),
    ONE("cbrt", CBRT, "cube root"),
    TWO("hypot", HYPOT, "hypot(x, y): sqrt(x^2 + y^2) without overflow"),
    ONE("exp", EXP, "exponential"),
    ONE("expm1", EXPM1, "exp(x) - 1"),
    {"log", 1, 2, "N", LOG_BASE, "log(x[, base]): natural logarithm, or to a base"},
    ONE("log1p", LOG1P, "log(1 + x)"),
    ONE("log2", LOG2, "logarithm to base 2"),
    ONE("log10", LOG10, "logarithm to base 10"),
    ONE("sin", SIN, "sine of radians"),
    ONE("cos", COS, "cosine of radians"),
    ONE("tan", TAN, "tangent of radians"),
    ONE("asin", ASIN, "arc sine"),
    ONE("acos", ACOS, "arc cosine"),
    {"atan", 1, 2, "N", ATAN_TWO, "atan(y[, x]): arc tangent of y, or the angle of (x, y)"},
    TWO("atan2", ATAN2, "atan2(y, x): angle of (x, y)"),
    ONE("sinh", SINH, "hyperbolic sine"),
    ONE("cosh", COSH, "hyperbolic cosine"),
    ONE("tanh", TANH, "hyperbolic tangent"),
    ONE("erf", ERF, "error function"),
    ONE("erfc", ERFC, "1 - erf(x)"),
    {"deg", 1, 1, "N", DEG, "radians to degrees"},
    {"rad", 1, 1, "N", RAD, "degrees to radians"},
    {0},
};

const sim_expr_function *sim_expr_function_find(const char *name) {
  for (const sim_expr_function *function = sim_expr_functions; function->name; function++)
    if (strcmp(function->name, name) == 0) return function;
  return NULL;
}

static sim_status call(sim_expr_builder *builder, sim_expr_op op, sim_expr_ref a, sim_expr_ref b, sim_expr_ref *out) {
  return sim_expr_builder_call(builder, op, (const sim_expr_ref[]){a, b}, out);
}

/* Returns 1 where the condition holds, else 0, but NaN where a compared number is NaN. */
static sim_status indicator(sim_expr_builder *builder, sim_expr_ref condition, const sim_expr_ref *compared, int count,
                            sim_expr_ref *out) {
  sim_expr_ref outer[3] = {condition}, inner[3];
  SIM_TRY(sim_expr_builder_truth(builder, true, &inner[0]));
  for (int i = 0; i < count; i++) {
    sim_expr_ref is_number; /* x == x, false for NaN */
    SIM_TRY(call(builder, SIM_EXPR_EQ, compared[i], compared[i], &is_number));
    SIM_TRY(call(builder, SIM_EXPR_AND, inner[0], is_number, &inner[0]));
  }
  SIM_TRY(sim_expr_builder_number(builder, 0, &inner[1]));
  SIM_TRY(sim_expr_builder_number(builder, (double)NAN, &inner[2]));
  SIM_TRY(sim_expr_builder_number(builder, 1, &outer[1]));
  SIM_TRY(sim_expr_builder_call(builder, SIM_EXPR_WHERE, inner, &outer[2]));
  return sim_expr_builder_call(builder, SIM_EXPR_WHERE, outer, out);
}

static sim_status box(sim_expr_builder *builder, const sim_expr_ref *args, int count, sim_expr_ref *out) {
  sim_expr_ref inside;
  SIM_TRY(sim_expr_builder_truth(builder, true, &inside));
  for (int i = 0; i < count - 2; i++) {
    sim_expr_ref above, below;
    SIM_TRY(call(builder, SIM_EXPR_LE, args[count - 2], args[i], &above));
    SIM_TRY(call(builder, SIM_EXPR_LT, args[i], args[count - 1], &below));
    SIM_TRY(call(builder, SIM_EXPR_AND, inside, above, &inside));
    SIM_TRY(call(builder, SIM_EXPR_AND, inside, below, &inside));
  }
  return indicator(builder, inside, args, count, out);
}

static sim_status logarithm(sim_expr_builder *builder, const sim_expr_ref *args, int count, sim_expr_ref *out) {
  double base;
  sim_expr_ref above, below;
  if (count == 1) return sim_expr_builder_call(builder, SIM_EXPR_LOG, args, out);
  if (sim_expr_builder_constant(builder, args[1], &base) && (base == 2 || base == 10))
    return sim_expr_builder_call(builder, base == 2 ? SIM_EXPR_LOG2 : SIM_EXPR_LOG10, args, out);
  SIM_TRY(sim_expr_builder_call(builder, SIM_EXPR_LOG, args, &above));
  SIM_TRY(sim_expr_builder_call(builder, SIM_EXPR_LOG, args + 1, &below));
  return call(builder, SIM_EXPR_DIV, above, below, out);
}

static sim_status scaled(sim_expr_builder *builder, sim_expr_ref x, double factor, sim_expr_ref *out) {
  sim_expr_ref by;
  SIM_TRY(sim_expr_builder_number(builder, factor, &by));
  return call(builder, SIM_EXPR_MUL, x, by, out);
}

sim_status sim_expr_builder_apply(sim_expr_builder *builder, const sim_expr_function *function,
                                  const sim_expr_ref *args, int count, sim_expr_ref *out) {
  if (count < function->least || (function->most >= 0 && count > function->most))
    return sim_fail(SIM_ERR_SCENARIO, "%s: %d arguments: expected %s%d", function->name, count,
                    function->least == function->most ? ""
                    : count < function->least         ? "at least "
                                                      : "at most ",
                    count < function->least ? function->least : function->most);
  for (int i = 0, k = 0; i < count; i++, k += function->takes[k + 1] ? 1 : 0) {
    bool condition = sim_expr_builder_type(builder, args[i]) == SIM_EXPR_C;
    if (condition == (function->takes[k] == 'C')) continue;
    return sim_fail(SIM_ERR_SCENARIO, "%s: argument %d is a %s", function->name, i + 1,
                    condition ? "condition: expected a number (where(condition, 1, 0) makes one)"
                              : "number: expected a condition (lt, le, gt, ge, eq, ne, and, or, not give one)");
  }
  sim_expr_ref part;
  switch (function->rule) {
  case FOLD + SIM_EXPR_MIN:
  case FOLD + SIM_EXPR_MAX:
  case FOLD + SIM_EXPR_AND:
  case FOLD + SIM_EXPR_OR:
    part = args[0];
    for (int i = 1; i < count; i++) SIM_TRY(call(builder, (sim_expr_op)(function->rule - FOLD), part, args[i], &part));
    *out = part;
    return SIM_OK;
  case IDIV:
    SIM_TRY(call(builder, SIM_EXPR_DIV, args[0], args[1], &part));
    return sim_expr_builder_call(builder, SIM_EXPR_FLOOR, &part, out);
  case GT: return call(builder, SIM_EXPR_LT, args[1], args[0], out);
  case GE: return call(builder, SIM_EXPR_LE, args[1], args[0], out);
  case CLAMP:
    SIM_TRY(call(builder, SIM_EXPR_MAX, args[0], args[1], &part));
    return call(builder, SIM_EXPR_MIN, part, args[2], out);
  case STEP:
    SIM_TRY(sim_expr_builder_number(builder, 0, &part));
    SIM_TRY(call(builder, SIM_EXPR_LE, part, args[0], &part));
    return indicator(builder, part, args, 1, out);
  case BOX: return box(builder, args, count, out);
  case LOG_BASE: return logarithm(builder, args, count, out);
  case ATAN_TWO: return sim_expr_builder_call(builder, count == 2 ? SIM_EXPR_ATAN2 : SIM_EXPR_ATAN, args, out);
  case DEG: return scaled(builder, args[0], 0x1.ca5dc1a63c1f8p+5, out); /* 180/pi */
  case RAD: return scaled(builder, args[0], 0x1.1df46a2529d39p-6, out); /* pi/180 */
  default: return sim_expr_builder_call(builder, (sim_expr_op)function->rule, args, out);
  }
}
