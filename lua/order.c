/* pairs, next and table.sort in an order that depends on keys and values alone. Lua's own order follows a hash seeded
 * by addresses and the clock, and its sort takes a pivot from the clock. Here numbers come first, in increasing order,
 * then strings by bytes, then false and true; the sort is a stable merge sort. */
#include "lua/internal.h"

#include <lauxlib.h>

#include <stdlib.h>
#include <string.h>

typedef struct order_key {
  int type; /* Lua's type of the key */
  bool integer, boolean;
  lua_Integer i;
  lua_Number number;
  const char *text; /* borrowed from Lua, which must keep the key alive */
  size_t size;
  lua_Integer at; /* index of the key in the list of keys */
} order_key;

/* Reads the key at `index`. */
static order_key read_key(lua_State *L, int index) {
  order_key key = {.type = lua_type(L, index)};
  switch (key.type) {
  case LUA_TNUMBER:
    key.integer = lua_isinteger(L, index);
    if (key.integer) key.i = lua_tointeger(L, index);
    key.number = lua_tonumber(L, index);
    break;
  case LUA_TSTRING: key.text = lua_tolstring(L, index, &key.size); break;
  case LUA_TBOOLEAN: key.boolean = lua_toboolean(L, index); break;
  default: luaL_error(L, "cannot walk a table with a %s as a key: it has no order", lua_typename(L, key.type));
  }
  return key;
}

static int rank(int type) { return type == LUA_TNUMBER ? 0 : type == LUA_TSTRING ? 1 : 2; }

static int compare_keys(const void *left, const void *right) {
  const order_key *a = left, *b = right;
  if (a->type != b->type) return rank(a->type) - rank(b->type);
  if (a->type == LUA_TBOOLEAN) return a->boolean - b->boolean;
  if (a->type == LUA_TNUMBER) {
    if (a->integer && b->integer) return (a->i > b->i) - (a->i < b->i);
    return (a->number > b->number) - (a->number < b->number);
  }
  return scenario_compare_text(a->text, a->size, b->text, b->size);
}

/* Iterator of pairs. Upvalues: list of keys, index of the last key that was returned. */
static int step(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_Integer index = lua_tointeger(L, lua_upvalueindex(2));
  for (;;) {
    index++;
    if (lua_rawgeti(L, lua_upvalueindex(1), index) == LUA_TNIL) return 1;
    lua_pushvalue(L, -1);
    if (lua_rawget(L, 1) != LUA_TNIL) break; /* else the key was removed during the loop */
    lua_pop(L, 2);
  }
  lua_pushinteger(L, index);
  lua_replace(L, lua_upvalueindex(2));
  return 2;
}

static void refuse_symbol(lua_State *L) {
  if (scenario_is_symbol(L, 1)) (void)scenario_symbol_refuse(L, SCENARIO_NO_LENGTH);
}

/* pairs. A weak table may lose keys at any allocation, so the keys are first copied into a list. */
int scenario_order_pairs(lua_State *L) {
  refuse_symbol(L);
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  lua_newtable(L);
  lua_Integer count = 0;
  for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1)) {
    lua_pushvalue(L, -2);
    lua_rawseti(L, 2, ++count);
  }
  order_key *keys = lua_newuserdatauv(L, (size_t)(count + 1) * sizeof *keys, 0);
  for (lua_Integer i = 0; i < count; i++) {
    lua_rawgeti(L, 2, i + 1);
    keys[i] = read_key(L, -1);
    keys[i].at = i + 1;
    lua_pop(L, 1);
  }
  qsort(keys, (size_t)count, sizeof *keys, compare_keys);
  lua_createtable(L, (int)count, 0);
  for (lua_Integer i = 0; i < count; i++) {
    lua_rawgeti(L, 2, keys[i].at);
    lua_rawseti(L, -2, i + 1);
  }
  lua_pushinteger(L, 0);
  lua_pushcclosure(L, step, 2);
  lua_pushvalue(L, 1);
  lua_pushnil(L);
  return 3;
}

int scenario_order_next(lua_State *L) {
  refuse_symbol(L);
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 3); /* stack index 3: the smallest key found so far */
  bool from_start = lua_isnil(L, 2), found = false;
  order_key after = {0}, best = {0};
  if (!from_start) after = read_key(L, 2);
  for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1)) {
    order_key key = read_key(L, -2);
    if (!from_start && compare_keys(&key, &after) <= 0) continue;
    if (found && compare_keys(&key, &best) >= 0) continue;
    best = key;
    found = true;
    lua_pushvalue(L, -2);
    lua_replace(L, 3);
  }
  if (!found) {
    lua_pushnil(L);
    return 1;
  }
  lua_pushvalue(L, 3);
  lua_pushvalue(L, 3);
  lua_rawget(L, 1);
  return 2;
}

/* Whether the value at stack index `a` precedes the one at `b`. */
static bool before(lua_State *L, int a, int b) {
  if (lua_isnil(L, 2)) return lua_compare(L, a, b, LUA_OPLT);
  lua_pushvalue(L, 2);
  lua_pushvalue(L, a);
  lua_pushvalue(L, b);
  lua_call(L, 2, 1);
  scenario_symbol_refuse_truth(L, -1, false);
  bool result = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return result;
}

/* Merges items [low, middle) and [middle, high) of the list at `from` into the list at `to`. */
static void merge(lua_State *L, int from, int to, lua_Integer low, lua_Integer middle, lua_Integer high) {
  lua_Integer left = low, right = middle;
  for (lua_Integer at = low; at < high; at++) {
    bool take_right = left >= middle;
    if (!take_right && right < high) {
      lua_rawgeti(L, from, right);
      lua_rawgeti(L, from, left);
      int top = lua_gettop(L);
      take_right = before(L, top - 1, top);
      lua_pop(L, 2);
    }
    lua_rawgeti(L, from, take_right ? right++ : left++);
    lua_rawseti(L, to, at);
  }
}

int scenario_order_sort(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  if (!lua_isnoneornil(L, 2)) luaL_checktype(L, 2, LUA_TFUNCTION);
  lua_settop(L, 2);
  lua_Integer count = (lua_Integer)lua_rawlen(L, 1);
  luaL_argcheck(L, count < (1 << 30), 1, "list too long");
  lua_createtable(L, (int)count, 0); /* stack indices 3 and 4: the two lists of the merge sort */
  lua_createtable(L, (int)count, 0);
  for (lua_Integer i = 1; i <= count; i++) {
    lua_rawgeti(L, 1, i);
    lua_rawseti(L, 3, i);
  }
  int from = 3, to = 4;
  for (lua_Integer width = 1; width < count; width *= 2) {
    for (lua_Integer low = 1; low <= count; low += 2 * width) {
      lua_Integer middle = low + width, high = low + 2 * width;
      if (middle > count + 1) middle = count + 1;
      if (high > count + 1) high = count + 1;
      merge(L, from, to, low, middle, high);
    }
    int swap = from;
    from = to;
    to = swap;
  }
  for (lua_Integer i = 1; i <= count; i++) {
    lua_rawgeti(L, from, i);
    lua_rawseti(L, 1, i);
  }
  return 0;
}
