#include "fixture.h"
#include "tests/sanitized.h"

#include <fcntl.h>
#include <math.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

static void test_roundtrip(void **state) {
  fixture *self = *state;
  io_checkpoint loaded;
  fixture_checkpoints(self, IO_FOLDER_NEW, (const int64_t[]){12}, 1);
  assert_ok(io_checkpoint_newest(self->run, &loaded));
  assert_true(fixture_same(self, &loaded));
  assert_int_equal(loaded.frame.array_count, 8);
  for (size_t i = 0; i < 8; i++) {
    const sim_array *wrote = &self->arrays[i], *read = sim_frame_array(&loaded.frame, wrote->field->name);
    assert_non_null(read);
    assert_int_equal(read->dtype, wrote->dtype);
    assert_int_equal(read->rank, wrote->rank);
    assert_memory_equal(read->shape, wrote->shape, (size_t)wrote->rank * sizeof *wrote->shape);
    assert_memory_equal(read->global, wrote->global, (size_t)wrote->rank * sizeof *wrote->global);
    if (sim_array_bytes(wrote) > 0) assert_memory_equal(read->data, wrote->data, sim_array_bytes(wrote));
  }
  assert_int_equal(loaded.frame.species_count, 2);
  assert_string_equal(loaded.frame.species[1].name, "halo");
  assert_int_equal(loaded.frame.species[1].first, 4);
  assert_string_equal(loaded.backend, "cpu");
  assert_string_equal(loaded.precision, "double");
  assert_string_equal(loaded.isa, "plain");
  assert_string_equal(loaded.scenario_path, "nothing.lua");
  assert_int_equal(sim_value_get(loaded.parameters, "answer")->u.integer, 42);
  io_checkpoint_free(&loaded);
}

static void test_many_chunks(void **state) {
  fixture *self = *state;
  const int64_t shape[] = {3, 300007}; /* 7.2 MB: several chunks, the last one incomplete */
  double *data = malloc(3 * 300007 * sizeof *data);
  io_checkpoint loaded;
  for (int i = 0; i < 3 * 300007; i++) data[i] = i * 0.7;
  fixture_array(self, 0, SIM_F64, 2, shape, data);
  fixture_checkpoints(self, IO_FOLDER_NEW, (const int64_t[]){1}, 1);
  assert_ok(io_checkpoint_newest(self->run, &loaded));
  assert_true(fixture_same(self, &loaded));
  io_checkpoint_free(&loaded);
  free(data);
}

static bool exists(const fixture *self, int64_t step) {
  char path[160];
  fixture_checkpoint_path(self, step, path);
  return access(path, F_OK) == 0;
}

static void damage(const fixture *self, int64_t step) {
  char path[160];
  fixture_checkpoint_path(self, step, path);
  int fd = open(path, O_WRONLY);
  assert_true(fd >= 0);
  assert_int_equal(pwrite(fd, "damage", 6, 2000), 6);
  close(fd);
}

static void test_last_three_are_kept(void **state) {
  fixture *self = *state;
  fixture_checkpoints(self, IO_FOLDER_NEW, (const int64_t[]){1, 2, 3, 4, 4, 5}, 6);
  assert_false(exists(self, 1));
  assert_false(exists(self, 2));
  assert_true(exists(self, 3) && exists(self, 4) && exists(self, 5));
}

static void test_bad_ones_do_not_push_out_good_ones(void **state) {
  fixture *self = *state;
  fixture_checkpoints(self, IO_FOLDER_NEW, (const int64_t[]){1, 2, 3}, 3);
  damage(self, 2);
  damage(self, 3);
  fixture_checkpoints(self, IO_FOLDER_RESUME, (const int64_t[]){4}, 1);
  assert_true(exists(self, 1));
  fixture_checkpoints(self, IO_FOLDER_RESUME, (const int64_t[]){5, 6}, 2);
  assert_false(exists(self, 1) || exists(self, 2) || exists(self, 3));
}

