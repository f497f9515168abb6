/* Functions that are refused: each with its message, and no way around the limits. */
#include "trace_testing.h"

#define BIG "local s = x; for i = 1, 20000 do s = math.sin(s) + i end return s"
#define UNEQUAL "a symbol cannot be compared by == or ~=: use sim.where with sim.eq or sim.ne"
#define UNSEEN                                                                                                         \
  "if, and, or, not of Lua cannot see a symbol: use sim.where with sim.ne(x, 0); x == nil asks whether it is there"
#define UNSEEN_CONDITION                                                                                               \
  "if, and, or, not of Lua cannot see a condition of symbols: use sim.where, sim.all, sim.any, sim.none"
#define KEY "a symbol cannot be a key of a table: its value is not known when the function is read; use sim.where"
#define NO_LENGTH "a symbol has no length, its items are not known when the function is read: write for i = 1, n"
#define WHOLE "whether a symbol is an integer is not known when the function is read"
#define SHARED                                                                                                         \
  "changes a variable or table outside of it, which other functions may read: use a local, and return what is to be "  \
  "known"
static const struct {
  const char *field, *message; /* after "s.lua:" */
} wrong[] = {
    {"f = function(x, q) return x end", "2: f: unknown input 'q', expected x, y, z, t"},
    {"f = function(xx) return xx end", "2: f: unknown input 'xx', nearest is 'x', expected x, y, z, t"},
    {"pair = function(r) return r end", "2: pair: unknown input 'r', nearest is 'r2', expected r2"},
    {"f = function(x, y) return x, y end",
     "2: f: expected 1 or 3 results (a potential, or the acceleration by x, y and z), got 2"},
    {"f = function(x) end", "2: f: expected 1 or 3 results (a potential, or the acceleration by x, y and z), got 0"},
    {"pair = function(r2) return r2, r2 end", "2: pair: expected 1 result, got 2"},
    {"f = function(x) return 'x' end", "2: f: result 1 is a string, expected a number"},
    {"f = function(x) return x, nil, x end", "2: f: result 2 is nil, expected a number"},
    {"f = function(x) return { x } end", "2: f: result 1 is a table, expected a number"},
    {"f = function(x) return math.sin end", "2: f: result 1 is a function, expected a number"},
    {"f = function(x) return true end",
     "2: f: result 1 is a condition, expected a number: sim.where(condition, 1, 0) makes one"},
    {"f = function(x) return sim.lt(x, 0) end",
     "2: f: result 1 is a condition, expected a number: sim.where(condition, 1, 0) makes one"},
    {"stop = function(t) return t end",
     "2: stop: result 1 is a number, expected a condition of sim.lt, sim.le, sim.gt, sim.ge, sim.all, sim.any, ..."},
    {"pair = function(r2) return 3 end", "2: pair: the result does not depend on r2"},
    {"f = function(x) return 0/0 end", "2: f: result 1 is always NaN"},
    {"f = function(x) return 0/0 * x end", "2: f: result 1 is always NaN"},
    {"f = function(x)\nreturn x, sim.where(sim.lt(x, 0), 0/0, math.sin(x + 0/0)), 1 end",
     "2: f: result 2 is always NaN"},
    {"f = 3", "2: f: expected function(x, y, z, t), got 3"},
    {"f = 'x'", "2: f: expected function(x, y, z, t), got the string \"x\""},
    {"f = { function(x) return x end }", "2: f: expected function(x, y, z, t), got a list of 1"},
    {"f = true", "2: f: expected function(x, y, z, t), got true"},
    {"f = math.sin", "2: f: a function of Lua itself, write function(x) return math.sin(x) end"},
    {"f = function(...) return 1 end", "2: f: takes any number of arguments (...), its inputs need names"},
    {"number = 'x'", "2: number: expected a number or function(x, y, z, t), got the string \"x\""},
    {"number = 0/0", "2: number: expected a finite number or a function, got "},
    {"real = function(x) return x end", "2: real: expected a number, got a function"},
    {"reel = function(x) return x end", "2: reel: unknown key, nearest is 'real'"},
    {"f = function(x)\nif x < 0 then return 0 end\nreturn x end",
     "3: f: a symbol cannot be compared by < or >: use sim.where with sim.lt or sim.gt"},
    {"f = function(x)\nreturn x >= 1 and x or 0 end",
     "3: f: a symbol cannot be compared by <= or >=: use sim.where with sim.le or sim.ge"},
    {"f = function(x, y)\nreturn x == y and x or 0 end",
     "3: f: a symbol cannot be compared by == or ~=: use sim.where with sim.eq or sim.ne"},
    {"f = function(x)\nif sim.lt(x, 0) then return 0 end\nreturn x end", "3: f: " UNSEEN_CONDITION},
    {"f = function(x)\nlocal p = sim.lt(x, 0)\nreturn p and x or 0 end", "4: f: " UNSEEN_CONDITION},
    {"f = function(x)\nreturn sim.where(not sim.lt(x, 0), x, 1) end", "3: f: " UNSEEN_CONDITION},
    {"f = function(x)\nlocal p = sim.lt(x, 0)\nreturn x end", "3: f: nothing is computed of this condition"},
    {"f = function(x)\nlocal p = sim.lt(x, 0)\nlocal y = sim.where(p, 1, 2)\nif p\nthen y = 3 end return y end",
     "5: f: " UNSEEN_CONDITION},
    {"f = function(x)\nif x == 0 then return 1 end return x end", "3: f: " UNEQUAL},
    {"f = function(x)\nif 1 +\n1 ~= x then return 1 end return x end", "4: f: " UNEQUAL},
    {"f = function(x, y) return sim.where(x + y == 0, 1, x) end", "2: f: " UNEQUAL},
    {"f = function(x) local p = sim.lt(x, 1) return sim.where(p == true, 1, x) end", "2: f: " UNEQUAL},
    {"f = function(x) return rawequal(x, 0) and 1 or x end", "2: f: " UNEQUAL},
    {"f = function(x)\nif\nx\nthen return 1 end return x end", "4: f: " UNSEEN},
    {"f = function(x)\nlocal i = 1 if i > 2 then elseif x^2 then i = 2 end return x end", "3: f: " UNSEEN},
    {"f = function(x)\nwhile x\ndo x = x + 1 end return x end", "3: f: " UNSEEN},
    {"f = function(x)\nrepeat local y = x + 1 until y x = x + 1 return x end", "3: f: " UNSEEN},
    {"f = function(x)\nrepeat until x return x end", "3: f: " UNSEEN},
    {"f = function(x)\nrepeat until x; return x end", "3: f: " UNSEEN},
    {"f = function(x)\nrepeat until (x) ::l:: return x end", "3: f: " UNSEEN},
    {"f = function(x) local function g(...)\nrepeat until ... return 2 end return g(x) * x end", "3: f: " UNSEEN},
    {"f = function(x) local function g(...)\nrepeat until ...; return 2 end return g(x) * x end", "3: f: " UNSEEN},
    {"f = function(x) local function g(...)\nif ... then return 2 end end return g(x) * x end", "3: f: " UNSEEN},
    {"f = function(x)\nlocal a = 'b' repeat until a .. 'c' == 'bc' and x return x end", "3: f: " UNSEEN},
    {"f = function(x) local t = { 1 }\nreturn (t[x] or 3) * x end", "3: f: " KEY},
    {"f = function(x) local t = { 1 }\nreturn (t[1 + x] or 3) * x end", "3: f: " KEY},
    {"f = function(x) local t = { 1 }\nreturn (t[sim.lt(1, 2) and x or 1] or 3) * x end", "3: f: " UNSEEN},
    {"f = function(x) local t = { 1 }\nreturn (t[(true and x or 1)] or 3) * x end", "3: f: " KEY},
    {"f = function(x)\nlocal t = { [x] = 1 } return x end", "3: f: " KEY},
    {"f = function(x) local t = {}\nt[x] = 1 return x end", "3: f: " KEY},
    {"f = function(x) local t = {}\nrawset(t, x, 1) return x end", "3: f: " KEY},
    {"f = function(x)\nreturn rawget({ 1 }, x) or x end", "3: f: " KEY},
    {"f = function(x)\nif math.type(x) == 'integer' then return 1 end return x end", "3: f: " WHOLE},
    {"f = function(x)\nreturn math.tointeger(x) or 1 end", "3: f: " WHOLE},
    {"f = function(x)\nlocal ok = pcall(utf8.char, x) return ok and 1 or x end",
     "3: f: pcall hides an error in a function that is compiled: bad argument #1 to 'utf8.char' (number expected, got "
     "symbol)"},
    {"f = function(x)\nlocal ok = pcall(function() error('no') end) return x end",
     "3: f: pcall hides an error in a function that is compiled: no"},
    {"f = function(x) return tonumber(x, 10) end",
     "2: f: tonumber takes a symbol that is a number, and no base beside it"},
    {"f = function(x) return tonumber(sim.lt(x, 1)) or x end",
     "2: f: tonumber takes a symbol that is a number, and no base beside it"},
    {"body = function(b) if type(b) == 'number' then return b.x end return 1 end",
     "2: body: a symbol that type() or tonumber() was asked about is a number: it has no members"},
    {"body = function(b) return b.charge ~= nil and b.x or 1 end",
     "2: body: unknown input 'charge', expected mass, x, vx"},
    {"body = function(b) if nil == b.charge then return b.x end return 1 end",
     "2: body: unknown input 'charge', expected mass, x, vx"},
    {"f = function(x)\nmath.max = math.min return math.max(x, 1) end", "3: f: 'math.max' cannot be assigned"},
    {"f = function(x)\nsim.where = 3 return x end", "3: f: 'sim.where' cannot be assigned"},
    {"f = function(x)\nmath = { sin = math.cos } return math.sin(x) end",
     "3: f: 'math' cannot be assigned, write 'local math = ...' for one of your own"},
    {"f = function(x)\nrawset(math, 'sin', math.cos) return math.sin(x) end", "3: f: cannot change a protected table"},
    {"f = (function() local a = 1\nreturn function(x) a = 2 return x end end)()", "3: f: " SHARED},
    {"f = (function() local t = { 1 }\nreturn function(x) t[1] = 2 return x end end)()", "3: f: " SHARED},
    {"f = (function() local t = { a = {} } local function g() t.a.b = 'c' end\n"
     "return function(x) g() return x end end)()",
     "3: f: " SHARED},
    {"f = (function() local t = { function() end }\nreturn function(x) t[1] = math.sin return x end end)()",
     "3: f: " SHARED},
    {"f = function(x) local t = setmetatable({}, { __lt = function() return sim.lt(x, 1) end })\n"
     "if t < t then return 1 end return x end",
     "3: f: " UNSEEN_CONDITION},
    {"f = function(x) local t = setmetatable({}, { __le = function() return x end })\n"
     "if t <= t then return 1 end return x end",
     "3: f: " UNSEEN},
    {"f = function(x) local m = { __eq = function() return x end }\n"
     "if setmetatable({}, m) == setmetatable({}, m) then return 1 end return x end",
     "3: f: " UNSEEN},
    {"f = (function() local m = {} local a = setmetatable({}, m) m.__lt = function(p, q) return q end\n"
     "return function(x) if a < x then return 1 end return x end end)()",
     "3: f: " UNSEEN},
    {"f = function(x) local m = {} local a = setmetatable({}, m) m.__lt = function(p, q) return q end\n"
     "if a < x then return 1 end return x end",
     "2: f: __lt, __le or __eq is set where it cannot be checked: set it before setmetatable"},
    {"f = function(x) return not x and 1 or 2 end", "2: f: " UNSEEN},
    {"f = function(x) return not not -x ^ 2 and 1 or 2 end", "2: f: " UNSEEN},
    {"f = function(x, y)\nreturn x\nand y end", "3: f: " UNSEEN},
    {"f = function(x, y)\nreturn 2 * (x\nor y) end", "3: f: " UNSEEN},
    {"f = function(x, y)\nlocal t = { 1 == 1 and x and y } return t[1] end", "3: f: " UNSEEN},
    {"f = function(x, y) return ((function() return x end)() or y) end", "2: f: " UNSEEN},
    {"f = function(x) return 1 == 1 and sim.lt(x, 0) or x end", "2: f: " UNSEEN_CONDITION},
    {"f = function(x) local p = sim.lt(x, 0) assert(p) return sim.where(p, 1, x) end", "2: f: " UNSEEN_CONDITION},
    {"f = function(x) local t = { x, 1, 2 } table.sort(t, function(a, b)\nlocal p = sim.lt(a, b) x = sim.where(p, a, "
     "b)\n"
     "return p end) return x end",
     "2: f: " UNSEEN_CONDITION},
    {"f = (function()\nlocal function g(v) return not v end\nreturn function(x) return g(x) and 1 or x end end)()",
     "3: f: " UNSEEN},
    {"f = function(x)\nlocal ok = pcall(function() return x or 1 end)\nreturn x end", "3: f: " UNSEEN},
    {"f = function(x)\nreturn tostring(x) end",
     "3: f: a symbol has no text: its value is not known when the function is read"},
    {"f = function(x)\nreturn 'x' .. x end",
     "3: f: a symbol has no text: its value is not known when the function is read"},
    {"f = function(x)\nreturn string.format('%g', x) end", "3: f: a symbol has no text"},
    {"f = function(x) return #x end", "2: f: a symbol has no length"},
    {"f = function(x) return x(1) end", "2: f: a symbol cannot be called"},
    {"f = function(x) x.y = 1 return x end", "2: f: a member of a symbol cannot be assigned"},
    {"f = function(x) return x | 1 end", "2: f: a symbol has no bits: sim.all, sim.any and sim.none join conditions"},
    {"f = function(x) for k in pairs(x) do end return x end", "2: f: " NO_LENGTH},
    {"f = function(x) for i = 1, x do end return x end", "2: f: bad 'for' limit (number expected, got symbol)"},
    {"f = function(x) return x + 'a' end", "2: f: '+': argument 2 is a string, expected a number"},
    {"f = function(x) return nil * x end", "2: f: '*': argument 1 is nil, expected a number"},
    {"f = function(x) return x + sim.lt(x, 1) end",
     "2: f: '+': argument 2 is a condition, expected a number (sim.where(condition, 1, 0) makes one)"},
    {"f = function(x) return sim.where(x, 1, 2) end",
     "2: f: sim.where: argument 1 is a number, expected a condition (sim.lt, sim.le, sim.eq, sim.all, ... give one)"},
    {"f = function(x) return sim.max(x, {}) end", "2: f: sim.max: argument 2 is a table, expected a number"},
    {"f = function(x) return sim.clamp(x, 1) end", "2: f: sim.clamp: 2 arguments, expected 3"},
    {"f = function(x) return math.sin(x, 1) end", "2: f: math.sin: 2 arguments, expected 1"},
    {"f = function(x) return math.modf(x) end", "2: f: math.modf takes no symbol: write x % 1 and x - x % 1"},
    {"f = function(x) return math.sine(x) end", "2: f: undefined name 'math.sine', nearest is 'math.sin'"},
    {"f = function(x) return math.random() end",
     "2: f: 'math.random' is not available in a scenario; sim.uniform and sim.normal are"},
    {"f = function(x) return x + sim.uniform(1) end",
     "2: f: sim.uniform cannot stand in a function that is compiled: it would be the same number for every entity"},
    {"f = function(x) return x + sim.param('a', 1) end",
     "2: f: sim.param cannot stand in a function that is compiled: read it into a local before"},
    {"f = function(x)\nlocal a\nlocal b = a.c\nreturn x end", "4: f: attempt to index a nil value (local 'a')"},
    {"f = function(x) error('no') end", "2: f: no"},
    {"f = function(x)\nlocal ok, e = pcall(function() return x < 1 end)\nerror(e) end",
     "4: f: line 3: a symbol cannot be compared"},
    {"f = function(x) return math.sinh(x) end", "2: f: undefined name 'math.sinh': write sim.sinh"},
    {"f = function(x) return math.pow(x, 2) end", "2: f: undefined name 'math.pow': write x^y"},
    {"f = function(x) return math.hypot(x, 2) end", "2: f: undefined name 'math.hypot': write sim.hypot"},
    {"f = function(x) return math.erf(x) end", "2: f: undefined name 'math.erf': write sim.erf"},
    {"f = function(x) return sqrt(x) end", "2: f: undefined name 'sqrt': write math.sqrt"},
    {"f = function(x) return sim.pi * x end", "2: f: undefined name 'sim.pi': write math.pi"},
    {"f = function(x) return math.gamma(x) end",
     "2: f: undefined name 'math.gamma': there is none: write a formula of your own"},
    {"f = function(x) return gamma * x end", "2: f: undefined name 'gamma'\n"},
    {"f = function(x) for _, v in ipairs(x) do end return x end", "2: f: " NO_LENGTH},
    {"f = function(x) return #x end", "2: f: " NO_LENGTH},
    {"f = (function()\nlocal function below(x)\nreturn x < 1 end\nlocal function less(x)\nlocal y = below(x) return y "
     "end\nreturn function(x)\nlocal y = less(x)\nreturn y end end)()",
     "4: f: a symbol cannot be compared by < or >: use sim.where with sim.lt or sim.gt (called from line 6, 8)\n"},
    {"f = (function()\nlocal function less(x)\nreturn x < 1 end\nreturn function(x)\nreturn less(x) end end)()",
     "4: f: a symbol cannot be compared by < or >: use sim.where with sim.lt or sim.gt (called from the function at "
     "line "
     "5)\n"},
    {"f = (function()\nlocal function below(x)\nlocal y = x < 1 return y end\nlocal function less(x)\nlocal y = "
     "below(x)\nreturn y end\nreturn function(x)\nreturn less(x) end end)()",
     "4: f: a symbol cannot be compared by < or >: use sim.where with sim.lt or sim.gt (called from line 6, the "
     "function "
     "at line 8)\n"},
    {"f = (function()\nlocal function other(a)\nreturn a.foo end\nreturn function(x)\nreturn other(x) end end)()",
     "4: f: takes the member 'foo' of its parameter, expected function(x, y, z, t)\n"},
    {"f = function(x) pcall(function() error({}) end) return x end",
     "2: f: pcall hides an error in a function that is compiled: its error object is a table"},
    {"f = function(x) pcall(error) return x end",
     "2: f: pcall hides an error in a function that is compiled: its error object is nil"},
    {"observe = { ['end'] = function(b) return b.x end }",
     "2: observe.end: expected a name of letters, digits and _, at most 64, no digit first, and no word of Lua"},
    {"f = function(x) " BIG " end", "2: f: the function has more than 16384 operations"},
    {"f = (function() local n = 0; return function(x) n = n + 1 return n * x end end)()",
     "2: f: gives another formula when it is called again: its result may depend on its inputs alone"},
    {"f = (function() local kept; return function(x) if kept == nil then kept = x end return kept * x end end)()",
     "2: f: a symbol of another function, kept in a variable outside of it"},
    {"f = (function() local function g(x) return 1 + g(x) end return g end)()", "2: f: stack overflow"},
    {"f = function(x) return x.mass end",
     "2: f: takes the member 'mass' of its parameter, expected function(x, y, z, t)"},
    {"body = function(mass) return mass end",
     "2: body: takes its parameter as a number, expected members of it: body.mass"},
    {"body = function(b, t) return b.mass * t end", "2: body: takes 2 parameters, expected function(body)"},
    {"body = function(b) return b.mss end", "2: body: unknown input 'mss', nearest is 'mass', expected mass, x, vx"},
    {"body = function(b) return b['a b'] end", "2: body: a symbol has no member 'a b'"},
    {"body = function(b) return b[1.5] end", "2: body: a member of a symbol has a name or an integer, got a number"},
    {"body = function(b) return (b.x + 1).y end", "2: body: what was computed of symbols has no members"},
    {"observe = function(b) return b.x end", "2: observe: expected a table of names with functions, got a function"},
    {"observe = { function(b) return b.x end }",
     "2: observe: expected a table of names with functions, got a list of 1"},
    {"observe = { ['a b'] = function(b) return b.x end }",
     "2: observe.a b: expected a name of letters, digits and _, at most 64, no digit first"},
    {"observe = { a = { function(b) return b.x end, reduce = 'mode' } }",
     "2: observe.a.reduce: expected one of \"sum\", \"mean\", \"min\", \"max\", got the string \"mode\""},
    {"observe = { a = { function(b) return b.x end, redcue = 'sum' } }",
     "2: observe.a.redcue: unknown key, expected { function, reduce = ... }"},
    {"observe = { a = { reduce = 'sum' } }", "2: observe.a: expected { function, reduce = ... }, got no function"},
    {"observe = { a = 1 }", "2: observe.a: expected function(body), got 1"},
    {"observe = { a = function(b) return b.x, b.x end }", "2: observe.a: expected 1 result, got 2"},
};

