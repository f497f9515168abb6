#include "io/input/foreign.h"

#include "engine/device/backend.h"
#include "engine/confine.h"
#include "io/seal.h"
#include "io/sys.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- the file ---- */

/* Detects the format by its signature at the beginning; that of HDF5 may follow a user block of 512, 1024, 2048 ...
 * bytes. */
static sim_status find_form(io_foreign *file) {
  static const unsigned char hdf5[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'}, png[] = {0x89, 'P', 'N', 'G'};
  for (off_t at = 0; at <= file->size && file->form == IO_FORM_OTHER; at = at ? 2 * at : 512) {
    unsigned char start[sizeof hdf5] = {0};
    size_t got;
    const int error = io_sys_read(file->fd, start, sizeof start, at, &got);
    if (error) return sim_fail(SIM_ERR_IO, "%s: %s", file->path, strerror(error));
    if (at == 0 && memcmp(start, png, sizeof png) == 0) file->form = IO_FORM_PNG;
    if (memcmp(start, hdf5, sizeof hdf5) == 0) {
      file->form = IO_FORM_HDF5;
      file->user_block = at;
    }
  }
  return SIM_OK;
}

/* Sets *found if a seal begins at an offset; if some of its letters are damaged, the others identify it. */
static sim_status find_seal(const io_foreign *file, off_t place, bool *found) {
  char start[sizeof IO_SEAL_MAGIC - 1] = {0};
  size_t got, same = 0;
  if (place < 0) return SIM_OK;
  const int error = io_sys_read(file->fd, start, sizeof start, place, &got);
  if (error) return sim_fail(SIM_ERR_IO, "%s: %s", file->path, strerror(error));
  for (size_t i = 0; i < sizeof start; i++) same += start[i] == IO_SEAL_MAGIC[i];
  *found |= same > sizeof start / 2;
  return SIM_OK;
}

static sim_status check_seal(io_foreign *file) {
  bool found = false;
  SIM_TRY(find_seal(file, 0, &found));
  SIM_TRY(find_seal(file, file->size - IO_SEAL_SIZE, &found));
  if (!found) return SIM_OK;
  const sim_status status = io_seal_check(file->fd, file->size, file->path);
  file->sealed = status == SIM_OK;
  if (status != SIM_ERR_INCOMPATIBLE) return status;
  char why[sizeof sim_error_last()->message];
  memcpy(why, sim_error_last()->message, sizeof why);
  return sim_fail(SIM_ERR_SCENARIO, "%s", why);
}

/* Limit of processor time for a file: ten seconds, plus one second for each 10 MB. The limit of elapsed time is 20
 * times as long, for slow disks and busy machines. */
static double seconds_for(const io_foreign *file) { return 10 + (double)file->size / 10e6; }

/* Limit of memory for a file: 1 GiB, plus the file's numbers in fp64 if they are compressed as well as is possible for
 * those of a simulation. */
static size_t memory_for(const io_foreign *file) {
  const double most = (double)sim_backend_cpu.memory_free();
  return (size_t)fmin(0x1p30 + 64 * (double)file->size, most);
}

sim_status io_foreign_open(const char *path, io_foreign *out) {
  *out = (io_foreign){.path = path, .fd = -1};
  SIM_TRY(io_file_open(AT_FDCWD, path, path, &out->fd, &out->size));
  out->seconds = seconds_for(out);
  out->room = memory_for(out);
  sim_status status = check_seal(out);
  if (status == SIM_OK) status = find_form(out);
  if (status != SIM_OK) io_foreign_close(out);
  return status;
}

void io_foreign_close(io_foreign *file) {
  if (file->fd >= 0) (void)close(file->fd);
  file->fd = -1;
}

/* ---- the child ---- */

typedef struct reply {
  int status;
  char message[1024];
} reply;

void io_foreign_send(int pipe, const void *data, size_t size) {
  const char *at = data;
  while (size > 0) {
    const ssize_t done = write(pipe, at, size);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) _exit(1);
    at += done;
    size -= (size_t)done;
  }
}

