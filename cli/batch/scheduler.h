/* The batch job of this process, and its limits of cores and time. */
#ifndef SIM_CLI_SCHEDULER_H
#define SIM_CLI_SCHEDULER_H

#include <stdbool.h>
#include <stddef.h>

typedef struct cli_scheduler {
  const char *name; /* "Slurm", "PBS", "LSF", "Grid Engine"; NULL: no job, and the rest is invalid */
  char job[64];     /* id of the job, with the task of an array: "1234_5" */
  int restart;      /* number of times that the job was requeued; 0 where unknown */
  int cores;        /* cores given to a process of the job; 0: unknown */
  bool task;        /* `cores` are of each process that the job starts, not of all on this host */
  int local;        /* rank of this process among the processes of the job on this host; -1: unknown */
  bool gpu;         /* the job asked for a GPU */
} cli_scheduler;

/* Reads the environment. */
cli_scheduler cli_scheduler_find(void);
/* Seconds until the job's limit: INFINITY: none, NaN: unknown. Reads the environment and, if needed, the output of
 * the scheduler's command, once, for at most 15 seconds. how[capacity]: source of the answer. */
double cli_scheduler_left(const cli_scheduler *scheduler, char *how, size_t capacity);
/* Cores that this process may use: the minimum of affinity, quota of its control groups, and cores of the job.
 * rank of ranks: processes that share them; where `launched`, Slurm's number is of one of them already. limit: what
 * makes them fewer than the affinity, or NULL. */
int cli_scheduler_cores(const cli_scheduler *scheduler, int rank, int ranks, bool launched, const char **limit);

/* Reads the output of a command, cut at capacity; false if it fails or takes more than 15 seconds. */
bool cli_ask(char *const argv[], char *out, size_t capacity);

/* Parses "[D-]HH:MM:SS", "MM:SS" or seconds; NaN: none of these. */
double cli_parse_time(const char *text);

#endif
