/* Decodes a scenario's tree of values into the C struct that a schema describes; collects all faults. */
#include "engine/schema/decode.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_MAX = 128 };

/* ---- lists ---- */

static void decode_struct(sim_decoder *d, const sim_schema *schema, const sim_place *at, const sim_value *value,
                          void *out);

static const sim_schema *find_variant(const sim_field *field, const sim_value *value) {
  if (value->kind != SIM_VALUE_TABLE) return NULL;
  const char *tag = value->u.table.tag ? value->u.table.tag : "";
  for (const sim_schema *const *variant = field->variants; *variant; variant++)
    if (strcmp((*variant)->name, tag) == 0) return *variant;
  return NULL;
}

static void expected_variant(sim_decoder *d, const sim_field *field, const sim_place *at, const sim_value *value) {
  sim_bytes list = {0};
  for (const sim_schema *const *variant = field->variants; *variant && !sim_faults_full(d->faults); variant++) {
    const char *comma = list.size ? ", " : "";
    if (*(*variant)->name)
      sim_bytes_format(&list, "%ssim.%s", comma, (*variant)->name);
    else
      sim_bytes_format(&list, "%sa plain table", comma);
  }
  sim_decode_expected(d, at, value, "one of %s", list.data ? list.data : "");
  sim_bytes_free(&list);
}

