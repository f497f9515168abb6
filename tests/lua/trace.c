/* Functions of scenarios as graphs: the same values as plain Lua, and stored without loss. */
#include "trace_testing.h"

static void evaluate(const sim_expr *expr, const double *inputs, double *results) {
  sim_expr_program *program;
  const void *in[16];
  void *out[16];
  for (int i = 0; i < sim_expr_input_count(expr); i++) in[i] = &inputs[i];
  for (int i = 0; i < sim_expr_output_count(expr); i++) out[i] = &results[i];
  assert_int_equal(sim_expr_program_create(expr, &(sim_expr_target){.isa = SIM_ISA_PLAIN}, &program), SIM_OK);
  void *scratch = aligned_alloc(64, (sim_expr_program_scratch(program) + 127) / 64 * 64);
  assert_non_null(scratch);
  sim_expr_program_run(program, 1, in, out, scratch);
  free(scratch);
  sim_expr_program_free(&program);
}

/* ---- values ---- */

static uint64_t bits(double value) {
  uint64_t out;
  memcpy(&out, &value, sizeof out);
  return out;
}

/* The graph gives the same result as Lua does with numbers. Lua's own ^ is pow of the C library, within one unit of the
 * last place, as is the evaluator's. A product by repeated squaring of x^n rounds n - 1 times at most: 8 x 2^-53 for n
 * <= 7. */
static void traced_values_are_those_of_lua(void **state) {
  (void)state;
  static const char *const exact[] = {"x + y",
                                      "x - y",
                                      "x * y",
                                      "x / y",
                                      "x % y",
                                      "x // y",
                                      "-x",
                                      "x + 1",
                                      "1 - x",
                                      "2 * x",
                                      "x / 3",
                                      "7 % x",
                                      "7 // y",
                                      "math.abs(x)",
                                      "math.ceil(x)",
                                      "math.floor(x)",
                                      "math.max(x, y)",
                                      "math.min(x, y, -3)",
                                      "math.fmod(x, y)",
                                      "math.sqrt(math.abs(x))",
                                      "math.sin(x)",
                                      "math.cos(x)",
                                      "math.tan(x)",
                                      "math.asin(1/y)",
                                      "math.acos(1/y)",
                                      "math.atan(x)",
                                      "math.atan(x, y)",
                                      "math.exp(x)",
                                      "math.log(y)",
                                      "math.log(y, 2)",
                                      "math.log(y, 10)",
                                      "math.log(y, 3)",
                                      "math.log(y, x^2)",
                                      "math.deg(x)",
                                      "math.rad(x)",
                                      "sim.min(x, y)",
                                      "sim.max(x, y, 0)",
                                      "sim.where(sim.lt(x, y), x, y)",
                                      "sim.where(sim.le(x, x), 1, y)",
                                      "sim.where(sim.gt(x, y), x, y)",
                                      "sim.where(sim.ge(y, y), x, y)",
                                      "sim.where(sim.eq(x, y), x, y)",
                                      "sim.where(sim.ne(x, y), x, y)",
                                      "sim.where(sim.all(sim.lt(x, y), sim.gt(x, 0)), 1, 2)",
                                      "sim.where(sim.any(sim.lt(x, y), sim.gt(x, 0)), 1, 2)",
                                      "sim.where(sim.none(sim.lt(x, y), sim.gt(x, 0)), 1, 2)",
                                      "sim.clamp(x, -1, 1)",
                                      "sim.step(x)",
                                      "sim.step(y)",
                                      "sim.box(x, -2, 1)",
                                      "sim.box(x, y, -2, 1)",
                                      "sim.abs(x)",
                                      "sim.sign(x)",
                                      "sim.floor(x)",
                                      "sim.ceil(x)",
                                      "sim.fmod(x, y)",
                                      "sim.sqrt(y)",
                                      "sim.cbrt(x)",
                                      "sim.hypot(x, y)",
                                      "sim.exp(x)",
                                      "sim.expm1(x)",
                                      "sim.log(y)",
                                      "sim.log(y, 7)",
                                      "sim.log1p(y)",
                                      "sim.log2(y)",
                                      "sim.log10(y)",
                                      "sim.sin(x)",
                                      "sim.cos(x)",
                                      "sim.tan(x)",
                                      "sim.asin(1/y)",
                                      "sim.acos(1/y)",
                                      "sim.atan(x)",
                                      "sim.atan(x, y)",
                                      "sim.atan2(x, y)",
                                      "sim.sinh(x)",
                                      "sim.cosh(x)",
                                      "sim.tanh(x)",
                                      "sim.erf(x)",
                                      "sim.erfc(x)",
                                      "sim.deg(x)",
                                      "sim.rad(x)",
                                      "sim.pow(x, 3)",

                                      "sim.pow(x, -2)",
                                      "sim.pow(y, 1.5)",
                                      NULL};
  static const char *const near[] = {"x ^ 2",   "x ^ 7",   "y ^ x", "sim.pow(y, x)", "x ^ -3",
                                     "y ^ 0.5", "y ^ 2.5", "2 ^ x", "x ^ 0",         NULL};
  static const double at[][2] = {{-1.5, 2.75}, {0.3, 5.125}};
  for (int kind = 0; kind < 2; kind++)
    for (const char *const *formula = kind ? near : exact; *formula; formula++)
      for (int k = 0; k < 2; k++) {
        char text[600];
        snprintf(text, sizeof text,
                 "local function f(x, y) return %s end\nreturn sim.model { real = f(%.17g, %.17g), f = f }", *formula,
                 at[k][0], at[k][1]);
        parameters out;
        decode(text, &out);
        double got, inputs[4] = {at[k][0], at[k][1], 0, 0};
        evaluate(out.f, inputs, &got);
        double tolerance = kind ? 8 * 0x1p-53 * fabs(got) : 0;
        bool same = kind ? fabs(got - out.real) <= tolerance : bits(got) == bits(out.real);
        if (!same) fail_msg("%s at %g, %g: graph %.17g, Lua %.17g", *formula, at[k][0], at[k][1], got, out.real);
        sim_schema_free(&schema, &out);
      }
}

