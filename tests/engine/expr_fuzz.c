/* Random graphs. The evaluator with any block, uniform inputs and instruction set, the emitted text compiled by the
 * host's compiler, and a plain evaluation node by node must give the same bits. Where C's library rounds a function
 * otherwise, the compiled text calls the evaluator's function on one value; its accuracy is tested elsewhere. */
#include "expr_testing.h"

#include <dlfcn.h>
#include <unistd.h>

enum { NODES = 60, INPUTS = 4, OUTPUTS = 3, N = 203, SHORT = 60 };

/* A graph and its construction, so that it can be evaluated without the library's own form of it. */
typedef struct made {
  sim_expr *expr;
  sim_expr_op ops[NODES];
  int args[NODES][3], outputs[OUTPUTS];
  double values[NODES];
  bool constant[NODES]; /* constant according to the builder: powers with such exponents are products */
} made;

static const double constants[] = {0, -0.0, 1, -1, 0.5, 2, 3, -4, 0.1, 1e-3, 1e10, 0x1p-130, 1.5, INFINITY};

static made make(uint64_t *state) {
  static const char *const outputs[] = {"p", "q", "r"};
  made m = {0};
  sim_expr_builder *builder;
  sim_expr_ref refs[NODES];
  sim_expr_type types[NODES];
  assert_ok(sim_expr_builder_create(&builder));
  for (int i = 0; i < NODES; i++) {
    sim_expr_op op;
    bool fits;
    do {
      op = i < INPUTS ? SIM_EXPR_INPUT : (sim_expr_op)(test_random(state) % SIM_EXPR_OP_COUNT);
      fits = i < INPUTS || op != SIM_EXPR_INPUT;
      int operands = 0;
#define OPERANDS(name, text, count, takes, gives) operands = op == SIM_EXPR_##name ? count : operands;
      SIM_EXPR_OPS(OPERANDS)
#define TAKES(name, text, count, takes, gives)                                                                         \
  if (op == SIM_EXPR_##name)                                                                                           \
    for (int k = 0; k < count; k++)                                                                                    \
      fits = fits && types[m.args[i][k]] == (op == SIM_EXPR_WHERE && k == 0 ? SIM_EXPR_C : SIM_EXPR_##takes);
      for (int k = 0; k < operands; k++) m.args[i][k] = i ? (int)(test_random(state) % (uint64_t)i) : 0;
      SIM_EXPR_OPS(TAKES)
    } while (!fits);
    m.ops[i] = op;
    m.values[i] =
        op == SIM_EXPR_TRUTH ? (double)(test_random(state) & 1) : constants[test_random(state) % COUNT(constants)];
    sim_expr_ref args[3] = {refs[m.args[i][0]], refs[m.args[i][1]], refs[m.args[i][2]]};
    if (op == SIM_EXPR_INPUT)
      assert_ok(sim_expr_builder_input(builder, test_names[i], &refs[i]));
    else if (op == SIM_EXPR_NUMBER)
      assert_ok(sim_expr_builder_number(builder, m.values[i], &refs[i]));
    else if (op == SIM_EXPR_TRUTH)
      assert_ok(sim_expr_builder_truth(builder, m.values[i] != 0, &refs[i]));
    else
      assert_ok(sim_expr_builder_call(builder, op, args, &refs[i]));
    types[i] = sim_expr_builder_type(builder, refs[i]);
    m.constant[i] = sim_expr_builder_constant(builder, refs[i], NULL);
  }
  sim_expr_ref out[OUTPUTS];
  for (int k = 0; k < OUTPUTS; k++) {
    m.outputs[k] = k ? NODES - 1 - (int)(test_random(state) % (NODES / 2)) : NODES - 1;
    out[k] = refs[m.outputs[k]];
  }
  assert_ok(sim_expr_builder_finish(builder, out, outputs, OUTPUTS, &m.expr));
  sim_expr_builder_free(&builder);
  return m;
}

/* ---- one operation on one value ---- */

static sim_expr_program *programs[2][SIM_EXPR_OP_COUNT]; /* [single] */
static void *scratches[2][SIM_EXPR_OP_COUNT];

static bool takes_two(sim_expr_op op) { return op == SIM_EXPR_POW || op == SIM_EXPR_ATAN2 || op == SIM_EXPR_HYPOT; }

static void function(bool single, sim_expr_op op, const void *a, const void *b, void *y) {
  if (!programs[single][op]) {
    sim_expr *expr = test_operation(op, takes_two(op) ? 2 : 1, NULL);
    const sim_expr_target target = {.single = single, .isa = SIM_ISA_PLAIN};
    programs[single][op] = test_program(expr, &target, &scratches[single][op]);
    sim_expr_free(&expr);
  }
  sim_expr_program_run(programs[single][op], 1, (const void *const[]){a, b}, (void *const[]){y}, scratches[single][op]);
}
static double function_value(sim_expr_op op, double a, double b) {
  double y;
  function(false, op, &a, &b, &y);
  return y;
}
static float function_value_single(sim_expr_op op, float a, float b) {
  float y;
  function(true, op, &a, &b, &y);
  return y;
}

/* x^n as expr.h defines it. */
static double power(double x, double n) {
  double m = fabs(n), product = 1, square = x;
  if (m > 64 || (n != floor(n) && (m > 32 || 2 * n != floor(2 * n)))) return function_value(SIM_EXPR_POW, x, n);
  bool some = false;
  for (int left = (int)m; left; left >>= 1) {
    if (left & 1) product = some ? product * square : square;
    some = some || (left & 1);
    square *= square;
  }
  if (m != floor(m)) product = some ? product * sqrt(x) : sqrt(x);
  return n < 0 ? 1 / product : product;
}

static double operation(sim_expr_op op, const double *v) {
  const double a = v[0], b = v[1];
  double r;
  switch (op) {
  case SIM_EXPR_ADD: return a + b;
  case SIM_EXPR_SUB: return a - b;
  case SIM_EXPR_MUL: return a * b;
  case SIM_EXPR_DIV: return a / b;
  case SIM_EXPR_NEG: return -a;
  case SIM_EXPR_MOD: r = fmod(a, b); return r != 0 && (r < 0) != (b < 0) ? r + b : r;
  case SIM_EXPR_FMOD: return fmod(a, b);
  case SIM_EXPR_MIN: return b < a || isnan(b) ? b : a;
  case SIM_EXPR_MAX: return b > a || isnan(b) ? b : a;
  case SIM_EXPR_LT: return a < b;
  case SIM_EXPR_LE: return a <= b;
  case SIM_EXPR_EQ: return a == b;
  case SIM_EXPR_NE: return a != b;
  case SIM_EXPR_AND: return a != 0 && b != 0;
  case SIM_EXPR_OR: return a != 0 || b != 0;
  case SIM_EXPR_NOT: return a == 0;
  case SIM_EXPR_WHERE: return a != 0 ? b : v[2];
  case SIM_EXPR_ABS: return fabs(a);
  case SIM_EXPR_SIGN: return a > 0 ? 1 : a < 0 ? -1 : a;
  case SIM_EXPR_FLOOR: return floor(a);
  case SIM_EXPR_CEIL: return ceil(a);
  case SIM_EXPR_SQRT: return sqrt(a);
  default: return function_value(op, a, b);
  }
}

static void plain(const made *m, const double *inputs, double *outputs) {
  double v[NODES];
  for (int i = 0; i < NODES; i++) {
    const double operands[3] = {v[m->args[i][0]], v[m->args[i][1]], v[m->args[i][2]]};
    if (m->ops[i] == SIM_EXPR_INPUT)
      v[i] = inputs[i];
    else if (m->ops[i] == SIM_EXPR_NUMBER || m->ops[i] == SIM_EXPR_TRUTH)
      v[i] = m->values[i];
    else if (m->ops[i] == SIM_EXPR_POW && m->constant[m->args[i][1]])
      v[i] = power(operands[0], operands[1]);
    else
      v[i] = operation(m->ops[i], operands);
  }
  for (int k = 0; k < OUTPUTS; k++) outputs[k] = v[m->outputs[k]];
}

/* ---- the emitted text ---- */

static double hook(int op, double a, double b) { return function_value((sim_expr_op)op, a, b); }
static float hook_single(int op, float a, float b) { return function_value_single((sim_expr_op)op, a, b); }

static const sim_expr_op hooked[] = {
    SIM_EXPR_POW,   SIM_EXPR_ATAN2, SIM_EXPR_HYPOT, SIM_EXPR_CBRT, SIM_EXPR_EXP,  SIM_EXPR_EXPM1, SIM_EXPR_LOG,
    SIM_EXPR_LOG1P, SIM_EXPR_LOG2,  SIM_EXPR_LOG10, SIM_EXPR_SIN,  SIM_EXPR_COS,  SIM_EXPR_TAN,   SIM_EXPR_ASIN,
    SIM_EXPR_ACOS,  SIM_EXPR_ATAN,  SIM_EXPR_SINH,  SIM_EXPR_COSH, SIM_EXPR_TANH, SIM_EXPR_ERF,   SIM_EXPR_ERFC,
};
static const char *name_of(sim_expr_op op) {
#define NAME(name, text, count, takes, gives)                                                                          \
  if (op == SIM_EXPR_##name) return text;
  SIM_EXPR_OPS(NAME)
  return NULL;
}

typedef void emitted(const void *inputs, void *outputs);

static void add_function(sim_bytes *text, const made *m, int number, bool single) {
  const char *real = single ? "float" : "double";
  char name[32];
  snprintf(name, sizeof name, "%s%d", single ? "s" : "d", number);
  assert_ok(sim_expr_emit(m->expr, &(sim_expr_emission){name, "static inline", single}, text));
  sim_bytes_format(text, "void run_%s(const %s *i, %s *o) { %s(i[0], i[1], i[2], i[3], o, o + 1, o + 2); }\n", name,
                   real, real, name);
}

/* Compiles all graphs as one library; NULL where there is no compiler. */
static void *compile(const made *graphs, int count) {
  sim_bytes text = {0}, command = {0};
  char folder[] = "/tmp/sim_expr_XXXXXX";
  assert_non_null(mkdtemp(folder));
  sim_bytes_text(&text, "#include <math.h>\ndouble (*hook)(int, double, double);\n"
                        "float (*hook_single)(int, float, float);\n");
  assert_ok(sim_expr_emit_prelude(&text));
  for (size_t i = 0; i < COUNT(hooked); i++) {
    const char *arguments = takes_two(hooked[i]) ? "a, b" : "a", *passed = takes_two(hooked[i]) ? "a, b" : "a, 0";
    const char *name = name_of(hooked[i]);
    sim_bytes_format(&text, "#undef %s\n#undef %sf\n#define %s(%s) hook(%d, %s)\n#define %sf(%s) hook_single(%d, %s)\n",
                     name, name, name, arguments, (int)hooked[i], passed, name, arguments, (int)hooked[i], passed);
  }
  for (int i = 0; i < count; i++)
    for (int single = 0; single < 2; single++) add_function(&text, &graphs[i], i, single);
  sim_bytes_format(&command, "cd %s && %s -std=c17 -O1 -w -fPIC -shared -ffp-contract=off -fno-builtin -o f.so f.c -lm",
                   folder, SIM_TEST_CC);
  char path[64];
  snprintf(path, sizeof path, "%s/f.c", folder);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_int_equal(fwrite(text.data, 1, text.size, file), text.size);
  fclose(file);
  int code = system(command.data);
  unlink(path);
  snprintf(path, sizeof path, "%s/f.so", folder);
  if (code != 0) fail_msg("%s: exit %d", command.data, code);
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) fail_msg("%s", dlerror());
  unlink(path);
  rmdir(folder);
  *(double (**)(int, double, double))dlsym(library, "hook") = hook;
  *(float (**)(int, float, float))dlsym(library, "hook_single") = hook_single;
  sim_bytes_free(&text);
  sim_bytes_free(&command);
  return library;
}

static bool same(double a, double b) { return isnan(a) ? isnan(b) : a == b && !signbit(a) == !signbit(b); }

static double input_value(uint64_t *state) {
  static const double odd[] = {0, -0.0, INFINITY, -INFINITY, NAN, 1, -1, 5e-324, 1e300, 3e7, -2, 0.5};
  uint64_t kind = test_random(state) % 8;
  if (kind == 0) return odd[test_random(state) % COUNT(odd)];
  double u = test_uniform(state) * 2 - 1;
  return kind < 4 ? u : kind < 6 ? u * 10 : u * 1e4;
}

/* Compares [n] results of a program with given uniform inputs, block and offset of the arrays with
 * expected[OUTPUTS][n]. */
static void check_program(const made *m, const sim_expr_target *target, const void *const *inputs, const void *expected,
                          size_t n, int number) {
  static double results[OUTPUTS][N + 1];
  memset(results, 0xa5, sizeof results);
  size_t size = target->single ? 4 : 8;
  char *base = (char *)results;
  void *const outputs[] = {base, base + (N + 1) * size, base + 2 * (N + 1) * size};
  test_run(m->expr, target, n, inputs, outputs);
  for (size_t i = 0; i < OUTPUTS * (N + 1); i++) {
    double got = target->single ? (double)((float *)(void *)base)[i] : ((double *)(void *)base)[i];
    double wanted = target->single ? (double)((const float *)expected)[i] : ((const double *)expected)[i];
    if (i % (N + 1) < n && !same(got, wanted))
      fail_msg("graph %d, output %zu, entity %zu, isa %d, block %d: %a, expected %a", number, i / (N + 1), i % (N + 1),
               (int)target->isa, target->block, got, wanted);
    if (i % (N + 1) >= n) { /* nothing is written beyond the end */
      const unsigned char *bytes = (unsigned char *)base + i * size;
      for (size_t k = 0; k < size; k++) assert_int_equal(bytes[k], 0xa5);
    }
  }
}

static void check_graph(const made *m, int number, void *library, uint64_t *state) {
  static double in[INPUTS][N], expected[OUTPUTS][N + 1];
  static float in_single[INPUTS][N], expected_single[OUTPUTS][N + 1];
  bool uniform[INPUTS];
  for (int k = 0; k < INPUTS; k++) {
    uniform[k] = test_random(state) % 3 == 0;
    for (int i = 0; i < N; i++) {
      in[k][i] = uniform[k] && i ? in[k][0] : input_value(state);
      in_single[k][i] = (float)in[k][i];
    }
  }
  char name[32];
  snprintf(name, sizeof name, "run_d%d", number);
  emitted *run = NULL, *run_single = NULL;
  *(void **)&run = dlsym(library, name);
  name[4] = 's';
  *(void **)&run_single = dlsym(library, name);
  for (int i = 0; i < N; i++) {
    double x[INPUTS], y[OUTPUTS], z[OUTPUTS];
    float xs[INPUTS], ys[OUTPUTS];
    for (int k = 0; k < INPUTS; k++) {
      x[k] = in[k][i];
      xs[k] = in_single[k][i];
    }
    plain(m, x, y);
    run(x, z);
    run_single(xs, ys);
    for (int k = 0; k < OUTPUTS; k++) {
      if (!same(y[k], z[k])) fail_msg("graph %d, output %d: plain %a, emitted %a", number, k, y[k], z[k]);
      expected[k][i] = y[k];
      expected_single[k][i] = ys[k];
    }
  }
  const void *const inputs[] = {in[0], in[1], in[2], in[3]};
  const void *const inputs_single[] = {in_single[0], in_single[1], in_single[2], in_single[3]};
  for (int isa = 0; isa <= (int)sim_isa_best(); isa++) {
    const int blocks[] = {0, 16, 48};
    for (size_t b = 0; b < COUNT(blocks); b++) {
      sim_expr_target target = {false, (sim_isa)isa, b == 1 ? NULL : uniform, blocks[b]};
      size_t n = b == 2 ? 1 + test_random(state) % N : N;
      check_program(m, &target, inputs, expected, n, number);
      target.single = true;
      check_program(m, &target, inputs_single, expected_single, n, number);
    }
  }
}

/* A stored graph is read back as the same graph. */
static void check_stored(const made *m) {
  sim_bytes first = {0}, second = {0};
  sim_expr *read;
  assert_ok(sim_expr_write(m->expr, &first));
  assert_ok(sim_expr_read(first.data, first.size, &read));
  assert_ok(sim_expr_write(read, &second));
  assert_int_equal(first.size, second.size);
  assert_memory_equal(first.data, second.data, first.size);
  sim_expr_free(&read);
  sim_bytes_free(&first);
  sim_bytes_free(&second);
}

static int count = SHORT;

static void random_graphs(void **state) {
  (void)state;
  uint64_t random = 20260;
  made *graphs = calloc((size_t)count, sizeof *graphs);
  for (int i = 0; i < count; i++) graphs[i] = make(&random);
  void *library = compile(graphs, count);
  for (int i = 0; i < count; i++) {
    check_graph(&graphs[i], i, library, &random);
    check_stored(&graphs[i]);
    sim_expr_free(&graphs[i].expr);
  }
  dlclose(library);
  free(graphs);
  for (int single = 0; single < 2; single++)
    for (int op = 0; op < SIM_EXPR_OP_COUNT; op++) {
      sim_expr_program_free(&programs[single][op]);
      free(scratches[single][op]);
    }
}

/* Arguments: expr_fuzz [number of graphs] */
int main(int argc, char **argv) {
  if (argc > 1) count = atoi(argv[1]);
  const struct CMUnitTest tests[] = {cmocka_unit_test(random_graphs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
