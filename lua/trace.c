/* Traces the functions in a scenario's table into graphs: calls each with symbols instead of numbers. An error is
 * stored with its function, and reported if the model expects a function there. */
#include "lua/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Limit of values hashed over all functions. Above it the state is checked once after the last function, not after
 * each. */
static const double LOOKS_MAX = 2e7;

typedef struct fault {
  int line;
  char text[1024];
} fault;

void scenario_trace_add(scenario_child *child, sim_value *value, int index) {
  if ((child->function_count & (child->function_count - 1)) == 0) { /* full at each power of two */
    size_t wanted = child->function_count ? 2 * child->function_count : 1;
    sim_value **grown = realloc(child->functions, wanted * sizeof(sim_value *));
    if (!grown) scenario_child_fail(child, SIM_ERR_NO_MEMORY, SCENARIO_AT_FILE ": out of memory for its functions");
    child->functions = grown;
  }
  child->functions[child->function_count++] = value;
  lua_pushvalue(child->L, index);
  lua_rawsetp(child->L, LUA_REGISTRYINDEX, value);
}

/* Splits Lua's error "\1:12: text" into line and text; positions of inner errors stay in the text. */
static void take_error(const char *error, fault *out) {
  char *end;
  if (error[0] == SCENARIO_AT_FILE[0] && error[1] == ':') {
    out->line = (int)strtol(error + 2, &end, 10);
    error = *end == ':' ? end + 1 : end;
    error += *error == ' ';
  }
  size_t used = 0;
  for (; *error && used + 8 < sizeof out->text; error++) {
    if (*error == SCENARIO_AT_FILE[0] && error[1] == ':') {
      memcpy(out->text + used, "line ", 5);
      used += 5;
      error++;
    } else {
      out->text[used++] = *error;
    }
  }
  out->text[used] = '\0';
}

static bool fail(fault *out, const char *text) {
  snprintf(out->text, sizeof out->text, "%s", text);
  return false;
}

/* Makes the results, from stack index `first` on, the outputs of the graph. */
static bool finish(scenario_child *child, int first, fault *out, sim_expr **expr) {
  lua_State *L = child->L;
  sim_expr_builder *builder = child->trace->builder;
  sim_expr_ref refs[SIM_EXPR_OUTPUTS_MAX];
  char names[SIM_EXPR_OUTPUTS_MAX][16];
  const char *pointers[SIM_EXPR_OUTPUTS_MAX];
  int count = lua_gettop(L) - first + 1;
  if (count > SIM_EXPR_OUTPUTS_MAX) {
    snprintf(out->text, sizeof out->text, "%d results, at most %d", count, (int)SIM_EXPR_OUTPUTS_MAX);
    return false;
  }
  for (int i = 0; i < count; i++) {
    int type = lua_type(L, first + i);
    if (type != LUA_TNUMBER && type != LUA_TBOOLEAN && !scenario_is_symbol(L, first + i)) {
      snprintf(out->text, sizeof out->text, "result %d is %s%s, expected a number", i + 1, type == LUA_TNIL ? "" : "a ",
               lua_typename(L, type));
      return false;
    }
    if (scenario_symbol_ref(L, first + i, builder, &refs[i]) != SIM_OK) return fail(out, sim_error_last()->message);
    snprintf(names[i], sizeof names[i], count == 1 ? "result" : "result%d", i + 1);
    pointers[i] = names[i];
  }
  if (*child->trace->refused) {
    out->line = child->trace->refused_line;
    return fail(out, child->trace->refused);
  }
  for (size_t i = 0; i < child->trace->condition_count; i++) {
    if (child->trace->conditions[i] == 0) continue;
    out->line = child->trace->conditions[i];
    return fail(out, "nothing is computed of this condition: if, and, or, not of Lua cannot see it, use sim.where, "
                     "sim.all, sim.any, sim.none");
  }
  return sim_expr_builder_finish(builder, refs, pointers, count, expr) == SIM_OK ||
         fail(out, sim_error_last()->message);
}

/* Calls the function at `index` with symbols. */
static bool call(scenario_child *child, int index, int parameters, fault *out, sim_expr **expr) {
  lua_State *L = child->L;
  int first = lua_gettop(L) + 1;
  (void)scenario_natives_check_comparisons(L);
  for (int i = 1; i <= parameters; i++) {
    lua_pushvalue(L, index);
    const char *name = scenario_is_curve(L, index) ? "t" : lua_getlocal(L, NULL, i);
    lua_pop(L, 1);
    scenario_symbol_push_parameter(L, name);
  }
  lua_pushvalue(L, index);
  for (int i = 0; i < parameters; i++) lua_pushvalue(L, first + i);
  if (scenario_child_call(child, parameters) != LUA_OK) {
    take_error(lua_tostring(L, -1) ? lua_tostring(L, -1) : "error in the handling of an error", out);
    return false;
  }
  if (scenario_natives_check_comparisons(L))
    return fail(out, "__lt, __le or __eq is set where it cannot be checked: set it before setmetatable");
  for (int i = 0; i < parameters; i++) /* parameters that are not used are inputs too */
    if (scenario_symbol_declare(L, first + i, child->trace->builder) != SIM_OK)
      return fail(out, sim_error_last()->message);
  if (scenario_symbol_declare_asked(L, child->trace->builder) != SIM_OK) return fail(out, sim_error_last()->message);
  return finish(child, first + parameters, out, expr);
}

