/* Graphs compiled for the GPU against the CPU's evaluator: every operation within the bounds of both, and random graphs
 * of the operations that IEEE 754 and C define exactly, bit by bit. */
#include "engine/compile.h"
#include "engine/cuda.h"
#include "tests/unit/expr_testing.h"

#include <cuda_runtime_api.h>
#include <float.h>

enum { N = 20000, THREADS = 128, INPUTS = 4 };

/* ---- on the device ---- */

/* A kernel `name`(n, inputs [INPUTS][n], outputs [count][n]) around the emitted function of the same number. */
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

/* Bounds in units of the last place: those of the CUDA C++ Programming Guide for its library without fast math, and
 * those of docs/functions.md for the evaluator, in double and single precision. Arguments as in
 * tests/unit/expr_functions.c. */
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

/* In units of the last place of the greater. */
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
  void *out[8];
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

int main(void) {
  const char *reason = sim_backend_cuda.unavailable();
  if (reason != NULL) {
    printf("skipped: %s\n", reason);
    return 77;
  }
  if (sim_backend_cuda.open(NULL) != SIM_OK) {
    fprintf(stderr, "%s\n", sim_error_last()->message);
    return 1;
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_operations), cmocka_unit_test(test_random_graphs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
