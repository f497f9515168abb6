/* Functions of a scenario: their formulas (-v), and their values and derivatives at a point (--at). */
#include "cli/prepare.h"

#include "engine/log.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_MAX_BYTES = 256, VALUES_MAX = SIM_EXPR_INPUTS_MAX };

typedef sim_status visitor(const char *path, const sim_expr *expr, void *context);

/* Calls `visit` for each function in a tree with its path: "external", "fields[2] v.drift". path[PATH_MAX_BYTES]: path
 * of `value`. */
static sim_status visit_all(const sim_value *value, char *path, visitor *visit, void *context) {
  const size_t used = strlen(path);
  if (value->kind == SIM_VALUE_FUNCTION && value->u.function.expr) return visit(path, value->u.function.expr, context);
  if (value->kind != SIM_VALUE_TABLE) return SIM_OK;
  const sim_entry *entries = value->u.table.entries;
  const size_t count = value->u.table.count;
  const bool list = count > 0 && !entries[count - 1].key; /* in a function with options, the last has a name */
  for (size_t i = 0; i < count; i++) {
    const char *key = entries[i].key;
    const sim_value *name = list ? sim_value_get(entries[i].value, "name") : NULL;
    if (key)
      snprintf(path + used, PATH_MAX_BYTES - used, "%s%s", used ? "." : "", key);
    else if (list)
      snprintf(path + used, PATH_MAX_BYTES - used, "[%zu]%s%s", i + 1, name ? " " : "",
               name && name->kind == SIM_VALUE_STRING ? name->u.string.data : "");
    SIM_TRY(visit_all(entries[i].value, path, visit, context));
    path[used] = '\0';
  }
  return SIM_OK;
}

static sim_status log_formula(const char *path, const sim_expr *expr, void *unused) {
  (void)unused;
  sim_bytes text = {0};
  if (sim_expr_text(expr, &text) == SIM_OK)
    for (char *line = text.data, *end; (end = strchr(line, '\n')); line = end + 1)
      sim_log(SIM_LOG_DEBUG, "%s: %.*s", path, (int)(end - line), line);
  sim_bytes_free(&text);
  return SIM_OK;
}

void cli_log_functions(const cli_job *job) {
  char path[PATH_MAX_BYTES] = "";
  (void)visit_all(job->resolved, path, log_formula, NULL);
}

/* ---- --at ---- */

typedef struct point {
  char name[VALUES_MAX][SIM_EXPR_NAME_MAX + 1];
  double value[VALUES_MAX];
  bool known[VALUES_MAX]; /* [count]: a function has this input */
  int count, functions;
  sim_bytes missing, takes; /* missing: "y, z for external"; takes: names of the inputs of all functions */
} point;

static int find(const point *at, const char *name, size_t size) {
  for (int i = 0; i < at->count; i++)
    if (strlen(at->name[i]) == size && memcmp(at->name[i], name, size) == 0) return i;
  return -1;
}

/* Parses "x=1,y=2". */
static sim_status parse(const char *text, point *out) {
  for (const char *next = text; *next;) {
    const size_t item = strcspn(next, ","), size = strcspn(next, "=");
    if (size == 0 || size >= item || size > SIM_EXPR_NAME_MAX)
      return sim_fail(SIM_ERR_USAGE, "--at: expected NAME=NUMBER,NAME=NUMBER,..., got '%.*s'", (int)item, next);
    char number[64], *end = number;
    snprintf(number, sizeof number, "%.*s", (int)(item - size - 1), next + size + 1);
    const double value = strtod(number, &end);
    if (item - size - 1 >= sizeof number || end == number || *end || !isfinite(value))
      return sim_fail(SIM_ERR_USAGE, "--at: %.*s: expected a finite number, got '%s'", (int)size, next, number);
    if (find(out, next, size) >= 0) return sim_fail(SIM_ERR_USAGE, "--at: %.*s is given twice", (int)size, next);
    if (out->count == VALUES_MAX) return sim_fail(SIM_ERR_USAGE, "--at: more than %d values", VALUES_MAX);
    memcpy(out->name[out->count], next, size);
    out->name[out->count][size] = '\0';
    out->value[out->count++] = value;
    next += item;
    if (*next == ',' && !*++next) return sim_fail(SIM_ERR_USAGE, "--at: expected NAME=NUMBER after the last comma");
  }
  return SIM_OK;
}

/* Whether a list of names, "x, vx", contains this name. */
static bool lists(const sim_bytes *names, const char *name) {
  const size_t size = strlen(name);
  for (const char *at = names->data; at && *at; at += strcspn(at, " "), at += *at == ' ')
    if (strcspn(at, ",") == size && memcmp(at, name, size) == 0) return true;
  return false;
}

static bool needs(const sim_expr *expr, int input) {
  for (int o = 0; o < sim_expr_output_count(expr); o++)
    if (sim_expr_depends(expr, o, input)) return true;
  return false;
}

