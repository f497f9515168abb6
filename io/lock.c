#include "io/lock.h"

#include "engine/log.h"
#include "io/io.h"
#include "io/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TAKING_NAME ".lock.taking"
enum { TEXT = 512 };

static struct {
  char job[96];
  int restart;
} self;

void io_lock_job(const char *job, int restart) {
  snprintf(self.job, sizeof self.job, "%s", job);
  self.restart = restart;
}

/* ---- the holder of a lock ---- */

/* Writes the boot id of this machine; "?" if unknown. */
static void machine(char out[64]) {
  snprintf(out, 64, "?");
  FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
  if (file && fscanf(file, "%63s", out) != 1) snprintf(out, 64, "?");
  if (file) fclose(file);
}

/* Start time of a process in clock ticks since boot; 0: no such process. */
static unsigned long long began(long process) {
  char path[64], text[1024];
  snprintf(path, sizeof path, "/proc/%ld/stat", process);
  FILE *file = fopen(path, "re");
  size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
  if (file) fclose(file);
  text[n] = '\0';
  const char *at = strrchr(text, ')');
  for (int field = 2; at && field < 22; field++) at = strchr(at + 1, ' ');
  return at ? strtoull(at + 1, NULL, 10) : 0;
}

/* Reads the holder's line: "host n1, process 17, Slurm job 5, restart 0, since ..., machine ..., tick ...". */
static void read_holder(int fd, char text[TEXT]) {
  size_t got;
  if (io_sys_read(fd, text, TEXT - 1, 0, &got) != 0) got = 0;
  text[got] = '\0';
  text[strcspn(text, "\n")] = '\0';
}

/* Copies the part of the holder's line that messages show. */
static void shown(const char *holder, char out[TEXT]) {
  const char *end = strstr(holder, ", machine ");
  snprintf(out, TEXT, "%.*s", end ? (int)(end - holder) : (int)strlen(holder), *holder ? holder : "unknown");
  if (!*holder) snprintf(out, TEXT, "unknown");
}

static void field(const char *holder, const char *key, char out[96]) {
  const char *at = strstr(holder, key);
  at = at ? at + strlen(key) : "";
  snprintf(out, 96, "%.*s", (int)strcspn(at, ","), at);
}

/* Writes the holder's line for this process; returns its length. */
static int holder_line(bool ended, char text[TEXT]) {
  char host[96] = "", when[32], here[64], job[128] = "";
  time_t now = time(NULL);
  struct tm parts;
  (void)gethostname(host, sizeof host - 1);
  strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S %z", localtime_r(&now, &parts));
  machine(here);
  if (*self.job) snprintf(job, sizeof job, "%s, restart %d, ", self.job, self.restart);
  return snprintf(text, TEXT, "host %s, process %ld, %s%s %s, machine %s, tick %llu\n", host, (long)getpid(), job,
                  ended ? "ended" : "since", when, here, began(getpid()));
}

static bool write_line(int fd, const char *text) {
  const ssize_t size = (ssize_t)strlen(text);
  return ftruncate(fd, 0) == 0 && pwrite(fd, text, (size_t)size, 0) == size;
}

static bool write_holder(int fd, bool ended) {
  char text[TEXT];
  (void)holder_line(ended, text);
  return write_line(fd, text);
}

