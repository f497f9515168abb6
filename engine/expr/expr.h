/* Pure functions of named inputs, as graphs: built by a tracer, differentiated, evaluated on the CPU, emitted as text
 * for a compiler of C or CUDA, stored in checkpoints.
 *
 * A graph does not change after it is built. Every value in it is a number or a condition (true or false). While it is
 * built, equal parts become one, constants are folded in double precision by the evaluator's own functions, and these
 * rewritings are made, none of which changes a bit of a result (but the payload of a NaN):
 *
 *   x * 1, x / 1, x - 0, x + (-0) -> x          (not x + 0, which turns -0 into 0, nor x * 0, nor x - x)
 *   x * -1, x / -1 -> -x     -(-x) -> x      a + (-b) -> a - b      a - (-b) -> a + b
 *   x / 2^k -> x * 2^-k for |k| <= 126       a > b -> b < a, a >= b -> b <= a
 *   where(true, a, b) -> a, where(c, a, a) -> a, min(x, x) -> x, conditions with a constant, not(not c) -> c
 *
 * Sums keep their order; an operator takes its operands as they were given. Powers are defined so: x^n for a constant
 * integer |n| <= 64 is a product by repeated squaring, from the lowest bit of n up; a half-integer |n| <= 32 multiplies
 * by sqrt(x) last; a negative one is 1/(x^|n|). Any other exponent is C's pow. */
#ifndef SIM_ENGINE_EXPR_H
#define SIM_ENGINE_EXPR_H

#include "engine/device/backend.h"
#include "engine/bytes.h"
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
  SIM_EXPR_NODES_MAX = 16384, /* operations, constants and inputs of one graph, and of one that is being built */
  SIM_EXPR_INPUTS_MAX = 256,
  SIM_EXPR_OUTPUTS_MAX = 256,
  SIM_EXPR_NAME_MAX = 64
};

typedef struct sim_expr sim_expr;
/* A value in a graph that is being built; only for its own builder. */
typedef int32_t sim_expr_ref;

/* ---- building ---- */

typedef struct sim_expr_builder sim_expr_builder;
sim_status sim_expr_builder_create(sim_expr_builder **out) SIM_MUST_CHECK;
void sim_expr_builder_free(sim_expr_builder **builder);

/* Inputs are numbered as they are declared. A name is of letters, digits and _, and stands once. */
sim_status sim_expr_builder_input(sim_expr_builder *builder, const char *name, sim_expr_ref *out) SIM_MUST_CHECK;
sim_status sim_expr_builder_number(sim_expr_builder *builder, double value, sim_expr_ref *out) SIM_MUST_CHECK;
sim_status sim_expr_builder_truth(sim_expr_builder *builder, bool value, sim_expr_ref *out) SIM_MUST_CHECK;
/* One operation of the list above; args[operands]. SIM_ERR_SCENARIO where a condition stands for a number or the other
 * way round, or the graph becomes too large. */
sim_status sim_expr_builder_call(sim_expr_builder *builder, sim_expr_op op, const sim_expr_ref *args,
                                 sim_expr_ref *out) SIM_MUST_CHECK;

/* The functions that a user writes, made of those operations: the operators' functions by their metamethods' names
 * (add, sub, mul, div, unm, mod, idiv, pow), math's and sim's. */
typedef struct sim_expr_function {
  const char *name;
  int least, most;   /* arguments; most < 0: any number */
  const char *takes; /* 'N' or 'C' for each argument; the last one repeats */
  int rule;          /* for sim_expr_builder_apply */
  const char *doc;   /* "min(a, b, ...): the least" */
} sim_expr_function;
extern const sim_expr_function sim_expr_functions[]; /* ends with a NULL name */
const sim_expr_function *sim_expr_function_find(const char *name);
/* SIM_ERR_SCENARIO for a wrong number of arguments, wrong types (which argument of which function), or size. */
sim_status sim_expr_builder_apply(sim_expr_builder *builder, const sim_expr_function *function,
                                  const sim_expr_ref *args, int count, sim_expr_ref *out) SIM_MUST_CHECK;

sim_expr_type sim_expr_builder_type(const sim_expr_builder *builder, sim_expr_ref ref);
/* Whether the value is a constant by now; value may be NULL. */
bool sim_expr_builder_constant(const sim_expr_builder *builder, sim_expr_ref ref, double *value);

/* The graph of the given outputs, names[count] for people; what they do not need is left out, but all inputs stay
 * declared. The builder may go on. */
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
/* Whether the output is NaN whatever the inputs, as 0/0 * x is; whether it is 0 wherever it is finite, as 0 * x is. */
bool sim_expr_always_nan(const sim_expr *expr, int output);
bool sim_expr_always_zero(const sim_expr *expr, int output);
/* Values of an input at which the function may jump or have a kink: where what is compared, or the least or greatest of
 * which is taken, are equal as linear functions of the input (365*t, t - 0.5, |t - 0.5|) and numbers. *out[*count], in
 * no order, is the caller's to free. */
sim_status sim_expr_breaks(const sim_expr *expr, int input, double **out, int *count) SIM_MUST_CHECK;
/* The other places: a graph of the same inputs whose outputs change their sign where comparisons, least and greatest
 * values, magnitudes, floor, ceil, % and fmod of this input alone may jump or have a kink. At most `most` of them,
 * after the first `skip`; *out is NULL where none is left. */
sim_status sim_expr_switches(const sim_expr *expr, int input, int skip, int most, sim_expr **out) SIM_MUST_CHECK;
/* Whether an output may jump as its inputs move: it has a where, floor, ceil, sign, fmod or %. */
bool sim_expr_may_jump(const sim_expr *expr);
/* What one evaluation takes, in additions, roughly: a division or root counts 6, a function as exp 12, pow or fmod 30.
 */
