/* One run, from a command to its last output: folder, files, sinks, loop, summary. */
#include "cli/run/page.h"
#include "cli/run/ranks.h"
#include "cli/run/status.h"
#include "cli/run/watch.h"

#include "engine/run/profile.h"
#include "engine/run/startup.h"
#include "engine/wall_clock.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define STATUS "status.json"
enum { SINKS = 3 + SIM_SLICES_MAX };

typedef struct session {
  cli_job *job;
  io_folder *folder;
  io_provenance provenance;
  sim_sink sinks[SINKS];
  size_t sink_count;
  sim_run run;
  sim_comm_totals exchanged; /* totals of the ranks' exchange before the loop */
  bool resumed, begun;       /* begun: the folder's files belong to this run */
  bool limit_said;
  sim_bytes remark; /* the model's remark on unmet goals */
  double begin, last_status;
  int64_t status_checkpoint; /* newest checkpoint named in status.json */
  double left, asked;        /* seconds left of --wall or the job at time `asked`; INFINITY: no limit, NaN: unknown */
  char how[128], host[128];  /* how: source of `left` */
  sim_clock from;            /* clock at the beginning of this part of the run */
  bool early;                /* status.json was written while the folder's other files belonged to an earlier run */
  sim_bytes earlier;         /* earlier content of status.json */
} session;

/* ---- status.json ---- */

/* Writes status.json; `phase` of a start, or NULL. Reports a failure to write it, and keeps the last error. */
static void put_status(session *s, const char *state, sim_status status, const sim_clock *clock, const char *phase,
                       const char *message) {
  sim_bytes text = {0};
  cli_status_text(&(cli_status_source){.state = state,
                                       .status = status,
                                       .model = s->job->model,
                                       .clock = *clock,
                                       .run = &s->run,
                                       .phase = phase,
                                       .remark = s->remark.size > 0 ? s->remark.data : NULL,
                                       .message = message,
                                       .host = s->host,
                                       .scheduler = &s->job->scheduler},
                  &text);
  if (!text.failed) {
    sim_error cause = *sim_error_last();
    if (io_folder_write(s->folder, STATUS, text.data, text.size) != SIM_OK) {
      const sim_error why = *sim_error_last();
      const bool written = why.status == SIM_ERR_IO &&
                           io_folder_overwrite(s->folder, STATUS, text.data, text.size); /* works on a full disk */
      if (!written && status != SIM_ERR_CANT_CREATE) sim_log(SIM_LOG_WARN, STATUS " not written: %s", why.message);
      if (status != SIM_OK) sim_fail_at(cause.status, cause.file, cause.line, "%s", cause.message);
    }
  }
  sim_bytes_free(&text);
}

static void write_status(session *s, const char *state, sim_status status) {
  put_status(s, state, status, &s->run.clock, NULL, sim_error_last()->message);
}

/* Saves the status.json of an earlier run in the folder, for put_back. */
static void keep_earlier_status(session *s) {
  const sim_error cause = *sim_error_last();
  if (cli_status_load(io_folder_path(s->folder), &s->earlier) != SIM_OK) sim_error_clear();
  sim_fail_at(cause.status, cause.file, cause.line, "%s", cause.message);
}

/* Called on the watching thread while the model is created; the folder's other files still belong to an earlier run. */
static void on_starting(void *context, const char *phase) {
  session *s = context;
  if (!s->early) keep_earlier_status(s);
  s->early = true;
  put_status(s, "running", SIM_OK, &s->from, phase, "");
}

/* Restores the earlier status.json after a failed start. */
static void put_back(session *s) {
  char path[4200];
  if (!s->early) return;
  s->early = false;
  const sim_error cause = *sim_error_last();
  snprintf(path, sizeof path, "%s/" STATUS, io_folder_path(s->folder));
  if (s->earlier.size > 0)
    (void)!io_folder_write(s->folder, STATUS, s->earlier.data, s->earlier.size);
  else
    (void)unlink(path);
  sim_fail_at(cause.status, cause.file, cause.line, "%s", cause.message);
}

static void on_start_stopped(void *context, sim_status status, const char *message) {
  session *s = context;
  s->job->setup.comm->ops->abandon(s->job->setup.comm, status, message);
  put_back(s);
  io_folder_abandon(&s->folder);
}

