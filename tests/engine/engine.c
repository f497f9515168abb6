/* The engine's parts against known answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/device/backend.h"
#include "engine/log.h"
#include "engine/model.h"
#include "engine/reduce.h"
#include "engine/rng.h"
#include "engine/run/run.h"
#include "engine/thread.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- random numbers ---- */

/* Known answers published with the Random123 library for Philox4x32-10. */
static void philox_known_answers(void **state) {
  (void)state;
  static const struct {
    uint64_t seed, entity, step;
    uint32_t draw, words[4];
  } rows[] = {
      {0, 0, 0, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {~UINT64_C(0), ~UINT64_C(0), UINT64_C(0xffffffffffff), 0xffff, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {UINT64_C(0x299f31d0a4093822),
       UINT64_C(0x85a308d3243f6a88),
       UINT64_C(0x037013198a2e),
       0x7344,
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    uint32_t words[4];
    sim_rng_bits(rows[i].seed, rows[i].entity, rows[i].step, rows[i].draw, words);
    assert_memory_equal(words, rows[i].words, sizeof words);
  }
}

/* Mean and variance of n samples within 5 standard errors. A right generator fails at one seed in 10^6; this seed is
 * fixed. Uniform: variance 1/12, fourth central moment 1/80. Normal: variance 1, fourth moment 3. */
static void moments(void **state) {
  (void)state;
  const int n = 200000;
  double sum[2] = {0}, square[2] = {0};
  for (int i = 0; i < n; i++) {
    double u[2], z[2];
    sim_rng_uniform(7, (uint64_t)i, 0, 0, u);
    sim_rng_normal(7, (uint64_t)i, 0, 1, z);
    for (int k = 0; k < 2; k++) {
      assert_true(u[k] > 0 && u[k] < 1);
      sum[0] += u[k] - 0.5;
      square[0] += (u[k] - 0.5) * (u[k] - 0.5);
      sum[1] += z[k];
      square[1] += z[k] * z[k];
    }
  }
  double m = 2. * n;
  assert_true(fabs(sum[0] / m) < 5 * sqrt(1 / 12. / m));
  assert_true(fabs(square[0] / m - 1 / 12.) < 5 * sqrt((1 / 80. - 1 / 144.) / m));
  assert_true(fabs(sum[1] / m) < 5 * sqrt(1 / m));
  assert_true(fabs(square[1] / m - 1) < 5 * sqrt(2 / m));
}

/* ---- sums ---- */

static void sums_do_not_depend_on_threads(void **state) {
  (void)state;
  enum { N = 300007 };
  double *x = malloc(N * sizeof *x), *partial = malloc(sim_reduce_blocks(N) * sizeof *partial);
  assert_non_null(x);
  assert_non_null(partial);
  long double exact = 0;
  for (size_t i = 0; i < N; i++) {
    double u[2];
    sim_rng_uniform(1, i, 0, 0, u);
    x[i] = u[0] - 0.5;
    exact += x[i];
  }
  double one = sim_reduce_sum(x, N, partial, 1);
  static const int threads[] = {2, 3, 7, 16};
  for (size_t i = 0; i < 4; i++) {
    double many = sim_reduce_sum(x, N, partial, threads[i]);
    assert_memory_equal(&one, &many, sizeof one);
  }
  /* A lane adds 128 numbers one by one, and the trees are 5 and 7 deep: at most 140 roundings of sums below 128. */
  assert_true(fabs(one - (double)exact) < 140 * 0x1p-53 * 0.25 * N);
  assert_true(sim_reduce_sum(x, 0, partial, 4) == 0);
  assert_true(sim_reduce_sum(x, 1, partial, 4) == x[0]);
  free(x);
  free(partial);
}

/* ---- contraction ---- */

#if defined(__x86_64__)
__attribute__((target("fma"), noinline)) static double multiply_add(double a, double b, double c) { return a * b + c; }
#else
__attribute__((noinline)) static double multiply_add(double a, double b, double c) { return a * b + c; }
#endif

/* (1 + 2^-30)^2 - 1: without a fused operation the last bit of the product is lost. */
static void no_contraction(void **state) {
  (void)state;
  if (sim_isa_best() == SIM_ISA_PLAIN) skip();
  double a = 1 + 0x1p-30;
  assert_true(multiply_add(a, a, -1) == 0x1p-29);
  assert_true(fma(a, a, -1) == 0x1p-29 + 0x1p-60);
}

/* ---- values ---- */

static sim_value *sample(void) {
  sim_value *root = sim_value_table("model"), *list = sim_value_table(NULL), *array = sim_value_array(2, 3);
  for (int i = 0; i < 6; i++) array->u.array.data[i] = i + 0.1;
  assert_int_equal(sim_value_add(list, NULL, 4, sim_value_int(-7)), SIM_OK);
  assert_int_equal(sim_value_add(list, NULL, 5, sim_value_real(0.1)), SIM_OK);
  assert_int_equal(sim_value_add(root, "list", 3, list), SIM_OK);
  assert_int_equal(sim_value_add(root, "array", 6, array), SIM_OK);
  assert_int_equal(sim_value_add(root, "text", 7, sim_value_string("a\0\"\n\xff", 5)), SIM_OK);
  assert_int_equal(sim_value_add(root, "yes", 8, sim_value_bool(true)), SIM_OK);
  assert_int_equal(sim_value_add(root, "bad", 9, sim_value_bad("a function")), SIM_OK);
  return root;
}

static void values_travel(void **state) {
  (void)state;
  sim_value *before = sample(), *after;
  sim_bytes first = {0}, second = {0}, json = {0};
  sim_value_write(before, &first);
  assert_int_equal(sim_value_read(first.data, first.size, &after), SIM_OK);
  sim_value_write(after, &second);
  assert_int_equal(first.size, second.size);
  assert_memory_equal(first.data, second.data, first.size);
  sim_value_json(after, 0, &json);
  assert_string_equal(json.data, "{\"$type\": \"model\", \"list\": [-7, 0.10000000000000001], \"array\": "
                                 "[[0.10000000000000001, 1.1000000000000001, 2.1000000000000001], "
                                 "[3.1000000000000001, 4.0999999999999996, 5.0999999999999996]], "
                                 "\"text\": \"a\\u0000\\\"\\n\\u00ff\", \"yes\": true, \"bad\": \"a function\"}");
  sim_value_free(&before);
  sim_value_free(&after);
  sim_bytes_free(&first);
  sim_bytes_free(&second);
  sim_bytes_free(&json);
}

/* Damaged bytes must be refused or give some tree, never a crash (this runs under the sanitizers too). */
static void damaged_values_are_refused(void **state) {
  (void)state;
  sim_value *value = sample(), *out;
  sim_bytes bytes = {0};
  sim_value_write(value, &bytes);
  for (size_t size = 0; size < bytes.size; size++) assert_int_not_equal(sim_value_read(bytes.data, size, &out), SIM_OK);
  for (size_t i = 0; i < bytes.size; i++)
    for (int bit = 0; bit < 8; bit++) {
      bytes.data[i] = (char)(bytes.data[i] ^ 1 << bit);
      if (sim_value_read(bytes.data, bytes.size, &out) == SIM_OK) sim_value_free(&out);
      bytes.data[i] = (char)(bytes.data[i] ^ 1 << bit);
    }
  sim_value_free(&value);
  sim_bytes_free(&bytes);
}

/* ---- schema ---- */

typedef struct inner {
  bool given;
  double depth;
} inner;

typedef struct dot {
  double at[3];
} dot;

typedef struct sample_parameters {
  int64_t n, most;
  double size, step;
  int kind;
  char *name;
  sim_cadence when;
  inner deep;
  sim_list dots;
  sim_doubles table;
  uint64_t seed;
} sample_parameters;

static const sim_field inner_fields[] = {
    {"depth", SIM_REAL, "depth", offsetof(inner, depth), .flags = SIM_RANGE, .min = 0, .max = INFINITY, .initial = "2"},
    {0}};
static const sim_schema inner_schema = {.name = "", .doc = "", .fields = inner_fields, .size = sizeof(inner)};
static const sim_field dot_fields[] = {
    {"at", SIM_REAL, "place", offsetof(dot, at), .components = 3, .initial = "{0, 1, 2.5}", .dimension = {1, 0, 0}},
    {0}};
static const sim_schema dot_schema = {.name = "dot", .doc = "", .fields = dot_fields, .size = sizeof(dot)};
static const sim_schema *const dot_variants[] = {&dot_schema, NULL};
static const char *const kinds[] = {"small", "large", NULL};
static const sim_field sample_fields[] = {
    {"n", SIM_INT, "count", offsetof(sample_parameters, n), .flags = SIM_REQUIRED | SIM_RANGE, .min = 1, .max = 1e9},
    {"size", SIM_REAL, "length", offsetof(sample_parameters, size), .flags = SIM_RANGE | SIM_MIN_OPEN, .min = 0,
     .max = INFINITY, .initial = "0.5", .dimension = {1, 0, 0}},
    {"step", SIM_REAL, "step", offsetof(sample_parameters, step), .keyword = "auto", .initial = "auto"},
    {"most", SIM_INT, "most", offsetof(sample_parameters, most), .keyword = "auto", .initial = "auto"},
    {"kind", SIM_CHOICE, "kind", offsetof(sample_parameters, kind), .choices = kinds, .initial = "small"},
    {"name", SIM_STRING, "name", offsetof(sample_parameters, name)},
    {"when", SIM_CADENCE, "when", offsetof(sample_parameters, when), .initial = "every 5 min"},
    {"deep", SIM_STRUCT, "deep", offsetof(sample_parameters, deep), .flags = SIM_OPTIONAL, .table = &inner_schema},
    {"dots", SIM_LIST, "dots", offsetof(sample_parameters, dots), .variants = dot_variants},
    {"table", SIM_NUMBERS, "rows", offsetof(sample_parameters, table), .components = 2},
    {"seed", SIM_INT, "seed", offsetof(sample_parameters, seed), .flags = SIM_UNSIGNED, .initial = "0"},
    {0}};
static const sim_schema sample_schema = {
    .name = "sample", .doc = "", .fields = sample_fields, .size = sizeof(sample_parameters)};

static void add(sim_value *table, const char *key, sim_value *value) {
  assert_int_equal(sim_value_add(table, key, 0, value), SIM_OK);
}

static sim_value *text(const char *string) { return sim_value_string(string, strlen(string)); }

static void decode(const sim_value *value, const sim_units *units, sample_parameters *out,
                   const char *faults_expected) {
  sim_faults faults = {.file = "f.lua"};
  *out = (sample_parameters){0};
  assert_int_equal(sim_schema_decode(&sample_schema, value, units, out, &faults), SIM_OK);
  assert_string_equal(faults.text.data ? faults.text.data : "", faults_expected);
  sim_faults_free(&faults);
}

static void parameters_are_decoded(void **state) {
  (void)state;
  sim_units kpc = {.given = true, .length = 3.0856775814913673e19, .mass = 1, .time = 1};
  sim_value *root = sim_value_table("sample"), *dots = sim_value_table(NULL), *table = sim_value_table(NULL);
  add(root, "n", sim_value_real(1e6));
  add(root, "size", text("500 pc"));
  add(root, "deep", sim_value_table(NULL));
  add(dots, NULL, sim_value_table("dot"));
  add(root, "dots", dots);
  for (int i = 0; i < 2; i++) {
    sim_value *row = sim_value_table(NULL);
    add(row, NULL, sim_value_real(i));
    add(row, NULL, sim_value_int(10 * i));
    add(table, NULL, row);
  }
  add(root, "table", table);
  add(root, "seed", text("18446744073709551615"));
  sample_parameters p, again;
  decode(root, &kpc, &p, "");
  assert_int_equal(p.n, 1000000);
  assert_true(fabs(p.size - 0.5) < 1e-15);
  assert_true(isnan(p.step));
  assert_true(p.most == SIM_INT_KEYWORD);
  assert_int_equal(p.kind, 0);
  assert_null(p.name);
  assert_true(p.when.kind == SIM_EVERY_WALL && p.when.interval == 300);
  assert_true(p.deep.given && p.deep.depth == 2);
  assert_int_equal(p.dots.count, 1);
  assert_true(((dot *)p.dots.items[0].data)->at[2] == 2.5);
  assert_true(p.table.rows == 2 && p.table.data[3] == 10);
  assert_true(p.seed == UINT64_MAX);
  /* the resolved parameters decode to the same bits */
  sim_value *resolved = sim_schema_encode(&sample_schema, &p);
  decode(resolved, &kpc, &again, "");
  sim_value *twice = sim_schema_encode(&sample_schema, &again);
  sim_bytes a = {0}, b = {0};
  sim_value_write(resolved, &a);
  sim_value_write(twice, &b);
  assert_int_equal(a.size, b.size);
  assert_memory_equal(a.data, b.data, a.size);
  sim_bytes_free(&a);
  sim_bytes_free(&b);
  sim_value_free(&resolved);
  sim_value_free(&twice);
  sim_value_free(&root);
  sim_schema_free(&sample_schema, &p);
  sim_schema_free(&sample_schema, &again);
}

static void all_faults_at_once(void **state) {
  (void)state;
  sim_units none = {0};
  sim_value *root = sim_value_table("sample"), *dots = sim_value_table(NULL);
  add(root, "size", sim_value_int(0));
  add(root, "step", text("10"));
  add(root, "kind", text("lage"));
  add(root, "nmae", text("x"));
  add(root, "when", text("every 0"));
  add(root, "deep", sim_value_bad("a function"));
  add(dots, NULL, sim_value_table("dots"));
  add(root, "dots", dots);
  sample_parameters p;
  decode(root, &none, &p,
         "f.lua: nmae: unknown key, nearest is 'name'\n"
         "f.lua: n: missing: count\n"
         "f.lua: size: expected a number above 0, got 0\n"
         "f.lua: step: expected a number or \"auto\", got the string \"10\"\n"
         "f.lua: kind: expected one of \"small\", \"large\" (nearest is \"large\"), got the string \"lage\"\n"
         "f.lua: when: expected an interval above 0, and finite, after \"every\", got the string \"every 0\"\n"
         "f.lua: deep: a function is not allowed here\n"
         "f.lua: dots[1]: expected one of sim.dot, got sim.dots{...}\n");
  sim_schema_free(&sample_schema, &p);
  sim_value_free(&root);
}

static void units_are_parsed(void **state) {
  (void)state;
  static const struct {
    const char *text;
    double si; /* 0: refused */
    int length, mass, time;
  } rows[] = {
      {"km/s", 1000, 1, 0, -1},      {"1e10 Msun", 1.988409870698051e40, 0, 1, 0},
      {"m^3/kg*s^-2", 1, 3, -1, -2}, {"yr", 31557600, 0, 0, 1},
      {"parsec", 0, 0, 0, 0},        {"km/", 0, 0, 0, 0},
      {"um/ms", 1e-3, 1, 0, -1},     {"5 us", 5e-6, 0, 0, 1},
      {"m^0", 0, 0, 0, 0},           {"", 0, 0, 0, 0},
      {"km s", 0, 0, 0, 0},          {"km s^-1", 0, 0, 0, 0},
      {"m^2kg", 0, 0, 0, 0},         {"km * s", 1000, 1, 0, 1},
      {"km / s", 1000, 1, 0, -1},    {"0x10 km", 0, 0, 0, 0},
      {"2 Pa", 2, -1, 1, -2},        {"0.02 mbar", 2, -1, 1, -2},
      {"3 bar", 3e5, -1, 1, -2},     {"hPa", 100, -1, 1, -2},
      {"kPa", 1e3, -1, 1, -2},       {"MPa", 1e6, -1, 1, -2},
      {"mPa*s", 1e-3, -1, 1, -1},    {"GPa", 1e9, -1, 1, -2},
      {"5 mN/m", 5e-3, 0, 1, -2},    {"kN", 1e3, 1, 1, -2},
      {"J/N", 1, 1, 0, 0},           {"kJ/kg", 1e3, 2, 0, -2},
      {"W*s/J", 1, 0, 0, 0},         {"kW", 1e3, 2, 1, -3},
      {"50 Hz", 50, 0, 0, -1},       {"kHz", 1e3, 0, 0, -1},
      {"Pa s", 0, 0, 0, 0},          {"pa", 0, 0, 0, 0},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    double si;
    sim_dimension d;
    sim_status status = sim_unit_parse(rows[i].text, &si, &d);
    assert_int_equal(status == SIM_OK, rows[i].si != 0);
    if (status != SIM_OK) continue;
    assert_true(fabs(si / rows[i].si - 1) < 4 * 0x1p-53); /* a product of at most four rounded factors */
    assert_true(d.length == rows[i].length && d.mass == rows[i].mass && d.time == rows[i].time);
  }
}

static void one_number_and_no_zero_byte(void **state) {
  (void)state;
  sim_units kpc = {.given = true, .length = 3.0856775814913673e19, .mass = 1, .time = 1};
  static const struct {
    const char *key, *text;
    size_t size;
  } rows[] = {
      {"size", "3 4 kpc", 7}, {"size", "3 inf kpc", 9},    {"size", "3 kpc\0", 6},          {"step", "auto\0", 5},
      {"kind", "small\0", 6}, {"kind", "large\0x", 7},     {"when", "every 1 s\0", 10},     {"when", "never\0x", 7},
      {"name", "a\0b", 3},    {"when", "every 1 2 s", 11}, {"when", "every 1 2 kpc/s", 15},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    sim_value *root = sim_value_table("sample");
    add(root, "n", sim_value_int(1));
    add(root, rows[i].key, sim_value_string(rows[i].text, rows[i].size));
    sample_parameters p = {0};
    sim_faults faults = {.file = "f.lua"};
    assert_int_equal(sim_schema_decode(&sample_schema, root, &kpc, &p, &faults), SIM_OK);
    assert_int_equal(faults.count, 1);
    assert_non_null(strstr(faults.text.data, rows[i].key));
    sim_faults_free(&faults);
    sim_schema_free(&sample_schema, &p);
    sim_value_free(&root);
  }
}

/* Beyond the limit of 50, faults are counted but not listed. */
static void faults_are_counted(void **state) {
  (void)state;
  enum { ROWS = 1000 };
  sim_value *root = sim_value_table("sample"), *table = sim_value_array(ROWS, 2);
  for (size_t i = 0; i < 2 * ROWS; i++) table->u.array.data[i] = NAN;
  add(root, "n", sim_value_int(1));
  add(root, "table", table);
  sim_units none = {0};
  sample_parameters p = {0};
  sim_faults faults = {.file = "f.lua"};
  assert_int_equal(sim_schema_decode(&sample_schema, root, &none, &p, &faults), SIM_OK);
  assert_int_equal(faults.count, 2 * ROWS);
  assert_true(sim_faults_full(&faults));
  size_t lines = 0;
  for (const char *at = faults.text.data; (at = strchr(at, '\n')) != NULL; at++) lines++;
  assert_int_equal(lines, 50);
  assert_non_null(strstr(faults.text.data, "f.lua: table[25]: expected a finite number, got "));
  sim_faults_free(&faults);
  sim_schema_free(&sample_schema, &p);
  sim_value_free(&root);
}

/* ---- cadence ---- */

/* A cadence from a checkpoint must be the same to the bit, or start anew. */
static void cadences_are_resumed(void **state) {
  (void)state;
  sim_units units = {.given = true, .length = 1, .mass = 1, .time = 31557600e6 / 3};
  static const struct {
    const char *text;
    bool good;
  } rows[] = {
      {"every 0.1", true},
      {"every 0.7 h", true},
      {"every 1e-3 min", true},
      {"every 0.3 Myr", true},
      {"every 7 yr", true},
      {"every 1e22 steps", true},
      {"every 1e300", true},
      {"every 3e-308 s", true},
      {"never", true},
      {"ends", true},
      {"every 1e308 h", false},
      {"every 1e-320 s", false},
      {"every 1e-320", false},
      {"every 1e-308 s", false},
      {"every 1e308 Gyr", false},
      {"every 1e-308 s/s*s", false},
      {"every 0 steps", false},
      {"every -1 s", false},
      {"every nan", false},
      {"every inf min", false},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    sim_value *root = sim_value_table("sample");
    add(root, "n", sim_value_int(1));
    add(root, "when", text(rows[i].text));
    sample_parameters p = {0}, again = {0};
    sim_faults faults = {.file = "f.lua"};
    assert_int_equal(sim_schema_decode(&sample_schema, root, &units, &p, &faults), SIM_OK);
    if ((faults.count == 0) != rows[i].good) fail_msg("%s", rows[i].text);
    if (rows[i].good) {
      sim_value *kept = sim_schema_encode(&sample_schema, &p);
      assert_int_equal(sim_schema_decode(&sample_schema, kept, &units, &again, &faults), SIM_OK);
      assert_int_equal(faults.count, 0);
      assert_int_equal(again.when.kind, p.when.kind);
      assert_memory_equal(&again.when.interval, &p.when.interval, sizeof(double));
      sim_value_free(&kept);
    }
    sim_faults_free(&faults);
    sim_schema_free(&sample_schema, &p);
    sim_schema_free(&sample_schema, &again);
    sim_value_free(&root);
  }
}

static void cadences_fall_due(void **state) {
  (void)state;
  sim_cadence tenth = {SIM_EVERY_TIME, 0.1}, steps = {SIM_EVERY_STEPS, 3};
  int by_time = 0, by_step = 0;
  for (int64_t step = 1; step <= 1000; step++) {
    sim_clock before = {.step = step - 1, .t = (double)(step - 1) * 0.01},
              now = {.step = step, .t = (double)step * 0.01};
    by_time += sim_cadence_due(&tenth, &before, &now);
    by_step += sim_cadence_due(&steps, &before, &now);
  }
  assert_int_equal(by_time, 100);
  assert_int_equal(by_step, 333);
}

/* ---- text ---- */

static void control_characters_are_escaped(void **state) {
  (void)state;
  char out[32];
  sim_text_escape(out, sizeof out, "a\033[31m\n\xc3\xa9\xff", 10);
  assert_string_equal(out, "a\\x1b[31m\\x0a\xc3\xa9\\xff");
  sim_text_escape(out, 8, "0123456789", 10);
  assert_string_equal(out, "0123...");
  assert_int_equal(sim_fail(SIM_ERR_IO, "x\ry"), SIM_ERR_IO);
  assert_string_equal(sim_error_last()->message, "x\\x0dy");
  sim_fail_context("while %s", "reading");
  assert_string_equal(sim_error_last()->message, "while reading: x\\x0dy");
}

static void buffers_refuse_what_does_not_fit(void **state) {
  (void)state;
  sim_buffer buffer;
  int64_t shape[] = {INT64_C(1) << 40, INT64_C(1) << 40};
  assert_int_equal(sim_buffer_create(&sim_backend_cpu, SIM_F64, 2, shape, &buffer), SIM_ERR_NO_MEMORY);
  int64_t small[] = {3, 5};
  assert_int_equal(sim_buffer_create(&sim_backend_cpu, SIM_F32, 2, small, &buffer), SIM_OK);
  assert_int_equal(sim_buffer_bytes(&buffer), 60);
  assert_int_equal((uintptr_t)buffer.data % 64, 0);
  sim_buffer_destroy(&buffer);
  assert_null(buffer.data);
}

/* ---- threads ---- */

static void *find_mask(void *mask) {
  pthread_sigmask(SIG_SETMASK, NULL, mask);
  return NULL;
}

/* A thread takes no signal that can be blocked, and its creator's mask stays as it was, also where none can start. */
static void threads_take_no_signals(void **state) {
  (void)state;
  const int signals[] = {SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGCHLD, SIGXCPU};
  sigset_t one, mask, after;
  pthread_t thread;
  pthread_attr_t huge;
  sigemptyset(&one);
  sigaddset(&one, SIGUSR2);
  assert_int_equal(pthread_sigmask(SIG_SETMASK, &one, NULL), 0);
  assert_int_equal(sim_thread_create(&thread, NULL, find_mask, &mask), 0);
  assert_int_equal(pthread_join(thread, NULL), 0);
  assert_int_equal(pthread_attr_init(&huge), 0);
  assert_int_equal(pthread_attr_setstacksize(&huge, (size_t)1 << 60), 0); /* more than there are addresses */
  assert_int_not_equal(sim_thread_create(&thread, &huge, find_mask, &mask), 0);
  pthread_attr_destroy(&huge);
  pthread_sigmask(SIG_SETMASK, NULL, &after);
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
    assert_int_equal(sigismember(&mask, signals[i]), 1);
    assert_int_equal(sigismember(&after, signals[i]), signals[i] == SIGUSR2);
  }
  sigemptyset(&one);
  pthread_sigmask(SIG_SETMASK, &one, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(philox_known_answers),
      cmocka_unit_test(moments),
      cmocka_unit_test(sums_do_not_depend_on_threads),
      cmocka_unit_test(no_contraction),
      cmocka_unit_test(values_travel),
      cmocka_unit_test(damaged_values_are_refused),
      cmocka_unit_test(parameters_are_decoded),
      cmocka_unit_test(all_faults_at_once),
      cmocka_unit_test(units_are_parsed),
      cmocka_unit_test(one_number_and_no_zero_byte),
      cmocka_unit_test(faults_are_counted),
      cmocka_unit_test(cadences_are_resumed),
      cmocka_unit_test(cadences_fall_due),
      cmocka_unit_test(control_characters_are_escaped),
      cmocka_unit_test(buffers_refuse_what_does_not_fit),
      cmocka_unit_test(threads_take_no_signals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
