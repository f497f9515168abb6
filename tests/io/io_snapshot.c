/* A snapshot is read back with HDF5 alone, name by name as openPMD 1.1.0 requires. */
#include "fixture.h"

#include <hdf5.h>
#include <math.h>
#include <sys/stat.h>

static hid_t write_and_open(fixture *self) {
  io_folder *folder;
  sim_sink sink;
  char path[160];
  assert_ok(io_folder_open(self->run, IO_FOLDER_FORCE, &folder));
  assert_ok(io_snapshot_sink(folder, &self->provenance, (sim_cadence){0}, &sink));
  assert_ok(sink.write(sink.self, &self->frame));
  sink.destroy(&sink.self);
  io_folder_close(&folder);
  snprintf(path, sizeof path, "%s/snap/snap_00000012.h5", self->run);
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  assert_true(file >= 0);
  return file;
}

static double number(hid_t file, const char *object, const char *name) {
  double value = 0;
  hid_t attribute = H5Aopen_by_name(file, object, name, H5P_DEFAULT, H5P_DEFAULT);
  if (attribute < 0 || H5Aread(attribute, H5T_NATIVE_DOUBLE, &value) < 0) fail_msg("%s: no %s", object, name);
  H5Aclose(attribute);
  return value;
}

static void assert_text(hid_t file, const char *object, const char *name, const char *expected) {
  char text[256] = {0};
  hid_t attribute = H5Aopen_by_name(file, object, name, H5P_DEFAULT, H5P_DEFAULT);
  assert_true(attribute >= 0);
  hid_t type = H5Aget_type(attribute);
  assert_int_equal(H5Tis_variable_str(type), 0);
  assert_int_equal(H5Tget_cset(type), H5T_CSET_ASCII);
  assert_true(H5Tget_size(type) < sizeof text && H5Aread(attribute, type, text) >= 0);
  assert_string_equal(text, expected);
  H5Tclose(type);
  H5Aclose(attribute);
}

static void assert_data(hid_t file, const char *name, hid_t type, const void *expected, size_t count) {
  unsigned char found[256];
  hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
  if (set < 0) fail_msg("no dataset %s", name);
  hid_t stored = H5Dget_type(set), space = H5Dget_space(set);
  assert_true(H5Tequal(stored, type) > 0);
  assert_int_equal(H5Sget_simple_extent_npoints(space), count);
  assert_true(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, found) >= 0);
  assert_memory_equal(found, expected, count * H5Tget_size(type));
  H5Sclose(space);
  H5Tclose(stored);
  H5Dclose(set);
}

#define STARS "/data/12/particles/stars"
#define HALO "/data/12/particles/halo"

static void test_root(void **state) {
  hid_t file = write_and_open(*state);
  assert_text(file, "/", "openPMD", "1.1.0");
  assert_text(file, "/", "basePath", "/data/%T/");
  assert_text(file, "/", "particlesPath", "particles/");
  assert_text(file, "/", "iterationEncoding", "fileBased");
  assert_text(file, "/", "iterationFormat", "snap_%T.h5");
  assert_text(file, "/", "author", "A. Author");
  assert_true(H5Aexists(file, "meshesPath") == 0);
  assert_true(number(file, "/data/12", "time") == 0.1);
  assert_true(number(file, "/data/12", "dt") == 1e-3);
  assert_true(number(file, "/data/12", "timeUnitSI") == 1);
  assert_text(file, "/provenance", "scenario_sha256", ((const fixture *)*state)->provenance.scenario_sha256);
  H5Fclose(file);
}

