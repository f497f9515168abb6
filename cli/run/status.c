/* Reads status.json of runs, for sim status; and marks that of a run whose process could not. */
#include "cli/run/status.h"

#include "io/file.h"
#include "io/io.h"
#include "io/sys.h"

#include <jansson.h>

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILE_MAX = 1 << 20 };

sim_status cli_status_load(const char *folder, sim_bytes *out) {
  char path[4200];
  int fd;
  off_t size;
  size_t n = 0;
  snprintf(path, sizeof path, "%s/status.json", folder);
  if (io_file_open(AT_FDCWD, path, "status.json", &fd, &size) != SIM_OK)
    return sim_fail_context("%s: holds no run", folder);
  char *text = size <= FILE_MAX ? malloc((size_t)size + 1) : NULL;
  const int error = text ? io_sys_read(fd, text, (size_t)size, 0, &n) : size <= FILE_MAX ? ENOMEM : EFBIG;
  (void)close(fd);
  if (error == 0) sim_bytes_add(out, text, n);
  free(text);
  return error ? sim_fail(SIM_ERR_IO, "%s: %s", path, strerror(error)) : SIM_OK;
}

/* Reads the object in a folder's status.json; the caller releases *out with json_decref. */
static sim_status read_object(const char *folder, json_t **out) {
  sim_bytes text = {0};
  json_error_t error;
  *out = NULL;
  const sim_status status = cli_status_load(folder, &text);
  if (status == SIM_OK) *out = json_loadb(text.data ? text.data : "", text.size, 0, &error);
  sim_bytes_free(&text);
  SIM_TRY(status);
  if (json_is_string(json_object_get(*out, "state"))) return SIM_OK;
  if (*out)
    sim_fail(SIM_ERR_NO_INPUT, "%s/status.json: is not the status of a run: it has no \"state\"", folder);
  else
    sim_fail(SIM_ERR_NO_INPUT, "%s/status.json: is not the status of a run: not JSON in line %d", folder, error.line);
  json_decref(*out);
  return SIM_ERR_NO_INPUT;
}

static void text_of(const json_t *object, const char *key, char *out, size_t capacity) {
  const char *text = json_string_value(json_object_get(object, key));
  snprintf(out, capacity, "%s", text ? text : "");
}

/* Returns a number; NaN if the key is absent or not a number. */
static double number_of(const json_t *object, const char *key) {
  const json_t *value = json_object_get(object, key);
  return json_is_number(value) ? json_number_value(value) : NAN;
}

/* Whether the process of a run has ended without a final status. */
static bool is_lost(const json_t *object, const char *folder) {
  const char *state = json_string_value(json_object_get(object, "state"));
  return state && strcmp(state, "running") == 0 && !io_folder_held(folder);
}

sim_status cli_status_read(const char *folder, cli_status *out) {
  json_t *object;
  *out = (cli_status){.exit_code = -1};
  SIM_TRY(read_object(folder, &object));
  text_of(object, "state", out->state, sizeof out->state);
  text_of(object, "phase", out->phase, sizeof out->phase);
  text_of(object, "digest", out->digest, sizeof out->digest);
  text_of(object, "host", out->host, sizeof out->host);
  text_of(object, "job", out->job, sizeof out->job);
  text_of(object, "rate_unit", out->rate_unit, sizeof out->rate_unit);
  text_of(object, "expected_end", out->expected_end, sizeof out->expected_end);
  text_of(object, "updated", out->updated, sizeof out->updated);
  out->t = number_of(object, "time");
  out->t_end = number_of(object, "t_end");
  out->rate = number_of(object, "rate");
  out->checkpoint_t = json_object_get(object, "checkpoint_step") ? number_of(object, "checkpoint_time") : 0;
  const json_t *step = json_object_get(object, "step"), *checkpoint = json_object_get(object, "checkpoint_step");
  out->step = json_is_integer(step) ? json_integer_value(step) : -1;
  out->checkpoint_step = json_is_integer(checkpoint) ? json_integer_value(checkpoint) : -1;
  const double code = number_of(object, "exit_code");
  if (code >= 0 && code < 256) out->exit_code = (int)code;
  if (is_lost(object, folder)) snprintf(out->state, sizeof out->state, "lost");
  json_decref(object);
  return SIM_OK;
}

/* Writes a value as JSON, with the shortest digits that give the same numbers: 0.1, not 0.10000000000000001. NULL: out
 * of memory. */
static char *shortest_json(const json_t *value) {
  char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
  json_t *again = text ? json_loads(text, JSON_DECODE_ANY, NULL) : NULL;
  if (!json_equal(value, again)) {
    free(text);
    text = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));
  }
  json_decref(again);
  return text;
}

/* Whether a process has left its run without a final status. */
static bool left_by(const json_t *object, long process) {
  const char *state = json_string_value(json_object_get(object, "state"));
  return state && strcmp(state, "running") == 0 && json_integer_value(json_object_get(object, "pid")) == process;
}

