/* A thread that watches phases in which signals are not checked: the creation of a model, and each step of a run. */
#ifndef SIM_CLI_WATCH_H
#define SIM_CLI_WATCH_H

#include "engine/device/calls.h"
#include "engine/run/run.h"

typedef struct cli_watched {
  sim_run *run;         /* run whose steps are watched; NULL: the creation of its model is watched */
  bool device_alone;    /* on ranks above 0: only whether their device finishes its work; no line is printed */
  double step;          /* expected seconds of a step; 0: unknown */
  const sim_comm *comm; /* ranks of the run; NULL: one */
  double limit, margin; /* limit of the batch job, by sim_wall_clock(), INFINITY: none; seconds reserved before it */
  /* Called during a start, after a second and then every ten; phase such as "first force". May be NULL. */
  void (*starting)(void *context, const char *phase);
  /* Called before the process ends with `status`; the watched thread is inside a model. */
  void (*stopped)(void *context, sim_status status, const char *message);
  void *context;
} cli_watched;

typedef struct cli_watch cli_watch;

/* Watches until cli_watch_end: reports the phase of a start after a second. Ends the process (exit 75; or by SIGINT)
 * if a signal requested a stop and a start takes a second more, or a step 15 s; and if the limit is near; with the
 * status of a failed rank if a start or step takes 5 s more; with SIM_ERR_DEVICE if the device does not finish its work
 * (engine/device/calls.h), after all ranks have been told. NULL: no thread could be created. */
cli_watch *cli_watch_begin(const cli_watched *watched);
void cli_watch_end(cli_watch *watch);

#endif
