/* sim bench: what the machine can do at best, and what the models' kernels do of it. */
#ifndef SIM_CLI_BENCH_H
#define SIM_CLI_BENCH_H

#include "cli/cli.h"
#include "engine/ceiling/ceiling.h"

/* How long to measure. */
typedef struct bench_pace {
  double ceiling, warm, repeat; /* seconds of a ceiling, before timing, and of one repeat */
  int repeats;                  /* fewer, down to two, where a step takes much longer than `repeat` */
  bool scaling;
} bench_pace;

typedef struct bench_result {
  const sim_model *model;
  const sim_bench *row;
  sim_backend_kind device;
  int threads, n;
  sim_isa isa;
  double least, median, most; /* of the repeats: units a second */
  double step;                /* seconds, median; where --scaling has another parameter than n, of the whole run */
  long steps, warm;           /* timed, in all repeats; before them */
  int repeats;
  sim_bench_cost cost;
  double share; /* of the ceiling; NaN */
} bench_result;

/* time.c: times one row at one size through the same decoding, planning and stepping as a run, without outputs.
 * `device` as in --device. Fills all but `share`. */
sim_status cli_bench_time(const sim_model *model, const sim_bench *row, const cli_options *options, const char *device,
                          int threads, int n, const bench_pace *pace, bench_result *out) SIM_MUST_CHECK;
/* 5 n log2 n flop a second of our own complex fp32 transforms of 1024 points, in the caches. */
sim_status cli_bench_fft(sim_isa isa, int threads, double seconds, double *out) SIM_MUST_CHECK;

#endif
