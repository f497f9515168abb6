#include "fixture.h"

#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>

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
  const int64_t shape[] = {3, 300007}; /* 7.2 MB: several chunks, none of them whole at the end */
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
  assert_message("larger than the memory");
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
      TEST(test_newest_falls_back_loudly),
      TEST(test_nothing_to_load),
      TEST(test_other_kinds_of_files),
      TEST(test_bad_state_is_never_saved),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
