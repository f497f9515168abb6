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
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LOCK_NAME ".lock"
static const char *const own_files[] = {"tables.h5", "tables.h5.bad", "run.pmd",     "status.json",
                                        "run.log",   "run.jsonl",     "scenario.lua"};

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
        return sim_fail(SIM_ERR_NO_MEMORY, "out of memory");
      }
      *out = more;
    }
    (*out)[(*count)++] = step;
  }
  (void)closedir(list);
  if (*count) qsort(*out, *count, sizeof **out, later_first);
  return SIM_OK;
}

static bool is_temporary(const char *name) {
  size_t length = strlen(name), suffix = strlen(IO_TEMPORARY_SUFFIX);
  return name[0] == '.' && length > suffix + 1 && strcmp(name + length - suffix, IO_TEMPORARY_SUFFIX) == 0;
}

static bool is_stale(int folder, const char *name) {
  (void)folder;
  return is_temporary(name);
}

static bool is_own(int folder, const char *name) {
  for (size_t i = 0; i < sizeof own_files / sizeof *own_files; i++)
    if (strcmp(name, own_files[i]) == 0) return true;
  const char *dot = strrchr(name, '.');
  return is_temporary(name) || (dot && strcmp(dot, ".hdf") == 0 && io_seal_is_there(folder, name));
}

static bool is_snapshot(int folder, const char *name) {
  return is_stale(folder, name) || io_name_step(name, "snap_") >= 0;
}

static bool is_checkpoint(int folder, const char *name) {
  return is_stale(folder, name) || io_name_step(name, "ck_") >= 0;
}

static sim_status cannot(const char *path, int error) {
  return sim_fail(error == EACCES || error == EPERM ? SIM_ERR_PERMISSION : SIM_ERR_CANT_CREATE, "%s: %s", path,
                  strerror(error));
}

/* Removes what `chosen` picks, or only looks whether it holds anything but the lock where `chosen` is NULL. */
static int sweep(int folder, bool (*chosen)(int folder, const char *name), bool *holds_anything) {
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
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) continue;
    if (holds_anything && strcmp(name, LOCK_NAME) != 0) *holds_anything = true;
    if (chosen && chosen(folder, name) && unlinkat(folder, name, 0) != 0 && errno != ENOENT) error = errno;
  }
  if (list) (void)closedir(list);
  return error;
}

