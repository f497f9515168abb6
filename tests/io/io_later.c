/* Files that become durable while the run continues: the order in which they get their names, and what is reported of
 * each. */
#include "fixture.h"
#include "io/folder.h"
#include "io/sys.h"

#include <errno.h>

enum { FILES = 40, KEEP = 3 };

typedef struct disk {
  fixture *fixture;
  io_folder *folder;
  io_later_result snapshots, checkpoints;
  io_later_end ends[FILES];
  int called[FILES], newest;
  bool there[FILES]; /* whether the snapshot added before a checkpoint had its name when that checkpoint was finished */
} disk;

typedef struct ticket {
  disk *disk;
  int number;
} ticket;

static bool is_there(const disk *d, const char *inner, int number) {
  char path[160];
  snprintf(path, sizeof path, "%s/%s_%d.h5", d->fixture->run, inner, number);
  return access(path, F_OK) == 0;
}

static void ended(void *context, io_later_end end) {
  const ticket *t = context;
  t->disk->ends[t->number] = end;
  t->disk->called[t->number]++;
  t->disk->there[t->number] = is_there(t->disk, "snap/snap", t->number);
  if (end == IO_LATER_NEWEST) t->disk->newest = t->number;
}

static void make_file(int folder, const char *path, const char *stem, int number, io_file *out) {
  char name[32];
  snprintf(name, sizeof name, "%s_%d.h5", stem, number);
  assert_ok(io_file_create(folder, path, name, out));
  assert_int_equal(io_sys_write(out->fd, name, sizeof name, 0), 0);
}

/* Adds a snapshot and a checkpoint, FILES times. With `nth` that call to the system fails, counted from when all files
 * are written. */
static void add_all(disk *d, fixture *self, ticket *tickets, int64_t nth, bool onwards) {
  static io_file snapshots[FILES], checkpoints[FILES];
  *d = (disk){.fixture = self, .newest = -1};
  assert_ok(io_folder_open(self->run, IO_FOLDER_NEW, &d->folder));
  for (int i = 0; i < FILES; i++) {
    make_file(d->folder->snap, d->folder->snap_path, "snap", i, &snapshots[i]);
    make_file(d->folder->ckpt, d->folder->ckpt_path, "ck", i, &checkpoints[i]);
  }
  io_sys_fail(nth, onwards, EIO);
  for (int i = 0; i < FILES; i++) {
    tickets[i] = (ticket){d, i};
    io_later_add(d->folder->later, &snapshots[i], "snapshots", &d->snapshots);
    io_later_add_checkpoint(d->folder->later, &checkpoints[i], "checkpoint", &d->checkpoints, KEEP, ended, &tickets[i]);
  }
  io_later_wait_for(d->folder->later, &d->checkpoints);
  io_later_wait_for(d->folder->later, &d->snapshots);
  io_sys_fail(0, false, 0);
  assert_int_equal(d->checkpoints.pending + d->snapshots.pending, 0);
  assert_int_equal(d->checkpoints.bytes + d->snapshots.bytes, 0);
}

static void end(disk *d) {
  io_folder_close(&d->folder);
  fixture_remove(d->fixture->run);
}

/* For any grouping: each snapshot has its name before the checkpoint after it, the newest KEEP checkpoints exist, and
 * each checkpoint that is reported as durable exists. */
static void test_order(void **state) {
  disk d;
  ticket tickets[FILES];
  for (int round = 0; round < 20; round++) {
    add_all(&d, *state, tickets, 0, false);
    assert_false(d.snapshots.failed || d.checkpoints.failed);
    assert_int_equal(d.newest, FILES - 1);
    for (int i = 0; i < FILES; i++) {
      assert_int_equal(d.called[i], 1);
      assert_true(is_there(&d, "snap/snap", i));
      assert_true(d.there[i]);
      assert_int_not_equal(d.ends[i], IO_LATER_FAILED);
      assert_int_equal(is_there(&d, "ckpt/ck", i), d.ends[i] != IO_LATER_DROPPED);
      if (i >= FILES - KEEP) assert_int_not_equal(d.ends[i], IO_LATER_DROPPED);
    }
    end(&d);
  }
}

/* Each call fails, once. A checkpoint that is not the newest of a group is made durable where a newer one was not. A
 * call fails for one file, or for one folder and so for all files of a group in it: one warning reports it. */
static void test_failures(void **state) {
  disk d;
  ticket tickets[FILES];
  fixture_log log = {0};
  bool reached = true;
  assert_true(sim_log_add(fixture_log_writer, &log));
  for (int64_t nth = 1; reached; nth++) {
    log.warnings = 0;
    add_all(&d, *state, tickets, nth, false);
    int durable = 0, failed = 0, newest = -1;
    for (int i = 0; i < FILES; i++) {
      assert_int_equal(d.called[i], 1);
      failed += d.ends[i] == IO_LATER_FAILED;
      if (d.ends[i] == IO_LATER_DURABLE || d.ends[i] == IO_LATER_NEWEST) {
        assert_true(is_there(&d, "ckpt/ck", i));
        durable++;
        newest = i;
      }
    }
    assert_int_equal(failed, d.checkpoints.failures);
    assert_int_equal(log.warnings, failed + d.snapshots.failures > 0);
    reached = log.warnings > 0;
    assert_true(durable >= KEEP);
    assert_int_equal(d.newest, newest);
    assert_int_equal(d.checkpoints.failed, newest < FILES - 1);
    end(&d);
  }
  sim_log_remove(fixture_log_writer, &log);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
int main(void) {
  const struct CMUnitTest tests[] = {TEST(test_order), TEST(test_failures)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
