/* Malicious checkpoints: valid HDF5 with a valid digest, and contents that must be refused. */
#include "fixture.h"
#include "io/seal.h"

#include <fcntl.h>
#include <hdf5.h>
#include <math.h>

typedef struct crafted {
  fixture *self;
  char path[160];
  hid_t file, state;
} crafted;

static crafted begin(void **state) {
  crafted it = {.self = *state};
  fixture_checkpoints(it.self, IO_FOLDER_NEW, (const int64_t[]){12}, 1);
  fixture_checkpoint_path(it.self, 12, it.path);
  it.file = H5Fopen(it.path, H5F_ACC_RDWR, H5P_DEFAULT);
  assert_true(it.file >= 0);
  it.state = H5Gopen2(it.file, "state", H5P_DEFAULT);
  assert_true(it.state >= 0);
  return it;
}

/* Closes the file, gives it a valid digest, and loads it. */
static sim_status load(crafted *it) {
  H5Gclose(it->state);
  H5Fclose(it->file);
  io_file file = {.fd = open(it->path, O_RDWR)};
  io_checkpoint loaded;
  assert_true(file.fd >= 0);
  assert_ok(io_seal_write(&file));
  close(file.fd);
  sim_status status = io_checkpoint_read(it->path, &loaded);
  if (status == SIM_OK) io_checkpoint_free(&loaded);
  return status;
}

static void assert_refused(crafted *it, const char *reason) {
  assert_status(load(it), SIM_ERR_INCOMPATIBLE);
  assert_message(reason);
  assert_message("ck_000000000012.h5");
}

/* Replaces /state/mass by a dataset with the attributes that an array needs. */
static void replace_mass(crafted *it, hid_t type, int rank, const hsize_t *shape, hid_t plist, bool write) {
  static const double values[7] = {1, 2, 3, 4, 5, 6, 7};
  int64_t global[32] = {0}, offset[32] = {0};
  hsize_t count = (hsize_t)rank;
  assert_true(H5Ldelete(it->state, "mass", H5P_DEFAULT) >= 0);
  hid_t space = H5Screate_simple(rank, shape, NULL);
  hid_t dataset = H5Dcreate2(it->state, "mass", type, space, H5P_DEFAULT, plist, H5P_DEFAULT);
  assert_true(dataset >= 0);
  for (int i = 0; i < rank; i++) global[i] = (int64_t)shape[i];
  hid_t row = H5Screate_simple(1, &count, NULL);
  hid_t attribute = H5Acreate2(dataset, "global", H5T_STD_I64LE, row, H5P_DEFAULT, H5P_DEFAULT);
  assert_true(H5Awrite(attribute, H5T_NATIVE_INT64, global) >= 0);
  H5Aclose(attribute);
  attribute = H5Acreate2(dataset, "offset", H5T_STD_I64LE, row, H5P_DEFAULT, H5P_DEFAULT);
  assert_true(H5Awrite(attribute, H5T_NATIVE_INT64, offset) >= 0);
  H5Aclose(attribute);
  H5Sclose(row);
  if (write) assert_true(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
  H5Dclose(dataset);
  H5Sclose(space);
}

static void set_attribute(crafted *it, const char *name, hid_t type, const void *value) {
  hid_t attribute = H5Aopen(it->file, name, H5P_DEFAULT);
  assert_true(attribute >= 0 && H5Awrite(attribute, type, value) >= 0);
  H5Aclose(attribute);
}

static const hsize_t seven[] = {7};

static void test_untouched(void **state) {
  crafted it = begin(state);
  assert_ok(load(&it));
}

static void test_rewritten(void **state) {
  crafted it = begin(state);
  replace_mass(&it, H5T_IEEE_F64LE, 1, seven, H5P_DEFAULT, true);
  assert_ok(load(&it)); /* shows that the cases below are refused for their own reason */
}

static void test_missing_dataset(void **state) {
  crafted it = begin(state);
  assert_true(H5Ldelete(it.file, "parameters", H5P_DEFAULT) >= 0);
  assert_refused(&it, "parameters: is missing");
}

static void test_missing_attribute(void **state) {
  crafted it = begin(state);
  assert_true(H5Adelete(it.file, "dt") >= 0);
  assert_refused(&it, "dt: is missing");
}

static void test_types(void **state) {
  const hid_t types[] = {H5T_IEEE_F64BE, H5T_STD_I16LE, H5T_STD_U32LE, H5T_VAX_F64};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    crafted it = begin(state);
    replace_mass(&it, types[i], 1, seven, H5P_DEFAULT, types[i] != H5T_VAX_F64);
    assert_refused(&it, types[i] == H5T_VAX_F64 ? "mass" : "of a type that no state array has");
    fixture_remove(it.self->run);
  }
}