/* Called when a step is given up: status.json then names the newest checkpoint, from which the run can continue. */
static void on_step_given_up(void *context, sim_status status, const char *message) {
  session *s = context;
  const sim_run *run = &s->run;
  const char *state = status == SIM_ERR_STOPPED ? "stopped" : "failed";
  s->job->setup.comm->ops->abandon(s->job->setup.comm, status, message);
  const sim_clock at = {
      .step = run->checkpoint_step < 0 ? 0 : run->checkpoint_step, .t = run->checkpoint_t, .t_end = s->from.t_end};
  cli_terminal_event(state, &at, "");
  put_status(s, state, status, &at, NULL, message);
  io_folder_close(&s->folder);
}

/* ---- time ---- */

/* Speed of a checkpoint that is assumed before the first was written: a slow disk. */
static const double guess_rate = 100e6; /* bytes per second */

/* Determines the limit of --wall once, before a start that may be long. */
static void find_limit(session *s) {
  const cli_options *options = s->job->options;
  s->left = options->wall - (sim_wall_clock() - s->begin);
  if (options->wall_auto) s->left = cli_scheduler_left(&s->job->scheduler, s->how, sizeof s->how);
  s->asked = sim_wall_clock();
  s->run.wall_reserve = options->wall_auto && isfinite(s->left);
}

/* Returns the seconds left from now on, and prints the limit of the job. */
static double wall_limit(const session *s) {
  const cli_scheduler *scheduler = &s->job->scheduler;
  const double left = s->left - (sim_wall_clock() - s->asked);
  char text[32];
  cli_duration(s->left, text, sizeof text);
  if (!s->job->options->wall_auto) return left > 0 ? left : 1e-9;
  if (!scheduler->name)
    cli_say("  --wall auto: not in a batch job, no limit");
  else if (isnan(left))
    sim_log(SIM_LOG_WARN, "--wall auto: %s's job %s: %s gives no time limit: none is set", scheduler->name,
            scheduler->job, s->how);
  else if (left <= 0)
    sim_log(SIM_LOG_WARN, "%s's job %s has exceeded its limit (%s): one step, then a checkpoint", scheduler->name,
            scheduler->job, s->how);
  else if (!isfinite(left))
    cli_say("  --wall auto: %s's job %s has no limit", scheduler->name, scheduler->job);
  else
    cli_say("  %s's job %s ends in %s (%s): the run stops before that with a checkpoint", scheduler->name,
            scheduler->job, text, s->how);
  return isnan(left) ? INFINITY : left > 0 ? left : 1e-9;
}

/* Gives the batch job's limit to the watching thread; none if the limit has passed or is the user's own. */
static cli_watched watched(session *s) {
  const bool known = s->run.wall_reserve && s->left > 0;
  return (cli_watched){.comm = s->job->setup.comm,
                       .step = cli_step_seconds(s->job),
                       .limit = known ? s->asked + s->left : INFINITY,
                       .margin = known ? fmin(10, 0.1 * s->left) : 0,
                       .context = s};
}

/* Reports the reserved time, once a checkpoint was written. */
static void say_reserve(session *s) {
  char one[32];
  if (s->limit_said || !s->run.wall_reserve || s->run.checkpoint_step < 0) return;
  s->limit_said = true;
  cli_duration(s->run.checkpoint_seconds, one, sizeof one);
  cli_say("  a checkpoint takes %s: the run stops twice that time, one step and a margin before the limit", one);
}

static void on_progress(void *context, const sim_progress *progress) {
  session *s = context;
  cli_terminal_progress(progress, s->job->model->work_unit);
  say_reserve(s);
  if (io_folder_check() != SIM_OK) { /* the loop ends, and run_in_folder reports the reason */
    cli_requests.stop = 1;
    return;
  }
  double now = sim_wall_clock();
  const bool saved = s->run.checkpoint_step != s->status_checkpoint;
  const bool young = progress->elapsed < 60; /* the status of a short run is updated often */
  if (now - s->last_status < (saved || young ? 1 : 10)) return;
  s->last_status = now;
  s->status_checkpoint = s->run.checkpoint_step;
  write_status(s, "running", SIM_OK);
}

/* ---- start ---- */

