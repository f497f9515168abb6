/* Global names of a script: a short list of Lua's own functions, changed if they depend on anything but the script. No
 * file, clock or address can be read, so that the same text gives the same tree in every run. */
#include "lua/internal.h"

#include <lauxlib.h>
#include <lualib.h>

#include <stdlib.h>
#include <string.h>

static const char *const base_names[] = {"error",  "getmetatable", "ipairs",   "rawget", "rawlen",
                                         "rawset", "select",       "tonumber", NULL};
static const char *const math_names[] = {"abs", "acos",       "asin", "atan", "ceil", "cos", "deg",
                                         "exp", "floor",      "fmod", "huge", "log",  "max", "maxinteger",
                                         "min", "mininteger", "modf", "pi",   "rad",  "sin", "sqrt",
                                         "tan", "tointeger",  "type", "ult",  NULL};
static const char *const string_names[] = {"byte", "char",     "find", "gmatch",  "gsub", "len",    "lower", "match",
                                           "pack", "packsize", "rep",  "reverse", "sub",  "unpack", "upper", NULL};
static const char *const table_names[] = {"concat", "insert", "move", "pack", "remove", "unpack", NULL};
static const char *const utf8_names[] = {"char", "charpattern", "codepoint", "codes", "len", "offset", NULL};
/* Names of Lua that are not available in a scenario. */
static const char *const banned[] = {
    "_G",          "collectgarbage",  "coroutine",   "debug",   "dofile",  "io",   "load",
    "loadfile",    "loadstring",      "os",          "package", "require", "warn", "xpcall",
    "math.random", "math.randomseed", "string.dump", NULL};

/* Pushes the text of any value, without the address that Lua would show. */
static void push_text(lua_State *L, int index) {
  switch (lua_type(L, index)) {
  case LUA_TTABLE:
  case LUA_TUSERDATA:
    if (luaL_getmetafield(L, index, "__tostring") != LUA_TNIL) {
      lua_pop(L, 1);
      luaL_tolstring(L, index, NULL);
    } else
      lua_pushstring(L, luaL_typename(L, index));
    return;
  case LUA_TFUNCTION: lua_pushstring(L, "function"); return;
  default: luaL_tolstring(L, index, NULL);
  }
}

static int text_of(lua_State *L) {
  luaL_checkany(L, 1);
  push_text(L, 1);
  return 1;
}

/* string.format without addresses; Lua's own function is upvalue 1. */
static int format(lua_State *L) {
  size_t size;
  const char *pattern = luaL_checklstring(L, 1, &size), *end = pattern + size;
  for (const char *p = pattern; p < end && (p = memchr(p, '%', (size_t)(end - p))) != NULL;) {
    p += 1 + strspn(p + 1, "-+ #0.123456789");
    if (*p == 'p') return luaL_error(L, "string.format: %%p is not available in a scenario");
    p++;
  }
  int count = lua_gettop(L);
  for (int i = 2; i <= count; i++) {
    int type = lua_type(L, i);
    if (type != LUA_TTABLE && type != LUA_TFUNCTION && type != LUA_TUSERDATA) continue;
    push_text(L, i);
    lua_replace(L, i);
  }
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, count, 1);
  return 1;
}

static int print(lua_State *L) {
  scenario_child *child = scenario_child_of(L);
  int count = lua_gettop(L);
  if (child->quiet || child->printed == SCENARIO_PRINT_MAX) return 0;
  luaL_Buffer line;
  luaL_buffinit(L, &line);
  for (int i = 1; i <= count; i++) {
    if (i > 1) luaL_addstring(&line, "  ");
    if (scenario_is_symbol(L, i))
      scenario_symbol_push_text(L, i);
    else
      push_text(L, i);
    luaL_addvalue(&line);
  }
  luaL_pushresult(&line);
  size_t size, room = SCENARIO_PRINT_MAX - child->printed;
  const char *text = lua_tolstring(L, -1, &size);
  if (size > room) size = room;
  child->printed += size < room ? size + 1 : room;
  scenario_child_send(child, SCENARIO_FRAME_PRINT, text, size);
  return 0;
}

static int compare_names(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Returns the string key of the table at `index` that is nearest to `name`; NULL: none is near. */
static const char *nearest_key(lua_State *L, int index, const char *name) {
  const char *names[256];
  size_t count = 0;
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
    if (lua_type(L, -2) == LUA_TSTRING && count < 256) names[count++] = lua_tostring(L, -2);
  }
  qsort(names, count, sizeof *names, compare_names);
  return sim_nearest(name, names, count);
}

