/* One run in an output folder: its state, and what its parts do. */
#ifndef CLI_RUN_SESSION_H
#define CLI_RUN_SESSION_H

#include "cli/run/ranks.h"
#include "cli/run/watch.h"

enum { CLI_SINKS = 3 + SIM_SLICES_MAX };

/* A run in a folder, from its creation to its last output. */
typedef struct cli_session {
  cli_job *job;
  io_folder *folder;
  io_provenance provenance;
  sim_sink sinks[CLI_SINKS];
  size_t sink_count;
  sim_run run;
  sim_comm_totals exchanged; /* totals of the ranks' exchange before the loop */
  double loop;               /* time of the clock then */
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
} cli_session;

/* ---- session.c ---- */

/* Makes the run in its folder: creates the model or restores it from `job->saved`, steps, and writes all outputs.
 * Reports the end in the folder and the terminal. */
sim_status cli_session_run(cli_session *s, io_folder_mode mode) SIM_MUST_CHECK;
/* Releases what the session owns. A run that has not begun leaves the folder as it was. */
void cli_session_close(cli_session *s);

/* ---- session_status.c: status.json ---- */

/* Writes status.json from the run's clock and the last error. Reports a failure to write it. */
void cli_session_write_status(cli_session *s, const char *state, sim_status status);
/* Restores the earlier status.json after a failed start. */
void cli_session_put_back(cli_session *s);
/* Called on the watching thread (watch.h), with a cli_session as context: a long start has reached `phase`; a start is
 * stopped; a step is given up, after which status.json names the newest checkpoint. */
void cli_session_starting(void *context, const char *phase);
void cli_session_start_stopped(void *context, sim_status status, const char *message);
void cli_session_step_given_up(void *context, sim_status status, const char *message);

/* ---- session_time.c: the time limit of --wall ---- */

/* Determines the limit of --wall once, before a start that may be long. */
void cli_session_find_limit(cli_session *s);
/* Returns the seconds left from now on, and prints the limit of the job. */
double cli_session_wall_limit(const cli_session *s);
/* Gives the batch job's limit to the watching thread; none if the limit has passed or is the user's own. */
cli_watched cli_session_watched(cli_session *s);
/* Reports the reserved time, once a checkpoint was written. */
void cli_session_say_reserve(cli_session *s);

/* ---- session_say.c: the lines of a run in the terminal and the log ---- */

void cli_session_say_header(cli_session *s);
/* Reports unmet goals of a finished run in the log and in the provenance of its tables. */
void cli_session_say_remark(cli_session *s);
/* Reports files that are permanently missing, even with -q, and adds this to the remark of status.json. */
void cli_session_say_lost(cli_session *s);
void cli_session_say_summary(cli_session *s, sim_status status);
/* After a failure to write, a device failure or the loss of a rank: adds to the message how to continue the run. */
void cli_session_say_what_to_do(const cli_session *s);

#endif
