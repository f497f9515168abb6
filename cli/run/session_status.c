/* status.json of a run, and what ends a run from the watching thread. */
#include "cli/run/session.h"
#include "cli/run/status.h"

#include <stdio.h>
#include <unistd.h>

#define STATUS "status.json"

/* Writes status.json; `phase` of a start, or NULL. Reports a failure to write it, and keeps the last error. */
static void put_status(cli_session *s, const char *state, sim_status status, const sim_clock *clock, const char *phase,
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

void cli_session_write_status(cli_session *s, const char *state, sim_status status) {
  put_status(s, state, status, &s->run.clock, NULL, sim_error_last()->message);
}

/* Saves the status.json of an earlier run in the folder, for cli_session_put_back. */
static void keep_earlier_status(cli_session *s) {
  const sim_error cause = *sim_error_last();
  if (cli_status_load(io_folder_path(s->folder), &s->earlier) != SIM_OK) sim_error_clear();
  sim_fail_at(cause.status, cause.file, cause.line, "%s", cause.message);
}

/* Called on the watching thread while the model is created; the folder's other files still belong to an earlier run. */
void cli_session_starting(void *context, const char *phase) {
  cli_session *s = context;
  if (!s->early) keep_earlier_status(s);
  s->early = true;
  put_status(s, "running", SIM_OK, &s->from, phase, "");
}

void cli_session_put_back(cli_session *s) {
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

void cli_session_start_stopped(void *context, sim_status status, const char *message) {
  cli_session *s = context;
  s->job->setup.comm->ops->abandon(s->job->setup.comm, status, message);
  cli_session_put_back(s);
  io_folder_abandon(&s->folder);
}

/* Called when a step is given up: status.json then names the newest checkpoint, from which the run can continue. */
void cli_session_step_given_up(void *context, sim_status status, const char *message) {
  cli_session *s = context;
  const sim_run *run = &s->run;
  const char *state = status == SIM_ERR_STOPPED ? "stopped" : "failed";
  s->job->setup.comm->ops->abandon(s->job->setup.comm, status, message);
  const sim_clock at = {
      .step = run->checkpoint_step < 0 ? 0 : run->checkpoint_step, .t = run->checkpoint_t, .t_end = s->from.t_end};
  cli_terminal_event(state, &at, "");
  put_status(s, state, status, &at, NULL, message);
  io_folder_close(&s->folder);
}
