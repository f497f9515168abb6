/* The `sim` table of a script: constructors that tag a table, sim.param, and random numbers. */
#include "engine/rng.h"
#include "lua/internal.h"

#include <lauxlib.h>

#include <string.h>

/* Their addresses are keys of the registry: for the tables table -> constructor's name, name -> default, and name ->
 * value of a parameter. */
static const char tags_key, defaults_key, values_key;

const char *scenario_language_tag(lua_State *L, int index) {
  index = lua_absindex(L, index);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &tags_key);
  lua_pushvalue(L, index);
  lua_rawget(L, -2);
  const char *tag = lua_tostring(L, -1); /* an upvalue of the constructor keeps it alive */
  lua_pop(L, 2);
  return tag;
}

static void set_tag(lua_State *L, int index, const char *tag) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &tags_key);
  lua_pushvalue(L, index);
  lua_pushstring(L, tag);
  lua_rawset(L, -3);
  lua_pop(L, 1);
}

static int construct(lua_State *L) {
  const char *name = lua_tostring(L, lua_upvalueindex(1));
  int count = lua_gettop(L);
  if (count != 1) return luaL_error(L, "sim.%s expects one table, got %d values", name, count);
  int type = lua_type(L, 1);
  if (type != LUA_TTABLE)
    return luaL_error(L, "sim.%s expects one table, got %s%s", name, type == LUA_TNIL ? "" : "a ",
                      lua_typename(L, type));
  const char *tag = scenario_language_tag(L, 1);
  if (tag) return luaL_error(L, "sim.%s: this table belongs to a sim.%s already", name, tag);
  set_tag(L, 1, name);
  return 1;
}

static bool is_word(const char *text, size_t size) {
  for (size_t i = 0; i < size; i++)
    if (!scenario_is_name(text[i])) return false;
  return size > 0 && size < SCENARIO_NAME_MAX;
}

/* Pushes the number in `text`: "1e6", "0x10", "1/256"; an integer if written as one. False: not a number; pushes
 * nothing. */
static bool push_number(lua_State *L, const char *text) {
  const char *slash = strchr(text, '/');
  if (!slash) return lua_stringtonumber(L, text) != 0;
  lua_pushlstring(L, text, (size_t)(slash - text));
  bool above = lua_stringtonumber(L, lua_tostring(L, -1)) != 0;
  lua_remove(L, above ? -2 : -1);
  if (!above) return false;
  if (lua_stringtonumber(L, slash + 1) == 0) {
    lua_pop(L, 1);
    return false;
  }
  lua_arith(L, LUA_OPDIV);
  return true;
}

/* Pushes the value of a --set, converted to the type of the default at stack index 2. */
static void push_set(lua_State *L, const char *name, const char *text) {
  scenario_child *child = scenario_child_of(L);
  const char *expected = "text";
  bool good = true;
  switch (lua_type(L, 2)) {
  case LUA_TBOOLEAN:
    expected = "true or false";
    good = strcmp(text, "true") == 0 || strcmp(text, "false") == 0;
    if (good) lua_pushboolean(L, *text == 't');
    break;
  case LUA_TNUMBER:
    if (lua_isinteger(L, 2)) {
      int whole = 0;
      expected = "an integer, as its default is (a default such as 1.0 takes fractions)";
      good = push_number(L, text);
      if (good) {
        lua_Integer integer = lua_tointegerx(L, -1, &whole);
        lua_pop(L, 1);
        if (whole) lua_pushinteger(L, integer);
        good = whole;
      }
    } else {
      expected = "a number";
      good = push_number(L, text);
      if (good) {
        lua_pushnumber(L, lua_tonumber(L, -1));
        lua_remove(L, -2);
      }
    }
    break;
  default: lua_pushstring(L, text);
  }
  if (!good) scenario_child_fail(child, SIM_ERR_USAGE, "--set %s=%.200s: expected %s", name, text, expected);
}

