/* The evaluator of function graphs against the same formula in C at -O3: bench_expr [--seconds S].
 *
 * C stands twice: as the compiler builds it for any processor, and for the instruction set that the evaluator uses. */
#include "bench/arguments.h"
#include "engine/expr/expr.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { N = 16384, INPUTS = 3, OUTPUTS = 3, ARRAYS = INPUTS + 2 * OUTPUTS };

#if defined(__x86_64__)
#ifdef __clang__
#define WIDE512 __attribute__((target("avx512f,avx512vl,avx512dq")))
#else
#define WIDE512 __attribute__((target("avx512f,avx512vl,avx512dq,prefer-vector-width=512")))
#endif
#define WIDE256 __attribute__((target("avx2")))
#else
#define WIDE512
#define WIDE256
#endif

/* FORMULA(name, REAL, outputs, body): name_REAL[SIM_ISA_COUNT]; x, y, z are inputs, p, q, r outputs. */
typedef void formula(size_t n, const void *restrict x, const void *restrict y, const void *restrict z, void *restrict p,
                     void *restrict q, void *restrict r);
#define VERSION(name, REAL, attribute, outputs, ...)                                                                   \
  attribute static void name(size_t n, const void *restrict xs, const void *restrict ys, const void *restrict zs,      \
                             void *restrict ps, void *restrict qs, void *restrict rs) {                                \
    for (size_t i = 0; i < n; i++) {                                                                                   \
      const REAL x = ((const REAL *)xs)[i], y = ((const REAL *)ys)[i], z = ((const REAL *)zs)[i];                      \
      REAL p = 0, q = 0, r = 0;                                                                                        \
      __VA_ARGS__;                                                                                                     \
      ((REAL *)ps)[i] = p;                                                                                             \
      if (outputs > 1) ((REAL *)qs)[i] = q;                                                                            \
      if (outputs > 2) ((REAL *)rs)[i] = r;                                                                            \
      (void)y, (void)z, (void)q, (void)r;                                                                              \
    }                                                                                                                  \
  }
