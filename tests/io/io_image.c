/* A file that several threads write has the same bytes as one that one thread writes, and a valid seal. No part of it
 * is left where any of the writes fails. */
#include "io/hdf5/h5.h"
#include "io/hdf5/image.h"
#include "io/io.h"
#include "io/seal.h"
#include "io/sys.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Sizes of arrays in bytes: some within a MiB, some over several, one that ends with a block. */
static const size_t sizes[] = {8, 3000000, 800, 16, 5000000, (size_t)4 << 20, 24, 1048568};
enum { ARRAYS = sizeof sizes / sizeof *sizes };
static double *data[ARRAYS];
static char folder[] = "/tmp/sim-image.XXXXXX";
static int root;

static void make_image(io_image *image) {
  assert_int_equal(io_image_begin(true, image), SIM_OK);
  sim_status status = SIM_OK;
  for (int k = 0; k < ARRAYS && status == SIM_OK; k++) {
    char name[16];
    int piece;
    const hsize_t count = sizes[k] / sizeof(double);
    snprintf(name, sizeof name, "array%d", k);
    status = io_image_dataset(image, image->file, name, H5T_IEEE_F64LE, 1, &count, &piece, NULL);
    if (status == SIM_OK) image->pieces[piece].data = data[k];
  }
  assert_int_equal(io_image_end(image, status), SIM_OK);
}

static sim_status write_file(io_image *image, const char *name) {
  io_file file;
  assert_int_equal(io_file_create(root, folder, name, &file), SIM_OK);
  const sim_status status = io_image_write(image, &file);
  return status == SIM_OK ? io_file_commit(&file) : status;
}

static unsigned char *load(const char *name, size_t *size) {
  const int fd = openat(root, name, O_RDONLY);
  assert_true(fd >= 0);
  *size = (size_t)lseek(fd, 0, SEEK_END);
  unsigned char *bytes = malloc(*size);
  assert_non_null(bytes);
  assert_int_equal(pread(fd, bytes, *size, 0), *size);
  assert_int_equal(io_seal_check(fd, (off_t)*size, name), SIM_OK);
  close(fd);
  return bytes;
}

static void test_same_bytes(void **state) {
  (void)state;
  size_t one_size, many_size;
  io_image image; /* one image, since HDF5 writes the time of its creation */
  make_image(&image);
  assert_int_equal(write_file(&image, "one.h5"), SIM_OK);
  unsigned char *one = load("one.h5", &one_size);
  for (int i = 0; i < 20; i++) { /* for any order of the threads */
    setenv("SIM_IO_SHARED_FROM", "0", 1);
    assert_int_equal(write_file(&image, "many.h5"), SIM_OK);
    unsetenv("SIM_IO_SHARED_FROM");
    unsigned char *many = load("many.h5", &many_size);
    assert_int_equal(one_size, many_size);
    assert_memory_equal(one, many, one_size);
    free(many);
  }
  free(one);
  io_image_free(&image);
  unlinkat(root, "one.h5", 0);
  unlinkat(root, "many.h5", 0);
}

static void test_failing_writes(void **state) {
  (void)state;
  bool reached = true;
  setenv("SIM_IO_SHARED_FROM", "0", 1);
  for (int n = 1; reached; n++) {
    io_image image;
    io_file file;
    make_image(&image);
    assert_int_equal(io_file_create(root, folder, "bad.h5", &file), SIM_OK);
    io_sys_fail(n, n % 2 == 0, ENOSPC);
    const sim_status status = io_image_write(&image, &file);
    reached = io_sys_failed();
    io_sys_fail(0, false, 0);
    assert_int_equal(status, reached ? SIM_ERR_IO : SIM_OK);
    if (reached) assert_non_null(strstr(sim_error_last()->message, strerror(ENOSPC)));
    if (!reached) assert_true(n > 14); /* 14 MB in blocks of 1 MiB at most */
    io_file_discard(&file);
    assert_int_equal(faccessat(root, ".bad.h5.tmp", F_OK, 0), -1);
    io_image_free(&image);
  }
  unsetenv("SIM_IO_SHARED_FROM");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_bytes), cmocka_unit_test(test_failing_writes)};
  if (io_init() != SIM_OK || !mkdtemp(folder) || (root = open(folder, O_RDONLY | O_DIRECTORY)) < 0) return 1;
  for (int k = 0; k < ARRAYS; k++) {
    if (!(data[k] = malloc(sizes[k]))) return 1;
    for (size_t i = 0; i < sizes[k] / sizeof(double); i++) data[k][i] = (double)(i * 7919 % 100003) + k;
  }
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  for (int k = 0; k < ARRAYS; k++) free(data[k]);
  close(root);
  rmdir(folder);
  return failed;
}
