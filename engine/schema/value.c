#include "engine/schema/value.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 64 };

static sim_value *make(sim_value_kind kind) {
  sim_value *value = calloc(1, sizeof *value);
  if (value) value->kind = kind;
  return value;
}

sim_value *sim_value_nil(void) { return make(SIM_VALUE_NIL); }

sim_value *sim_value_bool(bool boolean) {
  sim_value *value = make(SIM_VALUE_BOOL);
  if (value) value->u.boolean = boolean;
  return value;
}

sim_value *sim_value_int(int64_t integer) {
  sim_value *value = make(SIM_VALUE_INT);
  if (value) value->u.integer = integer;
  return value;
}

sim_value *sim_value_real(double real) {
  sim_value *value = make(SIM_VALUE_REAL);
  if (value) value->u.real = real;
  return value;
}

static sim_value *make_text(sim_value_kind kind, const char *data, size_t size) {
  sim_value *value = make(kind);
  if (!value) return NULL;
  value->u.string.data = malloc(size + 1);
  if (!value->u.string.data) {
    free(value);
    return NULL;
  }
  if (size) memcpy(value->u.string.data, data, size);
  value->u.string.data[size] = '\0';
  value->u.string.size = size;
  return value;
}

sim_value *sim_value_string(const char *data, size_t size) { return make_text(SIM_VALUE_STRING, data, size); }
sim_value *sim_value_bad(const char *what) { return make_text(SIM_VALUE_BAD, what, strlen(what)); }

sim_value *sim_value_table(const char *tag) {
  sim_value *value = make(SIM_VALUE_TABLE);
  if (!value || !tag) return value;
  value->u.table.tag = strdup(tag);
  if (!value->u.table.tag) sim_value_free(&value);
  return value;
}

sim_value *sim_value_array(size_t rows, size_t cols) {
  size_t count;
  if (__builtin_mul_overflow(rows, cols, &count) || count > SIZE_MAX / sizeof(double)) return NULL;
  sim_value *value = make(SIM_VALUE_ARRAY);
  if (!value) return NULL;
  value->u.array.rows = rows;
  value->u.array.cols = cols;
  value->u.array.data = calloc(count ? count : 1, sizeof(double));
  if (!value->u.array.data) sim_value_free(&value);
  return value;
}

sim_value *sim_value_expr(sim_expr *expr, int parameters, bool members) {
  sim_value *value = make(SIM_VALUE_FUNCTION);
  if (value)
    value->u.function = (sim_value_function){.expr = expr, .parameters = parameters, .members = members};
  else
    sim_expr_free(&expr);
  return value;
}

sim_value *sim_value_fault(const char *fault, int line) {
  sim_value *value = make(SIM_VALUE_FUNCTION);
  if (!value) return NULL;
  value->u.function = (sim_value_function){.fault = strdup(fault), .fault_line = line};
  if (!value->u.function.fault) sim_value_free(&value);
  return value;
}

void sim_value_free(sim_value **pointer) {
  sim_value *value = *pointer;
  *pointer = NULL;
  if (!value) return;
  switch (value->kind) {
  case SIM_VALUE_STRING:
  case SIM_VALUE_BAD: free(value->u.string.data); break;
  case SIM_VALUE_ARRAY: free(value->u.array.data); break;
  case SIM_VALUE_TABLE:
    free(value->u.table.tag);
    for (size_t i = 0; i < value->u.table.count; i++) {
      free(value->u.table.entries[i].key);
      sim_value_free(&value->u.table.entries[i].value);
    }
    free(value->u.table.entries);
    break;
  case SIM_VALUE_FUNCTION:
    sim_expr_free(&value->u.function.expr);
    free(value->u.function.fault);
    break;
  case SIM_VALUE_NIL:
  case SIM_VALUE_BOOL:
  case SIM_VALUE_INT:
  case SIM_VALUE_REAL: break;
  }
  free(value);
}

sim_status sim_value_add(sim_value *table, const char *key, int line, sim_value *value) {
  size_t count = table->u.table.count;
  char *name = key ? strdup(key) : NULL;
  if (!value || (key && !name)) goto no_memory;
  if ((count & (count - 1)) == 0) { /* the memory is full when count is 0 or a power of two */
    sim_entry *entries = realloc(table->u.table.entries, (count ? 2 * count : 1) * sizeof *entries);
    if (!entries) goto no_memory;
    table->u.table.entries = entries;
  }
  table->u.table.entries[count] = (sim_entry){name, line, value};
  table->u.table.count++;
  return SIM_OK;
no_memory:
  free(name);
  sim_value_free(&value);
  return sim_no_memory("the scenario's values");
}

const sim_value *sim_value_get(const sim_value *table, const char *key) {
  if (!table || table->kind != SIM_VALUE_TABLE) return NULL;
  for (size_t i = 0; i < table->u.table.count; i++) {
    const sim_entry *entry = &table->u.table.entries[i];
    if (entry->key && strcmp(entry->key, key) == 0) return entry->value;
  }
  return NULL;
}