static void fill_provenance(session *s) {
  cli_job *job = s->job;
  const sim_common *common = cli_common(job);
  static char libraries[256];
  snprintf(libraries, sizeof libraries, "%s, %s", io_library_versions(), scenario_library_version());
  io_provenance *p = &s->provenance;
  *p = (io_provenance){
      .scenario_path = job->source.path,
      .scenario_text = job->source.text,
      .scenario_size = job->source.size,
      .parameters_json = job->json.data,
      .parameters_blob = job->blob.data,
      .parameters_blob_size = job->blob.size,
      .model = job->model->name,
      .title = common->title ? common->title : "",
      .author = common->author ? common->author : "",
      .command_line = job->options->command_line,
      .version = cli_version_text,
      .git_revision = cli_revision_text,
      .compiler = cli_compiler_text,
      .libraries = libraries,
      .device = job->device,
      .backend = job->setup.backend->name,
      .precision = sim_precision_name((sim_precision)common->precision),
      .isa = sim_isa_name(job->setup.isa),
      .seed = common->seed,
      .units = &common->units,
  };
  time_t now = time(NULL);
  struct tm parts;
  localtime_r(&now, &parts);
  strftime(p->start_time, sizeof p->start_time, "%Y-%m-%d %H:%M:%S %z", &parts);
  if (!s->resumed) io_run_name(p->run);
  if (s->resumed) {
    const char *slash = strrchr(job->saved.path, '/');
    memcpy(p->run, job->saved.run, sizeof p->run);
    snprintf(p->parent_checkpoint, sizeof p->parent_checkpoint, "%.255s", slash ? slash + 1 : job->saved.path);
  }
  io_provenance_finish(p);
}

/* Opens the sinks; follow.c makes as many in the same order. */
static sim_status open_sinks(session *s) {
  const sim_output *output = &cli_common(s->job)->output;
  sim_sink *tables = NULL;
  const sim_table *const *all = sim_model_tables(s->job->model, s->job->parameters);
  if (output->tables.kind != SIM_NEVER && all[0]) {
    tables = &s->sinks[s->sink_count];
    SIM_TRY(io_table_sink(s->folder, &s->provenance, all, output->tables, tables));
    s->sink_count++;
    if (s->resumed) SIM_TRY(io_table_resume(tables, &s->job->saved));
  }
  SIM_TRY(io_snapshot_sink(s->folder, &s->provenance, output->snapshots, &s->sinks[s->sink_count]));
  s->sink_count++;
  for (size_t i = 0; i < output->slices.count; i++) {
    const sim_slice *slice = output->slices.items[i].data;
    if (slice->when.kind == SIM_NEVER) continue;
    SIM_TRY(io_slice_sink(s->folder, &s->provenance, slice, &s->sinks[s->sink_count]));
    s->sink_count++;
  }
  SIM_TRY(io_checkpoint_sink(s->folder, &s->provenance, tables, output->checkpoint, &s->sinks[s->sink_count]));
  s->sink_count++;
  return SIM_OK;
}

static void say_header(session *s) {
  cli_job *job = s->job;
  char what[256], memory[96];
  job->model->describe(s->run.self, what, sizeof what);
  cli_memory_text(job, memory, sizeof memory);
  const char *title = s->provenance.title;
  cli_say("sim %s  %s%s%s", cli_version_text, job->model->name, *title ? ": " : "", title);
  cli_say("  %s", what);
  cli_say("  %s", job->device);
  if (job->setup.comm->size > 1) {
    char ranks[256];
    cli_ranks_text(ranks, sizeof ranks);
    cli_say("  %s", ranks);
  }
  cli_say("  %s precision, %s", s->provenance.precision, memory);
  if (s->resumed)
    cli_say("  continues from checkpoint %s: step %lld, t = %.9g of %.9g", s->provenance.parent_checkpoint,
            (long long)s->run.clock.step, s->run.clock.t, s->run.clock.t_end);
  cli_terminal_event("start", &s->run.clock, "");
}