#define FORMULA(name, REAL, outputs, ...)                                                                              \
  VERSION(name##_##REAL##_plain, REAL, , outputs, __VA_ARGS__)                                                         \
  VERSION(name##_##REAL##_avx2, REAL, WIDE256, outputs, __VA_ARGS__)                                                   \
  VERSION(name##_##REAL##_avx512, REAL, WIDE512, outputs, __VA_ARGS__)                                                 \
  static formula *const name##_##REAL[] = {name##_##REAL##_plain, name##_##REAL##_avx2, name##_##REAL##_avx512};

#define LENNARD_JONES(REAL)                                                                                            \
  FORMULA(lennard_jones, REAL, 1, const REAL s2 = 1 / x, s6 = s2 * s2 * s2; p = 4 * (s6 * s6 - s6))
LENNARD_JONES(double)
LENNARD_JONES(float)
/* Minus the gradient of log(x^2 + y^2 + z^2/q^2 + rc^2)/2, q = 0.8, rc = 0.1 */
#define HALO(REAL)                                                                                                     \
  FORMULA(halo, REAL, 3, const REAL m = -1 / (x * x + y * y + z * z * (REAL)(1 / 0.64) + (REAL)0.01); p = x * m;       \
          q = y * m; r = z * (REAL)(1 / 0.64) * m)
HALO(double)
HALO(float)
#define GRAY_SCOTT(REAL)                                                                                               \
  FORMULA(gray_scott, REAL, 2, const REAL uvv = x * y * y; p = (REAL)0.0367 * (1 - x) - uvv;                           \
          q = uvv - (REAL)(0.0367 + 0.0649) * y)
GRAY_SCOTT(double)
GRAY_SCOTT(float)
/* The payoff of a basket from two log-prices, discounted, and its indicator. */
FORMULA(payoff, double, 2, const double s = 0.5 * (100 * exp(x) + 95 * exp(y)) - 100; p = 0.97 * (s > 0 ? s : 0);
        q = s > 0 ? 1 : 0)
FORMULA(payoff, float, 2, const float s = 0.5f * (100 * expf(x) + 95 * expf(y)) - 100; p = 0.97f * (s > 0 ? s : 0);
        q = s > 0 ? 1 : 0)
FORMULA(wave, double, 1, p = exp(-0.5 * (x * x + y * y)) * cos(5 * z))
FORMULA(wave, float, 1, p = expf(-0.5f * (x * x + y * y)) * cosf(5 * z))

/* ---- the same as graphs ---- */

static sim_expr_builder *builder;
static void check(sim_status status) {
  if (status == SIM_OK) return;
  fprintf(stderr, "%s\n", sim_error_last()->message);
  exit(1);
}
static sim_expr_ref f(const char *name, sim_expr_ref a, sim_expr_ref b) {
  sim_expr_ref out;
  const sim_expr_function *function = sim_expr_function_find(name);
  check(sim_expr_builder_apply(builder, function, (sim_expr_ref[]){a, b}, function->least, &out));
  return out;
}
static sim_expr_ref number(double value) {
  sim_expr_ref out;
  check(sim_expr_builder_number(builder, value, &out));
  return out;
}
static sim_expr_ref when(sim_expr_ref c, sim_expr_ref a, sim_expr_ref b) {
  sim_expr_ref out;
  check(sim_expr_builder_call(builder, SIM_EXPR_WHERE, (sim_expr_ref[]){c, a, b}, &out));
  return out;
}
#define ADD(a, b) f("add", a, b)
#define SUB(a, b) f("sub", a, b)
#define MUL(a, b) f("mul", a, b)

typedef int graph(sim_expr_ref x, sim_expr_ref y, sim_expr_ref z, sim_expr_ref *out);
static int lennard_jones_graph(sim_expr_ref x, sim_expr_ref y, sim_expr_ref z, sim_expr_ref *out) {
  (void)y, (void)z;
  sim_expr_ref s2 = f("div", number(1), x), s6 = MUL(MUL(s2, s2), s2);
  out[0] = MUL(number(4), SUB(MUL(s6, s6), s6));
  return 1;
}
static int halo_graph(sim_expr_ref x, sim_expr_ref y, sim_expr_ref z, sim_expr_ref *out) {
  sim_expr_ref c = number(1 / 0.64), s = ADD(ADD(ADD(MUL(x, x), MUL(y, y)), MUL(MUL(z, z), c)), number(0.01));
  sim_expr_ref m = f("div", number(-1), s);
  out[0] = MUL(x, m), out[1] = MUL(y, m), out[2] = MUL(MUL(z, c), m);
  return 3;
}
static int gray_scott_graph(sim_expr_ref x, sim_expr_ref y, sim_expr_ref z, sim_expr_ref *out) {
  (void)z;
  sim_expr_ref uvv = MUL(MUL(x, y), y);
  out[0] = SUB(MUL(number(0.0367), SUB(number(1), x)), uvv);
  out[1] = SUB(uvv, MUL(number(0.0367 + 0.0649), y));
  return 2;
}
static int payoff_graph(sim_expr_ref x, sim_expr_ref y, sim_expr_ref z, sim_expr_ref *out) {
  (void)z;
  sim_expr_ref sum = ADD(MUL(number(100), f("exp", x, 0)), MUL(number(95), f("exp", y, 0)));
  sim_expr_ref s = SUB(MUL(number(0.5), sum), number(100));
  out[0] = MUL(number(0.97), when(f("gt", s, number(0)), s, number(0)));
  out[1] = when(f("gt", s, number(0)), number(1), number(0));
  return 2;
}
static int wave_graph(sim_expr_ref x, sim_expr_ref y, sim_expr_ref z, sim_expr_ref *out) {
  sim_expr_ref g = f("exp", MUL(number(-0.5), ADD(MUL(x, x), MUL(y, y))), 0);
  out[0] = MUL(g, f("cos", MUL(number(5), z), 0));
  return 1;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double seconds = 0.3;
static void *arrays[2][ARRAYS]; /* [single]: inputs, results of the graph, results of C */
static const void *const *inputs_of(int single) { return (const void *const *)(void *)arrays[single]; }

/* Best time of one call, in seconds. */
static double time_formula(formula *run, int single) {
  double best = 1, end = now() + seconds;
  while (now() < end) {
    double start = now();
    void *const *in = arrays[single], *const *out = in + INPUTS + OUTPUTS;
    run(N, in[0], in[1], in[2], out[0], out[1], out[2]);
    double took = now() - start;
    best = took < best ? took : best;
  }
  return best;
}
static double time_program(const sim_expr_program *program, int single, void *scratch) {
  double best = 1, end = now() + seconds;
  while (now() < end) {
    double start = now();
    sim_expr_program_run(program, N, inputs_of(single), arrays[single] + INPUTS, scratch);
    double took = now() - start;
    best = took < best ? took : best;
  }
  return best;
}

static double value(int single, int array, size_t i) {
  return single ? (double)((float *)arrays[single][array])[i] : ((double *)arrays[single][array])[i];
}

static void compare(const char *name, graph *build, formula *const *c, int single) {
  static const char *const names[] = {"x", "y", "z", "p", "q", "r"};
  sim_expr_ref in[INPUTS], out[OUTPUTS];
  sim_expr *expr;
  sim_expr_program *program;
  check(sim_expr_builder_create(&builder));
  for (int i = 0; i < INPUTS; i++) check(sim_expr_builder_input(builder, names[i], &in[i]));
  int outputs = build(in[0], in[1], in[2], out);
  check(sim_expr_builder_finish(builder, out, names + INPUTS, outputs, &expr));
  sim_isa isa = sim_isa_best();
  check(sim_expr_program_create(expr, &(sim_expr_target){.single = single, .isa = isa}, &program));
  void *scratch = aligned_alloc(64, sim_expr_program_scratch(program) / 64 * 64 + 64);
  double ours = time_program(program, single, scratch);
  double wide = time_formula(c[isa], single), plain = time_formula(c[SIM_ISA_PLAIN], single);
  double worst = 0;
  for (int k = 0; k < outputs; k++)
    for (size_t i = 0; i < N; i++) {
      double a = value(single, INPUTS + k, i), b = value(single, INPUTS + OUTPUTS + k, i);
      double wrong = fabs(a - b) / (fabs(b) > 1e-3 ? fabs(b) : 1e-3);
      worst = wrong > worst ? wrong : worst;
    }
  printf("%-14s %-6s %9.2f %9.2f %9.2f %8.2f %8.2f   %.0e\n", name, single ? "single" : "double", 1e9 * ours / N,
         1e9 * wide / N, 1e9 * plain / N, ours / wide, ours / plain, worst);
  free(scratch);
  sim_expr_program_free(&program);
  sim_expr_free(&expr);
  sim_expr_builder_free(&builder);
}

int main(int argc, char **argv) {
  double all = 30 * seconds;
  const bench_argument known[] = {{"--seconds", BENCH_NUMBER, &all, 0, NULL}, {NULL, BENCH_END, NULL, 0, NULL}};
  bench_arguments(argc, argv, known);
  seconds = all / 30;
  double *memory = aligned_alloc(64, (size_t)2 * ARRAYS * (N + 104) * sizeof *memory);
  if (!memory) return 1;
  for (int single = 0; single < 2; single++)
    for (int a = 0; a < ARRAYS; a++) {
      arrays[single][a] = memory + (size_t)(single * ARRAYS + a) * (N + 104); /* not a multiple of a page apart */
      for (size_t i = 0; i < N; i++) {                                        /* between 0.9 and 1.4, in no order */
        double x = 0.9 + 0.5 * fmod(0.618033988749895 * (double)(i * (size_t)(a + 1)), 1);
        if (single)
          ((float *)arrays[single][a])[i] = (float)x;
        else
          ((double *)arrays[single][a])[i] = x;
      }
    }
  printf("ns an entity, %d of them, %s\n", (int)N, sim_isa_name(sim_isa_best()));
  printf("formula        precision   graph  C (isa) C (plain)  / isa  / plain  difference\n");
  for (int single = 0; single < 2; single++) {
    compare("Lennard-Jones", lennard_jones_graph, single ? lennard_jones_float : lennard_jones_double, single);
    compare("halo forces", halo_graph, single ? halo_float : halo_double, single);
    compare("Gray-Scott", gray_scott_graph, single ? gray_scott_float : gray_scott_double, single);
    compare("payoff", payoff_graph, single ? payoff_float : payoff_double, single);
    compare("wave packet", wave_graph, single ? wave_float : wave_double, single);
  }
  free(memory);
  return 0;
}
