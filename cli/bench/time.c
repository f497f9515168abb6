/* Times one kernel through the same decoding, planning and stepping as a run. */
#include "cli/bench/bench.h"
#include "cli/prepare.h"
#include "engine/wall_clock.h"
#include "kernels/common/fft/fft.h"

#include <errno.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FOLLOW = 256 }; /* steps enqueued before the host waits for earlier ones */

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Creates a scenario file without a folder: "/proc/self/fd/5". */
static sim_status open_scenario(const char *text, int *fd, char path[32]) {
  const size_t size = strlen(text);
  *fd = memfd_create("sim-bench", MFD_CLOEXEC);
  if (*fd < 0 || write(*fd, text, size) != (ssize_t)size)
    return sim_fail(SIM_ERR_IO, "no memory file for a scenario: %s", strerror(errno));
  snprintf(path, 32, "/proc/self/fd/%d", *fd);
  return SIM_OK;
}

/* ---- steps ---- */

typedef struct stepper {
  const sim_model *model;
  const sim_backend *backend;
  sim_clock start, clock;
  void *self;
} stepper;

/* Duration of `steps` steps in seconds, until the device has finished them. */
static sim_status take(stepper *s, long steps, double *seconds) {
  const double begin = sim_wall_clock();
  for (long k = 0; k < steps; k++) {
    if (s->clock.t >= s->clock.t_end) s->clock = s->start; /* draws the paths of the sample again */
    if (cli_requests.stop || cli_requests.warning) return sim_fail(SIM_ERR_STOPPED, "interrupted");
    SIM_TRY(s->model->step(s->self, &s->clock));
    if (s->backend->queue && k % FOLLOW == FOLLOW - 1) SIM_TRY(s->backend->queue->throttle());
  }
  if (s->backend->queue) SIM_TRY(s->backend->queue->finish());
  *seconds = sim_wall_clock() - begin;
  return SIM_OK;
}

/* Makes steps for `pace->warm`, as many as the row requires; *batch: steps of one repeat. */
static sim_status warm_up(stepper *s, const sim_bench *row, const bench_pace *pace, long *warm, long *batch) {
  double spent = 0, last = 0;
  long steps = 1;
  SIM_TRY(take(s, 1, &last)); /* includes page faults, thread creation, graphs */
  for (*warm = 1; *warm < row->warm_steps && spent < pace->warm && last < pace->warm; *warm += steps) {
    if (last < 0.1 * pace->warm) steps *= 2;
    if (steps > row->warm_steps - *warm) steps = row->warm_steps - *warm;
    SIM_TRY(take(s, steps, &last));
    spent += last;
  }
  for (*batch = 1; last < pace->repeat || steps > 1; *batch *= 2) {
    steps = 1;
    SIM_TRY(take(s, *batch, &last));
    *warm += *batch;
    if (last >= 0.25 * pace->repeat) break;
  }
  *batch = (long)ceil(fmax(1, pace->repeat / last * (double)*batch));
  return SIM_OK;
}

static sim_status repeat(stepper *s, const bench_pace *pace, double work, bench_result *out) {
  double rates[64], spent = 0;
  long batch;
  SIM_TRY(warm_up(s, out->row, pace, &out->warm, &batch));
  while (out->repeats < pace->repeats && (out->repeats < 2 || spent < 3 * pace->repeat * pace->repeats)) {
    double seconds;
    SIM_TRY(take(s, batch, &seconds));
    rates[out->repeats++] = work * (double)batch / seconds;
    spent += seconds;
  }
  qsort(rates, (size_t)out->repeats, sizeof rates[0], compare);
  out->steps = batch * out->repeats;
  out->least = rates[0];
  out->median = 0.5 * (rates[out->repeats / 2] + rates[(out->repeats - 1) / 2]);
  out->most = rates[out->repeats - 1];
  out->step = work / out->median;
  return SIM_OK;
}

static sim_status time_job(cli_job *job, const bench_pace *pace, bench_result *out) {
  SIM_TRY(cli_prepare_scenario(job));
  SIM_TRY(cli_prepare_device(job));
  SIM_TRY(cli_prepare_memory(job));
  stepper s = {.model = job->model, .backend = job->setup.backend};
  out->device = job->setup.backend->kind;
  out->threads = job->setup.threads;
  out->isa = job->setup.isa;
  out->cost = out->row->cost(out->device, out->isa, out->n);
  sim_status status = job->model->create(job->parameters, &job->setup, &s.clock, &s.self);
  s.start = s.clock;
  if (status == SIM_OK) status = repeat(&s, pace, job->plan.work_per_step, out);
  if (pace->scaling && out->row->grows) out->step *= job->plan.steps;
  if (s.self) job->model->destroy(&s.self);
  return status;
}

sim_status cli_bench_time(const sim_model *model, const sim_bench *row, const cli_options *options, const char *device,
                          int threads, int n, const bench_pace *pace, bench_result *out) {
  char path[32], size[64];
  int fd = -1;
  *out = (bench_result){.model = model, .row = row, .n = n, .share = NAN};
  snprintf(size, sizeof size, "%s=%d", pace->scaling && row->grows ? row->grows : "n", n);
  cli_options given = {.command = CLI_RUN,
                       .target = path,
                       .sets = {size},
                       .device = device,
                       .isa = options->isa,
                       .isa_given = options->isa_given,
                       .threads = threads,
                       .wall = INFINITY,
                       .lua_seconds = options->lua_seconds};
  cli_job job = {.options = &given};
  sim_status status = open_scenario(row->scenario, &fd, path);
  if (status == SIM_OK) status = time_job(&job, pace, out);
  cli_prepare_free(&job);
  if (fd >= 0) close(fd);
  return status;
}

/* ---- transforms ---- */

sim_status cli_bench_fft(sim_isa isa, int threads, double seconds, double *out) {
  enum { N = 1024, TIMES = 32 };
  fft_plan *plan;
  SIM_TRY(fft_plan_create(N, FFT_PERIODIC, true, isa, &plan));
  const size_t column = (size_t)N * 128, each = 2 * column + (fft_work_bytes(plan) + 63) / 64 * 64;
  const double flop = 5.0 * N * 10 * fft_group(true) * TIMES, begin = sim_wall_clock();
  void *data;
  sim_status status = sim_backend_cpu.alloc(each * (size_t)threads, &data);
  *out = 0;
  while (status == SIM_OK && (*out == 0 || sim_wall_clock() - begin < seconds)) {
    double all = 0;
#pragma omp parallel num_threads(threads)
    {
      char *mine = (char *)data + each * (size_t)omp_get_thread_num();
      const double from = sim_wall_clock();
      for (int k = 0; k < TIMES; k++) fft_forward(plan, mine, 1, mine + column, 1, mine + 2 * column, NULL);
      const double rate = flop / (sim_wall_clock() - from);
#pragma omp critical
      all += rate;
    }
    *out = fmax(*out, all);
  }
  if (status == SIM_OK) sim_backend_cpu.free(data);
  fft_plan_destroy(&plan);
  return status;
}
