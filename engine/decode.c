/* From a scenario's tree of values to the C struct that a schema describes; all faults are collected. */
#include "engine/schema.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_MAX_SEEN = 200, NAMES_MAX = 128 };

typedef struct decoder {
  const sim_units *units;
  sim_faults *faults;
  bool no_memory;
} decoder;

/* Where a value stands; made into text for a fault alone. */
typedef struct place {
  const struct place *parent; /* NULL: the root */
  const char *key;            /* NULL: an item of a list */
  size_t index;               /* from 1 */
  int line;
} place;

static place below(const place *parent, const char *key, size_t index, int line) {
  return (place){parent, key, index, line ? line : parent->line};
}

/* Writes "bodies[2].mass" and returns its length, at most capacity - 1. */
static size_t write_path(const place *at, char *out, size_t capacity) {
  out[0] = '\0';
  if (!at->parent) return 0;
  size_t used = write_path(at->parent, out, capacity);
  int more = at->key ? snprintf(out + used, capacity - used, "%s%s", used ? "." : "", at->key)
                     : snprintf(out + used, capacity - used, "[%zu]", at->index);
  if ((size_t)more < capacity - used) return used + (size_t)more;
  memcpy(out + capacity - 4, "...", 4);
  return capacity - 1;
}

static void fault(decoder *d, const place *at, int line, const char *format, ...) __attribute__((format(printf, 4, 5)));
static void fault(decoder *d, const place *at, int line, const char *format, ...) {
  char path[PATH_MAX_SEEN] = "", text[512] = "";
  if (!sim_faults_full(d->faults)) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    write_path(at, path, sizeof path);
  }
  sim_faults_add(d->faults, line, path, "%s", text);
}

static void expected(decoder *d, const place *at, const sim_value *value, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static void expected(decoder *d, const place *at, const sim_value *value, const char *format, ...) {
  char wanted[256] = "", got[128] = "";
  if (!sim_faults_full(d->faults)) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(wanted, sizeof wanted, format, arguments);
    va_end(arguments);
    sim_value_describe(value, got, sizeof got);
  }
  fault(d, at, value->line ? value->line : at->line, "expected %s, got %s", wanted, got);
}

/* The text of a string that holds no zero bytes, or NULL. */
static const char *text_of(const sim_value *value) {
  bool plain = value->kind == SIM_VALUE_STRING && strlen(value->u.string.data) == value->u.string.size;
  return plain ? value->u.string.data : NULL;
}

/* ---- numbers ---- */

static void range_text(const sim_field *field, char *out, size_t capacity) {
  if (isinf(field->max) && field->max > 0)
    snprintf(out, capacity, "%s %.15g", field->flags & SIM_MIN_OPEN ? "above" : "of at least", field->min);
  else if (isinf(field->min))
    snprintf(out, capacity, "%s %.15g", field->flags & SIM_MAX_OPEN ? "below" : "of at most", field->max);
  else
    snprintf(out, capacity, "in %c%.15g, %.15g%c", field->flags & SIM_MIN_OPEN ? '(' : '[', field->min, field->max,
             field->flags & SIM_MAX_OPEN ? ')' : ']');
}

static bool in_range(const sim_field *field, double number) {
  if (!(field->flags & SIM_RANGE)) return true;
  bool low = field->flags & SIM_MIN_OPEN ? number > field->min : number >= field->min;
  bool high = field->flags & SIM_MAX_OPEN ? number < field->max : number <= field->max;
  return low && high;
}

static void check_range(decoder *d, const sim_field *field, const place *at, const sim_value *value, double number) {
  char range[96] = "";
  if (in_range(field, number)) return;
  if (!sim_faults_full(d->faults)) range_text(field, range, sizeof range);
  expected(d, at, value, "%s %s", field->type == SIM_INT ? "a whole number" : "a number", range);
}

static bool same_dimension(sim_dimension a, sim_dimension b) {
  return a.length == b.length && a.mass == b.mass && a.time == b.time;
}