static void loops_and_tables_unroll(void **state) {
  (void)state;
  parameters out;
  double got, inputs[4] = {1.5, -2, 0.25, 3};
  decode("local weights, shift = { 0.5, 1, 2 }, 0.125\n"
         "local function square(v) return v * v end\n"
         "return sim.model { f = function(t, z, y, x)\n"
         "  local sum, all = 0, { x, y, z }\n"
         "  for i, v in ipairs(all) do sum = sum + weights[i] * square(v - shift) end\n"
         "  if #weights == 3 then sum = sum + t end\n"
         "  return sum\n"
         "end }",
         &out);
  evaluate(out.f, inputs, &got);
  /* The same operations in the same order; 0 + a is a except for the sign of a zero. */
  double a = 1.5 - 0.125, b = -2 - 0.125, c = 0.25 - 0.125;
  assert_true(got == 0.5 * (a * a) + b * b + 2 * (c * c) + 3);
  assert_int_equal(sim_expr_input_count(out.f), 4);
  assert_string_equal(sim_expr_input_name(out.f, 0), "x"); /* the order of the signature, not of the function */
  assert_string_equal(sim_expr_input_name(out.f, 3), "t");
  sim_schema_free(&schema, &out);
}

static void equal_parts_stand_once(void **state) {
  (void)state;
  parameters out;
  decode("return sim.model { f = function(x, y)\n"
         "  local s = 0\n"
         "  for i = 1, 100 do s = sim.max(s, math.exp(x * y)) end\n"
         "  return s\n"
         "end }",
         &out);
  /* x, y, x*y, exp, 0, max(0, exp), max(that, exp) ...: exp once, 100 maxima */
  assert_int_equal(sim_expr_node_count(out.f), 5 + 100);
  sim_schema_free(&schema, &out);
}

