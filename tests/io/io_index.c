/* The index of the snapshots for viewers, beyond one set of particles: fields on a grid, and particles that are
 * inserted and removed. viz/tests/test_readers.py tests it with VTK's reader. */
#include "fixture.h"

#include <hdf5.h>
#include <math.h>

static const sim_field temperature_field = {.name = "temperature", .doc = "a field", .flags = SIM_IN_SNAPSHOT};
/* Three rows of one column of four values: the axis of one value is left out. */
static const sim_mesh grid = {.spacing = {0.5, 1, 0.25}, .offset = {1, 2, 3}, .position = {0.5, 0.5, 0.5}};

static hid_t open_index(const fixture *self, const char *name) {
  char path[160];
  snprintf(path, sizeof path, "%s/%s", self->run, name);
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  assert_true(file >= 0);
  return file;
}

/* Reads a dataset, which must have exactly this shape. */
static void read_whole(hid_t file, const char *name, int rank, const hsize_t *shape, hid_t type, void *out) {
  hsize_t found[4];
  hid_t set = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(set);
  assert_int_equal(H5Sget_simple_extent_ndims(space), rank);
  H5Sget_simple_extent_dims(space, found, NULL);
  for (int a = 0; a < rank; a++) assert_int_equal(found[a], shape[a]);
  assert_true(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) >= 0);
  H5Sclose(space);
  H5Dclose(set);
}

static void read_attribute(hid_t file, const char *name, hid_t type, void *out) {
  hid_t attribute = H5Aopen_by_name(file, "/VTKHDF", name, H5P_DEFAULT, H5P_DEFAULT);
  assert_true(attribute >= 0 && H5Aread(attribute, type, out) >= 0);
  H5Aclose(attribute);
}

static void write_fields(fixture *self, io_folder_mode mode, double (*values)[12], int64_t first, int64_t last) {
  io_folder *folder;
  sim_sink sink;
  const int64_t shape[] = {3, 1, 4};
  fixture_array(self, 0, SIM_F64, 3, shape, NULL);
  self->arrays[0].field = &temperature_field;
  self->arrays[0].mesh = &grid;
  self->frame.array_count = 1;
  self->frame.species_count = 0;
  assert_ok(io_folder_open(self->run, mode, &folder));
  assert_ok(io_snapshot_sink(folder, &self->provenance, (sim_cadence){0}, &sink));
  for (int64_t step = first; step <= last; step++) {
    self->frame.clock.step = step;
    self->frame.clock.t = (double)step / 2;
    self->arrays[0].data = values[step];
    assert_ok(sink.write(sink.self, &self->frame));
  }
  sink.destroy(&sink.self);
  io_folder_close(&folder);
}

static void test_grid(void **state) {
  fixture *self = *state;
  double values[5][12], found[5][12], times[5], origin[3], spacing[3];
  int64_t extent[6], offsets[5];
  char path[160];
  for (int i = 0; i < 60; i++) ((double *)values)[i] = 1.0 / (i + 1);
  write_fields(self, IO_FOLDER_NEW, values, 0, 2);
  write_fields(self, IO_FOLDER_RESUME, values, 2, 4); /* 0 and 1 are found in the folder */
  hid_t file = open_index(self, "grid.hdf");
  read_attribute(file, "WholeExtent", H5T_NATIVE_INT64, extent);
  assert_memory_equal(extent, ((int64_t[]){0, 3, 0, 0, 0, 2}), sizeof extent);
  read_attribute(file, "Origin", H5T_NATIVE_DOUBLE, origin);
  read_attribute(file, "Spacing", H5T_NATIVE_DOUBLE, spacing);
  assert_memory_equal(origin, ((double[]){3.125, 2.5, 1.25}), sizeof origin);
  assert_memory_equal(spacing, ((double[]){0.25, 1, 0.5}), sizeof spacing);
  read_whole(file, "/VTKHDF/PointData/temperature", 3, (hsize_t[]){5, 3, 4}, H5T_NATIVE_DOUBLE, found);
  assert_memory_equal(found, values, sizeof values);
  read_whole(file, "/VTKHDF/Steps/Values", 1, (hsize_t[]){5}, H5T_NATIVE_DOUBLE, times);
  read_whole(file, "/VTKHDF/Steps/PointDataOffsets/temperature", 1, (hsize_t[]){5}, H5T_NATIVE_INT64, offsets);
  for (int i = 0; i < 5; i++) assert_true(times[i] == i / 2.0 && offsets[i] == i);
  H5Fclose(file);
  snprintf(path, sizeof path, "%s/snap/snap_00000003.h5", self->run);
  assert_int_equal(unlink(path), 0);
  file = open_index(self, "grid.hdf");
  read_whole(file, "/VTKHDF/PointData/temperature", 3, (hsize_t[]){5, 3, 4}, H5T_NATIVE_DOUBLE, found);
  assert_true(isnan(found[3][5]) && found[4][5] == values[4][5]);
  H5Fclose(file);
}

