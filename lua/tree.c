/* Converts Lua tables to a plain tree. Access is raw: no metamethod of the script runs. */
#include "lua/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The tables that enclose the current one. */
typedef struct tree_path {
  const void *tables[SCENARIO_DEPTH_MAX];
  int depth;
} tree_path;

typedef struct tree_name {
  const char *text; /* borrowed from Lua */
  size_t size;
} tree_name;

typedef struct tree_keys {
  lua_Integer items, last; /* items: number of positive integer keys; last: the largest of them */
  tree_name *names;        /* owned, sorted */
  size_t count, capacity;
  char bad[SCENARIO_NAME_MAX + 64]; /* fault of the keys; "": none */
} tree_keys;

static sim_value *convert(scenario_child *child, int index, tree_path *path);

static noreturn void fail_memory(const scenario_child *child) {
  scenario_child_fail(child, SIM_ERR_NO_MEMORY, SCENARIO_AT_FILE ": out of memory for the scenario's values");
}

static int compare_names(const void *left, const void *right) {
  const tree_name *a = left, *b = right;
  return scenario_compare_text(a->text, a->size, b->text, b->size);
}

static void add_name(scenario_child *child, tree_keys *keys, const char *text, size_t size) {
  if (keys->count == keys->capacity) {
    keys->capacity = keys->capacity ? 2 * keys->capacity : 16;
    tree_name *grown = realloc(keys->names, keys->capacity * sizeof *grown);
    if (!grown) fail_memory(child);
    keys->names = grown;
  }
  keys->names[keys->count++] = (tree_name){text, size};
}

/* Notes the key at stack index -2. */
static void read_key(scenario_child *child, tree_keys *keys) {
  lua_State *L = child->L;
  size_t size;
  int type = lua_type(L, -2);
  if (type == LUA_TSTRING) {
    const char *text = lua_tolstring(L, -2, &size);
    add_name(child, keys, text, size);
  } else if (lua_isinteger(L, -2)) {
    lua_Integer key = lua_tointeger(L, -2);
    if (key < 1)
      snprintf(keys->bad, sizeof keys->bad, "a table with the key [%lld]", (long long)key);
    else {
      keys->items++;
      if (key > keys->last) keys->last = key;
    }
  } else if (type == LUA_TNUMBER) {
    snprintf(keys->bad, sizeof keys->bad, "a table with the key [%.14g]", lua_tonumber(L, -2));
  } else {
    snprintf(keys->bad, sizeof keys->bad, "a table with a %s as a key", lua_typename(L, type));
  }
}

/* Whether the table is a function with options: { function, name = ... }. */
static bool has_options(lua_State *L, int index, const tree_keys *keys) {
  bool function = keys->items == 1 && keys->last == 1 && lua_rawgeti(L, index, 1) == LUA_TFUNCTION;
  if (keys->items == 1 && keys->last == 1) lua_pop(L, 1);
  return function;
}

static void judge_keys(lua_State *L, int index, tree_keys *keys) {
  if (keys->bad[0]) return;
  if (keys->items > 0 && keys->count > 0 && !has_options(L, index, keys)) {
    char name[SCENARIO_NAME_MAX];
    sim_text_escape(name, sizeof name, keys->names[0].text, keys->names[0].size);
    snprintf(keys->bad, sizeof keys->bad, "a table that mixes list items and names ('%s')", name);
  } else if (keys->last != keys->items) {
    lua_Integer hole = 1;
    while (lua_rawgeti(L, index, hole) != LUA_TNIL) {
      lua_pop(L, 1);
      hole++;
    }
    lua_pop(L, 1);
    snprintf(keys->bad, sizeof keys->bad, "a list with a hole at [%lld]", (long long)hole);
  }
}

static void add_entries(scenario_child *child, int index, const tree_keys *keys, tree_path *path, sim_value *table) {
  lua_State *L = child->L;
  for (lua_Integer i = 1; i <= keys->items; i++) {
    lua_rawgeti(L, index, i);
    if (sim_value_add(table, NULL, 0, convert(child, lua_gettop(L), path)) != SIM_OK) fail_memory(child);
    lua_pop(L, 1);
  }
  for (size_t i = 0; i < keys->count; i++) {
    char name[SCENARIO_NAME_MAX];
    sim_text_escape(name, sizeof name, keys->names[i].text, keys->names[i].size);
    lua_pushlstring(L, keys->names[i].text, keys->names[i].size);
    lua_rawget(L, index);
    if (sim_value_add(table, name, 0, convert(child, lua_gettop(L), path)) != SIM_OK) fail_memory(child);
    lua_pop(L, 1);
  }
}

static sim_value *convert_table(scenario_child *child, int index, tree_path *path) {
  lua_State *L = child->L;
  const void *self = lua_topointer(L, index);
  for (int i = 0; i < path->depth; i++)
    if (path->tables[i] == self) return sim_value_bad("a cycle");
  if (path->depth == SCENARIO_DEPTH_MAX) return sim_value_bad("a table that is nested too deep");
  if (lua_getmetatable(L, index)) {
    lua_pop(L, 1);
    return sim_value_bad("a table with a metatable");
  }
  tree_keys keys = {0};
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) read_key(child, &keys);
  if (keys.count > 0) qsort(keys.names, keys.count, sizeof *keys.names, compare_names);
  judge_keys(L, index, &keys);
  sim_value *table = NULL;
  if (keys.bad[0])
    table = sim_value_bad(keys.bad);
  else {
    table = sim_value_table(scenario_language_tag(L, index));
    if (!table) fail_memory(child);
    path->tables[path->depth++] = self;
    add_entries(child, index, &keys, path, table);
    path->depth--;
  }
  free(keys.names);
  return table;
}

static sim_value *convert_column(scenario_child *child, const scenario_column *column) {
  size_t bytes = column->rows * column->cols * sizeof(double);
  scenario_account(child, bytes);
  sim_value *array = sim_value_array(column->rows, column->cols);
  if (array) memcpy(array->u.array.data, column->data, bytes);
  return array;
}

/* Converts a value; never returns NULL. */
static sim_value *convert(scenario_child *child, int index, tree_path *path) {
  lua_State *L = child->L;
  size_t size = 0;
  const char *text = lua_type(L, index) == LUA_TSTRING ? lua_tolstring(L, index, &size) : NULL;
  scenario_account(child, size);
  sim_value *value = NULL;
  switch (lua_type(L, index)) {
  case LUA_TBOOLEAN: value = sim_value_bool(lua_toboolean(L, index)); break;
  case LUA_TNUMBER:
    value = lua_isinteger(L, index) ? sim_value_int(lua_tointeger(L, index)) : sim_value_real(lua_tonumber(L, index));
    break;
  case LUA_TSTRING: value = sim_value_string(text, size); break;
  case LUA_TTABLE: value = convert_table(child, index, path); break;
  case LUA_TUSERDATA:
    value = convert_column(child, lua_touserdata(L, index));
    break; /* columns are the only userdata here */
  case LUA_TFUNCTION: value = sim_value_fault("", 0); break;
  default: value = sim_value_bad("a value of Lua's own");
  }
  if (!value) fail_memory(child);
  if (value->kind == SIM_VALUE_FUNCTION) scenario_trace_add(child, value, index);
  return value;
}

sim_value *scenario_tree(scenario_child *child, int index) {
  tree_path path = {.depth = 0};
  /* each level needs a table, a key, a value, and two places for the tag */
  if (!lua_checkstack(child->L, 8 * (SCENARIO_DEPTH_MAX + 1))) fail_memory(child);
  return convert(child, lua_absindex(child->L, index), &path);
}
