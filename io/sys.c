#include "io/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/vfs.h>
#include <unistd.h>

static struct {
  pthread_mutex_t lock;
  int64_t countdown;
  bool onwards, reached;
  int error;
} fault = {.lock = PTHREAD_MUTEX_INITIALIZER};

void io_sys_fail(int64_t nth, bool onwards, int error) {
  pthread_mutex_lock(&fault.lock);
  fault.countdown = nth;
  fault.onwards = onwards;
  fault.reached = false;
  fault.error = error;
  pthread_mutex_unlock(&fault.lock);
}

bool io_sys_failed(void) {
  pthread_mutex_lock(&fault.lock);
  bool reached = fault.reached;
  pthread_mutex_unlock(&fault.lock);
  return reached;
}

static int injected(void) {
  pthread_mutex_lock(&fault.lock);
  int error = 0;
  if (fault.reached) {
    error = fault.onwards ? fault.error : 0;
  } else if (fault.countdown > 0 && --fault.countdown == 0) {
    fault.reached = true;
    error = fault.error;
  }
  pthread_mutex_unlock(&fault.lock);
  return error;
}

int io_sys_create(int folder, const char *name, int *fd) {
  int error = injected();
  if (error) return error;
  *fd = openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
  return *fd < 0 ? errno : 0;
}

static int write_all(int fd, const char *data, size_t size, int64_t offset) {
  while (size > 0) {
    ssize_t written = pwrite(fd, data, size, (off_t)offset);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    if (written == 0) return ENOSPC;
    data += written;
    size -= (size_t)written;
    offset += written;
  }
  return 0;
}

int io_sys_write(int fd, const void *data, size_t size, int64_t offset) {
  int error = injected();
  if (error) {
    (void)write_all(fd, data, size / 2, offset);
    return error;
  }
  return write_all(fd, data, size, offset);
}

int io_sys_writev(int fd, struct iovec *vectors, int count, int64_t offset) {
  int error = injected();
  if (error) {
    (void)write_all(fd, vectors->iov_base, vectors->iov_len / 2, offset);
    return error;
  }
  while (count > 0) {
    ssize_t written = pwritev(fd, vectors, count, (off_t)offset);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    if (written == 0) return ENOSPC;
    offset += written;
    for (; count > 0 && (size_t)written >= vectors->iov_len; vectors++, count--) written -= (ssize_t)vectors->iov_len;
    if (count > 0) {
      vectors->iov_base = (char *)vectors->iov_base + written;
      vectors->iov_len -= (size_t)written;
    }
  }
  return 0;
}

int io_sys_truncate(int fd, int64_t size) {
  int error = injected();
  if (error) return error;
  return ftruncate(fd, (off_t)size) != 0 ? errno : 0;
}

int io_sys_sync(int fd) {
  int error = injected();
  if (error) return error;
  return fsync(fd) != 0 ? errno : 0;
}

int io_sys_open_direct(int fd) {
  enum { EXT4 = 0xEF53, XFS = 0x58465342 };
  struct statfs system;
  char path[64];
  if (fstatfs(fd, &system) != 0 || (system.f_type != EXT4 && system.f_type != XFS)) return -1;
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  return open(path, O_WRONLY | O_CLOEXEC | O_DIRECT);
}

int io_sys_reserve(int fd, int64_t from, int64_t size) {
  int error = injected();
  if (error) return error;
  return fallocate(fd, 0, (off_t)from, (off_t)size) != 0 && errno == ENOSPC ? ENOSPC : 0;
}

void io_sys_start(int fd, int64_t from, int64_t size) {
#ifdef SYNC_FILE_RANGE_WRITE
  (void)sync_file_range(fd, from, size, SYNC_FILE_RANGE_WRITE);
#else
  (void)fd, (void)from, (void)size;
#endif
}

int io_sys_close(int fd) {
  int error = injected();
  if (close(fd) != 0 && error == 0) error = errno;
  return error;
}

int io_sys_rename(int folder, const char *from, const char *to) {
  int error = injected();
  if (error) return error;
  return renameat(folder, from, folder, to) != 0 ? errno : 0;
}

int io_sys_read(int fd, void *data, size_t size, int64_t offset, size_t *got) {
  char *to = data;
  *got = 0;
  while (*got < size) {
    ssize_t count = pread(fd, to + *got, size - *got, (off_t)(offset + (int64_t)*got));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    if (count == 0) break;
    *got += (size_t)count;
  }
  return 0;
}