static const sim_field mask_field = {.name = "mask", .doc = "the same at all steps", .flags = SIM_IN_SNAPSHOT};

/* A field, and a mask that snapshots have once; a sink that goes on finds it in the first file. */
static void write_masked(fixture *self, io_folder_mode mode, double *values, unsigned char *mask, int64_t first,
                         int64_t last) {
  io_folder *folder;
  sim_sink sink;
  const int64_t shape[] = {3, 1, 4};
  fixture_array(self, 0, SIM_F64, 3, shape, values);
  fixture_array(self, 1, SIM_U8, 3, shape, mask);
  for (int i = 0; i < 2; i++) self->arrays[i].mesh = &grid;
  self->arrays[0].field = &temperature_field;
  self->arrays[1].field = &mask_field;
  self->arrays[1].once = true;
  self->frame.array_count = 2;
  self->frame.species_count = 0;
  assert_ok(io_folder_open(self->run, mode, &folder));
  assert_ok(io_snapshot_sink(folder, &self->provenance, (sim_cadence){0}, &sink));
  for (int64_t step = first; step <= last; step++) {
    self->frame.clock.step = step;
    self->frame.clock.t = (double)step / 2;
    assert_ok(sink.write(sink.self, &self->frame));
  }
  sink.destroy(&sink.self);
  io_folder_close(&folder);
  self->arrays[1].once = false;
  for (int i = 0; i < 2; i++) self->arrays[i].mesh = NULL;
}

static bool has_mask(const fixture *self, int64_t step) {
  char path[160], object[64];
  snprintf(path, sizeof path, "%s/snap/snap_%08lld.h5", self->run, (long long)step);
  snprintf(object, sizeof object, "/data/%lld/meshes/mask", (long long)step);
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  assert_true(file >= 0);
  const bool out = H5Lexists(file, object, H5P_DEFAULT) > 0;
  H5Fclose(file);
  return out;
}

/* 40 steps, so that blocks of steps are written before the end, and 30 more after a restart. */
static void test_once(void **state) {
  fixture *self = *state;
  double values[12] = {1, 2, 3};
  unsigned char mask[12] = {0, 1, 1, 0, 1}, found[12];
  int64_t offsets[70];
  for (int part = 0; part < 2; part++) {
    write_masked(self, part ? IO_FOLDER_RESUME : IO_FOLDER_NEW, values, mask, part ? 40 : 0, part ? 69 : 39);
    for (int64_t step = 0; step < (part ? 70 : 40); step++) assert_true(has_mask(self, step) == (step == 0));
    const hsize_t steps = part ? 70 : 40;
    hid_t file = open_index(self, "grid.hdf");
    read_whole(file, "/VTKHDF/PointData/mask", 3, (hsize_t[]){1, 3, 4}, H5T_NATIVE_UINT8, found);
    assert_memory_equal(found, mask, sizeof mask);
    read_whole(file, "/VTKHDF/Steps/PointDataOffsets/mask", 1, &steps, H5T_NATIVE_INT64, offsets);
    for (hsize_t i = 0; i < steps; i++) assert_true(offsets[i] == 0);
    read_whole(file, "/VTKHDF/Steps/PointDataOffsets/temperature", 1, &steps, H5T_NATIVE_INT64, offsets);
    for (hsize_t i = 0; i < steps; i++) assert_true(offsets[i] == (int64_t)i);
    H5Fclose(file);
  }
}

