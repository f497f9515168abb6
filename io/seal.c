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
enum {
  SEAL_VERSION = 2,
  WHOLE_FILE = 1 /* WHOLE_FILE: number of the version with a digest of the whole file */,
  AT_VERSION = 8,
  AT_LENGTH = 16,
  AT_DIGEST = 24
};

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

static void add_digest(XXH3_state_t *list, XXH128_hash_t hash) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, hash);
  XXH3_128bits_update(list, canonical.digest, sizeof canonical.digest);
}

static void get_digest(const XXH3_state_t *state, unsigned char *out) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(state));
  memcpy(out, canonical.digest, sizeof canonical.digest);
}

struct io_seal_hash {
  XXH3_state_t *state;
};

io_seal_hash *io_seal_hash_create(void) {
  io_seal_hash *self = calloc(1, sizeof *self);
  if (self && (self->state = XXH3_createState())) {
    XXH3_128bits_reset(self->state);
    return self;
  }
  free(self);
  return NULL;
}

void io_seal_hash_free(io_seal_hash *self) {
  if (self) XXH3_freeState(self->state);
  free(self);
}

void io_seal_hash_add(io_seal_hash *self, const void *data, size_t size) {
  XXH3_128bits_update(self->state, data, size);
}

io_seal_digest io_seal_hash_end(io_seal_hash *self) {
  io_seal_digest out;
  get_digest(self->state, out.bytes);
  XXH3_128bits_reset(self->state);
  return out;
}

void io_seal_fill(io_seal_hash *self, uint64_t size, const io_seal_digest *digests, size_t count,
                  unsigned char seal[IO_SEAL_SIZE]) {
  fill_header(seal, size);
  XXH3_128bits_update(self->state, digests, count * sizeof *digests);
  XXH3_128bits_update(self->state, seal, IO_SEAL_SIZE);
  const io_seal_digest digest = io_seal_hash_end(self);
  memcpy(seal + AT_DIGEST, digest.bytes, sizeof digest.bytes);
}

/* Adds bytes [from, to) of a file, or with `blocks` the digests of their blocks, to a hash. 0 or an errno. */
static int add_bytes(XXH3_state_t *state, unsigned char *buffer, int fd, uint64_t from, uint64_t to, bool blocks) {
  int error = 0;
  for (uint64_t at = from; error == 0 && at < to; at += IO_SEAL_BLOCK) {
    size_t want = to - at < IO_SEAL_BLOCK ? (size_t)(to - at) : IO_SEAL_BLOCK, got;
    error = io_sys_read(fd, buffer, want, (int64_t)at, &got);
    if (error == 0 && got < want) error = EIO;
    if (error == 0 && blocks) add_digest(state, XXH3_128bits(buffer, got));
    if (error == 0 && !blocks) XXH3_128bits_update(state, buffer, got);
  }
  return error;
}

/* Computes the digest of a file of `size` bytes, with `header` (zeros for its digest) as the block at offset `place`. 0
 * or an errno. */
static int digest(int fd, uint64_t size, uint64_t place, const unsigned char *header, unsigned char *out) {
  const bool blocks = get(header + AT_VERSION, 4) != WHOLE_FILE;
  XXH3_state_t *state = XXH3_createState();
  unsigned char *buffer = malloc(IO_SEAL_BLOCK);
  int error = state && buffer ? 0 : ENOMEM;
  if (error == 0) XXH3_128bits_reset(state);
  if (error == 0) error = add_bytes(state, buffer, fd, 0, place, blocks);
  if (error == 0) XXH3_128bits_update(state, header, IO_SEAL_SIZE);
  if (error == 0) error = add_bytes(state, buffer, fd, place + IO_SEAL_SIZE, size, blocks);
  if (error == 0) get_digest(state, out);
  free(buffer);
  XXH3_freeState(state);
  return error;
}

sim_status io_seal_write(io_file *file) {
  unsigned char header[IO_SEAL_SIZE];
  struct stat info;
  if (fstat(file->fd, &info) != 0) return io_file_fail(file, errno);
  const uint64_t place = (uint64_t)info.st_size, size = place + IO_SEAL_SIZE;
  fill_header(header, size);
  int error = digest(file->fd, size, place, header, header + AT_DIGEST);
  if (error == 0) error = io_sys_write(file->fd, header, sizeof header, (int64_t)place);
  return error ? io_file_fail(file, error) : SIM_OK;
}

