/* A schema of functions of each form, and scenarios that are decoded with it. */
#ifndef TESTS_TRACE_TESTING_H
#define TESTS_TRACE_TESTING_H

#include "lua/scenario.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

typedef struct parameters {
  sim_expr *f, *pair, *body, *any, *stop, *number;
  sim_function_map observe;
  double real;
} parameters;

#define NAMES(...)                                                                                                     \
  (const char *const[]) { __VA_ARGS__, NULL }
static const sim_signature plain = {.inputs = NAMES("x", "y", "z", "t"),
                                    .outputs = {1, 3},
                                    .returns = "a potential, or the acceleration by x, y and z"};
static const sim_signature pair = {.inputs = NAMES("r2"), .outputs = {1}, .must_depend = NAMES("r2")};
static const sim_signature body = {.inputs = NAMES("mass", "x", "vx"), .record = true, .outputs = {1}};
static const sim_signature any = {.record = true, .parameter = "path"};
static const sim_signature stop = {.inputs = NAMES("t"), .outputs = {1}, .condition = true};
#define FIELD(member, kind, ...)                                                                                       \
  { .name = #member, .type = kind, .doc = #member, .offset = offsetof(parameters, member), __VA_ARGS__ }
static const sim_field fields[] = {FIELD(f, SIM_FUNCTION, .signature = &plain),
                                   FIELD(pair, SIM_FUNCTION, .signature = &pair),
                                   FIELD(body, SIM_FUNCTION, .signature = &body),
                                   FIELD(any, SIM_FUNCTION, .signature = &any),
                                   FIELD(stop, SIM_FUNCTION, .signature = &stop),
                                   FIELD(number, SIM_FUNCTION, .signature = &plain, .flags = SIM_OR_NUMBER),
                                   FIELD(observe, SIM_FUNCTION_MAP, .signature = &body),
                                   FIELD(real, SIM_REAL, .initial = "0"),
                                   {.name = NULL}};
static const sim_schema schema = {"model", "a model", fields, NULL, sizeof(parameters)};

static const char *const models[] = {"model", NULL};
static char folder[] = "/tmp/sim_trace_XXXXXX";

static inline sim_status load(const char *text, scenario *out) {
  const scenario_options options = {models, models, NULL, 20, (size_t)64 << 20};
  FILE *file = fopen("s.lua", "w");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
  sim_error_clear();
  return scenario_load("s.lua", &options, out);
}

static inline void load_good(const char *text, scenario *out) {
  if (load(text, out) != SIM_OK) fail_msg("%s\n%s", text, sim_error_last()->message);
}

static const sim_units no_units;

/* Decodes a file that has no faults. */
static inline void decode(const char *text, parameters *out) {
  scenario loaded;
  sim_faults faults = {.file = "s.lua"};
  load_good(text, &loaded);
  *out = (parameters){0};
  assert_int_equal(sim_schema_decode(&schema, loaded.value, &no_units, out, &faults), SIM_OK);
  if (faults.count) fail_msg("%s\n%s", text, faults.text.data);
  scenario_free(&loaded);
}

static inline int in_folder(void **state) {
  (void)state;
  return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}
static inline int leave_folder(void **state) {
  (void)state;
  return unlink("s.lua") == 0 && chdir("/") == 0 && rmdir(folder) == 0 ? 0 : -1;
}

#endif
