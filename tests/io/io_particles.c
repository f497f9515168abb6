#include "fixture.h"

#include <hdf5.h>
#include <math.h>
#include <sys/stat.h>

static const char *write_text(const fixture *self, const char *text, size_t size) {
  static char path[160];
  snprintf(path, sizeof path, "%s/bodies.csv", self->base);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_int_equal(fwrite(text, 1, size, file), size);
  fclose(file);
  return path;
}

static const char *write_snapshot(fixture *self) {
  static char path[160];
  io_folder *folder;
  sim_sink sink;
  assert_ok(io_folder_open(self->run, IO_FOLDER_NEW, &folder));
  assert_ok(io_snapshot_sink(folder, &self->provenance, (sim_cadence){0}, &sink));
  assert_ok(sink.write(sink.self, &self->frame));
  sink.destroy(&sink.self);
  io_folder_close(&folder);
  snprintf(path, sizeof path, "%s/snap/snap_00000012.h5", self->run);
  return path;
}

static void test_csv(void **state) {
  const char text[] =
      "\xEF\xBB\xBFvx, x,y,z ,mass,vy,vz\r\n# a comment\r\n1,2,3,4,5,6,7\r\n\r\n -1e3,.5,+.125,4.,5,6,7";
  const char *path = write_text(*state, text, sizeof text - 1);
  sim_particles read;
  int64_t count;
  assert_ok(io_read_particles(path, NULL, NULL, &read));
  assert_int_equal(read.count, 2);
  assert_true(read.velocity[0][0] == 1 && read.position[0][0] == 2 && read.mass[0] == 5 && read.velocity[2][0] == 7);
  assert_true(read.velocity[0][1] == -1000 && read.position[0][1] == 0.5 && read.position[1][1] == 0.125);
  sim_particles_free(&read);
  assert_ok(io_count_particles(path, NULL, &count));
  assert_int_equal(count, 2);
}

static void test_csv_without_all_columns(void **state) {
  sim_particles read;
  assert_ok(io_read_particles(write_text(*state, "x,y,z\n1,2,3\n", 12), NULL, NULL, &read));
  assert_null(read.mass);
  assert_null(read.velocity[0]);
  assert_true(read.position[2][0] == 3);
  sim_particles_free(&read);
}

static void test_csv_faults(void **state) {
  static const struct {
    const char *text, *message;
  } cases[] = {
      {"", "is empty"},
      {"# nothing\n", "is empty"},
      {"x,y,z\n", "no particles"},
      {"x,y\n1,2\n", ":1: the columns x, y and z are needed"},
      {"x,y,z,vx\n1,2,3,4\n", ":1: expected all of vx, vy and vz"},
      {"x,y,z,x\n1,2,3,4\n", ":1: column x stands twice"},
      {"x,y,z,mas\n1,2,3,4\n", "nearest is mass"},
      {"x,y,z,\x1b[31m\n1,2,3,4\n", ":1: column 4 has an unknown name; expected some of mass, x, y"},
      {"x,y,z\n1,2\n", ":2: has fewer values"},
      {"x,y,z\n1,2,3\n1,2,3,4\n", ":3: has more values"},
      {"x,y,z\n1,2,nan\n", ":2: column 3, z: expected a finite number"},
      {"x,y,z\n1,-inf,3\n", ":2: column 2, y: expected a finite number"},
      {"x,y,z\n1,1e999,3\n", ":2: column 2, y: expected a finite number"},
      {"x,y,z\n1,,3\n", ":2: column 2, y: expected a number"},
      {"x,y,z\n1,2.5.1,3\n", ":2: column 2, y: expected a number"},
      {"x,y,z\n1,0x10,3\n", ":2: column 2, y: expected a number"},
      {"x,y,z\n1,-0X.8p3,3\n", ":2: column 2, y: expected a number"},
      {"x;y;z\n1;2;3\n", ":1: column 1 has an unknown name"},
  };
  sim_particles read;
  int64_t count;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *path = write_text(*state, cases[i].text, strlen(cases[i].text));
    assert_status(io_read_particles(path, NULL, NULL, &read), SIM_ERR_SCENARIO);
    assert_message(cases[i].message);
    assert_status(io_count_particles(path, NULL, &count), SIM_ERR_SCENARIO);
  }
  const char *path = write_text(*state, "x,y,z\n1,\0,3\n", 12);
  assert_status(io_read_particles(path, NULL, NULL, &read), SIM_ERR_SCENARIO);
  assert_message("NUL");
  char line[5000];
  memset(line, '1', sizeof line);
  path = write_text(*state, line, sizeof line);
  assert_status(io_read_particles(path, NULL, NULL, &read), SIM_ERR_SCENARIO);
  assert_message("too long");
}

/* A scenario may name any file: messages must not show its contents. */
static void test_csv_keeps_secrets(void **state) {
  static const char *const texts[] = {"root:SECRET:19000\n", "SECRET\n", "x,y,z\n1,SECRET,3\n", "x,y,z,SECRET\n"};
  sim_particles read;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    assert_status(io_read_particles(write_text(*state, texts[i], strlen(texts[i])), NULL, NULL, &read),
                  SIM_ERR_SCENARIO);
    assert_null(strstr(sim_error_last()->message, "SECRET"));
  }
}

