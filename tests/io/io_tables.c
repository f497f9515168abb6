#include "fixture.h"
#include "io/sys.h"
#include "io/table/table.h"

#include <errno.h>
#include <fcntl.h>
#include <hdf5.h>
#include <sys/resource.h>

static const sim_field energy_columns[] = {{.name = "kinetic", .doc = "kinetic energy", .dimension = {2, 1, -2}},
                                           {.name = "error", .display = SIM_DISPLAY_ERROR, .doc = "relative"},
                                           {.name = NULL}};
static const sim_field other_columns[] = {{.name = "radius", .dimension = {1, 0, 0}}, {.name = NULL}};
static const sim_table energy = {"energy", "", energy_columns}, other = {"other", "", other_columns};
static const sim_table *const tables[] = {&energy, &other, NULL};

typedef struct row {
  int64_t step;
  double time, kinetic, error;
} row;

typedef struct outputs {
  io_folder *folder;
  sim_sink tables, checkpoints;
} outputs;

static void open_outputs(fixture *self, io_folder_mode mode, outputs *out) {
  assert_ok(io_folder_open(self->run, mode, &out->folder));
  assert_ok(io_table_sink(out->folder, &self->provenance, tables, (sim_cadence){0}, &out->tables));
  assert_ok(io_checkpoint_sink(out->folder, &self->provenance, &out->tables, (sim_cadence){0}, &out->checkpoints));
}

static void close_outputs(outputs *it) {
  it->tables.destroy(&it->tables.self);
  it->checkpoints.destroy(&it->checkpoints.self);
  io_folder_close(&it->folder);
}

/* Rows of steps first .. last: two tables, the second one at even steps. */
static void add_rows(outputs *it, fixture *self, int64_t first, int64_t last) {
  for (int64_t step = first; step <= last; step++) {
    const double values[] = {(double)step * 0.1, -(double)step};
    const sim_row rows[] = {{&energy, values}, {&other, values}};
    sim_frame frame = self->frame;
    frame.clock.step = step;
    frame.clock.t = (double)step / 8;
    frame.rows = rows;
    frame.row_count = step % 2 == 0 ? 2 : 1;
    assert_ok(it->tables.write(it->tables.self, &frame));
  }
}

static void finish(outputs *it) {
  assert_ok(it->tables.finish(it->tables.self));
  assert_ok(it->tables.flush(it->tables.self));
}

static void checkpoint(outputs *it, fixture *self, int64_t step) {
  assert_ok(it->tables.flush(it->tables.self));
  self->frame.clock.step = step;
  assert_ok(it->checkpoints.write(it->checkpoints.self, &self->frame));
  assert_ok(it->checkpoints.flush(it->checkpoints.self));
}

/* Checks the rows of "energy" in the file: exactly those of steps 0 .. last. */
static void assert_energy(const fixture *self, int64_t last) {
  char path[160];
  snprintf(path, sizeof path, "%s/tables.h5", self->run);
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT), set = H5Dopen2(file, "energy", H5P_DEFAULT);
  assert_true(set >= 0);
  hid_t space = H5Dget_space(set), type = H5Tcreate(H5T_COMPOUND, sizeof(row));
  assert_int_equal(H5Sget_simple_extent_npoints(space), last + 1);
  H5Tinsert(type, "step", offsetof(row, step), H5T_NATIVE_INT64);
  H5Tinsert(type, "time", offsetof(row, time), H5T_NATIVE_DOUBLE);
  H5Tinsert(type, "kinetic", offsetof(row, kinetic), H5T_NATIVE_DOUBLE);
  H5Tinsert(type, "error", offsetof(row, error), H5T_NATIVE_DOUBLE);
  row *rows = calloc((size_t)last + 1, sizeof *rows);
  assert_true(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows) >= 0);
  for (int64_t i = 0; i <= last; i++) {
    const row expected = {i, (double)i / 8, (double)i * 0.1, -(double)i};
    assert_memory_equal(&rows[i], &expected, sizeof expected);
  }
  free(rows);
  H5Tclose(type);
  H5Sclose(space);
  H5Dclose(set);
  H5Fclose(file);
}

static void test_roundtrip(void **state) {
  fixture *self = *state;
  outputs out;
  open_outputs(self, IO_FOLDER_NEW, &out);
  add_rows(&out, self, 0, 9);
  finish(&out);
  assert_energy(self, 9);
  add_rows(&out, self, 10, 5000); /* several chunks */
  finish(&out);
  assert_energy(self, 5000);
  close_outputs(&out);
}