static void test_records(void **state) {
  const fixture *self = *state;
  const uint64_t four = 4;
  hid_t file = write_and_open(*state);
  assert_data(file, STARS "/position/y", H5T_IEEE_F64LE, self->position[1], 4);
  assert_data(file, HALO "/position/z", H5T_IEEE_F64LE, self->position[2] + 4, 3);
  assert_data(file, HALO "/velocity/x", H5T_IEEE_F32LE, self->velocity[0] + 4, 3); /* fp32 stays fp32 */
  assert_data(file, HALO "/id", H5T_STD_U64LE, self->id + 4, 3);
  assert_data(file, HALO "/mass", H5T_IEEE_F64LE, self->mass + 4, 3);
  assert_true(number(file, STARS "/mass", "value") == 0.25); /* the same for all stars: a constant */
  assert_true(number(file, STARS "/mass", "shape") == 4);
  assert_true(number(file, STARS "/positionOffset/x", "value") == 0);
  assert_data(file, STARS "/particlePatches/numParticles", H5T_STD_U64LE, &four, 1);
  assert_data(file, STARS "/particlePatches/offset/x", H5T_IEEE_F64LE, &self->position[0][0], 1);
  const double width = self->position[0][3] - self->position[0][0];
  assert_data(file, STARS "/particlePatches/extent/x", H5T_IEEE_F64LE, &width, 1);
  assert_true(H5Lexists(file, STARS "/counter", H5P_DEFAULT) == 0);
  H5Fclose(file);
}

static void test_units(void **state) {
  fixture *self = *state;
  double powers[7];
  self->units = (sim_units){true, 1000, 2, 4};
  hid_t file = write_and_open(self);
  assert_true(number(file, STARS "/position/x", "unitSI") == 1000);
  assert_true(number(file, STARS "/velocity/x", "unitSI") == 250);
  assert_true(number(file, STARS "/mass", "unitSI") == 2);
  assert_true(number(file, STARS "/id", "unitSI") == 1);
  assert_true(number(file, "/data/12", "timeUnitSI") == 4);
  hid_t attribute = H5Aopen_by_name(file, STARS "/velocity", "unitDimension", H5P_DEFAULT, H5P_DEFAULT);
  assert_true(H5Aread(attribute, H5T_NATIVE_DOUBLE, powers) >= 0);
  assert_memory_equal(powers, ((const double[]){1, 0, -1, 0, 0, 0, 0}), sizeof powers);
  H5Aclose(attribute);
  H5Fclose(file);
}

/* A scenario without units leaves the struct zero; every unitSI is 1 then. */
static void test_no_units(void **state) {
  fixture *self = *state;
  self->units = (sim_units){0};
  hid_t file = write_and_open(self);
  assert_true(number(file, "/data/12", "timeUnitSI") == 1);
  assert_true(number(file, STARS "/position/x", "unitSI") == 1);
  assert_true(number(file, STARS "/velocity/x", "unitSI") == 1);
  H5Fclose(file);
}

static void test_index_for_viewers(void **state) {
  const fixture *self = *state;
  char path[160], text[64] = {0};
  hid_t file = write_and_open(*state);
  H5Fclose(file);
  snprintf(path, sizeof path, "%s/run.pmd", self->run);
  FILE *index = fopen(path, "r");
  assert_non_null(index);
  assert_non_null(fgets(text, sizeof text, index));
  fclose(index);
  assert_string_equal(text, "snap/snap_%08T.h5\n");
}

static void test_no_particles(void **state) {
  fixture *self = *state;
  self->frame.species_count = 0;
  hid_t file = write_and_open(self);
  assert_true(H5Aexists(file, "particlesPath") == 0);
  assert_true(H5Lexists(file, "/data/12/particles", H5P_DEFAULT) == 0);
  H5Fclose(file);
}

/* Species without particles now, in a box that is empty or not: readers of a series find them in each file. */
static void test_empty_species(void **state) {
  fixture *self = *state;
  self->species[0].count = 0;
  self->species[1].first = 0;
  for (int64_t n = 3; n >= 0; n -= 3) {
    const uint64_t count = (uint64_t)n;
    self->frame.array_count = 4;
    self->species[1].count = n;
    fixture_array(self, 0, SIM_F64, 2, (const int64_t[]){3, n}, self->position);
    fixture_array(self, 1, SIM_F32, 2, (const int64_t[]){3, n}, self->velocity);
    fixture_array(self, 2, SIM_F64, 1, &n, self->mass + 4);
    fixture_array(self, 3, SIM_U64, 1, &n, self->id);
    hid_t file = write_and_open(self);
    assert_text(file, "/", "particlesPath", "particles/");
    assert_data(file, STARS "/position/y", H5T_IEEE_F64LE, "", 0);
    assert_data(file, STARS "/id", H5T_STD_U64LE, "", 0);
    assert_true(number(file, STARS "/mass", "shape") == 0 && number(file, STARS "/mass", "value") == 0);
    assert_data(file, STARS "/particlePatches/numParticles", H5T_STD_U64LE, &(uint64_t){0}, 1);
    assert_data(file, HALO "/particlePatches/numParticles", H5T_STD_U64LE, &count, 1);
    assert_data(file, HALO "/velocity/z", H5T_IEEE_F32LE, self->velocity[0] + 2 * n, (size_t)n);
    H5Fclose(file);
  }
}

