/* Suggestions for names from C, numpy or other versions of Lua. */
#include "lua/internal.h"

#include <stdio.h>
#include <string.h>

/* Replacements for a name in `math` or `sim` or alone, or for a full expression; NULL: there is none. */
static const char *const instead[][2] = {
    {"pow", "x^y"},
    {"power", "x^y"},
    {"square", "x^2"},
    {"sqr", "x^2"},
    {"exp2", "2^x"},
    {"exp10", "10^x"},
    {"ln", "math.log(x)"},
    {"fabs", "math.abs(x)"},
    {"absolute", "math.abs(x)"},
    {"fmax", "math.max(a, b)"},
    {"maximum", "math.max(a, b)"},
    {"fmin", "math.min(a, b)"},
    {"minimum", "math.min(a, b)"},
    {"fdim", "math.max(x - y, 0)"},
    {"fma", "x*y + z"},
    {"arcsin", "math.asin(x)"},
    {"arccos", "math.acos(x)"},
    {"arctan", "math.atan(y, x)"},
    {"arctan2", "math.atan(y, x)"},
    {"asinh", "math.log(x + math.sqrt(x^2 + 1))"},
    {"arcsinh", "math.log(x + math.sqrt(x^2 + 1))"},
    {"acosh", "math.log(x + math.sqrt(x^2 - 1))"},
    {"arccosh", "math.log(x + math.sqrt(x^2 - 1))"},
    {"atanh", "0.5*(sim.log1p(x) - sim.log1p(-x))"},
    {"arctanh", "0.5*(sim.log1p(x) - sim.log1p(-x))"},
    {"sec", "1/math.cos(x)"},
    {"csc", "1/math.sin(x)"},
    {"cot", "1/math.tan(x)"},
    {"sech", "1/sim.cosh(x)"},
    {"sinc", "sim.where(sim.eq(x, 0), 1, math.sin(x)/x)"},
    {"sigmoid", "1/(1 + math.exp(-x))"},
    {"expit", "1/(1 + math.exp(-x))"},
    {"logistic", "1/(1 + math.exp(-x))"},
    {"logaddexp", "math.max(a, b) + sim.log1p(math.exp(-math.abs(a - b)))"},
    {"normcdf", "0.5*sim.erfc(-x/math.sqrt(2))"},
    {"round", "math.floor(x + 0.5)"},
    {"rint", "math.floor(x + 0.5)"},
    {"nearbyint", "math.floor(x + 0.5)"},
    {"lround", "math.floor(x + 0.5)"},
    {"lrint", "math.floor(x + 0.5)"},
    {"llround", "math.floor(x + 0.5)"},
    {"llrint", "math.floor(x + 0.5)"},
    {"trunc", "sim.where(sim.lt(x, 0), math.ceil(x), math.floor(x))"},
    {"fix", "sim.where(sim.lt(x, 0), math.ceil(x), math.floor(x))"},
    {"remainder", "x - y*math.floor(x/y + 0.5)"},
    {"mod", "x % y"},
    {"modulo", "x % y"},
    {"copysign", "math.abs(x)*sim.where(sim.lt(y, 0), -1, 1)"},
    {"sgn", "sim.sign(x)"},
    {"signum", "sim.sign(x)"},
    {"signbit", "sim.lt(x, 0)"},
    {"ldexp", "x*2^n"},
    {"scalbn", "x*2^n"},
    {"logb", "math.floor(sim.log2(math.abs(x)))"},
    {"ilogb", "math.floor(sim.log2(math.abs(x)))"},
    {"frexp", "math.floor(sim.log2(math.abs(x))) + 1 for the exponent"},
    {"clip", "sim.clamp(x, low, high)"},
    {"heaviside", "sim.step(x)"},
    {"theta", "sim.step(x)"},
    {"isnan", "sim.ne(x, x)"},
    {"isinf", "sim.eq(math.abs(x), math.huge)"},
    {"isfinite", "sim.lt(math.abs(x), math.huge)"},
    {"degrees", "math.deg(x)"},
    {"rad2deg", "math.deg(x)"},
    {"radians", "math.rad(x)"},
    {"deg2rad", "math.rad(x)"},
    {"norm", "math.sqrt(x^2 + y^2 + z^2)"},
    {"dot", "a.x*b.x + a.y*b.y + a.z*b.z"},
    {"sum", "a + b + ..."},
    {"add", "a + b"},
    {"sub", "a - b"},
    {"subtract", "a - b"},
    {"mul", "a * b"},
    {"multiply", "a * b"},
    {"div", "a / b"},
    {"divide", "a / b"},
    {"idiv", "a // b"},
    {"unm", "-a"},
    {"negative", "-a"},
    {"reciprocal", "1/x"},
    {"less", "sim.lt(a, b)"},
    {"less_equal", "sim.le(a, b)"},
    {"greater", "sim.gt(a, b)"},
    {"greater_equal", "sim.ge(a, b)"},
    {"equal", "sim.eq(a, b)"},
    {"not_equal", "sim.ne(a, b)"},
    {"logical_and", "sim.all(p, q)"},
    {"logical_or", "sim.any(p, q)"},
    {"logical_not", "sim.none(p)"},
    {"ifelse", "sim.where(condition, a, b)"},
    {"choose", "sim.where(condition, a, b)"},
    {"piecewise", "sim.where(condition, a, b)"},
    {"interp", "sim.curve { {t, value}, ... }"},
    {"e", "math.exp(1)"},
    {"tau", "2*math.pi"},
    {"inf", "math.huge"},
    {"infinity", "math.huge"},
    {"nan", "0/0"},
    {"rand", "sim.uniform(entity)"},
    {"randn", "sim.normal(entity)"},
    {"gauss", "sim.normal(entity)"},
    {"np", "math.NAME and sim.NAME"},
    {"numpy", "math.NAME and sim.NAME"},
    {"null", "nil"},
    {"None", "nil"},
    {"True", "true"},
    {"False", "false"},
    {"unpack", "table.unpack(t)"},
    {"xpcall", "pcall(f)"},
    {"bit32", "the operators &, |, ~, << and >>"},
    {"table.getn", "#t"},
    {"table.maxn", "#t"},
    {"table.foreach", "for key, value in pairs(t) do"},
    {"table.foreachi", "for i, value in ipairs(t) do"},
    {"string.gfind", "string.gmatch(s, pattern)"},
    {"string.join", "table.concat(list, \", \")"},
    {"gamma", NULL},
    {"tgamma", NULL},
    {"lgamma", NULL},
    {"gammaln", NULL},
    {"beta", NULL},
    {"erfinv", NULL},
    {"j0", NULL},
    {"j1", NULL},
    {"jn", NULL},
    {"y0", NULL},
    {"y1", NULL},
    {"yn", NULL},
    {"bessel", NULL},
    {"zeta", NULL},
    {"nextafter", NULL},
    {"factorial", NULL},
    {"comb", NULL},
};

