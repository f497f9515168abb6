/* Pure functions of named inputs, stored as expression graphs. A tracer builds them; they are differentiated, evaluated
 * on the CPU, written as C or CUDA source, and stored in checkpoints.
 *
 * A graph is immutable. Each of its values is a number or a condition (true or false). While a graph is built, equal
 * parts are merged, constant parts are evaluated in double precision by the evaluator's own functions, and the
 * following parts are rewritten. No rewriting changes a bit of a result (except the payload of a NaN):
 *
 *   x * 1, x / 1, x - 0, x + (-0) -> x          (not x + 0, which turns -0 into 0, nor x * 0, nor x - x)
 *   x * -1, x / -1 -> -x     -(-x) -> x      a + (-b) -> a - b      a - (-b) -> a + b
 *   x / 2^k -> x * 2^-k for |k| <= 126       a > b -> b < a, a >= b -> b <= a
 *   where(true, a, b) -> a, where(c, a, a) -> a, min(x, x) -> x, conditions with a constant, not(not c) -> c
 *
 * Sums and operands keep the order in which they were given. Powers are defined as follows: x^n for a constant
 * integer |n| <= 64 is a product by repeated squaring, from the lowest bit of n up; a half-integer |n| <= 32
 * multiplies by sqrt(x) last; a negative power is 1/(x^|n|). Any other exponent uses pow of C. */
#ifndef SIM_ENGINE_EXPR_H
#define SIM_ENGINE_EXPR_H

#include "engine/device/backend.h"
#include "engine/memory/bytes.h"
#include "engine/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* X(op, name, number of operands, type of the operands, type of the result); N: number, C: condition. WHERE takes (C,
 * N, N). MOD is a - floor(a/b) b with the sign of b, like Lua's %; FMOD is fmod of C. MIN is b < a ? b : a, MAX is b >
 * a ? b : a. */
#define SIM_EXPR_OPS(X)                                                                                                \
  X(INPUT, "input", 0, N, N)                                                                                           \
  X(NUMBER, "number", 0, N, N)                                                                                         \
  X(TRUTH, "truth", 0, N, C)                                                                                           \
  X(ADD, "+", 2, N, N)                                                                                                 \
  X(SUB, "-", 2, N, N)                                                                                                 \
  X(MUL, "*", 2, N, N)                                                                                                 \
  X(DIV, "/", 2, N, N)                                                                                                 \
  X(NEG, "neg", 1, N, N)                                                                                               \
  X(MOD, "mod", 2, N, N)                                                                                               \
  X(FMOD, "fmod", 2, N, N)                                                                                             \
  X(POW, "pow", 2, N, N)                                                                                               \
  X(MIN, "min", 2, N, N)                                                                                               \
  X(MAX, "max", 2, N, N)                                                                                               \
  X(ATAN2, "atan2", 2, N, N)                                                                                           \
  X(HYPOT, "hypot", 2, N, N)                                                                                           \
  X(LT, "<", 2, N, C)                                                                                                  \
  X(LE, "<=", 2, N, C)                                                                                                 \
  X(EQ, "==", 2, N, C)                                                                                                 \
  X(NE, "~=", 2, N, C)                                                                                                 \
  X(AND, "and", 2, C, C)                                                                                               \
  X(OR, "or", 2, C, C)                                                                                                 \
  X(NOT, "not", 1, C, C)                                                                                               \
  X(WHERE, "where", 3, N, N)                                                                                           \
  X(ABS, "abs", 1, N, N)                                                                                               \
  X(SIGN, "sign", 1, N, N)                                                                                             \
  X(FLOOR, "floor", 1, N, N)                                                                                           \
  X(CEIL, "ceil", 1, N, N)                                                                                             \
  X(SQRT, "sqrt", 1, N, N)                                                                                             \
  X(CBRT, "cbrt", 1, N, N)                                                                                             \
  X(EXP, "exp", 1, N, N)                                                                                               \
  X(EXPM1, "expm1", 1, N, N)                                                                                           \
  X(LOG, "log", 1, N, N)                                                                                               \
  X(LOG1P, "log1p", 1, N, N)                                                                                           \
  X(LOG2, "log2", 1, N, N)                                                                                             \
  X(LOG10, "log10", 1, N, N)                                                                                           \
  X(SIN, "sin", 1, N, N)                                                                                               \
  X(COS, "cos", 1, N, N)                                                                                               \
  X(TAN, "tan", 1, N, N)                                                                                               \
  X(ASIN, "asin", 1, N, N)                                                                                             \
  X(ACOS, "acos", 1, N, N)                                                                                             \
  X(ATAN, "atan", 1, N, N)                                                                                             \
  X(SINH, "sinh", 1, N, N)                                                                                             \
  X(COSH, "cosh", 1, N, N)                                                                                             \
  X(TANH, "tanh", 1, N, N)                                                                                             \
  X(ERF, "erf", 1, N, N)                                                                                               \
  X(ERFC, "erfc", 1, N, N)

