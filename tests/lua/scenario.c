/* The scenario language: the results of good files. Bad and hostile files end with one line, in time and within their
 * memory. */
#include "engine/rng.h"
#include "lua/scenario.h"

#include "engine/log.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/sanitized.h"

static const char *const constructors[] = {"nbody", "plummer", "hernquist", "each", NULL};
static const char *const models[] = {"nbody", NULL};
static const char *const no_sets[] = {NULL};
static char folder[] = "/tmp/sim_scenario_XXXXXX";
static char printed[65536];

static void remember(void *context, sim_log_level level, const char *message) {
  (void)context;
  (void)level;
  size_t used = strlen(printed);
  snprintf(printed + used, sizeof printed - used, "%s\n", message);
}

static void write_file(const char *name, const void *text, size_t size) {
  FILE *file = fopen(name, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(text, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
}

static sim_status load_size(const char *text, size_t size, const char *const *sets, double seconds, scenario *out) {
  scenario_options options = {constructors, models, sets, seconds, (size_t)64 << 20};
  write_file("s.lua", text, size);
  sim_error_clear();
  return scenario_load("s.lua", &options, out);
}

static void load_good(const char *text, const char *const *sets, scenario *out) {
  sim_status status = load_size(text, strlen(text), sets, 60, out);
  if (status != SIM_OK) fail_msg("%s", sim_error_last()->message);
}

static void expect_message(const char *text) {
  if (!strstr(sim_error_last()->message, text)) fail_msg("expected \"%s\" in \"%s\"", text, sim_error_last()->message);
}

static void refuse_with(const char *text, const char *const *sets, sim_status status, const char *message) {
  scenario loaded;
  sim_status got = load_size(text, strlen(text), sets, 60, &loaded);
  if (got != status) fail_msg("%s: %s: %s", text, sim_status_name(got), sim_error_last()->message);
  expect_message(message);
  scenario_free(&loaded);
}

static void refuse(const char *text, const char *message) { refuse_with(text, no_sets, SIM_ERR_SCENARIO, message); }

static const sim_value *get(const sim_value *table, const char *key) {
  const sim_value *value = sim_value_get(table, key);
  if (!value) fail_msg("no key %s", key);
  return value;
}

static void expect_real(const sim_value *value, double real) {
  assert_int_equal(value->kind, SIM_VALUE_REAL);
  assert_true(value->u.real == real); /* exact: numbers are not changed */
}

static void expect_int(const sim_value *value, int64_t integer) {
  assert_int_equal(value->kind, SIM_VALUE_INT);
  assert_true(value->u.integer == integer);
}

static void expect_function(const sim_value *value) { assert_int_equal(value->kind, SIM_VALUE_FUNCTION); }

static void expect_bad(const sim_value *value, const char *what) {
  assert_int_equal(value->kind, SIM_VALUE_BAD);
  assert_string_equal(value->u.string.data, what);
}

static const char galaxy[] = "-- Two galaxies.\n"
                             "local n = sim.param(\"n\", 8192, \"stars\")\n"
                             "local second = sim.plummer {\n"
                             "  n = n,\n"
                             "  mass = 1/3 }\n"
                             "return sim.nbody {\n"
                             "  bodies = {\n"
                             "    sim.plummer { n = n, mass = 1,\n"
                             "      position = {-4, 1, 0} },\n"
                             "    second,\n"
                             "  },\n"
                             "  [\"title\"] = \"a\\0b\", --[==[ { n = 1, n = 2 } ]==]\n"
                             "  gravity = { G = 1, softening = 0x10p-4 },\n"
                             "}\n";

static void check_galaxy(const scenario *loaded) {
  const sim_value *root = loaded->value;
  assert_string_equal(root->u.table.tag, "nbody");
  assert_int_equal(root->line, 6);
  assert_int_equal(root->u.table.count, 3);
  /* named entries by line */
  assert_string_equal(root->u.table.entries[0].key, "bodies");
  assert_string_equal(root->u.table.entries[1].key, "title");
  assert_string_equal(root->u.table.entries[2].key, "gravity");
  assert_int_equal(root->u.table.entries[1].line, 12);
  assert_int_equal(root->u.table.entries[2].line, 13);
  assert_int_equal(get(root, "title")->u.string.size, 3);
  const sim_value *bodies = get(root, "bodies");
  assert_int_equal(bodies->u.table.count, 2);
  const sim_value *first = bodies->u.table.entries[0].value, *second = bodies->u.table.entries[1].value;
  assert_null(bodies->u.table.entries[0].key);
  assert_string_equal(first->u.table.tag, "plummer");
  assert_int_equal(first->line, 8);
  expect_int(get(first, "n"), 8192);
  const sim_value *position = get(first, "position");
  assert_int_equal(position->line, 9);
  expect_int(position->u.table.entries[0].value, -4);
  /* a local that is set once: lines of its own */
  assert_int_equal(bodies->u.table.entries[1].line, 10);
  assert_int_equal(second->line, 3);
  assert_int_equal(get(second, "mass")->line, 5);
  expect_real(get(second, "mass"), 1.0 / 3);
  expect_real(get(get(root, "gravity"), "softening"), 1.0);
}

static void test_tree_and_lines(void **state) {
  (void)state;
  scenario loaded;
  load_good(galaxy, no_sets, &loaded);
  check_galaxy(&loaded);
  assert_string_equal(loaded.path, "s.lua");
  assert_int_equal(loaded.size, strlen(galaxy));
  assert_memory_equal(loaded.text, galaxy, loaded.size);
  expect_int(get(loaded.params, "n"), 8192);
  scenario_free(&loaded);
  assert_null(loaded.value);
}

static void test_mark_and_line_ends(void **state) {
  (void)state;
  char text[2 * sizeof galaxy + 3] = "\xEF\xBB\xBF";
  size_t size = 3;
  for (const char *p = galaxy; *p; p++) {
    if (*p == '\n') text[size++] = '\r';
    text[size++] = *p;
  }
  scenario loaded;
  assert_int_equal(load_size(text, size, no_sets, 60, &loaded), SIM_OK);
  check_galaxy(&loaded);
  assert_int_equal(loaded.size, size);
  scenario_free(&loaded);
}

static void test_lines_of_code(void **state) {
  (void)state;
  scenario loaded;
  load_good("local list = {}\n"
            "for i = 1, 2 do list[i] = sim.plummer {\n"
            "  mass = i } end\n"
            "local twice = { x = 1 }\n"
            "do local twice = { y = 2 } end\n"
            "local model = sim.nbody({\n"
            "  bodies = list,\n"
            "  a = function(x) local t = { 1, 2 }; return t, 3 end,\n"
            "  b = {\n"
            "    c = 5 },\n"
            "  d = twice,\n"
            "})\n"
            "return model\n",
            no_sets, &loaded);
  const sim_value *root = loaded.value, *bodies = get(root, "bodies");
  assert_int_equal(root->line, 6);
  assert_int_equal(bodies->line, 1);
  assert_int_equal(bodies->u.table.entries[1].line, 1);
  assert_int_equal(get(bodies->u.table.entries[1].value, "mass")->line, 1);
  expect_function(get(root, "a"));
  assert_int_equal(get(root, "a")->line, 8);
  assert_int_equal(get(get(root, "b"), "c")->line, 10);
  assert_int_equal(get(get(root, "d"), "x")->line, 11); /* two locals of that name: the line that mentions it */
  scenario_free(&loaded);
}

static void test_params(void **state) {
  (void)state;
  const char *text = "local a = sim.param('a', 1, 'whole')\nlocal b = sim.param('b', 1.0)\n"
                     "local c = sim.param('c', true, 'flag') local d = sim.param('d', 'x', 'word')\n"
                     "local e = sim.param('a', 1)\n"
                     "return sim.nbody { a = a, b = b, c = c, d = d, e = e }";
  const char *sets[] = {"a=1e6", "b=1/256", "c=false", "d=a=b", NULL};
  scenario loaded;
  load_good(text, sets, &loaded);
  for (int i = 0; i < 2; i++) {
    const sim_value *table = i ? loaded.value : loaded.params;
    expect_int(get(table, "a"), 1000000);
    expect_real(get(table, "b"), 1.0 / 256);
    assert_false(get(table, "c")->u.boolean);
    assert_string_equal(get(table, "d")->u.string.data, "a=b");
  }
  expect_int(get(loaded.value, "e"), 1000000);
  assert_int_equal(loaded.params->u.table.entries[1].line, 2);
  scenario_free(&loaded);
  const char *numbers[][2] = {{"a=0x10", "16"}, {"a=8/2", "4"}, {"a=-3", "-3"}, {"a= 7 ", "7"}};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    load_good(text, (const char *[]){numbers[i][0], NULL}, &loaded);
    expect_int(get(loaded.value, "a"), strtoll(numbers[i][1], NULL, 10));
    scenario_free(&loaded);
  }
}

static void test_wrong_sets(void **state) {
  (void)state;
  static const char *const cases[][2] = {
      {"radus=1", "--set radus: s.lua has no sim.param of that name, nearest is radius"},
      {"x", "--set x: expected name=value"},
      {"=1", "--set : expected name=value"},
      {"n=0.5", "--set n=0.5: expected an integer"},
      {"n=1e300", "expected an integer"},
      {"n=nan", "expected an integer"},
      {"n=1/0", "expected an integer"},
      {"n=", "expected an integer"},
      {"n=1/2/3", "expected an integer"},
      {"radius=inf", "--set radius=inf: expected a number"},
      {"radius=1 2", "expected a number"},
      {"on=yes", "--set on=yes: expected true or false"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    refuse_with("local n, radius = sim.param('n', 1), sim.param('radius', 1.5)\n"
                "return sim.nbody { n, radius, sim.param('on', true) }",
                (const char *[]){cases[i][0], NULL}, SIM_ERR_USAGE, cases[i][1]);
  refuse_with("return sim.nbody { sim.param('n', 1) }", (const char *[]){"n=1", "n=2", NULL}, SIM_ERR_USAGE,
              "--set n is given twice");
}

static void test_each(void **state) {
  (void)state;
  scenario loaded;
  load_good("return sim.nbody { bodies = { sim.each(1000, function(i)\n"
            "  return { mass = i, position = { i, 2 * i, 0.5 } } end) } }",
            no_sets, &loaded);
  const sim_value *each = get(loaded.value, "bodies")->u.table.entries[0].value;
  assert_string_equal(each->u.table.tag, "each");
  const sim_value *mass = get(each, "mass"), *position = get(each, "position");
  assert_int_equal(mass->kind, SIM_VALUE_ARRAY);
  assert_int_equal(mass->u.array.rows, 1000);
  assert_int_equal(mass->u.array.cols, 1);
  assert_int_equal(position->u.array.cols, 3);
  for (size_t i = 0; i < 1000; i++) {
    assert_true(mass->u.array.data[i] == (double)(i + 1));
    assert_true(position->u.array.data[3 * i + 1] == 2 * (double)(i + 1));
    assert_true(position->u.array.data[3 * i + 2] == 0.5);
  }
  scenario_free(&loaded);
  refuse("sim.each(3, function(i) if i < 3 then return { m = 1 } end return { m = 1, x = 2 } end)",
         "s.lua:1: sim.each: f(3) returns more keys than f(1)");
  refuse("sim.each(3, function(i) return { m = i < 2 and 1 or {1} } end)", "f(2).m is a table, but f(1).m is not");
  refuse("sim.each(3, function(i) return { m = {1, 'x'} } end)", "f(1).m[2] is a string, expected a number");
  refuse("sim.each(3, function(i) return { m = {} } end)", "f(1).m is a table without items");
  refuse("sim.each(3, function(i) return {} end)", "f(1) returns an empty table");
  refuse("sim.each(3, function(i) return { 1 } end)", "a number as a key, expected names");
  refuse("sim.each(1e7, function(i) return { m = 1 } end)", "are more than 64 MiB");
  refuse("sim.each(0, function(i) return { m = 1 } end)", "n is not an integer from 1 to 10000000");
  refuse("sim.each(3)", "sim.each expects (n, function), got (number, no value)");
}

static void test_bad_values(void **state) {
  (void)state;
  scenario loaded;
  load_good("local cycle = {} cycle[1] = { cycle }\n"
            "local deep = {} for i = 1, 40 do deep = { deep } end\n"
            "local shared = { 1, 2 }\n"
            "return sim.nbody { f = print, cycle = cycle, meta = setmetatable({}, {}), hole = { 1, nil, 3 },\n"
            "  mixed = { 1, x = 2 }, float = { [1.5] = 1 }, zero = { [0] = 1 }, truth = { [true] = 1 },\n"
            "  [('n'):rep(100000)] = 1, ['a\\n\\0'] = 1, one = shared, two = shared, deep = deep, nan = 0/0 }",
            no_sets, &loaded);
  const sim_value *root = loaded.value;
  expect_function(get(root, "f"));
  expect_bad(get(root, "cycle")->u.table.entries[0].value->u.table.entries[0].value, "a cycle");
  expect_bad(get(root, "meta"), "a table with a metatable");
  expect_bad(get(root, "hole"), "a list with a hole at [2]");
  expect_bad(get(root, "mixed"), "a table that mixes list items and names ('x')");
  expect_bad(get(root, "float"), "a table with the key [1.5]");
  expect_bad(get(root, "zero"), "a table with the key [0]");
  expect_bad(get(root, "truth"), "a table with a boolean as a key");
  get(root, "a\\x0a\\x00");
  expect_int(get(root, "one")->u.table.entries[1].value, 2);
  expect_int(get(root, "two")->u.table.entries[1].value, 2);
  assert_true(get(root, "nan")->u.real != get(root, "nan")->u.real);
  const sim_value *deep = get(root, "deep");
  int depth = 1;
  for (; deep->kind == SIM_VALUE_TABLE; depth++) deep = deep->u.table.entries[0].value;
  expect_bad(deep, "a table that is nested too deep");
  assert_int_equal(depth, 32);
  for (size_t i = 0; i < root->u.table.count; i++) assert_true(strlen(root->u.table.entries[i].key) < 100);
  scenario_free(&loaded);
}

/* Order of pairs, next and table.sort: the same in every process, although Lua seeds its hashes anew in each. */
static void test_order(void **state) {
  (void)state;
  const char *text =
      "local t = { 30, 10, 20, [true] = 1, [-1] = 2, [2.5] = 3 }\n"
      "for i = 1, 300 do t['key' .. i * 7919 % 301] = i end\n"
      "local keys = {}\n"
      "for k, v in pairs(t) do keys[#keys + 1] = tostring(k) end\n"
      "local again, k = {}, nil\n"
      "repeat k = next(t, k) again[#again + 1] = k ~= nil and tostring(k) or nil until k == nil\n"
      "assert(table.concat(keys, ',') == table.concat(again, ','))\n"
      "assert(keys[1] == '-1' and keys[2] == '1' and keys[3] == '2' and keys[4] == '2.5' and keys[#keys] == 'true')\n"
      "local list = {} for i = 1, 1000 do list[i] = { i % 10, i } end\n"
      "table.sort(list, function(a, b) return a[1] < b[1] end)\n"
      "for i = 2, 1000 do local a, b = list[i - 1], list[i]\n"
      "  assert(a[1] < b[1] or a[1] == b[1] and a[2] < b[2]) end\n"
      "local words = { 'b', 'c', 'a' } table.sort(words) assert(table.concat(words) == 'abc')\n"
      "for k in pairs(words) do words[k] = nil end assert(next(words) == nil)\n"
      "return sim.nbody { order = table.concat(keys, ','), text = tostring(t) .. string.format('%s', print) }";
  scenario one, two;
  load_good(text, no_sets, &one);
  load_good(text, no_sets, &two);
  assert_string_equal(get(one.value, "order")->u.string.data, get(two.value, "order")->u.string.data);
  assert_string_equal(get(one.value, "text")->u.string.data, "tablefunction"); /* no address */
  scenario_free(&one);
  scenario_free(&two);
}

/* Tables that lose keys while they are traversed: setmetatable refuses them, but a metatable may change later. */
static void test_weak_tables(void **state) {
  (void)state;
  scenario loaded;
  load_good("for size = 100, 6000, 100 do\n"
            "  local mode = {}\n"
            "  local t = setmetatable({}, mode)\n"
            "  mode.__mode = 'v'\n"
            "  for i = 1, size do t['k' .. i .. ('x'):rep(50)] = {} end\n"
            "  for k in pairs(t) do assert(k:sub(1, 1) == 'k') end\n"
            "  for i = 1, 30 do t['k' .. i .. ('x'):rep(50)] = {} end\n"
            "  local k repeat k = next(t, k) until k == nil\n"
            "end\n"
            "local each = sim.each(2000, function(i)\n"
            "  local mode = {}\n"
            "  local t = setmetatable({ m = i, n = 1 }, mode)\n"
            "  mode.__mode = 'k'\n"
            "  return t end)\n"
            "return sim.nbody { bodies = each }",
            no_sets, &loaded);
  assert_true(get(get(loaded.value, "bodies"), "m")->u.array.data[1999] == 2000);
  scenario_free(&loaded);
}

static void test_sizes(void **state) {
  (void)state;
  refuse("sim.param('p', ('x'):rep(65537))", "s.lua:1: sim.param: the default of 'p' is longer than 64 KiB");
  refuse("local s = ('x'):rep(65536) for i = 1, 1000 do sim.param('p' .. i, s) end\n"
         "return sim.nbody { ('x'):rep(4e6) }",
         "s.lua:2: the scenario holds more than 64 MiB");
  /* Positions are limited: 2^18 items and one come before the second table. */
  enum { ITEMS = (1 << 18) + 1 };
  static const char head[] = "local t = {", tail[] = "}\nreturn sim.nbody {\n  a = 1, t = #t }";
  char *text = malloc(sizeof head + sizeof tail + 2 * ITEMS);
  assert_non_null(text);
  strcpy(text, head);
  for (size_t i = 0; i < ITEMS; i++) memcpy(text + sizeof head - 1 + 2 * i, "1,", 2);
  strcpy(text + sizeof head - 1 + 2 * ITEMS, tail);
  scenario loaded;
  load_good(text, no_sets, &loaded);
  free(text);
  expect_int(get(loaded.value, "t"), ITEMS);
  assert_int_equal(get(loaded.value, "a")->line, 0);
  scenario_free(&loaded);
}

static void test_print(void **state) {
  (void)state;
  scenario loaded;
  printed[0] = 0;
  assert_true(sim_log_add(remember, NULL));
  load_good("print('one', 2, nil, {}) print('three\\nfour')\n"
            "for i = 1, 100 do print(('x'):rep(1000)) end return sim.nbody {}",
            no_sets, &loaded);
  sim_log_remove(remember, NULL);
  assert_non_null(strstr(printed, "one  2  nil  table\n"));
  assert_non_null(strstr(printed, "three\n"));
  assert_non_null(strstr(printed, "four\n"));
  scenario_free(&loaded);
}

static void test_refused(void **state) {
  (void)state;
  static const char *const cases[][2] = {
      {" -- nothing", "s.lua: returns nothing, expected return sim.nbody { ... }"},
      {"\nreturn 5", "s.lua:2: returns a number, expected sim.nbody { ... }"},
      {"return sim.nbody {}, sim.nbody {}", "s.lua:1: returns 2 values"},
      {"return {}", "s.lua:1: returns a plain table"},
      {"return sim.plummer {}", "s.lua:1: returns sim.plummer"},
      {"return sim.plumer {}", "s.lua:1: undefined name 'sim.plumer', nearest is 'sim.plummer'"},
      {"return sim.nbody { 1, x = 2 }", "s.lua:1: expected a table of names, got a table that mixes"},
      {"local x = \"open\n", "s.lua:1: unfinished string"},
      {"return sim.nbody {\n a = 1,\n b = { c = 1 },\n a = 2 }", "s.lua:4: key 'a' is given twice (first at line 2)"},
      {"return sim.nbody {\n [\"a b\"] = 1,\n ['a b'] = 2 }", "s.lua:3: key 'a b' is given twice (first at line 2)"},
      {"x = 1", "s.lua:1: assignment to the undefined name 'x', write 'local x = ...' first"},
      {"return sim.nbody { mat.pi }", "s.lua:1: undefined name 'mat', nearest is 'math'"},
      {"return sim.nbody { math.sinn(1) }", "s.lua:1: undefined name 'math.sinn', nearest is 'math.sin'"},
      {"sim.plummer(5)", "s.lua:1: sim.plummer expects one table, got a number"},
      {"sim.plummer(sim.hernquist {})", "s.lua:1: sim.plummer: this table belongs to a sim.hernquist already"},
      {"sim.param('n')", "s.lua:1: sim.param: the default of 'n' is missing"},
      {"sim.param('n', {})", "the default of 'n' is table"},
      {"sim.param('a-b', 1)", "a name is made of letters, digits and underscores"},
      {"sim.param('n', 1) sim.param('n', 1.0)", "'n' is declared twice with different defaults"},
      {"error({})", "s.lua:1: the script's error object is a table"},
      {"error()", "s.lua:1: the script's error object is nil"},
      {"error('a\\nb', 0)", "s.lua:1: a\\x0ab"},
      {"error(setmetatable({}, { __tostring = error }))", "s.lua:1: the script's error object is a table"},
      {"return sim.nbody(setmetatable({}, { __index = error }))", "a table with a metatable"},
      {"local x <close> = setmetatable({}, { __close = function() error(print) end })", "error object is a function"},
      {"setmetatable({}, { __gc = print })", "s.lua:1: setmetatable: __gc is not available in a scenario"},
      {"setmetatable({}, { __mode = 'k' })", "s.lua:1: setmetatable: __mode is not available in a scenario"},
      {"local step = pairs({ 1 }) step(5)", "s.lua:1: bad argument #1"},
      {"local step = pairs({ 1 }) step()", "s.lua:1: bad argument #1"},
      {"setmetatable(string, {})", "s.lua:1: cannot change a protected metatable"},
      {"string.format('%p', {})", "%p is not available in a scenario"},
      {"for k in pairs({ [{}] = 1 }) do end", "cannot walk a table with a table as a key"},
      {"table.sort({ 1, {}, 2 })", "s.lua:1: attempt to compare"},
      /* the stack or the memory is exhausted first */
      {"local function f() return 1 + f() end f()", "s.lua:1: "},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) refuse(cases[i][0], cases[i][1]);
  static const char *const absent[] = {
      "os.execute",  "io.open",   "require", "load",        "dofile", "debug.sethook", "xpcall", "collectgarbage",
      "string.dump", "coroutine", "package", "math.random", "_G"};
  for (size_t i = 0; i < sizeof absent / sizeof *absent; i++) {
    char text[64];
    snprintf(text, sizeof text, "%s()", absent[i]);
    refuse(text, "is not available in a scenario");
  }
}

/* Each must end in time, although nothing in Lua can stop some of them. */
static void test_hostile(void **state) {
  (void)state;
  static const char *const cases[][2] = {
      {"while true do end", "s.lua:1: the script"},
      {"while true do pcall(function() while true do end end) end", "s.lua:1: the script"},
      {"while true do pcall(error, {}) end", "the script"},
      {"do local x <close> = setmetatable({}, { __close = function() while true do end end }) end", "the script"},
      {"print(setmetatable({}, { __tostring = function() while true do end end }))", "the script"},
      {"string.find(('a'):rep(2000), '.-.-.-.-b')", "s.lua: the script used more than 0.2 s of processor time"},
      {"table.move({}, 1, 1e9, 2)", "the script used more than"},
      {"string.rep('', 1e18)", "s.lua: the script used more than 0.2 s of processor time"},
      {"string.rep('ab', 1e18)", "resulting string too large"},
      {"local s = ('x'):rep(1e9)", "s.lua:1: the script used more than 64 MiB of memory"},
      {"while true do pcall(string.rep, 'x', 1e9) end", "s.lua:1: the script used more than 64 MiB of memory"},
      {"local s = 'x' while true do s = s .. s end", "s.lua:1: the script used more than 64 MiB of memory"},
      {"local t = {} while true do pcall(function() t[#t + 1] = ('x'):rep(1e6) .. #t end) end", "64 MiB of memory"},
      {"local s = ('x'):rep(1000) while true do s = s:gsub('.', '%0%0%0%0') end", "the script used more than"},
      {"local t = { 1 } for i = 1, 31 do t = { t, t } end return sim.nbody(t)", "more than 500000 values"},
      {"table.sort({ 2, 1 }, function() while true do end end)", "the script"},
      {"sim.each(10, function() while true do end end)", "the script"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    scenario loaded;
    struct rusage before, after;
    getrusage(RUSAGE_CHILDREN, &before);
    double seconds = strstr(cases[i][1], "MiB") || strstr(cases[i][1], "values") ? 10 : 0.2;
    sim_status status = load_size(cases[i][0], strlen(cases[i][0]), no_sets, seconds, &loaded);
    getrusage(RUSAGE_CHILDREN, &after);
    if (status != SIM_ERR_SCENARIO) fail_msg("%s: %s", cases[i][0], sim_status_name(status));
    expect_message(cases[i][1]);
    double used = (double)(after.ru_utime.tv_sec - before.ru_utime.tv_sec) +
                  1e-6 * (double)(after.ru_utime.tv_usec - before.ru_utime.tv_usec);
    /* The timer goes off at 1.2 times the limit and 50 ms. The rest allows for the kernel's ticks on a busy machine. */
    if (seconds < 1) assert_true(used < 1);
    scenario_free(&loaded);
  }
  struct rusage all;
  getrusage(RUSAGE_CHILDREN, &all);
#if !TEST_SANITIZED
  /* The largest memory of any child: 64 MiB of Lua, and a tree of half a million values. */
  assert_true(all.ru_maxrss < 256 << 10);
#endif
}

static volatile pid_t *script; /* the last child of a load, in shared memory */
pid_t __real_fork(void);
pid_t __wrap_fork(void);
pid_t __wrap_fork(void) {
  const pid_t pid = __real_fork();
  if (pid > 0 && script) *script = pid;
  return pid;
}

/* Stops and continues the script's process until the test ends that: of each `stopped` + 2 ms it may run 2 ms. */
static pid_t slow_down(useconds_t stopped) {
  *script = 0;
  const pid_t test = getpid(), pid = __real_fork();
  if (pid != 0) return pid;
  while (getppid() == test) {
    const pid_t slow = *script;
    if (slow > 0) kill(slow, SIGSTOP);
    usleep(slow > 0 ? 1000 * stopped : 100);
    if (slow > 0) kill(slow, SIGCONT);
    usleep(slow > 0 ? 2000 : 0);
  }
  _exit(0);
}
static void end(pid_t pid) {
  kill(pid, SIGKILL);
  assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* A process that is stopped is given up after 20 times the limit of processor time, 4 s. One that gets only 2 ms in
 * 200, as on a busy machine, goes on to that limit, however long: 0.05 s take 5 s. */
static void test_waits(void **state) {
  (void)state;
  static const char text[] = "while true do end";
  scenario loaded;
  script = mmap(NULL, sizeof *script, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  assert_ptr_not_equal(script, MAP_FAILED);
  pid_t slow = slow_down(20000);
  assert_int_equal(load_size(text, strlen(text), no_sets, 0.2, &loaded), SIM_ERR_SCENARIO);
  end(slow);
  expect_message("s.lua: the script's process got no processor time for 4 s");
  scenario_free(&loaded);
  slow = slow_down(200);
  assert_int_equal(load_size(text, strlen(text), no_sets, 0.05, &loaded), SIM_ERR_SCENARIO);
  end(slow);
  expect_message("the script used more than 0.05 s of processor time");
  scenario_free(&loaded);
  munmap((void *)script, sizeof *script);
  script = NULL;
}

static void test_budget_of_instructions(void **state) {
  (void)state;
  refuse("while true do pcall(function() while true do end end) end", "s.lua:1: the script ran more than 400 million");
}

static void expect_path(const char *path, sim_status status, const char *message) {
  scenario_options options = {constructors, models, no_sets, 10, (size_t)64 << 20};
  scenario loaded;
  sim_status got = scenario_load(path, &options, &loaded);
  if (got != status) fail_msg("%s: %s", path, sim_status_name(got));
  expect_message(message);
  scenario_free(&loaded);
}

static void test_files(void **state) {
  (void)state;
  expect_path("absent.lua", SIM_ERR_NO_INPUT, "absent.lua: No such file or directory");
  expect_path("", SIM_ERR_NO_INPUT, "No such file");
  expect_path(".", SIM_ERR_NO_INPUT, ".: is a folder, not a scenario file");
  expect_path("/dev/zero", SIM_ERR_NO_INPUT, "is a device");
  assert_int_equal(mkfifo("fifo.lua", 0600), 0);
  expect_path("fifo.lua", SIM_ERR_NO_INPUT, "is a pipe");
  static const struct {
    const char *text;
    size_t size;
    const char *message;
  } cases[] = {
      {"", 0, "s.lua: the file is empty"},
      {"return\n\0 1", 10, "s.lua:2: a NUL byte"},
      {"\xFF\xFEr\0", 4, "UTF-16"},
      {"\x1BLua", 4, "bytecode"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    write_file("s.lua", cases[i].text, cases[i].size);
    expect_path("s.lua", SIM_ERR_SCENARIO, cases[i].message);
  }
  assert_int_equal(truncate("s.lua", 1 << 30), 0);
  expect_path("s.lua", SIM_ERR_SCENARIO, "larger than 16 MiB");
  /* The longest text that is read, all of it a comment. */
  size_t size = 16 << 20;
  char *text = malloc(size);
  assert_non_null(text);
  memset(text, '-', size);
  write_file("s.lua", text, size);
  free(text);
  expect_path("s.lua", SIM_ERR_SCENARIO, "returns nothing");
}

/* In a child: with descriptors 0, 1, 2 closed, a file loads; with a limit of 3 descriptors the error is a separate one.
 */
static void test_descriptors(void **state) {
  (void)state;
  write_file("s.lua", galaxy, strlen(galaxy));
  for (int limited = 0; limited < 2; limited++) {
    pid_t pid = fork();
    if (pid == 0) {
      struct rlimit few = {3, 3};
      if (limited)
        setrlimit(RLIMIT_NOFILE, &few);
      else
        for (int fd = 0; fd < 3; fd++) close(fd);
      scenario_options options = {constructors, models, no_sets, 10, (size_t)64 << 20};
      scenario loaded;
      sim_status status = scenario_load("s.lua", &options, &loaded);
      bool ids = status != SIM_OK || sim_value_get(loaded.value, "bodies");
      scenario_free(&loaded);
      _exit(ids ? sim_status_exit_code(status) : 99);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), limited ? 74 : 0);
  }
}

static int enter(void **state) {
  (void)state;
  return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int leave(void **state) {
  (void)state;
  unlink("s.lua");
  unlink("fifo.lua");
  return chdir("/") == 0 && rmdir(folder) == 0 ? 0 : -1;
}

/* The same numbers as the engine's, at the step that is reserved for scripts. */
static void test_random(void **state) {
  (void)state;
  scenario loaded;
  load_good("return sim.nbody { a = sim.uniform(7), b = sim.uniform(7, 3, 5), c = sim.normal(9, 2), d = sim.uniform(7, "
            "0, 0) }\n",
            NULL, &loaded);
  double u[2], v[2], z[2];
  const uint64_t step = (UINT64_C(1) << 48) - 1;
  sim_rng_uniform(0, 7, step, 0, u);
  sim_rng_uniform(5, 7, step, 1, v);
  sim_rng_normal(0, 9, step, 1, z);
  assert_true(sim_value_get(loaded.value, "a")->u.real == u[0]);
  assert_true(sim_value_get(loaded.value, "b")->u.real == v[1]);
  assert_true(sim_value_get(loaded.value, "c")->u.real == z[0]);
  assert_true(sim_value_get(loaded.value, "d")->u.real == u[0]);
  scenario_free(&loaded);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_tree_and_lines),
      cmocka_unit_test(test_mark_and_line_ends),
      cmocka_unit_test(test_lines_of_code),
      cmocka_unit_test(test_params),
      cmocka_unit_test(test_wrong_sets),
      cmocka_unit_test(test_each),
      cmocka_unit_test(test_bad_values),
      cmocka_unit_test(test_order),
      cmocka_unit_test(test_weak_tables),
      cmocka_unit_test(test_sizes),
      cmocka_unit_test(test_print),
      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_hostile),
      cmocka_unit_test(test_waits),
      cmocka_unit_test(test_budget_of_instructions),
      cmocka_unit_test(test_files),
      cmocka_unit_test(test_descriptors),
      cmocka_unit_test(test_random),
  };
  return cmocka_run_group_tests(tests, enter, leave);
}
