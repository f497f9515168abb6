/* Schemas: the only description of a parameter, a state array or an observable. Decoding, validation, `sim describe`,
 * HDF5 names and attributes, and checkpoints all use tables of sim_field, so a new parameter is one line in a table. */
#ifndef SIM_ENGINE_SCHEMA_H
#define SIM_ENGINE_SCHEMA_H

#include "engine/expr/expr.h"
#include "engine/status.h"
#include "engine/schema/value.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sim_schema sim_schema;

/* Stands for the keyword of a SIM_INT; no user can give this number. */
#define SIM_INT_KEYWORD INT64_MIN

/* Types of parameters. In brackets: the C type at `offset`. */
typedef enum sim_type {
  SIM_BOOL,        /* [bool] */
  SIM_INT,         /* [int64_t], or [uint64_t] with SIM_UNSIGNED; a keyword is stored as SIM_INT_KEYWORD */
  SIM_REAL,        /* [double x components]; a keyword (dt = "adaptive") is stored as NaN, which no user can give */
  SIM_CHOICE,      /* [int]: index into `choices` */
  SIM_STRING,      /* [char *], owned */
  SIM_UNIT,        /* [double]: SI value of a unit; users write "kpc" or a number */
  SIM_CADENCE,     /* [sim_cadence] */
  SIM_STRUCT,      /* a struct in place, described by `table` */
  SIM_LIST,        /* [sim_list]: each item is one of `variants`, which the name of its constructor selects */
  SIM_NUMBERS,     /* [sim_doubles]: any number of rows of `components` numbers */
  SIM_FUNCTION,    /* [sim_expr *], owned; NULL: absent. Described by `signature` */
  SIM_FUNCTION_MAP /* [sim_function_map]: observe = { kinetic = function(body) ... end, ... } */
} sim_type;

enum sim_field_flag {
  SIM_REQUIRED = 1 << 0,
  SIM_UNSIGNED = 1 << 1,
  SIM_MIN_OPEN = 1 << 2, /* min itself is not allowed */
  SIM_MAX_OPEN = 1 << 3,
  SIM_IN_SNAPSHOT = 1 << 4,   /* state arrays: written to snapshots */
  SIM_HEALTH = 1 << 5,        /* observables: the progress line shows this number */
  SIM_NO_CHECKPOINT = 1 << 6, /* state arrays: computed from other arrays, not stored */
  SIM_RANGE = 1 << 7,         /* min and max are checked */
  SIM_OPTIONAL = 1 << 8,      /* SIM_STRUCT: may be absent; its first member, a bool, tells whether the user gave it */
  SIM_MAY_CHANGE = 1 << 9,    /* a restart may change the parameter */
  SIM_OR_NUMBER = 1 << 10,    /* SIM_FUNCTION: a number means a constant function */
  SIM_REPORTED = 1 << 11,     /* observables: warn the user if a value is not finite although the state is */
  SIM_OR_BOOL = 1 << 12,      /* SIM_REAL: true is stored as NaN, false as 0, and a keyword beside them as INFINITY */
  SIM_OR_FILE = 1 << 13 /* SIM_NUMBERS, SIM_FUNCTION of one input (a curve): or the path of a text file with rows */
};

/* Inputs and results of a scenario's function. Inputs are matched by name, not by order: function(t, x) reads x and t.
 * A decoded graph has exactly these inputs in this order, whichever of them the script uses. */
typedef struct sim_signature {
  const char *const *inputs;      /* names, NULL-terminated; NULL: any names, until the model calls sim_function_bind */
  bool record;                    /* the inputs are members of one parameter: function(body) return body.mass end */
  bool members;                   /* set for one function: it reads members, so all its inputs are members */
  const char *parameter;          /* name of this parameter in messages; NULL: "body" */
  int outputs[3];                 /* allowed numbers of results, terminated by 0; only 0: any number from 1 on */
  bool condition;                 /* results are conditions (sim.lt, ...) instead of numbers */
  bool counted;                   /* the model's rules check the number of results, which depends on other parameters */
  const char *const *must_depend; /* NULL-terminated: some result must depend on one of these; NULL: may be constant */
  const char *returns;            /* description of the results: "potential, or acceleration by x, y, z"; may be NULL */
} sim_signature;