/* Traces the function at `index` once, with its own builder. */
static bool trace(scenario_child *child, int index, const lua_Debug *about, fault *out, sim_expr **expr,
                  sim_value_function *function) {
  scenario_trace trace = {.id = ++child->traces, .line = about->linedefined};
  int top = lua_gettop(child->L);
  if (sim_expr_builder_create(&trace.builder) != SIM_OK) return fail(out, sim_error_last()->message);
  child->trace = &trace;
  bool good = call(child, index, about->nparams, out, expr);
  function->members = trace.members;
  function->member_line = trace.member_line;
  child->trace = NULL;
  lua_settop(child->L, top);
  free(trace.conditions);
  sim_expr_builder_free(&trace.builder);
  return good;
}

static bool same(const sim_expr *a, const sim_expr *b) {
  sim_bytes left = {0}, right = {0};
  bool good = sim_expr_write(a, &left) == SIM_OK && sim_expr_write(b, &right) == SIM_OK && left.size == right.size &&
              memcmp(left.data, right.data, left.size) == 0;
  sim_bytes_free(&left);
  sim_bytes_free(&right);
  return good;
}

/* Traces a function twice: one that keeps state between calls is not a function of its inputs. */
static bool trace_twice(scenario_child *child, int index, const lua_Debug *about, fault *out,
                        sim_value_function *function) {
  sim_expr **expr = &function->expr;
  sim_expr *again = NULL;
  if (!trace(child, index, about, out, expr, function)) return false;
  child->quiet = true;
  bool good = trace(child, index, about, out, &again, function);
  child->quiet = false;
  if (good && !same(*expr, again))
    good = fail(out, "gives another formula when it is called again: its result may depend on its inputs alone");
  sim_expr_free(&again);
  if (!good) sim_expr_free(expr);
  return good;
}

static void fill(scenario_child *child, sim_value *value) {
  lua_State *L = child->L;
  lua_Debug about;
  fault found = {0};
  sim_value_function *function = &value->u.function;
  lua_rawgetp(L, LUA_REGISTRYINDEX, value);
  int index = lua_gettop(L);
  lua_pushvalue(L, index);
  lua_getinfo(L, ">Su", &about);
  value->line = about.linedefined > 0 ? about.linedefined : 0;
  const bool curve = scenario_is_curve(L, index);
  if (curve) about.nparams = 1;
  function->parameters = about.nparams;
  bool good;
  if (lua_iscfunction(L, index) && !curve)
    good = fail(&found, "a function of Lua itself, write function(x) return math.sin(x) end");
  else if (about.isvararg && !curve)
    good = fail(&found, "takes any number of arguments (...), its inputs need names");
  else
    good = trace_twice(child, index, &about, &found, function);
  if (!good) {
    free(function->fault);
    function->fault = strdup(found.text);
    function->fault_line = found.line > 0 ? found.line : value->line;
  }
  lua_settop(L, index - 1);
  lua_pushnil(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, value);
}

/* Pushes a list of all functions. */
static void push_functions(scenario_child *child) {
  lua_createtable(child->L, (int)child->function_count, 0);
  for (size_t i = 0; i < child->function_count; i++) {
    lua_rawgetp(child->L, LUA_REGISTRYINDEX, child->functions[i]);
    lua_rawseti(child->L, -2, (lua_Integer)i + 1);
  }
}

void scenario_trace_all(scenario_child *child) {
  size_t values;
  if (child->function_count == 0) return;
  if (!lua_checkstack(child->L, 600)) /* at most 255 parameters, each twice */
    scenario_child_fail(child, SIM_ERR_NO_MEMORY, SCENARIO_AT_FILE ": out of memory for its functions");
  push_functions(child);
  const int all = lua_gettop(child->L);
  const uint64_t before = scenario_state(child->L, all, &values);
  const bool each = (double)values * (double)child->function_count < LOOKS_MAX;
  for (size_t i = 0; i < child->function_count; i++) {
    sim_value_function *function = &child->functions[i]->u.function;
    fill(child, child->functions[i]);
    if (function->expr && (each || i + 1 == child->function_count) &&
        scenario_state(child->L, all, &values) != before) {
      sim_expr_free(&function->expr);
      function->fault =
          strdup("changes a variable or table outside of it, which other functions may read: use a local, "
                 "and return what is to be known");
      function->fault_line = child->functions[i]->line;
    }
    if (!function->expr && !function->fault)
      scenario_child_fail(child, SIM_ERR_NO_MEMORY, SCENARIO_AT_FILE ": out of memory for its functions");
    scenario_account(child, function->expr ? (size_t)sim_expr_node_count(function->expr) * 16 : 0);
  }
}
