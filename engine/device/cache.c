#include "engine/device/cache.h"

#include "engine/log.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
  BLOB_MAX = 16 << 20,
  TOTAL_MAX = 64 << 20, /* bytes of all files; the most recently used ones are kept */
  FILES_MAX = 256,
  STALE_SECONDS = 3600, /* age at which an unfinished file is removed */
  NAME_SIZE = 48
};

static const char mark[8] = "simblob1", suffix[] = ".blob", unfinished[] = ".new-";

/* Header of a file. */
typedef struct head {
  char mark[8];
  uint64_t size;
  sim_cache_key key;
  XXH128_canonical_t sum; /* checksum of the blob */
} head;

/* ---- keys ---- */

sim_cache_hash *sim_cache_hash_begin(void) {
  XXH3_state_t *state = XXH3_createState();
  if (!state) return NULL;
  XXH3_128bits_reset(state);
  XXH3_128bits_update(state, mark, sizeof mark);
  return (sim_cache_hash *)(void *)state;
}

void sim_cache_hash_add(sim_cache_hash *hash, const void *data, size_t size) {
  XXH3_128bits_update((XXH3_state_t *)(void *)hash, data, size);
}

void sim_cache_hash_text(sim_cache_hash *hash, const char *text) { sim_cache_hash_add(hash, text, strlen(text) + 1); }

sim_cache_key sim_cache_hash_end(sim_cache_hash *hash) {
  XXH3_state_t *state = (XXH3_state_t *)(void *)hash;
  XXH128_canonical_t digest;
  sim_cache_key key;
  XXH128_canonicalFromHash(&digest, XXH3_128bits_digest(state));
  XXH3_freeState(state);
  memcpy(key.bytes, digest.digest, sizeof key.bytes);
  return key;
}

static XXH128_canonical_t sum_of(const void *data, size_t size) {
  XXH128_canonical_t out;
  XXH128_canonicalFromHash(&out, XXH3_128bits(data, size));
  return out;
}

/* ---- the folder ---- */

static bool folder(char *out, size_t capacity) {
  const char *own = getenv("SIM_CACHE"), *caches = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  int length = 0;
  if (own && *own)
    length = snprintf(out, capacity, "%s", own);
  else if (caches && *caches == '/')
    length = snprintf(out, capacity, "%s/sim", caches);
  else if (home && *home == '/')
    length = snprintf(out, capacity, "%s/.cache/sim", home);
  return length > 0 && (size_t)length < capacity;
}

/* Creates the folder and its parents. */
static bool make_folder(char *path) {
  if (mkdir(path, 0700) == 0 || errno == EEXIST) return true;
  if (errno != ENOENT) return false;
  for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    bool failed = mkdir(path, 0700) != 0 && errno != EEXIST;
    *slash = '/';
    if (failed) return false;
  }
  return mkdir(path, 0700) == 0 || errno == EEXIST;
}

static void name_of(const sim_cache_key *key, char out[NAME_SIZE]) {
  for (size_t i = 0; i < sizeof key->bytes; i++) snprintf(out + 2 * i, 3, "%02x", key->bytes[i]);
  snprintf(out + 2 * sizeof key->bytes, NAME_SIZE - 2 * sizeof key->bytes, "%s", suffix);
}

/* Whether only this user owns the file and may write to it: blobs are code that runs as this user. */
static bool is_own(const struct stat *about) {
  return about->st_uid == geteuid() && (about->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* Opens the folder; -1: absent, or other users may write to it. */
static int open_folder(const char *path) {
  static atomic_flag told = ATOMIC_FLAG_INIT;
  struct stat about;
  int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0 || (fstat(fd, &about) == 0 && is_own(&about))) return fd;
  if (!atomic_flag_test_and_set(&told))
    sim_log(SIM_LOG_WARN,
            "%s: compiled kernels are neither read nor kept there, as other users may write to it: chmod go-w, or name "
            "a folder of your own in SIM_CACHE",
            path);
  (void)close(fd);
  errno = EPERM;
  return -1;
}

/* ---- reading ---- */

static bool read_all(int file, void *out, size_t size) {
  for (size_t got = 0; got < size;) {
    ssize_t more = read(file, (char *)out + got, size - got);
    if (more < 0 && errno == EINTR) continue;
    if (more <= 0) return false;
    got += (size_t)more;
  }
  return true;
}

/* Reads an open file; false if it is incomplete or other users may write to it. */
static bool read_blob(int file, const sim_cache_key *key, sim_bytes *out) {
  head h;
  struct stat about;
  if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode) || !is_own(&about) || !read_all(file, &h, sizeof h))
    return false;
  if (memcmp(h.mark, mark, sizeof mark) != 0 || memcmp(&h.key, key, sizeof *key) != 0 || h.size > BLOB_MAX ||
      (uint64_t)about.st_size != sizeof h + h.size)
    return false;
  void *data = malloc(h.size ? h.size : 1);
  bool sound = data && read_all(file, data, h.size);
  if (sound) {
    const XXH128_canonical_t sum = sum_of(data, h.size);
    sound = memcmp(&sum, &h.sum, sizeof sum) == 0;
  }
  if (sound) sim_bytes_add(out, data, h.size);
  free(data);
  return sound && !out->failed;
}

