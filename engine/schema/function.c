/* Functions of a scenario: the text of their signatures, and graphs with exactly the signature's inputs. */
#include "engine/schema/decode.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const sim_reduction_names[] = {"sum", "mean", "min", "max", NULL};

static size_t name_count(const char *const *names) {
  size_t count = 0;
  while (names && names[count]) count++;
  return count;
}

/* Writes "x, y, z", with `before` in front of each name. */
static void list_names(const char *const *names, const char *before, char *out, size_t capacity) {
  size_t used = 0;
  out[0] = '\0';
  for (size_t i = 0; names && names[i] && used < capacity; i++)
    used += (size_t)snprintf(out + used, capacity - used, "%s%s%s", i ? ", " : "", before, names[i]);
}

static const char *parameter_of(const sim_signature *signature) {
  return signature->parameter ? signature->parameter : "body";
}

/* Writes a text such as "1 or 3 numbers". */
static void outputs_text(const sim_signature *signature, const char *what, char *out, size_t capacity) {
  const int *outputs = signature->outputs;
  if (!outputs[0])
    snprintf(out, capacity, "%ss", what);
  else if (!outputs[1])
    snprintf(out, capacity, "%d %s%s", outputs[0], what, outputs[0] == 1 ? "" : "s");
  else if (!outputs[2])
    snprintf(out, capacity, "%d or %d %ss", outputs[0], outputs[1], what);
  else
    snprintf(out, capacity, "%d, %d or %d %ss", outputs[0], outputs[1], outputs[2], what);
}

/* Writes a text such as "function(x, y)" or "function(body)". */
static void head_text(const sim_signature *signature, char *out, size_t capacity) {
  char names[256];
  list_names(signature->inputs, "", names, sizeof names);
  snprintf(out, capacity, "function(%s)",
           signature->record   ? parameter_of(signature)
           : signature->inputs ? names
                               : "...");
}

void sim_signature_text(const sim_signature *signature, char *out, size_t capacity) {
  char head[300], results[64], members[400] = "", before[80];
  head_text(signature, head, sizeof head);
  outputs_text(signature, signature->condition ? "condition" : "number", results, sizeof results);
  if (signature->record && signature->inputs) {
    snprintf(before, sizeof before, "%s.", parameter_of(signature));
    list_names(signature->inputs, before, members, sizeof members);
  }
  snprintf(out, capacity, "%s -> %s%s%s%s%s", head, results, signature->returns ? ": " : "",
           signature->returns ? signature->returns : "", *members ? "; of " : "", members);
}

/* ---- faults of a graph ---- */

static bool used(const sim_expr *expr, int input) {
  for (int i = 0; i < sim_expr_output_count(expr); i++)
    if (sim_expr_depends(expr, i, input)) return true;
  return false;
}

static void check_outputs(const sim_expr *expr, const sim_signature *signature, sim_faults *faults, int line,
                          const char *path) {
  int count = sim_expr_output_count(expr);
  bool allowed = (!signature->outputs[0] || signature->counted) && count > 0;
  for (int i = 0; i < 3 && signature->outputs[i]; i++) allowed |= signature->outputs[i] == count;
  if (!allowed) {
    char wanted[64];
    outputs_text(signature, "result", wanted, sizeof wanted);
    sim_faults_add(faults, line, path, "expected %s%s%s%s, got %d", wanted, signature->returns ? " (" : "",
                   signature->returns ? signature->returns : "", signature->returns ? ")" : "", count);
  }
  for (int i = 0; i < count; i++) {
    bool condition = sim_expr_output_type(expr, i) == SIM_EXPR_C;
    if (condition == signature->condition) continue;
    sim_faults_add(faults, line, path, "result %d is a %s, expected a %s", i + 1, condition ? "condition" : "number",
                   condition ? "number: sim.where(condition, 1, 0) makes one"
                             : "condition of sim.lt, sim.le, sim.gt, sim.ge, sim.all, sim.any, ...");
  }
}

static bool is_known(const sim_signature *signature, const char *name) {
  const size_t count = name_count(signature->inputs);
  for (size_t k = 0; k < count; k++)
    if (strcmp(name, signature->inputs[k]) == 0) return true;
  return false;
}

/* Whether an input may be unknown: an unused one whose name is _ or begins with _, or the record parameter itself,
 * which may have any name. Members of the record must be known. */
