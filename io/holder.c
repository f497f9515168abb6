/* The line of a lock file that names its holder, and whether that process lives. */
#include "io/holder.h"

#include "io/io.h"
#include "io/lock.h"
#include "io/sys.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static struct {
  char job[96];
  int restart;
} self;

void io_lock_job(const char *job, int restart) {
  snprintf(self.job, sizeof self.job, "%s", job);
  self.restart = restart;
}

/* Writes the boot id of this machine; "?" if unknown. */
static void machine(char out[64]) {
  snprintf(out, 64, "?");
  FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
  if (file && fscanf(file, "%63s", out) != 1) snprintf(out, 64, "?");
  if (file) fclose(file);
}

/* Reads the file /proc/PROCESS/NAME as a text; empty where there is no such process. */
static void read_process(long process, const char *name, char text[4096]) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%ld/%s", process, name);
  FILE *file = fopen(path, "re");
  const size_t n = file ? fread(text, 1, 4095, file) : 0;
  if (file) fclose(file);
  text[n] = '\0';
}

/* Start time of a process in clock ticks since boot; 0: no such process. */
static unsigned long long began(long process) {
  char text[4096];
  read_process(process, "stat", text);
  const char *at = strrchr(text, ')');
  for (int field = 2; at && field < 22; field++) at = strchr(at + 1, ' ');
  return at ? strtoull(at + 1, NULL, 10) : 0;
}

/* Whether a process ends: it is a zombie, the kernel frees what it has, or a SIGKILL waits for it. Files of a killed
 * process are closed, and its locks end, only after its memory is freed. */
static bool is_dying(long process) {
  enum { EXITING = 4, KILL = 1 << (SIGKILL - 1) }; /* PF_EXITING of the kernel's sched.h; bits of sets of signals */
  static const char *const sets[] = {"\nSigPnd:", "\nShdPnd:"};
  char text[4096], state = '?';
  unsigned flags = 0;
  read_process(process, "stat", text);
  const char *at = strrchr(text, ')');
  if (at && sscanf(at + 1, " %c %*d %*d %*d %*d %*d %u", &state, &flags) == 2 &&
      (strchr("ZXx", state) || (flags & EXITING) != 0))
    return true;
  read_process(process, "status", text);
  for (int k = 0; k < 2; k++) {
    at = strstr(text, sets[k]);
    if (at && (strtoull(at + 8, NULL, 16) & KILL) != 0) return true;
  }
  return false;
}

void io_holder_read(int fd, char text[IO_HOLDER_TEXT]) {
  size_t got;
  if (io_sys_read(fd, text, IO_HOLDER_TEXT - 1, 0, &got) != 0) got = 0;
  text[got] = '\0';
  text[strcspn(text, "\n")] = '\0';
}

void io_holder_shown(const char *holder, char out[IO_HOLDER_TEXT]) {
  const char *end = strstr(holder, ", machine ");
  snprintf(out, IO_HOLDER_TEXT, "%.*s", end ? (int)(end - holder) : (int)strlen(holder), *holder ? holder : "unknown");
  if (!*holder) snprintf(out, IO_HOLDER_TEXT, "unknown");
}

/* Copies what follows `key` in the line, up to a comma. */
static void field(const char *holder, const char *key, char out[96]) {
  const char *at = strstr(holder, key);
  at = at ? at + strlen(key) : "";
  snprintf(out, 96, "%.*s", (int)strcspn(at, ","), at);
}

int io_holder_line(bool ended, char text[IO_HOLDER_TEXT]) {
  char host[96] = "", when[32], here[64], job[128] = "";
  time_t now = time(NULL);
  struct tm parts;
  (void)gethostname(host, sizeof host - 1);
  strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S %z", localtime_r(&now, &parts));
  machine(here);
  if (*self.job) snprintf(job, sizeof job, "%s, restart %d, ", self.job, self.restart);
  return snprintf(text, IO_HOLDER_TEXT, "host %s, process %ld, %s%s %s, machine %s, tick %llu\n", host, (long)getpid(),
                  job, ended ? "ended" : "since", when, here, began(getpid()));
}

bool io_holder_write_line(int fd, const char *text) {
  const ssize_t size = (ssize_t)strlen(text);
  return ftruncate(fd, 0) == 0 && pwrite(fd, text, (size_t)size, 0) == size;
}

bool io_holder_write(int fd, bool ended) {
  char text[IO_HOLDER_TEXT];
  (void)io_holder_line(ended, text);
  return io_holder_write_line(fd, text);
}

double io_holder_age(int root, int fd) {
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

bool io_holder_is_ending(const char *holder) {
  char here[64], there[96], who[96], tick[96];
  if (strstr(holder, ", ended ")) return true;
  machine(here);
  field(holder, ", machine ", there);
  if (strcmp(here, there) != 0 || *here == '?') return false;
  field(holder, ", process ", who);
  field(holder, ", tick ", tick);
  const long process = strtol(who, NULL, 10);
  return began(process) != strtoull(tick, NULL, 10) || is_dying(process);
}

io_holder_verdict io_holder_judge(int root, int fd, bool flocked, const char *holder, char why[IO_HOLDER_TEXT]) {
  char here[64], there[96], job[96], restart[96], who[96], tick[96];
  if (strstr(holder, ", ended ")) return IO_HOLDER_ENDED;
  machine(here);
  field(holder, ", machine ", there);
  if (strcmp(here, there) == 0 && *here != '?') {
    field(holder, ", process ", who);
    field(holder, ", tick ", tick);
    snprintf(why, IO_HOLDER_TEXT, "which ended without giving it back");
    return flocked || began(strtol(who, NULL, 10)) != strtoull(tick, NULL, 10) ? IO_HOLDER_DEAD : IO_HOLDER_IN_USE;
  }
  snprintf(job, sizeof job, ", %.90s,", self.job);
  field(holder, ", restart ", restart);
  snprintf(why, IO_HOLDER_TEXT, "which was this job before it was requeued");
  if (*self.job && strstr(holder, job) && strtol(restart, NULL, 10) < self.restart) return IO_HOLDER_DEAD;
  double silent = io_holder_age(root, fd);
  snprintf(why, IO_HOLDER_TEXT, "which gave no sign of life for %.0f s", silent);
  return silent > IO_LOCK_STALE ? IO_HOLDER_DEAD : IO_HOLDER_IN_USE;
}

bool io_holder_is(const char *holder, long process) {
  char here[64], there[96], who[96];
  machine(here);
  field(holder, ", machine ", there);
  field(holder, ", process ", who);
  return strtol(who, NULL, 10) == process && strcmp(here, there) == 0;
}
