/* Output of a run with --profile: the table on stdout, and trace.json in the run's folder. */
#include "cli/prepare.h"

#include "engine/run/profile.h"

#include <string.h>

static void write_trace(io_folder *folder) {
  sim_bytes trace = {0};
  sim_profile_trace(&trace);
  if (trace.failed)
    sim_log(SIM_LOG_WARN, "trace.json not written: out of memory");
  else if (io_folder_write(folder, "trace.json", trace.data, trace.size) != SIM_OK)
    sim_log(SIM_LOG_WARN, "trace.json not written: %s", sim_error_last()->message);
  else
    cli_say("  trace %s/trace.json: open it with https://ui.perfetto.dev", io_folder_path(folder));
  sim_bytes_free(&trace);
}

void cli_say_profile(io_folder *folder, const sim_backend *backend) {
  sim_error cause = *sim_error_last();
  /* waits for the times of the last kernels; after a device error the profile has those known so far */
  if (backend->queue) (void)backend->queue->finish();
  sim_bytes table = {0};
  sim_profile_table(&table);
  for (char *at = table.data, *end; at && (end = strchr(at, '\n')); at = end + 1) {
    *end = '\0';
    cli_say("%s", at);
  }
  sim_bytes_free(&table);
  write_trace(folder);
  sim_profile_stop();
  /* restores the last error, which the calls above may have replaced */
  sim_fail_at(cause.status, cause.file, cause.line, "%s", cause.message);
}
