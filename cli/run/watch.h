/* A thread that watches phases in which signals are not checked: the creation of a model, and each step of a run. */
#ifndef SIM_CLI_WATCH_H
#define SIM_CLI_WATCH_H

#include "engine/run/run.h"

typedef struct cli_watched {
  sim_run *run;         /* run whose steps are watched; NULL: the creation of its model is */
  double limit, margin; /* of the batch job, by sim_wall_clock(), INFINITY: none; seconds kept before it */
  /* Of a start, after a second and then every ten; phase such as "first force". May be NULL. */
  void (*starting)(void *context, const char *phase);
  /* Leaves the folder behind: the process ends right after. The thread that is watched is inside a model. */
  void (*stopped)(void *context, const char *message);
  void *context;
} cli_watched;

typedef struct cli_watch cli_watch;

/* Until cli_watch_end: says after a second what a start does. Ends the process (exit 75; or by SIGINT) where a signal
 * asked to stop and a start goes on for a second more, or a step for 15 s; and where the limit is near. NULL where
 * there is no thread to be had. */
cli_watch *cli_watch_begin(const cli_watched *watched);
void cli_watch_end(cli_watch *watch);

#endif
