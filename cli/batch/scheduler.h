/* What a batch system says of the job that this process is part of, and what the system lets it use. */
#ifndef SIM_CLI_SCHEDULER_H
#define SIM_CLI_SCHEDULER_H

#include <stdbool.h>
#include <stddef.h>

typedef struct cli_scheduler {
  const char *name; /* "Slurm", "PBS", "LSF", "Grid Engine"; NULL: none, and nothing below holds */
  char job[64];     /* its id, with the task of an array: "1234_5" */
  int restart;      /* how often the job was requeued; 0 where it does not say */
  int cores;        /* that a process of the job was given; 0: it does not say */
  int local;        /* number of this process among the job's on this host; -1: it does not say */
  bool gpu;         /* the job asked for a GPU */
} cli_scheduler;

/* From the environment. */
cli_scheduler cli_scheduler_find(void);
/* Seconds until the job's limit: INFINITY where it has none, NaN where it cannot be told. Asks the environment, and if
 * need be the scheduler's own command, once, for at most 15 seconds. how[capacity]: where the answer is from. */
double cli_scheduler_left(const cli_scheduler *scheduler, char *how, size_t capacity);
/* Cores that this process may use: the least of affinity, the quota of its control groups, and what the job was given.
 * limit: what makes them fewer than the affinity does, or NULL. */
int cli_scheduler_cores(const cli_scheduler *scheduler, const char **limit);

/* "[D-]HH:MM:SS", "MM:SS" or seconds; NaN: it is none. */
double cli_parse_time(const char *text);

#endif
