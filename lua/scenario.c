/* Loads a scenario: reads the text, runs it in a child process, reads the reply, and adds line numbers. */
#include "lua/internal.h"

#include "engine/log.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A child that gets no processor time for so long is given up, in units of its limit of processor time. One that gets
 * little, on a busy machine, goes on until it has used what it may. */
static const double wall_factor = 20;
static const size_t reply_max = (size_t)512 << 20;

typedef struct script_reply {
  sim_bytes bytes;
  int exit; /* status from waitpid; 0 if another part of the program has waited for the child */
  bool late, oversized;
  bool spare;    /* the process is one of spare.c, which knows its status */
  bool told;     /* the status is known already */
  size_t looked; /* bytes of whole frames that were looked at */
  bool more;     /* the process waits for another script after the last frame */
  bool complete; /* the last frame has come, and the process waits for another script */
} script_reply;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Processor time of another process in seconds; 0 where it cannot be read. */
static double used_by(pid_t pid) {
  clockid_t clock;
  struct timespec time;
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0) return 0;
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Looks at the frames that have come as a whole, and sets `complete`. */
static void look_at_frames(script_reply *out) {
  uint64_t size;
  while (!out->complete && out->bytes.size - out->looked >= 9) {
    const char *at = (const char *)out->bytes.data + out->looked;
    memcpy(&size, at + 1, sizeof size);
    if (size > out->bytes.size - out->looked - 9) return;
    out->more |= *at == SCENARIO_FRAME_MORE;
    out->looked += 9 + (size_t)size;
    out->complete = out->more && *at == SCENARIO_FRAME_VALUE;
  }
}

/* Reads until the child closes its end of the pipe or waits for another script, or gets no processor time for
 * `patience` seconds. */
static sim_status read_reply(int fd, pid_t pid, double patience, script_reply *out) {
  char buffer[65536];
  double deadline = now() + patience, used = used_by(pid);
  for (;;) {
    double left = deadline - now();
    if (left <= 0) {
      const double before = used;
      used = used_by(pid);
      out->late = used <= before;
      left = patience;
      deadline = now() + patience;
    }
    out->oversized = out->bytes.size > reply_max;
    if (out->late || out->oversized) return SIM_OK;
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    int ready = poll(&wait, 1, (int)fmin(left * 1e3 + 1, 60e3));
    if (ready < 0 && errno != EINTR) return sim_fail(SIM_ERR_IO, "poll: %s", strerror(errno));
    if (ready <= 0) continue;
    ssize_t got = read(fd, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == ECONNRESET) return SIM_OK; /* a spare process has ended before it read all */
    if (got < 0) return sim_fail(SIM_ERR_IO, "cannot read from the script's process: %s", strerror(errno));
    if (got == 0) return SIM_OK;
    sim_bytes_add(&out->bytes, buffer, (size_t)got);
    if (out->bytes.failed) return sim_no_memory("the scenario's values");
    look_at_frames(out);
    if (out->complete) return SIM_OK;
  }
}

/* Runs the script in a spare process; false where there is none, or one that was killed before it said anything. */
static bool run_spare(const scenario *loaded, const scenario_options *options, script_reply *out, sim_status *status) {
  pid_t pid;
  const int fd = scenario_spare_take(loaded->text, loaded->size, options, &pid);
  if (fd < 0) return false;
  *status = read_reply(fd, pid, wall_factor * options->seconds, out);
  if (out->complete && out->looked == out->bytes.size)
    scenario_spare_keep(fd, pid);
  else
    close(fd);
  if (*status != SIM_OK || out->late || out->oversized) kill(pid, SIGKILL);
  const bool silent = *status == SIM_OK && !out->late && out->bytes.size == 0;
  out->told = silent && scenario_spare_end(&out->exit);
  const bool killed = out->told && WIFSIGNALED(out->exit) && WTERMSIG(out->exit) == SIGKILL;
  if (silent && (killed || !out->told)) return false;
  out->spare = true;
  return true;
}

static sim_status run_child(const scenario *loaded, const scenario_options *options, script_reply *out) {
  int ends[2];
  sim_status status;
  if (run_spare(loaded, options, out, &status)) return status;
  if (pipe2(ends, O_CLOEXEC) != 0)
    return sim_fail(SIM_ERR_IO, "%s: no pipe to the script's process: %s", loaded->path, strerror(errno));
  pid_t pid = fork();
  if (pid == 0) scenario_child_run(loaded->text, loaded->size, options, ends[1]);
  int error = errno;
  close(ends[1]);
  if (pid < 0) {
    close(ends[0]);
    return sim_fail(SIM_ERR_IO, "%s: no process for the script: %s", loaded->path, strerror(error));
  }
  status = read_reply(ends[0], pid, wall_factor * options->seconds, out);
  close(ends[0]);
  if (status != SIM_OK || out->late || out->oversized) kill(pid, SIGKILL);
  while (waitpid(pid, &out->exit, 0) < 0)
    if (errno != EINTR) {
      out->exit = 0;
      break;
    }
  return status;
}

/* Reports why a child ended without sending a value or an error. */
static sim_status fail_exit(const scenario *loaded, const scenario_options *options, const script_reply *reply) {
  int number = WIFSIGNALED(reply->exit) ? WTERMSIG(reply->exit) : 0;
  if (number == SIGPROF || number == SIGXCPU)
    return sim_fail(SIM_ERR_SCENARIO, "%s: the script used more than %g s of processor time", loaded->path,
                    options->seconds);
  if (reply->late)
    return sim_fail(SIM_ERR_SCENARIO, "%s: the script's process got no processor time for %g s", loaded->path,
                    wall_factor * options->seconds);
  if (reply->oversized) return sim_fail(SIM_ERR_SCENARIO, "%s: the scenario holds too much, use a file", loaded->path);
  if (number)
    return sim_fail(SIM_ERR_SCENARIO, "%s: the script's process was ended by signal %d (%s)", loaded->path, number,
                    strsignal(number));
  return sim_fail(SIM_ERR_INTERNAL, "%s: the script's process gave no answer (exit status %d)", loaded->path,
                  WIFEXITED(reply->exit) ? WEXITSTATUS(reply->exit) : -1);
}