double sim_expr_work(const sim_expr *expr);

/* All nodes of a graph in a builder, in terms of values that stand there already (inputs[input count], numbers);
 * outputs[output count] are what becomes of its outputs. So graphs are composed. */
sim_status sim_expr_builder_insert(sim_expr_builder *builder, const sim_expr *expr, const sim_expr_ref *inputs,
                                   sim_expr_ref *outputs) SIM_MUST_CHECK;

/* Derivatives are graphs of the same inputs. At a kink the rule is one-sided: the derivative of the branch that gave
 * the value. So abs has 1 at 0, min and max of equal values follow the first, where follows the chosen value and never
 * the condition; floor, ceil, sign and comparisons have 0 everywhere, mod and // the derivative between jumps. A branch
 * not taken gives exactly 0, also where its own derivative is infinite.
 *
 * Forward: all outputs by one input; outputs are named d<output>_d<input>. */
sim_status sim_expr_derivative(const sim_expr *expr, int input, sim_expr **out) SIM_MUST_CHECK;
/* Reverse: one output by every input, for about the cost of a few evaluations whatever their number. */
sim_status sim_expr_gradient(const sim_expr *expr, int output, sim_expr **out) SIM_MUST_CHECK;

/* ---- storing and showing ---- */

/* Whether the name is a word of Lua (end, and, function, ...), so that no parameter of a function can have it. */
bool sim_expr_name_reserved(const char *name);
/* A byte string of version 1 with a checksum: little-endian, the same on every machine. */
sim_status sim_expr_write(const sim_expr *expr, sim_bytes *out) SIM_MUST_CHECK;
/* Bytes that no sim_expr_write made give SIM_ERR_INCOMPATIBLE. */
sim_status sim_expr_read(const void *data, size_t size, sim_expr **out) SIM_MUST_CHECK;
/* Lines "name = ..." in the operators of Lua; shared parts are named t1, t2, ... */
sim_status sim_expr_text(const sim_expr *expr, sim_bytes *out) SIM_MUST_CHECK;

typedef struct sim_expr_emission {
  const char *name;      /* of the function */
  const char *qualifier; /* before it: "static inline", "__device__ __forceinline__" */
  bool single;           /* numbers are float, not double */
  /* NULL, or a template of C++ for an `input` that is finite and never negative: in the text each c s^(k/2) of it, of
   * sums and of products of such, is c * powers<k, form>(s), however its divisions and roots stand in the graph, which
   * changes bits. |k| <= 24. form: 0 s has this power alone, 1 others too and one of them has a root, 2 none has. */
  const char *powers;
  int input;
  double *shift; /* not NULL, with powers: what the argument for `input` must have had added to it already */
  /* NULL, or what the names of two functions begin with: with a number as second operand max and min are PREFIXmax(a,
   * b) and PREFIXmin(a, b), which are to be NaN where a is. */
  const char *extremes;
} sim_expr_emission;
/* Text that the functions below need before them, once a file: constants and the few helpers that C lacks. It takes the
 * names SIM_EXPR_INFINITY, SIM_EXPR_NAN, sim_expr_mod(f) and sim_expr_sign(f). A host compiler needs <math.h> first. */
sim_status sim_expr_emit_prelude(sim_bytes *out) SIM_MUST_CHECK;
/* `qualifier void name(REAL a, REAL b, ..., REAL *o0, REAL *o1, ...)`: straight-line text for C and CUDA, one statement
 * a node, the same for the same graph and constants exact. The arguments are i0, i1, ... and o0, o1, ... Contraction is
 * the compiler's setting: with -ffp-contract=off or -fmad=false no FMA arises. Conditions come out as 0 or 1. */
sim_status sim_expr_emit(const sim_expr *expr, const sim_expr_emission *emission, sim_bytes *out) SIM_MUST_CHECK;
/* Whether `powers` makes of an output one power, and its c; false too where there is no memory to find out. */
bool sim_expr_is_power(const sim_expr *expr, int output, int input, double *factor);

/* ---- evaluation on the CPU ---- */

/* A plan of blocks that stay in the first-level cache. */
typedef struct sim_expr_program sim_expr_program;
typedef struct sim_expr_target {
  bool single;         /* numbers are float, not double */
  sim_isa isa;         /* in double the bits do not depend on it; in single neither */
  const bool *uniform; /* [inputs]: these have one value for all entities; NULL: none has */
  int block;           /* entities at a time; 0: chosen. No result depends on it */
} sim_expr_target;
/* The program keeps nothing of expr. */
sim_status sim_expr_program_create(const sim_expr *expr, const sim_expr_target *target,
                                   sim_expr_program **out) SIM_MUST_CHECK;
void sim_expr_program_free(sim_expr_program **program);
size_t sim_expr_program_bytes(const sim_expr_program *program);   /* what it holds itself */
size_t sim_expr_program_scratch(const sim_expr_program *program); /* bytes that each running thread brings */
/* inputs[input count] point to n numbers (one, where uniform) of the precision, outputs[output count] to n; an output
 * overlaps no input and no other output. Neither needs an alignment beyond its type's; scratch is 64-byte aligned. May
 * run in several threads at once, each with its own scratch. An input that no output needs may be NULL. */
void sim_expr_program_run(const sim_expr_program *program, size_t n, const void *const *inputs, void *const *outputs,
                          void *scratch);

#ifdef __cplusplus
}
#endif

#endif
