/* Writes a tree of values as JSON. */
#include "engine/schema/value.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void json_real(double real, sim_bytes *out) {
  if (isfinite(real))
    sim_bytes_format(out, "%.17g", real);
  else
    sim_bytes_format(out, "\"%s\"", isnan(real) ? "nan" : real > 0 ? "inf" : "-inf");
}

static void json_array(const sim_value *value, size_t most, sim_bytes *out) {
  size_t rows = value->u.array.rows, cols = value->u.array.cols;
  if (most && rows > most) {
    sim_bytes_format(out, "{\"$rows\": %zu, \"$cols\": %zu}", rows, cols);
    return;
  }
  sim_bytes_text(out, "[");
  for (size_t i = 0; i < rows; i++) {
    if (i) sim_bytes_text(out, ", ");
    if (cols != 1) sim_bytes_text(out, "[");
    for (size_t j = 0; j < cols; j++) {
      if (j) sim_bytes_text(out, ", ");
      json_real(value->u.array.data[i * cols + j], out);
    }
    if (cols != 1) sim_bytes_text(out, "]");
  }
  sim_bytes_text(out, "]");
}

static void json_table(const sim_value *value, size_t most, sim_bytes *out) {
  size_t count = value->u.table.count;
  const sim_entry *entries = value->u.table.entries;
  bool list = count && !entries[count - 1].key; /* in a function with options, the last entry has a name */
  const char *separator = "";
  sim_bytes_text(out, list ? "[" : "{");
  if (value->u.table.tag && !list) {
    sim_bytes_text(out, "\"$type\": ");
    sim_bytes_json_string(out, value->u.table.tag, strlen(value->u.table.tag));
    separator = ", ";
  }
  for (size_t i = 0; i < count; i++) {
    sim_bytes_text(out, separator);
    separator = ", ";
    if (!list) {
      const char *key = entries[i].key ? entries[i].key : "function";
      sim_bytes_json_string(out, key, strlen(key));
      sim_bytes_text(out, ": ");
    }
    sim_value_json(entries[i].value, most, out);
  }
  sim_bytes_text(out, list ? "]" : "}");
}

static void json_function(const sim_value_function *function, sim_bytes *out) {
  sim_bytes text = {0};
  if (function->expr && sim_expr_text(function->expr, &text) != SIM_OK) out->failed = true;
  size_t size = text.size && text.data[text.size - 1] == '\n' ? text.size - 1 : text.size;
  sim_bytes_json_string(out, text.data ? text.data : "", size);
  sim_bytes_free(&text);
}

void sim_value_json(const sim_value *value, size_t most, sim_bytes *out) {
  switch (value->kind) {
  case SIM_VALUE_NIL: sim_bytes_text(out, "null"); break;
  case SIM_VALUE_BOOL: sim_bytes_text(out, value->u.boolean ? "true" : "false"); break;
  case SIM_VALUE_INT: sim_bytes_format(out, "%" PRId64, value->u.integer); break;
  case SIM_VALUE_REAL: json_real(value->u.real, out); break;
  case SIM_VALUE_STRING:
  case SIM_VALUE_BAD: sim_bytes_json_string(out, value->u.string.data, value->u.string.size); break;
  case SIM_VALUE_TABLE: json_table(value, most, out); break;
  case SIM_VALUE_ARRAY: json_array(value, most, out); break;
  case SIM_VALUE_FUNCTION: json_function(&value->u.function, out); break;
  }
}
