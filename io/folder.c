#include "io/folder.h"

#include "engine/log.h"
#include "io/seal.h"
#include "io/sys.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SLICES "slices"

static const char *const own_files[] = {"tables.h5",    "tables.h5.bad", "tables.rows", "tables.rows.bad",
                                        "run.pmd",      "status.json",   "run.log",     "run.jsonl",
                                        "scenario.lua", "trace.json",    "run.id"};
static const char *const datasets[] = {"ladder.h5", "paths.h5", "exposure.h5", "vega_buckets.h5", "rho_buckets.h5"};

bool io_name_is_dataset(const char *name) {
  bool any = false;
  for (size_t i = 0; i < sizeof datasets / sizeof *datasets; i++) any |= strcmp(name, datasets[i]) == 0;
  return any;
}

int64_t io_name_step(const char *name, const char *prefix) {
  size_t length = strlen(prefix);
  if (strncmp(name, prefix, length) != 0 || !isdigit((unsigned char)name[length])) return -1;
  char *end;
  errno = 0;
  long long step = strtoll(name + length, &end, 10);
  return errno == 0 && strcmp(end, ".h5") == 0 ? step : -1;
}

static int later_first(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return x > y ? -1 : x < y;
}

sim_status io_list_steps(int folder, const char *path, const char *prefix, int64_t **out, size_t *count) {
  int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *list = copy < 0 ? NULL : fdopendir(copy);
  size_t capacity = 0;
  *out = NULL;
  *count = 0;
  if (!list) {
    sim_status status = sim_fail(SIM_ERR_IO, "%s: %s", path, strerror(errno));
    if (copy >= 0) (void)close(copy);
    return status;
  }
  for (const struct dirent *entry; (entry = readdir(list));) {
    int64_t step = io_name_step(entry->d_name, prefix);
    if (step < 0) continue;
    if (*count == capacity) {
      capacity = capacity ? 2 * capacity : 16;
      int64_t *more = realloc(*out, capacity * sizeof *more);
      if (!more) {
        (void)closedir(list);
        free(*out);
        *out = NULL;
        *count = 0;
        return sim_no_memory("the list of files");
      }
      *out = more;
    }
    (*out)[(*count)++] = step;
  }
  (void)closedir(list);
  if (*count) qsort(*out, *count, sizeof **out, later_first);
  return SIM_OK;
}

/* Predicate over the names in a folder. */
typedef bool picker(int folder, const char *name);

static bool is_snapshot(int folder, const char *name) { return (void)folder, io_name_step(name, "snap_") >= 0; }
static bool is_checkpoint(int folder, const char *name) { return (void)folder, io_name_step(name, "ck_") >= 0; }

static bool is_output(int folder, const char *name) {
  for (size_t i = 0; i < sizeof own_files / sizeof *own_files; i++)
    if (strcmp(name, own_files[i]) == 0) return true;
  if (io_name_is_dataset(name)) return true;
  const char *dot = strrchr(name, '.');
  return dot && strcmp(dot, ".hdf") == 0 && io_seal_is_there(folder, name);
}

/* Whether the name is the temporary name (by io_file_create) of a file that `is_own` accepts. Does not recognize
 * temporary files of an unfinished index; io_file_create removes these when the index is next written. */
static bool is_temporary(int folder, const char *name, picker *is_own) {
  char stem[256];
  size_t length = strlen(name), suffix = strlen(IO_TEMPORARY_SUFFIX);
  if (name[0] != '.' || length < suffix + 2 || length > sizeof stem ||
      strcmp(name + length - suffix, IO_TEMPORARY_SUFFIX) != 0)
    return false;
  snprintf(stem, sizeof stem, "%.*s", (int)(length - suffix - 1), name + 1);
  return is_own(folder, stem);
}

static bool is_slice_output(int folder, const char *name) {
  return is_snapshot(folder, name) || strcmp(name, "grid.hdf") == 0;
}
static bool is_stale_slice(int folder, const char *name) { return is_temporary(folder, name, is_slice_output); }
static bool is_stale_output(int folder, const char *name) { return is_temporary(folder, name, is_output); }
static bool is_stale_snapshot(int folder, const char *name) { return is_temporary(folder, name, is_snapshot); }
static bool is_stale_checkpoint(int folder, const char *name) { return is_temporary(folder, name, is_checkpoint); }