static bool may_be_unknown(const sim_expr *expr, const sim_signature *signature, int input) {
  const bool free = signature->record ? !signature->members : *sim_expr_input_name(expr, input) == '_';
  return free && !used(expr, input);
}

static void check_inputs(const sim_expr *expr, const sim_signature *signature, sim_faults *faults, int line,
                         const char *path) {
  size_t count = name_count(signature->inputs);
  for (int i = 0; i < sim_expr_input_count(expr); i++) {
    const char *name = sim_expr_input_name(expr, i);
    if (is_known(signature, name) || may_be_unknown(expr, signature, i)) continue;
    char names[300];
    list_names(signature->inputs, "", names, sizeof names);
    const char *nearest = sim_nearest(name, signature->inputs, count);
    if (nearest && strlen(name) == 1 && strlen(nearest) == 1) nearest = NULL; /* two letters are always equally near */
    sim_faults_add(faults, line, path, "unknown input '%s'%s%s%s, expected %s", name, nearest ? ", nearest is '" : "",
                   nearest ? nearest : "", nearest ? "'" : "", count > 0 ? names : "none");
  }
}

static void check_depends(const sim_expr *expr, const sim_signature *signature, sim_faults *faults, int line,
                          const char *path) {
  if (!signature->must_depend) return;
  for (const char *const *name = signature->must_depend; *name; name++) {
    int input = sim_expr_input_find(expr, *name);
    if (input >= 0 && used(expr, input)) return;
  }
  char names[256];
  list_names(signature->must_depend, "", names, sizeof names);
  sim_faults_add(faults, line, path, "the result does not depend on %s%s",
                 name_count(signature->must_depend) > 1 ? "any of " : "", names);
}

static void check_constants(const sim_expr *expr, sim_faults *faults, int line, const char *path) {
  for (int i = 0; i < sim_expr_output_count(expr); i++)
    if (sim_expr_always_nan(expr, i)) sim_faults_add(faults, line, path, "result %d is always NaN", i + 1);
}

/* ---- the graph with a signature's inputs ---- */

static sim_status insert(sim_expr_builder *builder, const sim_expr *expr, const char *const *inputs, sim_expr **out) {
  sim_expr_ref given[SIM_EXPR_INPUTS_MAX], outputs[SIM_EXPR_OUTPUTS_MAX], declared, unused;
  const char *names[SIM_EXPR_OUTPUTS_MAX];
  int count = sim_expr_output_count(expr);
  SIM_TRY(sim_expr_builder_number(builder, 0, &unused));
  for (int i = 0; i < sim_expr_input_count(expr); i++) given[i] = unused;
  for (; *inputs; inputs++) {
    SIM_TRY(sim_expr_builder_input(builder, *inputs, &declared));
    int input = sim_expr_input_find(expr, *inputs);
    if (input >= 0) given[input] = declared;
  }
  SIM_TRY(sim_expr_builder_insert(builder, expr, given, outputs));
  for (int i = 0; i < count; i++) names[i] = sim_expr_output_name(expr, i);
  return sim_expr_builder_finish(builder, outputs, names, count, out);
}

static sim_status with_inputs(sim_expr **expr, const char *const *inputs, sim_faults *faults, int line,
                              const char *path) {
  sim_expr_builder *builder;
  sim_expr *bound = NULL;
  SIM_TRY(sim_expr_builder_create(&builder));
  sim_status status = insert(builder, *expr, inputs, &bound);
  sim_expr_builder_free(&builder);
  if (status == SIM_ERR_SCENARIO) { /* the graph with the added inputs is too large, or a name is invalid */
    sim_faults_add(faults, line, path, "%s", sim_error_last()->message);
    return SIM_OK;
  }
  if (status != SIM_OK) return status;
  check_constants(bound, faults, line, path);
  sim_expr_free(expr);
  *expr = bound;
  return SIM_OK;
}

sim_status sim_function_bind(sim_expr **expr, const sim_signature *signature, sim_faults *faults, int line,
                             const char *path) {
  size_t before = faults->count;
  check_outputs(*expr, signature, faults, line, path);
  if (!signature->inputs) return SIM_OK;
  check_inputs(*expr, signature, faults, line, path);
  if (faults->count == before) check_depends(*expr, signature, faults, line, path);
  return faults->count == before ? with_inputs(expr, signature->inputs, faults, line, path) : SIM_OK;
}

