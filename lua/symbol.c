/* Symbols: inputs, members of inputs, and values computed from them while a function is traced. */
#include "lua/internal.h"

#include <lauxlib.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONDITIONS_MAX = 1 << 20, INDEX_MAX = 100000 };

/* Name of the metatable in the registry; it also appears in messages. */
static const char type_name[] = "symbol";

typedef struct symbol {
  int trace;        /* id of the trace that made the symbol */
  sim_expr_ref ref; /* -1: a parameter or member that is not used yet */
  int condition;    /* index in the trace's conditions; -1: not a condition */
  bool member, indexed;
  bool number; /* type() or tonumber() has reported a number */
  char name[]; /* name of the input; "" for a computed value */
} symbol;

static symbol *symbol_at(lua_State *L, int index) { return luaL_testudata(L, index, type_name); }

bool scenario_is_symbol(lua_State *L, int index) { return symbol_at(L, index) != NULL; }

static symbol *push(lua_State *L, const char *name, sim_expr_ref ref) {
  symbol *self = lua_newuserdatauv(L, sizeof *self + strlen(name) + 1, 0);
  const scenario_trace *trace = scenario_child_of(L)->trace;
  *self = (symbol){.trace = trace ? trace->id : 0, .ref = ref, .condition = -1};
  memcpy(self->name, name, strlen(name) + 1);
  luaL_setmetatable(L, type_name);
  return self;
}

void scenario_symbol_push_parameter(lua_State *L, const char *name) { push(L, name, -1); }

/* Adds a condition to the trace's list, where it stays until a value is computed from it. */
static int add_condition(lua_State *L) {
  scenario_trace *trace = scenario_child_of(L)->trace;
  if (trace->condition_count == trace->condition_capacity) {
    size_t wanted = trace->condition_capacity ? 2 * trace->condition_capacity : 64;
    int *grown = wanted <= CONDITIONS_MAX ? realloc(trace->conditions, wanted * sizeof *grown) : NULL;
    if (!grown) return luaL_error(L, "the function makes too many conditions");
    trace->conditions = grown;
    trace->condition_capacity = wanted;
  }
  trace->conditions[trace->condition_count] = scenario_child_line(L);
  return (int)trace->condition_count++;
}

void scenario_symbol_push_result(lua_State *L, const sim_expr_builder *builder, sim_expr_ref ref) {
  double value;
  bool condition = sim_expr_builder_type(builder, ref) == SIM_EXPR_C;
  if (!sim_expr_builder_constant(builder, ref, &value)) {
    symbol *self = push(L, "", ref);
    if (condition) self->condition = add_condition(L);
  } else if (condition) {
    lua_pushboolean(L, value != 0);
  } else {
    lua_pushnumber(L, value);
  }
}

sim_status scenario_symbol_ref(lua_State *L, int index, sim_expr_builder *builder, sim_expr_ref *out) {
  scenario_trace *trace = scenario_child_of(L)->trace;
  symbol *self = symbol_at(L, index);
  if (!self)
    return lua_isboolean(L, index) ? sim_expr_builder_truth(builder, lua_toboolean(L, index), out)
                                   : sim_expr_builder_number(builder, lua_tonumber(L, index), out);
  if (!trace || self->trace != trace->id)
    return sim_fail(SIM_ERR_SCENARIO, "a symbol of another function, kept in a variable outside of it");
  for (int i = 0; i < trace->input_count && self->ref < 0; i++)
    if (strcmp(trace->inputs[i].name, self->name) == 0) self->ref = trace->inputs[i].ref;
  if (self->ref < 0) {
    SIM_TRY(sim_expr_builder_input(builder, self->name, &self->ref));
    scenario_trace_input *input = &trace->inputs[trace->input_count++];
    input->ref = self->ref;
    memcpy(input->name, self->name, strlen(self->name) + 1);
  }
  if (self->condition >= 0) trace->conditions[self->condition] = 0;
  *out = self->ref;
  return SIM_OK;
}

