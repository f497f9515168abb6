#include "io/file.h"

#include "io/lock.h"
#include "io/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

sim_status io_file_create(int folder, const char *folder_path, const char *name, io_file *out) {
  snprintf(out->path, sizeof out->path, "%s/%s", folder_path, name);
  snprintf(out->name, sizeof out->name, "%s", name);
  snprintf(out->temporary, sizeof out->temporary, ".%s" IO_TEMPORARY_SUFFIX, out->name);
  out->folder = folder;
  out->fd = -1;
  SIM_TRY(io_lock_check());
  (void)unlinkat(folder, out->temporary, 0); /* left by a killed run: the folder is locked by this one */
  int error = io_sys_create(folder, out->temporary, &out->fd);
  if (error) {
    out->fd = -1;
    return sim_fail(SIM_ERR_IO, "%s: %s", out->path, strerror(error));
  }
  return SIM_OK;
}

void io_file_discard(io_file *file) {
  if (file->fd < 0) return;
  (void)close(file->fd);
  file->fd = -1;
  (void)unlinkat(file->folder, file->temporary, 0);
}

sim_status io_file_fail(io_file *file, int error) {
  io_file_discard(file);
  return sim_fail(SIM_ERR_IO, "%s: %s", file->path, strerror(error));
}

sim_status io_file_sync(io_file *file) {
  int error = io_sys_sync(file->fd);
  return error ? io_file_fail(file, error) : SIM_OK;
}

sim_status io_file_place(io_file *file) {
  SIM_TRY(io_file_sync(file));
  if (io_lock_check() != SIM_OK) { /* the lock was lost during the write */
    io_file_discard(file);
    return SIM_ERR_CANT_CREATE;
  }
  int error = io_sys_close(file->fd);
  file->fd = -1;
  if (error == 0) error = io_sys_rename(file->folder, file->temporary, file->name);
  if (error) {
    (void)unlinkat(file->folder, file->temporary, 0);
    return sim_fail(SIM_ERR_IO, "%s: %s", file->path, strerror(error));
  }
  return SIM_OK;
}

sim_status io_file_settle(const io_file *file) {
  int error = io_sys_sync(file->folder);
  if (error) return sim_fail(SIM_ERR_IO, "%s: cannot sync its folder: %s", file->path, strerror(error));
  return SIM_OK;
}

sim_status io_file_commit(io_file *file) {
  SIM_TRY(io_file_place(file));
  return io_file_settle(file);
}

sim_status io_file_open(int folder, const char *name, const char *path, int *fd, off_t *size) {
  struct stat info;
  *fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (*fd < 0) {
    bool missing = errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG || errno == ELOOP;
    bool refused = errno == EACCES || errno == EPERM;
    return sim_fail(missing   ? SIM_ERR_NO_INPUT
                    : refused ? SIM_ERR_PERMISSION
                              : SIM_ERR_IO,
                    "%s: %s", path, strerror(errno));
  }
  int error = fstat(*fd, &info) != 0 ? errno : 0;
  if (error == 0 && S_ISREG(info.st_mode)) {
    *size = info.st_size;
    return SIM_OK;
  }
  (void)close(*fd);
  *fd = -1;
  if (error) return sim_fail(SIM_ERR_IO, "%s: %s", path, strerror(error));
  return sim_fail(SIM_ERR_NO_INPUT, "%s: %s", path, S_ISDIR(info.st_mode) ? "is a folder" : "not a regular file");
}
