/* Lists 0, 1, 2, ... that are put together from compressed pieces read back through HDF5's own filters. */
#include "io/snapshot/counting.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static void check_list(hid_t file, hsize_t count) {
  enum { READ = 1 << 20 };
  static int64_t values[READ];
  const hsize_t chunk = IO_COUNTING_CHUNK;
  hid_t plist = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(1, &count, NULL);
  assert_true(H5Pset_chunk(plist, 1, &chunk) >= 0 && H5Pset_shuffle(plist) >= 0 && H5Pset_deflate(plist, 1) >= 0);
  hid_t set = H5Dcreate2(file, "list", H5T_STD_I64LE, space, H5P_DEFAULT, plist, H5P_DEFAULT);
  assert_true(set >= 0);
  const hsize_t written = io_counting_write(set, count);
  assert_int_equal(written, count / IO_COUNTING_CHUNK * IO_COUNTING_CHUNK);
  for (hsize_t at = 0; at < written; at += READ) {
    const hsize_t some = written - at < READ ? written - at : READ;
    hid_t part = H5Screate_simple(1, &some, NULL);
    assert_true(H5Sselect_hyperslab(space, H5S_SELECT_SET, &at, NULL, &some, NULL) >= 0);
    assert_true(H5Dread(set, H5T_NATIVE_INT64, part, space, H5P_DEFAULT, values) >= 0);
    for (hsize_t i = 0; i < some; i++) assert_int_equal(values[i], at + i);
    H5Sclose(part);
  }
  assert_true(H5Dget_storage_size(set) <= written / IO_COUNTING_CHUNK * 1024); /* of 65536 bytes a chunk */
  H5Dclose(set), H5Sclose(space), H5Pclose(plist);
  H5Ldelete(file, "list", H5P_DEFAULT);
}

static void test_lists(void **state) {
  char path[] = "/tmp/sim-counting.XXXXXX";
  (void)state;
  close(mkstemp(path));
  hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  assert_true(file >= 0);
  check_list(file, IO_COUNTING_CHUNK);
  check_list(file, 9 * IO_COUNTING_CHUNK + 5);               /* more than 2^16 numbers */
  check_list(file, (1 << 24) + 3 * IO_COUNTING_CHUNK + 100); /* more than 2^24 */
  H5Fclose(file);
  unlink(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_lists)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
