/* The batch job of this process, and its limits of cores and time. */
#ifndef SIM_CLI_SCHEDULER_H
#define SIM_CLI_SCHEDULER_H

#include <stdbool.h>
#include <stddef.h>

typedef struct cli_scheduler {
  const char *name; /* "Slurm", "PBS", "LSF", "Grid Engine"; NULL: no job, and the members below are invalid */
  char job[64];     /* id of the job, with the task of an array: "1234_5" */
  int restart;      /* how many times the job was requeued; 0 if unknown */
  int cores;        /* cores given to a process of the job; 0: unknown */
  bool task;        /* `cores` is for each process that the job starts, not for all on this host */
  int local;        /* rank of this process among the processes of the job on this host; -1: unknown */
  bool gpu;         /* the job asked for a GPU */
} cli_scheduler;

/* Reads the environment. */
cli_scheduler cli_scheduler_find(void);
/* Seconds until the job's limit; INFINITY: no limit, NaN: unknown. Reads the environment and, if needed, the output of
 * the scheduler's command, once, for at most 15 seconds. how[capacity]: source of the answer. */
double cli_scheduler_left(const cli_scheduler *scheduler, char *how, size_t capacity);
/* Cores that this process may use: the least of its affinity, the quota of its control groups, and the cores of the
 * job. These are divided among `ranks` processes, of which this is number `rank`; if `launched`, Slurm's number is
 * already that of one process. *limit: what allows fewer cores than the affinity; NULL: nothing does. */
int cli_scheduler_cores(const cli_scheduler *scheduler, int rank, int ranks, bool launched, const char **limit);

/* Reads the output of a command into out[capacity]; false if the command fails or takes more than 15 seconds. */
bool cli_ask(char *const argv[], char *out, size_t capacity);

/* Parses "[D-]HH:MM:SS", "MM:SS" or seconds; NaN: none of these formats. */
double cli_parse_time(const char *text);

#endif