/* Reads the last block of a file, or the first one if the last is not a seal; *place: its offset. 0 or an errno. */
static int read_block(int fd, off_t size, unsigned char header[IO_SEAL_SIZE], uint64_t *place, bool *found) {
  const off_t places[] = {size - IO_SEAL_SIZE, 0};
  *found = false;
  for (int i = 0; i < 2 && !*found && size >= IO_SEAL_SIZE; i++) {
    size_t got;
    int error = io_sys_read(fd, header, IO_SEAL_SIZE, places[i], &got);
    if (error) return error;
    *found = got == IO_SEAL_SIZE && memcmp(header, magic, sizeof magic) == 0;
    *place = (uint64_t)places[i];
  }
  return 0;
}

bool io_seal_is_there(int folder, const char *name) {
  unsigned char header[IO_SEAL_SIZE];
  struct stat info;
  uint64_t place;
  bool found = false;
  int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return false;
  if (fstat(fd, &info) != 0 || read_block(fd, info.st_size, header, &place, &found) != 0) found = false;
  (void)close(fd);
  return found;
}

enum { SUPERBLOCK = 52 }; /* bytes of a superblock up to and including the file's length */

/* Length of an HDF5 file according to its superblock; 0 if `start` is not a superblock. HDF5 File Format Specification
 * 3.0, II.A. */
static uint64_t hdf5_length(const unsigned char start[SUPERBLOCK]) {
  static const unsigned char signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
  static const struct {
    int size_of_offsets, end_of_file;
  } at[] = {{13, 40}, {13, 44}, {9, 28}, {9, 28}}; /* [version of the superblock] */
  const unsigned version = start[8];
  if (memcmp(start, signature, sizeof signature) != 0 || version >= sizeof at / sizeof *at) return 0;
  return start[at[version].size_of_offsets] == 8 ? get(start + at[version].end_of_file, 8) : 0;
}

/* Fails with what can be said about a file without a seal. */
static sim_status fail_unsealed(int fd, off_t size, const char *path) {
  unsigned char start[SUPERBLOCK];
  size_t got;
  const int error = io_sys_read(fd, start, sizeof start, 0, &got);
  if (error) return sim_fail(SIM_ERR_IO, "%s: %s", path, strerror(error));
  const uint64_t length = got == sizeof start ? hdf5_length(start) : 0;
  if (size == 0) return sim_fail(SIM_ERR_INCOMPATIBLE, "%s: is empty", path);
  if (length == 0)
    return sim_fail(SIM_ERR_INCOMPATIBLE, "%s: was not written by sim, or its beginning is damaged", path);
  if (length > (uint64_t)size)
    return sim_fail(SIM_ERR_INCOMPATIBLE, "%s: damaged: cut short: %lld bytes long, and its HDF5 content alone is %llu",
                    path, (long long)size, (unsigned long long)length);
  return sim_fail(SIM_ERR_INCOMPATIBLE, "%s: has no seal in its last %d bytes: cut short, or not written by sim", path,
                  IO_SEAL_SIZE);
}

static sim_status read_header(int fd, off_t size, const char *path, unsigned char header[IO_SEAL_SIZE],
                              uint64_t *place) {
  bool found;
  int error = read_block(fd, size, header, place, &found);
  if (error) return sim_fail(SIM_ERR_IO, "%s: %s", path, strerror(error));
  if (!found) return fail_unsealed(fd, size, path);
  const uint64_t version = get(header + AT_VERSION, 4);
  if (version != SEAL_VERSION && version != WHOLE_FILE)
    return sim_fail(SIM_ERR_INCOMPATIBLE, "%s: its format is of another version, or it is damaged", path);
  uint64_t length = get(header + AT_LENGTH, 8);
  if (length != (uint64_t)size)
    return sim_fail(SIM_ERR_INCOMPATIBLE, "%s: damaged: %lld bytes long, not %llu", path, (long long)size,
                    (unsigned long long)length);
  return SIM_OK;
}

sim_status io_seal_look(int fd, off_t size, const char *path) {
  unsigned char header[IO_SEAL_SIZE];
  uint64_t place;
  return read_header(fd, size, path, header, &place);
}

sim_status io_seal_check(int fd, off_t size, const char *path) {
  unsigned char header[IO_SEAL_SIZE], stored[16], found[16];
  uint64_t place;
  SIM_TRY(read_header(fd, size, path, header, &place));
  memcpy(stored, header + AT_DIGEST, sizeof stored);
  memset(header + AT_DIGEST, 0, sizeof stored);
  int error = digest(fd, (uint64_t)size, place, header, found);
  if (error) return sim_fail(error == ENOMEM ? SIM_ERR_NO_MEMORY : SIM_ERR_IO, "%s: %s", path, strerror(error));
  if (memcmp(stored, found, sizeof stored) != 0)
    return sim_fail(SIM_ERR_INCOMPATIBLE, "%s: damaged: its digest does not match its content", path);
  return SIM_OK;
}
