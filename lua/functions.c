/* Functions of numbers and symbols: operators of symbols, sim.NAME and functions of math. If an argument is a symbol
 * they extend the graph that is being traced, else they return plain numbers. */
#include "lua/internal.h"

#include <lauxlib.h>

#include <math.h>
#include <string.h>

enum { ARGUMENTS_MAX = 200 };

typedef struct operation {
  const sim_expr_function *function; /* NULL: sim.none(p, q, ...) */
  const char *name;                  /* name in messages */
} operation;

/* Returns the builder for constants outside of traces, and replaces it before it is full. */
static sim_expr_builder *folding(lua_State *L, int count) {
  scenario_child *child = scenario_child_of(L);
  int most = 8 * (count + 2); /* nodes of one call: box has 7 for each argument, and 7 more */
  if (child->fold && child->folded + most > SIM_EXPR_NODES_MAX) sim_expr_builder_free(&child->fold);
  if (!child->fold) {
    child->folded = 0;
    if (sim_expr_builder_create(&child->fold) != SIM_OK) luaL_error(L, "%s", sim_error_last()->message);
  }
  child->folded += most;
  return child->fold;
}

static void check_argument(lua_State *L, const operation *self, int index, char takes) {
  int type = lua_type(L, index);
  bool condition = scenario_symbol_is_condition(L, index), symbol = scenario_is_symbol(L, index);
  bool known = symbol || type == LUA_TNUMBER || type == LUA_TBOOLEAN;
  if (known && condition == (takes == 'C')) return;
  const char *got = symbol ? (condition ? "condition" : "number") : luaL_typename(L, index);
  luaL_error(L, "%s: argument %d is %s%s, expected a %s", self->name, index, type == LUA_TNIL ? "" : "a ", got,
             takes == 'C' ? "condition (sim.lt, sim.le, sim.eq, sim.all, ... give one)"
             : condition  ? "number (sim.where(condition, 1, 0) makes one)"
                          : "number");
}

/* Applies the operation to stack indices 1 to `count`, and pushes the result. */
static int apply(lua_State *L, const operation *self, int count) {
  const sim_expr_function *function = self->function ? self->function : sim_expr_function_find("or");
  sim_expr_ref args[ARGUMENTS_MAX], out;
  bool symbols = false;
  if (count > ARGUMENTS_MAX) return luaL_error(L, "%s: more than %d arguments", self->name, ARGUMENTS_MAX);
  if (count < function->least || (function->most >= 0 && count > function->most))
    return luaL_error(L, "%s: %d argument%s, expected %s%d", self->name, count, count == 1 ? "" : "s",
                      function->least == function->most ? ""
                      : count < function->least         ? "at least "
                                                        : "at most ",
                      count < function->least ? function->least : function->most);
  const char *takes = function->takes;
  for (int i = 1; i <= count; i++, takes += takes[1] ? 1 : 0) {
    check_argument(L, self, i, *takes);
    symbols |= scenario_is_symbol(L, i);
  }
  scenario_trace *trace = scenario_child_of(L)->trace;
  sim_expr_builder *builder = symbols && trace ? trace->builder : folding(L, count);
  sim_status status = SIM_OK;
  for (int i = 0; i < count && status == SIM_OK; i++) status = scenario_symbol_ref(L, i + 1, builder, &args[i]);
  if (status == SIM_OK) status = sim_expr_builder_apply(builder, function, args, count, &out);
  if (status == SIM_OK && !self->function) status = sim_expr_builder_call(builder, SIM_EXPR_NOT, &out, &out);
  if (status != SIM_OK) return luaL_error(L, "%s", sim_error_last()->message);
  scenario_symbol_push_result(L, builder, out);
  return 1;
}

static operation operation_of(lua_State *L) {
  return (operation){lua_touserdata(L, lua_upvalueindex(1)), lua_tostring(L, lua_upvalueindex(2))};
}

static int call(lua_State *L) {
  operation self = operation_of(L);
  return apply(L, &self, lua_gettop(L));
}

/* Applies a unary operator; Lua passes the operand twice. */
static int negate(lua_State *L) {
  operation self = operation_of(L);
  return apply(L, &self, 1);
}