bool sim_cache_read(const sim_cache_key *key, sim_bytes *out) {
  char in[PATH_MAX - NAME_SIZE], name[NAME_SIZE];
  const int root = folder(in, sizeof in) ? open_folder(in) : -1;
  if (root < 0) return false;
  name_of(key, name);
  const int file = openat(root, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
  const bool sound = file >= 0 && read_blob(file, key, out);
  if (sound) (void)futimens(file, NULL); /* marks the last use */
  if (file >= 0 && !sound) sim_log(SIM_LOG_DEBUG, "%s/%s is damaged, or not of this user: ignored", in, name);
  if (file >= 0) (void)close(file);
  (void)close(root);
  return sound;
}

/* ---- writing ---- */

typedef struct entry {
  char name[NAME_SIZE];
  off_t size;
  struct timespec used;
} entry;

static int by_use(const void *a, const void *b) {
  const struct timespec *x = &((const entry *)a)->used, *y = &((const entry *)b)->used;
  if (x->tv_sec != y->tv_sec) return x->tv_sec < y->tv_sec ? 1 : -1;
  return x->tv_nsec == y->tv_nsec ? 0 : x->tv_nsec < y->tv_nsec ? 1 : -1;
}

static bool ends_with(const char *name, const char *end) {
  const size_t length = strlen(name), wanted = strlen(end);
  return length > wanted && strcmp(name + length - wanted, end) == 0;
}

/* Lists the blobs of the folder; removes old unfinished files. */
static size_t list(DIR *in, entry *entries, size_t capacity) {
  size_t count = 0;
  struct dirent *item;
  while ((item = readdir(in)) && count < capacity) {
    struct stat about;
    bool left = strncmp(item->d_name, unfinished, sizeof unfinished - 1) == 0;
    if (!left && !ends_with(item->d_name, suffix)) continue;
    if (strlen(item->d_name) >= NAME_SIZE || fstatat(dirfd(in), item->d_name, &about, AT_SYMLINK_NOFOLLOW) != 0)
      continue;
    if (left) {
      if (time(NULL) - about.st_mtim.tv_sec > STALE_SECONDS) (void)unlinkat(dirfd(in), item->d_name, 0);
      continue;
    }
    entry *e = &entries[count++];
    memcpy(e->name, item->d_name, strlen(item->d_name) + 1);
    e->size = about.st_size;
    e->used = about.st_mtim;
  }
  return count;
}

/* Removes the least recently used blobs. If another process does the same at this time, code is only compiled again. */
static void keep_bounds(int root) {
  enum { CAPACITY = 4 * FILES_MAX };
  entry *entries = malloc(CAPACITY * sizeof *entries);
  const int again = openat(root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *in = again < 0 ? NULL : fdopendir(again);
  if (entries && in) {
    const size_t count = list(in, entries, CAPACITY);
    off_t total = 0;
    qsort(entries, count, sizeof *entries, by_use);
    for (size_t i = 0; i < count; i++) {
      total += entries[i].size;
      if (i >= FILES_MAX || total > TOTAL_MAX) (void)unlinkat(root, entries[i].name, 0);
    }
  }
  if (in)
    closedir(in);
  else if (again >= 0)
    (void)close(again);
  free(entries);
}

static bool write_all(int file, const void *data, size_t size) {
  for (size_t done = 0; done < size;) {
    ssize_t more = write(file, (const char *)data + done, size - done);
    if (more < 0 && errno == EINTR) continue;
    if (more <= 0) return false;
    done += (size_t)more;
  }
  return true;
}

/* Creates a new file with an unused name. */
static int create(int root, char name[NAME_SIZE]) {
  int file = -1;
  for (int tries = 0; file < 0 && tries < 100; tries++) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(name, NAME_SIZE, "%s%ld-%09ld", unfinished, (long)getpid(), now.tv_nsec);
    file = openat(root, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0 && errno != EEXIST) break;
  }
  return file;
}

void sim_cache_write(const sim_cache_key *key, const void *data, size_t size) {
  char in[PATH_MAX - NAME_SIZE], name[NAME_SIZE], temporary[NAME_SIZE];
  if (size > BLOB_MAX || !folder(in, sizeof in)) return;
  const int root = make_folder(in) ? open_folder(in) : -1, file = root < 0 ? -1 : create(root, temporary);
  if (file < 0) {
    sim_log(SIM_LOG_DEBUG, "nothing is kept in %s: %s", in, strerror(errno));
    if (root >= 0) (void)close(root);
    return;
  }
  head h = {.size = size, .key = *key, .sum = sum_of(data, size)};
  memcpy(h.mark, mark, sizeof mark);
  name_of(key, name);
  bool written = write_all(file, &h, sizeof h) && write_all(file, data, size);
  written = close(file) == 0 && written;
  if (written && renameat(root, temporary, root, name) == 0) {
    keep_bounds(root);
  } else {
    sim_log(SIM_LOG_DEBUG, "%s/%s cannot be written: %s", in, name, strerror(errno));
    (void)unlinkat(root, temporary, 0);
  }
  (void)close(root);
}
