/* sim.calendar { today = "2026-03-02" }: times in years, computed from dates. */
#include "lua/dates/date.h"
#include "lua/internal.h"

#include <lauxlib.h>

#include <string.h>

typedef struct calendar {
  int64_t today;
  scenario_day_count count;
  scenario_roll roll;
  size_t holidays;
  int64_t holiday[];
} calendar;

static const calendar *calendar_of(lua_State *L) { return lua_touserdata(L, lua_upvalueindex(1)); }

static scenario_holidays holidays_of(const calendar *c) { return (scenario_holidays){c->holidays, c->holiday}; }

/* Reads the day from the string at `index`. */
static int64_t day_at(lua_State *L, int index, const char *what) {
  size_t size = 0;
  int64_t day;
  const char *text = lua_type(L, index) == LUA_TSTRING ? lua_tolstring(L, index, &size) : NULL;
  if (text == NULL)
    luaL_error(L, "%s: expected a date such as \"2026-03-02\", got %s", what,
               lua_isnil(L, index) ? "none" : luaL_typename(L, index));
  else if (!scenario_date_read(text, size, &day))
    luaL_error(L, "%s: expected a date of 1900 to 2199 such as \"2026-03-02\", got \"%s\"", what, text);
  return day;
}

static scenario_period period_at(lua_State *L, int index, const char *what) {
  size_t size = 0;
  scenario_period period = {0};
  const char *text = lua_type(L, index) == LUA_TSTRING ? lua_tolstring(L, index, &size) : NULL;
  if (text == NULL || !scenario_period_read(text, size, &period))
    luaL_error(L, "%s: expected a period such as \"3M\" (D, B: business days, W, M, Y), got %s", what,
               text != NULL ? text : luaL_typename(L, index));
  return period;
}

static int64_t added(lua_State *L, const calendar *c, int64_t day, scenario_period period, int64_t times,
                     const char *what) {
  const scenario_holidays holidays = holidays_of(c);
  const int64_t out = scenario_add_period(&holidays, day, period, times);
  if (out == INT64_MIN) luaL_error(L, "%s: the dates leave the years 1900 to 2199", what);
  return out;
}

static int64_t rolled(const calendar *c, int64_t day) {
  const scenario_holidays holidays = holidays_of(c);
  return scenario_roll_day(&holidays, c->roll, day);
}

static void push_date(lua_State *L, int64_t day) {
  char text[SCENARIO_DATE_TEXT];
  scenario_date_write(day, text);
  lua_pushstring(L, text);
}

/* ---- the functions of a calendar ---- */

static void push_time(lua_State *L, int index) {
  const calendar *c = calendar_of(L);
  const int64_t day = rolled(c, day_at(L, index, "calendar.time"));
  if (day < c->today) {
    push_date(L, c->today);
    luaL_error(L, "calendar.time: %s lies before today, %s", lua_tostring(L, index), lua_tostring(L, -1));
  }
  lua_pushnumber(L, scenario_year_fraction(c->count, c->today, day));
}

/* Raises an error unless there are `least` to `most` arguments. */
static void check_count(lua_State *L, int least, int most, const char *what) {
  if (lua_gettop(L) < least || lua_gettop(L) > most) luaL_error(L, "%s", what);
}

/* calendar.time: converts a date, or each date of a list, to years from today. */
static int time_of(lua_State *L) {
  check_count(L, 1, 1, "calendar.time expects one date or a list of dates");
  if (lua_type(L, 1) != LUA_TTABLE) {
    push_time(L, 1);
    return 1;
  }
  const lua_Integer count = (lua_Integer)lua_rawlen(L, 1);
  lua_createtable(L, (int)count, 0);
  for (lua_Integer i = 1; i <= count; i++) {
    lua_rawgeti(L, 1, i);
    push_time(L, lua_gettop(L));
    lua_rawseti(L, 2, i);
    lua_settop(L, 2);
  }
  return 1;
}

/* calendar.date: returns a date, or the date a period later, rolled to a business day. */
static int date_of(lua_State *L) {
  const calendar *c = calendar_of(L);
  check_count(L, 1, 2, "calendar.date expects a date, and perhaps a period such as \"3M\"");
  int64_t day = day_at(L, 1, "calendar.date");
  if (lua_gettop(L) == 2) day = added(L, c, day, period_at(L, 2, "calendar.date"), 1, "calendar.date");
  push_date(L, rolled(c, day));
  return 1;
}

/* calendar.fraction: returns the years from one date to another, which are not rolled. */
static int fraction_of(lua_State *L) {
  check_count(L, 2, 2, "calendar.fraction expects two dates");
  const int64_t from = day_at(L, 1, "calendar.fraction"), to = day_at(L, 2, "calendar.fraction");
  lua_pushnumber(L, scenario_year_fraction(calendar_of(L)->count, from, to));
  return 1;
}