/* Checkpoints later than the one from which a run continued belong to an abandoned future. */
static void test_future_that_was_given_up(void **state) {
  fixture *self = *state;
  io_checkpoint loaded;
  fixture_checkpoints(self, IO_FOLDER_NEW, (const int64_t[]){10, 20, 30}, 3);
  snprintf(self->provenance.parent_checkpoint, sizeof self->provenance.parent_checkpoint, "ck_000000000010.h5");
  fixture_checkpoints(self, IO_FOLDER_RESUME, NULL, 0);
  assert_true(exists(self, 30)); /* nothing is removed before there is a new checkpoint */
  fixture_checkpoints(self, IO_FOLDER_RESUME, (const int64_t[]){25}, 1);
  assert_true(exists(self, 10) && exists(self, 25));
  assert_false(exists(self, 20) || exists(self, 30));
  assert_ok(io_checkpoint_newest(self->run, &loaded));
  assert_int_equal(loaded.frame.clock.step, 25);
  io_checkpoint_free(&loaded);
}

static void test_own_checkpoints_stay(void **state) {
  fixture *self = *state;
  fixture_checkpoints(self, IO_FOLDER_NEW, (const int64_t[]){10, 20}, 2);
  snprintf(self->provenance.parent_checkpoint, sizeof self->provenance.parent_checkpoint, "ck_000000000010.h5");
  fixture_checkpoints(self, IO_FOLDER_RESUME, (const int64_t[]){15, 17, 19}, 3);
  assert_true(exists(self, 15) && exists(self, 17) && exists(self, 19));
  assert_false(exists(self, 10) || exists(self, 20));
}

/* Resumed from a file of another name: only checkpoints later than the new one are known to belong to another future.
 */
static void test_parent_of_another_name(void **state) {
  fixture *self = *state;
  fixture_checkpoints(self, IO_FOLDER_NEW, (const int64_t[]){10, 20, 30}, 3);
  snprintf(self->provenance.parent_checkpoint, sizeof self->provenance.parent_checkpoint, "backup.h5");
  fixture_checkpoints(self, IO_FOLDER_RESUME, (const int64_t[]){25}, 1);
  assert_true(exists(self, 10) && exists(self, 20) && exists(self, 25));
  assert_false(exists(self, 30));
}

/* The newest of two good checkpoints with less and less memory: it is loaded, or the exit code is 71; never "damaged",
 * and never the one before. In a child process, whose memory may be limited. */
static void test_too_little_memory(void **state) {
  fixture *self = *state;
  if (TEST_SANITIZED) skip();
  const int64_t shape[] = {3, 300007}; /* 7.2 MB */
  double *data = calloc(3 * 300007, sizeof *data);
  fixture_array(self, 0, SIM_F64, 2, shape, data);
  fixture_checkpoints(self, IO_FOLDER_NEW, (const int64_t[]){1, 2}, 2);
  free(data);
  int counts[2] = {0, 0};
  for (int step = 0; step < 120; step++) {
    pid_t child = fork();
    if (child == 0) {
      io_checkpoint loaded;
      fixture_log log = {0};
      struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
      long pages = 0;
      FILE *file = fopen("/proc/self/statm", "r");
      if (!file || fscanf(file, "%ld", &pages) != 1) _exit(9);
      fclose(file);
      limit.rlim_cur = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + ((rlim_t)step << 17);
      if (!sim_log_add(fixture_log_writer, &log) || setrlimit(RLIMIT_AS, &limit) != 0) _exit(9);
      sim_status status = io_checkpoint_newest(self->run, &loaded);
      if (log.warnings > 0 || (status == SIM_OK && loaded.frame.clock.step != 2)) {
        fprintf(stderr, "%d: %s\n", step, log.last);
        _exit(8);
      }
      if (status != SIM_OK && status != SIM_ERR_NO_MEMORY) fprintf(stderr, "%s\n", sim_error_last()->message);
      _exit(status == SIM_OK ? 0 : status == SIM_ERR_NO_MEMORY ? 1 : 7);
    }
    int end;
    assert_int_equal(waitpid(child, &end, 0), child);
    assert_true(WIFEXITED(end));
    if (WEXITSTATUS(end) > 1) fail_msg("step %d: exit code %d", step, WEXITSTATUS(end));
    counts[WEXITSTATUS(end)]++;
  }
  assert_true(counts[0] > 0 && counts[1] > 0);
}