static void decode_list(sim_decoder *d, const sim_field *field, const sim_place *at, const sim_value *value,
                        sim_list *out) {
  if (find_variant(field, value) && value->u.table.tag) { /* one item instead of a list means a list of one */
    sim_entry entry = {NULL, value->line, (sim_value *)value};
    sim_value list = {.kind = SIM_VALUE_TABLE, .line = value->line, .u.table = {NULL, &entry, 1}};
    decode_list(d, field, at, &list, out);
    return;
  }
  if (!sim_value_is_list(value)) {
    sim_decode_expected(d, at, value, "a list");
    return;
  }
  size_t count = value->u.table.count;
  if (field->flags & SIM_REQUIRED && count == 0) {
    sim_decode_expected(d, at, value, "a list of at least one item");
    return;
  }
  out->items = calloc(count ? count : 1, sizeof *out->items);
  if (!out->items) {
    d->no_memory = true;
    return;
  }
  for (size_t i = 0; i < count; i++) {
    const sim_entry *entry = &value->u.table.entries[i];
    sim_place item = sim_place_below(at, NULL, i + 1, entry->line);
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

static void decode_array(sim_decoder *d, const sim_field *field, const sim_place *at, const sim_value *value,
                         sim_doubles *out) {
  size_t cols = field->components > 1 ? (size_t)field->components : 1;
  sim_field square = *field; /* the field with this value's number of columns */
  const bool packed = value->kind == SIM_VALUE_ARRAY, list = sim_value_is_list(value);
  if (field->components == SIM_SQUARE) {
    cols = packed ? value->u.array.cols : list ? value->u.table.count : 1;
    const sim_value *row = list && cols == 1 ? value->u.table.entries[0].value : NULL;
    if (row && sim_value_is_list(row)) cols = row->u.table.count; /* a single row: its columns count, for the message */
    square.components = (int)cols;
    field = &square;
  }
  const bool of_one = square.components == 1 && field == &square; /* the value {{1}} */
  if (packed && value->u.array.rows == 0) {                       /* absent, in a tree of resolved values */
    out->cols = value->u.array.cols;
    return;
  }
  if (packed ? value->u.array.cols != cols : !list) {
    sim_decode_expected(d, at, value, "a list of %s%s", cols > 1 ? "lists of numbers" : "numbers",
                        field->flags & SIM_OR_FILE ? ", or the path of a text file" : "");
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
    sim_place item = sim_place_below(at, NULL, i + 1, value->u.table.entries[i].line);
    const sim_value *row = value->u.table.entries[i].value;
    if (of_one && sim_value_is_list(row) && row->u.table.count == 1) row = row->u.table.entries[0].value;
    sim_decode_reals(d, field, &item, row, out->data + i * cols);
  }
  for (size_t i = 0; i < rows * cols && packed; i++) {
    out->data[i] = value->u.array.data[i];
    if (isfinite(out->data[i]) && sim_decode_in_range(field, out->data[i])) continue;
    sim_place item = sim_place_below(at, NULL, i / cols + 1, 0);
    sim_value number = {.kind = SIM_VALUE_REAL, .u.real = out->data[i]};
    sim_decode_real(d, field, &item, &number, out->data + i);
  }
}

/* ---- tables ---- */

/* Returns the default value of a field as a tree, as if a scenario had given it. */
static sim_value *default_value(const sim_field *field) {
  const char *text = field->initial;
  if (field->type == SIM_STRING || field->type == SIM_CHOICE || field->type == SIM_CADENCE || field->type == SIM_UNIT)
    return sim_value_string(text, strlen(text));
  if (field->type == SIM_BOOL || (field->flags & SIM_OR_BOOL && isalpha((unsigned char)*text)))
    return sim_value_bool(strcmp(text, "true") == 0);
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

static void decode_field(sim_decoder *d, const sim_field *field, const sim_place *at, const sim_value *value,
                         void *out) {
  if (value->kind == SIM_VALUE_BAD) {
    sim_decode_fault(d, at, at->line, "%s is not allowed here", value->u.string.data);
    return;
  }
  switch (field->type) {
  case SIM_BOOL:
    if (value->kind == SIM_VALUE_BOOL)
      *(bool *)out = value->u.boolean;
    else
      sim_decode_expected(d, at, value, "true or false");
    break;
  case SIM_INT: sim_decode_int(d, field, at, value, out); break;
  case SIM_REAL: sim_decode_reals(d, field, at, value, out); break;
  case SIM_UNIT: sim_decode_unit(d, field, at, value, out); break;
  case SIM_CHOICE: sim_decode_choice(d, field, at, value, out); break;
  case SIM_STRING: sim_decode_string(d, at, value, out); break;
  case SIM_CADENCE: sim_decode_cadence(d, at, value, out); break;
  case SIM_STRUCT:
    if (value->kind == SIM_VALUE_TABLE && value->u.table.tag) {
      sim_decode_expected(d, at, value, "a plain table");
      break;
    }
    if (field->flags & SIM_OPTIONAL) *(bool *)out = true;
    decode_struct(d, field->table, at, value, out);
    break;
  case SIM_LIST: decode_list(d, field, at, value, out); break;
  case SIM_NUMBERS: decode_array(d, field, at, value, out); break;
  case SIM_FUNCTION: sim_decode_function(d, field, at, value, out); break;
  case SIM_FUNCTION_MAP: sim_decode_function_map(d, field, at, value, out); break;
  }
}

static void decode_absent(sim_decoder *d, const sim_field *field, const sim_place *at, void *out) {
  if (field->flags & SIM_REQUIRED) {
    sim_decode_fault(d, at, at->line, "missing: %s", field->doc);
  } else if (field->type == SIM_STRUCT) {
    if (field->flags & SIM_OPTIONAL) return;
    static const sim_value empty = {.kind = SIM_VALUE_TABLE};
    decode_struct(d, field->table, at, &empty, out);
  } else if (field->initial && !sim_faults_full(d->faults)) { /* when full, the default would not be printed */
    sim_value *value = default_value(field);
    if (value)
      decode_field(d, field, at, value, out);
    else
      d->no_memory = true;
    sim_value_free(&value);
  }
}

static void decode_fields(sim_decoder *d, const sim_schema *schema, const sim_place *at, const sim_value *value,
                          char *out) {
  if (schema->base) decode_fields(d, schema->base, at, value, out);
  for (const sim_field *field = schema->fields; field->name; field++) {
    const sim_value *found = sim_value_get(value, field->name);
    int line = found ? found->line : 0;
    for (size_t i = 0; i < value->u.table.count && found; i++)
      if (value->u.table.entries[i].value == found && value->u.table.entries[i].line)
        line = value->u.table.entries[i].line;
    sim_place child = sim_place_below(at, field->name, 0, line);
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

static bool has_field(const sim_schema *schema, const char *name) {
  for (const sim_field *field = schema->fields; field->name; field++)
    if (strcmp(field->name, name) == 0) return true;
  return schema->base && has_field(schema->base, name);
}

/* Appends the constructors of those list items that have this key: " (sim.barrier, sim.double_barrier)". */
static void add_constructors(const sim_field *field, const char *key, char *path, size_t capacity) {
  int count = 0;
  for (const sim_schema *const *in = field->variants; *in; in++) {
    if ((*in)->name[0] == '\0' || !has_field(*in, key)) continue;
    const size_t used = strlen(path);
    snprintf(path + used, capacity - used, "%ssim.%s", count++ ? ", " : " (", (*in)->name);
  }
  const size_t used = strlen(path);
  if (count > 0) snprintf(path + used, capacity - used, ")");
}

/* Searches the tables below `schema` for the first one that has this key, and writes its path. */
static bool find_key(const sim_schema *schema, const char *key, char *path, size_t capacity) {
  const size_t used = strlen(path);
  for (const sim_field *field = schema->fields; field->name; field++) {
    const sim_schema *const table[] = {field->table, NULL};
    const bool list = field->type == SIM_LIST;
    for (const sim_schema *const *in = list ? field->variants : table; *in; in++) {
      snprintf(path + used, capacity - used, "%s%s%s", used ? "." : "", field->name, list ? "[...]" : "");
      if (has_field(*in, key)) {
        if (list) add_constructors(field, key, path, capacity);
        return true;
      }
      if (find_key(*in, key, path, capacity)) return true;
      path[used] = '\0';
    }
  }
  return schema->base && find_key(schema->base, key, path, capacity);
}

/* Returns the first name that begins with `key`, or with which `key` begins ("init" and "initial"). */
static const char *beginning(const char *key, const char *const *names, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const size_t a = strlen(key), b = strlen(names[i]), both = a < b ? a : b;
    if (both >= 3 && strncmp(key, names[i], both) == 0) return names[i];
  }
  return NULL;
}

/* Writes the names of a small table, "; known here: name, when": where a key belongs elsewhere or nowhere. */
static void add_known(const char *const *names, size_t count, char *out, size_t capacity) {
  enum { FEW = 16 };
  out[0] = '\0';
  for (size_t i = 0; i < count && count <= FEW; i++) {
    const size_t used = strlen(out);
    snprintf(out + used, capacity - used, "%s%s", i ? ", " : "; known here: ", names[i]);
  }
}

/* Whether a path of find_key leads to a table within a table; "list[...] (sim.name)" does not. */
static bool is_deep(const char *path) {
  bool out = false;
  for (; *path && *path != ' '; path++) out = out || (path[0] == '.' && isalpha((unsigned char)path[1]));
  return out;
}

/* Reports "unknown key, ..." with the table that has this key, or with the nearest name. A small table is told with its
 * keys, and then a table within another one is no help. */
static void unknown_key(sim_decoder *d, const sim_place *at, const char *key, const char *const *names, size_t count) {
  char path[SIM_PLACE_MAX] = "", known[512];
  const bool full = sim_faults_full(d->faults); /* when full, the fault would not be printed */
  add_known(names, count, known, sizeof known);
  const char *nearest = full ? NULL : sim_nearest(key, names, count);
  if (!full && !nearest) nearest = beginning(key, names, count);
  if (!full && find_key(d->root, key, path, sizeof path) && !(known[0] && is_deep(path)))
    sim_decode_fault(d, at, at->line, "unknown key, it belongs into %s%s", path, known);
  else if (!full && has_field(d->root, key))
    sim_decode_fault(d, at, at->line, "unknown key, it belongs into sim.%s itself%s", d->root->name, known);
  else if (nearest)
    sim_decode_fault(d, at, at->line, "unknown key, nearest is '%s'", nearest);
  else
    sim_decode_fault(d, at, at->line, "unknown key%s", known);
}

static void refuse_unknown(sim_decoder *d, const sim_schema *schema, const sim_place *at, const sim_value *value) {
  const char *names[NAMES_MAX];
  size_t count = field_names(schema, names, 0), positional = 0;
  for (size_t i = 0; i < value->u.table.count; i++) {
    const sim_entry *entry = &value->u.table.entries[i];
    sim_place child = sim_place_below(at, entry->key, ++positional, entry->line ? entry->line : entry->value->line);
    if (entry->value->kind == SIM_VALUE_BAD && !entry->key) {
      sim_decode_fault(d, at, child.line, "%s is not allowed here", entry->value->u.string.data);
      continue;
    }
    if (!entry->key) {
      sim_decode_fault(d, at, child.line, "expected named values only, got a list item at [%zu]", positional);
      return;
    }
    bool known = false;
    for (size_t j = 0; j < count && !known; j++) known = strcmp(names[j], entry->key) == 0;
    if (!known) unknown_key(d, &child, entry->key, names, count);
  }
}

static void decode_struct(sim_decoder *d, const sim_schema *schema, const sim_place *at, const sim_value *value,
                          void *out) {
  sim_place here = *at;
  if (value->line) here.line = value->line;
  if (value->kind == SIM_VALUE_BAD) {
    sim_decode_fault(d, &here, here.line, "%s is not allowed here", value->u.string.data);
    return;
  }
  if (value->kind != SIM_VALUE_TABLE) {
    sim_decode_expected(d, at, value, "a table");
    return;
  }
  refuse_unknown(d, schema, &here, value);
  decode_fields(d, schema, &here, value, out);
}

sim_status sim_schema_decode(const sim_schema *schema, const sim_value *value, const sim_units *units, void *out,
                             sim_faults *faults) {
  sim_decoder d = {.units = units, .faults = faults, .root = schema};
  sim_place root = {.line = value->line};
  decode_struct(&d, schema, &root, value, out);
  if (d.no_memory) return sim_no_memory("the scenario's parameters");
  return SIM_OK;
}
