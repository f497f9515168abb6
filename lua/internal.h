/* What the files of this folder share: the child's state, the frames on the pipe, the positions in the text. */
#ifndef SIM_LUA_INTERNAL_H
#define SIM_LUA_INTERNAL_H

#include "lua/scenario.h"

#include <lua.h>

#include <stdnoreturn.h>

/* Limits that no option sets. */
enum {
  SCENARIO_FILE_MAX = 16 << 20, /* bytes of a scenario file */
  SCENARIO_INSTRUCTIONS = 400000000 /* of Lua's virtual machine */,
  SCENARIO_HOOK_STEP = 1000,     /* instructions between two looks at the budget */
  SCENARIO_VALUES_MAX = 500000,  /* values in the returned tree, packed arrays count once */
  SCENARIO_BYTES_MAX = 64 << 20, /* of strings and packed arrays in it, and of one sim.each */
  SCENARIO_DEPTH_MAX = 32,       /* tables in tables */
  SCENARIO_NAME_MAX = 96,        /* bytes of a key as it is shown and kept, escaped */
  SCENARIO_PRINT_MAX = 64 << 10, /* bytes that a script may print */
  SCENARIO_PARAMS_MAX = 1000,
  SCENARIO_PARAM_BYTES_MAX = 64 << 10 /* of a default that is a string */
};

/* In messages from the child: the first stands for the file's path (Lua would cut a long one to 60 letters), the
 * second for the path and the line of the outermost return. */
#define SCENARIO_AT_FILE "\1"
#define SCENARIO_AT_RETURN "\2"

/* A frame on the pipe: this byte, the payload's size as uint64_t, the payload. */
enum scenario_frame {
  SCENARIO_FRAME_PRINT = 'p', /* text */
  SCENARIO_FRAME_ERROR = 'e', /* one byte sim_status, text */
  SCENARIO_FRAME_PARAMS = 'a',
  SCENARIO_FRAME_VALUE = 'v' /* the last one */
};

typedef struct scenario_trace_input {
  sim_expr_ref ref;
  char name[SIM_EXPR_NAME_MAX + 1];
} scenario_trace_input;

/* A function's graph while it is traced. */
typedef struct scenario_trace {
  int id;
  sim_expr_builder *builder;
  scenario_trace_input inputs[SIM_EXPR_INPUTS_MAX];
  int input_count;
  int line;        /* where the function begins; 0: unknown */
  bool members;    /* a parameter was indexed */
  int member_line; /* where that was done first */
  int *conditions; /* owned: line of each condition that nothing was computed of, else 0 */
  size_t condition_count, condition_capacity;
  char asked[SIM_EXPR_INPUTS_MAX][SIM_EXPR_NAME_MAX + 1]; /* members that were compared with nil */
  int asked_count;
  char refused[512]; /* what was first asked of a symbol that it cannot do, in a pcall too; "": nothing */
  int refused_line;
} scenario_trace;

typedef struct scenario_child {
  const scenario_options *options;
  lua_State *L;
  int pipe;
  size_t used;  /* bytes that Lua holds */
  bool refused; /* the last request for more memory was */
  int64_t instructions;
  size_t printed;
  sim_value *params;
  bool *taken; /* of each --set: some sim.param asked for it */
  size_t values, bytes;
  bool quiet;            /* print does nothing */
  sim_value **functions; /* in the tree, still to be traced; borrowed */
  size_t function_count;
  scenario_trace *trace;  /* of the function that is being traced, or NULL */
  int traces;             /* so far */
  sim_expr_builder *fold; /* for constants outside of traces */
  int folded;             /* nodes that it may hold by now */
} scenario_child;

/* Reads a whole regular file and looks that it is text. */
sim_status scenario_read_text(const char *path, char **text, size_t *size) SIM_MUST_CHECK;
/* Length of the UTF-8 byte order mark at the start: 3 or 0. */
size_t scenario_bom(const char *text, size_t size);
/* By bytes, the shorter first: below, at or above 0. */
int scenario_compare_text(const char *a, size_t a_size, const char *b, size_t b_size);