static void test_variable_length(void **state) {
  crafted it = begin(state);
  hid_t type = H5Tvlen_create(H5T_NATIVE_DOUBLE);
  replace_mass(&it, type, 1, seven, H5P_DEFAULT, false);
  H5Tclose(type);
  assert_refused(&it, "of a type that is not allowed");
}

static void test_clock_of_another_type(void **state) {
  crafted it = begin(state);
  const float dt = 1;
  assert_true(H5Adelete(it.file, "dt") >= 0);
  hid_t space = H5Screate(H5S_SCALAR);
  hid_t attribute = H5Acreate2(it.file, "dt", H5T_IEEE_F32LE, space, H5P_DEFAULT, H5P_DEFAULT);
  assert_true(H5Awrite(attribute, H5T_NATIVE_FLOAT, &dt) >= 0);
  H5Aclose(attribute);
  H5Sclose(space);
  assert_refused(&it, "dt: is of another type");
}

static void test_rank_32(void **state) {
  crafted it = begin(state);
  hsize_t shape[32];
  for (int i = 0; i < 32; i++) shape[i] = 1;
  replace_mass(&it, H5T_IEEE_F64LE, 32, shape, H5P_DEFAULT, false);
  assert_refused(&it, "too many dimensions");
}

static hid_t chunked(int rank, hsize_t size) {
  hsize_t chunk[4] = {size, size, size, size};
  hid_t plist = H5Pcreate(H5P_DATASET_CREATE);
  assert_true(H5Pset_chunk(plist, rank, chunk) >= 0);
  return plist;
}

static void test_huge_shapes(void **state) {
  static const struct {
    int rank;
    hsize_t shape[4];
  } huge[] = {
      {1, {(hsize_t)1 << 60}}, {1, {(hsize_t)1 << 56}}, {2, {(hsize_t)1 << 40, (hsize_t)1 << 40}}, {1, {1 << 20}}};
  for (size_t i = 0; i < sizeof huge / sizeof *huge; i++) {
    crafted it = begin(state);
    hid_t plist = chunked(huge[i].rank, 1024);
    replace_mass(&it, H5T_IEEE_F64LE, huge[i].rank, huge[i].shape, plist, false);
    H5Pclose(plist);
    assert_refused(&it, "mass: is ");
    fixture_remove(it.self->run);
  }
}

static void test_never_written(void **state) {
  crafted it = begin(state);
  replace_mass(&it, H5T_IEEE_F64LE, 1, seven, H5P_DEFAULT, false);
  assert_refused(&it, "larger than what is stored");
}

static void test_filters(void **state) {
  for (int kind = 0; kind < 3; kind++) {
    crafted it = begin(state);
    hid_t plist = chunked(1, 7);
    if (kind == 0) assert_true(H5Pset_deflate(plist, 9) >= 0); /* without it there is no decompression bomb */
    if (kind == 1) assert_true(H5Pset_scaleoffset(plist, H5Z_SO_FLOAT_DSCALE, 3) >= 0);
    if (kind == 2) assert_true(H5Pset_filter(plist, 32004, H5Z_FLAG_OPTIONAL, 0, NULL) >= 0);
    replace_mass(&it, H5T_IEEE_F64LE, 1, seven, plist, kind != 2);
    H5Pclose(plist);
    assert_refused(&it, "filter that is not allowed");
    fixture_remove(it.self->run);
  }
}