/* Exponents of length, mass and time: {1, 0, -1} is a velocity. */
typedef struct sim_dimension {
  signed char length, mass, time;
} sim_dimension;

/* `components` of a SIM_NUMBERS that has as many columns as rows. */
enum { SIM_SQUARE = -1 };

/* How a viewer shows a column of a table. */
typedef enum sim_display {
  SIM_DISPLAY_LINE,     /* over time, in one figure with the other such columns of the same unit */
  SIM_DISPLAY_ALONE,    /* over time, in its own figure */
  SIM_DISPLAY_NUMBER,   /* not drawn, but written as a number next to the figures */
  SIM_DISPLAY_ERROR,    /* magnitude over time, on a logarithmic axis */
  SIM_DISPLAY_LOG,      /* over time, on a logarithmic axis */
  SIM_DISPLAY_RATIO,    /* over time, with a line at 1 */
  SIM_DISPLAY_BAND,     /* columns NAME_min, NAME_mean, NAME_max: mean over time with a band */
  SIM_DISPLAY_SPECTRUM, /* one point of a curve over the table's columns, both axes logarithmic */
  SIM_DISPLAY_PROFILE   /* one point of a curve over the table's columns */
} sim_display;
extern const char *const sim_display_names[]; /* "line", "alone", ...; NULL-terminated */

typedef struct sim_field {
  const char *name; /* key in Lua, C member and HDF5 name */
  sim_type type;
  const char *doc;
  size_t offset;
  int components;  /* number of components; 0 means 1 */
  unsigned flags;  /* enum sim_field_flag */
  double min, max; /* with SIM_RANGE; INFINITY: no limit */
  /* Default in the form a scenario would use: "0.02", "leapfrog", "{0, 0, 0}". NULL with SIM_REQUIRED, and for a
   * SIM_STRUCT whose parameters have their own defaults. */
  const char *initial;
  const char *keyword;        /* SIM_REAL, SIM_INT: a word that users may write instead of a number */
  const char *const *choices; /* SIM_CHOICE: its words; state array: names of its first elements; NULL-terminated */
  sim_dimension dimension;
  const sim_schema *table;           /* SIM_STRUCT */
  const sim_schema *const *variants; /* SIM_LIST: NULL-terminated; the name "" accepts tables without a constructor */
  const sim_signature *signature;    /* SIM_FUNCTION, SIM_FUNCTION_MAP */
  sim_display display;               /* observables */
} sim_field;

/* First initializers of a sim_field for member `member` of struct T. */
#define SIM_FIELD(T, member) .name = #member, .offset = offsetof(T, member)

/* The list `fields` ends with a NULL name. `base`, if not NULL, is decoded into the same struct: its first members,
 * such as position and velocity of every kind of body, are shared by several structs. */
struct sim_schema {
  const char *name; /* name of the constructor, if it has one */
  const char *doc;
  const sim_field *fields;
  const sim_schema *base;
  size_t size; /* bytes of the C struct */
};

/* First initializers of a sim_schema for parameters of type T. */
#define SIM_SCHEMA(T, schema_name, schema_doc, schema_fields)                                                          \
  .name = (schema_name), .doc = (schema_doc), .fields = (schema_fields), .size = sizeof(T)

typedef struct sim_doubles {
  double *data; /* [rows][cols], owned */
  size_t rows, cols;
} sim_doubles;

typedef struct sim_item {
  const sim_schema *schema; /* the variant */
  void *data;               /* struct of schema->size bytes, owned */
  int line;                 /* in the scenario file; 0: unknown */
} sim_item;

typedef struct sim_list {
  sim_item *items;
  size_t count;
} sim_list;

typedef enum sim_reduction { SIM_SUM, SIM_MEAN, SIM_LEAST, SIM_GREATEST } sim_reduction;
extern const char *const sim_reduction_names[]; /* "sum", "mean", "min", "max", NULL */

/* An entry is a function, or { function, reduce = "mean" }. Its name consists of letters, digits and _, does not start
 * with a digit, and has at most SIM_EXPR_NAME_MAX characters; the model checks that the name is new. */
typedef struct sim_named_function {
  char *name;     /* owned */
  sim_expr *expr; /* owned; as in SIM_FUNCTION */
  int reduce;     /* sim_reduction; default SIM_SUM */
  int line;       /* in the scenario file; 0: unknown */
} sim_named_function;