static void members_are_inputs(void **state) {
  (void)state;
  parameters out;
  double got[2], record[3] = {2, 3, 5}, path[3] = {7, 11, 13};
  decode("return sim.model {\n"
         "  body = function(b) return b.mass * b['vx'] ^ 2 end,\n"
         "  any = function(path) return path.mean[2] - path.last, path.mean[1] end,\n"
         "  number = 2.5,\n"
         "  stop = function(t) return sim.gt(t, 1) end,\n"
         "}\n",
         &out);
  evaluate(out.body, record, got);
  assert_true(got[0] == 2 * 25);
  assert_int_equal(sim_expr_input_count(out.any), 3); /* any: in the order of the function */
  assert_string_equal(sim_expr_input_name(out.any, 0), "mean_2");
  assert_string_equal(sim_expr_input_name(out.any, 1), "last");
  evaluate(out.any, path, got);
  assert_true(got[0] == 7 - 11 && got[1] == 13);
  evaluate(out.number, path, got);
  assert_true(got[0] == 2.5);
  assert_int_equal(sim_expr_input_count(out.number), 4);
  assert_int_equal(sim_expr_output_type(out.stop, 0), SIM_EXPR_C);
  sim_schema_free(&schema, &out);
}

static void constants_stay_numbers(void **state) {
  (void)state;
  parameters out;
  double got, inputs[4] = {4, 0, 0, 0};
  decode("local nothing = 0/0\n"
         "return sim.model { f = function(x)\n"
         "  local n = sim.max(2, 3)\n"                    /* a plain number, so that a loop may end there */
         "  if sim.lt(n, 2) then error('not here') end\n" /* and a plain condition */
         "  for i = 1, n do x = x + 1 end\n"              /* 7 */
         "  return sim.where(sim.lt(x, 0), nothing, x)\n" /* NaN is a number like others */
         "end }",
         &out);
  evaluate(out.f, inputs, &got);
  assert_true(got == 7);
  inputs[0] = -5;
  evaluate(out.f, inputs, &got);
  assert_true(isnan(got));
  sim_schema_free(&schema, &out);
}

/* ---- conditions of plain Lua, in functions that contain checks when they are read ---- */

static void conditions_of_numbers_stay(void **state) {
  (void)state;
  parameters out;
  double got, inputs[4] = {4, 0.5, 0, 0};
  decode("local weights <const> = { 1, nil, 3 }\n"
         "local function sum(v, first, last)\n"
         "  if not first then first = 1 end\n"
         "  last = last or 3\n"
         "  local s\n"
         "  for i = first, last do\n"
         "    local w = weights[i] or i == 2 and v or 0\n" /* a symbol, chosen by a number */
         "    local p = (i == 2 and v) or i << 1 == 2 and 5 or 6\n"
         "    if s == nil then s = w * p else s = s + w * p end\n"
         "  end\n"
         "  return s\n"
         "end\n"
         "return sim.model { f = function(x, y)\n"
         "  local object = setmetatable({ n = 0 }, { __bor = error, __pow = error, __index = { more = function(self)\n"
         "    self.n = self.n + 1 return self.n < 3 end } })\n"
         "  local n, k, ok = 0, 0, object and not not object and object == object\n"
         "  while ok and object:more() do n = n + 1 end\n"
         "  repeat local done = n > 3 n = n + 1 until done and n ~= 4 or not ok k = n\n"
         "  if ok == true and n == 5 and not (n ~= 5) and 'a' .. 'b' == 'ab' then k = k + 1 ::label:: end\n"
         "  if not not nil == false and not -k ^ 2 == false then k = k + 1 end\n"
         "  if type(x) ~= 'number' or tonumber(y) == nil or getmetatable(x) ~= nil then k = 100 end\n"
         "  if not pcall(math.sin, x) then k = 100 end\n"
         "  return x == nil and 0 or nil ~= y and sum(x) + k * y\n"
         "end }",
         &out);
  evaluate(out.f, inputs, &got);
  /* sum: 1 * 5 + x * x + 3 * 6. n: 2, then 5 when the loop ends; k: 5, and 1 for each true line after it. */
  assert_true(got == 5 + 16 + 18 + 7 * 0.5);
  sim_schema_free(&schema, &out);
}

