/* The files of a run whose state is in a device's memory: a thread of their own writes them while the loop's thread
 * writes status. */
#include "tests/io/fixture.h"

#include "engine/run/run.h"
#include "io/sys.h"
#include "tests/engine/fake_device.h"
#include "tests/engine/fake_model.h"

#include <errno.h>
#include <math.h>

enum { STEPS = 60, SINKS = 3 };

typedef struct session {
  fixture *fixture;
  io_folder *folder;
  fake_state model;
  sim_sink sinks[SINKS];
  sim_run run;
} session;

static void write_status(void *context, const sim_progress *progress) {
  session *s = context;
  char text[64];
  int n = snprintf(text, sizeof text, "{\"step\": %lld}\n", (long long)progress->clock.step);
  (void)!io_folder_write(s->folder, "status.json", text, (size_t)n);
}

/* Runs to the end, or to the end of step `stop`; with `again` from the folder's newest checkpoint. */
static sim_status run(session *s, const sim_backend *backend, int64_t stop, bool again) {
  const sim_cadence often = {.kind = SIM_EVERY_STEPS, .interval = 3},
                    seldom = {.kind = SIM_EVERY_STEPS, .interval = 11};
  io_provenance *from = &s->fixture->provenance;
  io_checkpoint saved = {0};
  s->run = (sim_run){.model = &fake_model,
                     .backend = backend,
                     .self = &s->model,
                     .clock = {.dt = 1, .t_end = STEPS},
                     .resumed = again,
                     .sinks = s->sinks,
                     .sink_count = SINKS,
                     .requests = &s->model.requests,
                     .wall_limit = INFINITY,
                     .progress = write_status,
                     .progress_context = s};
  s->model.requests.stop = 0;
  s->model.nan_step = -1;
  s->model.stop_step = stop;
  if (again) {
    assert_ok(io_checkpoint_newest(s->fixture->run, &saved));
    s->run.clock = saved.frame.clock;
  }
  assert_ok(io_folder_open(s->fixture->run, again ? IO_FOLDER_RESUME : IO_FOLDER_NEW, &s->folder));
  if (backend == &fake_device) fake_start(&(fake_options){.step_us = 100, .leave_us = 500});
  assert_ok(fake_state_create(&s->model, backend, again ? &saved.frame : NULL));
  assert_ok(io_table_sink(s->folder, from, fake_model.tables, often, &s->sinks[0]));
  if (again) assert_ok(io_table_resume(&s->sinks[0], &saved));
  assert_ok(io_snapshot_sink(s->folder, from, often, &s->sinks[1]));
  assert_ok(io_checkpoint_sink(s->folder, from, &s->sinks[0], seldom, &s->sinks[2]));
  sim_status status = sim_run_loop(&s->run);
  for (int i = 0; i < SINKS; i++) s->sinks[i].destroy(&s->sinks[i].self);
  io_folder_close(&s->folder);
  if (backend == &fake_device) fake_stop();
  fake_state_destroy(&s->model);
  io_checkpoint_free(&saved);
  return status;
}

/* Contents of the folder: the state of its newest checkpoint, and the numbers of rows and snapshots. */
typedef struct content {
  char digest[33];
  int64_t rows, step;
  int snapshots;
} content;

static content look(session *s) {
  content found = {.rows = -1};
  io_checkpoint newest = {0};
  assert_ok(io_checkpoint_newest(s->fixture->run, &newest));
  sim_frame_digest(&newest.frame, found.digest);
  found.step = newest.frame.clock.step;
  found.rows = newest.tables[0].rows;
  io_checkpoint_free(&newest);
  for (int step = 0; step <= STEPS; step++) {
    char path[160];
    snprintf(path, sizeof path, "%s/snap/snap_%08d.h5", s->fixture->run, step);
    found.snapshots += access(path, R_OK) == 0;
  }
  return found;
}

static void as_on_the_cpu(void **state) {
  session s = {.fixture = *state};
  content both[2];
  for (int device = 0; device < 2; device++) {
    assert_ok(run(&s, device ? &fake_device : &sim_backend_cpu, -1, false));
    both[device] = look(&s);
    assert_string_equal(both[device].digest, s.run.digest);
    fixture_remove(s.fixture->run);
  }
  assert_int_equal(both[1].step, STEPS);
  assert_int_equal(both[1].rows, STEPS / 3 + 1);
  assert_int_equal(both[1].snapshots, STEPS / 3 + 1);
  assert_string_equal(both[1].digest, both[0].digest);
  assert_int_equal(both[1].rows, both[0].rows);
}

static void goes_on_where_it_stopped(void **state) {
  session s = {.fixture = *state};
  assert_ok(run(&s, &fake_device, -1, false));
  const content whole = look(&s);
  fixture_remove(s.fixture->run);
  assert_status(run(&s, &fake_device, 25, false), SIM_ERR_STOPPED);
  assert_int_equal(look(&s).step, 25);
  assert_ok(run(&s, &fake_device, -1, true));
  const content split = look(&s);
  assert_string_equal(split.digest, whole.digest);
  assert_int_equal(split.rows, whole.rows);
  assert_int_equal(split.snapshots, whole.snapshots);
  fixture_remove(s.fixture->run);
}

/* One call to the system fails, the n-th: the run continues, and ends with the status of the last outputs. */
static void a_failed_call(void **state) {
  session s = {.fixture = *state};
  for (int64_t nth = 100; nth <= 1000; nth += 150) {
    io_sys_fail(nth, false, ENOSPC);
    sim_status status = run(&s, &fake_device, -1, false);
    io_sys_fail(0, false, 0);
    assert_true(status == SIM_OK || status == SIM_ERR_IO);
    if (status == SIM_OK) assert_int_equal(look(&s).step, STEPS);
    fixture_remove(s.fixture->run);
  }
}

/* All warnings of the log. */
typedef struct warnings {
  int count;
  char text[400][512];
} warnings;

static void keep_warning(void *context, sim_log_level level, const char *message) {
  warnings *all = context;
  if (level == SIM_LOG_WARN && all->count < 400) snprintf(all->text[all->count++], sizeof *all->text, "%s", message);
}

/* The disk is full from some call on: each file that could not be written is reported once. */
static void told_once(void **state) {
  static warnings all;
  session s = {.fixture = *state};
  int told = 0;
  assert_true(sim_log_add(keep_warning, &all));
  for (int64_t nth = 60; nth <= 460; nth += 20)
    for (int onwards = 0; onwards < 2; onwards++) {
      all.count = 0;
      io_sys_fail(nth, onwards, ENOSPC);
      (void)!run(&s, &fake_device, -1, false);
      io_sys_fail(0, false, 0);
      for (int i = 0; i < all.count; i++) {
        const char *file = strstr(all.text[i], "not written: ");
        for (int k = 0; file && k < i; k++) {
          const char *other = strstr(all.text[k], "not written: ");
          if (other && strcmp(file, other) == 0)
            fail_msg("call %lld%s: told twice: \"%s\" and \"%s\"", (long long)nth, onwards ? " and all behind it" : "",
                     all.text[k], all.text[i]);
        }
        told += file != NULL;
      }
      fixture_remove(s.fixture->run);
    }
  sim_log_remove(keep_warning, &all);
  assert_true(told > 20); /* these are calls on files */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(as_on_the_cpu, fixture_setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(goes_on_where_it_stopped, fixture_setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(a_failed_call, fixture_setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(told_once, fixture_setup, fixture_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