/* A computed value is shown as "x * x", or as "t1 = sin(x); result = t1 * t1" if a part of it is used twice. */
void scenario_symbol_push_text(lua_State *L, int index) {
  const symbol *self = symbol_at(L, index);
  const scenario_trace *trace = scenario_child_of(L)->trace;
  sim_expr *expr = NULL;
  sim_bytes text = {0};
  if (*self->name) {
    lua_pushstring(L, self->name);
    return;
  }
  if (!trace || self->trace != trace->id) {
    lua_pushliteral(L, "a symbol of another function");
    return;
  }
  sim_status status = sim_expr_builder_finish(trace->builder, &self->ref, (const char *const[]){"result"}, 1, &expr);
  if (status == SIM_OK) status = sim_expr_text(expr, &text);
  if (status == SIM_OK) {
    const char *shown = text.data;
    if (strchr(shown, '\n') == text.data + text.size - 1) shown = strstr(shown, " = ") + 3;
    lua_pushlstring(L, shown, (size_t)(text.data + text.size - 1 - shown));
    luaL_gsub(L, lua_tostring(L, -1), "\n", "; ");
    lua_remove(L, -2);
  }
  sim_expr_free(&expr);
  sim_bytes_free(&text);
  if (status != SIM_OK) luaL_error(L, "%s", sim_error_last()->message);
}

sim_status scenario_symbol_declare(lua_State *L, int index, sim_expr_builder *builder) {
  sim_expr_ref unused;
  const symbol *self = symbol_at(L, index);
  return self->indexed ? SIM_OK : scenario_symbol_ref(L, index, builder, &unused);
}

bool scenario_symbol_is_condition(lua_State *L, int index) {
  const symbol *self = symbol_at(L, index);
  return self ? self->condition >= 0 : lua_isboolean(L, index);
}

int scenario_symbol_ask(lua_State *L, int index) {
  const symbol *self = symbol_at(L, index);
  scenario_trace *trace = scenario_child_of(L)->trace;
  if (!self || !self->member || !trace) return 1;
  for (int i = 0; i < trace->asked_count; i++)
    if (strcmp(trace->asked[i], self->name) == 0) return 1;
  if (trace->asked_count == SIM_EXPR_INPUTS_MAX)
    return luaL_error(L, "more than %d names compared with nil", SIM_EXPR_INPUTS_MAX);
  memcpy(trace->asked[trace->asked_count++], self->name, strlen(self->name) + 1);
  return 1;
}

sim_status scenario_symbol_declare_asked(lua_State *L, sim_expr_builder *builder) {
  const scenario_trace *trace = scenario_child_of(L)->trace;
  for (int k = 0; k < trace->asked_count; k++) {
    const char *name = trace->asked[k];
    const size_t size = strlen(name);
    bool used = false;
    for (int i = 0; i < trace->input_count && !used; i++) {
      const char *input = trace->inputs[i].name;
      used = strncmp(input, name, size) == 0 && (input[size] == '\0' || input[size] == '_');
    }
    sim_expr_ref unused;
    if (used) continue;
    push(L, name, -1);
    SIM_TRY(scenario_symbol_ref(L, -1, builder, &unused));
    lua_pop(L, 1);
  }
  return SIM_OK;
}

const char *scenario_symbol_type(lua_State *L, int index) {
  symbol *self = symbol_at(L, index);
  if (self->condition >= 0) return "boolean";
  if (self->indexed) return "table";
  self->number = true;
  return "number";
}

