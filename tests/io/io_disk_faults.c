/* The n-th call that changes a file fails, for n = 1, 2, ... until all calls were covered, once or from there on. There
 * must be no crash and no temporary file, the older files must be unchanged, and the next write must work. */
#include "fixture.h"
#include "io/folder.h"
#include "io/sys.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

static const sim_field columns[] = {{.name = "energy"}, {.name = NULL}};
static const sim_table table = {"energy", "", columns};
static const sim_table *const tables[] = {&table, NULL};

static void assert_no_temporary(const char *base, const char *inner) {
  char path[160];
  snprintf(path, sizeof path, "%s%s", base, inner);
  DIR *list = opendir(path);
  assert_non_null(list);
  for (const struct dirent *entry; (entry = readdir(list));)
    if (strstr(entry->d_name, ".tmp")) fail_msg("%s was left in %s", entry->d_name, path);
  closedir(list);
}

typedef struct outputs {
  io_folder *folder;
  sim_sink snapshots, tables, checkpoints;
} outputs;

static void open_outputs(fixture *self, outputs *out) {
  assert_ok(io_folder_open(self->run, IO_FOLDER_NEW, &out->folder));
  assert_ok(io_snapshot_sink(out->folder, &self->provenance, (sim_cadence){0}, &out->snapshots));
  assert_ok(io_table_sink(out->folder, &self->provenance, tables, (sim_cadence){0}, &out->tables));
  assert_ok(io_checkpoint_sink(out->folder, &self->provenance, &out->tables, (sim_cadence){0}, &out->checkpoints));
}

static void close_outputs(outputs *it) {
  it->snapshots.destroy(&it->snapshots.self);
  it->tables.destroy(&it->tables.self);
  it->checkpoints.destroy(&it->checkpoints.self);
  io_folder_close(&it->folder);
}

static sim_status write_one(outputs *it, fixture *self, int kind) {
  static const double value = 1;
  sim_row row = {&table, &value};
  sim_frame frame = self->frame;
  if (kind == 0) {
    SIM_TRY(it->checkpoints.write(it->checkpoints.self, &frame));
    return it->checkpoints.flush(it->checkpoints.self);
  }
  if (kind == 1) {
    SIM_TRY(it->snapshots.write(it->snapshots.self, &frame));
    io_later_wait(it->folder->later); /* the index is written later */
    return it->snapshots.flush(it->snapshots.self);
  }
  if (kind == 3) return io_folder_write(it->folder, "status.json", "{}\n", 3);
  frame.rows = &row;
  frame.row_count = 1;
  SIM_TRY(it->tables.write(it->tables.self, &frame));
  return it->tables.flush(it->tables.self);
}

static void run_faults(fixture *self, int kind, bool onwards, int error) {
  outputs out;
  io_checkpoint loaded;
  open_outputs(self, &out);
  self->frame.clock.step = 1;
  assert_ok(write_one(&out, self, 0));
  if (kind == 1) assert_ok(write_one(&out, self, kind)); /* run.pmd and the index exist already */
  self->frame.clock.step = 2;
  int64_t n = 1;
  for (;; n++) {
    io_sys_fail(n, onwards, error);
    sim_status status = write_one(&out, self, kind);
    bool reached = io_sys_failed();
    io_sys_fail(0, false, 0);
    if (!reached) {
      assert_ok(status);
      break;
    }
    if (kind != 1 || n < 8) {
      assert_status(status, SIM_ERR_IO);
      assert_message(strerror(error));
    }
    assert_no_temporary(self->run, "");
    assert_no_temporary(self->run, "/snap");
    assert_no_temporary(self->run, "/ckpt");
    assert_ok(io_checkpoint_newest(self->run, &loaded));
    assert_true(loaded.frame.clock.step == 1 || kind == 0);
    io_checkpoint_free(&loaded);
  }
  /* A file takes six calls: open, write, sync, close, rename, sync of the folder. Checkpoints and snapshots take one
   * more, which writes the seal. Also counted are the index after a snapshot, whose failures do not count as failures
   * here, and tables. */
  assert_true(kind == 0 ? n == 8 : kind == 3 ? n == 7 : n >= 7);
  assert_ok(write_one(&out, self, kind));
  assert_ok(io_checkpoint_newest(self->run, &loaded));
  assert_int_equal(loaded.frame.clock.step, kind == 0 ? 2 : 1);
  io_checkpoint_free(&loaded);
  close_outputs(&out);
  fixture_remove(self->run);
}

static void test_each_call_fails(void **state) {
  for (int kind = 0; kind < 4; kind++)
    for (int onwards = 0; onwards < 2; onwards++) run_faults(*state, kind, onwards != 0, onwards ? ENOSPC : EIO);
}

/* The index of the snapshots is only a convenience: its failures are reported, but stop neither the flush nor a
 * checkpoint. */
static void test_index_fails(void **state) {
  fixture *self = *state;
  outputs out;
  fixture_log log = {0};
  char path[160];
  snprintf(path, sizeof path, "%s/halo.hdf", self->run);
  open_outputs(self, &out);
  assert_true(sim_log_add(fixture_log_writer, &log));
  for (int64_t n = 1;; n++) {
    assert_ok(out.snapshots.write(out.snapshots.self, &self->frame));
    io_later_wait(out.folder->later);
    io_sys_fail(n, false, EIO);
    assert_ok(out.snapshots.flush(out.snapshots.self));
    bool reached = io_sys_failed();
    io_sys_fail(0, false, 0);
    assert_no_temporary(self->run, "");
    if (!reached) {
      assert_true(n > 14); /* two files, more than seven calls each */
      break;
    }
    assert_int_equal(log.warnings, 1); /* repeated failures are reported once */
  }
  self->frame.clock.step++;
  assert_ok(out.snapshots.write(out.snapshots.self, &self->frame));
  io_later_wait(out.folder->later);
  io_sys_fail(1, false, EIO);
  assert_ok(out.snapshots.flush(out.snapshots.self));
  io_sys_fail(0, false, 0);
  assert_int_equal(log.warnings, 2); /* and again after a success */
  assert_int_equal(access(path, F_OK), 0);
  sim_log_remove(fixture_log_writer, &log);
  close_outputs(&out);
}

static void test_size_limit(void **state) {
  fixture *self = *state;
  outputs out;
  io_checkpoint loaded;
  struct rlimit before, small;
  void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  open_outputs(self, &out);
  self->frame.clock.step = 1;
  assert_ok(write_one(&out, self, 0));
  for (rlim_t limit = 0; limit < 6000; limit += 500) {
    small = before;
    small.rlim_cur = limit;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    self->frame.clock.step = 2;
    sim_status checkpoint = write_one(&out, self, 0), snapshot = write_one(&out, self, 1);
    sim_status rows = write_one(&out, self, 2);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(checkpoint, SIM_ERR_IO);
    assert_int_equal(snapshot, SIM_ERR_IO);
    assert_int_equal(rows, SIM_ERR_IO);
    assert_no_temporary(self->run, "/ckpt");
    assert_ok(io_checkpoint_newest(self->run, &loaded));
    assert_int_equal(loaded.frame.clock.step, 1);
    io_checkpoint_free(&loaded);
  }
  assert_ok(write_one(&out, self, 0));
  assert_ok(write_one(&out, self, 1));
  assert_ok(write_one(&out, self, 2));
  close_outputs(&out);
  signal(SIGXFSZ, handler);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
int main(void) {
  const struct CMUnitTest tests[] = {TEST(test_each_call_fails), TEST(test_index_fails), TEST(test_size_limit)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
