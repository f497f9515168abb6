/* The table and the trace of a profile, from invented events. */
#include "engine/run/profile.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const sim_kernel force = {"kernel_force", "force", SIM_LIMIT_FP32};
static const sim_kernel kick = {"kernel_kick", "kick and \"drift\"", SIM_LIMIT_BYTES};

static void add(const sim_kernel *kernel, sim_profile_track track, double begin, double seconds, double amount) {
  sim_profile_event event = {kernel, track, begin, seconds, amount};
  sim_profile_add(&event);
}

static void *other_thread(void *unused) {
  sim_profile_range_begin("snapshots");
  sim_profile_range_end();
  return unused;
}

static size_t lines_with(const char *text, const char *word) {
  size_t count = 0;
  for (const char *at = text; (at = strstr(at, word)); at++) count++;
  return count;
}

/* 300 forces of 2 ms with 1e9 fp32 instructions each: 0.6 s, 5e11 a second, half of the limit. 100 kicks of 1 ms with 1
 * GB: a tenth of the limit's bytes. Shares 6/7 and 1/7. */
static void table(void **state) {
  (void)state;
  const double limits[SIM_LIMITS] = {1e13, 1e12, 5e11};
  sim_profile_start();
  sim_profile_limits(limits);
  for (int i = 0; i < 300; i++) add(&force, SIM_TRACK_STEPS, 2e-3 * i, 2e-3, 1e9);
  for (int i = 0; i < 100; i++) add(&kick, SIM_TRACK_STEPS, 0.6 + 1e-3 * i, 1e-3, 1e9);
  sim_profile_range_begin("step");
  sim_profile_range_begin("view");
  sim_profile_range_end();
  sim_profile_range_end();
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, other_thread, NULL), 0);
  pthread_join(thread, NULL);
  sim_bytes text = {0};
  sim_profile_table(&text);
  print_message("%s", text.data);
  const char *first = strstr(text.data, "kernel_force "), *second = strstr(text.data, "kernel_kick ");
  assert_true(first && second && first < second); /* the longest first */
  char line[256], each[32], share[32];
  assert_int_equal(sscanf(first, "kernel_force %31[0-9] %255[^\n]", each, line), 2);
  assert_string_equal(each, "300");
  assert_non_null(strstr(line, "600 ms"));
  assert_non_null(strstr(line, "2 ms"));
  assert_non_null(strstr(line, "85.7 %"));
  assert_non_null(strstr(line, "5e+11 fp32/s"));
  assert_non_null(strstr(line, "50.0 %"));
  assert_int_equal(sscanf(second, "kernel_kick %*d %255[^\n]", line), 1);
  assert_non_null(strstr(line, "14.3 %"));
  assert_non_null(strstr(line, "1e+12 B/s"));
  assert_non_null(strstr(line, "10.0 %"));
  assert_int_equal(sscanf(strstr(text.data, "  step "), " step %31[0-9] %31s", each, share), 2);
  assert_string_equal(each, "1");
  assert_int_equal(lines_with(text.data, "snapshots"), 1);
  assert_null(strstr(text.data, "the trace holds"));
  sim_bytes_free(&text);
  sim_profile_stop();
}

/* Returns 0 where the condition holds for the trace as Python's json reads it. */
static int python_says(const sim_bytes *trace, const char *condition) {
  char command[1024];
  snprintf(command, sizeof command,
           "python3 -c '\n"
           "import json, sys\n"
           "events = json.load(sys.stdin)[\"traceEvents\"]\n"
           "spans = [e for e in events if e[\"ph\"] == \"X\"]\n"
           "sys.exit(not (%s))'",
           condition);
  FILE *python = popen(command, "w");
  assert_non_null(python);
  fwrite(trace->data, 1, trace->size, python);
  return pclose(python);
}

static void trace_is_json(void **state) {
  (void)state;
  if (system("command -v python3 >/dev/null") != 0) skip();
  sim_bytes trace = {0};
  sim_profile_start();
  sim_profile_trace(&trace);
  assert_int_equal(python_says(&trace, "len(events) > 0 and not spans"), 0);
  sim_bytes_free(&trace);
  add(&kick, SIM_TRACK_STEPS, 0.5, 1e-6, 1);
  add(&force, SIM_TRACK_COPIES, 3000.25, 1.5e-3, 1);
  sim_profile_range_begin("a name with \"quotes\" and \\");
  sim_profile_range_end();
  sim_profile_trace(&trace);
  assert_int_equal(python_says(&trace, "len(spans) == 3 and spans[0][\"ts\"] == 5e5 and spans[0][\"dur\"] == 1 and "
                                       "spans[0][\"cat\"] == \"kick and \\\"drift\\\"\""),
                   0);
  assert_int_equal(python_says(&trace, "[e[\"pid\"] for e in spans] == [0, 0, 1] and "
                                       "spans[1][\"ts\"] == 3000250000 and spans[1][\"tid\"] == 1"),
                   0);
  assert_int_not_equal(python_says(&trace, "len(spans) == 4"), 0); /* shows that Python is called */
  sim_bytes_free(&trace);
  sim_profile_stop();
}

/* A long run: the trace keeps its beginning, the table counts everything. */
static void bounded(void **state) {
  (void)state;
  sim_profile_start();
  for (int i = 0; i < 250000; i++) add(&kick, SIM_TRACK_STEPS, 1e-6 * i, 1e-6, 1);
  sim_bytes text = {0}, trace = {0};
  sim_profile_table(&text);
  sim_profile_trace(&trace);
  assert_non_null(strstr(text.data, " 250000 "));
  assert_non_null(strstr(text.data, "the trace holds the first 200000 of 250000 events"));
  assert_int_equal(lines_with(trace.data, "kernel_kick"), 200000);
  sim_bytes_free(&text);
  sim_bytes_free(&trace);
  sim_profile_stop();
  /* switched off: nothing is recorded */
  add(&kick, SIM_TRACK_STEPS, 0, 1, 1);
  sim_profile_range_begin("step");
  sim_profile_range_end();
  sim_profile_start();
  sim_profile_table(&text);
  assert_null(strstr(text.data, "kernel_kick"));
  assert_null(strstr(text.data, "step"));
  sim_bytes_free(&text);
  sim_profile_stop();
}

/* More nested ranges than are recorded: the inner ranges are lost, the outer ones are right. */
static void deep(void **state) {
  (void)state;
  sim_profile_start();
  for (int i = 0; i < 40; i++) sim_profile_range_begin(i ? "inner" : "outer");
  for (int i = 0; i < 40; i++) sim_profile_range_end();
  sim_profile_range_end(); /* one end too many does no harm */
  sim_bytes text = {0};
  sim_profile_table(&text);
  assert_non_null(strstr(text.data, "  outer "));
  assert_non_null(strstr(text.data, "  inner "));
  sim_bytes_free(&text);
  sim_profile_stop();
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(table), cmocka_unit_test(trace_is_json),
                                     cmocka_unit_test(bounded), cmocka_unit_test(deep)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