typedef enum sim_expr_op {
#define SIM_EXPR_ENUM(op, name, operands, takes, gives) SIM_EXPR_##op,
  SIM_EXPR_OPS(SIM_EXPR_ENUM)
#undef SIM_EXPR_ENUM
      SIM_EXPR_OP_COUNT
} sim_expr_op;

typedef enum sim_expr_type { SIM_EXPR_N, SIM_EXPR_C } sim_expr_type;

enum {
  SIM_EXPR_NODES_MAX = 16384, /* operations, constants and inputs of one graph or builder */
  SIM_EXPR_INPUTS_MAX = 256,
  SIM_EXPR_OUTPUTS_MAX = 256,
  SIM_EXPR_NAME_MAX = 64
};

typedef struct sim_expr sim_expr;
/* A value in a graph under construction. Valid only with the builder that returned it. */
typedef int32_t sim_expr_ref;

/* ---- building ---- */

typedef struct sim_expr_builder sim_expr_builder;
sim_status sim_expr_builder_create(sim_expr_builder **out) SIM_MUST_CHECK;
void sim_expr_builder_free(sim_expr_builder **builder);

/* Declares the next input. Its name consists of letters, digits and _, and must be new. */
sim_status sim_expr_builder_input(sim_expr_builder *builder, const char *name, sim_expr_ref *out) SIM_MUST_CHECK;
sim_status sim_expr_builder_number(sim_expr_builder *builder, double value, sim_expr_ref *out) SIM_MUST_CHECK;
sim_status sim_expr_builder_truth(sim_expr_builder *builder, bool value, sim_expr_ref *out) SIM_MUST_CHECK;
/* Adds an operation of the list above to the graph; args[operands]. SIM_ERR_SCENARIO if an argument is a condition
 * instead of a number or the reverse, or if the graph becomes too large. */
sim_status sim_expr_builder_call(sim_expr_builder *builder, sim_expr_op op, const sim_expr_ref *args,
                                 sim_expr_ref *out) SIM_MUST_CHECK;

/* A function that a user can call; it consists of the operations above. The table holds the operators, under the names
 * of Lua's metamethods (add, sub, mul, div, unm, mod, idiv, pow), and the functions of math and sim. */
typedef struct sim_expr_function {
  const char *name;
  int least, most;   /* number of arguments; most < 0: unlimited */
  const char *takes; /* 'N' (number) or 'C' (condition) for each argument; the last one repeats */
  int rule;          /* for sim_expr_builder_apply */
  const char *doc;   /* "min(a, b, ...): the least" */
} sim_expr_function;
extern const sim_expr_function sim_expr_functions[]; /* ends with a NULL name */
const sim_expr_function *sim_expr_function_find(const char *name);
/* Adds a call of `function`. SIM_ERR_SCENARIO if the number or type of the arguments is wrong, or if the graph becomes
 * too large. */
sim_status sim_expr_builder_apply(sim_expr_builder *builder, const sim_expr_function *function,
                                  const sim_expr_ref *args, int count, sim_expr_ref *out) SIM_MUST_CHECK;

sim_expr_type sim_expr_builder_type(const sim_expr_builder *builder, sim_expr_ref ref);
/* Whether the value is a constant; writes the constant to *value, which may be NULL. */
bool sim_expr_builder_constant(const sim_expr_builder *builder, sim_expr_ref ref, double *value);