/* "8.5 kpc" in the scenario's units. */
static void decode_quantity(decoder *d, const sim_field *field, const place *at, const sim_value *value, double *out) {
  sim_dimension dimension;
  double si;
  char *end;
  const char *text = text_of(value);
  double number = text ? strtod(text, &end) : 0;
  bool has_number = text && end != text;
  if (has_number) end += strspn(end, " ");
  if (!has_number || !isalpha((unsigned char)*end)) { /* a unit may begin with a number, here it would be a second */
    if (field->keyword)
      expected(d, at, value, "a number or \"%s\"", field->keyword);
    else
      expected(d, at, value, "a number");
  } else if (sim_unit_parse(end, &si, &dimension) != SIM_OK) {
    fault(d, at, at->line, "%s", sim_error_last()->message);
  } else if (!d->units->given) {
    expected(d, at, value, "a plain number, as this scenario has no `units` table");
  } else if (!same_dimension(dimension, field->dimension)) {
    expected(d, at, value, "a unit of length^%d mass^%d time^%d", field->dimension.length, field->dimension.mass,
             field->dimension.time);
  } else {
    *out = number * (si / sim_units_si(d->units, field->dimension));
    if (!isfinite(*out))
      expected(d, at, value, "a finite number");
    else
      check_range(d, field, at, value, *out);
  }
}

static void decode_real(decoder *d, const sim_field *field, const place *at, const sim_value *value, double *out) {
  if (value->kind == SIM_VALUE_STRING) {
    const char *text = text_of(value);
    if (field->keyword && text && strcmp(text, field->keyword) == 0)
      *out = NAN;
    else
      decode_quantity(d, field, at, value, out);
    return;
  }
  if (value->kind != SIM_VALUE_INT && value->kind != SIM_VALUE_REAL) {
    if (field->keyword)
      expected(d, at, value, "a number or \"%s\"", field->keyword);
    else
      expected(d, at, value, "a number");
    return;
  }
  *out = value->kind == SIM_VALUE_INT ? (double)value->u.integer : value->u.real;
  if (!isfinite(*out))
    expected(d, at, value, "a finite number");
  else
    check_range(d, field, at, value, *out);
}

static void decode_reals(decoder *d, const sim_field *field, const place *at, const sim_value *value, double *out) {
  size_t components = field->components > 1 ? (size_t)field->components : 1;
  if (components == 1) {
    decode_real(d, field, at, value, out);
    return;
  }
  if (value->kind != SIM_VALUE_TABLE || value->u.table.count != components || value->u.table.entries[0].key) {
    expected(d, at, value, "a list of %zu numbers", components);
    return;
  }
  for (size_t i = 0; i < components; i++) {
    const sim_entry *entry = &value->u.table.entries[i];
    place item = below(at, NULL, i + 1, entry->line);
    decode_real(d, field, &item, entry->value, out + i);
  }
}

static void decode_unit(decoder *d, const sim_field *field, const place *at, const sim_value *value, double *out) {
  sim_dimension dimension = field->dimension;
  const char *text = text_of(value);
  if (text) {
    if (sim_unit_parse(text, out, &dimension) != SIM_OK) {
      fault(d, at, at->line, "%s", sim_error_last()->message);
      return;
    }
  } else if (value->kind == SIM_VALUE_INT || value->kind == SIM_VALUE_REAL) {
    *out = value->kind == SIM_VALUE_INT ? (double)value->u.integer : value->u.real;
  } else {
    expected(d, at, value, "a unit such as \"%s\", or its SI value", field->initial ? field->initial : "kpc");
    return;
  }
  if (!same_dimension(dimension, field->dimension) || !(*out > 0) || !isnormal(*out)) {
    expected(d, at, value, "a unit of %s", field->name);
    *out = 1;
  }
}

static void decode_int(decoder *d, const sim_field *field, const place *at, const sim_value *value, void *out) {
  bool is_unsigned = field->flags & SIM_UNSIGNED;
  const char *text = text_of(value);
  if (is_unsigned && text) { /* above 2^63, where Lua has no integers */
    char *end;
    errno = 0;
    uint64_t number = strtoull(text, &end, 10);
    if (*text >= '0' && *text <= '9' && !*end && !errno && number > INT64_MAX) {
      *(uint64_t *)out = number;
      return;
    }
  }
  double real;
  if (value->kind == SIM_VALUE_INT) {
    real = (double)value->u.integer;
  } else if (value->kind == SIM_VALUE_REAL) {
    real = value->u.real;
  } else {
    expected(d, at, value, "a whole number");
    return;
  }
  double low = is_unsigned ? 0 : -0x1p63, high = is_unsigned ? 0x1p64 : 0x1p63;
  if (!(real >= low)) {
    expected(d, at, value, "a whole number%s", is_unsigned ? " of at least 0" : "");
  } else if (real != floor(real)) {
    expected(d, at, value, "a whole number");
  } else if (value->kind == SIM_VALUE_REAL && real >= high) {
    expected(d, at, value, "a whole number below 2^%d", is_unsigned ? 64 : 63);
  } else {
    check_range(d, field, at, value, real);
    if (is_unsigned)
      *(uint64_t *)out = value->kind == SIM_VALUE_INT ? (uint64_t)value->u.integer : (uint64_t)real;
    else
      *(int64_t *)out = value->kind == SIM_VALUE_INT ? value->u.integer : (int64_t)real;
  }
}