bool sim_value_is_list(const sim_value *value) {
  return value->kind == SIM_VALUE_TABLE && !value->u.table.tag &&
         !(value->u.table.count && value->u.table.entries[0].key); /* positional items come before names */
}

void sim_value_describe(const sim_value *value, char *out, size_t capacity) {
  char text[64];
  switch (value->kind) {
  case SIM_VALUE_NIL: snprintf(out, capacity, "nothing"); break;
  case SIM_VALUE_BOOL: snprintf(out, capacity, "%s", value->u.boolean ? "true" : "false"); break;
  case SIM_VALUE_INT: snprintf(out, capacity, "%" PRId64, value->u.integer); break;
  case SIM_VALUE_REAL: snprintf(out, capacity, "%.15g", isnan(value->u.real) ? NAN : value->u.real); break;
  case SIM_VALUE_STRING:
    sim_text_escape(text, sizeof text, value->u.string.data, value->u.string.size);
    snprintf(out, capacity, "the string \"%s\"", text);
    break;
  case SIM_VALUE_TABLE:
    if (value->u.table.tag)
      snprintf(out, capacity, "sim.%s{...}", value->u.table.tag);
    else if (value->u.table.count && !value->u.table.entries[0].key)
      snprintf(out, capacity, "a list of %zu", value->u.table.count);
    else
      snprintf(out, capacity, "%s", value->u.table.count ? "a table" : "an empty table");
    break;
  case SIM_VALUE_ARRAY: snprintf(out, capacity, "an array of %zu rows", value->u.array.rows); break;
  case SIM_VALUE_FUNCTION: snprintf(out, capacity, "a function"); break;
  case SIM_VALUE_BAD: sim_text_escape(out, capacity, value->u.string.data, value->u.string.size); break;
  }
}

/* ---- binary form: kind u8, line u64, then the value by kind; sizes u64; a string is its size and bytes ---- */

static void put_u64(sim_bytes *out, uint64_t number) {
  unsigned char bytes[8];
  for (int i = 0; i < 8; i++) bytes[i] = (unsigned char)(number >> 8 * i);
  sim_bytes_add(out, bytes, 8);
}

static void put_text(sim_bytes *out, const char *text, size_t size) {
  put_u64(out, size);
  sim_bytes_add(out, text, size);
}

static uint64_t real_bits(double real) {
  uint64_t bits;
  memcpy(&bits, &real, sizeof bits);
  return bits;
}

/* parameters u64; members u64 (0: none, else 1 + line of the first); u64 1: a graph, 0: a fault; then the bytes of the
 * graph, or line u64 and text of the fault. */
static void put_function(const sim_value_function *function, sim_bytes *out) {
  put_u64(out, (uint64_t)function->parameters);
  put_u64(out, function->members ? 1 + (uint64_t)function->member_line : 0);
  put_u64(out, function->expr != NULL);
  if (!function->expr) {
    put_u64(out, (uint64_t)function->fault_line);
    put_text(out, function->fault, strlen(function->fault));
    return;
  }
  sim_bytes graph = {0};
  if (sim_expr_write(function->expr, &graph) == SIM_OK)
    put_text(out, graph.data, graph.size);
  else
    out->failed = true;
  sim_bytes_free(&graph);
}

void sim_value_write(const sim_value *value, sim_bytes *out) {
  unsigned char kind = (unsigned char)value->kind;
  sim_bytes_add(out, &kind, 1);
  put_u64(out, (uint64_t)value->line);
  switch (value->kind) {
  case SIM_VALUE_NIL: break;
  case SIM_VALUE_BOOL: put_u64(out, value->u.boolean); break;
  case SIM_VALUE_INT: put_u64(out, (uint64_t)value->u.integer); break;
  case SIM_VALUE_REAL: put_u64(out, real_bits(value->u.real)); break;
  case SIM_VALUE_STRING:
  case SIM_VALUE_BAD: put_text(out, value->u.string.data, value->u.string.size); break;
  case SIM_VALUE_TABLE:
    put_u64(out, value->u.table.tag != NULL);
    if (value->u.table.tag) put_text(out, value->u.table.tag, strlen(value->u.table.tag));
    put_u64(out, value->u.table.count);
    for (size_t i = 0; i < value->u.table.count; i++) {
      const sim_entry *entry = &value->u.table.entries[i];
      put_u64(out, entry->key != NULL);
      if (entry->key) put_text(out, entry->key, strlen(entry->key));
      put_u64(out, (uint64_t)entry->line);
      sim_value_write(entry->value, out);
    }
    break;
  case SIM_VALUE_ARRAY: {
    size_t count = value->u.array.rows * value->u.array.cols;
    put_u64(out, value->u.array.rows);
    put_u64(out, value->u.array.cols);
    for (size_t i = 0; i < count; i++) put_u64(out, real_bits(value->u.array.data[i]));
    break;
  }
  case SIM_VALUE_FUNCTION: put_function(&value->u.function, out); break;
  }
}

