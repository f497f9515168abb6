/* sim bench: limits of the machine, and the rates of the models' kernels. */
#ifndef SIM_CLI_BENCH_H
#define SIM_CLI_BENCH_H

#include "cli/cli.h"
#include "engine/ceiling/ceiling.h"

/* Durations of measurements. */
typedef struct bench_pace {
  double ceiling, warm, repeat; /* seconds: of a ceiling, before timing, of one repeat */
  int repeats;                  /* fewer, but at least two, if a step takes much longer than `repeat` */
  bool scaling;
  long batch; /* steps of a repeat; 0: from `repeat` */
} bench_pace;

typedef struct bench_result {
  const sim_model *model;
  const sim_bench *row;
  sim_backend_kind device;
  int threads, n;
  sim_isa isa;
  double least, median, most; /* units a second, over the repeats */
  double step;                /* median in seconds; of the whole run if --scaling has another parameter than n */
  long steps, warm;           /* timed steps in all repeats; steps before them */
  int repeats;
  sim_bench_cost cost;
  double share;  /* fraction of the ceiling; NaN: unknown */
  double waited; /* fraction of the timed steps in which this rank waited for other ranks */
} bench_result;

/* ranks.c: sim bench --scaling --ranks N in the process that was started, which launches the ranks; the exit code. */
int cli_bench_launch(const cli_options *options, char **argv);
/* The same in a rank. */
sim_status cli_bench_rank(const cli_options *options) SIM_MUST_CHECK;

/* time.c: times one row at one size through the same decoding, planning and stepping as a run, without outputs.
 * `device`: value of --device. Sets all but `share`. On several ranks all make the same steps. */
sim_status cli_bench_time(const sim_model *model, const sim_bench *row, const cli_options *options, const char *device,
                          int threads, int n, const bench_pace *pace, bench_result *out) SIM_MUST_CHECK;
/* Plans the row at size n, and sets *work to the work of a step. */
sim_status cli_bench_work(const sim_bench *row, const cli_options *options, const char *device, int threads, int n,
                          double *work) SIM_MUST_CHECK;
/* Whether the target is the file of a scenario. */
bool cli_bench_is_scenario(const cli_options *options);
/* Times the steps of the scenario options->target without outputs. Without `out` prints their rate and the tables after
 * them; else sets *out, but its row. */
sim_status cli_bench_scenario(const cli_options *options, const bench_pace *pace, bench_result *out) SIM_MUST_CHECK;
/* Refuses options that rows of models do not have, and options for them with a scenario. */
sim_status cli_bench_check(const cli_options *options) SIM_MUST_CHECK;
/* 5 n log2 n flop a second of the program's complex fp32 transforms of 1024 points, in the caches. */
sim_status cli_bench_fft(sim_isa isa, int threads, double seconds, double *out) SIM_MUST_CHECK;

#endif
