/* Runs without a folder: they print the last row of each table as one JSON object. `sim run --json` makes one run; `sim
 * serve` makes one for each line that it reads, in one process, so that device, threads and compiled kernels are ready
 * from the second run on. */
#include "cli/prepare.h"
#include "cli/run/ranks.h"
#include "engine/device/compile.h"
#include "engine/device/cuda.h"

#include "engine/wall_clock.h"

#include <errno.h>
#include <malloc.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The last row of each table. */
typedef struct values {
  const sim_table *table[SIM_TABLES_MAX];
  double step[SIM_TABLES_MAX], time[SIM_TABLES_MAX], value[SIM_TABLES_MAX][SIM_COLUMNS_MAX];
  size_t count;
  sim_bytes warnings; /* JSON strings, separated by commas */
} values;

/* ---- one run ---- */

/* Keeps the rows of a frame; it is the `write` of a sim_sink. */
static sim_status keep(void *self, const sim_frame *frame) {
  values *v = self;
  for (size_t r = 0; r < frame->row_count; r++) {
    size_t k = 0;
    while (k < v->count && v->table[k] != frame->rows[r].table) k++;
    if (k == SIM_TABLES_MAX) return sim_fail(SIM_ERR_INTERNAL, "more than %d tables", SIM_TABLES_MAX);
    if (k == v->count) v->count++;
    v->table[k] = frame->rows[r].table;
    v->step[k] = (double)frame->clock.step;
    v->time[k] = frame->clock.t;
    int columns = 0;
    while (v->table[k]->columns[columns].name) columns++;
    if (columns > SIM_COLUMNS_MAX) return sim_fail(SIM_ERR_INTERNAL, "more than %d columns", SIM_COLUMNS_MAX);
    memcpy(v->value[k], frame->rows[r].values, (size_t)columns * sizeof(double));
  }
  return SIM_OK;
}

static void keep_warning(void *context, sim_log_level level, const char *message) {
  values *v = context;
  if (level > SIM_LOG_WARN) return;
  if (v->warnings.size > 0) sim_bytes_text(&v->warnings, ", ");
  sim_bytes_json_string(&v->warnings, message, strlen(message));
}

static void write_number(double value, sim_bytes *out) {
  if (isfinite(value))
    sim_bytes_format(out, "%.17g", value);
  else
    sim_bytes_text(out, "null");
}

static void write_axis(const sim_axis *axis, sim_bytes *out) {
  sim_bytes_format(out, "\"%s\": [", axis->name);
  for (int64_t i = 0; i < axis->count; i++) {
    if (i > 0) sim_bytes_text(out, ", ");
    if (axis->labels)
      sim_bytes_json_string(out, axis->labels[i], strlen(axis->labels[i]));
    else
      write_number(axis->values[i], out);
  }
  sim_bytes_text(out, "]");
}

/* Writes a variable: names of its axes, and its numbers in a row, the last axis fastest. */
static void write_variable(const sim_dataset *d, const sim_variable *variable, sim_bytes *out) {
  int64_t count = 1;
  sim_bytes_format(out, ", \"%s\": {\"axes\": [", variable->name);
  for (int k = 0; k < variable->rank; k++) {
    sim_bytes_format(out, "%s\"%s\"", k ? ", " : "", d->axes[variable->axis[k]].name);
    count *= d->axes[variable->axis[k]].count;
  }
  sim_bytes_text(out, "], \"values\": [");
  for (int64_t i = 0; i < count; i++) {
    if (i > 0) sim_bytes_text(out, ", ");
    write_number(variable->data[i], out);
  }
  sim_bytes_text(out, "]}");
}

