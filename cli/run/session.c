/* One run in a folder, from the model's creation to its last output: files, sinks, loop, end. */
#include "cli/run/session.h"
#include "cli/run/page.h"
#include "cli/run/status.h"

#include "engine/run/profile.h"
#include "engine/wall_clock.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Speed of a checkpoint that is assumed before the first was written: a slow disk. */
static const double guess_rate = 100e6; /* bytes per second */

static void on_progress(void *context, const sim_progress *progress) {
  cli_session *s = context;
  cli_terminal_progress(progress, s->job->model->work_unit);
  cli_session_say_reserve(s);
  if (io_folder_check() != SIM_OK) { /* the loop ends, and cli_session_run reports the reason */
    cli_requests.stop = 1;
    return;
  }
  double now = sim_wall_clock();
  const bool saved = s->run.checkpoint_step != s->status_checkpoint;
  const bool young = progress->elapsed < 60; /* the status of a short run is updated often */
  if (now - s->last_status < (saved || young ? 1 : 10)) return;
  s->last_status = now;
  s->status_checkpoint = s->run.checkpoint_step;
  cli_session_write_status(s, "running", SIM_OK);
}

static void fill_provenance(cli_session *s) {
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
static sim_status open_sinks(cli_session *s) {
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

static sim_status start(cli_session *s) {
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

/* Writes the datasets of a finished run. */
static sim_status write_datasets(cli_session *s) {
  const sim_model *model = s->job->model;
  for (int i = 0; model->dataset != NULL; i++) {
    sim_dataset dataset = {0};
    SIM_TRY(model->dataset(s->run.self, &s->run.clock, i, &dataset));
    if (dataset.name == NULL) return SIM_OK;
    SIM_TRY(io_dataset_write(s->folder, &s->provenance, &dataset));
  }
  return SIM_OK;
}

static sim_status loop(cli_session *s) {
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
  run->wall_limit = cli_session_wall_limit(s);
  run->wall_asked = job->options->wall;
  run->progress = on_progress;
  run->progress_context = s;
  run->progress_interval = 0.2;
  s->last_status = sim_wall_clock();
  s->status_checkpoint = run->checkpoint_step;
  cli_session_write_status(s, "running", SIM_OK);
  if (job->options->profile) sim_profile_start();
  cli_watched steps = cli_session_watched(s);
  steps.run = run;
  steps.stopped = cli_session_step_given_up;
  s->exchanged = sim_comm_counted(run->comm);
  s->loop = sim_wall_clock();
  cli_watch *watch;
  SIM_TRY(cli_watch_begin(&steps, &watch));
  const sim_status status = sim_run_loop(run);
  cli_watch_end(watch);
  return status;
}

/* After ranks have ended with different states: no run may continue from what this one has saved. */
static void disown_checkpoints(cli_session *s) {
  const sim_error cause = *sim_error_last();
  const int64_t before = s->resumed ? s->from.step : -1;
  io_checkpoint_disown(s->folder, before);
  s->run.checkpoint_step = before;
  s->run.checkpoint_t = s->resumed ? s->from.t : 0;
  sim_fail_at(cause.status, cause.file, cause.line,
              "%.600s: tables and snapshots of this run cannot be trusted, and its checkpoints are removed",
              cause.message);
}

void cli_session_close(cli_session *s) {
  for (size_t i = 0; i < s->sink_count; i++)
    if (s->sinks[i].destroy) s->sinks[i].destroy(&s->sinks[i].self);
  if (s->run.self) s->job->model->destroy(&s->run.self);
  sim_bytes_free(&s->remark);
  cli_page_end();
  cli_terminal_stop();
  if (s->begun) {
    io_folder_close(&s->folder);
  } else {
    cli_session_put_back(s);
    io_folder_abandon(&s->folder);
  }
  sim_bytes_free(&s->earlier);
}

/* Creates the model, and changes files of the folder only after that: a scenario that is refused here leaves no
 * trace. */
static sim_status create_model(cli_session *s, io_folder_mode mode) {
  cli_job *job = s->job;
  s->resumed = job->has_saved;
  if (s->resumed) {
    job->setup.saved = &job->saved.frame;
    s->run.clock = job->saved.frame.clock;
    s->run.ended = s->run.clock.t_end == -INFINITY;
    s->run.checkpoint_step = s->run.clock.step;
    s->run.checkpoint_t = s->run.clock.t;
  }
  cli_session_find_limit(s);
  SIM_TRY(cli_ranks_check_start(job));
  s->from = s->run.clock;
  s->from.t_end = job->plan.t_end;
  cli_watched start = cli_session_watched(s);
  start.starting = cli_session_starting;
  start.stopped = cli_session_start_stopped;
  cli_watch *watch;
  SIM_TRY(cli_watch_begin(&start, &watch));
  const sim_status made = job->model->create(job->parameters, &job->setup, &s->run.clock, &s->run.self);
  cli_watch_end(watch);
  SIM_TRY(cli_of_scenario(job, made));
  const sim_clock *at = &s->run.clock;
  if (s->resumed && at->t > at->t_end && at->t - at->dt >= at->t_end) /* else its last step passed the end */
    return sim_fail(SIM_ERR_INCOMPATIBLE, "%s: is at t = %.9g, after the end at %.9g: give a later integrate.t_end",
                    job->saved.path, at->t, at->t_end);
  return mode == IO_FOLDER_FORCE || mode == IO_FOLDER_AGAIN ? io_folder_clear(s->folder) : SIM_OK;
}

sim_status cli_session_run(cli_session *s, io_folder_mode mode) {
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
    cli_session_say_header(s);
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
    cli_session_say_remark(s);
    status = write_datasets(s);
  }
  if (status == SIM_OK || status == SIM_ERR_STOPPED) {
    cli_session_say_lost(s);
    cli_session_say_summary(s, status);
    cli_terminal_event(status == SIM_OK ? "done" : "stopped", &s->run.clock, s->run.digest);
  } else {
    if (s->run.differ) disown_checkpoints(s);
    if (status == SIM_ERR_IO) cli_session_say_lost(s);
    if (status == SIM_ERR_IO || status == SIM_ERR_RANK || status == SIM_ERR_DEVICE) cli_session_say_what_to_do(s);
    cli_terminal_event("failed", &s->run.clock, "");
    cli_terminal_note(SIM_LOG_ERROR, sim_error_last()->message);
  }
  if (s->job->options->profile) {
    cli_say_profile(s->folder, s->job->setup.backend);
    status = cli_say_ranks(s->job->setup.comm, &s->exchanged, sim_wall_clock() - s->loop, status);
  }
  cli_session_write_status(s, status == SIM_OK ? "done" : status == SIM_ERR_STOPPED ? "stopped" : "failed", status);
  return status;
}