/* ---- words ---- */

static void decode_choice(decoder *d, const sim_field *field, const place *at, const sim_value *value, int *out) {
  const char *text = text_of(value);
  size_t count = 0;
  for (; field->choices[count]; count++) {
    if (!text || strcmp(text, field->choices[count]) != 0) continue;
    *out = (int)count;
    return;
  }
  bool full = sim_faults_full(d->faults);
  sim_bytes list = {0};
  for (size_t i = 0; i < count && !full; i++) sim_bytes_format(&list, "%s\"%s\"", i ? ", " : "", field->choices[i]);
  const char *nearest = text && !full ? sim_nearest(text, field->choices, count) : NULL;
  expected(d, at, value, "one of %s%s%s%s", list.data ? list.data : "", nearest ? " (nearest is \"" : "",
           nearest ? nearest : "", nearest ? "\")" : "");
  sim_bytes_free(&list);
}

static void decode_string(decoder *d, const place *at, const sim_value *value, char **out) {
  const char *text = text_of(value);
  if (!text) {
    expected(d, at, value, value->kind == SIM_VALUE_STRING ? "a string without zero bytes" : "a string");
  } else {
    free(*out);
    *out = strdup(text);
    if (!*out) d->no_memory = true;
  }
}

static void decode_cadence(decoder *d, const place *at, const sim_value *value, sim_cadence *out) {
  const char *text = text_of(value);
  if (!text)
    expected(d, at, value, "a string such as \"every 0.5\", \"every 100 steps\", \"every 5 min\" or \"never\"");
  else if (sim_cadence_parse(text, d->units, out) != SIM_OK)
    expected(d, at, value, "%s", sim_error_last()->message);
}

/* ---- lists ---- */

static void decode_struct(decoder *d, const sim_schema *schema, const place *at, const sim_value *value, void *out);

static const sim_schema *find_variant(const sim_field *field, const sim_value *value) {
  if (value->kind != SIM_VALUE_TABLE) return NULL;
  const char *tag = value->u.table.tag ? value->u.table.tag : "";
  for (const sim_schema *const *variant = field->variants; *variant; variant++)
    if (strcmp((*variant)->name, tag) == 0) return *variant;
  return NULL;
}

static void expected_variant(decoder *d, const sim_field *field, const place *at, const sim_value *value) {
  sim_bytes list = {0};
  for (const sim_schema *const *variant = field->variants; *variant && !sim_faults_full(d->faults); variant++) {
    const char *comma = list.size ? ", " : "";
    if (*(*variant)->name)
      sim_bytes_format(&list, "%ssim.%s", comma, (*variant)->name);
    else
      sim_bytes_format(&list, "%sa plain table", comma);
  }
  expected(d, at, value, "one of %s", list.data ? list.data : "");
  sim_bytes_free(&list);
}

