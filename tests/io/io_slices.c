/* Slices: the cells that they keep, the positions of these cells, and the slices' files. */
#include "fixture.h"

#include <hdf5.h>
#include <math.h>
#include <sys/stat.h>

enum { NZ = 4, NY = 5, NX = 7 };

static float field[NZ][NY][NX];
static const sim_mesh mesh = {.spacing = {0.5, 0.1, 2}, .offset = {10, 0, -7}, .position = {0.5, 0.5, 0.5}};

static void put_field(fixture *self) {
  static const sim_field u = {.name = "u", .doc = "a field", .flags = SIM_IN_SNAPSHOT};
  for (int i = 0; i < NZ * NY * NX; i++) field[i / (NY * NX)][i / NX % NY][i % NX] = (float)i;
  self->arrays[0] = (sim_array){.field = &u,
                                .dtype = SIM_F32,
                                .rank = 3,
                                .shape = {NZ, NY, NX},
                                .global = {NZ, NY, NX},
                                .data = field,
                                .mesh = &mesh};
}

/* Places a slice; `at` by x, y, z; NAN: all. */
static char *place(sim_slice *slice, double x, double y, double z, int64_t stride, int apart) {
  static sim_bytes text;
  static char name[] = "middle";
  const sim_extent extent = {.rank = 3, .n = {NZ, NY, NX}, .mesh = mesh, .apart = apart};
  sim_faults faults = {0};
  sim_item item = {&sim_slice_schema, slice, 0};
  *slice = (sim_slice){.name = name, .at = {x, y, z}, .stride = stride, .when = {SIM_ENDS, 0}};
  sim_slices_place(&(sim_list){&item, 1}, "test", &extent, &faults);
  sim_bytes_free(&text);
  text = faults.text;
  return faults.count ? (char *)text.data : NULL;
}

static void write_once(fixture *self, const sim_slice *slice, io_folder_mode mode) {
  io_folder *folder;
  sim_sink sink;
  assert_ok(io_folder_open(self->run, mode, &folder));
  if (mode == IO_FOLDER_FORCE) assert_ok(io_folder_clear(folder));
  assert_ok(io_slice_sink(folder, &self->provenance, slice, &sink));
  assert_ok(sink.write(sink.self, &self->frame));
  sink.destroy(&sink.self);
  io_folder_close(&folder);
}

static void path_of(const fixture *self, const char *file, char path[200]) {
  snprintf(path, 200, "%s/slices/middle/%s", self->run, file);
}

static void numbers(hid_t set, const char *name, const double *expected, hsize_t count) {
  double found[3];
  hid_t attribute = H5Aopen(set, name, H5P_DEFAULT), space = H5Aget_space(attribute);
  assert_int_equal(H5Sget_simple_extent_npoints(space), count);
  assert_true(H5Aread(attribute, H5T_NATIVE_DOUBLE, found) >= 0);
  for (hsize_t i = 0; i < count; i++)
    if (found[i] != expected[i]) fail_msg("%s[%d] is %.17g", name, (int)i, found[i]);
  H5Sclose(space);
  H5Aclose(attribute);
}

static void texts(hid_t set, const char *name, const char *expected) {
  char found[4] = {0};
  hid_t attribute = H5Aopen(set, name, H5P_DEFAULT), type = H5Aget_type(attribute);
  assert_int_equal(H5Tget_size(type), 1);
  assert_int_equal(H5Aget_storage_size(attribute), strlen(expected));
  assert_true(H5Aread(attribute, type, found) >= 0);
  assert_string_equal(found, expected);
  H5Tclose(type);
  H5Aclose(attribute);
}