static sim_status start(session *s) {
  cli_job *job = s->job;
  char run[33];
  fill_provenance(s);
  io_folder_ranks(s->folder, job->setup.comm);
  SIM_TRY(open_sinks(s));
  const io_run_id found = io_folder_run(io_folder_path(s->folder), run);
  if (s->resumed && found != IO_RUN_ID_GOOD)
    sim_log(SIM_LOG_WARN,
            "%s/run.id: %s, so checkpoints were not compared with it; it now names the run of the newest checkpoint",
            io_folder_path(s->folder), found == IO_RUN_ID_MISSING ? "is missing" : "is not the name of a run");
  if (*s->provenance.run && strcmp(run, s->provenance.run) != 0)
    SIM_TRY(io_folder_write(s->folder, "run.id", s->provenance.run, strlen(s->provenance.run)));
  if (s->resumed) {
    io_checkpoint_free(&job->saved); /* it needs as much memory as the state */
    job->has_saved = false;
    return SIM_OK;
  }
  return io_folder_write(s->folder, "scenario.lua", s->provenance.scenario_text, s->provenance.scenario_size);
}

static sim_status loop(session *s) {
  cli_job *job = s->job;
  sim_run *run = &s->run;
  run->model = job->model;
  run->backend = job->setup.backend;
  run->comm = job->setup.comm;
  run->tables = sim_model_tables(job->model, job->parameters);
  run->stop_when = cli_common(job)->stop_when;
  run->resumed = s->resumed;
  run->work_per_step = job->plan.work_per_step;
  run->sinks = s->sinks;
  run->sink_count = s->sink_count;
  run->requests = &cli_requests;
  run->checkpoint_seconds = 0.1 + job->plan.checkpoint_bytes / guess_rate;
  run->wall_limit = wall_limit(s);
  run->wall_asked = job->options->wall;
  run->progress = on_progress;
  run->progress_context = s;
  run->progress_interval = 0.2;
  s->last_status = sim_wall_clock();
  s->status_checkpoint = run->checkpoint_step;
  write_status(s, "running", SIM_OK);
  if (job->options->profile) sim_profile_start();
  cli_watched steps = watched(s);
  steps.run = run;
  steps.stopped = on_step_given_up;
  s->exchanged = sim_comm_counted(run->comm);
  cli_watch *watch = cli_watch_begin(&steps);
  const sim_status status = sim_run_loop(run);
  cli_watch_end(watch);
  return status;
}

/* ---- end ---- */

/* Relative error in a health figure above which the summary warns. */
static const double health_limit = 0.1;

/* Reports unmet goals of a finished run in the log and in the provenance of its tables. */
static void say_remark(session *s) {
  if (!s->job->model->remark) return;
  s->job->model->remark(s->run.self, &s->run.clock, &s->remark);
  if (s->remark.failed || s->remark.size == 0) return;
  sim_log(SIM_LOG_WARN, "%s", s->remark.data);
  s->provenance.remark = s->remark.data;
  for (size_t i = 0; i < s->sink_count; i++) {
    sim_sink *sink = &s->sinks[i];
    if (sink->kind != SIM_SINK_TABLE) continue;
    io_table_renew(sink);
    if (sink->finish(sink->self) != SIM_OK) sim_log(SIM_LOG_WARN, "tables.h5: %s", sim_error_last()->message);
  }
}

/* Writes the datasets of a finished run. */
static sim_status write_datasets(session *s) {
  const sim_model *model = s->job->model;
  for (int i = 0; model->dataset != NULL; i++) {
    sim_dataset dataset = {0};
    SIM_TRY(model->dataset(s->run.self, &s->run.clock, i, &dataset));
    if (dataset.name == NULL) return SIM_OK;
    SIM_TRY(io_dataset_write(s->folder, &s->provenance, &dataset));
  }
  return SIM_OK;
}