static int unknown_name(lua_State *L) {
  const char *label = lua_tostring(L, lua_upvalueindex(1));
  if (lua_type(L, 2) != LUA_TSTRING) return 0;
  size_t size;
  const char *name = lua_tolstring(L, 2, &size);
  char shown[SCENARIO_NAME_MAX], full[SCENARIO_NAME_MAX + 16];
  sim_text_escape(shown, sizeof shown, name, size);
  strcpy(full, label);
  strcat(full, shown);
  for (const char *const *other = banned; *other; other++)
    if (strcmp(full, *other) == 0)
      return luaL_error(L, "'%s' is not available in a scenario%s", full,
                        strncmp(full, "math.random", 11) == 0 ? "; sim.uniform and sim.normal are" : "");
  char hint[128];
  if (scenario_hint(label, shown, math_names, hint, sizeof hint))
    return luaL_error(L, "undefined name '%s': %s", full, hint);
  const char *nearest = nearest_key(L, 1, shown);
  if (nearest) return luaL_error(L, "undefined name '%s', nearest is '%s%s'", full, label, nearest);
  return luaL_error(L, "undefined name '%s'", full);
}

/* Refuses an assignment. Upvalues: the label, and the table of known names. */
static int assign_name(lua_State *L) {
  const char *label = lua_tostring(L, lua_upvalueindex(1));
  char shown[SCENARIO_NAME_MAX] = "?";
  size_t size;
  if (lua_type(L, 2) == LUA_TSTRING) {
    const char *name = lua_tolstring(L, 2, &size);
    sim_text_escape(shown, sizeof shown, name, size);
  }
  lua_pushvalue(L, 2);
  const bool known = lua_rawget(L, lua_upvalueindex(2)) != LUA_TNIL;
  if (*label) return luaL_error(L, "'%s%s' cannot be assigned", label, shown);
  if (known) return luaL_error(L, "'%s' cannot be assigned, write 'local %s = ...' for one of your own", shown, shown);
  return luaL_error(L, "assignment to the undefined name '%s', write 'local %s = ...' first", shown, shown);
}

void scenario_sandbox_seal(lua_State *L, const char *label) {
  const int names = lua_gettop(L);
  lua_createtable(L, 0, 1);
  lua_pushstring(L, label);
  lua_pushcclosure(L, unknown_name, 1);
  lua_setfield(L, -2, "__index");
  lua_setmetatable(L, names);

  lua_newtable(L);
  lua_createtable(L, 0, 3);
  lua_pushvalue(L, names);
  lua_setfield(L, -2, "__index");
  lua_pushstring(L, label);
  lua_pushvalue(L, names);
  lua_pushcclosure(L, assign_name, 2);
  lua_setfield(L, -2, "__newindex");
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
  lua_setmetatable(L, -2);
  lua_replace(L, names);
}

/* Copies the named members of the table at the top into the table below it, and pops the table at the top. */
static void copy_members(lua_State *L, const char *const *names) {
  for (; *names; names++) {
    lua_getfield(L, -1, *names);
    lua_setfield(L, -3, *names);
  }
  lua_pop(L, 1);
}

static void push_library(lua_State *L, const char *name, lua_CFunction open, const char *const *names) {
  lua_newtable(L);
  luaL_requiref(L, name, open, 0);
  copy_members(L, names);
}

/* Makes the members of the sealed table at the top the methods of strings. */
static void set_string_methods(lua_State *L) {
  lua_pushliteral(L, "");
  lua_createtable(L, 0, 2);
  lua_pushvalue(L, -3);
  lua_setfield(L, -2, "__index");
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
  scenario_guards_set(L);
  lua_setmetatable(L, -2);
  lua_pop(L, 1);
}

void scenario_sandbox_push(lua_State *L) {
  static const luaL_Reg own[] = {{"next", scenario_order_next},
                                 {"pairs", scenario_order_pairs},
                                 {"print", print},
                                 {"tostring", text_of},
                                 {NULL, NULL}};
  push_library(L, LUA_GNAME, luaopen_base, base_names);
  luaL_setfuncs(L, own, 0);
  scenario_natives_set(L);

  scenario_symbol_push_metatable(L);
  scenario_operators_set(L);
  lua_pop(L, 1);
  push_library(L, LUA_MATHLIBNAME, luaopen_math, math_names);
  scenario_functions_set_math(L);
  scenario_natives_set_math(L);
  scenario_sandbox_seal(L, "math.");
  lua_setfield(L, -2, "math");

  push_library(L, LUA_TABLIBNAME, luaopen_table, table_names);
  lua_pushcfunction(L, scenario_order_sort);
  lua_setfield(L, -2, "sort");
  scenario_sandbox_seal(L, "table.");
  lua_setfield(L, -2, "table");

  push_library(L, LUA_UTF8LIBNAME, luaopen_utf8, utf8_names);
  scenario_sandbox_seal(L, "utf8.");
  lua_setfield(L, -2, "utf8");

  push_library(L, LUA_STRLIBNAME, luaopen_string, string_names);
  luaL_requiref(L, LUA_STRLIBNAME, luaopen_string, 0);
  lua_getfield(L, -1, "format");
  lua_pushcclosure(L, format, 1);
  lua_setfield(L, -3, "format");
  lua_pop(L, 1);
  scenario_sandbox_seal(L, "string.");
  set_string_methods(L);
  lua_setfield(L, -2, "string");
}

const char *scenario_library_version(void) { return LUA_RELEASE; }