/* Returns the text after "name=" in the --set options; NULL: none. */
static const char *find_set(scenario_child *child, const char *name) {
  const char *found = NULL;
  size_t size = strlen(name);
  for (size_t i = 0; child->options->sets && child->options->sets[i]; i++) {
    const char *set = child->options->sets[i];
    if (strncmp(set, name, size) != 0 || set[size] != '=') continue;
    if (found) scenario_child_fail(child, SIM_ERR_USAGE, "--set %s is given twice", name);
    found = set + size + 1;
    child->taken[i] = true;
  }
  return found;
}

static sim_value *plain_value(lua_State *L, int index) {
  size_t size;
  switch (lua_type(L, index)) {
  case LUA_TBOOLEAN: return sim_value_bool(lua_toboolean(L, index));
  case LUA_TNUMBER:
    return lua_isinteger(L, index) ? sim_value_int(lua_tointeger(L, index)) : sim_value_real(lua_tonumber(L, index));
  default: {
    const char *text = lua_tolstring(L, index, &size);
    return sim_value_string(text, size);
  }
  }
}

static void record(lua_State *L, const char *name) {
  scenario_child *child = scenario_child_of(L);
  int line = scenario_child_line(L);
  size_t size = lua_type(L, -1) == LUA_TSTRING ? lua_rawlen(L, -1) : 0;
  scenario_account(child, size);
  sim_value *value = plain_value(L, -1);
  if (!value || sim_value_add(child->params, name, line, value) != SIM_OK)
    scenario_child_fail(child, SIM_ERR_NO_MEMORY, SCENARIO_AT_FILE ": out of memory for the script");
}

/* Pushes the value of a parameter that is already declared; false if it is not, and pushes nothing. */
static bool declared(lua_State *L, const char *name) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &defaults_key);
  lua_getfield(L, -1, name);
  if (lua_isnil(L, -1)) {
    lua_pop(L, 2);
    return false;
  }
  if (lua_type(L, -1) != lua_type(L, 2) || !lua_rawequal(L, -1, 2) || lua_isinteger(L, -1) != lua_isinteger(L, 2))
    luaL_error(L, "sim.param: '%s' is declared twice with different defaults", name);
  lua_pop(L, 2);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &values_key);
  lua_getfield(L, -1, name);
  return true;
}

/* Refuses a call while a function is traced: it would happen only once, so that a value that is not computed from the
 * inputs would never change. */
static void refuse_in_trace(lua_State *L, const char *name, const char *why) {
  if (scenario_child_of(L)->trace) luaL_error(L, "sim.%s cannot stand in a function that is compiled: %s", name, why);
}

static int param(lua_State *L) {
  scenario_child *child = scenario_child_of(L);
  size_t size;
  refuse_in_trace(L, "param", "read it into a local before");
  if (lua_type(L, 1) != LUA_TSTRING)
    return luaL_error(L, "sim.param expects (name, default, doc), got %s as the name", luaL_typename(L, 1));
  const char *name = lua_tolstring(L, 1, &size);
  if (!is_word(name, size)) return luaL_error(L, "sim.param: a name is made of letters, digits and underscores");
  int type = lua_type(L, 2);
  if (type != LUA_TBOOLEAN && type != LUA_TNUMBER && type != LUA_TSTRING)
    return luaL_error(L, "sim.param: the default of '%s' is %s, expected a number, a boolean or a string", name,
                      type == LUA_TNONE || type == LUA_TNIL ? "missing" : lua_typename(L, type));
  if (type == LUA_TSTRING && lua_rawlen(L, 2) > SCENARIO_PARAM_BYTES_MAX)
    return luaL_error(L, "sim.param: the default of '%s' is longer than %d KiB", name, SCENARIO_PARAM_BYTES_MAX >> 10);
  if (!lua_isnoneornil(L, 3) && lua_type(L, 3) != LUA_TSTRING)
    return luaL_error(L, "sim.param: the description of '%s' is a %s, expected a string", name, luaL_typename(L, 3));
  if (declared(L, name)) return 1;
  if (child->params->u.table.count >= SCENARIO_PARAMS_MAX)
    return luaL_error(L, "sim.param: more than %d parameters", SCENARIO_PARAMS_MAX);

  const char *set = find_set(child, name);
  if (set)
    push_set(L, name, set);
  else
    lua_pushvalue(L, 2);
  record(L, name);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &defaults_key);
  lua_pushvalue(L, 2);
  lua_setfield(L, -2, name);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &values_key);
  lua_pushvalue(L, -3);
  lua_setfield(L, -2, name);
  lua_pop(L, 2);
  return 1;
}