/* Every third cell of the plane y = 0.3: cells z 0 and 3, x 0, 3 and 6. 0.3 is the face between cells 2 and 3. */
static void test_plane(void **state) {
  fixture *self = *state;
  sim_slice slice;
  char path[200];
  float found[6];
  put_field(self);
  assert_null(place(&slice, NAN, 0.3, NAN, 3, -1));
  write_once(self, &slice, IO_FOLDER_NEW);
  path_of(self, "snap_00000012.h5", path);
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  assert_true(file >= 0);
  hid_t set = H5Dopen2(file, "/data/12/meshes/u", H5P_DEFAULT), space = H5Dget_space(set);
  hsize_t shape[3];
  assert_int_equal(H5Sget_simple_extent_ndims(space), 2);
  H5Sget_simple_extent_dims(space, shape, NULL);
  assert_true(shape[0] == 2 && shape[1] == 3);
  assert_true(H5Dread(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, found) >= 0);
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < 3; i++) assert_true(found[3 * k + i] == field[3 * k][3][3 * i]);
  texts(set, "axisLabels", "zx");
  texts(set, "sliceAxes", "y");
  numbers(set, "gridSpacing", (const double[]){3 * 0.5, 3 * 2.0}, 2);
  numbers(set, "gridGlobalOffset", (const double[]){10, -7}, 2);
  numbers(set, "position", (const double[]){0.5 / 3, 0.5 / 3}, 2); /* the first cell's centre has not moved */
  numbers(set, "slicePosition", (const double[]){3.5 * 0.1}, 1);
  assert_true(H5Lexists(file, "/data/12/particles", H5P_DEFAULT) == 0);
  assert_true(H5Aexists(file, "particlesPath") == 0 && H5Aexists(file, "meshesPath") > 0);
  H5Sclose(space), H5Dclose(set), H5Fclose(file);
}

/* All combinations of planes and strides against the definition. */
static void test_cells(void **state) {
  fixture *self = *state;
  float found[NZ * NY * NX];
  sim_slice slice;
  put_field(self);
  for (int cut = 0; cut < 7; cut++) /* bit a: axis x, y, z */
    for (int stride = 1; stride < 9; stride++)
      for (int apart = -1; apart < 1; apart++) {
        const double at[3] = {cut & 1 ? 6.9 : NAN, cut & 2 ? 0.0 : NAN, cut & 4 ? 11.2 : NAN}; /* cells 6, 0, 2 */
        assert_null(place(&slice, at[0], at[1], at[2], stride, apart));
        sim_array part;
        sim_mesh grid;
        sim_slice_shape(&slice, &self->arrays[0], &part, &grid);
        sim_slice_gather(&slice, &self->arrays[0], found);
        size_t count = 0;
        for (int k = 0; k < NZ; k++)
          for (int j = 0; j < NY; j++)
            for (int i = 0; i < NX; i++)
              if ((cut & 4 ? k == 2 : apart == 0 || k % stride == 0) && (cut & 2 ? j == 0 : j % stride == 0) &&
                  (cut & 1 ? i == 6 : i % stride == 0))
                assert_true(found[count++] == field[k][j][i]);
        assert_int_equal(count * sizeof(float), sim_array_bytes(&part));
        assert_int_equal(part.rank, 3 - (cut & 1) - (cut >> 1 & 1) - (cut >> 2));
      }
}

static void test_refused(void **state) {
  sim_slice slice;
  (void)state;
  assert_non_null(strstr(place(&slice, NAN, NAN, 12.1, 1, -1),
                         "output.slices[1].z: outside of the grid: expected a place from 10 to 12, got 12.1"));
  assert_non_null(strstr(place(&slice, -7.01, NAN, NAN, 1, -1), "output.slices[1].x: outside"));
  assert_non_null(strstr(place(&slice, 0, 0, 10, 1, -1), "no axis of the grid is left"));
  assert_null(place(&slice, 7, 0.5, NAN, 1, -1)); /* the upper ends belong to the last cells */
  assert_true(slice.first[2] == NX - 1 && slice.first[1] == NY - 1);
}