/* Takes the lock, which the kernel gives back when this process ends, in whatever way. */
static sim_status take_lock(io_folder *folder, bool create) {
  folder->lock =
      openat(folder->root, LOCK_NAME, O_RDWR | (create ? O_CREAT : 0) | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
  if (folder->lock < 0 && errno == ENOENT && !create) return SIM_OK;
  if (folder->lock < 0) return cannot(folder->path, errno);
  char text[256];
  size_t got = 0;
  if (flock(folder->lock, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return cannot(folder->path, errno);
    if (io_sys_read(folder->lock, text, sizeof text - 1, 0, &got) != 0) got = 0;
    text[got] = '\0';
    text[strcspn(text, "\n")] = '\0';
    return sim_fail(SIM_ERR_CANT_CREATE, "%s: in use by another run (%s)", folder->path, text[0] ? text : "unknown");
  }
  char host[96] = "", when[32];
  time_t now = time(NULL);
  struct tm parts;
  (void)gethostname(host, sizeof host - 1);
  strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S %z", localtime_r(&now, &parts));
  int size = snprintf(text, sizeof text, "host %s, process %ld, since %s\n", host, (long)getpid(), when);
  if (ftruncate(folder->lock, 0) != 0 || pwrite(folder->lock, text, (size_t)size, 0) != size)
    sim_log(SIM_LOG_WARN, "%s: cannot write the name of its holder into the lock", folder->path);
  return SIM_OK;
}

static sim_status open_inner(io_folder *folder, const char *name, char *path, size_t capacity, int *fd) {
  snprintf(path, capacity, "%s/%s", folder->path, name);
  if (mkdirat(folder->root, name, 0777) != 0 && errno != EEXIST) return cannot(path, errno);
  *fd = openat(folder->root, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  if (*fd >= 0) return SIM_OK;
  struct stat info;
  int error = errno;
  if (fstatat(folder->root, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(info.st_mode))
    return sim_fail(SIM_ERR_CANT_CREATE, "%s: is a symbolic link, and outputs never follow one", path);
  return cannot(path, error);
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

static sim_status open_all(io_folder *folder, io_folder_mode mode) {
  bool holds_anything = false;
  SIM_TRY(open_root(folder, mode));
  /* A lock file that is there is tried first: "in use" says more than "not empty". */
  SIM_TRY(take_lock(folder, mode == IO_FOLDER_FORCE));
  int error = sweep(folder->root, NULL, &holds_anything);
  if (error) return cannot(folder->path, error);
  if (mode == IO_FOLDER_NEW && holds_anything)
    return sim_fail(SIM_ERR_CANT_CREATE,
                    "%s: is not empty; --resume continues the run in it, --force replaces that run", folder->path);
  if (mode == IO_FOLDER_RESUME && faccessat(folder->root, "ckpt", F_OK, AT_SYMLINK_NOFOLLOW) != 0)
    return sim_fail(SIM_ERR_NO_INPUT, "%s: holds no run to resume", folder->path);
  if (folder->lock < 0) SIM_TRY(take_lock(folder, true));
  SIM_TRY(open_inner(folder, "snap", folder->snap_path, sizeof folder->snap_path, &folder->snap));
  SIM_TRY(open_inner(folder, "ckpt", folder->ckpt_path, sizeof folder->ckpt_path, &folder->ckpt));
  error = sweep(folder->root, is_stale, NULL);
  if (error == 0) error = sweep(folder->snap, is_stale, NULL);
  if (error == 0) error = sweep(folder->ckpt, is_stale, NULL);
  return error ? cannot(folder->path, error) : SIM_OK;
}

sim_status io_folder_clear(io_folder *folder) {
  int error = sweep(folder->root, is_own, NULL);
  if (error == 0) error = sweep(folder->snap, is_snapshot, NULL);
  if (error == 0) error = sweep(folder->ckpt, is_checkpoint, NULL);
  return error ? cannot(folder->path, error) : SIM_OK;
}

void io_folder_abandon(io_folder **folder) {
  if (*folder && (*folder)->made) { /* what is not empty stays */
    (void)unlinkat((*folder)->root, "snap", AT_REMOVEDIR);
    (void)unlinkat((*folder)->root, "ckpt", AT_REMOVEDIR);
    (void)unlinkat((*folder)->root, LOCK_NAME, 0);
    (void)rmdir((*folder)->path);
  }
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
  if (!folder) return sim_fail(SIM_ERR_NO_MEMORY, "out of memory");
  memcpy(folder->path, path, length);
  folder->root = folder->snap = folder->ckpt = folder->lock = -1;
  sim_status status = open_all(folder, mode);
  if (status != SIM_OK) {
    io_folder_close(&folder);
    return status;
  }
  *out = folder;
  return SIM_OK;
}

void io_folder_close(io_folder **folder) {
  if (!*folder) return;
  const int all[] = {(*folder)->snap, (*folder)->ckpt, (*folder)->root, (*folder)->lock};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (all[i] >= 0) (void)close(all[i]);
  free(*folder);
  *folder = NULL;
}

const char *io_folder_path(const io_folder *folder) { return folder->path; }

sim_status io_folder_write(io_folder *folder, const char *name, const void *data, size_t size) {
  io_file file;
  SIM_TRY(io_file_create(folder->root, folder->path, name, &file));
  int error = io_sys_write(file.fd, data, size, 0);
  return error ? io_file_fail(&file, error) : io_file_commit(&file);
}

int io_folder_append(io_folder *folder, const char *name) {
  return openat(folder->root, name, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
}