/* A renamed file is not taken for a later state. */
static void test_name_and_step_agree(void **state) {
  fixture *self = *state;
  fixture_log log = {0};
  io_checkpoint loaded;
  char from[200], to[200];
  fixture_checkpoints(self, IO_FOLDER_NEW, (const int64_t[]){1, 2}, 2);
  snprintf(from, sizeof from, "%s/ckpt/ck_000000000001.h5", self->run);
  snprintf(to, sizeof to, "%s/ckpt/ck_000000000009.h5", self->run);
  assert_int_equal(rename(from, to), 0);
  assert_true(sim_log_add(fixture_log_writer, &log));
  assert_ok(io_checkpoint_newest(self->run, &loaded));
  sim_log_remove(fixture_log_writer, &log);
  assert_int_equal(loaded.frame.clock.step, 2);
  assert_int_equal(log.warnings, 1);
  io_checkpoint_free(&loaded);
}

static void test_newest_falls_back_loudly(void **state) {
  fixture *self = *state;
  fixture_log log = {0};
  io_checkpoint loaded;
  fixture_checkpoints(self, IO_FOLDER_NEW, (const int64_t[]){8, 9, 10}, 3);
  assert_true(sim_log_add(fixture_log_writer, &log));
  damage(self, 10);
  assert_ok(io_checkpoint_newest(self->run, &loaded));
  assert_int_equal(loaded.frame.clock.step, 9);
  assert_int_equal(log.warnings, 1);
  assert_non_null(strstr(log.last, "ck_000000000010.h5"));
  io_checkpoint_free(&loaded);
  damage(self, 8);
  damage(self, 9);
  assert_status(io_checkpoint_newest(self->run, &loaded), SIM_ERR_INCOMPATIBLE);
  sim_log_remove(fixture_log_writer, &log);
}

static void test_nothing_to_load(void **state) {
  fixture *self = *state;
  io_folder *folder;
  io_checkpoint loaded;
  assert_status(io_checkpoint_newest(self->run, &loaded), SIM_ERR_NO_INPUT);
  assert_ok(io_folder_open(self->run, IO_FOLDER_NEW, &folder));
  io_folder_close(&folder);
  assert_status(io_checkpoint_newest(self->run, &loaded), SIM_ERR_NO_INPUT);
  assert_status(io_checkpoint_read(self->run, &loaded), SIM_ERR_NO_INPUT);
  assert_message("is a folder");
}

static void test_other_kinds_of_files(void **state) {
  fixture *self = *state;
  char path[160];
  io_checkpoint loaded;
  snprintf(path, sizeof path, "%s/x.h5", self->base);
  fclose(fopen(path, "w"));
  assert_status(io_checkpoint_read(path, &loaded), SIM_ERR_INCOMPATIBLE);
  assert_message("is empty");
  assert_int_equal(truncate(path, (off_t)1 << 40), 0);
  assert_status(io_checkpoint_read(path, &loaded), SIM_ERR_INCOMPATIBLE);
  assert_message("was not written by sim");
  unlink(path);
  assert_int_equal(mkfifo(path, 0600), 0);
  assert_status(io_checkpoint_read(path, &loaded), SIM_ERR_NO_INPUT);
  assert_status(io_checkpoint_read("/dev/zero", &loaded), SIM_ERR_NO_INPUT);
}

static void test_bad_state_is_never_saved(void **state) {
  fixture *self = *state;
  io_folder *folder;
  sim_sink sink;
  assert_ok(io_folder_open(self->run, IO_FOLDER_NEW, &folder));
  assert_ok(io_checkpoint_sink(folder, &self->provenance, NULL, (sim_cadence){0}, &sink));
  self->velocity[1][3] = NAN;
  assert_status(sink.write(sink.self, &self->frame), SIM_ERR_DIVERGED);
  assert_message("velocity");
  assert_false(exists(self, 12));
  sink.destroy(&sink.self);
  io_folder_close(&folder);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_roundtrip),
      TEST(test_many_chunks),
      TEST(test_last_three_are_kept),
      TEST(test_bad_ones_do_not_push_out_good_ones),
      TEST(test_future_that_was_given_up),
      TEST(test_own_checkpoints_stay),
      TEST(test_parent_of_another_name),
      TEST(test_too_little_memory),
      TEST(test_newest_falls_back_loudly),
      TEST(test_name_and_step_agree),
      TEST(test_nothing_to_load),
      TEST(test_other_kinds_of_files),
      TEST(test_bad_state_is_never_saved),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