/* Pushes NaN if math.max or math.min gets one among plain numbers: Lua would ignore it. */
static bool push_nan(lua_State *L, const operation *self, int count) {
  if (strcmp(self->function->name, "max") != 0 && strcmp(self->function->name, "min") != 0) return false;
  for (int i = 1; i <= count; i++)
    if (lua_type(L, i) == LUA_TNUMBER && isnan(lua_tonumber(L, i))) {
      lua_pushvalue(L, i);
      return true;
    }
  return false;
}

/* Calls a function of math. Upvalue 3: Lua's own function; 4: whether the evaluator's function replaces it for
 * numbers. */
static int call_math(lua_State *L) {
  operation self = operation_of(L);
  int count = lua_gettop(L), most = self.function->most;
  bool symbols = false;
  for (int i = 1; i <= count && !symbols; i++) symbols = scenario_is_symbol(L, i);
  if (symbols) return apply(L, &self, count);
  if (!lua_toboolean(L, lua_upvalueindex(4))) {
    if (push_nan(L, &self, count)) return 1;
    lua_pushvalue(L, lua_upvalueindex(3));
    lua_insert(L, 1);
    lua_call(L, count, LUA_MULTRET);
    return lua_gettop(L);
  }
  while (count > self.function->least && lua_isnil(L, count)) count--;
  if (count > most) count = most; /* Lua's functions ignore further arguments */
  for (int i = 1; i <= count || i <= self.function->least; i++) {
    lua_pushnumber(L, luaL_checknumber(L, i));
    lua_replace(L, i);
  }
  return apply(L, &self, count);
}

static void push(lua_State *L, const sim_expr_function *function, const char *label, const char *name,
                 lua_CFunction call_it) {
  lua_pushlightuserdata(L, (void *)function);
  lua_pushfstring(L, "%s%s", label, name);
  lua_pushcclosure(L, call_it, 2);
}

static const struct {
  const char *function, *metamethod, *sign;
} operators[] = {
    {"add", "__add", "'+'"}, {"sub", "__sub", "'-'"},    {"mul", "__mul", "'*'"}, {"div", "__div", "'/'"},
    {"mod", "__mod", "'%'"}, {"idiv", "__idiv", "'//'"}, {"pow", "__pow", "'^'"}, {"unm", "__unm", "'-'"},
};
enum { OPERATORS = sizeof operators / sizeof *operators };

void scenario_operators_set(lua_State *L) {
  for (int i = 0; i < OPERATORS; i++) {
    bool unary = strcmp(operators[i].function, "unm") == 0;
    push(L, sim_expr_function_find(operators[i].function), "", operators[i].sign, unary ? negate : call);
    lua_setfield(L, -2, operators[i].metamethod);
  }
}

/* Whether a function has a name in `sim`. Operators (except pow) and the keywords and, or, not have none. */
static bool is_named(const char *name) {
  static const char *const without[] = {"and", "or", "not", NULL};
  for (int i = 0; i < OPERATORS; i++)
    if (strcmp(name, operators[i].function) == 0) return strcmp(name, "pow") == 0;
  for (const char *const *other = without; *other; other++)
    if (strcmp(name, *other) == 0) return false;
  return true;
}

void scenario_functions_set(lua_State *L) {
  for (const sim_expr_function *function = sim_expr_functions; function->name; function++) {
    if (!is_named(function->name)) continue;
    push(L, function, "sim.", function->name, call);
    lua_setfield(L, -2, function->name);
  }
  push(L, sim_expr_function_find("and"), "sim.", "all", call);
  lua_setfield(L, -2, "all");
  push(L, sim_expr_function_find("or"), "sim.", "any", call);
  lua_setfield(L, -2, "any");
  push(L, NULL, "sim.", "none", call);
  lua_setfield(L, -2, "none");
}

void scenario_functions_set_math(lua_State *L) {
  /* for these names Lua's functions keep integers */
  static const char *const own[] = {"abs", "ceil", "deg", "floor", "fmod", "max", "min", "rad", NULL};
  static const char *const evaluated[] = {"acos", "asin", "atan", "cos", "exp", "log", "sin", "sqrt", "tan", NULL};
  for (int kind = 0; kind < 2; kind++) {
    for (const char *const *name = kind ? evaluated : own; *name; name++) {
      lua_pushlightuserdata(L, (void *)sim_expr_function_find(*name));
      lua_pushfstring(L, "math.%s", *name);
      lua_getfield(L, -3, *name);
      lua_pushboolean(L, kind);
      lua_pushcclosure(L, call_math, 4);
      lua_setfield(L, -2, *name);
    }
  }
}