static void wrong_functions_are_told(void **state) {
  (void)state;
  int failed = 0;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    char text[600], expected[400];
    scenario loaded;
    parameters out = {0};
    sim_faults faults = {.file = "s.lua"};
    snprintf(text, sizeof text, "return sim.model {\n%s\n}", wrong[i].field);
    snprintf(expected, sizeof expected, "s.lua:%s", wrong[i].message);
    load_good(text, &loaded);
    assert_int_equal(sim_schema_decode(&schema, loaded.value, &no_units, &out, &faults), SIM_OK);
    if (faults.count != 1 || strncmp(faults.text.data, expected, strlen(expected)) != 0) {
      print_error("%s:\n%sexpected\n%s\n", wrong[i].field, faults.count ? faults.text.data : "", expected);
      failed++;
    }
    scenario_free(&loaded);
    sim_schema_free(&schema, &out);
    sim_faults_free(&faults);
  }
  assert_int_equal(failed, 0);
}

static void all_faults_are_told_at_once(void **state) {
  (void)state;
  scenario loaded;
  parameters out = {0};
  sim_faults faults = {.file = "s.lua"};
  load_good("return sim.model {\n"
            "  f = function(x) return x < 1 end,\n"
            "  pair = function(r) return 1 end,\n"
            "  real = 'x',\n"
            "}",
            &loaded);
  assert_int_equal(sim_schema_decode(&schema, loaded.value, &no_units, &out, &faults), SIM_OK);
  assert_int_equal(faults.count, 3);
  scenario_free(&loaded);
  sim_schema_free(&schema, &out);
  sim_faults_free(&faults);
}