/* Creates a graph with the given outputs; names[count] are for display. Drops nodes that no output needs, and keeps all
 * inputs. The builder remains usable. */
sim_status sim_expr_builder_finish(sim_expr_builder *builder, const sim_expr_ref *outputs, const char *const *names,
                                   int count, sim_expr **out) SIM_MUST_CHECK;

/* ---- graphs ---- */

void sim_expr_free(sim_expr **expr);
int sim_expr_input_count(const sim_expr *expr);
int sim_expr_output_count(const sim_expr *expr);
int sim_expr_node_count(const sim_expr *expr);
const char *sim_expr_input_name(const sim_expr *expr, int input);
const char *sim_expr_output_name(const sim_expr *expr, int output);
int sim_expr_input_find(const sim_expr *expr, const char *name); /* -1: no such input */
sim_expr_type sim_expr_output_type(const sim_expr *expr, int output);
bool sim_expr_depends(const sim_expr *expr, int output, int input);
/* Whether a positive input multiplied by a positive factor multiplies the output by the same factor, as the graph
 * shows: x * max(y - 1, 0) for x. Of functions that simplify to such a product, and of powers, it says false. */
bool sim_expr_is_proportional(const sim_expr *expr, int output, int input);
/* Whether the output is NaN for all inputs (0/0 * x); whether it is 0 wherever it is finite (0 * x). */
bool sim_expr_always_nan(const sim_expr *expr, int output);
bool sim_expr_always_zero(const sim_expr *expr, int output);
/* Finds the values of `input` at which the function may jump or have a kink because two compared operands (of a
 * comparison, min or max) are equal there. Covers operands that are numbers or linear functions of the input (365*t,
 * t - 0.5, |t - 0.5|). The caller frees out[*count], which is not sorted. */
sim_status sim_expr_breaks(const sim_expr *expr, int input, double **out, int *count) SIM_MUST_CHECK;
/* Finds the remaining such points. Creates a graph of the same inputs whose outputs change sign where a comparison,
 * min, max, abs, floor, ceil, % or fmod of this input alone may jump or have a kink. Skips the first `skip` outputs and
 * creates at most `most`; *out is NULL if none remains. */
sim_status sim_expr_switches(const sim_expr *expr, int input, int skip, int most, sim_expr **out) SIM_MUST_CHECK;
/* Whether an output may be discontinuous: it contains where, floor, ceil, sign, fmod or %. */
bool sim_expr_may_jump(const sim_expr *expr);
/* Rough cost of one evaluation, in additions: a division or sqrt counts 6, another function such as exp 12, and pow, %
 * or fmod 30. */
double sim_expr_work(const sim_expr *expr);

/* Inserts all nodes of a graph, so that graphs can be composed. inputs[input count]: the builder's numbers that replace
 * the inputs of the graph; outputs[output count] receives the values of its outputs. */
sim_status sim_expr_builder_insert(sim_expr_builder *builder, const sim_expr *expr, const sim_expr_ref *inputs,
                                   sim_expr_ref *outputs) SIM_MUST_CHECK;

/* Derivatives are graphs of the same inputs. At a kink, the derivative follows the branch that gave the value: abs has
 * slope 1 at 0, min and max of equal values follow the first, `where` follows the chosen value and never the condition.
 * floor, ceil, sign and comparisons have slope 0 everywhere; % and // have their slope between jumps. A branch that was
 * not chosen contributes exactly 0, even where its own derivative is infinite.
 *
 * Forward mode: derivatives of all outputs by one input; outputs are named d<output>_d<input>. */
sim_status sim_expr_derivative(const sim_expr *expr, int input, sim_expr **out) SIM_MUST_CHECK;
/* Reverse mode: derivatives of one output by every input; costs a few evaluations for any number of inputs. */
sim_status sim_expr_gradient(const sim_expr *expr, int output, sim_expr **out) SIM_MUST_CHECK;

/* ---- storage and display ---- */