static void test_long_command_line(void **state) {
  fixture *self = *state;
  char *line = calloc(1, 100001);
  memset(line, 'x', 100000);
  self->provenance.command_line = line; /* too large for an attribute in HDF5's classic format */
  H5Fclose(write_and_open(self));
  free(line);
}

/* One process writes snapshots first .. last, all bodies at x = 1000 step + i, and the index. */
static void write_steps(fixture *self, io_folder_mode mode, int64_t first, int64_t last) {
  io_folder *folder;
  sim_sink sink;
  assert_ok(io_folder_open(self->run, mode, &folder));
  assert_ok(io_snapshot_sink(folder, &self->provenance, (sim_cadence){0}, &sink));
  for (int64_t step = first; step <= last; step++) {
    self->frame.clock.step = step;
    self->frame.clock.t = (double)step / 2;
    for (int i = 0; i < 7; i++) self->position[0][i] = (double)(1000 * step + i);
    assert_ok(sink.write(sink.self, &self->frame));
  }
  assert_ok(sink.write(sink.self, &self->frame)); /* the same step again replaces it */
  assert_ok(sink.flush(sink.self));
  sink.destroy(&sink.self);
  io_folder_close(&folder);
}

/* Reads the points of `steps` steps of three bodies from halo.hdf. */
static void read_points(const fixture *self, size_t steps, double (*points)[3][3], double *times) {
  char path[160];
  snprintf(path, sizeof path, "%s/halo.hdf", self->run);
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  assert_true(file >= 0);
  hid_t set = H5Dopen2(file, "/VTKHDF/Points", H5P_DEFAULT), space = H5Dget_space(set);
  assert_int_equal(H5Sget_simple_extent_npoints(space), steps * 9);
  assert_true(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, points) >= 0);
  H5Sclose(space);
  H5Dclose(set);
  set = H5Dopen2(file, "/VTKHDF/Steps/Values", H5P_DEFAULT);
  assert_true(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, times) >= 0);
  H5Dclose(set);
  H5Fclose(file);
}

static void test_vtkhdf_index(void **state) {
  fixture *self = *state;
  double points[8][3][3], times[8];
  char path[160];
  write_steps(self, IO_FOLDER_NEW, 0, 4);
  write_steps(self, IO_FOLDER_RESUME, 3, 5); /* 0 to 2 are found in the folder, 3 and 4 are written again */
  read_points(self, 6, points, times);
  for (int step = 0; step < 6; step++) {
    assert_true(times[step] == step / 2.0);
    for (int i = 0; i < 3; i++) {
      assert_true(points[step][i][0] == 1000 * step + 4 + i); /* the halo begins at body 4 */
      assert_true(points[step][i][2] == self->position[2][4 + i]);
    }
  }
  snprintf(path, sizeof path, "%s/snap/snap_00000002.h5", self->run);
  assert_int_equal(unlink(path), 0);
  read_points(self, 6, points, times);
  assert_true(isnan(points[2][1][0]) && points[3][1][0] == 3005);
  write_steps(self, IO_FOLDER_FORCE, 0, 0);
  read_points(self, 1, points, times);
}

/* An index that is written at every flush would cost more than the snapshots. So it is written when a tenth more
 * snapshots have come, and at the end. 100 snapshots: 1 to 10 each, then at 12, 14, 16, ...: 10 + ln(10) / ln(1.1) = 34
 * at most. */
