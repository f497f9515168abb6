/* The one truth about a parameter, a state array or an observable. A table of sim_field drives decoding, validation,
 * `sim describe`, HDF5 names and attributes, and checkpoints: adding a parameter is one line in such a table. */
#ifndef SIM_ENGINE_SCHEMA_H
#define SIM_ENGINE_SCHEMA_H

#include "engine/expr/expr.h"
#include "engine/status.h"
#include "engine/schema/value.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sim_schema sim_schema;

/* C type at `offset` in brackets. */
typedef enum sim_type {
  SIM_BOOL,     /* [bool] */
  SIM_INT,      /* [int64_t], or [uint64_t] with SIM_UNSIGNED */
  SIM_REAL,     /* [double x components]; a keyword (e.g. dt = "adaptive") is stored as NaN, which no user can give */
  SIM_CHOICE,   /* [int]: index into choices */
  SIM_STRING,   /* [char *], owned */
  SIM_UNIT,     /* [double]: SI value of a unit, given as "kpc" or as a number */
  SIM_CADENCE,  /* [sim_cadence] */
  SIM_STRUCT,   /* a struct in place, described by `table` */
  SIM_LIST,     /* [sim_list]: each item one of `variants`, told by its constructor's name */
  SIM_NUMBERS,  /* [sim_doubles]: any number of rows of `components` numbers */
  SIM_FUNCTION, /* [sim_expr *], owned; NULL where it is absent. Described by `signature` */
  SIM_FUNCTION_MAP /* [sim_function_map]: observe = { kinetic = function(body) ... end, ... } */
} sim_type;

enum sim_field_flag {
  SIM_REQUIRED = 1 << 0,
  SIM_UNSIGNED = 1 << 1,
  SIM_MIN_OPEN = 1 << 2, /* min itself is not allowed */
  SIM_MAX_OPEN = 1 << 3,
  SIM_IN_SNAPSHOT = 1 << 4,   /* state arrays: goes into snapshots */
  SIM_HEALTH = 1 << 5,        /* observables: the figure that the progress line shows */
  SIM_NO_CHECKPOINT = 1 << 6, /* state arrays: derived, not stored */
  SIM_RANGE = 1 << 7,         /* min and max hold */
  SIM_OPTIONAL = 1 << 8,      /* SIM_STRUCT that may be absent: its struct's first member is a bool, set when given */
  SIM_MAY_CHANGE = 1 << 9,    /* a restart may give it another value */
  SIM_OR_NUMBER = 1 << 10,    /* SIM_FUNCTION: a plain number stands for a function that gives it */
  SIM_REPORTED = 1 << 11,     /* observables: the user hears of a value that is not finite, where the state is */
  SIM_OR_BOOL = 1 << 12       /* SIM_REAL: true is stored as NaN and false as 0 */
};

/* What a function of a scenario takes and gives. Names tell its inputs, not their order: function(t, x) has x and t.
 * A decoded graph has exactly these inputs, in this order, whatever the script took of them. */
typedef struct sim_signature {
  const char *const *inputs; /* NULL-terminated names; NULL: any, until the model calls sim_function_bind */
  bool record;               /* the inputs are members of one parameter: function(body) return body.mass end */
  bool members;              /* of a function, not of a kind: members of it were used, so that all inputs are such */
  const char *parameter;     /* that one's name in messages; NULL: "body" */
  int outputs[3];            /* numbers of results allowed, ends with 0; none: any from 1 on */
  bool condition;            /* results are conditions (of sim.lt, ...), else numbers */
  const char *const *must_depend; /* NULL-terminated: some result depends on one of these; NULL: it may be constant */
  const char *returns;            /* the results in words: "potential, or acceleration by x, y, z"; may be NULL */
} sim_signature;

/* Exponents of length, mass and time: {1, 0, -1} is a velocity. */
typedef struct sim_dimension {
  signed char length, mass, time;
} sim_dimension;

/* Components of a SIM_NUMBERS with as many columns as rows. */
enum { SIM_SQUARE = -1 };

/* How a viewer shows a column of a table. */
typedef enum sim_display {
  SIM_DISPLAY_LINE,     /* over time, with the other lines of the table that have its unit */
  SIM_DISPLAY_ALONE,    /* over time, in a figure of its own */
  SIM_DISPLAY_NUMBER,   /* not drawn: a number beside the figures */
  SIM_DISPLAY_ERROR,    /* magnitude over time, logarithmic */
  SIM_DISPLAY_LOG,      /* over time, logarithmic */
  SIM_DISPLAY_RATIO,    /* over time, beside a line at 1 */
  SIM_DISPLAY_BAND,     /* NAME_min, NAME_mean, NAME_max: a mean over time in its band */
  SIM_DISPLAY_SPECTRUM, /* a point of a curve over the columns, both axes logarithmic */
  SIM_DISPLAY_PROFILE   /* a point of a curve over the columns */
} sim_display;
extern const char *const sim_display_names[]; /* "line", "alone", ...; NULL-terminated */

typedef struct sim_field {
  const char *name; /* Lua key = C member = HDF5 name */
  sim_type type;
  const char *doc;
  size_t offset;
  int components;             /* 0 counts as 1 */
  unsigned flags;             /* enum sim_field_flag */
  double min, max;            /* with SIM_RANGE; use INFINITY for an open end */
  const char *initial;        /* default, as it would stand in a scenario: "0.02", "leapfrog", "{0, 0, 0}"; NULL with
                                 SIM_REQUIRED, and for a STRUCT whose fields have defaults of their own */
  const char *keyword;        /* SIM_REAL: the word accepted in place of a number */
  const char *const *choices; /* SIM_CHOICE; of a state array: names of its first elements; NULL-terminated */
  sim_dimension dimension;
  const sim_schema *table;           /* SIM_STRUCT */
  const sim_schema *const *variants; /* SIM_LIST: NULL-terminated; one named "" takes tables without constructor */
  const sim_signature *signature;    /* SIM_FUNCTION, SIM_FUNCTION_MAP */
  sim_display display;               /* observables */
} sim_field;