/* Whether a file of this name means that the folder is in use: any but the lock. */
static bool is_content(int folder, const char *name) {
  return (void)folder, strncmp(name, IO_LOCK_NAME, strlen(IO_LOCK_NAME)) != 0;
}
static bool is_more_than_begun(int folder, const char *name) {
  return is_content(folder, name) && strcmp(name, "snap") != 0;
}
static bool is_in_ckpt(int folder, const char *name) { return !is_stale_checkpoint(folder, name); }

static sim_status cannot(const char *path, int error) {
  return sim_fail(error == EACCES || error == EPERM ? SIM_ERR_PERMISSION : SIM_ERR_CANT_CREATE, "%s: %s", path,
                  strerror(error));
}

/* Removes the files that `chosen` accepts; with `found` only sets *found to whether there are any. 0 or an errno. */
static int sweep(int folder, picker *chosen, bool *found) {
  int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *list = copy < 0 ? NULL : fdopendir(copy);
  int error = list ? 0 : errno;
  if (!list && copy >= 0) (void)close(copy);
  while (list && error == 0) {
    errno = 0;
    const struct dirent *entry = readdir(list);
    if (!entry) {
      error = errno;
      break;
    }
    const char *name = entry->d_name;
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || !chosen(folder, name)) continue;
    if (found)
      *found = true;
    else if (unlinkat(folder, name, 0) != 0 && errno != ENOENT)
      error = errno;
  }
  if (list) (void)closedir(list);
  return error;
}

/* Opens a folder in `parent`, and creates it if absent; `path` is for messages. *fd is -1 after a failure. */
static sim_status open_below(int parent, const char *name, const char *path, int *fd, bool *made) {
  *fd = -1;
  *made = mkdirat(parent, name, 0777) == 0;
  if (!*made && errno != EEXIST) return cannot(path, errno);
  *fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  if (*fd >= 0) return SIM_OK;
  struct stat info;
  int error = errno;
  if (fstatat(parent, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(info.st_mode))
    return sim_fail(SIM_ERR_CANT_CREATE, "%s: is a symbolic link, and outputs never follow one", path);
  return cannot(path, error);
}

static sim_status open_inner(io_folder *folder, const char *name, char *path, size_t capacity, int *fd, bool *made) {
  snprintf(path, capacity, "%s/%s", folder->path, name);
  return open_below(folder->root, name, path, fd, made);
}

static sim_status open_root(io_folder *folder, io_folder_mode mode) {
  const char *path = folder->path;
  if (mode != IO_FOLDER_RESUME && mkdir(path, 0777) == 0)
    folder->made = true;
  else if (mode != IO_FOLDER_RESUME && errno != EEXIST)
    return cannot(path, errno);
  folder->root = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder->root >= 0) return SIM_OK;
  if (mode == IO_FOLDER_RESUME && (errno == ENOENT || errno == ENOTDIR))
    return sim_fail(SIM_ERR_NO_INPUT, "%s: no such output folder to resume", path);
  if (errno == ENOTDIR) return sim_fail(SIM_ERR_CANT_CREATE, "%s: is a file, not a folder", path);
  return cannot(path, errno);
}