static void run_child(const io_foreign *file, const io_foreign_task *task, void *context, int pipe) {
  reply answer = {0};
  const bool order = file->fd < pipe;
  sim_confine(&(sim_confinement){
      .seconds = file->seconds, .memory = file->room, .keep = {order ? file->fd : pipe, order ? pipe : file->fd}});
  answer.status = task->parse(file, context);
  if (answer.status != SIM_OK) memcpy(answer.message, sim_error_last()->message, sizeof answer.message - 1);
  io_foreign_send(pipe, &answer, sizeof answer);
  if (answer.status == SIM_OK) task->send(context, pipe);
  _exit(0);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

sim_status io_foreign_take(int pipe, void *data, size_t size) {
  for (char *at = data; size > 0;) {
    const ssize_t got = read(pipe, at, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return SIM_ERR_IO; /* the child has ended; io_foreign_run reports why */
    at += got;
    size -= (size_t)got;
  }
  return SIM_OK;
}

/* Waits for the child's answer; false if the child ended without one, or too late. */
static bool wait_answer(int pipe, double seconds, bool *late) {
  const double deadline = now() + seconds;
  for (;;) {
    const double left = deadline - now();
    struct pollfd wait = {.fd = pipe, .events = POLLIN};
    *late = left <= 0;
    if (*late) return false;
    const int ready = poll(&wait, 1, (int)fmin(left * 1e3 + 1, 60e3));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

static sim_status say_end(const io_foreign *file, int end, bool late) {
  const int number = WIFSIGNALED(end) ? WTERMSIG(end) : 0;
  if (late || number == SIGPROF || number == SIGXCPU)
    return sim_fail(SIM_ERR_SCENARIO, "%s: reading takes more than %g s: the file is damaged or malicious", file->path,
                    file->seconds);
  if (number)
    return sim_fail(SIM_ERR_SCENARIO, "%s: its reader was ended by signal %d (%s): the file is damaged or malicious",
                    file->path, number, strsignal(number));
  return sim_fail(SIM_ERR_SCENARIO, "%s: its reader gave no answer (exit status %d): the file is damaged or malicious",
                  file->path, WIFEXITED(end) ? WEXITSTATUS(end) : -1);
}

static sim_status take_answer(const io_foreign_task *task, void *context, int pipe, bool *answered) {
  static const sim_status possible[] = {SIM_ERR_SCENARIO, SIM_ERR_IO, SIM_ERR_NO_MEMORY, SIM_ERR_PERMISSION};
  reply answer;
  *answered = io_foreign_take(pipe, &answer, sizeof answer) == SIM_OK;
  if (!*answered) return SIM_ERR_IO;
  if (answer.status == SIM_OK) {
    sim_error_clear();
    const sim_status status = task->take(context, pipe);
    *answered = status == SIM_OK || sim_error_last()->status != SIM_OK;
    return status;
  }
  answer.message[sizeof answer.message - 1] = '\0';
  sim_status status = SIM_ERR_SCENARIO;
  for (size_t i = 0; i < sizeof possible / sizeof *possible; i++)
    if (answer.status == (int)possible[i]) status = possible[i];
  return sim_fail(status, "%s", answer.message);
}

sim_status io_foreign_run(const io_foreign *file, const io_foreign_task *task, void *context) {
  int ends[2], end = 0;
  if (pipe2(ends, O_CLOEXEC) != 0)
    return sim_fail(SIM_ERR_IO, "%s: no pipe to its reader: %s", file->path, strerror(errno));
  const pid_t pid = fork();
  if (pid == 0) run_child(file, task, context, ends[1]);
  const int error = errno;
  (void)close(ends[1]);
  bool late = false, answered = false;
  sim_status status = SIM_OK;
  if (pid < 0)
    status = sim_fail(SIM_ERR_IO, "%s: no process to read it: %s", file->path, strerror(error));
  else if (wait_answer(ends[0], 20 * file->seconds, &late))
    status = take_answer(task, context, ends[0], &answered);
  (void)close(ends[0]);
  if (pid < 0) return status;
  if (!answered || status != SIM_OK) kill(pid, SIGKILL); /* has no effect on a child that has ended */
  while (waitpid(pid, &end, 0) < 0 && errno == EINTR) continue;
  return answered ? status : say_end(file, end, late);
}

/* ---- HDF5, in the child ---- */

sim_status io_foreign_hdf5(const io_foreign *file, io_vfd **vfd, hid_t *root) {
  const io_h5_source source = {file->path, SIM_ERR_SCENARIO};
  char software[64];
  *root = io_vfd_open(file->fd, file->path, vfd);
  if (*root < 0) return sim_fail(SIM_ERR_SCENARIO, "%s: an HDF5 file that is damaged or cut short", file->path);
  if (file->sealed) return SIM_OK;
  if (H5Aexists(*root, "seal") > 0)
    return sim_fail(SIM_ERR_SCENARIO, "%s: damaged: its seal is gone: cut short, or changed by another program",
                    file->path);
  if (file->user_block != IO_SEAL_SIZE) return SIM_OK;
  /* the file has room for a seal at its beginning, as in earlier versions, but the seal is missing */
  if (H5Aexists(*root, "software") > 0 &&
      io_h5_get_text(&source, *root, "software", software, sizeof software) == SIM_OK && strcmp(software, "sim") == 0)
    return sim_fail(SIM_ERR_SCENARIO, "%s: damaged: its seal is gone", file->path);
  return SIM_OK;
}

sim_status io_foreign_unit(const io_h5_source *source, hid_t object, const char *name, double *out) {
  *out = 1;
  if (H5Aexists(object, name) <= 0) return SIM_OK;
  hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
  hid_t space = attribute < 0 ? -1 : H5Aget_space(attribute), type = attribute < 0 ? -1 : H5Aget_type(attribute);
  const H5T_class_t class = type < 0 ? H5T_NO_CLASS : H5Tget_class(type);
  const bool read = space >= 0 && H5Sget_simple_extent_npoints(space) == 1 &&
                    (class == H5T_FLOAT || class == H5T_INTEGER) && H5Aread(attribute, H5T_NATIVE_DOUBLE, out) >= 0;
  const hid_t ids[] = {type, space, attribute};
  for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) io_h5_drop(ids[i]);
  if (!read) return io_h5_refuse(source, name, "is not a number");
  if (!(*out > 0) || !isfinite(*out)) return io_h5_refuse(source, name, "must be a positive number: it is a unit");
  return SIM_OK;
}

typedef struct latest {
  int64_t number;
  char *name;
  size_t capacity;
} latest;

static herr_t on_member(hid_t group, const char *name, const H5L_info_t *info, void *opaque) {
  latest *best = opaque;
  char *end;
  (void)group, (void)info;
  if (!isdigit((unsigned char)*name)) return 0;
  errno = 0;
  const int64_t number = strtoll(name, &end, 10);
  if (*end != '\0' || errno != 0 || number <= best->number || strlen(name) >= best->capacity) return 0;
  best->number = number;
  strcpy(best->name, name);
  return 0;
}

int64_t io_foreign_last(hid_t group, char *name, size_t capacity) {
  latest best = {-1, name, capacity};
  hsize_t at = 0;
  (void)H5Literate(group, H5_INDEX_NAME, H5_ITER_NATIVE, &at, on_member, &best);
  return best.number;
}