static void decode_list(decoder *d, const sim_field *field, const place *at, const sim_value *value, sim_list *out) {
  if (find_variant(field, value) && value->u.table.tag) { /* a single item stands for a list of one */
    sim_entry entry = {NULL, value->line, (sim_value *)value};
    sim_value list = {.kind = SIM_VALUE_TABLE, .line = value->line, .u.table = {NULL, &entry, 1}};
    decode_list(d, field, at, &list, out);
    return;
  }
  if (value->kind != SIM_VALUE_TABLE || value->u.table.tag || (value->u.table.count && value->u.table.entries[0].key)) {
    expected(d, at, value, "a list");
    return;
  }
  size_t count = value->u.table.count;
  if (field->flags & SIM_REQUIRED && count == 0) {
    expected(d, at, value, "a list of at least one item");
    return;
  }
  out->items = calloc(count ? count : 1, sizeof *out->items);
  if (!out->items) {
    d->no_memory = true;
    return;
  }
  for (size_t i = 0; i < count; i++) {
    const sim_entry *entry = &value->u.table.entries[i];
    place item = below(at, NULL, i + 1, entry->line);
    const sim_schema *variant = find_variant(field, entry->value);
    if (!variant) {
      expected_variant(d, field, &item, entry->value);
      continue;
    }
    void *data = calloc(1, variant->size);
    if (!data) {
      d->no_memory = true;
      return;
    }
    out->items[out->count++] = (sim_item){variant, data, item.line};
    decode_struct(d, variant, &item, entry->value, data);
  }
}

static void decode_array(decoder *d, const sim_field *field, const place *at, const sim_value *value,
                         sim_doubles *out) {
  size_t cols = field->components > 1 ? (size_t)field->components : 1;
  bool packed = value->kind == SIM_VALUE_ARRAY;
  if (packed && value->u.array.rows == 0) { /* one that was not given, in a resolved tree */
    out->cols = value->u.array.cols;
    return;
  }
  if (packed ? value->u.array.cols != cols : value->kind != SIM_VALUE_TABLE) {
    expected(d, at, value, "a list of %s", cols > 1 ? "lists of numbers" : "numbers");
    return;
  }
  size_t rows = packed ? value->u.array.rows : value->u.table.count;
  out->data = calloc(rows + 1, cols * sizeof(double));
  if (!out->data) {
    d->no_memory = true;
    return;
  }
  out->rows = rows;
  out->cols = cols;
  for (size_t i = 0; i < rows && !packed; i++) {
    place item = below(at, NULL, i + 1, value->u.table.entries[i].line);
    decode_reals(d, field, &item, value->u.table.entries[i].value, out->data + i * cols);
  }
  for (size_t i = 0; i < rows * cols && packed; i++) {
    out->data[i] = value->u.array.data[i];
    if (isfinite(out->data[i]) && in_range(field, out->data[i])) continue;
    place item = below(at, NULL, i / cols + 1, 0);
    sim_value number = {.kind = SIM_VALUE_REAL, .u.real = out->data[i]};
    decode_real(d, field, &item, &number, out->data + i);
  }
}

/* ---- tables ---- */

/* A default as it would stand in a scenario, as a value. */
static sim_value *default_value(const sim_field *field) {
  const char *text = field->initial;
  if (field->type == SIM_STRING || field->type == SIM_CHOICE || field->type == SIM_CADENCE || field->type == SIM_UNIT)
    return sim_value_string(text, strlen(text));
  if (field->type == SIM_BOOL) return sim_value_bool(strcmp(text, "true") == 0);
  char *end;
  if (*text != '{') {
    double real = strtod(text, &end);
    return end != text && !*end ? sim_value_real(real) : sim_value_string(text, strlen(text));
  }
  sim_value *list = sim_value_table(NULL);
  while (list && *text != '}') {
    double real = strtod(text + 1, &end);
    if (end == text + 1) break; /* "{}" */
    text = end;
    if (sim_value_add(list, NULL, 0, sim_value_real(real)) != SIM_OK) sim_value_free(&list);
  }
  return list;
}

static void decode_field(decoder *d, const sim_field *field, const place *at, const sim_value *value, void *out) {
  if (value->kind == SIM_VALUE_BAD) {
    fault(d, at, at->line, "%s is not allowed here", value->u.string.data);
    return;
  }
  switch (field->type) {
  case SIM_BOOL:
    if (value->kind == SIM_VALUE_BOOL)
      *(bool *)out = value->u.boolean;
    else
      expected(d, at, value, "true or false");
    break;
  case SIM_INT: decode_int(d, field, at, value, out); break;
  case SIM_REAL: decode_reals(d, field, at, value, out); break;
  case SIM_UNIT: decode_unit(d, field, at, value, out); break;
  case SIM_CHOICE: decode_choice(d, field, at, value, out); break;
  case SIM_STRING: decode_string(d, at, value, out); break;
  case SIM_CADENCE: decode_cadence(d, at, value, out); break;
  case SIM_TABLE:
    if (value->kind == SIM_VALUE_TABLE && value->u.table.tag) {
      expected(d, at, value, "a plain table");
      break;
    }
    if (field->flags & SIM_OPTIONAL) *(bool *)out = true;
    decode_struct(d, field->table, at, value, out);
    break;
  case SIM_LIST: decode_list(d, field, at, value, out); break;
  case SIM_ARRAY: decode_array(d, field, at, value, out); break;
  }
}

