/* Replacements of Lua's own functions that would reveal symbols to a script, or would hide errors from a trace. */
#include "lua/internal.h"

#include <lauxlib.h>

#include <string.h>

/* Its address is the registry's key of the list of all metatables. */
static const char metatables_key;

static int type_of(lua_State *L) {
  luaL_checkany(L, 1);
  lua_pushstring(L, scenario_is_symbol(L, 1) ? scenario_symbol_type(L, 1) : luaL_typename(L, 1));
  return 1;
}

/* Calls Lua's own function, the upvalue. */
static int call_own(lua_State *L) {
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  return lua_gettop(L);
}

static int to_number(lua_State *L) {
  if (!scenario_is_symbol(L, 1)) return call_own(L);
  if (strcmp(scenario_symbol_type(L, 1), "number") != 0 || !lua_isnoneornil(L, 2))
    return scenario_symbol_refuse(L, "tonumber takes a symbol that is a number, and no base beside it");
  lua_settop(L, 1);
  return 1;
}

/* Refuses symbols; upvalue 2 is the reason. */
static int refuse_symbols(lua_State *L) {
  for (int i = 1; i <= lua_gettop(L); i++)
    if (scenario_is_symbol(L, i)) return scenario_symbol_refuse(L, lua_tostring(L, lua_upvalueindex(2)));
  return call_own(L);
}

/* Returns the metatable of a value; for a symbol nil, as for a number. */
static int get_metatable(lua_State *L) {
  if (!scenario_is_symbol(L, 1)) return call_own(L);
  lua_pushnil(L);
  return 1;
}

static int raw_get(lua_State *L) {
  scenario_symbol_refuse_key(L, 2);
  return call_own(L);
}

static int raw_set(lua_State *L) {
  scenario_symbol_refuse_key(L, 2);
  if (luaL_getmetafield(L, 1, "__metatable") != LUA_TNIL) return luaL_error(L, "cannot change a protected table");
  return call_own(L);
}

static int raw_equal(lua_State *L) {
  luaL_checkany(L, 1);
  luaL_checkany(L, 2);
  scenario_symbol_refuse_equal(L, 1);
  scenario_symbol_refuse_equal(L, 2);
  lua_pushboolean(L, lua_rawequal(L, 1, 2));
  return 1;
}

static int assert_true(lua_State *L) {
  luaL_checkany(L, 1);
  scenario_symbol_refuse_truth(L, 1, false);
  if (lua_toboolean(L, 1)) return lua_gettop(L);
  if (lua_gettop(L) == 1) lua_pushliteral(L, "assertion failed!");
  lua_settop(L, 2);
  if (lua_type(L, 2) == LUA_TSTRING) {
    luaL_where(L, 1);
    lua_insert(L, 2);
    lua_concat(L, 2);
  }
  return lua_error(L);
}

/* pcall. In a trace an error that it catches is kept: what the function does after the error may depend on its
 * symbols. */
static int protected_call(lua_State *L) {
  luaL_checkany(L, 1);
  const int failed = lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0);
  lua_pushboolean(L, !failed);
  lua_insert(L, 1);
  if (failed && scenario_child_of(L)->trace) {
    const char *error = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : NULL;
    if (!error)
      error = lua_pushfstring(L, "its error object is %s%s", lua_isnil(L, 2) ? "" : "a ", luaL_typename(L, 2));
    else
      lua_pushvalue(L, 2);
    if (error[0] == SCENARIO_AT_FILE[0]) { /* "\1:12: text" */
      const char *text = strstr(error, ": ");
      error = text ? text + 2 : error;
    }
    lua_pushfstring(L, "pcall hides an error in a function that is compiled: %s", error);
    scenario_symbol_note(L, lua_tostring(L, -1));
    lua_pop(L, 2);
  }
  return lua_gettop(L);
}

/* ---- metatables ---- */

/* Calls the scenario's metamethod, the upvalue, and checks its result, which Lua would convert to a boolean. */
static int compare(lua_State *L) {
  lua_settop(L, 2);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, 2, 1);
  return scenario_symbol_refuse_truth(L, -1, false);
}

/* Wraps the comparisons of the metatable at the top; returns whether one was not wrapped yet. */
static bool check_comparisons(lua_State *L) {
  static const char *const names[] = {"__lt", "__le", "__eq", NULL};
  bool found = false;
  for (const char *const *name = names; *name; name++) {
    lua_pushstring(L, *name);
    lua_pushvalue(L, -1);
    lua_rawget(L, -3);
    const bool open = !lua_isnil(L, -1) && lua_tocfunction(L, -1) != compare;
    found |= open;
    if (open) {
      lua_pushcclosure(L, compare, 1);
      lua_rawset(L, -3);
    } else
      lua_pop(L, 2);
  }
  return found;
}

bool scenario_natives_check_comparisons(lua_State *L) {
  bool found = false;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &metatables_key);
  for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
    lua_pushvalue(L, -2);
    found |= check_comparisons(L);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return found;
}

/* setmetatable without __gc and __mode: finalisers run outside of hooks, and weak tables depend on garbage
 * collection. */