/* Halo of 3, 0, 2, 1 bodies at four steps; x = 1000 step + number. */
static void write_changing(fixture *self, io_folder_mode mode, int first, int last) {
  static const int64_t counts[] = {3, 0, 2, 1};
  io_folder *folder;
  sim_sink sink;
  self->frame.array_count = 4;
  assert_ok(io_folder_open(self->run, mode, &folder));
  assert_ok(io_snapshot_sink(folder, &self->provenance, (sim_cadence){0}, &sink));
  for (int step = first; step <= last; step++) {
    const int64_t n = 4 + counts[step];
    self->frame.clock.step = step;
    self->species[1].count = counts[step];
    fixture_array(self, 0, SIM_F64, 2, (const int64_t[]){3, n}, self->position);
    fixture_array(self, 1, SIM_F32, 2, (const int64_t[]){3, n}, self->velocity);
    /* The mass of all halo bodies is 2 at steps 0 and 1, 3 at step 3, and differs at step 2. */
    for (int i = 4; i < 7; i++) self->mass[i] = step == 3 ? 3 : step == 2 ? i : 2;
    fixture_array(self, 2, SIM_F64, 1, &n, self->mass);
    fixture_array(self, 3, SIM_U64, 1, &n, self->id);
    for (int i = 0; i < n; i++) ((double *)self->position)[i] = 1000 * step + i;
    assert_ok(sink.write(sink.self, &self->frame));
  }
  sink.destroy(&sink.self);
  io_folder_close(&folder);
}

static void test_particles_come_and_go(void **state) {
  fixture *self = *state;
  double points[6][3], mass[16];
  int64_t counts[4], begins[4];
  write_changing(self, IO_FOLDER_NEW, 0, 1);
  write_changing(self, IO_FOLDER_RESUME, 2, 3);
  hid_t file = open_index(self, "halo.hdf");
  read_whole(file, "/VTKHDF/NumberOfPoints", 1, (hsize_t[]){4}, H5T_NATIVE_INT64, counts);
  read_whole(file, "/VTKHDF/Steps/PointOffsets", 1, (hsize_t[]){4}, H5T_NATIVE_INT64, begins);
  assert_memory_equal(counts, ((int64_t[]){3, 0, 2, 1}), sizeof counts);
  assert_memory_equal(begins, ((int64_t[]){0, 3, 3, 5}), sizeof begins);
  read_whole(file, "/VTKHDF/Points", 2, (hsize_t[]){6, 3}, H5T_NATIVE_DOUBLE, points);
  const double expected[] = {4, 5, 6, 2004, 2005, 3004};
  for (int i = 0; i < 6; i++) assert_true(points[i][0] == expected[i]);
  read_whole(file, "/VTKHDF/PointData/mass", 1, (hsize_t[]){6}, H5T_NATIVE_DOUBLE, mass);
  assert_memory_equal(mass, ((double[]){2, 2, 2, 4, 5, 3}), 6 * sizeof *mass);
  H5Fclose(file);
  file = open_index(self, "stars.hdf");
  read_whole(file, "/VTKHDF/PointData/mass", 1, (hsize_t[]){16}, H5T_NATIVE_DOUBLE,
             mass); /* one constant for all steps */
  for (int i = 0; i < 16; i++) assert_true(mass[i] == 0.25);
  read_whole(file, "/VTKHDF/NumberOfPoints", 1, (hsize_t[]){4}, H5T_NATIVE_INT64, counts);
  for (int i = 0; i < 4; i++) assert_int_equal(counts[i], 4);
  H5Fclose(file);
}