void scenario_language_check_sets(scenario_child *child) {
  for (size_t i = 0; child->options->sets && child->options->sets[i]; i++) {
    const char *set = child->options->sets[i];
    if (child->taken[i]) continue;
    char name[SCENARIO_NAME_MAX];
    sim_text_escape(name, sizeof name, set, strcspn(set, "="));
    if (!strchr(set, '=') || *set == '=')
      scenario_child_fail(child, SIM_ERR_USAGE, "--set %s: expected name=value", name);
    const char *names[SCENARIO_PARAMS_MAX];
    size_t count = child->params->u.table.count;
    for (size_t k = 0; k < count; k++) names[k] = child->params->u.table.entries[k].key;
    const char *nearest = sim_nearest(name, names, count);
    scenario_child_fail(child, SIM_ERR_USAGE, "--set %s: " SCENARIO_AT_FILE " has no sim.param of that name%s%s", name,
                        nearest ? ", nearest is " : "", nearest ? nearest : "");
  }
}

static int each(lua_State *L) {
  refuse_in_trace(L, "each", "it makes bodies");
  int results = scenario_each(L);
  set_tag(L, lua_gettop(L), "each");
  return results;
}

/* ---- random numbers, as functions of (entity, draw, seed) ---- */

/* Step of the scripts' random numbers in engine/rng.h. No run reaches it, so that they never coincide with a
 * model's. */
static const uint64_t script_step = (UINT64_C(1) << 48) - 1;

static int draw(lua_State *L, void (*two)(uint64_t, uint64_t, uint64_t, uint32_t, double[2]), const char *name) {
  refuse_in_trace(L, name, "it would be the same number for every entity and time");
  lua_Integer entity = luaL_checkinteger(L, 1), k = luaL_optinteger(L, 2, 0), seed = luaL_optinteger(L, 3, 0);
  if (entity < 0 || k < 0 || k >= 2 << 16 || seed < 0)
    return luaL_error(L, "sim.%s(entity, draw, seed): expected integers of at least 0, draw below 2^17", name);
  double pair[2];
  two((uint64_t)seed, (uint64_t)entity, script_step, (uint32_t)k / 2, pair);
  lua_pushnumber(L, pair[k % 2]);
  return 1;
}

static int uniform(lua_State *L) { return draw(L, sim_rng_uniform, "uniform"); }
static int normal(lua_State *L) { return draw(L, sim_rng_normal, "normal"); }

static void push_registry_table(lua_State *L, const char *key) {
  lua_newtable(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, key);
}

void scenario_language_push(lua_State *L) {
  static const luaL_Reg functions[] = {{"param", param},
                                       {"each", each},
                                       {"curve", scenario_curve},
                                       {"calendar", scenario_calendar},
                                       {"uniform", uniform},
                                       {"normal", normal},
                                       {NULL, NULL}};
  push_registry_table(L, &tags_key);
  push_registry_table(L, &defaults_key);
  push_registry_table(L, &values_key);
  luaL_newlib(L, functions);
  scenario_functions_set(L);
  for (const char *const *name = scenario_child_of(L)->options->constructors; *name; name++) {
    lua_getfield(L, -1, *name);
    bool free_name = lua_isnil(L, -1);
    lua_pop(L, 1);
    if (!free_name) continue; /* sim.each, sim.param and the other functions are not constructors */
    lua_pushstring(L, *name);
    lua_pushcclosure(L, construct, 1);
    lua_setfield(L, -2, *name);
  }
  scenario_sandbox_seal(L, "sim.");
}