bool scenario_hint(const char *label, const char *name, const char *const *math, char *out, size_t capacity) {
  char full[SCENARIO_NAME_MAX + 16];
  /* these names, if alone, are more likely undeclared variables */
  static const char *const variables[] = {"e", "tau", "theta", "norm", "dot", "sum", "mod", "fix"};
  const bool plain = !*label || strcmp(label, "math.") == 0 || strcmp(label, "sim.") == 0;
  snprintf(full, sizeof full, "%s%s", label, name);
  for (size_t i = 0; i < sizeof instead / sizeof *instead; i++) {
    if (strcmp(instead[i][0], plain ? name : full) != 0) continue;
    for (size_t k = 0; k < sizeof variables / sizeof *variables; k++)
      if (!*label && strcmp(variables[k], name) == 0) return false;
    if (!*label && !instead[i][1]) return false;
    if (instead[i][1])
      snprintf(out, capacity, "write %s", instead[i][1]);
    else
      snprintf(out, capacity, "there is none: write a formula of your own");
    return true;
  }
  if (!plain) return false;
  for (; *math; math++)
    if (strcmp(*math, name) == 0) return snprintf(out, capacity, "write math.%s", name) > 0;
  if (sim_expr_function_find(name)) return snprintf(out, capacity, "write sim.%s", name) > 0;
  return false;
}