/* The same step again replaces its file; incomplete files of an earlier process are removed; --force removes all. */
static void test_files(void **state) {
  fixture *self = *state;
  sim_slice slice;
  char path[200], stale[200], foreign[200];
  put_field(self);
  assert_null(place(&slice, NAN, NAN, 10, 1, -1));
  write_once(self, &slice, IO_FOLDER_NEW);
  path_of(self, ".snap_00000013.h5.tmp", stale);
  io_folder *folder;
  FILE *half = fopen(stale, "w");
  assert_non_null(half);
  fclose(half);
  write_once(self, &slice, IO_FOLDER_RESUME);
  assert_int_not_equal(access(stale, F_OK), 0);
  path_of(self, "snap_00000012.h5", path);
  assert_int_equal(access(path, F_OK), 0);
  self->frame.clock.step = 20;
  write_once(self, &slice, IO_FOLDER_FORCE);
  assert_int_not_equal(access(path, F_OK), 0);
  path_of(self, "note.txt", foreign);
  half = fopen(foreign, "w");
  assert_non_null(half);
  fclose(half);
  assert_ok(io_folder_open(self->run, IO_FOLDER_FORCE, &folder));
  assert_ok(io_folder_clear(folder));
  io_folder_close(&folder);
  path_of(self, "snap_00000020.h5", path);
  assert_int_not_equal(access(path, F_OK), 0);
  assert_int_equal(access(foreign, F_OK), 0); /* files of other programs are kept */
  assert_int_equal(unlink(foreign), 0);
  assert_ok(io_folder_open(self->run, IO_FOLDER_FORCE, &folder));
  assert_ok(io_folder_clear(folder));
  io_folder_close(&folder);
  snprintf(path, sizeof path, "%s/slices", self->run);
  assert_int_not_equal(access(path, F_OK), 0);
}

static void whole(hid_t file, const char *name, hid_t type, hsize_t count, void *found) {
  hid_t set = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(set);
  assert_int_equal(H5Sget_simple_extent_npoints(space), count);
  assert_true(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, found) >= 0);
  H5Sclose(space), H5Dclose(set);
}

static void of_image(hid_t file, const char *name, hid_t type, void *found) {
  hid_t attribute = H5Aopen_by_name(file, "/VTKHDF", name, H5P_DEFAULT, H5P_DEFAULT);
  assert_true(attribute >= 0 && H5Aread(attribute, type, found) >= 0);
  H5Aclose(attribute);
}

/* grid.hdf beside the files of a slice points only to the files with these cells, in all parts of a run. A plane is an
 * axis of one value, at the plane's position. */
static void test_index(void **state) {
  fixture *self = *state;
  sim_slice slice;
  char path[200];
  float found[2][2];
  double times[2], at[3];
  int64_t extent[6];
  put_field(self);
  for (int step = 10; step < 14; step++) { /* another plane; cells x 0 and 4, not 5; then no change */
    assert_null(place(&slice, NAN, step == 10 ? 0.1 : 0.3, NAN, step == 11 ? 4 : 5, -1));
    self->frame.clock.step = step;
    self->frame.clock.t = step / 4.0;
    write_once(self, &slice, step == 10 ? IO_FOLDER_NEW : IO_FOLDER_RESUME);
  }
  path_of(self, "grid.hdf", path);
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  assert_true(file >= 0);
  whole(file, "/VTKHDF/PointData/u", H5T_NATIVE_FLOAT, 4, found);
  for (int i = 0; i < 2; i++) assert_true(found[i][0] == field[0][3][0] && found[i][1] == field[0][3][5]);
  whole(file, "/VTKHDF/Steps/Values", H5T_NATIVE_DOUBLE, 2, times);
  assert_true(times[0] == 3 && times[1] == 3.25);
  of_image(file, "WholeExtent", H5T_NATIVE_INT64, extent);
  assert_memory_equal(extent, ((int64_t[]){0, 1, 0, 0, 0, 0}), sizeof extent);
  of_image(file, "Origin", H5T_NATIVE_DOUBLE, at);
  /* centres of the first cells along x and z: -7 + 0.5 * 2 and 10 + 0.5 * 0.5, to rounding of a fifth */
  for (int a = 0; a < 3; a++) assert_true(fabs(at[a] - ((double[]){-6, 3.5 * 0.1, 10.25})[a]) < 1e-14);
  of_image(file, "Spacing", H5T_NATIVE_DOUBLE, at);
  for (int a = 0; a < 3; a++) assert_true(at[a] == ((double[]){10, 0.1, 2.5})[a]);
  H5Fclose(file);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
int main(void) {
  const struct CMUnitTest tests[] = {TEST(test_plane), TEST(test_cells), TEST(test_refused), TEST(test_files),
                                     TEST(test_index)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
