/* Messages and progress of a run: on the terminal, in run.log, and for programs in run.jsonl. */
#include "cli/run/status.h"
#include "engine/wall_clock.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { BAR_WIDTH = 24 };
static const double line_interval = 60; /* seconds between progress lines without a progress bar */

static struct {
  bool mute;
  bool quiet, verbose, json, bar; /* json: messages on stderr are JSON; bar: stderr can show a progress bar */
  bool bar_shown;
  int text_file, json_file; /* -1: none */
  double last_line, last_json;
} terminal = {.text_file = -1, .json_file = -1};
/* Protects the state: messages may come from the writer thread. It is not held while a message is sent. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int stdout_error; /* errno of the first line of cli_say that could not be written; 0: none */

static void put(int descriptor, const char *text, size_t size) {
  while (descriptor >= 0 && size > 0) {
    ssize_t n = write(descriptor, text, size);
    if (n <= 0) return; /* a log that cannot be written does not end the run */
    text += n;
    size -= (size_t)n;
  }
}

static void clear_bar(void) {
  if (!terminal.bar_shown) return;
  put(STDERR_FILENO, "\r\033[K", 4);
  terminal.bar_shown = false;
}

static void time_text(char out[32]) {
  time_t now = time(NULL);
  struct tm parts;
  gmtime_r(&now, &parts);
  strftime(out, 32, "%Y-%m-%dT%H:%M:%SZ", &parts);
}

static void message_json(sim_bytes *out, const char *now, sim_log_level level, const char *message) {
  sim_bytes_format(out, "{\"time\": \"%s\", \"level\": \"%s\", \"message\": ", now, sim_log_level_name(level));
  sim_bytes_json_string(out, message, strlen(message));
  sim_bytes_text(out, "}\n");
}

static void note(sim_log_level level, const char *message) {
  char now[32];
  time_text(now);
  sim_bytes text = {0}, json = {0};
  sim_bytes_format(&text, "%s %-7s %s\n", now, sim_log_level_name(level), message);
  message_json(&json, now, level, message);
  put(terminal.text_file, text.data, text.size);
  put(terminal.json_file, json.data, json.size);
  sim_bytes_free(&text);
  sim_bytes_free(&json);
}

void cli_terminal_note(sim_log_level level, const char *message) {
  pthread_mutex_lock(&lock);
  note(level, message);
  pthread_mutex_unlock(&lock);
}

static void show(sim_log_level level, const char *message) {
  sim_log_level most = terminal.quiet ? SIM_LOG_ERROR : terminal.verbose ? SIM_LOG_DEBUG : SIM_LOG_INFO;
  if (level > most) return;
  char now[32];
  time_text(now);
  sim_bytes line = {0};
  if (terminal.json)
    message_json(&line, now, level, message);
  else
    sim_bytes_format(&line, "sim: %s%s%s\n", level <= SIM_LOG_WARN ? sim_log_level_name(level) : "",
                     level <= SIM_LOG_WARN ? ": " : "", message);
  clear_bar();
  put(STDERR_FILENO, line.data, line.size);
  sim_bytes_free(&line);
}

static void on_message(void *context, sim_log_level level, const char *message) {
  (void)context;
  pthread_mutex_lock(&lock);
  note(level, message);
  show(level, message);
  pthread_mutex_unlock(&lock);
}

void cli_terminal_mute(void) { terminal.mute = true; }
void cli_terminal_unmute(void) { terminal.mute = false; }
bool cli_terminal_muted(void) { return terminal.mute; }

void cli_terminal_start(const cli_options *options) {
  if (terminal.mute) return;
  terminal.quiet = options->verbosity < 0;
  terminal.verbose = options->verbosity > 0;
  terminal.json = options->log_json;
  const char *kind = getenv("TERM");
  bool able = isatty(STDERR_FILENO) && kind && strcmp(kind, "dumb") != 0;
  terminal.bar = able && !terminal.quiet && !options->no_progress && !options->log_json;
  sim_log_add(on_message, NULL);
}

void cli_terminal_files(int text, int json) {
  terminal.text_file = text;
  terminal.json_file = json;
  terminal.last_line = terminal.last_json = sim_wall_clock();
}

void cli_terminal_stop(void) {
  clear_bar();
  sim_log_remove(on_message, NULL);
  if (terminal.text_file >= 0) close(terminal.text_file);
  if (terminal.json_file >= 0) close(terminal.json_file);
  terminal.text_file = terminal.json_file = -1;
}

static sim_bytes *captured; /* NULL: reports are printed */

void cli_terminal_capture(sim_bytes *lines) { captured = lines; }

void cli_report(sim_status status, const char *message, bool json) {
  if (terminal.mute) return;
  if (captured) {
    sim_bytes_format(captured, "%s%s", captured->size > 0 ? "\n" : "", message);
    return;
  }
  if (json) {
    sim_bytes line = {0};
    sim_bytes_format(&line, "{\"level\": \"error\", \"exit_code\": %d, \"message\": ", sim_status_exit_code(status));
    sim_bytes_json_string(&line, message, strlen(message));
    fprintf(stderr, "%s}\n", line.data ? line.data : "");
    sim_bytes_free(&line);
  } else {
    fprintf(stderr, "%s%s\n", status == SIM_ERR_SCENARIO ? "" : "sim: ", message);
  }
}

void cli_say(const char *format, ...) {
  char raw[1024], line[1024];
  va_list arguments;
  if (terminal.mute) return;
  va_start(arguments, format);
  vsnprintf(raw, sizeof raw, format, arguments);
  va_end(arguments);
  sim_text_escape(line, sizeof line, raw, strlen(raw)); /* names of files and values may contain any characters */
  pthread_mutex_lock(&lock);
  put(terminal.text_file, line, strlen(line));
  put(terminal.text_file, "\n", 1);
  if (!terminal.quiet && !terminal.json) {
    clear_bar();
    puts(line);
    if (fflush(stdout) != 0 && stdout_error == 0) stdout_error = errno;
  }
  pthread_mutex_unlock(&lock);
}

