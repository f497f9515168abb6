/* The folder of a sweep: sweep.txt, logs/ and the folders of its runs. */
#include "cli/batch/sweep.h"
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static sim_status is_link(const sweep *s, const char *name) {
  return sim_fail(SIM_ERR_CANT_CREATE, "%s/%s: is a symbolic link, and a sweep never follows one", s->folder, name);
}

/* ---- sweep.txt: grid and scenario, so that a folder contains one sweep only ---- */

static void describe_grid(const sweep *s, sim_bytes *grid) {
  const cli_options *o = s->job->options;
  sim_bytes_format(grid, "%s\n", o->target);
  for (size_t i = 0; i < s->axis_count; i++) {
    sim_bytes_format(grid, "%s%s =", s->axes[i].seed ? "--" : "", s->axes[i].name);
    for (size_t k = 0; k < s->axes[i].count; k++) sim_bytes_format(grid, " %s", s->axes[i].value[k]);
    sim_bytes_text(grid, "\n");
  }
  sim_bytes_format(grid, "precision %s, isa %s\n\n", o->precision ? o->precision : "as the scenario's",
                   o->isa_given ? sim_isa_name(o->isa) : "auto");
  sim_bytes_add(grid, s->job->source.text, s->job->source.size);
}

/* Whether the open file contains exactly this text. */
static bool holds(int fd, off_t size, const sim_bytes *text) {
  char piece[4096];
  size_t at = 0;
  ssize_t n = 0;
  if (size < 0 || (size_t)size != text->size) return false;
  while ((n = read(fd, piece, sizeof piece)) > 0 || (n < 0 && errno == EINTR)) {
    if (n < 0) continue;
    if (at + (size_t)n > text->size || memcmp(piece, text->data + at, (size_t)n) != 0) return false;
    at += (size_t)n;
  }
  return n == 0 && at == text->size;
}

static sim_status same_or_new(const sweep *s, const sim_bytes *grid) {
  static const char name[] = "sweep.txt";
  char path[4200], temporary[96];
  struct stat about;
  int fd;
  off_t size;
  snprintf(path, sizeof path, "%.4000s/%s", s->folder, name);
  if (fstatat(s->root, name, &about, AT_SYMLINK_NOFOLLOW) != 0) {
    FILE *file = cli_sweep_create(s, name, temporary);
    if (!file) return sim_fail(SIM_ERR_CANT_CREATE, "%s: %s", path, strerror(errno));
    (void)fwrite(grid->data, 1, grid->size, file);
    return cli_sweep_commit(s, file, name, temporary);
  }
  if (S_ISLNK(about.st_mode)) return is_link(s, name);
  SIM_TRY(io_file_open(s->root, name, path, &fd, &size));
  const bool same = holds(fd, size, grid);
  (void)close(fd);
  return same ? SIM_OK : sim_fail(SIM_ERR_CANT_CREATE, "%s: holds another sweep (see its sweep.txt)", s->folder);
}

/* ---- the folder ---- */

sim_status cli_sweep_open(sweep *s) {
  if (mkdir(s->folder, 0777) != 0 && errno != EEXIST)
    return sim_fail(SIM_ERR_CANT_CREATE, "%s: %s", s->folder, strerror(errno));
  s->root = open(s->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (s->root < 0) return sim_fail(SIM_ERR_CANT_CREATE, "%s: %s", s->folder, strerror(errno));
  struct stat about;
  if (mkdirat(s->root, "logs", 0777) != 0 && errno != EEXIST)
    return sim_fail(SIM_ERR_CANT_CREATE, "%s/logs: %s", s->folder, strerror(errno));
  if (fstatat(s->root, "logs", &about, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(about.st_mode)) return is_link(s, "logs");
  s->logs = openat(s->root, "logs", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  if (s->logs < 0) return sim_fail(SIM_ERR_CANT_CREATE, "%s/logs: %s", s->folder, strerror(errno));
  sim_bytes grid = {0};
  describe_grid(s, &grid);
  sim_status status = grid.failed ? sim_no_memory("sweep.txt") : same_or_new(s, &grid);
  sim_bytes_free(&grid);
  return status;
}

void cli_sweep_close(sweep *s) {
  if (s->logs >= 0) (void)close(s->logs);
  if (s->root >= 0) (void)close(s->root);
  s->root = s->logs = -1;
}

/* In run number `run`, from 0, the last axis varies fastest. */
const char *cli_sweep_value(const sweep *s, size_t run, size_t which) {
  for (size_t i = s->axis_count; i-- > which + 1;) run /= s->axes[i].count;
  return s->axes[which].value[run % s->axes[which].count];
}

void cli_sweep_folder(const sweep *s, size_t run, char out[4200]) {
  snprintf(out, 4200, "%.4000s/run_%04zu", s->folder, run + 1);
}

sim_status cli_sweep_own(const sweep *s, size_t run) {
  char name[32];
  struct stat about;
  snprintf(name, sizeof name, "run_%04zu", run + 1);
  if (fstatat(s->root, name, &about, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(about.st_mode)) return is_link(s, name);
  return SIM_OK;
}

sim_status cli_sweep_log(const sweep *s, size_t run, int *fd) {
  char name[32];
  struct stat about;
  snprintf(name, sizeof name, "run_%04zu.log", run + 1);
  *fd = openat(s->logs, name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0666);
  const int error = *fd < 0 || fstat(*fd, &about) != 0 ? errno : 0;
  if (error == 0 && S_ISREG(about.st_mode)) return SIM_OK;
  if (*fd >= 0) (void)close(*fd);
  *fd = -1;
  return sim_fail(SIM_ERR_CANT_CREATE, "%s/logs/%s: %s", s->folder, name,
                  error == ELOOP                 ? "is a symbolic link, and a sweep never follows one"
                  : error == 0 || error == ENXIO ? "not a regular file"
                                                 : strerror(error));
}

/* ---- files that are replaced atomically ---- */

/* The name is unique: other tasks of a job array may write the same file at the same time, also on other machines. */
FILE *cli_sweep_create(const sweep *s, const char *name, char temporary[96]) {
  int fd = -1;
  for (int tries = 0; fd < 0 && tries < 100; tries++) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(temporary, 96, ".%.40s.%ld-%09ld.tmp", name, (long)getpid(), now.tv_nsec);
    fd = openat(s->root, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0 && errno != EEXIST) return NULL;
  }
  FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
  if (!file && fd >= 0) (void)close(fd);
  return file;
}

sim_status cli_sweep_commit(const sweep *s, FILE *file, const char *name, const char *temporary) {
  errno = 0;
  bool good = fflush(file) == 0 && !ferror(file) && fsync(fileno(file)) == 0;
  int error = errno;
  if (fclose(file) != 0 && good) good = false, error = errno;
  if (good && renameat(s->root, temporary, s->root, name) != 0) good = false, error = errno;
  if (good) return SIM_OK;
  (void)unlinkat(s->root, temporary, 0);
  return sim_fail(SIM_ERR_IO, "%s/%s: %s", s->folder, name, error ? strerror(error) : "cannot be written");
}