/* ---- decoding ---- */

/* Creates a graph without inputs that returns a number. */
static sim_status constant(double number, sim_expr **out) {
  sim_expr_builder *builder;
  sim_expr_ref result;
  SIM_TRY(sim_expr_builder_create(&builder));
  sim_status status = sim_expr_builder_number(builder, number, &result);
  if (status == SIM_OK) status = sim_expr_builder_finish(builder, &result, (const char *const[]){"result"}, 1, out);
  sim_expr_builder_free(&builder);
  return status;
}

static sim_status copy(const sim_expr *expr, sim_expr **out) {
  sim_bytes bytes = {0};
  sim_status status = sim_expr_write(expr, &bytes);
  if (status == SIM_OK) status = sim_expr_read(bytes.data, bytes.size, out);
  sim_bytes_free(&bytes);
  return status;
}

/* Returns the name of the first used input that is not in the signature; NULL: none. */
static const char *unknown_input(const sim_expr *expr, const sim_signature *signature) {
  for (int i = 0; i < sim_expr_input_count(expr); i++)
    if (used(expr, i) && !is_known(signature, sim_expr_input_name(expr, i))) return sim_expr_input_name(expr, i);
  return NULL;
}

/* Whether the function's parameters have the form that the signature demands; else adds a fault. */
static bool form_fits(sim_decoder *d, const sim_signature *signature, const sim_place *at, int line,
                      const sim_value_function *function) {
  char head[300];
  head_text(signature, head, sizeof head);
  bool takes = false;
  for (int i = 0; i < sim_expr_input_count(function->expr); i++) takes |= used(function->expr, i);
  if (!signature->record && function->members) {
    const char *member = unknown_input(function->expr, signature);
    sim_decode_fault(d, at, function->member_line ? function->member_line : line,
                     "takes %s%s%s of its parameter, expected %s", member ? "the member '" : "members",
                     member ? member : "", member ? "'" : "", head);
  } else if (signature->record && function->parameters > 1)
    sim_decode_fault(d, at, line, "takes %d parameters, expected %s", function->parameters, head);
  else if (signature->record && takes && !function->members)
    sim_decode_fault(d, at, line, "takes its parameter as a number, expected members of it: %s.%s",
                     parameter_of(signature), signature->inputs ? signature->inputs[0] : "name");
  else
    return true;
  return false;
}

/* Whether a text is a number with a unit, "1e-6 m^2/s", in place of a number. */
static bool is_quantity(const sim_field *field, const sim_value *value) {
  const sim_dimension *of = &field->dimension;
  const char *text = value->kind == SIM_VALUE_STRING ? sim_decode_text(value) : NULL;
  return text && field->flags & SIM_OR_NUMBER && !(field->flags & SIM_OR_FILE) &&
         (of->length != 0 || of->mass != 0 || of->time != 0) && strspn(text, " +-.0123456789") > 0;
}

void sim_decode_function(sim_decoder *d, const sim_field *field, const sim_place *at, const sim_value *value,
                         sim_expr **out) {
  const sim_value_function *function = &value->u.function;
  bool number = value->kind == SIM_VALUE_INT || value->kind == SIM_VALUE_REAL;
  char path[SIM_PLACE_MAX], head[300];
  sim_status status;
  int line = value->line ? value->line : at->line;
  if (is_quantity(field, value)) {
    const size_t before = d->faults->count;
    double real = 0;
    sim_decode_real(d, field, at, value, &real);
    if (d->faults->count != before) return;
    status = constant(real, out);
  } else if (number && field->flags & SIM_OR_NUMBER) {
    double real = value->kind == SIM_VALUE_INT ? (double)value->u.integer : value->u.real;
    if (!isfinite(real)) {
      sim_decode_expected(d, at, value, "a finite number or a function");
      return;
    }
    status = constant(real, out);
  } else if (value->kind != SIM_VALUE_FUNCTION) {
    head_text(field->signature, head, sizeof head);
    sim_decode_expected(d, at, value, "%s%s", field->flags & SIM_OR_NUMBER ? "a number or " : "", head);
    return;
  } else if (!function->expr) {
    sim_decode_fault(d, at, function->fault_line ? function->fault_line : line, "%s", function->fault);
    return;
  } else {
    if (!form_fits(d, field->signature, at, line, function)) return;
    status = copy(function->expr, out);
  }
  sim_place_path(at, path, sizeof path);
  sim_signature signature = *field->signature;
  signature.members = value->kind == SIM_VALUE_FUNCTION && function->members;
  if (status == SIM_OK) status = sim_function_bind(out, &signature, d->faults, line, path);
  if (status != SIM_OK) d->no_memory = true;
}

