/* Pure functions of named inputs, as expression graphs: built by a tracer, differentiated, evaluated on the CPU,
 * emitted as C or CUDA source, stored in checkpoints.
 *
 * A graph is immutable. Every value in it is a number or a condition (true or false). While it is built, equal parts
 * are merged, constants are folded in double precision by the evaluator's own functions, and the following
 * rewritings are made, none of which changes a bit of a result (except the payload of a NaN):
 *
 *   x * 1, x / 1, x - 0, x + (-0) -> x          (not x + 0, which turns -0 into 0, nor x * 0, nor x - x)
 *   x * -1, x / -1 -> -x     -(-x) -> x      a + (-b) -> a - b      a - (-b) -> a + b
 *   x / 2^k -> x * 2^-k for |k| <= 126       a > b -> b < a, a >= b -> b <= a
 *   where(true, a, b) -> a, where(c, a, a) -> a, min(x, x) -> x, conditions with a constant, not(not c) -> c
 *
 * Sums and operands keep the order in which they were given. Powers are defined as follows: x^n for a constant
 * integer |n| <= 64 is a product by repeated squaring, from the lowest bit of n up; a half-integer |n| <= 32
 * multiplies by sqrt(x) last; a negative power is 1/(x^|n|). Any other exponent is C's pow. */
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

/* X(op, name, operands, type of the operands, type of the result); N number, C condition. WHERE is (C, N, N).
 * MOD is a - floor(a/b) b with the sign of b, as Lua's %; FMOD is C's. MIN is b < a ? b : a, MAX is b > a ? b : a. */
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
/* A value in a graph under construction; valid for its builder only. */
typedef int32_t sim_expr_ref;

/* ---- building ---- */

typedef struct sim_expr_builder sim_expr_builder;
sim_status sim_expr_builder_create(sim_expr_builder **out) SIM_MUST_CHECK;
void sim_expr_builder_free(sim_expr_builder **builder);

/* Declares the next input. The name has letters, digits and _, and must be new. */
sim_status sim_expr_builder_input(sim_expr_builder *builder, const char *name, sim_expr_ref *out) SIM_MUST_CHECK;
sim_status sim_expr_builder_number(sim_expr_builder *builder, double value, sim_expr_ref *out) SIM_MUST_CHECK;
sim_status sim_expr_builder_truth(sim_expr_builder *builder, bool value, sim_expr_ref *out) SIM_MUST_CHECK;
/* Adds an operation of the list above; args[operands]. SIM_ERR_SCENARIO where a condition is given for a number or
 * vice versa, or the graph becomes too large. */
sim_status sim_expr_builder_call(sim_expr_builder *builder, sim_expr_op op, const sim_expr_ref *args,
                                 sim_expr_ref *out) SIM_MUST_CHECK;

/* The functions that a user can call, composed of those operations: operators by their metamethods' names (add, sub,
 * mul, div, unm, mod, idiv, pow), and the functions of math and sim. */
typedef struct sim_expr_function {
  const char *name;
  int least, most;   /* number of arguments; most < 0: unlimited */
  const char *takes; /* 'N' (number) or 'C' (condition) for each argument; the last one repeats */
  int rule;          /* for sim_expr_builder_apply */
  const char *doc;   /* "min(a, b, ...): the least" */
} sim_expr_function;
extern const sim_expr_function sim_expr_functions[]; /* ends with a NULL name */
const sim_expr_function *sim_expr_function_find(const char *name);
/* Adds a call of such a function. SIM_ERR_SCENARIO for a wrong number or type of arguments, or size. */
sim_status sim_expr_builder_apply(sim_expr_builder *builder, const sim_expr_function *function,
                                  const sim_expr_ref *args, int count, sim_expr_ref *out) SIM_MUST_CHECK;

sim_expr_type sim_expr_builder_type(const sim_expr_builder *builder, sim_expr_ref ref);
/* Whether the value is a constant, and which; value may be NULL. */
bool sim_expr_builder_constant(const sim_expr_builder *builder, sim_expr_ref ref, double *value);

/* Creates the graph of the given outputs, names[count] for display. Nodes that no output needs are dropped; all
 * inputs stay. The builder remains usable. */
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
/* Whether the output is NaN for all inputs, as 0/0 * x; whether it is 0 wherever it is finite, as 0 * x. */
bool sim_expr_always_nan(const sim_expr *expr, int output);
bool sim_expr_always_zero(const sim_expr *expr, int output);
/* Values of an input at which the function may jump or have a kink, because compared operands (of comparisons, min
 * and max) are equal there, as linear functions of the input (365*t, t - 0.5, |t - 0.5|) or numbers. out[*count],
 * unordered, is freed by the caller. */
sim_status sim_expr_breaks(const sim_expr *expr, int input, double **out, int *count) SIM_MUST_CHECK;
/* The other points: a graph of the same inputs whose outputs change sign where comparisons, min, max, abs, floor,
 * ceil, % and fmod of this input alone may jump or have a kink. At most `most` outputs, after the first `skip`; *out
 * is NULL if none is left. */
sim_status sim_expr_switches(const sim_expr *expr, int input, int skip, int most, sim_expr **out) SIM_MUST_CHECK;
/* Whether an output may be discontinuous: it contains where, floor, ceil, sign, fmod or %. */
bool sim_expr_may_jump(const sim_expr *expr);
/* Rough cost of one evaluation in additions: a division or root counts 6, a function such as exp 12, pow or fmod 30. */
double sim_expr_work(const sim_expr *expr);