/* Writes the datasets of a model, if there are any: , "datasets": {...}. */
static sim_status write_datasets(const sim_run *run, sim_bytes *out) {
  int i = 0;
  for (; run->model->dataset; i++) {
    sim_dataset d = {0};
    SIM_TRY(run->model->dataset(run->self, &run->clock, i, &d));
    if (!d.name) break;
    sim_bytes_format(out, "%s\"%s\": {\"axes\": {", i ? ", " : ", \"datasets\": {", d.name);
    for (int a = 0; a < d.axis_count; a++) {
      if (a > 0) sim_bytes_text(out, ", ");
      write_axis(&d.axes[a], out);
    }
    sim_bytes_text(out, "}");
    for (int v = 0; v < d.variable_count; v++) write_variable(&d, &d.variables[v], out);
    sim_bytes_text(out, "}");
  }
  if (i > 0) sim_bytes_text(out, "}");
  return SIM_OK;
}

static sim_status write_values(const cli_job *job, const sim_run *run, const values *v, sim_bytes *out) {
  sim_bytes_format(out, "{\"model\": \"%s\", \"precision\": \"%s\", \"device\": ", job->model->name,
                   sim_precision_name((sim_precision)cli_common(job)->precision));
  sim_bytes_json_string(out, job->device, strlen(job->device));
  sim_bytes_format(out, ", \"step\": %lld, \"t\": ", (long long)run->clock.step);
  write_number(run->clock.t, out);
  sim_bytes_format(out, ", \"digest\": \"%s\", \"warnings\": [%s], \"tables\": {", run->digest,
                   v->warnings.size > 0 ? v->warnings.data : "");
  for (size_t k = 0; k < v->count; k++) {
    sim_bytes_format(out, "%s\"%s\": {\"step\": %.17g, \"time\": ", k ? ", " : "", v->table[k]->name, v->step[k]);
    write_number(v->time[k], out);
    for (int c = 0; v->table[k]->columns[c].name; c++) {
      sim_bytes_format(out, ", \"%s\": ", v->table[k]->columns[c].name);
      write_number(v->value[k][c], out);
    }
    sim_bytes_text(out, "}");
  }
  sim_bytes_text(out, "}");
  SIM_TRY(write_datasets(run, out));
  sim_bytes_text(out, "}\n");
  return SIM_OK;
}

/* Stops a run whose reader has closed the pipe. */
static void on_progress(void *context, const sim_progress *progress) {
  (void)context, (void)progress;
  struct pollfd out = {.fd = STDOUT_FILENO};
  if (poll(&out, 1, 0) > 0 && out.revents & POLLERR) cli_requests.stop = 1;
}

void cli_memory_run(const cli_job *job, sim_status (*write)(void *self, const sim_frame *frame), void *self,
                    sim_sink *sink, sim_run *run) {
  const sim_common *common = cli_common(job);
  const bool never = common->output.tables.kind == SIM_NEVER;
  *sink = (sim_sink){.name = "tables",
                     .kind = SIM_SINK_TABLE,
                     .cadence = never ? (sim_cadence){.kind = SIM_ENDS} : common->output.tables,
                     .self = self,
                     .write = write};
  *run = (sim_run){.model = job->model,
                   .backend = job->setup.backend,
                   .tables = sim_model_tables(job->model, job->parameters),
                   .stop_when = common->stop_when,
                   .work_per_step = job->plan.work_per_step,
                   .sinks = sink,
                   .sink_count = 1,
                   .requests = &cli_requests,
                   .direct = true,
                   .wall_limit = INFINITY,
                   .wall_asked = INFINITY,
                   .progress_interval = 0.2};
}

static sim_status make_steps(cli_job *job, values *v, bool serving, void **self, sim_run *run) {
  sim_sink sink;
  cli_memory_run(job, keep, v, &sink, run);
  if (serving) run->progress = on_progress;
  if (!run->tables[0])
    return sim_fail(SIM_ERR_SCENARIO, "%s: sim.%s has no tables, and no values to print", job->options->target,
                    job->model->name);
  SIM_TRY(cli_of_scenario(job, job->model->create(job->parameters, &job->setup, &run->clock, self)));
  run->self = *self;
  const sim_status status = sim_run_loop(run);
  if (status == SIM_OK && job->model->remark) {
    sim_bytes remark = {0};
    job->model->remark(run->self, &run->clock, &remark);
    if (!remark.failed && remark.size > 0) sim_log(SIM_LOG_WARN, "%s", remark.data);
    sim_bytes_free(&remark);
  }
  return status;
}

