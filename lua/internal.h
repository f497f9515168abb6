/* Shared by the files of this folder: state of the child process, frames on its pipe, positions in the text. */
#ifndef SIM_LUA_INTERNAL_H
#define SIM_LUA_INTERNAL_H

#include "lua/scenario.h"

#include <lua.h>

#include <stdnoreturn.h>
#include <sys/types.h>

/* Fixed limits of a scenario. */
enum {
  SCENARIO_FILE_MAX = 16 << 20, /* bytes of a scenario file */
  SCENARIO_INSTRUCTIONS = 400000000 /* instructions of Lua's virtual machine */,
  SCENARIO_HOOK_STEP = 1000,     /* instructions between two checks of the limits */
  SCENARIO_VALUES_MAX = 500000,  /* values in the returned tree; a packed array counts once */
  SCENARIO_BYTES_MAX = 64 << 20, /* bytes of strings and packed arrays in the tree, and of one sim.each */
  SCENARIO_DEPTH_MAX = 32,       /* depth of tables in tables */
  SCENARIO_NAME_MAX = 96,        /* bytes of a key, escaped */
  SCENARIO_PRINT_MAX = 64 << 10, /* bytes that a script may print */
  SCENARIO_PARAMS_MAX = 1000,
  SCENARIO_PARAM_BYTES_MAX = 64 << 10 /* bytes of a default that is a string */
};

/* Placeholders in messages from the child, which the parent replaces: by the path of the scenario (Lua would cut the
 * path to 60 characters); by the path and the line of the outermost return. */
#define SCENARIO_AT_FILE "\1"
#define SCENARIO_AT_RETURN "\2"

/* First byte of a frame on the pipe; then come the size of the payload, as uint64_t, and the payload. */
enum scenario_frame {
  SCENARIO_FRAME_PRINT = 'p', /* text */
  SCENARIO_FRAME_ERROR = 'e', /* one byte sim_status, then text */
  SCENARIO_FRAME_PARAMS = 'a',
  SCENARIO_FRAME_MORE = 'm', /* empty: after the values the process waits for another script */
  SCENARIO_FRAME_VALUE = 'v' /* the last frame */
};

typedef struct scenario_trace_input {
  sim_expr_ref ref;
  char name[SIM_EXPR_NAME_MAX + 1];
} scenario_trace_input;

/* State of the tracing of one function. */
typedef struct scenario_trace {
  int id;
  sim_expr_builder *builder;
  scenario_trace_input inputs[SIM_EXPR_INPUTS_MAX];
  int input_count;
  int line;        /* first line of the function; 0: unknown */
  bool members;    /* a parameter was indexed, as in body.x */
  int member_line; /* line of the first such use */
  int *conditions; /* owned: line of each condition; 0 once a value was computed from it */
  size_t condition_count, condition_capacity;
  char asked[SIM_EXPR_INPUTS_MAX][SIM_EXPR_NAME_MAX + 1]; /* members that were only compared with nil */
  int asked_count;
  char refused[512]; /* the first unsupported use of a symbol, kept even if pcall catches its error; "": none */
  int refused_line;
} scenario_trace;

typedef struct scenario_child {
  const scenario_options *options;
  lua_State *L;
  int pipe;
  size_t used;  /* bytes that Lua has allocated */
  bool refused; /* the last request for more memory was refused */
  int64_t instructions;
  double begun; /* processor time of the process when the script began, in seconds */
  size_t printed;
  sim_value *params;
  bool *taken; /* for each --set: whether the script has a sim.param of its name */
  size_t values, bytes;
  bool quiet;            /* print prints nothing */
  sim_value **functions; /* [function_count] functions of the tree that are not traced yet, borrowed */
  size_t function_count;
  scenario_trace *trace;  /* trace of the function that is being traced; NULL: none */
  int traces;             /* number of traces so far */
  sim_expr_builder *fold; /* builder that computes functions of constants outside of a trace */
  int folded;             /* upper bound of the number of nodes in `fold` */
} scenario_child;

/* ---- text.c ---- */

/* Reads a whole regular file and checks that it is text. The caller frees *text. */
sim_status scenario_read_text(const char *path, char **text, size_t *size) SIM_MUST_CHECK;
/* Length in bytes of a UTF-8 byte order mark at the start: 3 or 0. */
size_t scenario_bom(const char *text, size_t size);
/* Compares texts by bytes, a prefix first: < 0, 0 or > 0. */
int scenario_compare_text(const char *a, size_t a_size, const char *b, size_t b_size);

/* ---- child.c ---- */

/* Runs the script in this process, sends its results as frames on `pipe`, and ends the process. */
noreturn void scenario_child_run(const char *text, size_t size, const scenario_options *options, int pipe);
/* The same for the script and the sets that scenario_spare_take sends on `socket`, which takes the frames too; options
 * without sets. After a script without a fault the process makes a new Lua state and waits for the next script, which
 * SCENARIO_FRAME_MORE tells, until it has used a part of its limits or the program closes its end of the socket. */