static void say_summary(session *s, sim_status status) {
  const sim_progress *p = &s->run.last;
  char took[32], rate[64];
  cli_duration(p->elapsed, took, sizeof took);
  cli_rate(p->rate, s->job->model->work_unit, rate, sizeof rate);
  const char *path = io_folder_path(s->folder);
  if (fabs(p->health) > health_limit)
    sim_log(SIM_LOG_WARN, "%s is %.3g: the result is not reliable; use smaller steps or more samples", p->health_name,
            p->health);
  int64_t steps = s->run.clock.step - p->first_step;
  if (steps == 0)
    cli_say("%s step %lld, t = %.9g: nothing was left to compute", status == SIM_OK ? "done" : "stopped at",
            (long long)s->run.clock.step, s->run.clock.t);
  else
    cli_say("%s step %lld, t = %.9g: %lld step%s in %s, %s", status == SIM_OK ? "done" : "stopped at",
            (long long)s->run.clock.step, s->run.clock.t, (long long)steps, steps == 1 ? "" : "s", took, rate);
  if (s->run.ended) cli_say("  stop_when holds at step %lld, t = %.9g", (long long)s->run.clock.step, s->run.clock.t);
  if (s->job->model->report) {
    sim_bytes lines = {0};
    s->job->model->report(s->run.self, &s->run.clock, &lines);
    for (char *line = lines.data, *end; line && (end = strchr(line, '\n')); line = end + 1)
      cli_say("  %.*s", (int)(end - line), line);
    sim_bytes_free(&lines);
  }
  if (p->health_name && isfinite(p->health)) cli_say("  %s %.3g", p->health_name, p->health);
  cli_say("  output %s", path);
  if (status == SIM_ERR_STOPPED)
    cli_say("  continue with: sim resume %s", path);
  else if (cli_common(s->job)->output.snapshots.kind != SIM_NEVER ||
           cli_common(s->job)->output.tables.kind != SIM_NEVER)
    cli_say("  draw it with: simview plot %s", path);
  cli_say("  digest %s", s->run.digest);
}

/* After a failure to write, a device failure or the loss of a rank: adds to the message how to continue the run. */
static void say_what_to_do(const session *s) {
  const sim_error cause = *sim_error_last();
  const bool full = strstr(cause.message, strerror(ENOSPC)) || strstr(cause.message, strerror(EDQUOT));
  const char *path = io_folder_path(s->folder), *mend = full ? "free space" : "mend the cause";
  if (cause.status == SIM_ERR_RANK || cause.status == SIM_ERR_DEVICE) mend = "see why";
  if (s->run.checkpoint_step >= 0)
    sim_fail_at(cause.status, cause.file, cause.line, "%.600s; %s, then: sim resume %s (continues from step %lld)",
                cause.message, mend, path, (long long)s->run.checkpoint_step);
  else
    sim_fail_at(cause.status, cause.file, cause.line,
                "%.600s; there is no checkpoint to continue from: %s, then run it again with --force", cause.message,
                mend);
}

static void close_session(session *s) {
  for (size_t i = 0; i < s->sink_count; i++)
    if (s->sinks[i].destroy) s->sinks[i].destroy(&s->sinks[i].self);
  if (s->run.self) s->job->model->destroy(&s->run.self);
  sim_bytes_free(&s->remark);
  cli_page_end();
  cli_terminal_stop();
  if (s->begun) {
    io_folder_close(&s->folder);
  } else {
    put_back(s);
    io_folder_abandon(&s->folder);
  }
  sim_bytes_free(&s->earlier);
}

/* Creates the model, and changes files of the folder only after that: a scenario that is refused here leaves no
 * trace. */
static sim_status create_model(session *s, io_folder_mode mode) {
  cli_job *job = s->job;
  s->resumed = job->has_saved;
  if (s->resumed) {
    job->setup.saved = &job->saved.frame;
    s->run.clock = job->saved.frame.clock;
    s->run.ended = s->run.clock.t_end == -INFINITY;
    s->run.checkpoint_step = s->run.clock.step;
    s->run.checkpoint_t = s->run.clock.t;
  }
  find_limit(s);
  SIM_TRY(cli_ranks_check_start(job));
  s->from = s->run.clock;
  s->from.t_end = job->plan.t_end;
  cli_watched start = watched(s);
  start.starting = on_starting;
  start.stopped = on_start_stopped;
  cli_watch *watch = cli_watch_begin(&start);
  const sim_status made = job->model->create(job->parameters, &job->setup, &s->run.clock, &s->run.self);
  cli_watch_end(watch);
  SIM_TRY(cli_of_scenario(job, made));
  if (s->resumed && s->run.clock.t > s->run.clock.t_end)
    return sim_fail(SIM_ERR_INCOMPATIBLE, "%s: is at t = %.9g, after the end at %.9g: give a later integrate.t_end",
                    job->saved.path, s->run.clock.t, s->run.clock.t_end);
  return mode == IO_FOLDER_FORCE || mode == IO_FOLDER_AGAIN ? io_folder_clear(s->folder) : SIM_OK;
}