static int set_metatable(lua_State *L) {
  static const char *const refused[] = {"__gc", "__mode", NULL};
  luaL_checktype(L, 1, LUA_TTABLE);
  if (!lua_isnoneornil(L, 2)) {
    luaL_checktype(L, 2, LUA_TTABLE);
    for (const char *const *name = refused; *name; name++) {
      lua_pushstring(L, *name);
      if (lua_rawget(L, 2) != LUA_TNIL) return luaL_error(L, "setmetatable: %s is not available in a scenario", *name);
    }
  }
  lua_settop(L, 2);
  if (luaL_getmetafield(L, 1, "__metatable") != LUA_TNIL) return luaL_error(L, "cannot change a protected metatable");
  if (lua_istable(L, 2)) {
    check_comparisons(L);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &metatables_key);
    lua_pushvalue(L, 2);
    lua_pushboolean(L, 1);
    lua_rawset(L, -3);
    lua_pop(L, 1);
  }
  lua_setmetatable(L, -2);
  return 1;
}

/* ---- hash of the state that functions can reach ---- */

static void mix(uint64_t *hash, uint64_t word) {
  *hash = (*hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
  *hash ^= *hash >> 32;
}

/* Adds the value at the top to the hash; appends a table or function that is new to the list. */
static void take(lua_State *L, int list, int met, lua_Integer *listed, uint64_t *hash) {
  uint64_t word = 0;
  double number;
  switch (lua_type(L, -1)) {
  case LUA_TNIL: break;
  case LUA_TBOOLEAN: word = (uint64_t)lua_toboolean(L, -1); break;
  case LUA_TNUMBER:
    if (lua_isinteger(L, -1)) {
      word = (uint64_t)lua_tointeger(L, -1);
    } else {
      number = lua_tonumber(L, -1);
      memcpy(&word, &number, sizeof word);
    }
    break;
  default:
    /* also for a string, but equal strings may have different addresses */
    word = (uint64_t)(uintptr_t)lua_topointer(L, -1);
  }
  if (lua_type(L, -1) == LUA_TSTRING) { /* a string is hashed by content */
    size_t size;
    const char *text = lua_tolstring(L, -1, &size);
    word = size;
    for (size_t i = 0; i < size; i++) mix(&word, (unsigned char)text[i]);
  }
  mix(hash, (uint64_t)lua_type(L, -1));
  mix(hash, word);
  if (!lua_istable(L, -1) && (!lua_isfunction(L, -1) || lua_iscfunction(L, -1))) return;
  if (lua_rawgetp(L, met, lua_topointer(L, -1)) == LUA_TNIL) {
    lua_pushboolean(L, 1);
    lua_rawsetp(L, met, lua_topointer(L, -3));
    lua_pushvalue(L, -2);
    lua_rawseti(L, list, ++*listed);
  }
  lua_pop(L, 1);
}

uint64_t scenario_state(lua_State *L, int index, size_t *count) {
  uint64_t hash = 1;
  lua_Integer listed = 0;
  lua_newtable(L);
  lua_newtable(L);
  const int list = lua_gettop(L) - 1, met = lua_gettop(L);
  lua_pushvalue(L, index);
  take(L, list, met, &listed, &hash);
  lua_pop(L, 1);
  *count = 0;
  for (lua_Integer k = 1; k <= listed; k++) {
    lua_rawgeti(L, list, k);
    if (lua_isfunction(L, -1)) {
      for (int i = 1; lua_getupvalue(L, -1, i); i++, ++*count) {
        take(L, list, met, &listed, &hash);
        lua_pop(L, 1);
      }
    } else {
      for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1), ++*count) {
        take(L, list, met, &listed, &hash);
        lua_pushvalue(L, -2);
        take(L, list, met, &listed, &hash);
        lua_pop(L, 1);
      }
      if (luaL_getmetafield(L, -1, "__metatable") != LUA_TNIL) { /* protected: it is the program's */
        lua_pop(L, 1);
      } else if (lua_getmetatable(L, -1)) {
        take(L, list, met, &listed, &hash);
        lua_pop(L, 1);
      }
    }
    lua_pop(L, 1);
  }
  lua_settop(L, list - 1);
  return hash;
}

/* ---- the tables of names ---- */

/* Replaces Lua's own function by `call`, whose upvalues are that function and, if given, a text. */
static void replace(lua_State *L, const char *name, lua_CFunction call, const char *text) {
  lua_getfield(L, -1, name);
  if (text) lua_pushstring(L, text);
  lua_pushcclosure(L, call, text ? 2 : 1);
  lua_setfield(L, -2, name);
}

void scenario_natives_set(lua_State *L) {
  static const luaL_Reg own[] = {{"type", type_of},         {"rawequal", raw_equal},         {"assert", assert_true},
                                 {"pcall", protected_call}, {"setmetatable", set_metatable}, {NULL, NULL}};
  lua_newtable(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &metatables_key);
  luaL_setfuncs(L, own, 0);
  replace(L, "tonumber", to_number, NULL);
  replace(L, "getmetatable", get_metatable, NULL);
  replace(L, "rawget", raw_get, NULL);
  replace(L, "rawset", raw_set, NULL);
  replace(L, "ipairs", refuse_symbols, SCENARIO_NO_LENGTH);
}

void scenario_natives_set_math(lua_State *L) {
  static const char no_type[] = "whether a symbol is an integer is not known when the function is read";
  replace(L, "modf", refuse_symbols, "math.modf takes no symbol: write x % 1 and x - x % 1");
  replace(L, "ult", refuse_symbols, "math.ult takes no symbol: write sim.lt(a, b)");
  replace(L, "type", refuse_symbols, no_type);
  replace(L, "tointeger", refuse_symbols, no_type);
}
