/* Damage of every kind by a disk. A load must fail or give the data that were written, and nothing else. */
#include "fixture.h"

#include <fcntl.h>
#include <sys/stat.h>

typedef struct victim {
  char path[160];
  int fd;
  off_t size;
  unsigned char *content;
} victim;

static victim open_victim(fixture *self) {
  victim it = {0};
  struct stat info;
  fixture_checkpoints(self, IO_FOLDER_NEW, (const int64_t[]){12}, 1);
  fixture_checkpoint_path(self, 12, it.path);
  it.fd = open(it.path, O_RDWR);
  assert_int_equal(fstat(it.fd, &info), 0);
  it.size = info.st_size;
  it.content = malloc((size_t)it.size);
  assert_int_equal(pread(it.fd, it.content, (size_t)it.size, 0), it.size);
  return it;
}

static void close_victim(victim *it) {
  close(it->fd);
  free(it->content);
}

/* Returns 1 where the file loads with other content; 0: refused, or the same content. */
static int is_wrong(const fixture *self, const victim *it) {
  io_checkpoint loaded;
  sim_status status = io_checkpoint_read(it->path, &loaded);
  if (status != SIM_OK) {
    assert_status(status, SIM_ERR_INCOMPATIBLE);
    return 0;
  }
  bool same = fixture_same(self, &loaded);
  io_checkpoint_free(&loaded);
  return !same;
}

static void test_every_byte_flipped(void **state) {
  const fixture *self = *state;
  victim it = open_victim(*state);
  io_checkpoint loaded;
  for (off_t at = 0; at < it.size; at++) {
    unsigned char flipped = it.content[at] ^ (unsigned char)(1 << at % 8);
    assert_int_equal(pwrite(it.fd, &flipped, 1, at), 1);
    assert_status(io_checkpoint_read(it.path, &loaded), SIM_ERR_INCOMPATIBLE); /* the digest covers every byte */
    assert_int_equal(pwrite(it.fd, it.content + at, 1, at), 1);
  }
  assert_int_equal(is_wrong(self, &it), 0);
  close_victim(&it);
}

static void test_every_length(void **state) {
  const fixture *self = *state;
  victim it = open_victim(*state);
  io_checkpoint loaded;
  for (off_t size = it.size - 1; size >= 0; size--) {
    assert_int_equal(ftruncate(it.fd, size), 0);
    assert_status(io_checkpoint_read(it.path, &loaded), SIM_ERR_INCOMPATIBLE);
    /* HDF5's superblock, which contains the length, ends within the first 52 bytes; the seal has 512 bytes. */
    const char *said = sim_error_last()->message;
    if (size >= it.size - 512)
      assert_non_null(strstr(said, "has no seal in its last 512 bytes"));
    else if (size >= 52)
      assert_non_null(strstr(said, "cut short"));
    else
      assert_non_null(strstr(said, size > 0 ? "was not written by sim, or its beginning is damaged" : "is empty"));
  }
  assert_int_equal(pwrite(it.fd, it.content, (size_t)it.size, 0), it.size);
  assert_int_equal(is_wrong(self, &it), 0);
  assert_int_equal(ftruncate(it.fd, it.size + 1), 0);
  assert_status(io_checkpoint_read(it.path, &loaded), SIM_ERR_INCOMPATIBLE);
  close_victim(&it);
}

static void test_every_block_zeroed(void **state) {
  const fixture *self = *state;
  static const unsigned char zeros[512] = {0};
  victim it = open_victim(*state);
  for (off_t at = 0; at < it.size; at += 512) {
    size_t size = it.size - at < 512 ? (size_t)(it.size - at) : 512;
    assert_int_equal(pwrite(it.fd, zeros, size, at), size);
    assert_int_equal(is_wrong(self, &it), 0);
    assert_int_equal(pwrite(it.fd, it.content + at, size, at), size);
  }
  close_victim(&it);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_every_byte_flipped),
      TEST(test_every_length),
      TEST(test_every_block_zeroed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
