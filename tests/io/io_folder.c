#include "fixture.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

static void make_file(const char *base, const char *name) {
  char path[256];
  snprintf(path, sizeof path, "%s/%s", base, name);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fclose(file);
}

static bool exists(const char *base, const char *name) {
  char path[256];
  struct stat info;
  snprintf(path, sizeof path, "%s/%s", base, name);
  return lstat(path, &info) == 0;
}

static void test_new_refuses_what_is_there(void **state) {
  fixture *self = *state;
  io_folder *folder;
  assert_int_equal(mkdir(self->run, 0700), 0);
  assert_ok(io_folder_open(self->run, IO_FOLDER_NEW, &folder)); /* empty: fine */
  io_folder_close(&folder);
  assert_status(io_folder_open(self->run, IO_FOLDER_NEW, &folder), SIM_ERR_CANT_CREATE);
  assert_message("--resume");
  assert_message("--force");
  assert_null(folder);
}

static void test_somebody_elses_folder_is_left_alone(void **state) {
  fixture *self = *state;
  io_folder *folder;
  make_file(self->base, "thesis.tex");
  assert_status(io_folder_open(self->base, IO_FOLDER_NEW, &folder), SIM_ERR_CANT_CREATE);
  assert_status(io_folder_open(self->base, IO_FOLDER_RESUME, &folder), SIM_ERR_NO_INPUT);
  assert_false(exists(self->base, ".lock") || exists(self->base, "snap") || exists(self->base, "ckpt"));
}

static void test_force_removes_only_our_own(void **state) {
  static const char *const own[] = {"snap/snap_00000100.h5",
                                    "ckpt/ck_000000000100.h5",
                                    "tables.h5",
                                    "run.pmd",
                                    "status.json",
                                    "run.log",
                                    "run.jsonl",
                                    "scenario.lua",
                                    ".tables.h5.tmp",
                                    "snap/.snap_00000200.h5.tmp"};
  static const char *const foreign[] = {"notes.txt", "snap/mine.h5", "snap/snap_.h5", "ckpt/ck_1.h5.bak", "my.hdf"};
  fixture *self = *state;
  io_folder *folder;
  assert_ok(io_folder_open(self->run, IO_FOLDER_NEW, &folder));
  io_folder_close(&folder);
  for (size_t i = 0; i < sizeof own / sizeof *own; i++) make_file(self->run, own[i]);
  for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) make_file(self->run, foreign[i]);
  assert_ok(io_folder_open(self->run, IO_FOLDER_FORCE, &folder));
  assert_ok(io_folder_clear(folder));
  io_folder_close(&folder);
  for (size_t i = 0; i < sizeof own / sizeof *own; i++) assert_false(exists(self->run, own[i]));
  for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) assert_true(exists(self->run, foreign[i]));
}

static void test_resume_removes_temporaries(void **state) {
  fixture *self = *state;
  io_folder *folder;
  assert_ok(io_folder_open(self->run, IO_FOLDER_NEW, &folder));
  io_folder_close(&folder);
  make_file(self->run, "ckpt/.ck_000000000100.h5.tmp");
  make_file(self->run, "tables.h5");
  assert_ok(io_folder_open(self->run, IO_FOLDER_RESUME, &folder));
  io_folder_close(&folder);
  assert_false(exists(self->run, "ckpt/.ck_000000000100.h5.tmp"));
  assert_true(exists(self->run, "tables.h5"));
}

static void test_lock(void **state) {
  fixture *self = *state;
  io_folder *folder;
  int ready[2], finish[2];
  char byte = 0, holder[32];
  assert_int_equal(pipe(ready) | pipe(finish), 0);
  pid_t child = fork();
  if (child == 0) {
    io_folder *theirs;
    close(finish[1]); /* so that it ends with its parent in any case */
    bool good = io_folder_open(self->run, IO_FOLDER_NEW, &theirs) == SIM_OK;
    if (write(ready[1], &byte, 1) != 1 || read(finish[0], &byte, 1) != 1) _exit(2);
    _exit(good ? 0 : 1); /* without closing the folder: the kernel gives the lock back */
  }
  assert_int_equal(read(ready[0], &byte, 1), 1);
  const io_folder_mode modes[] = {IO_FOLDER_NEW, IO_FOLDER_FORCE, IO_FOLDER_RESUME};
  snprintf(holder, sizeof holder, "process %ld", (long)child);
  for (size_t i = 0; i < 3; i++) {
    assert_status(io_folder_open(self->run, modes[i], &folder), SIM_ERR_CANT_CREATE);
    assert_message("in use");
    assert_message(holder);
  }
  assert_int_equal(write(finish[1], &byte, 1), 1);
  int end;
  assert_int_equal(waitpid(child, &end, 0), child);
  assert_true(WIFEXITED(end) && WEXITSTATUS(end) == 0);
  assert_ok(io_folder_open(self->run, IO_FOLDER_RESUME, &folder));
  io_folder_close(&folder);
  for (int i = 0; i < 2; i++) close(ready[i]), close(finish[i]);
}