/* __index: body.x is the input x, path.mean[1] the input mean_1. */
static int get_member(lua_State *L) {
  symbol *self = symbol_at(L, 1);
  scenario_trace *trace = scenario_child_of(L)->trace;
  char name[2 * SIM_EXPR_NAME_MAX + 2], shown[SCENARIO_NAME_MAX];
  size_t size = 0;
  int whole = 0;
  lua_Integer item = lua_type(L, 2) == LUA_TNUMBER ? lua_tointegerx(L, 2, &whole) : 0;
  const char *key = lua_type(L, 2) == LUA_TSTRING ? lua_tolstring(L, 2, &size) : NULL;
  if (!trace || self->trace != trace->id) return luaL_error(L, "a symbol of another function, kept outside of it");
  if (!*self->name) return luaL_error(L, "what was computed of symbols has no members");
  if (self->number)
    return luaL_error(L, "a symbol that type() or tonumber() was asked about is a number: it has no members");
  if (key) {
    sim_text_escape(shown, sizeof shown, key, size);
    for (size_t i = 0; i < size; i++)
      if (!scenario_is_name(key[i])) return luaL_error(L, "a symbol has no member '%s'", shown);
  } else if (whole && item >= 1 && item <= INDEX_MAX) {
    snprintf(shown, sizeof shown, "%d", (int)item);
  } else if (whole) {
    return luaL_error(L, "a member of a symbol is numbered from 1 to %d, got %I", INDEX_MAX, (LUAI_UACINT)item);
  } else {
    return luaL_error(L, "a member of a symbol has a name or an integer, got a %s", luaL_typename(L, 2));
  }
  snprintf(name, sizeof name, "%s%s%s", self->member ? self->name : "", self->member ? "_" : "", shown);
  if (strlen(name) > SIM_EXPR_NAME_MAX) return luaL_error(L, "a symbol has no member '%s'", shown);
  if (!trace->members) trace->member_line = scenario_child_line(L);
  self->indexed = trace->members = true;
  push(L, name, -1)->member = true;
  return 1;
}

void scenario_symbol_note(lua_State *L, const char *text) {
  scenario_trace *trace = scenario_child_of(L)->trace;
  if (!trace || *trace->refused) return;
  snprintf(trace->refused, sizeof trace->refused, "%s", text);
  trace->refused_line = scenario_child_line(L);
}

/* pcall may catch the error; the trace fails nevertheless. */
int scenario_symbol_refuse(lua_State *L, const char *text) {
  scenario_symbol_note(L, text);
  return luaL_error(L, "%s", text);
}

static int refuse(lua_State *L) { return scenario_symbol_refuse(L, lua_tostring(L, lua_upvalueindex(1))); }

static const char no_equality[] = "a symbol cannot be compared by == or ~=: use sim.where with sim.eq or sim.ne";

int scenario_symbol_refuse_equal(lua_State *L, int index) {
  return scenario_is_symbol(L, index) ? scenario_symbol_refuse(L, no_equality) : 1;
}

int scenario_symbol_refuse_key(lua_State *L, int index) {
  return scenario_is_symbol(L, index)
             ? scenario_symbol_refuse(
                   L, "a symbol cannot be a key of a table: its value is not known when the function is read; "
                      "use sim.where")
             : 1;
}

int scenario_symbol_refuse_truth(lua_State *L, int index, bool choice) {
  if (!scenario_is_symbol(L, index)) return 1;
  if (scenario_symbol_is_condition(L, index))
    return scenario_symbol_refuse(
        L, "if, and, or, not of Lua cannot see a condition of symbols: use sim.where, sim.all, sim.any, "
           "sim.none");
  return choice ? 1
                : scenario_symbol_refuse(
                      L, "if, and, or, not of Lua cannot see a symbol: use sim.where with sim.ne(x, 0); x == nil "
                         "asks whether it is there");
}

void scenario_symbol_push_metatable(lua_State *L) {
#define BITS "a symbol has no bits: sim.all, sim.any and sim.none join conditions"
  static const char *const refused[][2] = {
      {"__lt", "a symbol cannot be compared by < or >: use sim.where with sim.lt or sim.gt"},
      {"__le", "a symbol cannot be compared by <= or >=: use sim.where with sim.le or sim.ge"},
      {"__eq", no_equality},
      {"__concat",
       "a symbol has no text: its value is not known when the function is read; print(x) shows its formula"},
      {"__tostring",
       "a symbol has no text: its value is not known when the function is read; print(x) shows its formula"},
      {"__len", SCENARIO_NO_LENGTH},
      {"__call", "a symbol cannot be called"},
      {"__newindex", "a member of a symbol cannot be assigned"},
      {"__band", BITS},
      {"__bor", BITS},
      {"__bxor", BITS},
      {"__bnot", BITS},
      {"__shl", BITS},
      {"__shr", BITS},
  };
#undef BITS
  luaL_newmetatable(L, type_name);
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    lua_pushstring(L, refused[i][1]);
    lua_pushcclosure(L, refuse, 1);
    lua_setfield(L, -2, refused[i][0]);
  }
  lua_pushcfunction(L, get_member);
  lua_setfield(L, -2, "__index");
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
}