/* Fails unless a new run may begin here. Called under the lock, so that the answer stays valid. */
static sim_status may_begin(io_folder *folder, io_folder_mode mode) {
  bool more = false;
  int error = 0, ckpt = -1;
  if (mode == IO_FOLDER_AGAIN && folder->lock.ours)
    ckpt = openat(folder->root, "ckpt", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  if (ckpt >= 0) {
    struct stat snap;
    error = sweep(ckpt, is_in_ckpt, &more);
    if (fstatat(folder->root, "snap", &snap, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(snap.st_mode)) more = true;
    (void)close(ckpt);
  } else {
    bool begun = mode == IO_FOLDER_AGAIN && folder->lock.ours; /* killed before ckpt/ existed */
    error = sweep(folder->root, begun ? is_more_than_begun : is_content, &more);
  }
  if (error) return cannot(folder->path, error);
  if (!more) return SIM_OK;
  return sim_fail(SIM_ERR_CANT_CREATE, "%s: is not empty; --resume continues the run in it, --force replaces that run",
                  folder->path);
}

/* Makes the names of new folders durable. */
static void sync_names(const io_folder *folder) {
  char parent[sizeof folder->path];
  snprintf(parent, sizeof parent, "%s", folder->path);
  char *slash = strrchr(parent, '/');
  if (slash) slash[slash == parent] = '\0'; /* the parent of "/run.out" is "/" */
  int error = io_sys_sync(folder->root);
  int fd = folder->made ? open(slash ? parent : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
  if (fd >= 0) {
    int another = io_sys_sync(fd);
    if (error == 0) error = another;
    (void)close(fd);
  }
  if (error) sim_log(SIM_LOG_WARN, "%s: cannot make the new folder durable: %s", folder->path, strerror(error));
}

static sim_status open_locked(io_folder *folder, io_folder_mode mode) {
  if (mode == IO_FOLDER_NEW || mode == IO_FOLDER_AGAIN) SIM_TRY(may_begin(folder, mode));
  io_lock_hold(&folder->lock, folder->root, folder->path);
  SIM_TRY(open_inner(folder, "snap", folder->snap_path, sizeof folder->snap_path, &folder->snap, &folder->snap_made));
  SIM_TRY(open_inner(folder, "ckpt", folder->ckpt_path, sizeof folder->ckpt_path, &folder->ckpt, &folder->ckpt_made));
  sync_names(folder);
  int error = sweep(folder->root, is_stale_output, NULL);
  if (error == 0) error = sweep(folder->snap, is_stale_snapshot, NULL);
  if (error == 0) error = sweep(folder->ckpt, is_stale_checkpoint, NULL);
  return error ? cannot(folder->path, error) : SIM_OK;
}

static sim_status open_all(io_folder *folder, io_folder_mode mode) {
  SIM_TRY(open_root(folder, mode));
  bool run = mode != IO_FOLDER_RESUME || faccessat(folder->root, "ckpt", F_OK, AT_SYMLINK_NOFOLLOW) == 0;
  /* before all other checks: "in use" says more than "not empty" */
  SIM_TRY(io_lock_take(folder->root, folder->path, run, &folder->lock));
  if (!run) return sim_fail(SIM_ERR_NO_INPUT, "%s: holds no run to resume", folder->path);
  return open_locked(folder, mode);
}

/* ---- slices ---- */

sim_status io_folder_slice(io_folder *folder, const char *name, char *path, size_t capacity, int *fd) {
  bool made[2];
  int all;
  SIM_TRY(open_inner(folder, SLICES, path, capacity, &all, &made[0]));
  snprintf(path, capacity, "%s/" SLICES "/%s", folder->path, name);
  sim_status status = open_below(all, name, path, fd, &made[1]);
  int error = status == SIM_OK ? sweep(*fd, is_stale_slice, NULL) : 0;
  if (error == 0 && status == SIM_OK && made[1]) error = io_sys_sync(all);
  if (error == 0 && made[0]) error = io_sys_sync(folder->root);
  (void)close(all);
  if (error && status == SIM_OK) {
    (void)close(*fd);
    status = cannot(path, error);
  }
  return status;
}

/* Removes the snapshots of slices, their indexes, and folders that are then empty. Other files stay. */
static int clear_slices(int slices) {
  int copy = openat(slices, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), error = 0;
  DIR *list = copy < 0 ? NULL : fdopendir(copy);
  if (!list) {
    error = errno;
    if (copy >= 0) (void)close(copy);
    return error;
  }
  for (const struct dirent *entry; error == 0 && (entry = readdir(list));) {
    if (entry->d_name[0] == '.') continue;
    int fd = openat(slices, entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) continue;
    error = sweep(fd, is_slice_output, NULL);
    if (error == 0) error = sweep(fd, is_stale_slice, NULL);
    (void)close(fd);
    if (error == 0) (void)unlinkat(slices, entry->d_name, AT_REMOVEDIR);
  }
  (void)closedir(list);
  return error;
}

sim_status io_folder_clear(io_folder *folder) {
  int error = sweep(folder->root, is_output, NULL);
  if (error == 0) error = sweep(folder->snap, is_snapshot, NULL);
  if (error == 0) error = sweep(folder->ckpt, is_checkpoint, NULL);
  int slices = openat(folder->root, SLICES, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  if (slices >= 0) {
    if (error == 0) error = clear_slices(slices);
    (void)close(slices);
    (void)unlinkat(folder->root, SLICES, AT_REMOVEDIR); /* fails, as it should, if it is not empty */
  }
  return error ? cannot(folder->path, error) : SIM_OK;
}

/* Removes what io_folder_open created, except folders that are not empty. The lock file is removed while this process
 * holds it: a process that has opened the file meanwhile notices that it is no longer the file in the folder
 * (io_lock_take), or was told "in use", which was true. */
static void undo(const io_folder *folder) {
  if (folder->snap_made) (void)unlinkat(folder->root, "snap", AT_REMOVEDIR);
  if (folder->ckpt_made) (void)unlinkat(folder->root, "ckpt", AT_REMOVEDIR);
  if (folder->lock.made) (void)unlinkat(folder->root, IO_LOCK_NAME, 0);
  if (folder->made) (void)rmdir(folder->path);
}

void io_folder_abandon(io_folder **folder) {
  if (*folder) undo(*folder);
  io_folder_close(folder);
}

sim_status io_folder_open(const char *path, io_folder_mode mode, io_folder **out) {
  *out = NULL;
  size_t length = strlen(path);
  while (length > 1 && path[length - 1] == '/') length--;
  if (length == 0) return sim_fail(SIM_ERR_CANT_CREATE, "the name of the output folder is empty");
  if (length >= sizeof((io_folder *)NULL)->path)
    return sim_fail(SIM_ERR_CANT_CREATE, "the name of the output folder is too long: %zu bytes, at most %zu", length,
                    sizeof((io_folder *)NULL)->path - 1);
  for (size_t i = 0; i < length; i++)
    if (iscntrl((unsigned char)path[i]))
      return sim_fail(SIM_ERR_CANT_CREATE, "%s: the name of the output folder holds a control character", path);
  io_folder *folder = calloc(1, sizeof *folder);
  if (!folder) return sim_no_memory("the output folder");
  memcpy(folder->path, path, length);
  folder->root = folder->snap = folder->ckpt = folder->lock.fd = -1;
  folder->later = io_later_create();
  sim_status status = folder->later ? open_all(folder, mode) : sim_no_memory("the output folder");
  if (status != SIM_OK) {
    io_folder_abandon(&folder);
    return status;
  }
  *out = folder;
  return SIM_OK;
}

void io_folder_close(io_folder **folder) {
  if (!*folder) return;
  io_later_destroy(&(*folder)->later);
  io_lock_release(&(*folder)->lock);
  const int all[] = {(*folder)->snap, (*folder)->ckpt, (*folder)->root};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (all[i] >= 0) (void)close(all[i]);
  free(*folder);
  *folder = NULL;
}

void io_run_name(char out[33]) {
  unsigned char bytes[16];
  if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes) { /* no random bits: use time and process id */
    const struct timespec now = {.tv_sec = time(NULL), .tv_nsec = (long)getpid()};
    memset(bytes, 0, sizeof bytes);
    memcpy(bytes, &now, sizeof now < sizeof bytes ? sizeof now : sizeof bytes);
  }
  for (int i = 0; i < 16; i++) snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

io_run_id io_folder_run(const char *folder, char out[33]) {
  char path[4200];
  int fd;
  off_t size;
  size_t got = 0;
  snprintf(path, sizeof path, "%s/run.id", folder);
  out[0] = '\0';
  if (faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) != 0) return IO_RUN_ID_MISSING;
  const sim_error cause = *sim_error_last();
  if (io_file_open(AT_FDCWD, path, path, &fd, &size) == SIM_OK) {
    if (io_sys_read(fd, out, 32, 0, &got) != 0) got = 0;
    (void)close(fd);
  }
  sim_fail_at(cause.status, cause.file, cause.line, "%s", cause.message);
  out[got] = '\0';
  if (strspn(out, "0123456789abcdef") == 32) return IO_RUN_ID_GOOD;
  out[0] = '\0';
  return IO_RUN_ID_DAMAGED;
}

const char *io_folder_path(const io_folder *folder) { return folder->path; }
void io_folder_ranks(io_folder *folder, const sim_comm *comm) { folder->comm = comm; }

sim_status io_folder_write(io_folder *folder, const char *name, const void *data, size_t size) {
  io_file file;
  SIM_TRY(io_file_create(folder->root, folder->path, name, &file));
  int error = io_sys_write(file.fd, data, size, 0);
  return error ? io_file_fail(&file, error) : io_file_commit(&file);
}

bool io_folder_overwrite(io_folder *folder, const char *name, const void *data, size_t size) {
  struct stat info;
  const int fd = openat(folder->root, name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  const bool good = fd >= 0 && io_lock_check() == SIM_OK && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
                    io_sys_write(fd, data, size, 0) == 0 && ftruncate(fd, (off_t)size) == 0;
  if (fd >= 0) (void)close(fd);
  return good;
}

int io_folder_append(io_folder *folder, const char *name) {
  const int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
  struct stat info;
  int fd = openat(folder->root, name, flags, 0666);
  int error = fd < 0 || fstat(fd, &info) != 0 ? errno : 0;
  if (error == 0 && S_ISREG(info.st_mode)) return fd;
  sim_log(SIM_LOG_WARN, "%s/%s: not written: %s", folder->path, name, error ? strerror(error) : "not a regular file");
  if (fd >= 0) (void)close(fd);
  return -1;
}
