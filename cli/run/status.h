/* status.json: written by a run, read by others. */
#ifndef SIM_CLI_STATUS_H
#define SIM_CLI_STATUS_H

#include "cli/cli.h"
#include "engine/memory/bytes.h"
#include "engine/run/run.h"

struct cli_scheduler;

typedef struct cli_status_source {
  const char *state;
  sim_status status;
  const sim_model *model;
  sim_clock clock;                     /* where the run is */
  const sim_run *run;                  /* progress, checkpoints and digest */
  const char *phase;                   /* phase of the start: "placing grains"; NULL: steps have begun */
  const char *remark, *message, *host; /* remark NULL: none; message: used if status is not SIM_OK */
  const struct cli_scheduler *scheduler;
} cli_status_source;

/* Appends the text of status.json to `out`: one JSON object. */
void cli_status_text(const cli_status_source *from, sim_bytes *out);
/* Appends `, "health": {"COLUMN": value}` to a JSON object, or nothing without a finite health figure. */
void cli_health_text(const sim_progress *progress, sim_bytes *out);

/* The keys of status.json that other commands use. "" and NaN: absent. */
typedef struct cli_status {
  char state[16]; /* running, lost (its process ended without a final status), done, stopped, failed */
  char phase[64]; /* phase of the start; "": steps have begun */
  char digest[40], host[128], job[64], rate_unit[64], expected_end[32], updated[32];
  double t, t_end, rate;
  double checkpoint_t;           /* time of the newest checkpoint; 0: none */
  int exit_code;                 /* -1: none */
  int64_t step, checkpoint_step; /* -1: none */
} cli_status;

/* Appends the whole status.json of a folder to `out`. SIM_ERR_NO_INPUT if the folder holds no run, or status.json is
 * a FIFO, a device or a folder; SIM_ERR_IO if it cannot be read or exceeds 1 MiB. */
sim_status cli_status_load(const char *folder, sim_bytes *out) SIM_MUST_CHECK;
/* Reads the status of a folder. Texts are as in the file: escape them before printing. SIM_ERR_NO_INPUT also if
 * status.json is not JSON. */
sim_status cli_status_read(const char *folder, cli_status *out) SIM_MUST_CHECK;
/* Prints one line for each folder in options->targets: the table, or the value of options->value. */
sim_status cli_status_show(const cli_options *options) SIM_MUST_CHECK;

/* Marks a run that its own process could not mark, as that was killed: state "failed", exit code and message. Nothing
 * if the status is final or not of this process, or another process has the folder. Keeps the last error. */
void cli_status_fail(const char *path, long process, sim_status status, const char *message);

#endif
