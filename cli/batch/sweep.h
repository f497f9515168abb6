/* A sweep: sweep.c runs it, sweep_folder.c manages its folder, sweep_table.c writes the results table sweep.csv. */
#ifndef CLI_SWEEP_H
#define CLI_SWEEP_H

#include "cli/prepare.h"

#include <stdio.h>

enum { AXES_MAX = 32 };

/* One parameter and its values as texts. */
typedef struct axis {
  char name[128];
  char *text; /* owned; the values, each with a final NUL */
  char **value;
  size_t count;
  bool seed; /* the values are for --seed */
} axis;

typedef struct sweep {
  cli_job *job;
  const char *folder;
  axis axes[AXES_MAX];
  size_t axis_count, runs, jobs;
  int threads, gpus; /* threads: of each run; gpus: to distribute among the runs, 0: none */
  int root, logs;    /* descriptors of the folder and of its logs/; -1: not opened */
} sweep;

/* ---- sweep_folder.c: opens files by descriptors of the folder, and never follows links in it ---- */

/* Value of axis number `which` as text in run number `run`, both counted from 0. */
const char *cli_sweep_value(const sweep *s, size_t run, size_t which);
/* Path of the folder of run number `run`. */
void cli_sweep_folder(const sweep *s, size_t run, char out[4200]);

/* Creates the folder with sweep.txt, or checks that the folder holds the same sweep. */
sim_status cli_sweep_open(sweep *s) SIM_MUST_CHECK;
void cli_sweep_close(sweep *s);
/* SIM_ERR_CANT_CREATE if the run's folder is a symbolic link. */
sim_status cli_sweep_own(const sweep *s, size_t run) SIM_MUST_CHECK;
/* Opens the log of a run for appending; the caller closes it. */
sim_status cli_sweep_log(const sweep *s, size_t run, int *fd) SIM_MUST_CHECK;
/* Creates a file that will replace `name` in cli_sweep_commit, which also closes it; NULL: see errno. */
FILE *cli_sweep_create(const sweep *s, const char *name, char temporary[96]);
sim_status cli_sweep_commit(const sweep *s, FILE *file, const char *name, const char *temporary) SIM_MUST_CHECK;

/* ---- sweep_table.c ---- */

/* Writes sweep.csv: parameters, state, exit code, digest and the last row of each table of every run. */
sim_status cli_sweep_write(const sweep *s) SIM_MUST_CHECK;

#endif