/* Reports the child's error, with path and line in place of the placeholders. */
static sim_status fail_reported(const scenario *loaded, const scenario_lines *lines, const char *data, size_t size) {
  sim_status status = size > 0 ? (sim_status)(unsigned char)data[0] : SIM_ERR_INTERNAL;
  if (status != SIM_ERR_SCENARIO && status != SIM_ERR_USAGE && status != SIM_ERR_NO_MEMORY) status = SIM_ERR_INTERNAL;
  sim_bytes text = {0};
  for (size_t i = 1; i < size; i++) {
    bool at_return = data[i] == SCENARIO_AT_RETURN[0];
    if (!at_return && data[i] != SCENARIO_AT_FILE[0]) {
      sim_bytes_add(&text, &data[i], 1);
      continue;
    }
    sim_bytes_text(&text, loaded->path);
    int line = scenario_lines_return(lines);
    if (at_return && line > 0) sim_bytes_format(&text, ":%d", line);
  }
  status = sim_fail(status, "%s", text.failed || !text.data ? "out of memory for an error message" : text.data);
  sim_bytes_free(&text);
  return status;
}

static void log_lines(const char *text, size_t size) {
  while (size > 0) {
    const char *end = memchr(text, '\n', size);
    size_t length = end ? (size_t)(end - text) : size;
    sim_log(SIM_LOG_INFO, "print: %.*s", (int)length, text);
    length += end != NULL;
    text += length;
    size -= length;
  }
}

static sim_status take_frames(scenario *loaded, const scenario_lines *lines, const script_reply *reply) {
  const char *at = reply->bytes.data;
  size_t left = reply->bytes.size;
  while (left >= 9 && !loaded->value) {
    uint64_t size;
    char kind = *at;
    memcpy(&size, at + 1, sizeof size);
    at += 9;
    left -= 9;
    if (size > left) break;
    switch (kind) {
    case SCENARIO_FRAME_PRINT: log_lines(at, size); break;
    case SCENARIO_FRAME_ERROR: return fail_reported(loaded, lines, at, size);
    case SCENARIO_FRAME_PARAMS:
      sim_value_free(&loaded->params);
      SIM_TRY(sim_value_read(at, size, &loaded->params));
      break;
    case SCENARIO_FRAME_MORE: break;
    case SCENARIO_FRAME_VALUE: SIM_TRY(sim_value_read(at, size, &loaded->value)); break;
    default: return sim_fail(SIM_ERR_INTERNAL, "%s: the script's process gave an invalid answer", loaded->path);
    }
    at += size;
    left -= size;
  }
  return SIM_OK;
}

static sim_status check_duplicates(const scenario *loaded, const scenario_lines *lines) {
  scenario_duplicate duplicate = scenario_lines_duplicate(lines);
  if (!duplicate.key) return SIM_OK;
  char key[SCENARIO_NAME_MAX];
  sim_text_escape(key, sizeof key, duplicate.key, duplicate.size);
  return sim_fail(SIM_ERR_SCENARIO, "%s:%d: key '%s' is given twice (first at line %d)", loaded->path, duplicate.line,
                  key, duplicate.first);
}

/* Checks the root of the tree. */
static sim_status check_root(const scenario *loaded) {
  const sim_value *value = loaded->value;
  if (value->kind == SIM_VALUE_TABLE && value->u.table.tag && loaded->params) return SIM_OK;
  if (value->kind != SIM_VALUE_BAD)
    return sim_fail(SIM_ERR_INTERNAL, "%s: the script's process gave no model", loaded->path);
  return sim_fail(SIM_ERR_SCENARIO, "%s:%d: expected a table of names, got %s", loaded->path, value->line,
                  value->u.string.data);
}

static sim_status load(scenario *loaded, const scenario_options *options, scenario_lines **lines, script_reply *reply) {
  SIM_TRY(scenario_read_text(loaded->path, &loaded->text, &loaded->size));
  SIM_TRY(run_child(loaded, options, reply));
  *lines = scenario_lines_read(loaded->text, loaded->size);
  if (!*lines) return sim_no_memory("the text of %s", loaded->path);
  SIM_TRY(take_frames(loaded, *lines, reply));
  sim_bytes_free(&reply->bytes);
  if (!loaded->value && reply->spare && !reply->told) (void)scenario_spare_end(&reply->exit);
  if (!loaded->value) return fail_exit(loaded, options, reply);
  SIM_TRY(check_duplicates(loaded, *lines));
  scenario_lines_apply(*lines, loaded->value);
  return check_root(loaded);
}

sim_status scenario_load(const char *path, const scenario_options *options, scenario *out) {
  *out = (scenario){.path = strdup(path)};
  if (!out->path) return sim_no_memory("a path");
  scenario_lines *lines = NULL;
  script_reply reply = {0};
  sim_status status = load(out, options, &lines, &reply);
  scenario_lines_free(&lines);
  sim_bytes_free(&reply.bytes);
  return status;
}

void scenario_free(scenario *loaded) {
  free(loaded->path);
  free(loaded->text);
  sim_value_free(&loaded->value);
  sim_value_free(&loaded->params);
  *loaded = (struct scenario){0};
}
