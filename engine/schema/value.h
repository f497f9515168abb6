/* Values of a scenario: a typed tree that does not need Lua. The sandbox process sends it through a pipe, a model's
 * schema decodes it, and checkpoints store it (resolved), so a restart needs no Lua. */
#ifndef SIM_ENGINE_VALUE_H
#define SIM_ENGINE_VALUE_H

#include "engine/memory/bytes.h"
#include "engine/expr/expr.h"
#include "engine/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum sim_value_kind {
  SIM_VALUE_NIL,
  SIM_VALUE_BOOL,
  SIM_VALUE_INT,
  SIM_VALUE_REAL,
  SIM_VALUE_STRING,
  SIM_VALUE_TABLE, /* ordered entries: first positional ones (key NULL), then named ones sorted by line, then by name */
  SIM_VALUE_ARRAY, /* packed doubles [rows][cols] */
  SIM_VALUE_FUNCTION,
  SIM_VALUE_BAD /* a value that no scenario may hold; `string` describes it ("a function", "a cycle", ...) */
} sim_value_kind;

typedef struct sim_value sim_value;

/* A function of the script as a graph; inputs have their names in the script. */
typedef struct sim_value_function {
  sim_expr *expr;  /* owned; NULL: there is no graph, and `fault` says why */
  char *fault;     /* owned; NULL: none */
  int fault_line;  /* in the scenario file; 0: unknown */
  int parameters;  /* number of parameters that the script declares */
  bool members;    /* inputs are members of one parameter: function(body) return body.mass end */
  int member_line; /* line of the first member that is used; 0: unknown */
} sim_value_function;

typedef struct sim_entry {
  char *key; /* owned; NULL for a positional entry */
  int line;  /* line of the key in the scenario file; 0: unknown */
  sim_value *value;
} sim_entry;

struct sim_value {
  sim_value_kind kind;
  int line; /* in the scenario file; 0: unknown */
  union {
    bool boolean;
    int64_t integer;
    double real;
    struct {
      char *data; /* owned, NUL-terminated, may contain NULs */
      size_t size;
    } string;
    struct {
      char *tag; /* name of the constructor that made it ("plummer"); NULL: a plain table; owned */
      sim_entry *entries;
      size_t count;
    } table;
    struct {
      double *data; /* owned */
      size_t rows, cols;
    } array;
    sim_value_function function;
  } u;
};

/* Constructors: return NULL when out of memory. The caller owns the result. */
sim_value *sim_value_nil(void);
sim_value *sim_value_bool(bool boolean);
sim_value *sim_value_int(int64_t integer);
sim_value *sim_value_real(double real);
sim_value *sim_value_string(const char *data, size_t size);
sim_value *sim_value_bad(const char *what);
sim_value *sim_value_table(const char *tag);
sim_value *sim_value_array(size_t rows, size_t cols); /* all zeros; NULL also if the size overflows */
/* Takes ownership of `expr`, even on failure. */
sim_value *sim_value_expr(sim_expr *expr, int parameters, bool members);
/* Returns a function that could not be traced, with the reason. */
sim_value *sim_value_fault(const char *fault, int line);
void sim_value_free(sim_value **value);

/* Appends an entry and takes ownership of `value`, even on failure. key NULL: a positional entry. */
sim_status sim_value_add(sim_value *table, const char *key, int line, sim_value *value) SIM_MUST_CHECK;
/* Returns a borrowed value; NULL: absent. */
const sim_value *sim_value_get(const sim_value *table, const char *key);
/* Whether the value is a list: a table without constructor that is empty or starts with a positional item. */
bool sim_value_is_list(const sim_value *value);
/* Writes a short, escaped description for messages: "the string \"a\"", "a table", "1.5", ... */
void sim_value_describe(const sim_value *value, char *out, size_t capacity);

/* Binary form: little-endian, depth <= 64; sizes are checked against the data before memory is allocated. */
void sim_value_write(const sim_value *value, sim_bytes *out);
sim_status sim_value_read(const void *data, size_t size, sim_value **out) SIM_MUST_CHECK;

/* Writes JSON: numbers with 17 digits, the tag as "$type", inf and NaN as strings, functions as text. An array of more
 * than `most` rows is shortened to {"$rows": n, "$cols": k}; 0: never. */
void sim_value_json(const sim_value *value, size_t most, sim_bytes *out);

#endif