static void test_external_data(void **state) {
  crafted it = begin(state);
  hid_t plist = H5Pcreate(H5P_DATASET_CREATE);
  assert_true(H5Pset_external(plist, "/etc/passwd", 0, 56) >= 0);
  replace_mass(&it, H5T_IEEE_F64LE, 1, seven, plist, false);
  H5Pclose(plist);
  assert_refused(&it, "data in another file");
}

static void test_virtual_data(void **state) {
  crafted it = begin(state);
  hid_t plist = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(1, seven, NULL);
  assert_true(H5Pset_virtual(plist, space, "/tmp/elsewhere.h5", "x", space) >= 0);
  replace_mass(&it, H5T_IEEE_F64LE, 1, seven, plist, false);
  H5Pclose(plist);
  H5Sclose(space);
  assert_refused(&it, "virtual dataset");
}

static void test_links(void **state) {
  crafted it = begin(state);
  assert_true(H5Ldelete(it.state, "mass", H5P_DEFAULT) >= 0);
  assert_true(H5Lcreate_soft("/state/id", it.state, "mass", H5P_DEFAULT, H5P_DEFAULT) >= 0);
  assert_refused(&it, "soft or external link");
  fixture_remove(it.self->run);
  it = begin(state);
  assert_true(H5Ldelete(it.state, "mass", H5P_DEFAULT) >= 0);
  assert_true(H5Lcreate_external("/tmp/elsewhere.h5", "/x", it.state, "mass", H5P_DEFAULT, H5P_DEFAULT) >= 0);
  assert_refused(&it, "soft or external link");
  fixture_remove(it.self->run);
  it = begin(state);
  hid_t group = H5Gcreate2(it.state, "more", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Gclose(group);
  assert_refused(&it, "more: is not a dataset");
}

static void test_numbers(void **state) {
  const int64_t version = 3, before = -1, many = 1 << 20;
  const double nan_value = NAN;
  crafted it = begin(state);
  set_attribute(&it, "schema_version", H5T_NATIVE_INT64, &version);
  assert_refused(&it, "has checkpoint schema 3");
  fixture_remove(it.self->run);
  it = begin(state);
  set_attribute(&it, "step", H5T_NATIVE_INT64, &before);
  assert_refused(&it, "step: is negative");
  fixture_remove(it.self->run);
  it = begin(state);
  set_attribute(&it, "t", H5T_NATIVE_DOUBLE, &nan_value);
  assert_refused(&it, "not a finite number");
  fixture_remove(it.self->run);
  it = begin(state);
  set_attribute(&it, "species", H5T_NATIVE_INT64, &many);
  assert_refused(&it, "species: has a bad count");
}

static void test_bad_state(void **state) {
  crafted it = begin(state);
  double values[7] = {1, 2, 3, INFINITY, 5, 6, 7};
  hid_t mass = H5Dopen2(it.state, "mass", H5P_DEFAULT);
  assert_true(H5Dwrite(mass, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
  H5Dclose(mass);
  assert_refused(&it, "mass");
}

static void test_bad_parameters(void **state) {
  crafted it = begin(state);
  hid_t blob = H5Dopen2(it.file, "parameters", H5P_DEFAULT);
  unsigned char *bytes = calloc(1, it.self->blob.size);
  memset(bytes, 0xff, it.self->blob.size);
  assert_true(H5Dwrite(blob, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes) >= 0);
  H5Dclose(blob);
  free(bytes);
  assert_refused(&it, "parameters: cannot be decoded");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_untouched),
      TEST(test_rewritten),
      TEST(test_missing_dataset),
      TEST(test_missing_attribute),
      TEST(test_types),
      TEST(test_variable_length),
      TEST(test_clock_of_another_type),
      TEST(test_rank_32),
      TEST(test_huge_shapes),
      TEST(test_never_written),
      TEST(test_filters),
      TEST(test_external_data),
      TEST(test_virtual_data),
      TEST(test_links),
      TEST(test_numbers),
      TEST(test_bad_state),
      TEST(test_bad_parameters),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