/* Checks that the run's memory is free. A program that makes one run after another asks the system and the driver,
 * whose answers take 0.1 ms, once a second; and always before a run that needs more than the last one that was checked.
 */
static sim_status check_memory(const cli_job *job, bool serving) {
  static double checked = -INFINITY, host, device;
  const double now = sim_wall_clock(), on_host = sim_plan_bytes(&job->plan, SIM_SPACE_HOST);
  const double on_device = sim_plan_bytes(&job->plan, SIM_SPACE_DEVICE);
  if (serving && now - checked < 1 && on_host <= host && on_device <= device) return SIM_OK;
  SIM_TRY(cli_prepare_memory(job));
  checked = now;
  host = on_host;
  device = on_device;
  return SIM_OK;
}

/* Runs options->target, and writes its values as a line of JSON to `out`. */
static sim_status run_once(const cli_options *options, bool serving, sim_bytes *out) {
  values *v = calloc(1, sizeof *v);
  cli_job *job = calloc(1, sizeof *job);
  void *self = NULL;
  sim_run run;
  sim_status status = v == NULL || job == NULL ? sim_no_memory("a run") : SIM_OK;
  if (status == SIM_OK) {
    job->options = options;
    job->setup.comm = cli_comm();
    job->scheduler = cli_scheduler_find();
    sim_log_add(keep_warning, v);
    status = cli_prepare_scenario(job);
    if (status == SIM_OK) status = cli_prepare_device(job);
    if (status == SIM_OK) status = check_memory(job, serving);
    if (status == SIM_OK) status = make_steps(job, v, serving, &self, &run);
    sim_log_remove(keep_warning, v);
    if (status == SIM_OK) status = write_values(job, &run, v, out);
    if (self) job->model->destroy(&self);
    cli_prepare_free(job);
    sim_bytes_free(&v->warnings);
  }
  if (status == SIM_OK && out->failed) status = sim_no_memory("the values");
  free(job);
  free(v);
  return status;
}

static sim_status print_line(const sim_bytes *line) {
  if (fwrite(line->data, 1, line->size, stdout) == line->size && fflush(stdout) == 0) return SIM_OK;
  return sim_fail(SIM_ERR_IO, "cannot write to standard output: %s", strerror(errno));
}

sim_status cli_run_json(const cli_options *options) {
  sim_bytes line = {0};
  if (cli_comm()->size > 1)
    return sim_fail(SIM_ERR_USAGE, "--json: expected one process, got %d ranks of a launcher", cli_comm()->size);
  cli_terminal_start(options);
  sim_status status = run_once(options, false, &line);
  cli_terminal_stop();
  if (status == SIM_ERR_STOPPED) sim_fail(status, "interrupted: no values");
  if (status == SIM_OK) status = print_line(&line);
  sim_bytes_free(&line);
  return status;
}

/* ---- requests ---- */

/* Waits for standard input; false if the process must end. Signals are blocked until the wait, so that a signal after
 * the check of the requests also ends the wait. */
static bool wait_for_input(void) {
  static const int ends[] = {SIGTERM, SIGHUP, SIGINT, SIGUSR1};
  struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
  sigset_t blocked, before;
  int ready = -1;
  sigemptyset(&blocked);
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) sigaddset(&blocked, ends[i]);
  sigprocmask(SIG_BLOCK, &blocked, &before);
  while (ready < 0 && !cli_requests.stop && !cli_requests.warning) ready = ppoll(&in, 1, NULL, &before);
  sigprocmask(SIG_SETMASK, &before, NULL);
  return ready >= 0;
}