/* Whether the name is a keyword of Lua (end, and, function, ...); no parameter of a function can have such a name. */
bool sim_expr_name_reserved(const char *name);
/* Appends the graph as bytes of version 1 with a checksum: little-endian, the same on every machine. */
sim_status sim_expr_write(const sim_expr *expr, sim_bytes *out) SIM_MUST_CHECK;
/* Reads bytes that sim_expr_write wrote; SIM_ERR_INCOMPATIBLE for anything else. */
sim_status sim_expr_read(const void *data, size_t size, sim_expr **out) SIM_MUST_CHECK;
/* Appends a line "name = ..." for each output, with Lua's operators, after lines for parts t1, t2, ... that are long or
 * used more than once. */
sim_status sim_expr_text(const sim_expr *expr, sim_bytes *out) SIM_MUST_CHECK;

typedef struct sim_expr_emission {
  const char *name;      /* name of the function */
  const char *qualifier; /* text before the name: "static inline", "__device__ __forceinline__" */
  bool single;           /* numbers are float, not double */
  /* NULL, or the name of a C++ template for an `input` that is finite and never negative. Every power c s^(k/2) of the
   * input, of sums and of products of powers is then written as c * powers<k, form>(s), however the graph nests its
   * divisions and roots; this changes bits. |k| <= 24. form: 0 if s has only this power; 1 if s has several powers and
   * one contains a root; 2 if no power contains a root. */
  const char *powers;
  int input;
  double *shift; /* with powers, may be NULL: receives the constant that the caller must add to `input` */
  /* NULL, or the prefix of two functions: max and min with a number as second operand are written as PREFIXmax(a, b)
   * and PREFIXmin(a, b), which must return NaN where a is NaN. */
  const char *extremes;
} sim_expr_emission;
/* Appends the text that emitted functions need before them, once per file: constants and a few helpers that C lacks
 * (SIM_EXPR_INFINITY, SIM_EXPR_NAN, sim_expr_mod(f), sim_expr_sign(f)). A host compiler needs <math.h> before it. */
sim_status sim_expr_emit_prelude(sim_bytes *out) SIM_MUST_CHECK;
/* Appends `qualifier void name(REAL a, REAL b, ..., REAL *o0, REAL *o1, ...)` in C or CUDA without branches, one
 * statement per node; the same graph always gives the same text, and constants are exact. Arguments are named i0, i1,
 * ... and o0, o1, ... The compiler decides on contraction: without FMA only with -ffp-contract=off or -fmad=false.
 * Conditions become 0 or 1. */
sim_status sim_expr_emit(const sim_expr *expr, const sim_expr_emission *emission, sim_bytes *out) SIM_MUST_CHECK;
/* Whether `powers` turns the output into a single power; writes its factor c. Also false when out of memory. */
bool sim_expr_is_power(const sim_expr *expr, int output, int input, double *factor);

/* ---- evaluation on the CPU ---- */

/* A compiled list of loops over blocks that stay in the first-level cache. */
typedef struct sim_expr_program sim_expr_program;
typedef struct sim_expr_target {
  bool single;         /* numbers are float, not double */
  sim_isa isa;         /* instruction set; results in double or single precision do not depend on it */
  const bool *uniform; /* [inputs]: whether the input has one value for all entities; NULL: no input has */
  int block;           /* number of entities at a time; 0: automatic. Results do not depend on it */
} sim_expr_target;
/* Compiles a graph and keeps no reference to it. SIM_ERR_NO_MEMORY. */
sim_status sim_expr_program_create(const sim_expr *expr, const sim_expr_target *target,
                                   sim_expr_program **out) SIM_MUST_CHECK;
void sim_expr_program_free(sim_expr_program **program);
size_t sim_expr_program_bytes(const sim_expr_program *program);   /* bytes of the program itself */
size_t sim_expr_program_scratch(const sim_expr_program *program); /* bytes of scratch for each thread */
/* Evaluates the program for n entities. inputs[input count] point to n numbers (a uniform input: to one) of the
 * program's precision, outputs[output count] to n; outputs overlap neither inputs nor each other. Arrays need no
 * alignment beyond their type, scratch is aligned to 64 bytes. Threads may run one program at the same time, each with
 * its own scratch. An input that no output needs may be NULL. */
void sim_expr_program_run(const sim_expr_program *program, size_t n, const void *const *inputs, void *const *outputs,
                          void *scratch);

#ifdef __cplusplus
}
#endif

#endif