/* The widest table is read back as it was written; names for which a header has no place are refused at the start. */
static void test_wide(void **state) {
  static char names[SIM_COLUMNS_MAX][80];
  static sim_field columns[SIM_COLUMNS_MAX + 1];
  const sim_table wide = {"wide", "", columns};
  const sim_table *const only[] = {&wide, NULL};
  static double values[SIM_COLUMNS_MAX], back[SIM_COLUMNS_MAX + 2];
  fixture *self = *state;
  sim_frame frame = self->frame;
  const sim_row rows[] = {{&wide, values}};
  char path[160];
  io_folder *folder;
  sim_sink sink;
  for (int i = 0; i < SIM_COLUMNS_MAX; i++) {
    snprintf(names[i], sizeof names[i], "velocity_%d", i);
    columns[i] = (sim_field){.name = names[i],
                             .doc = "half of what linear terms take off the power of the bin in a unit of time"};
    values[i] = (double)i * i;
  }
  assert_ok(io_folder_open(self->run, IO_FOLDER_NEW, &folder));
  assert_ok(io_table_sink(folder, &self->provenance, only, (sim_cadence){0}, &sink));
  frame.rows = rows;
  frame.row_count = 1;
  assert_ok(sink.write(sink.self, &frame));
  assert_ok(sink.finish(sink.self));
  assert_ok(sink.flush(sink.self));
  sink.destroy(&sink.self);
  snprintf(path, sizeof path, "%s/tables.h5", self->run);
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT), set = H5Dopen2(file, "wide", H5P_DEFAULT);
  assert_true(set >= 0);
  hid_t type = H5Dget_type(set);
  assert_int_equal(H5Tget_nmembers(type), SIM_COLUMNS_MAX + 2);
  assert_true(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, back) >= 0);
  assert_memory_equal(back + 2, values, sizeof values);
  H5Tclose(type);
  H5Dclose(set);
  H5Fclose(file);
  for (int i = 0; i < SIM_COLUMNS_MAX; i++) snprintf(names[i], sizeof names[i], "a_velocity_of_a_long_name_%d", i);
  assert_int_equal(io_table_sink(folder, &self->provenance, only, (sim_cadence){0}, &sink), SIM_ERR_SCENARIO);
  io_folder_close(&folder);
}

static void test_texts(void **state) {
  fixture *self = *state;
  outputs out;
  char path[160], units[4][32] = {{0}};
  self->units = (sim_units){true, 1000, 2, 4};
  open_outputs(self, IO_FOLDER_NEW, &out);
  add_rows(&out, self, 0, 0);
  finish(&out);
  close_outputs(&out);
  snprintf(path, sizeof path, "%s/tables.h5", self->run);
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  hid_t attribute = H5Aopen_by_name(file, "energy", "units", H5P_DEFAULT, H5P_DEFAULT);
  hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, sizeof units[0]);
  assert_true(H5Aread(attribute, type, units) >= 0);
  assert_string_equal(units[0], "1");
  assert_string_equal(units[1], "4 s");
  assert_string_equal(units[2], "125000 m^2 kg s^-2"); /* 1000^2 2 / 4^2 */
  assert_string_equal(units[3], "1");
  H5Aclose(attribute);
  attribute = H5Aopen_by_name(file, "energy", "display", H5P_DEFAULT, H5P_DEFAULT);
  assert_true(H5Aread(attribute, type, units) >= 0);
  assert_string_equal(units[1], "number");
  assert_string_equal(units[3], "error");
  H5Tclose(type);
  H5Aclose(attribute);
  H5Fclose(file);
}

static void test_resume_cuts(void **state) {
  fixture *self = *state;
  outputs out;
  io_checkpoint loaded;
  open_outputs(self, IO_FOLDER_NEW, &out);
  add_rows(&out, self, 0, 10);
  checkpoint(&out, self, 10);
  add_rows(&out, self, 11, 20);
  finish(&out);
  close_outputs(&out);
  assert_energy(self, 20);

  open_outputs(self, IO_FOLDER_RESUME, &out);
  assert_ok(io_checkpoint_newest(self->run, &loaded));
  assert_int_equal(loaded.table_count, 2);
  assert_string_equal(loaded.tables[1].name, "other");
  assert_int_equal(loaded.tables[0].rows, 11);
  assert_int_equal(loaded.tables[1].rows, 6);
  assert_ok(io_table_resume(&out.tables, &loaded));
  io_checkpoint_free(&loaded);
  add_rows(&out, self, 11, 15);
  finish(&out);
  close_outputs(&out);
  assert_energy(self, 15);
}