typedef struct sim_function_map {
  sim_named_function *items; /* in the order of the scenario file */
  size_t count;
} sim_function_map;

typedef enum sim_cadence_kind {
  SIM_NEVER,
  SIM_ENDS,       /* only the first and the last state */
  SIM_EVERY_TIME, /* simulated time, in the scenario's unit */
  SIM_EVERY_STEPS,
  SIM_EVERY_WALL /* wall-clock seconds */
} sim_cadence_kind;

/* "never" | "ends" | "every 0.25" | "every 10 Myr" | "every 100 steps" | "every 5 min" (s, min, h: wall-clock time).
 * All but "never" include the first and the last state: with a checkpoint of the first state, a run can be resumed
 * whenever it is killed. */
typedef struct sim_cadence {
  sim_cadence_kind kind;
  double interval;
} sim_cadence;

/* All faults of a scenario, in the order of its schema. */
typedef struct sim_faults {
  const char *file; /* file name for the front of each line; borrowed */
  /* NULL, or the scenario's table, borrowed: then a fault gets the line number of the key at its path. */
  const sim_value *root;
  sim_bytes text; /* one line per fault: "file:line: path: expected ..., got ...\n" */
  size_t count;   /* number of faults; those after the first 50 are only counted */
} sim_faults;

void sim_faults_add(sim_faults *faults, int line, const char *path, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Adds a fault if `name` may not be a name in files: 1 to 63 letters, digits or _. NULL: no fault. */
void sim_faults_check_name(sim_faults *faults, int line, const char *path, const char *name);
/* Whether the limit of faults is reached: further faults are only counted, and need no text. */
bool sim_faults_full(const sim_faults *faults);
void sim_faults_free(sim_faults *faults);

/* SI values of a scenario's units. A scenario without units: all are zero, and sim_units_si returns 1. */
typedef struct sim_units {
  bool given;
  double length, mass, time; /* metres, kilograms, seconds */
} sim_units;

double sim_units_si(const sim_units *units, sim_dimension dimension);
/* Converts "km/s", "Msun", "1e10 Msun" or "pc^3" to an SI value and a dimension. SIM_ERR_SCENARIO with the reason. */
/* strtod for decimal numbers: a hexadecimal one, which is a slip in a file or a quantity, is none (*end == text). */
double sim_number_parse(const char *text, char **end);
sim_status sim_unit_parse(const char *text, double *si, sim_dimension *dimension) SIM_MUST_CHECK;
sim_status sim_cadence_parse(const char *text, const sim_units *units, sim_cadence *out) SIM_MUST_CHECK;

/* Decodes `value` (a table) into the zeroed struct `out` according to `schema`. Adds all faults to `faults`; free `out`
 * with sim_schema_free in any case. A SIM_REAL with a dimension may be a string such as "8.5 kpc" if units->given.
 * Returns an error only when out of memory. */
sim_status sim_schema_decode(const sim_schema *schema, const sim_value *value, const sim_units *units, void *out,
                             sim_faults *faults) SIM_MUST_CHECK;
/* Encodes parameters as a tree that decodes to the same struct, bit for bit; the caller owns it. NULL: out of
 * memory. */
sim_value *sim_schema_encode(const sim_schema *schema, const void *in);
void sim_schema_free(const sim_schema *schema, void *in);

/* Checks a function whose inputs only the model's `validate` knows (its signature had no inputs when it was decoded).
 * Adds the same faults as decoding, and replaces *expr by a graph with exactly signature->inputs, in that order. If
 * nothing better is known, pass line 0 and the parameter's path. Returns an error only when out of memory. */
sim_status sim_function_bind(sim_expr **expr, const sim_signature *signature, sim_faults *faults, int line,
                             const char *path) SIM_MUST_CHECK;
/* Writes a text such as "function(x, y, z, t) -> 1 or 3 numbers". */
void sim_signature_text(const sim_signature *signature, char *out, size_t capacity);

/* Returns the candidate nearest to `name` (edit distance <= 1 + length/4), or NULL. */
const char *sim_nearest(const char *name, const char *const *candidates, size_t count);

#endif
