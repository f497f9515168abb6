/* sim bench --scaling --ranks N, or --gpus N: times each row on 1, 2, 4, ... N ranks, strong (the same size) and weak
 * (a size with as many times the work of one rank); or the steps of a scenario, strong. The process that the user has
 * started launches each number of ranks in turn. Rank 0 of each prints, and keeps the rates of one rank in memory that
 * later launches inherit. */
#include "cli/bench/bench.h"
#include "cli/run/ranks.h"

#include <errno.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BASE_VARIABLE "SIM_BENCH_BASE" /* descriptor of the memory with the rates */
enum { RATES_MAX = 256 };

typedef struct scaling {
  const cli_options *options;
  const sim_comm *comm;
  bench_pace pace;
  int threads;           /* threads of a rank */
  sim_backend_kind kind; /* SIM_BACKEND_CUDA: one GPU for each rank */
  double *rates;         /* [RATES_MAX]: rates of one rank in the order of rows; shared by all launches */
  size_t count;          /* number of rates written or compared so far */
} scaling;

static bool wanted(const cli_options *o, const char *model) {
  for (int i = 0; i < o->target_count; i++)
    if (strcmp(o->targets[i], model) == 0) return true;
  return o->target_count == 0;
}

/* *mean: the mean over all ranks. */
static sim_status average(const sim_comm *comm, double value, double *mean) {
  double all[SIM_RANKS_MAX];
  SIM_TRY(comm->ops->gather(comm, &value, sizeof value, all));
  *mean = 0;
  for (int r = 0; r < comm->size; r++) *mean += all[r] / comm->size;
  return SIM_OK;
}

static const char *device_of(const scaling *s) { return s->kind == SIM_BACKEND_CUDA ? "cuda" : "cpu"; }

/* With one rank stores the rate as the base; with more compares the rate with the base. */
static sim_status compare(scaling *s, const char *kind, const char *size, const bench_result *r) {
  double waited, *base = &s->rates[s->count];
  if (s->count == RATES_MAX) return sim_fail(SIM_ERR_INTERNAL, "more than %d rows", RATES_MAX);
  s->count++;
  SIM_TRY(average(s->comm, r->waited, &waited));
  if (s->comm->rank > 0) return SIM_OK;
  if (s->comm->size == 1) *base = r->median;
  const double gain = r->median / *base;
  char spread[48] = "one repeat";
  if (r->repeats > 1)
    snprintf(spread, sizeof spread, "-%.1f +%.1f %%", 100 * (1 - r->least / r->median),
             100 * (r->most / r->median - 1));
  printf("  %-6s %-22s %4d rank%s x %d  %11.4g/s %-15s %11.4g ms %7.3f x %5.1f %%   waited %3.0f %%\n", kind, size,
         s->comm->size, s->comm->size == 1 ? " " : "s", r->threads, r->median, spread, 1e3 * r->step, gain,
         100 * gain / s->comm->size, 100 * waited);
  fflush(stdout);
  return SIM_OK;
}

/* Times a row at size n. */
static sim_status one(scaling *s, const sim_model *model, const sim_bench *row, const char *kind, int n) {
  bench_result r;
  char size[64];
  snprintf(size, sizeof size, "%9d %s", n, row->size);
  SIM_TRY(cli_bench_time(model, row, s->options, device_of(s), s->threads, n, &s->pace, &r));
  return compare(s, kind, size, &r);
}

/* *out: size whose step has `times` the work of a step at size n; 0 if the work does not grow with the size. */
static sim_status weak_size(const scaling *s, const sim_bench *row, int n, int times, int *out) {
  double least, most;
  *out = n;
  if (times == 1) return SIM_OK;
  SIM_TRY(cli_bench_work(row, s->options, device_of(s), s->threads, n, &least));
  SIM_TRY(cli_bench_work(row, s->options, device_of(s), s->threads, 2 * n, &most));
  const double power = log2(most / least);
  *out = power > 0.1 ? (int)lround(n * pow(times, 1 / power)) : 0;
  return SIM_OK;
}

static const int *sizes_of(const scaling *s, const sim_bench *row) {
  const sim_bench_sizes *sizes = &row->sizes[s->kind];
  return s->options->quick ? sizes->quick : sizes->usual;
}

/* Number of rates of a row. */
static size_t rates_of(const scaling *s, const sim_bench *row) {
  return sizes_of(s, row)[0] == 0 ? 0 : SIM_BENCH_SIZES + 1;
}