/* Reads the next line of standard input into `line`, without its end; `rest` keeps what was read after the line. False
 * at the end of the input, or if the process must end. */
static bool read_line(sim_bytes *rest, sim_bytes *line) {
  char block[4096];
  line->size = 0;
  while (!cli_requests.stop && !cli_requests.warning && !rest->failed && !line->failed) {
    const char *end = rest->size > 0 ? memchr(rest->data, '\n', rest->size) : NULL;
    if (end != NULL) {
      const size_t size = (size_t)(end - (const char *)rest->data) + 1;
      sim_bytes_add(line, rest->data, size - 1);
      sim_bytes_add(line, "", 1);
      memmove(rest->data, (char *)rest->data + size, rest->size - size);
      rest->size -= size;
      return !line->failed;
    }
    if (!wait_for_input()) return false;
    const ssize_t got = read(STDIN_FILENO, block, sizeof block);
    if (got < 0 || (got == 0 && rest->size == 0)) return false;
    sim_bytes_add(rest, got > 0 ? block : "\n", got > 0 ? (size_t)got : 1); /* the last line may lack its end */
  }
  return false;
}

/* Splits text[size], "SCENARIO<tab>NAME=VALUE<tab>...", in place. */
static sim_status parse_request(char *text, size_t size, cli_options *options) {
  size_t count = 0;
  options->target = text;
  if (strlen(text) < size) return sim_fail(SIM_ERR_USAGE, "expected a line of text, got a zero byte in it");
  for (char *at = strchr(text, '\t'); at != NULL; at = strchr(at, '\t')) {
    *at++ = '\0';
    const char *equals = strchr(at, '=');
    if (equals == NULL || equals == at) return sim_fail(SIM_ERR_USAGE, "'%.100s': expected NAME=VALUE after a tab", at);
    if (count == CLI_SETS_MAX) return sim_fail(SIM_ERR_USAGE, "more than %d values", CLI_SETS_MAX);
    options->sets[count++] = at;
  }
  options->sets[count] = NULL;
  return *text ? SIM_OK : sim_fail(SIM_ERR_USAGE, "expected a scenario file");
}

/* Answers request[size] with the values, or with the error and the exit code that `sim run` would have. */
static sim_status answer(const cli_options *options, char *request, size_t size) {
  static cli_options own;
  sim_bytes line = {0}, said = {0};
  own = *options;
  cli_terminal_capture(&said);
  sim_status status = parse_request(request, size, &own);
  if (status == SIM_OK) status = run_once(&own, true, &line);
  cli_terminal_capture(NULL);
  const bool stopped = status == SIM_ERR_STOPPED;
  if (status != SIM_OK && !stopped) {
    if (said.size == 0) sim_bytes_text(&said, sim_error_last()->message);
    line.size = 0;
    sim_bytes_format(&line, "{\"exit_code\": %d, \"error\": ", sim_status_exit_code(status));
    sim_bytes_json_string(&line, said.data != NULL ? said.data : "", said.size);
    sim_bytes_text(&line, "}\n");
    sim_error_clear();
  }
  status = line.failed ? sim_no_memory("the values") : stopped ? status : print_line(&line);
  sim_bytes_free(&line);
  sim_bytes_free(&said);
  return status;
}

sim_status cli_serve(const cli_options *options) {
  sim_bytes rest = {0}, line = {0};
  sim_status status = SIM_OK;
  cli_prepare_language(options);
  /* memory of a run stays with the process, for the next one */
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
#ifdef SIM_HAS_CUDA
  sim_modules_keep();
  sim_cuda_keep_memory();
#endif
  while (status == SIM_OK && read_line(&rest, &line)) status = answer(options, line.data, line.size - 1);
  if (status == SIM_OK && (rest.failed || line.failed)) status = sim_no_memory("a request");
  sim_bytes_free(&rest);
  sim_bytes_free(&line);
  return status;
}