/* Resumes after an accident to the file: 0 none, 1 removed, 2 damaged, 3 replaced by an older one. */
static void resume_after(fixture *self, int accident, int expected_warnings, const char *expected) {
  outputs out;
  io_checkpoint loaded;
  fixture_log log = {0};
  char path[160], bad[176], older[176];
  snprintf(path, sizeof path, "%s/tables.h5", self->run);
  snprintf(bad, sizeof bad, "%s.bad", path);
  open_outputs(self, IO_FOLDER_NEW, &out);
  add_rows(&out, self, 0, 4);
  finish(&out);
  add_rows(&out, self, 5, 10);
  snprintf(older, sizeof older, "%s.older", path);
  assert_int_equal(link(path, older), 0);
  finish(&out);
  self->frame.clock.step = 10;
  assert_ok(out.checkpoints.write(out.checkpoints.self, &self->frame));
  close_outputs(&out);
  if (accident == 1) unlink(path);
  if (accident == 2) assert_int_equal(truncate(path, 3000), 0);
  if (accident == 3) assert_int_equal(rename(older, path), 0);

  open_outputs(self, IO_FOLDER_RESUME, &out);
  assert_ok(io_checkpoint_newest(self->run, &loaded));
  assert_true(sim_log_add(fixture_log_writer, &log));
  assert_ok(io_table_resume(&out.tables, &loaded));
  sim_log_remove(fixture_log_writer, &log);
  io_checkpoint_free(&loaded);
  assert_int_equal(log.warnings, expected_warnings);
  if (expected) assert_non_null(strstr(log.last, expected));
  assert_int_equal(access(bad, F_OK) == 0, accident == 2);
  add_rows(&out, self, 11, 11);
  finish(&out);
  close_outputs(&out);
  fixture_remove(self->run);
}

static void test_resume_after_accidents(void **state) {
  resume_after(*state, 0, 0, NULL);
  resume_after(*state, 1, 1, "No such file");
  resume_after(*state, 2, 1, "damaged");
  resume_after(*state, 3, 2, "the rest is lost"); /* both tables are short */
}

/* Makes a run to row 10 that is killed then. It leaves its journal at `path`, and with `file` its tables.h5 too. */
static void leave_journal(fixture *self, bool file, char path[160]) {
  outputs out;
  char kept[176], h5[160];
  snprintf(path, 160, "%s/tables.rows", self->run);
  snprintf(kept, sizeof kept, "%s.kept", path);
  snprintf(h5, sizeof h5, "%s/tables.h5", self->run);
  open_outputs(self, IO_FOLDER_NEW, &out);
  add_rows(&out, self, 0, 10);
  checkpoint(&out, self, 10);
  assert_int_equal(link(path, kept), 0);
  close_outputs(&out);
  assert_int_equal(rename(kept, path), 0);
  if (!file) assert_int_equal(unlink(h5), 0);
}

/* Resumes a killed run whose journal has a changed byte in row 6. `file`: tables.h5 exists too. */
static void resume_damaged_journal(fixture *self, bool file, int64_t energy_rows, int warnings, const char *first) {
  outputs out;
  io_checkpoint loaded;
  fixture_log log = {0};
  char path[160], kept[176];
  leave_journal(self, file, path);
  int fd = open(path, O_WRONLY); /* rows 0 .. 5 of energy, 3 of other: 6 x 48 + 3 x 40 bytes behind 16 */
  assert_int_equal(pwrite(fd, "x", 1, 16 + 6 * 48 + 3 * 40 + 20), 1);
  close(fd);

  open_outputs(self, IO_FOLDER_RESUME, &out);
  assert_ok(io_checkpoint_newest(self->run, &loaded));
  assert_true(sim_log_add(fixture_log_writer, &log));
  assert_ok(io_table_resume(&out.tables, &loaded));
  sim_log_remove(fixture_log_writer, &log);
  io_checkpoint_free(&loaded);
  assert_int_equal(log.warnings, warnings);
  assert_non_null(strstr(log.first, first));
  assert_int_equal(io_table_rows(&out.tables, 0), energy_rows);
  snprintf(kept, sizeof kept, "%s.bad", path);
  assert_int_equal(access(kept, F_OK) == 0, file);
  assert_ok(out.tables.finish(out.tables.self));
  close_outputs(&out);
  assert_energy(self, energy_rows - 1);
  fixture_remove(self->run);
}

static void test_damaged_journal(void **state) {
  resume_damaged_journal(*state, true, 11, 1, "damaged: kept as tables.rows.bad; the tables continue from tables.h5");
  resume_damaged_journal(*state, false, 6, 3,
                         "damaged after 9 rows: the tables continue from these"); /* and both are short */
}

/* Reads a killed run's journal without tables.h5. Its head has a flipped bit in byte `at` (-1: none), or it is cut to
 * `size` bytes (-1: whole). The first attempt cannot read it, which changes nothing. */