/* Name and place of member `member` of a struct T, as a sim_field begins. */
#define SIM_FIELD(T, member) .name = #member, .offset = offsetof(T, member)

/* `fields` ends with a field whose name is NULL. `base`, where given, is decoded into the same struct too (shared
 * members at its start, as position and velocity of every kind of body). */
struct sim_schema {
  const char *name; /* constructor's name where it has one */
  const char *doc;
  const sim_field *fields;
  const sim_schema *base;
  size_t size; /* of the C struct */
};

typedef struct sim_doubles {
  double *data; /* [rows][cols], owned */
  size_t rows, cols;
} sim_doubles;

typedef struct sim_item {
  const sim_schema *schema; /* which of the field's variants */
  void *data;               /* struct of schema->size bytes, owned */
  int line;                 /* in the scenario file; 0 where unknown */
} sim_item;

typedef struct sim_list {
  sim_item *items;
  size_t count;
} sim_list;

typedef enum sim_reduction { SIM_SUM, SIM_MEAN, SIM_LEAST, SIM_GREATEST } sim_reduction;
extern const char *const sim_reduction_names[]; /* "sum", "mean", "min", "max", NULL */

/* An entry is a function, or { function, reduce = "mean" }. Names are of letters, digits and _, no digit first, and at
 * most SIM_EXPR_NAME_MAX long; whether one is taken already is the model's question. */
typedef struct sim_named_function {
  char *name;     /* owned */
  sim_expr *expr; /* owned; as of a SIM_FUNCTION */
  int reduce;     /* sim_reduction; SIM_SUM where not given */
  int line;       /* in the scenario file; 0 where unknown */
} sim_named_function;

typedef struct sim_function_map {
  sim_named_function *items; /* in the order of the file */
  size_t count;
} sim_function_map;

typedef enum sim_cadence_kind {
  SIM_NEVER,
  SIM_ENDS,        /* first and last state only */
  SIM_EVERY_TIME,  /* of the simulation, in its unit */
  SIM_EVERY_STEPS, /* */
  SIM_EVERY_WALL   /* seconds on the clock */
} sim_cadence_kind;

/* "never" | "ends" | "every 0.25" | "every 10 Myr" | "every 100 steps" | "every 5 min" (s, min, h: on the clock). All
 * but "never" include the first and the last state; a checkpoint of the first one lets any later kill be resumed. */
typedef struct sim_cadence {
  sim_cadence_kind kind;
  double interval;
} sim_cadence;

/* All faults of a scenario, in the order of its schema. */
typedef struct sim_faults {
  const char *file; /* shown before the line; borrowed */
  /* NULL, or the scenario's table, borrowed: a fault gets the line of the key that its path names there. */
  const sim_value *root;
  sim_bytes text; /* one line a fault: "file:line: path: expected ..., got ...\n" */
  size_t count;   /* also those above the limit of 50 that are only counted */
} sim_faults;

void sim_faults_add(sim_faults *faults, int line, const char *path, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Whether the limit is reached: what is added now is counted alone, and needs no text. */
bool sim_faults_full(const sim_faults *faults);
void sim_faults_free(sim_faults *faults);

/* SI value of a scenario's units; all zero where it states none, and then sim_units_si is 1. */
typedef struct sim_units {
  bool given;
  double length, mass, time; /* metres, kilograms, seconds */
} sim_units;

double sim_units_si(const sim_units *units, sim_dimension dimension);
/* SI value and dimension of "km/s", "Msun", "1e10 Msun", "pc^3"; SIM_ERR_SCENARIO with the reason otherwise. */
sim_status sim_unit_parse(const char *text, double *si, sim_dimension *dimension) SIM_MUST_CHECK;
sim_status sim_cadence_parse(const char *text, const sim_units *units, sim_cadence *out) SIM_MUST_CHECK;

/* Decodes `value` (a table) into the zeroed struct `out` by `schema`. Every fault is added to `faults`, none stops the
 * walk; `out` must be released with sim_schema_free in any case. A string such as "8.5 kpc" is accepted for a
 * dimensional SIM_REAL when units->given. Only lack of memory is returned as a failure. */
sim_status sim_schema_decode(const sim_schema *schema, const sim_value *value, const sim_units *units, void *out,
                             sim_faults *faults) SIM_MUST_CHECK;
/* The resolved parameters as a tree that decodes to the same struct again, bit for bit. NULL: out of memory. */
sim_value *sim_schema_encode(const sim_schema *schema, const void *in);
void sim_schema_free(const sim_schema *schema, void *in);

/* For inputs that only `validate` knows (a signature without them decodes): adds the same faults as decoding, and
 * replaces *expr by the graph with exactly signature->inputs, in that order. line 0 and the field's path where nothing
 * better is known. Only lack of memory is returned as a failure. */
sim_status sim_function_bind(sim_expr **expr, const sim_signature *signature, sim_faults *faults, int line,
                             const char *path) SIM_MUST_CHECK;
/* "function(x, y, z, t) -> 1 or 3 numbers" */
void sim_signature_text(const sim_signature *signature, char *out, size_t capacity);

/* The candidate nearest to `name` (edit distance <= 1 + length/4), or NULL. */
const char *sim_nearest(const char *name, const char *const *candidates, size_t count);

#endif