static void decode_absent(decoder *d, const sim_field *field, const place *at, void *out) {
  if (field->flags & SIM_REQUIRED) {
    fault(d, at, at->line, "missing: %s", field->doc);
  } else if (field->type == SIM_TABLE) {
    if (field->flags & SIM_OPTIONAL) return;
    static const sim_value empty = {.kind = SIM_VALUE_TABLE};
    decode_struct(d, field->table, at, &empty, out);
  } else if (field->initial && !sim_faults_full(d->faults)) { /* else nobody will look at it */
    sim_value *value = default_value(field);
    if (value)
      decode_field(d, field, at, value, out);
    else
      d->no_memory = true;
    sim_value_free(&value);
  }
}

static void decode_fields(decoder *d, const sim_schema *schema, const place *at, const sim_value *value, char *out) {
  if (schema->base) decode_fields(d, schema->base, at, value, out);
  for (const sim_field *field = schema->fields; field->name; field++) {
    const sim_value *found = sim_value_get(value, field->name);
    int line = found ? found->line : 0;
    for (size_t i = 0; i < value->u.table.count && found; i++)
      if (value->u.table.entries[i].value == found && value->u.table.entries[i].line)
        line = value->u.table.entries[i].line;
    place child = below(at, field->name, 0, line);
    if (found && found->kind != SIM_VALUE_NIL)
      decode_field(d, field, &child, found, out + field->offset);
    else
      decode_absent(d, field, &child, out + field->offset);
  }
}

static size_t field_names(const sim_schema *schema, const char **names, size_t count) {
  if (schema->base) count = field_names(schema->base, names, count);
  for (const sim_field *field = schema->fields; field->name && count < NAMES_MAX; field++) names[count++] = field->name;
  return count;
}

static void refuse_unknown(decoder *d, const sim_schema *schema, const place *at, const sim_value *value) {
  const char *names[NAMES_MAX];
  size_t count = field_names(schema, names, 0), positional = 0;
  for (size_t i = 0; i < value->u.table.count; i++) {
    const sim_entry *entry = &value->u.table.entries[i];
    place child = below(at, entry->key, ++positional, entry->line ? entry->line : entry->value->line);
    if (entry->value->kind == SIM_VALUE_BAD && !entry->key) {
      fault(d, at, child.line, "%s is not allowed here", entry->value->u.string.data);
      continue;
    }
    if (!entry->key) {
      fault(d, at, child.line, "expected named values only, got a list item at [%zu]", positional);
      return;
    }
    bool known = false;
    for (size_t j = 0; j < count && !known; j++) known = strcmp(names[j], entry->key) == 0;
    if (known) continue;
    const char *nearest = sim_faults_full(d->faults) ? NULL : sim_nearest(entry->key, names, count);
    if (nearest)
      fault(d, &child, child.line, "unknown key, nearest is '%s'", nearest);
    else
      fault(d, &child, child.line, "unknown key");
  }
}

static void decode_struct(decoder *d, const sim_schema *schema, const place *at, const sim_value *value, void *out) {
  place here = *at;
  if (value->line) here.line = value->line;
  if (value->kind == SIM_VALUE_BAD) {
    fault(d, &here, here.line, "%s is not allowed here", value->u.string.data);
    return;
  }
  if (value->kind != SIM_VALUE_TABLE) {
    expected(d, at, value, "a table");
    return;
  }
  refuse_unknown(d, schema, &here, value);
  decode_fields(d, schema, &here, value, out);
}

sim_status sim_schema_decode(const sim_schema *schema, const sim_value *value, const sim_units *units, void *out,
                             sim_faults *faults) {
  decoder d = {.units = units, .faults = faults};
  place root = {.line = value->line};
  decode_struct(&d, schema, &root, value, out);
  if (d.no_memory) return sim_fail(SIM_ERR_NO_MEMORY, "no memory for the scenario's parameters");
  return SIM_OK;
}
