/* Writes status.json of a run. */
#include "cli/run/status.h"

#include "cli/batch/scheduler.h"

#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Writes a time in UTC, as in run.log. */
static void time_text(double from_now, char out[32]) {
  time_t at = time(NULL) + (time_t)from_now;
  struct tm parts;
  gmtime_r(&at, &parts);
  strftime(out, 32, "%Y-%m-%dT%H:%M:%SZ", &parts);
}

static void string(sim_bytes *out, const char *key, const char *value) {
  sim_bytes_format(out, ", \"%s\": ", key);
  sim_bytes_json_string(out, value, strlen(value));
}

void cli_health_text(const sim_progress *p, sim_bytes *out) {
  if (!p->health_name || !isfinite(p->health)) return;
  sim_bytes_text(out, ", \"health\": {");
  sim_bytes_json_string(out, p->health_name, strlen(p->health_name));
  sim_bytes_format(out, ": %.6g}", p->health);
}

void cli_status_text(const cli_status_source *from, sim_bytes *out) {
  char when[32];
  const sim_run *run = from->run;
  const sim_progress *p = &run->last;
  const char *unit = from->model->work_unit;
  sim_bytes_format(out, "{\"state\": \"%s\", \"exit_code\": %d, \"model\": \"%s\", \"step\": %lld", from->state,
                   sim_status_exit_code(from->status), from->model->name, (long long)from->clock.step);
  if (from->phase) string(out, "phase", from->phase);
  sim_bytes_format(out,
                   ", \"time\": %.17g, \"t_end\": %.17g, \"elapsed\": %.3f, \"rate\": %.6g, \"rate_unit\": \"%s/s\"",
                   from->clock.t, from->clock.t_end, p->elapsed, p->rate, unit);
  const bool expected = isfinite(p->eta) && !from->phase;
  if (expected) sim_bytes_format(out, ", \"eta\": %.3f", p->eta);
  cli_health_text(p, out);
  if (run->checkpoint_step >= 0)
    sim_bytes_format(out, ", \"checkpoint_step\": %lld, \"checkpoint_time\": %.17g", (long long)run->checkpoint_step,
                     run->checkpoint_t);
  if (run->ended) sim_bytes_text(out, ", \"stop_when\": true");
  if (*run->digest) sim_bytes_format(out, ", \"digest\": \"%s\"", run->digest);
  if (from->remark) string(out, "remark", from->remark);
  if (from->status != SIM_OK) string(out, "message", from->message);
  string(out, "host", from->host);
  sim_bytes_format(out, ", \"pid\": %ld", (long)getpid());
  if (from->scheduler->name)
    sim_bytes_format(out, ", \"scheduler\": \"%s\", \"job\": \"%s\"", from->scheduler->name, from->scheduler->job);
  time_text(0, when);
  sim_bytes_format(out, ", \"updated\": \"%s\"", when);
  if (expected && p->eta < 1e9 && strcmp(from->state, "running") == 0) {
    time_text(p->eta, when);
    sim_bytes_format(out, ", \"expected_end\": \"%s\"", when);
  }
  sim_bytes_text(out, "}\n");
}
