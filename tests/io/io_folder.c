#include "fixture.h"
#include "io/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

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
  assert_ok(io_folder_open(self->run, IO_FOLDER_NEW, &folder)); /* an empty folder is accepted */
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
  assert_status(io_folder_open(self->base, IO_FOLDER_AGAIN, &folder), SIM_ERR_CANT_CREATE);
  assert_message("is not empty");
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
  static const char *const foreign[] = {"notes.txt",         ".draft.tmp",          ".my.hdf.tmp",
                                        "snap/.mine.h5.tmp", "ckpt/.tables.h5.tmp", "snap/mine.h5",
                                        "snap/snap_.h5",     "ckpt/ck_1.h5.bak",    "my.hdf"};
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
    _exit(good ? 0 : 1); /* without closing the folder: the kernel releases the lock */
  }
  assert_int_equal(read(ready[0], &byte, 1), 1);
  const io_folder_mode modes[] = {IO_FOLDER_NEW, IO_FOLDER_AGAIN, IO_FOLDER_FORCE, IO_FOLDER_RESUME};
  snprintf(holder, sizeof holder, "process %ld", (long)child);
  for (size_t i = 0; i < 4; i++) {
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

/* Many processes open one folder at once, and each ends without a run: the lock is taken and refused, and its file
 * removed, all the time. No two processes may hold it at once. */
static void test_lock_race(void **state) {
  enum { PROCESSES = 4, ROUNDS = 1500 }; /* times that the lock was obtained */
  fixture *self = *state;
  char mark[160];
  pid_t children[PROCESSES];
  snprintf(mark, sizeof mark, "%s/holder", self->base);
  for (int i = 0; i < PROCESSES; i++) {
    children[i] = fork();
    if (children[i] != 0) continue;
    for (int round = 0, tries = 0; round < ROUNDS && tries < 100 * ROUNDS; tries++) {
      io_folder *folder;
      sim_status status = io_folder_open(self->run, round % 2 ? IO_FOLDER_NEW : IO_FOLDER_FORCE, &folder);
      if (status == SIM_ERR_CANT_CREATE) continue; /* another process holds it */
      if (status != SIM_OK) _exit(1);
      int fd = open(mark, O_CREAT | O_EXCL | O_WRONLY, 0600);
      if (fd < 0) _exit(2);
      close(fd);
      round++;
      if (unlink(mark) != 0) _exit(3);
      io_folder_abandon(&folder);
    }
    _exit(0);
  }
  for (int i = 0; i < PROCESSES; i++) {
    int end;
    assert_int_equal(waitpid(children[i], &end, 0), children[i]);
    assert_true(WIFEXITED(end));
    assert_int_equal(WEXITSTATUS(end), 0);
  }
}

static void write_lock(const fixture *self, const char *name, const char *text, int seconds_ago) {
  char path[160];
  struct timespec times[2];
  snprintf(path, sizeof path, "%s/%s", self->run, name);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0 && fclose(file) == 0);
  clock_gettime(CLOCK_REALTIME, &times[0]);
  times[0].tv_sec -= seconds_ago;
  times[1] = times[0];
  assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static const char far_holder[] = "host far, process 1, since 2026-01-01 00:00:00 +0000, machine elsewhere, tick 5\n";

/* A process is killed at any moment of a take-over. The next process must get the lock at once, without waiting for a
 * sign of life. */
static void test_killed_while_taking_over(void **state) {
  fixture *self = *state;
  io_folder *folder;
  assert_ok(io_folder_open(self->run, IO_FOLDER_NEW, &folder));
  io_folder_close(&folder);
  for (int round = 0; round < 60; round++) {
    struct timespec begin, end;
    write_lock(self, ".lock", far_holder, 400);
    pid_t child = fork();
    if (child == 0) {
      io_folder *theirs;
      _exit(io_folder_open(self->run, IO_FOLDER_RESUME, &theirs) == SIM_OK ? 0 : 1);
    }
    usleep((unsigned)round * 20);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    assert_ok(io_folder_open(self->run, IO_FOLDER_RESUME, &folder));
    clock_gettime(CLOCK_MONOTONIC, &end);
    assert_true(end.tv_sec - begin.tv_sec < 60); /* a lock of another machine is kept for minutes */
    io_folder_close(&folder);
  }
  /* One holder died on this machine; another is of another machine, whose age decides. */
  char dead[256] = "", host[96] = "";
  FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
  char boot[64] = "?";
  if (file && fscanf(file, "%63s", boot) != 1) boot[0] = '?';
  if (file) fclose(file);
  (void)gethostname(host, sizeof host - 1);
  snprintf(dead, sizeof dead, "host %s, process 1, since 2026-01-01 00:00:00 +0000, machine %s, tick 1\n", host, boot);
  write_lock(self, ".lock", far_holder, 400);
  write_lock(self, ".lock.taking", dead, 0);
  assert_ok(io_folder_open(self->run, IO_FOLDER_RESUME, &folder));
  io_folder_close(&folder);
  write_lock(self, ".lock", far_holder, 400);
  write_lock(self, ".lock.taking", far_holder, 30);
  assert_ok(io_folder_open(self->run, IO_FOLDER_RESUME, &folder));
  io_folder_close(&folder);
  assert_false(exists(self->run, ".lock.taking"));
}

/* A holder that was suspended until another process took its lock over writes nothing more. */
static void test_lost_lock(void **state) {
  fixture *self = *state;
  for (int how = 0; how < 2; how++) {
    io_folder *folder;
    char path[160], now[512] = "";
    assert_ok(io_folder_open(self->run, IO_FOLDER_FORCE, &folder));
    assert_ok(io_folder_write(folder, "status.json", "1", 1));
    assert_ok(io_folder_check());
    snprintf(path, sizeof path, "%s/.lock", self->run);
    if (how == 0)
      write_lock(self, ".lock", far_holder, 0);
    else
      assert_int_equal(unlink(path), 0);
    assert_status(io_folder_check(), SIM_ERR_CANT_CREATE);
    assert_message(how == 0 ? "lost the folder's lock to host far, process 1" : "to nobody: it was removed");
    assert_status(io_folder_write(folder, "status.json", "22", 2), SIM_ERR_CANT_CREATE);
    assert_message("writes nothing more");
    assert_false(exists(self->run, ".status.json.tmp"));
    io_folder_close(&folder);
    FILE *file = fopen(path, "r");
    if (how == 1) assert_null(file);
    if (how == 0) assert_true(file && fgets(now, sizeof now, file) && strcmp(now, far_holder) == 0);
    if (file) fclose(file);
    if (how == 0) assert_int_equal(unlink(path), 0);
    assert_ok(io_folder_check()); /* none is held */
  }
}

/* --resume=auto without a checkpoint: accepted only where nothing is lost. */
static void test_again(void **state) {
  fixture *self = *state;
  io_folder *folder;
  assert_ok(io_folder_open(self->run, IO_FOLDER_AGAIN, &folder)); /* missing */
  io_folder_close(&folder);
  make_file(self->run, "run.log");
  make_file(self->run, "snap/snap_00000000.h5");
  make_file(self->run, "ckpt/.ck_000000000000.h5.tmp"); /* killed while it wrote the first checkpoint */
  assert_status(io_folder_open(self->run, IO_FOLDER_NEW, &folder), SIM_ERR_CANT_CREATE);
  assert_ok(io_folder_open(self->run, IO_FOLDER_AGAIN, &folder));
  assert_ok(io_folder_clear(folder));
  io_folder_close(&folder);
  assert_false(exists(self->run, "snap/snap_00000000.h5"));
  assert_ok(io_folder_open(self->run, IO_FOLDER_AGAIN, &folder));
  io_folder_close(&folder);
  make_file(self->run, "ckpt/ck_000000000100.h5");
  assert_status(io_folder_open(self->run, IO_FOLDER_AGAIN, &folder), SIM_ERR_CANT_CREATE);
  assert_message("is not empty; --resume");
  assert_true(exists(self->run, ".lock")); /* existed before */
}

static void test_again_needs_our_lock(void **state) {
  fixture *self = *state;
  io_folder *folder;
  char path[160];
  assert_ok(io_folder_open(self->run, IO_FOLDER_AGAIN, &folder));
  io_folder_close(&folder);
  snprintf(path, sizeof path, "%s/.lock", self->run);
  assert_int_equal(unlink(path), 0);
  assert_status(io_folder_open(self->run, IO_FOLDER_AGAIN, &folder), SIM_ERR_CANT_CREATE);
  assert_false(exists(self->run, ".lock"));
  make_file(self->run, ".lock"); /* empty, of another program */
  assert_status(io_folder_open(self->run, IO_FOLDER_AGAIN, &folder), SIM_ERR_CANT_CREATE);
  assert_true(exists(self->run, ".lock"));
}

/* A folder opened with RESUME, and closed again, must not look like one of our runs. */
static void test_resume_leaves_no_lock(void **state) {
  fixture *self = *state;
  io_folder *folder;
  char path[160];
  snprintf(path, sizeof path, "%s/ckpt", self->run);
  assert_int_equal(mkdir(self->run, 0700) | mkdir(path, 0700), 0);
  assert_ok(io_folder_open(self->run, IO_FOLDER_RESUME, &folder));
  io_folder_abandon(&folder);
  assert_true(exists(self->run, "ckpt"));
  assert_false(exists(self->run, ".lock") || exists(self->run, "snap"));
  assert_status(io_folder_open(self->run, IO_FOLDER_AGAIN, &folder), SIM_ERR_CANT_CREATE);
}

static void test_again_after_an_early_death(void **state) {
  fixture *self = *state;
  io_folder *folder;
  char path[160];
  assert_ok(io_folder_open(self->run, IO_FOLDER_AGAIN, &folder));
  io_folder_close(&folder);
  snprintf(path, sizeof path, "%s/ckpt", self->run);
  assert_int_equal(rmdir(path), 0); /* killed before this folder was created */
  assert_ok(io_folder_open(self->run, IO_FOLDER_AGAIN, &folder));
  io_folder_close(&folder);
  assert_int_equal(rmdir(path), 0);
  make_file(self->run, "thesis.tex");
  assert_status(io_folder_open(self->run, IO_FOLDER_AGAIN, &folder), SIM_ERR_CANT_CREATE);
}

static void test_abandon(void **state) {
  fixture *self = *state;
  io_folder *folder;
  assert_ok(io_folder_open(self->run, IO_FOLDER_NEW, &folder));
  io_folder_abandon(&folder);
  assert_false(exists(self->run, ""));
  assert_int_equal(mkdir(self->run, 0700), 0);
  assert_ok(io_folder_open(self->run, IO_FOLDER_NEW, &folder));
  io_folder_abandon(&folder);
  assert_true(exists(self->run, ""));
  assert_ok(io_folder_open(self->run, IO_FOLDER_NEW, &folder)); /* empty, as before */
  io_folder_close(&folder);
}

/* The names of a new folder are synced, its own and those in it. Each failure is reported, and stops nothing. */
static void test_new_folder_is_durable(void **state) {
  fixture *self = *state;
  io_folder *folder;
  fixture_log log = {0};
  assert_true(sim_log_add(fixture_log_writer, &log));
  for (int call = 1; call <= 3; call++) {
    io_sys_fail(call, false, EIO);
    assert_ok(io_folder_open(self->run, IO_FOLDER_NEW, &folder));
    assert_int_equal(io_sys_failed(), call < 3);
    io_sys_fail(0, false, 0);
    io_folder_abandon(&folder);
    assert_int_equal(log.warnings, call < 3 ? call : 2);
  }
  assert_non_null(strstr(log.last, "run.out"));
  sim_log_remove(fixture_log_writer, &log);
}

/* A log is appended only to a regular file: a FIFO would block the run, a link or device could lead out of the folder.
 */
static void test_append_to_regular_files_only(void **state) {
  fixture *self = *state;
  io_folder *folder;
  fixture_log log = {0};
  char path[160], elsewhere[160];
  assert_ok(io_folder_open(self->run, IO_FOLDER_NEW, &folder));
  assert_true(sim_log_add(fixture_log_writer, &log));
  snprintf(path, sizeof path, "%s/run.log", self->run);
  assert_int_equal(mkfifo(path, 0600), 0);
  int reader = open(path, O_RDONLY | O_NONBLOCK); /* with a reader the open alone would work */
  assert_int_equal(io_folder_append(folder, "run.log"), -1);
  assert_int_equal(log.warnings, 1);
  assert_non_null(strstr(log.last, "run.log: not written: not a regular file"));
  close(reader);
  assert_int_equal(io_folder_append(folder, "run.log"), -1); /* without a reader it would wait */
  assert_int_equal(unlink(path), 0);
  snprintf(elsewhere, sizeof elsewhere, "%s/elsewhere", self->base);
  assert_int_equal(symlink(elsewhere, path), 0);
  assert_int_equal(io_folder_append(folder, "run.log"), -1);
  assert_int_equal(log.warnings, 3);
  assert_false(exists(self->base, "elsewhere"));
  sim_log_remove(fixture_log_writer, &log);
  io_folder_close(&folder);
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
  assert_false(exists(self->run, ".lock") || exists(self->run, "snap"));
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
  assert_ok(sink.flush(sink.self));
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
      TEST(test_lock_race),
      TEST(test_killed_while_taking_over),
      TEST(test_lost_lock),
      TEST(test_again),
      TEST(test_again_needs_our_lock),
      TEST(test_resume_leaves_no_lock),
      TEST(test_again_after_an_early_death),
      TEST(test_abandon),
      TEST(test_new_folder_is_durable),
      TEST(test_append_to_regular_files_only),
      TEST(test_bad_paths),
      TEST(test_no_permission),
      TEST(test_symbolic_links_inside),
      TEST(test_swapped_link_redirects_nothing),
      TEST(test_small_files),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