/* Returns the number of mappings of a virtual dataset. */
static size_t mappings(hid_t file, const char *name) {
  size_t count;
  hid_t set = H5Dopen2(file, name, H5P_DEFAULT), plist = H5Dget_create_plist(set);
  assert_true(H5Pget_virtual_count(plist, &count) >= 0);
  H5Pclose(plist);
  H5Dclose(set);
  return count;
}

/* A long run. Each mapping takes HDF5 microseconds, so the datasets that are written at the end have few. With 16 steps
 * a block, 40 steps are 3 mappings, not one for each step and component. */
static void test_long_run(void **state) {
  enum { STEPS = 40, REMOVED = 21, N = 7 };
  fixture *self = *state;
  io_folder *folder;
  sim_sink sink;
  static double points[4 * STEPS][3], mass[4 * STEPS], halo[3 * STEPS];
  char path[160];
  const int64_t n = N;
  self->frame.array_count = 4;
  assert_ok(io_folder_open(self->run, IO_FOLDER_NEW, &folder));
  assert_ok(io_snapshot_sink(folder, &self->provenance, (sim_cadence){0}, &sink));
  for (int step = 0; step < STEPS; step++) {
    fixture_array(self, 0, SIM_F64, 2, (const int64_t[]){3, n}, self->position);
    fixture_array(self, 1, SIM_F32, 2, (const int64_t[]){3, n}, self->velocity);
    fixture_array(self, 2, SIM_F64, 1, &n, self->mass);
    fixture_array(self, 3, SIM_U64, 1, &n, self->id);
    self->frame.clock.step = step;
    for (int i = 0; i < 3 * N; i++) ((double *)self->position)[i] = 1000 * step + i;
    for (int i = 0; i < N; i++) self->mass[i] = i < 4 ? step / 5 : i; /* the stars have one value, the halo does not */
    assert_ok(sink.write(sink.self, &self->frame));
    if (step == 18) assert_ok(sink.flush(sink.self)); /* completes the files; the next block begins new ones */
  }
  sink.destroy(&sink.self);
  io_folder_close(&folder);
  snprintf(path, sizeof path, "%s/snap/snap_%08d.h5", self->run, REMOVED);
  assert_int_equal(unlink(path), 0);
  hid_t file = open_index(self, "stars.hdf");
  assert_int_equal(mappings(file, "/VTKHDF/Points"), 3);
  assert_int_equal(mappings(file, "/VTKHDF/PointData/mass"), 3);
  read_whole(file, "/VTKHDF/Points", 2, (hsize_t[]){4 * STEPS, 3}, H5T_NATIVE_DOUBLE, points);
  read_whole(file, "/VTKHDF/PointData/mass", 1, (hsize_t[]){4 * STEPS}, H5T_NATIVE_DOUBLE, mass);
  for (int step = 0; step < STEPS; step++)
    for (int i = 0; i < 4; i++) {
      assert_true(mass[4 * step + i] == step / 5);
      for (int a = 0; a < 3; a++) {
        const double found = points[4 * step + i][a];
        assert_true(step == REMOVED ? isnan(found) : found == 1000 * step + N * a + i);
      }
    }
  H5Fclose(file);
  file = open_index(self, "halo.hdf");
  read_whole(file, "/VTKHDF/PointData/mass", 1, (hsize_t[]){3 * STEPS}, H5T_NATIVE_DOUBLE, halo);
  for (int i = 0; i < 3 * STEPS; i++) assert_true(i / 3 == REMOVED ? isnan(halo[i]) : halo[i] == 4 + i % 3);
  H5Fclose(file);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
int main(void) {
  const struct CMUnitTest tests[] = {TEST(test_grid), TEST(test_once), TEST(test_particles_come_and_go),
                                     TEST(test_long_run)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
