/* sim bench: limits of the machine, and rates of the models' kernels. */
#ifndef SIM_CLI_BENCH_H
#define SIM_CLI_BENCH_H

#include "cli/cli.h"
#include "engine/ceiling/ceiling.h"

/* Durations of measurements. */
typedef struct bench_pace {
  double ceiling, warm, repeat; /* seconds: for a ceiling, before the timed steps, for one repeat */
  int repeats;                  /* number of repeats; as few as two if a step takes much longer than `repeat` */
  bool scaling;
  long batch; /* steps of a repeat; 0: computed from `repeat` */
} bench_pace;

typedef struct bench_result {
  const sim_model *model;
  const sim_bench *row;
  sim_backend_kind device;
  int threads, n;
  sim_isa isa;
  double least, median, most; /* units of work per second, over the repeats */
  double step;                /* median in seconds; of the whole run if --scaling uses another parameter than n */
  long steps, warm;           /* timed steps of all repeats; steps before them */
  int repeats;
  sim_bench_cost cost;
  double share;  /* fraction of the ceiling; NaN: unknown */
  double waited; /* fraction of the timed steps in which this rank waited for other ranks */
} bench_result;

/* ranks.c: runs sim bench --scaling --ranks N in the process that the user has started, which launches the ranks.
 * Returns the exit code. */
int cli_bench_launch(const cli_options *options, char **argv);
/* The part of sim bench --scaling --ranks N that each rank runs. */
sim_status cli_bench_rank(const cli_options *options) SIM_MUST_CHECK;

/* time.c: times one row at one size, by the same decoding, planning and stepping as a run, without outputs. `device`:
 * value of --device. Sets all members but `share`. Several ranks all make the same steps. */
sim_status cli_bench_time(const sim_model *model, const sim_bench *row, const cli_options *options, const char *device,
                          int threads, int n, const bench_pace *pace, bench_result *out) SIM_MUST_CHECK;
/* Plans the row at size n; *work: work of one step. */
sim_status cli_bench_work(const sim_bench *row, const cli_options *options, const char *device, int threads, int n,
                          double *work) SIM_MUST_CHECK;
/* Whether the target is a scenario file. */
bool cli_bench_is_scenario(const cli_options *options);
/* Times the steps of the scenario options->target without outputs. With `out` NULL prints their rate and the tables
 * after them; else sets *out except its row. */
sim_status cli_bench_scenario(const cli_options *options, const bench_pace *pace, bench_result *out) SIM_MUST_CHECK;
/* Refuses options that do not apply: of a scenario with models, or of models with a scenario. */
sim_status cli_bench_check(const cli_options *options) SIM_MUST_CHECK;
/* *out: 5 n log2 n operations per second of the program's complex fp32 transforms of 1024 points, in the caches. */
sim_status cli_bench_fft(sim_isa isa, int threads, double seconds, double *out) SIM_MUST_CHECK;

#endif