/* Reports files that are permanently missing, even with -q, and adds this to the remark of status.json. */
static void say_lost(session *s) {
  if (s->run.lost == 0) return;
  if (s->remark.size > 0) sim_bytes_text(&s->remark, "; ");
  const size_t at = s->remark.size;
  sim_bytes_format(&s->remark, "snapshots or slices could not be written: %lld; run.log names them",
                   (long long)s->run.lost);
  if (s->remark.failed) return;
  sim_log(SIM_LOG_ERROR, "%s", s->remark.data + at);
  if (s->provenance.remark) s->provenance.remark = s->remark.data; /* the buffer may have moved */
}

static sim_status run_in_folder(session *s, io_folder_mode mode) {
  gethostname(s->host, sizeof s->host - 1);
  s->run.checkpoint_step = -1;
  s->run.last.eta = NAN;
  if (s->job->options->watch) cli_page_begin(io_folder_path(s->folder));
  SIM_TRY(create_model(s, mode));
  s->begun = true;
  cli_terminal_files(io_folder_append(s->folder, "run.log"), io_folder_append(s->folder, "run.jsonl"));
  s->from.t_end = s->run.clock.t_end;
  sim_status status = start(s);
  if (status == SIM_OK) {
    say_header(s);
    status = loop(s);
    if (status == SIM_OK || status == SIM_ERR_STOPPED) {
      const sim_error cause = *sim_error_last();
      if (io_folder_check() != SIM_OK)
        status = SIM_ERR_CANT_CREATE;
      else if (status != SIM_OK)
        sim_fail_at(cause.status, cause.file, cause.line, "%s", cause.message);
    }
  }
  if (status == SIM_OK) {
    say_remark(s);
    status = write_datasets(s);
  }
  if (status == SIM_OK || status == SIM_ERR_STOPPED) {
    say_lost(s);
    say_summary(s, status);
    cli_terminal_event(status == SIM_OK ? "done" : "stopped", &s->run.clock, s->run.digest);
  } else {
    if (status == SIM_ERR_IO) say_lost(s);
    if (status == SIM_ERR_IO || status == SIM_ERR_RANK || status == SIM_ERR_DEVICE) say_what_to_do(s);
    cli_terminal_event("failed", &s->run.clock, "");
    cli_terminal_note(SIM_LOG_ERROR, sim_error_last()->message);
  }
  if (s->job->options->profile) {
    cli_say_profile(s->folder, s->job->setup.backend);
    status = cli_say_ranks(s->job->setup.comm, &s->exchanged, s->run.last.elapsed, status);
  }
  write_status(s, status == SIM_OK ? "done" : status == SIM_ERR_STOPPED ? "stopped" : "failed", status);
  return status;
}

/* ---- commands ---- */

/* Loads a checkpoint; the folder is locked and unchanged. A signal ends the loading at any time. */
static sim_status load_saved(session *s, const char *file) {
  cli_job *job = s->job;
  memset(&job->saved, 0, sizeof job->saved);
  job->has_saved = true; /* so that it is always released */
  cli_watch *watch = cli_watch_begin(&(cli_watched){.limit = INFINITY, .stopped = on_start_stopped, .context = s});
  sim_startup("reading the checkpoint", 0, 0);
  const sim_status read = file ? io_checkpoint_read(file, &job->saved) : io_checkpoint_newest(job->output, &job->saved);
  cli_watch_end(watch);
  SIM_TRY(read);
  if (file) SIM_TRY(io_checkpoint_check_run(job->output, &job->saved));
  SIM_TRY(sim_frame_check_finite(&job->saved.frame));
  return SIM_OK;
}

/* For --resume: opens the folder and loads a checkpoint. The lock is taken before anything is read. */
static sim_status open_to_resume(session *s, io_folder_mode *mode) {
  cli_job *job = s->job;
  io_folder **folder = &s->folder;
  bool automatic = job->options->resume == CLI_RESUME_AUTO;
  const char *file = job->options->resume == CLI_RESUME_FILE ? job->options->resume_file : NULL;
  *mode = IO_FOLDER_RESUME;
  sim_status status = io_folder_open(job->output, *mode, folder);
  if (status == SIM_OK) status = load_saved(s, file);
  if (status == SIM_ERR_NO_INPUT && automatic) { /* no run there yet, or it was killed before its first checkpoint */
    job->has_saved = false;
    io_folder_abandon(folder);
    *mode = IO_FOLDER_AGAIN;
    return io_folder_open(job->output, *mode, folder);
  }
  SIM_TRY(status);
  return cli_prepare_same(job);
}