/* Inserts all nodes of a graph, with values of the builder for its inputs: inputs[input count] (numbers).
 * outputs[output count]: the values of its outputs. This composes graphs. */
sim_status sim_expr_builder_insert(sim_expr_builder *builder, const sim_expr *expr, const sim_expr_ref *inputs,
                                   sim_expr_ref *outputs) SIM_MUST_CHECK;

/* Derivatives are graphs of the same inputs. At a kink the derivative is that of the branch that gave the value: abs
 * has 1 at 0, min and max of equal values follow the first, where follows the chosen value and never the condition;
 * floor, ceil, sign and comparisons have 0 everywhere, mod and // the derivative between jumps. A branch not taken
 * gives exactly 0, also where its own derivative is infinite.
 *
 * Forward mode: all outputs by one input; outputs are named d<output>_d<input>. */
sim_status sim_expr_derivative(const sim_expr *expr, int input, sim_expr **out) SIM_MUST_CHECK;
/* Reverse mode: one output by every input, at the cost of a few evaluations for any number of inputs. */
sim_status sim_expr_gradient(const sim_expr *expr, int output, sim_expr **out) SIM_MUST_CHECK;

/* ---- storage and display ---- */

/* Whether the name is a keyword of Lua (end, and, function, ...), which no parameter of a function can have. */
bool sim_expr_name_reserved(const char *name);
/* Appends a byte string of version 1 with a checksum: little-endian, the same on every machine. */
sim_status sim_expr_write(const sim_expr *expr, sim_bytes *out) SIM_MUST_CHECK;
/* Reads such bytes; SIM_ERR_INCOMPATIBLE for any others. */
sim_status sim_expr_read(const void *data, size_t size, sim_expr **out) SIM_MUST_CHECK;
/* Appends lines "name = ..." with Lua's operators; shared parts are named t1, t2, ... */
sim_status sim_expr_text(const sim_expr *expr, sim_bytes *out) SIM_MUST_CHECK;

typedef struct sim_expr_emission {
  const char *name;      /* name of the function */
  const char *qualifier; /* before the name: "static inline", "__device__ __forceinline__" */
  bool single;           /* numbers are float, not double */
  /* NULL, or a C++ template for an `input` that is finite and never negative: each power c s^(k/2) of it, of sums
   * and of products of powers is then written as c * powers<k, form>(s), however its divisions and roots are nested
   * in the graph, which changes bits. |k| <= 24. form: 0 s has this power only, 1 others too and one of them has a
   * root, 2 none has. */
  const char *powers;
  int input;
  double *shift; /* with powers, may be NULL: constant that the argument for `input` must already contain */
  /* NULL, or a prefix of two functions: max and min with a number as second operand are written PREFIXmax(a, b) and
   * PREFIXmin(a, b), which must be NaN where a is. */
  const char *extremes;
} sim_expr_emission;
/* Appends the text that emitted functions need before them, once a file: constants and the few helpers that C lacks.
 * It defines SIM_EXPR_INFINITY, SIM_EXPR_NAN, sim_expr_mod(f) and sim_expr_sign(f). A host compiler needs <math.h>
 * first. */
sim_status sim_expr_emit_prelude(sim_bytes *out) SIM_MUST_CHECK;
/* Appends `qualifier void name(REAL a, REAL b, ..., REAL *o0, REAL *o1, ...)`: straight-line C or CUDA, one
 * statement a node, the same text for the same graph, constants exact. The arguments are i0, i1, ... and o0, o1, ...
 * Contraction is the compiler's setting: with -ffp-contract=off or -fmad=false no FMA results. Conditions become 0
 * or 1. */
sim_status sim_expr_emit(const sim_expr *expr, const sim_expr_emission *emission, sim_bytes *out) SIM_MUST_CHECK;
/* Whether `powers` turns an output into a single power, and its factor c; false also if out of memory. */
bool sim_expr_is_power(const sim_expr *expr, int output, int input, double *factor);

/* ---- evaluation on the CPU ---- */

/* A compiled list of loops over blocks that stay in the first-level cache. */
typedef struct sim_expr_program sim_expr_program;
typedef struct sim_expr_target {
  bool single;         /* numbers are float, not double */
  sim_isa isa;         /* in double no result depends on it; in single neither */
  const bool *uniform; /* [inputs]: whether the input has one value for all entities; NULL: none has */
  int block;           /* entities at a time; 0: automatic. No result depends on it */
} sim_expr_target;
/* Compiles a graph; keeps no reference to expr. SIM_ERR_NO_MEMORY. */
sim_status sim_expr_program_create(const sim_expr *expr, const sim_expr_target *target,
                                   sim_expr_program **out) SIM_MUST_CHECK;
void sim_expr_program_free(sim_expr_program **program);
size_t sim_expr_program_bytes(const sim_expr_program *program);   /* bytes of the program itself */
size_t sim_expr_program_scratch(const sim_expr_program *program); /* bytes of scratch for each running thread */
/* Evaluates n entities. inputs[input count] point to n numbers (uniform: one) of the precision, outputs[output
 * count] to n; outputs overlap neither inputs nor each other. They need no alignment beyond their type; scratch is
 * aligned to 64 bytes. Threads may run a program at the same time, each with its own scratch. An input that no
 * output needs may be NULL. */
void sim_expr_program_run(const sim_expr_program *program, size_t n, const void *const *inputs, void *const *outputs,
                          void *scratch);

#ifdef __cplusplus
}
#endif

#endif