/* ---- limits ---- */

static void limits_hold_in_traced_functions(void **state) {
  (void)state;
  static const char *const endless[][2] = {
      {"while true do end", "the script "},
      {"pcall(function() while true do end end) return x", "the script "},
      {"local t = {} for i = 1, 1e9 do t[i] = ('x'):rep(1000) .. i end return x", "the script used more than "},
      {"local s = x while true do s = sim.min(s, x) end", "the script "},
      {"while true do local c = sim.lt(x, 0) end", ""},
  };
  for (size_t i = 0; i < sizeof endless / sizeof *endless; i++) {
    char text[400];
    scenario loaded;
    const scenario_options options = {models, models, NULL, 0.5, (size_t)64 << 20};
    snprintf(text, sizeof text, "return sim.model {\nf = function(x)\n%s\nend }", endless[i][0]);
    FILE *file = fopen("s.lua", "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    sim_status status = scenario_load("s.lua", &options, &loaded);
    if (i == 4) { /* this one is a fault of the function, or the time is over */
      assert_true(status == SIM_OK || status == SIM_ERR_SCENARIO);
      if (status == SIM_OK) assert_non_null(sim_value_get(loaded.value, "f")->u.function.fault);
    } else {
      assert_int_equal(status, SIM_ERR_SCENARIO);
      if (!strstr(sim_error_last()->message, endless[i][1])) fail_msg("%s", sim_error_last()->message);
    }
    scenario_free(&loaded);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(wrong_functions_are_told),
      cmocka_unit_test(all_faults_are_told_at_once),
      cmocka_unit_test(limits_hold_in_traced_functions),
  };
  return cmocka_run_group_tests(tests, in_folder, leave_folder);
}