static sim_status time_row(scaling *s, const sim_model *model, const sim_bench *row) {
  const int *given = sizes_of(s, row);
  int n;
  if (given[0] == 0) return SIM_OK;
  if (s->comm->rank == 0) printf("%s: %s (%s)\n", model->name, row->title, model->work_unit);
  for (int i = 0; i < SIM_BENCH_SIZES; i++) SIM_TRY(one(s, model, row, "strong", given[i]));
  SIM_TRY(weak_size(s, row, given[1], s->comm->size, &n));
  return n > 0 ? one(s, model, row, "weak", n) : SIM_OK;
}

/* Times a row. A row that the model refuses for several ranks is left out with the reason; all ranks see the
 * refusal. */
static sim_status time_or_skip(scaling *s, const sim_model *model, const sim_bench *row) {
  const size_t first = s->count;
  const sim_status status = time_row(s, model, row);
  s->count = first + rates_of(s, row);
  if (status != SIM_ERR_SCENARIO || s->comm->size == 1) return status;
  if (s->comm->rank == 0) printf("  not measured: %s\n", sim_error_last()->message);
  sim_error_clear();
  return SIM_OK;
}

static sim_status time_scenario(scaling *s) {
  cli_options options = *s->options;
  bench_result r;
  options.device = device_of(s);
  if (options.steps) s->pace = (bench_pace){.repeats = 1, .batch = options.steps};
  SIM_TRY(cli_bench_scenario(&options, &s->pace, &r));
  const char *slash = strrchr(options.target, '/');
  return compare(s, "strong", slash ? slash + 1 : options.target, &r);
}

/* Times all rows, on each rank in the same order. */
static sim_status time_rows(const cli_options *options, int descriptor) {
  scaling s = {.options = options, .comm = cli_comm(), .threads = options->threads};
  s.kind = strcmp(options->device, "cuda") == 0 ? SIM_BACKEND_CUDA : SIM_BACKEND_CPU;
  s.pace = options->quick ? (bench_pace){.04, .3, .04, 3, false, 0} : (bench_pace){.2, 10, .2, 5, false, 0};
  s.rates = mmap(NULL, RATES_MAX * sizeof *s.rates, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (s.rates == MAP_FAILED) return sim_fail(SIM_ERR_USAGE, BASE_VARIABLE " is set by sim bench: unset it");
  if (cli_bench_is_scenario(options)) return time_scenario(&s);
  for (const sim_model *const *model = sim_models; *model; model++)
    for (const sim_bench *row = (*model)->bench; row && row->title; row++)
      if ((*model)->ranks && wanted(options, (*model)->name)) SIM_TRY(time_or_skip(&s, *model, row));
  return SIM_OK;
}

sim_status cli_bench_rank(const cli_options *options) {
  const char *descriptor = getenv(BASE_VARIABLE);
  if (!descriptor) return sim_fail(SIM_ERR_USAGE, "--ranks is for sim bench --scaling");
  return cli_ranks_end(time_rows(options, atoi(descriptor)));
}

static sim_status check(const cli_options *o) {
  if (!o->scaling || o->json) return sim_fail(SIM_ERR_USAGE, "sim bench --ranks needs --scaling, and prints no JSON");
  SIM_TRY(cli_bench_check(o));
  for (int i = 0; i < o->target_count && !cli_bench_is_scenario(o); i++) {
    const sim_model *model = sim_model_find(o->targets[i]);
    if (!model->ranks)
      return sim_fail(SIM_ERR_USAGE, "--ranks %d: sim.%s runs on one rank only", o->ranks, model->name);
  }
  return SIM_OK;
}

int cli_bench_launch(const cli_options *options, char **argv) {
  char text[16];
  cli_options given = *options;
  const int cores = omp_get_num_procs() / options->ranks;
  int code = 0;
  sim_status status = check(options);
  const int descriptor = memfd_create("sim-bench", 0);
  if (status == SIM_OK && (descriptor < 0 || ftruncate(descriptor, RATES_MAX * sizeof(double)) != 0))
    status = sim_fail(SIM_ERR_NO_MEMORY, "the rates of one rank: %s", strerror(errno));
  if (status != SIM_OK) {
    cli_report(status, sim_error_last()->message, options->log_json);
    return sim_status_exit_code(status);
  }
  snprintf(text, sizeof text, "%d", descriptor);
  setenv(BASE_VARIABLE, text, 1);
  snprintf(text, sizeof text, "%d", options->threads > 0 ? options->threads : cores > 0 ? cores : 1);
  setenv("OMP_NUM_THREADS", text, 1); /* as many for every number of ranks */
  for (int ranks = 1; code == 0;) {
    given.ranks = ranks;
    code = cli_ranks_launch(&given, argv);
    if (ranks == options->ranks) break;
    ranks = 2 * ranks < options->ranks ? 2 * ranks : options->ranks;
  }
  return code;
}