static sim_status look_for_names(const char *path, const sim_expr *expr, void *context) {
  point *at = context;
  bool first = true;
  at->functions++;
  for (int i = 0; i < sim_expr_input_count(expr); i++) {
    const char *name = sim_expr_input_name(expr, i);
    const int k = find(at, name, strlen(name));
    const bool needed = needs(expr, i);
    if (k >= 0) at->known[k] = true;
    if (needed && !lists(&at->takes, name)) sim_bytes_format(&at->takes, "%s%s", at->takes.size ? ", " : "", name);
    if (k >= 0 || !needed) continue;
    sim_bytes_format(&at->missing, "%s%s", !at->missing.size ? "" : first ? "; " : ", ", name);
    first = false;
  }
  if (!first) sim_bytes_format(&at->missing, " for %s", path);
  return at->missing.failed || at->takes.failed ? sim_no_memory("--at") : SIM_OK;
}

/* Computes all outputs in double precision: values[number of outputs]. */
static sim_status evaluate(const sim_expr *expr, const point *at, double *values) {
  static const double nothing = 0; /* value of inputs that no output needs */
  const void *inputs[SIM_EXPR_INPUTS_MAX];
  void *outputs[SIM_EXPR_OUTPUTS_MAX];
  sim_expr_program *program;
  SIM_TRY(sim_expr_program_create(expr, &(sim_expr_target){.isa = SIM_ISA_PLAIN}, &program));
  void *scratch = aligned_alloc(64, (sim_expr_program_scratch(program) + 127) / 64 * 64);
  for (int i = 0; i < sim_expr_input_count(expr); i++) {
    const char *name = sim_expr_input_name(expr, i);
    const int k = find(at, name, strlen(name));
    inputs[i] = k >= 0 ? &at->value[k] : &nothing;
  }
  for (int o = 0; o < sim_expr_output_count(expr); o++) outputs[o] = &values[o];
  if (scratch) sim_expr_program_run(program, 1, inputs, outputs, scratch);
  free(scratch);
  sim_expr_program_free(&program);
  return scratch ? SIM_OK : sim_no_memory("--at");
}

static void say_number(const char *label, double value) {
  if (isnan(value))
    cli_say("  %-12s NaN", label);
  else
    cli_say("  %-12s %.15g", label, value);
}

static sim_status say_derivatives(const sim_expr *expr, int output, const point *at) {
  double values[SIM_EXPR_INPUTS_MAX];
  sim_expr *gradient;
  char label[SIM_EXPR_NAME_MAX + 8];
  const sim_status status = sim_expr_gradient(expr, output, &gradient);
  if (status == SIM_ERR_SCENARIO) {
    cli_say("  %s", sim_error_last()->message);
    sim_error_clear();
    return SIM_OK;
  }
  SIM_TRY(status);
  const sim_status done = evaluate(gradient, at, values);
  sim_expr_free(&gradient);
  for (int i = 0; i < sim_expr_input_count(expr) && done == SIM_OK; i++) {
    if (!sim_expr_depends(expr, output, i)) continue;
    snprintf(label, sizeof label, "  d/d%s", sim_expr_input_name(expr, i));
    say_number(label, values[i]);
  }
  return done;
}

static sim_status say_function(const char *path, const sim_expr *expr, void *context) {
  const point *at = context;
  double values[SIM_EXPR_OUTPUTS_MAX];
  SIM_TRY(evaluate(expr, at, values));
  cli_say("%s", path);
  for (int o = 0; o < sim_expr_output_count(expr); o++) {
    if (sim_expr_output_type(expr, o) == SIM_EXPR_C) {
      cli_say("  %-12s %s", sim_expr_output_name(expr, o), values[o] != 0 ? "true" : "false");
      continue;
    }
    say_number(sim_expr_output_name(expr, o), values[o]);
    SIM_TRY(say_derivatives(expr, o, at));
  }
  return SIM_OK;
}

static sim_status check_names(const point *at) {
  if (at->functions == 0) return sim_fail(SIM_ERR_USAGE, "--at: the scenario has no functions");
  for (int i = 0; i < at->count; i++)
    if (!at->known[i])
      return sim_fail(SIM_ERR_USAGE, "--at: no function takes %s, expected %s", at->name[i],
                      at->takes.size ? at->takes.data : "no names: all functions are constant");
  if (at->missing.size) return sim_fail(SIM_ERR_USAGE, "--at: values are missing: %s", at->missing.data);
  return SIM_OK;
}

sim_status cli_check_point(const cli_job *job) {
  char path[PATH_MAX_BYTES] = "";
  point *at = calloc(1, sizeof *at);
  if (!at) return sim_no_memory("--at");
  sim_status status = parse(job->options->at, at);
  if (status == SIM_OK) status = visit_all(job->resolved, path, look_for_names, at);
  if (status == SIM_OK) status = check_names(at);
  if (status == SIM_OK) cli_say("functions at %s, in the scenario's units and in double precision:", job->options->at);
  if (status == SIM_OK) status = visit_all(job->resolved, path, say_function, at);
  sim_bytes_free(&at->missing);
  sim_bytes_free(&at->takes);
  free(at);
  return status;
}
