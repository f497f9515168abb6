/* Output of a run with --profile: the table on stdout, with a row for each rank, and trace.json in the run's folder. */
#include "cli/run/ranks.h"

#include "engine/run/profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
  /* waits for the times of the last kernels; after a device error the profile has the times known until then */
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

/* ---- ranks ---- */

/* What one rank sends to the others. */
typedef struct rank_row {
  double seconds, waited, bytes, exchanges;
  char host[64];
} rank_row;

static void say_rows(const rank_row *rows, int count) {
  double seconds = 0;
  char bytes[64];
  for (int r = 0; r < count; r++) seconds = fmax(seconds, rows[r].seconds);
  cli_say("profile of the ranks: %.3g s", seconds);
  cli_say("  %4s %-20s %12s %8s %12s %12s", "rank", "host", "waits", "share", "receives", "exchanges");
  for (int r = 0; r < count; r++) {
    cli_bytes(rows[r].bytes, bytes, sizeof bytes);
    cli_say("  %4d %-20s %10.3g s %6.1f %% %12s %12.0f", r, rows[r].host, rows[r].waited,
            seconds > 0 ? 100 * rows[r].waited / seconds : 0, bytes, rows[r].exchanges);
  }
}

sim_status cli_say_ranks(const sim_comm *comm, const sim_comm_totals *before, double seconds, sim_status status) {
  const sim_error cause = *sim_error_last();
  const sim_comm_totals now = sim_comm_counted(comm);
  rank_row own = {seconds, now.waited - before->waited, now.bytes - before->bytes, now.exchanges - before->exchanges,
                  ""};
  rank_row *rows;
  if (comm->size == 1 || (status != SIM_OK && status != SIM_ERR_STOPPED)) return status;
  (void)gethostname(own.host, sizeof own.host - 1);
  if (!(rows = calloc((size_t)comm->size, sizeof *rows))) return sim_no_memory("the profile");
  const sim_status gathered = comm->ops->gather(comm, &own, sizeof own, rows);
  if (gathered == SIM_OK && comm->rank == 0) say_rows(rows, comm->size);
  free(rows);
  if (gathered != SIM_OK || status == SIM_OK) return gathered;
  return sim_fail_at(status, cause.file, cause.line, "%s", cause.message);
}