/* Writes a random expression of plain values, with operators of every level and few parentheses. */
static void random_expression(uint64_t *seed, int depth, char *out, size_t room) {
  static const char *const leaves[] = {"nil",
                                       "true",
                                       "false",
                                       "0",
                                       "1",
                                       "a",
                                       "b",
                                       "'a'",
                                       "t",
                                       "t.x",
                                       "t[1]",
                                       "g(a)",
                                       "g{b}",
                                       "t:m(b, a)",
                                       "({a})[1]",
                                       "#t",
                                       "g(a == b, a)",
                                       "t[a]",
                                       "t[a or b]",
                                       "t[not a]",
                                       "t[ (a) ]",
                                       "t[g(b) == a]",
                                       "t[#t] ",
                                       "t[a .. b]",
                                       "({[a] = b, [2] = a})[2]",
                                       "(g(b))",
                                       "-- c\n2",
                                       "[[=]]",
                                       "g'and'"};
  static const char *const joins[] = {" and ", " or ", "==", " ~=", " and\n", " or ", " == ", "~="};
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  unsigned pick = (unsigned)(*seed >> 40);
  size_t used = strlen(out);
  if (depth == 0 || pick % 8 == 0 || room - used < 1500) {
    snprintf(out + used, room - used, " %s", leaves[pick / 8 % (sizeof leaves / sizeof *leaves)]);
    return;
  }
  bool closed = pick % 8 == 1, inside = pick % 8 == 2, negated = pick % 8 <= 3;
  snprintf(out + used, room - used, "%s%s%s", negated ? " not" : "", closed ? " (" : "",
           inside ? " (function() return" : "");
  random_expression(seed, depth - 1, out, room);
  if (pick % 8 != 3) {
    used = strlen(out);
    snprintf(out + used, room - used, "%s", joins[pick / 8 % 8]);
    random_expression(seed, depth - 1, out, room);
  }
  used = strlen(out);
  snprintf(out + used, room - used, "%s%s", closed ? ")" : "", inside ? " end)()" : "");
}

/* A function's body has checks, the text outside of functions has none: both give the same. */
static void checks_change_nothing(void **state) {
  (void)state;
  static char text[3000000];
  uint64_t seed = 7;
  strcpy(text, "local a, b = 1, 'a'\n"
               "local function g(v) return v end\n"
               "local t = setmetatable({ 1, x = false, m = function(self, v) return v end },\n"
               "  { __eq = function() return true end, __bor = error, __pow = error })\n"
               "local u\n");
  for (int i = 0; i < 300; i++) {
    char one[4000] = "";
    random_expression(&seed, 5, one, sizeof one);
    size_t used = strlen(text);
    snprintf(text + used, sizeof text - used,
             "do local v = %s\nlocal function f() return %s\nend\nif type(v) ~= type(f()) or type(v) ~= 'table' and v "
             "~= f() then "
             "error('expression %d') end\n"
             "local w = 0 if %s then w = 1 end\n"
             "local function h() local w = 0 if %s then w = 1 end local n = 0 repeat n = n + 1 until %s\nor n > 1\n"
             "if w == 1 and n ~= 1 then return 2 end return w end\n"
             "if w ~= h() then error('condition %d') end end\n",
             one, one, i, one, one, one, i);
  }
  strcat(text, "return sim.model { real = 1 }\n");
  scenario loaded;
  if (load(text, &loaded) != SIM_OK) fail_msg("%s", sim_error_last()->message);
  scenario_free(&loaded);
}

/* ---- maps, storing ---- */

static void maps_keep_names_and_options(void **state) {
  (void)state;
  parameters out, again = {0};
  decode("return sim.model { observe = {\n"
         "  zeta  = function(b) return b.mass end,\n"
         "  alpha = { function(b) return b.x end, reduce = \"max\" },\n"
         "  count = function() return 1 end,\n"
         "}, f = function(x) return x ^ 2 / 3, x, 1 end }",
         &out);
  assert_int_equal(out.observe.count, 3);
  assert_string_equal(out.observe.items[0].name, "zeta"); /* as in the file */
  assert_string_equal(out.observe.items[1].name, "alpha");
  assert_int_equal(out.observe.items[0].reduce, SIM_SUM);
  assert_int_equal(out.observe.items[1].reduce, SIM_GREATEST);
  assert_int_equal(out.observe.items[1].line, 3);
  assert_int_equal(sim_expr_input_count(out.observe.items[2].expr), 3);

  /* The stored text decodes to the same without Lua, to the byte. */
  sim_faults faults = {.file = "stored"};
  sim_bytes first = {0}, second = {0}, json = {0};
  sim_value *value = sim_schema_encode(&schema, &out), *read;
  sim_value_write(value, &first);
  assert_int_equal(sim_value_read(first.data, first.size, &read), SIM_OK);
  assert_int_equal(sim_schema_decode(&schema, read, &no_units, &again, &faults), SIM_OK);
  if (faults.count) fail_msg("%s", faults.text.data);
  sim_value *encoded = sim_schema_encode(&schema, &again);
  sim_value_write(encoded, &second);
  assert_int_equal(first.size, second.size);
  assert_memory_equal(first.data, second.data, first.size);
  sim_value_json(value, 0, &json);
  assert_non_null(strstr(json.data, "\"f\": \"result1 = x * x / 3\\nresult2 = x\\nresult3 = 1\""));
  assert_non_null(strstr(json.data, "\"alpha\": {\"function\": \"result = x\", \"reduce\": \"max\"}"));
  sim_bytes_free(&first);
  sim_bytes_free(&second);
  sim_bytes_free(&json);
  sim_value_free(&value);
  sim_value_free(&read);
  sim_value_free(&encoded);
  sim_schema_free(&schema, &out);
  sim_schema_free(&schema, &again);
}