void cli_status_fail(const char *path, long process, sim_status status, const char *message) {
  static const char *const past[] = {"eta", "expected_end", "phase"};
  const sim_error cause = *sim_error_last();
  json_t *object = NULL;
  io_folder *folder = NULL;
  char *text = NULL;
  bool left = read_object(path, &object) == SIM_OK && left_by(object, process);
  json_decref(object);
  object = NULL;
  left = left && io_folder_open(path, IO_FOLDER_RESUME, &folder) == SIM_OK; /* nobody changes it from now on */
  if (left && read_object(path, &object) == SIM_OK && left_by(object, process)) {
    (void)json_object_set_new(object, "state", json_string("failed"));
    (void)json_object_set_new(object, "exit_code", json_integer(sim_status_exit_code(status)));
    (void)json_object_set_new(object, "message", json_string(message));
    for (size_t k = 0; k < sizeof past / sizeof *past; k++) (void)json_object_del(object, past[k]);
    text = shortest_json(object);
    sim_bytes file = {0};
    if (text) sim_bytes_format(&file, "%s\n", text);
    if (text && !file.failed) (void)!io_folder_write(folder, "status.json", file.data, file.size);
    sim_bytes_free(&file);
  }
  if (folder) io_folder_close(&folder);
  free(text);
  json_decref(object);
  sim_fail_at(cause.status, cause.file, cause.line, "%s", cause.message);
}

/* Prints the value of one key: a string without quotes, other values as JSON, an empty line if the key is absent. */
static sim_status show_value(const char *folder, const char *key) {
  char line[4200];
  json_t *object;
  SIM_TRY(read_object(folder, &object));
  const json_t *value = json_object_get(object, key);
  char *json = json_is_string(value) || !value ? NULL : shortest_json(value);
  const char *text = json_is_string(value) ? json_string_value(value) : json ? json : "";
  if (strcmp(key, "state") == 0 && is_lost(object, folder)) text = "lost"; /* as in the table */
  sim_text_escape(line, sizeof line, text, strlen(text));
  puts(line);
  free(json);
  json_decref(object);
  return SIM_OK;
}

/* ---- the table ---- */

enum { COLUMNS = 8, CELL = 300 };
static const char *const heads[COLUMNS] = {"run", "state", "done", "rate", "ends", "updated", "job", "host"};

/* Fraction of the run that is done. For an interrupted run it is that of the newest checkpoint, because the rest is
 * computed again. NaN: unknown. */
static double share_done(const cli_status *s) {
  if (strcmp(s->state, "done") == 0) return 1;
  if (!(s->t_end > 0)) return NAN;
  return fmax(0, fmin(1, (strcmp(s->state, "running") == 0 ? s->t : s->checkpoint_t) / s->t_end));
}

/* Writes the cells of a run's row. Names of files and folders may come from others, so control characters are
 * escaped. */
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

/* Keeps the last failure for the caller to return, and prints the ones before. Returns whether `status` is SIM_OK. */
static bool keep_last_failure(sim_status status, sim_error *failure) {
  if (status == SIM_OK) return true;
  if (failure->status != SIM_OK) cli_report(failure->status, failure->message, false);
  *failure = *sim_error_last();
  return false;
}

static sim_status show_table(const char *const *folders, int count, sim_error *failure) {
  size_t width[COLUMNS] = {0};
  char(*cells)[COLUMNS][CELL] = calloc((size_t)count + 1, sizeof *cells);
  if (!cells) return sim_no_memory("a table of %d runs", count);
  for (int c = 0; c < COLUMNS; c++) snprintf(cells[0][c], CELL, "%s", heads[c]);
  int rows = 1;
  for (int i = 0; i < count; i++) {
    cli_status status;
    if (!keep_last_failure(cli_status_read(folders[i], &status), failure)) continue;
    cells_of(folders[i], &status, cells[rows++]);
  }
  for (int i = 0; i < rows; i++)
    for (int c = 0; c < COLUMNS; c++)
      if (strlen(cells[i][c]) > width[c]) width[c] = strlen(cells[i][c]);
  for (int i = 0; i < rows && rows > 1; i++) {
    for (int c = 0; c + 1 < COLUMNS; c++) printf("%-*s  ", (int)width[c], cells[i][c]);
    puts(cells[i][COLUMNS - 1]);
  }
  free(cells);
  return SIM_OK;
}

sim_status cli_status_show(const cli_options *options) {
  sim_error failure = {SIM_OK, NULL, 0, ""};
  if (options->value)
    for (int i = 0; i < options->target_count; i++)
      (void)keep_last_failure(show_value(options->targets[i], options->value), &failure);
  else
    SIM_TRY(show_table(options->targets, options->target_count, &failure));
  if (failure.status == SIM_OK) return SIM_OK;
  return sim_fail_at(failure.status, failure.file, failure.line, "%s", failure.message);
}