static void resume_headless_journal(fixture *self, int at, int size, int64_t rows) {
  outputs out;
  io_checkpoint loaded;
  char path[160], kept[176];
  leave_journal(self, false, path);
  unsigned char byte;
  int fd = open(path, O_RDWR);
  if (at >= 0) {
    assert_int_equal(pread(fd, &byte, 1, at), 1);
    byte ^= 0x20;
    assert_int_equal(pwrite(fd, &byte, 1, at), 1);
  }
  if (size >= 0) assert_int_equal(ftruncate(fd, size), 0);
  close(fd);

  open_outputs(self, IO_FOLDER_RESUME, &out);
  assert_ok(io_checkpoint_newest(self->run, &loaded));
  struct rlimit files;
  assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &(struct rlimit){0, files.rlim_max}), 0); /* no more files can be opened */
  assert_status(io_table_resume(&out.tables, &loaded), SIM_ERR_IO);
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &files), 0);
  close_outputs(&out); /* the program ends */
  open_outputs(self, IO_FOLDER_RESUME, &out);
  assert_int_equal(access(path, F_OK), 0);
  assert_ok(io_table_resume(&out.tables, &loaded));
  io_checkpoint_free(&loaded);
  assert_int_equal(io_table_rows(&out.tables, 0), rows);
  snprintf(kept, sizeof kept, "%s.bad", path);
  assert_int_equal(access(kept, F_OK) == 0, rows == 0); /* possibly of other tables: kept */
  add_rows(&out, self, 11, 11);
  finish(&out);
  close_outputs(&out);
  fixture_remove(self->run);
}

static void test_journal_head(void **state) {
  resume_headless_journal(*state, -1, -1, 11);
  for (int at = 0; at < 16; at++) resume_headless_journal(*state, at, -1, 11);
  resume_headless_journal(*state, -1, 0, 0);
  resume_headless_journal(*state, -1, 10, 0);
}

/* Opens the folder again, at its newest checkpoint, without a message about lost rows. */
static void resume(fixture *self, outputs *out, int64_t step) {
  io_checkpoint loaded;
  fixture_log log = {0};
  open_outputs(self, IO_FOLDER_RESUME, out);
  assert_ok(io_checkpoint_newest(self->run, &loaded));
  assert_int_equal(loaded.frame.clock.step, step);
  assert_true(sim_log_add(fixture_log_writer, &log));
  assert_ok(io_table_resume(&out->tables, &loaded));
  sim_log_remove(fixture_log_writer, &log);
  io_checkpoint_free(&loaded);
  assert_int_equal(log.warnings, 0);
}

static void fail_flush(outputs *it) {
  io_sys_fail(1, false, ENOSPC);
  assert_status(it->tables.flush(it->tables.self), SIM_ERR_IO);
  io_sys_fail(0, false, 0);
}

/* A checkpoint after a failed flush contains the rows itself: twice in a row, once without any file. */
static void test_rows_that_were_not_durable(void **state) {
  fixture *self = *state;
  outputs out;
  char path[160];
  snprintf(path, sizeof path, "%s/tables.h5", self->run);
  for (int flushed = 0; flushed < 2; flushed++) {
    open_outputs(self, IO_FOLDER_NEW, &out);
    add_rows(&out, self, 0, 4);
    if (flushed) finish(&out);
    add_rows(&out, self, 5, 10);
    fail_flush(&out);
    self->frame.clock.step = 10;
    assert_ok(out.checkpoints.write(out.checkpoints.self, &self->frame));
    close_outputs(&out);
    assert_int_equal(access(path, F_OK) == 0, flushed);

    resume(self, &out, 10);
    add_rows(&out, self, 11, 14);
    fail_flush(&out);
    self->frame.clock.step = 14;
    assert_ok(out.checkpoints.write(out.checkpoints.self, &self->frame));
    add_rows(&out, self, 15, 16);
    finish(&out); /* later than the checkpoint: cut again */
    close_outputs(&out);

    resume(self, &out, 14);
    add_rows(&out, self, 15, 15);
    finish(&out);
    assert_energy(self, 15);
    checkpoint(&out, self, 15); /* all are durable: the checkpoint has none */
    close_outputs(&out);
    io_checkpoint loaded;
    assert_ok(io_checkpoint_newest(self->run, &loaded));
    assert_int_equal(loaded.tables[0].rows, 16);
    assert_null(loaded.tables[0].tail);
    io_checkpoint_free(&loaded);
    fixture_remove(self->run);
  }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_roundtrip),
      TEST(test_wide),
      TEST(test_texts),
      TEST(test_resume_cuts),
      TEST(test_resume_after_accidents),
      TEST(test_damaged_journal),
      TEST(test_journal_head),
      TEST(test_rows_that_were_not_durable),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
