/* Graphs compiled for the GPU against the CPU's evaluator: every operation within the bounds of both; random graphs of
 * the operations that IEEE 754 and C define exactly, bit by bit; random graphs of all operations, node by node. And
 * cached machine code that the driver refuses. */
#include "engine/device/compile.h"
#include "engine/device/cuda.h"
#include "tests/gpu/gpu.h"
#include "tests/engine/expr_testing.h"

#include <cuda_runtime_api.h>
#include <dirent.h>
#include <float.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { N = 20000, THREADS = 128, INPUTS = 4 };

/* ---- on the device ---- */

/* Adds a kernel `name`(n, inputs [INPUTS][n], outputs [count][n]) around the emitted function of the same number. */
static void add_kernel(sim_bytes *text, const sim_expr *expr, int number, bool single) {
  const char *real = single ? "float" : "double";
  const int inputs = sim_expr_input_count(expr), outputs = sim_expr_output_count(expr);
  char name[32];
  snprintf(name, sizeof name, "%c%d", single ? 's' : 'd', number);
  assert_ok(sim_expr_emit(expr, &(sim_expr_emission){.name = name, .qualifier = "static __device__", .single = single},
                          text));
  sim_bytes_format(text,
                   "extern \"C\" __global__ void run_%s(int n, const %s *in, %s *out) {\n"
                   "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                   "  if (i < n) %s(",
                   name, real, real, name);
  for (int k = 0; k < inputs; k++) sim_bytes_format(text, "%sin[%d * n + i]", k ? ", " : "", k);
  for (int k = 0; k < outputs; k++) sim_bytes_format(text, ", out + %d * n + i", k);
  sim_bytes_text(text, ");\n}\n");
}

static sim_module *module_of(sim_bytes *text) {
  sim_module *module;
  const sim_source source = {.name = "test_functions", .text = text->data};
  assert_ok(sim_module_create(&source, &module));
  return module;
}

static void run(const sim_module *module, int number, bool single, int n, const void *inputs, int outputs, void *out) {
  const size_t size = (single ? 4 : 8) * (size_t)n;
  char name[32];
  void *in, *results, *kernel;
  snprintf(name, sizeof name, "run_%c%d", single ? 's' : 'd', number);
  assert_ok(sim_module_kernel(module, name, &kernel));
  assert_ok(sim_backend_cuda.alloc(INPUTS * size, &in));
  assert_ok(sim_backend_cuda.alloc((size_t)outputs * size, &results));
  assert_ok(sim_backend_cuda.copy(in, inputs, INPUTS * size));
  void *arguments[] = {&n, &in, &results};
  const dim3 grid = {(unsigned)(n + THREADS - 1) / THREADS, 1, 1}, block = {THREADS, 1, 1};
  assert_int_equal(cudaLaunchKernel(kernel, grid, block, arguments, 0, (cudaStream_t)sim_cuda_stream()), cudaSuccess);
  assert_ok(sim_backend_cuda.copy(out, results, (size_t)outputs * size));
  sim_backend_cuda.free(in);
  sim_backend_cuda.free(results);
}

/* ---- every operation ---- */

/* Bounds in units of the last place, in double and single precision. The GPU's bounds are NVIDIA's, for its library
 * without fast math: CUDA C++ Programming Guide, "Mathematical Functions", "Standard Functions", tables of single- and
 * double-precision functions with maximum ULP error. They are relative to the correctly rounded result, half a unit
 * more from the exact one. The greatest bound of all editions since CUDA 11 is used (powf had 8, then 4). The CPU's
 * bounds are relative to the exact result: docs/functions.md. Arguments as in tests/engine/expr_functions.c. */
static const struct row {
  const char *name;
  sim_expr_op op;
  int operands;
  double gpu, gpu_single, cpu, cpu_single;
  double low, high;
  bool decades;
} rows[] = {
    {"a + b", SIM_EXPR_ADD, 2, 0, 0, 0, 0, 1e-6, 1e6, true},
    {"a - b", SIM_EXPR_SUB, 2, 0, 0, 0, 0, 1e-6, 1e6, true},
    {"a * b", SIM_EXPR_MUL, 2, 0, 0, 0, 0, 1e-18, 1e18, true},
    {"a / b", SIM_EXPR_DIV, 2, 0, 0, 0, 0, 1e-18, 1e18, true},
    {"-a", SIM_EXPR_NEG, 1, 0, 0, 0, 0, 1e-18, 1e18, true},
    {"a % b", SIM_EXPR_MOD, 2, 0, 0, 0, 0, 1e-3, 1e3, true},
    {"fmod", SIM_EXPR_FMOD, 2, 0, 0, 0, 0, 1e-3, 1e3, true},
    {"a ^ b", SIM_EXPR_POW, 2, 2, 8, 1, 0.51, 0.1, 30, false},
    {"min", SIM_EXPR_MIN, 2, 0, 0, 0, 0, -1, 1, false},
    {"max", SIM_EXPR_MAX, 2, 0, 0, 0, 0, -1, 1, false},
    {"atan2", SIM_EXPR_ATAN2, 2, 2, 3, 2.4, 0.51, 1e-3, 1e3, true},
    {"hypot", SIM_EXPR_HYPOT, 2, 2, 3, 1.3, 0.51, 1e-12, 1e12, true},
    {"lt", SIM_EXPR_LT, 2, 0, 0, 0, 0, -1, 1, false},
    {"le", SIM_EXPR_LE, 2, 0, 0, 0, 0, -1, 1, false},
    {"eq", SIM_EXPR_EQ, 2, 0, 0, 0, 0, -1, 1, false},
    {"ne", SIM_EXPR_NE, 2, 0, 0, 0, 0, -1, 1, false},
    {"and", SIM_EXPR_AND, 2, 0, 0, 0, 0, -1, 1, false},
    {"or", SIM_EXPR_OR, 2, 0, 0, 0, 0, -1, 1, false},
    {"not", SIM_EXPR_NOT, 1, 0, 0, 0, 0, -1, 1, false},
    {"where", SIM_EXPR_WHERE, 3, 0, 0, 0, 0, -1, 1, false},
    {"abs", SIM_EXPR_ABS, 1, 0, 0, 0, 0, 1e-18, 1e18, true},
    {"sign", SIM_EXPR_SIGN, 1, 0, 0, 0, 0, 1e-18, 1e18, true},
    {"floor", SIM_EXPR_FLOOR, 1, 0, 0, 0, 0, 1e-3, 1e18, true},
    {"ceil", SIM_EXPR_CEIL, 1, 0, 0, 0, 0, 1e-3, 1e18, true},
    {"sqrt", SIM_EXPR_SQRT, 1, 0, 0, 0, 0, 1e-30, 1e30, true},
    {"cbrt", SIM_EXPR_CBRT, 1, 1, 1, 0.7, 0.51, 1e-30, 1e30, true},
    {"exp", SIM_EXPR_EXP, 1, 1, 2, 0.9, 0.51, -87, 88, false},
    {"expm1", SIM_EXPR_EXPM1, 1, 1, 1, 1.6, 0.51, 1e-12, 80, true},
    {"log", SIM_EXPR_LOG, 1, 1, 1, 0.9, 0.51, 1e-30, 1e30, true},
    {"log1p", SIM_EXPR_LOG1P, 1, 1, 1, 0.9, 0.51, -0.999, 3, false},
    {"log2", SIM_EXPR_LOG2, 1, 1, 1, 0.9, 0.51, 0.5, 2, false},
    {"log10", SIM_EXPR_LOG10, 1, 1, 2, 0.9, 0.51, 0.5, 2, false},
    {"sin", SIM_EXPR_SIN, 1, 2, 2, 0.9, 0.51, -7, 7, false},
    {"sin, any x", SIM_EXPR_SIN, 1, 2, 2, 0.9, 0.51, 1e-12, 1e18, true},
    {"cos", SIM_EXPR_COS, 1, 2, 2, 0.9, 0.51, -7, 7, false},
    {"cos, any x", SIM_EXPR_COS, 1, 2, 2, 0.9, 0.51, 1e-12, 1e18, true},
    {"tan", SIM_EXPR_TAN, 1, 2, 4, 2.4, 0.51, -7, 7, false},
    {"asin", SIM_EXPR_ASIN, 1, 2, 2, 0.9, 0.51, -1, 1, false},
    {"acos", SIM_EXPR_ACOS, 1, 2, 2, 1, 0.51, -1, 1, false},
    {"atan", SIM_EXPR_ATAN, 1, 2, 2, 1.9, 0.51, 1e-12, 1e12, true},
    {"sinh", SIM_EXPR_SINH, 1, 2, 3, 2.2, 0.51, 1e-12, 80, true},
    {"cosh", SIM_EXPR_COSH, 1, 1, 2, 1.5, 0.51, 1e-12, 80, true},
    {"tanh", SIM_EXPR_TANH, 1, 1, 2, 2.5, 0.51, 1e-12, 30, true},
    {"erf", SIM_EXPR_ERF, 1, 2, 2, 1.3, 0.51, 1e-12, 6, true},
    {"erfc", SIM_EXPR_ERFC, 1, 5, 4, 4.5, 0.51, -6, 9, false},
};

static double draw(const struct row *row, uint64_t *state) {
  const double u = test_uniform(state);
  if (!row->decades) return row->low + u * (row->high - row->low);
  const double x = exp(log(row->low) + u * (log(row->high) - log(row->low)));
  const bool signed_too = row->op != SIM_EXPR_SQRT && row->op != SIM_EXPR_LOG;
  return signed_too && (test_random(state) & 1) ? -x : x;
}

/* The graph of a row, with INPUTS inputs. */
static sim_expr *graph_of(const struct row *row) {
  sim_expr_builder *builder;
  sim_expr *expr;
  sim_expr_ref in[INPUTS], zero, out;
  const bool logic = row->op == SIM_EXPR_AND || row->op == SIM_EXPR_OR || row->op == SIM_EXPR_NOT;
  assert_ok(sim_expr_builder_create(&builder));
  assert_ok(sim_expr_builder_number(builder, 0, &zero));
  for (int k = 0; k < INPUTS; k++) assert_ok(sim_expr_builder_input(builder, test_names[k], &in[k]));
  for (int k = 0; k < 2; k++)
    if (logic || (row->op == SIM_EXPR_WHERE && k == 0))
      assert_ok(sim_expr_builder_call(builder, SIM_EXPR_LT, (sim_expr_ref[]){in[k], zero}, &in[k]));
  assert_ok(sim_expr_builder_call(builder, row->op, in, &out));
  assert_ok(sim_expr_builder_finish(builder, &out, (const char *const[]){"y"}, 1, &expr));
  sim_expr_builder_free(&builder);
  return expr;
}

static double value(const void *data, bool single, size_t i) {
  return single ? (double)((const float *)data)[i] : ((const double *)data)[i];
}

static bool same(double a, double b) { return isnan(a) ? isnan(b) : a == b && !signbit(a) == !signbit(b); }

/* Returns the distance in units of the last place of the greater number. */
static double apart(double a, double b, bool single) {
  if (same(a, b)) return 0;
  if (!isfinite(a) || !isfinite(b)) return HUGE_VAL;
  const int digits = single ? FLT_MANT_DIG : DBL_MANT_DIG, least = single ? FLT_MIN_EXP - 1 : DBL_MIN_EXP - 1;
  const double most = fmax(fabs(a), fabs(b));
  int exponent = most > 0 ? ilogb(most) : least;
  if (exponent < least) exponent = least;
  return fabs(ldexp(a - b, digits - 1 - exponent));
}

static void fill(void *inputs, bool single, size_t at, double x) {
  if (single)
    ((float *)inputs)[at] = (float)x;
  else
    ((double *)inputs)[at] = x;
}

static void evaluate(const sim_expr *expr, bool single, int n, const void *inputs, void *results) {
  const size_t size = (single ? 4 : 8) * (size_t)n;
  const sim_expr_target target = {.single = single, .isa = sim_isa_best()};
  const void *in[INPUTS];
  void *out[SIM_EXPR_OUTPUTS_MAX];
  for (int k = 0; k < INPUTS; k++) in[k] = (const char *)inputs + (size_t)k * size;
  for (int k = 0; k < sim_expr_output_count(expr); k++) out[k] = (char *)results + (size_t)k * size;
  test_run(expr, &target, (size_t)n, in, out);
}

static void test_operations(void **state) {
  (void)state;
  sim_bytes text = {0};
  sim_expr *graphs[COUNT(rows)];
  int failed = 0;
  uint64_t random = 11;
  assert_ok(sim_expr_emit_prelude(&text));
  for (size_t r = 0; r < COUNT(rows); r++) {
    graphs[r] = graph_of(&rows[r]);
    for (int single = 0; single < 2; single++) add_kernel(&text, graphs[r], (int)r, single);
  }
  sim_module *module = module_of(&text);
  static double inputs[INPUTS * N], here[N], there[N];
  for (size_t r = 0; r < COUNT(rows); r++)
    for (int single = 0; single < 2; single++) {
      const struct row *row = &rows[r];
      for (size_t i = 0; i < (size_t)INPUTS * N; i++) fill(inputs, single, i, draw(row, &random));
      for (size_t i = 0; i < N; i += 16) /* some pairs are equal */
        fill(inputs, single, (size_t)N + i, value(inputs, single, i));
      evaluate(graphs[r], single, N, inputs, here);
      run(module, (int)r, single, N, inputs, 1, there);
      const double bound = single ? row->gpu_single + row->cpu_single : row->gpu + row->cpu;
      double worst = 0;
      size_t where = 0;
      for (size_t i = 0; i < N; i++) {
        const double wrong = apart(value(here, single, i), value(there, single, i), single);
        if (wrong > worst) worst = wrong, where = i;
      }
      print_message("%-12s %s %8.3f of %.2f\n", row->name, single ? "single" : "double", worst, bound);
      if (worst <= bound) continue;
      failed++;
      print_message("  at (%.17g, %.17g): %.17g on the CPU, %.17g on the GPU\n", value(inputs, single, where),
                    value(inputs, single, N + where), value(here, single, where), value(there, single, where));
    }
  assert_int_equal(failed, 0);
  sim_module_free(&module);
  for (size_t r = 0; r < COUNT(rows); r++) sim_expr_free(&graphs[r]);
  sim_bytes_free(&text);
}

/* ---- random graphs ---- */

enum { GRAPHS = 24, NODES = 60, OUTPUTS = 3, SHORT = 500 };

static const struct {
  sim_expr_op op;
  int operands;
  bool condition[3], gives;
} exact[] = {
    {SIM_EXPR_ADD, 2, {0}, false},
    {SIM_EXPR_SUB, 2, {0}, false},
    {SIM_EXPR_MUL, 2, {0}, false},
    {SIM_EXPR_DIV, 2, {0}, false},
    {SIM_EXPR_NEG, 1, {0}, false},
    {SIM_EXPR_MOD, 2, {0}, false},
    {SIM_EXPR_FMOD, 2, {0}, false},
    {SIM_EXPR_MIN, 2, {0}, false},
    {SIM_EXPR_MAX, 2, {0}, false},
    {SIM_EXPR_ABS, 1, {0}, false},
    {SIM_EXPR_SIGN, 1, {0}, false},
    {SIM_EXPR_FLOOR, 1, {0}, false},
    {SIM_EXPR_CEIL, 1, {0}, false},
    {SIM_EXPR_SQRT, 1, {0}, false},
    {SIM_EXPR_WHERE, 3, {true}, false},
    {SIM_EXPR_LT, 2, {0}, true},
    {SIM_EXPR_LE, 2, {0}, true},
    {SIM_EXPR_EQ, 2, {0}, true},
    {SIM_EXPR_AND, 2, {1, 1}, true},
    {SIM_EXPR_OR, 2, {true, true}, true},
    {SIM_EXPR_NOT, 1, {true}, true},
    {SIM_EXPR_NE, 2, {0}, true},
    {SIM_EXPR_POW, 2, {false, false}, false},
};

static sim_expr *random_graph(uint64_t *random) {
  static const double constants[] = {0, -0.0, 1, -1, 0.5, 2, 3, 0.1, 1e-3, 1e10, 0x1p-130};
  static const double powers[] = {2, 3, -1, -2, 0.5, 1.5, 7};
  sim_expr_builder *builder;
  sim_expr *expr;
  sim_expr_ref numbers[NODES + INPUTS], conditions[NODES + 1], made, args[3];
  int number_count = 0, condition_count = 0;
  assert_ok(sim_expr_builder_create(&builder));
  for (; number_count < INPUTS; number_count++)
    assert_ok(sim_expr_builder_input(builder, test_names[number_count], &numbers[number_count]));
  assert_ok(sim_expr_builder_truth(builder, true, &conditions[condition_count++]));
  while (number_count + condition_count < NODES) {
    const size_t which = test_random(random) % (COUNT(exact) + 2);
    if (which >= COUNT(exact)) {
      const double constant = constants[test_random(random) % COUNT(constants)];
      assert_ok(sim_expr_builder_number(builder, constant, &numbers[number_count++]));
      continue;
    }
    for (int k = 0; k < exact[which].operands; k++)
      args[k] = exact[which].condition[k] ? conditions[test_random(random) % (uint64_t)condition_count]
                                          : numbers[test_random(random) % (uint64_t)number_count];
    if (exact[which].op == SIM_EXPR_POW)
      assert_ok(sim_expr_builder_number(builder, powers[test_random(random) % COUNT(powers)], &args[1]));
    assert_ok(sim_expr_builder_call(builder, exact[which].op, args, &made));
    if (exact[which].gives)
      conditions[condition_count++] = made;
    else
      numbers[number_count++] = made;
  }
  assert_ok(sim_expr_builder_finish(builder, numbers + number_count - OUTPUTS, (const char *const[]){"p", "q", "r"},
                                    OUTPUTS, &expr));
  sim_expr_builder_free(&builder);
  return expr;
}

static double any_value(uint64_t *random) {
  static const double odd[] = {0, -0.0, INFINITY, -INFINITY, NAN, 1, -1, 5e-324, 1e300, 3e7, -2, 0.5};
  const uint64_t kind = test_random(random) % 8;
  if (kind == 0) return odd[test_random(random) % COUNT(odd)];
  const double u = test_uniform(random) * 2 - 1;
  return kind < 4 ? u : kind < 6 ? u * 10 : u * 1e4;
}

static void test_random_graphs(void **state) {
  (void)state;
  uint64_t random = 20261;
  sim_bytes text = {0};
  sim_expr *graphs[GRAPHS];
  assert_ok(sim_expr_emit_prelude(&text));
  for (int g = 0; g < GRAPHS; g++) {
    graphs[g] = random_graph(&random);
    for (int single = 0; single < 2; single++) add_kernel(&text, graphs[g], g, single);
  }
  sim_module *module = module_of(&text);
  static double inputs[INPUTS * SHORT], here[OUTPUTS * SHORT], there[OUTPUTS * SHORT];
  for (int g = 0; g < GRAPHS; g++)
    for (int single = 0; single < 2; single++) {
      for (size_t i = 0; i < (size_t)INPUTS * SHORT; i++) fill(inputs, single, i, any_value(&random));
      evaluate(graphs[g], single, SHORT, inputs, here);
      run(module, g, single, SHORT, inputs, OUTPUTS, there);
      for (size_t i = 0; i < (size_t)OUTPUTS * SHORT; i++)
        if (!same(value(here, single, i), value(there, single, i)))
          fail_msg("graph %d, %s, output %zu, entity %zu: %a on the CPU, %a on the GPU", g,
                   single ? "single" : "double", i / SHORT, i % SHORT, value(here, single, i), value(there, single, i));
    }
  sim_module_free(&module);
  for (int g = 0; g < GRAPHS; g++) sim_expr_free(&graphs[g]);
  sim_bytes_free(&text);
}

/* ---- random graphs of all functions, node by node ---- */

enum { ALL_GRAPHS = 20, ALL_NODES = 70, ALL_ENTITIES = 400 };

/* One operation of a graph: its operands and its result are outputs with these numbers. */
typedef struct step {
  int row, args[3], made;
} step;

typedef struct all_graph {
  sim_expr *expr;
  step steps[ALL_NODES];
  int step_count, outputs;
} all_graph;

/* The operation by definition, from the C library in long double: its error is below 1e-3 units in double. */
static long double plain(sim_expr_op op, long double a, long double b, long double c) {
  switch (op) {
  case SIM_EXPR_ADD: return a + b;
  case SIM_EXPR_SUB: return a - b;
  case SIM_EXPR_MUL: return a * b;
  case SIM_EXPR_DIV: return a / b;
  case SIM_EXPR_NEG: return -a;
  case SIM_EXPR_MOD: {
    const long double rest = fmodl(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  }
  case SIM_EXPR_FMOD: return fmodl(a, b);
  case SIM_EXPR_POW: return powl(a, b);
  case SIM_EXPR_MIN: return b < a || isnan(b) ? b : a;
  case SIM_EXPR_MAX: return b > a || isnan(b) ? b : a;
  case SIM_EXPR_ATAN2: return atan2l(a, b);
  case SIM_EXPR_HYPOT: return hypotl(a, b);
  case SIM_EXPR_LT: return a < b;
  case SIM_EXPR_LE: return a <= b;
  case SIM_EXPR_EQ: return a == b;
  case SIM_EXPR_NE: return a != b;
  case SIM_EXPR_AND: return a != 0 && b != 0;
  case SIM_EXPR_OR: return a != 0 || b != 0;
  case SIM_EXPR_NOT: return a == 0;
  case SIM_EXPR_WHERE: return a != 0 ? b : c;
  case SIM_EXPR_ABS: return fabsl(a);
  case SIM_EXPR_SIGN: return a > 0 ? 1 : a < 0 ? -1 : a;
  case SIM_EXPR_FLOOR: return floorl(a);
  case SIM_EXPR_CEIL: return ceill(a);
  case SIM_EXPR_SQRT: return sqrtl(a);
  case SIM_EXPR_CBRT: return cbrtl(a);
  case SIM_EXPR_EXP: return expl(a);
  case SIM_EXPR_EXPM1: return expm1l(a);
  case SIM_EXPR_LOG: return logl(a);
  case SIM_EXPR_LOG1P: return log1pl(a);
  case SIM_EXPR_LOG2: return log2l(a);
  case SIM_EXPR_LOG10: return log10l(a);
  case SIM_EXPR_SIN: return sinl(a);
  case SIM_EXPR_COS: return cosl(a);
  case SIM_EXPR_TAN: return tanl(a);
  case SIM_EXPR_ASIN: return asinl(a);
  case SIM_EXPR_ACOS: return acosl(a);
  case SIM_EXPR_ATAN: return atanl(a);
  case SIM_EXPR_SINH: return sinhl(a);
  case SIM_EXPR_COSH: return coshl(a);
  case SIM_EXPR_TANH: return tanhl(a);
  case SIM_EXPR_ERF: return erfl(a);
  case SIM_EXPR_ERFC: return erfcl(a);
  default: fail_msg("operation %d", (int)op); return 0;
  }
}

/* Returns the error of a result, in units of its last place. Overflow is right where a result within a millionth would
 * overflow. */
static double wrong_by(double got, long double truth, bool single) {
  const long double most = single ? (long double)FLT_MAX : (long double)DBL_MAX;
  const int digits = single ? FLT_MANT_DIG : DBL_MANT_DIG, least = single ? FLT_MIN_EXP - 1 : DBL_MIN_EXP - 1;
  if (isnan(got) || isnan(truth)) return isnan(got) && isnan(truth) ? 0 : HUGE_VAL;
  if (isinf(got) || fabsl(truth) > most)
    return (got < 0) == (truth < 0) && fabsl(truth) > most * (1 - 1e-6L) && fabs(got) >= (double)most * (1 - 1e-6)
               ? 0
               : HUGE_VAL;
  if (truth == got) return 0;
  int exponent = truth != 0 ? ilogbl(truth) : least;
  if (exponent < least) exponent = least;
  return (double)fabsl(ldexpl(truth - got, digits - 1 - exponent));
}

static bool takes_condition(sim_expr_op op, int k) {
  return op == SIM_EXPR_AND || op == SIM_EXPR_OR || op == SIM_EXPR_NOT || (op == SIM_EXPR_WHERE && k == 0);
}

static void random_steps(uint64_t *random, all_graph *out) {
  static const double constants[] = {0, 1, -1, 0.5, 3, 0.1, 1e3};
  sim_expr_builder *builder;
  sim_expr_ref numbers[ALL_NODES + INPUTS + 8], conditions[ALL_NODES + 8], refs[2 * ALL_NODES + 20], args[3], made;
  int number_at[ALL_NODES + INPUTS + 8], condition_at[ALL_NODES + 8], number_count = 0, condition_count = 0;
  char names[2 * ALL_NODES + 20][8];
  const char *pointers[2 * ALL_NODES + 20];
  *out = (all_graph){0};
  assert_ok(sim_expr_builder_create(&builder));
#define KEEP(list, ref) (refs[out->outputs] = list##s[list##_count] = (ref), list##_at[list##_count++] = out->outputs++)
  for (int k = 0; k < INPUTS; k++) {
    assert_ok(sim_expr_builder_input(builder, test_names[k], &made));
    KEEP(number, made);
  }
  for (size_t k = 0; k < COUNT(constants); k++) {
    assert_ok(sim_expr_builder_number(builder, constants[k], &made));
    KEEP(number, made);
  }
  assert_ok(sim_expr_builder_call(builder, SIM_EXPR_LT, numbers, &made));
  KEEP(condition, made);
  while (out->step_count < ALL_NODES - 10) {
    const int row = (int)(test_random(random) % COUNT(rows));
    const sim_expr_op op = rows[row].op;
    step s = {.row = row};
    for (int k = 0; k < rows[row].operands; k++) {
      const bool condition = takes_condition(op, k);
      const uint64_t pick = test_random(random) % (uint64_t)(condition ? condition_count : number_count);
      args[k] = condition ? conditions[pick] : numbers[pick];
      s.args[k] = condition ? condition_at[pick] : number_at[pick];
    }
    double unused;
    /* Constant exponents are products, and constants are folded in double precision. */
    if (op == SIM_EXPR_POW && sim_expr_builder_constant(builder, args[1], &unused)) continue;
    assert_ok(sim_expr_builder_call(builder, op, args, &made));
    if (sim_expr_builder_constant(builder, made, &unused)) continue;
    s.made = out->outputs;
    out->steps[out->step_count++] = s;
    if (sim_expr_builder_type(builder, made) == SIM_EXPR_C)
      KEEP(condition, made);
    else
      KEEP(number, made);
  }
#undef KEEP
  for (int k = 0; k < out->outputs; k++) {
    snprintf(names[k], sizeof names[k], "o%d", k);
    pointers[k] = names[k];
  }
  assert_ok(sim_expr_builder_finish(builder, refs, pointers, out->outputs, &out->expr));
  sim_expr_builder_free(&builder);
}

/* Checks each operation of one entity with its actual operands. Returns the number of faults. */
static int check_steps(const all_graph *graph, const void *values, bool single, bool gpu, double worst[]) {
  int faults = 0;
  for (int k = 0; k < graph->step_count; k++) {
    const step *s = &graph->steps[k];
    const struct row *row = &rows[s->row];
    const double bound =
        (gpu ? 0.5 + (single ? row->gpu_single : row->gpu) : fmax(0.5, single ? row->cpu_single : row->cpu)) + 1e-3;
    for (size_t i = 0; i < ALL_ENTITIES; i++) {
#define AT(output) value(values, single, (size_t)(output)*ALL_ENTITIES + i)
      const double a = AT(s->args[0]), b = AT(s->args[1]), c = AT(s->args[2]), got = AT(s->made);
#undef AT
      const double wrong = wrong_by(got, plain(row->op, a, b, c), single);
      if (wrong > worst[s->row]) worst[s->row] = wrong;
      if (wrong <= bound) continue;
      if (faults++ < 5)
        print_message("%s, %s, on the %s: (%a, %a, %a) -> %a, expected %La, wrong by %g of %g\n", row->name,
                      single ? "single" : "double", gpu ? "GPU" : "CPU", a, b, c, got, plain(row->op, a, b, c), wrong,
                      bound);
    }
  }
  return faults;
}

static void test_random_functions(void **state) {
  (void)state;
  uint64_t random = 5;
  sim_bytes text = {0};
  static all_graph graphs[ALL_GRAPHS];
  static double inputs[INPUTS * ALL_ENTITIES], values[2 * ALL_NODES * ALL_ENTITIES], worst[2][COUNT(rows)];
  int faults = 0;
  assert_ok(sim_expr_emit_prelude(&text));
  for (int g = 0; g < ALL_GRAPHS; g++) {
    random_steps(&random, &graphs[g]);
    for (int single = 0; single < 2; single++) add_kernel(&text, graphs[g].expr, g, single);
  }
  sim_module *module = module_of(&text);
  for (int g = 0; g < ALL_GRAPHS; g++)
    for (int single = 0; single < 2; single++) {
      for (size_t i = 0; i < (size_t)INPUTS * ALL_ENTITIES; i++) fill(inputs, single, i, any_value(&random));
      evaluate(graphs[g].expr, single, ALL_ENTITIES, inputs, values);
      faults += check_steps(&graphs[g], values, single, false, worst[0]);
      run(module, g, single, ALL_ENTITIES, inputs, graphs[g].outputs, values);
      faults += check_steps(&graphs[g], values, single, true, worst[1]);
    }
  for (size_t r = 0; r < COUNT(rows); r++)
    print_message("%-12s %8.3f on the CPU, %8.3f on the GPU\n", rows[r].name, worst[0][r], worst[1][r]);
  assert_int_equal(faults, 0);
  sim_module_free(&module);
  for (int g = 0; g < ALL_GRAPHS; g++) sim_expr_free(&graphs[g].expr);
  sim_bytes_free(&text);
}

/* ---- code that the driver refuses ---- */

/* A file of the cache: see engine/device/cache.c. */
typedef struct head {
  char mark[8];
  uint64_t size;
  unsigned char key[16];
  XXH128_canonical_t sum;
} head;

static char folder[] = "/tmp/sim_refused_XXXXXX";

static void blob_path(char out[600]) {
  DIR *in = opendir(folder);
  assert_non_null(in);
  for (struct dirent *item; (item = readdir(in));)
    if (item->d_name[0] != '.') snprintf(out, 600, "%s/%s", folder, item->d_name);
  closedir(in);
}

/* Its checksum is right, so that only the driver can detect the fault. */
static void test_refused_code(void **state) {
  (void)state;
  static char bytes[1 << 20];
  char path[600];
  const sim_source source = {.name = "test_refused",
                             .text = "extern \"C\" __global__ void run_d0(int n, const double *in, double *out) {\n"
                                     "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                     "  if (i < n) out[i] = 2 * in[i];\n}\n"};
  static double inputs[INPUTS * N], results[N];
  assert_non_null(mkdtemp(folder));
  assert_int_equal(setenv("SIM_CACHE", folder, 1), 0);
  for (int i = 0; i < N; i++) inputs[i] = i;
  sim_bytes other = {0}; /* code for another architecture */
  assert_ok(sim_compile_anew(&source, 75, &other));
  blob_path(path);
  assert_int_equal(unlink(path), 0);
  assert_true(other.size < sizeof bytes - sizeof(head));
  for (int kind = -1; kind < 3; kind++) {
    const long before = sim_compile_count();
    sim_module *module;
    if (kind >= 0) {
      blob_path(path);
      FILE *file = fopen(path, "rb");
      assert_non_null(file);
      size_t size = fread(bytes, 1, sizeof bytes, file);
      fclose(file);
      head h;
      memcpy(&h, bytes, sizeof h);
      char *code = bytes + sizeof h;
      size -= sizeof h;
      if (kind == 0) {
        size = 1 + (size_t)snprintf(code, 100, "no machine code at all");
      } else if (kind == 1) {
        memset(code, 0, size);
      } else {
        size = other.size;
        memcpy(code, other.data, size);
      }
      h.size = size;
      XXH128_canonicalFromHash(&h.sum, XXH3_128bits(code, size));
      memcpy(bytes, &h, sizeof h);
      file = fopen(path, "wb");
      assert_non_null(file);
      assert_int_equal(fwrite(bytes, 1, sizeof h + size, file), sizeof h + size);
      assert_int_equal(fclose(file), 0);
    }
    assert_ok(sim_module_create(&source, &module));
    print_message("kind %d: compiled %ld times\n", kind, sim_compile_count() - before);
    assert_int_equal(sim_compile_count(), before + 1);
    memset(results, 0, sizeof results);
    run(module, 0, false, N, inputs, 1, results);
    for (int i = 0; i < N; i++) assert_true(results[i] == 2 * i);
    sim_module_free(&module);
    assert_ok(sim_module_create(&source, &module)); /* and it was repaired */
    assert_int_equal(sim_compile_count(), before + 1);
    sim_module_free(&module);
  }
  sim_bytes_free(&other);
  blob_path(path);
  assert_int_equal(unlink(path), 0);
  assert_int_equal(rmdir(folder), 0);
  assert_int_equal(unsetenv("SIM_CACHE"), 0);
}

/* --skip TEST */
int main(int argc, char **argv) {
  const int missing = gpu_open();
  if (missing != 0) return missing;
  if (argc == 3 && strcmp(argv[1], "--skip") == 0) cmocka_set_skip_filter(argv[2]);
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_operations), cmocka_unit_test(test_random_graphs),
                                     cmocka_unit_test(test_random_functions), cmocka_unit_test(test_refused_code)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