/* Age of the file in seconds, by the clock of its file system, which may differ from ours. */
static double age(int root, int fd) {
  struct stat then, now;
  char name[64];
  snprintf(name, sizeof name, ".lock.clock.%ld", (long)getpid());
  (void)unlinkat(root, name, 0); /* left by a process of this number that was killed */
  int probe = openat(root, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
  bool good = probe >= 0 && fstat(probe, &now) == 0 && fstat(fd, &then) == 0;
  if (probe >= 0) {
    (void)unlinkat(root, name, 0);
    (void)close(probe);
  }
  if (!good) return 0;
  return (double)(now.st_mtim.tv_sec - then.st_mtim.tv_sec) +
         1e-9 * (double)(now.st_mtim.tv_nsec - then.st_mtim.tv_nsec);
}

typedef enum verdict { ENDED, DEAD, IN_USE } verdict;

/* Judges the holder of a lock file that flock could lock (`flocked`), or where flock has no effect. why[TEXT]: the
 * reason for DEAD. */
static verdict judge(int root, int fd, bool flocked, const char *holder, char why[TEXT]) {
  char here[64], there[96], job[96], restart[96], who[96], tick[96];
  if (strstr(holder, ", ended ")) return ENDED;
  machine(here);
  field(holder, ", machine ", there);
  if (strcmp(here, there) == 0 && *here != '?') {
    field(holder, ", process ", who);
    field(holder, ", tick ", tick);
    snprintf(why, TEXT, "which ended without giving it back");
    return flocked || began(strtol(who, NULL, 10)) != strtoull(tick, NULL, 10) ? DEAD : IN_USE;
  }
  snprintf(job, sizeof job, ", %.90s,", self.job);
  field(holder, ", restart ", restart);
  snprintf(why, TEXT, "which was this job before it was requeued");
  if (*self.job && strstr(holder, job) && strtol(restart, NULL, 10) < self.restart) return DEAD;
  double silent = age(root, fd);
  snprintf(why, TEXT, "which gave no sign of life for %.0f s", silent);
  return silent > IO_LOCK_STALE ? DEAD : IN_USE;
}

/* ---- taking the lock ---- */

static sim_status cannot(const char *path, int error) {
  return sim_fail(error == EACCES || error == EPERM ? SIM_ERR_PERMISSION : SIM_ERR_CANT_CREATE, "%s: %s", path,
                  strerror(error));
}

static sim_status in_use(const char *path, const char *holder) {
  char text[TEXT];
  shown(holder, text);
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
  char name[64], text[TEXT];
  const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, size = holder_line(false, text);
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
  char who[TEXT], why[TEXT];
  int old = openat(root, TAKING_NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (old < 0) return;
  read_holder(old, who);
  const bool dead = (*who && judge(root, old, false, who, why) != IN_USE) || age(root, old) > IO_LOCK_TAKING;
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
  char now[TEXT], text[TEXT];
  int error = begin_taking(root, path);
  if (error) return error == EEXIST ? in_use(path, "being taken over") : cannot(path, error);
  read_holder(lock->fd, now);
  bool same = strcmp(now, holder) == 0, written = same && write_holder(lock->fd, false);
  error = errno;
  (void)unlinkat(root, TAKING_NAME, 0);
  if (!same) return in_use(path, now);
  if (!written) return cannot(path, error);
  lock->named = true;
  shown(holder, text);
  if (why) sim_log(SIM_LOG_WARN, "%s: the lock was of a run (%s) %s: taken over", path, text, why);
  return SIM_OK;
}

static bool no_flock(int error) {
  return error == ENOLCK || error == ENOSYS || error == EOPNOTSUPP || error == ENOTSUP || error == EINVAL;
}

/* Starts again if another process removed the lock file between open and flock: a removed file is invisible to
 * others. */
sim_status io_lock_take(int root, const char *path, bool create, io_lock *lock) {
  const int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  char holder[TEXT], why[TEXT];
  bool flocked;
  enum { ENDS = 100 };
  for (int ends = 0;;) {
    lock->fd = openat(root, IO_LOCK_NAME, flags);
    lock->made = lock->fd < 0 && errno == ENOENT && create;
    if (lock->made) lock->fd = openat(root, IO_LOCK_NAME, flags | O_CREAT | O_EXCL, 0666);
    if (lock->fd < 0 && errno == EEXIST) continue; /* another process was faster */
    if (lock->fd < 0 && errno == ENOENT && !create) return SIM_OK;
    if (lock->fd < 0 && errno != EISDIR && errno != ELOOP) return cannot(path, errno);
    if (lock->fd < 0 || !is_regular(lock->fd)) return no_lock_file(path);
    flocked = flock(lock->fd, LOCK_EX | LOCK_NB) == 0;
    if (!flocked && errno == EWOULDBLOCK) {
      lock->made = false; /* another process has taken the new file */
      read_holder(lock->fd, holder);
      if (!strstr(holder, ", ended ") || ++ends == ENDS) return in_use(path, holder);
      (void)close(lock->fd); /* the holder has ended meanwhile; the flock ends when its file is closed */
      (void)nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
      continue;
    }
    if (!flocked && !no_flock(errno)) return cannot(path, errno);
    if (is_same_file(root, IO_LOCK_NAME, lock->fd)) break;
    (void)close(lock->fd);
  }
  if (lock->made) {
    lock->named = write_holder(lock->fd, false);
    return SIM_OK;
  }
  read_holder(lock->fd, holder);
  if (!*holder) { /* just created on another machine, or by another program */
    (void)nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    read_holder(lock->fd, holder);
  }
  lock->ours = strncmp(holder, "host ", 5) == 0;
  if (!lock->ours) return SIM_OK;
  const verdict now = judge(root, lock->fd, flocked, holder, why);
  if (now == IN_USE) return in_use(path, holder);
  return take_over(root, path, lock, holder, now == DEAD ? why : NULL);
}

/* ---- holding the lock ---- */

static struct {
  pthread_mutex_t mutex;
  io_lock *first;
  bool lost;
  char why[4096 + TEXT + 128];
} holding = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* Whether the file in the folder still names this process. Also true if the file cannot be read. */
static bool is_ours(const io_lock *lock, char now[TEXT]) {
  snprintf(now, TEXT, "nobody: it was removed");
  int fd = openat(lock->root, IO_LOCK_NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return errno != ENOENT;
  size_t got;
  char text[TEXT];
  const bool read = io_sys_read(fd, text, TEXT - 1, 0, &got) == 0;
  (void)close(fd);
  if (!read) return true;
  text[got] = '\0';
  if (strcmp(text, lock->line) == 0) return true;
  text[strcspn(text, "\n")] = '\0';
  shown(text, now);
  return false;
}

sim_status io_lock_check(void) {
  char now[TEXT];
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
  char now[TEXT];
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
  sigset_t all, before;
  lock->root = root;
  snprintf(lock->path, sizeof lock->path, "%s", path);
  (void)holder_line(false, lock->line);
  lock->named = write_line(lock->fd, lock->line);
  if (!lock->named) sim_log(SIM_LOG_WARN, "%s: cannot write the name of its holder into the lock", path);
  if (lock->named) {
    pthread_mutex_lock(&holding.mutex);
    lock->next = holding.first;
    holding.first = lock;
    pthread_mutex_unlock(&holding.mutex);
  }
  pthread_mutex_init(&lock->mutex, NULL);
  pthread_cond_init(&lock->end, NULL);
  sigfillset(&all); /* the thread of the time loop handles signals */
  pthread_sigmask(SIG_SETMASK, &all, &before);
  lock->beats = pthread_create(&lock->thread, NULL, beat, lock) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
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
  char now[TEXT];
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
  if (lock->named && (!*lock->line || is_ours(lock, now))) (void)!write_holder(lock->fd, true);
  if (lock->fd >= 0) (void)close(lock->fd);
  *lock = (io_lock){.fd = -1};
}

bool io_folder_held(const char *folder) {
  char path[4200], holder[TEXT], why[TEXT];
  int root = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  snprintf(path, sizeof path, "%s/" IO_LOCK_NAME, folder);
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  bool held = false;
  if (root >= 0 && fd >= 0) {
    read_holder(fd, holder);
    held = strncmp(holder, "host ", 5) == 0 && judge(root, fd, false, holder, why) == IN_USE;
  }
  if (fd >= 0) (void)close(fd);
  if (root >= 0) (void)close(root);
  return held;
}

void io_folder_end_of(const char *folder, long process) {
  char path[4200], holder[TEXT], why[TEXT], who[96], there[96], here[64];
  snprintf(path, sizeof path, "%s/" IO_LOCK_NAME, folder);
  int root = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (root >= 0 && fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0) {
    read_holder(fd, holder);
    field(holder, ", process ", who);
    field(holder, ", machine ", there);
    machine(here);
    if (strtol(who, NULL, 10) == process && strcmp(here, there) == 0 && judge(root, fd, true, holder, why) == DEAD)
      (void)!write_holder(fd, true);
  }
  if (fd >= 0) (void)close(fd);
  if (root >= 0) (void)close(root);
}