static void test_index_is_written_now_and_then(void **state) {
  fixture *self = *state;
  static double points[100][3][3], times[100];
  io_folder *folder;
  sim_sink sink;
  char path[160];
  struct stat info;
  ino_t last = 0;
  int written = 0;
  snprintf(path, sizeof path, "%s/halo.hdf", self->run);
  assert_ok(io_folder_open(self->run, IO_FOLDER_NEW, &folder));
  assert_ok(io_snapshot_sink(folder, &self->provenance, (sim_cadence){0}, &sink));
  for (int step = 0; step < 100; step++) {
    self->frame.clock.step = step;
    assert_ok(sink.write(sink.self, &self->frame));
    assert_ok(sink.flush(sink.self));
    assert_int_equal(stat(path, &info), 0);
    if (info.st_ino != last) written++;
    last = info.st_ino;
  }
  assert_in_range(written, 10, 34);
  sink.destroy(&sink.self);
  io_folder_close(&folder);
  read_points(self, 100, points, times);
}

/* Returns all bytes of the snapshot of a step, without its date. */
static char *read_snapshot(const fixture *self, int step, size_t *size) {
  char path[160];
  snprintf(path, sizeof path, "%s/snap/snap_%08d.h5", self->run, step);
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  char *bytes = calloc(1, 1 << 20);
  *size = fread(bytes, 1, 1 << 20, file);
  fclose(file);
  memset(bytes + *size - IO_SEAL_SIZE, 0, 64); /* the digest covers the date too */
  for (size_t i = 0; i + 25 < *size; i++)
    if (memcmp(bytes + i, "20", 2) == 0 && bytes[i + 4] == '-' && bytes[i + 13] == ':' && bytes[i + 16] == ':')
      memset(bytes + i, 0, 25);
  return bytes;
}

/* The records of HDF5 are built once for many snapshots with one layout. Each file is the same as one that is written
 * alone. */
static void test_one_layout_many_files(void **state) {
  fixture *self = *state;
  for (int last = 3; last <= 120; last += 13) { /* steps of one, two and three digits */
    size_t sizes[2];
    char *bytes[2];
    for (int alone = 0; alone < 2; alone++) {
      io_folder *folder;
      sim_sink sink;
      assert_ok(io_folder_open(self->run, IO_FOLDER_NEW, &folder));
      assert_ok(io_snapshot_sink(folder, &self->provenance, (sim_cadence){0}, &sink));
      for (int step = alone ? last : last - 3; step <= last; step++) {
        self->frame.clock.step = step;
        self->frame.clock.t = step * 0.3;
        self->frame.clock.dt = 1.0 / (step + 7);
        for (int i = 0; i < 7; i++) self->position[0][i] = (double)(1000 * step + i);
        assert_ok(sink.write(sink.self, &self->frame));
      }
      assert_ok(sink.flush(sink.self));
      sink.destroy(&sink.self);
      io_folder_close(&folder);
      bytes[alone] = read_snapshot(self, last, &sizes[alone]);
      fixture_remove(self->run);
    }
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(bytes[0], bytes[1], sizes[0]);
    free(bytes[0]);
    free(bytes[1]);
  }
}

static void test_force_removes_the_index(void **state) {
  fixture *self = *state;
  io_folder *folder;
  char path[160];
  write_steps(self, IO_FOLDER_NEW, 0, 0);
  snprintf(path, sizeof path, "%s/halo.hdf", self->run);
  assert_int_equal(access(path, F_OK), 0);
  assert_ok(io_folder_open(self->run, IO_FOLDER_FORCE, &folder));
  assert_ok(io_folder_clear(folder));
  io_folder_close(&folder);
  assert_int_not_equal(access(path, F_OK), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_root),          TEST(test_records),
      TEST(test_units),         TEST(test_index_for_viewers),
      TEST(test_no_units),      TEST(test_index_is_written_now_and_then),
      TEST(test_no_particles),  TEST(test_long_command_line),
      TEST(test_vtkhdf_index),  TEST(test_force_removes_the_index),
      TEST(test_empty_species), TEST(test_one_layout_many_files),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