static void hostile_bytes_are_refused(void **state) {
  (void)state;
  parameters out;
  decode("return sim.model { f = function(x, y) return math.exp(x) * y + 2 end }", &out);
  sim_value *value = sim_schema_encode(&schema, &out), *read;
  sim_bytes bytes = {0};
  sim_value_write(value, &bytes);
  size_t begin = 0;
  while (memcmp(bytes.data + begin, "SIMEXPR", 7) != 0) begin++;
  for (size_t size = 0; size < bytes.size; size++)
    assert_int_not_equal(sim_value_read(bytes.data, size, &read), SIM_OK);
  int refused = 0;
  for (size_t i = 0; i < bytes.size; i++)
    for (int bit = 0; bit < 8; bit++) {
      bytes.data[i] ^= (char)(1 << bit);
      if (sim_value_read(bytes.data, bytes.size, &read) == SIM_OK) {
        parameters other = {0};
        sim_faults faults = {.file = "stored"};
        assert_int_equal(sim_schema_decode(&schema, read, &no_units, &other, &faults), SIM_OK);
        sim_schema_free(&schema, &other);
        sim_faults_free(&faults);
      } else if (i >= begin) {
        refused++;
      }
      sim_value_free(&read);
      bytes.data[i] ^= (char)(1 << bit);
    }
  /* The graph has a checksum, so that each flipped bit is detected. The checksum ends it; the map and the number
   * follow. */
  assert_true(refused > 8 * 60);
  sim_bytes_free(&bytes);
  sim_value_free(&value);
  sim_schema_free(&schema, &out);
}

static void late_inputs_are_bound(void **state) {
  (void)state;
  parameters out;
  sim_faults faults = {.file = "s.lua"};
  decode("return sim.model { any = function(p) return p.u * p.v, p.u end }", &out);
  const sim_signature late = {.inputs = NAMES("u", "v", "w"), .outputs = {2}};
  assert_int_equal(sim_function_bind(&out.any, &late, &faults, 1, "rates"), SIM_OK);
  assert_int_equal(faults.count, 0);
  assert_int_equal(sim_expr_input_count(out.any), 3);
  assert_int_equal(sim_expr_input_find(out.any, "u"), 0);
  const sim_signature wrong = {.inputs = NAMES("u", "vel"), .outputs = {3}};
  assert_int_equal(sim_function_bind(&out.any, &wrong, &faults, 1, "rates"), SIM_OK);
  assert_string_equal(faults.text.data, "s.lua:1: rates: expected 3 results, got 2\n"
                                        "s.lua:1: rates: unknown input 'v', expected u, vel\n"
                                        "s.lua:1: rates: unknown input 'w', expected u, vel\n");
  sim_faults_free(&faults);
  sim_schema_free(&schema, &out);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(traced_values_are_those_of_lua), cmocka_unit_test(loops_and_tables_unroll),
      cmocka_unit_test(equal_parts_stand_once),         cmocka_unit_test(members_are_inputs),
      cmocka_unit_test(constants_stay_numbers),         cmocka_unit_test(maps_keep_names_and_options),
      cmocka_unit_test(hostile_bytes_are_refused),      cmocka_unit_test(late_inputs_are_bound),
      cmocka_unit_test(conditions_of_numbers_stay),     cmocka_unit_test(checks_change_nothing),
  };
  return cmocka_run_group_tests(tests, in_folder, leave_folder);
}
