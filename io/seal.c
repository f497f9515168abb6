#include "io/seal.h"

#include "io/sys.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char magic[8] = {IO_SEAL_MAGIC};
enum { SEAL_VERSION = 1, AT_VERSION = 8, AT_LENGTH = 16, AT_DIGEST = 24, BLOCK = 1 << 20 };

static void put(unsigned char *to, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; i++) to[i] = (unsigned char)(value >> 8 * i);
}

static uint64_t get(const unsigned char *from, int bytes) {
  uint64_t value = 0;
  for (int i = 0; i < bytes; i++) value |= (uint64_t)from[i] << 8 * i;
  return value;
}

static void fill_header(unsigned char header[IO_SEAL_SIZE], uint64_t size) {
  memset(header, 0, IO_SEAL_SIZE);
  memcpy(header, magic, sizeof magic);
  put(header + AT_VERSION, SEAL_VERSION, 4);
  put(header + AT_LENGTH, size, 8);
}

struct io_seal {
  XXH3_state_t *state;
  unsigned char header[IO_SEAL_SIZE];
};

io_seal *io_seal_begin(uint64_t size) {
  io_seal *self = calloc(1, sizeof *self);
  if (self) self->state = XXH3_createState();
  if (!self || !self->state) {
    free(self);
    return NULL;
  }
  fill_header(self->header, size);
  XXH3_128bits_reset(self->state);
  XXH3_128bits_update(self->state, self->header, sizeof self->header);
  return self;
}

void io_seal_add(io_seal *seal, const void *data, size_t size) { XXH3_128bits_update(seal->state, data, size); }

void io_seal_end(io_seal *seal, unsigned char header[IO_SEAL_SIZE]) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(seal->state));
  memcpy(header, seal->header, IO_SEAL_SIZE);
  memcpy(header + AT_DIGEST, canonical.digest, sizeof canonical.digest);
  XXH3_freeState(seal->state);
  free(seal);
}

/* Digest of `header` (its digest bytes zero) and all of the file behind it; 0 or an errno. */
static int digest(int fd, uint64_t size, const unsigned char *header, unsigned char *out) {
  XXH3_state_t *state = XXH3_createState();
  unsigned char *block = malloc(BLOCK);
  int error = state && block ? 0 : ENOMEM;
  if (error == 0) {
    XXH3_128bits_reset(state);
    XXH3_128bits_update(state, header, IO_SEAL_SIZE);
  }
  for (uint64_t at = IO_SEAL_SIZE; error == 0 && at < size;) {
    size_t want = size - at < BLOCK ? (size_t)(size - at) : BLOCK, got;
    error = io_sys_read(fd, block, want, (int64_t)at, &got);
    if (error == 0 && got < want) error = EIO;
    if (error == 0) XXH3_128bits_update(state, block, got);
    at += want;
  }
  if (error == 0) {
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(state));
    memcpy(out, canonical.digest, sizeof canonical.digest);
  }
  free(block);
  XXH3_freeState(state);
  return error;
}

sim_status io_seal_write(io_file *file) {
  unsigned char header[IO_SEAL_SIZE];
  struct stat info;
  if (fstat(file->fd, &info) != 0) return io_file_fail(file, errno);
  fill_header(header, (uint64_t)info.st_size);
  int error = digest(file->fd, (uint64_t)info.st_size, header, header + AT_DIGEST);
  if (error == 0) error = io_sys_write(file->fd, header, sizeof header, 0);
  return error ? io_file_fail(file, error) : SIM_OK;
}

bool io_seal_is_there(int folder, const char *name) {
  char start[sizeof magic];
  size_t got = 0;
  int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return false;
  bool read = io_sys_read(fd, start, sizeof start, 0, &got) == 0;
  (void)close(fd);
  return read && got == sizeof start && memcmp(start, magic, sizeof magic) == 0;
}

static sim_status read_header(int fd, off_t size, const char *path, unsigned char header[IO_SEAL_SIZE]) {
  size_t got;
  int error = io_sys_read(fd, header, IO_SEAL_SIZE, 0, &got);
  if (error) return sim_fail(SIM_ERR_IO, "%s: %s", path, strerror(error));
  if (got < IO_SEAL_SIZE || memcmp(header, magic, sizeof magic) != 0)
    return sim_fail(SIM_ERR_INCOMPATIBLE, "%s: %s", path,
                    size == 0 ? "is empty" : "was not written by sim, or is damaged");
  if (get(header + AT_VERSION, 4) != SEAL_VERSION)
    return sim_fail(SIM_ERR_INCOMPATIBLE, "%s: its format is of another version, or it is damaged", path);
  uint64_t length = get(header + AT_LENGTH, 8);
  if (length != (uint64_t)size)
    return sim_fail(SIM_ERR_INCOMPATIBLE, "%s: damaged: %lld bytes long, not %llu", path, (long long)size,
                    (unsigned long long)length);
  return SIM_OK;
}

sim_status io_seal_look(int fd, off_t size, const char *path) {
  unsigned char header[IO_SEAL_SIZE];
  return read_header(fd, size, path, header);
}

sim_status io_seal_check(int fd, off_t size, const char *path) {
  unsigned char header[IO_SEAL_SIZE], stored[16], found[16];
  SIM_TRY(read_header(fd, size, path, header));
  memcpy(stored, header + AT_DIGEST, sizeof stored);
  memset(header + AT_DIGEST, 0, sizeof stored);
  int error = digest(fd, (uint64_t)size, header, found);
  if (error) return sim_fail(error == ENOMEM ? SIM_ERR_NO_MEMORY : SIM_ERR_IO, "%s: %s", path, strerror(error));
  if (memcmp(stored, found, sizeof stored) != 0)
    return sim_fail(SIM_ERR_INCOMPATIBLE, "%s: damaged: its digest does not match its content", path);
  return SIM_OK;
}
