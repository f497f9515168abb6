/* sim.curve { {t, value}, ... }: a function of time, linear or flat between its points and constant outside. */
#include "engine/expr/curve.h"
#include "lua/internal.h"

#include <lauxlib.h>

#include <math.h>
#include <string.h>

typedef struct curve {
  bool flat;
  int count;
  sim_curve_point point[];
} curve;

static double value_at(const curve *c, double t) {
  int i = c->count - 1;
  if (isnan(t)) return t;
  while (i >= 0 && t < c->point[i].t) i--;
  if (i < 0) return c->point[0].value;
  return c->flat || i == c->count - 1 ? c->point[i].value
                                      : c->point[i].value + (t - c->point[i].t) * sim_curve_slope(c->point, i);
}

static int call(lua_State *L) {
  const curve *c = lua_touserdata(L, lua_upvalueindex(1));
  const scenario_trace *trace = scenario_child_of(L)->trace;
  sim_expr_ref t, out;
  if (lua_gettop(L) != 1 || scenario_symbol_is_condition(L, 1) ||
      (lua_type(L, 1) != LUA_TNUMBER && !scenario_is_symbol(L, 1)))
    return luaL_error(L, "a sim.curve expects one number, a time");
  if (lua_type(L, 1) == LUA_TNUMBER || trace == NULL) {
    lua_pushnumber(L, value_at(c, luaL_checknumber(L, 1)));
    return 1;
  }
  sim_status status = scenario_symbol_ref(L, 1, trace->builder, &t);
  if (status == SIM_OK) status = sim_curve_build(c->point, c->count, c->flat, trace->builder, t, &out);
  if (status != SIM_OK) return luaL_error(L, "%s", sim_error_last()->message);
  scenario_symbol_push_result(L, trace->builder, out);
  return 1;
}

bool scenario_is_curve(lua_State *L, int index) { return lua_tocfunction(L, index) == call; }

static double number_at(lua_State *L, int table, int point, int i) {
  int type = lua_rawgeti(L, table, i);
  double number = lua_tonumber(L, -1);
  if (type != LUA_TNUMBER || !isfinite(number))
    luaL_error(L, "sim.curve: point %d: expected {t, value}, two finite numbers", point);
  lua_pop(L, 1);
  return number;
}

/* Reads the key `between`, and refuses other keys. */
static bool is_flat(lua_State *L, lua_Integer count) {
  bool flat = false;
  for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1)) {
    if (lua_isinteger(L, -2) && lua_tointeger(L, -2) >= 1 && lua_tointeger(L, -2) <= count) continue;
    const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "";
    const char *word = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "";
    if (strcmp(key, "between") != 0) luaL_error(L, "sim.curve: expected points {t, value}, and between = \"flat\"");
    flat = strcmp(word, "flat") == 0;
    if (!flat && strcmp(word, "linear") != 0) luaL_error(L, "sim.curve: between: expected \"linear\" or \"flat\"");
  }
  return flat;
}

int scenario_curve(lua_State *L) {
  if (lua_gettop(L) != 1 || lua_type(L, 1) != LUA_TTABLE)
    return luaL_error(L, "sim.curve expects a table { {t, value}, ... }");
  const lua_Integer count = (lua_Integer)lua_rawlen(L, 1);
  if (count < 1 || count > SIM_CURVE_MOST)
    return luaL_error(L, "sim.curve: expected 1 to %d points {t, value}, got %d", SIM_CURVE_MOST, (int)count);
  curve *c = lua_newuserdatauv(L, sizeof *c + (size_t)count * sizeof *c->point, 0);
  *c = (curve){.flat = is_flat(L, count), .count = (int)count};
  for (int i = 0; i < c->count; i++) {
    if (lua_rawgeti(L, 1, i + 1) != LUA_TTABLE || lua_rawlen(L, -1) != 2)
      return luaL_error(L, "sim.curve: point %d: expected {t, value}, two finite numbers", i + 1);
    const int table = lua_gettop(L);
    c->point[i] = (sim_curve_point){number_at(L, table, i + 1, 1), number_at(L, table, i + 1, 2)};
    if (i > 0 && !(c->point[i].t > c->point[i - 1].t))
      return luaL_error(L, "sim.curve: point %d: expected a time after that of point %d", i + 1, i);
    lua_pop(L, 1);
  }
  lua_pushcclosure(L, call, 1);
  return 1;
}