int cli_stdout_error(void) {
  const bool failed = ferror(stdout) != 0; /* an earlier write failed, and its errno is lost */
  if (fflush(stdout) != 0 && stdout_error == 0) stdout_error = errno;
  return stdout_error ? stdout_error : failed ? EIO : 0;
}

/* Columns of the terminal; 0 if a bar would disturb, as another job is in the foreground. */
static size_t columns(void) {
  struct winsize size;
  if (tcgetpgrp(STDERR_FILENO) != getpgrp()) return 0;
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/* ---- formatted figures ---- */

void cli_duration(double seconds, char *out, size_t capacity) {
  if (!isfinite(seconds) || seconds > 1e9)
    snprintf(out, capacity, "?");
  else if (seconds < 10)
    snprintf(out, capacity, "%.2g s", seconds);
  else if (seconds < 120)
    snprintf(out, capacity, "%.0f s", seconds);
  else if (seconds < 7200)
    snprintf(out, capacity, "%d min %02d s", (int)(seconds / 60), (int)fmod(seconds, 60));
  else
    snprintf(out, capacity, "%d h %02d min", (int)(seconds / 3600), (int)fmod(seconds / 60, 60));
}

void cli_bytes(double bytes, char *out, size_t capacity) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  int unit = 0;
  for (; bytes >= 1024 && unit < 6; unit++) bytes /= 1024;
  snprintf(out, capacity, unit ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
}

void cli_rate(double rate, const char *unit, char *out, size_t capacity) {
  snprintf(out, capacity, "%.3g %s/s", rate, unit);
}

/* ---- progress ---- */

static void progress_json(const sim_progress *p, const char *work_unit, bool to_terminal) {
  char now[32];
  time_text(now);
  sim_bytes line = {0};
  sim_bytes_format(&line,
                   "{\"time\": \"%s\", \"event\": \"progress\", \"step\": %lld, \"t\": %.17g, \"fraction\": %.6g", now,
                   (long long)p->clock.step, p->clock.t, p->fraction);
  sim_bytes_format(&line, ", \"rate\": %.6g, \"rate_unit\": \"%s/s\", \"elapsed\": %.3f", p->rate, work_unit,
                   p->elapsed);
  if (isfinite(p->eta)) sim_bytes_format(&line, ", \"eta\": %.3f", p->eta);
  cli_health_text(p, &line);
  sim_bytes_text(&line, "}\n");
  put(terminal.json_file, line.data, line.size);
  if (to_terminal) put(STDERR_FILENO, line.data, line.size);
  sim_bytes_free(&line);
}

void cli_terminal_event(const char *event, const sim_clock *clock, const char *digest) {
  char now[32];
  time_text(now);
  sim_bytes line = {0};
  sim_bytes_format(&line, "{\"time\": \"%s\", \"event\": \"%s\", \"step\": %lld, \"t\": %.17g, \"t_end\": %.17g", now,
                   event, (long long)clock->step, clock->t, clock->t_end);
  if (*digest) sim_bytes_format(&line, ", \"digest\": \"%s\"", digest);
  sim_bytes_text(&line, "}\n");
  pthread_mutex_lock(&lock);
  put(terminal.json_file, line.data, line.size);
  if (terminal.json) put(STDERR_FILENO, line.data, line.size);
  pthread_mutex_unlock(&lock);
  sim_bytes_free(&line);
}

static void show_bar(double fraction, const char *text) {
  char line[256], bar[BAR_WIDTH + 1];
  size_t room = columns(), used = strlen(text), wide = room > used + 5 ? room - used - 5 : 0;
  if (wide > BAR_WIDTH) wide = BAR_WIDTH;
  size_t full = (size_t)(fraction * (double)wide);
  for (size_t i = 0; i < wide; i++) bar[i] = i < full ? '#' : '.';
  bar[wide] = '\0';
  int n = snprintf(line, sizeof line, wide > 3 ? "[%s] %s" : "%.0s%s", bar, text);
  used = n > 0 && (size_t)n < sizeof line ? (size_t)n : 0;
  if (room < 10) return;
  put(STDERR_FILENO, "\r\033[K", 4);
  put(STDERR_FILENO, line, used < room ? used : room - 1);
  terminal.bar_shown = true;
}

void cli_terminal_progress(const sim_progress *p, const char *work_unit) {
  char eta[32], rate[64], health[64] = "", text[224];
  double now = sim_wall_clock();
  cli_duration(p->eta, eta, sizeof eta);
  cli_rate(p->rate, work_unit, rate, sizeof rate);
  if (p->health_name && isfinite(p->health)) snprintf(health, sizeof health, "  %s %.2g", p->health_name, p->health);
  snprintf(text, sizeof text, "%3.0f %%  t %.4g  %s  ETA %s%s", 100 * p->fraction, p->clock.t, rate, eta, health);
  pthread_mutex_lock(&lock);
  bool minute = now - terminal.last_line >= line_interval;
  if (minute) terminal.last_line = now;
  if (minute || now - terminal.last_json >= 10) {
    terminal.last_json = now;
    progress_json(p, work_unit, terminal.json && minute);
  }
  if (terminal.bar) show_bar(p->fraction, text);
  pthread_mutex_unlock(&lock);
  if (minute && !terminal.bar && !terminal.json)
    sim_log(SIM_LOG_INFO, "%.0f %%  step %lld  t %.4g  %s  ETA %s%s", 100 * p->fraction, (long long)p->clock.step,
            p->clock.t, rate, eta, health);
}
