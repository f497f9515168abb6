/* What a run prints: its first lines, its summary, and what was lost. */
#include "cli/run/session.h"

#include "build_info.h"

#include <errno.h>
#include <math.h>
#include <string.h>

void cli_session_say_header(cli_session *s) {
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
  if (SIM_CUDA_QUICK && job->setup.backend->kind == SIM_BACKEND_CUDA)
    sim_log(SIM_LOG_WARN, "the GPU code of this program is compiled for tests and runs slowly: build it anew");
  cli_terminal_event("start", &s->run.clock, "");
}

/* Relative error above which the summary warns, where the health figure is one. */
static const double health_limit = 0.1;

void cli_session_say_remark(cli_session *s) {
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

void cli_session_say_summary(cli_session *s, sim_status status) {
  const sim_progress *p = &s->run.last;
  char took[32], rate[64];
  cli_duration(p->elapsed, took, sizeof took);
  cli_rate(p->rate, s->job->model->work_unit, rate, sizeof rate);
  const char *path = io_folder_path(s->folder);
  if (p->health_error && fabs(p->health) > health_limit)
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

void cli_session_say_what_to_do(const cli_session *s) {
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

void cli_session_say_lost(cli_session *s) {
  if (s->run.lost == 0) return;
  if (s->remark.size > 0) sim_bytes_text(&s->remark, "; ");
  const size_t at = s->remark.size;
  sim_bytes_format(&s->remark, "snapshots or slices could not be written: %lld; run.log names them",
                   (long long)s->run.lost);
  if (s->remark.failed) return;
  sim_log(SIM_LOG_ERROR, "%s", s->remark.data + at);
  if (s->provenance.remark) s->provenance.remark = s->remark.data; /* the buffer may have moved */
}
