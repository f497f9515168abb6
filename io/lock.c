#include "io/lock.h"

#include "engine/log.h"
#include "engine/thread.h"
#include "io/holder.h"
#include "io/io.h"
#include "io/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TAKING_NAME ".lock.taking"

/* ---- taking the lock ---- */

static sim_status cannot(const char *path, int error) {
  return sim_fail(error == EACCES || error == EPERM ? SIM_ERR_PERMISSION : SIM_ERR_CANT_CREATE, "%s: %s", path,
                  strerror(error));
}

static sim_status in_use(const char *path, const char *holder) {
  char text[IO_HOLDER_TEXT];
  io_holder_shown(holder, text);
  return sim_fail(SIM_ERR_CANT_CREATE, "%s: in use by another run (%s)", path, text);
}

static bool is_same_file(int folder, const char *name, int fd) {
  struct stat one, other;
  return fstat(fd, &one) == 0 && fstatat(folder, name, &other, AT_SYMLINK_NOFOLLOW) == 0 &&
         one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

static bool is_regular(int fd) {
  struct stat info;
  return fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
}

static sim_status no_lock_file(const char *path) {
  return sim_fail(SIM_ERR_CANT_CREATE,
                  "%s/" IO_LOCK_NAME ": is not a regular file, so it cannot say who uses the folder; "
                  "remove it",
                  path);
}

/* Creates the file that names the process taking over the lock. It appears with its content, so that others can tell
 * whether that process lives. 0 or an errno. */
static int make_taking(int root) {
  char name[64], text[IO_HOLDER_TEXT];
  const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, size = io_holder_line(false, text);
  snprintf(name, sizeof name, TAKING_NAME ".%ld", (long)getpid());
  (void)unlinkat(root, name, 0);
  int fd = openat(root, name, flags, 0666);
  if (fd < 0) return errno;
  (void)!write(fd, text, (size_t)size); /* stays empty on a full disk: then only the file's age counts */
  (void)close(fd);
  int error = linkat(root, name, root, TAKING_NAME, 0) == 0 ? 0 : errno;
  (void)unlinkat(root, name, 0);
  if (error != EPERM && error != EOPNOTSUPP && error != ENOSYS) return error;
  fd = openat(root, TAKING_NAME, flags, 0666); /* without hard links: the file is empty for a moment */
  if (fd < 0) return errno;
  (void)!write(fd, text, (size_t)size);
  (void)close(fd);
  return 0;
}

/* Removes that file if its creator has died, which is known at once on this machine, and by the file's age on
 * another. */
static void remove_taking(int root) {
  char who[IO_HOLDER_TEXT], why[IO_HOLDER_TEXT];
  int old = openat(root, TAKING_NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (old < 0) return;
  io_holder_read(old, who);
  const bool dead = (*who && io_holder_judge(root, old, false, who, why) != IO_HOLDER_IN_USE) ||
                    io_holder_age(root, old) > IO_LOCK_TAKING;
  if (dead && is_same_file(root, TAKING_NAME, old)) (void)unlinkat(root, TAKING_NAME, 0);
  (void)close(old);
}

/* Creates that file. While another process takes over the lock, waits until that is done or that process counts as
 * dead. */
static int begin_taking(int root, const char *path) {
  enum { EVERY_MS = 100 };
  int error = make_taking(root);
  for (int waited = 0; error == EEXIST && waited <= 1000 * (IO_LOCK_TAKING + 5); waited += EVERY_MS) {
    remove_taking(root);
    error = make_taking(root);
    if (error != EEXIST) break;
    if (waited == 1000) sim_log(SIM_LOG_INFO, "%s: waiting for another run that is taking over its lock", path);
    (void)nanosleep(&(struct timespec){.tv_nsec = 1000000L * EVERY_MS}, NULL);
  }
  return error;
}

/* Replaces the name of a holder that ended or died (`why`) by this process; only one of several processes succeeds. */
static sim_status take_over(int root, const char *path, io_lock *lock, const char *holder, const char *why) {
  char now[IO_HOLDER_TEXT], text[IO_HOLDER_TEXT];
  int error = begin_taking(root, path);
  if (error) return error == EEXIST ? in_use(path, "being taken over") : cannot(path, error);
  io_holder_read(lock->fd, now);
  bool same = strcmp(now, holder) == 0, written = same && io_holder_write(lock->fd, false);
  error = errno;
  (void)unlinkat(root, TAKING_NAME, 0);
  if (!same) return in_use(path, now);
  if (!written) return cannot(path, error);
  lock->named = true;
  io_holder_shown(holder, text);
  if (why) sim_log(SIM_LOG_WARN, "%s: the lock was of a run (%s) %s: taken over", path, text, why);
  return SIM_OK;
}

static bool no_flock(int error) {
  return error == ENOLCK || error == ENOSYS || error == EOPNOTSUPP || error == ENOTSUP || error == EINVAL;
}

/* Opens and locks the lock file, or creates it (lock->made). *flocked: whether flock has an effect here; *held: becomes
 * true where another process has the lock. Leaves lock->fd at -1 where there is no file and `create` is false. Starts
 * again if another process removed the lock file between open and flock: a removed file is invisible to others. */
static sim_status open_lock(int root, const char *path, bool create, io_lock *lock, bool *flocked, bool *held) {
  const int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  char holder[IO_HOLDER_TEXT];
  for (;;) {
    lock->fd = openat(root, IO_LOCK_NAME, flags);
    lock->made = lock->fd < 0 && errno == ENOENT && create;
    if (lock->made) lock->fd = openat(root, IO_LOCK_NAME, flags | O_CREAT | O_EXCL, 0666);
    if (lock->fd < 0 && errno == EEXIST) continue; /* another process was faster */
    if (lock->fd < 0 && errno == ENOENT && !create) return SIM_OK;
    if (lock->fd < 0 && errno != EISDIR && errno != ELOOP) return cannot(path, errno);
    if (lock->fd < 0 || !is_regular(lock->fd)) return no_lock_file(path);
    *flocked = flock(lock->fd, LOCK_EX | LOCK_NB) == 0;
    if (!*flocked && errno == EWOULDBLOCK) {
      lock->made = false; /* another process has taken the new file */
      *held = true;
      io_holder_read(lock->fd, holder);
      return in_use(path, holder);
    }
    if (!*flocked && !no_flock(errno)) return cannot(path, errno);
    if (is_same_file(root, IO_LOCK_NAME, lock->fd)) return SIM_OK;
    (void)close(lock->fd);
  }
}

/* As io_lock_take, without waiting for a holder that is ending. *held: as for open_lock. */
static sim_status try_lock(int root, const char *path, bool create, io_lock *lock, bool *held) {
  char holder[IO_HOLDER_TEXT], why[IO_HOLDER_TEXT];
  bool flocked = false;
  SIM_TRY(open_lock(root, path, create, lock, &flocked, held));
  if (lock->fd < 0) return SIM_OK;
  if (lock->made) {
    lock->named = io_holder_write(lock->fd, false);
    return SIM_OK;
  }
  io_holder_read(lock->fd, holder);
  if (!*holder) { /* just created on another machine, or by another program */
    (void)nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    io_holder_read(lock->fd, holder);
  }
  lock->ours = strncmp(holder, "host ", 5) == 0;
  if (!lock->ours) return SIM_OK;
  const io_holder_verdict now = io_holder_judge(root, lock->fd, flocked, holder, why);
  *held = now == IO_HOLDER_IN_USE;
  if (*held) return in_use(path, holder);
  return take_over(root, path, lock, holder, now == IO_HOLDER_DEAD ? why : NULL);
}

/* A holder that was killed a moment ago still has the lock until the kernel has freed its memory: waits for that, up to
 * 2 s. A holder that lives is refused at once. */
sim_status io_lock_take(int root, const char *path, bool create, io_lock *lock) {
  enum { EVERY_MS = 10, MOST = 200 };
  for (int waited = 0;; waited++) {
    char holder[IO_HOLDER_TEXT];
    bool held = false;
    const sim_status status = try_lock(root, path, create, lock, &held);
    if (!held || waited == MOST) return status;
    io_holder_read(lock->fd, holder);
    if (!io_holder_is_ending(holder)) return status;
    (void)close(lock->fd);
    lock->fd = -1;
    (void)nanosleep(&(struct timespec){.tv_nsec = 1000000L * EVERY_MS}, NULL);
  }
}

/* ---- holding the lock ---- */

static struct {
  pthread_mutex_t mutex;
  io_lock *first;
  bool lost;
  char why[4096 + IO_HOLDER_TEXT + 128];
} holding = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* Whether the file in the folder still names this process. Also true if the file cannot be read. */
static bool is_ours(const io_lock *lock, char now[IO_HOLDER_TEXT]) {
  snprintf(now, IO_HOLDER_TEXT, "nobody: it was removed");
  int fd = openat(lock->root, IO_LOCK_NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return errno != ENOENT;
  size_t got;
  char text[IO_HOLDER_TEXT];
  const bool read = io_sys_read(fd, text, IO_HOLDER_TEXT - 1, 0, &got) == 0;
  (void)close(fd);
  if (!read) return true;
  text[got] = '\0';
  if (strcmp(text, lock->line) == 0) return true;
  text[strcspn(text, "\n")] = '\0';
  io_holder_shown(text, now);
  return false;
}

sim_status io_lock_check(void) {
  char now[IO_HOLDER_TEXT];
  pthread_mutex_lock(&holding.mutex);
  for (const io_lock *lock = holding.first; lock && !holding.lost; lock = lock->next) {
    holding.lost = !is_ours(lock, now);
    if (holding.lost)
      snprintf(holding.why, sizeof holding.why, "%s: this run has lost the folder's lock to %s; it writes nothing more",
               lock->path, now);
  }
  const bool lost = holding.lost;
  pthread_mutex_unlock(&holding.mutex);
  return lost ? sim_fail(SIM_ERR_CANT_CREATE, "%s", holding.why) : SIM_OK;
}

sim_status io_folder_check(void) { return io_lock_check(); }

static void *beat(void *opaque) {
  io_lock *lock = opaque;
  struct timespec until;
  char now[IO_HOLDER_TEXT];
  clock_gettime(CLOCK_REALTIME, &until);
  pthread_mutex_lock(&lock->mutex);
  while (!lock->ending) {
    until.tv_sec += IO_LOCK_BEAT;
    while (!lock->ending && pthread_cond_timedwait(&lock->end, &lock->mutex, &until) != ETIMEDOUT) continue;
    if (!lock->ending && (!lock->named || is_ours(lock, now)))
      (void)futimens(lock->fd, (const struct timespec[]){{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_NOW}});
  }
  pthread_mutex_unlock(&lock->mutex);
  return NULL;
}

void io_lock_hold(io_lock *lock, int root, const char *path) {
  lock->root = root;
  snprintf(lock->path, sizeof lock->path, "%s", path);
  (void)io_holder_line(false, lock->line);
  lock->named = io_holder_write_line(lock->fd, lock->line);
  if (!lock->named) sim_log(SIM_LOG_WARN, "%s: cannot write the name of its holder into the lock", path);
  if (lock->named) {
    pthread_mutex_lock(&holding.mutex);
    lock->next = holding.first;
    holding.first = lock;
    pthread_mutex_unlock(&holding.mutex);
  }
  pthread_mutex_init(&lock->mutex, NULL);
  pthread_cond_init(&lock->end, NULL);
  lock->beats = sim_thread_create(&lock->thread, NULL, beat, lock) == 0;
  if (!lock->beats) sim_log(SIM_LOG_WARN, "%s: no thread for the lock's signs of life", path);
}

static void forget(io_lock *lock) {
  pthread_mutex_lock(&holding.mutex);
  for (io_lock **at = &holding.first; *at; at = &(*at)->next)
    if (*at == lock) {
      *at = lock->next;
      break;
    }
  if (!holding.first) holding.lost = false;
  pthread_mutex_unlock(&holding.mutex);
}

void io_lock_release(io_lock *lock) {
  char now[IO_HOLDER_TEXT];
  if (lock->beats) {
    pthread_mutex_lock(&lock->mutex);
    lock->ending = true;
    pthread_cond_signal(&lock->end);
    pthread_mutex_unlock(&lock->mutex);
    pthread_join(lock->thread, NULL);
    pthread_cond_destroy(&lock->end);
    pthread_mutex_destroy(&lock->mutex);
  }
  forget(lock);
  if (lock->named && (!*lock->line || is_ours(lock, now))) (void)!io_holder_write(lock->fd, true);
  if (lock->fd >= 0) (void)close(lock->fd);
  *lock = (io_lock){.fd = -1};
}

bool io_folder_held(const char *folder) {
  char path[4200], holder[IO_HOLDER_TEXT], why[IO_HOLDER_TEXT];
  int root = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  snprintf(path, sizeof path, "%s/" IO_LOCK_NAME, folder);
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  bool held = false;
  if (root >= 0 && fd >= 0) {
    io_holder_read(fd, holder);
    held = strncmp(holder, "host ", 5) == 0 && io_holder_judge(root, fd, false, holder, why) == IO_HOLDER_IN_USE;
  }
  if (fd >= 0) (void)close(fd);
  if (root >= 0) (void)close(root);
  return held;
}

void io_folder_end_of(const char *folder, long process) {
  char path[4200], holder[IO_HOLDER_TEXT], why[IO_HOLDER_TEXT];
  snprintf(path, sizeof path, "%s/" IO_LOCK_NAME, folder);
  int root = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (root >= 0 && fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0) {
    io_holder_read(fd, holder);
    if (io_holder_is(holder, process) && io_holder_judge(root, fd, true, holder, why) == IO_HOLDER_DEAD)
      (void)!io_holder_write(fd, true);
  }
  if (fd >= 0) (void)close(fd);
  if (root >= 0) (void)close(root);
}