/* Refuses keys that are not among `names`. */
static void check_keys(lua_State *L, const char *what, const char *const *names) {
  if (lua_gettop(L) != 1 || lua_type(L, 1) != LUA_TTABLE) luaL_error(L, "%s expects a table of keys", what);
  for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1)) {
    const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "without a name";
    bool known = false;
    for (const char *const *name = names; *name != NULL; name++) known |= strcmp(key, *name) == 0;
    if (!known) luaL_error(L, "%s: unknown key %s", what, key);
  }
}

static int64_t day_of_key(lua_State *L, const char *key, const char *what) {
  lua_getfield(L, 1, key);
  const int64_t day = day_at(L, -1, what);
  lua_pop(L, 1);
  return day;
}

/* calendar.dates: returns two lists of business days, those after today and those until today. */
static int dates_of(lua_State *L) {
  static const char *const keys[] = {"from", "to", "every", NULL};
  const calendar *c = calendar_of(L);
  check_keys(L, "calendar.dates", keys);
  const int64_t from = day_of_key(L, "from", "calendar.dates: from"), to = day_of_key(L, "to", "calendar.dates: to");
  lua_getfield(L, 1, "every");
  const scenario_period every = period_at(L, -1, "calendar.dates: every");
  if (every.number < 1) return luaL_error(L, "calendar.dates: every: expected a period of at least one day");
  if (to <= from) return luaL_error(L, "calendar.dates: to: expected a date after from");
  lua_newtable(L);
  lua_newtable(L);
  const int lists = lua_gettop(L) - 1;
  int64_t before = INT64_MIN;
  for (int64_t n = 1, day = from; day < to; n++) {
    day = added(L, c, from, every, n, "calendar.dates");
    if (day > to) day = to;
    const int64_t on = rolled(c, day);
    if (on == before) continue;
    before = on;
    const int list = on > c->today ? lists : lists + 1;
    push_date(L, on);
    lua_rawseti(L, list, (lua_Integer)lua_rawlen(L, list) + 1);
  }
  return 2;
}

/* ---- create ---- */

/* Returns the index of a key's value in `names`; 0 if the key is absent. */
static int choice(lua_State *L, const char *key, const char *const *names) {
  int which = 0;
  if (lua_getfield(L, 1, key) != LUA_TNIL) {
    const char *text = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "";
    while (names[which] != NULL && strcmp(names[which], text) != 0) which++;
    if (names[which] == NULL) {
      luaL_Buffer all;
      luaL_buffinit(L, &all);
      for (int k = 0; names[k] != NULL; k++) {
        luaL_addstring(&all, k == 0 ? "" : names[k + 1] == NULL ? " or " : ", ");
        luaL_addstring(&all, names[k]);
      }
      luaL_pushresult(&all);
      luaL_error(L, "sim.calendar: %s: expected %s", key, lua_tostring(L, -1));
    }
  }
  lua_pop(L, 1);
  return which;
}

int scenario_calendar(lua_State *L) {
  enum { HOLIDAYS_MOST = 100000 };
  static const char *const keys[] = {"today", "count", "holidays", "roll", NULL};
  static const luaL_Reg functions[] = {
      {"time", time_of}, {"date", date_of}, {"dates", dates_of}, {"fraction", fraction_of}, {NULL, NULL}};
  check_keys(L, "sim.calendar", keys);
  const int64_t today = day_of_key(L, "today", "sim.calendar: today");
  const int count = choice(L, "count", scenario_day_count_names), roll = choice(L, "roll", scenario_roll_names);
  const int type = lua_getfield(L, 1, "holidays");
  if (type != LUA_TNIL && type != LUA_TTABLE)
    return luaL_error(L, "sim.calendar: holidays: expected a list of dates, got a %s", luaL_typename(L, -1));
  const size_t holidays = type == LUA_TTABLE ? lua_rawlen(L, -1) : 0;
  const int list = lua_gettop(L);
  if (holidays > HOLIDAYS_MOST)
    return luaL_error(L, "sim.calendar: holidays: expected at most %d dates", (int)HOLIDAYS_MOST);
  calendar *c = lua_newuserdatauv(L, sizeof *c + holidays * sizeof *c->holiday, 0);
  *c = (calendar){today, (scenario_day_count)count, (scenario_roll)roll, holidays};
  for (size_t i = 0; i < holidays; i++) {
    lua_rawgeti(L, list, (lua_Integer)i + 1);
    c->holiday[i] = day_at(L, -1, "sim.calendar: holidays");
    lua_pop(L, 1);
  }
  scenario_sort_days(c->holiday, holidays);
  luaL_newlibtable(L, functions);
  lua_pushvalue(L, -2);
  luaL_setfuncs(L, functions, 1);
  scenario_sandbox_seal(L, "calendar.");
  return 1;
}
