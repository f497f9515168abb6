/* A thread that watches phases in which signals are not checked: the creation of a model, and each step of a run. */
#ifndef SIM_CLI_WATCH_H
#define SIM_CLI_WATCH_H

#include "engine/device/calls.h"
#include "engine/run/run.h"

typedef struct cli_watched {
  sim_run *run;         /* run whose steps are watched; NULL: the creation of its model is watched */
  bool device_alone;    /* on ranks above 0: watches only whether the device finishes its work, and prints nothing */
  double step;          /* expected seconds of a step; 0: unknown */
  const sim_comm *comm; /* ranks of the run; NULL: one */
  double limit, margin; /* limit: end of the batch job by sim_wall_clock(), or INFINITY; margin: seconds before it */
  /* Called during a start, after one second and then every ten; `phase` such as "first force". May be NULL. */
  void (*starting)(void *context, const char *phase);
  /* Called before the process ends with `status`; the watched thread is inside a model. */
  void (*stopped)(void *context, sim_status status, const char *message);
  void *context;
} cli_watched;

typedef struct cli_watch cli_watch;

/* Watches until cli_watch_end, and reports the phase of a long start. Ends the process (exit 75, or by SIGINT) if a
 * signal requests a stop and a start takes 1 s more or a step 15 s more, or if the job's limit is near; with the status
 * of a failed rank if a start or step takes 5 s more; with SIM_ERR_DEVICE if the device does not finish its work
 * (engine/device/calls.h), after telling all ranks. Fails with SIM_ERR_NO_MEMORY without a thread. */
sim_status cli_watch_begin(const cli_watched *watched, cli_watch **watch) SIM_MUST_CHECK;
void cli_watch_end(cli_watch *watch); /* NULL does nothing */

#endif