static bool is_name(const char *name) {
  size_t size = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
  return size > 0 && !name[size] && size <= SIM_EXPR_NAME_MAX && !strchr("0123456789", name[0]) &&
         !sim_expr_name_reserved(name);
}

/* Decodes { function, reduce = "max" }. */
static void decode_options(sim_decoder *d, const sim_field *field, const sim_place *at, const sim_value *value,
                           sim_named_function *out) {
  static const sim_field reduce = {.name = "reduce", .type = SIM_CHOICE, .choices = sim_reduction_names};
  const sim_value *function = NULL;
  for (size_t i = 0; i < value->u.table.count; i++) {
    const sim_entry *entry = &value->u.table.entries[i];
    sim_place below = sim_place_below(at, entry->key, 1, entry->line);
    if (!entry->key && !function)
      function = entry->value;
    else if (entry->key && strcmp(entry->key, reduce.name) == 0)
      sim_decode_choice(d, &reduce, &below, entry->value, &out->reduce);
    else
      sim_decode_fault(d, &below, below.line, "unknown key, expected { function, reduce = ... }");
  }
  if (function)
    sim_decode_function(d, field, at, function, &out->expr);
  else
    sim_decode_fault(d, at, at->line, "expected { function, reduce = ... }, got no function");
}

void sim_decode_function_map(sim_decoder *d, const sim_field *field, const sim_place *at, const sim_value *value,
                             sim_function_map *out) {
  bool plain = value->kind == SIM_VALUE_TABLE && !value->u.table.tag;
  size_t count = plain ? value->u.table.count : 0;
  if (!plain || (count && !value->u.table.entries[0].key)) {
    sim_decode_expected(d, at, value, "a table of names with functions");
    return;
  }
  out->items = calloc(count + 1, sizeof *out->items);
  if (!out->items) {
    d->no_memory = true;
    return;
  }
  for (size_t i = 0; i < count; i++) {
    const sim_entry *entry = &value->u.table.entries[i];
    sim_place below = sim_place_below(at, entry->key, 0, entry->line);
    sim_named_function *item = &out->items[out->count++];
    *item = (sim_named_function){.name = strdup(entry->key), .line = below.line};
    if (!item->name) d->no_memory = true;
    if (!is_name(entry->key))
      sim_decode_fault(d, &below, below.line,
                       "expected a name of letters, digits and _, at most %d, no digit first, and no word of Lua",
                       (int)SIM_EXPR_NAME_MAX);
    if (entry->value->kind == SIM_VALUE_BAD)
      sim_decode_fault(d, &below, below.line, "%s is not allowed here", entry->value->u.string.data);
    else if (entry->value->kind == SIM_VALUE_TABLE && !entry->value->u.table.tag)
      decode_options(d, field, &below, entry->value, item);
    else
      sim_decode_function(d, field, &below, entry->value, &item->expr);
  }
}

/* ---- encoding ---- */

sim_value *sim_encode_function(const sim_signature *signature, const sim_expr *expr) {
  sim_expr *own;
  if (!expr) return sim_value_nil();
  if (copy(expr, &own) != SIM_OK) return NULL;
  return sim_value_expr(own, signature->record ? 1 : sim_expr_input_count(own), signature->record);
}

sim_value *sim_encode_function_map(const sim_signature *signature, const sim_function_map *map) {
  sim_value *out = sim_value_table(NULL);
  for (size_t i = 0; out && i < map->count; i++) {
    const sim_named_function *item = &map->items[i];
    const char *reduce = sim_reduction_names[item->reduce];
    sim_value *entry = sim_value_table(NULL);
    bool good = entry && sim_value_add(entry, NULL, 0, sim_encode_function(signature, item->expr)) == SIM_OK &&
                sim_value_add(entry, "reduce", 0, sim_value_string(reduce, strlen(reduce))) == SIM_OK;
    if (!good) sim_value_free(&entry);
    if (sim_value_add(out, item->name, 0, entry) != SIM_OK) sim_value_free(&out);
  }
  return out;
}