static void test_paths(void **state) {
  const fixture *self = *state;
  sim_particles read;
  char path[160];
  snprintf(path, sizeof path, "%s/none.h5", self->base);
  assert_status(io_read_particles(path, NULL, NULL, &read), SIM_ERR_NO_INPUT);
  assert_status(io_read_particles(self->base, NULL, NULL, &read), SIM_ERR_NO_INPUT);
  assert_status(io_read_particles("/dev/zero", NULL, NULL, &read), SIM_ERR_NO_INPUT);
  assert_int_equal(mkfifo(path, 0600), 0);
  assert_status(io_read_particles(path, NULL, NULL, &read), SIM_ERR_NO_INPUT);
  unlink(path);
  FILE *file = fopen(path, "w");
  fputs("x,y,z\n1,2,3\n", file);
  fclose(file);
  assert_status(io_read_particles(path, NULL, NULL, &read), SIM_ERR_SCENARIO);
  assert_message("is not an HDF5 file");
}

static void test_snapshot(void **state) {
  fixture *self = *state;
  const char *path = write_snapshot(self);
  sim_particles read;
  int64_t count;
  assert_ok(io_read_particles(path, "halo", &self->units, &read));
  assert_int_equal(read.count, 3);
  for (int i = 0; i < 3; i++) {
    assert_true(read.mass[i] == self->mass[4 + i]);
    for (int k = 0; k < 3; k++) {
      assert_true(read.position[k][i] == self->position[k][4 + i]);
      assert_true(read.velocity[k][i] == (double)self->velocity[k][4 + i]);
    }
  }
  sim_particles_free(&read);
  assert_ok(io_read_particles(path, "stars", &self->units, &read));
  for (int i = 0; i < 4; i++) assert_true(read.mass[i] == 0.25); /* a constant in the file */
  sim_particles_free(&read);
  assert_ok(io_count_particles(path, "stars", &count));
  assert_int_equal(count, 4);
  assert_status(io_count_particles(path, "gas", &count), SIM_ERR_SCENARIO);
  assert_message("gas: is missing");
  assert_status(io_count_particles(path, NULL, &count), SIM_ERR_SCENARIO);
  assert_message("more than one species");
}

static void test_snapshot_units(void **state) {
  fixture *self = *state;
  const sim_units other = {true, 500, 8, 1};
  sim_particles read;
  self->units = (sim_units){true, 1000, 2, 4};
  const char *path = write_snapshot(self);
  assert_ok(io_read_particles(path, "stars", &other, &read));
  assert_true(read.position[1][2] == self->position[1][2] * 2);           /* 1000 / 500 */
  assert_true(read.mass[2] == 0.25 * 0.25);                               /* 2 / 8 */
  assert_true(read.velocity[1][2] == (double)self->velocity[1][2] * 0.5); /* (1000 / 4) / (500 / 1) */
  sim_particles_free(&read);
  assert_ok(io_read_particles(path, "stars", &(sim_units){false, 1, 1, 1}, &read));
  assert_true(read.position[1][2] == self->position[1][2]);
  sim_particles_free(&read);
}

/* Changes attribute "value" of an object in the file. (In this order, since HDF5 1.10 cannot write an attribute that
 * was opened by its object's name.) */
static void set_value(hid_t file, const char *name, double value) {
  hid_t object = H5Oopen(file, name, H5P_DEFAULT), attribute = H5Aopen(object, "value", H5P_DEFAULT);
  assert_true(H5Awrite(attribute, H5T_NATIVE_DOUBLE, &value) >= 0);
  H5Aclose(attribute);
  H5Oclose(object);
}

static void test_offset_is_added(void **state) {
  fixture *self = *state;
  const char *path = write_snapshot(self);
  sim_particles read;
  hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
  set_value(file, "/data/12/particles/stars/positionOffset/y", 100);
  H5Fclose(file);
  fixture_seal(path);
  assert_ok(io_read_particles(path, "stars", NULL, &read));
  assert_true(read.position[1][2] == self->position[1][2] + 100);
  assert_true(read.position[0][2] == self->position[0][2]);
  sim_particles_free(&read);
}

static void test_snapshot_faults(void **state) {
  fixture *self = *state;
  sim_particles read;
  self->position[1][2] = NAN;
  const char *path = write_snapshot(self);
  assert_status(io_read_particles(path, "stars", NULL, &read), SIM_ERR_SCENARIO);
  assert_message("not finite");
  hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
  set_value(file, "/data/12/particles/stars/mass", NAN);
  const hsize_t two[] = {2};
  assert_true(H5Ldelete(file, "/data/12/particles/halo/velocity/x", H5P_DEFAULT) >= 0);
  hid_t space = H5Screate_simple(1, two, NULL), plist = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_alloc_time(plist, H5D_ALLOC_TIME_EARLY);
  H5Dclose(
      H5Dcreate2(file, "/data/12/particles/halo/velocity/x", H5T_IEEE_F64LE, space, H5P_DEFAULT, plist, H5P_DEFAULT));
  H5Pclose(plist);
  H5Sclose(space);
  H5Fclose(file);
  fixture_seal(path);
  assert_status(io_read_particles(path, "halo", NULL, &read), SIM_ERR_SCENARIO);
  assert_message("another length");
  assert_null(read.mass);
  assert_int_equal(truncate(path, 2000), 0);
  assert_status(io_read_particles(path, "halo", NULL, &read), SIM_ERR_SCENARIO);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_csv),
      TEST(test_csv_without_all_columns),
      TEST(test_csv_faults),
      TEST(test_csv_keeps_secrets),
      TEST(test_paths),
      TEST(test_snapshot),
      TEST(test_snapshot_units),
      TEST(test_offset_is_added),
      TEST(test_snapshot_faults),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