static sim_status open_and_run(session *s) {
  cli_job *job = s->job;
  io_folder_mode mode = job->options->force ? IO_FOLDER_FORCE : IO_FOLDER_NEW;
  SIM_TRY(cli_prepare_scenario(job));
  SIM_TRY(cli_prepare_output(job, ".out"));
  if (job->options->resume != CLI_RESUME_NO) SIM_TRY(open_to_resume(s, &mode));
  SIM_TRY(cli_ranks_share_checkpoint(job));
  SIM_TRY(cli_prepare_device(job));
  SIM_TRY(cli_prepare_memory(job));
  if (!s->folder) SIM_TRY(io_folder_open(job->output, mode, &s->folder));
  return run_in_folder(s, mode);
}

static sim_status run_job(cli_job *job) {
  session s = {.job = job, .begin = sim_wall_clock()};
  sim_status status = open_and_run(&s);
  close_session(&s);
  return status;
}

static sim_status resume_job(cli_job *job) {
  session s = {.job = job, .begin = sim_wall_clock()};
  struct stat info;
  int n = snprintf(job->output, sizeof job->output, "%s", job->options->target);
  if (n >= (int)sizeof job->output || stat(job->output, &info) != 0)
    return sim_fail(SIM_ERR_NO_INPUT, "%s: no such folder", job->options->target);
  if (!S_ISDIR(info.st_mode)) return sim_fail(SIM_ERR_NO_INPUT, "%s: not a folder of a run", job->output);
  SIM_TRY(io_folder_open(job->output, IO_FOLDER_RESUME, &s.folder)); /* takes the lock before anything is read */
  sim_status status = load_saved(&s, NULL);
  if (status == SIM_OK) status = cli_ranks_share_checkpoint(job);
  if (status == SIM_OK) status = cli_prepare_saved(job);
  if (status == SIM_OK) status = cli_prepare_device(job);
  if (status == SIM_OK) status = cli_prepare_memory(job);
  if (status == SIM_OK) status = run_in_folder(&s, IO_FOLDER_RESUME);
  close_session(&s);
  return status;
}

static sim_status with_job(const cli_options *options, sim_status (*work)(cli_job *)) {
  cli_job *job = calloc(1, sizeof *job);
  if (!job) return sim_no_memory("a run");
  job->options = options;
  job->setup.comm = cli_comm();
  job->scheduler = cli_scheduler_find();
  if (job->scheduler.name) {
    char name[96];
    snprintf(name, sizeof name, "%s job %s", job->scheduler.name, job->scheduler.job);
    io_lock_job(name, job->scheduler.restart);
  }
  cli_terminal_start(options);
  sim_status status = work(job);
  cli_terminal_stop();
  cli_prepare_free(job);
  free(job);
  return status;
}

/* Makes the run on this rank. */
static sim_status with_ranks(const cli_options *options, sim_status (*work)(cli_job *)) {
  return cli_ranks_end(with_job(options, cli_comm()->rank == 0 ? work : cli_follow));
}

sim_status cli_run(const cli_options *options) { return with_ranks(options, run_job); }
sim_status cli_resume(const cli_options *options) { return with_ranks(options, resume_job); }

static sim_status batch_job(cli_job *job) {
  static sim_comm ranks; /* only the sizes in it are used */
  const int nodes = job->options->nodes > 0 ? job->options->nodes : 1;
  ranks = sim_comm_alone;
  ranks.size = cli_script_tasks(job->options);
  ranks.host_size = (ranks.size + nodes - 1) / nodes;
  job->setup.comm = &ranks;
  SIM_TRY(cli_prepare_scenario(job));
  SIM_TRY(cli_prepare_output(job, ".out"));
  SIM_TRY(cli_prepare_device(job));
  return cli_script_print(job, 0);
}

sim_status cli_check(const cli_options *options) { return with_job(options, cli_check_job); }
sim_status cli_batch(const cli_options *options) { return with_job(options, batch_job); }
sim_status cli_sweep(const cli_options *options) { return with_job(options, cli_sweep_run); }