static void test_bad_paths(void **state) {
  fixture *self = *state;
  io_folder *folder;
  char path[6000];
  make_file(self->base, "file");
  snprintf(path, sizeof path, "%s/file", self->base);
  assert_status(io_folder_open(path, IO_FOLDER_NEW, &folder), SIM_ERR_CANT_CREATE);
  assert_message("is a file");
  snprintf(path, sizeof path, "%s/file/run.out", self->base);
  assert_status(io_folder_open(path, IO_FOLDER_NEW, &folder), SIM_ERR_CANT_CREATE);
  snprintf(path, sizeof path, "%s/new\nline", self->base);
  assert_status(io_folder_open(path, IO_FOLDER_NEW, &folder), SIM_ERR_CANT_CREATE);
  assert_message("control character");
  assert_null(strchr(sim_error_last()->message, '\n'));
  memset(path, 'a', sizeof path - 1);
  path[sizeof path - 1] = '\0';
  assert_status(io_folder_open(path, IO_FOLDER_NEW, &folder), SIM_ERR_CANT_CREATE);
  assert_message("too long");
  path[4000] = '\0'; /* one name of 4000 letters: the file system refuses it */
  assert_status(io_folder_open(path, IO_FOLDER_NEW, &folder), SIM_ERR_CANT_CREATE);
  assert_status(io_folder_open("", IO_FOLDER_NEW, &folder), SIM_ERR_CANT_CREATE);
  assert_status(io_folder_open("/dev/full", IO_FOLDER_FORCE, &folder), SIM_ERR_CANT_CREATE);
  snprintf(path, sizeof path, "%s/none", self->base);
  assert_status(io_folder_open(path, IO_FOLDER_RESUME, &folder), SIM_ERR_NO_INPUT);
}

static void test_no_permission(void **state) {
  fixture *self = *state;
  assert_int_equal(chmod(self->base, 0555), 0);
  pid_t child = fork();
  if (child == 0) {
    io_folder *folder;
    if (geteuid() == 0 && setuid(65534) != 0) _exit(0);
    _exit(io_folder_open(self->run, IO_FOLDER_NEW, &folder) == SIM_ERR_PERMISSION ? 0 : 1);
  }
  int end;
  assert_int_equal(waitpid(child, &end, 0), child);
  assert_true(WIFEXITED(end) && WEXITSTATUS(end) == 0);
  assert_int_equal(chmod(self->base, 0700), 0);
}

static void test_symbolic_links_inside(void **state) {
  fixture *self = *state;
  io_folder *folder;
  char elsewhere[160], link[160];
  snprintf(elsewhere, sizeof elsewhere, "%s/elsewhere", self->base);
  assert_int_equal(mkdir(self->run, 0700) | mkdir(elsewhere, 0700), 0);
  make_file(elsewhere, "ck_000000000001.h5");
  snprintf(link, sizeof link, "%s/ckpt", self->run);
  assert_int_equal(symlink(elsewhere, link), 0);
  assert_status(io_folder_open(self->run, IO_FOLDER_FORCE, &folder), SIM_ERR_CANT_CREATE);
  assert_message("symbolic link");
  assert_true(exists(elsewhere, "ck_000000000001.h5"));
}

static void test_swapped_link_redirects_nothing(void **state) {
  fixture *self = *state;
  io_folder *folder;
  sim_sink sink;
  char elsewhere[160], inner[160], moved[160];
  assert_ok(io_folder_open(self->run, IO_FOLDER_NEW, &folder));
  assert_ok(io_snapshot_sink(folder, &self->provenance, (sim_cadence){0}, &sink));
  snprintf(elsewhere, sizeof elsewhere, "%s/elsewhere", self->base);
  snprintf(inner, sizeof inner, "%s/snap", self->run);
  snprintf(moved, sizeof moved, "%s/moved", self->run);
  assert_int_equal(mkdir(elsewhere, 0700) | rename(inner, moved) | symlink(elsewhere, inner), 0);
  assert_ok(sink.write(sink.self, &self->frame));
  assert_false(exists(elsewhere, "snap_00000012.h5"));
  assert_true(exists(moved, "snap_00000012.h5"));
  sink.destroy(&sink.self);
  io_folder_close(&folder);
}

static void test_small_files(void **state) {
  fixture *self = *state;
  io_folder *folder;
  char path[160], text[16] = {0};
  assert_ok(io_folder_open(self->run, IO_FOLDER_NEW, &folder));
  assert_ok(io_folder_write(folder, "status.json", "{\"a\": 1}", 8));
  assert_ok(io_folder_write(folder, "status.json", "{}", 2));
  snprintf(path, sizeof path, "%s/status.json", io_folder_path(folder));
  FILE *file = fopen(path, "r");
  assert_int_equal(fread(text, 1, sizeof text, file), 2);
  fclose(file);
  for (int i = 0; i < 2; i++) {
    int fd = io_folder_append(folder, "run.log");
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "line\n", 5), 5);
    close(fd);
  }
  snprintf(path, sizeof path, "%s/run.log", self->run);
  struct stat info;
  assert_int_equal(stat(path, &info), 0);
  assert_int_equal(info.st_size, 10);
  io_folder_close(&folder);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_new_refuses_what_is_there),
      TEST(test_somebody_elses_folder_is_left_alone),
      TEST(test_force_removes_only_our_own),
      TEST(test_resume_removes_temporaries),
      TEST(test_lock),
      TEST(test_bad_paths),
      TEST(test_no_permission),
      TEST(test_symbolic_links_inside),
      TEST(test_swapped_link_redirects_nothing),
      TEST(test_small_files),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
