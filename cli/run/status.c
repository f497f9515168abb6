/* status.json, as others than its run read it: a table of many runs. */
#include "cli/run/status.h"

#include "cli/cli.h"
#include "io/file.h"
#include "io/io.h"
#include "io/sys.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The value of a key in a flat object as cli_status_text writes it, without quotes; "" where there is none. */
static void value_of(const char *json, const char *key, char *out, size_t capacity) {
  char quoted[64];
  size_t used = 0;
  snprintf(quoted, sizeof quoted, "\"%s\": ", key);
  const char *at = strstr(json, quoted);
  at = at ? at + strlen(quoted) : "";
  bool text = *at == '"';
  for (at += text; *at && used + 1 < capacity; at++) {
    if (text ? *at == '"' : strchr(",}\n", *at) != NULL) break;
    if (text && *at == '\\' && at[1]) at++;
    out[used++] = *at;
  }
  out[used] = '\0';
}

static double number_of(const char *json, const char *key) {
  char text[64], *end;
  value_of(json, key, text, sizeof text);
  double value = strtod(text, &end);
  return end == text ? NAN : value;
}

sim_status cli_status_read(const char *folder, cli_status *out) {
  char path[4200], text[8192];
  *out = (cli_status){.exit_code = -1};
  snprintf(path, sizeof path, "%s/status.json", folder);
  int fd;
  off_t size;
  size_t n;
  if (io_file_open(AT_FDCWD, path, "status.json", &fd, &size) != SIM_OK)
    return sim_fail_context("%s: holds no run", folder);
  const int error = io_sys_read(fd, text, sizeof text - 1, 0, &n);
  (void)close(fd);
  if (error) return sim_fail(SIM_ERR_IO, "%s: %s", path, strerror(error));
  text[n] = '\0';
  value_of(text, "state", out->state, sizeof out->state);
  if (!*out->state) return sim_fail(SIM_ERR_NO_INPUT, "%s: is not a status of a run", path);
  value_of(text, "model", out->model, sizeof out->model);
  value_of(text, "digest", out->digest, sizeof out->digest);
  value_of(text, "host", out->host, sizeof out->host);
  value_of(text, "job", out->job, sizeof out->job);
  value_of(text, "rate_unit", out->rate_unit, sizeof out->rate_unit);
  value_of(text, "expected_end", out->expected_end, sizeof out->expected_end);
  value_of(text, "updated", out->updated, sizeof out->updated);
  value_of(text, "message", out->message, sizeof out->message);
  out->t = number_of(text, "time");
  out->t_end = number_of(text, "t_end");
  out->rate = number_of(text, "rate");
  value_of(text, "phase", out->phase, sizeof out->phase);
  out->checkpoint_t = number_of(text, "checkpoint_time");
  if (isnan(number_of(text, "checkpoint_step"))) out->checkpoint_t = 0;
  double code = number_of(text, "exit_code");
  if (code >= 0 && code < 256) out->exit_code = (int)code;
  if (strcmp(out->state, "running") == 0 && !io_folder_held(folder)) snprintf(out->state, sizeof out->state, "lost");
  return SIM_OK;
}

/* ---- the table ---- */

enum { COLUMNS = 8, CELL = 300 };
static const char *const heads[COLUMNS] = {"run", "state", "done", "rate", "ends", "updated", "job", "host"};

/* Share of the run that is done. Of a run that ended before its end, what its newest checkpoint holds: the rest is to
 * be computed again. NaN: not known. */
static double share_done(const cli_status *s) {
  if (strcmp(s->state, "done") == 0) return 1;
  if (!(s->t_end > 0)) return NAN;
  return fmax(0, fmin(1, (strcmp(s->state, "running") == 0 ? s->t : s->checkpoint_t) / s->t_end));
}

/* Others may have written the file, and named the folder: no control character reaches the terminal. */
static void cells_of(const char *folder, const cli_status *s, char cells[COLUMNS][CELL]) {
  for (int c = 0; c < COLUMNS; c++) cells[c][0] = '\0';
  bool running = strcmp(s->state, "running") == 0;
  snprintf(cells[0], CELL, "%s", folder);
  if (running && *s->phase)
    snprintf(cells[1], CELL, "starting");
  else if (running || strcmp(s->state, "done") == 0 || s->exit_code < 0 || strcmp(s->state, "lost") == 0)
    snprintf(cells[1], CELL, "%s", s->state);
  else
    snprintf(cells[1], CELL, "%s %d", s->state, s->exit_code);
  const double share = share_done(s);
  if (!isnan(share)) snprintf(cells[2], CELL, "%.0f %%", share < 1 ? fmin(99, 100 * share) : 100);
  if (running && s->rate > 0) snprintf(cells[3], CELL, "%.3g %s", s->rate, s->rate_unit);
  if (running) snprintf(cells[4], CELL, "%s", s->expected_end);
  snprintf(cells[5], CELL, "%s", s->updated);
  snprintf(cells[6], CELL, "%s", s->job);
  snprintf(cells[7], CELL, "%s", s->host);
  for (int c = 0; c < COLUMNS; c++) {
    char raw[CELL];
    memcpy(raw, cells[c], CELL);
    sim_text_escape(cells[c], CELL, raw, strlen(raw));
  }
}

sim_status cli_status_show(const char *const *folders) {
  size_t count = 0, width[COLUMNS] = {0};
  while (folders[count]) count++;
  char(*cells)[COLUMNS][CELL] = calloc(count + 1, sizeof *cells);
  cli_status *all = calloc(count + 1, sizeof *all);
  if (!cells || !all) {
    free(cells);
    free(all);
    return sim_no_memory("a table of %zu runs", count);
  }
  sim_error failure = {SIM_OK, NULL, 0, ""};
  for (int c = 0; c < COLUMNS; c++) snprintf(cells[0][c], CELL, "%s", heads[c]);
  size_t rows = 1;
  for (size_t i = 0; i < count; i++) {
    if (cli_status_read(folders[i], &all[rows]) == SIM_OK) {
      cells_of(folders[i], &all[rows], cells[rows]);
      rows++;
      continue;
    }
    if (failure.status != SIM_OK) cli_report(failure.status, failure.message, false);
    failure = *sim_error_last();
  }
  for (size_t i = 0; i < rows; i++)
    for (int c = 0; c < COLUMNS; c++)
      if (strlen(cells[i][c]) > width[c]) width[c] = strlen(cells[i][c]);
  for (size_t i = 0; i < rows && rows > 1; i++) {
    for (int c = 0; c + 1 < COLUMNS; c++) printf("%-*s  ", (int)width[c], cells[i][c]);
    puts(cells[i][COLUMNS - 1]);
  }
  free(cells);
  free(all);
  if (failure.status == SIM_OK) return SIM_OK;
  return sim_fail_at(failure.status, failure.file, failure.line, "%s", failure.message);
}
