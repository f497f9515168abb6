/* A sweep, for its parts: sweep.c, which runs it, and sweep_table.c, which says what has come out. */
#ifndef CLI_SWEEP_H
#define CLI_SWEEP_H

#include "cli/prepare.h"

enum { AXES_MAX = 32 };

/* One parameter and its values, as texts. */
typedef struct axis {
  char name[128];
  char *text; /* owned; the values, each ended by NUL */
  char **value;
  size_t count;
  bool seed; /* of --seed */
} axis;

typedef struct sweep {
  cli_job *job;
  const char *folder;
  axis axes[AXES_MAX];
  size_t axis_count, runs, jobs;
  int threads, gpus; /* a run's threads; GPUs to share out, 0: none */
} sweep;

const char *cli_sweep_value(const sweep *s, size_t run, size_t which); /* of a parameter, as a text */
void cli_sweep_folder(const sweep *s, size_t run, char out[4200]);
/* sweep.csv: parameters, state, exit code, digest and the last row of each table of every run. */
sim_status cli_sweep_write(const sweep *s) SIM_MUST_CHECK;

#endif