/* Runs the script in this process, sends frames, and ends the process. */
noreturn void scenario_child_run(const char *text, size_t size, const scenario_options *options, int pipe);
scenario_child *scenario_child_of(lua_State *L);
void scenario_child_send(const scenario_child *child, enum scenario_frame kind, const void *data, size_t size);
noreturn void scenario_child_fail(const scenario_child *child, sim_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Calls the function below its arguments at the top, under the limits; leaves all results, or an error's text. */
int scenario_child_call(scenario_child *child, int arguments);
/* Line of the innermost Lua function that runs; 0 where there is none. */
int scenario_child_line(lua_State *L);

/* Pushes the table of all that a script can name, but `sim`. */
void scenario_sandbox_push(lua_State *L);
/* Replaces the table on the top by one through which it is read and cannot be changed, where unknown names are errors:
 * label is "", "math." ... */
void scenario_sandbox_seal(lua_State *L, const char *label);

/* Lua's own functions as a scenario has them, into the tables of globals and of math on the top: those that would tell
 * what a symbol is answer as for a number, or refuse. */
void scenario_natives_set(lua_State *L);
void scenario_natives_set_math(lua_State *L);
/* Results of __lt, __le and __eq are checked from here on, in all metatables so far. Whether some were not. */
bool scenario_natives_check_comparisons(lua_State *L);
/* A number that changes when anything does that the functions in the list at `index` can reach: variables outside of
 * them and tables, but no contents of strings. *count: values that were looked at. */
uint64_t scenario_state(lua_State *L, int index, size_t *count);
/* pairs, next and table.sort in an order that depends on the keys and values alone. */
int scenario_order_pairs(lua_State *L);
int scenario_order_next(lua_State *L);
int scenario_order_sort(lua_State *L);

/* What to write instead of the name `label` `name` ("math." "pow"), which a scenario does not have; `math`: the names
 * that its table math has. False: nothing is known. */
bool scenario_hint(const char *label, const char *name, const char *const *math, char *out, size_t capacity);

/* Pushes the `sim` table. */
void scenario_language_push(lua_State *L);
/* Constructor's name of the table at `index`, or NULL. */
const char *scenario_language_tag(lua_State *L, int index);
/* Ends with SIM_ERR_USAGE where a --set was taken by no sim.param. */
void scenario_language_check_sets(scenario_child *child);

/* A column of sim.each, as a userdata. */
typedef struct scenario_column {
  size_t rows, cols;
  double data[];
} scenario_column;
int scenario_each(lua_State *L);

/* sim.curve: pushes a function of time; whether the value at `index` is such a function. */
int scenario_curve(lua_State *L);
bool scenario_is_curve(lua_State *L, int index);

/* Symbols are userdata that stand for a function's inputs and what is computed of them. */
void scenario_symbol_register(lua_State *L);
void scenario_symbol_push_parameter(lua_State *L, const char *name);
/* A symbol, or a plain value where the graph has a constant. */
void scenario_symbol_push_result(lua_State *L, const sim_expr_builder *builder, sim_expr_ref ref);
bool scenario_is_symbol(lua_State *L, int index);
/* Pushes the formula of the symbol at `index`, for print. */
void scenario_symbol_push_text(lua_State *L, int index);
/* Of booleans and symbols alike. */
bool scenario_symbol_is_condition(lua_State *L, int index);
/* What the symbol, number or boolean is in the graph; a parameter becomes an input when it is first used. */
sim_status scenario_symbol_ref(lua_State *L, int index, sim_expr_builder *builder, sim_expr_ref *out) SIM_MUST_CHECK;
/* Makes an input of a parameter whose members nobody used. */
sim_status scenario_symbol_declare(lua_State *L, int index, sim_expr_builder *builder) SIM_MUST_CHECK;

#define SCENARIO_NO_LENGTH                                                                                             \
  "a symbol has no length, its items are not known when the function is read: write for i = 1, n with a number n (of " \
  "assets, fixings, ...)"
/* Refuse a symbol at `index`, and return 1 for any other value: where it is asked whether it is true (a `choice` may be
 * a number), or compared by ==. */
int scenario_symbol_refuse_truth(lua_State *L, int index, bool choice);
int scenario_symbol_refuse_equal(lua_State *L, int index);
/* As a key of a table. */
int scenario_symbol_refuse_key(lua_State *L, int index);
/* Remembers that a member was compared with nil; returns 1. A symbol is always there, so that the answer says nothing:
 * the other declares as inputs all such members that nothing else used, for the model to refuse unknown names. */
int scenario_symbol_ask(lua_State *L, int index);
sim_status scenario_symbol_declare_asked(lua_State *L, sim_expr_builder *builder) SIM_MUST_CHECK;
/* What type() says of the symbol at `index`: "number", "boolean" of a condition, "table" of one whose members were
 * used. One that has been called a number has no members from then on. */
const char *scenario_symbol_type(lua_State *L, int index);
/* Fails with this text, in a pcall too. */
int scenario_symbol_refuse(lua_State *L, const char *text);
/* The trace fails with this text and the line that runs now, unless it has failed before. */
void scenario_symbol_note(lua_State *L, const char *text);

/* The text with checks of what `if`, `and`, `or`, `not`, `==` look at in functions; lines stay. It must be a text that
 * Lua takes. *out is NULL where there is nothing to check; false: no memory. */
bool scenario_guard_text(const char *text, size_t size, char **out, size_t *out_size) SIM_MUST_CHECK;
/* What the checks call, into the metatable of strings on the top. */
void scenario_guards_set(lua_State *L);

/* Functions of numbers and symbols, into the table on the top: metamethods of symbols, those of `sim`, those of `math`
 * in place of Lua's. */
void scenario_operators_set(lua_State *L);
void scenario_functions_set(lua_State *L);
void scenario_functions_set_math(lua_State *L);

/* Remembers that the value is the function at `index`; the other fills them all in, and runs code of the script. */
void scenario_trace_add(scenario_child *child, sim_value *value, int index);
void scenario_trace_all(scenario_child *child);

/* Counts one more value and its bytes; ends the child where the scenario holds too much. */
void scenario_account(scenario_child *child, size_t bytes);
/* The value at `index` as a plain tree. What no scenario may hold becomes SIM_VALUE_BAD in its place. */
sim_value *scenario_tree(scenario_child *child, int index);

/* Where table constructors stand in the text. */
typedef struct scenario_lines scenario_lines;
typedef struct scenario_duplicate {
  const char *key; /* borrowed from the text; NULL: none */
  size_t size;
  int line, first;
} scenario_duplicate;
scenario_lines *scenario_lines_read(const char *text, size_t size); /* NULL: out of memory */
void scenario_lines_free(scenario_lines **lines);
int scenario_lines_return(const scenario_lines *lines);
scenario_duplicate scenario_lines_duplicate(const scenario_lines *lines);
/* Fills `line` in the tree, and sorts named entries by line and name. */
void scenario_lines_apply(const scenario_lines *lines, sim_value *root);

typedef enum scenario_token_kind {
  SCENARIO_TOKEN_END,
  SCENARIO_TOKEN_NAME, /* keywords too */
  SCENARIO_TOKEN_STRING,
  SCENARIO_TOKEN_NUMBER,
  SCENARIO_TOKEN_SIGN /* one character; or "==", "~=", "<=", ">=", "..", "..." */
} scenario_token_kind;

typedef struct scenario_token {
  scenario_token_kind kind;
  const char *start; /* its first character */
  const char *text;  /* in the scenario's text; of a string what is between its marks, escapes as they stand */
  size_t size;
  int line;
} scenario_token;

typedef struct scenario_lexer {
  const char *at, *end;
  int line;
} scenario_lexer;
bool scenario_is_name(char c); /* a letter, a digit or an underscore */
scenario_token scenario_lexer_next(scenario_lexer *lexer);

#endif