noreturn void scenario_child_wait(const scenario_options *options, int socket);

/* ---- spare.c ---- */

/* Takes a spare process and sends it a script. Returns the descriptor of its frames, which the caller closes or gives
 * to scenario_spare_keep, and its process; -1 where there is none, or one for other limits. */
int scenario_spare_take(const char *text, size_t size, const scenario_options *options, pid_t *pid);
/* Keeps the process that was taken last, which waits for another script, and the descriptor of its frames. */
void scenario_spare_keep(int fd, pid_t pid);
/* Waits for the end of the process that was taken last; false where its status, as of waitpid, is not known. */
bool scenario_spare_end(int *exit);

/* ---- context.c ---- */

scenario_child *scenario_child_of(lua_State *L);
/* Line of the innermost Lua function that runs; 0: none. */
int scenario_child_line(lua_State *L);
/* Sends one frame to the parent. */
void scenario_child_send(const scenario_child *child, enum scenario_frame kind, const void *data, size_t size);
/* Adds a frame to `frames`, which scenario_child_write sends together: the parent wakes once. */
void scenario_child_add(sim_bytes *frames, enum scenario_frame kind, const void *data, size_t size);
void scenario_child_write(const scenario_child *child, const sim_bytes *frames);
/* Sends an error to the parent and ends the process. */
noreturn void scenario_child_fail(const scenario_child *child, sim_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same for lack of memory; `over`: the script has reached its own limit. */
noreturn void scenario_child_fail_memory(const scenario_child *child, bool over);
/* Calls the function that is below its `arguments` on the stack, under the limits of time and instructions. Returns
 * Lua's status and leaves all results, or the text of the error, on the stack. */
int scenario_child_call(scenario_child *child, int arguments);
/* Counts one more value and its bytes; ends the process if the scenario has too many of them. */
void scenario_account(scenario_child *child, size_t bytes);

/* ---- sandbox.c ---- */

/* Pushes the table of the global names of a script, without `sim`. */
void scenario_sandbox_push(lua_State *L);
/* Replaces the table at the top by a read-only view in which an unknown name is an error. `label` precedes the name in
 * the message: "", "math.". */
void scenario_sandbox_seal(lua_State *L, const char *label);

/* ---- natives.c ---- */

/* Puts wrappers of Lua's own functions into the table at the top, of globals or of math. Functions that could tell a
 * symbol from a number treat the symbol as a number, or refuse it. */
void scenario_natives_set(lua_State *L);
void scenario_natives_set_math(lua_State *L);
/* Makes all metatables check the results of __lt, __le and __eq. Returns whether one of them had not checked before. */
bool scenario_natives_check_comparisons(lua_State *L);
/* Hash of all variables and tables that the functions in the list at `index` can reach; strings by their content.
 * *count: number of values hashed. */
uint64_t scenario_state(lua_State *L, int index, size_t *count);
/* ---- order.c: pairs, next and table.sort in an order that depends only on keys and values ---- */

int scenario_order_pairs(lua_State *L);
int scenario_order_next(lua_State *L);
int scenario_order_sort(lua_State *L);

/* ---- hints.c ---- */

/* Writes a replacement for the unknown name `label` `name` ("math." "pow"); `math`: the names in the table math.
 * Returns false if there is none. */
bool scenario_hint(const char *label, const char *name, const char *const *math, char *out, size_t capacity);

/* ---- language.c ---- */

/* Pushes the table `sim`. */
void scenario_language_push(lua_State *L);
/* Name of the constructor that made the table at `index`; NULL: a plain table. */
const char *scenario_language_tag(lua_State *L, int index);
/* Ends the process with SIM_ERR_USAGE if there is no sim.param for a --set. */
void scenario_language_check_sets(scenario_child *child);

/* ---- each.c ---- */

/* A column of sim.each, stored as a userdata. */
typedef struct scenario_column {
  size_t rows, cols;
  double data[];
} scenario_column;
int scenario_each(lua_State *L);

/* ---- curve.c ---- */

/* sim.curve: pushes the function of time. */
int scenario_curve(lua_State *L);
/* Whether the value at `index` is a function made by sim.curve. */
bool scenario_is_curve(lua_State *L, int index);

/* ---- dates/calendar.c ---- */

/* sim.calendar: pushes a table of functions of dates. */
int scenario_calendar(lua_State *L);

/* ---- symbol.c: userdata for the inputs of a function and for values computed from them ---- */

/* Creates and pushes the metatable of symbols. */
void scenario_symbol_push_metatable(lua_State *L);
void scenario_symbol_push_parameter(lua_State *L, const char *name);
/* Pushes a symbol, or a plain value if the node `ref` is a constant. */
void scenario_symbol_push_result(lua_State *L, const sim_expr_builder *builder, sim_expr_ref ref);
bool scenario_is_symbol(lua_State *L, int index);
/* Pushes the formula of the symbol at `index`, for print. */
void scenario_symbol_push_text(lua_State *L, int index);
/* Whether the value at `index` is a boolean or a symbol for one. */
bool scenario_symbol_is_condition(lua_State *L, int index);
/* *out: node of the symbol, number or boolean at `index`. A parameter becomes an input at its first use. */
sim_status scenario_symbol_ref(lua_State *L, int index, sim_expr_builder *builder, sim_expr_ref *out) SIM_MUST_CHECK;
/* Declares the parameter at `index` as an input, unless its members are used instead. */
sim_status scenario_symbol_declare(lua_State *L, int index, sim_expr_builder *builder) SIM_MUST_CHECK;

#define SCENARIO_NO_LENGTH                                                                                             \
  "a symbol has no length, its items are not known when the function is read: write for i = 1, n with a number n (of " \
  "assets, fixings, ...)"
/* Raise an error for a symbol at `index`, and return 1 for any other value: as a condition (a `choice` may be a
 * number), as an operand of ==, as a key of a table. */
int scenario_symbol_refuse_truth(lua_State *L, int index, bool choice);
int scenario_symbol_refuse_equal(lua_State *L, int index);
int scenario_symbol_refuse_key(lua_State *L, int index);
/* Records that a member was compared with nil, which is never true for a symbol. Returns 1. */
int scenario_symbol_ask(lua_State *L, int index);
/* Declares members that were only compared with nil as inputs, so that the model can refuse unknown names. */
sim_status scenario_symbol_declare_asked(lua_State *L, sim_expr_builder *builder) SIM_MUST_CHECK;
/* Result of type() for the symbol at `index`: "boolean" for a condition, "table" if its members were used, else
 * "number"; after "number" the symbol has no members. */
const char *scenario_symbol_type(lua_State *L, int index);
/* Raises an error with this text. The trace fails even if a pcall catches the error. */
int scenario_symbol_refuse(lua_State *L, const char *text);
/* Makes the trace fail with this text at the current line, unless it has failed already. */
void scenario_symbol_note(lua_State *L, const char *text);

/* ---- guards.c ---- */

/* Adds checks of the operands of `if`, `and`, `or`, `not`, `==` to the functions in a valid Lua text; line numbers do
 * not change. The caller frees *out; NULL: there is nothing to check. False: out of memory. */
bool scenario_guard_text(const char *text, size_t size, char **out, size_t *out_size) SIM_MUST_CHECK;
/* Puts the functions that the added checks call into the metatable of strings at the top. */
void scenario_guards_set(lua_State *L);

/* ---- functions.c ---- */

/* Put functions of numbers and symbols into the table at the top: metamethods of symbols; functions of `sim`; functions
 * of `math` that replace Lua's. */
void scenario_operators_set(lua_State *L);
void scenario_functions_set(lua_State *L);
void scenario_functions_set_math(lua_State *L);

/* ---- trace.c ---- */

/* Registers the function at `index`, which `value` stands for in the tree. */
void scenario_trace_add(scenario_child *child, sim_value *value, int index);
/* Traces all registered functions, which runs code of the script, and completes their values in the tree. */
void scenario_trace_all(scenario_child *child);

/* ---- tree.c ---- */

/* Converts the value at `index` to a plain tree, which the caller frees. A value that a scenario cannot hold becomes
 * SIM_VALUE_BAD. */
sim_value *scenario_tree(scenario_child *child, int index);

/* ---- lines.c ---- */

/* Lines of the table constructors in a scenario's text. */
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
/* Sets `line` in the tree, and sorts named entries by line and name. */
void scenario_lines_apply(const scenario_lines *lines, sim_value *root);

/* ---- lexer.c ---- */

typedef enum scenario_token_kind {
  SCENARIO_TOKEN_END,
  SCENARIO_TOKEN_NAME, /* names and keywords */
  SCENARIO_TOKEN_STRING,
  SCENARIO_TOKEN_NUMBER,
  SCENARIO_TOKEN_SIGN /* one character, or "==", "~=", "<=", ">=", "..", "..." */
} scenario_token_kind;

typedef struct scenario_token {
  scenario_token_kind kind;
  const char *start; /* first character of the token */
  const char *text;  /* in the scenario's text; for a string the part between its marks, with escapes as written */
  size_t size;
  int line;
} scenario_token;

typedef struct scenario_lexer {
  const char *at, *end;
  int line;
} scenario_lexer;
bool scenario_is_name(char c); /* whether c is a letter, a digit or an underscore */
scenario_token scenario_lexer_next(scenario_lexer *lexer);

#endif
