/* sim bench: what the machine can do at best, and what the models' kernels do of it. */
#ifndef SIM_CLI_BENCH_H
#define SIM_CLI_BENCH_H

#include "cli/cli.h"
#include "engine/ceiling/ceiling.h"

enum { BENCH_SIZES = 3, BENCH_NAME = 96 };

/* What bounds a kernel from above. */
typedef enum bench_limit { BENCH_NO_LIMIT, BENCH_COPY, BENCH_FMA32, BENCH_FMA64 } bench_limit;

/* The least that one unit of a model's work takes: bytes that are moved, or floating-point instructions. */
typedef struct bench_count {
  bench_limit limit;
  double amount;
} bench_count;

/* Sizes of one kind of device: of a usual run, of --quick, and of --scaling (from, to and the factor between). */
typedef struct bench_sizes {
  int usual[BENCH_SIZES], quick[BENCH_SIZES];
  struct {
    int from, to;
    double factor;
  } scaling;
} bench_sizes;

typedef struct bench_kernel {
  const char *model, *title, *size; /* size: what n counts */
  int power;                        /* the problem has n^power of what is counted for --scaling */
  int warm;                         /* steps at most before any is timed: until the state is that of a usual run */
  const char *scenario;             /* its parameter is n */
  const char *grows, *grown;        /* of --scaling, where that is not n: the parameter, what it counts */
  bench_sizes sizes[SIM_BACKEND_KINDS];
  bench_count (*count)(sim_backend_kind device, sim_isa isa, int n);
} bench_kernel;

/* bench_kernels.c; ends with a NULL model */
extern const bench_kernel cli_bench_kernels[];

/* How long to measure. */
typedef struct bench_pace {
  double ceiling, warm, repeat; /* seconds of a ceiling, before timing, and of one repeat */
  int repeats;                  /* fewer, down to two, where a step takes much longer than `repeat` */
  bool scaling;
} bench_pace;

typedef struct bench_result {
  const bench_kernel *kernel;
  const char *unit; /* of the model's work */
  sim_backend_kind device;
  int threads, n;
  sim_isa isa;
  double least, median, most; /* of the repeats: units a second */
  double step;                /* seconds, median; where --scaling has another parameter than n, of the whole run */
  long steps, warm;           /* timed, in all repeats; before them */
  int repeats;
  bench_count count;
  double share; /* of the ceiling; NaN */
} bench_result;

/* bench_time.c: one kernel of one size, by the same way that a run takes, without outputs. `device` as in --device.
 * Fills all but `share`. */
sim_status cli_bench_time(const bench_kernel *kernel, const cli_options *options, const char *device, int threads,
                          int n, const bench_pace *pace, bench_result *out) SIM_MUST_CHECK;
/* 5 n log2 n flop a second of our own complex fp32 transforms of 1024 points, in the caches. */
sim_status cli_bench_fft(sim_isa isa, int threads, double seconds, double *out) SIM_MUST_CHECK;

#endif
