/* sim.each(n, f): packs the tables of numbers f(1) .. f(n) into one column for each key. */
#include "lua/internal.h"

#include <lauxlib.h>

#include <string.h>

enum { EACH_MOST = 10000000, EACH_KEYS_MAX = 32, EACH_LIST_MAX = 4096 };

typedef struct each_key {
  const char *name; /* kept alive by Lua, as a key of the table of columns */
  scenario_column *column;
  bool list;
} each_key;

static void check_key(lua_State *L, lua_Integer i, int index) {
  char shown[SCENARIO_NAME_MAX];
  size_t size;
  if (lua_type(L, index) != LUA_TSTRING)
    luaL_error(L, "sim.each: f(%I) returns a table with a %s as a key, expected names", (LUAI_UACINT)i,
               luaL_typename(L, index));
  const char *name = lua_tolstring(L, index, &size);
  sim_text_escape(shown, sizeof shown, name, size);
  if (strlen(shown) != size || strcmp(shown, name) != 0)
    luaL_error(L, "sim.each: f(%I) returns a table with the odd key '%s'", (LUAI_UACINT)i, shown);
}

/* Copies the value at the top, a number or a list of numbers, into row i of the column. */
static void store(lua_State *L, lua_Integer i, const each_key *key) {
  size_t cols = key->column->cols;
  double *row = key->column->data + (size_t)(i - 1) * cols;
  int type = lua_type(L, -1);
  if (type != (key->list ? LUA_TTABLE : LUA_TNUMBER)) {
    if (i == 1 || (type != LUA_TTABLE && type != LUA_TNUMBER))
      luaL_error(L, "sim.each: f(%I).%s is a %s, expected a number or a list of numbers", (LUAI_UACINT)i, key->name,
                 luaL_typename(L, -1));
    luaL_error(L, "sim.each: f(%I).%s is a %s, but f(1).%s is not", (LUAI_UACINT)i, key->name, luaL_typename(L, -1),
               key->name);
  }
  if (!key->list) {
    row[0] = lua_tonumber(L, -1);
    return;
  }
  if (lua_rawlen(L, -1) != cols)
    luaL_error(L, "sim.each: f(%I).%s has %d items, but f(1).%s has %d", (LUAI_UACINT)i, key->name,
               (int)lua_rawlen(L, -1), key->name, (int)cols);
  for (size_t k = 0; k < cols; k++) {
    if (lua_rawgeti(L, -1, (lua_Integer)k + 1) != LUA_TNUMBER)
      luaL_error(L, "sim.each: f(%I).%s[%d] is a %s, expected a number", (LUAI_UACINT)i, key->name, (int)k + 1,
                 luaL_typename(L, -1));
    row[k] = lua_tonumber(L, -1);
    lua_pop(L, 1);
  }
}

/* Calls f(i), with f at stack index 2, and leaves its table at the top. */
static void call(lua_State *L, lua_Integer i) {
  lua_pushvalue(L, 2);
  lua_pushinteger(L, i);
  lua_call(L, 1, 1);
  if (lua_type(L, -1) != LUA_TTABLE)
    luaL_error(L, "sim.each: f(%I) returns %s%s, expected a table", (LUAI_UACINT)i, lua_isnil(L, -1) ? "" : "a ",
               luaL_typename(L, -1));
}

/* Makes a column for each key of the table at the top, in the table at stack index 3. */
static size_t make_columns(lua_State *L, size_t n, each_key keys[EACH_KEYS_MAX]) {
  size_t count = 0, bytes = 0;
  int table = lua_gettop(L);
  for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1)) {
    check_key(L, 1, -2);
    if (count == EACH_KEYS_MAX) luaL_error(L, "sim.each: f(1) returns more than %d keys", EACH_KEYS_MAX);
    bool list = lua_istable(L, -1);
    size_t cols = list ? lua_rawlen(L, -1) : 1;
    const char *name = lua_tostring(L, -2);
    if (cols == 0)
      luaL_error(L, "sim.each: f(1).%s is a table without items: expected a number, or a list of 1 to %d numbers", name,
                 EACH_LIST_MAX);
    if (cols > EACH_LIST_MAX)
      luaL_error(L, "sim.each: f(1).%s has %d items, expected 1 to %d", name,
                 (int)(cols < INT32_MAX ? cols : INT32_MAX), EACH_LIST_MAX);
    bytes += n * cols * sizeof(double);
    if (bytes > SCENARIO_BYTES_MAX)
      luaL_error(L, "sim.each: the numbers of %I tables are more than %d MiB", (LUAI_UACINT)n,
                 SCENARIO_BYTES_MAX >> 20);
    lua_pushvalue(L, -2);
    scenario_column *column = lua_newuserdatauv(L, sizeof *column + n * cols * sizeof(double), 0);
    column->rows = n;
    column->cols = cols;
    keys[count++] = (each_key){name, column, list};
    lua_rawset(L, 3);
  }
  if (count == 0) luaL_error(L, "sim.each: f(1) returns an empty table");
  return count;
}

/* Stores the table at the top, which must have exactly the keys of f(1). */
static void store_row(lua_State *L, lua_Integer i, const each_key *keys, size_t count) {
  for (size_t k = 0; k < count; k++) {
    lua_pushvalue(L, 4 + (int)k);
    if (lua_rawget(L, -2) == LUA_TNIL) luaL_error(L, "sim.each: f(%I).%s is missing", (LUAI_UACINT)i, keys[k].name);
    store(L, i, &keys[k]);
    lua_pop(L, 1);
  }
  size_t found = 0;
  for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
    if (++found <= count) continue;
    check_key(L, i, -2);
    luaL_error(L, "sim.each: f(%I) returns more keys than f(1)", (LUAI_UACINT)i);
  }
}

int scenario_each(lua_State *L) {
  if (lua_gettop(L) != 2 || lua_type(L, 2) != LUA_TFUNCTION)
    return luaL_error(L, "sim.each expects (n, function), got (%s, %s)", luaL_typename(L, 1), luaL_typename(L, 2));
  int whole = 0;
  lua_Integer n = lua_type(L, 1) == LUA_TNUMBER ? lua_tointegerx(L, 1, &whole) : 0;
  if (!whole || n < 1 || n > EACH_MOST) return luaL_error(L, "sim.each: n is not an integer from 1 to %d", EACH_MOST);
  each_key keys[EACH_KEYS_MAX];
  lua_newtable(L);
  luaL_checkstack(L, EACH_KEYS_MAX + LUA_MINSTACK, NULL);
  call(L, 1);
  size_t count = make_columns(L, (size_t)n, keys);
  for (size_t k = 0; k < count; k++) { /* keeps the names alive, from stack index 4 on */
    lua_pushstring(L, keys[k].name);
    lua_insert(L, 4 + (int)k);
  }
  for (lua_Integer i = 1; i <= n; i++) {
    if (i > 1) call(L, i);
    store_row(L, i, keys, count);
    lua_pop(L, 1);
  }
  lua_settop(L, 3);
  return 1;
}
