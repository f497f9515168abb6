/* Seals of both versions: data written in pieces and data read from the file have one digest, and a changed byte is
 * detected. */
#include "io/seal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MEBIBYTE = 1 << 20, ROOM = 3 * MEBIBYTE };
static unsigned char data[ROOM + IO_SEAL_SIZE];

/* A file with the first `size` bytes of data. */
static int make_file(size_t size) {
  const int fd = memfd_create("sealed", 0);
  assert_true(fd >= 0);
  assert_int_equal(pwrite(fd, data, size, 0), size);
  return fd;
}

static void flip(int fd, off_t at) {
  unsigned char byte;
  assert_int_equal(pread(fd, &byte, 1, at), 1);
  byte ^= 16;
  assert_int_equal(pwrite(fd, &byte, 1, at), 1);
}

static void check_flips(int fd, size_t size) {
  const off_t places[] = {0, (off_t)size / 2, (off_t)size - 1, (off_t)size, (off_t)size + 30, (off_t)size + 100};
  assert_int_equal(io_seal_check(fd, (off_t)size + IO_SEAL_SIZE, "file"), SIM_OK);
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    flip(fd, places[i]);
    assert_int_equal(io_seal_check(fd, (off_t)size + IO_SEAL_SIZE, "file"), SIM_ERR_INCOMPATIBLE);
    flip(fd, places[i]);
  }
  assert_int_equal(io_seal_check(fd, (off_t)size + IO_SEAL_SIZE, "file"), SIM_OK);
}

static const size_t sizes[] = {1, 4000, MEBIBYTE - 1, MEBIBYTE, MEBIBYTE + 1, 2 * MEBIBYTE, ROOM - 5};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void test_pieces(void **state) {
  (void)state;
  for (int k = 0; k < SIZES; k++) {
    unsigned char whole[IO_SEAL_SIZE], block[IO_SEAL_SIZE];
    io_file file = {.fd = make_file(sizes[k])};
    assert_int_equal(io_seal_write(&file), SIM_OK);
    assert_int_equal(pread(file.fd, whole, IO_SEAL_SIZE, (off_t)sizes[k]), IO_SEAL_SIZE);
    io_seal_hash *hash = io_seal_hash_create();
    io_seal_digest digests[ROOM / MEBIBYTE + 1];
    size_t count = 0;
    assert_non_null(hash);
    for (size_t at = 0, piece; at < sizes[k]; at += piece) {
      piece = (at * 2654435761u + 1) % (MEBIBYTE / 3 + 1) + 1;
      if (piece > MEBIBYTE - at % MEBIBYTE) piece = MEBIBYTE - at % MEBIBYTE;
      if (piece > sizes[k] - at) piece = sizes[k] - at;
      io_seal_hash_add(hash, data + at, piece);
      if ((at + piece) % MEBIBYTE == 0 || at + piece == sizes[k]) digests[count++] = io_seal_hash_end(hash);
    }
    io_seal_fill(hash, sizes[k] + IO_SEAL_SIZE, digests, count, block);
    io_seal_hash_free(hash);
    assert_memory_equal(whole, block, IO_SEAL_SIZE);
    check_flips(file.fd, sizes[k]);
    close(file.fd);
  }
}

/* Files of earlier versions: one digest over the whole file. */
static void test_version_1(void **state) {
  (void)state;
  for (int k = 0; k < SIZES; k++) {
    const size_t size = sizes[k];
    unsigned char *seal = data + size, kept[IO_SEAL_SIZE];
    XXH128_canonical_t canonical;
    memcpy(kept, seal, IO_SEAL_SIZE);
    memset(seal, 0, IO_SEAL_SIZE);
    memcpy(seal, IO_SEAL_MAGIC, 8);
    seal[8] = 1;
    for (int i = 0; i < 8; i++) seal[16 + i] = (unsigned char)((size + IO_SEAL_SIZE) >> 8 * i);
    XXH128_canonicalFromHash(&canonical, XXH3_128bits(data, size + IO_SEAL_SIZE));
    memcpy(seal + 24, canonical.digest, sizeof canonical.digest);
    const int fd = make_file(size + IO_SEAL_SIZE);
    check_flips(fd, size);
    close(fd);
    memcpy(seal, kept, IO_SEAL_SIZE);
  }
}

int main(void) {
  for (size_t i = 0; i < sizeof data; i++) data[i] = (unsigned char)(i * i / 7);
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_pieces), cmocka_unit_test(test_version_1)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