typedef struct reader {
  const unsigned char *at, *end;
} reader;

static bool get_u64(reader *in, uint64_t *out) {
  if (in->end - in->at < 8) return false;
  *out = 0;
  for (int i = 0; i < 8; i++) *out |= (uint64_t)in->at[i] << 8 * i;
  in->at += 8;
  return true;
}

static bool get_text(reader *in, const char **data, size_t *size) {
  uint64_t length;
  if (!get_u64(in, &length) || length > (uint64_t)(in->end - in->at)) return false;
  *data = (const char *)in->at;
  *size = length;
  in->at += length;
  return true;
}

static bool get_name(reader *in, char **out) {
  uint64_t present;
  const char *data;
  size_t size;
  *out = NULL;
  if (!get_u64(in, &present) || present > 1) return false;
  if (!present) return true;
  if (!get_text(in, &data, &size) || memchr(data, 0, size)) return false;
  *out = strndup(data, size);
  return *out != NULL;
}

static sim_value *get_value(reader *in, int depth);

static bool get_entries(reader *in, sim_value *table, int depth) {
  uint64_t count, line;
  if (!get_name(in, &table->u.table.tag) || !get_u64(in, &count)) return false;
  if (count > (uint64_t)(in->end - in->at)) return false;
  for (uint64_t i = 0; i < count; i++) {
    char *key;
    bool good = get_name(in, &key) && get_u64(in, &line);
    sim_value *value = good ? get_value(in, depth + 1) : NULL;
    good = value && sim_value_add(table, key, (int)line, value) == SIM_OK;
    free(key);
    if (!good) return false;
  }
  return true;
}

static bool get_array(reader *in, sim_value *array) {
  uint64_t rows, cols, count, bits;
  if (!get_u64(in, &rows) || !get_u64(in, &cols)) return false;
  if (__builtin_mul_overflow(rows, cols, &count) || count > (uint64_t)(in->end - in->at) / 8) return false;
  array->u.array.data = malloc(count ? count * sizeof(double) : 1);
  if (!array->u.array.data) return false;
  array->u.array.rows = rows;
  array->u.array.cols = cols;
  for (uint64_t i = 0; i < count; i++) {
    if (!get_u64(in, &bits)) return false;
    memcpy(&array->u.array.data[i], &bits, sizeof bits);
  }
  return true;
}

static bool get_function(reader *in, sim_value_function *out) {
  uint64_t parameters, members, traced, line;
  const char *data;
  size_t size;
  if (!get_u64(in, &parameters) || parameters > INT_MAX || !get_u64(in, &members) || members > INT_MAX ||
      !get_u64(in, &traced) || traced > 1)
    return false;
  out->parameters = (int)parameters;
  out->members = members != 0;
  out->member_line = members != 0 ? (int)(members - 1) : 0;
  if (traced) return get_text(in, &data, &size) && sim_expr_read(data, size, &out->expr) == SIM_OK;
  if (!get_u64(in, &line) || line > INT_MAX || !get_text(in, &data, &size) || memchr(data, 0, size)) return false;
  out->fault_line = (int)line;
  out->fault = strndup(data, size);
  return out->fault != NULL;
}

static sim_value *get_value(reader *in, int depth) {
  uint64_t line, word = 0;
  if (depth > DEPTH_MAX || in->at == in->end || *in->at > SIM_VALUE_BAD) return NULL;
  sim_value_kind kind = *in->at++;
  if (!get_u64(in, &line)) return NULL;
  sim_value *value = NULL;
  bool good = true;
  if (kind == SIM_VALUE_STRING || kind == SIM_VALUE_BAD) {
    const char *data;
    size_t size;
    if (get_text(in, &data, &size)) value = make_text(kind, data, size);
  } else {
    value = make(kind);
  }
  if (!value) return NULL;
  value->line = (int)line;
  switch (kind) {
  case SIM_VALUE_BOOL:
    good = get_u64(in, &word) && word <= 1;
    value->u.boolean = word != 0;
    break;
  case SIM_VALUE_INT:
    good = get_u64(in, &word);
    value->u.integer = (int64_t)word;
    break;
  case SIM_VALUE_REAL:
    good = get_u64(in, &word);
    memcpy(&value->u.real, &word, sizeof word);
    break;
  case SIM_VALUE_TABLE: good = get_entries(in, value, depth); break;
  case SIM_VALUE_ARRAY: good = get_array(in, value); break;
  case SIM_VALUE_FUNCTION: good = get_function(in, &value->u.function); break;
  case SIM_VALUE_NIL:
  case SIM_VALUE_STRING:
  case SIM_VALUE_BAD: break;
  }
  if (!good) sim_value_free(&value);
  return value;
}

sim_status sim_value_read(const void *data, size_t size, sim_value **out) {
  reader in = {data, (const unsigned char *)data + size};
  *out = get_value(&in, 0);
  if (*out && in.at == in.end) return SIM_OK;
  sim_value_free(out);
  return sim_fail(SIM_ERR_INTERNAL, "a stored tree of values is damaged");
}
